//! Requests of a pod, and the nodes that it may go to.

use std::{collections::BTreeSet, sync::Arc};

use kai_engine::{
    Alignment, GPU_MILLI, GpuRequest, Holds, HostPort, Lane, Missing, PodTerm, Requirement,
    Resources, Shape, Spread, Symbol, Toleration, VolumeNodes,
};

use super::{Result, effect_of, lane, taint_parts};
use crate::{
    entries::Entries,
    scenario::{self, Affinity, Pod, ScenarioError},
    world::World,
};

/// One GPU in millionths.
const WHOLE: i64 = 1_000_000;

pub(super) fn shape(
    world: &mut World,
    key: &str,
    pod: &Pod,
    namespace: Option<&str>,
) -> Result<Shape> {
    let (request, overhead) = request(world, pod);
    let namespace = world.names.symbol(namespace.unwrap_or("default"));
    let (alternatives, exact): (Vec<_>, Vec<_>) =
        pod.selector.iter().partition(|(_, values)| values.contains('|'));
    let node_selector = exact
        .iter()
        .map(|(key, value)| (world.names.symbol(key), world.names.symbol(value)))
        .collect();
    let requirements = selected(world, alternatives.into_iter());
    let gpu = gpu(world, key, pod)?;
    let volumes = volumes(world, pod);
    Ok(Shape {
        alignment: alignment(pod, &request, &gpu),
        request,
        overhead,
        gpu,
        node_selector,
        node_affinity: if requirements.is_empty() { Vec::new() } else { vec![requirements] },
        tolerations: tolerations(world, key, pod)?,
        pod_affinity: pod.affinity.iter().map(|term| pod_term(world, term, namespace)).collect(),
        pod_anti_affinity: pod
            .anti_affinity
            .iter()
            .map(|term| pod_term(world, term, namespace))
            .collect(),
        preferred_nodes: pod
            .prefers
            .iter()
            .filter(|wish| !wish.node.is_empty())
            .map(|wish| (wish.weight.unwrap_or(1), selected(world, wish.node.iter())))
            .collect(),
        preferred_pods: pod
            .prefers
            .iter()
            .filter(|wish| !wish.key.is_empty())
            .map(|wish| {
                let term = Affinity { key: wish.key.clone(), labels: wish.labels.clone() };
                (wish.weight.unwrap_or(1), pod_term(world, &term, namespace))
            })
            .collect(),
        spread: pod.spread.iter().map(|one| spread(world, one, namespace)).collect(),
        ports: ports(world, key, pod)?,
        volumes: Arc::new(volumes),
        missing: pod
            .missing
            .iter()
            .map(|claim| Missing::Claim(world.names.symbol(claim)))
            .collect(),
    })
}

fn volumes(world: &mut World, pod: &Pod) -> Vec<VolumeNodes> {
    let mut volume = |labels: &Entries<String>| {
        let terms = vec![selected(world, labels.iter())];
        VolumeNodes { terms, bound: true, storage: None }
    };
    pod.volumes.iter().map(&mut volume).collect()
}

/// All that a pod asks for but GPUs, and the part of it that is overhead.
fn request(world: &mut World, pod: &Pod) -> (Resources, Resources) {
    let mut request = Resources::from_iter([
        (Lane::CPU, pod.cpu.map_or(1000, |cpu| cpu.0)),
        (Lane::MEMORY, pod.memory.map_or(1 << 30, |memory| memory.0)),
    ]);
    for (resource, amount) in pod.resources.iter() {
        request.add(lane(world, resource), amount.0);
    }
    let overhead: Resources = pod.overhead.map(|cores| (Lane::CPU, cores.0)).into_iter().collect();
    request.add(Lane::CPU, overhead.amount(Lane::CPU));
    (request, overhead)
}

/// Labels with their alternatives as requirements.
fn selected<'p>(
    world: &mut World,
    labels: impl Iterator<Item = (&'p str, &'p String)>,
) -> Vec<Requirement> {
    labels
        .map(|(key, values)| Requirement {
            key: world.names.symbol(key),
            holds: Holds::In(values.split('|').map(|value| world.names.symbol(value)).collect()),
        })
        .collect()
}

