//! History as data: what `-o json` prints of it. Fields are only ever added.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kai_api::daily_record::{EvictionRow, Outcome, UsageRow};
use schemars::JsonSchema;
use serde::Serialize;

/// Holds what a workload did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Workload {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: String,
    /// Its API version.
    pub(crate) api_version: String,
    /// Its UID.
    pub(crate) uid: String,
    /// Its queue, the last one.
    pub(crate) queue: String,
    /// The user that its label or annotation `user` names.
    pub(crate) user: Option<String>,
    /// Its state when it was last looked at.
    pub(crate) status: Outcome,
    /// Time when the first of its pods was created.
    pub(crate) created: Option<Time>,
    /// Time when the first of its pods was bound to a node.
    pub(crate) started: Option<Time>,
    /// Time when the last of its pods ended.
    pub(crate) ended: Option<Time>,
    /// Number of times that it began to wait.
    pub(crate) waits: u64,
    /// Seconds that it waited.
    pub(crate) wait_seconds: u64,
    /// Seconds that it had pods on nodes.
    pub(crate) run_seconds: u64,
    /// Most GPUs that it held at once, in millionths.
    pub(crate) peak_micro_gpus: u64,
    /// GPU time, in millionths of GPUs times seconds.
    pub(crate) micro_gpu_seconds: u64,
    /// GPU time in hours, as text.
    pub(crate) gpu_hours: String,
    /// Number of its evictions.
    pub(crate) evictions_count: u64,
    /// Its evictions, as far as they are kept.
    pub(crate) evictions: Vec<EvictionRow>,
    /// Its days.
    pub(crate) days: Vec<Day>,
}

/// Holds what a workload did on one day.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "these are the names of the data")]
pub(crate) struct Day {
    /// The day, of UTC.
    pub(crate) day: String,
    /// GPU time by queue and type of GPU.
    pub(crate) usage: Vec<UsageRow>,
    /// Seconds that it had pods on nodes.
    pub(crate) run_seconds: u64,
    /// Seconds that it waited.
    pub(crate) wait_seconds: u64,
}

/// Pods of a workload that were evicted together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "its fields are a part of it, flattened")]
pub(crate) struct Eviction {
    /// Namespace of the workload.
    pub(crate) namespace: String,
    /// Name of the workload.
    pub(crate) name: String,
    /// Kind of the workload.
    pub(crate) kind: String,
    /// Queue of the workload.
    pub(crate) queue: String,
    /// The user that its label or annotation `user` names.
    pub(crate) user: Option<String>,
    /// By whom, when, and what it cost.
    #[serde(flatten)]
    pub(crate) eviction: EvictionRow,
}

/// GPU time of what has the same keys; of these the ones are there that were asked for.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::option_option,
    reason = "a key that was not asked for is absent, and one that nobody named is null"
)]
pub(crate) struct Usage {
    /// The user; null where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<Option<String>>,
    /// The queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue: Option<Option<String>>,
    /// The kind of workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<Option<String>>,
    /// The type of GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gpu_type: Option<Option<String>>,
    /// The day, of UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) day: Option<Option<String>>,
    /// The namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<Option<String>>,
    /// The name of the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<Option<String>>,
    /// Number of workloads.
    pub(crate) workloads: u64,
    /// GPU time, in millionths of GPUs times seconds.
    pub(crate) micro_gpu_seconds: u64,
    /// GPU time in hours, as text.
    pub(crate) gpu_hours: String,
    /// Its price, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<String>,
}

/// GPU time, added up.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageReport {
    /// A line each.
    pub(crate) items: Vec<Usage>,
    /// All of them together.
    pub(crate) total: Usage,
}
