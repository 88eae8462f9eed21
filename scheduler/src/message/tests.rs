//! Verdicts against the words that users' tools read.

use std::sync::Arc;

use kai_engine::{
    Alike, Amounts, Blocked, ClaimProblem, DomainProblem, DomainRoom, Effect, EmptyShape,
    FreeShape, GroupId, Lane, Misfit, Missing, NoDomain, NoRoom, NodeId, PerLane, PodId, Progress,
    QueueState, Refusal, Resources, Room, SubGroup, Taint, TooLarge, Unready,
};

use super::*;

mod domain;
mod explained;
mod nodes;

fn world() -> Names {
    let mut names = Names::new();
    let group: GroupId = names.group("ml", "train");
    names.groups[group.number()].queue = Some(names.queue("team-a").number());
    let pod = names.pod("u0");
    names.pods[pod.number()].namespace = Arc::from("ml");
    names.pods[pod.number()].name = Box::from("train-0");
    names
}

/// Checks what is said of a gang of four.
fn said(why: &Why, names: &Names) -> Option<Told> {
    let structure = Structure::Flat { min: 4, topology: None };
    said_of(&Group { structure, ..Group::default() }, why, names)
}

fn said_of(facts: &Group, why: &Why, names: &Names) -> Option<Told> {
    told(why, Waiting { group: 0, facts: Some(facts), names })
}

fn no_room(gang: bool) -> Why {
    Why::NoRoom(Arc::new(NoRoom {
        pod: PodId::new(0),
        at: 0,
        sub_group: Symbol::EMPTY,
        placed: 2,
        min: 4,
        gang,
        dominant: Misfit::Short(Lane::GPU),
        gpu_milli: 1000,
        misfits: vec![(Misfit::Short(Lane::GPU), 3), (Misfit::Selector, 1)],
        also: Vec::new(),
        alike: Alike { needed: 4, placed: 2 },
        free: FreeShape::default(),
        capacity: EmptyShape { gpu_milli: 16_000, node_max_milli: 8000, pods: 16 },
        too_large: None,
        named: Vec::new(),
        beside: Vec::new(),
        too_dear: None,
        overhead: Resources::default(),
        nodes: Vec::new(),
        before: Vec::new(),
    }))
}

fn text(why: &Why) -> String {
    said(why, &world()).expect("there is something to say").text()
}

const TASK: &str = "no nodes with enough resources were found: 1 node(s) didn't match Pod's node \
    affinity/selector. \n3 node(s) didn't have enough resources: GPUs.";

#[test]
fn a_gang_without_room() {
    assert_eq!(
        text(&no_room(true)),
        format!(
            "PodSchedulingErrors: Resources were found for 2 pods while 4 are required for gang \
             scheduling. Additional pods cannot be scheduled due to: {TASK}."
        )
    );
    let told = said(&no_room(true), &world()).expect("there is something to say");
    assert_eq!(told.pod, Some((0, String::from(TASK))));
}

/// Says of a group what was found before a search for victims ends: its place in the search is said elsewhere.
#[test]
fn a_search_that_goes_on_says_what_was_found_before_it() {
    let progress = Progress::Packing { tries: 1, tries_max: 2 };
    let say = |before| said(&Why::Undecided { progress: Box::new(progress), before }, &world());
    assert_eq!(say(Some(Box::new(no_room(true)))), said(&no_room(true), &world()));
    assert_eq!(say(None), None);
}

#[test]
fn one_pod_more_without_room() {
    assert_eq!(
        text(&no_room(false)),
        format!("PodSchedulingErrors: Resources were not found for pod ml/train-0 due to: {TASK}.")
    );
}

#[test]
fn a_missing_queue() {
    assert_eq!(text(&Why::QueueMissing), "QueueDoesNotExist: Queue 'team-a' does not exist.");
}

