//! Depth to which an action looks into each leaf queue, where the operator sets a number.
//!
//! # Source
//! docs/behaviour.md 1.11. What is kept are the best groups, exactly (14.3, Q8).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
};

use crate::{
    base::ids::{ClassId, GroupId, QueueId},
    pending::{Listing, Pending},
    state::group_key::GroupKey,
};

/// The groups that an action looks at, by where they are listed.
#[derive(Clone, Debug)]
pub(crate) struct DepthWindow {
    groups: BTreeMap<(QueueId, ClassId), BTreeSet<GroupKey>>,
}

impl DepthWindow {
    /// The first `depth` groups of each leaf queue of those that `may` have a turn in the action.
    pub(crate) fn new(pending: &Pending, depth: u32, mut may: impl FnMut(GroupId) -> bool) -> Self {
        let mut groups: BTreeMap<_, BTreeSet<GroupKey>> = BTreeMap::new();
        let mut heads: BinaryHeap<Reverse<(GroupKey, ClassId)>> = BinaryHeap::new();
        let mut class_queues = pending.class_queues().peekable();
        while let Some((queue, class, class_queue)) = class_queues.next() {
            heads.extend(class_queue.groups.first().map(|key| Reverse((*key, class))));
            if class_queues.peek().is_some_and(|next| next.0 == queue) {
                continue;
            }
            let mut left = depth;
            while left > 0
                && let Some(Reverse((key, class))) = heads.pop()
            {
                if may(key.group) {
                    groups.entry((queue, class)).or_default().insert(key);
                    left -= 1;
                }
                let next = pending.after(queue, class, key);
                heads.extend(next.map(|next| Reverse((next, class))));
            }
            heads.clear();
        }
        Self { groups }
    }

    /// The first of its groups that is listed there.
    pub(crate) fn first(&self, queue: QueueId, class: ClassId) -> Option<GroupKey> {
        self.groups.get(&(queue, class))?.first().copied()
    }

    /// The one that follows a key.
    pub(crate) fn after(&self, queue: QueueId, class: ClassId, key: GroupKey) -> Option<GroupKey> {
        use std::ops::Bound::{Excluded, Unbounded};
        let keys = self.groups.get(&(queue, class))?;
        keys.range((Excluded(key), Unbounded)).next().copied()
    }

    /// Tells whether a group that is listed there is one of its groups.
    pub(crate) fn holds(&self, at: Listing) -> bool {
        self.groups.get(&(at.queue, at.class)).is_some_and(|keys| keys.contains(&at.key))
    }

    /// Has a group that was at `from` stand where it is listed now; one that does not wait any more is left out.
    pub(crate) fn follow(&mut self, from: Listing, now: Option<Listing>) {
        if let Some(keys) = self.groups.get_mut(&(from.queue, from.class)) {
            keys.remove(&from.key);
        }
        if let Some(now) = now {
            self.groups.entry((now.queue, now.class)).or_default().insert(now.key);
        }
    }
}
