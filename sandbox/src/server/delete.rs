//! DELETE of an object and of a collection: preconditions, grace, finalizers, propagation.

use std::sync::Arc;

use jiff::SignedDuration;
use kai_daemon::clock;
use serde_json::{Value, json};

use super::admission::{Attributes, Operation};
use super::api::Api;
use super::decode::text_to_value;
use super::kinds::Kind;
use super::object::{self, Object};
use super::params::{self, Params};
use super::read::{self, Selection};
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::request::Request;
use super::route::Target;
use super::state::State;
use super::store::Key;
use super::{accept, convert};

/// The finalizer that waits for the dependents to be deleted.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer that waits for the dependents to be freed.
pub(crate) const ORPHAN: &str = "orphan";

/// Fate of the objects that name the deleted one as owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay, without the reference.
    Orphan,
}

/// Options of a deletion.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    /// The UID that the object must have.
    pub(crate) uid: Option<String>,
    /// The resourceVersion that the object must have.
    pub(crate) resource_version: Option<String>,
    /// Fate of dependents; the kind's default when absent.
    pub(crate) propagation: Option<Propagation>,
    /// Seconds for a pod to end; its own when absent.
    pub(crate) grace_seconds: Option<i64>,
    /// True if nothing is to be written.
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    fn parse(request: &Request, params: &Params) -> ApiResult<Self> {
        let mut options = Self {
            dry_run: params.dry_run,
            grace_seconds: params.grace_period_seconds,
            ..Self::default()
        };
        let mut policy = params.propagation_policy.clone();
        let mut orphan = params.orphan_dependents;
        if !request.body.is_empty() {
            let body = text_to_value(&accept::content_type(&request.headers), &request.body)?;
            let kind = object::text(&body, "/kind");
            if !matches!(kind, "" | "DeleteOptions") {
                return Err(Refusal::bad_request(format!(
                    "the body of a DELETE is DeleteOptions, not {kind:?}"
                )));
            }
            options.read_body(&body)?;
            if let Some(given) = body.get("propagationPolicy").and_then(Value::as_str) {
                given.clone_into(&mut policy);
            }
            orphan = body.get("orphanDependents").and_then(Value::as_bool).or(orphan);
        }
        options.propagation = match (policy.as_str(), orphan) {
            ("", None) => None,
            ("", Some(true)) | ("Orphan", None) => Some(Propagation::Orphan),
            ("", Some(false)) | ("Background", None) => Some(Propagation::Background),
            ("Foreground", None) => Some(Propagation::Foreground),
            (other, None) => {
                return Err(Refusal::bad_request(format!(
                    "propagationPolicy: Unsupported value: {other:?}: supported values: \"Background\", \
                     \"Foreground\", \"Orphan\""
                )));
            }
            (_, Some(_)) => {
                let message =
                    "orphanDependents and propagationPolicy may not be set at the same time";
                return Err(Refusal::bad_request(message));
            }
        };
        if options.grace_seconds.is_some_and(|seconds| seconds < 0) {
            // As kube-apiserver: a negative grace counts as one second.
            options.grace_seconds = Some(1);
        }
        Ok(options)
    }

    fn read_body(&mut self, body: &Value) -> ApiResult<()> {
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        self.uid = text("/preconditions/uid");
        self.resource_version = text("/preconditions/resourceVersion");
        self.grace_seconds =
            body.get("gracePeriodSeconds").and_then(Value::as_i64).or(self.grace_seconds);
        for value in object::array(body, "/dryRun") {
            self.dry_run |= params::dry_run(value.as_str().unwrap_or("?"))?;
        }
        Ok(())
    }
}

/// DELETE of one object.
pub(crate) async fn delete(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let options = DeleteOptions::parse(request, params)?;
    let mut warnings = Vec::new();
    let outcome = admitted(api, request, target, &options, &mut warnings).await?;
    let mut reply = answer(request, target, &outcome)?;
    reply::warn(&mut reply, &warnings);
    let default_orphans = target.kind.is("batch", "jobs") && options.propagation.is_none();
    if default_orphans {
        let warning = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background \
                       to remove them or set propagationPolicy=Orphan to suppress this warning";
        reply::warn(&mut reply, &[warning.to_owned()]);
    }
    Ok(reply)
}