#[test]
fn a_limit_and_a_quota() {
    let names = world();
    let queue = QueueState {
        queue: kai_engine::QueueId::new(0),
        priority: 100,
        quota: PerLane([Limit::of(2000), Limit::of(2_500_000_000), Limit::of(1500)]),
        limit: PerLane([Limit::of(2000), Limit::UNLIMITED, Limit::of(4000)]),
        fair_share: PerLane::default(),
        allocated: PerLane([1000, 0, 3500]),
        allocated_non_preemptible: PerLane([1000, 500_000_000, 1000]),
        requested: PerLane([0, 0, 7000]),
    };
    let bound = |lane| Box::new(Bound { queue, lane, requested: PerLane([500, 1, 1000]) });
    let say = |why: Why| said(&why, &names).expect("there is something to say");
    assert_eq!(
        say(Why::OverLimit(bound(QueueLane::Gpu))).errors[0].message,
        "team-a quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 3.5 GPUs \
         allocated and workload requested 1 GPUs"
    );
    assert_eq!(
        say(Why::OverQuota(bound(QueueLane::Cpu))).errors[0].message,
        "Non-preemptible workload is over quota. Workload requested 0.5 CPU cores, but team-a quota \
         is 2 cores, while 1 cores are already allocated for non-preemptible pods. Use a preemptible \
         workload to go over quota."
    );
    let error = say(Why::OverLimit(bound(QueueLane::Memory))).errors.remove(0);
    assert!(error.message.contains("Limit is Unlimited GB"), "{}", error.message);
    let details = error.queue.expect("the queue's numbers");
    assert_eq!(details["name"], "team-a");
    assert_eq!(details["queueResourceLimits"]["memory"], "-1");
    for (field, expect) in [
        ("queueRequestedResources", "7"),
        ("queueDeservedResources", "1500m"),
        ("queueAllocatedResources", "3500m"),
        ("queueAllocatedNonPreemptibleResources", "1"),
        ("queueResourceLimits", "4"),
    ] {
        assert_eq!(details[field]["nvidia.com/gpu"], expect, "{field}");
    }
    for (preemptible, expect) in [(true, "0"), (false, "1")] {
        let facts = Group { preemptible, ..Group::default() };
        let told = said_of(&facts, &Why::OverLimit(bound(QueueLane::Gpu)), &names);
        let error = told.expect("there is something to say").errors.remove(0);
        let details = error.queue.expect("the queue's numbers");
        assert_eq!(details["podGroupRequestedResources"]["nvidia.com/gpu"], "1");
        assert_eq!(details["podGroupRequestedNonPreemptibleResources"]["nvidia.com/gpu"], expect);
    }
}

#[test]
fn a_group_that_is_not_ready() {
    let mut names = world();
    let workers = names.symbol("workers");
    let one = |sub_group| Unready { sub_group, min: 4, alive: 3, gated: 1 };
    assert_eq!(
        not_ready(&[one(Symbol::EMPTY)], &names),
        "Job is not ready for scheduling. Waiting for 4 pods, currently 3 exist, 1 are gated"
    );
    assert_eq!(
        not_ready(&[one(workers)], &names),
        "Job is not ready for scheduling. Waiting for 4 pods for SubGroup workers, currently 3 \
         exist, 1 are gated."
    );
}

#[test]
fn a_claim_keeps_its_pod_out_before_any_node_is_looked_at() {
    let mut names = world();
    let full = Misfit::Claim(names.claim("ml", "cache"), ClaimProblem::Full);
    let missing = Misfit::Claim(names.claim("ml", "gpus"), ClaimProblem::NotFound);
    let Why::NoRoom(no_room) = no_room(true) else { unreachable!("it is one") };
    let misfits = vec![(full, 3), (missing, 3)];
    let why = Why::NoRoom(Arc::new(NoRoom { misfits, ..NoRoom::clone(&no_room) }));
    let told = said(&why, &names).expect("there is something to say");
    assert_eq!(
        told.pod,
        Some((
            0,
            String::from(
                "Scheduling conditions were not met for pod ml/train-0:\nDynamicResources: resource \
                 claim ml/cache has reached its maximum number of consumers (256).\nDynamicResources: \
                 failed to get resource claim ml/gpus: could not find ResourceClaim \"ml/gpus\"."
            )
        ))
    );
}

#[test]
fn a_delay_is_an_error_beside_the_reason() {
    let names = world();
    let facts = Group { preemption_delay: 5_000, ..Group::default() };
    let until = Timestamp(1_000);
    for (why, code) in
        [(no_room(true), "PodSchedulingErrors"), (Why::QueueMissing, "QueueDoesNotExist")]
    {
        let why = Why::Delayed { until, why: Box::new(why) };
        let told = said_of(&facts, &why, &names).expect("there is something to say");
        let codes: Vec<&str> = told.errors.iter().map(|error| error.code).collect();
        assert_eq!(codes, [code, "PreemptionDelayNotElapsed"]);
        let end = "\nWorkload is within its preemption delay window (5s) and may not trigger evictions \
                   before 1970-01-01T00:00:01Z.";
        assert!(told.text().starts_with("Unable to schedule podgroup: "), "{}", told.text());
        assert!(told.text().ends_with(end), "{}", told.text());
    }
}

