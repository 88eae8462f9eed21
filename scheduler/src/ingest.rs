//! Objects of the API become deltas of the engine. No clock, no I/O: the same objects in the same
//! order give the same deltas.
//!
//! ```text
//! bytes ─► slim struct (borrows) ─► facts (numbers, symbols) ─► Delta
//!              wire                    one file per kind
//! ```
//! A full list replaces what was known: what is not in it is told to be gone.

use kai_engine::{Delta, GpuRequest, GroupId, NodeId, Pod, PodId, QueueId, Timestamp};

use crate::{cel::Answer, settings::Aligning, usage::Usage};

#[macro_use]
mod kind;

mod budget;
mod context;
mod devices;
mod group;
mod levels;
mod namespace;
mod node;
mod numa;
mod object;
mod pod;
mod priority;
mod queue;
mod request;
mod rules;
mod selector;
mod shard;
mod spread;
mod storage;
mod topology;
pub(crate) mod turns;
mod unread;

pub use context::Context;
pub use group::{GroupObject, Groups};
pub use kind::{Api, Selector};
pub use rules::Rules;
pub use shard::Shards;

use kind::{
    CORE, DEVICES, POD_GROUPS, POLICY, PRIORITIES, QUEUES, SHARDS, STORAGE, TOPOLOGIES, ZONES, row,
};
use object::Named;

/// So many pods whose labels matter since now are told in one go. All are told before anything is decided, and copies of all at
/// once would take hundreds of megabytes.
const RELABELLED_MAX: usize = 1_000;

kinds! {
    Node => row("Node", CORE.of("nodes"), functions!(node by name))
        .array("nodes").of_pool().required(),
    Queue => row("Queue", QUEUES.of("queues"), index!(queues by name))
        .array("queues").of_pool().required(),
    PodGroup => row("PodGroup", POD_GROUPS.of("podgroups"), index!(groups by key))
        .array("podGroups").namespaced().of_pool().required(),
    PriorityClass => row("PriorityClass", PRIORITIES.of("priorityclasses"),
            index!(groups by name: apply_class, remove_class, end_classes))
        .array("priorityClasses").required(),
    Topology => row("Topology", TOPOLOGIES.of("topologies"), functions!(topology by name))
        .array("topologies"),
    Namespace => row("Namespace", CORE.of("namespaces"), index!(namespaces by name))
        .array("namespaces").metadata_only(),
    ConfigMap => row("ConfigMap", CORE.of("configmaps"),
            index!(needs by key: apply_config_map, alone remove_config_map, end_config_maps))
        .array("configMaps").namespaced().metadata_only(),
    PersistentVolume => row("PersistentVolume", CORE.of("persistentvolumes"),
            index!(needs by name: apply_volume, alone remove_volume, end_volumes))
        .array("persistentVolumes"),
    PersistentVolumeClaim => row("PersistentVolumeClaim", CORE.of("persistentvolumeclaims"),
            index!(needs by key: apply_claim, alone remove_claim, end_claims))
        .array("persistentVolumeClaims").namespaced(),
    StorageClass => row("StorageClass", STORAGE.of("storageclasses"),
            index!(needs by name: apply_class, alone remove_class, end_classes))
        .array("storageClasses"),
    CsiDriver => row("CSIDriver", STORAGE.of("csidrivers"),
            index!(needs by name: apply_driver, alone remove_driver, end_drivers))
        .array("csiDrivers").watched_if(|args| args.schedule_csi_storage),
    CsiStorageCapacity => row("CSIStorageCapacity", STORAGE.of("csistoragecapacities"),
            index!(needs by key: apply_capacity, alone remove_capacity, end_capacities))
        .array("csiStorageCapacities").namespaced().watched_if(|args| args.schedule_csi_storage),
    DeviceClass => row("DeviceClass", DEVICES.of("deviceclasses"),
            index!(catalog by name: apply_class, remove_class, end_classes))
        .array("deviceClasses"),
    ResourceSlice => row("ResourceSlice", DEVICES.of("resourceslices"),
            index!(catalog by name: apply_slice, remove_slice, end_slices))
        .array("resourceSlices"),
    ResourceClaim => row("ResourceClaim", DEVICES.of("resourceclaims"),
            index!(catalog by key: apply_claim, remove_claim, end_claims))
        .array("resourceClaims").namespaced(),
    NodeResourceTopology => row("NodeResourceTopology", ZONES.of("noderesourcetopologies"), index!(zones by name))
        .array("nodeResourceTopologies"),
    DisruptionBudget => row("PodDisruptionBudget", POLICY.of("poddisruptionbudgets"), index!(budgets by key))
        .array("podDisruptionBudgets").namespaced().required()
        .watched_if(|args| args.respect_disruption_budgets),
    // Pods that failed hold nothing.
    Pod => row("Pod", CORE.of("pods"), POD)
        .array("pods").namespaced().required().narrowed("&fieldSelector=status.phase%21%3DFailed"),
    Shard => row("SchedulingShard", SHARDS.of("schedulingshards"),
            index!(shards by name: apply, alone remove, end)),
}

