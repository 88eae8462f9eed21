//! `CSIStorageCapacity` and `CSIDriver`: on which nodes a storage class has room for one volume more. Only with
//! `--schedule-csi-storage`.
//!
//! # Source
//! spec/scheduling.md 2.10: a claim has to fit into what is left of a capacity and be no larger than its largest volume;
//! of capacities for the same nodes none counts. Only drivers that report capacities are asked, as in Kubernetes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_api::quantity::Quantity;
use kai_engine::{Holds, Requirement, Symbol};
use serde::Deserialize;

use crate::{
    ingest::{Ingest, Kind, shape::LabelSelector},
    wire::{Meta, Text},
};

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(in crate::ingest) struct WireCapacity<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    storage_class_name: Text<'a>,
    /// None: no node; empty: all nodes.
    #[serde(borrow, default)]
    node_topology: Option<LabelSelector<'a>>,
    #[serde(borrow, default)]
    capacity: Option<Text<'a>>,
    #[serde(borrow, default)]
    maximum_volume_size: Option<Text<'a>>,
}

#[derive(Deserialize, Debug)]
pub(in crate::ingest) struct WireDriver<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(default)]
    spec: DriverSpec,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct DriverSpec {
    storage_capacity: Option<bool>,
}

/// What is kept of a capacity.
#[derive(Debug)]
struct Capacity {
    generation: u32,
    class: Box<str>,
    /// What has to hold for a node; none: no node has it.
    nodes: Option<Vec<Requirement>>,
    bytes: i64,
    /// The largest volume.
    most: Option<i64>,
}

/// What is kept of a driver.
#[derive(Debug)]
struct Driver {
    generation: u32,
    reports: bool,
}

/// Capacities, and who reports them.
#[derive(Debug, Default)]
pub(super) struct Capacities {
    drivers: HashMap<Box<str>, Driver>,
    /// By namespace and name.
    rows: BTreeMap<Box<str>, Capacity>,
    by_class: HashMap<Box<str>, BTreeSet<Box<str>>>,
    /// Claims for which a volume is being made: where, and of how many bytes.
    making: HashMap<Box<str>, (Box<str>, i64)>,
}

/// Where a volume can be made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Wherever its class allows.
    Anywhere,
    /// Where one of these holds besides.
    Within(Vec<Vec<Requirement>>),
}

impl Capacities {
    /// Where a volume of so many bytes can be made for a class of a driver.
    ///
    /// # Cost
    /// In the number of capacities of the class.
    pub(super) fn room(&self, class: &str, driver: &str, bytes: i64) -> Room {
        if !self.drivers.get(driver).is_some_and(|driver| driver.reports) {
            return Room::Anywhere;
        }
        let mut values: BTreeMap<Symbol, Vec<Symbol>> = BTreeMap::new();
        let mut terms = Vec::new();
        for (name, capacity) in self.of_class(class) {
            let Some(nodes) = &capacity.nodes else { continue };
            if !self.holds(name, capacity, bytes) {
                continue;
            }
            match nodes.as_slice() {
                [] => return Room::Anywhere,
                // One term for all that name values of a label: most name a node.
                [Requirement { key, holds: Holds::In(of_label) }] => {
                    values.entry(*key).or_default().extend(of_label);
                }
                term => terms.push(term.to_vec()),
            }
        }
        let labels = values.into_iter();
        terms.extend(labels.map(|(key, of)| vec![Requirement { key, holds: Holds::In(of) }]));
        Room::Within(terms)
    }

