//! Strategic merge patch: a merge patch that merges some lists of the built-in kinds by a key.

use serde_json::{Map, Value};

use crate::server::refusal::{ApiResult, Refusal};
use crate::server::route::Target;
use crate::server::schema::Schema;

/// Applies a strategic merge patch.
pub(super) fn merge(mut old: Value, patch: &Value, target: &Target) -> ApiResult<Value> {
    let version = target.kind.version(&target.version);
    let schema =
        version.and_then(|version| version.schema.as_ref()).map(|compiled| &compiled.schema);
    merge_value(&mut old, patch, schema)?;
    Ok(old)
}

fn directive(value: &Value) -> &str {
    value.get("$patch").and_then(Value::as_str).unwrap_or_default()
}

fn merge_value(old: &mut Value, patch: &Value, schema: Option<&Schema>) -> ApiResult<()> {
    let (true, Some(changes)) = (old.is_object(), patch.as_object()) else {
        *old = strip(patch);
        return Ok(());
    };
    match directive(patch) {
        "" | "merge" => {}
        "replace" => {
            *old = strip(patch);
            return Ok(());
        }
        other => return Err(Refusal::bad_request(format!("unknown $patch directive {other:?}"))),
    }
    let fields = old.as_object_mut().expect("checked above");
    if let Some(kept) = changes.get("$retainKeys").and_then(Value::as_array) {
        fields.retain(|key, _| kept.iter().any(|kept| kept.as_str() == Some(key)));
    }
    for (key, change) in changes {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            delete_items(fields, list, change);
        }
    }
    for (key, change) in changes {
        if !key.starts_with('$') {
            merge_field(fields, key, change, schema.and_then(|schema| schema.field(key)))?;
        }
    }
    for (key, order) in changes {
        if let Some(list) = key.strip_prefix("$setElementOrder/") {
            let by = schema.and_then(|schema| schema.field(list)?.merge_key.as_deref());
            order_items(fields, list, order, by);
        }
    }
    Ok(())
}

fn merge_field(
    fields: &mut Map<String, Value>,
    key: &str,
    change: &Value,
    schema: Option<&Schema>,
) -> ApiResult<()> {
    match change {
        Value::Null => {
            fields.shift_remove(key);
        }
        Value::Object(_) if directive(change) == "delete" => {
            fields.shift_remove(key);
        }
        Value::Object(_) => {
            let slot = fields.entry(key).or_insert_with(|| Value::Object(Map::new()));
            merge_value(slot, change, schema)?;
        }
        Value::Array(items) => {
            let is_there = fields.contains_key(key);
            let slot = fields.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            let old = slot.as_array().cloned().unwrap_or_default();
            let by = schema.and_then(|schema| schema.merge_key.as_deref());
            *slot = Value::Array(match by {
                Some(by) => {
                    let inner = schema.and_then(|schema| schema.items.as_deref());
                    merge_list(old, items, by, key, inner)?
                }
                // A list that is new is taken as it is.
                None if is_there && schema.is_some_and(|schema| schema.merges_set) => {
                    merge_set(&old, items)
                }
                None => items.iter().map(strip).collect(),
            });
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            fields.insert(key.to_owned(), change.clone());
        }
    }
    Ok(())
}

fn merge_set(old: &[Value], items: &[Value]) -> Vec<Value> {
    let mut all = old.to_vec();
    for item in items {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    in_order(all, old, items, None)
}

/// Merges a list by the key `by`; `name` is the list's, for messages.
fn merge_list(
    mut old: Vec<Value>,
    items: &[Value],
    by: &str,
    name: &str,
    schema: Option<&Schema>,
) -> ApiResult<Vec<Value>> {
    if items.iter().any(|item| directive(item) == "replace") {
        return Ok(items.iter().filter(|item| directive(item) != "replace").map(strip).collect());
    }
    let key_of = |item: &Value| item.get(by).cloned();
    if items.iter().any(|item| key_of(item).is_none()) {
        let message = format!(
            "failed to apply the patch: an item of {name} does not contain the merge key {by:?}"
        );
        return Err(Refusal::bad_request(message));
    }
    let (gone, kept): (Vec<_>, Vec<_>) =
        items.iter().cloned().partition(|item| directive(item) == "delete");
    old.retain(|have| !gone.iter().any(|item| key_of(item) == key_of(have)));
    let mut all = old.clone();
    for item in &kept {
        match all.iter().position(|have| key_of(have) == key_of(item)) {
            Some(place) => merge_value(&mut all[place], item, schema)?,
            None => all.push(strip(item)),
        }
    }
    Ok(in_order(all, &old, &kept, Some(by)))
}

/// Orders a merged list: what the patch names as the patch has it, and the rest where it stood before that; what is new stands
/// before what the patch does not name.
///
/// # Source
/// Kubernetes, "Strategic merge patch: list ordering" (design proposal `preserve-order-in-strategic-merge-patch`).
fn in_order(all: Vec<Value>, old: &[Value], patch: &[Value], by: Option<&str>) -> Vec<Value> {
    let place = |list: &[Value], item: &Value| {
        let same = |have: &Value| match by {
            Some(by) => have.get(by) == item.get(by),
            None => have == item,
        };
        list.iter().position(same)
    };
    let (mut named, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|item| place(patch, item).is_some());
    named.sort_by_key(|item| place(patch, item));
    let mut ordered = Vec::with_capacity(named.len() + rest.len());
    let mut rest = rest.into_iter().peekable();
    for item in named {
        let before = |other: &Value| match (place(old, other), place(old, &item)) {
            (Some(other), Some(item)) => other < item,
            (None, _) | (_, None) => false,
        };
        while let Some(other) = rest.next_if(before) {
            ordered.push(other);
        }
        ordered.push(item);
    }
    ordered.extend(rest);
    ordered
}

fn delete_items(fields: &mut Map<String, Value>, list: &str, gone: &Value) {
    let (Some(items), Some(gone)) =
        (fields.get_mut(list).and_then(Value::as_array_mut), gone.as_array())
    else {
        return;
    };
    items.retain(|item| !gone.contains(item));
}

/// Puts the items named by `order` into that order; the others keep their places after them.
fn order_items(fields: &mut Map<String, Value>, list: &str, order: &Value, by: Option<&str>) {
    let (Some(items), Some(order)) =
        (fields.get_mut(list).and_then(Value::as_array_mut), order.as_array())
    else {
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
            let kept =
                fields.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), strip(value))).collect())
        }
        Value::Array(items) => Value::Array(
            items.iter().filter(|item| directive(item) != "delete").map(strip).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => patch.clone(),
    }
}
