//! Groups of many sub-groups: what an attempt for them costs, and when it ends.

use std::fmt::Write;

use kai_engine::{Actions, Change};

use super::*;

/// Nodes in racks of eight, and a group of sub-groups within each other, each of which would rather have one node; none takes
/// the innermost. `is_beside` puts a pod beside each of the inner ones.
fn sub_groups_within_each_other(depth: u64, is_beside: bool) -> World {
    const NODES: u64 = 64;
    let mut text = String::from("topologies: { dc: [rack, host] }\nqueues: { q: {} }\nnodes:\n");
    for node in 0..NODES {
        let labels = format!("{{ rack: r{}, host: h{node} }}", node / 8);
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, cpu: 64, labels: {labels} }}");
    }
    let nobody = "[{ key: host, labels: { app: nobody } }]";
    let mut inner = format!("s{depth:02}: {{ cpu: 1, preferred: host, affinity: {nobody} }}");
    for at in (1..depth).rev() {
        let beside = if is_beside { format!("a{at:02}: {{ cpu: 1 }}, ") } else { String::new() };
        inner = format!("s{at:02}: {{ preferred: host, subgroups: {{ {beside}{inner} }} }}");
    }
    let _ = writeln!(text, "groups: {{ deep: {{ queue: q, subgroups: {{ {inner} }} }} }}");
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world
}

/// Of sub-groups within each other each is tried once on a domain, not once for each chain of domains around it.
#[test]
fn sub_groups_within_each_other_are_tried_once_on_a_domain() {
    let mut world = sub_groups_within_each_other(6, false);
    let decided = plan_at(&mut world, 0);
    assert_eq!(decided.changes, [], "none takes the innermost");
    assert!(!decided.steps.spent, "nothing is left to try");
    // The five inner ones choose within each of 73 domains, which is a step at least, and the innermost looks at nodes.
    let nodes = decided.steps.nodes;
    assert!((600..1500).contains(&nodes), "{nodes} nodes, and not 2,366 choices");
}

/// If something is placed beside each of them, no choice is like another: an attempt ends though there are more than 20,000.
#[test]
fn an_attempt_enters_so_many_domains_within_each_other() {
    let mut world = sub_groups_within_each_other(12, true);
    let decided = plan_at(&mut world, 0);
    assert_eq!(decided.changes, [], "none takes the innermost");
    let nodes = decided.steps.nodes;
    assert!((4_096..20_000).contains(&nodes), "{nodes} nodes");
}

/// Full nodes of a group that can do with one of its sub-groups, beside others without pods, and somebody with a right to a GPU.
fn wide(empty: u64) -> World {
    let mut text = String::from(
        "queues: { borrower: {}, owner: { quota: 4 } }\nnodes: { node0..1: { gpus: 2 } }\ngroups:\n  \
         waits: { queue: owner, gpus: 1 }\n  \
         wide:\n    queue: borrower\n    min_subgroups: 1\n    subgroups:\n",
    );
    for pod in 0..4 {
        let _ = writeln!(text, "      s{pod}: {{ gpus: 1, on: node{} }}", pod / 2);
    }
    for number in 0..empty {
        let _ = writeln!(text, "      t{number:03}: {{ pods: 0 }}");
    }
    world(&text)
}

/// Sub-groups that need no pods and have none change nothing of what is evicted.
#[test]
fn sub_groups_without_pods_change_no_eviction() {
    let evictions = |empty: u64| {
        let mut world = wide(empty);
        let changes = decide(&mut world, 0);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
        changes
    };
    let few = evictions(1);
    assert!(few.iter().any(|change| change.starts_with("evict ")), "{few:?}");
    assert_eq!(evictions(500), few);
}

/// A group that gets one pod after the other goes on in the next cycles, and whoever else waits is placed meanwhile; groups that
/// get all at once are placed in one.
#[test]
fn turns_in_which_a_group_gets_more_count() {
    const PODS: usize = 50;
    let cluster = |group: &str| {
        let mut world = world(&format!(
            "queues: {{ q: {{}}, other: {{}} }}\nnodes: {{ node0..9: {{ gpus: 8 }} }}\ngroups: {{ {group} }}"
        ));
        add(&mut world, "groups: { small: { queue: other, gpus: 1 } }");
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        world.config.action_steps_max = Some(330);
        world
    };
    let mut whole = cluster(&format!("gang0..{}: {{ queue: q, gpus: 1 }}", PODS - 1));
    let decided = plan_at(&mut whole, 0);
    assert!(!decided.steps.spent, "{:?}", decided.steps);
    assert_eq!(decided.changes.len(), 1 + PODS);
    let mut world = cluster(&format!("elastic: {{ queue: q, pods: {PODS}, min: 1, gpus: 1 }}"));
    let small = pod(&world, "small");
    let is_small = |change: &Change| matches!(change, Change::Place { pod, .. } if *pod == small);
    let mut placed = 0;
    for cycle in 0..100 {
        let decided = plan_at(&mut world, cycle);
        placed += decided.changes.len();
        assert!(cycle != 1 || decided.changes.iter().any(is_small), "{:?}", decided.changes);
        assert!(decided.changes.len() <= 12, "of 33 steps or more each: {:?}", decided.steps);
        if !decided.steps.spent {
            break;
        }
    }
    assert_eq!(placed, 1 + PODS);
}
