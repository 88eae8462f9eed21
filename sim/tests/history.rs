//! Rules that every plan in every history keeps: S1 to S8, S11 to S13 and L3 of the invariants.
//!
//! A failure prints its seed; seeds that failed once are kept in `regressions/` and run first. `PROPTEST_CASES` sets
//! how many histories are looked at, four times over.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Actions, Budget, BudgetId, Change, Charge, Config as Settings, Delta, GPU_MILLI, GpuRequest,
    GroupId, Holds, Lane, Owner, PerLane, Plan, Pod, PodId, PodState, QueueId, Requirement,
    Shortage,
};
use kai_sim::{
    audit::audit,
    generate::{Seed, Size, history},
    render,
    world::{Evicted, World},
};
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

/// Steps of a history.
const STEPS: u64 = 12;

/// Number of cycles that a world with nothing new may need to come to rest.
const REST_MAX: u32 = 40;

/// Number of cycles that it may need where each action has one turn in a cycle.
const REST_SHORT_MAX: u32 = 5000;

/// Number of cycles in which nothing happens once it is at rest.
const IDLE: u32 = 5;

/// Seeds of histories after which pods were evicted for each other again and again, or a promise was never kept.
const RESTLESS: [u64; 24] = [
    7_741_045_861_290_386_546,
    13_472_314_929_692_466_461,
    3_425_444_359_712_102_338,
    3_489_688_587_459_093_495,
    17_732_321_112_838_354_862,
    9_617_309_421_945_325_883,
    3_988_859_889_352_450_641,
    4_287_394_385_733_069_003,
    211_850_555_423_063_215,
    15_671_866_536_197_396_491,
    16_868_824_803_154_181_641,
    14_730_059_465_017_567_959,
    18_313_164_675_583_419_614,
    13_715_200_047_242_700_588,
    12_453_325_714_190_490_979,
    8_916_177_359_248_420_060,
    7_546_417_204_440_667_997,
    2_035_916_546_702_825_526,
    18_223_755_344_066_221_685,
    8_014_955_462_922_212_366,
    5_234_970_581_292_367_643,
    249_064_023_882_755_862,
    9_531_628_779_168_910_848,
    1_348_453_615_388_681_718,
];

fn config() -> Config {
    let persistence = FileFailurePersistence::Direct("tests/regressions/history.txt");
    Config {
        cases: Config::default().cases / 4,
        // A smaller seed is no smaller history.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(persistence)),
        ..Config::default()
    }
}

/// A world after some history, its books checked at every step.
fn live(seed: u64) -> Result<World, TestCaseError> {
    history(&Seed::new(seed), Size::SMALL, STEPS, |before, after, _| {
        balanced(before)?;
        balanced(after)
    })
}

/// Derived columns are what the facts make of them.
fn balanced(world: &World) -> Result<(), TestCaseError> {
    let findings = world.cluster.check();
    if findings.is_empty() { Ok(()) } else { Err(TestCaseError::fail(findings.join("\n"))) }
}

/// The changes of a plan as text.
fn text(world: &World, plan: &Plan) -> String {
    render::text(&plan.changes, std::iter::empty(), &world.names)
}

/// The same world in a cycle that does nothing but bring the numbers of queues in line: no room is promised in it.
fn settled(world: &World) -> World {
    let actions = Actions::NONE;
    let config = Settings { actions, ..world.config.clone() };
    let mut world = World { config, ..world.clone() };
    let plan = world.plan();
    assert!(plan.changes.is_empty(), "a cycle without actions does nothing");
    world
}

/// Sums what a pod costs its queue: where it is, or what it asks for without GPU memory.
fn charge(world: &World, pod: &Pod) -> Charge {
    let request = &pod.shape.request;
    let gpu = match &pod.shape.gpu {
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(*micro) / 1000 * i64::from(*devices),
        GpuRequest::Memory { mib, devices } => pod.state.place().map_or(0, |place| {
            let node = &world.facts.nodes[&place.node];
            i64::from((*mib * 100).div_ceil(node.gpus.memory_mib)) * 10 * i64::from(*devices)
        }),
        GpuRequest::None | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => 0,
    };
    PerLane([request.amount(Lane::CPU), request.amount(Lane::MEMORY), gpu])
}

