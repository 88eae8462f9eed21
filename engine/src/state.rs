//! All state of the cluster that a decision reads.
//!
//! Facts are what the adapter told. Derived columns (amounts of nodes, devices, queues and sub-groups, the index)
//! have two writers, [`take`](Cluster::take) and [`give`](Cluster::give), and [`check`](Cluster::check) derives them
//! again from the facts and compares.

pub(crate) mod account;
pub(crate) mod apply;
pub(crate) mod budgets;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod claims;
pub(crate) mod device;
pub(crate) mod domains;
pub(crate) mod group_key;
pub(crate) mod index;
pub(crate) mod node_sets;
pub(crate) mod pod_counts;
pub(crate) mod rows;
pub(crate) mod shape;
pub(crate) mod tree;
pub(crate) mod trial;
pub(crate) mod zones;

use std::collections::BTreeMap;

use crate::{
    base::{
        ids::{Column, GroupId, NodeId, PodId, QueueId, Symbol, TopologyId},
        resources::{LaneKind, PerLane},
    },
    decided::{
        plan::{QueueState, Why},
        proof::{EvictionKind, Shortage},
        steps::Steps,
    },
    evict::Scratch,
    pending::Pending,
    state::{budgets::Budgets, claims::Claims, shape::Shapes, trial::Op},
};

pub(crate) use crate::state::rows::{GroupRow, Nodes, Phase, Pods, QueueRow, Queues};

/// What the engine knows, kept across cycles.
#[derive(Clone, Default, Debug)]
pub struct Cluster {
    pub(crate) lanes: Vec<LaneKind>,
    pub(crate) shapes: Shapes,
    pub(crate) nodes: Nodes,
    pub(crate) pods: Pods,
    pub(crate) groups: Column<GroupId, GroupRow>,
    pub(crate) queues: Queues,
    pub(crate) claims: Claims,
    pub(crate) budgets: Budgets,
    pub(crate) topologies: Column<TopologyId, Option<Box<crate::told::group::Topology>>>,
    /// How values of labels are written that name domains.
    pub(crate) spellings: BTreeMap<Symbol, Box<[u8]>>,
    /// Pods with anti-affinity.
    pub(crate) with_anti_affinity: std::collections::BTreeSet<PodId>,
    /// Pods that topology spread counts, by node. Derived.
    pub(crate) pod_counts: pod_counts::PodCounts,
    /// Who waits, in what order.
    pub(crate) pending: Pending,
    /// Room for searches to work in.
    pub(crate) scratch: Scratch,
    /// What open trials did, to be undone or kept.
    pub(crate) log: Vec<Op>,
    /// How many devices plans opened so far.
    pub(crate) opened: u32,
    /// What this cycle took.
    pub(crate) steps: Steps,
}

/// Where a pod stands between its creation and its end.
///
/// # Source
/// spec/scheduling.md 1.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Waits for its scheduling gates to be lifted.
    Gated,
    /// Waits for a place.
    Pending,
    /// Is nominated for a place that others still hold; a victim that is moved is nominated for its next one.
    Nominated,
    /// A plan placed it; nobody confirmed it yet.
    Binding,
    /// Is on a node and stays.
    Placed,
    /// Is on a node and leaves.
    Leaving,
    /// Is no more, or is not known.
    Ended,
}

impl PartialEq for Cluster {
    /// Equal facts and derived columns; caches and counters of the cycle do not count.
    fn eq(&self, other: &Self) -> bool {
        self.shapes == other.shapes
            && self.nodes == other.nodes
            && self.pods == other.pods
            && self.groups == other.groups
            && self.queues == other.queues
            && self.claims == other.claims
            && self.spellings == other.spellings
            && self.pod_counts == other.pod_counts
            && self.log == other.log
            && self.opened == other.opened
    }
}

impl Cluster {
    /// What was said last of a group, where something was.
    pub fn verdict(&self, group: GroupId) -> Option<&Why> {
        self.groups.get(group)?.why.as_ref()
    }

    /// The kinds of eviction of which counting shows that they do not help a group that waits, as of the last plan that
    /// asked, and what there is too little of.
    pub fn proofs(&self, group: GroupId) -> impl Iterator<Item = (EvictionKind, Shortage)> {
        self.pending.proofs(group)
    }

    /// The numbers of a queue, as of the last plan.
    ///
    /// A queue that was never told has zeros.
    pub fn queue_state(&self, queue: QueueId) -> QueueState {
        let unknown = QueueRow::default();
        let row = self.queues.rows.get(queue).unwrap_or(&unknown);
        let absent = crate::Queue::default();
        let facts = row.facts.as_deref().unwrap_or(&absent);
        QueueState {
            queue,
            priority: facts.priority,
            quota: facts.quota,
            limit: facts.limit,
            fair_share: row.share,
            allocated: row.used,
            allocated_non_preemptible: row.fixed,
            requested: row.requested,
        }
    }

