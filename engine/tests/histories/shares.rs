//! Shares of queues: what quotas and past use make of them, and what others may take by them.

use kai_engine::{Change, Eviction, Grant, QueueLane};

use super::*;

/// The GPUs that are a queue's share, in milli-devices.
fn share(world: &World, name: &str) -> i64 {
    world.cluster.queue_state(queue(world, name)).fair_share[QueueLane::Gpu]
}

/// Whoever used far more than its part has none of what is over quota, though there is enough for all.
#[test]
fn past_use_counts_where_there_is_enough() {
    let mut world = world(
        "config: { usage_factor: 10 }\n\
         nodes: { node0: { gpus: 10 } }\n\
         queues: { a: { quota: 1, usage: 0.8 }, b: { quota: 1, usage: 0.8 } }\n\
         groups: { one: { queue: a, gpus: 4, on: node0 }, two: { queue: b, gpus: 4, on: node0 } }",
    );
    plan_at(&mut world, 0);
    assert_eq!(["a", "b"].map(|name| share(&world, name)), [1000, 1000]);
}

/// A queue with an unlimited quota needs no weight for its share.
#[test]
fn an_unlimited_quota_is_a_share_without_a_weight() {
    let mut world = world(
        "nodes: { node0: { gpus: 8 } }\n\
         queues: { q: { quota: unlimited, over_quota_weight: 0 } }\n\
         groups: { one: { queue: q, gpus: 2, on: node0 } }",
    );
    plan_at(&mut world, 0);
    assert_eq!(share(&world, "q"), 2000);
}

/// A queue at its share of GPUs loses some where it is above its share of CPUs.
#[test]
fn a_queue_above_its_share_of_cpus_loses_gpus() {
    let mut world = world(
        "nodes: { node0: { gpus: 2, cpu: 8 } }\n\
         queues: { rich: { quota: 2, cpu: { quota: 1 } }, poor: { quota: 1, cpu: { quota: 1 } } }\n\
         groups:\n\
         \x20 r0..1: { queue: rich, gpus: 1, cpu: 4, on: node0 }\n\
         \x20 one: { queue: poor, gpus: 1, cpu: 1 }",
    );
    let reclaim = ["evict r1 from node0 for one reclaim from rich", "nominate one on node0"];
    assert_eq!(decide(&mut world, 0), reclaim);
}

/// The amounts that a reclaim tells are those of the queues that are siblings, wherever below them the groups are.
#[test]
fn departments_that_dispute_are_told_as_such() {
    let mut world = world(
        "nodes: { node0: { gpus: 1 } }\n\
         queues: { a: { quota: 1 }, a1: { parent: a, quota: 1 }, b: {}, b1: { parent: b } }\n\
         groups: { theirs: { queue: b1, gpus: 1, on: node0 }, ours: { queue: a1, gpus: 1 } }",
    );
    let plan = plan_at(&mut world, 0);
    let told = plan.changes.iter().find_map(|change| match change {
        Change::Evict { reason: Eviction::Reclaim { from, to, .. }, .. } => {
            Some((from.queue, to.queue))
        }
        Change::Evict { .. } | Change::Place { .. } | Change::Nominate { .. } => None,
    });
    assert_eq!(told, Some((queue(&world, "b"), queue(&world, "a"))));
}

/// A group of two and one more loses the one for itself: the two go only where its queue is above its share without it.
#[test]
fn what_a_group_needs_goes_apart_from_what_it_has_besides() {
    let mut world = world(
        "nodes: { node0: { gpus: 3 } }\n\
         queues: { rich: { quota: 2 }, poor: { quota: 3, priority: 200 } }\n\
         groups:\n\
         \x20 gang: { queue: rich, gpus: 1, pods: 3, min: 2, on: node0*3 }\n\
         \x20 large: { queue: poor, gpus: 3 }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
}

/// A preemption that lifts its queue above its quota is not made where another queue would take the room back, be it
/// within its share.
#[test]
fn what_a_preemption_takes_above_its_quota_has_to_last() {
    let mut world = world(
        "config: { actions: allocate reclaim preempt }\n\
         nodes: { node0: { gpus: 2, labels: { a: b } }, node1: { gpus: 1 }, spare0..2: { gpus: 1 } }\n\
         queues: { q: { quota: 2 }, other: { quota: 2 } }\n\
         groups:\n\
         \x20 low: { queue: q, gpus: 1, selector: { a: b }, on: node0 }\n\
         \x20 kept: { queue: q, gpus: 1, priority: 100, on: node1 }\n\
         \x20 high: { queue: q, gpus: 2, priority: 75 }\n\
         \x20 waits: { queue: other, gpus: 2 }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
}

/// GPUs of claims that pods name count as any where it is asked who would be fuller than whom.
#[test]
fn gpus_of_named_claims_make_a_department_full() {
    let mut world = world(
        "nodes: { node0: { devices: { gpu: 5 } } }\n\
         device_classes: { gpu: {} }\n\
         queues:\n\
         \x20 a: {}\n\
         \x20 a1: { parent: a, quota: 1 }\n\
         \x20 a2: { parent: a, quota: 1 }\n\
         \x20 b: {}\n\
         \x20 b1: { parent: b }\n\
         \x20 c: { quota: 1 }\n\
         claims:\n\
         \x20 ours: { queue: a1, devices: gpu*1 }\n\
         \x20 x0..1: { queue: a2, devices: gpu*1 }\n\
         \x20 y0..2: { queue: b1, devices: gpu*1 }\n\
         groups:\n\
         \x20 kept0: { queue: a2, priority: 100, claims: [x0], on: node0 }\n\
         \x20 kept1: { queue: a2, priority: 100, claims: [x1], on: node0 }\n\
         \x20 theirs0: { queue: b1, claims: [y0], on: node0 }\n\
         \x20 theirs1: { queue: b1, claims: [y1], on: node0 }\n\
         \x20 theirs2: { queue: b1, claims: [y2], on: node0 }\n\
         \x20 hopeless: { queue: c, cpu: 9999, templates: [gpu*1] }\n\
         \x20 one: { queue: a1, claims: [ours] }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
}

/// Amounts that others hold on nodes without an offer, or of another node pool, are not taken off what there is to divide.
#[test]
fn what_others_hold_elsewhere_is_not_taken_off() {
    let mut world = world(
        "nodes: { node0: { gpus: 4 }, node1: { gpus: 4 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 theirs: { foreign: true, gpus: 4, on: node1 }\n\
         \x20 ours: { queue: q, gpus: 3, on: node0 }",
    );
    world.tell(Delta::NodeGone(node(&world, "node1")));
    plan_at(&mut world, 0);
    assert_eq!(share(&world, "q"), 3000);
}

/// A pod gets the part of a GPU that it asked for, to the millionth, though its queue is charged hundredths.
#[test]
fn a_part_of_a_gpu_is_given_as_it_was_asked_for() {
    let mut world = world(
        "nodes: { node0: { gpus: 1 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { third: { queue: q, gpus: 0.333333 } }",
    );
    let plan = plan_at(&mut world, 0);
    let grants = plan.changes.iter().map(|change| match change {
        Change::Place { grant, .. } => Some(*grant),
        Change::Nominate { .. } | Change::Evict { .. } => None,
    });
    let third = Grant::Fraction { devices: 1, portion_milli: 330, portion_micro: 333_333 };
    assert_eq!(grants.collect::<Vec<_>>(), [Some(third)]);
}
