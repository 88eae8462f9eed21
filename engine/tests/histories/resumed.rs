//! Searches for victims that run out of steps: they go on where they stopped, and end as one that never stopped.

use std::fmt::Write;

use kai_engine::{Actions, Change, Progress, Steps, Why};
use kai_sim::generate::Seed;

use super::*;

/// The part of a cycle's steps that one search may take: one of so many.
const SEARCHES_MIN: u64 = 64;

/// Nodes of `gpus` GPUs, on each of which pods of the borrower run, one a group, as `fill` sizes them for what is free; 0
/// ends it. All GPUs are due to the owner.
pub(super) fn cluster(nodes: u64, gpus: u64, mut fill: impl FnMut(u64) -> u64) -> World {
    let mut text =
        format!("queues: {{ borrower: {{}}, owner: {{ quota: {} }} }}\nnodes:\n", nodes * gpus);
    let mut groups = String::new();
    let mut pods = 0;
    for node in 0..nodes {
        let _ = writeln!(text, "  node{node:02}: {{ gpus: {gpus} }}");
        let mut free = gpus;
        loop {
            let size = fill(free).min(free);
            if size == 0 {
                break;
            }
            let _ = writeln!(
                groups,
                "  b{pods}: {{ queue: borrower, gpus: {size}, on: node{node:02} }}"
            );
            (pods, free) = (pods + 1, free - size);
        }
    }
    if pods > 0 {
        let _ = write!(text, "groups:\n{groups}");
    }
    world(&text)
}

/// Adds a gang of the owner that waits.
pub(super) fn gang(world: &mut World, pods: u64, gpus: u64) {
    add(world, &format!("groups: {{ gang: {{ queue: owner, pods: {pods}, gpus: {gpus} }} }}"));
}

/// Adds a group of one pod, or changes it.
pub(super) fn one(world: &mut World, name: &str, what: &str) {
    add(world, &format!("groups: {{ {name}: {{ {what} }} }}"));
}

/// Adds a node without labels, or changes it.
pub(super) fn idle_node(world: &mut World, name: &str, gpus: u64) {
    add(world, &format!("nodes: {{ {name}: {{ gpus: {gpus} }} }}"));
}

/// Bounds the steps of one search.
pub(super) fn bounded(world: &mut World, steps: u64) {
    world.config.steps_max = steps * SEARCHES_MIN;
}

/// Counts what was looked at; groups have a turn in every cycle, whatever became of them.
fn looked(steps: &Steps) -> u64 {
    steps.total() - steps.groups
}

fn verdict(world: &World) -> Option<&Why> {
    world.cluster.verdict(group(world, "gang"))
}

/// Plans until nothing is left to go on with: all changes, what was looked at, and how many cycles it took.
fn decide_all(world: &mut World) -> (Vec<Change>, u64, u32) {
    let (mut changes, mut sum, mut cycles) = (Vec::new(), 0, 0);
    loop {
        let decided = plan_at(world, cycles.into());
        sum += looked(&decided.steps);
        cycles += 1;
        changes.extend(decided.changes);
        if !decided.steps.spent {
            return (changes, sum, cycles);
        }
        assert_eq!(world.cluster.wake(), Some(world.now), "the next is due at once");
        assert!(cycles < 20_000, "a search comes to its end");
    }
}

/// Whatever the cluster and however few steps a cycle has: the same plan, after the same steps.
#[test]
fn a_search_that_stops_takes_the_steps_of_one_that_does_not() {
    let mut stopped = 0;
    for number in 0..150 {
        let mut seed = Seed::new(number);
        let (nodes, gpus) = (2 + seed.below(5), 2 + seed.below(3));
        let mut world = cluster(nodes, gpus, |free| seed.below(free + 1));
        // Once in a while more than there is, so that nothing is found.
        let pods = 1 + seed.below(nodes + 1);
        gang(&mut world, pods, 1 + seed.below(gpus));
        let mut alone = world.clone();
        let (changes, steps, cycles) = decide_all(&mut alone);
        assert_eq!(cycles, 1, "seed {number}");
        for steps_max in [1, 3, 10] {
            let mut world = world.clone();
            bounded(&mut world, steps_max);
            let (same, sum, cycles) = decide_all(&mut world);
            assert_eq!((same, sum), (changes.clone(), steps), "seed {number}, {steps_max} steps");
            assert_eq!(verdict(&world), verdict(&alone), "seed {number}");
            assert_eq!(world.cluster.check(), Vec::<String>::new());
            stopped += u32::from(cycles > 2);
        }
    }
    assert!(stopped > 100, "only {stopped} searches stopped");
}

