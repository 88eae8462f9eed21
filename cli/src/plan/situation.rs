//! A cluster to plan on: read with the user's own rights, from a file, or from a scenario.

mod live;
mod newcomers;

use std::path::Path;

use kai_api::names::priority_class;
use kai_engine::{Cluster as Engine, Delta, GroupId, NodeId, QueueId};
use kai_scheduler::ingest::{GroupObject, Kind};
use kai_scheduler::names::Number;
use kai_scheduler::snapshot::Snapshot;
use kai_sim::{build, scenario};
use serde_json::{Value, json};

use super::change::{self, Change};
use super::future::RunTimes;
use super::past::longest;
use super::title;
use super::workload::{self, Grouped, Known};
use crate::cluster::json::text;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Output, clean};

/// Says where a cluster was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The API server.
    Cluster,
    /// A snapshot.
    Snapshot(String),
    /// A scenario.
    Scenario(String),
}

/// A cluster to plan on.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) snapshot: Snapshot,
    pub(crate) origin: Origin,
    /// Holds what could not be read, or was taken for granted; a sentence each.
    pub(crate) assumptions: Vec<String>,
    pub(super) times: RunTimes,
}

/// Objects that were added, to be taken out again.
#[derive(Debug, Default)]
pub(super) struct Added {
    objects: Vec<(Kind, Value)>,
    /// The groups of the added work.
    pub(super) groups: Vec<GroupId>,
    pub(super) notes: Vec<String>,
}

/// Holds what a change does beside what the engine is told.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Nodes whose pods leave.
    pub(super) drained: Vec<NodeId>,
    /// Groups that go.
    pub(super) ended: Vec<GroupId>,
    /// Holds what changes, in words.
    pub(super) said: Vec<String>,
}

impl Situation {
    pub(super) fn new(snapshot: Snapshot, origin: Origin) -> Self {
        let mut situation = Self {
            assumptions: snapshot.left_out.clone(),
            snapshot,
            origin,
            times: RunTimes::default(),
        };
        situation.read_times();
        situation
    }

