//! The arrays of `rawObjects`: which kind each holds, and where the API serves it. Source: docs/contract.md 8.3.

use std::sync::LazyLock;

use crate::{
    Args,
    ingest::{Api, Kind, Selector},
};

/// One array of `rawObjects`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its key.
    pub key: &'static str,
    /// Holds what it holds.
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

/// Says what an array holds.
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

impl Array {
    /// Tells whether a scheduler with this command line looks at such objects.
    pub fn is_wanted(&self, args: &Args) -> bool {
        match self.of {
            Of::Kind(kind) => kind.is_watched(args),
            Of::BindRequests => true,
        }
    }

    /// The array of a kind, where snapshots have one.
    fn of(kind: Kind) -> Option<Self> {
        let Api { group, versions, plural } = kind.api();
        Some(Self {
            key: kind.array()?,
            of: Of::Kind(kind),
            group,
            versions,
            plural,
            is_namespaced: kind.is_namespaced(),
            is_of_pool: kind.selector() == Selector::Pool,
            is_named_only: kind.is_metadata_only(),
        })
    }
}

const BIND_REQUESTS: Array = Array {
    key: "bindRequests",
    of: Of::BindRequests,
    group: "scheduling.run.ai",
    versions: &["v1alpha2"],
    plural: "bindrequests",
    is_namespaced: true,
    is_of_pool: true,
    is_named_only: false,
};

/// All of them, in the order in which they are written: what pods refer to comes before pods, so that a file of ours is
/// understood as it is read, and is read once. KAI writes pods first; readers take any order.
///
/// `namespaces` and `podDisruptionBudgets` are ours: pod affinity by labels of namespaces and
/// `--respect-disruption-budgets` need them. KAI's reader passes over what it does not know.
pub static ARRAYS: LazyLock<Vec<Array>> = LazyLock::new(|| {
    let beside = |kind| (kind == Kind::PodGroup).then_some(BIND_REQUESTS);
    Kind::ALL.into_iter().flat_map(|kind| Array::of(kind).into_iter().chain(beside(kind))).collect()
});

/// The array of a key, whatever its case: Go's decoder does not look at it.
pub(super) fn find(key: &str) -> Option<&'static Array> {
    ARRAYS.iter().find(|array| array.key.eq_ignore_ascii_case(key))
}
