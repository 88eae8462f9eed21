//! Pods that take long to stop: what they hold is promised to nobody, and nothing is kept free beside it.

use super::*;

/// A world in which a plan evicts `hold`, which is on `small0`, for the gang `wide`, which needs as much there and four free
/// GPUs. What else might give the room is `other`, of a higher priority.
fn evicted() -> World {
    let mut world = world(
        "nodes:\n\
         \x20 idle: { gpus: 4, cpu: 1 }\n\
         \x20 small0..1: { cpu: 4, labels: { pool: cpu } }\n\
         queues: { tenant: {}, owner: { quota: 4 } }\n\
         groups:\n\
         \x20 hold: { queue: tenant, cpu: 4, priority: 25, on: small0 }\n\
         \x20 other: { queue: tenant, cpu: 4, on: small1 }\n\
         \x20 wide: { queue: tenant, priority: 90, min: 2, members: { \
         a: { gpus: 4 }, b: { cpu: 4, selector: { pool: cpu } } } }",
    );
    let first = decide(&mut world, 0);
    assert!(first[0].starts_with("evict hold from small0 for wide"), "{first:?}");
    assert!(first.iter().any(|change| change == "nominate wide-a on idle"), "{first:?}");
    world.tell(Delta::Evicted(pod(&world, "hold")));
    world
}

/// Has the victim be in this state.
fn stands(world: &mut World, state: &str) {
    let hold = format!("{{ queue: tenant, cpu: 4, priority: 25, on: small0, state: {state} }}");
    add(world, &format!("groups: {{ hold: {hold} }}"));
}

/// Adds a group of another queue that fits beside the victim.
fn owner_comes(world: &mut World) {
    add(world, "groups: { owners: { queue: owner, gpus: 4 } }");
}

/// A gang that had a pod of its own user evicted, which takes years to stop, keeps nothing free beside it.
#[test]
fn free_room_is_not_kept_beside_a_pod_that_takes_long_to_leave() {
    let mut world = evicted();
    stands(&mut world, "lingering");
    owner_comes(&mut world);
    assert_eq!(decide(&mut world, 1000), ["place owners on idle"]);
}

/// Room that comes soon is kept, with what is free beside it, before anybody else has a turn.
#[test]
fn free_room_is_kept_beside_a_pod_that_leaves_soon() {
    let mut world = evicted();
    stands(&mut world, "releasing");
    owner_comes(&mut world);
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    gone(&mut world, &["hold"]);
    let last = decide(&mut world, 2000);
    assert!(last.iter().any(|change| change == "place wide-b on small0"), "{last:?}");
}

/// A group that had a pod evicted which takes long to leave has no other evicted meanwhile, whatever happens beside, and has
/// its places before others once the pod leaves or is gone.
#[test]
fn who_waits_for_a_pod_that_takes_long_to_leave_evicts_no_other() {
    for near in ["releasing", "gone"] {
        let mut world = evicted();
        for millis in [1000, 2000, 3000] {
            stands(&mut world, "lingering");
            add(&mut world, &format!("queues: {{ q{millis}: {{}} }}"));
            assert_eq!(decide(&mut world, millis), ["idle"], "{near}");
        }
        let quick = "{ queue: tenant, cpu: 4, priority: 95, selector: { pool: cpu } }";
        if near == "gone" {
            gone(&mut world, &["hold"]);
        } else {
            stands(&mut world, near);
        }
        add(&mut world, &format!("groups: {{ quick: {quick} }}"));
        let comes = decide(&mut world, 4000);
        let kept =
            if near == "gone" { "place wide-b on small0" } else { "nominate wide-b on small0" };
        assert!(comes.iter().any(|change| change == kept), "{near}: {comes:?}");
    }
}

/// A pod that should have left long since is waited for no more: another is evicted.
#[test]
fn a_pod_that_does_not_leave_in_time_is_not_waited_for() {
    let mut world = evicted();
    stands(&mut world, "lingering");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    stands(&mut world, "stuck");
    let second = decide(&mut world, 2000);
    assert!(second[0].starts_with("evict other from small1 for wide"), "{second:?}");
}

