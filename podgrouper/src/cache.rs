//! Owners and other objects that rules read: read once, then kept right by metadata watches.
//!
//! A kind is watched from the first read of one of its objects on, by the resource version of that
//! read, so that nothing is listed. Where a watch is not allowed an object is read again after
//! [`UNWATCHED_AGE_MAX`]. Errors are not kept, but for questions about kinds, for a second (`failed`), and for Forbidden: rights
//! do not come by the second. Where a kind could be read before, Forbidden is an error for some minutes (`kind`), as rights that
//! are withdrawn for a moment would group pods for good without their owner. Of objects that were read whole some megabytes are
//! kept (`held`), of all others their metadata.
//!
//! An object is what its user wrote, and as a tree up to forty times as large. Its values are counted before there is one: of
//! more than [`OWNER_VALUES_MAX`] none is made, and of many one where whoever reads it has a [`Place`].

mod ask;
mod epoch;
mod failed;
mod held;
mod kind;
mod object;
mod place;
mod slot;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use kai_daemon::process::causes;
use kube::Client;
use kube::api::{ListParams, WatchEvent};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use kube::error::DiscoveryError;
use tokio::sync::{OnceCell, mpsc::UnboundedSender};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

pub(crate) use crate::facts::Part;
use crate::object::{Gvk, Object};
use crate::slim::{AnyShape, OWNER_VALUES_MAX, Slim};
use epoch::Epoch;
use failed::Failed;
use held::{Held, bytes_of};
use kind::Kind;
pub(crate) use object::to_object;
use object::{digest, is_segment, kept};
pub(crate) use place::Place;
use place::Places;
use slot::{Entry, Known, Slot, Slots};

/// Time in which an object is read, or is tried again later: a worker waits for it.
const READ_MAX: Duration = Duration::from_secs(30);
const TOO_LONG: &str = "no answer within 30 s";
/// Age that a read of an object may reach whose kind cannot be watched.
const UNWATCHED_AGE_MAX: Duration = Duration::from_secs(30);
/// Time after which an object whose status the rule reads may be read again.
const STATUS_AGE_MIN: Duration = Duration::from_secs(1);
/// Wait before a broken watch is started again.
const WATCH_WAIT: Duration = Duration::from_secs(1);
/// Wait before a watch that was refused is tried again.
const REFUSED_WAIT: Duration = Duration::from_mins(1);

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectKey {
    pub(crate) gvk: Gvk,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Outcome of a read.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    Object(Arc<Object>),
    Absent,
    Forbidden(String),
    /// It has more values than are read of any; says so to its user.
    TooLarge(String),
}

/// Answer to a read, before there is a tree of it.
enum Fetched {
    Object(Box<Slim<AnyShape>>),
    Absent,
    Forbidden(String),
}

/// A kind, or the question of it: all who need it wait for one answer.
type Asked = Arc<OnceCell<Arc<Kind>>>;

/// The cache; cheap to clone.
#[derive(Clone)]
pub(crate) struct Cache {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    stop: CancellationToken,
    kinds: Mutex<HashMap<Gvk, Asked>>,
    failed: Mutex<Failed>,
    slots: Mutex<Slots>,
    held: Mutex<Held>,
    places: Places,
    changed: UnboundedSender<ObjectKey>,
}

/// Kinds that are too many to watch for the few that are read.
fn is_unwatched(gvk: &Gvk) -> bool {
    gvk.group.is_empty() && matches!(gvk.kind.as_str(), "Pod" | "ConfigMap")
}

/// Kinds whose rule reads the status.
fn has_status_rule(gvk: &Gvk) -> bool {
    match gvk.kind.as_str() {
        "RayJob" | "RayService" => gvk.group == "ray.io",
        // It tells which devices it was given.
        "ResourceClaim" => gvk.group == "resource.k8s.io",
        _ => false,
    }
}

impl Cache {
    /// An empty cache; keys of objects that changed are sent to `changed`.
    pub(crate) fn new(
        client: Client,
        stop: CancellationToken,
        changed: UnboundedSender<ObjectKey>,
    ) -> Self {
        let (kinds, failed, slots, held, places) = Default::default();
        let shared = Shared { client, stop, kinds, failed, slots, held, places, changed };
        Self { shared: Arc::new(shared) }
    }

