//! Rounds of turns in which classes have groups that differ, or nominations stand.

use std::fmt::Write;

use kai_engine::{Actions, Change};
use kai_sim::generate::Seed;

use super::*;

/// Plans in short cycles until nothing is left to the next one; in which of them pods of a group got what they may.
fn turns_until(world: &mut World, name: &str) -> Option<i64> {
    let waits = pod(world, name);
    let mut got = None;
    for cycle in 0..60 {
        let decided = plan_at(world, cycle);
        let is_for = |change: &Change| match change {
            Change::Place { pod, .. } | Change::Nominate { pod, .. } => *pod == waits,
            Change::Evict { .. } => false,
        };
        if got.is_none() && decided.changes.iter().any(is_for) {
            got = Some(cycle);
        }
        if !decided.steps.spent {
            return got;
        }
    }
    panic!("no rest: {got:?}")
}

const AVOIDS: &str = "anti_affinity: [{ key: kubernetes.io/hostname, labels: { app: web } }]";

/// Groups that a neighbour will not have are passed over, however many cycles that takes.
#[test]
fn who_is_passed_over_is_asked_once_a_round() {
    let mut text = format!(
        "queues: {{ q: {{}} }}\nnodes: {{ node0: {{ gpus: 3 }} }}\ngroups:\n  \
         loner: {{ queue: q, gpus: 1, on: node0, {AVOIDS} }}\n"
    );
    for number in 0..5 {
        let _ = writeln!(text, "  a{number}: {{ queue: q, gpus: 1, labels: {{ app: web }} }}");
    }
    text += "  b: { queue: q, gpus: 1 }\n";
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world.config.action_steps_max = Some(1);
    assert_eq!(turns_until(&mut world, "b"), Some(5));
}

/// So are groups for which nobody can be evicted.
#[test]
fn who_is_passed_over_evicts_nobody_else() {
    let mut text = format!(
        "queues: {{ borrower: {{}}, owner: {{ quota: 8 }} }}\nnodes: {{ node0: {{ gpus: 3 }} }}\ngroups:\n  \
         loner: {{ queue: owner, preemptible: false, gpus: 1, on: node0, {AVOIDS} }}\n  \
         v0..1: {{ queue: borrower, gpus: 1, on: node0 }}\n"
    );
    for number in 0..5 {
        let _ = writeln!(text, "  a{number}: {{ queue: owner, gpus: 1, labels: {{ app: web }} }}");
    }
    text += "  b: { queue: owner, gpus: 1 }\n";
    let mut world = world(&text);
    world.config.action_steps_max = Some(1);
    assert!(turns_until(&mut world, "b").is_some());
}

/// A node of four GPUs, and groups of one class that each are kept away by one of two that run there: the first by `web`, the
/// others by `db`. In short cycles the first and another had their turns.
fn two_passed_over() -> World {
    let mut text = format!(
        "queues: {{ q: {{}} }}\nnodes: {{ node0: {{ gpus: 4 }} }}\ngroups:\n  \
         web: {{ queue: q, gpus: 1, on: node0, {AVOIDS} }}\n  \
         db: {{ queue: q, gpus: 1, on: node0, {} }}\n  \
         first: {{ queue: q, gpus: 1, labels: {{ app: web }} }}\n",
        AVOIDS.replace("web", "db")
    );
    for number in 0..4 {
        let _ = writeln!(text, "  other{number}: {{ queue: q, gpus: 1, labels: {{ app: db }} }}");
    }
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world.config.action_steps_max = Some(1);
    for _ in 0..2 {
        let decided = plan_at(&mut world, 0);
        assert!(decided.steps.spent && decided.changes.is_empty(), "{:?}", decided.changes);
    }
    world
}

/// Asks whoever comes before groups of its class that were passed over once all behind these were asked.
#[test]
fn who_comes_before_those_who_were_passed_over_has_a_turn() {
    let mut world = two_passed_over();
    add(&mut world, "groups: { early: { queue: q, priority: 75, gpus: 1 } }");
    assert!(turns_until(&mut world, "early").is_some());
}

/// Asks again whoever was passed over where room came since, though none of those behind it finds any.
#[test]
fn who_was_passed_over_has_another_turn_where_room_came() {
    let mut world = two_passed_over();
    gone(&mut world, &["web"]);
    assert!(turns_until(&mut world, "first").is_some());
}

/// A pod that leaves, for whose room another of two is nominated; the second finds none in any cycle.
fn nominated(tail: &str) -> World {
    let mut text = String::from(
        "queues: { q: {} }\nnodes:\n  node0: { gpus: 2, labels: { pool: a } }\n  \
         node1: { gpus: 1, labels: { pool: b } }\ngroups:\n  \
         r0: { queue: q, gpus: 1, on: node0, state: releasing }\n  \
         r1: { queue: q, gpus: 1, on: node0 }\n",
    );
    text += tail;
    for cpu in 0..3 {
        let _ =
            writeln!(text, "  h{cpu}: {{ queue: q, priority: 75, gpus: 1, cpu: {} }}", 900 + cpu);
    }
    text += "  small: { queue: q, gpus: 1, selector: { pool: b } }\n";
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world.config.action_steps_max = Some(1);
    world
}

#[test]
fn nominations_of_some_of_a_class_keep_nobody_from_a_turn() {
    let mut world =
        nominated("  n0..1: { queue: q, priority: 80, gpus: 1, selector: { pool: a } }\n");
    assert!(turns_until(&mut world, "small").is_some());
}

