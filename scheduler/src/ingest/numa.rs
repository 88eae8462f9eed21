//! `NodeResourceTopology`, what pods ask of zones, and what they hold of them.
//!
//! Reports are taken in whenever there are any; the engine hears of them while the plugin `numa` is on. What is
//! available in a zone is what it has less what pods hold by their annotations; the report's own `available` is not
//! read. Source: docs/behaviour.md 13.3.

use std::collections::BTreeMap;

use kai_api::names::annotation;
use kai_engine::{Alignment, Lane, NodeId, Numa, NumaPolicy, NumaScope, Resources, ZoneAmount};
use serde::Deserialize;

use super::{
    Delta, Ingest, Kind,
    request::{Amount, Amounts, Container, add, amounts, raise},
};
use crate::{
    names::Number,
    server::wire::{Meta, Pairs, Text, null_as_default},
    settings::Aligning,
};

/// What is known of zones.
#[derive(Default, Debug)]
pub(super) struct Zones {
    /// The plugin's arguments, while it is on.
    wanted: Option<Aligning>,
    /// By node.
    reports: BTreeMap<u32, Report>,
}

/// What a node reports; the names of its zones are in its row.
#[derive(Debug)]
struct Report {
    generation: u32,
    facts: Numa,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    topology_policies: Vec<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    attributes: Vec<Attribute<'a>>,
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    zones: Vec<Zone<'a>>,
}

#[derive(Deserialize, Debug)]
struct Attribute<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
}

#[derive(Deserialize, Debug)]
struct Zone<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    resources: Vec<Has<'a>>,
}

#[derive(Deserialize, Debug)]
struct Has<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    allocatable: Amount,
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let meta = &wire.metadata;
    let node = ingest.names.node(&meta.name).number();
    let mut zones: Vec<&Zone<'_>> =
        wire.zones.iter().filter(|zone| &*zone.kind == "Node").collect();
    zones.sort_by_key(|zone| {
        let number = trailing_number(&zone.name);
        (number.is_none(), number, &*zone.name)
    });
    let has = |ingest: &mut Ingest, zone: &Zone<'_>| -> Resources {
        let mut lanes = Vec::with_capacity(zone.resources.len());
        for Has { name, allocatable } in &zone.resources {
            let lane = ingest.lane(name);
            lanes.push((lane, allocatable.on(lane)));
        }
        lanes.into_iter().collect()
    };
    let (policy, scope) = manager(wire);
    let facts = Numa { policy, scope, zones: zones.iter().map(|zone| has(ingest, zone)).collect() };
    let names: Vec<Box<str>> = zones.iter().map(|zone| Box::from(&*zone.name)).collect();
    let generation = ingest.generation(Kind::NodeResourceTopology);
    let own = u32::from(ingest.zones.reports.contains_key(&node));
    let row = &mut ingest.names.nodes[node];
    let renamed = row.zones != names;
    row.zones = names;
    let has_pods = row.presence.references > own;
    if renamed && has_pods && ingest.zones.wanted.is_some() {
        // What pods hold is written with the names of zones.
        ingest.resync.push(Kind::Pod);
    }
    let before = ingest.zones.reports.insert(node, Report { generation, facts });
    match &before {
        None => ingest.names.nodes[node].presence.references += 1,
        Some(before) if before.facts == ingest.zones.reports[&node].facts => {
            return meta.resource_version.to_string();
        }
        Some(_) => {}
    }
    if ingest.zones.wanted.is_some() {
        tell(ingest, node);
    }
    meta.resource_version.to_string()
}

pub(super) fn gone(ingest: &mut Ingest, name: &str) {
    if let Some(node) = ingest.names.nodes.find(name) {
        forget(ingest, node);
    }
}

/// A full list is complete.
pub(super) fn end(ingest: &mut Ingest) {
    let generation = ingest.generation(Kind::NodeResourceTopology);
    let reports = ingest.zones.reports.iter();
    let unseen = reports.filter(|(_, report)| report.generation != generation);
    for node in unseen.map(|(node, _)| *node).collect::<Vec<_>>() {
        forget(ingest, node);
    }
}

fn forget(ingest: &mut Ingest, node: u32) {
    if ingest.zones.reports.remove(&node).is_none() {
        return;
    }
    if ingest.zones.wanted.is_some() {
        ingest.deltas.push(Delta::Zones(NodeId::new(node), None));
    }
    ingest.names.nodes[node].zones.clear();
    super::let_go_of_node(ingest, node);
}

/// Switches alignment on with these arguments, or off; then pods are read again for it.
pub(super) fn align(ingest: &mut Ingest, wanted: Option<Aligning>) {
    if ingest.zones.wanted == wanted {
        return;
    }
    ingest.zones.wanted = wanted;
    for node in ingest.zones.reports.keys().copied().collect::<Vec<_>>() {
        tell(ingest, node);
    }
    ingest.resync.push(Kind::Pod);
}

/// Tells the engine of a node's zones, without what is to be ignored.
fn tell(ingest: &mut Ingest, node: u32) {
    let facts = ingest.zones.wanted.as_ref().map(|wanted| {
        let counts = |lane: Lane| !wanted.ignored.contains(ingest.names.lane_name(lane));
        let mut facts = ingest.zones.reports[&node].facts.clone();
        for zone in &mut facts.zones {
            *zone = zone.iter().filter(|(lane, _)| counts(*lane)).collect();
        }
        Box::new(facts)
    });
    ingest.deltas.push(Delta::Zones(NodeId::new(node), facts));
}

