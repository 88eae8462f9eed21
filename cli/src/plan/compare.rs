//! A cluster before and after changes, laid side by side.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Cluster as Engine, Eviction, GPU_MILLI, GpuRequest, GroupId, Limit, NodeId, PodId, QueueId,
    QueueLane, Shape, Timestamp, Why,
};
use kai_scheduler::message;
use kai_scheduler::names::Number;

use super::change::decimal;
use super::future::{Drawn, Outlook};
use super::outcome::{Fate, Outcome, Placed, Share, Shift, Start, Victim, Wish};
use super::situation::{Added, Effects, Situation};
use super::title;
use super::trial::{self, Starts, Trial};
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
        let outcome = self
            .change(wish.changes, &mut after)
            .map(|effects| Comparison::new(self, &added, &effects, wish).outcome([before, after]));
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
    late: Drawn<'c>,
    early: Drawn<'c>,
}

impl<'c> Comparison<'c> {
    fn new(
        situation: &'c Situation,
        added: &'c Added,
        effects: &'c Effects,
        wish: &Wish<'_>,
    ) -> Self {
        let names = &situation.snapshot.ingest.context.names;
        let drawn = |outlook| Drawn { times: &situation.times, names, outlook };
        let horizon = situation.snapshot.taken.0 + wish.horizon_seconds.saturating_mul(1000);
        Self {
            situation,
            added,
            effects,
            horizon: Timestamp(horizon),
            late: drawn(Outlook::Late),
            early: drawn(Outlook::Early),
        }
    }

