//! Steps that an action may take in a cycle, of which each queue has its part, and each namespace in a queue its part of that.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{GroupId, QueueId, Symbol},
    decided::steps::Steps,
    pending::{
        Pending,
        rounds::Sharer,
        scheduling_order::{SchedulingOrder, Turn},
    },
    state::State,
};

/// Steps of a turn beside those that it counts: what counting proves in vain costs as much as looking at so many nodes.
const TURN_STEPS: u64 = 32;

/// Steps that each pod which gets a place may take without being counted: a few are enough for most, and a cluster is to be filled
/// in one cycle.
const PLACED_STEPS: u64 = 32;

/// Steps of an action in one cycle.
///
/// A queue that took its part waits until all others had their turns, and goes on with what they left: so the groups of one
/// queue that find nothing, however many they are, keep none of another from its turn in each cycle. Nor do those of one
/// namespace keep those of another that wait in the same queue, of whatever priority: a namespace that took its part of the
/// queue's waits in the same way.
///
/// A turn may cost more than such a part, and more than all steps. So those who had none before a cycle was cut off have one each
/// at first in the next, before anybody has another: whoever waits has a turn within as many cycles as there are namespaces that
/// wait in queues.
#[derive(Debug)]
pub(super) struct Allowance {
    /// None, and nothing is bounded.
    most: Option<u64>,
    taken: u64,
    /// Those of them that nobody answers for, as groups got places with them that cost no more than a look at each node.
    by_places: u64,
    /// The most that each queue may take before the others had their turns; none where it may take what is left.
    part: Option<u64>,
    taken_by: BTreeMap<QueueId, u64>,
    /// Number of namespaces that share the part of a queue.
    sharers: BTreeMap<QueueId, u64>,
    taken_of: BTreeMap<Sharer, u64>,
    /// Those who had a turn since all had one, while others that wait are to have theirs; else none.
    asked: BTreeSet<Sharer>,
    put_off: BTreeMap<Sharer, Vec<GroupId>>,
    /// Groups that were put off as others of their namespaces were already, and come after these.
    behind: Vec<GroupId>,
    /// The groups that got something and have a turn again.
    served: BTreeSet<GroupId>,
}

impl Allowance {
    /// So many steps in all.
    pub(super) fn new(most: Option<u64>) -> Self {
        Self {
            most: most.map(|most| most.max(1)),
            taken: 0,
            by_places: 0,
            part: None,
            taken_by: BTreeMap::new(),
            sharers: BTreeMap::new(),
            taken_of: BTreeMap::new(),
            asked: BTreeSet::new(),
            put_off: BTreeMap::new(),
            behind: Vec::new(),
            served: BTreeSet::new(),
        }
    }

    /// Has queues share the steps, and namespaces the part of each queue; a queue may come several times in a row. Where not
    /// all of them were asked in earlier cycles the others have a turn each before.
    ///
    /// # Cost
    /// In the number of times; none where nothing is bounded.
    pub(super) fn share(
        &mut self,
        sharers: impl Iterator<Item = (QueueId, Option<Symbol>)>,
        asked: BTreeSet<Sharer>,
    ) {
        let Some(most) = self.most else { return };
        let (mut last, mut count, mut waits) = (None, 0, false);
        let mut known = BTreeSet::new();
        for (queue, namespace) in sharers {
            count += u64::from(last != Some(queue));
            last = Some(queue);
            if known.insert((queue, namespace)) {
                *self.sharers.entry(queue).or_default() += 1;
                waits |= namespace.is_none_or(|namespace| !asked.contains(&(queue, namespace)));
            }
        }
        self.part = most.checked_div(count);
        if waits {
            self.asked = asked;
        }
    }

    /// Takes the steps of a turn, which are those since it was begun.
    pub(super) fn take(&mut self, state: &State, turn: Turn, begun: &Steps) {
        if self.most.is_none() {
            return;
        }
        let steps = state.steps.since(begun);
        self.enter(state, turn, steps.total() + TURN_STEPS * steps.groups);
    }

    /// Takes what goes beyond the steps that are free of a turn in which a group got something for the first time: so many of its
    /// pods have a place since.
    ///
    /// A look at each node for each pod is what somebody with a few wishes costs. It ends the cycle, and puts nobody off: others
    /// would get the room that is theirs.
    pub(super) fn take_dear(&mut self, state: &State, turn: Turn, begun: &Steps, placed: u64) {
        if self.most.is_none() {
            return;
        }
        let nodes = u64::try_from(state.nodes().index.ranks().len()).unwrap_or(u64::MAX);
        let dear = dear(state, begun, placed);
        let by_places = dear.min(nodes.saturating_mul(placed));
        self.taken += by_places;
        self.by_places += by_places;
        self.enter(state, turn, dear - by_places);
    }

    /// Takes what goes beyond the steps that are free of a turn that comes before all others, since its group was nominated. Such
    /// turns come again in each cycle, and leave half of all steps to the others.
    pub(super) fn take_nominated(&mut self, state: &State, begun: &Steps, placed: u64) {
        let Some(most) = self.most else { return };
        let taken = self.taken + dear(state, begun, placed);
        self.taken = taken.min(most / 2).max(self.taken);
    }

