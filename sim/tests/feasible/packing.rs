//! Rooms and pods as plain numbers, an exhaustive placer of the ones in the others, and worlds that are made of them.

use kai_engine::{
    Constraint, Delta, GPU_MILLI, GpuRequest, Gpus, Group, Holds, Lane, Level, Limit, Node, Owner,
    PerLane, Pod, PodTerm, Queue, QueueId, Requirement, Resources, Shape, Structure, Topology,
};
use kai_sim::{generate::Seed, world::World};

/// At most so many nodes and pods.
pub(crate) const NODES_MAX: u64 = 4;
pub(crate) const PODS_MAX: u64 = 6;

const MEMORY_MIB: u32 = 10_000;

/// Free room of a node.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) pool: u64,
    pub(crate) rack: u64,
    pub(crate) cores_milli: i64,
    /// Thousandths free on each GPU.
    pub(crate) gpus_milli: Vec<i64>,
}

/// Request of a pod of a gang.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ask {
    pub(crate) cores_milli: i64,
    pub(crate) gpu: Gpu,
    /// The pool it selects.
    pub(crate) pool: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gpu {
    None,
    Whole(u16),
    /// Thousandths of each of so many GPUs.
    Part(i64, u16),
}

/// Condition on the places of a gang's pods with regard to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Company {
    Any,
    /// Each on a node of its own.
    Apart,
    /// Each in a rack of its own.
    RacksApart,
    /// All in one rack.
    Together,
}

impl Company {
    /// Tells whether a pod may be on `node` beside the others.
    fn admits(self, rooms: &[Room], others: &[usize], node: usize) -> bool {
        others.iter().all(|other| match self {
            Self::Any => true,
            Self::Apart => *other != node,
            Self::RacksApart => rooms[*other].rack != rooms[node].rack,
            Self::Together => rooms[*other].rack == rooms[node].rack,
        })
    }
}

/// Tells whether a gang fits, and others beside it, to whom the gang's company is nothing: tries every way.
pub(crate) fn fits(rooms: &[Room], asks: &[Ask], company: Company, others: &[Ask]) -> bool {
    let all: Vec<Ask> = asks.iter().chain(others).copied().collect();
    Packing { asks: &all, company, gang: asks.len() }.place(&mut rooms.to_vec(), &mut Vec::new())
}

/// Pods to place, the first of which are a gang.
struct Packing<'a> {
    asks: &'a [Ask],
    company: Company,
    /// Number of pods of the gang.
    gang: usize,
}

impl Packing<'_> {
    /// Places the pods from `taken.len()` on beside those that took nodes already; says whether it could.
    fn place(&self, rooms: &mut [Room], taken: &mut Vec<usize>) -> bool {
        let Some(ask) = self.asks.get(taken.len()) else { return true };
        for node in 0..rooms.len() {
            let selected = ask.pool.is_none_or(|pool| rooms[node].pool == pool);
            let admitted = taken.len() >= self.gang || self.company.admits(rooms, taken, node);
            if !selected || !admitted {
                continue;
            }
            let before = rooms[node].clone();
            for after in taking(&before, *ask) {
                rooms[node] = after;
                taken.push(node);
                if self.place(rooms, taken) {
                    return true;
                }
                taken.pop();
            }
            rooms[node] = before;
        }
        false
    }
}

/// The ways to take a pod's room of a node: for parts of GPUs, every choice of devices.
pub(crate) fn taking(room: &Room, ask: Ask) -> Vec<Room> {
    let mut room = room.clone();
    room.cores_milli -= ask.cores_milli;
    if room.cores_milli < 0 {
        return Vec::new();
    }
    let (milli, count) = match ask.gpu {
        Gpu::None => return vec![room],
        Gpu::Whole(count) => (GPU_MILLI, count),
        Gpu::Part(milli, devices) => (milli, devices),
    };
    let mut ways = Vec::new();
    choose(&room, milli, count, 0, &mut ways);
    ways
}

/// Takes so much of each of `count` devices from one on, in every way.
fn choose(room: &Room, milli: i64, count: u16, from: usize, ways: &mut Vec<Room>) {
    if count == 0 {
        ways.push(room.clone());
        return;
    }
    for gpu in from..room.gpus_milli.len() {
        if room.gpus_milli[gpu] >= milli {
            let mut room = room.clone();
            room.gpus_milli[gpu] -= milli;
            choose(&room, milli, count - 1, gpu + 1, ways);
        }
    }
}

/// A world with nodes, and as much room as they have.
pub(crate) fn cluster(draw: &mut Seed) -> (World, Vec<Room>) {
    let mut world = World::default();
    let rack = world.names.symbol("rack");
    let topology = world.names.topology("racks");
    world.tell(Delta::Topology(topology, Box::new(Topology { levels: vec![rack] })));
    let mut rooms = Vec::new();
    for number in 0..=draw.below(NODES_MAX) {
        let gpus = *draw.pick(&[0_u16, 1, 2, 3, 4]);
        let room = Room {
            pool: draw.below(2),
            rack: draw.below(2),
            cores_milli: *draw.pick(&[1000, 2000, 4000, 8000]),
            gpus_milli: vec![GPU_MILLI; usize::from(gpus)],
        };
        let id = world.names.node(&format!("node-{number}"));
        let node = node(&mut world, number, &room);
        world.tell(Delta::Node(id, Box::new(node)));
        rooms.push(room);
    }
    (world, rooms)
}

