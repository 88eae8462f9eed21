//! What a snapshot holds and what would be decided next, as data.

use kai_engine::{Change, Limit, Plan, PodId, QueueId, QueueLane, Stage};
use kai_scheduler::message;
use kai_scheduler::names::{Names, Number};
use kai_scheduler::snapshot::Snapshot;
use serde_json::{Map, Value, json};

use crate::cluster::gpu;

/// The report of a snapshot; it decides once, so that the snapshot is as it would be after a cycle.
pub(super) fn report(file: &str, snapshot: &mut Snapshot) -> Value {
    let pods = pods(snapshot);
    let plan = snapshot.plan();
    let taken = jiff::Timestamp::from_millisecond(snapshot.taken.0).unwrap_or_default();
    json!({
        "file": file,
        "taken": taken.to_string(),
        "isDated": snapshot.is_dated,
        "serverVersion": snapshot.server_version,
        "schedulerName": snapshot.args.scheduler_name,
        "nodePool": snapshot.ingest.context.rules.pool(),
        "counts": snapshot.counts,
        "leftOut": snapshot.left_out,
        "withoutEffect": snapshot.settings.problems,
        "pods": pods,
        "queues": queues(snapshot),
        "plan": decided(snapshot, &plan),
    })
}

/// How many pods stand where, before anything is decided.
fn pods(snapshot: &Snapshot) -> Value {
    let names = &snapshot.ingest.context.names;
    let mut counts: Map<String, Value> =
        ["pending", "gated", "nominated", "placed", "leaving", "ended"]
            .into_iter()
            .map(|stage| (stage.to_owned(), json!(0)))
            .collect();
    for (number, _) in names.pods.iter().filter(|(_, pod)| pod.presence.is_there) {
        let stage = match snapshot.cluster.stage(PodId::new(number)) {
            Stage::Pending => "pending",
            Stage::Gated => "gated",
            Stage::Nominated => "nominated",
            Stage::Binding | Stage::Placed => "placed",
            Stage::Leaving => "leaving",
            Stage::Ended => "ended",
        };
        let count = counts.get(stage).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(stage.to_owned(), json!(count + 1));
    }
    counts.into()
}

/// GPUs of each queue, in the order of their names.
fn queues(snapshot: &Snapshot) -> Value {
    let names = &snapshot.ingest.context.names;
    let mut queues: Vec<(String, Value)> = names
        .queues
        .iter()
        .filter(|(_, queue)| queue.presence.is_there)
        .map(|(number, queue)| {
            let state = snapshot.cluster.queue_state(QueueId::new(number));
            let name = names.queues.key(number).to_string();
            let parent = queue.parent.map(|parent| names.queues.key(parent).to_string());
            let gpus = json!({
                "quota": limit(state.quota[QueueLane::Gpu]),
                "limit": limit(state.limit[QueueLane::Gpu]),
                "fairShare": devices(state.fair_share[QueueLane::Gpu]),
                "allocated": devices(state.allocated[QueueLane::Gpu]),
                "requested": devices(state.requested[QueueLane::Gpu]),
            });
            (name.clone(), json!({ "name": name, "parent": parent, "gpu": gpus }))
        })
        .collect();
    queues.sort_by(|a, b| a.0.cmp(&b.0));
    queues.into_iter().map(|(_, queue)| queue).collect()
}

/// Devices as text; -1 where there is no limit, as in the API.
fn limit(limit: Limit) -> String {
    limit.amount().map_or_else(|| "-1".to_owned(), devices)
}

fn devices(milli: i64) -> String {
    gpu::devices(u64::try_from(milli).unwrap_or(0))
}

/// Who is bound, waits for a place that is promised, is evicted; and why others wait.
fn decided(snapshot: &Snapshot, plan: &Plan) -> Value {
    let names = &snapshot.ingest.context.names;
    let (mut bind, mut nominate, mut evict) = (Vec::new(), Vec::new(), Vec::new());
    for change in &plan.changes {
        match change {
            Change::Place { pod, node, .. } => {
                bind.push(place(pod.number(), node.number(), names));
            }
            Change::Nominate { pod, node, .. } => {
                nominate.push(place(pod.number(), node.number(), names));
            }
            Change::Evict { pod, node, reason } => {
                let mut row = place(pod.number(), node.number(), names);
                let known = &names.pods[pod.number()];
                let pod = format!("{}/{}", known.namespace, known.name);
                row["message"] = json!(message::eviction(reason, &pod, names));
                evict.push(row);
            }
        }
    }
    json!({ "bind": bind, "nominate": nominate, "evict": evict, "wait": waiting(snapshot, plan) })
}

fn place(pod: u32, node: u32, names: &Names) -> Value {
    let row = &names.pods[pod];
    json!({
        "namespace": row.namespace,
        "pod": row.name,
        "podGroup": row.group.map(|group| names.group_name(group).1),
        "node": **names.nodes.key(node),
    })
}

/// `PodGroups` that wait, each with what the scheduler would say on it.
fn waiting(snapshot: &Snapshot, plan: &Plan) -> Vec<Value> {
    let names = &snapshot.ingest.context.names;
    let mut waits: Vec<(String, Value)> = Vec::new();
    for verdict in &plan.verdicts {
        let group = verdict.group.number();
        // What is said last of a group is what holds at the end of the cycle.
        let Some(why) = snapshot.cluster.verdict(verdict.group).filter(|why| **why == verdict.why)
        else {
            continue;
        };
        let facts = snapshot.cluster.group(verdict.group);
        let waiting = message::Waiting { group, facts, names };
        let message = match why {
            kai_engine::Why::NotReady(unready) => message::not_ready(unready, names),
            other => match message::told(other, waiting) {
                Some(told) => told.text(),
                None => continue,
            },
        };
        let (namespace, name) = names.group_name(group);
        let queue = names.queue_of_group(group);
        let row =
            json!({ "namespace": namespace, "podGroup": name, "queue": queue, "message": message });
        waits.push((format!("{namespace}/{name}"), row));
    }
    waits.sort_by(|a, b| a.0.cmp(&b.0));
    waits.dedup_by(|a, b| a.0 == b.0);
    waits.into_iter().map(|(_, row)| row).collect()
}
