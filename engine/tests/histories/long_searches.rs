//! Searches for victims in cycles that are too short for them: what they count, and that they come to their ends.

use std::fmt::Write;

use kai_engine::{Actions, Change};

use super::{
    rounds::{full, news},
    *,
};

/// To see that no victims make room costs steps for each of them, so that many who are refused so do not make a cycle long.
#[test]
fn counting_victims_in_vain_counts() {
    for nodes in [10, 100] {
        let mut world = full(nodes);
        add(&mut world, "groups: { large: { queue: borrower, priority: 75, gpus: 1, cpu: 9999 } }");
        let decided = plan_at(&mut world, 0);
        assert_eq!(decided.changes, [], "nobody is evicted in vain");
        let victims = 2 * nodes;
        assert!(decided.steps.compared >= 4 * victims, "{:?}", decided.steps);
    }
}

/// A full cluster, and a gang of so many unlike pods that may evict all who run, of which one fits nowhere.
fn unlike(nodes: u64, kinds: u64) -> World {
    let mut world = full(nodes);
    let small = (1..kinds).map(|cpu| format!("p{cpu}: {{ gpus: 1, cpu: {cpu} }}"));
    let small: Vec<String> = small.collect();
    let members = format!("{}, large: {{ gpus: 1, cpu: 9999 }}", small.join(", "));
    let gang = format!("queue: borrower, priority: 75, members: {{ {members} }}");
    add(&mut world, &format!("groups: {{ gang: {{ {gang} }} }}"));
    world
}

/// Each of several unlike pods is compared with the room that each victim leaves, and all of that counts.
#[test]
fn counting_victims_for_unlike_pods_counts_for_each_of_them() {
    const NODES: u64 = 10;
    for kinds in [2, 8] {
        let mut world = unlike(NODES, kinds);
        let decided = plan_at(&mut world, 0);
        assert_eq!(decided.changes, [], "nobody is evicted in vain");
        let victims = 2 * NODES;
        assert!(decided.steps.compared >= 2 * kinds * victims, "{:?}", decided.steps);
    }
}

/// However many unlike pods a gang has, and however many victims there are: to count what these leave takes no more steps than
/// an action has.
#[test]
fn counting_victims_takes_no_more_than_an_action() {
    const PART: u64 = 2_000;
    for (nodes, kinds) in [(100, 500), (700, 64)] {
        let mut world = unlike(nodes, kinds);
        world.config.actions = Actions { preempt: true, ..Actions::NONE };
        world.config.action_steps_max = Some(PART);
        let decided = plan_at(&mut world, 0);
        assert_eq!(decided.changes, [], "nobody is evicted in vain");
        let steps = decided.steps;
        assert!(steps.compared > 0 && steps.total() <= PART + 500, "{steps:?} for {kinds} kinds");
    }
}

/// A full cluster, and a pod of the owner that wants a host port which is taken on each node by a pod that nobody may evict.
fn closed(nodes: u64) -> World {
    let mut world = full(nodes);
    let mut text = String::from("groups:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  o{node}: {{ queue: owner, ports: [80], on: node{node} }}");
    }
    text += "  waits: { queue: owner, gpus: 1, ports: [80] }\n";
    add(&mut world, &text);
    world
}

/// Ever larger sets of victims are tried for a pod that none of them helps, and each counts by its size.
#[test]
fn sets_that_are_tried_in_vain_count_by_their_size() {
    const NODES: u64 = 50;
    const VICTIMS: u64 = 2 * NODES;
    let decided = plan_at(&mut closed(NODES), 0);
    assert_eq!(decided.changes, [], "nobody is evicted in vain");
    assert!(decided.steps.scenarios > VICTIMS, "{:?}", decided.steps);
    assert!(decided.steps.victims > 2 * VICTIMS + VICTIMS * VICTIMS / 16, "{:?}", decided.steps);
}

/// A full cluster, on each node of which a pod that nobody may evict keeps away those of the owner that wait.
fn barred(nodes: u64, waiting: u64) -> World {
    let mut world = full(nodes);
    let mut text = String::from("nodes:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, labels: {{ host: h{node} }} }}");
    }
    text += "groups:\n";
    let away = "anti_affinity: [{ key: host, labels: { app: x } }]";
    for node in 0..nodes {
        let _ = writeln!(text, "  o{node}: {{ queue: owner, {away}, on: node{node} }}");
    }
    for group in 0..waiting {
        let _ = writeln!(text, "  w{group}: {{ queue: owner, gpus: 1, labels: {{ app: x }} }}");
    }
    add(&mut world, &text);
    world
}

/// The part of a cycle's steps that one search may take: one of so many.
const SEARCHES_MIN: u64 = 64;

