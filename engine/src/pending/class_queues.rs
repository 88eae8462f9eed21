//! Groups that wait, by queue and class.
//!
//! A class queue is a row that its groups know, so that nothing is searched for among all that wait when one of them comes,
//! moves on or goes.

use std::collections::BTreeMap;

use crate::{
    base::{
        few::Few,
        id_set::IdSet,
        ids::{ClassId, ClassQueueId, Column, FreshId, GroupId, QueueId},
        min_set::MinSet,
    },
    decided::{
        plan::Why,
        proof::{EvictionKind, Shortage},
    },
    state::group_key::GroupKey,
};

/// The groups of one class in one queue; one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct ClassQueue {
    pub(super) queue: QueueId,
    pub(super) class: ClassId,
    pub(crate) groups: MinSet<GroupKey>,
    /// Reasons that its groups were told; none of a class queue that never had to wait.
    pub(super) told: Option<Box<Told>>,
}

/// Reasons that the groups of a class queue were told.
#[derive(Clone, Default, Debug)]
pub(super) struct Told {
    pub(super) why: Option<Why>,
    /// Groups that were not told that; some may have left since.
    pub(super) unsaid: Few<GroupId>,
    /// Proofs that evictions do not help, where counting showed it when the class queue was asked last.
    pub(super) proofs: BTreeMap<EvictionKind, Shortage>,
}

/// All class queues of a queue and a class with groups that wait.
#[derive(Clone, Default, Debug)]
pub(super) struct ClassQueues {
    /// Per queue: its class queues by class.
    by_queue: Column<QueueId, MinSet<(ClassId, ClassQueueId)>>,
    /// The queues with class queues.
    queues: IdSet<QueueId>,
    rows: Column<ClassQueueId, ClassQueue>,
    free: Vec<ClassQueueId>,
    /// Class queues that are not worth a try.
    asleep: IdSet<ClassQueueId>,
    /// Class queues with groups that are not yet in order; none between two calls.
    unsettled: Vec<ClassQueueId>,
    /// Per class queue: the last of these groups. Few class queues have some, so that it is no part of their rows.
    last_fresh: Column<ClassQueueId, Option<FreshId>>,
    /// These groups, each with the one of its class queue before it.
    fresh: Column<FreshId, (GroupKey, Option<FreshId>)>,
    /// Room to put those of a class queue in order.
    scratch: Vec<GroupKey>,
}

impl std::ops::Index<ClassQueueId> for ClassQueues {
    type Output = ClassQueue;

    fn index(&self, class_queue: ClassQueueId) -> &ClassQueue {
        &self.rows[class_queue]
    }
}

impl ClassQueues {
    /// The class queue of a queue and a class.
    pub(super) fn of(&self, queue: QueueId, class: ClassId) -> Option<&ClassQueue> {
        self.id(queue, class).map(|class_queue| &self.rows[class_queue])
    }

    /// The class queue of a queue and a class, to be changed.
    pub(super) fn of_mut(&mut self, queue: QueueId, class: ClassId) -> Option<&mut ClassQueue> {
        self.id(queue, class).map(|class_queue| &mut self.rows[class_queue])
    }

    fn id(&self, queue: QueueId, class: ClassId) -> Option<ClassQueueId> {
        let of_queue = self.by_queue.get(queue)?;
        let &(found, class_queue) = of_queue.from(&(class, ClassQueueId::new(0)))?;
        (found == class).then_some(class_queue)
    }

    /// Those of a queue, by class.
    pub(super) fn of_queue(&self, queue: QueueId) -> impl Iterator<Item = (ClassId, &ClassQueue)> {
        let class_queues = self.by_queue.get(queue).into_iter().flat_map(MinSet::iter);
        class_queues.map(|(class, class_queue)| (*class, &self.rows[*class_queue]))
    }

    /// All of them, by queue and class.
    pub(super) fn iter(&self) -> impl Iterator<Item = (QueueId, ClassId, &ClassQueue)> {
        self.ids().map(|(queue, class, class_queue)| (queue, class, &self.rows[class_queue]))
    }

    /// Those that are worth a try, by queue and class.
    pub(super) fn awake(&self) -> impl Iterator<Item = (QueueId, ClassId)> {
        let awake = self.ids().filter(|(.., class_queue)| !self.asleep.contains(*class_queue));
        awake.map(|(queue, class, _)| (queue, class))
    }

