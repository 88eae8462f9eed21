//! Groups that wait: pending groups by queue and class, kept across cycles.
//!
//! Groups that could stand in for each other are one class. When one of them finds no room the others need not be
//! tried, and none of them until room may have come. So a cycle looks at what changed, not at what waits.

pub(crate) mod class;
pub(crate) mod class_queues;
pub(crate) mod depth;
pub(crate) mod eviction_history;
pub(crate) mod front;
pub(crate) mod patience;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod running;
pub(crate) mod scheduling_order;
pub(crate) mod search_epoch;
pub(crate) mod wait;

use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{ClassId, ClassQueueId, Column, GroupId, PodId, QueueId, ShapeId},
        resources::{Charge, QueueLane},
        time::Timestamp,
    },
    decided::{
        plan::Verdict,
        proof::{EvictionKind, Shortage},
    },
    pending::{
        class_queues::{ClassQueue, ClassQueues},
        eviction_history::EvictionHistory,
        patience::Patience,
        rounds::Rounds,
        running::Running,
        search_epoch::{SearchEpoch, Stood},
        wait::Wait,
    },
    state::{
        State,
        changes::{Changes, Kind},
        gpu_milli,
        group_key::GroupKey,
    },
};

/// Everything that waits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pending {
    /// True if anything was told since the last plan.
    pub(crate) changed: bool,
    grown: Grown,
    /// Groups to be looked at again.
    touched: IdSet<GroupId>,
    classes: Classes,
    /// Uses of classes that are taken away once the cycle is over.
    kept_classes: Vec<ClassId>,
    class_queues: ClassQueues,
    /// Number of times that a group was listed or taken off a list.
    relisted: u64,
    listings: Column<GroupId, Listed>,
    /// Groups that may be evicted.
    pub(crate) running: Running,
    /// Pods that the plan under way placed and may take back; none between two plans.
    pub(crate) placed_this_cycle: IdSet<PodId>,
    /// True if the last plan took some back.
    pub(crate) has_retracted_before: bool,
    /// Groups that may run below their minimum.
    suspects: IdSet<GroupId>,
    /// Of class queues whose last search for victims ran out of steps.
    patience: BTreeMap<(QueueId, ClassId, EvictionKind), Patience>,
    /// Turns, where a cycle is too short for all.
    pub(crate) rounds: Rounds,
    /// The number of changes to what searches for victims read.
    pub(crate) epoch: SearchEpoch,
    /// Groups that lost places since the last news, and to whom.
    pub(crate) eviction_history: EvictionHistory,
    /// Class queues whose reason stays with other numbers than its groups were told, each with the first of them that has
    /// yet to be told.
    renumbered: BTreeMap<(QueueId, ClassId), GroupKey>,
    /// Room to write a class down.
    scratch: Vec<u32>,
    /// Time when something changes by time alone.
    pub(crate) wake: Option<Timestamp>,
}

/// Room that may have come since all who wait were woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Grown {
    #[default]
    No,
    /// By nominations that this cycle took back, most of which are made again.
    ForNow,
    Lasting,
}

/// Place of a group in the lists, if it has one, as it is kept; one line of the cache.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(64))]
struct Listed(Option<(ClassQueueId, GroupKey)>);

/// Place of a group in the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Listing {
    pub(crate) queue: QueueId,
    pub(crate) class: ClassId,
    pub(crate) key: GroupKey,
}

