//! Groups that lost again what they got by evicting others, with nothing but the scheduler's doing in between.

use kai_engine::{Change, EvictionKind, Pod, PodState, Shortage};
use kai_sim::world::Evicted;

use super::*;

/// A world in which `strong` evicted `weak`, was evicted by `late` once that might, and waits beside what is left of `weak`.
/// Besides there is a gang of another queue that runs below its minimum for a while.
fn taken_back() -> World {
    let mut world = world(
        "nodes: { node0: { gpus: 3 } }\n\
         queues: { q: { quota: 5 }, other: {} }\n\
         groups:\n\
         \x20 broken: { queue: other, gpus: 1, priority: 100, min: 2, on: node0, stale: 0s, grace: 60s }\n\
         \x20 weak: { queue: q, gpus: 1, pods: 2, min: 1, on: node0*2 }\n\
         \x20 strong: { queue: q, gpus: 2, priority: 75 }\n\
         \x20 late: { queue: q, gpus: 1, priority: 90, age: 0s, delay: 10s }",
    );
    for (millis, expect) in [
        (0, "nominate strong on node0"),
        (1000, "place strong on node0"),
        (10_000, "nominate late on node0"),
        (11_000, "place late weak-0 on node0"),
    ] {
        let (decided, _) = go_on(&mut world, millis);
        assert!(decided.iter().any(|change| change == expect), "{expect}: {decided:?}");
    }
    world
}

/// Makes a plan and carries it out; whoever was evicted is made again.
fn go_on(world: &mut World, millis: i64) -> (Vec<String>, Vec<Change>) {
    let plan = plan_at(world, millis);
    let decided = changes(world, &plan);
    world.carry_out(&plan, Evicted::Recreated);
    (decided, plan.changes)
}

/// Whom a group of the own queue may not evict again is no reason why it reclaims nothing from others.
#[test]
fn a_reclaim_does_not_blame_groups_of_its_own_queue() {
    let mut world = taken_back();
    assert_eq!(decide(&mut world, 12_000), ["idle"]);
    let proofs: Vec<_> = world.cluster.proofs(group(&world, "strong")).collect();
    let others = Shortage::Others { barred: 1 };
    assert!(proofs.contains(&(EvictionKind::Preempt, others)), "{proofs:?}");
    assert!(!proofs.contains(&(EvictionKind::Reclaim, others)), "{proofs:?}");
}

/// That a gang broke is news: who evicted in vain before may try again once it is gone.
#[test]
fn a_gang_that_is_evicted_as_stale_begins_anew() {
    let mut world = taken_back();
    assert_eq!(decide(&mut world, 59_000), ["idle"]);
    let strong = group(&world, "strong");
    let (stale, _) = go_on(&mut world, 60_000);
    assert!(stale[0].starts_with("evict broken from node0 stale"), "{stale:?}");
    let evicts = (61..66).any(|second| {
        let (_, changes) = go_on(&mut world, second * 1000);
        changes.iter().any(|change| match change {
            Change::Evict { reason, .. } => reason.for_group() == Some(strong),
            Change::Place { .. } | Change::Nominate { .. } => false,
        })
    });
    assert!(evicts, "it may evict the weak one again");
}

/// Makes a plan and carries it out; whoever was evicted is made again with a gate, which is lifted at once.
fn go_on_gated(world: &mut World, millis: i64) -> Vec<String> {
    let plan = plan_at(world, millis);
    let decided = changes(world, &plan);
    let evicted = plan.changes.iter().filter_map(|change| match change {
        Change::Evict { pod, .. } => Some((*pod, world.facts.pods[pod].clone())),
        Change::Place { .. } | Change::Nominate { .. } => None,
    });
    let evicted: Vec<(PodId, Pod)> = evicted.collect();
    world.carry_out(&plan, Evicted::Gone);
    for (pod, facts) in evicted {
        for state in [PodState::Gated, PodState::Pending] {
            world.tell(Delta::Pod(pod, Box::new(Pod { state, ..facts.clone() })));
        }
    }
    decided
}

/// Gates that are lifted from pods which were made again are no news, after which groups might evict each other anew.
#[test]
fn gates_that_are_lifted_have_nobody_go_round() {
    // Each of the groups takes its room back from the next, until one would begin anew.
    let mut world = world(
        "nodes: { small: { gpus: 1 }, large: { gpus: 4 } }\n\
         queues: { research: { quota: 3, over_quota_weight: 0 }, batch: { quota: 0 } }\n\
         groups:\n\
         \x20 elastic: { queue: research, gpus: 0.7, pods: 4, min: 1, priority: 75, on: small large*3 }\n\
         \x20 whole: { queue: research, gpus: 1 }\n\
         \x20 pair: { queue: batch, gpus: 0.5, devices: 2 }",
    );
    for cycle in 0..8 {
        let decided = go_on_gated(&mut world, 1000 * cycle);
        let evicts = decided.iter().any(|change| change.starts_with("evict "));
        assert_eq!(evicts, cycle < 3, "cycle {cycle}: {decided:?}");
    }
}
