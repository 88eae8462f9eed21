//! News that the outside may tell the engine.

use crate::{
    base::{
        ids::{
            BudgetId, ClaimId, CounterId, DeviceClassId, GroupId, NamespaceSelectorId, NodeId,
            PodId, QueueId, ReachId, Symbol, TopologyId,
        },
        resources::{Lane, LaneKind},
    },
    told::{
        budget::Budget,
        claim::{Claim, DeviceClass, Reach, SliceDevice},
        group::{Group, Topology},
        node::Node,
        numa::Numa,
        pod::Pod,
        queue::Queue,
    },
};

/// One thing that the outside tells.
///
/// An upsert carries all facts of its object and may be told again: nothing changes. Objects may come in any
/// order, a pod before its group, a group before its queue, a pod before the node it runs on.
///
/// A pod that the engine placed stays placed when an upsert still shows it pending, and one that it evicted
/// stays evicted when an upsert still shows it running: only an outcome, or news that go further, move it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delta {
    /// A node is there, or changed.
    Node(NodeId, Box<Node>),
    /// A node is gone; pods on it hold nothing until they are moved or removed.
    NodeGone(NodeId),
    /// A queue is there, or changed.
    Queue(QueueId, Box<Queue>),
    /// A queue is gone; its groups and the queues below it wait.
    QueueGone(QueueId),
    /// A pod group is there, or changed.
    Group(GroupId, Box<Group>),
    /// A pod group is gone; its pods belong to nobody until they are removed.
    GroupGone(GroupId),
    /// A pod is there, or changed.
    Pod(PodId, Box<Pod>),
    /// A pod is gone.
    PodGone(PodId),
    /// A topology is there, or changed.
    Topology(TopologyId, Box<Topology>),
    /// A topology is gone.
    TopologyGone(TopologyId),
    /// The value of a label is written like this; of domains that are as tight as each other the smaller text goes
    /// first. Values that were never told go before all others, by the name of their first node.
    Spelling(Symbol, Box<[u8]>),
    /// A budget of disruptions is there, or changed.
    Budget(BudgetId, Box<Budget>),
    /// A budget of disruptions is gone.
    BudgetGone(BudgetId),
    /// A selector of namespaces means this one, or does not; it means none until that is told.
    NamespaceSelector(NamespaceSelectorId, Symbol, bool),
    /// The API server serves resource claims, or does not. It does, until this is told.
    ClaimsServed(bool),
    /// A resource claim is there, or changed.
    Claim(ClaimId, Box<Claim>),
    /// A resource claim is gone.
    ClaimGone(ClaimId),
    /// A device class is there, or changed.
    DeviceClass(DeviceClassId, DeviceClass),
    /// A device class is gone; claims that name it wait.
    DeviceClassGone(DeviceClassId),
    /// Resource slices publish these devices for a node, in the order in which they are given away.
    Slices(NodeId, Vec<SliceDevice>),
    /// Resource slices publish these devices for several nodes.
    Reach(ReachId, Box<Reach>),
    /// A counter that devices draw from holds this much; one that was never told holds nothing.
    Counter(CounterId, i64),
    /// A node has these NUMA zones, or reports none.
    Zones(NodeId, Option<Box<Numa>>),
    /// So many idle GPUs of a node are set aside: they may not be opened for sharing for now, since a reservation on the
    /// node did not report, and GPUs that are coming free may not either. Pods that ask for whole GPUs may have them, and what is shared already is shared on. It holds
    /// until another number is told, 0 for none, or the node is gone.
    SetAside(NodeId, u16),
    /// A lane means this; lanes that are never told are plain.
    Lane(Lane, LaneKind),
    /// A bind that a plan asked for was done.
    Bound(PodId),
    /// A bind that a plan asked for was refused: the pod waits again.
    BindFailed(PodId),
    /// An eviction that a plan asked for was accepted; the pod holds its place until it is gone.
    Evicted(PodId),
    /// An eviction that a plan asked for was refused: the pod runs on.
    EvictFailed(PodId),
    /// An eviction that a plan asked for was asked of nobody: the pod runs on, and its budgets stand as before.
    EvictWithdrawn(PodId),
}
