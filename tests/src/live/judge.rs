//! Expectations of a scenario, compared with what the API server holds.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use kai_sandbox::nodes::object::RACK_LABEL;
use kube::{Client, ResourceExt, api::DynamicObject};
use serde::Deserialize;
use serde_json::Value;

use super::{TENANT, devices, object, told_micro};

/// All of it has to be true at one moment.
#[derive(Clone, Deserialize, Default, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Expect {
    /// Number of pods of a gang that are on a node and not leaving.
    bound: BTreeMap<String, usize>,
    /// Number of pods of the tenant that are on a node and not leaving; no other of them waits.
    tenant_bound: Option<usize>,
    /// Most GPUs that pods of the tenant hold by what they asked for when they were bound; the status of the queue of the
    /// tenant's name says exactly what they hold.
    pub(super) tenant_holds_at_most: Option<u32>,
    /// GPUs that queues hold, as their statuses say.
    queue_gpus: BTreeMap<String, u32>,
    /// Number of events on objects of the tenant, each counted as often as it was said.
    event_count: Option<i64>,
    /// On how many nodes they are.
    nodes: BTreeMap<String, usize>,
    /// In how many racks they are.
    racks: BTreeMap<String, usize>,
    /// On which node a pod is; empty: on none.
    node: BTreeMap<String, String>,
    /// `Kind/name` of what must not be there.
    gone: Vec<String>,
    /// Part of the message of a group's last scheduling condition; empty: it has none.
    condition: BTreeMap<String, String>,
    /// The reasons of a group's last scheduling condition, sorted, with a space between; and that there is no other one.
    reasons: BTreeMap<String, String>,
    /// Part of `TYPE=STATUS REASON: MESSAGE` of some condition of a pod.
    pod_condition: BTreeMap<String, String>,
    /// Objects by `Kind/name` that nobody writes while the rest stays true.
    pub(super) unchanged: Vec<String>,
    /// Events that were said.
    events: Vec<Said>,
    /// Events that were not said.
    no_events: Vec<Said>,
    /// Annotations that an object has, by `Kind/name`: part of the value of each key; `-` means none.
    annotations: BTreeMap<String, BTreeMap<String, String>>,
    /// Labels that an object has.
    labels: BTreeMap<String, BTreeMap<String, String>>,
    /// Devices of the claims that are reserved for a pod, in the order of their names.
    claims: BTreeMap<String, String>,
    /// Number of devices that a pod's container is told: those that the reservation pods of its groups hold.
    pub(super) devices: BTreeMap<String, usize>,
    /// The share of each device that it is told.
    pub(super) shares: BTreeMap<String, String>,
    /// Pods of each list are told the same devices, and those of different lists have none in common.
    pub(super) together: Vec<Vec<String>>,
    /// Number of reservation pods.
    pub(super) reservations: Option<usize>,
    /// Words of the records about workloads, by name: `OUTCOME`, or `OUTCOME, N pods for NAME (ACTION)`.
    history: BTreeMap<String, String>,
    /// For how long it has to stay true.
    pub(super) still_seconds: u64,
}

#[derive(Clone, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Said {
    /// `Kind/name`.
    on: String,
    reason: String,
    /// Part of its message.
    says: String,
    /// The component that says it.
    #[serde(default)]
    by: Option<String>,
}

impl Expect {
    /// The part that has to be true also where a daemon died on the way: an event is lost with it or said twice, and what
    /// it wrote is written again.
    pub(super) fn without_passing(&self) -> Self {
        Self {
            events: Vec::new(),
            no_events: Vec::new(),
            event_count: None,
            unchanged: Vec::new(),
            history: BTreeMap::new(),
            ..self.clone()
        }
    }
}

