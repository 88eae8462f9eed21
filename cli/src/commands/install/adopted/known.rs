//! Tells what KAI v0.17 installs from what somebody wrote into the record of a switch. Source: docs/contract.md 7.1.

use kai_api::names::{CONFIG_NAME, KAI_GROUP, SCHEDULER_NAME, namespace};
use serde_json::Value;

use super::super::kai_v017::{MADE, REGISTRATIONS, WEBHOOKS};
use super::super::manifest::{self, Component, Group, Item, Options};
use super::{Fate, Was};
use crate::cluster::{Call, Cluster, Resource};
use crate::print::error::Error;

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

/// Holds what of KAI can be where.
pub(in super::super) struct Known {
    /// Namespaces that its operator makes objects in.
    homes: Vec<String>,
    /// Begins the names of its schedulers.
    scheduler: String,
    /// Holds what is ours, and so may have been KAI's before.
    ours: Vec<Item>,
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

    fn new(namespace: &str, config: &Value) -> Self {
        let mut homes = vec![namespace.to_owned(), namespace::SYSTEM.to_owned()];
        homes.extend(config["spec"]["namespace"].as_str().map(str::to_owned));
        let scheduler = config["spec"]["global"]["schedulerName"].as_str();
        let mut options = Options { namespace: namespace.to_owned(), ..Options::default() };
        options.components.push(Component::Monitoring);
        let scheduler = scheduler.filter(|name| !name.is_empty()).unwrap_or(SCHEDULER_NAME);
        Self { homes, scheduler: format!("{scheduler}-"), ours: manifest::items(&options) }
    }

    /// Tells whether KAI has such an object, and it can have had this fate.
    pub(super) fn has(&self, was: &Was) -> bool {
        match was.fate {
            Fate::Removed => self.is_made_by_kai(&was.item),
            // The definitions stay as they are.
            Fate::Changed => self.ours.iter().any(|item| item.group != Group::Crds && was.is(item)),
            // Nothing but its owners is ever written, and only where it is.
            Fate::Disowned => self.ours.iter().any(|item| item.resource == was.item.resource),
        }
    }

    fn is_made_by_kai(&self, item: &Item) -> bool {
        let (kind, name) = (item.resource.kind.as_str(), item.name());
        let version = item.resource.api_version();
        if REGISTRATIONS.iter().any(|(known, _)| *known == kind) {
            return item.resource.group == "admissionregistration.k8s.io"
                && WEBHOOKS.iter().any(|begin| name.starts_with(begin));
        }
        let is_kind = MADE.iter().any(|(known, of, _)| *of == kind && *known == version)
            || (kind == "Deployment" && version == "apps/v1");
        is_kind
            && item.namespace().is_some_and(|home| self.homes.iter().any(|known| known == home))
            && (NAMES.contains(&name) || name.starts_with(&self.scheduler))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Reads `REMOVED apps/v1 Deployment NAMESPACE/NAME`.
    fn was(line: &str) -> Was {
        let words: Vec<&str> = line.split(' ').collect();
        let [fate, version, kind, place] = words.as_slice() else { panic!("{line}") };
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = json!(namespace);
        }
        let fate = Fate::ALL.iter().find(|(_, word)| word == fate).expect("a fate").0;
        Was::new(&object, fate).expect("a kind in the table")
    }

    #[test]
    fn only_what_kai_installs_is_known() {
        let config = json!({"spec": {"namespace": "theirs", "global": {"schedulerName": "mine"}}});
        let known = Known::new("here", &config);
        for (line, is_known) in [
            ("removed apps/v1 Deployment theirs/kai-operator", true),
            ("removed apps/v1 Deployment here/mine-pool-a", true),
            ("removed apps/v1 Deployment here/kai-scheduler-default", false),
            ("removed apps/v1 Deployment kube-system/binder", false),
            ("removed apps/v1 Deployment here/miner", false),
            ("changed apps/v1 Deployment here/binder", false),
            ("removed apps/v2 Deployment here/binder", false),
            ("removed discovery.k8s.io/v1 EndpointSlice here/mine-a-leader", true),
            ("removed v1 Secret here/binder", false),
            (
                "removed admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutating-kai-admission",
                true,
            ),
            ("removed admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mine", false),
            ("changed rbac.authorization.k8s.io/v1 ClusterRole kai-scheduler", true),
            ("removed rbac.authorization.k8s.io/v1 ClusterRole kai-scheduler", false),
            ("changed rbac.authorization.k8s.io/v1 ClusterRole admin", false),
            ("changed rbac.authorization.k8s.io/v1 ClusterRoleBinding evil", false),
            ("removed rbac.authorization.k8s.io/v1 ClusterRoleBinding evil", false),
            ("disowned rbac.authorization.k8s.io/v1 ClusterRole admin", true),
            ("disowned v1 ServiceAccount kube-system/any", true),
            ("changed v1 ServiceAccount kube-system/kai-scheduler", false),
        ] {
            assert_eq!(known.has(&was(line)), is_known, "{line}");
        }
    }
}