/// Everything that the groups of a class have in common.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    key: ClassKey,
    uses: u32,
    shapes: Vec<ShapeId>,
    /// Requests of the next attempt, GPU memory aside.
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
    /// Takes in what changed in the state; says whether that made it look at anything again.
    ///
    /// # Cost
    /// In the groups of which something changed.
    pub(crate) fn absorb(&mut self, changes: &mut Changes) {
        let mut is_unlike = changes.take(Kind::AmountsMoved);
        let mut is_news = changes.take(Kind::FromOutside);
        for group in &changes.arrivals {
            is_news |= !self.eviction_history.comes_back(*group);
        }
        changes.arrivals.clear();
        is_unlike |= is_news && self.eviction_history.forget();
        // Whatever touches a group is told: an empty set is not walked through after every placement.
        if changes.take(Kind::Told) {
            self.changed = true;
            let is_read = |group| self.running.contains(group) || self.listing(group).is_some();
            is_unlike = is_unlike || changes.touched.iter().any(is_read);
            if self.touched.is_empty() {
                std::mem::swap(&mut self.touched, &mut changes.touched);
            } else {
                for group in changes.touched.iter() {
                    self.touched.insert(group);
                }
                changes.touched.clear();
            }
        }
        if changes.take(Kind::RoomGrew) {
            self.grown = Grown::Lasting;
        }
        if is_unlike {
            self.epoch.end();
        }
    }

    /// Has a pod of a group wait for what it was nominated for as if it was for nothing; one that leaves is nominated for
    /// nothing again: it is made anew.
    pub(crate) fn take_nomination_back(&mut self, pod: PodId, group: Option<GroupId>, waits: bool) {
        self.changed = true;
        match group {
            Some(group) if waits => {
                self.grown = self.grown.max(Grown::ForNow);
                let stood = self.listing(group);
                // Who has news is to be asked.
                let slept = !self.touched.contains(group)
                    && stood.is_some_and(|at| !self.is_awake(at.queue, at.class));
                self.epoch.owe_nomination(pod, group, Stood { listing: stood, slept });
            }
            Some(_) | None => {
                self.grown = Grown::Lasting;
                self.epoch.end();
            }
        }
        if let Some(group) = group {
            self.touched.insert(group);
        }
    }

    /// Has a group judged in the next cycle that has anything to decide.
    pub(crate) fn suspect(&mut self, group: GroupId) {
        self.suspects.insert(group);
    }

    /// Groups that may run below their minimum; they are not asked for twice.
    pub(crate) fn suspects(&mut self) -> IdSet<GroupId> {
        std::mem::take(&mut self.suspects)
    }

    /// Finds out where a group is listed, if it waits.
    pub(crate) fn listing(&self, group: GroupId) -> Option<Listing> {
        let (class_queue, key) = self.listings.get(group)?.0?;
        let class_queue = &self.class_queues[class_queue];
        Some(Listing { queue: class_queue.queue, class: class_queue.class, key })
    }

    /// Notes that the cycle is over.
    pub(crate) fn close(&mut self, state: &mut State) {
        self.epoch.close();
        for class in std::mem::take(&mut self.kept_classes) {
            self.declassify(state, class);
        }
    }

    /// Gives what the groups of a class have in common, while one is listed.
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

    /// Counts the queues with groups that wait.
    pub(crate) fn queues(&self) -> usize {
        self.class_queues.queues()
    }

    /// Class queues that are worth a try.
    pub(crate) fn awake(&self) -> impl Iterator<Item = (QueueId, ClassId)> {
        self.class_queues.awake()
    }

    /// Tells whether a class queue is worth a try.
    pub(crate) fn is_awake(&self, queue: QueueId, class: ClassId) -> bool {
        self.class_queues.is_awake(queue, class)
    }

    /// All class queues, worth a try or not.
    pub(crate) fn class_queues(&self) -> impl Iterator<Item = (QueueId, ClassId, &ClassQueue)> {
        self.class_queues.iter()
    }

    /// Notes what counting showed of evictions for a class queue, or that it shows nothing; the groups of the class queue where that
    /// is news.
    pub(crate) fn note_proof(
        &mut self,
        queue: QueueId,
        class: ClassId,
        kind: EvictionKind,
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

    /// Lists what counting showed of evictions for a group that waits.
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
    ///
    /// While a round goes on, nominations that were taken back give nobody room until it is seen which of them are not made
    /// again: all who were turned down would be asked again in every cycle, and no round would end.
    pub(crate) fn wake_all(&mut self) {
        let has_grown = match self.grown {
            Grown::No => false,
            Grown::ForNow => !self.rounds.is_under_way(),
            Grown::Lasting => true,
        };
        if has_grown {
            self.grown = Grown::No;
            self.rounds.room_grew();
            self.class_queues.wake_all();
        }
    }

    /// Takes nominations that were not made again where they were as room that has come, and wakes all where some has.
    pub(crate) fn give_up_nominations(&mut self) {
        if self.grown == Grown::ForNow {
            let stand = self.epoch.nominations_stand();
            self.grown = if stand { Grown::No } else { Grown::Lasting };
        }
        self.wake_all();
    }
}