/// The group says that its search goes on, and how far it is, and each cycle it is farther.
#[test]
fn a_search_that_stopped_says_how_far_it_is() {
    let mut world = cluster(4, 4, |_| 1);
    gang(&mut world, 4, 4);
    bounded(&mut world, 4);
    let mut sets = 0;
    for cycle in 0..5 {
        let decided = plan_at(&mut world, cycle);
        assert_eq!(decided.changes, []);
        assert_eq!(decided.verdicts.is_empty(), cycle > 0, "it is said once");
        let Some(Why::Undecided { progress, before }) = verdict(&world) else {
            panic!("{:?}", verdict(&world))
        };
        assert!(matches!(before.as_deref(), Some(Why::NoRoom(_))), "{before:?}");
        let Progress::Eviction { groups, candidates, pods_all, sets: tried, .. } = **progress
        else {
            panic!("{progress:?}")
        };
        assert_eq!((candidates, pods_all), (16, 4));
        assert!(groups <= candidates && tried >= sets);
        sets = tried;
        assert_eq!(verdict(&world).and_then(Why::code), Some(1219));
    }
    assert!(sets > 0);
}

/// Groups that come and have no turn yet are no matter of others' searches: they go on.
#[test]
fn others_that_come_and_have_no_turn_disturb_no_search() {
    undisturbed(|world, cycle| {
        one(world, &format!("new{cycle}"), "queue: owner, gpus: 1, state: gated");
    });
}

/// So do they where nodes are numbered anew for a pod without a turn that selects them by a label of its own.
#[test]
fn labels_that_nobody_asked_for_before_disturb_no_search() {
    undisturbed(|world, cycle| {
        let selector = format!("selector: {{ label{cycle}: here }}");
        one(world, &format!("new{cycle}"), &format!("queue: owner, state: gated, {selector}"));
    });
}

/// Has a search stop again and again, and something told each time, which must not have it begin anew.
fn undisturbed(mut disturb: impl FnMut(&mut World, i64)) {
    let mut world = cluster(4, 4, |_| 1);
    gang(&mut world, 4, 4);
    let (changes, steps, _) = decide_all(&mut world.clone());
    bounded(&mut world, 4);
    let mut sum = 0;
    let mut same = Vec::new();
    for cycle in 0.. {
        let Plan { changes, steps, .. } = plan_at(&mut world, cycle);
        same.extend(changes);
        sum += looked(&steps);
        if !steps.spent {
            break;
        }
        disturb(&mut world, cycle);
    }
    assert_eq!((same, sum), (changes, steps));
}

/// A change of what it depends on has a search begin anew, so that nothing that came free is missed.
#[test]
fn a_change_has_a_search_begin_anew() {
    for cycle in 0..6 {
        let mut world = cluster(4, 4, |_| 1);
        gang(&mut world, 4, 4);
        bounded(&mut world, 4);
        for at in 0..cycle {
            assert!(plan_at(&mut world, at).steps.spent);
        }
        // A node that is empty: three more have to be emptied.
        idle_node(&mut world, "node04", 4);
        let mut fresh = cluster(4, 4, |_| 1);
        idle_node(&mut fresh, "node04", 4);
        gang(&mut fresh, 4, 4);
        let (changes, steps, _) = decide_all(&mut fresh);
        // It begins anew with twice as many steps, and has those of the first time besides.
        let (same, sum, _) = decide_all(&mut world);
        assert_eq!(same, changes, "after {cycle} cycles");
        assert!(sum <= steps + 8, "{sum} steps after {cycle} cycles, {steps} alone");
        let evicted = same.iter().filter(|change| matches!(change, Change::Evict { .. })).count();
        assert_eq!(evicted, 12);
    }
}

/// A gang that takes the place of one that is gone, alike to none before, has the steps of a first search.
#[test]
fn others_that_come_instead_begin_as_any() {
    let first = |before: bool| {
        let mut world = cluster(4, 4, |_| 1);
        bounded(&mut world, 4);
        if before {
            gang(&mut world, 4, 4);
            for cycle in 0..3 {
                assert!(plan_at(&mut world, cycle).steps.spent);
                // It begins anew, each time with more steps.
                idle_node(&mut world, "node50", cycle.unsigned_abs());
            }
            gone(&mut world, &["gang-0", "gang-1", "gang-2", "gang-3"]);
            world.tell(Delta::GroupGone(group(&world, "gang")));
            world.tell(Delta::NodeGone(node(&world, "node50")));
        }
        gang(&mut world, 4, 3);
        looked(&plan_at(&mut world, 10).steps)
    };
    assert_eq!(first(true), first(false));
}

