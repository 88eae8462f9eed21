//! News of nodes, queues and topologies after which those who wait are looked at again, as after a restart.

use kai_engine::QueueLane;

use super::*;

/// Domains of topology spread are those of the labels that nodes have now.
#[test]
fn a_zone_that_is_no_more_keeps_nobody_back() {
    let mut world = world(
        "nodes:\n\
         \x20 a: { gpus: 4, labels: { zone: a } }\n\
         \x20 b: { gpus: 0, labels: { zone: b } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 web:\n\
         \x20   queue: q\n\
         \x20   gpus: 1\n\
         \x20   pods: 3\n\
         \x20   min: 1\n\
         \x20   labels: { app: web }\n\
         \x20   spread: [{ key: zone, labels: { app: web } }]",
    );
    assert_eq!(decide(&mut world, 0), ["place web-0 on a"]);
    add(&mut world, "nodes: { b: { gpus: 0, labels: { zone: a } } }");
    assert_eq!(decide(&mut world, 1000), ["place web-1..2 on a"]);
}

/// Groups of a queue above others wait until it is a leaf.
#[test]
fn groups_of_a_queue_that_becomes_a_leaf_have_a_turn() {
    let above = || {
        let mut world = world(
            "nodes: { node0: { gpus: 1 } }\n\
             queues:\n\
             \x20 dept: { quota: 1 }\n\
             \x20 mid: { parent: dept, quota: 1 }\n\
             \x20 leaf: { parent: mid, quota: 1 }\n\
             groups: { one: { queue: mid, gpus: 1 } }",
        );
        assert_eq!(decide(&mut world, 0), ["idle"]);
        world
    };
    let mut gone = above();
    gone.tell(Delta::QueueGone(queue(&gone, "leaf")));
    assert_eq!(decide(&mut gone, 1000), ["place one on node0"]);
    let mut moved = above();
    add(&mut moved, "queues: { dept: { quota: 1 }, leaf: { parent: dept, quota: 1 } }");
    assert_eq!(decide(&mut moved, 1000), ["place one on node0"]);
}

/// A group that names a topology waits once that is gone, in a scheduler that knew it as in one that never did.
#[test]
fn a_topology_that_is_gone_places_nobody() {
    let mut world = world(
        "topologies: { dc: [rack] }\n\
         nodes: { node0: { gpus: 1, labels: { rack: r } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { one: { queue: q, gpus: 1, topology: dc, required: rack, state: gated } }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
    let dc = world.names.topology("dc");
    world.tell(Delta::TopologyGone(dc));
    add(&mut world, "groups: { one: { queue: q, gpus: 1, topology: dc, required: rack } }");
    let mut restarted = world.retold(world.facts.deltas());
    assert_eq!(decide(&mut restarted, 1000), ["idle"]);
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    let one = group(&world, "one");
    assert_eq!(world.cluster.verdict(one), restarted.cluster.verdict(one));
}

/// A pod is judged larger than every node by the nodes as they are.
#[test]
fn a_node_that_grows_is_not_too_small_any_more() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: 8 } }\n\
         groups:\n\
         \x20 r0..1: { queue: q, gpus: 1, on: node0 }\n\
         \x20 large: { queue: q, gpus: 4 }",
    );
    let too_large = |world: &mut World, millis| {
        assert_eq!(decide(world, millis), ["idle"]);
        let why = world.cluster.verdict(group(world, "large"));
        format!("{why:?}").contains("TooLarge")
    };
    assert!(too_large(&mut world, 0));
    add(&mut world, "nodes: { node0: { gpus: 4 } }");
    assert!(!too_large(&mut world, 1000), "it is as large as the node, which others have");
}

/// A queue asks for GPU memory on behalf of the queue that it hangs below now.
#[test]
fn gpu_memory_that_a_queue_asks_for_goes_with_it() {
    let mut world = world(
        "nodes: { node0: { gpus: 2, gpu_memory_mib: 40000 } }\n\
         queues: { a: {}, b: {}, q: { parent: a } }\n\
         groups: { large: { queue: q, gpu_memory_mib: 50000 } }",
    );
    let share = |world: &World, name: &str| {
        world.cluster.queue_state(queue(world, name)).fair_share[QueueLane::Gpu]
    };
    assert_eq!(decide(&mut world, 0), ["idle"]);
    assert_eq!((share(&world, "a"), share(&world, "b")), (1250, 0));
    add(&mut world, "queues: { b: {}, q: { parent: b } }");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    assert_eq!((share(&world, "a"), share(&world, "b")), (0, 1250));
}

