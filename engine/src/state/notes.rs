//! Notes that decisions write into the state, beside where pods are.

use crate::{
    base::{
        ids::{GroupId, PodId, QueueId, ShapeId},
        resources::Charge,
        time::Timestamp,
    },
    decided::plan::Why,
    state::{
        State,
        changes::Changes,
        rows::{Phase, PodStatus},
        trial::Op,
    },
};

impl State {
    /// Remembers what was said of a group last.
    pub(crate) fn note_why(&mut self, group: GroupId, why: Option<Why>) {
        self.groups[group].why = why;
    }

    /// Remembers when a group started last.
    pub(crate) fn note_start(&mut self, group: GroupId, at: Option<Timestamp>) {
        self.groups[group].last_start = at;
    }

    /// Remembers since when a group is below its minimum.
    pub(crate) fn note_stale(&mut self, group: GroupId, since: Option<Timestamp>) {
        self.groups[group].stale_since = since;
    }

    /// Remembers that a plan evicts a pod: what budgets allow, and when its group lost one.
    pub(crate) fn note_eviction(&mut self, pod: PodId, now: Timestamp) {
        self.spend_budget(pod);
        self.changes.move_amounts();
        if let Some(group) = self.pods[pod].group() {
            self.groups[group].last_eviction = Some(now);
            self.changes.touch(group);
        }
    }

    /// Remembers that a plan placed a pod or nominated it anew.
    pub(crate) fn note_placement(&mut self) {
        self.changes.move_amounts();
    }

    /// Has a pod wait as if a plan had never placed it, with a nomination or without.
    pub(crate) fn retract(&mut self, pod: PodId, status: PodStatus) {
        assert_eq!(status.phase, Phase::Pending, "a pod that is retracted waits");
        self.set_status(pod, status);
        self.changes.move_amounts();
        if let Some(group) = self.pods[pod].group() {
            self.changes.touch(group);
        }
    }

    /// Remembers that what a plan placed may not be taken back any more.
    pub(crate) fn note_final(&mut self, has_retracted: bool) {
        self.changes.move_amounts();
        if has_retracted {
            self.changes.wake();
        }
    }

    /// Remembers that the operator chose otherwise than before: all is to be decided anew.
    pub(crate) fn note_choices(&mut self) {
        self.queues.moved = true;
        self.changes.grow_room_from_outside();
    }

    /// The fair share of a queue, which others worked out.
    pub(crate) fn note_share(&mut self, queue: QueueId, share: Charge) {
        let before = std::mem::replace(&mut self.queues.rows[queue].share, share);
        if before != share {
            self.changes.move_amounts();
        }
    }

    /// Tells whether shares have to be worked out again; said once.
    pub(crate) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.queues.moved)
    }

    /// The changes since this was asked, to be emptied.
    pub(crate) fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }

    /// Takes what kept trials did, to become part of the plan; [`State::reuse_log`] takes the room back.
    pub(crate) fn take_log(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.log)
    }

    /// Takes the room of a log back that became part of the plan.
    pub(crate) fn reuse_log(&mut self, mut log: Vec<Op>) {
        assert!(self.log.is_empty(), "nothing is tried while a plan is written");
        log.clear();
        self.log = log;
    }

    /// Finds out the most that one node offers to pods.
    ///
    /// # Cost
    /// In the number of nodes, once after nodes changed.
    pub(crate) fn ensure_largest(&mut self) {
        self.nodes.ensure_largest();
    }

    /// Keeps a shape that somebody names besides pods; [`State::release`] undoes it.
    pub(crate) fn retain(&mut self, shape: ShapeId) {
        self.shapes.retain(shape);
    }
}
