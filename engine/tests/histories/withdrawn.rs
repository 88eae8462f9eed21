//! Placements that a plan takes back for others, in the cycle that made them.

use super::*;

/// A group that loses all that a plan gave it did not start; one that is left what it needs did.
#[test]
fn a_group_that_is_withdrawn_did_not_start() {
    for (min, start) in [(1, Some(START)), (2, None)] {
        let mut world = world(&format!(
            "nodes: {{ node0: {{ gpus: 2 }}, node1: {{ gpus: 1 }} }}\n\
             queues: {{ poor: {{}}, owner: {{ quota: 2 }} }}\n\
             groups:\n\
             \x20 running: {{ queue: poor, gpus: 1, on: node0 }}\n\
             \x20 small: {{ queue: poor, gpus: 1, pods: 2, min: {min} }}\n\
             \x20 large: {{ queue: owner, gpus: 2 }}",
        ));
        let decided = decide(&mut world, 0);
        let is_kept = decided.iter().any(|change| change == "place small-1 on node1");
        assert_eq!(is_kept, start.is_some(), "a minimum of {min}: {decided:?}");
        assert_eq!(world.cluster.last_start(group(&world, "small")), start, "{decided:?}");
    }
}

/// A pod that comes to the place that an earlier plan promised it keeps it, whoever is entitled to the room.
#[test]
fn who_was_promised_a_place_is_not_withdrawn() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { poor: {}, owner: { quota: 2 } }\n\
         groups:\n\
         \x20 running: { queue: poor, gpus: 1, on: node0 }\n\
         \x20 leaving: { queue: poor, gpus: 1, on: node0, state: releasing }\n\
         \x20 small: { queue: poor, gpus: 1 }",
    );
    assert_eq!(decide(&mut world, 0), ["nominate small on node0"]);
    gone(&mut world, &["leaving"]);
    add(&mut world, "groups: { large: { queue: owner, gpus: 2 } }");
    assert_eq!(decide(&mut world, 1000), ["place small on node0"]);
}

/// A world of which one GPU is free for a small group with these members, though an owner of both waits.
fn disputed(members: &str) -> World {
    world(&format!(
        "nodes: {{ node0: {{ gpus: 2 }} }}\n\
         queues: {{ poor: {{}}, owner: {{ quota: 4 }} }}\n\
         groups:\n\
         \x20 running: {{ queue: poor, gpus: 1, on: node0 }}\n\
         \x20 small: {{ queue: poor, min: 1, members: {{ {members} }} }}\n\
         \x20 large: {{ queue: owner, gpus: 2 }}",
    ))
}

const RECLAIM: [&str; 2] =
    ["evict running from node0 for large reclaim from poor", "nominate large on node0"];

/// If actions look at some groups only, those behind find in the next cycle what this one left: nobody is withdrawn.
#[test]
fn nobody_is_withdrawn_where_turns_are_bounded() {
    let decided = |depth| {
        let mut world = disputed("one: { gpus: 1 }");
        world.config.queue_depth.preempt = depth;
        decide(&mut world, 0)
    };
    assert_eq!(decided(None), RECLAIM);
    assert_eq!(decided(Some(8)), ["place small-one on node0"]);
}

/// While where pods are decides where others may be, nobody is withdrawn: what was decided since may lean on it.
#[test]
fn nobody_is_withdrawn_where_pods_lean_on_others() {
    let web = "key: kubernetes.io/hostname, labels: { app: web }";
    for leans in [format!("affinity: [{{ {web} }}]"), format!("spread: [{{ {web} }}]")] {
        let one = format!("one: {{ gpus: 1, labels: {{ app: web }}, {leans} }}");
        assert_eq!(decide(&mut disputed(&one), 0), ["place small-one on node0"], "{leans}");
    }
}

/// Placed pods of a gang of which others have ended stay: the gang may end with them.
#[test]
fn who_is_ending_is_not_withdrawn() {
    let mut world = disputed("done: { gpus: 1, state: succeeded }, last: { gpus: 1 }");
    assert_eq!(decide(&mut world, 0), ["place small-last on node0"]);
}

/// After a plan that withdrew some, the next one stands: who has the room by then has a cycle to settle in it.
#[test]
fn nobody_is_withdrawn_twice_in_a_row() {
    let mut world = disputed("one: { gpus: 1 }");
    assert_eq!(decide(&mut world, 0), RECLAIM);
    gone(&mut world, &["running"]);
    add(
        &mut world,
        "nodes: { node1: { gpus: 2 } }\n\
         groups:\n\
         \x20 other: { queue: poor, gpus: 1, on: node1 }\n\
         \x20 larger: { queue: owner, gpus: 2 }",
    );
    let second = ["place large on node0", "place small-one on node1"];
    assert_eq!(decide(&mut world, 1000), second);
}
