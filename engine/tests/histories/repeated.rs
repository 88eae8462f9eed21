//! Plans that come to what an earlier plan said already, and plans that time alone allows.

use kai_engine::{QueueLane, Why};

use super::{leaving::preempted_unheard, *};

/// A world of which `low` fills the first node, after the plan that evicts it for `high`.
fn preempted(nodes: &str) -> World {
    let mut world = world(&format!(
        "nodes: {nodes}\n\
         queues: {{ q: {{ quota: unlimited }} }}\n\
         groups:\n\
         \x20 low: {{ queue: q, gpus: 2, on: node0 }}\n\
         \x20 high: {{ queue: q, gpus: 2, priority: 75 }}",
    ));
    assert_eq!(decide(&mut world, 0), PREEMPTION);
    world
}

pub(super) const PREEMPTION: [&str; 2] =
    ["evict low from node0 for high preempt: it has a higher priority", "nominate high on node0"];

/// S7 of the invariants: a plan that evicts promises the room, even where the plan before promised the same.
#[test]
fn an_eviction_comes_with_the_promise_it_is_for() {
    let mut world = preempted("{ node0: { gpus: 2 } }");

    // The API server refused, so that the pod still runs.
    let low = pod(&world, "low");
    world.tell(Delta::EvictFailed(low));
    assert_eq!(decide(&mut world, 1000), PREEMPTION);

    // While it leaves, the promise stands and is no news.
    world.tell(Delta::Evicted(low));
    add(&mut world, "groups: { later: { queue: q, pods: 0, min: 1, priority: 25 } }");
    assert_eq!(decide(&mut world, 2000), ["idle"]);
}

/// S5 of the invariants: who needs an eviction for the limit of a queue is not bound beside pods that may yet stay, or have
/// not left yet, though a node is free.
#[test]
fn an_eviction_makes_no_room_under_a_limit_before_the_pod_is_gone() {
    let limited = || {
        let mut world = world(
            "nodes: { node0: { gpus: 2 }, node1: { gpus: 2 } }\n\
             queues: { q: { quota: 2, limit: 2 } }\n\
             groups:\n\
             \x20 low: { queue: q, gpus: 2, on: node0 }\n\
             \x20 high: { queue: q, gpus: 2, priority: 75 }",
        );
        let first = decide(&mut world, 0);
        assert_eq!(first[0], "evict low from node0 for high preempt: it has a higher priority");
        assert_eq!(first[1], "nominate high on node1");
        // News of another queue have everything looked at again.
        add(&mut world, "queues: { other: { quota: 1 } }");
        assert_eq!(decide(&mut world, 1000), ["idle"]);
        world
    };
    let mut confirmed = limited();
    let low = pod(&confirmed, "low");
    confirmed.tell(Delta::Evicted(low));
    assert_eq!(decide(&mut confirmed, 2000), ["idle"]);
    gone(&mut confirmed, &["low"]);
    assert_eq!(decide(&mut confirmed, 3000), ["place high on node1"]);
    let mut refused = limited();
    refused.tell(Delta::EvictFailed(low));
    let again = decide(&mut refused, 2000);
    assert!(!again.iter().any(|change| change.starts_with("place")), "{again:?}");
}

/// A bind that failed gives its place back, and the next plan decides anew.
#[test]
fn a_bind_that_failed_is_decided_anew() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: 2 } }\n\
         groups: { one: { queue: q, gpus: 2 } }",
    );
    let one = pod(&world, "one");
    assert_eq!(decide(&mut world, 0), ["place one on node0"]);
    world.tell(Delta::BindFailed(one));
    assert_eq!(decide(&mut world, 1000), ["place one on node0"]);
    world.tell(Delta::Bound(one));
    assert_eq!(decide(&mut world, 2000), ["idle"]);
}

/// A5 of the architecture: that a pod came to run before it was evicted is told later, and takes nothing back.
#[test]
fn news_from_before_an_eviction_do_not_undo_it() {
    let mut world = preempted_unheard();
    add(&mut world, "groups: { low: { queue: q, gpus: 2, on: node0 } }");
    assert_eq!(decide(&mut world, 2000), ["idle"]);
}

