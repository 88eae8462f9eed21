//! Victims that may stay after all.
//!
//! A set of victims is made of whole steps of groups and of whole nodes, so that it may hold more than are needed. Once a
//! set lets all pods in, each victim is left out in turn, those first that come last as victims, and stays out where the
//! others still do.
//!
//! # Source
//! spec/scheduling.md 8.5 places victims again where there is room for them; one that is moved for nothing is evicted all
//! the same.

use super::{Hunt, Search, Set, Tally};
use crate::{cluster::Cluster, ids::PodId};

/// So many sets with one victim fewer may fail before the rest is taken as needed.
const FAILED_MAX: u32 = 16;

/// A set of victims that lets all pods in, while those are looked for that may stay.
#[derive(Clone, Debug)]
pub(super) struct Sparing {
    /// Victims in the order in which they were drawn.
    pub(super) victims: Set,
    /// What the nodes hold without them.
    tally: Tally,
    /// How many of them, from the first one on, were not left out yet.
    left: usize,
    /// How many more sets may fail.
    failures_left: u32,
}

/// What became of a set of victims.
#[derive(Debug)]
pub(super) enum Tried {
    /// It does not let the pods in.
    Refused,
    /// It does; where the pods are all of them, the trial is kept.
    Admitted,
    /// It does, and some of the victims may turn out to be not needed.
    Sparing(Box<Sparing>),
}

impl Sparing {
    fn new(cluster: &Cluster, search: &Search, victims: &Set) -> Self {
        let victims = victims.iter().copied().collect::<Set>().in_order();
        let mut tally = search.base.clone().expect("a search begins with what the nodes hold");
        let pods = victims.iter().flat_map(|at| &search.order[*at].pods).copied();
        let pods: crate::few::Few<PodId> = pods.collect();
        tally.add(cluster, &search.demand, &search.nodes, &pods);
        Self { left: victims.len(), victims, tally, failures_left: FAILED_MAX }
    }

    /// Leaves out the next victim without which counting does not refuse the others; false where there is none.
    ///
    /// # Cost
    /// In the victims that are looked at, and in the batches of their groups.
    fn next(&mut self, cluster: &Cluster, search: &Search) -> bool {
        while self.left > 0 && self.failures_left > 0 && self.victims.len() > 1 {
            self.left -= 1;
            let batch = &search.order[self.victims[self.left]];
            let others = || {
                let others = self.victims.iter().filter(|at| **at != self.victims[self.left]);
                others.map(|at| &search.order[*at]).filter(|other| other.group == batch.group)
            };
            // What a group cannot lose alone is lost with all that it could spare.
            if others().next().is_some() && !cluster.keeps_minimum(batch.group, others) {
                continue;
            }
            self.tally.remove(cluster, &search.demand, &batch.pods);
            if search.demand.short(&self.tally.room, search.count).is_none() {
                return true;
            }
            self.tally.add(cluster, &search.demand, &search.nodes, &batch.pods);
        }
        false
    }

    /// The victims but the one that was left out last.
    fn others(&self) -> Set {
        let (before, rest) = self.victims.split_at(self.left);
        before.iter().chain(&rest[1..]).copied().collect()
    }

    /// Takes the victim back that was left out last: it is needed.
    fn take_back(&mut self, cluster: &Cluster, search: &Search) {
        let pods = &search.order[self.victims[self.left]].pods;
        self.tally.add(cluster, &search.demand, &search.nodes, pods);
        self.failures_left -= 1;
    }
}

impl Hunt<'_> {
    /// Tries whether a set of victims lets the first so many pods in.
    pub(super) fn try_set(&mut self, cluster: &mut Cluster, victims: &Set) -> Tried {
        let is_last = self.search.count == self.search.pods.len();
        let sparing = is_last.then(|| {
            let mut sparing = Box::new(Sparing::new(cluster, &self.search, victims));
            sparing.next(cluster, &self.search).then_some(sparing)
        });
        let sparing = sparing.flatten();
        if !self.simulate(cluster, victims, is_last && sparing.is_none()) {
            return Tried::Refused;
        }
        sparing.map_or(Tried::Admitted, Tried::Sparing)
    }

    /// Looks whether the victim that was left out last may stay; the victims, evicted, once there is none left to be
    /// looked at.
    pub(super) fn spare(&mut self, cluster: &mut Cluster, sparing: &mut Sparing) -> Option<Set> {
        let others = sparing.others();
        if self.simulate(cluster, &others, false) {
            sparing.victims = others;
        } else {
            sparing.take_back(cluster, &self.search);
        }
        if sparing.next(cluster, &self.search) {
            return None;
        }
        let kept = self.simulate(cluster, &sparing.victims, true);
        assert!(kept, "a set that let all pods in does so again");
        Some(sparing.victims.clone())
    }
}
