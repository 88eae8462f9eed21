//! A kind as the API serves it: where its objects are found.

use serde_json::Value;

use super::escape;

/// A kind as the API serves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Resource {
    /// API group; empty for the core.
    pub(crate) group: String,
    pub(crate) version: String,
    /// The name in paths and in RBAC, such as `pytorchjobs`.
    pub(crate) plural: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
}

impl Resource {
    pub(crate) fn new(api_version: &str, kind: &str, plural: &str) -> Self {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        Self {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            kind: kind.into(),
            namespaced: true,
        }
    }

    pub(crate) fn cluster_wide(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// Reads one entry of an `APIResourceList`.
    pub(crate) fn discovered(api_version: &str, entry: &Value) -> Option<Self> {
        let plural = entry["name"].as_str()?;
        let mut resource = Self::new(api_version, entry["kind"].as_str()?, plural);
        resource.namespaced = entry["namespaced"].as_bool().unwrap_or(true);
        (!plural.contains('/')).then_some(resource)
    }

    pub(crate) fn api_version(&self) -> String {
        Self::api_version_of(&self.group, &self.version)
    }

    /// Group and version as objects spell them.
    pub(crate) fn api_version_of(group: &str, version: &str) -> String {
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
    }

    /// The path of its objects, or of one of them.
    pub(crate) fn path(&self, namespace: Option<&str>, name: &str) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let mut path = format!("{root}/{}", self.api_version());
        if let (true, Some(namespace)) = (self.namespaced, namespace) {
            path += &format!("/namespaces/{}", escape(namespace));
        }
        path += &format!("/{}", self.plural);
        if !name.is_empty() {
            path += &format!("/{}", escape(name));
        }
        path
    }

    /// As kubectl prints it before the slash: `pytorchjob.kubeflow.org`.
    pub(crate) fn label(&self) -> String {
        let kind = self.kind.to_lowercase();
        if self.group.is_empty() { kind } else { format!("{kind}.{}", self.group) }
    }

    /// As RBAC and `kubectl auth can-i` name it: `pytorchjobs.kubeflow.org`.
    pub(crate) fn in_rbac(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }
}
