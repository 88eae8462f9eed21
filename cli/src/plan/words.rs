//! An outcome in words, and for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::outcome::{Fate, Outcome, Start, Victim};
use super::situation::{Origin, Situation};
use crate::cluster::queue::count;
use crate::print::duration;
use crate::print::error::Exit;
use crate::print::output::clean;
pub(crate) use crate::workload::eta::range;

/// Sets how far it is looked for starts when nothing else is said: 30 days.
pub(crate) const HORIZON_SECONDS: i64 = 30 * 86_400;

/// Returns how a simulation ends.
pub(crate) fn exit(outcome: &Outcome, is_asked: bool) -> Exit {
    let starts =
        |start: &Start| matches!(start, Start::Running | Start::Now | Start::AfterEvictions);
    if is_asked && !outcome.workloads.iter().all(|fate| starts(&fate.start)) {
        Exit::Pending
    } else {
        Exit::Ok
    }
}

/// An outcome, and of what cluster.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told<'o> {
    /// Says where the cluster was read.
    of: String,
    /// When it was.
    taken: String,
    #[serde(flatten)]
    outcome: &'o Outcome,
}

/// The outcome for programs.
pub(crate) fn told<'o>(outcome: &'o Outcome, situation: &Situation) -> Told<'o> {
    let taken = jiff::Timestamp::from_millisecond(situation.snapshot.taken.0).unwrap_or_default();
    Told { of: of(&situation.origin), taken: taken.to_string(), outcome }
}

/// Says where a cluster was read.
pub(crate) fn of(origin: &Origin) -> String {
    match origin {
        Origin::Cluster => "the cluster".to_owned(),
        Origin::Snapshot(file) => format!("the snapshot {}", clean(file)),
        Origin::Scenario(file) => format!("the scenario {}", clean(file)),
    }
}

/// `big (4 pods, 32 GPUs)`.
pub(crate) fn asks(fate: &Fate) -> String {
    let pods = fate.pods.len();
    let pods = if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") };
    let gpus = match &*fate.gpus {
        "0" => String::new(),
        "1" => ", 1 GPU".to_owned(),
        gpus => format!(", {gpus} GPUs"),
    };
    format!("{} ({pods}{gpus})", clean(&fate.name))
}

/// The nodes of work, each once with how many of its pods go there.
pub(crate) fn nodes(fate: &Fate) -> Vec<String> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for node in fate.pods.iter().filter_map(|placed| placed.node.as_deref()) {
        *counts.entry(node).or_default() += 1;
    }
    let shown = counts.into_iter().map(|(node, count)| match count {
        1 => clean(node).into_owned(),
        count => format!("{}×{count}", clean(node)),
    });
    shown.collect()
}

/// A start in few words.
pub(crate) fn state(start: &Start) -> String {
    match start {
        Start::Running => "runs".to_owned(),
        Start::Now => "starts".to_owned(),
        Start::AfterEvictions => "starts by evictions".to_owned(),
        Start::Later { earliest_seconds, latest_seconds } => {
            format!("waits, starts {}", range(*earliest_seconds, *latest_seconds))
        }
        Start::Never => "can never start".to_owned(),
        Start::Unknown => "waits".to_owned(),
    }
}

/// Says who loses what, to whom, and what becomes of it.
pub(crate) fn loss(victim: &Victim) -> String {
    let gpus = count(&victim.gpus, "GPU");
    let ran = victim
        .ran_seconds
        .map_or_else(String::new, |seconds| format!(", {} of work", duration::short(seconds)));
    let whom = match (&victim.for_workload, victim.action) {
        (Some(whom), action) => format!("{action} for {whom}"),
        (None, action) => action.to_owned(),
    };
    let then = match victim.then {
        "restarts" => format!("it starts again on {}", victim.on.join(" ")),
        "shrinks" => format!("it goes on with fewer pods on {}", victim.on.join(" ")),
        "gone" => "nothing makes it again".to_owned(),
        _ => "it waits again".to_owned(),
    };
    format!(
        "{}/{} of {} leaves {}: {gpus}{ran} ({whom}); {then}",
        victim.namespace,
        victim.name,
        victim.queue,
        victim.nodes.join(" "),
    )
}
