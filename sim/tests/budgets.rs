//! Budgets of disruptions from one plan to the next: evictions are told, refused and counted by three watches, in any order.

use kai_engine::{Budget, BudgetId, Change, Delta, Holds, PodId, PodState, Requirement};
use kai_sim::{
    build::{add, build},
    scenario::parse,
    world::World,
};

const TWO_WANTED: &str = "
title: two reclaim from an application of which one pod may leave
why: the second waits for the budget
nodes: { node0: { gpus: 2 }, node1: { gpus: 2 } }
budgets: { web: { allowed: 1, labels: { app: web } } }
queues:
  borrower: {}
  owner: { quota: 2 }
groups:
  w: { queue: borrower, gpus: 1, pods: 4, min: 1, labels: { app: web }, on: node0*2 node1*2 }
  p: { queue: owner, gpus: 1 }
  q: { queue: owner, gpus: 1 }
";

fn world() -> World {
    build(&parse(TWO_WANTED).expect("it is a scenario")).expect("it makes sense")
}

/// Lists whom the next plan evicts.
fn evicted(world: &mut World) -> Vec<PodId> {
    let plan = world.plan();
    let evicted = plan.changes.iter().filter_map(|change| match change {
        Change::Evict { pod, .. } => Some(*pod),
        Change::Place { .. } | Change::Nominate { .. } => None,
    });
    evicted.collect()
}

/// The only one whom the next plan evicts.
fn the_one_evicted(world: &mut World) -> PodId {
    let [pod] = evicted(world)[..] else { panic!("one may leave") };
    pod
}

fn budget(world: &World, allowed: u32) -> Delta {
    let id = BudgetId::new(0);
    Delta::Budget(id, Box::new(Budget { allowed, ..world.facts.budgets[&id].clone() }))
}

/// The pod is told to leave.
fn leaving(world: &World, pod: PodId) -> Delta {
    let mut facts = world.facts.pods[&pod].clone();
    let place = facts.state.place().cloned().expect("it runs");
    facts.state = PodState::Releasing(place);
    Delta::Pod(pod, Box::new(facts))
}

/// Each pod that might be evicted is compared with all budgets of its namespace: whoever has thousands had everybody wait.
#[test]
fn pods_of_a_namespace_with_very_many_budgets_are_kept() {
    for (count, expect) in [(300, 1), (400, 0)] {
        let mut world = world();
        let namespace = world.facts.budgets[&BudgetId::new(0)].namespace;
        let holds = Holds::In(vec![world.names.symbol("other")]);
        let selector = vec![Requirement { key: world.names.symbol("app"), holds }];
        for number in 1..=count {
            let budget = Budget { namespace, selector: selector.clone(), allowed: 1 };
            world.tell(Delta::Budget(BudgetId::new(number), Box::new(budget)));
        }
        assert_eq!(evicted(&mut world).len(), expect, "{count}");
    }
}

#[test]
fn an_eviction_counts_until_the_pod_and_the_budget_were_told() {
    for budget_first in [false, true] {
        let mut world = world();
        let pod = the_one_evicted(&mut world);
        let mut news = [leaving(&world, pod), budget(&world, 0)];
        if budget_first {
            news.reverse();
        }
        for delta in news {
            world.tell(delta);
            assert!(evicted(&mut world).is_empty(), "the budget is spent");
        }
        world.tell(Delta::PodGone(pod));
        assert!(evicted(&mut world).is_empty(), "the budget is spent");
        world.tell(budget(&world, 1));
        assert_eq!(evicted(&mut world).len(), 1, "one more may leave");
    }
}

/// A budget is told for reasons of its own too, as it was before the eviction.
#[test]
fn a_budget_that_is_told_again_before_the_pod_does_not_show_its_eviction() {
    let mut world = world();
    the_one_evicted(&mut world);
    world.tell(budget(&world, 1));
    // News of another queue have everybody asked again.
    let other = parse("title: a queue\nwhy: it is there\nqueues: { other: { quota: 1 } }");
    add(&mut world, &other.expect("it is a scenario")).expect("it makes sense");
    assert!(evicted(&mut world).is_empty(), "the pod was not told to leave yet");
}

#[test]
fn a_pod_that_is_gone_before_its_budget_is_told_still_counts() {
    let mut world = world();
    let pod = the_one_evicted(&mut world);
    world.tell(leaving(&world, pod));
    world.tell(Delta::PodGone(pod));
    assert!(evicted(&mut world).is_empty(), "the budget does not show it");
    world.tell(budget(&world, 1));
    assert_eq!(evicted(&mut world).len(), 1, "it does now, and allows another");
}

#[test]
fn a_budget_that_refused_allows_nothing_until_it_is_told_anew() {
    let mut world = world();
    let pod = the_one_evicted(&mut world);
    world.tell(Delta::EvictFailed(pod));
    assert!(evicted(&mut world).is_empty(), "it was refused");
    world.tell(budget(&world, 2));
    assert_eq!(evicted(&mut world).len(), 2, "two may leave");
    world.tell(Delta::BudgetGone(BudgetId::new(0)));
}

/// Nobody was asked for it, so that the budget says nothing new.
#[test]
fn an_eviction_that_was_withdrawn_costs_its_budget_nothing() {
    let mut world = world();
    let pod = the_one_evicted(&mut world);
    world.tell(Delta::EvictWithdrawn(pod));
    assert_eq!(evicted(&mut world).len(), 1, "it allows one as before");
}

#[test]
fn without_its_budget_everybody_may_leave() {
    let mut world = world();
    world.tell(Delta::BudgetGone(BudgetId::new(0)));
    assert_eq!(evicted(&mut world).len(), 2);
}

#[test]
fn a_pod_that_did_not_run_yet_costs_its_budget_nothing() {
    let mut world = world();
    // The first to go.
    let pod = world.names.pod("w-3");
    let mut facts = world.facts.pods[&pod].clone();
    let place = facts.state.place().cloned().expect("it runs");
    facts.state = PodState::Bound(place);
    world.tell(Delta::Pod(pod, Box::new(facts)));
    assert_eq!(evicted(&mut world).len(), 2, "it and the one that the budget allows");
}
