//! Counts what pods hold that were put on their nodes past the scheduler.
//!
//! Nobody looked whether their nodes have what they ask for, and a kubelet that is away refuses none of them. All of a node
//! hold together no more than it offers, those that were created first before others, as the scheduler charges their queues.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use kai_api::names::annotation;
use serde_json::Value;

use super::devices::{Devices, Reads, node_key};
use super::totals::Totals;
use super::usage::Usage;
use crate::cache::Part;

/// Holdings on so many nodes are remembered at once.
const NODES_MAX: usize = 64;

/// A pod that was put on its node past the scheduler: by nodes, and on each in order of creation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Unplanned {
    pub(crate) node: String,
    /// Seconds since 1970.
    created: i64,
    uid: String,
}

impl Unplanned {
    /// Reads a pod; none where it has no node, or what the scheduler writes with each bind.
    pub(super) fn of(pod: &Value) -> Option<Arc<Self>> {
        let meta = &pod["metadata"];
        let node = pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty())?;
        if meta["annotations"][annotation::RECEIVED_RESOURCE_TYPE].is_string() {
            return None;
        }
        let created = meta["creationTimestamp"].as_str();
        let created = created.and_then(|text| text.parse::<Timestamp>().ok());
        let uid = meta["uid"].as_str().unwrap_or_default().to_owned();
        let created = created.map_or(0, Timestamp::as_second);
        Some(Arc::new(Self { node: node.to_owned(), created, uid }))
    }

    /// Gives the place before the first pod of a node.
    pub(crate) fn before_all(node: &str) -> Self {
        Self { node: node.to_owned(), created: i64::MIN, uid: String::new() }
    }

    #[cfg(test)]
    pub(crate) fn uid(&self) -> &str {
        &self.uid
    }

    /// About so many bytes of memory are taken by it.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.node.len() + self.uid.len()
    }
}

/// The amounts that pods hold of a node; one that holds nothing may be left out.
type Holders = BTreeMap<Arc<Unplanned>, Totals>;

/// A node that is there.
#[derive(Debug)]
struct Offer {
    /// All that its pods may have of it together.
    offered: Totals,
    holders: Holders,
}

/// Holdings by node, as they were when they were asked for first; of a node that is not there nobody holds anything.
#[derive(Debug, Default)]
pub(super) struct Holdings(HashMap<String, Option<Offer>>);

/// Divides what a node offers among pods, the first of which come first.
fn divide(mut offered: Totals, pods: Vec<(Arc<Unplanned>, Arc<Usage>)>) -> Holders {
    pods.into_iter().map(|(pod, usage)| (pod, offered.take(&usage.requested))).collect()
}

