//! Facts of a pod.

use std::sync::Arc;

use crate::{
    base::{
        ids::{ClaimId, DeviceId, GroupId, NamespaceSelectorId, NodeId, Symbol},
        resources::{Lane, Resources},
        time::Timestamp,
    },
    told::{
        claim::Claimed,
        numa::{Alignment, ZoneAmount},
        requirement::Requirement,
    },
};

/// The facts of a pod.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pod {
    /// Owner of the pod.
    pub owner: Owner,
    /// The sub-group it names, [`Symbol::EMPTY`] where it names none.
    pub sub_group: Symbol,
    /// Requests, and the nodes that it may go to.
    pub shape: Shape,
    /// Phase of its life.
    pub state: PodState,
    /// Its place among the pods of its group.
    pub rank: PodRank,
    /// Time when it was made; older pods go first.
    pub created: Timestamp,
    /// Its UID as a number; breaks the last tie.
    pub uid: u128,
    /// The node of `status.nominatedNodeName`, which is preferred to every other.
    pub nominated: Option<NodeId>,
    /// Its namespace.
    pub namespace: Symbol,
    /// Its labels, for the pod affinities of others.
    pub labels: Vec<(Symbol, Symbol)>,
    /// Its resource claims, in the order of its spec; they may come later.
    pub claims: Vec<ClaimId>,
    /// True if it was put on its node past the scheduler: nobody asked whether the node has what the pod asks for, so that
    /// all such pods of a node hold together at most what it offers. Without a place nothing comes of it.
    pub unplanned: bool,
}

/// Owner of the pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Owner {
    /// One of ours, of this group; the group may come later.
    Group(GroupId),
    /// Another scheduler's, or nobody's: it occupies its node and is taken off the cluster's total.
    #[default]
    Foreign,
    /// A pod that reserves a shared GPU, or asks for a node: it occupies its node, and no queue is charged for it.
    ///
    /// One whose place names a device holds that GPU of its node as long as it is there, with users or without; while
    /// it leaves and nobody uses the device, the GPU comes free. One whose place names none holds no GPU.
    Reservation,
}

/// Phase of a pod's life, as the API shows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PodState {
    /// Waits behind scheduling gates.
    Gated,
    /// Waits for a node.
    #[default]
    Pending,
    /// Was given a node that has not confirmed it: a bind is under way, or done and not seen to run.
    Bound(Place),
    /// Runs.
    Running(Place),
    /// Was told to stop and still holds what it held; that will come free.
    Releasing(Place),
    /// Was told to stop and takes long to; what it holds must not be counted on yet, and is its queue's until it is gone.
    Lingering(Place),
    /// Was told to stop and should have long since; what it holds must not be counted on.
    Stuck(Place),
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
}

impl PodState {
    /// The place that a pod in this state holds.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Bound(place)
            | Self::Running(place)
            | Self::Releasing(place)
            | Self::Lingering(place)
            | Self::Stuck(place) => Some(place),
            Self::Gated | Self::Pending | Self::Succeeded | Self::Failed => None,
        }
    }

    /// The place that a pod in this state holds, to be changed.
    pub fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Bound(place)
            | Self::Running(place)
            | Self::Releasing(place)
            | Self::Lingering(place)
            | Self::Stuck(place) => Some(place),
            Self::Gated | Self::Pending | Self::Succeeded | Self::Failed => None,
        }
    }
}

/// The place that a pod holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// The shared GPUs; empty unless the pod asks for a part of a GPU, or reserves one for such pods.
    pub devices: Box<[DeviceId]>,
    /// Devices of claims and amounts of NUMA zones, where there are any. The adapter tells zones that were seen or
    /// recorded; devices the engine takes from the claims.
    pub reserved: Option<Box<Reserved>>,
}

impl Place {
    /// A place without shared GPUs.
    pub fn on(node: NodeId) -> Self {
        Self { node, devices: Box::default(), reserved: None }
    }
}

/// Devices and zones that a pod holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Reserved {
    /// Devices, claim by claim.
    pub claims: Vec<Claimed>,
    /// Extended resources that devices stand in for, which the node's device plugins do not give.
    pub lanes: Vec<Lane>,
    /// Amounts of NUMA zones.
    pub zones: Vec<ZoneAmount>,
}

impl Reserved {
    /// Tells whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.lanes.is_empty() && self.zones.is_empty()
    }

    /// Tells whether devices of a claim are held.
    pub(crate) fn holds(&self, claim: ClaimId) -> bool {
        self.claims.iter().any(|claimed| claimed.claim == Some(claim))
    }
}

/// A pod's place among the pods of its group. Greater goes first.
///
/// # Source
/// docs/behaviour.md 1.9, task order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PodRank {
    /// Label `training.kubeflow.org/job-role` is `master` or `launcher`.
    pub launcher: bool,
    /// Label `ray.io/node-type` is `head`.
    pub head: bool,
    /// Label `kai.scheduler/task-priority`.
    pub priority: PodPriority,
}

/// The label `kai.scheduler/task-priority`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum PodPriority {
    /// Not given.
    #[default]
    None,
    /// Given, and not an integer.
    Unreadable,
    /// Given.
    Given(i64),
}

