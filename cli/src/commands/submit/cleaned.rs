//! A workload as it was submitted: without what the server, controllers and the scheduler have written since. Pure.

use serde_json::{Map, Value, json};

use super::unified::bare;
use crate::cluster::json::text;
use crate::cluster::kinds::Suspend;
use crate::cluster::manifest::{kind, sites};
use crate::cluster::names;

/// Labels that controllers put on templates and objects.
const LABELS: &[&str] = &[
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "pod-template-hash",
    "workflows.argoproj.io/phase",
    "workflows.argoproj.io/completed",
    "workflows.argoproj.io/creator",
    "workflows.argoproj.io/creator-email",
    "workflows.argoproj.io/creator-preferred-username",
    "runai-gpu-group",
];
/// Annotations that say what became of an object.
const ANNOTATIONS: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "batch.kubernetes.io/job-tracking",
    "batch.kubernetes.io/cronjob-scheduled-timestamp",
    "workflows.argoproj.io/pod-name-format",
    names::REPLICAS_BEFORE,
    names::POD_GROUP,
    names::TOP_OWNER,
    "received-resource-type",
];
/// Fields of the metadata that tie an object to its past.
const METADATA: &[&str] = &["ownerReferences", "finalizers", "deletionTimestamp", "generateName"];
/// Tolerations that admission gives to every pod.
const OF_ADMISSION: &[&str] = &["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
/// Beginning of the volumes with an account's token.
const TOKEN: &str = "kube-api-access-";

/// The object as somebody could submit it.
pub(super) fn cleaned(object: &Value) -> Value {
    let mut object = bare(object);
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        for field in METADATA {
            meta.remove(*field);
        }
    }
    go_on(&mut object);
    maps(&mut object, "/metadata");
    for site in sites(&object) {
        if let Some(meta) = &site.meta {
            maps(&mut object, meta);
            if let Some(Value::Object(meta)) = object.pointer_mut(meta) {
                meta.remove("creationTimestamp");
            }
        }
        if text(&object["kind"]) == "Pod"
            && let Some(Value::Object(spec)) = object.pointer_mut(&site.spec)
        {
            pod(spec);
        }
    }
    if text(&object["kind"]) == "Job" && object["spec"]["manualSelector"] != json!(true) {
        remove(&mut object, "/spec", "selector");
    }
    if text(&object["kind"]) == "RayJob" {
        remove(&mut object, "/spec", "jobId");
    }
    object
}

/// Takes back a suspension: what is submitted anew is meant to run.
fn go_on(object: &mut Value) {
    match kind(object).map_or(Suspend::Never, |kind| kind.suspend) {
        Suspend::Field(pointer) => {
            let (parent, field) = pointer.rsplit_once('/').unwrap_or(("", pointer));
            remove(object, parent, field);
        }
        Suspend::Annotation(key) => remove(object, "/metadata/annotations", key),
        Suspend::Scale => {
            let before = text(&object["metadata"]["annotations"][names::REPLICAS_BEFORE]);
            if let (Ok(before), Some(0)) =
                (before.parse::<u64>(), object["spec"]["replicas"].as_u64())
            {
                object["spec"]["replicas"] = json!(before);
            }
        }
        Suspend::Never => {}
    }
}

fn remove(object: &mut Value, parent: &str, field: &str) {
    if let Some(Value::Object(map)) = object.pointer_mut(parent) {
        map.remove(field);
    }
}

/// Takes out the labels and annotations of controllers, and maps that are empty then.
fn maps(object: &mut Value, meta: &str) {
    for (field, keys) in [("labels", LABELS), ("annotations", ANNOTATIONS)] {
        let Some(Value::Object(meta)) = object.pointer_mut(meta) else { return };
        if let Some(Value::Object(map)) = meta.get_mut(field) {
            map.retain(|key, _| !keys.contains(&key.as_str()));
            if map.is_empty() {
                meta.remove(field);
            }
        }
    }
}

/// Takes out of a bare pod what admission and scheduling gave it.
fn pod(spec: &mut Map<String, Value>) {
    for field in ["nodeName", "priority", "preemptionPolicy", "schedulingGates"] {
        spec.remove(field);
    }
    retain(spec, "tolerations", |one| !OF_ADMISSION.contains(&text(&one["key"])));
    retain(spec, "volumes", |one| !text(&one["name"]).starts_with(TOKEN));
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(container) = container {
                retain(container, "volumeMounts", |one| !text(&one["name"]).starts_with(TOKEN));
            }
        }
    }
}

