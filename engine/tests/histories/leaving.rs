//! Limits, quotas and shares of queues, while pods that were told to leave still hold what they held.

use super::{repeated::PREEMPTION, *};

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

/// A pod that leaves counts against the limits of all queues above its own, for whoever is below them.
#[test]
fn what_leaves_counts_against_the_limits_above_its_queue() {
    for queue in ["q", "sibling"] {
        let mut world = world(&format!(
            "nodes: {{ node0: {{ gpus: 2 }}, node1: {{ gpus: 2 }} }}\n\
             queues:\n\
             \x20 dept: {{ quota: 2, limit: 2 }}\n\
             \x20 q: {{ parent: dept, quota: 2 }}\n\
             \x20 sibling: {{ parent: dept, quota: 2 }}\n\
             groups:\n\
             \x20 old: {{ queue: {queue}, gpus: 2, on: node0, state: releasing }}",
        ));
        let first = comes(&mut world, 2);
        assert!(first.starts_with("nominate new on "), "{queue}: {first}");
    }
}

/// A world in which `old` leaves a node, and `new` fits nowhere but on another, which `theirs` fill.
///
/// `tenant` and `others` are what else there is to say of the two queues, `count` is how many of a GPU each `theirs` are.
fn waits_beside(tenant: &str, others: &str, count: u32) -> World {
    let last = count - 1;
    world(&format!(
        "config: {{ actions: allocate reclaim preempt }}\n\
         nodes:\n\
         \x20 node0: {{ gpus: 2, labels: {{ pool: a }} }}\n\
         \x20 node1: {{ gpus: {count}, labels: {{ pool: b }} }}\n\
         queues: {{ tenant: {{ {tenant} }}, others: {{ {others} }} }}\n\
         groups:\n\
         \x20 old: {{ queue: tenant, gpus: 2, on: node0, state: releasing }}\n\
         \x20 theirs0..{last}: {{ queue: others, gpus: 1, on: node1 }}\n\
         \x20 new: {{ queue: tenant, gpus: 2, selector: {{ pool: b }} }}",
    ))
}

/// Tells whether a plan at this time evicts.
fn evicts(world: &mut World, millis: i64) -> bool {
    decide(world, millis).iter().any(|change| change.starts_with("evict "))
}

/// Whoever deletes its pods and gives them years to leave takes no more than its share meanwhile, and has its turn once they
/// are gone.
#[test]
fn what_leaves_counts_against_a_share_until_it_is_gone() {
    let mut world = waits_beside("quota: 2", "quota: 0, over_quota_weight: 0", 2);
    assert!(!evicts(&mut world, 0));
    gone(&mut world, &["old"]);
    assert!(evicts(&mut world, 1000));
}

/// Shares have no part for what leaves, quotas do: who stays within its quota with all that it holds does not wait.
#[test]
fn a_quota_has_room_for_what_leaves() {
    let mut world = waits_beside("quota: 4", "quota: 0, over_quota_weight: 0", 2);
    assert!(evicts(&mut world, 0));
}

/// A queue that is within its share and not within its quota with what leaves takes nothing from who is within its share.
#[test]
fn what_leaves_counts_against_a_quota_until_it_is_gone() {
    let mut world = waits_beside("quota: 2", "quota: 0", 6);
    // There is a share for what cannot start, and room for it elsewhere.
    add(
        &mut world,
        "nodes: { node2: { gpus: 4, labels: { pool: c } } }\n\
         groups: { short: { queue: tenant, gpus: 1, pods: 3, min: 4 } }",
    );
    assert!(!evicts(&mut world, 0));
    gone(&mut world, &["old"]);
    assert!(evicts(&mut world, 1000));
}

/// Nobody is evicted for a group that cannot be evicted and may not start before such pods of its queue are gone.
#[test]
fn what_leaves_counts_against_the_quota_of_what_is_never_evicted() {
    let mut world = world(
        "nodes: { node0: { gpus: 2, labels: { pool: a } }, node1: { gpus: 2, labels: { pool: b } } }\n\
         queues: { q: { quota: 2 } }\n\
         groups:\n\
         \x20 old: { queue: q, gpus: 2, on: node0, state: releasing, preemptible: false }\n\
         \x20 low: { queue: q, gpus: 2, on: node1 }\n\
         \x20 high: { queue: q, gpus: 2, priority: 75, preemptible: false, selector: { pool: b } }",
    );
    assert!(!evicts(&mut world, 0));
    gone(&mut world, &["old"]);
    assert!(evicts(&mut world, 1000));
}

/// A world in which `low` was bound and is evicted for `high`, before it is told that it was bound.
pub(super) fn preempted_unheard() -> World {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { low: { queue: q, gpus: 2 } }",
    );
    assert_eq!(decide(&mut world, 0), ["place low on node0"]);
    let low = pod(&world, "low");
    world.tell(Delta::Bound(low));
    add(&mut world, "groups: { high: { queue: q, gpus: 2, priority: 75 } }");
    assert_eq!(decide(&mut world, 1000), PREEMPTION);
    world
}

/// That it was bound may be told later: it would count as leaving for ever.
#[test]
fn a_pod_that_stays_after_all_is_bound_whatever_was_told_of_it() {
    for stays in [Delta::EvictFailed, Delta::EvictWithdrawn] {
        let mut world = preempted_unheard();
        let low = pod(&world, "low");
        world.tell(stays(low));
        assert_eq!(decide(&mut world, 2000), PREEMPTION);
    }
}
