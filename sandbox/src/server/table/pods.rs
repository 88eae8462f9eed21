//! The columns of pods.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, since};
use crate::server::object;

/// The cells of a pod: ready, status, restarts, age, IP, node, nominated node, readiness gates, after its name.
///
/// # Source
///
/// `printPod` of kube-apiserver.
pub(super) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let statuses = object::array(pod, "/status/containerStatuses");
    let ready = statuses.iter().filter(|status| status.get("ready") == Some(&json!(true))).count();
    let sidecars = object::array(pod, "/spec/initContainers")
        .iter()
        .filter(|container| object::text(container, "/restartPolicy") == "Always")
        .count();
    let total = object::array(pod, "/spec/containers").len() + sidecars;
    let restarts: i64 =
        statuses.iter().filter_map(|status| status.get("restartCount")?.as_i64()).sum();
    let last = statuses
        .iter()
        .map(|status| object::text(status, "/lastState/terminated/finishedAt"))
        .max()
        .filter(|last| !last.is_empty() && restarts > 0);
    let restarts = match last {
        Some(last) => format!("{restarts} ({} ago)", since(last, now)),
        None => restarts.to_string(),
    };
    let or_none = |text: &str| if text.is_empty() { "<none>".to_owned() } else { text.to_owned() };
    let gates = object::array(pod, "/spec/readinessGates");
    vec![
        json!(format!("{ready}/{total}")),
        json!(status(pod)),
        json!(restarts),
        json!(age(pod, now)),
        json!(or_none(object::text(pod, "/status/podIP"))),
        json!(or_none(object::text(pod, "/spec/nodeName"))),
        json!(or_none(object::text(pod, "/status/nominatedNodeName"))),
        json!(if gates.is_empty() { "<none>".to_owned() } else { format!("0/{}", gates.len()) }),
    ]
}

/// The word that tells people how a pod is.
fn status(pod: &Value) -> String {
    let mut reason = object::text(pod, "/status/phase").to_owned();
    if !object::text(pod, "/status/reason").is_empty() {
        object::text(pod, "/status/reason").clone_into(&mut reason);
    }
    let gated = object::array(pod, "/status/conditions").iter().any(|condition| {
        object::text(condition, "/type") == "PodScheduled"
            && object::text(condition, "/reason") == "SchedulingGated"
    });
    if gated {
        "SchedulingGated".clone_into(&mut reason);
    }
    let mut initializing = false;
    let inits = object::array(pod, "/status/initContainerStatuses");
    for (index, status) in inits.iter().enumerate() {
        let ended = status.pointer("/state/terminated");
        if ended.is_some_and(|state| state.get("exitCode") == Some(&json!(0))) {
            continue;
        }
        reason = match ended {
            Some(state) => format!("Init:{}", terminated(state)),
            None => match object::text(status, "/state/waiting/reason") {
                "" | "PodInitializing" => format!("Init:{index}/{}", inits.len()),
                waiting => format!("Init:{waiting}"),
            },
        };
        initializing = true;
        break;
    }
    if !initializing {
        for status in object::array(pod, "/status/containerStatuses").iter().rev() {
            let waiting = object::text(status, "/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut reason);
            } else if let Some(state) = status.pointer("/state/terminated") {
                reason = terminated(state);
            }
        }
    }
    if object::is_deleting(pod) {
        return if reason == "NodeLost" { "Unknown".to_owned() } else { "Terminating".to_owned() };
    }
    reason
}

fn terminated(state: &Value) -> String {
    let number = |key: &str| state.get(key).and_then(Value::as_i64).unwrap_or(0);
    match (object::text(state, "/reason"), number("signal")) {
        ("", 0) => format!("ExitCode:{}", number("exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}
