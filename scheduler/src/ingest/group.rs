//! `PodGroup`.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use kai_api::{
    duration::GoDuration,
    names::{annotation, condition, priority_class, value},
};
use kai_engine::Group;
use serde::Deserialize;
use serde_json::Value;

mod account;
mod structure;
mod turn;

use super::{
    Context, Delta, GroupId, Kind, QueueId, Timestamp, moment,
    priority::{self, Priorities},
};
use crate::{
    actuate::{Record, Stamps},
    names::{Column, Number},
    server::wire::{Meta, Text, milliseconds, null_as_default},
    short::{DETAILED_BYTES_MAX, NAME_BYTES_MAX, short},
};
pub(super) use account::Told;
use account::{Account, Bound, Orphans};
use structure::structure;
pub(super) use structure::sub_group;
use turn::turn;

pub(super) type Wire<'a> = super::object::Object<'a, Spec<'a>, Status>;

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec<'a> {
    min_member: Option<i64>,
    min_sub_group: Option<i64>,
    #[serde(borrow)]
    queue: Text<'a>,
    #[serde(borrow)]
    priority_class_name: Text<'a>,
    #[serde(borrow)]
    preemptibility: Text<'a>,
    mark_unschedulable: Option<bool>,
    scheduling_backoff: Option<i64>,
    #[serde(borrow)]
    preemption_delay: Option<Text<'a>>,
    #[serde(borrow)]
    staleness_grace_period: Option<Text<'a>>,
    #[serde(borrow)]
    topology_constraint: Option<Levels<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    sub_groups: Vec<WireSubGroup<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Levels<'a> {
    #[serde(borrow)]
    topology: Text<'a>,
    #[serde(borrow)]
    required_topology_level: Text<'a>,
    #[serde(borrow)]
    preferred_topology_level: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct WireSubGroup<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    parent: Option<Text<'a>>,
    min_member: Option<i64>,
    min_sub_group: Option<i64>,
    #[serde(borrow)]
    topology_constraint: Option<Levels<'a>>,
}

/// Conditions are kept whole, because those of other node pools are written back as they were.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    #[serde(deserialize_with = "null_as_default")]
    scheduling_conditions: Vec<Value>,
}

/// Holds what the objects of groups say beside their names.
#[derive(Debug, Default)]
pub struct Groups {
    objects: Column<GroupObject>,
    /// Groups that are left out for a while, whatever their objects say.
    paused: BTreeSet<u32>,
    orphans: Orphans,
    bound: Bound,
    priorities: Priorities,
}

/// Holds what is kept of the object of a group.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug)]
pub struct GroupObject {
    /// The version that was read.
    pub version: Box<str>,
    /// Holds what the scheduler writes on it, as it was read.
    pub record: Record,
    /// `spec.schedulingBackoff` is 1.
    pub backs_off: bool,
    /// Pods get the condition too, unless `spec.markUnschedulable` is false.
    pub mark_unschedulable: bool,
    /// `spec.priorityClassName`.
    priority_class: Box<str>,
    /// Tells whether the priority class decides if it is preemptible.
    preemptibility_derived: bool,
    /// Tells whether it is known what decides that: a class may be told of later than the group that names it.
    is_certain: bool,
    /// Tells whether it is written on a pod with a place that the group could be evicted when it was bound.
    is_promised: bool,
    /// As its object says it: it counts once no pod of the group holds a place.
    asked: Account,
    /// As the engine is told them, and anew where what they follow from changes.
    facts: Box<Group>,
}

impl GroupObject {
    /// Tells whether its priority class decides if it may be a victim.
    pub fn follows_class(&self) -> bool {
        self.preemptibility_derived
    }

    /// Tells whether `spec.schedulingBackoff` leaves it out, with its condition standing.
    pub fn is_held(&self) -> bool {
        self.facts.held
    }

    /// The newest moment that it names, in milliseconds.
    pub fn newest(&self) -> i64 {
        let Stamps { stale_since, last_start, last_eviction } = self.record.stamps;
        let stamps = [stale_since, last_start, last_eviction].into_iter().flatten();
        stamps.fold(self.facts.created.0, i64::max)
    }

