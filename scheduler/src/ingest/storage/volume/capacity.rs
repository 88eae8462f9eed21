//! `CSIStorageCapacity` and `CSIDriver`: on which nodes a storage class has room for one volume more. Only with
//! `--schedule-csi-storage`.
//!
//! # Source
//! docs/behaviour.md 2.10: the claims of a pod have to fit into what is left of a capacity, and each be no larger than its
//! largest volume; claims whose volumes are being made there have theirs already; of capacities for the same nodes each
//! counts by itself. Only drivers that report capacities are asked, as in Kubernetes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_api::quantity::Quantity;
use kai_engine::{Holds, Requirement, Symbol};
use serde::Deserialize;

use crate::{
    ingest::{
        Context, Kind,
        selector::LabelSelector,
        storage::{Mount, Needs},
    },
    server::wire::{Meta, Text},
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

/// Holds what is kept of a capacity.
#[derive(Debug, PartialEq, Eq)]
struct Capacity {
    generation: u32,
    class: Box<str>,
    /// Holds what has to hold for a node; none: no node has it.
    nodes: Option<Vec<Requirement>>,
    bytes: i64,
    /// The largest volume.
    most: Option<i64>,
}

/// Holds what is kept of a driver.
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
    /// Claims that were told their node, and of which nobody has looked yet where their volume is made.
    told: BTreeSet<Box<str>>,
    /// Tells whether looking again could find it.
    is_told_due: bool,
    /// Answers, as long as nothing changes: all pods that wait for volumes ask at once.
    rooms: HashMap<(Box<str>, Need), Room>,
}

/// Holds what the volumes that a pod needs of a class take of a capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::ingest) struct Need {
    bytes: i64,
    /// Of the largest alone.
    largest: i64,
}

/// Says where volumes can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Wherever their class allows.
    Anywhere,
    /// Not everywhere.
    Within {
        /// Requires that one of these holds besides.
        within: Vec<Vec<Requirement>>,
        /// Requires that there is any of it, however little; a term without requirements is everywhere.
        offered: Vec<Vec<Requirement>>,
    },
}

/// A volume that is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'m> {
    pub(super) class: &'m str,
    /// Says who makes it.
    pub(super) driver: &'m str,
    pub(super) bytes: i64,
}

impl Need {
    /// One volume more.
    pub(super) fn add(&mut self, bytes: i64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.largest = self.largest.max(bytes);
    }
}

impl Capacity {
    /// Tells whether it has room where so much of it is taken.
    fn has_room(&self, need: Need, taken: i64) -> bool {
        need.bytes <= self.bytes.saturating_sub(taken)
            && self.most.is_none_or(|most| need.largest <= most)
    }
}

impl Capacities {
    /// Works out where volumes can be made for a class of a driver. What is being made for the claims of `mounts` takes nothing.
    ///
    /// # Cost
    /// In the number of capacities of the class, and of volumes that are being made.
    pub(super) fn room(&mut self, class: &str, driver: &str, need: Need, mounts: &[Mount]) -> Room {
        if !self.reports(driver) {
            return Room::Anywhere;
        }
        if mounts.iter().any(|mount| self.making.contains_key(&mount.claim)) {
            return self.find_room(class, need, mounts);
        }
        let key = (Box::from(class), need);
        if let Some(room) = self.rooms.get(&key) {
            return room.clone();
        }
        let room = self.find_room(class, need, &[]);
        self.rooms.insert(key, room.clone());
        room
    }

    fn find_room(&self, class: &str, need: Need, mounts: &[Mount]) -> Room {
        let taken = self.taken(|claim| mounts.iter().all(|mount| *mount.claim != *claim));
        let all: Vec<_> = self.of_class(class).collect();
        let roomy = all.iter().filter(|(name, capacity)| {
            capacity.has_room(need, taken.get(&***name).copied().unwrap_or(0))
        });
        let within = joined(roomy.filter_map(|(_, capacity)| capacity.nodes.as_deref()));
        if within.iter().any(Vec::is_empty) {
            return Room::Anywhere;
        }
        let offered = joined(all.iter().filter_map(|(_, capacity)| capacity.nodes.as_deref()));
        Room::Within { within, offered }
    }

