//! Who goes next: groups of a queue, and queues among their siblings.

use std::cmp::{Ordering, Reverse};

use crate::{
    cluster::{Cluster, QueueRow},
    cycle::Timestamp,
    ids::GroupId,
    resources::{Charge, Limit, PerLane, QueueLane},
};

/// A group's place in its queue. Smaller goes first.
///
/// # Source
/// spec/scheduling.md 1.9, job order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct GroupKey {
    priority: Reverse<i32>,
    fill: u8,
    created: Timestamp,
    uid: u128,
    /// Says which group it is; the keys of two groups differ before.
    pub(crate) group: GroupId,
}

impl GroupKey {
    /// The key of a live group, with its pods as they are.
    pub(crate) fn of(cluster: &Cluster, group: GroupId) -> Option<Self> {
        let row = &cluster.groups[group];
        let facts = row.facts.as_ref()?;
        let (created, uid) = (facts.created, facts.uid);
        Some(Self { priority: Reverse(facts.priority), fill: row.tree.fill(), created, uid, group })
    }

    /// The key of the same group when it is filled differently.
    pub(crate) fn refilled(self, fill: u8) -> Self {
        Self { fill, ..self }
    }
}

/// A non-negative fraction.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    part: i128,
    whole: i128,
}

impl Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.part * other.whole).cmp(&(other.part * self.whole))
    }
}

/// Where a queue stands among its siblings, for one group that waits below it.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    over_share: bool,
    starved: bool,
    priority: i32,
    violates: bool,
    share_with: Ratio,
    share: Ratio,
    allocatable: PerLane<Limit>,
    created: Timestamp,
    uid: u128,
}

impl Standing {
    /// Where a queue stands when `ask` more were given below it, and `taken` were taken away.
    pub(crate) fn new(row: &QueueRow, ask: Charge, taken: Charge, total: Charge) -> Self {
        let facts = row.facts.as_ref().expect("a queue that takes turns is live");
        let allocatable = row.allocatable();
        let with = row.used + ask;
        let lanes = QueueLane::ALL;
        Self {
            over_share: lanes.iter().all(|lane| row.used[*lane] > row.share[*lane]),
            starved: with.within(&facts.quota),
            priority: facts.priority,
            violates: lanes
                .iter()
                .any(|lane| allocatable[*lane] == Limit::of(0) && with[*lane] > 0),
            share_with: dominant(with - taken, &allocatable, total),
            share: dominant(row.used, &allocatable, total),
            allocatable,
            created: facts.created,
            uid: facts.uid,
        }
    }

    /// Which queue goes first.
    ///
    /// # Source
    /// spec/scheduling.md 1.11, queue comparison; ties end in the UID (14.3, Q10).
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.over_share
            .cmp(&other.over_share)
            .then_with(|| other.starved.cmp(&self.starved))
            .then_with(|| other.priority.cmp(&self.priority))
            .then_with(|| self.violates.cmp(&other.violates))
            .then_with(|| self.share_with.cmp(&other.share_with))
            .then_with(|| self.share.cmp(&other.share))
            .then_with(|| smaller(&self.allocatable, &other.allocatable))
            .then_with(|| (self.created, self.uid).cmp(&(other.created, other.uid)))
    }
}

/// Less where no resource is more and one is less.
fn smaller(left: &PerLane<Limit>, right: &PerLane<Limit>) -> Ordering {
    let all =
        |test: fn(&Limit, &Limit) -> bool| left.0.iter().zip(&right.0).all(|(l, r)| test(l, r));
    match (all(|l, r| l <= r), all(|l, r| l >= r)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) | (false, false) => Ordering::Equal,
    }
}

/// The largest part of what may be held, over all resources.
fn dominant(amount: Charge, allocatable: &PerLane<Limit>, total: Charge) -> Ratio {
    let mut largest = Ratio { part: 0, whole: 1 };
    for (lane, amount) in amount.iter() {
        let whole = allocatable[lane].amount().unwrap_or(total[lane]);
        let ratio = if whole > 0 {
            Ratio { part: i128::from(amount), whole: i128::from(whole) }
        } else {
            // Nothing may be held: worse than any part. GPUs are in thousandths already.
            let scale = if lane == QueueLane::Gpu { 1 } else { 1000 };
            Ratio { part: i128::from(amount) * scale, whole: 1 }
        };
        if ratio.cmp(&largest) == Ordering::Greater {
            largest = ratio;
        }
    }
    largest
}
