//! Cycles that are too short for all who might evict others: all have a turn before one has another.

use std::fmt::Write;

use kai_engine::Change;
use kai_sim::generate::Seed;

use super::*;

/// Full nodes of two GPUs of the borrower, all due to the owner.
fn full(nodes: u64) -> World {
    let mut text =
        format!("queues: {{ borrower: {{}}, owner: {{ quota: {} }} }}\nnodes:\n", 2 * nodes);
    for node in 0..nodes {
        let _ = writeln!(text, "  node{node}: {{ gpus: 2 }}");
    }
    text += "groups:\n";
    for pod in 0..2 * nodes {
        let _ = writeln!(text, "  b{pod}: {{ queue: borrower, gpus: 1, on: node{} }}", pod / 2);
    }
    world(&text)
}

/// A node that comes and goes.
fn news(world: &mut World, cycle: i64) {
    add(world, &format!("nodes: {{ other: {{ gpus: 0, labels: {{ at: \"{cycle}\" }} }} }}"));
}

/// Counts the cycles until somebody is evicted, in a cluster that changes all the time.
fn cycles(groups: &[&str]) -> i64 {
    let mut world = full(4);
    world.config.eviction_steps_max = Some(1);
    for (number, group) in groups.iter().enumerate() {
        add(&mut world, &format!("groups: {{ g{number}: {{ queue: owner, {group} }} }}"));
    }
    for cycle in 0..1000 {
        news(&mut world, cycle);
        let decided = plan_at(&mut world, cycle);
        if decided.changes.iter().any(|change| matches!(change, Change::Evict { .. })) {
            return cycle + 1;
        }
        assert!(decided.steps.spent, "the next cycle goes on");
    }
    panic!("nobody had a turn")
}

#[test]
fn all_have_a_turn_before_one_has_another() {
    assert_eq!(cycles(&["gpus: 2"]), 1);
    // Who needs more than a node has evicts nobody, and each is another search.
    let hopeless: Vec<String> = (1..10).map(|cpu| format!("gpus: 3, cpu: {cpu}")).collect();
    let mut groups: Vec<&str> = hopeless.iter().map(String::as_str).collect();
    groups.push("gpus: 2");
    let taken = cycles(&groups);
    assert!(taken <= 22, "{taken} cycles for ten groups and two actions");
}

/// A group that had a turn in vain before something changed has another once the round is over, with no more news.
#[test]
fn news_of_a_round_are_for_those_who_had_their_turn() {
    let mut world = full(1);
    let victims = |preemptible| {
        format!(
            "groups: {{ b0..1: {{ queue: borrower, gpus: 1, on: node0, preemptible: {preemptible} }} }}"
        )
    };
    add(&mut world, &victims(false));
    add(&mut world, "groups: { first: { queue: owner, gpus: 2 } }");
    for cpu in 1..5 {
        // Who needs more than the node has evicts nobody.
        add(&mut world, &format!("groups: {{ g{cpu}: {{ queue: owner, gpus: 3, cpu: {cpu} }} }}"));
    }
    world.config.eviction_steps_max = Some(1);
    let mut decided = plan_at(&mut world, 0);
    assert!(decided.changes.is_empty() && decided.steps.spent, "the others are to come");
    add(&mut world, &victims(true));
    for cycle in 1.. {
        decided = plan_at(&mut world, cycle);
        if !decided.steps.spent || !decided.changes.is_empty() {
            break;
        }
        assert!(cycle < 100, "a round comes to its end");
    }
    let eviction = "evict b1 b0 from node0 for first reclaim from borrower";
    assert_eq!(changes(&world, &decided), [eviction, "nominate first on node0"]);
}

/// Whatever the cluster: short cycles come to an end, and leave all in order.
#[test]
fn short_cycles_come_to_rest() {
    for number in 0..150 {
        let mut seed = Seed::new(number);
        let mut world = full(2 + seed.below(3));
        world.config.eviction_steps_max = Some(1 + seed.below(100));
        for group in 0..=seed.below(8) {
            let queue = if seed.below(2) == 0 { "owner" } else { "borrower" };
            let (gpus, pods, cpu) = (1 + seed.below(2), 1 + seed.below(3), seed.below(3));
            let priority = if seed.below(2) == 0 { 50 } else { 75 };
            add(
                &mut world,
                &format!(
                    "groups: {{ g{group}: {{ queue: {queue}, gpus: {gpus}, pods: {pods}, cpu: {cpu}, priority: {priority} }} }}"
                ),
            );
        }
        let mut cycle = 0;
        while plan_at(&mut world, cycle).steps.spent {
            cycle += 1;
            assert!(cycle < 1000, "seed {number} comes to an end");
        }
        assert_eq!(world.cluster.check(), Vec::<String>::new(), "seed {number}");
    }
}
