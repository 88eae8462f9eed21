//! Deployment, `ReplicaSet` and `StatefulSet`, as kube-controller-manager runs them.
//!
//! Left out: the limit of the revision history, volume claim templates, partitions, progress deadlines.

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::action::{Action, View, active, fnv32a, is_true, leaving, phase, suffix};
use super::condition::{self, Wanted};
use super::template::{self, integer, label};
use super::{POD, REPLICA_SET};

/// Reconciles a Deployment: one `ReplicaSet` per template, moved over within surge and unavailability.
pub(super) fn deployment(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let wanted = integer(&spec["replicas"], 1);
    let hash = revision(&spec["template"]);
    let name = format!("{}-{hash}", view.name());
    let sets: Vec<&DynamicObject> = view.of(REPLICA_SET).collect();
    let replicas = |set: &DynamicObject| integer(&set.data["spec"]["replicas"], 0);
    let ready = |set: &DynamicObject| integer(&set.data["status"]["readyReplicas"], 0);
    let total: i64 = sets.iter().map(|set| replicas(set)).sum();
    let all_ready: i64 = sets.iter().map(|set| ready(set)).sum();
    let rolling = &spec["strategy"]["rollingUpdate"];
    let recreate = spec["strategy"]["type"] == "Recreate";
    let surge = if recreate { 0 } else { share(&rolling["maxSurge"], wanted, &Round::Up) };
    let unavailable =
        if recreate { wanted } else { share(&rolling["maxUnavailable"], wanted, &Round::Down) };
    // Neither may be zero together, else nothing would ever move.
    let unavailable = if surge == 0 { unavailable.max(1) } else { unavailable };

    let mut actions = Vec::new();
    let mut room = (wanted + surge - total).max(0);
    let mut spare = (all_ready - (wanted - unavailable)).max(0);
    for set in &sets {
        let now = replicas(set);
        let is_new = set.metadata.name.as_deref() == Some(&name);
        let target = if is_new {
            let grow = (wanted - now).clamp(0, room);
            room -= grow;
            (now + grow).min(wanted)
        } else {
            let idle = now - ready(set);
            let stop = now.min(idle + spare);
            spare -= (stop - idle).max(0);
            now - stop
        };
        if target != now {
            let name = set.metadata.name.clone().unwrap_or_default();
            actions.push(Action::Patch(REPLICA_SET, name, json!({"spec": {"replicas": target}})));
        }
    }
    let current = sets.iter().find(|set| set.metadata.name.as_deref() == Some(&name));
    let newest = sets.iter().map(|set| number(set)).max().unwrap_or(0);
    let number = match current {
        Some(set) if number(set) == newest => newest,
        Some(_) | None => newest + 1,
    };
    let numbered = json!({"metadata": {"annotations": {REVISION: number.to_string()}}});
    if current.is_none() {
        let start = if recreate && total > 0 { 0 } else { wanted.min(room) };
        let mut set = replica_set_of(view, &name, &hash, start);
        set["metadata"]["annotations"] = numbered["metadata"]["annotations"].clone();
        actions.push(Action::Create(REPLICA_SET, set));
    } else if number != newest {
        // An old template came back: its ReplicaSet is the newest again.
        actions.push(Action::Patch(REPLICA_SET, name.clone(), numbered.clone()));
    }
    if view.annotation(REVISION) != Some(&number.to_string()) {
        actions.push(Action::PatchSelf(numbered));
    }
    let updated = current.map_or(0, |set| integer(&set.data["status"]["replicas"], 0));
    actions.push(Action::Status(deployment_status(view, wanted, updated, &sets)));
    actions
}

/// Annotation in which `kubectl rollout history` and `undo` find the number of a template.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// The revision number of a `ReplicaSet`.
fn number(set: &DynamicObject) -> u64 {
    let annotations = set.metadata.annotations.as_ref();
    annotations.and_then(|all| all.get(REVISION)?.parse().ok()).unwrap_or(0)
}

enum Round {
    Up,
    Down,
}

/// A count or a percentage of `whole`; 25% when absent.
fn share(value: &Value, whole: i64, round: &Round) -> i64 {
    if let Some(count) = value.as_i64() {
        return count;
    }
    let percent: i64 =
        value.as_str().and_then(|text| text.strip_suffix('%')?.parse().ok()).unwrap_or(25);
    match round {
        Round::Up => (whole * percent + 99) / 100,
        Round::Down => whole * percent / 100,
    }
}

fn replica_set_of(view: &View<'_>, name: &str, hash: &str, replicas: i64) -> Value {
    let mut template = view.spec()["template"].clone();
    template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
    let mut selector = view.spec()["selector"].clone();
    selector["matchLabels"]["pod-template-hash"] = json!(hash);
    let mut labels = view.spec()["template"]["metadata"]["labels"].clone();
    labels["pod-template-hash"] = json!(hash);
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    })
}

