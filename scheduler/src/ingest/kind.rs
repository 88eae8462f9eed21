//! The kinds of objects that are watched.

use std::fmt;

use crate::settings::Args;

/// A kind of object that is watched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each is the API's kind")]
pub enum Kind {
    Node,
    Queue,
    PriorityClass,
    Topology,
    Shard,
    PodGroup,
    DeviceClass,
    ResourceSlice,
    ResourceClaim,
    PersistentVolumeClaim,
    PersistentVolume,
    StorageClass,
    CsiDriver,
    CsiStorageCapacity,
    ConfigMap,
    NodeResourceTopology,
    Namespace,
    DisruptionBudget,
    Pod,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Node,
        Self::Queue,
        Self::PriorityClass,
        Self::Topology,
        Self::Shard,
        Self::PodGroup,
        Self::DeviceClass,
        Self::ResourceSlice,
        Self::ResourceClaim,
        Self::PersistentVolumeClaim,
        Self::PersistentVolume,
        Self::StorageClass,
        Self::CsiDriver,
        Self::CsiStorageCapacity,
        Self::ConfigMap,
        Self::NodeResourceTopology,
        Self::Namespace,
        Self::DisruptionBudget,
        Self::Pod,
    ];

    /// The kind as the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "Node",
            Self::Queue => "Queue",
            Self::PriorityClass => "PriorityClass",
            Self::Topology => "Topology",
            Self::Shard => "SchedulingShard",
            Self::PodGroup => "PodGroup",
            Self::DeviceClass => "DeviceClass",
            Self::ResourceSlice => "ResourceSlice",
            Self::ResourceClaim => "ResourceClaim",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::PersistentVolume => "PersistentVolume",
            Self::StorageClass => "StorageClass",
            Self::CsiDriver => "CSIDriver",
            Self::CsiStorageCapacity => "CSIStorageCapacity",
            Self::ConfigMap => "ConfigMap",
            Self::NodeResourceTopology => "NodeResourceTopology",
            Self::Namespace => "Namespace",
            Self::DisruptionBudget => "PodDisruptionBudget",
            Self::Pod => "Pod",
        }
    }

    /// Whether the kind matters under these flags.
    pub fn is_watched(self, args: &Args) -> bool {
        match self {
            Self::CsiDriver | Self::CsiStorageCapacity => args.schedule_csi_storage,
            Self::DisruptionBudget => args.respect_disruption_budgets,
            _ => true,
        }
    }

    /// Its place among all kinds.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
