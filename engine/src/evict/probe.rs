//! One look for victims for the first so many pods of a group, which stops and goes on between any two steps.

use std::collections::BTreeSet;

use crate::{
    base::{
        few::Few,
        ids::{GroupId, PodId},
        min_set::MinSet,
    },
    evict::{
        Capacity, LISTED_A_STEP, PASSED_A_STEP, Pool, SearchState, VictimSearch, VictimSet,
        nodes_to_drain::Sets,
        sparing::{Spared, Sparing, Tried},
        steps_of_set,
    },
    state::{State, budgets::SpentBudgets},
};

/// Outcome of a look.
#[derive(Debug)]
pub(super) enum Probed {
    /// These victims let the pods in; where the pods are all of them, the trial is kept.
    Found(VictimSet),
    /// There are none.
    Nothing,
    /// The steps ran out; it goes on from here.
    Spent(Box<Probe>),
}

/// A look for victims under way.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Victims that let fewer pods in; they are part of every set.
    known: VictimSet,
    known_pods: MinSet<PodId>,
    /// True if they alone were not tried yet.
    is_new: bool,
    /// Pods that the nodes hold without them.
    held: Capacity,
    /// Pods that the nodes hold without any victim that came up.
    tally: Capacity,
    /// The other victims that came up.
    pool: Pool,
    tried: TriedInVain,
    /// Number of victims that came up.
    drawn: usize,
    /// Sets to be tried before the next victim comes up.
    sets: Sets,
    /// Victims that let all pods in, while it is looked for those that may stay.
    sparing: Option<Box<Sparing>>,
}

/// Sets that did not do, as long as they are few: one that is forgotten is tried again, in vain.
#[derive(Clone, Default, Debug)]
struct TriedInVain {
    sets: BTreeSet<VictimSet>,
    /// Number of victims in all of them.
    victims: usize,
}

/// So many victims are kept in sets that did not do; one set more may go beyond that.
const TRIED_MAX: usize = 1 << 18;

impl TriedInVain {
    fn insert(&mut self, set: VictimSet) {
        if self.victims >= TRIED_MAX {
            *self = Self::default();
        }
        self.victims += set.len();
        self.sets.insert(set);
    }
}

impl Probe {
    /// Goes on over news: with the victims that still are, and with what nodes hold by now.
    pub(super) fn renew(&mut self, state: &State, search: &SearchState) {
        self.known.retain(|at| search.stands(*at));
        let known: Few<PodId> =
            self.known.iter().flat_map(|at| &search.order[*at].pods).copied().collect();
        let mut held = search.base.clone().expect("a search goes on with what the nodes hold");
        held.add(state, &search.demand, &search.nodes, &known);
        self.known_pods = known.into_iter().collect();
        (self.tally, self.held) = (held.clone(), held);
        self.pool = Pool::default();
        for (at, batch) in search.order.iter().enumerate().take(self.drawn) {
            let is_known = batch.pods.iter().any(|pod| self.known_pods.contains(pod));
            if !batch.pods.is_empty() && !is_known {
                self.tally.add(state, &search.demand, &search.nodes, &batch.pods);
                self.pool.add(state, at, batch);
            }
        }
        self.sparing.take_if(|sparing| !sparing.renew(state, search));
    }
}

