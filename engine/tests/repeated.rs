//! What a plan says when it comes to what an earlier plan said already, and when time alone lets it act.

use kai_engine::{
    Change, Cluster, Config, Delta, GpuRequest, Gpus, Group, GroupId, Lane, Limit, Node, NodeId,
    Owner, PerLane, Place, Plan, Pod, PodId, PodState, Queue, QueueId, QueueLane, Resources, Shape,
    Structure, Timestamp, Topology, TopologyId, plan,
};

const QUEUE: QueueId = QueueId::new(0);

/// One queue, and nodes with so many GPUs each.
fn cluster(gpus: &[u16], queue: Queue) -> Cluster {
    let mut cluster = Cluster::default();
    cluster.apply(Delta::Queue(QUEUE, Box::new(queue)));
    for (id, count) in (0..).zip(gpus) {
        let allocatable: Resources =
            [(Lane::CPU, 64_000), (Lane::GPU, i64::from(*count) * 1000), (Lane::PODS, 110)]
                .into_iter()
                .collect();
        cluster.apply(Delta::Node(
            NodeId::new(id),
            Box::new(Node {
                name: format!("node-{id}").into_bytes().into(),
                allocatable,
                gpus: Gpus { count: *count, memory_mib: 16_000, memory_known: true },
                ..Node::default()
            }),
        ));
    }
    cluster
}

fn queue() -> Queue {
    Queue {
        quota: PerLane([Limit::UNLIMITED; 3]),
        limit: PerLane([Limit::UNLIMITED; 3]),
        weight_milli: PerLane::splat(1000),
        ..Queue::default()
    }
}

fn group(id: u32, priority: i32, last_start: Option<i64>) -> Delta {
    group_of(QUEUE, id, priority, last_start)
}

fn group_of(queue: QueueId, id: u32, priority: i32, last_start: Option<i64>) -> Delta {
    Delta::Group(
        GroupId::new(id),
        Box::new(Group {
            queue: Some(queue),
            priority,
            preemptible: true,
            uid: u128::from(id),
            structure: Structure::Flat { min: 1, topology: None },
            last_start: last_start.map(Timestamp),
            ..Group::default()
        }),
    )
}

/// The one pod of the group of the same number.
fn pod(id: u32, gpus: u16, state: PodState) -> Delta {
    pod_of(id, GpuRequest::Whole(gpus), state)
}

fn pod_of(id: u32, gpu: GpuRequest, state: PodState) -> Delta {
    Delta::Pod(
        PodId::new(id),
        Box::new(Pod {
            owner: Owner::Group(GroupId::new(id)),
            shape: Shape { gpu, ..Shape::default() },
            state,
            uid: u128::from(id),
            ..Pod::default()
        }),
    )
}

fn on(node: u32) -> PodState {
    PodState::Running(Place::on(NodeId::new(node)))
}

fn decide(cluster: &mut Cluster, now: i64) -> Plan {
    plan(cluster, &Config::default(), Timestamp(now))
}

fn evicted(plan: &Plan) -> Vec<PodId> {
    let pod = |change: &Change| match change {
        Change::Evict { pod, .. } => Some(*pod),
        Change::Place { .. } | Change::Nominate { .. } => None,
    };
    plan.changes.iter().filter_map(pod).collect()
}

fn nominated(plan: &Plan) -> Vec<PodId> {
    let pod = |change: &Change| match change {
        Change::Nominate { pod, .. } => Some(*pod),
        Change::Place { .. } | Change::Evict { .. } => None,
    };
    plan.changes.iter().filter_map(pod).collect()
}

/// Nodes of which pod 0 fills the first, after the plan that evicts it for pod 1, of a group of higher priority.
fn preempted(gpus: &[u16]) -> Cluster {
    let mut cluster = cluster(gpus, queue());
    cluster.apply(group(0, 50, None));
    cluster.apply(pod(0, 2, on(0)));
    cluster.apply(group(1, 75, None));
    cluster.apply(pod(1, 2, PodState::Pending));
    let first = decide(&mut cluster, 0);
    assert_eq!((evicted(&first), nominated(&first)), (vec![PodId::new(0)], vec![PodId::new(1)]));
    cluster
}

/// S7 of the invariants: a plan that evicts promises the room, even where the plan before promised the same.
#[test]
fn an_eviction_comes_with_the_promise_it_is_for() {
    let mut cluster = preempted(&[2]);

    // The API server refused, so that the pod still runs.
    cluster.apply(Delta::EvictFailed(PodId::new(0)));
    let second = decide(&mut cluster, 1000);
    assert_eq!((evicted(&second), nominated(&second)), (vec![PodId::new(0)], vec![PodId::new(1)]));

    // While it leaves, the promise stands and is no news.
    cluster.apply(Delta::Evicted(PodId::new(0)));
    cluster.apply(group(2, 25, None));
    let third = decide(&mut cluster, 2000);
    assert_eq!((evicted(&third), nominated(&third)), (vec![], vec![]));
}

