//! Queue: who may use how much, in a tree of any depth.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;

/// Amounts by resource name.
pub type ResourceList = BTreeMap<String, Quantity>;

/// A queue's place in the tree and what it may use.
///
/// # Source
/// docs/contract.md 1.2. Nothing is immutable; only leaf queues run work.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "scheduling.run.ai",
    version = "v2",
    kind = "Queue",
    plural = "queues",
    derive = "Default",
    derive = "PartialEq",
    status = "QueueStatus",
    doc = "A queue: its place in the tree, what it is entitled to, what it uses.",
    printcolumn = r#"{"name":"Priority","type":"string","jsonPath":".spec.priority"}"#,
    printcolumn = r#"{"name":"Parent","type":"string","jsonPath":".spec.parentQueue"}"#,
    printcolumn = r#"{"name":"Children","type":"string","jsonPath":".status.childQueues"}"#,
    printcolumn = r#"{"name":"DisplayName","type":"string","jsonPath":".spec.displayName"}"#
)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
pub struct QueueSpec {
    /// Shown instead of the name in messages and metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Name of the parent queue; absent or empty: a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_queue: Option<String>,
    /// Resources that the queue may use; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<QueueResources>,
    /// Higher first; absent: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Guaranteed run time before work of the same queue may preempt: a duration; absent: the parent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempt_min_runtime: Option<String>,
    /// Guaranteed run time before other queues may reclaim: a duration; absent: the parent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaim_min_runtime: Option<String>,
}

empty_when_absent!(QueueSpec);

/// Priority of a queue that names none.
pub const PRIORITY_DEFAULT: i64 = 100;

/// A queue's entitlement per resource.
///
/// # Units
/// GPU in devices (fractions allowed), CPU in millicores, memory in megabytes of 10^6 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QueueResources {
    /// Devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<QueueResource>,
    /// Millicores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<QueueResource>,
    /// Megabytes of 10^6 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<QueueResource>,
}

/// A queue's entitlement to one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QueueResource {
    /// Amount that it deserves; -1: without end; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// Relative share of what is left over; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_quota_weight: Option<f64>,
    /// Hard cap; -1: none; absent: nothing may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// Quota or limit without end.
pub const UNLIMITED: f64 = -1.0;

/// Resources that a queue and the queues below it use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QueueStatus {
    /// Observations; `Orphan` is ours, others are left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<QueueCondition>,
    /// Names of the direct children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_queues: Vec<String>,
    /// Sum of requests in the subtree.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requested: ResourceList,
    /// Sum of what is allocated in the subtree.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocated: ResourceList,
    /// The part of `allocated` that can't be preempted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocated_non_preemptible: ResourceList,
}

/// One observation of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueCondition {
    /// The observation, such as `Orphan`.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Time when it was last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_probe_time: Option<Time>,
    /// Time when the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// The reason, as one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
