//! Decisions of a cycle, and the reasons why it decided no more.

pub(crate) mod domain;
pub(crate) mod refusal;
pub(crate) mod shape;

use std::sync::Arc;

use crate::{
    base::{
        ids::{ClaimId, DeviceId, GroupId, NodeId, PodId, QueueId, Symbol},
        resources::{Charge, Lane, Limit, PerLane, QueueLane, Resources},
        time::Timestamp,
    },
    decided::{
        plan::{
            domain::NoDomain,
            refusal::Refusal,
            shape::{Alike, EmptyShape, FreeShape},
        },
        proof::Proof,
        steps::{Progress, Steps},
    },
    told::{
        claim::ClaimProblem,
        node::{Blocked, Taint},
        pod::{Missing, Reserved},
    },
};

/// Decisions of a cycle.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Plan {
    /// Things to do, in this order.
    pub changes: Vec<Change>,
    /// Verdicts on groups, for those where it differs from what was said before.
    pub verdicts: Vec<Verdict>,
    /// Groups for which counting shows that no eviction helps, and the count; each cycle that asks.
    pub proofs: Vec<Proof>,
    /// Groups of which [`Cluster::proofs`](crate::Cluster::proofs) says something else than before, though nothing was
    /// told of them: others like them were asked.
    pub explained: Vec<GroupId>,
    /// Steps that it took.
    pub steps: Steps,
}

/// One thing to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Bind `pod` to `node` now.
    Place {
        /// The pod.
        pod: PodId,
        /// The node that it goes to.
        node: NodeId,
        /// The shared GPUs it gets; see [`DeviceId::is_opened`].
        devices: Box<[DeviceId]>,
        /// The devices of claims and the amounts of NUMA zones that it gets, where there are any.
        reserved: Option<Box<Reserved>>,
        /// GPUs that it gets.
        grant: Grant,
    },
    /// `pod` will go to `node` once something there came free.
    Nominate {
        /// The pod.
        pod: PodId,
        /// The node that it will go to.
        node: NodeId,
        /// The shared GPUs it will get.
        devices: Box<[DeviceId]>,
        /// The devices of claims and the amounts of NUMA zones that are kept for it, where there are any.
        reserved: Option<Box<Reserved>>,
    },
    /// Take `pod` off `node`.
    Evict {
        /// The pod.
        pod: PodId,
        /// The node that it runs on.
        node: NodeId,
        /// The reason.
        reason: Eviction,
    },
}

/// GPUs that a placed pod gets: the contract's `receivedGPU` and `receivedResourceType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// Whole GPUs, possibly none.
    Regular {
        /// Their number.
        count: u16,
    },
    /// A part of each of several GPUs.
    Fraction {
        /// Their number.
        devices: u16,
        /// The part of each in thousandths, rounded up to hundredths.
        portion_milli: u32,
        /// The same exactly, in millionths, never 0: what was asked for, and for memory what is charged.
        portion_micro: u32,
    },
    /// MIG instances.
    Mig,
}

/// The reason why a pod is evicted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Eviction {
    /// A queue takes back what it is entitled to.
    Reclaim {
        /// For whom.
        for_group: GroupId,
        /// The queue that loses.
        from: Box<QueueState>,
        /// The queue that gains.
        to: Box<QueueState>,
    },
    /// A group of higher priority in the same queue goes first.
    Preempt {
        /// For whom.
        for_group: GroupId,
    },
    /// It is moved so that a group fits.
    Consolidate {
        /// For whom.
        for_group: GroupId,
    },
    /// Its group runs below its minimum for too long.
    Stale {
        /// The sub-group that is short; [`Symbol::EMPTY`] where the group has one or none.
        sub_group: Symbol,
        /// Number of pods that it needs.
        min: u32,
    },
}

impl Eviction {
    /// The group that gains, if one does.
    pub fn for_group(&self) -> Option<GroupId> {
        match self {
            Self::Reclaim { for_group, .. }
            | Self::Preempt { for_group }
            | Self::Consolidate { for_group } => Some(*for_group),
            Self::Stale { .. } => None,
        }
    }
}

