//! Bounds on what a pod says of where it may go.
//!
//! Each node, and each pod on one, may have to be compared with each of these, so that a pod with ten thousand of them would
//! delay the pods of everybody. No workload needs as many as are allowed.
//!
//! # Source
//! `docs/threats.md`.

use kai_engine::{Holds, PodTerm, Requirement, Shape, Symbol};

use crate::ingest::namespace::OF_NAMESPACE_MAX;

/// So many terms about other pods, and preferences, of each kind.
const TERMS_MAX: usize = 64;
/// So many terms about pods of other namespaces, of all kinds: every pod of those has to be compared with them.
pub(super) const ELSEWHERE_MAX: usize = 8;
/// So many constraints of topology spread.
const SPREAD_MAX: usize = 16;
/// So many tolerations, and host ports.
const LISTED_MAX: usize = 256;
/// So many labels, values and namespaces in all that selectors name.
const NAMED_MAX: usize = 4096;

/// Leaves of what a pod says no more than is compared; says what there was too much of.
///
/// Of a pod that has a node the first of each kind count.
pub(in crate::ingest) fn cut(shape: &mut Shape, own: Symbol) -> Option<String> {
    let mut excess = None;
    let mut note = |what: &str, count: usize, most: usize| {
        if count > most && excess.is_none() {
            excess = Some(format!(
                "it has {count} {what}, and no more than {most} are compared: give it fewer"
            ));
        }
    };
    note("terms of pod affinity", shape.pod_affinity.len(), TERMS_MAX);
    note("terms of pod anti-affinity", shape.pod_anti_affinity.len(), TERMS_MAX);
    note("topology spread constraints", shape.spread.len(), SPREAD_MAX);
    note("preferred terms about pods", shape.preferred_pods.len(), TERMS_MAX);
    note("preferred terms about nodes", shape.preferred_nodes.len(), TERMS_MAX);
    note("tolerations", shape.tolerations.len(), LISTED_MAX);
    note("host ports", shape.ports.len(), LISTED_MAX);
    shape.pod_affinity.truncate(TERMS_MAX);
    shape.pod_anti_affinity.truncate(TERMS_MAX);
    shape.spread.truncate(SPREAD_MAX);
    shape.preferred_pods.truncate(TERMS_MAX);
    shape.preferred_nodes.truncate(TERMS_MAX);
    shape.tolerations.truncate(LISTED_MAX);
    shape.ports.truncate(LISTED_MAX);
    let elsewhere = cut_elsewhere(shape, own);
    note("terms about pods of other namespaces", elsewhere, ELSEWHERE_MAX);
    let named = named(shape);
    note("labels, values and namespaces in its selectors", named, NAMED_MAX);
    if named > NAMED_MAX {
        shape.node_selector.truncate(NAMED_MAX);
        shape.node_affinity.clear();
        shape.pod_affinity.clear();
        shape.pod_anti_affinity.clear();
        shape.spread.clear();
        shape.preferred_pods.clear();
        shape.preferred_nodes.clear();
    }
    excess
}

/// Says that the pods of a namespace have more selectors of namespaces than are compared.
pub(in crate::ingest) fn too_many_ways() -> String {
    format!(
        "pods of its namespace select namespaces in more than {OF_NAMESPACE_MAX} ways, and no more are compared: have them \
         select alike, or create it anew when others are gone"
    )
}

/// Leaves no more terms about pods of other namespaces than are compared; says how many there were.
fn cut_elsewhere(shape: &mut Shape, own: Symbol) -> usize {
    let mut count = 0;
    let mut is_kept = |term: &PodTerm| {
        let is_elsewhere = term.namespace_selector.is_some() || *term.namespaces != [own];
        count += usize::from(is_elsewhere);
        !is_elsewhere || count <= ELSEWHERE_MAX
    };
    shape.pod_anti_affinity.retain(&mut is_kept);
    shape.pod_affinity.retain(&mut is_kept);
    shape.preferred_pods.retain(|(_, term)| is_kept(term));
    count
}

/// Counts what all selectors name.
fn named(shape: &Shape) -> usize {
    let terms = shape.pod_affinity.iter().chain(&shape.pod_anti_affinity);
    let terms = terms.chain(shape.preferred_pods.iter().map(|(_, term)| term));
    let of_term = |term: &PodTerm| term.namespaces.len() + of_all(&term.selector);
    let nodes =
        shape.node_affinity.iter().chain(shape.preferred_nodes.iter().map(|(_, term)| term));
    shape.node_selector.len()
        + terms.map(of_term).sum::<usize>()
        + nodes.map(|term| 1 + of_all(term)).sum::<usize>()
        + shape.spread.iter().map(|spread| of_all(&spread.selector)).sum::<usize>()
}

fn of_all(requirements: &[Requirement]) -> usize {
    let values = |requirement: &Requirement| match &requirement.holds {
        Holds::In(values) | Holds::NotIn(values) => 1 + values.len(),
        Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => 1,
    };
    requirements.iter().map(values).sum()
}
