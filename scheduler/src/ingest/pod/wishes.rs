//! Bounds on what a pod says of where it may go.
//!
//! Each node, and each pod on one, may have to be compared with each of these, so that a pod with ten thousand of them would
//! delay the pods of everybody. No workload needs as many as are allowed.
//!
//! # Source
//! `docs/threats.md`.

use kai_engine::{PodTerm, Shape, Symbol};

use super::shape::{Counts, ELSEWHERE_MAX, OF_NODES_MAX, OF_PODS_MAX};
use crate::ingest::{
    namespace::OF_NAMESPACE_MAX,
    selector::{LISTED_MAX, NAMED_MAX},
    storage::needs::Mentioned,
};

/// So many terms about other pods, and preferences, of each kind.
const TERMS_MAX: usize = 64;
/// So many constraints of topology spread.
const SPREAD_MAX: usize = 16;
/// So many containers that ask for what NUMA zones have: each is aligned with the zones of each node that is looked at.
const ALIGNED_MAX: usize = 64;

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
    note("required terms about nodes", counts.required_nodes, TERMS_MAX);
    note("requirements about nodes", counts.of_nodes, OF_NODES_MAX);
    note("tolerations", counts.tolerations, LISTED_MAX);
    note("host ports", counts.ports, LISTED_MAX);
    shape.pod_affinity.truncate(TERMS_MAX);
    shape.pod_anti_affinity.truncate(TERMS_MAX);
    shape.spread.truncate(SPREAD_MAX);
    shape.preferred_pods.truncate(TERMS_MAX);
    shape.preferred_nodes.truncate(TERMS_MAX);
    shape.node_affinity.truncate(TERMS_MAX);
    let elsewhere = cut_elsewhere(shape, own);
    note("terms about pods of other namespaces", elsewhere, ELSEWHERE_MAX);
    note(
        "labels, values and namespaces in its selectors of pods",
        counts.named_of_pods,
        OF_PODS_MAX,
    );
    note("labels, values and namespaces in its selectors", counts.named, NAMED_MAX);
    let aligned = shape.alignment.as_ref().map_or(0, |one| one.concurrent.len() + one.serial.len());
    note("containers that ask for what NUMA zones have", aligned, ALIGNED_MAX);
    if aligned > ALIGNED_MAX {
        shape.alignment = None;
    }
    excess
}

