//! Describes what a snapshot holds and what would be decided next, as data.

use std::collections::BTreeMap;

use kai_engine::{Change, Limit, Plan, PodId, QueueId, QueueLane, Stage};
use kai_scheduler::message;
use kai_scheduler::names::{Names, Number};
use kai_scheduler::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cluster::gpu;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};

/// Holds what a snapshot holds, and what would be decided next.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Content {
    /// The file.
    file: String,
    /// When it was taken, or the newest moment that an object names.
    taken: String,
    /// Tells whether the file says when it was taken.
    is_dated: bool,
    /// The version of the API server.
    server_version: Option<String>,
    /// The scheduler whose view it is.
    scheduler_name: String,
    /// Its node pool.
    node_pool: String,
    /// Number of objects of each kind.
    counts: BTreeMap<&'static str, usize>,
    /// Holds what whoever wrote it could not read.
    left_out: Vec<String>,
    /// Holds what of its settings has no effect here.
    without_effect: Vec<String>,
    /// Number of pods by where they stand, before anything is decided.
    pods: BTreeMap<&'static str, usize>,
    /// GPUs of queues after the decision.
    queues: Vec<Queue>,
    /// The decision, pod by pod.
    plan: Decided,
    /// The decision, a row for each `PodGroup`.
    items: Vec<Item>,
}

/// A queue.
#[derive(Debug, Serialize, JsonSchema)]
struct Queue {
    name: String,
    parent: Option<String>,
    gpu: Gpus,
}

/// GPUs of a queue, as text; `-1` is no limit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Gpus {
    quota: String,
    limit: String,
    fair_share: String,
    allocated: String,
    requested: String,
}

/// Holds what would be decided next.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Decided {
    /// Pods that get a node.
    bind: Vec<Placed>,
    /// Pods for which room is kept until others have left.
    nominate: Vec<Placed>,
    /// Pods that have to leave.
    evict: Vec<Placed>,
    /// Work that waits.
    wait: Vec<Waiting>,
}

/// A pod and a node.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Placed {
    namespace: String,
    pod: String,
    pod_group: Option<String>,
    node: String,
    /// Says why it has to leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// A `PodGroup` that waits.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    namespace: String,
    pod_group: String,
    queue: String,
    /// Holds what the scheduler would say on it.
    message: String,
}

/// Holds what would be decided of a `PodGroup`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// `bind`, `nominate`, `evict` or `wait`.
    decision: &'static str,
    namespace: String,
    /// The `PodGroup`, or the pod that is in none.
    pod_group: String,
    /// Its queue, where it waits.
    queue: Option<String>,
    /// Number of pods that are bound, promised a node, or evicted.
    pods: usize,
    /// The nodes, each with how many of these pods where they are several.
    nodes: Vec<String>,
    message: Option<String>,
}

const COLUMNS: &[Column] = &[
    Column::new("DECISION"),
    Column::new("NAMESPACE"),
    Column::new("PODGROUP"),
    Column::new("QUEUE"),
    Column::new("PODS").right(),
    Column::new("NODES"),
    Column::new("MESSAGE"),
];

/// The report of a snapshot; it decides once, so that the snapshot is as it would be after a cycle.
pub(super) fn report(file: &str, snapshot: &mut Snapshot) -> Report {
    let pods = pods(snapshot);
    let plan = snapshot.plan();
    let taken = jiff::Timestamp::from_millisecond(snapshot.taken.0).unwrap_or_default();
    let plan = decided(snapshot, &plan);
    let items = items(&plan);
    let rows = items.iter().map(row).collect();
    let content = Content {
        file: file.to_owned(),
        taken: taken.to_string(),
        is_dated: snapshot.is_dated,
        server_version: snapshot.server_version.clone(),
        scheduler_name: snapshot.args.scheduler_name.clone(),
        node_pool: snapshot.ingest.context.rules.pool().to_owned(),
        counts: snapshot.counts.clone(),
        left_out: snapshot.left_out.clone(),
        without_effect: snapshot.settings.problems.clone(),
        pods,
        queues: queues(snapshot),
        plan,
        items,
    };
    let body = Body::Table(Table { columns: COLUMNS.to_vec(), rows });
    Report::new("SnapshotContent", json!(content), body)
}

fn row(item: &Item) -> Row {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let message = or_none(&item.message).lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let nodes = if item.nodes.is_empty() { "-".to_owned() } else { item.nodes.join(" ") };
    let cells = vec![
        item.decision.into(),
        item.namespace.as_str().into(),
        item.pod_group.as_str().into(),
        or_none(&item.queue).into(),
        Cell::ranked(item.pods.to_string(), i64::try_from(item.pods).ok()),
        nodes.into(),
        message.into(),
    ];
    Row::new(item.pod_group.clone(), cells)
}

/// A row for each decision and `PodGroup`.
fn items(plan: &Decided) -> Vec<Item> {
    let mut items = Vec::new();
    for (decision, pods) in
        [("bind", &plan.bind), ("nominate", &plan.nominate), ("evict", &plan.evict)]
    {
        let mut groups: BTreeMap<(&str, &str), Vec<&Placed>> = BTreeMap::new();
        for placed in pods {
            let group = placed.pod_group.as_deref().unwrap_or(&placed.pod);
            groups.entry((&placed.namespace, group)).or_default().push(placed);
        }
        items.extend(groups.into_iter().map(|((namespace, group), pods)| Item {
            decision,
            namespace: namespace.to_owned(),
            pod_group: group.to_owned(),
            queue: None,
            pods: pods.len(),
            nodes: nodes(&pods),
            message: pods.iter().find_map(|placed| placed.message.clone()),
        }));
    }
    items.extend(plan.wait.iter().cloned().map(|wait| Item {
        decision: "wait",
        namespace: wait.namespace,
        pod_group: wait.pod_group,
        queue: Some(wait.queue),
        pods: 0,
        nodes: Vec::new(),
        message: Some(wait.message),
    }));
    items
}

