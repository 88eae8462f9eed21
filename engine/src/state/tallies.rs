//! Counts of the pods that the terms of a shape mean, by node: made in one pass over the pods of the namespaces that the
//! terms name, and kept in line with what plans try and take back.
//!
//! Counts are of one time: whatever is told ends them all.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NodeId, PodId, ShapeId, Symbol},
    state::{
        State,
        booking::Sign,
        rows::{PodFacts, PodStatus},
    },
    told::{
        pod::PodTerm,
        requirement::{Holds, Requirement},
    },
};

/// So many shapes have their counts kept.
const KEPT_MAX: usize = 8;

/// After so many changes all counts are made anew.
const MOVES_MAX: usize = 1 << 16;

/// Comparisons that finding a pod and its labels costs.
pub(super) const POD: u64 = 16;

/// Labels of a pod, or values of a requirement, that cost as much as one comparison more.
const LISTED: usize = 8;

/// Nodes on which a pod is counted, and how.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Presence {
    /// Nodes on which it holds a place or will, each once.
    pub(super) nodes: [Option<NodeId>; 2],
    /// True if it is about to leave, and was not nominated again.
    pub(super) leaves: bool,
}

impl Presence {
    pub(super) fn of(status: &PodStatus) -> Self {
        let [nominee, place] =
            [&status.nominee, &status.place].map(|place| place.as_ref().map(|place| place.node));
        Self {
            nodes: [nominee, place.filter(|node| nominee != Some(*node))],
            leaves: status.leaves_for_good(),
        }
    }

    fn is_none(self) -> bool {
        self.nodes == [None, None]
    }
}

/// A pod that is not where it was.
#[derive(Clone, Copy, Debug)]
struct Move {
    pod: PodId,
    before: Presence,
    after: Presence,
}

/// Counts that are kept, the last one asked for at the end, and what happened since the first of them was made.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tallies {
    kept: Vec<Tally>,
    moves: Vec<Move>,
}

impl Tallies {
    /// Forgets all of them.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.kept.is_empty() {
            self.kept.clear();
            self.moves.clear();
        }
    }

    /// Notes that a pod moved.
    #[inline]
    pub(super) fn note(&mut self, pod: PodId, before: &PodStatus, after: &PodStatus) {
        if self.kept.is_empty() {
            return;
        }
        let (before, after) = (Presence::of(before), Presence::of(after));
        if self.moves.len() >= MOVES_MAX {
            self.clear();
        } else if before != after {
            self.moves.push(Move { pod, before, after });
        }
    }
}

/// Pods that a term means, and what follows from each that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Wish {
    /// Namespaces and selector; without a topology key.
    term: PodTerm,
    /// True if a pod that affinity means has to be one of these.
    is_near: bool,
    /// Places in the list of keys that pods of these bar domains of.
    far: BTreeSet<usize>,
    /// Places in the list of keys that pods of these make domains of better or worse, and by how much.
    liked: BTreeMap<usize, i64>,
    /// Comparisons that looking at a pod costs.
    cost: u64,
}

impl Wish {
    fn new(term: &PodTerm) -> Self {
        Self {
            cost: cost(&term.selector),
            term: unplaced(term),
            is_near: false,
            far: BTreeSet::new(),
            liked: BTreeMap::new(),
        }
    }
}

/// A term that says nothing of domains.
fn unplaced(term: &PodTerm) -> PodTerm {
    PodTerm { topology_key: Symbol::EMPTY, ..term.clone() }
}

/// Comparisons that so many labels or values cost.
pub(super) fn weight(listed: usize) -> u64 {
    1 + u64::try_from(listed / LISTED).unwrap_or(u64::MAX)
}

/// Comparisons that a selector costs with each pod.
pub(super) fn cost(selector: &[Requirement]) -> u64 {
    let cost = selector.iter().map(|requirement| match &requirement.holds {
        Holds::In(values) | Holds::NotIn(values) => weight(values.len()),
        Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => 1,
    });
    cost.sum::<u64>().max(1)
}

/// Counts of the pods that the terms of a shape mean, for pods of one namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    shape: ShapeId,
    namespace: Symbol,
    wishes: Vec<Wish>,
    /// Wishes that mean pods of a namespace. Filled as asked.
    meant: BTreeMap<Symbol, Vec<usize>>,
    /// Topology keys of anti-affinity, then of preferences.
    keys: Vec<Symbol>,
    /// Number of keys of anti-affinity.
    far: usize,
    /// Number of wishes that a pod has to meet that affinity means.
    near: usize,
    /// Per node: pods that stay and that all terms of affinity mean; per key of anti-affinity the pods that stay and that
    /// it means, then those that leave; per key of preferences the sum of weights.
    on: BTreeMap<NodeId, Box<[i64]>>,
    /// A pod that is not counted, as where it was left out.
    without: Option<(PodId, Presence)>,
    /// So many moves are in it.
    until: usize,
    /// Number of pods that were looked at to make it.
    looked: usize,
    /// Comparisons that nobody counted yet.
    compared: u64,
}

