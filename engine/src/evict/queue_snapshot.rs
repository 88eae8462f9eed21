//! The numbers of queues as they were before a trial, for what is judged by them while it goes on.

use crate::{
    base::{few::Few, ids::QueueId},
    decided::proof::EvictionKind,
    evict::{VictimSearch, VictimSet},
    queues::entitlement::Holding,
    state::State,
};

/// The numbers of some queues and of all above them.
#[derive(Clone, Default, Debug)]
pub(crate) struct QueueSnapshot {
    rows: Few<(QueueId, Holding)>,
}

impl QueueSnapshot {
    /// The numbers of a queue, where they were noted.
    pub(crate) fn get(&self, queue: QueueId) -> Option<Holding> {
        let at = self.rows.binary_search_by_key(&queue, |(id, _)| *id).ok()?;
        Some(self.rows[at].1)
    }

    /// Notes the numbers of a queue and of all above it.
    fn note(&mut self, state: &State, queue: QueueId) {
        for queue in state.queues().path(queue) {
            match self.rows.binary_search_by_key(&queue, |(id, _)| *id) {
                // Who is above it was noted with it.
                Ok(_) => return,
                Err(at) => self.rows.insert(at, (queue, holding(state, queue))),
            }
        }
    }
}

impl VictimSearch<'_> {
    /// Notes the numbers of the queues between which some victims decide.
    pub(super) fn remember(&mut self, state: &State, victims: &VictimSet) {
        let search = &mut self.search;
        search.before.rows.clear();
        if search.kind == EvictionKind::Consolidate {
            return;
        }
        let queue = |group| state.groups()[group].queue();
        let losers = victims.iter().filter_map(|at| queue(search.order[*at].group));
        for queue in queue(search.group).into_iter().chain(losers) {
            search.before.note(state, queue);
        }
    }
}

/// The numbers of a live queue.
pub(crate) fn holding(state: &State, queue: QueueId) -> Holding {
    let row = &state.queues().rows[queue];
    let facts = row.facts.as_ref().expect("a queue of a live group is live");
    let awaited = state.nominations.awaited(queue);
    Holding {
        parent: row.up,
        quota: facts.quota,
        limit: facts.limit,
        share: row.share,
        allocated: row.used,
        protected: row.fixed,
        leaving: row.leaving + awaited.held,
        leaving_protected: row.leaving_fixed + awaited.fixed,
        priority: facts.priority,
        created: facts.created,
        uid: facts.uid,
    }
}