/// The numbers of a queue that a message quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueState {
    /// The queue.
    pub queue: QueueId,
    /// Its priority.
    pub priority: i32,
    /// Amounts that it is entitled to.
    pub quota: PerLane<Limit>,
    /// Amounts that it may never pass.
    pub limit: PerLane<Limit>,
    /// Its fair part of the cluster now.
    pub fair_share: Charge,
    /// Amounts that its pods hold.
    pub allocated: Charge,
    /// Amounts that its pods hold which cannot be evicted.
    pub allocated_non_preemptible: Charge,
    /// Amounts that its pods hold or ask for.
    pub requested: Charge,
}

/// A group, and its fate in a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The group.
    pub group: GroupId,
    /// Its fate, with the reason.
    pub why: Why,
}

/// A group's fate in a plan, with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// Nothing of it waits any more: conditions may go.
    Satisfied,
    /// It will run once what others hold came free.
    Nominated,
    /// Its queue, or a queue above, does not exist.
    QueueMissing,
    /// Its queue has queues below it; only leaves run work.
    QueueNotLeaf,
    /// Its sub-groups make no tree.
    Malformed,
    /// It is left out until somebody moves it.
    Held,
    /// It has too few pods without gates.
    NotReady(Vec<Unready>),
    /// It has enough pods, and those that wait have gates.
    Gated,
    /// A queue on its path may not take more.
    OverLimit(Box<Bound>),
    /// It cannot be evicted, and a queue on its path has no quota left for such.
    OverQuota(Box<Bound>),
    /// It waits, and may not evict before this time.
    Delayed {
        /// Time from which it may.
        until: Timestamp,
        /// The reason why it waits.
        why: Box<Self>,
    },
    /// It found no room.
    NoRoom(Arc<NoRoom>),
    /// Nodes together do not satisfy its topology.
    NoDomain(Box<NoDomain>),
    /// It has had no turn yet: so many groups of its queue have theirs in a cycle, and they come first.
    Behind {
        /// Their number.
        depth: u32,
    },
    /// The search for pods to evict for it took all the steps that it may in a cycle, and goes on in the next.
    Undecided {
        /// Tells how far it is.
        progress: Box<Progress>,
        /// The verdict that was said before, and holds until then.
        before: Option<Box<Self>>,
    },
}

impl Why {
    /// The reason itself, where a search goes on what was said before that began.
    pub fn standing(&self) -> Option<&Self> {
        if let Self::Undecided { before, .. } = self { before.as_deref() } else { Some(self) }
    }

    /// Tells whether a reader of the other would learn nothing from this one but newer numbers.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::OverLimit(a), Self::OverLimit(b)) | (Self::OverQuota(a), Self::OverQuota(b)) => {
                (a.queue.queue, a.lane, a.requested) == (b.queue.queue, b.lane, b.requested)
            }
            (Self::NoRoom(a), Self::NoRoom(b)) => a.is_like(b),
            (Self::Delayed { until: u, why: a }, Self::Delayed { until: v, why: b }) => {
                u == v && a.is_like(b)
            }
            (Self::NoDomain(a), Self::NoDomain(b)) => {
                (a.sub_group, a.topology) == (b.sub_group, b.topology)
                    && a.problem.is_like(&b.problem)
            }
            (Self::Undecided { before: was, .. }, Self::Undecided { before: is, .. }) => {
                match (was, is) {
                    (Some(was), Some(is)) => was.is_like(is),
                    (None, None) => true,
                    (Some(_), None) | (None, Some(_)) => false,
                }
            }
            (a, b) => a == b,
        }
    }
}

/// A sub-group with too few pods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unready {
    /// The sub-group; [`Symbol::EMPTY`] where the group has none.
    pub sub_group: Symbol,
    /// Number of pods that it needs.
    pub min: u32,
    /// Number of pods, gated ones and those that ended well included.
    pub alive: u32,
    /// Number of them that are gated.
    pub gated: u32,
}

