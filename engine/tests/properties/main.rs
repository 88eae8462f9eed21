//! Properties of every cluster and every history.
//!
//! All news is made by hand: most of it no scenario could tell, as pods of groups that are not there, groups whose
//! structure makes no sense, rings of queues, and everything in any order.

use kai_engine::{
    Alignment, Allocation, Change, Claim, ClaimId, Cluster, Config, CounterId, Delta, DeviceClass,
    DeviceClassId, DeviceCount, DeviceId, DeviceRequest, GpuRequest, Gpus, Group, GroupId, Holds,
    Label, Lane, Limit, Min, Node, NodeId, Numa, NumaPolicy, NumaScope, Owner, PerLane, Place,
    Plan, Pod, PodId, PodState, Queue, QueueId, Reach, ReachId, Requirement, Resources, Shape,
    Shares, SliceDevice, SliceDeviceId, Structure, SubGroup, Symbol, Timestamp, plan,
};
use proptest::prelude::*;

mod wishes;

use wishes::{wishes, wishing};

const NODES: u32 = 5;
const QUEUES: u32 = 5;
const GROUPS: u32 = 8;
const PODS: u32 = 24;
/// Pods that are on a node from the start: those of even numbers reserve GPUs, the others share them.
const SHARERS: u32 = 12;
const CLAIMS: u32 = 6;
const CLASSES: u32 = 3;
/// An extended resource that no device plugin offers; a device class may.
const BACKED: Lane = Lane::new(Lane::FIRST_EXTENDED);

fn resources(cpu: i64, gpu: i64) -> Resources {
    [(Lane::CPU, cpu), (Lane::GPU, gpu)].into_iter().collect()
}

fn node() -> impl Strategy<Value = Delta> {
    (0..NODES, 1..5_u16, 4..40_i64, any::<bool>()).prop_map(|(id, gpus, cpu, blocked)| {
        let mut allocatable = resources(cpu * 1000, i64::from(gpus) * 1000);
        allocatable.add(Lane::PODS, 6);
        let label = Label { key: Symbol::new(1), value: Symbol::new(1), number: None };
        Delta::Node(
            NodeId::new(id),
            Box::new(Node {
                name: format!("node-{id}").into_bytes().into(),
                allocatable,
                gpus: Gpus { count: gpus, memory_mib: 16_000, memory_known: true },
                blocked: blocked.then_some(kai_engine::Blocked::NotReady),
                labels: (id % 2 == 1).then_some(label).into_iter().collect(),
                ..Node::default()
            }),
        )
    })
}

fn queue() -> impl Strategy<Value = Delta> {
    (0..QUEUES, prop::option::of(0..QUEUES), 0..4_i64, 0..6_i64, 90..110_i32).prop_map(
        |(id, parent, quota, limit, priority)| {
            let limit = if limit == 0 { Limit::UNLIMITED } else { Limit::of(limit * 2000) };
            Delta::Queue(
                QueueId::new(id),
                Box::new(Queue {
                    parent: parent.map(QueueId::new),
                    priority,
                    quota: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(quota * 1000)]),
                    limit: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, limit]),
                    weight_milli: PerLane::splat(1000),
                    uid: u128::from(id),
                    ..Queue::default()
                }),
            )
        },
    )
}

fn structure() -> impl Strategy<Value = Structure> {
    let sub_group =
        |name: u32, parent, min| SubGroup { name: Symbol::new(name), parent, min, topology: None };
    prop_oneof![
        3 => (0..4_u32).prop_map(|min| Structure::Flat { min, topology: None }),
        1 => (prop::option::of(0..3_u32), 0..3_u32, 0..3_u32).prop_map(move |(needed, one, two)| Structure::Tree {
            min: needed,
            topology: None,
            sub_groups: vec![
                sub_group(1, None, Min::Pods(one)),
                sub_group(2, Some(2), Min::Pods(two)),
                sub_group(3, None, Min::Members(None)),
            ],
        }),
        1 => Just(Structure::Malformed),
    ]
}

