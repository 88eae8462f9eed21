//! Plans what is to be done about scaling pods. Pure: no I/O, no clock.
//!
//! Pods are counted class by class, a class being the pods that may go to the same nodes, and in each of them namespace by
//! namespace: a scaling pod stands for pods of its own pod's namespace and class alone. One that no autoscaler can make room
//! for holds up only these, and they take turns. Whoever makes pods makes classes, so that a namespace has no more devices
//! at a time than its pods need together, and one of its largest pods more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kai_api::quantity::Quantity;

use super::standing::{Progress, Standing};
use super::waiting::{Verdict, Waiting, digits};
use crate::store::Key;

/// Time for which no scaling pod of a class is made for a namespace after one of its own was deleted: the room that there is
/// now has to be taken first.
pub(super) const CALM: Duration = Duration::from_mins(1);
/// Time for which a scaling pod may be on a node without ending; it holds GPUs there that are meant for others.
pub(super) const BOUND_MAX: Duration = Duration::from_mins(1);
/// Time that a scaling pod waits for a node before another pod of its namespace and class that needs something else gets its
/// turn. An autoscaler takes some minutes to bring up a node with GPUs.
pub(super) const TURN: Duration = Duration::from_mins(10);
/// Devices that no node has more of: for a pod of more an autoscaler can do nothing.
const DEVICES_MAX: u32 = 64;
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
    /// `PodGroup`s that wait for their queue, whatever nodes there are.
    pub(super) queued: &'a BTreeSet<Key>,
    /// Share of a device that a request by memory counts as.
    pub(super) memory_share: Quantity,
    pub(super) now: Timestamp,
}

impl View<'_> {
    fn verdict(&self, pod: &Waiting) -> Verdict {
        if pod.group.as_ref().is_some_and(|group| self.queued.contains(group)) {
            return Verdict::Other;
        }
        pod.verdict
    }
}

/// Memory between plans; a new start without it makes scaling pods somewhat early.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Namespaces and classes of which a scaling pod was deleted, and until when they wait.
    calm: BTreeMap<(Arc<str>, String), Timestamp>,
    /// Time when a pod's scaling pod had to make room for others.
    turns: BTreeMap<Key, Timestamp>,
    /// Scaling pods that were deleted, and until when their devices count for their namespace.
    spent: Vec<Spent>,
    /// Namespaces that had as many devices as they may at the last plan, while a pod of theirs had none.
    short: BTreeSet<Arc<str>>,
}

