//! All state of the cluster that a decision reads.
//!
//! Facts are what the adapter told. Derived columns (amounts of nodes, devices, queues and sub-groups, the index)
//! have two writers, [`take`](State::take) and [`give`](State::give): other folders read them and cannot write. And
//! [`check`](State::check) derives them again from the facts and compares.
//!
//! The state knows nobody above it. It writes down what changed ([`changes`]), for those who remember what they made of it.

pub(crate) mod account;
pub(crate) mod anti_affinity;
pub(crate) mod apply;
pub(crate) mod booking;
pub(crate) mod budgets;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod claims;
pub(crate) mod device;
pub(crate) mod domains;
pub(crate) mod foreign;
pub(crate) mod fragments;
pub(crate) mod group_key;
pub(crate) mod holding;
pub(crate) mod host_ports;
pub(crate) mod index;
pub(crate) mod looks;
pub(crate) mod node_sets;
pub(crate) mod nominations;
pub(crate) mod notes;
pub(crate) mod placed;
pub(crate) mod pod_counts;
pub(crate) mod reindex;
pub(crate) mod rows;
pub(crate) mod shape;
pub(crate) mod slices;
pub(crate) mod spread_domains;
pub(crate) mod supply;
pub(crate) mod tallies;
pub(crate) mod tree;
pub(crate) mod trial;
pub(crate) mod unplanned;
pub(crate) mod zones;

use std::collections::BTreeMap;

use crate::{
    base::{
        few::Few,
        ids::{Column, GroupId, NodeId, PodId, QueueId, Symbol, TopologyId},
        resources::{LaneKind, PerLane, QueueLane},
    },
    decided::{
        plan::{QueueState, Why},
        steps::Steps,
    },
    state::{
        anti_affinity::{AntiAffinity, NamespaceSelectors},
        budgets::Budgets,
        changes::Changes,
        claims::Claims,
        looks::Looks,
        nominations::Nominations,
        shape::Shapes,
        trial::Op,
    },
};

pub(crate) use crate::state::rows::{GroupRow, Nodes, Phase, Pods, QueueRow, Queues};

/// Facts and what is derived from them, kept across cycles.
#[derive(Clone, Default, Debug)]
pub(crate) struct State {
    lanes: Vec<LaneKind>,
    shapes: Shapes,
    nodes: Nodes,
    pods: Pods,
    groups: Column<GroupId, GroupRow>,
    queues: Queues,
    claims: Claims,
    budgets: Budgets,
    topologies: Column<TopologyId, Option<Box<crate::told::group::Topology>>>,
    /// Spellings of the values of labels that name domains.
    spellings: BTreeMap<Symbol, Box<[u8]>>,
    /// Pods with required anti-affinity.
    anti_affinity: AntiAffinity,
    /// The selectors of namespaces that mean each namespace.
    namespace_selectors: NamespaceSelectors,
    /// Pods that topology spread counts, by node. Derived.
    pod_counts: pod_counts::PodCounts,
    /// Pods with a place, by namespace. Derived.
    placed: placed::PlacedPods,
    /// Pods that terms mean, by node. Filled as asked.
    tallies: tallies::Tallies,
    /// Changes of open trials, to be undone or kept.
    log: Vec<Op>,
    /// Number of devices that plans opened so far.
    opened: u32,
    /// Changes since somebody asked.
    changes: Changes,
    /// Places that plans promised.
    pub(crate) nominations: Nominations,
    /// Steps that this cycle took.
    pub(crate) steps: Steps,
    /// Looks at devices that the attempt to place a group may make.
    pub(crate) looks: Looks,
    /// Comparisons that the attempt made to find out where its pods would rather go.
    pub(crate) wished: u64,
}

/// Stage of a pod between its creation and its end.
///
/// # Source
/// docs/behaviour.md 1.3.
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

impl PartialEq for State {
    /// Equal facts and derived columns; caches and counters of the cycle do not count.
    fn eq(&self, other: &Self) -> bool {
        self.shapes == other.shapes
            && self.nodes == other.nodes
            && self.pods == other.pods
            && self.groups == other.groups
            && self.queues == other.queues
            && self.claims == other.claims
            && self.spellings == other.spellings
            && self.namespace_selectors == other.namespace_selectors
            && self.pod_counts == other.pod_counts
            && self.log == other.log
            && self.opened == other.opened
    }
}

impl State {
    pub(crate) fn lanes(&self) -> &[LaneKind] {
        &self.lanes
    }

    pub(crate) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    pub(crate) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    pub(crate) fn pods(&self) -> &Pods {
        &self.pods
    }

    pub(crate) fn groups(&self) -> &Column<GroupId, GroupRow> {
        &self.groups
    }

    /// Says of which namespace a group is, as all of its pods are; of none where it has no pod.
    pub(crate) fn namespace(&self, group: GroupId) -> Symbol {
        let first = self.groups[group].pods.first();
        first.map_or(Symbol::EMPTY, |pod| self.pods[*pod].namespace)
    }

