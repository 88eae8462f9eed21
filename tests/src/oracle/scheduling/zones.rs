//! NUMA zones of a case, and what its tasks ask and hold of them.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Alignment, Change, Delta, GPU_MILLI, Lane, NodeId, Numa, NumaPolicy, NumaScope, Plan, PodState,
    Reserved, Resources, ZoneAmount,
};
use kai_sim::world::World;

use super::case;

/// Amounts as the cases write them.
type Amounts = BTreeMap<String, i64>;

const CPU: &str = "cpuMilli";
const MEMORY: &str = "memoryBytes";
const GPU: &str = "gpus";

/// Tells a node's zones. What pods hold of them follows from the pods.
pub fn tell(world: &mut World, node: NodeId, numa: &case::Numa) {
    let policy = match numa.policy.as_str() {
        "single-numa-node" => NumaPolicy::SingleNumaNode,
        "restricted" => NumaPolicy::Restricted,
        "best-effort" => NumaPolicy::BestEffort,
        _ => NumaPolicy::None,
    };
    let scope = if numa.scope == "pod" { NumaScope::Pod } else { NumaScope::Container };
    let mut zones: Vec<&case::Zone> = numa.zones.iter().collect();
    zones.sort_by_key(|zone| zone.index);
    let zones = zones.into_iter().map(|zone| amounts(&zone.allocatable).collect()).collect();
    world.tell(Delta::Zones(node, Some(Box::new(Numa { policy, scope, zones }))));
}

fn amounts(given: &Amounts) -> impl Iterator<Item = (Lane, i64)> {
    given.iter().filter_map(|(name, amount)| match name.as_str() {
        CPU => Some((Lane::CPU, *amount)),
        MEMORY => Some((Lane::MEMORY, *amount)),
        GPU => Some((Lane::GPU, *amount * GPU_MILLI)),
        _ => None,
    })
}

/// Makes what a task asks of zones: its only container is the pod.
pub fn alignment(task: &case::Task) -> Option<Box<Alignment>> {
    let gpus = match &task.request.gpu {
        case::Gpu::Whole { count } => *count * GPU_MILLI,
        case::Gpu::None
        | case::Gpu::Portion { .. }
        | case::Gpu::Memory { .. }
        | case::Gpu::Mig { .. } => 0,
    };
    let guaranteed = task.qos_class.as_deref() == Some("Guaranteed");
    if gpus == 0 && !guaranteed {
        return None;
    }
    let mut asks = Resources::from_iter([(Lane::GPU, gpus)]);
    if guaranteed {
        let cpu = task.request.cpu_milli;
        asks.add(Lane::CPU, if cpu % 1000 == 0 { cpu } else { 0 });
        asks.add(Lane::MEMORY, task.request.memory_bytes);
    }
    Some(Box::new(Alignment { pod: asks.clone(), concurrent: vec![asks], serial: Vec::new() }))
}

/// The zones that a running task was seen on; none where it names one that its node does not have.
pub fn observed(case: &case::Case, task: &case::Task) -> Option<Box<Reserved>> {
    let node = case.nodes.iter().find(|node| node.name == task.node)?;
    let numa = node.numa.as_ref()?;
    let mut zones = Vec::new();
    for seen in task.numa_observed.as_ref()? {
        let zone = numa.zones.iter().find(|zone| zone.id == seen.zone)?;
        let zone = u16::try_from(zone.index).ok()?;
        let held = amounts(&seen.amount).map(|(lane, amount)| ZoneAmount { zone, lane, amount });
        zones.extend(held);
    }
    Some(Box::new(Reserved { zones, ..Reserved::default() }))
}

/// The zones that each pod is on, under `plan` where one is given.
pub fn of_pods(world: &World, plan: Option<&Plan>) -> BTreeMap<String, BTreeSet<i64>> {
    let mut zones = BTreeMap::new();
    let of = |reserved: &Option<Box<Reserved>>| -> BTreeSet<i64> {
        let held = reserved.iter().flat_map(|reserved| &reserved.zones);
        held.map(|held| i64::from(held.zone)).collect()
    };
    for (pod, facts) in &world.facts.pods {
        if let Some(place) = facts.state.place() {
            zones.insert(world.names.of_pod(*pod).to_owned(), of(&place.reserved));
        }
    }
    for change in plan.iter().flat_map(|plan| &plan.changes) {
        if let Change::Place { pod, reserved, .. } | Change::Nominate { pod, reserved, .. } = change
        {
            zones.insert(world.names.of_pod(*pod).to_owned(), of(reserved));
        }
    }
    zones
}

/// Works out what is left per zone of a node, under `plan` where one is given: victims of the plan have left, and whom
/// it nominates has come.
pub fn left(world: &World, node: &case::Node, plan: Option<&Plan>) -> BTreeMap<String, Amounts> {
    let Some(numa) = &node.numa else { return BTreeMap::new() };
    let mut left: BTreeMap<i64, Resources> =
        numa.zones.iter().map(|zone| (zone.index, amounts(&zone.allocatable).collect())).collect();
    let mut places = BTreeMap::new();
    for (pod, facts) in &world.facts.pods {
        // What is leaving is as good as gone (docs/behaviour.md 13.3, `reconstructAvailable`).
        if let PodState::Bound(place) | PodState::Running(place) = &facts.state {
            places.insert(*pod, (place.node, place.reserved.clone()));
        }
    }
    for change in plan.iter().flat_map(|plan| &plan.changes) {
        match change {
            Change::Place { pod, node, reserved, .. }
            | Change::Nominate { pod, node, reserved, .. } => {
                places.insert(*pod, (*node, reserved.clone()));
            }
            Change::Evict { pod, .. } => drop(places.remove(pod)),
        }
    }
    let of_node = places.values().filter(|(on, _)| world.names.of_node(*on) == node.name);
    for held in of_node.flat_map(|(_, reserved)| reserved).flat_map(|reserved| &reserved.zones) {
        left.entry(i64::from(held.zone)).or_default().add(held.lane, -held.amount);
    }
    let named = |zone: &case::Zone| {
        let left = &left[&zone.index];
        let amount = |(name, lane, unit): (&str, Lane, i64)| {
            let known = zone.allocatable.contains_key(name);
            known.then(|| (name.to_owned(), left.amount(lane) / unit))
        };
        let names = [(CPU, Lane::CPU, 1), (MEMORY, Lane::MEMORY, 1), (GPU, Lane::GPU, GPU_MILLI)];
        (zone.index.to_string(), names.into_iter().filter_map(amount).collect())
    };
    numa.zones.iter().map(named).collect()
}
