//! The `scale` subresource: the replicas of any kind that has some.

use serde_json::{Value, json};

use super::replace;
use crate::server::admission::{Attributes, Operation};
use crate::server::api::Api;
use crate::server::consult::consult;
use crate::server::decode::text_to_value;
use crate::server::fields::Intent;
use crate::server::kinds::Scale;
use crate::server::object;
use crate::server::params::Params;
use crate::server::patch::Patch;
use crate::server::refusal::{ApiResult, Cause, Refusal};
use crate::server::reply::{self, Reply};
use crate::server::request::{Request, Verb};
use crate::server::route::Target;
use crate::server::selector::Labels;
use crate::server::{accept, read};

/// GET, PUT and PATCH of `scale`.
pub(crate) async fn scale(
    api: &Api,
    verb: Verb,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let version = target.kind.version(&target.version).expect("routed to a served version");
    let paths = version.scale.clone().expect("dispatched only where there is a scale");
    let old = read::find(&api.read(), target)?;
    let before = to_scale(target, &paths, &old.value);
    let mut wanted = match verb {
        Verb::Get => return Ok(reply::json(200, &before)),
        Verb::Update => text_to_value(&accept::content_type(&request.headers), &request.body)?,
        Verb::Patch => Patch::parse_plain(request)?.apply_plain(before.clone())?,
        Verb::List | Verb::Watch | Verb::Create | Verb::Delete | Verb::DeleteCollection => {
            return Err(Refusal::method_not_allowed());
        }
    };
    let mut intent = Intent::of(request, params);
    let attributes = Attributes::new(Operation::Update, request, target, params).with_type(
        "autoscaling",
        "v1",
        "Scale",
    );
    intent.warnings = consult(api, &attributes, &mut wanted, &before).await?;
    let replicas = wanted.pointer("/spec/replicas").cloned().unwrap_or(json!(0));
    if replicas.as_i64().is_none_or(|replicas| !(0..=i64::from(i32::MAX)).contains(&replicas)) {
        let cause =
            Cause::invalid("spec.replicas", &replicas, "must be greater than or equal to 0");
        return Err(Refusal::invalid("autoscaling", "Scale", &target.name, &[cause]));
    }
    let mut state = api.write();
    let old = read::find(&state, target)?;
    let mut value = old.value.clone();
    object::copy_metadata(&wanted, &mut value, "resourceVersion");
    if !object::uid(&wanted).is_empty() {
        object::copy_metadata(&wanted, &mut value, "uid");
    }
    set_pointer(&mut value, &paths.spec_replicas, replicas);
    // A change of the replicas alone: the rules of the object itself hold.
    let mut whole = target.clone();
    whole.subresource.clear();
    let object = replace(&mut state, &whole, &old, value, &mut intent)?;
    let mut reply = reply::json(200, &to_scale(target, &paths, &object.value));
    reply::warn(&mut reply, &intent.warnings);
    Ok(reply)
}

fn to_scale(target: &Target, paths: &Scale, value: &Value) -> Value {
    let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    let selector = paths.selector.as_deref().and_then(|pointer| value.pointer(pointer));
    let selector = selector.map(|selector| match selector {
        Value::String(text) => text.clone(),
        map if target.kind.is("", "replicationcontrollers") => {
            Labels::from_object(&json!({ "matchLabels": map })).to_string()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Labels::from_object(selector).to_string()
        }
    });
    let metadata = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), value.get("metadata")?.get(key)?.clone())));
    let mut scale = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": Value::Object(metadata.collect()),
        "spec": {},
        "status": { "replicas": number(&paths.status_replicas) },
    });
    // Go omits a zero here.
    if number(&paths.spec_replicas) != 0 {
        scale["spec"]["replicas"] = json!(number(&paths.spec_replicas));
    }
    if let Some(selector) = selector {
        scale["status"]["selector"] = json!(selector);
    }
    scale
}

fn set_pointer(value: &mut Value, pointer: &str, new: Value) {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    let Some((last, parents)) = steps.split_last() else { return };
    let mut at = value;
    for step in parents {
        object::child_mut(at, step);
        at = at.get_mut(*step).expect("made above");
    }
    if let Some(fields) = at.as_object_mut() {
        fields.insert((*last).to_owned(), new);
    }
}
