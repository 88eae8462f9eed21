//! S1 and S2: no node and no device holds more than it has; S11: each pod is where it may be, and no GPU is opened for
//! sharing that is set aside.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    DeviceId, Effect, GPU_MILLI, GpuRequest, Lane, Node, NodeId, Owner, Pod, PodId, Resources,
};

use super::{After, Spot};

pub(super) fn audit(after: &After<'_>) -> Vec<String> {
    let mut findings = Vec::new();
    let touched: BTreeSet<NodeId> = after.placed.iter().map(|pod| after.held[pod].node).collect();
    for node in touched {
        let on_node = after.held.iter().filter(|(_, spot)| spot.node == node);
        let pods: Pods<'_> = on_node.map(|(pod, spot)| (*pod, spot)).collect();
        findings.extend(opens_too_many(after, node, &pods));
        findings.extend(node_holds(after, node, pods));
    }
    let promised: BTreeSet<NodeId> = after.promised.values().map(|spot| spot.node).collect();
    for node in promised {
        let pods = once_all_left(after, node);
        findings.extend(opens_too_many(after, node, &pods));
        findings.extend(node_holds(after, node, pods));
    }
    let new = after.placed.iter().map(|pod| (pod, &after.held[pod])).chain(&after.promised);
    for (pod, spot) in new {
        findings.extend(may_be_there(after, *pod, spot));
    }
    findings
}

/// Pods with what they hold.
type Pods<'a> = Vec<(PodId, &'a Spot)>;

/// The pods of a node once all that leaves has left and all that is promised has come. A reservation goes with the last
/// user of its device, and soon where that one is gone already.
fn once_all_left<'a>(after: &'a After<'_>, node: NodeId) -> Pods<'a> {
    let on_node = |(_, spot): &(&PodId, &Spot)| spot.node == node;
    let staying = after.held.iter().filter(|(_, spot)| !spot.leaving);
    let all: Pods<'_> =
        staying.chain(&after.promised).filter(on_node).map(|(pod, spot)| (*pod, spot)).collect();
    let is_reservation = |pod: PodId| after.pod(pod).owner == Owner::Reservation;
    let uses = |(pod, spot): (PodId, &Spot), device: &DeviceId| {
        !is_reservation(pod) && spot.devices.contains(device)
    };
    let goes = |device: &DeviceId| !all.iter().any(|one| uses(*one, device));
    let stays = |(pod, spot): &(PodId, &Spot)| {
        !is_reservation(*pod) || spot.devices.is_empty() || !spot.devices.iter().all(goes)
    };
    all.iter().copied().filter(stays).collect()
}

/// Tells whether a plan opens GPUs of a node for sharing that are set aside; the other pods hold what they held before.
fn opens_too_many(after: &After<'_>, node: NodeId, pods: &Pods<'_>) -> Option<String> {
    let aside = *after.facts.set_aside.get(&node)?;
    let is_new = |pod: PodId| after.placed.contains(&pod) || after.promised.contains_key(&pod);
    let shared = |new: bool| -> BTreeSet<DeviceId> {
        let some = pods.iter().filter(|(pod, _)| is_new(*pod) == new);
        some.flat_map(|(_, spot)| spot.devices.iter().copied()).collect()
    };
    let before = shared(false);
    let opened = shared(true).difference(&before).count();
    let whole = |(pod, _): &(PodId, &Spot)| match after.pod(*pod).shape.gpu {
        GpuRequest::Whole(count)
            if !is_new(*pod) && after.pod(*pod).owner != Owner::Reservation =>
        {
            usize::from(count)
        }
        GpuRequest::None
        | GpuRequest::Whole(_)
        | GpuRequest::Fraction { .. }
        | GpuRequest::Memory { .. }
        | GpuRequest::Mig(_)
        | GpuRequest::LegacyMig(_) => 0,
    };
    let held = before.len() + pods.iter().map(whole).sum::<usize>();
    let gpus = after.facts.nodes.get(&node)?.allocatable.amount(Lane::GPU) / GPU_MILLI;
    let all = held + opened + usize::from(aside);
    (opened > 0 && all > usize::try_from(gpus).unwrap_or(0))
        .then(|| format!("S11: {} shares a GPU that is set aside", after.names.of_node(node)))
}

