//! A copy of what a command has read, kept up to date by watches: what is read again costs no request.
//!
//! A command that goes on looking (`--watch`, `--live`) reads as often as it likes, with the code that reads once. The
//! first read of a list opens its watch; from then on the answer is here, and [`Mirror::changed`] says when to look again.

mod object;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use kube::api::{Api, ApiResource};
use kube::runtime::{WatchStreamExt as _, watcher};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use object::Object;

use super::pages::{self, Detail};
use super::{Answer, Call, Cut, Failure, Refusal, Select, note};

/// Sets how long an answer that cannot be watched is good for.
const FRESH: Duration = Duration::from_secs(10);
/// The longest pause between two tries of a watch.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// A watch that was not refused again for so long is open.
const QUIET_MAX: Duration = Duration::from_secs(8);

/// An object as it is kept: its JSON as text, which takes less than what it is read into.
type Packed = Box<[u8]>;

/// Objects by namespace and name.
type Objects = BTreeMap<(String, String), Packed>;

/// Says what is known of a list.
#[derive(Clone, Debug)]
enum Known {
    /// The server has not answered yet.
    Nothing,
    /// It refused, or could not be reached, before it ever answered.
    Failed(Failure),
    Objects(Objects),
}

/// A list and the task that keeps it up to date.
#[derive(Debug)]
struct List {
    known: watch::Receiver<Known>,
    task: AbortHandle,
}

impl Drop for List {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Holds what tasks tell: that something changed, and which of them hear nothing.
#[derive(Debug, Default)]
struct News {
    changed: Notify,
    /// Says why a watch hears nothing, by its list, and when it was last tried in vain.
    troubles: Mutex<BTreeMap<String, (String, Instant)>>,
}

/// Drops what nobody reads of an object, before it is kept.
pub(crate) type Slim = fn(&mut Value);

/// The copy.
#[derive(Debug)]
pub(crate) struct Mirror {
    slim: Slim,
    cut: Cut,
    lists: Mutex<HashMap<String, Arc<List>>>,
    answers: Mutex<HashMap<String, (Instant, Value)>>,
    news: Arc<News>,
}

impl Mirror {
    /// A copy that keeps of each object what a function leaves of it, and notes those that were not read whole.
    pub(super) fn new(slim: Slim, cut: Cut) -> Self {
        let (lists, answers, news) = Default::default();
        Self { slim, cut, lists, answers, news }
    }

    /// Reads so much of each object of a list; the first time from the server, whose watch goes on from there.
    pub(super) async fn list(
        &self,
        client: &kube::Client,
        call: &Call<'_>,
        select: &Select<'_>,
        detail: Detail,
    ) -> Result<Option<Vec<Value>>, Failure> {
        let key = format!("{}?{}&{}", call.path(), select.labels, select.fields);
        let list = {
            let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            let open = || Arc::new(self.open(key.clone(), client, call, select));
            Arc::clone(lists.entry(key.clone()).or_insert_with(open))
        };
        let mut known = list.known.clone();
        let told = known.wait_for(|known| !matches!(known, Known::Nothing)).await;
        let failure = match told.as_deref() {
            Ok(Known::Objects(objects)) => {
                let all = objects.values().map(|packed| pages::object_in(packed, detail));
                let all = all.collect::<Result<Vec<Value>, _>>();
                return all.map(Some).map_err(|e| Failure::Unreadable(e.to_string()));
            }
            Ok(Known::Failed(Failure::Refused(refusal))) if refusal.code == 404 => return Ok(None),
            Ok(Known::Failed(failure)) => failure.clone(),
            Ok(Known::Nothing) | Err(_) => {
                return Err(Failure::Unreachable("the watch ended".into()));
            }
        };
        drop(told);
        // What was refused stays so; who was not there, or had too much to do, may answer the next time.
        if failure.code().is_none() || failure.may_pass() {
            self.lists.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        }
        Err(failure)
    }

    /// Reads one object as a list of one; `Err` where that may not be listed, so that it has to be read by itself.
    pub(super) async fn get(
        &self,
        client: &kube::Client,
        call: &Call<'_>,
    ) -> Result<Option<Value>, Failure> {
        let fields = format!("metadata.name={}", call.name);
        let all = call.clone().name("");
        let select = Select { labels: "", fields: &fields };
        let found = self.list(client, &all, &select, Detail::Whole).await?;
        Ok(found.and_then(|found| found.into_iter().next()))
    }

    /// An answer to a path that was read a moment ago.
    pub(super) fn answer(&self, path: &str) -> Option<Value> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(path).filter(|(at, _)| at.elapsed() < FRESH).map(|(_, body)| body.clone())
    }

