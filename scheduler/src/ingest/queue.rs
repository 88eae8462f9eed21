//! Queue.

use std::{collections::HashMap, str::FromStr};

use kai_api::duration::GoDuration;
use kai_engine::{Limit, PerLane, Queue};
use serde::Deserialize;

use super::{Context, Delta, Kind, QueueId, moment};
use crate::{
    names::Number,
    server::wire::{Text, null_as_default, uid_number},
    usage::Usage,
};

pub(super) type Wire<'a> = super::object::Object<'a, Spec<'a>>;

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec<'a> {
    #[serde(borrow)]
    display_name: Text<'a>,
    #[serde(borrow)]
    parent_queue: Text<'a>,
    #[serde(deserialize_with = "null_as_default")]
    resources: Shares,
    priority: Option<i32>,
    #[serde(borrow)]
    preempt_min_runtime: Option<Text<'a>>,
    #[serde(borrow)]
    reclaim_min_runtime: Option<Text<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Shares {
    cpu: Share,
    memory: Share,
    gpu: Share,
}

#[derive(Deserialize, Clone, Copy, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Share {
    quota: f64,
    limit: f64,
    over_quota_weight: f64,
}

/// The engine's units in one unit of the API: milli-cores, 10^6 bytes, devices.
const UNITS: [f64; 3] = [1.0, 1e6, 1000.0];
/// Larger numbers of the API mean as much as no bound, and sums of them must fit.
const AMOUNT_MAX: f64 = 1e17;
/// The queue that all others hang under without the full hierarchy. Not a name that a Queue has.
const FLAT_ROOT: &str = "/default";

/// Holds what is kept of queues beside their names.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// As they were told, by number: past use changes without their objects.
    facts: HashMap<u32, Box<Queue>>,
    /// Holds what queues used in the past, as it was read last.
    usage: Usage,
}

impl Queues {
    /// Takes a queue in.
    pub(super) fn apply(&mut self, context: &mut Context, wire: &Wire<'_>) -> String {
        let meta = &wire.metadata;
        let version = meta.resource_version.to_string();
        let row = context.names.queue(&meta.name).number();
        let parentless = wire.spec.parent_queue.is_empty();
        if !context.is_ours(&meta.labels) || (parentless && !context.rules.full_hierarchy) {
            self.gone(context, row);
            return version;
        }
        let mut facts = facts(context, wire);
        facts.usage_micro = self.usage_of(context, row);
        refer(context, row, facts.parent.map(Number::number));
        let mut presence = context.names.queues[row].presence;
        context.seen(Kind::Queue, &mut presence);
        context.names.queues[row].presence = presence;
        context.names.queues[row].display_name = Box::from(&*wire.spec.display_name);
        let facts = Box::new(facts);
        self.facts.insert(row, facts.clone());
        context.deltas.push(Delta::Queue(QueueId::new(row), facts));
        version
    }

    /// Takes the queue of this name out.
    pub(super) fn remove(&mut self, context: &mut Context, name: &str) {
        if let Some(row) = context.names.queues.find(name) {
            self.gone(context, row);
        }
    }

    /// Takes out what was not in the full list that is complete now.
    pub(super) fn end(&mut self, context: &mut Context) {
        for row in context.unseen(Kind::Queue, |names| &names.queues) {
            self.gone(context, row);
        }
    }

    /// Takes in what queues used in the past; who is not named used nothing.
    pub(super) fn used(&mut self, context: &mut Context, usage: Usage) {
        self.usage = usage;
        let live = context.names.queues.iter().filter(|(_, row)| row.presence.is_there);
        for row in live.map(|(row, _)| row).collect::<Vec<_>>() {
            let used = self.usage_of(context, row);
            let Some(facts) = self.facts.get_mut(&row) else { continue };
            if facts.usage_micro != used {
                facts.usage_micro = used;
                context.deltas.push(Delta::Queue(QueueId::new(row), facts.clone()));
            }
        }
    }

