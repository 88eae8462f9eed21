//! One pod: find its `PodGroup`, write it, mark the pod (`docs/grouping.md` 3).

mod write;
mod writers;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kai_daemon::event::Regarding;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind, Status};
use serde_json::Value;

use crate::cache::{Cache, Found, ObjectKey, Part, Place};
use crate::dependents::Dependents;
use crate::desired::Desired;
use crate::events::Recorder;
use crate::facts::{Answer, Facts, Read, Stop};
use crate::group::{Case, group};
use crate::kinds;
use crate::mark::{mark, stays_in_another};
use crate::object::{Gvk, Object, POD_GROUP_API_VERSION};
use crate::pod::Pod;
use crate::queue::Queue;
use crate::settings::Settings;
use crate::store::{Key, Store};
use crate::turns::Turns;
use crate::walk::{WalkError, is_unserved, walk};
use kai_api::names;
use writers::Writers;

/// A rule asks for a handful of facts; more than this is a loop.
const READS_MAX: usize = 1_000;
/// Time for which a list of Kartas holds, and their absence.
const KARTA_AGE_MAX: Duration = Duration::from_secs(10);
const NO_KARTA_AGE_MAX: Duration = Duration::from_mins(1);
/// The longest note that is logged whole.
const NOTE_CHARS_MAX: usize = 300;
/// So many things that were said are remembered, so that they are said once.
const TOLD_MAX: usize = 1 << 16;
const WARNING: &str = names::event::POD_GROUPER_WARNING;

/// The reason why a round on a pod did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Somebody writes the group just now: the pod was put aside, and is called for once its turn comes.
    Aside,
    /// Somebody wrote in between: try again, and tell nobody.
    Conflict,
    /// The workload's controller is not that far yet: try again, and tell only if it lasts.
    Early(String),
    /// The API server cannot be reached, or does not let us: try again, and tell nobody of this pod.
    Away(String),
    /// Something is wrong: try again, and tell.
    Wrong(String),
}

/// The labels of a list.
type Labels = Vec<(String, String)>;

/// Reads and writes of the reconciler; shared by its workers.
pub(crate) struct Reconciler {
    pub(crate) client: Client,
    pub(crate) settings: Settings,
    pub(crate) namespace_labels: Vec<(String, String)>,
    pub(crate) store: Arc<Store>,
    pub(crate) cache: Cache,
    pub(crate) recorder: Recorder,
    pub(crate) dependents: Dependents,
    /// One writer a `PodGroup` at a time, so that a gang's first pods make it once.
    writers: Writers,
    /// Held while a large one is compared with what is wanted, which takes much memory meanwhile.
    compared: Turns,
    kartas: Mutex<HashMap<Labels, (tokio::time::Instant, Answer)>>,
    /// Hashes of what was said, each with its `PodGroup`.
    told: Mutex<HashSet<u64>>,
}

/// Parts that the reconciler shares with the watches.
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) cache: Cache,
    /// Pods that wait for their round.
    pub(crate) queue: Arc<Queue<Key>>,
}

/// A round on a pod: what was read in it, and its place for that.
struct Round<'a> {
    key: &'a Key,
    pod: &'a Arc<Pod>,
    /// The owners that could be read, bottom first.
    owners: &'a [Arc<Object>],
    facts: Facts,
    place: Place,
}

