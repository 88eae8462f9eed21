//! `NodeResourceTopology`, what pods ask of zones, and what they hold of them.
//!
//! Reports are taken in whenever there are any; the engine hears of them while the plugin `numa` is on. What is
//! available in a zone is what it has less what pods hold by their annotations; the report's own `available` is not
//! read. Source: docs/behaviour.md 13.3.

use std::collections::BTreeMap;

use kai_api::names::annotation;
use kai_engine::{
    Alignment, Lane, NodeId, Numa, NumaPolicy, NumaScope, Owner, Resources, ZoneAmount,
};
use serde::Deserialize;

use super::{
    Context, Delta, Kind, pod,
    request::{Amount, Amounts, Container, Initial, add, amounts, is_overlong, raise},
};
use crate::{
    names::{Names, Number},
    server::wire::{Meta, Text, null_as_default},
    settings::Aligning,
};

/// Holds what is known of zones.
#[derive(Default, Debug)]
pub(super) struct Zones {
    /// The plugin's arguments, while it is on.
    wanted: Option<Aligning>,
    /// By node.
    reports: BTreeMap<u32, Report>,
}

/// Holds what a node reports; the names of its zones are in its row.
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

impl Zones {
    pub(super) fn apply(&mut self, context: &mut Context, wire: &Wire<'_>) -> String {
        let meta = &wire.metadata;
        let node = context.names.node(&meta.name).number();
        let mut zones: Vec<&Zone<'_>> =
            wire.zones.iter().filter(|zone| &*zone.kind == "Node").collect();
        zones.sort_by_key(|zone| {
            let number = trailing_number(&zone.name);
            (number.is_none(), number, &*zone.name)
        });
        let has = |context: &mut Context, zone: &Zone<'_>| -> Resources {
            let mut lanes = Vec::with_capacity(zone.resources.len());
            for Has { name, allocatable } in &zone.resources {
                let lane = context.lane(name);
                lanes.push((lane, allocatable.on(lane)));
            }
            lanes.into_iter().collect()
        };
        let (policy, scope) = manager(wire);
        let facts =
            Numa { policy, scope, zones: zones.iter().map(|zone| has(context, zone)).collect() };
        let names: Vec<Box<str>> = zones.iter().map(|zone| Box::from(&*zone.name)).collect();
        let generation = context.generation(Kind::NodeResourceTopology);
        let own = u32::from(self.reports.contains_key(&node));
        let row = &mut context.names.nodes[node];
        let renamed = row.zones != names;
        row.zones = names;
        let has_pods = row.presence.references > own;
        if renamed && has_pods && self.wanted.is_some() {
            // What pods hold is written with the names of zones.
            context.resync.push(Kind::Pod);
        }
        let before = self.reports.insert(node, Report { generation, facts });
        match &before {
            None => context.names.nodes[node].presence.references += 1,
            Some(before) if before.facts == self.reports[&node].facts => {
                return meta.resource_version.to_string();
            }
            Some(_) => {}
        }
        if self.wanted.is_some() {
            self.tell(context, node);
        }
        meta.resource_version.to_string()
    }

    pub(super) fn remove(&mut self, context: &mut Context, name: &str) {
        if let Some(node) = context.names.nodes.find(name) {
            self.forget(context, node);
        }
    }

    /// Takes out what was not in the full list that is complete now.
    pub(super) fn end(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::NodeResourceTopology);
        let reports = self.reports.iter();
        let unseen = reports.filter(|(_, report)| report.generation != generation);
        for node in unseen.map(|(node, _)| *node).collect::<Vec<_>>() {
            self.forget(context, node);
        }
    }

    fn forget(&mut self, context: &mut Context, node: u32) {
        if self.reports.remove(&node).is_none() {
            return;
        }
        if self.wanted.is_some() {
            context.deltas.push(Delta::Zones(NodeId::new(node), None));
        }
        context.names.nodes[node].zones.clear();
        context.let_go_of_node(node);
    }

    /// Switches alignment on with these arguments, or off; then pods are read again for it.
    pub(super) fn align(&mut self, context: &mut Context, wanted: Option<Aligning>) {
        if self.wanted == wanted {
            return;
        }
        self.wanted = wanted;
        for node in self.reports.keys().copied().collect::<Vec<_>>() {
            self.tell(context, node);
        }
        context.resync.push(Kind::Pod);
    }

    /// Tells the engine of a node's zones, without what is to be ignored.
    fn tell(&self, context: &mut Context, node: u32) {
        let facts = self.wanted.as_ref().map(|wanted| {
            let counts = |lane: Lane| !wanted.ignored.contains(context.names.lane_name(lane));
            let mut facts = self.reports[&node].facts.clone();
            for zone in &mut facts.zones {
                *zone = zone.iter().filter(|(lane, _)| counts(*lane)).collect();
            }
            Box::new(facts)
        });
        context.deltas.push(Delta::Zones(NodeId::new(node), facts));
    }

    /// Works out what a pod asks of zones; none where nothing of it is aligned.
    ///
    /// Guaranteed pods ask for all but parts of cores, others for devices alone.
    pub(super) fn alignment(
        &self,
        context: &mut Context,
        guaranteed: bool,
        containers: &[Container<'_>],
        init_containers: &[Container<'_>],
    ) -> Option<Box<Alignment>> {
        self.wanted.as_ref()?;
        let named = containers.iter().chain(init_containers);
        if is_overlong(named.map(|container| &container.resources.requests)) {
            return None;
        }
        let mut ask = |container: &Container<'_>| -> Resources {
            let request = amounts(context, &container.resources.requests);
            let aligned = |lane: Lane, amount: i64| match lane {
                Lane::CPU => guaranteed && amount % 1000 == 0,
                Lane::MEMORY => guaranteed,
                lane => guaranteed || context.names.lane_name(lane).contains('/'),
            };
            request.iter().filter(|(lane, amount)| *amount > 0 && aligned(*lane, *amount)).collect()
        };
        let mut alignment = Alignment::default();
        let mut initial = Initial::default();
        for container in init_containers {
            let own = ask(container);
            let is_sidecar = &*container.restart_policy == "Always";
            initial.begin(&own, is_sidecar);
            let of_its_kind =
                if is_sidecar { &mut alignment.concurrent } else { &mut alignment.serial };
            of_its_kind.push(own);
        }
        let (sidecars, peak) = initial.end();
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

    /// Works out what a pod on a node holds of its zones: as it was seen, which KAI's exporter writes on pods of any scheduler, else
    /// as it was foretold, where there is what a bind writes beside it. A record that names a zone which is not there, or more of a
    /// resource than the pod asks for, says nothing: its user may have written it.
    pub(super) fn held(
        &self,
        context: &mut Context,
        node: NodeId,
        wire: &pod::Wire<'_>,
        owner: Owner,
    ) -> Vec<ZoneAmount> {
        if self.wanted.is_none() {
            return Vec::new();
        }
        let annotations = &wire.metadata.annotations;
        let received = annotations.value(annotation::RECEIVED_RESOURCE_TYPE);
        let is_foretold = matches!(owner, Owner::Group(_)) && received.is_some();
        let records = [annotation::NUMA_OBSERVED, annotation::NUMA_PREDICTED];
        let records = records.into_iter().take(if is_foretold { 2 } else { 1 });
        let records = records.filter_map(|key| annotations.value(key));
        let held: Vec<_> =
            records.filter_map(|text| recorded(&context.names, node, text)).collect();
        if held.is_empty() {
            return Vec::new();
        }
        let asked = wire.asking().request(context);
        held.into_iter().find(|zones| is_within(zones, &asked)).unwrap_or_default()
    }
}

/// The number at the end of a zone's name.
fn trailing_number(name: &str) -> Option<u64> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name[name.len() - digits..].parse().ok()
}

