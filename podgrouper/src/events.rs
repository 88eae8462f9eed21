//! Warning events on pods.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kai_daemon::clock;
use kai_daemon::event::{Regarding, Severity, Statement, name, object, whole_second};
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;
use tokio::time::Instant;

/// Component name in events and logs.
pub(crate) const COMPONENT: &str = "kai-podgrouper";
/// Objects remembered; beyond that those are forgotten of which nothing was said for long, each time that there are twice as
/// many as were kept.
const REMEMBERED_MAX: usize = 10_000;

/// The shortest and the longest pause between two events on one object.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_mins(10);

/// Writes events: one for each state of an object, and those of an object that changes all the time less and less often.
pub(crate) struct Recorder {
    client: kube::Client,
    memory: Mutex<Memory>,
}

/// Words that were said of objects last, by UID.
#[derive(Debug, Default)]
struct Memory {
    said: HashMap<String, Said>,
    /// Number of them that were kept last.
    kept: usize,
}

/// Words that were said of an object last.
#[derive(Debug)]
struct Said {
    /// A hash of it; none where it could not be said.
    what: Option<u64>,
    at: Instant,
    /// So long nothing else is said; doubled with every event, and forgotten after as much silence.
    pause: Duration,
}

impl Memory {
    /// Tells whether something is to be said of an object now; then it counts as said. What is dropped comes again where it
    /// stays true, as what fails is tried again.
    fn is_news(&mut self, uid: &str, what: u64, now: Instant) -> bool {
        if self.said.len() > REMEMBERED_MAX.max(2 * self.kept) {
            self.said.retain(|_, said| now < said.at + PAUSE_MAX);
            self.kept = self.said.len();
        }
        let pause = match self.said.get(uid) {
            Some(said) if said.what == Some(what) || now < said.at + said.pause => return false,
            Some(said) if now < said.at + 2 * said.pause => (2 * said.pause).min(PAUSE_MAX),
            Some(_) | None => PAUSE_MIN,
        };
        self.said.insert(uid.to_owned(), Said { what: Some(what), at: now, pause });
        true
    }
}

