//! Pruning of unknown fields and filling in of defaults.

use serde_json::Value;

use super::{Schema, Type, definitions};

/// Removes the fields that the schema of a whole object does not know; their paths go to `unknown`.
pub(crate) fn prune_object(schema: &Schema, value: &mut Value, unknown: &mut Vec<String>) {
    prune_fields(schema, value, "", true, unknown);
}

fn prune(schema: &Schema, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    let schema = schema.resolved();
    match value {
        Value::Object(_) => prune_fields(schema, value, path, schema.embedded_resource, unknown),
        Value::Array(items) => {
            let Some(inner) = &schema.items else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune(inner, item, &format!("{path}[{index}]"), unknown);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn prune_fields(
    schema: &Schema,
    value: &mut Value,
    path: &str,
    whole: bool,
    unknown: &mut Vec<String>,
) {
    let schema = schema.resolved();
    let Some(fields) = value.as_object_mut() else { return };
    fields.retain(|key, field| {
        let at = || if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if whole && matches!(key.as_str(), "apiVersion" | "kind") {
            return true;
        }
        if whole && key == "metadata" {
            prune(definitions::schema("meta.v1.ObjectMeta"), field, &at(), unknown);
            return true;
        }
        if let Some(inner) = schema.field(key) {
            if matches!(field, Value::Object(_) | Value::Array(_)) {
                prune(inner, field, &at(), unknown);
            }
            return true;
        }
        let kept = schema.preserve_unknown || schema.additional_any;
        if !kept {
            unknown.push(at());
        }
        kept
    });
}

/// Checks the JSON types of a built-in kind, drops nulls and writes quantities in their canonical form.
pub(crate) fn coerce(schema: &Schema, value: &mut Value, path: &str) -> Result<(), String> {
    let schema = schema.resolved();
    if schema.quantity {
        return coerce_quantity(value, path);
    }
    let wanted = go_type(schema);
    let fits = match (schema.kind, &*value) {
        _ if schema.int_or_string => value.is_string() || value.is_i64() || value.is_u64(),
        (Type::Any, _)
        | (_, Value::Null)
        | (Type::Object, Value::Object(_))
        | (Type::Array, Value::Array(_))
        | (Type::String, Value::String(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_)) => true,
        (Type::Integer, Value::Number(number)) => fits_integer(schema, number),
        (
            Type::Object
            | Type::Array
            | Type::String
            | Type::Boolean
            | Type::Integer
            | Type::Number,
            _,
        ) => false,
    };
    if !fits {
        let have = go_value(value);
        return Err(format!(
            "json: cannot unmarshal {have} into Go struct field {path} of type {wanted}"
        ));
    }
    match value {
        Value::Object(fields) => {
            // Go leaves a field that is null as it is: absent. An entry of a map is there, with the zero value of its type.
            let zero = schema.additional.as_deref().and_then(zero_value);
            fields.retain(|key, field| {
                if let Some(zero) = &zero
                    && field.is_null()
                    && !schema.properties.contains_key(key)
                {
                    *field = zero.clone();
                }
                !field.is_null() || schema.preserve_unknown
            });
            for (key, field) in fields.iter_mut() {
                if let Some(inner) = schema.field(key) {
                    let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    coerce(inner, field, &at)?;
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = &schema.items {
                for item in items {
                    coerce(inner, item, path)?;
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// The zero value of a type in Go, where it is a text or an amount.
fn zero_value(schema: &Schema) -> Option<Value> {
    let schema = schema.resolved();
    match schema.kind {
        _ if schema.quantity => Some(Value::from("0")),
        Type::String => Some(Value::from("")),
        Type::Object | Type::Array | Type::Boolean | Type::Integer | Type::Number | Type::Any => {
            None
        }
    }
}

fn coerce_quantity(value: &mut Value, path: &str) -> Result<(), String> {
    let text = match &*value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let quantity = kai_api::quantity::Quantity::parse(&text).map_err(|_| {
        format!(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' \
             (field {path}, value {text:?})"
        )
    })?;
    *value = Value::String(quantity.to_string());
    Ok(())
}

fn fits_integer(schema: &Schema, number: &serde_json::Number) -> bool {
    match (number.as_i64(), schema.format.as_str()) {
        (Some(whole), "int32") => i32::try_from(whole).is_ok(),
        (Some(_), _) => true,
        (None, _) => false,
    }
}

fn go_type(schema: &Schema) -> &str {
    match schema.kind {
        Type::String => "string",
        Type::Boolean => "bool",
        Type::Integer => &schema.format,
        Type::Number => "float64",
        Type::Array => "[]",
        Type::Object | Type::Any => "struct",
    }
}

fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

/// Fills in defaults, and drops nulls that the schema does not allow where it has a default.
pub(crate) fn default(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in &schema.properties {
                let Some(filler) = &inner.default else { continue };
                let absent = match fields.get(key) {
                    None => true,
                    Some(found) => found.is_null() && !inner.nullable,
                };
                if absent {
                    fields.insert(key.clone(), filler.clone());
                }
            }
            for (key, field) in fields.iter_mut() {
                if let Some(inner) = schema.properties.get(key).or(schema.additional.as_deref()) {
                    default(inner, field);
                }
            }
            drop_nulls(schema, fields);
        }
        Value::Array(items) => {
            let Some(inner) = &schema.items else { return };
            for item in items {
                default(inner, item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A null for a field that may not be null and has no default is dropped where the field is optional.
fn drop_nulls(schema: &Schema, fields: &mut serde_json::Map<String, Value>) {
    fields.retain(|key, value| {
        let Some(inner) = schema.properties.get(key) else { return true };
        let pruned = value.is_null()
            && !inner.nullable
            && inner.kind != Type::Any
            && !schema.required.contains(key);
        !pruned
    });
}
