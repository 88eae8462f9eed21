//! Verdicts become conditions and events, when they change and only then.
//!
//! What is to be said of a group follows from how it stands alone; what is written is what of that was not said.
//!
//! Source: docs/behaviour.md 12.4, docs/contract.md 8.5.

use std::{
    collections::{BTreeSet, HashMap},
    iter,
    sync::Arc,
};

use kai_api::names::{annotation, condition, event, reason};
use kai_daemon::{backoff, clock};
use kai_engine::{Cluster, GroupId, Timestamp};
use serde_json::Value;

use crate::{
    actuate::{GroupChange, PodCondition, Record, Task},
    dispatch::{Dispatch, GroupWrites, ReadGroup, group_target, pod_target},
    ingest::{Groups, turns::Turns},
    message,
    names::Names,
    wording::Wording,
};

mod conditions;
mod desired;
mod explain;
mod stamps;

use conditions::{with, without};
use desired::{Condition, GroupReport, View, desired, explanation};
use explain::log_reason;

/// Numbers in a message change with every cycle of a busy cluster; while the reason stays, so long
/// must pass before it is said anew.
const RESAY_MILLISECONDS: i64 = 5_000;
/// So many reasons, one after the other, are said of a group in that time; what it comes to after them is said later. Edits to
/// and fro would have all of its pods told each time.
const REASONS_MAX: usize = 3;
/// So many pods of a group are told by events of their own. All have the condition, and the group has the event.
const POD_EVENTS_MAX: usize = 100;
/// Selectors of devices are evaluated in milliseconds, beside the loop, and those of topology spread have their turn in one
/// of the next cycles; a group that waits for longer is told so.
const SELECTORS_MILLISECONDS: i64 = 5_000;
/// So many groups are looked at in a cycle, which takes some 10 ms: the others in the next ones.
const GROUPS_MAX: usize = 256;
/// The failures of writes count from here, so that the first of them is tried again after less than two seconds.
const FAILURES_BEFORE: u32 = 4;

/// Holds what was said, and what was put off.
#[derive(Debug, Default)]
pub struct Report {
    /// Groups to look at again, by when.
    later: BTreeSet<(i64, u32)>,
    /// Groups to look at as soon as it is their turn.
    turns: Turns,
    /// Holds what was said of groups, by number.
    said: HashMap<u32, Memory>,
}

/// Holds what was said of a group.
#[derive(Debug, Default)]
struct Memory {
    /// Holds what was said last by events; nothing is said twice.
    said: Option<Said>,
    /// When other reasons were said by events.
    reasons: Pace,
    /// When pods that had a condition got it in other words.
    marks: Pace,
    /// When it was explained last, in milliseconds.
    explained: Option<i64>,
    /// Since when there is something to explain, in milliseconds.
    waits_since: Option<i64>,
    /// Since when selectors of its claims are being evaluated, or those of topology spread wait, in milliseconds.
    awaits_selectors_since: Option<i64>,
    /// Counts the writes about it that failed since one succeeded.
    failures: u32,
    /// Nothing is written about it before this, in milliseconds.
    not_before: Option<i64>,
}

/// Holds when something was said of late, the oldest first.
#[derive(Debug)]
struct Pace([i64; REASONS_MAX]);

impl Default for Pace {
    fn default() -> Self {
        Self([i64::MIN; REASONS_MAX])
    }
}

impl Pace {
    /// Says from when on something else may be said.
    fn due(&self) -> i64 {
        self.0[0].saturating_add(RESAY_MILLISECONDS)
    }

    /// Notes that something is said.
    fn note(&mut self, now: i64) {
        self.0.rotate_left(1);
        self.0[REASONS_MAX - 1] = now;
    }
}

/// A text that many pods may be told.
#[derive(Debug, Clone)]
struct Text {
    message: Arc<str>,
    words: Wording,
}

impl Text {
    fn of(message: &str) -> Self {
        Self { message: Arc::from(message), words: Wording::of(message) }
    }
}

/// Holds what an event said of a group.
#[derive(Debug, Clone, Copy)]
struct Said {
    /// The code of the reason.
    code: &'static str,
    words: Wording,
    /// When, in milliseconds.
    at: i64,
}

