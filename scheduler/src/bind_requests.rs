//! `BindRequest`s that KAI left: each is finished or given up before anything is decided.
//!
//! KAI journals a bind in such an object, and another of its processes carries it out. Where that process is gone
//! the pod would wait for ever, or be given a second place. What was begun is finished as it was meant; what cannot
//! be is deleted, and its pod waits like any other. Requests that succeeded stay: they go with their pods.
//!
//! No request stops a start: one that cannot be read is left, and so are those of one namespace beyond some thousands, and
//! those for which there is no time. None of these is carried out later, so that their pods have no second place.
//! Source: docs/contract.md 4.1, 11.2, 11.4.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::Method;
use kube::Client;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::time::Instant;

use crate::{
    actuate::{Bind, Outcome},
    server::{
        OpenWrites, Write,
        call::{Failure, Form, call, read, read_within},
        page::PageSize,
        wire::Meta,
    },
};

mod request;

pub(crate) use request::{Begun, Candidate, Request, begun, objection};
use request::{Fate, Group};

const PATH: &str = "/apis/scheduling.run.ai/v1alpha2/bindrequests";
const GROUPS: &str = "/apis/scheduling.run.ai/v2alpha2";
/// Bounds how many requests are settled at once.
const FLIGHTS_MAX: usize = 16;
/// Bounds how many requests of one namespace are settled at a start: a user may make any number of them.
const OF_ONE_MAX: usize = 2_000;
/// Bounds how long a start waits for all of them, from the first page on.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// One page, its objects not read.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: PageMeta,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize, Default)]
struct PageMeta {
    #[serde(rename = "continue", default)]
    next: String,
}

/// A request about which something is to be done.
struct Leftover {
    namespace: String,
    name: String,
    uid: String,
    begun: Result<Begun, Fate>,
}

/// Counts the requests of a start.
#[derive(Default)]
struct Tally {
    /// Those about which something is to be done, by namespace.
    open: HashMap<String, usize>,
    /// Those beyond what one namespace may have.
    beyond: usize,
    unreadable: usize,
}

/// Settles every request of our node pool. `selector` is the pool's, as a query parameter; `scheduler` is the name by which
/// pods ask for this scheduler.
///
/// # Errors
/// The list cannot be read. Where the kind is not served, or may not be read, nothing is done.
pub(crate) async fn settle(write: &Write, selector: &str, scheduler: &str) -> Result<(), Failure> {
    settle_within(write, selector, scheduler, SETTLED_WITHIN).await
}

async fn settle_within(
    write: &Write,
    selector: &str,
    scheduler: &str,
    within: Duration,
) -> Result<(), Failure> {
    let (mut next, mut size) = (String::new(), PageSize::default());
    let (mut tally, mut ends) = (Tally::default(), None);
    loop {
        let path = format!("{PATH}?limit={}{selector}{next}", size.limit());
        let bytes = match read_within(&write.client, &path, size.bytes_max()).await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                size.shrink();
                continue;
            }
            // A server takes its time for hundreds of large objects.
            Err(Failure::Unsure(_)) if size.shrink() => continue,
            Err(failure) if failure.code() == Some(404) => return Ok(()),
            Err(failure) if failure.code() == Some(403) => {
                tracing::warn!(%failure, "BindRequests that another scheduler left are not looked at");
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        size.grow();
        let end = *ends.get_or_insert_with(|| Instant::now() + within);
        let Page { metadata, items } = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Unsure(format!("no list of BindRequests: {error}")))?;
        let items = items.into_iter().flatten();
        let leftovers: Vec<Leftover> = items.filter_map(|item| tally.take(item)).collect();
        stream::iter(leftovers)
            .for_each_concurrent(FLIGHTS_MAX, |leftover| async move {
                if Instant::now() < end {
                    settle_one(write, scheduler, leftover).await;
                }
            })
            .await;
        let is_late = Instant::now() >= end;
        if is_late || metadata.next.is_empty() {
            tally.tell(is_late);
            return Ok(());
        }
        next = format!("&continue={}", metadata.next);
    }
}

