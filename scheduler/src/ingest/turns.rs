//! Turns of groups, or of pods, with which there is something to do: one of each namespace before another of the same.
//!
//! Ten thousand groups that are alike have news in the same moment, whether one of them starts or its queue is changed, and as
//! many pods refer to one config map. What is to be said of a group is worked out in the loop, and what is to be told of a pod,
//! some 50 us each, so that all at once would delay binds of everybody.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::Arc,
};

/// Groups, or pods, that wait for their turn by their numbers, each once.
#[derive(Debug, Default)]
pub(crate) struct Turns {
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
    /// Has one of a namespace wait for its turn; one that does already keeps its place.
    pub(crate) fn add(&mut self, number: u32, namespace: &str) {
        if self.places.contains_key(&number) {
            return;
        }
        let known = self.lines.get_key_value(namespace).map(|(known, _)| Arc::clone(known));
        let namespace = known.unwrap_or_else(|| Arc::from(namespace));
        self.lines.entry(Arc::clone(&namespace)).or_default().insert(self.next, number);
        self.places.insert(number, (namespace, self.next));
        self.next += 1;
    }

    /// Takes the next one out: the first of the namespace that follows the one with the last turn.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let after: (Bound<&str>, Bound<&str>) = (Bound::Excluded(&*self.last), Bound::Unbounded);
        let following = self.lines.range::<str, _>(after).next();
        let (namespace, line) = following.or_else(|| self.lines.first_key_value())?;
        let (namespace, number) = (Arc::clone(namespace), line.values().next().copied()?);
        self.forget(number);
        self.last = namespace;
        Some(number)
    }

    /// Takes one more out of the namespace that had the last turn; none where none of it waits.
    pub(crate) fn take_more(&mut self) -> Option<u32> {
        let number = self.lines.get(&*self.last)?.values().next().copied()?;
        self.forget(number);
        Some(number)
    }

    /// Takes one out, wherever it waits.
    pub(crate) fn forget(&mut self, number: u32) {
        let Some((namespace, place)) = self.places.remove(&number) else { return };
        let Some(line) = self.lines.get_mut(&namespace) else { return };
        line.remove(&place);
        if line.is_empty() {
            self.lines.remove(&namespace);
        }
    }

    /// Tells whether this one waits.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.places.contains_key(&number)
    }

    /// Tells whether any of a namespace waits.
    pub(crate) fn has_of(&self, namespace: &str) -> bool {
        self.lines.contains_key(namespace)
    }

    /// Tells whether none waits.
    pub(crate) fn is_empty(&self) -> bool {
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

    #[test]
    fn a_turn_goes_on_while_there_are_more_of_its_namespace() {
        let mut turns = Turns::default();
        assert_eq!(turns.take_more(), None, "nobody had a turn yet");
        for (pod, namespace) in [(1, "a"), (2, "a"), (3, "b"), (4, "a")] {
            turns.add(pod, namespace);
        }
        assert_eq!([turns.take(), turns.take_more()], [Some(1), Some(2)]);
        assert_eq!([turns.take(), turns.take_more()], [Some(3), None]);
        assert_eq!(taken(&mut turns), [4]);
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
        assert_eq!([1, 2, 3].map(|number| turns.has(number)), [true, false, true]);
        assert_eq!(["a", "b", "c"].map(|one| turns.has_of(one)), [false, true, true]);
        assert_eq!(turns.lines.len(), 2, "nothing is kept of who is gone");
        assert_eq!(taken(&mut turns), [3, 1]);
    }
}
