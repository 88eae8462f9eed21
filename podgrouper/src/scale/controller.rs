//! Two watches in, writes out: the thin part of scaling pods.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::Timestamp;
use kai_api::names::{component, env};
use kai_daemon::process::causes;
use kai_daemon::{backoff, clock};
use kube::Client;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, Preconditions,
};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::manifest::{scaling_pod, unschedulable};
use super::plan::{Memory, Plan, Step, View, plan};
use super::queued::{QueuedShape, is_queued};
use super::settings::Settings;
use super::standing::Standing;
use super::waiting::{Template, Waiting, WaitingShape};
use crate::cache::to_object;
use crate::follow::{Change, Listing, Selection, follow};
use crate::object::Gvk;
use crate::store::Key;

/// Changes of so long go into one round; what this process wrote has come back by then.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Wait after a round in which a write failed, doubled up to the longest.
const RETRY_MIN: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_mins(1);
/// Bounds the pause between two looks at what there is to do where something is waited for.
const LOOK_MAX: Duration = Duration::from_mins(10);
/// So often it is tried to take away what a namespace has that is no longer theirs; the next one waits for it.
const LEAVE_TRIES: u32 = 5;
/// Failures that are remembered: their texts have names of pods, which users make.
const TOLD_MAX: usize = 1_000;
/// A call has so long to be answered: what comes after it waits. Whether it was done the watch tells, and the next round
/// looks again.
const ANSWER_MAX: Duration = Duration::from_secs(10);
const TOO_LONG: &str = "no answer within 10 s";
/// Writes at the same time.
const WRITES: usize = 10;
/// The image where nobody tells which one this process runs in, as in a sandbox.
const IMAGE: &str = concat!("ghcr.io/kubectl-kai/kai-scheduler:", env!("CARGO_PKG_VERSION"));

/// Objects as the watches tell them.
#[derive(Debug, Default)]
struct Seen {
    rows: Mutex<Rows>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Rows {
    waiting: BTreeMap<Key, Waiting>,
    standing: BTreeMap<String, Standing>,
    /// `PodGroup`s that wait for their queue.
    queued: BTreeSet<Key>,
    /// True for each of the three lists that was complete once.
    is_listed: [bool; 3],
}

impl Seen {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes and deletes scaling pods under one set of settings.
pub(super) struct Controller {
    client: Client,
    scheduler: String,
    settings: Settings,
    /// Failures already told, so that a missing right is said once.
    told: Mutex<HashSet<String>>,
}

impl Controller {
    pub(super) fn new(client: Client, scheduler: &str, settings: Settings) -> Self {
        Self { client, scheduler: scheduler.to_owned(), settings, told: Mutex::default() }
    }

    /// Works until it is dropped. Where there are to be none, those that were left behind go, and nothing is watched.
    pub(super) async fn run(&self) {
        if !self.settings.is_on {
            self.clear_up(u32::MAX).await;
            return std::future::pending().await;
        }
        tracing::info!(namespace = %self.settings.namespace, "making scaling pods for cluster autoscalers");
        let seen = Seen::default();
        let image = self.own_image().await;
        tokio::join!(
            self.follow_waiting(&seen),
            self.follow_standing(&seen),
            self.follow_queued(&seen),
            self.work(&seen, &image)
        );
    }

    /// Takes away what the next settings do not see.
    pub(super) async fn leave(&self, next: &Settings) {
        if self.settings.is_on && self.settings.namespace != next.namespace {
            self.clear_up(LEAVE_TRIES).await;
        }
    }

    /// Pods without a node that have not ended: few, and the API server picks them.
    async fn follow_waiting(&self, seen: &Seen) {
        let fields =
            format!("spec.schedulerName={},spec.nodeName=,status.phase=Pending", self.scheduler);
        let selection = Selection { fields, ..Selection::of("v1", "Pod") };
        let mut listing = Listing::new();
        follow::<WaitingShape>(self.client.clone(), selection, |change| {
            let mut rows = seen.rows();
            match change {
                Change::ListStart => listing.start(),
                Change::Set(object) => {
                    let key = Key::new(object.namespace(), object.name());
                    listing.see(key.clone());
                    let news = Waiting::of(&object);
                    if rows.waiting.get(&key) == news.as_ref() {
                        return;
                    }
                    match news {
                        Some(pod) => rows.waiting.insert(key, pod),
                        None => rows.waiting.remove(&key),
                    };
                }
                Change::Gone(object) => {
                    let key = Key::new(object.namespace(), object.name());
                    if rows.waiting.remove(&key).is_none() {
                        return;
                    }
                }
                Change::ListEnd => {
                    for key in listing.end(rows.waiting.keys().cloned().collect()) {
                        rows.waiting.remove(&key);
                    }
                    rows.is_listed[0] = true;
                }
            }
            seen.wake.notify_one();
        })
        .await;
    }

