//! Says which shared devices pods are on. Pure, but for what `read` reads.
//!
//! ```text
//!  label runai-gpu-group of a pod ─► reservation pod of that group on its node ─► annotation with the device's UUID
//!                                 └► else the pod's own config map ─► NVIDIA_VISIBLE_DEVICES
//! ```
//!
//! Which devices a pod with whole GPUs has only its node knows.

mod read;

use std::collections::BTreeMap;

use kai_api::names::{annotation, env, label, namespace, value};
use kai_api::shared_gpu::{self, Target};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::workload::{is_bound, is_over};
pub(crate) use read::{Depth, find, own_maps};

/// A device that a pod shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnDevice {
    pub(crate) pod: String,
    pub(crate) node: String,
    /// Holds what its sharers carry as a label; none where that is not known for this device of several.
    pub(crate) group: Option<String>,
    pub(crate) uuid: Result<String, Unnamed>,
    /// Of this device: `0.5`, `8Gi`.
    pub(crate) share: String,
    /// Says who else is on it, as `namespace/pod share`.
    pub(crate) beside: Vec<String>,
    /// Tells whether everybody who could be beside it was seen.
    pub(crate) is_beside_known: bool,
}

/// Says why the device has no name here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// Neither reservation pods nor the pod's config maps may be read.
    Unreadable,
    /// The reservation pod has not written it yet.
    Unreported,
    /// The reservation pod has ended, with this reason.
    Failed(String),
    /// There is no reservation pod.
    Unreserved,
    /// The pod has no label of a group.
    Ungrouped,
}

impl Unnamed {
    /// As a remark: `device not readable`.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Unreadable => "device not readable".into(),
            Self::Unreported => "its reservation has not named the device yet".into(),
            Self::Failed(reason) => format!("its reservation failed ({reason})"),
            Self::Unreserved => "it has no reservation".into(),
            Self::Ungrouped => "no label names the device".into(),
        }
    }
}

impl OnDevice {
    /// The device's UUID, or why there is none.
    pub(crate) fn name(&self) -> String {
        self.uuid.as_ref().map_or_else(Unnamed::text, String::clone)
    }

    /// The device and where it is, as a sentence goes on: `GPU-1a2b on node-1`.
    pub(crate) fn place(&self) -> String {
        match &self.uuid {
            Ok(uuid) => format!("{uuid} on {}", self.node),
            Err(why) => format!("a GPU on {}, {}", self.node, why.text()),
        }
    }

    /// The device as data.
    pub(crate) fn to_row(&self) -> Device {
        Device {
            pod: self.pod.clone(),
            node: self.node.clone(),
            uuid: self.uuid.as_ref().ok().cloned(),
            group: self.group.clone(),
            share: self.share.clone(),
            problem: self.uuid.as_ref().err().map(Unnamed::text),
        }
    }
}

/// A shared device that a pod is on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Device {
    /// Name of the pod.
    pub(crate) pod: String,
    /// Node of the device.
    pub(crate) node: String,
    /// UUID of the device; absent where it is not known.
    pub(crate) uuid: Option<String>,
    /// Holds what KAI calls the device: its GPU group.
    pub(crate) group: Option<String>,
    /// Holds what the pod has of it.
    pub(crate) share: String,
    /// Says why the UUID is not known.
    pub(crate) problem: Option<String>,
}

/// A pod that holds a device for its sharers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    /// The device, once the pod has found it.
    pub(crate) uuid: Option<String>,
    /// Says why it will not find it.
    pub(crate) failure: Option<String>,
}

/// Reservations by node and group.
pub(crate) type Reservations = BTreeMap<(String, String), Reservation>;

/// Tells whether the pod holds a device for others.
pub(crate) fn is_reservation(pod: &Value) -> bool {
    let meta = &pod["metadata"];
    text(&meta["namespace"]) == namespace::RESERVATION
        && text(&meta["labels"][label::APP]) == value::RESERVATION_APP
}

