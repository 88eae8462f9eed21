//! Victims: the groups that may be evicted for another, in their order.
//!
//! Victims come in the reverse of the order in which groups wait: the last queue first, in it the last group, of it
//! first what it can spare, step by step, then the rest at once.
//!
//! # Source
//! docs/behaviour.md 1.8, 1.11 (victims), 4.3, 4.6, 5, 6.

mod renew;

use std::collections::BTreeMap;

use crate::{
    base::{
        few::{Few, IntoFew},
        ids::{GroupId, PodId, QueueId},
        resources::{Charge, PerLane, QueueLane},
        time::{Millis, Timestamp},
    },
    config::{Config, ReclaimResolution},
    pending::Pending,
    queues::{order::QueueDemand, tournament::Tournament},
    state::{State, group_key::GroupKey, rows::Phase, tree::Member, trial::Trial},
};

/// Pods of one group that go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Batch {
    pub(crate) group: GroupId,
    pub(crate) pods: Few<PodId>,
}

/// Everything that victims are judged by, beside the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
    pub(crate) pending: &'a Pending,
}

/// Rules for which running groups may be victims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VictimFilter<'a> {
    pub(crate) basis: Basis<'a>,
    /// For whom.
    pub(crate) group: GroupId,
    pub(crate) rule: Rule,
}

/// A condition that victims have to meet besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    Anyone,
    /// Of lower priority than this, and not safe from its own queue.
    Below(i32),
    /// Not safe from this queue.
    SafeFrom(QueueId),
}

/// Comparisons that it costs to look at a group that is passed over.
const PASSED: u64 = 4;

/// Comparisons that it took to see that a group is no victim; budgets are asked about each of its pods.
pub(super) fn passing(state: &State, group: GroupId) -> u64 {
    let pods = if state.has_budgets() { state.groups()[group].pods.len() } else { 0 };
    PASSED + pods as u64
}

impl VictimFilter<'_> {
    /// Tells whether a running group may be a victim: one that is safe for now may only where it can spare pods.
    fn admits(&self, state: &State, group: GroupId) -> bool {
        self.suits(state, group)
            && !self.basis.pending.is_barred(state, self.group, group)
            && self.basis.pending.may_lose(state, group)
    }

    /// The place in a queue from which on groups may be victims.
    pub(super) fn floor(&self) -> GroupKey {
        match self.rule {
            Rule::Below(priority) => GroupKey::last_of(priority),
            Rule::Anyone | Rule::SafeFrom(_) => GroupKey::FIRST,
        }
    }

    /// Tells whether it may be one but for what happened before and for budgets.
    pub(super) fn suits(&self, state: &State, group: GroupId) -> bool {
        let tree = &state.groups()[group].tree;
        // A gang that ends is left to it: nobody brings its finished pods back.
        group != self.group
            && !tree.is_completing()
            && (self.safe_until(state, group).is_none() || tree.is_elastic())
    }

    pub(super) fn safe_until(&self, state: &State, group: GroupId) -> Option<Timestamp> {
        match self.rule {
            Rule::Anyone => None,
            Rule::Below(_) => is_safe_from_peers(state, group, self.basis.config, self.basis.now),
            Rule::SafeFrom(queue) => {
                is_safe_from(state, group, queue, self.basis.config, self.basis.now)
            }
        }
    }

    /// Tells whether groups of a queue are ever safe from such evictions.
    pub(super) fn protects(&self, state: &State, queue: QueueId) -> bool {
        match self.rule {
            Rule::Anyone => false,
            Rule::Below(_) => peer_runtime(state, queue, self.basis.config) > 0,
            Rule::SafeFrom(other) => reclaim_runtime(state, queue, other, self.basis.config) > 0,
        }
    }
}

/// A group's batches that were not taken yet.
#[derive(Clone, Debug)]
struct Rest {
    group: GroupId,
    steps: IntoFew<(Batch, u8)>,
    next: (Batch, u8),
    /// Requests of its pods.
    left: Charge,
}

/// The candidates of one leaf queue.
#[derive(Clone, Debug)]
struct LeafVictims {
    queue: QueueId,
    /// Only groups from this key on.
    floor: GroupKey,
    /// The last group that was not looked at yet.
    fresh: Option<GroupKey>,
    /// Remainders of groups that lost a step, by their new place.
    rests: BTreeMap<GroupKey, Rest>,
    /// Requests of the candidates so far, each with all that was left of it: one that loses several steps counts
    /// several times (docs/behaviour.md 14.3, Q11).
    taken: Charge,
    /// Requests of the next candidate, all that is left of it.
    candidate: Charge,
}