#[test]
fn nominations_of_a_part_keep_nobody_from_a_turn() {
    let mut world = nominated(
        "  n: { queue: q, priority: 80, pods: 2, min: 1, gpus: 1, selector: { pool: a } }\n",
    );
    assert!(turns_until(&mut world, "small").is_some());
}

/// Though room comes in each cycle.
#[test]
fn who_is_nominated_stays_so_in_a_round() {
    let mut world = nominated("  n: { queue: q, priority: 80, gpus: 1, selector: { pool: a } }\n");
    add(&mut world, "groups: { late: { queue: q, gpus: 1, cpu: 2, selector: { pool: a } } }");
    let late = pod(&world, "late");
    for cycle in 0..20 {
        add(
            &mut world,
            &format!("nodes: {{ other: {{ gpus: 0, labels: {{ at: \"{cycle}\" }} }} }}"),
        );
        let decided = plan_at(&mut world, cycle);
        let is_late =
            |change: &Change| matches!(change, Change::Nominate { pod, .. } if *pod == late);
        assert!(!decided.changes.iter().any(is_late), "in cycle {cycle}");
    }
}

/// A group that is not among those that allocate looks at finds no free room before them.
#[test]
fn nobody_catches_up_from_behind() {
    let mut text = String::from(
        "queues: { q: {}, p: {} }\nnodes:\n  node0: { gpus: 2, labels: { pool: a } }\ngroups:\n",
    );
    for cpu in 0..3 {
        let _ =
            writeln!(text, "  h{cpu}: {{ queue: p, priority: 75, gpus: 1, cpu: {} }}", 900 + cpu);
    }
    text += "  first: { queue: q, priority: 75, gpus: 3 }\n  behind: { queue: q, gpus: 1 }\n";
    let mut world = world(&text);
    world.config.queue_depth.allocate = Some(1);
    let whole = plan_at(&mut world.clone(), 0);
    assert_eq!(whole.changes, []);
    world.config.action_steps_max = Some(1);
    assert_eq!(turns_until(&mut world, "behind"), None);
}

/// A group whose victims are safe for now is asked once they are not, however many cycles the round took in which it asked.
#[test]
fn victims_that_are_safe_for_now_are_asked_for_later() {
    let text = |hopeless: u64| {
        let mut text = String::from(
            "queues: { borrower: { reclaim_min_runtime: 10m }, owner: { quota: 8 } }\n\
             nodes: { node0: { gpus: 2 } }\ngroups:\n  \
             v0..1: { queue: borrower, gpus: 1, on: node0, started: 1m }\n  \
             first: { queue: owner, priority: 75, gpus: 2 }\n",
        );
        for cpu in 0..hopeless {
            let _ = writeln!(text, "  h{cpu}: {{ queue: owner, gpus: 3, cpu: {} }}", 1 + cpu);
        }
        text
    };
    let mut world = world(&text(5));
    let mut whole = world.clone();
    assert!(!plan_at(&mut whole, 0).steps.spent);
    assert!(whole.cluster.wake().is_some());
    world.config.action_steps_max = Some(1);
    assert_eq!(turns_until(&mut world, "first"), None);
    assert_eq!(world.cluster.wake(), whole.cluster.wake());
}

/// A cluster in which pods leave, neighbours are avoided, and groups of many kinds wait, some for a part of what they ask for.
fn mixed(number: u64) -> World {
    let mut seed = Seed::new(number);
    let mut text = String::from("queues: { q: {}, owner: { quota: 4 } }\nnodes:\n");
    let nodes = 2 + seed.below(2);
    for node in 0..nodes {
        let pool = if node == 0 { "a" } else { "b" };
        let _ = writeln!(text, "  node{node}: {{ gpus: 3, labels: {{ pool: {pool} }} }}");
    }
    text += "groups:\n";
    for pod in 0..3 * nodes {
        let state = *seed.pick(&["running", "releasing", "releasing", ""]);
        let avoids = if seed.one_in(4) { AVOIDS } else { "priority: 50" };
        if !state.is_empty() {
            let on = format!("on: node{}, state: {state}, {avoids}", pod / 3);
            let _ = writeln!(text, "  r{pod}: {{ queue: q, gpus: 1, {on} }}");
        }
    }
    for group in 0..=seed.below(10) {
        let queue = *seed.pick(&["q", "owner"]);
        let (gpus, pods, priority) = (1 + seed.below(2), 1 + seed.below(3), *seed.pick(&[50, 75]));
        let min = 1 + seed.below(pods);
        let labels = *seed.pick(&["", "labels: { app: web }, "]);
        let selector = *seed.pick(&["", "", "selector: { pool: a }, ", "selector: { pool: b }, "]);
        let more = format!("{labels}{selector}pods: {pods}, min: {min}, priority: {priority}");
        let _ = writeln!(text, "  g{group}: {{ queue: {queue}, gpus: {gpus}, {more} }}");
    }
    world(&text)
}

/// Short cycles come to an end, whoever leaves, is nominated or is avoided, and leave all in order.
#[test]
fn short_cycles_of_mixed_clusters_come_to_rest() {
    for number in 0..200 {
        let mut world = mixed(number);
        let mut seed = Seed::new(number).split(1);
        if seed.one_in(2) {
            world.config.actions = Actions { allocate: true, ..Actions::NONE };
        }
        world.config.action_steps_max = Some(1 + seed.below(100));
        let spent = (0..500).find(|cycle| !plan_at(&mut world, *cycle).steps.spent);
        assert!(spent.is_some(), "seed {number} comes to an end");
        assert_eq!(world.cluster.check(), Vec::<String>::new(), "seed {number}");
    }
}
