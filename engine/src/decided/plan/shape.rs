//! Shapes of what a group needs, and of the GPUs that there are.

use crate::decided::plan::NoRoom;

/// Pods of a group that ask for the same GPUs as one that found no room, of all its sub-groups where it needs them all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Alike {
    /// Number of those that the group needs to run at all, itself included.
    pub needed: u32,
    /// Number of those that have a place, or found one in the same attempt.
    pub placed: u32,
}

/// GPUs over all nodes, as if nothing ran.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EmptyShape {
    /// In all, in milli-devices.
    pub gpu_milli: i64,
    /// The most on one node, in milli-devices.
    pub node_max_milli: i64,
    /// Number of pods that ask for the same which all nodes would hold, or more.
    pub pods: u32,
}

/// Free GPUs over all nodes that take pods.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FreeShape {
    /// In all, in milli-devices, parts of shared GPUs included.
    pub gpu_milli: i64,
    /// The most whole GPUs on one node.
    pub whole_max: u32,
    /// The largest part of one shared GPU, in milli-devices.
    pub part_max_milli: u32,
}

impl NoRoom {
    /// Tells whether it found no room however much ended or was evicted: a pod of it is larger than every node, or its
    /// gang than all nodes together. Nodes that it may not go to are counted too, so that "no" is no promise.
    pub fn is_beyond_capacity(&self) -> bool {
        self.too_large.is_some() || (self.gang && self.alike.needed > self.capacity.pods)
    }

    /// Counts the pods like it that still lack a place of those that the sub-group needs, one at least.
    pub fn missing(&self) -> u32 {
        if self.gang { self.alike.needed.saturating_sub(self.alike.placed).max(1) } else { 1 }
    }
}