/// All that a report is made from, and what remembers what is written of it.
#[derive(Debug)]
pub struct Context<'c> {
    /// Holds what was decided.
    pub cluster: &'c Cluster,
    /// Holds what the objects of groups say.
    pub objects: &'c Groups,
    /// Holds what all is called, and what pods were marked with.
    pub names: &'c mut Names,
    /// Holds what our writes made of groups.
    pub writes: &'c mut GroupWrites,
    /// Says who says it, and of which pool.
    pub dispatch: &'c Dispatch,
    /// By the wall clock, as the API's timestamps are.
    pub now: Timestamp,
    /// Milliseconds of a clock that nobody sets, by which pauses are measured.
    pub steady: i64,
}

impl Report {
    /// Says when something that was put off is due: at once where groups wait for their turn.
    pub fn next(&self) -> Option<i64> {
        let at_once = (!self.turns.is_empty()).then_some(i64::MIN);
        at_once.or_else(|| self.later.first().map(|(at, _)| *at))
    }

    /// Has a group wait until it is its turn to be looked at. What is said of it then is of how it stands then.
    pub fn wait(&mut self, group: u32, namespace: &str) {
        self.turns.add(group, namespace);
    }

    /// Takes the groups whose turn is in this cycle, one of each namespace before another of the same.
    pub fn in_turn(&mut self) -> Vec<u32> {
        iter::from_fn(|| self.turns.take()).take(GROUPS_MAX).collect()
    }

    /// The groups whose time has come.
    pub fn due(&mut self, now: i64) -> Vec<u32> {
        let rest = self.later.split_off(&(now + 1, 0));
        let due = std::mem::replace(&mut self.later, rest);
        due.into_iter().map(|(_, group)| group).collect()
    }

    /// A write about a group failed: nothing is written about it for a while, longer with each failure, so that what is
    /// always refused is not asked for in every cycle.
    pub fn failed(&mut self, group: u32, now: i64) {
        let memory = self.said.entry(group).or_default();
        memory.failures += 1;
        let pause = backoff(memory.failures + FAILURES_BEFORE).as_millis();
        let until = now.saturating_add(i64::try_from(pause).unwrap_or(i64::MAX));
        memory.not_before = Some(until);
        self.later.insert((until, group));
    }

    /// A write of a group succeeded.
    pub fn succeeded(&mut self, group: u32) {
        if let Some(memory) = self.said.get_mut(&group) {
            (memory.failures, memory.not_before) = (0, None);
        }
    }

    /// Tells whether a group whose write failed is to be looked at later.
    fn is_put_off(&mut self, group: u32, now: i64) -> bool {
        let until = self.said.get(&group).and_then(|memory| memory.not_before);
        let Some(until) = until.filter(|until| now < *until) else { return false };
        self.later.insert((until, group));
        true
    }

    /// Tells whether a group is to be looked at later, as the selectors of its claims are being evaluated, or those of topology
    /// spread wait for their turn: what is said of it now is untrue in a moment.
    fn awaits_selectors(&mut self, group: u32, report: &GroupReport, now: i64) -> bool {
        if !report.awaits_selectors {
            if let Some(memory) = self.said.get_mut(&group) {
                memory.awaits_selectors_since = None;
            }
            return false;
        }
        let memory = self.said.entry(group).or_default();
        let since = *memory.awaits_selectors_since.get_or_insert(now);
        let until = since.saturating_add(SELECTORS_MILLISECONDS);
        if now >= until {
            return false;
        }
        self.later.insert((until, group));
        true
    }

    /// Forgets a group that is gone.
    pub fn forget(&mut self, group: u32) {
        self.turns.forget(group);
        self.said.remove(&group);
    }

