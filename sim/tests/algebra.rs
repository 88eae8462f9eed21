//! Changes that must change nothing: D1, D2 and D4 of the invariants.
//!
//! That objects of another node pool change nothing is the adapter's to see to: `scheduler/tests/ingest/pool.yaml`.

use std::convert::Infallible;

use kai_engine::{
    Constraint, Delta, GpuRequest, Group, GroupId, Label, Lane, Level, Node, NodeId, Owner, Place,
    Plan, Pod, PodId, PodState, Queue, QueueId, Resources, Shape, Structure, SubGroup, Symbol,
    Taint, Toleration, Topology,
};
use kai_sim::{
    generate::{Seed, Size, history},
    names::Names,
    render,
    world::{Facts, World},
};
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

/// Steps of a history.
const STEPS: u64 = 12;

fn config() -> Config {
    let persistence = FileFailurePersistence::Direct("tests/regressions/algebra.txt");
    Config {
        cases: Config::default().cases / 4,
        // A smaller seed is no smaller history.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(persistence)),
        ..Config::default()
    }
}

/// A world after some history in which something happened that no plan has answered yet.
fn live(seed: u64) -> World {
    let seed = Seed::new(seed);
    let lived = history(&seed, Size::SMALL, STEPS, |_, _, _| Ok::<(), Infallible>(()));
    let Ok(mut world) = lived;
    let mut draw = seed.split(99);
    for _ in 0..3 {
        kai_sim::generate::happen(&mut world, &mut draw, Size::SMALL);
    }
    world
}

/// The changes of the next plan as text.
fn next(world: &mut World) -> String {
    let plan: Plan = world.plan();
    render::text(&plan.changes, std::iter::empty(), &world.names)
}

/// The same plan without the numbers that the simulator gives to GPUs.
fn without_devices(plan: &str) -> String {
    let word = |word: &str| word.split_once('/').map_or(word, |(node, _)| node).to_owned();
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    plan.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// In random order.
fn shuffled(mut deltas: Vec<Delta>, draw: &mut Seed) -> Vec<Delta> {
    for at in (1..deltas.len()).rev() {
        let other = usize::try_from(draw.below(at as u64 + 1)).expect("an index fits");
        deltas.swap(at, other);
    }
    deltas
}

/// Gives everything another number, under the same name.
struct Renumbering<'a> {
    old: &'a Names,
    new: Names,
}

impl<'a> Renumbering<'a> {
    /// The last known gets the first number.
    fn reversing(old: &'a Names, facts: &Facts) -> Self {
        let mut this = Self { old, new: Names::default() };
        for node in facts.nodes.keys().rev() {
            this.node(*node);
        }
        for queue in facts.queues.keys().rev() {
            this.queue(*queue);
        }
        for group in facts.groups.keys().rev() {
            this.group(*group);
        }
        for pod in facts.pods.keys().rev() {
            this.pod(*pod);
        }
        this
    }

    fn node(&mut self, node: NodeId) -> NodeId {
        self.new.node(self.old.of_node(node))
    }

    fn queue(&mut self, queue: QueueId) -> QueueId {
        self.new.queue(self.old.of_queue(queue))
    }

    fn group(&mut self, group: GroupId) -> GroupId {
        self.new.group(self.old.of_group(group))
    }

    fn pod(&mut self, pod: PodId) -> PodId {
        self.new.pod(self.old.of_pod(pod))
    }

    fn symbol(&mut self, symbol: Symbol) -> Symbol {
        self.new.symbol(self.old.of_symbol(symbol))
    }

    fn place(&mut self, place: &Place) -> Place {
        let node = self.node(place.node);
        let devices =
            place.devices.iter().map(|device| self.new.device(self.old.of_device(*device)));
        Place { node, devices: devices.collect(), reserved: None }
    }

    fn state(&mut self, state: &PodState) -> PodState {
        match state {
            PodState::Bound(place) => PodState::Bound(self.place(place)),
            PodState::Running(place) => PodState::Running(self.place(place)),
            PodState::Releasing(place) => PodState::Releasing(self.place(place)),
            PodState::Lingering(place) => PodState::Lingering(self.place(place)),
            PodState::Stuck(place) => PodState::Stuck(self.place(place)),
            PodState::Gated | PodState::Pending | PodState::Succeeded | PodState::Failed => {
                state.clone()
            }
        }
    }

    fn constraint(&mut self, constraint: Option<Constraint>) -> Option<Constraint> {
        let Constraint { topology, required, preferred } = constraint?;
        let topology = self.new.topology(self.old.of_topology(topology));
        let mut level = |level: Option<Level>| Some(Level(self.symbol(level?.0)));
        Some(Constraint { topology, required: level(required), preferred: level(preferred) })
    }

