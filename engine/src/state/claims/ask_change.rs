//! Changes of what pods ask for through a claim: pods that were alike are so again, so that their shape is worked out
//! once.

use std::{collections::BTreeMap, iter::repeat_n};

use super::{Asks, waits};
use crate::{
    base::ids::{ClaimId, PodId, ShapeId},
    state::State,
    told::claim::Ask,
};

/// A claim that changes.
pub(super) struct AskChange {
    claim: ClaimId,
    /// The request of a pod through it: of one that has a place, and of one that waits for one.
    before: [Ask; 2],
    /// The same from now on.
    now: [Ask; 2],
    /// Shapes of pods that were looked at, by the shape before, whether the pod waits, and how often it names the claim.
    ///
    /// The number of a shape that is gone may be another's, but no pod that is yet to be looked at had one that is gone.
    shapes: BTreeMap<(ShapeId, bool, usize), ShapeId>,
}

impl AskChange {
    pub(super) fn new(claim: ClaimId, before: Option<&Asks>, now: Option<&Asks>) -> Self {
        let none = || [Ask::Named(claim, 0), Ask::Named(claim, 0)];
        let asks = |asks: Option<&Asks>| asks.map_or_else(none, |asks| asks.0.clone());
        Self { claim, before: asks(before), now: asks(now), shapes: BTreeMap::new() }
    }

    /// Tells whether pods without a place ask for as much as before.
    pub(super) fn is_none_while_waiting(&self) -> bool {
        self.before[1] == self.now[1]
    }

    /// The requests of a pod that had these, in order, and names the claim so many times.
    fn apply(&self, asks: &[Ask], waits: bool, count: usize) -> Vec<Ask> {
        let (before, now) = (&self.before[usize::from(waits)], &self.now[usize::from(waits)]);
        let (less, rest) = asks.split_at(asks.partition_point(|one| one < before));
        let mut all = Vec::with_capacity(asks.len());
        all.extend(less.iter().chain(rest.iter().skip(count)).cloned());
        let at = all.partition_point(|one| one < now);
        let more = all.split_off(at);
        all.extend(repeat_n(now.clone(), count));
        all.extend(more);
        all
    }
}

impl State {
    /// Works out anew what a pod of a claim that changed asks for, and what it holds through its claims.
    ///
    /// # Cost
    /// In the number of the pod's claims; where a pod that was alike was looked at before, in a look at each of their numbers.
    pub(super) fn rejoin(&mut self, pod: PodId, change: &mut AskChange) {
        let facts = &self.pods[pod];
        let (old, waits) = (facts.shape, waits(facts.told.phase));
        let count = facts.claims.iter().filter(|claim| **claim == change.claim).count();
        let known = change.shapes.get(&(old, waits, count)).copied();
        let shape = if let Some(shape) = known {
            self.shapes.retain(shape);
            shape
        } else {
            let row = &self.shapes[old];
            let (told, asks) = (row.facts.clone(), change.apply(&row.asks, waits, count));
            let shape = self.shapes.intern(&told, asks, &self.lanes);
            self.start_counting(shape);
            change.shapes.insert((old, waits, count), shape);
            shape
        };
        self.pods.facts[pod].as_mut().expect("a pod of a claim was told").shape = shape;
        self.release(old);
        let was = self.pods.status[pod].clone();
        let state = self.with_devices(pod, &self.pods[pod].claims, was.clone(), &was);
        self.pods.status[pod] = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, before: i64, now: i64, asks: &[(u32, i64)], expect: &[(u32, i64)]) {
        let claim = ClaimId::new(1);
        let named = |milli: i64| [Ask::Named(claim, milli), Ask::Named(claim, milli)];
        let shapes = BTreeMap::new();
        let change = AskChange { claim, before: named(before), now: named(now), shapes };
        let all = |all: &[(u32, i64)]| -> Vec<Ask> {
            all.iter().map(|(claim, milli)| Ask::Named(ClaimId::new(*claim), *milli)).collect()
        };
        for waits in [false, true] {
            assert_eq!(change.apply(&all(asks), waits, count), all(expect));
        }
    }

    #[test]
    fn what_is_asked_for_stays_in_order() {
        check(1, 0, 1000, &[(0, 5), (1, 0), (2, 5)], &[(0, 5), (1, 1000), (2, 5)]);
        check(2, 1000, 0, &[(1, 1000), (1, 1000), (2, 5)], &[(1, 0), (1, 0), (2, 5)]);
        check(1, 7, 7, &[(0, 5), (1, 7)], &[(0, 5), (1, 7)]);
        check(1, 0, 1000, &[(1, 0)], &[(1, 1000)]);
    }
}
