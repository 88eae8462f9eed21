//! Facts of dynamic resource allocation: resource claims, device classes, devices of resource slices.
//!
//! Selectors and attributes are matched by the adapter: a device lists what selects it, a request names one selection.
//!
//! # Source
//! docs/behaviour.md 13.1, and KEP-4381 (structured parameters) for what a claim may ask for; KEP-4815 for devices that
//! share counters, KEP-5075 for capacity that claims share, KEP-5018 for access that takes nothing.

use std::sync::Arc;

use crate::{
    base::{
        ids::{ClaimId, CounterId, DeviceClassId, NodeId, QueueId, SliceDeviceId, Symbol},
        resources::{GPU_MILLI, Lane},
    },
    told::requirement::Requirement,
};

/// The most devices that a claim may be given. Source: the API's `AllocationResultsMaxSize`.
pub const CLAIM_DEVICES_MAX: u32 = 32;

/// No claim is charged more GPUs, in milli-devices: one that asks for more is given none.
const CLAIM_MILLI_MAX: i64 = CLAIM_DEVICES_MAX as i64 * GPU_MILLI;

/// The most requests and constraints that the claims of one pod may have together while devices are looked for.
pub const POD_REQUESTS_MAX: usize = 512;

/// The facts of a resource claim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Claim {
    /// Requests, in the order of its spec.
    pub requests: Vec<DeviceRequest>,
    /// Attributes that must be alike.
    pub matches: Vec<DeviceMatch>,
    /// True if it was made from a template, so that one pod has it to itself.
    pub own: bool,
    /// True if it was made for extended resources: then the pod's request says what queues are charged.
    pub synthetic: bool,
    /// True if it is a volume claim, and the devices are volumes: only the words differ where there are none.
    pub volume: bool,
    /// The queue of label `kai.scheduler/queue`; a claim of GPUs that pods share needs the queue of their group.
    pub queue: Option<QueueId>,
    /// Number of consumers that `status.reservedFor` names.
    pub consumers: u32,
    /// True if it is being deleted, or all pods that `status.reservedFor` names have ended or are gone: what it was given comes free
    /// while no pod has a place with it.
    pub leaves: bool,
    /// The part of its requests that is not supported; its pods wait until it is allocated.
    pub unsupported: Option<Unsupported>,
    /// The devices that it was given.
    pub allocation: Option<Allocation>,
}

/// The devices of a claim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allocation {
    /// The node that it is bound to; none where several nodes reach its devices.
    pub node: Option<NodeId>,
    /// Terms one of which has to hold for a node, where it is bound to none; none, and every node reaches them.
    pub within: Vec<Vec<Requirement>>,
    /// The devices, each with the position of its request.
    pub devices: Vec<(u16, SliceDeviceId)>,
    /// Amounts that it takes of devices which claims share; of one that is not listed, what its request makes of it.
    pub consumed: Vec<Consumed>,
}

/// Amounts that a claim takes of a device that claims share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consumed {
    /// The position of the request.
    pub request: u16,
    /// The device.
    pub device: SliceDeviceId,
    /// Per capacity of the device how much.
    pub amounts: Box<[(Symbol, i64)]>,
}

/// A part of a claim that nobody here can give.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unsupported {
    /// A way to count devices that is not known: `allocationMode`.
    Mode,
    /// A constraint that is neither `matchAttribute` nor `distinctAttribute`.
    Constraint,
    /// More different requests, or attributes in constraints, than the claims of one namespace may have at a time.
    TooMany,
    /// More different volumes than the claims of one namespace may ask for at a time.
    TooManyVolumes,
}

