//! Who may be evicted for whom, and in what order.
//!
//! Victims come in the reverse of the order in which groups wait: the last queue first, in it the last group, of it
//! first what it can spare, step by step, then the rest at once.
//!
//! # Source
//! spec/scheduling.md 1.8, 1.11 (victims), 4.3, 4.6, 5, 6.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{
    base::{
        few::{Few, IntoFew},
        ids::{GroupId, PodId, QueueId},
        resources::Charge,
        time::{Millis, Timestamp},
    },
    config::{Config, ReclaimResolution},
    queues::{order::QueueDemand, tournament::Tournament},
    state::{Cluster, group_key::GroupKey, rows::Phase, tree::Member, trial::Trial},
};

/// Pods of one group that go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Batch {
    pub(crate) group: GroupId,
    pub(crate) pods: Few<PodId>,
}

/// Which running groups may be victims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VictimFilter<'a> {
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
    /// For whom.
    pub(crate) group: GroupId,
    pub(crate) rule: Rule,
}

/// What has to hold for a victim besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    Anyone,
    /// Of lower priority than this, and not safe from its own queue.
    Below(i32),
    /// Not safe from this queue.
    SafeFrom(QueueId),
}

impl VictimFilter<'_> {
    /// Whether a running group may be a victim: one that is safe for now may only where it can spare pods.
    fn admits(&self, cluster: &Cluster, group: GroupId) -> bool {
        self.suits(cluster, group)
            && !cluster.is_barred(self.group, group)
            && cluster.may_lose(group)
    }

    /// Whether it may be one but for what happened before and for budgets.
    fn suits(&self, cluster: &Cluster, group: GroupId) -> bool {
        let tree = &cluster.groups[group].tree;
        // A gang that ends is left to it: nobody brings its finished pods back.
        group != self.group
            && !tree.is_completing()
            && (self.safe_until(cluster, group).is_none() || tree.is_elastic())
    }

    fn safe_until(&self, cluster: &Cluster, group: GroupId) -> Option<Timestamp> {
        match self.rule {
            Rule::Anyone => None,
            Rule::Below(_) => cluster.is_safe_from_peers(group, self.config, self.now),
            Rule::SafeFrom(queue) => cluster.is_safe_from(group, queue, self.config, self.now),
        }
    }

    /// Whether groups of a queue are ever safe from such evictions.
    fn protects(&self, cluster: &Cluster, queue: QueueId) -> bool {
        match self.rule {
            Rule::Anyone => false,
            Rule::Below(_) => cluster.peer_runtime(queue, self.config) > 0,
            Rule::SafeFrom(other) => cluster.reclaim_runtime(queue, other, self.config) > 0,
        }
    }
}

/// A group's batches that were not taken yet.
#[derive(Clone, Debug)]
struct Rest {
    group: GroupId,
    steps: IntoFew<(Batch, u8)>,
    next: (Batch, u8),
    /// What its pods ask for.
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
    /// What the candidates so far asked for, each with all that was left of it: one that loses several steps counts
    /// several times (spec/scheduling.md 14.3, Q11).
    taken: Charge,
    /// What the next candidate asks for, all that is left of it.
    candidate: Charge,
}

/// An order of victims for one group: how far it was drawn, whoever passes the filter.
///
/// # Cost
/// In the number of queues to begin with, then in the victims that are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Victims {
    leaves: Few<LeafVictims>,
    tournament: Tournament,
    /// How many groups may still be drawn, where there are more than that.
    most: Option<usize>,
}

