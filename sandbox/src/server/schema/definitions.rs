//! The types of the built-in kinds, read from `sandbox/types/*.api` (the format is described in `types/NOTICE`).
//!
//! One source for what unknown fields are, which lists merge by which keys, `kubectl explain`, and protobuf.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{ListType, Schema, Type};

const SOURCES: [&str; 20] = [
    include_str!("../../../types/admissionregistration.v1.api"),
    include_str!("../../../types/apiextensions.v1.api"),
    include_str!("../../../types/apps.v1.api"),
    include_str!("../../../types/authentication.v1.api"),
    include_str!("../../../types/authorization.v1.api"),
    include_str!("../../../types/autoscaling.v1.api"),
    include_str!("../../../types/autoscaling.v2.api"),
    include_str!("../../../types/batch.v1.api"),
    include_str!("../../../types/coordination.v1.api"),
    include_str!("../../../types/core.v1.api"),
    include_str!("../../../types/discovery.v1.api"),
    include_str!("../../../types/events.v1.api"),
    include_str!("../../../types/meta.v1.api"),
    include_str!("../../../types/networking.v1.api"),
    include_str!("../../../types/node.v1.api"),
    include_str!("../../../types/policy.v1.api"),
    include_str!("../../../types/rbac.v1.api"),
    include_str!("../../../types/resource.v1.api"),
    include_str!("../../../types/scheduling.v1.api"),
    include_str!("../../../types/storage.v1.api"),
];

/// All types by name.
pub(crate) static TYPES: LazyLock<BTreeMap<&'static str, Definition>> = LazyLock::new(|| {
    let mut types = BTreeMap::new();
    for source in SOURCES {
        let mut current: Option<Definition> = None;
        for line in source.lines() {
            if let Some(rest) = line.strip_prefix("type ") {
                if let Some(done) = current.replace(Definition::parse(rest)) {
                    types.insert(done.name, done);
                }
            } else if let Some(open) = &mut current {
                open.fields.push(Field::parse(line.trim_start()));
            }
        }
        if let Some(done) = current {
            types.insert(done.name, done);
        }
    }
    types
});

static SCHEMAS: LazyLock<BTreeMap<&'static str, Schema>> =
    LazyLock::new(|| TYPES.iter().map(|(name, definition)| (*name, definition.schema())).collect());

/// A named type.
#[derive(Debug)]
pub(crate) struct Definition {
    /// For example `core.v1.PodSpec`.
    pub(crate) name: &'static str,
    /// The kinds that have this type, as `group/version/Kind`.
    pub(crate) kinds: Vec<&'static str>,
    /// Its shape when it has no fields of its own.
    pub(crate) shape: Option<&'static str>,
    /// True if it is replaced as a whole.
    pub(crate) atomic: bool,
    /// The first sentence of its description.
    pub(crate) description: &'static str,
    /// Its fields.
    pub(crate) fields: Vec<Field>,
}

/// A field of a type.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name in JSON.
    pub(crate) name: &'static str,
    /// The protobuf field numbers, outermost first; empty when there are none.
    pub(crate) numbers: Vec<u32>,
    /// True if it is a pointer in Go, so that its zero value says something.
    pub(crate) pointer: bool,
    /// The type: `string`, `[]core.v1.Container`, `map:string`, ...
    pub(crate) shape: &'static str,
    /// True if it is always there.
    pub(crate) required: bool,
    /// `x-kubernetes-list-type` and its keys, as `map:a,b`.
    pub(crate) list: &'static str,
    /// `x-kubernetes-map-type`.
    pub(crate) map: &'static str,
    /// The patch strategy and merge key, as `merge:name`.
    pub(crate) patch: &'static str,
    /// The default, as JSON.
    pub(crate) default: Option<&'static str>,
    /// The allowed values.
    pub(crate) allowed: Vec<&'static str>,
    /// The first sentence of its description.
    pub(crate) description: &'static str,
}

fn split_description(line: &'static str) -> (&'static str, &'static str) {
    line.split_once(" # ").unwrap_or((line, ""))
}

