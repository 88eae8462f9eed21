//! Conditions on pods and pod groups, and the timestamps of pod groups.

use std::{sync::Arc, time::Duration};

use http::Method;
use kai_daemon::{backoff_to, clock, event::whole_second};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{LOOK_MAX, Outcome, Write, comes_true_late};
use crate::server::call::{Failure, Form, call, read};

/// So long it is tried to say that a pod is bound: an API server that is started anew is there by then.
const SAY_MAX: Duration = Duration::from_mins(1);
/// A condition without an answer is looked for after pauses of so long: thousands may be without one at a time.
const SAID_LOOK: Duration = Duration::from_secs(20);

/// Changes to a pod group, guarded by the version they were computed from.
#[derive(Clone, Debug)]
pub struct GroupPatch {
    /// The group by number.
    pub group: u32,
    /// Its UID.
    pub uid: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The version that was read.
    pub version: Box<str>,
    /// Holds what changes.
    pub change: GroupChange,
}

/// Says what changes of a pod group.
#[derive(Clone, Debug)]
pub enum GroupChange {
    /// `status.schedulingConditions`, whole.
    Conditions(Vec<Value>),
    /// Annotations to set, or to remove where there is no value.
    Annotations(Vec<(&'static str, Option<String>)>),
}

impl GroupPatch {
    pub(super) async fn carry_out(self, write: &Write) -> Outcome {
        let base = format!(
            "/apis/scheduling.run.ai/v2alpha2/namespaces/{}/podgroups/{}",
            self.namespace, self.name
        );
        let (path, body) = match &self.change {
            GroupChange::Conditions(conditions) => (
                format!("{base}/status"),
                json!({
                    "metadata": { "resourceVersion": self.version },
                    "status": { "schedulingConditions": conditions },
                }),
            ),
            GroupChange::Annotations(annotations) => {
                let map: serde_json::Map<String, Value> = annotations
                    .iter()
                    .map(|(key, value)| (String::from(*key), json!(value)))
                    .collect();
                let metadata = json!({ "resourceVersion": self.version, "annotations": map });
                (base, json!({ "metadata": metadata }))
            }
        };
        let patched = call(write, Method::PATCH, &path, Form::Merge, &body).await;
        write.count("podgroup", patched.is_ok());
        let code = match &patched {
            Ok(_) => None,
            Err(failure) => failure.code(),
        };
        // A conflict is settled by what the watch brings next. Of a group that is gone nobody asks again.
        let settled = patched.is_ok() || code == Some(409);
        if let Err(failure) = &patched
            && !settled
            && code != Some(404)
        {
            tracing::warn!(namespace = %self.namespace, podgroup = %self.name, %failure,
                "failed to write the pod group");
        }
        let version = patched.ok().and_then(|object| version(&object));
        Outcome::Group { group: self.group, uid: self.uid, settled, version }
    }
}

/// The version of an object as the API server answers with it.
fn version(object: &[u8]) -> Option<Box<str>> {
    let object: Value = serde_json::from_slice(object).ok()?;
    object["metadata"]["resourceVersion"].as_str().map(Box::from)
}

/// One condition of a pod.
#[derive(Clone, Debug)]
pub struct PodCondition {
    /// The pod by number.
    pub pod: u32,
    /// Its UID.
    pub uid: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The condition's type.
    pub kind: &'static str,
    /// Its status.
    pub is_true: bool,
    /// Its reason.
    pub reason: &'static str,
    /// Its message, which those of a group that wait share.
    pub message: Arc<str>,
}

impl PodCondition {
    pub(super) async fn carry_out(self, write: &Write) -> Outcome {
        let status = if self.is_true { "True" } else { "False" };
        // As the API server keeps it.
        let at = whole_second(clock::now()).to_string();
        let body = json!({
            "metadata": { "uid": self.uid },
            "status": { "conditions": [{
                "type": self.kind,
                "status": status,
                "reason": self.reason,
                "message": &*self.message,
                "lastTransitionTime": at,
            }]},
        });
        let patched = self.patch(write, &body).await;
        write.count("pod_condition", patched.is_ok());
        let settled = match &patched {
            Ok(()) => true,
            // It would come after the next bind of the pod, which waits for it.
            Err(Failure::Unsure(_)) if !self.is_true => {
                comes_true_late(write, |_| SAID_LOOK, || self.is_said(write, &at)).await
            }
            // A pod that was replaced is not there under its UID when the next attempt is due.
            Err(failure) => failure.code() == Some(404),
        };
        Outcome::Pod(self.pod, self.uid, settled)
    }

    /// Writes it. That a pod is bound is written again where no certain answer came, as nobody looks at the pod for it
    /// later; written twice it is the same.
    async fn patch(&self, write: &Write, body: &Value) -> Result<(), Failure> {
        let path = self.path("/status");
        let began = Instant::now();
        let mut failures = 0;
        loop {
            let patched = call(write, Method::PATCH, &path, Form::Strategic, body).await;
            let is_unsure = matches!(patched, Err(Failure::Unsure(_)));
            let is_again = self.is_true && is_unsure && began.elapsed() < SAY_MAX;
            if !is_again {
                return patched.map(drop);
            }
            failures += 1;
            write.idle.cancel();
            tokio::select! {
                biased;
                () = write.stop.cancelled() => return patched.map(drop),
                () = sleep(backoff_to(failures, LOOK_MAX)) => {}
            }
        }
    }

    /// Tells whether the pod has it since then, or is no more. It may have said the same before.
    async fn is_said(&self, write: &Write, at: &str) -> Result<bool, Failure> {
        let pod = match read(&write.client, &self.path("")).await {
            Ok(pod) => pod,
            Err(failure) if failure.code() == Some(404) => return Ok(true),
            Err(failure) => return Err(failure),
        };
        let pod: Value = serde_json::from_slice(&pod).unwrap_or_default();
        let is_it = |row: &Value| {
            row["type"] == self.kind
                && row["message"] == *self.message
                && row["lastTransitionTime"] == at
        };
        let conditions = pod["status"]["conditions"].as_array();
        let has_it = conditions.is_some_and(|conditions| conditions.iter().any(is_it));
        Ok(has_it || pod["metadata"]["uid"] != *self.uid)
    }

    fn path(&self, subresource: &str) -> String {
        format!("/api/v1/namespaces/{}/pods/{}{subresource}", self.namespace, self.name)
    }
}
