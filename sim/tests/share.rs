//! Fair shares against exact solvers in rational numbers: one that fills by weight, one that does step by step what the
//! rules say.

use std::collections::BTreeMap;

use kai_engine::{
    Config as Settings, Delta, GPU_MILLI, GpuRequest, Group, Lane, Limit, Node, Owner, PerLane,
    Pod, Queue, QueueId, QueueLane, Resources, Shape, Timestamp,
    share::{Participant, divide},
};
use kai_sim::{generate::Seed, world::World};
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

    fn is_positive(self) -> bool {
        self.over > 0
    }

    /// The greatest multiple of `unit` that is not above it.
    fn floored(self, unit: i128) -> i128 {
        self.over.div_euclid(self.under * unit) * unit
    }

    fn by(self, other: Self) -> Self {
        Self::new(self.over * other.over, self.under * other.under)
    }
}

fn requestable(queue: &Participant) -> i64 {
    queue.limit.amount().map_or(queue.requested, |limit| limit.min(queue.requested))
}

/// Quotas first, then weighted water filling tier by tier, in exact fractions: nobody gets more than it asks for, and
/// what one leaves goes to the others.
fn exact(total: i64, queues: &[Participant]) -> Vec<Ratio> {
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

/// The rules word by word: quotas; what is left by weight and past usage, tier by tier, in whole units; then the units
/// that rounding kept back, largest remainder first.
///
/// # Source
/// docs/behaviour.md 3.3, with amounts of GPUs in thousandths.
struct Rules<'q> {
    queues: &'q [Participant],
    unit: i128,
    /// k.
    factor: Ratio,
    shares: Vec<i128>,
    left: i128,
    remainders: BTreeMap<usize, Ratio>,
}

impl<'q> Rules<'q> {
    fn divide(
        total: i64,
        unit: i64,
        usage_factor_milli: u64,
        queues: &'q [Participant],
    ) -> Vec<i128> {
        let deserved =
            |queue: &Participant| queue.quota.amount().unwrap_or(total).min(requestable(queue));
        let shares: Vec<i128> = queues.iter().map(|queue| i128::from(deserved(queue))).collect();
        let left = i128::from(total) - shares.iter().sum::<i128>();
        let factor = Ratio::new(i128::from(usage_factor_milli), 1000);
        let remainders = BTreeMap::new();
        let mut rules = Self { queues, unit: i128::from(unit), factor, shares, left, remainders };
        let mut tiers: Vec<i32> = queues.iter().map(|queue| queue.priority).collect();
        tiers.sort_unstable_by(|a, b| b.cmp(a));
        tiers.dedup();
        for tier in &tiers {
            while rules.left > 0 && rules.round(*tier) {}
        }
        for tier in &tiers {
            rules.repay(*tier);
        }
        rules.shares
    }