/// An order of victims for one group: how far it was drawn, whoever passes the filter.
///
/// # Cost
/// In the number of queues to begin with, then in the victims that are drawn. Groups that are passed over count as
/// comparisons.
#[derive(Clone, Debug)]
pub(crate) struct Victims {
    leaves: Few<LeafVictims>,
    tournament: Tournament,
    /// Number of groups that may still be drawn, where there are more than that.
    most: Option<usize>,
}

impl Victims {
    /// All candidates: running groups of the queues that pass `queue`, each of which passes the filter.
    pub(crate) fn new(
        state: &mut State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Self {
        let floor = filter.floor();
        let leaves =
            filter.basis.pending.running.iter().filter(|(id, _)| queue(*id)).map(|(queue, _)| {
                let nothing = Charge::default();
                let (taken, candidate) = (nothing, nothing);
                LeafVictims { queue, floor, fresh: None, rests: BTreeMap::new(), taken, candidate }
            });
        Self::of(state, filter, leaves.collect())
    }

    /// From the beginning, in these leaves.
    fn of(state: &mut State, filter: &VictimFilter<'_>, mut leaves: Few<LeafVictims>) -> Self {
        for leaf in leaves.iter_mut() {
            leaf.fresh = leaf.find(state, filter, None);
        }
        leaves.retain(|leaf| leaf.fresh.is_some());
        Self::seated(state, filter, leaves, None)
    }

    /// Every group that may be evicted, the last of each queue first; what those take that are passed over is added to
    /// `compared`.
    pub(crate) fn groups<'c>(
        &'c self,
        state: &'c State,
        filter: &'c VictimFilter<'_>,
        compared: &'c mut u64,
    ) -> impl Iterator<Item = GroupId> {
        self.leaves.iter().flat_map(move |leaf| leaf.all(filter)).filter(move |group| {
            let admits = filter.admits(state, *group);
            *compared += if admits { 0 } else { passing(state, *group) };
            admits
        })
    }

    /// The queues that may lose something.
    pub(crate) fn queues(&self) -> impl Iterator<Item = QueueId> {
        self.leaves.iter().map(|leaf| leaf.queue)
    }

    /// Tells whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Keeps only the last `count` groups in the order of victims: those that go first.
    pub(crate) fn limit(
        mut self,
        state: &mut State,
        filter: &VictimFilter<'_>,
        count: usize,
    ) -> Self {
        let there =
            filter.basis.pending.running.iter().map(|(_, groups)| groups.len()).sum::<usize>();
        if there > count {
            self.most = Some(count);
            // Single pods are drawn once each: so many draws are so many groups, whichever they will be.
            if !filter.basis.pending.running.are_singles() {
                self.narrow(state, filter);
            }
        }
        self
    }

    /// Finds out which groups may be drawn, where only so many may, before one is.
    pub(crate) fn narrow(&mut self, state: &mut State, filter: &VictimFilter<'_>) {
        let Some(count) = self.most.take() else { return };
        let mut all = self.clone();
        let mut kept = std::collections::BTreeSet::new();
        let mut floors: BTreeMap<QueueId, GroupKey> = BTreeMap::new();
        while kept.len() < count {
            let Some(batch) = all.next(state, filter) else { break };
            if kept.insert(batch.group) {
                let queue = state.groups()[batch.group].queue();
                let key = GroupKey::of(state, batch.group);
                if let Some((queue, key)) = queue.zip(key) {
                    floors.insert(queue, key);
                }
            }
        }
        let leaves = std::mem::take(&mut self.leaves).into_iter();
        let kept = leaves.filter_map(|leaf| {
            let floor = floors.get(&leaf.queue).copied()?;
            Some(LeafVictims { floor, ..leaf })
        });
        *self = Self::of(state, filter, kept.collect());
    }

    /// The next batch, if there is one.
    pub(crate) fn next(&mut self, state: &mut State, filter: &VictimFilter<'_>) -> Option<Batch> {
        while self.most != Some(0) {
            let at = self.tournament.winner()?;
            let batch = self.leaves[at].draw(state, filter);
            self.seat(state, filter, at);
            if batch.is_some() {
                self.most = self.most.map(|most| most - 1);
                return batch;
            }
        }
        None
    }

    /// Has a leaf stand where it now does.
    fn seat(&mut self, state: &State, filter: &VictimFilter<'_>, at: usize) {
        let Self { leaves, tournament, .. } = self;
        leaves[at].candidate = leaves[at].candidate(state, filter);
        tournament.seat(state, at, |leaf| leaves[leaf].demand());
    }
}

