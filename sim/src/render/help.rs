//! Names of verdicts, and what would change them, in words.

use kai_engine::{Blocked, Misfit, Missing, QueueLane, Remedy, Symbol, Why};

use super::why::{amount, counted};
use crate::names::Names;

/// A verdict's number and what would help; none when there is nothing to wait for.
///
/// ```text
/// KAI1205 free 1 GPU more on one node, or run with 2 pods
/// ```
pub fn help(verdict: &Why, names: &Names) -> Option<String> {
    let code = verdict.code()?;
    let remedies: Vec<String> =
        verdict.remedies().iter().map(|remedy| words(*remedy, names)).collect();
    Some(format!("KAI{code} {}", remedies.join(", or ")).trim_end().to_owned())
}

fn words(remedy: Remedy, names: &Names) -> String {
    match remedy {
        Remedy::CreateQueue => "create its queue and those above".to_owned(),
        Remedy::LeafQueue => "name a queue without queues below it".to_owned(),
        Remedy::SubGroups => {
            "mend its subgroups: names once, parents that exist, no ring".to_owned()
        }
        Remedy::Release => "move it to another node pool".to_owned(),
        Remedy::Pods { sub_group, count } => {
            format!("create {} more{}", pods(count), of(sub_group, names))
        }
        Remedy::Gates { sub_group, count } => {
            format!("lift the gates of {}{}", pods(count), of(sub_group, names))
        }
        Remedy::Limit { queue, lane, by } => format!(
            "raise the limit of {} by {}, or ask for as much less",
            names.of_queue(queue),
            measure(lane, by)
        ),
        Remedy::Quota { queue, lane, by } => {
            format!("raise the quota of {} by {}", names.of_queue(queue), measure(lane, by))
        }
        Remedy::Preemptible => "let it be evicted".to_owned(),
        Remedy::Wait { .. } => "wait until it may evict".to_owned(),
        Remedy::Gpus { more_milli } => {
            format!("free {} more on one node", counted(QueueLane::Gpu, more_milli))
        }
        Remedy::Free(lane) => format!("free {} on a node", names.of_lane(lane)),
        Remedy::Min { sub_group, min } => format!("run with {}{}", pods(min), of(sub_group, names)),
        Remedy::Tolerate(taint) => format!("tolerate the taint {}", names.of_symbol(taint.key)),
        Remedy::Open(Blocked::Unschedulable) => "uncordon a node".to_owned(),
        Remedy::Open(blocked) => format!("mend a node ({blocked:?})"),
        Remedy::Lift(reason) => lift(reason).to_owned(),
        Remedy::Topology(topology) => {
            format!("create the topology {}", names.of_topology(topology))
        }
        Remedy::Levels(topology) => {
            format!("name levels of {}, the preferred in the required", names.of_topology(topology))
        }
        Remedy::Turn { depth } => format!(
            "wait for its turn, raise its priority, or let more than {depth} of its queue have one \
             (queueDepthPerAction)"
        ),
        Remedy::Search => "wait until the search ends".to_owned(),
        Remedy::Label(level) => {
            format!("label the nodes of its running pods with {}", names.of_symbol(level))
        }
        Remedy::WiderLevel { topology, level } => {
            let level = level.map_or("any", |level| names.of_symbol(level));
            format!("ask for a level of {} wider than {level}", names.of_topology(topology))
        }
    }
}

fn lift(reason: Misfit) -> &'static str {
    match reason {
        Misfit::Selector => "select labels that a node has",
        Misfit::Worker => "label a node as a worker for this work",
        Misfit::LegacyMig => "ask for MIG instances by their resource, not by annotation",
        Misfit::NotMig | Misfit::MigSingle => "ask for whole GPUs",
        Misfit::MigMixed => "ask for MIG instances",
        Misfit::GpuMemoryUnknown => "have a node tell the memory of its GPUs",
        Misfit::GpuTooSmall => "ask for less GPU memory",
        Misfit::SetAside => {
            "mend the node on which a reservation failed, or wait until its GPU is tried again"
        }
        Misfit::Port => "ask for another host port, or add a node",
        Misfit::Affinity => "start the pods it must be near",
        Misfit::AntiAffinity => "add a node away from the pods it avoids",
        Misfit::Spread => "add nodes to the domain with the fewest such pods",
        Misfit::Barred => "add a node away from the pods that avoid it",
        Misfit::Taint(_) | Misfit::Blocked(_) | Misfit::BesideLegacyMig => "add a node",
        Misfit::Volume => "add a node from which its volume can be used",
        Misfit::VolumeUnbound => "add a volume for its claim",
        Misfit::StorageAbsent(_) => "add a node that has storage of the class of its claim",
        Misfit::StorageShort(_) => "free storage of the class of its claim",
        Misfit::Missing(Missing::Request(_)) => "mend what it asks for",
        Misfit::Missing(Missing::Turn) => "wait for its turn",
        Misfit::Missing(_) => "create what it refers to",
        Misfit::Devices => "free devices on one node",
        Misfit::Elsewhere => "free room where the devices of its claim are",
        Misfit::OnlyClaims => "ask for GPUs by claims",
        Misfit::Claim(..) => "mend its resource claim",
        Misfit::Zones => "ask for less than a NUMA zone has, or free some on one node",
        Misfit::Queue => "raise the limit or quota of its queue",
        Misfit::Short(_) | Misfit::Overhead(_) | Misfit::Device | Misfit::PodSlots => {
            "free more on one node"
        }
    }
}

fn pods(count: u32) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}

fn of(sub_group: Symbol, names: &Names) -> String {
    match names.of_symbol(sub_group) {
        "" => String::new(),
        name => format!(" of {name}"),
    }
}

fn measure(lane: QueueLane, units: i64) -> String {
    match lane {
        QueueLane::Memory => format!("{} bytes", amount(lane, units)),
        QueueLane::Cpu | QueueLane::Gpu => counted(lane, units),
    }
}
