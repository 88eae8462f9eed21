//! Nodes of a scenario.

use serde::{Deserialize, Serialize};

use crate::{
    amount::{Amount, Bytes, Cores, Count},
    entries::Entries,
    scenario::Devices,
};

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// Whole GPUs it offers.
    pub gpus: u32,
    /// Number of GPUs that its label names; as many as it offers when left out.
    pub gpus_labelled: Option<u32>,
    /// Idle GPUs that may not be opened for sharing, since a reservation did not report.
    pub set_aside: u16,
    /// Memory of each GPU in MiB; 40960 when left out, 0 when unknown.
    pub gpu_memory_mib: u32,
    /// Cores; 64 when left out.
    pub cpu: Amount<Cores>,
    /// Memory; 512Gi when left out.
    pub memory: Amount<Bytes>,
    /// Number of pods that it holds; 110 when left out.
    pub pods: u32,
    /// Further resources by name.
    pub resources: Entries<Amount<Count>>,
    /// Labels.
    pub labels: Entries<String>,
    /// Taints as `key=value:Effect`.
    pub taints: Vec<String>,
    /// True if it is healthy.
    pub ready: bool,
    /// True if it is cordoned.
    pub unschedulable: bool,
    /// `gpu`, `cpu` or both: which work comes when nodes are restricted.
    pub worker: String,
    /// MIG instances, where GPUs are split.
    pub mig: Option<Mig>,
    /// Devices that resource slices publish, by class: `gpu: 4`; `gpu@root0: 2` gives them a value to be alike in;
    /// `gpu: { count: 2, draws: { slots: 1 }, capacity: { memory: 80 } }` says what they draw from counters, and what of
    /// them claims share.
    pub devices: Entries<Devices>,
    /// NUMA zones.
    pub zones: Option<Zones>,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            gpus: 0,
            gpus_labelled: None,
            set_aside: 0,
            gpu_memory_mib: 40_960,
            cpu: Amount::of(64_000),
            memory: Amount::of(512 << 30),
            pods: 110,
            resources: Entries::default(),
            labels: Entries::default(),
            taints: Vec::new(),
            ready: true,
            unschedulable: false,
            worker: String::new(),
            mig: None,
            devices: Entries::default(),
            zones: None,
        }
    }
}

/// Division of a node's GPUs into MIG instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mig {
    /// `mixed` or `single`; mixed when left out.
    pub strategy: Option<String>,
    /// Instances by resource name.
    pub instances: Entries<u32>,
}

/// The NUMA zones of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Zones {
    /// `none`, `best-effort`, `restricted` or `single-numa-node`; the last when left out.
    pub policy: Option<String>,
    /// `container` or `pod`; container when left out.
    pub scope: Option<String>,
    /// Cores of each zone.
    pub cpu: Vec<Amount<Cores>>,
    /// GPUs of each zone.
    pub gpus: Vec<u32>,
}
