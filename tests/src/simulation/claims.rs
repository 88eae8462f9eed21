//! Promises about claims of devices: no device is given twice, a bound pod has its claims, on its node, and what nobody uses
//! any more is given back (S3, A11).
//!
//! A judge sees writes in the order in which the API server took them in, so that nothing here is early or late: a claim is
//! written before its pod is bound, and nobody takes it back while the pod runs.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;
use kai_sandbox::server::Change;
use serde_json::Value;

use super::shown::{Life, Shown};

/// All claims, and the pods that need some.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Claims by `namespace/name`.
    by_name: BTreeMap<String, Claim>,
    /// Claims that have a device, by `driver/pool/device`.
    devices: BTreeMap<String, BTreeSet<String>>,
    /// Pods that need claims and have not ended, by UID.
    pods: BTreeMap<String, Needs>,
}

/// A claim.
#[derive(Debug, Default)]
struct Claim {
    has_devices: bool,
    devices: BTreeSet<String>,
    /// The node of its devices, where it is one.
    node: Option<String>,
    /// UIDs of pods for which it is reserved.
    consumers: BTreeSet<String>,
    /// The UID of the pod that it was made for.
    made_for: Option<String>,
    is_leaving: bool,
}

/// A pod that needs claims.
#[derive(Debug)]
struct Needs {
    name: String,
    /// Its node, while it has that for good.
    node: Option<String>,
    claims: Vec<String>,
    /// An entry of it whose claim is not made yet.
    unmade: Option<String>,
}

impl Claims {
    /// Takes a claim in; says what is wrong about it, or about the pods that have it.
    pub(super) fn claim(&mut self, object: &Value, change: Change) -> Vec<String> {
        let name = key(text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
        let new = if change == Change::Deleted { Claim::default() } else { Claim::of(object) };
        let old = self.by_name.remove(&name).unwrap_or_default();
        for device in old.devices.difference(&new.devices) {
            if let Some(holders) = self.devices.get_mut(device) {
                holders.remove(&name);
            }
        }
        let mut wrong = Vec::new();
        for device in new.devices.difference(&old.devices) {
            let holders = self.devices.entry(device.clone()).or_default();
            let others =
                holders.iter().map(|other| format!("{name} has {device}, which {other} has"));
            wrong.extend(others);
            holders.insert(name.clone());
        }
        let consumers: Vec<String> = old.consumers.union(&new.consumers).cloned().collect();
        if change != Change::Deleted {
            self.by_name.insert(name, new);
        }
        wrong.extend(consumers.iter().filter_map(|uid| self.lack(uid)));
        wrong
    }

    /// Takes a pod in; says what is wrong with its claims where it has its node.
    pub(super) fn pod(&mut self, shown: &Shown<'_>) -> Option<String> {
        if matches!(shown.life, Life::Gone | Life::Succeeded) {
            self.pods.remove(&shown.uid);
            return None;
        }
        let needs = Needs::of(shown)?;
        self.pods.insert(shown.uid.clone(), needs);
        self.lack(&shown.uid)
    }

    /// Says what a pod with a node lacks of its claims.
    fn lack(&self, uid: &str) -> Option<String> {
        let pod = self.pods.get(uid)?;
        let (name, node) = (&pod.name, pod.node.as_ref()?);
        if let Some(entry) = &pod.unmade {
            return Some(format!("{name} is on {node}, and its claim {entry} is not made"));
        }
        pod.claims.iter().find_map(|of| {
            let claim = self.by_name.get(of);
            let why = match claim {
                None => "is not there".to_owned(),
                Some(claim) if !claim.has_devices => "has no devices".to_owned(),
                Some(claim) if !claim.consumers.contains(uid) => {
                    "is not reserved for it".to_owned()
                }
                Some(claim) => match &claim.node {
                    Some(other) if other != node => format!("has devices of {other}"),
                    Some(_) | None => return None,
                },
            };
            Some(format!("{name} is on {node}, and its claim {of} {why}"))
        })
    }

    /// Finds what is wrong where nothing runs and nothing is written any more: devices that nobody uses, and claims that were
    /// made for pods that have ended. Pods that wait may have devices, as after the death of a scheduler.
    pub(super) fn at_rest(&self) -> Vec<String> {
        let wrong = |(name, claim): (&String, &Claim)| {
            let gone = claim.consumers.iter().find(|uid| !self.pods.contains_key(*uid));
            if let Some(uid) = gone {
                return Some(format!("claim {name} is reserved for {uid}, which has ended"));
            }
            if claim.has_devices && claim.consumers.is_empty() {
                return Some(format!("claim {name} has {:?} for nobody", claim.devices));
            }
            if claim.is_leaving {
                return Some(format!("claim {name} is being deleted for ever"));
            }
            let of = claim.made_for.as_ref().filter(|uid| !self.pods.contains_key(*uid));
            of.map(|uid| format!("claim {name} is left behind by {uid}"))
        };
        self.by_name.iter().filter_map(wrong).collect()
    }
}

impl Claim {
    /// Reads a claim.
    fn of(object: &Value) -> Self {
        let (metadata, status) = (&object["metadata"], &object["status"]);
        let allocation = &status["allocation"];
        let devices = rows(&allocation["devices"]["results"]).iter().map(|one| {
            format!("{}/{}/{}", text(&one["driver"]), text(&one["pool"]), text(&one["device"]))
        });
        let field = &allocation["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0];
        let is_name = field["key"] == "metadata.name";
        let node = field["values"][0].as_str().filter(|_| is_name);
        let consumers = rows(&status["reservedFor"]).iter().map(|one| text(&one["uid"]).to_owned());
        let owner = rows(&metadata["ownerReferences"]).iter().find(|one| one["kind"] == "Pod");
        Self {
            has_devices: !allocation.is_null(),
            devices: devices.collect(),
            node: node.map(str::to_owned),
            consumers: consumers.collect(),
            made_for: owner.map(|owner| text(&owner["uid"]).to_owned()),
            is_leaving: !metadata["deletionTimestamp"].is_null(),
        }
    }
}

impl Needs {
    /// Reads a pod; none where it needs no claims. One that leaves is on its node no longer, though it has its devices yet.
    fn of(shown: &Shown<'_>) -> Option<Self> {
        let namespace = shown.pod.metadata.namespace.as_deref().unwrap_or_default();
        let spec = shown.pod.spec.as_ref()?;
        let entries = spec.resource_claims.as_ref().filter(|entries| !entries.is_empty())?;
        let (mut claims, mut unmade) = (Vec::new(), None);
        for entry in entries {
            let named = entry.resource_claim_name.as_deref();
            match named.or_else(|| made(shown.pod, &entry.name)) {
                Some(claim) => claims.push(key(namespace, claim)),
                None => unmade = Some(entry.name.clone()),
            }
        }
        let node = shown.node.filter(|_| shown.life == Life::Holds).map(str::to_owned);
        Some(Self { name: shown.name.clone(), node, claims, unmade })
    }
}

/// The claim that was made for an entry of a pod.
fn made<'a>(pod: &'a Pod, entry: &str) -> Option<&'a str> {
    let all = pod.status.as_ref()?.resource_claim_statuses.as_ref()?;
    all.iter().find(|one| one.name == entry)?.resource_claim_name.as_deref()
}

