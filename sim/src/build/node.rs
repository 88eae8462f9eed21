//! Nodes.

use kai_engine::{
    Blocked, Delta, GPU_MILLI, Gpus, Label, Lane, Mig, MigStrategy, Node, Numa, NumaPolicy,
    NumaScope, Resources, Taint, Worker,
};

use super::{Result, effect_of, lane, taint_parts};
use crate::{
    scenario::{self, ScenarioError},
    world::World,
};

/// The label every node has.
const HOSTNAME: &str = "kubernetes.io/hostname";

pub(super) fn tell(world: &mut World, name: &str, node: &scenario::Node) -> Result<()> {
    let id = world.names.node(name);
    let mut allocatable = Resources::from_iter([
        (Lane::CPU, node.cpu.0),
        (Lane::MEMORY, node.memory.0),
        (Lane::GPU, i64::from(node.gpus) * GPU_MILLI),
        (Lane::PODS, i64::from(node.pods)),
    ]);
    for (resource, amount) in node.resources.iter() {
        allocatable.add(lane(world, resource), amount.0);
    }
    let mut mig = Mig::default();
    if let Some(split) = &node.mig {
        for (resource, count) in split.instances.iter() {
            allocatable.add(lane(world, resource), i64::from(*count));
        }
        mig = Mig { enabled: true, strategy: strategy(name, split)? };
    }
    let facts = Node {
        name: name.as_bytes().into(),
        allocatable,
        gpus: Gpus {
            count: u16::try_from(node.gpus_labelled.unwrap_or(node.gpus)).unwrap_or(u16::MAX),
            memory_mib: if node.gpu_memory_mib == 0 {
                100
            } else {
                node.gpu_memory_mib / 100 * 100
            },
            memory_known: node.gpu_memory_mib > 0,
        },
        labels: labels(world, name, node),
        taints: taints(world, name, node)?,
        blocked: match (node.unschedulable, node.ready) {
            (true, _) => Some(Blocked::Unschedulable),
            (false, false) => Some(Blocked::NotReady),
            (false, true) => None,
        },
        mig,
        worker: Worker { gpu: node.worker.contains("gpu"), cpu: node.worker.contains("cpu") },
    };
    world.tell(Delta::Node(id, Box::new(facts)));
    if node.set_aside > 0 {
        world.tell(Delta::SetAside(id, node.set_aside));
    }
    super::claim::slices(world, name, id, node)?;
    if let Some(given) = &node.zones {
        let numa = zones(name, given)?;
        world.tell(Delta::Zones(id, Some(Box::new(numa))));
    }
    Ok(())
}

fn zones(name: &str, given: &scenario::Zones) -> Result<Numa> {
    let wrong = |key: &str, text: &str, one_of: &str| {
        let what = format!("`{text}` is none of {one_of}");
        Err(ScenarioError::value(format!("nodes.{name}.zones.{key}"), what))
    };
    let policy = match given.policy.as_deref() {
        None | Some("single-numa-node") => NumaPolicy::SingleNumaNode,
        Some("restricted") => NumaPolicy::Restricted,
        Some("best-effort") => NumaPolicy::BestEffort,
        Some("none") => NumaPolicy::None,
        Some(other) => {
            return wrong("policy", other, "none, best-effort, restricted, single-numa-node");
        }
    };
    let scope = match given.scope.as_deref() {
        None | Some("container") => NumaScope::Container,
        Some("pod") => NumaScope::Pod,
        Some(other) => return wrong("scope", other, "container, pod"),
    };
    let count = given.cpu.len().max(given.gpus.len());
    let zone = |at: usize| {
        let gpus = given.gpus.get(at).map_or(0, |gpus| i64::from(*gpus) * GPU_MILLI);
        let cpu = given.cpu.get(at).map_or(0, |cpu| cpu.0);
        Resources::from_iter([(Lane::CPU, cpu), (Lane::GPU, gpus)])
    };
    Ok(Numa { policy, scope, zones: (0..count).map(zone).collect() })
}

fn strategy(name: &str, split: &scenario::Mig) -> Result<MigStrategy> {
    match split.strategy.as_deref() {
        None | Some("mixed") => Ok(MigStrategy::Mixed),
        Some("single") => Ok(MigStrategy::Single),
        Some("none") => Ok(MigStrategy::None),
        Some(other) => Err(ScenarioError::value(
            format!("nodes.{name}.mig.strategy"),
            format!("`{other}` is none of mixed, single, none"),
        )),
    }
}

fn labels(world: &mut World, name: &str, node: &scenario::Node) -> Vec<Label> {
    let own = [(HOSTNAME, name)].into_iter().filter(|(key, _)| node.labels.find(key).is_none());
    let given = node.labels.iter().map(|(key, value)| (key, value.as_str()));
    own.chain(given).map(|(key, value)| world.label(key, value)).collect()
}

fn taints(world: &mut World, name: &str, node: &scenario::Node) -> Result<Vec<Taint>> {
    let key = format!("nodes.{name}.taints");
    node.taints
        .iter()
        .map(|text| match taint_parts(text) {
            (taint, value, Some(effect)) => Ok(Taint {
                key: world.names.symbol(taint),
                value: world.names.symbol(value.unwrap_or("")),
                effect: effect_of(effect, &key)?,
            }),
            (_, _, None) => Err(ScenarioError::value(
                &key,
                format!("`{text}` has no effect: write key=value:NoSchedule"),
            )),
        })
        .collect()
}