/// The place of a key in a list to which it is added.
fn place_of(keys: &mut Vec<Symbol>, from: usize, key: Symbol) -> usize {
    let at = keys[from..].iter().position(|one| *one == key);
    at.map_or_else(
        || {
            keys.push(key);
            keys.len() - 1
        },
        |at| from + at,
    )
}

impl Tally {
    /// Counts of nothing so far. Terms that differ in nothing but domains and weights are compared once, and those that keep away
    /// from domains of which there are none, or wish for them, not at all.
    fn new(state: &State, shape: ShapeId, namespace: Symbol) -> Self {
        let facts = &state.shapes[shape].facts;
        let is_somewhere = |term: &PodTerm| state.shapes.keys.are_on_nodes(term.topology_key);
        let mut wishes: BTreeMap<PodTerm, Wish> = BTreeMap::new();
        let mut wish = |term: &PodTerm, add: &mut dyn FnMut(&mut Wish)| {
            add(wishes.entry(unplaced(term)).or_insert_with(|| Wish::new(term)));
        };
        let mut keys = Vec::new();
        for term in &facts.pod_affinity {
            wish(term, &mut |wish| wish.is_near = true);
        }
        for term in facts.pod_anti_affinity.iter().filter(|term| is_somewhere(term)) {
            let at = place_of(&mut keys, 0, term.topology_key);
            wish(term, &mut |wish| wish.far.extend([at]));
        }
        let far = keys.len();
        for (weight, term) in facts.preferred_pods.iter().filter(|(_, term)| is_somewhere(term)) {
            let at = place_of(&mut keys, far, term.topology_key);
            wish(term, &mut |wish| *wish.liked.entry(at).or_default() += i64::from(*weight));
        }
        let wishes: Vec<Wish> = wishes.into_values().collect();
        let near = wishes.iter().filter(|wish| wish.is_near).count();
        Self {
            shape,
            namespace,
            wishes,
            meant: BTreeMap::new(),
            keys,
            far,
            near,
            on: BTreeMap::new(),
            without: None,
            until: 0,
            looked: 0,
            compared: 0,
        }
    }

    /// Counts all pods that there are.
    fn fill(&mut self, state: &State) {
        self.until = state.tallies.moves.len();
        for (at, wish) in self.wishes.iter().enumerate() {
            let namespaces = state.namespaces_of(&wish.term, self.namespace);
            self.compared += weight(wish.term.namespaces.len().max(namespaces.len()));
            for namespace in namespaces {
                self.meant.entry(namespace).or_default().push(at);
            }
        }
        let meant = std::mem::take(&mut self.meant);
        for (namespace, wishes) in &meant {
            for pod in state.placed_in(*namespace) {
                let presence = Presence::of(&state.pods.status[pod]);
                self.count(&state.pods[pod], presence, Sign::Plus, wishes);
                self.looked += 1;
            }
        }
        self.meant = meant;
    }

    /// Takes in what happened since.
    fn follow(&mut self, state: &State) {
        for Move { pod, before, after } in &state.tallies.moves[self.until..] {
            self.recount(state, *pod, *before, Sign::Minus);
            self.recount(state, *pod, *after, Sign::Plus);
        }
        self.until = state.tallies.moves.len();
    }

    /// Leaves out a pod, which is no neighbour of its own, and no other.
    fn leave_out(&mut self, state: &State, pod: PodId) {
        let presence = Presence::of(&state.pods.status[pod]);
        let without = (!presence.is_none()).then_some((pod, presence));
        if self.without == without {
            return;
        }
        if let Some((other, presence)) = std::mem::replace(&mut self.without, without) {
            self.recount(state, other, presence, Sign::Plus);
        }
        self.recount(state, pod, presence, Sign::Minus);
    }

    fn recount(&mut self, state: &State, pod: PodId, presence: Presence, sign: Sign) {
        if presence.is_none() {
            return;
        }
        let facts = &state.pods[pod];
        let mut meant = std::mem::take(&mut self.meant);
        let wishes = meant.entry(facts.namespace).or_insert_with(|| {
            self.compared += weight(self.wishes.len() * LISTED);
            let wishes = self.wishes.iter().enumerate();
            let means = |wish: &Wish| state.means(&wish.term, self.namespace, facts.namespace);
            wishes.filter(|(_, wish)| means(wish)).map(|(at, _)| at).collect()
        });
        if !wishes.is_empty() {
            self.count(facts, presence, sign, wishes);
        }
        self.meant = meant;
    }

