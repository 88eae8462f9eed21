//! Describes what would let a group in, the least first: each alone changes the reason, and what it costs.

use kai_api::explanation::Help;
use kai_engine::{
    Blocked, Bound, GPU_MILLI, Lane, Limit, Misfit, Missing, NoRoom, PerLane, QueueId, QueueLane,
    Remedy, Shortage, Symbol, Why,
};

use super::{
    amount_text,
    sentence::{Asked, gpus, pods, time},
    thousandths,
};
use crate::{
    names::{Names, Number},
    short::is_name,
};

/// More ways out than anybody compares.
const HELP_MAX: usize = 4;

/// Lists what would help a group with this verdict.
#[expect(clippy::wildcard_enum_match_arm, reason = "most verdicts have their remedies alone")]
pub(super) fn all(why: &Why, asked: Asked<'_>) -> Vec<Help> {
    let mut all: Vec<Help> = match why {
        Why::NoRoom(no_room) => of_room(no_room, asked),
        Why::OverLimit(bound) => fewer(bound, bound.queue.limit, "work").into_iter().collect(),
        Why::OverQuota(bound) => fewer(bound, bound.queue.quota, "such work").into_iter().collect(),
        _ => Vec::new(),
    };
    all.extend(why.remedies().into_iter().filter_map(|remedy| of(remedy, why, asked)));
    all.extend(asked.proofs.iter().filter_map(|(_, shortage)| of_shortage(shortage)));
    all.truncate(HELP_MAX);
    all
}

fn you(text: impl Into<String>, cost: &str) -> Help {
    Help { text: text.into(), cost: String::from(cost), ..Help::default() }
}

fn admin(text: impl Into<String>, cost: &str) -> Help {
    Help { admin: true, ..you(text, cost) }
}

/// A smaller request, or the wait for work that holds what is bounded; none where the queue may hold nothing at all.
fn fewer(bound: &Bound, most: PerLane<Limit>, work: &str) -> Option<Help> {
    let lane = bound.lane;
    let most = most[lane].amount().unwrap_or(i64::MAX);
    if most == 0 {
        return None;
    }
    if bound.requested[lane] > most {
        return Some(you(format!("ask for {}, or less", amount(lane, most)), "it runs smaller"));
    }
    let less = match lane {
        QueueLane::Gpu => "fewer GPUs",
        QueueLane::Cpu => "fewer CPU cores",
        QueueLane::Memory => "less memory",
    };
    let text = format!("ask for {less}, or wait until {work} of the queue ends");
    Some(you(text, "it runs smaller, or later"))
}

/// Smaller requests, where more pods are too few or one pod is too large.
fn of_room(no_room: &NoRoom, asked: Asked<'_>) -> Vec<Help> {
    let mut all = Vec::new();
    if let Some(large) = &no_room.too_large {
        if large.lane == Lane::GPU && large.most >= GPU_MILLI && no_room.min <= 1 {
            let amount = large.request.amount(Lane::GPU);
            let split = (amount + large.most - 1) / large.most;
            let each = (amount / GPU_MILLI + split - 1) / split;
            let text = format!(
                "run it as {split} pods with {} each (--workers {split} --gpu {each})",
                gpus(each * GPU_MILLI)
            );
            all.push(you(text, "its code has to work across pods"));
        }
        let most = super::misfit::amount(large.lane, large.most);
        let name = asked.names.lane_name(large.lane);
        if large.most > 0 {
            all.push(you(format!("ask for {most} of {name} a pod, or less"), "it runs smaller"));
        }
        all.push(admin(format!("add a node with more of {name}"), "another node"));
    } else if no_room.is_beyond_capacity() {
        all.push(you(
            format!(
                "start it with {} (--min {})",
                pods(no_room.capacity.pods),
                no_room.capacity.pods
            ),
            "it runs smaller",
        ));
        all.push(admin("add nodes", "more nodes"));
    }
    all
}

