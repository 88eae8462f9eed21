//! What counting proves: no eviction lets a group in, and why; and what placement by fragments keeps of use.

use kai_engine::{
    Change, Cluster, Config, Constraint, Delta, EvictionKind, GpuRequest, Gpus, Group, GroupId,
    Holds, Label, Lane, Level, Limit, Node, NodeId, Owner, PerLane, Place, Placement, Pod, PodId,
    PodState, PodTerm, Queue, QueueId, Requirement, Resources, Shape, Shortage, Structure, Symbol,
    Timestamp, Topology, TopologyId, Typical, plan,
};

const RACK: Symbol = Symbol::new(1);
const APP: Symbol = Symbol::new(2);
const NODES: u32 = 6;
const GPUS: u32 = 2;

/// Six nodes of 2 GPUs in three racks, full of one-GPU pods of queue 0, which is entitled to `kept` GPUs; queue 1 is
/// entitled to 8.
fn full(kept: i64) -> Cluster {
    let mut cluster = Cluster::default();
    for (id, gpus) in [(0, kept), (1, 8)] {
        cluster.apply(queue(id, gpus));
    }
    let levels = vec![RACK];
    cluster.apply(Delta::Topology(TopologyId::new(0), Box::new(Topology { levels })));
    for id in 0..NODES {
        cluster.apply(Delta::Node(NodeId::new(id), Box::new(node(id, 2, 64_000))));
        for at in 0..GPUS {
            let pod = id * GPUS + at;
            let shape = Shape { gpu: GpuRequest::Whole(1), ..Shape::default() };
            let state = PodState::Running(Place::on(NodeId::new(id)));
            tell(&mut cluster, (pod, 0), Structure::default(), vec![(shape, state)]);
        }
    }
    cluster
}

/// A queue that is entitled to so many GPUs.
fn queue(id: u32, gpus: i64) -> Delta {
    let queue = Queue {
        quota: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(gpus * 1000)]),
        limit: PerLane::splat(Limit::UNLIMITED),
        weight_milli: PerLane::splat(1000),
        uid: u128::from(id),
        ..Queue::default()
    };
    Delta::Queue(QueueId::new(id), Box::new(queue))
}

fn node(id: u32, gpus: u16, cpu: i64) -> Node {
    let amounts = [(Lane::CPU, cpu), (Lane::GPU, i64::from(gpus) * 1000), (Lane::PODS, 110)];
    let rack = Label { key: RACK, value: Symbol::new(10 + id / 2), number: None };
    Node {
        name: format!("node-{id}").into_bytes().into(),
        allocatable: amounts.into_iter().collect(),
        gpus: Gpus { count: gpus, memory_mib: 16_000, memory_known: true },
        labels: vec![rack],
        ..Node::default()
    }
}

/// A group of a queue with its pods, numbered from a hundred times its own number on where there are several.
fn tell(
    cluster: &mut Cluster,
    (group, queue): (u32, u32),
    structure: Structure,
    pods: Vec<(Shape, PodState)>,
) {
    let facts = Group {
        queue: Some(QueueId::new(queue)),
        preemptible: true,
        uid: u128::from(group),
        structure,
        ..Group::default()
    };
    cluster.apply(Delta::Group(GroupId::new(group), Box::new(facts)));
    let from = if pods.len() > 1 { group * 100 } else { group };
    for (id, (shape, state)) in (from..).zip(pods) {
        let owner = Owner::Group(GroupId::new(group));
        let labels = vec![(APP, APP)];
        let uid = u128::from(id);
        let pod = Pod { owner, shape, state, uid, labels, ..Pod::default() };
        cluster.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
    }
}

/// A gang of whole nodes in queue 1, and what the plan proves of its reclaim.
fn proof(
    cluster: &mut Cluster,
    pods: u32,
    topology: Option<Constraint>,
    apart: Vec<PodTerm>,
) -> Option<Shortage> {
    let gpu = GpuRequest::Whole(2);
    let shape = Shape { gpu, pod_anti_affinity: apart, ..Shape::default() };
    let waiting = (0..pods).map(|_| (shape.clone(), PodState::Pending)).collect();
    tell(cluster, (50, 1), Structure::Flat { min: pods, topology }, waiting);
    let decided = plan(cluster, &Config::default(), Timestamp(0));
    let mut proofs = decided.proofs.into_iter();
    let proof = proofs.find(|proof| proof.kind == EvictionKind::Reclaim);
    assert_eq!(proof.is_none(), !decided.changes.is_empty(), "what is refused is not done");
    assert!(proof.is_none() || decided.steps.filtered > 0, "what is refused is counted");
    proof.map(|proof| proof.shortage)
}