    /// Gives what there is to write about a group now.
    ///
    /// With `schedulingBackoff` a group whose condition stands is left out of this pool, and nobody says more of it.
    pub fn tasks(&mut self, group: u32, context: &mut Context<'_>) -> Vec<Task> {
        let Context { cluster, objects, names, writes, dispatch, now, steady } = context;
        let Some(object) = objects.object(group).filter(|object| !object.is_held()) else {
            return Vec::new();
        };
        if writes.is_under_way(group) || self.is_put_off(group, *steady) {
            return Vec::new();
        }
        let read = ReadGroup { group, version: &object.version, record: &object.record };
        let record = writes.record(read);
        let mut stamps = stamps::wanted(group, cluster);
        if let Some(left) = stamps::left_to_eviction(&record.stamps, &mut stamps, now.0) {
            self.later.insert((*steady + left, group));
        }
        if let Some(changes) = stamps::changes(&record.stamps, &stamps) {
            let is_stale = record.stamps.stale_since.is_none() && stamps.stale_since.is_some();
            let event = is_stale.then(|| stale(group, cluster, names, dispatch));
            let record = Record { stamps, ..record.clone() };
            let change = GroupChange::Annotations(changes);
            return event.into_iter().chain([writes.begin(read, record, change, names)]).collect();
        }
        let view = View { group, object, cluster, names, pool: &dispatch.pool };
        let report = desired(view);
        if self.awaits_selectors(group, &report, *steady) {
            return Vec::new();
        }
        let Events { mut tasks, are_early } = self.events(&report, view, dispatch, *steady);
        let change = match conditions(&report, record, &dispatch.pool) {
            Some(conditions) if !are_early => Some(GroupChange::Conditions(conditions)),
            // While the condition must not be said anew yet, the explanation may.
            Some(_) | None => {
                self.explain(group, explanation(&report.standing, view), record, *steady)
            }
        };
        if let Some(change) = change {
            log_reason(group, record, &change, names);
            let record = changed(record, &change);
            tasks.push(writes.begin(read, record, change, names));
        }
        remember_marks(&tasks, names);
        tasks
    }

    /// The events and the conditions of pods that were not said.
    fn events(
        &mut self,
        report: &GroupReport,
        view: View<'_>,
        dispatch: &Dispatch,
        now: i64,
    ) -> Events {
        let View { group, names, .. } = view;
        let strays = report.strays.iter();
        let marks = strays.filter_map(|(pod, message)| mark(*pod, Text::of(message), names));
        let marks = self.in_pace(group, marks.collect(), names, now);
        let warn =
            |mark: &PodCondition| warning(mark.pod, String::from(&*mark.message), names, dispatch);
        let mut tasks: Vec<Task> = marks.iter().take(POD_EVENTS_MAX).map(warn).collect();
        tasks.extend(marks.into_iter().map(Task::Pod));
        if let Some(text) = &report.not_ready
            && self.news(group, event::NOT_READY, text, now) == News::New
        {
            let target = group_target(group, names);
            tasks.push(Task::Event(dispatch.event(target, event::NOT_READY, text.clone())));
        }
        let Some(told) = &report.told else { return Events { tasks, are_early: false } };
        let text = told.text();
        let pending = &report.standing.pending;
        match self.news(group, told.code(), &text, now) {
            News::Early => return Events { tasks, are_early: true },
            News::Known => {}
            News::New => {
                let target = group_target(group, names);
                let said = dispatch.event(target, event::UNSCHEDULABLE, text.clone());
                tasks.push(Task::Event(said));
                let of_pod = |pod: &u32| warning(*pod, told.text_of(*pod, &text), names, dispatch);
                tasks.extend(pending.iter().take(POD_EVENTS_MAX).map(of_pod));
            }
        }
        // Cluster autoscalers read it.
        if view.object.mark_unschedulable {
            let of_group = Text::of(&text);
            let of_pod = |pod: u32| {
                told.own_text(pod).map_or_else(|| of_group.clone(), |own| Text::of(&own))
            };
            let marks = pending.iter().filter_map(|pod| mark(*pod, of_pod(*pod), names));
            let marks = self.in_pace(group, marks.collect(), names, now);
            tasks.extend(marks.into_iter().map(Task::Pod));
        }
        Events { tasks, are_early: false }
    }

    /// Tells whether this was said already. What is new counts as said.
    fn news(&mut self, group: u32, code: &'static str, text: &str, now: i64) -> News {
        let new = Said { code, words: Wording::of(text), at: now };
        let memory = self.said.entry(group).or_default();
        let due = match &memory.said {
            Some(said) if said.code == code && said.words == new.words => return News::Known,
            Some(said) if said.code == code => said.at + RESAY_MILLISECONDS,
            Some(_) | None => memory.reasons.due(),
        };
        if now < due {
            self.later.insert((due, group));
            return News::Early;
        }
        memory.said = Some(new);
        memory.reasons.note(now);
        News::New
    }

