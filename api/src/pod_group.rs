//! `PodGroup`: pods that start together or not at all.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::queue::ResourceList;

/// The most sub-groups of a group: one with more is malformed. Source: docs/contract.md 10.2 (KAI #1829).
pub const SUB_GROUPS_MAX: usize = 10_000;
/// The most sub-groups of a group that have a topology constraint each: one with more is malformed. Each costs an attempt a look
/// at all nodes and domains of its topology: 0.12 ms at 1,000 nodes.
pub const CONSTRAINED_SUB_GROUPS_MAX: usize = 1_024;
/// The most sub-groups above each other: one with more is malformed. Workloads have three or four; what is asked of a
/// tree costs its depth for each of its leaves.
pub const SUB_GROUP_DEPTH_MAX: usize = 32;

/// The most bytes of the name of a sub-group: pods name theirs by the value of a label, which is no longer.
pub const SUB_GROUP_NAME_BYTES_MAX: usize = 63;

/// The most bytes of the name of an object of the API.
pub const OBJECT_NAME_BYTES_MAX: usize = 253;

/// The most bytes of the key of a label: a domain, a slash and a name.
pub const LABEL_KEY_BYTES_MAX: usize = 253 + 1 + 63;

/// Pods that a gang needs to start, and its place.
///
/// # Source
/// docs/contract.md 1.3. `minMember` excludes `minSubGroup`, and counts only without sub-groups.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "scheduling.run.ai",
    version = "v2alpha2",
    kind = "PodGroup",
    plural = "podgroups",
    shortname = "pg",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    status = "PodGroupStatus",
    doc = "A gang: pods that start together or not at all."
)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
pub struct PodGroupSpec {
    /// Pods that must start together; absent without sub-groups: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_member: Option<i32>,
    /// Direct child sub-groups that must be satisfied; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_sub_group: Option<i32>,
    /// Queue name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Name of the cluster's `PriorityClass`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// Absent: derived from the priority; below 100 is preemptible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemptibility: Option<Preemptibility>,
    /// False: pods get the event only, not the `PodScheduled=False` condition; absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_unschedulable: Option<bool>,
    /// 1: once found unschedulable, the gang is left alone in its node pool; absent or -1: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_backoff: Option<i32>,
    /// Pending time before the gang may cause evictions: a duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption_delay: Option<String>,
    /// Time for which it may run below its minimum: a duration; negative: for ever; absent: 60s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staleness_grace_period: Option<String>,
    /// Domain that the whole gang has to be in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<TopologyConstraint>,
    /// A tree of sub-groups, by parent name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_groups: Vec<SubGroup>,
}

empty_when_absent!(PodGroupSpec);

/// Permission to evict running pods for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preemptibility {
    /// They may.
    Preemptible,
    /// They may not.
    NonPreemptible,
}

/// The domain that pods share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologyConstraint {
    /// Name of the Topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// Node-label key or alias of the level that all pods must share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_topology_level: Option<String>,
    /// Node-label key or alias of the level that all pods should share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_topology_level: Option<String>,
}

/// A part of a gang with a minimum of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubGroup {
    /// Unique in the gang; the value of the pods' label `kai.scheduler/subgroup-name`.
    #[schemars(length(min = 1), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Name of another sub-group; absent: directly below the gang.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub parent: Option<String>,
    /// Leaf only: pods that must start; 0: all of them are extras.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_member: Option<i32>,
    /// With children only: how many of them must be satisfied; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_sub_group: Option<i32>,
    /// Domain that this part has to be in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<TopologyConstraint>,
}

/// Observed state of a gang.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupStatus {
    /// Nobody writes it; kept for the schema.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<PodGroupCondition>,
    /// Resources that its pods ask for and have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources_status: Option<ResourcesStatus>,
    /// Reasons why it waits: per node pool, the last entry counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scheduling_conditions: Vec<SchedulingCondition>,
}

/// Sums over a gang's pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesStatus {
    /// Of all pods that aren't finished.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requested: ResourceList,
    /// Of all pods that have a node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocated: ResourceList,
    /// The part of `allocated` that can't be preempted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocated_non_preemptible: ResourceList,
}

/// A condition of the old form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupCondition {
    /// The observation.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// `True`, `False` or `Unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A decimal that grows by 1.
    #[serde(rename = "transitionID", skip_serializing_if = "Option::is_none")]
    pub transition_id: Option<String>,
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

/// The reason why a gang waits in a node pool.
///
/// # Source
/// docs/contract.md 8.5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingCondition {
    /// `UnschedulableOnNodePool`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// The node pool; `default` for objects without the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_pool: Option<String>,
    /// Legacy: always `Unschedulable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reasons, one each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<UnschedulableReason>,
    /// All of it as a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// `True`, `False` or `Unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A decimal that grows by 1.
    #[serde(rename = "transitionID", skip_serializing_if = "Option::is_none")]
    pub transition_id: Option<String>,
    /// Time when it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}

/// One reason why a gang waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UnschedulableReason {
    /// One word, or the text for a lack of room: see [`crate::names::reason`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The numbers behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<UnschedulableDetails>,
}

/// The numbers behind a reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UnschedulableDetails {
    /// Details where a queue is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_details: Option<QueueDetails>,
}

/// Resources that a queue had, and that the gang asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QueueDetails {
    /// The queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Resources that all its work asks for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_requested_resources: ResourceList,
    /// Its quota.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_deserved_resources: ResourceList,
    /// Resources that it uses.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_allocated_resources: ResourceList,
    /// The part of what it uses that can't be preempted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_allocated_non_preemptible_resources: ResourceList,
    /// Its limit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_resource_limits: ResourceList,
    /// Resources that the gang asks for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pod_group_requested_resources: ResourceList,
    /// The same, if the gang can't be preempted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pod_group_requested_non_preemptible_resources: ResourceList,
}
