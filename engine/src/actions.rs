//! One scheduling cycle: five actions in a fixed order on the state as it stands.

pub(crate) mod allocate;
pub(crate) mod commit;
pub(crate) mod evict;
pub(crate) mod retract;
pub(crate) mod stale;

use crate::{
    actions::retract::Retractions,
    base::{
        id_set::IdSet,
        ids::{GroupId, PodId},
        time::Timestamp,
    },
    config::{Config, QueueDepth},
    decided::{
        plan::{Action, Change, Plan, Verdict},
        proof::{EvictionKind, Proof},
        steps::Steps,
    },
    state::{
        Cluster,
        rows::{Phase, PodStatus},
    },
    told::pod::Place,
};
use std::collections::{BTreeMap, BTreeSet};

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
    /// What the plan before had nominated; the same again is no news.
    pub(crate) nominated: BTreeMap<PodId, Place>,
    /// What this plan nominates again.
    pub(crate) repeated_nominations: Vec<(PodId, Place)>,
    /// Groups whose search goes on in the next cycle: no other kind of eviction is tried for them before it is over.
    pub(crate) undecided: BTreeSet<GroupId>,
    /// Whether pods were nominated for places that are free already: the next plan is due at once.
    pub(crate) due: bool,
    /// Room to mark pods in; empty between two uses.
    pub(crate) marked: IdSet<PodId>,
    /// What of this plan may be taken back, and what was.
    retractions: Retractions,
}

/// Decides what to do with `cluster` as it stands at `now`, and takes it as done.
///
/// What the plan asks for is assumed from here on; outcomes that differ come back as deltas. Nominations
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
    let due = cluster.pending.wake.is_some_and(|wake| wake <= now);
    if cluster.pending.config.as_ref() != Some(config) {
        cluster.pending.config = Some(config.clone());
        cluster.queues.moved = true;
        cluster.pending.room_grew_outside();
    }
    if !cluster.pending.changed && !due {
        return Plan::default();
    }
    let nominated = std::mem::take(&mut cluster.pending.nominated);
    cluster.pending.wake = None;
    let mut cycle = Cycle {
        cluster,
        config,
        now,
        changes: Vec::new(),
        said: Vec::new(),
        proofs: Vec::new(),
        explained: BTreeSet::new(),
        nominated,
        repeated_nominations: Vec::new(),
        undecided: BTreeSet::new(),
        due: false,
        marked: IdSet::default(),
        retractions: Retractions::default(),
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

    /// Brings everything derived per cycle in line: the index, nominations, fair shares, who waits.
    fn prepare(&mut self) {
        self.cluster.refresh_index(self.config);
        let nominated: Vec<PodId> = self.nominated.keys().copied().collect();
        for pod in nominated {
            let Some(state) = self.cluster.pods.status.get(pod) else { continue };
            if state.nominee.is_some() {
                let state = PodStatus { nominee: None, ..state.clone() };
                let waits = state.is_waiting();
                self.cluster.set_status(pod, state);
                let pending = &mut self.cluster.pending;
                pending.wake();
                match self.cluster.pods[pod].group() {
                    Some(group) if waits => {
                        pending.searches.owe_nomination(pod, group, pending.listing(group));
                        pending.recheck(group);
                    }
                    // One that leaves is nominated for nothing again: it is made anew.
                    Some(group) => {
                        pending.searches.invalidate();
                        pending.recheck(group);
                    }
                    None => pending.searches.invalidate(),
                }
            }
        }
        self.cluster.divide_shares(self.config);
        self.cluster.relist_touched(&mut self.said);
    }

    fn finish(mut self) -> Plan {
        self.repeat_nominations();
        self.close_retractions();
        self.cluster.pending.searches.close();
        // Where not all have their turn in a cycle, those behind the ones that moved on have theirs in the next.
        let bounded = self.config.queue_depth != QueueDepth::default();
        let moved_on = bounded && !self.changes.is_empty();
        let goes_on = self.cluster.steps.spent || moved_on || self.due || self.has_retracted();
        self.cluster.pending.changed = goes_on;
        if self.cluster.pending.changed {
            self.wake_at(self.now);
        }
        let Self { cluster, changes, said, proofs, explained, .. } = self;
        // Who leaves does not come back: its nomination is its group's (`moves`).
        let Cluster { pending, pods, .. } = &mut *cluster;
        let stays = |pod: PodId| pods.status[pod].phase == Phase::Pending;
        let kept = pending.nominated.iter().filter(|(pod, _)| stays(**pod));
        pending.nominated_nodes = kept.map(|(pod, place)| (*pod, place.node)).collect();
        let explained = explained.into_iter().collect();
        Plan { changes, verdicts: said, proofs, explained, steps: cluster.steps }
    }
}