impl Reconciler {
    pub(crate) fn new(
        client: Client,
        settings: Settings,
        namespace_labels: Vec<(String, String)>,
        Shared { store, cache, queue }: Shared,
    ) -> Self {
        Self {
            recorder: Recorder::new(client.clone()),
            client,
            settings,
            namespace_labels,
            store,
            cache,
            dependents: Dependents::default(),
            writers: Writers::new(queue),
            compared: Turns::default(),
            kartas: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// One round on a pod.
    pub(crate) async fn reconcile(&self, key: &Key) -> Result<(), Failure> {
        let result = self.round(key).await;
        if !matches!(result, Err(Failure::Aside)) {
            self.writers.end(key);
        }
        result
    }

    async fn round(&self, key: &Key) -> Result<(), Failure> {
        let Some(pod) = self.store.pod(key) else { return Ok(()) };
        let has_own_group =
            pod.owners.is_empty() && pod.annotation(names::annotation::POD_GROUP).is_some();
        let is_skipped = pod.annotation(names::annotation::SKIP_PODGROUPER) == Some("true");
        if is_skipped || has_own_group || !self.is_selected(&pod).await? {
            return Ok(());
        }
        self.dependents.begin(key);
        let result = self.group_pod(key, &pod).await;
        self.dependents.end(key);
        if pod.terminating && matches!(result, Err(Failure::Wrong(_) | Failure::Early(_))) {
            return Ok(());
        }
        result
    }

    async fn is_selected(&self, pod: &Pod) -> Result<bool, Failure> {
        if self.namespace_labels.is_empty() {
            return Ok(true);
        }
        let key = ObjectKey {
            gvk: Gvk::new("v1", "Namespace"),
            namespace: String::new(),
            name: pod.namespace.to_string(),
        };
        let found = self.cache.read(&key, Part::Metadata).await.map_err(|error| wrong(&error))?;
        let Found::Object(namespace) = found else { return Ok(false) };
        let has = |(key, value): &(String, String)| namespace.label(key) == Some(value.as_str());
        Ok(self.namespace_labels.iter().all(has))
    }

    async fn group_pod(&self, key: &Key, pod: &Arc<Pod>) -> Result<(), Failure> {
        let walk = walk(&self.cache, &self.store, pod).await.map_err(|error| {
            // The pods of a deleted gang outlive it by a moment: no event for each of them.
            let is_grouped = pod.annotation(names::annotation::POD_GROUP).is_some();
            if error.is_gone() && is_grouped {
                return Failure::Early(error.to_string());
            }
            if let WalkError::Read { source, .. } = &error {
                return failure(source, error.to_string());
            }
            Failure::Wrong(error.to_string())
        })?;
        for object in &walk.keys {
            self.dependents.add(object, key, &self.store);
        }
        let is_skipped = |owner: &Arc<Object>| {
            owner.annotation(names::annotation::SKIP_PODGROUPER) == Some("true")
        };
        if walk.owners.iter().any(is_skipped) {
            return Ok(());
        }
        let (facts, place) = (Facts::default(), Place::default());
        let round = Round { key, pod, owners: &walk.owners, facts, place };
        let desired = self.desired(round).await?;
        if stays_in_another(pod, &desired) {
            return Ok(());
        }
        self.log_notes(&desired);
        self.write_group(key, &desired).await?;
        self.tell_foreign(pod, &desired).await;
        self.mark_pod(pod, &desired).await
    }

    /// As much of the top owner as its rule reads.
    async fn top(&self, round: &mut Round<'_>) -> Result<Arc<Object>, Failure> {
        let Some(top) = round.owners.last() else { return Ok(Arc::new(round.pod.to_object())) };
        let part = self.part(&top.gvk(), round).await?;
        let owner = top.reference();
        let read = Read::owner(&owner, &round.pod.namespace, part);
        match self.answer(&read, None, &mut round.place).await? {
            Answer::Found(object) => Ok(object),
            Answer::Absent | Answer::Unserved | Answer::List(_) => Err(Failure::Wrong(format!(
                "failed to read {} {}/{}: it does not exist",
                owner.kind, round.pod.namespace, owner.name
            ))),
            Answer::Failed(why) => Err(Failure::Wrong(why)),
        }
    }

    /// The part that is read of a top owner of this kind. Where it has no rule, a Karta may describe it; the rule is told of
    /// the same Kartas.
    async fn part(&self, gvk: &Gvk, round: &mut Round<'_>) -> Result<Part, Failure> {
        if let Some(row) = kinds::find(kinds::TABLE, gvk) {
            return Ok(row.part);
        }
        if !self.settings.karta {
            return Ok(Part::Metadata);
        }
        let definitions = kinds::karta::definitions(gvk);
        let answer = self.answer(&definitions, None, &mut round.place).await?;
        let part = match &answer {
            Answer::List(found) => kinds::karta::part(found),
            Answer::Absent | Answer::Unserved | Answer::Found(_) | Answer::Failed(_) => {
                Part::Metadata
            }
        };
        round.facts.add(definitions, answer);
        Ok(part)
    }

    /// The group that a pod wants. What is read for it is let go of with the round: what is large is held by few at a time.
    async fn desired(&self, mut round: Round<'_>) -> Result<Desired, Failure> {
        let top = self.top(&mut round).await?;
        for _ in 0..READS_MAX {
            let case = Case {
                pod: round.pod,
                top: &top,
                owners: round.owners,
                table: kinds::TABLE,
                settings: &self.settings,
                facts: &round.facts,
            };
            match group(&case) {
                Ok(desired) => return Ok(desired),
                Err(Stop::Bad(why)) => return Err(Failure::Wrong(why)),
                Err(Stop::Early(why)) => return Err(Failure::Early(why)),
                Err(Stop::Need(read)) => {
                    let read = *read;
                    let answer = self.answer(&read, Some(round.key), &mut round.place).await?;
                    round.facts.add(read, answer);
                }
            }
        }
        Err(Failure::Wrong("the workload's rule reads without end".to_owned()))
    }

    /// Answers a read from what is stored, from the cache, or from the API server.
    async fn answer(
        &self,
        read: &Read,
        pod: Option<&Key>,
        place: &mut Place,
    ) -> Result<Answer, Failure> {
        match read {
            Read::Get { api_version, kind, namespace, name, .. } => {
                let stored = match (api_version.as_str(), kind.as_str()) {
                    (POD_GROUP_API_VERSION, "PodGroup") => {
                        self.store.group(&Key::new(namespace, name)).await
                    }
                    ("scheduling.k8s.io/v1", "PriorityClass") => self.store.class(name),
                    ("v1", "Pod") => match self.store.pod(&Key::new(namespace, name)) {
                        Some(stored) => Some(Arc::new(stored.to_object())),
                        None if self.settings.is_kai_v017() => None,
                        None => return self.read(read, pod, place).await,
                    },
                    _ => return self.read(read, pod, place).await,
                };
                Ok(stored.map_or(Answer::Absent, Answer::Found))
            }
            Read::List { api_version, kind, namespace, prefix, labels, sought } => {
                match (api_version.as_str(), kind.as_str()) {
                    (POD_GROUP_API_VERSION, "PodGroup") => {
                        // Whoever asks looks for those alone.
                        Ok(Answer::List(self.store.flat_groups(namespace, prefix)))
                    }
                    ("v1", "Pod") => {
                        let pods = self.store.pods_with(namespace, labels, sought);
                        let objects = pods.iter().map(|pod| Arc::new(pod.to_object()));
                        Ok(Answer::List(objects.collect()))
                    }
                    _ => self.kartas(&Gvk::new(api_version, kind), namespace, labels).await,
                }
            }
        }
    }

    async fn read(
        &self,
        read: &Read,
        pod: Option<&Key>,
        place: &mut Place,
    ) -> Result<Answer, Failure> {
        let Some((key, part)) = read_key(read) else { return Ok(Answer::Absent) };
        if let Some(pod) = pod {
            self.dependents.add(&key, pod, &self.store);
        }
        match self.cache.read_in(&key, part, place).await {
            Ok(Found::Object(object)) => Ok(Answer::Found(object)),
            Ok(Found::Absent) => Ok(Answer::Absent),
            Err(error) if is_unserved(&error) => Ok(Answer::Unserved),
            Ok(Found::Forbidden(why) | Found::TooLarge(why)) => Ok(Answer::Failed(why)),
            Err(error) => Err(wrong(&error)),
        }
    }

    async fn kartas(
        &self,
        gvk: &Gvk,
        namespace: &str,
        labels: &[(String, String)],
    ) -> Result<Answer, Failure> {
        let known = {
            let kartas = self.kartas.lock().unwrap_or_else(PoisonError::into_inner);
            kartas.get(labels).cloned()
        };
        if let Some((at, answer)) = known {
            let age_max = match answer {
                Answer::List(_) => KARTA_AGE_MAX,
                Answer::Absent | Answer::Unserved | Answer::Found(_) | Answer::Failed(_) => {
                    NO_KARTA_AGE_MAX
                }
            };
            if at.elapsed() < age_max {
                return Ok(answer);
            }
        }
        let pairs: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let answer = match self.cache.list(gvk, namespace, &pairs.join(",")).await {
            Ok(list) => Answer::List(list),
            Err(error) if is_unserved(&error) || is_forbidden(&error) => {
                Answer::Failed(error.to_string())
            }
            // It says nothing of Kartas: pods of one gang would be grouped by one now, and without it for a minute.
            Err(error) => return Err(wrong(&error)),
        };
        let mut kartas = self.kartas.lock().unwrap_or_else(PoisonError::into_inner);
        kartas.insert(labels.to_vec(), (tokio::time::Instant::now(), answer.clone()));
        Ok(answer)
    }

    async fn mark_pod(&self, pod: &Arc<Pod>, desired: &Desired) -> Result<(), Failure> {
        let Some(patch) = mark(pod, desired, &self.settings) else { return Ok(()) };
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &pod.namespace, &resource);
        let patched =
            api.patch_metadata(&pod.name, &PatchParams::default(), &Patch::Merge(&patch)).await;
        match patched {
            Ok(_) => {
                self.note_marks(pod, &patch);
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            // Another pod of the name: its own event comes.
            Err(kube::Error::Api(status)) if is_another(&status) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 409 => Err(Failure::Conflict),
            Err(error) => {
                let (namespace, name) = (&pod.namespace, &pod.name);
                let why = format!("failed to mark pod {namespace}/{name}: {}", text(&error));
                Err(failure(&error, why))
            }
        }
    }

    /// Keeps the marks that were just written, if the pod is still the one they were written for.
    fn note_marks(&self, pod: &Arc<Pod>, patch: &Value) {
        let mut marked = Pod::clone(pod);
        let tables = [("labels", &mut marked.labels), ("annotations", &mut marked.annotations)];
        for (name, table) in tables {
            for (key, value) in patch["metadata"][name].as_object().into_iter().flatten() {
                table.set(key, value.as_str());
            }
        }
        self.store.amend_pod(pod, marked);
    }

    /// Says once per `PodGroup` that part of its gang runs under another scheduler.
    async fn tell_foreign(&self, pod: &Pod, desired: &Desired) {
        let Some(text) = &desired.foreign else { return };
        if self.is_news(&Key::new(&desired.namespace, &desired.name), text) {
            self.warn(pod, text).await;
        }
    }

    /// Logs what a setting that has no effect should have been, once per `PodGroup`.
    fn log_notes(&self, desired: &Desired) {
        let key = Key::new(&desired.namespace, &desired.name);
        for note in &desired.notes {
            if self.is_news(&key, note) {
                // What a user wrote may be as long as an annotation can be.
                let note: String = note.chars().take(NOTE_CHARS_MAX).collect();
                tracing::warn!(group = %key, "{note}");
            }
        }
    }

    /// Tells whether a text was not said of a `PodGroup` before. After very many all may be said again: nothing is kept for
    /// ever.
    fn is_news(&self, key: &Key, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (key, text).hash(&mut hasher);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        told.insert(hasher.finish())
    }

    /// A `PodGrouperWarning` on the pod.
    pub(crate) async fn warn(&self, pod: &Pod, message: &str) {
        let regarding = Regarding {
            api_version: "v1",
            kind: "Pod",
            namespace: &pod.namespace,
            name: &pod.name,
            uid: &pod.uid.to_string(),
        };
        self.recorder.warn(&regarding, WARNING, message).await;
    }
}

pub(crate) fn pod_group_gvk() -> Gvk {
    Gvk::new(POD_GROUP_API_VERSION, "PodGroup")
}

fn read_key(read: &Read) -> Option<(ObjectKey, Part)> {
    match read {
        Read::Get { api_version, kind, namespace, name, part } => {
            let gvk = Gvk::new(api_version, kind);
            let (namespace, name) = (namespace.clone(), name.clone());
            Some((ObjectKey { gvk, namespace, name }, *part))
        }
        Read::List { .. } => None,
    }
}

/// Tells whether a patch was refused because the object of the name is another than the one that it was for.
fn is_another(status: &Status) -> bool {
    let causes = status.details.as_ref().map_or(&[][..], |details| &details.causes);
    match status.code {
        409 => status.message.contains("UID in precondition"),
        422 => causes.iter().any(|cause| cause.field == "metadata.uid"),
        _ => false,
    }
}

fn is_forbidden(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

fn wrong(error: &kube::Error) -> Failure {
    failure(error, text(error))
}

/// Tells whose failure an error is: the server's, or that of what was asked.
fn failure(error: &kube::Error, why: String) -> Failure {
    // What it answered cannot be read, as an object that is nested too deep.
    if matches!(error, kube::Error::SerdeError(_)) {
        return Failure::Wrong(why);
    }
    let kube::Error::Api(status) = error else { return Failure::Away(why) };
    // What admission refuses is forbidden too, but is the object's own fault.
    let has_no_right = status.code == 403 && status.message.contains("is forbidden: User \"");
    if has_no_right || matches!(status.code, 401 | 429 | 500..) {
        return Failure::Away(why);
    }
    Failure::Wrong(why)
}

/// The API server's own words, where there are some.
fn text(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return status.message.clone();
    }
    error.to_string()
}

#[cfg(test)]
mod tests;