/// A5 of the architecture: that a pod still waited before it was bound is told later, and takes nothing back.
#[test]
fn news_from_before_a_bind_do_not_undo_it() {
    let mut world = world(
        "nodes: { node0: { gpus: 4 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { one: { queue: q, gpus: 2 } }",
    );
    assert_eq!(decide(&mut world, 0), ["place one on node0"]);
    let one = pod(&world, "one");
    // It is the same pod in the same state, of which something else is another.
    let tell_again = |world: &mut World| {
        let mut facts = world.cluster.pod_told(one).expect("it was told");
        facts.created.0 += 1;
        world.tell(Delta::Pod(one, Box::new(facts)));
    };
    tell_again(&mut world);
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    world.tell(Delta::Bound(one));
    tell_again(&mut world);
    assert_eq!(decide(&mut world, 2000), ["idle"]);
    add(&mut world, "groups: { two: { queue: q, gpus: 4, preemptible: false, priority: 1 } }");
    assert_eq!(decide(&mut world, 3000), ["idle"], "what is bound holds its room");
}

/// Room of a bind that failed is for whoever waits, where its own group cannot start again.
#[test]
fn room_of_a_bind_that_failed_is_for_others() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 gang: { queue: q, pods: 2, min: 2, gpus: 1, preemptible: false }\n\
         \x20 one: { queue: q, gpus: 2, preemptible: false }",
    );
    assert_eq!(decide(&mut world, 0), ["place gang-0..1 on node0"]);
    gone(&mut world, &["gang-0"]);
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    let other = pod(&world, "gang-1");
    world.tell(Delta::BindFailed(other));
    assert_eq!(decide(&mut world, 2000), ["place one on node0"]);
}

/// A reason with other numbers is no news, and its groups can be given the new numbers a few at a time.
#[test]
fn numbers_of_a_reason_that_stays_are_told_when_asked_for() {
    let mut world = world(
        "nodes: { node0: { gpus: 8 } }\n\
         queues: { q: { quota: 4 } }\n\
         groups:\n\
         \x20 runs: { queue: q, gpus: 1, preemptible: false, on: node0 }\n\
         \x20 one: { queue: q, gpus: 6, preemptible: false }\n\
         \x20 two: { queue: q, gpus: 6, preemptible: false }",
    );
    let both = ["one", "two"].map(|name| group(&world, name));
    let held = |world: &World| {
        both.map(|group| match world.cluster.verdict(group) {
            Some(Why::OverQuota(bound)) => bound.queue.allocated_non_preemptible[bound.lane],
            why => panic!("{why:?}"),
        })
    };
    plan_at(&mut world, 0);
    assert_eq!((held(&world), world.cluster.renumber(9)), ([1000, 1000], vec![]));
    gone(&mut world, &["runs"]);
    assert_eq!(plan_at(&mut world, 1000).verdicts, []);
    assert_eq!((world.cluster.renumber(1), held(&world)), (vec![both[0]], [0, 1000]));
    assert_eq!((world.cluster.renumber(9), held(&world)), (vec![both[1]], [0, 0]));
    assert_eq!(world.cluster.renumber(9), []);
}

/// A victim that is safe for some time is evicted when that time ends, with nothing told in between.
#[test]
fn the_end_of_a_minimum_runtime_is_a_time_to_decide() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: unlimited, preempt_min_runtime: 5s } }\n\
         groups:\n\
         \x20 low: { queue: q, gpus: 2, on: node0, started: 0s }\n\
         \x20 high: { queue: q, gpus: 2, priority: 75 }",
    );
    let end = Some(Timestamp(START.0 + 5000));
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    assert_eq!(world.cluster.wake(), end);
    assert_eq!(decide(&mut world, 4999), ["idle"]);
    assert_eq!(world.cluster.wake(), end);
    assert_eq!(decide(&mut world, 5000), PREEMPTION);
}

/// Of several victims that are safe for some time, the end of the first is a time to decide.
#[test]
fn the_first_end_of_several_minimum_runtimes_is_a_time_to_decide() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { borrower: { reclaim_min_runtime: 10m }, owner: { quota: 1 } }\n\
         groups:\n\
         \x20 old: { queue: borrower, gpus: 1, on: node0, started: 8m }\n\
         \x20 new: { queue: borrower, gpus: 1, on: node0, started: 2m }\n\
         \x20 owners: { queue: owner, gpus: 1 }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
    assert_eq!(world.cluster.wake(), Some(Timestamp(START.0 + 120_000)));
    let reclaim =
        ["evict old from node0 for owners reclaim from borrower", "nominate owners on node0"];
    assert_eq!(decide(&mut world, 120_000), reclaim);
}

