//! The scaling pod as an object. Pure.

use jiff::Timestamp;
use kai_api::names::{condition, label, reason, resource, value};
use serde_json::{Map, Value, json};

use super::settings::Settings;
use super::standing::CLASS;
use super::waiting::{Template, digits};
use crate::store::Key;

/// Name of the container, which KAI's scaling pods have as well.
const CONTAINER: &str = "scaling-pod";
/// The program of our image that does nothing and ends.
const COMMAND: [&str; 2] = ["kai-reservation", "--exit"];
/// Longest value of a label.
const LABEL_MAX: usize = 63;
/// User of the container, as our image has it; images that name no user need one here.
const USER: i64 = 10_000;

/// The scaling pod of this name for a pod that waits; `own_image` is run where the settings name none.
///
/// It asks for what the pod takes of a node and for as many whole GPUs as the pod takes shares of, and may go to the same
/// nodes. What affinity says of other pods is said of those in the waiting pod's namespace, where they are. Constraints
/// on spreading can't look there: they spread the scaling pods of the class instead.
pub(super) fn scaling_pod(
    name: &str,
    of: &Key,
    pod: &Template,
    settings: &Settings,
    own_image: &str,
) -> Value {
    let (labels, annotations) = marks(of, &pod.class);
    let mut spec = json!({
        "serviceAccountName": settings.account,
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "restartPolicy": "OnFailure",
        "terminationGracePeriodSeconds": 0,
        "containers": [container(pod, settings, own_image)],
    });
    if !settings.is_openshift {
        spec["securityContext"] = json!({"runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"}});
    }
    for (field, value) in &pod.fields {
        let mut value = value.clone();
        match field.as_str() {
            "affinity" => look_at(&mut value, &of.namespace),
            "topologySpreadConstraints" => spread(&mut value, &pod.class),
            _ => {}
        }
        spec[field] = value;
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": settings.namespace,
            "labels": labels,
            "annotations": annotations,
        },
        "spec": spec,
    })
}

/// The status of a scaling pod that nobody has looked at: autoscalers look for this condition.
pub(super) fn unschedulable(now: Timestamp) -> Value {
    json!({"conditions": [{
        "type": condition::POD_SCHEDULED,
        "status": "False",
        "reason": reason::UNSCHEDULABLE,
        "message": "waits for a node with GPUs that pods can share",
        "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }]})
}

fn marks(of: &Key, class: &str) -> (Map<String, Value>, Map<String, Value>) {
    let mut labels = Map::new();
    let mut annotations = Map::new();
    labels.insert(label::APP.to_owned(), json!(value::SCALING_APP));
    labels.insert(CLASS.to_owned(), json!(class));
    for (key, text) in
        [(label::SHARED_GPU_POD_NAME, &of.name), (label::SHARED_GPU_POD_NAMESPACE, &of.namespace)]
    {
        if text.len() <= LABEL_MAX {
            labels.insert(key.to_owned(), json!(**text));
        } else {
            labels.insert(key.to_owned(), json!(digits(text)));
            annotations.insert(key.to_owned(), json!(**text));
        }
    }
    (labels, annotations)
}

fn container(pod: &Template, settings: &Settings, own_image: &str) -> Value {
    let mut requests = Map::new();
    let mut limits = Map::new();
    for (name, amount) in pod.needs.iter() {
        requests.insert(name.to_owned(), json!(amount.to_string()));
        // Devices and huge pages can't be lent: their limits are what is asked for.
        if name.contains('/') || name.starts_with("hugepages-") {
            limits.insert(name.to_owned(), json!(amount.to_string()));
        }
    }
    for amounts in [&mut requests, &mut limits] {
        amounts.insert(resource::NVIDIA_GPU.to_owned(), json!(pod.devices.to_string()));
    }
    let mut container = json!({
        "name": CONTAINER,
        "image": settings.image.as_deref().unwrap_or(own_image),
        "imagePullPolicy": settings.pull_policy,
        "resources": {"requests": requests, "limits": limits},
    });
    if settings.image.is_none() {
        container["command"] = json!(COMMAND);
    }
    if !settings.is_openshift {
        container["securityContext"] = json!({"allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}});
    }
    container
}

/// Terms on other pods mean those of the waiting pod's namespace where they name none.
fn look_at(affinity: &mut Value, namespace: &str) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let mut fill = |term: &mut Value| {
            let is_named = term["namespaces"].as_array().is_some_and(|names| !names.is_empty());
            if term.is_object() && !is_named && term["namespaceSelector"].is_null() {
                term["namespaces"] = json!([namespace]);
            }
        };
        let mut each = |list: &str, fill: &mut dyn FnMut(&mut Value)| {
            let terms = affinity.get_mut(kind).and_then(|kind| kind.get_mut(list));
            terms.and_then(Value::as_array_mut).into_iter().flatten().for_each(fill);
        };
        each("requiredDuringSchedulingIgnoredDuringExecution", &mut fill);
        each("preferredDuringSchedulingIgnoredDuringExecution", &mut |weighted| {
            if let Some(term) = weighted.get_mut("podAffinityTerm") {
                fill(term);
            }
        });
    }
}

/// Constraints count the scaling pods of the class.
fn spread(constraints: &mut Value, class: &str) {
    for constraint in constraints.as_array_mut().into_iter().flatten() {
        constraint["labelSelector"] = json!({"matchLabels": {CLASS: class}});
        if let Some(fields) = constraint.as_object_mut() {
            fields.remove("matchLabelKeys");
        }
    }
}

#[cfg(test)]
mod tests;