/// More searches than are kept at a time: each comes to its end in some cycle, also where those that came last go first.
#[test]
fn more_searches_than_are_kept_come_to_their_ends() {
    // Nobody can be moved: of each node one GPU is free, and whoever runs has three.
    let mut world = cluster(12, 4, |free| if free == 4 { 3 } else { 0 });
    bounded(&mut world, 8);
    // Those of the second batch are the older ones.
    for (batch, age) in [(100..160, "1m"), (0..100, "2m")] {
        let mut text = String::from("groups:\n");
        for id in batch {
            // All of another class: no two ask for as much CPU.
            let ask = format!("gpus: 2, cpu: {}m", 3000 + id);
            let _ = writeln!(text, "  w{id}: {{ queue: borrower, {ask}, age: {age} }}");
        }
        add(&mut world, &text);
        world.plan();
    }
    let (nothing, ..) = decide_all(&mut world);
    assert_eq!(nothing, []);
    for id in 0..160 {
        let why = world.cluster.verdict(group(&world, &format!("w{id}")));
        assert!(matches!(why, Some(Why::NoRoom(_))), "{id}: {why:?}");
    }
}

/// One that found nothing is not asked again while another goes on.
#[test]
fn a_search_that_is_over_is_not_begun_again() {
    // One GPU is free on each node, and no pod can be moved to where another is.
    let world = || cluster(4, 4, |free| if free == 4 { 3 } else { 0 });
    let hopeless = |world: &mut World| one(world, "hopeless", "queue: borrower, gpus: 2");
    let mut alone = world();
    gang(&mut alone, 4, 4);
    let (changes, steps, _) = decide_all(&mut alone);
    let mut alone = world();
    hopeless(&mut alone);
    let (nothing, lost, _) = decide_all(&mut alone);
    assert_eq!((nothing.len(), changes.len()), (0, 8));
    assert!(lost > 4, "{lost} steps");

    let mut both = world();
    gang(&mut both, 4, 4);
    hopeless(&mut both);
    bounded(&mut both, 8);
    let (same, sum, cycles) = decide_all(&mut both);
    assert_eq!(same.len(), changes.len());
    // Begun again in each cycle it would take 8 steps more in each.
    assert!(sum < steps + lost + 8, "{sum} steps in {cycles} cycles, not {steps} and {lost}");
}

/// Adds a pod that leaves a node of its own, and one that waits for its GPU, which is promised anew in every cycle.
fn promise(world: &mut World, age: &str, gpus: &str) {
    add(
        world,
        &format!(
            "nodes: {{ node90: {{ gpus: 1, labels: {{ alone: here }} }} }}\n\
             groups:\n\
             \x20 leaving: {{ queue: borrower, gpus: 1, on: node90, state: releasing }}\n\
             \x20 waiting: {{ queue: owner, gpus: {gpus}, selector: {{ alone: here }}, age: {age} }}",
        ),
    );
}

/// Ages of who waits for what is promised: before the gang and after it.
const AGES: [&str; 2] = ["1h", "0s"];

/// A promise that stands is no change, though each cycle takes it back and makes it again.
#[test]
fn a_promise_that_stands_disturbs_no_search() {
    for age in AGES {
        let mut world = cluster(4, 4, |_| 1);
        gang(&mut world, 3, 4);
        promise(&mut world, age, "1");
        let searched = |steps: &Steps| (steps.victims, steps.scenarios);
        let all = plan_at(&mut world.clone(), 0);
        bounded(&mut world, 4);
        let (mut changes, mut sum) = (Vec::new(), (0, 0));
        for cycle in 0.. {
            let decided = plan_at(&mut world, cycle);
            let (victims, sets) = searched(&decided.steps);
            sum = (sum.0 + victims, sum.1 + sets);
            changes.extend(decided.changes);
            if !decided.steps.spent {
                assert!(cycle > 2, "it stops at times");
                break;
            }
        }
        assert_eq!((changes, sum), (all.changes.clone(), searched(&all.steps)), "{age}");
    }
}

