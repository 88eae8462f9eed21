//! Places for those who hold large objects as trees.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::slim::TREE_VALUES_MAX;

/// So many hold large trees at once, of which each round has two or three.
const PLACES: usize = 4;

/// Places that those who read share.
#[derive(Debug)]
pub(super) struct Places(Arc<Semaphore>);

/// Holds a place, once it is needed, for as long as what was read with it is.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<OwnedSemaphorePermit>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(PLACES)))
    }
}

impl Places {
    /// Tells whether a tree of so many values may be made: one that is small, with a place, or with one that is free.
    pub(super) fn admit(&self, values: usize, place: &mut Place) -> bool {
        if values > TREE_VALUES_MAX && place.0.is_none() {
            place.0 = self.0.clone().try_acquire_owned().ok();
            return place.0.is_some();
        }
        true
    }

    /// Waits for a place.
    pub(super) async fn enter(&self, place: &mut Place) {
        if place.0.is_none() {
            place.0 = self.0.clone().acquire_owned().await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PLACES, Place, Places, TREE_VALUES_MAX};

    #[tokio::test]
    async fn so_many_have_large_trees_and_the_next_one_waits() {
        let places = Places::default();
        let mut held: Vec<Place> = (0..PLACES).map(|_| Place::default()).collect();
        for place in &mut held {
            assert!(places.admit(TREE_VALUES_MAX + 1, place));
            assert!(places.admit(TREE_VALUES_MAX + 1, place), "one is enough for all");
        }
        let mut next = Place::default();
        assert!(!places.admit(TREE_VALUES_MAX + 1, &mut next));
        assert!(places.admit(TREE_VALUES_MAX, &mut next), "it is small");
        held.pop();
        places.enter(&mut next).await;
        assert!(places.admit(TREE_VALUES_MAX + 1, &mut next));
        assert!(!places.admit(TREE_VALUES_MAX + 1, &mut Place::default()));
    }
}