/// A topology that is told again as it was has nobody looked at again.
#[test]
fn a_topology_told_again_changes_nothing() {
    let topology = "topologies: { t: [] }\n";
    let mut world = world(&format!(
        "{topology}\
         nodes: {{ node0: {{ gpus: 2 }} }}\n\
         queues: {{ q: {{ quota: unlimited }} }}\n\
         groups: {{ a: {{ queue: q, gpus: 3 }} }}",
    ));
    let id = world.names.topology("t");
    assert!(world.plan().steps.groups > 0);
    add(&mut world, topology);
    assert_eq!(world.plan().steps.groups, 0);
    world.tell(Delta::TopologyGone(id));
    assert!(world.plan().steps.groups > 0);
    world.tell(Delta::TopologyGone(id));
    assert_eq!(world.plan().steps.groups, 0);
}

/// L3 of the invariants: a victim that is made again does not take the room that its eviction made, though its queue
/// goes first.
#[test]
fn room_that_was_made_by_evicting_is_for_whom_it_was_made() {
    // The first group that waits in the poor queue can go nowhere; what it asks for puts the queue behind the other.
    let mut world = world(
        "nodes: { node0: { gpus: 4 } }\n\
         queues:\n\
         \x20 rich: { quota: 2, priority: 200 }\n\
         \x20 poor: { quota: 2, priority: 100 }\n\
         groups:\n\
         \x20 r0..2: { queue: rich, gpus: 1, on: node0 }\n\
         \x20 p: { queue: poor, gpus: 1, on: node0 }\n\
         \x20 large: { queue: poor, gpus: 8, priority: 75 }\n\
         \x20 small: { queue: poor, gpus: 1 }",
    );
    let first = ["evict r2 from node0 for small reclaim from rich", "nominate small on node0"];
    assert_eq!(decide(&mut world, 0), first);

    gone(&mut world, &["r2"]);
    add(&mut world, "groups: { r2: { queue: rich, gpus: 1 } }");
    assert_eq!(decide(&mut world, 1000), ["place small on node0"]);
    world.tell(Delta::Bound(pod(&world, "small")));
    assert_eq!(decide(&mut world, 2000), ["idle"]);
}

/// A queue whose pod stays after all is due as much as before it was evicted.
#[test]
fn an_eviction_that_failed_gives_the_share_back() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: {} }\n\
         groups: { a: { queue: q, gpus: 2, on: node0 } }",
    );
    let (q, a) = (queue(&world, "q"), pod(&world, "a"));
    let share = |world: &World| world.cluster.queue_state(q).fair_share[QueueLane::Gpu];
    decide(&mut world, 0);
    let before = share(&world);
    add(&mut world, "queues: { other: { quota: 2 } }\ngroups: { b: { queue: other, gpus: 1 } }");
    let reclaim = ["evict a from node0 for b reclaim from q", "nominate b on node0"];
    assert_eq!(decide(&mut world, 1000), reclaim);
    world.tell(Delta::QueueGone(queue(&world, "other")));
    gone(&mut world, &["b"]);
    decide(&mut world, 2000);
    assert_eq!((before, share(&world)), (2000, 0));
    world.tell(Delta::EvictFailed(a));
    decide(&mut world, 3000);
    assert_eq!(share(&world), before);
}

/// A group that takes the number of one that is gone has nothing of what that was promised.
#[test]
fn a_number_that_is_used_again_has_no_claims() {
    let mut world = preempted("{ node0: { gpus: 2 } }");

    gone(&mut world, &["low", "high"]);
    for name in ["low", "high"] {
        world.tell(Delta::GroupGone(group(&world, name)));
    }
    add(
        &mut world,
        "groups:\n\
         \x20 high: { queue: q, gpus: 2, priority: 50 }\n\
         \x20 higher: { queue: q, gpus: 2, priority: 75 }",
    );
    assert_eq!(decide(&mut world, 1000), ["place higher on node0"]);
}

/// A promise of part of a GPU that is still to be opened is no news the second time.
#[test]
fn a_promised_part_of_a_gpu_is_told_once() {
    let mut world = world(
        "nodes: { node0: { gpus: 1 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 leaving: { queue: q, gpus: 1, on: node0, state: releasing }\n\
         \x20 half: { queue: q, gpus: 0.5 }",
    );
    assert_eq!(decide(&mut world, 0), ["nominate half on node0/0"]);
    add(&mut world, "groups: { later: { queue: q, pods: 0, min: 1 } }");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
}

