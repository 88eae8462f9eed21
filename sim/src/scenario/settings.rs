//! What the operator chose.

use serde::{Deserialize, Serialize};

use crate::amount::{Amount, Bound, Count, Ratio, Span};

/// The scheduler's configuration; what is left out is the scheduler's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The actions that run: `allocate consolidation reclaim preempt stalegangeviction`; all when left out.
    pub actions: Option<String>,
    /// How nodes are ranked for pods that ask for GPUs.
    pub gpu: Option<Placement>,
    /// How nodes are ranked for pods that ask for none.
    pub cpu: Option<Placement>,
    /// Whether a part of a GPU goes to a node with a shared GPU first; unless nodes are spread when left out.
    pub sharing_first: Option<bool>,
    /// How the devices of a node are ranked for a fraction.
    pub devices: Option<Placement>,
    /// How many groups one consolidation may move.
    pub consolidation_victims: Option<Bound<Count>>,
    /// Whether a reclaim's victim that finds a new place costs its queue nothing.
    pub relocate: Option<bool>,
    /// How long a broken gang may stay.
    pub grace: Option<Span>,
    /// How much past usage counts; 1 when left out.
    pub usage_factor: Option<Amount<Ratio>>,
    /// How much fuller a reclaimer's ancestors may be than its victim's.
    pub saturation: Option<Amount<Ratio>>,
    /// How long a group runs before it may be reclaimed, where no queue says so.
    pub reclaim_min_runtime: Option<Span>,
    /// How long a group runs before it may be preempted, where no queue says so.
    pub preempt_min_runtime: Option<Span>,
    /// Whose min-runtime counts in a reclaim: `lca` or `queue`.
    pub resolve: Option<String>,
    /// Whether only gpu-workers take pods with GPUs and only cpu-workers the others.
    pub restrict_nodes: Option<bool>,
    /// How many groups of a leaf queue each action looks at.
    pub queue_depth: Depths,
    /// How many steps a cycle may take.
    pub steps: Option<u64>,
}

/// How many groups of a leaf queue each action looks at; all where it is left out.
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

/// How places that all fit are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// The fullest first.
    Pack,
    /// The emptiest first.
    Spread,
    /// By name.
    None,
    /// Where the fewest GPUs are left that the pods there are could not use.
    Fragmentation,
}
