//! Turns of groups of which there may be something to say: one of each namespace before another of the same.
//!
//! Ten thousand groups that are alike have news in the same moment, whether one of them starts or its queue is changed. What is
//! to be said of a group is worked out in the loop, some 50 us each, so that all at once would delay binds of everybody.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::Arc,
};

/// Groups that wait for their turn, each once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Those of each namespace, by when they came.
    lines: BTreeMap<Arc<str>, BTreeMap<u64, u32>>,
    /// The place of each: its namespace, and when it came.
    places: HashMap<u32, (Arc<str>, u64)>,
    /// The namespace that had the last turn.
    last: Arc<str>,
    /// The number of the next that comes.
    next: u64,
}

impl Turns {
    /// Has a group wait for its turn; one that does already keeps its place.
    pub(super) fn add(&mut self, group: u32, namespace: &str) {
        if self.places.contains_key(&group) {
            return;
        }
        let known = self.lines.get_key_value(namespace).map(|(known, _)| Arc::clone(known));
        let namespace = known.unwrap_or_else(|| Arc::from(namespace));
        self.lines.entry(Arc::clone(&namespace)).or_default().insert(self.next, group);
        self.places.insert(group, (namespace, self.next));
        self.next += 1;
    }

    /// The next group: the first one of the namespace that follows the one with the last turn.
    pub(super) fn take(&mut self) -> Option<u32> {
        let after: (Bound<&str>, Bound<&str>) = (Bound::Excluded(&*self.last), Bound::Unbounded);
        let following = self.lines.range::<str, _>(after).next();
        let (namespace, line) = following.or_else(|| self.lines.first_key_value())?;
        let (namespace, group) = (Arc::clone(namespace), line.values().next().copied()?);
        self.forget(group);
        self.last = namespace;
        Some(group)
    }

    /// Takes out a group, wherever it waits.
    pub(super) fn forget(&mut self, group: u32) {
        let Some((namespace, number)) = self.places.remove(&group) else { return };
        let Some(line) = self.lines.get_mut(&namespace) else { return };
        line.remove(&number);
        if line.is_empty() {
            self.lines.remove(&namespace);
        }
    }

    /// Tells whether no group waits.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(turns: &mut Turns) -> Vec<u32> {
        std::iter::from_fn(|| turns.take()).collect()
    }

    #[test]
    fn namespaces_take_turns_and_each_group_has_one() {
        let mut turns = Turns::default();
        for (group, namespace) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (1, "a"), (5, "c")] {
            turns.add(group, namespace);
        }
        assert_eq!(turns.take(), Some(1));
        // It has news again, and comes after the others of its namespace.
        turns.add(1, "a");
        assert_eq!(taken(&mut turns), [4, 5, 2, 3, 1]);
        assert!(turns.is_empty() && turns.lines.is_empty());
    }

    /// The number may be another's meanwhile, of another namespace.
    #[test]
    fn who_is_gone_has_no_turn() {
        let mut turns = Turns::default();
        for (group, namespace) in [(1, "a"), (2, "b"), (3, "b")] {
            turns.add(group, namespace);
        }
        for gone in [1, 2, 7] {
            turns.forget(gone);
        }
        turns.add(1, "c");
        assert_eq!(turns.lines.len(), 2, "nothing is kept of who is gone");
        assert_eq!(taken(&mut turns), [3, 1]);
    }
}
