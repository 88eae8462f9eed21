//! S2 for devices of claims: each has one owner and is on its pod's node; S11 for NUMA zones: none gives more than it has.

use std::collections::BTreeMap;

use kai_engine::{ClaimId, DeviceCount, Lane, NodeId, PodId, SliceDeviceId};

use super::After;

/// Who has a device: a claim, or a pod whose claim has yet to be made.
type Holder = (Option<ClaimId>, Option<PodId>);

pub(super) fn audit(after: &After<'_>) -> Vec<String> {
    let mut findings = owners(after);
    for pod in &after.placed {
        findings.extend(granted(after, *pod));
    }
    findings.extend(zones(after));
    findings
}

fn owners(after: &After<'_>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut owners: BTreeMap<SliceDeviceId, Holder> = BTreeMap::new();
    let mut own = |device: SliceDeviceId, holder: Holder| {
        let before = *owners.entry(device).or_insert(holder);
        if before != holder {
            let device = after.names.of_slice_device(device);
            findings.push(format!("S2: {device} has two owners"));
        }
    };
    for (id, claim) in &after.facts.claims {
        for (_, device) in claim.allocation.iter().flat_map(|allocation| &allocation.devices) {
            own(*device, (Some(*id), None));
        }
    }
    for pod in &after.placed {
        for claimed in after.held[pod].reserved.iter().flat_map(|reserved| &reserved.claims) {
            let holder = claimed.claim.map_or((None, Some(*pod)), |claim| (Some(claim), None));
            own(claimed.device, holder);
        }
    }
    findings
}

/// What is wrong with the devices that a pod got.
fn granted(after: &After<'_>, pod: PodId) -> Vec<String> {
    let (spot, name) = (&after.held[&pod], after.name(pod));
    let claimed = spot.reserved.as_deref().map_or(&[][..], |reserved| &reserved.claims);
    let published = |device: SliceDeviceId| {
        let mut devices = after.facts.slices.get(&spot.node).into_iter().flatten();
        devices.find(|published| published.id == device)
    };
    let mut findings = Vec::new();
    for claim in &after.pod(pod).claims {
        let Some(facts) = after.facts.claims.get(claim) else {
            findings.push(format!("S11: {name} is placed, and a claim of it does not exist"));
            continue;
        };
        for (at, request) in (0..).zip(&facts.requests) {
            let of = |one: &&kai_engine::Claimed| one.claim == Some(*claim) && one.request == at;
            let devices: Vec<SliceDeviceId> =
                claimed.iter().filter(of).map(|one| one.device).collect();
            let selected = |device: &SliceDeviceId| {
                published(*device).is_some_and(|device| device.classes.contains(&request.class))
            };
            let enough = match request.count {
                DeviceCount::Exactly(count) => devices.len() == count as usize,
                DeviceCount::All => !devices.is_empty(),
            };
            if !enough || !devices.iter().all(selected) {
                let claim = after.names.of_claim(*claim);
                findings.push(format!("S11: {name} got other devices than {claim} asks for"));
            }
        }
    }
    findings
}

fn zones(after: &After<'_>) -> Vec<String> {
    let mut held: BTreeMap<(NodeId, u16, Lane), i64> = BTreeMap::new();
    for spot in after.held.values() {
        for zone in spot.reserved.iter().flat_map(|reserved| &reserved.zones) {
            *held.entry((spot.node, zone.zone, zone.lane)).or_default() += zone.amount;
        }
    }
    let touched = |node: NodeId| after.placed.iter().any(|pod| after.held[pod].node == node);
    let over = held.into_iter().filter(|((node, zone, lane), amount)| {
        let zones = after.facts.zones.get(node).map(|numa| &numa.zones);
        let zone = zones.and_then(|zones| zones.get(usize::from(*zone)));
        touched(*node) && zone.is_some_and(|zone| *amount > zone.amount(*lane))
    });
    over.map(|((node, zone, lane), _)| {
        let (node, lane) = (after.names.of_node(node), after.names.of_lane(lane));
        format!("S11: zone {zone} of {node} gives more {lane} than it has")
    })
    .collect()
}
