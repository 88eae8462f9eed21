//! Describes what the checks look at: read once, with the user's own rights.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _};
use jiff::Timestamp;
use serde_json::Value;

use super::finding::Unread;
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::commands::install::namespace_flag;

/// Sets how many lists are read at once.
const CONCURRENCY: usize = 8;

/// A list that checks look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Definitions,
    Deployments,
    DaemonPods,
    Services,
    EndpointSlices,
    Leases,
    NodeLeases,
    Nodes,
    Pods,
    Queues,
    PodGroups,
    BindRequests,
    Shards,
    Topologies,
    Mutating,
    Validating,
    Policies,
    PolicyBindings,
    FlowSchemas,
    PriorityClasses,
    ServiceMonitors,
    PodMonitors,
}

/// Says where the objects of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Cluster,
    Everywhere,
    /// In the namespace of the daemons.
    System,
    Namespace(&'static str),
}

impl Source {
    pub(super) const ALL: [Self; 22] = [
        Self::Definitions,
        Self::Deployments,
        Self::DaemonPods,
        Self::Services,
        Self::EndpointSlices,
        Self::Leases,
        Self::NodeLeases,
        Self::Nodes,
        Self::Pods,
        Self::Queues,
        Self::PodGroups,
        Self::BindRequests,
        Self::Shards,
        Self::Topologies,
        Self::Mutating,
        Self::Validating,
        Self::Policies,
        Self::PolicyBindings,
        Self::FlowSchemas,
        Self::PriorityClasses,
        Self::ServiceMonitors,
        Self::PodMonitors,
    ];

    /// Its API version, kind, plural and place.
    fn wire(self) -> (&'static str, &'static str, &'static str, Reach) {
        let admission = "admissionregistration.k8s.io/v1";
        let flows = "flowcontrol.apiserver.k8s.io/v1";
        match self {
            Self::Definitions => (
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "customresourcedefinitions",
                Reach::Cluster,
            ),
            Self::Deployments => ("apps/v1", "Deployment", "deployments", Reach::System),
            Self::DaemonPods => ("v1", "Pod", "pods", Reach::System),
            Self::Services => ("v1", "Service", "services", Reach::System),
            Self::EndpointSlices => {
                ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", Reach::System)
            }
            Self::Leases => ("coordination.k8s.io/v1", "Lease", "leases", Reach::System),
            Self::NodeLeases => {
                ("coordination.k8s.io/v1", "Lease", "leases", Reach::Namespace("kube-node-lease"))
            }
            Self::Nodes => ("v1", "Node", "nodes", Reach::Cluster),
            Self::Pods => ("v1", "Pod", "pods", Reach::Everywhere),
            Self::Queues => ("scheduling.run.ai/v2", "Queue", "queues", Reach::Cluster),
            Self::PodGroups => {
                ("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups", Reach::Everywhere)
            }
            Self::BindRequests => {
                ("scheduling.run.ai/v1alpha2", "BindRequest", "bindrequests", Reach::Everywhere)
            }
            Self::Shards => {
                ("kai.scheduler/v1", "SchedulingShard", "schedulingshards", Reach::Cluster)
            }
            Self::Topologies => {
                ("kai.scheduler/v1alpha1", "Topology", "topologies", Reach::Cluster)
            }
            Self::Mutating => (
                admission,
                "MutatingWebhookConfiguration",
                "mutatingwebhookconfigurations",
                Reach::Cluster,
            ),
            Self::Validating => (
                admission,
                "ValidatingWebhookConfiguration",
                "validatingwebhookconfigurations",
                Reach::Cluster,
            ),
            Self::Policies => (
                admission,
                "ValidatingAdmissionPolicy",
                "validatingadmissionpolicies",
                Reach::Cluster,
            ),
            Self::PolicyBindings => (
                admission,
                "ValidatingAdmissionPolicyBinding",
                "validatingadmissionpolicybindings",
                Reach::Cluster,
            ),
            Self::FlowSchemas => (flows, "FlowSchema", "flowschemas", Reach::Cluster),
            Self::PriorityClasses => {
                ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", Reach::Cluster)
            }
            Self::ServiceMonitors => {
                ("monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors", Reach::Everywhere)
            }
            Self::PodMonitors => {
                ("monitoring.coreos.com/v1", "PodMonitor", "podmonitors", Reach::Everywhere)
            }
        }
    }

    /// Its name in a bundle, and in the sentence that says that it was not read.
    pub(super) fn title(self) -> String {
        let (_, _, plural, reach) = self.wire();
        match (self, reach) {
            (Self::DaemonPods, _) => "daemon-pods".to_owned(),
            (_, Reach::Namespace(_)) => "node-leases".to_owned(),
            _ => plural.to_owned(),
        }
    }
}

/// A list, or why it was not read.
type List = Result<Option<Vec<Value>>, Unread>;

