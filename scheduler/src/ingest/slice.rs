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
    #[serde(borrow, deserialize_with = "null_as_default")]
    taints: Vec<WireTaint<'a>>,
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
    #[serde(borrow, deserialize_with = "null_as_default")]
    taints: Vec<WireTaint<'a>>,
    consumes_counters: Option<Vec<serde::de::IgnoredAny>>,
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
struct WireTaint<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow)]
    effect: Text<'a>,
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let (meta, spec) = (&wire.metadata, &wire.spec);
    let version = meta.resource_version.to_string();
    if spec.node_name.is_empty() {
        if !spec.devices.is_empty() {
            tracing::warn!(slice = &*meta.name, "devices of several nodes are not given away");
        }
        gone(ingest, &meta.name);
        return version;
    }
    let parts = spec.devices.iter().filter(|device| device.is_part()).count();
    if parts > 0 {
        tracing::warn!(
            slice = &*meta.name,
            parts,
            "devices that consume shared counters are not given away"
        );
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

impl WireDevice<'_> {
    /// Whether it consumes counters that it shares with others.
    fn is_part(&self) -> bool {
        let basic = self.basic.as_ref().and_then(|basic| basic.consumes_counters.as_ref());
        let counters = basic.or(self.consumes_counters.as_ref());
        counters.is_some_and(|counters| !counters.is_empty())
    }
}

/// What of a device decides; none where it may not be given away.
fn device(driver: &str, wire: &WireDevice<'_>) -> Option<Device> {
    if wire.is_part() {
        return None;
    }
    let own = (&wire.attributes, &wire.capacity, &wire.taints);
    let (attributes, capacity, taints) = wire
        .basic
        .as_ref()
        .map_or(own, |basic| (&basic.attributes, &basic.capacity, &basic.taints));
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
        taints: taints
            .iter()
            .filter(|taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute"))
            .map(|taint| [&taint.key, &taint.value, &taint.effect].map(|text| Box::from(&**text)))
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

/// The extended resource of a class that names none, before its name.
const IMPLICIT: &str = "deviceclass.resource.kubernetes.io/";

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct ClassSpec {
    #[serde(deserialize_with = "null_as_default")]
    selectors: Vec<super::claim::WireSelector>,
    #[serde(deserialize_with = "null_as_default")]
    config: Vec<Value>,
    extended_resource_name: Option<String>,
}

pub(super) fn class_applied(ingest: &mut Ingest, wire: WireClass<'_>) -> String {
    let meta = &wire.metadata;
    let backs = wire.spec.extended_resource_name.filter(|name| !name.is_empty());
    let backs = backs.unwrap_or_else(|| format!("{IMPLICIT}{}", meta.name));
    let class = Class {
        selectors: super::claim::expressions(&wire.spec.selectors),
        backs: ingest.lane(&backs),
        generation: ingest.generation(Kind::DeviceClass),
    };
    let name: Box<str> = Box::from(&*meta.name);
    ingest.names.backing.retain(|_, backing| *backing != name);
    ingest.names.backing.insert(class.backs, name.clone());
    ingest.names.device_configs.insert(name.clone(), wire.spec.config);
    let before = ingest.catalog.classes.insert(name.clone(), class);
    let now = &ingest.catalog.classes[&name];
    let decides = |class: &Class| (class.selectors.clone(), class.backs);
    if before.is_none_or(|before| decides(&before) != decides(now)) {
        catalog::class_changed(ingest, &name);
    }
    meta.resource_version.to_string()
}

pub(super) fn class_gone(ingest: &mut Ingest, name: &str) {
    ingest.names.device_configs.remove(name);
    ingest.names.backing.retain(|_, backing| **backing != *name);
    if ingest.catalog.classes.remove(name).is_some() {
        catalog::class_changed(ingest, name);
    }
}
