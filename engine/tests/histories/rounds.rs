//! Cycles that are too short for all who wait: all have a turn before one has another.

use std::fmt::Write;

use kai_engine::{Actions, Change, Place};
use kai_sim::generate::Seed;

use super::*;

/// Full nodes of two GPUs of the borrower, all due to the owner.
pub(super) fn full(nodes: u64) -> World {
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
pub(super) fn news(world: &mut World, cycle: i64) {
    add(world, &format!("nodes: {{ other: {{ gpus: 0, labels: {{ at: \"{cycle}\" }} }} }}"));
}

/// Counts the cycles until somebody is evicted, in a cluster that changes all the time.
fn cycles(groups: &[&str]) -> i64 {
    let mut world = full(4);
    world.config.action_steps_max = Some(1);
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
    world.config.action_steps_max = Some(1);
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

/// Nodes with a pod each, and groups before a small one that are asked in vain: each wants more CPU than a node has.
fn behind_many(nodes: u64, hopeless: u64) -> World {
    let mut text = String::from("queues: { q: {}, other: { quota: 8 } }\nnodes:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, cpu: 8 }}");
    }
    text += "groups:\n";
    for node in 0..nodes {
        let _ = writeln!(text, "  r{node}: {{ queue: q, gpus: 1, cpu: 1, on: node{node} }}");
    }
    for cpu in 9..9 + hopeless {
        let _ = writeln!(text, "  h{cpu}: {{ queue: q, priority: 75, gpus: 1, cpu: {cpu} }}");
    }
    text += "  small: { queue: q, gpus: 1, cpu: 1 }\n";
    world(&text)
}

/// Has room come that none of those who wait in vain can use.
fn replace(world: &mut World, number: u64) {
    gone(world, &[&format!("r{number}")]);
    let group = format!("r{number}: {{ queue: q, gpus: 1, cpu: 1, on: node{number} }}");
    add(world, &format!("groups: {{ {group} }}"));
}

/// Whoever fits is placed within a round of those who do not, though room comes in every cycle, so that all of them might
/// find some; no cycle takes more than its part and a turn, and each of them is asked again.
#[test]
fn who_fits_is_placed_while_others_fail_at_great_cost() {
    const NODES: u64 = 50;
    const HOPELESS: u64 = 1000;
    const PART: u64 = 2000;
    let mut world = behind_many(NODES, HOPELESS);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    let whole = plan_at(&mut world.clone(), 0).steps;
    assert!(!whole.spent && whole.nodes >= HOPELESS * NODES, "{whole:?}");
    let each = whole.total().div_ceil(HOPELESS) + 32;
    let round = (HOPELESS * each).div_ceil(PART);
    world.config.action_steps_max = Some(PART);
    let small = pod(&world, "small");
    let mut tried = 0;
    let mut placed = None;
    for cycle in 0..2 * round {
        replace(&mut world, cycle % NODES);
        let decided = plan_at(&mut world, i64::try_from(cycle).expect("few cycles"));
        tried += decided.steps.groups;
        assert!(decided.steps.total() <= PART + each, "{:?} in cycle {cycle}", decided.steps);
        let is_small =
            |change: &Change| matches!(change, Change::Place { pod, .. } if *pod == small);
        if decided.changes.iter().any(is_small) {
            placed = Some(cycle);
        }
    }
    assert!(placed.is_some_and(|placed| placed < round), "{placed:?} of {round}");
    assert!(tried > 2 * HOPELESS, "each is asked again: {tried}");
}

/// Whoever fits is placed all the same where groups of another queue fail as well: those who had their turn, and might find room
/// since, have no other before all of the queue had theirs.
#[test]
fn who_fits_is_placed_while_groups_of_two_queues_fail() {
    // Those of the other queue leave some of its part, or take all of it.
    for others in [1, 12] {
        let mut world = behind_many(50, 200);
        for other in 0..others {
            let group = format!("large{other}: {{ queue: other, gpus: 1, cpu: {} }}", 999 + other);
            add(&mut world, &format!("groups: {{ {group} }}"));
        }
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        world.config.action_steps_max = Some(2000);
        let small = pod(&world, "small");
        let is_small =
            |change: &Change| matches!(change, Change::Place { pod, .. } if *pod == small);
        let has_turn = |cycle: u64| {
            replace(&mut world, cycle);
            let decided = plan_at(&mut world, i64::try_from(cycle).expect("few cycles"));
            decided.changes.iter().any(is_small)
        };
        let placed = (0..30).position(has_turn);
        assert!(placed.is_some_and(|cycles| cycles > 1), "{placed:?} beside {others}");
    }
}

/// Another group of a class has a turn in place of one whose namespace is put off, and is kept away by others: that
/// says nothing of the first, which has its turn once those before it had theirs.
#[test]
fn who_is_kept_away_ends_no_turns_of_another_namespace() {
    const NODES: u64 = 50;
    let mut world = behind_many(NODES, 100);
    let mut text = String::from("nodes:\n");
    for node in 0..NODES {
        let labels = format!("labels: {{ host: h{node} }}");
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, cpu: 8, {labels} }}");
    }
    text += "groups:\n";
    let away = "anti_affinity: [{ key: host, labels: { app: x } }]";
    for node in 0..NODES {
        let of = "queue: other, namespace: team";
        let _ = writeln!(text, "  o{node}: {{ {of}, {away}, on: node{node} }}");
    }
    text += "  away: { queue: q, namespace: team, gpus: 1, cpu: 1, labels: { app: x } }\n";
    add(&mut world, &text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world.config.action_steps_max = Some(2000);
    let small = pod(&world, "small");
    let placed = rest(&mut world, 0);
    assert!(placed.iter().any(|(pod, _)| *pod == small), "{placed:?}");
    assert_eq!(placed.len(), 1, "{placed:?}");
}