/// Works out what the node's topology manager does: by its attributes, else by the first of the older policies.
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

/// A zone of a placement as annotations hold it.
#[derive(Deserialize)]
struct Recorded<'a> {
    #[serde(borrow)]
    zone: Text<'a>,
    #[serde(borrow)]
    amount: Amounts<'a>,
}

/// Tells whether zones hold no more in all than a pod asks for.
fn is_within(zones: &[ZoneAmount], asked: &Resources) -> bool {
    let mut sums: BTreeMap<Lane, i64> = BTreeMap::new();
    for held in zones {
        let sum = sums.entry(held.lane).or_default();
        *sum = sum.saturating_add(held.amount);
    }
    sums.into_iter().all(|(lane, sum)| sum <= asked.amount(lane))
}

/// Reads a record: one amount of each resource of a zone, however often it is named. None where it names what is not known.
fn recorded(names: &Names, node: NodeId, text: &str) -> Option<Vec<ZoneAmount>> {
    let zones: Vec<Recorded<'_>> = serde_json::from_str(text).ok()?;
    let mut sums: BTreeMap<(u16, Lane), i64> = BTreeMap::new();
    for Recorded { zone, amount } in &zones {
        let known = &names.nodes[node.number()].zones;
        let at = known.iter().position(|known| **known == **zone)?;
        let zone = u16::try_from(at).ok()?;
        for (name, amount) in amount.iter() {
            let lane = names.find_lane(name)?;
            let sum = sums.entry((zone, lane)).or_default();
            *sum = sum.saturating_add(amount.on(lane));
        }
    }
    let held = sums.into_iter().filter(|(_, amount)| *amount > 0);
    Some(held.map(|((zone, lane), amount)| ZoneAmount { zone, lane, amount }).collect())
}