    async fn follow_standing(&self, seen: &Seen) {
        let namespace = Some(self.settings.namespace.clone());
        let selection = Selection { namespace, ..Selection::of("v1", "Pod") };
        let mut listing = Listing::new();
        follow::<WaitingShape>(self.client.clone(), selection, |change| {
            let mut rows = seen.rows();
            match change {
                Change::ListStart => listing.start(),
                Change::Set(object) => {
                    listing.see(object.name().to_owned());
                    rows.standing.insert(object.name().to_owned(), Standing::of(&object));
                }
                Change::Gone(object) => {
                    rows.standing.remove(object.name());
                }
                Change::ListEnd => {
                    for name in listing.end(rows.standing.keys().cloned().collect()) {
                        rows.standing.remove(&name);
                    }
                    rows.is_listed[1] = true;
                }
            }
            seen.wake.notify_one();
        })
        .await;
    }

    async fn follow_queued(&self, seen: &Seen) {
        let selection = Selection::of("scheduling.run.ai/v2alpha2", "PodGroup");
        let mut listing = Listing::new();
        follow::<QueuedShape>(self.client.clone(), selection, |change| {
            let mut rows = seen.rows();
            let is_news = match change {
                Change::ListStart => return listing.start(),
                Change::Set(group) => {
                    let key = Key::new(group.namespace(), group.name());
                    if is_queued(&group) {
                        listing.see(key.clone());
                        rows.queued.insert(key)
                    } else {
                        rows.queued.remove(&key)
                    }
                }
                Change::Gone(group) => {
                    rows.queued.remove(&Key::new(group.namespace(), group.name()))
                }
                Change::ListEnd => {
                    for key in listing.end(rows.queued.iter().cloned().collect()) {
                        rows.queued.remove(&key);
                    }
                    rows.is_listed[2] = true;
                    true
                }
            };
            if is_news {
                seen.wake.notify_one();
            }
        })
        .await;
    }

    async fn work(&self, seen: &Seen, image: &str) {
        let mut memory = Memory::default();
        let mut retry = RETRY_MIN;
        let mut wake = None;
        loop {
            tokio::select! {
                biased;
                () = seen.wake.notified() => {}
                () = sleep_until(wake) => {}
            }
            tokio::time::sleep(DEBOUNCE).await;
            if seen.rows().is_listed != [true; 3] {
                continue;
            }
            let now = clock::now();
            let Plan { steps, wake: next } = self.plan(seen, &mut memory, now);
            // From here on by a clock that nobody sets back.
            wake = next.map(|at| Instant::now() + left(at, now));
            let all = stream::iter(steps).map(|step| self.carry_out(seen, step, image));
            let done: Vec<bool> = all.buffer_unordered(WRITES).collect().await;
            if done.contains(&false) {
                wake = wake.into_iter().chain([Instant::now() + retry]).min();
                retry = retry.saturating_mul(2).min(RETRY_MAX);
            } else {
                retry = RETRY_MIN;
            }
        }
    }

    fn plan(&self, seen: &Seen, memory: &mut Memory, now: Timestamp) -> Plan {
        let rows = seen.rows();
        let memory_share = self.settings.memory_share;
        let Rows { waiting, standing, queued, .. } = &*rows;
        plan(&View { waiting, standing, queued, memory_share, now }, memory)
    }

