//! Tells whether pods name devices as the Container Device Interface does.
//!
//! # Source
//! docs/contract.md 4.7: the GPU operator's `ClusterPolicy` says so, unless the setting does.

use std::time::Duration;

use kube::Client;
use serde::Deserialize;
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::server::call::read;

/// The GPU operator is rarely changed.
const READ_EVERY: Duration = Duration::from_mins(5);
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

/// Keeps saying whether devices are named like that, until `stop`: what was set, or what the GPU operator does.
pub async fn follow(
    client: Client,
    set: Option<bool>,
    says: watch::Sender<bool>,
    stop: CancellationToken,
) {
    if let Some(set) = set {
        says.send_replace(set);
        return;
    }
    loop {
        if let Some(found) = detect(&client).await {
            says.send_if_modified(|said| std::mem::replace(said, found) != found);
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = sleep(READ_EVERY) => {}
        }
    }
}

/// None where it cannot be read now; false where there is no such kind, or no right to read it.
async fn detect(client: &Client) -> Option<bool> {
    match read(client, "/apis/nvidia.com/v1/clusterpolicies").await {
        Ok(bytes) => Some(is_enabled(&bytes)),
        Err(failure) if matches!(failure.code(), Some(403 | 404)) => Some(false),
        Err(_) => None,
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
    use super::*;

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
