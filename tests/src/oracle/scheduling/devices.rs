//! Resource claims of a case, its device classes and the devices of its slices.

use std::collections::BTreeSet;

use kai_engine::{
    Allocation, Change, Claim, ClaimId, Delta, DeviceClass, DeviceCount, DeviceRequest, Plan,
    SliceDevice, SliceDeviceId,
};
use kai_sim::world::World;

use super::case;

/// The label that names a claim's queue.
const QUEUE: &str = "kai.scheduler/queue";

/// Tells what the case says of devices. Any device serves any class in the source's fakes.
pub fn tell(world: &mut World, case: &case::Case) {
    if case.scheduler.dra_enabled == Some(false) {
        world.tell(Delta::ClaimsServed(false));
    }
    let Some(dra) = &case.dra else { return };
    for class in &dra.device_classes {
        let id = world.names.device_class(class);
        world.tell(Delta::DeviceClass(id, DeviceClass::default()));
    }
    let mut classes: Vec<_> =
        dra.device_classes.iter().map(|class| world.names.device_class(class)).collect();
    classes.sort_unstable();
    let nodes: BTreeSet<&str> = dra.slices.iter().map(|slice| slice.node.as_str()).collect();
    for node in nodes.into_iter().filter(|node| !node.is_empty()) {
        let mut devices = Vec::new();
        for slice in dra.slices.iter().filter(|slice| slice.node == node && !slice.all_nodes) {
            for device in &slice.devices {
                let id = device_id(world, &slice.driver, &slice.pool, device);
                let gpu = is_gpu(&slice.driver);
                devices.push(SliceDevice::new(id, gpu, classes.clone().into()));
            }
        }
        let node = world.names.node(node);
        world.tell(Delta::Slices(node, devices));
    }
    for claim in &dra.claims {
        tell_claim(world, dra, claim);
    }
}

fn tell_claim(world: &mut World, dra: &case::Dra, claim: &case::Claim) {
    let id = world.names.claim(&key(&claim.namespace, &claim.name));
    let status = claim.status.as_ref();
    let allocation = status.and_then(|status| status.allocation.as_ref()).map(|allocation| {
        let results = &allocation.devices.results;
        let devices = results
            .iter()
            .map(|one| (0, device_id(world, &one.driver, &one.pool, &one.device)))
            .collect();
        let pool = results.first().map(|one| &one.pool);
        let slice = dra.slices.iter().find(|slice| Some(&slice.pool) == pool);
        let node = slice.map(|slice| world.names.node(&slice.node));
        Allocation { node, devices, ..Allocation::default() }
    });
    let facts = Claim {
        requests: vec![DeviceRequest {
            class: world.names.device_class(&claim.device_class),
            count: DeviceCount::Exactly(u32::try_from(claim.count).unwrap_or(u32::MAX)),
            instead: false,
            gpu: is_gpu(&claim.device_class),
            mixed: false,
            admin: false,
        }],
        queue: claim.labels.get(QUEUE).map(|queue| world.names.queue(queue)),
        consumers: status
            .map_or(0, |status| u32::try_from(status.reserved_for.len()).unwrap_or(u32::MAX)),
        allocation,
        ..Claim::default()
    };
    world.tell(Delta::Claim(id, Box::new(facts)));
}

/// The claims of a task; one that a template made is its own.
pub fn of_task(world: &mut World, job: &case::Job, task: &case::Task) -> Vec<ClaimId> {
    let mut claims = Vec::new();
    for claim in &task.resource_claims {
        let id = world.names.claim(&key(&job.namespace, &claim.claim));
        if claim.from_template.is_some()
            && let Some(facts) = world.facts.claims.get(&id)
        {
            let facts = Claim { own: true, ..facts.clone() };
            world.tell(Delta::Claim(id, Box::new(facts)));
        }
        claims.push(id);
    }
    claims
}

/// Writes what a round did to claims: devices that pods got, and those of pods that left.
pub fn write_back(world: &mut World, plan: &Plan) {
    for change in &plan.changes {
        match change {
            Change::Place { pod, node, reserved: Some(reserved), .. } => {
                world.allocate(*pod, *node, reserved);
            }
            Change::Evict { pod, .. } => world.deallocate(*pod),
            Change::Place { .. } | Change::Nominate { .. } => {}
        }
    }
}

fn device_id(world: &mut World, driver: &str, pool: &str, device: &str) -> SliceDeviceId {
    world.names.slice_device(&format!("{driver}/{pool}/{device}"))
}

fn key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// # Source
/// docs/behaviour.md 13.1.
fn is_gpu(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gpu")
}
