//! Verdicts against the words that users' tools read.

use kai_engine::{
    ClaimProblem, FreeShape, GroupId, Lane, Misfit, Missing, NoRoom, PerLane, PodId, QueueState,
    Resources, TooLarge, Unready,
};

use super::*;

fn world() -> Names {
    let mut names = Names::new();
    let group: GroupId = names.group("ml", "train");
    names.groups[group.number()].queue_name = Box::from("team-a");
    names.queue("team-a");
    let pod = names.pod("u0");
    names.pods[pod.number()].namespace = Box::from("ml");
    names.pods[pod.number()].name = Box::from("train-0");
    names
}

fn no_room(gang: bool) -> Why {
    Why::NoRoom(Box::new(NoRoom {
        pod: PodId::new(0),
        at: 0,
        sub_group: Symbol::EMPTY,
        placed: 2,
        min: 4,
        gang,
        dominant: Misfit::Short(Lane::GPU),
        gpu_milli: 1000,
        misfits: vec![(Misfit::Short(Lane::GPU), 3), (Misfit::Selector, 1)],
        free: FreeShape::default(),
        too_large: None,
    }))
}

fn text(why: &Why) -> String {
    reason(why, 0, &world()).expect("there is something to say").text()
}

const TASK: &str = "no nodes with enough resources were found: 1 node(s) didn't match Pod's node \
    affinity/selector. \n3 node(s) didn't have enough resources: GPUs.";

#[test]
fn a_gang_without_room() {
    assert_eq!(
        text(&no_room(true)),
        format!(
            "PodSchedulingErrors: Resources were found for 2 pods while 4 are required for gang \
             scheduling. Additional pods cannot be scheduled due to: {TASK}"
        )
    );
    let told = reason(&no_room(true), 0, &world()).expect("there is something to say");
    assert_eq!(told.pod, Some((0, String::from(TASK))));
}

#[test]
fn one_pod_more_without_room() {
    assert_eq!(
        text(&no_room(false)),
        format!("PodSchedulingErrors: Resources were not found for pod ml/train-0 due to: {TASK}")
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
        requested: PerLane::default(),
    };
    let bound = |lane| Box::new(Bound { queue, lane, requested: PerLane([500, 1, 1000]) });
    let say = |why: Why| reason(&why, 0, &names).expect("there is something to say");
    assert_eq!(
        say(Why::OverLimit(bound(QueueLane::Gpu))).message,
        "team-a quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 3.5 GPUs \
         allocated and workload requested 1 GPUs"
    );
    assert_eq!(
        say(Why::OverQuota(bound(QueueLane::Cpu))).message,
        "Non-preemptible workload is over quota. Workload requested 0.5 CPU cores, but team-a quota \
         is 2 cores, while 1 cores are already allocated for non-preemptible pods. Use a preemptible \
         workload to go over quota."
    );
    let told = say(Why::OverLimit(bound(QueueLane::Memory)));
    assert!(told.message.contains("Limit is Unlimited GB"), "{}", told.message);
    let details = told.queue.expect("the queue's numbers");
    assert_eq!(details["name"], "team-a");
    assert_eq!(details["queueResourceLimits"]["memory"], "-1");
    assert_eq!(details["queueAllocatedResources"]["nvidia.com/gpu"], "3500m");
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
    let claim = names.claim("ml", "cache");
    let Why::NoRoom(no_room) = no_room(true) else { unreachable!("it is one") };
    let misfit = Misfit::Claim(claim, ClaimProblem::Full);
    let why = Why::NoRoom(Box::new(NoRoom { misfits: vec![(misfit, 3)], ..*no_room }));
    let told = reason(&why, 0, &names).expect("there is something to say");
    assert_eq!(
        told.pod,
        Some((
            0,
            String::from(
                "Scheduling conditions were not met for pod ml/train-0:\nDynamicResources: resource \
                 claim ml/cache has reached its maximum number of consumers (256)."
            )
        ))
    );
}

#[test]
fn no_domain_of_a_topology() {
    let mut names = world();
    let topology = names.topology("racks");
    let (rack, workers) = (names.symbol("rack"), names.symbol("workers"));
    let say = |sub_group, problem| {
        let no_domain = NoDomain { sub_group, topology, problem };
        reason(&Why::NoDomain(Box::new(no_domain)), 0, &names).expect("there is something").message
    };
    let fit = DomainProblem::NoFit { level: Some(rack), domains: 3, pods_max: 2, pods: 4 };
    assert_eq!(
        say(workers, fit),
        "topology racks, requirement rack couldn't be satisfied for job ml/train, subgroup workers: \
         the best of 3 node-groups can allocate only 2 of 4 required pods"
    );
    assert_eq!(
        say(Symbol::EMPTY, DomainProblem::NoLevel { level: rack, required: false }),
        "topology constraint error: workload specified 'rack' as the preferred topology constraint \
         level, but the topology tree 'racks' does not contain a level with this name"
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
    assert_eq!(
        stale(&[(head, 1, 1), (workers, 4, 3)], &names),
        "Job is stale. 4 pods are active, minMember is 5, subGroup head minMember is 1 and 1 pods \
         are active, subGroup workers minMember is 4 and 3 pods are active"
    );
    assert_eq!(
        stray(workers, 0, &names),
        "Pod references subgroup \"workers\", which does not exist in PodGroup ml/train"
    );
}

#[test]
fn what_is_missing_keeps_a_pod_out_before_any_node_is_looked_at() {
    let mut names = world();
    let [disk, tuning, more] = ["disk", "tuning", "more"].map(|name| names.symbol(name));
    let check = |misfits: &[Missing], expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let misfits = misfits.iter().map(|one| (Misfit::Missing(*one), 3)).collect();
        let why = Why::NoRoom(Box::new(NoRoom { misfits, ..*no_room }));
        let told = reason(&why, 0, &names).expect("there is something to say");
        let base = "Scheduling conditions were not met for pod ml/train-0:";
        assert_eq!(told.pod, Some((0, format!("{base}{expect}"))));
    };
    check(
        &[Missing::Claim(disk), Missing::ConfigMap(tuning), Missing::ConfigMap(more)],
        "\nVolumeBinding: persistentvolumeclaim \"disk\" not found.\nConfigMap: Missing required \
         configmaps: [tuning more].",
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

#[test]
fn a_pod_larger_than_every_node() {
    let mut names = world();
    names.pool = Box::from("default");
    let check = |lane, most, expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let amounts = [(Lane::GPU, 9000), (Lane::CPU, 2500), (Lane::MEMORY, 4_000_000_000)];
        let request: Resources = amounts.into_iter().collect();
        let too_large = Some(TooLarge { lane, most, request });
        let why = Why::NoRoom(Box::new(NoRoom { too_large, ..*no_room }));
        let told = reason(&why, 0, &names).expect("there is something to say");
        let base = "Scheduling conditions were not met for pod ml/train-0:\nMaxNodePoolResources: \
                    The pod ml/train-0 requires GPU: 9, CPU: 2.5 (cores), memory: 4 (GB). ";
        assert_eq!(told.pod, Some((0, format!("{base}{expect}"))));
    };
    let max = "resources available in a single node in the default node-pool is topped at";
    check(Lane::GPU, 8000, &format!("Max GPU {max} 8."));
    check(Lane::CPU, 2000, &format!("Max CPU {max} 2 cores."));
    check(Lane::MEMORY, 1_500_000_000, &format!("Max memory {max} 1.5 GB."));
    check(Lane::GPU, 0, "No node in the default node-pool has GPU resources.");
}
