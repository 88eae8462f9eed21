//! Knowledge of searches for victims from one cycle to the next.
//!
//! While nothing changes that a search reads ([`SearchEpoch`]), one that ran out of steps goes on where it stopped, and one
//! that found nothing is not asked again. Where actions are bounded one that ran out of steps goes on over changes too, with what
//! stands of it ([`take_up`](super::take_up)).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    base::{
        ids::{GroupId, PodId, QueueId},
        time::Timestamp,
    },
    decided::proof::EvictionKind,
    evict::SearchState,
    pending::{Listing, Pending, search_epoch::SearchEpoch},
    place::Others,
};

/// So many searches for victims are kept, and as many for another way to place a group; the others begin anew. Queues share these
/// places.
const UNFINISHED_MAX: usize = 64;

/// Searches for victims, as they were when their cycles ended.
#[derive(Clone, Default, Debug)]
pub(crate) struct ResumableSearches {
    /// Those that go on; once a cycle evicts all of them are of this epoch, or go on over news for groups that wait as they did.
    unfinished: BTreeMap<SearchKey, Unfinished>,
    /// Those that came to their ends and found nothing; all of this epoch once a cycle evicts.
    fruitless: BTreeMap<SearchKey, Fruitless>,
    /// Searches for another way to place unlike pods, or sub-groups in domains.
    packings: BTreeMap<GroupId, Packings>,
}

/// The group that a search is for, and the kind of eviction that it looks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SearchKey {
    pub(crate) group: GroupId,
    pub(crate) kind: EvictionKind,
}

/// Searches for another way to place a group, as they were when its turn ended.
#[derive(Clone, Debug)]
struct Packings {
    queue: QueueId,
    epoch: u64,
    /// Pods whose nominations had been taken back then, and not been made again.
    owed: BTreeSet<PodId>,
    searches: Box<Others>,
}

/// A search for victims, as it was when its cycle ended.
#[derive(Clone, Debug)]
struct Unfinished {
    /// None where nominations had been taken back and were not made again: what it was made on does not last.
    epoch: Option<u64>,
    /// True if its group had a turn in the round.
    had_turn: bool,
    stopped: Stopped,
}

/// A search for victims that stops.
#[derive(Clone, Debug)]
pub(crate) struct Stopped {
    /// The place of its group in the lists.
    pub(crate) listing: Listing,
    /// Time when somebody is safe no more who was.
    pub(crate) until: Option<Timestamp>,
    pub(crate) search: Box<SearchState>,
}

/// A search for victims that found nothing.
#[derive(Clone, Copy, Debug)]
struct Fruitless {
    epoch: u64,
    /// Time when somebody is safe no more who was.
    until: Option<Timestamp>,
}

/// Knowledge of the search for one group.
#[derive(Debug)]
pub(crate) enum Recall {
    /// Nothing that still holds.
    Unknown,
    /// It goes on from here.
    Unfinished(Box<SearchState>),
    /// It came so far before something changed.
    Dated(Box<SearchState>),
    /// It would find nothing again, until then.
    Fruitless(Option<Timestamp>),
}

/// Finds the queue that gives one of its places up for one more of another queue, given the queues of those who have places: the
/// one with the most, where these are more than the other would have then.
fn giver(of: impl Iterator<Item = QueueId>, queue: QueueId) -> Option<QueueId> {
    let mut places: BTreeMap<QueueId, usize> = BTreeMap::new();
    for queue in of {
        *places.entry(queue).or_default() += 1;
    }
    let own = places.get(&queue).copied().unwrap_or(0);
    let (giver, most) = places.into_iter().max_by_key(|(_, places)| *places)?;
    (most > own + 1).then_some(giver)
}

/// Tells whether something holds that was found out in an epoch, and until a time.
fn holds(epoch: &SearchEpoch, of: u64, until: Option<Timestamp>, now: Timestamp) -> bool {
    of == epoch.number() && epoch.owed().is_empty() && until.is_none_or(|until| now < until)
}

impl ResumableSearches {
    /// Forgets what is known of searches for some groups: something of their own changed.
    ///
    /// # Cost
    /// Nothing where nothing is known; else in the number of groups.
    pub(crate) fn forget(&mut self, groups: impl Iterator<Item = GroupId>) {
        if self.unfinished.is_empty() && self.fruitless.is_empty() && self.packings.is_empty() {
            return;
        }
        for group in groups {
            self.packings.remove(&group);
            for kind in EvictionKind::ALL {
                self.unfinished.remove(&SearchKey { group, kind });
                self.fruitless.remove(&SearchKey { group, kind });
            }
        }
    }

    /// Forgets what does not hold any more; searches of groups that wait as they did are kept over news where they `go_on`.
    pub(crate) fn settle(&mut self, pending: &Pending, go_on: bool) {
        let epoch = pending.epoch.number();
        self.unfinished.retain(|at, kept| {
            let waits = || pending.listing(at.group) == Some(kept.stopped.listing);
            if go_on { waits() } else { kept.epoch == Some(epoch) }
        });
        self.fruitless.retain(|_, kept| kept.epoch == epoch);
        self.packings.retain(|_, kept| kept.epoch == epoch);
    }

    /// Notes that a group has its turn, whether the search for it goes on in it or waits for another.
    pub(crate) fn note_turn(&mut self, at: SearchKey) {
        if let Some(kept) = self.unfinished.get_mut(&at) {
            kept.had_turn = true;
        }
    }