/// Says what a waiting pod has too many of, among what it needs.
pub(in crate::ingest) fn too_many_needs(claims: usize, mentioned: &Mentioned) -> Option<String> {
    let needs = [
        ("volumes of claims", mentioned.mounts),
        ("resource claims", claims),
        ("config maps", mentioned.config_maps),
    ];
    let (what, count) = needs.into_iter().find(|(_, count)| *count > LISTED_MAX)?;
    Some(format!(
        "it has {count} {what}, and no more than {LISTED_MAX} are looked for: give it fewer"
    ))
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

#[cfg(test)]
mod tests {
    use kai_engine::{Delta, Missing};
    use serde_json::{Value, json};

    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
        settings::Aligning,
    };

    /// Gives what a waiting pod is told that has too much of something; nothing where it may have that.
    fn told(spec: &Value) -> String {
        let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
        let mut ingest = Ingest::new(Rules::new(&args));
        ingest.align(Some(Aligning::default()));
        let pod = json!({
            "metadata": { "name": "p", "namespace": "ml", "uid": "p" },
            "spec": spec,
            "status": { "phase": "Pending" },
        });
        ingest.applied(Kind::Pod, pod.to_string().as_bytes()).expect("the pod can be read");
        let told = ingest.context.deltas.iter().find_map(|delta| {
            let Delta::Pod(_, pod) = delta else { return None };
            let requests = pod.shape.missing.iter().filter_map(|missing| {
                if let Missing::Request(what) = missing { Some(*what) } else { None }
            });
            Some(requests.map(|what| ingest.context.names.text(what)).collect())
        });
        told.expect("the pod was told")
    }

    fn many(count: usize, one: impl Fn(usize) -> Value) -> Vec<Value> {
        (0..count).map(one).collect()
    }

    fn node_terms(terms: usize, requirements: usize) -> Value {
        let expression = |at: usize| json!({ "key": format!("k{at}"), "operator": "Exists" });
        let term = json!({ "matchExpressions": many(requirements, expression) });
        let required = json!({ "nodeSelectorTerms": vec![term; terms] });
        let key = "requiredDuringSchedulingIgnoredDuringExecution";
        json!({ "affinity": { "nodeAffinity": { key: required } } })
    }

    fn spread(labels: usize) -> Value {
        let expression = |at: usize| json!({ "key": format!("k{at}"), "operator": "Exists" });
        let selector = json!({ "matchExpressions": many(labels, expression) });
        json!({ "topologySpreadConstraints": [{ "topologyKey": "zone", "maxSkew": 1, "labelSelector": selector }] })
    }

    fn constraints(count: usize) -> Value {
        let constraint = |at: usize| json!({ "topologyKey": format!("k{at}"), "maxSkew": 1, "labelSelector": {} });
        json!({ "topologySpreadConstraints": many(count, constraint) })
    }

    fn tolerations(count: usize) -> Value {
        let toleration = |at: usize| json!({ "key": format!("k{at}"), "operator": "Exists" });
        json!({ "tolerations": many(count, toleration) })
    }

    fn volumes(count: usize) -> Value {
        let volume = |at: usize| json!({ "name": "v", "persistentVolumeClaim": { "claimName": at.to_string() } });
        json!({ "volumes": many(count, volume) })
    }

    /// Two variables of each config map.
    fn config_maps(count: usize) -> Value {
        let variable = |at: usize| json!({ "valueFrom": { "configMapKeyRef": { "name": (at / 2).to_string() } } });
        json!({ "containers": [{ "name": "main", "env": many(2 * count, variable) }] })
    }

    fn claims(count: usize) -> Value {
        let claim =
            |at: usize| json!({ "name": at.to_string(), "resourceClaimName": at.to_string() });
        json!({ "resourceClaims": many(count, claim) })
    }

    /// Init containers with a network device each.
    fn aligned(count: usize) -> Value {
        let container =
            json!({ "name": "c", "resources": { "requests": { "example.com/nic": "1" } } });
        json!({ "initContainers": vec![container; count] })
    }

    #[test]
    fn a_pod_that_needs_or_says_too_much_is_told_of_what() {
        let cases = [
            (aligned(64), ""),
            (
                aligned(65),
                "it has 65 containers that ask for what NUMA zones have, and no more than 64 are compared",
            ),
            (node_terms(64, 4), ""),
            (
                node_terms(65, 1),
                "it has 65 required terms about nodes, and no more than 64 are compared",
            ),
            (
                node_terms(1, 257),
                "it has 257 requirements about nodes, and no more than 256 are compared",
            ),
            (spread(511), ""),
            (
                spread(512),
                "it has 513 labels, values and namespaces in its selectors of pods, and no more than 512",
            ),
            (constraints(16), ""),
            (
                constraints(17),
                "it has 17 topology spread constraints, and no more than 16 are compared",
            ),
            (tolerations(256), ""),
            (tolerations(257), "it has 257 tolerations, and no more than 256 are compared"),
            (volumes(256), ""),
            (volumes(257), "it has 257 volumes of claims, and no more than 256 are looked for"),
            (claims(256), ""),
            (config_maps(256), ""),
            (config_maps(257), "it has 257 config maps, and no more than 256 are looked for"),
            (claims(257), "it has 257 resource claims, and no more than 256 are looked for"),
        ];
        for (spec, expected) in cases {
            let told = told(&spec);
            let is_as_expected =
                if expected.is_empty() { told.is_empty() } else { told.starts_with(expected) };
            assert!(is_as_expected, "{told:?} instead of {expected:?}");
        }
    }
}