/// Amounts that a queue and those below it hold, hold for good, and hold or wait for.
type Usage = (Charge, Charge, Charge);

/// The usage of each queue by the facts alone.
fn usage(world: &World) -> BTreeMap<QueueId, Usage> {
    let facts = &world.facts;
    let mut usage: BTreeMap<QueueId, Usage> =
        facts.queues.keys().map(|queue| (*queue, Usage::default())).collect();
    for pod in facts.pods.values() {
        let Owner::Group(group) = pod.owner else { continue };
        let Some(group) = facts.groups.get(&group) else { continue };
        let holds = matches!(pod.state, PodState::Bound(_) | PodState::Running(_));
        if !holds && pod.state != PodState::Pending {
            continue;
        }
        let charge = charge(world, pod);
        let mut next = group.queue;
        while let Some(queue) = next {
            let Some((held, fixed, requested)) = usage.get_mut(&queue) else { break };
            *requested += charge;
            if holds {
                *held += charge;
            }
            if holds && !group.preemptible {
                *fixed += charge;
            }
            next = facts.queues[&queue].parent;
        }
    }
    usage
}

/// Everything that an engine holds of the world and tells.
fn books(world: &World) -> String {
    let (facts, cluster) = (&world.facts, &world.cluster);
    let lanes = [Lane::CPU, Lane::MEMORY, Lane::GPU, Lane::PODS];
    let amounts =
        facts.nodes.keys().map(|node| (*node, lanes.map(|lane| cluster.node_amounts(*node, lane))));
    let queues = facts.queues.keys().map(|queue| cluster.queue_state(*queue));
    let places = facts.pods.keys().map(|pod| (*pod, cluster.node_of(*pod)));
    let groups = facts.groups.keys().map(|group| {
        let marks = (cluster.last_start(*group), cluster.last_eviction(*group));
        (*group, marks, cluster.stale_since(*group))
    });
    let (amounts, queues): (Vec<_>, Vec<_>) = (amounts.collect(), queues.collect());
    let (places, groups): (Vec<_>, Vec<_>) = (places.collect(), groups.collect());
    format!("{amounts:#?}\n{queues:#?}\n{places:#?}\n{groups:#?}")
}

/// Each pod that a plan evicts with each that it promises a place in return.
fn evicted_for(world: &World, plan: &Plan) -> Vec<(PodId, PodId)> {
    let mut pairs = Vec::new();
    for change in &plan.changes {
        let Change::Evict { pod: victim, reason, .. } = change else { continue };
        let Some(group) = reason.for_group() else { continue };
        for change in &plan.changes {
            let Change::Nominate { pod, .. } = change else { continue };
            if world.facts.pods[pod].owner == Owner::Group(group) {
                pairs.push((*victim, *pod));
            }
        }
    }
    pairs
}

/// S6: only groups of which a plan places a pod start by it.
fn starts(before: &World, after: &World, plan: &Plan) -> Vec<String> {
    let placed = |group| {
        plan.changes.iter().any(|change| {
            matches!(change, Change::Place { pod, .. }
                if before.facts.pods[pod].owner == Owner::Group(group))
        })
    };
    let started =
        |group: &GroupId| before.cluster.last_start(*group) != after.cluster.last_start(*group);
    let groups = before.facts.groups.keys().copied();
    let wrong = groups.filter(started).filter(|group| !placed(*group));
    wrong.map(|group| format!("S6: {} did not start", before.names.of_group(group))).collect()
}

/// Nothing happens in these worlds.
fn idle<const N: usize>(worlds: [World; N]) -> Result<(), TestCaseError> {
    for mut world in worlds {
        for _ in 0..IDLE {
            let plan = world.plan();
            prop_assert!(plan.changes.is_empty(), "after rest:\n{}", text(&world, &plan));
            world.carry_out(&plan, Evicted::Recreated);
        }
    }
    Ok(())
}

/// Tells whether a world comes to rest after a history.
fn rests(seed: u64) -> Result<(), TestCaseError> {
    let mut world = live(seed)?;
    settle(&mut world)?;
    let mut restarted = world.restarted();
    if is_barred(&world) {
        // What keeps some from going round is not told: who starts anew lets them go round once more.
        settle(&mut restarted)?;
    }
    idle([restarted, world])
}