    fn outcome(&self, [before, after]: [Engine; 2]) -> Outcome {
        let snapshot = &self.situation.snapshot;
        let begin = (&snapshot.settings.config, snapshot.taken);
        let is_changed = !self.effects.said.is_empty() || !self.added.groups.is_empty();
        let start = before.clone();
        let was = Trial::settle(before, begin, &self.late, &Effects::default());
        let is = Trial::settle(after, begin, &self.late, self.effects);
        let starts = [self.starts(&was), self.starts(&is)];
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
            evicted: self.victims(&start, [&was, &is], is_changed),
            queues: self.shares([&was, &is]),
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

    /// When the waiting groups start: at the earliest, and at the latest.
    fn starts(&self, trial: &Trial<'_>) -> [Starts; 2] {
        if self.horizon.0 <= self.situation.snapshot.taken.0 {
            return Default::default();
        }
        let config = &self.situation.snapshot.settings.config;
        let groups = trial.course.cluster.groups().map(|(group, _)| group);
        let waiting: BTreeSet<GroupId> =
            groups.filter(|group| !trial.course.is_running(*group)).collect();
        let goal = (&waiting, self.horizon);
        [
            trial::starts(trial, config, &self.early, goal),
            trial::starts(trial, config, &self.late, goal),
        ]
    }

    /// When a group of a cluster at rest starts.
    fn start(&self, group: GroupId, trial: &Trial<'_>, starts: &[Starts; 2]) -> Start {
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
        let seconds =
            |starts: &Starts| starts.at.get(&group).map(|at| (at.0 - taken).max(0) / 1000);
        match (seconds(&starts[0]), seconds(&starts[1])) {
            (Some(early), Some(late)) => Start::Later {
                earliest_seconds: early.min(late),
                latest_seconds: Some(early.max(late)),
            },
            (Some(early), None) => Start::Later { earliest_seconds: early, latest_seconds: None },
            (None, Some(late)) => Start::Later { earliest_seconds: 0, latest_seconds: Some(late) },
            (None, None) => Start::Unknown,
        }
    }

    fn fate(&self, group: GroupId, trial: &Trial<'_>, starts: &[Starts; 2]) -> Fate {
        let snapshot = &self.situation.snapshot;
        let names = &snapshot.ingest.context.names;
        let engine = &trial.course.cluster;
        let (namespace, pod_group) = names.group_name(group.number());
        let mut start = self.start(group, trial, starts);
        let is_open = matches!(start, Start::Later { .. } | Start::Unknown);
        let config = &snapshot.settings.config;
        if is_open && !trial::starts_alone(trial, config, &self.late, group) {
            start = Start::Never;
        }
        let pods: Vec<PodId> = engine.pods_of(group).collect();
        let gpus = pods.iter().map(|pod| gpu_milli(engine, *pod)).sum();
        let mut placed: Vec<Placed> = pods.iter().map(|pod| self.placed(*pod, engine)).collect();
        placed.sort_by(|a, b| a.pod.cmp(&b.pod));
        let verdict = engine.verdict(group).filter(|_| !trial.course.is_running(group));
        Fate {
            namespace: namespace.to_owned(),
            name: title::of_group(pod_group),
            pod_group: pod_group.to_owned(),
            queue: names.queue_of_group(group.number()).to_owned(),
            gpus: decimal(gpus),
            min_pods: engine.sub_groups(group).map(|(_, min, _)| min).sum(),
            pods: placed,
            code: verdict.and_then(Why::code),
            reason: verdict.and_then(|why| self.reason(why, group, engine)),
            basis: matches!(start, Start::Later { .. }).then(|| self.basis(trial)),
            start,
        }
    }

    fn reason(&self, why: &Why, group: GroupId, engine: &Engine) -> Option<String> {
        let names = &self.situation.snapshot.ingest.context.names;
        if let Why::NotReady(unready) = why {
            return Some(message::not_ready(unready, names));
        }
        let waiting = message::Waiting { group: group.number(), facts: engine.group(group), names };
        message::told(why, waiting).map(|told| told.text())
    }

    fn basis(&self, trial: &Trial<'_>) -> String {
        let known = self.known_ends(trial).0;
        let end = if known == 1 { "workload says" } else { "workloads say" };
        format!(
            "the longest run that {known} running {end}; each may end sooner, and others may come ahead of it"
        )
    }

    /// How many running groups say when they end at the latest, and how many do not.
    fn known_ends(&self, trial: &Trial<'_>) -> (usize, usize) {
        let running = trial.course.cluster.groups().map(|(group, _)| group);
        let (known, unknown): (Vec<GroupId>, Vec<GroupId>) = running
            .filter(|group| trial.course.is_running(*group))
            .partition(|group| self.situation.times.longest.contains_key(group));
        (known.len(), unknown.len())
    }

    fn endless(&self, trial: &Trial<'_>) -> Option<String> {
        let (_, unknown) = self.known_ends(trial);
        let subject = if unknown == 1 { "1 running workload does" } else { "running workloads do" };
        let count = if unknown == 1 { String::new() } else { format!("{unknown} ") };
        (unknown > 0)
            .then(|| format!("{count}{subject} not say when it ends: no end is counted on"))
    }

    /// How far it was looked for starts.
    fn looked(&self, starts: &[Starts; 2]) -> String {
        let ahead = (self.horizon.0 - self.situation.snapshot.taken.0) / 1000;
        let cut = starts.iter().filter_map(|starts| starts.cut).min();
        match (ahead, cut) {
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

    fn shifts(&self, [was, is]: [&Trial<'_>; 2], starts: &[[Starts; 2]; 2]) -> Vec<Shift> {
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

fn limit(limit: Limit) -> String {
    limit.amount().map_or_else(|| "-1".to_owned(), decimal)
}

/// GPUs of a pod in thousandths; memory counts as the part that it is of a device of its node, else of nothing.
fn gpu_milli(engine: &Engine, pod: PodId) -> i64 {
    let Some(facts) = engine.pod_waiting(pod) else { return 0 };
    let Shape { gpu, .. } = facts.shape;
    match gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(micro) * i64::from(devices) / 1000,
        GpuRequest::Memory { mib, devices } => {
            let node = engine.node_of(pod).and_then(|node| engine.node(node));
            let memory_mib = node.map_or(0, |node| node.gpus.memory_mib);
            if memory_mib == 0 {
                return 0;
            }
            i64::from(mib) * GPU_MILLI / i64::from(memory_mib) * i64::from(devices)
        }
        GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => {
            instances.iter().map(|(_, count)| i64::from(*count) * GPU_MILLI).sum()
        }
    }
}