/// A group that found its places elsewhere waits for its victim no more: it may have others evicted once it lost them.
#[test]
fn who_runs_elsewhere_waits_for_its_victim_no_more() {
    let mut world = evicted();
    stands(&mut world, "lingering");
    add(&mut world, "nodes: { small2: { cpu: 4, labels: { pool: cpu } } }");
    let second = decide(&mut world, 1000);
    assert!(second.iter().any(|change| change == "place wide-b on small2"), "{second:?}");
    for name in ["wide-a", "wide-b"] {
        world.tell(Delta::Bound(pod(&world, name)));
    }
    add(&mut world, "queues: { some: {} }");
    assert_eq!(decide(&mut world, 2000), ["idle"]);
    let node = node(&world, "small2");
    world.tell(Delta::NodeGone(node));
    gone(&mut world, &["wide-b"]);
    add(
        &mut world,
        "groups: { wide: { queue: tenant, priority: 90, min: 2, members: { \
         a: { gpus: 4, on: idle }, b: { cpu: 4, selector: { pool: cpu } } } } }",
    );
    let third = decide(&mut world, 3000);
    assert!(third[0].starts_with("evict other from small1 for wide"), "{third:?}");
}

/// A group that has the number of one that is gone waits for no pod that was evicted for that one.
#[test]
fn who_has_the_number_of_another_does_not_wait_for_its_victim() {
    let mut world = evicted();
    stands(&mut world, "lingering");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    let wide = group(&world, "wide");
    gone(&mut world, &["wide-a", "wide-b"]);
    world.tell(Delta::GroupGone(wide));
    add(
        &mut world,
        "groups: { wide: { queue: tenant, priority: 90, min: 2, members: { \
         a: { gpus: 4 }, b: { cpu: 4, selector: { pool: cpu } } } } }",
    );
    assert_eq!(group(&world, "wide"), wide);
    let second = decide(&mut world, 2000);
    assert!(second[0].starts_with("evict other from small1 for wide"), "{second:?}");
}

/// A world in which a queue takes its quota of two GPUs from another, whose pod takes long to leave; that pod. There is
/// another that might be taken.
fn reclaimed() -> (World, &'static str) {
    let mut world = world(
        "nodes: { node0..1: { gpus: 2 } }\n\
         queues: { borrower: { quota: 0 }, owner: { quota: 2, over_quota_weight: 0 } }\n\
         groups:\n\
         \x20 borrowed0: { queue: borrower, gpus: 2, on: node0 }\n\
         \x20 borrowed1: { queue: borrower, gpus: 2, on: node1 }\n\
         \x20 first: { queue: owner, gpus: 2 }",
    );
    let plan = decide(&mut world, 0);
    let is_first = plan[0].starts_with("evict borrowed0 ");
    let (lost, on) = if is_first { ("borrowed0", "node0") } else { ("borrowed1", "node1") };
    assert!(plan[0].starts_with(&format!("evict {lost} from {on} for first")), "{plan:?}");
    world.tell(Delta::Evicted(pod(&world, lost)));
    let lingers = format!("{{ queue: borrower, gpus: 2, on: {on}, state: lingering }}");
    add(&mut world, &format!("groups: {{ {lost}: {lingers} }}"));
    (world, lost)
}

/// A queue claims what was taken for it until that came: neither another group nor the same one made again takes as much from
/// others once more.
#[test]
fn a_queue_does_not_take_twice_what_takes_long_to_come() {
    let (mut world, lost) = reclaimed();
    add(&mut world, "groups: { second: { queue: owner, gpus: 2 } }");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    let first = group(&world, "first");
    gone(&mut world, &["first"]);
    world.tell(Delta::GroupGone(first));
    assert_eq!(decide(&mut world, 2000), ["idle"]);
    gone(&mut world, &["second", lost]);
    add(&mut world, "groups: { third: { queue: owner, gpus: 2 } }");
    let last = decide(&mut world, 3000);
    assert!(last[0].starts_with("place third on "), "{last:?}");
}

/// A pod that takes long to leave is held by its queue: nobody is promised free room under a limit until it is gone.
#[test]
fn what_takes_long_to_leave_fills_a_limit() {
    for (state, comes) in [("lingering", "idle"), ("stuck", "place new on node1")] {
        let mut world = world(&format!(
            "nodes: {{ node0: {{ gpus: 2 }}, node1: {{ gpus: 2 }} }}\n\
             queues: {{ dept: {{ quota: 2, limit: 2 }}, q: {{ parent: dept, quota: 2 }} }}\n\
             groups:\n\
             \x20 old: {{ queue: q, gpus: 2, on: node0, state: {state} }}\n\
             \x20 new: {{ queue: q, gpus: 2 }}",
        ));
        assert_eq!(decide(&mut world, 0), [comes], "{state}");
    }
}
