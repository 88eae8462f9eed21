//! Server-side apply: merging an applied configuration into the live object, and taking away what it gave up.

use serde_json::{Map, Value};

use super::{FieldSet, Shape, item_key, shape};
use crate::server::schema::Schema;

/// Puts the applied fields into the live object.
pub(crate) fn merge(live: &mut Value, applied: &Value, schema: Option<&Schema>) {
    match shape(applied, schema) {
        Shape::Leaf => *live = applied.clone(),
        Shape::Fields(fields) => {
            if !live.is_object() {
                *live = Value::Object(Map::new());
            }
            let Some(slots) = live.as_object_mut() else { return };
            for (key, field) in fields {
                let inner = schema.and_then(|schema| schema.field(key));
                match slots.get_mut(key) {
                    Some(slot) => merge(slot, field, inner),
                    None => {
                        slots.insert(key.clone(), field.clone());
                    }
                }
            }
        }
        Shape::Items(items, list) => {
            if !live.is_array() {
                *live = Value::Array(Vec::new());
            }
            let Some(slots) = live.as_array_mut() else { return };
            for item in items {
                let key = item_key(item, list);
                let place =
                    slots.iter().position(|slot| key.is_some() && item_key(slot, list) == key);
                match place {
                    Some(place) => merge(&mut slots[place], item, list.items.as_deref()),
                    None => slots.push(item.clone()),
                }
            }
        }
    }
}

/// Removes the fields of `gone` from a value, except those with something of `kept` under them.
pub(crate) fn prune(value: &mut Value, gone: &FieldSet, kept: &FieldSet, schema: Option<&Schema>) {
    let list = schema.map(Schema::resolved);
    match value {
        Value::Object(fields) => {
            let keys: Vec<String> = fields.keys().cloned().collect();
            for key in keys {
                let name = format!("f:{key}");
                let Some(inner_gone) = gone.below.get(&name) else { continue };
                let none = FieldSet::default();
                let inner_kept = kept.below.get(&name).unwrap_or(&none);
                if inner_gone.here && inner_kept.is_empty() {
                    fields.shift_remove(&key);
                    continue;
                }
                let inner = schema.and_then(|schema| schema.field(&key));
                let Some(field) = fields.get_mut(&key) else { continue };
                prune(field, inner_gone, inner_kept, inner);
                if is_empty(field) {
                    fields.shift_remove(&key);
                }
            }
        }
        Value::Array(items) => {
            let Some(list) = list else { return };
            items.retain_mut(|item| {
                let Some(key) = item_key(item, list) else { return true };
                let Some(inner_gone) = gone.below.get(&key) else { return true };
                let none = FieldSet::default();
                let inner_kept = kept.below.get(&key).unwrap_or(&none);
                if inner_gone.here && inner_kept.is_empty() {
                    return false;
                }
                prune(item, inner_gone, inner_kept, list.items.as_deref());
                true
            });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
