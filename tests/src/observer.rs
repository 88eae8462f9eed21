//! Checks the scheduler's promises from outside, through the watch alone: no node and no device over-committed at any
//! moment, no pod bound twice, no gang in part once things are quiet (S1, S2, S4, S8).
//!
//! It shares nothing with the scheduler but the API: amounts are read from the pods themselves.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use futures::{StreamExt, pin_mut};
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{Api, Client, ResourceExt, api::ListParams, runtime::watcher};
use tokio::{sync::oneshot, task::JoinHandle};

/// Resources whose sums are compared with a node's allocatable.
const RESOURCES: &[&str] = &["cpu", "memory", "nvidia.com/gpu"];
/// Label that names the device which a pod shares.
const GPU_GROUP: &str = "runai-gpu-group";
/// Prefix of the labels that name devices when a pod shares several.
const GPU_GROUPS: &str = "runai-gpu-group/";
/// Namespace of the pods that hold shared devices.
const RESERVATIONS: &str = "kai-resource-reservation";
/// Annotation of such a pod with the device that it got.
const RESERVED: &str = "run.ai/reserve_for_gpu_index";
/// Annotation with the share of each device.
const GPU_FRACTION: &str = "gpu-fraction";
/// Annotation with the MiB of each device, instead of the share.
const GPU_MEMORY: &str = "gpu-memory";
/// Label of a node with the MiB of each of its devices.
const DEVICE_MEMORY: &str = "nvidia.com/gpu.memory";
/// Annotation that names a pod's `PodGroup`.
const POD_GROUP: &str = "pod-group-name";

/// Place of a pod, and what it holds there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holding {
    node: String,
    /// Per entry of [`RESOURCES`], in thousandths.
    amounts_milli: Vec<i128>,
    /// Shared devices.
    devices: BTreeSet<String>,
    share: Share,
    /// It holds a device for others: the device itself, once it says which.
    reserves: Option<String>,
}

/// Share of each device that a pod has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Milli(i128),
    Mib(i128),
}

impl Share {
    /// The part of a device in thousandths of a thousandth; rounded down, so that no rounding looks like too much.
    fn micro(self, device_mib: i128) -> i128 {
        match self {
            Self::Milli(milli) => milli * 1000,
            Self::Mib(mib) => mib * 1_000_000 / device_mib.max(1),
        }
    }
}

/// Everything that was seen so far, and every promise that was seen broken.
#[derive(Debug, Default)]
pub struct Observed {
    allocatable_milli: BTreeMap<String, Vec<i128>>,
    /// MiB of each device, by node.
    device_mib: BTreeMap<String, i128>,
    pods: BTreeMap<String, Holding>,
    /// The node of each pod by UID, also of pods that are gone.
    bound: BTreeMap<String, String>,
    /// The UIDs of pods that hold GPUs for others, also of those that are gone.
    reservations: BTreeSet<String>,
    /// UID to `namespace/group` of each live pod.
    groups: BTreeMap<String, String>,
    /// Promises that were broken, in the order seen.
    pub findings: Vec<String>,
}

impl Observed {
    /// Counts the different pods that were ever bound; those that hold GPUs for others are not counted.
    pub fn binds(&self) -> usize {
        self.bound.len() - self.reservations.len()
    }

    /// Takes a node in.
    pub fn node(&mut self, node: &Node) {
        let allocatable = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
        let amounts = RESOURCES
            .iter()
            .map(|name| allocatable.and_then(|all| all.get(*name)).map_or(0, milli))
            .collect();
        self.allocatable_milli.insert(node.name_any(), amounts);
        let device_mib = node.labels().get(DEVICE_MEMORY).and_then(|text| text.parse().ok());
        self.device_mib.insert(node.name_any(), device_mib.unwrap_or_default());
    }

