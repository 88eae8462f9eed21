//! The tables of the cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::{
        ids::{ClaimId, Column, GroupId, NodeId, PodId, QueueId, ReachId, ShapeId, Symbol},
        lane_table::LaneTable,
        min_set::MinSet,
        resources::{Charge, Lane},
        time::Timestamp,
    },
    decided::plan::Why,
    state::{
        device::Device,
        group_key::GroupKey,
        index::Index,
        shape::{NodeClasses, holds},
        slices::SliceRow,
        tree::Tree,
        zones::ZoneTable,
    },
    told::{
        group::Group,
        node::{Gpus, Node},
        pod::{Owner, Place, PodPriority, PodRank, PodState},
        queue::Queue,
        requirement::Requirement,
    },
};

/// Facts of nodes, and what is derived from them.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Nodes {
    /// Copies of a cluster share them.
    pub(crate) facts: Column<NodeId, Option<Arc<Node>>>,
    /// Per node and lane: allocatable less what pods hold, leaving ones included. Derived; may be negative.
    pub(crate) idle: LaneTable<NodeId>,
    /// Per node and lane: what is leaving less what is kept for nominated pods. Derived; may be negative.
    pub(crate) releasing: LaneTable<NodeId>,
    /// Per node: its shared GPUs by id. Derived.
    pub(crate) devices: Column<NodeId, Vec<Device>>,
    /// Per node: how many GPUs may not be opened for sharing, as told.
    pub(crate) set_aside: Column<NodeId, u16>,
    /// Number of pods that hold whole GPUs for parts, since nobody said which GPUs they share. Derived.
    pub(crate) unassigned: u32,
    /// Per node: the devices that resource slices publish, and who has them.
    pub(crate) slices: Column<NodeId, Vec<SliceRow>>,
    /// Per node: what it reaches of devices of several nodes, in the order in which they are given away. Derived.
    pub(crate) reached: Column<NodeId, Vec<ReachId>>,
    /// Per node: its NUMA zones and what is left of them.
    pub(crate) zones: Column<NodeId, Option<Box<ZoneTable>>>,
    /// Number of nodes with slices, and of those with zones: where none has, no pod is asked about either.
    pub(crate) claims_or_zones: u32,
    /// The most zones that a node has.
    pub(crate) zones_max: usize,
    /// Per node: the pods that hold or will hold a place, by id. Derived.
    pub(crate) pods: Column<NodeId, Vec<PodId>>,
    /// Amounts that nodes which take pods offer to queues in all.
    pub(crate) total: Charge,
    /// The part of it that is GPUs on nodes without the gpu-worker label.
    pub(crate) unlabelled_gpu: i64,
    /// Amounts of it that pods of others hold. Derived.
    pub(crate) foreign: Charge,
    /// Lanes of MIG instances that stand for GPUs.
    pub(crate) mig_lanes: Vec<Lane>,
    /// Numbers of nodes with GPUs of each known memory size, in MiB.
    pub(crate) memory_sizes: BTreeMap<u32, u32>,
    pub(crate) kinds: NodeClasses,
    pub(crate) index: Index,
}

/// The memory of GPUs of which nothing better is said.
const MEMORY_DEFAULT_MIB: u32 = 100;

impl Nodes {
    /// The nodes that there are, in the order of their ids.
    pub(crate) fn told(&self) -> Vec<(NodeId, Arc<Node>)> {
        self.facts.iter().filter_map(|(id, node)| Some((id, node.clone()?))).collect()
    }

    /// The GPUs of a node, those of an unknown one where it is not there.
    pub(crate) fn gpus(&self, node: NodeId) -> Gpus {
        self.facts.get(node).and_then(Option::as_ref).map(|facts| facts.gpus).unwrap_or_default()
    }

    /// Sums what is free on a node now and what will be, less what is kept for nominated pods.
    pub(crate) fn free(&self, node: NodeId, lane: Lane) -> i64 {
        self.idle.get(node, lane) + self.releasing.get(node, lane)
    }

    /// Counts the GPUs of a node that are set aside from sharing.
    pub(crate) fn set_aside(&self, node: NodeId) -> usize {
        self.set_aside.get(node).copied().map_or(0, usize::from)
    }

    /// The smallest GPU memory in the cluster, in MiB; sizes up to 100 count where there is no other.
    ///
    /// # Source
    /// docs/behaviour.md 1.2 and appendix A, `MinGpuMem`.
    pub(crate) fn memory_min(&self) -> Option<u32> {
        let sizes = &self.memory_sizes;
        sizes.range(MEMORY_DEFAULT_MIB + 1..).chain(sizes).next().map(|(size, _)| *size)
    }

