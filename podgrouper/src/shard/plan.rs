//! Plans what a shard needs, from what there is: a function without I/O.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kai_api::names::{DEFAULT_SHARD, component, label};
use kai_api::shard::PLACEMENT_STRATEGIES;
use serde_json::{Map, Value, json};

use super::Write;
use super::args::{Installed, arguments};
use super::conditions::{Standing, conditions};
use super::variable::carry_over;
use crate::object::Object;

/// Labels by which schedulers tell their work.
#[derive(Debug, Clone)]
pub(crate) struct Pools {
    /// Key of the node-pool label.
    pub(crate) node_pool_label: String,
    /// Key of the queue label.
    pub(crate) queue_label: String,
}

/// The cluster as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// All shards by name.
    pub(crate) shards: &'a BTreeMap<String, Arc<Object>>,
    /// All Deployments of the system's namespace by name.
    pub(crate) deployments: &'a BTreeMap<String, Arc<Object>>,
    /// The shard's Service.
    pub(crate) service: Option<&'a Object>,
    /// The Service of the default shard.
    pub(crate) service_pattern: Option<&'a Object>,
    /// The schedulers' name.
    pub(crate) scheduler: &'a str,
    /// Labels of node pools and queues.
    pub(crate) pools: &'a Pools,
    /// Flags of every scheduler that the Config asks for; those of a shard win.
    pub(crate) settings: &'a BTreeMap<String, String>,
    /// The time, for conditions.
    pub(crate) now: Timestamp,
}

/// Writes for a shard.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    /// Its Deployment and its Service, where they are not as wanted.
    pub(crate) writes: Vec<Write>,
    /// The conditions of its status, where they are not as wanted.
    pub(crate) conditions: Option<Value>,
}

/// Fields of a shard that no part reads; what of the others has no effect the scheduler logs.
const IDLE: [&str; 1] = ["scenarioSearchBudgets"];

/// Plans the writes that bring a shard's scheduler and status to what they should be. Pure; a second plan of what the
/// first made is empty.
pub(crate) fn plan(shard: &Object, view: &View<'_>) -> Plan {
    let name = format!("{}-{}", view.scheduler, shard.name());
    let pattern_name = format!("{}-{DEFAULT_SHARD}", view.scheduler);
    let mut standing = Standing {
        subject: "the scheduler is",
        refused: doubled(shard, view),
        idle: idle(shard),
        ..Standing::default()
    };
    let mut writes = Vec::new();
    match view.deployments.get(&pattern_name) {
        None => {
            standing.missing = Some(format!(
                "Deployment {pattern_name}, from which those of all shards are made, does not exist"
            ));
        }
        Some(pattern) if standing.refused.is_none() => {
            let stored = view.deployments.get(&name).map(AsRef::as_ref);
            let (mut wanted, unknown) = deployment(shard, &name, pattern, view);
            standing.idle.extend(unknown.iter().map(|flag| format!("spec.args.{flag}")));
            let unset = carry_over(shard, stored, pattern, view.deployments, &mut wanted);
            standing.idle.extend(unset);
            standing.is_available = stored.is_some_and(is_available);
            writes.extend(write(stored, wanted));
            if let Some(pattern) = view.service_pattern.filter(|_| shard.name() != DEFAULT_SHARD) {
                writes.extend(write(view.service, service(shard, &name, pattern)));
            }
        }
        Some(_) => {}
    }
    Plan { writes, conditions: conditions(shard, &standing, view.now) }
}

fn pool(shard: &Object) -> &str {
    shard.value()["spec"]["partitionLabelValue"].as_str().unwrap_or_default()
}

/// Of several shards of one node pool only the oldest gets a scheduler.
fn doubled(shard: &Object, view: &View<'_>) -> Option<String> {
    let age = |shard: &Object| {
        let created = shard.value()["metadata"]["creationTimestamp"].as_str().unwrap_or_default();
        // The default shard has a scheduler in any case.
        (shard.name() != DEFAULT_SHARD, created.to_owned(), shard.name().to_owned())
    };
    let older = view
        .shards
        .values()
        .filter(|other| pool(other) == pool(shard) && age(other) < age(shard))
        .min_by_key(|other| age(other))?;
    Some(format!("shard {} serves the node pool {:?} already", older.name(), pool(shard)))
}

fn idle(shard: &Object) -> Vec<String> {
    let spec = &shard.value()["spec"];
    let strategies = [("gpu", "nodes are packed, shared GPUs spread"), ("cpu", "binpack is used")];
    let mistyped = strategies.into_iter().filter_map(|(key, instead)| {
        let strategy = spec["placementStrategy"][key].as_str()?;
        let known = strategy.is_empty() || PLACEMENT_STRATEGIES.contains(&strategy);
        (!known).then(|| {
            format!(
                "spec.placementStrategy.{key} ({strategy:?} is none of {}: {instead})",
                PLACEMENT_STRATEGIES.join(", ")
            )
        })
    });
    let idle = IDLE.iter().filter(|key| !spec[**key].is_null()).map(|key| format!("spec.{key}"));
    idle.chain(mistyped).collect()
}

pub(super) fn is_available(deployment: &Object) -> bool {
    let value = deployment.value();
    let wanted = value["spec"]["replicas"].as_i64().unwrap_or(1);
    value["status"]["availableReplicas"].as_i64().unwrap_or(0) >= wanted.max(1)
        && value["status"]["observedGeneration"] == value["metadata"]["generation"]
}

