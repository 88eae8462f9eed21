//! One scheduling cycle: five actions in a fixed order on the state as it stands.

mod allocate;
mod commit;
mod evict;
mod stale;
mod withdraw;

use crate::{
    cluster::{Cluster, Phase, State},
    ids::{GroupId, PodId},
    idset::IdSet,
    plan::{Action, Change, Plan, Verdict},
    pod::{Place, Shape},
    proof::{EvictionKind, Proof},
    steps::Steps,
};
use std::collections::{BTreeMap, BTreeSet};
use withdraw::Withdrawals;

/// A moment: milliseconds since the epoch, given by the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub i64);

/// A span of time in milliseconds.
pub type Millis = i64;

/// How nodes or devices that all fit are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Placement {
    /// Fill up what is used most.
    #[default]
    Pack,
    /// Even out.
    Spread,
    /// Take the first by name.
    Any,
    /// Leave the fewest fragments that the typical workload has no use for; see [`Config::typical`].
    Fragmentation,
}

impl Placement {
    /// Whether what has less free goes first, where nothing finer decides.
    pub(crate) fn packs(self) -> bool {
        matches!(self, Self::Pack | Self::Fragmentation)
    }
}

/// Pods of the typical workload that are alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Typical {
    /// What such a pod asks for; whole GPUs, or a part of one.
    pub shape: Shape,
    /// How many there are of them, against the others.
    pub weight: u32,
}

/// Whose queue is asked for the minimum runtime against reclaim.
///
/// # Source
/// spec/scheduling.md 4.6.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReclaimResolution {
    /// From below the lowest common ancestor of both queues upwards.
    #[default]
    CommonAncestor,
    /// From the victim's queue upwards.
    Queue,
}

/// Which actions run. Their order is fixed.
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

/// What an operator may choose. The adapter validates; the engine trusts.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four switches that have nothing to do with each other"
)]
pub struct Config {
    /// Which actions run.
    pub actions: Actions,
    /// How to rank nodes for pods with GPUs.
    pub gpu_placement: Placement,
    /// How to rank nodes for pods without.
    pub cpu_placement: Placement,
    /// Whether a part of a GPU goes to a node with a shared GPU that has room for it before all other nodes.
    pub sharing_first: bool,
    /// How to rank the shared GPUs of a node.
    pub device_placement: Placement,
    /// The workload for which [`Placement::Fragmentation`] keeps GPUs of use; where there is none, the pods that there
    /// are.
    pub typical: Vec<Typical>,
    /// How many groups, nodes and victim sets one cycle may look at.
    pub steps_max: u64,
    /// Whether a victim of reclaim that finds another place costs its queue nothing.
    pub reclaim_may_relocate: bool,
    /// How many groups consolidation may move for one; none for any number, 0 switches it off.
    pub consolidation_victims_max: Option<u32>,
    /// How long a gang may run below its minimum; negative is for ever.
    pub staleness_grace: Millis,
    /// Whether only gpu-workers take GPU pods and only cpu-workers the others.
    pub restrict_nodes: bool,
    /// How much past usage counts in fair share, in thousandths.
    pub usage_factor_milli: u64,
    /// By how much a reclaimer's saturation is scaled before it is compared, in thousandths, at least 1000.
    pub saturation_multiplier_milli: u64,
    /// Safety from the same queue where no queue says.
    pub preempt_min_runtime: Millis,
    /// Safety from other queues where no queue says.
    pub reclaim_min_runtime: Millis,
    /// Where to look for the safety from other queues.
    pub reclaim_resolution: ReclaimResolution,
    /// How many groups of a leaf queue each action looks at.
    pub queue_depth: QueueDepth,
    /// Whether verdicts tell node by node why a pod fits nowhere; see [`NoRoom::nodes`](crate::NoRoom::nodes).
    pub names_nodes: bool,
}

/// How many groups of a leaf queue each action looks at in a cycle, the first ones; none for all.
///
/// # Source
/// spec/scheduling.md 1.11.
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
    /// That of an action that evicts.
    pub(crate) fn of(self, kind: EvictionKind) -> Option<u32> {
        match kind {
            EvictionKind::Consolidate => self.consolidate,
            EvictionKind::Reclaim => self.reclaim,
            EvictionKind::Preempt => self.preempt,
        }
    }
}

impl Default for Config {
    /// The defaults of spec/scheduling.md, appendix B.
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

/// A cycle under way.
#[derive(Debug)]
pub(crate) struct Cycle<'c> {
    pub(crate) cluster: &'c mut Cluster,
    pub(crate) config: &'c Config,
    pub(crate) now: Timestamp,
    pub(crate) changes: Vec<Change>,
    pub(crate) said: Vec<Verdict>,
    pub(crate) proofs: Vec<Proof>,
    /// Groups of whom counting shows something else than before.
    pub(crate) explained: BTreeSet<GroupId>,
    /// What the plan before had promised; the same again is no news.
    pub(crate) promised: BTreeMap<PodId, Place>,
    /// What this plan promises again.
    pub(crate) stands: Vec<(PodId, Place)>,
    /// Groups whose search goes on in the next cycle: no other kind of eviction is tried for them before it is over.
    pub(crate) undecided: BTreeSet<GroupId>,
    /// Whether places were promised that are free already: the next plan is due at once.
    pub(crate) due: bool,
    /// Room to mark pods in; empty between two uses.
    pub(crate) marked: IdSet<PodId>,
    /// What of this plan may be taken back, and what was.
    withdrawals: Withdrawals,
}

