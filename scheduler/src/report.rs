//! Verdicts become conditions and events, when they change and only then.
//!
//! Source: docs/behaviour.md 12.4, docs/contract.md 8.5.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use jiff::Timestamp;
use kai_api::names::{annotation, condition, event, reason};
use kai_engine::{Cluster, GroupId, PodId, Stage, Symbol, Why};
use serde_json::{Value, json};

use crate::{
    actuate::{GroupChange, GroupPatch, PodCondition, Task},
    dispatch::{Dispatch, group_target, pod_target},
    message::{self, Told},
    names::{Names, Number, Said, Stamps},
};

/// Numbers in a message change with every cycle of a busy cluster; while the reason stays, so long
/// must pass before it is said anew.
const RESAY_MILLISECONDS: i64 = 5_000;
/// A write that failed for no reason of its own is tried again after this.
const RETRY_MILLISECONDS: i64 = 1_000;

/// Keeps what was put off.
#[derive(Debug, Default)]
pub struct Report {
    /// Groups to look at again, by when.
    later: BTreeSet<(i64, u32)>,
}

impl Report {
    /// When something that was put off is due.
    pub fn next(&self) -> Option<i64> {
        self.later.first().map(|(at, _)| *at)
    }

    /// The groups whose time has come.
    pub fn due(&mut self, now: i64) -> Vec<u32> {
        let rest = self.later.split_off(&(now + 1, 0));
        let due = std::mem::replace(&mut self.later, rest);
        due.into_iter().map(|(_, group)| group).collect()
    }

    /// A write failed: look at the group again soon.
    pub fn retry(&mut self, group: u32, now: i64) {
        self.later.insert((now + RETRY_MILLISECONDS, group));
    }

    /// What there is to write about a group now.
    pub fn tasks(
        &mut self,
        group: u32,
        cluster: &Cluster,
        names: &mut Names,
        (dispatch, now): (&Dispatch, i64),
    ) -> Vec<Task> {
        let mut tasks = Vec::new();
        let Some(row) = names.groups.row(group).filter(|row| row.presence.is_there) else {
            return tasks;
        };
        // With `schedulingBackoff` a group whose condition stands is left out of this pool, and nobody says more of it.
        if row.is_writing || row.facts.held {
            return tasks;
        }
        let stamps = Stamps {
            stale_since: cluster.stale_since(GroupId::new(group)).map(|at| at.0),
            last_start: cluster.last_start(GroupId::new(group)).map(|at| at.0),
            last_eviction: cluster.last_eviction(GroupId::new(group)).map(|at| at.0),
        };
        if let Some(changes) = stamp_changes(&row.stamps, &stamps) {
            if row.stamps.stale_since.is_none() && stamps.stale_since.is_some() {
                let sub_groups: Vec<_> = cluster.sub_groups(GroupId::new(group)).collect();
                let text = message::stale(&sub_groups, names);
                let target = group_target(group, names);
                tasks.push(Task::Event(dispatch.event(target, event::STALE, text)));
            }
            let row = &mut names.groups[group];
            row.keep_before();
            row.stamps = stamps;
            tasks.push(patch(group, GroupChange::Annotations(changes), names));
            return tasks;
        }
        let strays: Vec<_> = cluster.strays(GroupId::new(group)).collect();
        mark_strays((group, &strays), cluster, (names, dispatch), &mut tasks);
        let members = members(group, &strays, names);
        let standing = Standing::of(&members, cluster);
        let why = cluster.verdict(GroupId::new(group)).filter(|_| standing.waits());
        if let Some(Why::NotReady(unready)) = why {
            let text = message::not_ready(unready, names);
            if self.news(group, names, (event::NOT_READY, &text), now) == News::New {
                let target = group_target(group, names);
                tasks.push(Task::Event(dispatch.event(target, event::NOT_READY, text)));
            }
        }
        let mut told = why.and_then(|why| message::told(why, group, names));
        if let Some(told) = told.as_mut().filter(|_| names.groups[group].backs_off) {
            told.prefix = format!("Node-Pool '{}': ", dispatch.pool);
        }
        if let Some(told) = &told {
            match self.news(group, names, (told.code(), &told.text()), now) {
                News::Early => return tasks,
                News::Known => {}
                News::New => say((group, &standing.pending), told, names, dispatch, &mut tasks),
            }
            mark_pods((group, &standing.pending), told, names, &mut tasks);
        }
        let current = &names.groups[group].conditions;
        let next = match standing.condition(told.as_ref()) {
            Condition::Stays => None,
            Condition::Goes => without(current, &dispatch.pool),
            Condition::Says(told) => with(current, &dispatch.pool, told, Timestamp::now()),
        };
        if let Some(conditions) = next {
            let row = &mut names.groups[group];
            row.keep_before();
            row.conditions.clone_from(&conditions);
            tasks.push(patch(group, GroupChange::Conditions(conditions), names));
        } else {
            let proofs = cluster.proofs(GroupId::new(group));
            let text = why.and_then(|why| message::explanation(why, proofs, names));
            tasks.extend(self.explain(group, text, names, now));
        }
        tasks
    }