    /// Tells the facts: left out while the group is paused, whatever its object says.
    fn tell(&self, context: &mut Context, group: u32, is_paused: bool) {
        let mut facts = self.facts.clone();
        facts.held |= is_paused;
        context.names.groups[group].is_preemptible = facts.preemptible && self.is_certain;
        context.deltas.push(Delta::Group(GroupId::new(group), facts));
    }
}

impl Groups {
    /// Looks up what the object of a group says; none where it is not there.
    pub fn object(&self, group: u32) -> Option<&GroupObject> {
        self.objects.get(group)
    }

    /// Looks up the value of a priority class; none where there is no such class.
    pub fn class_value(&self, class: &str) -> Option<i32> {
        self.priorities.known(class)
    }

    /// Lists all objects.
    pub fn objects(&self) -> impl Iterator<Item = &GroupObject> {
        self.objects.iter().map(|(_, object)| object)
    }

    /// Takes a group in.
    pub(super) fn apply(&mut self, context: &mut Context, wire: &Wire<'_>) -> String {
        let meta = &wire.metadata;
        let version = meta.resource_version.to_string();
        let row = context.names.group(&meta.namespace, &meta.name).number();
        if !context.is_ours(&meta.labels) {
            self.gone(context, row);
            return version;
        }
        let stamps = stamps(meta);
        let mut facts = Box::new(self.facts(context, wire, &stamps));
        let asked = Account::of(&facts);
        let mut is_promised = self.objects.get(row).is_some_and(|object| object.is_promised);
        if let Some(known) = self.known(row).filter(|_| context.names.groups[row].holders > 0) {
            account::keep(known, &mut facts);
        } else if let Some(bound) = self.bound.take(row) {
            facts.queue = Some(context.names.queue(&bound.queue));
            facts.preemptible |= bound.is_preemptible;
            is_promised = bound.is_preemptible;
        }
        self.orphans.found(context, row);
        refer(context, row, [facts.queue, asked.queue]);
        let mut presence = context.names.groups[row].presence;
        context.seen(Kind::PodGroup, &mut presence);
        let group = &mut context.names.groups[row];
        group.presence = presence;
        // One that was made again while nobody heard of it: what is under way for the one before is no news of it.
        if !group.uid.is_empty() && *group.uid != *meta.uid {
            context.gone_groups.push(row);
        }
        group.uid = Box::from(&*meta.uid);
        group.has_topology = has_topology(&wire.spec);
        // Nobody who writes what is meant here writes longer ones.
        let explanation = meta.annotations.value(annotation::EXPLANATION);
        let object = GroupObject {
            version: Box::from(&*meta.resource_version),
            record: Record {
                conditions: wire.status.scheduling_conditions.clone(),
                stamps,
                explanation: explanation.map(|text| Box::from(&*short(text, DETAILED_BYTES_MAX))),
            },
            backs_off: wire.spec.scheduling_backoff == Some(1),
            mark_unschedulable: wire.spec.mark_unschedulable.unwrap_or(true),
            priority_class: Box::from(&*short(&wire.spec.priority_class_name, NAME_BYTES_MAX)),
            preemptibility_derived: wire.spec.preemptibility.is_empty(),
            is_certain: !wire.spec.preemptibility.is_empty()
                || self.priorities.is_known(&wire.spec.priority_class_name),
            is_promised,
            asked,
            facts,
        };
        context.touched.push(row);
        object.tell(context, row, self.paused.contains(&row));
        self.objects.insert(row, object);
        version
    }

    /// Takes the group of this namespace and name out.
    pub(super) fn remove(&mut self, context: &mut Context, key: &str) {
        if let Some(row) = context.names.groups.find(key) {
            self.gone(context, row);
        }
    }

    /// Takes out what was not in the full list that is complete now.
    pub(super) fn end(&mut self, context: &mut Context) {
        for row in context.unseen(Kind::PodGroup, |names| &names.groups) {
            self.gone(context, row);
        }
    }

