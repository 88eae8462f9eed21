//! Order of who goes next: groups of a queue, and queues among their siblings.

use crate::{
    base::resources::{Charge, Limit, PerLane, QueueLane},
    queues::entitlement::{self, Holding},
    state::{group_key::reversed, rows::QueueRow},
};
use std::cmp::Ordering;

/// A non-negative fraction; equal numbers are equal fractions, and not the other way round.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Ratio {
    part: i64,
    whole: i64,
}

impl Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.whole == other.whole {
            return self.part.cmp(&other.part);
        }
        // Neither is negative, and two 64-bit factors never leave 128 bits.
        let wide = |amount: i64| u128::from(amount.cast_unsigned());
        let product = |a: i64, b: i64| wide(a).wrapping_mul(wide(b));
        product(self.part, other.whole).cmp(&product(other.part, self.whole))
    }
}

/// Numbers of a queue that say where it stands and stay the same from turn to turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QueueWeights {
    priority: i32,
    quota: PerLane<Limit>,
    share: Charge,
    allocatable: PerLane<Limit>,
    /// Of which it holds a part.
    wholes: Charge,
}

impl QueueWeights {
    /// Takes the numbers of a queue, where so much is there in all.
    pub(crate) fn new(row: &QueueRow, total: Charge) -> Self {
        // One that is gone since its groups were listed has nothing.
        let facts = row.facts.as_ref();
        let (priority, quota) =
            facts.map_or_else(Default::default, |facts| (facts.priority, facts.quota));
        let allocatable = facts.map_or_else(PerLane::default, |facts| {
            entitlement::allocatable(&facts.quota, &facts.limit, row.share)
        });
        let wholes = wholes(&allocatable, total);
        Self { priority, quota, share: row.share, allocatable, wholes }
    }

    /// Makes the weights of a queue with these numbers.
    fn of(holding: &Holding, total: Charge) -> Self {
        let Holding { priority, quota, share, .. } = *holding;
        let allocatable = holding.allocatable();
        Self { priority, quota, share, allocatable, wholes: wholes(&allocatable, total) }
    }
}

/// Works out what may be held of each resource: all there is where there is no bound.
fn wholes(allocatable: &PerLane<Limit>, total: Charge) -> Charge {
    PerLane(QueueLane::ALL.map(|lane| allocatable[lane].amount().unwrap_or(total[lane])))
}

/// Amounts that a leaf queue, and each queue above it, would be given or lose.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct QueueDemand {
    /// Requests of its first waiting group; nothing when victims are sought.
    pub ask: Charge,
    /// Amounts that its victims hold, the next one included; nothing when groups wait.
    pub taken: Charge,
}

/// A queue that is compared with a sibling.
#[derive(Clone, Copy, Debug)]
pub struct Sibling<'a> {
    /// Its numbers.
    pub holding: &'a Holding,
    /// Amounts that it would be given or lose.
    pub demand: QueueDemand,
}

/// Orders two siblings, where so much is there in all; `Less` says that the left one goes first.
///
/// Cycles compare many queues and keep parts of this; here are all parts at once, for two queues.
///
/// # Source
/// docs/behaviour.md 1.11, queue comparison.
pub fn compare(left: &Sibling<'_>, right: &Sibling<'_>, total: Charge) -> Ordering {
    let weights = [left, right].map(|one| QueueWeights::of(one.holding, total));
    let [ours, theirs] = [(left, &weights[0]), (right, &weights[1])]
        .map(|(one, weights)| QueuePosition::new(one.holding.allocated, &one.demand, weights));
    let age = |one: &Sibling<'_>| (one.holding.created, one.holding.uid);
    QueuePosition::compare(&ours, 0, &theirs, 1, &weights).then_with(|| age(left).cmp(&age(right)))
}

/// Position of a queue among its siblings, for one group that waits below it.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct QueuePosition {
    /// Over its share, then not starved, then the priority reversed, then violating, packed so that one comparison
    /// orders them.
    need: u64,
    share_with: Ratio,
    used: Charge,
}

impl QueuePosition {
    /// Works out where a queue stands that holds so much.
    pub(crate) fn new(used: Charge, demand: &QueueDemand, weights: &QueueWeights) -> Self {
        let QueueWeights { priority, quota, share, allocatable, wholes } = weights;
        let with = used + demand.ask;
        // Three lanes written out: a loop over them is not unrolled, and this runs for each queue above each turn.
        let [cpu, memory, gpu] = QueueLane::ALL;
        let over = |lane| used[lane] > share[lane];
        let over_share = over(cpu) && over(memory) && over(gpu);
        let is_barred = |lane| allocatable[lane] == Limit::of(0) && with[lane] > 0;
        let violates = is_barred(cpu) || is_barred(memory) || is_barred(gpu);
        let need = u64::from(over_share) << 34
            | u64::from(!with.within(quota)) << 33
            | u64::from(reversed(*priority)) << 1
            | u64::from(violates);
        let share_with = dominant(&(with - demand.taken), wholes);
        Self { need, share_with, used }
    }

    /// Tells which of two queues goes first, the weights of each known by its row; ties end in the age and the UID
    /// (14.3, Q10), which the caller knows.
    ///
    /// # Source
    /// docs/behaviour.md 1.11, queue comparison.
    #[inline]
    pub(crate) fn compare(
        left: &Self,
        ours: u32,
        right: &Self,
        theirs: u32,
        all_weights: &[QueueWeights],
    ) -> Ordering {
        if left.need != right.need {
            return left.need.cmp(&right.need);
        }
        let order = left.share_with.cmp(&right.share_with);
        // Many siblings are equal.
        if order != Ordering::Equal || (ours == theirs && left.used == right.used) {
            return order;
        }
        let all_weights = [ours, theirs].map(|row| &all_weights[row as usize]);
        Self::compare_shares(left, all_weights[0], right, all_weights[1])
    }

    /// As [`compare`](Self::compare), for two whose shares with what is asked for are equal.
    #[cold]
    fn compare_shares(
        left: &Self,
        ours: &QueueWeights,
        right: &Self,
        theirs: &QueueWeights,
    ) -> Ordering {
        let share = |one: &Self, of: &QueueWeights| dominant(&one.used, &of.wholes);
        let shares = share(left, ours).cmp(&share(right, theirs));
        shares.then_with(|| smaller(&ours.allocatable, &theirs.allocatable))
    }
}

/// Less where no resource is more and one is less.
fn smaller(left: &PerLane<Limit>, right: &PerLane<Limit>) -> Ordering {
    let (mut below, mut above) = (false, false);
    for (left, right) in left.0.iter().zip(&right.0) {
        below |= left < right;
        above |= left > right;
    }
    // Both where they cross, neither where they are equal.
    above.cmp(&below)
}

/// The largest part of what may be held, over all resources.
fn dominant(amounts: &Charge, wholes: &Charge) -> Ratio {
    let part = |lane| {
        let (amount, whole) = (amounts[lane], wholes[lane]);
        if whole > 0 {
            // What is not held is no part of anything.
            return Ratio { part: amount.max(0), whole };
        }
        // Nothing may be held: worse than any part. GPUs are in thousandths already.
        let scale = if lane == QueueLane::Gpu { 1 } else { 1000 };
        Ratio { part: amount.max(0).saturating_mul(scale), whole: 1 }
    };
    let larger = |left: Ratio, right: Ratio| {
        let is_more = right.part > 0 && right.cmp(&left) == Ordering::Greater;
        if is_more { right } else { left }
    };
    let [cpu, memory, gpu] = QueueLane::ALL;
    larger(larger(part(cpu), part(memory)), part(gpu))
}
