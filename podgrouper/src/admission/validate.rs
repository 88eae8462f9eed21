//! Pods that are refused.

use std::collections::BTreeMap;

use kai_api::names::{CONFIG_NAME, annotation};
use kai_api::shared_gpu::{self, Target};
use serde_json::Value;

use super::Denial;
use super::container::{self, is_fractional, of_pod};
use super::settings::Settings;

/// Annotations by which a pod asks for shared GPUs.
const ASKED_BY: [&str; 5] = [
    annotation::GPU_FRACTION,
    annotation::GPU_MEMORY,
    annotation::GPU_FRACTION_DEVICES,
    annotation::GPU_FRACTION_CONTAINER,
    annotation::MPS,
];
/// Values by which a container renounces devices.
const NO_DEVICE: [&str; 3] = ["void", "none", ""];

/// Refuses a pod that asks for GPUs in a way that could not be given. A pod that is there already (`old`) is only looked
/// at where what it asks for changes, so that a switch that is turned does not hold up what runs.
///
/// # Errors
/// The first rule that the pod breaks.
///
/// # Source
/// docs/contract.md 3.5, 3.6.
pub(super) fn validate(
    pod: &Value,
    old: Option<&Value>,
    settings: &Settings,
) -> Result<(), Denial> {
    if pod["spec"]["schedulerName"] != settings.scheduler.as_str() {
        return Ok(());
    }
    if old.is_none_or(|old| asks_differently(pod, old)) {
        shares(pod, settings)?;
    }
    if settings.block_visible_devices {
        names_no_device(pod, old)?;
        ephemeral_names_no_device(pod, old)?;
    }
    Ok(())
}

fn shares(pod: &Value, settings: &Settings) -> Result<(), Denial> {
    if is_fractional(pod) && !settings.gpu_sharing {
        return Err(Denial(format!(
            "creating pod {} with GPU-sharing request while GPU sharing is disabled: an administrator switches it on \
             with admission.gpuSharing of Config {CONFIG_NAME} (kubectl patch configs.kai.scheduler {CONFIG_NAME} \
             --type=merge -p '{{\"spec\":{{\"admission\":{{\"gpuSharing\":true}}}}}}'); or ask for whole GPUs",
            name(pod),
        )));
    }
    let whole = container::has_whole_limit(pod);
    let asked = shared_gpu::read(|key| of_pod(pod, key), whole);
    asked.map(drop).map_err(|invalid| Denial(format!("pod {}: {invalid}", name(pod))))
}

fn asks_differently(pod: &Value, old: &Value) -> bool {
    let limits = |pod: &Value| -> Vec<(Value, Value)> {
        let row = |row: &Value| (row["name"].clone(), row["resources"]["limits"].clone());
        container::all(pod).map(|(_, container)| row(container)).collect()
    };
    ASKED_BY.iter().any(|key| of_pod(pod, key) != of_pod(old, key)) || limits(pod) != limits(old)
}

/// Refuses containers that name devices themselves; the one that gets the shared device does so by us.
///
/// # Cost
/// In the containers, each of which is found by its place: a pod may have ten thousands.
fn names_no_device(pod: &Value, old: Option<&Value>) -> Result<(), Denial> {
    let shared = container::target(pod).ok().filter(|_| is_fractional(pod));
    let place = |target: Target| (target.is_init, target.index);
    let before: BTreeMap<(bool, usize), &Value> = old
        .into_iter()
        .flat_map(container::all)
        .map(|(target, container)| (place(target), container))
        .collect();
    for (target, container) in container::all(pod).filter(|(target, _)| Some(*target) != shared) {
        let entries: Vec<&Value> = container::visible_devices(container).collect();
        let said = |before: &&Value| container::visible_devices(before).eq(entries.iter().copied());
        if before.get(&place(target)).is_some_and(said) {
            continue;
        }
        for entry in entries {
            if let Some(what) = named_device(entry) {
                return Err(Denial(format!(
                    "pod {}: container {:?} sets NVIDIA_VISIBLE_DEVICES to {what:?}: only \"void\" and \"none\" are \
                     allowed; ask for GPUs with resources.limits or the annotation gpu-fraction",
                    name(pod),
                    container["name"].as_str().unwrap_or_default(),
                )));
            }
        }
    }
    Ok(())
}

/// Refuses new ephemeral containers that do not renounce devices: they can ask for none, and one that says nothing has what
/// its image or a config map says.
fn ephemeral_names_no_device(pod: &Value, old: Option<&Value>) -> Result<(), Denial> {
    for container in container::new_ephemeral(pod, old) {
        let denied = |what: String| {
            Denial(format!(
                "pod {}: ephemeral container {:?} {what}: only \"void\" and \"none\" are allowed",
                name(pod),
                container["name"].as_str().unwrap_or_default(),
            ))
        };
        let entries: Vec<&Value> = container::visible_devices(container).collect();
        if entries.is_empty() {
            return Err(denied(String::from("does not set NVIDIA_VISIBLE_DEVICES")));
        }
        if let Some(what) = entries.into_iter().find_map(named_device) {
            return Err(denied(format!("sets NVIDIA_VISIBLE_DEVICES to {what:?}")));
        }
    }
    Ok(())
}

/// Returns what an entry says where it is not that there is no device, short enough for a message.
fn named_device(entry: &Value) -> Option<String> {
    if !entry["valueFrom"].is_null() {
        return Some(String::from("a reference"));
    }
    let found = entry["value"].as_str().unwrap_or_default();
    (!NO_DEVICE.contains(&found)).then(|| found.chars().take(100).collect())
}

/// Namespace and name as messages have them; of a pod without a name, its beginning.
fn name(pod: &Value) -> String {
    let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default();
    let name = if text("name").is_empty() { text("generateName") } else { text("name") };
    format!("{}/{name}", text("namespace"))
}