fn group() -> impl Strategy<Value = Delta> {
    (0..GROUPS, 0..QUEUES, 0..3_i32, any::<bool>(), structure()).prop_map(
        |(id, queue, priority, preemptible, structure)| {
            Delta::Group(
                GroupId::new(id),
                Box::new(Group {
                    queue: Some(QueueId::new(queue)),
                    priority: 50 + priority,
                    preemptible,
                    uid: u128::from(id),
                    structure,
                    ..Group::default()
                }),
            )
        },
    )
}

fn gpu() -> impl Strategy<Value = GpuRequest> {
    prop_oneof![
        Just(GpuRequest::None),
        (1..4_u16).prop_map(GpuRequest::Whole),
        (1..5_u32, 1..3_u16)
            .prop_map(|(part, devices)| GpuRequest::Fraction { micro: part * 250_000, devices }),
        (1..5_u32, 1..3_u16)
            .prop_map(|(part, devices)| GpuRequest::Memory { mib: part * 4000, devices }),
    ]
}

fn claims() -> impl Strategy<Value = Vec<ClaimId>> {
    let claim = (0..CLAIMS).prop_map(ClaimId::new);
    prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(claim, 1..2)]
}

/// Requests of a pod for extended resources and for NUMA zones.
fn extras() -> impl Strategy<Value = (i64, bool)> {
    (prop_oneof![5 => Just(0_i64), 1 => 1..3_i64], any::<bool>())
}

fn pod() -> impl Strategy<Value = Delta> {
    (0..PODS, 0..GROUPS, 0..3_u32, gpu(), 0..4_i64, 0..4_u32, claims(), extras(), wishes())
        .prop_map(|(id, group, sub_group, gpu, cpu, state, claims, (backed, aligned), wishes)| {
            let mut request = resources(cpu * 1000, 0);
            request.add(BACKED, backed);
            let zones = resources(cpu * 1000, 0);
            let alignment =
                Alignment { pod: zones.clone(), concurrent: vec![zones], serial: Vec::new() };
            let alignment = aligned.then(|| Box::new(alignment));
            let shape = Shape { request, gpu, alignment, ..Shape::default() };
            let shape = wishing(shape, wishes, id + sub_group);
            let state = match state {
                0 => PodState::Gated,
                1 => PodState::Succeeded,
                _ => PodState::Pending,
            };
            Delta::Pod(
                PodId::new(id),
                Box::new(Pod {
                    owner: Owner::Group(GroupId::new(group)),
                    sub_group: Symbol::new(sub_group),
                    shape,
                    state,
                    uid: u128::from(id),
                    namespace: Symbol::new(id % 2),
                    labels: vec![(Symbol::new(2), Symbol::new(id % 3))],
                    claims,
                    ..Pod::default()
                }),
            )
        })
}

/// A pod on a node that reserves a GPU, or shares one that may be reserved: it comes, leaves, and is told again elsewhere.
fn sharer() -> impl Strategy<Value = Delta> {
    let device = prop_oneof![6 => (0..4_u32).prop_map(Some), 1 => Just(None)];
    (0..SHARERS, 0..GROUPS, 0..NODES, device, 1..5_u32, 0..5_u8).prop_map(
        |(id, group, node, device, part, state)| {
            let devices: Box<[DeviceId]> =
                device.map(|device| DeviceId::new(node * 4 + device)).into_iter().collect();
            let place = Place { devices, ..Place::on(NodeId::new(node)) };
            let reserves = id % 2 == 0;
            let gpu = GpuRequest::Fraction { micro: part * 250_000, devices: 1 };
            let shape = Shape {
                request: resources(0, 0),
                gpu: if reserves { GpuRequest::Whole(1) } else { gpu },
                ..Shape::default()
            };
            let state = match state {
                0 => PodState::Bound(place),
                1 => PodState::Running(place),
                2 => PodState::Releasing(place),
                3 => PodState::Lingering(place),
                _ => PodState::Stuck(place),
            };
            let owner =
                if reserves { Owner::Reservation } else { Owner::Group(GroupId::new(group)) };
            let id = PODS + id;
            // Some were put on their nodes past the scheduler.
            let unplanned = id % 4 == 1;
            let pod = Pod { owner, shape, state, uid: u128::from(id), unplanned, ..Pod::default() };
            Delta::Pod(PodId::new(id), Box::new(pod))
        },
    )
}