#[test]
fn a_sub_group_of_one_beside_a_gang_speaks_of_the_gang() {
    let mut names = world();
    let [head, workers] = ["head", "workers"].map(|name| names.symbol(name));
    let leaf = |name, min| SubGroup { name, parent: None, min: Min::Pods(min), topology: None };
    let Why::NoRoom(no_room) = no_room(true) else { unreachable!("it is one") };
    let why = Why::NoRoom(Arc::new(NoRoom {
        sub_group: head,
        placed: 0,
        min: 1,
        ..NoRoom::clone(&no_room)
    }));
    let check = |min, start: &str| {
        let sub_groups = vec![leaf(head, 1), leaf(workers, min)];
        let structure = Structure::Tree { min: None, topology: None, sub_groups };
        let facts = Group { structure, ..Group::default() };
        let text = said_of(&facts, &why, &names).expect("there is something to say").text();
        assert!(text.starts_with(&format!("PodSchedulingErrors: {start}")), "{text}");
    };
    check(
        2,
        "Resources were found for 0 pods from all sub-groups while sub-group head requires 1 pods",
    );
    check(1, "Resources were not found for pod ml/train-0 due to: ");
}

#[test]
fn reasons_that_name_the_node_do_so_for_nodes_that_are_known() {
    let mut names = world();
    let nodes: Vec<NodeId> = ["n1", "n2"].map(|name| names.node(name)).to_vec();
    let old = names.pod("u1");
    names.pods[old.number()].namespace = Arc::from("ml");
    names.pods[old.number()].name = Box::from("old");
    let check = |misfit, gpu_milli, expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let named = nodes.iter().map(|node| (misfit, *node)).collect();
        let misfits = vec![(misfit, 5)];
        let beside = [("n1", 0), ("n2", 0), ("n1", 1)]
            .map(|(node, pod)| {
                (NodeId::new(names.nodes.find(node).expect("known")), PodId::new(pod))
            })
            .to_vec();
        let why = Why::NoRoom(Arc::new(NoRoom {
            misfits,
            named,
            beside,
            gpu_milli,
            ..NoRoom::clone(&no_room)
        }));
        let told = said(&why, &names).expect("there is something to say");
        let base = "no nodes with enough resources were found: ";
        assert_eq!(told.pod, Some((0, format!("{base}{expect}."))));
    };
    let unknown = "node is not a gpu node or the gpu memory count on the node was not synced yet";
    check(
        Misfit::GpuMemoryUnknown,
        0,
        &format!(
            "1 {unknown}, task: <ml/train-0>, node: <n1>. \n1 {unknown}, task: <ml/train-0>, node: \
             <n2>. \n3 {unknown}"
        ),
    );
    let worker = |kind| {
        let each = |node| {
            format!("1 {kind} task: <ml/train-0> can't run on non {kind} nodes, node: <{node}>")
        };
        let rest = "3 node(s) didn't have the worker label for this kind of work";
        format!("{}. \n{}. \n{rest}", each("n1"), each("n2"))
    };
    check(Misfit::Worker, 1000, &worker("gpu"));
    check(Misfit::Worker, 0, &worker("cpu"));
    check(
        Misfit::LegacyMig,
        0,
        "1 Legacy MIG jobs cannot be scheduled on node n1. \n1 Legacy MIG jobs cannot be scheduled on \
         node n2. \n3 Legacy MIG jobs cannot be scheduled on the node(s)",
    );
    let beside = "MIG job cannot be scheduled on node with legacy MIG jobs";
    check(
        Misfit::BesideLegacyMig,
        0,
        &format!("1 {beside}: <[ml/train-0 ml/old]>. \n1 {beside}: <[ml/train-0]>. \n3 {beside}"),
    );
}

