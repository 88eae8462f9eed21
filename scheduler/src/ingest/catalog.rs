//! What devices there are and what selects them: `ResourceSlice`s and `DeviceClass`es, kept as far as matching needs.
//!
//! A *selection* is a device class with the selectors of a request. The engine knows each by a number, and each
//! device by the selections that have it. Matching is done here, when a selection or a slice is new, for the nodes
//! that this concerns; it is told before the next cycle.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    Ingest,
    selector::{Attribute, Device, Functions, Selector, Tolerated},
};
use kai_engine::{Delta, DeviceClass, DeviceClassId, Lane, NodeId, SliceDevice, SliceDeviceId};

/// Classes, selections and slices.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) classes: BTreeMap<Box<str>, Class>,
    pub(super) slices: BTreeMap<Box<str>, Slice>,
    by_node: BTreeMap<u32, BTreeSet<Box<str>>>,
    selections: Vec<Selection>,
    by_key: HashMap<(Box<str>, Wish), u32>,
    /// Attributes that some claim wants alike.
    matched: BTreeSet<Box<str>>,
    /// Nodes whose devices have to be told anew.
    stale: BTreeSet<u32>,
}

/// A device class.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) selectors: Vec<Box<str>>,
    /// The extended resource that it serves where no device plugin does.
    pub(super) backs: Lane,
    pub(super) generation: u32,
}

/// What a request wants of devices of a class.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wish {
    pub(super) selectors: Vec<Box<str>>,
    pub(super) tolerations: Vec<Tolerated>,
}

/// A slice of one node.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) node: u32,
    pub(super) driver: Box<str>,
    pub(super) pool: Box<str>,
    /// `spec.pool.generation`; only the newest of a pool counts.
    pub(super) pool_generation: i64,
    /// How many slices the pool has at that generation; fewer make no pool.
    pub(super) pool_slices: usize,
    pub(super) devices: Vec<Device>,
    pub(super) generation: u32,
}

/// A device class with the selectors of a request.
#[derive(Debug)]
struct Selection {
    class: Box<str>,
    own: Wish,
    /// Those of the class and its own; none while the class does not exist.
    selector: Option<Selector>,
}

/// The name of a GPU class or driver. Source: spec/scheduling.md 13.1.
pub(super) fn is_gpu(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gpu")
}

impl Catalog {
    /// The number of a device class with further selectors; a new one is matched before the next cycle.
    pub(super) fn selection(&mut self, class: &str, own: Wish) -> (DeviceClassId, bool) {
        let key = (Box::from(class), own.clone());
        if let Some(number) = self.by_key.get(&key) {
            return (DeviceClassId::new(*number), false);
        }
        let number = u32::try_from(self.selections.len()).unwrap_or(u32::MAX);
        self.by_key.insert(key, number);
        let mut selection = Selection { class: Box::from(class), own, selector: None };
        selection.compile(self.classes.get(class));
        self.selections.push(selection);
        self.stale.extend(self.by_node.keys());
        (DeviceClassId::new(number), true)
    }

    /// From now on devices are told with their value of this attribute.
    pub(super) fn want_attribute(&mut self, attribute: &str) {
        if self.matched.insert(Box::from(attribute)) {
            self.stale.extend(self.by_node.keys());
        }
    }

    /// Compiles the selections of a class anew; says which there are.
    fn recompile(&mut self, class: &str) -> Vec<(DeviceClassId, Option<DeviceClass>)> {
        let mut touched = Vec::new();
        for (number, selection) in (0..).zip(&mut self.selections) {
            if &*selection.class == class {
                let facts = self.classes.get(class);
                selection.compile(facts);
                touched
                    .push((DeviceClassId::new(number), facts.map(|class| selection.told(class))));
            }
        }
        if !touched.is_empty() {
            self.stale.extend(self.by_node.keys());
        }
        touched
    }

    pub(super) fn put(&mut self, name: &str, slice: Slice) {
        self.take(name);
        self.by_node.entry(slice.node).or_default().insert(Box::from(name));
        self.stale.insert(slice.node);
        self.slices.insert(Box::from(name), slice);
    }

    /// Takes a slice out; says the node that it was of.
    pub(super) fn take(&mut self, name: &str) -> Option<u32> {
        let node = self.slices.remove(name)?.node;
        self.stale.insert(node);
        if let Some(names) = self.by_node.get_mut(&node) {
            names.remove(name);
            if names.is_empty() {
                self.by_node.remove(&node);
            }
        }
        Some(node)
    }

