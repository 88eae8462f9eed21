//! Topology spread: how unevenly pods of a kind may be over the domains of a node label.
//!
//! # Source
//! The Kubernetes filter `PodTopologySpread` (KEP-895, KEP-3022 minimum domains, KEP-3094 inclusion policies); KAI has
//! none (docs/behaviour.md 14.3, Q37). Pods that are leaving do not count, those that were nominated for a place do.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::{
        id_set::IdSet,
        ids::{NodeClassId, NodeId, PodId, Rank, ShapeId, Symbol},
    },
    state::{
        State,
        shape::{NodeClass, ShapeRow},
        spread_domains::{SpreadBasis, SpreadDomains},
    },
    told::pod::Spread,
};

/// Comparisons that it costs to add the pods of a node to those of its domain.
const COUNT: usize = 8;

/// State of a constraint for one pod: the domains that it may not join.
#[derive(Clone, Debug)]
pub(crate) struct SpreadState {
    pub(crate) key: Symbol,
    /// Domains with as many pods as they may have.
    pub(crate) full: BTreeSet<Symbol>,
}

/// Works out once which domains a shape's constraints tell apart.
///
/// # Cost
/// In the kinds of nodes, after nodes changed, and once for all constraints that tell nodes apart alike; else nothing.
pub(crate) fn ensure_spread_domains(state: &mut State, shape: ShapeId) {
    let is_known = state.nodes().index.spread.contains_key(&shape);
    if is_known || state.shapes()[shape].facts.spread.is_empty() {
        return;
    }
    let row = &state.shapes()[shape];
    let index = &state.nodes().index;
    let mut compared = 0;
    let mut new: Vec<Arc<SpreadDomains>> = Vec::new();
    let domains = row.facts.spread.iter().map(|spread| {
        let basis = SpreadBasis::new(spread, &row.facts);
        let known = new.iter().find(|one| one.basis == basis);
        let kept = || index.spread_domains.get(&basis).map(|(kept, _)| kept);
        if let Some(known) = known.or_else(kept) {
            return Arc::clone(known);
        }
        let kinds = &state.nodes().kinds;
        let mut of: BTreeMap<NodeClassId, Symbol> = BTreeMap::new();
        let mut seen: BTreeSet<NodeClassId> = BTreeSet::new();
        for kind in index.ranks().map(|rank| index.kind(rank)).filter(|kind| seen.insert(*kind)) {
            of.extend(domain(&kinds[kind], &basis, row).map(|value| (kind, value)));
        }
        compared += index.ranks().len() * (1 + basis.keys.len());
        let values = of.values().copied().collect();
        new.push(Arc::new(SpreadDomains { basis, of, values }));
        Arc::clone(&new[new.len() - 1])
    });
    let domains = domains.collect();
    state.note_spread_domains(shape, domains);
    state.steps.compared += u64::try_from(compared).unwrap_or(u64::MAX);
}

/// The domain of nodes of this kind, where a constraint of a shape counts them.
fn domain(kind: &NodeClass, basis: &SpreadBasis, shape: &ShapeRow) -> Option<Symbol> {
    let counts = basis.keys.iter().all(|key| kind.label(*key).is_some())
        && (basis.selection.is_none() || kind.is_selected(&shape.facts))
        && (basis.tolerations.is_none() || kind.repelling(shape).next().is_none());
    kind.label(basis.topology_key).filter(|_| counts).map(|label| label.value)
}

/// Counts the pods that a constraint means, in each of its domains that has any; gives the number of nodes with such
/// pods as well.
fn count_by_domain(
    state: &State,
    spread: &Spread,
    domains: &SpreadDomains,
) -> (BTreeMap<Symbol, u32>, usize) {
    let mut counts: BTreeMap<Symbol, u32> = BTreeMap::new();
    let mut nodes = 0;
    for (node, count) in state.pod_counts().on(spread) {
        nodes += 1;
        let Some(rank) = state.nodes().index.rank(node) else { continue };
        if let Some(value) = domains.of.get(&state.nodes().index.kind(rank)) {
            *counts.entry(*value).or_default() += count;
        }
    }
    (counts, nodes)
}

/// Counts the pods that each constraint of a shape means which is only wished for, in each domain that has any, and the
/// nodes with such pods; [`ensure_spread_domains`] has to have been called for the shape.
pub(crate) fn wished(
    state: &State,
    shape: ShapeId,
) -> impl Iterator<Item = (Symbol, (BTreeMap<Symbol, u32>, usize))> {
    let spreads = state.shapes()[shape].facts.spread.iter();
    let domains = state.nodes().index.spread.get(&shape).into_iter().flatten();
    let wished = spreads.zip(domains).filter(|(spread, _)| !spread.required);
    wished.map(|(spread, domains)| (spread.topology_key, count_by_domain(state, spread, domains)))
}

/// Lists the domains that a pod may not join, constraint by constraint; [`ensure_spread_domains`] has to have been
/// called for its shape.
///
/// # Cost
/// In the nodes with pods that the constraints mean.
pub(crate) fn spread_states(state: &mut State, pod: PodId) -> Vec<SpreadState> {
    let mut compared = 0;
    let facts = &state.pods()[pod];
    let row = &state.shapes()[facts.shape];
    let Some(domains) = state.nodes().index.spread.get(&facts.shape) else { return Vec::new() };
    let required = row.facts.spread.iter().zip(domains).filter(|(spread, _)| spread.required);
    let standing = |(spread, domains): (&Spread, &Arc<SpreadDomains>)| {
        let (counts, nodes) = count_by_domain(state, spread, domains);
        compared += COUNT * nodes;
        let domains = &domains.values;
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
    let states = required.map(standing).collect();
    state.steps.compared += u64::try_from(compared).unwrap_or(u64::MAX);
    states
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
