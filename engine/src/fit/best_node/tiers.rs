//! The best node where a pod, or its gang, would rather go to some nodes than to others.

use super::{Bounds, Found, NodeSearch, find};
use crate::{
    base::{
        id_set::IdSet,
        ids::{PodId, Rank},
    },
    fit::{
        filter::{self, Choice},
        preferences::preferences,
    },
    state::State,
};

/// The best node for a waiting pod among `within`, which falls into tiers, the most preferred first. Where the pod is
/// nominated to and what it wishes for come before these.
///
/// # Cost
/// That of [`best_node`](super::best_node), and a search in each tier, or in each set of nodes in a tier that the pod likes
/// alike and of which one has room.
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
    find(state, pod, within, Some(tiers), devices)
}

/// The best node among those that a pod likes most, and of these in the first of the tiers, where it was found that there
/// is one. Sets of nodes of which none has room are passed over before anything else is asked.
pub(super) fn preferred(
    state: &mut State,
    bounds: &Bounds<'_>,
    tiers: Option<&[IdSet<Rank>]>,
    found: Option<Found>,
) -> Option<Found> {
    // Nodes of a tier are compared with all of it, also with those that are closed to the pod.
    let among = if tiers.is_some() { bounds.domain } else { bounds.left.or(bounds.domain) };
    let order = preferences(state, bounds.pod, among, tiers);
    let levels = order.levels();
    if levels.len() == 1 && tiers.is_none() {
        return found;
    }
    let mut search = bounds.search(state);
    let mut compared = 0;
    let best = levels.into_iter().find_map(|level| {
        let has_room = level.clone().any(|rank| {
            compared += 1;
            search.has_room(rank)
        });
        if !has_room {
            return None;
        }
        search.looked += 1;
        let level: IdSet<Rank> = level.collect();
        if tiers.is_some() {
            bounds.best_of_tier(&mut search, &level)
        } else {
            best_of(&mut search, &level, bounds.domain)
        }
    });
    let (looked, looks) = (search.looked, search.looks);
    bounds.count(state, looked, looks);
    state.steps.compared += compared;
    best
}

impl NodeSearch<'_> {
    /// Tells whether a node is left to the pod and has room, its GPUs taken together.
    fn has_room(&self, rank: Rank) -> bool {
        let node = self.state.nodes().index.node(rank);
        self.within.contains(rank) && filter::room(self.state, self.shape, node).is_ok()
    }
}

impl Bounds<'_> {
    /// The best node of a tier, as far as that is left to the pod.
    pub(super) fn best_of_tier(
        &self,
        search: &mut NodeSearch<'_>,
        tier: &IdSet<Rank>,
    ) -> Option<Found> {
        let left = self.left.map(|left| {
            let mut part = tier.clone();
            part.intersect(left);
            part
        });
        best_of(search, left.as_ref().unwrap_or(tier), Some(tier))
    }
}

/// The best of some nodes, compared with those of a domain.
fn best_of(
    search: &mut NodeSearch<'_>,
    within: &IdSet<Rank>,
    domain: Option<&IdSet<Rank>>,
) -> Option<Found> {
    let mut part = NodeSearch { within, domain, ..*search };
    let found = part.best();
    let (looked, looks) = (part.looked, part.looks);
    (search.looked, search.looks) = (looked, looks);
    found
}