    /// Forgets the searches of a kind whose groups had no turn in a round that is over, as others come before them by now: no
    /// search that waits for their places, or for them, would begin.
    pub(crate) fn end_round(&mut self, kind: EvictionKind) {
        let has_turns = |kept: &mut Unfinished| std::mem::take(&mut kept.had_turn);
        self.unfinished.retain(|at, kept| at.kind != kind || has_turns(kept));
    }

    /// Tells whether no more searches for victims of a queue are kept before one comes to its end.
    pub(crate) fn is_full_for(&self, queue: QueueId) -> bool {
        self.unfinished.len() >= UNFINISHED_MAX && self.giver(queue).is_none()
    }

    /// The queue that gives a search for victims up for one of another queue.
    fn giver(&self, queue: QueueId) -> Option<QueueId> {
        giver(self.unfinished.values().map(|kept| kept.stopped.listing.queue), queue)
    }

    /// Tells whether a search for victims for a group goes on that is of another kind.
    pub(crate) fn goes_on_otherwise(&self, SearchKey { group, kind }: SearchKey) -> bool {
        let mut others = EvictionKind::ALL.into_iter().filter(|other| *other != kind);
        others.any(|kind| self.unfinished.contains_key(&SearchKey { group, kind }))
    }

    /// Gives away what is known of the search for a group: also what holds no more, where searches `go_on` over news.
    pub(crate) fn recall(
        &mut self,
        epoch: &SearchEpoch,
        at: SearchKey,
        now: Timestamp,
        go_on: bool,
    ) -> Recall {
        if let Some(Fruitless { epoch: of, until }) = self.fruitless.get(&at).copied() {
            if holds(epoch, of, until, now) {
                return Recall::Fruitless(until);
            }
            self.fruitless.remove(&at);
        }
        let Some(Unfinished { epoch: of, stopped, .. }) = self.unfinished.remove(&at) else {
            return Recall::Unknown;
        };
        if of.is_some_and(|of| holds(epoch, of, stopped.until, now)) {
            Recall::Unfinished(stopped.search)
        } else if go_on {
            Recall::Dated(stopped.search)
        } else {
            Recall::Unknown
        }
    }

    /// Gives away where the searches for another way to place a group stopped; none where they begin anew.
    pub(crate) fn recall_packings(
        &mut self,
        epoch: &SearchEpoch,
        group: GroupId,
    ) -> Option<Box<Others>> {
        let kept = self.packings.remove(&group)?;
        // At its turn nominations of those behind it are still to be made again, the same ones each time.
        let holds = kept.epoch == epoch.number() && kept.owed == *epoch.owed();
        holds.then_some(kept.searches)
    }

    /// Keeps where the searches for another way to place a group of a queue stopped, unless too many of its queue are kept:
    /// then they begin anew.
    pub(crate) fn keep_packings(
        &mut self,
        epoch: &SearchEpoch,
        queue: QueueId,
        group: GroupId,
        searches: Box<Others>,
    ) {
        let (owed, epoch) = (epoch.owed().clone(), epoch.number());
        if self.packings.len() >= UNFINISHED_MAX {
            // What is over takes nobody's place.
            self.packings.retain(|_, kept| kept.epoch == epoch);
        }
        if self.packings.len() >= UNFINISHED_MAX {
            let queues = self.packings.values().map(|kept| kept.queue);
            let Some(giver) = giver(queues, queue) else { return };
            let last = self.packings.iter().rfind(|(_, kept)| kept.queue == giver);
            if let Some(last) = last.map(|(group, _)| *group) {
                self.packings.remove(&last);
            }
        }
        self.packings.insert(group, Packings { queue, epoch, owed, searches });
    }

    /// Keeps where a search stopped, unless too many of its queue are kept, or what it was made on does not last and it does not
    /// `go_on` over news.
    pub(crate) fn keep(
        &mut self,
        epoch: &SearchEpoch,
        at: SearchKey,
        stopped: Stopped,
        go_on: bool,
    ) {
        let epoch = epoch.owed().is_empty().then_some(epoch.number());
        if (go_on || epoch.is_some()) && self.makes_room(stopped.listing.queue) {
            self.unfinished.insert(at, Unfinished { epoch, had_turn: true, stopped });
        }
    }

    /// Keeps that a search found nothing, unless what it was made on does not last.
    pub(crate) fn keep_fruitless(
        &mut self,
        epoch: &SearchEpoch,
        at: SearchKey,
        until: Option<Timestamp>,
    ) {
        if epoch.owed().is_empty() {
            self.fruitless.insert(at, Fruitless { epoch: epoch.number(), until });
        }
    }

    /// Makes room for one more search for victims of a queue, where it may have a place: the queue with the most gives up the one
    /// that tried the fewest sets.
    fn makes_room(&mut self, queue: QueueId) -> bool {
        if self.unfinished.len() < UNFINISHED_MAX {
            return true;
        }
        let Some(giver) = self.giver(queue) else { return false };
        let is_of_giver = |kept: &Unfinished| kept.stopped.listing.queue == giver;
        let of_giver = self.unfinished.iter().filter(|(_, kept)| is_of_giver(kept));
        let least = of_giver.min_by_key(|(at, kept)| (kept.stopped.search.sets(), Reverse(**at)));
        let Some(least) = least.map(|(at, _)| *at) else { return false };
        self.unfinished.remove(&least);
        true
    }
}
