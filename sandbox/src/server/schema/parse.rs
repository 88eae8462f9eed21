//! From the JSON of a schema to [`Schema`]. A keyword that would be ignored is refused.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::{Limits, ListType, Schema, Type};
use crate::server::refusal::Cause;

/// Parses a schema; `path` is where it stands, for messages.
pub(super) fn parse(source: &Value, path: &str) -> Result<Schema, Cause> {
    let Some(fields) = source.as_object() else {
        return Err(Cause::invalid(path, source, "a schema is an object"));
    };
    let mut schema = Schema::default();
    for (key, value) in fields {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        keyword(&mut schema, key, value, &at)?;
    }
    let keys = fields.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    if let (ListType::Map(slot), Some(keys)) = (&mut schema.list_type, keys) {
        *slot = keys.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let below = schema
        .properties
        .values()
        .chain(schema.items.as_deref())
        .chain(schema.additional.as_deref());
    schema.has_rules = below.into_iter().any(|schema| schema.has_rules)
        || fields.contains_key("x-kubernetes-validations");
    Ok(schema)
}

fn keyword(schema: &mut Schema, key: &str, value: &Value, at: &str) -> Result<(), Cause> {
    let flag = || value.as_bool().unwrap_or(false);
    let text = || value.as_str().unwrap_or_default();
    match key {
        "type" => schema.kind = json_type(value, at)?,
        "nullable" => schema.nullable = flag(),
        "x-kubernetes-int-or-string" => schema.int_or_string = flag(),
        "x-kubernetes-preserve-unknown-fields" => schema.preserve_unknown = flag(),
        "x-kubernetes-embedded-resource" => schema.embedded_resource = flag(),
        "properties" => schema.properties = map(value, at)?,
        "additionalProperties" if value.is_boolean() => schema.additional_any = flag(),
        "additionalProperties" => schema.additional = Some(Box::new(parse(value, at)?)),
        "items" => schema.items = Some(Box::new(parse(value, at)?)),
        "required" => {
            let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            schema.required = names.map(str::to_owned).collect();
        }
        "default" => schema.default = Some(value.clone()),
        "enum" => schema.allowed = value.as_array().cloned(),
        "format" => text().clone_into(&mut schema.format),
        "pattern" => schema.pattern = Some(pattern(text(), at)?),
        "allOf" => schema.all_of = list(value, at)?,
        "anyOf" => schema.any_of = list(value, at)?,
        "oneOf" => schema.one_of = list(value, at)?,
        "not" => schema.not = Some(Box::new(parse(value, at)?)),
        "x-kubernetes-list-type" => {
            schema.list_type = match text() {
                "set" => ListType::Set,
                "map" => ListType::Map(Vec::new()),
                _ => ListType::Atomic,
            };
        }
        "x-kubernetes-map-type" => schema.map_atomic = text() == "atomic",
        "description"
        | "title"
        | "example"
        | "externalDocs"
        | "x-kubernetes-list-map-keys"
        | "x-kubernetes-validations"
        | "x-kubernetes-patch-strategy"
        | "x-kubernetes-patch-merge-key"
        | "x-kubernetes-group-version-kind" => {}
        _ => return limit(&mut schema.limits, key, value, at),
    }
    Ok(())
}

fn limit(limits: &mut Limits, key: &str, value: &Value, at: &str) -> Result<(), Cause> {
    match key {
        "minimum" => limits.minimum = value.as_f64(),
        "maximum" => limits.maximum = value.as_f64(),
        "exclusiveMinimum" => limits.exclusive_minimum = value.as_bool().unwrap_or(false),
        "exclusiveMaximum" => limits.exclusive_maximum = value.as_bool().unwrap_or(false),
        "multipleOf" => limits.multiple_of = value.as_f64(),
        "minLength" => limits.min_length = value.as_u64(),
        "maxLength" => limits.max_length = value.as_u64(),
        "minItems" => limits.min_items = value.as_u64(),
        "maxItems" => limits.max_items = value.as_u64(),
        "uniqueItems" => limits.unique_items = value.as_bool().unwrap_or(false),
        "minProperties" => limits.min_properties = value.as_u64(),
        "maxProperties" => limits.max_properties = value.as_u64(),
        other => {
            return Err(Cause::forbidden(at, &format!("the keyword {other} is not supported")));
        }
    }
    Ok(())
}

fn json_type(value: &Value, at: &str) -> Result<Type, Cause> {
    Ok(match value.as_str().unwrap_or("?") {
        "" => Type::Any,
        "object" => Type::Object,
        "array" => Type::Array,
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        _ => {
            let allowed = ["array", "boolean", "integer", "number", "object", "string"];
            return Err(Cause::unsupported(at, value, &allowed));
        }
    })
}

fn pattern(text: &str, at: &str) -> Result<Regex, Cause> {
    Regex::new(text).map_err(|error| {
        Cause::invalid(
            at,
            &Value::String(text.to_owned()),
            &format!("must be a valid regular expression: {error}"),
        )
    })
}

fn map(value: &Value, at: &str) -> Result<BTreeMap<String, Schema>, Cause> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| Ok((name.clone(), parse(value, &format!("{at}[{name}]"))?)))
        .collect()
}

fn list(value: &Value, at: &str) -> Result<Vec<Schema>, Cause> {
    let items = value.as_array().into_iter().flatten().enumerate();
    items.map(|(index, value)| parse(value, &format!("{at}[{index}]"))).collect()
}