    /// Takes a pod in, and checks the node it is on.
    pub fn pod(&mut self, pod: &Pod) {
        let (name, uid) = (full_name(pod), pod.uid().unwrap_or_default());
        if let Some(group) = pod.annotations().get(POD_GROUP) {
            self.groups
                .insert(uid.clone(), format!("{}/{group}", pod.namespace().unwrap_or_default()));
        }
        let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.clone()) else {
            return;
        };
        if let Some(before) = self.bound.insert(uid.clone(), node.clone())
            && before != node
        {
            self.findings.push(format!("{name} was bound to {before} and then to {node}"));
        }
        if pod.namespace().as_deref() == Some(RESERVATIONS) {
            self.reservations.insert(uid.clone());
        }
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("");
        if matches!(phase, "Succeeded" | "Failed") {
            self.pods.remove(&uid);
            return;
        }
        let holding = holding(pod, node.clone());
        if self.pods.insert(uid, holding.clone()).as_ref() != Some(&holding) {
            self.check_node(&node, &name);
        }
    }

    /// Takes a deletion in.
    pub fn pod_gone(&mut self, pod: &Pod) {
        let uid = pod.uid().unwrap_or_default();
        self.pods.remove(&uid);
        self.groups.remove(&uid);
    }

    fn check_node(&mut self, node: &str, cause: &str) {
        let holders: Vec<&Holding> = self.pods.values().filter(|pod| pod.node == node).collect();
        let mut devices: BTreeMap<&str, i128> = BTreeMap::new();
        let reservations = || holders.iter().filter(|holder| holder.reserves.is_some());
        let reserved: BTreeSet<&str> =
            reservations().flat_map(|holder| &holder.devices).map(String::as_str).collect();
        let device_mib = self.device_mib.get(node).copied().unwrap_or_default();
        for holder in holders.iter().filter(|holder| holder.reserves.is_none()) {
            for device in &holder.devices {
                *devices.entry(device).or_default() += holder.share.micro(device_mib);
            }
        }
        let mut found: Vec<String> = devices
            .iter()
            .filter(|(_, micro)| **micro > 1_000_000)
            .map(|(device, micro)| {
                format!("device {device} of {node} holds {}/1000 after {cause}", micro / 1000)
            })
            .collect();
        let mut uuids = BTreeSet::new();
        for uuid in reservations().filter_map(|holder| holder.reserves.as_deref()) {
            if !uuid.is_empty() && !uuids.insert(uuid) {
                found.push(format!("GPU {uuid} of {node} is reserved twice after {cause}"));
            }
        }
        let none = vec![0; RESOURCES.len()];
        let allocatable = self.allocatable_milli.get(node).unwrap_or(&none);
        for (index, resource) in RESOURCES.iter().enumerate() {
            let mut sum: i128 = holders.iter().map(|holder| holder.amounts_milli[index]).sum();
            if *resource == "nvidia.com/gpu" {
                // One that a reservation pod holds is among what that pod asks for.
                let open = devices.keys().filter(|device| !reserved.contains(*device));
                sum += 1000 * i128::try_from(open.count()).unwrap_or(i128::MAX);
            }
            if sum > allocatable[index] {
                let most = allocatable[index];
                found.push(format!("{node} holds {sum}/{most} milli of {resource} after {cause}"));
            }
        }
        self.findings.extend(found);
    }

    /// Groups with some, but fewer than `minimum(group)` of their live pods bound.
    pub fn partial_gangs(&self, minimum: impl Fn(&str) -> usize) -> Vec<String> {
        let mut bound: BTreeMap<&str, usize> = BTreeMap::new();
        for (uid, group) in &self.groups {
            *bound.entry(group).or_default() += usize::from(self.bound.contains_key(uid));
        }
        bound
            .into_iter()
            .filter(|(group, count)| *count > 0 && *count < minimum(group))
            .map(|(group, count)| format!("{group}: {count} of {} bound", minimum(group)))
            .collect()
    }
}

/// An observer at work.
#[derive(Debug)]
pub struct Observer {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Observed>,
}

impl Observer {
    /// Starts to watch; nodes that exist are known before the first pod is judged.
    pub async fn start(client: Client) -> Result<Self> {
        let mut observed = Observed::default();
        for node in Api::<Node>::all(client.clone()).list(&ListParams::default()).await? {
            observed.node(&node);
        }
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(watch(client, observed, stopped));
        Ok(Self { stop, task })
    }

    /// Stops and returns what was seen.
    pub async fn finish(self) -> Result<Observed> {
        // The task may have ended by itself; its result tells.
        let _ = self.stop.send(());
        Ok(self.task.await?)
    }
}

async fn watch(client: Client, mut seen: Observed, mut stop: oneshot::Receiver<()>) -> Observed {
    let all_pods = Api::<Pod>::all(client.clone());
    let nodes = watcher(Api::<Node>::all(client), watcher::Config::default());
    let pods = watcher(all_pods.clone(), watcher::Config::default());
    pin_mut!(nodes, pods);
    loop {
        tokio::select! {
            biased;
            event = nodes.next() => {
                if let Some(Ok(watcher::Event::Apply(node) | watcher::Event::InitApply(node))) = event {
                    seen.node(&node);
                }
            }
            event = pods.next() => match event {
                Some(Ok(watcher::Event::Apply(pod) | watcher::Event::InitApply(pod))) => seen.pod(&pod),
                Some(Ok(watcher::Event::Delete(pod))) => seen.pod_gone(&pod),
                // The watcher repairs itself; the next list shows what was missed.
                Some(Ok(watcher::Event::Init | watcher::Event::InitDone) | Err(_)) | None => {}
            },
            _ = &mut stop => break,
        }
    }
    // What the last watch events have not told yet.
    match all_pods.list(&ListParams::default()).await {
        Ok(list) => list.items.iter().for_each(|pod| seen.pod(pod)),
        Err(error) => seen.findings.push(format!("the last list of pods failed: {error}")),
    }
    seen
}

fn full_name(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any())
}

