//! Constraints of topology spread of a namespace that are not counted, and which of them are looked at next.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    ops::Bound,
    sync::Arc,
};

use kai_engine::Spread;

/// Constraints that are not counted; pods of a gang share them.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Wanted {
    /// True for pods that wait for this scheduler.
    pub(super) waits: bool,
    pub(super) constraints: Vec<Spread>,
}

/// Pods that have the same constraints, by row.
#[derive(Debug, Default)]
struct Pods {
    /// Those that wait for their turn alone, and were told so where they are told anything.
    early: BTreeSet<u32>,
    /// Those that were told that there is no room.
    roomless: BTreeSet<u32>,
}

/// Pods by their constraints.
type Refused = BTreeMap<Arc<Wanted>, Pods>;

/// Pods for which there was no room, or whose turn it was not.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Pods that wait for this scheduler.
    waiting: Refused,
    /// All others: each of them is to be looked at, once none of those is.
    others: Refused,
    /// The constraints of pods that wait which were looked at last and stay refused: the ones behind them are next.
    last: Option<Arc<Wanted>>,
    /// So many of them, from the next ones on, are to be looked at: there may be room for them by now.
    pub(super) left: usize,
}

impl Pods {
    fn is_empty(&self) -> bool {
        self.early.is_empty() && self.roomless.is_empty()
    }

    fn remove(&mut self, row: u32) {
        self.early.remove(&row);
        self.roomless.remove(&row);
    }

    /// Takes one out, of those that wait for their turn alone first.
    fn pop(&mut self) -> Option<u32> {
        self.early.pop_first().or_else(|| self.roomless.pop_first())
    }
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.others.is_empty()
    }

    /// The pods that wait, or the others.
    fn part(&mut self, waits: bool) -> &mut Refused {
        if waits { &mut self.waiting } else { &mut self.others }
    }

    /// Tells whether some constraints are to be looked at.
    pub(super) fn is_due(&self) -> bool {
        self.left > 0 || !self.others.is_empty()
    }

    /// Has the constraints of all pods that wait looked at, from the next ones on.
    pub(super) fn look_again(&mut self) {
        self.left = self.waiting.len();
    }

    /// Notes that the constraints of a pod are not counted, as it is too early or as there is no room; gives them as they are
    /// kept once. Where there is room, those of all pods that wait are looked at.
    pub(super) fn refuse(&mut self, row: u32, wanted: Wanted, is_early: bool) -> Arc<Wanted> {
        let waits = wanted.waits;
        let known = self.part(waits).get_key_value(&wanted).map(|(known, _)| Arc::clone(known));
        let kept = known.unwrap_or_else(|| {
            // They may be put before others that are yet to be looked at, and would be in the place of the last of those.
            self.left += usize::from(waits && self.left > 0);
            Arc::new(wanted)
        });
        let Pods { early, roomless } = self.part(waits).entry(Arc::clone(&kept)).or_default();
        let rows = if is_early { early } else { roomless };
        rows.insert(row);
        if waits && is_early {
            self.look_again();
        }
        kept
    }

    /// Tells whether a pod that is refused waits for its turn alone.
    pub(super) fn is_early(&self, row: u32, wanted: &Arc<Wanted>) -> bool {
        self.waiting.get(wanted).is_some_and(|pods| pods.early.contains(&row))
    }

    /// Forgets that the constraints of a pod are not counted.
    pub(super) fn forget(&mut self, row: u32, wanted: &Arc<Wanted>) {
        let part = self.part(wanted.waits);
        if let Some(pods) = part.get_mut(wanted) {
            pods.remove(row);
            if pods.is_empty() {
                part.remove(wanted);
            }
        }
        self.left = self.left.min(self.waiting.len());
    }

    /// The constraints that are to be looked at next.
    pub(super) fn first_due(&self) -> Option<Arc<Wanted>> {
        let next = if self.left > 0 { self.next_waiting() } else { self.others.first_key_value() };
        next.map(|(wanted, _)| Arc::clone(wanted))
    }

    /// The next constraints of pods that wait.
    fn next_waiting(&self) -> Option<(&Arc<Wanted>, &Pods)> {
        let behind = self.last.as_ref().and_then(|last| {
            let behind = (Bound::Excluded(last), Bound::Unbounded);
            self.waiting.range::<Arc<Wanted>, _>(behind).next()
        });
        behind.or_else(|| self.waiting.first_key_value())
    }

    /// Passes over the next constraints, of pods that wait, for which there is no room. Gives so many of the pods that were
    /// told otherwise; while others are left the constraints stay the next.
    pub(super) fn pass(&mut self, wanted: Arc<Wanted>, most: usize) -> Vec<u32> {
        let Some(pods) = self.waiting.get_mut(&wanted) else { return Vec::new() };
        let told: Vec<u32> = iter::from_fn(|| pods.early.pop_first()).take(most).collect();
        pods.roomless.extend(&told);
        if pods.early.is_empty() {
            self.left -= 1;
            self.last = Some(wanted);
        }
        told
    }

    /// Takes so many pods out of the next constraints, which were looked at. While others are left these stay the next.
    pub(super) fn take(&mut self, wanted: &Arc<Wanted>, most: usize) -> Vec<u32> {
        let Some(pods) = self.part(wanted.waits).get_mut(wanted) else { return Vec::new() };
        let taken = iter::from_fn(|| pods.pop()).take(most).collect();
        if pods.is_empty() {
            self.part(wanted.waits).remove(wanted);
            self.left -= usize::from(wanted.waits);
        }
        taken
    }
}