/// A victim that is safe for some time is evicted when that time ends, with nothing told in between.
#[test]
fn the_end_of_a_minimum_runtime_is_a_time_to_decide() {
    let mut cluster = cluster(&[2], Queue { preempt_min_runtime: Some(5000), ..queue() });
    cluster.apply(group(0, 50, Some(0)));
    cluster.apply(pod(0, 2, on(0)));
    cluster.apply(group(1, 75, None));
    cluster.apply(pod(1, 2, PodState::Pending));
    assert_eq!(evicted(&decide(&mut cluster, 1000)), vec![]);
    assert_eq!(cluster.wake(), Some(Timestamp(5000)));
    assert_eq!(evicted(&decide(&mut cluster, 4999)), vec![]);
    assert_eq!(cluster.wake(), Some(Timestamp(5000)));
    assert_eq!(evicted(&decide(&mut cluster, 5000)), vec![PodId::new(0)]);
}

/// A topology that is told again as it was has nobody looked at again.
#[test]
fn a_topology_told_again_changes_nothing() {
    let mut cluster = cluster(&[2], queue());
    let topology = || Box::new(Topology { levels: Vec::new() });
    cluster.apply(Delta::Topology(TopologyId::new(0), topology()));
    cluster.apply(group(0, 50, None));
    cluster.apply(pod(0, 3, PodState::Pending));
    assert!(decide(&mut cluster, 0).steps.groups > 0);
    cluster.apply(Delta::Topology(TopologyId::new(0), topology()));
    assert_eq!(decide(&mut cluster, 0).steps.groups, 0);
    cluster.apply(Delta::TopologyGone(TopologyId::new(0)));
    assert!(decide(&mut cluster, 0).steps.groups > 0);
    cluster.apply(Delta::TopologyGone(TopologyId::new(0)));
    assert_eq!(decide(&mut cluster, 0).steps.groups, 0);
}

/// L3 of the invariants: a victim that is made again does not take the room that its eviction made, though its queue
/// goes first.
#[test]
fn room_that_was_made_by_evicting_is_for_whom_it_was_made() {
    let quota = PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(2000)]);
    let mut cluster = cluster(&[4], Queue { priority: 200, quota, ..queue() });
    let poor = QueueId::new(1);
    cluster.apply(Delta::Queue(poor, Box::new(Queue { priority: 100, quota, uid: 1, ..queue() })));
    for id in 0..4 {
        cluster.apply(group_of(if id < 3 { QUEUE } else { poor }, id, 50, None));
        cluster.apply(pod(id, 1, on(0)));
    }
    // The first group of the poor queue can go nowhere; what it asks for puts the queue behind the other.
    cluster.apply(group_of(poor, 4, 75, None));
    cluster.apply(pod(4, 8, PodState::Pending));
    cluster.apply(group_of(poor, 5, 50, None));
    cluster.apply(pod(5, 1, PodState::Pending));
    let first = decide(&mut cluster, 0);
    assert_eq!((evicted(&first), nominated(&first)), (vec![PodId::new(2)], vec![PodId::new(5)]));

    cluster.apply(Delta::PodGone(PodId::new(2)));
    cluster.apply(pod(2, 1, PodState::Pending));
    let second = decide(&mut cluster, 1000);
    let placed =
        |change: &Change| matches!(change, Change::Place { pod, .. } if *pod == PodId::new(5));
    assert!(
        matches!(second.changes.as_slice(), [change] if placed(change)),
        "{:?}",
        second.changes
    );
    cluster.apply(Delta::Bound(PodId::new(5)));
    assert_eq!(decide(&mut cluster, 2000).changes, vec![]);
}

/// A queue whose pod stays after all is due as much as before it was evicted.
#[test]
fn an_eviction_that_failed_gives_the_share_back() {
    let quota = PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(0)]);
    let mut cluster = cluster(&[2], Queue { quota, ..queue() });
    cluster.apply(group(0, 50, None));
    cluster.apply(pod(0, 2, on(0)));
    let share = |cluster: &Cluster| cluster.queue_state(QUEUE).fair_share[QueueLane::Gpu];
    decide(&mut cluster, 0);
    let before = share(&cluster);
    let other = QueueId::new(1);
    let quota = PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(2000)]);
    cluster.apply(Delta::Queue(other, Box::new(Queue { quota, uid: 1, ..queue() })));
    cluster.apply(group_of(other, 1, 50, None));
    cluster.apply(pod(1, 1, PodState::Pending));
    assert_eq!(evicted(&decide(&mut cluster, 1000)), vec![PodId::new(0)]);
    cluster.apply(Delta::QueueGone(other));
    cluster.apply(Delta::PodGone(PodId::new(1)));
    decide(&mut cluster, 2000);
    assert_eq!((before, share(&cluster)), (2000, 0));
    cluster.apply(Delta::EvictFailed(PodId::new(0)));
    decide(&mut cluster, 3000);
    assert_eq!(share(&cluster), before);
}