    /// What is known beyond the condition, where it is not what was written last; other numbers wait for a while.
    fn explain(
        &mut self,
        group: u32,
        text: Option<String>,
        names: &mut Names,
        now: i64,
    ) -> Option<Task> {
        let row = &mut names.groups[group];
        if row.explanation.as_deref() == text.as_deref() {
            return None;
        }
        let due = row.explained + RESAY_MILLISECONDS;
        if text.is_some() && row.explanation.is_some() && now < due {
            self.later.insert((due, group));
            return None;
        }
        row.keep_before();
        row.explanation = text.as_deref().map(Box::from);
        row.explained = now;
        let change = vec![(annotation::EXPLANATION, text)];
        Some(patch(group, GroupChange::Annotations(change), names))
    }

    /// Whether this was said already. What is new counts as said.
    fn news(
        &mut self,
        group: u32,
        names: &mut Names,
        (code, text): (&'static str, &str),
        now: i64,
    ) -> News {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let new = Said { code, hash: hasher.finish(), at: now };
        let row = &mut names.groups[group];
        match &row.said {
            Some(said) if said.code == code && said.hash == new.hash => News::Known,
            Some(said) if said.code == code && now < said.at + RESAY_MILLISECONDS => {
                self.later.insert((said.at + RESAY_MILLISECONDS, group));
                News::Early
            }
            Some(_) | None => {
                row.said = Some(new);
                News::New
            }
        }
    }
}

/// Whether something was said before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum News {
    /// Not yet, or not so.
    New,
    /// In these words.
    Known,
    /// In other numbers, and not long ago.
    Early,
}

/// How the pods of a group stand.
#[derive(Default, Debug)]
struct Standing {
    /// Those that wait for a place.
    pending: Vec<u32>,
    /// Some wait for their gates to be lifted.
    gated: bool,
    /// The bind of some is under way, or they are promised a place.
    comes: bool,
    /// Some hold a place or are promised one, and don't leave.
    active: bool,
}

/// What becomes of the condition of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition<'t> {
    /// It is, or is not, as it was.
    Stays,
    /// It is taken away.
    Goes,
    /// It says this.
    Says(&'t Told),
}

impl Standing {
    fn of(members: &[u32], cluster: &Cluster) -> Self {
        let mut standing = Self::default();
        for pod in members {
            match cluster.stage(PodId::new(*pod)) {
                Stage::Gated => standing.gated = true,
                Stage::Pending => standing.pending.push(*pod),
                Stage::Nominated | Stage::Binding => {
                    (standing.comes, standing.active) = (true, true);
                }
                Stage::Placed => standing.active = true,
                Stage::Leaving | Stage::Ended => {}
            }
        }
        standing
    }

    /// Whether pods wait, for a place or for their gates.
    fn waits(&self) -> bool {
        self.gated || !self.pending.is_empty()
    }

    /// What becomes of the condition, given what there is to say.
    ///
    /// # Source
    /// docs/behaviour.md 12.4, step 4; docs/contract.md 8.5.
    fn condition<'t>(&self, told: Option<&'t Told>) -> Condition<'t> {
        match told {
            Some(told) if self.waits() && !self.active => Condition::Says(told),
            Some(_) | None if self.waits() || self.comes => Condition::Stays,
            Some(_) | None => Condition::Goes,
        }
    }
}

fn patch(group: u32, change: GroupChange, names: &mut Names) -> Task {
    let (namespace, name) = names.group_name(group);
    let (namespace, name) = (Box::from(namespace), Box::from(name));
    let row = &mut names.groups[group];
    row.is_writing = true;
    let (uid, version) = (row.uid.clone(), row.version.clone());
    Task::Group(GroupPatch { group, uid, namespace, name, version, change })
}

/// The events of the group and of each pod that waits.
fn say(
    (group, pending): (u32, &[u32]),
    told: &Told,
    names: &Names,
    dispatch: &Dispatch,
    tasks: &mut Vec<Task>,
) {
    let text = told.text();
    let target = group_target(group, names);
    tasks.push(Task::Event(dispatch.event(target, event::UNSCHEDULABLE, text.clone())));
    for pod in pending {
        let message = pod_message(*pod, told, &text);
        let mut said = dispatch.event(pod_target(*pod, names), event::UNSCHEDULABLE, message);
        said.is_warning = true;
        tasks.push(Task::Event(said));
    }
}

/// The condition `PodScheduled=False` of each pod that waits and does not have it in these words.
/// Cluster autoscalers read it.
fn mark_pods(
    (group, pending): (u32, &[u32]),
    told: &Told,
    names: &mut Names,
    tasks: &mut Vec<Task>,
) {
    if !names.groups[group].mark_unschedulable {
        return;
    }
    let text = told.text();
    for pod in pending {
        let message = pod_message(*pod, told, &text);
        tasks.extend(mark(*pod, message, names));
    }
}

