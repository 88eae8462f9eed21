//! Who may be evicted for whom, and in what order.
//!
//! Victims come in the reverse of the order in which groups wait: the last queue first, in it the last group, of it
//! first what it can spare, step by step, then the rest at once.
//!
//! # Source
//! spec/scheduling.md 1.8, 1.11 (victims), 4.3, 4.6, 5, 6.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{
    cluster::{Cluster, Phase},
    cycle::{Config, Millis, ReclaimResolution, Timestamp},
    ids::{GroupId, PodId, QueueId},
    order::{GroupKey, Standing},
    resources::Charge,
    tree::Member,
    trial::Trial,
};

/// Pods of one group that go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Batch {
    pub(crate) group: GroupId,
    pub(crate) pods: Vec<PodId>,
}

/// A group's batches that were not taken yet.
#[derive(Clone, Debug)]
struct Rest {
    group: GroupId,
    steps: std::vec::IntoIter<(Batch, u8)>,
    next: (Batch, u8),
}

/// The candidates of one leaf queue.
#[derive(Clone, Debug, Default)]
struct Leaf {
    /// Groups not looked at yet, the first to be evicted last.
    groups: Vec<GroupKey>,
    /// Remainders of groups that lost a step, by their new place.
    rests: BTreeMap<GroupKey, Rest>,
    /// What was taken so far.
    taken: Charge,
}

/// An order of victims for one group.
#[derive(Clone, Debug)]
pub(crate) struct Victims {
    leaves: BTreeMap<QueueId, Leaf>,
    below: BTreeMap<Option<QueueId>, Vec<QueueId>>,
}

impl Victims {
    /// All candidates: running groups of the queues that pass `queue`, each of which passes `group`.
    pub(crate) fn new(
        cluster: &Cluster,
        queue: impl Fn(QueueId) -> bool,
        group: impl Fn(GroupId) -> bool,
    ) -> Self {
        // What has begun to end can't be made whole again: nobody brings its finished pods back.
        let completes = |group: GroupId| cluster.groups[group].tree.count().succeeded > 0;
        let mut leaves = BTreeMap::new();
        let mut below: BTreeMap<Option<QueueId>, Vec<QueueId>> = BTreeMap::new();
        for (id, running) in cluster.agenda.running() {
            if !queue(id) {
                continue;
            }
            let groups: Vec<GroupKey> = running
                .iter()
                .filter(|key| group(key.group) && !completes(key.group))
                .copied()
                .collect();
            if groups.is_empty() {
                continue;
            }
            leaves.insert(id, Leaf { groups, ..Leaf::default() });
            for at in cluster.queues.path(id) {
                let siblings = below.entry(cluster.queues.rows[at].up).or_default();
                if siblings.contains(&at) {
                    break;
                }
                siblings.push(at);
            }
        }
        Self { leaves, below }
    }

