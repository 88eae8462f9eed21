//! Promises about what is told: who may be evicted, where a pod may go, what queues say, what is left behind.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use k8s_openapi::api::core::v1::{Node, Pod};
use kai_api::{
    names::{SCHEDULER_NAME, condition, event, namespace},
    pod_group::PodGroup,
};
use kai_sandbox::server::Change;
use kube::ResourceExt;
use serde_json::Value;
use tokio::time::Instant;

use super::{load::NOTE, neighbours::Neighbours};

/// Priority classes whose work is never evicted for others.
const PROTECTED: &[&str] = &["build", "inference"];
/// Evictions of one group for one other by one leader, from when on nobody comes any more: so many are a circle. A few are
/// none: what ends gives others their turn, and so does what they take. A node that refuses is tried again after pauses that
/// double, which each leader counts by itself.
const EVICTIONS_MAX: usize = 6;
/// Evictions of a group within this time are one.
const AT_ONCE: Duration = Duration::from_secs(5);

/// A pod that waits.
#[derive(Debug)]
struct Waiting {
    name: String,
    group: Option<String>,
    /// It was told why.
    is_told: bool,
}

/// All that was told so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    labels: BTreeMap<String, BTreeMap<String, String>>,
    classes: BTreeMap<String, String>,
    neighbours: Neighbours,
    /// UIDs of pods that are bound.
    bound: BTreeSet<String>,
    /// UIDs of pods that were told to go.
    leaving: BTreeSet<String>,
    /// Pods that wait, by UID.
    waiting: BTreeMap<String, Waiting>,
    /// Things that are there only for work that runs, and `BindRequest`s.
    props: BTreeSet<String>,
    queues: BTreeMap<String, Value>,
    /// UIDs of groups that a user wrote a note on.
    noted: BTreeSet<String>,
    /// Groups of which an event says that pods are missing.
    not_ready: BTreeSet<String>,
    /// Evictions of each group for each other, since nobody comes any more: the last, and how many.
    evictions: Option<BTreeMap<String, (Instant, usize)>>,
    /// From so many evictions on of one group for one other they are a circle.
    evictions_max: usize,
}

impl Told {
    /// Notes that nobody comes any more; so many schedulers bind by turns.
    pub(super) fn stand_still(&mut self, leaders: usize) {
        self.evictions = Some(BTreeMap::new());
        self.evictions_max = leaders * EVICTIONS_MAX;
    }

    pub(super) fn node(&mut self, node: &Node) {
        self.labels.insert(node.name_any(), node.labels().clone());
    }

    /// Notes that a node is gone, of which somebody hears late, as that it is there again.
    pub(super) fn node_gone(&mut self, name: &str) {
        self.neighbours.node_gone(name);
    }

    pub(super) fn group(&mut self, name: &str, class: Option<String>) {
        self.classes.insert(name.to_owned(), class.unwrap_or_default());
    }

    pub(super) fn queue(&mut self, name: &str, queue: &Value) {
        self.queues.insert(name.to_owned(), queue["status"].clone());
    }

    /// Takes a group in whose note of a user must not be lost (S14).
    pub(super) fn noted(&mut self, group: &PodGroup) -> Option<String> {
        let uid = group.uid().unwrap_or_default();
        if group.annotations().contains_key(NOTE) {
            self.noted.insert(uid);
            return None;
        }
        self.noted.remove(&uid).then(|| format!("{} lost the note of a user", group.name_any()))
    }

    /// Takes an event in.
    pub(super) fn event(&mut self, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if event["reason"] == event::NOT_READY {
            let of = &event["involvedObject"];
            self.not_ready.insert(format!("{}/{}", text(&of["namespace"]), text(&of["name"])));
        }
    }

    /// Takes in what must not outlive the work that it was made for (L6).
    pub(super) fn prop(&mut self, what: String, change: Change) {
        if change == Change::Deleted {
            self.props.remove(&what);
        } else {
            self.props.insert(what);
        }
    }

