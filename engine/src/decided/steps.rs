//! Effort of deciding, in counted steps: the same on every machine.

use crate::decided::proof::EvictionKind;

/// So many comparisons cost as much as looking at a node.
const COMPARED: u64 = 64;
/// Number of looks at devices that cost as much as a step.
const LOOKS_A_STEP: u64 = 32;

/// Effort of a cycle, in counted steps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// Groups that were tried.
    pub groups: u64,
    /// Groups that were let in.
    pub solved: u64,
    /// Nodes that were looked at.
    pub nodes: u64,
    /// Victims that were looked at; those of a large set besides for each set that they are in, some of them as one.
    pub victims: u64,
    /// Sets of victims that were tried.
    pub scenarios: u64,
    /// Looks at devices that claims would get; 32 of them are a step.
    pub looks: u64,
    /// Sets of victims that counting refused, so that they were not tried; all sets of a search at once are one. Costs
    /// no step of its own.
    pub filtered: u64,
    /// Terms about other pods that were compared with the labels of pods, or what costs as much; 64 are a step.
    pub compared: u64,
    /// True if they ran out before all was decided; the next cycle goes on.
    pub spent: bool,
}

impl Steps {
    /// All of them.
    pub fn total(&self) -> u64 {
        let compared = self.compared / COMPARED;
        let looks = self.looks / LOOKS_A_STEP;
        self.groups + self.nodes + self.victims + self.scenarios + compared + looks
    }

    /// Counts the comparisons that may be made until there are so many steps in all.
    pub(crate) fn comparisons_until(&self, steps: u64) -> u64 {
        steps.saturating_sub(self.total()).saturating_mul(COMPARED)
    }

    /// Counts what came after `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            groups: self.groups - before.groups,
            solved: self.solved - before.solved,
            nodes: self.nodes - before.nodes,
            victims: self.victims - before.victims,
            scenarios: self.scenarios - before.scenarios,
            looks: self.looks - before.looks,
            filtered: self.filtered - before.filtered,
            compared: self.compared - before.compared,
            spent: self.spent,
        }
    }
}

/// Progress of a search that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// For pods to evict.
    Eviction {
        /// The kind of eviction that it is for.
        kind: EvictionKind,
        /// Number of groups that came up as victims so far.
        groups: u32,
        /// Number of groups that may.
        candidates: u32,
        /// For how many of its pods victims were found so far.
        pods: u32,
        /// Number of pods to place.
        pods_all: u32,
        /// Number of sets of victims that were tried.
        sets: u64,
    },
    /// For another way to place unlike pods, or sub-groups that have to be together, in free room.
    Packing {
        /// For how many pods nodes were looked for, each time counted.
        tries: u64,
        /// At how many it gives up.
        tries_max: u64,
    },
}
