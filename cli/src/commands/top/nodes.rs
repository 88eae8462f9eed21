//! Nodes with their devices and who holds what. Pure.
//!
//! Which device a pod with whole GPUs has only its node knows: such devices have no name here.

use std::collections::BTreeMap;

use kai_api::shared_gpu::device_memory_mib;
use serde_json::{Map, Value};

use crate::cluster::gpu::{self, Total};
use crate::cluster::json::text;
use crate::cluster::{names, queue};
use crate::workload::devices::{Seen, Unnamed, groups, is_reservation, of_pod};

/// More devices than any node has, also where each is told as several that share it: more of a pod, or that are free, are
/// counted and not listed.
const DEVICES_LISTED_MAX: u64 = 1024;
/// So many of a pod are listed whatever its node offers: that may have lost some.
const DEVICES_LISTED_MIN: u64 = 16;

/// A node and its devices.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    /// Its labels; none where the node may not be read.
    pub(super) labels: Map<String, Value>,
    /// The devices' product, as the node is labelled.
    pub(super) product: Option<String>,
    /// Devices that pods can be given; none where the node may not be read.
    pub(super) usable: Option<u64>,
    /// Devices that the node has had, and that its device plugin no longer offers.
    pub(super) lost: u64,
    /// Cordoned, not ready, taints.
    pub(super) marks: Vec<String>,
    /// Thousandths that are held of all its devices; none where some are not known.
    pub(super) held_milli: Option<u64>,
    /// Says how many of its devices nobody is on; none where some are not known.
    pub(super) free: Option<usize>,
    pub(super) devices: Vec<Device>,
    pub(super) slices: Vec<Slices>,
}

/// Says how a device is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Parts of it.
    Shared,
    /// By one pod.
    Whole,
    Free,
    /// By pods that may not be read, or not at all.
    Unknown,
}

/// One device.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) state: State,
    pub(super) uuid: Option<String>,
    pub(super) group: Option<String>,
    pub(super) holders: Vec<Holder>,
    /// Holds what is wrong with it, or why it has no name.
    pub(super) problem: Option<String>,
    /// Tells whether all that share it are among the holders.
    pub(super) is_complete: bool,
}

/// A pod on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) namespace: String,
    pub(super) pod: String,
    /// The `PodGroup` that the pod is of.
    pub(super) pod_group: String,
    /// The queue that the pod itself names.
    pub(super) queue_label: String,
    /// Holds what it has of the device, or how many MIG devices.
    pub(super) share: String,
    /// The same in thousandths of the device; none where memory of an unknown size is shared.
    pub(super) milli: Option<u64>,
}

/// The MIG devices of a profile.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    pub(super) profile: String,
    /// Says how many pods can be given; none where the node may not be read.
    pub(super) usable: Option<u64>,
    pub(super) holders: Vec<Holder>,
    /// Tells whether all that hold any are among the holders.
    pub(super) is_complete: bool,
}

impl Slices {
    /// Says how many are held, and of how many: `2 of 7`, `2 or more of 7`.
    pub(super) fn summary(&self) -> String {
        let held = gpu::sum(self.holders.iter().filter_map(|one| one.share.parse::<u64>().ok()));
        let more = if self.is_complete { "" } else { " or more" };
        let usable = self.usable.map_or_else(|| "?".to_owned(), |usable| usable.to_string());
        format!("{held}{more} of {usable}")
    }
}

/// Holds what was read.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// None where nodes may not be read.
    pub(super) nodes: Option<&'a [Value]>,
    /// Pods that have a node and have not ended.
    pub(super) pods: Vec<&'a Value>,
    pub(super) seen: &'a Seen,
}

impl Device {
    fn new(state: State, is_complete: bool) -> Self {
        let (uuid, group, holders, problem) = (None, None, Vec::new(), None);
        Self { state, uuid, group, holders, problem, is_complete }
    }

    /// Thousandths of it that are held, as far as that is known.
    pub(super) fn held_milli(&self) -> Option<u64> {
        match self.state {
            State::Whole => Some(1000),
            State::Free => Some(0),
            State::Unknown => None,
            State::Shared if !self.is_complete => None,
            State::Shared => gpu::sum_known(self.holders.iter().map(|holder| holder.milli)),
        }
    }
}

impl Holder {
    fn new(pod: &Value, share: String, milli: Option<u64>) -> Self {
        let meta = &pod["metadata"];
        Self {
            namespace: text(&meta["namespace"]).into(),
            pod: text(&meta["name"]).into(),
            pod_group: text(&meta["annotations"][names::POD_GROUP]).into(),
            queue_label: text(&meta["labels"][names::QUEUE]).into(),
            share,
            milli,
        }
    }
}

