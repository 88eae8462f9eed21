//! Tells whether pods name devices as the Container Device Interface does.
//!
//! # Source
//! docs/contract.md 4.7: the GPU operator's `ClusterPolicy` says so, unless the setting does.

use std::time::Duration;

use kai_daemon::backoff;
use kube::Client;
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::server::call::read;

/// The GPU operator is rarely changed.
const READ_EVERY: Duration = Duration::from_mins(5);
/// Binds wait no longer for an answer: a kind that cannot be read for as long may stay so, as one whose versions nothing
/// converts any more does, and all that is read else may be well.
const ASK_MAX: Duration = Duration::from_mins(1);
/// From this version of the GPU operator on, `cdi.enabled` is all that counts.
const DEFAULT_FROM: (u32, u32) = (25, 10);
const VERSION_LABEL: &str = "app.kubernetes.io/version";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Policies {
    items: Vec<Policy>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Policy {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    labels: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec {
    cdi: Cdi,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cdi {
    enabled: bool,
    default: bool,
}

/// Says what the API server has of the GPU operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detected {
    /// The operator's policy, and whether it has devices named like that.
    Policy(bool),
    /// There is no such kind.
    Absent,
    /// It may not be read.
    Forbidden,
    /// It cannot be read now.
    Unknown,
}

/// Says whether devices are named like that when binds begin: what was set, or what the GPU operator does. It is asked until
/// there is an answer, for a minute, or `stop`: what a pod is told of its devices stays for as long as it runs. Without an
/// answer they are not.
pub async fn ask(client: &Client, set: Option<bool>, stop: &CancellationToken) -> bool {
    if let Some(set) = set {
        return set;
    }
    let began = Instant::now();
    let mut failures = 0;
    loop {
        match stop.run_until_cancelled(detect(client)).await {
            Some(Detected::Policy(has_cdi)) => return has_cdi,
            Some(Detected::Absent | Detected::Forbidden) | None => return false,
            Some(Detected::Unknown) => failures += 1,
        }
        if began.elapsed() > ASK_MAX {
            tracing::warn!(
                "the ClusterPolicy of the GPU operator cannot be read: until it can, shared GPUs are not named as the \
                 Container Device Interface does (--cdi-enabled says it without)"
            );
            return false;
        }
        stop.run_until_cancelled(sleep(backoff(failures))).await;
    }
}

/// Keeps saying whether devices are named like that, until `stop`, where that was not set.
///
/// What cannot be read changes nothing, and so does one answer that there is no such kind: a server that starts does not
/// know every kind.
pub async fn follow(
    client: Client,
    set: Option<bool>,
    says: watch::Sender<bool>,
    stop: CancellationToken,
) {
    if set.is_some() {
        return;
    }
    let mut is_absent = false;
    while stop.run_until_cancelled(sleep(READ_EVERY)).await.is_some() {
        let detected = detect(&client).await;
        let was_absent = std::mem::replace(&mut is_absent, detected == Detected::Absent);
        let found = match detected {
            Detected::Policy(has_cdi) => has_cdi,
            Detected::Absent if was_absent => false,
            Detected::Absent | Detected::Forbidden | Detected::Unknown => continue,
        };
        says.send_if_modified(|said| std::mem::replace(said, found) != found);
    }
}

async fn detect(client: &Client) -> Detected {
    match read(client, "/apis/nvidia.com/v1/clusterpolicies").await {
        Ok(bytes) => Detected::Policy(is_enabled(&bytes)),
        Err(failure) => match failure.code() {
            Some(404) => Detected::Absent,
            Some(403) => Detected::Forbidden,
            Some(_) | None => Detected::Unknown,
        },
    }
}

fn is_enabled(list: &[u8]) -> bool {
    let Policies { items } = serde_json::from_slice(list).unwrap_or_default();
    items.first().is_some_and(|policy| {
        let version = policy.metadata.labels.get(VERSION_LABEL).and_then(|text| read_version(text));
        let is_default =
            policy.spec.cdi.default || version.is_some_and(|known| known >= DEFAULT_FROM);
        policy.spec.cdi.enabled && is_default
    })
}

/// `v25.10.1` as 25 and 10.
fn read_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use http::{Request, Response};
    use kube::client::Body;

    use super::*;

    /// Compares what is said at first, and after each look, at a server that answers with these codes in turn, and with a
    /// policy where it answers well.
    async fn check_looks(codes: &'static [u16], expect: &[bool]) {
        let asked = Arc::new(AtomicUsize::new(0));
        let server = tower::service_fn(move |_: Request<Body>| {
            let code = codes[asked.fetch_add(1, Ordering::Relaxed).min(codes.len() - 1)];
            let policy = r#"{"items": [{"spec": {"cdi": {"enabled": true, "default": true}}}]}"#;
            let body = Body::from(policy.as_bytes().to_vec());
            let answer = Response::builder().status(code).body(body).expect("it is a response");
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let client = Client::new(server, "default");
        let stop = CancellationToken::new();
        let (says, mut said) = watch::channel(ask(&client, None, &stop).await);
        let mut found = vec![*said.borrow_and_update()];
        let following = tokio::spawn(follow(client, None, says, stop.clone()));
        sleep(READ_EVERY / 2).await;
        for _ in 1..expect.len() {
            sleep(READ_EVERY).await;
            found.push(*said.borrow_and_update());
        }
        stop.cancel();
        following.await.expect("it does not panic");
        assert_eq!(found, expect, "{codes:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_operator_said_holds_until_there_is_none_twice() {
        check_looks(&[500, 429, 200], &[true]).await;
        check_looks(&[404, 200, 404, 200], &[false, true, true, true]).await;
        check_looks(&[200, 404, 404], &[true, true, false]).await;
        check_looks(&[200, 403, 403, 500], &[true, true, true, true]).await;
        let unreadable = check_looks(&[500], &[false, false]);
        tokio::time::timeout(Duration::from_hours(1), unreadable).await.expect("binds begin");
    }

    fn check(version: &str, cdi: &str, expect: bool) {
        let list = format!(
            r#"{{"items": [{{"metadata": {{"labels": {{"{VERSION_LABEL}": "{version}"}}}}, "spec": {{"cdi": {cdi}}}}}]}}"#
        );
        assert_eq!(is_enabled(list.as_bytes()), expect, "{version} {cdi}");
    }

    #[test]
    fn the_operators_version_decides_what_enabled_means() {
        check("v25.10.0", r#"{"enabled": true}"#, true);
        check("v25.9.2", r#"{"enabled": true}"#, false);
        check("v25.9.2", r#"{"enabled": true, "default": true}"#, true);
        check("26.3.0", r#"{"enabled": true}"#, true);
        check("26.3.0", r#"{"enabled": false, "default": true}"#, false);
        check("unknown", "{}", false);
        assert!(!is_enabled(b"{}"));
        assert!(!is_enabled(b"no list"));
    }
}