/// A bound of a queue that a group ran into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The queue with its numbers.
    pub queue: QueueState,
    /// The resource.
    pub lane: QueueLane,
    /// Amounts that the group asked for in this attempt, on every resource.
    pub requested: Charge,
}

/// No node for a pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoRoom {
    /// The pod that found none.
    pub pod: PodId,
    /// Its sub-group; [`Symbol::EMPTY`] where the group has none.
    pub sub_group: Symbol,
    /// Number of pods of the group that found a place in the same attempt before it.
    pub at: u32,
    /// Number of pods of the sub-group that found a place in the same attempt before it.
    pub placed: u32,
    /// Number of pods that the sub-group needs to run at all.
    pub min: u32,
    /// True if the attempt was for the gang, false if for one pod more.
    pub gang: bool,
    /// The reason that stands out: the first in the order of evaluation whose removal alone lets the pod in
    /// somewhere; the most frequent where none does.
    pub dominant: Misfit,
    /// GPUs that the pod asks for, in milli-devices; a part in thousandths of the largest GPUs there are.
    pub gpu_milli: i64,
    /// Number of nodes that refused, by reason, most frequent first; each node once, by the first reason.
    pub misfits: Vec<(Misfit, u32)>,
    /// Reasons besides of nodes that are short of one thing; on large clusters not of all of them.
    pub also: Vec<(Misfit, u32)>,
    /// Pods of the group that ask for the same.
    pub alike: Alike,
    /// Shape of the free GPUs.
    pub free: FreeShape,
    /// Shape of all GPUs, whoever has them.
    pub capacity: EmptyShape,
    /// The request that no node has in all.
    pub too_large: Option<TooLarge>,
    /// Nodes that refused for a reason that is told by the node, the first ones.
    pub named: Vec<(Misfit, NodeId)>,
    /// The pods with MIG by the old annotation on those of these nodes that refused for their sake.
    pub beside: Vec<(NodeId, PodId)>,
    /// The queue's refusal of the first node where the pod costs too much.
    pub too_dear: Option<Box<Why>>,
    /// The overhead of the pod, where it alone keeps the pod from some node; empty elsewhere.
    pub overhead: Resources,
    /// The first nodes, by name, each with its reasons, where [`Config::names_nodes`](crate::Config::names_nodes) asks
    /// for it; `misfits` counts all of them.
    pub nodes: Vec<Refusal>,
    /// Reasons that were found before in other domains of a topology, each in turn.
    pub before: Vec<Why>,
}

/// A request that is larger than what any node has, empty.
///
/// # Source
/// docs/behaviour.md 10.1, `MaxNodePoolResources`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// The resource.
    pub lane: Lane,
    /// The most of it that a node has.
    pub most: i64,
    /// All that the pod asks for; GPUs in milli-devices.
    pub request: Resources,
}

impl NoRoom {
    fn is_like(&self, other: &Self) -> bool {
        let has = |all: &Self, misfit: Misfit| all.misfits.iter().any(|(one, _)| *one == misfit);
        let tells = |from: &Self, to: &Self| {
            from.misfits.iter().all(|(misfit, _)| !misfit.lasts() || has(to, *misfit))
        };
        (self.sub_group, self.placed, self.gang, self.dominant)
            == (other.sub_group, other.placed, other.gang, other.dominant)
            && tells(self, other)
            && tells(other, self)
            && self.too_large == other.too_large
            && self.is_beyond_capacity() == other.is_beyond_capacity()
    }
}