fn key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[][..], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Takes in steps, each a kind, a name and what is special about it; says what was wrong, and what is at rest.
    fn check(steps: &[&str], expect: &[&str]) {
        let mut claims = Claims::default();
        let mut found = Vec::new();
        for step in steps {
            let words: Vec<&str> = step.split(' ').collect();
            let (name, rest) = (words[1], &words[2..]);
            match words[0] {
                "claim" => found.extend(claims.claim(&claim(name, rest), Change::Modified)),
                "gone" => found.extend(claims.claim(&claim(name, rest), Change::Deleted)),
                "pod" => {
                    let pod = serde_json::from_value(pod(name, rest)).expect("it is a pod");
                    found.extend(claims.pod(&Shown::of(&pod, Change::Modified)));
                }
                other => panic!("{other} is no step"),
            }
        }
        found.extend(claims.at_rest());
        assert_eq!(found, expect, "{steps:?}");
    }

    /// A claim: `nic-0@n` is a device of the node `n`, `for:p` a pod for which it is reserved, `of:p` one that it was made
    /// for, `leaves` that it is being deleted.
    fn claim(name: &str, words: &[&str]) -> Value {
        let mut claim = json!({"metadata": {"name": name, "namespace": "d"}, "status": {}});
        let (mut results, mut reserved) = (Vec::new(), Vec::new());
        for word in words {
            if let Some((device, node)) = word.split_once('@') {
                results.push(json!({"driver": "x", "pool": node, "device": device}));
                let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
                claim["status"]["allocation"]["nodeSelector"] =
                    json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
            } else if let Some(pod) = word.strip_prefix("for:") {
                reserved.push(json!({"resource": "pods", "name": pod, "uid": pod}));
            } else if let Some(pod) = word.strip_prefix("of:") {
                claim["metadata"]["ownerReferences"] = json!([{"kind": "Pod", "uid": pod}]);
            } else {
                claim["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
        }
        if !results.is_empty() {
            claim["status"]["allocation"]["devices"]["results"] = Value::Array(results);
        }
        claim["status"]["reservedFor"] = Value::Array(reserved);
        claim
    }

    /// A pod with the claim `c`, or one of a template whose name is not known: `@n` is its node.
    fn pod(name: &str, words: &[&str]) -> Value {
        let mut pod = json!({
            "metadata": {"name": name, "uid": name, "namespace": "d"},
            "spec": {"containers": [], "resourceClaims": [{"name": "e", "resourceClaimName": "c"}]},
        });
        for word in words {
            match *word {
                "template" => {
                    pod["spec"]["resourceClaims"] =
                        json!([{"name": "e", "resourceClaimTemplateName": "t"}]);
                }
                "made" => {
                    pod["status"]["resourceClaimStatuses"] =
                        json!([{"name": "e", "resourceClaimName": "c"}]);
                }
                "leaves" => pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
                "Succeeded" => pod["status"]["phase"] = json!("Succeeded"),
                node => pod["spec"]["nodeName"] = json!(node.trim_start_matches('@')),
            }
        }
        pod
    }

    #[test]
    fn a_device_is_given_once() {
        check(&["pod p", "claim c nic-0@n for:p"], &[]);
        let twice = "d/c has x/n/nic-0, which d/a has";
        check(&["pod p", "claim a nic-0@n for:p", "claim c nic-0@n for:p"], &[twice]);
        check(&["pod p", "claim a nic-0@n for:p", "claim c nic-0@m for:p"], &[]);
        let moved = ["pod p", "claim a nic-0@n for:p", "claim a", "claim c nic-0@n for:p"];
        check(&moved, &[]);
        check(&["pod p", "claim a nic-0@n for:p", "gone a", "claim c nic-0@n for:p"], &[]);
        check(&["pod p", "claim c nic-0@n for:p", "claim c nic-0@n for:p"], &[]);
    }

    #[test]
    fn a_bound_pod_has_its_claims() {
        let lacks = |why: &str| format!("p is on n, and its claim d/c {why}");
        check(&["pod p", "claim c nic-0@n for:p", "pod p @n"], &[]);
        check(&["pod p @n"], &[&lacks("is not there")]);
        check(&["claim c", "pod p @n"], &[&lacks("has no devices")]);
        check(&["pod q", "claim c nic-0@n for:q", "pod p @n"], &[&lacks("is not reserved for it")]);
        check(&["claim c nic-0@m for:p", "pod p @n"], &[&lacks("has devices of m")]);
        check(&["pod p template @n"], &["p is on n, and its claim e is not made"]);
        check(&["claim c nic-0@n for:p", "pod p template made @n"], &[]);
    }

    #[test]
    fn nobody_takes_a_claim_from_a_pod_that_runs() {
        let begin = ["claim c nic-0@n for:p", "pod p @n"];
        let with = |more: &[&'static str]| [&begin[..], more].concat();
        check(&with(&["claim c"]), &["p is on n, and its claim d/c has no devices"]);
        check(&with(&["gone c"]), &["p is on n, and its claim d/c is not there"]);
        check(&with(&["pod p @n leaves", "claim c"]), &[]);
        check(&with(&["pod p @n Succeeded", "claim c"]), &[]);
    }

    #[test]
    fn nothing_is_left_behind() {
        let begin = ["claim c nic-0@n for:p of:p", "pod p @n"];
        let with = |more: &[&'static str]| [&begin[..], more].concat();
        check(&with(&[]), &[]);
        let ended = ["claim d/c is reserved for p, which has ended"];
        check(&with(&["pod p @n Succeeded"]), &ended);
        check(&with(&["pod p @n Succeeded", "claim c of:p"]), &["claim d/c is left behind by p"]);
        check(&with(&["pod p @n Succeeded", "gone c"]), &[]);
        check(&["claim a nic-0@n"], &["claim d/a has {\"x/n/nic-0\"} for nobody"]);
        check(&["claim a leaves"], &["claim d/a is being deleted for ever"]);
        check(&["pod p", "claim c nic-0@n for:p of:p"], &[]);
    }
}
