//! The status patches that a kubelet writes, as strategic merge patches guarded by the pod's UID.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::object::seconds;
use super::pod::Pod;

/// What the simulated kubelet knows beyond the pod itself.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// When the containers started.
    pub(super) started: Timestamp,
    /// The pod's address.
    pub(super) pod_ip: String,
    /// How often the containers were started again.
    pub(super) restarts: u32,
}

/// All containers run and are ready.
pub(super) fn running(pod: &Pod, facts: &Facts) -> Value {
    let at = seconds(facts.started);
    let state = json!({"running": {"startedAt": at}});
    let mut status = common(facts, "Running", &at);
    status["conditions"] = conditions("True", None, &at);
    status["containerStatuses"] = containers(pod, facts, &state, true);
    status["initContainerStatuses"] = init_containers(pod, &at);
    guarded(pod, &status)
}

/// The containers ended with `code`; `reason` is `None` for an ordinary end.
pub(super) fn ended(pod: &Pod, facts: &Facts, now: Timestamp, code: i32) -> Value {
    let (phase, word) = if code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
    let at = seconds(now);
    let state = json!({"terminated": {
        "exitCode": code, "reason": word, "startedAt": seconds(facts.started), "finishedAt": at}});
    let mut status = common(facts, phase, &seconds(facts.started));
    let why = if code == 0 { "PodCompleted" } else { "PodFailed" };
    status["conditions"] = conditions("False", Some(why), &at);
    status["containerStatuses"] = containers(pod, facts, &state, false);
    guarded(pod, &status)
}

/// The kubelet does not take the pod.
pub(super) fn rejected(pod: &Pod, now: Timestamp, reason: &str, message: &str) -> Value {
    let status = json!({
        "phase": "Failed", "reason": reason, "message": format!("Pod was rejected: {message}"),
        "startTime": seconds(now),
    });
    guarded(pod, &status)
}

fn common(facts: &Facts, phase: &str, start: &str) -> Value {
    json!({
        "phase": phase,
        "startTime": start,
        "hostIP": "127.0.0.1",
        "hostIPs": [{"ip": "127.0.0.1"}],
        "podIP": facts.pod_ip,
        "podIPs": [{"ip": facts.pod_ip}],
    })
}

fn conditions(ready: &str, reason: Option<&str>, at: &str) -> Value {
    let one = |kind: &str, status: &str, reason: Option<&str>| {
        let mut condition = json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": at});
        if let Some(reason) = reason {
            condition["reason"] = json!(reason);
        }
        condition
    };
    json!([
        one("PodReadyToStartContainers", ready, None),
        one("Initialized", "True", None),
        one("Ready", ready, reason),
        one("ContainersReady", ready, reason),
    ])
}

fn containers(pod: &Pod, facts: &Facts, state: &Value, ready: bool) -> Value {
    let statuses = pod.spec.containers.iter().map(|container| {
        json!({
            "name": container.name, "image": container.image, "imageID": container.image,
            "containerID": id(pod, &container.name, facts.restarts),
            "ready": ready, "started": ready, "restartCount": facts.restarts, "state": state,
        })
    });
    statuses.collect()
}

fn init_containers(pod: &Pod, at: &str) -> Value {
    let statuses = pod.spec.init_containers.iter().map(|container| {
        let sidecar = container.restart_policy == "Always";
        let state = if sidecar {
            json!({"running": {"startedAt": at}})
        } else {
            json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": at, "finishedAt": at}})
        };
        json!({
            "name": container.name, "image": container.image, "imageID": container.image,
            "containerID": id(pod, &container.name, 0),
            "ready": true, "started": sidecar, "restartCount": 0, "state": state,
        })
    });
    statuses.collect()
}

fn id(pod: &Pod, container: &str, restarts: u32) -> String {
    let uid = pod.metadata.uid.as_deref().unwrap_or_default();
    format!("simulated://{uid}/{container}/{restarts}")
}

/// With the UID in it the server refuses the patch for another pod of the same name.
fn guarded(pod: &Pod, status: &Value) -> Value {
    json!({"metadata": {"uid": pod.metadata.uid}, "status": status})
}