/// Says a remedy; none where that is said better already.
fn of(remedy: Remedy, why: &Why, asked: Asked<'_>) -> Option<Help> {
    let is_impossible = matches!(why, Why::NoRoom(no_room) if no_room.is_beyond_capacity());
    match remedy {
        Remedy::CreateQueue
        | Remedy::LeafQueue
        | Remedy::Limit { .. }
        | Remedy::Quota { .. }
        | Remedy::Turn { .. } => of_queue(remedy, asked),
        Remedy::Gpus { .. } | Remedy::Free(_) | Remedy::Min { .. } if is_impossible => None,
        Remedy::Gpus { .. }
        | Remedy::Free(_)
        | Remedy::Min { .. }
        | Remedy::Tolerate(_)
        | Remedy::Open(_)
        | Remedy::Lift(_) => of_nodes(remedy, asked.names),
        Remedy::Topology(_) | Remedy::Levels(_) | Remedy::WiderLevel { .. } | Remedy::Label(_) => {
            of_topology(remedy, asked.names)
        }
        Remedy::SubGroups
        | Remedy::Release
        | Remedy::Pods { .. }
        | Remedy::Gates { .. }
        | Remedy::Preemptible
        | Remedy::Wait { .. }
        | Remedy::Search => of_group(remedy, asked.names),
    }
}

/// Lists what helps the group itself.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are said by the functions beside it"
)]
fn of_group(remedy: Remedy, names: &Names) -> Option<Help> {
    Some(match remedy {
        Remedy::SubGroups => {
            you("mend its sub-groups: names once, parents that exist, no ring", "none")
        }
        Remedy::Release => you("wait a moment: it is tried again by itself", "none"),
        Remedy::Pods { sub_group, count } => {
            you(format!("have {} more made{}", pods(count), of_sub_group(sub_group, names)), "none")
        }
        Remedy::Gates { sub_group, count } => {
            let of = of_sub_group(sub_group, names);
            you(format!("lift the scheduling gates of {}{of}", pods(count)), "none")
        }
        Remedy::Preemptible => {
            you("let it be evicted (--preemptible)", "others may take its place")
        }
        Remedy::Wait { until } => you(format!("wait until {}", time(until.0)), "time"),
        Remedy::Search => you("wait until the search ends", "none"),
        _ => return None,
    })
}

/// Lists what helps in the queues.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are said by the functions beside it"
)]
fn of_queue(remedy: Remedy, asked: Asked<'_>) -> Option<Help> {
    let names = asked.names;
    let state = |queue: QueueId| asked.cluster.queue_state(queue);
    let named = |queue: QueueId| names.queue_name(queue.number());
    Some(match remedy {
        Remedy::CreateQueue => {
            let Some(queue) = asked.missing_queue() else {
                return Some(admin("give one of those queues another parent, or none", "none"));
            };
            // A user names the queue, and an administrator runs the command.
            let command = is_name(queue).then(|| format!("kubectl kai queues create {queue}"));
            Help { command, ..admin("create the queue", "others may use it too") }
        }
        Remedy::LeafQueue => you("name a queue without queues below it", "none"),
        Remedy::Limit { queue, lane, by } => {
            let limit = state(queue).limit[lane].amount();
            let text = format!("raise the limit of queue {} by {}", named(queue), amount(lane, by));
            Help {
                command: limit.and_then(|limit| set(names, queue, "limit", lane, limit + by)),
                ..admin(text, "others of the queue may use more too")
            }
        }
        Remedy::Quota { queue, lane, by } => {
            let quota = state(queue).quota[lane].amount();
            let text = format!("raise the quota of queue {} by {}", named(queue), amount(lane, by));
            Help {
                command: quota.and_then(|quota| set(names, queue, "quota", lane, quota + by)),
                ..admin(text, "other queues are entitled to less of what is left")
            }
        }
        Remedy::Turn { .. } => {
            you("raise its priority, or wait for its turn", "others of the queue wait longer")
        }
        _ => return None,
    })
}

/// The command that sets an amount of a queue; none for memory, whose unit it does not take.
fn set(names: &Names, queue: QueueId, bound: &str, lane: QueueLane, amount: i64) -> Option<String> {
    let lane = match lane {
        QueueLane::Gpu => "gpu",
        QueueLane::Cpu => "cpu",
        QueueLane::Memory => return None,
    };
    let name = names.queues.key(queue.number());
    Some(format!("kubectl kai queues set {name} --{lane}-{bound} {}", thousandths(amount)))
}

