//! Bounds on the domains for sub-groups that have to be together, each by itself: a bound that needs no search.
//!
//! Of sub-groups that have some number of pods or more, a domain takes at most as many as this number goes into its room.
//! Where all domains take fewer than there are, for one such number, no choice of domains lets all of them in.
//!
//! # Source
//! Bounds for bin packing by the items of some size or more: Martello and Toth, "Knapsack Problems", 1990, chapter 8.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        id_set::IdSet,
        ids::{GroupId, PodId, Rank, ShapeId, Symbol, TopologyId},
    },
    state::{
        State,
        tree::{Member, Tree},
    },
};

/// Too few domains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DomainShortage {
    pub(crate) topology: TopologyId,
    pub(crate) level: Symbol,
    /// Number of pods that the sub-groups have, or more.
    pub(crate) pods: usize,
    /// Number of such sub-groups.
    pub(crate) needed: usize,
    /// Number of them that the domains would take.
    pub(crate) most: usize,
}

/// A level of a topology, and the shape of the pods.
type Kind = (TopologyId, Symbol, ShapeId);

/// The first size of which there are more than the rooms take: the size, how many there are, how many they take.
fn excess(sizes: &[usize], rooms: &[usize]) -> Option<(usize, usize, usize)> {
    let mut seen = BTreeSet::new();
    sizes.iter().filter(|size| seen.insert(**size)).find_map(|size| {
        let needed = sizes.iter().filter(|other| *other >= size).count();
        let most = rooms.iter().map(|room| room / size).sum();
        (needed > most).then_some((*size, needed, most))
    })
}

/// Finds sub-groups of a group, each of which has to be together, for whose pods there are too few domains. `room` says
/// how many pods of a shape a node holds at most.
///
/// Only sub-groups of equal pods are counted.
///
/// # Cost
/// In the nodes of the topologies, per shape and level; in the sub-groups times the domains.
pub(crate) fn domain_bound(
    state: &State,
    group: GroupId,
    pods: &[PodId],
    room: impl Fn(ShapeId, Rank) -> usize,
) -> Option<DomainShortage> {
    let tree = &state.groups()[group].tree;
    let mut sizes: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
    let mut by_leaf: BTreeMap<u16, Vec<ShapeId>> = BTreeMap::new();
    for pod in pods {
        let facts = &state.pods()[*pod];
        if let Some(leaf) = facts.leaf {
            by_leaf.entry(leaf).or_default().push(facts.shape);
        }
    }
    let mut add = |kind: (TopologyId, Symbol), leaves: &[u16]| {
        let mut shapes = leaves.iter().filter_map(|leaf| by_leaf.get(leaf)).flatten().copied();
        let Some(shape) = shapes.next() else { return };
        let others: Vec<ShapeId> = shapes.collect();
        if others.iter().all(|other| *other == shape) {
            sizes.entry((kind.0, kind.1, shape)).or_default().push(1 + others.len());
        }
    };
    outermost(tree, Member::Set(0), &mut Vec::new(), &mut add);
    sizes.iter().filter(|(_, sizes)| sizes.len() > 1).find_map(|(kind, sizes)| {
        let (topology, level, shape) = *kind;
        let domains = state.nodes().index.domains.get(topology)?.as_ref()?;
        let feasible = state.nodes().index.feasible(shape);
        let of_domain = |domain: &IdSet<Rank>| -> usize {
            domain.common(feasible).map(|rank| room(shape, rank)).sum()
        };
        let rooms: Vec<usize> = domains.of_level(level)?.map(of_domain).collect();
        let (pods, needed, most) = excess(sizes, &rooms)?;
        Some(DomainShortage { topology, level, pods, needed, most })
    })
}

/// Tells of each member with pods that has to be together on a level, but of those within another such member.
fn outermost(
    tree: &Tree,
    member: Member,
    within: &mut Vec<(TopologyId, Symbol)>,
    tell: &mut impl FnMut((TopologyId, Symbol), &[u16]),
) {
    let constraint = tree.constraint(member).1;
    let kind = constraint.and_then(|one| Some((one.topology, one.required?.0)));
    let kind = kind.filter(|kind| !within.contains(kind));
    if let Some(kind) = kind {
        tell(kind, &tree.leaves_below(member));
        within.push(kind);
    }
    if let Member::Set(set) = member {
        for member in tree.walked(set) {
            outermost(tree, *member, within, tell);
        }
    }
    if kind.is_some() {
        within.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::excess;

    fn check(sizes: &[usize], rooms: &[usize], expect: Option<(usize, usize, usize)>) {
        assert_eq!(excess(sizes, rooms), expect, "{sizes:?} in {rooms:?}");
    }

    #[test]
    fn sizes_that_no_choice_of_rooms_takes_are_told() {
        check(&[2, 2, 2], &[3, 3, 3], None);
        check(&[2, 2, 2, 2], &[3, 3, 3], Some((2, 4, 3)));
        check(&[2, 2, 3], &[4, 3], None);
        // A small one beside two large ones, for which there is one room.
        check(&[1, 3, 3], &[4, 2], Some((3, 2, 1)));
        check(&[4], &[3, 3], Some((4, 1, 0)));
        check(&[], &[3], None);
    }
}