    /// Keeps an answer for a while.
    pub(super) fn keep(&self, path: &str, answer: &Answer) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(path.to_owned(), (Instant::now(), answer.body.clone()));
    }

    /// Waits until something that was read has changed, or a watch hears nothing any more or again.
    pub(crate) async fn changed(&self) {
        self.news.changed.notified().await;
    }

    /// Says why what is here may be old; `None` while all watches hear the server.
    pub(crate) fn trouble(&self) -> Option<String> {
        let troubles = self.news.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        // A watch that is open again says so with its next news alone; one that is not has failed again by now.
        let mut lasting = troubles.values().filter(|(_, at)| at.elapsed() < QUIET_MAX);
        lasting.next().map(|(why, _)| why.clone())
    }

    fn open(
        &self,
        key: String,
        client: &kube::Client,
        call: &Call<'_>,
        select: &Select<'_>,
    ) -> List {
        let resource = call.resource;
        let kind = ApiResource {
            group: resource.group.clone(),
            version: resource.version.clone(),
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            plural: resource.plural.clone(),
        };
        let api: Api<Object> = match call.namespace.filter(|_| resource.namespaced) {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
            None => Api::all_with(client.clone(), &kind),
        };
        let mut config = watcher::Config::default();
        if !select.labels.is_empty() {
            config = config.labels(select.labels);
        }
        if !select.fields.is_empty() {
            config = config.fields(select.fields);
        }
        let (tell, known) = watch::channel(Known::Nothing);
        let (cut, news) = (Arc::clone(&self.cut), Arc::clone(&self.news));
        let follower = Follower { key, label: resource.label(), slim: self.slim, cut, tell, news };
        let task = tokio::spawn(follower.run(api, config));
        List { known, task: task.abort_handle() }
    }
}

/// Follows a list until its task is dropped.
struct Follower {
    key: String,
    /// The kind of the objects.
    label: String,
    slim: Slim,
    cut: Cut,
    tell: watch::Sender<Known>,
    news: Arc<News>,
}

impl Follower {
    async fn run(self, api: Api<Object>, config: watcher::Config) {
        let pauses = watcher::DefaultBackoff::default();
        let events = watcher(api, config).backoff(Pauses(pauses));
        futures::pin_mut!(events);
        let mut listed = Objects::new();
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    let failure = failure(error);
                    if matches!(*self.tell.borrow(), Known::Nothing) {
                        self.tell.send_replace(Known::Failed(failure));
                        return;
                    }
                    self.news.trouble(&self.key, Some(failure.to_string()));
                    continue;
                }
            };
            self.news.trouble(&self.key, None);
            if self.take(event, &mut listed) {
                self.news.changed.notify_one();
            }
        }
    }

    /// Takes an event; tells whether anything is otherwise than before.
    fn take(&self, event: watcher::Event<Object>, listed: &mut Objects) -> bool {
        match event {
            watcher::Event::Init => {
                listed.clear();
                false
            }
            watcher::Event::InitApply(object) => {
                listed.extend([self.keyed(object)]);
                false
            }
            watcher::Event::InitDone => {
                let listed = std::mem::take(listed);
                self.change(|known| {
                    let is_new = !matches!(known, Known::Objects(old) if *old == listed);
                    *known = Known::Objects(listed);
                    is_new
                })
            }
            watcher::Event::Apply(object) => {
                let (key, object) = self.keyed(object);
                self.change(|known| match known {
                    Known::Objects(all) if all.get(&key) == Some(&object) => false,
                    Known::Objects(all) => {
                        all.insert(key, object);
                        true
                    }
                    Known::Nothing | Known::Failed(_) => false,
                })
            }
            watcher::Event::Delete(object) => self.change(|known| match known {
                Known::Objects(all) => all.remove(&object.key()).is_some(),
                Known::Nothing | Known::Failed(_) => false,
            }),
        }
    }

    /// Edits what is known; tells whether the edit changed anything.
    fn change(&self, edit: impl FnOnce(&mut Known) -> bool) -> bool {
        self.tell.send_if_modified(edit)
    }

    /// The object under its name; without what nobody reads here: its version, and signs of life of what is as it was.
    fn keyed(&self, object: Object) -> ((String, String), Packed) {
        let key = object.key();
        note(&self.cut, &self.label, object.cut.as_slice());
        let mut value = object.value;
        if let Some(Value::Object(meta)) = value.get_mut("metadata") {
            meta.remove("resourceVersion");
        }
        let conditions = value.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten().filter_map(Value::as_object_mut) {
            condition.remove("lastHeartbeatTime");
            condition.remove("lastProbeTime");
        }
        (self.slim)(&mut value);
        (key, value.to_string().into_bytes().into_boxed_slice())
    }
}

