//! The part that is kept of objects which were read whole.

use std::collections::{HashMap, VecDeque};

use super::ObjectKey;

/// Bytes of JSON text that are kept at most; as trees they take some four times as much.
const BYTES_MAX: usize = 8 << 20;

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

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, Held};
    use crate::cache::ObjectKey;
    use crate::object::Gvk;

    fn key(name: &str) -> ObjectKey {
        let gvk = Gvk::new("batch/v1", "Job");
        ObjectKey { gvk, namespace: "n".to_owned(), name: name.to_owned() }
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
