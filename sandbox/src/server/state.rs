//! State of the server.

use std::sync::Arc;

use serde_json::Value;

use super::admission::{Asked, Attributes, Registry};
use super::grants::Grants;
use super::kinds::Kinds;
use super::store::Store;

/// State of the server; changed under one lock.
#[derive(Debug)]
pub(crate) struct State {
    /// The objects.
    pub(crate) store: Store,
    /// The served resources.
    pub(crate) kinds: Kinds,
    /// Webhooks and policies.
    pub(crate) admission: Arc<Registry>,
    /// Rules of RBAC.
    pub(crate) grants: Grants,
}

impl State {
    /// Finds who is asked about a request, as far as rules and namespaces say; `None`: nobody.
    pub(crate) fn asked(&self, attributes: &Attributes<'_>, new: &Value) -> Option<Asked> {
        self.admission.asked(&self.store, &self.grants, attributes, new)
    }
}
