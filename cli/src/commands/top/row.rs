//! A node with its devices as data: what `-o json` prints of it. Fields are only ever added.

use schemars::JsonSchema;
use serde::Serialize;

use super::nodes;

/// A node and its devices.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Node {
    /// Name of the node.
    #[serde(rename = "node")]
    name: String,
    /// The devices' product, as the node is labelled.
    product: Option<String>,
    /// Devices that pods can be given; absent where the node may not be read.
    usable: Option<u64>,
    /// Devices that it has had, and that its device plugin no longer offers.
    lost: u64,
    /// Holds what keeps pods off: cordoned, not ready, taints.
    marks: Vec<String>,
    /// Thousandths that are held of all its devices; absent where some are not known.
    held_milli: Option<u64>,
    /// Says how many of its devices nobody is on; absent where some are not known.
    free: Option<usize>,
    /// Its devices.
    devices: Vec<Device>,
    /// Its MIG devices by profile.
    mig: Vec<Slices>,
}

/// A device.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Device {
    /// Says how it is used.
    state: State,
    /// Its UUID, where that is known.
    uuid: Option<String>,
    /// Holds what KAI calls it while it is shared: its GPU group.
    group: Option<String>,
    /// Thousandths of it that are held; absent where that is not known.
    held_milli: Option<u64>,
    /// Says who holds it.
    holders: Vec<Holder>,
    /// Holds what is wrong with it, or why it has no name.
    problem: Option<String>,
}

/// Says how a device is used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum State {
    /// Parts of it.
    Shared,
    /// By one pod.
    Whole,
    /// By nobody.
    Free,
    /// By pods that may not be read, or not at all.
    Unknown,
}

/// A pod on a device.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Holder {
    /// Namespace of the pod.
    namespace: String,
    /// Name of the pod.
    pod: String,
    /// Holds what it has of the device, or how many MIG devices.
    share: String,
    /// The same in thousandths of the device; absent where memory of an unknown size is shared.
    milli: Option<u64>,
}

/// The MIG devices of a profile.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Slices {
    /// The profile, such as `1g.10gb`.
    profile: String,
    /// Says how many pods can be given; absent where the node may not be read.
    usable: Option<u64>,
    /// Says who holds them.
    holders: Vec<Holder>,
}

impl nodes::Node {
    /// The node as data.
    pub(super) fn to_row(&self) -> Node {
        let slices = self.slices.iter().map(|slices| Slices {
            profile: slices.profile.clone(),
            usable: slices.usable,
            holders: holders(&slices.holders),
        });
        Node {
            name: self.name.clone(),
            product: self.product.clone(),
            usable: self.usable,
            lost: self.lost,
            marks: self.marks.clone(),
            held_milli: self.held_milli,
            free: self.free,
            devices: self.devices.iter().map(device).collect(),
            mig: slices.collect(),
        }
    }
}

fn device(device: &nodes::Device) -> Device {
    Device {
        state: match device.state {
            nodes::State::Shared => State::Shared,
            nodes::State::Whole => State::Whole,
            nodes::State::Free => State::Free,
            nodes::State::Unknown => State::Unknown,
        },
        uuid: device.uuid.clone(),
        group: device.group.clone(),
        held_milli: device.held_milli(),
        holders: holders(&device.holders),
        problem: device.problem.clone(),
    }
}

fn holders(all: &[nodes::Holder]) -> Vec<Holder> {
    let holder = |one: &nodes::Holder| Holder {
        namespace: one.namespace.clone(),
        pod: one.pod.clone(),
        share: one.share.clone(),
        milli: one.milli,
    };
    all.iter().map(holder).collect()
}
