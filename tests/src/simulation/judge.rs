//! Judge of every write: the trace, and the promises that can be seen from the API after each.

use std::{
    collections::BTreeMap,
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::BufWriter,
    time::Duration,
};

use k8s_openapi::api::core::v1::{Container, Node, Pod};
use kai_api::{pod_group::PodGroup, queue::Queue};
use kai_sandbox::server::{Change, Write};
use kube::ResourceExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::{mixed, promises::Told};
use crate::observer::Observed;

/// Kinds that are written for ever: nobody waits for them to rest.
const RESTLESS: &[&str] = &["leases"];

/// The resource that is shared out.
const GPU: &str = "nvidia.com/gpu";
/// Time within which a scheduler hears of a change, or decides nothing any more.
const HEARD_WITHIN: Duration = Duration::from_secs(200);

/// Everything that was written, and all of it that was wrong.
#[derive(Debug)]
pub(super) struct Judge {
    began: Instant,
    trace: DefaultHasher,
    file: Option<BufWriter<File>>,
    writes: u64,
    observed: Observed,
    /// Nodes that have less than before, and since when.
    shown: Vec<(Instant, Node)>,
    gpus: BTreeMap<String, Option<u32>>,
    minimums: BTreeMap<String, usize>,
    /// Thousandths of GPUs that each queue has at most, and its parent.
    limits: BTreeMap<String, (Option<i64>, Option<String>)>,
    /// Thousandths of GPUs of each pod that runs, and its queue.
    held: BTreeMap<String, (i64, String)>,
    queues: BTreeMap<String, String>,
    told: Told,
    last: (Instant, String),
    /// A restart is under way, which writes some things again.
    expects_restart: bool,
    /// Conditions of each group, as text.
    conditions: BTreeMap<String, String>,
    findings: Vec<String>,
}

