//! Queues.

use kai_engine::{Delta, Limit, PerLane, Queue, Timestamp};

use super::Result;
use crate::{
    amount::Bound,
    scenario::{self, Scenario, ScenarioError},
    world::World,
};

/// Distance in age between two queues of a scenario, in milliseconds.
const APART: i64 = 1000;

pub(super) fn tell(
    world: &mut World,
    name: &str,
    queue: &scenario::Queue,
    scenario: &Scenario,
) -> Result<()> {
    let id = world.names.queue(name);
    let is_known = |world: &World, name: &str| {
        world.names.find_queue(name).is_some_and(|id| world.facts.queues.contains_key(&id))
    };
    if let Some(parent) = &queue.parent
        && scenario.queues.find(parent).is_none()
        && !is_known(world, parent)
        && !parent.starts_with("missing")
    {
        let what = format!(
            "there is no queue `{parent}`; a parent that is meant to be missing starts with `missing`"
        );
        return Err(ScenarioError::value(format!("queues.{name}.parent"), what));
    }
    let known = world.facts.queues.get(&id).map(|known| (known.created, known.uid));
    let next = world.facts.queues.values().map(|known| known.uid + 1).max().unwrap_or(0);
    let uid = known.map_or(next, |(_, uid)| uid);
    let made = || {
        let apart = i64::try_from(uid).unwrap_or(i64::MAX).saturating_mul(APART);
        Timestamp(world.now.0 - 86_400_000 + apart)
    };
    let created = known.map_or_else(made, |(created, _)| created);
    let limit = |bound: Option<i64>| bound.map_or(Limit::UNLIMITED, Limit::of);
    let weight = |milli: i64| u64::try_from(milli).unwrap_or(0);
    let facts = Queue {
        parent: queue.parent.as_deref().map(|parent| world.names.queue(parent)),
        priority: queue.priority.unwrap_or(100),
        quota: PerLane([
            limit(queue.cpu.quota.units()),
            limit(queue.memory.quota.units()),
            limit(queue.quota.map_or(Some(0), Bound::units)),
        ]),
        limit: PerLane([
            limit(queue.cpu.limit.units()),
            limit(queue.memory.limit.units()),
            limit(queue.limit.and_then(Bound::units)),
        ]),
        weight_milli: PerLane([
            weight(queue.cpu.over_quota_weight.0),
            weight(queue.memory.over_quota_weight.0),
            queue.over_quota_weight.map_or(1000, |given| weight(given.0)),
        ]),
        usage_micro: PerLane::splat(queue.usage.map_or(0, |usage| weight(usage.0))),
        preempt_min_runtime: queue.preempt_min_runtime.map(|span| span.0 * 1000),
        reclaim_min_runtime: queue.reclaim_min_runtime.map(|span| span.0 * 1000),
        created: queue.age.map_or(created, |age| super::ago(world.now, age.0)),
        uid,
    };
    world.tell(Delta::Queue(id, Box::new(facts)));
    Ok(())
}