/// The reservations among pods; of two for a group, the one that has reported.
pub(crate) fn reservations<'p>(pods: impl IntoIterator<Item = &'p Value>) -> Reservations {
    let mut all = Reservations::new();
    for pod in pods.into_iter().filter(|pod| is_reservation(pod)) {
        let meta = &pod["metadata"];
        let uuid = text(&meta["annotations"][annotation::RESERVED_GPU]);
        let reason = text(&pod["status"]["reason"]);
        let found = Reservation {
            uuid: (!uuid.is_empty() && !is_over(pod)).then(|| uuid.to_owned()),
            failure: is_over(pod).then(|| {
                if reason.is_empty() { text(&pod["status"]["phase"]) } else { reason }.to_owned()
            }),
        };
        let key = (
            text(&pod["spec"]["nodeName"]).to_owned(),
            text(&meta["labels"][label::GPU_GROUP]).to_owned(),
        );
        let old = all.entry(key).or_insert_with(|| found.clone());
        if old.uuid.is_none() && (found.uuid.is_some() || found.failure.is_none()) {
            *old = found;
        }
    }
    all
}

/// The groups whose devices a pod is on: its only one, or one label each.
pub(crate) fn groups(pod: &Value) -> Vec<&str> {
    let labels = pod["metadata"]["labels"].as_object().into_iter().flatten();
    let mut groups: Vec<&str> = labels
        .filter(|(key, _)| *key == label::GPU_GROUP || key.starts_with(label::GPU_GROUP_PREFIX))
        .map(|(_, group)| text(group))
        .filter(|group| !group.is_empty())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Holds what was read to name devices.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// None where reservation pods may not be read.
    pub(crate) reservations: Option<Reservations>,
    /// The devices that pods' own config maps name, by namespace and name of the pod.
    pub(crate) own: BTreeMap<(String, String), Vec<String>>,
    /// Other pods of the same nodes.
    pub(crate) around: Vec<Value>,
    /// Tells whether those are all.
    pub(crate) is_complete: bool,
}

impl Seen {
    /// The device of a group on a node.
    pub(crate) fn uuid(&self, node: &str, group: &str) -> Result<String, Unnamed> {
        let reservations = self.reservations.as_ref().ok_or(Unnamed::Unreadable)?;
        let found = reservations.get(&(node.to_owned(), group.to_owned()));
        let reservation = found.ok_or(Unnamed::Unreserved)?;
        match (&reservation.uuid, &reservation.failure) {
            (Some(uuid), _) => Ok(uuid.clone()),
            (None, Some(reason)) => Err(Unnamed::Failed(reason.clone())),
            (None, None) => Err(Unnamed::Unreported),
        }
    }

    /// Says who else is on a device, with the share.
    fn beside(&self, pod: &Value, node: &str, group: &str) -> Vec<String> {
        let uid = &pod["metadata"]["uid"];
        let others = self.around.iter().filter(|other| {
            other["metadata"]["uid"] != *uid
                && text(&other["spec"]["nodeName"]) == node
                && !is_over(other)
                && !is_reservation(other)
                && groups(other).contains(&group)
        });
        others
            .map(|other| {
                let meta = &other["metadata"];
                let (namespace, name) = (text(&meta["namespace"]), text(&meta["name"]));
                format!("{namespace}/{name} {}", share(other))
            })
            .collect()
    }
}

/// The share of each device that a pod has, as a person reads it.
pub(crate) fn share(pod: &Value) -> String {
    match gpu::shared(pod) {
        Ok(Some(shared)) => gpu::share(shared.share),
        Ok(None) | Err(_) => "?".into(),
    }
}