/// One request of a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct DeviceRequest {
    /// The selection.
    pub class: DeviceClassId,
    /// Their number.
    pub count: DeviceCount,
    /// True if it stands in for the entry before it: they are alternatives, the best first.
    pub instead: bool,
    /// True if the class is one of GPUs: such requests count as GPUs of queues.
    pub gpu: bool,
    /// True if there are other devices in that class too: it may be given those, and takes no GPU for certain.
    pub mixed: bool,
    /// True if it is for access to devices whoever has them (`adminAccess`): they are nobody's for it.
    pub admin: bool,
}

/// Number of devices that a request is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeviceCount {
    /// This many.
    Exactly(u32),
    /// Every device of the node that is selected, at least one.
    All {
        /// The most that a node has of them, or that the claim was given: what queues are charged.
        most: u32,
    },
}

/// Gives what queues are charged for the requests of a claim, in milli-devices: for alternatives the most that one of them
/// would cost, and for all devices of a node as many as a node has, since nobody knows before which it will be.
///
/// # Source
/// docs/behaviour.md 13.1, K49.
pub(crate) fn charged_milli(requests: &[DeviceRequest]) -> i64 {
    let most = |one: &[DeviceRequest]| one.iter().map(DeviceRequest::most_milli).max().unwrap_or(0);
    requests.chunk_by(|_, next| next.instead).map(most).sum::<i64>().min(CLAIM_MILLI_MAX)
}

/// Gives what the requests of a claim take for certain, in milli-devices: nothing for alternatives and for classes with other
/// devices beside GPUs, and one device where all of a node are asked for.
pub(crate) fn certain_milli(requests: &[DeviceRequest]) -> i64 {
    let alone = requests.chunk_by(|_, next| next.instead).filter(|one| one.len() == 1);
    alone
        .flatten()
        .filter(|one| !one.mixed)
        .map(DeviceRequest::least_milli)
        .sum::<i64>()
        .min(CLAIM_MILLI_MAX)
}

/// Counts the devices that a claim cannot do without, whatever they are: of alternatives those of the least.
pub(crate) fn least_devices(requests: &[DeviceRequest]) -> u64 {
    let count = |one: &DeviceRequest| match one.count {
        DeviceCount::Exactly(count) => u64::from(count),
        DeviceCount::All { .. } => 1,
    };
    let least = |one: &[DeviceRequest]| one.iter().map(count).min().unwrap_or(0);
    requests.chunk_by(|_, next| next.instead).map(least).sum()
}

impl DeviceRequest {
    /// Gives what it alone may take at most, in milli-devices. Access that takes nothing costs nothing.
    fn most_milli(&self) -> i64 {
        match self.count {
            DeviceCount::All { most } if self.gpu && !self.admin => {
                i64::from(most.max(1)) * GPU_MILLI
            }
            DeviceCount::All { .. } | DeviceCount::Exactly(_) => self.least_milli(),
        }
    }

    /// Gives what it alone takes at least, in milli-devices: the count, 1 for all.
    fn least_milli(&self) -> i64 {
        match self.count {
            _ if !self.gpu || self.admin => 0,
            DeviceCount::Exactly(count) => i64::from(count) * GPU_MILLI,
            DeviceCount::All { .. } => GPU_MILLI,
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
    /// True if no two values may be the same.
    pub distinct: bool,
}

/// A device class, with the selectors of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceClass {
    /// The extended resource whose requests it serves on nodes where no device plugin does.
    pub backs: Option<Lane>,
    /// The extended resource that has its name from the class, which it serves likewise.
    pub implicit: Option<Lane>,
    /// The reason why claims get none of its devices yet, or at all.
    pub unselected: Option<Unselected>,
}

/// The reason why a selection has no devices, whichever there are. The graver comes later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unselected {
    /// Its selectors were not asked of every device yet.
    Undecided,
    /// One of its selectors cannot be used.
    Broken,
    /// One of its selectors costs more than it may.
    Costly,
}

