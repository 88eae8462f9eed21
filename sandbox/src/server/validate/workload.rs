//! Required and immutable fields of pods and the kinds that make them.

use serde_json::{Map, Value, json};

use crate::server::kinds::Kind;
use crate::server::refusal::Cause;
use crate::server::selector::Labels;
use crate::server::{defaults, names, object};

/// Lists what is wrong with a new object of a built-in kind.
pub(super) fn create(kind: &Kind, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_spec(value, "/spec", &mut causes),
        ("", "configmaps" | "secrets") => data_keys(value, &mut causes),
        ("batch", "jobs") => {
            template(value, &mut causes);
            job(value, &mut causes);
        }
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets") => {
            template(value, &mut causes);
            selector(value, &mut causes);
            let counts = ["replicas", "minReadySeconds", "revisionHistoryLimit"];
            not_negative(value, &counts, &mut causes);
        }
        _ => {}
    }
    causes
}

fn job(value: &Value, causes: &mut Vec<Cause>) {
    let policy = object::text(value, "/spec/template/spec/restartPolicy");
    if !matches!(policy, "Never" | "OnFailure") {
        let at = "spec.template.spec.restartPolicy";
        causes.push(Cause::unsupported(at, &json!(policy), &["OnFailure", "Never"]));
    }
    not_negative(value, &["parallelism", "completions", "backoffLimit"], causes);
}

fn data_keys(value: &Value, causes: &mut Vec<Cause>) {
    for field in ["data", "binaryData"] {
        for key in value.get(field).and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if let Some(why) = names::data_key(key) {
                causes.push(Cause::invalid(format!("{field}[{key}]"), &json!(key), &why));
            }
        }
    }
}

fn not_negative(value: &Value, fields: &[&str], causes: &mut Vec<Cause>) {
    for field in fields {
        let number = value.pointer(&format!("/spec/{field}"));
        if let Some(number) =
            number.filter(|number| number.as_i64().is_some_and(|number| number < 0))
        {
            let detail = "must be greater than or equal to 0";
            causes.push(Cause::invalid(format!("spec.{field}"), number, detail));
        }
    }
}

fn template(value: &Value, causes: &mut Vec<Cause>) {
    pod_spec(value, "/spec/template/spec", causes);
}

fn selector(value: &Value, causes: &mut Vec<Cause>) {
    let Some(selector) = value.pointer("/spec/selector").filter(|selector| !selector.is_null())
    else {
        causes.push(Cause::required("spec.selector", ""));
        return;
    };
    let labels = value.pointer("/spec/template/metadata/labels");
    if !Labels::from_object(selector).matches(labels.and_then(Value::as_object)) {
        let labels = labels.cloned().unwrap_or_else(|| json!({}));
        let detail = "`selector` does not match template `labels`";
        causes.push(Cause::invalid("spec.template.metadata.labels", &labels, detail));
    }
}

fn pod_spec(value: &Value, pointer: &str, causes: &mut Vec<Cause>) {
    let path = pointer.trim_start_matches('/').replace('/', ".");
    let containers = object::array(value, &format!("{pointer}/containers"));
    if containers.is_empty() {
        causes.push(Cause::required(format!("{path}.containers"), ""));
    }
    let volumes = volumes(value, pointer, causes);
    let mut seen = Vec::new();
    for list in ["initContainers", "containers"] {
        for (index, container) in
            object::array(value, &format!("{pointer}/{list}")).iter().enumerate()
        {
            let at = format!("{path}.{list}[{index}]");
            let name = object::text(container, "/name");
            if name.is_empty() {
                causes.push(Cause::required(format!("{at}.name"), ""));
            } else if let Some(why) = names::dns1123_label(name) {
                causes.push(Cause::invalid(format!("{at}.name"), &json!(name), &why));
            } else if seen.contains(&name) {
                causes.push(Cause::duplicate(format!("{at}.name"), &json!(name)));
            }
            seen.push(name);
            if object::text(container, "/image").is_empty() {
                causes.push(Cause::required(format!("{at}.image"), ""));
            }
            resources(container, &at, causes);
            variables(container, &at, causes);
            mounts(container, &at, &volumes, causes);
        }
    }
    let policy = object::text(value, &format!("{pointer}/restartPolicy"));
    if !matches!(policy, "" | "Always" | "OnFailure" | "Never") {
        let at = format!("{path}.restartPolicy");
        causes.push(Cause::unsupported(at, &json!(policy), &["Always", "OnFailure", "Never"]));
    }
}

