//! Queues: the tree they hang in, and what is charged along it.

use crate::{
    base::ids::QueueId,
    state::{State, rows::Below},
    told::queue::Queue,
};

impl State {
    /// Takes in a queue, or that it is gone.
    pub(super) fn queue_told(&mut self, id: QueueId, queue: Option<Box<Queue>>) {
        self.queues.below(id);
        let row = &mut self.queues.rows[id];
        if row.facts == queue {
            return;
        }
        let parent = queue.as_ref().and_then(|queue| queue.parent);
        let was = row.facts.as_ref().map(|queue| queue.parent);
        row.facts = queue;
        let is = row.facts.as_ref().map(|queue| queue.parent);
        if is.is_none() {
            self.nominations.forget_queue(id);
        }
        self.queues.moved = true;
        self.changes.grow_room_from_outside();
        if was == is {
            return self.stand(id);
        }
        if let Some(Some(old)) = was {
            let children = &mut self.queues.below(old).children;
            children.remove(&id);
            if children.is_empty() {
                // Groups that name it may wait there now.
                self.queues.rows[old].parts = false;
                self.touch_queue(old);
            }
        }
        if let Some(Some(new)) = is {
            self.queues.below(new).children.insert(id);
            if !std::mem::replace(&mut self.queues.rows[new].parts, true) {
                self.touch_queue(new);
            }
        }
        if is == Some(None) {
            self.queues.roots.insert(id);
        } else {
            self.queues.roots.remove(&id);
        }
        self.link(id, parent);
        self.unring();
        self.touch_queue(id);
    }

    /// Hangs a queue below another, with all that is charged to it.
    fn link(&mut self, id: QueueId, parent: Option<QueueId>) {
        if let Some(old) = self.queues.rows[id].up.take() {
            self.carry(id, old, false);
        }
        let ring = parent.is_some_and(|parent| {
            self.queues.below(parent);
            self.queues.path(parent).any(|at| at == id)
        });
        self.queues.rows[id].ring = ring;
        if ring {
            self.queues.rings.insert(id);
        } else {
            self.queues.rings.remove(&id);
        }
        if let Some(parent) = parent.filter(|_| !ring) {
            self.queues.rows[id].up = Some(parent);
            self.carry(id, parent, true);
        }
        self.stand(id);
    }

    /// Brings what follows from a queue and all above it in line, for it and for those below.
    fn stand(&mut self, id: QueueId) {
        let mut queues = vec![id];
        while let Some(at) = queues.pop() {
            let standing = self.queues.standing(at);
            let row = &mut self.queues.rows[at];
            if (row.attached, row.limited) != standing {
                (row.attached, row.limited) = standing;
                queues.extend(&self.queues.below[at].children);
            }
        }
    }

    /// Tries again to hang queues whose parents formed a ring.
    fn unring(&mut self) {
        for id in self.queues.rings.clone() {
            let parent = self.queues.rows[id].facts.as_ref().and_then(|queue| queue.parent);
            self.link(id, parent);
            if !self.queues.rows[id].ring {
                self.touch_queue(id);
            }
        }
    }

    fn carry(&mut self, id: QueueId, to: QueueId, add: bool) {
        let row = &self.queues.rows[id];
        let (used, fixed) = (row.used, row.fixed);
        let (leaving, leaving_fixed) = (row.leaving, row.leaving_fixed);
        let (lingering, lingering_fixed) = (row.lingering, row.lingering_fixed);
        let (requested, mib) = (row.requested, row.requested_mib);
        let mut next = Some(to);
        while let Some(at) = next {
            let row = &mut self.queues.rows[at];
            if add {
                row.used += used;
                row.fixed += fixed;
                row.leaving += leaving;
                row.leaving_fixed += leaving_fixed;
                row.lingering += lingering;
                row.lingering_fixed += lingering_fixed;
                row.requested += requested;
                row.requested_mib += mib;
            } else {
                row.used -= used;
                row.fixed -= fixed;
                row.leaving -= leaving;
                row.leaving_fixed -= leaving_fixed;
                row.lingering -= lingering;
                row.lingering_fixed -= lingering_fixed;
                row.requested -= requested;
                row.requested_mib -= mib;
            }
            next = row.up;
        }
    }

    /// Has every group of a queue and of those below looked at again.
    pub(super) fn touch_queue(&mut self, id: QueueId) {
        let mut queues = vec![id];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(at) = queues.pop() {
            if seen.insert(at) {
                let Below { children, groups } = self.queues.below(at);
                queues.extend(children.iter().copied());
                for group in groups.iter() {
                    self.changes.touch(*group);
                }
            }
        }
    }
}