/// A promise to a pod that is gone is nothing to the one that gets its number.
#[test]
fn a_promise_ends_with_its_pod() {
    let mut world = preempted("{ node0: { gpus: 2 }, node1: { gpus: 1 } }");
    gone(&mut world, &["low", "high"]);
    add(&mut world, "groups: { high: { queue: q, gpus: 1, priority: 75 } }");
    // The smaller node is the one to fill up.
    assert_eq!(decide(&mut world, 1000), ["place high on node1"]);
}

/// A promise to a pod that was moved outlasts that another pod of its group finds no room.
#[test]
fn a_moved_pod_keeps_its_promise_beside_one_without_room() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 }, node1: { gpus: 1 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 moved: { queue: q, gpus: 1, on: node0 }\n\
         \x20 leaving: { queue: q, gpus: 1, on: node1, state: releasing }\n\
         \x20 large: { queue: q, gpus: 2, priority: 75 }",
    );
    assert_eq!(decide(&mut world, 0)[0], "evict moved from node0 for large consolidation");

    gone(&mut world, &["moved"]);
    let two = "{ queue: q, min: 1, members: { x: { gpus: 1 }, y: { gpus: 1 } } }";
    add(&mut world, &format!("groups: {{ moved: {two} }}"));
    let second = ["place large on node0", "nominate moved-x on node1"];
    assert_eq!(decide(&mut world, 1000), second);

    gone(&mut world, &["leaving"]);
    add(&mut world, "groups: { highest: { queue: q, gpus: 1, priority: 90 } }");
    assert_eq!(decide(&mut world, 2000), ["place moved-x on node1"]);
}

/// A plan that evicts a pod says of the others of its group where they will be, also where an earlier one said so.
#[test]
fn an_eviction_comes_with_the_promises_to_those_who_lose_by_it() {
    let mut world = world(
        "nodes: { node0: { gpus: 1 }, node1: { gpus: 1, labels: { kind: fast } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 leaving: { queue: q, gpus: 1, on: node0, state: releasing }\n\
         \x20 wide: { queue: q, min: 1, members: { x: { gpus: 1, on: node1 }, y: { gpus: 1 } } }",
    );
    assert_eq!(decide(&mut world, 0), ["nominate wide-y on node0"]);
    let high = "{ queue: q, gpus: 1, priority: 75, selector: { kind: fast } }";
    add(&mut world, &format!("groups: {{ high: {high} }}"));
    let second = [
        "evict wide-x from node1 for high preempt: it has a higher priority",
        "nominate high on node1",
        "nominate wide-y on node0",
    ];
    assert_eq!(decide(&mut world, 1000), second);
}

/// Of a group that is being bound nobody takes what it needs: a pod of it that is bound already is none by itself.
#[test]
fn a_group_that_is_being_bound_keeps_its_minimum() {
    for (pods, placed) in [(2, "place low-0..1 on node0"), (3, "place low-0..2 on node0")] {
        let mut world = world(&format!(
            "nodes: {{ node0: {{ gpus: {pods} }} }}\n\
             queues: {{ q: {{ quota: unlimited }} }}\n\
             groups: {{ low: {{ queue: q, gpus: 1, pods: {pods}, min: 2 }} }}",
        ));
        assert_eq!(decide(&mut world, 0), [placed]);
        let bound = |world: &mut World, at: u32| {
            world.tell(Delta::Bound(pod(world, &format!("low-{at}"))));
        };
        (0..pods - 1).for_each(|at| bound(&mut world, at));
        let gpus = pods - 1;
        let high = format!("groups: {{ high: {{ queue: q, gpus: {gpus}, priority: 75 }} }}");
        add(&mut world, &high);
        assert_eq!(decide(&mut world, 1000), ["idle"], "{pods} pods");
        bound(&mut world, pods - 1);
        let plan = decide(&mut world, 2000);
        assert!(plan[0].starts_with("evict"), "{pods} pods: {plan:?}");
    }
}

/// The grace of a gang that lost a pod is over once it is whole: it begins anew when it loses another.
#[test]
fn a_gang_that_was_whole_meanwhile_has_its_grace_anew() {
    let gang = "groups: { gang: { queue: q, gpus: 1, pods: 2, grace: 60s, on: node0 } }";
    let mut world = world(&format!(
        "nodes: {{ node0: {{ gpus: 2 }} }}\n\
         queues: {{ q: {{ quota: 2 }} }}\n\
         {gang}",
    ));
    for lost in [0, 50_000] {
        add(&mut world, gang);
        assert_eq!(decide(&mut world, lost), ["idle"]);
        gone(&mut world, &["gang-0"]);
        for later in [1000, 30_000] {
            assert_eq!(decide(&mut world, lost + later), ["idle"], "{later} ms after {lost}");
        }
    }
    assert_eq!(decide(&mut world, 110_999), ["idle"]);
    assert!(decide(&mut world, 111_000)[0].starts_with("evict gang-1 from node0"));
}

