//! Replays Alibaba's "openb" GPU-sharing trace on the engine and compares how much of the GPUs ends up allocated with the
//! published results of six placement policies.
//!
//! The method is that of FGD (USENIX ATC'23): pods of a workload arrive one at a time in an order drawn from a seed,
//! drawn again and again until they ask for 130 % of all GPUs; none leaves; one that finds no room is dropped.

mod objects;
pub mod tables;

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use kai_engine::{
    Cluster, Config, Delta, GPU_MILLI, Group, GroupId, Limit, NodeId, PerLane, Placement, Pod,
    PodId, Queue, QueueId, Symbol, Timestamp, Typical, plan,
};
use kai_sim::generate::Seed;

use objects::{node, pod, shape};
use tables::{Machine, Task};

/// Load at which the published table is compared, in percent of all GPUs.
pub const LOADS_PERCENT: [usize; 2] = [100, 130];
/// Arrivals stop at this load.
const LOAD_MAX_PERCENT: i64 = 130;

/// Draws an index below a bound that is not 0.
fn index_below(seed: &mut Seed, bound: usize) -> usize {
    usize::try_from(seed.below(bound as u64)).expect("below an index")
}

/// The workload's pods in a drawn order, then more of them at random until they ask for 130 % of the GPUs.
fn arrivals(tasks: &[Task], total_milli: i64, seed: u64) -> Vec<&Task> {
    let mut seed = Seed::new(seed);
    let mut order: Vec<&Task> = tasks.iter().collect();
    for at in (1..order.len()).rev() {
        order.swap(at, index_below(&mut seed, at + 1));
    }
    let wanted = total_milli * LOAD_MAX_PERCENT / 100;
    let mut asked = 0;
    let mut arrivals = Vec::new();
    let mut next = 0;
    while asked < wanted {
        let task =
            order.get(next).copied().unwrap_or_else(|| order[index_below(&mut seed, order.len())]);
        next += 1;
        asked += task.gpu_total_milli();
        arrivals.push(task);
    }
    arrivals
}

/// Ranking of nodes in a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ranking {
    /// As KAI does by default: by free GPUs, whatever else is free.
    Pack,
    /// By the fragments that a pod makes for the pods that are there, as `placementStrategy: fragmentation` does.
    Learned,
    /// By the fragments that a pod makes for the workload that is to come, known beforehand, as the paper does.
    Told,
}

impl Ranking {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pack, Self::Learned, Self::Told];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pack => "ours, pack",
            Self::Learned => "ours, fragments",
            Self::Told => "ours, told",
        }
    }

    fn config(self, tasks: &[Task], models: &mut BTreeMap<String, Symbol>) -> Config {
        let by_fragments = Config {
            gpu_placement: Placement::Fragmentation,
            cpu_placement: Placement::Fragmentation,
            device_placement: Placement::Fragmentation,
            ..Config::default()
        };
        match self {
            Self::Pack => Config::default(),
            Self::Learned => by_fragments,
            Self::Told => Config { typical: typical(tasks, models), ..by_fragments },
        }
    }
}

/// The pods of a workload, equal ones together.
fn typical(tasks: &[Task], models: &mut BTreeMap<String, Symbol>) -> Vec<Typical> {
    let mut typical: BTreeMap<kai_engine::Shape, u32> = BTreeMap::new();
    for task in tasks {
        let wanted: Vec<Symbol> = task.models.iter().map(|model| symbol(models, model)).collect();
        *typical.entry(shape(task, &wanted)).or_default() += 1;
    }
    typical.into_iter().map(|(shape, weight)| Typical { shape, weight }).collect()
}

/// Allocated part of all GPUs in percent, at each whole percent of arrived load from 0 to 130.
pub fn replay(
    machines: &[Machine],
    tasks: &[Task],
    ranking: Ranking,
    seed: u64,
) -> Result<Vec<f64>> {
    let total_milli: i64 = machines.iter().map(|one| i64::from(one.gpus) * GPU_MILLI).sum();
    let mut models = BTreeMap::new();
    let config = ranking.config(tasks, &mut models);
    let mut cluster = Cluster::default();
    for (row, machine) in (0..).zip(machines) {
        let node = node(machine, symbol(&mut models, &machine.model));
        cluster.apply(Delta::Node(NodeId::new(row), Box::new(node)));
    }
    let everything = PerLane::splat(Limit::UNLIMITED);
    let queue = Queue { quota: everything, limit: everything, ..Queue::default() };
    cluster.apply(Delta::Queue(QueueId::new(0), Box::new(queue)));
    let mut ratios = Vec::new();
    let (mut arrived_milli, mut allocated_milli) = (0, 0);
    for (row, task) in (0..).zip(arrivals(tasks, total_milli, seed)) {
        let wanted: Vec<Symbol> =
            task.models.iter().map(|model| symbol(&mut models, model)).collect();
        if arrive(&mut cluster, &config, row, &pod(task, &wanted, row)) {
            allocated_milli += task.gpu_total_milli();
        }
        arrived_milli += task.gpu_total_milli();
        while ratios.len() * usize::try_from(total_milli)? <= usize::try_from(arrived_milli)? * 100
        {
            ratios.push(percent(allocated_milli, total_milli));
        }
    }
    ensure!(ratios.len() > LOADS_PERCENT[1], "the load ended at {} %", ratios.len());
    Ok(ratios)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio to print with two decimals")]
fn percent(part: i64, whole: i64) -> f64 {
    100.0 * part as f64 / whole as f64
}

fn symbol(models: &mut BTreeMap<String, Symbol>, model: &str) -> Symbol {
    let next = Symbol::new(10 + u32::try_from(models.len()).expect("a handful of models"));
    *models.entry(model.to_owned()).or_insert(next)
}

/// Tells whether the pod found room; one that didn't is forgotten.
fn arrive(cluster: &mut Cluster, config: &Config, row: u32, pod: &Pod) -> bool {
    let (pod_id, group_id) = (PodId::new(row), GroupId::new(row));
    let created = Timestamp(i64::from(row));
    let group =
        Group { queue: Some(QueueId::new(0)), created, uid: row.into(), ..Group::default() };
    cluster.apply(Delta::Group(group_id, Box::new(group)));
    cluster.apply(Delta::Pod(pod_id, Box::new(pod.clone())));
    let decided = plan(cluster, config, created);
    if decided.changes.is_empty() {
        cluster.apply(Delta::PodGone(pod_id));
        cluster.apply(Delta::GroupGone(group_id));
        return false;
    }
    cluster.apply(Delta::Bound(pod_id));
    true
}
