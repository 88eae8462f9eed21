//! Validation of a set of victims: may it be taken?
//!
//! # Source
//! docs/behaviour.md 4.4, 4.6.

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        ids::{GroupId, PodId, QueueId},
        resources::Charge,
    },
    decided::proof::EvictionKind,
    evict::{
        VictimSearch, VictimSet,
        victims::{self, Batch},
    },
    queues::entitlement::{Reclaimer, may_take},
    state::{State, tree::Leaf, trial::Trial},
    told::pod::GpuRequest,
};

/// Losses of groups, in the order of the victims.
struct QueueLosses {
    groups: Few<(GroupId, Few<PodId>)>,
}

impl QueueLosses {
    fn new<'b>(victims: impl Iterator<Item = &'b Batch>) -> Self {
        let mut rows: FewMap<GroupId, usize> = FewMap::default();
        let mut groups: Few<(GroupId, Few<PodId>)> = Few::default();
        for batch in victims {
            let row = *rows.or_insert_with(batch.group, || groups.len());
            if row == groups.len() {
                groups.push((batch.group, Few::default()));
            }
            groups[row].1.extend(batch.pods.iter().copied());
        }
        Self { groups }
    }
}

impl VictimSearch<'_> {
    /// Tells whether the result is one that this kind of eviction may bring about.
    pub(super) fn is_fair(&self, trial: &mut Trial<'_>, count: usize, victims: &VictimSet) -> bool {
        let batches = || victims.iter().map(|at| &self.search.order[*at]);
        match self.search.kind {
            EvictionKind::Consolidate => batches().flat_map(|batch| &batch.pods).all(|pod| {
                let status = &trial.pods().status[*pod];
                !status.phase.leaves() || status.nominee.is_some()
            }),
            EvictionKind::Preempt => {
                let within_min_runtime = |group| {
                    victims::is_safe_from_peers(trial, group, self.basis.config, self.basis.now)
                        .is_some()
                };
                Self::spares_min_runtime(trial, &QueueLosses::new(batches()), within_min_runtime)
                    && self.lasts(trial, count, victims)
            }
            EvictionKind::Reclaim => {
                let losses = QueueLosses::new(batches());
                let queue = trial.groups()[self.search.group]
                    .queue()
                    .expect("a group that waits has a queue");
                let within_min_runtime = |group| {
                    victims::is_safe_from(trial, group, queue, self.basis.config, self.basis.now)
                        .is_some()
                };
                Self::spares_min_runtime(trial, &losses, within_min_runtime)
                    && self.may_reclaim(trial, count, &losses)
                    && self.lasts(trial, count, victims)
            }
        }
    }

    /// Tells whether every victim that is safe for now has its minimum in each of its sub-groups, and keeps it in those
    /// that lose pods, without pods that leave for other reasons.
    ///
    /// # Source
    /// docs/behaviour.md 4.6, K1. In KAI what leaves anyway counts as kept, also what an eviction of the same cycle
    /// took.
    fn spares_min_runtime(
        trial: &Trial<'_>,
        losses: &QueueLosses,
        within_min_runtime: impl Fn(GroupId) -> bool,
    ) -> bool {
        let stays = |pod: &PodId| trial.pods().status[*pod].phase.is_active();
        losses.groups.iter().filter(|(group, _)| within_min_runtime(*group)).all(|(group, lost)| {
            let tree = &trial.groups()[*group].tree;
            // Of each sub-group that loses pods, how many of these stay where they are.
            let mut lost_of: FewMap<u16, usize> = FewMap::default();
            for pod in lost {
                if let Some(leaf) = trial.pods()[*pod].leaf {
                    *lost_of.or_default(leaf) += usize::from(stays(pod));
                }
            }
            let has_minimum = |(row, leaf): (u16, &Leaf)| match lost_of.get(row) {
                None => leaf.count.used >= leaf.min,
                Some(lost) => {
                    let there = leaf.pods.iter().filter(|pod| stays(pod)).count();
                    there >= leaf.min as usize + lost
                }
            };
            !tree.has_vacant() && tree.leaves_with_pods().all(has_minimum)
        })
    }

    /// # Source
    /// docs/behaviour.md 4.4; what a victim loses is split by its minimum, whatever it keeps (Q24).
    fn may_reclaim(&self, trial: &Trial<'_>, count: usize, losses: &QueueLosses) -> bool {
        let memory = trial.nodes().memory_min();
        let request = self.search.pods[..count]
            .iter()
            .fold(Charge::default(), |sum, pod| sum + trial.ask(*pod, memory));
        let lost = losses.groups.iter().flat_map(|(_, pods)| pods);
        let group = &trial.groups()[self.search.group];
        let facts = group.facts.as_ref().expect("a group that waits is live");
        let claim = Reclaimer {
            queue: facts.queue.expect("a group that waits has a queue"),
            request,
            preemptible: facts.preemptible,
            mig: !lost.chain(&self.search.pods[..count]).any(|pod| asks_plain_gpus(trial, *pod)),
        };
        let mut rows: FewMap<QueueId, usize> = FewMap::default();
        let mut lost: Few<(QueueId, Few<Charge>)> = Few::default();
        for (group, pods) in &losses.groups {
            let queue = trial.groups()[*group].queue().expect("a group that runs has a queue");
            let row = *rows.or_insert_with(queue, || lost.len());
            if row == lost.len() {
                lost.push((queue, Few::default()));
            }
            lost[row].1.extend(self.blocks(trial, *group, pods));
        }
        let before = &self.search.before;
        let row = |queue: QueueId| before.get(queue).expect("queues that decide were noted");
        may_take(&row, &claim, &lost, self.basis.config.saturation_multiplier_milli)
    }

    /// Divides what a victim group loses: each pod beyond its minimum by itself, then the core as one.
    fn blocks(&self, trial: &Trial<'_>, group: GroupId, pods: &[PodId]) -> Few<Charge> {
        let gone = |pod: &PodId| {
            let stays = trial.pods().status[*pod].is_active();
            !(stays && self.basis.config.reclaim_may_relocate)
        };
        let mut blocks = Few::default();
        let mut core = Charge::default();
        let seated = pods.iter().filter_map(|pod| Some((trial.pods()[*pod].leaf?, *pod)));
        let mut lost: Few<(u16, PodId)> = seated.collect();
        lost.sort_by_key(|(leaf, _)| *leaf);
        for lost in lost.chunk_by(|(leaf, _), (other, _)| leaf == other) {
            for (at, (leaf, pod)) in lost.iter().enumerate() {
                let min = trial.groups()[group].tree.leaves[usize::from(*leaf)].min;
                let amount = if gone(pod) { trial.held(*pod) } else { Charge::default() };
                if at < min as usize {
                    core += amount;
                } else if !amount.is_zero() {
                    blocks.push(amount);
                }
            }
        }
        if !core.is_zero() {
            blocks.push(core);
        }
        blocks
    }
}

/// Tells whether a pod asks for GPUs that are no MIG instances.
fn asks_plain_gpus(state: &State, pod: PodId) -> bool {
    let shape = &state.shapes()[state.pods()[pod].shape];
    match shape.facts.gpu {
        GpuRequest::None | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            shape.own_milli > 0 || shape.named_milli > 0
        }
        GpuRequest::Whole(_) | GpuRequest::Fraction { .. } | GpuRequest::Memory { .. } => true,
    }
}