/// Lists what is wrong with these pods on one node.
fn node_holds(after: &After<'_>, node: NodeId, pods: Pods<'_>) -> Vec<String> {
    let name = after.names.of_node(node);
    let Some(facts) = after.facts.nodes.get(&node) else {
        return vec![format!("S1: {name} does not exist, yet pods are placed there")];
    };
    let mut sum = Resources::default();
    let mut devices: BTreeMap<DeviceId, i64> = BTreeMap::new();
    for (pod, spot) in pods {
        let shape = &after.pod(pod).shape;
        let stands_in = spot.reserved.as_deref().map_or(&[][..], |reserved| &reserved.lanes);
        for (lane, amount) in shape.request.iter().filter(|(lane, _)| !stands_in.contains(lane)) {
            sum.add(lane, amount);
        }
        sum.add(Lane::PODS, 1);
        match &shape.gpu {
            GpuRequest::None => {}
            // A reservation is counted by the devices that it stands for.
            GpuRequest::Whole(_) if after.pod(pod).owner == Owner::Reservation => {
                for device in &spot.devices {
                    devices.entry(*device).or_default();
                }
            }
            GpuRequest::Whole(_) if stands_in.contains(&Lane::GPU) => {}
            GpuRequest::Whole(count) => sum.add(Lane::GPU, i64::from(*count) * GPU_MILLI),
            GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => {
                for (lane, count) in instances {
                    sum.add(*lane, i64::from(*count));
                }
            }
            GpuRequest::Fraction { .. } | GpuRequest::Memory { .. } => {
                for device in &spot.devices {
                    *devices.entry(*device).or_default() += mib(&shape.gpu, facts);
                }
            }
        }
    }
    sum.add(Lane::GPU, i64::try_from(devices.len()).unwrap_or(i64::MAX / GPU_MILLI) * GPU_MILLI);
    let over = sum.iter().filter(|(lane, amount)| *amount > facts.allocatable.amount(*lane));
    let mut findings: Vec<String> = over
        .map(|(lane, _)| format!("S1: {name} holds more {} than it has", after.names.of_lane(lane)))
        .collect();
    for (device, held) in devices {
        if held > i64::from(facts.gpus.memory_mib) {
            findings.push(format!("S2: {} holds more than it has", after.names.of_device(device)));
        }
    }
    findings
}

/// MiB that a request takes of each of its devices, rounded down as the contract does for fractions.
fn mib(gpu: &GpuRequest, node: &Node) -> i64 {
    match gpu {
        GpuRequest::Fraction { micro, .. } => {
            i64::from(*micro) * i64::from(node.gpus.memory_mib) / 1_000_000
        }
        GpuRequest::Memory { mib, .. } => i64::from(*mib),
        GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            0
        }
    }
}

fn may_be_there(after: &After<'_>, pod: PodId, spot: &Spot) -> Vec<String> {
    let (facts, name) = (after.pod(pod), after.name(pod));
    let Some(node) = after.facts.nodes.get(&spot.node) else { return Vec::new() };
    let where_to = after.names.of_node(spot.node);
    let mut findings = Vec::new();
    let mut wrong = |what: &str| findings.push(format!("S11: {name} on {where_to}: {what}"));
    if node.blocked.is_some() {
        wrong("the node takes no pods");
    }
    if !selected(facts, node) {
        wrong("the node's labels are not those it selects");
    }
    if !tolerated(facts, node) {
        wrong("the node has a taint that it does not tolerate");
    }
    if matches!(facts.shape.gpu, GpuRequest::Memory { .. }) && !node.gpus.memory_known {
        wrong("the memory of the node's GPUs is not known");
    }
    let wanted = match facts.shape.gpu {
        GpuRequest::Fraction { devices, .. } | GpuRequest::Memory { devices, .. } => {
            usize::from(devices)
        }
        GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            0
        }
    };
    let distinct: BTreeSet<_> = spot.devices.iter().collect();
    if distinct.len() != wanted || spot.devices.len() != wanted {
        wrong("it has not as many different devices as it asked for");
    }
    findings
}

fn selected(pod: &Pod, node: &Node) -> bool {
    pod.shape.node_selector.iter().all(|(key, value)| {
        node.labels.iter().any(|label| label.key == *key && label.value == *value)
    })
}

fn tolerated(pod: &Pod, node: &Node) -> bool {
    node.taints.iter().filter(|taint| taint.effect != Effect::PreferNoSchedule).all(|taint| {
        pod.shape.tolerations.iter().any(|toleration| {
            toleration.key.is_none_or(|key| key == taint.key)
                && toleration.value.is_none_or(|value| value == taint.value)
                && toleration.effect.is_none_or(|effect| effect == taint.effect)
        })
    })
}
