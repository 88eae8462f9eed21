//! Describes what the witness knows: pods, where they are, and whether a promise was broken. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Pod;
use kai_api::explanation::Explanation;
use kai_api::names::{annotation, label, namespace};
use kai_api::pod_group::PodGroup;
use kai_api::quantity::Quantity;
use kai_sandbox::nodes::group::Spec;
use kube::ResourceExt as _;

/// Binds of a gang are writes one after another: only after this time is a gang half-placed.
const TOGETHER: Duration = Duration::from_secs(1);
/// A whole device in the unit of shares.
const WHOLE: u32 = 1000;

/// One pod as the watch showed it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) name: String,
    pub(super) workload: String,
    pub(super) queue: String,
    /// The `PodGroup`, once the podgrouper has said so.
    pub(super) group: Option<String>,
    pub(super) gpus: u32,
    /// Thousandths of one device; 0 when whole ones or none are asked for.
    pub(super) share: u32,
    pub(super) node: Option<String>,
    /// Indexes of the devices taken on the node.
    pub(super) devices: Vec<usize>,
    pub(super) phase: String,
    pub(super) appeared: Instant,
    pub(super) bound: Option<Instant>,
    pub(super) ended: Option<Instant>,
}

/// A device and who is on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    /// The sharing group; `None` for a whole device or a free one.
    pub(super) sharing: Option<String>,
    /// Workload and thousandths.
    pub(super) users: Vec<(String, u32)>,
}

/// A gang's size and what the scheduler said last about it.
#[derive(Clone, Debug, Default)]
struct Gang {
    min: usize,
    message: Option<String>,
    /// Says why it waits, as the scheduler explains it.
    explanation: Option<Explanation>,
    /// Pods that were bound since the gang last stood empty.
    placed: HashSet<String>,
    since: Option<Instant>,
}

/// Everything seen so far.
#[derive(Debug)]
pub(super) struct Witness {
    pub(super) nodes: BTreeMap<String, Vec<Device>>,
    pub(super) pods: HashMap<String, Seen>,
    gangs: BTreeMap<String, Gang>,
    /// Pods and binds counted, and events checked.
    pub(super) pods_seen: usize,
    pub(super) binds: usize,
    pub(super) checks: usize,
    /// The first promise that was broken.
    pub(super) broken: Option<String>,
    /// Holds what changed and was not told yet: a workload, and what became of one of its pods.
    pub(super) news: Vec<(String, &'static str)>,
}

impl Witness {
    /// Nothing seen yet, on these nodes.
    pub(super) fn new(specs: &[Spec]) -> Self {
        let devices =
            |spec: &Spec| vec![Device::default(); usize::try_from(spec.gpus).unwrap_or(0)];
        Self {
            nodes: specs.iter().map(|spec| (spec.name.clone(), devices(spec))).collect(),
            pods: HashMap::new(),
            gangs: BTreeMap::new(),
            pods_seen: 0,
            binds: 0,
            checks: 0,
            broken: None,
            news: Vec::new(),
        }
    }

    /// Takes in a pod as it is now.
    pub(super) fn pod(&mut self, pod: &Pod, now: Instant) {
        let uid = pod.uid().unwrap_or_default();
        let is_new = !self.pods.contains_key(&uid);
        self.pods_seen += usize::from(is_new);
        let mut seen = self.pods.remove(&uid).unwrap_or_else(|| first_sight(pod, now));
        seen.group = pod.annotations().get(annotation::POD_GROUP).cloned().or(seen.group);
        seen.queue = queue(pod);
        let phase = phase(pod);
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
        if let (None, Some(node)) = (&seen.node, node) {
            seen.bound = Some(now);
            seen.node = Some(node.clone());
            self.binds += 1;
            self.place(&mut seen, &node, pod);
        }
        if let Some(gang) = seen.group.as_ref().filter(|_| seen.node.is_some()) {
            let gang = self.gangs.entry(gang.clone()).or_default();
            if gang.placed.insert(uid.clone()) {
                gang.since.get_or_insert(now);
            }
        }
        if has_ended(&phase) && seen.ended.is_none() {
            seen.ended = Some(now);
            self.leave(&mut seen);
        }
        // A pod that reserves a device is part of how shares are kept, not of the story.
        let is_told = pod.namespace().as_deref() != Some(namespace::RESERVATION);
        if is_told
            && phase != seen.phase
            && matches!(phase.as_str(), "Running" | "Succeeded" | "Failed")
        {
            self.news.push((seen.workload.clone(), word(&phase)));
        }
        seen.phase = phase;
        self.pods.insert(uid, seen);
        self.check(now);
    }