    fn structure(&mut self, structure: Structure) -> Structure {
        match structure {
            Structure::Flat { min, topology } => {
                Structure::Flat { min, topology: self.constraint(topology) }
            }
            Structure::Tree { min, topology, sub_groups } => {
                let topology = self.constraint(topology);
                let sub_groups = sub_groups.into_iter().map(|one| SubGroup {
                    name: self.symbol(one.name),
                    topology: self.constraint(one.topology),
                    ..one
                });
                Structure::Tree { min, topology, sub_groups: sub_groups.collect() }
            }
            Structure::Malformed => Structure::Malformed,
        }
    }

    fn shape(&mut self, shape: Shape) -> Shape {
        let selector = shape.node_selector.iter();
        let node_selector = selector.map(|(key, value)| (self.symbol(*key), self.symbol(*value)));
        let node_selector = node_selector.collect();
        let tolerations = shape.tolerations.iter().map(|one| Toleration {
            key: one.key.map(|key| self.symbol(key)),
            value: one.value.map(|value| self.symbol(value)),
            effect: one.effect,
        });
        Shape { node_selector, tolerations: tolerations.collect(), ..shape }
    }

    /// Renames the ids of a piece of news, of each kind that the generator makes.
    fn delta(&mut self, delta: Delta) -> Option<Delta> {
        Some(match delta {
            Delta::Node(id, node) => {
                let labels = node.labels.iter().map(|label| Label {
                    key: self.symbol(label.key),
                    value: self.symbol(label.value),
                    number: label.number,
                });
                let labels = labels.collect();
                let taints = node.taints.iter().map(|taint| Taint {
                    key: self.symbol(taint.key),
                    value: self.symbol(taint.value),
                    effect: taint.effect,
                });
                let node = Node { labels, taints: taints.collect(), ..*node };
                Delta::Node(self.node(id), Box::new(node))
            }
            Delta::Queue(id, queue) => {
                let parent = queue.parent.map(|parent| self.queue(parent));
                Delta::Queue(self.queue(id), Box::new(Queue { parent, ..*queue }))
            }
            Delta::Group(id, group) => {
                let queue = group.queue.map(|queue| self.queue(queue));
                let structure = self.structure(group.structure.clone());
                Delta::Group(self.group(id), Box::new(Group { queue, structure, ..*group }))
            }
            Delta::Pod(id, pod) => {
                let owner = match pod.owner {
                    Owner::Group(group) => Owner::Group(self.group(group)),
                    Owner::Foreign | Owner::Reservation => pod.owner,
                };
                let sub_group = self.symbol(pod.sub_group);
                let shape = self.shape(pod.shape.clone());
                let state = self.state(&pod.state);
                let namespace = self.symbol(pod.namespace);
                let pod = Pod { owner, sub_group, shape, state, namespace, ..*pod };
                Delta::Pod(self.pod(id), Box::new(pod))
            }
            Delta::Topology(id, topology) => {
                let levels = topology.levels.iter().map(|level| self.symbol(*level)).collect();
                let id = self.new.topology(self.old.of_topology(id));
                Delta::Topology(id, Box::new(Topology { levels }))
            }
            Delta::Spelling(value, text) => Delta::Spelling(self.symbol(value), text),
            Delta::SetAside(id, gpus) => Delta::SetAside(self.node(id), gpus),
            Delta::TopologyGone(_)
            | Delta::NodeGone(_)
            | Delta::QueueGone(_)
            | Delta::GroupGone(_)
            | Delta::PodGone(_)
            | Delta::Budget(..)
            | Delta::NamespaceSelector(..)
            | Delta::BudgetGone(_)
            | Delta::Claim(..)
            | Delta::ClaimsServed(_)
            | Delta::ClaimGone(_)
            | Delta::DeviceClass(..)
            | Delta::DeviceClassGone(_)
            | Delta::Slices(..)
            | Delta::Reach(..)
            | Delta::Counter(..)
            | Delta::Zones(..)
            | Delta::Lane(..)
            | Delta::Bound(_)
            | Delta::BindFailed(_)
            | Delta::Evicted(_)
            | Delta::EvictFailed(_)
            | Delta::EvictWithdrawn(_) => return None,
        })
    }
}

