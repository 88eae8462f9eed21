//! That no eviction helps a group, shown by counting.

use crate::base::{
    ids::{GroupId, Symbol, TopologyId},
    time::Timestamp,
};

/// A proof that no eviction of one kind lets a group in, whatever is evicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The group.
    pub group: GroupId,
    /// The kind of eviction.
    pub kind: EvictionKind,
    /// The thing of which there is too little.
    pub shortage: Shortage,
}

/// A kind of eviction that makes room for a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EvictionKind {
    /// Pods are moved together.
    Consolidate,
    /// A queue takes back what it is entitled to.
    Reclaim,
    /// A group of higher priority in the same queue goes first.
    Preempt,
}

impl EvictionKind {
    /// All of them, in the order in which a cycle runs them.
    pub const ALL: [Self; 3] = [Self::Consolidate, Self::Reclaim, Self::Preempt];
}

/// A thing of which there is too little, even if all that may be evicted were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shortage {
    /// GPUs over all nodes, in milli-devices: what is free and what other queues have to give.
    Gpus {
        /// Amount that the group asks for.
        needed_milli: i64,
        /// The most that it may get.
        most_milli: i64,
    },
    /// Pods of one shape over all nodes that they may go to.
    Pods {
        /// Number of pods to place.
        needed: u32,
        /// Number of pods that such nodes would hold.
        most: u32,
    },
    /// Domains of a node label, for pods that keep away from each other (Hall's condition).
    Apart {
        /// The label.
        key: Symbol,
        /// Number of pods to place.
        needed: u32,
        /// Number of pods that the domains would hold, one each.
        most: u32,
    },
    /// Room in one domain of a topology, for pods that have to stay together.
    Together {
        /// The topology.
        topology: TopologyId,
        /// The level whose domains were counted.
        level: Symbol,
        /// Number of pods to place.
        needed: u32,
        /// Number of pods that the roomiest domain would hold.
        most: u32,
    },
    /// Domains of a topology, for sub-groups that have to stay together, each by itself.
    Domains {
        /// The topology.
        topology: TopologyId,
        /// The level whose domains were counted.
        level: Symbol,
        /// Number of pods that the counted sub-groups have, or more.
        pods: u32,
        /// Number of these sub-groups.
        needed: u32,
        /// Number of them that the domains would take.
        most: u32,
    },
    /// Pods that a pod has to be near: they are near no node that it may go to, and no eviction brings any.
    Company,
    /// Victims that have run for their minimum run time: others may not be evicted yet, and what these hold would do as
    /// far as it was counted.
    Runtime {
        /// Number of groups that are safe for now.
        protected: u32,
        /// Time from which the first of them is safe no more.
        until: Timestamp,
    },
    /// Victims that budgets of disruptions let go: of those there are none may now.
    Disruptions {
        /// Number of groups that are kept by budgets.
        guarded: u32,
    },
    /// Victims that did not lose their places to the group before: what it got by that it lost again, so that they would
    /// go round for ever. News of any kind lets it try again.
    Others {
        /// Number of groups that it may not evict again until then.
        barred: u32,
    },
}

impl std::fmt::Display for Shortage {
    /// One clause without names, e.g. `needs 10 domains of its own, 9 have room`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gpus { needed_milli, most_milli } => write!(
                f,
                "needs {needed_milli} milli-GPUs, {most_milli} are free or may be given up"
            ),
            Self::Pods { needed, most } => {
                write!(f, "needs room for {needed} pods, its nodes would hold {most} if emptied")
            }
            Self::Apart { needed, most, .. } => {
                write!(f, "needs {needed} domains of its own, {most} would have room if emptied")
            }
            Self::Together { needed, most, .. } => write!(
                f,
                "needs room for {needed} pods in one domain, the roomiest would hold {most} if emptied"
            ),
            Self::Domains { pods, needed, most, .. } => write!(
                f,
                "needs domains for {needed} sub-groups of {pods} pods or more, they would take {most} if emptied"
            ),
            Self::Company => write!(f, "needs to be near other pods, and no eviction brings any"),
            Self::Runtime { protected, .. } => {
                write!(f, "needs others than {protected} groups within their minimum run time")
            }
            Self::Disruptions { guarded } => {
                write!(f, "needs others than {guarded} groups that budgets of disruptions keep")
            }
            Self::Others { barred } => {
                write!(f, "needs other victims than {barred} groups that came back from it before")
            }
        }
    }
}