/// All that was read.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) now: Timestamp,
    /// The namespace of the daemons.
    pub(super) system: String,
    /// Holds what the API server says of itself.
    pub(super) version: Result<Value, Unread>,
    lists: BTreeMap<Source, List>,
}

impl Facts {
    /// Reads everything; what can't be read is remembered with its reason.
    pub(super) async fn read(cluster: &Cluster, system: &str) -> Self {
        let version = cluster.read("/version").await.map_err(|e| Unread::failed(e.to_string()));
        let read = |source: Source| async move { (source, list(cluster, source, system).await) };
        let lists = stream::iter(Source::ALL).map(read).buffer_unordered(CONCURRENCY);
        let lists = lists.collect().await;
        Self { now: Timestamp::now(), system: system.to_owned(), version, lists }
    }

    /// Gives the command line of `install`, for where the daemons are.
    pub(super) fn install(&self, command: &str) -> String {
        format!("kubectl kai install{command}{}", namespace_flag(&self.system))
    }

    /// Returns what was read, for tests and for what is given.
    #[cfg(test)]
    pub(super) fn given(now: Timestamp, lists: BTreeMap<Source, List>) -> Self {
        Self { now, system: "kai-scheduler".to_owned(), version: Ok(Value::Null), lists }
    }

    /// The objects of a list; none where the API server has no such kind.
    ///
    /// # Errors
    /// The list could not be read.
    pub(super) fn list(&self, source: Source) -> Result<&[Value], Unread> {
        Ok(self.kind(source)?.unwrap_or_default())
    }

    /// The objects of a list; `None` where the API server has no such kind.
    ///
    /// # Errors
    /// The list could not be read.
    pub(super) fn kind(&self, source: Source) -> Result<Option<&[Value]>, Unread> {
        match self.lists.get(&source) {
            Some(Ok(list)) => Ok(list.as_deref()),
            Some(Err(unread)) => Err(unread.clone()),
            None => Err(Unread::failed(format!("{} were not read", source.title()))),
        }
    }

    /// Seconds since a time of an object; negative for the future.
    pub(super) fn seconds_since(&self, time: &Value) -> Option<i64> {
        let time: Timestamp = text(time).parse().ok()?;
        Some(self.now.duration_since(time).as_secs())
    }

    /// Seconds since an object was created.
    pub(super) fn age(&self, object: &Value) -> i64 {
        self.seconds_since(&object["metadata"]["creationTimestamp"]).unwrap_or(0)
    }
}

async fn list(cluster: &Cluster, source: Source, system: &str) -> List {
    let (api_version, kind, plural, reach) = source.wire();
    let mut resource = Resource::new(api_version, kind, plural);
    if reach == Reach::Cluster {
        resource = resource.cluster_wide();
    }
    let namespace = match reach {
        Reach::Cluster | Reach::Everywhere => None,
        Reach::System => Some(system),
        Reach::Namespace(name) => Some(name),
    };
    let call = Call::new("list", &resource).namespace(namespace);
    cluster.list(&call, &Select::default()).await.map_err(|failure| {
        let place = match (namespace, reach) {
            (Some(name), _) => format!(" in namespace {name}"),
            (None, Reach::Everywhere) => " in all namespaces".to_owned(),
            (None, _) => String::new(),
        };
        match failure.grant(&call) {
            Some(grant) => Unread {
                sentence: format!("this user may not list {}{place}", resource.in_rbac()),
                grant: Some(grant),
            },
            None => {
                Unread::failed(format!("failed to list {}{place}: {failure}", resource.in_rbac()))
            }
        }
    })
}

/// Name of an object, with its namespace where it has one.
pub(super) fn place(object: &Value) -> String {
    let meta = &object["metadata"];
    let (namespace, name) = (text(&meta["namespace"]), text(&meta["name"]));
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// A label of an object; empty where it has none.
pub(super) fn label<'o>(object: &'o Value, key: &str) -> &'o str {
    text(&object["metadata"]["labels"][key])
}

/// An annotation of an object; empty where it has none.
pub(super) fn annotation<'o>(object: &'o Value, key: &str) -> &'o str {
    text(&object["metadata"]["annotations"][key])
}

/// The elements of a list in an object.
pub(super) fn each<'o>(object: &'o Value, pointer: &str) -> impl Iterator<Item = &'o Value> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Whole devices of a node under `status.<field>`.
pub(super) fn devices(node: &Value, field: &str, resource: &str) -> u64 {
    let amount = &node["status"][field][resource];
    amount.as_u64().or_else(|| text(amount).parse().ok()).unwrap_or(0)
}

/// The status of a condition; empty where the object has none.
pub(super) fn condition<'o>(object: &'o Value, kind: &str) -> &'o str {
    let found = each(object, "/status/conditions").find(|condition| condition["type"] == kind);
    found.map_or("", |condition| text(&condition["status"]))
}
