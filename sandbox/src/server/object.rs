//! Reading and writing the metadata of an object held as JSON, and the stored form of an object.

use std::sync::OnceLock;

use bytes::Bytes;
use jiff::Timestamp;
use kai_daemon::clock;
use serde_json::{Map, Value, json};

/// One stored version of an object. Immutable; shared by the table, the event history and every reader.
#[derive(Debug)]
pub(crate) struct Object {
    /// The object as served in its storage version, `resourceVersion` included.
    pub(crate) value: Value,
    /// The resourceVersion at which this state was written.
    pub(crate) version: u64,
    json: OnceLock<Bytes>,
}

impl Object {
    /// Wraps a value and stamps it with its resourceVersion.
    pub(crate) fn new(mut value: Value, version: u64) -> Self {
        metadata_mut(&mut value).insert("resourceVersion".to_owned(), json!(version.to_string()));
        Self { value, version, json: OnceLock::new() }
    }

    /// Wraps a value that is not stored: the answer to a dry run.
    pub(crate) fn unstored(value: Value) -> Self {
        Self { value, version: 0, json: OnceLock::new() }
    }

    /// The JSON text, made once however many clients read it.
    pub(crate) fn json(&self) -> Bytes {
        self.json.get_or_init(|| Bytes::from(self.value.to_string())).clone()
    }
}

/// The value at a JSON pointer. `Value::pointer` copies each part of the pointer, which costs more than the look.
fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.contains('~') {
        return value.pointer(pointer);
    }
    pointer.split('/').skip(1).try_fold(value, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(_) => value.pointer(&format!("/{part}")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// The text at a JSON pointer, or "" when absent.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    at(value, pointer).and_then(Value::as_str).unwrap_or_default()
}

/// `metadata.name`.
pub(crate) fn name(value: &Value) -> &str {
    text(value, "/metadata/name")
}

/// `metadata.namespace`.
pub(crate) fn namespace(value: &Value) -> &str {
    text(value, "/metadata/namespace")
}

/// `metadata.uid`.
pub(crate) fn uid(value: &Value) -> &str {
    text(value, "/metadata/uid")
}

/// `metadata.labels`.
pub(crate) fn labels(value: &Value) -> Option<&Map<String, Value>> {
    at(value, "/metadata/labels").and_then(Value::as_object)
}

/// Tells whether deletion was asked for.
pub(crate) fn is_deleting(value: &Value) -> bool {
    !text(value, "/metadata/deletionTimestamp").is_empty()
}

/// `metadata.finalizers`.
pub(crate) fn finalizers(value: &Value) -> Vec<&str> {
    array(value, "/metadata/finalizers").iter().filter_map(Value::as_str).collect()
}

/// `metadata.ownerReferences`.
pub(crate) fn owners(value: &Value) -> &[Value] {
    array(value, "/metadata/ownerReferences")
}

/// The array at a JSON pointer, or an empty one.
pub(crate) fn array<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `metadata`, made when absent. `value` must be an object.
pub(crate) fn metadata_mut(value: &mut Value) -> &mut Map<String, Value> {
    child_mut(value, "metadata")
}

/// The object field `key` of `value`, made when absent or null.
pub(crate) fn child_mut<'a>(value: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let slot =
        value.as_object_mut().expect("made an object above").entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut().expect("made an object above")
}

/// Sets `metadata.key`, or removes it when the value is null or an empty collection.
pub(crate) fn set_metadata(value: &mut Value, key: &str, new: Value) {
    let empty = match &new {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if empty {
        metadata_mut(value).shift_remove(key);
    } else {
        metadata_mut(value).insert(key.to_owned(), new);
    }
}

/// Copies the top-level field `key` from `from`, removing it where `from` has none.
pub(crate) fn copy_field(from: &Value, to: &mut Value, key: &str) {
    let Some(fields) = to.as_object_mut() else { return };
    match from.get(key) {
        Some(found) => {
            fields.insert(key.to_owned(), found.clone());
        }
        None => {
            fields.shift_remove(key);
        }
    }
}

/// Copies `metadata.key` from `from`, removing it where `from` has none.
pub(crate) fn copy_metadata(from: &Value, to: &mut Value, key: &str) {
    let found = from.get("metadata").and_then(|metadata| metadata.get(key)).cloned();
    set_metadata(to, key, found.unwrap_or(Value::Null));
}

/// A timestamp as `metav1.Time` writes it: whole seconds, UTC.
pub(crate) fn time_text(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A timestamp as `metav1.MicroTime` writes it.
pub(crate) fn micro_time_text(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// The present moment as `metav1.Time` writes it.
pub(crate) fn now_text() -> String {
    time_text(clock::now())
}

/// A fresh UID.
pub(crate) fn new_uid() -> String {
    kai_daemon::chance::uuid().to_string()
}

/// Five characters of the alphabet that Kubernetes uses for generated names.
pub(crate) fn random_suffix() -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let bytes = kai_daemon::chance::uuid().into_bytes();
    // The first five bytes of a version 4 UUID are random in all bits.
    bytes[..5]
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]))
        .collect()
}
