//! Evicting so that others get in, and proving that nothing helps: parts of B05, B06 to B09.

use kai_engine::{
    Actions, Config, Constraint, Level, PodTerm, Requirement, Shape, Symbol, TopologyId,
};

use super::{Case, Expect, Kind};
use crate::world::{GPUS, Job, World, label};

pub(crate) const KINDS: &[Kind] = &[
    Kind {
        id: "B05-full",
        sizes: &[50, 200, 500],
        slope_max: None,
        what: "a new cluster told, N jobs half running, all five actions (10, 50, 100 nodes)",
        case: session_full,
    },
    Kind {
        id: "B05-reclaim",
        sizes: &[50, 200],
        slope_max: None,
        what: "a new cluster told with N jobs running, reclaim (10, 50 nodes)",
        case: session_reclaim,
    },
    Kind {
        id: "B05-preempt",
        sizes: &[50, 200],
        slope_max: None,
        what: "a new cluster told, N jobs half running, preempt (10, 50 nodes)",
        case: session_preempt,
    },
    Kind {
        id: "B05-consolidate",
        sizes: &[50, 200],
        slope_max: None,
        what: "a new cluster told, N jobs half running, consolidate (10, 50 nodes)",
        case: session_consolidate,
    },
    Kind {
        id: "B06",
        sizes: &[10, 50, 100, 200, 500, 1000, 2000],
        slope_max: Some(1.2),
        what: "reclaim half of N full nodes for one gang of N/2 whole nodes",
        case: reclaim_large,
    },
    Kind {
        id: "B07",
        sizes: &[10, 50, 100, 200, 500, 1000],
        slope_max: Some(1.2),
        what: "full cycle: 8N one-GPU jobs reclaim from 8N running ones on N nodes",
        case: reclaim_many,
    },
    Kind {
        id: "B08-share",
        sizes: &[10, 50, 100, 200, 500, 1000],
        slope_max: Some(1.2),
        what: "a gang of 10 nodes that is one GPU short of what may be reclaimed on N nodes",
        case: hopeless_share,
    },
    Kind {
        id: "B08-apart",
        sizes: &[10, 50, 100, 200, 500, 1000],
        slope_max: Some(1.2),
        what: "a gang of 10 pods in racks of their own on N nodes in 9 racks",
        case: hopeless_apart,
    },
    Kind {
        id: "B08-company",
        sizes: &[10, 50, 100, 200, 500, 1000],
        slope_max: Some(1.2),
        what: "a pod that asks for nothing and has to be near nobody, beside 8N running jobs of others",
        case: hopeless_company,
    },
    Kind {
        id: "B08-together",
        sizes: &[10, 50, 100, 200, 500, 1000],
        slope_max: Some(1.2),
        what: "a gang that needs more nodes in one rack than any of N nodes' racks has",
        case: hopeless_together,
    },
    Kind {
        id: "B09",
        sizes: &[50, 100, 200, 500],
        slope_max: None,
        what: "consolidate N nodes, 3 of 8 GPUs used on each, for N/12 gangs of 10 pods of 6 GPUs",
        case: consolidate,
    },
];

fn only(action: impl FnOnce(&mut Actions)) -> Config {
    let none = Actions::NONE;
    let mut config = Config { actions: none, ..Config::default() };
    action(&mut config.actions);
    config
}

/// N jobs on 10, 50 or 100 nodes, told as news; the first `running` of them run.
fn told(jobs: u32, running: u32) -> World {
    let nodes = match jobs {
        0..=50 => 10,
        51..=200 => 50,
        _ => 100,
    };
    let mut world = World::default();
    world.departments(nodes * GPUS).nodes(nodes);
    world.jobs(running, |at| Job::new(2 + at % 4, 1).on([at % nodes]));
    world.jobs(jobs - running, |at| Job::new(2 + at % 4, 1));
    world
}

fn session_full(jobs: u32) -> Case {
    told(jobs, jobs / 2).case(Config::default(), Expect::placed(jobs - jobs / 2))
}

fn session_reclaim(jobs: u32) -> Case {
    told(jobs, jobs).case(only(|actions| actions.reclaim = true), Expect::default())
}

fn session_preempt(jobs: u32) -> Case {
    told(jobs, jobs / 2).case(only(|actions| actions.preempt = true), Expect::default())
}

fn session_consolidate(jobs: u32) -> Case {
    let pending = jobs - jobs / 2;
    let expect = Expect::instead(pending, 0);
    told(jobs, jobs / 2).case(only(|actions| actions.consolidate = true), expect)
}

