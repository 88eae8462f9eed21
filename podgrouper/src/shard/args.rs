//! The command line of a shard's scheduler.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::plan::Pools;
use crate::object::Object;

/// Flags that `spec.args` of a shard may set (`docs/contract.md` 7.3); the scheduler takes each of them.
pub const KNOWN_FLAGS: [&str; 50] = [
    "allow-consolidating-reclaim",
    "burst",
    "cdi-enabled",
    "cpu-worker-node-label-key",
    "default-staleness-grace-period",
    "detailed-fit-errors",
    "enable-profiler",
    "fake-gpu-nodes",
    "feature-gates",
    "full-hierarchy-fairness",
    "gpu-worker-node-label-key",
    "leader-elect",
    "listen-address",
    "log-json",
    "max-consolidation-preemptees",
    "metrics-namespace",
    "mig-worker-node-label-key",
    "namespace",
    "nodepool-label-key",
    "num-of-status-recording-workers",
    "partition-label-value",
    "placement-strategy",
    "plugin-server-port",
    "plugins",
    "profiler-port",
    "pyroscope-address",
    "pyroscope-block-profiler-rate",
    "pyroscope-mutex-profiler-rate",
    "qps",
    "queue-label-key",
    "resource-reservation-allocation-timeout",
    "resource-reservation-app-label",
    "resource-reservation-container-security-context",
    "resource-reservation-namespace",
    "resource-reservation-pod-image",
    "resource-reservation-pod-resources",
    "resource-reservation-pod-security-context",
    "resource-reservation-service-account",
    "respect-disruption-budgets",
    "restrict-node-scheduling",
    "runtime-class-name",
    "schedule-csi-storage",
    "schedule-period",
    "scheduler-name",
    "stuck-in-releasing-threshold",
    "update-pod-eviction-condition",
    "usage-prometheus-url",
    "use-scheduling-signatures",
    "v",
    "volume-binding-timeout-seconds",
];

/// The flags of the default scheduler as its installer wrote them.
///
/// The default shard's own flags are put over them in the same Deployment, which is also the pattern of all other
/// shards: what was there before is kept in an annotation, so that a flag that is taken out of the shard goes, and
/// no other shard inherits it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installed {
    pub(super) words: Vec<String>,
}

/// The annotation's value.
#[derive(Serialize, Deserialize)]
struct Note {
    installed: Vec<String>,
    written: Vec<String>,
}

impl Installed {
    pub(super) const ANNOTATION: &str = "kai.scheduler/installed-args";

    /// Of the Deployment. Flags that are not those that were written for the shard are an installer's or an
    /// administrator's, and the pattern from now on.
    pub(super) fn of(deployment: &Object) -> Self {
        let words = &deployment.value()["spec"]["template"]["spec"]["containers"][0]["args"];
        let words: Vec<String> = serde_json::from_value(words.clone()).unwrap_or_default();
        Self { words: installed_args(deployment.value()).unwrap_or(words) }
    }

    /// The annotation to write beside these flags; null for none.
    pub(super) fn note(&self, written: &[String]) -> Value {
        if self.words == written {
            return Value::Null;
        }
        let note = Note { installed: self.words.clone(), written: written.to_vec() };
        json!(json!(note).to_string())
    }
}

/// Reads from a Deployment the flags that its installer wrote; `None` where no shard's settings were put over them.
pub fn installed_args(deployment: &Value) -> Option<Vec<String>> {
    let words = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
    let note = deployment["metadata"]["annotations"][Installed::ANNOTATION].as_str()?;
    let note: Note = serde_json::from_str(note).ok()?;
    (json!(note.written) == *words).then_some(note.installed)
}

/// The flags of a shard's scheduler: the pattern's, the node pool's, then the shard's own, of which a later one wins.
/// Also the names in `own` that are no flags and left out.
pub(super) fn arguments(
    pattern: &[String],
    pools: &Pools,
    pool: &str,
    own: &BTreeMap<String, String>,
) -> (Vec<String>, Vec<String>) {
    let (known, unknown): (Vec<_>, Vec<_>) =
        own.iter().partition(|(name, _)| KNOWN_FLAGS.contains(&name.as_str()));
    let mut set = vec![
        ("nodepool-label-key", pools.node_pool_label.as_str()),
        ("partition-label-value", pool),
        ("queue-label-key", pools.queue_label.as_str()),
    ];
    set.retain(|(name, _)| !known.iter().any(|(own, _)| own == name));
    set.extend(known.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let is_set = |word: &str| {
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        word.starts_with('-') && set.iter().any(|(set, _)| *set == name)
    };
    let mut words: Vec<String> = Vec::new();
    let mut rest = pattern.iter().peekable();
    while let Some(word) = rest.next() {
        if !is_set(word) {
            words.push(word.clone());
        } else if !word.contains('=') {
            // Its value may be a word of its own.
            rest.next_if(|value| !value.starts_with('-'));
        }
    }
    words.extend(set.iter().map(|(name, value)| format!("--{name}={value}")));
    (words, unknown.into_iter().map(|(name, _)| name.clone()).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Pools, arguments};

    #[test]
    fn a_flag_goes_with_its_value_however_it_was_written() {
        let pools = Pools { node_pool_label: "pool".to_owned(), queue_label: "queue".to_owned() };
        let own = BTreeMap::from([("v".to_owned(), "6".to_owned())]);
        let node = [
            "--nodepool-label-key=pool",
            "--partition-label-value=p",
            "--queue-label-key=queue",
            "--v=6",
        ];
        for (pattern, left) in [
            (&["--v=4", "--leader-elect"][..], &["--leader-elect"][..]),
            (&["--v", "4", "--leader-elect"], &["--leader-elect"]),
            (
                &["-v", "--leader-elect", "--scheduler-name", "v"],
                &["--leader-elect", "--scheduler-name", "v"],
            ),
            (&["--plugins", "v", "--v"], &["--plugins", "v"]),
        ] {
            let pattern: Vec<String> = pattern.iter().map(|word| (*word).to_owned()).collect();
            let (words, unknown) = arguments(&pattern, &pools, "p", &own);
            assert_eq!(words, [left, &node[..]].concat(), "{pattern:?}");
            assert!(unknown.is_empty());
        }
    }
}
