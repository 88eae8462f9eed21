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
/// Objects remembered; beyond that those are forgotten of which nothing was said for long.
const REMEMBERED_MAX: usize = 10_000;

/// The shortest and the longest pause between two events on one object.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_mins(10);

/// Writes events: one for each state of an object, and those of an object that changes all the time less and less often.
pub(crate) struct Recorder {
    client: kube::Client,
    said: Mutex<HashMap<String, Said>>,
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

/// Tells whether something is to be said of an object now; then it counts as said. What is dropped comes again where it
/// stays true, as what fails is tried again.
fn is_news(said: &mut HashMap<String, Said>, uid: &str, what: u64, now: Instant) -> bool {
    if said.len() > REMEMBERED_MAX {
        said.retain(|_, said| now < said.at + PAUSE_MAX);
    }
    let pause = match said.get(uid) {
        Some(said) if said.what == Some(what) || now < said.at + said.pause => return false,
        Some(said) if now < said.at + 2 * said.pause => (2 * said.pause).min(PAUSE_MAX),
        Some(_) | None => PAUSE_MIN,
    };
    said.insert(uid.to_owned(), Said { what: Some(what), at: now, pause });
    true
}

impl Recorder {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self { client, said: Mutex::default() }
    }

    /// Writes a warning; a failure is only logged, for an event is no one's input. It is tried again, after the pause that an
    /// event has, when the same is to be said again.
    pub(crate) async fn warn(&self, regarding: &Regarding<'_>, reason: &str, message: &str) {
        if let Err(error) = self.write(regarding, reason, message).await {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(said) = said.get_mut(regarding.uid) {
                said.what = None;
            }
            drop(said);
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
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            is_news(&mut said, regarding.uid, hasher.finish(), Instant::now())
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
    use std::collections::HashMap;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::is_news;

    /// A state is said once; states that take turns are said at growing pauses, and what is said in the end is true.
    #[test]
    fn a_state_is_said_once_and_changes_less_and_less_often() {
        let (mut said, start) = (HashMap::new(), Instant::now());
        let second = |second: u64| start + Duration::from_secs(second);
        let once = (0..3600).filter(|at| is_news(&mut said, "a", 1, second(*at))).count();
        assert_eq!(once, 1);
        let flood = (3600..7200).filter(|at| is_news(&mut said, "a", at % 2, second(*at))).count();
        assert!((5..15).contains(&flood), "{flood} events of 3,600 changes");
        assert!(is_news(&mut said, "a", 7, second(9000)), "the last state is said");
        assert!(is_news(&mut said, "b", 7, second(9000)), "and each object is for itself");
        // It could not be said.
        said.get_mut("b").expect("it was to be said").what = None;
        assert!(!is_news(&mut said, "b", 7, second(9001)), "it waits as an event does");
        assert!(is_news(&mut said, "b", 7, second(9006)));
    }
}
