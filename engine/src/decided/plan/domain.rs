//! Reasons why no topology domain takes a group.

use std::sync::Arc;

use crate::{
    base::{
        ids::{Symbol, TopologyId},
        resources::Lane,
    },
    decided::plan::Why,
};

/// So many earlier reasons are kept beside the last one.
const BEFORE_MAX: usize = 100;

impl Why {
    /// The same with what was found before it, in other domains of a topology.
    pub(crate) fn after(mut self, mut before: Vec<Self>) -> Self {
        let kept = match &mut self {
            Self::NoRoom(no_room) => &mut Arc::make_mut(no_room).before,
            Self::NoDomain(no_domain) => &mut no_domain.before,
            Self::Satisfied
            | Self::Nominated
            | Self::QueueMissing
            | Self::QueueNotLeaf
            | Self::Malformed
            | Self::Held
            | Self::NotReady(_)
            | Self::Gated
            | Self::OverLimit(_)
            | Self::OverQuota(_)
            | Self::Delayed { .. }
            | Self::Behind { .. }
            | Self::Undecided { .. } => return self,
        };
        before.append(kept);
        before.truncate(BEFORE_MAX);
        *kept = before;
        self
    }
}

/// No topology domain for a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoDomain {
    /// The sub-group that asks; [`Symbol::EMPTY`] for the group itself.
    pub sub_group: Symbol,
    /// The topology.
    pub topology: TopologyId,
    /// The problem.
    pub problem: DomainProblem,
    /// Reasons that were found before in other domains of a level above, each in turn.
    pub before: Vec<Why>,
}

/// A problem with a topology constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DomainProblem {
    /// The topology does not exist.
    NoTopology,
    /// The topology has no such level.
    NoLevel {
        /// The level as written.
        level: Symbol,
        /// True if it is the required one.
        required: bool,
    },
    /// Neither a required nor a preferred level is given.
    NeitherLevel,
    /// The preferred level is wider than the required one.
    LevelsReversed,
    /// Pods of it run, all of them in no domain of the required level, so that there is none to grow in.
    Outside {
        /// The level.
        level: Symbol,
    },
    /// No domain of the level has room.
    NoFit {
        /// The level, where one is required.
        level: Option<Symbol>,
        /// The domain that holds all nodes which may be used, by its path, where already that is too small.
        whole: Option<Box<[Symbol]>>,
        /// The first domains of the level that were looked at, at most 100, each too small.
        rooms: Vec<DomainRoom>,
        /// Number of domains that were looked at.
        domains: u32,
        /// The most pods that one of them takes.
        pods_max: u32,
        /// Number of pods that have to go together.
        pods: u32,
        /// GPUs that these ask for together, in milli-devices.
        gpu_milli: i64,
        /// The most GPUs that one of the domains has, whoever has them.
        gpu_milli_max: i64,
    },
}

impl DomainProblem {
    /// Tells whether no domain had room however much ended or was evicted.
    pub fn is_beyond_capacity(&self) -> bool {
        match self {
            Self::NoFit { gpu_milli, gpu_milli_max, .. } => gpu_milli > gpu_milli_max,
            Self::NoTopology
            | Self::NoLevel { .. }
            | Self::NeitherLevel
            | Self::LevelsReversed
            | Self::Outside { .. } => false,
        }
    }

    /// Tells whether it is the other one, but for numbers.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::NoFit { whole: a, .. }, Self::NoFit { whole: b, .. }) => {
                a == b && self.is_beyond_capacity() == other.is_beyond_capacity()
            }
            (a, b) => a == b,
        }
    }
}

/// A domain that is too small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DomainRoom {
    /// The labels of its nodes from the widest level down.
    pub path: Box<[Symbol]>,
    /// The room that it has.
    pub room: Room,
}

/// Room of a domain that is too small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// It takes so many pods.
    Pods(u32),
    /// Of this resource too little is free for all pods together.
    Short(Lane),
}
