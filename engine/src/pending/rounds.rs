//! Turns of actions over cycles that are too short for all who wait.
//!
//! A group that finds no room may cost as much as placing a thousand pods, by a search among nodes or for victims, and whoever
//! creates pods may make any number of such groups that differ. So that the places of others are told meanwhile, an action
//! stops after some steps, and the next cycle goes on with those who had no turn: all have had theirs before one has
//! another.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{ClassId, GroupId, QueueId, Symbol},
        resources::Charge,
        time::Timestamp,
    },
    decided::proof::EvictionKind,
    pending::{Listing, Pending, depth::DepthWindow},
    state::{State, group_key::GroupKey},
};

/// A class of waiting groups of a queue.
pub(crate) type Pair = (QueueId, ClassId);

/// A namespace whose groups wait in a queue.
pub(crate) type Sharer = (QueueId, Symbol);

/// Rounds of actions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Rounds {
    /// Of the actions that evict, in the order of [`EvictionKind::ALL`].
    evicting: [Round; EvictionKind::ALL.len()],
    /// Of allocate; none where all had their turns in the last cycle.
    allocating: Option<Left>,
    /// True where allocate stopped as groups got places that cost much: it goes on in the order of all who wait, in which those
    /// are the first whose room it is.
    goes_by_order: bool,
    /// Those who had a turn of allocate since all had one; none where all had one in the last cycle.
    asked: BTreeSet<Sharer>,
    /// Those whom allocate passed over in the cycles of a round.
    passed: Passed,
    /// The class queues where such may find room since.
    anew: BTreeSet<Pair>,
}

/// A round of one action: none is under way where nobody had a turn.
#[derive(Clone, Default, Debug)]
struct Round {
    had: BTreeSet<Pair>,
    left: Left,
    /// Those who had a turn of the action since all had one.
    asked: BTreeSet<Sharer>,
    passed: Passed,
    /// Time when something changes by time alone for those who had a turn.
    until: Option<Timestamp>,
    /// The epoch in which it began.
    epoch: u64,
}

/// The first groups of the class queues that had no turn before an action stopped. They come first in the next cycle, whatever
/// came meanwhile, so that nobody who makes new groups all the time keeps them from their turns.
type Left = BTreeSet<GroupId>;

/// Per class queue: up to where groups were passed over, which have no more turns. What keeps them out need not keep out those
/// that follow.
pub(crate) type Passed = BTreeMap<Pair, GroupKey>;

impl Rounds {
    /// Tells whether a class has its turn now: it had none in this round, and had one in the round of the action before,
    /// which costs others less.
    pub(crate) fn is_due(&self, kind: EvictionKind, pair: Pair) -> bool {
        let at = kind as usize;
        let before = at.checked_sub(1).map(|before| &self.evicting[before].had);
        !self.evicting[at].had.contains(&pair)
            && before.is_none_or(|had| had.is_empty() || had.contains(&pair))
    }

    /// Tells whether a round of some action goes on that an earlier cycle began.
    pub(crate) fn is_under_way(&self) -> bool {
        self.allocating.is_some() || self.evicting.iter().any(|round| !round.had.is_empty())
    }

    /// Tells whether a round of an action that evicts goes on that an earlier cycle began.
    pub(crate) fn is_evicting(&self, kind: EvictionKind) -> bool {
        !self.evicting[kind as usize].had.is_empty()
    }

    /// Notes that a class has its turn, in this epoch.
    pub(crate) fn note(&mut self, kind: EvictionKind, pair: Pair, epoch: u64) {
        let round = &mut self.evicting[kind as usize];
        if round.had.is_empty() {
            round.epoch = epoch;
        }
        round.had.insert(pair);
    }

    /// Notes when something changes by time alone for those who had a turn in this cycle; when it does for any of the round.
    pub(crate) fn note_wake(
        &mut self,
        kind: EvictionKind,
        at: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let until = &mut self.evicting[kind as usize].until;
        *until = [*until, at].into_iter().flatten().min();
        *until
    }

    /// Ends a round in which all had their turns; tells whether something changed since it began. It does not end, and nothing is
    /// told, where more are to come from the action before.
    pub(crate) fn end(&mut self, kind: EvictionKind, epoch: u64, now: Timestamp) -> Option<bool> {
        let at = kind as usize;
        if at.checked_sub(1).is_some_and(|before| !self.evicting[before].had.is_empty()) {
            return None;
        }
        let round = &mut self.evicting[at];
        let has_changed = round.epoch != epoch || round.until.is_some_and(|until| until <= now);
        *round = Round::default();
        Some(has_changed)
    }

    /// Takes the groups that allocate left without a turn, where it goes on with a round.
    pub(crate) fn take_left(&mut self) -> Option<Left> {
        self.allocating.take()
    }

    /// Tells allocate whether it goes on in the order of all who wait, in place of those whom it left.
    pub(crate) fn goes_by_order(&mut self) -> &mut bool {
        &mut self.goes_by_order
    }

    /// Takes the groups that an action which evicts left without a turn.
    pub(crate) fn take_left_of(&mut self, kind: EvictionKind) -> Left {
        std::mem::take(&mut self.evicting[kind as usize].left)
    }

    /// Leaves groups to the next cycle, which had no turn before an action that evicts stopped.
    pub(crate) fn leave_of(&mut self, kind: EvictionKind, groups: impl Iterator<Item = GroupId>) {
        self.evicting[kind as usize].left.extend(groups);
    }