    /// Tells whether it went through, or need not any more.
    async fn carry_out(&self, seen: &Seen, step: Step, image: &str) -> bool {
        let is_create = matches!(step, Step::Create { .. });
        let (what, written) = match step {
            Step::Delete { name, uid, why } => {
                tracing::info!(pod = %name, "deleting a scaling pod: {why}");
                (format!("delete scaling pod {name}"), self.delete(&name, uid).await)
            }
            Step::Create { name, of } => {
                let class = seen.rows().waiting.get(&of).map(|pod| pod.class.clone());
                let Some(class) = class else { return true };
                (format!("create scaling pod {name}"), self.create(&name, &of, &class, image).await)
            }
            Step::Mark { name } => {
                let version =
                    seen.rows().standing.get(&name).map(
                        |scaling| json!({"uid": scaling.uid, "resourceVersion": scaling.version}),
                    );
                let Some(metadata) = version else { return true };
                let body = json!({"metadata": metadata, "status": unschedulable(clock::now())});
                let patch = Patch::Strategic(&body);
                let (pods, params) = (self.pods(), PatchParams::default());
                let written = answer(pods.patch_status(&name, &params, &patch)).await;
                (format!("mark scaling pod {name}"), written.map(|_| ()))
            }
        };
        match written {
            Ok(()) => true,
            // Made by another instance, gone, or changed meanwhile: the watch tells, and the next round looks again.
            Err(kube::Error::Api(status)) if status.code == 409 => true,
            Err(kube::Error::Api(status)) if status.code == 404 && !is_create => true,
            Err(error) => {
                self.tell(&format!("failed to {what}: {}", causes(&error)));
                false
            }
        }
    }

    fn pods(&self) -> Api<DynamicObject> {
        pods(&self.client, &self.settings.namespace)
    }

    /// Makes a scaling pod; none where its pod is gone by now, or may go to other nodes: the watch tells.
    async fn create(
        &self,
        name: &str,
        of: &Key,
        class: &str,
        image: &str,
    ) -> Result<(), kube::Error> {
        let waiting = pods(&self.client, &of.namespace);
        let Some(pod) = answer(waiting.get_opt(&of.name)).await? else { return Ok(()) };
        let template = Template::of(&to_object(&Gvk::new("v1", "Pod"), pod));
        let Some(template) = template.filter(|template| template.class == class) else {
            return Ok(());
        };
        tracing::info!(pod = %name, for_pod = %of, "making a scaling pod");
        let pod = scaling_pod(name, of, &template, &self.settings, image);
        let pod: DynamicObject = serde_json::from_value(pod).map_err(kube::Error::SerdeError)?;
        let (pods, params) = (self.pods(), PostParams::default());
        answer(pods.create(&params, &pod)).await.map(|_| ())
    }

    async fn delete(&self, name: &str, uid: String) -> Result<(), kube::Error> {
        let preconditions = Some(Preconditions { uid: Some(uid), resource_version: None });
        let params = DeleteParams { preconditions, ..DeleteParams::default() };
        let pods = self.pods();
        answer(pods.delete(name, &params)).await.map(|_| ())
    }

