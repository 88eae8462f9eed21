//! Who waits: pending groups by queue and class, kept across cycles.
//!
//! Groups that could stand in for each other are one class. When one of them finds no room the others need not be
//! tried, and none of them until room may have come. So a cycle looks at what changed, not at what waits.

pub(crate) mod class;
pub(crate) mod class_queues;
pub(crate) mod depth;
pub(crate) mod eviction_history;
pub(crate) mod report;
pub(crate) mod running;
pub(crate) mod scheduling_order;

use std::collections::BTreeMap;

use crate::{
    base::{
        few::Few,
        id_set::IdSet,
        ids::{ClassId, ClassQueueId, Column, GroupId, NodeId, PodId, QueueId, ShapeId},
        resources::Charge,
        time::Timestamp,
    },
    config::Config,
    decided::{
        plan::{Unready, Verdict, Why},
        proof::{EvictionKind, Shortage},
    },
    evict::resume::ResumableSearches,
    pending::{
        class_queues::{ClassQueue, ClassQueues},
        eviction_history::EvictionHistory,
        running::Running,
    },
    state::{Cluster, gpu_milli, group_key::GroupKey, tree::Tree},
    told::pod::Place,
};

/// So many groups of a leaf queue are looked at where its standing follows from those that wait in it.
const FRONT_MAX: usize = 32;

/// Everything that waits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pending {
    /// Whether anything was told since the last plan.
    pub(crate) changed: bool,
    /// Whether room may have come since the last plan.
    grown: bool,
    /// Groups to be looked at again.
    touched: IdSet<GroupId>,
    classes: Classes,
    class_queues: ClassQueues,
    /// Per leaf queue: the first groups that wait in it. Filled as asked.
    fronts: BTreeMap<QueueId, Vec<(GroupKey, ClassId)>>,
    listings: Column<GroupId, Listed>,
    /// Groups that may be evicted.
    pub(crate) running: Running,
    /// Pods that the plan under way placed and may take back; none between two plans.
    pub(crate) placed_this_cycle: IdSet<PodId>,
    /// Whether the last plan took some back.
    pub(crate) has_retracted_before: bool,
    /// Groups that may run below their minimum.
    suspects: IdSet<GroupId>,
    /// Nominations of the last plan: void once anything changes.
    pub(crate) nominated: BTreeMap<PodId, Place>,
    /// Where the plan before nominated pods for places that still wait: they go there rather than elsewhere.
    pub(crate) nominated_nodes: BTreeMap<PodId, NodeId>,
    /// Where pods that were moved are to go, by group: what comes back are other pods.
    pub(crate) moves: BTreeMap<GroupId, Vec<NodeId>>,
    /// Groups that pods were evicted for or that were moved, and that have not got the room yet, in the order of the evictions.
    pub(crate) nominated_groups: Vec<GroupId>,
    /// How often a search for victims that began anew ran out of steps, for class queues where the last one did.
    patience: BTreeMap<(QueueId, ClassId, EvictionKind), u32>,
    /// ResumableSearches for victims that go on, and those that are over.
    pub(crate) searches: ResumableSearches,
    /// Who lost a place to whom since the last news.
    pub(crate) eviction_history: EvictionHistory,
    /// What the last plan was made with.
    pub(crate) config: Option<Config>,
    /// Room to write a class down.
    scratch: Vec<u32>,
    /// When something changes by time alone.
    pub(crate) wake: Option<Timestamp>,
}

/// Where a group is listed, if it is, as it is kept; one line of the cache.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(64))]
struct Listed(Option<(ClassQueueId, GroupKey)>);

/// Where a group is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Listing {
    pub(crate) queue: QueueId,
    pub(crate) class: ClassId,
    pub(crate) key: GroupKey,
}

/// What the groups of a class have in common.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    key: ClassKey,
    uses: u32,
    shapes: Vec<ShapeId>,
    /// What the next attempt asks for, GPU memory aside.
    pub(crate) ask: Charge,
    /// GPU memory that it asks for, in MiB.
    pub(crate) ask_mib: i64,
}

