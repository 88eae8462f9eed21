//! The kinds of objects that are watched: what a row of their table says.

use std::fmt;

use serde::Deserialize;
use serde_json::Result;

use super::{Ingest, Kind};
use crate::{server::wire::Meta, settings::Args};

/// Declares [`Kind`] and the table from one list.
macro_rules! kinds {
    ($($kind:ident => $row:expr,)*) => {
        /// A kind of object that is watched.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[expect(missing_docs, reason = "each is the API's kind")]
        pub enum Kind { $($kind),* }

        /// In the order of [`Kind`].
        static TABLE: [kind::Row; Kind::COUNT] = [$($row),*];

        impl Kind {
            /// Their number.
            pub const COUNT: usize = Self::ALL.len();
            /// All of them. What objects refer to comes before them, as snapshots are written.
            pub const ALL: [Self; [$(Self::$kind),*].len()] = [$(Self::$kind),*];

            /// Its row.
            fn row(self) -> &'static kind::Row {
                &TABLE[self as usize]
            }
        }
    };
}

/// The hooks of a kind that an index of `Ingest` of its own takes in; `alone`: without what all kinds share.
macro_rules! index {
    ($index:ident by $by:ident) => {
        index!($index by $by: apply, remove, end)
    };
    ($index:ident by $by:ident: $apply:ident, $remove:ident, $end:ident) => {
        kind::Hooks {
            apply: |ingest, bytes| Ok(ingest.$index.$apply(&mut ingest.context, &kind::decode(bytes)?)),
            remove: |ingest, meta| ingest.$index.$remove(&mut ingest.context, &kind::$by(meta)),
            end: |ingest| ingest.$index.$end(&mut ingest.context),
        }
    };
    ($index:ident by $by:ident: $apply:ident, alone $remove:ident, $end:ident) => {
        kind::Hooks {
            apply: |ingest, bytes| Ok(ingest.$index.$apply(&mut ingest.context, &kind::decode(bytes)?)),
            remove: |ingest, meta| ingest.$index.$remove(&kind::$by(meta)),
            end: |ingest| ingest.$index.$end(&mut ingest.context),
        }
    };
}

/// The hooks of a kind that keeps nothing beside what all kinds share.
macro_rules! functions {
    ($module:ident by $by:ident) => {
        kind::Hooks {
            apply: |ingest, bytes| Ok($module::apply(&mut ingest.context, &kind::decode(bytes)?)),
            remove: |ingest, meta| $module::remove(&mut ingest.context, &kind::$by(meta)),
            end: |ingest| $module::end(&mut ingest.context),
        }
    };
}

/// Decodes an object. That its text is UTF-8 is checked for all of it at once, which costs a tenth of what it costs for
/// each of its strings.
pub(super) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        // The error says where, as of any other fault of the text.
        Err(_) => serde_json::from_slice(bytes),
    }
}

/// A kind of object that is watched: where the API serves it, and what takes it in.
pub(super) struct Row {
    /// The kind as the API spells it.
    name: &'static str,
    api: Api,
    /// The key of its array in snapshots; none where they have none.
    array: Option<&'static str>,
    scope: Scope,
    selector: Selector,
    /// Without it nothing can be decided; else an absent API reads as an empty list.
    is_required: bool,
    /// Only the metadata of its objects is asked for.
    is_metadata_only: bool,
    /// Tells whether the kind matters under these flags.
    is_watched: fn(&Args) -> bool,
    hooks: Hooks,
}

/// Says where the API serves a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Api {
    /// The API group; empty is the core.
    pub group: &'static str,
    /// The versions that are understood, the best first.
    pub versions: &'static [&'static str],
    /// The name in paths.
    pub plural: &'static str,
}

/// Says where objects lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Cluster,
    Namespaced,
}

/// Says which objects of a kind the server is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// All of them.
    All,
    /// Those of our node pool.
    Pool,
    /// Those that this query parameter narrows them to; it is encoded and begins with `&`.
    Query(&'static str),
}

/// Holds what takes the objects of a kind in.
pub(super) struct Hooks {
    /// Takes an object in as it is now, and gives its version.
    pub(super) apply: fn(&mut Ingest, &[u8]) -> Result<String>,
    /// Takes an object out.
    pub(super) remove: fn(&mut Ingest, &Meta<'_>),
    /// Takes out what was not in the full list that is complete now.
    pub(super) end: fn(&mut Ingest),
}

impl Kind {
    /// Spells the kind as the API does.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Says where the API serves it.
    pub fn api(self) -> Api {
        self.row().api
    }