    /// Every group that may be evicted.
    pub(crate) fn groups(&self) -> impl Iterator<Item = GroupId> {
        self.leaves.values().flat_map(|leaf| leaf.groups.iter().map(|key| key.group))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Keeps only the last `count` groups in the order of victims: those that go first.
    pub(crate) fn limit(&mut self, cluster: &mut Cluster, count: usize) {
        let mut all = self.clone();
        let mut kept = std::collections::BTreeSet::new();
        while kept.len() < count {
            let Some(batch) = all.next(cluster) else { break };
            kept.insert(batch.group);
        }
        for leaf in self.leaves.values_mut() {
            leaf.groups.retain(|key| kept.contains(&key.group));
        }
        self.leaves.retain(|_, leaf| !leaf.groups.is_empty());
    }

    /// The next batch, if there is one.
    pub(crate) fn next(&mut self, cluster: &mut Cluster) -> Option<Batch> {
        let queue = self.last_leaf(cluster, None)?.0;
        let leaf = self.leaves.get_mut(&queue).expect("a chosen leaf has candidates");
        let fresh = leaf.groups.last().copied();
        let rest = leaf.rests.last_key_value().map(|(key, _)| *key);
        let (batch, rest) = if fresh >= rest {
            let key = leaf.groups.pop().expect("the greater one is there");
            let mut steps = steps(cluster, key.group).into_iter();
            let (batch, fill) = steps.next()?;
            (
                batch,
                steps
                    .next()
                    .map(|next| (key.refilled(fill), Rest { group: key.group, steps, next })),
            )
        } else {
            let (key, mut rest) = leaf.rests.pop_last().expect("the greater one is there");
            let (batch, fill) = rest.next.clone();
            let more = rest.steps.next();
            (batch, more.map(|next| (key.refilled(fill), Rest { next, ..rest })))
        };
        if let Some((key, rest)) = rest {
            debug_assert_eq!(key.group, rest.group, "a remainder keeps its group");
            leaf.rests.insert(key, rest);
        }
        leaf.taken += charge(cluster, &batch.pods);
        if leaf.groups.is_empty() && leaf.rests.is_empty() {
            self.leaves.remove(&queue);
        }
        Some(batch)
    }

    /// The leaf below `parent` that loses first, and what it loses with its next candidate.
    fn last_leaf(&self, cluster: &Cluster, parent: Option<QueueId>) -> Option<(QueueId, Charge)> {
        let mut last: Option<(QueueId, Charge, Standing)> = None;
        for queue in self.below.get(&parent)? {
            let found = match self.leaves.get(queue) {
                Some(leaf) => Some((*queue, leaf.taken + leaf.candidate(cluster))),
                None => self.last_leaf(cluster, Some(*queue)),
            };
            let Some((leaf, taken)) = found else { continue };
            let standing = Standing::new(
                &cluster.queues.rows[*queue],
                Charge::default(),
                taken,
                cluster.total(),
            );
            if last
                .as_ref()
                .is_none_or(|(_, _, other)| standing.compare(other) == Ordering::Greater)
            {
                last = Some((leaf, taken, standing));
            }
        }
        last.map(|(leaf, taken, _)| (leaf, taken))
    }
}

impl Leaf {
    /// What its next candidate holds.
    fn candidate(&self, cluster: &Cluster) -> Charge {
        let rest = self.rests.last_key_value();
        match self.groups.last() {
            Some(key) if rest.is_none_or(|(rest, _)| key >= rest) => {
                cluster.groups[key.group].tree.leaves.iter().fold(Charge::default(), |sum, leaf| {
                    let active: Vec<PodId> = leaf
                        .pods
                        .iter()
                        .copied()
                        .filter(|pod| cluster.is_evictable(*pod))
                        .collect();
                    sum + charge(cluster, &active)
                })
            }
            _ => rest.map_or_else(Charge::default, |(_, rest)| charge(cluster, &rest.next.0.pods)),
        }
    }
}

/// What pods hold of queues.
pub(crate) fn charge(cluster: &Cluster, pods: &[PodId]) -> Charge {
    pods.iter().fold(Charge::default(), |sum, pod| sum + cluster.charge(*pod))
}

/// All batches of a group in order, each with the group's fill after it.
fn steps(cluster: &mut Cluster, group: GroupId) -> Vec<(Batch, u8)> {
    let mut trial = Trial::new(cluster);
    let mut steps = Vec::new();
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
        steps.push((Batch { group, pods }, fill));
    }
}

impl Cluster {
    /// Whether a pod may be evicted: it runs or was bound, and nothing is planned for it.
    pub(crate) fn is_evictable(&self, pod: PodId) -> bool {
        let state = &self.pods.state[pod];
        matches!(state.phase, Phase::Bound | Phase::Running) && state.nominee.is_none()
    }

    fn is_satisfied(&self, group: GroupId) -> bool {
        self.groups[group].tree.is_satisfied(Member::Set(0))
    }

    /// Whether a plan placed a pod of a group and nobody confirmed it: the core of such a group is not taken away
    /// again (spec/scheduling.md 14.3, Q47), what it can spare is.
    fn is_planned(&self, group: GroupId) -> bool {
        let states = self.groups[group].pods.iter().map(|pod| &self.pods.state[*pod]);
        states.into_iter().any(|state| state.phase == Phase::Binding || state.nominee.is_some())
    }

    /// Whether a group is safe for now from groups of its own queue.
    pub(crate) fn is_safe_from_peers(
        &self,
        group: GroupId,
        config: &Config,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let queue = self.groups[group].queue()?;
        let runtime = self.first_runtime(queue, |facts| facts.preempt_min_runtime);
        self.safe_until(group, runtime.unwrap_or(config.preempt_min_runtime), now)
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
        let from = match config.reclaim_resolution {
            ReclaimResolution::Queue => queue,
            ReclaimResolution::CommonAncestor => self.below_common_ancestor(queue, reclaimer),
        };
        let runtime = self.first_runtime(from, |facts| facts.reclaim_min_runtime);
        self.safe_until(group, runtime.unwrap_or(config.reclaim_min_runtime), now)
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
        let (ours, theirs) = (self.queues.path_down(reclaimer), self.queues.path_down(victim));
        let shared = ours.iter().zip(&theirs).take_while(|(our, their)| our == their).count();
        theirs.get(shared).or(theirs.last()).copied().unwrap_or(victim)
    }
}
