//! Decisions of the kubelets of all simulated nodes, as a pure state machine: pods in, steps out.
//!
//! ```text
//! pod seen ──> admitted ──> running ──> ended (Succeeded, Failed) or started again
//!         └──> rejected  └──> waits for config maps, an image, a device
//!                              └──> deleted: stops within its grace, ends, is removed
//! ```
//!
//! The caller feeds [`Kubelet::seen`] and [`Kubelet::gone`] from a watch and asks [`Kubelet::next`]
//! for the pod's next step; after a write it says [`Kubelet::wrote`]. Costs follow the one pod.

mod resize;
mod start;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

pub(super) use self::resize::Given;
use self::start::{Seen, remembered};
use super::Options;
use super::environment::{Environment, Found, Source, Waiting, visible};
use super::fault::Faults;
use super::ledger::Ledger;
use super::pod::{Pod, exit_code, run_millis, stop_millis, waits_for_input};
use super::status::{Facts, ended, running};

/// Time between two looks at whether what somebody types to has ended.
const LOOK: SignedDuration = SignedDuration::from_millis(200);
/// The code of a process that ended on SIGTERM.
const TERMINATED: i32 = 143;
/// The code of a process that lost its device.
const CRASHED: i32 = 1;
/// Number of times that a failing container is started again before the pod is left in its back-off.
const RESTARTS_MAX: u32 = 5;

/// The next step for a pod.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Nothing until the pod changes.
    Rest,
    /// Ask again at this time.
    Wait(Timestamp),
    /// Read these config maps and secrets, and tell them with [`Kubelet::found`].
    Fetch(BTreeSet<Source>),
    /// Patch the pod's status.
    Write(Value),
    /// Patch the pod's metadata with the device that a GPU reservation pod was given.
    Annotate(Value),
    /// Remove the pod from the API: its containers are gone.
    Remove,
}

/// Progress of a pod, as written by this kubelet or seen in its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Bound,
    Running,
    Ended,
}

/// A pod on one of the nodes.
#[derive(Debug)]
struct Entry {
    pod: Pod,
    stage: Stage,
    admitted: bool,
    /// The pod says which device it holds.
    annotated: bool,
    /// True while that is being written.
    annotating: bool,
    facts: Facts,
    stop: Option<Timestamp>,
    /// Values that were read for the attempt to start that comes next.
    found: Option<Found>,
    /// Environment that the containers see, once they run.
    seen: Option<Seen>,
    /// The reason why they do not run, as the pod's status says it.
    waiting: Option<Waiting>,
    /// Code of the process that somebody typed to, once it has ended.
    exited: Option<i32>,
    /// Set while a write is under way: what the entry becomes when it has succeeded.
    pending: Option<(Stage, Facts)>,
}

/// All simulated nodes and the pods on them.
#[derive(Debug)]
pub(super) struct Kubelet {
    nodes: HashMap<String, Ledger>,
    faults: BTreeMap<String, Faults>,
    entries: BTreeMap<String, Entry>,
    pace: u32,
    run_seconds: u64,
    reservation_millis: RangeInclusive<u64>,
    seed: u64,
    addresses: u32,
}

/// Nothing goes wrong.
static NO_FAULTS: Faults = Faults {
    lost: BTreeSet::new(),
    is_silent: false,
    lacks_image: false,
    rejects: false,
    rejects_reservations: false,
    is_dead: false,
};

impl Kubelet {
    /// The kubelets of the nodes.
    ///
    /// # Panics
    /// When the pace is 0.
    pub(super) fn new(options: &Options) -> Self {
        assert!(options.pace > 0, "simulated time moves");
        let nodes = options.specs.iter().map(|spec| (spec.name.clone(), Ledger::new(spec)));
        Self {
            nodes: nodes.collect(),
            faults: BTreeMap::new(),
            entries: BTreeMap::new(),
            pace: options.pace,
            run_seconds: options.run_seconds,
            reservation_millis: options.reservation_millis.clone(),
            seed: options.seed,
            addresses: 0,
        }
    }