/// A queue without a limit that is entitled to so many GPUs.
pub(crate) fn queue(world: &mut World, name: &str, gpus: Limit) -> QueueId {
    let queue = world.names.queue(name);
    let everything = PerLane::splat(Limit::UNLIMITED);
    let facts = Queue {
        quota: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, gpus]),
        limit: everything,
        weight_milli: PerLane::splat(1000),
        uid: u128::from(name.len() as u64),
        ..Queue::default()
    };
    world.tell(Delta::Queue(queue, Box::new(facts)));
    queue
}

fn node(world: &mut World, number: u64, room: &Room) -> Node {
    let name = format!("node-{number}");
    let labels = vec![
        world.label("pool", &room.pool.to_string()),
        world.label("rack", &room.rack.to_string()),
        world.label("host", &name),
    ];
    let count = u16::try_from(room.gpus_milli.len()).expect("it is small");
    Node {
        name: name.into_bytes().into(),
        allocatable: Resources::from_iter([
            (Lane::CPU, room.cores_milli),
            (Lane::GPU, i64::from(count) * GPU_MILLI),
            (Lane::PODS, 110),
        ]),
        gpus: Gpus { count, memory_mib: MEMORY_MIB, memory_known: true },
        labels,
        ..Node::default()
    }
}

/// Draws what each of so many pods asks for: the same, or for each something else.
pub(crate) fn asks(draw: &mut Seed, pods: u64, alike: bool) -> Vec<Ask> {
    let one = |draw: &mut Seed| Ask {
        cores_milli: *draw.pick(&[500, 1000, 3000]),
        gpu: match draw.below(4) {
            0 => Gpu::None,
            1 => Gpu::Whole(*draw.pick(&[1, 1, 2, 3])),
            2 => Gpu::Part(*draw.pick(&[200, 300, 500, 700]), 1),
            _ => Gpu::Part(*draw.pick(&[300, 500]), 2),
        },
        pool: draw.one_in(4).then(|| draw.below(2)),
    };
    if alike {
        return vec![one(draw); usize::try_from(pods).expect("it is small")];
    }
    (0..pods).map(|_| one(draw)).collect()
}

pub(crate) fn shape(world: &mut World, ask: &Ask, company: Company) -> Shape {
    let gpu = match ask.gpu {
        Gpu::None => GpuRequest::None,
        Gpu::Whole(count) => GpuRequest::Whole(count),
        Gpu::Part(milli, devices) => GpuRequest::Fraction {
            micro: u32::try_from(milli * 1000).expect("it is small"),
            devices,
        },
    };
    let names = &mut world.names;
    let selector = ask.pool.map(|pool| (names.symbol("pool"), names.symbol(&pool.to_string())));
    let mut apart = |key: &str| {
        let holds = Holds::In(vec![names.symbol("gang")]);
        PodTerm {
            topology_key: names.symbol(key),
            namespaces: vec![names.symbol("default")],
            namespace_selector: None,
            selector: vec![Requirement { key: names.symbol("app"), holds }],
        }
    };
    Shape {
        request: Resources::from_iter([(Lane::CPU, ask.cores_milli)]),
        gpu,
        node_selector: selector.into_iter().collect(),
        pod_anti_affinity: match company {
            Company::Apart => vec![apart("host")],
            Company::RacksApart => vec![apart("rack")],
            Company::Any | Company::Together => Vec::new(),
        },
        ..Shape::default()
    }
}

/// A gang that waits, with what else is to be said of it.
pub(crate) fn wait(world: &mut World, asks: &[Ask], company: Company, facts: &Group) {
    let group = world.names.group("gang");
    let min = u32::try_from(asks.len()).expect("it is small");
    let level = Level(world.names.symbol("rack"));
    let topology = (company == Company::Together).then(|| Constraint {
        topology: world.names.topology("racks"),
        required: Some(level),
        preferred: None,
    });
    world.tell(Delta::Group(
        group,
        Box::new(Group { structure: Structure::Flat { min, topology }, ..facts.clone() }),
    ));
    for (index, ask) in (0..).zip(asks) {
        let id = world.names.pod(&format!("pod-{index}"));
        let shape = shape(world, ask, company);
        let pod = Pod {
            owner: Owner::Group(group),
            shape,
            uid: index,
            namespace: world.names.symbol("default"),
            labels: vec![(world.names.symbol("app"), world.names.symbol("gang"))],
            ..Pod::default()
        };
        world.tell(Delta::Pod(id, Box::new(pod)));
    }
}
