//! Groups that are no victims since they are within their minimum run time, or since budgets keep them.

use crate::{
    base::{
        ids::{GroupId, QueueId},
        time::Timestamp,
    },
    evict::{
        candidates::gives_milli,
        victims::{VictimFilter, Victims, passing},
    },
    state::State,
};

/// Groups that would be candidates but are safe for now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protected {
    /// Their number.
    pub(crate) groups: usize,
    /// The GPUs that their pods hold, in milli-devices.
    pub(crate) gpu_milli: i64,
    /// The time when the first of them is safe no more.
    pub(crate) until: Timestamp,
}

impl Protected {
    fn with(self, other: Self) -> Self {
        Self {
            groups: self.groups + other.groups,
            gpu_milli: self.gpu_milli + other.gpu_milli,
            until: self.until.min(other.until),
        }
    }
}

impl Victims {
    /// Finds the time when the first of all candidates that are safe for now is safe no more.
    pub(crate) fn safe_until(
        state: &mut State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Option<Timestamp> {
        let mut first: Option<Timestamp> = None;
        Self::visit_safe(state, filter, queue, |_, _, until| {
            first = Some(first.map_or(until, |first| first.min(until)));
        });
        first
    }

    /// Sums the candidates that are safe for now; none where there are none.
    pub(crate) fn protected(
        state: &mut State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Option<Protected> {
        let gives = |state: &State, group: GroupId| -> i64 {
            let pods = state.groups()[group].tree.pods();
            pods.map(|pod| gives_milli(state, *pod)).sum()
        };
        let mut all: Option<Protected> = None;
        Self::visit_safe(state, filter, queue, |state, group, until| {
            let one = Protected { groups: 1, gpu_milli: gives(state, group), until };
            all = Some(all.map_or(one, |all| all.with(one)));
        });
        all
    }

    /// Counts the groups that would be candidates if budgets let them lose anything.
    pub(crate) fn count_guarded(
        state: &mut State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> usize {
        if !state.has_budgets() {
            return 0;
        }
        let floor = filter.floor();
        let queues = filter.basis.pending.running.iter().filter(|(id, _)| queue(*id));
        let groups = queues.flat_map(|(_, groups)| groups.since(&floor)).map(|key| key.group);
        let mut compared = 0;
        let guarded = groups.filter(|group| {
            compared += passing(state, *group);
            filter.suits(state, *group) && !filter.basis.pending.may_lose(state, *group)
        });
        let guarded = guarded.count();
        state.steps.compared += compared;
        guarded
    }

    /// Visits the candidates that are safe for now, each with the time when it is safe no more.
    ///
    /// # Cost
    /// In the groups that are looked at, which count as comparisons.
    fn visit_safe(
        state: &mut State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
        mut visit: impl FnMut(&State, GroupId, Timestamp),
    ) {
        let floor = filter.floor();
        let mut compared = 0;
        for (id, groups) in filter.basis.pending.running.iter() {
            if !queue(id) || !filter.protects(state, id) {
                continue;
            }
            for group in groups.since(&floor).map(|key| key.group) {
                compared += passing(state, group);
                if let Some(until) = filter.safe_until(state, group) {
                    visit(state, group, until);
                }
            }
        }
        state.steps.compared += compared;
    }
}
