//! Pods that are refused.

use kai_api::names::{CONFIG_NAME, annotation};
use kai_api::shared_gpu;
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
fn names_no_device(pod: &Value, old: Option<&Value>) -> Result<(), Denial> {
    let shared = container::target(pod).ok().filter(|_| is_fractional(pod));
    let before = |target| -> Option<Vec<&Value>> {
        let (_, container) = container::all(old?).find(|(other, _)| *other == target)?;
        Some(container::visible_devices(container).collect())
    };
    for (target, container) in container::all(pod).filter(|(target, _)| Some(*target) != shared) {
        let entries: Vec<&Value> = container::visible_devices(container).collect();
        if before(target).is_some_and(|before| before == entries) {
            continue;
        }
        for entry in entries {
            let found = entry["value"].as_str().unwrap_or_default();
            let is_referred = !entry["valueFrom"].is_null();
            if is_referred || !NO_DEVICE.contains(&found) {
                let what = if is_referred { "a reference" } else { found };
                return Err(Denial(format!(
                    "pod {}: container {:?} sets NVIDIA_VISIBLE_DEVICES to {:?}: only \"void\" and \"none\" are \
                     allowed; ask for GPUs with resources.limits or the annotation gpu-fraction",
                    name(pod),
                    container["name"].as_str().unwrap_or_default(),
                    what.chars().take(100).collect::<String>(),
                )));
            }
        }
    }
    Ok(())
}

/// Namespace and name as messages have them; of a pod without a name, its beginning.
fn name(pod: &Value) -> String {
    let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default();
    let name = if text("name").is_empty() { text("generateName") } else { text("name") };
    format!("{}/{name}", text("namespace"))
}