    /// The largest GPU memory in the cluster, in MiB.
    pub(crate) fn memory_max(&self) -> Option<u32> {
        self.memory_sizes.keys().next_back().copied()
    }
}

/// Phase of a pod's life, as far as the engine knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Absent,
    Gated,
    Pending,
    /// Placed by a plan; nobody confirmed it yet.
    Binding,
    Bound,
    Running,
    /// Evicted by a plan; nobody confirmed it yet.
    Evicting,
    /// Leaves.
    Releasing,
    Stuck,
    Succeeded,
    Failed,
}

impl Phase {
    /// Holds a place and is not leaving.
    pub(crate) fn is_active(self) -> bool {
        matches!(self, Self::Binding | Self::Bound | Self::Running)
    }

    /// Leaves, confirmed or not.
    pub(crate) fn leaves(self) -> bool {
        matches!(self, Self::Evicting | Self::Releasing)
    }
}

/// The part of a pod that changes while it lives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub(crate) struct PodStatus {
    pub(crate) phase: Phase,
    /// The place that it holds.
    pub(crate) place: Option<Place>,
    /// The place that it will hold once others left; it may still hold its old one.
    pub(crate) nominee: Option<Place>,
}

impl PodStatus {
    /// Holds a place, or was nominated for one, and is not leaving for good.
    pub(crate) fn is_active(&self) -> bool {
        self.nominee.is_some() || self.phase.is_active()
    }

    /// Tells whether devices or zones are held, or kept for the pod.
    pub(crate) fn reserves(&self) -> bool {
        [&self.place, &self.nominee].into_iter().flatten().any(|place| place.reserved.is_some())
    }

    /// Holds a place, or was nominated for one.
    pub(crate) fn is_somewhere(&self) -> bool {
        self.place.is_some() || self.nominee.is_some()
    }

    /// Waits for a place and is nominated for none.
    pub(crate) fn is_waiting(&self) -> bool {
        self.phase == Phase::Pending && self.nominee.is_none()
    }
}

/// The part of a pod that the adapter told.
///
/// What each try to place it asks for lies in the table itself, half a line of the cache; the rest lies elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PodFacts {
    pub(crate) owner: Owner,
    pub(crate) shape: ShapeId,
    /// Its leaf in the tree of its group. Derived from the group's facts.
    pub(crate) leaf: Option<u16>,
    pub(crate) has_claims: bool,
    is_nominated: bool,
    /// Copies of a cluster share it.
    rest: Arc<PodRest>,
}

/// Facts of a pod that are seldom asked for. There are as many as pods, so that what few have lies elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PodRest {
    pub(crate) sub_group: Symbol,
    pub(crate) namespace: Symbol,
    pub(crate) uid: u128,
    pub(crate) created: Timestamp,
    /// Its state as told last.
    pub(crate) told: Told,
    pub(crate) extras: Option<Box<PodExtras>>,
}

/// Facts that few pods have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PodExtras {
    pub(crate) nominated: Option<NodeId>,
    pub(crate) claims: Vec<ClaimId>,
    pub(crate) labels: Vec<(Symbol, Symbol)>,
    pub(crate) rank: PodRank,
}

/// Those of a pod that has none.
static NO_EXTRAS: PodExtras = PodExtras {
    nominated: None,
    claims: Vec::new(),
    labels: Vec::new(),
    rank: PodRank { launcher: false, head: false, priority: PodPriority::None },
};

impl PodExtras {
    /// These facts as a pod keeps them.
    pub(crate) fn kept(self) -> Option<Box<Self>> {
        (self != NO_EXTRAS).then(|| Box::new(self))
    }
}

impl std::ops::Deref for PodRest {
    type Target = PodExtras;

    fn deref(&self) -> &PodExtras {
        self.extras.as_deref().unwrap_or(&NO_EXTRAS)
    }
}

/// The state of a pod as it was told: as a [`PodStatus`], in a third of the room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub(crate) phase: Phase,
    node: Option<NodeId>,
    /// Its place, where that is more than a node.
    place: Option<Box<Place>>,
}

impl Told {
    /// The state that was told.
    pub(crate) fn of(state: PodState) -> Self {
        let (phase, place) = match state {
            PodState::Gated => (Phase::Gated, None),
            PodState::Pending => (Phase::Pending, None),
            PodState::Bound(place) => (Phase::Bound, Some(place)),
            PodState::Running(place) => (Phase::Running, Some(place)),
            PodState::Releasing(place) => (Phase::Releasing, Some(place)),
            PodState::Stuck(place) => (Phase::Stuck, Some(place)),
            PodState::Succeeded => (Phase::Succeeded, None),
            PodState::Failed => (Phase::Failed, None),
        };
        let node = place.as_ref().map(|place| place.node);
        let has_more = |place: &Place| !place.devices.is_empty() || place.reserved.is_some();
        Self { phase, node, place: place.filter(has_more).map(Box::new) }
    }

