//! Warning events on pods.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

/// Component name in events and logs.
pub(crate) const COMPONENT: &str = "kai-podgrouper";
/// Longest message that the API takes.
const MESSAGE_BYTES_MAX: usize = 1024;
/// Distinct events remembered for counting; beyond that the memory starts anew.
const REMEMBERED_MAX: usize = 10_000;

/// The object an event is about.
#[derive(Debug, Clone)]
pub(crate) struct Subject<'a> {
    pub(crate) api_version: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) uid: &'a str,
}

/// Writes events; equal ones become one with a count.
pub(crate) struct Recorder {
    client: kube::Client,
    counts: Mutex<HashMap<String, u64>>,
}

impl Recorder {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self { client, counts: Mutex::default() }
    }

    /// Writes a warning; a failure is only logged, for an event is no one's input.
    pub(crate) async fn warn(&self, subject: &Subject<'_>, reason: &str, message: &str) {
        if let Err(error) = self.write(subject, reason, message).await {
            tracing::warn!(
                object = %format!("{}/{}", subject.namespace, subject.name), %error,
                "failed to write an event"
            );
        }
    }

    async fn write(
        &self,
        subject: &Subject<'_>,
        reason: &str,
        message: &str,
    ) -> Result<(), kube::Error> {
        let mut end = message.len().min(MESSAGE_BYTES_MAX);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        let message = &message[..end];
        let mut hasher = DefaultHasher::new();
        (subject.uid, reason, message).hash(&mut hasher);
        let stem = &subject.name[..subject.name.len().min(200)];
        let name = format!("{stem}.{:016x}", hasher.finish());
        let count = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.len() > REMEMBERED_MAX {
                counts.clear();
            }
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            *count
        };
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), subject.namespace, &resource);
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        if count > 1 {
            let patch = json!({"count": count, "lastTimestamp": now});
            let patched = api.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await;
            match patched {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                other => return other.map(|_| ()),
            }
        }
        let event = event(subject, &name, reason, message, &now);
        let event = serde_json::from_value(event).map_err(kube::Error::SerdeError)?;
        match api.create(&PostParams::default(), &event).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {
                let patch = json!({"lastTimestamp": now});
                api.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await.map(|_| ())
            }
            other => other.map(|_| ()),
        }
    }
}

fn event(subject: &Subject<'_>, name: &str, reason: &str, message: &str, now: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": subject.namespace},
        "involvedObject": {
            "apiVersion": subject.api_version, "kind": subject.kind,
            "namespace": subject.namespace, "name": subject.name, "uid": subject.uid,
        },
        "type": "Warning",
        "reason": reason,
        "message": message,
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
    })
}