#[test]
fn a_node_that_is_short_of_two_things_is_counted_for_both() {
    let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
    let misfits = vec![(Misfit::Short(Lane::GPU), 3), (Misfit::Short(Lane::CPU), 1)];
    let also = vec![(Misfit::Short(Lane::CPU), 2)];
    let why = Why::NoRoom(Arc::new(NoRoom { misfits, also, ..NoRoom::clone(&no_room) }));
    let told = said(&why, &world()).expect("there is something to say");
    assert_eq!(
        told.pod.expect("the pod's words").1,
        "no nodes with enough resources were found: 3 node(s) didn't have enough resources: CPU \
         cores. \n3 node(s) didn't have enough resources: GPUs."
    );
}

#[test]
fn a_queue_that_may_not_pay_for_a_node_says_why() {
    let names = world();
    let queue = QueueState {
        queue: kai_engine::QueueId::new(0),
        priority: 100,
        quota: PerLane::default(),
        limit: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(500)]),
        fair_share: PerLane::default(),
        allocated: PerLane::default(),
        allocated_non_preemptible: PerLane::default(),
        requested: PerLane::default(),
    };
    let bound = Bound { queue, lane: QueueLane::Gpu, requested: PerLane([0, 0, 1000]) };
    let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
    let too_dear = Some(Box::new(Why::OverLimit(Box::new(bound))));
    let misfits = vec![(Misfit::Queue, 2)];
    let why = Why::NoRoom(Arc::new(NoRoom { misfits, too_dear, ..NoRoom::clone(&no_room) }));
    let told = said(&why, &names).expect("there is something to say");
    assert_eq!(
        told.pod.expect("the pod's words").1,
        "no nodes with enough resources were found: 2 node does not have enough capacity. Reason: \
         OverLimit, Details: team-a quota has reached the allowable limit of GPUs. Limit is 0.5 GPUs, \
         currently 0 GPUs allocated and workload requested 1 GPUs."
    );
}

#[test]
fn a_stale_group_and_a_pod_without_a_sub_group() {
    let mut names = world();
    let (head, workers) = (names.symbol("head"), names.symbol("workers"));
    assert_eq!(
        stale(&[(Symbol::EMPTY, 4, 3)], &names),
        "Job is stale. 3 pods are active, minMember is 4"
    );
    let most = (Symbol::EMPTY, 2_147_483_647, 1);
    assert_eq!(
        stale(&[most; 3], &names),
        "Job is stale. 3 pods are active, minMember is 6442450941"
    );
    assert_eq!(
        stale(&[(head, 1, 1), (workers, 4, 3)], &names),
        "Job is stale. 4 pods are active, minMember is 5, subGroup head minMember is 1 and 1 pods \
         are active, subGroup workers minMember is 4 and 3 pods are active"
    );
    assert_eq!(
        stray(workers, 0, &names),
        "Pod references subgroup \"workers\", which does not exist in PodGroup ml/train"
    );
    assert_eq!(
        stray(Symbol::EMPTY, 0, &names),
        "Pod references subgroup \"default\", which does not exist in PodGroup ml/train"
    );
}

#[test]
fn what_is_missing_keeps_a_pod_out_before_any_node_is_looked_at() {
    let mut names = world();
    let [disk, tuning, more] = ["disk", "tuning", "more"].map(|name| names.symbol(name));
    let wrong = names.symbol("annotation gpu-fraction: \"1.5\" must be less");
    let check = |misfits: &[Missing], expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let misfits = misfits.iter().map(|one| (Misfit::Missing(*one), 3)).collect();
        let why = Why::NoRoom(Arc::new(NoRoom { misfits, ..NoRoom::clone(&no_room) }));
        let told = said(&why, &names).expect("there is something to say");
        let base = "Scheduling conditions were not met for pod ml/train-0:";
        assert_eq!(told.pod, Some((0, format!("{base}{expect}"))));
    };
    check(
        &[Missing::Claim(disk), Missing::ConfigMap(tuning), Missing::ConfigMap(more)],
        "\nVolumeBinding: persistentvolumeclaim \"disk\" not found.\nConfigMap: Missing required \
         configmaps: [tuning more].",
    );
    check(&[Missing::Request(wrong)], "\nRequest: annotation gpu-fraction: \"1.5\" must be less.");
    check(
        &[Missing::Turn],
        "\nPodTopologySpread: selectors of its topology spread constraints are new, and have their \
         turn in a moment.",
    );
    check(
        &[Missing::Unbound],
        "\nVolumeBinding: pod has unbound immediate PersistentVolumeClaims.",
    );
    check(
        &[Missing::NotOwned(disk)],
        "\nVolumeBinding: PVC ml/disk was not created for pod ml/train-0 (pod is not owner).",
    );
}

