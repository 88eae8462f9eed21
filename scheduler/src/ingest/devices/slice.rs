//! `ResourceSlice` and `DeviceClass`, of `resource.k8s.io` v1, v1beta2 and v1beta1.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use kai_engine::Lane;
use serde::Deserialize;
use serde_json::Value;

use super::{
    catalog::{Catalog, Class, Site, Slice},
    device::{Attribute, Device},
    share::{WireCapacity, milli, qualified},
};
use crate::{
    ingest::{Context, Kind, moment, object::Object, selector::node_terms},
    names::{Number, ReachRow},
    server::wire::{Meta, Text, null_as_default},
};

pub(in crate::ingest) type Wire<'a> = Object<'a, Spec<'a>>;

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::ingest) struct Spec<'a> {
    #[serde(borrow)]
    driver: Text<'a>,
    #[serde(borrow)]
    pool: Pool<'a>,
    #[serde(borrow, flatten)]
    nodes: Whose<'a>,
    /// Each device says itself which nodes reach it.
    per_device_node_selection: Option<bool>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    devices: Vec<WireDevice<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    shared_counters: Vec<Amounts<'a>>,
}

/// Says which nodes reach devices: one of these.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Whose<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    node_name: Text<'a>,
    node_selector: Option<Value>,
    all_nodes: Option<bool>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Pool<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    generation: i64,
    resource_slice_count: usize,
}

/// Counters of a pool, or what a device draws from them.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Amounts<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    counter_set: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    counters: BTreeMap<Text<'a>, Counter<'a>>,
}

#[derive(Deserialize, Debug)]
struct Counter<'a> {
    #[serde(borrow)]
    value: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct WireDevice<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    /// v1beta1 keeps the rest one level lower.
    #[serde(borrow)]
    basic: Option<Properties<'a>>,
    #[serde(borrow, flatten)]
    own: Properties<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Properties<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    attributes: HashMap<Text<'a>, WireAttribute<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    capacity: HashMap<Text<'a>, WireCapacity<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    taints: Vec<WireTaint<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    consumes_counters: Vec<Amounts<'a>>,
    #[serde(borrow, flatten)]
    nodes: Whose<'a>,
    allow_multiple_allocations: Option<bool>,
    binds_to_node: Option<bool>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    binding_conditions: Vec<Text<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    binding_failure_conditions: Vec<Text<'a>>,
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

impl Catalog {
    /// Takes a slice in.
    pub(in crate::ingest) fn apply_slice(
        &mut self,
        context: &mut Context,
        wire: &Wire<'_>,
    ) -> String {
        let (meta, spec) = (&wire.metadata, &wire.spec);
        // A slice without devices names no node: nothing of it would hold the name.
        let mut of_all = None;
        let mut devices = Vec::with_capacity(spec.devices.len());
        for one in &spec.devices {
            let each = spec.per_device_node_selection == Some(true);
            let site = if each {
                one.properties().nodes.site(context)
            } else {
                *of_all.get_or_insert_with(|| spec.nodes.site(context))
            };
            // The API lets no device be without a site.
            devices.extend(site.map(|site| {
                let device = device(&spec.driver, one);
                let described = self.described(device.described(&spec.driver));
                (site, device, described)
            }));
        }
        let slice = Slice {
            driver: Box::from(&*spec.driver),
            pool: Box::from(&*spec.pool.name),
            pool_generation: spec.pool.generation,
            pool_slices: spec.pool.resource_slice_count,
            devices,
            counters: spec.shared_counters.iter().flat_map(|set| set.amounts(&set.name)).collect(),
            generation: context.generation(Kind::ResourceSlice),
        };
        for node in slice.nodes() {
            context.names.nodes[node].presence.references += 1;
        }
        self.remove_slice(context, &meta.name);
        self.put(&meta.name, slice);
        meta.resource_version.to_string()
    }

    /// Takes the slice of this name out.
    pub(in crate::ingest) fn remove_slice(&mut self, context: &mut Context, name: &str) {
        let Some(slice) = self.take(name) else { return };
        for node in slice.nodes() {
            context.let_go_of_node(node);
        }
    }

