//! A queue of keys to reconcile: each once, never two at a time, some only at a later moment.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use jiff::Timestamp;

/// The longest sleep when no key waits for a moment.
const IDLE: Duration = Duration::from_hours(1);

/// Keys that are ready, under way or waiting for their moment. All steps are O(log n) or better.
#[derive(Debug)]
pub(crate) struct Queue<K> {
    ready: VecDeque<K>,
    queued: HashSet<K>,
    busy: HashSet<K>,
    timers: BinaryHeap<Reverse<(Timestamp, K)>>,
}

impl<K: Clone + Eq + Hash + Ord> Queue<K> {
    /// An empty queue.
    pub(crate) fn new() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: HashSet::new(),
            busy: HashSet::new(),
            timers: BinaryHeap::new(),
        }
    }

    /// Asks for `key` to be looked at: now, or when the look under way is done.
    pub(crate) fn add(&mut self, key: K) {
        if self.queued.insert(key.clone()) && !self.busy.contains(&key) {
            self.ready.push_back(key);
        }
    }

    /// Asks for `key` to be looked at at a later moment.
    pub(crate) fn add_at(&mut self, at: Timestamp, key: K) {
        self.timers.push(Reverse((at, key)));
    }

    /// The next key to look at; it is under way until [`Queue::done`].
    pub(crate) fn take(&mut self) -> Option<K> {
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        self.busy.insert(key.clone());
        Some(key)
    }

    /// The look at `key` is done; it comes again at once if that was asked for meanwhile.
    pub(crate) fn done(&mut self, key: &K) {
        if self.busy.remove(key) && self.queued.contains(key) {
            self.ready.push_back(key.clone());
        }
    }

    /// How long until the next timer.
    pub(crate) fn sleep(&self, now: Timestamp) -> Duration {
        self.timers.peek().map_or(IDLE, |Reverse((at, _))| {
            Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO)
        })
    }

    /// Makes the keys ready whose moment has come.
    pub(crate) fn ring(&mut self, now: Timestamp) {
        while self.timers.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            if let Some(Reverse((_, key))) = self.timers.pop() {
                self.add(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_under_way_twice() {
        let mut queue = Queue::new();
        queue.add("a");
        queue.add("a");
        queue.add("b");
        assert_eq!(queue.take(), Some("a"));
        queue.add("a");
        assert_eq!(queue.take(), Some("b"));
        assert_eq!(queue.take(), None);
        queue.done(&"a");
        assert_eq!(queue.take(), Some("a"));
        queue.done(&"a");
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn timers_ring_in_order() {
        let at = |second| Timestamp::from_second(second).expect("a small number");
        let mut queue = Queue::new();
        queue.add_at(at(2), "late");
        queue.add_at(at(1), "early");
        assert_eq!(queue.sleep(at(0)), Duration::from_secs(1));
        queue.ring(at(1));
        assert_eq!((queue.take(), queue.take()), (Some("early"), None));
        queue.ring(at(5));
        assert_eq!(queue.take(), Some("late"));
    }
}