/// Requests of a pod, and the nodes that it may go to. Equal shapes are one shape: matched and tried once.
///
/// Lists may come in any order, but equal pods should list alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Shape {
    /// The request of the whole pod (containers, sidecars, init containers, overhead) without GPUs and without
    /// the pod slot, which the engine adds. Extended resources included, MIG profiles not.
    pub request: Resources,
    /// The part of it that is the pod's overhead.
    pub overhead: Resources,
    /// The GPUs.
    pub gpu: GpuRequest,
    /// `spec.nodeSelector`.
    pub node_selector: Vec<(Symbol, Symbol)>,
    /// Required node affinity: one of these must hold; no terms, no restriction.
    pub node_affinity: Vec<Vec<Requirement>>,
    /// `spec.tolerations`.
    pub tolerations: Vec<Toleration>,
    /// Required pod affinity: all must hold.
    pub pod_affinity: Vec<PodTerm>,
    /// Required pod anti-affinity: all must hold.
    pub pod_anti_affinity: Vec<PodTerm>,
    /// Preferred node affinity: weights and terms.
    pub preferred_nodes: Vec<(i32, Vec<Requirement>)>,
    /// Preferred pod affinity: weights, negative for anti-affinity, and terms.
    pub preferred_pods: Vec<(i32, PodTerm)>,
    /// Topology spread.
    pub spread: Vec<Spread>,
    /// Host ports, ascending.
    pub ports: Vec<HostPort>,
    /// Requests for NUMA zones, where alignment is on and the pod is one to align.
    pub alignment: Option<Box<Alignment>>,
    /// The nodes that its volumes can be used from, a volume each. Pods of a gang share them.
    pub volumes: Arc<Vec<VolumeNodes>>,
    /// Things that no node can give: a missing claim or config map.
    pub missing: Vec<Missing>,
}

/// The GPUs that a pod asks for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum GpuRequest {
    /// None.
    #[default]
    None,
    /// Whole GPUs.
    Whole(u16),
    /// A part of each of several GPUs.
    Fraction {
        /// The part of each, in millionths: 500,000 is half a GPU.
        micro: u32,
        /// Number of GPUs, at least one.
        devices: u16,
    },
    /// Memory of each of several GPUs.
    Memory {
        /// Memory of each, in MiB.
        mib: u32,
        /// Number of GPUs, at least one.
        devices: u16,
    },
    /// MIG instances: profile and count, sorted by profile.
    Mig(Vec<(Lane, u32)>),
    /// MIG by the old pod annotation, which no node takes any more.
    LegacyMig(Vec<(Lane, u32)>),
}

/// A taint that a pod puts up with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Toleration {
    /// The key; none tolerates every key.
    pub key: Option<Symbol>,
    /// The value; none tolerates every value (operator `Exists`).
    pub value: Option<Symbol>,
    /// The effect; none tolerates every effect.
    pub effect: Option<crate::told::node::Effect>,
}

/// One term of pod affinity or anti-affinity.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PodTerm {
    /// The node label that says what "together" means.
    pub topology_key: Symbol,
    /// The namespaces whose pods count, ascending; empty for the pod's own, unless a selector means others.
    pub namespaces: Vec<Symbol>,
    /// The selector of namespaces whose pods count as well.
    pub namespace_selector: Option<NamespaceSelectorId>,
    /// Selector of the pods that count: all requirements hold.
    pub selector: Vec<Requirement>,
}

/// One constraint of topology spread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Spread {
    /// The node label whose values are the domains.
    pub topology_key: Symbol,
    /// By how many pods a domain may be ahead of the emptiest.
    pub skew_max: u32,
    /// With fewer domains than this the emptiest counts as empty.
    pub domains_min: u32,
    /// The pod's namespace; only pods of it count.
    pub namespace: Symbol,
    /// Selector of the pods that count: all requirements hold.
    pub selector: Vec<Requirement>,
    /// Only nodes that the pod selects, by labels and affinity, are in domains.
    pub honors_selection: bool,
    /// Only nodes whose taints the pod tolerates are in domains.
    pub honors_taints: bool,
    /// It has to hold; else it is only wished for.
    pub required: bool,
}

/// A port of the node that a pod wants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostPort {
    /// The port.
    pub port: u16,
    /// The protocol: `TCP`, `UDP` or `SCTP`.
    pub protocol: Symbol,
    /// The address of the node, [`Symbol::EMPTY`] for all of them.
    pub address: Symbol,
}

/// The nodes from which a volume can be used.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VolumeNodes {
    /// One of these must hold; no terms, no node.
    pub terms: Vec<Vec<Requirement>>,
    /// True if the claim has its volume; else one is found or made for the node.
    pub bound: bool,
    /// Storage where one is made and room for it is counted: what a node lacks where none of the terms holds.
    pub storage: Option<Box<Storage>>,
}

/// Storage of a class whose drivers say how much of it there is where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Storage {
    /// The class.
    pub class: Symbol,
    /// Terms for nodes where volumes of it may be made: one of these must hold; no terms, everywhere.
    pub allowed: Vec<Vec<Requirement>>,
    /// Terms for nodes where there is any of it: one of these holds; a term without requirements holds everywhere.
    pub offered: Vec<Vec<Requirement>>,
}

/// Something that a pod needs, is not there, and no eviction can bring.
///
/// # Source
/// docs/behaviour.md 10.1 and 10.3; the Kubernetes filter `VolumeBinding`, its stage before nodes are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Missing {
    /// A volume claim by this name does not exist.
    Claim(Symbol),
    /// The claim by this name for an ephemeral volume was not made yet.
    Ephemeral(Symbol),
    /// The claim by this name for an ephemeral volume is another pod's.
    NotOwned(Symbol),
    /// The volume claim by this name is being deleted.
    Deleted(Symbol),
    /// The volume claim by this name lost its volume, by this name.
    Lost(Symbol, Symbol),
    /// A claim whose class binds at once has no volume yet.
    Unbound,
    /// A config map by this name.
    ConfigMap(Symbol),
    /// A request that can be understood: what is wrong with the pod's own, in these words.
    Request(Symbol),
    /// Its turn: selectors of its topology spread are new, and are to be counted in a moment.
    Turn,
}
