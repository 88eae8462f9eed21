//! The account that a group was started on, which its user cannot change while its pods hold places.
//!
//! Another queue, a promise never to be evicted, another start, another node pool, or no object at all: what runs stays
//! counted as it was begun, until the last pod of the group has left its place. Then the word of the object counts again,
//! as it does after a start of the scheduler.
//!
//! # Source
//! `docs/threats.md`.

use std::collections::{BTreeMap, BTreeSet};

use kai_api::names::{annotation, priority_class, value};
use kai_engine::Group;

use super::{Context, Delta, GroupId, Groups, Kind, QueueId, refer};
use crate::server::wire::Pairs;

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

/// Holds what was written on a pod with its bind of the account that its group was on.
#[derive(Debug)]
pub(in crate::ingest) struct Told {
    pub(in crate::ingest) queue: Box<str>,
    /// False also where nothing was written: then the group's object decides.
    pub(in crate::ingest) is_preemptible: bool,
}

impl Told {
    /// Reads the annotations of a pod; none where they name no queue.
    pub(in crate::ingest) fn read(annotations: &Pairs<'_>) -> Option<Self> {
        let queue = annotations.value(annotation::BOUND_QUEUE)?;
        let preemptibility = annotations.value(annotation::BOUND_PREEMPTIBILITY);
        let is_preemptible = preemptibility == Some(value::PREEMPTIBLE);
        Some(Self { queue: Box::from(queue), is_preemptible })
    }
}

/// Accounts for which pods of groups were bound whose objects were not seen yet, by the group's row.
#[derive(Debug, Default)]
pub(super) struct Bound {
    accounts: BTreeMap<u32, Told>,
    /// When the first pod of a group whose account is known got its node.
    first: BTreeMap<u32, i64>,
    /// Kinds that were listed: a group that was not seen once both were is not there.
    listed: BTreeSet<Kind>,
}

impl Bound {
    fn are_listed(&self) -> bool {
        [Kind::Pod, Kind::PodGroup].into_iter().all(|kind| self.is_listed(kind))
    }

    /// Tells whether all objects of a kind were told of once.
    pub(super) fn is_listed(&self, kind: Kind) -> bool {
        self.listed.contains(&kind)
    }

    pub(super) fn note_listed(&mut self, kind: Kind) {
        self.listed.insert(kind);
    }

    /// Tells whether a pod got its node before all others of its group that say for which account they were bound.
    fn is_first(&mut self, row: u32, since: i64) -> bool {
        let first = self.first.get(&row).is_none_or(|first| since < *first);
        if first {
            self.first.insert(row, since);
        }
        first
    }

    pub(super) fn note(&mut self, row: u32, told: Told) {
        self.accounts.insert(row, told);
    }

    pub(super) fn take(&mut self, row: u32) -> Option<Told> {
        self.accounts.remove(&row)
    }

    pub(super) fn has(&self, row: u32) -> bool {
        self.accounts.contains_key(&row)
    }
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

impl Groups {
    /// Has a group be on the account that the first of its pods with a place was bound for: it was written on the pod then,
    /// and the group's object may say something else by now, or be gone. `since` is when the pod got its node: of pods in
    /// whatever order the first counts, and its user may have put another on a node past the scheduler.
    pub(in crate::ingest) fn held(
        &mut self,
        context: &mut Context,
        row: u32,
        told: Option<Told>,
        since: Option<i64>,
    ) {
        let since = since.unwrap_or(i64::MAX);
        let is_first = self.bound.is_first(row, if told.is_some() { since } else { i64::MAX });
        let Some(told) = told else { return };
        let Some(object) = self.objects.get_mut(row) else {
            if !is_first {
                return;
            }
            self.bound.note(row, told);
            if self.bound.are_listed() {
                self.claim(context, row);
            }
            return;
        };
        object.is_promised |= told.is_preemptible;
        let now = Account {
            queue: if is_first {
                Some(context.names.queue(&told.queue))
            } else {
                object.facts.queue
            },
            preemptible: object.facts.preemptible || told.is_preemptible,
        };
        if Account::of(&object.facts) != now {
            (object.facts.queue, object.facts.preemptible) = (now.queue, now.preemptible);
            refer(context, row, [object.facts.queue, object.asked.queue]);
            context.touched.push(row);
            object.tell(context, row, self.paused.contains(&row));
        }
    }

    /// Notes that a plan gives a pod of a group a place: nothing that is written on others says on which account it is, and
    /// what its user wrote of its start before is no start. The engine knows when it started.
    pub(in crate::ingest) fn placed(&mut self, row: u32) {
        self.bound.is_first(row, i64::MIN);
        if let Some(object) = self.objects.get_mut(row) {
            object.facts.last_start = None;
        }
    }

    /// Notes that pods or groups are listed.
    pub(in crate::ingest) fn listed(&mut self, context: &mut Context, kind: Kind) {
        self.bound.note_listed(kind);
        if self.bound.are_listed() {
            let rows: Vec<u32> = self.bound.accounts.keys().copied().collect();
            for row in rows {
                self.claim(context, row);
            }
        }
    }

    /// Takes on a group whose pods were bound and whose object was not seen. Where it is not written on them whether they may
    /// be evicted they are not, and the object decides should it come.
    fn claim(&mut self, context: &mut Context, row: u32) {
        let Some(told) = self.bound.accounts.get(&row) else { return };
        if self.orphans.get(row).is_some() {
            return;
        }
        let facts = Group {
            queue: Some(context.names.queue(&told.queue)),
            preemptible: told.is_preemptible,
            priority: priority_class::FALLBACK,
            ..Group::default()
        };
        self.orphans.add(context, row, Box::new(facts));
    }

    /// Has the word of a group's object count, or that it has none, once no pod of it holds a place any more.
    pub(in crate::ingest) fn left(&mut self, context: &mut Context, row: u32) {
        self.bound.take(row);
        self.bound.first.remove(&row);
        if self.orphans.left(context, row) {
            return;
        }
        let Some(object) = self.objects.get_mut(row) else { return };
        object.is_promised = false;
        if Account::of(&object.facts) == object.asked {
            return;
        }
        let Account { queue, preemptible } = object.asked;
        (object.facts.queue, object.facts.preemptible) = (queue, preemptible);
        context.touched.push(row);
        object.tell(context, row, self.paused.contains(&row));
        refer(context, row, [queue, queue]);
    }
}
