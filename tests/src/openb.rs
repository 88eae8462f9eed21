//! Replays Alibaba's "openb" GPU-sharing trace on the engine and compares how much of the GPUs ends up allocated with the
//! published results of six placement policies.
//!
//! The method is that of FGD (USENIX ATC'23): pods of a workload arrive one at a time in an order drawn from a seed,
//! drawn again and again until they ask for 130 % of all GPUs; none leaves; one that finds no room is dropped.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
use kai_engine::{
    Cluster, Config, Delta, GPU_MILLI, GpuRequest, Gpus, Group, GroupId, Holds, Label, Lane, Limit,
    Node, NodeId, Owner, PerLane, Pod, PodId, Queue, QueueId, Requirement, Resources, Shape,
    Symbol, Timestamp, plan,
};

/// Load at which the published table is compared, in percent of all GPUs.
pub const LOADS_PERCENT: [usize; 2] = [100, 130];
/// Arrivals stop at this load.
const LOAD_MAX_PERCENT: i64 = 130;
const MIB: i64 = 1 << 20;
/// The label key that stands for the model of a node's GPUs.
const MODEL: Symbol = Symbol::new(1);

/// One machine of the trace.
#[derive(Clone, Debug)]
pub struct Machine {
    name: String,
    cpu_milli: i64,
    memory_mib: i64,
    gpus: u16,
    model: String,
}

/// One pod of a workload.
#[derive(Clone, Debug)]
pub struct Task {
    cpu_milli: i64,
    memory_mib: i64,
    gpus: u16,
    gpu_milli: u32,
    models: Vec<String>,
}

impl Task {
    fn gpu_total_milli(&self) -> i64 {
        i64::from(self.gpus) * i64::from(self.gpu_milli)
    }
}

fn rows(path: &Path) -> Result<Vec<BTreeMap<String, String>>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().context("an empty table")?.split(',').collect();
    let row = |line: &str| {
        header
            .iter()
            .map(|name| (*name).to_owned())
            .zip(line.split(',').map(str::to_owned))
            .collect()
    };
    Ok(lines.map(row).collect())
}

fn number<T: std::str::FromStr>(row: &BTreeMap<String, String>, column: &str) -> Result<T> {
    let text = row.get(column).map_or("", String::as_str);
    text.parse().ok().with_context(|| format!("{column} is {text:?}"))
}

/// Reads `openb_node_list_gpu_node.csv`.
pub fn machines(path: &Path) -> Result<Vec<Machine>> {
    let read = |row: BTreeMap<String, String>| {
        Ok(Machine {
            name: row["sn"].clone(),
            cpu_milli: number(&row, "cpu_milli")?,
            memory_mib: number(&row, "memory_mib")?,
            gpus: number(&row, "gpu")?,
            model: row["model"].clone(),
        })
    };
    rows(path)?.into_iter().map(read).collect()
}

/// Reads an `openb_pod_list_*.csv`.
pub fn tasks(path: &Path) -> Result<Vec<Task>> {
    let read = |row: BTreeMap<String, String>| {
        let models = row.get("gpu_spec").map_or("", String::as_str);
        Ok(Task {
            cpu_milli: number(&row, "cpu_milli")?,
            memory_mib: number(&row, "memory_mib")?,
            gpus: number(&row, "num_gpu")?,
            gpu_milli: number(&row, "gpu_milli")?,
            models: models.split('|').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
        })
    };
    rows(path)?.into_iter().map(read).collect()
}

/// Numbers from a seed (splitmix64).
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("an index fits");
        usize::try_from(self.next() % bound).expect("below an index")
    }
}

/// The workload's pods in a drawn order, then more of them at random until they ask for 130 % of the GPUs.
fn arrivals(tasks: &[Task], total_milli: i64, seed: u64) -> Vec<&Task> {
    let mut seed = Seed(seed);
    let mut order: Vec<&Task> = tasks.iter().collect();
    for at in (1..order.len()).rev() {
        order.swap(at, seed.below(at + 1));
    }
    let wanted = total_milli * LOAD_MAX_PERCENT / 100;
    let mut asked = 0;
    let mut arrivals = Vec::new();
    let mut next = 0;
    while asked < wanted {
        let task = order.get(next).copied().unwrap_or_else(|| order[seed.below(order.len())]);
        next += 1;
        asked += task.gpu_total_milli();
        arrivals.push(task);
    }
    arrivals
}

/// Allocated part of all GPUs in percent, at each whole percent of arrived load from 0 to 130.
pub fn replay(
    machines: &[Machine],
    tasks: &[Task],
    config: &Config,
    seed: u64,
) -> Result<Vec<f64>> {
    let total_milli: i64 = machines.iter().map(|one| i64::from(one.gpus) * GPU_MILLI).sum();
    let mut models = BTreeMap::new();
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
        if arrive(&mut cluster, config, row, &pod(task, &wanted, row)) {
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

/// Whether the pod found room; one that didn't is forgotten.
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

fn node(machine: &Machine, model: Symbol) -> Node {
    let gpus = Gpus { count: machine.gpus, ..Gpus::default() };
    Node {
        name: machine.name.as_bytes().into(),
        allocatable: Resources::from_iter([
            (Lane::CPU, machine.cpu_milli),
            (Lane::MEMORY, machine.memory_mib * MIB),
            (Lane::GPU, i64::from(machine.gpus) * GPU_MILLI),
            // The trace knows no bound on pods.
            (Lane::PODS, 10_000),
        ]),
        gpus,
        labels: vec![Label { key: MODEL, value: model, number: None }],
        ..Node::default()
    }
}

fn pod(task: &Task, models: &[Symbol], row: u32) -> Pod {
    let gpu = match (task.gpus, task.gpu_milli) {
        (0, _) => GpuRequest::None,
        (1, milli) if milli < 1000 => GpuRequest::Fraction { micro: milli * 1000, devices: 1 },
        (count, _) => GpuRequest::Whole(count),
    };
    let affinity = Requirement { key: MODEL, holds: Holds::In(models.to_vec()) };
    let request = [(Lane::CPU, task.cpu_milli), (Lane::MEMORY, task.memory_mib * MIB)];
    let shape = Shape {
        request: Resources::from_iter(request),
        gpu,
        node_affinity: if models.is_empty() { Vec::new() } else { vec![vec![affinity]] },
        ..Shape::default()
    };
    Pod { owner: Owner::Group(GroupId::new(row)), shape, uid: row.into(), ..Pod::default() }
}

/// Published mean allocation ratio per workload and policy at [`LOADS_PERCENT`].
pub type Published = BTreeMap<String, BTreeMap<String, [f64; 2]>>;

/// Reads `analysis_allo_discrete.csv`: one row a run, one column a percent of load.
pub fn published(path: &Path) -> Result<Published> {
    let mut sums: BTreeMap<(String, String), (f64, [f64; 2])> = BTreeMap::new();
    for row in rows(path)? {
        let sum = sums.entry((row["workload"].clone(), row["sc_policy"].clone())).or_default();
        sum.0 += 1.0;
        for (at, load) in LOADS_PERCENT.iter().enumerate() {
            sum.1[at] += number::<f64>(&row, &load.to_string())?;
        }
    }
    let mut table = Published::new();
    for ((workload, policy), (count, sum)) in sums {
        table.entry(workload).or_default().insert(policy, sum.map(|total| total / count));
    }
    Ok(table)
}