/// The reason why a node is not for a pod.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Misfit {
    /// It takes no new pods.
    Blocked(Blocked),
    /// It has a taint that the pod does not tolerate.
    Taint(Taint),
    /// Its labels are not those that the pod selects.
    Selector,
    /// It is not a worker for this kind of work.
    Worker,
    /// A pod with MIG by the old annotation goes nowhere.
    LegacyMig,
    /// A pod with MIG by the old annotation is there: none with MIG instances may come beside it.
    BesideLegacyMig,
    /// A pod with MIG instances needs a MIG node.
    NotMig,
    /// Only whole GPUs on a node with strategy `single`.
    MigSingle,
    /// Only MIG instances on a node with strategy `mixed`.
    MigMixed,
    /// The memory of its GPUs is not known.
    GpuMemoryUnknown,
    /// One of its GPUs is too small for the memory asked for.
    GpuTooSmall,
    /// Too little is free of this resource.
    Short(Lane),
    /// Too little is free of this resource, and all would be enough without the pod's overhead.
    Overhead(Lane),
    /// Its GPUs are free only in parts that are too small.
    Device,
    /// Its idle GPUs are set aside from sharing: a reservation on it did not report.
    SetAside,
    /// No pod slot is left for the reservation pod of a GPU that it would open for sharing.
    PodSlots,
    /// A host port is taken.
    Port,
    /// Pods that must be near are not.
    Affinity,
    /// Pods that must not be near are.
    AntiAffinity,
    /// Pods are near that must not have it near.
    Barred,
    /// Its domain has more pods of the kind than topology spread allows.
    Spread,
    /// A volume of the pod cannot be used from it.
    Volume,
    /// No volume for a claim of the pod can be found or made there.
    VolumeUnbound,
    /// Drivers have no storage of this class for it.
    StorageAbsent(Symbol),
    /// Drivers have too little storage of this class for it.
    StorageShort(Symbol),
    /// Something the pod needs does not exist.
    Missing(Missing),
    /// The devices that its claims ask for are not free together.
    Devices,
    /// A claim of the pod has devices that are not reached from it.
    Elsewhere,
    /// Its GPUs are for resource claims only.
    OnlyClaims,
    /// One of its resource claims keeps it out everywhere.
    Claim(ClaimId, ClaimProblem),
    /// Its NUMA zones don't satisfy the policy.
    Zones,
    /// A queue on the path may not take what the pod would cost here.
    Queue,
}

impl Misfit {
    /// Tells whether the contract names the node in it.
    pub(crate) fn names_node(self) -> bool {
        matches!(
            self,
            Self::Worker
                | Self::LegacyMig
                | Self::BesideLegacyMig
                | Self::GpuMemoryUnknown
                | Self::Queue
        )
    }

    /// Tells whether the reason lies in what nodes and pods are, not in what is free or where others run.
    fn lasts(self) -> bool {
        match self {
            Self::Blocked(_)
            | Self::Taint(_)
            | Self::Selector
            | Self::Worker
            | Self::LegacyMig
            | Self::BesideLegacyMig
            | Self::NotMig
            | Self::MigSingle
            | Self::MigMixed
            | Self::GpuMemoryUnknown
            | Self::GpuTooSmall
            | Self::SetAside
            | Self::Volume
            | Self::VolumeUnbound
            | Self::StorageAbsent(_)
            | Self::StorageShort(_)
            | Self::Missing(_)
            | Self::OnlyClaims
            | Self::Claim(..) => true,
            Self::Short(_)
            | Self::Overhead(_)
            | Self::Device
            | Self::PodSlots
            | Self::Port
            | Self::Affinity
            | Self::AntiAffinity
            | Self::Barred
            | Self::Spread
            | Self::Devices
            | Self::Elsewhere
            | Self::Zones
            | Self::Queue => false,
        }
    }
}

/// One of the five actions of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Action {
    /// Places waiting groups in free room.
    Allocate,
    /// Moves pods so that a group fits.
    Consolidate,
    /// Takes back from queues above their share.
    Reclaim,
    /// Takes from lower priority in the same queue.
    Preempt,
    /// Evicts gangs that fell below their minimum.
    Stale,
}

impl Action {
    /// All of them, in the order in which a cycle runs them.
    pub const ALL: [Self; 5] =
        [Self::Allocate, Self::Consolidate, Self::Reclaim, Self::Preempt, Self::Stale];
}
