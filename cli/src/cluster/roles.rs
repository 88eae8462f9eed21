//! The roles for people that `install` ships, and which of them has a right.

use kai_api::names::namespace;
use serde_json::Value;

use super::Call;

/// The roles as they are applied.
const ROLES: &str = include_str!("../../../deploy/rbac/users.yaml");
/// Namespaces in which nobody submits: who looks at what is there, looks at the cluster.
const OF_NOBODY: &[&str] = &[namespace::SYSTEM, "kube-node-lease"];
/// The roles that an administrator may be asked to bind in a namespace.
const OF_NAMESPACE: &[&str] = &["kai-submitter"];
/// The roles that an administrator may be asked to bind for the cluster, those with the fewest rights first.
const OF_CLUSTER: &[&str] = &["kai-viewer", "kai-queue-admin", "kai-admin"];

/// Finds the role with the fewest rights that lets a call through.
pub(super) fn with(call: &Call<'_>) -> Option<&'static str> {
    let candidates = if is_bound_in_namespace(call) { OF_NAMESPACE } else { OF_CLUSTER };
    let roles: Vec<Value> = serde_saphyr::from_multiple(ROLES).unwrap_or_default();
    candidates.iter().copied().find(|name| {
        let role = roles.iter().find(|role| role["metadata"]["name"] == *name);
        let rules = role.and_then(|role| role["rules"].as_array());
        let has = |verb| rules.into_iter().flatten().any(|rule| allows(rule, call, verb));
        has(call.verb) && call.then.is_none_or(has)
    })
}

/// Tells whether a right is given where it is missed.
pub(super) fn is_bound_in_namespace(call: &Call<'_>) -> bool {
    call.resource.namespaced && call.namespace.is_some_and(|name| !OF_NOBODY.contains(&name))
}

fn allows(rule: &Value, call: &Call<'_>, verb: &str) -> bool {
    let has = |field: &str, wanted: &str| {
        rule[field].as_array().is_some_and(|all| all.iter().any(|one| one == wanted))
    };
    has("apiGroups", &call.resource.group)
        && has("resources", &call.resource.plural)
        && has("verbs", verb)
}

#[cfg(test)]
mod tests {
    use super::super::{Resource, kinds};
    use super::*;

    #[test]
    fn a_role_is_named_that_ends_the_matter() {
        let queues = Resource::new("scheduling.run.ai/v2", "Queue", "queues").cluster_wide();
        let lists = Call::new("list", &queues);
        assert_eq!(with(&lists), Some("kai-viewer"));
        assert_eq!(with(&lists.then("patch")), Some("kai-queue-admin"));
        let deployments = Resource::new("apps/v1", "Deployment", "deployments");
        let daemons = Call::new("list", &deployments).namespace(Some("kai-scheduler"));
        assert_eq!(with(&daemons), Some("kai-viewer"), "nobody submits to the daemons' namespace");
        let leases = Resource::new("coordination.k8s.io/v1", "Lease", "leases");
        let leaders = Call::new("list", &leases).namespace(Some("kai-scheduler"));
        assert_eq!(with(&leaders), Some("kai-admin"));
        let kubelets = Call::new("list", &leases).namespace(Some("kube-node-lease"));
        assert_eq!(with(&kubelets), Some("kai-admin"));
    }

    #[test]
    fn every_kind_of_workload_is_a_submitters() {
        for kind in kinds::KINDS {
            let resource = kind.best();
            for verb in ["get", "list", "watch", "create", "update", "patch", "delete"] {
                let call = Call::new(verb, &resource).namespace(Some("ml"));
                assert_eq!(with(&call), Some("kai-submitter"), "{verb} {}", resource.in_rbac());
            }
            let seen = Call::new("list", &resource);
            assert_eq!(with(&seen), Some("kai-viewer"), "{}", resource.in_rbac());
        }
    }
}
