//! Owner references: what becomes of the dependents when an owner goes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::server::api::Api;
use crate::server::delete::{
    DeleteOptions, FOREGROUND, ORPHAN, Propagation, delete_object, is_due,
};
use crate::server::object::{self, Object};
use crate::server::state::State;
use crate::server::store::{Change, Key, TableId, Written};

/// Looks at a write and does what follows from it.
pub(super) fn written(api: &Api, written: &Written) {
    let value = &written.event.object.value;
    match written.event.change {
        Change::Deleted => {
            let mut state = api.write();
            for (table, key) in state.store.dependents(object::uid(value)) {
                collect(&mut state, &table, &key, Propagation::Background);
            }
            release_owners(&mut state, value);
        }
        Change::Added | Change::Modified => {
            if object::is_deleting(value) {
                let finalizers = object::finalizers(value);
                let (foreground, orphan) =
                    (finalizers.contains(&FOREGROUND), finalizers.contains(&ORPHAN));
                if foreground || orphan {
                    let mut state = api.write();
                    if orphan {
                        free_dependents(&mut state, object::uid(value));
                        finish(&mut state, object::uid(value), ORPHAN);
                    } else {
                        delete_dependents(&mut state, object::uid(value));
                    }
                }
            } else if !object::owners(value).is_empty() && owners_changed(written) {
                let mut state = api.write();
                collect(&mut state, &written.table, &Key::of(value), Propagation::Background);
            }
            // A dependent that no longer blocks its owner may let the owner go.
            if written
                .event
                .before
                .as_ref()
                .is_some_and(|before| !object::owners(&before.value).is_empty())
                && owners_changed(written)
            {
                let mut state = api.write();
                release_owners(
                    &mut state,
                    &written.event.before.as_ref().expect("checked above").value,
                );
            }
        }
    }
}

fn owners_changed(written: &Written) -> bool {
    let before = written.event.before.as_ref();
    before.is_none_or(|before| {
        object::owners(&before.value) != object::owners(&written.event.object.value)
    })
}

/// Deletes an object none of whose owners exists any more.
fn collect(state: &mut State, table: &TableId, key: &Key, propagation: Propagation) {
    let Some(found) = state.store.get(table, key).cloned() else { return };
    let owners = object::owners(&found.value);
    let (present, gone): (Vec<&Value>, Vec<&Value>) =
        owners.iter().partition(|owner| exists(state, &found, owner));
    if gone.is_empty() {
        return;
    }
    if present.is_empty() {
        let options = DeleteOptions {
            uid: Some(object::uid(&found.value).to_owned()),
            propagation: Some(propagation),
            ..DeleteOptions::default()
        };
        remove(state, table, &found, &options);
        return;
    }
    let mut value = found.value.clone();
    object::set_metadata(&mut value, "ownerReferences", json!(present));
    state.put(table, value);
}

/// Tells whether the owner that a reference names exists: the same UID, in the dependent's namespace or cluster-scoped.
fn exists(state: &State, dependent: &Object, owner: &Value) -> bool {
    let Some((_, key)) = state.store.by_uid(object::text(owner, "/uid")) else { return false };
    key.namespace.is_empty() || key.namespace == object::namespace(&dependent.value)
}

fn remove(state: &mut State, table: &TableId, found: &Arc<Object>, options: &DeleteOptions) {
    let Some(kind) = state.kinds.of_table(table).cloned() else { return };
    // Under the same lock as the look-up; a refusal is one of a kind that protects itself, like a namespace.
    if let Err(refusal) = delete_object(state, &kind, found, options) {
        tracing::debug!(message = refusal.message(), "failed to delete a dependent");
    }
}

fn free_dependents(state: &mut State, uid: &str) {
    for (table, key) in state.store.dependents(uid) {
        let Some(found) = state.store.get(&table, &key).cloned() else { continue };
        let mut value = found.value.clone();
        disown(&mut value, uid);
        state.put(&table, value);
    }
}

/// Takes the references to an owner off.
fn disown(dependent: &mut Value, uid: &str) {
    let owners = object::owners(dependent).iter();
    let kept: Vec<Value> =
        owners.filter(|owner| object::text(owner, "/uid") != uid).cloned().collect();
    object::set_metadata(dependent, "ownerReferences", json!(kept));
}

/// Tells whether a dependent has another owner, which is there and waits for no dependents itself.
fn has_another_owner(state: &State, dependent: &Object, uid: &str) -> bool {
    object::owners(&dependent.value).iter().any(|owner| {
        let other = object::text(owner, "/uid");
        other != uid && exists(state, dependent, owner) && !waits_for_dependents(state, other)
    })
}

/// Tells whether an object is being deleted in the foreground.
fn waits_for_dependents(state: &State, uid: &str) -> bool {
    let found = state.store.by_uid(uid).and_then(|(table, key)| state.store.get(table, key));
    found.is_some_and(|owner| {
        object::is_deleting(&owner.value) && object::finalizers(&owner.value).contains(&FOREGROUND)
    })
}

/// Foreground deletion: the dependents first, each in the foreground too, but for those that another owner keeps; the owner
/// when none blocks it.
fn delete_dependents(state: &mut State, uid: &str) {
    for (table, key) in state.store.dependents(uid) {
        let Some(found) = state.store.get(&table, &key).cloned() else { continue };
        if object::is_deleting(&found.value) {
            continue;
        }
        if has_another_owner(state, &found, uid) {
            let mut value = found.value.clone();
            disown(&mut value, uid);
            state.put(&table, value);
            continue;
        }
        let options = DeleteOptions {
            uid: Some(object::uid(&found.value).to_owned()),
            propagation: Some(Propagation::Foreground),
            ..DeleteOptions::default()
        };
        remove(state, &table, &found, &options);
    }
    if !is_blocked(state, uid) {
        finish(state, uid, FOREGROUND);
    }
}

fn is_blocked(state: &State, uid: &str) -> bool {
    state.store.dependents(uid).iter().any(|(table, key)| {
        state.store.get(table, key).is_some_and(|dependent| {
            object::owners(&dependent.value).iter().any(|owner| {
                object::text(owner, "/uid") == uid
                    && owner.get("blockOwnerDeletion") == Some(&json!(true))
            })
        })
    })
}

/// Looks again at the owners of a dependent that wait for theirs: what came after the others were deleted is deleted as well,
/// and who waited only for this one goes.
fn release_owners(state: &mut State, dependent: &Value) {
    let uids: BTreeSet<&str> =
        object::owners(dependent).iter().map(|owner| object::text(owner, "/uid")).collect();
    for uid in uids {
        if waits_for_dependents(state, uid) {
            delete_dependents(state, uid);
        }
    }
}

/// Takes a finalizer off, and the object away when it was the last.
fn finish(state: &mut State, uid: &str, finalizer: &str) {
    let Some((table, key)) = state.store.by_uid(uid).cloned() else { return };
    let (Some(found), Some(kind)) =
        (state.store.get(&table, &key).cloned(), state.kinds.of_table(&table).cloned())
    else {
        return;
    };
    let mut value = found.value.clone();
    let kept: Vec<&str> =
        object::finalizers(&found.value).into_iter().filter(|name| *name != finalizer).collect();
    object::set_metadata(&mut value, "finalizers", json!(kept));
    if is_due(&kind, &value) {
        state.remove(&table, &key, value);
    } else {
        state.put(&table, value);
    }
}
