//! The first groups that wait in a queue, of all classes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use crate::{
    base::ids::{ClassId, QueueId},
    pending::Pending,
    state::group_key::GroupKey,
};

/// So many groups of a leaf queue are looked at where its standing follows from those that wait in it.
const FRONT_MAX: usize = 32;

/// The first groups of leaf queues, found as asked and kept while no list changes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Fronts {
    by_queue: BTreeMap<QueueId, Vec<(GroupKey, ClassId)>>,
    /// Number of changes to the lists at that time.
    relisted: u64,
}

impl Fronts {
    /// Finds the first groups that wait in a leaf queue, at most [`FRONT_MAX`] of them.
    ///
    /// # Cost
    /// In the number of classes of the queue, once after some group was listed or went.
    pub(crate) fn of(&mut self, pending: &Pending, queue: QueueId) -> &[(GroupKey, ClassId)] {
        if self.relisted != pending.relisted {
            self.by_queue.clear();
            self.relisted = pending.relisted;
        }
        self.by_queue.entry(queue).or_insert_with(|| find(pending, queue))
    }
}

fn find(pending: &Pending, queue: QueueId) -> Vec<(GroupKey, ClassId)> {
    let lists = pending.class_queues.of_queue(queue);
    let mut lists: Vec<_> =
        lists.map(|(class, class_queue)| (class, class_queue.groups.iter())).collect();
    if let [(class, groups)] = lists.as_slice() {
        return groups.clone().take(FRONT_MAX).map(|key| (*key, *class)).collect();
    }
    let mut heads = BinaryHeap::with_capacity(lists.len());
    for (at, (_, groups)) in lists.iter_mut().enumerate() {
        heads.extend(groups.next().map(|key| Reverse((*key, at))));
    }
    let mut front = Vec::new();
    while front.len() < FRONT_MAX
        && let Some(Reverse((key, at))) = heads.pop()
    {
        let (class, groups) = &mut lists[at];
        front.push((key, *class));
        heads.extend(groups.next().map(|key| Reverse((*key, at))));
    }
    front
}