/// A device that a resource slice of a node publishes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SliceDevice {
    /// The device.
    pub id: SliceDeviceId,
    /// True if its driver is one of GPUs, by its name: such devices count as GPUs of the node.
    pub gpu: bool,
    /// Everything that selects it, ascending.
    pub classes: Box<[DeviceClassId]>,
    /// Its values of the attributes that some claim matches by.
    pub attributes: Box<[(Symbol, Symbol)]>,
    /// Amounts that it draws from counters while somebody has it: it can be had only while they hold as much.
    pub draws: Box<[(CounterId, i64)]>,
    /// Capacities that claims may share; none where one claim has it to itself.
    pub shares: Option<Box<Shares>>,
    /// True if a claim that has it is bound to the node where it got it, though several nodes reach it.
    pub binds: bool,
}

/// Capacities of a device that claims share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shares {
    /// Amount of each of its capacities.
    pub capacity: Box<[(Symbol, i64)]>,
    /// Amounts that a request takes of each, in the same order, by what it selects; of all else a request takes the
    /// whole.
    pub taken: Box<[(DeviceClassId, Box<[i64]>)]>,
}

/// Devices that more than one node reaches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    /// Its place among others, the same in every process: devices of smaller ones are given away first.
    pub uid: u128,
    /// Terms one of which has to hold for a node; none, and every node reaches them.
    pub nodes: Vec<Vec<Requirement>>,
    /// The devices, in the order in which they are given away; none, and it is gone.
    pub devices: Vec<SliceDevice>,
}

impl SliceDevice {
    /// A device that one claim of one node has to itself, without attributes.
    pub fn new(id: SliceDeviceId, gpu: bool, classes: Box<[DeviceClassId]>) -> Self {
        Self {
            id,
            gpu,
            classes,
            attributes: Box::default(),
            draws: Box::default(),
            shares: None,
            binds: false,
        }
    }
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

/// The reason why a pod may go nowhere for the sake of a claim.
///
/// # Source
/// docs/behaviour.md 13.1, pre-filter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ClaimProblem {
    /// The API server serves no claims: dynamic resource allocation is off.
    NotServed,
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
    /// The selection has no devices.
    Unselected(Unselected),
    /// The claims of the pod are bound to different nodes.
    Apart,
    /// It asks for more than [`CLAIM_DEVICES_MAX`] devices.
    TooManyDevices,
    /// With it, the claims of the pod have more than [`POD_REQUESTS_MAX`] requests and constraints.
    TooManyRequests,
    /// Its requests and constraints go together in more ways than are tried: more than
    /// [`NODE_LOOKS_MAX`](crate::NODE_LOOKS_MAX) looks at devices on a node, or
    /// [`DEVICE_LOOKS_MAX`](crate::DEVICE_LOOKS_MAX) in all, found none and showed of none that there are none.
    GivenUp,
}

/// Request of a pod through one claim: a part of its shape.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Ask {
    /// Devices of its own.
    Own(Arc<OwnDevices>),
    /// The devices of this claim, of so many thousandths of GPUs, whoever else has them.
    Named(ClaimId, i64),
}

/// Request of a pod through a claim that it has to itself. All pods that name the claim have the same one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OwnDevices {
    pub(crate) requests: Vec<DeviceRequest>,
    pub(crate) matches: Vec<DeviceMatch>,
    /// The part that keeps it from getting any.
    pub(crate) unsupported: Option<Unsupported>,
}

impl Shares {
    /// Gives what a request for a selection takes of each capacity; none where it is not one of its.
    pub(crate) fn taken_by(&self, class: DeviceClassId) -> Option<&[i64]> {
        self.taken.iter().find(|(of, _)| *of == class).map(|(_, amounts)| &**amounts)
    }
}

impl Allocation {
    /// Its devices, as its claim holds them.
    pub(crate) fn claimed(&self, claim: ClaimId) -> impl Iterator<Item = Claimed> {
        let claim = Some(claim);
        self.devices.iter().map(move |(request, device)| Claimed {
            claim,
            request: *request,
            device: *device,
        })
    }
}
