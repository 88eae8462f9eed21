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

    pub(super) fn parts(&mut self) -> impl Iterator<Item = &mut Known> {
        [self.metadata.as_mut(), self.whole.as_mut()].into_iter().flatten()
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
    /// The slot of an object. Each time that the slots have doubled, those that can be read again go.
    pub(super) fn of(&mut self, key: &ObjectKey) -> Slot {
        if self.rows.len() > 2 * self.kept + SLOTS_SLACK {
            self.rows.retain(|_, slot| slot.try_lock().is_ok_and(|entry| !entry.is_old()));
            self.kept = self.rows.len();
        }
        self.rows.entry(key.clone()).or_default().clone()
    }
}