    /// Notes that a volume is made for a claim on a node; whether there is room for it.
    pub(super) fn make(
        &mut self,
        claim: &str,
        made: Made<'_>,
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> bool {
        self.forget(claim);
        let Made { class, driver, bytes } = made;
        if !self.reports(driver) {
            return true;
        }
        let name = self.roomy(class, bytes, meets).map(Box::from);
        name.is_some_and(|name| self.note(claim, name, bytes))
    }

    /// Notes where the volume is made of a claim that was told its node before: its room is taken, whatever is left.
    /// Whether that was found out.
    pub(super) fn keep(
        &mut self,
        claim: &str,
        made: Made<'_>,
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> bool {
        let Made { class, driver, bytes } = made;
        if !self.reports(driver) {
            return false;
        }
        // Anybody may write the node on a claim that no pod has, and more than there is will never be made there.
        let need = Need { bytes, largest: bytes };
        let may_be = |one: &(_, &Capacity)| one.1.has_room(need, 0);
        let any = || self.on_node(class, meets).find(may_be).map(|(name, _)| &**name);
        let name = self.roomy(class, bytes, meets).or_else(any).map(Box::from);
        name.is_some_and(|name| self.note(claim, name, bytes))
    }

    /// A capacity of a node with room for a volume.
    fn roomy(
        &self,
        class: &str,
        bytes: i64,
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> Option<&str> {
        let taken = self.taken(|_| true);
        let need = Need { bytes, largest: bytes };
        let has_room = |name: &str, capacity: &Capacity| {
            capacity.has_room(need, taken.get(name).copied().unwrap_or(0))
        };
        let mut there = self.on_node(class, meets);
        there.find(|(name, capacity)| has_room(name, capacity)).map(|(name, _)| &**name)
    }

    /// The capacities of a class that a node has.
    fn on_node(
        &self,
        class: &str,
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> impl Iterator<Item = (&Box<str>, &Capacity)> {
        self.of_class(class).filter(move |(_, capacity)| match capacity.nodes.as_deref() {
            None => false,
            Some([]) => true,
            Some(nodes) => meets(&[nodes.to_vec()]),
        })
    }

    fn note(&mut self, claim: &str, name: Box<str>, bytes: i64) -> bool {
        self.told.remove(claim);
        self.making.insert(Box::from(claim), (name, bytes));
        self.rooms.clear();
        true
    }

    /// A claim was told its node. Where its volume is made has yet to be found out, unless that is known.
    pub(super) fn tell(&mut self, claim: &str) {
        if !self.making.contains_key(claim) {
            self.told.insert(Box::from(claim));
            self.is_told_due = true;
        }
    }

    /// Claims of which it may be found out by now where their volume is made.
    pub(super) fn take_told(&mut self) -> Vec<Box<str>> {
        let is_due = std::mem::take(&mut self.is_told_due) && !self.drivers.is_empty();
        if is_due { self.told.iter().cloned().collect() } else { Vec::new() }
    }

    /// A claim got its volume, or will not; whether room was kept for it.
    pub(super) fn forget(&mut self, claim: &str) -> bool {
        self.told.remove(claim);
        let was_kept = self.making.remove(claim).is_some();
        if was_kept {
            self.rooms.clear();
        }
        was_kept
    }

    /// Forgets answers: nobody will ask the same again soon.
    pub(super) fn clear_rooms(&mut self) {
        self.rooms.clear();
    }

    fn reports(&self, driver: &str) -> bool {
        self.drivers.get(driver).is_some_and(|driver| driver.reports)
    }

    /// Says what is taken of each capacity by the claims that count.
    fn taken(&self, counts: impl Fn(&str) -> bool) -> HashMap<&str, i64> {
        let mut taken: HashMap<&str, i64> = HashMap::new();
        for (_, (name, bytes)) in self.making.iter().filter(|(claim, _)| counts(claim)) {
            let sum = taken.entry(name).or_default();
            *sum = sum.saturating_add(*bytes);
        }
        taken
    }

    /// Forgets answers, as what there is of capacities changed.
    fn changed(&mut self) {
        self.rooms.clear();
        self.is_told_due = true;
    }

    /// The capacities of a class. Anybody who may write one says of nodes that they have more room, and of none that it has less.
    fn of_class(&self, class: &str) -> impl Iterator<Item = (&Box<str>, &Capacity)> {
        let names = self.by_class.get(class).into_iter().flatten();
        names.filter_map(move |name| self.rows.get_key_value(name))
    }

    /// A capacity is gone: its volumes are being made in whatever takes its place.
    fn homeless(&mut self, name: &str) {
        let of_it = self.making.extract_if(|_, (of, _)| **of == *name);
        self.told.extend(of_it.map(|(claim, _)| claim));
    }

    fn take(&mut self, name: &str) -> Option<Capacity> {
        let capacity = self.rows.remove(name)?;
        if let Some(names) = self.by_class.get_mut(&capacity.class) {
            names.remove(name);
        }
        Some(capacity)
    }
}

/// Works out what has to hold for a node, one of these: one term for all that name values of a label, as most name a node.
/// Several may name the same.
fn joined<'c>(nodes: impl Iterator<Item = &'c [Requirement]>) -> Vec<Vec<Requirement>> {
    let mut values: BTreeMap<Symbol, BTreeSet<Symbol>> = BTreeMap::new();
    let mut terms = BTreeSet::new();
    for term in nodes {
        if let [Requirement { key, holds: Holds::In(of_label) }] = term {
            values.entry(*key).or_default().extend(of_label);
        } else {
            terms.insert(term.to_vec());
        }
    }
    let labels = values.into_iter().map(|(key, of)| {
        let holds = Holds::In(of.into_iter().collect());
        vec![Requirement { key, holds }]
    });
    terms.into_iter().chain(labels).collect()
}

impl Needs {
    pub(in crate::ingest) fn apply_capacity(
        &mut self,
        context: &mut Context,
        wire: &WireCapacity<'_>,
    ) -> String {
        let nodes = wire.node_topology.as_ref().map(|selector| {
            let mut nodes = selector.requirements(&mut context.names);
            nodes.sort();
            nodes
        });
        let bytes = |text: &Text<'_>| {
            let quantity = Quantity::parse(text).ok();
            quantity.and_then(|quantity| quantity.value().ok()).unwrap_or(0)
        };
        let most = wire.maximum_volume_size.as_ref().map(bytes);
        let capacity = Capacity {
            generation: context.generation(Kind::CsiStorageCapacity),
            class: Box::from(&*wire.storage_class_name),
            nodes,
            // A driver that says only how large a volume may be has room for one.
            bytes: wire.capacity.as_ref().map(bytes).or(most).unwrap_or(0),
            most,
        };
        let name: Box<str> = wire.metadata.key().into();
        let capacities = &mut self.volumes.capacities;
        // Drivers say again and again what they said before.
        if let Some(known) = capacities.rows.get_mut(&name) {
            known.generation = capacity.generation;
            if *known == capacity {
                return wire.metadata.resource_version.to_string();
            }
        }
        capacities.take(&name);
        capacities.by_class.entry(capacity.class.clone()).or_default().insert(name.clone());
        capacities.rows.insert(name, capacity);
        capacities.changed();
        self.offers_changed();
        wire.metadata.resource_version.to_string()
    }

    pub(in crate::ingest) fn remove_capacity(&mut self, name: &str) {
        let capacities = &mut self.volumes.capacities;
        if capacities.take(name).is_some() {
            capacities.homeless(name);
            capacities.changed();
            self.offers_changed();
        }
    }

    pub(in crate::ingest) fn apply_driver(
        &mut self,
        context: &mut Context,
        wire: &WireDriver<'_>,
    ) -> String {
        let generation = context.generation(Kind::CsiDriver);
        let reports = wire.spec.storage_capacity == Some(true);
        let capacities = &mut self.volumes.capacities;
        let driver = Driver { generation, reports };
        let known = capacities.drivers.insert(Box::from(&*wire.metadata.name), driver);
        if known.is_none_or(|known| known.reports != reports) {
            capacities.changed();
            self.offers_changed();
        }
        wire.metadata.resource_version.to_string()
    }

    pub(in crate::ingest) fn remove_driver(&mut self, name: &str) {
        let capacities = &mut self.volumes.capacities;
        if capacities.drivers.remove(name).is_some() {
            capacities.changed();
            self.offers_changed();
        }
    }

    /// Takes out the capacities that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_capacities(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::CsiStorageCapacity);
        let rows = self.volumes.capacities.rows.iter();
        let unseen = rows.filter(|(_, one)| one.generation != generation);
        for name in unseen.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.remove_capacity(&name);
        }
    }

    /// Takes out the drivers that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_drivers(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::CsiDriver);
        let drivers = self.volumes.capacities.drivers.iter();
        let unseen = drivers.filter(|(_, one)| one.generation != generation);
        for name in unseen.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.remove_driver(&name);
        }
    }
}
