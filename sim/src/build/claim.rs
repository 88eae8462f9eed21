//! Resource claims, device classes and the devices of nodes.

use std::collections::BTreeSet;

use kai_engine::{
    Claim, ClaimId, CounterId, Delta, DeviceClass, DeviceClassId, DeviceCount, DeviceMatch,
    DeviceRequest, Holds, NodeId, PodState, Reach, ReachId, Requirement, Shares, SliceDevice,
    SliceDeviceId, Symbol,
};

use super::{Result, lane};
use crate::{
    entries::Entries,
    scenario::{self, Devices, Scenario, ScenarioError},
    world::World,
};

/// The attribute that devices are alike in.
const ROOT: &str = "root";
/// The most devices of a node or a pool, so that `gpu: 4000000000` is an error and not an outage.
const DEVICES_MAX: usize = 10_000;

/// Device classes that the scenario names, and those that devices of nodes are of.
pub(super) fn classes(world: &mut World, scenario: &Scenario) {
    let of_nodes = scenario.nodes.iter().flat_map(|(_, node)| node.devices.iter());
    let of_several = scenario.reaches.iter().flat_map(|(_, reach)| reach.devices.iter());
    let of_nodes = of_nodes.chain(of_several);
    let names: BTreeSet<&str> = of_nodes.map(|(name, _)| class_of(name)).collect();
    for name in names {
        let id = world.names.device_class(name);
        if !world.facts.device_classes.contains_key(&id) {
            world.tell(Delta::DeviceClass(id, DeviceClass::default()));
        }
    }
    for (name, class) in scenario.device_classes.iter() {
        let id = world.names.device_class(name);
        let backs = class.backs.as_deref().map(|resource| lane(world, resource));
        world.tell(Delta::DeviceClass(id, DeviceClass { backs, ..DeviceClass::default() }));
    }
}

/// Tells what counters hold.
pub(super) fn counters(world: &mut World, scenario: &Scenario) {
    for (name, amount) in scenario.counters.iter() {
        let id = world.names.counter(name);
        world.tell(Delta::Counter(id, *amount));
    }
}

/// The devices that slices of a node publish.
pub(super) fn slices(
    world: &mut World,
    name: &str,
    id: NodeId,
    node: &scenario::Node,
) -> Result<()> {
    let devices = devices(world, &format!("nodes.{name}"), name, &node.devices)?;
    if !devices.is_empty() {
        world.tell(Delta::Slices(id, devices));
    }
    Ok(())
}

/// The devices that several nodes reach.
pub(super) fn reaches(world: &mut World, scenario: &Scenario) -> Result<()> {
    let known = u32::try_from(world.facts.reaches.len()).unwrap_or(u32::MAX);
    for (row, (name, reach)) in (known..).zip(scenario.reaches.iter()) {
        let devices = devices(world, &format!("reaches.{name}"), name, &reach.devices)?;
        let label = |(key, value): (&str, &String)| {
            let value = world.names.symbol(value);
            Requirement { key: world.names.symbol(key), holds: Holds::In(vec![value]) }
        };
        let term: Vec<Requirement> = reach.labels.iter().map(label).collect();
        let nodes = if term.is_empty() { Vec::new() } else { vec![term] };
        let reach = Reach { uid: u128::from(row), nodes, devices };
        world.tell(Delta::Reach(ReachId::new(row), Box::new(reach)));
    }
    Ok(())
}

/// Devices by class, numbered on from class to class.
fn devices(
    world: &mut World,
    key: &str,
    name: &str,
    given: &Entries<Devices>,
) -> Result<Vec<SliceDevice>> {
    let attribute = world.names.symbol(ROOT);
    let mut devices: Vec<SliceDevice> = Vec::new();
    for (class, given) in given.iter() {
        let value = class.split_once('@').map_or("", |(_, value)| value);
        let given = given.described();
        let id = world.names.device_class(class_of(class));
        let draws = given.draws.iter().map(|(counter, amount)| {
            let counter: Option<CounterId> = world.names.find_counter(counter);
            let missing = || ScenarioError::value(key, "a device draws from no counter there is");
            Ok((counter.ok_or_else(missing)?, *amount))
        });
        let draws: Box<[(CounterId, i64)]> = draws.collect::<Result<_>>()?;
        let capacity =
            given.capacity.iter().map(|(name, amount)| (world.names.symbol(name), *amount));
        let capacity: Box<[(Symbol, i64)]> = capacity.collect();
        let shares = Shares { capacity, taken: Box::default() };
        if devices.len().saturating_add(given.count as usize) > DEVICES_MAX {
            let what = format!("there are at most {DEVICES_MAX} devices of a node or a pool");
            return Err(ScenarioError::value(format!("{key}.{class}"), what));
        }
        for _ in 0..given.count {
            let before = devices.iter().filter(|device| device.classes[0] == id).count();
            let device = format!("{name}/{}-{before}", class_of(class));
            devices.push(SliceDevice {
                attributes: Box::new([(attribute, world.names.symbol(value))]),
                draws: draws.clone(),
                shares: (!given.capacity.is_empty()).then(|| Box::new(shares.clone())),
                binds: given.binds,
                ..SliceDevice::new(world.names.slice_device(&device), is_gpu(class), Box::new([id]))
            });
        }
    }
    Ok(devices)
}

