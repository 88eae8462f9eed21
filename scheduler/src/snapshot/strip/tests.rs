//! Describes what is written of objects.

use super::*;
use crate::snapshot::ARRAYS;

/// An object of an array, and what is written of it.
fn check(key: &str, object: Value, expect: &Value) {
    let array = ARRAYS.iter().find(|array| array.key == key).expect("an array");
    assert_eq!(strip(array, object), *expect);
}

#[test]
fn a_pod_is_written_without_what_its_user_would_keep_to_himself() {
    check(
        "pods",
        json!({
            "metadata": {
                "name": "p", "namespace": "ns", "uid": "u", "creationTimestamp": null, "managedFields": [{"manager": "x"}],
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": "{\"env\": \"hunter2\"}", "pod-group-name": "g",
                },
            },
            "spec": {
                "nodeName": "n",
                "imagePullSecrets": [{"name": "s"}],
                "initContainers": [{"name": "i", "image": "busybox", "args": ["hunter2"]}],
                "containers": [{
                    "name": "c", "image": "x", "command": ["run", "--password=hunter2"], "livenessProbe": {"exec": {}},
                    "lifecycle": {"preStop": {}}, "resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 80}],
                    "env": [
                        {"name": "PASSWORD", "value": "hunter2"},
                        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                        {"name": "MODE", "value": "", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
                    ],
                    "envFrom": [{"secretRef": {"name": "s"}}, {"configMapRef": {"name": "m"}, "prefix": "hunter2"}],
                }],
            },
            "status": {"phase": "Running", "hostIP": "10.0.0.1", "containerStatuses": [{"image": "x"}], "conditions": null},
        }),
        &json!({
            "metadata": {"name": "p", "namespace": "ns", "uid": "u", "annotations": {"pod-group-name": "g"}},
            "spec": {
                "nodeName": "n",
                "initContainers": [{"name": "i"}],
                "containers": [{
                    "name": "c", "resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 80}],
                    "env": [{"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}],
                    "envFrom": [{"configMapRef": {"name": "m"}}],
                }],
            },
            "status": {"phase": "Running"},
        }),
    );
}

/// They count while a pod is resized: without them a snapshot would have room that is not there.
#[test]
fn what_kubelets_gave_is_written() {
    check(
        "pods",
        json!({
            "metadata": {"name": "p"},
            "status": {
                "containerStatuses": [
                    {"name": "c", "image": "x", "restartCount": 1, "state": {"running": {}},
                        "resources": {"requests": {"cpu": "4"}}, "allocatedResources": {"cpu": "4"}},
                    {"name": "d", "image": "x"},
                ],
                "initContainerStatuses": [{"name": "i", "image": "x"}],
                "resources": {"requests": {"cpu": "5"}}, "allocatedResources": {"cpu": "5"},
            },
        }),
        &json!({
            "metadata": {"name": "p"},
            "status": {
                "containerStatuses": [
                    {"name": "c", "resources": {"requests": {"cpu": "4"}}, "allocatedResources": {"cpu": "4"}},
                ],
                "resources": {"requests": {"cpu": "5"}}, "allocatedResources": {"cpu": "5"},
            },
        }),
    );
}

#[test]
fn a_pod_that_ended_well_is_its_name_and_its_group() {
    check(
        "pods",
        json!({
            "metadata": {
                "name": "p", "namespace": "ns", "uid": "u", "resourceVersion": "7", "annotations": {"pod-group-name": "g", "x": "y"},
                "labels": {"kai.scheduler/subgroup-name": "s", "x": "y"},
            },
            "spec": {"schedulerName": "kai-scheduler", "nodeName": "n", "containers": [{"name": "c"}]},
            "status": {"phase": "Succeeded", "podIP": "10.0.0.1"},
        }),
        &json!({
            "metadata": {
                "name": "p", "namespace": "ns", "uid": "u", "annotations": {"pod-group-name": "g"},
                "labels": {"kai.scheduler/subgroup-name": "s"},
            },
            "spec": {"schedulerName": "kai-scheduler"},
            "status": {"phase": "Succeeded"},
        }),
    );
}

#[test]
fn other_kinds_lose_copies_and_bulk() {
    let bare = json!({"metadata": {"name": "x"}});
    check("configMaps", json!({"metadata": {"name": "x"}, "data": {"password": "hunter2"}}), &bare);
    check("namespaces", json!({"metadata": {"name": "x"}, "status": {"phase": "Active"}}), &bare);
    check(
        "storageClasses",
        json!({"metadata": {"name": "x"}, "parameters": {"restuserkey": "hunter2"}}),
        &bare,
    );
    check(
        "nodes",
        json!({"metadata": {"name": "x", "annotations": {COPIES[0]: "{}"}}, "status": {"images": [{"names": ["x"]}], "capacity": {"cpu": "1"}}}),
        &json!({"metadata": {"name": "x"}, "status": {"capacity": {"cpu": "1"}}}),
    );
}