fn retain(map: &mut Map<String, Value>, list: &str, keep: impl Fn(&Value) -> bool) {
    if let Some(Value::Array(items)) = map.get_mut(list) {
        items.retain(|item| keep(item));
        if items.is_empty() {
            map.remove(list);
        }
    }
}

/// Gives the object another name, also where it selects its own pods, so that two of them do not share pods.
pub(super) fn rename(object: &mut Value, old: &str, new: &str) {
    object["metadata"]["name"] = json!(new);
    if old == new {
        return;
    }
    if text(&object["kind"]) == "Notebook"
        && let Some(Value::String(name)) =
            object.pointer_mut("/spec/template/spec/containers/0/name")
        && name == old
    {
        new.clone_into(name);
    }
    let places = ["/spec/selector/matchLabels", "/spec/template/metadata/labels"];
    if object.pointer(places[0]).is_none() {
        return;
    }
    let mut is_told_apart = false;
    for place in places {
        for value in object.pointer_mut(place).and_then(Value::as_object_mut).into_iter().flatten()
        {
            if text(value.1) == old {
                *value.1 = json!(new);
                is_told_apart = true;
            }
        }
    }
    if !is_told_apart {
        for place in places {
            if let Some(Value::Object(labels)) = object.pointer_mut(place) {
                labels.insert(INSTANCE.into(), json!(new));
            }
        }
    }
}

/// The label that tells two installations of one thing apart.
const INSTANCE: &str = "app.kubernetes.io/instance";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expect: &str) {
        let object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let mut object = cleaned(&object);
        rename(&mut object, "a", "b");
        assert_eq!(object.to_string(), expect);
    }

    #[test]
    fn a_job_loses_what_its_controller_wrote() {
        check(
            "{apiVersion: batch/v1, kind: Job, metadata: {name: a, uid: u, labels: {job-name: a}, annotations: {keep: x}}, spec: {suspend: true, selector: {matchLabels: {controller-uid: u}}, template: {metadata: {labels: {controller-uid: u, mine: z}}, spec: {containers: [{name: m}]}}}, status: {active: 1}}",
            r#"{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"b","annotations":{"keep":"x"}},"spec":{"template":{"metadata":{"labels":{"mine":"z"}},"spec":{"containers":[{"name":"m"}]}}}}"#,
        );
    }

    #[test]
    fn a_pod_loses_its_node_and_token() {
        check(
            "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n, tolerations: [{key: node.kubernetes.io/not-ready}], volumes: [{name: kube-api-access-x}], containers: [{name: m, volumeMounts: [{name: kube-api-access-x}, {name: d}]}]}}",
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"m","volumeMounts":[{"name":"d"}]}]}}"#,
        );
    }

    #[test]
    fn two_deployments_share_no_pods() {
        let template = |labels: &str| {
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a, annotations: {{kai.scheduler/replicas-before-suspend: '3'}}}}, spec: {{replicas: 0, selector: {{matchLabels: {labels}}}, template: {{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: m}}]}}}}}}}}"
            )
        };
        check(
            &template("{app: a, x: z}"),
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"b","x":"z"}},"template":{"metadata":{"labels":{"app":"b","x":"z"}},"spec":{"containers":[{"name":"m"}]}}}}"#,
        );
        check(
            &template("{x: z}"),
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b"},"spec":{"replicas":3,"selector":{"matchLabels":{"x":"z","app.kubernetes.io/instance":"b"}},"template":{"metadata":{"labels":{"x":"z","app.kubernetes.io/instance":"b"}},"spec":{"containers":[{"name":"m"}]}}}}"#,
        );
    }

    #[test]
    fn a_copy_is_nobodys_and_in_no_group() {
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a",
                "ownerReferences": [{"name": "o"}], "finalizers": ["f"], "generateName": "a-",
                "labels": {"runai-gpu-group": "g", "mine": "z"},
                "annotations": {"pod-group-name": "pg-a", "kai.scheduler/top-owner-metadata": "x",
                    "received-resource-type": "Fraction", "keep": "y"}},
            "spec": {"containers": [{"name": "m"}]}});
        let expect = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "labels": {"mine": "z"}, "annotations": {"keep": "y"}},
            "spec": {"containers": [{"name": "m"}]}});
        assert_eq!(cleaned(&object), expect);
    }
}