#[test]
fn queues_give_what_is_above_their_quota() {
    assert_eq!(proof(&mut full(4), 4, None, Vec::new()), None);
    let shortage = Shortage::Gpus { needed_milli: 8000, most_milli: 7000 };
    assert_eq!(proof(&mut full(5), 4, None, Vec::new()), Some(shortage));
}

#[test]
fn pods_apart_take_a_domain_each() {
    let holds = Holds::In(vec![APP]);
    let selector = vec![Requirement { key: APP, holds }];
    let apart = vec![PodTerm { topology_key: RACK, namespaces: Vec::new(), selector }];
    let shortage = Shortage::Apart { key: RACK, needed: 4, most: 3 };
    assert_eq!(proof(&mut full(0), 4, None, apart), Some(shortage));
}

#[test]
fn pods_together_fit_into_one_domain() {
    let (topology, level) = (TopologyId::new(0), RACK);
    let rack = Constraint { topology, required: Some(Level(level)), preferred: None };
    assert_eq!(proof(&mut full(0), 2, Some(rack), Vec::new()), None);
    let shortage = Shortage::Together { topology, level, needed: 3, most: 2 };
    assert_eq!(proof(&mut full(0), 3, Some(rack), Vec::new()), Some(shortage));
}

/// All groups alike are named where counting comes to show something of them, or something else, or nothing more.
#[test]
fn all_groups_alike_are_explained_anew() {
    let mut cluster = full(5);
    let both = [GroupId::new(50), GroupId::new(51)];
    for group in [50, 51] {
        let shape = Shape { gpu: GpuRequest::Whole(2), ..Shape::default() };
        let waiting = (0..4).map(|_| (shape.clone(), PodState::Pending)).collect();
        tell(&mut cluster, (group, 1), Structure::Flat { min: 4, topology: None }, waiting);
    }
    let mut decide = |news: Option<Delta>| {
        let changed = news.is_some();
        cluster.apply(news.unwrap_or_else(|| queue(2, 0)));
        let decided = plan(&mut cluster, &Config::default(), Timestamp(0));
        assert_eq!(decided.explained, if changed { both.to_vec() } else { Vec::new() });
        let mut proofs = cluster.proofs(both[1]);
        proofs.find(|(kind, _)| *kind == EvictionKind::Reclaim).map(|(_, shortage)| shortage)
    };
    let short = |most_milli| Some(Shortage::Gpus { needed_milli: 8000, most_milli });
    assert_eq!(decide(Some(queue(0, 5))), short(7000));
    assert_eq!(decide(Some(queue(0, 6))), short(6000));
    assert_eq!(decide(None), short(6000));
    // There is enough for the first of them, and no more is due to the queue then.
    assert_eq!(decide(Some(queue(0, 4))), None);
}

/// A pod of half a GPU and much CPU goes where the GPUs are of no use to the others: beside a pod of half a GPU.
#[test]
fn fragments_stay_together() {
    let shape = |gpu, cpu| {
        let request: Resources = [(Lane::CPU, cpu)].into_iter().collect();
        Shape { request, gpu, ..Shape::default() }
    };
    let half = GpuRequest::Fraction { micro: 500_000, devices: 1 };
    let typical = [(shape(GpuRequest::Whole(2), 8000), 3), (shape(half.clone(), 8000), 1)];
    let config = Config {
        gpu_placement: Placement::Fragmentation,
        cpu_placement: Placement::Fragmentation,
        device_placement: Placement::Fragmentation,
        typical: typical.map(|(shape, weight)| Typical { shape, weight }).to_vec(),
        ..Config::default()
    };
    let mut cluster = Cluster::default();
    let everything = PerLane::splat(Limit::UNLIMITED);
    let queue = Queue { quota: everything, limit: everything, ..Queue::default() };
    cluster.apply(Delta::Queue(QueueId::new(0), Box::new(queue)));
    // Two nodes alike but for CPU: on the second no pair of GPUs is of use to anybody.
    for (id, cpu) in [(0, 64_000), (1, 6000), (2, 64_000)] {
        cluster.apply(Delta::Node(NodeId::new(id), Box::new(node(id, 2, cpu))));
    }
    let pod = |cpu| vec![(shape(half.clone(), cpu), PodState::Pending)];
    let mut places = Vec::new();
    for group in 0..2 {
        tell(&mut cluster, (group, 0), Structure::default(), pod(1000));
        let decided = plan(&mut cluster, &config, Timestamp(0));
        places.extend(decided.changes.into_iter().filter_map(|change| match change {
            Change::Place { node, devices, .. } => Some((node, devices)),
            Change::Nominate { .. } | Change::Evict { .. } => None,
        }));
    }
    let nodes: Vec<NodeId> = places.iter().map(|(node, _)| *node).collect();
    assert_eq!(nodes, [NodeId::new(1), NodeId::new(1)]);
}