    /// Leaves out pods of a group that have other words where such were told several times of late: they are told later.
    /// Those that were told nothing are told at once.
    fn in_pace(
        &mut self,
        group: u32,
        mut marks: Vec<PodCondition>,
        names: &Names,
        now: i64,
    ) -> Vec<PodCondition> {
        let is_other = |mark: &PodCondition| known(mark.pod, names).is_some();
        if !marks.iter().any(is_other) {
            return marks;
        }
        let pace = &mut self.said.entry(group).or_default().marks;
        let due = pace.due();
        if now < due {
            marks.retain(|mark| !is_other(mark));
            self.later.insert((due, group));
        } else {
            pace.note(now);
        }
        marks
    }
}

/// Holds what events and conditions of pods say.
#[derive(Debug)]
struct Events {
    tasks: Vec<Task>,
    /// Something else was told not long ago: the rest is said later.
    are_early: bool,
}

/// Says whether something was said before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum News {
    /// Not yet, or not so.
    New,
    /// In these words.
    Known,
    /// Otherwise, and not long ago.
    Early,
}

/// Gives the scheduling conditions that a group should have; none where it has them.
fn conditions(report: &GroupReport, record: &Record, pool: &str) -> Option<Vec<Value>> {
    match report.standing.condition(report.told.as_ref()) {
        Condition::Stays => None,
        Condition::Goes => without(&record.conditions, pool),
        Condition::Says(told) => with(&record.conditions, pool, told, clock::now()),
    }
}

/// Gives what a change makes of a record.
fn changed(record: &Record, change: &GroupChange) -> Record {
    let mut record = record.clone();
    match change {
        GroupChange::Conditions(conditions) => record.conditions.clone_from(conditions),
        GroupChange::Annotations(annotations) => {
            let explained = annotations.iter().find(|(key, _)| *key == annotation::EXPLANATION);
            if let Some((_, text)) = explained {
                record.explanation = text.as_deref().map(Box::from);
            }
        }
    }
    record
}

/// The event of a group that runs below its minimum.
fn stale(group: u32, cluster: &Cluster, names: &Names, dispatch: &Dispatch) -> Task {
    let sub_groups: Vec<_> = cluster.sub_groups(GroupId::new(group)).collect();
    let text = message::stale(&sub_groups, names);
    Task::Event(dispatch.event(group_target(group, names), event::STALE, text))
}

/// The event of a pod that waits.
fn warning(pod: u32, message: String, names: &Names, dispatch: &Dispatch) -> Task {
    let mut said = dispatch.event(pod_target(pod, names), event::UNSCHEDULABLE, message);
    said.is_warning = true;
    Task::Event(said)
}

/// The words of the condition `PodScheduled=False` that a pod has or will have.
fn known(pod: u32, names: &Names) -> Option<Wording> {
    let row = &names.pods[pod];
    row.said.or(row.unschedulable)
}

/// The condition `PodScheduled=False` of a pod that does not have it in these words.
fn mark(pod: u32, text: Text, names: &Names) -> Option<PodCondition> {
    let row = &names.pods[pod];
    (known(pod, names) != Some(text.words)).then(|| PodCondition {
        pod,
        uid: Box::from(&**names.pods.key(pod)),
        namespace: Box::from(&*row.namespace),
        name: row.name.clone(),
        kind: condition::POD_SCHEDULED,
        is_true: false,
        reason: reason::UNSCHEDULABLE,
        message: text.message,
    })
}

/// Notes which conditions pods get. Most have the same text, whose words are found out once.
fn remember_marks(tasks: &[Task], names: &mut Names) {
    let mut last: Option<(&Arc<str>, Wording)> = None;
    for task in tasks {
        if let Task::Pod(mark) = task {
            let same = last.filter(|(text, _)| Arc::ptr_eq(text, &mark.message));
            let words = same.map_or_else(|| Wording::of(&mark.message), |(_, words)| words);
            last = Some((&mark.message, words));
            names.pods[mark.pod].edit(|extras| extras.said = Some(words));
        }
    }
}

#[cfg(test)]
mod tests;
