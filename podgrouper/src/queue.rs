//! The work queue: one entry a key, never two workers on one key, failures later and later, tenants in turns.
//!
//! A round lasts as long as the API server takes, which a tenant can make long: no tenant has more than a part of the workers.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kai_api::fair::Fair;
use kai_daemon::work::{Line, Work};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::meters::Meters;

/// The first wait after a failure, and the longest.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_mins(1);
/// While the API server does not do what is asked, so often one key finds out whether it does again.
const PROBE: Duration = Duration::from_secs(2);
/// Room that is kept for keys when none waits.
const ROOM_MIN: usize = 1_024;

/// The tenant whose work a key is.
pub(crate) trait Tenant {
    fn tenant(&self) -> &Arc<str>;
}

/// Keys that wait for a worker. Tenants take turns, so that a flood of one is one turn of another.
#[derive(Debug)]
pub(crate) struct Queue<K: Tenant> {
    state: Mutex<State<K>>,
    wake: Notify,
}

#[derive(Debug)]
struct State<K: Tenant> {
    work: Work<K, Instant, Turns<K>>,
    failures: HashMap<K, Failed>,
    /// Keys that wait for a moment and whose failure was the API server's.
    away: BTreeSet<K>,
    /// The one of them that was tried last, by its tenant.
    probed: HashMap<Arc<str>, K>,
    /// The tenant of which one was tried last.
    prober: Option<Arc<str>>,
    /// Time when one of them is tried.
    probe: Option<Instant>,
    /// Time from which each key that is ready waits for a worker.
    since: HashMap<K, Instant>,
    meters: Meters,
}

/// Tenants take turns.
#[derive(Debug)]
struct Turns<K> {
    /// One that was called is in front of the others of its tenant, and may have a place behind besides. What comes first
    /// is never such a place.
    waiting: Fair<K>,
    /// Keys that were called and wait.
    called: HashSet<K>,
    /// Keys whose place behind is passed over, unless they wait anew before its turn comes.
    aside: HashSet<K>,
    /// Workers that each tenant has.
    held: HashMap<Arc<str>, usize>,
    /// A tenant that has so many is given none while one that has fewer waits.
    fair: usize,
    /// A tenant never has more.
    most: usize,
}

impl<K> Turns<K> {
    /// Nobody waits for one of so many workers. A quarter of them is left to whoever comes next.
    fn of(workers: usize) -> Self {
        let fair = (workers / 2).max(1);
        let most = (workers - workers.div_ceil(4)).max(fair);
        Self {
            waiting: Fair::default(),
            called: HashSet::new(),
            aside: HashSet::new(),
            held: HashMap::new(),
            fair,
            most,
        }
    }
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self::of(usize::MAX)
    }
}

impl<K: Clone + Eq + Hash + Tenant> Line<K> for Turns<K> {
    fn push(&mut self, key: K) {
        if !self.aside.remove(&key) {
            let tenant = Arc::clone(key.tenant());
            self.waiting.push(&tenant, key);
        }
    }

    /// Costs the same however many wait: a place that the key has already stays, and is passed over. One that was called
    /// before stays where it is.
    fn bring_first(&mut self, key: K, is_waiting: bool) {
        if !self.called.insert(key.clone()) {
            return;
        }
        if is_waiting {
            self.aside.insert(key.clone());
        }
        let tenant = Arc::clone(key.tenant());
        self.waiting.go_on(&tenant, key);
    }

    /// Gives nothing where all who wait have as many workers as they may.
    fn pop(&mut self) -> Option<K> {
        let Self { waiting, called, aside, held, fair, most } = self;
        let has_less = |tenant: &str, than: usize| held.get(tenant).is_none_or(|has| *has < than);
        let first = waiting.pop_where(|tenant| has_less(tenant, *fair));
        let (tenant, key) =
            first.or_else(|| waiting.pop_where(|tenant| has_less(tenant, *most)))?;
        called.remove(&key);
        waiting.pass_over(&tenant, |next| !called.contains(next) && aside.remove(next));
        *held.entry(tenant).or_default() += 1;
        Some(key)
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn ended(&mut self, key: &K) {
        let Some(has) = self.held.get_mut(key.tenant()) else { return };
        *has -= 1;
        if *has == 0 {
            self.held.remove(key.tenant());
        }
    }
}

/// Rounds on a key that failed, one after the other.
#[derive(Debug)]
struct Failed {
    count: u32,
    since: Instant,
    /// Time when it is tried again: there is one such moment at most.
    due: Instant,
    is_away: bool,
}

impl<K: Clone + Eq + Hash + Ord + Tenant> State<K> {
    fn enqueue(&mut self, key: K) {
        self.enqueue_by(key, Work::add);
    }

