//! An object as it is watched: its JSON, read once and without who manages which field.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::api::ApiResource;
use kube::core::DynamicResourceScope;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::pages;

/// An object of any kind.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// Its name, namespace and version, as watches need them.
    metadata: ObjectMeta,
    /// All of it, or its metadata alone.
    pub(super) value: Value,
    /// Its namespace and name where it had too many entries to be read whole.
    pub(super) cut: Option<String>,
}

impl Object {
    /// Returns its namespace and name.
    pub(super) fn key(&self) -> (String, String) {
        let meta = &self.metadata;
        (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (value, cut) = pages::value(deserializer)?;
        let meta = &value["metadata"];
        let field = |key: &str| Some(text(&meta[key]).to_owned()).filter(|text| !text.is_empty());
        let metadata = ObjectMeta {
            name: field("name"),
            namespace: field("namespace"),
            resource_version: field("resourceVersion"),
            uid: field("uid"),
            ..ObjectMeta::default()
        };
        Ok(Self { metadata, value, cut })
    }
}

impl Resource for Object {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
