//! Choices of the operator.

use serde::{Deserialize, Serialize};

use crate::amount::{Amount, Bound, Count, Ratio, Span};

/// The scheduler's configuration; what is left out is the scheduler's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The actions that run: `allocate consolidation reclaim preempt stalegangeviction`; all when left out.
    pub actions: Option<String>,
    /// Ranking of nodes for pods that ask for GPUs.
    pub gpu: Option<Placement>,
    /// Ranking of nodes for pods that ask for none.
    pub cpu: Option<Placement>,
    /// True if a part of a GPU goes to a node with a shared GPU first; unless nodes are spread when left out.
    pub sharing_first: Option<bool>,
    /// Ranking of the devices of a node for a fraction.
    pub devices: Option<Placement>,
    /// Number of groups that one consolidation may move.
    pub consolidation_victims: Option<Bound<Count>>,
    /// True if a reclaim's victim that finds a new place costs its queue nothing.
    pub relocate: Option<bool>,
    /// Time for which a broken gang may stay.
    pub grace: Option<Span>,
    /// Weight of past usage; 1 when left out.
    pub usage_factor: Option<Amount<Ratio>>,
    /// Factor by which a reclaimer's ancestors may be fuller than its victim's.
    pub saturation: Option<Amount<Ratio>>,
    /// Time that a group runs before it may be reclaimed, where no queue says so.
    pub reclaim_min_runtime: Option<Span>,
    /// Time that a group runs before it may be preempted, where no queue says so.
    pub preempt_min_runtime: Option<Span>,
    /// The queue whose min-runtime counts in a reclaim: `lca` or `queue`.
    pub resolve: Option<String>,
    /// True if only gpu-workers take pods with GPUs and only cpu-workers the others.
    pub restrict_nodes: Option<bool>,
    /// Number of groups of a leaf queue that each action looks at.
    pub queue_depth: Depths,
    /// Number of steps that a cycle may take.
    pub steps: Option<u64>,
}

/// Number of groups of a leaf queue that each action looks at; all where it is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Depths {
    /// For allocate.
    pub allocate: Option<u32>,
    /// For consolidation.
    pub consolidation: Option<u32>,
    /// For reclaim.
    pub reclaim: Option<u32>,
    /// For preempt.
    pub preempt: Option<u32>,
}

/// Ranking of places that all fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// The fullest first.
    Pack,
    /// The emptiest first.
    Spread,
    /// By name.
    None,
    /// The place first that leaves the fewest GPUs which the pods there are could not use.
    Fragmentation,
}