    /// Reads an object, from memory where that is still right. Its name may be anything that a user wrote: what no object can
    /// be called is asked of nobody.
    pub(crate) async fn read(&self, key: &ObjectKey, part: Part) -> Result<Found, kube::Error> {
        self.read_in(key, part, &mut Place::default()).await
    }

    /// Reads an object that is kept for longer than the read, with a place for that where it is large: one is enough for all
    /// that somebody reads.
    pub(crate) async fn read_in(
        &self,
        key: &ObjectKey,
        part: Part,
        place: &mut Place,
    ) -> Result<Found, kube::Error> {
        if !is_segment(&key.name) || !(key.namespace.is_empty() || is_segment(&key.namespace)) {
            return Ok(Found::Absent);
        }
        let kind = self.kind(&key.gvk).await?;
        loop {
            let slot = self.slot(key);
            let mut entry = slot.lock().await;
            if let Some(found) = Self::known(key, &kind, &entry, part) {
                return Ok(found);
            }
            let epoch = kind.epoch.now();
            let fetched = timeout(READ_MAX, self.fetch(key, &kind, part)).await;
            let fetched = fetched.unwrap_or_else(|_| Err(kube::Error::Service(TOO_LONG.into())))?;
            let found = match fetched {
                Fetched::Absent => Found::Absent,
                Fetched::Forbidden(why) => Found::Forbidden(why),
                Fetched::Object(slim) if slim.is_cut() => Found::TooLarge(too_large(key, part)),
                Fetched::Object(slim) if self.shared.places.admit(slim.values(), place) => {
                    Found::Object(Arc::new(kept(&key.gvk, *slim)))
                }
                Fetched::Object(slim) => {
                    // Who has a place may wait for this object: nobody waits for a place with something that others need.
                    drop((entry, slim));
                    self.shared.places.enter(place).await;
                    continue;
                }
            };
            if let Found::Object(object) = &found {
                self.watch(&key.gvk, &kind, object.resource_version());
            }
            // A watch that this read started knows everything after it.
            let epoch = if epoch == 0 { kind.epoch.now() } else { epoch };
            let known = Known { found: found.clone(), at: Instant::now(), epoch, is_stale: false };
            entry.learn(part, known);
            if part != Part::Metadata {
                self.hold(key, &found);
            }
            return Ok(found);
        }
    }

