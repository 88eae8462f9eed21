//! From the stored version of an object to the one that a path serves, and back.
//!
//! Custom resources differ between versions only in `apiVersion` (conversion `None`). Of the built-in kinds only
//! Events are served in two shapes.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::kinds::Kind;
use super::object::Object;

/// `core/v1` field and the `events.k8s.io/v1` field that holds the same.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

fn is_new_event(kind: &Kind) -> bool {
    kind.is("events.k8s.io", "events")
}

/// The object as a path of `kind` and `version` serves it.
pub(crate) fn serve<'a>(value: &'a Value, kind: &Kind, version: &str) -> Cow<'a, Value> {
    let wanted = kind.api_version(version);
    if value.get("apiVersion").and_then(Value::as_str) == Some(wanted.as_str()) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    if is_new_event(kind) {
        rename(&mut value, |(core, new)| (core, new));
    }
    value["apiVersion"] = json!(wanted);
    Cow::Owned(value)
}

/// The JSON text of [`serve`]; shared when the stored version is asked for.
pub(crate) fn json_of(object: &Object, kind: &Kind, version: &str) -> Bytes {
    match serve(&object.value, kind, version) {
        Cow::Borrowed(_) => object.json(),
        Cow::Owned(value) => Bytes::from(value.to_string()),
    }
}

/// The object as it is stored, from what a path of `kind` received.
pub(crate) fn store(mut value: Value, kind: &Kind) -> Value {
    if is_new_event(kind) {
        rename(&mut value, |(core, new)| (new, core));
        value["apiVersion"] = json!("v1");
        return value;
    }
    value["apiVersion"] = json!(kind.api_version(&kind.storage_version));
    value
}

fn rename(
    value: &mut Value,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(fields) = value.as_object_mut() else { return };
    let renamed: Map<String, Value> = std::mem::take(fields)
        .into_iter()
        .map(|(key, value)| {
            let mut pairs = EVENT_FIELDS.into_iter().map(direction);
            let new = pairs.find(|(from, _)| *from == key).map(|(_, to)| to.to_owned());
            (new.unwrap_or(key), value)
        })
        .collect();
    *fields = renamed;
}

/// `PartialObjectMetadata` of an object.
pub(crate) fn metadata_only(value: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": value.get("metadata").cloned().unwrap_or_default(),
    })
}
