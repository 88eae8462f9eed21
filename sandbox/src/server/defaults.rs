//! The defaults of the built-in kinds.
//!
//! # Source
//!
//! `pkg/apis/*/v1/defaults.go` of Kubernetes 1.36, as seen through the answers of kube-apiserver.

use serde_json::{Map, Value, json};

use super::admission::registration;
use super::kinds::Kind;
use super::object;

/// Fills in the defaults of a built-in kind.
pub(crate) fn apply(kind: &Kind, value: &mut Value) {
    if kind.custom {
        return;
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_spec(value.get_mut("spec")),
        ("", "nodes") => node(value),
        ("", "services") => service(value),
        ("", "secrets") => top(value, "type", json!("Opaque")),
        ("apps", "deployments") => deployment(value),
        ("apps", "replicasets") | ("", "replicationcontrollers") => {
            spec(value, "replicas", json!(1));
            pod_template(value, "/spec/template/spec");
        }
        ("apps", "statefulsets") => stateful_set(value),
        ("apps", "daemonsets") => daemon_set(value),
        ("batch", "jobs") => {
            job_spec(value.get_mut("spec"));
            copy_template_labels(value);
        }
        ("batch", "cronjobs") => cron_job(value),
        ("admissionregistration.k8s.io", _) => registration::default(kind, value),
        ("scheduling.k8s.io", "priorityclasses") => {
            top(value, "preemptionPolicy", json!("PreemptLowerPriority"));
        }
        _ => {}
    }
}

fn top(value: &mut Value, key: &str, default: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.entry(key).or_insert(default);
    }
}

fn spec(value: &mut Value, key: &str, default: Value) {
    object::child_mut(value, "spec").entry(key).or_insert(default);
}

fn fill(fields: &mut Map<String, Value>, defaults: &[(&str, Value)]) {
    for (key, default) in defaults {
        let slot = fields.entry(*key).or_insert(Value::Null);
        if slot.is_null() {
            *slot = default.clone();
        }
    }
}

fn pod_template(value: &mut Value, pointer: &str) {
    pod_spec(value.pointer_mut(pointer));
}

fn pod_spec(spec: Option<&mut Value>) {
    let Some(spec) = spec.and_then(Value::as_object_mut) else { return };
    fill(
        spec,
        &[
            ("restartPolicy", json!("Always")),
            ("dnsPolicy", json!("ClusterFirst")),
            ("schedulerName", json!("default-scheduler")),
            ("terminationGracePeriodSeconds", json!(30)),
            ("securityContext", json!({})),
        ],
    );
    if let Some(account) = spec.get("serviceAccountName").cloned() {
        spec.entry("serviceAccount").or_insert(account);
    }
    for list in ["initContainers", "containers"] {
        for item in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            container(item);
        }
    }
    for item in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        volume(item);
    }
}

fn container(item: &mut Value) {
    let Some(fields) = item.as_object_mut() else { return };
    let image = fields.get("image").and_then(Value::as_str).unwrap_or_default();
    let latest = is_latest(image);
    fill(
        fields,
        &[
            ("resources", json!({})),
            ("terminationMessagePath", json!("/dev/termination-log")),
            ("terminationMessagePolicy", json!("File")),
            ("imagePullPolicy", json!(if latest { "Always" } else { "IfNotPresent" })),
        ],
    );
    for port in fields.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        top(port, "protocol", json!("TCP"));
    }
    for env in fields.get_mut("env").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(field) = env.pointer_mut("/valueFrom/fieldRef") {
            top(field, "apiVersion", json!("v1"));
        }
    }
    requests_from_limits(fields);
}

/// Tells whether an image has the tag `latest`, which it also has where it says none. What is no name of an image has none.
///
/// # Source
/// The grammar of `github.com/distribution/reference`.
fn is_latest(image: &str) -> bool {
    let (folders, last) = image.rsplit_once('/').unwrap_or(("", image));
    let (name, tag) = last.split_once(':').unwrap_or((last, "latest"));
    let (host, rest) = folders.split_once('/').unwrap_or((folders, ""));
    let is_host = host == "localhost" || host.contains(['.', ':']);
    let path = if is_host { rest } else { folders };
    let is_word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_part = |part: &str| {
        let is_gap =
            |gap: &str| matches!(gap, "" | "." | "_" | "__") || gap.chars().all(|at| at == '-');
        part.starts_with(is_word) && part.ends_with(is_word) && part.split(is_word).all(is_gap)
    };
    let mut parts = path.split('/').filter(|_| !path.is_empty()).chain([name]);
    tag == "latest" && parts.all(is_part)
}

/// A limit without a request is the request too.
fn requests_from_limits(container: &mut Map<String, Value>) {
    let Some(resources) = container.get_mut("resources").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
    if limits.is_empty() {
        return;
    }
    let requests = resources.entry("requests").or_insert_with(|| json!({}));
    if let Some(requests) = requests.as_object_mut() {
        for (name, amount) in limits {
            requests.entry(name).or_insert(amount);
        }
    }
}

fn volume(item: &mut Value) {
    for source in ["configMap", "secret", "projected", "downwardAPI"] {
        if let Some(source) = item.get_mut(source) {
            top(source, "defaultMode", json!(420));
        }
    }
    if let Some(path) = item.get_mut("hostPath") {
        top(path, "type", json!(""));
    }
}

