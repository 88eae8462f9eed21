//! Groups that wait, by queue and class.
//!
//! A pair is a row that its groups know, so that nothing is searched for among all that wait when one of them comes,
//! moves on or goes.

use std::collections::BTreeMap;

use crate::{
    base::{
        few::Few,
        id_set::IdSet,
        ids::{ClassId, Column, FreshId, GroupId, PairId, QueueId},
        min_set::LeastSet,
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
pub(crate) struct Pair {
    pub(super) queue: QueueId,
    pub(super) class: ClassId,
    pub(crate) groups: LeastSet<GroupKey>,
    /// What its groups were told; none of a pair that never had to wait.
    pub(super) told: Option<Box<Told>>,
}

/// What the groups of a pair were told of why it waits.
#[derive(Clone, Default, Debug)]
pub(super) struct Told {
    pub(super) why: Option<Why>,
    /// Groups that were not told that; some may have left since.
    pub(super) unsaid: Few<GroupId>,
    /// That evictions do not help, where counting showed it when the pair was asked last.
    pub(super) proofs: BTreeMap<EvictionKind, Shortage>,
}

/// All pairs of a queue and a class with groups that wait.
#[derive(Clone, Default, Debug)]
pub(super) struct Pairs {
    /// Per queue: its pairs by class.
    by_queue: Column<QueueId, LeastSet<(ClassId, PairId)>>,
    /// The queues with pairs.
    queues: IdSet<QueueId>,
    rows: Column<PairId, Pair>,
    free: Vec<PairId>,
    /// Pairs that are not worth a try.
    asleep: IdSet<PairId>,
    /// Pairs with groups that are not yet in order; none between two calls.
    unsettled: Vec<PairId>,
    /// Per pair: the last of these groups. Few pairs have some, so that it is no part of their rows.
    last_fresh: Column<PairId, Option<FreshId>>,
    /// These groups, each with the one of its pair before it.
    fresh: Column<FreshId, (GroupKey, Option<FreshId>)>,
    /// Room to put those of a pair in order.
    scratch: Vec<GroupKey>,
}

impl std::ops::Index<PairId> for Pairs {
    type Output = Pair;

    fn index(&self, pair: PairId) -> &Pair {
        &self.rows[pair]
    }
}

impl Pairs {
    /// The pair of a queue and a class.
    pub(super) fn of(&self, queue: QueueId, class: ClassId) -> Option<&Pair> {
        self.id(queue, class).map(|pair| &self.rows[pair])
    }

    /// The pair of a queue and a class, to be changed.
    pub(super) fn of_mut(&mut self, queue: QueueId, class: ClassId) -> Option<&mut Pair> {
        self.id(queue, class).map(|pair| &mut self.rows[pair])
    }

    fn id(&self, queue: QueueId, class: ClassId) -> Option<PairId> {
        let of_queue = self.by_queue.get(queue)?;
        let &(found, pair) = of_queue.from(&(class, PairId::new(0)))?;
        (found == class).then_some(pair)
    }

    /// Those of a queue, by class.
    pub(super) fn of_queue(&self, queue: QueueId) -> impl Iterator<Item = (ClassId, &Pair)> {
        let pairs = self.by_queue.get(queue).into_iter().flat_map(LeastSet::iter);
        pairs.map(|(class, pair)| (*class, &self.rows[*pair]))
    }

    /// All of them, by queue and class.
    pub(super) fn iter(&self) -> impl Iterator<Item = (QueueId, ClassId, &Pair)> {
        self.ids().map(|(queue, class, pair)| (queue, class, &self.rows[pair]))
    }

    /// Those that are worth a try, by queue and class.
    pub(super) fn awake(&self) -> impl Iterator<Item = (QueueId, ClassId)> {
        let awake = self.ids().filter(|(.., pair)| !self.asleep.contains(*pair));
        awake.map(|(queue, class, _)| (queue, class))
    }

    /// How many queues have some.
    pub(super) fn queues(&self) -> usize {
        self.queues.len()
    }

    fn ids(&self) -> impl Iterator<Item = (QueueId, ClassId, PairId)> {
        self.queues.iter().flat_map(|queue| {
            self.by_queue[queue].iter().map(move |(class, pair)| (queue, *class, *pair))
        })
    }

    /// Makes room for so many pairs more, of so many queues in all.
    pub(super) fn reserve(&mut self, more: usize, queues: usize) {
        self.rows.reserve(more.saturating_sub(self.free.len()));
        self.by_queue.reserve(queues.saturating_sub(self.by_queue.len()));
    }

    /// Lists a group, which is put in its place when the list is settled.
    pub(super) fn list(&mut self, queue: QueueId, class: ClassId, key: GroupKey) -> PairId {
        let id = self.id(queue, class).unwrap_or_else(|| self.add(queue, class));
        self.asleep.remove(id);
        let pair = &mut self.rows[id];
        if let Some(told) = &mut pair.told
            && told.why.is_some()
        {
            told.unsaid.push(key.group);
        }
        if pair.groups.is_empty() {
            pair.groups.insert(key);
        } else {
            let last = self.last_fresh.slot(id);
            if last.is_none() {
                self.unsettled.push(id);
            }
            *last = Some(self.fresh.push((key, *last)));
        }
        id
    }

    fn add(&mut self, queue: QueueId, class: ClassId) -> PairId {
        let id = self.free.pop().unwrap_or_else(|| self.rows.push(Pair::new(queue, class)));
        (self.rows[id].queue, self.rows[id].class) = (queue, class);
        self.by_queue.slot(queue).insert((class, id));
        self.queues.insert(queue);
        id
    }

    /// Takes a group away, and its pair with the last one.
    pub(super) fn unlist(&mut self, id: PairId, key: &GroupKey) -> (QueueId, ClassId) {
        let pair = &mut self.rows[id];
        let (queue, class) = (pair.queue, pair.class);
        pair.groups.remove(key);
        let fresh = self.last_fresh.get(id).copied().flatten();
        if pair.groups.is_empty() && fresh.is_none() {
            pair.told = None;
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
            let pair = &mut self.rows[id];
            let mut next = self.last_fresh[id].take();
            while let Some(at) = next {
                let (key, before) = self.fresh[at];
                self.scratch.push(key);
                next = before;
            }
            // As they came, which is their order most of the time.
            self.scratch.reverse();
            pair.groups.merge(self.scratch.drain(..));
        }
        self.fresh.clear();
    }

    /// Has a pair wait until all are woken.
    pub(super) fn sleep(&mut self, queue: QueueId, class: ClassId) {
        if let Some(pair) = self.id(queue, class) {
            self.asleep.insert(pair);
        }
    }

    /// Wakes every pair.
    pub(super) fn wake_all(&mut self) {
        self.asleep.clear();
    }
}

impl Pair {
    fn new(queue: QueueId, class: ClassId) -> Self {
        Self { queue, class, groups: LeastSet::default(), told: None }
    }
}