    /// Gives the path of the collection in this version of its API group, or in the best one where this is none of it.
    pub fn path(self, version: &str) -> String {
        let Api { group, versions, plural } = self.api();
        let version = versions.iter().find(|one| **one == version).unwrap_or(&versions[0]);
        match group {
            "" => format!("/api/{version}/{plural}"),
            group => format!("/apis/{group}/{version}/{plural}"),
        }
    }

    /// Says which of its objects the server is asked for.
    pub fn selector(self) -> Selector {
        self.row().selector
    }

    /// Tells whether nothing can be decided without it; else an absent API reads as an empty list.
    pub fn is_required(self) -> bool {
        self.row().is_required
    }

    /// Tells whether only the metadata of its objects is asked for.
    pub fn is_metadata_only(self) -> bool {
        self.row().is_metadata_only
    }

    /// Tells whether its objects lie in namespaces.
    pub fn is_namespaced(self) -> bool {
        self.row().scope == Scope::Namespaced
    }

    /// Tells whether the kind matters under these flags.
    pub fn is_watched(self, args: &Args) -> bool {
        (self.row().is_watched)(args)
    }

    /// Gives the key of its array in snapshots; none where they have none.
    pub fn array(self) -> Option<&'static str> {
        self.row().array
    }

    /// Gives its place among all kinds.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Takes an object in as it is now, and gives its version.
    pub(super) fn apply(self, ingest: &mut Ingest, bytes: &[u8]) -> Result<String> {
        (self.row().hooks.apply)(ingest, bytes)
    }

    /// Takes an object out.
    pub(super) fn remove(self, ingest: &mut Ingest, meta: &Meta<'_>) {
        (self.row().hooks.remove)(ingest, meta);
    }

    /// Takes out what was not in the full list that is complete now.
    pub(super) fn end(self, ingest: &mut Ingest) {
        (self.row().hooks.end)(ingest);
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

pub(super) const CORE: Group = Group("", &["v1"]);
pub(super) const QUEUES: Group = Group("scheduling.run.ai", &["v2"]);
pub(super) const POD_GROUPS: Group = Group("scheduling.run.ai", &["v2alpha2"]);
pub(super) const PRIORITIES: Group = Group("scheduling.k8s.io", &["v1"]);
pub(super) const TOPOLOGIES: Group = Group("kai.scheduler", &["v1alpha1"]);
pub(super) const SHARDS: Group = Group("kai.scheduler", &["v1"]);
pub(super) const STORAGE: Group = Group("storage.k8s.io", &["v1"]);
pub(super) const DEVICES: Group = Group("resource.k8s.io", &["v1", "v1beta2", "v1beta1"]);
pub(super) const ZONES: Group = Group("topology.node.k8s.io", &["v1alpha2"]);
pub(super) const POLICY: Group = Group("policy", &["v1"]);

/// An API group, and the versions that are understood.
pub(super) struct Group(&'static str, &'static [&'static str]);

impl Group {
    pub(super) const fn of(&self, plural: &'static str) -> Api {
        Api { group: self.0, versions: self.1, plural }
    }
}

/// A row of a kind without namespaces of which all objects are read where they are served.
pub(super) const fn row(name: &'static str, api: Api, hooks: Hooks) -> Row {
    Row {
        name,
        api,
        array: None,
        scope: Scope::Cluster,
        selector: Selector::All,
        is_required: false,
        is_metadata_only: false,
        is_watched: |_| true,
        hooks,
    }
}

impl Row {
    /// Snapshots have its objects under this key.
    pub(super) const fn array(self, key: &'static str) -> Self {
        Self { array: Some(key), ..self }
    }

    /// Its objects lie in namespaces.
    pub(super) const fn namespaced(self) -> Self {
        Self { scope: Scope::Namespaced, ..self }
    }

    /// Its objects carry the label of a node pool.
    pub(super) const fn of_pool(self) -> Self {
        Self { selector: Selector::Pool, ..self }
    }

    /// Only objects that a query parameter leaves in are read; it is encoded and begins with `&`.
    pub(super) const fn narrowed(self, query: &'static str) -> Self {
        Self { selector: Selector::Query(query), ..self }
    }

    /// Without it nothing can be decided.
    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Only the metadata of its objects is asked for.
    pub(super) const fn metadata_only(self) -> Self {
        Self { is_metadata_only: true, ..self }
    }

    /// It matters under some flags alone.
    pub(super) const fn watched_if(self, is_watched: fn(&Args) -> bool) -> Self {
        Self { is_watched, ..self }
    }
}

/// The name of an object, for kinds that have them once in a cluster.
pub(super) fn name<'m>(meta: &'m Meta<'_>) -> &'m str {
    &meta.name
}

/// Namespace and name of an object.
pub(super) fn key(meta: &Meta<'_>) -> String {
    meta.key()
}
