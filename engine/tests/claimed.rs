//! Devices of claims through histories that a scenario does not tell.

use kai_engine::{
    Change, Claim, ClaimId, Cluster, Config, Delta, DeviceClass, DeviceClassId, DeviceCount,
    DeviceRequest, Group, GroupId, Holds, Label, Lane, Limit, Misfit, Node, NodeId, Owner, PerLane,
    Placement, Plan, Pod, PodId, Queue, QueueId, Reach, ReachId, Requirement, Shape, SliceDevice,
    SliceDeviceId, Structure, Symbol, Timestamp, Unsupported, Why, plan,
};

const CLASS: DeviceClassId = DeviceClassId::new(0);

/// Two nodes, one queue without a limit and one device class.
fn cluster() -> Cluster {
    let mut cluster = Cluster::default();
    let everything = PerLane::splat(Limit::UNLIMITED);
    let queue = Queue { quota: everything, limit: everything, ..Queue::default() };
    cluster.apply(Delta::Queue(QueueId::new(0), Box::new(queue)));
    cluster.apply(Delta::DeviceClass(CLASS, DeviceClass::default()));
    for id in 0..2 {
        let node = Node {
            name: format!("node-{id}").into_bytes().into(),
            allocatable: [(Lane::CPU, 8000), (Lane::PODS, 10)].into_iter().collect(),
            ..Node::default()
        };
        cluster.apply(Delta::Node(NodeId::new(id), Box::new(node)));
    }
    cluster
}

fn reach(id: u32, devices: &[u32]) -> Delta {
    let device = |id: &u32| SliceDevice::new(SliceDeviceId::new(*id), false, Box::new([CLASS]));
    let devices = devices.iter().map(device).collect();
    let reach = Reach { uid: u128::from(id), nodes: Vec::new(), devices };
    Delta::Reach(ReachId::new(id), Box::new(reach))
}

/// A claim of one device for one pod.
fn claim() -> Claim {
    let request = DeviceRequest {
        class: CLASS,
        count: DeviceCount::Exactly(1),
        instead: false,
        gpu: false,
        admin: false,
    };
    Claim { requests: vec![request], own: true, ..Claim::default() }
}

/// A pod that waits, in a group and with a claim of one device of the same number.
fn wait(cluster: &mut Cluster, id: u32) {
    cluster.apply(Delta::Claim(ClaimId::new(id), Box::new(claim())));
    let uid = u128::from(id);
    let group = Group { queue: Some(QueueId::new(0)), preemptible: true, uid, ..Group::default() };
    cluster.apply(Delta::Group(GroupId::new(id), Box::new(group)));
    let owner = Owner::Group(GroupId::new(id));
    let claims = vec![ClaimId::new(id)];
    let pod = Pod { owner, shape: Shape::default(), uid, claims, ..Pod::default() };
    cluster.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
}

/// Of two groups alike but for what their claims ask for that is not supported, the older one keeps no place from the
/// younger.
#[test]
fn a_claim_that_is_not_supported_is_unlike_others() {
    let mut cluster = cluster();
    cluster.apply(reach(0, &[7]));
    for id in 0..2 {
        wait(&mut cluster, id);
    }
    let unsupported = Some(Unsupported::Constraint);
    cluster.apply(Delta::Claim(ClaimId::new(0), Box::new(Claim { unsupported, ..claim() })));
    let plan = plan(&mut cluster, &Config::default(), Timestamp(0));
    assert_eq!(given(&plan), [SliceDeviceId::new(7)]);
}

/// By fragments too, a node has room once devices stand in for what it lacked.
#[test]
fn a_class_that_comes_makes_room_by_fragments() {
    let resource = Lane::new(Lane::FIRST_EXTENDED);
    let config = Config { cpu_placement: Placement::Fragmentation, ..Config::default() };
    let mut cluster = cluster();
    let device = SliceDevice::new(SliceDeviceId::new(7), false, Box::new([CLASS]));
    cluster.apply(Delta::Slices(NodeId::new(0), vec![device]));
    let group = Group { queue: Some(QueueId::new(0)), preemptible: true, ..Group::default() };
    cluster.apply(Delta::Group(GroupId::new(0), Box::new(group)));
    let shape = Shape { request: [(resource, 1)].into_iter().collect(), ..Shape::default() };
    let pod = Pod { owner: Owner::Group(GroupId::new(0)), shape, ..Pod::default() };
    cluster.apply(Delta::Pod(PodId::new(0), Box::new(pod)));
    assert_eq!(given(&plan(&mut cluster, &config, Timestamp(0))), []);
    cluster
        .apply(Delta::DeviceClass(CLASS, DeviceClass { backs: Some(resource), unselected: None }));
    let next = plan(&mut cluster, &config, Timestamp(1));
    assert_eq!(given(&next), [SliceDeviceId::new(7)]);
}

/// The devices that a plan gives away.
fn given(plan: &Plan) -> Vec<SliceDeviceId> {
    let reserved = plan.changes.iter().filter_map(|change| match change {
        Change::Place { reserved, .. } | Change::Nominate { reserved, .. } => reserved.as_ref(),
        Change::Evict { .. } => None,
    });
    reserved.flat_map(|reserved| &reserved.claims).map(|claimed| claimed.device).collect()
}

