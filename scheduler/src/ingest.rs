//! Objects of the API become deltas of the engine. No clock, no I/O: the same objects in the same
//! order give the same deltas.
//!
//! ```text
//! bytes ─► slim struct (borrows) ─► facts (numbers, symbols) ─► Delta
//!              wire                    one file per kind
//! ```
//! A full list replaces what was known: what is not in it is told to be gone.

use std::collections::{BTreeMap, BTreeSet};

use kai_api::shard::SchedulingShardSpec;
use kai_engine::{Delta, GroupId, Lane, LaneKind, NodeId, PodId, QueueId, Timestamp};

use crate::{
    cel::{Answer, Question},
    names::{Names, Number, Presence},
    settings::Aligning,
    sharing::Told,
    usage::Usage,
};

mod budget;
mod devices;
mod group;
mod kind;
mod namespace;
mod node;
mod numa;
mod object;
mod pod;
mod priority;
mod queue;
mod request;
mod selector;
mod shard;
mod storage;
mod topology;

pub use kind::Kind;

/// What decides whose objects are ours; from the command line.
#[derive(Clone, Debug)]
pub struct Rules {
    /// `spec.schedulerName` of our pods.
    pub scheduler_name: String,
    /// Label of the node pool; empty: everything is ours.
    pub pool_key: String,
    /// The node pool; empty: objects without the label.
    pub pool_value: String,
    /// `app` label of reservation pods.
    pub reservation_app: String,
    /// Namespace of reservation pods.
    pub reservation_namespace: String,
    /// No pod may share a GPU.
    pub is_sharing_off: bool,
    /// Labels of CPU, GPU and MIG workers.
    pub worker_keys: [String; 3],
    /// Keep the queue tree.
    pub full_hierarchy: bool,
    /// A pod that terminates for longer gives nothing back; milliseconds.
    pub stuck_after: i64,
    /// Messages have the detailed form: they name every node.
    pub detailed: bool,
}

impl Rules {
    /// The rules of a command line.
    pub fn new(args: &crate::Args) -> Self {
        Self {
            scheduler_name: args.scheduler_name.clone(),
            pool_key: args.nodepool_label_key.clone(),
            pool_value: args.partition_label_value.clone(),
            reservation_app: args.resource_reservation_app_label.clone(),
            reservation_namespace: args.sharing.resource_reservation_namespace.clone(),
            is_sharing_off: args.sharing.plugins.is_sharing_off,
            worker_keys: [
                args.cpu_worker_node_label_key.clone(),
                args.gpu_worker_node_label_key.clone(),
                args.mig_worker_node_label_key.clone(),
            ],
            full_hierarchy: args.full_hierarchy_fairness,
            stuck_after: i64::try_from(args.stuck_in_releasing_threshold.as_millis())
                .unwrap_or(i64::MAX),
            detailed: args.detailed_fit_errors,
        }
    }

    /// The pool as messages name it.
    pub fn pool(&self) -> &str {
        if self.pool_value.is_empty() {
            kai_api::names::DEFAULT_NODE_POOL
        } else {
            &self.pool_value
        }
    }

    /// Whether an object with these labels belongs to our node pool.
    pub(crate) fn is_ours(&self, labels: &crate::server::wire::Pairs<'_>) -> bool {
        let value = labels.value(&self.pool_key);
        match (self.pool_key.is_empty(), self.pool_value.is_empty()) {
            (true, _) => true,
            (false, true) => value.is_none(),
            (false, false) => value == Some(&*self.pool_value),
        }
    }
}