/// Pods need what several other kinds keep.
const POD: kind::Hooks = kind::Hooks {
    apply: |ingest, bytes| Ok(pod::apply(ingest, &kind::decode(bytes)?)),
    remove: |ingest, meta| pod::remove(ingest, &meta.uid),
    end: pod::end,
};

/// Turns objects into deltas and keeps the names.
///
/// Each kind has an index of its own, which sees no other; pods alone need several.
#[derive(Debug)]
pub struct Ingest {
    /// Holds what all kinds share: names, rules, and what comes out.
    pub context: Context,
    /// The settings of our node pool.
    pub shards: Shards,
    queues: queue::Queues,
    /// Holds what the objects of groups say.
    pub groups: Groups,
    /// Pods that terminate.
    releasing: pod::releasing::ReleasingPods,
    /// Devices and what selects them.
    catalog: devices::catalog::Catalog,
    /// Volumes and config maps, and who needs them.
    needs: storage::Needs,
    /// NUMA zones of nodes.
    zones: numa::Zones,
    /// Labels of namespaces.
    namespaces: namespace::Namespaces,
    /// Selectors of topology spread.
    spreads: spread::Spreads,
    /// Budgets of disruptions.
    budgets: budget::Budgets,
}

impl Ingest {
    /// Nothing known yet.
    pub fn new(rules: Rules) -> Self {
        let mut context = Context::new(rules);
        if !context.rules.full_hierarchy {
            queue::flat_root(&mut context);
        }
        Self {
            context,
            shards: Shards::default(),
            queues: queue::Queues::default(),
            groups: Groups::default(),
            releasing: pod::releasing::ReleasingPods::default(),
            catalog: devices::catalog::Catalog::default(),
            needs: storage::Needs::default(),
            zones: numa::Zones::default(),
            namespaces: namespace::Namespaces::default(),
            spreads: spread::Spreads::default(),
            budgets: budget::Budgets::default(),
        }
    }

    /// Sets the clock, and tells of devices that were matched.
    pub fn advance(&mut self, now: Timestamp) {
        self.context.now = now;
        self.catalog.judge_again(&mut self.context);
        self.catalog.flush(&mut self.context);
    }

    /// Tells anew of pods that refer to something which came, changed or went, have a label that matters since now,
    /// terminate and count otherwise since now, or have constraints of topology spread for which there is room since now.
    ///
    /// `told` gives the facts of a pod as they were told last, for nothing is kept of them here. Whoever answers must have
    /// taken all of [`Context::deltas`] before: facts from before one of them would take it back.
    pub fn tell_again(&mut self, told: &dyn Fn(PodId) -> Option<Pod>) {
        self.tell_as_far(told, None);
    }

    /// Does what [`Ingest::tell_again`] does, but tells of no more pods that refer to something than take some 10 ms. Where
    /// [`Ingest::has_late`] says so there are more, which come first in the next round.
    pub fn tell_some_again(&mut self, told: &dyn Fn(PodId) -> Option<Pod>) {
        self.tell_as_far(told, Some(storage::needs::ROUND_MAX));
    }

    /// Tells anew of pods that have a label which matters since now, of a thousand at most, so that no more are copied at a time;
    /// says whether there are more, once [`Context::deltas`] are taken. What is left is told by [`Ingest::tell_again`].
    pub fn relabel(&mut self, told: &dyn Fn(PodId) -> Option<Pod>) -> bool {
        let anew = self.context.relabelled(told, RELABELLED_MAX).into_iter();
        let deltas = anew.map(|(pod, facts)| Delta::Pod(pod, Box::new(facts)));
        self.context.deltas.extend(deltas);
        self.context.has_unlabelled()
    }

    /// Has selectors of topology spread counted that are new, as many as a round takes; says whether others wait for their turn,
    /// once [`Context::deltas`] are taken. Those of one round are counted by [`Ingest::tell_again`] as well.
    ///
    /// # Cost
    /// All rounds together look at the constraints of a pod twice at most, which is about what it took to read them: those without
    /// room find none because others are counted.
    pub fn take_turns(&mut self, told: &dyn Fn(PodId) -> Option<Pod>) -> bool {
        let anew = self.spreads.flush(&mut self.context, told).into_iter();
        let deltas = anew.map(|(pod, facts)| Delta::Pod(pod, Box::new(facts)));
        self.context.deltas.extend(deltas);
        self.spreads.next(self.context.now).is_some()
    }

    /// Tells whether pods are to be told anew in the next round for which there was no room in the last one.
    pub fn has_late(&self) -> bool {
        self.needs.has_late()
    }