    /// Notes that a volume is made for a claim on a node; whether there is room for it.
    pub(super) fn make(
        &mut self,
        claim: &str,
        (class, driver, bytes): (&str, &str, i64),
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> bool {
        self.made(claim);
        if !self.drivers.get(driver).is_some_and(|driver| driver.reports) {
            return true;
        }
        let on_node = |capacity: &Capacity| match capacity.nodes.as_deref() {
            None => false,
            Some([]) => true,
            Some(nodes) => meets(&[nodes.to_vec()]),
        };
        let there = self.of_class(class).filter(|(_, capacity)| on_node(capacity));
        let mut found = there.filter(|(name, capacity)| self.holds(name, capacity, bytes));
        let name = found.next().map(|(name, _)| name.clone());
        drop(found);
        let Some(name) = name else { return false };
        self.making.insert(Box::from(claim), (name, bytes));
        true
    }

    /// A claim got its volume, or will not; whether room was kept for it.
    pub(super) fn made(&mut self, claim: &str) -> bool {
        self.making.remove(claim).is_some()
    }

    /// The capacities of a class that count: of several for the same nodes none does.
    fn of_class(&self, class: &str) -> impl Iterator<Item = (&Box<str>, &Capacity)> {
        let names = self.by_class.get(class).into_iter().flatten();
        let all: Vec<_> = names.filter_map(|name| self.rows.get_key_value(name)).collect();
        let mut counts: HashMap<&Option<Vec<Requirement>>, u32> = HashMap::new();
        for (_, capacity) in &all {
            *counts.entry(&capacity.nodes).or_default() += 1;
        }
        let alone: Vec<_> = all.into_iter().filter(|(_, one)| counts[&one.nodes] == 1).collect();
        alone.into_iter()
    }

    /// Whether so many bytes are left of a capacity, and one volume may have them.
    fn holds(&self, name: &str, capacity: &Capacity, bytes: i64) -> bool {
        let making = self.making.values().filter(|(of, _)| **of == *name);
        let taken = making.map(|(_, bytes)| *bytes).fold(0, i64::saturating_add);
        bytes <= capacity.bytes.saturating_sub(taken)
            && capacity.most.is_none_or(|most| bytes <= most)
    }

    fn take(&mut self, name: &str) -> Option<Capacity> {
        let capacity = self.rows.remove(name)?;
        if let Some(names) = self.by_class.get_mut(&capacity.class) {
            names.remove(name);
        }
        Some(capacity)
    }
}

pub(in crate::ingest) fn applied(ingest: &mut Ingest, wire: &WireCapacity<'_>) -> String {
    let nodes = wire.node_topology.as_ref().map(|selector| {
        let mut nodes = selector.requirements(ingest);
        nodes.sort();
        nodes
    });
    let bytes = |text: &Text<'_>| {
        let quantity = Quantity::parse(text).ok();
        quantity.and_then(|quantity| quantity.value().ok()).unwrap_or(0)
    };
    let most = wire.maximum_volume_size.as_ref().map(bytes);
    let capacity = Capacity {
        generation: ingest.generation(Kind::CsiStorageCapacity),
        class: Box::from(&*wire.storage_class_name),
        nodes,
        // A driver that says only how large a volume may be has room for one.
        bytes: wire.capacity.as_ref().map(bytes).or(most).unwrap_or(0),
        most,
    };
    let name: Box<str> = wire.metadata.key().into();
    let capacities = &mut ingest.needs.volumes.capacities;
    capacities.take(&name);
    capacities.by_class.entry(capacity.class.clone()).or_default().insert(name.clone());
    capacities.rows.insert(name, capacity);
    ingest.needs.offers_changed();
    wire.metadata.resource_version.to_string()
}

pub(in crate::ingest) fn gone(ingest: &mut Ingest, name: &str) {
    if ingest.needs.volumes.capacities.take(name).is_some() {
        ingest.needs.offers_changed();
    }
}

pub(in crate::ingest) fn driver_applied(ingest: &mut Ingest, wire: &WireDriver<'_>) -> String {
    let driver = Driver {
        generation: ingest.generation(Kind::CsiDriver),
        reports: wire.spec.storage_capacity == Some(true),
    };
    ingest.needs.volumes.capacities.drivers.insert(Box::from(&*wire.metadata.name), driver);
    ingest.needs.offers_changed();
    wire.metadata.resource_version.to_string()
}

pub(in crate::ingest) fn driver_gone(ingest: &mut Ingest, name: &str) {
    if ingest.needs.volumes.capacities.drivers.remove(name).is_some() {
        ingest.needs.offers_changed();
    }
}

/// A full list of capacities or of drivers is complete: what was not in it is gone.
pub(in crate::ingest) fn end(ingest: &mut Ingest, kind: Kind) {
    let generation = ingest.generation(kind);
    let capacities = &ingest.needs.volumes.capacities;
    if kind == Kind::CsiDriver {
        let drivers = capacities.drivers.iter().filter(|(_, one)| one.generation != generation);
        for name in drivers.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            driver_gone(ingest, &name);
        }
    } else {
        let rows = capacities.rows.iter().filter(|(_, one)| one.generation != generation);
        for name in rows.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            gone(ingest, &name);
        }
    }
}
