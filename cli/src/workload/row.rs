//! A workload as data: what `-o json` prints of it. Fields are only ever added.

use schemars::JsonSchema;
use serde::Serialize;

use super::Workload;
use super::devices::{Device, OnDevice};
use super::eta::Eta;
use super::history::Eviction;
use crate::cluster::json::text;
use crate::cluster::names;

/// A workload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    /// Name of the object that was submitted.
    pub(crate) name: String,
    /// Its namespace.
    pub(crate) namespace: String,
    /// Kind of the object, such as `PyTorchJob`.
    pub(crate) kind: String,
    /// API version of the object.
    pub(crate) api_version: String,
    /// UID of the object.
    pub(crate) uid: String,
    /// Queue that it waits or runs in.
    pub(crate) queue: String,
    /// Says who submitted it, where its label or annotation `user` says so.
    pub(crate) user: Option<String>,
    /// Waiting, Pending, Starting, Running, Degraded, Suspended, Deleting, Succeeded or Failed.
    pub(crate) status: String,
    /// A word for why, such as `NoCapacity`.
    pub(crate) reason: Option<String>,
    /// The sentence behind the word.
    pub(crate) message: Option<String>,
    /// Says who evicted it last, where it waits for that.
    pub(crate) evicted: Option<serde_json::Value>,
    /// Number of the reason, as `explain` takes it.
    pub(crate) code: Option<String>,
    /// Tells whether nothing that ends or is evicted lets it in.
    pub(crate) never: bool,
    /// Holds what the scheduler says of why it waits.
    pub(crate) explanation: Option<serde_json::Value>,
    /// Pods that run or have ended well.
    pub(crate) ready: usize,
    /// Pods that there should be.
    pub(crate) pods: usize,
    /// GPUs of its live pods as text, such as `8`, `0.5` or `1+8Gi`.
    pub(crate) gpu: String,
    /// The same in thousandths of devices.
    pub(crate) gpu_milli: u64,
    /// Holds what its live pods hold on nodes, in thousandths of devices.
    pub(crate) gpu_held_milli: u64,
    /// Its place in its queue while it waits; 1 is tried first.
    pub(crate) position: Option<usize>,
    /// When it starts, while it waits and where `--eta` asks.
    pub(crate) eta: Option<Eta>,
    /// Nodes that its pods are on.
    pub(crate) nodes: Vec<String>,
    /// Shared devices that its pods are on.
    pub(crate) devices: Vec<Device>,
    /// Names of its `PodGroup`s.
    pub(crate) pod_groups: Vec<String>,
    /// When it was created, as RFC 3339.
    pub(crate) created: Option<String>,
    /// Labels of the object.
    pub(crate) labels: serde_json::Map<String, serde_json::Value>,
}

impl Workload {
    /// The workload as data.
    pub(crate) fn to_row(&self) -> Row {
        let state = self.state();
        let (ready, pods) = self.ready();
        let gpus = self.gpus();
        let explanation = self.explanation.as_ref().filter(|_| state.phase.is_queued());
        let groups = self.groups.iter().map(|group| text(&group["metadata"]["name"]).to_owned());
        Row {
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            kind: self.resource.kind.clone(),
            api_version: self.resource.api_version(),
            uid: self.uid.clone(),
            queue: self.queue.clone(),
            user: self.user().map(str::to_owned),
            status: state.phase.word().to_owned(),
            reason: state.reason.clone(),
            message: state.message.clone(),
            evicted: self.eviction.as_ref().map(Eviction::to_json),
            code: state.code.clone(),
            never: state.never,
            explanation: explanation.and_then(|known| serde_json::to_value(known).ok()),
            ready,
            pods,
            gpu: gpus.to_string(),
            gpu_milli: gpus.milli,
            gpu_held_milli: self.gpus_held().milli,
            position: self.position.map(|position| position.place),
            eta: self.eta.clone(),
            nodes: self.nodes().into_iter().map(str::to_owned).collect(),
            devices: self.devices.iter().map(OnDevice::to_row).collect(),
            pod_groups: groups.collect(),
            created: self.created.map(|time| time.to_string()),
            labels: self.labels().cloned().unwrap_or_default(),
        }
    }

    /// Says who submitted it, by the label or the annotation `user`, as KAI has it.
    pub(crate) fn user(&self) -> Option<&str> {
        let objects = self.object.iter().chain(&self.pods).chain(&self.groups);
        let mut users = objects.flat_map(|object| {
            ["labels", "annotations"].map(|map| text(&object["metadata"][map][names::USER]))
        });
        users.find(|user| !user.is_empty())
    }
}
