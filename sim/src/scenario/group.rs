//! Pod groups of a scenario: a group is a set of pods, or of sets, with facts of its own on top.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};

use crate::{
    amount::{Amount, Bytes, Cores, Count, Parts, Span},
    entries::Entries,
};

/// Requests of one pod, and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// GPUs: a whole number, or a fraction of each device.
    pub gpus: Amount<Parts>,
    /// MiB of GPU memory on each device.
    pub gpu_memory_mib: u32,
    /// Number of devices that a fraction or memory is taken of; 1 when left out.
    pub devices: Option<u32>,
    /// MIG instances by resource name.
    pub mig: Entries<u32>,
    /// Cores; 1 when left out.
    pub cpu: Option<Amount<Cores>>,
    /// Memory; 1Gi when left out.
    pub memory: Option<Amount<Bytes>>,
    /// Cores of overhead, besides what it asks for; none when left out.
    pub overhead: Option<Amount<Cores>>,
    /// Further resources by name.
    pub resources: Entries<Amount<Count>>,
    /// `pending`, `gated`, `bound`, `running`, `releasing`, `lingering`, `stuck`, `succeeded` or `failed`; running when it is
    /// on a node.
    pub state: Option<String>,
    /// A place per pod.
    pub on: String,
    /// The node it was nominated to.
    pub nominated: Option<String>,
    /// True if it was put on its node past the scheduler.
    pub unplanned: bool,
    /// Labels.
    pub labels: Entries<String>,
    /// Labels its node must have; values separated by `|` are alternatives.
    pub selector: Entries<String>,
    /// Taints it bears: `key=value:Effect`, `key` alone for any value and effect.
    pub tolerations: Vec<String>,
    /// Pods it must be near.
    pub affinity: Vec<Affinity>,
    /// Pods it must be away from.
    pub anti_affinity: Vec<Affinity>,
    /// Pods it would rather be near.
    pub prefers: Vec<Wish>,
    /// Constraints on spreading pods like it.
    pub spread: Vec<Spread>,
    /// Host ports: `8080`, or `10.0.0.1:8080/UDP` where it is one of an address, or not of TCP.
    pub ports: Vec<String>,
    /// Volumes that are there, each with the labels of the nodes that it can be used from; values separated by `|` are
    /// alternatives.
    pub volumes: Vec<Entries<String>>,
    /// Volume claims that do not exist.
    pub missing: Vec<String>,
    /// Resource claims that it names.
    pub claims: Vec<String>,
    /// Requests of its claims from templates, one each: `gpu*2 + nic*1 alike`.
    pub templates: Vec<String>,
    /// True if its requests are its limits, so that NUMA zones count all of them.
    pub guaranteed: bool,
    /// The zone that each pod was seen on.
    pub zones: Vec<u16>,
    /// Higher ones go first inside the group.
    pub rank: Option<i32>,
}

/// Pods of another kind, near or far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Affinity {
    /// The node label whose values are the places.
    pub key: String,
    /// Labels of the pods.
    pub labels: Entries<String>,
}

/// Something that a pod would rather have: a node with labels, or pods near or far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wish {
    /// Weight; 1 when left out. Below zero it is to be avoided.
    pub weight: Option<i32>,
    /// Labels of the node; values separated by `|` are alternatives.
    pub node: Entries<String>,
    /// The node label whose values are the places, where pods matter.
    pub key: String,
    /// Labels of the pods.
    pub labels: Entries<String>,
}

/// A constraint of topology spread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spread {
    /// The node label whose values are the domains.
    pub key: String,
    /// Labels of the pods that count.
    pub labels: Entries<String>,
    /// By how many pods a domain may be ahead; 1 when left out.
    pub skew: Option<u32>,
    /// The fewest domains; 1 when left out.
    pub domains: Option<u32>,
    /// True if domains of nodes that the pod does not select count too.
    pub everywhere: bool,
    /// True if only nodes count whose taints the pod tolerates.
    pub tolerated: bool,
    /// True if it is only wished for.
    pub soft: bool,
}

/// Pods that are placed together, or sets of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Number of pods; 1 when left out.
    pub pods: Option<u32>,
    /// Number of pods that it needs; all when left out.
    pub min: Option<u32>,
    /// Number of its sets that it needs; all when left out.
    pub min_subgroups: Option<u32>,
    /// The topology that the levels are of; the only one when left out.
    pub topology: Option<String>,
    /// It must sit in one domain of this level.
    pub required: Option<String>,
    /// It should sit in one domain of this level.
    pub preferred: Option<String>,
    /// Sets that it consists of, instead of pods.
    pub subgroups: Entries<PodSet>,
    /// Pods that differ from the others, by name.
    pub members: Entries<PodSet>,
}

/// A subgroup: a set and what its pods are like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSet {
    /// The set.
    pub set: Set,
    /// Its pods.
    pub pod: Pod,
}

