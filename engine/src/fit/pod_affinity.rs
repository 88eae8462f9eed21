//! Constraints on a pod by the pods that are there: affinity, anti-affinity, host ports.
//!
//! # Source
//! docs/behaviour.md 10.2, check 6, and the Kubernetes filters `InterPodAffinity` and `NodePorts`. Pods that are
//! leaving count now and not later (14.3, Q38).

use std::collections::BTreeSet;

use crate::{
    base::ids::{GroupId, NodeId, PodId, Symbol},
    decided::{plan::Misfit, when::When},
    fit::spread::{self, SpreadState},
    state::{State, shape::ShapeRow},
    told::pod::PodTerm,
};

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
    /// States of the constraints of topology spread.
    pub(crate) spread: Vec<SpreadState>,
}

/// Looks round for a pod, where it or others have terms about the pods beside them.
///
/// # Cost
/// In the number of pods on nodes, for pods with terms; in the number of pods whose anti-affinity means pods of this one's
/// namespace, for all others.
#[inline]
pub(crate) fn pod_affinity(state: &mut State, pod: PodId) -> Option<PodAffinity> {
    let facts = &state.pods()[pod];
    let has_terms = state.shapes()[facts.shape].has_pod_affinity();
    let is_meant = !state.anti_affinity().is_empty()
        && state.anti_affinity_on(facts.namespace).next().is_some();
    (has_terms || is_meant).then(|| pre_filter(state, pod))
}

#[inline(never)]
fn pre_filter(state: &mut State, pod: PodId) -> PodAffinity {
    let id = state.pods()[pod].shape;
    spread::ensure_spread_domains(state, id);
    let shape = &state.shapes()[id];
    let mut pod_affinity = PodAffinity::default();
    let terms = &shape.facts.pod_affinity;
    if !terms.is_empty() {
        let pairs = pairs_of_matching(state, pod, terms);
        let first = pairs.is_empty() && is_meant_by_all(state, pod, terms, pod);
        pod_affinity.near = terms.iter().map(|term| term.topology_key).collect();
        pod_affinity.near_by = (!first).then_some(pairs);
    }
    for term in &shape.facts.pod_anti_affinity {
        let mut leaving = TopologyPairs::new();
        let mut staying = TopologyPairs::new();
        each_match(state, pod, term, &mut |other, topology_pair| {
            let pairs = if leaves(state, other) { &mut leaving } else { &mut staying };
            pairs.insert(topology_pair);
        });
        pod_affinity.far.extend(staying);
        pod_affinity.far_now.extend(leaving);
    }
    let namespace = state.pods()[pod].namespace;
    let others = state.anti_affinity_on(namespace).filter(|other| *other != pod);
    for other in others.filter(|other| nodes_of(state, *other).next().is_some()) {
        for term in &state.shapes()[state.pods()[other].shape].facts.pod_anti_affinity {
            if matches(state, pod, term, other) {
                let pairs = nodes_of(state, other)
                    .filter_map(|node| state.topology_pair(node, term.topology_key));
                let far = if leaves(state, other) {
                    &mut pod_affinity.far_now
                } else {
                    &mut pod_affinity.barred
                };
                far.extend(pairs);
            }
        }
    }
    pod_affinity.spread = spread::spread_states(state, pod);
    pod_affinity
}

/// Tells whether a pod of a group that is to be placed is not welcome somewhere for its labels: what holds for it need
/// not hold for groups with others.
///
/// # Cost
/// In the number of pods whose anti-affinity means these, times that of the pods to be placed.
pub(crate) fn is_repelled(state: &State, group: GroupId) -> bool {
    if state.anti_affinity().is_empty() {
        return false;
    }
    let pods = state.to_place(group);
    // Groups that are particular themselves are no class with others.
    let has_terms =
        pods.iter().any(|pod| state.shapes()[state.pods()[*pod].shape].has_pod_affinity());
    let minds = |other: PodId, pod: PodId| {
        let terms = &state.shapes()[state.pods()[other].shape].facts.pod_anti_affinity;
        terms.iter().any(|term| matches(state, pod, term, other))
    };
    let is_minded = |pod: PodId| {
        let mut others = state.anti_affinity_on(state.pods()[pod].namespace);
        others.any(|other| nodes_of(state, other).next().is_some() && minds(other, pod))
    };
    !has_terms && pods.into_iter().any(is_minded)
}

