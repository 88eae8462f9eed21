//! GPUs of a node that nobody holds, and that will come free.
//!
//! # Source
//! docs/behaviour.md 2.5 and 2.6; devices of claims count as GPUs of their node, MIG instances do not.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Change, ClaimId, DeviceCount, DeviceId, GPU_MILLI, GpuRequest, Place, Plan, PodId, PodState,
};
use kai_sim::world::World;

use super::{case, judge::Room};

/// Amounts of something on a node, by who holds them.
#[derive(Default)]
struct Ledger {
    /// Whole GPUs that are held, and those of them that will be given back.
    whole: i64,
    whole_leaving: i64,
    /// Whole GPUs that are promised.
    whole_promised: i64,
    /// Shared GPUs that are held, and whether all their pods leave.
    devices: BTreeMap<DeviceId, bool>,
    devices_promised: BTreeSet<DeviceId>,
    /// Claims with devices that are held, and whether all their pods leave.
    claims: BTreeMap<ClaimId, bool>,
    claims_promised: BTreeSet<ClaimId>,
}

/// Whole GPUs of a node that nobody holds, and that will come free; a shared one is held as a whole.
pub fn of(world: &World, node: &case::Node, plan: Option<&Plan>) -> Room {
    let mut places: BTreeMap<PodId, (Place, bool)> = BTreeMap::new();
    for (pod, facts) in &world.facts.pods {
        let leaving = matches!(facts.state, PodState::Releasing(_));
        if let Some(place) = facts.state.place() {
            places.insert(*pod, (place.clone(), leaving));
        }
    }
    let mut ledger = Ledger::default();
    for change in plan.iter().flat_map(|plan| &plan.changes) {
        match change {
            Change::Place { pod, node, devices, .. } => {
                let place = Place { node: *node, devices: devices.clone(), reserved: None };
                places.insert(*pod, (place, false));
            }
            Change::Evict { pod, .. } => {
                if let Some((_, leaving)) = places.get_mut(pod) {
                    *leaving = true;
                }
            }
            Change::Nominate { pod, node: to, devices, .. } => {
                if world.names.of_node(*to) == node.name {
                    ledger.promise(world, *pod, devices);
                }
            }
        }
    }
    for (pod, (place, leaving)) in places {
        if world.names.of_node(place.node) == node.name {
            ledger.hold(world, pod, &place, leaving);
        }
    }
    ledger.room(world, node.gpus_allocatable + node.dra_gpus)
}

impl Ledger {
    fn hold(&mut self, world: &World, pod: PodId, place: &Place, leaving: bool) {
        let facts = &world.facts.pods[&pod];
        let whole = whole(&facts.shape.gpu);
        self.whole += whole;
        self.whole_leaving += if leaving { whole } else { 0 };
        for device in &place.devices {
            *self.devices.entry(*device).or_insert(true) &= leaving;
        }
        for claim in &facts.claims {
            *self.claims.entry(*claim).or_insert(true) &= leaving;
        }
    }

    fn promise(&mut self, world: &World, pod: PodId, devices: &[DeviceId]) {
        let facts = &world.facts.pods[&pod];
        self.whole_promised += whole(&facts.shape.gpu);
        self.devices_promised.extend(devices);
        self.claims_promised.extend(&facts.claims);
    }

    fn room(&self, world: &World, gpus: i64) -> Room {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let of_claim = |claim: &ClaimId| gpus_of(world, *claim);
        let devices_leaving = count(self.devices.values().filter(|leaving| **leaving).count());
        // A promise takes a GPU to come unless it shares one that stays.
        let stays = |device: &&DeviceId| self.devices.get(*device) != Some(&false);
        let devices_promised = count(self.devices_promised.iter().filter(stays).count());
        let claims: i64 = self.claims.keys().map(of_claim).sum();
        let claims_leaving: i64 = self
            .claims
            .iter()
            .filter(|(_, leaving)| **leaving)
            .map(|(claim, _)| of_claim(claim))
            .sum();
        let stays = |claim: &&ClaimId| self.claims.get(*claim) != Some(&false);
        let claims_promised: i64 = self.claims_promised.iter().filter(stays).map(of_claim).sum();
        let idle = gpus - self.whole - count(self.devices.len()) - claims;
        let terminating = self.whole_leaving + devices_leaving + claims_leaving
            - self.whole_promised
            - devices_promised
            - claims_promised;
        Room {
            gpus_idle_milli: idle * GPU_MILLI,
            gpus_terminating_milli: terminating * GPU_MILLI,
            zones: BTreeMap::new(),
        }
    }
}

fn whole(gpu: &GpuRequest) -> i64 {
    match gpu {
        GpuRequest::Whole(count) => i64::from(*count),
        GpuRequest::None
        | GpuRequest::Fraction { .. }
        | GpuRequest::Memory { .. }
        | GpuRequest::Mig(_)
        | GpuRequest::LegacyMig(_) => 0,
    }
}

/// Counts the GPUs that a claim stands for.
fn gpus_of(world: &World, claim: ClaimId) -> i64 {
    let Some(facts) = world.facts.claims.get(&claim) else { return 0 };
    let devices = |count: DeviceCount| match count {
        DeviceCount::Exactly(count) => i64::from(count),
        DeviceCount::All { .. } => 0,
    };
    facts.requests.iter().filter(|request| request.gpu).map(|one| devices(one.count)).sum()
}