    /// Says what goes wrong on a node; gives the pods for which that changes something.
    pub(super) fn break_node(&mut self, node: &str, faults: Faults) -> Vec<String> {
        let Some(ledger) = self.nodes.get_mut(node) else { return Vec::new() };
        if self.faults.get(node).unwrap_or(&NO_FAULTS) == &faults {
            return Vec::new();
        }
        ledger.lose(&faults.lost);
        self.faults.insert(node.to_owned(), faults);
        let pods = self.entries.iter().filter(|(_, entry)| entry.pod.spec.node_name == node);
        pods.map(|(uid, _)| uid.clone()).collect()
    }

    /// Lists the devices of a node, lost ones included; `None` when it is not one of these.
    pub(super) fn devices(&self, node: &str) -> Option<&[String]> {
        self.nodes.get(node).map(|ledger| ledger.devices.as_slice())
    }

    /// Tells whether nothing is heard of a node.
    pub(super) fn is_dead(&self, node: &str) -> bool {
        self.faults.get(node).is_some_and(|faults| faults.is_dead)
    }

    /// Gives what goes wrong on the node of a pod.
    fn faults_of(&self, uid: &str) -> &Faults {
        let node = &self.entries[uid].pod.spec.node_name;
        self.faults.get(node).unwrap_or(&NO_FAULTS)
    }

    /// Takes what [`Step::Fetch`] asked for.
    pub(super) fn found(&mut self, uid: &str, found: Found) {
        if let Some(entry) = self.entries.get_mut(uid) {
            entry.found = Some(found);
        }
    }

    /// The variables of a container that has started.
    pub(super) fn environment(&self, uid: &str, container: &str) -> Option<&Environment> {
        let seen = self.entries.get(uid)?.seen.as_ref()?;
        let own = seen.environments.iter().find(|(name, _)| name == container);
        own.map(|(_, environment)| environment)
    }

    /// The files of a container that has started, of the config maps and secrets that it mounts.
    pub(super) fn files(&self, uid: &str, container: &str) -> Option<&BTreeMap<String, String>> {
        let seen = self.entries.get(uid)?.seen.as_ref()?;
        seen.files.iter().find(|(name, _)| name == container).map(|(_, files)| files)
    }

    /// The devices that a container sees: model and UUID, by index.
    pub(super) fn sees(&self, uid: &str, container: &str) -> Vec<(String, String)> {
        let devices = || {
            let ledger = self.nodes.get(&self.entries.get(uid)?.pod.spec.node_name)?;
            let seen = visible(self.environment(uid, container)?, &ledger.devices).ok()?;
            let model = ledger.product.replace('-', " ");
            Some(seen.into_iter().map(|device| (model.clone(), device)).collect())
        };
        devices().unwrap_or_default()
    }

    /// Takes in that the process ended to which somebody typed.
    pub(super) fn exited(&mut self, uid: &str, code: u8) {
        if let Some(entry) = self.entries.get_mut(uid).filter(|one| one.stage == Stage::Running) {
            entry.exited = Some(code.into());
        }
    }

    /// Tells whether the containers of a pod run.
    pub(super) fn runs(&self, uid: &str) -> bool {
        self.entries.get(uid).is_some_and(|entry| {
            entry.stage == Stage::Running
                && entry.waiting.is_none()
                && !self.is_dead(&entry.pod.spec.node_name)
        })
    }

