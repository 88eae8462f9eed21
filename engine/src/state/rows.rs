//! The tables of the cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::{
        ids::{Column, GroupId, NodeId, PodId, QueueId, ReachId},
        lane_table::LaneTable,
        min_set::MinSet,
        resources::{Charge, Lane},
        time::Timestamp,
    },
    decided::plan::Why,
    state::{
        device::Device,
        group_key::GroupKey,
        holding::{Holding, Turn},
        host_ports::HostPorts,
        index::Index,
        shape::{NodeClasses, ShapeRow},
        slices::SliceRow,
        supply::Supply,
        tree::Tree,
        zones::ZoneTable,
    },
    told::{
        group::Group,
        node::{Gpus, Node},
        queue::Queue,
    },
};

mod pod;
pub(crate) use pod::{Phase, PodExtras, PodFacts, PodRest, PodStatus, Told};

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
    /// Per node: the number of claims that leave and hold its devices themselves. Derived.
    pub(crate) claims_leaving: Column<NodeId, u32>,
    /// Per node: its NUMA zones and what is left of them.
    pub(crate) zones: Column<NodeId, Option<Box<ZoneTable>>>,
    /// Number of nodes with slices, and of those with zones: where none has, a pod is asked about neither, unless it has
    /// claims or asks for what devices stand in for.
    pub(crate) claims_or_zones: u32,
    /// The most zones that a node has.
    pub(crate) zones_max: usize,
    /// Per node: the pods that hold or will hold a place, by id. Derived.
    pub(crate) pods: Column<NodeId, Vec<PodId>>,
    /// Host ports that pods with a place use. Derived.
    pub(crate) ports: HostPorts,
    /// Per node: its part of what there is to divide. Derived.
    pub(crate) supply: Column<NodeId, Supply>,
    /// Amounts that nodes which take pods offer to queues in all, less what pods of others hold of each. Derived.
    pub(crate) total: Charge,
    /// The part of it that is GPUs on nodes without the gpu-worker label. Derived.
    pub(crate) unlabelled_gpu: i64,
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

    /// Sums what a pod of a shape costs its queues on a node. On one that is not there, as on one that was deleted or is of
    /// another node pool by now, its GPU memory is no part of any GPU that is known.
    ///
    /// # Source
    /// docs/behaviour.md 2.3.
    pub(crate) fn charge(&self, shape: &ShapeRow, node: NodeId) -> Charge {
        match self.facts.get(node).and_then(Option::as_ref) {
            Some(facts) => shape.charge_on(facts.gpus.memory_mib),
            None => shape.charge,
        }
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

/// Facts and states of pods.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Pods {
    pub(crate) facts: Column<PodId, Option<PodFacts>>,
    pub(crate) status: Column<PodId, PodStatus>,
    /// Amounts that those hold which no plan placed. Derived.
    pub(crate) unplanned: BTreeMap<Turn, Holding>,
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
    /// Amounts that pods below it hold which were told to leave; they count as used no more. Those that do not go though
    /// they should have are not among them. Derived.
    pub(crate) leaving: Charge,
    /// The part of what leaves that cannot be evicted. Derived.
    pub(crate) leaving_fixed: Charge,
    /// The part of what leaves that takes long to. Derived.
    pub(crate) lingering: Charge,
    /// The part of what takes long to leave that cannot be evicted. Derived.
    pub(crate) lingering_fixed: Charge,
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