/// News of pods that reserve and share, and of GPUs that are set aside.
fn sharing_news() -> impl Strategy<Value = Delta> {
    prop_oneof![
        6 => sharer(),
        2 => (0..SHARERS).prop_map(|id| Delta::PodGone(PodId::new(PODS + id))),
        1 => (0..NODES, 0..3_u16).prop_map(|(id, gpus)| Delta::SetAside(NodeId::new(id), gpus)),
    ]
}

/// A claim; those of odd numbers are of one pod each.
fn claim() -> impl Strategy<Value = Delta> {
    let count = prop_oneof![
        4 => (1..3_u32).prop_map(DeviceCount::Exactly),
        1 => (0..5_u32).prop_map(|most| DeviceCount::All { most })
    ];
    let given = prop::option::weighted(0.3, (0..NODES, 0..4_u32));
    (0..CLAIMS, 0..CLASSES, count, any::<bool>(), 0..QUEUES, given).prop_map(
        |(id, class, count, gpu, queue, given)| {
            let class = DeviceClassId::new(class);
            let allocation = given.map(|(node, device)| {
                // The last device is one of several nodes.
                let own = device < 3;
                let device = if own { node * 4 + device } else { 1000 + node % 3 };
                Allocation {
                    node: own.then_some(NodeId::new(node)),
                    devices: vec![(0, SliceDeviceId::new(device))],
                    ..Allocation::default()
                }
            });
            // Every third claim looks at devices whoever has them.
            let admin = id % 3 == 2;
            let claim = Claim {
                requests: vec![DeviceRequest {
                    class,
                    count,
                    instead: false,
                    gpu,
                    mixed: id % 4 == 3,
                    admin,
                }],
                own: id % 2 == 1,
                leaves: id % 3 == 1,
                queue: Some(QueueId::new(queue)),
                allocation,
                ..Claim::default()
            };
            Delta::Claim(ClaimId::new(id), Box::new(claim))
        },
    )
}

fn slices() -> impl Strategy<Value = Delta> {
    (0..NODES, 0..5_u32, 0..CLASSES, any::<bool>()).prop_map(|(node, count, class, gpu)| {
        let devices = (0..count).map(|number| device(node * 4, number, class, gpu));
        Delta::Slices(NodeId::new(node), devices.collect())
    })
}

/// A device; some draw from a counter, and some are shared by claims.
fn device(first: u32, number: u32, class: u32, gpu: bool) -> SliceDevice {
    let class = DeviceClassId::new((class + number) % CLASSES);
    let draws = [(CounterId::new(number % 2), 1 + i64::from(number))];
    let shares = Shares {
        capacity: Box::new([(Symbol::new(7), 5)]),
        taken: Box::new([(class, Box::new([2]))]),
    };
    SliceDevice {
        draws: if number == 0 { Box::default() } else { Box::new(draws) },
        shares: (number == 3).then(|| Box::new(shares)),
        binds: number == 2,
        ..SliceDevice::new(SliceDeviceId::new(first + number), gpu, Box::new([class]))
    }
}

