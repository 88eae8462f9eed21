//! Decodes answers of the API server: objects without what nobody reads of them, and lists page by page.
//!
//! `metadata.managedFields` is a third to a half of most objects. It is stepped over, so that it costs no memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value};

/// A page of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Page {
    metadata: Head,
    items: Option<Vec<Object>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    #[serde(rename = "continue")]
    token: Option<String>,
}

#[derive(Debug)]
struct Object(Value);

impl Page {
    /// Decodes a page.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Returns the token of the page after it; empty where it is the last one.
    pub(super) fn token(&self) -> &str {
        self.metadata.token.as_deref().unwrap_or_default()
    }

    /// Returns its objects.
    pub(super) fn items(self) -> impl Iterator<Item = Value> {
        self.items.into_iter().flatten().map(|object| object.0)
    }
}

/// Returns the token of the page after this one from its head, which API servers write before the objects: the next page
/// can be asked for before this one is decoded. None where the head does not tell.
pub(super) fn token(bytes: &[u8]) -> Option<String> {
    const ITEMS: &[u8] = b",\"items\":";
    const HEAD_MAX: usize = 4096;
    let head = &bytes[..bytes.len().min(HEAD_MAX)];
    let end = head.windows(ITEMS.len()).position(|window| window == ITEMS)?;
    let head = [&head[..end], b"}"].concat();
    let page: Page = serde_json::from_slice(&head).ok()?;
    Some(page.metadata.token.unwrap_or_default())
}

/// Decodes an object.
pub(super) fn object(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Object>(bytes).map(|object| object.0)
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Within::Object.deserialize(deserializer).map(Self)
    }
}

/// Says where a value stands.
#[derive(Clone, Copy)]
enum Within {
    Object,
    /// In a field `metadata`.
    Metadata,
}

impl<'de> DeserializeSeed<'de> for Within {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = access.next_element_seed(Self::Object)? {
            all.push(one);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if matches!(self, Self::Metadata) && key == "managedFields" {
                access.next_value::<IgnoredAny>()?;
                continue;
            }
            let within = if key == "metadata" { Self::Metadata } else { Self::Object };
            let value = access.next_value_seed(within)?;
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_manages_which_field_is_left_out_and_nothing_else() {
        let text = |metadata: Value| {
            json!({"kind": "Job", "metadata": metadata, "spec": {
                "managedFields": [1, -2, 0.5, null, true, "x\"\n\u{1f600}"],
                "template": {"metadata": {"labels": {"managedFields": "kept"}}}}})
        };
        let managed = json!({"name": "a", "managedFields": [{"f:spec": {}}], "uid": "u"});
        let own = json!({"name": "a", "uid": "u"});
        let decoded = object(text(managed).to_string().as_bytes()).expect("it is JSON");
        assert_eq!(decoded.to_string(), text(own).to_string());
        assert!(object(b"{\"metadata\": {").is_err());
    }

    /// The token that the head of a page tells, and the one that the whole page does.
    fn check(page: &str, head: Option<&str>, whole: &str) {
        assert_eq!(token(page.as_bytes()).as_deref(), head, "{page}");
        let decoded = Page::decode(page.as_bytes()).expect("it is a page");
        assert_eq!(decoded.token(), whole, "{page}");
    }

    #[test]
    fn the_next_page_is_known_before_a_page_is_decoded() {
        let list = r#"{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"abc"},"items":[{"metadata":{"continue":"no"}}]}"#;
        check(list, Some("abc"), "abc");
        check(r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#, Some(""), "");
        check(r#"{"metadata":{"continue":""},"items":null}"#, Some(""), "");
        // Fields in another order: only the whole tells.
        check(r#"{"items":[],"metadata":{"continue":"abc"}}"#, None, "abc");
        check(r#"{"metadata":{"continue":"abc"}, "items":[]}"#, None, "abc");
        check(r#"{"kind":"Status"}"#, None, "");
    }
}
