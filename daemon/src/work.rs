//! Keys to work on: each once, never two workers on one, some only from a later moment on.
//!
//! Nothing here reads a clock: who asks says what time it is, so that a queue can be driven by a virtual one.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use jiff::Timestamp;

/// Room that a queue keeps when nothing waits.
const ROOM_MIN: usize = 1_024;
/// The longest sleep where no key waits for a moment.
const IDLE: Duration = Duration::from_hours(1);

/// Order of those that are ready.
pub trait Line<K>: Default {
    /// Lets a key wait for its turn.
    fn push(&mut self, key: K);
    /// Has a key come before others, which waits already or not. In a line without precedence it has the turn of any.
    fn bring_first(&mut self, key: K, is_waiting: bool) {
        if !is_waiting {
            self.push(key);
        }
    }
    /// Takes the key whose turn it is.
    fn pop(&mut self) -> Option<K>;
    /// Tells that no key waits.
    fn is_empty(&self) -> bool;
    /// Notes that the round of a key that was taken has ended.
    fn ended(&mut self, _key: &K) {}
}

/// First come, first served.
impl<K> Line<K> for VecDeque<K> {
    fn push(&mut self, key: K) {
        self.push_back(key);
    }

    fn pop(&mut self) -> Option<K> {
        self.pop_front()
    }

    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }
}

/// Keys that are ready, held by a worker or due later. Each step costs O(log n) in the keys.
#[derive(Debug)]
pub struct Work<K, T, L = VecDeque<K>> {
    ready: L,
    /// Keys in `ready`.
    queued: HashSet<K>,
    /// Keys that a worker holds; the flag says whether one more round was asked for meanwhile.
    held: HashMap<K, bool>,
    later: BTreeSet<(T, K)>,
}

impl<K, T, L: Default> Default for Work<K, T, L> {
    fn default() -> Self {
        Self {
            ready: L::default(),
            queued: HashSet::new(),
            held: HashMap::new(),
            later: BTreeSet::new(),
        }
    }
}

impl<K: Clone + Eq + Hash + Ord, T: Copy + Ord, L: Line<K>> Work<K, T, L> {
    /// No keys yet, for a line of which more is to be said than its type.
    pub fn of(ready: L) -> Self {
        Self { ready, ..Self::default() }
    }

    /// Asks for a round on a key: now, or when the round under way ends.
    pub fn add(&mut self, key: K) {
        if let Some(again) = self.held.get_mut(&key) {
            *again = true;
        } else if self.queued.insert(key.clone()) {
            self.ready.push(key);
        }
    }

    /// Asks for a round on a key before others that wait: now, or when the round under way ends.
    pub fn add_first(&mut self, key: K) {
        if let Some(again) = self.held.get_mut(&key) {
            *again = true;
        } else {
            let is_waiting = !self.queued.insert(key.clone());
            self.ready.bring_first(key, is_waiting);
        }
    }

    /// Asks for a round on a key from a moment on.
    pub fn add_at(&mut self, at: T, key: K) {
        self.later.insert((at, key));
    }

    /// Takes back what [`Work::add_at`] asked for.
    pub fn cancel(&mut self, at: T, key: &K) {
        self.later.remove(&(at, key.clone()));
    }

    /// Gives the time when the next key is due of those that wait for a moment.
    pub fn next_at(&self) -> Option<T> {
        self.later.first().map(|(at, _)| *at)
    }

    /// Takes out a key whose moment has come; it is not ready by that.
    pub fn due(&mut self, now: T) -> Option<K> {
        self.next_at().filter(|at| *at <= now)?;
        self.later.pop_first().map(|(_, key)| key)
    }

    /// Readies all keys whose moment has come.
    pub fn ring(&mut self, now: T) {
        while let Some(key) = self.due(now) {
            self.add(key);
        }
    }

    /// The next key, for one worker alone until [`Work::done`] or [`Work::release`].
    pub fn take(&mut self) -> Option<K> {
        let key = self.ready.pop()?;
        self.queued.remove(&key);
        if self.ready.is_empty() {
            // The room for all objects of a cluster is needed once, at the start.
            self.queued.shrink_to(ROOM_MIN);
        }
        self.held.insert(key.clone(), false);
        Some(key)
    }

    /// Tells that a key is ready.
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Gives the number of keys that are ready.
    pub fn waiting(&self) -> usize {
        self.queued.len()
    }

    /// Ends a round. The key is ready again if that was asked for meanwhile.
    pub fn done(&mut self, key: &K) {
        if self.release(key) {
            self.add(key.clone());
        }
    }

    /// Ends a round whose key comes again at another moment; returns whether that was asked for meanwhile.
    pub fn release(&mut self, key: &K) -> bool {
        let Some(again) = self.held.remove(key) else { return false };
        self.ready.ended(key);
        again
    }
}

impl<K: Clone + Eq + Hash + Ord, L: Line<K>> Work<K, Timestamp, L> {
    /// Gives the time to wait for the next key that is due later; an hour where there is none.
    pub fn sleep(&self, now: Timestamp) -> Duration {
        self.next_at()
            .map_or(IDLE, |at| Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_held_twice() {
        let mut work = Work::<_, u8>::default();
        work.add("a");
        work.add("a");
        work.add("b");
        assert_eq!(work.take(), Some("a"));
        work.add("a");
        assert_eq!(work.take(), Some("b"));
        assert_eq!(work.take(), None);
        work.done(&"a");
        assert_eq!(work.take(), Some("a"));
        work.done(&"a");
        assert_eq!(work.take(), None);
    }

    #[test]
    fn what_is_due_later_comes_in_order() {
        let mut work = Work::<_, u8>::default();
        work.add_at(2, "late");
        work.add_at(1, "early");
        work.add_at(3, "never");
        work.cancel(3, &"never");
        assert_eq!(work.next_at(), Some(1));
        work.ring(1);
        assert_eq!((work.take(), work.take()), (Some("early"), None));
        work.ring(5);
        assert_eq!((work.take(), work.take()), (Some("late"), None));
        assert_eq!(work.next_at(), None);
    }

    #[test]
    fn what_is_released_does_not_come_by_itself() {
        let mut work = Work::<_, u8>::default();
        work.add("a");
        assert_eq!(work.take(), Some("a"));
        work.add("a");
        assert!(work.release(&"a"), "asked for meanwhile");
        assert_eq!(work.take(), None);
    }

    #[test]
    fn the_next_that_is_due_is_slept_for() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut work = Work::<_, Timestamp>::default();
        assert_eq!(work.sleep(at(10)), IDLE);
        work.add_at(at(15), "late");
        work.add_at(at(13), "early");
        assert_eq!([10, 13, 20].map(|now| work.sleep(at(now)).as_secs()), [3, 0, 0]);
    }
}