    /// Takes in the pod as the API has it now; `false` when it is not on one of these nodes.
    pub(super) fn seen(&mut self, pod: Pod, now: Timestamp) -> bool {
        if !self.nodes.contains_key(&pod.spec.node_name) {
            return false;
        }
        let Some(uid) = pod.metadata.uid.clone() else { return false };
        let status = pod.status.clone().unwrap_or_default();
        let stage = match status.phase.as_str() {
            "Running" => Stage::Running,
            "Succeeded" | "Failed" => Stage::Ended,
            _ => Stage::Bound,
        };
        if let Some(entry) = self.entries.get_mut(&uid) {
            entry.pod = pod;
            entry.stage = entry.stage.max(stage);
            entry.annotated |= is_annotated(&entry.pod);
        } else {
            self.addresses += 1;
            let started = status.start_time.unwrap_or(now);
            let pod_ip =
                if status.pod_ip.is_empty() { address(self.addresses) } else { status.pod_ip };
            let restarts =
                status.container_statuses.first().and_then(|first| first["restartCount"].as_u64());
            let restarts = restarts.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
            let given = resize::remembered(&pod);
            let facts =
                Facts { started, pod_ip, restarts, devices: Vec::new(), given, refused: None };
            self.entries.insert(uid.clone(), Entry::new(pod, stage, facts));
        }
        // A pod that runs already holds its resources whatever the ledger says: it is a fact.
        let entry = self.entries.get_mut(&uid).expect("inserted above");
        if entry.stage == Stage::Running && !entry.admitted {
            entry.admitted = true;
            let ledger = self.nodes.get_mut(&entry.pod.spec.node_name).expect("checked above");
            let request = resize::held(&entry.pod.spec, &entry.facts.given);
            ledger.take(&uid, request, &remembered(&entry.pod));
            entry.facts.devices = ledger.held(&uid);
        }
        if self.entries[&uid].stage == Stage::Ended {
            self.release(&uid);
        }
        true
    }

    /// Forgets a pod that is no longer in the API.
    pub(super) fn gone(&mut self, uid: &str) {
        self.release(uid);
        self.entries.remove(uid);
    }