    pub(crate) fn queues(&self) -> &Queues {
        &self.queues
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    pub(crate) fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// The topologies that there are.
    pub(crate) fn topologies(
        &self,
    ) -> impl Iterator<Item = (TopologyId, &crate::told::group::Topology)> {
        self.topologies.iter().filter_map(|(id, facts)| Some((id, facts.as_deref()?)))
    }

    /// Pods with required anti-affinity.
    pub(crate) fn anti_affinity(&self) -> &AntiAffinity {
        &self.anti_affinity
    }

    pub(crate) fn pod_counts(&self) -> &pod_counts::PodCounts {
        &self.pod_counts
    }

    /// Gives what open trials did.
    pub(crate) fn log(&self) -> &[Op] {
        &self.log
    }

    /// Number of devices that plans opened so far.
    pub(crate) fn opened(&self) -> u32 {
        self.opened
    }

    /// The waiting pods of a group that are placed next.
    pub(crate) fn to_place(&self, group: GroupId) -> Few<PodId> {
        self.groups[group].tree.to_place(&|pod| self.pods.status[pod].is_waiting())
    }

    /// Gives what was said last of a group, where something was.
    pub(crate) fn verdict(&self, group: GroupId) -> Option<&Why> {
        self.groups.get(group)?.why.as_ref()
    }

    /// The numbers of a queue, as of the last plan.
    ///
    /// A queue that was never told has zeros.
    pub(crate) fn queue_state(&self, queue: QueueId) -> QueueState {
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

    /// Tells where a pod stands, as of the last plan; [`Stage::Ended`] where it is not known.
    pub(crate) fn stage(&self, pod: PodId) -> Stage {
        let Some(state) = self.pods.status.get(pod) else { return Stage::Ended };
        if state.nominee.is_some() {
            return Stage::Nominated;
        }
        match state.phase {
            Phase::Gated => Stage::Gated,
            Phase::Pending => Stage::Pending,
            Phase::Binding => Stage::Binding,
            Phase::Bound | Phase::Running => Stage::Placed,
            Phase::Evicting | Phase::Releasing | Phase::Lingering | Phase::Stuck => Stage::Leaving,
            Phase::Absent | Phase::Succeeded | Phase::Failed => Stage::Ended,
        }
    }

    /// The facts of a pod as it was told last, but that it waits for a place.
    pub(crate) fn pod_waiting(&self, pod: PodId) -> Option<crate::Pod> {
        let facts = self.pod_told(pod)?;
        let state = crate::PodState::Pending;
        Some(crate::Pod { state, nominated: None, unplanned: false, ..facts })
    }

    /// The facts of a pod as it was told last.
    pub(crate) fn pod_told(&self, pod: PodId) -> Option<crate::Pod> {
        let facts = self.pods.facts.get(pod)?.as_ref()?;
        Some(crate::Pod {
            owner: facts.owner,
            sub_group: facts.sub_group,
            shape: self.shapes[facts.shape].facts.clone(),
            state: facts.told.state(),
            rank: facts.rank,
            created: facts.created,
            uid: facts.uid,
            nominated: facts.nominated(),
            namespace: facts.namespace,
            labels: facts.labels.clone(),
            claims: facts.claims.clone(),
            unplanned: facts.is_unplanned,
        })
    }

    /// The node that a pod holds a place on, or was given.
    pub(crate) fn node_of(&self, pod: PodId) -> Option<NodeId> {
        self.pods.status.get(pod)?.place.as_ref().map(|place| place.node)
    }

    /// Tells whether one of these terms holds for the labels of a node; never where it is not there.
    pub(crate) fn meets(&self, node: NodeId, terms: &[Vec<crate::Requirement>]) -> bool {
        let Some(facts) = self.nodes.facts.get(node).and_then(Option::as_ref) else { return false };
        terms.iter().any(|term| shape::labels_meet(&facts.labels, term))
    }

    /// Gives what a node offers of a lane, and what of that nobody holds; the latter is negative on an over-committed
    /// node.
    pub(crate) fn node_amounts(&self, node: NodeId, lane: crate::Lane) -> (i64, i64) {
        let facts = self.nodes.facts.get(node).and_then(Option::as_ref);
        (facts.map_or(0, |facts| facts.allocatable.amount(lane)), self.nodes.idle.get(node, lane))
    }

    /// Tells whether no shared GPU of a node is given out beyond its memory.
    pub(crate) fn devices_fit(&self, node: NodeId) -> bool {
        let capacity = device::capacity(self.nodes.gpus(node));
        self.nodes
            .devices
            .get(node)
            .is_none_or(|devices| devices.iter().all(|device| device.held <= capacity))
    }

    /// The domain of a node by one of its labels.
    pub(crate) fn topology_pair(&self, node: NodeId, key: Symbol) -> Option<(Symbol, Symbol)> {
        let facts = self.nodes.facts.get(node)?.as_ref()?;
        facts.labels.iter().find(|label| label.key == key).map(|label| (key, label.value))
    }

    /// Sums what a pod's queue is charged where the pod is, or is nominated to; what it asks for elsewhere.
    pub(crate) fn charge(&self, pod: PodId) -> PerLane<i64> {
        match &self.pods.status[pod].nominee {
            Some(place) => self.nodes.charge(&self.shapes[self.pods[pod].shape], place.node),
            None => self.held(pod),
        }
    }

    /// Sums what a pod waits for, its GPU memory counted against devices of this size.
    pub(crate) fn ask(&self, pod: PodId, memory_mib: Option<u32>) -> PerLane<i64> {
        let shape = &self.shapes[self.pods[pod].shape];
        let mut ask = shape.charge;
        if let Some(memory_mib) = memory_mib {
            ask[QueueLane::Gpu] += gpu_milli(shape.gpu_mib, memory_mib);
        }
        ask
    }
}

/// GPU memory as thousandths of devices of this size, rounded down.
pub(crate) fn gpu_milli(gpu_mib: i64, memory_mib: u32) -> i64 {
    gpu_mib * crate::base::resources::GPU_MILLI / i64::from(memory_mib.max(1))
}