fn nodes(pods: &[&Placed]) -> Vec<String> {
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    for placed in pods {
        *nodes.entry(&placed.node).or_default() += 1;
    }
    let shown = nodes.into_iter().map(|(node, count)| match count {
        1 => node.to_owned(),
        count => format!("{node}×{count}"),
    });
    shown.collect()
}

/// Says how many pods stand where, before anything is decided.
fn pods(snapshot: &Snapshot) -> BTreeMap<&'static str, usize> {
    let names = &snapshot.ingest.context.names;
    let stages = ["pending", "gated", "nominated", "placed", "leaving", "ended"];
    let mut counts: BTreeMap<&'static str, usize> = stages.map(|stage| (stage, 0)).into();
    for (number, _) in names.pods.iter().filter(|(_, pod)| pod.presence.is_there) {
        let stage = match snapshot.cluster.stage(PodId::new(number)) {
            Stage::Pending => "pending",
            Stage::Gated => "gated",
            Stage::Nominated => "nominated",
            Stage::Binding | Stage::Placed => "placed",
            Stage::Leaving => "leaving",
            Stage::Ended => "ended",
        };
        *counts.entry(stage).or_default() += 1;
    }
    counts
}

/// GPUs of each queue, in the order of their names.
fn queues(snapshot: &Snapshot) -> Vec<Queue> {
    let names = &snapshot.ingest.context.names;
    let there = names.queues.iter().filter(|(_, queue)| queue.presence.is_there);
    let mut queues: Vec<Queue> = there
        .map(|(number, queue)| {
            let state = snapshot.cluster.queue_state(QueueId::new(number));
            Queue {
                name: names.queues.key(number).to_string(),
                parent: queue.parent.map(|parent| names.queues.key(parent).to_string()),
                gpu: Gpus {
                    quota: limit(state.quota[QueueLane::Gpu]),
                    limit: limit(state.limit[QueueLane::Gpu]),
                    fair_share: devices(state.fair_share[QueueLane::Gpu]),
                    allocated: devices(state.allocated[QueueLane::Gpu]),
                    requested: devices(state.requested[QueueLane::Gpu]),
                },
            }
        })
        .collect();
    queues.sort_by(|one, two| one.name.cmp(&two.name));
    queues
}

/// Devices as text; -1 where there is no limit, as in the API.
fn limit(limit: Limit) -> String {
    limit.amount().map_or_else(|| "-1".to_owned(), devices)
}

fn devices(milli: i64) -> String {
    gpu::devices(u64::try_from(milli).unwrap_or(0))
}

/// Returns who is bound, waits for a place that is promised, is evicted; and why others wait.
fn decided(snapshot: &Snapshot, plan: &Plan) -> Decided {
    let names = &snapshot.ingest.context.names;
    let mut decided = Decided::default();
    for change in &plan.changes {
        match change {
            Change::Place { pod, node, .. } => {
                decided.bind.push(place(pod.number(), node.number(), names));
            }
            Change::Nominate { pod, node, .. } => {
                decided.nominate.push(place(pod.number(), node.number(), names));
            }
            Change::Evict { pod, node, reason } => {
                let mut placed = place(pod.number(), node.number(), names);
                let pod = format!("{}/{}", placed.namespace, placed.pod);
                placed.message = Some(message::eviction(reason, &pod, names));
                decided.evict.push(placed);
            }
        }
    }
    decided.wait = waiting(snapshot, plan);
    decided
}

fn place(pod: u32, node: u32, names: &Names) -> Placed {
    let row = &names.pods[pod];
    Placed {
        namespace: row.namespace.to_string(),
        pod: row.name.to_string(),
        pod_group: row.group.map(|group| names.group_name(group).1.to_owned()),
        node: names.nodes.key(node).to_string(),
        message: None,
    }
}

/// `PodGroups` that wait, each with what the scheduler would say on it.
fn waiting(snapshot: &Snapshot, plan: &Plan) -> Vec<Waiting> {
    let names = &snapshot.ingest.context.names;
    let mut waits: Vec<Waiting> = Vec::new();
    for verdict in &plan.verdicts {
        let group = verdict.group.number();
        // What is said last of a group is what holds at the end of the cycle.
        let Some(why) = snapshot.cluster.verdict(verdict.group).filter(|why| **why == verdict.why)
        else {
            continue;
        };
        let cluster = &snapshot.cluster;
        let proofs: Vec<_> = cluster.proofs(verdict.group).collect();
        let asked = message::Asked { group, why, proofs: &proofs, cluster, names };
        let Some(message) = message::reason(asked).map(|reason| reason.sentence) else { continue };
        let (namespace, name) = names.group_name(group);
        let queue = names.queue_of_group(group).to_owned();
        let (namespace, pod_group) = (namespace.to_owned(), name.to_owned());
        waits.push(Waiting { namespace, pod_group, queue, message });
    }
    let key = |one: &Waiting| (one.namespace.clone(), one.pod_group.clone());
    waits.sort_by_key(key);
    waits.dedup_by_key(|one| key(one));
    waits
}
