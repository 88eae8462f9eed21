//! Containers of a pod as JSON, and what admission changes in them.
//!
//! The API server has checked the pod's shape before it asks; whatever has another shape all the same is left alone.

use std::collections::BTreeSet;

use kai_api::names::{annotation, env, resource};
use kai_api::quantity::Quantity;
use kai_api::shared_gpu::{self, Target, UnknownContainer};
use serde_json::{Map, Value, json};

/// Lists of containers: regular ones, init containers.
const LISTS: [&str; 2] = ["containers", "initContainers"];
/// The list of those that are added to a pod that runs, to look into it. They can ask for no devices.
const EPHEMERAL: &str = "ephemeralContainers";

/// Tells whether a pod asks for a share of GPUs: whatever the annotation says.
pub(super) fn is_fractional(pod: &Value) -> bool {
    [annotation::GPU_FRACTION, annotation::GPU_MEMORY].iter().any(|key| of_pod(pod, key).is_some())
}

/// An annotation of the pod.
pub(super) fn of_pod<'a>(pod: &'a Value, key: &str) -> Option<&'a str> {
    pod["metadata"]["annotations"][key].as_str()
}

/// Names of the containers of a list.
fn names<'a>(pod: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    let rows = pod["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().map(|container| container["name"].as_str().unwrap_or_default())
}

/// The container that gets the shared device.
pub(super) fn target(pod: &Value) -> Result<Target, UnknownContainer> {
    let named = of_pod(pod, annotation::GPU_FRACTION_CONTAINER);
    shared_gpu::target(named, names(pod, "initContainers"), names(pod, "containers"))
}

/// The container at a place.
pub(super) fn at(pod: &mut Value, target: Target) -> Option<&mut Map<String, Value>> {
    let list = LISTS[usize::from(target.is_init)];
    pod.get_mut("spec")?.get_mut(list)?.get_mut(target.index)?.as_object_mut()
}

/// All containers with their places, regular ones first.
pub(super) fn all(pod: &Value) -> impl Iterator<Item = (Target, &Value)> {
    LISTS.into_iter().enumerate().flat_map(|(kind, list)| {
        let rows = pod["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
        let place = move |index| Target { is_init: kind == 1, index };
        rows.iter().enumerate().map(move |(index, container)| (place(index), container))
    })
}

/// The ephemeral containers of a pod that were not there before (`old`): none that was can be changed.
pub(super) fn new_ephemeral<'a>(
    pod: &'a Value,
    old: Option<&'a Value>,
) -> impl Iterator<Item = &'a Value> {
    let known: BTreeSet<&str> = old.map(|old| names(old, EPHEMERAL).collect()).unwrap_or_default();
    let rows = pod["spec"][EPHEMERAL].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter(move |row| !known.contains(row["name"].as_str().unwrap_or_default()))
}

/// The same, to be changed.
pub(super) fn new_ephemeral_mut<'a>(
    pod: &'a mut Value,
    old: &'a Value,
) -> impl Iterator<Item = &'a mut Value> {
    let known: BTreeSet<&str> = names(old, EPHEMERAL).collect();
    let rows = pod.get_mut("spec").and_then(|spec| spec.get_mut(EPHEMERAL));
    let rows = rows.and_then(Value::as_array_mut).into_iter().flatten();
    rows.filter(move |row| !known.contains(row["name"].as_str().unwrap_or_default()))
}

/// The list below a key, made where it is absent; none where something else is there.
pub(super) fn list<'a>(
    object: &'a mut Map<String, Value>,
    key: &str,
) -> Option<&'a mut Vec<Value>> {
    let rows = object.entry(key).or_insert(Value::Null);
    if rows.is_null() {
        *rows = json!([]);
    }
    rows.as_array_mut()
}

/// Sets a variable of a container: it goes last and replaces all others of its name.
pub(super) fn set_variable(container: &mut Map<String, Value>, entry: Value) {
    if let Some(rows) = list(container, "env") {
        rows.retain(|row| row["name"] != entry["name"]);
        rows.push(entry);
    }
}

/// Tells whether some container has a limit of whole GPUs of the device plugin.
pub(super) fn has_whole_limit(pod: &Value) -> bool {
    all(pod).any(|(_, container)| {
        let limits = container["resources"]["limits"].as_object().into_iter().flatten();
        limits.into_iter().any(|(name, amount)| shared_gpu::is_whole_limit(name, read(amount)))
    })
}

/// Tells whether the device plugin gives devices to a container: whole ones or parts of the MIG kind.
pub(super) fn has_devices(container: &Value) -> bool {
    let resources = &container["resources"];
    // Requests of extended resources equal their limits, and may be left out.
    ["requests", "limits"].iter().any(|table| {
        let rows = resources[table].as_object().into_iter().flatten();
        rows.into_iter().any(|(name, amount)| {
            let is_device = name == resource::NVIDIA_GPU || name.starts_with(resource::MIG_PREFIX);
            is_device && read(amount).is_none_or(|amount| amount > Quantity::ZERO)
        })
    })
}

fn read(amount: &Value) -> Option<Quantity> {
    match amount {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The entries by which a container names devices itself.
pub(super) fn visible_devices(container: &Value) -> impl Iterator<Item = &Value> {
    let rows = container["env"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter(|row| row["name"] == env::VISIBLE_DEVICES)
}