/// Structure, counts and pending shapes of a group, written as numbers.
type ClassKey = Box<[u32]>;

#[derive(Clone, Default, Debug)]
struct Classes {
    by_key: BTreeMap<ClassKey, ClassId>,
    rows: Column<ClassId, Option<Class>>,
    free: Vec<ClassId>,
    /// The last one that was asked for: groups that are alike come one after the other.
    last: Option<ClassId>,
}

impl Pending {
    /// Has a group looked at again, of which something changed.
    pub(crate) fn touch(&mut self, group: GroupId) {
        self.recheck(group);
        self.searches.forget(group);
        if self.running.contains(group) || self.listing(group).is_some() {
            self.searches.invalidate();
        }
    }

    /// Has a group looked at again.
    pub(crate) fn recheck(&mut self, group: GroupId) {
        self.touched.insert(group);
        self.changed = true;
    }

    /// Says that something happened that was not decided here, and that room may have come or gone by it.
    pub(crate) fn room_grew_outside(&mut self) {
        self.eviction_history.forget();
        self.room_grew();
    }

    /// Says that room may have come or gone, or that a bound may have moved.
    pub(crate) fn room_grew(&mut self) {
        self.wake();
        self.searches.invalidate();
    }

    /// Has all that wait tried again.
    pub(crate) fn wake(&mut self) {
        self.grown = true;
        self.changed = true;
    }

    /// Has a group judged in the next cycle that has anything to decide.
    pub(crate) fn suspect(&mut self, group: GroupId) {
        self.suspects.insert(group);
    }

    /// Groups that may run below their minimum; they are not asked for twice.
    pub(crate) fn suspects(&mut self) -> IdSet<GroupId> {
        std::mem::take(&mut self.suspects)
    }

    /// Where a group is listed, if it waits.
    pub(crate) fn listing(&self, group: GroupId) -> Option<Listing> {
        let (class_queue, key) = self.listings.get(group)?.0?;
        let class_queue = &self.class_queues[class_queue];
        Some(Listing { queue: class_queue.queue, class: class_queue.class, key })
    }

    /// What the groups of a class have in common, while one is listed.
    pub(crate) fn class(&self, class: ClassId) -> Option<&Class> {
        self.classes.rows.get(class)?.as_ref()
    }

    /// The first group of a class queue.
    pub(crate) fn head(&self, queue: QueueId, class: ClassId) -> Option<GroupKey> {
        self.class_queues.of(queue, class)?.groups.first().copied()
    }

    /// The group of a class queue that follows a key.
    pub(crate) fn after(&self, queue: QueueId, class: ClassId, key: GroupKey) -> Option<GroupKey> {
        self.class_queues.of(queue, class)?.groups.after(&key).copied()
    }

    /// The first group that waits in a leaf queue.
    ///
    /// # Cost
    /// In the number of classes of the queue.
    pub(crate) fn first(&self, queue: QueueId) -> Option<GroupKey> {
        self.class_queues
            .of_queue(queue)
            .filter_map(|(_, class_queue)| class_queue.groups.first().copied())
            .min()
    }

    /// The first groups that wait in a leaf queue, of all classes; [`ensure_front`](Self::ensure_front) has to have been
    /// called for it.
    pub(crate) fn front(&self, queue: QueueId) -> &[(GroupKey, ClassId)] {
        self.fronts.get(&queue).map_or(&[], Vec::as_slice)
    }

    /// Finds the first groups that wait in a leaf queue, at most [`FRONT_MAX`] of them.
    ///
    /// # Cost
    /// In the number of classes of the queue, once after a group of it was listed or went.
    pub(crate) fn ensure_front(&mut self, queue: QueueId) {
        use std::{cmp::Reverse, collections::BinaryHeap};
        let Self { fronts, class_queues, .. } = self;
        fronts.entry(queue).or_insert_with(|| {
            let lists = class_queues.of_queue(queue);
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
        });
    }

    /// Forgets the first groups of a queue, where they may be others now.
    #[inline]
    fn forget_front(&mut self, queue: QueueId) {
        if !self.fronts.is_empty() {
            self.fronts.remove(&queue);
        }
    }

