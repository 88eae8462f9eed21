//! S6 in time: who started a while ago keeps its minimum, and nobody evicts before its delay is over.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Change, Eviction, GroupId, Millis, Min, Owner, Plan, PodId, Queue, QueueId, ReclaimResolution,
    Structure, Symbol,
};

use super::After;
use crate::world::World;

pub(super) fn audit(world: &World, after: &After<'_>, plan: &Plan) -> Vec<String> {
    let mut findings = Vec::new();
    let mut lost: BTreeMap<GroupId, Vec<PodId>> = BTreeMap::new();
    let mut young = BTreeSet::new();
    for change in &plan.changes {
        let Change::Evict { pod, reason, .. } = change else { continue };
        let Some(for_group) = reason.for_group() else { continue };
        if is_delayed(world, for_group) {
            let name = world.names.of_group(for_group);
            findings.push(format!("S6: {name} evicts before its delay is over"));
        }
        let Owner::Group(victim) = after.pod(*pod).owner else { continue };
        if is_young(world, victim, reason) {
            young.insert(victim);
        }
        lost.entry(victim).or_default().push(*pod);
    }
    let broken = young.into_iter().filter(|group| !keeps_minimum(after, *group, &lost[group]));
    findings.extend(broken.map(|group| {
        let name = world.names.of_group(group);
        format!("S6: {name} loses its minimum before its minimum runtime is over")
    }));
    findings
}

fn is_delayed(world: &World, group: GroupId) -> bool {
    let facts = &world.facts.groups[&group];
    let from = facts.last_eviction.unwrap_or(facts.created).max(facts.created);
    facts.preemption_delay > 0 && world.now.0 < from.0.saturating_add(facts.preemption_delay)
}

/// Tells whether `victim` is safe for now from such an eviction.
fn is_young(world: &World, victim: GroupId, reason: &Eviction) -> bool {
    let facts = &world.facts.groups[&victim];
    let (Some(queue), Some(started)) = (facts.queue, facts.last_start) else { return false };
    let config = &world.config;
    let runtime = match reason {
        Eviction::Preempt { .. } => first(world, queue, |queue| queue.preempt_min_runtime)
            .unwrap_or(config.preempt_min_runtime),
        Eviction::Reclaim { for_group, .. } => {
            let reclaimer = world.facts.groups[for_group].queue;
            let from = match (config.reclaim_resolution, reclaimer) {
                (ReclaimResolution::CommonAncestor, Some(other)) => {
                    below_common_ancestor(world, queue, other)
                }
                (ReclaimResolution::Queue, _) | (_, None) => queue,
            };
            first(world, from, |queue| queue.reclaim_min_runtime)
                .unwrap_or(config.reclaim_min_runtime)
        }
        Eviction::Consolidate { .. } | Eviction::Stale { .. } => 0,
    };
    world.now.0 < started.0.saturating_add(runtime)
}

/// The queues from `leaf` to its root.
fn path(world: &World, leaf: QueueId) -> Vec<QueueId> {
    let mut path = Vec::new();
    let mut next = Some(leaf);
    while let Some(queue) = next.filter(|queue| !path.contains(queue)) {
        path.push(queue);
        next = world.facts.queues.get(&queue).and_then(|facts| facts.parent);
    }
    path
}

fn first(
    world: &World,
    from: QueueId,
    runtime: impl Fn(&Queue) -> Option<Millis>,
) -> Option<Millis> {
    path(world, from).iter().find_map(|queue| runtime(world.facts.queues.get(queue)?))
}

/// The last queue on the way up from `victim` that is not on the way up from `reclaimer`.
fn below_common_ancestor(world: &World, victim: QueueId, reclaimer: QueueId) -> QueueId {
    let theirs = path(world, reclaimer);
    path(world, victim)
        .into_iter()
        .take_while(|queue| !theirs.contains(queue))
        .last()
        .unwrap_or(victim)
}

/// Tells whether each sub-group that loses pods still has its minimum.
fn keeps_minimum(after: &After<'_>, group: GroupId, lost: &[PodId]) -> bool {
    let staying = after.staying(group, false);
    let keeps = |name: Option<Symbol>, min: u32| {
        let of = |pod: PodId| name.is_none_or(|name| after.pod(pod).sub_group == name);
        let stay = staying.iter().filter(|(pod, _)| of(*pod)).count();
        stay >= min as usize || !lost.iter().any(|pod| of(*pod))
    };
    match &after.facts.groups[&group].structure {
        Structure::Flat { min, .. } => keeps(None, *min),
        Structure::Tree { sub_groups, .. } => sub_groups.iter().all(|one| match one.min {
            Min::Pods(min) => keeps(Some(one.name), min),
            Min::Members(_) => true,
        }),
        Structure::Malformed => true,
    }
}
