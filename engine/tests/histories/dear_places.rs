//! Cycles that end as groups get places that cost much to find.

use std::collections::BTreeSet;
use std::fmt::Write;

use kai_engine::{Actions, Change};

use super::{rounds::rest, *};

/// Groups whose places cost much to find are left to the next cycles, as those are that find none, and whoever comes meanwhile
/// is placed before them. Those whose places cost little have them all in one cycle.
#[test]
fn dear_places_end_a_cycle() {
    let queued = |prefers: &str| {
        let mut text = String::from("queues: { q: {}, other: {} }\nnodes:\n");
        for node in 0..100 {
            let _ = writeln!(text, "  node{node}: {{ labels: {{ host: h{node} }} }}");
        }
        text += "groups:\n";
        for group in 0..20 {
            let _ = writeln!(text, "  g{group}: {{ queue: q{prefers} }}");
        }
        let mut world = world(&text);
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        world.config.action_steps_max = Some(1000);
        world
    };
    let mut cheap = queued("");
    let decided = plan_at(&mut cheap, 0);
    assert_eq!((decided.changes.len(), decided.steps.spent), (20, false));

    let wish = |number| format!("{{ weight: {number}, node: {{ host: h7 }} }}");
    let wishes: Vec<String> = (1..=64).map(wish).collect();
    let mut dear = queued(&format!(", prefers: [{}]", wishes.join(", ")));
    let first = plan_at(&mut dear, 0);
    assert!(first.steps.spent && first.steps.total() < 2000, "{:?}", first.steps);
    add(&mut dear, "groups: { late: { queue: other } }");
    let late = pod(&dear, "late");
    let next = plan_at(&mut dear, 0);
    let is_late = |change: &Change| matches!(change, Change::Place { pod, .. } if *pod == late);
    assert!(next.changes.iter().any(is_late), "{:?}", next.changes);
    let placed = first.changes.len() + next.changes.len() + rest(&mut dear, 0).len();
    assert_eq!(placed, 21);
    assert_eq!(dear.cluster.check(), Vec::<String>::new());
}

/// A hundred GPUs, and as many groups of queue `q` with a few wishes, which end a cycle, and others after them in the order.
fn wishing(others: &str) -> World {
    const NODES: u64 = 50;
    let mut text = String::from("queues: { q: { priority: 200 }, other: {} }\nnodes:\n");
    for node in 0..NODES {
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, labels: {{ host: h{node} }} }}");
    }
    let wish = |number| format!("{{ weight: {number}, node: {{ host: h7 }} }}");
    let wishes: Vec<String> = (1..=15).map(wish).collect();
    let prefers = format!("prefers: [{}]", wishes.join(", "));
    text += "groups:\n";
    for group in 0..2 * NODES {
        let of = "queue: q, namespace: team, gpus: 1, priority: 75";
        let _ = writeln!(text, "  x{group}: {{ {of}, {prefers} }}");
        let _ = writeln!(text, "  y{group}: {{ {others}, gpus: 1, priority: 50 }}");
    }
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world.config.action_steps_max = Some(500);
    world
}

/// Groups whose places cost what a few wishes cost, so that a cycle ends with them, lose no room to others that come after them
/// in the order: of another namespace of the same queue, and of another queue.
#[test]
fn places_that_end_a_cycle_put_nobody_behind_others() {
    for others in ["queue: q", "queue: other"] {
        let mut world = wishing(others);
        assert!(plan_at(&mut world.clone(), 0).steps.spent, "one cycle is too short");
        let theirs: BTreeSet<PodId> =
            (0..100).map(|group| pod(&world, &format!("x{group}"))).collect();
        let placed: BTreeSet<PodId> = rest(&mut world, 0).into_iter().map(|(pod, _)| pod).collect();
        assert_eq!(placed, theirs, "beside {others}");
        assert_eq!(world.cluster.check(), Vec::<String>::new());
    }
}

/// Whoever comes and is the first by the order has a turn in the next cycle, and waits for none whose places ended the last one.
#[test]
fn places_that_end_a_cycle_keep_none_who_is_first_waiting() {
    let mut world = wishing("queue: q");
    assert!(plan_at(&mut world, 0).steps.spent, "one cycle is too short");
    add(&mut world, "groups: { late: { queue: q, priority: 90, gpus: 1, cpu: 2 } }");
    let late = pod(&world, "late");
    let next = plan_at(&mut world, 0);
    let first = next.changes.first();
    assert!(matches!(first, Some(Change::Place { pod, .. }) if *pod == late), "{first:?}");
}
