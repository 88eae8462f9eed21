//! Victims of a search that goes on over news: those that were drawn and still are some, and those that were not drawn yet.

use std::cmp::Ordering;

use crate::{
    base::{
        few::Few,
        ids::{GroupId, PodId, QueueId},
    },
    evict::victims::{Batch, LeafVictims, Rest, VictimFilter, Victims, passing},
    queues::tournament::Tournament,
    state::{State, group_key::GroupKey},
};

impl VictimFilter<'_> {
    /// Tells whether a group that came up may be a victim as it is by now, and its queue `gives`. It takes as many comparisons as
    /// to pass it over.
    pub(crate) fn stands(
        &self,
        state: &State,
        group: GroupId,
        gives: impl Fn(QueueId) -> bool,
    ) -> bool {
        // One that is gone, or whose number is another's by now, is asked nothing else.
        self.basis.pending.running.contains(group)
            && state.groups()[group].queue().is_some_and(gives)
            && GroupKey::of(state, group).is_some_and(|key| key >= self.floor())
            && self.admits(state, group)
    }

    /// Tells whether pods that were drawn together are of their group still, and may be evicted.
    pub(crate) fn are_there(&self, state: &State, batch: &Batch) -> bool {
        batch.pods.iter().all(|pod| self.is_there(state, batch.group, *pod))
    }

    /// Tells whether a pod is of a group, and may be evicted.
    fn is_there(&self, state: &State, group: GroupId, pod: PodId) -> bool {
        let facts = state.pods().facts.get(pod).and_then(Option::as_ref);
        facts.is_some_and(|facts| facts.group() == Some(group))
            && self.basis.pending.is_evictable(state, pod)
            && state.node_of(pod).is_some()
    }
}

impl Victims {
    /// The victims that were not drawn yet, of the queues that had some and still `give`: those that come after the last one
    /// that was drawn.
    pub(crate) fn renewed(
        self,
        state: &mut State,
        filter: &VictimFilter<'_>,
        gives: impl Fn(QueueId) -> bool,
    ) -> Self {
        let running = &filter.basis.pending.running;
        let is_left = |leaf: &LeafVictims| {
            gives(leaf.queue) && running.of(leaf.queue).is_some_and(|groups| !groups.is_empty())
        };
        let mut leaves: Few<LeafVictims> = self.leaves.into_iter().filter(is_left).collect();
        for leaf in leaves.iter_mut() {
            leaf.renew(state, filter, &gives);
        }
        Self::seated(state, filter, leaves, self.most)
    }

    /// Those of some leaves, each where it stands.
    pub(super) fn seated(
        state: &State,
        filter: &VictimFilter<'_>,
        mut leaves: Few<LeafVictims>,
        most: Option<usize>,
    ) -> Self {
        let queues = leaves.iter().map(|leaf| leaf.queue);
        let tournament = Tournament::new(state, queues, Ordering::Greater);
        for leaf in leaves.iter_mut() {
            leaf.candidate = leaf.candidate(state, filter);
        }
        let mut victims = Self { leaves, tournament, most };
        let Self { leaves, tournament, .. } = &mut victims;
        tournament.seat_all(state, |leaf| leaves[leaf].demand());
        victims
    }
}

impl LeafVictims {
    /// Goes on over news: without remainders that stand no more, and with the first that comes after those that were drawn.
    fn renew(
        &mut self,
        state: &mut State,
        filter: &VictimFilter<'_>,
        gives: &impl Fn(QueueId) -> bool,
    ) {
        let (now, mut compared) = (&*state, 0);
        self.rests.retain(|_, rest| {
            compared += passing(now, rest.group);
            filter.stands(now, rest.group, gives)
                && rest.batches().all(|batch| filter.are_there(now, &batch))
        });
        state.steps.compared += compared;
        let Some(key) = self.fresh else { return };
        let running = filter.basis.pending.running.of(self.queue);
        let is_listed = running.is_some_and(|groups| groups.contains(&key));
        if !is_listed || !filter.admits(state, key.group) {
            self.fresh = self.find(state, filter, Some(key));
        }
    }
}

impl Rest {
    /// Lists the batches that were not taken yet.
    fn batches(&self) -> impl Iterator<Item = Batch> {
        let all = std::iter::once(self.next.clone()).chain(self.steps.clone());
        all.map(|(batch, _)| batch)
    }
}
