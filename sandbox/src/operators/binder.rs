//! A stand-in for kube-scheduler: binds pods of `default-scheduler` where CPU and memory are free.
//!
//! Servers without a scheduler need one for pods that are not the product's, such as `KubeRay`'s
//! submitter. Pods that ask for devices, by claims too, are left alone: on one node two schedulers would
//! give the same device away. Node selectors are honoured; affinity, taints and priorities are not looked at.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, PostParams};
use kube::runtime::watcher::{self, Event};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::nodes::pod::{self as slim, Amounts, amount};

/// The name that pods carry when they name no scheduler.
const NAME: &str = "default-scheduler";

/// A node's labels and what it can give.
type Room = (BTreeMap<String, String>, Amounts);

#[derive(Default)]
struct State {
    nodes: BTreeMap<String, Room>,
    /// Bound pods: node and request.
    bound: HashMap<String, (String, Amounts)>,
    waiting: BTreeMap<String, Pod>,
    bindings: u64,
}

/// Binds pods until cancelled.
pub(super) async fn run(client: Client, cancel: CancellationToken) {
    let mut pods = pin!(events::<Pod>(&client));
    let mut nodes = pin!(events::<Node>(&client));
    let mut state = State::default();
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            Some((node, is_there)) = nodes.next() => state.node(&node, is_there),
            Some((pod, is_there)) = pods.next() => state.pod(pod, is_there),
        }
        let choices = state.choose();
        for (uid, node) in choices {
            let Some(pod) = state.waiting.get(&uid) else { continue };
            if let Err(error) = bind(&client, pod, &node).await {
                tracing::debug!(pod = pod.name_any(), node, %error, "failed to bind");
                continue;
            }
            let pod = state.waiting.remove(&uid).expect("found above");
            state.bound.insert(uid, (node, request(&pod)));
            state.bindings += 1;
        }
    }
}

/// Objects as they come, each with whether it is still there.
fn events<K>(client: &Client) -> impl Stream<Item = (K, bool)> + use<K>
where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + Send
        + serde::de::DeserializeOwned
        + 'static,
{
    let watch = watcher::watcher(Api::<K>::all(client.clone()), watcher::Config::default());
    watch.filter_map(|event| async {
        match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => Some((object, true)),
            Ok(Event::Delete(object)) => Some((object, false)),
            Ok(Event::Init | Event::InitDone) => None,
            Err(error) => {
                tracing::debug!(%error, "watch interrupted");
                tokio::time::sleep(Duration::from_millis(200)).await;
                None
            }
        }
    })
}

impl State {
    fn pod(&mut self, pod: Pod, is_there: bool) {
        let uid = pod.uid().unwrap_or_default();
        let spec = pod.spec.as_ref();
        let node = spec.and_then(|spec| spec.node_name.clone()).filter(|node| !node.is_empty());
        let phase =
            pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending");
        self.waiting.remove(&uid);
        if !is_there || matches!(phase, "Succeeded" | "Failed") {
            self.bound.remove(&uid);
        } else if let Some(node) = node {
            self.bound.insert(uid, (node, request(&pod)));
        } else {
            let ours = spec.and_then(|spec| spec.scheduler_name.as_deref()) == Some(NAME);
            let gated = spec
                .and_then(|spec| spec.scheduling_gates.as_ref())
                .is_some_and(|gates| !gates.is_empty());
            let claims = spec
                .and_then(|spec| spec.resource_claims.as_ref())
                .is_some_and(|claims| !claims.is_empty());
            let devices = claims || request(&pod).keys().any(|resource| resource.contains('/'));
            if ours && !gated && !devices && pod.metadata.deletion_timestamp.is_none() {
                self.waiting.insert(uid, pod);
            }
        }
    }

    fn node(&mut self, node: &Node, is_there: bool) {
        let closed = node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
        if !is_there || closed {
            self.nodes.remove(&node.name_any());
            return;
        }
        let status = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
        let room = status
            .into_iter()
            .flatten()
            .filter_map(|(name, text)| Some((name.clone(), amount(name, &text.0)?)));
        self.nodes.insert(node.name_any(), (node.labels().clone(), room.collect()));
    }

    /// A node for each waiting pod that has one, without regard to one another's order.
    fn choose(&self) -> Vec<(String, String)> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let mut used: HashMap<&str, Amounts> = HashMap::new();
        for (node, request) in self.bound.values() {
            add(used.entry(node).or_default(), request);
        }
        let mut choices = Vec::new();
        for (uid, pod) in &self.waiting {
            let request = request(pod);
            let selector =
                pod.spec.as_ref().and_then(|spec| spec.node_selector.clone()).unwrap_or_default();
            // Nodes without devices first, so that the others stay free for work that needs them.
            let mut nodes: Vec<_> = self.nodes.iter().collect();
            nodes.sort_by_key(|(_, (_, room))| room.keys().any(|resource| resource.contains('/')));
            let fits = nodes.into_iter().find(|(name, (labels, room))| {
                let used = used.get(name.as_str());
                let of = |all: Option<&Amounts>, resource: &str| {
                    all.and_then(|all| all.get(resource).copied()).unwrap_or(0)
                };
                selector.iter().all(|(key, value)| labels.get(key) == Some(value))
                    && request.iter().all(|(resource, asked)| {
                        asked + of(used, resource) <= of(Some(room), resource)
                    })
            });
            if let Some((name, _)) = fits {
                add(used.entry(name).or_default(), &request);
                choices.push((uid.clone(), name.clone()));
            }
        }
        choices
    }
}

fn add(to: &mut Amounts, more: &Amounts) {
    for (resource, amount) in more {
        *to.entry(resource.clone()).or_default() += amount;
    }
}

fn request(pod: &Pod) -> Amounts {
    let spec =
        serde_json::to_value(&pod.spec).ok().and_then(|spec| serde_json::from_value(spec).ok());
    spec.map(|spec: slim::PodSpec| slim::requests(&spec)).unwrap_or_default()
}

async fn bind(client: &Client, pod: &Pod, node: &str) -> Result<(), kube::Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let name = pod.name_any();
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "uid": pod.uid()},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    });
    let _status: serde_json::Value =
        pods.create_subresource("binding", &name, &PostParams::default(), &binding).await?;
    Ok(())
}