/// A class with what a request takes of devices that claims share: `gpu(memory=40)`. Devices are told with it.
fn selection(world: &mut World, text: &str) -> Option<DeviceClassId> {
    let id = world.names.device_class(text);
    let Some((class, parts)) = text.split_once('(') else { return Some(id) };
    if world.facts.device_classes.contains_key(&id) {
        return Some(id);
    }
    let parts = parts.strip_suffix(')')?.split(',').map(|part| {
        let (name, amount) = part.split_once('=')?;
        Some((world.names.symbol(name.trim()), amount.trim().parse().ok()?))
    });
    let parts: Vec<(Symbol, i64)> = parts.collect::<Option<_>>()?;
    let class = world.names.device_class(class);
    world.tell(Delta::DeviceClass(id, DeviceClass::default()));
    for (node, mut devices) in world.facts.slices.clone() {
        for device in &mut devices {
            select(device, class, id, &parts);
        }
        world.tell(Delta::Slices(node, devices));
    }
    for (reach, mut facts) in world.facts.reaches.clone() {
        for device in &mut facts.devices {
            select(device, class, id, &parts);
        }
        world.tell(Delta::Reach(reach, Box::new(facts)));
    }
    Some(id)
}

/// Adds a selection to a device of a class that has as much.
fn select(
    device: &mut SliceDevice,
    class: DeviceClassId,
    id: DeviceClassId,
    parts: &[(Symbol, i64)],
) {
    let Some(shares) = device.shares.as_mut().filter(|_| device.classes.contains(&class)) else {
        return;
    };
    let of = |name: Symbol| parts.iter().find(|(part, _)| *part == name).map(|(_, amount)| *amount);
    let taken = shares.capacity.iter().map(|(name, all)| of(*name).unwrap_or(*all));
    let taken: Box<[i64]> = taken.collect();
    if taken.iter().zip(&shares.capacity).all(|(taken, (_, all))| taken <= all) {
        shares.taken = shares.taken.iter().cloned().chain([(id, taken)]).collect();
        let mut classes: Vec<DeviceClassId> = device.classes.iter().copied().chain([id]).collect();
        classes.sort_unstable();
        device.classes = classes.into();
    }
}

/// Claims that pods name.
pub(super) fn claims(world: &mut World, scenario: &Scenario) -> Result<()> {
    if scenario.claims_served == Some(false) {
        world.tell(Delta::ClaimsServed(false));
    }
    for (name, claim) in scenario.claims.iter() {
        let key = format!("claims.{name}");
        let id = world.names.claim(name);
        let facts = Claim {
            queue: claim.queue.as_deref().map(|queue| world.names.queue(queue)),
            consumers: claim.consumers,
            leaves: claim.leaves,
            own: claim.for_extended,
            synthetic: claim.for_extended,
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
    key: &str,
    name: &str,
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
    if let Some(place) = state.place() {
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
    let mut given = Vec::new();
    for (at, request) in (0..).zip(&facts.requests) {
        let devices = world.facts.devices_from(node);
        let mut free = devices.filter(|device| device.classes.contains(&request.class));
        let count = match request.count {
            DeviceCount::Exactly(count) => count as usize,
            DeviceCount::All { .. } => free.clone().count(),
        };
        for _ in 0..count {
            let many = |device: &SliceDevice| request.admin || device.shares.is_some();
            let device =
                free.find(|device| many(device) || taken.insert(device.id)).ok_or_else(|| {
                    ScenarioError::value(key, "its node has too few devices for its claims")
                })?;
            given.push((at, device.id));
        }
    }
    facts.allocation = Some(world.facts.allocation(node, given));
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
        let text = text.trim();
        let (admin, text) = text.strip_prefix("admin ").map_or((false, text), |text| (true, text));
        let (class, count) = text.split_once('*').ok_or_else(wrong)?;
        let gpu = is_gpu(class);
        let class = selection(world, class).ok_or_else(wrong)?;
        let count = match count {
            "all" => DeviceCount::All { most: most(world, class) },
            count => DeviceCount::Exactly(count.parse().map_err(|_| wrong())?),
        };
        Ok(DeviceRequest { class, count, instead: at > 0, gpu, mixed: false, admin })
    };
    let alternatives = requests.split('+').flat_map(|text| text.split('|').enumerate());
    let requests = alternatives.map(&mut request).collect::<Result<Vec<_>>>()?;
    let attribute = world.names.symbol(ROOT);
    let matches =
        values.map(|(_, distinct)| DeviceMatch { requests: Vec::new(), attribute, distinct });
    let matches = matches.into_iter().collect();
    Ok(Claim { requests, matches, ..Claim::default() })
}

/// Counts the devices of a class from the node that has the most.
fn most(world: &World, class: DeviceClassId) -> u32 {
    let is_of = |device: &SliceDevice| device.classes.contains(&class);
    let count = |node: &NodeId| world.facts.devices_from(*node).filter(|one| is_of(one)).count();
    u32::try_from(world.facts.nodes.keys().map(count).max().unwrap_or(0)).unwrap_or(u32::MAX)
}

fn class_of(name: &str) -> &str {
    name.split_once('@').map_or(name, |(class, _)| class)
}

/// # Source
/// docs/behaviour.md 13.1: a class or driver whose name contains `gpu`.
fn is_gpu(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gpu")
}
