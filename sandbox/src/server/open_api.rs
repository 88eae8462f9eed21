//! `/openapi/v3`: the index and a document a group and version.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::kinds::{Documents, Kind, Kinds, Version};
use super::schema::definitions::{Definition, TYPES, document_name, of_kind, open_api};

/// The index: a path and a hash for every document.
pub(crate) fn index(kinds: &Kinds) -> Value {
    let paths = all(kinds).iter().map(|((group, version), document)| {
        let path = path(group, version);
        let text = document.to_string();
        let hash = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, text.as_bytes()).simple();
        let url = json!({ "serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}") });
        (path, url)
    });
    json!({ "paths": Value::Object(paths.collect()) })
}

/// All documents; made once after a change of the kinds.
pub(crate) fn all(kinds: &Kinds) -> &Documents {
    kinds.documents(documents)
}

fn documents(kinds: &Kinds) -> Documents {
    let mut documents = BTreeMap::new();
    for kind in kinds.iter() {
        for version in &kind.versions {
            documents
                .entry((kind.group.clone(), version.name.clone()))
                .or_insert_with(|| document(kinds, &kind.group, &version.name));
        }
    }
    documents
}

fn path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// The document of a group and version.
fn document(kinds: &Kinds, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    let mut wanted = BTreeSet::new();
    for kind in kinds.iter().filter(|kind| kind.group == group) {
        let Some(found) = kind.version(version) else { continue };
        let name = if let Some(definition) = of_kind(group, version, &kind.kind) {
            collect(definition, &mut wanted);
            document_name(definition.name)
        } else {
            let reversed: Vec<&str> = group.rsplit('.').collect();
            let name = format!("{}.{version}.{}", reversed.join("."), kind.kind);
            schemas.insert(name.clone(), custom(kind, found));
            wanted.insert("meta.v1.ObjectMeta");
            name
        };
        add_paths(&mut paths, kind, version, &name);
    }
    if wanted.contains("meta.v1.ObjectMeta")
        && let Some(metadata) = TYPES.get("meta.v1.ObjectMeta")
    {
        collect(metadata, &mut wanted);
    }
    for name in wanted {
        if let Some(definition) = TYPES.get(name) {
            schemas.insert(document_name(name), open_api(definition));
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": "v1.36.0+kai-sandbox" },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// Adds a type and all that it refers to.
fn collect(definition: &'static Definition, wanted: &mut BTreeSet<&'static str>) {
    wanted.insert(definition.name);
    for field in &definition.fields {
        let name = field
            .shape
            .trim_start_matches("[]")
            .trim_start_matches("map:")
            .trim_start_matches("[]");
        if let Some(next) = TYPES.get(name).filter(|next| !wanted.contains(next.name)) {
            collect(next, wanted);
        }
    }
}

fn custom(kind: &Kind, version: &Version) -> Value {
    let source = version.schema.as_ref().and_then(|schema| schema.source.clone());
    let mut schema = source.unwrap_or_else(|| json!({ "type": "object" }));
    let text = json!({ "type": "string" });
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.entry("apiVersion").or_insert_with(|| text.clone());
        fields.entry("kind").or_insert(text);
        let name = document_name("meta.v1.ObjectMeta");
        fields.insert(
            "metadata".to_owned(),
            json!({ "allOf": [{ "$ref": format!("#/components/schemas/{name}") }] }),
        );
    }
    schema["x-kubernetes-group-version-kind"] =
        json!([{ "group": kind.group, "version": version.name, "kind": kind.kind }]);
    schema
}

fn add_paths(paths: &mut Map<String, Value>, kind: &Kind, version: &str, schema: &str) {
    let root =
        if kind.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", kind.group) };
    let namespaces = if kind.namespaced { "namespaces/{namespace}/" } else { "" };
    let collection = format!("{root}/{version}/{namespaces}{}", kind.plural);
    let gvk = json!({ "group": kind.group, "version": version, "kind": kind.kind });
    let reference = json!({ "$ref": format!("#/components/schemas/{schema}") });
    let content = json!({ "application/json": { "schema": reference } });
    let operation = |action: &str, writes: bool| {
        let mut operation = json!({
            "responses": { "200": { "description": "OK", "content": content } },
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk,
        });
        if writes {
            let names = ["dryRun", "fieldManager", "fieldValidation"];
            let parameters = names.iter().map(|name| {
                json!({ "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true } })
            });
            operation["parameters"] = Value::Array(parameters.collect());
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
        operation
    };
    if !kind.stored {
        paths.insert(collection, json!({ "post": operation("post", true) }));
        return;
    }
    paths.insert(
        format!("{collection}/{{name}}"),
        json!({
            "get": operation("get", false),
            "put": operation("put", true),
            "patch": operation("patch", true),
            "delete": operation("delete", false),
        }),
    );
    paths.insert(
        collection,
        json!({
            "get": operation("list", false),
            "post": operation("post", true),
            "delete": operation("deletecollection", false),
        }),
    );
}