fn deployment_status(view: &View<'_>, wanted: i64, updated: i64, sets: &[&DynamicObject]) -> Value {
    let sum = |field: &str| -> i64 {
        sets.iter().map(|set| integer(&set.data["status"][field], 0)).sum()
    };
    let (total, ready) = (sum("replicas"), sum("readyReplicas"));
    let mut conditions = condition::all(view.status());
    let mut set = |kind, status, reason, message| {
        let wanted = Wanted { kind, status, reason, message, update: Some("lastUpdateTime") };
        condition::set(&mut conditions, &wanted, view.now);
    };
    if ready >= wanted {
        set("Available", true, "MinimumReplicasAvailable", "Deployment has minimum availability.");
    } else {
        set(
            "Available",
            false,
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        );
    }
    if ready >= wanted && updated == wanted && total == wanted {
        set(
            "Progressing",
            true,
            "NewReplicaSetAvailable",
            "The new replica set has successfully progressed.",
        );
    } else {
        set("Progressing", true, "ReplicaSetUpdated", "The replica set is progressing.");
    }
    json!({
        "observedGeneration": view.object.metadata.generation, "replicas": total, "updatedReplicas": updated,
        "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": (wanted - ready).max(0),
        "conditions": conditions,
    })
}

/// Reconciles a `ReplicaSet`: as many active pods as it wants.
pub(super) fn replica_set(view: &View<'_>) -> Vec<Action> {
    let wanted = usize::try_from(integer(&view.spec()["replicas"], 1)).unwrap_or(0);
    let pods: Vec<&DynamicObject> = view.of(POD).collect();
    let mut live: Vec<&DynamicObject> = pods.iter().copied().filter(|pod| active(pod)).collect();
    let mut actions = Vec::new();
    if live.len() > wanted {
        // Those that wait go first, as they cost nothing.
        live.sort_by_key(|pod| (is_true(pod, "Ready"), phase(pod) == "Running"));
        let extra = live.len() - wanted;
        actions.extend(live[..extra].iter().map(|pod| View::delete(POD, pod)));
    }
    let taken = |name: &str| pods.iter().any(|pod| pod.metadata.name.as_deref() == Some(name));
    let names = (0_u32..)
        .map(|serial| format!("{}-{}", view.name(), suffix(&format!("{}/{serial}", view.uid()))));
    let names = names.filter(|name| !taken(name)).take(wanted.saturating_sub(live.len()));
    actions.extend(
        names.map(|name| Action::Create(POD, template::pod(&name, &view.spec()["template"]))),
    );
    let ready = live.iter().filter(|pod| is_true(pod, "Ready")).count();
    actions.push(Action::Status(json!({
        "observedGeneration": view.object.metadata.generation, "replicas": live.len(),
        "fullyLabeledReplicas": live.len(), "readyReplicas": ready, "availableReplicas": ready,
    })));
    actions
}

/// Reconciles a `StatefulSet`: pods 0 to n-1, one after another unless its policy is Parallel.
pub(super) fn stateful_set(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let wanted = integer(&spec["replicas"], 1);
    let revision = format!("{}-{}", view.name(), revision(&spec["template"]));
    let parallel = spec["podManagementPolicy"] == "Parallel";
    let mut actions = Vec::new();
    for index in 0..wanted {
        let name = format!("{}-{index}", view.name());
        let pod = view.child(POD, &name);
        match pod {
            None => actions.push(Action::Create(POD, stateful_pod(view, &name, index, &revision))),
            // A pod that ended is made anew, under its own name.
            Some(pod) if !leaving(pod) && (!active(pod) || outdated(pod, &revision)) => {
                actions.push(View::delete(POD, pod));
            }
            Some(_) => {}
        }
        if !parallel && !pod.is_some_and(|pod| is_true(pod, "Ready")) {
            break;
        }
    }
    let pods: Vec<&DynamicObject> = view.of(POD).collect();
    let extra = pods
        .iter()
        .filter(|pod| !leaving(pod) && ordinal(view, pod).is_none_or(|index| index >= wanted));
    actions.extend(extra.map(|pod| View::delete(POD, pod)));
    let ready = pods.iter().filter(|pod| is_true(pod, "Ready")).count();
    let updated = pods.iter().filter(|pod| !outdated(pod, &revision)).count();
    actions.push(Action::Status(json!({
        "observedGeneration": view.object.metadata.generation, "replicas": pods.len(), "readyReplicas": ready,
        "availableReplicas": ready, "currentReplicas": updated, "updatedReplicas": updated,
        "currentRevision": revision, "updateRevision": revision, "collisionCount": 0,
    })));
    actions
}

fn stateful_pod(view: &View<'_>, name: &str, index: i64, revision: &str) -> Value {
    let mut pod = template::pod(name, &view.spec()["template"]);
    label(
        &mut pod,
        [
            ("statefulset.kubernetes.io/pod-name", name),
            ("apps.kubernetes.io/pod-index", &index.to_string()),
            ("controller-revision-hash", revision),
        ],
    );
    pod["spec"]["hostname"] = json!(name);
    if let Some(service) = view.spec()["serviceName"].as_str() {
        pod["spec"]["subdomain"] = json!(service);
    }
    pod
}

fn outdated(pod: &DynamicObject, revision: &str) -> bool {
    let labels = pod.metadata.labels.as_ref();
    labels.and_then(|all| all.get("controller-revision-hash")).is_none_or(|own| own != revision)
}

fn ordinal(view: &View<'_>, pod: &DynamicObject) -> Option<i64> {
    pod.metadata.name.as_deref()?.strip_prefix(view.name())?.strip_prefix('-')?.parse().ok()
}

/// A name for a pod template, the same for the same template.
fn revision(template: &Value) -> String {
    format!("{:08x}", fnv32a(&sorted(template).to_string()))
}

/// The value with the keys of its maps in order, which a patch may have left in any.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