/// A group that takes the number of one that is gone has nothing of what that was promised.
#[test]
fn a_number_that_is_used_again_has_no_claims() {
    let mut cluster = preempted(&[2]);

    for id in 0..2 {
        cluster.apply(Delta::PodGone(PodId::new(id)));
        cluster.apply(Delta::GroupGone(GroupId::new(id)));
    }
    for (id, priority) in [(1, 50), (2, 75)] {
        cluster.apply(group(id, priority, None));
        cluster.apply(pod(id, 2, PodState::Pending));
    }
    let second = decide(&mut cluster, 1000);
    let placed =
        |change: &Change| matches!(change, Change::Place { pod, .. } if *pod == PodId::new(2));
    assert!(matches!(second.changes.as_slice(), [one] if placed(one)), "{:?}", second.changes);
}

/// A promise of part of a GPU that is still to be opened is no news the second time.
#[test]
fn a_promised_part_of_a_gpu_is_told_once() {
    let mut cluster = cluster(&[1], queue());
    cluster.apply(group(0, 50, None));
    cluster.apply(pod(0, 1, PodState::Releasing(Place::on(NodeId::new(0)))));
    cluster.apply(group(1, 50, None));
    let half = GpuRequest::Fraction { micro: 500_000, devices: 1 };
    cluster.apply(pod_of(1, half, PodState::Pending));
    assert_eq!(nominated(&decide(&mut cluster, 0)), vec![PodId::new(1)]);
    cluster.apply(group(2, 50, None));
    assert_eq!(nominated(&decide(&mut cluster, 1000)), vec![]);
}

/// A pod of a group; the group of the same number may have others.
fn member(id: u32, group: u32, gpus: u16, state: PodState) -> Delta {
    let Delta::Pod(id, mut pod) = pod(id, gpus, state) else { unreachable!("it is a pod") };
    pod.owner = Owner::Group(GroupId::new(group));
    Delta::Pod(id, pod)
}

fn placed(plan: &Plan) -> Vec<(PodId, NodeId)> {
    let pod = |change: &Change| match change {
        Change::Place { pod, node, .. } => Some((*pod, *node)),
        Change::Nominate { .. } | Change::Evict { .. } => None,
    };
    plan.changes.iter().filter_map(pod).collect()
}

/// A promise to a pod that is gone is nothing to the one that gets its number.
#[test]
fn a_promise_ends_with_its_pod() {
    let mut cluster = preempted(&[2, 1]);
    cluster.apply(Delta::PodGone(PodId::new(0)));
    cluster.apply(Delta::PodGone(PodId::new(1)));
    cluster.apply(pod(1, 1, PodState::Pending));
    // The smaller node is the one to fill up.
    assert_eq!(placed(&decide(&mut cluster, 1000)), [(PodId::new(1), NodeId::new(1))]);
}

/// A promise to a pod that was moved outlasts that another pod of its group finds no room.
#[test]
fn a_moved_pod_keeps_its_promise_beside_one_without_room() {
    let mut cluster = cluster(&[2, 1], queue());
    cluster.apply(group(0, 50, None));
    cluster.apply(pod(0, 1, on(0)));
    cluster.apply(group(1, 50, None));
    cluster.apply(pod(1, 1, PodState::Releasing(Place::on(NodeId::new(1)))));
    cluster.apply(group(2, 75, None));
    cluster.apply(pod(2, 2, PodState::Pending));
    assert_eq!(evicted(&decide(&mut cluster, 0)), [PodId::new(0)]);

    cluster.apply(Delta::PodGone(PodId::new(0)));
    cluster.apply(member(3, 0, 1, PodState::Pending));
    cluster.apply(member(4, 0, 1, PodState::Pending));
    let second = decide(&mut cluster, 1000);
    assert_eq!(placed(&second), [(PodId::new(2), NodeId::new(0))]);
    assert_eq!(nominated(&second), [PodId::new(3)]);

    cluster.apply(Delta::PodGone(PodId::new(1)));
    cluster.apply(group(5, 90, None));
    cluster.apply(pod(5, 1, PodState::Pending));
    assert_eq!(placed(&decide(&mut cluster, 2000)), [(PodId::new(3), NodeId::new(1))]);
}