    /// Takes in all pods that there are: who is gone or has ended leaves before others take the place.
    pub(super) fn pods_listed(&mut self, mut pods: Vec<Pod>, now: Instant) {
        let uids: HashSet<String> =
            pods.iter().filter_map(|pod| pod.metadata.uid.clone()).collect();
        let gone = self.pods.keys().filter(|uid| !uids.contains(*uid)).cloned();
        for uid in gone.collect::<Vec<_>>() {
            self.pod_gone(&uid, now);
        }
        pods.sort_by_key(|pod| !has_ended(&phase(pod)));
        for pod in &pods {
            self.pod(pod, now);
        }
    }

    /// A pod is no longer there.
    pub(super) fn pod_gone(&mut self, uid: &str, now: Instant) {
        let Some(mut seen) = self.pods.remove(uid) else { return };
        seen.ended.get_or_insert(now);
        self.leave(&mut seen);
        if let Some(gang) = seen.group.as_ref().and_then(|gang| self.gangs.get_mut(gang)) {
            let left =
                self.pods.values().any(|other| other.group == seen.group && other.node.is_some());
            if !left {
                gang.placed.clear();
                gang.since = None;
            }
        }
        self.check(now);
    }

    /// Takes in a `PodGroup` as it is now.
    pub(super) fn group(&mut self, group: &PodGroup) {
        let gang = self.gangs.entry(group.name_any()).or_default();
        let count = |min: Option<i32>| usize::try_from(min.unwrap_or(0)).unwrap_or(0);
        let leaves: usize = group.spec.sub_groups.iter().map(|leaf| count(leaf.min_member)).sum();
        gang.min = if group.spec.sub_groups.is_empty() {
            count(group.spec.min_member).max(1)
        } else {
            leaves
        };
        let status = group.status.as_ref();
        let last = status.and_then(|status| status.scheduling_conditions.last());
        gang.message = last.map(|last| last.message.clone().unwrap_or_default());
        let text = group.annotations().get(annotation::EXPLANATION);
        gang.explanation = text.and_then(|text| Explanation::read(text));
    }

    /// Says what the scheduler says about the gang of a workload that waits: in words of its own, and in KAI's.
    pub(super) fn said(&self, workload: &str) -> Option<(Explanation, String)> {
        let pod = self.of(workload).find(|pod| pod.node.is_none())?;
        let gang = self.gangs.get(pod.group.as_ref()?)?;
        Some((gang.explanation.clone()?, gang.message.clone()?))
    }

    /// Tells whether a pod has a node and does not run yet.
    pub(super) fn is_any_starting(&self) -> bool {
        let is_new = |pod: &Seen| matches!(pod.phase.as_str(), "" | "Pending");
        self.pods.values().any(|pod| pod.node.is_some() && is_new(pod))
    }

    /// The pods of a workload, by name.
    pub(super) fn of<'a>(&'a self, workload: &'a str) -> impl Iterator<Item = &'a Seen> + 'a {
        self.pods.values().filter(move |pod| pod.workload == workload)
    }

    /// Devices in use by the pods of a queue, in thousandths.
    pub(super) fn used(&self, queue: &str) -> u32 {
        let pods = self
            .pods
            .values()
            .filter(|pod| pod.queue == queue && pod.node.is_some() && pod.ended.is_none());
        pods.map(|pod| pod.gpus * WHOLE + pod.share).sum()
    }

    /// Nodes on which no device is in use.
    pub(super) fn free_nodes(&self) -> usize {
        let free = |devices: &&Vec<Device>| {
            !devices.is_empty() && devices.iter().all(|device| device.users.is_empty())
        };
        self.nodes.values().filter(free).count()
    }

    /// Gives the pod its devices; whoever gets one that is taken has broken the promise.
    fn place(&mut self, seen: &mut Seen, node: &str, pod: &Pod) {
        let Some(devices) = self.nodes.get_mut(node) else { return };
        if seen.share > 0 {
            let Some(sharing) = pod.labels().get(label::GPU_GROUP) else {
                self.broken
                    .get_or_insert(format!("{} was bound without a device to share", seen.name));
                return;
            };
            let found = devices.iter().position(|device| device.sharing.as_ref() == Some(sharing));
            let free = || devices.iter().position(|device| device.users.is_empty());
            let Some(index) = found.or_else(free) else {
                self.broken.get_or_insert(format!("{node} has no device left for {}", seen.name));
                return;
            };
            devices[index].sharing = Some(sharing.clone());
            devices[index].users.push((seen.workload.clone(), seen.share));
            seen.devices = vec![index];
        } else {
            let free = devices.iter().enumerate().filter(|(_, device)| device.users.is_empty());
            let wanted = usize::try_from(seen.gpus).unwrap_or(0);
            seen.devices = free.map(|(index, _)| index).take(wanted).collect();
            if seen.devices.len() < wanted {
                let got = seen.devices.len();
                self.broken.get_or_insert(format!(
                    "{node} has {got} devices left for {}, which needs {wanted}",
                    seen.name
                ));
            }
            for index in &seen.devices {
                devices[*index].users.push((seen.workload.clone(), WHOLE));
            }
        }
    }

