//! The snapshot of a large cluster whose nodes are full, made one object at a time.

use std::{
    fs::File,
    io::{Error, Result},
    path::Path,
};

use kai_engine::Timestamp;
use kai_scheduler::{
    Args,
    snapshot::{self, ARRAYS, Header, Part},
};
use serde_json::{Value, json};

/// Pods a node, and pods a group.
pub(crate) const PODS_OF_NODE: u32 = 10;
const PODS_OF_GROUP: u32 = 4;
/// GPUs of a node: of its ten pods eight run.
const GPUS: u32 = 8;

/// Writes a snapshot of so many pods on a tenth as many nodes.
pub(crate) fn make(path: &Path, pods: u32) -> Result<()> {
    let header = Header {
        taken: Timestamp(1_767_225_600_000),
        config: snapshot::configuration(&kai_api::shard::SchedulingShardSpec::default()),
        params: snapshot::parameters(&Args::default()),
        discovery: None,
    };
    let of =
        |key: &'static str| ARRAYS.iter().filter(move |array| array.key == key).map(Part::Array);
    let parts = of("nodes")
        .chain((0..pods.div_ceil(PODS_OF_NODE)).map(|number| Part::Object(node(number))))
        .chain(of("queues"))
        .chain((0..4).map(|number| Part::Object(queue(number))))
        .chain(of("podGroups"))
        .chain((0..pods.div_ceil(PODS_OF_GROUP)).map(|number| Part::Object(group(number))))
        .chain(of("pods"))
        .chain((0..pods).map(|number| Part::Object(pod(number))));
    snapshot::write(File::create(path)?, &header, parts).map_err(Error::other)?;
    Ok(())
}

fn uid(kind: u32, number: u32) -> String {
    // Spread, so that the file packs as one of real objects does.
    let random = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{kind:08x}-{:04x}-4000-8000-{:012x}", random >> 48, random & 0xffff_ffff_ffff)
}

fn node(number: u32) -> Value {
    let name = format!("node-{number:05}");
    let amounts = json!({
        "cpu": "128", "memory": "1056295636Ki", "ephemeral-storage": "1844284980Ki", "hugepages-1Gi": "0",
        "pods": "110", "nvidia.com/gpu": GPUS.to_string(),
    });
    let condition = |kind: &str, status: &str| {
        json!({
            "type": kind, "status": status, "reason": format!("Kubelet{kind}"), "message": "as the kubelet says",
            "lastHeartbeatTime": "2025-12-31T23:59:00Z", "lastTransitionTime": "2025-12-01T00:00:00Z",
        })
    };
    json!({
        "metadata": {
            "name": name, "uid": uid(1, number), "resourceVersion": number.to_string(),
            "creationTimestamp": "2025-12-01T00:00:00Z",
            "labels": {
                "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
                "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
                "rack": format!("rack-{}", number / 16),
                "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            },
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": format!("cloud://{name}")},
        "status": {
            "capacity": amounts, "allocatable": amounts,
            "conditions": [condition("MemoryPressure", "False"), condition("DiskPressure", "False"), condition("Ready", "True")],
            "nodeInfo": {"kernelVersion": "6.8.0", "kubeletVersion": "v1.36.0", "architecture": "amd64"},
        },
    })
}

fn queue(number: u32) -> Value {
    let all = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
    json!({
        "metadata": {"name": format!("queue-{number}"), "uid": uid(2, number), "creationTimestamp": "2025-12-01T00:00:00Z"},
        "spec": {"resources": {"gpu": all, "cpu": all, "memory": all}},
    })
}

fn group(number: u32) -> Value {
    json!({
        "metadata": {
            "name": format!("pg-{number:06}"), "namespace": format!("team-{}", number % 40), "uid": uid(3, number),
            "resourceVersion": number.to_string(), "creationTimestamp": "2025-12-31T12:00:00Z",
            "labels": {"kai.scheduler/queue": format!("queue-{}", number % 4)},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": format!("job-{number:06}"), "uid": uid(4, number)}],
        },
        "spec": {
            "minMember": PODS_OF_GROUP, "queue": format!("queue-{}", number % 4), "priorityClassName": "train",
            "preemptibility": "preemptible",
        },
        "status": {},
    })
}

fn pod(number: u32) -> Value {
    let group = number / PODS_OF_GROUP;
    let resources = json!({
        "requests": {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"},
        "limits": {"memory": "32Gi", "nvidia.com/gpu": "1"},
    });
    let toleration = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let mut pod = json!({
        "metadata": {
            "name": format!("job-{group:06}-{:05x}", number.wrapping_mul(2_654_435_761) % 0xf_ffff),
            "generateName": format!("job-{group:06}-"), "namespace": format!("team-{}", group % 40),
            "uid": uid(5, number), "resourceVersion": (number + 1_000_000).to_string(),
            "creationTimestamp": "2025-12-31T12:00:00Z",
            "labels": {
                "app": "train", "batch.kubernetes.io/job-name": format!("job-{group:06}"),
                "batch.kubernetes.io/controller-uid": uid(4, group), "kai.scheduler/queue": format!("queue-{}", group % 4),
            },
            "annotations": {"pod-group-name": format!("pg-{group:06}"), "team.example/contact": "somebody@example.org"},
            "ownerReferences": [{
                "apiVersion": "batch/v1", "kind": "Job", "name": format!("job-{group:06}"), "uid": uid(4, group),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "schedulerName": "kai-scheduler", "restartPolicy": "Never", "serviceAccountName": "default", "priority": 50,
            "containers": [{
                "name": "main", "resources": resources,
                "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}],
            }],
            "volumes": [{"name": "token", "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}}],
            "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")],
            "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    });
    if number % PODS_OF_NODE < GPUS {
        pod["spec"]["nodeName"] = json!(format!("node-{:05}", number / PODS_OF_NODE));
        // As the bind of KAI and of this scheduler writes it.
        pod["metadata"]["annotations"]["received-resource-type"] = json!("Regular");
        pod["status"]["phase"] = json!("Running");
        pod["status"]["startTime"] = json!("2025-12-31T12:00:05Z");
        pod["status"]["conditions"] = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
            .into_iter()
            .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": "2025-12-31T12:00:05Z"}))
            .collect();
    }
    pod
}
