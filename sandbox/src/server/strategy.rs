//! Changes that each kind makes to an object on its way in, besides defaults.

use serde_json::{Value, json};

use super::object;
use super::refusal::{ApiResult, Refusal};
use super::route::Target;
use super::state::State;
use super::store::{Key, TableId};
use super::{crd, defaults};

/// Makes a new object fit for storing: no status from the client, and defaults.
pub(crate) fn prepare_create(target: &Target, value: &mut Value) {
    let kind = &target.kind;
    let has_status = kind.version(&target.version).is_some_and(|version| version.status);
    // Nodes may bring their status, as a kubelet that registers itself does.
    if has_status
        && !kind.is("", "nodes")
        && let Some(fields) = value.as_object_mut()
    {
        fields.shift_remove("status");
    }
    if kind.is("", "pods") {
        object::child_mut(value, "spec").entry("enableServiceLinks").or_insert(json!(true));
    }
    defaults::apply(kind, value);
    if kind.is("", "secrets") {
        merge_string_data(value);
    }
}

/// Does what the server's own admission does to a new object, before webhooks see it.
pub(crate) fn admit(state: &State, target: &Target, value: &mut Value) -> ApiResult<()> {
    if !target.kind.is("", "pods") {
        return Ok(());
    }
    set_priority(state, value)?;
    set_overhead(state, value)
}

/// Fills in what the server decides: fields that no manager owns.
pub(crate) fn complete(target: &Target, value: &mut Value) {
    let kind = &target.kind;
    match (kind.group.as_str(), kind.plural.as_str()) {
        _ if kind.custom => {}
        ("", "pods") => prepare_pod(value),
        ("", "namespaces") => prepare_namespace(value),
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            crd::prepare(value, &object::now_text());
        }
        ("batch", "jobs") => prepare_job(value),
        _ => {}
    }
}

fn prepare_namespace(value: &mut Value) {
    let name = object::name(value).to_owned();
    let mut labels = object::labels(value).cloned().unwrap_or_default();
    labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
    object::set_metadata(value, "labels", Value::Object(labels));
    object::child_mut(value, "spec").insert("finalizers".to_owned(), json!(["kubernetes"]));
    object::child_mut(value, "status").insert("phase".to_owned(), json!("Active"));
}

fn merge_string_data(value: &mut Value) {
    use base64::Engine as _;
    let Some(Value::Object(plain)) =
        value.as_object_mut().and_then(|fields| fields.shift_remove("stringData"))
    else {
        return;
    };
    let data = object::child_mut(value, "data");
    for (key, text) in plain {
        let text = text.as_str().unwrap_or_default();
        data.insert(key, json!(base64::engine::general_purpose::STANDARD.encode(text)));
    }
}

