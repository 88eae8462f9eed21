//! A simulated node as API objects: the Node as a kubelet registers it, and its heartbeat Lease.

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::group::Spec;

/// The label that marks a node as simulated by this program, so that it is never mistaken for a real one.
pub const NODE_LABEL: &str = "sandbox.kai.scheduler/node";
/// The annotation with the name of the simulation that runs the node.
pub const SIMULATION: &str = "sandbox.kai.scheduler/simulation";
/// The label with the node's rack, a level of the sandbox's Topology.
pub const RACK_LABEL: &str = "sandbox.kai.scheduler/rack";
/// The namespace of heartbeats.
pub const LEASE_NAMESPACE: &str = "kube-node-lease";
/// Time for which a heartbeat counts, as the kubelet's default has it.
pub const LEASE_SECONDS: i64 = 40;
/// Pods that a node takes, as the kubelet's default has it.
pub const PODS: i64 = 110;

/// The Node object: labels as the node's own components write them, capacity, a Ready condition.
///
/// `kubelet_port` is where the simulated kubelet serves logs on 127.0.0.1.
pub fn node(spec: &Spec, now: Timestamp, kubelet_port: u16) -> Value {
    let mut labels = json!({
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/region": "sandbox",
        "topology.kubernetes.io/zone": format!("z{}", spec.zone),
        RACK_LABEL: format!("r{}", spec.rack),
        NODE_LABEL: "true",
    });
    let mut capacity = json!({
        "cpu": spec.cores.to_string(),
        "memory": format!("{}Gi", spec.memory_gib),
        "ephemeral-storage": "1Ti",
        "pods": PODS.to_string(),
    });
    if let Some(model) = spec.model {
        labels["nvidia.com/gpu.present"] = json!("true");
        labels["nvidia.com/gpu.product"] = json!(model.product);
        labels["nvidia.com/gpu.memory"] = json!(model.memory_mib.to_string());
        labels["nvidia.com/gpu.count"] = json!(spec.gpus.to_string());
        match &spec.mig {
            None => {
                labels["nvidia.com/mig.strategy"] = json!("none");
                capacity["nvidia.com/gpu"] = json!(spec.gpus.to_string());
            }
            Some(mig) => {
                labels["nvidia.com/mig.strategy"] = json!("mixed");
                labels["node-role.kubernetes.io/mig-enabled"] = json!("true");
                capacity["nvidia.com/gpu"] = json!("0");
                capacity[mig.resource()] = json!((spec.gpus * mig.each).to_string());
            }
        }
    }
    let at = seconds(now);
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message,
               "lastHeartbeatTime": at, "lastTransitionTime": at})
    };
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name, "labels": labels},
        "spec": {"providerID": format!("sandbox://{}", spec.name)},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", "True", "KubeletReady", "simulated node, ready"),
            ],
            // No Hostname: an API server would look that one up first to fetch logs.
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
            "nodeInfo": {
                "architecture": "amd64", "operatingSystem": "linux", "osImage": "simulated",
                "kernelVersion": "simulated", "containerRuntimeVersion": "simulated://1",
                "kubeletVersion": "v1.36.0", "kubeProxyVersion": "", "bootID": "", "machineID": "",
                "systemUUID": "",
            },
        },
    })
}

/// The heartbeat Lease of a node, owned by it.
pub fn lease(name: &str, node_uid: &str, now: Timestamp) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node_uid}],
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micros(now),
        },
    })
}

/// The UUID of a simulated device: the same for the same node and index on every run.
pub fn device_uuid(node: &str, index: u32) -> String {
    format!("GPU-{}", Uuid::new_v5(&Uuid::NAMESPACE_DNS, format!("{node}/{index}").as_bytes()))
}

/// A time as `metav1.Time` has it: whole seconds.
pub fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time as `metav1.MicroTime` has it.
pub fn micros(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
