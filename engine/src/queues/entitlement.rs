//! Rules for what queues may take, give and claim first: pure rules over the numbers of queues.
//!
//! Every function reads queues through `row`, so that it runs on the cluster's columns and on plain numbers alike.
//!
//! # Source
//! docs/behaviour.md 3.5, 3.7 (bounds), 4.2 to 4.4 (reclaim).

use std::{cmp::Ordering, ops::Deref};

use crate::base::{
    few::Few,
    ids::QueueId,
    resources::{Charge, Limit, PerLane, QueueLane},
    time::Timestamp,
};

/// A path from a leaf to its root is at most this long; a ring of parents ends here.
const DEPTH_MAX: usize = 64;

/// The numbers of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holding {
    /// The queue above.
    pub parent: Option<QueueId>,
    /// Amounts that it is entitled to.
    pub quota: PerLane<Limit>,
    /// Amounts that it may never pass.
    pub limit: PerLane<Limit>,
    /// Its fair part of the cluster.
    pub share: Charge,
    /// Amounts that its pods hold.
    pub allocated: Charge,
    /// Amounts that its pods hold which cannot be evicted.
    pub protected: Charge,
    /// Amounts that its pods hold which were told to leave: they are allocated no more.
    pub leaving: Charge,
    /// The part of what leaves that cannot be evicted.
    pub leaving_protected: Charge,
    /// Higher goes first.
    pub priority: i32,
    /// Time when it was made; older goes first.
    pub created: Timestamp,
    /// Its UID as a number; breaks the last tie.
    pub uid: u128,
}

impl Holding {
    /// Works out what it may hold before others may take from it.
    pub fn allocatable(&self) -> PerLane<Limit> {
        allocatable(&self.quota, &self.limit, self.share)
    }

    /// Gives the numbers as they are once all that was told to leave is gone.
    pub(crate) fn settled(self) -> Self {
        let none = Charge::default();
        Self { leaving: none, leaving_protected: none, ..self }
    }

    /// Tells whether `request` more stays within its quota in every resource.
    fn within_quota(&self, request: Charge) -> bool {
        claimed(self.allocated, self.leaving, request).within(&self.quota)
    }

    /// Tells whether `request` more of what cannot be evicted stays within its quota in every resource.
    fn may_protect(&self, request: Charge) -> bool {
        claimed(self.protected, self.leaving_protected, request).within(&self.quota)
    }

    /// Tells whether `request` more stays within its share or quota, whichever is more: a share has no part for what
    /// leaves.
    fn may_hold(&self, request: Charge) -> bool {
        let most = |lane: QueueLane| self.quota[lane].max(Limit::of(self.share[lane]));
        let holds = claimed(self.allocated, self.leaving, request);
        holds.iter().all(|(lane, amount)| most(lane).admits(amount))
    }
}

/// Sums what a queue has that asks for `request`. What was told to leave is held until it is gone: a queue whose users
/// give pods years to stop, and delete them, would take from others without end.
fn claimed(held: Charge, leaving: Charge, request: Charge) -> Charge {
    let lane = |lane: QueueLane| {
        let leaving = if request[lane] > 0 { leaving[lane] } else { 0 };
        held[lane] + leaving + request[lane]
    };
    PerLane(QueueLane::ALL.map(lane))
}

/// Works out what a queue may hold before others may take it back: its share or quota, whichever is more, at most its
/// limit.
///
/// # Source
/// docs/behaviour.md 3.5.
pub(crate) fn allocatable(
    quota: &PerLane<Limit>,
    limit: &PerLane<Limit>,
    share: Charge,
) -> PerLane<Limit> {
    let lane = |lane: QueueLane| quota[lane].max(Limit::of(share[lane])).min(limit[lane]);
    PerLane(QueueLane::ALL.map(lane))
}

/// A bound of a queue that is in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exceeded {
    /// The queue.
    pub queue: QueueId,
    /// The resource.
    pub lane: QueueLane,
    /// True if it is the limit; otherwise it is the quota for what cannot be evicted.
    pub limit: bool,
}

/// A queue that takes from others in a reclaim, and its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reclaimer {
    /// The leaf queue.
    pub queue: QueueId,
    /// Amounts that it asks for.
    pub request: Charge,
    /// True if it may be evicted itself.
    pub preemptible: bool,
    /// True if all GPUs at stake are MIG instances.
    pub mig: bool,
}

