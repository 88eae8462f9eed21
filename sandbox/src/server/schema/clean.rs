//! Pruning of unknown fields and filling in of defaults.

use serde_json::Value;

use super::{Schema, Type};

/// Removes the fields that the schema of a whole object does not know; their paths go to `unknown`.
pub(super) fn prune_object(schema: &Schema, value: &mut Value, unknown: &mut Vec<String>) {
    prune_fields(schema, value, "", true, unknown);
}

fn prune(schema: &Schema, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(_) => prune_fields(schema, value, path, schema.embedded_resource, unknown),
        Value::Array(items) => {
            let Some(inner) = &schema.items else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune(inner, item, &format!("{path}[{index}]"), unknown);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn prune_fields(schema: &Schema, value: &mut Value, path: &str, whole: bool, unknown: &mut Vec<String>) {
    let Some(fields) = value.as_object_mut() else { return };
    fields.retain(|key, field| {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if whole && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            return true;
        }
        if let Some(inner) = schema.properties.get(key).or(schema.additional.as_deref()) {
            prune(inner, field, &at, unknown);
            return true;
        }
        let kept = schema.preserve_unknown || schema.additional_any;
        if !kept {
            unknown.push(at);
        }
        kept
    });
}

/// Fills in defaults, and drops nulls that the schema does not allow where it has a default.
pub(super) fn default(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in &schema.properties {
                let Some(filler) = &inner.default else { continue };
                let absent = match fields.get(key) {
                    None => true,
                    Some(found) => found.is_null() && !inner.nullable,
                };
                if absent {
                    fields.insert(key.clone(), filler.clone());
                }
            }
            for (key, field) in fields.iter_mut() {
                if let Some(inner) = schema.properties.get(key).or(schema.additional.as_deref()) {
                    default(inner, field);
                }
            }
            drop_nulls(schema, fields);
        }
        Value::Array(items) => {
            let Some(inner) = &schema.items else { return };
            for item in items {
                default(inner, item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A null for a field that may not be null and has no default is dropped where the field is optional.
fn drop_nulls(schema: &Schema, fields: &mut serde_json::Map<String, Value>) {
    fields.retain(|key, value| {
        let Some(inner) = schema.properties.get(key) else { return true };
        let pruned = value.is_null()
            && !inner.nullable
            && inner.kind != Type::Any
            && !schema.required.contains(key);
        !pruned
    });
}