/// Steps of a set, and of what a search took up, by which it passes its bound, and who else has a turn.
const BESIDE: u64 = 2_000;

/// However long searches are, and however many unlike groups have one: none takes more than an action may in any cycle, though
/// something changes in each of them. Once nothing does they come to their ends.
#[test]
fn long_searches_take_their_part_of_each_cycle() {
    const PART: u64 = 2_000;
    for classes in [1, 8] {
        let mut world = barred(120, 0);
        for class in 0..classes {
            let group = "queue: owner, gpus: 1, labels: { app: x }";
            let group = format!("w{class}: {{ {group}, tolerations: [t{class}] }}");
            add(&mut world, &format!("groups: {{ {group} }}"));
        }
        let alone = plan_at(&mut world.clone(), 0).steps.total();
        assert!(alone > 2 * classes * (PART + BESIDE), "{alone} steps");
        world.config.action_steps_max = Some(PART);
        for cycle in 0..300 {
            news(&mut world, cycle);
            let steps = plan_at(&mut world, cycle).steps;
            assert!(steps.spent && steps.total() <= PART + BESIDE, "{steps:?} in cycle {cycle}");
        }
        let enough = i64::try_from(4 * alone / PART).expect("few cycles");
        let mut cycles = 300..300 + 100 + enough;
        let is_over = cycles.any(|cycle| !plan_at(&mut world, cycle).steps.spent);
        assert!(is_over, "they come to no end");
    }
}

/// Of groups that are alike but for who keeps them away each has a turn where the one before had it in vain. One of them searches in
/// a cycle all the same.
#[test]
fn long_searches_of_groups_alike_take_the_part_of_one() {
    const PART: u64 = 100;
    let mut world = barred(100, 60);
    world.config.actions = Actions { reclaim: true, ..Actions::NONE };
    world.config.action_steps_max = Some(100 * PART);
    world.config.steps_max = SEARCHES_MIN * PART;
    for cycle in 0..30 {
        news(&mut world, cycle);
        let steps = plan_at(&mut world, cycle).steps;
        assert!(steps.spent && steps.total() <= PART + BESIDE, "{steps:?} in cycle {cycle}");
    }
}

/// Searches whose groups have no turns any more, as others of their class come before them, hold no places for ever: the others
/// would wait for them.
#[test]
fn searches_without_turns_give_their_places_up() {
    const PART: u64 = 20;
    let mut world = closed(30);
    world.config.actions = Actions { reclaim: true, ..Actions::NONE };
    let alone = plan_at(&mut world.clone(), 0).steps.total();
    assert!(alone > 4 * PART, "{alone} steps");
    world.config.action_steps_max = Some(2_000);
    world.config.steps_max = SEARCHES_MIN * PART;
    for number in 0..70 {
        assert!(plan_at(&mut world, number).steps.spent);
        let group = format!("queue: owner, priority: {}, preemptible: true", 51 + number);
        add(&mut world, &format!("groups: {{ w{number}: {{ {group}, gpus: 1, ports: [80] }} }}"));
    }
    let is_over = (70..2_000).any(|cycle| !plan_at(&mut world, cycle).steps.spent);
    assert!(is_over, "the last one is never asked");
}

/// A search to which others left few steps is not taken for a long one: where all places are taken it begins anew in the next cycle,
/// and waits for none of those that have them to end.
#[test]
fn a_search_that_was_left_few_steps_waits_for_no_place() {
    const NODES: u64 = 120;
    const LONG: i64 = 66;
    let mut world = barred(NODES, 0);
    for node in 1..NODES {
        let group = format!("p{node}: {{ queue: owner, ports: [80], on: node{node} }}");
        add(&mut world, &format!("groups: {{ {group} }}"));
    }
    world.config.actions = Actions { reclaim: true, ..Actions::NONE };
    // It has room on the node alone of which the victims come last.
    let short = "groups: { short: { queue: owner, priority: 75, gpus: 1, ports: [80] } }";
    let mut beside = world.clone();
    add(&mut beside, short);
    let alone = plan_at(&mut beside, 0);
    let evicts =
        |plan: &Plan| plan.changes.iter().any(|change| matches!(change, Change::Evict { .. }));
    assert!(evicts(&alone), "{:?}", alone.steps);
    // What one search leaves of an action is half of what it needs, and a third of what it may take at most.
    let alone = alone.steps.total();
    let action = (2 * alone).max(2_000);
    world.config.action_steps_max = Some(action);
    world.config.steps_max = SEARCHES_MIN * (action - alone / 2);
    for class in 0..LONG {
        let group = "queue: owner, gpus: 1, labels: { app: x }";
        let group = format!("w{class}: {{ {group}, tolerations: [t{class}] }}");
        add(&mut world, &format!("groups: {{ {group} }}"));
    }
    for cycle in 0..LONG - 2 {
        assert!(plan_at(&mut world, cycle).steps.spent, "each has a turn in a cycle of its own");
    }
    add(&mut world, short);
    let is_found = (LONG - 2..LONG + 3).any(|cycle| evicts(&plan_at(&mut world, cycle)));
    assert!(is_found, "it waits for others");
}

