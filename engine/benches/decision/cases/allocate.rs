//! Placing what waits in free room: B01, B02, parts of B05, B10 to B14.

use kai_engine::{
    Config, Constraint, Effect, GpuRequest, Holds, Level, Requirement, Shape, Symbol, Taint,
    Toleration, TopologyId,
};

use super::{Case, Expect, Kind};
use crate::world::{GPUS, Job, World, label, shape};

pub(crate) const KINDS: &[Kind] = &[
    Kind {
        id: "B01",
        sizes: &[100, 200, 500, 1000, 2000, 5000, 10_000],
        slope_max: Some(1.05),
        what: "fill N nodes of 8 GPUs with 8N one-GPU pods",
        case: fill,
    },
    Kind {
        id: "B02",
        sizes: &[500, 1000, 2000, 5000, 10_000],
        slope_max: Some(1.05),
        what: "a full cycle: N nodes, 8N running, 2N pending in 50 queues on 3 levels, 30 % in gangs of 8, room for half",
        case: full_cycle,
    },
    Kind {
        id: "B05-allocate",
        sizes: &[50, 200, 500],
        slope_max: None,
        what: "a new cluster told and N one-GPU jobs placed (10, 50, 100 nodes)",
        case: session,
    },
    Kind {
        id: "B05-queues",
        sizes: &[200],
        slope_max: None,
        what: "a new cluster of 50 nodes told and N jobs of 20 queues in 5 departments placed",
        case: session_queues,
    },
    Kind {
        id: "B05-gangs",
        sizes: &[100],
        slope_max: None,
        what: "a new cluster of 50 nodes told and N gangs of 4 placed",
        case: session_gangs,
    },
    Kind {
        id: "B10",
        sizes: &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
        slope_max: Some(0.1),
        what: "fill 1,000 nodes with 8,000 one-GPU pods in gangs of N",
        case: gangs,
    },
    Kind {
        id: "B10-elastic",
        sizes: &[50, 100, 200, 500],
        slope_max: Some(2.2),
        what: "one elastic group of N one-GPU pods, each in a sub-group of its own, room for all",
        case: elastic,
    },
    Kind {
        id: "B11",
        sizes: &[1, 10, 100, 1000, 10_000],
        slope_max: Some(1.1),
        what: "one job in each of N leaf queues on 4 levels, room for all",
        case: queues,
    },
    Kind {
        id: "B12",
        sizes: &[512, 1024, 2048, 4096, 8192],
        slope_max: Some(1.1),
        what: "one gang of N pods of 2 GPUs on N nodes of a 3-level topology, racks preferred",
        case: racks,
    },
    Kind {
        id: "B13",
        sizes: &[1000, 2000, 5000, 10_000],
        slope_max: Some(1.3),
        what: "N nodes that all differ in labels and taints, N/5 classes of pods that select by them",
        case: strangers,
    },
    Kind {
        id: "B14-fractions",
        sizes: &[100, 200, 500],
        slope_max: Some(1.1),
        what: "5N parts of GPUs on N nodes of 8",
        case: fractions,
    },
];

fn fill(size: u32) -> Case {
    let mut world = World::default();
    world.departments(0).nodes(size).jobs(size * GPUS, |at| Job::new(2 + at % 4, 1)).tell();
    world.case(Config::default(), Expect::placed(size * GPUS))
}

/// Five roots with two departments each, those with five leaves each: queues 15 to 64.
fn fifty_queues(world: &mut World, gpus: u32) {
    for root in 0..5 {
        world.queue(root, None, gpus / 5);
    }
    for department in 5..15 {
        world.queue(department, Some(department % 5), gpus / 10);
    }
    for leaf in 15..65 {
        world.queue(leaf, Some(5 + leaf % 10), gpus / 50);
    }
}

fn full_cycle(size: u32) -> Case {
    let config = Config::default();
    let leaf = |at: u32| 15 + at % 50;
    let mut world = World::default();
    fifty_queues(&mut world, size * GPUS);
    // Seven GPU pods and one without on each node: a GPU is free on each.
    world.nodes(size).jobs(size * GPUS, |at| {
        let job = Job::new(leaf(at / GPUS), u16::from(at % GPUS != 0));
        job.on([at / GPUS])
    });
    world.settle(&config);
    let (singles, gangs) = (size * 14 / 10, size * 6 / 10 / 8);
    world.jobs(singles, |at| Job::new(leaf(at), 1));
    world.jobs(gangs, |at| Job::new(leaf(at), 1).gang(8)).tell();
    world.case(config, Expect::placed(size))
}

fn session(jobs: u32) -> Case {
    let nodes = match jobs {
        0..=50 => 10,
        51..=200 => 50,
        _ => 100,
    };
    let mut world = World::default();
    world.departments(nodes * GPUS).nodes(nodes).jobs(jobs, |at| Job::new(2 + at % 4, 1));
    world.case(Config::default(), Expect::placed(jobs))
}

