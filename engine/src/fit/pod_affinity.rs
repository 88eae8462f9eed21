//! Constraints on a pod by the pods that are there: affinity, anti-affinity, host ports.
//!
//! # Source
//! docs/behaviour.md 10.2, check 6, and the Kubernetes filters `InterPodAffinity` and `NodePorts`. Pods that are
//! leaving count now and not later (14.3, Q38).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        id_set::IdSet,
        ids::{GroupId, NodeId, PodId, Rank, Symbol},
    },
    decided::{plan::Misfit, when::When},
    fit::spread::{self, SpreadState},
    state::{
        State,
        anti_affinity::{Kind, Required, requirements_met},
        host_ports::TakenPorts,
        rows::PodFacts,
    },
    told::pod::PodTerm,
};

/// So many nodes of closed domains are taken out in the time of a comparison.
const CLOSED: usize = 8;

/// So many labels of a pod cost as much as one comparison more.
const LABELS: usize = 8;

/// Domains by node label: key and value.
type TopologyPairs = BTreeSet<(Symbol, Symbol)>;

/// Meaning of affinity and anti-affinity for one pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodAffinity {
    /// Node labels that its affinity terms name: a node has to have each.
    near: Vec<Symbol>,
    /// The domains of the pods that it wants to be near; none where it is the first of them.
    near_by: Option<TopologyPairs>,
    /// Domains that its own terms forbid now and later.
    far: TopologyPairs,
    /// Domains that the terms of others forbid now and later.
    barred: TopologyPairs,
    /// Domains that are forbidden until pods left.
    far_now: TopologyPairs,
    /// Nodes where another pod has one of its host ports.
    ports: TakenPorts,
    /// States of the constraints of topology spread.
    pub(crate) spread: Vec<SpreadState>,
}

/// Looks round for a pod, where it or others have terms about the pods beside them.
///
/// # Cost
/// For pods with terms that of counting who they mean, and in the nodes with such; for those with host ports in these; for
/// all in the kinds of pods whose anti-affinity means pods of this one's namespace that have one of its labels, or any, and
/// in the nodes where such are.
#[inline]
pub(crate) fn pod_affinity(state: &mut State, pod: PodId) -> Option<PodAffinity> {
    let facts = &state.pods()[pod];
    let has_terms = state.shapes()[facts.shape].has_pod_affinity();
    let is_meant =
        !state.anti_affinity().is_empty() && state.anti_affinity_towards(facts).next().is_some();
    (has_terms || is_meant).then(|| pre_filter(state, pod))
}

#[inline(never)]
fn pre_filter(state: &mut State, pod: PodId) -> PodAffinity {
    let id = state.pods()[pod].shape;
    spread::ensure_spread_domains(state, id);
    let facts = &state.shapes()[id].facts;
    let mut pod_affinity = PodAffinity::default();
    if !facts.pod_affinity.is_empty() || !facts.pod_anti_affinity.is_empty() {
        state.ensure_tally(pod);
        state.steps.compared += near_and_far(state, pod, &mut pod_affinity);
    }
    bars(state, pod, &mut pod_affinity);
    let ports = &state.shapes()[id].facts.ports;
    if !ports.is_empty() {
        let (taken, compared) = state.nodes().ports.taken(ports);
        pod_affinity.ports = taken;
        state.steps.compared += compared;
    }
    pod_affinity.spread = spread::spread_states(state, pod);
    pod_affinity
}

