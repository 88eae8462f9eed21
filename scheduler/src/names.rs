//! Names of objects and the numbers that the engine knows them by; the only place with both.
//!
//! A row outlives its object while others still refer to it: a pod may name a node or a group that is yet to come, or gone.

use std::{collections::HashMap, sync::Arc};

use kai_api::{mig, names::resource};
use kai_engine::{
    ClaimId, Constraint, DeviceId, GroupId, Lane, LaneKind, NodeId, PodId, QueueId, Symbol,
    TopologyId, ids::Id,
};

mod asked;
mod column;
mod holders;
pub mod labels;
mod maps;
mod table;

use crate::short::{NAME_BYTES_MAX, short};
use crate::wording::Wording;

/// The row of an id as the tables here count them.
pub trait Number {
    /// The row.
    fn number(self) -> u32;
}

impl<I: Id> Number for I {
    fn number(self) -> u32 {
        u32::try_from(self.row()).expect("ids are rows below 2^32")
    }
}

pub use asked::{ATTRIBUTES_MAX, AskedFor, REQUESTS_MAX, VOLUME, VOLUME_REQUESTS_MAX};
pub use column::Column;
pub use labels::Labels;
pub use maps::{Maps, NOT_PREPARED};
pub use table::Table;

/// So many resources get a lane because pods name them: rows of nodes grow with lanes.
const RESOURCES_OF_PODS_MAX: usize = 4096;

/// Everything that has a name.
#[derive(Debug, Default)]
pub struct Names {
    /// Interned text; number 0 is the empty text.
    pub symbols: Table<()>,
    /// By name.
    pub nodes: Table<NodeRow>,
    /// By name.
    pub queues: Table<QueueRow>,
    /// By `namespace/name`.
    pub groups: Table<GroupRow>,
    /// By name.
    pub topologies: Table<TopologyRow>,
    /// By UID.
    pub pods: Table<PodRow>,
    /// Labels of pods.
    pub labels: Labels,
    /// Shared GPUs by the name of their group.
    pub devices: Table<DeviceRow>,
    /// Resource claims by `namespace/name`.
    pub claims: Table<ClaimRow>,
    /// Devices of resource slices by `driver/pool/device`.
    pub slice_devices: Table<SliceDeviceRow>,
    /// Says which nodes reach devices of several nodes: node selectors as JSON, empty for all nodes.
    pub reaches: Table<ReachRow>,
    /// Counters that devices draw from by `driver/pool/set/counter`.
    pub counters: Table<()>,
    /// Holds what device classes configure, by name: copied into allocations.
    pub device_configs: HashMap<Box<str>, Vec<serde_json::Value>>,
    /// The device class that serves a resource where no device plugin does.
    pub backing: HashMap<Lane, Box<str>>,
    /// Our node pool, as messages name it.
    pub pool: Box<str>,
    /// Tells whether messages have the detailed form.
    pub is_detailed: bool,
    lanes: HashMap<Box<str>, Lane>,
    resources: Vec<Box<str>>,
    opened: HashMap<DeviceId, u32>,
    scratch: String,
}

/// Tells whether an object is there, and who refers to it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Presence {
    /// The object is there.
    pub is_there: bool,
    /// In which full list it was last seen.
    pub generation: u32,
    /// Says how many other rows refer to this one.
    pub references: u32,
}

/// A row of an object that comes and goes.
pub trait Present {
    /// Tells whether the object is there.
    fn presence(&self) -> &Presence;
}

macro_rules! present {
    ($($row:ty),*) => {
        $(impl Present for $row {
            fn presence(&self) -> &Presence {
                &self.presence
            }
        })*
    };
}

present!(NodeRow, QueueRow, TopologyRow, GroupRow, PodRow, ClaimRow);

/// Holds what is kept of a node.
#[derive(Debug, Default)]
pub struct NodeRow {
    /// Tells whether it is there.
    pub presence: Presence,
    /// The names of its NUMA zones, in order.
    pub zones: Vec<Box<str>>,
    /// Memory of each of its GPUs as its label says it, in MiB; 0 where it does not.
    pub gpu_memory_mib: u32,
}

/// Holds what is kept of a queue.
#[derive(Debug, Default)]
pub struct QueueRow {
    /// Tells whether it is there.
    pub presence: Presence,
    /// The queue above, by number.
    pub parent: Option<u32>,
    /// `spec.displayName`, else empty.
    pub display_name: Box<str>,
}

