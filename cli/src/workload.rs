//! Workloads as users think of them: the object they submitted, its `PodGroups` and its pods, put together.

mod assembly;
pub(crate) mod casualty;
pub(crate) mod devices;
pub(crate) mod eta;
pub(crate) mod evicted;
mod find;
mod gang;
mod group_name;
pub(crate) mod history;
pub(crate) mod labels;
mod load;
pub(crate) mod members;
mod owner;
mod phase;
pub(crate) mod pod;
pub(crate) mod position;
pub(crate) mod reason;
mod rest;
pub(crate) mod row;
mod unread;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jiff::Timestamp;
use kai_api::explanation::Explanation;
use kai_api::names::annotation;
use serde_json::Value;

use crate::cluster::gpu::{self, Total};
use crate::cluster::json::text;
use crate::cluster::manifest;
use crate::cluster::{Resource, names};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::time;
use crate::settings;
use crate::workload::devices::OnDevice;
use crate::workload::eta::Eta;
use crate::workload::history::Eviction;
pub(crate) use find::find;
pub(crate) use load::{Loaded, load, load_in, load_readable, load_with_rest};
pub(crate) use phase::{Phase, State, bind_failure, is_bound, is_leaving, is_over, one_full_stop};
pub(crate) use position::Position;
pub(crate) use rest::Rest;
pub(crate) use unread::Unread;

/// One workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workload {
    /// Its kind; guessed from the `PodGroup` where the object itself was not read.
    pub(crate) resource: Resource,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) queue: String,
    pub(crate) created: Option<Timestamp>,
    /// The object, where it could be read.
    pub(crate) object: Option<Value>,
    /// Its `PodGroups`.
    pub(crate) groups: Vec<Value>,
    /// Its pods that KAI schedules.
    pub(crate) pods: Vec<Value>,
    /// Its place in its queue, where it waits and the place is known.
    pub(crate) position: Option<Position>,
    /// Its last eviction, once it was looked for and while it has not started again.
    eviction: Option<Eviction>,
    /// Holds what our scheduler says of why it waits; none where KAI's runs, or before it was said.
    pub(crate) explanation: Option<Explanation>,
    /// The devices that its pods share, once they were looked for.
    pub(crate) devices: Vec<OnDevice>,
    /// When it starts, once that was estimated and while it waits.
    pub(crate) eta: Option<Eta>,
    /// The queue that is held, its own or one above it, where it waits for that.
    held: Option<String>,
    /// Holds how it stands, once that was worked out.
    state: OnceLock<State>,
}

/// Tells a workload from all others, those of other namespaces among them.
pub(crate) type Identity<'w> = (&'w str, &'w Resource, &'w str, &'w str);