    fn whole_place(&self) -> Option<Place> {
        self.place.as_deref().cloned().or_else(|| self.node.map(Place::on))
    }

    /// The state in full.
    pub(crate) fn status(&self) -> PodStatus {
        PodStatus { phase: self.phase, place: self.whole_place(), nominee: None }
    }

    /// The state in the words in which it was told.
    pub(crate) fn state(&self) -> PodState {
        let place = || self.whole_place().expect("who holds a place was told which");
        match self.phase {
            Phase::Gated => PodState::Gated,
            Phase::Absent | Phase::Pending => PodState::Pending,
            Phase::Bound | Phase::Binding => PodState::Bound(place()),
            Phase::Running => PodState::Running(place()),
            Phase::Releasing | Phase::Evicting => PodState::Releasing(place()),
            Phase::Stuck => PodState::Stuck(place()),
            Phase::Succeeded => PodState::Succeeded,
            Phase::Failed => PodState::Failed,
        }
    }
}

impl std::ops::Deref for PodFacts {
    type Target = PodRest;

    fn deref(&self) -> &PodRest {
        &self.rest
    }
}

impl PodFacts {
    /// The facts of a pod that is in no leaf yet.
    pub(crate) fn new(owner: Owner, shape: ShapeId, rest: PodRest) -> Self {
        Self {
            owner,
            shape,
            leaf: None,
            has_claims: !rest.claims.is_empty(),
            is_nominated: rest.nominated.is_some(),
            rest: Arc::new(rest),
        }
    }

    /// The node of `status.nominatedNodeName`.
    pub(crate) fn nominated(&self) -> Option<NodeId> {
        if self.is_nominated { self.rest.nominated } else { None }
    }

    /// The group it belongs to.
    pub(crate) fn group(&self) -> Option<GroupId> {
        match self.owner {
            Owner::Group(group) => Some(group),
            Owner::Foreign | Owner::Reservation => None,
        }
    }

    /// Tells whether all requirements hold for its labels.
    pub(crate) fn is_selected(&self, selector: &[Requirement]) -> bool {
        selector.iter().all(|requirement| {
            let label = self.labels.iter().find(|(key, _)| *key == requirement.key);
            holds(&requirement.holds, label.map(|(_, value)| *value), None)
        })
    }

    /// Tells whether a selector for pods of a namespace means it.
    pub(crate) fn is_meant(&self, selector: &[Requirement], namespace: Symbol) -> bool {
        self.namespace == namespace && self.is_selected(selector)
    }

    /// Orders the pods of a group: smaller goes first.
    pub(crate) fn turn(&self) -> (std::cmp::Reverse<PodRank>, Timestamp, u128) {
        (std::cmp::Reverse(self.rank), self.created, self.uid)
    }
}

/// Facts and states of pods.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Pods {
    pub(crate) facts: Column<PodId, Option<PodFacts>>,
    pub(crate) status: Column<PodId, PodStatus>,
}

impl Pods {
    /// The pods that there are, in the order of their ids.
    pub(crate) fn told(&self) -> Vec<PodId> {
        self.facts.iter().filter(|(_, facts)| facts.is_some()).map(|(pod, _)| pod).collect()
    }
}

impl std::ops::Index<PodId> for Pods {
    type Output = PodFacts;

    fn index(&self, pod: PodId) -> &PodFacts {
        self.facts[pod].as_ref().expect("a pod that is referred to was told")
    }
}

/// The facts of a group; those that each of its turns asks for lie in the table itself.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct GroupFacts {
    pub(crate) queue: Option<QueueId>,
    pub(crate) preemptible: bool,
    pub(crate) held: bool,
    /// Its place in its queue before any of it runs.
    key: GroupKey,
    group: Box<Group>,
}

impl GroupFacts {
    /// The facts of the group of this number.
    pub(crate) fn new(id: GroupId, group: Box<Group>) -> Self {
        let Group { queue, preemptible, held, .. } = *group;
        Self { queue, preemptible, held, key: GroupKey::new(id, &group), group }
    }

    /// The group's place in its queue when it is filled so far.
    pub(crate) fn key(&self, fill: u8) -> GroupKey {
        self.key.refilled(fill)
    }
}

