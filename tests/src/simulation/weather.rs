//! Faults of a simulation: which of them its seed has, and all that went wrong, so that the same can go wrong again.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use kai_sim::generate::Seed;
use serde::{Deserialize, Serialize};
use tokio::{sync::broadcast, time::Instant};

use super::{fault::Fault, holders::Holders, meddle::Meddlers};

/// All kinds of faults. A seed has some three quarters of them: what many faults hide, few show.
pub(super) const KINDS: &[&str] = &[
    "401",
    "403",
    "409",
    "410",
    "429",
    "500",
    "503",
    "admission",
    "after",
    "before",
    "break",
    "clock",
    "cordon",
    "dead",
    "delayed",
    "denied",
    "end",
    "gap",
    "gone",
    "late",
    "lost",
    "lost-device",
    "lost-devices",
    "no-definition",
    "policy",
    "reject",
    "reject-reservations",
    "restart",
    "silence",
    "silent-reservations",
    "slow",
    "stall",
    "step",
    "thief",
    "torn",
    "twice",
    "unanswered",
    "while",
];

/// A thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Happened {
    /// The place: a process and which of its requests or acts of a kind, such as `scheduler-0.1/POST pods/binding/3`.
    pub at: String,
    /// The fault, one of a fixed set of names.
    pub fault: String,
}

/// Weather of all ways together: things go wrong, or not.
#[derive(Debug)]
pub(super) struct Weather {
    is_bad: AtomicBool,
    kinds: BTreeSet<&'static str>,
    one_in: u64,
    /// Salt of the seed, so that other faults happen with each.
    salt: u64,
    /// All that goes wrong, by its place; none: the kinds decide.
    only: Option<BTreeMap<String, BTreeSet<String>>>,
    happened: Mutex<Vec<Happened>>,
    /// Until then answers come late; also those about Leases?
    slow: Mutex<Option<(Instant, bool)>>,
    /// Until then nobody answers: the API server starts anew.
    down: Mutex<Option<Instant>>,
    /// The number of its restarts so far; each ends all watches.
    restarts: AtomicU64,
    /// Tells all watches of a restart, in one order: a `watch` of tokio's wakes who waits in an order that it draws.
    restarted: broadcast::Sender<()>,
    binders: Mutex<BTreeSet<String>>,
    /// Promises that were seen broken on a way.
    findings: Mutex<Vec<String>>,
    /// Holders of the Leases.
    pub(super) holders: Arc<Holders>,
    /// Users who write at the very moment at which daemons do; none: there are none.
    pub(super) meddlers: Option<Meddlers>,
}

impl Weather {
    /// Bad weather of some kinds, of whose faults one in so many happens, or at some places only.
    pub(super) fn new(
        seed: &Seed,
        one_in: u64,
        only: Option<&[Happened]>,
        holders: Arc<Holders>,
        meddlers: Option<Meddlers>,
    ) -> Self {
        let mut draw = seed.split(3);
        let mut kinds: BTreeSet<&'static str> =
            KINDS.iter().copied().filter(|_| !draw.one_in(4)).collect();
        let salt = draw.below(u64::MAX);
        if meddlers.is_some() {
            kinds.extend(Fault::MEDDLING);
        }
        let only = only.map(|faults| {
            let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for Happened { at, fault } in faults {
                places.entry(at.clone()).or_default().insert(fault.clone());
            }
            places
        });
        let is_bad = AtomicBool::new(true);
        let (happened, slow, down, binders, findings) = Default::default();
        let (restarts, restarted) = (AtomicU64::new(0), broadcast::Sender::new(1));
        Self {
            is_bad,
            kinds,
            one_in,
            salt,
            only,
            happened,
            slow,
            down,
            restarts,
            restarted,
            binders,
            findings,
            holders,
            meddlers,
        }
    }

    /// Has things go wrong from now on, or not.
    pub(super) fn set_bad(&self, is_bad: bool) {
        self.is_bad.store(is_bad, Ordering::Relaxed);
        *lock(&self.slow) = None;
        *lock(&self.down) = None;
    }

    pub(super) fn is_bad(&self) -> bool {
        self.is_bad.load(Ordering::Relaxed)
    }

    /// Tells which fault of some kinds happens at a place, and notes it: the one that was drawn, where the seed has its
    /// kind; the one that is kept for this place whatever was drawn, where only kept ones happen. So a fault happens again
    /// although others, which changed what is drawn, do not.
    pub(super) fn fault(
        &self,
        at: &str,
        drawn: Option<&'static str>,
        among: &[&'static str],
    ) -> Option<&'static str> {
        let kind = match &self.only {
            Some(places) => {
                let kept = places.get(at)?;
                among.iter().copied().find(|kind| kept.contains(*kind))
            }
            None => drawn.filter(|kind| self.kinds.contains(kind) && self.is_one(at)),
        }?;
        let is_known = KINDS.contains(&kind) || Fault::MEDDLING.contains(&kind);
        debug_assert!(is_known, "{kind} is no kind of fault");
        tracing::debug!(at, kind, "fault");
        lock(&self.happened).push(Happened { at: at.to_owned(), fault: kind.to_owned() });
        Some(kind)
    }

    /// Tells whether the fault of a place is among those that happen.
    fn is_one(&self, at: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (self.salt, at).hash(&mut hasher);
        hasher.finish().is_multiple_of(self.one_in)
    }

    /// Tells whether a fault of one kind happens at a place, and notes it then.
    pub(super) fn has(&self, at: &str, is_drawn: bool, kind: &'static str) -> bool {
        self.fault(at, is_drawn.then_some(kind), &[kind]).is_some()
    }

    /// Has answers come late until a moment: all, or all but those about Leases.
    pub(super) fn slow_down(&self, until: Instant, with_leases: bool) {
        *lock(&self.slow) = Some((until, with_leases));
    }

    /// Tells whether an answer comes late now.
    pub(super) fn is_slow(&self, is_lease: bool) -> bool {
        let slow = *lock(&self.slow);
        slow.is_some_and(|(until, all)| Instant::now() < until && (all || !is_lease))
    }

    /// Has the API server start anew: all watches end, nobody answers until a moment, and then no version is known from
    /// before.
    pub(super) fn restart(&self, until: Instant) {
        *lock(&self.down) = Some(until);
        self.restarts.fetch_add(1, Ordering::Relaxed);
        // Where no watch is open, nobody hears of it.
        let _ = self.restarted.send(());
    }

    /// Tells whether nobody answers now.
    pub(super) fn is_down(&self) -> bool {
        lock(&self.down).is_some_and(|until| Instant::now() < until)
    }

    /// The number of restarts of the API server so far.
    pub(super) fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// The restarts of the API server to come.
    pub(super) fn restarted(&self) -> broadcast::Receiver<()> {
        self.restarted.subscribe()
    }

    /// Notes that a process bound a pod.
    pub(super) fn bound(&self, process: &str) {
        lock(&self.binders).insert(process.to_owned());
    }

    /// The processes that bound a pod.
    pub(super) fn binders(&self) -> BTreeSet<String> {
        lock(&self.binders).clone()
    }

    /// Notes a promise that was seen broken on a way.
    pub(super) fn found(&self, text: String) {
        lock(&self.findings).push(text);
    }

    /// Promises that were seen broken on a way.
    pub(super) fn findings(&self) -> Vec<String> {
        lock(&self.findings).clone()
    }

    /// All that went wrong so far.
    pub(super) fn happened(&self) -> Vec<Happened> {
        lock(&self.happened).clone()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