    /// The slices of a node that count: of complete pools, at their newest generation.
    fn current(&self, node: u32) -> Vec<&Slice> {
        let names = self.by_node.get(&node).into_iter().flatten();
        let all: Vec<&Slice> = names.filter_map(|name| self.slices.get(name)).collect();
        let newest = |slice: &Slice| {
            let of_pool =
                |other: &&&Slice| other.driver == slice.driver && other.pool == slice.pool;
            let pool: Vec<&&Slice> = all.iter().filter(of_pool).collect();
            let newest = pool.iter().map(|other| other.pool_generation).max();
            let count = pool.iter().filter(|other| Some(other.pool_generation) == newest).count();
            Some(slice.pool_generation) == newest && count == slice.pool_slices
        };
        let mut current: Vec<&Slice> = all.iter().copied().filter(|slice| newest(slice)).collect();
        current.sort_by(|a, b| (&a.driver, &a.pool).cmp(&(&b.driver, &b.pool)));
        current
    }
}

impl Selection {
    /// Only the class as it is serves an extended resource.
    fn told(&self, class: &Class) -> DeviceClass {
        DeviceClass { backs: (self.own == Wish::default()).then_some(class.backs) }
    }

    fn compile(&mut self, class: Option<&Class>) {
        self.selector = class.map(|class| {
            let all = class.selectors.iter().chain(&self.own.selectors).map(|text| &**text);
            let selector = Selector::compile(all);
            if let Some(fault) = &selector.fault {
                tracing::warn!(class = &*self.class, fault, "a CEL selector cannot be used");
            }
            selector
        });
    }
}

/// A class came, changed or went: its selections are told, and matched anew.
pub(super) fn class_changed(ingest: &mut Ingest, class: &str) {
    ingest.catalog.selection(class, Wish::default());
    for (id, told) in ingest.catalog.recompile(class) {
        ingest.deltas.push(match told {
            Some(told) => Delta::DeviceClass(id, told),
            None => Delta::DeviceClassGone(id),
        });
    }
}

/// The number of a selection; the engine hears of a new one.
pub(super) fn selection(ingest: &mut Ingest, class: &str, own: Wish) -> DeviceClassId {
    let (id, is_new) = ingest.catalog.selection(class, own);
    if is_new && ingest.catalog.classes.contains_key(class) {
        ingest.deltas.push(Delta::DeviceClass(id, DeviceClass::default()));
    }
    id
}

/// Tells the devices of nodes where something changed.
pub(super) fn flush(ingest: &mut Ingest) {
    let stale = std::mem::take(&mut ingest.catalog.stale);
    if stale.is_empty() {
        return;
    }
    let functions = Functions::new();
    let selectors = ingest.catalog.selections.iter().filter_map(|one| one.selector.as_ref());
    let domains: BTreeSet<String> = selectors.flat_map(Selector::domains).cloned().collect();
    for node in stale {
        let mut devices = Vec::new();
        for slice in ingest.catalog.current(node) {
            for device in &slice.devices {
                let asked = functions.device(&slice.driver, device, &domains);
                let classes = (0..).zip(&ingest.catalog.selections).filter(|(_, selection)| {
                    selection.selector.as_ref().is_some_and(|one| asked.satisfies(one))
                        && device.is_tolerated(&selection.own.tolerations)
                });
                let classes = classes.map(|(number, _)| DeviceClassId::new(number)).collect();
                let key = format!("{}/{}/{}", slice.driver, slice.pool, device.name);
                devices.push(SliceDevice {
                    id: SliceDeviceId::new(ingest.names.slice_devices.intern(&key)),
                    gpu: is_gpu(&slice.driver),
                    classes,
                    attributes: ingest
                        .catalog
                        .matched
                        .iter()
                        .filter_map(|name| {
                            let value = device.attribute(&slice.driver, name)?;
                            let symbols = &mut ingest.names.symbols;
                            let symbol = |number| kai_engine::Symbol::new(number);
                            Some((symbol(symbols.intern(name)), symbol(symbols.intern(&value))))
                        })
                        .collect(),
                });
            }
        }
        ingest.deltas.push(Delta::Slices(NodeId::new(node), devices));
    }
}

impl Device {
    /// The value of a qualified attribute as text; a name without domain is the driver's.
    fn attribute(&self, driver: &str, name: &str) -> Option<String> {
        let (domain, name) = name.split_once('/').unwrap_or((driver, name));
        let value = self.attributes.get(&(Box::from(domain), Box::from(name)))?;
        Some(match value {
            Attribute::Bool(value) => format!("bool {value}"),
            Attribute::Int(value) => format!("int {value}"),
            Attribute::Text(value) => format!("string {value}"),
            Attribute::Version(value) => format!("version {value}"),
        })
    }
}