/// Holds what is kept of a group.
#[derive(Debug, Default)]
pub struct GroupRow {
    /// Tells whether it is there.
    pub presence: Presence,
    /// Its UID.
    pub uid: Box<str>,
    /// Its queue by number: the one on whose account it is.
    pub queue: Option<u32>,
    /// The queue that its object names, by number.
    pub asked_queue: Option<u32>,
    /// Its pods.
    pub pods: Vec<u32>,
    /// Counts those of its pods that hold a place, or were given one by a plan.
    pub holders: u32,
    /// Tells whether it names a topology, so that aliases matter.
    pub has_topology: bool,
    /// Tells whether its pods may be evicted for certain, as the account has it that it is on.
    pub is_preemptible: bool,
}

/// Holds what is kept of a topology.
#[derive(Debug, Default)]
pub struct TopologyRow {
    /// Tells whether it is there.
    pub presence: Presence,
    /// Aliases of levels and the node labels they stand for.
    pub aliases: Vec<(Box<str>, Symbol)>,
}

/// Holds what is kept of a pod. There are as many as pods, so that what few have lies elsewhere.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Default)]
pub struct PodRow {
    /// Tells whether it is there.
    pub presence: Presence,
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Box<str>,
    /// When it was made, in milliseconds.
    pub created: i64,
    /// Its labels by number.
    pub labels: Box<[u32]>,
    /// Its group by number.
    pub group: Option<u32>,
    /// Its place in the list of the pods of that.
    seat: u32,
    /// Its node by number.
    pub node: Option<u32>,
    /// A plan gave it a place, and its bind is under way.
    pub is_placed: bool,
    /// It asks for a part of a GPU.
    pub is_fractional: bool,
    /// It is told of to who keeps shared GPUs.
    pub shares: bool,
    /// It carries the label of our node pool.
    pub has_pool_label: bool,
    /// Holds what it held of GPUs when its node was first seen: labels and annotations that are changed later mean nothing.
    pub bound: Option<Bound>,
    /// When it got its node, in milliseconds, as its condition `PodScheduled=True` says it.
    pub scheduled: Option<i64>,
    extras: Option<Box<PodExtras>>,
}

/// Holds what is kept of a pod that is shared out, waits, or has claims.
#[derive(PartialEq, Debug)]
pub struct PodExtras {
    /// Its resource claims by number.
    pub claims: Vec<u32>,
    /// It has claims and has not ended.
    pub uses_claims: bool,
    /// The one of them that its status says was made for its extended resources.
    pub extended: Option<u32>,
    /// Says where it will be told the GPUs that it shares, while it waits; none where admission has not prepared it.
    pub maps: Option<Box<Maps>>,
    /// Labels of it that name shared GPUs.
    pub gpu_labels: Vec<Box<str>>,
    /// It waits, and its user wrote on it what it has of NUMA zones: its bind has to write over that.
    pub says_zones: bool,
    /// The message of its condition `PodScheduled=False`, where it has one.
    pub unschedulable: Option<Wording>,
    /// The message that was asked to be written on it last.
    pub said: Option<Wording>,
    /// The node it waits for others to leave.
    pub nominated: Option<u32>,
    /// The GPUs that it asked for when a plan gave it a place, if any, while its bind is under way: later words come too late.
    pub gpus_given: Option<Box<kai_engine::GpuRequest>>,
}

impl PodExtras {
    const fn none() -> Self {
        Self {
            claims: Vec::new(),
            uses_claims: false,
            extended: None,
            maps: None,
            gpu_labels: Vec::new(),
            says_zones: false,
            unschedulable: None,
            said: None,
            nominated: None,
            gpus_given: None,
        }
    }
}

/// Those of a pod that has none.
static NO_EXTRAS: PodExtras = PodExtras::none();

impl std::ops::Deref for PodRow {
    type Target = PodExtras;

    fn deref(&self) -> &PodExtras {
        self.extras.as_deref().unwrap_or(&NO_EXTRAS)
    }
}

impl PodRow {
    /// Changes what few pods have.
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut PodExtras) -> T) -> T {
        let mut extras = self.extras.take().unwrap_or_else(|| Box::new(PodExtras::none()));
        let result = change(&mut extras);
        self.extras = (*extras != NO_EXTRAS).then_some(extras);
        result
    }
}

/// Says what a pod with a node holds of GPUs.
#[derive(Debug, Clone)]
pub enum Bound {
    /// Nothing.
    Plain,
    /// Holds what it asked for, and the groups of its shared devices.
    Gpus(Box<(kai_engine::GpuRequest, Box<[DeviceId]>)>),
}

/// Holds what is kept of a shared GPU.
#[derive(Debug, Default)]
pub struct DeviceRow {
    /// Holds what the engine calls it.
    pub id: Option<DeviceId>,
}

