//! NUMA zones of nodes, and what pods hold of them.
//!
//! # Source
//! docs/behaviour.md 13.3, after the kubelet's topology manager.

use crate::base::resources::{Lane, Resources};

/// Policy of a node's topology manager, and the zones that it works with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numa {
    /// Strictness with which requests have to fit.
    pub policy: NumaPolicy,
    /// Unit of what is fitted: each container, or the pod as a whole.
    pub scope: NumaScope,
    /// Amounts of each zone, in the order of zones. A lane that no zone names is not aligned.
    pub zones: Vec<Resources>,
}

/// Strictness with which requests have to fit zones.
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

/// Unit of what is fitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum NumaScope {
    /// Each container.
    #[default]
    Container,
    /// The pod.
    Pod,
}

/// Requests of a pod for zones. Pods that nothing is aligned for have none.
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

/// Amount of one zone that a pod holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ZoneAmount {
    /// The position of the zone on its node.
    pub zone: u16,
    /// The resource.
    pub lane: Lane,
    /// The amount.
    pub amount: i64,
}