/// Sums what the pod asks of NUMA zones, as one container: everything where it is guaranteed, else GPUs alone.
///
/// # Source
/// docs/behaviour.md 13.3.
fn alignment(pod: &Pod, request: &Resources, gpu: &GpuRequest) -> Option<Box<Alignment>> {
    let gpus = match gpu {
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::None
        | GpuRequest::Fraction { .. }
        | GpuRequest::Memory { .. }
        | GpuRequest::Mig(_)
        | GpuRequest::LegacyMig(_) => 0,
    };
    if gpus == 0 && !pod.guaranteed {
        return None;
    }
    let mut asks = Resources::default();
    if pod.guaranteed {
        asks = request.clone();
        let cpu = asks.amount(Lane::CPU);
        if cpu % 1000 != 0 {
            asks.add(Lane::CPU, -cpu);
        }
    }
    asks.add(Lane::GPU, gpus);
    Some(Box::new(Alignment { pod: asks.clone(), concurrent: vec![asks], serial: Vec::new() }))
}

fn gpu(world: &mut World, key: &str, pod: &Pod) -> Result<GpuRequest> {
    let wrong = |what: &str| Err(ScenarioError::value(format!("{key}.gpus"), what));
    let devices = u16::try_from(pod.devices.unwrap_or(1)).unwrap_or(u16::MAX);
    if !pod.mig.is_empty() {
        let mut instances: Vec<(Lane, u32)> = Vec::new();
        for (resource, count) in pod.mig.iter() {
            instances.push((lane(world, resource), *count));
        }
        instances.sort_unstable();
        return Ok(GpuRequest::Mig(instances));
    }
    if pod.gpu_memory_mib > 0 {
        return Ok(GpuRequest::Memory { mib: pod.gpu_memory_mib, devices });
    }
    let micro = pod.gpus.0;
    if micro == 0 {
        return Ok(GpuRequest::None);
    }
    if pod.devices.is_none() && micro > 0 && micro % WHOLE == 0 {
        return u16::try_from(micro / WHOLE)
            .map(GpuRequest::Whole)
            .or_else(|_| wrong("is more than a node can have"));
    }
    match u32::try_from(micro) {
        Ok(micro) if i64::from(micro) <= WHOLE => Ok(GpuRequest::Fraction { micro, devices }),
        Ok(_) | Err(_) => wrong("is neither a whole number of GPUs nor a part of one"),
    }
}

fn tolerations(world: &mut World, key: &str, pod: &Pod) -> Result<Vec<Toleration>> {
    let key = format!("{key}.tolerations");
    pod.tolerations
        .iter()
        .map(|text| {
            let (taint, value, effect) = taint_parts(text);
            Ok(Toleration {
                key: (taint != "*").then(|| world.names.symbol(taint)),
                value: value.map(|value| world.names.symbol(value)),
                effect: effect.map(|effect| effect_of(effect, &key)).transpose()?,
            })
        })
        .collect()
}

/// Reads `8080`, `10.0.0.1:8080`, `8080/UDP` and `10.0.0.1:8080/UDP`.
fn ports(world: &mut World, key: &str, pod: &Pod) -> Result<Vec<HostPort>> {
    let read = |text: &String| {
        let (rest, protocol) = text.split_once('/').unwrap_or((text, "TCP"));
        let (address, port) = rest.rsplit_once(':').unwrap_or(("", rest));
        let wrong = |_| {
            let what = format!("`{text}` is no port: write 8080 or 10.0.0.1:8080/UDP");
            ScenarioError::value(format!("{key}.ports"), what)
        };
        Ok(HostPort {
            port: port.parse().map_err(wrong)?,
            protocol: world.names.symbol(protocol),
            address: world.names.symbol(address),
        })
    };
    let ports: BTreeSet<HostPort> = pod.ports.iter().map(read).collect::<Result<_>>()?;
    Ok(ports.into_iter().collect())
}

fn spread(world: &mut World, wire: &scenario::Spread, namespace: Symbol) -> Spread {
    Spread {
        topology_key: world.names.symbol(&wire.key),
        skew_max: wire.skew.unwrap_or(1),
        domains_min: wire.domains.unwrap_or(1),
        namespace,
        selector: selected(world, wire.labels.iter()),
        honors_selection: !wire.everywhere,
        honors_taints: wire.tolerated,
        required: !wire.soft,
    }
}

fn pod_term(world: &mut World, term: &Affinity, namespace: Symbol) -> PodTerm {
    PodTerm {
        topology_key: world.names.symbol(&term.key),
        namespaces: vec![namespace],
        namespace_selector: None,
        selector: term
            .labels
            .iter()
            .map(|(key, value)| Requirement {
                key: world.names.symbol(key),
                holds: Holds::In(vec![world.names.symbol(value)]),
            })
            .collect(),
    }
}
