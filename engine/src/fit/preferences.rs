//! Preferences of a pod among nodes: preferred pod affinity, preferred node affinity, topology spread that is only
//! wished for.
//!
//! # Source
//! docs/behaviour.md 9.2, `podaffinity`: the sum of the weights, not normalised, above all but the nominated node.
//! KAI never scores preferred node affinity (14.3, Q54); here it comes next. Wishes of pods that are there already
//! towards a newcomer do not count.

use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{PodId, Rank, Symbol},
    },
    fit::{pod_affinity, spread},
    state::{State, shape::ShapeRow},
};

/// Score of a node: by pods, by labels, by how few pods of its kind are near. More is better.
type Score = [i64; 3];

/// Nodes by their score.
#[derive(Debug)]
struct ScoreLevels(BTreeMap<Score, IdSet<Rank>>);

impl ScoreLevels {
    /// Makes some nodes better or worse.
    fn add(&mut self, nodes: &IdSet<Rank>, at: usize, weight: i64) {
        if weight == 0 || nodes.is_empty() {
            return;
        }
        let mut moved: Vec<(Score, IdSet<Rank>)> = Vec::new();
        for (score, level) in &mut self.0 {
            let found: IdSet<Rank> = level.common(nodes).collect();
            if found.is_empty() {
                continue;
            }
            found.iter().for_each(|rank| {
                level.remove(rank);
            });
            let mut new = *score;
            new[at] += weight;
            moved.push((new, found));
        }
        self.0.retain(|_, level| !level.is_empty());
        for (score, found) in moved {
            self.0.entry(score).or_default().extend(found.iter());
        }
    }
}

/// Tells whether its pods would rather go to some nodes than to others.
pub(crate) fn has_preferences(shape: &ShapeRow) -> bool {
    !shape.facts.preferred_nodes.is_empty()
        || !shape.facts.preferred_pods.is_empty()
        || shape.facts.spread.iter().any(|spread| !spread.required)
}

/// Parts a set of nodes by how much a pod would like to go there, the best first.
///
/// # Cost
/// In the nodes of the domains that matter, and for wishes about pods in the number of pods on nodes.
pub(crate) fn preferences(
    state: &mut State,
    pod: PodId,
    within: Option<&IdSet<Rank>>,
) -> Vec<IdSet<Rank>> {
    state.node_sets();
    let shape = state.pods()[pod].shape;
    let feasible = state.nodes().index.feasible(shape);
    let among: IdSet<Rank> = feasible.common(within.unwrap_or(feasible)).collect();
    let facts = &state.shapes()[shape].facts;
    let node_sets = state.nodes().index.known_node_sets();
    let mut levels = ScoreLevels(BTreeMap::from([([0; 3], among.clone())]));
    for (weight, term) in &facts.preferred_pods {
        let mut counts: BTreeMap<Symbol, i64> = BTreeMap::new();
        pod_affinity::each_stayer(state, pod, term, &mut |(_, value)| {
            *counts.entry(value).or_default() += 1;
        });
        for (value, count) in counts {
            let nodes = node_sets.of(term.topology_key, &[value]);
            levels.add(&nodes, 0, i64::from(*weight) * count);
        }
    }
    for (weight, term) in &facts.preferred_nodes {
        let nodes = node_sets.any(among.clone(), std::slice::from_ref(term));
        levels.add(&nodes, 1, i64::from(*weight));
    }
    for spread in facts.spread.iter().filter(|spread| !spread.required) {
        for (value, count) in spread::spread_counts(state, shape, spread) {
            let nodes = node_sets.of(spread.topology_key, &[value]);
            levels.add(&nodes, 2, -i64::from(count));
        }
    }
    levels.0.into_values().rev().collect()
}
