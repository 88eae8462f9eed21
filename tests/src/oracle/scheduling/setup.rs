//! From a case to a world: every fact of the file, told to the engine.

use std::collections::{BTreeMap, BTreeSet};

use kai_api::names::annotation;
use kai_engine::{
    Config, Constraint, Delta, GPU_MILLI, GpuRequest, Gpus, Group, Holds, Lane, Level, Limit, Mig,
    MigStrategy, Min, Missing, Node, Owner, PerLane, Place, Placement, Pod, PodPriority, PodRank,
    PodState, PodTerm, Queue, Requirement, Resources, Shape, Structure, SubGroup, Symbol,
    Timestamp, Topology,
};
use kai_sim::{
    build::{actions_of, lane},
    world::World,
};

use super::{case, devices, zones};
use crate::oracle::bound::{Bound, milli};

/// Time for which a job that has started counts as started, in every round.
pub const STARTED_AGO_MS: i64 = 60_000;

/// The world that `case` starts from.
///
/// # Errors
///
/// Names what the file says and no world can be.
pub fn world(case: &case::Case) -> anyhow::Result<World> {
    let mut world = World { config: config(case)?, ..World::default() };
    for topology in &case.topologies {
        let id = world.names.topology(&topology.name);
        let levels = topology.levels.iter().map(|level| world.names.symbol(&level.label)).collect();
        world.tell(Delta::Topology(id, Box::new(Topology { levels })));
    }
    for node in &case.nodes {
        tell_node(&mut world, node);
    }
    for queue in &case.queues {
        tell_queue(&mut world, queue);
    }
    devices::tell(&mut world, case);
    let mut order: Vec<&case::Job> = case.jobs.iter().collect();
    order.sort_by(|a, b| a.name.cmp(&b.name));
    let tasks: BTreeSet<&str> =
        case.jobs.iter().flat_map(|job| &job.tasks).map(|task| task.name.as_str()).collect();
    let task_rank: BTreeMap<&str, u128> = tasks.into_iter().zip(0..).collect();
    let devices = Devices::of(case);
    for (uid, job) in (0..).zip(order) {
        tell_job(&mut world, case, job, uid);
        for task in &job.tasks {
            let uid = task_rank[task.name.as_str()];
            let state = state(&mut world, case, task, &devices)?;
            tell_task(&mut world, job, task, uid, state);
        }
    }
    Ok(world)
}

fn config(case: &case::Case) -> anyhow::Result<Config> {
    let placement = |text: &str| match text {
        "spread" => Placement::Spread,
        "none" => Placement::Any,
        _ => Placement::Pack,
    };
    let scheduler = &case.scheduler;
    Ok(Config {
        actions: actions_of(&case.procedure.actions.join(" "))?,
        gpu_placement: placement(&scheduler.node_placement.gpu_tasks),
        cpu_placement: placement(&scheduler.node_placement.cpu_tasks),
        sharing_first: scheduler.peer_plugins.has("gpusharingorder"),
        device_placement: placement(&scheduler.shared_gpu_placement),
        consolidation_victims_max: scheduler
            .max_consolidation_victims
            .whole()
            .map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        reclaim_may_relocate: scheduler.reclaim_may_relocate_victims,
        staleness_grace: scheduler.staleness_grace_seconds * 1000,
        ..Config::default()
    })
}

fn tell_node(world: &mut World, node: &case::Node) {
    let id = world.names.node(&node.name);
    let mut allocatable = Resources::from_iter([
        (Lane::CPU, node.cpu_milli),
        (Lane::MEMORY, node.memory_bytes),
        (Lane::GPU, node.gpus_allocatable * GPU_MILLI),
        (Lane::PODS, node.max_pods),
    ]);
    let mut mig = Mig::default();
    if let Some(split) = &node.mig {
        for (resource, count) in &split.instances {
            allocatable.add(lane(world, resource), *count);
        }
        let strategy = match split.strategy.as_str() {
            "single" => MigStrategy::Single,
            "mixed" => MigStrategy::Mixed,
            _ => MigStrategy::None,
        };
        mig = Mig { enabled: true, strategy };
    }
    let labels = node.labels.iter().map(|(key, value)| world.label(key, value)).collect();
    let facts = Node {
        name: node.name.as_bytes().into(),
        allocatable,
        gpus: Gpus {
            count: u16::try_from(node.gpus).unwrap_or(u16::MAX),
            memory_mib: u32::try_from(node.gpu_memory_mib).unwrap_or(100),
            memory_known: node.gpu_memory_known,
        },
        labels,
        blocked: (!node.ready).then_some(kai_engine::Blocked::NotReady),
        mig,
        ..Node::default()
    };
    world.tell(Delta::Node(id, Box::new(facts)));
    if let Some(numa) = &node.numa {
        zones::tell(world, id, numa);
    }
}

