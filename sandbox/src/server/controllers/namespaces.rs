//! Namespaces and `CustomResourceDefinitions` that are being deleted take their objects with them; new namespaces get
//! their `default` `ServiceAccount`.

use std::sync::Arc;

use serde_json::json;

use crate::server::api::Api;
use crate::server::crd;
use crate::server::delete::{DeleteOptions, Propagation, delete_object, is_due};
use crate::server::object::{self, Object};
use crate::server::state::State;
use crate::server::store::{Change, Key, TableId, Written};

/// Looks at a write and does what follows from it.
pub(super) fn written(api: &Api, written: &Written) {
    let value = &written.event.object.value;
    let namespaces = TableId::new("", "namespaces");
    if written.table == namespaces {
        match written.event.change {
            Change::Added => {
                let account = json!({ "metadata": { "name": "default" } });
                let namespace = object::name(value);
                super::make(&mut api.write(), "", "serviceaccounts", namespace, account);
            }
            Change::Modified if object::is_deleting(value) => {
                empty(&mut api.write(), object::name(value));
            }

            Change::Modified | Change::Deleted => {}
        }
        return;
    }
    if crd::is_table(&written.table)
        && object::is_deleting(value)
        && written.event.change == Change::Modified
    {
        let mut state = api.write();
        let table = TableId::new(
            object::text(value, "/spec/group"),
            object::text(value, "/spec/names/plural"),
        );
        clear(&mut state, &table, "");
        finish_definition(&mut state, &table);
        return;
    }
    if written.event.change == Change::Deleted {
        let mut state = api.write();
        finish_namespace(&mut state, object::namespace(value));
        finish_definition(&mut state, &written.table);
    }
}

fn empty(state: &mut State, namespace: &str) {
    let tables: Vec<TableId> = state
        .kinds
        .iter()
        .filter(|kind| kind.namespaced && kind.stored)
        .map(|kind| kind.table.clone())
        .collect();
    for table in tables {
        clear(state, &table, namespace);
    }
    finish_namespace(state, namespace);
}

fn clear(state: &mut State, table: &TableId, namespace: &str) {
    let Some(kind) = state.kinds.of_table(table).cloned() else { return };
    let objects: Vec<Arc<Object>> = state
        .store
        .table(table)
        .into_iter()
        .flat_map(|table| table.in_namespace(namespace))
        .cloned()
        .collect();
    for found in objects.iter().filter(|found| !object::is_deleting(&found.value)) {
        let options = DeleteOptions {
            propagation: Some(Propagation::Background),
            ..DeleteOptions::default()
        };
        if let Err(refusal) = delete_object(state, &kind, found, &options) {
            tracing::debug!(
                message = refusal.message(),
                "failed to delete an object of a namespace"
            );
        }
    }
}

fn finish_namespace(state: &mut State, namespace: &str) {
    if namespace.is_empty() {
        return;
    }
    let (table, key) = (TableId::new("", "namespaces"), Key::new("", namespace));
    let Some(found) = state.store.get(&table, &key).cloned() else { return };
    if !object::is_deleting(&found.value) {
        return;
    }
    let left =
        state.store.tables().any(|(_, objects)| objects.in_namespace(namespace).next().is_some());
    if left {
        return;
    }
    let mut value = found.value.clone();
    object::child_mut(&mut value, "spec").insert("finalizers".to_owned(), json!([]));
    let kind = state.kinds.of_table(&table).cloned().expect("a built-in resource");
    if is_due(&kind, &value) {
        state.remove(&table, &key, value);
    } else if value != found.value {
        state.put(&table, value);
    }
}

fn finish_definition(state: &mut State, table: &TableId) {
    let definitions = TableId::new("apiextensions.k8s.io", "customresourcedefinitions");
    let key = Key::new("", &format!("{}.{}", table.plural, table.group));
    let Some(found) = state.store.get(&definitions, &key).cloned() else { return };
    let left = state.store.table(table).is_some_and(|table| table.len() > 0);
    if left || !object::is_deleting(&found.value) {
        return;
    }
    let mut value = found.value.clone();
    let kept: Vec<&str> =
        object::finalizers(&found.value).into_iter().filter(|name| *name != crd::CLEANUP).collect();
    object::set_metadata(&mut value, "finalizers", json!(kept));
    let kind = state.kinds.of_table(&definitions).cloned().expect("a built-in resource");
    if is_due(&kind, &value) {
        state.remove(&definitions, &key, value);
    } else if value != found.value {
        state.put(&definitions, value);
    }
}