/// So many nodes and steps of an action, and queues with groups that are asked in vain beside the one with a thousand of them.
struct Crowd {
    nodes: u64,
    steps: u64,
    queues: u64,
}

impl Crowd {
    fn world(&self) -> World {
        let mut world = behind_many(self.nodes, 1000);
        for queue in 0..self.queues {
            add(&mut world, &format!("queues: {{ t{queue}: {{}} }}"));
            let mut text = String::from("groups:\n");
            for number in 0..200 {
                let cpu = 9 + self.queues * number + queue;
                let _ =
                    writeln!(text, "  t{queue}h{cpu}: {{ queue: t{queue}, gpus: 1, cpu: {cpu} }}");
            }
            add(&mut world, &text);
        }
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        world.config.action_steps_max = Some(self.steps);
        world
    }
}

/// Checks that of groups that come one in each cycle, beside many that are asked in vain, all are placed when so many more
/// cycles are over at the latest.
fn check_placed_beside_many(crowd: &Crowd, group: &str, cycles: u64) {
    let mut world = crowd.world();
    let mut came = Vec::new();
    for cycle in 0..12 {
        replace(&mut world, cycle);
        let name = format!("o{cycle}");
        add(&mut world, &format!("groups: {{ {name}: {{ {group}, gpus: 1, cpu: 1 }} }}"));
        came.push((cycle, pod(&world, &name)));
        let decided = plan_at(&mut world, i64::try_from(cycle).expect("few cycles"));
        let changes = u64::try_from(decided.changes.len()).expect("few changes");
        let most = crowd.steps + 4 * crowd.nodes * (1 + changes);
        assert!(decided.steps.spent && decided.steps.total() <= most, "{:?}", decided.steps);
        let is_placed = |pod: PodId| {
            let is_it = |change: &Change| matches!(change, Change::Place { pod: placed, .. } if *placed == pod);
            decided.changes.iter().any(is_it)
        };
        came.retain(|(_, pod)| !is_placed(*pod));
        assert!(came.iter().all(|(since, _)| cycle - since < cycles), "{came:?} in cycle {cycle}");
    }
}

/// However many groups of one queue are asked in vain, and though all of them are asked again in each cycle: whoever waits in
/// another has its turn.
#[test]
fn one_queue_keeps_no_other_waiting() {
    let crowd = Crowd { nodes: 50, steps: 2000, queues: 0 };
    check_placed_beside_many(&crowd, "queue: other", 1);
}

/// So has a group of another namespace in the same queue, whose priority is lower, and which stands behind one of the first
/// namespace that is like it.
#[test]
fn one_namespace_keeps_no_other_of_its_queue_waiting() {
    let crowd = Crowd { nodes: 50, steps: 2000, queues: 0 };
    check_placed_beside_many(&crowd, "queue: q, namespace: team", 1);
}

