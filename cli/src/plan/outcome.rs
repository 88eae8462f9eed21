//! Describes what would be, beside what is: as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::change::Change;

/// Holds what is to be tried.
#[derive(Debug, Default)]
pub(crate) struct Wish<'w> {
    pub(crate) changes: &'w [Change],
    /// Work that does not exist yet, and config maps that its pods read, in their namespace.
    pub(crate) objects: &'w [Value],
    /// Says how far it is looked for starts; nothing is looked for at 0.
    pub(crate) horizon_seconds: i64,
}

/// Holds what would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    /// The changes, in words.
    pub(crate) changes: Vec<String>,
    /// The work that is asked about.
    pub(crate) workloads: Vec<Fate>,
    /// Work that is there and fares otherwise than without the changes.
    pub(crate) others: Vec<Shift>,
    /// Work whose pods would have to leave.
    pub(crate) evicted: Vec<Victim>,
    /// Queues with GPUs, before and after.
    pub(crate) queues: Vec<Share>,
    /// Holds what was taken for granted.
    pub(crate) assumptions: Vec<String>,
    /// True where some work does not run, before or after.
    #[serde(skip)]
    pub(crate) waits: bool,
}

/// When work starts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "when")]
pub(crate) enum Start {
    /// It runs already.
    Running,
    /// In the next cycle.
    Now,
    /// As soon as others have left, for it or anyway.
    AfterEvictions,
    /// Within these seconds from now; no latest where no end is known.
    #[serde(rename_all = "camelCase")]
    Later { earliest_seconds: i64, latest_seconds: Option<i64> },
    /// Not on this cluster, even if nobody else were there.
    Never,
    /// Nothing that is known says when.
    Unknown,
}

/// Holds what becomes of work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fate {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) pod_group: String,
    pub(crate) queue: String,
    /// GPUs of all of its pods.
    pub(crate) gpus: String,
    pub(crate) min_pods: u32,
    pub(crate) pods: Vec<Placed>,
    pub(crate) start: Start,
    /// The number of the reason why it waits.
    pub(crate) code: Option<u16>,
    /// Holds what the scheduler would say on it.
    pub(crate) reason: Option<String>,
    /// Holds what the start rests on.
    pub(crate) basis: Option<String>,
}

/// Says where a pod goes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Placed {
    pub(crate) pod: String,
    pub(crate) node: Option<String>,
    /// The shared GPUs that it gets: the group's name, or `new` where one is opened for it.
    pub(crate) devices: Vec<String>,
    pub(crate) gpus: String,
}

/// Work that fares otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shift {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) queue: String,
    pub(crate) before: Start,
    pub(crate) after: Start,
    pub(crate) nodes: Vec<String>,
}

/// Work whose pods have to leave.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Victim {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) queue: String,
    /// The pods that leave.
    pub(crate) pods: Vec<String>,
    /// The nodes that they leave.
    pub(crate) nodes: Vec<String>,
    /// GPUs that they held.
    pub(crate) gpus: String,
    /// `reclaim`, `preempt`, `consolidation`, `stale` or `drain`.
    pub(crate) action: &'static str,
    /// For whom.
    pub(crate) for_workload: Option<String>,
    /// Says how long it had run, where that is known.
    pub(crate) ran_seconds: Option<i64>,
    /// Holds what becomes of it: `restarts`, `shrinks`, `waits` or `gone`.
    pub(crate) then: &'static str,
    /// Says where it runs then.
    pub(crate) on: Vec<String>,
}

/// GPUs of a queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "a fair share is called so")]
pub(crate) struct Share {
    pub(crate) queue: String,
    pub(crate) is_leaf: bool,
    pub(crate) quota: [String; 2],
    pub(crate) fair_share: [String; 2],
    pub(crate) allocated: [String; 2],
}