    /// Enters steps of a turn.
    fn enter(&mut self, state: &State, turn: Turn, steps: u64) {
        if steps == 0 {
            // Nobody was asked, or it cost no more than it may.
            return;
        }
        self.taken += steps;
        *self.taken_by.entry(turn.queue).or_default() += steps;
        let sharer = (turn.queue, state.namespace(turn.group));
        *self.taken_of.entry(sharer).or_default() += steps;
        if !self.asked.is_empty() {
            self.asked.insert(sharer);
        }
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

    /// Tells whether half of what was taken, or more, gave groups the places that are theirs.
    pub(super) fn is_taken_by_places(&self) -> bool {
        self.by_places > 0 && self.by_places >= self.taken - self.by_places
    }

    /// Puts off the turn of now where its queue took its part, with all that the queue has; where its namespace took its part
    /// of that, or had a turn while others wait for theirs, with those of the namespace that would be next. Tells whether it
    /// does.
    pub(super) fn defer(
        &self,
        state: &State,
        pending: &Pending,
        turns: &mut SchedulingOrder,
        turn: Turn,
    ) -> bool {
        let Some(part) = self.part else { return false };
        if !self.asked.is_empty() {
            let is_asked =
                |group: GroupId| self.asked.contains(&(turn.queue, state.namespace(group)));
            let defers = is_asked(turn.group);
            if defers {
                turns.defer(state, pending, turn, is_asked);
            }
            return defers;
        }
        let taken = self.taken_by.get(&turn.queue).copied().unwrap_or(0);
        if taken >= part.max(1) {
            turns.close(state, pending, turn);
            return true;
        }
        let sharers = self.sharers.get(&turn.queue).copied().unwrap_or(1);
        let part = (part / sharers).max(1);
        let is_spent = |group: GroupId| {
            let taken = self.taken_of.get(&(turn.queue, state.namespace(group)));
            taken.is_some_and(|taken| *taken >= part)
        };
        let defers = is_spent(turn.group);
        if defers {
            turns.defer(state, pending, turn, is_spent);
        }
        defers
    }

    /// Takes in groups whose turns were put off, each with its queue: those of who has such already come after these.
    pub(super) fn put_off(&mut self, state: &State, groups: Vec<(QueueId, GroupId)>) {
        let of = |(queue, group)| ((queue, state.namespace(group)), group);
        let groups = groups.into_iter().map(of);
        let (behind, first): (Vec<_>, Vec<_>) =
            groups.partition(|(sharer, _)| self.put_off.contains_key(sharer));
        self.behind.extend(behind.into_iter().map(|(_, group)| group));
        for (sharer, group) in first {
            self.put_off.entry(sharer).or_default().push(group);
        }
    }

    /// Tells whether a group that waits in a queue comes after some that were put off.
    pub(super) fn is_behind(&self, state: &State, group: GroupId) -> bool {
        let queue = state.groups()[group].queue();
        queue.is_some_and(|queue| self.put_off.contains_key(&(queue, state.namespace(group))))
    }

    /// Gives back the groups whose turns were put off, and those that come after them, if there are any. From here on they share
    /// the steps, where they waited for others to have a turn at all; else each may take what is left.
    pub(super) fn resume(&mut self) -> Option<[Vec<GroupId>; 2]> {
        if self.put_off.is_empty() {
            return None;
        }
        if self.asked.is_empty() {
            self.part = None;
        }
        self.asked.clear();
        Some(self.take_put_off())
    }

    /// Takes the groups whose turns are put off, and those that come after them.
    pub(super) fn take_put_off(&mut self) -> [Vec<GroupId>; 2] {
        let put_off = std::mem::take(&mut self.put_off).into_values().flatten();
        [put_off.collect(), std::mem::take(&mut self.behind)]
    }

    /// Gives those who had a turn since all had one, this cycle included.
    pub(super) fn into_asked(self) -> BTreeSet<Sharer> {
        let mut asked = self.asked;
        asked.extend(self.taken_of.into_keys());
        asked
    }
}

/// The steps of a turn beyond those that so many pods may take which have a place since.
fn dear(state: &State, begun: &Steps, placed: u64) -> u64 {
    state.steps.since(begun).total().saturating_sub(PLACED_STEPS * placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns of groups that were nominated come in each cycle, and may cost more than an action has.
    #[test]
    fn who_was_nominated_leaves_half_to_the_others() {
        let mut state = State::default();
        let begun = state.steps;
        let mut allowance = Allowance::new(Some(1000));
        state.steps.nodes = 7 * PLACED_STEPS;
        allowance.take_nominated(&state, &begun, 7);
        assert_eq!(allowance.taken, 0, "so many are free");
        state.steps.nodes += 100;
        allowance.take_nominated(&state, &begun, 7);
        assert_eq!(allowance.taken, 100);
        state.steps.nodes += 100_000;
        allowance.take_nominated(&state, &begun, 7);
        assert_eq!(allowance.taken, 500);
        allowance.taken = 700;
        allowance.take_nominated(&state, &begun, 7);
        assert_eq!(allowance.taken, 700);
    }
}
