//! Knows what KAI v0.17 installs: names, and the namespaces that its settings and webhooks name.
//!
//! A label alone makes nothing KAI's: any tenant can write one on its own objects. Source: docs/contract.md 7.1.

use kai_api::names::{CONFIG_NAME, KAI_GROUP, SCHEDULER_NAME, namespace};
use serde_json::Value;

use crate::cluster::{Call, Cluster, Resource};
use crate::print::error::Error;

/// Beginnings of the names of KAI's webhook configurations.
pub(super) const WEBHOOKS: [&str; 4] = [
    "mutating-kai-admission",
    "validating-kai-admission",
    "kai-queue-validation-",
    "kai-podgroup-validation-",
];
/// The kinds of webhook configurations with their plurals.
pub(super) const REGISTRATIONS: [(&str, &str); 2] = [
    ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
];
/// Kinds of what KAI's operator makes in its namespace beside Deployments, in the order in which they go.
pub(super) const MADE: [(&str, &str, &str); 6] = [
    ("apps/v1", "DaemonSet", "daemonsets"),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    ("v1", "Service", "services"),
    ("v1", "ConfigMap", "configmaps"),
    ("v1", "ServiceAccount", "serviceaccounts"),
];
/// Names of KAI's Deployments, and of what its operator makes for them; those of schedulers begin with the scheduler's name.
const NAMES: [&str; 14] = [
    "admission",
    "binder",
    "kai-operator",
    "kai-resource-reservation",
    "kai-scale-adjust",
    "kube-state-metrics",
    "node-scale-adjuster",
    "numa-placement-exporter",
    "pod-grouper",
    "podgroup-controller",
    "prometheus",
    "queue-controller",
    "scheduler",
    "usage-prometheus",
];

/// Tells whether a Deployment of KAI may have this name, as long as its schedulers are called as usual.
pub(crate) fn is_name_of_kai(name: &str) -> bool {
    let of_scheduler = name.strip_prefix(SCHEDULER_NAME);
    NAMES.contains(&name) || of_scheduler.is_some_and(|rest| rest.starts_with('-'))
}

/// Holds what of KAI can be where.
#[derive(Debug)]
pub(super) struct Known {
    /// Namespaces that its operator makes objects in.
    homes: Vec<String>,
    /// Begins the names of its schedulers.
    scheduler: String,
}

impl Known {
    /// Reads where KAI's settings put it.
    pub(super) async fn read(cluster: &Cluster, namespace: &str) -> Result<Self, Error> {
        let resource =
            Resource::new(&format!("{KAI_GROUP}/v1"), "Config", "configs").cluster_wide();
        let call = Call::new("get", &resource).name(CONFIG_NAME);
        let config = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        Ok(Self::new(namespace, &config.unwrap_or_default()))
    }

    pub(super) fn new(namespace: &str, config: &Value) -> Self {
        // Where KAI is said to be elsewhere, anybody may have made the namespace of the usual name.
        let home = config["spec"]["namespace"].as_str().filter(|name| !name.is_empty());
        let homes = vec![namespace.to_owned(), home.unwrap_or(namespace::SYSTEM).to_owned()];
        let scheduler = config["spec"]["global"]["schedulerName"].as_str();
        let scheduler = scheduler.filter(|name| !name.is_empty()).unwrap_or(SCHEDULER_NAME);
        Self { homes, scheduler: format!("{scheduler}-") }
    }

    /// Takes in where a webhook configuration has its server: only an administrator can write one.
    pub(super) fn add_server(&mut self, configuration: &Value) {
        let webhooks = configuration["webhooks"].as_array().into_iter().flatten();
        let servers = webhooks.map(|hook| &hook["clientConfig"]["service"]["namespace"]);
        self.homes.extend(servers.filter_map(Value::as_str).map(str::to_owned));
    }

    /// Tells whether KAI makes objects in a namespace.
    pub(super) fn is_home(&self, namespace: Option<&str>) -> bool {
        namespace.is_some_and(|home| self.homes.iter().any(|known| known == home))
    }

    /// Tells whether KAI installs an object of this kind, place and name.
    pub(super) fn is_made_by_kai(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> bool {
        let (kind, version) = (resource.kind.as_str(), resource.api_version());
        if REGISTRATIONS.iter().any(|(known, _)| *known == kind) {
            return resource.group == "admissionregistration.k8s.io"
                && WEBHOOKS.iter().any(|begin| name.starts_with(begin));
        }
        let is_kind = MADE.iter().any(|(known, of, _)| *of == kind && *known == version)
            || (kind == "Deployment" && version == "apps/v1");
        is_kind
            && self.is_home(namespace)
            && (NAMES.contains(&name) || name.starts_with(&self.scheduler))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_usual_namespace_is_a_home_where_none_is_named() {
        for (config, is_home) in [
            (Value::Null, true),
            (json!({"spec": {"namespace": ""}}), true),
            (json!({"spec": {"namespace": "kai-scheduler"}}), true),
            (json!({"spec": {"namespace": "theirs"}}), false),
            (json!({"spec": {"namespace": "gpu"}}), false),
        ] {
            let known = Known::new("gpu", &config);
            assert!(known.is_home(Some("gpu")), "{config}");
            assert_eq!(known.is_home(Some(namespace::SYSTEM)), is_home, "{config}");
        }
    }
}
