//! S5: nobody passes a limit, and what cannot be evicted stays within quotas, at every queue up to the root.

use std::collections::BTreeMap;

use kai_engine::{
    CLAIM_DEVICES_MAX, Charge, Claim, DeviceCount, DeviceRequest, GPU_MILLI, GpuRequest, Lane,
    LaneKind, NodeId, Owner, Pod, PodId, PodState, QueueId, QueueLane, Resources, Timestamp,
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
        let mut left = Left::all(after, node);
        for (at, (_, _, pod)) in turns.into_iter().enumerate() {
            let charge = if at < UNPLANNED_MAX { left.hold(after, pod) } else { Charge::default() };
            charges.insert(pod, charge);
        }
    }
    charges
}

/// The rest of a node for pods that were put there past the scheduler.
struct Left {
    /// Amounts of what its device plugins and the node itself offer: each is held by those who ask for it.
    amounts: Resources,
    /// The charge of queues for all of it together.
    charge: Charge,
}

impl Left {
    /// Gives all that a node offers; nothing where it is not there.
    fn all(after: &After<'_>, node: NodeId) -> Self {
        let facts = after.facts.nodes.get(&node);
        let amounts = facts.map_or_else(Resources::default, |facts| facts.allocatable.clone());
        Self { amounts, charge: offered(after, node) }
    }

    /// Has a pod hold what there is of what it asks for; returns what its queue is charged.
    fn hold(&mut self, after: &After<'_>, pod: PodId) -> Charge {
        let (facts, spot) = (after.pod(pod), &after.held[&pod]);
        let mut charge = charge(after, facts, spot);
        let gpus = self.hold_gpus(after, &facts.shape.gpu, spot, charge[QueueLane::Gpu]);
        charge[QueueLane::Gpu] = gpus + claimed(after, facts);
        for lane in QueueLane::ALL {
            charge[lane] = charge[lane].min(self.charge[lane]).max(0);
        }
        self.charge -= charge;
        charge
    }

    /// Takes off the GPUs and instances that a pod holds, each as far as there is of it; returns what is charged of them where
    /// it asks for so much. A share that names no device holds whole GPUs.
    fn hold_gpus(&mut self, after: &After<'_>, gpu: &GpuRequest, spot: &Spot, asked: i64) -> i64 {
        let left = self.amounts.amount(Lane::GPU).max(0);
        let whole = |count: u16| i64::from(count).min(left / GPU_MILLI) * GPU_MILLI;
        let (held, charged) = match gpu {
            GpuRequest::None => (0, 0),
            GpuRequest::Whole(count) => (whole(*count), whole(*count)),
            GpuRequest::Fraction { devices, .. } | GpuRequest::Memory { devices, .. } => {
                // Nobody has more of a device than all of it.
                let parts = asked.min(i64::from(*devices) * GPU_MILLI);
                if spot.devices.is_empty() {
                    (whole(*devices), parts.min(whole(*devices)))
                } else {
                    (parts.min(left), parts.min(left))
                }
            }
            GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => {
                let mut charged = 0;
                for (lane, count) in instances {
                    let held = i64::from(*count).min(self.amounts.amount(*lane).max(0));
                    self.amounts.add(*lane, -held);
                    charged += held * instance_milli(after, *lane);
                }
                (0, charged)
            }
        };
        self.amounts.add(Lane::GPU, -held);
        charged
    }
}

/// Sums what a node offers to queues; nothing where it is not there.
fn offered(after: &After<'_>, node: NodeId) -> Charge {
    let mut offered = Charge::default();
    let Some(facts) = after.facts.nodes.get(&node) else { return offered };
    for (lane, amount) in facts.allocatable.iter() {
        match lane {
            Lane::CPU => offered[QueueLane::Cpu] += amount,
            Lane::MEMORY => offered[QueueLane::Memory] += amount,
            Lane::GPU => offered[QueueLane::Gpu] += amount,
            lane => offered[QueueLane::Gpu] += amount * instance_milli(after, lane),
        }
    }
    let devices = after.facts.slices.get(&node).map_or(&[][..], Vec::as_slice);
    let gpus = devices.iter().filter(|device| device.gpu);
    offered[QueueLane::Gpu] += gpus.map(|_| GPU_MILLI).sum::<i64>();
    offered
}

/// Gives the GPUs that an instance stands for, in milli-devices.
fn instance_milli(after: &After<'_>, lane: Lane) -> i64 {
    match after.facts.lanes.get(&lane) {
        Some(LaneKind::Mig { gpus }) => i64::from(*gpus) * GPU_MILLI,
        Some(LaneKind::Plain | LaneKind::Gpu) | None => 0,
    }
}

/// Sums the GPUs that a queue is charged for claims of a pod, and for what devices stand in for, in milli-devices: of
/// alternatives those of the dearest. Who asks for memory of GPUs is charged for nothing besides.
fn claimed(after: &After<'_>, pod: &Pod) -> i64 {
    if matches!(pod.shape.gpu, GpuRequest::Memory { .. }) {
        return 0;
    }
    let of_request = |request: &DeviceRequest| {
        let count = match request.count {
            DeviceCount::Exactly(count) => count,
            DeviceCount::All { most } => most.max(1),
        };
        if request.gpu && !request.admin { i64::from(count) * GPU_MILLI } else { 0 }
    };
    let of_claim = |claim: &Claim| {
        let alternatives = claim.requests.chunk_by(|_, next| next.instead);
        let dearest = alternatives.map(|some| some.iter().map(of_request).max().unwrap_or(0));
        dearest.sum::<i64>().min(i64::from(CLAIM_DEVICES_MAX) * GPU_MILLI)
    };
    let claims = pod.claims.iter().filter_map(|claim| after.facts.claims.get(claim));
    let claimed: i64 = claims.filter(|claim| !claim.synthetic).map(of_claim).sum();
    let is_gpu = |lane: Lane| after.facts.lanes.get(&lane) == Some(&LaneKind::Gpu);
    let extended = pod.shape.request.iter().filter(|(lane, _)| is_gpu(*lane));
    claimed + extended.map(|(_, amount)| amount.min(i64::from(u16::MAX)) * GPU_MILLI).sum::<i64>()
}

