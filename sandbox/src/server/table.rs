//! `meta.k8s.io/v1` Tables: what `kubectl get` prints.

use std::sync::Arc;

use serde_json::{Value, json};

use super::convert;
use super::object::{self, Object};
use super::refusal::{ApiResult, Refusal};
use super::route::Target;

/// A Table with its column definitions.
pub(crate) fn whole(
    target: &Target,
    objects: &[Arc<Object>],
    version: &str,
    metadata: Option<Value>,
    query: &str,
) -> ApiResult<String> {
    let rows = rows(target, objects, query)?;
    let definitions = json!([
        { "name": "Name", "type": "string", "format": "name", "description": "", "priority": 0 },
        { "name": "Created At", "type": "date", "format": "", "description": "", "priority": 0 },
    ]);
    let metadata = metadata.unwrap_or_else(|| json!({ "resourceVersion": version }));
    Ok(table(&metadata, definitions, rows))
}

/// A Table without column definitions: a later event of a watch.
pub(crate) fn rows_only(
    target: &Target,
    objects: &[Arc<Object>],
    version: &str,
    query: &str,
) -> ApiResult<String> {
    let rows = rows(target, objects, query)?;
    Ok(table(&json!({ "resourceVersion": version }), json!([]), rows))
}

fn table(metadata: &Value, definitions: Value, rows: Vec<Value>) -> String {
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

fn rows(target: &Target, objects: &[Arc<Object>], query: &str) -> ApiResult<Vec<Value>> {
    let include = query.split('&').find_map(|pair| pair.strip_prefix("includeObject=")).unwrap_or("Metadata");
    let rows = objects.iter().map(|found| {
        let cells = json!([object::name(&found.value), object::text(&found.value, "/metadata/creationTimestamp")]);
        let shown = match include {
            "None" => None,
            "Metadata" | "" => Some(convert::metadata_only(&found.value)),
            "Object" => Some(convert::serve(&found.value, &target.kind, &target.version).into_owned()),
            other => return Err(Refusal::bad_request(format!("includeObject {other:?} is not supported"))),
        };
        Ok(match shown {
            Some(shown) => json!({ "cells": cells, "object": shown }),
            None => json!({ "cells": cells }),
        })
    });
    rows.collect()
}