impl Tally {
    /// Reads an object of a list; none where it is left as it is.
    fn take(&mut self, item: &RawValue) -> Option<Leftover> {
        let request: Request<'_> = match serde_json::from_str(item.get()) {
            Ok(request) => request,
            Err(error) => {
                self.unreadable += 1;
                if self.unreadable == 1 {
                    tracing::warn!(
                        "bindrequest {}: left, as it cannot be read: {error}",
                        key(item)
                    );
                }
                return None;
            }
        };
        let begun = begun(&request);
        if matches!(begun, Err(Fate::Leave)) {
            return None;
        }
        let meta = &request.metadata;
        let of_one = self.open.entry(meta.namespace.to_string()).or_default();
        *of_one += 1;
        if *of_one > OF_ONE_MAX {
            self.beyond += 1;
            return None;
        }
        Some(Leftover {
            namespace: meta.namespace.to_string(),
            name: meta.name.to_string(),
            uid: meta.uid.to_string(),
            begun,
        })
    }

    /// Says what was left.
    fn tell(&self, is_late: bool) {
        if self.unreadable > 1 {
            tracing::warn!("{} BindRequests are left, as they cannot be read", self.unreadable);
        }
        if self.beyond > 0 {
            tracing::warn!(
                "{} BindRequests are left, as there are more than {OF_ONE_MAX} in a namespace",
                self.beyond
            );
        }
        if is_late {
            tracing::warn!(
                "not all BindRequests were settled within {}s: the others are left, and their pods are placed anew",
                SETTLED_WITHIN.as_secs()
            );
        }
    }
}

/// Returns namespace and name of an object that cannot be read otherwise.
fn key(item: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        metadata: Meta<'a>,
    }
    let named = serde_json::from_str::<Named<'_>>(item.get());
    named.map_or_else(|_| String::from("(no name)"), |named| named.metadata.key())
}

async fn settle_one(write: &Write, scheduler: &str, leftover: Leftover) {
    // What may come true late of another request is not waited for here.
    let write = &Write { open: OpenWrites::default(), ..write.clone() };
    let Leftover { namespace, name, uid, begun } = leftover;
    match checked(begun, scheduler, &write.client).await {
        Err(Fate::Leave) => {}
        Err(Fate::GiveUp(reason)) => {
            tracing::info!("bindrequest {namespace}/{name}: given up: {reason}");
            delete(write, &namespace, &name, &uid).await;
        }
        Ok(bind) => {
            if let Outcome::BindFailed { node, reason, .. } = bind.carry_out(write).await {
                tracing::warn!("bindrequest {namespace}/{name}: not bound to {node}: {reason}");
            } else {
                tracing::info!("bindrequest {namespace}/{name}: finished");
            }
            delete(write, &namespace, &name, &uid).await;
        }
    }
}

/// Reads the pod, its group and the node where that matters: the bind that is carried out, or what else is to be done.
async fn checked(
    begun: Result<Begun, Fate>,
    scheduler: &str,
    client: &Client,
) -> Result<Bind, Fate> {
    let begun = begun?;
    let Bind { namespace, name, node, .. } = &begun.bind;
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let pod = found(client, &path, "its pod is gone").await?;
    let pod: Candidate<'_> = serde_json::from_slice(&pod).map_err(|_| Fate::Leave)?;
    if let Some(fate) = objection(&begun, &pod, scheduler) {
        return Err(fate);
    }
    // The API server binds to nodes that do not exist as well.
    found(client, &format!("/api/v1/nodes/{node}"), "its node is gone").await?;
    let name = pod.group().ok_or(Fate::GiveUp("its pod has no PodGroup"))?;
    let path = format!("{GROUPS}/namespaces/{namespace}/podgroups/{name}");
    let group = found(client, &path, "the PodGroup of its pod is gone").await?;
    let group: Group<'_> = serde_json::from_slice(&group).map_err(|_| Fate::Leave)?;
    Ok(Bind { uid: Box::from(&*pod.metadata.uid), ..group.charge(begun.bind)? })
}