/// Works out what a pod holds; of a container that is resized, what its kubelet says it has.
fn holding(pod: &Pod, node: String) -> Holding {
    let statuses = pod.status.iter().flat_map(|status| &status.container_statuses).flatten();
    let given: BTreeMap<&str, _> = statuses
        .filter_map(|one| Some((one.name.as_str(), one.resources.as_ref()?.requests.as_ref()?)))
        .collect();
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let mut amounts_milli = vec![0; RESOURCES.len()];
    for container in containers {
        let resources = container.resources.as_ref();
        let requests = resources.and_then(|one| one.requests.as_ref());
        let requests = given.get(container.name.as_str()).copied().or(requests);
        let limits = resources.and_then(|one| one.limits.as_ref());
        for (index, name) in RESOURCES.iter().enumerate() {
            let amount =
                requests.and_then(|all| all.get(*name)).or(limits.and_then(|all| all.get(*name)));
            amounts_milli[index] += amount.map_or(0, milli);
        }
    }
    let devices = pod
        .labels()
        .iter()
        .filter(|(key, _)| *key == GPU_GROUP || key.starts_with(GPU_GROUPS))
        .map(
            |(key, value)| {
                if key == GPU_GROUP { value.clone() } else { key[GPU_GROUPS.len()..].to_owned() }
            },
        )
        .collect();
    let amount = |key| pod.annotations().get(key).map(|text| milli(&Quantity(text.clone())));
    let share = match (amount(GPU_FRACTION), amount(GPU_MEMORY)) {
        (None, Some(mib_milli)) => Share::Mib(mib_milli / 1000),
        (fraction, _) => Share::Milli(fraction.unwrap_or_default()),
    };
    let uuid = || pod.annotations().get(RESERVED).cloned().unwrap_or_default();
    let reserves = (pod.namespace().as_deref() == Some(RESERVATIONS)).then(uuid);
    Holding { node, amounts_milli, devices, share, reserves }
}

/// A quantity in thousandths, rounded up.
fn milli(quantity: &Quantity) -> i128 {
    kai_api::quantity::Quantity::parse(&quantity.0)
        .and_then(|amount| amount.milli())
        .map_or(0, i128::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<T: serde::de::DeserializeOwned>(yaml: &str) -> T {
        serde_saphyr::from_str(yaml).expect("the test writes an object")
    }

    fn pod(name: &str, node: &str, gpus: u32) -> Pod {
        object(&format!(
            "{{metadata: {{name: {name}, namespace: a, uid: {name}, annotations: {{pod-group-name: g}}}},\
              spec: {{nodeName: {node}, containers: [{{name: c, resources: {{limits: {{nvidia.com/gpu: \"{gpus}\"}}}}}}]}}}}"
        ))
    }

    fn seen() -> Observed {
        let mut seen = Observed::default();
        seen.node(&object(
            "{metadata: {name: n1}, status: {allocatable: {cpu: '1', memory: 1Gi, nvidia.com/gpu: '2'}}}",
        ));
        seen
    }

    #[test]
    fn an_overcommitted_node_is_found() {
        let mut seen = seen();
        seen.pod(&pod("p1", "n1", 2));
        assert_eq!(seen.findings, [""; 0]);
        seen.pod(&pod("p2", "n1", 1));
        assert_eq!(seen.findings, ["n1 holds 3000/2000 milli of nvidia.com/gpu after a/p2"]);
    }

    #[test]
    fn an_overcommitted_device_is_found() {
        let mut seen = seen();
        for name in ["p1", "p2"] {
            seen.pod(&object(&format!(
                "{{metadata: {{name: {name}, namespace: a, uid: {name}, labels: {{runai-gpu-group: d}},\
                  annotations: {{gpu-fraction: '0.6'}}}}, spec: {{nodeName: n1, containers: []}}}}"
            )));
        }
        assert_eq!(seen.findings, ["device d of n1 holds 1200/1000 after a/p2"]);
    }

    #[test]
    fn memory_counts_as_a_part_of_the_nodes_devices() {
        let mut seen = seen();
        seen.node(&object(
            "{metadata: {name: n2, labels: {nvidia.com/gpu.memory: '1000'}}, status: {allocatable: {nvidia.com/gpu: '1'}}}",
        ));
        for name in ["p1", "p2"] {
            seen.pod(&object(&format!(
                "{{metadata: {{name: {name}, namespace: a, uid: {name}, labels: {{runai-gpu-group: d}},\
                  annotations: {{gpu-memory: '501'}}}}, spec: {{nodeName: n2, containers: []}}}}"
            )));
        }
        assert_eq!(seen.findings, ["device d of n2 holds 1002/1000 after a/p2"]);
    }

    #[test]
    fn a_gang_in_part_and_a_second_bind_are_found() {
        let mut seen = seen();
        seen.pod(&pod("p1", "n1", 1));
        assert_eq!(seen.partial_gangs(|_| 2), ["a/g: 1 of 2 bound"]);
        assert_eq!(seen.partial_gangs(|_| 1), [""; 0]);
        seen.pod(&pod("p1", "n2", 1));
        assert_eq!(seen.findings[0], "a/p1 was bound to n1 and then to n2");
    }
}
