//! Bounds on what a pod says of where it may go.
//!
//! Each node, and each pod on one, may have to be compared with each of these, so that a pod with ten thousand of them would
//! delay the pods of everybody. No workload needs as many as are allowed.
//!
//! # Source
//! `docs/threats.md`.

use kai_engine::{PodTerm, Shape, Symbol};

use super::shape::{Counts, ELSEWHERE_MAX, LISTED_MAX};
use crate::ingest::{namespace::OF_NAMESPACE_MAX, selector::NAMED_MAX};

/// So many terms about other pods, and preferences, of each kind.
const TERMS_MAX: usize = 64;
/// So many constraints of topology spread.
const SPREAD_MAX: usize = 16;
/// Leaves of what a pod says no more than is compared; says what there was too much of.
///
/// Of a pod that has a node the first of each kind count.
pub(in crate::ingest) fn cut(shape: &mut Shape, own: Symbol, counts: &Counts) -> Option<String> {
    let mut excess = None;
    let mut note = |what: &str, count: usize, most: usize| {
        if count > most && excess.is_none() {
            excess = Some(format!(
                "it has {count} {what}, and no more than {most} are compared: give it fewer"
            ));
        }
    };
    note("terms of pod affinity", counts.near, TERMS_MAX);
    note("terms of pod anti-affinity", counts.apart, TERMS_MAX);
    note("topology spread constraints", counts.spread, SPREAD_MAX);
    note("preferred terms about pods", counts.preferred_pods, TERMS_MAX);
    note("preferred terms about nodes", counts.preferred_nodes, TERMS_MAX);
    note("tolerations", counts.tolerations, LISTED_MAX);
    note("host ports", counts.ports, LISTED_MAX);
    shape.pod_affinity.truncate(TERMS_MAX);
    shape.pod_anti_affinity.truncate(TERMS_MAX);
    shape.spread.truncate(SPREAD_MAX);
    shape.preferred_pods.truncate(TERMS_MAX);
    shape.preferred_nodes.truncate(TERMS_MAX);
    let elsewhere = cut_elsewhere(shape, own);
    note("terms about pods of other namespaces", elsewhere, ELSEWHERE_MAX);
    note("labels, values and namespaces in its selectors", counts.named, NAMED_MAX);
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