impl Workload {
    /// Returns which one it is: its namespace, kind, name and UID. The UID alone does not say it, since whoever makes a pod
    /// or a `PodGroup` chooses the UID of the owner that it names.
    pub(crate) fn identity(&self) -> Identity<'_> {
        (&self.namespace, &self.resource, &self.name, &self.uid)
    }

    /// Returns how it stands: worked out once, from what was read of it by then.
    pub(crate) fn state(&self) -> &State {
        self.state.get_or_init(|| phase::state(self))
    }

    /// Returns its phase.
    pub(crate) fn phase(&self) -> Phase {
        self.state().phase
    }

    /// Returns its last eviction, where it was looked for and it has not started again.
    pub(crate) fn eviction(&self) -> Option<&Eviction> {
        self.eviction.as_ref()
    }

    /// Tells whether events may tell of an eviction that matters now: not of what runs, or was explained, where no
    /// `PodGroup` says when it was evicted last.
    pub(crate) fn may_be_evicted(&self) -> bool {
        let stamp =
            |group: &Value| group["metadata"]["annotations"][annotation::LAST_EVICTION].is_string();
        let runs = matches!(self.phase(), Phase::Running | Phase::Starting);
        let is_told = runs || self.explanation.is_some();
        self.groups.is_empty() || !is_told || self.groups.iter().any(stamp)
    }

    /// Notes its last eviction, which is part of how it stands.
    pub(crate) fn set_eviction(&mut self, eviction: Option<Eviction>) {
        self.eviction = eviction;
        self.state.take();
    }

    /// Notes the queue that is held, which is part of how it stands.
    pub(crate) fn set_held(&mut self, held: Option<String>) {
        self.held = held;
        self.state.take();
    }

    /// Pods that run or have ended well, and pods that there should be; of an array, its tasks.
    pub(crate) fn ready(&self) -> (usize, usize) {
        self.ready_in(self.phase())
    }

    /// Does the same where its phase is known.
    pub(crate) fn ready_in(&self, phase: Phase) -> (usize, usize) {
        let ready = self.pods.iter().filter(|pod| phase::is_ready(pod)).count();
        if let Some(tasks) = self.tasks() {
            return (ready.min(tasks), tasks);
        }
        // Pods that only helped are gone by then.
        if phase == Phase::Succeeded {
            return (ready, self.pods.len());
        }
        (ready, self.at_once().max(self.pods.len()))
    }

    /// Returns how many pods it should have at the same time: as many as its object has, and no fewer than its groups need.
    pub(crate) fn at_once(&self) -> usize {
        let wanted = self.object.as_ref().map_or(0, manifest::pods);
        // Of several groups those without pods are what is left of a set that was made smaller.
        let pods = self.pods.iter();
        let with_pods: BTreeSet<&str> =
            pods.map(|pod| text(&pod["metadata"]["annotations"][names::POD_GROUP])).collect();
        let is_in_use = |group: &&Value| {
            self.groups.len() == 1 || with_pods.contains(text(&group["metadata"]["name"]))
        };
        let gang = self.groups.iter().filter(is_in_use).map(gang::all).fold(0, u64::saturating_add);
        usize::try_from(wanted.max(gang)).unwrap_or(usize::MAX)
    }

    /// The tasks of an array.
    pub(crate) fn tasks(&self) -> Option<usize> {
        let tasks = manifest::tasks(self.object.as_ref()?)?;
        Some(usize::try_from(tasks).unwrap_or(usize::MAX))
    }

    /// Returns how many of its pods start together.
    pub(crate) fn together(&self) -> usize {
        let gang = self.groups.iter().map(gang::least).max().unwrap_or(1);
        usize::try_from(gang).unwrap_or(usize::MAX)
    }

    /// The GPUs of its live pods, or those that it will ask for when it has no pods yet.
    pub(crate) fn gpus(&self) -> Total {
        let mut total = Total::default();
        let live = self.pods.iter().filter(|pod| !is_over(pod));
        live.for_each(|pod| total.add(&Total::of_pod(pod), 1));
        for group in &self.groups {
            let claimed = gpu::claimed_milli(&group["status"]["resourcesStatus"]["requested"]);
            total.milli = total.milli.saturating_add(claimed);
        }
        if self.pods.is_empty() || (total.is_zero() && self.phase().is_over()) {
            return self
                .object
                .as_ref()
                .map(|object| manifest::demand(object).1)
                .unwrap_or_default();
        }
        total
    }

    /// The GPUs that its live pods hold on nodes.
    pub(crate) fn gpus_held(&self) -> Total {
        let mut total = Total::default();
        let on_nodes = self.pods.iter().filter(|pod| !is_over(pod) && is_bound(pod));
        on_nodes.for_each(|pod| total.add(&Total::of_pod(pod), 1));
        for group in &self.groups {
            let claimed = gpu::claimed_milli(&group["status"]["resourcesStatus"]["allocated"]);
            total.milli = total.milli.saturating_add(claimed);
        }
        total
    }

    /// The labels of its object, or of its first pod where the object was not read.
    pub(crate) fn labels(&self) -> Option<&serde_json::Map<String, Value>> {
        let object = self.object.as_ref().or(self.pods.first())?;
        object["metadata"]["labels"].as_object()
    }

    /// Nodes that its pods are on, each once.
    pub(crate) fn nodes(&self) -> Vec<&str> {
        let mut nodes: Vec<&str> = self
            .pods
            .iter()
            .map(|pod| text(&pod["spec"]["nodeName"]))
            .filter(|node| !node.is_empty())
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Seconds since it was created.
    pub(crate) fn age(&self) -> Option<i64> {
        self.created.map(|then| Timestamp::now().as_second() - then.as_second())
    }

    /// `kind.group/name`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.resource.label(), self.name)
    }

    /// Tells whether a name of the command line means it: its name, `kind/name`, a `PodGroup`'s or a pod's name. A pattern
    /// with `*` is of names of workloads, or of parts where it says their kind.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        let is = |name: &str| settings::matches(word, name);
        if let Some((kind, name)) = word.split_once('/') {
            let kind = kind.to_lowercase();
            // As describe and kubectl name its parts.
            let parts = match kind.as_str() {
                "pod" | "pods" => self.pods.as_slice(),
                "podgroup" | "podgroups" | "podgroup.scheduling.run.ai" => self.groups.as_slice(),
                _ => &[],
            };
            if parts.iter().any(|part| settings::matches(name, text(&part["metadata"]["name"]))) {
                return true;
            }
            let own = self.resource.kind.to_lowercase();
            let same = [
                own.as_str(),
                self.resource.plural.as_str(),
                &self.resource.label(),
                &self.resource.in_rbac(),
            ];
            let noun =
                crate::cluster::kinds::find(&self.resource.api_version(), &self.resource.kind)
                    .map_or("", |k| k.noun);
            return (same.contains(&kind.as_str()) || (!noun.is_empty() && noun == kind))
                && settings::matches(name, &self.name);
        }
        // A pattern means workloads alone: the names of all `PodGroups` begin alike.
        let is_part = |part: &Value| !word.contains('*') && is(text(&part["metadata"]["name"]));
        is(&self.name) || self.groups.iter().chain(&self.pods).any(is_part)
    }
}

