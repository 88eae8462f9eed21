//! Jobs of more kinds: gangs that may have fewer pods, that stay apart or together, and pods with volumes or network cards; and
//! queues that let work run for a while.

use std::collections::BTreeMap;

use anyhow::Result;
use kai_api::{
    names::annotation,
    topology::{Topology, TopologyLevel, TopologySpec},
};
use kai_sandbox::nodes::object::RACK_LABEL;
use kai_sim::generate::Seed;
use kube::{Api, Client, api::PostParams};
use serde_json::{Value, json};

use super::nics::{self, Nics};

/// Nodes of a rack.
pub(super) const RACK_NODES: u32 = 2;
/// An annotation of pods that have to be on nodes with one value of the label that it names.
pub(super) const TOGETHER: &str = "example.com/together";

/// The name of the topology.
const RACKS: &str = "racks";
/// The label of a node's own name.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// One Job in so many is of each kind.
const ELASTIC_IN: u64 = 3;
const VOLUME_IN: u64 = 4;
const APART_IN: u64 = 6;
const TOGETHER_IN: u64 = 4;
const PREFERRED_IN: u64 = 3;
/// One Job that shares GPUs in so many asks for memory of them.
const MEMORY_IN: u64 = 2;
/// A hundredth of the memory of each GPU, in MiB, as the scheduler counts it.
const HUNDREDTH_MIB: i64 = 815;

/// The size of a Job, and of the cluster.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) pods: u64,
    /// GPUs of each pod.
    pub(super) gpus: u64,
    /// Network cards of each pod.
    pub(super) nics: u64,
    pub(super) nodes: u64,
    pub(super) gpus_of_node: u64,
}

impl Size {
    /// Tells whether so many nodes have room for all of it.
    pub(super) fn fits(self, nodes: u64) -> bool {
        let of_node = [self.gpus_of_node.checked_div(self.gpus), nics::pods_of_node(self.nics)];
        let of_node = of_node.into_iter().flatten().min();
        of_node.is_none_or(|pods| self.pods <= pods * nodes)
    }
}

/// Makes the topology, and the templates of claims.
pub(super) async fn prepare(client: &Client) -> Result<()> {
    let levels = [RACK_LABEL, HOSTNAME];
    let levels = levels
        .map(|label| TopologyLevel { node_label: label.to_owned(), ..TopologyLevel::default() });
    let racks = Topology::new(RACKS, TopologySpec { levels: levels.into() });
    Api::all(client.clone()).create(&PostParams::default(), &racks).await?;
    nics::prepare(client).await
}

/// Lets work of some queues run for a while: of the second upper one others have to wait, of a leaf its own.
pub(super) fn let_run(queue: &mut Value, number: u32) {
    match number {
        1 => queue["reclaimMinRuntime"] = json!("3m"),
        2 => queue["preemptMinRuntime"] = json!("2m"),
        _ => {}
    }
}

/// Makes a Job one of more kinds; tells whether an empty cluster has room for it as far as these say.
pub(super) fn mix(job: &mut Value, draw: &mut Seed, size: Size) -> bool {
    if draw.one_in(ELASTIC_IN) {
        let least = 1 + draw.below(size.pods);
        job["metadata"]["annotations"]["kai.scheduler/batch-min-member"] = json!(least.to_string());
    }
    let name = job["metadata"]["name"].clone();
    let template = &mut job["spec"]["template"];
    let annotations = &mut template["metadata"]["annotations"];
    let share = annotations["gpu-fraction"].as_str().and_then(hundredths);
    if let Some(share) = share.filter(|_| draw.one_in(MEMORY_IN)) {
        annotations["gpu-memory"] = json!((share * HUNDREDTH_MIB).to_string());
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.remove("gpu-fraction");
        }
    }
    if draw.one_in(VOLUME_IN) {
        template["spec"]["volumes"] = json!([{"name": "scratch", "ephemeral": {"volumeClaimTemplate":
            {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]);
        template["spec"]["containers"][0]["volumeMounts"] =
            json!([{"name": "scratch", "mountPath": "/scratch"}]);
    }
    let (fits, size) = with_nics(nics::mix(template, &name, draw), size);
    if draw.one_in(APART_IN) {
        template["spec"]["affinity"]["podAntiAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": HOSTNAME,
            "labelSelector": {"matchLabels": {"batch.kubernetes.io/job-name": name}},
        }]});
        return fits && size.pods <= size.nodes;
    }
    if !draw.one_in(TOGETHER_IN) {
        return fits;
    }
    let (label, nodes) = *draw.pick(&[(RACK_LABEL, u64::from(RACK_NODES)), (HOSTNAME, 1)]);
    let is_preferred = draw.one_in(PREFERRED_IN);
    if !is_preferred {
        template["metadata"]["annotations"][TOGETHER] = json!(label);
    }
    let level =
        if is_preferred { annotation::TOPOLOGY_PREFERRED } else { annotation::TOPOLOGY_REQUIRED };
    let annotations = &mut job["metadata"]["annotations"];
    annotations[annotation::TOPOLOGY] = json!(RACKS);
    annotations[level] = json!(label);
    fits && (is_preferred || size.fits(nodes.min(size.nodes)))
}

/// Gives the size of a Job whose pods have network cards: those that share some have one node. Tells whether an empty cluster
/// has room for it.
fn with_nics(nics: Nics, size: Size) -> (bool, Size) {
    let size = match nics {
        Nics::None => return (true, size),
        Nics::Each(nics) => Size { nics, ..size },
        Nics::Together => Size { nodes: size.nodes.min(1), ..size },
    };
    (size.fits(size.nodes), size)
}

/// The number of GPUs that a pod shares, where it shares some.
pub(super) fn devices_of(annotations: &BTreeMap<String, String>) -> i64 {
    let devices = annotations.get(annotation::GPU_FRACTION_DEVICES);
    devices.and_then(|devices| devices.parse().ok()).unwrap_or(1)
}

/// Hundredths of each GPU that a pod shares.
pub(super) fn hundredths_of(annotations: &BTreeMap<String, String>) -> Option<i64> {
    let memory = annotations.get("gpu-memory").and_then(|mib| mib.parse::<i64>().ok());
    let share = annotations.get("gpu-fraction").and_then(|share| hundredths(share));
    memory.map(|mib| mib / HUNDREDTH_MIB).or(share)
}

/// Hundredths in a share such as `0.25` or `0.5`.
fn hundredths(share: &str) -> Option<i64> {
    let digits = share.strip_prefix("0.")?;
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        1 => Some(10 * number),
        2 => Some(number),
        _ => None,
    }
}
