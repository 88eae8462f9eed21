//! Changes in the state since somebody asked: written down here, and turned into what follows from it by who remembers
//! decisions (`Cluster::absorb`).

use crate::{
    base::{id_set::IdSet, ids::GroupId},
    state::rows::Phase,
};

/// Changes that nobody took in yet.
#[derive(Clone, Default, Debug)]
pub(crate) struct Changes {
    /// Groups of which something changed.
    pub(crate) touched: IdSet<GroupId>,
    /// Groups that pods came to which were not theirs, where nothing else came from outside so far.
    pub(crate) arrivals: Vec<GroupId>,
    /// The kinds of change that there were, a bit each.
    kinds: u8,
}

/// A kind of change; its number is its bit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Something that the next plan may decide upon.
    Told = 1,
    /// Somebody who found no room may find some.
    RoomGrew = 2,
    /// Amounts, places or shares moved, which searches for victims read.
    AmountsMoved = 4,
    /// Something happened that the scheduler did not do.
    FromOutside = 8,
}

impl Changes {
    /// Tells whether nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        // Whatever touches a group, or has one come, is told.
        self.kinds == 0
    }

    /// Tells whether there was such a change.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.kinds & kind as u8 != 0
    }

    /// Tells whether there was such a change, and forgets it.
    pub(crate) fn take(&mut self, kind: Kind) -> bool {
        let has = self.has(kind);
        self.kinds &= !(kind as u8);
        has
    }

    /// Notes that something of a group changed.
    pub(crate) fn touch(&mut self, group: GroupId) {
        self.touched.insert(group);
        self.tell();
    }

    /// Notes that something was told that the next plan may decide upon.
    pub(crate) fn tell(&mut self) {
        self.note(Kind::Told);
    }

    /// Notes that amounts, places or shares moved.
    pub(crate) fn move_amounts(&mut self) {
        self.note(Kind::AmountsMoved);
    }

    /// Notes that there may be room for who waits, though no amount moved.
    pub(crate) fn wake(&mut self) {
        self.note(Kind::RoomGrew);
        self.tell();
    }

    /// Notes that room may have come or gone, or that a bound may have moved.
    pub(crate) fn grow_room(&mut self) {
        self.wake();
        self.move_amounts();
    }

    /// Notes that something happened which the scheduler did not do.
    pub(crate) fn come_from_outside(&mut self) {
        self.note(Kind::FromOutside);
        self.arrivals.clear();
    }

    /// Notes that something happened which the scheduler did not do, by which room may have come or gone.
    pub(crate) fn grow_room_from_outside(&mut self) {
        self.come_from_outside();
        self.grow_room();
    }

    fn note(&mut self, kind: Kind) {
        self.kinds |= kind as u8;
    }

    /// Notes how far a pod came, and whether that is somebody else's doing than the scheduler's.
    pub(crate) fn progress(&mut self, before: PodProgress, now: PodProgress) {
        if self.has(Kind::FromOutside) {
            return;
        }
        match now.group {
            // A pod that is made again after it was evicted is no news; how many are is for others to count.
            Some(group) if before.group != now.group => self.arrivals.push(group),
            Some(_) | None if now.follows(before) => {}
            Some(_) | None => self.come_from_outside(),
        }
    }
}

/// Progress of a pod, and its group.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct PodProgress {
    pub(crate) phase: Phase,
    pub(crate) group: Option<GroupId>,
}

impl PodProgress {
    /// Tells whether a pod comes from `before` to here without anybody's doing but the scheduler's, who had it bound or
    /// evicted.
    pub(crate) fn follows(self, before: Self) -> bool {
        use Phase::{
            Absent, Binding, Bound, Evicting, Failed, Gated, Lingering, Pending, Releasing,
            Running, Stuck, Succeeded,
        };
        // What is nobody's yet and nowhere is of no concern to anybody.
        let waits_alone =
            |at: Self| at.group.is_none() && matches!(at.phase, Absent | Gated | Pending);
        self.phase == before.phase
            || (waits_alone(self) && waits_alone(before))
            || match self.phase {
                Bound => before.phase == Binding,
                Running => matches!(before.phase, Binding | Bound),
                Releasing => matches!(before.phase, Evicting | Lingering),
                // An eviction that is confirmed is read before the time that the pod takes.
                Lingering => matches!(before.phase, Evicting | Releasing),
                Succeeded | Failed | Absent => matches!(
                    before.phase,
                    Evicting | Releasing | Lingering | Stuck | Succeeded | Failed
                ),
                // Who makes a pod again may put gates on it, and take them off.
                Pending => before.phase == Gated,
                Gated | Binding | Evicting | Stuck => false,
            }
    }
}