    /// Tells whether an action that evicts leaves groups to the next cycle.
    pub(crate) fn leaves_some(&self, kind: EvictionKind) -> bool {
        !self.evicting[kind as usize].left.is_empty()
    }

    /// Those who had a turn since all had one, of an action that evicts or else of allocate.
    pub(crate) fn asked(&mut self, kind: Option<EvictionKind>) -> &mut BTreeSet<Sharer> {
        match kind {
            Some(kind) => &mut self.evicting[kind as usize].asked,
            None => &mut self.asked,
        }
    }

    /// Those whom an action that evicts passed over in this round.
    pub(crate) fn passed_of(&self, kind: EvictionKind, pending: &Pending) -> Passed {
        standing(&self.evicting[kind as usize].passed, pending)
    }

    /// Notes whom an action that evicts passed over.
    pub(crate) fn pass_of(&mut self, kind: EvictionKind, passed: Passed) {
        self.evicting[kind as usize].passed = passed;
    }

    /// Those whom allocate passed over in this round.
    pub(crate) fn passed(&self, pending: &Pending) -> Passed {
        standing(&self.passed, pending)
    }

    /// Notes whom allocate passed over.
    pub(crate) fn pass(&mut self, passed: Passed) {
        self.passed = passed;
    }

    /// Notes that those who were passed over may find room.
    pub(super) fn room_grew(&mut self) {
        self.anew.extend(self.passed.keys());
    }

    /// Notes that a group is listed, maybe before those who were passed over.
    pub(super) fn came(&mut self, at: Listing) {
        let pair = (at.queue, at.class);
        if self.passed.get(&pair).is_some_and(|passed| at.key <= *passed) {
            self.anew.insert(pair);
        }
    }

    /// Ends a round of allocate.
    pub(crate) fn close(&mut self) {
        self.asked.clear();
        self.passed.clear();
        self.anew.clear();
    }

    /// Leaves groups to the next cycle, which had no turn before allocate stopped.
    pub(crate) fn leave(&mut self, groups: impl Iterator<Item = GroupId>) {
        self.allocating.get_or_insert_default().extend(groups);
    }

    /// Notes that a group has the turn that allocate left to the next cycle.
    pub(crate) fn catch_up(&mut self, group: GroupId) {
        if let Some(left) = &mut self.allocating {
            left.remove(&group);
        }
    }
}

impl Pending {
    /// The groups with pods whose nominations this cycle took back and has not made again so far, of those that may have turns;
    /// each with its queue and what it asks for.
    pub(crate) fn owed(
        &self,
        state: &State,
        front: Option<&DepthWindow>,
    ) -> Vec<(QueueId, GroupKey, Charge)> {
        let groups = self.epoch.owed().iter().filter_map(|pod| state.pods()[*pod].group());
        let groups: BTreeSet<GroupId> = groups.collect();
        let listings = groups.into_iter().filter_map(|group| self.listing(group));
        let listings = listings.filter(|at| front.is_none_or(|front| front.holds(*at)));
        listings.map(|at| (at.queue, at.key, self.class_ask(state, at.class))).collect()
    }

    /// Tells whether this cycle took back a nomination of a pod of a group and has not made it again so far.
    pub(crate) fn owes(&self, state: &State, group: GroupId) -> bool {
        state.groups()[group].pods.iter().any(|pod| self.epoch.owed().contains(pod))
    }

    /// Notes that all of a class queue had their turns; tells whether some are to have another in the next cycle.
    pub(crate) fn end_turns(&mut self, queue: QueueId, class: ClassId) -> bool {
        let is_anew = self.rounds.anew.remove(&(queue, class));
        if is_anew {
            self.class_queues.wake(queue, class);
        }
        is_anew
    }

    /// Lists the namespaces whose groups wait in some class queues, each with its queue: those of the first groups, and none in
    /// place of those of all that follow.
    pub(crate) fn sharers(
        &self,
        state: &State,
        pairs: impl Iterator<Item = Pair>,
    ) -> impl Iterator<Item = (QueueId, Option<Symbol>)> {
        pairs.flat_map(move |(queue, class)| {
            let groups = self.class_queues.of(queue, class).map(|class_queue| &class_queue.groups);
            let namespace = |key: &GroupKey| state.namespace(key.group);
            let first = groups.map(|groups| (queue, groups.first().map(namespace)));
            let follows = groups.is_some_and(|groups| groups.len() > 1);
            first.into_iter().chain(follows.then_some((queue, None)))
        })
    }

    /// The class queues of groups, those that are worth a try.
    pub(crate) fn worth_a_try(&self, groups: impl Iterator<Item = GroupId>) -> BTreeSet<Pair> {
        self.pairs(groups).filter(|(queue, class)| self.is_awake(*queue, *class)).collect()
    }

    /// The class queues of the groups that wait of some, as they are listed now.
    pub(crate) fn pairs(
        &self,
        groups: impl Iterator<Item = GroupId>,
    ) -> impl Iterator<Item = Pair> {
        let listings = groups.filter_map(|group| self.listing(group));
        listings.map(|listing| (listing.queue, listing.class))
    }
}

/// Those whom an action passed over who are listed where they were.
fn standing(passed: &Passed, pending: &Pending) -> Passed {
    let stands = |&(&(queue, class), &key): &(&Pair, &GroupKey)| {
        pending.listing(key.group) == Some(Listing { queue, class, key })
    };
    passed.iter().filter(stands).map(|(pair, key)| (*pair, *key)).collect()
}