/// The queues from `leaf` to its root.
pub fn path(
    row: &impl Fn(QueueId) -> Holding,
    leaf: QueueId,
) -> impl Iterator<Item = QueueId> + Clone {
    std::iter::successors(Some(leaf), move |queue| row(*queue).parent).take(DEPTH_MAX)
}

/// The first bound on the way from the leaf to its root that `claim` would break: at each queue the limit, then
/// for what cannot be evicted the quota; resources that are not asked for break nothing.
///
/// # Source
/// docs/behaviour.md 3.7.
pub fn exceeded(row: &impl Fn(QueueId) -> Holding, claim: &Reclaimer) -> Option<Exceeded> {
    path(row, claim.queue).find_map(|queue| {
        let holding = row(queue);
        let over = |held: Charge, most: PerLane<Limit>, limit: bool| {
            claim
                .request
                .iter()
                .find(|(lane, asked)| *asked != 0 && !most[*lane].admits(held[*lane] + asked))
                .map(|(lane, _)| Exceeded { queue, lane, limit })
        };
        over(holding.allocated, holding.limit, true).or_else(|| {
            if claim.preemptible { None } else { over(holding.protected, holding.quota, false) }
        })
    })
}

/// Tells whether the leaf queue may take `claim` from others: it stays within its fair share, and within its quota with
/// what cannot be evicted, until what leaves is gone. Nobody owes a queue what it is not charged for, so that who asks for
/// nothing of it takes nothing.
///
/// # Source
/// docs/behaviour.md 4.2.
pub fn entitled(row: &impl Fn(QueueId) -> Holding, claim: &Reclaimer) -> bool {
    let holding = row(claim.queue);
    let wanted = holding.allocated + claim.request;
    let fair = wanted.0.iter().zip(holding.share.0).all(|(wanted, share)| *wanted <= share);
    let protected = claim.preemptible || holding.may_protect(claim.request);
    let asks = !claim.request.is_zero();
    asks && fair && holding.may_hold(claim.request) && protected
}

/// The highest queues on the two ways to the roots that differ: they are siblings, or the ways part at once.
///
/// Where one way is a part of the other, the last pair that was compared.
pub fn levelled(
    row: &impl Fn(QueueId) -> Holding,
    reclaimer: QueueId,
    victim: QueueId,
) -> (QueueId, QueueId) {
    let (ours, theirs) = (path(row, reclaimer), path(row, victim));
    let (deep, other) = (ours.clone().count(), theirs.clone().count());
    let common = deep.min(other);
    // Upwards from queues of one depth, as long as they differ.
    let mut pairs = ours.skip(deep - common).zip(theirs.skip(other - common)).take(common);
    let mut last = pairs.next().unwrap_or((reclaimer, victim));
    for (our, their) in pairs {
        if our == their {
            break;
        }
        last = (our, their);
    }
    last
}

/// Tells whether groups of `victim` may lose anything to `claim` at all.
///
/// # Source
/// docs/behaviour.md 4.3.
pub fn may_give(row: &impl Fn(QueueId) -> Holding, claim: &Reclaimer, victim: QueueId) -> bool {
    let (ours, theirs) = levelled(row, claim.queue, victim);
    let (ours, theirs) = (row(ours), row(theirs));
    if !ours.within_quota(claim.request) {
        return theirs.allocated.exceeds(&theirs.allocatable());
    }
    let mut below = false;
    for (lane, _) in claim.request.iter().filter(|(_, asked)| *asked > 0) {
        let Some(quota) = theirs.quota[lane].amount() else { continue };
        match theirs.allocated[lane].cmp(&quota) {
            Ordering::Greater => return true,
            Ordering::Less => below = true,
            Ordering::Equal => {}
        }
    }
    !below
}

