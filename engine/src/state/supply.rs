//! Says what there is to divide: of each node what it offers to queues, less what pods of others hold of it.

use crate::{
    base::resources::{Charge, PerLane, QueueLane},
    state::booking::Sign,
};

/// The part of a node in what there is to divide.
///
/// # Source
/// docs/behaviour.md 3.1. Nodes of other node pools are not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Supply {
    /// Amounts that it offers to queues; none where it is not there, or takes no pods.
    offered: Charge,
    /// True if it offers them and lacks the gpu-worker label.
    is_unlabelled: bool,
    /// Amounts that pods of others on it ask for, be it more than it has.
    foreign: Charge,
}

impl Supply {
    /// Adds what the node offers, or takes it back.
    pub(crate) fn offer(&mut self, offered: Charge, is_unlabelled: bool) {
        self.offered += offered;
        self.is_unlabelled = is_unlabelled;
    }

    /// Adds what a pod of others on the node asks for, or takes it back.
    pub(crate) fn hold(&mut self, charge: Charge, sign: Sign) {
        sign.charge(&mut self.foreign, charge);
    }

    /// Gives what is left of it for queues. Pods of others take at most what their node has, whatever they ask for: the rest
    /// is no other node's.
    pub(crate) fn left(&self) -> Charge {
        PerLane(QueueLane::ALL.map(|lane| (self.offered[lane] - self.foreign[lane]).max(0)))
    }

    /// Gives the part of that which is GPUs on a node without the gpu-worker label.
    pub(crate) fn unlabelled_gpu(&self) -> i64 {
        if self.is_unlabelled { self.left()[QueueLane::Gpu] } else { 0 }
    }

    /// Tells whether nothing of it is less than nothing, nor more than what is offered.
    pub(crate) fn holds(&self) -> bool {
        let left = self.left();
        QueueLane::ALL.into_iter().all(|lane| (0..=self.offered[lane]).contains(&left[lane]))
    }
}