/// The number at the end of a zone's name.
fn trailing_number(name: &str) -> Option<u64> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name[name.len() - digits..].parse().ok()
}

/// What the node's topology manager does: by its attributes, else by the first of the older policies.
fn manager(wire: &Wire<'_>) -> (NumaPolicy, NumaScope) {
    let attribute = |name: &str| {
        let mut attributes = wire.attributes.iter();
        attributes.find(|attribute| &*attribute.name == name).map(|attribute| &*attribute.value)
    };
    let scope = match attribute("topologyManagerScope") {
        Some("pod") => Some(NumaScope::Pod),
        Some(_) => Some(NumaScope::Container),
        None => None,
    };
    if let Some(policy) = attribute("topologyManagerPolicy") {
        let policy = match policy {
            "single-numa-node" => NumaPolicy::SingleNumaNode,
            "restricted" => NumaPolicy::Restricted,
            "best-effort" => NumaPolicy::BestEffort,
            _ => NumaPolicy::None,
        };
        return (policy, scope.unwrap_or_default());
    }
    let older = wire.topology_policies.first().map_or("", |policy| &**policy);
    let (policy, of_policy) = match older {
        "SingleNUMANodeContainerLevel" => (NumaPolicy::SingleNumaNode, NumaScope::Container),
        "SingleNUMANodePodLevel" => (NumaPolicy::SingleNumaNode, NumaScope::Pod),
        "Restricted" | "RestrictedContainerLevel" => (NumaPolicy::Restricted, NumaScope::Container),
        "RestrictedPodLevel" => (NumaPolicy::Restricted, NumaScope::Pod),
        "BestEffort" | "BestEffortContainerLevel" => (NumaPolicy::BestEffort, NumaScope::Container),
        "BestEffortPodLevel" => (NumaPolicy::BestEffort, NumaScope::Pod),
        _ => (NumaPolicy::None, NumaScope::Container),
    };
    (policy, scope.unwrap_or(of_policy))
}

/// What a pod asks of zones; none where nothing of it is aligned.
///
/// Guaranteed pods ask for all but parts of cores, others for devices alone.
pub(super) fn alignment(
    ingest: &mut Ingest,
    guaranteed: bool,
    containers: &[Container<'_>],
    init_containers: &[Container<'_>],
) -> Option<Box<Alignment>> {
    ingest.zones.wanted.as_ref()?;
    let mut ask = |container: &Container<'_>| -> Resources {
        let request = amounts(ingest, &container.resources.requests);
        let aligned = |lane: Lane, amount: i64| match lane {
            Lane::CPU => guaranteed && amount % 1000 == 0,
            Lane::MEMORY => guaranteed,
            lane => guaranteed || ingest.names.lane_name(lane).contains('/'),
        };
        request.iter().filter(|(lane, amount)| *amount > 0 && aligned(*lane, *amount)).collect()
    };
    let mut alignment = Alignment::default();
    let (mut sidecars, mut peak) = (Resources::default(), Resources::default());
    for container in init_containers {
        let mut own = ask(container);
        if &*container.restart_policy == "Always" {
            add(&mut sidecars, &own);
            alignment.concurrent.push(own);
        } else {
            alignment.serial.push(own.clone());
            add(&mut own, &sidecars);
            raise(&mut peak, &own);
        }
    }
    alignment.pod = sidecars;
    for container in containers {
        let own = ask(container);
        add(&mut alignment.pod, &own);
        alignment.concurrent.push(own);
    }
    raise(&mut alignment.pod, &peak);
    let asks = |request: &Resources| request.iter().next().is_some();
    alignment.concurrent.retain(asks);
    alignment.serial.retain(asks);
    asks(&alignment.pod).then(|| Box::new(alignment))
}

/// A zone of a placement as annotations hold it.
#[derive(Deserialize)]
struct Recorded<'a> {
    #[serde(borrow)]
    zone: Text<'a>,
    #[serde(borrow)]
    amount: Amounts<'a>,
}

/// What a pod on a node holds of its zones: as it was seen, else as it was foretold. A record that names a zone which
/// is not there says nothing.
pub(super) fn held(ingest: &mut Ingest, node: NodeId, annotations: &Pairs<'_>) -> Vec<ZoneAmount> {
    if ingest.zones.wanted.is_none() {
        return Vec::new();
    }
    let records = [annotation::NUMA_OBSERVED, annotation::NUMA_PREDICTED];
    let mut records = records.into_iter().filter_map(|key| annotations.value(key));
    records.find_map(|text| recorded(ingest, node, text)).unwrap_or_default()
}

fn recorded(ingest: &mut Ingest, node: NodeId, text: &str) -> Option<Vec<ZoneAmount>> {
    let zones: Vec<Recorded<'_>> = serde_json::from_str(text).ok()?;
    let mut held = Vec::new();
    for Recorded { zone, amount } in &zones {
        let known = &ingest.names.nodes[node.number()].zones;
        let at = known.iter().position(|known| **known == **zone)?;
        let zone = u16::try_from(at).ok()?;
        for (name, amount) in amount.iter() {
            let lane = ingest.lane(name);
            held.push(ZoneAmount { zone, lane, amount: amount.on(lane) });
        }
    }
    Some(held)
}