/// Sums what a pod costs its queue where it is, claims aside.
fn charge(after: &After<'_>, pod: &Pod, spot: &Spot) -> Charge {
    let request = &pod.shape.request;
    let gpu = match &pod.shape.gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(*micro) / 1000 * i64::from(*devices),
        GpuRequest::Memory { mib, devices } => {
            let node = after.facts.nodes.get(&spot.node);
            let memory = node.map_or(1, |node| i64::from(node.gpus.memory_mib.max(1)));
            // Rounded up to hundredths of a device, as the contract's receivedGPU is.
            (i64::from(*mib) * 100 + memory - 1) / memory * 10 * i64::from(*devices)
        }
        GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => instances
            .iter()
            .map(|(lane, count)| i64::from(*count) * instance_milli(after, *lane))
            .sum(),
    };
    kai_engine::PerLane([request.amount(Lane::CPU), request.amount(Lane::MEMORY), gpu])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kai_engine::Change;

    use super::*;
    use crate::{audit::audit, build::build, scenario::parse, world::World};

    /// A cluster with these pods on the first of two nodes, put there past the scheduler, the oldest first. The last of them
    /// is of a queue with a limit, and so is one that waits.
    fn cluster(node: &str, limit: &str, pods: &[&str]) -> World {
        let mut text = format!(
            "title: t\nwhy: w\n\
             nodes: {{ node0: {{ {node} }}, node1: {{ gpus: 1 }} }}\n\
             queues: {{ other: {{ quota: 8 }}, bounded: {{ quota: {limit}, limit: {limit} }} }}\n\
             groups:\n"
        );
        for (at, pod) in pods.iter().enumerate() {
            let queue = if at + 1 == pods.len() { "bounded" } else { "other" };
            let what = format!("queue: {queue}, on: node0, unplanned: true, {pod}");
            let _ = writeln!(text, "  g{at}: {{ {what} }}");
        }
        text += "  waits: { queue: bounded, gpus: 0.5 }\n";
        build(&parse(&text).expect("it is a scenario")).expect("it makes sense")
    }

    /// A node of each kind of GPUs.
    const ALL: &str =
        "gpus: 4, mig: { instances: { nvidia.com/mig-1g.5gb: 4 } }, devices: { gpu: 4 }";
    /// More instances than any node has.
    const INSTANCES: &str = "mig: { nvidia.com/mig-1g.5gb: 100 }";

    /// Compares the GPUs, in milli-devices, that queues are charged for each of the pods.
    fn check(pods: &[&str], expect: &[i64]) {
        let world = cluster(ALL, "1", pods);
        let charges = unplanned(&After::of(&world));
        let gpus: Vec<i64> = charges.values().map(|charge| charge[QueueLane::Gpu]).collect();
        assert_eq!(gpus, expect, "{pods:?}");
    }

    /// Instances are not given to who asks for GPUs, and the other way round.
    #[test]
    fn pods_on_a_node_hold_each_kind_of_its_gpus_once() {
        check(&["gpus: 100", "gpus: 1", INSTANCES, INSTANCES], &[4000, 0, 4000, 0]);
        check(&["gpus: 3", "gpus: 3"], &[3000, 1000]);
        check(&["templates: [gpu*4]", "gpus: 4", INSTANCES], &[4000, 4000, 4000]);
        check(&["templates: [gpu*1 | gpu*2]", "gpus: 4"], &[2000, 4000]);
    }

    #[test]
    fn a_share_without_a_device_holds_whole_gpus_and_is_charged_its_part() {
        check(&["gpus: 0.5", "gpus: 4"], &[500, 3000]);
        check(&["gpus: 0.5, devices: 6", "gpus: 1"], &[3000, 0]);
        check(&["gpu_memory_mib: 81920", "gpus: 4"], &[1000, 3000]);
        check(&["gpu_memory_mib: 4294967295, devices: 3", "gpus: 4"], &[3000, 1000]);
    }

    /// Says what is wrong with a plan by which the pod that waits is placed.
    fn faults(node: &str, limit: &str, pods: &[&str]) -> Vec<String> {
        let mut world = cluster(node, limit, pods);
        let before = world.clone();
        let plan = world.plan();
        let placed = plan.changes.iter().filter(|one| matches!(one, Change::Place { .. })).count();
        assert_eq!(placed, 1, "{pods:?}");
        audit(&World { names: world.names.clone(), ..before }, &plan)
    }

    #[test]
    fn no_limit_is_passed_by_what_no_node_has() {
        let none = Vec::<String>::new();
        assert_eq!(faults("gpus: 4", "3.5", &["gpus: 0.5", "gpus: 4"]), none);
        let split = "gpus: 4, mig: { instances: { nvidia.com/mig-1g.5gb: 4 } }";
        assert_eq!(faults(split, "4.5", &["gpus: 100"]), none);
    }
}