    /// Reads a snapshot from a file.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn of_snapshot(file: &str, dir: &Path) -> Result<Self, Error> {
        let snapshot = Snapshot::read(&dir.join(file)).map_err(|error| {
            let missing = matches!(&error.problem, kai_scheduler::snapshot::Problem::Open(cause) if cause.kind() == std::io::ErrorKind::NotFound);
            unreadable("snapshot", file, missing, &error.problem.to_string())
        })?;
        Ok(Self::new(snapshot, Origin::Snapshot(file.to_owned())))
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn of_scenario(file: &str, dir: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(dir.join(file)).map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            unreadable("scenario", file, missing, &error.to_string())
        })?;
        let wrong = |cause: &dyn std::fmt::Display| {
            Error::from(unreadable("scenario", file, false, &cause.to_string()))
        };
        let scenario = scenario::parse(&text).map_err(|error| wrong(&error))?;
        let world = build::build(&scenario).map_err(|error| wrong(&error))?;
        let snapshot = Snapshot::of_world(world).map_err(|error| wrong(&error))?;
        Ok(Self::new(snapshot, Origin::Scenario(file.to_owned())))
    }

    /// Notes for how long groups may run.
    fn read_times(&mut self) {
        let names = &self.snapshot.ingest.context.names;
        for (key, seconds) in &self.snapshot.run_times {
            if let Some(number) = names.groups.find(key) {
                self.times.longest.insert(GroupId::new(number), seconds.saturating_mul(1000));
            }
        }
    }

    /// Adds work and nodes. Whatever is added is told to be taken out again, by [`Situation::remove`].
    ///
    /// # Errors
    /// Pods would be refused.
    pub(super) fn add(&mut self, objects: &[Value], nodes: &[Value]) -> Result<Added, Error> {
        let mut added = Added::default();
        for node in nodes {
            self.apply(Kind::Node, node.clone(), &mut added)?;
        }
        for object in objects {
            if object["kind"] == "ConfigMap" {
                // It stays: one of that name may be there already.
                self.apply(Kind::ConfigMap, object.clone(), &mut Added::default())?;
                continue;
            }
            let Grouped { groups, pods, notes } = self.grouped(object)?;
            added.notes.extend(notes);
            if pods.is_empty() {
                let name = clean(text(&object["metadata"]["name"]));
                added.notes.push(format!("{name} makes no pods now"));
            }
            let run_time = longest(object);
            for group in groups {
                self.apply(Kind::PodGroup, group, &mut added)?;
            }
            for pod in pods {
                let key = workload::group_of(&pod);
                self.apply(Kind::Pod, pod, &mut added)?;
                let Some(number) = self.snapshot.ingest.context.names.groups.find(&key) else {
                    continue;
                };
                let group = GroupId::new(number);
                if !added.groups.contains(&group) {
                    added.groups.push(group);
                    if let Some(seconds) = run_time {
                        self.times.longest.insert(group, seconds.saturating_mul(1000));
                    }
                }
            }
        }
        self.tell()?;
        if !self.snapshot.ingest.context.resync.is_empty() {
            self.snapshot.ingest.context.resync.clear();
            added.notes.push(
                "labels that the new work asks for, and nothing before did, are not known of pods that there are"
                    .to_owned(),
            );
        }
        Ok(added)
    }

    fn grouped(&self, object: &Value) -> Result<Grouped, Problem> {
        let args = &self.snapshot.args;
        let groups = &self.snapshot.ingest.groups;
        let settings = kai_podgrouper::Settings {
            queue_label: args.queue_label_key.clone(),
            node_pool_label: args.nodepool_label_key.clone(),
            scheduler: args.scheduler_name.clone(),
            karta: false,
            ..kai_podgrouper::Settings::default()
        };
        let now = jiff::Timestamp::from_millisecond(self.snapshot.taken.0).unwrap_or_default();
        let known = Known { settings, class: &|class| groups.class_value(class), now };
        workload::grouped(object, &known)
    }

    fn apply(&mut self, kind: Kind, object: Value, added: &mut Added) -> Result<(), Error> {
        let applied = self.snapshot.ingest.applied(kind, object.to_string().as_bytes());
        applied.map_err(|error| {
            let name = clean(text(&object["metadata"]["name"])).into_owned();
            let what = format!("the {kind} {name} cannot be read: {error}");
            Problem::new(number::OTHER, Exit::Failure, what)
        })?;
        added.objects.push((kind, object));
        Ok(())
    }

    /// Tells the engine of what was added or taken out; what is not decided of it is an assumption from then on.
    fn tell(&mut self) -> Result<(), Error> {
        let known = self.snapshot.left_out.len();
        self.snapshot.tell().map_err(|error| {
            let what = format!("the selectors of devices cannot be evaluated: {error}");
            Problem::new(number::OTHER, Exit::Failure, what)
        })?;
        self.assumptions.extend(self.snapshot.left_out.iter().skip(known).cloned());
        Ok(())
    }

    /// Takes out what was added.
    pub(super) fn remove(&mut self, added: Added) -> Result<(), Error> {
        for (kind, object) in added.objects.into_iter().rev() {
            // What was read a moment ago can be read again.
            let _ = self.snapshot.ingest.deleted(kind, object.to_string().as_bytes());
        }
        self.tell()
    }

    /// Tells a copy of the engine of changes; what it cannot be told comes back.
    ///
    /// # Errors
    /// A change names what is not there.
    pub(super) fn change(&self, changes: &[Change], engine: &mut Engine) -> Result<Effects, Error> {
        let mut effects = Effects::default();
        let mut problems = Vec::new();
        for change in changes {
            match self.change_one(change, engine, &mut effects) {
                Ok(said) => effects.said.push(said),
                Err(problem) => problems.push(problem),
            }
        }
        Error::all(problems).map(|()| effects)
    }

    fn change_one(
        &self,
        change: &Change,
        engine: &mut Engine,
        effects: &mut Effects,
    ) -> Result<String, Problem> {
        match change {
            Change::AddNodes { typed, specs } => {
                let gpus: u32 = specs.iter().map(|spec| spec.gpus).sum();
                let nodes = specs.len();
                let end = if nodes == 1 { "" } else { "s" };
                Ok(format!("+{nodes} node{end} ({gpus} GPUs: {typed})"))
            }
            Change::Queue { queue, field, value } => {
                let id = self.queue(queue)?;
                let Some(mut facts) = engine.queue(id).cloned() else {
                    return Err(self.no_queue(queue));
                };
                let was = change::field_value(&facts, *field);
                change::change_queue(&mut facts, *field, value);
                let is = change::field_value(&facts, *field);
                engine.apply(Delta::Queue(id, Box::new(facts)));
                Ok(format!("{queue} {} {was} -> {is}", change::field_name(*field)))
            }
            Change::Move { queue, parent } => {
                let (id, above) = (self.queue(queue)?, self.queue(parent)?);
                let Some(mut facts) = engine.queue(id).cloned() else {
                    return Err(self.no_queue(queue));
                };
                facts.parent = Some(above);
                engine.apply(Delta::Queue(id, Box::new(facts)));
                Ok(format!("{queue} below {parent}"))
            }
            Change::Drain(name) => {
                let names = &self.snapshot.ingest.context.names;
                let id = names.nodes.find(name).map(NodeId::new);
                let facts = id.and_then(|id| Some((id, engine.node(id)?.clone())));
                let Some((id, mut facts)) = facts else {
                    return Err(missing("node", name, &self.node_names(engine)));
                };
                facts.blocked = Some(kai_engine::Blocked::Unschedulable);
                engine.apply(Delta::Node(id, Box::new(facts)));
                effects.drained.push(id);
                Ok(format!("drain {name}"))
            }
            Change::Delete(name) => {
                effects.ended.extend(self.groups_called(name, engine)?);
                Ok(format!("without {name}"))
            }
            Change::Priority { workload, priority } => {
                let class = self.snapshot.ingest.groups.class_value(priority);
                let Some(value) = class.or_else(|| priority.parse().ok()) else {
                    let what = format!("priority class \"{}\" does not exist", clean(priority));
                    return Err(Problem::new(number::PRIORITY, Exit::NotFound, what));
                };
                for group in self.groups_called(workload, engine)? {
                    if let Some(mut facts) = engine.group(group).cloned() {
                        facts.priority = value;
                        let object = self.snapshot.ingest.groups.object(group.number());
                        if object.is_none_or(GroupObject::follows_class) {
                            facts.preemptible = value < priority_class::NON_PREEMPTIBLE_FROM;
                        }
                        engine.apply(Delta::Group(group, Box::new(facts)));
                    }
                }
                Ok(format!("{workload} with priority {priority}"))
            }
        }
    }

    fn queue(&self, name: &str) -> Result<QueueId, Problem> {
        let number = self.snapshot.ingest.context.names.queues.find(name);
        number.map(QueueId::new).ok_or_else(|| self.no_queue(name))
    }

    fn no_queue(&self, name: &str) -> Problem {
        let names = &self.snapshot.ingest.context.names;
        let known = names.queues.iter().filter(|(_, row)| row.presence.is_there);
        let known: Vec<String> =
            known.map(|(number, _)| names.queues.key(number).to_string()).collect();
        Problem { number: number::QUEUE_NOT_FOUND, ..missing("queue", name, &known) }
    }

    fn node_names(&self, engine: &Engine) -> Vec<String> {
        let names = &self.snapshot.ingest.context.names;
        engine.nodes().map(|(id, _)| names.nodes.key(id.number()).to_string()).collect()
    }

    /// The groups of a workload: by its name, `namespace/name`, or the name of the `PodGroup`.
    fn groups_called(&self, name: &str, engine: &Engine) -> Result<Vec<GroupId>, Problem> {
        let names = &self.snapshot.ingest.context.names;
        let mut known = Vec::new();
        let mut found = Vec::new();
        for (id, _) in engine.groups() {
            let (namespace, group) = names.group_name(id.number());
            let title = title::of_group(group);
            if [&*title, group, &*format!("{namespace}/{title}")].contains(&name) {
                found.push(id);
            }
            known.push(title);
        }
        if found.is_empty() {
            let problem = missing("workload", name, &known);
            return Err(Problem { number: number::WORKLOAD_NOT_FOUND, ..problem });
        }
        Ok(found)
    }
}

