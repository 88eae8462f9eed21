//! The `scheduling` family of `oracle/1` files, as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::oracle::bound::Bound;

/// One whole-scheduler case.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Case {
    pub id: String,
    pub name: String,
    pub procedure: Procedure,
    pub scheduler: Scheduler,
    pub queues: Vec<Queue>,
    pub nodes: Vec<Node>,
    pub jobs: Vec<Job>,
    pub topologies: Vec<Topology>,
    pub dra: Option<Dra>,
    pub expect: Expect,
    pub features: Vec<String>,
    pub classification: Classification,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Procedure {
    pub kind: Kind,
    pub actions: Vec<String>,
    pub rounds_before_check: u32,
    pub rounds_after_check: u32,
}

/// Way in which a case is run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Full cycles, one after the other, with the state carried over.
    Rounds,
    /// One cycle; the plan is the result.
    OneShot,
    /// No cycle: may this task be considered at all?
    Admission,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Scheduler {
    pub staleness_grace_seconds: i64,
    pub max_consolidation_victims: Bound,
    pub reclaim_may_relocate_victims: bool,
    pub node_placement: NodePlacement,
    pub shared_gpu_placement: String,
    pub dra_enabled: Option<bool>,
    #[serde(default)]
    pub peer_plugins: Plugins,
}

/// KAI's plugins: all that it loads by itself, or a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Plugins {
    /// `"default"`.
    Named(String),
    /// Those of the case.
    Listed(Vec<Plugin>),
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Plugin {
    pub name: String,
}

impl Default for Plugins {
    fn default() -> Self {
        Self::Named("default".to_owned())
    }
}

