//! Fair share down the queue tree.
//!
//! # Source
//! docs/behaviour.md 3.3 to 3.5. KAI divides with floating point; here every step is exact, and what KAI
//! compares as fractions is compared as 52 bits of them.

use std::cmp::Reverse;

use crate::{
    base::{
        ids::QueueId,
        resources::{Charge, GPU_MILLI, Limit, PerLane, QueueLane},
        time::Timestamp,
    },
    config::Config,
    state::{State, gpu_milli, rows::QueueRow},
};

/// One queue that takes part in dividing one resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Participant {
    /// Amounts that it is entitled to.
    pub quota: Limit,
    /// Amounts that it may never pass.
    pub limit: Limit,
    /// Its part of what is left over.
    pub weight: u64,
    /// Past usage, in millionths of the cluster.
    pub usage_micro: u64,
    /// Amount that it holds or waits for.
    pub requested: i64,
    /// Higher goes first.
    pub priority: i32,
    /// Older goes first.
    pub created: Timestamp,
    /// Smaller goes first.
    pub uid: u128,
}

impl Participant {
    fn requestable(&self) -> i64 {
        self.limit.amount().map_or(self.requested, |limit| limit.min(self.requested))
    }
}

/// Losses of queues to rounding, as a fraction of a unit in 52 bits, and not yet repaid.
type Remainders = Vec<Option<u64>>;

/// Divides `amount` of one resource among siblings, in whole units of what is over quota.
///
/// Gives the share of each and what is left, which is negative where quotas exceed what there is.
pub fn divide(
    amount: i64,
    unit: i64,
    usage_factor_milli: u64,
    participants: &[Participant],
) -> (Vec<i64>, i64) {
    let mut shares = Vec::new();
    let left = divide_into(amount, unit, usage_factor_milli, participants, &mut shares);
    (shares, left)
}

/// As [`divide`], with the shares written over what is in `shares`.
fn divide_into(
    amount: i64,
    unit: i64,
    usage_factor_milli: u64,
    participants: &[Participant],
    shares: &mut Vec<i64>,
) -> i64 {
    let granted = |participant: &Participant| {
        participant.quota.amount().unwrap_or(amount.max(0)).min(participant.requestable())
    };
    shares.clear();
    shares.extend(participants.iter().map(granted));
    let granted = shares.iter().fold(0, |sum: i64, share| sum.saturating_add(*share));
    let left = amount.saturating_sub(granted);
    divide_over_quota(left, unit, usage_factor_milli, participants, shares)
}

/// Divides what is left after quotas were granted; `shares` holds the quotas and receives the rest.
///
/// # Cost
/// In the number of participants where there is enough for all; else in it times its logarithm, and in the rounds.
pub fn divide_over_quota(
    mut left: i64,
    unit: i64,
    usage_factor_milli: u64,
    participants: &[Participant],
    shares: &mut [i64],
) -> i64 {
    let division = Division { unit, usage_factor_milli, participants };
    let alike = participants.windows(2).all(|pair| pair[0].priority == pair[1].priority);
    if left <= 0 || (alike && division.satisfy(0..participants.len(), &mut left, shares)) {
        return left;
    }
    let mut order: Vec<usize> = (0..participants.len()).collect();
    order.sort_by_key(|at| Reverse(participants[*at].priority));
    let tiers = || order.chunk_by(|l, r| participants[*l].priority == participants[*r].priority);
    let mut remainders: Remainders = vec![None; participants.len()];
    for members in tiers() {
        if !division.satisfy(members.iter().copied(), &mut left, shares) {
            while left > 0 && division.round(members, &mut left, shares, &mut remainders) {}
        }
    }
    for members in tiers() {
        let owed = members.iter().copied().filter(|at| remainders[*at].is_some());
        let mut owed: Vec<usize> = owed.collect();
        owed.sort_by_key(|at| {
            (Reverse(remainders[*at]), participants[*at].created, participants[*at].uid)
        });
        for at in owed {
            let given = unit.min(left);
            shares[at] += given;
            left -= given;
        }
    }
    left
}