/// Looks for the domains that the pod's own terms ask for and forbid, where the pods that they mean were counted; gives
/// the comparisons that it costs.
///
/// # Source
/// The Kubernetes filter `InterPodAffinity`: a pod that only some of the terms of affinity mean counts for none of them,
/// and one that leaves is none to seek.
fn near_and_far(state: &State, pod: PodId, pod_affinity: &mut PodAffinity) -> u64 {
    let tally = state.tally();
    let terms = &state.shapes()[state.pods()[pod].shape].facts.pod_affinity;
    if !terms.is_empty() {
        let keys: BTreeSet<Symbol> = terms.iter().map(|term| term.topology_key).collect();
        let keys_of = &keys;
        let of = |node| keys_of.iter().filter_map(move |key| state.topology_pair(node, *key));
        let pairs: TopologyPairs = tally.near().flat_map(of).collect();
        let first = pairs.is_empty() && is_meant_by_all(state, pod, terms, pod);
        pod_affinity.near_by = (!first).then_some(pairs);
        pod_affinity.near = keys.into_iter().collect();
    }
    let pairs = |leaving| {
        let far = tally.far(leaving);
        far.filter_map(|(node, key)| state.topology_pair(node, key)).collect()
    };
    pod_affinity.far = pairs(false);
    pod_affinity.far_now = pairs(true);
    tally.size()
}

/// Looks for the domains that the anti-affinity of others forbids: a kind of pods is looked at once, however many of its terms
/// and pods there are, and by each label of nodes once.
fn bars(state: &mut State, pod: PodId, pod_affinity: &mut PodAffinity) {
    let facts = &state.pods()[pod];
    // What no node has names no domain, and thousands of pods that may be anywhere may name it.
    let is_there = |key: Symbol| state.shapes().keys.are_on_nodes(key);
    let mut known: BTreeSet<Kind> = BTreeSet::new();
    let mut compared = 0;
    for kind in state.anti_affinity_towards(facts) {
        compared += 1;
        if !known.insert(kind) {
            continue;
        }
        let (shape, own) = kind;
        let terms = &state.shapes()[shape].facts.pod_anti_affinity;
        compared += cost(terms, facts);
        let meant = terms.iter().filter(|term| is_meant(state, facts, term, own));
        let keys = meant.map(|term| term.topology_key);
        let keys: BTreeSet<Symbol> = keys.filter(|key| is_there(*key)).collect();
        if keys.is_empty() {
            continue;
        }
        for (node, leaves) in state.places_of_others(kind, pod) {
            compared += 1 + keys.len();
            let far = if leaves { &mut pod_affinity.far_now } else { &mut pod_affinity.barred };
            far.extend(keys.iter().filter_map(|key| state.topology_pair(node, *key)));
        }
    }
    state.steps.compared += count(compared);
}

/// Comparisons of terms with the labels of a pod.
fn cost(terms: &[PodTerm], pod: &PodFacts) -> usize {
    let requirements = terms.iter().map(|term| term.selector.len().max(1)).sum::<usize>();
    requirements * (1 + pod.labels.len() / LABELS)
}

fn count(compared: usize) -> u64 {
    u64::try_from(compared).unwrap_or(u64::MAX)
}

/// Tells whether a pod of a group that is to be placed is not welcome somewhere for its labels: what holds for it need
/// not hold for groups with others.
///
/// # Cost
/// In the kinds of pods whose anti-affinity means pods of the namespace with a label of theirs, or any; and in the terms of
/// these, times the pods to be placed that are unlike.
pub(crate) fn is_repelled(state: &mut State, group: GroupId) -> bool {
    if state.anti_affinity().is_empty() {
        return false;
    }
    let pods = state.to_place(group);
    // Groups that are particular themselves are no class with others.
    if pods.iter().any(|pod| state.shapes()[state.pods()[*pod].shape].has_pod_affinity()) {
        return false;
    }
    let mut compared = 0;
    // Kinds of pods, for each label that their terms require.
    let mut unlike: BTreeMap<(Symbol, Required), BTreeSet<Kind>> = BTreeMap::new();
    let mut seen: BTreeSet<(Symbol, &[(Symbol, Symbol)])> = BTreeSet::new();
    let is_repelled = pods.iter().any(|pod| {
        let facts = &state.pods()[*pod];
        if !seen.insert((facts.namespace, &facts.labels)) {
            return false;
        }
        let mut known: BTreeSet<Kind> = BTreeSet::new();
        requirements_met(facts).any(|required| {
            let kinds = unlike.entry((facts.namespace, required)).or_insert_with(|| {
                let kinds = state.anti_affinity_on(facts.namespace, required);
                kinds.inspect(|_| compared += 1).collect()
            });
            kinds.iter().filter(|kind| known.insert(**kind)).any(|(shape, own)| {
                let terms = &state.shapes()[*shape].facts.pod_anti_affinity;
                compared += terms.len();
                terms.iter().any(|term| is_meant(state, facts, term, *own))
            })
        })
    });
    state.steps.compared += count(compared);
    is_repelled
}

