//! Searches for victims that go on over news.
//!
//! A search that began anew after each change would come to no end in a cluster that changes all the time, or would have to take
//! ever more steps at once. So it begins on the state as it is, by every rule for who may evict whom, and takes up what an
//! earlier one had come to: the victims that were drawn and still are some, in their order, the sets that were tried, and for
//! how many pods there are victims. Whatever follows from the state is worked out again, and each set is tried on the state as it
//! is, so that what is found is as true as what any search finds. That nothing is found proves nothing.
//!
//! # Cost
//! That of a set of all victims that were drawn, and that of looking at each of their groups.

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        ids::{GroupId, QueueId},
    },
    decided::proof::EvictionKind,
    evict::{
        EVICTED_A_STEP, SearchState, VictimSearch, VictimSet, candidates, steps_of_set,
        victims::{self, Batch},
    },
    pending::Pending,
    state::State,
};

impl SearchState {
    /// Tells whether what was drawn at a place in the order still is a victim.
    pub(super) fn stands(&self, at: usize) -> bool {
        !self.order[at].pods.is_empty()
    }
}

impl VictimSearch<'_> {
    /// Takes up what an earlier search for the same group had come to, where it is for the same pods and had begun. There are
    /// steps for at least one set then.
    pub(crate) fn take_up(&mut self, state: &mut State, before: SearchState) {
        if before.base.is_none() || before.pods != self.search.pods {
            return;
        }
        let SearchState { mut order, victims, mut phase, mut probe, sets, cut, .. } = before;
        let filter = self.filter();
        let search = &mut self.search;
        let (kind, queues) = (search.kind, search.queues.clone());
        let gives = |queue: QueueId| {
            kind == EvictionKind::Consolidate || queues.binary_search(&queue).is_ok()
        };
        let drawn: usize = order.iter().map(|batch| batch.pods.len().max(1)).sum();
        state.steps.victims += steps_of_set(drawn, EVICTED_A_STEP);
        state.steps.compared += search.demand.beside_the_first(drawn);
        let (now, mut compared) = (&*state, 0);
        // Each group once, however many steps of it were drawn: budgets are asked about all of its pods.
        let mut known: FewMap<GroupId, bool> = FewMap::default();
        for batch in order.iter_mut() {
            let group = batch.group;
            let stands = *known.or_insert_with(group, || {
                compared += victims::passing(now, group);
                filter.stands(now, group, gives)
            });
            if !(stands && filter.are_there(now, batch)) {
                batch.pods.clear();
            }
        }
        state.steps.compared += compared;
        search.taken = order.iter().flat_map(|batch| &batch.pods).copied().collect();
        search.victims = victims.renewed(state, &filter, gives);
        (search.order, search.sets, search.cut, search.is_dated) = (order, sets, cut, true);
        let base = self.new_base(state);
        let search = &mut self.search;
        search.base = Some(base);
        phase.retain(|at| search.stands(*at));
        if let Some(probe) = &mut probe {
            probe.renew(state, search);
        }
        (search.phase, search.probe) = (phase, probe);
        self.steps_end = self.steps_end.max(state.steps.total() + 1);
    }

    /// Tells whether victims of a search that went on over news may go as they are by now: budgets stand, no more groups are
    /// moved than may be, and each group loses what a search that begins would take from it. A group of which that is not so is a
    /// victim no more.
    pub(super) fn may_go(&mut self, state: &mut State, victims: &VictimSet) -> bool {
        let search = &mut self.search;
        let pods = victims.iter().flat_map(|at| &search.order[*at].pods).copied();
        if !state.keeps_budgets(pods) {
            return false;
        }
        let mut lost: FewMap<GroupId, VictimSet> = FewMap::default();
        for at in victims.iter().filter(|at| search.stands(**at)) {
            lost.or_default(search.order[*at].group).push(*at);
        }
        let most = self.basis.config.consolidation_victims_max;
        if search.kind == EvictionKind::Consolidate
            && most.is_some_and(|most| lost.iter().count() > most as usize)
        {
            // Others came between those that were drawn and those that were to come.
            return false;
        }
        let mut stale: Few<GroupId> = Few::default();
        for (group, places) in lost.iter() {
            let places = places.clone().in_order();
            let lost: Few<&Batch> = places.iter().map(|at| &search.order[*at]).collect();
            if !loses_as_begun(state, self.basis.pending, group, &lost) {
                stale.push(group);
            }
        }
        for batch in search.order.iter_mut().filter(|batch| stale.contains(&batch.group)) {
            batch.pods.clear();
        }
        stale.is_empty()
    }
}

/// Tells whether a group may lose some batches, in order: those that a search would draw from it now, from the first one on, or
/// such by which it keeps its minimum.
///
/// # Cost
/// In the batches of the group, which count as comparisons.
fn loses_as_begun(state: &mut State, pending: &Pending, group: GroupId, lost: &[&Batch]) -> bool {
    let now = victims::steps(state, pending, group);
    let mut left = now.iter();
    let are_known = lost.iter().all(|batch| left.any(|(step, _)| step == *batch));
    let passed = now.len() - left.len();
    are_known
        && (passed == lost.len() || candidates::keeps_minimum(state, group, lost.iter().copied()))
}
