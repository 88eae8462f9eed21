//! Topology spread: how unevenly pods of a kind may be over the domains of a node label.
//!
//! # Source
//! The Kubernetes filter `PodTopologySpread` (KEP-895, KEP-3022 minimum domains, KEP-3094 inclusion policies); KAI has
//! none (docs/behaviour.md 14.3, Q37). Pods that are leaving do not count, those that were nominated for a place do.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        id_set::IdSet,
        ids::{NodeId, PodId, Rank, ShapeId, Symbol},
    },
    state::{
        State,
        shape::{NodeClass, ShapeRow},
    },
    told::pod::Spread,
};

/// State of a constraint for one pod: the domains that it may not join.
#[derive(Clone, Debug)]
pub(crate) struct SpreadState {
    pub(crate) key: Symbol,
    /// Domains with as many pods as they may have.
    pub(crate) full: BTreeSet<Symbol>,
}

/// The domain of nodes of this kind, where the constraint counts them.
fn domain(kind: &NodeClass, spread: &Spread, all: &[Spread], shape: &ShapeRow) -> Option<Symbol> {
    let labelled = all.iter().filter(|one| one.required == spread.required);
    let is_whole = labelled.into_iter().all(|one| kind.label(one.topology_key).is_some());
    let counts = is_whole
        && (!spread.honors_selection || kind.is_selected(&shape.facts))
        && (!spread.honors_taints || kind.repelling(shape).next().is_none());
    kind.label(spread.topology_key).filter(|_| counts).map(|label| label.value)
}

/// Works out once which domains a shape's constraints tell apart.
///
/// # Cost
/// In the number of nodes, after nodes changed; else nothing.
pub(crate) fn ensure_spread_domains(state: &mut State, shape: ShapeId) {
    let is_known = state.nodes().index.spread.contains_key(&shape);
    if is_known || state.shapes()[shape].facts.spread.is_empty() {
        return;
    }
    let row = &state.shapes()[shape];
    let nodes = &state.nodes();
    let kinds: BTreeSet<_> = nodes.index.ranks().map(|rank| nodes.index.kind(rank)).collect();
    let spreads = &row.facts.spread;
    let domains = spreads.iter().map(|spread| {
        kinds.iter().filter_map(|kind| domain(&nodes.kinds[*kind], spread, spreads, row)).collect()
    });
    let domains: Vec<BTreeSet<Symbol>> = domains.collect();
    state.note_spread_domains(shape, domains);
}

/// Counts the pods that a constraint means, in each domain that has any.
pub(crate) fn spread_counts(
    state: &State,
    shape: ShapeId,
    spread: &Spread,
) -> BTreeMap<Symbol, u32> {
    let row = &state.shapes()[shape];
    let mut counts: BTreeMap<Symbol, u32> = BTreeMap::new();
    for (node, count) in state.pod_counts().on(spread) {
        let Some(rank) = state.nodes().index.rank(node) else { continue };
        let kind = &state.nodes().kinds[state.nodes().index.kind(rank)];
        if let Some(value) = domain(kind, spread, &row.facts.spread, row) {
            *counts.entry(value).or_default() += count;
        }
    }
    counts
}

/// Lists the domains that a pod may not join, constraint by constraint; [`ensure_spread_domains`] has to have been
/// called for its shape.
///
/// # Cost
/// In the nodes with pods that the constraints mean.
pub(crate) fn spread_states(state: &State, pod: PodId) -> Vec<SpreadState> {
    let facts = &state.pods()[pod];
    let row = &state.shapes()[facts.shape];
    let Some(domains) = state.nodes().index.spread.get(&facts.shape) else { return Vec::new() };
    let required = row.facts.spread.iter().zip(domains).filter(|(spread, _)| spread.required);
    let standing = |(spread, domains): (&Spread, &BTreeSet<Symbol>)| {
        let counts = spread_counts(state, facts.shape, spread);
        let own = u32::from(facts.is_meant(&spread.selector, spread.namespace));
        let is_short = domains.len() < usize::try_from(spread.domains_min).unwrap_or(usize::MAX);
        let least = if is_short || counts.len() < domains.len() {
            0
        } else {
            counts.values().copied().min().unwrap_or(0)
        };
        let most = least.saturating_add(spread.skew_max);
        let full = counts.iter().filter(|(_, count)| **count + own > most);
        let full = full.map(|(value, _)| *value).collect();
        SpreadState { key: spread.topology_key, full }
    };
    required.map(standing).collect()
}

/// The nodes that are left of `within`, or of all, where topology spread closes some.
///
/// # Cost
/// In the nodes of closed domains.
pub(crate) fn open(
    state: &mut State,
    pod: PodId,
    spreads: &[SpreadState],
    within: Option<&IdSet<Rank>>,
) -> Option<IdSet<Rank>> {
    let closed: Vec<&SpreadState> = spreads.iter().filter(|one| !one.full.is_empty()).collect();
    if closed.is_empty() {
        return None;
    }
    state.node_sets();
    let feasible = state.nodes().index.feasible(state.pods()[pod].shape);
    let mut open: IdSet<Rank> = feasible.common(within.unwrap_or(feasible)).collect();
    for standing in closed {
        let values: Vec<Symbol> = standing.full.iter().copied().collect();
        for rank in state.nodes().index.known_node_sets().of(standing.key, &values).iter() {
            open.remove(rank);
        }
    }
    Some(open)
}

/// Tells whether a node is in a domain of every constraint that the pod may join.
pub(crate) fn spreads(state: &State, standings: &[SpreadState], node: NodeId) -> bool {
    standings.iter().all(|standing| {
        let topology_pair = state.topology_pair(node, standing.key);
        topology_pair.is_some_and(|(_, value)| !standing.full.contains(&value))
    })
}
