//! Resource claims, device classes and the devices of nodes.

use std::collections::BTreeSet;

use kai_engine::{
    Allocation, Claim, ClaimId, Delta, DeviceClass, DeviceCount, DeviceMatch, DeviceRequest,
    NodeId, PodState, SliceDevice, SliceDeviceId,
};

use super::{Result, lane};
use crate::{
    scenario::{self, Scenario, ScenarioError},
    world::{World, place},
};

/// The attribute that devices are alike in.
const ROOT: &str = "root";

/// Device classes that the scenario names, and those that devices of nodes are of.
pub(super) fn classes(world: &mut World, scenario: &Scenario) {
    let of_nodes = scenario.nodes.iter().flat_map(|(_, node)| node.devices.iter());
    let names: BTreeSet<&str> = of_nodes.map(|(name, _)| class_of(name)).collect();
    for name in names {
        let id = world.names.device_class(name);
        world.tell(Delta::DeviceClass(id, DeviceClass::default()));
    }
    for (name, class) in scenario.device_classes.iter() {
        let id = world.names.device_class(name);
        let backs = class.backs.as_deref().map(|resource| lane(world, resource));
        world.tell(Delta::DeviceClass(id, DeviceClass { backs }));
    }
}

/// The devices that slices of a node publish.
pub(super) fn slices(world: &mut World, (name, id): (&str, NodeId), node: &scenario::Node) {
    let attribute = world.names.symbol(ROOT);
    let mut devices = Vec::new();
    for (class, count) in node.devices.iter() {
        let value = class.split_once('@').map_or("", |(_, value)| value);
        for number in 0..*count {
            let of = |device: &SliceDevice| device.classes[0];
            let id = world.names.device_class(class_of(class));
            let before = devices.iter().filter(|device| of(device) == id).count();
            debug_assert!(before >= number as usize, "devices of a class are numbered on");
            let device = format!("{name}/{}-{before}", class_of(class));
            devices.push(SliceDevice {
                id: world.names.slice_device(&device),
                gpu: is_gpu(class),
                classes: Box::new([id]),
                attributes: Box::new([(attribute, world.names.symbol(value))]),
            });
        }
    }
    if !devices.is_empty() {
        world.tell(Delta::Slices(id, devices));
    }
}

/// Claims that pods name.
pub(super) fn claims(world: &mut World, scenario: &Scenario) -> Result<()> {
    for (name, claim) in scenario.claims.iter() {
        let key = format!("claims.{name}");
        let id = world.names.claim(name);
        let facts = Claim {
            queue: claim.queue.as_deref().map(|queue| world.names.queue(queue)),
            full: claim.full,
            ..requests(world, &format!("{key}.devices"), &claim.devices)?
        };
        world.tell(Delta::Claim(id, Box::new(facts)));
        if let Some(node) = &claim.on {
            let node = world.names.find_node(node).ok_or_else(|| {
                ScenarioError::value(format!("{key}.on"), format!("there is no node `{node}`"))
            })?;
            allocate(world, id, node, &key)?;
        }
    }
    Ok(())
}

/// Claims of one pod: those that it names, and those that its templates make. Where the pod is on a node, they have devices.
pub(super) fn of_pod(
    world: &mut World,
    (key, name): (&str, &str),
    pod: &scenario::Pod,
    state: &PodState,
) -> Result<Vec<ClaimId>> {
    let mut claims: Vec<ClaimId> =
        pod.claims.iter().map(|claim| world.names.claim(claim)).collect();
    for (number, template) in pod.templates.iter().enumerate() {
        let id = world.names.claim(&format!("{name}-claim-{number}"));
        let facts = Claim { own: true, ..requests(world, &format!("{key}.templates"), template)? };
        world.tell(Delta::Claim(id, Box::new(facts)));
        claims.push(id);
    }
    if let Some(place) = place(state) {
        for claim in &claims {
            allocate(world, *claim, place.node, key)?;
        }
    }
    Ok(claims)
}

/// Gives a claim the first devices of a node that are free.
fn allocate(world: &mut World, id: ClaimId, node: NodeId, key: &str) -> Result<()> {
    let Some(mut facts) = world.facts.claims.get(&id).cloned() else { return Ok(()) };
    if facts.allocation.is_some() {
        return Ok(());
    }
    let given = world.facts.claims.values().filter_map(|claim| claim.allocation.as_ref());
    let mut taken: BTreeSet<SliceDeviceId> =
        given.flat_map(|allocation| allocation.devices.iter().map(|(_, device)| *device)).collect();
    let mut allocation = Allocation { node: Some(node), devices: Vec::new() };
    for (at, request) in (0..).zip(&facts.requests) {
        let devices = world.facts.slices.get(&node).into_iter().flatten();
        let mut free = devices.filter(|device| device.classes.contains(&request.class));
        let count = match request.count {
            DeviceCount::Exactly(count) => count as usize,
            DeviceCount::All => free.clone().count(),
        };
        for _ in 0..count {
            let device = free.find(|device| taken.insert(device.id)).ok_or_else(|| {
                ScenarioError::value(key, "its node has too few devices for its claims")
            })?;
            allocation.devices.push((at, device.id));
        }
    }
    facts.allocation = Some(allocation);
    world.tell(Delta::Claim(id, Box::new(facts)));
    Ok(())
}

/// Reads `gpu*2 | gpu*1 + nic*1 alike`.
fn requests(world: &mut World, key: &str, text: &str) -> Result<Claim> {
    let alike = text.strip_suffix(" alike").map(|requests| (requests, false));
    let values = alike.or_else(|| Some((text.strip_suffix(" distinct")?, true)));
    let requests = values.map_or(text, |(requests, _)| requests);
    let wrong = || ScenarioError::value(key, format!("`{text}`: write gpu*2 or gpu*all + nic*1"));
    let mut request = |(at, text): (usize, &str)| {
        let (class, count) = text.trim().split_once('*').ok_or_else(wrong)?;
        let count = match count {
            "all" => DeviceCount::All,
            count => DeviceCount::Exactly(count.parse().map_err(|_| wrong())?),
        };
        let gpu = is_gpu(class);
        let class = world.names.device_class(class);
        Ok(DeviceRequest { class, count, instead: at > 0, gpu })
    };
    let alternatives = requests.split('+').flat_map(|text| text.split('|').enumerate());
    let mut requests = alternatives.map(&mut request).collect::<Result<Vec<_>>>()?;
    // Which of several it will be is not known before: queues are charged for none of them.
    for at in 1..requests.len() {
        if requests[at].instead {
            requests[at].gpu = false;
            requests[at - 1].gpu = false;
        }
    }
    let attribute = world.names.symbol(ROOT);
    let matches =
        values.map(|(_, distinct)| DeviceMatch { requests: Vec::new(), attribute, distinct });
    let matches = matches.into_iter().collect();
    Ok(Claim { requests, matches, ..Claim::default() })
}

fn class_of(name: &str) -> &str {
    name.split_once('@').map_or(name, |(class, _)| class)
}

/// # Source
/// spec/scheduling.md 13.1: a class or driver whose name contains `gpu`.
fn is_gpu(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gpu")
}