/// The quality-of-service class of a pod, from its containers' cpu and memory.
pub(crate) fn qos_class(pod: &Value) -> &'static str {
    let containers = || {
        object::array(pod, "/spec/containers")
            .iter()
            .chain(object::array(pod, "/spec/initContainers"))
    };
    let amount = |container: &Value, side: &str, name: &str| {
        container.pointer(&format!("/resources/{side}/{name}")).cloned()
    };
    let any = containers().any(|container| {
        ["requests", "limits"].iter().any(|side| {
            ["cpu", "memory"].iter().any(|name| amount(container, side, name).is_some())
        })
    });
    let guaranteed = containers().all(|container| {
        ["cpu", "memory"].iter().all(|name| {
            let limit = amount(container, "limits", name);
            limit.is_some() && amount(container, "requests", name) == limit
        })
    });
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

fn node(value: &mut Value) {
    let Some(status) = value.get_mut("status").and_then(Value::as_object_mut) else { return };
    if let Some(capacity) = status.get("capacity").cloned() {
        status.entry("allocatable").or_insert(capacity);
    }
}

fn service(value: &mut Value) {
    spec(value, "sessionAffinity", json!("None"));
    spec(value, "type", json!("ClusterIP"));
    let ports = value.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.entry("protocol").or_insert(json!("TCP"));
        let number = port.get("port").cloned().unwrap_or_default();
        port.entry("targetPort").or_insert(number);
    }
}

fn deployment(value: &mut Value) {
    spec(value, "replicas", json!(1));
    spec(value, "revisionHistoryLimit", json!(10));
    spec(value, "progressDeadlineSeconds", json!(600));
    spec(
        value,
        "strategy",
        json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "25%", "maxSurge": "25%" } }),
    );
    if object::text(value, "/spec/strategy/type") != "Recreate"
        && let Some(strategy) = value.pointer_mut("/spec/strategy").and_then(Value::as_object_mut)
    {
        strategy.entry("type").or_insert(json!("RollingUpdate"));
        let rolling = strategy.entry("rollingUpdate").or_insert_with(|| json!({}));
        top(rolling, "maxUnavailable", json!("25%"));
        top(rolling, "maxSurge", json!("25%"));
    }
    pod_template(value, "/spec/template/spec");
}

fn stateful_set(value: &mut Value) {
    spec(value, "replicas", json!(1));
    spec(value, "podManagementPolicy", json!("OrderedReady"));
    spec(value, "revisionHistoryLimit", json!(10));
    spec(
        value,
        "updateStrategy",
        json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } }),
    );
    spec(
        value,
        "persistentVolumeClaimRetentionPolicy",
        json!({ "whenDeleted": "Retain", "whenScaled": "Retain" }),
    );
    pod_template(value, "/spec/template/spec");
}

fn daemon_set(value: &mut Value) {
    spec(value, "revisionHistoryLimit", json!(10));
    let rolling = json!({ "maxUnavailable": 1, "maxSurge": 0 });
    spec(value, "updateStrategy", json!({ "type": "RollingUpdate", "rollingUpdate": rolling }));
    pod_template(value, "/spec/template/spec");
}

fn job_spec(spec: Option<&mut Value>) {
    let Some(fields) = spec.and_then(Value::as_object_mut) else { return };
    let neither = !fields.contains_key("completions") && !fields.contains_key("parallelism");
    if neither {
        fields.insert("completions".to_owned(), json!(1));
    }
    fill(
        fields,
        &[
            ("parallelism", json!(1)),
            ("completionMode", json!("NonIndexed")),
            ("suspend", json!(false)),
            ("manualSelector", json!(false)),
            ("podReplacementPolicy", json!("TerminatingOrFailed")),
        ],
    );
    let per_index = fields.contains_key("backoffLimitPerIndex");
    let limit = if per_index { i32::MAX } else { 6 };
    fields.entry("backoffLimit").or_insert(json!(limit));
    pod_spec(fields.get_mut("template").and_then(|template| template.get_mut("spec")));
}

/// A Job without labels takes those of its pods.
pub(crate) fn copy_template_labels(value: &mut Value) {
    if object::labels(value).is_none_or(Map::is_empty)
        && let Some(labels) = value.pointer("/spec/template/metadata/labels").cloned()
    {
        object::set_metadata(value, "labels", labels);
    }
}

fn cron_job(value: &mut Value) {
    spec(value, "concurrencyPolicy", json!("Allow"));
    spec(value, "suspend", json!(false));
    spec(value, "successfulJobsHistoryLimit", json!(3));
    spec(value, "failedJobsHistoryLimit", json!(1));
    let template = value.pointer_mut("/spec/jobTemplate/spec/template/spec");
    pod_spec(template);
}

#[cfg(test)]
mod tests {
    use super::is_latest;

    #[test]
    fn an_image_without_a_tag_is_the_latest() {
        let latest =
            ["busybox", "a/b", "localhost:5000/a-b__c.d", "Gcr.io/x:latest", "a--b", "i:latest"];
        let other = ["busybox:1", "-0", "../..k", "IMAGE", "a__-b", "a@sha256:0", "a:", "", "a//b"];
        for image in latest {
            assert!(is_latest(image), "{image}");
        }
        for image in other {
            assert!(!is_latest(image), "{image}");
        }
    }
}
