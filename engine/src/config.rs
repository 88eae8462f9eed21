//! The choices of an operator.

use crate::{
    base::time::Millis,
    decided::{plan::Action, proof::EvictionKind},
    told::placement::{Placement, Typical},
};

/// The queue that is asked for the minimum runtime against reclaim.
///
/// # Source
/// docs/behaviour.md 4.6.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReclaimResolution {
    /// From below the lowest common ancestor of both queues upwards.
    #[default]
    CommonAncestor,
    /// From the victim's queue upwards.
    Queue,
}

/// Actions that run. Their order is fixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five switches that the configuration names one by one"
)]
pub struct Actions {
    /// Place pending groups in free room.
    pub allocate: bool,
    /// Move pods so that a group fits.
    pub consolidate: bool,
    /// Take back from queues above their share.
    pub reclaim: bool,
    /// Take from lower priority in the same queue.
    pub preempt: bool,
    /// Evict gangs that fell below their minimum.
    pub stale: bool,
}

impl Actions {
    /// None of them runs.
    pub const NONE: Self =
        Self { allocate: false, consolidate: false, reclaim: false, preempt: false, stale: false };
}

/// Choices of an operator. The adapter validates; the engine trusts.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four switches that have nothing to do with each other"
)]
pub struct Config {
    /// Actions that run.
    pub actions: Actions,
    /// Ranking of nodes for pods with GPUs.
    pub gpu_placement: Placement,
    /// Ranking of nodes for pods without GPUs.
    pub cpu_placement: Placement,
    /// True if a part of a GPU goes to a node with a shared GPU that has room for it before all other nodes.
    pub sharing_first: bool,
    /// Ranking of the shared GPUs of a node.
    pub device_placement: Placement,
    /// The workload for which [`Placement::Fragmentation`] keeps GPUs of use; where there is none, the pods that there
    /// are.
    pub typical: Vec<Typical>,
    /// Number of groups, nodes and victim sets that one cycle may look at.
    pub steps_max: u64,
    /// Number of steps after which an action leaves those who had no turn to the next cycle, which goes on with them at
    /// once; each turn costs 32 beside its own. Of allocate the turns count that failed. None, and all have their turns in
    /// each cycle.
    pub action_steps_max: Option<u64>,
    /// True if a victim of reclaim that finds another place costs its queue nothing.
    pub reclaim_may_relocate: bool,
    /// Number of groups that consolidation may move for one; none for any number, 0 switches it off.
    pub consolidation_victims_max: Option<u32>,
    /// Time for which a gang may run below its minimum; negative is for ever.
    pub staleness_grace: Millis,
    /// True if only gpu-workers take GPU pods and only cpu-workers the others.
    pub restrict_nodes: bool,
    /// Weight of past usage in fair shares, in thousandths.
    pub usage_factor_milli: u64,
    /// By how much a reclaimer's saturation is scaled before it is compared, in thousandths, at least 1000.
    pub saturation_multiplier_milli: u64,
    /// Safety from the same queue where no queue says.
    pub preempt_min_runtime: Millis,
    /// Safety from other queues where no queue says.
    pub reclaim_min_runtime: Millis,
    /// The place to look for the safety from other queues.
    pub reclaim_resolution: ReclaimResolution,
    /// Number of groups of a leaf queue that each action looks at.
    pub queue_depth: QueueDepth,
    /// True if verdicts tell node by node why a pod fits nowhere; see [`NoRoom::nodes`](crate::NoRoom::nodes).
    pub names_nodes: bool,
}

/// Number of groups of a leaf queue that each action looks at in a cycle, the first ones; none for all.
///
/// # Source
/// docs/behaviour.md 1.11.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueDepth {
    /// For allocate.
    pub allocate: Option<u32>,
    /// For consolidate.
    pub consolidate: Option<u32>,
    /// For reclaim.
    pub reclaim: Option<u32>,
    /// For preempt.
    pub preempt: Option<u32>,
}

impl QueueDepth {
    /// Gives the depth of an action that evicts.
    pub(crate) fn of(self, kind: EvictionKind) -> Option<u32> {
        match kind {
            EvictionKind::Consolidate => self.consolidate,
            EvictionKind::Reclaim => self.reclaim,
            EvictionKind::Preempt => self.preempt,
        }
    }
}

impl Default for Config {
    /// The defaults of docs/behaviour.md, appendix B.
    fn default() -> Self {
        Self {
            actions: Actions {
                allocate: true,
                consolidate: true,
                reclaim: true,
                preempt: true,
                stale: true,
            },
            gpu_placement: Placement::Pack,
            cpu_placement: Placement::Pack,
            sharing_first: true,
            device_placement: Placement::Pack,
            typical: Vec::new(),
            steps_max: 50_000_000,
            action_steps_max: None,
            reclaim_may_relocate: true,
            consolidation_victims_max: Some(16),
            staleness_grace: 60_000,
            restrict_nodes: false,
            usage_factor_milli: 1000,
            saturation_multiplier_milli: 1000,
            preempt_min_runtime: 0,
            reclaim_min_runtime: 0,
            reclaim_resolution: ReclaimResolution::CommonAncestor,
            queue_depth: QueueDepth::default(),
            names_nodes: false,
        }
    }
}

impl Actions {
    pub(crate) fn runs(self, action: Action) -> bool {
        match action {
            Action::Allocate => self.allocate,
            Action::Consolidate => self.consolidate,
            Action::Reclaim => self.reclaim,
            Action::Preempt => self.preempt,
            Action::Stale => self.stale,
        }
    }
}
