//! The work queue: one entry a key, never two workers on one key, failures later and later.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The first wait after a failure, and the longest.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_mins(1);
/// Room that a queue keeps when nothing waits.
const ROOM_MIN: usize = 1_024;

/// Keys that wait for a worker.
#[derive(Debug)]
pub(crate) struct Queue<K> {
    state: Mutex<State<K>>,
    wake: Notify,
}

#[derive(Debug)]
struct State<K> {
    ready: VecDeque<K>,
    /// Keys in `ready`.
    queued: HashSet<K>,
    /// Keys that a worker holds; the flag says whether one more round was asked for meanwhile.
    held: HashMap<K, bool>,
    later: BTreeSet<(Instant, K)>,
    failures: HashMap<K, (u32, Instant)>,
}

impl<K: Clone + Eq + Hash + Ord> Queue<K> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                ready: VecDeque::new(),
                queued: HashSet::new(),
                held: HashMap::new(),
                later: BTreeSet::new(),
                failures: HashMap::new(),
            }),
            wake: Notify::new(),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a round on a key.
    pub(crate) fn add(&self, key: K) {
        let mut state = self.state();
        if let Some(again) = state.held.get_mut(&key) {
            *again = true;
        } else if state.queued.insert(key.clone()) {
            state.ready.push_back(key);
            drop(state);
            self.wake.notify_one();
        }
    }

    /// The next key, for one worker alone until [`Queue::done`] or [`Queue::failed`].
    pub(crate) async fn take(&self) -> K {
        loop {
            let wait = {
                let mut state = self.state();
                let now = Instant::now();
                while let Some((due, key)) = state.later.first().cloned() {
                    if due > now {
                        break;
                    }
                    state.later.pop_first();
                    if let Some(again) = state.held.get_mut(&key) {
                        *again = true;
                    } else if state.queued.insert(key.clone()) {
                        state.ready.push_back(key);
                    }
                }
                if let Some(key) = state.ready.pop_front() {
                    state.queued.remove(&key);
                    if state.ready.is_empty() {
                        // The room for all pods of the cluster is needed once, at the start.
                        state.ready.shrink_to(ROOM_MIN);
                        state.queued.shrink_to(ROOM_MIN);
                    }
                    state.held.insert(key.clone(), false);
                    let has_more = !state.ready.is_empty();
                    drop(state);
                    if has_more {
                        self.wake.notify_one();
                    }
                    return key;
                }
                state.later.first().map_or(BACKOFF_MAX, |(due, _)| *due - now)
            };
            // A timeout is as good as a call: either way the state is looked at again.
            let _ = tokio::time::timeout(wait, self.wake.notified()).await;
        }
    }

    /// Ends a round that went well.
    pub(crate) fn done(&self, key: &K) {
        let mut state = self.state();
        state.failures.remove(key);
        let again = state.held.remove(key).unwrap_or(false);
        drop(state);
        if again {
            self.add(key.clone());
        }
    }

    /// Ends a round that failed: the key comes again after 1 s, 2 s, 4 s ... 60 s. Returns how long
    /// it has been failing.
    pub(crate) fn failed(&self, key: &K) -> Duration {
        let mut state = self.state();
        let now = Instant::now();
        let (count, since) = state.failures.get(key).copied().unwrap_or((0, now));
        state.failures.insert(key.clone(), (count.saturating_add(1), since));
        state.held.remove(key);
        let wait = BACKOFF_MIN.saturating_mul(1_u32 << count.min(6)).min(BACKOFF_MAX);
        state.later.insert((now + wait, key.clone()));
        drop(state);
        self.wake.notify_one();
        now - since
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::Queue;

    #[tokio::test(start_paused = true)]
    async fn a_key_is_held_by_one_worker_and_comes_again() {
        let queue = Queue::new();
        queue.add("a");
        queue.add("a");
        assert_eq!(queue.take().await, "a");
        queue.add("a");
        assert!(timeout(Duration::from_secs(1), queue.take()).await.is_err());
        queue.done(&"a");
        assert_eq!(queue.take().await, "a");
        queue.done(&"a");
        assert!(timeout(Duration::from_secs(1), queue.take()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn failures_wait_longer_up_to_a_minute() {
        let queue = Queue::new();
        queue.add("a");
        let mut waits = Vec::new();
        for _ in 0..9 {
            let start = Instant::now();
            queue.take().await;
            waits.push(start.elapsed().as_secs());
            queue.failed(&"a");
        }
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
