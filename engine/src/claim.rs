//! What the adapter tells of dynamic resource allocation: resource claims, device classes, devices of resource slices.
//!
//! Selectors and attributes are matched by the adapter: a device lists what selects it, a request names one selection.
//!
//! # Source
//! spec/scheduling.md 13.1, and KEP-4381 (structured parameters) for what a claim may ask for.

mod admit;
mod apply;
mod choose;
mod ledger;
mod standing;

use crate::{
    ids::{ClaimId, DeviceClassId, NodeId, QueueId, SliceDeviceId, Symbol},
    resources::{GPU_MILLI, Lane},
};

pub(crate) use apply::Claims;
pub(crate) use ledger::SliceRow;
pub(crate) use standing::Standings;

/// The facts of a resource claim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Claim {
    /// What it asks for, in the order of its spec.
    pub requests: Vec<DeviceRequest>,
    /// Attributes that must be alike.
    pub matches: Vec<DeviceMatch>,
    /// Whether it was made from a template, so that one pod has it to itself.
    pub own: bool,
    /// Whether it was made for extended resources: then the pod's request says what queues are charged.
    pub synthetic: bool,
    /// The queue of label `kai.scheduler/queue`; a claim of GPUs that pods share needs the queue of their group.
    pub queue: Option<QueueId>,
    /// Whether `status.reservedFor` is full: 256 consumers.
    pub full: bool,
    /// What it asks for that is not supported; its pods wait until it is allocated.
    pub unsupported: Option<Unsupported>,
    /// The devices that it was given.
    pub allocation: Option<Allocation>,
}

/// The devices of a claim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allocation {
    /// The node that it is bound to; none where its devices are reached from everywhere.
    pub node: Option<NodeId>,
    /// The devices, each with the position of its request.
    pub devices: Vec<(u16, SliceDeviceId)>,
}

/// What a claim may ask for and gets from nobody here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unsupported {
    /// Devices that others have: `adminAccess`.
    AdminAccess,
    /// A part of a device: `capacity`.
    Capacity,
    /// A way to count devices that is not known: `allocationMode`.
    Mode,
    /// A constraint that is neither `matchAttribute` nor `distinctAttribute`.
    Constraint,
}

/// One request of a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeviceRequest {
    /// What it selects.
    pub class: DeviceClassId,
    /// How many.
    pub count: DeviceCount,
    /// Whether it stands in for the entry before it: they are alternatives, the best first.
    pub instead: bool,
    /// Whether the class is one of GPUs, by its name: such requests count as GPUs of queues.
    pub gpu: bool,
}

/// How many devices a request is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeviceCount {
    /// This many.
    Exactly(u32),
    /// Every device of the node that is selected, at least one.
    All,
}

impl DeviceRequest {
    /// What queues are charged, in milli-devices.
    ///
    /// # Source
    /// spec/scheduling.md 13.1: the count, 1 for all.
    pub(crate) fn milli(&self) -> i64 {
        match self.count {
            _ if !self.gpu => 0,
            DeviceCount::Exactly(count) => i64::from(count) * GPU_MILLI,
            DeviceCount::All => GPU_MILLI,
        }
    }
}

/// An attribute that devices of some requests of a claim must have alike (`matchAttribute`), or each its own value of
/// (`distinctAttribute`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeviceMatch {
    /// Positions of the requests; none for all.
    pub requests: Vec<u16>,
    /// The attribute.
    pub attribute: Symbol,
    /// Whether no two values may be the same.
    pub distinct: bool,
}

/// A device class, with the selectors of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceClass {
    /// The extended resource whose requests it serves on nodes where no device plugin does.
    pub backs: Option<Lane>,
}

/// A device that a resource slice of a node publishes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SliceDevice {
    /// The device.
    pub id: SliceDeviceId,
    /// Whether its driver is one of GPUs, by its name: such devices count as GPUs of the node.
    pub gpu: bool,
    /// Everything that selects it, ascending.
    pub classes: Box<[DeviceClassId]>,
    /// Its values of the attributes that some claim matches by.
    pub attributes: Box<[(Symbol, Symbol)]>,
}

/// A device that a pod holds for a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Claimed {
    /// The claim; none where the pod asks for an extended resource and the claim has yet to be made.
    pub claim: Option<ClaimId>,
    /// The position of the request in the claim, or the number of the extended resource's lane.
    pub request: u16,
    /// The device.
    pub device: SliceDeviceId,
}

/// Why a pod may go nowhere for the sake of a claim.
///
/// # Source
/// spec/scheduling.md 13.1, pre-filter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ClaimProblem {
    /// The claim does not exist.
    NotFound,
    /// It is of GPUs, for pods of more than one claim template, and not labelled with the queue of the group.
    OtherQueue,
    /// It has the most consumers that a claim may have.
    Full,
    /// A device class that it names does not exist.
    NoClass,
    /// It asks for something that is not supported.
    Unsupported(Unsupported),
    /// The claims of the pod are bound to different nodes.
    Apart,
}

/// What a pod asks for through one claim: a part of its shape.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Ask {
    /// Devices of its own.
    Own(Vec<DeviceRequest>, Vec<DeviceMatch>),
    /// The devices of this claim, of so many thousandths of GPUs, whoever else has them.
    Named(ClaimId, i64),
}
