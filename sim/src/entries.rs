//! A YAML mapping whose order counts: what is written first was created first.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
};

/// One mapping's ceiling, so that `x0..999999999` is an error and not an outage.
const ENTRIES_MAX: usize = 100_000;

/// Named values in the order they were written. A key `node0..3` stands for four equal entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries<T>(pub Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Entries<T> {
    /// The value of `name`.
    pub fn find(&self, name: &str) -> Option<&T> {
        self.0.iter().find_map(|(key, value)| (key == name).then_some(value))
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Tells whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends one.
    pub fn push(&mut self, name: impl Into<String>, value: T) {
        self.0.push((name.into(), value));
    }
}

impl<T> FromIterator<(String, T)> for Entries<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de> + Clone> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping from names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
        let mut entries = Entries::default();
        while let Some(key) = map.next_key::<String>()? {
            let value: T = map.next_value()?;
            for name in expand(&key).map_err(de::Error::custom)? {
                if entries.len() == ENTRIES_MAX {
                    return Err(de::Error::custom(format!("more than {ENTRIES_MAX} entries")));
                }
                entries.push(name, value.clone());
            }
        }
        let mut names: Vec<_> = entries.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(de::Error::custom(format!("`{}` is there twice", pair[0]))),
            None => Ok(entries),
        }
    }
}

/// `node0..3` is node0 to node3; any other key is itself.
fn expand(key: &str) -> Result<Vec<String>, String> {
    let Some((head, last)) = key.split_once("..") else {
        return Ok(vec![key.to_owned()]);
    };
    let wrong = || format!("`{key}` is no range: write a name such as node0..3");
    let stem = head.trim_end_matches(|c: char| c.is_ascii_digit());
    let first = &head[stem.len()..];
    let (first, last): (usize, usize) = match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last && last - first < ENTRIES_MAX => (first, last),
        _ => return Err(wrong()),
    };
    Ok((first..=last).map(|number| format!("{stem}{number}")).collect())
}

#[cfg(test)]
mod tests {
    use super::Entries;

    #[test]
    fn order_is_kept_and_ranges_expand() {
        let read: Entries<u32> = serde_saphyr::from_str("{ b: 1, a0..2: 2 }").expect("it is valid");
        let names: Vec<_> = read.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "a0", "a1", "a2"]);
    }

    #[test]
    fn wrong_keys_are_refused() {
        for text in
            ["a1: 1\na0..2: 2\n", "a2..1: 1\n", "a0..: 1\n", "a..3: 1\n", "a0..99999999: 1\n"]
        {
            assert!(serde_saphyr::from_str::<Entries<u32>>(text).is_err(), "{text}");
        }
    }
}
