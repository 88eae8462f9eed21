//! A cluster before and after changes, laid side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::thread;

use kai_engine::{
    Cluster as Engine, Eviction, GroupId, Limit, NodeId, PodId, QueueId, QueueLane, Timestamp, Why,
};
use kai_scheduler::message::{self, Asked, Reason};
use kai_scheduler::names::Number;
use kai_sim::forecast::{Draw, Drawn, Forecast};

use super::change::decimal;
use super::future::Outlook;
use super::gpus::gpu_milli;
use super::outcome::{Fate, Outcome, Placed, Share, Shift, Start, Victim, Wish};
use super::situation::{Added, Effects, Situation};
use super::title;
use super::trial::{self, Trial};
use crate::print::duration;
use crate::print::error::Error;

impl Situation {
    /// Works out what would be, and leaves the situation as it was.
    ///
    /// # Errors
    /// The wish names what is not there, or what would be refused.
    pub(crate) fn plan(&mut self, wish: &Wish<'_>) -> Result<Outcome, Error> {
        let before = self.snapshot.cluster.clone();
        let newcomers = self.newcomers(wish.changes);
        let mut added = self.add(wish.objects, &newcomers.nodes)?;
        added.notes.extend(newcomers.notes);
        let mut after = self.snapshot.cluster.clone();
        let outcome = self.change(wish.changes, &mut after).map(|effects| {
            let names = &self.snapshot.ingest.context.names;
            let outlook = Outlook::new(&self.times, names, [&before, &after]);
            Comparison::new(self, &outlook, &added, &effects, wish).outcome([before, after])
        });
        self.remove(added)?;
        outcome
    }
}

/// A cluster before and after changes.
struct Comparison<'c> {
    situation: &'c Situation,
    added: &'c Added,
    effects: &'c Effects,
    horizon: Timestamp,
    outlook: &'c Outlook<'c>,
    late: Drawn<'c>,
}

impl<'c> Comparison<'c> {
    fn new(
        situation: &'c Situation,
        outlook: &'c Outlook<'c>,
        added: &'c Added,
        effects: &'c Effects,
        wish: &Wish<'_>,
    ) -> Self {
        let horizon = situation.snapshot.taken.0 + wish.horizon_seconds.saturating_mul(1000);
        Self {
            situation,
            added,
            effects,
            horizon: Timestamp(horizon),
            outlook,
            late: Drawn { knowledge: outlook, draw: Draw::Late },
        }
    }

    fn outcome(&self, [before, after]: [Engine; 2]) -> Outcome {
        let snapshot = &self.situation.snapshot;
        let (config, now) = (&snapshot.settings.config, snapshot.taken);
        let is_changed = !self.effects.said.is_empty() || !self.added.groups.is_empty();
        let undisturbed = Effects::default();
        let follow = |engine, effects| {
            let trial = Trial::settle(engine, config, now, &self.late, effects);
            let starts = self.starts(&trial);
            (trial, starts)
        };
        let ((was, first), (is, second)) =
            both(|| follow(before, &undisturbed), || follow(after, self.effects));
        let starts = [first, second];
        let mut assumptions = self.situation.assumptions.clone();
        assumptions.extend(self.added.notes.iter().cloned());
        let mut outcome = Outcome {
            changes: self.effects.said.clone(),
            workloads: self
                .added
                .groups
                .iter()
                .map(|group| self.fate(*group, &is, &starts[1]))
                .collect(),
            evicted: self.victims(&snapshot.cluster, [&was, &is], is_changed),
            queues: self.shares([&was, &is]),
            waits: [&was, &is].into_iter().any(Trial::waits),
            ..Outcome::default()
        };
        if is_changed {
            outcome.others = self.shifts([&was, &is], &starts);
        }
        let waits = |start: &Start| matches!(start, Start::Later { .. } | Start::Unknown);
        if outcome.workloads.iter().any(|fate| waits(&fate.start)) {
            assumptions.extend(self.endless(&is));
        }
        if outcome.workloads.iter().any(|fate| matches!(fate.start, Start::Unknown)) {
            assumptions.push(self.looked(&starts[1]));
        }
        outcome.assumptions = assumptions;
        outcome
    }

