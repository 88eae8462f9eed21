//! S2 for devices of claims: each has one owner, or owners that share it, and is within reach of its pod's node; no more is
//! drawn from a counter than it holds. S11 for NUMA zones: none gives more than it has.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    ClaimId, CounterId, DeviceCount, Lane, NodeId, PodId, SliceDevice, SliceDeviceId,
};

use super::After;

/// Holder of a device: a claim, or a pod whose claim has yet to be made.
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
    // What each holder has of a device, by the position of its request.
    let mut owners: BTreeMap<SliceDeviceId, BTreeSet<(Holder, u16)>> = BTreeMap::new();
    let mut own = |device: SliceDeviceId, holder: Holder, request: u16| {
        let facts = holder.0.and_then(|claim| after.facts.claims.get(&claim));
        let asked = facts.and_then(|facts| facts.requests.get(usize::from(request)));
        if !asked.is_some_and(|asked| asked.admin) {
            owners.entry(device).or_default().insert((holder, request));
        }
    };
    for (id, claim) in &after.facts.claims {
        for (request, device) in claim.allocation.iter().flat_map(|given| &given.devices) {
            own(*device, (Some(*id), None), *request);
        }
    }
    for pod in &after.placed {
        for claimed in after.held[pod].reserved.iter().flat_map(|reserved| &reserved.claims) {
            let holder = claimed.claim.map_or((None, Some(*pod)), |claim| (Some(claim), None));
            own(claimed.device, holder, claimed.request);
        }
    }
    let facts = after.facts;
    let of_several = facts.reaches.values().flat_map(|reach| &reach.devices);
    let published = facts.slices.values().flatten().chain(of_several);
    let published: BTreeMap<SliceDeviceId, &SliceDevice> =
        published.map(|device| (device.id, device)).collect();
    let mut findings = Vec::new();
    let mut drawn: BTreeMap<CounterId, i64> = BTreeMap::new();
    for (device, owners) in &owners {
        let facts = published.get(device);
        for (counter, amount) in facts.iter().flat_map(|facts| &facts.draws) {
            *drawn.entry(*counter).or_default() += amount;
        }
        let name = after.names.of_slice_device(*device);
        if let Some(shares) = facts.and_then(|facts| facts.shares.as_ref()) {
            if !shares_fit(after, shares, owners) {
                findings.push(format!("S2: {name} is shared by more than it holds"));
            }
        } else if owners.iter().map(|(holder, _)| holder).collect::<BTreeSet<_>>().len() > 1 {
            findings.push(format!("S2: {name} has two owners"));
        }
    }
    let held = |counter: &CounterId| facts.counters.get(counter).copied().unwrap_or(0);
    let over = drawn.iter().filter(|(counter, amount)| **amount > held(counter));
    findings
        .extend(over.map(|(_, amount)| format!("S2: {amount} is drawn from too small a counter")));
    findings
}

/// Tells whether a device has enough for all that share it.
fn shares_fit(
    after: &After<'_>,
    shares: &kai_engine::Shares,
    owners: &BTreeSet<(Holder, u16)>,
) -> bool {
    (0..).zip(&shares.capacity).all(|(at, (_, all))| {
        let takes = |((claim, _), request): &(Holder, u16)| {
            let facts = claim.and_then(|claim| after.facts.claims.get(&claim));
            let asked = facts.and_then(|facts| facts.requests.get(usize::from(*request)));
            let taken = asked
                .and_then(|asked| shares.taken.iter().find(|(class, _)| *class == asked.class));
            taken.map_or(*all, |(_, amounts)| amounts[at])
        };
        owners.iter().map(takes).sum::<i64>() <= *all
    })
}

/// Lists what is wrong with the devices that a pod got.
fn granted(after: &After<'_>, pod: PodId) -> Vec<String> {
    let (spot, name) = (&after.held[&pod], after.name(pod));
    let claimed = spot.reserved.as_deref().map_or(&[][..], |reserved| &reserved.claims);
    let published = |device: SliceDeviceId| {
        let mut devices = after.facts.devices_from(spot.node);
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
                DeviceCount::All { .. } => !devices.is_empty(),
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
