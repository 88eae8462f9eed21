//! POST, PUT and PATCH: from what a client sent to what is stored.

mod admitted;
mod scale;

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission;
use super::api::Api;
use super::decode::body;
use super::fields::{Intent, managed};
use super::object::{self, Object};
use super::params::Params;
use super::refusal::{ApiResult, Cause, Refusal, ResourceName};
use super::reply::{self, Reply};
use super::request::Request;
use super::route::Target;
use super::state::State;
use super::store::{Key, TableId};
use super::{conform, convert, crd, delete, patch, read, strategy, validate};

pub(super) use self::scale::scale;

impl State {
    /// Stores an object, and does what follows where it is a definition, a webhook or a policy.
    pub(crate) fn put(&mut self, table: &TableId, value: Value) -> Arc<Object> {
        let object = self.store.put(table, value);
        if crd::is_table(table) {
            crd::serve(self, &object.value);
        }
        self.notice(table);
        object
    }

    /// Removes an object, and what it stood for where it is a definition, a webhook or a policy.
    pub(crate) fn remove(&mut self, table: &TableId, key: &Key, last: Value) -> Arc<Object> {
        let object = self.store.remove(table, key, last);
        if crd::is_table(table) {
            crd::withdraw(self, &object.value);
        }
        self.notice(table);
        object
    }

    fn notice(&mut self, table: &TableId) {
        self.grants.notice(table);
        if admission::is_table(table) {
            self.admission = Arc::new(self.admission.again(&self.store));
        }
    }
}

/// POST to a collection.
pub(crate) async fn create(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let value = body(request, target)?;
    let mut intent = Intent::of(request, params);
    if target.kind.namespaced && target.namespace.is_empty() {
        return Err(Refusal::method_not_allowed());
    }
    let object = admitted::insert(api, request, target, value, &mut intent).await?;
    finish(request, target, 201, &object, &intent)
}

fn finish(
    request: &Request,
    target: &Target,
    code: u16,
    object: &Arc<Object>,
    intent: &Intent<'_>,
) -> ApiResult<Reply> {
    let mut reply = read::show(request, target, code, object)?;
    reply::warn(&mut reply, &intent.warnings);
    Ok(reply)
}

/// Stores a new object of the server's own; nobody is asked.
pub(crate) fn insert(
    state: &mut State,
    target: &Target,
    value: Value,
    intent: &mut Intent<'_>,
) -> ApiResult<Arc<Object>> {
    let value = begin_insert(state, target, value, intent)?;
    let value = end_insert(state, target, value)?;
    store_new(state, target, value, intent)
}

/// A new object as far as the client says what it is: with defaults and owners of fields.
fn begin_insert(
    state: &State,
    target: &Target,
    mut value: Value,
    intent: &mut Intent<'_>,
) -> ApiResult<Value> {
    let kind = &target.kind;
    if !object::text(&value, "/metadata/resourceVersion").is_empty() {
        // Code and missing reason as kube-apiserver has them.
        let message = "resourceVersion should not be set on objects to be created";
        return Err(Refusal::new(500, "", message));
    }
    if kind.namespaced {
        object::set_metadata(&mut value, "namespace", json!(target.namespace));
        check_namespace(state, target, object::name(&value))?;
    } else {
        object::metadata_mut(&mut value).shift_remove("namespace");
    }
    let own = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];
    for field in own.into_iter().chain(["selfLink"]) {
        object::metadata_mut(&mut value).shift_remove(field);
    }
    conform::clean(target, &mut value, intent)?;
    let mut value = convert::store(value, kind);
    strategy::prepare_create(target, &mut value);
    object::metadata_mut(&mut value).shift_remove("managedFields");
    managed::track(target, None, &mut value, intent)?;
    strategy::admit(state, target, &mut value)?;
    Ok(value)
}

/// The same after a webhook has changed it.
fn settle_insert(state: &State, target: &Target, value: &mut Value) -> ApiResult<()> {
    conform::tidy(target, value)?;
    strategy::prepare_create(target, value);
    strategy::admit(state, target, value)
}

/// A new object with all that the server adds; refused where it is not valid.
fn end_insert(state: &State, target: &Target, mut value: Value) -> ApiResult<Value> {
    name(state, target, &mut value)?;
    object::set_metadata(&mut value, "uid", json!(object::new_uid()));
    object::set_metadata(&mut value, "creationTimestamp", json!(object::now_text()));
    if target.kind.generation {
        object::set_metadata(&mut value, "generation", json!(1));
    }
    strategy::complete(target, &mut value);
    conform::check(target, &value, None)?;
    target.refuse(&value, &validate::create(target, &value))?;
    Ok(value)
}

