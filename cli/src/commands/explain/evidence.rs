//! Describes what shows why a workload waits: its gang, its queues, the nodes, the evictions, its turn.

use kai_api::explanation::{Explanation, Queue};

use super::answer::devices;
use super::evicted;
use super::known::Known;
use crate::cluster::gpu;
use crate::workload::Phase;

/// Workloads before it that are named.
const AHEAD_SHOWN: usize = 3;

/// All that shows it, a title and a text each.
pub(super) fn of(known: &Known) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(explanation) = &known.workload.explanation {
        rows.extend(gang(explanation));
        rows.extend(gpus(explanation));
    }
    rows.extend(queues(known));
    if let Some(explanation) = &known.workload.explanation {
        rows.extend(nodes(explanation));
        let each = explanation.proofs.iter().enumerate();
        rows.extend(each.map(|(at, proof)| (if at == 0 { "Evicting" } else { "" }, proof.clone())));
    }
    rows.extend(order(known));
    if let Some(eviction) = &known.eviction {
        rows.extend(evicted::evidence(known, eviction));
    }
    rows
}

fn gang(explanation: &Explanation) -> Option<(&'static str, String)> {
    let gang = explanation.gang.as_ref()?;
    let of = if gang.sub_group.is_empty() {
        String::new()
    } else {
        format!(" of sub-group {}", gang.sub_group)
    };
    let text = match explanation.code.as_str() {
        "KAI1207" | "KAI1208" => {
            format!("{} of {} pods{of} are there and free to start", gang.placed, gang.needed)
        }
        _ => {
            format!("{} of the {} pods{of} that start together find room", gang.placed, gang.needed)
        }
    };
    Some(("Gang", text))
}

fn gpus(explanation: &Explanation) -> Option<(&'static str, String)> {
    let gpus = explanation.gpus.as_ref()?;
    let text = format!(
        "{} a pod · {} free after placing the pods that fit, at most {} on one node · the largest node has {}",
        devices(gpus.each_milli),
        devices(gpus.free_milli),
        devices(gpus.free_node_max_milli.max(gpus.free_part_max_milli)),
        devices(gpus.node_max_milli),
    );
    Some(("GPUs", text))
}

/// The queue and those above it: as the scheduler saw them, else as the objects say.
fn queues(known: &Known) -> Vec<(&'static str, String)> {
    let told = known.workload.explanation.as_ref().map(|one| one.queues.as_slice());
    let told = told.filter(|queues| !queues.is_empty());
    let lines: Vec<String> = match told {
        Some(queues) => queues.iter().map(line).collect(),
        None => objects(known).into_iter().map(line_of_object).collect(),
    };
    let titled = lines.into_iter().enumerate();
    titled.map(|(at, text)| (if at == 0 { "Queue" } else { "" }, text)).collect()
}

fn line(queue: &Queue) -> String {
    let limit = queue.limit_milli.map_or_else(|| "none".to_owned(), devices);
    let quota = queue.quota_milli.map_or_else(|| "unlimited".to_owned(), devices);
    format!(
        "{}: holds {} · quota {quota} · fair share {} · limit {limit} · wants {}",
        queue.name,
        devices(queue.used_milli),
        devices(queue.share_milli),
        devices(queue.asked_milli),
    )
}

/// The queue of the workload and those above it, where queues may be read.
fn objects(known: &Known) -> Vec<&crate::cluster::queue::Queue> {
    let Some(queues) = &known.queues else { return Vec::new() };
    queues.up(&known.workload.queue).collect()
}

fn line_of_object(queue: &crate::cluster::queue::Queue) -> String {
    let held = gpu::status_milli(&queue.object["status"]["allocated"]);
    let held = held.map_or_else(|| "?".to_owned(), gpu::devices);
    let amount = |amount: crate::cluster::queue::Amount, none: &str| {
        amount.milli().map_or_else(|| none.to_owned(), gpu::devices)
    };
    format!(
        "{}: holds {held} · quota {} · limit {}",
        queue.name,
        amount(queue.gpu.quota, "unlimited"),
        amount(queue.gpu.limit, "none"),
    )
}

/// That its queue holds more than its quota, so that others may take it back.
pub(super) fn borrowing(known: &Known) -> Option<String> {
    let queue = known.queues.as_ref()?.0.get(&known.workload.queue)?;
    let held = gpu::status_milli(&queue.object["status"]["allocated"])?;
    let over = held.checked_sub(queue.gpu.quota.milli()?).filter(|over| *over > 0)?;
    Some(format!(
        "Its queue {} holds {} above its quota: others may take them back.",
        queue.name,
        format_args!("{} GPU", gpu::devices(over))
    ))
}

fn nodes(explanation: &Explanation) -> Option<(&'static str, String)> {
    let each = explanation.nodes.iter().map(|one| format!("{} {}", one.count, one.reason));
    let text = each.collect::<Vec<_>>().join(" · ");
    (!text.is_empty()).then_some(("Nodes", text))
}

fn order(known: &Known) -> Option<(&'static str, String)> {
    let line = known.line.as_ref().filter(|_| known.workload.phase() != Phase::Running)?;
    let ahead: Vec<&str> = line.ahead.iter().take(AHEAD_SHOWN).map(String::as_str).collect();
    let more = line.ahead.len().saturating_sub(AHEAD_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let before = if ahead.is_empty() {
        "nobody of the queue is tried before it".to_owned()
    } else {
        format!("before it: {}{more}", ahead.join(", "))
    };
    Some((
        "Order",
        format!("{} of {} in queue {} · {before}", line.place, line.of, known.workload.queue),
    ))
}