/// It is kept and written for each pod that waits.
#[test]
fn what_is_said_is_short_whatever_names_are_long() {
    let mut names = world();
    let long = names.symbol(&"x".repeat(1 << 20));
    let maps: Vec<Symbol> = (0..10_000).map(|at| names.symbol(&format!("map-{at}"))).collect();
    let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
    let missing = |all: &[Symbol], of: fn(Symbol) -> Missing| {
        let misfits = all.iter().map(|one| (Misfit::Missing(of(*one)), 3)).collect();
        let why = Why::NoRoom(Arc::new(NoRoom { misfits, ..NoRoom::clone(&no_room) }));
        said(&why, &names).expect("there is something to say")
    };
    let told = missing(&maps, Missing::ConfigMap);
    let text = told.text();
    assert!(text.contains("map-8 map-9 and 9990 more]"), "{text}");
    for told in [told, missing(&maps, Missing::Claim), missing(&[long], Missing::Claim)] {
        let text = told.text();
        for one in [&text, &told.text_of(0, &text)] {
            assert!(one.len() <= 4096 + '\u{2026}'.len_utf8(), "{} bytes", one.len());
        }
    }
    let queue = names.queue(&"q".repeat(1 << 20));
    assert!(names.queue_name(queue.number()).len() < 2048);
}

#[test]
fn a_pod_larger_than_every_node() {
    let mut names = world();
    names.pool = Box::from("default");
    let check = |lane, most, expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let amounts = [(Lane::GPU, 9000), (Lane::CPU, 2500), (Lane::MEMORY, 4_000_000_000)];
        let request: Resources = amounts.into_iter().collect();
        let too_large = Some(TooLarge { lane, most, request });
        let why = Why::NoRoom(Arc::new(NoRoom { too_large, ..NoRoom::clone(&no_room) }));
        let told = said(&why, &names).expect("there is something to say");
        let base = "Scheduling conditions were not met for pod ml/train-0:\nMaxNodePoolResources: \
                    The pod ml/train-0 requires GPU: 9, CPU: 2.5 (cores), memory: 4 (GB), pods: 1. ";
        assert_eq!(told.pod, Some((0, format!("{base}{expect}"))));
    };
    let max = "resources available in a single node in the default node-pool is topped at";
    check(Lane::GPU, 8000, &format!("Max GPU {max} 8."));
    check(Lane::CPU, 2000, &format!("Max CPU {max} 2 cores."));
    check(Lane::MEMORY, 1_500_000_000, &format!("Max memory {max} 1.5 GB."));
    check(Lane::GPU, 0, "No node in the default node-pool has GPU resources.");
}

/// Checks what is said of the pod where some nodes lack only what its overhead takes.
#[test]
fn a_pod_that_fits_but_for_its_overhead() {
    let check = |lane, overhead: &[(Lane, i64)], expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let misfits = vec![(Misfit::Overhead(lane), 2), (Misfit::Short(lane), 1)];
        let overhead = overhead.iter().copied().collect();
        let why = Why::NoRoom(Arc::new(NoRoom { misfits, overhead, ..NoRoom::clone(&no_room) }));
        let told = said(&why, &world()).expect("there is something to say");
        let base = "no nodes with enough resources were found:";
        assert_eq!(told.pod, Some((0, format!("{base} {expect}"))));
    };
    check(
        Lane::CPU,
        &[(Lane::CPU, 250), (Lane::MEMORY, 120_000_000)],
        "1 node(s) didn't have enough resources: CPU cores. \n2 node(s) didn't have enough \
         resources: CPU cores. Not enough resources due to pod overhead resources. The overhead \
         resources are CPU: 0.25 (cores), memory: 0.12 (GB).",
    );
    check(
        Lane::MEMORY,
        &[(Lane::MEMORY, 1_000_000_000)],
        "1 node(s) didn't have enough resources: memory. \n2 node(s) didn't have enough resources: \
         memory. Not enough resources due to pod overhead resources. The overhead resources are \
         memory: 1 (GB).",
    );
}
