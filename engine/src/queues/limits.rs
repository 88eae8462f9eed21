//! Limits of queues.
//!
//! # Source
//! docs/behaviour.md 3.7.

use crate::{
    base::{
        ids::{GroupId, NodeId, PodId, QueueId},
        resources::{Charge, Limit, PerLane, QueueLane},
    },
    decided::plan::{Bound, Why},
    state::{State, rows::QueueRow},
    told::group::Group,
};

/// The bound that a charge runs into.
enum Breach {
    Limit,
    Quota,
}

/// Tells whether every queue from the group's up may take as much more; if not, the first that may not.
pub(crate) fn affords(state: &State, group: GroupId, charge: Charge) -> Result<(), Why> {
    let Some(facts) = &state.groups()[group].facts else { return Err(Why::QueueMissing) };
    let Some(queue) = facts.queue else { return Err(Why::QueueMissing) };
    if facts.preemptible && !state.queues().rows[queue].limited {
        return Ok(());
    }
    for at in state.queues().path(queue) {
        let row = &state.queues().rows[at];
        let over = over_limit(row, charge).map(|lane| (Breach::Limit, lane));
        let over = over.or_else(|| Some((Breach::Quota, over_quota(row, facts, charge)?)));
        if let Some((breach, lane)) = over {
            let mut held = state.queue_state(at);
            held.allocated += row.lingering;
            held.allocated_non_preemptible += row.lingering_fixed;
            let bound = Bound { queue: held, lane, requested: charge };
            return Err(match breach {
                Breach::Limit => Why::OverLimit(Box::new(bound)),
                Breach::Quota => Why::OverQuota(Box::new(bound)),
            });
        }
    }
    Ok(())
}

/// Tells whether the queues of a pod may take what the pod costs on a node.
pub(crate) fn affords_here(state: &State, pod: PodId, node: NodeId) -> bool {
    let Some(group) = state.pods()[pod].group() else { return false };
    let Some(facts) = &state.groups()[group].facts else { return false };
    let Some(queue) = facts.queue else { return false };
    let charge =
        state.shapes()[state.pods()[pod].shape].charge_on(state.nodes().gpus(node).memory_mib);
    let free = facts.preemptible && !state.queues().rows[queue].limited;
    free || state.queues().path(queue).all(|at| {
        let row = &state.queues().rows[at];
        over_limit(row, charge).or_else(|| over_quota(row, facts, charge)).is_none()
    })
}

/// Tells whether a group that cannot be evicted would stay within the quotas of its queues, as long as what leaves is not
/// gone: nobody is evicted for one that may not start yet.
pub(crate) fn within_quota(state: &State, group: GroupId, charge: Charge) -> bool {
    let Some(facts) = &state.groups()[group].facts else { return false };
    let Some(queue) = facts.queue else { return false };
    let within = |at: QueueId| {
        let row = &state.queues().rows[at];
        let held = row.fixed + row.leaving_fixed + state.nominations.awaited(at).fixed;
        row.facts.as_ref().is_none_or(|queue| over(&held, &charge, &queue.quota).is_none())
    };
    facts.preemptible || state.queues().path(queue).all(within)
}

/// Tells whether a group that was given so much in a trial keeps its queues within their limits, and within their quotas if
/// it cannot be evicted, only once pods are gone that were told to leave: an eviction may fail, and a pod whose user gave it
/// hours to leave holds what it held until then.
pub(crate) fn waits_for_leaving(
    state: &State,
    group: GroupId,
    given: impl FnOnce() -> Charge,
) -> bool {
    let Some(facts) = &state.groups()[group].facts else { return false };
    let Some(queue) = facts.queue else { return false };
    if facts.preemptible && !state.queues().rows[queue].limited {
        return false;
    }
    let path = || state.queues().path(queue).map(|at| &state.queues().rows[at]);
    if path().all(|row| row.leaving.is_zero()) {
        return false;
    }
    let given = given();
    let waits = |held: &Charge, leaving: &Charge, most: &PerLane<Limit>| {
        given.iter().any(|(lane, given)| {
            given != 0 && leaving[lane] != 0 && !most[lane].admits(held[lane] + leaving[lane])
        })
    };
    let passes = |row: &QueueRow| {
        row.facts.as_ref().is_some_and(|queue| {
            waits(&row.used, &row.leaving, &queue.limit)
                || (!facts.preemptible && waits(&row.fixed, &row.leaving_fixed, &queue.quota))
        })
    };
    path().any(passes)
}

/// The first resource on which so much more is above the limit. What takes long to leave is held: nobody is promised a place
/// until it is gone, which would keep what is free for as long.
fn over_limit(row: &QueueRow, charge: Charge) -> Option<QueueLane> {
    over(&(row.used + row.lingering), &charge, &row.facts.as_ref()?.limit)
}

/// The first resource on which so much more is above the quota, for a group that cannot be evicted.
fn over_quota(row: &QueueRow, group: &Group, charge: Charge) -> Option<QueueLane> {
    if group.preemptible {
        return None;
    }
    over(&(row.fixed + row.lingering_fixed), &charge, &row.facts.as_ref()?.quota)
}

/// The first resource of those that are charged which is used beyond a bound then.
fn over(used: &Charge, charge: &Charge, bound: &PerLane<Limit>) -> Option<QueueLane> {
    let breaks =
        |lane: &QueueLane| charge[*lane] != 0 && !bound[*lane].admits(used[*lane] + charge[*lane]);
    QueueLane::ALL.iter().copied().find(breaks)
}
