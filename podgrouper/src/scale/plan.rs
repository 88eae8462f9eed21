//! Plans what is to be done about scaling pods. Pure: no I/O, no clock.
//!
//! Pods are counted class by class, a class being the pods that may go to the same nodes: a scaling pod that no
//! autoscaler can make room for holds up only those that the same nodes would serve, and these take turns.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use kai_api::quantity::Quantity;

use super::standing::{Progress, Standing};
use super::waiting::{Verdict, Waiting, digits};
use crate::store::Key;

/// Time for which no scaling pod of a class is made after one was deleted: the room that there is now has to be taken
/// first.
pub(super) const CALM: Duration = Duration::from_mins(1);
/// Time for which a scaling pod may be on a node without ending; it holds GPUs there that are meant for others.
pub(super) const BOUND_MAX: Duration = Duration::from_mins(1);
/// Time that a scaling pod waits for a node before another pod that needs something else gets its turn. An autoscaler
/// takes some minutes to bring up a node with GPUs.
pub(super) const TURN: Duration = Duration::from_mins(10);
/// A device, in the unit of sums.
const NANO: i128 = 1_000_000_000;
/// Longest name of a pod.
const NAME_MAX: usize = 253;

/// The cluster as it is.
pub(super) struct View<'a> {
    /// Pods that ask for shares and have no node.
    pub(super) waiting: &'a BTreeMap<Key, Waiting>,
    /// Pods in the namespace of scaling pods, by name.
    pub(super) standing: &'a BTreeMap<String, Standing>,
    /// Share of a device that a request by memory counts as.
    pub(super) memory_share: Quantity,
    pub(super) now: Timestamp,
}

/// Memory between plans; a new start without it makes scaling pods somewhat early.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Classes of which a scaling pod was deleted, and until when they wait.
    calm: BTreeMap<String, Timestamp>,
    /// Time when a pod's scaling pod had to make room for others.
    turns: BTreeMap<Key, Timestamp>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Delete a scaling pod.
    Delete { name: String, uid: String, why: &'static str },
    /// Make a scaling pod of this name for a pod that waits.
    Create { name: String, of: Key },
    /// Say of a scaling pod that it is unschedulable, so that autoscalers notice.
    Mark { name: String },
}

/// Steps to take now, and the time to look again at the latest.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) wake: Option<Timestamp>,
}

impl Plan {
    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}

/// A scaling pod that stays, with the pod that it stands for.
struct Serving<'a> {
    name: &'a str,
    scaling: &'a Standing,
    of: &'a Key,
    pod: &'a Waiting,
}

/// Decides; called again with what came of it, it decides the same or nothing.
///
/// # Source
/// docs/contract.md 6. Different on purpose: sums are exact, so that the smallest share counts; pods are counted by
/// class; a scaling pod that failed, hangs on a node, or has waited for long while others could have their turn is
/// deleted too.
pub(super) fn plan(view: &View<'_>, memory: &mut Memory) -> Plan {
    let mut plan = Plan::default();
    memory.calm.retain(|_, until| *until > view.now);
    memory.turns.retain(|key, _| view.waiting.contains_key(key));
    let serving = tidy(view, memory, &mut plan);
    let mut classes: BTreeMap<&str, Vec<(&Key, &Waiting)>> = BTreeMap::new();
    for (key, pod) in view.waiting {
        if pod.verdict == Verdict::Unschedulable {
            classes.entry(pod.placement.class.as_str()).or_default().push((key, pod));
        }
    }
    let mut names: BTreeSet<String> = view.standing.keys().cloned().collect();
    for (class, pods) in classes {
        let of_class = serving.iter().filter(|one| one.pod.placement.class == class);
        let demand = Demand { pods, serving: of_class.collect() };
        demand.fill(view, memory, &mut plan, &mut names);
    }
    plan
}

/// Deletes what is no longer needed and marks what is not marked; returns what stays.
fn tidy<'a>(view: &View<'a>, memory: &mut Memory, plan: &mut Plan) -> Vec<Serving<'a>> {
    let mut serving = Vec::new();
    for (name, scaling) in view.standing {
        let Some(of) = &scaling.of else { continue };
        if scaling.progress == Progress::Leaves {
            continue;
        }
        let pod = view.waiting.get(of);
        if let Some(why) = over(scaling, pod, view.now) {
            let class = pod.map(|pod| &pod.placement.class).or(scaling.class.as_ref());
            if let (Some(class), Some(until)) = (class, after(view.now, CALM)) {
                memory.calm.insert(class.clone(), until);
            }
            plan.steps.push(Step::Delete { name: name.clone(), uid: scaling.uid.clone(), why });
            continue;
        }
        match scaling.progress {
            Progress::Unmarked => plan.steps.push(Step::Mark { name: name.clone() }),
            Progress::Bound(since) => {
                if let Some(end) = after(since, BOUND_MAX) {
                    plan.wake_at(end);
                }
            }
            Progress::Waits | Progress::Ended | Progress::Leaves => {}
        }
        if let Some(pod) = pod {
            serving.push(Serving { name, scaling, of, pod });
        }
    }
    serving
}