/// Reads an object without which there is no bind. Where nothing is known of it the next start asks again.
async fn found(client: &Client, path: &str, gone: &'static str) -> Result<Bytes, Fate> {
    read(client, path).await.map_err(|failure| {
        if failure.code() == Some(404) { Fate::GiveUp(gone) } else { Fate::Leave }
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

    use serde_json::Value;

    use super::*;
    use crate::server::{answering::answering, page::PAGE_BYTES_MAX};

    /// A request that has nothing to be finished.
    fn failed(namespace: &str, name: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": namespace, "uid": name},
            "spec": {"podName": "p", "selectedNode": "n1", "receivedResourceType": "Regular"},
            "status": {"phase": "Failed", "failedAttempts": 1},
        })
    }

    fn page(items: &[Value], next: &str) -> (u16, Value) {
        (200, json!({"metadata": {"continue": next}, "items": items}))
    }

    /// A request whose bind was begun, and the pod `p` of the group `g` that it is for.
    fn unfinished() -> (Value, Value) {
        let mut request = failed("ns", "r");
        request["status"] = json!({});
        let pod = json!({
            "metadata": {"uid": "u", "annotations": {
                "pod-group-name": "g", "kai.scheduler/bound-queue": "another",
            }},
            "spec": {"schedulerName": "kai-scheduler"},
        });
        (request, pod)
    }

    /// Settles what a server has that answers reads of paths like this. Gives what was written, in the order of the alphabet.
    async fn written(
        found: impl Fn(&str) -> (u16, Value) + Send + Sync + 'static,
        within: Duration,
    ) -> Vec<String> {
        let written: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&written);
        let write = answering(move |asked, body| {
            if asked.method == Method::GET {
                return found(&asked.uri.to_string());
            }
            let name = asked.uri.path().rsplit('/').next().unwrap_or_default();
            let queue = body.pointer("/metadata/annotations/kai.scheduler~1bound-queue");
            let queue = queue.and_then(Value::as_str).map(|queue| format!(" of queue {queue}"));
            let preemptibility =
                body.pointer("/metadata/annotations/kai.scheduler~1bound-preemptibility");
            let is_preemptible = preemptibility.is_some_and(|value| value == "preemptible");
            let end = if is_preemptible { ", preemptible" } else { "" };
            let line = format!("{} {name}{}{end}", asked.method, queue.unwrap_or_default());
            noted.lock().expect("nobody panics with it").push(line);
            (200, json!({}))
        })
        .await;
        let settled = settle_within(&write, "", "kai-scheduler", within).await;
        settled.expect("the lists can be read");
        let mut written = written.lock().expect("nobody panics with it").clone();
        written.sort();
        written
    }

    /// Of thousands that were left none is forgotten.
    #[tokio::test(start_paused = true)]
    async fn requests_of_every_page_are_settled() {
        let found = |path: &str| {
            let is_next = path.contains("continue=more");
            let (name, next) = if is_next { ("last", "") } else { ("first", "more") };
            page(&[failed("ns", name)], next)
        };
        assert_eq!(written(found, SETTLED_WITHIN).await, ["DELETE first", "DELETE last"]);
    }

    /// A user who may make requests nests the parameters of devices as deep as the API server lets him, and no start fails.
    #[tokio::test(start_paused = true)]
    async fn a_request_that_cannot_be_read_stops_nobody() {
        let parameters = (0..200).fold(json!({}), |inner, _| json!({ "a": inner }));
        let mut deep = failed("ns", "deep");
        deep["spec"]["resourceClaimAllocations"] = json!([{"name": "c", "allocation": parameters}]);
        let mut odd = failed("ns", "odd");
        odd["spec"]["podName"] = json!({"a": 1});
        let found = move |_: &str| page(&[odd.clone(), deep.clone(), failed("ns", "last")], "");
        assert_eq!(written(found, SETTLED_WITHIN).await, ["DELETE deep", "DELETE last"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_too_large_or_too_slow_is_asked_for_with_fewer_objects() {
        let found = |path: &str| {
            if path.contains("limit=500") {
                (503, json!({"message": "it takes too long"}))
            } else if path.contains("limit=62") {
                (200, json!({"items": [], "junk": "x".repeat(PAGE_BYTES_MAX)}))
            } else {
                page(&[failed("ns", "first")], "")
            }
        };
        assert_eq!(written(found, SETTLED_WITHIN).await, ["DELETE first"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_has_so_many_requests_settled_and_no_more() {
        let many = (0..=OF_ONE_MAX).map(|number| failed("many", &format!("r{number}")));
        let all: Vec<Value> = many.chain([failed("other", "last")]).collect();
        let written = written(move |_| page(&all, ""), SETTLED_WITHIN).await;
        assert_eq!(written.len(), OF_ONE_MAX + 1);
        assert_eq!(written[0], "DELETE last");
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_waits_for_so_long_and_no_longer() {
        let found = |path: &str| {
            let is_next = path.contains("continue=more");
            page(&[failed("ns", "first")], if is_next { "" } else { "more" })
        };
        assert!(written(found, Duration::ZERO).await.is_empty());
    }

    /// Its user may have written another queue on the pod. A group that does not say that it may be evicted leaves it to its class.
    #[tokio::test(start_paused = true)]
    async fn a_bind_is_on_the_account_of_its_group() {
        let group = |queue: &str, preemptibility: &str| {
            (200, json!({"spec": {"queue": queue, "preemptibility": preemptibility}}))
        };
        let gone = (404, json!({"message": "not found"}));
        for (group, expect) in [
            (group("q", ""), &["DELETE r", "POST binding of queue q"][..]),
            (group("q", "preemptible"), &["DELETE r", "POST binding of queue q, preemptible"][..]),
            (group("q", "non-preemptible"), &["DELETE r", "POST binding of queue q"][..]),
            (group("", ""), &["DELETE r"][..]),
            (gone, &["DELETE r"][..]),
        ] {
            let (request, pod) = unfinished();
            let found = move |path: &str| match path.rsplit('/').next() {
                Some("p") => (200, pod.clone()),
                Some("g") => group.clone(),
                Some("n1") => (200, json!({})),
                Some(_) | None => page(std::slice::from_ref(&request), ""),
            };
            assert_eq!(written(found, SETTLED_WITHIN).await, expect);
        }
    }

    /// A server that fails, or lets nobody read for a moment, does not say that a pod, its node or its group is gone.
    #[tokio::test(start_paused = true)]
    async fn a_bind_of_which_nothing_is_known_is_left_for_the_next_start() {
        for code in [403, 500] {
            for unread in ["p", "n1", "g"] {
                let (request, pod) = unfinished();
                let found = move |path: &str| match path.rsplit('/').next() {
                    Some(last) if last == unread => (code, json!({"message": "not now"})),
                    Some("p") => (200, pod.clone()),
                    Some("g") => (200, json!({"spec": {"queue": "q"}})),
                    Some("n1") => (200, json!({})),
                    Some(_) | None => page(std::slice::from_ref(&request), ""),
                };
                let written = written(found, SETTLED_WITHIN).await;
                assert_eq!(written, Vec::<String>::new(), "{code} for {unread}");
            }
        }
    }

    /// Somebody may make another request of the name meanwhile.
    #[tokio::test(start_paused = true)]
    async fn the_request_that_was_read_is_deleted_and_no_other() {
        let uids: Arc<Mutex<Vec<Value>>> = Arc::default();
        let noted = Arc::clone(&uids);
        let write = answering(move |asked, body| {
            if asked.method == Method::GET {
                return page(&[failed("ns", "r")], "");
            }
            let uid = body.pointer("/preconditions/uid").cloned().unwrap_or_default();
            noted.lock().expect("nobody panics with it").push(uid);
            (200, json!({}))
        })
        .await;
        settle(&write, "", "kai-scheduler").await.expect("the list can be read");
        assert_eq!(*uids.lock().expect("nobody panics with it"), [json!("r")]);
    }

    /// Not every cluster had KAI, and not every role lets its requests be read.
    #[tokio::test(start_paused = true)]
    async fn requests_that_cannot_be_had_stop_no_start() {
        for code in [403, 404] {
            let found = move |_: &str| (code, json!({"message": "no"}));
            assert!(written(found, SETTLED_WITHIN).await.is_empty(), "{code}");
        }
    }
}
