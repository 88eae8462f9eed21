//! One scheduling cycle: five actions in a fixed order on the state as it stands.

pub(crate) mod allocate;
mod allowance;
pub(crate) mod begin;
pub(crate) mod commit;
pub(crate) mod evict;
pub(crate) mod retract;
pub(crate) mod search;
pub(crate) mod stale;

use crate::{
    actions::retract::Retractions,
    base::{
        id_set::IdSet,
        ids::{ClassId, GroupId, PodId, QueueId},
        time::Timestamp,
    },
    cluster::Cluster,
    config::{Config, QueueDepth},
    decided::{
        plan::{Action, Change, Plan, Verdict, Why},
        proof::{EvictionKind, Proof},
        steps::Steps,
    },
    evict::resume::ResumableSearches,
    pending::{Listing, report, rounds::Rounds},
    queues::share,
    state::{
        index::Policy,
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
    /// Nominations of the plan before; the same again is no news.
    pub(crate) nominated: BTreeMap<PodId, Place>,
    /// Nominations that this plan makes again.
    pub(crate) repeated_nominations: Vec<(PodId, Place)>,
    /// Groups whose search goes on in the next cycle: no other kind of eviction is tried for them before it is over.
    pub(crate) undecided: BTreeSet<GroupId>,
    /// Class queues no search of which begins anew any more in this cycle, as one ran out of its steps.
    pub(crate) resting: BTreeSet<(QueueId, ClassId, EvictionKind)>,
    /// Number of steps before the action that evicts.
    pub(crate) begun: u64,
    /// Number of steps before the turn of now in it.
    pub(crate) turned: u64,
    /// True once allocate stopped before all had their turns.
    pub(crate) is_cut: bool,
    /// True if pods were nominated for places that are free already: the next plan is due at once.
    pub(crate) due: bool,
    /// Room to mark pods in; empty between two uses.
    pub(crate) marked: IdSet<PodId>,
    /// Parts of this plan that may be taken back, and those that were.
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
    cluster.state.steps = Steps::default();
    let due = cluster.pending.wake.is_some_and(|wake| wake <= now);
    if cluster.config.as_ref() != Some(config) {
        cluster.config = Some(config.clone());
        cluster.state.note_choices();
        // An action may have been switched off in the middle of its round, or while its searches go on.
        cluster.pending.rounds = Rounds::default();
        cluster.searches = ResumableSearches::default();
    }
    cluster.absorb();
    if !cluster.pending.changed && !due {
        return Plan::default();
    }
    assert!(cluster.state.log().is_empty(), "a plan begins while nothing is tried");
    let nominated = std::mem::take(&mut cluster.state.nominations.places);
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
        resting: BTreeSet::new(),
        begun: 0,
        turned: 0,
        is_cut: false,
        due: false,
        marked: IdSet::default(),
        retractions: Retractions::default(),
    };
    cycle.prepare();
    for action in Action::ALL {
        if config.actions.runs(action) {
            let before = cycle.cluster.state.steps;
            cycle.act(action);
            watch(action, cycle.cluster.state.steps.since(&before));
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
        let policy = policy_of(self.config);
        self.cluster.state.refresh_index(policy, &self.config.typical);
        let nominated: Vec<PodId> = self.nominated.keys().copied().collect();
        for pod in nominated {
            let Some(status) = self.cluster.state.pods().status.get(pod) else { continue };
            if status.nominee.is_some() {
                let status = PodStatus { nominee: None, ..status.clone() };
                let waits = status.is_waiting();
                self.cluster.state.set_status(pod, status);
                let group = self.cluster.state.pods()[pod].group();
                self.cluster.pending.take_nomination_back(pod, group, waits);
            }
        }
        self.cluster.state.find_lingering();
        share::divide_shares(&mut self.cluster.state, self.config);
        self.cluster.absorb();
        let Cluster { state, pending, .. } = &mut *self.cluster;
        pending.relist_touched(state, &mut self.said);
    }

    /// Lists a group anew, or says why it does not wait for room; where it is listed.
    pub(crate) fn relist(&mut self, group: GroupId) -> Option<Listing> {
        let Cluster { state, pending, .. } = &mut *self.cluster;
        pending.relist(state, group, &mut self.said)
    }

    /// Remembers what became of a group, and says so where it is news.
    pub(crate) fn say(&mut self, group: GroupId, why: Why) {
        report::say(&mut self.cluster.state, group, why, &mut self.said);
    }

    fn finish(mut self) -> Plan {
        self.repeat_nominations();
        self.close_retractions();
        let Cluster { state, pending, .. } = &mut *self.cluster;
        pending.close(state);
        // Where not all have their turn in a cycle, those behind the ones that moved on have theirs in the next.
        let bounded = self.config.queue_depth != QueueDepth::default();
        let moved_on = bounded && !self.changes.is_empty();
        let goes_on =
            self.cluster.state.steps.spent || moved_on || self.due || self.has_retracted();
        self.cluster.pending.changed = goes_on;
        if self.cluster.pending.changed {
            self.wake_at(self.now);
        }
        self.assert_carried_out();
        let Self { cluster, changes, said, proofs, explained, .. } = self;
        // Who leaves does not come back: its nomination is its group's (`moves`).
        let state = &mut cluster.state;
        let stays = |pod: PodId| state.pods().status[pod].phase == Phase::Pending;
        let kept = state.nominations.places.iter().filter(|(pod, _)| stays(**pod));
        state.nominations.nodes = kept.map(|(pod, place)| (*pod, place.node)).collect();
        let explained = explained.into_iter().collect();
        Plan { changes, verdicts: said, proofs, explained, steps: cluster.state.steps }
    }
}

/// Takes from the configuration how nodes are ranked.
fn policy_of(config: &Config) -> Policy {
    Policy {
        gpu: config.gpu_placement,
        cpu: config.cpu_placement,
        sharing_first: config.sharing_first,
        restrict: config.restrict_nodes,
    }
}