/// The nodes that are left of `within`, or of all, where anti-affinity or host ports close some for now and later.
///
/// # Cost
/// In the nodes of closed domains.
pub(crate) fn open(
    state: &mut State,
    pod: PodId,
    pod_affinity: &PodAffinity,
    within: Option<&IdSet<Rank>>,
) -> Option<IdSet<Rank>> {
    let PodAffinity { far, barred, ports, .. } = pod_affinity;
    if far.is_empty() && barred.is_empty() && ports.now.is_empty() {
        return None;
    }
    let mut closed: BTreeMap<Symbol, Vec<Symbol>> = BTreeMap::new();
    for (key, value) in far.union(barred) {
        closed.entry(*key).or_default().push(*value);
    }
    for key in closed.keys() {
        state.ensure_labelled(*key);
    }
    let index = &state.nodes().index;
    let feasible = index.feasible(state.pods()[pod].shape);
    let mut open: IdSet<Rank> = feasible.common(within.unwrap_or(feasible)).collect();
    let mut compared = ports.now.len() / CLOSED;
    for (key, values) in closed {
        compared += values.len();
        let by_value = index.labelled.get(&key);
        let nodes = by_value.into_iter().flat_map(|by| values.iter().filter_map(|one| by.get(one)));
        for nodes in nodes {
            compared += nodes.len() / CLOSED;
            for rank in nodes.iter().filter_map(|node| index.rank(*node)) {
                open.remove(rank);
            }
        }
    }
    for rank in ports.now.iter().filter_map(|node| index.rank(node)) {
        open.remove(rank);
    }
    state.steps.compared += count(compared);
    Some(open)
}

/// Tells whether a pod may join the pods of a node: now, later, or why not.
pub(crate) fn joins(
    state: &State,
    pod_affinity: &PodAffinity,
    node: NodeId,
) -> Result<When, Misfit> {
    let near = pod_affinity.near.iter().all(|key| {
        let is_near = |topology_pair| {
            pod_affinity.near_by.as_ref().is_none_or(|pairs| pairs.contains(&topology_pair))
        };
        state.topology_pair(node, *key).is_some_and(is_near)
    });
    if !near {
        return Err(Misfit::Affinity);
    }
    let labels = state.nodes().facts[node].as_ref().map_or(&[][..], |facts| &facts.labels);
    let within = |pairs: &TopologyPairs| {
        !pairs.is_empty() && labels.iter().any(|label| pairs.contains(&(label.key, label.value)))
    };
    if within(&pod_affinity.far) {
        return Err(Misfit::AntiAffinity);
    }
    if within(&pod_affinity.barred) {
        return Err(Misfit::Barred);
    }
    if !spread::spreads(state, &pod_affinity.spread, node) {
        return Err(Misfit::Spread);
    }
    if pod_affinity.ports.now.contains(node) {
        return Err(Misfit::Port);
    }
    let waits = within(&pod_affinity.far_now) || pod_affinity.ports.until_left.contains(node);
    Ok(if waits { When::Later } else { When::Now })
}

/// Tells whether all of some terms of `of` mean `pod`.
fn is_meant_by_all(state: &State, pod: PodId, terms: &[PodTerm], of: PodId) -> bool {
    terms.iter().all(|term| matches(state, pod, term, of))
}

/// Tells whether a term of `of` means `pod`.
pub(crate) fn matches(state: &State, pod: PodId, term: &PodTerm, of: PodId) -> bool {
    is_meant(state, &state.pods()[pod], term, state.pods()[of].namespace)
}

/// Tells whether a term of pods of the namespace `own` means a pod.
fn is_meant(state: &State, pod: &PodFacts, term: &PodTerm, own: Symbol) -> bool {
    state.means(term, own, pod.namespace) && pod.is_selected(&term.selector)
}