    /// When the waiting groups start.
    fn starts(&self, trial: &Trial<'_>) -> Forecast {
        if self.horizon.0 <= self.situation.snapshot.taken.0 {
            return Forecast::default();
        }
        let groups = trial.course.cluster.groups().map(|(group, _)| group);
        let waiting: BTreeSet<GroupId> =
            groups.filter(|group| !trial.course.is_running(*group)).collect();
        let outset = trial.outset(&self.situation.snapshot.settings.config);
        Forecast::new(outset, self.outlook, &waiting, self.horizon)
    }

    /// When a group of a cluster at rest starts.
    fn start(&self, group: GroupId, trial: &Trial<'_>, starts: &Forecast) -> Start {
        if trial.course.is_running(group) {
            let evicts = |evicted: &trial::Evicted| {
                evicted.reason.as_ref().and_then(Eviction::for_group) == Some(group)
            };
            let waited = trial.promised.contains(&group) || trial.evicted.values().any(evicts);
            return match (trial.started.contains(&group), waited) {
                (false, _) => Start::Running,
                (true, true) => Start::AfterEvictions,
                (true, false) => Start::Now,
            };
        }
        let taken = self.situation.snapshot.taken.0;
        let seconds = |at: Timestamp| (at.0 - taken).max(0) / 1000;
        match starts.at.get(&group) {
            Some(range) => Start::Later {
                earliest_seconds: seconds(range.earliest),
                latest_seconds: range.latest.map(seconds),
            },
            None => Start::Unknown,
        }
    }

    fn fate(&self, group: GroupId, trial: &Trial<'_>, starts: &Forecast) -> Fate {
        let snapshot = &self.situation.snapshot;
        let names = &snapshot.ingest.context.names;
        let engine = &trial.course.cluster;
        let (namespace, pod_group) = names.group_name(group.number());
        let hidden = self.situation.unseen();
        let mut start = self.start(group, trial, starts);
        if hidden.is_some() {
            start = Start::Unknown;
        }
        let is_open = matches!(start, Start::Later { .. } | Start::Unknown) && hidden.is_none();
        let config = &snapshot.settings.config;
        if is_open && !trial::starts_alone(trial, config, &self.late, group) {
            start = Start::Never;
        }
        let pods: Vec<PodId> = engine.pods_of(group).collect();
        let gpus = pods.iter().map(|pod| gpu_milli(engine, *pod)).sum();
        let mut placed: Vec<Placed> = pods.iter().map(|pod| self.placed(*pod, engine)).collect();
        placed.sort_by(|a, b| a.pod.cmp(&b.pod));
        let is_told = hidden.is_none() && !trial.course.is_running(group);
        let verdict = engine.verdict(group).filter(|_| is_told);
        let reason = verdict.and_then(|why| self.reason(why, group, engine));
        Fate {
            namespace: namespace.to_owned(),
            name: title::of_group(pod_group),
            pod_group: pod_group.to_owned(),
            queue: names.queue_of_group(group.number()).to_owned(),
            gpus: decimal(gpus),
            min_pods: engine.sub_groups(group).map(|(_, min, _)| min).sum(),
            pods: placed,
            code: reason.as_ref().map(|reason| reason.code),
            reason: match hidden {
                Some(hidden) => Some(format!("whether it can start is not known: {hidden}")),
                None => reason.map(|reason| reason.sentence),
            },
            basis: matches!(start, Start::Later { .. }).then(|| self.basis(trial)),
            start,
        }
    }

    /// Says why a group waits, as the annotation and every command say it.
    fn reason(&self, why: &Why, group: GroupId, engine: &Engine) -> Option<Reason> {
        let names = &self.situation.snapshot.ingest.context.names;
        let proofs: Vec<_> = engine.proofs(group).collect();
        let group = group.number();
        message::reason(Asked { group, why, proofs: &proofs, cluster: engine, names })
    }

