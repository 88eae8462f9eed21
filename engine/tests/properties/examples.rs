//! Histories that were once told wrong, one by one.

use super::*;

#[test]
fn a_running_pod_may_come_before_its_node_group_and_queue() {
    let place = Place::on(NodeId::new(0));
    let pod = Pod {
        owner: Owner::Group(GroupId::new(0)),
        shape: Shape { gpu: GpuRequest::Whole(1), ..Shape::default() },
        state: PodState::Running(place),
        ..Pod::default()
    };
    let mut cluster = Cluster::default();
    cluster.apply(Delta::Pod(PodId::new(0), Box::new(pod)));
    let facts = Group { queue: Some(QueueId::new(0)), ..Group::default() };
    cluster.apply(Delta::Group(GroupId::new(0), Box::new(facts)));
    cluster.apply(Delta::Queue(QueueId::new(0), Box::default()));
    let mut allocatable = resources(0, 8000);
    allocatable.add(Lane::PODS, 10);
    cluster.apply(Delta::Node(NodeId::new(0), Box::new(Node { allocatable, ..Node::default() })));
    assert_eq!(cluster.node_amounts(NodeId::new(0), Lane::GPU), (8000, 7000));
    assert_eq!(cluster.queue_state(QueueId::new(0)).allocated, PerLane([0, 0, 1000]));
    assert_eq!(cluster.check(), Vec::<String>::new());
}

/// A group that needs one of two sub-groups takes the one that has all its pods, not part of the other.
#[test]
fn a_sub_group_that_cannot_be_filled_is_passed_over() {
    let mut cluster = Cluster::default();
    let unlimited = PerLane([Limit::UNLIMITED; 3]);
    let queue = Queue { quota: unlimited, limit: unlimited, ..Queue::default() };
    cluster.apply(Delta::Queue(QueueId::new(0), Box::new(queue)));
    let mut allocatable = resources(8000, 8000);
    allocatable.add(Lane::PODS, 10);
    cluster.apply(Delta::Node(NodeId::new(0), Box::new(Node { allocatable, ..Node::default() })));
    let sub_group = |name: u32, min| SubGroup {
        name: Symbol::new(name),
        parent: None,
        min: Min::Pods(min),
        topology: None,
    };
    let structure = Structure::Tree {
        min: Some(1),
        topology: None,
        sub_groups: vec![sub_group(1, 2), sub_group(2, 1)],
    };
    let facts =
        Group { queue: Some(QueueId::new(0)), preemptible: true, structure, ..Group::default() };
    cluster.apply(Delta::Group(GroupId::new(0), Box::new(facts)));
    let states = [(1, PodState::Pending), (1, PodState::Gated), (2, PodState::Pending)];
    for (id, (name, state)) in (0..).zip(states) {
        let pod = Pod {
            owner: Owner::Group(GroupId::new(0)),
            sub_group: Symbol::new(name),
            shape: Shape { request: resources(1000, 0), ..Shape::default() },
            state,
            uid: u128::from(id),
            ..Pod::default()
        };
        cluster.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
    }
    let first = plan(&mut cluster, &Config::default(), Timestamp(0)).changes;
    let first = first.first().map(|change| match change {
        Change::Place { pod, .. } | Change::Nominate { pod, .. } | Change::Evict { pod, .. } => {
            *pod
        }
    });
    assert_eq!(first, Some(PodId::new(2)));
}