/// Lists what is not true; empty where all is.
pub(super) async fn misses(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    let pods = object::list(client, "Pod").await?;
    let mut misses = placed(expect, &pods, client).await?;
    for (name, node) in &expect.node {
        let pod = pods.iter().find(|pod| pod.name_any() == *name);
        let seen = pod.map_or("(no such pod)", node_of);
        if seen != node {
            misses.push(format!("pod {name}: on node {seen:?}, not {node:?}"));
        }
    }
    for name in &expect.gone {
        let (kind, name) = name.split_once('/').unwrap_or(("Pod", name));
        if object::find(client, kind, name).await?.is_some() {
            misses.push(format!("{kind}/{name} is there"));
        }
    }
    for (name, part) in &expect.pod_condition {
        let pod = pods.iter().find(|pod| pod.name_any() == *name);
        let seen = pod.map_or_else(Vec::new, conditions);
        if !seen.iter().any(|text| text.contains(part)) {
            misses.push(format!("pod {name}: no condition {part:?} in {seen:#?}"));
        }
    }
    if let Some(wanted) = expect.tenant_bound {
        let ours = |pod: &&DynamicObject| {
            pod.metadata.namespace.as_deref() == Some(TENANT)
                && pod.metadata.deletion_timestamp.is_none()
        };
        let (bound, waiting): (Vec<_>, Vec<_>) =
            pods.iter().filter(ours).partition(|pod| !node_of(pod).is_empty());
        if bound.len() != wanted || !waiting.is_empty() {
            let waiting: Vec<String> = waiting
                .iter()
                .map(|pod| format!("{} {:?}", pod.name_any(), conditions(pod)))
                .collect();
            misses.push(format!(
                "tenant: {} bound, not {wanted}; waiting: {waiting:#?}",
                bound.len()
            ));
        }
    }
    if let Some(wanted) = expect.event_count {
        let events = object::list_in(client, "Event", TENANT).await?;
        let said: i64 = events.iter().map(|event| event.data["count"].as_i64().unwrap_or(1)).sum();
        if said != wanted {
            misses.push(format!("tenant: {said} events, not {wanted}"));
        }
    }
    misses.extend(allocated(expect, client).await?);
    misses.extend(said(expect, client).await?);
    misses.extend(marks(expect, client).await?);
    misses.extend(claimed(expect, client).await?);
    misses.extend(devices::misses(expect, client).await?);
    misses.extend(recorded(expect, client).await?);
    Ok(misses)
}

/// The GPUs that are allocated by the status of a queue; none where it names none.
pub(super) async fn told_gpus(client: &Client, queue: &str) -> Result<Option<Value>> {
    let queue = object::find(client, "Queue", queue).await?;
    Ok(queue.map(|queue| queue.data["status"]["allocated"]["nvidia.com/gpu"].clone()))
}

/// Compares with the statuses of queues.
async fn allocated(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    for (queue, wanted) in &expect.queue_gpus {
        let told = told_gpus(client, queue).await?;
        if told_micro(told.as_ref()) != u64::from(*wanted) * 1_000_000 {
            misses.push(format!("queue {queue}: says {told:?} GPUs, not {wanted}"));
        }
    }
    Ok(misses)
}

/// Compares with the records of all days.
async fn recorded(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    if expect.history.is_empty() {
        return Ok(Vec::new());
    }
    let records = object::list(client, "DailyRecord").await?;
    let rows = records.iter().filter_map(|record| record.data["spec"]["workloads"].as_object());
    let seen: BTreeMap<&str, String> = rows
        .flat_map(serde_json::Map::values)
        .map(|row| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let evictions = row["evictions"].as_array().into_iter().flatten();
            let evictions = evictions.map(|one| {
                let (by, action) = (text(&one["byPodGroup"]), text(&one["action"]));
                format!(", {} pods for {by} ({action})", one["pods"])
            });
            let told = text(&row["outcome"]) + &evictions.collect::<String>();
            (row["name"].as_str().unwrap_or_default(), told)
        })
        .collect();
    let miss = |(name, wanted): (&String, &String)| {
        let found = seen.get(name.as_str());
        (found != Some(wanted)).then(|| format!("history of {name}: {found:?}, not {wanted:?}"))
    };
    Ok(expect.history.iter().filter_map(miss).collect())
}

async fn claimed(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    if expect.claims.is_empty() {
        return Ok(misses);
    }
    let claims = object::list(client, "ResourceClaim").await?;
    for (pod, wanted) in &expect.claims {
        let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
        let mut devices = Vec::new();
        for claim in &claims {
            let status = &claim.data["status"];
            if list(&status["reservedFor"]).iter().any(|one| one["name"] == **pod) {
                let results = list(&status["allocation"]["devices"]["results"]);
                let device = |one: &Value| one["device"].as_str().unwrap_or_default().to_owned();
                devices.extend(results.iter().map(device));
            }
        }
        devices.sort();
        let seen = devices.join(" ");
        if seen != *wanted {
            misses.push(format!("pod {pod}: its claims hold {seen:?}, not {wanted:?}"));
        }
    }
    Ok(misses)
}

async fn placed(expect: &Expect, pods: &[DynamicObject], client: &Client) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    let labels = object::node_labels(client).await?;
    let rack = |node: &str| labels.get(node).and_then(|labels| labels.get(RACK_LABEL)).cloned();
    let of = |gang: &str| -> Vec<&DynamicObject> {
        let ours = |pod: &&DynamicObject| {
            pod.annotations().get("pod-group-name").is_some_and(|group| group == gang)
                && pod.metadata.deletion_timestamp.is_none()
                && !node_of(pod).is_empty()
        };
        pods.iter().filter(ours).collect()
    };
    let mut compare = |what: &str, gang: &str, seen: usize, wanted: usize| {
        if seen != wanted {
            misses.push(format!("{gang}: {seen} {what}, not {wanted}"));
        }
    };
    for (gang, wanted) in &expect.bound {
        compare("pods bound", gang, of(gang).len(), *wanted);
    }
    for (gang, wanted) in &expect.nodes {
        let nodes: BTreeSet<&str> = of(gang).into_iter().map(node_of).collect();
        compare("nodes used", gang, nodes.len(), *wanted);
    }
    for (gang, wanted) in &expect.racks {
        let racks: BTreeSet<_> = of(gang).into_iter().map(|pod| rack(node_of(pod))).collect();
        compare("racks used", gang, racks.len(), *wanted);
    }
    Ok(misses)
}