/// The names of the pod's volumes.
fn volumes<'a>(value: &'a Value, pointer: &str, causes: &mut Vec<Cause>) -> Vec<&'a str> {
    let path = pointer.trim_start_matches('/').replace('/', ".");
    let mut seen = Vec::new();
    let all = object::array(value, &format!("{pointer}/volumes"));
    for (index, volume) in all.iter().enumerate() {
        let field = format!("{path}.volumes[{index}].name");
        let name = object::text(volume, "/name");
        if name.is_empty() {
            causes.push(Cause::required(field, ""));
        } else if let Some(why) = names::dns1123_label(name) {
            causes.push(Cause::invalid(field, &json!(name), &why));
        } else if seen.contains(&name) {
            causes.push(Cause::duplicate(field, &json!(name)));
        }
        seen.push(name);
    }
    seen
}

fn mounts(container: &Value, at: &str, volumes: &[&str], causes: &mut Vec<Cause>) {
    for (index, mount) in object::array(container, "/volumeMounts").iter().enumerate() {
        let name = object::text(mount, "/name");
        let field = format!("{at}.volumeMounts[{index}]");
        if name.is_empty() {
            causes.push(Cause::required(format!("{field}.name"), ""));
        } else if !volumes.contains(&name) {
            causes.push(Cause::not_found(format!("{field}.name"), &json!(name)));
        }
        if object::text(mount, "/mountPath").is_empty() {
            causes.push(Cause::required(format!("{field}.mountPath"), ""));
        }
    }
}

fn variables(container: &Value, at: &str, causes: &mut Vec<Cause>) {
    for (index, variable) in object::array(container, "/env").iter().enumerate() {
        let field = format!("{at}.env[{index}]");
        if object::text(variable, "/name").is_empty() {
            causes.push(Cause::required(format!("{field}.name"), ""));
        }
        let name = object::text(variable, "/name");
        if !name.chars().all(|c| matches!(c, ' '..='~') && c != '=') {
            let detail = "a valid environment variable name must consist only of printable ASCII characters other than '='";
            causes.push(Cause::invalid(format!("{field}.name"), &json!(name), detail));
        }
        let is_both = variable.get("valueFrom").is_some_and(|from| !from.is_null())
            && !object::text(variable, "/value").is_empty();
        if is_both {
            let detail = "may not be specified when `value` is not empty";
            causes.push(Cause::invalid(format!("{field}.valueFrom"), &json!(""), detail));
        }
    }
}

fn resources(container: &Value, at: &str, causes: &mut Vec<Cause>) {
    for side in ["limits", "requests"] {
        let amounts = container.pointer(&format!("/resources/{side}")).and_then(Value::as_object);
        for (name, amount) in amounts.into_iter().flatten() {
            let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
            let field = format!("{at}.resources.{side}[{name}]");
            if !names::is_quantity(&text) {
                let detail = "quantities must match the regular expression \
                              '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
                causes.push(Cause::invalid(field, amount, detail));
            }
        }
    }
}

/// Lists what is wrong with a change.
pub(super) fn update(kind: &Kind, old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = create(kind, new);
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_update(old, new, &mut causes),
        ("batch", "jobs") => {
            immutable(old, new, &["selector", "template", "completionMode"], &mut causes);
        }
        ("apps", "deployments" | "replicasets" | "daemonsets") => {
            immutable(old, new, &["selector"], &mut causes);
        }
        ("scheduling.k8s.io", "priorityclasses") => {
            for field in ["value", "preemptionPolicy"] {
                if old.get(field) != new.get(field) {
                    causes.push(Cause::forbidden(field, "may not be changed in an update."));
                }
            }
        }
        ("", "configmaps" | "secrets") => immutable_data(old, new, &mut causes),
        _ => {}
    }
    causes
}

