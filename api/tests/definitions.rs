//! Our definitions say what KAI's say, to the field: schema, names, columns, subresources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Brings a definition to the form in which two of equal effect are equal.
fn normal(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // No effect on what is accepted: integers are 64 bits wide, and texts are for people.
            if fields.get("format").is_some_and(|format| format == "int64") {
                fields.remove("format");
            }
            if fields.get("description").is_some_and(Value::is_string) {
                fields.remove("description");
            }
            fields.retain(|_, below| !below.as_array().is_some_and(Vec::is_empty));
            for key in ["required", "enum"] {
                if let Some(Value::Array(names)) = fields.get_mut(key) {
                    names.sort_by_key(Value::to_string);
                }
            }
            fields.values_mut().for_each(normal);
            // `5` and `5.0` are one number.
            for bound in ["minimum", "maximum"] {
                if let Some(number) = fields.get(bound).and_then(Value::as_f64) {
                    fields.insert(bound.to_owned(), number.into());
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normal),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The parts of a definition that decide.
fn decisive(mut definition: Value) -> Value {
    let mut spec = definition["spec"].take();
    for version in spec["versions"].as_array_mut().expect("versions") {
        let root = &mut version["schema"]["openAPIV3Schema"];
        // The API server adds these three itself.
        let properties = root["properties"].as_object_mut().expect("properties");
        for implied in ["apiVersion", "kind", "metadata"] {
            properties.remove(implied);
        }
    }
    if let Some(names) = spec["names"].as_object_mut() {
        // Absent: the kind and `List`.
        names.remove("listKind");
    }
    normal(&mut spec);
    spec
}

#[track_caller]
fn same(ours: &Value, kai: &Value, path: &str) {
    match (ours, kai) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let below = format!("{path}.{key}");
                let null = Value::Null;
                same(a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null), &below);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                same(a, b, &format!("{path}[{index}]"));
            }
        }
        _ => assert_eq!(ours, kai, "at {path}: ours is left, KAI's is right"),
    }
}

#[test]
fn equal_those_of_kai() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kai-v0.17");
    for ours in kai_api::crd::all() {
        let ours = serde_json::to_value(ours).expect("a definition is JSON");
        let plural = ours["spec"]["names"]["plural"].as_str().expect("a plural");
        let group = ours["spec"]["group"].as_str().expect("a group");
        // Ours alone.
        if plural == "dailyrecords" {
            continue;
        }
        let file = folder.join(format!("{group}_{plural}.json"));
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let kai: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(ours["metadata"]["name"], kai["metadata"]["name"]);
        same(&decisive(ours), &decisive(kai), &file.file_stem().expect("a name").to_string_lossy());
    }
}
