//! Scenario files: a cluster, its queues and its pod groups in one screen of YAML, and the plan they must lead to.
//!
//! ```yaml
//! title: A queue under its share takes half a GPU back from one above
//! why: one of four GPUs is shared
//! nodes:  { node0: { gpus: 4 } }
//! queues:
//!   queue0: { quota: 1, over_quota_weight: 3 }
//! groups:
//!   q0-half: { queue: queue0, gpus: 0.5, on: node0/0 }
//! expect: |
//!   idle
//! ```
//!
//! * Amounts are decimal text (`0.5`, `500m`, `64Gi`) and exact; no float is involved.
//! * What is written first was created first: a minute lies between two groups, and the order of queues is their age.
//! * A key `node0..3` stands for four entries with equal values.
//! * A queue's plain keys are GPUs; `cpu:` and `memory:` hold the same keys for those. What is left out is unlimited, but the GPU quota, which is 0.
//! * A group is one podset unless it has `subgroups`, which nest. `pods: 4` makes the pods `name-0` to `name-3`; a single pod has its group's name.
//! * `on:` names one place per pod: `node0`, `node0/1` (device 1 of a shared GPU), `node0/0+1` (two devices), `node0*3` (three pods there).

use serde::Deserialize;

use crate::entries::Entries;

mod claim;
mod group;
mod node;
mod queue;
mod settings;

pub use claim::{Claim, Described, DeviceClass, Devices, Reach};
pub use group::{Affinity, Group, Pod, PodSet, Set, Spread, Wish};
pub use node::{Mig, Node, Zones};
pub use queue::{Queue, Share};
pub use settings::{Depths, Placement, Settings};

/// A bound on how many of the pods with some labels may be evicted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Number of pods that may still be evicted.
    pub allowed: u32,
    /// All of them.
    pub labels: Entries<String>,
}

/// One scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Statement that is true here, in one line.
    pub title: String,
    /// The reason why it is so: the rule and where it comes from.
    pub why: String,
    /// Choices of the operator.
    pub config: Settings,
    /// Trees of node labels, widest level first.
    pub topologies: Entries<Vec<String>>,
    /// Nodes.
    pub nodes: Entries<Node>,
    /// Budgets of disruptions.
    pub budgets: Entries<Budget>,
    /// Device classes; those that nodes' devices are of are there anyway.
    pub device_classes: Entries<DeviceClass>,
    /// Amounts of the counters that devices draw from.
    pub counters: Entries<i64>,
    /// Devices that several nodes reach.
    pub reaches: Entries<Reach>,
    /// True if the API server serves resource claims; it does when left out.
    pub claims_served: Option<bool>,
    /// Resource claims that pods name; those of templates are made with their pods.
    pub claims: Entries<Claim>,
    /// Queues; what is written first is oldest.
    pub queues: Entries<Queue>,
    /// Pod groups; what is written first is oldest.
    pub groups: Entries<Group>,
    /// Number of cycles to print; each one is carried out before the next. 1 when left out.
    pub cycles: Option<u32>,
    /// Help for those that wait then, as [`help`](crate::render::help) prints it after the name; not looked at when
    /// left out.
    pub help: Option<String>,
    /// The plan as text, as [`render`](crate::render) prints it.
    pub expect: String,
}

/// Reads a scenario file.
///
/// # Errors
///
/// Names the line and the key, and says what would be right.
pub fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    let scenario: Scenario =
        serde_saphyr::from_str(text).map_err(|error| ScenarioError::Yaml(error.to_string()))?;
    if scenario.title.trim().is_empty() {
        return Err(ScenarioError::Missing("title"));
    }
    if scenario.why.trim().is_empty() {
        return Err(ScenarioError::Missing("why"));
    }
    Ok(scenario)
}

/// A mistake in a scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The text is not the YAML of a scenario.
    #[error("failed to read the scenario: {0}")]
    Yaml(String),
    /// A key that every scenario has is left out.
    #[error("failed to read the scenario: `{0}` is missing")]
    Missing(&'static str),
    /// A value names what is not there or makes no sense.
    #[error("failed to build the scenario: {key}: {what}")]
    Value {
        /// The place: `groups.a.on`.
        key: String,
        /// The problem, and what would be right.
        what: String,
    },
}

impl ScenarioError {
    /// An error of the value at `key`.
    pub fn value(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Value { key: key.into(), what: what.into() }
    }
}
