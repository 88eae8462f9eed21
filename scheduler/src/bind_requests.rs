//! `BindRequest`s that KAI left: each is finished or given up before anything is decided.
//!
//! KAI journals a bind in such an object, and another of its processes carries it out. Where that process is gone
//! the pod would wait for ever, or be given a second place. What was begun is finished as it was meant; what cannot
//! be is deleted, and its pod waits like any other. Requests that succeeded stay: they go with their pods.
//! Source: docs/contract.md 4.1, 11.2, 11.4.

use futures::{StreamExt, stream};
use http::Method;
use kai_api::{bind_request::BindRequest, names::value};
use kube::Client;
use serde::Deserialize;
use serde_json::json;

use crate::{
    actuate::{Bind, Outcome},
    server::{
        OpenWrites, Write,
        call::{Failure, Form, call, read},
        wire::Whereabouts,
    },
    short::is_name,
};

const PATH: &str = "/apis/scheduling.run.ai/v1alpha2/bindrequests";
/// Requests of one page, and how many are settled at once.
const PAGE_LIMIT: u32 = 500;
const FLIGHTS_MAX: usize = 16;

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMeta,
    #[serde(default)]
    items: Vec<BindRequest>,
}

#[derive(Deserialize, Default)]
struct PageMeta {
    #[serde(rename = "continue", default)]
    next: String,
}

/// Says what is to be done about a request.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It goes with its pod.
    Leave,
    /// Nobody will carry it out.
    GiveUp(&'static str),
    /// It can be carried out.
    Finish(Box<Bind>),
}

/// Settles every request of our node pool. `selector` is the pool's, as a query parameter.
///
/// # Errors
/// The list cannot be read. Where the kind is not served, or may not be read, nothing is done.
pub(crate) async fn settle(write: &Write, selector: &str) -> Result<(), Failure> {
    let mut next = String::new();
    loop {
        let path = format!("{PATH}?limit={PAGE_LIMIT}{selector}{next}");
        let bytes = match read(&write.client, &path).await {
            Ok(bytes) => bytes,
            Err(failure) if failure.code() == Some(404) => return Ok(()),
            Err(failure) if failure.code() == Some(403) => {
                tracing::warn!(%failure, "BindRequests that another scheduler left are not looked at");
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        let page: Page = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Unsure(format!("no list of BindRequests: {error}")))?;
        stream::iter(page.items)
            .for_each_concurrent(FLIGHTS_MAX, |request| settle_one(write, request))
            .await;
        if page.metadata.next.is_empty() {
            return Ok(());
        }
        next = format!("&continue={}", page.metadata.next);
    }
}

async fn settle_one(write: &Write, request: BindRequest) {
    // What may come true late of another request is not waited for here.
    let write = &Write { open: OpenWrites::default(), ..write.clone() };
    let meta = &request.metadata;
    let namespace = meta.namespace.clone().unwrap_or_default();
    let name = meta.name.clone().unwrap_or_default();
    let uid = meta.uid.clone().unwrap_or_default();
    match fate(&request, &write.client).await {
        Fate::Leave => {}
        Fate::GiveUp(reason) => {
            tracing::info!("bindrequest {namespace}/{name}: given up: {reason}");
            delete(write, &namespace, &name, &uid).await;
        }
        Fate::Finish(bind) => {
            if let Outcome::BindFailed { node, reason, .. } = bind.carry_out(write).await {
                tracing::warn!("bindrequest {namespace}/{name}: not bound to {node}: {reason}");
            } else {
                tracing::info!("bindrequest {namespace}/{name}: finished");
            }
            delete(write, &namespace, &name, &uid).await;
        }
    }
}

/// Works out what a request says by itself: the bind that it asks for, or what else is to become of it.
pub(crate) fn begun(request: &BindRequest) -> Result<Bind, Fate> {
    if request.metadata.deletion_timestamp.is_some() || phase(request) == "Succeeded" {
        return Err(Fate::Leave);
    }
    if has_failed(request) {
        return Err(Fate::GiveUp("it failed"));
    }
    bind_of(request)
        .ok_or(Fate::GiveUp("it is incomplete, or asks for resource claims or a share of a GPU"))
}

/// Says why a request cannot be carried out for a pod with this UID that is on this node; none where it can.
pub(crate) fn objection(request: &BindRequest, uid: &str, node: &str) -> Option<&'static str> {
    let owners = request.metadata.owner_references.iter().flatten();
    if owners.clone().count() > 0 && !owners.clone().any(|owner| owner.uid == uid) {
        return Some("its pod was replaced by another");
    }
    (!node.is_empty()).then_some("its pod has a node")
}

