//! The watches: pods, `PodGroups` and priority classes into the store, and their keys into the queue.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use kai_api::names::annotation;
use kai_daemon::process::causes;
use kube::Client;
use kube::api::Api;
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::utils::Backoff;
use kube::runtime::{WatchStreamExt, watcher};

use crate::object::{Gvk, Object};
use crate::slim::{AnyShape, Shape, Slim};

mod page;

use page::{BYTES_MAX, PAGE, bounded};

/// A change of the objects of a kind.
pub(crate) enum Change {
    /// An object is new or changed.
    Set(Arc<Object>),
    /// An object is gone.
    Gone(Arc<Object>),
    /// A list starts: what does not come before [`Change::ListEnd`] is gone.
    ListStart,
    /// The list is complete.
    ListEnd,
}

/// Objects to follow.
pub(crate) struct Selection {
    pub(crate) gvk: Gvk,
    /// Absent: all namespaces.
    pub(crate) namespace: Option<String>,
    pub(crate) fields: String,
    pub(crate) labels: String,
}

impl Selection {
    pub(crate) fn of(api_version: &str, kind: &str) -> Self {
        Self {
            gvk: Gvk::new(api_version, kind),
            namespace: None,
            fields: String::new(),
            labels: String::new(),
        }
    }
}

/// The longest pause between two tries of a watch: when the API server answers again, it is noticed soon.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Growing pauses, jittered, that start anew after two minutes without a failure.
#[derive(Default)]
struct Pauses(watcher::DefaultBackoff);

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.next().map(|pause| pause.min(PAUSE_MAX))
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        self.0.reset();
    }
}

/// Follows a kind until the task is dropped; lists in pages of bounded memory, relists after 410 and waits between failures.
///
/// What `S` leaves out of an object is never in memory.
pub(crate) async fn follow<S: Shape>(
    client: Client,
    selection: Selection,
    mut on: impl FnMut(Change),
) {
    let gvk = &selection.gvk;
    let mut events = open::<S>(client, &selection);
    let mut last_error = String::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => on(Change::ListStart),
            Ok(watcher::Event::InitDone) => {
                last_error.clear();
                on(Change::ListEnd);
            }
            Ok(watcher::Event::InitApply(found) | watcher::Event::Apply(found)) => {
                on(Change::Set(Arc::new(found.into_object(gvk))));
            }
            Ok(watcher::Event::Delete(found)) => on(Change::Gone(Arc::new(found.into_object(gvk)))),
            Err(error) => {
                // A missing right or CRD stays so for a while: say it once.
                let text = causes(&error);
                if text != last_error {
                    tracing::warn!(kind = %gvk, error = %text, "failed to watch; trying again");
                    last_error = text;
                }
            }
        }
    }
}

/// Makes a client for lists: the bytes of a page are bounded, but for one of a single object.
pub(crate) fn paged(client: Client) -> Client {
    bounded(client, BYTES_MAX)
}

/// Begins a watch, with lists in such pages.
fn open<S: Shape>(
    client: Client,
    selection: &Selection,
) -> BoxStream<'static, Result<watcher::Event<Slim<S>>, watcher::Error>> {
    let client = paged(client);
    let gvk = &selection.gvk;
    let resource =
        ApiResource::from_gvk(&GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind));
    let api: Api<Slim<S>> = match &selection.namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &resource),
        None => Api::all_with(client, &resource),
    };
    let config = watcher::Config::default()
        .page_size(PAGE)
        .fields(&selection.fields)
        .labels(&selection.labels);
    watcher(api, config).backoff(Pauses::default()).boxed()
}

/// Objects of one kind by name.
pub(crate) type Table = Mutex<BTreeMap<String, Arc<Object>>>;

/// Keeps a table of the objects of a kind whose names are unique, and calls `changed` after each change and at the end of a
/// list, so not before the table says what there is of one object; never ends.
pub(crate) async fn keep_table(
    client: Client,
    selection: Selection,
    table: &Table,
    changed: impl Fn(),
) {
    let mut listing = Listing::new();
    follow::<AnyShape>(client, selection, |change| {
        let mut rows = table.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Change::ListStart => return listing.start(),
            Change::Set(object) => {
                listing.see(object.name().to_owned());
                rows.insert(object.name().to_owned(), object);
            }
            Change::Gone(object) => {
                rows.remove(object.name());
            }
            Change::ListEnd => {
                for name in listing.end(rows.keys().cloned().collect()) {
                    rows.remove(&name);
                }
            }
        }
        drop(rows);
        changed();
    })
    .await;
}

/// Keys seen in a list, to find those that went away unseen.
#[derive(Debug)]
pub(crate) struct Listing<K> {
    seen: Option<HashSet<K>>,
}

impl<K: Ord + std::hash::Hash> Listing<K> {
    pub(crate) fn new() -> Self {
        Self { seen: None }
    }

    pub(crate) fn start(&mut self) {
        self.seen = Some(HashSet::new());
    }

