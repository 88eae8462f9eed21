//! NUMA zones of nodes, and what pods hold of them.
//!
//! # Source
//! docs/behaviour.md 13.3, after the kubelet's topology manager.

use crate::base::resources::{Lane, Resources};

/// What a node's topology manager does, and the zones it does it with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numa {
    /// How strictly a container has to fit.
    pub policy: NumaPolicy,
    /// Whether containers are fitted one by one or the pod as a whole.
    pub scope: NumaScope,
    /// What each zone has, in the order of zones. A lane that no zone names is not aligned.
    pub zones: Vec<Resources>,
}

/// How strictly requests have to fit zones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum NumaPolicy {
    /// Not at all.
    #[default]
    None,
    /// As well as it goes; nothing is refused.
    BestEffort,
    /// In as few zones as the request needs.
    Restricted,
    /// In one zone.
    SingleNumaNode,
}

/// What is fitted as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum NumaScope {
    /// Each container.
    #[default]
    Container,
    /// The pod.
    Pod,
}

/// What a pod asks of zones. Pods that nothing is aligned for have none.
///
/// Guaranteed pods ask for everything, CPU only where it is whole cores; others only for devices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Alignment {
    /// The pod as a whole.
    pub pod: Resources,
    /// Sidecars and containers in the order of their start; they share zones.
    pub concurrent: Vec<Resources>,
    /// Ordinary init containers; each has the zones for itself.
    pub serial: Vec<Resources>,
}

/// What a pod holds of one zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ZoneAmount {
    /// The position of the zone on its node.
    pub zone: u16,
    /// The resource.
    pub lane: Lane,
    /// How much.
    pub amount: i64,
}