    /// How many queues have groups that wait.
    pub(crate) fn queues(&self) -> usize {
        self.class_queues.queues()
    }

    /// ClassQueues that are worth a try.
    pub(crate) fn awake(&self) -> impl Iterator<Item = (QueueId, ClassId)> {
        self.class_queues.awake()
    }

    /// All class queues, worth a try or not.
    pub(crate) fn class_queues(&self) -> impl Iterator<Item = (QueueId, ClassId, &ClassQueue)> {
        self.class_queues.iter()
    }

    /// How often the search for victims of a class queue began anew and ran out of steps since it last came to an end.
    pub(crate) fn patience(&self, queue: QueueId, class: ClassId, kind: EvictionKind) -> u32 {
        self.patience.get(&(queue, class, kind)).copied().unwrap_or(0)
    }

    /// Notes whether the search of a class queue ran out of steps.
    pub(crate) fn note_patience(&mut self, at: (QueueId, ClassId, EvictionKind), spent: bool) {
        if spent {
            *self.patience.entry(at).or_default() += 1;
        } else {
            self.patience.remove(&at);
        }
    }

    /// Notes what counting showed of evictions for a class queue, or that it shows nothing; the groups of the class queue where that
    /// is news.
    pub(crate) fn note_proof(
        &mut self,
        (queue, class, kind): (QueueId, ClassId, EvictionKind),
        shortage: Option<Shortage>,
    ) -> impl Iterator<Item = GroupId> {
        let class_queue = self.class_queues.of_mut(queue, class).and_then(|class_queue| {
            let before = match shortage {
                Some(shortage) => {
                    class_queue.told.get_or_insert_default().proofs.insert(kind, shortage)
                }
                None => class_queue.told.as_mut().and_then(|told| told.proofs.remove(&kind)),
            };
            (before != shortage).then_some(&*class_queue)
        });
        class_queue
            .into_iter()
            .flat_map(|class_queue| class_queue.groups.iter().map(|key| key.group))
    }

    /// What counting showed of evictions for a group that waits.
    pub(crate) fn proofs(&self, group: GroupId) -> impl Iterator<Item = (EvictionKind, Shortage)> {
        let class_queue =
            self.listing(group).and_then(|at| self.class_queues.of(at.queue, at.class));
        let told = class_queue.and_then(|class_queue| class_queue.told.as_deref());
        told.into_iter().flat_map(|told| told.proofs.iter().map(|(kind, proof)| (*kind, *proof)))
    }

    /// Has a class queue wait until room may have come.
    pub(crate) fn sleep(&mut self, queue: QueueId, class: ClassId) {
        self.class_queues.sleep(queue, class);
    }

    /// Puts groups that were listed in their place.
    fn settle(&mut self) {
        self.class_queues.settle();
        self.running.settle();
    }

    /// Wakes every class queue where room may have come.
    pub(crate) fn wake_all(&mut self) {
        if std::mem::take(&mut self.grown) {
            self.class_queues.wake_all();
        }
    }
}

impl Cluster {
    /// Lists every touched group anew, or says why it does not wait for room.
    pub(crate) fn relist_touched(&mut self, said: &mut Vec<Verdict>) {
        let mut touched = std::mem::take(&mut self.pending.touched);
        let queues = self.queues.rows.len();
        self.pending.class_queues.reserve(touched.len().min(queues), queues);
        for group in touched.iter() {
            self.list(group, said);
        }
        touched.clear();
        self.pending.touched = touched;
        self.pending.settle();
        self.pending.wake_all();
    }

    /// Lists a group anew, or says why it does not wait for room; where it is listed.
    pub(crate) fn relist(&mut self, group: GroupId, said: &mut Vec<Verdict>) -> Option<Listing> {
        let listing = self.list(group, said);
        self.pending.settle();
        listing
    }