/// Says why a scaling pod is needed no longer.
fn over(scaling: &Standing, pod: Option<&Waiting>, now: Timestamp) -> Option<&'static str> {
    match pod.map(|pod| pod.verdict) {
        None => return Some("its pod is gone or has a node"),
        Some(Verdict::Other) => return Some("its pod is no longer unschedulable"),
        Some(Verdict::Unknown | Verdict::Unschedulable) => {}
    }
    match scaling.progress {
        Progress::Ended => Some("it has ended"),
        Progress::Bound(since) if is_over(since, BOUND_MAX, now) => {
            Some("it has a node and does not end")
        }
        Progress::Bound(_) | Progress::Unmarked | Progress::Waits | Progress::Leaves => None,
    }
}

fn after(time: Timestamp, wait: Duration) -> Option<Timestamp> {
    time.checked_add(wait).ok()
}

fn is_over(since: Timestamp, wait: Duration, now: Timestamp) -> bool {
    after(since, wait).is_some_and(|end| end <= now)
}

/// The pods of a class, and the scaling pods that stand for some of them.
struct Demand<'a> {
    pods: Vec<(&'a Key, &'a Waiting)>,
    serving: Vec<&'a Serving<'a>>,
}

impl Demand<'_> {
    /// Makes scaling pods until there are as many devices as the class needs, and one as large as each pod needs.
    fn fill(
        mut self,
        view: &View<'_>,
        memory: &mut Memory,
        plan: &mut Plan,
        names: &mut BTreeSet<String>,
    ) {
        self.take_turns(view, memory, plan);
        let served: BTreeSet<&Key> = self.serving.iter().map(|one| one.of).collect();
        let mut left: Vec<_> = self.pods.iter().filter(|(key, _)| !served.contains(key)).collect();
        // Who had a turn comes last; the largest first, since the smaller ones may fit beside it.
        left.sort_by_key(|(key, pod)| {
            (memory.turns.get(key), u32::MAX - pod.devices, &pod.created, *key)
        });
        let needed = self.needed(view.memory_share);
        let mut have: u64 = self.serving.iter().map(|one| one.scaling.devices).sum();
        let mut largest = self.serving.iter().map(|one| one.scaling.devices).max().unwrap_or(0);
        for (key, pod) in left {
            let devices = u64::from(pod.devices);
            if have >= needed && devices <= largest {
                continue;
            }
            if let Some(until) = memory.calm.get(&pod.placement.class) {
                plan.wake_at(*until);
                return;
            }
            let name = name(key, names);
            names.insert(name.clone());
            plan.steps.push(Step::Create { name, of: (*key).clone() });
            have += devices;
            largest = largest.max(devices);
        }
    }

    /// Devices that all pods of the class need together.
    fn needed(&self, memory_share: Quantity) -> u64 {
        let shares = self.pods.iter().map(|(_, pod)| pod.nano_devices(memory_share));
        let sum = shares.fold(0_i128, i128::saturating_add);
        u64::try_from(sum.saturating_add(NANO - 1) / NANO).unwrap_or(u64::MAX)
    }

    /// Deletes scaling pods that have waited for long where a pod that needs something else has none.
    fn take_turns(&mut self, view: &View<'_>, memory: &mut Memory, plan: &mut Plan) {
        let served: BTreeSet<&Key> = self.serving.iter().map(|one| one.of).collect();
        let left: Vec<&Waiting> = self
            .pods
            .iter()
            .filter(|(key, _)| !served.contains(key))
            .map(|(_, pod)| *pod)
            .collect();
        self.serving.retain(|one| {
            let is_held_up =
                left.iter().any(|pod| pod.needs != one.pod.needs || pod.devices != one.pod.devices);
            let waits = matches!(one.scaling.progress, Progress::Waits | Progress::Unmarked);
            if !is_held_up || !waits {
                return true;
            }
            if !is_over(one.scaling.created, TURN, view.now) {
                if let Some(end) = after(one.scaling.created, TURN) {
                    plan.wake_at(end);
                }
                return true;
            }
            memory.turns.insert(one.of.clone(), view.now);
            let why = "no node came for it, and another pod has its turn";
            let (name, uid) = (one.name.to_owned(), one.scaling.uid.clone());
            plan.steps.push(Step::Delete { name, uid, why });
            false
        });
    }
}

/// `<namespace>-<name>`; with digits of its own where that is too long or another pod's.
fn name(of: &Key, taken: &BTreeSet<String>) -> String {
    let plain = format!("{}-{}", of.namespace, of.name);
    if plain.len() <= NAME_MAX && !taken.contains(&plain) {
        return plain;
    }
    let digits = digits(&of.to_string());
    // Names of pods are ASCII; what is cut off must not leave a dot before the dash.
    let stem = plain.get(..NAME_MAX - digits.len() - 1).unwrap_or(&plain);
    format!("{}-{digits}", stem.trim_end_matches(['.', '-']))
}

#[cfg(test)]
mod tests;
