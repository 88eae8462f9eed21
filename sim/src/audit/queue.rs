//! S5: nobody passes a limit, and what cannot be evicted stays within quotas, at every queue up to the root.

use std::collections::BTreeMap;

use kai_engine::{
    Charge, GPU_MILLI, GpuRequest, Lane, LaneKind, NodeId, Owner, Pod, PodId, PodState, QueueId,
    QueueLane, Timestamp,
};

use super::{After, Spot};

/// Depth of a tree beyond which it counts as a ring.
const DEPTH_MAX: usize = 64;

/// So many pods of a node that were put there past the scheduler are charged, the oldest ones.
const UNPLANNED_MAX: usize = 256;

pub(super) fn audit(after: &After<'_>) -> Vec<String> {
    let unplanned = unplanned(after);
    let mut held: BTreeMap<QueueId, Charge> = BTreeMap::new();
    let mut protected: BTreeMap<QueueId, Charge> = BTreeMap::new();
    // What a plan adds to queues, and what of that cannot be evicted.
    let mut grown: BTreeMap<QueueId, (Charge, Charge)> = BTreeMap::new();
    for (pod, spot) in &after.held {
        let facts = after.pod(*pod);
        // Limits and quotas hold for what leaves too, until it is gone; but not for what does not go though it should have.
        if matches!(facts.state, PodState::Stuck(_)) {
            continue;
        }
        let Owner::Group(group) = facts.owner else { continue };
        let Some(group) = after.facts.groups.get(&group) else { continue };
        let charge = unplanned.get(pod).copied().unwrap_or_else(|| charge(after, facts, spot));
        for queue in path(after, group.queue) {
            *held.entry(queue).or_default() += charge;
            if !group.preemptible {
                *protected.entry(queue).or_default() += charge;
            }
            if after.placed.contains(pod) {
                let (added, fixed) = grown.entry(queue).or_default();
                *added += charge;
                if !group.preemptible {
                    *fixed += charge;
                }
            }
        }
    }
    let mut findings = Vec::new();
    for (queue, (added, fixed)) in grown {
        let facts = &after.facts.queues[&queue];
        let name = after.names.of_queue(queue);
        for lane in QueueLane::ALL {
            if added[lane] > 0 && !facts.limit[lane].admits(held[&queue][lane]) {
                findings.push(format!("S5: {name} passes its limit of {lane:?}"));
            }
            if fixed[lane] > 0 && !facts.quota[lane].admits(protected[&queue][lane]) {
                findings.push(format!(
                    "S5: {name} passes its quota of {lane:?} with what cannot be evicted"
                ));
            }
        }
    }
    findings
}

fn path(after: &After<'_>, leaf: Option<QueueId>) -> Vec<QueueId> {
    let mut path = Vec::new();
    let mut next = leaf;
    while let Some(queue) =
        next.filter(|queue| path.len() < DEPTH_MAX && after.facts.queues.contains_key(queue))
    {
        path.push(queue);
        next = after.facts.queues[&queue].parent;
    }
    path
}

/// Charges of pods that were put on their nodes past the scheduler: those of a node have it once, the oldest first.
fn unplanned(after: &After<'_>) -> BTreeMap<PodId, Charge> {
    let mut turns: BTreeMap<NodeId, Vec<(Timestamp, u128, PodId)>> = BTreeMap::new();
    for (pod, spot) in &after.held {
        let facts = after.pod(*pod);
        if facts.unplanned && facts.state.place().is_some() {
            turns.entry(spot.node).or_default().push((facts.created, facts.uid, *pod));
        }
    }
    let mut charges = BTreeMap::new();
    for (node, mut turns) in turns {
        turns.sort_unstable();
        let mut left = offered(after, node);
        for (at, (_, _, pod)) in turns.into_iter().enumerate() {
            let mut charge = charge(after, after.pod(pod), &after.held[&pod]);
            for lane in QueueLane::ALL {
                let most = if at < UNPLANNED_MAX { left[lane] } else { 0 };
                charge[lane] = charge[lane].min(most).max(0);
            }
            left -= charge;
            charges.insert(pod, charge);
        }
    }
    charges
}

/// Sums what a node offers to queues; nothing where it is not there.
fn offered(after: &After<'_>, node: NodeId) -> Charge {
    let mut offered = Charge::default();
    let amounts = after.facts.nodes.get(&node).into_iter().flat_map(|node| node.allocatable.iter());
    for (lane, amount) in amounts {
        match lane {
            Lane::CPU => offered[QueueLane::Cpu] += amount,
            Lane::MEMORY => offered[QueueLane::Memory] += amount,
            Lane::GPU => offered[QueueLane::Gpu] += amount,
            lane => {
                if let Some(LaneKind::Mig { gpus }) = after.facts.lanes.get(&lane) {
                    offered[QueueLane::Gpu] += amount * i64::from(*gpus) * GPU_MILLI;
                }
            }
        }
    }
    offered
}

/// Sums what a pod costs its queue where it is.
fn charge(after: &After<'_>, pod: &Pod, spot: &Spot) -> Charge {
    let request = &pod.shape.request;
    let gpu = match &pod.shape.gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(*micro) / 1000 * i64::from(*devices),
        GpuRequest::Memory { mib, devices } => {
            let memory =
                after.facts.nodes.get(&spot.node).map_or(1, |node| node.gpus.memory_mib.max(1));
            // Rounded up to hundredths of a device, as the contract's receivedGPU is.
            i64::from((*mib * 100).div_ceil(memory)) * 10 * i64::from(*devices)
        }
        GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => instances
            .iter()
            .map(|(lane, count)| match after.facts.lanes.get(lane) {
                Some(LaneKind::Mig { gpus }) => i64::from(*gpus) * i64::from(*count) * GPU_MILLI,
                Some(LaneKind::Plain | LaneKind::Gpu) | None => 0,
            })
            .sum(),
    };
    kai_engine::PerLane([request.amount(Lane::CPU), request.amount(Lane::MEMORY), gpu])
}