struct Division<'e> {
    unit: i64,
    usage_factor_milli: u64,
    participants: &'e [Participant],
}

impl Division<'_> {
    /// Gives members all that they ask for, where that is no more than what is left: the rounds end there too.
    ///
    /// Past usage may leave a queue without any part, so that only rounds tell.
    fn satisfy(
        &self,
        members: impl Iterator<Item = usize> + Clone,
        left: &mut i64,
        shares: &mut [i64],
    ) -> bool {
        let wants = |at: usize, share: i64| {
            let participant = &self.participants[at];
            if participant.weight == 0 { 0 } else { (participant.requestable() - share).max(0) }
        };
        let mut wanted = 0_i64;
        for at in members.clone() {
            let used = self.usage_factor_milli > 0 && self.participants[at].usage_micro > 0;
            wanted = wanted.saturating_add(wants(at, shares[at]));
            if used || wanted > *left {
                return false;
            }
        }
        for at in members {
            shares[at] += wants(at, shares[at]);
        }
        *left -= wanted;
        true
    }

    /// One round among the queues of one priority; says whether another may give more.
    fn round(
        &self,
        members: &[usize],
        left: &mut i64,
        shares: &mut [i64],
        remainders: &mut Remainders,
    ) -> bool {
        let start = i128::from(*left);
        let (scores, total) = self.scores(members, shares);
        if total == 0 {
            return false;
        }
        let mut again = false;
        for (&at, score) in members.iter().zip(scores) {
            let participant = &self.participants[at];
            let Some(score) = score.filter(|_| participant.weight != 0) else { continue };
            if *left == 0 {
                break;
            }
            let want = participant.requestable() - shares[at];
            let whole = i128::from(want) * total <= start * score;
            let given = if whole {
                remainders[at] = None;
                want
            } else {
                let unit = total * i128::from(self.unit);
                let (units, rest) = (start * score / unit, start * score % unit);
                if rest > 0 {
                    remainders[at] = u64::try_from((rest << 52) / unit).ok();
                }
                i64::try_from(units).expect("a part is at most the whole") * self.unit
            };
            let given = given.min(*left);
            shares[at] += given;
            *left -= given;
            again |= whole && given != 0 && i128::from(want) * total < start * score;
        }
        again
    }

    /// For each member that can take more its part of what is left, as integers of one common total.
    ///
    /// With weights `w` of sum `W`, past usage `u` and factor `k` a part is `max(0, w/W + k·(w/W − u))`.
    fn scores(&self, members: &[usize], shares: &[i64]) -> (Vec<Option<i128>>, i128) {
        let hungry = |at: usize| self.participants[at].requestable() > shares[at];
        let weights: u64 =
            members.iter().filter(|at| hungry(**at)).map(|at| self.participants[*at].weight).sum();
        if weights == 0 {
            return (vec![None; members.len()], 0);
        }
        let factor = i128::from(self.usage_factor_milli);
        let used = factor > 0 && members.iter().any(|at| self.participants[*at].usage_micro > 0);
        let mut scores: Vec<Option<i128>> = members
            .iter()
            .map(|at| {
                let participant = &self.participants[*at];
                let can = participant.requested > shares[*at]
                    && participant.limit.amount().is_none_or(|limit| limit > shares[*at]);
                let weight = i128::from(participant.weight);
                can.then(|| {
                    if used {
                        let usage = i128::from(participant.usage_micro) * i128::from(weights);
                        (weight * 1_000_000_000 + factor * (weight * 1_000_000 - usage)).max(0)
                    } else {
                        weight
                    }
                })
            })
            .collect();
        reduce(&mut scores);
        let total = scores.iter().flatten().sum();
        (scores, total)
    }
}