    /// Tells when those groups started that do not say it, by the first of their pods that was scheduled: a scheduler that
    /// died between the binds and writing that down must not cost them their minimum run time. A group of which no pod holds
    /// a place has not started, whatever is written on its pods.
    ///
    /// # Cost
    /// In pods and groups, once for each full list.
    pub(super) fn recall_starts(&mut self, context: &mut Context) {
        let mut starts: BTreeMap<u32, i64> = BTreeMap::new();
        for (_, pod) in context.names.pods.iter() {
            let Some((group, at)) = pod.group.zip(pod.scheduled.filter(|_| pod.presence.is_there))
            else {
                continue;
            };
            let is_unsaid = |object: &GroupObject| object.facts.last_start.is_none();
            let runs = context.names.groups[group].holders > 0;
            if runs && self.objects.get(group).is_some_and(is_unsaid) {
                let start = starts.entry(group).or_insert(at);
                *start = at.min(*start);
            }
        }
        for (row, at) in starts {
            let Some(object) = self.objects.get_mut(row) else { continue };
            object.facts.last_start = Some(Timestamp(at));
            context.touched.push(row);
            object.tell(context, row, self.paused.contains(&row));
        }
    }

    /// Finds what an object said of a group, whether it is still there or not.
    fn known(&self, row: u32) -> Option<&Group> {
        let orphan = || self.orphans.get(row).filter(|_| !self.bound.has(row));
        self.objects.get(row).map(|object| &*object.facts).or_else(orphan)
    }

    fn gone(&mut self, context: &mut Context, row: u32) {
        self.paused.remove(&row);
        let object = self.objects.remove(row);
        if object.is_some() {
            context.gone_groups.push(row);
        }
        let group = &mut context.names.groups[row];
        let was_there = std::mem::take(&mut group.presence.is_there);
        if self.orphans.get(row).is_some() {
            return;
        }
        if let Some(object) = object.filter(|_| group.holders > 0) {
            self.orphans.add(context, row, object.facts);
            return;
        }
        refer(context, row, [None, None]);
        if was_there {
            context.deltas.push(Delta::GroupGone(GroupId::new(row)));
        }
        if context.names.groups[row].presence.references == 0 {
            context.names.groups.remove(row);
        }
    }

    /// Takes a priority class in.
    pub(super) fn apply_class(
        &mut self,
        context: &mut Context,
        wire: &priority::Wire<'_>,
    ) -> String {
        self.priorities.apply(wire, context.generation(Kind::PriorityClass));
        self.reprioritize(context);
        wire.metadata.resource_version.to_string()
    }

    /// Takes the priority class of this name out.
    pub(super) fn remove_class(&mut self, context: &mut Context, name: &str) {
        self.priorities.remove(name);
        self.reprioritize(context);
    }

    /// Takes out the priority classes that were not in the full list that is complete now.
    pub(super) fn end_classes(&mut self, context: &mut Context) {
        self.priorities.end(context.generation(Kind::PriorityClass));
        self.reprioritize(context);
        self.bound.note_listed(Kind::PriorityClass);
    }

    /// Tells every group whose priority follows from its class anew.
    fn reprioritize(&mut self, context: &mut Context) {
        for (row, object) in self.objects.iter_mut() {
            let priority = self.priorities.value(&object.priority_class);
            if object.preemptibility_derived {
                object.is_certain = self.priorities.is_known(&object.priority_class);
                context.names.groups[row].is_preemptible =
                    object.facts.preemptible && object.is_certain;
            }
            if object.facts.priority == priority {
                continue;
            }
            object.facts.priority = priority;
            if object.preemptibility_derived {
                // What becomes of its class is not for the group's user to say: nothing is kept. But a class that is told of
                // after the pods of a group, as a scheduler starts, became nothing else: the group may name another one.
                object.asked.preemptible = priority < priority_class::NON_PREEMPTIBLE_FROM;
                let is_kept = object.is_promised && !self.bound.is_listed(Kind::PriorityClass);
                object.facts.preemptible = object.asked.preemptible || is_kept;
            }
            object.tell(context, row, self.paused.contains(&row));
        }
    }