impl Pending {
    /// Lists every touched group anew, or says why it does not wait for room.
    pub(crate) fn relist_touched(&mut self, state: &mut State, said: &mut Vec<Verdict>) {
        let mut touched = std::mem::take(&mut self.touched);
        let queues = state.queues().rows.len();
        self.class_queues.reserve(touched.len().min(queues), queues);
        for group in touched.iter() {
            self.list(state, group, said);
        }
        touched.clear();
        self.touched = touched;
        self.settle();
        self.wake_all();
    }

    /// Lists a group anew, or says why it does not wait for room; where it is listed.
    pub(crate) fn relist(
        &mut self,
        state: &mut State,
        group: GroupId,
        said: &mut Vec<Verdict>,
    ) -> Option<Listing> {
        let listing = self.list(state, group, said);
        self.settle();
        listing
    }

    /// As [`relist`](Self::relist), but the list is to be settled.
    fn list(
        &mut self,
        state: &mut State,
        group: GroupId,
        said: &mut Vec<Verdict>,
    ) -> Option<Listing> {
        let before = self.unlist(group);
        self.rerun(state, group);
        let now = self.list_anew(state, group, said);
        // Not before, so that a class that stays its own keeps its number; where it stood with what it was nominated for
        // not in this cycle, so that it is the same once it is nominated again.
        if let Some(Listing { class, .. }) = before {
            if self.epoch.stood(group).is_some_and(|stood| stood.listing == before) {
                self.kept_classes.push(class);
            } else {
                self.declassify(state, class);
            }
        }
        if now != before {
            // Whose turn it is while victims are tried depends on who waits.
            self.epoch.relisted(group, now, &state.groups()[group].pods);
        }
        now
    }

    /// Lists a group that is not listed, if it waits; says where.
    fn list_anew(
        &mut self,
        state: &mut State,
        group: GroupId,
        said: &mut Vec<Verdict>,
    ) -> Option<Listing> {
        match wait::waits(state, group) {
            Wait::ForRoom(queue) => {
                let class = self.classify(state, group);
                let key = GroupKey::of(state, group).expect("a group that waits is live");
                let at = Listing { queue, class, key };
                let sleeps = self.sleeps_on(state, group, at);
                let class_queue = self.class_queues.list(queue, class, key);
                if sleeps {
                    self.class_queues.sleep(queue, class);
                } else if !self.stands_on(state, group, at) {
                    self.rounds.came(at);
                }
                self.relisted += 1;
                *self.listings.slot_of(group, state.groups().len()) =
                    Listed(Some((class_queue, key)));
                Some(at)
            }
            Wait::No(why) => {
                report::say(state, group, why, said);
                None
            }
            Wait::Untold => None,
        }
    }

    /// Tells whether a group comes to be listed by its nominations alone, which are most likely made again, among others who
    /// need not be asked for that.
    fn sleeps_on(&self, state: &State, group: GroupId, at: Listing) -> bool {
        self.grown == Grown::ForNow
            && self.epoch.stood(group).is_some_and(|stood| {
                if self.owes(state, group) {
                    !self.is_awake(at.queue, at.class)
                } else {
                    stood.slept && stood.listing == Some(at)
                }
            })
    }

    /// Tells whether a group is listed where it stood before its nominations were taken back, or until they are made again.
    fn stands_on(&self, state: &State, group: GroupId, at: Listing) -> bool {
        let stood = self.epoch.stood(group);
        stood.is_some_and(|stood| stood.listing == Some(at) || self.owes(state, group))
    }

    /// Sums what the next step of a group of a class asks for; nothing once none is listed.
    pub(crate) fn class_ask(&self, state: &State, class: ClassId) -> Charge {
        let Some(class) = self.class(class) else { return Charge::default() };
        let mut ask = class.ask;
        if class.ask_mib > 0
            && let Some(memory_mib) = state.nodes().memory_min()
        {
            ask[QueueLane::Gpu] += gpu_milli(class.ask_mib, memory_mib);
        }
        ask
    }

    /// Takes a group off the list; says where it was, of whose class it has a use still.
    fn unlist(&mut self, group: GroupId) -> Option<Listing> {
        let (class_queue, key) = self.listings.get_mut(group)?.0.take()?;
        let (queue, class) = self.class_queues.unlist(class_queue, &key);
        self.relisted += 1;
        Some(Listing { queue, class, key })
    }
}