impl VictimSearch<'_> {
    /// The first set of victims that lets the first so many pods in.
    ///
    /// What counting refuses is not tried: neither a set, nor any set of what came up so far.
    ///
    /// # Cost
    /// In counted steps: each victim that comes up, and each set that is tried, by its size and with the nodes that are
    /// looked at for it. It stops before the next one where they are spent.
    pub(super) fn probe(&mut self, state: &mut State) -> Probed {
        let mut probe = match self.search.probe.take() {
            Some(probe) => *probe,
            None => self.new_probe(state),
        };
        loop {
            if self.is_spent(state) {
                return Probed::Spent(Box::new(probe));
            }
            if let Some(mut sparing) = probe.sparing.take() {
                match self.spare(state, &mut sparing) {
                    Spared::Looking => probe.sparing = Some(sparing),
                    Spared::Found(victims) => return Probed::Found(victims),
                    Spared::Refused => {}
                }
            } else if std::mem::take(&mut probe.is_new) {
                let short = self.search.demand.short(&probe.held.room, self.search.phase.count());
                if !probe.known.is_empty() {
                    state.steps.filtered += u64::from(short.is_some());
                    if short.is_none() {
                        match self.try_set(state, &probe.known) {
                            Tried::Refused => {}
                            Tried::Admitted => return Probed::Found(probe.known),
                            Tried::Sparing(sparing) => {
                                probe.sparing = Some(sparing);
                                continue;
                            }
                        }
                    }
                }
                if self.search.phase.is_of_one_node() && self.is_beyond_one(state, &probe.held) {
                    return Probed::Nothing;
                }
            } else if let Some(set) =
                probe.sets.next(state, &probe.pool, &self.search.order, &probe.known)
            {
                state.steps.victims += steps_of_set(probe.drawn, PASSED_A_STEP);
                let set = self.within_budgets(state, &probe.known, self.standing(set));
                let Some(victims) = self.victims_of(state, &probe, &set) else { continue };
                match self.try_set(state, &victims) {
                    Tried::Refused => probe.tried.insert(set),
                    Tried::Admitted => return Probed::Found(victims),
                    Tried::Sparing(sparing) => probe.sparing = Some(sparing),
                }
            } else {
                let Some(batch) = self.drawn(state, probe.drawn) else { return Probed::Nothing };
                let pods = batch.pods.len();
                state.steps.victims += 1;
                state.steps.compared += self.search.demand.beside_the_first(pods);
                let sets = self.sets_with(state, &mut probe);
                state.steps.filtered += u64::from(sets.is_none());
                probe.sets = sets.unwrap_or_default();
            }
        }
    }

    fn new_probe(&self, state: &mut State) -> Probe {
        let search = &self.search;
        let known = search.phase.found().clone();
        let known_pods = known.iter().flat_map(|at| &search.order[*at].pods);
        let known_pods: Few<PodId> = known_pods.copied().collect();
        let mut held = search.base.clone().expect("a search begins with what the nodes hold");
        held.add(state, &search.demand, &search.nodes, &known_pods);
        state.steps.compared += search.demand.beside_the_first(known_pods.len());
        Probe {
            known,
            known_pods: known_pods.into_iter().collect(),
            is_new: true,
            tally: held.clone(),
            held,
            pool: Pool::default(),
            tried: TriedInVain::default(),
            drawn: 0,
            sets: Sets::default(),
            sparing: None,
        }
    }

    /// Has the victim come up that is next; the sets that it makes worth a try, none where counting refuses all of them.
    fn sets_with(&mut self, state: &mut State, probe: &mut Probe) -> Option<Sets> {
        let search = &self.search;
        let at = probe.drawn;
        probe.drawn += 1;
        let batch = &search.order[at];
        if batch.pods.iter().any(|pod| probe.known_pods.contains(pod)) {
            return Some(Sets::default());
        }
        probe.tally.add(state, &search.demand, &search.nodes, &batch.pods);
        probe.pool.add(state, at, batch);
        if search.demand.short(&probe.tally.room, search.phase.count()).is_some() {
            return None;
        }
        Some(if search.phase.is_of_one_node() {
            let (held, tally) = (&probe.held, &probe.tally);
            if self.is_short_there(state, held, tally, &probe.pool) {
                return None;
            }
            Sets::listed(probe.pool.by_node(state, &search.order))
        } else {
            state.steps.victims += steps_of_set(probe.pool.nodes, LISTED_A_STEP);
            self.many_nodes(state, &probe.pool, &probe.known)
        })
    }

    /// A set without those that are victims no more.
    fn standing(&self, mut set: VictimSet) -> VictimSet {
        if self.search.is_dated {
            set.retain(|at| self.search.stands(*at));
        }
        set
    }

    /// A set without those that would break a budget beside what is in it before them, and beside those that are known.
    fn within_budgets(&mut self, state: &State, known: &VictimSet, set: VictimSet) -> VictimSet {
        if !state.has_budgets() {
            return set;
        }
        let order = &self.search.order;
        let pods = |at: &usize| order[*at].pods.iter().copied();
        let mut spent = SpentBudgets::default();
        let stands = state.spend_budgets(&mut spent, known.iter().flat_map(pods));
        let mut kept = VictimSet::default();
        let mut without: BTreeSet<GroupId> = BTreeSet::new();
        for at in &set {
            let group = order[*at].group;
            // What a group loses last is not lost without what it can spare.
            if without.contains(&group) || !(stands && state.spend_budgets(&mut spent, pods(at))) {
                without.insert(group);
            } else {
                kept.push(*at);
            }
        }
        self.search.cut |= !without.is_empty();
        kept
    }

    /// The victims of a set with those that are known, unless it was tried or counting refuses it.
    fn victims_of(&self, state: &mut State, probe: &Probe, set: &VictimSet) -> Option<VictimSet> {
        let search = &self.search;
        let pods: Few<PodId> = set.iter().flat_map(|at| &search.order[*at].pods).copied().collect();
        state.steps.compared += search.demand.beside_the_first(pods.len());
        state.steps.victims += steps_of_set(pods.len(), LISTED_A_STEP);
        if set.is_empty() || probe.tried.sets.contains(set) {
            return None;
        }
        let room = probe.held.with(state, &search.demand, &search.nodes, &pods);
        if search.demand.short(&room, search.phase.count()).is_some() {
            state.steps.filtered += 1;
            return None;
        }
        Some(probe.known.iter().chain(set).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{TRIED_MAX, TriedInVain, VictimSet};

    /// A search that tries ever larger sets, one more victim each time, would keep the square of their number.
    #[test]
    fn what_is_kept_of_sets_is_bounded() {
        let mut tried = TriedInVain::default();
        for size in 1..2_000 {
            let set: VictimSet = (0..size).collect();
            tried.insert(set.clone());
            let kept: usize = tried.sets.iter().map(|set| set.len()).sum();
            assert_eq!(tried.victims, kept);
            assert!(kept < TRIED_MAX + size, "{kept} after {size} sets");
            assert!(tried.sets.contains(&set), "the latest one is known");
        }
    }
}
