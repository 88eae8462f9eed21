//! Groups that are no victims since they are within their minimum run time.

use crate::{
    base::{
        ids::{GroupId, QueueId},
        time::Timestamp,
    },
    evict::{
        candidates::gives_milli,
        victims::{Rule, VictimFilter, Victims},
    },
    state::{State, group_key::GroupKey},
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
        state: &State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Option<Timestamp> {
        let mut first: Option<Timestamp> = None;
        Self::visit_safe(state, filter, queue, |_, until| {
            first = Some(first.map_or(until, |first| first.min(until)));
        });
        first
    }

    /// Sums the candidates that are safe for now; none where there are none.
    pub(crate) fn protected(
        state: &State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
    ) -> Option<Protected> {
        let gives = |group: GroupId| -> i64 {
            let leaves = &state.groups()[group].tree.leaves;
            leaves.iter().flat_map(|leaf| &leaf.pods).map(|pod| gives_milli(state, *pod)).sum()
        };
        let mut all: Option<Protected> = None;
        Self::visit_safe(state, filter, queue, |group, until| {
            let one = Protected { groups: 1, gpu_milli: gives(group), until };
            all = Some(all.map_or(one, |all| all.with(one)));
        });
        all
    }

    /// Visits the candidates that are safe for now, each with the time when it is safe no more.
    fn visit_safe(
        state: &State,
        filter: &VictimFilter<'_>,
        queue: impl Fn(QueueId) -> bool,
        mut visit: impl FnMut(GroupId, Timestamp),
    ) {
        let floor = match filter.rule {
            Rule::Below(priority) => GroupKey::last_of(priority),
            Rule::Anyone | Rule::SafeFrom(_) => GroupKey::FIRST,
        };
        let queues = filter.basis.pending.running.iter();
        queues
            .filter(|(id, _)| queue(*id) && filter.protects(state, *id))
            .flat_map(|(_, groups)| groups.since(&floor))
            .filter_map(|key| Some((key.group, filter.safe_until(state, key.group)?)))
            .for_each(|(group, until)| visit(group, until));
    }
}