    /// As [`relist`](Self::relist), but the list is to be settled.
    fn list(&mut self, group: GroupId, said: &mut Vec<Verdict>) -> Option<Listing> {
        let before = self.unlist(group);
        self.rerun(group);
        let now = self.list_anew(group, said);
        // Not before, so that a class that stays its own keeps its number.
        if let Some(Listing { class, .. }) = before {
            self.declassify(class);
        }
        if now != before {
            // Whose turn it is while victims are tried depends on who waits.
            self.pending.searches.relisted(group, now, &self.groups[group].pods);
        }
        now
    }

    /// Lists a group that is not listed, if it waits; says where.
    fn list_anew(&mut self, group: GroupId, said: &mut Vec<Verdict>) -> Option<Listing> {
        match self.waits(group) {
            Ok(queue) => {
                let class = self.classify(group);
                let key = GroupKey::of(self, group).expect("a group that waits is live");
                let class_queue = self.pending.class_queues.list(queue, class, key);
                self.pending.forget_front(queue);
                *self.pending.listings.slot_of(group, self.groups.len()) =
                    Listed(Some((class_queue, key)));
                Some(Listing { queue, class, key })
            }
            Err(why) => {
                if let Some(why) = why {
                    self.say(group, why, said);
                }
                None
            }
        }
    }

    /// What the next step of a group of a class asks for; nothing once none is listed.
    pub(crate) fn class_ask(&self, class: ClassId) -> Charge {
        let Some(class) = self.pending.class(class) else { return Charge::default() };
        let mut ask = class.ask;
        if class.ask_mib > 0
            && let Some(memory_mib) = self.nodes.memory_min()
        {
            ask.0[2] += gpu_milli(class.ask_mib, memory_mib);
        }
        ask
    }

    /// Takes a group off the list; says where it was, of whose class it has a use still.
    fn unlist(&mut self, group: GroupId) -> Option<Listing> {
        let (class_queue, key) = self.pending.listings.get_mut(group)?.0.take()?;
        let (queue, class) = self.pending.class_queues.unlist(class_queue, &key);
        self.pending.forget_front(queue);
        Some(Listing { queue, class, key })
    }

    /// The queue in which a group waits for room, or why it does not.
    ///
    /// # Source
    /// spec/scheduling.md 1.11, the filters of allocate; 12.4 for what is told first: a group with too few pods is told
    /// nothing else.
    fn waits(&self, group: GroupId) -> Result<QueueId, Option<Why>> {
        let row = &self.groups[group];
        let facts = row.facts.as_ref().ok_or(None)?;
        let count = row.tree.count();
        if row.tree.sets.is_empty() {
            return Err(Some(Why::Malformed));
        }
        if count.pending == 0 && count.gated == 0 {
            let why = if count.nominated > 0 { Why::Nominated } else { Why::Satisfied };
            return Err((count.used + count.succeeded > 0).then_some(why));
        }
        if !row.tree.is_ready() {
            return Err(Some(self.not_ready(group)));
        }
        let queue = facts.queue.filter(|queue| self.queues.rows[*queue].attached);
        let queue = queue.ok_or(Some(Why::QueueMissing))?;
        if self.queues.rows[queue].parts {
            return Err(Some(Why::QueueNotLeaf));
        }
        if facts.held {
            return Err(Some(Why::Held));
        }
        if count.pending == 0 {
            return Err(Some(Why::Gated));
        }
        Ok(queue)
    }

    /// That a group has too few pods, and where.
    pub(crate) fn not_ready(&self, group: GroupId) -> Why {
        Why::NotReady(unready(&self.groups[group].tree))
    }

    /// The waiting pods of a group that are placed next.
    pub(crate) fn to_place(&self, group: GroupId) -> Few<PodId> {
        self.groups[group].tree.to_place(&|pod| self.pods.status[pod].is_waiting())
    }
}

/// The sub-groups that have too few pods.
fn unready(tree: &Tree) -> Vec<Unready> {
    tree.leaves
        .iter()
        .filter(|leaf| !leaf.is_ready())
        .map(|leaf| Unready {
            sub_group: leaf.name,
            min: leaf.min,
            alive: leaf.alive() + leaf.count.succeeded,
            gated: leaf.count.gated,
        })
        .collect()
}
