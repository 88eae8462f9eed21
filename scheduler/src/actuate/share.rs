//! What a pod is told of the GPUs that it shares: its labels, and the two config maps that its container reads.
//!
//! Labels come first and config maps after them, so that whatever a crash leaves is found by the labels, and taken away
//! or written anew by the next bind. Both maps belong to the pod and go with it.
//!
//! # Source
//! spec/contract.md 4.5 (labels), 4.7 (config maps), 4.8 (a map that is not the pod's own is not taken over).

use bytes::Bytes;
use futures::future::try_join;
use kai_api::{
    names::{annotation, env},
    shared_gpu::{self, capabilities_map, variables_map},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Write, config_map::Owner};
use crate::{
    sharing::portion_text,
    wire::{Meta, Text, null_as_default},
};

/// Before a device's UUID, where devices are named as the Container Device Interface does.
const CDI_PREFIX: &str = "k8s.device-plugin.nvidia.com/gpu=";

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
}

/// What is read of a pod to find its config maps.
#[derive(Deserialize)]
pub(super) struct Reading<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow)]
    spec: Spec<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    init_containers: Vec<Container<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    containers: Vec<Container<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Container<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    env: Vec<Variable<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Variable<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    value_from: Option<Value>,
}

/// The config maps of a pod, and where its container looks for the devices.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Maps {
    pub(super) capabilities: String,
    pub(super) variables: String,
    /// The container takes the devices from the first by their key, else all of the second.
    devices_by_key: bool,
}

impl Reading<'_> {
    /// The config maps of the pod.
    ///
    /// # Errors
    /// Admission has not prepared it: no container of it would see a device.
    pub(super) fn maps(&self) -> Result<Maps, String> {
        let annotations = &self.metadata.annotations;
        let Some(prefix) = annotations.value(annotation::SHARED_GPU_CONFIG_MAP) else {
            return Err(String::from(
                "the pod was created while the admission webhook for shared GPUs was off, and no container of it would \
                 see its device: delete it and create it again",
            ));
        };
        let named = annotations.value(annotation::GPU_FRACTION_CONTAINER);
        let init = self.spec.init_containers.iter().map(|container| &*container.name);
        let regular = self.spec.containers.iter().map(|container| &*container.name);
        let target = shared_gpu::target(named, init, regular).map_err(|error| error.to_string())?;
        let containers =
            if target.is_init { &self.spec.init_containers } else { &self.spec.containers };
        let mut variables = containers.get(target.index).into_iter().flat_map(|one| &one.env);
        let devices_by_key = variables.any(|variable| {
            let source = variable.value_from.as_ref();
            &*variable.name == env::VISIBLE_DEVICES
                && source.is_some_and(|source| source.get("configMapKeyRef").is_some())
        });
        Ok(Maps {
            capabilities: capabilities_map(prefix, target),
            variables: variables_map(prefix, target),
            devices_by_key,
        })
    }
}

impl ShareGrant {
    /// The devices as the container is told them.
    fn visible_devices(&self) -> String {
        let prefix = if self.has_cdi { CDI_PREFIX } else { "" };
        let names: Vec<String> = self.uuids.iter().map(|uuid| format!("{prefix}{uuid}")).collect();
        names.join(",")
    }

    /// What both maps hold: the first and the second.
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

    /// Writes both config maps of a pod. `pod` is the pod as the API server has it.
    ///
    /// # Errors
    /// Why one of them cannot be written.
    pub(super) async fn write_maps(&self, write: &Write, pod: &Bytes) -> Result<(), String> {
        let reading: Reading<'_> = serde_json::from_slice(pod)
            .map_err(|error| format!("failed to read the pod: {error}"))?;
        let maps = reading.maps()?;
        let owner = Owner::of(&reading.metadata);
        let [capabilities, variables] = self.data(maps.devices_by_key);
        try_join(
            owner.write(write, &maps.capabilities, capabilities),
            owner.write(write, &maps.variables, variables),
        )
        .await
        .map(drop)
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

    fn check(pod: &str, expect: &str) {
        let pod: Value = serde_saphyr::from_str(pod).expect("a pod");
        let text = pod.to_string();
        let reading: Reading<'_> = serde_json::from_str(&text).expect("a pod");
        let told = match reading.maps() {
            Ok(maps) => {
                let place = if maps.devices_by_key { "first" } else { "second" };
                format!("{} {} {place}", maps.capabilities, maps.variables)
            }
            Err(reason) => reason,
        };
        assert!(told.contains(expect), "{told:?} lacks {expect:?}");
    }

    #[test]
    fn config_maps_are_those_of_the_container_that_gets_the_device() {
        let prefix = "runai/shared-gpu-configmap: p";
        let by_key = "{name: NVIDIA_VISIBLE_DEVICES, valueFrom: {configMapKeyRef: {name: p-0, key: NVIDIA_VISIBLE_DEVICES}}}";
        check(
            &format!(
                "{{metadata: {{annotations: {{{prefix}}}}}, spec: {{containers: [{{name: a, env: [{by_key}]}}]}}}}"
            ),
            "p-0 p-0-evar first",
        );
        check(
            &format!(
                "{{metadata: {{annotations: {{{prefix}, gpu-fraction-container-name: i}}}}, spec: {{initContainers: [{{name: x}}, {{name: i}}], containers: [{{name: a}}]}}}}"
            ),
            "p-i1 p-i1-evar second",
        );
        check("{metadata: {}, spec: {containers: [{name: a}]}}", "admission webhook");
    }
}