impl Definition {
    fn parse(line: &'static str) -> Self {
        let (head, description) = split_description(line);
        let mut words = head.split(' ');
        let name = words.next().unwrap_or_default();
        let mut definition = Self {
            name,
            kinds: Vec::new(),
            shape: None,
            atomic: false,
            description,
            fields: Vec::new(),
        };
        for word in words {
            match word.split_once('=') {
                Some(("kind", kind)) => definition.kinds.push(kind),
                Some(("map", "atomic")) => definition.atomic = true,
                _ => definition.shape = Some(word),
            }
        }
        definition
    }

    fn schema(&self) -> Schema {
        let mut schema = match self.shape {
            Some(shape) => shape_schema(shape),
            None => Schema { kind: Type::Object, ..Schema::default() },
        };
        schema.map_atomic = self.atomic;
        schema.properties =
            self.fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
        schema
    }
}

impl Field {
    fn parse(line: &'static str) -> Self {
        let (head, description) = split_description(line);
        let mut words = head.split(' ');
        let name = words.next().unwrap_or_default();
        let place = words.next().unwrap_or_default();
        let numbers =
            place.trim_end_matches('*').split('.').filter_map(|number| number.parse().ok());
        let mut field = Self {
            name,
            numbers: numbers.collect(),
            pointer: place.ends_with('*'),
            shape: words.next().unwrap_or_default(),
            required: false,
            list: "",
            map: "",
            patch: "",
            default: None,
            allowed: Vec::new(),
            description,
        };
        for word in words {
            match word.split_once('=') {
                Some(("list", list)) => field.list = list,
                Some(("map", map)) => field.map = map,
                Some(("patch", patch)) => field.patch = patch,
                Some(("default", default)) => field.default = Some(default),
                Some(("enum", allowed)) => field.allowed = allowed.split('|').collect(),
                _ => field.required |= word == "required",
            }
        }
        field
    }

    fn schema(&self) -> Schema {
        let mut schema = shape_schema(self.shape);
        schema.list_type = match self.list.split_once(':') {
            Some(("map", keys)) => ListType::Map(keys.split(',').map(str::to_owned).collect()),
            _ if self.list == "set" => ListType::Set,
            _ => ListType::Atomic,
        };
        schema.map_atomic = self.map == "atomic";
        schema.merge_key = match self.patch.rsplit_once(':') {
            Some((strategy, key)) if strategy.contains("merge") => Some(key.to_owned()),
            _ => None,
        };
        schema.merges_set = self.patch == "merge";
        schema.key_default = self.default.and_then(|text| serde_json::from_str(text).ok());
        schema
    }
}

fn shape_schema(shape: &str) -> Schema {
    let plain = |kind| Schema { kind, ..Schema::default() };
    if let Some(item) = shape.strip_prefix("[]") {
        return Schema { items: Some(Box::new(shape_schema(item))), ..plain(Type::Array) };
    }
    if let Some(value) = shape.strip_prefix("map:") {
        return Schema { additional: Some(Box::new(shape_schema(value))), ..plain(Type::Object) };
    }
    match shape {
        "string" | "bytes" | "time" | "microtime" => plain(Type::String),
        "bool" => plain(Type::Boolean),
        "int32" | "int64" => Schema { format: shape.to_owned(), ..plain(Type::Integer) },
        "double" | "float" => plain(Type::Number),
        "int-or-string" => Schema { int_or_string: true, ..Schema::default() },
        "quantity" => Schema { quantity: true, ..Schema::default() },
        "raw" | "fields" | "object" => {
            Schema { preserve_unknown: true, map_atomic: true, ..plain(Type::Object) }
        }
        "any" => Schema { preserve_unknown: true, ..Schema::default() },
        name => Schema { reference: Some(name.to_owned()), ..Schema::default() },
    }
}

/// The schema of a named type.
pub(crate) fn schema(name: &str) -> &'static Schema {
    SCHEMAS.get(name).expect("types refer to types of the same folder")
}

