//! The arrays of `rawObjects`: which kind each holds, and where the API serves it. Source: docs/contract.md 8.3.

use crate::{Args, ingest::Kind};

/// One array of `rawObjects`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its key.
    pub key: &'static str,
    /// What it holds.
    pub of: Of,
    /// API group and versions that are understood, the best first; an empty group is the core.
    pub group: &'static str,
    /// The versions, the best first.
    pub versions: &'static [&'static str],
    /// The name in paths.
    pub plural: &'static str,
    /// Its objects lie in namespaces.
    pub is_namespaced: bool,
    /// Only objects of the shard's node pool belong into it.
    pub is_of_pool: bool,
    /// Only names and labels matter: the rest is not asked for, nor written.
    pub is_named_only: bool,
}

/// What an array holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Objects that the scheduler watches.
    Kind(Kind),
    /// Binds that KAI began.
    BindRequests,
}

impl Of {
    /// The kind as the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::BindRequests => "BindRequest",
        }
    }
}

const CORE: (&str, &[&str]) = ("", &["v1"]);
const STORAGE: (&str, &[&str]) = ("storage.k8s.io", &["v1"]);
const DEVICES: (&str, &[&str]) = ("resource.k8s.io", &["v1", "v1beta2", "v1beta1"]);

const fn row(
    key: &'static str,
    kind: Kind,
    (group, versions): (&'static str, &'static [&'static str]),
    plural: &'static str,
) -> Array {
    Array {
        key,
        of: Of::Kind(kind),
        group,
        versions,
        plural,
        is_namespaced: false,
        is_of_pool: false,
        is_named_only: false,
    }
}

impl Array {
    const fn namespaced(self) -> Self {
        Self { is_namespaced: true, ..self }
    }

    const fn of_pool(self) -> Self {
        Self { is_of_pool: true, ..self }
    }

    /// Whether a scheduler with this command line looks at such objects.
    pub fn is_wanted(&self, args: &Args) -> bool {
        match self.of {
            Of::Kind(kind) => kind.is_watched(args),
            Of::BindRequests => true,
        }
    }

    const fn named_only(self) -> Self {
        Self { is_named_only: true, ..self }
    }
}

/// All of them, in the order in which they are written: what pods refer to comes before pods, so that a file of ours is
/// understood as it is read, and is read once. KAI writes pods first; readers take any order.
///
/// `namespaces` and `podDisruptionBudgets` are ours: pod affinity by labels of namespaces and
/// `--respect-disruption-budgets` need them. KAI's reader passes over what it does not know.
pub const ARRAYS: [Array; 19] = [
    row("nodes", Kind::Node, CORE, "nodes").of_pool(),
    row("queues", Kind::Queue, ("scheduling.run.ai", &["v2"]), "queues").of_pool(),
    row("podGroups", Kind::PodGroup, ("scheduling.run.ai", &["v2alpha2"]), "podgroups")
        .namespaced()
        .of_pool(),
    Array {
        of: Of::BindRequests,
        ..row("bindRequests", Kind::Pod, ("scheduling.run.ai", &["v1alpha2"]), "bindrequests")
            .namespaced()
            .of_pool()
    },
    row("priorityClasses", Kind::PriorityClass, ("scheduling.k8s.io", &["v1"]), "priorityclasses"),
    row("topologies", Kind::Topology, ("kai.scheduler", &["v1alpha1"]), "topologies"),
    row("namespaces", Kind::Namespace, CORE, "namespaces").named_only(),
    row("configMaps", Kind::ConfigMap, CORE, "configmaps").namespaced().named_only(),
    row("persistentVolumes", Kind::PersistentVolume, CORE, "persistentvolumes"),
    row("persistentVolumeClaims", Kind::PersistentVolumeClaim, CORE, "persistentvolumeclaims")
        .namespaced(),
    row("storageClasses", Kind::StorageClass, STORAGE, "storageclasses"),
    row("csiDrivers", Kind::CsiDriver, STORAGE, "csidrivers"),
    row("csiStorageCapacities", Kind::CsiStorageCapacity, STORAGE, "csistoragecapacities")
        .namespaced(),
    row("deviceClasses", Kind::DeviceClass, DEVICES, "deviceclasses"),
    row("resourceSlices", Kind::ResourceSlice, DEVICES, "resourceslices"),
    row("resourceClaims", Kind::ResourceClaim, DEVICES, "resourceclaims").namespaced(),
    row(
        "nodeResourceTopologies",
        Kind::NodeResourceTopology,
        ("topology.node.k8s.io", &["v1alpha2"]),
        "noderesourcetopologies",
    ),
    row(
        "podDisruptionBudgets",
        Kind::DisruptionBudget,
        ("policy", &["v1"]),
        "poddisruptionbudgets",
    )
    .namespaced(),
    row("pods", Kind::Pod, CORE, "pods").namespaced(),
];

/// The array of a key, whatever its case: Go's decoder does not look at it.
pub(super) fn find(key: &str) -> Option<&'static Array> {
    ARRAYS.iter().find(|array| array.key.eq_ignore_ascii_case(key))
}
