//! Pods as they are read back to decide about reservations, and how they are deleted.

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Write;
use crate::server::call::{Failure, Form, call};

/// A reservation pod as it is read back.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Found {
    pub(super) metadata: FoundMeta,
    pub(super) spec: FoundSpec,
    pub(super) status: FoundStatus,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FoundMeta {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) uid: String,
    pub(super) labels: std::collections::BTreeMap<String, String>,
    pub(super) annotations: std::collections::BTreeMap<String, String>,
    pub(super) deletion_timestamp: Option<String>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FoundSpec {
    pub(super) node_name: String,
    pub(super) scheduler_name: String,
    pub(super) tolerations: Option<Vec<Value>>,
    pub(super) containers: Vec<FoundContainer>,
    pub(super) init_containers: Vec<FoundContainer>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct FoundContainer {
    pub(super) name: String,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FoundStatus {
    pub(super) phase: String,
    reason: String,
    message: String,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus {
    state: State,
    last_state: State,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct State {
    waiting: Option<Cause>,
    terminated: Option<Cause>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Cause {
    reason: String,
    message: String,
}

/// A list of pods.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct FoundList {
    pub(super) items: Vec<Found>,
}

impl Found {
    pub(super) fn has_ended(&self) -> bool {
        matches!(&*self.status.phase, "Failed" | "Succeeded")
    }

    /// Says why it says no device, as far as the API shows it.
    pub(super) fn cause(&self) -> Option<String> {
        let status = &self.status;
        let states = status.container_statuses.iter();
        let causes = states.flat_map(|one| {
            [&one.state.waiting, &one.state.terminated, &one.last_state.terminated]
        });
        let words = |reason: &str, message: &str| match (reason, message) {
            ("", "") => None,
            (reason, "") => Some(String::from(reason)),
            ("", message) => Some(String::from(message)),
            (reason, message) => Some(format!("{reason}: {}", message.trim())),
        };
        words(&status.reason, &status.message)
            .or_else(|| causes.flatten().find_map(|cause| words(&cause.reason, &cause.message)))
    }
}

/// Deletes a pod at once, this very one only; whether it is gone.
pub(super) async fn delete_now(write: &Write, path: &str, uid: &str) -> bool {
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": { "uid": uid },
    });
    match call(write, Method::DELETE, path, Form::Object, &body).await {
        Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }) => true,
        Err(failure) => {
            tracing::warn!("failed to delete the reservation pod at {path}: {failure}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_cause_is_what_the_kubelet_says() {
        let cause = |status: Value| {
            let pod: Found = serde_json::from_value(json!({"status": status})).expect("a pod");
            pod.cause()
        };
        let refused = json!({"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "no devices"});
        assert_eq!(cause(refused).as_deref(), Some("UnexpectedAdmissionError: no devices"));
        let image =
            json!({"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]});
        assert_eq!(cause(image).as_deref(), Some("ImagePullBackOff"));
        assert_eq!(cause(json!({"phase": "Running"})), None);
    }
}