/// Deletes an object, if those who are asked allow it.
async fn admitted(
    api: &Api,
    request: &Request,
    target: &Target,
    options: &DeleteOptions,
    warnings: &mut Vec<String>,
) -> ApiResult<Deleted> {
    let attributes = Attributes::new(Operation::Delete, request, target, &Params::default())
        .dry_run(options.dry_run);
    loop {
        let (object, asked) = {
            let mut state = api.write();
            let object = read::find(&state, target)?;
            let Some(asked) = state.asked(&attributes, &object.value) else {
                return delete_object(&mut state, &target.kind, &object, options);
            };
            (object, asked)
        };
        let mut none = Value::Null;
        *warnings = asked.mutate(&attributes, &mut none, &object.value, &|_| Ok(())).await?;
        warnings.extend(asked.validate(&attributes, &none, &object.value).await?);
        let mut state = api.write();
        if Arc::ptr_eq(&read::find(&state, target)?, &object) {
            return delete_object(&mut state, &target.kind, &object, options);
        }
    }
}

/// Outcome of a deletion.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// The object is gone; its last state.
    Gone(Arc<Object>),
    /// The object waits for finalizers or for its node.
    Waiting(Arc<Object>),
}

fn answer(request: &Request, target: &Target, outcome: &Deleted) -> ApiResult<Reply> {
    match outcome {
        // Pods, PVCs and a few others are answered with the object itself.
        Deleted::Gone(object) if target.kind.is("", "pods") => {
            read::show(request, target, 200, object)
        }
        Deleted::Waiting(object) => read::show(request, target, 200, object),
        Deleted::Gone(object) => Ok(reply::json(200, &success(&target.kind, &object.value))),
    }
}

fn success(kind: &Kind, value: &Value) -> Value {
    let mut details =
        json!({ "name": object::name(value), "kind": kind.plural, "uid": object::uid(value) });
    if !kind.group.is_empty() {
        details["group"] = json!(kind.group);
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}

/// DELETE of a collection.
pub(crate) async fn delete_collection(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let options = DeleteOptions::parse(request, params)?;
    let selection = Selection::parse(target, params)?;
    if target.kind.namespaced && target.namespace.is_empty() {
        return Err(Refusal::method_not_allowed());
    }
    let objects = selection.of(&api.read(), &target.kind, usize::MAX);
    let mut warnings = Vec::new();
    for object in &objects {
        let mut one = target.clone();
        object::name(&object.value).clone_into(&mut one.name);
        match admitted(api, request, &one, &options, &mut warnings).await {
            // Somebody else was faster.
            Err(refusal) if refusal.code() == 404 => {}
            outcome => drop(outcome?),
        }
    }
    let version = api.read().store.version();
    let items =
        objects.iter().map(|object| convert::serve(&object.value, &target.kind, &target.version));
    Ok(reply::json(
        200,
        &json!({
            "kind": target.kind.list_kind,
            "apiVersion": target.kind.api_version(&target.version),
            "metadata": { "resourceVersion": version.to_string() },
            "items": items.collect::<Vec<_>>(),
        }),
    ))
}

/// Deletes an object, or marks it for deletion when something holds it.
pub(crate) fn delete_object(
    state: &mut State,
    kind: &Kind,
    object: &Arc<Object>,
    options: &DeleteOptions,
) -> ApiResult<Deleted> {
    check_preconditions(kind, &object.value, options)?;
    if kind.is("", "namespaces") {
        protect_namespace(kind, object::name(&object.value))?;
    }
    let mut value = object.value.clone();
    set_finalizers(kind, &mut value, options);
    let grace = grace_seconds(kind, &value, options);
    mark(kind, &mut value, grace);
    if is_due(kind, &value) {
        if options.dry_run {
            return Ok(Deleted::Gone(Arc::new(Object::unstored(value))));
        }
        let gone = state.remove(&kind.table, &Key::of(&value), value);
        return Ok(Deleted::Gone(gone));
    }
    if value == object.value {
        return Ok(Deleted::Waiting(Arc::clone(object)));
    }
    if options.dry_run {
        return Ok(Deleted::Waiting(Arc::new(Object::unstored(value))));
    }
    Ok(Deleted::Waiting(state.put(&kind.table, value)))
}

fn check_preconditions(kind: &Kind, value: &Value, options: &DeleteOptions) -> ApiResult<()> {
    let have = [
        ("UID", options.uid.as_deref(), object::uid(value)),
        (
            "ResourceVersion",
            options.resource_version.as_deref(),
            object::text(value, "/metadata/resourceVersion"),
        ),
    ];
    for (what, wanted, have) in have {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != have) {
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {have}"
            );
            return Err(Refusal::conflict(kind.resource(), object::name(value), &why));
        }
    }
    Ok(())
}