    /// Takes out the slices that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_slices(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::ResourceSlice);
        let unseen = self.slices.iter().filter(|(_, slice)| slice.generation != generation);
        for name in unseen.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.remove_slice(context, &name);
        }
    }

    /// Takes a device class in.
    pub(in crate::ingest) fn apply_class(
        &mut self,
        context: &mut Context,
        wire: &WireClass<'_>,
    ) -> String {
        let meta = &wire.metadata;
        let backs = wire.spec.extended_resource_name.clone().filter(|name| !name.is_empty());
        let backs = backs.map(|name| context.lane(&name));
        let implicit = context.lane(&format!("{IMPLICIT}{}", meta.name));
        let before = self.classes.get(&*meta.name);
        let class = Class {
            selectors: super::claim::expressions(&wire.spec.selectors),
            backs,
            serves: before.is_some_and(|before| before.backs == backs && before.serves),
            implicit,
            created: moment(meta.creation_timestamp.as_ref()),
            generation: context.generation(Kind::DeviceClass),
        };
        let name: Box<str> = Box::from(&*meta.name);
        context.names.backing.insert(implicit, name.clone());
        context.names.device_configs.insert(name.clone(), wire.spec.config.clone());
        let before = self.classes.insert(name.clone(), class);
        // Devices of it are GPUs, whatever the resource is called by which they are asked for.
        self.charge_resources(context, &name);
        let left =
            before.as_ref().and_then(|before| before.backs).filter(|lane| Some(*lane) != backs);
        let lanes = left.into_iter().chain(backs);
        let mut changed: BTreeSet<Box<str>> =
            lanes.flat_map(|lane| self.serve(context, lane)).collect();
        let now = &self.classes[&name];
        let decides = |class: &Class| (class.selectors.clone(), class.backs);
        if before.is_none_or(|before| decides(&before) != decides(now)) {
            changed.insert(name);
        }
        for name in changed {
            self.tell_class(context, &name);
        }
        meta.resource_version.to_string()
    }

    /// Has an extended resource served by the class that was made last, and of those made at one time by the first by name,
    /// as kube-scheduler does; gives the classes that serve it since or no longer. The rule is of KEP-5004.
    fn serve(&mut self, context: &mut Context, lane: Lane) -> Vec<Box<str>> {
        let of_lane = self.classes.iter().filter(|(_, class)| class.backs == Some(lane));
        let last = of_lane.max_by_key(|(name, class)| (class.created, Reverse(*name)));
        let serving = last.map(|(name, _)| name.clone());
        match &serving {
            Some(name) => context.names.backing.insert(lane, name.clone()),
            None => context.names.backing.remove(&lane),
        };
        let mut changed = Vec::new();
        let of_lane = self.classes.iter_mut().filter(|(_, class)| class.backs == Some(lane));
        for (name, class) in of_lane {
            let serves = serving.as_ref() == Some(name);
            if std::mem::replace(&mut class.serves, serves) != serves {
                changed.push(name.clone());
            }
        }
        changed
    }

    /// Takes out the device classes that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_classes(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::DeviceClass);
        let unseen = self.classes.iter().filter(|(_, class)| class.generation != generation);
        for name in unseen.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.remove_class(context, &name);
        }
    }

    /// Takes the device class of this name out.
    pub(in crate::ingest) fn remove_class(&mut self, context: &mut Context, name: &str) {
        context.names.device_configs.remove(name);
        if let Some(class) = self.classes.remove(name) {
            self.gpu_classes.remove(name);
            context.names.backing.remove(&class.implicit);
            self.tell_class(context, name);
            let heirs = class.backs.map(|lane| self.serve(context, lane)).unwrap_or_default();
            for heir in heirs {
                self.tell_class(context, &heir);
            }
        }
    }
}

impl Whose<'_> {
    fn site(&self, context: &mut Context) -> Option<Site> {
        if !self.node_name.is_empty() {
            return Some(Site::Node(context.names.node(&self.node_name).number()));
        }
        if self.all_nodes == Some(true) {
            return Some(Site::Reach(context.names.reaches.intern("")));
        }
        let selector = self.node_selector.as_ref()?;
        // Keys of a JSON object are in order, so that equal selectors are equal texts.
        let text = selector.to_string();
        let terms = serde_json::from_str(&text).ok();
        let terms = terms.map(|wire| node_terms(&mut context.names, &wire))?;
        let reach = context.names.reaches.intern(&text);
        context.names.reaches[reach] = ReachRow { selector: Some(selector.clone()), terms };
        Some(Site::Reach(reach))
    }
}

impl Amounts<'_> {
    /// The counters as `set/counter`, with their amounts.
    fn amounts<'s>(&'s self, set: &'s str) -> impl Iterator<Item = (Box<str>, i64)> {
        let name = move |counter: &Text<'_>| format!("{set}/{counter}").into_boxed_str();
        self.counters.iter().map(move |(counter, one)| (name(counter), milli(&one.value)))
    }
}

impl<'a> WireDevice<'a> {
    fn properties(&self) -> &Properties<'a> {
        self.basic.as_ref().unwrap_or(&self.own)
    }
}

/// Reads what of a device decides.
fn device(driver: &str, wire: &WireDevice<'_>) -> Device {
    let properties = wire.properties();
    let texts = |all: &[Text<'_>]| all.iter().map(|text| Box::from(&**text)).collect();
    let attributes = properties.attributes.iter();
    let capacity = properties.capacity.iter();
    let taints = properties.taints.iter();
    Device {
        name: Box::from(&*wire.name),
        attributes: attributes
            .filter_map(|(name, value)| Some((qualified(driver, name), attribute(value)?)))
            .collect(),
        capacity: capacity
            .map(|(name, capacity)| (qualified(driver, name), capacity.read(name)))
            .collect(),
        taints: taints
            .filter(|taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute"))
            .map(|taint| [&taint.key, &taint.value, &taint.effect].map(|text| Box::from(&**text)))
            .collect(),
        draws: properties
            .consumes_counters
            .iter()
            .flat_map(|set| set.amounts(&set.counter_set))
            .collect(),
        is_shared: properties.allow_multiple_allocations == Some(true),
        binds: properties.binds_to_node == Some(true),
        conditions: [
            texts(&properties.binding_conditions),
            texts(&properties.binding_failure_conditions),
        ],
    }
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
pub(in crate::ingest) struct WireClass<'a> {
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