impl Recorder {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self { client, memory: Mutex::default() }
    }

    /// Writes a warning; a failure is only logged, for an event is no one's input. It is tried again, after the pause that an
    /// event has, when the same is to be said again.
    pub(crate) async fn warn(&self, regarding: &Regarding<'_>, reason: &str, message: &str) {
        if let Err(error) = self.write(regarding, reason, message).await {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(said) = memory.said.get_mut(regarding.uid) {
                said.what = None;
            }
            drop(memory);
            tracing::warn!(
                object = %format!("{}/{}", regarding.namespace, regarding.name), %error,
                "failed to write an event"
            );
        }
    }

    async fn write(
        &self,
        regarding: &Regarding<'_>,
        reason: &str,
        message: &str,
    ) -> Result<(), kube::Error> {
        let mut hasher = DefaultHasher::new();
        (reason, message).hash(&mut hasher);
        let is_news = {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            memory.is_news(regarding.uid, hasher.finish(), Instant::now())
        };
        if !is_news {
            return Ok(());
        }
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), regarding.namespace, &resource);
        let statement = Statement {
            severity: Severity::Warning,
            reason,
            message,
            annotations: &[],
            component: COMPONENT,
        };
        let now = clock::now();
        let event = object(*regarding, statement, now);
        let event = serde_json::from_value(event).map_err(kube::Error::SerdeError)?;
        match api.create(&PostParams::default(), &event).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {
                let name = name(*regarding, reason, message);
                let patch = json!({"lastTimestamp": whole_second(now)});
                api.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await.map(|_| ())
            }
            other => other.map(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use http::{Method, Request, Response};
    use kai_daemon::event::Regarding;
    use kube::client::{Body, Client};
    use serde_json::json;
    use tokio::time::Instant;

    use super::{Memory, PAUSE_MAX, PAUSE_MIN, REMEMBERED_MAX, Recorder};

    /// It stays true, and nobody else says it.
    #[tokio::test(start_paused = true)]
    async fn a_warning_that_could_not_be_written_is_written_again() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let server = tower::service_fn(move |_: Request<Body>| {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            let answer = Response::builder().status(if is_first { 500 } else { 201 });
            std::future::ready(answer.body(Body::from(b"{\"metadata\": {}}".to_vec())))
        });
        let recorder = Recorder::new(Client::new(server, "default"));
        let regarding =
            Regarding { api_version: "v1", kind: "Pod", namespace: "n", name: "p", uid: "u" };
        for _ in 0..3 {
            recorder.warn(&regarding, "Wrong", "it is wrong").await;
            tokio::time::advance(PAUSE_MIN).await;
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2, "it could not be written, and then it was");
    }

    /// A pod may lack one thing after the other.
    #[tokio::test(start_paused = true)]
    async fn other_words_are_said_for_the_same_reason() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let server = tower::service_fn(move |_: Request<Body>| {
            counted.fetch_add(1, Ordering::Relaxed);
            let answer = Response::builder().status(201);
            std::future::ready(answer.body(Body::from(b"{\"metadata\": {}}".to_vec())))
        });
        let recorder = Recorder::new(Client::new(server, "default"));
        let regarding =
            Regarding { api_version: "v1", kind: "Pod", namespace: "n", name: "p", uid: "u" };
        for (message, expect) in [("no owner", 1), ("no owner", 1), ("no queue", 2)] {
            recorder.warn(&regarding, "Wrong", message).await;
            assert_eq!(asked.load(Ordering::Relaxed), expect, "{message}");
            tokio::time::advance(PAUSE_MIN).await;
        }
    }

    /// A process that starts says again what the one before it said, and there is an event of that name.
    #[tokio::test]
    async fn an_event_that_is_there_happens_again() {
        let methods = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&methods);
        let server = tower::service_fn(move |request: Request<Body>| {
            let method = request.method().clone();
            let (code, answer) = if method == Method::POST {
                let (status, reason) = ("Failure", "AlreadyExists");
                let refused =
                    json!({"status": status, "reason": reason, "message": "", "code": 409});
                (409, refused)
            } else {
                (200, json!({"metadata": {}}))
            };
            noted.lock().expect("nobody panics with it").push(method);
            let answer = Body::from(answer.to_string().into_bytes());
            std::future::ready(Response::builder().status(code).body(answer))
        });
        let recorder = Recorder::new(Client::new(server, "default"));
        let regarding =
            Regarding { api_version: "v1", kind: "Pod", namespace: "n", name: "p", uid: "u" };
        recorder.warn(&regarding, "Wrong", "it is wrong").await;
        let methods = methods.lock().expect("nobody panics with it").clone();
        assert_eq!(methods, [Method::POST, Method::PATCH]);
    }

    /// A state is said once; states that take turns are said at growing pauses, and what is said in the end is true.
    #[test]
    fn a_state_is_said_once_and_changes_less_and_less_often() {
        let (mut memory, start) = (Memory::default(), Instant::now());
        let second = |second: u64| start + Duration::from_secs(second);
        let once = (0..3600).filter(|at| memory.is_news("a", 1, second(*at))).count();
        assert_eq!(once, 1);
        let flood = (3600..7200).filter(|at| memory.is_news("a", at % 2, second(*at))).count();
        assert!((5..15).contains(&flood), "{flood} events of 3,600 changes");
        assert!(memory.is_news("a", 7, second(9000)), "the last state is said");
        assert!(memory.is_news("b", 7, second(9000)), "and each object is for itself");
        // It could not be said.
        memory.said.get_mut("b").expect("it was to be said").what = None;
        assert!(!memory.is_news("b", 7, second(9001)), "it waits as an event does");
        assert!(memory.is_news("b", 7, second(9006)));
    }

    /// Of a hundred thousand pods that fail within ten minutes all would be looked through for each event.
    #[test]
    fn after_many_were_kept_as_many_more_come_before_the_next_look() {
        let (mut memory, start) = (Memory::default(), Instant::now());
        for number in 0..2 * REMEMBERED_MAX {
            memory.is_news(&number.to_string(), 1, start);
        }
        assert_eq!(
            memory.kept,
            REMEMBERED_MAX + 1,
            "all were looked through once, and none was old"
        );
        for number in 0..10 {
            memory.is_news(&format!("late-{number}"), 1, start + PAUSE_MAX);
        }
        assert_eq!(memory.said.len(), 10, "the old ones are forgotten");
    }
}