/// Decides what to do with `cluster` as it stands at `now`, and takes it as done.
///
/// What the plan asks for is assumed from here on; outcomes that differ come back as deltas. Promises of places
/// (`Nominate`) hold until the next plan that has anything to decide.
///
/// # Cost
/// Nothing where nothing was told, time changes nothing and `config` is the same; else in what changed, and in the
/// number of queues and of classes of waiting groups.
pub fn plan(cluster: &mut Cluster, config: &Config, now: Timestamp) -> Plan {
    plan_stepwise(cluster, config, now, &mut |_, _| {})
}

/// As [`plan`], and tells `watch` after each action what it took, so that the caller, who has a clock, may time it.
pub fn plan_stepwise(
    cluster: &mut Cluster,
    config: &Config,
    now: Timestamp,
    watch: &mut dyn FnMut(Action, Steps),
) -> Plan {
    cluster.steps = Steps::default();
    let due = cluster.agenda.wake.is_some_and(|wake| wake <= now);
    if cluster.agenda.config.as_ref() != Some(config) {
        cluster.agenda.config = Some(config.clone());
        cluster.queues.moved = true;
        cluster.agenda.grow_anew();
    }
    if !cluster.agenda.changed && !due {
        return Plan::default();
    }
    let promised = std::mem::take(&mut cluster.agenda.promised);
    cluster.agenda.wake = None;
    let mut cycle = Cycle {
        cluster,
        config,
        now,
        changes: Vec::new(),
        said: Vec::new(),
        proofs: Vec::new(),
        explained: BTreeSet::new(),
        promised,
        stands: Vec::new(),
        undecided: BTreeSet::new(),
        due: false,
        marked: IdSet::default(),
        withdrawals: Withdrawals::default(),
    };
    cycle.prepare();
    for action in Action::ALL {
        if config.actions.runs(action) {
            let before = cycle.cluster.steps;
            cycle.act(action);
            watch(action, cycle.cluster.steps.since(&before));
        }
    }
    cycle.finish()
}

impl Actions {
    fn runs(self, action: Action) -> bool {
        match action {
            Action::Allocate => self.allocate,
            Action::Consolidate => self.consolidate,
            Action::Reclaim => self.reclaim,
            Action::Preempt => self.preempt,
            Action::Stale => self.stale,
        }
    }
}

impl Cycle<'_> {
    fn act(&mut self, action: Action) {
        match action {
            Action::Allocate => self.allocate(),
            Action::Consolidate => self.evict(EvictionKind::Consolidate),
            Action::Reclaim => self.evict(EvictionKind::Reclaim),
            Action::Preempt => self.evict(EvictionKind::Preempt),
            Action::Stale => self.stale(),
        }
    }

    /// Brings everything derived per cycle in line: the index, promises, fair shares, who waits.
    fn prepare(&mut self) {
        self.cluster.refresh_index(self.config);
        let promised: Vec<PodId> = self.promised.keys().copied().collect();
        for pod in promised {
            let Some(state) = self.cluster.pods.state.get(pod) else { continue };
            if state.nominee.is_some() {
                let state = State { nominee: None, ..state.clone() };
                let waits = state.is_waiting();
                self.cluster.set_state(pod, state);
                let agenda = &mut self.cluster.agenda;
                agenda.rouse();
                match self.cluster.pods[pod].group() {
                    Some(group) if waits => {
                        agenda.searches.owe(pod, group, agenda.listing(group));
                        agenda.recheck(group);
                    }
                    // One that leaves is promised nothing again: it is made anew.
                    Some(group) => {
                        agenda.searches.upset();
                        agenda.recheck(group);
                    }
                    None => agenda.searches.upset(),
                }
            }
        }
        self.cluster.divide_shares(self.config);
        self.cluster.relist_touched(&mut self.said);
    }

    fn finish(mut self) -> Plan {
        self.repeat_promises();
        self.close_withdrawals();
        self.cluster.agenda.searches.close();
        // Where not all have their turn in a cycle, those behind the ones that moved on have theirs in the next.
        let bounded = self.config.queue_depth != QueueDepth::default();
        let moved_on = bounded && !self.changes.is_empty();
        let goes_on = self.cluster.steps.spent || moved_on || self.due || self.has_withdrawn();
        self.cluster.agenda.changed = goes_on;
        if self.cluster.agenda.changed {
            self.wake_at(self.now);
        }
        let Self { cluster, changes, said, proofs, explained, .. } = self;
        // Who leaves does not come back: its promise is its group's (`moves`).
        let Cluster { agenda, pods, .. } = &mut *cluster;
        let stays = |pod: PodId| pods.state[pod].phase == Phase::Pending;
        let kept = agenda.promised.iter().filter(|(pod, _)| stays(**pod));
        agenda.kept = kept.map(|(pod, place)| (*pod, place.node)).collect();
        let explained = explained.into_iter().collect();
        Plan { changes, verdicts: said, proofs, explained, steps: cluster.steps }
    }
}
