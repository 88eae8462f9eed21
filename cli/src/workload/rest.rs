//! Reads what places in queues are worked out from beside the workloads themselves.

use serde_json::Value;

use crate::cluster::{Call, Cluster, Resource, Select, names};

/// Holds what places are worked out from beside the workloads of a namespace, or of all.
#[derive(Debug)]
pub(crate) struct Rest {
    /// The `PodGroups` of all other namespaces; none where the user may not read them.
    pub(super) groups: Option<Vec<Value>>,
    /// The priority classes; none where the user may not read them.
    pub(super) classes: Option<Vec<Value>>,
}

impl Rest {
    /// Reads it, in two requests at once.
    pub(crate) async fn read(cluster: &Cluster, namespace: Option<&str>) -> Self {
        let elsewhere = namespace.map(|namespace| format!("metadata.namespace!={namespace}"));
        let (groups, classes) = all(cluster, elsewhere.as_deref()).await;
        Self { groups, classes }
    }
}

/// The `PodGroups` that a field selector means, no matter whose, and the priority classes; none that the user may not read.
pub(super) async fn all(
    cluster: &Cluster,
    fields: Option<&str>,
) -> (Option<Vec<Value>>, Option<Vec<Value>>) {
    let (groups, classes) = (names::pod_groups(), priority_classes());
    let (group_call, class_call) = (Call::new("list", &groups), Call::new("list", &classes));
    let everything = Select::default();
    let groups = async {
        let Some(fields) = fields else { return Some(Vec::new()) };
        cluster.list(&group_call, &Select { fields, labels: "" }).await.ok()?
    };
    let (groups, classes) = futures::join!(groups, cluster.list(&class_call, &everything));
    (groups, classes.ok().flatten())
}

pub(super) fn priority_classes() -> Resource {
    Resource::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses").cluster_wide()
}
