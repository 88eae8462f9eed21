//! `OpenAPI` schemas in the dialect of custom resources, where the derived ones need a hand.
//!
//! [`finish`] turns what the derives make into what the API server should hold: no `nullable`
//! (a `null` is dropped, not stored, as with KAI), no formats that say nothing, no defaults.
//! Fields whose Rust type is `k8s-openapi`'s take their schema from [`core`] and [`dra`], which
//! say exactly what KAI's schema says and leave descriptions out: they would be 85 % of it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};
use schemars::Schema;
use serde_json::{Map, Value, json};

pub(crate) mod core;
pub(crate) mod dra;

/// Pattern of quantities that apiextensions accepts.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A quantity: an integer or a text; [`finish`] adds the `anyOf`, which the derives would spoil.
pub(crate) fn quantity_value() -> Value {
    json!({"pattern": QUANTITY, "x-kubernetes-int-or-string": true})
}

/// A quantity, as a schema.
pub(crate) fn quantity() -> Schema {
    schema(quantity_value())
}

/// `value` as a schema.
///
/// # Panics
/// If `value` is not an object: ours always are.
pub(crate) fn schema(value: Value) -> Schema {
    Schema::try_from(value).expect("a schema made here is an object")
}

pub(crate) fn string() -> Value {
    json!({"type": "string"})
}

pub(crate) fn boolean() -> Value {
    json!({"type": "boolean"})
}

pub(crate) fn integer() -> Value {
    json!({"type": "integer"})
}

pub(crate) fn int32() -> Value {
    json!({"type": "integer", "format": "int32"})
}

pub(crate) fn list(items: Value) -> Value {
    Value::from_iter([("type", "array".into()), ("items", items)])
}

/// A list that server-side apply replaces as a whole.
pub(crate) fn atomic(items: Value) -> Value {
    let mut list = list(items);
    list["x-kubernetes-list-type"] = "atomic".into();
    list
}

pub(crate) fn map(values: Value) -> Value {
    Value::from_iter([("type", "object".into()), ("additionalProperties", values)])
}

pub(crate) fn one_of(names: &[&str]) -> Value {
    json!({"type": "string", "enum": names})
}

/// An object with `fields`; a name that ends in `!` is required.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in fields {
        let name = name.strip_suffix('!').inspect(|name| required.push(*name)).unwrap_or(name);
        properties.insert(name.to_owned(), schema);
    }
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// `object`, replaced as a whole by server-side apply.
pub(crate) fn atomic_map(mut object: Value) -> Value {
    object["x-kubernetes-map-type"] = json!("atomic");
    object
}

/// Makes of a derived definition what the API server should hold; `spec_required`: objects without a `spec` are
/// refused.
///
/// # Panics
/// If the definition doesn't survive its own JSON form: a programming error.
pub(crate) fn finish(
    mut crd: CustomResourceDefinition,
    spec_required: bool,
) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        let root = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut());
        if let Some(root) = root {
            let mut value = serde_json::to_value(&*root).expect("a schema is JSON");
            clean(&mut value);
            if !spec_required && let Some(fields) = value.as_object_mut() {
                fields.remove("required");
            }
            *root = serde_json::from_value::<JSONSchemaProps>(value).expect("a schema stays one");
        }
    }
    crd
}

/// Drops what the derives add and KAI's schema doesn't have, here and below.
fn clean(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    fields.remove("nullable");
    fields.remove("title");
    if let Some(Value::String(text)) = fields.get_mut("description")
        && let Some(end) = text.find("\n\n# Source")
    {
        text.truncate(end);
    }
    // Only the one wanted default is a text: all others come from `#[serde(default)]`.
    if !fields.get("default").is_some_and(Value::is_string) {
        fields.remove("default");
    }
    if !matches!(fields.get("format").and_then(Value::as_str), None | Some("int32" | "date-time")) {
        fields.remove("format");
    }
    if fields.contains_key("x-kubernetes-int-or-string") {
        fields.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = fields.get_mut(key) {
            clean(below);
        }
    }
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        for below in properties.values_mut() {
            clean(below);
        }
    }
}
