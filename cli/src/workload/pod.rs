//! A pod as people and programs read it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cluster::gpu;
use crate::cluster::json::text;

/// A pod.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pod {
    /// Its name.
    name: String,
    /// Says how it stands, in kubectl's words.
    status: String,
    /// Node that it is on; absent before there is one.
    node: Option<String>,
    /// GPUs that it asks for, as text.
    gpu: String,
    /// Says how often its containers were started again.
    restarts: u64,
}

/// A pod as data.
pub(crate) fn data(pod: &Value) -> Pod {
    Pod {
        name: text(&pod["metadata"]["name"]).to_owned(),
        status: status(pod),
        node: pod["spec"]["nodeName"].as_str().map(str::to_owned),
        gpu: gpu::ask(pod),
        restarts: restarts(pod),
    }
}

/// Returns how often its containers were started again.
pub(crate) fn restarts(pod: &Value) -> u64 {
    let statuses = pod["status"]["containerStatuses"].as_array();
    statuses.map_or(0, |all| all.iter().filter_map(|c| c["restartCount"].as_u64()).sum())
}

/// Says how a pod stands, in kubectl's words.
pub(crate) fn status(pod: &Value) -> String {
    let waiting = pod["status"]["containerStatuses"].as_array().and_then(|all| {
        all.iter().map(|c| text(&c["state"]["waiting"]["reason"])).find(|reason| !reason.is_empty())
    });
    match (text(&pod["status"]["phase"]), waiting) {
        _ if pod["metadata"]["deletionTimestamp"].is_string() => "Terminating".to_owned(),
        ("Pending", _) if !text(&pod["spec"]["nodeName"]).is_empty() => {
            waiting.unwrap_or("Starting").to_owned()
        }
        (phase, Some(reason)) if phase != "Succeeded" && phase != "Failed" => reason.to_owned(),
        ("", _) => "Pending".to_owned(),
        (phase, _) => phase.to_owned(),
    }
}