/// Though a turn costs more than an action has, or more than the part of a queue, so that cycles are cut off before the queue
/// that holds the most comes.
#[test]
fn dear_turns_keep_no_other_waiting() {
    let crowd = Crowd { nodes: 100, steps: 100, queues: 0 };
    check_placed_beside_many(&crowd, "queue: other", 1);
    let crowd = Crowd { nodes: 100, steps: 500, queues: 4 };
    check_placed_beside_many(&crowd, "queue: q, namespace: team", 1);
}

/// With one turn in each cycle, whoever waits in a queue has one within as many cycles as namespaces wait in queues.
#[test]
fn namespaces_in_queues_take_turns_over_cycles() {
    let crowd = Crowd { nodes: 100, steps: 100, queues: 4 };
    check_placed_beside_many(&crowd, "queue: q, namespace: team", 6);
}

/// Checks that a group evicts others in the first cycle after it came, beside three hundred that find nobody to evict, though one
/// turn may take all steps of an action.
fn check_evicts_beside_many(many: &str, small: &str) {
    for steps in [500, 1] {
        check_evicts_within(steps, many, small);
    }
}

fn check_evicts_within(steps: u64, many: &str, small: &str) {
    let mut world = full(8);
    add(&mut world, "queues: { third: {} }");
    for cpu in 1..300 {
        let group = format!("g{cpu}: {{ {many}, priority: 75, gpus: 3, cpu: {cpu} }}");
        add(&mut world, &format!("groups: {{ {group} }}"));
    }
    world.config.action_steps_max = Some(steps);
    assert!(plan_at(&mut world, 0).steps.spent, "a round goes on");
    add(&mut world, &format!("groups: {{ small: {{ {small}, gpus: 1 }} }}"));
    let decided = plan_at(&mut world, 1);
    assert!(decided.steps.spent, "the round goes on");
    let is_evicted = |change: &Change| matches!(change, Change::Evict { .. });
    assert!(decided.changes.iter().any(is_evicted), "{:?}", decided.changes);
}

/// However many groups of one queue find nobody to evict: whoever comes in another has a turn in the next cycle.
#[test]
fn one_queue_keeps_no_other_from_evicting() {
    check_evicts_beside_many("queue: third", "queue: owner");
}

/// So has whoever comes in another namespace of the same queue.
#[test]
fn one_namespace_keeps_no_other_of_its_queue_from_evicting() {
    check_evicts_beside_many("queue: owner", "queue: owner, namespace: team");
}

/// Sub-groups that each have to be together cost what is measured of their topology: one such group after the other, and others
/// are placed meanwhile.
#[test]
fn domains_that_are_measured_count() {
    const NODES: u64 = 64;
    const SUB_GROUPS: u64 = 30;
    let mut text = String::from("topologies: { dc: [rack, host] }\nqueues: { q: {} }\nnodes:\n");
    for node in 0..NODES {
        let labels = format!("{{ rack: r{}, host: h{node} }}", node / 8);
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, cpu: 8, labels: {labels} }}");
    }
    text += "groups:\n";
    for group in 0..20 {
        let _ = writeln!(text, "  t{group}:\n    queue: q\n    priority: 75\n    subgroups:");
        for number in 0..SUB_GROUPS {
            let cpu = if number == SUB_GROUPS - 1 { 9 + group } else { 1 };
            let _ = writeln!(text, "      s{number:02}: {{ gpus: 1, cpu: {cpu}, required: host }}");
        }
    }
    text += "  small: { queue: q, gpus: 1 }\n";
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world.config.action_steps_max = Some(1);
    let measured = (SUB_GROUPS - 1) * (NODES + NODES + NODES / 8 + 1) / 16;
    for cycle in 0..20 {
        let decided = plan_at(&mut world, cycle);
        assert_eq!(decided.steps.groups, 1, "{:?}", decided.steps);
        let nodes = decided.steps.nodes;
        assert!(nodes >= measured && nodes < 2 * measured, "{nodes} for {measured}");
        assert!(decided.steps.spent && decided.changes.is_empty());
    }
    assert_eq!(decide(&mut world, 20).len(), 1, "the small one");
}