/// Lists what helps on nodes.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are said by the functions beside it"
)]
fn of_nodes(remedy: Remedy, names: &Names) -> Option<Help> {
    Some(match remedy {
        Remedy::Gpus { more_milli } => {
            let more = gpus(more_milli);
            let is = if more_milli > GPU_MILLI { "are" } else { "is" };
            let text = format!("wait until {more} more {is} free on one node, or end work there");
            you(text, "time, or that work")
        }
        Remedy::Free(lane) => {
            let resource = super::misfit::resource(lane, names);
            you(format!("wait until more {resource} is free on one node, or ask for less"), "time")
        }
        Remedy::Min { sub_group, min } => {
            let of = of_sub_group(sub_group, names);
            let text = format!("start it with {} (--min {min}){of}", pods(min));
            you(text, "it runs smaller until more is free")
        }
        Remedy::Tolerate(taint) => {
            let key = names.text(taint.key);
            let cost = "it takes room that is meant for others";
            you(format!("tolerate the taint {key} (spec.tolerations)"), cost)
        }
        Remedy::Open(Blocked::Unschedulable) => {
            admin("open a cordoned node (kubectl uncordon NODE)", "what it was closed for")
        }
        Remedy::Open(_) => admin("mend the node", "none"),
        Remedy::Lift(misfit) => return lift(misfit),
        _ => return None,
    })
}

/// Lists what helps with a topology.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are said by the functions beside it"
)]
fn of_topology(remedy: Remedy, names: &Names) -> Option<Help> {
    Some(match remedy {
        Remedy::Topology(topology) => {
            let name = names.topologies.key(topology.number());
            admin(format!("create topology {name}, or name one that exists"), "none")
        }
        Remedy::Levels(topology) => {
            let name = names.topologies.key(topology.number());
            you(format!("name levels that topology {name} has"), "none")
        }
        Remedy::WiderLevel { .. } => you(
            "ask for a wider level, or only prefer this one (--topology LEVEL:preferred)",
            "its pods are further apart",
        ),
        Remedy::Label(level) => {
            admin(format!("label the nodes of its pods with {}", names.text(level)), "none")
        }
        _ => return None,
    })
}

fn of_shortage(shortage: &Shortage) -> Option<Help> {
    match shortage {
        Shortage::Runtime { until, .. } => Some(you(
            format!("wait until {}, when it may evict", time(until.0)),
            "time, and that work",
        )),
        Shortage::Gpus { .. }
        | Shortage::Pods { .. }
        | Shortage::Apart { .. }
        | Shortage::Together { .. }
        | Shortage::Domains { .. }
        | Shortage::Company
        | Shortage::Disruptions { .. }
        | Shortage::Others { .. } => None,
    }
}

fn lift(misfit: Misfit) -> Option<Help> {
    let text = match misfit {
        Misfit::Selector => "select labels that a node has",
        Misfit::LegacyMig => "ask for MIG instances by their resource, not by annotation",
        Misfit::NotMig | Misfit::MigSingle => "ask for whole GPUs",
        Misfit::MigMixed => "ask for MIG instances",
        Misfit::GpuTooSmall => "ask for less GPU memory",
        Misfit::Port => "ask for another host port",
        Misfit::Affinity => "start the pods that it has to be near",
        Misfit::Missing(Missing::Request(_)) => "mend what it asks for",
        Misfit::Missing(Missing::Turn) => "wait: it has its turn in a moment",
        Misfit::Missing(_) | Misfit::VolumeUnbound => "create what it refers to",
        Misfit::OnlyClaims => "ask for GPUs by resource claims",
        Misfit::Claim(..) => "mend its resource claim",
        Misfit::SetAside => "wait: the node is tried again by itself",
        Misfit::Worker => {
            return Some(admin("label a node as a worker for this kind of work", "none"));
        }
        Misfit::GpuMemoryUnknown => {
            return Some(admin(
                "have nodes tell the memory of their GPUs (nvidia.com/gpu.memory)",
                "none",
            ));
        }
        Misfit::AntiAffinity
        | Misfit::Barred
        | Misfit::Spread
        | Misfit::Volume
        | Misfit::StorageAbsent(_)
        | Misfit::StorageShort(_)
        | Misfit::Devices
        | Misfit::Elsewhere
        | Misfit::Zones
        | Misfit::BesideLegacyMig => {
            return Some(admin("add a node that takes it", "another node"));
        }
        Misfit::Taint(_)
        | Misfit::Blocked(_)
        | Misfit::Short(_)
        | Misfit::Overhead(_)
        | Misfit::Device
        | Misfit::PodSlots
        | Misfit::Queue => return None,
    };
    Some(you(text, "none"))
}

fn of_sub_group(sub_group: Symbol, names: &Names) -> String {
    match names.text(sub_group) {
        "" => String::new(),
        name => format!(" of sub-group {name}"),
    }
}

fn amount(lane: QueueLane, by: i64) -> String {
    match lane {
        QueueLane::Gpu => gpus(by),
        QueueLane::Cpu => format!("{} CPU cores", amount_text(lane, by)),
        QueueLane::Memory => format!("{} GB of memory", amount_text(lane, by)),
    }
}
