//! Pieces of Kubernetes JSON that every decoder shares.
//!
//! Objects are decoded into structs that name only the fields the scheduler reads and that borrow
//! their text from the response: a Pod costs a tenth of what its full type costs.

use std::{borrow::Cow, fmt, ops::Deref};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

/// Text that borrows from the response unless it holds an escape.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Says which pod it is, and on which node.
#[derive(Deserialize)]
pub(crate) struct Whereabouts<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Meta<'a>,
    #[serde(borrow, default)]
    pub(crate) spec: Where<'a>,
}

/// On which node a pod is.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Where<'a> {
    #[serde(borrow)]
    pub(crate) node_name: Text<'a>,
}

/// A map of text to text, in the order of the response.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Pairs<'a>(pub Vec<(Text<'a>, Text<'a>)>);

impl<'a> Pairs<'a> {
    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| &**name == key).map(|(_, value)| &**value)
    }

    /// All pairs as text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + use<'_, 'a> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Pairs<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of text to text")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Pairs::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(8));
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_any(Entries)
    }
}

/// Holds what is read of an object's metadata.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta<'a> {
    /// `metadata.name`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// `metadata.namespace`, empty where the kind has none.
    #[serde(borrow)]
    pub namespace: Text<'a>,
    /// `metadata.uid`.
    #[serde(borrow)]
    pub uid: Text<'a>,
    /// `metadata.resourceVersion`.
    #[serde(borrow)]
    pub resource_version: Text<'a>,
    /// `metadata.creationTimestamp`.
    #[serde(borrow)]
    pub creation_timestamp: Option<Text<'a>>,
    /// `metadata.deletionTimestamp`.
    #[serde(borrow)]
    pub deletion_timestamp: Option<Text<'a>>,
    /// `metadata.labels`.
    #[serde(borrow)]
    pub labels: Pairs<'a>,
    /// `metadata.annotations`.
    #[serde(borrow)]
    pub annotations: Pairs<'a>,
}

/// Holds what is read of the metadata of an object that may be another's.
#[derive(Default, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OwnedMeta<'a> {
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) namespace: Text<'a>,
    #[serde(borrow)]
    pub(crate) uid: Text<'a>,
    #[serde(borrow)]
    pub(crate) resource_version: Text<'a>,
    #[serde(borrow)]
    pub(crate) deletion_timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) annotations: Pairs<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(crate) owner_references: Vec<OwnerReference<'a>>,
}

/// Says whose an object is.
#[derive(Default, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct OwnerReference<'a> {
    #[serde(borrow)]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) uid: Text<'a>,
}

impl Meta<'_> {
    /// Namespace and name, with a slash between.
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// Milliseconds since 1970 of an API timestamp.
pub fn milliseconds(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// Reads `null` as the default, as Go does.
pub fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A UID as a number; what is no UUID (a static pod's) is read as hexadecimal or hashed.
pub(crate) fn uid_number(uid: &str) -> u128 {
    uuid::Uuid::parse_str(uid).map_or_else(
        |_| uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, uid.as_bytes()).as_u128(),
        |uuid| uuid.as_u128(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_borrows_unless_escaped_and_null_maps_are_empty() {
        let json = r#"{"name":"a","uid":"é\n","labels":{"x":"1","y":"q\"r"},"annotations":null}"#;
        let meta: Meta<'_> = serde_json::from_str(json).expect("valid metadata");
        assert!(matches!(meta.name.0, Cow::Borrowed("a")));
        assert!(matches!(meta.uid.0, Cow::Owned(_)));
        assert_eq!(meta.labels.value("y"), Some("q\"r"));
        assert_eq!(meta.labels.value("z"), None);
        assert_eq!(meta.annotations.iter().count(), 0);
    }

    #[test]
    fn timestamps_are_milliseconds() {
        assert_eq!(milliseconds("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(milliseconds("yesterday"), None);
    }
}
