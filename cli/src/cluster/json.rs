//! Reading and writing places in objects that are plain JSON.

use serde_json::{Map, Value};

/// A string of an object; empty when it is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Finds the value at a JSON pointer: as [`Value::pointer`], without a copy of each key.
pub(crate) fn resolve<'v>(object: &'v Value, pointer: &str) -> Option<&'v Value> {
    if pointer.contains('~') {
        return object.pointer(pointer);
    }
    pointer.split('/').skip(1).try_fold(object, |value, key| match value {
        Value::Object(map) => map.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The map at a pointer, made with all that leads to it when it is not there.
pub(crate) fn ensure<'a>(object: &'a mut Value, pointer: &str) -> &'a mut Map<String, Value> {
    let mut value = object;
    for key in pointer.split('/').skip(1) {
        let key = key.replace("~1", "/").replace("~0", "~");
        let index = key.parse::<usize>().ok().filter(|index| value.get(*index).is_some());
        if let Some(index) = index {
            value = &mut value[index];
            continue;
        }
        // A list has no place for the key either.
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        let map = value.as_object_mut().expect("just made one");
        if key == "metadata" && !map.contains_key(&key) {
            // Where everybody looks for it: in front of the spec.
            map.shift_insert(0, key.clone(), Value::Null);
        }
        value = map.entry(key).or_insert(Value::Null);
    }
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("just made one")
}
