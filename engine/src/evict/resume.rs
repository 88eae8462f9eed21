//! What is known of searches for victims from one cycle to the next.
//!
//! A search reads where pods are and which are nominated, what nodes and queues have, who waits for a turn, and whom time
//! keeps safe. While none of that changes, one that ran out of steps goes on where it stopped, and one that found nothing
//! is not asked again. A counter moves with every such change. Nominations are taken back and made again in every cycle:
//! that is no change where all of them come to be what they were.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{GroupId, PodId},
        min_set::MinSet,
        time::Timestamp,
    },
    decided::proof::EvictionKind,
    evict::SearchState,
    pending::Listing,
    place::Others,
};

/// So many searches are kept; the others begin anew, with more steps.
const UNFINISHED_MAX: usize = 64;

/// What is known of searches for victims.
#[derive(Clone, Default, Debug)]
pub(crate) struct ResumableSearches {
    /// How often something changed that searches depend on.
    epoch: u64,
    /// Pods whose nomination this cycle took back and has not made again so far.
    owed: BTreeSet<PodId>,
    /// Where their groups were listed while the nominations stood.
    stood: BTreeMap<GroupId, Option<Listing>>,
    /// By whom they are for; all of this epoch once a cycle evicts.
    kept: BTreeMap<(GroupId, EvictionKind), Kept>,
    unfinished: usize,
    /// ResumableSearches for another way to place unlike pods, or sub-groups in domains.
    packings: BTreeMap<GroupId, Packings>,
}

/// ResumableSearches for another way to place a group, as they were when its turn ended.
#[derive(Clone, Debug)]
struct Packings {
    epoch: u64,
    /// Whose nominations had been taken back then, and not been made again.
    owed: BTreeSet<PodId>,
    searches: Box<Others>,
}

/// One search, as it was when its cycle ended.
#[derive(Clone, Debug)]
struct Kept {
    epoch: u64,
    /// When somebody is safe no more who was.
    until: Option<Timestamp>,
    /// Where it stopped; none where it came to its end and found nothing.
    search: Option<Box<SearchState>>,
}

/// What is known of the search for one group.
#[derive(Debug)]
pub(crate) enum Recall {
    /// Nothing that still holds.
    Unknown,
    /// It goes on from here.
    Unfinished(Box<SearchState>),
    /// It would find nothing again, until then.
    Fruitless(Option<Timestamp>),
}

impl ResumableSearches {
    /// Says that something changed that searches depend on.
    pub(crate) fn invalidate(&mut self) {
        self.epoch += 1;
    }

    /// Forgets what is known of searches for a group: something of its own changed.
    pub(crate) fn forget(&mut self, group: GroupId) {
        self.packings.remove(&group);
        if self.kept.is_empty() {
            return;
        }
        for kind in EvictionKind::ALL {
            let kept = self.kept.remove(&(group, kind));
            self.unfinished -= usize::from(kept.is_some_and(|kept| kept.search.is_some()));
        }
    }

    /// Forgets what does not hold any more.
    pub(crate) fn settle(&mut self) {
        let epoch = self.epoch;
        self.kept.retain(|_, kept| kept.epoch == epoch);
        self.packings.retain(|_, kept| kept.epoch == epoch);
        self.unfinished = self.kept.values().filter(|kept| kept.search.is_some()).count();
    }

    /// Says that the nomination of a pod was taken back, and where its group was listed until then.
    pub(crate) fn owe_nomination(&mut self, pod: PodId, group: GroupId, listing: Option<Listing>) {
        self.owed.insert(pod);
        self.stood.entry(group).or_insert(listing);
    }

    /// Says that a pod has what it was nominated for, or is nominated again.
    pub(crate) fn pay_nomination(&mut self, pod: PodId) {
        self.owed.remove(&pod);
    }

    /// Says that a group is listed elsewhere than before: that is a change, unless it comes from nominations alone.
    pub(crate) fn relisted(
        &mut self,
        group: GroupId,
        listing: Option<Listing>,
        pods: &MinSet<PodId>,
    ) {
        let owes = || pods.iter().any(|pod| self.owed.contains(pod));
        if self.stood.get(&group).is_none_or(|stood| *stood != listing && !owes()) {
            self.invalidate();
        }
    }

    /// Says that the cycle is over: nominations that were not made again are no more.
    pub(crate) fn close(&mut self) {
        if !self.owed.is_empty() {
            self.invalidate();
        }
        self.owed.clear();
        self.stood.clear();
    }

    /// Whether no more searches are kept before one comes to its end.
    pub(crate) fn is_full(&self) -> bool {
        self.unfinished >= UNFINISHED_MAX
    }

    /// What is known of the search for a group; it is given away.
    pub(crate) fn recall(&mut self, at: (GroupId, EvictionKind), now: Timestamp) -> Recall {
        let holds = |kept: &Kept| {
            kept.epoch == self.epoch
                && self.owed.is_empty()
                && kept.until.is_none_or(|until| now < until)
        };
        let Some(kept) = self.kept.get(&at) else { return Recall::Unknown };
        if holds(kept) && kept.search.is_none() {
            return Recall::Fruitless(kept.until);
        }
        let holds = holds(kept);
        let search = self.kept.remove(&at).and_then(|kept| kept.search);
        self.unfinished -= usize::from(search.is_some());
        search.filter(|_| holds).map_or(Recall::Unknown, Recall::Unfinished)
    }

    /// Where the searches for another way to place a group stopped; none where they begin anew.
    pub(crate) fn recall_packings(&mut self, group: GroupId) -> Option<Box<Others>> {
        let kept = self.packings.remove(&group)?;
        // At its turn nominations of those behind it are still to be made again, the same ones each time.
        let holds = kept.epoch == self.epoch && kept.owed == self.owed;
        holds.then_some(kept.searches)
    }

    /// Keeps where searches for another way stopped; says whether it did.
    pub(crate) fn keep_packings(&mut self, group: GroupId, searches: Box<Others>) -> bool {
        if self.packings.len() >= UNFINISHED_MAX {
            return false;
        }
        let (epoch, owed) = (self.epoch, self.owed.clone());
        self.packings.insert(group, Packings { epoch, owed, searches });
        true
    }

    /// Keeps where a search stopped, or that it found nothing, unless what it was made on does not last, or too many are
    /// kept.
    pub(crate) fn keep(
        &mut self,
        at: (GroupId, EvictionKind),
        search: Option<Box<SearchState>>,
        until: Option<Timestamp>,
    ) {
        if !self.owed.is_empty() || (search.is_some() && self.is_full()) {
            return;
        }
        self.unfinished += usize::from(search.is_some());
        self.kept.insert(at, Kept { epoch: self.epoch, until, search });
    }
}