    fn leave(&mut self, seen: &mut Seen) {
        let Some(devices) = seen.node.as_ref().and_then(|node| self.nodes.get_mut(node)) else {
            return;
        };
        for index in std::mem::take(&mut seen.devices) {
            let amount = if seen.share > 0 { seen.share } else { WHOLE };
            let mine = (seen.workload.clone(), amount);
            if let Some(at) = devices[index].users.iter().position(|user| *user == mine) {
                devices[index].users.remove(at);
            }
            if devices[index].users.is_empty() {
                devices[index].sharing = None;
            }
        }
    }

    /// Looks at every promise; the first broken one is kept.
    pub(super) fn check(&mut self, now: Instant) {
        self.checks += 1;
        for (node, devices) in &self.nodes {
            for (index, device) in devices.iter().enumerate() {
                let sum: u32 = device.users.iter().map(|(_, amount)| amount).sum();
                if sum > WHOLE {
                    self.broken.get_or_insert(format!(
                        "{node} GPU {index} is given away {sum} thousandths of times"
                    ));
                }
            }
        }
        for (name, gang) in &self.gangs {
            let placed = gang.placed.len();
            let long = gang.since.is_some_and(|since| now.duration_since(since) > TOGETHER);
            if placed > 0 && placed < gang.min && long {
                self.broken
                    .get_or_insert(format!("{name} is half-placed: {placed} of {} pods", gang.min));
            }
        }
    }
}

fn word(phase: &str) -> &'static str {
    match phase {
        "Running" => "running",
        "Succeeded" => "succeeded",
        _ => "failed",
    }
}

fn first_sight(pod: &Pod, now: Instant) -> Seen {
    let amount = |container: &k8s_openapi::api::core::v1::Container| {
        let limits = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        let text = limits.and_then(|limits| limits.get("nvidia.com/gpu"))?;
        Quantity::parse(&text.0).ok()?.value().ok().and_then(|count| u32::try_from(count).ok())
    };
    // What it reserves is on the account of the pods that share it.
    let reserves = pod.namespace().as_deref() == Some(namespace::RESERVATION);
    let containers = pod.spec.iter().filter(|_| !reserves).flat_map(|spec| &spec.containers);
    Seen {
        name: pod.name_any(),
        workload: workload(pod),
        queue: queue(pod),
        group: None,
        gpus: containers.filter_map(amount).sum(),
        share: pod.annotations().get(annotation::GPU_FRACTION).map_or(0, |text| thousandths(text)),
        node: None,
        devices: Vec::new(),
        phase: String::new(),
        appeared: now,
        bound: None,
        ended: None,
    }
}

fn queue(pod: &Pod) -> String {
    pod.labels().get(label::QUEUE).cloned().unwrap_or_default()
}

/// A decimal as thousandths: `0.5` is 500.
fn thousandths(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = format!("{fraction}000").chars().take(3).collect();
    whole.parse::<u32>().unwrap_or(0) * WHOLE + digits.parse::<u32>().unwrap_or(0)
}

/// The workload's name by the labels that its operator writes.
fn workload(pod: &Pod) -> String {
    let labels = pod.labels();
    let keys = [
        "workflows.argoproj.io/workflow",
        "notebook-name",
        "training.kubeflow.org/job-name",
        "batch.kubernetes.io/job-name",
    ];
    if let Some(name) = keys.iter().find_map(|key| labels.get(*key)) {
        return name.clone();
    }
    // A RayCluster of a RayJob is called like it, with five letters more.
    let cluster = labels
        .get("ray.io/cluster")
        .map(|name| name.rsplit_once('-').map_or(name.as_str(), |(job, _)| job));
    cluster.map_or_else(|| pod.name_any(), ToOwned::to_owned)
}

fn phase(pod: &Pod) -> String {
    pod.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default()
}

