//! The best node where some nodes are in domains that a gang prefers to others.

use super::{Found, best_node, nominees};
use crate::{
    base::{
        id_set::IdSet,
        ids::{PodId, Rank},
    },
    fit::{
        filter::Choice,
        preferences::{self, preferences},
    },
    state::State,
};

/// The best node for a waiting pod among `within`, which falls into tiers, the most preferred first. Where the pod is
/// nominated to and what it wishes for come before these.
///
/// # Cost
/// That of [`best_node`] for each tier, times the sets of nodes that the pod likes alike.
///
/// # Source
/// docs/behaviour.md 9.1.
pub(crate) fn best_node_of_tiers(
    state: &mut State,
    pod: PodId,
    within: Option<&IdSet<Rank>>,
    tiers: &[IdSet<Rank>],
    devices: Choice,
) -> Option<Found> {
    for node in nominees(state, pod) {
        let Some(rank) = state.nodes().index.rank(node) else { continue };
        if within.is_none_or(|within| within.contains(rank)) {
            let alone: IdSet<Rank> = std::iter::once(rank).collect();
            let found = best_node(state, pod, Some(&alone), devices);
            if found.is_some() {
                return found;
            }
        }
    }
    let shape = state.pods()[pod].shape;
    if !preferences::has_preferences(&state.shapes()[shape]) {
        return tiers.iter().find_map(|tier| best_node(state, pod, Some(tier), devices));
    }
    state.ensure_feasible(shape);
    let order = preferences(state, pod, within);
    order.levels().find_map(|level| {
        tiers.iter().find_map(|tier| {
            let mut part = level.clone();
            part.intersect(tier);
            if part.is_empty() { None } else { best_node(state, pod, Some(&part), devices) }
        })
    })
}
