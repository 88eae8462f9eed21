//! Who goes next: groups of a queue, and queues among their siblings.

use std::cmp::Ordering;

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
    /// The priority reversed, then the fill, then the age, packed so that one comparison orders them.
    place: u128,
    uid: u128,
    /// Says which group it is; the keys of two groups differ before.
    pub(crate) group: GroupId,
}

/// Where the fill stands in a packed place: above the 64 bits of the age.
const FILL_SHIFT: u32 = 64;

impl GroupKey {
    /// Before every group.
    pub(crate) const FIRST: Self = Self { place: 0, uid: 0, group: GroupId::new(0) };
    /// After every group.
    pub(crate) const LAST: Self =
        Self { place: u128::MAX, uid: u128::MAX, group: GroupId::new(u32::MAX) };

    /// After every group of this priority, before those of lower ones.
    pub(crate) fn last_of(priority: i32) -> Self {
        let below = (u128::from(reversed(priority)) + 1) << (FILL_SHIFT + 8);
        Self { place: below, ..Self::FIRST }
    }

    /// The key of a live group, with its pods as they are.
    pub(crate) fn of(cluster: &Cluster, group: GroupId) -> Option<Self> {
        let row = &cluster.groups[group];
        let facts = row.facts.as_ref()?;
        let priority = u128::from(reversed(facts.priority));
        let age = u128::from(facts.created.0.cast_unsigned() ^ (1 << 63));
        let place = priority << (FILL_SHIFT + 8) | age;
        Some(Self { place, uid: facts.uid, group }.refilled(row.tree.fill()))
    }

    /// The key of the same group when it is filled differently.
    pub(crate) fn refilled(self, fill: u8) -> Self {
        let cleared = self.place & !(u128::from(u8::MAX) << FILL_SHIFT);
        Self { place: cleared | u128::from(fill) << FILL_SHIFT, ..self }
    }
}

/// A priority as a number that is smaller the higher it is.
fn reversed(priority: i32) -> u32 {
    (!priority).cast_unsigned() ^ (1 << 31)
}

/// A non-negative fraction.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    part: i64,
    whole: i64,
}

impl Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (i128::from(self.part), i128::from(other.part));
        (left * i128::from(other.whole)).cmp(&(right * i128::from(self.whole)))
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
            Ratio { part: amount, whole }
        } else {
            // Nothing may be held: worse than any part. GPUs are in thousandths already.
            let scale = if lane == QueueLane::Gpu { 1 } else { 1000 };
            Ratio { part: amount.saturating_mul(scale), whole: 1 }
        };
        if ratio.cmp(&largest) == Ordering::Greater {
            largest = ratio;
        }
    }
    largest
}