fn has_ended(phase: &str) -> bool {
    matches!(phase, "Succeeded" | "Failed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kai_sandbox::nodes::group;
    use serde_json::json;

    /// Pods in the order of their events: name, gang, GPUs (text: a share), node, phase.
    fn check(min: i32, events: &[(&str, &str, &str, &str)], wait: Duration, expect: Option<&str>) {
        let mut witness =
            Witness::new(&group::expand(&group::parse("1xH100:2").expect("a group"), 1));
        let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": "g"}, "spec": {"minMember": min, "queue": "q"}});
        witness.group(&serde_json::from_value(group).expect("a PodGroup"));
        let start = Instant::now();
        for (name, gpus, node, phase) in events {
            let share = gpus.contains('.');
            let mut pod = json!({"metadata": {"name": name, "uid": name, "annotations": {"pod-group-name": "g"}},
                "spec": {"containers": [{"name": "main"}]}, "status": {"phase": phase}});
            if share {
                pod["metadata"]["annotations"]["gpu-fraction"] = json!(gpus);
                pod["metadata"]["labels"] = json!({"runai-gpu-group": "shared"});
            } else {
                pod["spec"]["containers"][0]["resources"] =
                    json!({"requests": {"nvidia.com/gpu": gpus}});
            }
            if !node.is_empty() {
                pod["spec"]["nodeName"] = json!(node);
            }
            witness.pod(&serde_json::from_value(pod).expect("a Pod"), start);
        }
        witness.check(start + wait);
        assert_eq!(witness.broken.as_deref(), expect, "{events:?}");
    }

    #[test]
    fn a_gang_may_not_stand_half_placed() {
        let half = [("a", "1", "node-1", "Pending"), ("b", "1", "", "Pending")];
        check(2, &half, Duration::ZERO, None);
        check(2, &half, Duration::from_secs(2), Some("g is half-placed: 1 of 2 pods"));
        let whole = [("a", "1", "node-1", "Pending"), ("b", "1", "node-1", "Pending")];
        check(2, &whole, Duration::from_secs(2), None);
    }

    /// The GPU that a pod reserves is that of the pods which share it, and no other.
    #[test]
    fn what_is_reserved_counts_once() {
        let mut witness =
            Witness::new(&group::expand(&group::parse("1xH100:2").expect("a group"), 1));
        for (of, name, gpus, share) in [
            (namespace::RESERVATION, "reservation", "1", ""),
            ("default", "ana", "0", "0.5"),
            ("default", "whole", "1", ""),
        ] {
            let pod = json!({
                "metadata": {"name": name, "uid": name, "namespace": of,
                    "annotations": {"gpu-fraction": share}, "labels": {"runai-gpu-group": "shared"}},
                "spec": {"nodeName": "node-1", "containers": [
                    {"name": "main", "resources": {"requests": {"nvidia.com/gpu": gpus}}}]},
                "status": {"phase": "Running"},
            });
            witness.pod(&serde_json::from_value(pod).expect("a Pod"), Instant::now());
        }
        assert_eq!(witness.broken, None);
    }

    /// A watch that fell behind is told neither of the end of `a` nor that of `b`, and then lists what there is.
    #[test]
    fn a_list_shows_who_left() {
        let mut witness =
            Witness::new(&group::expand(&group::parse("1xH100:2").expect("a group"), 1));
        let pod = |name: &str, phase: &str| -> Pod {
            let pod = json!({"metadata": {"name": name, "uid": name},
                "spec": {"nodeName": "node-1", "containers": [
                    {"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1"}}}]},
                "status": {"phase": phase}});
            serde_json::from_value(pod).expect("a Pod")
        };
        let start = Instant::now();
        witness.pod(&pod("a", "Running"), start);
        witness.pod(&pod("z", "Running"), start);
        witness
            .pods_listed(vec![pod("b", "Pending"), pod("c", "Pending"), pod("z", "Failed")], start);
        assert_eq!(witness.broken, None);
        witness.pods_listed(vec![pod("b", "Running"), pod("d", "Pending")], start);
        assert_eq!(witness.broken, None);
        witness.pods_listed(
            vec![pod("b", "Running"), pod("d", "Pending"), pod("e", "Pending")],
            start,
        );
        assert_eq!(
            witness.broken.as_deref(),
            Some("node-1 has 0 devices left for e, which needs 1")
        );
    }

    #[test]
    fn a_device_is_given_once() {
        let over = [("a", "2", "node-1", "Running"), ("b", "1", "node-1", "Pending")];
        check(1, &over, Duration::ZERO, Some("node-1 has 0 devices left for b, which needs 1"));
        let after = [
            ("a", "2", "node-1", "Running"),
            ("a", "2", "node-1", "Succeeded"),
            ("b", "1", "node-1", "Pending"),
        ];
        check(1, &after, Duration::ZERO, None);
        let shared = [("a", "0.5", "node-1", "Running"), ("b", "0.5", "node-1", "Running")];
        check(1, &shared, Duration::ZERO, None);
        let thrice = [
            ("a", "0.5", "node-1", "Running"),
            ("b", "0.5", "node-1", "Running"),
            ("c", "0.25", "node-1", "Running"),
        ];
        check(
            1,
            &thrice,
            Duration::ZERO,
            Some("node-1 GPU 0 is given away 1250 thousandths of times"),
        );
    }
}
