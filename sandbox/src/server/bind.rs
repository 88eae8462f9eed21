//! `pods/binding` and `pods/eviction`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::admission::{Attributes, Operation};
use super::api::Api;
use super::consult::consult;
use super::decode::text_to_value;
use super::delete::{DeleteOptions, delete_object};
use super::object::{self, Object};
use super::params::Params;
use super::refusal::{ApiResult, Cause, Refusal, ResourceName};
use super::reply::{self, Reply};
use super::request::Request;
use super::route::Target;
use super::selector::Labels;
use super::state::State;
use super::store::{Key, TableId};
use super::{accept, read};

const PODS: ResourceName<'_> = ResourceName { group: "", plural: "pods" };
const BINDINGS: ResourceName<'_> = ResourceName { group: "", plural: "pods/binding" };

fn request_object(request: &Request, kind: &str) -> ApiResult<Value> {
    let value = text_to_value(&accept::content_type(&request.headers), &request.body)?;
    let given = object::text(&value, "/kind");
    if !value.is_object() || !(given.is_empty() || given == kind) {
        return Err(Refusal::bad_request(format!("the body of the request is not a {kind}")));
    }
    Ok(value)
}

fn created(warnings: &[String]) -> Reply {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    let mut reply = reply::json(201, &status);
    reply::warn(&mut reply, warnings);
    reply
}

/// Assigns a pod to a node, with kube-apiserver's guards.
///
/// # Source
///
/// `setPodNodeAndMetadata` of kube-apiserver: UID and resourceVersion of the Binding are preconditions; a pod that is
/// being deleted, has a node, or has scheduling gates is refused; the Binding's annotations and labels go to the pod.
pub(crate) async fn bind(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let mut binding = request_object(request, "Binding")?;
    let attributes =
        Attributes::new(Operation::Create, request, target, params).with_type("", "v1", "Binding");
    let warnings = consult(api, &attributes, &mut binding, &Value::Null).await?;
    let node = object::text(&binding, "/target/name");
    let kind = object::text(&binding, "/target/kind");
    let mut causes = Vec::new();
    if !matches!(kind, "" | "Node") {
        causes.push(Cause::unsupported("target.kind", &json!(kind), &["Node", "<empty>"]));
    }
    if node.is_empty() {
        causes.push(Cause::required("target.name", ""));
    }
    if !causes.is_empty() {
        return Err(Refusal::invalid("", "Binding", object::name(&binding), &causes));
    }
    let name = object::name(&binding);
    if !name.is_empty() && name != target.name {
        return Err(Refusal::bad_request(format!(
            "name in URL does not match name in Binding object: {:?} != {name:?}",
            target.name
        )));
    }
    let mut state = api.write();
    let pod = read::find(&state, target).map_err(|_| Refusal::not_found(PODS, &target.name))?;
    let value = bound(&pod, &binding, node)?;
    if !params.dry_run {
        state.put(&target.kind.table, value);
    }
    Ok(created(&warnings))
}

