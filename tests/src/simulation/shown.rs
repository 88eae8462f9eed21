//! Pods and groups as a write shows them, read once for all judges.

use std::{collections::BTreeMap, time::Duration};

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Container, Pod};
use kai_api::{
    names::{annotation, namespace, priority_class, resource},
    pod_group::{PodGroup, Preemptibility},
};
use kai_sandbox::server::Change;
use kube::ResourceExt;

use super::mixed;

/// Groups by `namespace/name`.
pub(super) type Groups = BTreeMap<String, Group>;

/// A `PodGroup`, as far as it is judged by.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) queue: String,
    /// Pods that it needs to start.
    pub(super) minimum: usize,
    pub(super) priority: i32,
    /// Its pods are never evicted for others.
    pub(super) is_protected: bool,
    /// Time after it came, or was evicted, before others are evicted for it.
    pub(super) preemption_delay: Duration,
}

impl Group {
    /// Reads a `PodGroup`. Source: docs/behaviour.md 1.5.
    pub(super) fn of(group: &PodGroup) -> Self {
        let spec = &group.spec;
        let class = spec.priority_class_name.as_deref().unwrap_or_default();
        let known = priority_class::ALL.iter().find(|(name, _)| *name == class);
        let priority = known.map_or(priority_class::FALLBACK, |(_, priority)| *priority);
        let is_protected = match spec.preemptibility {
            Some(Preemptibility::Preemptible) => false,
            Some(Preemptibility::NonPreemptible) => true,
            None => priority >= priority_class::NON_PREEMPTIBLE_FROM,
        };
        let minimum = usize::try_from(spec.min_member.unwrap_or(1)).unwrap_or_default();
        let queue = spec.queue.clone().unwrap_or_default();
        let preemption_delay = spec.preemption_delay.as_deref().and_then(duration);
        let preemption_delay = preemption_delay.unwrap_or_default();
        Self { queue, minimum, priority, is_protected, preemption_delay }
    }
}

/// A part of the life of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// It has no node.
    Waits,
    /// It has a node.
    Holds,
    /// It was told to go.
    Leaves,
    Succeeded,
    /// It failed, or is no more.
    Gone,
}

/// A pod.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) pod: &'a Pod,
    pub(super) uid: String,
    pub(super) name: String,
    /// Its `PodGroup`, as `namespace/name`.
    pub(super) group: Option<String>,
    pub(super) node: Option<&'a str>,
    pub(super) life: Life,
    /// It holds a GPU for those that share it.
    pub(super) is_reservation: bool,
    /// Thousandths of GPUs that it asks for.
    pub(super) gpu_milli: i64,
}

impl<'a> Shown<'a> {
    /// Reads a pod.
    pub(super) fn of(pod: &'a Pod, change: Change) -> Self {
        let namespace = pod.namespace().unwrap_or_default();
        let group = pod.annotations().get(annotation::POD_GROUP);
        let group = group.map(|group| format!("{namespace}/{group}"));
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let life = match phase {
            _ if change == Change::Deleted || phase == Some("Failed") => Life::Gone,
            Some("Succeeded") => Life::Succeeded,
            _ if pod.metadata.deletion_timestamp.is_some() => Life::Leaves,
            _ if node.is_some() => Life::Holds,
            _ => Life::Waits,
        };
        let is_reservation = namespace == namespace::RESERVATION;
        let (uid, name) = (pod.uid().unwrap_or_default(), pod.name_any());
        let gpu_milli = gpu_milli(pod);
        Self { pod, uid, name, group, node, life, is_reservation, gpu_milli }
    }
}

/// Reads a duration such as `3m` or `1h30m`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let duration: SignedDuration = text.parse().ok()?;
    Duration::try_from(duration).ok()
}

/// Thousandths of GPUs that a pod asks for, whole ones or shares of some.
fn gpu_milli(pod: &Pod) -> i64 {
    let of = |container: &Container| {
        let limits = container.resources.as_ref()?.limits.as_ref()?;
        limits.get(resource::NVIDIA_GPU)?.0.parse::<i64>().ok()
    };
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let whole: i64 = containers.filter_map(of).sum();
    let (share, devices) =
        (mixed::hundredths_of(pod.annotations()), mixed::devices_of(pod.annotations()));
    1000 * whole + 10 * share.unwrap_or_default() * devices
}
