//! Reasons that groups which wait are told.

use std::sync::Arc;

use crate::{
    base::ids::{ClassId, GroupId, QueueId},
    decided::plan::{Verdict, Why},
    pending::{Listing, Pending, depth::DepthWindow, scheduling_order::Turn},
    state::{State, group_key::GroupKey},
};

impl Pending {
    /// Puts the class queue of a turn to sleep until room may have come, and tells its groups why: those that follow where
    /// some before were passed over.
    pub(crate) fn park(
        &mut self,
        state: &mut State,
        turn: Turn,
        why: &Why,
        said: &mut Vec<Verdict>,
    ) {
        self.sleep(turn.queue, turn.class);
        let from = Listing { queue: turn.queue, class: turn.class, key: turn.key };
        self.tell_why(state, from, why, said);
    }

    /// Tells one group alone why it waits.
    pub(crate) fn pass(
        &mut self,
        state: &mut State,
        group: GroupId,
        why: Why,
        said: &mut Vec<Verdict>,
    ) {
        let listing = self.listing(group);
        let class_queue = listing.and_then(|at| self.class_queues.of_mut(at.queue, at.class));
        if let Some(told) = class_queue.and_then(|class_queue| class_queue.told.as_mut()) {
            // Once it is not passed over any more it is to be told what the others are.
            told.why = None;
        }
        say(state, group, why, said);
    }

    /// Tells groups that had no turn that others of their queue come first; what they were told before stands.
    pub(crate) fn tell_behind(
        &mut self,
        state: &mut State,
        front: &DepthWindow,
        depth: u32,
        said: &mut Vec<Verdict>,
    ) {
        let behind = |at: &(QueueId, ClassId)| front.first(at.0, at.1).is_none();
        let class_queues: Vec<_> = self.awake().filter(behind).collect();
        for (queue, class) in class_queues {
            let told = self.class_queues.of(queue, class).and_then(|one| one.told.as_ref());
            let why = told.and_then(|told| told.why.clone()).unwrap_or(Why::Behind { depth });
            self.tell_why(state, Listing { queue, class, key: GroupKey::FIRST }, &why, said);
        }
    }

    /// Tells the groups of a class queue, from a place in it on, why they wait.
    fn tell_why(&mut self, state: &mut State, from: Listing, why: &Why, said: &mut Vec<Verdict>) {
        let Some(class_queue) = self.class_queues.of_mut(from.queue, from.class) else { return };
        let told = class_queue.told.get_or_insert_default();
        let unsaid = std::mem::take(&mut told.unsaid);
        let before = told.why.replace(why.clone());
        let same = before.as_ref().is_some_and(|before| before.is_like(why));
        let at = (from.queue, from.class);
        if !same {
            self.renumbered.remove(&at);
        } else if before.as_ref() != Some(why) {
            self.renumbered.insert(at, GroupKey::FIRST);
        }
        let told: Vec<GroupId> = if same {
            let follows = |at: Listing| {
                (at.queue, at.class) == (from.queue, from.class) && at.key >= from.key
            };
            let here = |group: &GroupId| self.listing(*group).is_some_and(follows);
            unsaid.into_iter().filter(here).collect()
        } else {
            class_queue.groups.since(&from.key).map(|key| key.group).collect()
        };
        for group in told {
            let why = personal(state, group, why);
            say(state, group, why, said);
        }
    }

    /// Gives groups the numbers that the reason which they were told has by now; those that have others since.
    ///
    /// # Cost
    /// At most so many groups are looked at.
    pub(crate) fn renumber(&mut self, state: &mut State, most: usize) -> Vec<GroupId> {
        let mut groups = Vec::new();
        let mut left = most;
        while left > 0 {
            let Some(((queue, class), from)) = self.renumbered.pop_first() else { break };
            let Some(class_queue) = self.class_queues.of(queue, class) else { continue };
            let told = class_queue.told.as_ref().and_then(|told| told.why.as_ref());
            let Some(why) = told else { continue };
            let mut keys = class_queue.groups.since(&from);
            for key in keys.by_ref().take(left) {
                left -= 1;
                let why = personal(state, key.group, why);
                let before = state.verdict(key.group);
                if before.is_some_and(|before| before.is_like(&why) && *before != why) {
                    state.note_why(key.group, Some(why));
                    groups.push(key.group);
                }
            }
            if let Some(next) = keys.next() {
                self.renumbered.insert((queue, class), *next);
            }
        }
        groups
    }
}

/// The same reason with this group's own pod in it.
fn personal(state: &State, group: GroupId, why: &Why) -> Why {
    let mut why = why.clone();
    if let Why::NoRoom(no_room) = &mut why {
        let pods = state.to_place(group);
        let pod = pods.get(no_room.at as usize).or(pods.last()).copied();
        if let Some(pod) = pod.filter(|pod| *pod != no_room.pod) {
            Arc::make_mut(no_room).pod = pod;
        }
    }
    why
}

/// Remembers what became of a group, and says so where it is news.
pub(crate) fn say(state: &mut State, group: GroupId, why: Why, said: &mut Vec<Verdict>) {
    if !state.verdict(group).is_some_and(|before| before.is_like(&why)) {
        said.push(Verdict { group, why: why.clone() });
    }
    state.note_why(group, Some(why));
}