fn store_new(
    state: &mut State,
    target: &Target,
    value: Value,
    intent: &Intent<'_>,
) -> ApiResult<Arc<Object>> {
    let kind = &target.kind;
    let key = Key::of(&value);
    if state.store.get(&kind.table, &key).is_some() {
        return Err(Refusal::already_exists(kind.resource(), &key.name));
    }
    if intent.params.dry_run {
        return Ok(Arc::new(Object::unstored(value)));
    }
    Ok(state.put(&kind.table, value))
}

fn check_namespace(state: &State, target: &Target, name: &str) -> ApiResult<()> {
    let namespace = &target.namespace;
    let found = state.store.get(&TableId::new("", "namespaces"), &Key::new("", namespace));
    let Some(found) = found else {
        return Err(Refusal::not_found(
            ResourceName { group: "", plural: "namespaces" },
            namespace,
        ));
    };
    if object::is_deleting(&found.value) {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let cause = Cause {
            field: "metadata.namespace".to_owned(),
            reason: "NamespaceTerminating",
            message: format!("namespace {namespace} is being terminated"),
        };
        return Err(Refusal::forbidden(target.kind.resource(), name, &why).causes(&[cause]));
    }
    Ok(())
}

fn name(state: &State, target: &Target, value: &mut Value) -> ApiResult<()> {
    let given = object::name(value).to_owned();
    let prefix = object::text(value, "/metadata/generateName").to_owned();
    if !given.is_empty() {
        return Ok(());
    }
    if prefix.is_empty() {
        let cause = Cause::required("metadata.name", "name or generateName is required");
        return target.refuse(value, &[cause]);
    }
    let kept: String = prefix.chars().take(58).collect();
    // As kube-apiserver does, a few tries; with 27^5 suffixes a second one is rare.
    for _ in 0..8 {
        let name = format!("{kept}{}", object::random_suffix());
        if state.store.get(&target.kind.table, &Key::new(&target.namespace, &name)).is_none() {
            object::set_metadata(value, "name", json!(name));
            return Ok(());
        }
    }
    Err(Refusal::already_exists(target.kind.resource(), &prefix))
}

/// PUT of an object or of its status.
pub(crate) async fn update(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let value = body(request, target)?;
    let mut intent = Intent::of(request, params);
    check_url_name(target, &value)?;
    let creates = target.subresource.is_empty() && target.kind.is("coordination.k8s.io", "leases");
    if creates && read::find(&api.read(), target).is_err() {
        check_new(target, &value)?;
        let made = admitted::insert(api, request, target, value.clone(), &mut intent).await;
        if !exists_by_now(&made) {
            return finish(request, target, 201, &made?, &intent);
        }
    }
    let make = |_: &Object, _: &mut Intent<'_>| {
        if target.kind.custom && object::text(&value, "/metadata/resourceVersion").is_empty() {
            let cause = Cause {
                field: "metadata.resourceVersion".to_owned(),
                reason: "FieldValueInvalid",
                message: "Invalid value: 0: must be specified for an update".to_owned(),
            };
            target.refuse(&value, &[cause])?;
        }
        Ok(value.clone())
    };
    let object = admitted::replace(api, request, target, &make, &mut intent).await?;
    finish(request, target, 200, &object, &intent)
}

/// Refuses to make by an update what the client has seen and somebody has deleted since.
fn check_new(target: &Target, value: &Value) -> ApiResult<()> {
    let uid = object::uid(value);
    if uid.is_empty() {
        return Ok(());
    }
    let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: ");
    Err(Refusal::conflict(target.kind.resource(), &target.name, &why))
}

/// Tells whether an object was made by somebody else between a look for it and the attempt to make it.
fn exists_by_now(made: &ApiResult<Arc<Object>>) -> bool {
    made.as_ref().is_err_and(|refusal| refusal.reason() == "AlreadyExists")
}

fn check_url_name(target: &Target, value: &Value) -> ApiResult<()> {
    let name = object::name(value);
    if name != target.name {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    Ok(())
}

/// PATCH of an object or of its status.
pub(crate) async fn patch(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let mut intent = Intent::of(request, params);
    let parsed = patch::Patch::parse(request, target, params)?;
    let missing = read::find(&api.read(), target).err();
    if let Some(refusal) = missing {
        let (true, Some(value)) =
            (target.subresource.is_empty(), parsed.creates(target, &mut intent)?)
        else {
            return Err(refusal);
        };
        let made = admitted::insert(api, request, target, value, &mut intent).await;
        if !exists_by_now(&made) {
            return finish(request, target, 201, &made?, &intent);
        }
    }
    let make = |old: &Object, intent: &mut Intent<'_>| {
        let served = convert::serve(&old.value, &target.kind, &target.version).into_owned();
        parsed.clone().apply(served, target, intent)
    };
    let object = admitted::replace(api, request, target, &make, &mut intent).await?;
    finish(request, target, 200, &object, &intent)
}