/// Lets a world come to rest.
fn settle(world: &mut World) -> Result<(), TestCaseError> {
    settle_within(world, REST_MAX)
}

/// Lets a world come to rest in so many cycles.
fn settle_within(world: &mut World, cycles_max: u32) -> Result<(), TestCaseError> {
    let mut pairs: BTreeSet<(PodId, PodId)> = BTreeSet::new();
    let mut last = String::new();
    for _ in 0..cycles_max {
        let plan = world.plan();
        if plan.changes.is_empty() {
            if let Some(wake) = world.cluster.wake() {
                // Time alone changes something: a delay or a minimum runtime ends. Or the next cycle goes on.
                world.now = wake.max(world.now);
                continue;
            }
            return Ok(());
        }
        last = text(world, &plan);
        if plan.changes.iter().any(is_stale) {
            // What a broken gang held until now is news: who lost a place before may find another by it.
            pairs.clear();
        }
        for pair in evicted_for(world, &plan) {
            prop_assert!(pairs.insert(pair), "evicted twice for the same:\n{last}");
        }
        world.carry_out(&plan, Evicted::Recreated);
    }
    Err(TestCaseError::fail(format!(
        "no rest after {cycles_max} cycles, the last of them:\n{last}"
    )))
}

/// Puts budgets on pods of some groups, which allow from none to two to leave at a time; some pods have two.
fn with_budgets(world: &mut World, mut seed: Seed) {
    let namespace = world.names.symbol("default");
    let key = world.names.symbol("app");
    let values = ["a", "b"].map(|value| world.names.symbol(value));
    for (number, value) in (0..).zip(values) {
        let requirement = Requirement { key, holds: Holds::In(vec![value]) };
        let allowed = u32::try_from(seed.below(3)).expect("it is small");
        let selector = vec![requirement.clone()];
        let budget = Budget { namespace, selector, allowed };
        world.tell(Delta::Budget(BudgetId::new(number), Box::new(budget)));
    }
    let both = vec![Requirement { key, holds: Holds::In(vec![values[1]]) }];
    let budget = Budget { namespace, selector: both, allowed: 2 };
    if seed.one_in(3) {
        world.tell(Delta::Budget(BudgetId::new(2), Box::new(budget)));
    }
    let groups: Vec<GroupId> = world.facts.groups.keys().copied().collect();
    for group in groups {
        let value = *seed.pick(&[Some(values[0]), Some(values[1]), None]);
        let pods = world.facts.pods.iter().filter(|(_, pod)| pod.owner == Owner::Group(group));
        let pods: Vec<(PodId, Pod)> = pods.map(|(id, pod)| (*id, pod.clone())).collect();
        for (id, pod) in pods {
            let labels = value.map(|value| (key, value)).into_iter().collect();
            world.tell(Delta::Pod(id, Box::new(Pod { namespace, labels, ..pod })));
        }
    }
}

/// Lists what a plan evicts beyond what budgets allow.
fn beyond_budgets(world: &World, plan: &Plan) -> Vec<String> {
    let budgets = &world.facts.budgets;
    let of = |pod: &Pod, budget: &Budget| {
        let has = |one: &Requirement| {
            pod.labels
                .iter()
                .any(|(key, value)| *key == one.key && one.holds == Holds::In(vec![*value]))
        };
        pod.namespace == budget.namespace && budget.selector.iter().all(has)
    };
    let evicted = plan.changes.iter().filter_map(|change| match change {
        Change::Evict { pod, .. } => Some(&world.facts.pods[pod]),
        Change::Place { .. } | Change::Nominate { .. } => None,
    });
    let running: Vec<&Pod> =
        evicted.filter(|pod| matches!(pod.state, PodState::Running(_))).collect();
    let count = |budget: &Budget| running.iter().filter(|pod| of(pod, budget)).count();
    let several = |pod: &&&Pod| budgets.values().filter(|budget| of(pod, budget)).count() > 1;
    let mut findings: Vec<String> = budgets
        .iter()
        .filter(|(_, budget)| count(budget) > budget.allowed as usize)
        .map(|(id, budget)| format!("{id:?} allows {}, {} leave", budget.allowed, count(budget)))
        .collect();
    findings
        .extend(running.iter().find(several).map(|_| String::from("a pod of two budgets leaves")));
    findings
}

