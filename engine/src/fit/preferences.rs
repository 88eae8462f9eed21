//! Preferences of a pod among nodes: preferred pod affinity, preferred node affinity, topology spread that is only
//! wished for.
//!
//! # Source
//! docs/behaviour.md 9.2, `podaffinity`: the sum of the weights, not normalised, above all but the nominated node.
//! KAI never scores preferred node affinity (14.3, Q54); here it comes next. Wishes of pods that are there already
//! towards a newcomer do not count.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    base::{
        id_set::IdSet,
        ids::{PodId, Rank, Symbol},
    },
    fit::spread,
    state::{State, shape::ShapeRow},
};

/// Score of a node: by pods, by labels, by how few pods of its kind are near. More is better.
type Score = [i64; 3];

/// Comparisons that finding the score of a node by one of its labels costs.
const SUM: u64 = 4;

/// Comparisons that one attempt to place a group makes to find out where its pods would rather go: as many as for five hundred
/// pods with two wishes each on a thousand nodes. They take some ten milliseconds.
const WISHED_MAX: u64 = 6_400_000;

/// Standing of a node: its score, and the tier that it is in.
type Standing = (Reverse<Score>, usize);

/// Nodes in the order in which a pod would like to go there, and of those that it likes alike by their tiers.
#[derive(Debug)]
pub(crate) struct Preferences(Vec<(Standing, Rank)>);

impl Preferences {
    /// The nodes that are equal, the best first.
    pub(crate) fn levels(
        &self,
    ) -> impl ExactSizeIterator<Item = impl Iterator<Item = Rank> + Clone> {
        let levels: Vec<_> = self.0.chunk_by(|one, other| one.0 == other.0).collect();
        levels.into_iter().map(|level| level.iter().map(|(_, rank)| *rank))
    }
}

/// Tells whether a pod is asked where it would rather go: not once the attempt to place its group has compared so much for wishes
/// that others would wait for what is none of its needs.
pub(crate) fn are_asked(state: &State, shape: &ShapeRow) -> bool {
    state.wished < WISHED_MAX && has_preferences(shape)
}

/// Tells whether its pods would rather go to some nodes than to others.
fn has_preferences(shape: &ShapeRow) -> bool {
    !shape.facts.preferred_nodes.is_empty()
        || !shape.facts.preferred_pods.is_empty()
        || shape.facts.spread.iter().any(|spread| !spread.required)
}

/// Orders a set of nodes by how much a pod would like to go there; where there are tiers, of these alone.
///
/// # Cost
/// For wishes about pods that of counting who they mean; else in the nodes, times the labels and terms that matter.
pub(crate) fn preferences(
    state: &mut State,
    pod: PodId,
    within: Option<&IdSet<Rank>>,
    tiers: Option<&[IdSet<Rank>]>,
) -> Preferences {
    let begun = state.steps.compared;
    state.node_sets();
    let shape = state.pods()[pod].shape;
    spread::ensure_spread_domains(state, shape);
    if !state.shapes()[shape].facts.preferred_pods.is_empty() {
        state.ensure_tally(pod);
    }
    let feasible = state.nodes().index.feasible(shape);
    let among: IdSet<Rank> = feasible.common(within.unwrap_or(feasible)).collect();
    let wishes = Wishes::new(state, pod, &among);
    let tier =
        |rank| tiers.map_or(Some(0), |tiers| tiers.iter().position(|tier| tier.contains(rank)));
    let standing = |rank| Some(((Reverse(wishes.score(state, rank)), tier(rank)?), rank));
    let mut nodes: Vec<(Standing, Rank)> = among.iter().filter_map(standing).collect();
    nodes.sort_unstable();
    let compared = wishes.compared;
    state.steps.compared += compared;
    state.wished += state.steps.compared - begun;
    Preferences(nodes)
}

/// Scores of the domains of a topology key, where they are not 0.
type ByDomain = (Symbol, BTreeMap<Symbol, i64>);

/// Everything that makes nodes better or worse for a pod.
struct Wishes {
    by_pods: Vec<ByDomain>,
    /// Nodes by labels, with weights.
    by_labels: Vec<(IdSet<Rank>, i64)>,
    by_spread: Vec<ByDomain>,
    /// Comparisons that finding it out took.
    compared: u64,
}

impl Wishes {
    /// The wishes of a pod among some nodes; where it has some about pods, these have to be counted.
    fn new(state: &State, pod: PodId, among: &IdSet<Rank>) -> Self {
        let shape = state.pods()[pod].shape;
        let facts = &state.shapes()[shape].facts;
        let (by_pods, size) = if facts.preferred_pods.is_empty() {
            (Vec::new(), 0)
        } else {
            (by_pods(state), state.tally().size())
        };
        let node_sets = state.nodes().index.known_node_sets();
        let by_labels = facts.preferred_nodes.iter().map(|(weight, term)| {
            let nodes = node_sets.any(among.clone(), std::slice::from_ref(term));
            (nodes, i64::from(*weight))
        });
        let mut counted = 0;
        let by_spread = spread::wished(state, shape).map(|(key, (counts, nodes))| {
            counted += nodes;
            let scores = counts.into_iter().map(|(value, count)| (value, -i64::from(count)));
            (key, scores.collect())
        });
        let (by_labels, by_spread): (Vec<_>, Vec<_>) = (by_labels.collect(), by_spread.collect());
        let sums = by_pods.len() + by_labels.len() + by_spread.len() + 1;
        let compared = u64::try_from(sums * among.len() + counted).unwrap_or(u64::MAX);
        Self { by_pods, by_labels, by_spread, compared: SUM * compared + size }
    }

    fn score(&self, state: &State, rank: Rank) -> Score {
        let nodes = state.nodes();
        let kind = &nodes.kinds[nodes.index.kind(rank)];
        let by_domain = |wishes: &[ByDomain]| {
            let of = |(key, scores): &ByDomain| scores.get(&kind.label(*key)?.value).copied();
            wishes.iter().filter_map(of).sum()
        };
        let by_labels = self.by_labels.iter().filter(|(nodes, _)| nodes.contains(rank));
        let by_labels = by_labels.map(|(_, weight)| weight).sum();
        [by_domain(&self.by_pods), by_labels, by_domain(&self.by_spread)]
    }
}

/// Sums of weights by domain, from the pods that were counted last.
fn by_pods(state: &State) -> Vec<ByDomain> {
    let keys = state.tally().liked_keys();
    let mut by_domain: Vec<ByDomain> = keys.iter().map(|key| (*key, BTreeMap::new())).collect();
    for (node, at, sum) in state.tally().liked() {
        if let Some((_, value)) = state.topology_pair(node, keys[at]) {
            *by_domain[at].1.entry(value).or_default() += sum;
        }
    }
    by_domain
}