/// Makes scores small enough that products with amounts stay within 128 bits.
fn reduce(scores: &mut [Option<i128>]) {
    const TOTAL_MAX: i128 = 1 << 60;
    let divisor = scores.iter().flatten().copied().fold(0, gcd).max(1);
    let total: i128 = scores.iter().flatten().map(|score| score / divisor).sum();
    let divisor = divisor * (total / TOTAL_MAX + 1);
    for score in scores.iter_mut().flatten() {
        *score /= divisor;
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The smallest amount that is given over quota, per resource.
const UNITS: PerLane<i64> = PerLane([1, 1, GPU_MILLI]);

/// Sums what there is to divide: what nodes that take pods offer, less what pods of others hold.
pub(crate) fn total(state: &State) -> Charge {
    let mut total = state.nodes().total;
    if state.nodes().index.policy.restrict {
        total[QueueLane::Gpu] -= state.nodes().unlabelled_gpu;
    }
    total
}

/// Works out every queue's fair share where something moved since.
pub(crate) fn divide_shares(state: &mut State, config: &Config) {
    if !state.take_moved() {
        return;
    }
    let total = total(state);
    let mut siblings: Vec<QueueId> = state.queues().roots.iter().copied().collect();
    let mut scratch = Scratch { memory_min: state.nodes().memory_min(), ..Scratch::default() };
    let mut above: Vec<QueueId> = Vec::new();
    divide_among(state, &siblings, total, config, &mut scratch);
    loop {
        let rows = &state.queues().rows;
        above.extend(siblings.iter().filter(|id| rows[**id].parts));
        let Some(queue) = above.pop() else { return };
        let share = rows[queue].share;
        siblings.clear();
        siblings.extend(&state.queues().below[queue].children);
        divide_among(state, &siblings, share, config, &mut scratch);
    }
}

fn divide_among(
    state: &mut State,
    siblings: &[QueueId],
    amount: Charge,
    config: &Config,
    scratch: &mut Scratch,
) {
    let Scratch { participants, shares, memory_min } = scratch;
    let factor_milli = config.usage_factor_milli;
    let rows = &state.queues().rows;
    let enough = suffices(siblings.iter().map(|id| &rows[*id]), amount, *memory_min, factor_milli);
    for id in siblings {
        let share = fill(&state.queues().rows[*id], amount, enough, *memory_min);
        state.note_share(*id, share);
    }
    for (lane, unit) in UNITS.iter().filter(|(lane, _)| !enough[*lane]) {
        let rows = &state.queues().rows;
        let all = siblings.iter().map(|id| &rows[*id]);
        participants.clear();
        participants.extend(all.map(|row| participant(row, lane, *memory_min)));
        divide_into(amount[lane], unit, factor_milli, participants, shares);
        for (id, share) in siblings.iter().zip(&*shares) {
            let mut all_of_it = state.queues().rows[*id].share;
            all_of_it[lane] = *share;
            state.note_share(*id, all_of_it);
        }
    }
}

/// Room to divide in, used again for all siblings of a cluster.
#[derive(Default)]
struct Scratch {
    participants: Vec<Participant>,
    shares: Vec<i64>,
    /// The smallest GPU memory in the cluster, in MiB.
    memory_min: Option<u32>,
}

/// The resources of which there is enough for all that siblings ask for, so that quotas, priorities and rounds come to
/// the same; past usage may leave a queue without its part all the same.
fn suffices<'q>(
    siblings: impl Iterator<Item = &'q QueueRow>,
    amount: Charge,
    memory_min: Option<u32>,
    usage_factor_milli: u64,
) -> PerLane<bool> {
    let (mut wanted, mut enough) = (Charge::default(), PerLane([true; 3]));
    for row in siblings {
        let facts = row.facts.as_ref().expect("a queue that takes part is live");
        for lane in QueueLane::ALL {
            let more = requestable(row, lane, memory_min).max(0);
            wanted[lane] = wanted[lane].saturating_add(more);
            let unused = usage_factor_milli == 0 || facts.usage_micro[lane] == 0;
            enough[lane] &= unused && wanted[lane] <= amount[lane];
        }
    }
    enough
}

/// Amount that it holds or waits for.
fn requested(row: &QueueRow, lane: QueueLane, memory_min: Option<u32>) -> i64 {
    let mut requested = row.requested[lane];
    if lane == QueueLane::Gpu
        && row.requested_mib != 0
        && let Some(memory_mib) = memory_min
    {
        requested = requested.saturating_add(gpu_milli(row.requested_mib, memory_mib));
    }
    requested
}

/// Gives what of that it may have at most.
fn requestable(row: &QueueRow, lane: QueueLane, memory_min: Option<u32>) -> i64 {
    let requested = requested(row, lane, memory_min);
    let limit = row.facts.as_ref().and_then(|facts| facts.limit[lane].amount());
    limit.map_or(requested, |limit| limit.min(requested))
}

/// Its share of what there is enough of for all, and the one that it has of the rest; nothing over its quota
/// without a weight.
fn fill(row: &QueueRow, amount: Charge, enough: PerLane<bool>, memory_min: Option<u32>) -> Charge {
    let facts = row.facts.as_ref().expect("a queue that takes part is live");
    let mut share = row.share;
    for lane in QueueLane::ALL.into_iter().filter(|lane| enough[*lane]) {
        let requestable = requestable(row, lane, memory_min);
        let quota = facts.quota[lane].amount().unwrap_or(amount[lane]);
        share[lane] =
            if facts.weight_milli[lane] == 0 { requestable.min(quota) } else { requestable };
    }
    share
}

fn participant(row: &QueueRow, lane: QueueLane, memory_min: Option<u32>) -> Participant {
    let facts = row.facts.as_ref().expect("a queue that takes part is live");
    let requested = requested(row, lane, memory_min);
    Participant {
        quota: facts.quota[lane],
        limit: facts.limit[lane],
        weight: facts.weight_milli[lane],
        usage_micro: facts.usage_micro[lane],
        requested,
        priority: facts.priority,
        created: facts.created,
        uid: facts.uid,
    }
}

#[cfg(test)]
mod tests {
    use super::{GPU_MILLI, Limit, Participant, Timestamp, divide};

    /// A queue without a quota that asks for so many GPUs, with its weight and past use.
    fn participant(gpus: i64, weight: u64, usage_micro: u64) -> Participant {
        Participant {
            quota: Limit::of(0),
            limit: Limit::UNLIMITED,
            weight,
            usage_micro,
            requested: gpus * GPU_MILLI,
            priority: 100,
            created: Timestamp(0),
            uid: 0,
        }
    }

    fn check(gpus: i64, participants: &[Participant], expect: &[i64]) {
        let (shares, _) = divide(gpus * GPU_MILLI, GPU_MILLI, 1000, participants);
        let shares: Vec<i64> = shares.iter().map(|share| share / GPU_MILLI).collect();
        assert_eq!(shares, expect, "{participants:?}");
    }

    /// The weight of a queue at its limit is none of those that past use is weighed against.
    #[test]
    fn a_queue_at_its_limit_leaves_the_others_their_parts() {
        let (rested, busy) = (participant(10, 1, 0), participant(10, 1, 300_000));
        check(9, &[rested, busy], &[5, 4]);
        let one = Limit::of(GPU_MILLI);
        let full = Participant { quota: one, limit: one, ..participant(9, 2, 0) };
        check(10, &[rested, busy, full], &[5, 4, 1]);
    }

    /// A quota without a bound is of all that there is, which is nothing where there is less; those of many siblings may come
    /// to more than a number holds.
    #[test]
    fn quotas_without_a_bound_are_of_what_there_is() {
        for (amount, requested, share, left) in [(-5, 3, 0, -5), (i64::MAX, i64::MAX, i64::MAX, 0)]
        {
            let queue = Participant { quota: Limit::UNLIMITED, requested, ..participant(0, 1, 0) };
            assert_eq!(divide(amount, 1, 0, &[queue; 3]), (vec![share; 3], left));
        }
    }
}