impl Plugins {
    /// Tells whether KAI loads a plugin that is among its own.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Named(_) => true,
            Self::Listed(plugins) => plugins.iter().any(|plugin| plugin.name == name),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct NodePlacement {
    pub gpu_tasks: String,
    pub cpu_tasks: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Queue {
    pub name: String,
    pub parent: String,
    pub priority: i64,
    pub role: String,
    pub created_order: i64,
    pub gpu: Share,
    pub cpu_milli: Share,
    pub memory_bytes: Share,
    pub reclaim_min_runtime_seconds: Option<i64>,
    pub preempt_min_runtime_seconds: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Share {
    pub deserved: Bound,
    pub limit: Bound,
    pub over_quota_weight: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Node {
    pub name: String,
    pub gpus: i64,
    pub gpus_allocatable: i64,
    #[serde(rename = "gpuMemoryMiB")]
    pub gpu_memory_mib: i64,
    pub gpu_memory_known: bool,
    pub cpu_milli: i64,
    pub memory_bytes: i64,
    pub max_pods: i64,
    pub ready: bool,
    pub mig: Option<Mig>,
    pub dra_gpus: i64,
    pub labels: BTreeMap<String, String>,
    pub numa: Option<Numa>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Mig {
    pub strategy: String,
    pub instances: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Numa {
    pub policy: String,
    pub scope: String,
    pub zones: Vec<Zone>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Zone {
    pub index: i64,
    pub id: String,
    pub allocatable: BTreeMap<String, i64>,
    pub available: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Job {
    pub name: String,
    pub namespace: String,
    pub queue: String,
    pub priority: i64,
    pub preemptible: bool,
    pub age_minutes: i64,
    pub source_index: usize,
    pub started_seconds_ago: Option<i64>,
    pub best_effort: bool,
    pub min_available: Option<i64>,
    pub gang: Gang,
    pub stale_for_seconds: Option<i64>,
    pub staleness_grace_seconds: Option<i64>,
    pub preemption_delay_seconds: Option<i64>,
    pub keep_terminating_across_rounds: bool,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Gang {
    pub name: String,
    pub min_children: Option<i64>,
    pub topology: Option<Constraint>,
    pub pod_sets: Vec<PodSet>,
    pub groups: Vec<Self>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct PodSet {
    pub name: String,
    pub min_available: i64,
    pub topology: Option<Constraint>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Constraint {
    pub topology: String,
    pub required_level: Option<String>,
    pub preferred_level: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Task {
    pub name: String,
    pub state: String,
    pub node: String,
    pub gpu_groups: Vec<String>,
    pub pod_set: String,
    pub request: Request,
    pub task_priority: Option<i64>,
    pub labels: BTreeMap<String, String>,
    pub required_node_affinity: Option<NodeAffinity>,
    pub pod_affinity: Option<PodAffinity>,
    pub pod_anti_affinity: Option<PodAffinity>,
    pub resource_claims: Vec<ResourceClaim>,
    pub volume_claims: Vec<String>,
    pub annotations: BTreeMap<String, String>,
    pub numa_observed: Option<Vec<Observed>>,
    pub qos_class: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Request {
    pub cpu_milli: i64,
    pub memory_bytes: i64,
    pub gpu: Gpu,
}

/// Request of a task for GPUs.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub enum Gpu {
    None,
    Whole {
        count: i64,
    },
    Portion {
        portion: f64,
        devices: i64,
    },
    Memory {
        #[serde(rename = "memoryMiB")]
        memory_mib: i64,
        devices: i64,
    },
    Mig {
        instances: BTreeMap<String, i64>,
        #[serde(rename = "legacyPodAnnotation", default)]
        legacy: bool,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct NodeAffinity {
    pub label: String,
    #[serde(rename = "in")]
    pub values: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct PodAffinity {
    pub topology_key: String,
    pub match_labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct ResourceClaim {
    pub name: String,
    pub claim: String,
    pub from_template: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Observed {
    pub zone: String,
    pub amount: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Topology {
    pub name: String,
    pub levels: Vec<Level>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Level {
    pub label: String,
    pub alias: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Dra {
    pub device_classes: Vec<String>,
    pub slices: Vec<Slice>,
    pub claims: Vec<Claim>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Slice {
    pub name: String,
    pub node: String,
    pub pool: String,
    pub driver: String,
    pub devices: Vec<String>,
    pub all_nodes: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Claim {
    pub name: String,
    pub namespace: String,
    pub labels: BTreeMap<String, String>,
    pub device_class: String,
    pub count: i64,
    pub status: Option<ClaimStatus>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct ClaimStatus {
    pub allocation: Option<Allocation>,
    #[serde(default)]
    pub reserved_for: Vec<Consumer>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Allocation {
    pub devices: AllocatedDevices,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct AllocatedDevices {
    pub results: Vec<AllocatedDevice>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct AllocatedDevice {
    pub driver: String,
    pub pool: String,
    pub device: String,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Consumer {
    pub name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Expect {
    pub jobs: BTreeMap<String, Expectation>,
    pub tasks: BTreeMap<String, Expectation>,
    pub nodes: BTreeMap<String, NodeExpectation>,
    pub max_calls_per_round: Calls,
    pub assertions: Vec<Assertion>,
}

/// Conditions that must hold for a task.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Expectation {
    pub status: Option<String>,
    pub node: Option<String>,
    pub gpus_requested: Option<f64>,
    pub gpus_accepted: Option<f64>,
    pub started_at_least_seconds_ago: Option<i64>,
    pub numa_zones: Option<Vec<i64>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct NodeExpectation {
    pub gpus_terminating: Option<f64>,
    pub gpus_idle: Option<f64>,
    pub numa_zones_available: Option<BTreeMap<String, BTreeMap<String, i64>>>,
}

/// Upper bounds of one round.
#[derive(Clone, Copy, Debug, Deserialize)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Calls {
    pub binds: Option<usize>,
    pub evictions: Option<usize>,
    pub nominations: Option<usize>,
}

/// A further check.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "check", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub enum Assertion {
    TaskCount {
        job: String,
        status: String,
        op: String,
        value: usize,
    },
    TaskStatus {
        task: String,
        status: String,
    },
    TaskAdmission {
        task: String,
        admitted: bool,
    },
    PodSetDomain {
        job: String,
        pod_set: String,
        label: String,
        domain: String,
        tasks: serde_json::Value,
    },
    PodSetNodes {
        job: String,
        pod_set: String,
        nodes: Vec<String>,
    },
    PodSetsInDistinctSingleDomains {
        job: String,
        pod_sets: Vec<String>,
        label: String,
        domains: Vec<String>,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Classification {
    pub level: String,
    pub node_choice: BTreeMap<String, String>,
    pub ties: Vec<Tie>,
    pub single_action_mode: bool,
}

/// A choice between equals.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "SCHEMA.md beside the cases describes every field")]
pub struct Tie {
    pub kind: String,
    pub of: String,
    pub expected_node: String,
    pub equals: Vec<String>,
    pub job: String,
    pub oldest_first: Vec<String>,
    pub expected_status: BTreeMap<String, String>,
}