/// Turns objects into deltas and keeps the names.
#[derive(Debug)]
pub struct Ingest {
    /// Names and numbers.
    pub names: Names,
    /// Deltas that were not taken yet.
    pub deltas: Vec<Delta>,
    /// Groups whose conditions or pods changed since they were taken.
    pub touched: Vec<u32>,
    /// What selectors have to be asked of which devices; the answers come to [`Ingest::answered`].
    pub questions: Vec<Question>,
    /// What was told of pods that have to do with shared GPUs, since it was taken.
    pub shared: Vec<Told>,
    /// Whose objects are ours.
    pub rules: Rules,
    generations: [u32; Kind::ALL.len()],
    /// Kinds whose objects have to be read again.
    pub resync: Vec<Kind>,
    /// The settings of our node pool by the name of the shard.
    pub shards: BTreeMap<String, SchedulingShardSpec>,
    /// They changed since they were looked at.
    pub shards_changed: bool,
    releasing: Vec<pod::Releasing>,
    /// Keys of pod labels that some pod affinity asks about.
    asked: BTreeSet<u32>,
    /// Devices and what selects them.
    catalog: devices::catalog::Catalog,
    /// Volumes and config maps, and who needs them.
    needs: storage::Needs,
    /// What queues used in the past, as it was read last.
    usage: Usage,
    /// NUMA zones of nodes.
    zones: numa::Zones,
    /// Labels of nodes that domains are named by.
    levels: topology::Levels,
    /// Labels of namespaces.
    namespaces: namespace::Namespaces,
    /// Budgets of disruptions.
    budgets: budget::Budgets,
    now: Timestamp,
}

impl Ingest {
    /// Nothing known yet.
    pub fn new(rules: Rules) -> Self {
        let mut names = Names::new();
        names.pool = Box::from(rules.pool());
        names.is_detailed = rules.detailed;
        let mut ingest = Self {
            names,
            deltas: Vec::new(),
            touched: Vec::new(),
            questions: Vec::new(),
            shared: Vec::new(),
            rules,
            generations: [0; Kind::ALL.len()],
            shards: BTreeMap::new(),
            shards_changed: false,
            releasing: Vec::new(),
            asked: BTreeSet::new(),
            catalog: devices::catalog::Catalog::default(),
            needs: storage::Needs::default(),
            usage: Usage::new(),
            zones: numa::Zones::default(),
            levels: topology::Levels::default(),
            namespaces: namespace::Namespaces::default(),
            budgets: budget::Budgets::default(),
            resync: Vec::new(),
            now: Timestamp(0),
        };
        if !ingest.rules.full_hierarchy {
            queue::flat_root(&mut ingest);
        }
        ingest
    }

    /// Sets the clock, and tells of pods that have been terminating for too long and of devices that were matched.
    pub fn advance(&mut self, now: Timestamp) {
        self.now = now;
        pod::stuck(self);
        devices::catalog::flush(self);
        storage::needs::flush(self);
    }

    /// Takes in what came of [`Ingest::questions`]; devices are told anew by [`Ingest::advance`].
    pub fn answered(&mut self, answers: Vec<Answer>) {
        self.catalog.answered(answers);
    }

    /// Aligns pods to NUMA zones from now on, or not.
    pub fn align(&mut self, wanted: Option<Aligning>) {
        numa::align(self, wanted);
    }

    /// Takes in what queues used in the past.
    pub fn used(&mut self, usage: Usage) {
        queue::used(self, usage);
    }

    /// Leaves a group out, or lets it back in; news of its object change nothing about it.
    pub fn pause(&mut self, group: u32, is_paused: bool) {
        group::pause(self, group, is_paused);
    }

    /// A full list begins.
    pub fn begin(&mut self, kind: Kind) {
        self.generations[kind.index()] += 1;
        if kind == Kind::PriorityClass {
            self.names.priorities.listed.clear();
        }
        if kind == Kind::Shard {
            self.shards.clear();
            self.shards_changed = true;
        }
    }

