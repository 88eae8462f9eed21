//! Keeps what is known of objects, each in a slot that whoever reads it has to itself.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Found, ObjectKey, Part, UNWATCHED_AGE_MAX};

/// Number of slots beyond twice those that were in use last.
const SLOTS_SLACK: usize = 1_000;

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) found: Found,
    pub(super) at: Instant,
    pub(super) epoch: u64,
    pub(super) is_stale: bool,
}

impl Known {
    /// The same knowledge, of the metadata alone.
    fn metadata(&self) -> Self {
        let known = self.clone();
        let Found::Object(object) = &self.found else { return known };
        Self { found: Found::Object(Arc::new(object.head())), ..known }
    }
}

#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) metadata: Option<Known>,
    pub(super) whole: Option<Known>,
    /// True if `whole` is without what [`Part::Spec`] leaves out.
    is_spec: bool,
    /// True if there was a `whole` that went for others since it was read last.
    is_let_go: bool,
}

impl Entry {
    /// Tells whether nothing is known that a watch keeps right or that was read just now.
    fn is_old(&self) -> bool {
        let mut known = [&self.metadata, &self.whole].into_iter().flatten();
        known.all(|known| known.epoch == 0 && known.at.elapsed() > UNWATCHED_AGE_MAX)
    }

    /// Finds what is known of more than the metadata, where it is this part.
    pub(super) fn more(&self, part: Part) -> Option<&Known> {
        self.whole.as_ref().filter(|_| self.is_spec == (part == Part::Spec))
    }

    /// Gives what is known, and whether it is of more than the metadata.
    pub(super) fn parts(&mut self) -> impl Iterator<Item = (&mut Known, bool)> {
        let parts = [(self.metadata.as_mut(), false), (self.whole.as_mut(), true)];
        parts.into_iter().filter_map(|(known, is_more)| Some((known?, is_more)))
    }

    /// Lets go of all but the metadata.
    pub(super) fn let_go(&mut self) {
        self.is_let_go |= self.whole.take().is_some();
    }

    /// Tells whether more was read than is known: nothing tells whether that is as it was.
    pub(super) fn is_let_go(&self) -> bool {
        self.is_let_go
    }

    /// Keeps what was read of an object.
    pub(super) fn learn(&mut self, part: Part, known: Known) {
        if matches!(known.found, Found::Absent) {
            *self = Self::default();
        } else if part == Part::Metadata {
            self.metadata = Some(known);
        } else {
            // Too large as a whole, it may have metadata like any other.
            if !matches!(known.found, Found::TooLarge(_)) {
                self.metadata = Some(known.metadata());
            }
            self.whole = Some(known);
            self.is_spec = part == Part::Spec;
            self.is_let_go = false;
        }
    }
}

pub(super) type Slot = Arc<tokio::sync::Mutex<Entry>>;

#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) rows: HashMap<ObjectKey, Slot>,
    /// Number of them after the last sweep.
    kept: usize,
}

impl Slots {
    /// The slot of an object. Each time that the slots have doubled, those that can be read again go. One that somebody has stays:
    /// what is learnt by it is kept right by what the watch finds in the rows.
    pub(super) fn of(&mut self, key: &ObjectKey) -> Slot {
        if self.rows.len() > 2 * self.kept + SLOTS_SLACK {
            self.rows.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|entry| !entry.is_old())
            });
            self.kept = self.rows.len();
        }
        self.rows.entry(key.clone()).or_default().clone()
    }

    /// Lets go of the slot of an object that is gone, unless somebody waits for it: who does may find another object of the name.
    pub(super) fn remove(&mut self, key: &ObjectKey, slot: &Slot) {
        // Its row has it, and whoever calls.
        if Arc::strong_count(slot) <= 2 {
            self.rows.remove(key);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::object::Gvk;

    /// The key of a Job.
    pub(in crate::cache) fn key(name: &str) -> ObjectKey {
        let gvk = Gvk::new("batch/v1", "Job");
        ObjectKey { gvk, namespace: "n".to_owned(), name: name.to_owned() }
    }

    /// Changes of an object whose slot is another by then would be told to nobody.
    #[test]
    fn a_slot_that_somebody_has_stays() {
        let mut slots = Slots::default();
        let read = slots.of(&key("read"));
        let entry = read.try_lock().expect("nobody else has it");
        let waits = slots.of(&key("waits"));
        for number in 0..2 * SLOTS_SLACK {
            slots.of(&key(&number.to_string()));
        }
        assert!(slots.rows.len() < 2 * SLOTS_SLACK, "{} are kept", slots.rows.len());
        for (name, slot) in [("read", &read), ("waits", &waits)] {
            assert!(Arc::ptr_eq(slot, &slots.of(&key(name))), "{name}");
        }
        drop(entry);
    }

    #[test]
    fn the_slot_of_an_object_that_is_gone_stays_for_who_waits_for_it() {
        let (mut slots, key) = (Slots::default(), key("j"));
        let slot = slots.of(&key);
        let waits = slots.of(&key);
        slots.remove(&key, &slot);
        assert!(Arc::ptr_eq(&waits, &slots.of(&key)));
        drop(waits);
        slots.remove(&key, &slot);
        assert!(slots.rows.is_empty(), "{:?}", slots.rows);
    }
}