/// The type of a built-in kind.
pub(crate) fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Definition> {
    let full = format!("{group}/{version}/{kind}");
    TYPES.values().find(|definition| definition.kinds.contains(&full.as_str()))
}

/// `io.k8s...` name of a type in `OpenAPI` documents.
pub(crate) fn document_name(name: &str) -> String {
    match name.split_once('.') {
        Some(("meta", rest)) => format!("io.k8s.apimachinery.pkg.apis.meta.{rest}"),
        Some(("apiextensions", rest)) => {
            format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{rest}")
        }
        _ => format!("io.k8s.api.{name}"),
    }
}

/// The `OpenAPI` v3 form of a type.
pub(crate) fn open_api(definition: &Definition) -> Value {
    let mut schema = match definition.shape {
        Some(shape) => shape_open_api(shape),
        None => json!({ "type": "object" }),
    };
    if !definition.description.is_empty() {
        schema["description"] = json!(definition.description);
    }
    if definition.atomic {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    if !definition.fields.is_empty() {
        let fields =
            definition.fields.iter().map(|field| (field.name.to_owned(), field_open_api(field)));
        schema["properties"] = Value::Object(fields.collect());
        let required: Vec<&str> = definition
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| field.name)
            .collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
    }
    if !definition.kinds.is_empty() {
        let kinds = definition.kinds.iter().map(|kind| {
            let mut parts = kind.splitn(3, '/');
            let mut next = || parts.next().unwrap_or_default();
            json!({ "group": next(), "version": next(), "kind": next() })
        });
        schema["x-kubernetes-group-version-kind"] = Value::Array(kinds.collect());
    }
    schema
}

fn field_open_api(field: &Field) -> Value {
    let mut schema = shape_open_api(field.shape);
    if !field.description.is_empty() {
        schema["description"] = json!(field.description);
    }
    if let Some((kind, keys)) = field.list.split_once(':') {
        schema["x-kubernetes-list-type"] = json!(kind);
        schema["x-kubernetes-list-map-keys"] = json!(keys.split(',').collect::<Vec<_>>());
    } else if !field.list.is_empty() {
        schema["x-kubernetes-list-type"] = json!(field.list);
    }
    if !field.map.is_empty() {
        schema["x-kubernetes-map-type"] = json!(field.map);
    }
    if !field.patch.is_empty() {
        let (strategy, key) = field.patch.rsplit_once(':').unwrap_or((field.patch, ""));
        schema["x-kubernetes-patch-strategy"] = json!(strategy);
        if !key.is_empty() {
            schema["x-kubernetes-patch-merge-key"] = json!(key);
        }
    }
    if let Some(default) = field.default.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        schema["default"] = default;
    }
    if !field.allowed.is_empty() {
        schema["enum"] = json!(field.allowed);
    }
    schema
}

fn shape_open_api(shape: &str) -> Value {
    if let Some(item) = shape.strip_prefix("[]") {
        return json!({ "type": "array", "items": shape_open_api(item) });
    }
    if let Some(value) = shape.strip_prefix("map:") {
        return json!({ "type": "object", "additionalProperties": shape_open_api(value) });
    }
    match shape {
        "string" => json!({ "type": "string" }),
        "bytes" => json!({ "type": "string", "format": "byte" }),
        "time" | "microtime" => json!({ "type": "string", "format": "date-time" }),
        "bool" => json!({ "type": "boolean" }),
        "int32" | "int64" => json!({ "type": "integer", "format": shape }),
        "double" | "float" => json!({ "type": "number", "format": shape }),
        "int-or-string" => {
            json!({ "format": "int-or-string", "oneOf": [{ "type": "integer" }, { "type": "string" }] })
        }
        "quantity" => json!({ "oneOf": [{ "type": "string" }, { "type": "number" }] }),
        "raw" | "fields" | "object" => json!({ "type": "object" }),
        "any" => json!({}),
        name => {
            json!({ "allOf": [{ "$ref": format!("#/components/schemas/{}", document_name(name)) }] })
        }
    }
}
