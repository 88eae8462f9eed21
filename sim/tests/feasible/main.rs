//! The engine against an exhaustive placer, on clusters that one can be exhaustive on: what can be placed is placed.

use kai_engine::{
    Change, Delta, GPU_MILLI, GpuRequest, Gpus, Group, Lane, Limit, Node, Owner, PerLane, Pod,
    Queue, Resources, Shape, Structure,
};
use kai_sim::{generate::Seed, world::World};
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

/// At most so many nodes and pods.
const NODES_MAX: u64 = 4;
const PODS_MAX: u64 = 6;

/// Free room of a node.
#[derive(Clone, Debug)]
struct Room {
    cores_milli: i64,
    /// Thousandths free on each GPU.
    gpus_milli: Vec<i64>,
}

/// What each pod of a gang asks for.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Cores(i64),
    Whole(u16),
    Part(i64),
}

/// Whether all of `pods` equal pods fit: tries every way.
fn fits(rooms: &mut [Room], ask: Ask, pods: u64) -> bool {
    if pods == 0 {
        return true;
    }
    for node in 0..rooms.len() {
        let before = rooms[node].clone();
        if take(&mut rooms[node], ask) {
            if fits(rooms, ask, pods - 1) {
                return true;
            }
            rooms[node] = before;
        }
    }
    false
}

/// Takes one pod's room of a node; equal pods may as well take the first device with room.
fn take(room: &mut Room, ask: Ask) -> bool {
    let cores = match ask {
        Ask::Cores(milli) => milli,
        Ask::Whole(_) | Ask::Part(_) => 1000,
    };
    if room.cores_milli < cores {
        return false;
    }
    room.cores_milli -= cores;
    match ask {
        Ask::Cores(_) => true,
        Ask::Whole(count) => {
            let free: Vec<usize> = (0..room.gpus_milli.len())
                .filter(|gpu| room.gpus_milli[*gpu] == GPU_MILLI)
                .collect();
            for gpu in free.iter().take(usize::from(count)) {
                room.gpus_milli[*gpu] = 0;
            }
            free.len() >= usize::from(count)
        }
        Ask::Part(milli) => match room.gpus_milli.iter_mut().find(|free| **free >= milli) {
            Some(free) => {
                *free -= milli;
                true
            }
            None => false,
        },
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/feasible.txt"))),
        ..Config::default()
    })]

    /// A gang of equal pods is placed exactly when some way of placing it exists.
    #[test]
    fn a_gang_is_placed_exactly_when_it_fits(seed: u64) {
        let mut draw = Seed::new(seed);
        let mut world = World::default();
        let mut rooms = Vec::new();
        for number in 0..=draw.below(NODES_MAX) {
            let gpus = *draw.pick(&[0_u16, 1, 2, 3, 4]);
            let cores_milli = *draw.pick(&[1000, 2000, 4000, 8000]);
            let name = format!("node-{number}");
            let id = world.names.node(&name);
            world.tell(Delta::Node(id, Box::new(Node {
                name: name.into_bytes().into(),
                allocatable: Resources::from_iter([
                    (Lane::CPU, cores_milli),
                    (Lane::GPU, i64::from(gpus) * GPU_MILLI),
                    (Lane::PODS, 110),
                ]),
                gpus: Gpus { count: gpus, memory_mib: 10_000, memory_known: true },
                ..Node::default()
            })));
            rooms.push(Room { cores_milli, gpus_milli: vec![GPU_MILLI; usize::from(gpus)] });
        }
        let queue = world.names.queue("queue");
        world.tell(Delta::Queue(queue, Box::new(Queue {
            quota: PerLane::splat(Limit::UNLIMITED),
            limit: PerLane::splat(Limit::UNLIMITED),
            ..Queue::default()
        })));
        let pods = 1 + draw.below(PODS_MAX);
        let ask = match draw.below(3) {
            0 => Ask::Cores(*draw.pick(&[500, 1000, 3000])),
            1 => Ask::Whole(*draw.pick(&[1, 1, 2, 3])),
            _ => Ask::Part(*draw.pick(&[200, 300, 500, 700])),
        };
        let group = world.names.group("gang");
        world.tell(Delta::Group(group, Box::new(Group {
            queue: Some(queue),
            preemptible: true,
            structure: Structure::Flat { min: u32::try_from(pods).expect("it is small"), topology: None },
            ..Group::default()
        })));
        for index in 0..pods {
            let id = world.names.pod(&format!("pod-{index}"));
            let (cores, gpu) = match ask {
                Ask::Cores(milli) => (milli, GpuRequest::None),
                Ask::Whole(count) => (1000, GpuRequest::Whole(count)),
                Ask::Part(milli) => {
                    (1000, GpuRequest::Fraction { micro: u32::try_from(milli * 1000).expect("it is small"), devices: 1 })
                }
            };
            world.tell(Delta::Pod(id, Box::new(Pod {
                owner: Owner::Group(group),
                shape: Shape { request: Resources::from_iter([(Lane::CPU, cores)]), gpu, ..Shape::default() },
                uid: u128::from(index),
                ..Pod::default()
            })));
        }
        let plan = world.plan();
        let placed = plan.changes.iter().filter(|change| matches!(change, Change::Place { .. })).count() as u64;
        let expect = if fits(&mut rooms.clone(), ask, pods) { pods } else { 0 };
        prop_assert_eq!(placed, expect, "{} pods of {:?} on {:?}", pods, ask, rooms);
    }
}