    fn of_tier(&self, tier: i32) -> impl Iterator<Item = usize> + use<'q> {
        let queues = self.queues;
        (0..queues.len()).filter(move |at| queues[*at].priority == tier)
    }

    fn missing(&self, at: usize) -> i128 {
        i128::from(requestable(&self.queues[at])) - self.shares[at]
    }

    /// s(q), for a queue of a tier whose hungry queues have so much weight.
    fn score(&self, at: usize, weights: i128) -> Ratio {
        let weight = Ratio::new(i128::from(self.queues[at].weight), weights);
        let usage = Ratio::new(i128::from(self.queues[at].usage_micro), 1_000_000);
        let score = weight.plus(self.factor.by(weight.minus(usage)));
        if score.is_positive() { score } else { Ratio::new(0, 1) }
    }

    /// One round of phase 2; says whether there may be more to give.
    fn round(&mut self, tier: i32) -> bool {
        let start = self.left;
        let open: Vec<usize> = self.of_tier(tier).filter(|at| self.missing(*at) > 0).collect();
        let weights: i128 = open.iter().map(|at| i128::from(self.queues[*at].weight)).sum();
        if weights == 0 {
            return false;
        }
        let scores: Vec<Ratio> = open.iter().map(|at| self.score(*at, weights)).collect();
        let total = scores.iter().fold(Ratio::new(0, 1), |sum, score| sum.plus(*score));
        if !total.is_positive() {
            return false;
        }
        let mut again = false;
        let queues = self.queues;
        for (at, score) in open.into_iter().zip(scores).filter(|(at, _)| queues[*at].weight > 0) {
            let fair = score.by(Ratio::new(total.under, total.over)).times(start, 1);
            let want = Ratio::new(self.missing(at), 1);
            let given = if want.at_most(fair) {
                self.remainders.remove(&at);
                again |= want.is_positive() && !fair.at_most(want);
                self.missing(at)
            } else {
                let whole = fair.floored(self.unit);
                let rest = fair.minus(Ratio::new(whole, 1));
                if rest.is_positive() {
                    self.remainders.insert(at, rest);
                }
                whole
            };
            self.shares[at] += given;
            self.left -= given;
        }
        again
    }

    /// Phase 3.
    fn repay(&mut self, tier: i32) {
        let rest = |at: usize| self.remainders.get(&at).map(|rest| (at, *rest));
        let mut owed: Vec<(usize, Ratio)> = self.of_tier(tier).filter_map(rest).collect();
        owed.sort_by_key(|(at, _)| (self.queues[*at].created, self.queues[*at].uid));
        owed.sort_by(|(_, left), (_, right)| {
            (right.over * left.under).cmp(&(left.over * right.under))
        });
        for (at, _) in owed {
            let given = self.unit.min(self.left.max(0));
            self.shares[at] += given;
            self.left -= given;
        }
    }
}

/// A tree of queues, three levels at most, with a pod of so many GPUs for each that waits at each leaf.
fn tree(draw: &mut Seed) -> World {
    let mut world = World::default();
    let gpus = i64::try_from(draw.below(30)).expect("it is small");
    let amounts = [(Lane::CPU, 1_000_000), (Lane::GPU, gpus * GPU_MILLI), (Lane::PODS, 1000)];
    let node = world.names.node("node");
    let facts = Node { allocatable: Resources::from_iter(amounts), ..Node::default() };
    world.tell(Delta::Node(node, Box::new(facts)));
    let mut above: Vec<Option<QueueId>> = vec![None];
    for level in 0..=draw.below(3) {
        let mut here = Vec::new();
        for parent in &above {
            for participant in queues(draw) {
                let id = world.names.queue(&format!("{level}-{parent:?}-{}", participant.uid));
                let gpu_only = |limit: Limit| PerLane([Limit::UNLIMITED, Limit::UNLIMITED, limit]);
                let queue = Queue {
                    parent: *parent,
                    priority: participant.priority,
                    quota: gpu_only(participant.quota),
                    limit: gpu_only(participant.limit),
                    weight_milli: PerLane([1000, 1000, participant.weight]),
                    usage_micro: PerLane([0, 0, participant.usage_micro]),
                    created: participant.created,
                    uid: participant.uid,
                    ..Queue::default()
                };
                world.tell(Delta::Queue(id, Box::new(queue)));
                here.push((id, participant.requested / GPU_MILLI));
            }
        }
        // Whoever has queues below it has no pods of its own.
        above = here.iter().filter(|_| draw.one_in(2)).map(|(id, _)| Some(*id)).collect();
        for (queue, gpus) in here.iter().filter(|(id, _)| !above.contains(&Some(*id))) {
            wait(&mut world, *queue, *gpus);
        }
    }
    for queue in above.into_iter().flatten() {
        wait(&mut world, queue, 1);
    }
    world
}

/// A group of a queue that waits for so many GPUs.
fn wait(world: &mut World, queue: QueueId, gpus: i64) {
    let name = format!("{queue:?}");
    let (group, pod) = (world.names.group(&name), world.names.pod(&name));
    world.tell(Delta::Group(group, Box::new(Group { queue: Some(queue), ..Group::default() })));
    let gpu = GpuRequest::Whole(u16::try_from(gpus).expect("it is small"));
    let shape = Shape { gpu, ..Shape::default() };
    let facts = Pod { owner: Owner::Group(group), shape, ..Pod::default() };
    world.tell(Delta::Pod(pod, Box::new(facts)));
}