/// Queue 0 is entitled to nothing and runs 8N jobs; queue 1 is entitled to everything.
fn full(size: u32) -> World {
    let mut world = World::default();
    world.queue(0, None, 0).queue(1, None, size * GPUS).nodes(size);
    world.jobs(size * GPUS, |at| Job::new(0, 1).on([at / GPUS]));
    world
}

fn reclaim_large(size: u32) -> Case {
    let config = Config::default();
    let mut world = full(size);
    world.settle(&config).job(&Job::new(1, 8).gang(size / 2)).tell();
    world.case(config, Expect::instead(size / 2, size / 2 * GPUS))
}

fn reclaim_many(size: u32) -> Case {
    let config = Config::default();
    let mut world = full(size);
    world.settle(&config).jobs(size * GPUS, |_| Job::new(1, 1)).tell();
    world.case(config, Expect::instead(size * GPUS, size * GPUS))
}

fn hopeless_share(size: u32) -> Case {
    let config = Config::default();
    let mut world = World::default();
    let (gpus, wanted) = (size * GPUS, 80.min(size * GPUS));
    world.queue(0, None, gpus - wanted + 1).queue(1, None, wanted).nodes(size);
    world.jobs(gpus, |at| Job::new(0, 1).on([at / GPUS])).settle(&config);
    world.job(&Job::new(1, 8).gang(wanted / GPUS)).tell();
    world.case(config, Expect::default())
}

fn hopeless_apart(size: u32) -> Case {
    let config = Config::default();
    let (rack, app) = (Symbol::new(1), (Symbol::new(2), Symbol::new(3)));
    let mut world = World::default();
    world.queue(0, None, 0).queue(1, None, size * GPUS);
    world.nodes_with(size, |row, mut node| {
        node.labels = vec![label(1, 100 + row % 9)];
        node
    });
    world.jobs(size * GPUS, |at| Job::new(0, 1).on([at / GPUS])).settle(&config);
    let selector = vec![Requirement { key: app.0, holds: kai_engine::Holds::In(vec![app.1]) }];
    let apart =
        PodTerm { topology_key: rack, namespaces: Vec::new(), namespace_selector: None, selector };
    let job = Job::new(1, 8).gang(10);
    let shape = Shape { pod_anti_affinity: vec![apart], ..job.shape.clone() };
    world.job(&Job { shape, label: Some(app), ..job }).tell();
    world.case(config, Expect::default())
}

fn hopeless_company(size: u32) -> Case {
    let config = Config::default();
    let (host, nobody) = (Symbol::new(1), (Symbol::new(2), Symbol::new(3)));
    let mut world = World::default();
    world.queue(0, None, 0).queue(1, None, size * GPUS);
    world.nodes_with(size, |row, mut node| {
        node.labels = vec![label(1, 100 + row)];
        node
    });
    world.jobs(size * GPUS, |at| Job::new(0, 1).on([at / GPUS])).settle(&config);
    let selector =
        vec![Requirement { key: nobody.0, holds: kai_engine::Holds::In(vec![nobody.1]) }];
    let near =
        PodTerm { topology_key: host, namespaces: Vec::new(), namespace_selector: None, selector };
    let shape = Shape { pod_affinity: vec![near], ..Shape::default() };
    world.job(&Job { shape, ..Job::new(1, 0) }).tell();
    world.case(config, Expect::default())
}

fn hopeless_together(size: u32) -> Case {
    let config = Config::default();
    let racks = 9;
    let mut world = World::default();
    world.topology([1]).queue(0, None, 0).queue(1, None, size * GPUS);
    world.nodes_with(size, |row, mut node| {
        node.labels = vec![label(1, 100 + row % racks)];
        node
    });
    world.jobs(size * GPUS, |at| Job::new(0, 1).on([at / GPUS])).settle(&config);
    let required = Some(Level(Symbol::new(1)));
    let topology = Some(Constraint { topology: TopologyId::new(0), required, preferred: None });
    let pods = size.div_ceil(racks) + 1;
    world.job(&Job { topology, ..Job::new(1, 8).gang(pods) }).tell();
    world.case(config, Expect::default())
}

fn consolidate(size: u32) -> Case {
    let config = Config { consolidation_victims_max: Some(4000), ..Config::default() };
    let mut world = World::default();
    world.departments(size * GPUS).nodes(size);
    world.jobs(size * 3, |at| Job::new(2 + at % 4, 1).on([at / 3])).settle(&config);
    let gangs = size / 12;
    world.jobs(gangs, |at| Job::new(2 + at % 4, 6).gang(10)).tell();
    world.case(config, Expect::instead(gangs * 10, 0))
}