impl LeafVictims {
    /// The last candidate before a key, or of all.
    fn find(
        &self,
        state: &mut State,
        filter: &VictimFilter<'_>,
        before: Option<GroupKey>,
    ) -> Option<GroupKey> {
        let before = before.unwrap_or(GroupKey::LAST);
        if before <= self.floor {
            return None;
        }
        let mut groups =
            filter.basis.pending.running.of(self.queue)?.range(&self.floor, &before).rev();
        let mut compared = 0;
        let found = groups.find(|key| {
            let admits = filter.admits(state, key.group);
            compared += if admits { 0 } else { passing(state, key.group) };
            admits
        });
        let found = found.copied();
        state.steps.compared += compared;
        found
    }

    /// Every running group of the queue, the last first, whoever passes the filter.
    fn all<'c>(&'c self, filter: &'c VictimFilter<'_>) -> impl Iterator<Item = GroupId> {
        let groups = filter.basis.pending.running.of(self.queue).into_iter();
        groups.flat_map(|groups| groups.since(&self.floor).rev()).map(|key| key.group)
    }

    /// Takes the next batch; nothing where the next group has none.
    fn draw(&mut self, state: &mut State, filter: &VictimFilter<'_>) -> Option<Batch> {
        let rest = self.rests.last_key_value().map(|(key, _)| *key);
        let (batch, rest) = if self.fresh >= rest {
            let key = self.fresh?;
            self.fresh = self.find(state, filter, Some(key));
            let mut steps = steps(state, filter.basis.pending, key.group).into_iter();
            let (batch, fill) = steps.next()?;
            let rest = steps.next().map(|next| {
                let left = self.candidate;
                (key.refilled(fill), Rest { group: key.group, steps, next, left })
            });
            (batch, rest)
        } else {
            let (key, mut rest) = self.rests.pop_last().expect("the greater one is there");
            let (batch, fill) = rest.next.clone();
            let more = rest.steps.next();
            (batch, more.map(|next| (key.refilled(fill), Rest { next, ..rest })))
        };
        if let Some((key, mut rest)) = rest {
            debug_assert_eq!(key.group, rest.group, "a remainder keeps its group");
            rest.left -= asked(state, batch.pods.iter());
            self.rests.insert(key, rest);
        }
        self.taken = self.taken.saturating_add(self.candidate);
        Some(batch)
    }

    /// Sums what it has lost, with the next candidate taken too.
    fn demand(&self) -> Option<QueueDemand> {
        // All that is left of a group counts with each of its steps, which is half the square of its pods.
        let taken = self.taken.saturating_add(self.candidate);
        let demand = QueueDemand { ask: Charge::default(), taken };
        (self.fresh.is_some() || !self.rests.is_empty()).then_some(demand)
    }

    /// Sums what its next candidate asks for.
    fn candidate(&self, state: &State, filter: &VictimFilter<'_>) -> Charge {
        let rest = self.rests.last_key_value();
        match self.fresh {
            Some(key) if rest.is_none_or(|(rest, _)| key >= *rest) => {
                let pods = state.groups()[key.group].tree.pods();
                asked(state, pods.filter(|pod| filter.basis.pending.is_evictable(state, **pod)))
            }
            _ => rest.map_or_else(Charge::default, |(_, rest)| rest.left),
        }
    }
}

/// Sums what pods ask for, by which the order of victims goes (docs/behaviour.md 1.11); GPU memory is no GPUs. What a pod asks for
/// that no plan placed, and does not hold, is nothing that its queue could lose.
fn asked<'p>(state: &State, pods: impl Iterator<Item = &'p PodId>) -> Charge {
    pods.fold(Charge::default(), |sum, pod| {
        let facts = &state.pods()[*pod];
        let mut ask = state.shapes()[facts.shape].charge;
        if facts.is_unplanned {
            let held = state.held(*pod);
            ask = PerLane(QueueLane::ALL.map(|lane| ask[lane].min(held[lane])));
        }
        sum + ask
    })
}

/// All batches of a group in order, each with the group's fill after it.
pub(super) fn steps(state: &mut State, pending: &Pending, group: GroupId) -> Few<(Batch, u8)> {
    if let [leaf] = &*state.groups()[group].tree.leaves
        && leaf.count.active <= leaf.min
    {
        // Nothing to spare: all of it goes at once.
        let all = leaf.pods.iter().rev().copied().filter(|pod| pending.is_evictable(state, *pod));
        let pods: Few<PodId> = all.collect();
        let kept = pods.is_empty() || (leaf.min > 0 && is_planned(state, pending, group));
        let all = (!kept).then_some((Batch { group, pods }, 0));
        return all.into_iter().collect();
    }
    let mut trial = Trial::new(state);
    let mut steps = Few::default();
    let mut evicted = 0;
    loop {
        let pods = trial.groups()[group].tree.to_evict(&|pod| pending.is_evictable(&trial, pod));
        if pods.is_empty() {
            return steps;
        }
        // Each step goes through the sub-groups with pods, and through the pods that went before.
        evicted += pods.len();
        let looked = evicted + trial.groups()[group].tree.leaves_with_pods().count();
        trial.state().steps.compared += looked as u64;
        for pod in &pods {
            trial.evict(*pod);
        }
        if !is_satisfied(&trial, group) && is_planned(&trial, pending, group) {
            return steps;
        }
        let fill = trial.groups()[group].tree.fill();
        steps.push((Batch { group, pods: pods.into_iter().collect() }, fill));
    }
}