/// Siblings and how they take part in dividing GPUs, by the queue above them.
fn siblings(world: &World) -> BTreeMap<Option<QueueId>, Vec<(QueueId, Participant)>> {
    let mut siblings: BTreeMap<Option<QueueId>, Vec<(QueueId, Participant)>> = BTreeMap::new();
    for (id, facts) in &world.facts.queues {
        let lane = QueueLane::Gpu;
        let participant = Participant {
            quota: facts.quota[lane],
            limit: facts.limit[lane],
            weight: facts.weight_milli[lane],
            usage_micro: facts.usage_micro[lane],
            requested: world.cluster.queue_state(*id).requested[lane],
            priority: facts.priority,
            created: facts.created,
            uid: facts.uid,
        };
        siblings.entry(facts.parent).or_default().push((*id, participant));
    }
    siblings
}

fn queues(draw: &mut Seed) -> Vec<Participant> {
    let amount = |draw: &mut Seed| i64::try_from(draw.below(12)).expect("it is small") * 1000;
    let used = draw.one_in(3);
    (0..=draw.below(6))
        .map(|number| Participant {
            quota: if draw.one_in(6) { Limit::UNLIMITED } else { Limit::of(amount(draw)) },
            limit: if draw.one_in(4) { Limit::of(amount(draw)) } else { Limit::UNLIMITED },
            weight: *draw.pick(&[0, 1000, 1000, 2000, 3000]),
            usage_micro: if used { draw.below(5) * 100_000 } else { 0 },
            requested: amount(draw),
            priority: *draw.pick(&[100, 100, 200]),
            created: Timestamp(i64::try_from(draw.below(3)).expect("it is small")),
            uid: u128::from(number),
        })
        .collect()
}

proptest! {
    #![proptest_config(Config {
        cases: Config::default().cases * 8,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/share.txt"))),
        ..Config::default()
    })]

    /// Past usage aside, each share is the exact one but for rounding: at most a unit for each sibling.
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

    /// With past usage and any factor, each share is what the rules say to the unit.
    #[test]
    fn shares_are_those_of_the_rules(seed: u64) {
        let mut draw = Seed::new(seed);
        let queues = queues(&mut draw);
        let total = i64::try_from(draw.below(30)).expect("it is small") * 1000;
        let (unit, factor) = (*draw.pick(&[1, 1000]), *draw.pick(&[0, 500, 1000, 2000]));
        let (shares, _) = divide(total, unit, factor, &queues);
        let expect = Rules::divide(total, unit, factor, &queues);
        let shares: Vec<i128> = shares.into_iter().map(i128::from).collect();
        prop_assert_eq!(shares, expect, "{} of {} for {:?}", factor, total, queues);
    }

    /// Down a tree of queues, each divides among those below it what it got itself.
    #[test]
    fn shares_go_down_the_tree(seed: u64) {
        let mut world = tree(&mut Seed::new(seed));
        let before = siblings(&world);
        let config = Settings::default();
        world.plan();
        let node = world.names.node("node");
        let total = world.cluster.node_amounts(node, Lane::GPU).0;
        let share = |queue: QueueId| world.cluster.queue_state(queue).fair_share[QueueLane::Gpu];
        for (parent, siblings) in before {
            let (ids, participants): (Vec<QueueId>, Vec<Participant>) = siblings.into_iter().unzip();
            let amount = parent.map_or(total, share);
            let expect = Rules::divide(amount, GPU_MILLI, config.usage_factor_milli, &participants);
            let shares: Vec<i128> = ids.into_iter().map(|id| i128::from(share(id))).collect();
            prop_assert_eq!(shares, expect, "{} for {:?}", amount, participants);
        }
    }

    /// The order in which queues are listed decides nothing.
    #[test]
    fn the_order_of_siblings_decides_nothing(seed: u64) {
        let mut draw = Seed::new(seed);
        let queues = queues(&mut draw);
        let total = i64::try_from(draw.below(30)).expect("it is small") * 1000;
        let (shares, _) = divide(total, 1000, 1000, &queues);
        let reversed: Vec<Participant> = queues.iter().rev().copied().collect();
        let (mut other, _) = divide(total, 1000, 1000, &reversed);
        other.reverse();
        prop_assert_eq!(shares, other);
    }
}