impl Victims {
    /// All candidates: running groups of the queues that pass `queue`, each of which passes the filter.
    pub(crate) fn new(
        cluster: &Cluster,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Self {
        let floor = match filter.rule {
            Rule::Below(priority) => GroupKey::last_of(priority),
            Rule::Anyone | Rule::SafeFrom(_) => GroupKey::FIRST,
        };
        let leaves =
            cluster.pending.running.iter().filter(|(id, _)| queue(*id)).map(|(queue, _)| {
                let (rests, taken, candidate) = Default::default();
                LeafVictims { queue, floor, fresh: None, rests, taken, candidate }
            });
        Self::of(cluster, filter, leaves.collect())
    }

    /// From the beginning, in these leaves.
    fn of(cluster: &Cluster, filter: &VictimFilter<'_>, mut leaves: Few<LeafVictims>) -> Self {
        for leaf in leaves.iter_mut() {
            leaf.fresh = leaf.find(cluster, filter, None);
        }
        leaves.retain(|leaf| leaf.fresh.is_some());
        let queues = leaves.iter().map(|leaf| leaf.queue);
        let tournament = Tournament::new(cluster, queues, Ordering::Greater);
        for leaf in leaves.iter_mut() {
            leaf.candidate = leaf.candidate(cluster);
        }
        let mut victims = Self { leaves, tournament, most: None };
        let Self { leaves, tournament, .. } = &mut victims;
        tournament.seat_all(cluster, |leaf| leaves[leaf].demand());
        victims
    }

    /// Every group that may be evicted, the last of each queue first.
    pub(crate) fn groups<'c>(
        &'c self,
        cluster: &'c Cluster,
        filter: &'c VictimFilter<'_>,
    ) -> impl Iterator<Item = GroupId> {
        self.leaves.iter().flat_map(move |leaf| leaf.all(cluster, filter))
    }

