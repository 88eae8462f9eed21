//! Validation of a value against a schema, in kube-apiserver's words.

use kube_cel::{CompiledSchema, Validator};
use serde_json::Value;

use super::{ListType, Schema, Type};
use crate::server::refusal::Cause;

/// Adds a cause for everything about `value` that the schema forbids.
pub(crate) fn validate(schema: &Schema, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    if value.is_null() && schema.nullable {
        return;
    }
    if !has_type(schema, value) {
        let wanted = type_name(schema);
        let have = if value.is_null() { "null".to_owned() } else { type_of(value).to_owned() };
        let detail = format!("{} in body must be of type {wanted}: {have:?}", shown(path));
        causes.push(Cause::wrong_type(shown(path), value, &detail));
        return;
    }
    if let Some(allowed) = &schema.allowed
        && !allowed.contains(value)
    {
        let names: Vec<String> = allowed.iter().map(plain).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        causes.push(Cause::unsupported(shown(path), value, &names));
    }
    match value {
        Value::Object(_) => object(schema, value, path, causes),
        Value::Array(items) => array(schema, items, path, causes),
        Value::String(text) => string(schema, text, path, causes),
        Value::Number(_) => number(schema, value, path, causes),
        Value::Null | Value::Bool(_) => {}
    }
    combinations(schema, value, path, causes);
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "<nil>" } else { path }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn has_type(schema: &Schema, value: &Value) -> bool {
    if schema.int_or_string {
        return value.is_string() || value.is_i64() || value.is_u64();
    }
    match schema.kind {
        Type::Any => true,
        Type::Object => value.is_object(),
        Type::Array => value.is_array(),
        Type::String => value.is_string(),
        Type::Integer => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Type::Number => value.is_number(),
        Type::Boolean => value.is_boolean(),
    }
}

fn type_name(schema: &Schema) -> &'static str {
    if schema.int_or_string {
        return "integer,string";
    }
    match schema.kind {
        Type::Any => "any",
        Type::Object => "object",
        Type::Array => "array",
        Type::String => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn object(schema: &Schema, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let Some(fields) = value.as_object() else { return };
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for key in &schema.required {
        if !fields.contains_key(key) {
            causes.push(Cause::required(below(key), ""));
        }
    }
    for (key, field) in fields {
        if let Some(inner) = schema.properties.get(key).or(schema.additional.as_deref()) {
            validate(inner, field, &below(key), causes);
        }
    }
    let have = fields.len() as u64;
    if let Some(most) = schema.limits.max_properties.filter(|most| have > *most) {
        causes.push(Cause::too_many(shown(path), fields.len(), most));
    }
    if let Some(least) = schema.limits.min_properties.filter(|least| have < *least) {
        let detail = format!("{} in body should have at least {least} properties", shown(path));
        causes.push(Cause::invalid(shown(path), value, &detail));
    }
}

fn array(schema: &Schema, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
    if let Some(inner) = &schema.items {
        for (index, item) in items.iter().enumerate() {
            validate(inner, item, &format!("{path}[{index}]"), causes);
        }
    }
    let have = items.len() as u64;
    if let Some(most) = schema.limits.max_items.filter(|most| have > *most) {
        causes.push(Cause::too_many(shown(path), items.len(), most));
    }
    if let Some(least) = schema.limits.min_items.filter(|least| have < *least) {
        let detail = format!("{} in body should have at least {least} items", shown(path));
        causes.push(Cause::invalid(shown(path), &Value::Array(items.to_vec()), &detail));
    }
    duplicates(schema, items, path, causes);
}

fn duplicates(schema: &Schema, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
    let identity = |item: &Value| match &schema.list_type {
        ListType::Set => Some(item.clone()),
        ListType::Map(keys) => Some(Value::Array(
            keys.iter().map(|key| item.get(key).cloned().unwrap_or_default()).collect(),
        )),
        ListType::Atomic => schema.limits.unique_items.then(|| item.clone()),
    };
    let mut seen = std::collections::HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let Some(identity) = identity(item) else { return };
        if !seen.insert(identity.to_string()) {
            let shown = match &schema.list_type {
                ListType::Map(keys) => Value::Object(
                    keys.iter()
                        .map(|key| (key.clone(), item.get(key).cloned().unwrap_or_default()))
                        .collect(),
                ),
                ListType::Set | ListType::Atomic => item.clone(),
            };
            causes.push(Cause::duplicate(format!("{path}[{index}]"), &shown));
        }
    }
}

