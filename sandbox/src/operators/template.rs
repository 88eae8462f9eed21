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

/// Tells whether all templates in a value have the parts that operators write to, if any: the definitions of stand-ins
/// have no schemas, so that anything may be stored. A text names a template that stands elsewhere.
pub(super) fn is_sound(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().all(|(key, value)| {
            let is_template = key == "template" || key.ends_with("Template");
            (!is_template || value.is_string() || is_template_of_something(value))
                && is_sound(value)
        }),
        Value::Array(list) => list.iter().all(is_sound),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_template_of_something(value: &Value) -> bool {
    let is_map = |value: &Value| value.is_null() || value.is_object();
    let is_list = |value: &Value| {
        value.is_null() || value.as_array().is_some_and(|list| list.iter().all(Value::is_object))
    };
    let (metadata, spec) = (&value["metadata"], &value["spec"]);
    let maps = [value, metadata, spec, &metadata["labels"], &metadata["annotations"]];
    maps.into_iter().all(is_map)
        && [&spec["containers"], &spec["initContainers"]].into_iter().all(is_list)
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