    /// Deletes all scaling pods, and tries so often what failed: nobody looks for them later.
    async fn clear_up(&self, tries: u32) {
        let mut pause = RETRY_MIN;
        for _ in 1..tries {
            if self.clear().await {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(RETRY_MAX);
        }
        self.clear().await;
    }

    /// Deletes all scaling pods, as far as they may be seen; tells whether none is left of them.
    async fn clear(&self) -> bool {
        let (pods, params) = (self.pods(), ListParams::default());
        let listed = match answer(pods.list(&params)).await {
            Ok(listed) => listed,
            Err(error) => {
                tracing::debug!(
                    error = causes(&error),
                    "failed to look for scaling pods that are left"
                );
                return is_forbidden(&error);
            }
        };
        let gvk = Gvk::new("v1", "Pod");
        let mut is_done = true;
        for pod in listed.items {
            let pod = to_object(&gvk, pod);
            let scaling = Standing::of(&pod);
            if scaling.of.is_none() || pod.is_terminating() {
                continue;
            }
            match self.delete(pod.name(), scaling.uid).await {
                Ok(()) => {}
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => {
                    let (name, why) = (pod.name(), causes(&error));
                    self.tell(&format!("failed to delete scaling pod {name}: {why}"));
                    is_done = false;
                }
            }
        }
        is_done
    }

    /// The image that this process runs in: scaling pods take the same, so that both are updated together.
    async fn own_image(&self) -> String {
        let variable = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
        let Some((namespace, name)) = variable(env::POD_NAMESPACE).zip(variable(env::POD_NAME))
        else {
            return IMAGE.to_owned();
        };
        let own = pods(&self.client, &namespace);
        let mut failures = 0;
        let error = loop {
            match answer(own.get(&name)).await {
                Ok(own) => {
                    let containers = own.data["spec"]["containers"].as_array();
                    let containers = containers.map_or(&[][..], Vec::as_slice);
                    let own = containers.iter().find(|one| one["name"] == component::PODGROUPER);
                    let image = own.or(containers.first()).and_then(|one| one["image"].as_str());
                    return image.unwrap_or(IMAGE).to_owned();
                }
                Err(error) if is_forbidden(&error) || is_missing(&error) => break error,
                // One failure must not decide for as long as these settings hold.
                Err(error) => {
                    self.tell(&format!(
                        "failed to read the own pod {namespace}/{name}: {}; trying again",
                        causes(&error)
                    ));
                }
            }
            failures += 1;
            tokio::time::sleep(backoff(failures)).await;
        };
        self.tell(&format!(
            "failed to read the own pod {namespace}/{name}: {}; scaling pods run {IMAGE}",
            causes(&error)
        ));
        IMAGE.to_owned()
    }

    /// Logs a failure, once as long as others are few.
    fn tell(&self, text: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        if told.insert(text.to_owned()) {
            tracing::warn!("{text}");
        }
    }
}

/// Waits for the answer to a call, but not for ever.
async fn answer<T>(call: impl Future<Output = Result<T, kube::Error>>) -> Result<T, kube::Error> {
    let answered = timeout(ANSWER_MAX, call).await;
    answered.unwrap_or_else(|_| Err(kube::Error::Service(TOO_LONG.into())))
}

fn is_forbidden(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

fn pods(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    Api::namespaced_with(client.clone(), namespace, &resource)
}

/// Returns the time until a moment, but no more than the longest pause: the clock may be set meanwhile.
fn left(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now)).unwrap_or_default().min(LOOK_MAX)
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use http::{Method, Request, Response};
    use kai_api::names::{label, value};
    use kube::client::Body;
    use serde_json::Value;

    use super::*;

    /// Whoever looks at another namespace from now on would leave them there for ever.
    #[tokio::test]
    async fn scaling_pods_leave_a_namespace_that_is_theirs_no_longer() {
        let before = Settings { is_on: true, ..Settings::default() };
        let here = before.namespace.as_str();
        for (namespace, is_on, expect) in [(here, true, 0), ("other", true, 1), ("other", false, 1)]
        {
            let deleted = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&deleted);
            let labels = json!({label::APP: value::SCALING_APP,
                label::SHARED_GPU_POD_NAMESPACE: "n", label::SHARED_GPU_POD_NAME: "p"});
            let pod = json!({"metadata": {"name": "s", "uid": "u", "labels": labels}});
            let server = tower::service_fn(move |request: Request<Body>| {
                let answer = if request.method() == Method::DELETE {
                    counted.fetch_add(1, Ordering::Relaxed);
                    json!({"kind": "Status", "status": "Success"})
                } else {
                    json!({"metadata": {}, "items": [pod]})
                };
                let answer = Response::builder().body(Body::from(answer.to_string().into_bytes()));
                async { answer }
            });
            let client = Client::new(server, "default");
            let next = Settings { namespace: namespace.to_owned(), is_on, ..before.clone() };
            Controller::new(client, "kai-scheduler", before.clone()).leave(&next).await;
            assert_eq!(deleted.load(Ordering::Relaxed), expect, "{namespace} {is_on}");
        }
    }

