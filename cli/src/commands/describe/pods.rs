//! The pods on the screen.

use serde_json::Value;

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::print::page::Page;
use crate::print::table::{Cell, Column, render};
use crate::workload::Workload;
use crate::workload::pod::{restarts, status};

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