/// A device that moves from one set of nodes to another is told of the new one first: it stays with who has it, and
/// nobody else gets it in between or after.
#[test]
fn a_device_that_moves_between_nodes_is_given_away_once() {
    let device = SliceDeviceId::new(7);
    for (from, to) in [(0, 1), (1, 0)] {
        let mut cluster = cluster();
        cluster.apply(reach(from, &[7]));
        wait(&mut cluster, 0);
        let first = plan(&mut cluster, &Config::default(), Timestamp(0));
        assert_eq!(given(&first), [device]);
        wait(&mut cluster, 1);
        for (now, news) in [(1, reach(to, &[7])), (2, reach(from, &[]))] {
            cluster.apply(news);
            assert_eq!(cluster.check(), Vec::<String>::new());
            let next = plan(&mut cluster, &Config::default(), Timestamp(now));
            assert_eq!(given(&next), [], "from {from} to {to}");
        }
    }
}

/// Devices that the nodes with one value of a label reach.
fn reach_at(id: u32, value: u32, devices: &[u32]) -> Delta {
    let Delta::Reach(id, mut reach) = reach(id, devices) else { unreachable!("it is one") };
    let holds = Holds::In(vec![Symbol::new(value)]);
    reach.nodes = vec![vec![Requirement { key: Symbol::new(1), holds }]];
    Delta::Reach(id, reach)
}

/// A node of a cluster with a label of this value.
fn node_at(id: u32, value: u32) -> Delta {
    let node = Node {
        name: format!("node-{id}").into_bytes().into(),
        labels: vec![Label { key: Symbol::new(1), value: Symbol::new(value), number: None }],
        allocatable: [(Lane::CPU, 8000), (Lane::PODS, 10)].into_iter().collect(),
        ..Node::default()
    };
    Delta::Node(NodeId::new(id), Box::new(node))
}

/// Devices are where their nodes are, whichever of the two was told last and whatever became of both.
#[test]
fn devices_follow_the_labels_of_nodes() {
    let mut cluster = cluster();
    cluster.apply(reach_at(0, 5, &[7]));
    wait(&mut cluster, 0);
    let steps: [(&str, Vec<Delta>, &[u32]); 5] = [
        ("no node has the label", vec![], &[]),
        ("another value", vec![node_at(0, 6)], &[]),
        ("all devices went", vec![node_at(0, 5), reach_at(0, 5, &[])], &[]),
        ("the label went with them", vec![node_at(0, 6), reach_at(0, 5, &[7])], &[]),
        ("the selector came to it", vec![reach_at(0, 6, &[7])], &[7]),
    ];
    for (now, (what, news, expect)) in (0..).zip(steps) {
        for delta in news {
            cluster.apply(delta);
            assert_eq!(cluster.check(), Vec::<String>::new(), "{what}");
        }
        let next = plan(&mut cluster, &Config::default(), Timestamp(now));
        let expect: Vec<SliceDeviceId> =
            expect.iter().map(|one| SliceDeviceId::new(*one)).collect();
        assert_eq!(given(&next), expect, "{what}");
    }
}

/// A gang for which there are too few volumes is told of volumes, and none of its pods is placed.
#[test]
fn a_gang_waits_for_all_of_its_volumes() {
    let volume = Claim { volume: true, ..claim() };
    let mut cluster = cluster();
    cluster.apply(reach(0, &[7]));
    let structure = Structure::Flat { min: 2, topology: None };
    let queue = Some(QueueId::new(0));
    let group = Group { queue, preemptible: true, structure, ..Group::default() };
    cluster.apply(Delta::Group(GroupId::new(0), Box::new(group)));
    for id in 0..2 {
        cluster.apply(Delta::Claim(ClaimId::new(id), Box::new(volume.clone())));
        let (owner, claims) = (Owner::Group(GroupId::new(0)), vec![ClaimId::new(id)]);
        let pod = Pod { owner, uid: u128::from(id), claims, ..Pod::default() };
        cluster.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
    }
    let first = plan(&mut cluster, &Config::default(), Timestamp(0));
    assert_eq!(first.changes, []);
    let why = cluster.verdict(GroupId::new(0)).expect("it waits");
    let Why::NoRoom(no_room) = why else { panic!("{why:?}") };
    assert_eq!((no_room.placed, &*no_room.misfits), (1, &[(Misfit::VolumeUnbound, 2)][..]));
    // Both pods have one claim: then one volume is enough.
    let shared = Claim { own: false, ..volume };
    cluster.apply(Delta::Claim(ClaimId::new(0), Box::new(shared)));
    let (owner, claims) = (Owner::Group(GroupId::new(0)), vec![ClaimId::new(0)]);
    let pod = Pod { owner, uid: 1, claims, ..Pod::default() };
    cluster.apply(Delta::Pod(PodId::new(1), Box::new(pod)));
    let second = plan(&mut cluster, &Config::default(), Timestamp(1));
    assert_eq!(given(&second), [SliceDeviceId::new(7); 2]);
}