fn tell_queue(world: &mut World, queue: &case::Queue) {
    let id = world.names.queue(&queue.name);
    let limit = |bound: Option<i64>| bound.map_or(Limit::UNLIMITED, Limit::of);
    let per_lane = |pick: fn(&case::Share) -> Bound| {
        PerLane([
            limit(pick(&queue.cpu_milli).whole()),
            limit(pick(&queue.memory_bytes).whole()),
            limit(pick(&queue.gpu).milli()),
        ])
    };
    let weight = |share: &case::Share| u64::try_from(milli(share.over_quota_weight)).unwrap_or(0);
    let facts = Queue {
        parent: (!queue.parent.is_empty()).then(|| world.names.queue(&queue.parent)),
        priority: i32::try_from(queue.priority).unwrap_or(i32::MAX),
        quota: per_lane(|share| share.deserved),
        limit: per_lane(|share| share.limit),
        weight_milli: PerLane([
            weight(&queue.cpu_milli),
            weight(&queue.memory_bytes),
            weight(&queue.gpu),
        ]),
        reclaim_min_runtime: queue.reclaim_min_runtime_seconds.map(|seconds| seconds * 1000),
        preempt_min_runtime: queue.preempt_min_runtime_seconds.map(|seconds| seconds * 1000),
        created: Timestamp(world.now.0 + queue.created_order * 60_000),
        uid: u128::try_from(queue.created_order).unwrap_or(0),
        ..Queue::default()
    };
    world.tell(Delta::Queue(id, Box::new(facts)));
}

fn tell_job(world: &mut World, case: &case::Case, job: &case::Job, uid: u128) {
    let id = world.names.group(&job.name);
    let ago = |ms: i64| Timestamp(world.now.0 - ms);
    let (created, last_start) =
        (ago(job.age_minutes * 60_000), job.started_seconds_ago.map(|seconds| ago(seconds * 1000)));
    let stale_since = job.stale_for_seconds.map(|seconds| ago(seconds * 1000));
    let facts = Group {
        queue: Some(world.names.queue(&job.queue)),
        priority: i32::try_from(job.priority).unwrap_or(i32::MAX),
        preemptible: job.preemptible,
        created,
        uid,
        structure: structure(world, case, job),
        preemption_delay: job.preemption_delay_seconds.unwrap_or(0) * 1000,
        staleness_grace: job.staleness_grace_seconds.map(|seconds| seconds * 1000),
        last_start,
        last_eviction: None,
        stale_since,
        held: false,
    };
    world.tell(Delta::Group(id, Box::new(facts)));
}

/// Tells whether the job is one podset without a name.
fn is_flat(job: &case::Job) -> bool {
    let gang = &job.gang;
    gang.groups.is_empty()
        && gang.min_children.is_none()
        && gang.pod_sets.len() == 1
        && gang.pod_sets[0].name == "default"
        && (gang.topology.is_none() || gang.pod_sets[0].topology.is_none())
}

fn structure(world: &mut World, case: &case::Case, job: &case::Job) -> Structure {
    let gang = &job.gang;
    if is_flat(job) {
        let set = &gang.pod_sets[0];
        let topology = set.topology.as_ref().or(gang.topology.as_ref());
        let topology = constraint(world, case, topology);
        return Structure::Flat { min: count(set.min_available), topology };
    }
    let mut rows = Vec::new();
    flatten(gang, None, &mut rows);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*a].name.cmp(rows[*b].name));
    let position = |row: usize| {
        order.iter().position(|other| *other == row).and_then(|at| u16::try_from(at).ok())
    };
    let mut sub_groups = Vec::new();
    for row in &order {
        let row = &rows[*row];
        sub_groups.push(SubGroup {
            name: world.names.symbol(row.name),
            parent: row.parent.and_then(position),
            min: row.min,
            topology: constraint(world, case, row.topology),
        });
    }
    let topology = constraint(world, case, gang.topology.as_ref());
    Structure::Tree { min: gang.min_children.map(count), topology, sub_groups }
}

struct Row<'a> {
    name: &'a str,
    parent: Option<usize>,
    min: Min,
    topology: Option<&'a case::Constraint>,
}

