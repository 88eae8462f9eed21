//! One shared GPU: its reservation pod, who uses it, and what has to be done about it.

use std::collections::{BTreeMap, BTreeSet};

/// A reservation pod, as the watch shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// The pod by number.
    pub pod: u32,
    /// The device that it was given, once it says so.
    pub uuid: Option<Box<str>>,
    /// It terminates, or has ended: it holds nothing that could be shared.
    pub has_ended: bool,
}

/// Says what is known of a reservation pod that the watch does not show.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Unseen {
    /// There is none.
    #[default]
    Nothing,
    /// One was made: the watch will show it.
    Made,
    /// One may be left that failed: the watch leaves those out.
    Left,
}

/// Holds what is known of a shared GPU.
#[derive(Debug, Default)]
pub(super) struct Device {
    /// Its node by number.
    pub(super) node: Option<u32>,
    pub(super) reservation: Option<Reservation>,
    /// Further reservation pods of the same group: KAI made two in a race before v0.16. They keep their GPUs, which
    /// users may have been told, until the last user is gone.
    pub(super) others: Vec<Reservation>,
    /// Pods with a node that hold a part of it, and whether each is leaving.
    pub(super) users: BTreeMap<u32, bool>,
    /// Pods whose bind waits for it or is under way.
    pub(super) binds: BTreeSet<u32>,
    /// Pods whose bind is under way, and was told which GPU it is.
    pub(super) told: BTreeSet<u32>,
    /// The UUID that pods were told: another GPU must not take its place while they are there.
    pub(super) given: Option<Box<str>>,
    /// Something about its reservation pod is being written.
    pub(super) is_writing: bool,
    /// The reservation pod of which the watch shows nothing.
    pub(super) unseen: Unseen,
    /// A reservation pod that was deleted, while the watch has yet to show that: older news of it mean nothing.
    pub(super) deleted: Option<u32>,
    /// Until then its reservation pod has to say its device.
    pub(super) deadline: Option<i64>,
    /// The reservation pod came to nothing: it goes before another is made.
    pub(super) has_failed: bool,
    /// Nothing is written about it before.
    pub(super) not_before: i64,
}

/// Says what comes next for a device.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Nothing, until something is told.
    Nothing,
    /// To be looked at again then.
    Wait(i64),
    /// A reservation pod is made.
    Reserve,
    /// It has several reservation pods, of which its users were told one.
    Ask {
        /// The UUIDs that those pods say.
        among: Vec<Box<str>>,
    },
    /// Its reservation pod goes.
    Unreserve {
        /// It came to nothing; else nobody needs it any more.
        has_failed: bool,
    },
    /// It has users and nothing holds it for them: another may be given the same GPU.
    Unprotected,
}

impl Device {
    /// Takes in news of a reservation pod. Where a group has several, the one whose device pods were told counts, else the
    /// first that says a device and holds it: pods that come later are told the same one as those before.
    ///
    /// # Source
    /// docs/contract.md 10.3 R1.
    pub(super) fn reserved(&mut self, news: Reservation) {
        self.others.retain(|one| one.pod != news.pod);
        let current = self.reservation.replace(news);
        if let (Some(current), Some(news)) = (current, &self.reservation)
            && current.pod != news.pod
        {
            self.others.push(current);
        }
        self.choose();
    }

    /// A reservation pod is gone; whether it was the last that held the device.
    pub(super) fn lost(&mut self, pod: u32) -> bool {
        let others = self.others.len();
        self.others.retain(|one| one.pod != pod);
        let was_first = self.reservation.take_if(|one| one.pod == pod).is_some();
        let was_known = was_first || self.others.len() < others;
        self.choose();
        was_known && self.reservation.is_none()
    }

    /// Puts the reservation pod first that counts. The order is that of the pods' numbers, which is that of the news.
    fn choose(&mut self) {
        let mut all: Vec<Reservation> = self.reservation.take().into_iter().collect();
        all.append(&mut self.others);
        all.sort_by_key(|one| {
            let is_given = self.given.is_some() && one.uuid == self.given;
            (one.has_ended, !is_given, one.uuid.is_none(), one.pod)
        });
        let mut all = all.into_iter();
        self.reservation = all.next();
        self.others = all.collect();
    }

    /// The device's UUID, while it can be shared.
    pub(super) fn uuid(&self) -> Option<&str> {
        let reservation = self.reservation.as_ref().filter(|one| !one.has_ended)?;
        let uuid = reservation.uuid.as_deref()?;
        let is_another = self.given.as_deref().is_some_and(|given| given != uuid);
        let is_known = !is_another && !self.is_undecided();
        (!self.is_writing && !self.has_failed && is_known).then_some(uuid)
    }

