//! The part that is kept of objects which were read whole.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::ObjectKey;

/// Memory that all of them take at most.
const BYTES_MAX: usize = 32 << 20;
/// The memory of a field beside its key and value, with its place in the index of its table, and the number of fields for
/// which there is room in the smallest table.
const FIELD_BYTES: usize = 128;
const FIELDS_MIN: usize = 3;

/// The objects that are held whole, the longest held first.
///
/// The pods of a gang come together, and then rarely: what was read for a gang that has its marks may go, and is read
/// again should one of its pods change.
#[derive(Debug, Default)]
pub(super) struct Held {
    rows: VecDeque<(ObjectKey, usize)>,
    /// Number of rows of each object: one that was held again has a later one.
    counts: HashMap<ObjectKey, usize>,
    bytes: usize,
}

impl Held {
    /// Notes an object of so many bytes; returns those that have to go for it.
    pub(super) fn add(&mut self, key: &ObjectKey, bytes: usize) -> Vec<ObjectKey> {
        self.rows.push_back((key.clone(), bytes));
        *self.counts.entry(key.clone()).or_default() += 1;
        self.bytes += bytes;
        let mut gone = Vec::new();
        while self.bytes > BYTES_MAX
            && self.rows.len() > 1
            && let Some((key, bytes)) = self.rows.pop_front()
        {
            self.bytes -= bytes;
            let later = self.counts.get_mut(&key).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if later == 0 {
                self.counts.remove(&key);
                gone.push(key);
            }
        }
        gone
    }
}

/// Gives the memory that a value takes as a tree: of many small ones it is forty times their text.
pub(super) fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Array(rows) => rows.iter().map(|row| size_of_val(row) + bytes_of(row)).sum(),
        Value::Object(fields) if fields.is_empty() => 0,
        Value::Object(fields) => {
            let inner = fields.iter().map(|(key, value)| key.len() + bytes_of(value));
            FIELD_BYTES * fields.len().max(FIELDS_MIN) + inner.sum::<usize>()
        }
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{BYTES_MAX, Held, bytes_of};
    use crate::cache::slot::tests::key;

    /// Forty claims of which each is two hundred kilobytes of text took 250 MB.
    #[test]
    fn what_is_held_counts_as_the_tree_that_it_is() {
        let small = json!(vec![json!({"a": "b"}); 10_000]);
        assert!(bytes_of(&small) > 40 * small.to_string().len(), "{} bytes", bytes_of(&small));
        let large = json!({"a": "b".repeat(1_000_000)});
        assert!((1_000_000..1_001_000).contains(&bytes_of(&large)), "{} bytes", bytes_of(&large));
    }

    #[test]
    fn the_longest_held_goes_first_and_one_is_always_held() {
        let mut held = Held::default();
        assert!(held.add(&key("a"), BYTES_MAX / 2).is_empty());
        assert!(held.add(&key("b"), BYTES_MAX / 2).is_empty());
        assert_eq!(held.add(&key("c"), 1), [key("a")]);
        // b was read again: its older entry goes, and it stays.
        assert!(held.add(&key("b"), BYTES_MAX / 2).is_empty());
        assert_eq!(held.add(&key("d"), 2 * BYTES_MAX), [key("c"), key("b")]);
    }
}
