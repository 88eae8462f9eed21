//! Limits of queues, while pods that were told to leave still hold what they held.

use super::*;

/// A world in which `old` fills the first node and a queue's limit, and was told to leave by its user.
fn leaving() -> World {
    world(
        "nodes: { node0: { gpus: 2 }, node1: { gpus: 2 } }\n\
         queues: { q: { quota: 2, limit: 2 } }\n\
         groups:\n\
         \x20 old: { queue: q, gpus: 2, on: node0, state: releasing }",
    )
}

/// Says what becomes of a group of so many GPUs that comes then.
fn comes(world: &mut World, gpus: u32) -> String {
    add(world, &format!("groups: {{ new: {{ queue: q, gpus: {gpus} }} }}"));
    decide(world, 0).swap_remove(0)
}

/// Whoever deletes its pods and gives them hours to leave has no more than the limit of its queue meanwhile.
#[test]
fn what_leaves_counts_against_a_limit_until_it_is_gone() {
    let mut world = leaving();
    // It waits beside room that is free.
    let first = comes(&mut world, 2);
    assert!(first.starts_with("nominate new on "), "{first}");
    add(&mut world, "queues: { other: { quota: 1 } }");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    gone(&mut world, &["old"]);
    let last = decide(&mut world, 2000);
    assert!(last[0].starts_with("place new on "), "{last:?}");
}

/// A limit on GPUs keeps nobody waiting who asks for none.
#[test]
fn a_limit_that_is_not_asked_for_keeps_nobody_waiting() {
    let first = comes(&mut leaving(), 0);
    assert!(first.starts_with("place new on "), "{first}");
}

/// A pod that leaves counts against the limits of all queues above its own.
#[test]
fn what_leaves_counts_against_the_limits_above_its_queue() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 }, node1: { gpus: 2 } }\n\
         queues: { dept: { quota: 2, limit: 2 }, q: { parent: dept, quota: 2 } }\n\
         groups:\n\
         \x20 old: { queue: q, gpus: 2, on: node0, state: releasing }",
    );
    let first = comes(&mut world, 2);
    assert!(first.starts_with("nominate new on "), "{first}");
}