impl Devices {
    /// Gives what a pod has of its requests: all of it, or where it was put on its node past the scheduler, as much as it holds of
    /// the node. It holds nothing of one that is not there, which `reads` notes. None where the node would have to be asked for,
    /// and may not: that says nothing of what it holds.
    pub(crate) async fn held<'u>(
        &self,
        usage: &'u Usage,
        reads: &mut Reads,
    ) -> Result<Option<Cow<'u, Totals>>, kube::Error> {
        let Some(pod) = &usage.unplanned else { return Ok(Some(Cow::Borrowed(&usage.allocated))) };
        let Some(node) = self.offer(&pod.node, reads).await? else { return Ok(None) };
        let own = node.and_then(|node| node.holders.get(pod)).cloned();
        Ok(Some(Cow::Owned(own.unwrap_or_default().take(&usage.allocated))))
    }

    /// Gives what a pod had that ended while nobody looked. It is as [`Self::held`], but for one that was put on its node past
    /// the scheduler: who was beside it nobody knows any more, so that it had as much as the node offers it alone.
    pub(crate) async fn had<'u>(
        &self,
        usage: &'u Usage,
        reads: &mut Reads,
    ) -> Result<Option<Cow<'u, Totals>>, kube::Error> {
        let Some(pod) = &usage.unplanned else { return Ok(Some(Cow::Borrowed(&usage.allocated))) };
        let Some(node) = self.offer(&pod.node, reads).await? else { return Ok(None) };
        let own = node.map(|node| node.offered.clone());
        Ok(Some(Cow::Owned(own.unwrap_or_default().take(&usage.allocated))))
    }

    /// Looks a node up; nothing where it is not there, or is left out, which `reads` notes. None where it may not be asked for,
    /// and may later.
    async fn offer<'r>(
        &self,
        name: &str,
        reads: &'r mut Reads,
    ) -> Result<Option<Option<&'r Offer>>, kube::Error> {
        let is_known =
            reads.holdings.0.contains_key(name) || self.find_holders(name, reads).await?;
        if !is_known && !reads.is_last {
            return Ok(None);
        }
        let known = reads.holdings.0.get(name).and_then(Option::as_ref);
        reads.lacks_node |= known.is_none();
        Ok(Some(known))
    }

    /// Finds out who holds how much of a node; false where it would have to be asked for, and may not.
    async fn find_holders(&self, name: &str, reads: &mut Reads) -> Result<bool, kube::Error> {
        let Some(offered) = self.offered(name, reads).await? else { return Ok(false) };
        let offer = offered.map(|offered| {
            let holders = divide(offered.clone(), self.store.unplanned_on(name));
            Offer { offered, holders }
        });
        let known = &mut reads.holdings.0;
        if known.len() >= NODES_MAX {
            known.clear();
        }
        known.insert(name.to_owned(), offer);
        Ok(true)
    }

    /// Finds out how much a node offers; nothing where it is not there. None where it would have to be asked for, and may not.
    async fn offered(
        &self,
        name: &str,
        reads: &mut Reads,
    ) -> Result<Option<Option<Totals>>, kube::Error> {
        if let Some(found) = reads.findings.nodes.get(name) {
            return Ok(Some(found.clone()));
        }
        let is_asked = self.cache.remembered(&node_key(name), Part::Whole).await.is_none();
        if is_asked {
            let Some(left) = reads.left.checked_sub(1) else { return Ok(None) };
            reads.left = left;
        }
        let node = self.node_part(name, Part::Whole).await?;
        let offered = node.map(|node| Totals::from_value(&node.value()["status"]["allocatable"]));
        if is_asked {
            reads.findings.nodes.insert(name.to_owned(), offered.clone());
        }
        Ok(Some(offered))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use serde_json::json;

    use super::*;

    /// A server that has a node `x` with two GPUs, and nothing else; `seen` is told of each path that is asked for.
    pub(crate) fn server_of_node(seen: impl Fn(&str) + Send + 'static) -> Client {
        let server = tower::service_fn(move |request: Request<Body>| {
            seen(request.uri().path());
            let nodes = json!({"name": "nodes", "singularName": "", "namespaced": false, "kind": "Node", "verbs": ["get"]});
            let answer = match request.uri().path() {
                "/api/v1" => Some(
                    json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [nodes]}),
                ),
                "/api/v1/nodes/x" => Some(json!({"apiVersion": "v1", "kind": "Node",
                    "metadata": {"name": "x", "resourceVersion": "1"},
                    "status": {"allocatable": {"cpu": "4", "nvidia.com/gpu": "2"}}})),
                _ => None,
            };
            let found = |answer: Value| (200_u16, answer.to_string());
            let (code, text) = answer.map_or_else(|| (404, String::new()), found);
            let body = Body::from(text.into_bytes());
            std::future::ready(Response::builder().status(code).body(body))
        });
        Client::new(server, "default")
    }

    /// As the scheduler has it: docs/behaviour.md 2.11.
    #[test]
    fn a_pod_with_a_node_and_no_mark_of_a_bind_is_unplanned() {
        for (node, received, expect) in [
            (json!("x"), Value::Null, true),
            (json!("x"), json!("Regular"), false),
            (json!("x"), json!(""), false),
            (json!(""), Value::Null, false),
            (Value::Null, Value::Null, false),
        ] {
            let annotations = json!({"received-resource-type": received});
            let pod = json!({"metadata": {"annotations": annotations}, "spec": {"nodeName": node}});
            assert_eq!(Unplanned::of(&pod).is_some(), expect, "{pod}");
        }
    }

    #[test]
    fn the_first_hold_all_that_there_is() {
        let pod = |at: usize, asks: &Value| {
            let created = format!("2026-01-01T00:00:{at:02}Z");
            let pod = json!({"metadata": {"uid": at.to_string(), "creationTimestamp": created},
                "spec": {"nodeName": "x", "containers": [{"resources": {"requests": asks}}]},
                "status": {"phase": "Running"}});
            let usage = Usage::of(&pod);
            (usage.unplanned.clone().expect("it has a node and no mark"), Arc::new(usage))
        };
        let asks = [
            json!({"nvidia.com/gpu": "1", "cpu": "500m"}),
            json!({"nvidia.com/gpu": "1000000000000", "example.com/none": "1"}),
            json!({"nvidia.com/gpu": "1", "cpu": "4"}),
        ];
        let pods = asks.iter().enumerate().map(|(at, asks)| pod(at, asks)).collect();
        let offered = Totals::from_value(&json!({"nvidia.com/gpu": "2", "cpu": "4"}));
        let holders = divide(offered, pods);
        let held: Vec<Value> = holders.values().map(Totals::to_value).collect();
        let expect = [
            json!({"nvidia.com/gpu": "1", "cpu": "500m"}),
            json!({"nvidia.com/gpu": "1"}),
            json!({"cpu": "3500m"}),
        ];
        assert_eq!(held, expect);
    }
}