/// A pod group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its queue.
    pub queue: String,
    /// Its namespace; `default` when left out.
    pub namespace: Option<String>,
    /// Higher ones go first; 50 when left out.
    pub priority: Option<i32>,
    /// True if it may be evicted for others; when left out, below priority 100.
    pub preemptible: Option<bool>,
    /// Time since it was created.
    pub age: Option<Span>,
    /// Time since it started.
    pub started: Option<Span>,
    /// Time since pods of it were evicted last.
    pub evicted: Option<Span>,
    /// Time since it broke.
    pub stale: Option<Span>,
    /// Time for which it may stay broken.
    pub grace: Option<Span>,
    /// True if it is left out: a backoff whose condition stands.
    pub held: bool,
    /// True if its pods are another scheduler's.
    pub foreign: bool,
    /// True if its pods reserve shared GPUs: `on: node0/1` says which.
    pub reservation: bool,
    /// Time that it must wait before others may be evicted for it.
    pub delay: Option<Span>,
    /// The set at the top of its tree.
    pub set: Set,
    /// Kind of its pods.
    pub pod: Pod,
}

impl Pod {
    /// Takes the value of `key` if it is one of a pod's.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "gpus" => self.gpus = map.next_value()?,
            "gpu_memory_mib" => self.gpu_memory_mib = map.next_value()?,
            "devices" => self.devices = Some(map.next_value()?),
            "mig" => self.mig = map.next_value()?,
            "cpu" => self.cpu = Some(map.next_value()?),
            "memory" => self.memory = Some(map.next_value()?),
            "overhead" => self.overhead = Some(map.next_value()?),
            "resources" => self.resources = map.next_value()?,
            "state" => self.state = Some(map.next_value()?),
            "on" => self.on = map.next_value()?,
            "unplanned" => self.unplanned = map.next_value()?,
            "nominated" => self.nominated = Some(map.next_value()?),
            "labels" => self.labels = map.next_value()?,
            "selector" => self.selector = map.next_value()?,
            "tolerations" => self.tolerations = map.next_value()?,
            "affinity" => self.affinity = map.next_value()?,
            "anti_affinity" => self.anti_affinity = map.next_value()?,
            "prefers" => self.prefers = map.next_value()?,
            "spread" => self.spread = map.next_value()?,
            "ports" => self.ports = map.next_value()?,
            "volumes" => self.volumes = map.next_value()?,
            "missing" => self.missing = map.next_value()?,
            "claims" => self.claims = map.next_value()?,
            "templates" => self.templates = map.next_value()?,
            "guaranteed" => self.guaranteed = map.next_value()?,
            "zones" => self.zones = map.next_value()?,
            "rank" => self.rank = Some(map.next_value()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Set {
    /// Takes the value of `key` if it is one of a set's.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "pods" => self.pods = Some(map.next_value()?),
            "min" => self.min = Some(map.next_value()?),
            "min_subgroups" => self.min_subgroups = Some(map.next_value()?),
            "topology" => self.topology = Some(map.next_value()?),
            "required" => self.required = Some(map.next_value()?),
            "preferred" => self.preferred = Some(map.next_value()?),
            "subgroups" => self.subgroups = map.next_value()?,
            "members" => self.members = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Group {
    /// Takes the value of `key` if it is one of a group's own.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "queue" => self.queue = map.next_value()?,
            "namespace" => self.namespace = Some(map.next_value()?),
            "priority" => self.priority = Some(map.next_value()?),
            "preemptible" => self.preemptible = Some(map.next_value()?),
            "age" => self.age = Some(map.next_value()?),
            "started" => self.started = Some(map.next_value()?),
            "evicted" => self.evicted = Some(map.next_value()?),
            "stale" => self.stale = Some(map.next_value()?),
            "grace" => self.grace = Some(map.next_value()?),
            "held" => self.held = map.next_value()?,
            "foreign" => self.foreign = map.next_value()?,
            "reservation" => self.reservation = map.next_value()?,
            "delay" => self.delay = Some(map.next_value()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'de> Deserialize<'de> for PodSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PodSetVisitor;

        impl<'de> Visitor<'de> for PodSetVisitor {
            type Value = PodSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a subgroup")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PodSet, A::Error> {
                let mut read = PodSet::default();
                each_key(&mut map, |key, map| {
                    Ok(read.pod.take(key, map)? || read.set.take(key, map)?)
                })?;
                Ok(read)
            }
        }

        deserializer.deserialize_map(PodSetVisitor)
    }
}

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GroupVisitor;

        impl<'de> Visitor<'de> for GroupVisitor {
            type Value = Group;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pod group")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Group, A::Error> {
                let mut read = Group::default();
                each_key(&mut map, |key, map| {
                    Ok(read.take(key, map)?
                        || read.pod.take(key, map)?
                        || read.set.take(key, map)?)
                })?;
                Ok(read)
            }
        }

        deserializer.deserialize_map(GroupVisitor)
    }
}

/// Offers each key to `take`; refuses a key that is there twice or that `take` does not know.
fn each_key<'de, A: MapAccess<'de>>(
    map: &mut A,
    mut take: impl FnMut(&str, &mut A) -> Result<bool, A::Error>,
) -> Result<(), A::Error> {
    let mut seen = BTreeSet::new();
    while let Some(key) = map.next_key::<String>()? {
        if !take(&key, map)? {
            return Err(de::Error::custom(format!("`{key}` is no key here")));
        }
        if let Some(key) = seen.replace(key) {
            return Err(de::Error::custom(format!("`{key}` is there twice")));
        }
    }
    Ok(())
}