    /// Counts a pod of a namespace that some wishes mean, or takes it back.
    fn count(&mut self, pod: &PodFacts, presence: Presence, sign: Sign, wishes: &[usize]) {
        let labels = weight(pod.labels.len());
        self.compared += POD;
        let (mut near, mut found) = (0, Vec::new());
        for at in wishes {
            let wish = &self.wishes[*at];
            self.compared += wish.cost * labels;
            if pod.is_selected(&wish.term.selector) {
                near += usize::from(wish.is_near);
                found.push(wish);
            }
        }
        if found.is_empty() {
            return;
        }
        let is_near = self.near > 0 && near == self.near;
        let row = 1 + self.keys.len() + self.far;
        for node in presence.nodes.into_iter().flatten() {
            let on = self.on.entry(node).or_insert_with(|| vec![0; row].into_boxed_slice());
            let (stays, leaves) = on[1..].split_at_mut(self.far);
            let (leaves, liked) = leaves.split_at_mut(self.far);
            let far = if presence.leaves { leaves } else { stays };
            for wish in &found {
                wish.far.iter().for_each(|at| far[*at] += sign.of(1));
                if !presence.leaves {
                    wish.liked.iter().for_each(|(at, weight)| {
                        liked[*at - self.far] += sign.of(*weight);
                    });
                }
            }
            on[0] += sign.of(i64::from(is_near && !presence.leaves));
        }
    }

    /// The nodes with pods that stay and that all terms of affinity mean.
    pub(crate) fn near(&self) -> impl Iterator<Item = NodeId> {
        self.on.iter().filter(|(_, row)| row[0] > 0).map(|(node, _)| *node)
    }

    /// The nodes with pods that anti-affinity by a topology key means: of those that stay, or of those that leave.
    pub(crate) fn far(&self, leaving: bool) -> impl Iterator<Item = (NodeId, Symbol)> {
        let from = 1 + if leaving { self.far } else { 0 };
        self.on.iter().flat_map(move |(node, row)| {
            let counts = self.keys.iter().zip(&row[from..from + self.far]);
            counts.filter(|(_, count)| **count > 0).map(|(key, _)| (*node, *key))
        })
    }

    /// The sums of weights of preferences, of each node where they are not 0, by the place of the topology key.
    pub(crate) fn liked(&self) -> impl Iterator<Item = (NodeId, usize, i64)> {
        self.on.iter().flat_map(|(node, row)| {
            let sums = row[1 + 2 * self.far..].iter().enumerate();
            sums.filter(|(_, sum)| **sum != 0).map(|(at, sum)| (*node, at, *sum))
        })
    }

    /// The topology keys of preferences.
    pub(crate) fn liked_keys(&self) -> &[Symbol] {
        &self.keys[self.far..]
    }

    /// Number of counts: what going through them costs.
    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.on.len() * (1 + self.keys.len())).unwrap_or(u64::MAX)
    }

    /// Counts that differ in nothing but how they came to be.
    fn is_as(&self, other: &Self) -> bool {
        let rows = |tally: &Self| -> Vec<(NodeId, Box<[i64]>)> {
            let rows = tally.on.iter().filter(|(_, row)| row.iter().any(|count| *count != 0));
            rows.map(|(node, row)| (*node, row.clone())).collect()
        };
        rows(self) == rows(other)
    }
}

impl State {
    /// Counts the pods that the terms of a pod mean, itself aside; [`tally`](Self::tally) gives the counts.
    ///
    /// # Cost
    /// Where pods of its shape were asked about since something was told: in the terms, times the pods that moved
    /// meanwhile. Else in the terms, times the pods that have a place in the namespaces that they name.
    pub(crate) fn ensure_tally(&mut self, pod: PodId) {
        self.ensure_placed();
        let (shape, namespace) = (self.pods[pod].shape, self.pods[pod].namespace);
        let is_it = |tally: &Tally| tally.shape == shape && tally.namespace == namespace;
        let known = self.tallies.kept.iter().position(is_it);
        let known = known.map(|at| self.tallies.kept.remove(at));
        // Where more moved than there are, counting is less to do.
        let moves = self.tallies.moves.len();
        let is_short = |tally: &Tally| 2 * (moves - tally.until) <= tally.looked.max(64);
        let mut tally = if let Some(mut tally) = known.filter(is_short) {
            tally.follow(self);
            tally
        } else {
            let mut tally = Tally::new(self, shape, namespace);
            tally.fill(self);
            tally
        };
        tally.leave_out(self, pod);
        self.steps.compared += std::mem::take(&mut tally.compared);
        if self.tallies.kept.len() == KEPT_MAX {
            self.tallies.kept.remove(0);
        }
        self.tallies.kept.push(tally);
    }

    /// Gives the counts that were asked for last.
    pub(crate) fn tally(&self) -> &Tally {
        self.tallies.kept.last().expect("the pods were counted")
    }

    /// Tells whether all counts that are kept are those of the facts.
    pub(super) fn tallies_hold(&self) -> bool {
        self.tallies.kept.iter().all(|tally| {
            let mut kept = tally.clone();
            kept.follow(self);
            let mut anew = Tally::new(self, kept.shape, kept.namespace);
            anew.fill(self);
            if let Some((pod, presence)) = kept.without {
                kept.recount(self, pod, presence, Sign::Plus);
            }
            kept.is_as(&anew)
        })
    }
}