    /// Tells whether one is worth a try.
    pub(super) fn is_awake(&self, queue: QueueId, class: ClassId) -> bool {
        self.id(queue, class).is_some_and(|class_queue| !self.asleep.contains(class_queue))
    }

    /// Counts the queues that have some.
    pub(super) fn queues(&self) -> usize {
        self.queues.len()
    }

    fn ids(&self) -> impl Iterator<Item = (QueueId, ClassId, ClassQueueId)> {
        self.queues.iter().flat_map(|queue| {
            self.by_queue[queue]
                .iter()
                .map(move |(class, class_queue)| (queue, *class, *class_queue))
        })
    }

    /// Makes room for so many class queues more, of so many queues in all.
    pub(super) fn reserve(&mut self, more: usize, queues: usize) {
        self.rows.reserve(more.saturating_sub(self.free.len()));
        self.by_queue.reserve(queues.saturating_sub(self.by_queue.len()));
    }

    /// Lists a group, which is put in its place when the list is settled.
    pub(super) fn list(&mut self, queue: QueueId, class: ClassId, key: GroupKey) -> ClassQueueId {
        let id = self.id(queue, class).unwrap_or_else(|| self.add(queue, class));
        self.asleep.remove(id);
        let class_queue = &mut self.rows[id];
        if let Some(told) = &mut class_queue.told
            && told.why.is_some()
        {
            told.unsaid.push(key.group);
        }
        if class_queue.groups.is_empty() {
            class_queue.groups.insert(key);
        } else {
            let last = self.last_fresh.slot(id);
            if last.is_none() {
                self.unsettled.push(id);
            }
            *last = Some(self.fresh.push((key, *last)));
        }
        id
    }

    fn add(&mut self, queue: QueueId, class: ClassId) -> ClassQueueId {
        let id = self.free.pop().unwrap_or_else(|| self.rows.push(ClassQueue::new(queue, class)));
        (self.rows[id].queue, self.rows[id].class) = (queue, class);
        self.by_queue.slot(queue).insert((class, id));
        self.queues.insert(queue);
        id
    }

    /// Takes a group away, and its class queue with the last one.
    pub(super) fn unlist(&mut self, id: ClassQueueId, key: &GroupKey) -> (QueueId, ClassId) {
        let class_queue = &mut self.rows[id];
        let (queue, class) = (class_queue.queue, class_queue.class);
        class_queue.groups.remove(key);
        let fresh = self.last_fresh.get(id).copied().flatten();
        if class_queue.groups.is_empty() && fresh.is_none() {
            class_queue.told = None;
            let of_queue = &mut self.by_queue[queue];
            of_queue.remove(&(class, id));
            if of_queue.is_empty() {
                self.queues.remove(queue);
            }
            self.asleep.remove(id);
            self.free.push(id);
        }
        (queue, class)
    }

    /// Puts groups that were listed in their place.
    pub(super) fn settle(&mut self) {
        if self.unsettled.is_empty() {
            return;
        }
        for id in self.unsettled.drain(..) {
            let class_queue = &mut self.rows[id];
            let mut next = self.last_fresh[id].take();
            while let Some(at) = next {
                let (key, before) = self.fresh[at];
                self.scratch.push(key);
                next = before;
            }
            // As they came, which is their order most of the time.
            self.scratch.reverse();
            class_queue.groups.merge(self.scratch.drain(..));
        }
        self.fresh.clear();
    }

    /// Has a class queue wait until all are woken.
    pub(super) fn sleep(&mut self, queue: QueueId, class: ClassId) {
        if let Some(class_queue) = self.id(queue, class) {
            self.asleep.insert(class_queue);
        }
    }

    /// Has a class queue be worth a try.
    pub(super) fn wake(&mut self, queue: QueueId, class: ClassId) {
        if let Some(class_queue) = self.id(queue, class) {
            self.asleep.remove(class_queue);
        }
    }

    /// Wakes every class queue.
    pub(super) fn wake_all(&mut self) {
        self.asleep.clear();
    }
}

impl ClassQueue {
    fn new(queue: QueueId, class: ClassId) -> Self {
        Self { queue, class, groups: MinSet::default(), told: None }
    }
}