    fn basis(&self, trial: &Trial<'_>) -> String {
        let ends = self.outlook.ends(&trial.course);
        let rest = "each may end sooner, and others may come ahead of it";
        if ends.like_past == 0 {
            let end = if ends.limited == 1 { "workload says" } else { "workloads say" };
            return format!("the longest run that {} running {end}; {rest}", ends.limited);
        }
        format!("{}; others may come ahead of it", ends.basis())
    }

    fn endless(&self, trial: &Trial<'_>) -> Option<String> {
        let unknown = self.outlook.ends(&trial.course).unknown;
        match unknown {
            0 => None,
            1 => Some("1 running workload does not say when it ends: no end is counted on".into()),
            many => Some(format!(
                "{many} running workloads do not say when they end: no end is counted on"
            )),
        }
    }

    /// Says how far it was looked for starts.
    fn looked(&self, starts: &Forecast) -> String {
        let ahead = (self.horizon.0 - self.situation.snapshot.taken.0) / 1000;
        match (ahead, starts.cut) {
            (0, _) => "no start was looked for".to_owned(),
            (_, Some(cut)) => {
                let seconds = (cut.0 - self.situation.snapshot.taken.0) / 1000;
                let span = duration::short(seconds);
                format!("starts were looked for within {span}: further ahead too much happens")
            }
            (ahead, None) => {
                format!("starts were looked for within {}", duration::short(ahead))
            }
        }
    }

    fn placed(&self, pod: PodId, engine: &Engine) -> Placed {
        let names = &self.situation.snapshot.ingest.context.names;
        let place = engine.place_of(pod).or_else(|| engine.nominee_of(pod));
        let device = |device: &kai_engine::DeviceId| {
            if device.is_opened() {
                "new".to_owned()
            } else {
                names.devices.key(device.number()).to_string()
            }
        };
        Placed {
            pod: names.pods.row(pod.number()).map_or_else(String::new, |row| row.name.to_string()),
            node: place.map(|place| names.nodes.key(place.node.number()).to_string()),
            devices: place
                .map_or_else(Vec::new, |place| place.devices.iter().map(device).collect()),
            gpus: decimal(gpu_milli(engine, pod)),
        }
    }

