//! Epochs in which what searches for victims read stays as it is.
//!
//! A search reads where pods are and which are nominated, what nodes and queues have, who waits for a turn, and whom time
//! keeps safe. A counter moves with every such change. Nominations are taken back and made again in every cycle: that is
//! no change where all of them come to be what they were.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{GroupId, PodId},
        min_set::MinSet,
    },
    pending::Listing,
};

/// A time in which nothing changes that searches read.
#[derive(Clone, Default, Debug)]
pub(crate) struct SearchEpoch {
    /// Number of changes.
    number: u64,
    /// Pods whose nomination this cycle took back and has not made again so far.
    owed: BTreeSet<PodId>,
    /// Places of their groups while the nominations stood.
    stood: BTreeMap<GroupId, Stood>,
    /// True if a pod has something else than it was nominated for.
    moved: bool,
}

/// Place of a group in the lists, if it had one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stood {
    pub(super) listing: Option<Listing>,
    /// True if it was asked in vain since room came, and nothing was told of it since.
    pub(super) slept: bool,
}

impl SearchEpoch {
    /// Tells this epoch from others.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Lists the pods whose nomination this cycle took back and has not made again so far.
    pub(crate) fn owed(&self) -> &BTreeSet<PodId> {
        &self.owed
    }

    /// Ends it: something changed that searches read.
    pub(super) fn end(&mut self) {
        self.number += 1;
    }

    /// Notes that the nomination of a pod was taken back, and where its group was listed until then.
    pub(super) fn owe_nomination(&mut self, pod: PodId, group: GroupId, stood: Stood) {
        self.owed.insert(pod);
        self.stood.entry(group).or_insert(stood);
    }

    /// Notes that a pod has what it was nominated for, or is nominated again, for the same or for something else.
    pub(crate) fn pay_nomination(&mut self, pod: PodId, is_same: bool) {
        let owed = self.owed.remove(&pod);
        self.moved |= owed && !is_same;
    }

    /// Tells whether all nominations that this cycle took back were made again as they were.
    pub(super) fn nominations_stand(&self) -> bool {
        self.owed.is_empty() && !self.moved
    }

    /// The place of a group before this cycle took nominations of it back.
    pub(super) fn stood(&self, group: GroupId) -> Option<Stood> {
        self.stood.get(&group).copied()
    }

    /// Notes that a group is listed elsewhere than before: that is a change, unless it comes from nominations alone.
    pub(super) fn relisted(
        &mut self,
        group: GroupId,
        listing: Option<Listing>,
        pods: &MinSet<PodId>,
    ) {
        let owes = || pods.iter().any(|pod| self.owed.contains(pod));
        if self.stood.get(&group).is_none_or(|stood| stood.listing != listing && !owes()) {
            self.end();
        }
    }

    /// Notes that the cycle is over: nominations that were not made again are no more.
    pub(crate) fn close(&mut self) {
        if !self.owed.is_empty() {
            self.end();
        }
        self.owed.clear();
        self.stood.clear();
        self.moved = false;
    }
}
