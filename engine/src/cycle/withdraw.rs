//! Takes placements of this very plan back for others, before anybody hears of them.
//!
//! The actions run one after the other, so that allocate may give room away which one that waits needs, is entitled to,
//! and then evicts for. Nothing of that was carried out yet: who was placed goes on waiting, and nobody is evicted.
//!
//! # Source
//! spec/scheduling.md 14.3, Q47: the peer writes the bind and evicts the pod in the same cycle.

use crate::{
    cluster::{Cluster, Phase, State},
    cycle::{Cycle, QueueDepth, Timestamp},
    ids::{GroupId, PodId},
    leastset::LeastSet,
    plan::Change,
    pod::Place,
};

/// What a plan may still take back.
#[derive(Default, Debug)]
pub(crate) struct Withdrawals {
    /// So many changes at the beginning are final: they give room to those for whom it was made.
    pub(super) settled: usize,
    /// Groups that this plan started, with their start before.
    pub(super) started: Vec<(GroupId, Option<Timestamp>)>,
    /// Groups with placements that may be withdrawn; none before the first eviction is looked for.
    offered: Option<LeastSet<GroupId>>,
    /// Pods that were placed and are not any more.
    withdrawn: LeastSet<PodId>,
}

impl Cycle<'_> {
    /// Lists what this plan placed among those that may be evicted, if anybody waits.
    ///
    /// # Cost
    /// Once a plan, in the pods that it placed.
    pub(super) fn offer(&mut self) {
        if self.withdrawals.offered.is_some() || self.cluster.agenda.pairs().next().is_none() {
            return;
        }
        let mut groups = LeastSet::default();
        // Where not all have had their turn, those behind have theirs in the next cycle, and find the room that is left.
        let bounded = self.config.queue_depth != QueueDepth::default();
        if !bounded && !self.cluster.leans_on_others() {
            for change in &self.changes[self.withdrawals.settled..] {
                let Change::Place { pod, devices, reserved, .. } = change else { continue };
                // Others may count on a device that this one opens, or on a claim that it was allocated for.
                if reserved.is_some() || devices.iter().any(|device| device.is_opened()) {
                    continue;
                }
                // A gang of which pods ended may be whole by this one alone; those that are ending are left to it.
                let group = self.cluster.pods[*pod].group();
                let group =
                    group.filter(|group| self.cluster.groups[*group].tree.count().succeeded == 0);
                if let Some(group) = group {
                    self.cluster.agenda.fresh.insert(*pod);
                    groups.insert(group);
                }
            }
        }
        self.cluster.rerun_all(groups.iter().copied());
        self.withdrawals.offered = Some(groups);
    }

    /// Whether a pod was placed by this plan, and may be as if it was not.
    pub(super) fn is_fresh(&self, pod: PodId) -> bool {
        self.cluster.agenda.fresh.contains(pod)
    }

    /// Whether a pod was placed by this plan and is not any more.
    pub(super) fn is_withdrawn(&self, pod: PodId) -> bool {
        self.withdrawals.withdrawn.contains(&pod)
    }

    /// Has a pod wait as if it had never been placed, with a promise or without.
    pub(super) fn withdraw(&mut self, pod: PodId, nominee: Option<Place>) {
        self.cluster.set_state(pod, State { phase: Phase::Pending, place: None, nominee });
        self.withdrawals.withdrawn.insert(pod);
        let agenda = &mut self.cluster.agenda;
        agenda.fresh.remove(pod);
        agenda.searches.upset();
        let Some(group) = self.cluster.pods[pod].group() else { return };
        self.cluster.agenda.touch(group);
        if self.cluster.has_started(group) {
            return;
        }
        let mut started = self.withdrawals.started.iter().rev();
        if let Some((_, before)) = started.find(|(one, _)| *one == group) {
            self.cluster.groups[group].last_start = *before;
        }
    }

    /// After pods of a group were withdrawn and promised other places: where its minimum does not stand any more, the
    /// others that this plan placed are promised the places that they had. All of them have them before anybody else.
    ///
    /// # Source
    /// spec/scheduling.md 1.12, `shouldPipeline`: a gang that waits does so as a whole.
    pub(super) fn keep_together(&mut self, group: GroupId) {
        let row = &self.cluster.groups[group];
        let waits = row.tree.leaves.iter().any(|leaf| {
            leaf.count.nominated > 0 && leaf.count.active - leaf.count.nominated < leaf.min
        });
        let fresh = row.pods.iter().copied().filter(|pod| waits && self.is_fresh(*pod));
        for pod in fresh.collect::<Vec<_>>() {
            let place = self.cluster.pods.state[pod].place.clone();
            let place = place.expect("a placed pod holds its place");
            self.withdraw(pod, Some(place.clone()));
            self.promise(pod, place);
        }
        let comes = |pod: &PodId| {
            self.is_withdrawn(*pod) && self.cluster.pods.state[*pod].nominee.is_some()
        };
        let comes = self.cluster.groups[group].pods.iter().any(comes);
        let claims = &mut self.cluster.agenda.claims;
        if comes && !claims.contains(&group) {
            claims.push(group);
        }
    }

    /// Ends what may be withdrawn; who lost a placement has its next turn at once.
    pub(super) fn close_withdrawals(&mut self) {
        let Some(groups) = self.withdrawals.offered.take() else { return };
        if groups.is_empty() {
            return;
        }
        self.cluster.agenda.fresh.clear();
        self.cluster.rerun_all(groups.iter().copied());
        // What was looked for among them is there no more.
        self.cluster.agenda.searches.upset();
        let withdrawn = std::mem::take(&mut self.withdrawals.withdrawn);
        if withdrawn.is_empty() {
            return;
        }
        let stands = |change: &Change| match change {
            Change::Place { pod, .. } => !withdrawn.contains(pod),
            Change::Evict { .. } | Change::Nominate { .. } => true,
        };
        self.changes.retain(stands);
        self.cluster.agenda.rouse();
        self.withdrawals.withdrawn = withdrawn;
    }

    /// Whether some placement was withdrawn.
    pub(super) fn has_withdrawn(&self) -> bool {
        !self.withdrawals.withdrawn.is_empty()
    }
}

impl Cluster {
    /// Whether where some pods are decides where others may be: by topology spread, or by affinity to them.
    fn leans_on_others(&self) -> bool {
        !self.crowds.is_empty()
            || self.shapes.in_use().any(|(_, shape, _)| !shape.facts.pod_affinity.is_empty())
    }
}