/// A search that is cut off and finds nothing passes over turns before it begins anew, as long as news come.
#[test]
fn a_search_that_proves_nothing_rests() {
    const PART: u64 = 200;
    let mut world = barred(30, 1);
    let alone = plan_at(&mut world.clone(), 0).steps.total();
    assert!(alone > 2 * PART, "{alone} steps");
    world.config.action_steps_max = Some(2_000);
    world.config.steps_max = SEARCHES_MIN * PART;
    let mut rested = 0;
    for cycle in 0..150 {
        news(&mut world, cycle);
        let steps = plan_at(&mut world, cycle).steps;
        assert!(steps.spent, "it is asked again");
        rested += u32::from(steps.scenarios == 0);
    }
    assert!((5..120).contains(&rested), "{rested} cycles without a set");
}

/// A search that needs many cycles finds whom to evict, though something changes in each of them.
#[test]
fn a_long_search_finds_its_victims_over_news() {
    const PART: u64 = 20;
    let mut world = barred(60, 1);
    // The victims that come last make room.
    gone(&mut world, &["o0"]);
    let alone = plan_at(&mut world.clone(), 0);
    let evicts =
        |plan: &Plan| plan.changes.iter().any(|change| matches!(change, Change::Evict { .. }));
    assert!(evicts(&alone) && alone.steps.total() > 10 * PART, "{:?}", alone.steps);
    world.config.action_steps_max = Some(2_000);
    world.config.steps_max = SEARCHES_MIN * PART;
    let enough = i64::try_from(alone.steps.total()).expect("few cycles");
    let found = (0..enough).find(|cycle| {
        news(&mut world, *cycle);
        let decided = plan_at(&mut world, *cycle);
        assert!(decided.steps.total() <= PART + 200, "{:?} in cycle {cycle}", decided.steps);
        evicts(&decided)
    });
    assert!(found.is_some_and(|cycle| cycle > 3), "{found:?} of {enough} cycles");
    assert_eq!(world.cluster.check(), Vec::<String>::new());
}

/// Groups that may not be victims are looked at by each search anew, and that counts as well.
#[test]
fn victims_that_are_passed_over_count() {
    const GROUPS: u64 = 40;
    let queues = format!("queues: {{ borrower: {{}}, owner: {{ quota: {GROUPS} }} }}");
    let mut text =
        format!("{queues}\nnodes: {{ node0..{}: {{ gpus: 1 }} }}\ngroups:\n", GROUPS - 1);
    for group in 0..GROUPS {
        let done = "done: { gpus: 1, state: succeeded }";
        let members = format!("{{ {done}, last: {{ gpus: 1, on: node{group} }} }}");
        let _ = writeln!(text, "  b{group}: {{ queue: borrower, min: 2, members: {members} }}");
    }
    text += "  waits: { queue: owner, gpus: 1 }\n";
    let mut world = world(&text);
    let decided = plan_at(&mut world, 0);
    assert_eq!(decided.changes, [], "a gang of which a pod ended well is left to end");
    assert!(decided.steps.compared >= 4 * GROUPS, "{:?}", decided.steps);
    assert_eq!(world.cluster.check(), Vec::<String>::new());
}

/// A victim may have hundreds of host ports, each of which is counted as it is evicted in thought.
#[test]
fn ports_of_victims_count() {
    const PORTS: u64 = 256;
    let compared = |ports: &[String]| {
        let ports = ports.join(", ");
        let text = format!(
            "queues: {{ borrower: {{}}, owner: {{ quota: 2 }} }}\n\
             nodes: {{ node0: {{ gpus: 2 }} }}\n\
             groups:\n  \
             b: {{ queue: borrower, gpus: 2, ports: [{ports}], on: node0 }}\n  \
             waits: {{ queue: owner, gpus: 2 }}\n"
        );
        let mut world = world(&text);
        let decided = plan_at(&mut world, 0);
        assert!(!decided.changes.is_empty(), "somebody is evicted");
        decided.steps.compared
    };
    let all: Vec<String> = (1000..1000 + PORTS).map(|port| port.to_string()).collect();
    let (without, with) = (compared(&[]), compared(&all));
    assert!(with >= without + 16 * PORTS, "{with} comparisons, and {without} without ports");
}
