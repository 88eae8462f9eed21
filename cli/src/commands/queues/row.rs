//! A queue as data: what `-o json` prints of it. Fields are only ever added.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Told, share};
use crate::cluster::gpu::Total;
use crate::cluster::json::text;
use crate::cluster::queue::Queues;

/// A queue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    /// Its name.
    name: String,
    /// The names from the root to it, such as `research/team-a`.
    path: String,
    /// Queue above it.
    parent: Option<String>,
    /// Queues below it.
    children: Vec<String>,
    /// Queues with a higher number come first.
    priority: Option<i64>,
    /// Name for people.
    display_name: Option<String>,
    /// Says how long work runs before others of the same queue may take its place.
    preempt_min_runtime: Option<String>,
    /// Says how long work runs before other queues may take its place.
    reclaim_min_runtime: Option<String>,
    /// Bounds of GPUs, in devices.
    gpu: DeviceBounds,
    /// Bounds of CPU, in thousandths of a core.
    cpu: Bounds,
    /// Bounds of memory, in megabytes.
    memory: Bounds,
    /// Holds what it is entitled to now; absent where nodes and pods may not be read.
    fair_share: Option<Gpus>,
    /// GPUs of pods that have a node; absent where pods may not be read.
    used: Option<Gpus>,
    /// GPUs of pods that wait for one; absent where pods may not be read.
    pending: Option<Gpus>,
    /// Tells whether it is held, or a queue above it: nothing new starts.
    held: bool,
    /// `PodGroup`s with a pod on a node; absent where pods may not be read.
    running: Option<usize>,
}

/// Bounds of one resource, as text: a number, or `unlimited`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Bounds {
    /// Holds what it is owed.
    quota: String,
    /// Holds what it may use at most.
    limit: String,
    /// Its part of what is left over, against its siblings.
    over_quota_weight: String,
}

/// Bounds of GPUs, as text and as numbers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DeviceBounds {
    #[serde(flatten)]
    text: Bounds,
    /// The quota in thousandths of devices; null where it is unlimited.
    quota_milli: Option<u64>,
    /// The limit in thousandths of devices; null where there is none.
    limit_milli: Option<u64>,
}

/// GPUs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Gpus {
    /// As text, such as `8`, `0.5` or `1+8Gi`.
    gpu: String,
    /// In thousandths of devices.
    gpu_milli: i64,
}

impl Gpus {
    fn of(total: &Total) -> Self {
        Self { gpu: total.to_string(), gpu_milli: i64::try_from(total.milli).unwrap_or(i64::MAX) }
    }
}

fn device_bounds(resource: &crate::cluster::queue::Resource) -> DeviceBounds {
    DeviceBounds {
        text: bounds(resource),
        quota_milli: resource.quota.milli(),
        limit_milli: resource.limit.milli(),
    }
}

fn bounds(resource: &crate::cluster::queue::Resource) -> Bounds {
    Bounds {
        quota: resource.quota.words(),
        limit: resource.limit.words(),
        over_quota_weight: resource.weight.words(),
    }
}

/// The data of some queues, in their order.
pub(super) fn list(queues: &Queues, names: &[&str], told: &Told) -> Value {
    let items: Vec<Row> = names.iter().map(|name| row(queues, name, told)).collect();
    json!({ "items": items })
}

/// A queue of which no use is known; `None` when it does not exist.
pub(crate) fn alone(queues: &Queues, name: &str) -> Option<Row> {
    let told = Told::default();
    queues.0.contains_key(name).then(|| row(queues, name, &told))
}

fn row(queues: &Queues, name: &str, told: &Told) -> Row {
    let queue = &queues.0[name];
    let used = told.uses.as_ref().map(|uses| uses.get(name).cloned().unwrap_or_default());
    let share = told.shares.as_ref().and_then(|shares| shares.get(name));
    let field = |name: &str| {
        let text = text(&queue.object["spec"][name]);
        (!text.is_empty()).then(|| text.to_owned())
    };
    Row {
        name: name.to_owned(),
        path: queues.path(name),
        parent: queue.parent.clone(),
        children: queue.children.clone(),
        priority: queue.priority,
        display_name: field("displayName"),
        preempt_min_runtime: field("preemptMinRuntime"),
        reclaim_min_runtime: field("reclaimMinRuntime"),
        gpu: device_bounds(&queue.gpu),
        cpu: bounds(&queue.cpu),
        memory: bounds(&queue.memory),
        fair_share: share.map(|milli| Gpus { gpu: share::show(*milli), gpu_milli: *milli }),
        used: used.as_ref().map(|used| Gpus::of(&used.used)),
        pending: used.as_ref().map(|used| Gpus::of(&used.pending)),
        held: queues.held(name).is_some(),
        running: used.map(|used| used.running),
    }
}