/// Devices of several nodes: of all of them, or of those with a label.
fn reach() -> impl Strategy<Value = Delta> {
    (0..2_u32, 0..5_u32, 0..CLASSES, any::<bool>(), 0..3_u8).prop_map(
        |(id, count, class, gpu, within)| {
            // Some are named by both: they move from one to the other.
            let devices = (0..count).map(|number| device(1000 + id * 2, number, class, gpu));
            let term = |holds| vec![vec![Requirement { key: Symbol::new(1), holds }]];
            let reach = Reach {
                uid: u128::from(id),
                nodes: match within {
                    0 => Vec::new(),
                    1 => term(Holds::Exists),
                    _ => term(Holds::In(vec![Symbol::new(1)])),
                },
                devices: devices.collect(),
            };
            Delta::Reach(ReachId::new(id), Box::new(reach))
        },
    )
}

fn counter() -> impl Strategy<Value = Delta> {
    (0..2_u32, 0..8_i64).prop_map(|(id, amount)| Delta::Counter(CounterId::new(id), amount))
}

fn zones() -> impl Strategy<Value = Delta> {
    let policy = prop_oneof![
        Just(NumaPolicy::SingleNumaNode),
        Just(NumaPolicy::Restricted),
        Just(NumaPolicy::BestEffort)
    ];
    let zones = prop::collection::vec((1..8_i64).prop_map(|cpu| resources(cpu * 1000, 0)), 1..3);
    (0..NODES, prop::option::of((policy, zones))).prop_map(|(node, numa)| {
        let numa = numa
            .map(|(policy, zones)| Box::new(Numa { policy, scope: NumaScope::Container, zones }));
        Delta::Zones(NodeId::new(node), numa)
    })
}

fn device_class() -> impl Strategy<Value = Delta> {
    (0..CLASSES, any::<bool>()).prop_map(|(id, backs)| {
        // Two classes may not back one resource: which of them does is not the engine's to say.
        let backs = (backs && id == 0).then_some(BACKED);
        Delta::DeviceClass(DeviceClassId::new(id), DeviceClass { backs, ..DeviceClass::default() })
    })
}

fn device_news() -> impl Strategy<Value = Delta> {
    prop_oneof![
        6 => claim(),
        4 => slices(),
        2 => reach(),
        1 => counter(),
        3 => device_class(),
        2 => zones(),
        1 => any::<bool>().prop_map(Delta::ClaimsServed),
        1 => (0..CLAIMS).prop_map(|id| Delta::ClaimGone(ClaimId::new(id))),
        1 => (0..CLASSES).prop_map(|id| Delta::DeviceClassGone(DeviceClassId::new(id))),
    ]
}

fn news() -> impl Strategy<Value = Delta> {
    prop_oneof![
        4 => node(),
        3 => queue(),
        6 => group(),
        12 => pod(),
        8 => device_news(),
        1 => (0..NODES).prop_map(|id| Delta::NodeGone(NodeId::new(id))),
        1 => (0..QUEUES).prop_map(|id| Delta::QueueGone(QueueId::new(id))),
        1 => (0..GROUPS).prop_map(|id| Delta::GroupGone(GroupId::new(id))),
        2 => (0..PODS).prop_map(|id| Delta::PodGone(PodId::new(id))),
    ]
}

/// 64 cases, or a quarter of `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = default.cases / 4;
    ProptestConfig { cases, max_shrink_iters: 300, failure_persistence: None, ..default }
}

/// No amount of a node and no device is given out twice.
fn holds_no_more_than_there_is(cluster: &Cluster) {
    for id in 0..NODES {
        for lane in [Lane::CPU, Lane::GPU, Lane::PODS] {
            let (allocatable, idle) = cluster.node_amounts(NodeId::new(id), lane);
            assert!(allocatable == 0 || idle >= 0, "node {id} lane {lane:?}: idle {idle}");
        }
        assert!(cluster.devices_fit(NodeId::new(id)), "a device of node {id} is given out twice");
    }
}