/// Writes a new state over an old one; nobody is asked.
fn replace(
    state: &mut State,
    target: &Target,
    old: &Arc<Object>,
    value: Value,
    intent: &mut Intent<'_>,
) -> ApiResult<Arc<Object>> {
    let value = begin_replace(target, &old.value, value, intent)?;
    let value = end_replace(target, &old.value, value)?;
    Ok(store_changed(state, target, old, value, intent))
}

/// A changed object as far as the client says what it is: with defaults and owners of fields.
fn begin_replace(
    target: &Target,
    old: &Value,
    mut value: Value,
    intent: &mut Intent<'_>,
) -> ApiResult<Value> {
    check_guards(target, old, &value, intent.is_patch)?;
    keep_identity(old, &mut value);
    conform::clean(target, &mut value, intent)?;
    let mut value = convert::store(value, &target.kind);
    strategy::prepare_update(target, old, &mut value);
    if !target.kind.is("", "events") {
        managed::track(target, Some(old), &mut value, intent)?;
    }
    Ok(value)
}

/// The same after a webhook has changed it.
fn settle_replace(target: &Target, old: &Value, value: &mut Value) -> ApiResult<()> {
    conform::tidy(target, value)?;
    let managers = value.pointer("/metadata/managedFields").cloned().unwrap_or_default();
    strategy::prepare_update(target, old, value);
    keep_identity(old, value);
    object::set_metadata(value, "managedFields", managers);
    Ok(())
}

/// Takes from the old state what no write changes.
fn keep_identity(old: &Value, value: &mut Value) {
    let version = object::text(old, "/metadata/resourceVersion");
    object::set_metadata(value, "resourceVersion", json!(version));
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "generateName",
    ] {
        object::copy_metadata(old, value, field);
    }
}

/// A changed object with all that the server adds; refused where it is not valid.
fn end_replace(target: &Target, old: &Value, mut value: Value) -> ApiResult<Value> {
    bump_generation(target, old, &mut value);
    conform::check(target, &value, Some(old))?;
    target.refuse(&value, &validate::update(target, old, &value))?;
    Ok(value)
}

fn store_changed(
    state: &mut State,
    target: &Target,
    old: &Arc<Object>,
    value: Value,
    intent: &Intent<'_>,
) -> Arc<Object> {
    let kind = &target.kind;
    if value == old.value {
        return Arc::clone(old);
    }
    if intent.params.dry_run {
        return Arc::new(Object::unstored(value));
    }
    if delete::is_due(kind, &value) {
        return state.remove(&kind.table, &Key::of(&old.value), value);
    }
    state.put(&kind.table, value)
}

fn check_guards(target: &Target, old: &Value, new: &Value, is_patch: bool) -> ApiResult<()> {
    let (resource, name) = (target.kind.resource(), object::name(old));
    let (have, want) = (object::uid(old), object::uid(new));
    if !want.is_empty() && want != have {
        if is_patch {
            let cause = Cause::invalid("metadata.uid", &json!(want), "field is immutable");
            return target.refuse(old, &[cause]);
        }
        let why =
            format!("Precondition failed: UID in precondition: {want}, UID in object meta: {have}");
        return Err(Refusal::conflict(resource, name, &why));
    }
    let (have, want) = (
        object::text(old, "/metadata/resourceVersion"),
        object::text(new, "/metadata/resourceVersion"),
    );
    if !want.is_empty() && want != have {
        return Err(Refusal::modified(resource, name));
    }
    Ok(())
}

/// The generation counts changes of everything but metadata and status; a Deployment's counts its annotations too, which once
/// asked for rollbacks.
fn bump_generation(target: &Target, old: &Value, new: &mut Value) {
    if !target.kind.generation || target.subresource == "status" {
        return;
    }
    let has_status = target.kind.version(&target.version).is_some_and(|version| version.status);
    let is_counted = |field: &str| match field {
        "metadata" | "apiVersion" => false,
        "status" => !has_status,
        _ => true,
    };
    let annotations = |value: &Value| value.pointer("/metadata/annotations").cloned();
    let are_counted = target.kind.is("apps", "deployments");
    let differ = are_counted && annotations(old) != annotations(new);
    let is_changed = [old, &*new]
        .into_iter()
        .filter_map(Value::as_object)
        .flat_map(serde_json::Map::keys)
        .any(|name| is_counted(name) && old.get(name) != new.get(name));
    if differ || is_changed {
        let generation = old.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
        object::set_metadata(new, "generation", json!(generation + 1));
    }
}