/// The shared devices that a pod is on; none before it has a node, after it has ended, or where it shares none.
pub(crate) fn of_pod(pod: &Value, seen: &Seen) -> Vec<OnDevice> {
    let groups = groups(pod);
    let is_sharer = matches!(gpu::shared(pod), Ok(Some(_))) || !groups.is_empty();
    if !is_bound(pod) || is_over(pod) || is_reservation(pod) || !is_sharer {
        return Vec::new();
    }
    let meta = &pod["metadata"];
    let node = text(&pod["spec"]["nodeName"]);
    let own = seen.own.get(&(text(&meta["namespace"]).into(), text(&meta["name"]).into()));
    let own = own.map_or(&[][..], Vec::as_slice);
    let one = |group: Option<&str>, uuid: Result<String, Unnamed>| OnDevice {
        pod: text(&meta["name"]).into(),
        node: node.into(),
        group: group.map(str::to_owned),
        uuid,
        share: share(pod),
        beside: group.map(|group| seen.beside(pod, node, group)).unwrap_or_default(),
        is_beside_known: seen.is_complete && group.is_some(),
    };
    let named: Vec<_> = groups.iter().map(|group| seen.uuid(node, group)).collect();
    let is_named = named.iter().all(Result::is_ok);
    match (groups.as_slice(), own) {
        ([], []) => vec![one(None, Err(Unnamed::Ungrouped))],
        ([group], [uuid]) if !is_named => vec![one(Some(group), Ok(uuid.clone()))],
        // Which of several devices is which group's the config map does not say.
        (_, [_, ..]) if !is_named || groups.is_empty() => {
            own.iter().map(|uuid| one(None, Ok(uuid.clone()))).collect()
        }
        (groups, _) => {
            groups.iter().zip(named).map(|(group, uuid)| one(Some(group), uuid)).collect()
        }
    }
}

/// The config maps that name a pod's devices: one that its variables refer to, and one that it takes as a whole.
///
/// # Source
/// docs/contract.md 3.3 and 4.7.
pub(crate) fn config_maps(pod: &Value) -> Option<[String; 2]> {
    let prefix = pod["metadata"]["annotations"][annotation::SHARED_GPU_CONFIG_MAP].as_str();
    // Its user may have written a path, which would be read with the rights of whoever asks.
    let prefix = prefix.filter(|prefix| shared_gpu::is_map_prefix(prefix))?;
    let target = target(pod)?;
    Some([shared_gpu::capabilities_map(prefix, target), shared_gpu::variables_map(prefix, target)])
}

/// The devices that a config map names; those of the container device interface without their kind in front.
pub(crate) fn visible(config_map: &Value) -> Vec<String> {
    let devices = text(&config_map["data"][env::VISIBLE_DEVICES]).split(',');
    let devices = devices.map(|device| device.rsplit('=').next().unwrap_or(device).trim());
    devices.filter(|device| !matches!(*device, "" | "void" | "none")).map(str::to_owned).collect()
}

/// Tells whether nothing keeps the pod to its share of a device's memory: its container has neither the limit that HAMi-core
/// reads nor the one of MPS. The annotation `mps` alone limits nothing; where HAMi-core's limit could not be filled in, the
/// scheduler warns with an event.
pub(crate) fn is_memory_unlimited(pod: &Value) -> bool {
    let Ok(Some(_)) = gpu::shared(pod) else { return false };
    let container = target(pod).map(|target| {
        let list = if target.is_init { "initContainers" } else { "containers" };
        &pod["spec"][list][target.index]
    });
    let variables = container.and_then(|container| container["env"].as_array());
    let is_limit = |name: &str| matches!(name, env::CUDA_MEMORY_LIMIT | env::MPS_MEMORY_LIMIT);
    !variables.into_iter().flatten().any(|one| is_limit(text(&one["name"])))
}

fn target(pod: &Value) -> Option<Target> {
    let named = pod["metadata"]["annotations"][annotation::GPU_FRACTION_CONTAINER].as_str();
    let names = |list: &str| {
        let all = pod["spec"][list].as_array().into_iter().flatten();
        all.map(|container| text(&container["name"]))
    };
    shared_gpu::target(named, names("initContainers"), names("containers")).ok()
}

#[cfg(test)]
mod tests;