/// Tells whether `claim` may take `victims`: per leaf queue, in the order of the victims, blocks that go as a whole.
///
/// `multiplier_milli` scales how full the reclaimer's branch may become against the victims', at least 1000.
///
/// # Source
/// docs/behaviour.md 4.4.
pub fn may_take<B: Deref<Target = [Charge]>>(
    row: &impl Fn(QueueId) -> Holding,
    claim: &Reclaimer,
    victims: &[(QueueId, B)],
    multiplier_milli: u64,
) -> bool {
    let mut books = Books { row, taken: Few::default() };
    for (victim, blocks) in victims {
        let (ours, theirs) = levelled(row, claim.queue, *victim);
        let (ours, theirs_row) = (row(ours), row(theirs));
        let deserved = ours.within_quota(claim.request);
        let allocatable = theirs_row.allocatable();
        for block in blocks.iter() {
            let rest = books.rest(theirs);
            let keeps_share = rest.exceeds(&allocatable);
            let keeps_quota = deserved && rest.exceeds(&theirs_row.quota);
            if !keeps_share && !keeps_quota {
                return false;
            }
            for queue in path(row, *victim) {
                books.take(queue, *block);
            }
        }
    }
    path(row, claim.queue).all(|queue| {
        let holding = row(queue);
        let protected = claim.preemptible || holding.may_protect(claim.request);
        protected && !books.outgrows(queue, claim, multiplier_milli)
    })
}

/// The branch of `victim` that meets the claimer's, and how much of `lane` it loses at most before its last loss;
/// nothing where another resource lets it lose on.
///
/// # Source
/// docs/behaviour.md 4.4: each loss needs the branch to hold more than it may, or than its quota.
pub fn excess(
    row: &impl Fn(QueueId) -> Holding,
    claim: &Reclaimer,
    victim: QueueId,
    lane: QueueLane,
) -> (QueueId, Option<i64>) {
    let (ours, branch) = levelled(row, claim.queue, victim);
    let deserved = row(ours).within_quota(claim.request);
    let theirs = row(branch);
    let allocatable = theirs.allocatable();
    let over = |lane: QueueLane| {
        let keeps =
            if deserved { allocatable[lane].min(theirs.quota[lane]) } else { allocatable[lane] };
        keeps.amount().map_or(0, |keeps| (theirs.allocated[lane] - keeps).max(0))
    };
    let bounded = QueueLane::ALL.into_iter().all(|other| other == lane || over(other) == 0);
    (branch, bounded.then(|| over(lane)))
}

/// Amounts that queues have left while victims are taken.
struct Books<'a, R> {
    row: &'a R,
    /// Amounts that each queue lost.
    taken: Few<(QueueId, Charge)>,
}

impl<R: Fn(QueueId) -> Holding> Books<'_, R> {
    fn taken(&self, queue: QueueId) -> Option<Charge> {
        self.taken.iter().find(|(other, _)| *other == queue).map(|(_, taken)| *taken)
    }

    fn rest(&self, queue: QueueId) -> Charge {
        (self.row)(queue).allocated - self.taken(queue).unwrap_or_default()
    }

    fn take(&mut self, queue: QueueId, block: Charge) {
        match self.taken.iter_mut().find(|(other, _)| *other == queue) {
            Some((_, taken)) => *taken += block,
            None => self.taken.push((queue, block)),
        }
    }

    /// Tells whether `queue` would be fuller, against its share, than a sibling that loses to it.
    ///
    /// # Source
    /// docs/behaviour.md 4.4, the siblings: GPUs that are MIG instances decide nothing here.
    fn outgrows(&self, queue: QueueId, claim: &Reclaimer, multiplier_milli: u64) -> bool {
        let ours = (self.row)(queue);
        let wanted = self.rest(queue) + claim.request;
        self.taken.iter().any(|(sibling, taken)| {
            let theirs = (self.row)(*sibling);
            if *sibling == queue || theirs.parent != ours.parent {
                return false;
            }
            let rest = self.rest(*sibling);
            let involved = |lane: &QueueLane| {
                (taken[*lane] != 0 || claim.request[*lane] != 0)
                    && !(claim.mig && *lane == QueueLane::Gpu)
            };
            QueueLane::ALL.into_iter().filter(involved).any(|lane| {
                let (wanted, ours) = (i128::from(wanted[lane]), i128::from(ours.share[lane]));
                let (rest, theirs) = (i128::from(rest[lane]), i128::from(theirs.share[lane]));
                // wanted / ours * multiplier >= rest / theirs, without dividing.
                wanted > ours
                    && theirs > 0
                    && wanted * theirs * i128::from(multiplier_milli.max(1000))
                        >= rest * ours * 1000
            })
        })
    }
}