fn flatten<'a>(gang: &'a case::Gang, parent: Option<usize>, rows: &mut Vec<Row<'a>>) {
    for set in &gang.pod_sets {
        let min = Min::Pods(count(set.min_available));
        rows.push(Row { name: &set.name, parent, min, topology: set.topology.as_ref() });
    }
    for group in &gang.groups {
        let min = Min::Members(group.min_children.map(count));
        rows.push(Row { name: &group.name, parent, min, topology: group.topology.as_ref() });
        let row = rows.len() - 1;
        flatten(group, Some(row), rows);
    }
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn constraint(
    world: &mut World,
    case: &case::Case,
    given: Option<&case::Constraint>,
) -> Option<Constraint> {
    let given = given.filter(|given| !given.topology.is_empty())?;
    let levels = case
        .topologies
        .iter()
        .find(|topology| topology.name == given.topology)
        .map(|topology| &topology.levels);
    let mut level = |name: &Option<String>| {
        let name = name.as_deref().filter(|name| !name.is_empty())?;
        let aliased = levels.into_iter().flatten().find(|level| level.alias == name);
        Some(Level(world.names.symbol(aliased.map_or(name, |level| &level.label))))
    };
    let (required, preferred) = (level(&given.required_level), level(&given.preferred_level));
    Some(Constraint { topology: world.names.topology(&given.topology), required, preferred })
}

fn tell_task(world: &mut World, job: &case::Job, task: &case::Task, uid: u128, state: PodState) {
    let id = world.names.pod(&task.name);
    let owner = Owner::Group(world.names.group(&job.name));
    let facts = Pod {
        owner,
        sub_group: if is_flat(job) { Symbol::EMPTY } else { world.names.symbol(&task.pod_set) },
        shape: shape(world, job, task),
        state,
        rank: PodRank {
            priority: task.task_priority.map_or(PodPriority::None, PodPriority::Given),
            ..PodRank::default()
        },
        created: Timestamp(world.now.0 - job.age_minutes * 60_000),
        uid,
        nominated: (task.state == "nominated").then(|| world.names.node(&task.node)),
        namespace: world.names.symbol(&job.namespace),
        labels: task
            .labels
            .iter()
            .map(|(key, value)| (world.names.symbol(key), world.names.symbol(value)))
            .collect(),
        claims: devices::of_task(world, job, task),
        unplanned: false,
    };
    world.tell(Delta::Pod(id, Box::new(facts)));
}

fn shape(world: &mut World, job: &case::Job, task: &case::Task) -> Shape {
    let namespace = world.names.symbol(&job.namespace);
    let affinity = task.required_node_affinity.as_ref().map(|affinity| {
        let values = affinity.values.iter().map(|value| world.names.symbol(value)).collect();
        vec![Requirement { key: world.names.symbol(&affinity.label), holds: Holds::In(values) }]
    });
    let mut terms = |term: Option<&case::PodAffinity>| -> Vec<PodTerm> {
        let term = term.map(|term| PodTerm {
            topology_key: world.names.symbol(&term.topology_key),
            namespaces: vec![namespace],
            namespace_selector: None,
            selector: term
                .match_labels
                .iter()
                .map(|(key, value)| Requirement {
                    key: world.names.symbol(key),
                    holds: Holds::In(vec![world.names.symbol(value)]),
                })
                .collect(),
        });
        term.into_iter().collect()
    };
    let (pod_affinity, pod_anti_affinity) =
        (terms(task.pod_affinity.as_ref()), terms(task.pod_anti_affinity.as_ref()));
    let (request, gpu) = if job.best_effort {
        (Resources::default(), GpuRequest::None)
    } else {
        let amounts =
            [(Lane::CPU, task.request.cpu_milli), (Lane::MEMORY, task.request.memory_bytes)];
        (Resources::from_iter(amounts), gpu(world, task))
    };
    Shape {
        request,
        gpu,
        alignment: zones::alignment(task),
        node_affinity: affinity.into_iter().collect(),
        pod_affinity,
        pod_anti_affinity,
        missing: task
            .volume_claims
            .iter()
            .map(|claim| Missing::Claim(world.names.symbol(claim)))
            .collect(),
        ..Shape::default()
    }
}

