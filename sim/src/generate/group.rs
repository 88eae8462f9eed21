//! Random pod groups.

use kai_engine::GpuRequest;

use super::{
    Constraint, Delta, Group, Lane, Level, Min, NodeId, Owner, POOL, Pod, PodState, RACK,
    Resources, Seed, Shape, Size, Structure, SubGroup, Symbol, TOPOLOGY, Toleration, World,
};

/// A new group with all its pods.
pub(super) fn come(world: &mut World, draw: &mut Seed, size: Size) {
    let leaves: Vec<_> = world
        .facts
        .queues
        .iter()
        .filter(|(_, queue)| queue.parent.is_some())
        .map(|(id, _)| *id)
        .collect();
    let queue = *draw.pick(&leaves);
    let number = world.names.groups();
    let name = format!("group-{number}");
    let group = world.names.group(&name);
    let pods = 1 + draw.below(size.gang);
    let priority = *draw.pick(&[50, 50, 50, 75, 100, 125]);
    let (structure, sub_groups) = structure(world, draw, pods, size);
    let facts = Group {
        queue: Some(queue),
        priority,
        preemptible: if draw.one_in(8) { draw.one_in(2) } else { priority < 100 },
        created: world.now,
        uid: number as u128,
        structure,
        preemption_delay: if draw.one_in(10) { 5000 } else { 0 },
        ..Group::default()
    };
    world.tell(Delta::Group(group, Box::new(facts)));
    let shape = shape(world, draw);
    for index in 0..pods {
        let id = world.names.pod(&format!("{name}-{index}"));
        let sub_group =
            sub_groups.get(usize::try_from(index).unwrap_or(0) % sub_groups.len().max(1));
        let pod = Pod {
            owner: Owner::Group(group),
            sub_group: sub_group.copied().unwrap_or(Symbol::EMPTY),
            shape: shape.clone(),
            state: if draw.one_in(20) { PodState::Gated } else { PodState::Pending },
            created: world.now,
            uid: (number as u128) << 32 | u128::from(index),
            nominated: None::<NodeId>,
            namespace: world.names.symbol("default"),
            ..Pod::default()
        };
        world.tell(Delta::Pod(id, Box::new(pod)));
    }
}

/// Flat mostly, else two subgroups.
fn structure(
    world: &mut World,
    draw: &mut Seed,
    pods: u64,
    size: Size,
) -> (Structure, Vec<Symbol>) {
    let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let topology = (size.structured && draw.one_in(6)).then(|| {
        let level = Level(world.names.symbol(RACK));
        let required = draw.one_in(2);
        Constraint {
            topology: world.names.topology(TOPOLOGY),
            required: required.then_some(level),
            preferred: (!required).then_some(level),
        }
    });
    if !size.structured || pods < 2 || !draw.one_in(4) {
        let min = if draw.one_in(3) { 1 + draw.below(pods) } else { pods };
        return (Structure::Flat { min: count(min), topology }, Vec::new());
    }
    let names = [world.names.symbol("left"), world.names.symbol("right")];
    let sub_groups = names
        .into_iter()
        .map(|name| SubGroup {
            name,
            parent: None,
            min: Min::Pods(count(draw.below(pods / 2 + 1))),
            topology: None,
        })
        .collect();
    let min = draw.one_in(3).then_some(1);
    (Structure::Tree { min, topology, sub_groups }, names.to_vec())
}

fn shape(world: &mut World, draw: &mut Seed) -> Shape {
    let gpu = match draw.below(10) {
        0 | 1 => GpuRequest::None,
        2..=5 => GpuRequest::Whole(*draw.pick(&[1, 1, 2, 4])),
        6 | 7 => {
            GpuRequest::Fraction { micro: *draw.pick(&[250_000, 500_000, 700_000]), devices: 1 }
        }
        8 => GpuRequest::Fraction { micro: 500_000, devices: 2 },
        _ => GpuRequest::Memory { mib: *draw.pick(&[4000, 8000, 20_000]), devices: 1 },
    };
    let node_selector = if draw.one_in(6) {
        vec![(world.names.symbol(POOL), world.names.symbol("pool-0"))]
    } else {
        Vec::new()
    };
    let tolerations = if draw.one_in(3) {
        vec![Toleration { key: Some(world.names.symbol("dedicated")), value: None, effect: None }]
    } else {
        Vec::new()
    };
    Shape {
        request: Resources::from_iter([
            (Lane::CPU, *draw.pick(&[100, 1000, 4000])),
            (Lane::MEMORY, *draw.pick(&[1 << 28, 1 << 30, 8 << 30])),
        ]),
        gpu,
        node_selector,
        tolerations,
        ..Shape::default()
    }
}
