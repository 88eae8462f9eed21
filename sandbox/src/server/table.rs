//! `meta.k8s.io/v1` Tables: what `kubectl get` prints.

mod builtin;
mod pods;

use std::sync::Arc;

use jiff::Timestamp;
use kai_api::human::human;
use kai_api::json_path::Path;
use kai_daemon::clock;
use serde_json::{Value, json};

use super::convert;
use super::object::{self, Object};
use super::refusal::{ApiResult, Refusal};
use super::route::Target;

/// A column: its name, type and priority (0 is always shown, 1 with `-o wide`).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
}

impl Column {
    fn new(name: &str, kind: &str, priority: i64) -> Self {
        let format = if name == "Name" { "name" } else { "" };
        Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            format: format.to_owned(),
            description: String::new(),
            priority,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }
}

/// A Table with its column definitions.
pub(crate) fn whole(
    target: &Target,
    objects: &[Arc<Object>],
    version: &str,
    metadata: Option<Value>,
    query: &str,
) -> ApiResult<String> {
    let rows = rows(target, objects, query)?;
    let definitions = columns(target).iter().map(Column::to_json).collect();
    let metadata = metadata.unwrap_or_else(|| json!({ "resourceVersion": version }));
    Ok(table(&metadata, &definitions, &rows))
}

/// A Table without column definitions: a later event of a watch.
pub(crate) fn rows_only(
    target: &Target,
    objects: &[Arc<Object>],
    version: &str,
    query: &str,
) -> ApiResult<String> {
    let rows = rows(target, objects, query)?;
    Ok(table(&json!({ "resourceVersion": version }), &json!([]), &rows))
}

fn table(metadata: &Value, definitions: &Value, rows: &[Value]) -> String {
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
    .to_string()
}

/// The bookmark of a watch that carries Tables.
pub(crate) fn bookmark(object: &Value) -> Value {
    let row = json!({ "cells": [], "object": convert::metadata_only(object) });
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": { "resourceVersion": object::text(object, "/metadata/resourceVersion") },
        "columnDefinitions": [],
        "rows": [row],
    })
}

fn columns(target: &Target) -> Vec<Column> {
    let version = target.kind.version(&target.version).expect("routed to a served version");
    if !target.kind.custom {
        return builtin::columns(&target.kind);
    }
    let mut columns = vec![Column::new("Name", "string", 0)];
    if version.columns.is_empty() {
        columns.push(Column::new("Age", "date", 0));
    }
    columns.extend(version.columns.iter().map(|given| Column {
        name: object::text(given, "/name").to_owned(),
        kind: object::text(given, "/type").to_owned(),
        format: object::text(given, "/format").to_owned(),
        description: object::text(given, "/description").to_owned(),
        priority: given.get("priority").and_then(Value::as_i64).unwrap_or(0),
    }));
    columns
}

fn cells(target: &Target, value: &Value, now: Timestamp) -> Vec<Value> {
    if !target.kind.custom {
        return builtin::cells(&target.kind, value, now);
    }
    let version = target.kind.version(&target.version).expect("routed to a served version");
    let mut cells = vec![json!(object::name(value))];
    if version.columns.is_empty() {
        cells.push(json!(age(value, now)));
    }
    for column in &version.columns {
        // What is no path leads nowhere.
        let path = Path::parse(object::text(column, "/jsonPath"));
        let found = path.map_or_else(|_| Vec::new(), |path| path.find(value));
        cells.push(custom_cell(&found, object::text(column, "/type"), now));
    }
    cells
}

/// The cell of a custom column; only the first value found is shown, as kube-apiserver does.
fn custom_cell(found: &[&Value], kind: &str, now: Timestamp) -> Value {
    match (found.first(), kind) {
        (None | Some(Value::Null), _) => Value::Null,
        (Some(Value::String(text)), "date") => json!(since(text, now)),
        (Some(value), "integer") => value.as_i64().map_or(Value::Null, |number| json!(number)),
        (Some(value), "number") => value.as_f64().map_or(Value::Null, |number| json!(number)),
        (Some(value), "boolean") => value.as_bool().map_or(Value::Null, |flag| json!(flag)),
        (Some(Value::String(text)), _) => json!(text),
        (Some(value), _) => json!(value.to_string()),
    }
}

/// The time since `metadata.creationTimestamp`, as people read it.
fn age(value: &Value, now: Timestamp) -> String {
    since(object::text(value, "/metadata/creationTimestamp"), now)
}

/// The time since a timestamp, as people read it.
fn since(timestamp: &str, now: Timestamp) -> String {
    if timestamp.is_empty() {
        return "<unknown>".to_owned();
    }
    match timestamp.parse::<Timestamp>() {
        Ok(then) => human(now.duration_since(then).as_secs()),
        Err(_) => "<invalid>".to_owned(),
    }
}

fn rows(target: &Target, objects: &[Arc<Object>], query: &str) -> ApiResult<Vec<Value>> {
    let include =
        query.split('&').find_map(|pair| pair.strip_prefix("includeObject=")).unwrap_or("Metadata");
    let now = clock::now();
    let rows = objects.iter().map(|found| {
        let value = convert::serve(&found.value, &target.kind, &target.version);
        let cells = cells(target, &found.value, now);
        let shown = match include {
            "None" => None,
            "Metadata" | "" => Some(convert::metadata_only(&value)),
            "Object" => Some(value.into_owned()),
            other => {
                return Err(Refusal::bad_request(format!(
                    "includeObject {other:?} is not supported"
                )));
            }
        };
        Ok(match shown {
            Some(shown) => json!({ "cells": cells, "object": shown }),
            None => json!({ "cells": cells }),
        })
    });
    rows.collect()
}