impl std::ops::Deref for GroupFacts {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.group
    }
}

/// Facts of a group, and what is derived from them.
///
/// What each of its turns asks for comes first, so that it lies together.
#[derive(Clone, PartialEq, Default, Debug)]
#[repr(C)]
pub(crate) struct GroupRow {
    /// Its sub-groups with their pods and counts. Derived.
    pub(crate) tree: Tree,
    pub(crate) facts: Option<GroupFacts>,
    /// As told, or as planned since.
    pub(crate) last_start: Option<Timestamp>,
    pub(crate) stale_since: Option<Timestamp>,
    /// The pods that name it, by id.
    pub(crate) pods: MinSet<PodId>,
    /// The reason that was said of it last.
    pub(crate) why: Option<Why>,
    /// As told, or as planned since.
    pub(crate) last_eviction: Option<Timestamp>,
}

impl GroupRow {
    /// Its queue, where it is there and names one.
    pub(crate) fn queue(&self) -> Option<QueueId> {
        self.facts.as_ref()?.queue
    }
}

/// Facts of a queue, and what is derived from them.
///
/// What each turn below it asks for lies together, in one line of the cache.
#[derive(Clone, PartialEq, Default, Debug)]
#[repr(C, align(64))]
pub(crate) struct QueueRow {
    /// Amounts that pods below it hold or were nominated for. Derived.
    pub(crate) used: Charge,
    /// Its fair share, as of the last plan.
    pub(crate) share: Charge,
    /// The queue above, unless that would close a ring.
    pub(crate) up: Option<QueueId>,
    /// True if its parents form a ring.
    pub(crate) ring: bool,
    /// True if live queues name it as their parent. Derived.
    pub(crate) parts: bool,
    /// True if it and all above it are there. Derived.
    pub(crate) attached: bool,
    /// True if it or one above it has a limit. Derived.
    pub(crate) limited: bool,
    pub(crate) facts: Option<Box<Queue>>,
    /// The part of what is used that cannot be evicted. Derived.
    pub(crate) fixed: Charge,
    /// Amounts of pods below it whose eviction nobody confirmed yet; they count as used no more. Derived.
    pub(crate) evicting: Charge,
    /// Amounts that pods below it hold or wait for, GPU memory aside. Derived.
    pub(crate) requested: Charge,
    /// GPU memory that pods below it wait for, in MiB. Derived.
    pub(crate) requested_mib: i64,
}

/// Queues and groups that name a queue.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Below {
    /// Live queues that name it as their parent.
    pub(crate) children: BTreeSet<QueueId>,
    /// Groups that name it.
    pub(crate) groups: BTreeSet<GroupId>,
}

/// Queues, and what is derived of them.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Queues {
    pub(crate) rows: Column<QueueId, QueueRow>,
    /// As many as there are rows.
    pub(crate) below: Column<QueueId, Below>,
    /// Live queues without a parent.
    pub(crate) roots: BTreeSet<QueueId>,
    /// Queues whose parents form a ring.
    pub(crate) rings: BTreeSet<QueueId>,
    /// True if shares have to be worked out again.
    pub(crate) moved: bool,
}

impl Queues {
    /// The queue and all above it, from below.
    pub(crate) fn path(&self, queue: QueueId) -> Path<'_> {
        Path { queues: self, next: Some(queue) }
    }

    /// Gives who names a queue; there is room for it from now on.
    pub(crate) fn below(&mut self, queue: QueueId) -> &mut Below {
        self.rows.slot(queue);
        self.below.slot(queue)
    }

    /// Tells whether the queue and all above it are there, and whether one of them has a limit: what `attached` and
    /// `limited` of its row have to be, where those of the row above are right.
    pub(crate) fn standing(&self, queue: QueueId) -> (bool, bool) {
        let row = &self.rows[queue];
        let up = row.up.map(|up| &self.rows[up]);
        let limited = |facts: &Queue| facts.limit.0.iter().any(|limit| limit.amount().is_some());
        (
            row.facts.is_some() && !row.ring && up.is_none_or(|up| up.attached),
            row.facts.as_deref().is_some_and(limited) || up.is_some_and(|up| up.limited),
        )
    }
}

/// A queue and all above it.
#[derive(Debug)]
pub(crate) struct Path<'q> {
    queues: &'q Queues,
    next: Option<QueueId>,
}

impl Iterator for Path<'_> {
    type Item = QueueId;

    fn next(&mut self) -> Option<QueueId> {
        let at = self.next?;
        self.next = self.queues.rows.get(at).and_then(|row| row.up);
        Some(at)
    }
}