impl Loaded {
    /// The one workload that a word means.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub(crate) fn one(&self, word: &str, place: &str) -> Result<&Workload, Error> {
        let exact: Vec<&Workload> = self.workloads.iter().filter(|w| w.name == word).collect();
        let called: Vec<&Workload> = self.workloads.iter().filter(|w| w.is_called(word)).collect();
        let found = if exact.is_empty() { called } else { exact };
        match found.as_slice() {
            [one] => Ok(one),
            [] => Err(self.nobody(word, place)),
            many => {
                let labels: Vec<String> =
                    many.iter().map(|w| format!("{} in {}", w.label(), w.namespace)).collect();
                let what = format!("\"{word}\" means {} workloads", many.len());
                Err(Problem::new(number::AMBIGUOUS, Exit::Usage, what)
                    .line(labels.join(", "))
                    .fix(format!(
                        "say which: {}/{word} -n {}",
                        many[0].resource.kind.to_lowercase(),
                        many[0].namespace
                    ))
                    .into())
            }
        }
    }

    /// Nothing answers to a name.
    pub(crate) fn nobody(&self, word: &str, place: &str) -> Error {
        let near = self
            .workloads
            .iter()
            .map(|w| (strsim::damerau_levenshtein(&w.name, word), &w.name))
            .min()
            .filter(|(distance, _)| *distance <= word.len().max(3) / 3);
        let problem = Problem::new(
            number::WORKLOAD_NOT_FOUND,
            Exit::NotFound,
            format!("there is no workload \"{word}\" in {place}"),
        );
        let problem = match near {
            Some((_, name)) => {
                problem.line(format!("did you mean \"{}\"?", crate::print::output::clean(name)))
            }
            None => problem,
        };
        let failed = self.unread.failed.iter().map(|failed| failed.kind.as_str());
        let failed = failed.collect::<Vec<_>>().join(", ");
        let problem = match failed.as_str() {
            "" => problem,
            kinds => problem.line(format!("these kinds cannot be listed: {kinds}")),
        };
        problem.fix("kubectl kai list   or, in all namespaces: kubectl kai list -A").into()
    }
}

/// Says how many pods, or that they are more than are counted of one template.
pub(crate) fn pods_shown(pods: usize) -> String {
    let is_counted = u32::try_from(pods).is_ok_and(|pods| pods < u32::MAX);
    if is_counted { pods.to_string() } else { "many".to_owned() }
}

/// The queue that an object names.
pub(crate) fn queue_label(object: &Value) -> &str {
    text(&object["metadata"]["labels"][names::QUEUE])
}

/// When an object was created.
pub(crate) fn created(object: &Value) -> Option<Timestamp> {
    time::of(&object["metadata"]["creationTimestamp"])
}