    /// Whatever else there is to do waits for it.
    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_is_given_up() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let server = tower::service_fn(move |_: Request<Body>| {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if is_first {
                    std::future::pending::<()>().await;
                }
                let answer = json!({"metadata": {}, "items": []}).to_string();
                Response::builder().body(Body::from(answer.into_bytes()))
            }
        });
        let client = Client::new(server, "default");
        let off = Settings { is_on: false, ..Settings::default() };
        let controller = Controller::new(client, "kai-scheduler", off);
        let run = timeout(Duration::from_mins(1), controller.run());
        assert!(run.await.is_err(), "it runs for ever");
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    /// They hold nodes with GPUs, and nobody looks for them while there are to be none.
    #[tokio::test(start_paused = true)]
    async fn scaling_pods_that_are_left_go_although_the_server_fails_at_first() {
        for (code, expect) in [(500_u16, 3), (403, 1)] {
            let asked = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&asked);
            let server = tower::service_fn(move |_: Request<Body>| {
                let is_first = counted.fetch_add(1, Ordering::Relaxed) < 2;
                let (code, answer) = if is_first {
                    let status = "Failure";
                    (
                        code,
                        json!({"kind": "Status", "status": status, "message": "no", "code": code}),
                    )
                } else {
                    (200, json!({"metadata": {}, "items": []}))
                };
                let answer = Body::from(answer.to_string().into_bytes());
                let answer = Response::builder().status(code).body(answer);
                async { answer }
            });
            let client = Client::new(server, "default");
            let off = Settings { is_on: false, ..Settings::default() };
            let controller = Controller::new(client, "kai-scheduler", off);
            let run = timeout(Duration::from_mins(1), controller.run());
            assert!(run.await.is_err(), "it runs for ever");
            assert_eq!(asked.load(Ordering::Relaxed), expect, "{code}");
        }
    }

    /// Has a controller work for ten seconds; gives what it writes. A list that is none is never answered.
    async fn written(waiting: Option<Value>, standing: Value, groups: Value) -> Vec<String> {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&sent);
        let list = |items: Value| json!({"metadata": {"resourceVersion": "1"}, "items": items});
        let server = tower::service_fn(move |request: Request<Body>| {
            let path = request.uri().path().to_owned();
            let is_watch = request.uri().query().unwrap_or_default().contains("watch=");
            let found = match (request.method(), path.as_str()) {
                (&Method::GET, _) if is_watch => None,
                (&Method::GET, "/api/v1/pods") => waiting.clone().map(|pod| list(json!([pod]))),
                (&Method::GET, path) if path.ends_with("/podgroups") => Some(list(groups.clone())),
                (&Method::GET, path) if path.ends_with("/pods") => Some(list(standing.clone())),
                (&Method::GET, _) => waiting.clone(),
                (method, path) => {
                    noted.lock().expect("nobody panics with it").push(format!("{method} {path}"));
                    Some(json!({"metadata": {"name": "s"}}))
                }
            };
            async move {
                let Some(found) = found else { return std::future::pending().await };
                Response::builder().body(Body::from(found.to_string().into_bytes()))
            }
        });
        let on = Settings { is_on: true, ..Settings::default() };
        let controller = Controller::new(Client::new(server, "default"), "kai-scheduler", on);
        let run = timeout(Duration::from_secs(10), controller.run());
        assert!(run.await.is_err(), "it runs for ever");
        sent.lock().expect("nobody panics with it").clone()
    }

    /// A process that starts would take away what nodes are being made for.
    #[tokio::test(start_paused = true)]
    async fn nothing_is_done_before_it_is_known_who_waits() {
        let labels = json!({label::APP: value::SCALING_APP,
            label::SHARED_GPU_POD_NAMESPACE: "n", label::SHARED_GPU_POD_NAME: "p"});
        let scaling = json!([{"metadata": {"name": "s", "uid": "u", "labels": labels}}]);
        assert_eq!(written(None, scaling, json!([])).await, Vec::<String>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_is_listed_as_waiting_for_its_queue_gets_no_nodes() {
        let pod = json!({"metadata": {"name": "p", "namespace": "n", "uid": "p",
                "creationTimestamp": "1970-01-01T00:00:00Z",
                "annotations": {"gpu-fraction": "0.5", "pod-group-name": "g"}},
            "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c"}]},
            "status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}});
        for (reason, is_made) in [("OverLimit", false), ("PodSchedulingErrors", true)] {
            let said = json!([{"status": "True", "reasons": [{"reason": reason}]}]);
            let group = json!([{"metadata": {"name": "g", "namespace": "n"},
                "status": {"schedulingConditions": said}}]);
            let sent = written(Some(pod.clone()), json!([]), group).await;
            let has_made = sent.iter().any(|line| line.starts_with("POST"));
            assert_eq!(has_made, is_made, "{reason}: {sent:?}");
        }
    }
}