fn failure(error: watcher::Error) -> Failure {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => error.into(),
        watcher::Error::WatchError(status) => Failure::Refused(Refusal {
            code: status.code,
            reason: status.reason.clone(),
            message: crate::print::output::clean(&status.message).into_owned(),
            causes: Vec::new(),
        }),
        watcher::Error::NoResourceVersion => {
            Failure::Unreadable("the list has no resourceVersion".into())
        }
    }
}

impl News {
    /// Notes why a watch hears nothing, or that it hears again; tells of it when that is new.
    fn trouble(&self, key: &str, why: Option<String>) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = match why {
            Some(why) => troubles.insert(key.to_owned(), (why, Instant::now())).is_none(),
            None => troubles.remove(key).is_some(),
        };
        if is_new {
            self.changed.notify_one();
        }
    }
}

/// Growing pauses, jittered, that start anew after two minutes without a failure.
struct Pauses(watcher::DefaultBackoff);

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.next().map(|pause| pause.min(PAUSE_MAX))
    }
}

impl kube::runtime::utils::Backoff for Pauses {
    fn reset(&mut self) {
        self.0.reset();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;
    use crate::cluster::Resource;

    #[tokio::test]
    async fn what_is_refused_for_a_moment_is_read_again() {
        let tries = AtomicUsize::new(0);
        let service = tower::service_fn(move |request: Request<Body>| {
            let is_first = tries.fetch_add(1, Ordering::Relaxed) == 0;
            let is_watch = request.uri().query().is_some_and(|query| query.contains("watch="));
            async move {
                if is_watch {
                    std::future::pending::<()>().await;
                }
                let (code, body): (u16, Value) = if is_first {
                    (503, json!({"kind": "Status", "code": 503, "message": "shutting down"}))
                } else {
                    let head = json!({"resourceVersion": "1"});
                    (
                        200,
                        json!({"apiVersion": "batch/v1", "kind": "JobList", "metadata": head, "items": []}),
                    )
                };
                let body = Body::from(body.to_string().into_bytes());
                Ok::<_, kube::Error>(Response::builder().status(code).body(body).expect("a code"))
            }
        });
        let client = kube::Client::new(service, "default");
        let mirror = Mirror::new(|_| {}, Cut::default());
        let jobs = Resource::new("batch/v1", "Job", "jobs");
        let (call, all) = (Call::new("list", &jobs), Select::default());
        let read = async || mirror.list(&client, &call, &all, Detail::Whole).await;
        assert!(read().await.is_err_and(|failure| failure.may_pass()));
        assert_eq!(read().await.expect("it answers again"), Some(Vec::new()));
    }

    /// Whoever goes on looking is told of it, as whoever looks once.
    #[test]
    fn what_is_not_read_whole_is_noted() {
        let (tell, _known) = watch::channel(Known::Nothing);
        let (key, noted, news) = (String::new(), Cut::default(), Arc::default());
        let (label, cut) = (String::from("job.batch"), Arc::clone(&noted));
        let follower = Follower { key, label, slim: |_| {}, cut, tell, news };
        let ports = vec![1; pages::ENTRIES_MAX + 1];
        let object = json!({"metadata": {"name": "j", "namespace": "n"}, "spec": {"ports": ports}});
        let object = serde_json::from_value(object).expect("it is an object");
        follower.take(watcher::Event::InitApply(object), &mut Objects::new());
        let noted = noted.lock().expect("nobody panics with it");
        assert!(noted.contains("job.batch n/j"), "{noted:?}");
    }

    #[test]
    fn signs_of_life_are_no_news() {
        let (tell, _known) = watch::channel(Known::Nothing);
        let (key, label, cut, news) = Default::default();
        let follower = Follower { key, label, slim: |_| {}, cut, tell, news };
        let node = |version: &str, heartbeat: &str, status: &str| -> Object {
            let condition =
                json!({"type": "Ready", "status": status, "lastHeartbeatTime": heartbeat});
            serde_json::from_value(json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": "n", "resourceVersion": version},
                "status": {"conditions": [condition]}}))
            .expect("it is an object")
        };
        let mut listed = Objects::new();
        let mut is_news = |event| follower.take(event, &mut listed);
        assert!(!is_news(watcher::Event::Init));
        assert!(!is_news(watcher::Event::InitApply(node("1", "a", "True"))));
        assert!(is_news(watcher::Event::InitDone), "the first list");
        assert!(!is_news(watcher::Event::Apply(node("2", "b", "True"))), "a heartbeat");
        assert!(is_news(watcher::Event::Apply(node("3", "c", "False"))), "it is not ready");
        assert!(!is_news(watcher::Event::Init));
        assert!(!is_news(watcher::Event::InitApply(node("4", "d", "False"))));
        assert!(!is_news(watcher::Event::InitDone), "the same list again");
        assert!(is_news(watcher::Event::Delete(node("5", "e", "False"))));
        assert!(!is_news(watcher::Event::Delete(node("5", "e", "False"))));
    }
}
