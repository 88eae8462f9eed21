//! Faults of a simulation: which of them its seed has, and all that went wrong, so that the same can go wrong again.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use kai_sim::generate::Seed;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

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
    "end",
    "gap",
    "gone",
    "late",
    "lost",
    "lost-device",
    "lost-devices",
    "reject",
    "reject-reservations",
    "silence",
    "silent-reservations",
    "slow",
    "stall",
    "thief",
    "torn",
    "twice",
    "unanswered",
    "while",
];

/// A thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Happened {
    /// The place: a process and the number of its request or act, such as `scheduler-0.1/17`.
    pub at: String,
    /// The fault, for whoever reads it.
    pub fault: String,
}

/// Weather of all ways together: things go wrong, or not.
#[derive(Debug)]
pub(super) struct Weather {
    is_bad: AtomicBool,
    kinds: BTreeSet<&'static str>,
    /// The places where something goes wrong, whatever the kind; none: the kinds decide.
    only: Option<BTreeSet<String>>,
    happened: Mutex<Vec<Happened>>,
    /// Until then answers come late; also those about Leases?
    slow: Mutex<Option<(Instant, bool)>>,
    binders: Mutex<BTreeSet<String>>,
}

impl Weather {
    /// Bad weather of some kinds, or at some places only.
    pub(super) fn new(seed: &Seed, only: Option<&[String]>) -> Self {
        let mut draw = seed.split(3);
        let kinds = KINDS.iter().copied().filter(|_| !draw.one_in(4)).collect();
        let only = only.map(|places| places.iter().cloned().collect());
        let (happened, slow, binders) = Default::default();
        Self { is_bad: AtomicBool::new(true), kinds, only, happened, slow, binders }
    }

    /// Has things go wrong from now on, or not.
    pub(super) fn set_bad(&self, is_bad: bool) {
        self.is_bad.store(is_bad, Ordering::Relaxed);
        *lock(&self.slow) = None;
    }

    pub(super) fn is_bad(&self) -> bool {
        self.is_bad.load(Ordering::Relaxed)
    }

    /// Tells whether a fault that was drawn happens, and notes it then.
    pub(super) fn has(&self, at: &str, kind: &'static str) -> bool {
        debug_assert!(KINDS.contains(&kind), "{kind} is no kind of fault");
        let happens = match &self.only {
            Some(places) => places.contains(at),
            None => self.kinds.contains(kind),
        };
        if happens {
            tracing::debug!(at, kind, "fault");
            lock(&self.happened).push(Happened { at: at.to_owned(), fault: kind.to_owned() });
        }
        happens
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

    /// Notes that a process bound a pod.
    pub(super) fn bound(&self, process: &str) {
        lock(&self.binders).insert(process.to_owned());
    }

    /// The processes that bound a pod.
    pub(super) fn binders(&self) -> BTreeSet<String> {
        lock(&self.binders).clone()
    }

    /// All that went wrong so far.
    pub(super) fn happened(&self) -> Vec<Happened> {
        lock(&self.happened).clone()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