    fn enqueue_by(&mut self, key: K, add: fn(&mut Work<K, Instant, Turns<K>>, K)) {
        self.forget_retry(&key);
        let before = self.work.waiting();
        add(&mut self.work, key.clone());
        let waiting = self.work.waiting();
        if waiting > before {
            self.since.insert(key, Instant::now());
            self.meters.added(waiting);
        }
    }

    /// Takes the key whose turn it is.
    fn take(&mut self, now: Instant) -> Option<K> {
        let key = self.work.take()?;
        let waited = self.since.remove(&key).map_or(Duration::ZERO, |since| now - since);
        if self.since.is_empty() {
            self.since.shrink_to(ROOM_MIN);
        }
        self.meters.taken(waited, self.work.waiting());
        Some(key)
    }

    /// A round comes before it was due.
    fn forget_retry(&mut self, key: &K) {
        if let Some(failed) = self.failures.get(key) {
            self.work.cancel(failed.due, key);
        }
        self.away.remove(key);
    }

    /// Readies what is due by now.
    fn ready_due(&mut self, now: Instant) {
        while let Some(key) = self.work.due(now) {
            self.enqueue(key);
        }
        if self.probe.is_some_and(|at| at <= now) {
            let key = self.next_probe();
            self.probe = key.is_some().then_some(now + PROBE);
            if let Some(key) = key {
                self.enqueue(key);
            }
        }
    }

