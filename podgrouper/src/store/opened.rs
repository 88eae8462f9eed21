//! `PodGroup`s as trees: one that many ask for in a row is read once, and large ones are read one after the other.
//!
//! Whoever may edit a `PodGroup` makes one that is read in some tens of milliseconds. Who has to wait for it holds no thread
//! meanwhile, so that however many ask for such groups one thread reads them, and the others answer whoever else asks.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync;

use super::{LARGE_BYTES_MIN, Packed, SMALL_BYTES_MAX};
use crate::object::Object;

/// A group as it is stored, and as a tree.
type Tree = (Packed, Arc<Object>);

/// The groups that were read last.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// One that is not large, and one that is: the one does not have the other read again.
    last: Mutex<[Option<Tree>; 2]>,
    /// Held while a large one is read.
    turn: sync::Mutex<()>,
}

impl Opened {
    /// Reads a group, or gives what was read of it; large ones wait for each other.
    pub(super) async fn tree(&self, packed: Packed) -> Arc<Object> {
        if packed.text.len() <= SMALL_BYTES_MAX {
            return packed.open();
        }
        if let Some(object) = self.kept(&packed) {
            return object;
        }
        let is_large = packed.text.len() >= LARGE_BYTES_MIN;
        let _turn = if is_large { Some(self.turn.lock().await) } else { None };
        // Who had the turn may have read the same.
        if let Some(object) = self.kept(&packed) {
            return object;
        }
        let slot = usize::from(is_large);
        // One less in memory while the next is read.
        self.keep(slot, None);
        let object = packed.open();
        self.keep(slot, Some((packed, object.clone())));
        object
    }

    /// Gives what was read of a group, where it is kept.
    pub(super) fn kept(&self, packed: &Packed) -> Option<Arc<Object>> {
        let last = self.last();
        let mut kept = last.iter().flatten();
        let (_, object) = kept.find(|(of, _)| Arc::ptr_eq(&of.text, &packed.text))?;
        Some(object.clone())
    }

    fn keep(&self, slot: usize, next: Option<Tree>) {
        let before = mem::replace(&mut self.last()[slot], next);
        // It takes long to free a large one: nobody waits for that.
        drop(before);
    }

    fn last(&self) -> MutexGuard<'_, [Option<Tree>; 2]> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    fn group(rows: usize) -> Packed {
        let rows: Vec<_> = (0..rows).map(|row| json!({"name": format!("s-{row}")})).collect();
        Packed::of(&Object::new(json!({"spec": {"subGroups": rows}})))
    }

    /// Two groups of a megabyte that are edited in turns would hold the threads that answer all others.
    #[test]
    fn large_groups_wait_for_each_other_and_nobody_else_for_them() {
        let opened = Opened::default();
        let ask = |packed: &Packed| opened.tree(packed.clone()).now_or_never();
        let (large, other, medium) = (group(10_000), group(11_000), group(500));
        assert!(large.text.len() >= LARGE_BYTES_MIN && medium.text.len() > SMALL_BYTES_MAX);
        let turn = opened.turn.try_lock().expect("nobody has it");
        assert!(ask(&large).is_none() && ask(&medium).is_some() && ask(&group(1)).is_some());
        drop(turn);
        let read = ask(&large).expect("nobody else has the turn");
        assert!(ask(&medium).is_some());
        // What was read is there for all who ask, whoever has the turn.
        let turn = opened.turn.try_lock().expect("nobody has it");
        assert!(ask(&large).is_some_and(|again| Arc::ptr_eq(&again, &read)));
        assert!(ask(&other).is_none());
        drop(turn);
        // One large group is kept.
        assert!(ask(&other).is_some());
        assert!(ask(&large).is_some_and(|again| !Arc::ptr_eq(&again, &read)));
    }
}