fn gpu(world: &mut World, task: &case::Task) -> GpuRequest {
    let old = task.annotations.iter().filter(|(key, _)| key.starts_with(annotation::MIG_PREFIX));
    let old: BTreeMap<String, i64> =
        old.filter_map(|(key, text)| Some((key.clone(), text.parse().ok()?))).collect();
    if !old.is_empty() {
        return GpuRequest::LegacyMig(instances(world, &old));
    }
    let devices = |devices: &i64| u16::try_from(*devices).unwrap_or(u16::MAX).max(1);
    match &task.request.gpu {
        case::Gpu::None | case::Gpu::Whole { count: 0 } => GpuRequest::None,
        case::Gpu::Whole { count } => GpuRequest::Whole(u16::try_from(*count).unwrap_or(u16::MAX)),
        case::Gpu::Portion { portion, devices: of } => GpuRequest::Fraction {
            micro: u32::try_from(milli(*portion) * 1000).unwrap_or(u32::MAX),
            devices: devices(of),
        },
        case::Gpu::Memory { memory_mib, devices: of } => GpuRequest::Memory {
            mib: u32::try_from(*memory_mib).unwrap_or(u32::MAX),
            devices: devices(of),
        },
        case::Gpu::Mig { instances: given, legacy: true } => {
            GpuRequest::LegacyMig(instances(world, given))
        }
        case::Gpu::Mig { instances: given, legacy: false } => {
            GpuRequest::Mig(instances(world, given))
        }
    }
}

fn instances(world: &mut World, given: &BTreeMap<String, i64>) -> Vec<(Lane, u32)> {
    let mut lanes: Vec<(Lane, u32)> = Vec::new();
    for (resource, number) in given {
        lanes.push((lane(world, resource), count(*number)));
    }
    lanes.sort_unstable();
    lanes
}

fn state(
    world: &mut World,
    case: &case::Case,
    task: &case::Task,
    devices: &Devices,
) -> anyhow::Result<PodState> {
    let mut place = || {
        let shares =
            matches!(task.request.gpu, case::Gpu::Portion { .. } | case::Gpu::Memory { .. });
        let names = if shares { devices.of_task(task) } else { Vec::new() };
        let devices = names.iter().map(|name| world.names.device(name)).collect();
        let reserved = zones::observed(case, task);
        Place { node: world.names.node(&task.node), devices, reserved }
    };
    Ok(match task.state.as_str() {
        "pending" | "nominated" => PodState::Pending,
        "gated" => PodState::Gated,
        "allocated" | "binding" | "bound" => PodState::Bound(place()),
        "running" => PodState::Running(place()),
        "terminating" => PodState::Releasing(place()),
        "stuck-terminating" => PodState::Stuck(place()),
        "succeeded" => PodState::Succeeded,
        "failed" => PodState::Failed,
        other => anyhow::bail!("task {}: unknown state `{other}`", task.name),
    })
}

/// Names of shared devices; devices of their own share one where a node would have more than it has.
struct Devices {
    renamed: BTreeMap<(String, String), String>,
}

impl Devices {
    fn of(case: &case::Case) -> Self {
        let mut renamed = BTreeMap::new();
        for node in &case.nodes {
            let mut whole = 0;
            let mut shared: BTreeMap<&str, i64> = BTreeMap::new();
            for task in
                case.jobs.iter().flat_map(|job| &job.tasks).filter(|task| task.node == node.name)
            {
                match &task.request.gpu {
                    case::Gpu::Whole { count } => whole += count,
                    case::Gpu::Portion { portion, .. } => {
                        for group in &task.gpu_groups {
                            *shared.entry(group).or_default() += milli(*portion);
                        }
                    }
                    case::Gpu::Memory { memory_mib, .. } => {
                        for group in &task.gpu_groups {
                            *shared.entry(group).or_default() +=
                                memory_mib * GPU_MILLI / node.gpu_memory_mib.max(1);
                        }
                    }
                    case::Gpu::None | case::Gpu::Mig { .. } => {}
                }
            }
            if whole + i64::try_from(shared.len()).unwrap_or(0) > node.gpus {
                let mut kept: Vec<(&str, i64)> = Vec::new();
                for (group, used) in shared.iter().filter(|(group, _)| group.starts_with("auto:")) {
                    match kept.iter_mut().find(|(_, held)| *held + used <= GPU_MILLI) {
                        Some((device, held)) => {
                            *held += used;
                            renamed.insert(
                                (node.name.clone(), (*group).to_owned()),
                                (*device).to_owned(),
                            );
                        }
                        None => kept.push((group, *used)),
                    }
                }
            }
        }
        Self { renamed }
    }

    fn of_task(&self, task: &case::Task) -> Vec<String> {
        task.gpu_groups
            .iter()
            .map(|group| {
                let device = self.renamed.get(&(task.node.clone(), group.clone())).unwrap_or(group);
                format!("{}/{device}", task.node)
            })
            .collect()
    }
}
