//! Fair shares against an exact solver in rational numbers.

use kai_engine::{
    Limit, Timestamp,
    share::{Entrant, divide},
};
use kai_sim::generate::Seed;
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

/// A rational number with a positive denominator, reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio {
    over: i128,
    under: i128,
}

impl Ratio {
    fn new(over: i128, under: i128) -> Self {
        let (mut a, mut b) = (over.abs(), under);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = a.max(1);
        Self { over: over / common, under: under / common }
    }

    fn of(whole: i64) -> Self {
        Self::new(i128::from(whole), 1)
    }

    fn plus(self, other: Self) -> Self {
        Self::new(self.over * other.under + other.over * self.under, self.under * other.under)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self { over: -other.over, ..other })
    }

    fn times(self, over: i128, under: i128) -> Self {
        Self::new(self.over * over, self.under * under)
    }

    fn at_most(self, other: Self) -> bool {
        self.over * other.under <= other.over * self.under
    }
}

fn requestable(queue: &Entrant) -> i64 {
    queue.limit.amount().map_or(queue.requested, |limit| limit.min(queue.requested))
}

/// Quotas first, then weighted water filling tier by tier, in exact fractions: nobody gets more than it asks for, and
/// what one leaves goes to the others.
fn exact(total: i64, queues: &[Entrant]) -> Vec<Ratio> {
    let mut shares: Vec<Ratio> = queues
        .iter()
        .map(|queue| Ratio::of(queue.quota.amount().unwrap_or(total).min(requestable(queue))))
        .collect();
    let mut left = shares.iter().fold(Ratio::of(total), |left, share| left.minus(*share));
    let mut tiers: Vec<i32> = queues.iter().map(|queue| queue.priority).collect();
    tiers.sort_unstable_by(|a, b| b.cmp(a));
    tiers.dedup();
    for tier in tiers {
        loop {
            let open: Vec<usize> = (0..queues.len())
                .filter(|at| queues[*at].priority == tier && queues[*at].weight > 0)
                .filter(|at| !Ratio::of(requestable(&queues[*at])).at_most(shares[*at]))
                .collect();
            let weights: i128 = open.iter().map(|at| i128::from(queues[*at].weight)).sum();
            if open.is_empty() || left.over <= 0 {
                break;
            }
            let part = |at: usize| left.times(i128::from(queues[at].weight), weights);
            let want = |at: usize| Ratio::of(requestable(&queues[at])).minus(shares[at]);
            let full: Vec<usize> =
                open.iter().copied().filter(|at| want(*at).at_most(part(*at))).collect();
            let given: Vec<(usize, Ratio)> = if full.is_empty() {
                open.iter().map(|at| (*at, part(*at))).collect()
            } else {
                full.iter().map(|at| (*at, want(*at))).collect()
            };
            for (at, amount) in &given {
                shares[*at] = shares[*at].plus(*amount);
                left = left.minus(*amount);
            }
            if full.is_empty() {
                break;
            }
        }
    }
    shares
}

fn queues(draw: &mut Seed) -> Vec<Entrant> {
    let amount = |draw: &mut Seed| i64::try_from(draw.below(12)).expect("it is small") * 1000;
    (0..=draw.below(6))
        .map(|number| Entrant {
            quota: if draw.one_in(6) { Limit::UNLIMITED } else { Limit::of(amount(draw)) },
            limit: if draw.one_in(4) { Limit::of(amount(draw)) } else { Limit::UNLIMITED },
            weight: *draw.pick(&[0, 1000, 1000, 2000, 3000]),
            usage_micro: 0,
            requested: amount(draw),
            priority: *draw.pick(&[100, 100, 200]),
            created: Timestamp(i64::try_from(draw.below(3)).expect("it is small")),
            uid: u128::from(number),
        })
        .collect()
}

proptest! {
    #![proptest_config(Config {
        cases: 2000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/share.txt"))),
        ..Config::default()
    })]

    /// Each share is the exact one but for rounding: at most a unit for each sibling.
    #[test]
    fn shares_are_exact_but_for_rounding(seed: u64) {
        let mut draw = Seed::new(seed);
        let queues = queues(&mut draw);
        let total = i64::try_from(draw.below(30)).expect("it is small") * 1000;
        let (shares, left) = divide(total, 1000, 0, &queues);
        let exact = exact(total, &queues);
        let slack = Ratio::of(1000 * i64::try_from(queues.len()).expect("it is small"));
        for (share, exact) in shares.iter().zip(&exact) {
            let close = Ratio::of(*share).at_most(exact.plus(slack)) && exact.at_most(Ratio::of(*share).plus(slack));
            prop_assert!(close, "{shares:?} of {total} for {queues:?}, exactly {exact:?}");
        }
        prop_assert_eq!(shares.iter().sum::<i64>() + left, total);
    }

    /// Nothing is left while somebody with a weight wants more.
    #[test]
    fn nothing_is_left_that_somebody_wants(seed: u64) {
        let mut draw = Seed::new(seed);
        let queues = queues(&mut draw);
        let total = i64::try_from(draw.below(30)).expect("it is small") * 1000;
        let (shares, left) = divide(total, 1000, 0, &queues);
        let hungry = queues.iter().zip(&shares).any(|(queue, share)| queue.weight > 0 && requestable(queue) > *share);
        prop_assert!(left <= 0 || !hungry, "{left} of {total} are left by {shares:?} for {queues:?}");
    }

    /// The order in which queues are listed decides nothing.
    #[test]
    fn the_order_of_siblings_decides_nothing(seed: u64) {
        let mut draw = Seed::new(seed);
        let queues = queues(&mut draw);
        let total = i64::try_from(draw.below(30)).expect("it is small") * 1000;
        let (shares, _) = divide(total, 1000, 1000, &queues);
        let reversed: Vec<Entrant> = queues.iter().rev().copied().collect();
        let (mut other, _) = divide(total, 1000, 1000, &reversed);
        other.reverse();
        prop_assert_eq!(shares, other);
    }
}