/// S5 of the invariants holds for the limits of all queues above.
#[test]
fn an_eviction_makes_no_room_under_a_limit_above_before_the_pod_is_gone() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 }, node1: { gpus: 2 } }\n\
         queues: { dept: { limit: 2 }, q: { parent: dept, quota: 2 } }\n\
         groups:\n\
         \x20 low: { queue: q, gpus: 2, on: node0 }\n\
         \x20 high: { queue: q, gpus: 2, priority: 75 }",
    );
    let first = decide(&mut world, 0);
    assert_eq!(first[1], "nominate high on node1");
    add(&mut world, "queues: { other: { quota: 1 } }");
    assert_eq!(decide(&mut world, 1000), ["idle"]);
    gone(&mut world, &["low"]);
    assert_eq!(decide(&mut world, 2000), ["place high on node1"]);
}

/// A group whose pods were moved goes first while they are expected back, and not ever after: neither where cycles fell
/// between the end of that minute and their return, nor where none did.
#[test]
fn a_moved_pod_that_comes_late_has_no_turn_before_others() {
    for has_cycles_between in [true, false] {
        let mut world = world(
            "nodes: { node0: { gpus: 2 }, node1: { gpus: 1 } }\n\
             queues: { q: { quota: unlimited } }\n\
             groups:\n\
             \x20 moved: { queue: q, gpus: 1, on: node0 }\n\
             \x20 large: { queue: q, gpus: 2, priority: 75 }",
        );
        assert_eq!(decide(&mut world, 0)[0], "evict moved from node0 for large consolidation");
        gone(&mut world, &["moved"]);
        assert_eq!(decide(&mut world, 1000), ["place large on node0"]);
        if has_cycles_between {
            add(&mut world, "queues: { other: {} }");
            assert_eq!(decide(&mut world, 599_000), ["idle"]);
        }
        add(
            &mut world,
            "groups: { moved: { queue: q, gpus: 1 }, highest: { queue: q, gpus: 1, priority: 90 } }",
        );
        assert_eq!(decide(&mut world, 600_000), ["place highest on node1"]);
    }
}

/// Once its delay is over a group is told of what it waits for, and not of the delay any more.
#[test]
fn a_delay_that_is_over_is_not_told_any_more() {
    let mut world = world(
        "nodes: { node0: { gpus: 1 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 runs: { queue: q, gpus: 1, on: node0 }\n\
         \x20 waits: { queue: q, gpus: 1, delay: 10m, age: 5m }",
    );
    for (millis, is_delayed) in [(0, true), (299_000, true), (300_000, false)] {
        assert_eq!(decide(&mut world, millis), ["idle"]);
        let why = world.cluster.verdict(group(&world, "waits")).expect("it waits");
        assert_eq!(matches!(why, Why::Delayed { .. }), is_delayed, "{millis}: {why:?}");
        assert!(is_delayed || matches!(why, Why::NoRoom(_)), "{millis}: {why:?}");
    }
}

/// A budget counts the pods that run: that one leaves which did not run yet takes nothing of it.
#[test]
fn a_pod_that_never_ran_spends_no_budget() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: unlimited } }\n\
         budgets: { keep: { allowed: 1, labels: { app: web } } }\n\
         groups:\n\
         \x20 starts: { queue: q, gpus: 1, priority: 40, labels: { app: web }, on: node0, state: bound }\n\
         \x20 runs: { queue: q, gpus: 1, labels: { app: web }, on: node0 }\n\
         \x20 high: { queue: q, gpus: 1, priority: 75 }",
    );
    let first = decide(&mut world, 0);
    assert!(first[0].starts_with("evict starts from node0 for high"), "{first:?}");
    gone(&mut world, &["starts"]);
    assert_eq!(decide(&mut world, 1000), ["place high on node0"]);
    add(&mut world, "groups: { higher: { queue: q, gpus: 1, priority: 75 } }");
    let second = decide(&mut world, 2000);
    assert!(second[0].starts_with("evict runs from node0 for higher"), "{second:?}");
}