    /// The UUIDs that its reservation pods say, of those that hold theirs.
    fn held_uuids(&self) -> impl Iterator<Item = &str> {
        let all = self.reservation.iter().chain(&self.others).filter(|one| !one.has_ended);
        all.filter_map(|one| one.uuid.as_deref())
    }

    /// Tells whether its users were told one of several GPUs and nothing here says which: it was decided before a restart.
    fn is_undecided(&self) -> bool {
        let mut uuids = self.held_uuids();
        let is_given = self.given.is_some() || self.users.is_empty();
        !is_given && uuids.next().is_some_and(|first| uuids.any(|uuid| uuid != first))
    }

    /// Takes in which of the GPUs its users were told; where no config map says so, or they differ, it is the first.
    pub(super) fn asked(&mut self, told: Option<Box<str>>) {
        if self.given.is_none() {
            self.given = told.or_else(|| self.held_uuids().next().map(Box::from));
        }
        self.choose();
    }

    /// Tells whether a reservation pod may be there that the watch has not shown yet.
    pub(super) fn has_unseen(&self) -> bool {
        self.reservation.is_none() && (self.is_writing || self.unseen == Unseen::Made)
    }

    /// Nobody has to do with it.
    pub(super) fn is_idle(&self) -> bool {
        self.reservation.is_none()
            && self.others.is_empty()
            && self.users.is_empty()
            && self.binds.is_empty()
            && self.deleted.is_none()
            && !self.is_writing
    }

    /// Decides what comes next. `patience_ms` is how long a reservation pod may take to say its device.
    pub(super) fn next(&mut self, now: i64, patience_ms: i64) -> Next {
        if self.is_writing {
            return Next::Nothing;
        }
        if now < self.not_before {
            return Next::Wait(self.not_before);
        }
        // A bind that waits was told nothing: it may have another GPU than those before.
        if self.users.is_empty() && self.told.is_empty() {
            self.given = None;
        } else if self.is_undecided() {
            return Next::Ask { among: self.held_uuids().map(Box::from).collect() };
        } else if self.given.is_none() && !self.users.is_empty() {
            // After a restart: what it is now is what its users were told.
            self.given = self.uuid().map(Box::from);
        }
        if self.has_failed {
            return Next::Unreserve { has_failed: true };
        }
        match &self.reservation {
            None => self.next_without(now),
            Some(reservation) if reservation.has_ended => Next::Unreserve { has_failed: true },
            Some(reservation) => {
                let has_uuid = reservation.uuid.is_some();
                self.next_with(has_uuid, now, patience_ms)
            }
        }
    }

    /// The bind of a pod is under way no more; tells whether it was.
    pub(super) fn end_bind(&mut self, pod: u32) -> bool {
        self.told.remove(&pod);
        self.binds.remove(&pod)
    }

    /// Tells whether somebody uses it who is not leaving.
    fn has_staying_users(&self) -> bool {
        self.users.values().any(|is_leaving| !is_leaving)
    }

    fn next_without(&mut self, now: i64) -> Next {
        if self.unseen == Unseen::Made {
            let deadline = self.deadline.unwrap_or(now);
            return if now < deadline {
                Next::Wait(deadline)
            } else {
                Next::Unreserve { has_failed: true }
            };
        }
        self.deadline = None;
        if self.has_staying_users() {
            return Next::Unprotected;
        }
        if self.unseen == Unseen::Left && self.users.is_empty() && self.binds.is_empty() {
            return Next::Unreserve { has_failed: false };
        }
        // What is under way was told of a device that nothing holds any more: it is a user soon, or nobody.
        let is_wanted = !self.binds.is_empty() && self.given.is_none() && self.users.is_empty();
        if is_wanted { Next::Reserve } else { Next::Nothing }
    }

    fn next_with(&mut self, has_uuid: bool, now: i64, patience_ms: i64) -> Next {
        let is_another = has_uuid && self.uuid().is_none();
        if is_another && self.has_staying_users() {
            return Next::Unprotected;
        }
        let is_wanted = !self.binds.is_empty();
        if self.users.is_empty() && !is_wanted {
            return Next::Unreserve { has_failed: false };
        }
        if has_uuid || !is_wanted {
            self.deadline = None;
            return Next::Nothing;
        }
        let deadline = *self.deadline.get_or_insert(now.saturating_add(patience_ms));
        if now < deadline { Next::Wait(deadline) } else { Next::Unreserve { has_failed: true } }
    }
}
