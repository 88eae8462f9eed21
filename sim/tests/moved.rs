//! A group that was moved comes back before others, for as long as it is expected.

use kai_engine::{Change, Delta, GroupId, PodId, PodState, Timestamp};
use kai_sim::{
    build::build,
    scenario::parse,
    world::{Evicted, World},
};

const MOVED: &str = "
title: one moves so that a large one fits, and another would have its place
why: the other has a higher priority
nodes: { node0..1: { gpus: 2 } }
queues: { research: { quota: 4 } }
groups:
  a: { queue: research, gpus: 1, on: node0 }
  b: { queue: research, gpus: 1, on: node1 }
  large: { queue: research, gpus: 2 }
  other: { queue: research, gpus: 1, priority: 60 }
";

/// The group of this place in the text, and its pod.
fn of(world: &World, group: u32) -> (GroupId, PodId) {
    let group = GroupId::new(group);
    let owner = kai_engine::Owner::Group(group);
    let mut pods = world.facts.pods.iter().filter(|(_, pod)| pod.owner == owner);
    (group, *pods.next().expect("it has a pod").0)
}

/// Has a pod of the moved group come back after so long, with what its group says of the last eviction, in the same moment as
/// the other group's: tells whether it is placed.
fn is_placed(after_ms: i64, says: Option<Timestamp>) -> bool {
    let mut world = build(&parse(MOVED).expect("it is a scenario")).expect("it makes sense");
    let ((group, moved), (_, other)) = (of(&world, 1), of(&world, 3));
    let of_other = world.facts.pods[&other].clone();
    world.tell(Delta::PodGone(other));
    let mut of_moved = world.facts.pods[&moved].clone();
    of_moved.state = PodState::Pending;
    for _ in 0..2 {
        let plan = world.plan();
        world.carry_out(&plan, Evicted::Gone);
    }
    assert!(!world.facts.pods.contains_key(&moved), "it was moved");
    world.now.0 += after_ms;
    let mut facts = world.facts.groups[&group].clone();
    facts.last_eviction = says.or(facts.last_eviction);
    world.tell(Delta::Group(group, Box::new(facts)));
    world.tell(Delta::Pod(moved, Box::new(of_moved)));
    world.tell(Delta::Pod(other, Box::new(of_other)));
    let plan = world.plan();
    let placed = |pod| {
        plan.changes.iter().any(|one| matches!(one, Change::Place { pod: of, .. } if *of == pod))
    };
    assert!(placed(moved) != placed(other), "there is room for one: {plan:?}");
    placed(moved)
}

#[test]
fn what_was_moved_comes_back_first_for_a_minute() {
    assert!(is_placed(30_000, None));
    assert!(!is_placed(120_000, None));
}

/// Users may write the annotation of the last eviction.
#[test]
fn what_its_group_says_of_evictions_makes_it_no_longer() {
    for says in [Timestamp(i64::MAX), Timestamp(253_370_764_800_000)] {
        assert!(!is_placed(120_000, Some(says)), "{says:?}");
    }
    assert!(is_placed(30_000, Some(Timestamp(0))));
}
