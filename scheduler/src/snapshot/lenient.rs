//! JSON as Go reads it: keys in any case, `null` as if it were not there.

use serde_json::{Map, Value};

/// An object whose keys are looked up in any case; where one repeats, the last counts.
#[derive(Debug)]
pub(super) struct Lenient(Map<String, Value>);

impl Lenient {
    /// Reads an object; `null` is an empty one.
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        match serde_json::from_slice(json).map_err(|error| error.to_string())? {
            Value::Null => Ok(Self(Map::new())),
            Value::Object(map) => Ok(Self::of(map)),
            other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                Err(format!("an object was expected, found {other}"))
            }
        }
    }

    pub(super) fn of(map: Map<String, Value>) -> Self {
        let map = map.into_iter().filter(|(_, value)| !value.is_null());
        Self(map.map(|(key, value)| (key.to_ascii_lowercase(), value)).collect())
    }

    /// Takes what a key says; none where it is not there or `null`.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(&key.to_ascii_lowercase())
    }

    /// Takes an object.
    pub(super) fn object(&mut self, key: &str) -> Result<Option<Self>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self::of(map))),
            Some(other) => Err(format!("{key}: an object was expected, found {other}")),
        }
    }

    /// Takes a text; empty where it is not there.
    pub(super) fn text(&mut self, key: &str) -> Result<String, String> {
        match self.take(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(format!("{key}: a text was expected, found {other}")),
        }
    }

    /// Takes yes or no; no where it is not there.
    pub(super) fn flag(&mut self, key: &str) -> Result<bool, String> {
        match self.take(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(format!("{key}: true or false was expected, found {other}")),
        }
    }

    /// Takes a whole number.
    pub(super) fn number(&mut self, key: &str) -> Result<Option<i64>, String> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = value.as_i64();
        number.map(Some).ok_or_else(|| format!("{key}: a whole number was expected, found {value}"))
    }
}

/// Removes every `null` that an object or an array holds. Go writes what is empty in this form, and reads it as not there.
pub(super) fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(without_nulls);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