/// A rule of a queue holds for all below it, however far below.
#[test]
fn a_queue_far_below_one_that_changes_follows_it() {
    let far_below = || {
        let mut world = world(
            "nodes: { node0: { gpus: 4 } }\n\
             queues: { top: {}, mid: { parent: top }, low: { parent: mid }, leaf: { parent: low } }\n\
             groups: { first: { queue: leaf, gpus: 1 } }",
        );
        assert_eq!(decide(&mut world, 0), ["place first on node0"]);
        world.tell(Delta::Bound(pod(&world, "first")));
        world
    };
    let mut gone = far_below();
    gone.tell(Delta::QueueGone(queue(&gone, "top")));
    let leaf =
        "queues: { top: {}, mid: { parent: top }, low: { parent: mid }, leaf: { parent: low } }\n";
    let second = "groups: { second: { queue: leaf, gpus: 1 } }";
    add(&mut gone, second);
    assert_eq!(decide(&mut gone, 1000), ["idle"]);
    let mut limited = far_below();
    add(&mut limited, &leaf.replace("top: {}", "top: { limit: 1 }"));
    add(&mut limited, second);
    assert_eq!(decide(&mut limited, 1000), ["idle"]);
}

/// Of domains that are alike the first goes first as their labels are written now.
#[test]
fn domains_go_by_how_their_labels_are_written_now() {
    let mut world = world(
        "topologies: { dc: [rack] }\n\
         nodes: { a: { gpus: 2, labels: { rack: x } }, b: { gpus: 2, labels: { rack: y } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { one: { queue: q, gpus: 1, topology: dc, required: rack, state: gated } }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
    let y = world.names.symbol("y");
    world.tell(Delta::Spelling(y, b"w".as_slice().into()));
    add(&mut world, "groups: { one: { queue: q, gpus: 1, topology: dc, required: rack } }");
    assert_eq!(decide(&mut world, 1000), ["place one on b"]);
}

/// A gang finds the rack in which its nodes are now, whichever they were in before.
#[test]
fn a_node_that_is_carried_to_another_rack_is_in_that_domain() {
    let mut world = world(
        "topologies: { dc: [rack] }\n\
         nodes: { a: { gpus: 1, labels: { rack: x } }, b: { gpus: 1, labels: { rack: y } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { gang: { queue: q, pods: 2, gpus: 1, topology: dc, required: rack } }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
    add(&mut world, "nodes: { b: { gpus: 1, labels: { rack: x } } }");
    assert_eq!(decide(&mut world, 1000), ["place gang-0 on a", "place gang-1 on b"]);
}

/// GPU memory is a part of the smallest GPUs that there are, and not of those that were.
#[test]
fn gpu_memory_is_no_part_of_gpus_that_are_gone() {
    let mut world = world(
        "nodes:\n\
         \x20 node0: { gpus: 4, gpu_memory_mib: 40000 }\n\
         \x20 node1: { gpus: 1, gpu_memory_mib: 20000 }\n\
         queues: { q: {} }\n\
         groups: { large: { queue: q, gpu_memory_mib: 50000 } }",
    );
    let share =
        |world: &World| world.cluster.queue_state(queue(world, "q")).fair_share[QueueLane::Gpu];
    assert_eq!(decide(&mut world, 0), ["idle"]);
    assert_eq!(share(&world), 2500);
    world.tell(Delta::NodeGone(node(&world, "node1")));
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    assert_eq!(share(&world), 1250);
}

/// A node that takes the number of one that is gone has all of its GPUs to open for sharing.
#[test]
fn gpus_that_were_set_aside_are_gone_with_their_node() {
    let mut world = world(
        "nodes: { node0: { gpus: 1, set_aside: 1 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { half: { queue: q, gpus: 0.5 } }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
    let id = node(&world, "node0");
    let facts = Box::new(world.facts.nodes[&id].clone());
    world.tell(Delta::NodeGone(id));
    world.tell(Delta::Node(id, facts));
    assert_eq!(decide(&mut world, 1000), ["place half on node0/0"]);
}

/// Memory of a GPU on a node that is no more, or of another node pool by now, is not counted in GPUs of 100 MiB.
#[test]
fn gpu_memory_on_a_node_that_is_gone_is_no_heap_of_gpus() {
    let mut world = world(
        "nodes: { node0: { gpus: 1, gpu_memory_mib: 80000 }, node1: { gpus: 1, gpu_memory_mib: 80000 } }\n\
         queues: { q: { limit: 1 } }\n\
         groups:\n\
         \x20 runs: { queue: q, gpu_memory_mib: 40000, on: node1/0 }\n\
         \x20 waits: { queue: q, gpu_memory_mib: 20000 }",
    );
    world.tell(Delta::NodeGone(node(&world, "node1")));
    assert_eq!(decide(&mut world, 0), ["place waits on node0/0"]);
    let held = world.cluster.queue_state(queue(&world, "q")).allocated[QueueLane::Gpu];
    assert_eq!(held, 250);
}