    /// When a group last started to run, as told or as planned since.
    pub fn last_start(&self, group: GroupId) -> Option<crate::Timestamp> {
        self.groups.get(group)?.last_start
    }

    /// When a pod of a group was last evicted, as told or as planned since.
    pub fn last_eviction(&self, group: GroupId) -> Option<crate::Timestamp> {
        self.groups.get(group)?.last_eviction
    }

    /// Since when a group runs below its minimum, as told or as seen since.
    pub fn stale_since(&self, group: GroupId) -> Option<crate::Timestamp> {
        self.groups.get(group)?.stale_since
    }

    /// The sub-groups of a group that hold pods: name, how many pods it needs, how many hold a place and are not leaving.
    pub fn sub_groups(&self, group: GroupId) -> impl Iterator<Item = (Symbol, u32, u32)> {
        let leaves = self.groups.get(group).map_or(&[][..], |row| &row.tree.leaves);
        leaves.iter().map(|leaf| (leaf.name, leaf.min, leaf.count.active))
    }

    /// The pods of a group that name a sub-group which it does not have, with that name.
    pub fn strays(&self, group: GroupId) -> impl Iterator<Item = (PodId, Symbol)> {
        let row = self.groups.get(group).filter(|row| !row.tree.sets.is_empty());
        let pods = row.into_iter().flat_map(|row| row.pods.iter());
        pods.filter(|pod| self.pods[**pod].leaf.is_none())
            .map(|pod| (*pod, self.pods[*pod].sub_group))
    }

    /// Where a pod stands, as of the last plan; [`Stage::Ended`] where it is not known.
    pub fn stage(&self, pod: PodId) -> Stage {
        let Some(state) = self.pods.status.get(pod) else { return Stage::Ended };
        if state.nominee.is_some() {
            return Stage::Nominated;
        }
        match state.phase {
            Phase::Gated => Stage::Gated,
            Phase::Pending => Stage::Pending,
            Phase::Binding => Stage::Binding,
            Phase::Bound | Phase::Running => Stage::Placed,
            Phase::Releasing | Phase::Stuck => Stage::Leaving,
            Phase::Absent | Phase::Succeeded | Phase::Failed => Stage::Ended,
        }
    }

    /// When the next plan is due though nothing was told: a grace or a delay ends. That may be at once, where the last
    /// plan left something to go on with.
    pub fn wake(&self) -> Option<crate::Timestamp> {
        self.pending.wake
    }

    /// The node that a pod holds a place on, or was given.
    pub fn node_of(&self, pod: PodId) -> Option<NodeId> {
        self.pods.status.get(pod)?.place.as_ref().map(|place| place.node)
    }

    /// Whether one of these terms holds for the labels of a node; never where it is not there.
    pub fn meets(&self, node: NodeId, terms: &[Vec<crate::Requirement>]) -> bool {
        let Some(facts) = self.nodes.facts.get(node).and_then(Option::as_ref) else { return false };
        terms.iter().any(|term| shape::labels_meet(&facts.labels, term))
    }

    /// What a node offers of a lane, and what of that nobody holds; the latter is negative on an over-committed node.
    pub fn node_amounts(&self, node: NodeId, lane: crate::Lane) -> (i64, i64) {
        let facts = self.nodes.facts.get(node).and_then(Option::as_ref);
        (facts.map_or(0, |facts| facts.allocatable.amount(lane)), self.nodes.idle.get(node, lane))
    }

    /// Whether no shared GPU of a node is given out beyond its memory.
    pub fn devices_fit(&self, node: NodeId) -> bool {
        let capacity = device::capacity(self.nodes.gpus(node));
        self.nodes
            .devices
            .get(node)
            .is_none_or(|devices| devices.iter().all(|device| device.held <= capacity))
    }

    /// What a pod's queue is charged where the pod is, or is nominated to; what it asks for elsewhere.
    pub(crate) fn charge(&self, pod: PodId) -> PerLane<i64> {
        let state = &self.pods.status[pod];
        let shape = &self.shapes[self.pods[pod].shape];
        match state.nominee.as_ref().or(state.place.as_ref()) {
            Some(place) => shape.charge_on(self.nodes.gpus(place.node).memory_mib),
            None => shape.charge,
        }
    }

    /// What a pod waits for, its GPU memory counted against devices of this size.
    pub(crate) fn ask(&self, pod: PodId, memory_mib: Option<u32>) -> PerLane<i64> {
        let shape = &self.shapes[self.pods[pod].shape];
        let mut ask = shape.charge;
        if let Some(memory_mib) = memory_mib {
            ask.0[2] += gpu_milli(shape.gpu_mib, memory_mib);
        }
        ask
    }
}

/// GPU memory as thousandths of devices of this size, rounded down.
pub(crate) fn gpu_milli(gpu_mib: i64, memory_mib: u32) -> i64 {
    gpu_mib * crate::base::resources::GPU_MILLI / i64::from(memory_mib.max(1))
}