    /// Tells whether a list has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.seen.is_some()
    }

    pub(crate) fn see(&mut self, key: K) {
        if let Some(seen) = &mut self.seen {
            seen.insert(key);
        }
    }

    /// Ends the list; the known keys that it did not name are gone, in order, whatever order they were known in.
    pub(crate) fn end(&mut self, known: Vec<K>) -> Vec<K> {
        let seen = self.seen.take().unwrap_or_default();
        let mut gone: Vec<K> = known.into_iter().filter(|key| !seen.contains(key)).collect();
        gone.sort_unstable();
        gone
    }
}

/// Tells whether `spec` and metadata of two versions of a `PodGroup` are the same, but for the scheduler's own notes on it.
pub(crate) fn is_same_but_status(left: &Object, right: &Object) -> bool {
    let (one, other) = (left.value(), right.value());
    let is_same = |key: &str| one["metadata"][key] == other["metadata"][key];
    let is_ours = |(key, _): &(&str, &str)| !annotation::OF_SCHEDULER.contains(key);
    let count = |object: &Object| object.annotations().filter(is_ours).count();
    one["spec"] == other["spec"]
        && is_same("labels")
        && is_same("ownerReferences")
        && count(left) == count(right)
        && left.annotations().filter(is_ours).all(|(key, text)| right.annotation(key) == Some(text))
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::{Value, json};

    use super::page::SHRINK;
    use super::*;

    fn group(annotations: &Value) -> Object {
        let metadata = json!({"name": "g", "resourceVersion": annotations.to_string(), "annotations": annotations});
        Object::new(json!({"metadata": metadata, "spec": {"minMember": 1}, "status": annotations}))
    }

    /// Each note has all pods of the group looked at otherwise, at each start and eviction.
    #[test]
    fn notes_of_the_scheduler_are_no_news() {
        let (own, stamp) = (json!({"a": "1"}), "kai.scheduler/last-start-timestamp");
        let noted =
            json!({"a": "1", stamp: "2020-01-01T00:00:00Z", "kai.scheduler/explanation": "{}"});
        assert!(is_same_but_status(&group(&own), &group(&noted)));
        assert!(is_same_but_status(&group(&Value::Null), &group(&json!({stamp: "x"}))));
        for other in [json!({"a": "2"}), json!({}), json!({"a": "1", "b": "2"})] {
            assert!(!is_same_but_status(&group(&own), &group(&other)), "{other}");
        }
        let spec = json!({"metadata": {"annotations": own}, "spec": {"minMember": 2}});
        assert!(!is_same_but_status(&group(&own), &Object::new(spec)));
    }

    /// A group without its owner outlives the workload.
    #[test]
    fn another_owner_of_a_group_is_news() {
        let owned = |owners: &Value| {
            let metadata = json!({"name": "g", "ownerReferences": owners});
            Object::new(json!({"metadata": metadata, "spec": {"minMember": 1}}))
        };
        let owner = owned(&json!([{"kind": "Job", "name": "j"}]));
        assert!(is_same_but_status(&owner, &owner));
        for other in [Value::Null, json!([]), json!([{"kind": "Job", "name": "k"}])] {
            assert!(!is_same_but_status(&owner, &owned(&other)), "{other}");
        }
    }

    /// Whoever lists the groups of a queue by its label would miss one that lost it.
    #[test]
    fn labels_that_a_group_lost_are_news() {
        let labelled = |labels: &Value| {
            let metadata = json!({"name": "g", "labels": labels});
            Object::new(json!({"metadata": metadata, "spec": {"minMember": 1}}))
        };
        let group = labelled(&json!({"kai.scheduler/queue": "q"}));
        assert!(is_same_but_status(&group, &group));
        for other in [Value::Null, json!({}), json!({"kai.scheduler/queue": "r"})] {
            assert!(!is_same_but_status(&group, &labelled(&other)), "{other}");
        }
    }

    /// Fifty of the largest objects that a tenant may write would fill the memory at each start. What was listed before them is
    /// not listed again.
    #[tokio::test]
    async fn a_page_that_is_too_large_is_asked_for_in_smaller_ones() {
        let server = tower::service_fn(|request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let limit = query.split('&').find_map(|part| part.strip_prefix("limit="));
            let limit = limit.unwrap_or_default();
            let list = json!({"apiVersion": "v1", "kind": "PodList",
                "metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": limit}}]});
            let is_large = limit == PAGE.to_string();
            let text = if is_large { " ".repeat(BYTES_MAX + 1) } else { list.to_string() };
            std::future::ready(Response::builder().status(200).body(Body::from(text.into_bytes())))
        });
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let client = Client::new(server, "default");
        let following = follow::<AnyShape>(client, Selection::of("v1", "Pod"), |change| {
            let text = match change {
                Change::ListStart => "start".to_owned(),
                Change::Set(object) => object.name().to_owned(),
                Change::Gone(_) | Change::ListEnd => return,
            };
            tell.send(text).expect("it is waited for");
        });
        let both = async { [told.recv().await, told.recv().await] };
        let both = tokio::select! {
            () = following => [None, None],
            both = both => both,
        };
        assert_eq!(both, ["start".to_owned(), (PAGE / SHRINK).to_string()].map(Some));
    }
}
