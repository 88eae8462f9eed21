//! Pods from pod templates.

use serde_json::{Value, json};

/// A pod of that name from a template: its labels, annotations and spec as they are.
pub(super) fn pod(name: &str, template: &Value) -> Value {
    let metadata = &template["metadata"];
    let map = |key: &str| if metadata[key].is_object() { metadata[key].clone() } else { json!({}) };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": map("labels"), "annotations": map("annotations")},
        "spec": if template["spec"].is_object() { template["spec"].clone() } else { json!({}) },
    })
}

/// Adds labels to an object.
pub(super) fn label<const N: usize>(object: &mut Value, labels: [(&str, &str); N]) {
    for (key, value) in labels {
        object["metadata"]["labels"][key] = json!(value);
    }
}

/// Adds environment variables to a container; those that it has already win.
pub(super) fn environment(container: &mut Value, variables: &[(&str, String)]) {
    if !container["env"].is_array() {
        container["env"] = json!([]);
    }
    let Some(list) = container["env"].as_array_mut() else { return };
    for (name, value) in variables {
        if !list.iter().any(|one| one["name"] == *name) {
            list.push(json!({"name": name, "value": value}));
        }
    }
}

/// An integer field, or what stands for it when it is absent.
pub(super) fn integer(value: &Value, default: i64) -> i64 {
    value.as_i64().unwrap_or(default)
}