    fn usage_of(&self, context: &Context, row: u32) -> PerLane<u64> {
        self.usage.get(&**context.names.queues.key(row)).copied().unwrap_or_default()
    }

    fn gone(&mut self, context: &mut Context, row: u32) {
        if &**context.names.queues.key(row) == FLAT_ROOT {
            return;
        }
        refer(context, row, None);
        self.facts.remove(&row);
        let presence = &mut context.names.queues[row].presence;
        if std::mem::take(&mut presence.is_there) {
            context.deltas.push(Delta::QueueGone(QueueId::new(row)));
        }
        if context.names.queues[row].presence.references == 0 {
            context.names.queues.remove(row);
        }
    }
}

/// Without the full hierarchy every queue hangs under one without limits.
/// Source: docs/behaviour.md 1.2, step 7.
pub(super) fn flat_root(context: &mut Context) {
    let id = context.names.queue(FLAT_ROOT);
    let presence = &mut context.names.queues[id.number()].presence;
    presence.references = 1;
    let facts = Queue {
        quota: PerLane::splat(Limit::UNLIMITED),
        limit: PerLane::splat(Limit::UNLIMITED),
        weight_milli: PerLane::splat(1000),
        ..Queue::default()
    };
    context.deltas.push(Delta::Queue(id, Box::new(facts)));
}

fn refer(context: &mut Context, row: u32, parent: Option<u32>) {
    let old = std::mem::replace(&mut context.names.queues[row].parent, parent);
    if old == parent {
        return;
    }
    if let Some(new) = parent {
        context.names.queues[new].presence.references += 1;
    }
    if let Some(old) = old {
        context.release_queue(old);
    }
}

fn facts(context: &mut Context, wire: &Wire<'_>) -> Queue {
    let spec = &wire.spec;
    let parent = match (context.rules.full_hierarchy, &*spec.parent_queue) {
        (true, "") => None,
        (true, parent) => Some(context.names.queue(parent)),
        (false, _) => Some(context.names.queue(FLAT_ROOT)),
    };
    let shares = [spec.resources.cpu, spec.resources.memory, spec.resources.gpu];
    let by_lane = |read: fn(Share) -> f64| {
        let mut lanes = [Limit::default(); 3];
        for ((lane, share), unit) in lanes.iter_mut().zip(shares).zip(UNITS) {
            *lane = limit(read(share), unit);
        }
        PerLane(lanes)
    };
    Queue {
        parent,
        priority: spec.priority.unwrap_or(100),
        quota: by_lane(|share| share.quota),
        limit: by_lane(|share| share.limit),
        weight_milli: PerLane(shares.map(|share| weight_milli(share.over_quota_weight))),
        preempt_min_runtime: duration(spec.preempt_min_runtime.as_ref()),
        reclaim_min_runtime: duration(spec.reclaim_min_runtime.as_ref()),
        created: moment(wire.metadata.creation_timestamp.as_ref()),
        uid: uid_number(&wire.metadata.uid),
        ..Queue::default()
    }
}

fn duration(text: Option<&Text<'_>>) -> Option<i64> {
    GoDuration::from_str(text?).ok().map(GoDuration::millis)
}

/// -1 is unlimited, exactly; any other negative number gives nothing.
fn limit(number: f64, unit: f64) -> Limit {
    #[expect(clippy::float_cmp, reason = "the contract compares with -1.0 exactly")]
    let unlimited = number == -1.0;
    if unlimited { Limit::UNLIMITED } else { Limit::of(rounded(number * unit)) }
}

fn weight_milli(number: f64) -> u64 {
    // A weight above a million is a million: more says nothing and would overflow products.
    rounded(number.min(1e6) * 1000.0).unsigned_abs()
}

/// The nearest integer at or above zero, within bounds.
fn rounded(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
    let whole = number.clamp(0.0, AMOUNT_MAX).round() as i64;
    whole
}
