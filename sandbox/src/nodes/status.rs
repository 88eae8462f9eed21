//! The status patches that a kubelet writes, as strategic merge patches guarded by the pod's UID.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::environment::Waiting;
use super::kubelet::Given;
use super::ledger::Misfit;
use super::object::seconds;
use super::pod::{Pod, given};

/// Facts that the simulated kubelet knows beyond the pod itself.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// Time when the containers started.
    pub(super) started: Timestamp,
    /// The pod's address.
    pub(super) pod_ip: String,
    /// Number of times that the containers were started again.
    pub(super) restarts: u32,
    /// The devices that the device plugin gave to the pod.
    pub(super) devices: Vec<String>,
    /// Requests that its containers were given.
    pub(super) given: Given,
    /// Says why they were not given what they ask for by now, as the pod's status says it.
    pub(super) refused: Option<Misfit>,
}

/// All containers run and are ready.
pub(super) fn running(pod: &Pod, facts: &Facts) -> Value {
    let at = seconds(facts.started);
    let state = json!({"running": {"startedAt": at}, "waiting": null, "terminated": null});
    let mut status = common(facts, "Running", &at);
    status["conditions"] = conditions("True", None, &at);
    status["containerStatuses"] = containers(pod, facts, &state, true);
    status["initContainerStatuses"] = init_containers(pod, facts, &at);
    guarded(pod, &status)
}

/// Containers that run were given what they ask for by now, or are told why not.
pub(super) fn resized(pod: &Pod, facts: &Facts, now: Timestamp) -> Value {
    let pending = match &facts.refused {
        Some(Misfit { reason, message }) => {
            json!({"type": "PodResizePending", "status": "True", "reason": reason,
            "message": message, "lastProbeTime": null, "lastTransitionTime": seconds(now)})
        }
        None => json!({"type": "PodResizePending", "$patch": "delete"}),
    };
    let mut patch = running(pod, facts);
    if let Some(conditions) = patch["status"]["conditions"].as_array_mut() {
        conditions.push(pending);
    }
    patch
}

/// Containers do not start, or not again.
pub(super) fn waiting(pod: &Pod, facts: &Facts, phase: &str, why: &Waiting) -> Value {
    let at = seconds(facts.started);
    let state = |container: &str| {
        let is_named = why.container.is_empty() || why.container == container;
        let (reason, message) =
            if is_named { (why.reason, why.message.as_str()) } else { ("ContainerCreating", "") };
        let mut waiting = json!({ "reason": reason });
        if !message.is_empty() {
            waiting["message"] = json!(message);
        }
        // The patch is merged: what the container was before has to be taken away.
        json!({ "waiting": waiting, "running": null, "terminated": null })
    };
    let mut status = common(facts, phase, &at);
    status["conditions"] = conditions("False", Some("ContainersNotReady"), &at);
    let statuses = pod.spec.containers.iter().map(|container| {
        json!({
            "name": container.name, "image": container.image, "imageID": "",
            "ready": false, "started": false, "restartCount": facts.restarts,
            "state": state(&container.name),
        })
    });
    status["containerStatuses"] = statuses.collect();
    guarded(pod, &status)
}

/// The containers ended with `code`; `reason` is `None` for an ordinary end.
pub(super) fn ended(pod: &Pod, facts: &Facts, now: Timestamp, code: i32) -> Value {
    let (phase, word) = if code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
    let at = seconds(now);
    let state = json!({"running": null, "waiting": null, "terminated": {
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
    let regular = given(&pod.spec, &facts.devices).skip(pod.spec.init_containers.len());
    let statuses = regular.map(|(container, devices)| {
        let mut status = json!({
            "name": container.name, "image": container.image, "imageID": container.image,
            "containerID": id(pod, &container.name, facts.restarts),
            "ready": ready, "started": ready, "restartCount": facts.restarts, "state": state,
            "resources": {"requests": facts.given.get(&container.name)},
        });
        if !devices.is_empty() {
            let held =
                devices.iter().map(|device| json!({"resourceID": device, "health": "Healthy"}));
            let held: Vec<Value> = held.collect();
            status["allocatedResourcesStatus"] =
                json!([{"name": "nvidia.com/gpu", "resources": held}]);
        }
        status
    });
    statuses.collect()
}

fn init_containers(pod: &Pod, facts: &Facts, at: &str) -> Value {
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
            "resources": {"requests": facts.given.get(&container.name)},
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