/// Names that are listed where one is not there.
const NAMES_MAX: usize = 10;

fn missing(what: &str, name: &str, known: &[String]) -> Problem {
    let problem = Problem::new(
        number::OTHER,
        Exit::NotFound,
        format!("{what} \"{}\" does not exist", clean(name)),
    );
    let near = known.iter().map(|one| (strsim::damerau_levenshtein(one, name), one)).min();
    let problem = match near {
        Some((distance, near)) if distance <= 2 => {
            problem.line(format!("did you mean \"{}\"?", clean(near)))
        }
        Some(_) | None => problem,
    };
    let mut shown: Vec<String> = known.iter().map(|one| clean(one).into_owned()).collect();
    shown.sort();
    shown.dedup();
    if shown.is_empty() {
        return problem;
    }
    let more = shown.len().saturating_sub(NAMES_MAX);
    shown.truncate(NAMES_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    problem.line(format!("there are: {}{more}", shown.join(", ")))
}

fn unreadable(what: &str, file: &str, missing: bool, cause: &str) -> Problem {
    let exit = if missing { Exit::NotFound } else { Exit::Failure };
    let problem =
        Problem::new(number::FILE, exit, format!("failed to read the {what} {}", clean(file)));
    cause.lines().take(6).fold(problem, |problem, line| problem.line(clean(line).into_owned()))
}

/// An object in the namespace where it will be made.
pub(crate) fn in_namespace(mut object: Value, namespace: &str) -> Value {
    if text(&object["metadata"]["namespace"]).is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object
}

impl Situation {
    /// Reads the cluster with the user's own rights.
    ///
    /// # Errors
    /// The server cannot be asked.
    pub(crate) async fn live(reading: Reading<'_>, out: &mut Output) -> Result<Self, Error> {
        live::read(reading, out).await
    }
}

pub(crate) use live::Reading;
