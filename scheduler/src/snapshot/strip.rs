//! Describes what is left out of objects before they are written: what no decision depends on, and what nobody should find in a bug
//! report. Source: docs/contract.md 8.3.

use kai_api::names::{annotation, label};
use serde_json::{Map, Value, json};

use super::{
    arrays::{Array, Of},
    lenient::without_nulls,
};
use crate::ingest::Kind;

/// Annotations that repeat an object as its user wrote it, environment and all.
const COPIES: [&str; 1] = ["kubectl.kubernetes.io/last-applied-configuration"];
/// Says what is kept of a container: what it asks for, where it listens, and what it refers to. Not its image, command and
/// probes.
const OF_CONTAINER: [&str; 8] = [
    "name",
    "resources",
    "ports",
    "restartPolicy",
    "volumeMounts",
    "volumeDevices",
    "env",
    "envFrom",
];
/// Says what is kept of a pod's status.
const OF_STATUS: [&str; 11] = [
    "phase",
    "conditions",
    "qosClass",
    "nominatedNodeName",
    "startTime",
    "resourceClaimStatuses",
    "extendedResourceClaimStatus",
    "containerStatuses",
    "initContainerStatuses",
    // Given to the pod as a whole.
    "resources",
    "allocatedResources",
];
/// Says what is kept of a container's status: what its kubelet gave it, which counts while a pod is resized.
const OF_CONTAINER_STATUS: [&str; 3] = ["name", "resources", "allocatedResources"];

/// An object of the API as it is written.
pub(super) fn strip(array: &Array, mut object: Value) -> Value {
    without_nulls(&mut object);
    let Value::Object(fields) = &mut object else { return object };
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        strip_metadata(metadata);
    }
    if array.is_named_only {
        fields.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    }
    match array.of {
        Of::Kind(Kind::Pod) => return strip_pod(object),
        Of::Kind(Kind::Node) => {
            if let Some(Value::Object(status)) = fields.get_mut("status") {
                status.remove("images");
            }
        }
        // Some provisioners take passwords here.
        Of::Kind(Kind::StorageClass) => {
            fields.remove("parameters");
        }
        Of::Kind(_) | Of::BindRequests => {}
    }
    object
}

fn strip_metadata(metadata: &mut Map<String, Value>) {
    metadata.remove("managedFields");
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.retain(|key, _| !COPIES.contains(&key.as_str()));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn strip_pod(mut pod: Value) -> Value {
    if pod["status"]["phase"] == "Succeeded" {
        return ended(&pod);
    }
    if let Some(Value::Object(spec)) = pod.get_mut("spec") {
        for key in ["containers", "initContainers"] {
            if let Some(Value::Array(containers)) = spec.get_mut(key) {
                containers.iter_mut().for_each(strip_container);
            }
        }
        // They come and go with a debugger, and ask for nothing.
        spec.remove("ephemeralContainers");
        spec.remove("imagePullSecrets");
    }
    if let Some(Value::Object(status)) = pod.get_mut("status") {
        status.retain(|key, _| OF_STATUS.contains(&key.as_str()));
        for key in ["containerStatuses", "initContainerStatuses"] {
            keep_given(status, key);
        }
    }
    pod
}

/// Keeps what kubelets gave to the containers of a list of statuses, and nothing else of it.
fn keep_given(status: &mut Map<String, Value>, key: &str) {
    let Some(Value::Array(rows)) = status.get_mut(key) else { return };
    for row in rows.iter_mut() {
        if let Value::Object(fields) = row {
            fields.retain(|key, _| OF_CONTAINER_STATUS.contains(&key.as_str()));
        }
    }
    rows.retain(|row| !row["resources"].is_null() || !row["allocatedResources"].is_null());
    if rows.is_empty() {
        status.remove(key);
    }
}

/// A pod that ended well, as KAI caches it.
fn ended(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    let mut kept = Map::new();
    for key in ["name", "namespace", "uid"] {
        kept.insert(String::from(key), metadata[key].clone());
    }
    for (map, key) in [("annotations", annotation::POD_GROUP), ("labels", label::SUBGROUP)] {
        if let Some(value) = metadata[map].get(key) {
            kept.insert(String::from(map), json!({ key: value }));
        }
    }
    json!({ "metadata": kept, "spec": scheduler_of(pod), "status": { "phase": "Succeeded" } })
}

/// Says whose pod it is: without it nobody knows that it counted for its group.
fn scheduler_of(pod: &Value) -> Value {
    let name = pod["spec"]["schedulerName"].as_str();
    name.map_or_else(|| json!({}), |name| json!({ "schedulerName": name }))
}

fn strip_container(container: &mut Value) {
    let Value::Object(fields) = container else { return };
    fields.retain(|key, _| OF_CONTAINER.contains(&key.as_str()));
    keep_references(fields, "env", |entry| {
        let reference = entry["valueFrom"]["configMapKeyRef"].clone();
        reference.is_object().then(
            || json!({ "name": entry["name"], "valueFrom": { "configMapKeyRef": reference } }),
        )
    });
    keep_references(fields, "envFrom", |entry| {
        let reference = entry["configMapRef"].clone();
        reference.is_object().then(|| json!({ "configMapRef": reference }))
    });
}

/// Keeps the entries of a list that refer to config maps, and nothing else of them.
fn keep_references(
    fields: &mut Map<String, Value>,
    key: &str,
    kept: impl Fn(&Value) -> Option<Value>,
) {
    let Some(Value::Array(entries)) = fields.get(key) else { return };
    let entries: Vec<Value> = entries.iter().filter_map(kept).collect();
    if entries.is_empty() {
        fields.remove(key);
    } else {
        fields.insert(String::from(key), Value::Array(entries));
    }
}

#[cfg(test)]
mod tests;