fn bound(pod: &Arc<Object>, binding: &Value, node: &str) -> ApiResult<Value> {
    let name = object::name(&pod.value);
    let refuse = |why: &str| Err(Refusal::conflict(BINDINGS, name, why));
    let have = object::uid(&pod.value);
    let want = object::uid(binding);
    if !want.is_empty() && want != have {
        return refuse(&format!(
            "Precondition failed: UID in precondition: {want}, UID in object meta: {have}"
        ));
    }
    let have = object::text(&pod.value, "/metadata/resourceVersion");
    let want = object::text(binding, "/metadata/resourceVersion");
    if !want.is_empty() && want != have {
        return refuse(&format!(
            "Precondition failed: ResourceVersion in precondition: {want}, ResourceVersion in object meta: {have}"
        ));
    }
    if object::is_deleting(&pod.value) {
        return refuse(&format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    let assigned = object::text(&pod.value, "/spec/nodeName");
    if !assigned.is_empty() {
        return refuse(&format!("pod {name} is already assigned to node {assigned:?}"));
    }
    if !object::array(&pod.value, "/spec/schedulingGates").is_empty() {
        return refuse(&format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    let mut value = pod.value.clone();
    object::child_mut(&mut value, "spec").insert("nodeName".to_owned(), json!(node));
    for field in ["annotations", "labels"] {
        merge_metadata(&mut value, binding, field);
    }
    set_scheduled(&mut value);
    Ok(value)
}

fn merge_metadata(pod: &mut Value, binding: &Value, field: &str) {
    let Some(new) = binding.pointer(&format!("/metadata/{field}")).and_then(Value::as_object)
    else {
        return;
    };
    let metadata = object::metadata_mut(pod);
    let slot = metadata.entry(field).or_insert_with(|| Value::Object(Map::new()));
    if let Some(fields) = slot.as_object_mut() {
        fields.extend(new.clone());
    }
}

fn set_scheduled(pod: &mut Value) {
    let now = object::now_text();
    let generation = pod.pointer("/metadata/generation").cloned();
    let status = object::child_mut(pod, "status");
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    let Some(conditions) = conditions.as_array_mut() else { return };
    let scheduled = json!({
        "type": "PodScheduled",
        "observedGeneration": generation,
        "status": "True",
        "lastProbeTime": Value::Null,
        "lastTransitionTime": now,
    });
    match conditions.iter_mut().find(|condition| object::text(condition, "/type") == "PodScheduled")
    {
        Some(condition) => *condition = scheduled,
        None => conditions.push(scheduled),
    }
}

/// Deletes a pod if its disruption budget allows it, else answers 429.
pub(crate) async fn evict(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let mut eviction = request_object(request, "Eviction")?;
    let attributes = Attributes::new(Operation::Create, request, target, params)
        .with_type("policy", "v1", "Eviction");
    let warnings = consult(api, &attributes, &mut eviction, &Value::Null).await?;
    let name = object::name(&eviction);
    if !name.is_empty() && name != target.name {
        return Err(Refusal::bad_request("name in URL does not match name in Eviction object"));
    }
    let text = |pointer: &str| eviction.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let mut options = DeleteOptions {
        uid: text("/deleteOptions/preconditions/uid"),
        resource_version: text("/deleteOptions/preconditions/resourceVersion"),
        grace_seconds: eviction
            .pointer("/deleteOptions/gracePeriodSeconds")
            .and_then(Value::as_i64),
        dry_run: params.dry_run,
        ..DeleteOptions::default()
    };
    for value in object::array(&eviction, "/deleteOptions/dryRun") {
        options.dry_run |= super::params::dry_run(value.as_str().unwrap_or("?"))?;
    }
    let mut state = api.write();
    let pod = read::find(&state, target)?;
    let phase = object::text(&pod.value, "/status/phase");
    let counted =
        !object::is_deleting(&pod.value) && !matches!(phase, "Pending" | "Succeeded" | "Failed");
    if counted {
        spend_budget(&mut state, &pod, options.dry_run)?;
    }
    delete_object(&mut state, &target.kind, &pod, &options)?;
    Ok(created(&warnings))
}

fn spend_budget(state: &mut State, pod: &Arc<Object>, dry_run: bool) -> ApiResult<()> {
    let table = TableId::new("policy", "poddisruptionbudgets");
    let namespace = object::namespace(&pod.value);
    let budgets: Vec<Arc<Object>> = state
        .store
        .table(&table)
        .into_iter()
        .flat_map(|budgets| budgets.in_namespace(namespace))
        .filter(|budget| {
            let selector = budget.value.pointer("/spec/selector");
            selector.is_some_and(|selector| {
                Labels::from_object(selector).matches(object::labels(&pod.value))
            })
        })
        .cloned()
        .collect();
    let budget = match budgets.as_slice() {
        [] => return Ok(()),
        [one] => one,
        _ => {
            let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Refusal::new(500, "InternalError", message));
        }
    };
    let number = |pointer: &str| budget.value.pointer(pointer).and_then(Value::as_i64);
    let unseen = number("/status/observedGeneration").unwrap_or(0)
        < number("/metadata/generation").unwrap_or(1);
    let allowed = number("/status/disruptionsAllowed").unwrap_or(0);
    if unseen {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause = disruption_cause(&format!(
            "The disruption budget {} is still being processed by the server.",
            object::name(&budget.value)
        ));
        return Err(Refusal::too_many_requests(message, Some(10)).causes(&[cause]));
    }
    if allowed <= 0 {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause = disruption_cause(&format!(
            "The disruption budget {} needs {} healthy pods and has {} currently",
            object::name(&budget.value),
            number("/status/desiredHealthy").unwrap_or(0),
            number("/status/currentHealthy").unwrap_or(0)
        ));
        return Err(Refusal::too_many_requests(message, None).causes(&[cause]));
    }
    if !dry_run {
        let mut value = budget.value.clone();
        let status = object::child_mut(&mut value, "status");
        status.insert("disruptionsAllowed".to_owned(), json!(allowed - 1));
        let disrupted = status.entry("disruptedPods").or_insert_with(|| json!({}));
        if let Some(pods) = disrupted.as_object_mut() {
            pods.insert(object::name(&pod.value).to_owned(), json!(object::now_text()));
        }
        debug_assert!(state.store.get(&table, &Key::of(&value)).is_some());
        state.put(&table, value);
    }
    Ok(())
}

fn disruption_cause(message: &str) -> Cause {
    Cause { field: String::new(), reason: "DisruptionBudget", message: message.to_owned() }
}
