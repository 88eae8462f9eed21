//! Judge of every write: the trace, and the promises that can be seen from the API after each.

use std::{
    collections::BTreeMap,
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::BufWriter,
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kai_api::{names::resource::NVIDIA_GPU, pod_group::PodGroup};
use kai_sandbox::server::{Change, Write};
use kube::ResourceExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    accounts::Accounts,
    claims::Claims,
    devices::Devices,
    gangs::Gangs,
    grouping::Grouping,
    places::Places,
    promises::Told,
    queue_tree::QueueTree,
    recent::Moment,
    shown::{Group, Groups, Shown},
    verdicts::Verdicts,
    victims::{Known, Victims},
};
use crate::observer::Observed;

/// Kinds that are written for ever: nobody waits for them to rest.
const RESTLESS: &[&str] = &["leases"];

/// Time within which a scheduler hears of a change, or decides nothing any more.
const HEARD_WITHIN: Duration = Duration::from_secs(200);
/// Time from a change that a scheduler has not heard of yet to the last write of what it decided: it waits for a volume or a
/// device in between.
const DONE_WITHIN: Duration = Duration::from_secs(400);
/// The same where nothing goes wrong.
const CALM_DONE_WITHIN: Duration = Duration::from_mins(1);

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
    groups: Groups,
    queues: QueueTree,
    gangs: Gangs,
    victims: Victims,
    places: Places,
    devices: Devices,
    claims: Claims,
    accounts: Accounts,
    grouping: Grouping,
    verdicts: Verdicts,
    /// Since when nothing goes wrong.
    calm: Option<Instant>,
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
    pub(super) fn new(began: Instant, file: Option<File>, has_faults: bool) -> Self {
        let file = file.map(BufWriter::new);
        Self {
            began,
            trace: DefaultHasher::new(),
            file,
            writes: 0,
            observed: Observed::default(),
            shown: Vec::new(),
            gpus: BTreeMap::new(),
            groups: Groups::new(),
            queues: QueueTree::default(),
            gangs: Gangs::default(),
            victims: Victims::default(),
            places: Places::default(),
            devices: Devices::default(),
            claims: Claims::default(),
            accounts: Accounts::default(),
            grouping: Grouping::default(),
            verdicts: Verdicts::default(),
            calm: (!has_faults).then_some(began),
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
        let at = self.moment(now);
        let mut wrong = self.settled(now);
        wrong.extend(self.take(write, at));
        wrong.extend(self.gangs.pass(&self.groups, &self.queues, at));
        wrong.extend(self.accounts.pass(at));
        wrong.extend(self.verdicts.pass(at));
        let found = self.observed.findings[before..].iter().chain(&wrong);
        self.findings.extend(found.map(|text| format!("at {millis} ms: {text}")));
    }

    /// Says what was wrong about plans that are told whole by now. Nothing has changed since the write before this one: whoever
    /// asked later, hours after it where nothing was written, would ask for numbers that are kept no more.
    fn settled(&mut self, now: Instant) -> Vec<String> {
        let mut wrong = self.queues.settled(now);
        let known = Known { groups: &self.groups, gangs: &self.gangs, queues: &self.queues };
        wrong.extend(self.victims.settled(known, now));
        wrong
    }

    /// Takes in what was written, and says what is wrong about it.
    fn take(&mut self, write: &Write<'_>, at: Moment) -> Vec<String> {
        let name = &write.object["metadata"]["name"];
        match write.plural {
            "nodes" if write.change != Change::Deleted => {
                if let Some(node) = read::<Node>(write.object) {
                    self.told.node(&node);
                    self.places.node(&node, at.now);
                    self.queues.node(&node.name_any(), gpus(&node).map_or(0, i64::from));
                    self.shown.push((at.now, node));
                }
            }
            "nodes" => {
                let name = name.as_str().unwrap_or_default();
                self.told.node_gone(name);
                self.places.node_gone(name, at.now);
            }
            "pods" => return self.pod(write, at),
            "resourceclaims" => return self.claims.claim(write.object, write.change),
            "configmaps" => self.config_map(write),
            "jobs" if write.change == Change::Deleted => self.grouping.job_gone(write.object),
            "jobs" => self.grouping.job(write.object),
            "bindrequests" => self.told.prop(format!("BindRequest {name}"), write.change),
            "podgroups" => self.group(write, at.now),
            "queues" => self.queue(write, at.now),
            "events" => self.told.event(write.object),
            _ => {}
        }
        Vec::new()
    }

    /// The moment, and what is known by then. Nothing of what went wrong is left once all have heard that it is over.
    fn moment(&self, now: Instant) -> Moment {
        let calm = self.calm.map(|calm| calm + HEARD_WITHIN);
        let is_calm = calm.is_some_and(|calm| calm <= now);
        let within = if is_calm { CALM_DONE_WITHIN } else { DONE_WITHIN };
        Moment { now, since: now.checked_sub(within).unwrap_or(self.began), calm }
    }

    /// Nodes count as they are once whoever binds must have heard of it: at once where they have more than before.
    fn show(&mut self, now: Instant) {
        let shown = std::mem::take(&mut self.shown);
        for (index, (at, node)) in shown.iter().enumerate() {
            let name = node.name_any();
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

    fn pod(&mut self, write: &Write<'_>, at: Moment) -> Vec<String> {
        let Some(pod) = read::<Pod>(write.object) else { return Vec::new() };
        let mut wrong = self.told.pod(&pod, write.change);
        if write.change == Change::Deleted {
            self.observed.pod_gone(&pod);
        } else {
            self.observed.pod(&pod);
        }
        let shown = Shown::of(&pod, write.change);
        wrong.extend(self.places.pod(&shown, at));
        wrong.extend(self.devices.pod(&shown, write.change, at));
        wrong.extend(self.claims.pod(&shown));
        wrong.extend(self.gangs.pod(&shown, &self.groups, at));
        if let Some(group) = &shown.group {
            self.verdicts.look(group, &self.gangs, at.now);
        }
        wrong.extend(self.queues.pod(&shown, &self.groups, at));
        self.accounts.pod(&shown, &self.groups);
        let known = Known { groups: &self.groups, gangs: &self.gangs, queues: &self.queues };
        wrong.extend(self.victims.pod(&shown, known, at));
        wrong
    }

    fn config_map(&mut self, write: &Write<'_>) {
        let Some(map) = read::<ConfigMap>(write.object) else { return };
        if write.change == Change::Deleted {
            self.devices.config_map_gone(&map);
        } else {
            self.devices.config_map(&map);
        }
    }

    fn group(&mut self, write: &Write<'_>, now: Instant) {
        let Some(group) = read::<PodGroup>(write.object) else { return };
        let name = format!("{}/{}", group.namespace().unwrap_or_default(), group.name_any());
        if write.change == Change::Deleted {
            self.groups.remove(&name);
            self.victims.group_gone(&name);
            self.grouping.group_gone(&name);
            self.verdicts.group_gone(&name);
            self.accounts.group(&name, &self.groups);
            return;
        }
        self.findings.extend(self.told.noted(&group));
        self.findings.extend(self.grouping.group(&name, &group));
        self.verdicts.group(&name, &group, &self.gangs, now);
        let known = Group::of(&group);
        self.queues.group(&name, &known, now);
        self.victims.group(&name, now);
        self.told.group(&name, group.spec.priority_class_name);
        if self.groups.insert(name.clone(), known).is_none() {
            self.accounts.group(&name, &self.groups);
        }
    }

    fn queue(&mut self, write: &Write<'_>, now: Instant) {
        let name = write.object["metadata"]["name"].as_str().unwrap_or_default();
        self.told.queue(name, write.object);
        if write.change == Change::Deleted {
            self.queues.queue_gone(name, now);
            self.accounts.queue_gone(name);
            return;
        }
        self.queues.queue(name, &write.object["spec"], now);
        self.accounts.queue(name, write.object, &self.groups);
    }

    /// Notes that nobody comes any more, and nothing goes wrong.
    pub(super) fn stand_still(&mut self, leaders: usize) {
        self.calm.get_or_insert_with(Instant::now);
        self.told.stand_still(leaders);
    }

    /// Looks at what has to be right once nothing happens any more.
    pub(super) fn at_rest(&mut self) {
        let minimum = |group: &str| self.groups.get(group).map_or(1, |group| group.minimum);
        let told = self.told.at_rest(minimum);
        let left = self.devices.at_rest().into_iter().chain(self.grouping.at_rest());
        let left = left.chain(self.claims.at_rest());
        let wrong = told.into_iter().chain(self.accounts.at_rest()).chain(left);
        self.findings.extend(wrong.map(|text| format!("at rest: {text}")));
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
        self.queues.is_empty() && self.last.0.elapsed() >= silence
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

/// GPUs that a node offers.
fn gpus(node: &Node) -> Option<u32> {
    let status = node.status.as_ref()?.allocatable.as_ref()?;
    status.get(NVIDIA_GPU)?.0.parse::<u32>().ok()
}

fn read<T: DeserializeOwned>(object: &Value) -> Option<T> {
    T::deserialize(object).ok()
}