/// Counts the cycles until pods of a group get what they may, while whoever else waits is asked in vain, others like that come
/// all the time, and so does room; says whether somebody was evicted for them.
fn cycles_beside(world: &mut World, name: &str) -> (i64, bool) {
    world.config.action_steps_max = Some(1);
    let waits = pod(world, name);
    let mut left = (0..100).map(|cpu| format!("h{cpu}: {{ cpu: {}, ", 9 + cpu));
    let mut come = |world: &mut World| {
        let group = left.next().expect("no more come");
        add(world, &format!("groups: {{ {group} queue: owner, priority: 75, gpus: 3 }} }}"));
    };
    (0..10).for_each(|_| come(world));
    for cycle in 0..50 {
        come(world);
        news(world, cycle);
        let decided = plan_at(world, cycle);
        assert!(decided.steps.spent, "a round goes on in each cycle");
        let is_evicted = |change: &Change| matches!(change, Change::Evict { .. });
        let evicts = decided.changes.iter().any(is_evicted);
        let is_for = |change: &Change| match change {
            Change::Place { pod, .. } | Change::Nominate { pod, .. } => *pod == waits,
            Change::Evict { .. } => false,
        };
        if decided.changes.iter().any(is_for) {
            return (cycle + 1, evicts);
        }
        assert!(!evicts, "nobody else is evicted for");
    }
    panic!("{name} had no turn")
}

#[test]
fn who_comes_later_keeps_nobody_from_a_turn() {
    let small = "groups: { small: { queue: owner, gpus: 1 } }";
    // Nobody is evicted for whom there is room, though allocate has no turn left for them.
    let mut world = full(4);
    gone(&mut world, &["b0"]);
    add(&mut world, small);
    assert_eq!(cycles_beside(&mut world, "small"), (12, false));
    // Who has to evict others does not wait for allocate to be through with all.
    let mut world = full(4);
    add(&mut world, small);
    assert_eq!(cycles_beside(&mut world, "small"), (12, true));
}

/// A cluster that is full of pods which others have a right to, or half full, and groups of many kinds that wait in some of these
/// queues.
fn crowd(number: u64, queues: &[&str]) -> World {
    let mut seed = Seed::new(number);
    let mut world = full(2 + seed.below(3));
    for pod in 0..seed.below(4) {
        gone(&mut world, &[&format!("b{pod}")]);
    }
    for group in 0..=seed.below(8) {
        let queue = seed.pick(queues);
        let (gpus, pods, cpu) = (1 + seed.below(2), 1 + seed.below(3), seed.below(3));
        let priority = if seed.below(2) == 0 { 50 } else { 75 };
        add(
            &mut world,
            &format!(
                "groups: {{ g{group}: {{ queue: {queue}, gpus: {gpus}, pods: {pods}, cpu: {cpu}, priority: {priority} }} }}"
            ),
        );
    }
    world
}

/// Plans until nothing is left to the next cycle; what was placed.
pub(super) fn rest(world: &mut World, number: u64) -> Vec<(PodId, Place)> {
    let mut placed = Vec::new();
    for cycle in 0..1000 {
        let plan = plan_at(world, cycle);
        let place = |change: &Change| match change {
            Change::Place { pod, node, .. } => Some((*pod, Place::on(*node))),
            Change::Evict { .. } | Change::Nominate { .. } => None,
        };
        placed.extend(plan.changes.iter().filter_map(place));
        if !plan.steps.spent {
            return placed;
        }
    }
    panic!("seed {number} comes to an end")
}

/// Whatever the cluster: short cycles come to an end, and leave all in order; without a bound nothing is left to decide then.
#[test]
fn short_cycles_come_to_rest() {
    for number in 0..300 {
        let mut world = crowd(number, &["owner", "borrower"]);
        world.config.action_steps_max = Some(1 + Seed::new(number).split(1).below(100));
        rest(&mut world, number);
        assert_eq!(world.cluster.check(), Vec::<String>::new(), "seed {number}");
        world.config.action_steps_max = None;
        let more = plan_at(&mut world, 1000);
        assert_eq!(more.changes, [], "seed {number}");
    }
}

/// Short cycles in which nobody is evicted place whom one cycle would of one queue, and on the same nodes. Several queues take
/// turns in them.
#[test]
fn short_cycles_place_as_one_does() {
    for number in 0..300 {
        let queue = if number < 150 { "owner" } else { "borrower" };
        let mut world = crowd(number, &[queue]);
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        let mut short = world.clone();
        short.config.action_steps_max = Some(1);
        assert_eq!(rest(&mut short, number), rest(&mut world, number), "seed {number}");
    }
}
