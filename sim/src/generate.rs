//! A random cluster, and random news of it, from a seed: the same seed gives the same world on every machine.
//!
//! A history is only made of what can happen: groups come, finish and are deleted, pods fail, nodes are cordoned and
//! lost, queues are edited; what runs was placed by the engine.

use kai_engine::{
    Blocked, Constraint, Delta, Effect, GPU_MILLI, Gpus, Group, Lane, Level, Limit, Min, Node,
    NodeId, Owner, PerLane, Plan, Pod, PodId, PodState, Queue, QueueId, QueueLane, Resources,
    Shape, Structure, SubGroup, Symbol, Taint, Timestamp, Toleration, Topology,
};

use crate::world::{Evicted, World};

mod group;

/// The distance of two states that follow each other.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers that can be split into independent ones.
#[derive(Clone, Debug)]
pub struct Seed(u64);

impl Seed {
    /// The stream of `number`.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// A stream of its own for `label`, whatever else is drawn from this one.
    #[must_use]
    pub fn split(&self, label: u64) -> Self {
        let mut seed = Self(self.0 ^ label.wrapping_mul(STEP));
        let mixed = seed.number();
        Self(mixed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        let number = self.nth(1);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    /// The number that comes after `n - 1` others, which are not drawn; by `SplitMix64`.
    pub const fn nth(&self, n: u64) -> u64 {
        let mut mixed = self.0.wrapping_add(n.wrapping_mul(STEP));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Tells whether one in `times` happens.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`, which are some.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let at = usize::try_from(self.below(choices.len() as u64)).expect("an index fits");
        &choices[at]
    }
}

/// Size of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// At most so many nodes.
    pub nodes: u64,
    /// At most so many leaf queues.
    pub queues: u64,
    /// At most so many pods in a group.
    pub gang: u64,
    /// True if groups have subgroups and topology constraints.
    pub structured: bool,
}

impl Size {
    /// A size that a property can run hundreds of times.
    pub const SMALL: Self = Self { nodes: 6, queues: 4, gang: 4, structured: true };
}

/// Label of a node's rack.
pub const RACK: &str = "rack";
/// Label of a node's pool; some pods select it.
pub const POOL: &str = "pool";
/// The one topology.
pub const TOPOLOGY: &str = "racks";

/// A cluster with nodes and queues, and no work yet.
pub fn cluster(seed: &Seed, size: Size) -> World {
    let mut world = World::default();
    let rack = world.names.symbol(RACK);
    let topology = world.names.topology(TOPOLOGY);
    world.tell(Delta::Topology(topology, Box::new(Topology { levels: vec![rack] })));
    let mut draw = seed.split(1);
    for number in 0..=draw.below(size.nodes) {
        let node = node(&mut world, &mut draw, number);
        let id = world.names.node(&format!("node-{number}"));
        world.tell(Delta::Node(id, Box::new(node)));
    }
    let mut draw = seed.split(2);
    queues(&mut world, &mut draw, size);
    world
}

fn node(world: &mut World, draw: &mut Seed, number: u64) -> Node {
    let gpus = *draw.pick(&[0_u16, 1, 2, 4, 4, 8]);
    let memory_mib = *draw.pick(&[16_000, 40_900, 80_000]);
    let labels = vec![
        world.label(RACK, &format!("rack-{}", draw.below(2))),
        world.label(POOL, &format!("pool-{}", draw.below(2))),
    ];
    let taint = Taint {
        key: world.names.symbol("dedicated"),
        value: Symbol::EMPTY,
        effect: Effect::NoSchedule,
    };
    Node {
        name: format!("node-{number}").into_bytes().into(),
        allocatable: Resources::from_iter([
            (Lane::CPU, *draw.pick(&[4000, 16_000, 64_000])),
            (Lane::MEMORY, *draw.pick(&[16 << 30, 64 << 30])),
            (Lane::GPU, i64::from(gpus) * GPU_MILLI),
            (Lane::PODS, *draw.pick(&[3, 110])),
        ]),
        gpus: Gpus { count: gpus, memory_mib, memory_known: !draw.one_in(8) },
        labels,
        taints: if draw.one_in(6) { vec![taint] } else { Vec::new() },
        blocked: draw.one_in(12).then_some(Blocked::Unschedulable),
        ..Node::default()
    }
}

fn queues(world: &mut World, draw: &mut Seed, size: Size) {
    let departments = 1 + draw.below(2);
    for number in 0..departments {
        let queue = queue(draw, number, None);
        let id = world.names.queue(&format!("department-{number}"));
        world.tell(Delta::Queue(id, Box::new(queue)));
    }
    for number in 0..=draw.below(size.queues) {
        let parent = world.names.queue(&format!("department-{}", draw.below(departments)));
        let queue = queue(draw, 100 + number, Some(parent));
        let id = world.names.queue(&format!("queue-{number}"));
        world.tell(Delta::Queue(id, Box::new(queue)));
    }
}

fn queue(draw: &mut Seed, number: u64, parent: Option<QueueId>) -> Queue {
    let gpus = |count: u64| Limit::of(i64::try_from(count).unwrap_or(0) * GPU_MILLI);
    let quota =
        if parent.is_none() || draw.one_in(5) { Limit::UNLIMITED } else { gpus(draw.below(5)) };
    let limit = if draw.one_in(4) { gpus(1 + draw.below(6)) } else { Limit::UNLIMITED };
    let mut queue = Queue {
        parent,
        priority: *draw.pick(&[100, 100, 100, 200]),
        quota: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, quota]),
        limit: PerLane([Limit::UNLIMITED, Limit::UNLIMITED, limit]),
        weight_milli: PerLane([1000, 1000, *draw.pick(&[0, 1000, 1000, 3000])]),
        created: Timestamp(i64::try_from(number).unwrap_or(0)),
        uid: u128::from(number),
        ..Queue::default()
    };
    if draw.one_in(6) {
        queue.reclaim_min_runtime = Some(5000);
        queue.preempt_min_runtime = Some(5000);
    }
    queue
}

/// A world after a history: again and again something happens, and a plan is made and carried out.
///
/// `watch` sees the world as it was before each plan, as it is after it, and the plan, before that is carried out.
///
/// # Errors
///
/// Those of `watch`, with which the history ends.
pub fn history<E>(
    seed: &Seed,
    size: Size,
    steps: u64,
    mut watch: impl FnMut(&World, &World, &Plan) -> Result<(), E>,
) -> Result<World, E> {
    let mut world = cluster(seed, size);
    for step in 0..steps {
        let mut draw = seed.split(100 + step);
        for _ in 0..=draw.below(3) {
            happen(&mut world, &mut draw, size);
        }
        let before = world.clone();
        let plan = world.plan();
        let before = World { names: world.names.clone(), ..before };
        watch(&before, &world, &plan)?;
        world.carry_out(&plan, Evicted::Recreated);
    }
    Ok(world)
}

/// Something happens: a group comes more often than anything else.
pub fn happen(world: &mut World, draw: &mut Seed, size: Size) {
    match draw.below(12) {
        0..=6 => group::come(world, draw, size),
        7 => finish(world, draw),
        8 => fail(world, draw),
        9 => edit_node(world, draw),
        10 => edit_queue(world, draw),
        _ => delete_group(world, draw),
    }
}

/// A random key of `ids`.
fn any<T: Copy>(ids: impl Iterator<Item = T>, draw: &mut Seed) -> Option<T> {
    let ids: Vec<T> = ids.collect();
    (!ids.is_empty()).then(|| *draw.pick(&ids))
}

/// All pods of a running group end well.
fn finish(world: &mut World, draw: &mut Seed) {
    let Some(group) = any(world.facts.groups.keys().copied(), draw) else { return };
    let pods: Vec<(PodId, Pod)> = world
        .facts
        .pods
        .iter()
        .filter(|(_, pod)| {
            pod.owner == Owner::Group(group) && matches!(pod.state, PodState::Running(_))
        })
        .map(|(id, pod)| (*id, pod.clone()))
        .collect();
    for (id, mut pod) in pods {
        pod.state = PodState::Succeeded;
        world.tell(Delta::Pod(id, Box::new(pod)));
    }
}

/// One pod is gone, wherever it was.
fn fail(world: &mut World, draw: &mut Seed) {
    if let Some(pod) = any(world.facts.pods.keys().copied(), draw) {
        world.tell(Delta::PodGone(pod));
    }
}

/// A node is cordoned, or opened again.
fn edit_node(world: &mut World, draw: &mut Seed) {
    let Some(node) = any(world.facts.nodes.keys().copied(), draw) else { return };
    let mut facts = world.facts.nodes[&node].clone();
    facts.blocked = match facts.blocked {
        Some(_) => None,
        None => Some(*draw.pick(&[Blocked::Unschedulable, Blocked::NotReady])),
    };
    world.tell(Delta::Node(node, Box::new(facts)));
    // Drawn from a stream of its own, so that all else happens as it does without it.
    let mut own = draw.split(1);
    if own.one_in(2) {
        let gpus = u16::try_from(own.below(3)).unwrap_or(0);
        world.tell(Delta::SetAside(node, gpus));
    }
}

fn edit_queue(world: &mut World, draw: &mut Seed) {
    let Some(queue) = any(world.facts.queues.keys().copied(), draw) else { return };
    let mut facts = world.facts.queues[&queue].clone();
    facts.quota[QueueLane::Gpu] = Limit::of(i64::try_from(draw.below(6)).unwrap_or(0) * GPU_MILLI);
    world.tell(Delta::Queue(queue, Box::new(facts)));
}

fn delete_group(world: &mut World, draw: &mut Seed) {
    let Some(group) = any(world.facts.groups.keys().copied(), draw) else { return };
    let pods: Vec<PodId> = world
        .facts
        .pods
        .iter()
        .filter(|(_, pod)| pod.owner == Owner::Group(group))
        .map(|(id, _)| *id)
        .collect();
    for pod in pods {
        world.tell(Delta::PodGone(pod));
    }
    world.tell(Delta::GroupGone(group));
}