fn session_queues(jobs: u32) -> Case {
    let mut world = World::default();
    for department in 0..5 {
        world.queue(department, None, 80);
    }
    for leaf in 5..25 {
        world.queue(leaf, Some(leaf % 5), 20);
    }
    world.nodes(50).jobs(jobs, |at| Job::new(5 + at % 20, 1));
    world.case(Config::default(), Expect::placed(jobs))
}

fn session_gangs(jobs: u32) -> Case {
    let mut world = World::default();
    world.departments(400).nodes(50).jobs(jobs, |at| Job::new(2 + at % 4, 1).gang(4));
    world.case(Config::default(), Expect::placed(400))
}

fn gangs(gang: u32) -> Case {
    let pods = 8000;
    let mut world = World::default();
    world.departments(0).nodes(1000);
    world.jobs(pods / gang, |at| Job::new(2 + at % 4, 1).gang(gang)).tell();
    world.case(Config::default(), Expect::placed(pods / gang * gang))
}

/// One sub-group is enough, so that each of the others has a turn of its own.
fn elastic(size: u32) -> Case {
    let mut world = World::default();
    world.departments(0).nodes(size.div_ceil(GPUS));
    world.job(&Job { pods: size, is_divided: true, ..Job::new(2, 1) }).tell();
    world.case(Config::default(), Expect::placed(size))
}

/// Queues in tens: leaves in tens below sections, in hundreds below departments, in thousands below roots.
fn queues(size: u32) -> Case {
    let mut world = World::default();
    let sections = size;
    let departments = sections + size.div_ceil(10);
    let roots = departments + size.div_ceil(100);
    for root in 0..size.div_ceil(1000) {
        world.queue(roots + root, None, 0);
    }
    for department in 0..size.div_ceil(100) {
        world.queue(departments + department, Some(roots + department / 10), 0);
    }
    for section in 0..size.div_ceil(10) {
        world.queue(sections + section, Some(departments + section / 10), 0);
    }
    for leaf in 0..size {
        world.queue(leaf, Some(sections + leaf / 10), 0);
    }
    world.nodes(size.div_ceil(GPUS)).jobs(size, |at| Job::new(at, 1)).tell();
    world.case(Config::default(), Expect::placed(size))
}

/// Zones, blocks, racks: 4, 8 and 8 below each other where there are 512 nodes, two nodes a rack.
fn racks(size: u32) -> Case {
    let rack = 2;
    let block = size / 32;
    let mut world = World::default();
    world.topology([1, 2, 3]).departments(0).nodes_with(size, |row, mut node| {
        let of = |key: u32, width: u32| label(key, 1_000_000 * key + row / width);
        node.labels = vec![of(1, size / 4), of(2, block), of(3, rack)];
        node
    });
    let preferred = Some(Level(Symbol::new(3)));
    let topology = Some(Constraint { topology: TopologyId::new(0), required: None, preferred });
    world.job(&Job { topology, ..Job::new(2, 2).gang(size) }).tell();
    world.case(Config::default(), Expect::placed(size))
}

fn strangers(size: u32) -> Case {
    let (name, row_key, shelf_key) = (1, 2, 3);
    let mut world = World::default();
    world.departments(0).nodes_with(size, |row, mut node| {
        node.labels = vec![
            label(name, 1_000_000 + row),
            label(row_key, 2_000_000 + row % 97),
            label(shelf_key, 3_000_000 + row % 53),
        ];
        let (key, value) = (Symbol::new(10 + row % 2), Symbol::new(4_000_000 + row));
        node.taints = vec![Taint { key, value, effect: Effect::NoSchedule }];
        node
    });
    let selecting = |at: u32| Shape {
        node_selector: vec![(Symbol::new(row_key), Symbol::new(2_000_000 + at % 97))],
        node_affinity: vec![vec![
            Requirement {
                key: Symbol::new(name),
                holds: Holds::NotIn(vec![Symbol::new(1_000_000 + at)]),
            },
            Requirement { key: Symbol::new(shelf_key), holds: Holds::Exists },
        ]],
        tolerations: vec![Toleration {
            key: Some(Symbol::new(10 + at % 2)),
            value: None,
            effect: None,
        }],
        ..shape(GpuRequest::Whole(1))
    };
    let classes = size / 5;
    world.jobs(classes, |at| Job { shape: selecting(at), ..Job::new(2 + at % 4, 1) }).tell();
    world.case(Config::default(), Expect::placed(classes))
}

fn fractions(size: u32) -> Case {
    // The parts that openb's pods ask for most, in thousandths.
    const PARTS: [u32; 8] = [500, 250, 470, 110, 810, 330, 690, 230];
    let mut world = World::default();
    world.departments(0).nodes(size).jobs(size * 5, |at| {
        let micro = PARTS[at as usize % PARTS.len()] * 1000;
        let shape = shape(GpuRequest::Fraction { micro, devices: 1 });
        Job { shape, ..Job::new(2 + at % 4, 1) }
    });
    world.tell();
    world.case(Config::default(), Expect::placed(size * 5))
}
