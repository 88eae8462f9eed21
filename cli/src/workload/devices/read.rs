//! Reads what names the shared devices of workloads, with as few requests as that takes.

use std::collections::BTreeMap;

use futures::future::join_all;
use kai_api::names::{label, namespace, value};
use serde_json::Value;

use super::{Seen, config_maps, of_pod, reservations, visible};
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Resource, Select, names};
use crate::workload::Workload;

/// Says how much is read of the pods around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Nothing: the devices' names are enough.
    Named,
    /// All pods of the same nodes, to say who else is on a device.
    Beside,
}

/// More nodes than anybody reads about; a request each.
const NODES_MAX: usize = 16;
/// More config maps than are worth a request each.
const CONFIG_MAPS_MAX: usize = 64;
/// Requests at once.
const AT_ONCE: usize = 16;

/// Finds the shared devices of workloads; says why where a device's name cannot be read. No request where no pod of
/// them is on a shared device.
pub(crate) async fn find(workloads: &mut [Workload], cluster: &Cluster, depth: Depth) {
    let nothing = Seen::default();
    let sharers: Vec<&Value> = workloads
        .iter()
        .flat_map(|workload| &workload.pods)
        .filter(|pod| !of_pod(pod, &nothing).is_empty())
        .collect();
    if sharers.is_empty() {
        return;
    }
    let mut seen = match depth {
        Depth::Named => Seen { reservations: held(cluster).await, ..Seen::default() },
        Depth::Beside => around(&sharers, cluster).await,
    };
    seen.own = own_maps(sharers.into_iter(), &seen, cluster).await;
    for workload in workloads {
        workload.devices = workload.pods.iter().flat_map(|pod| of_pod(pod, &seen)).collect();
    }
}

/// The devices that the config maps of pods name, for those whose devices are not named otherwise.
pub(crate) async fn own_maps(
    pods: impl Iterator<Item = &Value>,
    seen: &Seen,
    cluster: &Cluster,
) -> BTreeMap<(String, String), Vec<String>> {
    let unnamed = pods.filter(|pod| of_pod(pod, seen).iter().any(|on| on.uuid.is_err()));
    let unnamed: Vec<&Value> = unnamed.take(CONFIG_MAPS_MAX).collect();
    let mut named = BTreeMap::new();
    for some in unnamed.chunks(AT_ONCE) {
        let found = join_all(some.iter().map(|pod| own(pod, cluster))).await;
        named.extend(found.into_iter().flatten());
    }
    named
}

/// All reservations; none where they may not be read.
async fn held(cluster: &Cluster) -> Option<super::Reservations> {
    let pods = names::pods();
    let call = Call::new("list", &pods).namespace(Some(namespace::RESERVATION));
    let selector = format!("{}={}", label::APP, value::RESERVATION_APP);
    let found = cluster.list(&call, &Select { labels: &selector, fields: "" }).await;
    Some(reservations(&found.ok()??))
}

/// The pods on the nodes of some pods: all of them, or those of the same namespaces where no more may be read.
async fn around(sharers: &[&Value], cluster: &Cluster) -> Seen {
    let distinct = |field: fn(&Value) -> &str| {
        let mut all: Vec<&str> = sharers.iter().map(|pod| field(pod)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let nodes = distinct(|pod| text(&pod["spec"]["nodeName"]));
    let namespaces = distinct(|pod| text(&pod["metadata"]["namespace"]));
    let is_all = nodes.len() <= NODES_MAX;
    let nodes = &nodes[..nodes.len().min(NODES_MAX)];
    let everywhere = join_all(nodes.iter().map(|node| on_node(node, None, cluster))).await;
    if let Some(pods) = everywhere.into_iter().collect::<Option<Vec<_>>>() {
        let around = pods.concat();
        let reservations = if is_all { Some(reservations(&around)) } else { held(cluster).await };
        return Seen { reservations, around, is_complete: is_all, ..Seen::default() };
    }
    let calls = nodes.iter().flat_map(|node| {
        namespaces.iter().map(|namespace| on_node(node, Some(namespace), cluster))
    });
    let (reservations, own) = futures::join!(held(cluster), join_all(calls));
    let around = own.into_iter().flatten().flatten().collect();
    Seen { reservations, around, ..Seen::default() }
}

async fn on_node(node: &str, namespace: Option<&str>, cluster: &Cluster) -> Option<Vec<Value>> {
    let pods = names::pods();
    let call = Call::new("list", &pods).namespace(namespace);
    let fields = format!("spec.nodeName={node}");
    cluster.list(&call, &Select { labels: "", fields: &fields }).await.ok()?
}

/// The devices that a pod's config maps name.
async fn own(pod: &Value, cluster: &Cluster) -> Option<((String, String), Vec<String>)> {
    let resource = Resource::new("v1", "ConfigMap", "configmaps");
    let namespace = text(&pod["metadata"]["namespace"]);
    for name in config_maps(pod)? {
        let call = Call::new("get", &resource).namespace(Some(namespace)).name(&name);
        let devices = cluster.get(&call).await.ok().flatten().map(|map| visible(&map));
        if let Some(devices) = devices.filter(|devices| !devices.is_empty()) {
            return Some(((namespace.into(), text(&pod["metadata"]["name"]).into()), devices));
        }
    }
    None
}