    fn victims(&self, start: &Engine, [was, is]: [&Trial<'_>; 2], is_changed: bool) -> Vec<Victim> {
        let names = &self.situation.snapshot.ingest.context.names;
        let mut groups: BTreeMap<GroupId, Vec<PodId>> = BTreeMap::new();
        for pod in is.evicted.keys() {
            if is_changed && was.evicted.contains_key(pod) {
                continue;
            }
            let group = names.pods.row(pod.number()).and_then(|row| row.group);
            if let Some(group) = group {
                groups.entry(GroupId::new(group)).or_default().push(*pod);
            }
        }
        groups.into_iter().map(|(group, pods)| self.victim(group, &pods, start, is)).collect()
    }

    fn victim(&self, group: GroupId, pods: &[PodId], start: &Engine, is: &Trial<'_>) -> Victim {
        let names = &self.situation.snapshot.ingest.context.names;
        let (namespace, name) = names.group_name(group.number());
        let evicted = pods.iter().filter_map(|pod| is.evicted.get(pod));
        let nodes = self.node_names(evicted.map(|evicted| evicted.node));
        let reason = pods.iter().find_map(|pod| is.evicted.get(pod)?.reason.as_ref());
        let action = match reason {
            Some(Eviction::Reclaim { .. }) => "reclaim",
            Some(Eviction::Preempt { .. }) => "preempt",
            Some(Eviction::Consolidate { .. }) => "consolidation",
            Some(Eviction::Stale { .. }) => "stale",
            None => "drain",
        };
        let engine = &is.course.cluster;
        let all: Vec<PodId> = engine.pods_of(group).collect();
        let on = self.node_names(all.iter().filter_map(|pod| engine.node_of(*pod)));
        let places = all.iter().filter(|pod| engine.node_of(**pod).is_some()).count();
        let then = match (is.course.is_running(group), all.is_empty()) {
            (_, true) => "gone",
            (false, false) => "waits",
            (true, false) if places == all.len() => "restarts",
            (true, false) => "shrinks",
        };
        let taken = self.situation.snapshot.taken.0;
        Victim {
            namespace: namespace.to_owned(),
            name: title::of_group(name),
            queue: names.queue_of_group(group.number()).to_owned(),
            pods: pods.iter().map(|pod| names.pods[pod.number()].name.to_string()).collect(),
            nodes,
            gpus: decimal(pods.iter().map(|pod| gpu_milli(start, *pod)).sum()),
            action,
            for_workload: reason
                .and_then(Eviction::for_group)
                .map(|group| title::of_group(names.group_name(group.number()).1)),
            ran_seconds: start.last_start(group).map(|begun| (taken - begun.0).max(0) / 1000),
            then,
            on,
        }
    }

    fn node_names(&self, nodes: impl Iterator<Item = NodeId>) -> Vec<String> {
        let names = &self.situation.snapshot.ingest.context.names;
        let nodes: BTreeSet<String> =
            nodes.map(|node| names.nodes.key(node.number()).to_string()).collect();
        nodes.into_iter().collect()
    }

    fn shifts(&self, [was, is]: [&Trial<'_>; 2], starts: &[Forecast; 2]) -> Vec<Shift> {
        let names = &self.situation.snapshot.ingest.context.names;
        let mut shifts = Vec::new();
        for (group, _) in was.course.cluster.groups() {
            if self.added.groups.contains(&group) || self.effects.ended.contains(&group) {
                continue;
            }
            let before = self.start(group, was, &starts[0]);
            let after = self.start(group, is, &starts[1]);
            if before == after || is.course.cluster.group(group).is_none() {
                continue;
            }
            let (namespace, name) = names.group_name(group.number());
            let engine = &is.course.cluster;
            let pods: Vec<PodId> = engine.pods_of(group).collect();
            if pods.is_empty() && matches!(before, Start::Running) {
                // It is among those that have to leave.
                continue;
            }
            shifts.push(Shift {
                namespace: namespace.to_owned(),
                name: title::of_group(name),
                queue: names.queue_of_group(group.number()).to_owned(),
                before,
                after,
                nodes: self.node_names(pods.iter().filter_map(|pod| engine.node_of(*pod))),
            });
        }
        shifts
    }

    fn shares(&self, trials: [&Trial<'_>; 2]) -> Vec<Share> {
        let names = &self.situation.snapshot.ingest.context.names;
        let there = || names.queues.iter().filter(|(_, row)| row.presence.is_there);
        let parents: BTreeSet<u32> = there().filter_map(|(_, row)| row.parent).collect();
        let mut shares: Vec<Share> = there()
            .map(|(number, _)| {
                let states =
                    trials.map(|trial| trial.course.cluster.queue_state(QueueId::new(number)));
                Share {
                    queue: names.queues.key(number).to_string(),
                    is_leaf: !parents.contains(&number),
                    quota: states.map(|state| limit(state.quota[QueueLane::Gpu])),
                    fair_share: states.map(|state| decimal(state.fair_share[QueueLane::Gpu])),
                    allocated: states.map(|state| decimal(state.allocated[QueueLane::Gpu])),
                }
            })
            .collect();
        shares.sort_by(|a, b| a.queue.cmp(&b.queue));
        shares
    }
}

/// Works two things out at the same time, the second one on a thread of its own.
fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        let other = other.join().unwrap_or_else(|panic| resume_unwind(panic));
        (one, other)
    })
}

fn limit(limit: Limit) -> String {
    limit.amount().map_or_else(|| "-1".to_owned(), decimal)
}
