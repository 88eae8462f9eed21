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
