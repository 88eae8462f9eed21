//! The engine against an exhaustive placer, on clusters that one can be exhaustive on: what can be placed is placed, and
//! what is proved impossible is.

mod claimed;
mod domains;
mod packing;
mod proofs;

use kai_engine::{Change, Group, Limit, NodeId, Symbol};
use kai_sim::{audit::audit, generate::Seed, render, world::World};
use packing::{Company, PODS_MAX, asks, cluster, fits, queue, wait};
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

/// In so many cycles a search for a way to place a gang is over.
const CYCLES_MAX: usize = 4;

/// Counts the pods that one plan places, which must be a plan that breaks no rule; the next one where its steps were
/// spent.
fn placed(world: &mut World, company: Company) -> Result<usize, TestCaseError> {
    let before = world.clone();
    let mut plan = world.plan();
    for _ in 1..CYCLES_MAX {
        if plan.changes.is_empty() && plan.steps.spent {
            plan = world.plan();
        }
    }
    let before = World { names: world.names.clone(), ..before };
    let findings = audit(&before, &plan);
    let text = render::text(&plan.changes, std::iter::empty(), &world.names);
    prop_assert!(findings.is_empty(), "{}\n{text}", findings.join("\n"));
    let nodes: Vec<NodeId> = plan
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Place { node, .. } => Some(*node),
            Change::Nominate { .. } | Change::Evict { .. } => None,
        })
        .collect();
    let distinct = |values: &mut Vec<Symbol>| {
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let on = |label: usize| {
        distinct(
            &mut nodes.iter().map(|node| world.facts.nodes[node].labels[label].value).collect(),
        )
    };
    let fine = match company {
        Company::Any => true,
        Company::Apart => on(2) == nodes.len(),
        Company::RacksApart => on(1) == nodes.len(),
        Company::Together => on(1) <= 1,
    };
    prop_assert!(fine, "{company:?} is not what came of it:\n{text}");
    Ok(nodes.len())
}

fn config() -> Config {
    Config {
        cases: Config::default().cases * 2,
        // A smaller seed is no smaller cluster.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/regressions/feasible.txt",
        ))),
        ..Config::default()
    }
}

fn check(seed: u64, alike: bool) -> Result<(), TestCaseError> {
    let mut draw = Seed::new(seed);
    let (mut world, rooms) = cluster(&mut draw);
    let pods = 1 + draw.below(PODS_MAX);
    let asks = asks(&mut draw, pods, alike);
    let company = *draw.pick(&[
        Company::Any,
        Company::Any,
        Company::Apart,
        Company::RacksApart,
        Company::Together,
    ]);
    let queue = Some(queue(&mut world, "queue", Limit::UNLIMITED));
    let facts = Group { queue, preemptible: true, ..Group::default() };
    wait(&mut world, &asks, company, &facts);
    let placed = placed(&mut world, company)?;
    let expect = if fits(&rooms, &asks, company, &[]) { asks.len() } else { 0 };
    prop_assert_eq!(placed, expect, "{:?} of {:?} on {:?}", asks, company, rooms);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    /// A gang of equal pods is placed exactly when some way of placing it exists.
    #[test]
    fn a_gang_of_equal_pods_is_placed_exactly_when_it_fits(seed: u64) {
        check(seed, true)?;
    }

    /// So is a gang of unlike pods.
    #[test]
    fn a_gang_of_unlike_pods_is_placed_exactly_when_it_fits(seed: u64) {
        check(seed, false)?;
    }
}

/// Gangs that fit only where a pod shares one GPU and opens another, on a node where it could as well share two or open
/// two; and one for which a way is found in the second cycle.
#[test]
fn what_found_no_place_once_does() -> Result<(), TestCaseError> {
    [16_426_108_404_425_785_179, 6_084_427_975_477_210_550, 10_016_828_958_129_107_313]
        .into_iter()
        .try_for_each(|seed| check(seed, false))
}