    /// Leaves a group out, or lets it back in.
    pub(super) fn pause(&mut self, context: &mut Context, row: u32, is_paused: bool) {
        let Some(object) = self.objects.get(row) else { return };
        let is_new = if is_paused { self.paused.insert(row) } else { self.paused.remove(&row) };
        if is_new {
            object.tell(context, row, is_paused);
        }
    }

    fn facts(&self, context: &mut Context, wire: &Wire<'_>, stamps: &Stamps) -> Group {
        let spec = &wire.spec;
        let priority = self.priorities.value(&spec.priority_class_name);
        let queue = (!spec.queue.is_empty()).then(|| context.names.queue(&spec.queue));
        Group {
            queue,
            priority,
            preemptible: match &*spec.preemptibility {
                value::PREEMPTIBLE => true,
                value::NON_PREEMPTIBLE => false,
                _ => priority < priority_class::NON_PREEMPTIBLE_FROM,
            },
            created: moment(wire.metadata.creation_timestamp.as_ref()),
            uid: turn(&wire.metadata.name, &wire.metadata.uid),
            structure: structure(context, spec),
            preemption_delay: duration(spec.preemption_delay.as_ref()).unwrap_or(0),
            staleness_grace: duration(spec.staleness_grace_period.as_ref()),
            last_start: stamps.last_start.map(Timestamp),
            last_eviction: stamps.last_eviction.map(Timestamp),
            stale_since: stamps.stale_since.map(Timestamp),
            held: is_held(context, wire),
        }
    }
}

/// Moves the references of a group's row to the queue that is told of it and to the one that its object names.
fn refer(context: &mut Context, row: u32, queues: [Option<QueueId>; 2]) {
    let queues = queues.map(|queue| queue.map(Number::number));
    let group = &mut context.names.groups[row];
    let old = [
        std::mem::replace(&mut group.queue, queues[0]),
        std::mem::replace(&mut group.asked_queue, queues[1]),
    ];
    if old == queues {
        return;
    }
    for new in queues.into_iter().flatten() {
        context.names.queues[new].presence.references += 1;
    }
    for old in old.into_iter().flatten() {
        context.release_queue(old);
    }
}

fn duration(text: Option<&Text<'_>>) -> Option<i64> {
    GoDuration::from_str(text?).ok().map(GoDuration::millis)
}

fn stamps(meta: &Meta<'_>) -> Stamps {
    let stamp = |key| meta.annotations.value(key).and_then(milliseconds);
    Stamps {
        stale_since: stamp(annotation::STALE_SINCE),
        last_start: stamp(annotation::LAST_START),
        last_eviction: stamp(annotation::LAST_EVICTION),
    }
}

/// Source: docs/behaviour.md 12.1: left out while the condition with the highest transition id is
/// of this node pool.
fn is_held(context: &Context, wire: &Wire<'_>) -> bool {
    if wire.spec.scheduling_backoff.unwrap_or(-1) == -1 {
        return false;
    }
    let transition = |entry: &&Value| {
        entry["transitionID"].as_str().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0)
    };
    let mut latest: Option<&Value> = None;
    for entry in &wire.status.scheduling_conditions {
        if latest.is_none_or(|known| transition(&entry) >= transition(&known)) {
            latest = Some(entry);
        }
    }
    latest.is_some_and(|entry| {
        entry["type"] == condition::UNSCHEDULABLE_ON_NODE_POOL
            && entry["nodePool"].as_str() == Some(context.rules.pool())
    })
}

fn has_topology(spec: &Spec<'_>) -> bool {
    let asks = |levels: &Option<Levels<'_>>| {
        levels.as_ref().is_some_and(|levels| !levels.topology.is_empty())
    };
    asks(&spec.topology_constraint)
        || spec.sub_groups.iter().any(|sub_group| asks(&sub_group.topology_constraint))
}
