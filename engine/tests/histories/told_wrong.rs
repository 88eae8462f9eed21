//! Histories that were once decided wrong, one by one.

use kai_engine::{Lane, PerLane};

use super::*;

#[test]
fn a_running_pod_may_come_before_its_node_group_and_queue() {
    let forth = world(
        "nodes: { node0: { gpus: 8 } }\n\
         queues: { q: {} }\n\
         groups: { a: { queue: q, gpus: 1, cpu: 0, memory: 0, on: node0 } }",
    );
    let back = forth.retold(forth.facts.deltas().into_iter().rev());
    let (node, queue) = (node(&back, "node0"), queue(&back, "q"));
    assert_eq!(back.cluster.node_amounts(node, Lane::GPU), (8000, 7000));
    assert_eq!(back.cluster.queue_state(queue).allocated, PerLane([0, 0, 1000]));
    assert_eq!(back.cluster.check(), Vec::<String>::new());
}

/// A group that needs one of two sub-groups takes the one that has all its pods, not part of the other.
#[test]
fn a_sub_group_that_cannot_be_filled_is_passed_over() {
    let mut world = world(
        "nodes: { node0: { gpus: 8, cpu: 8 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 a:\n\
         \x20   queue: q\n\
         \x20   min_subgroups: 1\n\
         \x20   subgroups:\n\
         \x20     one: { min: 2, members: { x: {}, y: { state: gated } } }\n\
         \x20     two: { min: 1 }",
    );
    let first = decide(&mut world, 0);
    assert!(first[0].starts_with("place a-two "), "{first:?}");
}

/// Of two groups that need one of two sub-groups, neither of which has all its pods any more, the one goes on with the
/// sub-group that comes first, and in the other it has none: they do not stand in for each other.
#[test]
fn groups_are_not_alike_where_sub_groups_without_pods_come_first() {
    let part = "{ min: 2, members: { x: {}, y: { state: succeeded } } }";
    let none = "{ subgroups: { c: { pods: 0, min: 1 } } }";
    let mut world = world(&format!(
        "nodes: {{ node0: {{ gpus: 8, cpu: 8 }} }}\n\
         queues: {{ q: {{ quota: unlimited }} }}\n\
         groups:\n\
         \x20 first: {{ queue: q, age: 2m, min_subgroups: 1, subgroups: {{ a: {none}, b: {part} }} }}\n\
         \x20 second: {{ queue: q, age: 1m, min_subgroups: 1, subgroups: {{ b: {part}, d: {none} }} }}"
    ));
    assert_eq!(decide(&mut world, 0), ["place second-b-x on node0"]);
}

/// Whoever may create pods asks for any amount of GPU memory on any number of GPUs, and for instances of profiles of any number
/// of slices: what a queue summed of a gang of such pods was more than a number holds, which ended the scheduler.
#[test]
fn a_gang_asks_for_more_than_a_number_holds_and_waits() {
    let instances: Vec<String> =
        (0..2_000).map(|at| format!("nvidia.com/mig-65535g.{at}: 65535")).collect();
    let by_memory = String::from("gpu_memory_mib: 4294967295, devices: 1024");
    let by_instances = format!("mig: {{ {} }}", instances.join(", "));
    for asked in [by_memory, by_instances] {
        let mut world = world(&format!(
            "nodes: {{ node0: {{ gpus: 1, gpu_memory_mib: 40000 }} }}\n\
             queues: {{ q: {{}} }}\n\
             groups: {{ a: {{ queue: q, pods: 2200, {asked} }} }}"
        ));
        assert_eq!(decide(&mut world, 0), ["idle"]);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
    }
}

/// Of a group that loses a pod at a time all that is left counts for the order of victims with each of them: what a queue lost in
/// a search was more than a number holds.
#[test]
fn a_group_of_many_large_pods_is_evicted_in_steps() {
    let mut world = world(
        "nodes: { node0: { gpus: 0, cpu: 10000, memory: 12000Ti, pods: 5000 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 low: { queue: q, pods: 1500, min: 1, cpu: 1, memory: 8191Gi, on: node0*1500 }\n\
         \x20 high: { queue: q, cpu: 1, memory: 11500Ti, priority: 75 }",
    );
    // A set is tried for each pod more that it loses, so that the search goes on for some cycles.
    let is_eviction = |line: &String| line.starts_with("evict");
    let evicted = (0..20).any(|cycle| decide(&mut world, cycle).iter().any(is_eviction));
    assert!(evicted);
    assert_eq!(world.cluster.check(), Vec::<String>::new());
}

/// A pod that takes long to leave, or should have left, counts for its gang whatever its user calls its sub-group by then: the
/// others are no stale gang.
#[test]
fn who_leaves_late_counts_under_any_name() {
    for state in ["releasing", "lingering", "stuck"] {
        let leaves = format!("leaves: {{ gpus: 1, on: node0, state: {state} }}");
        let members = format!("{{ stays: {{ gpus: 1, on: node0 }}, {leaves} }}");
        let mut world = world(&format!(
            "config: {{ grace: 0s }}\n\
             nodes: {{ node0: {{ gpus: 2 }} }}\n\
             queues: {{ q: {{ quota: 2 }} }}\n\
             groups: {{ gang: {{ queue: q, min: 2, members: {members} }} }}"
        ));
        let late = pod(&world, "gang-leaves");
        let mut facts = world.facts.pods[&late].clone();
        facts.sub_group = world.names.symbol("ghost");
        world.tell(Delta::Pod(late, Box::new(facts)));
        assert_eq!(decide(&mut world, 0), ["idle"], "{state}");
        assert_eq!(world.cluster.check(), Vec::<String>::new());
    }
}

/// When a group started is read from an annotation: one that is further ahead than any clock would keep its group for ever.
#[test]
fn a_start_that_no_clock_could_have_keeps_no_group() {
    const HOUR: i64 = 3_600_000;
    let decided_of = |ahead: i64| {
        let mut world = world(
            "nodes: { node0: { gpus: 1 } }\n\
             queues: { q: { quota: 1, preempt_min_runtime: 10m } }\n\
             groups:\n\
             \x20 runs: { queue: q, gpus: 1, on: node0 }\n\
             \x20 high: { queue: q, gpus: 1, priority: 90 }",
        );
        let runs = group(&world, "runs");
        let mut facts = world.facts.groups[&runs].clone();
        facts.last_start = Some(Timestamp(START.0 + ahead));
        world.tell(Delta::Group(runs, Box::new(facts)));
        decide(&mut world, 0)
    };
    assert_eq!(decided_of(HOUR), ["idle"], "clocks of two schedulers may be apart");
    let eviction = "evict runs from node0 for high preempt: it has a higher priority";
    assert_eq!(decided_of(HOUR + 1), [eviction, "nominate high on node0"]);
}
