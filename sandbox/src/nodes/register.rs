//! Registers simulated nodes, all or none, and removes them again: a node of another simulation is never touched.
//!
//! A node says in an annotation which simulation runs it, and its Lease says whether that one is still there.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kai_daemon::clock;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Client, ResourceExt};
use serde_json::json;

use super::group::Spec;
use super::{CONCURRENCY, NodesError, object};

/// Holds a node that this simulation runs.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) name: String,
    pub(super) uid: String,
    /// True if the simulation made it, and did not take it over.
    is_new: bool,
}

/// Holds what all nodes of one simulation have in common.
#[derive(Clone)]
pub(super) struct Simulation {
    pub(super) client: Client,
    /// The name of the simulation that nodes carry; `None` where nobody else could run nodes.
    pub(super) id: Option<String>,
    /// The port of the kubelets on 127.0.0.1.
    pub(super) port: u16,
}

impl Simulation {
    /// Creates or takes over all nodes; where one is refused, those that were made before it go again.
    ///
    /// # Errors
    /// A node is real, belongs to another simulation, or is refused by the API.
    pub(super) async fn register(&self, specs: Vec<Spec>) -> Result<Vec<Own>, NodesError> {
        self.check(&specs).await?;
        // All owned: a borrow here would keep callers from boxing the future.
        let all: Vec<_> = specs.into_iter().map(|spec| self.clone().one(spec)).collect();
        let (mut own, mut refused) = (Vec::new(), None);
        let mut done = stream::iter(all).buffer_unordered(CONCURRENCY);
        while let Some(result) = done.next().await {
            match result {
                Ok(node) => own.push(node),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        drop(done);
        let Some(error) = refused else { return Ok(own) };
        let (made, found) = own.into_iter().partition(|node| node.is_new);
        self.remove(made).await;
        self.leave(found).await;
        Err(error)
    }

    /// Looks at the nodes of these names that there are, before any is written.
    async fn check(&self, specs: &[Spec]) -> Result<(), NodesError> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let mut there = BTreeMap::new();
        let mut params = ListParams::default().limit(500);
        loop {
            let page = nodes.list(&params).await.map_err(|source| NodesError::Api {
                what: "read",
                name: "the nodes".to_owned(),
                source: Box::new(source),
            })?;
            let next = page.metadata.continue_.clone().filter(|next| !next.is_empty());
            there.extend(page.items.into_iter().map(|node| (node.name_any(), node)));
            let Some(next) = next else { break };
            params.continue_token = Some(next);
        }
        let named: Vec<Node> = specs.iter().filter_map(|spec| there.remove(&spec.name)).collect();
        let looks: Vec<_> = named.into_iter().map(|node| self.clone().may_take(node)).collect();
        stream::iter(looks).buffered(CONCURRENCY).try_collect().await
    }

    /// Tells whether a node that exists may be taken over: it is simulated, and nobody runs it.
    async fn may_take(self, node: Node) -> Result<(), NodesError> {
        let name = node.name_any();
        if node.labels().get(object::NODE_LABEL).map(String::as_str) != Some("true") {
            return Err(NodesError::Taken { name });
        }
        let owner = node.annotations().get(object::SIMULATION);
        if owner.is_none() || owner == self.id.as_ref() {
            return Ok(());
        }
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), object::LEASE_NAMESPACE);
        let lease = leases.get_opt(&name).await.map_err(|source| NodesError::Api {
            what: "read the lease of node",
            name: name.clone(),
            source: Box::new(source),
        })?;
        let renewed = lease.and_then(|lease| lease.spec?.renew_time).map(|time| time.0);
        match renewed.map(|at| clock::now().duration_since(at).as_secs()) {
            Some(ago) if ago < object::LEASE_SECONDS => {
                Err(NodesError::Held { name, left: object::LEASE_SECONDS - ago })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Creates or takes over one node with its Lease.
    async fn one(self, spec: Spec) -> Result<Own, NodesError> {
        let failed = |source| NodesError::Api {
            what: "write node",
            name: spec.name.clone(),
            source: Box::new(source),
        };
        let nodes: Api<Node> = Api::all(self.client.clone());
        let mut wanted = object::node(&spec, clock::now(), self.port);
        wanted["metadata"]["annotations"] = json!({ object::SIMULATION: self.id });
        let typed: Node = serde_json::from_value(without_null(wanted.clone()))
            .expect("the node object has the API's form");
        let (node, is_new) = match nodes.create(&PostParams::default(), &typed).await {
            Ok(node) => (node, true),
            Err(kube::Error::Api(status)) if status.is_already_exists() => {
                let node = nodes.get(&spec.name).await.map_err(failed)?;
                let uid = node.uid();
                self.clone().may_take(node).await?;
                let meta = &wanted["metadata"];
                let meta = json!({"uid": uid, "labels": meta["labels"], "annotations": meta["annotations"]});
                let (params, status) =
                    (PatchParams::default(), json!({"status": wanted["status"]}));
                let meta = Patch::Merge(json!({ "metadata": meta }));
                nodes.patch(&spec.name, &params, &meta).await.map_err(failed)?;
                let node = nodes.patch_status(&spec.name, &params, &Patch::Merge(status)).await;
                (node.map_err(failed)?, false)
            }
            Err(error) => return Err(failed(error)),
        };
        let uid = node.uid().unwrap_or_default();
        renew(&self.client, &spec.name, &uid).await.map_err(|source| NodesError::Api {
            what: "write the lease of node",
            name: spec.name.clone(),
            source: Box::new(source),
        })?;
        Ok(Own { name: spec.name, uid, is_new })
    }

    /// Removes nodes; failures are only logged, since the cluster may be gone already.
    pub(super) async fn remove(&self, own: Vec<Own>) {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let remove = |Own { name, uid, .. }| {
            let nodes = nodes.clone();
            async move {
                let node = nodes.get_opt(&name).await;
                if !node.is_ok_and(|node| node.is_some_and(|node| self.runs(&node, &uid))) {
                    return tracing::debug!(node = name, "not this simulation's any more");
                }
                let guard = Preconditions { uid: Some(uid), resource_version: None };
                let params = DeleteParams::default().preconditions(guard);
                if let Err(error) = nodes.delete(&name, &params).await {
                    tracing::debug!(node = name, %error, "failed to delete the simulated node");
                }
            }
        };
        stream::iter(own).for_each_concurrent(CONCURRENCY, remove).await;
    }

    /// Leaves nodes for another simulation to take over.
    pub(super) async fn leave(&self, own: Vec<Own>) {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let leave = |Own { name, uid, .. }| {
            let nodes = nodes.clone();
            async move {
                let node = nodes.get_opt(&name).await;
                if !node.is_ok_and(|node| node.is_some_and(|node| self.runs(&node, &uid))) {
                    return;
                }
                let patch =
                    json!({"metadata": {"uid": uid, "annotations": {object::SIMULATION: null}}});
                let patch = Patch::Merge(patch);
                if let Err(error) = nodes.patch(&name, &PatchParams::default(), &patch).await {
                    tracing::debug!(node = name, %error, "failed to leave the simulated node");
                }
            }
        };
        stream::iter(own).for_each_concurrent(CONCURRENCY, leave).await;
    }

    /// Tells whether a node is still the one that this simulation registered, and nobody else runs it.
    fn runs(&self, node: &Node, uid: &str) -> bool {
        node.uid().as_deref() == Some(uid)
            && node.annotations().get(object::SIMULATION) == self.id.as_ref()
    }
}

/// Leaves out the annotation of a simulation without a name, which a typed object cannot hold.
fn without_null(mut node: serde_json::Value) -> serde_json::Value {
    if let Some(annotations) = node["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|_, value| !value.is_null());
    }
    node
}

/// Renews the heartbeat of a node, or makes it.
pub(super) async fn renew(client: &Client, name: &str, uid: &str) -> Result<(), kube::Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), object::LEASE_NAMESPACE);
    let lease = object::lease(name, uid, clock::now());
    match leases.patch(name, &PatchParams::default(), &Patch::Merge(&lease)).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => {
            let lease = serde_json::from_value(lease).expect("the lease object has the API's form");
            leases.create(&PostParams::default(), &lease).await.map(drop)
        }
        other => other.map(drop),
    }
}