impl Node {
    /// Leaves only what these holders are on; `false` when that is nothing.
    pub(super) fn keep(&mut self, is_wanted: &dyn Fn(&Holder) -> bool) -> bool {
        self.devices.retain(|device| device.holders.iter().any(is_wanted));
        self.slices.retain(|slices| slices.holders.iter().any(is_wanted));
        !self.devices.is_empty() || !self.slices.is_empty()
    }
}

/// The nodes with their devices, by name; those without devices too.
pub(super) fn nodes(scene: &Scene<'_>) -> Vec<Node> {
    let mut on: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for pod in &scene.pods {
        on.entry(text(&pod["spec"]["nodeName"])).or_default().push(*pod);
    }
    let mut nodes: Vec<Node> = match scene.nodes {
        Some(objects) => objects
            .iter()
            .map(|object| {
                let pods = on.get(text(&object["metadata"]["name"])).map_or(&[][..], Vec::as_slice);
                node(object, pods, scene.seen)
            })
            .collect(),
        None => on.iter().map(|(name, pods)| unread(name, pods, scene.seen)).collect(),
    };
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

fn node(object: &Value, pods: &[&Value], seen: &Seen) -> Node {
    let labels = &object["metadata"]["labels"];
    let status = &object["status"];
    let count = |map: &Value| {
        let of = |name: &str| text(&map[name]).parse::<u64>().unwrap_or(0);
        of(names::GPU).saturating_add(of(names::AMD_GPU))
    };
    let (usable, capacity) = (count(&status["allocatable"]), count(&status["capacity"]));
    let memory_mib =
        device_memory_mib(text(&labels[kai_api::names::node::GPU_MEMORY])).map(Into::into);
    let Held { mut devices, unlisted } = held(pods, memory_mib, usable.max(capacity), seen);
    let taken = gpu::sum([u64::try_from(devices.len()).unwrap_or(u64::MAX), unlisted]);
    let left = usable.saturating_sub(taken);
    let rest = if seen.is_complete { State::Free } else { State::Unknown };
    let shown = left.min(DEVICES_LISTED_MAX);
    devices.extend((0..shown).map(|_| Device::new(rest, seen.is_complete)));
    let mut marks = marks(object);
    if taken > usable {
        marks.push(format!("{taken} devices are held"));
    }
    marks.extend(not_listed(gpu::sum([unlisted, left - shown])));
    let listed = devices.iter().map(Device::held_milli);
    let profiles = status["allocatable"].as_object().into_iter().flatten();
    let profiles = profiles.filter_map(|(name, amount)| {
        let amount = text(amount).parse::<u64>().unwrap_or(0);
        Some((name.strip_prefix(names::MIG)?, amount)).filter(|(_, amount)| *amount > 0)
    });
    let product = text(&labels[names::GPU_PRODUCT]);
    Node {
        name: text(&object["metadata"]["name"]).into(),
        labels: labels.as_object().cloned().unwrap_or_default(),
        product: (!product.is_empty()).then(|| product.to_owned()),
        usable: Some(usable),
        lost: capacity.saturating_sub(usable),
        marks,
        held_milli: gpu::sum_known(listed.chain([Some(unlisted.saturating_mul(1000))])),
        free: free(&devices, left),
        devices,
        slices: slices(pods, Some(&profiles.collect()), seen),
    }
}

/// Says how many devices nobody is on, of which not all may be listed; none where some are not known.
fn free(devices: &[Device], left: u64) -> Option<usize> {
    let is_known = devices.iter().all(|device| device.state != State::Unknown);
    is_known.then(|| usize::try_from(left).unwrap_or(usize::MAX))
}

/// Says that devices are counted and not listed.
fn not_listed(count: u64) -> Option<String> {
    (count > 0).then(|| format!("{} not listed", queue::count(count, "more device")))
}

/// A node that only its pods tell of.
fn unread(name: &str, pods: &[&Value], seen: &Seen) -> Node {
    let Held { devices, unlisted } = held(pods, None, DEVICES_LISTED_MAX, seen);
    Node {
        name: name.into(),
        labels: Map::new(),
        product: None,
        usable: None,
        lost: 0,
        marks: not_listed(unlisted).into_iter().collect(),
        held_milli: None,
        free: None,
        devices,
        slices: slices(pods, None, seen),
    }
}

/// The devices of a node that somebody holds.
struct Held {
    devices: Vec<Device>,
    /// Whole devices beyond those that are listed.
    unlisted: u64,
}

/// Devices that somebody holds: shared ones first, by UUID, then whole ones by their pods. Of a pod no more whole ones are
/// listed than its node has: who names a node without asking the scheduler may ask for any number.
fn held(pods: &[&Value], memory_mib: Option<u64>, there: u64, seen: &Seen) -> Held {
    let listed_max = there.clamp(DEVICES_LISTED_MIN, DEVICES_LISTED_MAX);
    let mut shared: BTreeMap<String, Device> = BTreeMap::new();
    let (mut whole, mut unlisted) = (Vec::new(), 0_u64);
    for pod in pods {
        if is_reservation(pod) {
            for group in groups(pod) {
                shared.entry(group.to_owned()).or_insert_with(|| reserved(pod, group, seen));
            }
            continue;
        }
        let part = gpu::shared(pod).ok().flatten();
        let milli = part.and_then(|part| gpu::part_milli(part.share, memory_mib));
        for (at, on) in of_pod(pod, seen).into_iter().enumerate() {
            let uid = || format!("{}/{}/{at}", text(&pod["metadata"]["namespace"]), on.pod);
            let key = on.group.clone().or(on.uuid.clone().ok()).unwrap_or_else(uid);
            let device =
                shared.entry(key).or_insert_with(|| Device::new(State::Shared, seen.is_complete));
            // What may not be read is no fault of the device.
            let fault = on.uuid.as_ref().err().filter(|why| **why != Unnamed::Unreadable);
            device.problem = fault.map(Unnamed::text).or(device.problem.take());
            (device.uuid, device.group) = (on.uuid.ok(), on.group);
            device.holders.push(Holder::new(pod, on.share, milli));
        }
        let asked = gpu::whole(pod);
        let listed = asked.min(listed_max);
        unlisted = unlisted.saturating_add(asked - listed);
        for _ in 0..listed {
            let mut device = Device::new(State::Whole, true);
            device.holders.push(Holder::new(pod, String::from("1"), Some(1000)));
            whole.push(device);
        }
    }
    let mut devices: Vec<Device> = shared.into_values().collect();
    devices.sort_by(|a, b| (a.uuid.is_none(), &a.uuid).cmp(&(b.uuid.is_none(), &b.uuid)));
    whole.sort_by(|a, b| holder_key(a).cmp(&holder_key(b)));
    devices.extend(whole);
    Held { devices, unlisted }
}

fn holder_key(device: &Device) -> Option<(&str, &str)> {
    device.holders.first().map(|holder| (holder.namespace.as_str(), holder.pod.as_str()))
}

/// The device of a reservation, before its users are known.
fn reserved(pod: &Value, group: &str, seen: &Seen) -> Device {
    let uuid = seen.uuid(text(&pod["spec"]["nodeName"]), group);
    Device {
        group: Some(group.to_owned()),
        problem: uuid.as_ref().err().map(Unnamed::text),
        uuid: uuid.ok(),
        ..Device::new(State::Shared, seen.is_complete)
    }
}

/// MIG devices by profile: those that a node offers, where it was read, and those that pods hold.
fn slices(pods: &[&Value], usable: Option<&BTreeMap<&str, u64>>, seen: &Seen) -> Vec<Slices> {
    let mut holders: BTreeMap<String, Vec<Holder>> = BTreeMap::new();
    for profile in usable.into_iter().flat_map(BTreeMap::keys) {
        holders.entry((*profile).to_owned()).or_default();
    }
    for pod in pods {
        for (profile, count) in Total::of_pod(pod).mig {
            let holder = Holder::new(pod, count.to_string(), None);
            holders.entry(profile).or_default().push(holder);
        }
    }
    let each = holders.into_iter().map(|(profile, holders)| Slices {
        usable: usable.map(|usable| usable.get(profile.as_str()).copied().unwrap_or(0)),
        profile,
        holders,
        is_complete: seen.is_complete,
    });
    each.collect()
}

/// Says what keeps pods off the node.
fn marks(node: &Value) -> Vec<String> {
    let mut marks = Vec::new();
    let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    let mut ready = conditions.filter(|condition| text(&condition["type"]) == "Ready");
    if ready.next().is_none_or(|condition| text(&condition["status"]) != "True") {
        marks.push(String::from("not ready"));
    }
    if node["spec"]["unschedulable"] == true {
        marks.push(String::from("cordoned"));
    }
    for taint in node["spec"]["taints"].as_array().into_iter().flatten() {
        let key = text(&taint["key"]);
        // Kubernetes' own taints say what stands above already.
        if key.starts_with("node.kubernetes.io/") {
            continue;
        }
        let value = text(&taint["value"]);
        let value = if value.is_empty() { String::new() } else { format!("={value}") };
        marks.push(format!("taint {key}{value}:{}", text(&taint["effect"])));
    }
    marks
}