/// Empty nodes, and sizes of pods in any order that fill them to the last GPU.
fn room_for_unlike(number: u64) -> (World, Vec<u64>) {
    let mut seed = Seed::new(number);
    let nodes = 3 + seed.below(2);
    let mut sizes = Vec::new();
    for _ in 0..nodes {
        let mut left = 100;
        while left > 0 {
            let size = (14 + seed.below(25)).min(left);
            left -= size;
            let at = usize::try_from(seed.below(sizes.len() as u64 + 1)).expect("a few");
            sizes.insert(at, size);
        }
    }
    (cluster(nodes, 100, |_| 0), sizes)
}

/// Adds a gang of the owner with pods of such sizes.
fn unlike(world: &mut World, sizes: &[u64]) {
    let members: Vec<String> =
        (0..).zip(sizes).map(|(at, size)| format!("m{at:02}: {{ gpus: {size} }}")).collect();
    one(world, "gang", &format!("queue: owner, members: {{ {} }}", members.join(", ")));
}

/// However many searches of one queue for another way go on, those of another queue go on as well: a gang that takes several
/// cycles is placed, though all of the first were there before it and news have all begin anew.
#[test]
fn searches_of_one_queue_keep_none_of_another_from_going_on() {
    let tries = |number: u64| {
        let (mut world, sizes) = room_for_unlike(number);
        unlike(&mut world, &sizes);
        let (tries, is_placed) = pack(&mut world, sizes.len());
        (is_placed && tries > 0).then_some(tries)
    };
    let later = (0..12).filter_map(|number| Some((tries(number)?, number))).min();
    let (tries, number) = later.expect("one takes several cycles");
    let (mut world, sizes) = room_for_unlike(number);
    let mut text = String::from("groups:\n");
    let nobody = "[{ key: rack, labels: { app: nobody } }]";
    for id in 0..70 {
        // Of each pod but the last, which goes nowhere, another choice may always be tried.
        let small: Vec<String> =
            (2..12).map(|cpu| format!("m{cpu:02}: {{ cpu: {cpu}m }}")).collect();
        let last = format!("m99: {{ cpu: 1m, affinity: {nobody} }}");
        let members = format!("m00: {{ cpu: {}m }}, {}, {last}", 100 + id, small.join(", "));
        let _ = writeln!(text, "  t{id}: {{ queue: borrower, members: {{ {members} }} }}");
    }
    add(&mut world, &text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    assert!(plan_at(&mut world, 0).steps.spent, "they go on");
    unlike(&mut world, &sizes);
    for cycle in 1.. {
        if cycle < 3 {
            let labels = format!("labels: {{ at: \"{cycle}\" }}");
            add(&mut world, &format!("nodes: {{ node50: {{ gpus: 0, {labels} }} }}"));
        }
        let decided = plan_at(&mut world, cycle);
        if !decided.changes.is_empty() {
            assert_eq!(decided.changes.len(), sizes.len(), "a gang starts as a whole");
            break;
        }
        assert!(decided.steps.spent, "the next cycle goes on");
        let enough = 10 + tries / 256;
        assert!(
            cycle.unsigned_abs() < enough,
            "not placed in {cycle} cycles, after {tries} tries alone"
        );
    }
}

/// Gangs of unlike pods that fill nodes to the last GPU: where another way to place them takes more tries than a cycle
/// has, the next one goes on, and in the end they are placed or it gives up; with a promise that stands as without.
#[test]
fn another_way_to_place_a_gang_goes_on() {
    let (mut at_once, mut later, mut given_up) = (0, 0, 0);
    for number in 0..12 {
        let (mut world, sizes) = room_for_unlike(number);
        unlike(&mut world, &sizes);
        let tries = pack(&mut world.clone(), sizes.len());
        match tries {
            (0, true) => at_once += 1,
            (_, true) => later += 1,
            (_, false) => given_up += 1,
        }
        if sizes.contains(&1) {
            continue;
        }
        for age in AGES {
            let mut world = world.clone();
            promise(&mut world, age, "0.5");
            assert_eq!(pack(&mut world, sizes.len()), tries, "seed {number}, {age}");
        }
    }
    assert!(later > 0 && at_once > 0, "{at_once} at once, {later} later, {given_up} not");
}

/// Plans until a gang of so many pods is placed or given up: the tries of all cycles but the last, and whether it was
/// placed.
fn pack(world: &mut World, pods: usize) -> (u64, bool) {
    let mut said = 0;
    for cycle in 0.. {
        let decided = plan_at(world, cycle);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
        let is_placed = |change: &&Change| matches!(change, Change::Place { .. });
        let placed = decided.changes.iter().filter(is_placed).count();
        if !decided.steps.spent {
            let waits = matches!(verdict(world), Some(Why::NoRoom(_)));
            assert!(if placed == 0 { waits } else { placed == pods }, "a gang starts as a whole");
            return (said, placed > 0);
        }
        assert_eq!(placed, 0);
        let Some(Why::Undecided { progress, .. }) = verdict(world) else {
            panic!("{:?}", verdict(world))
        };
        let Progress::Packing { tries, tries_max } = &**progress else { panic!("{progress:?}") };
        // With the first promise it begins anew.
        let goes_on = said < *tries || (cycle == 1 && said == *tries);
        assert!(goes_on && tries < tries_max, "{tries} tries after {said}");
        said = *tries;
    }
    unreachable!("the loop has no end")
}

/// A class that takes the number of one that is gone has the steps of a class of its own.
#[test]
fn a_class_has_no_patience_of_the_one_that_had_its_number() {
    let mut world = cluster(4, 4, |_| 1);
    gang(&mut world, 4, 4);
    bounded(&mut world, 4);
    assert!(plan_at(&mut world, 0).steps.spent);
    gone(&mut world, &["gang-0", "gang-1", "gang-2", "gang-3"]);
    world.tell(Delta::GroupGone(group(&world, "gang")));
    plan_at(&mut world, 1);
    add(&mut world, "groups: { next: { queue: owner, pods: 3, gpus: 4 } }");
    let mut restarted = world.retold(world.facts.deltas());
    let (steps, expect) = (plan_at(&mut world, 2).steps, plan_at(&mut restarted, 2).steps);
    assert!(expect.spent);
    assert_eq!(looked(&steps), looked(&expect));
}

/// Racks of two nodes, in any of which a gang of unlike pods would have room but for the last, which no node takes.
fn gang_for_no_rack(racks: u64, pods: u64) -> World {
    let mut text = String::from("topologies: { dc: [rack] }\nqueues: { owner: {} }\nnodes:\n");
    for node in 0..2 * racks {
        let labels = format!("{{ rack: r{:02} }}", node / 2);
        let _ = writeln!(text, "  node{node:02}: {{ gpus: 0, cpu: 64, labels: {labels} }}");
    }
    let small = (2..=pods).map(|cpu| format!("m{:02}: {{ cpu: {cpu}m }}", pods - cpu));
    let mut members: Vec<String> = small.collect();
    let nobody = "[{ key: rack, labels: { app: nobody } }]";
    members.push(format!("m99: {{ cpu: 1m, affinity: {nobody} }}"));
    let members = members.join(", ");
    let gang = format!("queue: owner, required: rack, members: {{ {members} }}");
    let _ = writeln!(text, "groups: {{ gang: {{ {gang} }} }}");
    let mut world = world(&text);
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    world
}

/// However many domains a gang of unlike pods fails in, the searches for another way share the steps of one turn, and one of them
/// goes on at a time.
#[test]
fn searches_in_many_domains_share_a_turn() {
    const RACKS: u64 = 40;
    const PODS: u64 = 50;
    let mut world = gang_for_no_rack(RACKS, PODS);
    let mut said = 0;
    for cycle in 0..4 {
        let decided = plan_at(&mut world, cycle);
        assert_eq!(decided.changes, []);
        assert!(decided.steps.spent, "one goes on");
        // Each rack is tried as it comes; in the first cycle once more with the hardest first. Other ways than that are 1,024,
        // and then 256 and one for each pod, each of two looks at most.
        let tried = RACKS * (PODS + 1);
        let more = if cycle == 0 { tried + 2 * 1024 } else { 2 * (PODS + 256) };
        let nodes = decided.steps.nodes;
        assert!(nodes <= tried + more + RACKS, "{nodes} nodes in cycle {cycle}");
        let Some(Why::Undecided { progress, .. }) = verdict(&world) else {
            panic!("{:?}", verdict(&world))
        };
        let Progress::Packing { tries, .. } = &**progress else { panic!("{progress:?}") };
        assert!(said < *tries, "{tries} tries after {said}");
        said = *tries;
    }
}