fn is_satisfied(state: &State, group: GroupId) -> bool {
    state.groups()[group].tree.is_satisfied(Member::Set(0))
}

/// Tells whether a plan placed a pod of a group or nominated one for a place, and nobody confirmed it: the core of such
/// a group is not taken away again (docs/behaviour.md 14.3, Q47), what it can spare is. A placement that may still be
/// retracted does not count.
fn is_planned(state: &State, pending: &Pending, group: GroupId) -> bool {
    state.groups()[group].pods.iter().any(|pod| {
        let status = &state.pods().status[*pod];
        let binds = status.phase == Phase::Binding && !pending.placed_this_cycle.contains(*pod);
        binds || status.nominee.is_some()
    })
}

/// Tells whether a group is safe for now from groups of its own queue.
pub(crate) fn is_safe_from_peers(
    state: &State,
    group: GroupId,
    config: &Config,
    now: Timestamp,
) -> Option<Timestamp> {
    let queue = state.groups()[group].queue()?;
    safe_until(state, group, peer_runtime(state, queue, config), now)
}

/// Tells whether a group is safe for now from groups of another queue, and until when.
pub(crate) fn is_safe_from(
    state: &State,
    group: GroupId,
    reclaimer: QueueId,
    config: &Config,
    now: Timestamp,
) -> Option<Timestamp> {
    let queue = state.groups()[group].queue()?;
    safe_until(state, group, reclaim_runtime(state, queue, reclaimer, config), now)
}

/// Finds out for how long groups of a queue are safe from each other.
fn peer_runtime(state: &State, queue: QueueId, config: &Config) -> Millis {
    let runtime = first_runtime(state, queue, |facts| facts.preempt_min_runtime);
    runtime.unwrap_or(config.preempt_min_runtime)
}

/// Finds out for how long groups of a queue are safe from those of another.
fn reclaim_runtime(state: &State, queue: QueueId, reclaimer: QueueId, config: &Config) -> Millis {
    let from = match config.reclaim_resolution {
        ReclaimResolution::Queue => queue,
        ReclaimResolution::CommonAncestor => below_common_ancestor(state, queue, reclaimer),
    };
    let runtime = first_runtime(state, from, |facts| facts.reclaim_min_runtime);
    runtime.unwrap_or(config.reclaim_min_runtime)
}

/// No two clocks of schedulers are further apart, and none is set back by more.
const CLOCKS_APART_MAX: Millis = 3_600_000;

/// A start that is later than any clock could have it is not believed: it is read from an annotation, and would keep its
/// group for ever.
fn safe_until(state: &State, group: GroupId, runtime: Millis, now: Timestamp) -> Option<Timestamp> {
    let start = state.groups()[group].last_start?;
    let until = Timestamp(start.0.saturating_add(runtime));
    let latest = Timestamp(now.0.saturating_add(CLOCKS_APART_MAX));
    (now < until && start <= latest).then_some(until)
}

fn first_runtime(
    state: &State,
    from: QueueId,
    of: impl Fn(&crate::Queue) -> Option<Millis>,
) -> Option<Millis> {
    state.queues().path(from).find_map(|at| of(state.queues().rows[at].facts.as_ref()?))
}

/// The queue on the victim's path just below the lowest queue that both paths share.
fn below_common_ancestor(state: &State, victim: QueueId, reclaimer: QueueId) -> QueueId {
    let mut below = victim;
    for at in state.queues().path(victim) {
        if state.queues().path(reclaimer).any(|other| other == at) {
            return below;
        }
        below = at;
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{base::resources::GPU_MILLI, evict::capacity::tests::asks_for_too_much};

    /// Else its user would have its queue look as if it had lost all, so that the pods of others go first.
    #[test]
    fn what_a_victim_does_not_hold_is_no_loss_of_its_queue() {
        for (unplanned, gpus) in [(false, 100), (true, 4)] {
            let (state, pod) = asks_for_too_much(unplanned);
            assert_eq!(asked(&state, [pod].iter())[QueueLane::Gpu], gpus * GPU_MILLI);
        }
    }
}
