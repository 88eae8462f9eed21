//! Describes what a pod is told of the GPUs that it shares: its labels, and the two config maps that its container reads.
//!
//! All are written at once, before the bind. Whatever a crash leaves of them means nothing while the pod has no node, and
//! is written anew by its next bind; both maps belong to the pod and go with it.
//!
//! # Source
//! docs/contract.md 4.5 (labels), 4.7 (config maps; one that is not the pod's own is not taken over).

use futures::future::join;
use kai_api::names::env;
use serde_json::{Map, Value, json};

use super::{Write, config_map::Owner};
use crate::{
    actuate::portion_text,
    names::{Maps, NOT_PREPARED},
};

/// Before a device's UUID, where devices are named as the Container Device Interface does.
pub(super) const CDI_PREFIX: &str = "k8s.device-plugin.nvidia.com/gpu=";

/// The shares of GPUs that a pod gets with its bind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShareGrant {
    /// The groups of its devices by number, in the order in which the pod is told of them.
    pub devices: Vec<u32>,
    /// The UUIDs of its devices, in the same order; empty until they are known.
    pub uuids: Vec<Box<str>>,
    /// The part of each in millionths.
    pub portion_micro: u32,
    /// The memory of each that is the pod's, in MiB, where it is held to it.
    pub memory_mib: Option<u64>,
    /// Devices are named as the Container Device Interface does.
    pub has_cdi: bool,
    /// Says where the pod is told of them; none where admission has not prepared it.
    pub maps: Option<Maps>,
}

impl ShareGrant {
    /// The devices as the container is told them.
    fn visible_devices(&self) -> String {
        let prefix = if self.has_cdi { CDI_PREFIX } else { "" };
        let names: Vec<String> = self.uuids.iter().map(|uuid| format!("{prefix}{uuid}")).collect();
        names.join(",")
    }

    /// Says what both maps hold: the first and the second.
    fn data(&self, devices_by_key: bool) -> [Map<String, Value>; 2] {
        let portion = portion_text(self.portion_micro);
        let mut maps = [Map::new(), Map::new()];
        maps[0].insert(String::from(env::GPU_PORTION), json!(portion));
        maps[0].insert(String::from(env::NUM_OF_GPUS), json!(portion));
        if let Some(mib) = self.memory_mib {
            maps[0].insert(String::from(env::CUDA_MEMORY_LIMIT), json!(format!("{mib}m")));
        }
        let place = usize::from(!devices_by_key);
        maps[place].insert(String::from(env::VISIBLE_DEVICES), json!(self.visible_devices()));
        maps
    }

    /// Writes both config maps of a pod.
    ///
    /// # Errors
    /// Why one of them cannot be written.
    pub(super) async fn write_maps(&self, write: &Write, owner: Owner<'_>) -> Result<(), String> {
        let Some(maps) = &self.maps else { return Err(String::from(NOT_PREPARED)) };
        let [capabilities, variables] = self.data(maps.devices_by_key);
        let (capabilities_map, variables_map) = (maps.capabilities(), maps.variables());
        let written = join(
            owner.write(write, &capabilities_map, capabilities),
            owner.write(write, &variables_map, variables),
        );
        let (first, second) = written.await;
        first.and(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(uuids: &[&str], has_cdi: bool) -> ShareGrant {
        let uuids = uuids.iter().map(|uuid| Box::from(*uuid)).collect();
        ShareGrant {
            devices: vec![],
            uuids,
            portion_micro: 500_000,
            memory_mib: Some(40_000),
            has_cdi,
            maps: None,
        }
    }

    #[test]
    fn devices_are_named_in_order_and_where_the_container_looks() {
        let [capabilities, variables] = grant(&["GPU-b", "GPU-a"], false).data(true);
        let expect = json!({
            "GPU_PORTION": "0.50", "RUNAI_NUM_OF_GPUS": "0.50", "CUDA_DEVICE_MEMORY_LIMIT": "40000m",
            "NVIDIA_VISIBLE_DEVICES": "GPU-b,GPU-a",
        });
        assert_eq!(Value::from(capabilities), expect);
        assert!(variables.is_empty());
        let [_, variables] = grant(&["GPU-a"], true).data(false);
        let expect = json!({"NVIDIA_VISIBLE_DEVICES": "k8s.device-plugin.nvidia.com/gpu=GPU-a"});
        assert_eq!(Value::from(variables), expect);
    }
}