fn string(schema: &Schema, text: &str, path: &str, causes: &mut Vec<Cause>) {
    let value = Value::String(text.to_owned());
    let length = text.chars().count() as u64;
    if let Some(most) = schema.limits.max_length.filter(|most| length > *most) {
        causes.push(Cause::too_long(shown(path), most));
    }
    if let Some(least) = schema.limits.min_length.filter(|least| length < *least) {
        let detail = format!("{} in body should be at least {least} chars long", shown(path));
        causes.push(Cause::invalid(shown(path), &value, &detail));
    }
    if let Some(pattern) = schema.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        let detail = format!("{} in body should match '{pattern}'", shown(path));
        causes.push(Cause::invalid(shown(path), &value, &detail));
    }
    if !fits_format(&schema.format, text) {
        let detail = format!("{} in body must be of type {}: {text:?}", shown(path), schema.format);
        causes.push(Cause::invalid(shown(path), &value, &detail));
    }
}

/// Formats that kube-apiserver checks and that occur; others it ignores, or they are rare.
fn fits_format(format: &str, text: &str) -> bool {
    match format {
        "date-time" => text.parse::<jiff::Timestamp>().is_ok(),
        "date" => text.parse::<jiff::civil::Date>().is_ok(),
        "uuid" => uuid::Uuid::parse_str(text).is_ok(),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "byte" => {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.decode(text).is_ok()
        }
        _ => true,
    }
}

fn number(schema: &Schema, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let Some(have) = value.as_f64() else { return };
    let limits = &schema.limits;
    let mut refuse = |detail: String| causes.push(Cause::invalid(shown(path), value, &detail));
    if let Some(least) = limits.minimum {
        if limits.exclusive_minimum && have <= least {
            refuse(format!("{} in body should be greater than {least}", shown(path)));
        } else if have < least {
            refuse(format!("{} in body should be greater than or equal to {least}", shown(path)));
        }
    }
    if let Some(most) = limits.maximum {
        if limits.exclusive_maximum && have >= most {
            refuse(format!("{} in body should be less than {most}", shown(path)));
        } else if have > most {
            refuse(format!("{} in body should be less than or equal to {most}", shown(path)));
        }
    }
    if let Some(step) =
        limits.multiple_of.filter(|step| *step != 0.0 && (have / step).fract() != 0.0)
    {
        refuse(format!("{} in body should be a multiple of {step}", shown(path)));
    }
    let fits = match schema.format.as_str() {
        "int32" => value.as_i64().is_some_and(|have| i32::try_from(have).is_ok()),
        "int64" => value.is_i64() || value.is_f64(),
        _ => true,
    };
    if !fits {
        refuse(format!("{} in body must be of type {}: {value}", shown(path), schema.format));
    }
}

fn combinations(schema: &Schema, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let fits = |schema: &Schema| {
        let mut inner = Vec::new();
        validate(schema, value, path, &mut inner);
        inner.is_empty()
    };
    for inner in &schema.all_of {
        validate(inner, value, path, causes);
    }
    let mut refuse = |what: &str| {
        let detail = format!("{} in body must {what}", shown(path));
        causes.push(Cause::invalid(shown(path), value, &detail));
    };
    if !schema.any_of.is_empty() && !schema.any_of.iter().any(fits) {
        refuse("validate at least one schema (anyOf)");
    }
    if !schema.one_of.is_empty() && schema.one_of.iter().filter(|inner| fits(inner)).count() != 1 {
        refuse("validate one and only one schema (oneOf)");
    }
    if schema.not.as_deref().is_some_and(fits) {
        refuse("not validate the schema (not)");
    }
}

/// Evaluates the CEL rules.
pub(crate) fn rules(rules: &CompiledSchema, value: &Value, old: Option<&Value>) -> Vec<Cause> {
    let Err(errors) = Validator::new().validate_compiled(rules, value, old) else {
        return Vec::new();
    };
    let errors = errors.into_vec().into_iter().map(|error| {
        let field =
            if error.field_path.is_empty() { "<nil>".to_owned() } else { error.field_path.clone() };
        let at = at_path(value, &error.field_path);
        Cause::invalid(field, &at, &error.message)
    });
    errors.collect()
}

fn at_path(value: &Value, path: &str) -> Value {
    let mut at = value;
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let next = match at {
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
            Value::Object(fields) => fields.get(step),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        match next {
            Some(next) => at = next,
            None => return Value::Null,
        }
    }
    at.clone()
}
