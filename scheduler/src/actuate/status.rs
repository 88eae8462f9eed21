//! Conditions on pods and pod groups, and the timestamps of pod groups.

use http::Method;
use kai_daemon::clock;
use serde_json::{Value, json};

use super::{Outcome, Write};
use crate::server::call::{Form, call};

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
    /// Its message.
    pub message: String,
}

impl PodCondition {
    pub(super) async fn carry_out(self, write: &Write) -> Outcome {
        let path = format!("/api/v1/namespaces/{}/pods/{}/status", self.namespace, self.name);
        let status = if self.is_true { "True" } else { "False" };
        let body = json!({
            "metadata": { "uid": self.uid },
            "status": { "conditions": [{
                "type": self.kind,
                "status": status,
                "reason": self.reason,
                "message": self.message,
                "lastTransitionTime": clock::now(),
            }]},
        });
        let patched = call(write, Method::PATCH, &path, Form::Strategic, &body).await;
        write.count("pod_condition", patched.is_ok());
        let settled = match &patched {
            Ok(_) => true,
            // A pod that was replaced is not there under its UID when the next attempt is due.
            Err(failure) => failure.code() == Some(404),
        };
        Outcome::Pod(self.pod, self.uid, settled)
    }
}
