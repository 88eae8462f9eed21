//! Faults of a simulated node, as an annotation of its Node object says.
//!
//! ```text
//! kubectl annotate node node-1 sandbox.kai.scheduler/faults=lost=3,silent-reservations
//! kubectl annotate node node-1 sandbox.kai.scheduler/faults-
//! ```

use std::collections::BTreeSet;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::object::seconds;

/// The annotation of a Node that says what goes wrong on it.
pub const FAULTS: &str = "sandbox.kai.scheduler/faults";
/// The condition of a Node that says which faults are simulated, or what was not understood.
pub const CONDITION: &str = "SimulatedFault";
/// Words that the annotation may say, comma-separated.
pub const WORDS: &[&str] = &[
    "lost=INDEX",
    "silent-reservations",
    "missing-image",
    "reject",
    "reject-reservations",
    "dead",
];
/// The resource whose devices may be lost.
const GPU: &str = "nvidia.com/gpu";
/// The taints that a cluster's node controller puts on a node that it does not hear of.
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// The faults of one node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent faults")]
pub(super) struct Faults {
    /// Indexes of devices that are gone: no pod gets them, containers that see one fail.
    pub(super) lost: BTreeSet<usize>,
    /// GPU reservation pods run and never report their device, as with a broken NVML.
    pub(super) is_silent: bool,
    /// The image of GPU reservation pods is not there.
    pub(super) lacks_image: bool,
    /// New pods are refused.
    pub(super) rejects: bool,
    /// New GPU reservation pods are refused.
    pub(super) rejects_reservations: bool,
    /// Nothing is heard of the node, and nothing happens on it.
    pub(super) is_dead: bool,
}

/// Reads the annotation.
///
/// # Errors
/// Names the word that is not known, and those that are.
pub(super) fn parse(text: &str) -> Result<Faults, String> {
    let mut faults = Faults::default();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match (word, word.strip_prefix("lost=").map(str::parse)) {
            (_, Some(Ok(index))) => {
                faults.lost.insert(index);
            }
            ("silent-reservations", _) => faults.is_silent = true,
            ("missing-image", _) => faults.lacks_image = true,
            ("reject", _) => faults.rejects = true,
            ("reject-reservations", _) => faults.rejects_reservations = true,
            ("dead", _) => faults.is_dead = true,
            _ => {
                let known = WORDS.join(", ");
                return Err(format!(
                    "annotation {FAULTS}: unknown fault {word:?}; known are {known}"
                ));
            }
        }
    }
    Ok(faults)
}

/// The faults of a node, and what its condition says of them; none where it has the annotation not.
pub(super) fn of(node: &Node) -> (Faults, Option<(bool, String)>) {
    match node.annotations().get(FAULTS).map(|text| (text, parse(text))) {
        None => (Faults::default(), None),
        Some((text, Ok(faults))) => (faults, Some((true, format!("simulated here: {text}")))),
        Some((_, Err(why))) => (Faults::default(), Some((false, why))),
    }
}

/// The patch of the node's status that its faults ask for; `None` where it says so already. `gpus` are those it has.
///
/// A lost device stays in the capacity, as with a real device plugin.
pub(super) fn status(node: &Node, gpus: usize, now: Timestamp) -> Option<Value> {
    let (faults, said) = of(node);
    let current = node.status.as_ref();
    let lost = faults.lost.iter().filter(|index| **index < gpus).count();
    let wanted = (gpus > 0).then(|| (gpus - lost).to_string());
    let have = current
        .and_then(|status| status.allocatable.as_ref()?.get(GPU))
        .map(|quantity| quantity.0.clone());
    let condition = |kind: &str| {
        let all = current.and_then(|status| status.conditions.as_ref());
        all.into_iter().flatten().find(|condition| condition.type_ == kind)
    };
    let at = seconds(now);
    let one = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message,
               "lastHeartbeatTime": at, "lastTransitionTime": at})
    };
    let mut conditions = Vec::new();
    let ready = if faults.is_dead {
        one("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    } else {
        one("Ready", "True", "KubeletReady", "simulated node, ready")
    };
    if condition("Ready").is_none_or(|have| ready["status"] != have.status.as_str()) {
        conditions.push(ready);
    }
    let (word, reason, message) = match said {
        Some((true, message)) => ("True", "Annotated", message),
        Some((false, message)) => ("Unknown", "NotUnderstood", message),
        None => ("False", "None", String::new()),
    };
    let is_said = match condition(CONDITION) {
        Some(have) => have.status == word && have.message.as_deref().unwrap_or("") == message,
        None => word == "False",
    };
    if !is_said {
        conditions.push(one(CONDITION, word, reason, &message));
    }
    let mut status = json!({});
    if wanted != have {
        status["allocatable"] = json!({ GPU: wanted });
    }
    if !conditions.is_empty() {
        status["conditions"] = json!(conditions);
    }
    let is_same = status == json!({});
    (!is_same).then(|| json!({"metadata": {"uid": node.uid()}, "status": status}))
}

/// The patch of the node's taints that its faults ask for; `None` where it has them already.
pub(super) fn taints(node: &Node, now: Timestamp) -> Option<Value> {
    let all = node.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default();
    let has = all.iter().any(|taint| taint.key == UNREACHABLE);
    let (faults, _) = of(node);
    if has == faults.is_dead {
        return None;
    }
    let mut wanted: Vec<Value> = all
        .iter()
        .filter(|taint| taint.key != UNREACHABLE)
        .filter_map(|taint| serde_json::to_value(taint).ok())
        .collect();
    if faults.is_dead {
        for effect in ["NoSchedule", "NoExecute"] {
            wanted.push(json!({"key": UNREACHABLE, "effect": effect, "timeAdded": seconds(now)}));
        }
    }
    let version = node.resource_version();
    Some(json!({"metadata": {"resourceVersion": version}, "spec": {"taints": wanted}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(annotation: Option<&str>) -> Node {
        let annotations = annotation.map(|text| json!({ FAULTS: text }));
        serde_json::from_value(json!({
            "metadata": {"name": "n", "uid": "u", "annotations": annotations},
            "status": {"allocatable": {GPU: "4"}, "conditions": [{"type": "Ready", "status": "True"}]},
        }))
        .expect("a node in the test")
    }

    fn check(annotation: Option<&str>, allocatable: Option<&str>, said: &str) {
        let patch = status(&node(annotation), 4, Timestamp::UNIX_EPOCH).unwrap_or_default();
        let text = |pointer: &str| patch.pointer(pointer).and_then(Value::as_str);
        assert_eq!(text("/status/allocatable/nvidia.com~1gpu"), allocatable, "{annotation:?}");
        let conditions = patch.pointer("/status/conditions").cloned().unwrap_or_default();
        let texts: Vec<String> = conditions
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| format!("{} {}", one["type"], one["status"]).replace('"', ""))
            .collect();
        assert_eq!(texts.join(", "), said, "{annotation:?}");
    }

    #[test]
    fn a_node_shows_what_is_wrong_with_it() {
        check(None, None, "");
        check(Some("lost=1, lost=3"), Some("2"), "SimulatedFault True");
        check(Some("lost=9"), None, "SimulatedFault True");
        check(Some("dead"), None, "Ready Unknown, SimulatedFault True");
        check(Some("explode"), None, "SimulatedFault Unknown");
        assert_eq!(taints(&node(None), Timestamp::UNIX_EPOCH), None);
        let patch = taints(&node(Some("dead")), Timestamp::UNIX_EPOCH).unwrap_or_default();
        assert_eq!(patch["spec"]["taints"].as_array().map(Vec::len), Some(2));
    }
}