/// Lists what is wrong with a resize of a pod.
pub(super) fn resize(kind: &Kind, old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = create(kind, new);
    let statuses = object::array(old, "/status/containerStatuses");
    if statuses.iter().any(|status| status.get("resources").is_none_or(Value::is_null)) {
        let detail = "Pod running on node without support for resize";
        causes.push(Cause::forbidden("spec", detail));
    }
    let class = object::text(old, "/status/qosClass");
    if defaults::qos_class(new) != class {
        let detail = "Pod QOS Class may not change as a result of resizing";
        causes.push(Cause::invalid("spec", &json!(class), detail));
    }
    for list in ["containers", "initContainers"] {
        let pointer = format!("/spec/{list}");
        let (before, now) = (object::array(old, &pointer), object::array(new, &pointer));
        let names = |rows: &[Value]| -> Vec<String> {
            rows.iter().map(|row| object::text(row, "/name").to_owned()).collect()
        };
        if names(before) != names(now) {
            let detail = "containers may not be added or removed on resize";
            causes.push(Cause::forbidden(format!("spec.{list}"), detail));
        } else if before
            .iter()
            .zip(now)
            .any(|(before, now)| fixed_amounts(before) != fixed_amounts(now))
        {
            let detail = "only cpu and memory resources are mutable";
            causes.push(Cause::forbidden("spec", detail));
        }
    }
    causes
}

/// The resources of a container that stay as they are while it runs.
fn fixed_amounts(container: &Value) -> Value {
    let mut resources = container.get("resources").cloned().unwrap_or_else(|| json!({}));
    for side in ["limits", "requests"] {
        if let Some(amounts) = resources.get_mut(side).and_then(Value::as_object_mut) {
            amounts.retain(|name, _| !matches!(name.as_str(), "cpu" | "memory"));
        }
    }
    if let Some(fields) = resources.as_object_mut() {
        fields.retain(|_, value| *value != json!({}));
    }
    resources
}

fn immutable(old: &Value, new: &Value, fields: &[&str], causes: &mut Vec<Cause>) {
    for field in fields {
        let pointer = format!("/spec/{field}");
        if old.pointer(&pointer) != new.pointer(&pointer) {
            let value = new.pointer(&pointer).cloned().unwrap_or_default();
            causes.push(Cause::invalid(format!("spec.{field}"), &value, "field is immutable"));
        }
    }
}

fn immutable_data(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    if old.get("immutable") != Some(&json!(true)) {
        return;
    }
    for field in ["immutable", "data", "binaryData"] {
        if old.get(field) != new.get(field) {
            causes.push(Cause::forbidden(field, "field is immutable when `immutable` is set"));
        }
    }
}

/// A pod's spec is fixed except for images, deadline, grace, tolerations that are added, and gates that are removed.
fn pod_update(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let gated = !object::array(old, "/spec/schedulingGates").is_empty();
    let fixed = |pod: &Value| {
        let mut spec = pod.get("spec").cloned().unwrap_or_default();
        if let Some(fields) = spec.as_object_mut() {
            for field in [
                "activeDeadlineSeconds",
                "terminationGracePeriodSeconds",
                "tolerations",
                "schedulingGates",
            ] {
                fields.shift_remove(field);
            }
            if gated {
                for field in ["nodeSelector", "affinity"] {
                    fields.shift_remove(field);
                }
            }
        }
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
            {
                if let Some(fields) = container.as_object_mut() {
                    fields.shift_remove("image");
                }
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        causes.push(Cause::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
             `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
             `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ));
    }
    let before = object::array(old, "/spec/schedulingGates");
    let added =
        object::array(new, "/spec/schedulingGates").iter().any(|gate| !before.contains(gate));
    if added {
        causes.push(Cause::forbidden("spec.schedulingGates", "only deletion is allowed"));
    }
    let kept = object::array(new, "/spec/tolerations");
    if object::array(old, "/spec/tolerations").iter().any(|toleration| !kept.contains(toleration)) {
        causes.push(Cause::forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        ));
    }
}