/// Holds what is kept of a resource claim.
#[derive(Debug, Default)]
pub struct ClaimRow {
    /// Tells whether it is there.
    pub presence: Presence,
    /// Its UID.
    pub uid: Box<str>,
    /// Counts the pods with a node that name it.
    pub holders: u32,
    /// Counts the pods whose status says that it was made for their extended resources.
    pub extended_for: u32,
    /// Its requests, in order.
    pub asked: Vec<AskedFor>,
    /// Attributes that its constraints name.
    pub alike: Vec<Box<str>>,
    /// Tells whether it has devices.
    pub is_allocated: bool,
    /// The node of its devices by number.
    pub node: Option<u32>,
    /// The queue of its label by number.
    pub queue: Option<u32>,
}

/// Holds what is kept of a device of a resource slice.
#[derive(Debug, Default)]
pub struct SliceDeviceRow {
    /// Holds what an allocation says of it besides its name, where there is anything.
    pub special: Option<Box<SpecialDevice>>,
}

/// Holds what an allocation says of a device.
#[derive(Debug, Default)]
pub struct SpecialDevice {
    /// Says which nodes reach it, by number; none where it is of one node, or bound to the one where it is given away.
    pub reach: Option<u32>,
    /// Conditions of the device that have to hold before a pod with it is bound.
    pub binding_conditions: Vec<Box<str>>,
    /// Conditions of which none may hold.
    pub binding_failure_conditions: Vec<Box<str>>,
    /// Says where claims share it: per selection what a claim takes of each capacity, in thousandths.
    pub shares: Option<Vec<Taken>>,
}

/// Holds what a claim takes of a device that claims share: the selection, and per capacity an amount in thousandths.
pub type Taken = (u32, Vec<(Box<str>, i64)>);

/// Says which nodes reach devices.
#[derive(Debug, Default)]
pub struct ReachRow {
    /// The node selector as written; none for all nodes.
    pub selector: Option<serde_json::Value>,
    /// Holds what has to hold for a node.
    pub terms: Vec<Vec<kai_engine::Requirement>>,
}

impl Names {
    /// Empty tables in which symbol 0 is the empty text.
    pub fn new() -> Self {
        let mut names = Self::default();
        names.symbols.intern("");
        names
    }

