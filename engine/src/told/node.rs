//! Facts of a node.

use crate::base::{ids::Symbol, resources::Resources};

/// The facts of a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// The node's name as bytes. Ties between nodes go to the smaller name.
    pub name: Box<[u8]>,
    /// Amounts that pods may take in all: `status.allocatable`. `Lane::GPU` holds whole GPUs of the device plugin, 1000
    /// each; `Lane::PODS` the most pods.
    pub allocatable: Resources,
    /// The node's GPUs.
    pub gpus: Gpus,
    /// Its labels, in any order; keys that no selector and no topology asks for cost nothing.
    pub labels: Vec<Label>,
    /// Its taints, in any order.
    pub taints: Vec<Taint>,
    /// The reason why no new pod may come, where that is so.
    pub blocked: Option<Blocked>,
    /// State of MIG.
    pub mig: Mig,
    /// Work that may come when `Config::restrict_nodes` is set.
    pub worker: Worker,
}

/// The GPUs of a node, taken to be alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Gpus {
    /// Their number: label `nvidia.com/gpu.count`, else what is allocatable.
    pub count: u16,
    /// Memory of each in MiB, rounded down to hundreds: label `nvidia.com/gpu.memory`.
    pub memory_mib: u32,
    /// True if the memory is known; requests by memory go nowhere else.
    pub memory_known: bool,
}

impl Default for Gpus {
    fn default() -> Self {
        Self { count: 0, memory_mib: 100, memory_known: false }
    }
}

/// One label of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label {
    /// The key.
    pub key: Symbol,
    /// The value.
    pub value: Symbol,
    /// The value as an integer, where it is one; `Gt` and `Lt` compare it.
    pub number: Option<i64>,
}

/// One taint of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Taint {
    /// The key.
    pub key: Symbol,
    /// The value, possibly empty.
    pub value: Symbol,
    /// Effect on pods that don't tolerate it.
    pub effect: Effect,
}

/// Effect of a taint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Effect {
    /// Keeps new pods away.
    NoSchedule,
    /// Asks new pods to stay away; decides nothing.
    PreferNoSchedule,
    /// Keeps new pods away and drives running ones out (which the node controller does).
    NoExecute,
}

/// The reason why a node takes no new pod.
///
/// # Source
/// docs/behaviour.md 10.2, check 5. Where several hold the adapter gives the first in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Blocked {
    /// `spec.unschedulable` is set.
    Unschedulable,
    /// Condition `Ready` is not `True`.
    NotReady,
    /// Condition `MemoryPressure` is not `False`.
    MemoryPressure,
    /// Condition `DiskPressure` is not `False`.
    DiskPressure,
    /// Condition `PIDPressure` is not `False`.
    PidPressure,
    /// Condition `NetworkUnavailable` is not `False`.
    NetworkUnavailable,
}

/// Division of a node's GPUs into MIG instances.
///
/// # Source
/// docs/behaviour.md 2.9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mig {
    /// True if the node offers MIG instances.
    pub enabled: bool,
    /// The strategy of the GPU operator.
    pub strategy: MigStrategy,
}

/// The strategy label `nvidia.com/mig.strategy`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum MigStrategy {
    /// None, or one that is not known.
    #[default]
    None,
    /// Every instance alike, offered as whole GPUs.
    Single,
    /// Instances of several profiles, each a resource of its own.
    Mixed,
}

/// The worker labels of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Worker {
    /// Carries the gpu-worker label.
    pub gpu: bool,
    /// Carries the cpu-worker label.
    pub cpu: bool,
}