fn deployment(
    shard: &Object,
    name: &str,
    pattern: &Object,
    view: &View<'_>,
) -> (Value, Vec<String>) {
    let of_shard: BTreeMap<String, String> =
        serde_json::from_value(shard.value()["spec"]["args"].clone()).unwrap_or_default();
    let mut own = view.settings.clone();
    own.extend(of_shard);
    let mut spec = pattern.value()["spec"].clone();
    let installed = Installed::of(pattern);
    if shard.name() == DEFAULT_SHARD {
        let is_as_installed = own.is_empty() && pool(shard).is_empty();
        let (words, unknown) = if is_as_installed {
            (installed.words.clone(), Vec::new())
        } else {
            arguments(&installed.words, view.pools, pool(shard), &own)
        };
        spec["template"]["spec"]["containers"][0]["args"] = json!(words);
        let mut value = pattern.value().clone();
        value["metadata"]["annotations"][Installed::ANNOTATION] = installed.note(&words);
        value["spec"] = spec;
        return (value, unknown);
    }
    let (words, unknown) = arguments(&installed.words, view.pools, pool(shard), &own);
    spec["template"]["spec"]["containers"][0]["args"] = json!(words);
    spec["selector"] = json!({"matchLabels": {label::APP: name}});
    spec["template"]["metadata"]["labels"][label::APP] = json!(name);
    spec["template"]["spec"]["containers"][0]["name"] = json!(name);
    let annotations = &mut spec["template"]["metadata"]["annotations"];
    annotations[kai_api::names::annotation::KUBECTL_DEFAULT_CONTAINER] = json!(name);
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec});
    (owned(deployment, shard, name, pattern), unknown)
}

fn service(shard: &Object, name: &str, pattern: &Object) -> Value {
    let ports = pattern.value()["spec"]["ports"].clone();
    let spec = json!({"clusterIP": "None", "selector": {label::APP: name}, "ports": ports});
    let service = json!({"apiVersion": "v1", "kind": "Service", "spec": spec});
    let mut service = owned(service, shard, name, pattern);
    let annotations: Map<String, Value> = pattern
        .annotations()
        .filter(|(key, _)| key.starts_with("prometheus.io/"))
        .map(|(key, text)| (key.to_owned(), json!(text)))
        .collect();
    service["metadata"]["annotations"] = Value::Object(annotations);
    service
}

/// Gives an object to a shard, in the pattern's namespace and with its labels.
fn owned(mut object: Value, shard: &Object, name: &str, pattern: &Object) -> Value {
    let mut labels: BTreeMap<&str, &str> =
        pattern.labels().filter(|(key, _)| key.starts_with("app.kubernetes.io/")).collect();
    labels.insert(label::APP, name);
    labels.insert(label::MANAGED_BY, component::PODGROUPER);
    object["metadata"] = json!({
        "name": name,
        "namespace": pattern.namespace(),
        "labels": labels,
        "ownerReferences": [{"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard",
            "name": shard.name(), "uid": shard.uid(), "controller": true}],
    });
    object
}

/// The write that brings a stored object to what is wanted. Fields that are not wanted stay.
fn write(stored: Option<&Object>, mut wanted: Value) -> Option<Write> {
    let Some(stored) = stored else { return Some(Write::Create(wanted)) };
    if covers(stored.value(), &wanted) {
        return None;
    }
    let mut whole = stored.value().clone();
    if let Value::Object(whole) = &mut whole {
        whole.remove("status");
    }
    for table in ["labels", "annotations"] {
        let entries = wanted["metadata"][table].as_object_mut().map(std::mem::take);
        for (key, value) in entries.into_iter().flatten() {
            if value.is_null() {
                if let Some(entries) = whole["metadata"][table].as_object_mut() {
                    entries.remove(&key);
                }
            } else {
                whole["metadata"][table][key] = value;
            }
        }
    }
    if !wanted["metadata"]["ownerReferences"].is_null() {
        whole["metadata"]["ownerReferences"] = wanted["metadata"]["ownerReferences"].take();
    }
    overlay(&mut whole["spec"], wanted["spec"].take());
    Some(Write::Replace(whole))
}

/// Tells whether everything that is wanted is there.
fn covers(stored: &Value, wanted: &Value) -> bool {
    match (stored, wanted) {
        (Value::Object(stored), Value::Object(wanted)) => wanted.iter().all(|(key, wanted)| {
            matches!(key.as_str(), "status" | "resourceVersion")
                || covers(stored.get(key).unwrap_or(&Value::Null), wanted)
        }),
        // What is wanted absent.
        (Value::Null, Value::Object(wanted)) => {
            wanted.values().all(|wanted| covers(&Value::Null, wanted))
        }
        (Value::Array(stored), Value::Array(wanted)) => {
            stored.len() == wanted.len()
                && stored.iter().zip(wanted).all(|(stored, wanted)| covers(stored, wanted))
        }
        _ => stored == wanted,
    }
}

/// Puts what is wanted over what is stored; lists are replaced.
fn overlay(stored: &mut Value, wanted: Value) {
    match (stored, wanted) {
        (Value::Object(stored), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                overlay(stored.entry(key).or_insert(Value::Null), wanted);
            }
        }
        (stored, wanted) => *stored = wanted,
    }
}

#[cfg(test)]
mod tests;