fn protect_namespace(kind: &Kind, name: &str) -> ApiResult<()> {
    if matches!(name, "default" | "kube-system" | "kube-public") {
        return Err(Refusal::forbidden(kind.resource(), name, "this namespace may not be deleted"));
    }
    Ok(())
}

fn set_finalizers(kind: &Kind, value: &mut Value, options: &DeleteOptions) {
    let mut finalizers: Vec<String> =
        object::finalizers(value).into_iter().map(str::to_owned).collect();
    let wanted = options.propagation.or_else(|| {
        let by_finalizer = finalizers.iter().find_map(|name| match name.as_str() {
            FOREGROUND => Some(Propagation::Foreground),
            ORPHAN => Some(Propagation::Orphan),
            _ => None,
        });
        by_finalizer.or_else(|| kind.is("batch", "jobs").then_some(Propagation::Orphan))
    });
    finalizers.retain(|name| name != FOREGROUND && name != ORPHAN);
    match wanted {
        Some(Propagation::Foreground) => finalizers.push(FOREGROUND.to_owned()),
        Some(Propagation::Orphan) => finalizers.push(ORPHAN.to_owned()),
        Some(Propagation::Background) | None => {}
    }
    if super::crd::is_table(&kind.table) && !object::is_deleting(value) {
        finalizers.push(super::crd::CLEANUP.to_owned());
    }
    object::set_metadata(value, "finalizers", json!(finalizers));
}

/// Gives the time for which a pod may still run; 0 for everything else.
fn grace_seconds(kind: &Kind, value: &Value, options: &DeleteOptions) -> i64 {
    if !kind.is("", "pods") {
        return 0;
    }
    let ended = matches!(object::text(value, "/status/phase"), "Succeeded" | "Failed");
    if ended || object::text(value, "/spec/nodeName").is_empty() {
        return 0;
    }
    let own = value.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    let wanted = options.grace_seconds.or(own).unwrap_or(30);
    let already = value.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
    // A deletion under way can only be shortened.
    already.map_or(wanted, |already| already.min(wanted))
}

fn mark(kind: &Kind, value: &mut Value, grace: i64) {
    let already = value.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
    if !object::is_deleting(value) || already.is_some_and(|already| grace < already) {
        let at = clock::now() + SignedDuration::from_secs(grace.clamp(0, 1 << 31));
        object::set_metadata(value, "deletionTimestamp", json!(object::time_text(at)));
        object::set_metadata(value, "deletionGracePeriodSeconds", json!(grace));
        if kind.generation {
            let generation =
                value.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
            object::set_metadata(value, "generation", json!(generation + 1));
        }
    }
    if kind.is("", "namespaces") {
        object::child_mut(value, "status").insert("phase".to_owned(), json!("Terminating"));
    }
}

/// Tells whether nothing holds an object that is being deleted.
pub(crate) fn is_due(kind: &Kind, value: &Value) -> bool {
    let grace =
        value.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0);
    let held_by_spec =
        kind.is("", "namespaces") && !object::array(value, "/spec/finalizers").is_empty();
    object::is_deleting(value)
        && grace == 0
        && object::finalizers(value).is_empty()
        && !held_by_spec
}
