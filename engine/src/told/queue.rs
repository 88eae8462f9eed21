//! Facts of a queue.

use crate::base::{
    ids::QueueId,
    resources::{Limit, PerLane},
    time::{Millis, Timestamp},
};

/// The facts of a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queue {
    /// The queue above; it may come later, and until then this one is an orphan.
    pub parent: Option<QueueId>,
    /// `spec.priority`; higher goes first.
    pub priority: i32,
    /// Amounts that it is entitled to.
    pub quota: PerLane<Limit>,
    /// Amounts that it may never pass.
    pub limit: PerLane<Limit>,
    /// Its part of what is left over, in thousandths.
    pub weight_milli: PerLane<u64>,
    /// Past usage of the cluster, in millionths; 0 without usage data.
    pub usage_micro: PerLane<u64>,
    /// Time for which its groups are safe from groups of the same queue; none asks the parent.
    pub preempt_min_runtime: Option<Millis>,
    /// Time for which its groups are safe from other queues; none asks the parent.
    pub reclaim_min_runtime: Option<Millis>,
    /// Time when it was made; older queues go first.
    pub created: Timestamp,
    /// Its UID as a number; breaks the last tie.
    pub uid: u128,
}

impl Default for Queue {
    /// As an API object without `spec`: nothing may be taken.
    fn default() -> Self {
        Self {
            parent: None,
            priority: 100,
            quota: PerLane::default(),
            limit: PerLane::default(),
            weight_milli: PerLane::default(),
            usage_micro: PerLane::default(),
            preempt_min_runtime: None,
            reclaim_min_runtime: None,
            created: Timestamp::default(),
            uid: 0,
        }
    }
}
