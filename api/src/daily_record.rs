//! `DailyRecord`: what the workloads of a namespace did on one day.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The key of the row that sums up workloads which are gone, where a day has too many for rows of their own. No workload has
/// it as its UID.
pub const OTHERS: &str = "others";

/// The workloads of a namespace on one day, each with the GPU time that it held on that day.
///
/// A day is one of UTC. A day of many workloads has several records. The podgrouper writes them; everybody else reads.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "kai.scheduler",
    version = "v1alpha1",
    kind = "DailyRecord",
    plural = "dailyrecords",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    printcolumn = r#"{"name": "Day", "type": "string", "jsonPath": ".spec.day"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#,
    doc = "What the workloads of a namespace did on one day."
)]
#[serde(rename_all = "camelCase")]
pub struct DailyRecordSpec {
    /// The day, as `2026-11-24`.
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub day: String,
    /// The workloads by their UIDs, and the sum of others.
    #[serde(default)]
    pub workloads: BTreeMap<String, WorkloadRecord>,
}

/// One workload on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRecord {
    /// Its API version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its queue, the last of the day.
    pub queue: String,
    /// The user that its label or annotation `user` names; nobody checks that it is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Time when the first of its pods that are known was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// Time when the first of its pods that are known was bound to a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Time>,
    /// Time when the last of its pods ended; absent while there are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
    /// Its state when it was last looked at.
    pub outcome: Outcome,
    /// Most GPUs that it held at once on this day, in millionths.
    #[serde(default)]
    pub peak_micro_gpus: u64,
    /// Seconds of this day during which it had pods on nodes.
    #[serde(default)]
    pub run_seconds: u64,
    /// Seconds of this day during which it had pods and none of them on a node.
    #[serde(default)]
    pub wait_seconds: u64,
    /// Number of times that it began to wait on this day.
    #[serde(default)]
    pub waits: u32,
    /// GPU time of this day up to `through`, a row a queue and type of GPU.
    #[serde(default)]
    pub usage: Vec<UsageRow>,
    /// The last evictions of this day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evictions: Vec<EvictionRow>,
    /// Number of evictions that are left out, since a record holds the last ones only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub evictions_left_out: u32,
    /// Number of workloads that this row sums up; absent where it is one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workloads: u32,
    /// Time up to which all amounts are counted.
    pub through: Option<Time>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// State of a workload when it was last looked at.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Outcome {
    /// It has pods, and none of them is on a node.
    #[default]
    Pending,
    /// It has pods on nodes.
    Running,
    /// All of its pods that ended last ended well.
    Succeeded,
    /// A pod that ended last failed.
    Failed,
    /// Its pods were evicted, and none was made anew.
    Evicted,
    /// Its pods are gone, and so is its `PodGroup`.
    Deleted,
    /// Its pods are gone, and it may make others: it is suspended or scaled to zero.
    Stopped,
}

impl Outcome {
    /// The word in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Evicted => "Evicted",
            Self::Deleted => "Deleted",
            Self::Stopped => "Stopped",
        }
    }

    /// Tells whether pods are there.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Running)
    }
}

/// GPU time under one queue on one type of GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The queue.
    pub queue: String,
    /// The type of GPU: the node's label `nvidia.com/gpu.product`, `mig-<profile>`, or a class of devices.
    pub gpu_type: String,
    /// Millionths of GPUs, times seconds. MIG instances count as many GPUs as their profile has slices, as in queues.
    pub micro_gpu_seconds: u64,
    /// Millionths of GPUs held at `through`, and since then.
    #[serde(default)]
    pub held_micro_gpus: u64,
}

/// Pods that were evicted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvictionRow {
    /// Time of the first one.
    pub at: Option<Time>,
    /// Number of pods.
    pub pods: u32,
    /// `reclaim`, `preempt`, `consolidation` or `stalegangeviction`.
    pub action: String,
    /// Namespace of the `PodGroup` that they left for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by_namespace: String,
    /// That `PodGroup`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by_pod_group: String,
    /// The workload of that `PodGroup`, as `Kind/name`, where it was known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by_workload: String,
    /// The queue of that `PodGroup`, where it was known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by_queue: String,
    /// GPU time that the pods had held since they were bound: what is lost without a checkpoint.
    #[serde(default)]
    pub lost_micro_gpu_seconds: u64,
}