    /// Notes that an object is kept whole, and lets others go for it.
    fn hold(&self, key: &ObjectKey, found: &Found) {
        let Found::Object(object) = found else { return };
        let bytes = bytes_of(object.value());
        let gone = {
            let mut held = self.shared.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.add(key, bytes)
        };
        let slots = self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner);
        for slot in gone.iter().filter_map(|key| slots.rows.get(key)) {
            // One that is being read just now stays.
            if let Ok(mut entry) = slot.try_lock() {
                entry.let_go();
            }
        }
    }

    /// Tells whether the right to read an object is expected back, as pods were grouped by its likes before. It is read anew
    /// then.
    pub(crate) async fn expects(&self, key: &ObjectKey) -> Result<bool, kube::Error> {
        let kind = self.kind(&key.gvk).await?;
        kind.was_readable(&key.namespace);
        let is_withdrawn = kind.is_withdrawn(&key.namespace);
        if is_withdrawn {
            self.forget(key).await;
        }
        Ok(is_withdrawn)
    }

    /// Drops what is known of an object.
    pub(crate) async fn forget(&self, key: &ObjectKey) {
        *self.slot(key).lock().await = Entry::default();
    }

    /// The objects of a list, read now.
    pub(crate) async fn list(
        &self,
        gvk: &Gvk,
        namespace: &str,
        selector: &str,
    ) -> Result<Vec<Arc<Object>>, kube::Error> {
        let kind = self.kind(gvk).await?;
        let api = ask::api(&self.shared.client, &kind, namespace);
        let list = api.list(&ListParams::default().labels(selector)).await?;
        Ok(list.items.into_iter().map(|item| Arc::new(to_object(gvk, item))).collect())
    }

    /// Gives an object from memory alone, where that is still right.
    pub(crate) async fn remembered(&self, key: &ObjectKey, part: Part) -> Option<Found> {
        let kind = {
            let kinds = self.shared.kinds.lock().unwrap_or_else(PoisonError::into_inner);
            kinds.get(&key.gvk).and_then(|asked| asked.get().cloned())
        };
        let slot = self.slot(key);
        let entry = slot.lock().await;
        Self::known(key, &*kind?, &entry, part)
    }

    fn known(key: &ObjectKey, kind: &Kind, entry: &Entry, part: Part) -> Option<Found> {
        let candidates = match part {
            Part::Spec | Part::Whole => [entry.more(part), None],
            Part::Metadata => [entry.metadata.as_ref(), entry.whole.as_ref()],
        };
        let right = |known: &&Known| Self::is_right(key, kind, known);
        candidates.into_iter().flatten().find(right).map(|known| known.found.clone())
    }

    fn is_right(key: &ObjectKey, kind: &Kind, known: &Known) -> bool {
        let age = known.at.elapsed();
        if let Found::Forbidden(_) = known.found {
            return age < UNWATCHED_AGE_MAX;
        }
        let epoch = kind.epoch.now();
        if epoch == 0 || is_unwatched(&key.gvk) {
            return age < UNWATCHED_AGE_MAX;
        }
        let is_current = known.epoch == epoch && !known.is_stale;
        is_current || (has_status_rule(&key.gvk) && known.epoch == epoch && age < STATUS_AGE_MIN)
    }

    fn slot(&self, key: &ObjectKey) -> Slot {
        let mut slots = self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.of(key)
    }

    async fn kind(&self, gvk: &Gvk) -> Result<Arc<Kind>, kube::Error> {
        let wanted = GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind);
        if !is_segment(&gvk.version) || !(gvk.group.is_empty() || is_segment(&gvk.group)) {
            let unserved = DiscoveryError::MissingKind(format!("{wanted:?}"));
            return Err(kube::Error::Discovery(unserved));
        }
        let kinds = || self.shared.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = || self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = kinds().entry(gvk.clone()).or_default().clone();
        let ask = async || {
            // Whoever waited for this turn has the failure of the one before, so that none is kept beside an answer.
            if let Some(error) = failed().find(gvk) {
                return Err(error);
            }
            let served = timeout(READ_MAX, pinned_kind(&self.shared.client, &wanted)).await;
            let served = served.unwrap_or_else(|_| Err(kube::Error::Service(TOO_LONG.into())));
            let (resource, capabilities) = served.inspect_err(|error| failed().keep(gvk, error))?;
            Ok(Arc::new(Kind {
                resource,
                is_namespaced: matches!(capabilities.scope, Scope::Namespaced),
                epoch: Epoch::default(),
                readable: Mutex::default(),
            }))
        };
        let kind = asked.get_or_try_init(ask).await.cloned();
        if kind.is_err() {
            // Users name kinds that nobody serves: such a question is not kept for longer than somebody waits for its answer.
            kinds().retain(|of, asked| {
                asked.initialized() || Arc::strong_count(asked) > 1 + usize::from(of == gvk)
            });
        }
        kind
    }

    async fn fetch(
        &self,
        key: &ObjectKey,
        kind: &Kind,
        part: Part,
    ) -> Result<Fetched, kube::Error> {
        match ask::object(&self.shared.client, kind, key, part).await {
            Ok(object) => {
                kind.could_read(&key.namespace);
                Ok(Fetched::Object(Box::new(object)))
            }
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Fetched::Absent),
            Err(kube::Error::Api(status))
                if status.code == 403 && !kind.is_withdrawn(&key.namespace) =>
            {
                Ok(Fetched::Forbidden(status.message.clone()))
            }
            Err(error) => Err(error),
        }
    }

    /// Starts the watch of a kind, once.
    fn watch(&self, gvk: &Gvk, kind: &Arc<Kind>, resource_version: &str) {
        if is_unwatched(gvk) || !kind.epoch.begin() {
            return;
        }
        let (cache, gvk, kind) = (self.clone(), gvk.clone(), kind.clone());
        let start = resource_version.to_owned();
        tokio::spawn(async move {
            let stop = cache.shared.stop.clone();
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = cache.follow(&gvk, &kind, start) => {}
            }
        });
    }

    async fn follow(&self, gvk: &Gvk, kind: &Kind, mut version: String) {
        loop {
            let result = self.follow_once(gvk, kind, &mut version).await;
            let wait = match result {
                // The server ends every watch after some minutes; the next goes on where it ended.
                Ok(()) => continue,
                Err(kube::Error::Api(status)) if status.code == 403 => {
                    kind.epoch.end();
                    tracing::info!(kind = %gvk, "not allowed to watch; reading again instead");
                    REFUSED_WAIT
                }
                Err(error) => {
                    tracing::debug!(kind = %gvk, error = causes(&error), "watch broke off");
                    WATCH_WAIT
                }
            };
            tokio::time::sleep(wait).await;
            match ask::version(&self.shared.client, kind).await {
                Ok(now) => {
                    version = now;
                    kind.epoch.renew();
                    self.announce_all(gvk);
                }
                Err(error) => {
                    tracing::debug!(kind = %gvk, error = causes(&error), "failed to restart a watch");
                }
            }
        }
    }

    async fn follow_once(
        &self,
        gvk: &Gvk,
        kind: &Kind,
        version: &mut String,
    ) -> Result<(), kube::Error> {
        let mut events = ask::events(&self.shared.client, kind, version).await?;
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(found) | WatchEvent::Modified(found) => {
                    let object = kept(gvk, found);
                    advance(version, &object);
                    self.changed(gvk, &object).await;
                }
                WatchEvent::Deleted(found) => {
                    let object = kept(gvk, found);
                    advance(version, &object);
                    self.gone(gvk, &object).await;
                }
                WatchEvent::Bookmark(mark) => *version = mark.metadata.resource_version,
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            }
        }
        Ok(())
    }

    fn known_slot(&self, gvk: &Gvk, object: &Object) -> Option<(ObjectKey, Slot)> {
        let key = ObjectKey {
            gvk: gvk.clone(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        };
        let slots = self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.rows.get(&key)?.clone();
        Some((key, slot))
    }

    async fn changed(&self, gvk: &Gvk, object: &Object) {
        let Some((key, slot)) = self.known_slot(gvk, object) else { return };
        let mut entry = slot.lock().await;
        // Of a node that was read whole once, its metadata does not tell what is news.
        let mut is_news = gvk.is_node() && entry.is_let_go();
        for (known, is_more) in entry.parts() {
            // How much a node offers, only its version tells.
            let has_status = has_status_rule(gvk) || (is_more && gvk.is_node());
            let Found::Object(stored) = &known.found else {
                known.is_stale = true;
                // Its user may have made it smaller.
                is_news |= matches!(known.found, Found::TooLarge(_));
                continue;
            };
            let is_same = stored.resource_version() == object.resource_version()
                || (!has_status && digest(stored) == digest(object));
            is_news |= !is_same;
            known.is_stale |= !is_same;
        }
        drop(entry);
        if is_news {
            self.announce(key);
        }
    }

    async fn gone(&self, gvk: &Gvk, object: &Object) {
        let Some((key, slot)) = self.known_slot(gvk, object) else { return };
        *slot.lock().await = Entry::default();
        {
            let mut slots = self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.remove(&key, &slot);
        }
        // Its pods may stay for long, and have nothing of it any more.
        if gvk.is_node() {
            self.announce(key);
        }
    }

    fn announce(&self, key: ObjectKey) {
        // Nobody listens any more when the process stops.
        let _ = self.shared.changed.send(key);
    }

    fn announce_all(&self, gvk: &Gvk) {
        let mut keys: Vec<ObjectKey> = {
            let slots = self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.rows.keys().filter(|key| key.gvk == *gvk).cloned().collect()
        };
        // The order of a hash table differs from run to run.
        keys.sort_unstable();
        for key in keys {
            self.announce(key);
        }
    }
}

