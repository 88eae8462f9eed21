//! The marks of a grouped pod: its `PodGroup` and its subgroup (`spec/podgrouper.md` 9).

use serde_json::{Value, json};

use crate::desired::Desired;
use crate::pod::Pod;
use crate::settings::Settings;
use kai_api::names;

/// The merge patch that marks a pod as wanted; `None` when it is marked so already.
///
/// The patch carries the pod's UID, so that it cannot hit a pod of the same name that came later.
pub fn mark(pod: &Pod, desired: &Desired, settings: &Settings) -> Option<Value> {
    let subgroup = desired.subgroup_of(&pod.namespace, &pod.name).unwrap_or_default();
    let label = pod.label(names::label::SUBGROUP).unwrap_or_default();
    let has_group = pod.annotation(names::annotation::POD_GROUP) == Some(desired.name.as_str());
    let is_stale = subgroup.is_empty() && !label.is_empty();
    if has_group && (label == subgroup || (is_stale && settings.is_peer())) {
        return None;
    }
    let mut patch = json!({"metadata": {"uid": pod.uid}});
    if !has_group {
        patch["metadata"]["annotations"] = json!({names::annotation::POD_GROUP: desired.name});
    }
    if !subgroup.is_empty() && label != subgroup {
        patch["metadata"]["labels"] = json!({names::label::SUBGROUP: subgroup});
    } else if is_stale && !settings.is_peer() {
        patch["metadata"]["labels"] = json!({names::label::SUBGROUP: null});
    }
    Some(patch)
}