/// The same world with so many times the CPU, the memory and the GPU memory, of nodes and of pods.
///
/// GPUs are not multiplied: shares of them are divided in whole ones.
fn multiplied(mut delta: Delta, by: i64) -> Delta {
    let times = |amounts: &Resources| -> Resources {
        let amount = |(lane, amount): (Lane, i64)| match lane {
            Lane::CPU | Lane::MEMORY => (lane, amount * by),
            _ => (lane, amount),
        };
        amounts.iter().map(amount).collect()
    };
    let by = u32::try_from(by).expect("it is small");
    if let Delta::Node(_, node) = &mut delta {
        node.allocatable = times(&node.allocatable);
        node.gpus.memory_mib *= by;
    } else if let Delta::Pod(_, pod) = &mut delta {
        pod.shape.request = times(&pod.shape.request);
        if let GpuRequest::Memory { mib, .. } = &mut pod.shape.gpu {
            *mib *= by;
        }
    }
    delta
}

/// Adds a group that no node can ever take.
fn with_a_hopeless_group(world: &World) -> World {
    let mut with = world.clone();
    let leaf = world.facts.queues.iter().find(|(_, queue)| queue.parent.is_some());
    let queue = *leaf.expect("there is a leaf").0;
    let group = with.names.group("hopeless");
    let pod = with.names.pod("hopeless");
    let nowhere = vec![(with.names.symbol("pool"), with.names.symbol("nowhere"))];
    let facts = Group {
        queue: Some(queue),
        priority: 50,
        preemptible: true,
        created: with.now,
        uid: u128::MAX,
        ..Group::default()
    };
    with.tell(Delta::Group(group, Box::new(facts)));
    // It asks for nothing that fair shares count, so that only its being there could matter.
    let shape = Shape { node_selector: nowhere, ..Shape::default() };
    let facts = Pod { owner: Owner::Group(group), shape, uid: u128::MAX, ..Pod::default() };
    with.tell(Delta::Pod(pod, Box::new(facts)));
    with
}

fn check_other_numbers(seed: u64) -> Result<(), TestCaseError> {
    let mut world = live(seed).restarted();
    let mut renumbering = Renumbering::reversing(&world.names, &world.facts);
    let deltas = world.facts.deltas().into_iter().rev();
    let deltas: Vec<Delta> = deltas.filter_map(|delta| renumbering.delta(delta)).collect();
    let names = renumbering.new;
    let mut other = World { now: world.now, names, ..World::default() };
    for delta in deltas {
        other.tell(delta);
    }
    prop_assert_eq!(without_devices(&next(&mut world)), without_devices(&next(&mut other)));
    Ok(())
}

/// Among GPUs of which as much is held, no number decides which of them is shared either.
#[test]
fn gpus_that_are_shared_alike_are_told_apart_by_their_pods() -> Result<(), TestCaseError> {
    [8_246_463_990_303_216_967, 6_336_285_699_338_765_884]
        .into_iter()
        .try_for_each(check_other_numbers)
}

proptest! {
    #![proptest_config(config())]

    /// D1: the order in which facts are told decides nothing.
    #[test]
    fn the_order_of_news_decides_nothing(seed: u64) {
        let mut world = live(seed).restarted();
        let deltas = shuffled(world.facts.deltas(), &mut Seed::new(seed).split(7));
        let mut other = world.retold(deltas);
        prop_assert_eq!(other.cluster.check(), Vec::<String>::new());
        prop_assert_eq!(next(&mut world), next(&mut other));
    }

    /// D2: news that are told twice change nothing, whether a plan was made in between or not.
    #[test]
    fn news_told_twice_change_nothing(seed: u64) {
        let mut world = live(seed);
        let mut twice = world.clone();
        for again in 0..2 {
            let draw = &mut Seed::new(seed).split(again);
            for delta in shuffled(world.facts.deltas(), draw) {
                twice.cluster.apply(delta);
            }
            prop_assert_eq!(twice.cluster.check(), Vec::<String>::new());
            prop_assert_eq!(next(&mut world), next(&mut twice));
        }
    }

    /// D4: numbers of things decide nothing, only their names, ages and UIDs.
    #[test]
    fn other_numbers_decide_the_same(seed: u64) {
        check_other_numbers(seed)?;
    }

    /// D4: so many times as much on both sides decides the same.
    #[test]
    fn multiples_decide_the_same(seed: u64, by in 2..9_i64) {
        let mut world = live(seed).restarted();
        let deltas: Vec<Delta> =
            world.facts.deltas().into_iter().map(|delta| multiplied(delta, by)).collect();
        let mut other = World { now: world.now, names: world.names.clone(), ..World::default() };
        for delta in deltas {
            other.tell(delta);
        }
        prop_assert_eq!(next(&mut world), next(&mut other));
    }

    /// D4: a group that no node can ever take changes nothing for others.
    #[test]
    fn a_hopeless_group_changes_nothing(seed: u64) {
        let mut world = live(seed);
        let mut with = with_a_hopeless_group(&world);
        prop_assert_eq!(next(&mut world), next(&mut with));
    }
}
