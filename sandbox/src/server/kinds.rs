//! The resources that are served: the built-in ones and those that `CustomResourceDefinitions` add.

mod builtin;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::refusal::ResourceName;
use super::store::TableId;

/// One served resource.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as discovery states them")]
#[expect(clippy::struct_field_names, reason = "kind and list_kind are the API's own words")]
pub(crate) struct Kind {
    /// The API group; empty for core.
    pub(crate) group: String,
    /// The plural, lower case.
    pub(crate) plural: String,
    /// The singular, lower case.
    pub(crate) singular: String,
    /// The kind.
    pub(crate) kind: String,
    /// The kind of a list.
    pub(crate) list_kind: String,
    /// Short names for kubectl.
    pub(crate) short_names: Vec<String>,
    /// Categories for kubectl, for example `all`.
    pub(crate) categories: Vec<String>,
    /// True if objects live in namespaces.
    pub(crate) namespaced: bool,
    /// True if `metadata.generation` is kept.
    pub(crate) generation: bool,
    /// True if objects are stored; reviews are only answered.
    pub(crate) stored: bool,
    /// The served versions, best first.
    pub(crate) versions: Vec<Version>,
    /// The version in which objects are stored.
    pub(crate) storage_version: String,
    /// True if a `CustomResourceDefinition` defines it.
    pub(crate) custom: bool,
    /// Table of the objects: another resource's table when two groups serve the same objects.
    pub(crate) table: TableId,
}

/// One served version of a resource.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    /// The version, for example `v1`.
    pub(crate) name: String,
    /// True if there is a `status` subresource.
    pub(crate) status: bool,
    /// The `scale` subresource.
    pub(crate) scale: Option<Scale>,
    /// The structural schema of a custom resource.
    pub(crate) schema: Option<Arc<super::schema::Compiled>>,
    /// The `additionalPrinterColumns` of a custom resource.
    pub(crate) columns: Vec<Value>,
    /// The field selectors of a custom resource besides name and namespace, as JSON paths (`.spec.color`).
    pub(crate) selectable_fields: Vec<String>,
    /// The deprecation warning, when the version is deprecated.
    pub(crate) warning: Option<String>,
}

/// Places where the `scale` subresource finds its numbers, as JSON pointers.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    /// Pointer to the wanted replicas.
    pub(crate) spec_replicas: String,
    /// Pointer to the observed replicas.
    pub(crate) status_replicas: String,
    /// Pointer to the label selector: an object or a string.
    pub(crate) selector: Option<String>,
}

impl Kind {
    /// The name used in messages.
    pub(crate) fn resource(&self) -> ResourceName<'_> {
        ResourceName { group: &self.group, plural: &self.plural }
    }

    /// A served version by name.
    pub(crate) fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// `v1` or `group/v1`.
    pub(crate) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// Tells whether this is the built-in resource `plural` of `group`.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        !self.custom && self.group == group && self.plural == plural
    }

    /// The verbs in discovery.
    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        if self.is("", "namespaces") {
            &["create", "delete", "get", "list", "patch", "update", "watch"]
        } else if self.stored {
            &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
        } else {
            &["create"]
        }
    }
}

/// Documents by group and version.
pub(crate) type Documents = BTreeMap<(String, String), Value>;

/// All served resources.
#[derive(Debug)]
pub(crate) struct Kinds {
    by_resource: BTreeMap<(String, String), Arc<Kind>>,
    /// The `OpenAPI` documents by group and version, made when first asked for after a change.
    documents: OnceLock<Documents>,
}

impl Kinds {
    /// The built-in resources.
    pub(crate) fn builtin() -> Self {
        let mut kinds = Self { by_resource: BTreeMap::new(), documents: OnceLock::new() };
        for kind in builtin::kinds() {
            kinds.insert(kind);
        }
        kinds
    }

    /// The same resources.
    pub(crate) fn copy(&self) -> Self {
        Self { by_resource: self.by_resource.clone(), documents: OnceLock::new() }
    }

    /// Adds or replaces a resource.
    pub(crate) fn insert(&mut self, kind: Kind) {
        self.documents = OnceLock::new();
        self.by_resource.insert((kind.group.clone(), kind.plural.clone()), Arc::new(kind));
    }

    /// Removes a resource.
    pub(crate) fn remove(&mut self, group: &str, plural: &str) {
        self.documents = OnceLock::new();
        self.by_resource.remove(&(group.to_owned(), plural.to_owned()));
    }

    /// A resource by group and plural.
    pub(crate) fn find(&self, group: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.by_resource.get(&(group.to_owned(), plural.to_owned()))
    }

    /// The resource whose objects are in a table.
    pub(crate) fn of_table(&self, table: &TableId) -> Option<&Arc<Kind>> {
        self.find(&table.group, &table.plural)
    }

    /// The `OpenAPI` documents by group and version, as `make` made them after the last change.
    pub(crate) fn documents(&self, make: fn(&Self) -> Documents) -> &Documents {
        self.documents.get_or_init(|| make(self))
    }

    /// All resources, by group and plural.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.by_resource.values()
    }
}
