//! Steps that an action may take in a cycle, of which each queue has its part.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{GroupId, QueueId},
    decided::steps::Steps,
};

/// Steps of a turn beside those that it counts: what counting proves in vain costs as much as looking at so many nodes.
const TURN_STEPS: u64 = 32;

/// Steps of an action in one cycle.
///
/// A queue that took its part waits until all others had their turns, and goes on with what they left: so the groups of one
/// queue that find nothing, however many they are, keep none of another from its turn in each cycle.
#[derive(Debug)]
pub(super) struct Allowance {
    /// None, and nothing is bounded.
    most: Option<u64>,
    taken: u64,
    /// The most that each queue may take before the others had their turns; none where it may take what is left.
    part: Option<u64>,
    taken_by: BTreeMap<QueueId, u64>,
    put_off: BTreeSet<GroupId>,
    /// The groups that got something and have a turn again.
    served: BTreeSet<GroupId>,
}

impl Allowance {
    /// So many steps in all.
    pub(super) fn new(most: Option<u64>) -> Self {
        let most = most.map(|most| most.max(1));
        let (put_off, served) = (BTreeSet::new(), BTreeSet::new());
        Self { most, taken: 0, part: None, taken_by: BTreeMap::new(), put_off, served }
    }

    /// Has queues share the steps, each of which may come several times in a row.
    ///
    /// # Cost
    /// In the number of times; none where nothing is bounded.
    pub(super) fn share(&mut self, queues: impl Iterator<Item = QueueId>) {
        let Some(most) = self.most else { return };
        let (mut last, mut count) = (None, 0);
        for queue in queues {
            count += u64::from(last != Some(queue));
            last = Some(queue);
        }
        self.part = most.checked_div(count);
    }

    /// Takes the steps of a turn.
    pub(super) fn take(&mut self, queue: QueueId, steps: &Steps) {
        if self.most.is_none() {
            return;
        }
        let steps = steps.total() + TURN_STEPS * steps.groups;
        self.taken += steps;
        *self.taken_by.entry(queue).or_default() += steps;
    }

    /// Tells whether a group that got something did so before, so that its turn counts; notes one that has a turn again.
    pub(super) fn is_again(&mut self, group: GroupId, has_next: bool) -> bool {
        if self.most.is_none() {
            return false;
        }
        if has_next { !self.served.insert(group) } else { self.served.contains(&group) }
    }

    /// Tells whether all steps were taken.
    pub(super) fn is_spent(&self) -> bool {
        self.most.is_some_and(|most| self.taken >= most)
    }

    /// Tells whether a queue took its part, so that its turns are put off.
    pub(super) fn is_spent_by(&self, queue: QueueId) -> bool {
        let taken = || self.taken_by.get(&queue).copied().unwrap_or(0);
        self.part.is_some_and(|part| taken() >= part.max(1))
    }

    /// Puts off the turns of groups.
    pub(super) fn put_off(&mut self, groups: Vec<GroupId>) {
        self.put_off.extend(groups);
    }

    /// Gives back the groups whose turns were put off. From here on each queue may take what is left.
    pub(super) fn resume(&mut self) -> BTreeSet<GroupId> {
        self.part = None;
        std::mem::take(&mut self.put_off)
    }
}
