//! Victims that may stay after all.
//!
//! A set of victims is made of whole steps of groups and of whole nodes, so that it may hold more than are needed. All
//! without which counting still finds room are left out at once, those first that come last as victims. Where the others
//! do not let the pods in, each is left out in turn.
//!
//! # Source
//! docs/behaviour.md 8.5 places victims again where there is room for them; one that is moved for nothing is evicted all
//! the same.

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        ids::{GroupId, PodId},
    },
    evict::{
        Capacity, LISTED_A_STEP, SearchState, VictimSearch, VictimSet, candidates, steps_of_set,
        victims::Batch,
    },
    state::State,
};

/// So many sets with one victim fewer may fail before the rest is taken as needed.
const FAILED_MAX: u32 = 16;

/// A set of victims that lets all pods in, while those are looked for that may stay.
#[derive(Clone, Debug)]
pub(super) struct Sparing {
    /// Victims that were not looked at yet, in the order in which they were drawn.
    victims: VictimSet,
    /// Those behind them that are needed, the last one first.
    needed: VictimSet,
    /// Pods that the nodes hold without them.
    tally: Capacity,
    /// Those of each group.
    by_group: FewMap<GroupId, VictimSet>,
    /// The one that was left out last.
    out: Option<usize>,
    /// Number of sets that may still fail.
    failures_left: u32,
}

/// Outcome of trying a set of victims.
#[derive(Debug)]
pub(super) enum Tried {
    /// It does not let the pods in.
    Refused,
    /// It does; where the pods are all of them, the trial is kept.
    Admitted,
    /// It does, and some of the victims may turn out to be not needed.
    Sparing(Box<Sparing>),
}

/// Outcome of looking for victims that may stay.
#[derive(Debug)]
pub(super) enum Spared {
    /// There are others to be looked at.
    Looking,
    /// These are needed, and the trial is kept.
    Found(VictimSet),
    /// They do not let the pods in.
    Refused,
}

impl Sparing {
    fn new(state: &mut State, search: &SearchState, victims: &VictimSet) -> Self {
        let victims = victims.iter().copied().collect::<VictimSet>().in_order();
        let mut tally = search.base.clone().expect("a search begins with what the nodes hold");
        let pods = victims.iter().flat_map(|at| &search.order[*at].pods).copied();
        let pods: Few<PodId> = pods.collect();
        tally.add(state, &search.demand, &search.nodes, &pods);
        // Each is left out later, and may be taken back.
        state.steps.compared += 3 * search.demand.beside_the_first(pods.len());
        state.steps.victims += 3 * steps_of_set(pods.len(), LISTED_A_STEP);
        let mut by_group = FewMap::<GroupId, VictimSet>::default();
        for at in &victims {
            by_group.or_default(search.order[*at].group).push(*at);
        }
        let needed = VictimSet::default();
        Self { victims, needed, tally, by_group, out: None, failures_left: FAILED_MAX }
    }

    /// Goes on over news: with those that still are victims, and with what nodes hold by now. Tells whether there are any.
    pub(super) fn renew(&mut self, state: &State, search: &SearchState) -> bool {
        let stands = |at: &usize| search.stands(*at);
        self.victims.retain(stands);
        self.needed.retain(stands);
        self.out = self.out.filter(stands);
        let set = self.set();
        let mut tally = search.base.clone().expect("a search goes on with what the nodes hold");
        let mut by_group = FewMap::<GroupId, VictimSet>::default();
        for at in &set {
            let batch = &search.order[*at];
            tally.add(state, &search.demand, &search.nodes, &batch.pods);
            by_group.or_default(batch.group).push(*at);
        }
        (self.tally, self.by_group) = (tally, by_group);
        !set.is_empty()
    }

    /// The victims that were not left out, in the order in which they were drawn.
    fn set(&self) -> VictimSet {
        self.victims.iter().chain(self.needed.iter().rev()).copied().collect()
    }

    /// Leaves out the next victim without which counting does not refuse the others; false where there is none.
    ///
    /// # Cost
    /// In the victims that are looked at, and in those of their groups, which count as comparisons.
    fn next(&mut self, state: &mut State, search: &SearchState) -> bool {
        while self.failures_left > 0 && self.victims.len() + self.needed.len() > 1 {
            let Some(at) = self.victims.pop() else { break };
            let batch = &search.order[at];
            if !self.may_stay(state, &search.order, at) {
                self.needed.push(at);
                continue;
            }
            self.tally.remove(state, &search.demand, &batch.pods);
            if search.demand.short(&self.tally.room, search.phase.count()).is_none() {
                self.by_group.or_default(batch.group).retain(|other| *other != at);
                self.out = Some(at);
                return true;
            }
            self.tally.add(state, &search.demand, &search.nodes, &batch.pods);
            self.needed.push(at);
        }
        false
    }

    /// Tells whether a group may keep a step that it was to lose: what it cannot lose alone is lost with all that it
    /// could spare.
    fn may_stay(&self, state: &mut State, order: &[Batch], at: usize) -> bool {
        let group = order[at].group;
        let Some(steps) = self.by_group.get(group).filter(|steps| steps.len() > 1) else {
            return true;
        };
        state.steps.compared += steps.len() as u64;
        let others = steps.iter().filter(|other| **other != at).map(|other| &order[*other]);
        candidates::keeps_minimum(state, group, others)
    }

    /// Takes the victim back that was left out last: it is needed.
    fn take_back(&mut self, state: &State, search: &SearchState) {
        let Some(at) = self.out.take() else { return };
        let batch = &search.order[at];
        self.tally.add(state, &search.demand, &search.nodes, &batch.pods);
        self.by_group.or_default(batch.group).push(at);
        self.needed.push(at);
        self.failures_left -= 1;
    }
}

impl VictimSearch<'_> {
    /// Tries whether a set of victims lets the first so many pods in.
    pub(super) fn try_set(&mut self, state: &mut State, victims: &VictimSet) -> Tried {
        let is_last = self.search.phase.looks_at_all();
        if !is_last || victims.len() < 2 {
            let is_admitted = self.simulate(state, victims, is_last);
            return if is_admitted { Tried::Admitted } else { Tried::Refused };
        }
        let mut sparing = Sparing::new(state, &self.search, victims);
        while sparing.next(state, &self.search) {}
        let spared = sparing.set();
        if self.simulate(state, &spared, true) {
            return Tried::Admitted;
        }
        if spared.len() == victims.len() || !self.simulate(state, victims, false) {
            return Tried::Refused;
        }
        let mut sparing = Box::new(Sparing::new(state, &self.search, victims));
        sparing.next(state, &self.search);
        Tried::Sparing(sparing)
    }

    /// Looks whether the victim that was left out last may stay; once there is none left to be looked at, the victims are
    /// evicted. What let the pods in before may not do so again, where the search for their places is bounded.
    pub(super) fn spare(&mut self, state: &mut State, sparing: &mut Sparing) -> Spared {
        if !self.simulate(state, &sparing.set(), false) {
            sparing.take_back(state, &self.search);
        }
        if sparing.next(state, &self.search) {
            return Spared::Looking;
        }
        let victims = sparing.set();
        if self.simulate(state, &victims, true) { Spared::Found(victims) } else { Spared::Refused }
    }
}
