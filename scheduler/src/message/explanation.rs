//! Describes what is known of a group that waits beyond the words of the contract: the annotation on it.

use kai_api::explanation::{Explanation, Gang, Gpus, Queue, Refusing};
use kai_engine::{GPU_MILLI, GroupId, QueueLane, TopologyId, Why};
use kai_sim::render;

use super::{
    help,
    sentence::{Asked, nodes, reason},
};
use crate::names::Number;

/// More reasons of nodes than anybody reads.
const REASONS_MAX: usize = 6;
/// More levels of queues than there are.
const QUEUES_MAX: usize = 8;

/// Explains why a group waits: the reason, what shows it, and what would help. None where it waits for nothing.
pub fn explanation(asked: Asked<'_>) -> Option<Explanation> {
    let Asked { why, proofs, names, .. } = asked;
    let reason = reason(asked)?;
    let standing = why.standing().map_or(why, innermost);
    let symbol = |symbol| names.text(symbol);
    let topology = |topology: TopologyId| &**names.topologies.key(topology.number());
    let mut clauses: Vec<String> =
        proofs.iter().map(|(kind, proof)| render::proof(*kind, proof, symbol, topology)).collect();
    if let Why::Undecided { progress, .. } = why {
        clauses.push(render::search(progress));
    }
    Some(Explanation {
        code: format!("KAI{}", reason.code),
        reason: String::from(reason.word),
        never: reason.never,
        sentence: reason.sentence,
        gang: gang(standing, asked),
        gpus: gpus(standing),
        queues: queues(asked),
        nodes: refusing(standing, asked),
        proofs: clauses,
        help: help::all(standing, asked),
        ..Explanation::default()
    })
}

/// The reason behind a delay.
fn innermost(why: &Why) -> &Why {
    if let Why::Delayed { why, .. } = why { innermost(why) } else { why }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only these two count pods")]
fn gang(why: &Why, asked: Asked<'_>) -> Option<Gang> {
    let (sub_group, needed, placed) = match why {
        Why::NoRoom(no_room) if no_room.gang && no_room.min > 1 => {
            (no_room.sub_group, no_room.min, no_room.placed)
        }
        Why::NotReady(unready) => {
            let first = unready.first()?;
            (first.sub_group, first.min, first.alive.saturating_sub(first.gated))
        }
        _ => return None,
    };
    Some(Gang { sub_group: String::from(asked.names.text(sub_group)), needed, placed })
}

fn gpus(why: &Why) -> Option<Gpus> {
    let Why::NoRoom(no_room) = why else { return None };
    (no_room.gpu_milli > 0).then(|| Gpus {
        each_milli: no_room.gpu_milli,
        free_milli: no_room.free.gpu_milli,
        free_node_max_milli: i64::from(no_room.free.whole_max) * GPU_MILLI,
        free_part_max_milli: i64::from(no_room.free.part_max_milli),
        node_max_milli: no_room.capacity.node_max_milli,
    })
}

/// Its queue and those above it: as much of other tenants as their use of what is above both.
fn queues(asked: Asked<'_>) -> Vec<Queue> {
    let Asked { cluster, names, .. } = asked;
    let leaf = cluster.group(GroupId::new(asked.group)).and_then(|facts| facts.queue);
    let path = leaf.into_iter().flat_map(|leaf| cluster.queue_path(leaf));
    let known = path.take(QUEUES_MAX).filter(|queue| names.queues.row(queue.number()).is_some());
    let each = known.map(|queue| {
        let state = cluster.queue_state(queue);
        Queue {
            name: names.queues.key(queue.number()).to_string(),
            quota_milli: state.quota[QueueLane::Gpu].amount(),
            limit_milli: state.limit[QueueLane::Gpu].amount(),
            used_milli: state.allocated[QueueLane::Gpu],
            share_milli: state.fair_share[QueueLane::Gpu],
            asked_milli: state.requested[QueueLane::Gpu],
        }
    });
    each.collect()
}

fn refusing(why: &Why, asked: Asked<'_>) -> Vec<Refusing> {
    let Why::NoRoom(no_room) = why else { return Vec::new() };
    let each = no_room.misfits.iter().take(REASONS_MAX).map(|(misfit, count)| Refusing {
        count: *count,
        reason: nodes::verb(*misfit, *count, asked.names),
    });
    each.collect()
}
