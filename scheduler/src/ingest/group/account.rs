//! The account that a group was started on, which its user cannot change while its pods hold places.
//!
//! Another queue, a promise never to be evicted, another start, another node pool, or no object at all: what runs stays
//! counted as it was begun, until the last pod of the group has left its place. Then the word of the object counts again,
//! as it does after a start of the scheduler.
//!
//! # Source
//! `docs/threats.md`.

use std::collections::BTreeMap;

use kai_engine::Group;

use super::{Context, Delta, GroupId, QueueId, refer};

/// The facts of a group that say on whose account its pods are, and whether others may have their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Account {
    pub(super) queue: Option<QueueId>,
    pub(super) preemptible: bool,
}

impl Account {
    pub(super) fn of(facts: &Group) -> Self {
        Self { queue: facts.queue, preemptible: facts.preemptible }
    }
}

/// Keeps of what is known of a group whose pods hold places what its object cannot change.
pub(super) fn keep(known: &Group, facts: &mut Group) {
    facts.queue = known.queue;
    facts.preemptible |= known.preemptible;
    facts.last_start = known.last_start;
}

/// Groups whose objects are gone, of which pods hold places.
#[derive(Debug, Default)]
pub(super) struct Orphans(BTreeMap<u32, Box<Group>>);

impl Orphans {
    pub(super) fn get(&self, row: u32) -> Option<&Group> {
        self.0.get(&row).map(|facts| &**facts)
    }

    /// Tells the engine of a group without an object: nothing of it starts, it is never stale, and its pods may be victims
    /// as before.
    pub(super) fn add(&mut self, context: &mut Context, row: u32, mut facts: Box<Group>) {
        facts.held = true;
        facts.staleness_grace = Some(-1);
        refer(context, row, [facts.queue, None]);
        context.names.groups[row].presence.references += 1;
        context.deltas.push(Delta::Group(GroupId::new(row), facts.clone()));
        self.0.insert(row, facts);
    }

    /// Forgets a group whose object is there again.
    pub(super) fn found(&mut self, context: &mut Context, row: u32) {
        if self.0.remove(&row).is_some() {
            context.names.groups[row].presence.references -= 1;
        }
    }

    /// Tells the engine that a group is gone of which no pod holds a place any more. Gives whether it was one of these.
    pub(super) fn left(&mut self, context: &mut Context, row: u32) -> bool {
        if self.0.remove(&row).is_none() {
            return false;
        }
        refer(context, row, [None, None]);
        context.deltas.push(Delta::GroupGone(GroupId::new(row)));
        let presence = &mut context.names.groups[row].presence;
        presence.references -= 1;
        if presence.references == 0 {
            context.names.groups.remove(row);
        }
        true
    }
}