/// Tells whether a pod is evicted because its gang broke.
fn is_stale(change: &Change) -> bool {
    matches!(change, Change::Evict { reason, .. } if reason.for_group().is_none())
}

/// Tells whether a group waits because it would evict the same ones again.
fn is_barred(world: &World) -> bool {
    let proofs = world.facts.groups.keys().flat_map(|group| world.cluster.proofs(*group));
    proofs.into_iter().any(|(_, shortage)| matches!(shortage, Shortage::Others { .. }))
}

proptest! {
    #![proptest_config(config())]

    /// S1, S2, S4 to S8, S11: no plan breaks a rule, by the facts alone.
    #[test]
    fn no_plan_breaks_a_rule(seed: u64) {
        history(&Seed::new(seed), Size::SMALL, STEPS, |before, after, plan| {
            let mut findings = audit(before, plan);
            findings.extend(starts(before, after, plan));
            prop_assert!(findings.is_empty(), "{}\n{}", findings.join("\n"), text(before, plan));
            Ok(())
        })?;
    }

    /// S12: what queues hold and ask for is what their pods do.
    #[test]
    fn queues_hold_what_their_pods_hold(seed: u64) {
        let world = settled(&live(seed)?);
        for (queue, usage) in usage(&world) {
            let state = world.cluster.queue_state(queue);
            let held = (state.allocated, state.allocated_non_preemptible, state.requested);
            prop_assert_eq!(held, usage, "{}", world.names.of_queue(queue));
        }
    }

    /// S13: an engine that saw the history holds what an engine that is told the end of it holds.
    #[test]
    fn a_restart_finds_the_same_books(seed: u64) {
        let world = live(seed)?;
        let restarted = world.restarted();
        balanced(&restarted)?;
        prop_assert_eq!(books(&settled(&world)), books(&settled(&restarted)));
    }

    /// No plan evicts more pods of a budget than it allows, nor one of two budgets.
    #[test]
    fn no_plan_breaks_a_budget(seed: u64) {
        let mut world = live(seed)?;
        with_budgets(&mut world, Seed::new(seed).split(1));
        for _ in 0..STEPS {
            let plan = world.plan();
            let findings = beyond_budgets(&world, &plan);
            prop_assert!(findings.is_empty(), "{}\n{}", findings.join("\n"), text(&world, &plan));
            world.carry_out(&plan, Evicted::Recreated);
            if let Some(wake) = world.cluster.wake().filter(|wake| *wake > world.now) {
                world.now = wake;
            }
        }
    }

    /// L3: with nothing new the cluster comes to rest, though whoever is evicted comes back; no pod is evicted twice
    /// for the same pod; and at rest nothing happens, whether the engine saw it come or is told of it.
    #[test]
    fn static_demand_comes_to_rest(seed: u64) {
        rests(seed)?;
    }

    /// L3: it does so too where an action has few turns in a cycle, and the next one goes on.
    #[test]
    fn short_cycles_come_to_rest(seed: u64) {
        let mut world = live(seed)?;
        world.config.action_steps_max = Some(1 + Seed::new(seed).split(1).below(100));
        settle_within(&mut world, REST_SHORT_MAX)?;
        balanced(&world)?;
        idle([world])?;
    }
}

/// Histories that once did not come to rest, by seed.
#[test]
fn what_did_not_rest_once_does() {
    let failed: Vec<_> =
        RESTLESS.iter().filter_map(|seed| Some((seed, rests(*seed).err()?))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A group that may not evict the same ones again does so once somebody else did anything.
#[test]
fn news_lets_it_try_again() {
    let mut world = live(9_531_628_779_168_910_848).expect("a history keeps the rules");
    settle(&mut world).expect("it comes to rest");
    assert!(is_barred(&world), "a group waits that would go round");
    assert!(world.plan().changes.is_empty(), "it rests");
    let name = world.names.node("another");
    world.tell(Delta::Node(name, Box::default()));
    let plan = world.plan();
    assert!(!evicted_for(&world, &plan).is_empty(), "it tries again:\n{}", text(&world, &plan));
}