/// Tells whether a pod may join the pods of a node: now, later, or why not.
pub(crate) fn joins(
    state: &State,
    shape: &ShapeRow,
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
    let mut room = if within(&pod_affinity.far_now) { When::Later } else { When::Now };
    if !shape.facts.ports.is_empty() {
        for other in &state.nodes().pods[node] {
            if clash(state, shape, *other) {
                if !leaves(state, *other) {
                    return Err(Misfit::Port);
                }
                room = When::Later;
            }
        }
    }
    Ok(room)
}

/// Tells whether two pods want a port of a node that only one can have. Both lists are in order.
///
/// # Cost
/// In the ports of both.
fn clash(state: &State, shape: &ShapeRow, other: PodId) -> bool {
    let mut theirs = &*state.shapes()[state.pods()[other].shape].facts.ports;
    shape.facts.ports.iter().any(|ours| {
        while theirs.first().is_some_and(|first| first.port < ours.port) {
            theirs = &theirs[1..];
        }
        theirs.iter().take_while(|theirs| theirs.port == ours.port).any(|theirs| {
            let address = ours.address == theirs.address
                || ours.address == Symbol::EMPTY
                || theirs.address == Symbol::EMPTY;
            ours.protocol == theirs.protocol && address
        })
    })
}

/// The domains, by the labels that affinity terms name, of pods that stay and that all of the terms mean.
///
/// # Source
/// The Kubernetes filter `InterPodAffinity`: a pod that only some of the terms mean counts for none of them.
fn pairs_of_matching(state: &State, pod: PodId, terms: &[PodTerm]) -> TopologyPairs {
    let mut pairs = TopologyPairs::new();
    for (node, pods) in state.nodes().pods.iter() {
        let mut others = pods.iter().filter(|other| **other != pod);
        // A pod that leaves is none to seek.
        if others.any(|other| !leaves(state, *other) && is_meant_by_all(state, *other, terms, pod))
        {
            pairs.extend(
                terms.iter().filter_map(|term| state.topology_pair(node, term.topology_key)),
            );
        }
    }
    pairs
}

/// Tells whether all of some terms of `of` mean `pod`.
fn is_meant_by_all(state: &State, pod: PodId, terms: &[PodTerm], of: PodId) -> bool {
    terms.iter().all(|term| matches(state, pod, term, of))
}

/// The domains of pods that a term means, of those that stay.
pub(crate) fn each_stayer(
    state: &State,
    pod: PodId,
    term: &PodTerm,
    found: &mut dyn FnMut((Symbol, Symbol)),
) {
    each_match(state, pod, term, &mut |other, topology_pair| {
        if !leaves(state, other) {
            found(topology_pair);
        }
    });
}

fn each_match(
    state: &State,
    pod: PodId,
    term: &PodTerm,
    found: &mut dyn FnMut(PodId, (Symbol, Symbol)),
) {
    for (node, pods) in state.nodes().pods.iter() {
        if pods.is_empty() {
            continue;
        }
        let Some(topology_pair) = state.topology_pair(node, term.topology_key) else { continue };
        for other in pods.iter().filter(|other| **other != pod) {
            if matches(state, *other, term, pod) {
                found(*other, topology_pair);
            }
        }
    }
}

/// Tells whether a term of `of` means `pod`.
pub(crate) fn matches(state: &State, pod: PodId, term: &PodTerm, of: PodId) -> bool {
    let facts = &state.pods()[pod];
    state.means_namespace(term, state.pods()[of].namespace, facts.namespace)
        && facts.is_selected(&term.selector)
}

/// Tells whether a pod is about to leave its node and was not nominated for it again.
fn leaves(state: &State, pod: PodId) -> bool {
    let status = &state.pods().status[pod];
    status.phase.leaves() && status.nominee.is_none()
}

fn nodes_of(state: &State, pod: PodId) -> impl Iterator<Item = NodeId> + use<> {
    let status = &state.pods().status[pod];
    let node = |place: &Option<crate::Place>| place.as_ref().map(|place| place.node);
    [node(&status.nominee), node(&status.place)].into_iter().flatten()
}
