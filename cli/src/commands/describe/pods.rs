//! The pods on the screen.

use serde_json::{Value, json};

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::print::page::Page;
use crate::print::table::{Cell, Column, render};
use crate::workload::Workload;

/// More pods than anybody reads.
const SHOWN: usize = 32;

/// Adds a table of the pods.
pub(super) fn add(page: &mut Page, workload: &Workload) {
    if workload.pods.is_empty() {
        return page.row("Pods", "none yet");
    }
    let columns = ["POD", "STATUS", "NODE", "GPU", "RESTARTS"].map(Column::new);
    let row = |pod: &Value| -> Vec<Cell> {
        let node = text(&pod["spec"]["nodeName"]);
        vec![
            text(&pod["metadata"]["name"]).into(),
            status(pod).into(),
            if node.is_empty() { "-" } else { node }.into(),
            gpu::ask(pod).into(),
            restarts(pod).to_string().into(),
        ]
    };
    let rows: Vec<Vec<Cell>> = workload.pods.iter().take(SHOWN).map(row).collect();
    for (i, line) in render(&columns, &rows, usize::MAX, true).lines().enumerate() {
        page.line(if i == 0 { "Pods" } else { "" }, line);
    }
    if workload.pods.len() > SHOWN {
        page.row("", &format!("and {} more: kubectl get pods", workload.pods.len() - SHOWN));
    }
}

fn restarts(pod: &Value) -> u64 {
    let statuses = pod["status"]["containerStatuses"].as_array();
    statuses.map_or(0, |all| all.iter().filter_map(|c| c["restartCount"].as_u64()).sum())
}

/// How a pod stands, in kubectl's words.
fn status(pod: &Value) -> String {
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

/// A pod as data.
pub(super) fn data(pod: &Value) -> Value {
    json!({
        "name": pod["metadata"]["name"],
        "status": status(pod),
        "node": pod["spec"]["nodeName"],
        "gpu": gpu::ask(pod),
        "restarts": restarts(pod),
    })
}
