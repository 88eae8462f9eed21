//! Strategic merge patch: a merge patch that merges some lists of the built-in kinds by a key.

use serde_json::{Map, Value};

use crate::server::refusal::{ApiResult, Refusal};
use crate::server::route::Target;

/// Applies a strategic merge patch.
pub(super) fn merge(mut old: Value, patch: &Value, _target: &Target) -> ApiResult<Value> {
    merge_value(&mut old, patch, "")?;
    Ok(old)
}

/// The merge key of the list at a field, by the name of the field and of the one above it; `None` for atomic lists.
///
/// # Source
///
/// `x-kubernetes-patch-merge-key` in kube-apiserver's OpenAPI documents.
fn merge_key(parent: &str, field: &str) -> Option<&'static str> {
    Some(match (parent, field) {
        (_, "containers" | "initContainers" | "ephemeralContainers" | "env" | "volumes" | "imagePullSecrets") => "name",
        (_, "resourceClaims") => "name",
        ("status", "resourceClaimStatuses") => "name",
        ("spec", "topologySpreadConstraints") => "topologyKey",
        (_, "hostAliases" | "podIPs" | "hostIPs") => "ip",
        (_, "volumeMounts") => "mountPath",
        (_, "volumeDevices") => "devicePath",
        ("spec", "ports") => "port",
        (_, "ports") => "containerPort",
        ("status", "conditions" | "addresses") => "type",
        ("metadata", "ownerReferences") => "uid",
        ("", "secrets") => "name",
        _ => return None,
    })
}

/// Lists of plain values that are merged as sets.
fn is_set(parent: &str, field: &str) -> bool {
    matches!((parent, field), ("metadata", "finalizers") | ("spec", "podCIDRs"))
}

fn merge_value(old: &mut Value, patch: &Value, name: &str) -> ApiResult<()> {
    let (Some(_), Some(changes)) = (old.as_object(), patch.as_object()) else {
        *old = strip(patch);
        return Ok(());
    };
    if changes.get("$patch").and_then(Value::as_str) == Some("replace") {
        *old = strip(patch);
        return Ok(());
    }
    let fields = old.as_object_mut().expect("checked above");
    if let Some(kept) = changes.get("$retainKeys").and_then(Value::as_array) {
        fields.retain(|key, _| kept.iter().any(|kept| kept.as_str() == Some(key)));
    }
    for (key, change) in changes {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            delete_items(fields, list, change);
        } else if !key.starts_with('$') {
            merge_field(fields, key, change, name)?;
        }
    }
    for (key, order) in changes {
        if let Some(list) = key.strip_prefix("$setElementOrder/") {
            order_items(fields, list, order, merge_key(name, list));
        }
    }
    Ok(())
}

fn merge_field(fields: &mut Map<String, Value>, key: &str, change: &Value, parent: &str) -> ApiResult<()> {
    match change {
        Value::Null => {
            fields.shift_remove(key);
        }
        Value::Object(inner) if inner.get("$patch").and_then(Value::as_str) == Some("delete") => {
            fields.shift_remove(key);
        }
        Value::Object(_) => {
            let slot = fields.entry(key).or_insert_with(|| Value::Object(Map::new()));
            merge_value(slot, change, key)?;
        }
        Value::Array(items) => {
            let slot = fields.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            let old = slot.as_array().cloned().unwrap_or_default();
            *slot = Value::Array(match merge_key(parent, key) {
                Some(by) => merge_list(old, items, by, key)?,
                None if is_set(parent, key) => merge_set(old, items),
                None => items.iter().map(strip).collect(),
            });
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            fields.insert(key.to_owned(), change.clone());
        }
    }
    Ok(())
}

fn merge_set(mut old: Vec<Value>, items: &[Value]) -> Vec<Value> {
    for item in items {
        if !old.contains(item) {
            old.push(item.clone());
        }
    }
    old
}

fn merge_list(mut old: Vec<Value>, items: &[Value], by: &str, name: &str) -> ApiResult<Vec<Value>> {
    let replaces = |item: &Value| item.get("$patch").and_then(Value::as_str) == Some("replace");
    if items.iter().any(replaces) {
        return Ok(items.iter().filter(|item| !replaces(item)).map(strip).collect());
    }
    for item in items {
        let Some(key) = item.get(by) else {
            let message = format!("failed to apply the patch: an item of {name} does not contain the merge key {by:?}");
            return Err(Refusal::bad_request(message));
        };
        let place = old.iter().position(|have| have.get(by) == Some(key));
        let deletes = item.get("$patch").and_then(Value::as_str) == Some("delete");
        match (place, deletes) {
            (Some(place), true) => {
                old.remove(place);
            }
            (None, true) => {}
            (Some(place), false) => merge_value(&mut old[place], item, name)?,
            (None, false) => old.push(strip(item)),
        }
    }
    Ok(old)
}

fn delete_items(fields: &mut Map<String, Value>, list: &str, gone: &Value) {
    let (Some(items), Some(gone)) = (fields.get_mut(list).and_then(Value::as_array_mut), gone.as_array()) else {
        return;
    };
    items.retain(|item| !gone.contains(item));
}

/// Puts the items named by `order` into that order; the others keep their places after them.
fn order_items(fields: &mut Map<String, Value>, list: &str, order: &Value, by: Option<&str>) {
    let (Some(items), Some(order)) = (fields.get_mut(list).and_then(Value::as_array_mut), order.as_array()) else {
        return;
    };
    let rank = |item: &Value| {
        let same = |wanted: &Value| match by {
            Some(by) => wanted.get(by) == item.get(by),
            None => wanted == item,
        };
        order.iter().position(same).unwrap_or(usize::MAX)
    };
    items.sort_by_key(rank);
}

/// The patch as a value of its own: without nulls and directives.
fn strip(patch: &Value) -> Value {
    match patch {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), strip(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(strip).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => patch.clone(),
    }
}