#[derive(Debug)]
struct Spent {
    namespace: Arc<str>,
    devices: u64,
    until: Timestamp,
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
/// class and namespace; a scaling pod that failed, hangs on a node, or has waited for long while others could have their turn is
/// deleted too.
pub(super) fn plan(view: &View<'_>, memory: &mut Memory) -> Plan {
    let mut plan = Plan::default();
    // What lasts longer than it may is from before the clock was set back.
    let lasts = |until: Timestamp| {
        until > view.now && after(view.now, CALM).is_none_or(|last| until <= last)
    };
    memory.calm.retain(|_, until| lasts(*until));
    memory.spent.retain(|spent| lasts(spent.until));
    memory.turns.retain(|key, _| view.waiting.contains_key(key));
    let serving = tidy(view, memory, &mut plan);
    let mut classes: BTreeMap<(&str, &str), Demand<'_>> = BTreeMap::new();
    for (key, pod) in view.waiting {
        if view.verdict(pod) == Verdict::Unschedulable && pod.devices <= DEVICES_MAX {
            classes.entry(counted_with(key, pod)).or_default().pods.push((key, pod));
        }
    }
    for one in serving {
        if let Some(class) = classes.get_mut(&counted_with(one.of, one.pod)) {
            class.serving.push(one);
        }
    }
    let short = std::mem::take(&mut memory.short);
    let mut classes: Vec<Demand<'_>> = classes.into_values().collect();
    for class in &mut classes {
        class.take_turns(view, memory, &short, &mut plan);
    }
    let names = view.standing.keys().cloned().collect();
    let mut left = Left { rooms: rooms(&classes, memory, view.memory_share), names };
    // Whose pod had a turn last comes last.
    classes.sort_by_key(|class| {
        class.pods.iter().filter_map(|(key, _)| memory.turns.get(key)).max().copied()
    });
    for class in classes {
        class.fill(view, memory, &mut left, &mut plan);
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
        if let Some(why) = over(scaling, pod.map(|pod| view.verdict(pod)), view.now) {
            let class = pod.map(|pod| &pod.class).or(scaling.class.as_ref());
            if let (Some(class), Some(until)) = (class, after(view.now, CALM)) {
                let (namespace, devices) = (Arc::clone(&of.namespace), scaling.devices);
                memory.calm.insert((Arc::clone(&namespace), class.clone()), until);
                memory.spent.push(Spent { namespace, devices, until });
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
fn over(scaling: &Standing, verdict: Option<Verdict>, now: Timestamp) -> Option<&'static str> {
    match verdict {
        None => return Some("its pod is gone or has a node"),
        Some(Verdict::Other) => return Some("no node is what its pod waits for"),
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

/// Devices of the scaling pods of a namespace.
#[derive(Debug, Default)]
struct Room {
    /// As many as its pods need together, and one of the largest more.
    allowed: u64,
    /// Those that it has, and those that were deleted lately.
    held: u64,
}

/// The room of each namespace of which a pod waits for nodes.
fn rooms(
    classes: &[Demand<'_>],
    memory: &Memory,
    memory_share: Quantity,
) -> BTreeMap<Arc<str>, Room> {
    let mut pods: BTreeMap<&Arc<str>, Vec<&Waiting>> = BTreeMap::new();
    for (key, pod) in classes.iter().flat_map(|class| &class.pods) {
        pods.entry(&key.namespace).or_default().push(pod);
    }
    let mut rooms: BTreeMap<Arc<str>, Room> = BTreeMap::new();
    for (namespace, pods) in pods {
        let largest = pods.iter().map(|pod| pod.devices).max().unwrap_or(0);
        let allowed = needed(pods.into_iter(), memory_share).saturating_add(largest.into());
        rooms.insert(Arc::clone(namespace), Room { allowed, held: 0 });
    }
    let serving = classes.iter().flat_map(|class| &class.serving);
    let stands = serving.map(|one| (&one.of.namespace, one.scaling.devices));
    let spent = memory.spent.iter().map(|spent| (&spent.namespace, spent.devices));
    for (namespace, devices) in stands.chain(spent) {
        if let Some(room) = rooms.get_mut(namespace) {
            room.held = room.held.saturating_add(devices);
        }
    }
    rooms
}

/// Devices that pods need together.
fn needed<'a>(pods: impl Iterator<Item = &'a Waiting>, memory_share: Quantity) -> u64 {
    let shares = pods.map(|pod| pod.nano_devices(memory_share));
    let sum = shares.fold(0_i128, i128::saturating_add);
    u64::try_from(sum.saturating_add(NANO - 1) / NANO).unwrap_or(u64::MAX)
}

/// Gives the class and the namespace that a pod is counted in: what is made for it serves nobody else.
fn counted_with<'a>(key: &'a Key, pod: &'a Waiting) -> (&'a str, &'a str) {
    (pod.class.as_str(), key.namespace.as_ref())
}

/// The pods of a class and a namespace, and the scaling pods that stand for some of them.
#[derive(Default)]
struct Demand<'a> {
    pods: Vec<(&'a Key, &'a Waiting)>,
    serving: Vec<Serving<'a>>,
}

/// Room and names that classes take from as their scaling pods are made.
struct Left {
    rooms: BTreeMap<Arc<str>, Room>,
    /// Names that pods in the namespace of scaling pods have.
    names: BTreeSet<String>,
}

impl Demand<'_> {
    /// Makes scaling pods until there are as many devices as the pods need, and one as large as each of them needs.
    fn fill(self, view: &View<'_>, memory: &mut Memory, left: &mut Left, plan: &mut Plan) {
        let served: BTreeSet<&Key> = self.serving.iter().map(|one| one.of).collect();
        let mut pods: Vec<_> = self.pods.iter().filter(|(key, _)| !served.contains(key)).collect();
        // Who had a turn comes last; the largest first, since the smaller ones may fit beside it.
        pods.sort_by_key(|(key, pod)| {
            (memory.turns.get(key), u32::MAX - pod.devices, &pod.created, *key)
        });
        let needed = needed(self.pods.iter().map(|(_, pod)| *pod), view.memory_share);
        let mut have: u64 = self.serving.iter().map(|one| one.scaling.devices).sum();
        let mut largest = self.serving.iter().map(|one| one.scaling.devices).max().unwrap_or(0);
        for (key, pod) in pods {
            let devices = u64::from(pod.devices);
            if have >= needed && devices <= largest {
                continue;
            }
            let place = (Arc::clone(&key.namespace), pod.class.clone());
            let calm_until = memory.calm.get(&place).copied();
            if let Some(until) = calm_until {
                plan.wake_at(until);
                continue;
            }
            let Some(room) = left.rooms.get_mut(&key.namespace) else { continue };
            if room.held.saturating_add(devices) > room.allowed {
                memory.short.insert(key.namespace.clone());
                if let Some(again) = after(view.now, CALM) {
                    plan.wake_at(again);
                }
                continue;
            }
            room.held += devices;
            let name = name(key, &left.names);
            left.names.insert(name.clone());
            plan.steps.push(Step::Create { name, of: (*key).clone() });
            have += devices;
            largest = largest.max(devices);
        }
    }

    /// Deletes scaling pods that have waited for long where a pod that needs something else has none, or one of the
    /// namespace finds no room for its own.
    fn take_turns(
        &mut self,
        view: &View<'_>,
        memory: &mut Memory,
        short: &BTreeSet<Arc<str>>,
        plan: &mut Plan,
    ) {
        let served: BTreeSet<&Key> = self.serving.iter().map(|one| one.of).collect();
        let mut left = self
            .pods
            .iter()
            .filter(|(key, _)| !served.contains(key))
            .map(|(_, pod)| (pod.devices, &pod.needs));
        let first = left.next();
        // Two that differ say of any need whether another one is left.
        let second = left.find(|needs| Some(*needs) != first);
        self.serving.retain(|one| {
            let own = (one.pod.devices, &one.pod.needs);
            let is_held_up = second.is_some()
                || first.is_some_and(|needs| needs != own)
                || short.contains(&one.of.namespace);
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

/// `<namespace>-<name>`; with digits of its own where that is too long or another pod's, and others where somebody has those.
fn name(of: &Key, taken: &BTreeSet<String>) -> String {
    let plain = format!("{}-{}", of.namespace, of.name);
    if plain.len() <= NAME_MAX && !taken.contains(&plain) {
        return plain;
    }
    let other = |count: usize| {
        let text = if count == 0 { of.to_string() } else { format!("{of}/{count}") };
        let digits = digits(&text);
        // Names of pods are ASCII; what is cut off must not leave a dot before the dash.
        let stem = plain.get(..NAME_MAX - digits.len() - 1).unwrap_or(&plain);
        format!("{}-{digits}", stem.trim_end_matches(['.', '-']))
    };
    // Somebody may have pods by whose names all but one of these are taken.
    (0..=taken.len()).map(other).find(|name| !taken.contains(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