/// The condition `PodScheduled=False` of a pod that does not have it in these words.
fn mark(pod: u32, message: String, names: &mut Names) -> Option<Task> {
    let uid = Box::from(&**names.pods.key(pod));
    let row = &mut names.pods[pod];
    let known = row.said.as_deref().or(row.unschedulable.as_deref());
    if known == Some(&*message) {
        return None;
    }
    row.said = Some(Box::from(&*message));
    Some(Task::Pod(PodCondition {
        pod,
        uid,
        namespace: row.namespace.clone(),
        name: row.name.clone(),
        kind: condition::POD_SCHEDULED,
        is_true: false,
        reason: reason::UNSCHEDULABLE,
        message,
    }))
}

/// The condition and the event of each pod that names a sub-group which its group does not have.
fn mark_strays(
    (group, strays): (u32, &[(PodId, Symbol)]),
    cluster: &Cluster,
    (names, dispatch): (&mut Names, &Dispatch),
    tasks: &mut Vec<Task>,
) {
    for (pod, sub_group) in strays {
        if cluster.stage(*pod) != Stage::Pending {
            continue;
        }
        let pod = pod.number();
        let message = message::stray(*sub_group, group, names);
        if let Some(condition) = mark(pod, message.clone(), names) {
            let mut said = dispatch.event(pod_target(pod, names), event::UNSCHEDULABLE, message);
            said.is_warning = true;
            tasks.extend([Task::Event(said), condition]);
        }
    }
}

/// The pods of a group, but for those whose sub-group it does not have.
fn members(group: u32, strays: &[(PodId, Symbol)], names: &Names) -> Vec<u32> {
    let is_stray = |pod: &u32| strays.iter().any(|(stray, _)| stray.number() == *pod);
    names.groups[group].pods.iter().filter(|pod| !is_stray(pod)).copied().collect()
}

/// What is said of a pod: its own reason where the verdict speaks of it, else the group's.
fn pod_message(pod: u32, told: &Told, text: &str) -> String {
    match &told.pod {
        Some((number, own)) if *number == pod || told.is_of_each => {
            format!("{}{own}", told.prefix)
        }
        Some(_) | None => String::from(text),
    }
}

/// Whether a scheduling condition is of our pool.
fn is_ours(entry: &Value, pool: &str) -> bool {
    entry["type"] == condition::UNSCHEDULABLE_ON_NODE_POOL && entry["nodePool"] == pool
}

/// The scheduling conditions without those of this pool, where there are any.
fn without(current: &[Value], pool: &str) -> Option<Vec<Value>> {
    let others: Vec<Value> =
        current.iter().filter(|entry| !is_ours(entry, pool)).cloned().collect();
    (others.len() < current.len()).then_some(others)
}

/// The scheduling conditions with what is to be said of this pool, where they should change.
///
/// All of this pool are replaced by one at the end, which readers take; those of other pools stay
/// as they are. Only words count: a change of the numbers behind them is not published.
fn with(current: &[Value], pool: &str, told: &Told, now: Timestamp) -> Option<Vec<Value>> {
    let message = told.text();
    let last = current.last();
    if last.is_some_and(|last| {
        is_ours(last, pool) && last["message"] == *message && last["status"] == "True"
    }) {
        return None;
    }
    let transition =
        last.and_then(|last| last["transitionID"].as_str()?.parse::<u64>().ok()).unwrap_or(0);
    let reasons: Vec<Value> = told
        .errors
        .iter()
        .map(|error| {
            let mut detail = json!({ "reason": error.code, "message": error.message });
            if let Some(queue) = &error.queue {
                detail["details"] = json!({ "queueDetails": queue });
            }
            detail
        })
        .collect();
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut next: Vec<Value> =
        current.iter().filter(|entry| !is_ours(entry, pool)).cloned().collect();
    next.push(json!({
        "type": condition::UNSCHEDULABLE_ON_NODE_POOL,
        "nodePool": pool,
        "reason": reason::UNSCHEDULABLE,
        "reasons": reasons,
        "message": message,
        "status": "True",
        "transitionID": (transition + 1).to_string(),
        "lastTransitionTime": now,
    }));
    Some(next)
}

/// The annotations that differ, at the second: RFC 3339 of KAI has no parts of it.
fn stamp_changes(known: &Stamps, wanted: &Stamps) -> Option<Vec<(&'static str, Option<String>)>> {
    let mut changes = Vec::new();
    for ((key, known), (_, wanted)) in known.annotations().into_iter().zip(wanted.annotations()) {
        let second = |at: Option<i64>| at.map(|at| at.div_euclid(1000));
        if second(known) != second(wanted) {
            let text = second(wanted).and_then(|at| Timestamp::from_second(at).ok());
            changes.push((key, text.map(|at| at.to_string())));
        }
    }
    (!changes.is_empty()).then_some(changes)
}

#[cfg(test)]
mod tests;
