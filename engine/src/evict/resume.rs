//! Knowledge of searches for victims from one cycle to the next.
//!
//! While nothing changes that a search reads ([`SearchEpoch`]), one that ran out of steps goes on where it stopped, and one
//! that found nothing is not asked again.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{GroupId, PodId},
        time::Timestamp,
    },
    decided::proof::EvictionKind,
    evict::SearchState,
    pending::search_epoch::SearchEpoch,
    place::Others,
};

/// So many searches are kept; the others begin anew, with more steps.
const UNFINISHED_MAX: usize = 64;

/// Searches for victims, as they were when their cycles ended.
#[derive(Clone, Default, Debug)]
pub(crate) struct ResumableSearches {
    /// By whom they are for; all of this epoch once a cycle evicts.
    kept: BTreeMap<SearchKey, Kept>,
    unfinished: usize,
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
    epoch: u64,
    /// Pods whose nominations had been taken back then, and not been made again.
    owed: BTreeSet<PodId>,
    searches: Box<Others>,
}

/// One search, as it was when its cycle ended.
#[derive(Clone, Debug)]
struct Kept {
    epoch: u64,
    /// Time when somebody is safe no more who was.
    until: Option<Timestamp>,
    /// The point where it stopped; none where it came to its end and found nothing.
    search: Option<Box<SearchState>>,
}

/// Knowledge of the search for one group.
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
    /// Forgets what is known of searches for some groups: something of their own changed.
    ///
    /// # Cost
    /// Nothing where nothing is known; else in the number of groups.
    pub(crate) fn forget(&mut self, groups: impl Iterator<Item = GroupId>) {
        if self.kept.is_empty() && self.packings.is_empty() {
            return;
        }
        for group in groups {
            self.packings.remove(&group);
            for kind in EvictionKind::ALL {
                let kept = self.kept.remove(&SearchKey { group, kind });
                self.unfinished -= usize::from(kept.is_some_and(|kept| kept.search.is_some()));
            }
        }
    }

    /// Forgets what does not hold any more.
    pub(crate) fn settle(&mut self, epoch: &SearchEpoch) {
        let epoch = epoch.number();
        self.kept.retain(|_, kept| kept.epoch == epoch);
        self.packings.retain(|_, kept| kept.epoch == epoch);
        self.unfinished = self.kept.values().filter(|kept| kept.search.is_some()).count();
    }

    /// Tells whether no more searches are kept before one comes to its end.
    pub(crate) fn is_full(&self) -> bool {
        self.unfinished >= UNFINISHED_MAX
    }

    /// Gives away what is known of the search for a group.
    pub(crate) fn recall(&mut self, epoch: &SearchEpoch, at: SearchKey, now: Timestamp) -> Recall {
        let holds = |kept: &Kept| {
            kept.epoch == epoch.number()
                && epoch.owed().is_empty()
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

    /// Keeps where searches for another way stopped; says whether it did.
    pub(crate) fn keep_packings(
        &mut self,
        epoch: &SearchEpoch,
        group: GroupId,
        searches: Box<Others>,
    ) -> bool {
        if self.packings.len() >= UNFINISHED_MAX {
            return false;
        }
        let (epoch, owed) = (epoch.number(), epoch.owed().clone());
        self.packings.insert(group, Packings { epoch, owed, searches });
        true
    }

    /// Keeps where a search stopped, or that it found nothing, unless what it was made on does not last, or too many are
    /// kept.
    pub(crate) fn keep(
        &mut self,
        epoch: &SearchEpoch,
        at: SearchKey,
        search: Option<Box<SearchState>>,
        until: Option<Timestamp>,
    ) {
        if !epoch.owed().is_empty() || (search.is_some() && self.is_full()) {
            return;
        }
        self.unfinished += usize::from(search.is_some());
        self.kept.insert(at, Kept { epoch: epoch.number(), until, search });
    }
}