/// Says to the user of an object why it is not read.
fn too_large(key: &ObjectKey, part: Part) -> String {
    let ObjectKey { gvk, namespace, name } = key;
    let place = match part {
        Part::Metadata => "its metadata has",
        Part::Spec => "its spec has, beside the containers of its pods,",
        Part::Whole => "it has, beside the containers of its pods,",
    };
    format!(
        "{} {namespace}/{name} is too large to be read: {place} more than {OWNER_VALUES_MAX} values (texts, numbers, lists and \
        tables); leave out what is empty or repeats, or split the workload",
        gvk.kind
    )
}

fn advance(version: &mut String, object: &Object) {
    let now = object.resource_version();
    if !now.is_empty() {
        now.clone_into(version);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::{Request, Response};
    use kube::client::Body;
    use kube::core::ApiResource;
    use serde_json::json;
    use tokio::time::advance;

    use super::*;

    /// A failure that is kept beside the answer to the next question would hide it.
    #[tokio::test(start_paused = true)]
    async fn who_waits_for_an_answer_has_the_failure_of_the_first() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let server = tower::service_fn(move |_: Request<Body>| {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let failure =
                json!({"kind": "Status", "status": "Failure", "message": "no", "code": 500});
            let jobs = json!({"name": "jobs", "singularName": "", "namespaced": true, "kind": "Job", "verbs": ["get"]});
            let kinds =
                json!({"kind": "APIResourceList", "groupVersion": "batch/v1", "resources": [jobs]});
            let (code, answer) = if is_first { (500_u16, failure) } else { (200, kinds) };
            async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Response::builder().status(code).body(Body::from(answer.to_string().into_bytes()))
            }
        });
        let (changed, _) = tokio::sync::mpsc::unbounded_channel();
        let client = Client::new(server, "default");
        let cache = Cache::new(client, CancellationToken::new(), changed);
        let gvk = Gvk::new("batch/v1", "Job");
        let (one, other) = tokio::join!(cache.kind(&gvk), cache.kind(&gvk));
        assert!(one.is_err() && other.is_err(), "{one:?} {other:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        advance(Duration::from_secs(1)).await;
        for _ in 0..2 {
            cache.kind(&gvk).await.expect("it is served");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2, "what is known is not asked for");
    }

    /// Nothing else tells of it before its pods are tried again.
    #[tokio::test]
    async fn a_change_of_what_was_too_large_is_news() {
        let server = tower::service_fn(|_: Request<Body>| async move {
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        });
        let (changed, mut changes) = tokio::sync::mpsc::unbounded_channel();
        let cache = Cache::new(Client::new(server, "default"), CancellationToken::new(), changed);
        let gvk = Gvk::new("ray.io/v1", "RayCluster");
        let key = ObjectKey { gvk, namespace: "n".to_owned(), name: "c".to_owned() };
        let object = Object::new(json!({"metadata": {"namespace": "n", "name": "c"}}));
        for (found, is_news) in [(Found::TooLarge(String::new()), true), (Found::Absent, false)] {
            let known = Known { found, at: Instant::now(), epoch: 1, is_stale: false };
            cache.slot(&key).lock().await.learn(Part::Whole, known);
            cache.changed(&key.gvk, &object).await;
            assert_eq!(changes.try_recv().is_ok(), is_news);
        }
    }

    /// Labels of nodes are read far more often than what they offer, of which nothing but their version tells.
    #[tokio::test]
    async fn another_version_of_a_node_is_news_for_who_read_what_it_offers() {
        let server = tower::service_fn(|_: Request<Body>| async move {
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        });
        let (changed, mut changes) = tokio::sync::mpsc::unbounded_channel();
        let cache = Cache::new(Client::new(server, "default"), CancellationToken::new(), changed);
        let gvk = Gvk::new("v1", "Node");
        let node = |version: &str| {
            Object::new(json!({"metadata": {"name": "x", "resourceVersion": version}}))
        };
        for (part, goes, is_news) in
            [(Part::Metadata, true, false), (Part::Whole, false, true), (Part::Whole, true, true)]
        {
            let key =
                ObjectKey { gvk: gvk.clone(), namespace: String::new(), name: "x".to_owned() };
            let found = Found::Object(Arc::new(node("1")));
            let known = Known { found, at: Instant::now(), epoch: 1, is_stale: false };
            let slot = cache.slot(&key);
            slot.lock().await.learn(part, known);
            if goes {
                // Others were read meanwhile, and there is no room for it.
                slot.lock().await.let_go();
            }
            cache.changed(&key.gvk, &node("2")).await;
            assert_eq!(changes.try_recv().is_ok(), is_news, "{part:?}");
        }
    }

    /// Sums say for ever what its pods had of it.
    #[tokio::test]
    async fn a_node_that_is_gone_is_news() {
        let server = tower::service_fn(|_: Request<Body>| async move {
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        });
        let (changed, mut changes) = tokio::sync::mpsc::unbounded_channel();
        let cache = Cache::new(Client::new(server, "default"), CancellationToken::new(), changed);
        let object = Object::new(json!({"metadata": {"name": "x"}}));
        let kinds = [(Gvk::new("v1", "Node"), true), (Gvk::new("batch/v1", "Job"), false)];
        for (gvk, is_news) in kinds {
            let key = ObjectKey { gvk, namespace: String::new(), name: "x".to_owned() };
            drop(cache.slot(&key));
            cache.gone(&key.gvk, &object).await;
            assert_eq!(changes.try_recv().is_ok(), is_news, "{}", key.gvk);
        }
    }

    /// No watch tells of what changes between the read and the next watch.
    #[tokio::test]
    async fn what_is_read_while_a_watch_breaks_off_is_read_again() {
        let followed = Arc::new(OnceCell::<Arc<Kind>>::new());
        let broken = Arc::clone(&followed);
        let server = tower::service_fn(move |_: Request<Body>| {
            let answer = if let Some(kind) = broken.get() {
                kind.epoch.renew();
                let metadata = json!({"namespace": "n", "name": "j", "resourceVersion": "1"});
                json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata})
            } else {
                let jobs = json!({"name": "jobs", "singularName": "", "namespaced": true, "kind": "Job", "verbs": ["get"]});
                json!({"kind": "APIResourceList", "groupVersion": "batch/v1", "resources": [jobs]})
            };
            let answer = Body::from(answer.to_string().into_bytes());
            std::future::ready(Ok::<_, std::convert::Infallible>(Response::new(answer)))
        });
        let (changed, _) = tokio::sync::mpsc::unbounded_channel();
        let cache = Cache::new(Client::new(server, "default"), CancellationToken::new(), changed);
        let gvk = Gvk::new("batch/v1", "Job");
        let kind = cache.kind(&gvk).await.expect("it is served");
        kind.epoch.begin();
        followed.set(kind).expect("it is set once");
        let key = ObjectKey { gvk, namespace: "n".to_owned(), name: "j".to_owned() };
        let found = cache.read(&key, Part::Metadata).await.expect("it is there");
        assert!(matches!(found, Found::Object(_)), "{found:?}");
        let remembered = cache.remembered(&key, Part::Metadata).await;
        assert!(remembered.is_none(), "{remembered:?}");
    }

    /// Rights come later than workloads, and nothing tells of them.
    #[tokio::test(start_paused = true)]
    async fn what_may_not_be_read_is_asked_for_again_after_a_while() {
        let gvk = Gvk::new("batch/v1", "Job");
        let kind = Kind {
            resource: ApiResource::from_gvk(&GroupVersionKind::gvk("batch", "v1", "Job")),
            is_namespaced: true,
            epoch: Epoch::default(),
            readable: Mutex::default(),
        };
        kind.epoch.begin();
        let key = ObjectKey { gvk, namespace: "n".to_owned(), name: "j".to_owned() };
        let found = Found::Forbidden("no".to_owned());
        let known = Known { found, at: Instant::now(), epoch: kind.epoch.now(), is_stale: false };
        assert!(Cache::is_right(&key, &kind, &known), "it was read just now");
        advance(UNWATCHED_AGE_MAX).await;
        assert!(!Cache::is_right(&key, &kind, &known));
    }
}
