//! A queue of a scenario.

use serde::{Deserialize, Serialize};

use crate::amount::{Amount, Bound, Bytes, Cores, Gpus, Parts, Ratio, Span};

/// A queue. The plain keys are GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// The queue above.
    pub parent: Option<String>,
    /// GPUs it may count on; 0 when left out.
    pub quota: Option<Bound<Gpus>>,
    /// GPUs it may never pass; unlimited when left out.
    pub limit: Option<Bound<Gpus>>,
    /// Its weight when GPUs beyond quotas are divided; 1 when left out.
    pub over_quota_weight: Option<Amount<Ratio>>,
    /// Higher ones go first; 100 when left out.
    pub priority: Option<i32>,
    /// The same for cores.
    pub cpu: Share<Cores>,
    /// The same for bytes of memory.
    pub memory: Share<Bytes>,
    /// Time that its groups run before they may be reclaimed.
    pub reclaim_min_runtime: Option<Span>,
    /// Time that its groups run before they may be preempted.
    pub preempt_min_runtime: Option<Span>,
    /// Time since it was made; what is written first is oldest when left out.
    pub age: Option<Span>,
    /// Past usage, as a part of what there was.
    pub usage: Option<Amount<Parts>>,
}

/// Amounts that a queue may have of one resource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, bound = "U: crate::amount::Unit")]
pub struct Share<U> {
    /// Amount that it may count on; unlimited when left out.
    pub quota: Bound<U>,
    /// Amount that it may never pass; unlimited when left out.
    pub limit: Bound<U>,
    /// Its weight when what lies beyond quotas is divided; 1 when left out.
    pub over_quota_weight: Amount<Ratio>,
}

impl<U> Default for Share<U> {
    fn default() -> Self {
        Self {
            quota: Bound::Unlimited,
            limit: Bound::Unlimited,
            over_quota_weight: Amount::of(1000),
        }
    }
}