/// Reads the pod and the node where that matters.
async fn fate(request: &BindRequest, client: &Client) -> Fate {
    let bind = match begun(request) {
        Ok(bind) => bind,
        Err(fate) => return fate,
    };
    let path = format!("/api/v1/namespaces/{}/pods/{}", bind.namespace, bind.name);
    let bytes = match read(client, &path).await {
        Ok(bytes) => bytes,
        Err(failure) if failure.code() == Some(404) => return Fate::GiveUp("its pod is gone"),
        // Not known: the next start asks again.
        Err(_) => return Fate::Leave,
    };
    let Ok(pod) = serde_json::from_slice::<Whereabouts<'_>>(&bytes) else { return Fate::Leave };
    let uid = &*pod.metadata.uid;
    if let Some(objection) = objection(request, uid, &pod.spec.node_name) {
        return Fate::GiveUp(objection);
    }
    // The API server binds to nodes that do not exist as well.
    match read(client, &format!("/api/v1/nodes/{}", bind.node)).await {
        Ok(_) => Fate::Finish(Box::new(Bind { uid: Box::from(uid), ..bind })),
        Err(failure) if failure.code() == Some(404) => Fate::GiveUp("its node is gone"),
        Err(_) => Fate::Leave,
    }
}

fn phase(request: &BindRequest) -> &str {
    request.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// Source: docs/contract.md 4.1.
fn has_failed(request: &BindRequest) -> bool {
    let attempts = request.status.as_ref().and_then(|status| status.failed_attempts).unwrap_or(0);
    phase(request) == "Failed" && request.spec.backoff_limit.is_none_or(|limit| attempts >= limit)
}

/// The bind that a request asks for, without the pod's UID; none where a part is missing, or where claims would have
/// to be allocated with it.
fn bind_of(request: &BindRequest) -> Option<Bind> {
    let spec = &request.spec;
    let received = [value::RECEIVED_REGULAR, value::RECEIVED_FRACTION, value::RECEIVED_MIG]
        .into_iter()
        .find(|known| spec.received_resource_type.as_deref() == Some(known))?;
    let groups = &spec.selected_gpu_groups;
    let has_claims = !spec.resource_claim_allocations.is_empty()
        || spec.extended_resource_claim_allocation.is_some();
    // A share of a GPU needs a reservation pod and config maps: the pod is placed anew, and what was begun is taken away.
    if has_claims || received == value::RECEIVED_FRACTION || !groups.is_empty() {
        return None;
    }
    Some(Bind {
        pod: 0,
        uid: Box::default(),
        namespace: Box::from(request.metadata.namespace.as_deref()?),
        // Where a user may make requests, a path or parameters may stand there, and a read of a pod with `?watch=1` lasts until it
        // is given up, before anything is decided.
        name: Box::from(spec.pod_name.as_deref().filter(|name| is_name(name))?),
        node: Box::from(spec.selected_node.as_deref().filter(|name| is_name(name))?),
        received,
        queue: None,
        is_preemptible: false,
        labels: Vec::new(),
        claims: Vec::new(),
        volumes: Vec::new(),
        extended: None,
        share: None,
        zones: (!spec.predicted_numa_zones.is_empty())
            .then(|| json!(spec.predicted_numa_zones).to_string()),
    })
}

async fn delete(write: &Write, namespace: &str, name: &str, uid: &str) {
    let path =
        format!("/apis/scheduling.run.ai/v1alpha2/namespaces/{namespace}/bindrequests/{name}");
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid },
    });
    match call(write, Method::DELETE, &path, Form::Object, &body).await {
        Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }) => {}
        Err(failure) => {
            tracing::warn!("failed to delete bindrequest {namespace}/{name}: {failure}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::server::answering::answering;

    /// Compares what is known without the pod: the bind, or why there is none.
    fn check(yaml: &str, expect: &str) {
        let request: BindRequest = serde_saphyr::from_str(yaml).expect("a BindRequest");
        let bind = bind_of(&request).map(|bind| {
            let labels: Vec<String> = bind
                .labels
                .iter()
                .map(|(key, value)| format!(" {key}={}", value.as_deref().unwrap_or("-")))
                .collect();
            format!(
                "{}/{} to {} {}{}{}",
                bind.namespace,
                bind.name,
                bind.node,
                bind.received,
                labels.concat(),
                bind.zones.map_or_else(String::new, |zones| format!(" zones={zones}")),
            )
        });
        let text = match (has_failed(&request), bind) {
            (true, _) => String::from("failed"),
            (false, None) => String::from("incomplete"),
            (false, Some(bind)) => bind,
        };
        assert_eq!(text, expect, "{yaml}");
    }

    #[test]
    fn a_request_is_finished_as_it_was_meant() {
        let request = |spec: &str, status: &str| {
            format!(
                "{{metadata: {{name: p, namespace: ns}}, spec: {{{spec}}}, status: {{{status}}}}}"
            )
        };
        let whole = "podName: p, selectedNode: n1, receivedResourceType: Regular";
        check(&request(whole, ""), "ns/p to n1 Regular");
        check(
            &request(
                &format!("{whole}, predictedNUMAZones: [{{zone: node-0, amount: {{cpu: 4}}}}]"),
                "",
            ),
            r#"ns/p to n1 Regular zones=[{"zone":"node-0","amount":{"cpu":"4"}}]"#,
        );
        check(&request(whole, "phase: Failed, failedAttempts: 1"), "failed");
        let retried = format!("{whole}, backoffLimit: 3");
        check(&request(&retried, "phase: Failed, failedAttempts: 1"), "ns/p to n1 Regular");
        check(&request(&retried, "phase: Failed, failedAttempts: 3"), "failed");
        let part = "podName: p, selectedNode: n1, receivedResourceType: Fraction";
        check(&request(part, ""), "incomplete");
        check(&request(&format!("{part}, selectedGPUGroups: [g]"), ""), "incomplete");
        check(
            &request(&format!("{whole}, resourceClaimAllocations: [{{name: c}}]"), ""),
            "incomplete",
        );
        check(&request("podName: p", ""), "incomplete");
        for wrong in ["p?watch=1", "../../kube-system/pods/p", "", "P"] {
            let spec = |pod: &str, node: &str| {
                format!("podName: '{pod}', selectedNode: '{node}', receivedResourceType: Regular")
            };
            check(&request(&spec(wrong, "n1"), ""), "incomplete");
            check(&request(&spec("p", wrong), ""), "incomplete");
        }
    }

    /// A request that is deleted was taken back, although a finalizer keeps it for a while.
    #[test]
    fn a_request_that_goes_or_is_done_is_left_alone() {
        for (meta, status, is_left) in [
            ("labels: {}", "", false),
            ("deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/keep]", "", true),
            ("labels: {}", "phase: Succeeded", true),
        ] {
            let yaml = format!(
                "{{metadata: {{name: p, namespace: ns, {meta}}}, status: {{{status}}}, \
                 spec: {{podName: p, selectedNode: n1, receivedResourceType: Regular}}}}"
            );
            let request: BindRequest = serde_saphyr::from_str(&yaml).expect("a BindRequest");
            assert_eq!(matches!(begun(&request), Err(Fate::Leave)), is_left, "{yaml}");
        }
    }

    /// Of thousands that were left none is forgotten.
    #[tokio::test(start_paused = true)]
    async fn requests_of_every_page_are_settled() {
        let deleted: Arc<Mutex<Vec<String>>> = Arc::default();
        let page = |name: &str, next: &str| {
            json!({"metadata": {"continue": next}, "items": [{
                "metadata": {"name": name, "namespace": "ns", "uid": name},
                "spec": {"podName": "p", "selectedNode": "n1", "receivedResourceType": "Regular"},
                "status": {"phase": "Failed", "failedAttempts": 1},
            }]})
        };
        let noted = Arc::clone(&deleted);
        let write = answering(move |asked, _| {
            let (path, query) = (asked.uri.path(), asked.uri.query().unwrap_or_default());
            if asked.method == Method::GET {
                let is_next = query.contains("continue=more");
                return (200, if is_next { page("last", "") } else { page("first", "more") });
            }
            let name = path.rsplit('/').next().unwrap_or_default();
            let line = format!("{} {name}", asked.method);
            noted.lock().expect("nobody panics with it").push(line);
            (200, json!({}))
        })
        .await;
        settle(&write, "").await.expect("the lists can be read");
        let deleted = deleted.lock().expect("nobody panics with it").clone();
        assert_eq!(deleted, ["DELETE first", "DELETE last"]);
    }
}