    /// The UIDs of all pods known.
    pub(super) fn uids(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The pod and what is known of its run; `None` when it is not on these nodes.
    pub(super) fn find(&self, uid: &str) -> Option<(&Pod, &Facts)> {
        self.entries.get(uid).map(|entry| (&entry.pod, &entry.facts))
    }

    /// The run of the pod's containers that goes on, or was its last.
    pub(super) fn run_so_far(&self, pod: &Pod, facts: &Facts, now: Timestamp) -> Run {
        let phase = pod.status.as_ref().map_or("", |status| status.phase.as_str());
        let ended = matches!(phase, "Succeeded" | "Failed");
        let passed = u64::try_from(now.duration_since(facts.started).as_millis()).unwrap_or(0);
        let passed = passed.saturating_mul(u64::from(self.pace));
        // Its status may say so a moment later, or never when it is not started again.
        let (millis, ended) = match run_millis(pod, self.run_seconds) {
            Some(whole) => {
                (if ended { whole } else { passed.min(whole) }, ended || passed >= whole)
            }
            None => (passed, ended),
        };
        Run { number: facts.restarts, started: facts.started, millis, pace: self.pace, ended }
    }

    /// The run that ended when the containers were last started again; `None` when they never were.
    pub(super) fn run_before(&self, pod: &Pod, facts: &Facts) -> Option<Run> {
        let millis = run_millis(pod, self.run_seconds).filter(|_| facts.restarts > 0)?;
        let started = facts.started.saturating_sub(real(millis, self.pace)).ok()?;
        let number = facts.restarts - 1;
        Some(Run { number, started, millis, pace: self.pace, ended: true })
    }

    /// The pod's next step. The caller carries out a `Write`, `Annotate` or `Remove` before it asks again.
    pub(super) fn next(&mut self, uid: &str, now: Timestamp) -> Step {
        let Some(entry) = self.entries.get(uid) else { return Step::Rest };
        let deleted = entry.pod.metadata.deletion_timestamp.is_some();
        // It was removed already, and goes with its last finalizer.
        let is_held = entry.pod.metadata.deletion_grace_period_seconds == Some(0);
        if self.is_dead(&entry.pod.spec.node_name) {
            return Step::Rest;
        }
        match entry.stage {
            Stage::Ended | Stage::Bound if deleted && is_held => Step::Rest,
            Stage::Ended | Stage::Bound if deleted => Step::Remove,
            Stage::Ended => Step::Rest,
            Stage::Bound => self.admit(uid, now),
            Stage::Running if deleted => self.stop(uid, now),
            Stage::Running => {
                let step = self.run(uid, now);
                self.sooner(uid, step, now)
            }
        }
    }

    /// The write that [`Kubelet::next`] asked for was accepted (`true`) or refused.
    pub(super) fn wrote(&mut self, uid: &str, accepted: bool) {
        let Some(entry) = self.entries.get_mut(uid) else { return };
        entry.annotated |= std::mem::take(&mut entry.annotating) && accepted;
        let Some((stage, facts)) = entry.pending.take() else { return };
        if !accepted {
            // It was not said, so it has to be said again.
            entry.waiting = None;
        }
        if accepted {
            entry.exited = None;
            entry.stage = entry.stage.max(stage);
            entry.facts = facts;
            if entry.stage == Stage::Ended {
                self.release(uid);
            }
        }
    }

    fn run(&mut self, uid: &str, now: Timestamp) -> Step {
        if let Some(step) = self.recall(uid) {
            return step;
        }
        if let Some(step) = self.report(uid, now) {
            return step;
        }
        if let Some(step) = self.crash(uid, now) {
            return step;
        }
        if let Some(step) = self.resize(uid, now) {
            return step;
        }
        let entry = self.entries.get_mut(uid).expect("the caller found it");
        let code = match (entry.exited, run_millis(&entry.pod, self.run_seconds)) {
            (Some(code), _) => code,
            (None, Some(millis)) => {
                let end = after(entry.facts.started, millis, self.pace);
                if now < end {
                    return Step::Wait(end);
                }
                exit_code(&entry.pod)
            }
            (None, None) if waits_for_input(&entry.pod.spec) => {
                return Step::Wait(now.saturating_add(LOOK).unwrap_or(Timestamp::MAX));
            }
            (None, None) => return Step::Rest,
        };
        let again = match entry.pod.spec.restart_policy.as_str() {
            "Always" => true,
            "OnFailure" => code != 0,
            _ => false,
        };
        if !again {
            entry.pending = Some((Stage::Ended, entry.facts.clone()));
            return Step::Write(ended(&entry.pod, &entry.facts, now, code));
        }
        if entry.facts.restarts >= RESTARTS_MAX {
            return Step::Rest;
        }
        restart(entry, now)
    }

    /// Does what the program in a GPU reservation pod does: it says which device it was given, after a while.
    fn report(&mut self, uid: &str, now: Timestamp) -> Option<Step> {
        let (delay, is_silent) = (self.delay(uid), self.faults_of(uid).is_silent);
        let entry = self.entries.get_mut(uid)?;
        if entry.annotated || !reserves(&entry.pod) {
            return None;
        }
        let device = entry.facts.devices.first()?;
        if is_silent {
            return Some(Step::Rest);
        }
        let due = entry.facts.started.saturating_add(delay).unwrap_or(Timestamp::MAX);
        if now < due {
            return Some(Step::Wait(due));
        }
        entry.annotating = true;
        Some(Step::Annotate(annotation(&entry.pod, device)))
    }

    /// Draws how long the program in a reservation pod takes, by the clock: the same for the same pod and seed.
    fn delay(&self, uid: &str) -> SignedDuration {
        let (first, last) = (*self.reservation_millis.start(), *self.reservation_millis.end());
        let mut hasher = DefaultHasher::new();
        (self.seed, uid).hash(&mut hasher);
        let millis = first + hasher.finish() % (last.saturating_sub(first) + 1);
        SignedDuration::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    /// Work that sees a device which is gone ends with an error, again and again where it is started again.
    fn crash(&mut self, uid: &str, now: Timestamp) -> Option<Step> {
        let lost = self.lost_device(uid).map(str::to_owned);
        let entry = self.entries.get_mut(uid)?;
        let Some(device) = lost else {
            let is_over = entry.waiting.take().is_some();
            return is_over.then(|| restart(entry, now));
        };
        if entry.pod.spec.restart_policy == "Never" {
            entry.pending = Some((Stage::Ended, entry.facts.clone()));
            return Some(Step::Write(ended(&entry.pod, &entry.facts, now, CRASHED)));
        }
        let message = format!("back-off restarting failed container: the device {device} is gone");
        let why = Waiting { container: String::new(), reason: "CrashLoopBackOff", message };
        Some(self.hold(uid, why, now))
    }

    fn stop(&mut self, uid: &str, now: Timestamp) -> Step {
        let entry = self.entries.get_mut(uid).expect("the caller found it");
        let grace = entry.pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        let grace = u64::try_from(grace).unwrap_or(0).saturating_mul(1000);
        let takes = grace.min(stop_millis(&entry.pod));
        let stop = *entry.stop.get_or_insert_with(|| after(now, takes, self.pace));
        if now < stop {
            return Step::Wait(stop);
        }
        entry.pending = Some((Stage::Ended, entry.facts.clone()));
        Step::Write(ended(&entry.pod, &entry.facts, now, TERMINATED))
    }

    fn release(&mut self, uid: &str) {
        let Some(entry) = self.entries.get_mut(uid) else { return };
        if std::mem::take(&mut entry.admitted)
            && let Some(ledger) = self.nodes.get_mut(&entry.pod.spec.node_name)
        {
            ledger.give(uid);
        }
    }
}

impl Entry {
    fn new(pod: Pod, stage: Stage, facts: Facts) -> Self {
        Self {
            annotated: is_annotated(&pod),
            annotating: false,
            pod,
            stage,
            admitted: false,
            facts,
            stop: None,
            found: None,
            seen: None,
            waiting: None,
            exited: None,
            pending: None,
        }
    }
}

/// Starts the containers of a pod once more.
fn restart(entry: &mut Entry, now: Timestamp) -> Step {
    let facts = Facts { started: now, restarts: entry.facts.restarts + 1, ..entry.facts.clone() };
    let patch = running(&entry.pod, &facts);
    entry.pending = Some((Stage::Running, facts));
    Step::Write(patch)
}

/// Tells whether a GPU reservation pod has said which device it holds.
fn is_annotated(pod: &Pod) -> bool {
    pod.metadata.annotations.as_ref().is_some_and(|all| all.contains_key(DEVICE))
}

/// The annotation in which a GPU reservation pod says which device it holds.
///
/// # Source
/// `docs/contract.md` 4.5: the reservation program writes it on its own pod.
const DEVICE: &str = kai_api::names::annotation::RESERVED_GPU;

/// Tells whether this is a GPU reservation pod, whose program the simulated node plays.
fn reserves(pod: &Pod) -> bool {
    pod.metadata.namespace.as_deref() == Some(kai_api::names::namespace::RESERVATION)
}

fn annotation(pod: &Pod, device: &str) -> Value {
    serde_json::json!({"metadata": {"uid": pod.metadata.uid, "annotations": {DEVICE: device}}})
}

/// One run of a pod's containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Number of runs before it.
    pub(super) number: u32,
    started: Timestamp,
    /// For how long it has run, in simulated milliseconds.
    pub(super) millis: u64,
    pace: u32,
    /// True if it is over.
    pub(super) ended: bool,
}

impl Run {
    /// Gives the time when the run was `millis` of simulated time old.
    pub(super) fn at(&self, millis: u64) -> Timestamp {
        after(self.started, millis, self.pace)
    }
}

/// `millis` of simulated time after `from`.
fn after(from: Timestamp, millis: u64, pace: u32) -> Timestamp {
    from.saturating_add(real(millis, pace)).unwrap_or(Timestamp::MAX)
}

/// Gives what `millis` of simulated time take by the clock.
fn real(millis: u64, pace: u32) -> SignedDuration {
    SignedDuration::from_millis(i64::try_from(millis / u64::from(pace)).unwrap_or(i64::MAX))
}

/// The n-th pod address, in 10.0.0.0/8.
fn address(n: u32) -> String {
    let [_, b, c, d] = n.to_be_bytes();
    format!("10.{b}.{c}.{d}")
}