    /// The symbol of a text, of which no more counts than any name has.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        Symbol::new(self.symbols.intern(&short(text, NAME_BYTES_MAX)))
    }

    /// The text of a name that many have, held once.
    pub fn shared(&mut self, text: &str) -> Arc<str> {
        let number = self.symbols.intern(text);
        Arc::clone(self.symbols.key(number))
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.symbols.key(symbol.number())
    }

    /// The number of a node, whether it is there or not.
    pub fn node(&mut self, name: &str) -> NodeId {
        NodeId::new(self.nodes.intern(name))
    }

    /// The number of a group, whether it is there or not. A pod's annotation may name one with a quarter of a megabyte.
    pub fn group(&mut self, namespace: &str, name: &str) -> GroupId {
        self.scratch.clear();
        self.scratch.push_str(namespace);
        self.scratch.push('/');
        self.scratch.push_str(&short(name, NAME_BYTES_MAX));
        GroupId::new(self.groups.intern(&self.scratch))
    }

    /// The number of a queue, whether it is there or not.
    pub fn queue(&mut self, name: &str) -> QueueId {
        QueueId::new(self.queues.intern(&short(name, NAME_BYTES_MAX)))
    }

    /// The number of a topology, whether it is there or not.
    pub fn topology(&mut self, name: &str) -> TopologyId {
        TopologyId::new(self.topologies.intern(&short(name, NAME_BYTES_MAX)))
    }

    /// The number of a pod, whether it is there or not.
    pub fn pod(&mut self, uid: &str) -> PodId {
        PodId::new(self.pods.intern(uid))
    }

    /// The number of a resource claim, whether it is there or not.
    pub fn claim(&mut self, namespace: &str, name: &str) -> ClaimId {
        ClaimId::new(self.claims.intern(&format!("{namespace}/{name}")))
    }

    /// Tells whether a resource claim is there.
    pub fn has_claim(&self, namespace: &str, name: &str) -> bool {
        let number = self.claims.find(&format!("{namespace}/{name}"));
        number.is_some_and(|number| self.claims[number].presence.is_there)
    }

    /// The namespace and name of a resource claim, with a slash between.
    pub fn of_claim(&self, claim: ClaimId) -> &str {
        self.claims.key(claim.number())
    }

    /// The namespace and name of a group.
    pub fn group_name(&self, group: u32) -> (&str, &str) {
        let key = self.groups.key(group);
        key.split_once('/').expect("a group's key holds a slash")
    }

    /// The name of the queue of a group; empty where it names none.
    pub fn queue_of_group(&self, group: u32) -> &str {
        self.groups[group].queue.map_or("", |queue| self.queues.key(queue))
    }

    /// A queue as messages name it: its display name, else its name.
    pub fn queue_name(&self, queue: u32) -> &str {
        match self.queues.row(queue) {
            Some(row) if !row.display_name.is_empty() => &row.display_name,
            Some(_) => self.queues.key(queue),
            None => "",
        }
    }

    /// The lane of a resource that was named before; none where it was not.
    pub fn find_lane(&self, name: &str) -> Option<Lane> {
        match name {
            resource::CPU => Some(Lane::CPU),
            resource::MEMORY => Some(Lane::MEMORY),
            resource::PODS => Some(Lane::PODS),
            resource::NVIDIA_GPU | resource::AMD_GPU => Some(Lane::GPU),
            _ => self.lanes.get(name).copied(),
        }
    }

    /// The lane of a resource, and what to tell the engine where it is new.
    pub fn lane(&mut self, name: &str) -> (Lane, Option<LaneKind>) {
        if let Some(lane) = self.find_lane(name) {
            return (lane, None);
        }
        let count = u16::try_from(self.resources.len()).unwrap_or(u16::MAX);
        let lane = Lane::new(Lane::FIRST_EXTENDED.saturating_add(count));
        self.lanes.insert(Box::from(name), lane);
        self.resources.push(Box::from(name));
        (lane, mig::gpus(name).map(|gpus| LaneKind::Mig { gpus }))
    }

    /// Tells whether a resource has a lane, or one is left for what pods name. Nodes are not asked: what they have is real.
    pub fn counts(&self, resource: &str) -> bool {
        self.resources.len() < RESOURCES_OF_PODS_MAX || self.find_lane(resource).is_some()
    }

    /// The resource of a lane.
    pub fn lane_name(&self, lane: Lane) -> &str {
        match lane {
            Lane::CPU => resource::CPU,
            Lane::MEMORY => resource::MEMORY,
            Lane::GPU => resource::NVIDIA_GPU,
            Lane::PODS => resource::PODS,
            _ => &self.resources[usize::from(lane.number() - Lane::FIRST_EXTENDED)],
        }
    }

    /// The device of a GPU group's name.
    pub fn device(&mut self, name: &str) -> DeviceId {
        let number = self.devices.intern(name);
        *self.devices[number].id.get_or_insert(DeviceId::new(number))
    }

    /// The GPU group's name of a device; one that the engine opened gets a new one.
    pub fn device_name(&mut self, device: DeviceId) -> Arc<str> {
        if !device.is_opened() {
            return Arc::clone(self.devices.key(device.number()));
        }
        if let Some(number) = self.opened.get(&device) {
            return Arc::clone(self.devices.key(*number));
        }
        let number = self.devices.intern(&kai_daemon::chance::uuid().to_string());
        self.devices[number].id = Some(device);
        self.opened.insert(device, number);
        Arc::clone(self.devices.key(number))
    }

    /// A topology constraint with its aliases resolved.
    pub fn constraint(&mut self, topology: &str, levels: [&str; 2]) -> Constraint {
        let id = self.topologies.intern(topology);
        let [required, preferred] = levels.map(|level| self.level(id, level));
        Constraint { topology: TopologyId::new(id), required, preferred }
    }

    fn level(&mut self, topology: u32, name: &str) -> Option<kai_engine::Level> {
        if name.is_empty() {
            return None;
        }
        let row = &self.topologies[topology];
        let alias = row.aliases.iter().find(|(alias, _)| **alias == *name);
        let label = alias.map(|(_, label)| *label);
        Some(kai_engine::Level(label.unwrap_or_else(|| self.symbol(name))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_zero_is_the_empty_text() {
        let mut names = Names::new();
        assert_eq!(names.symbol(""), Symbol::EMPTY);
        let rack = names.symbol("rack");
        assert_eq!(names.text(rack), "rack");
    }

    #[test]
    fn lanes_are_given_once_and_mig_is_told() {
        let mut names = Names::new();
        assert_eq!(names.lane("cpu"), (Lane::CPU, None));
        let (lane, kind) = names.lane("nvidia.com/mig-3g.20gb");
        assert_eq!(kind, Some(LaneKind::Mig { gpus: 3 }));
        assert_eq!(names.lane("nvidia.com/mig-3g.20gb"), (lane, None));
        assert_eq!(names.lane_name(lane), "nvidia.com/mig-3g.20gb");
    }
}