impl Judge {
    /// Nothing was written yet. Each write becomes a line of `file`.
    pub(super) fn new(began: Instant, file: Option<File>) -> Self {
        let file = file.map(BufWriter::new);
        Self {
            began,
            trace: DefaultHasher::new(),
            file,
            writes: 0,
            observed: Observed::default(),
            shown: Vec::new(),
            gpus: BTreeMap::new(),
            minimums: BTreeMap::new(),
            limits: BTreeMap::new(),
            held: BTreeMap::new(),
            queues: BTreeMap::new(),
            told: Told::default(),
            last: (began, String::from("nothing")),
            expects_restart: false,
            conditions: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    /// Takes a write in, and looks whether a promise is broken by it.
    pub(super) fn wrote(&mut self, write: &Write<'_>) {
        let now = Instant::now();
        self.writes += 1;
        let millis = now.duration_since(self.began).as_millis();
        let text = write.object.to_string();
        (millis, write.plural, write.change as u8, &text).hash(&mut self.trace);
        let name = &write.object["metadata"]["name"];
        if let Some(file) = &mut self.file {
            use std::io::Write as _;
            // A trace is for people; what is amiss with its file shows in it.
            let _ = writeln!(file, "{millis} {} {:?} {text}", write.plural, write.change);
        }
        if !RESTLESS.contains(&write.plural) && !self.is_of_restart(write) {
            self.last = (now, format!("{:?} {} {name} at {millis} ms", write.change, write.plural));
        }
        let before = self.observed.findings.len();
        self.show(now);
        match write.plural {
            "nodes" if write.change != Change::Deleted => {
                if let Some(node) = read::<Node>(write.object) {
                    self.told.node(&node);
                    self.shown.push((now, node));
                }
            }
            "nodes" => self.told.node_gone(name.as_str().unwrap_or_default()),
            "pods" => self.pod(write),
            "bindrequests" => self.told.prop(format!("BindRequest {name}"), write.change),
            "podgroups" => self.group(write),
            "queues" => self.queue(write),
            "events" => self.told.event(write.object),
            _ => {}
        }
        let found = self.observed.findings[before..].iter();
        self.findings.extend(found.map(|text| format!("at {millis} ms: {text}")));
    }

    /// Nodes count as they are once whoever binds must have heard of it: at once where they have more than before.
    fn show(&mut self, now: Instant) {
        let shown = std::mem::take(&mut self.shown);
        for (index, (at, node)) in shown.iter().enumerate() {
            let name = node.name_any();
            let gpus = |node: &Node| {
                let status = node.status.as_ref()?.allocatable.as_ref()?;
                status.get(GPU)?.0.parse::<u32>().ok()
            };
            let is_last = shown[index + 1..].iter().all(|(_, later)| later.name_any() != name);
            let is_more = self.gpus.get(&name).is_none_or(|before| gpus(node) >= *before);
            if is_more || now.duration_since(*at) > HEARD_WITHIN {
                self.observed.node(node);
                self.gpus.insert(name, gpus(node));
            } else if is_last {
                self.shown.push((*at, node.clone()));
            }
        }
    }

    fn pod(&mut self, write: &Write<'_>) {
        let Some(pod) = read::<Pod>(write.object) else { return };
        self.findings.extend(self.told.pod(&pod, write.change));
        if write.change == Change::Deleted {
            self.observed.pod_gone(&pod);
            self.held.remove(&pod.uid().unwrap_or_default());
        } else {
            self.observed.pod(&pod);
            self.hold(&pod);
        }
    }

    /// Counts what a pod holds, and compares with the limits of its queue when it comes (S5).
    fn hold(&mut self, pod: &Pod) {
        let uid = pod.uid().unwrap_or_default();
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        // What is leaving is no longer its queue's, though still its node's.
        let is_leaving = pod.metadata.deletion_timestamp.is_some();
        if is_leaving || matches!(phase, Some("Succeeded" | "Failed")) {
            self.held.remove(&uid);
            return;
        }
        let Some(spec) = pod.spec.as_ref().filter(|spec| spec.node_name.is_some()) else { return };
        let group = pod.annotations().get("pod-group-name");
        let name = group.map(|group| format!("{}/{group}", pod.namespace().unwrap_or_default()));
        let Some(queue) = name.and_then(|name| self.queues.get(&name).cloned()) else { return };
        let of = |container: &Container| {
            let limits = container.resources.as_ref()?.limits.as_ref()?;
            limits.get(GPU)?.0.parse::<i64>().ok()
        };
        let share = mixed::hundredths_of(pod.annotations());
        let whole = spec.containers.iter().filter_map(of).sum::<i64>();
        let milli = 1000 * whole + 10 * share.unwrap_or_default();
        if self.held.insert(uid, (milli, queue.clone())).is_some() {
            return;
        }
        let mut next = Some(queue);
        while let Some(queue) = &next {
            let Some((limit, parent)) = self.limits.get(queue) else { break };
            let of_queue = self.held.values().filter(|(_, of)| self.is_within(of, queue));
            let sum: i64 = of_queue.map(|(milli, _)| milli).sum();
            if limit.is_some_and(|limit| sum > limit) {
                let pod = pod.name_any();
                self.findings
                    .push(format!("{queue} has {sum} milli of GPUs of {limit:?} after {pod}"));
            }
            next.clone_from(parent);
        }
    }

    /// Tells whether a queue is another one or below it.
    fn is_within(&self, queue: &str, above: &str) -> bool {
        let mut next = Some(queue);
        while let Some(name) = next {
            if name == above {
                return true;
            }
            next = self.limits.get(name).and_then(|(_, parent)| parent.as_deref());
        }
        false
    }

    fn group(&mut self, write: &Write<'_>) {
        let Some(group) = read::<PodGroup>(write.object) else { return };
        let name = format!("{}/{}", group.namespace().unwrap_or_default(), group.name_any());
        if write.change == Change::Deleted {
            self.minimums.remove(&name);
            self.queues.remove(&name);
            return;
        }
        let minimum = group.spec.min_member.unwrap_or(1);
        self.minimums.insert(name.clone(), usize::try_from(minimum).unwrap_or_default());
        self.findings.extend(self.told.noted(&group));
        self.told.group(&name, group.spec.priority_class_name);
        self.queues.insert(name, group.spec.queue.unwrap_or_default());
    }

    fn queue(&mut self, write: &Write<'_>) {
        let Some(queue) = read::<Queue>(write.object) else { return };
        self.told.queue(&queue.name_any(), write.object);
        let limit = write.object["spec"]["resources"]["gpu"]["limit"].as_i64();
        let milli = limit.filter(|limit| *limit >= 0).map(|limit| limit * 1000);
        self.limits.insert(queue.name_any(), (milli, queue.spec.parent_queue));
    }

    /// Notes that nobody comes any more, and nothing goes wrong.
    pub(super) fn stand_still(&mut self) {
        self.told.stand_still();
    }

    /// Looks at what has to be right once nothing happens any more.
    pub(super) fn at_rest(&mut self) {
        let minimum = |group: &str| self.minimums.get(group).copied().unwrap_or(1);
        let told = self.told.at_rest(minimum);
        self.findings.extend(told.into_iter().map(|text| format!("at rest: {text}")));
    }

    /// Has what a restart writes no longer count.
    pub(super) fn expect_a_restart(&mut self) {
        self.expects_restart = true;
    }

    /// Tells whether a write is one of those that a restart makes, and that says nothing else than was said.
    fn is_of_restart(&mut self, write: &Write<'_>) -> bool {
        let is_like = match write.plural {
            "events" | "dailyrecords" => true,
            "podgroups" => {
                let says = write.object["status"]["schedulingConditions"].to_string();
                let uid = write.object["metadata"]["uid"].to_string();
                self.conditions.insert(uid, says.clone()).is_none_or(|before| before == says)
            }
            _ => false,
        };
        self.expects_restart && is_like
    }

    /// Tells whether nothing runs, and nothing of a kind that comes to rest was written for so long.
    pub(super) fn is_at_rest(&self, silence: Duration) -> bool {
        self.held.is_empty() && self.last.0.elapsed() >= silence
    }

    /// The last write of a kind that comes to rest.
    pub(super) fn last_write(&self) -> &str {
        &self.last.1
    }

    /// Time since the last write of a kind that comes to rest.
    pub(super) fn silence(&self) -> Duration {
        self.last.0.elapsed()
    }

    /// Notes a promise that was seen broken elsewhere.
    pub(super) fn find(&mut self, text: String) {
        self.findings.push(text);
    }

    /// The hash of all writes, and their number.
    pub(super) fn trace(&self) -> (u64, u64) {
        (self.trace.finish(), self.writes)
    }

    /// The number of pods that were bound.
    pub(super) fn binds(&self) -> usize {
        self.observed.binds()
    }

    /// Promises that were broken, in the order seen.
    pub(super) fn findings(&self) -> Vec<String> {
        self.findings.clone()
    }
}

fn read<T: DeserializeOwned>(object: &Value) -> Option<T> {
    T::deserialize(object).ok()
}
