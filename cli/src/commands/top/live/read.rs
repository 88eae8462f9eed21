//! Reads what the view shows, from lists that watches keep up to date.

use kai_api::names::namespace;
use serde_json::Value;

use crate::cluster::{Call, Cluster, Resource, Select};
use crate::commands::queues::{self, share};
use crate::commands::top::live::picture::{Parts, Picture};
use crate::commands::top::nodes::{self, Scene};
use crate::commands::top::seen;
use crate::print::error::{Error, Exit};
use crate::workload::evicted::find_evictions;
use crate::workload::{Loaded, Unread, is_bound, is_over, load_readable};

/// Says of what a picture is made.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) cluster: Cluster,
    /// Only workloads of this namespace are listed.
    pub(super) namespace: Option<String>,
}

impl Wanted {
    /// Reads a picture.
    ///
    /// # Errors
    /// The server cannot be asked, KAI is not installed, or not even the pods of the own namespace may be read.
    pub(super) async fn read(self) -> Result<Picture, Error> {
        let Self { cluster, namespace: only } = self;
        let mut notes = Vec::new();
        let (mut loaded, is_complete) = workloads(&cluster, &mut notes).await?;
        let scope = (!is_complete).then_some(cluster.namespace.as_str());
        find_evictions(&mut loaded.workloads, &cluster, scope).await;
        loaded.find_positions_of_all(&cluster, scope, None).await;
        let (found, queues, others, reserved) = futures::join!(
            nodes(&cluster),
            async {
                if is_complete {
                    queues::read_told_of(&loaded.workloads, &cluster).await
                } else {
                    queues::read_told(&cluster).await
                }
            },
            share::foreign(&cluster, scope),
            async {
                match scope {
                    // Where all pods are read, those that hold devices for others are among them.
                    None => None,
                    Some(_) => share::foreign(&cluster, Some(namespace::RESERVATION)).await,
                }
            }
        );
        let found = found?;
        let (queues, told) = match queues {
            Ok((queues, told, hidden)) => {
                notes.extend(hidden);
                (queues, told)
            }
            Err(error) if error.exit() == Exit::Forbidden => {
                notes.push("you may not list queues".to_owned());
                Default::default()
            }
            Err(error) => return Err(error),
        };
        if found.is_none() {
            notes.push("you may not list nodes: only GPUs that pods hold are shown".to_owned());
        }
        let own = loaded.workloads.iter().flat_map(|workload| &workload.pods);
        let pods: Vec<&Value> = own
            .chain(others.iter().chain(&reserved).flatten())
            .filter(|pod| is_bound(pod) && !is_over(pod))
            .collect();
        let is_complete = is_complete && others.is_some();
        let seen = seen(&pods, is_complete, &cluster).await;
        let scene = Scene { nodes: found.as_deref(), pods, seen: &seen };
        let place = cluster.place.context.as_deref().unwrap_or(&cluster.place.server);
        Ok(Picture::of(Parts {
            place,
            namespace: only.as_deref().or(scope),
            nodes: &nodes::nodes(&scene),
            queues: &queues,
            told: &told,
            works: &loaded.workloads,
            notes,
        }))
    }
}

/// The workloads of all namespaces, or of the own one where no more may be read; tells which.
async fn workloads(cluster: &Cluster, notes: &mut Vec<String>) -> Result<(Loaded, bool), Error> {
    let (loaded, is_all) = match load_readable(cluster, None).await {
        Ok(loaded) => (loaded, true),
        Err(error) if error.exit() == Exit::Forbidden => {
            let own = &cluster.namespace;
            let loaded = load_readable(cluster, Some(own)).await?;
            notes.push(format!("you may not list pods in all namespaces: only {own} is known"));
            (loaded, false)
        }
        Err(error) => return Err(error),
    };
    let failed = Unread { failed: loaded.unread.failed.clone(), ..Unread::default() };
    notes.extend(failed.sentences("shown"));
    Ok((loaded, is_all))
}

/// The nodes; none where they may not be read.
async fn nodes(cluster: &Cluster) -> Result<Option<Vec<Value>>, Error> {
    let resource = Resource::new("v1", "Node", "nodes").cluster_wide();
    let call = Call::new("list", &resource);
    match cluster.list(&call, &Select::default()).await {
        Ok(nodes) => Ok(Some(nodes.unwrap_or_default())),
        Err(failure) if failure.is_forbidden() => Ok(None),
        Err(failure) => Err(cluster.explain(&call, &failure)),
    }
}

/// Drops what the view never shows of an object, before it is kept: of a pod, of the templates of pods, of a node.
pub(super) fn slim(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata") {
        slim_metadata(metadata);
    }
    let is_pod = object.pointer("/spec/containers").is_some();
    if let Some(status) = object.get_mut("status") {
        slim_status(status);
        if is_pod {
            slim_pod_status(status);
        }
    }
    let Some(spec) = object.get_mut("spec") else { return };
    slim_templates(spec);
    if let Some(spec) = spec.as_object_mut().filter(|spec| spec.contains_key("containers")) {
        spec.retain(|key, _| is_of_pods(key));
    }
}

/// Keeps of the metadata who and whose it is, and since when.
fn slim_metadata(metadata: &mut Value) {
    let Some(fields) = metadata.as_object_mut() else { return };
    fields.retain(|key, _| {
        matches!(
            key.as_str(),
            "name"
                | "namespace"
                | "uid"
                | "creationTimestamp"
                | "deletionTimestamp"
                | "labels"
                | "annotations"
                | "ownerReferences"
        )
    });
    if let Some(annotations) = fields.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Drops the images of a node, and of the containers of a pod all but their state.
fn slim_status(status: &mut Value) {
    let Some(fields) = status.as_object_mut() else { return };
    fields.retain(|key, _| {
        !matches!(
            key.as_str(),
            "images" | "nodeInfo" | "hostIP" | "hostIPs" | "podIP" | "podIPs" | "qosClass"
        )
    });
    for list in ["containerStatuses", "initContainerStatuses"] {
        let containers = fields.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            container.retain(|key, _| {
                matches!(key.as_str(), "name" | "ready" | "restartCount" | "state" | "lastState")
            });
        }
    }
}

/// Drops what says of a pod that all is well: conditions that hold, and containers that run for the first time.
fn slim_pod_status(status: &mut Value) {
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        conditions.retain(|condition| condition["status"] != "True");
    }
    for list in ["containerStatuses", "initContainerStatuses"] {
        if let Some(containers) = status.get_mut(list).and_then(Value::as_array_mut) {
            containers.retain(|one| {
                one["state"].get("running").is_none() || one["restartCount"].as_u64() > Some(0)
            });
        }
    }
}

/// Leaves of containers, wherever they are, what they are called and what they ask for.
fn slim_templates(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for list in ["containers", "initContainers"] {
                let containers = fields.get_mut(list).and_then(Value::as_array_mut);
                for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
                    container.retain(|key, _| matches!(key.as_str(), "name" | "resources"));
                }
            }
            fields.remove("volumes");
            fields.values_mut().for_each(slim_templates);
        }
        Value::Array(all) => all.iter_mut().for_each(slim_templates),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Tells whether a field of a pod's spec says where it runs, or what it asks for.
fn is_of_pods(key: &str) -> bool {
    matches!(
        key,
        "containers"
            | "initContainers"
            | "nodeName"
            | "schedulerName"
            | "schedulingGates"
            | "resourceClaims"
            | "priorityClassName"
    )
}
