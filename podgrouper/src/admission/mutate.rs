//! Changes that admission writes into a pod.
//!
//! Each part does nothing where its work is done already, since the API server asks again after other webhooks.

use kai_api::names::{annotation, env};
use kai_api::shared_gpu::{Target, capabilities_map, variables_map};
use serde_json::{Map, Value, json};

use super::Denial;
use super::container::{self, is_fractional, of_pod};
use super::naming;
use super::settings::Settings;

/// Value that keeps a container from all devices.
const NO_DEVICE: &str = "void";

/// Writes into a pod what it needs to run with the GPUs that it asks for; `token` is seven random lower-case letters or
/// digits. A pod of another scheduler stays as it is, and of one that is there already (`old`) all but new ephemeral
/// containers.
///
/// # Errors
/// The container that is to get the device does not exist, or the names that the pod gives can't be used.
///
/// # Source
/// docs/contract.md 3.2 to 3.5, 3.10.
pub(super) fn mutate(
    pod: &mut Value,
    old: Option<&Value>,
    settings: &Settings,
    token: &str,
) -> Result<(), Denial> {
    if !is_ours(pod, settings) {
        return Ok(());
    }
    if let Some(old) = old {
        if settings.block_visible_devices {
            hide_from_ephemeral(pod, old);
        }
        return Ok(());
    }
    let mut shared = None;
    if is_fractional(pod) && container::all(pod).any(|(target, _)| !target.is_init) {
        shared = Some(share_gpus(pod, settings, token)?);
    }
    if settings.block_visible_devices {
        hide_devices(pod, shared);
    }
    if let Some(class) = settings.runtime_class.as_deref().filter(|_| is_fractional(pod)) {
        set_runtime_class(pod, class);
    }
    Ok(())
}

/// Tells whether a pod is one of this scheduler.
pub(super) fn is_ours(pod: &Value, settings: &Settings) -> bool {
    pod["spec"]["schedulerName"] == settings.scheduler.as_str()
}

/// Connects the container that gets the shared device with the config maps that the scheduler writes at the bind.
fn share_gpus(pod: &mut Value, settings: &Settings, token: &str) -> Result<Target, Denial> {
    let target = container::target(pod).map_err(|unknown| Denial(unknown.to_string()))?;
    let given = of_pod(pod, annotation::SHARED_GPU_CONFIG_MAP).map(str::to_owned);
    if let Some(prefix) = given.as_deref().filter(|prefix| !naming::is_prefix(prefix, target)) {
        return Err(Denial(format!(
            "annotation {}: {:?} is no name that admission gives: remove the annotation, it is set when the pod is \
             created",
            annotation::SHARED_GPU_CONFIG_MAP,
            prefix.chars().take(100).collect::<String>(),
        )));
    }
    let prefix = given.unwrap_or_else(|| naming::prefix(pod, target, token));
    annotate(pod, annotation::SHARED_GPU_CONFIG_MAP, &prefix);
    let (capabilities, variables) =
        (capabilities_map(&prefix, target), variables_map(&prefix, target));
    if let Some(container) = container::at(pod, target) {
        for name in [env::VISIBLE_DEVICES, env::NUM_OF_GPUS, env::GPU_PORTION] {
            let key = json!({"name": capabilities, "key": name});
            let entry = json!({"name": name, "valueFrom": {"configMapKeyRef": key}});
            container::set_variable(container, entry);
        }
        if settings.hamicore {
            let name = env::CUDA_MEMORY_LIMIT;
            let key = json!({"name": capabilities, "key": name, "optional": true});
            let entry = json!({"name": name, "valueFrom": {"configMapKeyRef": key}});
            container::set_variable(container, entry);
        }
        take_variables(container, &variables);
    }
    add_volume(pod, &capabilities);
    Ok(target)
}

fn annotate(pod: &mut Value, key: &str, text: &str) {
    let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let table = metadata.entry("annotations").or_insert(Value::Null);
    if table.is_null() {
        *table = json!({});
    }
    if let Some(table) = table.as_object_mut() {
        table.insert(key.to_owned(), json!(text));
    }
}

/// Has a container take all variables of a config map.
fn take_variables(container: &mut Map<String, Value>, config_map: &str) {
    if let Some(rows) = container::list(container, "envFrom")
        && !rows.iter().any(|row| row["configMapRef"]["name"] == config_map)
    {
        rows.push(json!({"configMapRef": {"name": config_map, "optional": false}}));
    }
}

/// Adds the volume of a config map, in the place of another volume of its name.
fn add_volume(pod: &mut Value, config_map: &str) {
    let name = naming::volume(config_map);
    let volume = json!({"name": name, "configMap": {"name": config_map}});
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let Some(rows) = container::list(spec, "volumes") else { return };
    match rows.iter_mut().find(|row| row["name"] == name.as_str()) {
        // The API server may have filled in what a volume leaves out.
        Some(row) if row["configMap"]["name"] == config_map => {}
        Some(row) => *row = volume,
        None => rows.push(volume),
    }
}

/// Keeps containers that were given no device from seeing the node's.
fn hide_devices(pod: &mut Value, shared: Option<Target>) {
    let without: Vec<Target> = container::all(pod)
        .filter(|(target, row)| Some(*target) != shared && !container::has_devices(row))
        .map(|(target, _)| target)
        .collect();
    for target in without {
        let Some(container) = container::at(pod, target) else { continue };
        let Some(rows) = container::list(container, "env") else { continue };
        let entry = json!({"name": env::VISIBLE_DEVICES, "value": NO_DEVICE});
        let mut is_there = false;
        // What is there is replaced whole: the API server refuses a value beside a reference.
        for row in rows.iter_mut().filter(|row| row["name"] == env::VISIBLE_DEVICES) {
            *row = entry.clone();
            is_there = true;
        }
        if !is_there {
            rows.push(entry);
        }
    }
}

/// Keeps new ephemeral containers from seeing the node's devices. Those that name some are left to be refused.
fn hide_from_ephemeral(pod: &mut Value, old: &Value) {
    for container in container::new_ephemeral_mut(pod, old) {
        let is_said = container::visible_devices(container).next().is_some();
        if let Some(container) = container.as_object_mut().filter(|_| !is_said) {
            let entry = json!({"name": env::VISIBLE_DEVICES, "value": NO_DEVICE});
            container::set_variable(container, entry);
        }
    }
}

fn set_runtime_class(pod: &mut Value, class: &str) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_set =
        spec.get("runtimeClassName").and_then(Value::as_str).is_some_and(|class| !class.is_empty());
    if !is_set {
        spec.insert("runtimeClassName".to_owned(), json!(class));
    }
}
