//! Describes how work stands just after it was submitted: for whoever looks at a terminal.

use std::time::{Duration, Instant};

use super::Document;
use crate::cluster::Cluster;
use crate::context::Context;
use crate::print::output::clean;
use crate::workload::{Workload, load_readable};

/// Sets how long the scheduler gets to have said something.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(150);

/// Says how the workload stands, with its position and the reason where it waits. Silent for several at once, and where
/// nothing can be read: it was created all the same.
pub(super) async fn first(created: &[Document], cluster: &Cluster, context: &mut Context) {
    let mut workloads = created.iter().filter(|document| document.is_workload);
    let (Some(document), None) = (workloads.next(), workloads.next()) else { return };
    let namespace = document.namespace(cluster).map(str::to_owned);
    let cluster = cluster.clone().hurried(PATIENCE);
    let begin = Instant::now();
    let mut found: Option<Workload> = None;
    while begin.elapsed() < PATIENCE {
        let Ok(mut loaded) = load_readable(&cluster, namespace.as_deref()).await else { break };
        loaded
            .workloads
            .retain(|one| one.name == document.name() && one.resource.kind == document.kind());
        let is_told = |one: &Workload| !one.state().is_passing();
        let told = loaded.workloads.first().is_some_and(is_told);
        loaded.find_positions(&cluster).await;
        found = loaded.workloads.pop().or(found);
        if told {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    if let Some(workload) = found {
        context.out.talk(&line(&workload));
    }
}

/// `Pending (NoCapacity) · position 2 of 3: ..`.
fn line(workload: &Workload) -> String {
    let state = workload.state();
    let position = workload
        .position
        .map_or_else(String::new, |at| format!(" · position {} of {}", at.place, at.of));
    let message = state.message.as_deref().filter(|_| state.phase.is_queued());
    let message =
        message.map_or_else(String::new, |message| format!(": {}", message.replace('\n', " ")));
    let shown = state.phase.style().paint(&clean(&state.show()));
    format!("  {shown}{position}{}", clean(&message))
}
