//! Takes placements of this very plan back for others, before anybody hears of them.
//!
//! The actions run one after the other, so that allocate may give room away which one that waits needs, is entitled to,
//! and then evicts for. Nothing of that was carried out yet: who was placed goes on waiting, and nobody is evicted.
//!
//! # Source
//! docs/behaviour.md 14.3, Q47: KAI writes the bind and evicts the pod in the same cycle.

use crate::{
    actions::{Cycle, commit},
    base::{
        few::Few,
        ids::{GroupId, PodId},
        min_set::MinSet,
        time::Timestamp,
    },
    config::QueueDepth,
    decided::plan::{Change, Why},
    state::{
        State,
        rows::{Phase, PodStatus},
        tree::Member,
    },
    told::pod::Place,
};

/// Placements and evictions that a plan may still take back.
#[derive(Default, Debug)]
pub(crate) struct Retractions {
    /// So many changes at the beginning are final: they give room to those for whom it was made.
    pub(super) settled: usize,
    /// Groups that this plan started, with their start before.
    pub(super) started: Vec<(GroupId, Option<Timestamp>)>,
    /// Groups with placements that may be retracted; none before the first eviction is looked for.
    offered: Option<MinSet<GroupId>>,
    /// Pods that were placed and are not any more.
    retracted: MinSet<PodId>,
    /// Their groups.
    losers: MinSet<GroupId>,
}

impl Cycle<'_> {
    /// Lists what this plan placed among those that may be evicted, once somebody looks for victims.
    ///
    /// Not after a plan that retracted some: who has the room since has a cycle to settle in it.
    ///
    /// # Cost
    /// Once a plan, in the pods that it placed.
    pub(super) fn offer(&mut self) {
        if self.retractions.offered.is_some() {
            return;
        }
        let mut groups = MinSet::default();
        // Where not all have had their turn, those behind have theirs in the next cycle, and find the room that is left.
        let bounded = self.config.queue_depth != QueueDepth::default();
        let has_retracted_before = self.cluster.pending.has_retracted_before;
        if !bounded && !has_retracted_before && !leans_on_others(&self.cluster.state) {
            for change in &self.changes[self.retractions.settled..] {
                let Change::Place { pod, devices, reserved, .. } = change else { continue };
                // Others may count on a device that this one opens, or on a claim that it was allocated for.
                let opens = devices.iter().any(|device| device.is_opened());
                if reserved.is_some() || opens || self.nominated.contains_key(pod) {
                    continue;
                }
                // A gang of which pods ended may be whole by this one alone; those that are ending are left to it.
                let group = self.cluster.state.pods()[*pod].group();
                let group = group.filter(|group| {
                    self.cluster.state.groups()[*group].tree.count().succeeded == 0
                });
                if let Some(group) = group {
                    self.cluster.pending.placed_this_cycle.insert(*pod);
                    groups.insert(group);
                }
            }
        }
        self.cluster.pending.rerun_all(&self.cluster.state, groups.iter().copied());
        self.retractions.offered = Some(groups);
    }

    /// Tells whether pods of a group may be retracted; it gets no more meanwhile, which would not be retracted with them.
    pub(super) fn may_retract(&self, group: GroupId) -> bool {
        self.retractions.offered.as_ref().is_some_and(|offered| offered.contains(&group))
    }

    /// Tells whether a pod was placed by this plan, and may be as if it was not.
    pub(super) fn is_placed_this_cycle(&self, pod: PodId) -> bool {
        self.cluster.pending.placed_this_cycle.contains(pod)
    }

    /// Tells whether a pod was placed by this plan and is not any more.
    pub(super) fn is_retracted(&self, pod: PodId) -> bool {
        self.retractions.retracted.contains(&pod)
    }

    /// Has a pod wait as if it had never been placed, with a nomination or without.
    pub(super) fn retract(&mut self, pod: PodId, nominee: Option<Place>) {
        let status = PodStatus { phase: Phase::Pending, place: None, nominee };
        self.cluster.state.retract(pod, status);
        self.retractions.retracted.insert(pod);
        self.cluster.pending.placed_this_cycle.remove(pod);
        if let Some(group) = self.cluster.state.pods()[pod].group() {
            self.retractions.losers.insert(group);
        }
    }

    /// After pods of a group were retracted: where its minimum does not stand without them, the others that this plan
    /// placed are retracted too, and nominated for the places that they had if all of it is nominated for some. All that are
    /// have them before anybody else.
    ///
    /// # Source
    /// docs/behaviour.md 1.12, `shouldPipeline`: a gang that waits does so as a whole.
    pub(super) fn keep_together(&mut self, group: GroupId) {
        let row = &self.cluster.state.groups()[group];
        let waits = !row.tree.stands(Member::Set(0));
        let pods = row.tree.pods().copied();
        let fresh = pods.filter(|pod| waits && self.is_placed_this_cycle(*pod));
        let fresh: Few<PodId> = fresh.collect();
        let nominated = row.tree.is_satisfied(Member::Set(0));
        for pod in fresh {
            let place = self.cluster.state.pods().status[pod].place.clone().filter(|_| nominated);
            self.retract(pod, place.clone());
            if let Some(place) = place {
                self.nominate(pod, place);
            }
        }
        let comes = |pod: &PodId| {
            self.is_retracted(*pod) && self.cluster.state.pods().status[*pod].nominee.is_some()
        };
        let comes = self.cluster.state.groups()[group].pods.iter().any(comes);
        if comes {
            self.cluster.state.nominations.queue(group);
        }
        self.cluster.absorb();
    }

    /// Ends what may be retracted; who lost a placement has its next turn at once, and is not told that it has it.
    pub(super) fn close_retractions(&mut self) {
        self.cluster.pending.has_retracted_before = self.has_retracted();
        let Some(groups) = self.retractions.offered.take().filter(|groups| !groups.is_empty())
        else {
            return;
        };
        self.cluster.pending.placed_this_cycle.clear();
        self.cluster.pending.rerun_all(&self.cluster.state, groups.iter().copied());
        // What was looked for among them is there no more.
        self.cluster.state.note_final(self.has_retracted());
        self.cluster.absorb();
        let Retractions { started, retracted, losers, .. } = &self.retractions;
        if retracted.is_empty() {
            return;
        }
        for (group, before) in started.iter().filter(|(group, _)| losers.contains(group)) {
            if !commit::has_started(&self.cluster.state, *group) {
                self.cluster.state.note_start(*group, *before);
            }
        }
        for group in losers.iter() {
            if self.cluster.state.verdict(*group) == Some(&Why::Satisfied) {
                self.cluster.state.note_why(*group, None);
            }
        }
        self.said.retain(|said| said.why != Why::Satisfied || !losers.contains(&said.group));
        let stands = |change: &Change| match change {
            Change::Place { pod, .. } => !retracted.contains(pod),
            Change::Evict { .. } | Change::Nominate { .. } => true,
        };
        self.changes.retain(stands);
    }

    /// Tells whether some placement was retracted.
    pub(super) fn has_retracted(&self) -> bool {
        !self.retractions.retracted.is_empty()
    }
}

/// Tells whether where some pods are decides where others may be: by topology spread, or by affinity to them.
fn leans_on_others(state: &State) -> bool {
    !state.pod_counts().is_empty()
        || state.shapes().in_use().any(|(_, shape, _)| !shape.facts.pod_affinity.is_empty())
}