    /// The queues that may lose something.
    pub(crate) fn queues(&self) -> impl Iterator<Item = QueueId> {
        self.leaves.iter().map(|leaf| leaf.queue)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Keeps only the last `count` groups in the order of victims: those that go first.
    pub(crate) fn limit(
        mut self,
        cluster: &mut Cluster,
        filter: &VictimFilter<'_>,
        count: usize,
    ) -> Self {
        let there = cluster.pending.running.iter().map(|(_, groups)| groups.len()).sum::<usize>();
        if there > count {
            self.most = Some(count);
            // Single pods are drawn once each: so many draws are so many groups, whichever they will be.
            if !cluster.pending.running.are_singles() {
                self.narrow(cluster, filter);
            }
        }
        self
    }

    /// Finds out which groups may be drawn, where only so many may, before one is.
    pub(crate) fn narrow(&mut self, cluster: &mut Cluster, filter: &VictimFilter<'_>) {
        let Some(count) = self.most.take() else { return };
        let mut all = self.clone();
        let mut kept = std::collections::BTreeSet::new();
        let mut floors: BTreeMap<QueueId, GroupKey> = BTreeMap::new();
        while kept.len() < count {
            let Some(batch) = all.next(cluster, filter) else { break };
            if kept.insert(batch.group) {
                let queue = cluster.groups[batch.group].queue();
                let key = GroupKey::of(cluster, batch.group);
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
        *self = Self::of(cluster, filter, kept.collect());
    }

    /// The next batch, if there is one.
    pub(crate) fn next(
        &mut self,
        cluster: &mut Cluster,
        filter: &VictimFilter<'_>,
    ) -> Option<Batch> {
        while self.most != Some(0) {
            let at = self.tournament.winner()?;
            let batch = self.leaves[at].draw(cluster, filter);
            self.seat(cluster, at);
            if batch.is_some() {
                self.most = self.most.map(|most| most - 1);
                return batch;
            }
        }
        None
    }

    /// When the first of all candidates that are safe for now is safe no more.
    pub(crate) fn safe_until(
        cluster: &Cluster,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Option<Timestamp> {
        let floor = match filter.rule {
            Rule::Below(priority) => GroupKey::last_of(priority),
            Rule::Anyone | Rule::SafeFrom(_) => GroupKey::FIRST,
        };
        let queues = cluster.pending.running.iter();
        queues
            .filter(|(id, _)| filter.protects(cluster, *id) && queue(*id))
            .flat_map(|(_, groups)| groups.since(&floor))
            .filter_map(|key| filter.safe_until(cluster, key.group))
            .min()
    }

    /// How many groups would be candidates if budgets let them lose anything.
    pub(crate) fn count_guarded(
        cluster: &Cluster,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> usize {
        if !cluster.has_budgets() {
            return 0;
        }
        let floor = match filter.rule {
            Rule::Below(priority) => GroupKey::last_of(priority),
            Rule::Anyone | Rule::SafeFrom(_) => GroupKey::FIRST,
        };
        let queues = cluster.pending.running.iter().filter(|(id, _)| queue(*id));
        let groups = queues.flat_map(|(_, groups)| groups.since(&floor)).map(|key| key.group);
        groups.filter(|group| filter.suits(cluster, *group) && !cluster.may_lose(*group)).count()
    }

    /// Has a leaf stand where it now does.
    fn seat(&mut self, cluster: &Cluster, at: usize) {
        let Self { leaves, tournament, .. } = self;
        leaves[at].candidate = leaves[at].candidate(cluster);
        tournament.seat(cluster, at, |leaf| leaves[leaf].demand());
    }
}

impl LeafVictims {
    /// The last candidate before a key, or of all.
    fn find(
        &self,
        cluster: &Cluster,
        filter: &VictimFilter<'_>,
        before: Option<GroupKey>,
    ) -> Option<GroupKey> {
        let before = before.unwrap_or(GroupKey::LAST);
        if before <= self.floor {
            return None;
        }
        let mut groups = cluster.pending.running.of(self.queue)?.range(&self.floor, &before).rev();
        groups.find(|key| filter.admits(cluster, key.group)).copied()
    }

    fn all<'c>(
        &'c self,
        cluster: &'c Cluster,
        filter: &'c VictimFilter<'_>,
    ) -> impl Iterator<Item = GroupId> {
        let groups = cluster.pending.running.of(self.queue).into_iter();
        groups
            .flat_map(|groups| groups.since(&self.floor).rev())
            .map(|key| key.group)
            .filter(|group| filter.admits(cluster, *group))
    }

    /// Takes the next batch; nothing where the next group has none.
    fn draw(&mut self, cluster: &mut Cluster, filter: &VictimFilter<'_>) -> Option<Batch> {
        let rest = self.rests.last_key_value().map(|(key, _)| *key);
        let (batch, rest) = if self.fresh >= rest {
            let key = self.fresh?;
            self.fresh = self.find(cluster, filter, Some(key));
            let mut steps = steps(cluster, key.group).into_iter();
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
            rest.left -= asked(cluster, batch.pods.iter());
            self.rests.insert(key, rest);
        }
        self.taken += self.candidate;
        Some(batch)
    }

    /// What it has lost, with the next candidate taken too.
    fn demand(&self) -> Option<QueueDemand> {
        let demand = QueueDemand { ask: Charge::default(), taken: self.taken + self.candidate };
        (self.fresh.is_some() || !self.rests.is_empty()).then_some(demand)
    }

    /// What its next candidate asks for.
    fn candidate(&self, cluster: &Cluster) -> Charge {
        let rest = self.rests.last_key_value();
        match self.fresh {
            Some(key) if rest.is_none_or(|(rest, _)| key >= *rest) => {
                let pods = cluster.groups[key.group].tree.leaves.iter().flat_map(|leaf| &leaf.pods);
                asked(cluster, pods.filter(|pod| cluster.is_evictable(**pod)))
            }
            _ => rest.map_or_else(Charge::default, |(_, rest)| rest.left),
        }
    }
}

/// What pods ask for; GPU memory is no GPUs.
///
/// # Source
/// spec/scheduling.md 1.11: the order of victims goes by requests.
fn asked<'p>(cluster: &Cluster, pods: impl Iterator<Item = &'p PodId>) -> Charge {
    pods.fold(Charge::default(), |sum, pod| sum + cluster.shapes[cluster.pods[*pod].shape].charge)
}

/// All batches of a group in order, each with the group's fill after it.
fn steps(cluster: &mut Cluster, group: GroupId) -> Few<(Batch, u8)> {
    if let [leaf] = &*cluster.groups[group].tree.leaves
        && leaf.count.active <= leaf.min
    {
        // Nothing to spare: all of it goes at once.
        let all = leaf.pods.iter().rev().copied().filter(|pod| cluster.is_evictable(*pod));
        let pods: Few<PodId> = all.collect();
        let kept = pods.is_empty() || (leaf.min > 0 && cluster.is_planned(group));
        let all = (!kept).then_some((Batch { group, pods }, 0));
        return all.into_iter().collect();
    }
    let mut trial = Trial::new(cluster);
    let mut steps = Few::default();
    loop {
        let pods = trial.groups[group].tree.to_evict(&|pod| trial.is_evictable(pod));
        if pods.is_empty() {
            return steps;
        }
        for pod in &pods {
            trial.evict(*pod);
        }
        if !trial.is_satisfied(group) && trial.is_planned(group) {
            return steps;
        }
        let fill = trial.groups[group].tree.fill();
        steps.push((Batch { group, pods: pods.into_iter().collect() }, fill));
    }
}

impl Cluster {
    fn is_satisfied(&self, group: GroupId) -> bool {
        self.groups[group].tree.is_satisfied(Member::Set(0))
    }

    /// Whether a plan placed a pod of a group or nominated one for a place, and nobody confirmed it: the core of such a group
    /// is not taken away again (spec/scheduling.md 14.3, Q47), what it can spare is. A placement that may still be
    /// retracted does not count.
    fn is_planned(&self, group: GroupId) -> bool {
        self.groups[group].pods.iter().any(|pod| {
            let state = &self.pods.status[*pod];
            let binds =
                state.phase == Phase::Binding && !self.pending.placed_this_cycle.contains(*pod);
            binds || state.nominee.is_some()
        })
    }

    /// Whether a group is safe for now from groups of its own queue.
    pub(crate) fn is_safe_from_peers(
        &self,
        group: GroupId,
        config: &Config,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let queue = self.groups[group].queue()?;
        self.safe_until(group, self.peer_runtime(queue, config), now)
    }

    /// Whether a group is safe for now from groups of another queue, and until when.
    pub(crate) fn is_safe_from(
        &self,
        group: GroupId,
        reclaimer: QueueId,
        config: &Config,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let queue = self.groups[group].queue()?;
        self.safe_until(group, self.reclaim_runtime(queue, reclaimer, config), now)
    }

    /// How long groups of a queue are safe from each other.
    fn peer_runtime(&self, queue: QueueId, config: &Config) -> Millis {
        let runtime = self.first_runtime(queue, |facts| facts.preempt_min_runtime);
        runtime.unwrap_or(config.preempt_min_runtime)
    }

    /// How long groups of a queue are safe from those of another.
    fn reclaim_runtime(&self, queue: QueueId, reclaimer: QueueId, config: &Config) -> Millis {
        let from = match config.reclaim_resolution {
            ReclaimResolution::Queue => queue,
            ReclaimResolution::CommonAncestor => self.below_common_ancestor(queue, reclaimer),
        };
        let runtime = self.first_runtime(from, |facts| facts.reclaim_min_runtime);
        runtime.unwrap_or(config.reclaim_min_runtime)
    }

    fn safe_until(&self, group: GroupId, runtime: Millis, now: Timestamp) -> Option<Timestamp> {
        let until = Timestamp(self.groups[group].last_start?.0.saturating_add(runtime));
        (now < until).then_some(until)
    }

    fn first_runtime(
        &self,
        from: QueueId,
        of: impl Fn(&crate::Queue) -> Option<Millis>,
    ) -> Option<Millis> {
        self.queues.path(from).find_map(|at| of(self.queues.rows[at].facts.as_ref()?))
    }

    /// The queue on the victim's path just below the lowest queue that both paths share.
    fn below_common_ancestor(&self, victim: QueueId, reclaimer: QueueId) -> QueueId {
        let mut below = victim;
        for at in self.queues.path(victim) {
            if self.queues.path(reclaimer).any(|other| other == at) {
                return below;
            }
            below = at;
        }
        below
    }
}
