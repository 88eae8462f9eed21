//! Groups that may be evicted, by queue and by their place in it.

use crate::{
    base::{
        id_set::IdSet,
        ids::{Column, GroupId, PodId, QueueId},
        min_set::MinSet,
    },
    pending::Pending,
    state::{State, group_key::GroupKey, rows::Phase},
};

/// All groups that may be evicted.
#[derive(Clone, Default, Debug)]
pub(crate) struct Running {
    /// By their place in their leaf queue.
    by_queue: Column<QueueId, MinSet<GroupKey>>,
    /// The queues that have some.
    queues: IdSet<QueueId>,
    rows: Column<GroupId, Option<Runner>>,
    /// Number of them with more than one pod.
    gangs: usize,
    /// Groups that are not yet in order among those of their queue; none between two calls.
    unsettled: Vec<(QueueId, GroupKey)>,
}

/// Place of a group that may be evicted in the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Runner {
    queue: QueueId,
    key: GroupKey,
    /// True if it has more than one pod.
    gang: bool,
}

impl Running {
    /// Per leaf queue that has some: its groups.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (QueueId, &MinSet<GroupKey>)> {
        self.queues.iter().map(|queue| (queue, &self.by_queue[queue]))
    }

    /// Those of a leaf queue, where there are any.
    pub(crate) fn of(&self, queue: QueueId) -> Option<&MinSet<GroupKey>> {
        self.by_queue.get(queue)
    }

    /// Tells whether a group is one.
    pub(crate) fn contains(&self, group: GroupId) -> bool {
        self.rows.get(group).is_some_and(Option::is_some)
    }

    /// Tells whether each of them has only one pod.
    pub(crate) fn are_singles(&self) -> bool {
        self.gangs == 0
    }

    /// Lists a group where it is now, or nowhere; it is put in its place when the list is settled.
    fn relist(&mut self, group: GroupId, now: Option<Runner>, groups: usize) {
        // Most groups that wait were never listed here: they need no row.
        let before = self.rows.get(group).copied().flatten();
        if before == now {
            return;
        }
        *self.rows.slot_of(group, groups) = now;
        if let Some(Runner { queue, key, gang }) = before {
            let groups = &mut self.by_queue[queue];
            groups.remove(&key);
            if groups.is_empty() {
                self.queues.remove(queue);
            }
            self.gangs -= usize::from(gang);
        }
        if let Some(Runner { queue, key, gang }) = now {
            let groups = self.by_queue.slot(queue);
            if groups.is_empty() {
                groups.insert(key);
                self.queues.insert(queue);
            } else {
                self.unsettled.push((queue, key));
            }
            self.gangs += usize::from(gang);
        }
    }

    /// Puts groups that were listed in their place.
    pub(super) fn settle(&mut self) {
        if self.unsettled.is_empty() {
            return;
        }
        self.unsettled.sort_by_key(|(queue, _)| *queue);
        for groups in self.unsettled.chunk_by(|left, right| left.0 == right.0) {
            let queue = groups[0].0;
            self.by_queue[queue].merge(groups.iter().map(|(_, key)| *key));
            self.queues.insert(queue);
        }
        self.unsettled.clear();
    }
}

impl Pending {
    /// Tells whether a pod may be evicted: it runs or was bound, and nothing is planned for it; or this plan placed it
    /// and may take that back.
    pub(crate) fn is_evictable(&self, state: &State, pod: PodId) -> bool {
        let status = &state.pods().status[pod];
        let stands = match status.phase {
            Phase::Bound | Phase::Running => true,
            Phase::Binding => self.placed_this_cycle.contains(pod),
            Phase::Absent
            | Phase::Gated
            | Phase::Pending
            | Phase::Evicting
            | Phase::Releasing
            | Phase::Lingering
            | Phase::Stuck
            | Phase::Succeeded
            | Phase::Failed => false,
        };
        stands && status.nominee.is_none()
    }

    /// Tells whether budgets allow that a group loses something: one pod if it can spare some, else all at once.
    #[inline]
    pub(crate) fn may_lose(&self, state: &State, group: GroupId) -> bool {
        !state.has_budgets() || self.may_lose_by_budgets(state, group)
    }

    fn may_lose_by_budgets(&self, state: &State, group: GroupId) -> bool {
        let row = &state.groups()[group];
        let pods = row.pods.iter().copied().filter(|pod| self.is_evictable(state, *pod));
        if row.tree.is_elastic() {
            return pods.into_iter().any(|pod| state.keeps_budgets([pod]));
        }
        state.keeps_budgets(pods)
    }

    /// Lists groups anew among those that may be evicted, those that are.
    pub(crate) fn rerun_all(&mut self, state: &State, groups: impl Iterator<Item = GroupId>) {
        for group in groups {
            self.rerun(state, group);
        }
        self.running.settle();
    }

    /// Lists a group anew among those that may be evicted, if it is one.
    pub(super) fn rerun(&mut self, state: &State, group: GroupId) {
        let row = &state.groups()[group];
        let used = row.tree.count().used > 0;
        let is_stale = row.stale_since.is_some();
        if !used && !is_stale && !self.running.contains(group) {
            // Nothing of it runs, or ran when it was listed last.
            return;
        }
        let now = self.runner(state, group);
        self.running.relist(group, now, state.groups().len());
        let row = &state.groups()[group];
        if row.facts.is_none() {
            return;
        }
        // One of which nothing runs has nothing to lose.
        let runs = used && !row.tree.sets.is_empty();
        if is_stale || (runs && !row.tree.is_whole()) {
            self.suspects.insert(group);
        }
    }

    /// Finds out where a group is listed among those that may be evicted.
    fn runner(&self, state: &State, group: GroupId) -> Option<Runner> {
        let row = &state.groups()[group];
        let facts = row.facts.as_ref()?;
        let has_active = facts.preemptible && row.tree.count().active > 0;
        if !has_active || !row.pods.iter().any(|pod| self.is_evictable(state, *pod)) {
            return None;
        }
        let queue = facts.queue.filter(|queue| state.queues().rows[*queue].attached)?;
        if state.queues().rows[queue].parts {
            return None;
        }
        let key = GroupKey::of(state, group).expect("a group with facts has a key");
        Some(Runner { queue, key, gang: row.pods.len() > 1 })
    }
}
