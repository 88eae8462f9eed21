//! Facts of a pod group, and its tree of sub-groups.

use crate::base::{
    ids::{QueueId, Symbol, TopologyId},
    time::{Millis, Timestamp},
};

/// The facts of a pod group; those that each of its turns asks for lie together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Group {
    /// Its queue; the queue itself may come later. None where `spec.queue` is empty.
    pub queue: Option<QueueId>,
    /// Value of its priority class; higher goes first.
    pub priority: i32,
    /// True if it may be a victim; then only limits of queues bound it, not their quotas.
    pub preemptible: bool,
    /// True if it is left out until somebody moves it: `spec.schedulingBackoff` with its condition standing.
    pub held: bool,
    /// A number that breaks the last tie: the smaller goes first.
    pub uid: u128,
    /// Time when it was made; older groups go first.
    pub created: Timestamp,
    /// Pods that have to run together.
    pub structure: Structure,
    /// Time that it must wait before it may evict others.
    pub preemption_delay: Millis,
    /// Time for which it may run below its minimum; none takes the configured one, negative is for ever.
    pub staleness_grace: Option<Millis>,
    /// Time when it last started to run.
    pub last_start: Option<Timestamp>,
    /// Time when a pod of it was last evicted.
    pub last_eviction: Option<Timestamp>,
    /// Since when it runs below its minimum.
    pub stale_since: Option<Timestamp>,
}

/// Pods of a group that have to run together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Structure {
    /// `spec.minMember` pods of one set.
    Flat {
        /// The fewest pods; absent in the spec is 1.
        min: u32,
        /// Domains in one of which they have to be together.
        topology: Option<Constraint>,
    },
    /// Sub-groups.
    Tree {
        /// `spec.minSubGroup`: how many top sub-groups must be satisfied, none for all.
        min: Option<u32>,
        /// Domains in one of which the whole group has to be together.
        topology: Option<Constraint>,
        /// In ascending order of names, which breaks ties.
        sub_groups: Vec<SubGroup>,
    },
    /// Names repeat, a parent is unknown, or parents form a ring: never scheduled.
    Malformed,
}

impl Default for Structure {
    fn default() -> Self {
        Self::Flat { min: 1, topology: None }
    }
}

/// One sub-group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubGroup {
    /// Its name.
    pub name: Symbol,
    /// The sub-group that holds it, as an index into the list; none for the group itself.
    pub parent: Option<u16>,
    /// Its contents, and the number of them that must run.
    pub min: Min,
    /// Domains in one of which it has to be together.
    pub topology: Option<Constraint>,
}

/// Contents of a sub-group, and the number of them that must run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Min {
    /// Pods, and the fewest of them.
    Pods(u32),
    /// Sub-groups, and the fewest of them; none for all.
    Members(Option<u32>),
}

/// A demand to be close together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// The topology; it may not exist.
    pub topology: TopologyId,
    /// All in one domain of this level.
    pub required: Option<Level>,
    /// Rather in one domain of this level.
    pub preferred: Option<Level>,
}

/// A level of a topology as a constraint names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Level(
    /// The node label of the level. The adapter resolves aliases and leaves unknown names as they are.
    pub Symbol,
);

/// The facts of a topology.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Topology {
    /// Node labels from the widest level to the narrowest.
    pub levels: Vec<Symbol>,
}