    fn tell_as_far(&mut self, told: &dyn Fn(PodId) -> Option<Pod>, most: Option<usize>) {
        let mut anew = self.context.relabelled(told, usize::MAX);
        let now = |pod| anew.get(&pod).cloned().or_else(|| told(pod));
        let leaving = self.releasing.flush(&self.context, &now);
        anew.extend(leaving);
        let now = |pod| anew.get(&pod).cloned().or_else(|| told(pod));
        let admitted = self.spreads.flush(&mut self.context, &now);
        anew.extend(admitted);
        let now = |pod| anew.get(&pod).cloned().or_else(|| told(pod));
        let at = self.context.deltas.len();
        self.needs.flush(&mut self.context, &mut self.catalog, &now, most);
        // What pods refer to is filled in last, so that the rest goes before it. There may be many, which need not be copied.
        let deltas = anew.into_iter().map(|(pod, facts)| Delta::Pod(pod, Box::new(facts)));
        drop(self.context.deltas.splice(at..at, deltas));
    }

    /// Takes in what came of [`Context::questions`]; devices are told anew by [`Ingest::advance`].
    pub fn answered(&mut self, answers: Vec<Answer>) {
        self.catalog.answered(answers);
    }

    /// Aligns pods to NUMA zones from now on, or not.
    pub fn align(&mut self, wanted: Option<Aligning>) {
        self.zones.align(&mut self.context, wanted);
    }

    /// Takes in what queues used in the past.
    pub fn used(&mut self, usage: Usage) {
        self.queues.used(&mut self.context, usage);
    }

    /// Leaves a group out, or lets it back in; news of its object change nothing about it.
    pub fn pause(&mut self, group: u32, is_paused: bool) {
        self.groups.pause(&mut self.context, group, is_paused);
    }

    /// Notes that a plan gives a pod a place with the GPUs that it asks for: these are what it has, and its group stays on its
    /// account, until it is known that it did not get it.
    pub fn placed(&mut self, pod: u32, gpus: &GpuRequest) {
        if let Some(group) = self.context.names.pods[pod].group {
            self.groups.placed(group);
        }
        self.place(pod, Some(gpus));
    }

    /// Notes that a pod did not get the place that a plan gave it.
    pub fn not_placed(&mut self, pod: u32) {
        self.place(pod, None);
    }

    fn place(&mut self, pod: u32, gpus: Option<&GpuRequest>) {
        if let Some(group) = self.context.names.place(pod, gpus) {
            self.groups.left(&mut self.context, group);
        }
    }

    /// Says when something changes by time alone, or goes on though nothing changes.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.spreads.next(self.context.now).or_else(|| self.releasing.next())
    }

    /// Begins a full list.
    pub fn begin(&mut self, kind: Kind) {
        self.context.generations[kind.index()] += 1;
    }

    /// Ends a full list: what was not in it is gone.
    pub fn end(&mut self, kind: Kind) {
        kind.end(self);
        if matches!(kind, Kind::Pod | Kind::PodGroup) {
            self.groups.recall_starts(&mut self.context);
            self.groups.listed(&mut self.context, kind);
        }
    }

    /// Takes an object in as given, and gives its version.
    ///
    /// # Errors
    /// The object is not what its kind says; nothing is told of it, and what was told before stays.
    pub fn applied(&mut self, kind: Kind, bytes: &[u8]) -> serde_json::Result<String> {
        kind.apply(self, bytes).inspect_err(|_| self.unread(kind, bytes))
    }

    /// Takes a pod in that was decoded before.
    pub(crate) fn pod(&mut self, pod: &WirePod<'_>) {
        pod::apply(self, &pod.0);
    }

    /// Takes an object out, and gives the version of that.
    ///
    /// # Errors
    /// The object is not what its kind says.
    pub fn deleted(&mut self, kind: Kind, bytes: &[u8]) -> serde_json::Result<String> {
        let Named { metadata } = kind::decode::<Named<'_>>(bytes)?;
        kind.remove(self, &metadata);
        Ok(metadata.resource_version.to_string())
    }
}

/// A pod that is decoded before it is taken in, by another thread.
#[derive(Debug)]
pub(crate) struct WirePod<'a>(pod::Wire<'a>);

impl<'a> WirePod<'a> {
    /// Decodes a pod; none where it is not what a pod is.
    pub(crate) fn decode(json: &'a [u8]) -> Option<Self> {
        kind::decode(json).ok().map(Self)
    }
}

/// Milliseconds of an API timestamp, the epoch where there is none.
fn moment(text: Option<&crate::server::wire::Text<'_>>) -> Timestamp {
    Timestamp(text.and_then(|text| crate::server::wire::milliseconds(text)).unwrap_or(0))
}
