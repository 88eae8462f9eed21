//! A pod in the namespace of scaling pods.

use jiff::Timestamp;
use kai_api::names::{label, resource, value};
use kai_api::quantity::Quantity;
use serde_json::Value;

use super::waiting::scheduled_condition;
use crate::object::Object;
use crate::store::Key;

/// Label of a scaling pod: the class of the pod that it stands for, see [`Template::class`](super::waiting::Template::class).
pub(super) const CLASS: &str = "kai.scheduler/scaling-class";

/// Progress of a scaling pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nobody has said anything of it.
    Unmarked,
    /// It waits for a node.
    Waits,
    /// It has had a node since then.
    Bound(Timestamp),
    /// It has ended.
    Ended,
    /// It is being deleted.
    Leaves,
}

/// A scaling pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) uid: String,
    pub(super) version: String,
    /// The pod that it stands for; none: not a scaling pod, it only has the name.
    pub(super) of: Option<Key>,
    pub(super) class: Option<String>,
    pub(super) devices: u64,
    pub(super) created: Timestamp,
    pub(super) progress: Progress,
}

impl Standing {
    /// Reads a pod of the namespace.
    pub(super) fn of(pod: &Object) -> Self {
        let value = pod.value();
        let created = time(&value["metadata"]["creationTimestamp"]).unwrap_or(Timestamp::MIN);
        // A name that is too long for a label's value stands in an annotation.
        let name = |key: &str| pod.annotation(key).or_else(|| pod.label(key));
        let is_ours = pod.label(label::APP) == Some(value::SCALING_APP);
        let of = name(label::SHARED_GPU_POD_NAMESPACE)
            .zip(name(label::SHARED_GPU_POD_NAME))
            .filter(|_| is_ours)
            .map(|(namespace, name)| Key::new(namespace, name));
        Self {
            uid: pod.uid().to_owned(),
            version: pod.resource_version().to_owned(),
            of,
            class: pod.label(CLASS).map(str::to_owned),
            devices: devices(value),
            created,
            progress: progress(pod, created),
        }
    }
}

fn progress(pod: &Object, created: Timestamp) -> Progress {
    let value = pod.value();
    if pod.is_terminating() {
        return Progress::Leaves;
    }
    if matches!(value["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
        return Progress::Ended;
    }
    let condition = scheduled_condition(value);
    let has_node = value["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    match condition {
        _ if has_node => {
            let bound = condition.filter(|row| row["status"] == "True");
            let since = bound.and_then(|row| time(&row["lastTransitionTime"]));
            Progress::Bound(since.unwrap_or(created))
        }
        Some(_) => Progress::Waits,
        None => Progress::Unmarked,
    }
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

fn devices(pod: &Value) -> u64 {
    let containers = pod["spec"]["containers"].as_array().map_or(&[][..], Vec::as_slice);
    let amount = |container: &Value| {
        let amount = container["resources"]["requests"][resource::NVIDIA_GPU].as_str()?;
        u64::try_from(Quantity::parse(amount).ok()?.value().ok()?).ok()
    };
    containers.iter().filter_map(amount).sum()
}
