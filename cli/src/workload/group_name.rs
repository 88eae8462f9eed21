//! The name of a `PodGroup`, by which pods and groups find each other.

use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::names;

/// Name of a `PodGroup`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupName {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl GroupName {
    /// Names a `PodGroup`.
    pub(super) fn of(group: &Value) -> Self {
        let meta = &group["metadata"];
        Self {
            namespace: text(&meta["namespace"]).to_owned(),
            name: text(&meta["name"]).to_owned(),
        }
    }

    /// Names the `PodGroup` that a pod says it is of; without a name where it says none.
    pub(super) fn of_pod(pod: &Value) -> Self {
        let meta = &pod["metadata"];
        let name = text(&meta["annotations"][names::POD_GROUP]).to_owned();
        Self { namespace: text(&meta["namespace"]).to_owned(), name }
    }
}