fn placed(plan: &Plan) -> usize {
    plan.changes.iter().filter(|change| matches!(change, Change::Place { .. })).count()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn derived_columns_follow_the_facts(history in prop::collection::vec(news(), 1..80)) {
        let mut cluster = Cluster::default();
        for (at, delta) in history.into_iter().enumerate() {
            cluster.apply(delta);
            prop_assert_eq!(cluster.check(), Vec::<String>::new());
            if at % 5 == 0 {
                plan(&mut cluster, &Config::default(), Timestamp(0));
                prop_assert_eq!(cluster.check(), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn derived_columns_follow_reservations(
        history in prop::collection::vec(prop_oneof![2 => sharing_news(), 1 => news()], 1..80)
    ) {
        let mut cluster = Cluster::default();
        for (at, delta) in history.into_iter().enumerate() {
            cluster.apply(delta);
            prop_assert_eq!(cluster.check(), Vec::<String>::new());
            if at % 5 == 0 {
                plan(&mut cluster, &Config::default(), Timestamp(0));
                prop_assert_eq!(cluster.check(), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn a_second_telling_changes_nothing(history in prop::collection::vec(news(), 1..60)) {
        let mut cluster = Cluster::default();
        for delta in &history {
            cluster.apply(delta.clone());
        }
        plan(&mut cluster, &Config::default(), Timestamp(0));
        if let Some(delta) = history.last() {
            cluster.apply(delta.clone());
            let again = plan(&mut cluster, &Config::default(), Timestamp(0));
            prop_assert_eq!(placed(&again), 0);
        }
    }

    #[test]
    fn no_node_is_over_committed(objects in prop::collection::vec(news(), 1..80)) {
        let mut cluster = Cluster::default();
        for delta in objects {
            // A node that shrinks below what it holds is not the engine's doing.
            if !matches!(delta, Delta::Node(..) | Delta::NodeGone(_)) || cluster.node_of(PodId::new(0)).is_none() {
                cluster.apply(delta);
            }
        }
        plan(&mut cluster, &Config::default(), Timestamp(0));
        holds_no_more_than_there_is(&cluster);
    }
}

/// One of each object by id, told in this order.
fn told(objects: &[Delta]) -> (Cluster, Plan) {
    let mut cluster = Cluster::default();
    for delta in objects {
        cluster.apply(delta.clone());
    }
    let plan = plan(&mut cluster, &Config::default(), Timestamp(0));
    (cluster, plan)
}

fn id_of(delta: &Delta) -> (u8, u32) {
    use kai_engine::ids::Id;
    let (kind, row) = if let Delta::Node(id, _) = delta {
        (0, id.row())
    } else if let Delta::Queue(id, _) = delta {
        (1, id.row())
    } else if let Delta::Group(id, _) = delta {
        (2, id.row())
    } else if let Delta::Pod(id, _) = delta {
        (3, id.row())
    } else if let Delta::Claim(id, _) = delta {
        (4, id.row())
    } else if let Delta::Slices(id, _) = delta {
        (5, id.row())
    } else if let Delta::DeviceClass(id, _) = delta {
        (6, id.row())
    } else if let Delta::Zones(id, _) = delta {
        (7, id.row())
    } else if let Delta::Reach(id, _) = delta {
        (8, id.row())
    } else if let Delta::Counter(id, _) = delta {
        (9, id.row())
    } else {
        (10, 0)
    };
    (kind, u32::try_from(row).expect("small"))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn order_of_news_does_not_matter(objects in prop::collection::vec(news(), 1..60).prop_shuffle()) {
        let mut seen = std::collections::BTreeSet::new();
        let mut objects: Vec<Delta> =
            objects.into_iter().filter(|delta| id_of(delta).0 < 10 && seen.insert(id_of(delta))).collect();
        let (_, forth) = told(&objects);
        objects.reverse();
        let (_, back) = told(&objects);
        prop_assert_eq!(forth.changes, back.changes);
    }
}