/// The status and quality class of a new pod.
fn prepare_pod(value: &mut Value) {
    let class = defaults::qos_class(value);
    let status = object::child_mut(value, "status");
    status.insert("phase".to_owned(), json!("Pending"));
    status.insert("qosClass".to_owned(), json!(class));
    let gated = !object::array(value, "/spec/schedulingGates").is_empty();
    if gated {
        let condition = json!({
            "type": "PodScheduled", "status": "False", "lastProbeTime": Value::Null,
            "lastTransitionTime": Value::Null, "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        });
        object::child_mut(value, "status").insert("conditions".to_owned(), json!([condition]));
    }
}

/// Resolves `priorityClassName`, as the Priority admission plugin does.
fn set_priority(state: &State, value: &mut Value) -> ApiResult<()> {
    let wanted = object::text(value, "/spec/priorityClassName").to_owned();
    let table = TableId::new("scheduling.k8s.io", "priorityclasses");
    let class = if wanted.is_empty() {
        let classes = state.store.table(&table);
        let mut global = classes.into_iter().flat_map(|classes| classes.in_namespace(""));
        global.find(|class| class.value.get("globalDefault") == Some(&json!(true)))
    } else {
        let found = state.store.get(&table, &Key::new("", &wanted));
        if found.is_none() {
            let pods = super::refusal::ResourceName { group: "", plural: "pods" };
            let why = format!("no PriorityClass with name {wanted} was found");
            return Err(Refusal::forbidden(pods, object::name(value), &why));
        }
        found
    };
    let number =
        class.and_then(|class| class.value.get("value").and_then(Value::as_i64)).unwrap_or(0);
    let policy =
        class.map_or("", |class| object::text(&class.value, "/preemptionPolicy")).to_owned();
    let name = class.map(|class| object::name(&class.value).to_owned());
    let spec = object::child_mut(value, "spec");
    if let Some(given) =
        spec.get("priority").and_then(Value::as_i64).filter(|given| *given != number)
    {
        let pods = super::refusal::ResourceName { group: "", plural: "pods" };
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {number} from the given PriorityClass name"
        );
        return Err(Refusal::forbidden(pods, object::name(value), &why));
    }
    spec.insert("priority".to_owned(), json!(number));
    if let Some(name) = name {
        spec.insert("priorityClassName".to_owned(), json!(name));
    }
    let policy = if policy.is_empty() { "PreemptLowerPriority".to_owned() } else { policy };
    spec.entry("preemptionPolicy").or_insert(json!(policy));
    Ok(())
}

/// Takes the overhead of a pod from its `RuntimeClass`, which has to be there.
fn set_overhead(state: &State, value: &mut Value) -> ApiResult<()> {
    let wanted = object::text(value, "/spec/runtimeClassName").to_owned();
    if wanted.is_empty() {
        return Ok(());
    }
    let table = TableId::new("node.k8s.io", "runtimeclasses");
    let Some(class) = state.store.get(&table, &Key::new("", &wanted)) else {
        let pods = super::refusal::ResourceName { group: "", plural: "pods" };
        let why = format!("pod rejected: RuntimeClass {wanted:?} not found");
        return Err(Refusal::forbidden(pods, object::name(value), &why));
    };
    if let Some(overhead) = class.value.pointer("/overhead/podFixed").cloned() {
        object::child_mut(value, "spec").insert("overhead".to_owned(), overhead);
    }
    Ok(())
}

/// The selector and labels that tie a Job to its pods.
fn prepare_job(value: &mut Value) {
    if value.pointer("/spec/manualSelector") == Some(&json!(true)) {
        return;
    }
    let (uid, name) = (object::uid(value).to_owned(), object::name(value).to_owned());
    let labels = json!({
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    });
    let spec = object::child_mut(value, "spec");
    spec.insert(
        "selector".to_owned(),
        json!({ "matchLabels": { "batch.kubernetes.io/controller-uid": uid } }),
    );
    if let Some(template) = spec.get_mut("template") {
        let metadata = object::child_mut(template, "metadata");
        let slot = metadata.entry("labels").or_insert_with(|| json!({}));
        if let (Some(slot), Value::Object(labels)) = (slot.as_object_mut(), labels) {
            slot.extend(labels);
        }
    }
    // A server fills it in again when it reads what it stored.
    defaults::copy_template_labels(value);
}

/// Takes from a new state what the path may not change.
pub(crate) fn prepare_update(target: &Target, old: &Value, new: &mut Value) {
    let kind = &target.kind;
    let has_status = kind.version(&target.version).is_some_and(|version| version.status);
    match target.subresource.as_str() {
        "status" => prepare_status(target, old, new),
        "resize" => prepare_resize(old, new),
        "finalize" => {
            let finalizers = new.pointer("/spec/finalizers").cloned().unwrap_or_else(|| json!([]));
            object::copy_field(old, new, "status");
            object::child_mut(new, "spec").insert("finalizers".to_owned(), finalizers);
        }
        _ => {
            // Nodes take status only through the subresource as well.
            if has_status {
                object::copy_field(old, new, "status");
            }
            if kind.is("", "namespaces") {
                object::copy_field(old, new, "spec");
            }
        }
    }
    if kind.custom || !target.subresource.is_empty() {
        return;
    }
    defaults::apply(kind, new);
    if kind.is("", "secrets") {
        merge_string_data(new);
    }
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        crd::prepare(new, &object::now_text());
    }
    if kind.is("", "namespaces") {
        let mut labels = object::labels(new).cloned().unwrap_or_default();
        labels.insert("kubernetes.io/metadata.name".to_owned(), json!(object::name(old)));
        object::set_metadata(new, "labels", Value::Object(labels));
    }
}

/// Takes of a resize the resources of containers alone. Containers that are others than before are left for validation to see.
fn prepare_resize(old: &Value, new: &mut Value) {
    let asked = std::mem::replace(new, old.clone());
    for list in ["containers", "initContainers"] {
        let pointer = format!("/spec/{list}");
        let rows = object::array(&asked, &pointer);
        let Some(containers) = new.pointer_mut(&pointer).and_then(Value::as_array_mut) else {
            continue;
        };
        let names = |rows: &[Value]| -> Vec<String> {
            rows.iter().map(|row| object::text(row, "/name").to_owned()).collect()
        };
        if names(rows) != names(containers) {
            *containers = rows.to_vec();
            continue;
        }
        for (container, row) in containers.iter_mut().zip(rows) {
            object::copy_field(row, container, "resources");
        }
    }
}

fn prepare_status(target: &Target, old: &Value, new: &mut Value) {
    let kind = &target.kind;
    let keys: Vec<String> = old
        .as_object()
        .into_iter()
        .chain(new.as_object())
        .flat_map(|fields| fields.keys().cloned())
        .filter(|key| key != "status" && key != "metadata")
        .collect();
    for key in keys {
        object::copy_field(old, new, &key);
    }
    if kind.custom {
        // Only the status of a custom resource is written here; the guards have been checked before.
        object::copy_field(old, new, "metadata");
        return;
    }
    object::copy_metadata(old, new, "ownerReferences");
    object::copy_metadata(old, new, "finalizers");
    if kind.group == "apps" {
        object::copy_metadata(old, new, "labels");
    }
}
