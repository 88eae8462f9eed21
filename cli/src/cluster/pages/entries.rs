//! Bounds what is kept of an object among others: of one with very many fields and elements its metadata alone, and of
//! metadata that has very many what comes first.
//!
//! They are counted as they are read, so that no tree is ever larger than what may be kept.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use crate::cluster::json::text;

/// Fields and elements that are kept of an object, and so many of its metadata: as a tree each takes up to half a kilobyte, however short it is as text.
/// The largest `PodGroup` that admission lets through, with ten thousand sub-groups, has some less.
pub(crate) const ENTRIES_MAX: usize = 50_000;

/// Names of objects that were cut.
pub(super) type Names = RefCell<Vec<String>>;

/// Fields and elements that were read of an object.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Those of its metadata: who may write labels of an object hides nothing else of it by that.
    metadata: Cell<usize>,
    rest: Cell<usize>,
}

/// Says how many fields and elements of a value are kept.
#[derive(Clone, Copy)]
pub(super) enum Entries<'e> {
    /// All of them.
    All,
    /// In a list as an answer all, and in its objects as with [`Self::OfEach`].
    OfList(&'e Names),
    /// Of each element so many as of an object.
    OfEach(&'e Names),
    /// Those of an object, of which so many were read.
    Object(&'e Counts),
    /// Those of an object's metadata: the API server lets nobody add fields to it.
    Metadata(&'e Cell<usize>),
    /// Those further down in an object.
    Inside(&'e Cell<usize>),
}

impl Entries<'_> {
    /// Counts a field, or an element under an empty key; tells whether it is kept.
    pub(super) fn keeps(self, key: &str) -> bool {
        let count = match self {
            Self::All | Self::OfList(_) | Self::OfEach(_) | Self::Metadata(_) => return true,
            Self::Object(_) if key == "metadata" => return true,
            Self::Object(counts) => &counts.rest,
            Self::Inside(count) => count,
        };
        count.set(count.get() + 1);
        count.get() <= ENTRIES_MAX
    }

    /// Says how many are kept of the value of a field.
    pub(super) fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::OfList(names), "items") => Self::OfEach(names),
            (Self::All | Self::OfList(_) | Self::OfEach(_), _) => Self::All,
            (Self::Object(counts), "metadata") => Self::Metadata(&counts.metadata),
            (Self::Object(counts), _) => Self::Inside(&counts.rest),
            (Self::Metadata(count) | Self::Inside(count), _) => Self::Inside(count),
        }
    }
}

/// Leaves of an object with too many its metadata alone, and says which it is, or which has too many of these.
pub(super) fn cut(object: &mut Value, counts: &Counts) -> Option<String> {
    let Counts { metadata, rest } = counts;
    if metadata.get().max(rest.get()) <= ENTRIES_MAX {
        return None;
    }
    if rest.get() > ENTRIES_MAX
        && let Some(fields) = object.as_object_mut()
    {
        fields.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    }
    Some(named(object))
}

/// Says which object it is, as it is noted of one that was cut: by its namespace, if it is in one, and its name.
pub(crate) fn named(object: &Value) -> String {
    let meta = &object["metadata"];
    let (namespace, name) = (text(&meta["namespace"]), text(&meta["name"]));
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}
