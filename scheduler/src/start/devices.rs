//! Finds out how `resource.k8s.io` is served, and when that is another way.

use std::time::Duration;

use kai_daemon::backoff;
use kube::Client;
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{ingest::Kind, server::call::read};

/// The path at which the API server says which versions of the group it serves.
const GROUP: &str = "/apis/resource.k8s.io";
/// Sets how often that is read again. It changes with the configuration or the version of the API server alone.
const ASK_EVERY: Duration = Duration::from_mins(1);

/// Says how `resource.k8s.io` is served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Devices {
    /// The newest version; where none is served the newest of all, which reads as empty lists.
    pub(super) version: &'static str,
    pub(super) are_served: bool,
}

impl Devices {
    /// Asks how it is served; none where the process is to stop. It is asked until there is an answer: one failure must not
    /// decide for the life of the process.
    pub(super) async fn ask(client: &Client, stop: &CancellationToken) -> Option<Self> {
        let mut failures = 0;
        loop {
            let answer = tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                answer = read(client, GROUP) => answer,
            };
            match answer {
                Ok(bytes) => {
                    let version = newest_version(&versions(&bytes));
                    return Some(Self { version, are_served: true });
                }
                Err(failure) if failure.is_no_answer() => {
                    tracing::warn!(%failure, "failed to read what resource.k8s.io serves");
                }
                Err(failure) => {
                    tracing::info!(%failure, "resource.k8s.io is not served: no claims, no devices");
                    let are_served = failure.code() != Some(404);
                    return Some(Self { version: newest_version(&[]), are_served });
                }
            }
            failures += 1;
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = sleep(backoff(failures)) => {}
            }
        }
    }

    /// Ends once the group is served that was not, or not in this version any more. Two answers in a row have to say so: of
    /// several API servers one may be behind the others.
    pub(super) async fn served_otherwise(self, client: &Client) {
        let mut has_differed = false;
        loop {
            sleep(ASK_EVERY).await;
            let Ok(bytes) = read(client, GROUP).await else { continue };
            let differs = self.differs(&versions(&bytes));
            if differs && has_differed {
                return;
            }
            has_differed = differs;
        }
    }

    /// Tells whether another way to serve the group asks for another way to read it.
    fn differs(self, listed: &[String]) -> bool {
        let is_listed = listed.iter().any(|version| *version == self.version);
        !self.are_served || (!is_listed && newest_version(listed) != self.version)
    }
}

/// The versions that an `APIGroup` lists.
fn versions(group: &[u8]) -> Vec<String> {
    let group: Value = serde_json::from_slice(group).unwrap_or_default();
    let listed = group["versions"].as_array().into_iter().flatten();
    listed.filter_map(|one| one["version"].as_str().map(String::from)).collect()
}

/// The best of these versions, the best of all where none of them is understood.
fn newest_version(listed: &[String]) -> &'static str {
    let versions = Kind::ResourceClaim.api().versions;
    let is_listed = |version: &&&str| listed.iter().any(|one| one == **version);
    versions.iter().find(is_listed).unwrap_or(&versions[0])
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tokio::time::{Instant, timeout};

    use super::*;

    /// Compares after how many minutes it is known that the group is served otherwise than at first; none: not within ten.
    /// Each answer lists versions, and the last is given again and again; one without versions is a 404.
    async fn check(answers: &'static [&'static [&'static str]], expect: Option<u64>) {
        let asked = AtomicUsize::new(0);
        let server = tower::service_fn(move |_: Request<Body>| {
            let at = asked.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
            let listed: Vec<Value> =
                answers[at].iter().map(|version| json!({ "version": version })).collect();
            let code: u16 = if listed.is_empty() { 404 } else { 200 };
            let body = Body::from(json!({ "versions": listed }).to_string().into_bytes());
            let answer = Response::builder().status(code).body(body).expect("it is a response");
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let client = Client::new(server, "default");
        let devices = Devices::ask(&client, &CancellationToken::new()).await.expect("an answer");
        let began = Instant::now();
        let changed =
            timeout(Duration::from_mins(10), devices.served_otherwise(&client)).await.is_ok();
        let minutes = changed.then(|| began.elapsed().as_secs() / 60);
        assert_eq!(minutes, expect, "{answers:?}");
    }

    /// Another version than the one that is served would be read for minutes.
    #[tokio::test(start_paused = true)]
    async fn overload_says_nothing_of_what_is_served() {
        let asked = AtomicUsize::new(0);
        let server = tower::service_fn(move |_: Request<Body>| {
            let code: u16 = if asked.fetch_add(1, Ordering::Relaxed) == 0 { 429 } else { 200 };
            let body = json!({ "versions": [{ "version": "v1beta1" }] }).to_string();
            let answer = Response::builder().status(code).body(Body::from(body.into_bytes()));
            std::future::ready(Ok::<_, Infallible>(answer.expect("it is a response")))
        });
        let client = Client::new(server, "default");
        let devices = Devices::ask(&client, &CancellationToken::new()).await.expect("an answer");
        assert_eq!((devices.version, devices.are_served), ("v1beta1", true));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_served_later_is_taken_up() {
        check(&[&[]], None).await;
        check(&[&[], &["v1"]], Some(2)).await;
        check(&[&["v1beta1"], &["v1"]], Some(2)).await;
        check(&[&["v1beta1"], &["v1", "v1beta1"]], None).await;
        check(&[&["v1beta1"], &["v1"], &["v1beta1"]], None).await;
        check(&[&["v1"], &[]], None).await;
        check(&[&["v9"], &["v9"]], None).await;
    }
}