    /// A full list is complete: what was not in it is gone.
    pub fn end(&mut self, kind: Kind) {
        let generation = self.generations[kind.index()];
        let unseen = |presence: &Presence| presence.is_there && presence.generation != generation;
        match kind {
            Kind::Node => {
                let rows = self.names.nodes.iter();
                for row in numbers(rows.filter(|(_, row)| unseen(&row.presence))) {
                    node::gone(self, row);
                }
            }
            Kind::Queue => {
                let rows = self.names.queues.iter();
                for row in numbers(rows.filter(|(_, row)| unseen(&row.presence))) {
                    queue::gone(self, row);
                }
            }
            Kind::Topology => {
                let rows = self.names.topologies.iter();
                for row in numbers(rows.filter(|(_, row)| unseen(&row.presence))) {
                    topology::gone(self, row);
                }
            }
            Kind::PodGroup => {
                let rows = self.names.groups.iter();
                for row in numbers(rows.filter(|(_, row)| unseen(&row.presence))) {
                    group::gone(self, row);
                }
            }
            Kind::Pod => {
                let rows = self.names.pods.iter();
                for row in numbers(rows.filter(|(_, row)| unseen(&row.presence))) {
                    pod::gone(self, row);
                }
            }
            Kind::PriorityClass => priority::end(self),
            Kind::Shard => {}
            Kind::PersistentVolumeClaim | Kind::PersistentVolume | Kind::StorageClass => {
                storage::volume::end(self, kind);
            }
            Kind::CsiDriver | Kind::CsiStorageCapacity => {
                storage::volume::capacity::end(self, kind)
            }
            Kind::Namespace => namespace::end(self),
            Kind::DisruptionBudget => budget::end(self),
            Kind::ConfigMap => {
                let maps = self.needs.config_maps.iter();
                let gone = maps.filter(|(_, seen)| **seen != generation);
                for name in gone.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
                    storage::needs::config_map_gone(self, &name);
                }
            }
            Kind::NodeResourceTopology => numa::end(self),
            Kind::ResourceClaim => {
                let rows = self.names.claims.iter();
                for row in numbers(rows.filter(|(_, row)| unseen(&row.presence))) {
                    devices::claim::gone(self, row);
                }
            }
            Kind::ResourceSlice => {
                let slices = self.catalog.slices.iter();
                let gone = slices.filter(|(_, slice)| slice.generation != generation);
                for name in gone.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
                    devices::slice::gone(self, &name);
                }
            }
            Kind::DeviceClass => {
                let classes = self.catalog.classes.iter();
                let gone = classes.filter(|(_, class)| class.generation != generation);
                for name in gone.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
                    devices::slice::class_gone(self, &name);
                }
            }
        }
    }

    /// An object is as given; its version comes back.
    ///
    /// # Errors
    /// The object is not what its kind says; nothing is told of it.
    pub fn applied(&mut self, kind: Kind, bytes: &[u8]) -> serde_json::Result<String> {
        let version = match kind {
            Kind::Node => node::applied(self, &serde_json::from_slice(bytes)?),
            Kind::Queue => queue::applied(self, &serde_json::from_slice(bytes)?),
            Kind::PriorityClass => priority::applied(self, &serde_json::from_slice(bytes)?),
            Kind::Topology => topology::applied(self, &serde_json::from_slice(bytes)?),
            Kind::Shard => shard::applied(self, serde_json::from_slice(bytes)?),
            Kind::PodGroup => group::applied(self, &serde_json::from_slice(bytes)?),
            Kind::ResourceClaim => devices::claim::applied(self, &serde_json::from_slice(bytes)?),
            Kind::ResourceSlice => devices::slice::applied(self, &serde_json::from_slice(bytes)?),
            Kind::DeviceClass => {
                devices::slice::class_applied(self, serde_json::from_slice(bytes)?)
            }
            Kind::PersistentVolumeClaim => {
                storage::volume::claim_applied(self, &serde_json::from_slice(bytes)?)
            }
            Kind::PersistentVolume => {
                storage::volume::volume_applied(self, &serde_json::from_slice(bytes)?)
            }
            Kind::StorageClass => {
                storage::volume::class_applied(self, &serde_json::from_slice(bytes)?)
            }
            Kind::CsiDriver => {
                storage::volume::capacity::driver_applied(self, &serde_json::from_slice(bytes)?)
            }
            Kind::CsiStorageCapacity => {
                storage::volume::capacity::applied(self, &serde_json::from_slice(bytes)?)
            }
            Kind::ConfigMap => {
                let Named { metadata } = serde_json::from_slice::<Named<'_>>(bytes)?;
                storage::needs::config_map_applied(self, &metadata)
            }
            Kind::NodeResourceTopology => numa::applied(self, &serde_json::from_slice(bytes)?),
            Kind::Namespace => {
                let Named { metadata } = serde_json::from_slice::<Named<'_>>(bytes)?;
                namespace::applied(self, &metadata)
            }
            Kind::DisruptionBudget => budget::applied(self, &serde_json::from_slice(bytes)?),
            Kind::Pod => pod::applied(self, &serde_json::from_slice(bytes)?),
        };
        Ok(version)
    }

    /// An object is gone; the version of that comes back.
    ///
    /// # Errors
    /// The object is not what its kind says.
    pub fn deleted(&mut self, kind: Kind, bytes: &[u8]) -> serde_json::Result<String> {
        let Named { metadata } = serde_json::from_slice::<Named<'_>>(bytes)?;
        match kind {
            Kind::Node => {
                if let Some(row) = self.names.nodes.find(&metadata.name) {
                    node::gone(self, row);
                }
            }
            Kind::Queue => {
                if let Some(row) = self.names.queues.find(&metadata.name) {
                    queue::gone(self, row);
                }
            }
            Kind::Topology => {
                if let Some(row) = self.names.topologies.find(&metadata.name) {
                    topology::gone(self, row);
                }
            }
            Kind::PodGroup => {
                let row = self.names.group(&metadata.namespace, &metadata.name).number();
                group::gone(self, row);
            }
            Kind::Pod => {
                if let Some(row) = self.names.pods.find(&metadata.uid) {
                    pod::gone(self, row);
                }
            }
            Kind::PriorityClass => priority::gone(self, &metadata.name),
            Kind::ResourceClaim => {
                let row = self.names.claim(&metadata.namespace, &metadata.name).number();
                devices::claim::gone(self, row);
            }
            Kind::ResourceSlice => devices::slice::gone(self, &metadata.name),
            Kind::DeviceClass => devices::slice::class_gone(self, &metadata.name),
            Kind::PersistentVolumeClaim => storage::volume::claim_gone(self, &metadata.key()),
            Kind::PersistentVolume => storage::volume::volume_gone(self, &metadata.name),
            Kind::StorageClass => storage::volume::class_gone(self, &metadata.name),
            Kind::CsiDriver => storage::volume::capacity::driver_gone(self, &metadata.name),
            Kind::CsiStorageCapacity => storage::volume::capacity::gone(self, &metadata.key()),
            Kind::ConfigMap => storage::needs::config_map_gone(self, &metadata.key()),
            Kind::NodeResourceTopology => numa::gone(self, &metadata.name),
            Kind::Namespace => namespace::gone(self, &metadata.name),
            Kind::DisruptionBudget => budget::gone(self, &metadata.key()),
            Kind::Shard => shard::gone(self, &metadata.name),
        }
        Ok(metadata.resource_version.to_string())
    }

    /// Whether an object with these labels belongs to our node pool.
    fn is_ours(&self, labels: &crate::server::wire::Pairs<'_>) -> bool {
        self.rules.is_ours(labels)
    }

    fn generation(&self, kind: Kind) -> u32 {
        self.generations[kind.index()]
    }

    /// The lane of a resource; the engine hears of a new one.
    fn lane(&mut self, name: &str) -> Lane {
        let (lane, kind): (Lane, Option<LaneKind>) = self.names.lane(name);
        self.deltas.extend(kind.map(|kind| Delta::Lane(lane, kind)));
        lane
    }

    /// The lane of a resource that a pod names; none where pods named so many already that no node has.
    fn pod_lane(&mut self, name: &str) -> Option<Lane> {
        self.names.counts(name).then(|| self.lane(name))
    }

    /// Marks a row as seen.
    fn seen(&self, kind: Kind, presence: &mut Presence) {
        presence.is_there = true;
        presence.generation = self.generation(kind);
    }
}

/// An object of which only the metadata matters.
#[derive(serde::Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    metadata: crate::server::wire::Meta<'a>,
}

/// One reference less to a node; its row goes with the last where the node is gone.
fn let_go_of_node(ingest: &mut Ingest, node: u32) {
    let presence = &mut ingest.names.nodes[node].presence;
    presence.references -= 1;
    if presence.references == 0 && !presence.is_there {
        ingest.names.nodes.remove(node);
    }
}

fn numbers<'a, R: 'a>(rows: impl Iterator<Item = (u32, &'a R)>) -> Vec<u32> {
    rows.map(|(number, _)| number).collect()
}

/// Milliseconds of an API timestamp, the epoch where there is none.
fn moment(text: Option<&crate::server::wire::Text<'_>>) -> Timestamp {
    Timestamp(text.and_then(|text| crate::server::wire::milliseconds(text)).unwrap_or(0))
}
