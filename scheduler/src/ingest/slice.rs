//! `ResourceSlice` and `DeviceClass`, of `resource.k8s.io` v1, v1beta2 and v1beta1.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::{
    Ingest, Kind,
    catalog::{self, Class, Slice},
    selector::{Attribute, Device},
};
use crate::{
    names::Number,
    wire::{Meta, Text, null_as_default},
};

#[derive(Deserialize, Debug)]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Spec<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    driver: Text<'a>,
    #[serde(borrow)]
    pool: Pool<'a>,
    /// Slices for several nodes have none: their devices are not given away.
    #[serde(borrow, deserialize_with = "null_as_default")]
    node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    devices: Vec<WireDevice<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Pool<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    generation: i64,
    resource_slice_count: usize,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct WireDevice<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    /// v1beta1 keeps the rest one level lower.
    #[serde(borrow)]
    basic: Option<Properties<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    attributes: HashMap<Text<'a>, WireAttribute<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    capacity: HashMap<Text<'a>, Capacity<'a>>,
    #[serde(deserialize_with = "null_as_default")]
    taints: Vec<Taint>,
    /// A part of something larger: not given away, as nobody would count the whole.
    consumes_counters: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Properties<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    attributes: HashMap<Text<'a>, WireAttribute<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    capacity: HashMap<Text<'a>, Capacity<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct WireAttribute<'a> {
    bool: Option<bool>,
    int: Option<i64>,
    #[serde(borrow)]
    string: Option<Text<'a>>,
    #[serde(borrow)]
    version: Option<Text<'a>>,
}

#[derive(Deserialize, Debug)]
struct Capacity<'a> {
    #[serde(borrow)]
    value: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Taint {
    effect: String,
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let (meta, spec) = (&wire.metadata, &wire.spec);
    let version = meta.resource_version.to_string();
    if spec.node_name.is_empty() {
        gone(ingest, &meta.name);
        return version;
    }
    let node = ingest.names.node(&spec.node_name).number();
    ingest.names.nodes[node].presence.references += 1;
    let slice = Slice {
        node,
        driver: Box::from(&*spec.driver),
        pool: Box::from(&*spec.pool.name),
        pool_generation: spec.pool.generation,
        pool_slices: spec.pool.resource_slice_count,
        devices: spec.devices.iter().filter_map(|one| device(&spec.driver, one)).collect(),
        generation: ingest.generation(Kind::ResourceSlice),
    };
    gone(ingest, &meta.name);
    ingest.catalog.put(&meta.name, slice);
    version
}

pub(super) fn gone(ingest: &mut Ingest, name: &str) {
    let Some(node) = ingest.catalog.take(name) else { return };
    super::let_go_of_node(ingest, node);
}

/// What of a device decides; none where it may not be given away.
fn device(driver: &str, wire: &WireDevice<'_>) -> Option<Device> {
    let tainted =
        wire.taints.iter().any(|taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute"));
    let counted = wire.consumes_counters.as_ref().is_some_and(|counters| !counters.is_empty());
    if tainted || counted {
        return None;
    }
    let own = (&wire.attributes, &wire.capacity);
    let (attributes, capacity) =
        wire.basic.as_ref().map_or(own, |basic| (&basic.attributes, &basic.capacity));
    let key = |name: &str| {
        let (domain, name) = name.split_once('/').unwrap_or((driver, name));
        (Box::from(domain), Box::from(name))
    };
    Some(Device {
        name: Box::from(&*wire.name),
        attributes: attributes
            .iter()
            .filter_map(|(name, value)| Some((key(name), attribute(value)?)))
            .collect(),
        capacity: capacity
            .iter()
            .map(|(name, capacity)| (key(name), Box::from(&*capacity.value)))
            .collect(),
    })
}

fn attribute(wire: &WireAttribute<'_>) -> Option<Attribute> {
    let text = |text: &Text<'_>| Box::from(&**text);
    let bool = wire.bool.map(Attribute::Bool);
    let int = wire.int.map(Attribute::Int);
    let string = wire.string.as_ref().map(|one| Attribute::Text(text(one)));
    let version = wire.version.as_ref().map(|one| Attribute::Version(text(one)));
    bool.or(int).or(string).or(version)
}

#[derive(Deserialize, Debug)]
pub(super) struct WireClass<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(default)]
    spec: ClassSpec,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct ClassSpec {
    #[serde(deserialize_with = "null_as_default")]
    selectors: Vec<super::claim::WireSelector>,
    #[serde(deserialize_with = "null_as_default")]
    config: Vec<Value>,
}

pub(super) fn class_applied(ingest: &mut Ingest, wire: WireClass<'_>) -> String {
    let meta = &wire.metadata;
    let class = Class {
        selectors: super::claim::expressions(&wire.spec.selectors),
        generation: ingest.generation(Kind::DeviceClass),
    };
    let name: Box<str> = Box::from(&*meta.name);
    ingest.names.device_configs.insert(name.clone(), wire.spec.config);
    let before = ingest.catalog.classes.insert(name.clone(), class);
    let now = &ingest.catalog.classes[&name];
    if before.is_none_or(|before| before.selectors != now.selectors) {
        catalog::class_changed(ingest, &name);
    }
    meta.resource_version.to_string()
}

pub(super) fn class_gone(ingest: &mut Ingest, name: &str) {
    ingest.names.device_configs.remove(name);
    if ingest.catalog.classes.remove(name).is_some() {
        catalog::class_changed(ingest, name);
    }
}
