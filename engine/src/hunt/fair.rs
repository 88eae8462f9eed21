//! Whether a set of victims is one that may be taken.
//!
//! # Source
//! spec/scheduling.md 4.4, 4.6.

use std::{collections::BTreeMap, sync::Arc};

use super::{Aim, Hunt};
use crate::{
    cluster::{Cluster, Phase},
    entitlement::{Claim, Holding, may_take},
    ids::{Column, GroupId, PodId, QueueId},
    pod::GpuRequest,
    resources::Charge,
    trial::Trial,
    victims::Batch,
};

/// What groups lose, in the order of the victims.
struct Losses {
    groups: Vec<(GroupId, Vec<PodId>)>,
}

impl Losses {
    fn new(victims: &[Arc<Batch>]) -> Self {
        let mut rows: BTreeMap<GroupId, usize> = BTreeMap::new();
        let mut groups: Vec<(GroupId, Vec<PodId>)> = Vec::new();
        for batch in victims {
            let row = *rows.entry(batch.group).or_insert(groups.len());
            if row == groups.len() {
                groups.push((batch.group, Vec::new()));
            }
            groups[row].1.extend(&batch.pods);
        }
        Self { groups }
    }
}

impl Hunt<'_> {
    /// Whether the result is one that this kind of eviction may bring about.
    pub(super) fn is_fair(&self, trial: &Trial<'_>, count: usize, victims: &[Arc<Batch>]) -> bool {
        let losses = Losses::new(victims);
        match &self.search.aim {
            Aim::Consolidate => victims.iter().flat_map(|batch| &batch.pods).all(|pod| {
                let state = &trial.pods.state[*pod];
                state.phase != Phase::Releasing || state.nominee.is_some()
            }),
            Aim::Preempt => Self::spares_young(trial, &losses, |group| {
                trial.is_safe_from_peers(group, self.config, self.now).is_some()
            }),
            Aim::Reclaim(holdings) => {
                let queue = trial.groups[self.search.group]
                    .queue()
                    .expect("a group that waits has a queue");
                let young =
                    |group| trial.is_safe_from(group, queue, self.config, self.now).is_some();
                Self::spares_young(trial, &losses, young)
                    && self.may_reclaim(trial, count, &losses, holdings)
            }
        }
    }

    /// Whether every victim that is safe for now has its minimum in each of its sub-groups, and keeps it in those that
    /// lose pods, without pods that leave for other reasons.
    ///
    /// # Source
    /// spec/scheduling.md 4.6; there what leaves anyway counts as kept, also what an eviction of the same cycle took.
    fn spares_young(trial: &Trial<'_>, losses: &Losses, young: impl Fn(GroupId) -> bool) -> bool {
        losses.groups.iter().filter(|(group, _)| young(*group)).all(|(group, lost)| {
            trial.groups[*group].tree.leaves.iter().all(|leaf| {
                let spared = !leaf.pods.iter().any(|pod| lost.contains(pod));
                let stays =
                    |pod: &&PodId| trial.pods.state[**pod].phase.is_active() && !lost.contains(pod);
                let kept = leaf.pods.iter().filter(stays).count();
                if spared { leaf.count.used >= leaf.min } else { kept >= leaf.min as usize }
            })
        })
    }

    /// # Source
    /// spec/scheduling.md 4.4; what a victim loses is split by what it spares and what it needs.
    fn may_reclaim(
        &self,
        trial: &Trial<'_>,
        count: usize,
        losses: &Losses,
        holdings: &Column<QueueId, Option<Holding>>,
    ) -> bool {
        let memory = trial.nodes.memory_min();
        let request = self.search.pods[..count]
            .iter()
            .fold(Charge::default(), |sum, pod| sum + trial.ask(*pod, memory));
        let lost = losses.groups.iter().flat_map(|(_, pods)| pods);
        let group = &trial.groups[self.search.group];
        let facts = group.facts.as_ref().expect("a group that waits is live");
        let claim = Claim {
            queue: facts.queue.expect("a group that waits has a queue"),
            request,
            preemptible: facts.preemptible,
            mig: !lost.chain(&self.search.pods[..count]).any(|pod| trial.asks_plain_gpus(*pod)),
        };
        let mut rows: BTreeMap<QueueId, usize> = BTreeMap::new();
        let mut lost: Vec<(QueueId, Vec<Charge>)> = Vec::new();
        for (group, pods) in &losses.groups {
            let queue = trial.groups[*group].queue().expect("a group that runs has a queue");
            let row = *rows.entry(queue).or_insert(lost.len());
            if row == lost.len() {
                lost.push((queue, Vec::new()));
            }
            lost[row].1.extend(self.blocks(trial, *group, pods));
        }
        let row = |queue: QueueId| holdings[queue].expect("a queue of a live group is live");
        may_take(&row, &claim, &lost, self.config.saturation_multiplier_milli)
    }

    /// What a victim group loses: each pod beyond its minimum by itself, then the core as one.
    fn blocks(&self, trial: &Trial<'_>, group: GroupId, pods: &[PodId]) -> Vec<Charge> {
        let gone = |pod: &PodId| {
            let stays = trial.pods.state[*pod].is_active();
            !(stays && self.config.reclaim_may_relocate)
        };
        let mut blocks = Vec::new();
        let mut core = Charge::default();
        for (row, leaf) in (0..).zip(&trial.groups[group].tree.leaves) {
            let lost = pods.iter().filter(|pod| trial.pods[**pod].leaf == Some(row));
            for (at, pod) in lost.enumerate() {
                let amount = if gone(pod) { trial.held(*pod) } else { Charge::default() };
                if at < leaf.min as usize {
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

impl Cluster {
    /// Whether a pod asks for GPUs that are no MIG instances.
    fn asks_plain_gpus(&self, pod: PodId) -> bool {
        let shape = &self.shapes[self.pods[pod].shape];
        match shape.facts.gpu {
            GpuRequest::None | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
                shape.own_milli > 0 || shape.named_milli > 0
            }
            GpuRequest::Whole(_) | GpuRequest::Fraction { .. } | GpuRequest::Memory { .. } => true,
        }
    }
}
