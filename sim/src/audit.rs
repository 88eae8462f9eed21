//! Judges a plan by the facts alone: what must never happen, told apart from how the engine decides.
//!
//! Nothing here reads the engine's columns. Every sum is made anew from nodes, pods, groups and queues as they are told,
//! so that a wrong book of the engine can't hide its own fault.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Change, DeviceId, Eviction, GroupId, NodeId, Owner, Plan, Pod, PodId, PodState, Reserved,
};

use crate::{
    names::Names,
    world::{Facts, World},
};

mod gang;
mod queue;
mod reserved;
mod room;
mod time;

/// The cluster once a plan is carried out as far as it can be now.
#[derive(Debug)]
struct After<'a> {
    facts: &'a Facts,
    names: &'a Names,
    /// Pods that hold something, and whether they are leaving.
    held: BTreeMap<PodId, Spot>,
    /// Pods that wait for something to come free.
    promised: BTreeMap<PodId, Spot>,
    /// Pods that the plan binds.
    placed: BTreeSet<PodId>,
}

#[derive(Clone, Debug)]
struct Spot {
    node: NodeId,
    devices: Vec<DeviceId>,
    reserved: Option<Box<Reserved>>,
    leaving: bool,
}

impl<'a> After<'a> {
    /// The cluster as it is told, before anything of a plan is carried out.
    fn of(world: &'a World) -> Self {
        let held = |(id, pod): (&PodId, &Pod)| {
            let place = pod.state.place()?;
            let leaving = matches!(pod.state, PodState::Releasing(_));
            let (devices, reserved) = (place.devices.to_vec(), place.reserved.clone());
            Some((*id, Spot { node: place.node, devices, reserved, leaving }))
        };
        Self {
            facts: &world.facts,
            names: &world.names,
            held: world.facts.pods.iter().filter_map(held).collect(),
            promised: BTreeMap::new(),
            placed: BTreeSet::new(),
        }
    }

    fn pod(&self, pod: PodId) -> &Pod {
        &self.facts.pods[&pod]
    }

    fn name(&self, pod: PodId) -> &str {
        self.names.of_pod(pod)
    }

    /// Pods of `group` that are there to stay; promised ones where they count.
    fn staying(&self, group: GroupId, promised: bool) -> Vec<(PodId, &Spot)> {
        let of_group = |pod: &PodId| self.pod(*pod).owner == Owner::Group(group);
        let held = self.held.iter().filter(|(pod, spot)| !spot.leaving && of_group(pod));
        let waiting = self.promised.iter().filter(|(pod, _)| promised && of_group(pod));
        held.chain(waiting).map(|(pod, spot)| (*pod, spot)).collect()
    }
}

/// Every rule that `plan`, decided on `world`, breaks; each finding starts with the rule it breaks (S1 to S11).
///
/// # Source
/// docs/rules.md, invariants.
pub fn audit(world: &World, plan: &Plan) -> Vec<String> {
    let mut findings = Vec::new();
    let mut after = After::of(world);
    for change in &plan.changes {
        findings.extend(carry_out(change, &mut after));
    }
    findings.extend(room::audit(&after));
    findings.extend(reserved::audit(&after));
    findings.extend(gang::audit(&after, plan));
    findings.extend(queue::audit(&after));
    findings.extend(victims(&after, plan));
    findings.extend(time::audit(world, &after, plan));
    findings
}

/// S8: what waits is placed at most once, what runs is evicted at most once.
fn carry_out(change: &Change, after: &mut After<'_>) -> Option<String> {
    match change {
        Change::Place { pod, node, devices, reserved, .. }
        | Change::Nominate { pod, node, devices, reserved } => {
            let bind = matches!(change, Change::Place { .. });
            let (devices, reserved) = (devices.to_vec(), reserved.clone());
            let spot = Spot { node: *node, devices, reserved, leaving: false };
            let waits = after.facts.pods.get(pod).is_some_and(|pod| pod.state == PodState::Pending);
            let moved = after.held.get(pod).is_some_and(|spot| spot.leaving);
            let fine = if bind { waits && after.placed.insert(*pod) } else { waits || moved };
            if !fine {
                return Some(format!("S8: {} does not wait, yet it is placed", after.name(*pod)));
            }
            if bind {
                after.held.insert(*pod, spot);
            } else {
                after.promised.insert(*pod, spot);
            }
        }
        Change::Evict { pod, .. } => match after.held.get_mut(pod) {
            Some(spot) if !spot.leaving => spot.leaving = true,
            Some(_) | None => {
                return Some(format!("S8: {} does not run, yet it is evicted", after.name(*pod)));
            }
        },
    }
    None
}

/// S6: victims are preemptible, and of a lower priority in the same queue or of another queue; S7: whom they make room
/// for is placed as a whole.
fn victims(after: &After<'_>, plan: &Plan) -> Vec<String> {
    let mut findings = Vec::new();
    let mut beneficiaries = BTreeSet::new();
    for change in &plan.changes {
        let Change::Evict { pod, reason, .. } = change else { continue };
        let Some(for_group) = reason.for_group() else { continue };
        beneficiaries.insert(for_group);
        let name = after.name(*pod);
        let Owner::Group(victim) = after.pod(*pod).owner else {
            findings.push(format!("S6: {name} is not ours, yet it is evicted"));
            continue;
        };
        let (victim_facts, facts) = (&after.facts.groups[&victim], &after.facts.groups[&for_group]);
        if !victim_facts.preemptible {
            findings.push(format!("S6: {name} is not preemptible, yet it is evicted"));
        }
        if gang::was_completing(after, victim) {
            findings.push(format!("S4: {name} is of a gang that is ending, yet it is evicted"));
        }
        let fair = match reason {
            Eviction::Preempt { .. } => {
                victim_facts.queue == facts.queue && victim_facts.priority < facts.priority
            }
            Eviction::Reclaim { .. } => victim_facts.queue != facts.queue,
            Eviction::Consolidate { .. } | Eviction::Stale { .. } => true,
        };
        if victim == for_group || !fair {
            findings.push(format!(
                "S6: {name} may not be evicted for {}",
                after.names.of_group(for_group)
            ));
        }
    }
    for group in beneficiaries {
        if !gang::satisfied(after, group, true) {
            findings.push(format!(
                "S7: pods leave for {}, which is not placed",
                after.names.of_group(group)
            ));
        }
    }
    findings
}