    /// Takes a pod in; gives what is wrong about it.
    pub(super) fn pod(&mut self, pod: &Pod, change: Change) -> Vec<String> {
        let (uid, name) = (pod.uid().unwrap_or_default(), pod.name_any());
        let status = pod.status.clone().unwrap_or_default();
        let spec = pod.spec.clone().unwrap_or_default();
        if pod.namespace().as_deref() == Some(namespace::RESERVATION) {
            self.prop(format!("reservation {name}"), change);
            return Vec::new();
        }
        let scheduler = spec.scheduler_name.as_deref();
        if scheduler != Some(SCHEDULER_NAME)
            && change == Change::Modified
            // A user's deletion in the foreground is a write as well.
            && pod.metadata.deletion_timestamp.is_none()
        {
            return vec![format!(
                "{name} of scheduler {} was written to",
                scheduler.unwrap_or("none")
            )];
        }
        let has_ended = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
        if change == Change::Deleted || has_ended || pod.metadata.deletion_timestamp.is_some() {
            self.waiting.remove(&uid);
        } else if spec.node_name.is_none() && spec.scheduler_name.as_deref() == Some(SCHEDULER_NAME)
        {
            let says = status.conditions.iter().flatten().find(|one| one.type_ == "PodScheduled");
            let why = says.filter(|one| one.status == "False").and_then(|one| one.message.clone());
            let (name, group) = (name.clone(), group_of(pod));
            let is_told = why.is_some_and(|why| !why.is_empty());
            self.waiting.insert(uid.clone(), Waiting { name, group, is_told });
        }
        let mut wrong: Vec<String> =
            self.neighbours.pod(pod, change, &self.labels).into_iter().collect();
        if let Some(node) = &spec.node_name {
            self.waiting.remove(&uid);
            if self.bound.insert(uid.clone()) {
                wrong.extend(self.misplaced(&name, spec.node_selector.as_ref(), node));
            }
        }
        if pod.metadata.deletion_timestamp.is_some() && self.leaving.insert(uid) {
            let says = |one: &&k8s_openapi::api::core::v1::PodCondition| {
                one.type_ == condition::DISRUPTION_TARGET
                    && one.reason.as_deref() == Some("PreemptionByScheduler")
            };
            let told = status.conditions.iter().flatten().find(says);
            wrong.extend(told.and_then(|told| self.evicted(pod, told.message.as_deref())));
        }
        wrong
    }

    /// A pod on a node whose labels it does not select (S11).
    fn misplaced(
        &self,
        pod: &str,
        selector: Option<&BTreeMap<String, String>>,
        node: &str,
    ) -> Option<String> {
        let labels = self.labels.get(node)?;
        let wrong = selector?.iter().find(|(key, value)| labels.get(*key) != Some(*value))?;
        Some(format!("{pod} wants {}={} and is on {node}", wrong.0, wrong.1))
    }

    /// Work that may not be evicted for others, or is evicted again and again (S6, L3). What lost pods may go.
    fn evicted(&mut self, pod: &Pod, why: Option<&str>) -> Option<String> {
        let name = pod.name_any();
        let group = group_of(pod)?;
        let why = why.unwrap_or_default();
        if why.contains("minimum required number") {
            return None;
        }
        let class = self.classes.get(&group).map_or("", String::as_str);
        if PROTECTED.contains(&class) {
            return Some(format!("{name} of class {class} was evicted: {why}"));
        }
        let for_whom =
            why.split("workload ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let pair = format!("{group} for {}", for_whom.unwrap_or("room"));
        let now = Instant::now();
        let evictions = self.evictions.as_mut()?;
        let (last, count) = evictions.entry(pair.clone()).or_insert((now, 1));
        let before = std::mem::replace(last, now);
        if now.duration_since(before) < AT_ONCE {
            return None;
        }
        *count += 1;
        (*count == self.evictions_max).then(|| format!("evicted again and again: {pair}"))
    }

    /// Finds what is wrong where nothing runs and nothing is written any more (L1, L6, S12). A gang whose pods have not
    /// all come is told so by an event and has no condition (docs/behaviour.md 12.4).
    pub(super) fn at_rest(&self, minimum: impl Fn(&str) -> usize) -> Vec<String> {
        let has_come = |group: &str| {
            let of_group = |one: &&Waiting| one.group.as_deref() == Some(group);
            self.waiting.values().filter(of_group).count() >= minimum(group)
        };
        let silent = self.waiting.values().filter(|one| !one.is_told);
        let silent = silent.filter(|one| {
            let is_told = |group: &str| !has_come(group) && self.not_ready.contains(group);
            !one.group.as_deref().is_some_and(is_told)
        });
        let silent = silent.map(|one| format!("{} waits and is not told why", one.name));
        let left = self.props.iter().map(|what| format!("{what} is left behind"));
        let full = self.queues.iter().filter(|(_, status)| {
            let amounts = status["allocated"].as_object();
            let is_none = |amount: &Value| {
                matches!(amount.as_str(), Some("0")) || matches!(amount.as_i64(), Some(0))
            };
            !amounts.into_iter().flatten().all(|(_, amount)| is_none(amount))
        });
        let full = full.map(|(queue, status)| {
            format!("{queue} says that it holds {} although nothing runs", status["allocated"])
        });
        silent.chain(left).chain(full).collect()
    }
}

/// Names a pod's group.
fn group_of(pod: &Pod) -> Option<String> {
    let group = pod.annotations().get("pod-group-name")?;
    Some(format!("{}/{group}", pod.namespace().unwrap_or_default()))
}