    /// The key that finds out next whether the API server does what is asked. Tenants take turns, and so do the keys of each: what
    /// never succeeds, such as a pod that has no room for a mark, must not stand for all.
    fn next_probe(&mut self) -> Option<K> {
        let last = self.prober.take();
        let tenants = || self.away.iter().map(Tenant::tenant);
        let later = tenants().filter(|tenant| last.as_ref().is_some_and(|last| *tenant > last));
        let tenant = later.min().or_else(|| tenants().min())?.clone();
        let turn = &tenant;
        let own = || self.away.iter().filter(move |key| key.tenant() == turn);
        let last = self.probed.get(turn);
        let next = own().find(|key| last.is_none_or(|last| *key > last));
        let key = next.or_else(|| own().next())?.clone();
        self.probed.insert(tenant.clone(), key.clone());
        self.prober = Some(tenant);
        Some(key)
    }
}

impl<K: Clone + Eq + Hash + Ord + Tenant> Queue<K> {
    /// No keys yet, for so many workers.
    pub(crate) fn new(meters: Meters, workers: usize) -> Self {
        Self {
            state: Mutex::new(State {
                work: Work::of(Turns::of(workers)),
                failures: HashMap::new(),
                away: BTreeSet::new(),
                probe: None,
                probed: HashMap::new(),
                prober: None,
                since: HashMap::new(),
                meters,
            }),
            wake: Notify::new(),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a round on a key.
    pub(crate) fn add(&self, key: K) {
        self.state().enqueue(key);
        self.wake.notify_one();
    }

    /// Asks for a round on a key before all others of its tenant: others wait for what is kept for it.
    pub(crate) fn call(&self, key: K) {
        self.state().enqueue_by(key, Work::add_first);
        self.wake.notify_one();
    }

    /// The next key, for one worker alone until [`Queue::done`], [`Queue::failed`] or [`Queue::put_back`].
    pub(crate) async fn take(&self) -> K {
        loop {
            let wait = {
                let mut state = self.state();
                let now = Instant::now();
                state.ready_due(now);
                if let Some(key) = state.take(now) {
                    let has_more = state.work.is_ready();
                    drop(state);
                    if has_more {
                        self.wake.notify_one();
                    }
                    return key;
                }
                let next = state.work.next_at().into_iter().chain(state.probe).min();
                next.map_or(BACKOFF_MAX, |at| at - now)
            };
            // A timeout is as good as a call: either way the state is looked at again.
            let _ = tokio::time::timeout(wait, self.wake.notified()).await;
        }
    }

    /// Ends a round that went well. Where the API server had failed the key, it does what is asked again: all others that
    /// wait for that come at once.
    pub(crate) fn done(&self, key: &K) {
        let mut state = self.state();
        let was_away = state.failures.remove(key).is_some_and(|failed| failed.is_away);
        if was_away {
            state.probe = None;
            state.probed.clear();
            for other in std::mem::take(&mut state.away) {
                state.enqueue(other);
            }
        }
        drop(state);
        self.put_back(key);
    }

    /// Ends a round that came to nothing, of a key that somebody asks for again. How often it failed before stays known.
    pub(crate) fn put_back(&self, key: &K) {
        let mut state = self.state();
        if state.work.release(key) {
            state.enqueue(key.clone());
        }
        let is_ready = state.work.is_ready();
        drop(state);
        // Its tenant may have one more worker by that.
        if is_ready {
            self.wake.notify_one();
        }
    }

    /// Ends a round that failed: the key comes again after 1 s, 2 s, 4 s ... 60 s, once, whatever asks for it meanwhile.
    /// Where it was the API server's failure (`is_away`), one of all such keys is tried every 2 s besides. Returns how long
    /// it has been failing.
    pub(crate) fn failed(&self, key: &K, is_away: bool) -> Duration {
        let mut state = self.state();
        let now = Instant::now();
        state.forget_retry(key);
        state.work.release(key);
        let before = state.failures.get(key);
        let (count, since) = before.map_or((0, now), |failed| (failed.count, failed.since));
        let wait = BACKOFF_MIN.saturating_mul(1_u32 << count.min(6)).min(BACKOFF_MAX);
        let due = now + wait;
        let failed = Failed { count: count.saturating_add(1), since, due, is_away };
        state.failures.insert(key.clone(), failed);
        state.work.add_at(due, key.clone());
        if is_away {
            state.away.insert(key.clone());
            state.probe.get_or_insert(now + PROBE);
        }
        drop(state);
        self.wake.notify_one();
        now - since
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{Hash, Hasher};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::{sync::Arc, time::Duration};

    use tokio::time::{Instant, timeout};

    use kai_daemon::metrics::Register;
    use prometheus::{Encoder as _, TextEncoder};

    use kai_daemon::work::Line as _;

    use super::{Queue, Tenant, Turns};
    use crate::meters::{Ended, Meters};
    use crate::store::Key;

    fn queue() -> (Queue<Key>, Register) {
        let register = Register::default();
        (Queue::new(Meters::new(&register).expect("names"), 10), register)
    }

    #[tokio::test(start_paused = true)]
    async fn a_queue_is_measured() {
        let (queue, register) = queue();
        queue.add(key("a"));
        queue.add(key("a"));
        queue.add(key("b"));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(queue.take().await, key("a"));
        queue.failed(&key("a"), false);
        queue.state().meters.worked(Ended::Badly, Duration::from_secs(2));
        let mut text = Vec::new();
        TextEncoder::new().encode(&register.gather(), &mut text).expect("text");
        let text = String::from_utf8(text).expect("text");
        for line in [
            "workqueue_depth{controller=\"pod\",name=\"pod\"} 1",
            "workqueue_adds_total{controller=\"pod\",name=\"pod\"} 2",
            "workqueue_retries_total{controller=\"pod\",name=\"pod\"} 1",
            "workqueue_queue_duration_seconds_sum{controller=\"pod\",name=\"pod\"} 3",
            "workqueue_work_duration_seconds_sum{controller=\"pod\",name=\"pod\"} 2",
            "controller_runtime_active_workers{controller=\"pod\"} 0",
            "controller_runtime_reconcile_total{controller=\"pod\",result=\"error\"} 1",
            "controller_runtime_reconcile_errors_total{controller=\"pod\"} 1",
            "controller_runtime_reconcile_time_seconds_count{controller=\"pod\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    fn key(name: &str) -> Key {
        Key::new("n", name)
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_held_by_one_worker_and_comes_again() {
        let (queue, _) = queue();
        queue.add(key("a"));
        queue.add(key("a"));
        assert_eq!(queue.take().await, key("a"));
        queue.add(key("a"));
        assert!(timeout(Duration::from_secs(1), queue.take()).await.is_err());
        queue.done(&key("a"));
        assert_eq!(queue.take().await, key("a"));
        queue.done(&key("a"));
        assert!(timeout(Duration::from_secs(1), queue.take()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn failures_wait_longer_up_to_a_minute() {
        let (queue, _) = queue();
        queue.add(key("a"));
        let mut waits = Vec::new();
        for _ in 0..9 {
            let start = Instant::now();
            queue.take().await;
            waits.push(start.elapsed().as_secs());
            queue.failed(&key("a"), false);
        }
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
    }

    /// However often a failing object is edited, it is tried again at one time only: afterwards there is silence.
    #[tokio::test(start_paused = true)]
    async fn edits_of_what_fails_leave_one_retry() {
        let (queue, _) = queue();
        for _ in 0..1500 {
            queue.add(key("a"));
            queue.take().await;
            queue.failed(&key("a"), false);
        }
        let start = Instant::now();
        let mut rounds = 0;
        while timeout(Duration::from_mins(10), queue.take()).await.is_ok()
            && start.elapsed() <= Duration::from_mins(10)
        {
            rounds += 1;
            queue.failed(&key("a"), false);
        }
        assert_eq!(rounds, 10, "one a minute");
    }

    /// A flood of one namespace is one turn of another.
    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_namespace_delays_another_by_one_turn() {
        let (queue, _) = queue();
        for number in 0..10_000 {
            queue.add(Key::new("mallory", &number.to_string()));
        }
        queue.add(Key::new("ana", "canary"));
        let mut before = 0;
        while *queue.take().await.namespace != *Arc::<str>::from("ana") {
            before += 1;
        }
        assert_eq!(before, 1, "rounds before the canary's");
    }

    /// Else a place would be kept for it from all others while its namespace has ten thousand rounds.
    #[tokio::test(start_paused = true)]
    async fn who_is_called_comes_before_the_others_of_its_namespace() {
        let (queue, _) = queue();
        for name in ["a", "b", "c"] {
            queue.add(key(name));
        }
        queue.call(key("c"));
        queue.call(key("d"));
        let mut order = Vec::new();
        while let Ok(next) = timeout(Duration::from_secs(1), queue.take()).await {
            queue.done(&next);
            order.push(next);
        }
        assert_eq!(order, ["d", "c", "a", "b"].map(key));
    }

    /// The place that it had is its own again, and no key has two.
    #[tokio::test(start_paused = true)]
    async fn who_was_called_comes_once() {
        let (queue, _) = queue();
        for name in ["a", "b", "c"] {
            queue.add(key(name));
        }
        for _ in 0..3 {
            queue.call(key("c"));
            assert_eq!(queue.take().await, key("c"));
            queue.add(key("c"));
            queue.done(&key("c"));
        }
        queue.call(key("b"));
        queue.call(key("b"));
        for name in ["b", "a", "c"] {
            let next = timeout(Duration::from_secs(1), queue.take()).await;
            assert_eq!(next.ok(), Some(key(name)));
            queue.done(&key(name));
        }
        assert!(!queue.state().work.is_ready(), "no place is left of those who were called");
    }

    /// A key that counts how often it is compared with another.
    #[derive(Clone)]
    struct Compared {
        tenant: Arc<str>,
        number: u32,
        times: Arc<AtomicU32>,
    }

    impl PartialEq for Compared {
        fn eq(&self, other: &Self) -> bool {
            self.times.fetch_add(1, Ordering::Relaxed);
            self.number == other.number
        }
    }

    impl Eq for Compared {}

    impl Hash for Compared {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.number.hash(state);
        }
    }

    impl Tenant for Compared {
        fn tenant(&self) -> &Arc<str> {
            &self.tenant
        }
    }

    /// All workers and watches wait meanwhile.
    #[test]
    fn a_call_looks_at_none_of_the_others_that_wait() {
        let (tenant, times): (Arc<str>, Arc<AtomicU32>) = (Arc::from("n"), Arc::default());
        let key =
            |number| Compared { tenant: Arc::clone(&tenant), number, times: Arc::clone(&times) };
        let mut turns = Turns::of(10);
        (0..10_000).for_each(|number| turns.push(key(number)));
        (9_000..9_100).for_each(|number| turns.bring_first(key(number), true));
        let times = times.load(Ordering::Relaxed);
        assert!(times < 2_000, "{times} comparisons for 100 calls");
        assert_eq!(turns.pop().map(|key| key.number), Some(9_099));
    }

    /// Rounds of a user may wait for as long as the user likes.
    #[tokio::test(start_paused = true)]
    async fn a_namespace_has_a_part_of_the_workers() {
        let (queue, _) = queue();
        let taken = async || {
            let mut taken = Vec::new();
            while let Ok(key) = timeout(Duration::from_secs(1), queue.take()).await {
                taken.push(key);
            }
            taken
        };
        for number in 0..20 {
            queue.add(Key::new("mallory", &number.to_string()));
        }
        let first = taken().await;
        assert_eq!(first.len(), 7, "some workers are left to others");
        let canary = Key::new("ana", "canary");
        queue.add(canary.clone());
        assert_eq!(taken().await, [canary]);
        // While others wait a namespace that has half of them already has no more.
        queue.done(&first[0]);
        queue.add(Key::new("ana", "0"));
        queue.done(&first[1]);
        let next: Vec<_> = taken().await.into_iter().map(|key| key.namespace).collect();
        let next: Vec<&str> = next.iter().map(|namespace| &**namespace).collect();
        assert_eq!(next, ["ana", "mallory", "mallory"]);
        // A worker that comes free wakes whoever waited for it alone.
        let (next, ()) = tokio::join!(timeout(Duration::from_secs(1), queue.take()), async {
            queue.put_back(&first[2]);
        });
        assert!(next.is_ok());
    }

    /// One tenant with very many keys that never succeed must not find out alone whether the server answers again.
    #[tokio::test(start_paused = true)]
    async fn tenants_take_turns_to_find_out_whether_the_server_answers() {
        let (queue, _) = queue();
        let canary = Key::new("ana", "canary");
        queue.add(canary.clone());
        for number in 0..100 {
            queue.add(Key::new("mallory", &number.to_string()));
        }
        let back = Instant::now() + Duration::from_secs(45);
        loop {
            let key = queue.take().await;
            if key == canary && Instant::now() >= back {
                break;
            }
            queue.failed(&key, true);
        }
        assert!(back.elapsed() <= Duration::from_secs(5), "{:?}", back.elapsed());
    }

    /// Rights that are missing in one namespace for good keep no other from being tried.
    #[tokio::test(start_paused = true)]
    async fn who_never_succeeds_does_not_stand_for_all_that_wait_for_the_server() {
        let (queue, _) = queue();
        let start = Instant::now();
        queue.add(key("a"));
        queue.add(key("b"));
        while start.elapsed() < Duration::from_secs(560) {
            let Ok(key) = timeout(Duration::from_secs(1), queue.take()).await else { continue };
            queue.failed(&key, true);
        }
        for expect in ["a", "b"] {
            let since = Instant::now();
            loop {
                let next = queue.take().await;
                queue.failed(&next, true);
                if next == key(expect) {
                    break;
                }
            }
            assert!(since.elapsed() < Duration::from_secs(5), "{expect}: {:?}", since.elapsed());
        }
    }

    /// An API server that was away is asked by one key, and all come as soon as it answers.
    #[tokio::test(start_paused = true)]
    async fn what_waits_for_the_server_comes_once_it_answers() {
        let (queue, _) = queue();
        let start = Instant::now();
        for number in 0..100 {
            queue.add(key(&number.to_string()));
        }
        let mut rounds = 0;
        while start.elapsed() < Duration::from_secs(45) {
            let Ok(key) = timeout(Duration::from_secs(1), queue.take()).await else { continue };
            queue.failed(&key, true);
            rounds += 1;
        }
        assert!(rounds < 100 * 6 + 45, "{rounds} rounds while it was away");
        let back = Instant::now();
        for _ in 0..100 {
            queue.done(&queue.take().await);
        }
        assert!(back.elapsed() <= Duration::from_secs(2), "{:?}", back.elapsed());
    }
}