async fn said(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    for (group, part) in &expect.condition {
        let found = object::find(client, "PodGroup", group).await?;
        let all =
            found.map_or(Value::Null, |group| group.data["status"]["schedulingConditions"].clone());
        let last = all
            .as_array()
            .and_then(|all| all.last())
            .map(|last| last["message"].as_str().unwrap_or_default().to_owned());
        let is_met = match &last {
            None => part.is_empty(),
            Some(message) => !part.is_empty() && message.contains(part),
        };
        if !is_met {
            misses.push(format!("group {group}: condition {last:?}, not {part:?}"));
        }
    }
    for (group, wanted) in &expect.reasons {
        let found = object::find(client, "PodGroup", group).await?;
        let all =
            found.map_or(Value::Null, |group| group.data["status"]["schedulingConditions"].clone());
        let all = all.as_array().map_or(&[][..], Vec::as_slice);
        let last = all.last().and_then(|last| last["reasons"].as_array());
        let mut seen: Vec<&str> =
            last.into_iter().flatten().filter_map(|one| one["reason"].as_str()).collect();
        seen.sort_unstable();
        if all.len() != 1 || seen.join(" ") != *wanted {
            misses
                .push(format!("group {group}: reasons {seen:?} of {}, not {wanted:?}", all.len()));
        }
    }
    if expect.events.is_empty() && expect.no_events.is_empty() {
        return Ok(misses);
    }
    let events = object::list(client, "Event").await?;
    for (all, wanted) in [(&expect.events, true), (&expect.no_events, false)] {
        for said in all {
            let texts: Vec<String> = events.iter().filter_map(|event| told(event, said)).collect();
            let starts = format!("{}: ", said.reason);
            let is_there =
                texts.iter().any(|text| text.starts_with(&starts) && text.contains(&said.says));
            if is_there != wanted {
                let what = if wanted { "no" } else { "an" };
                misses.push(format!("{what} event as {said:?} in {texts:#?}"));
            }
        }
    }
    Ok(misses)
}

/// The versions of the objects that nobody is to write.
pub(super) async fn versions(expect: &Expect, client: &Client) -> Result<Vec<Option<String>>> {
    let mut versions = Vec::new();
    for name in &expect.unchanged {
        let (kind, name) = name.split_once('/').unwrap_or(("Pod", name));
        let object = object::find(client, kind, name).await?;
        versions.push(object.and_then(|object| object.resource_version()));
    }
    Ok(versions)
}

async fn marks(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    let both = [(&expect.annotations, "annotation"), (&expect.labels, "label")];
    for (wanted, what) in both {
        for (name, pairs) in wanted {
            let (kind, name) = name.split_once('/').unwrap_or(("Pod", name));
            let Some(object) = object::find(client, kind, name).await? else {
                misses.push(format!("{kind}/{name} is not there"));
                continue;
            };
            let there = if what == "label" { object.labels() } else { object.annotations() };
            for (key, part) in pairs {
                let seen = there.get(key);
                let is_met = seen.map_or(part == "-", |seen| part != "-" && seen.contains(part));
                if !is_met {
                    misses.push(format!("{kind}/{name}: {what} {key} is {seen:?}, not {part:?}"));
                }
            }
        }
    }
    Ok(misses)
}

/// The node of a pod, empty where it has none.
fn node_of(pod: &DynamicObject) -> &str {
    pod.data["spec"]["nodeName"].as_str().unwrap_or_default()
}

fn conditions(pod: &DynamicObject) -> Vec<String> {
    let text =
        |condition: &Value, key: &str| condition[key].as_str().unwrap_or_default().to_owned();
    let all = pod.data["status"]["conditions"].as_array();
    all.into_iter()
        .flatten()
        .map(|one| {
            let [kind, status, reason, message] =
                ["type", "status", "reason", "message"].map(|key| text(one, key));
            format!("{kind}={status} {reason}: {message}")
        })
        .collect()
}

/// `REASON: MESSAGE` of an event on an object, where it is said by whom it should.
fn told(event: &DynamicObject, wanted: &Said) -> Option<String> {
    let object = &event.data["involvedObject"];
    let name = format!("{}/{}", object["kind"].as_str()?, object["name"].as_str()?);
    let by = event.data["source"]["component"].as_str();
    let is_meant = name == wanted.on && (wanted.by.is_none() || by == wanted.by.as_deref());
    is_meant.then(|| {
        let text = |key: &str| event.data[key].as_str().unwrap_or_default();
        format!("{}: {}", text("reason"), text("message"))
    })
}
