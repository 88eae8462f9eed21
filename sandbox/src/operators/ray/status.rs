//! The status of a `RayCluster`: conditions, replicas, totals.

use kai_api::quantity::Quantity;
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::super::action::{View, is_true};
use super::super::condition::{self, Wanted};
use super::super::template::integer;
use super::replicas;
use crate::nodes::object::seconds;

/// The status of the cluster with its `live` pods, of which it wants `wanted`.
pub(super) fn status(
    view: &View<'_>,
    live: &[&DynamicObject],
    wanted: usize,
    suspended: bool,
) -> Value {
    let groups = || view.spec()["workerGroupSpecs"].as_array().into_iter().flatten();
    let sum = |of: &dyn Fn(&Value) -> i64| -> i64 {
        groups().map(|group| of(group) * integer(&group["numOfHosts"], 1)).sum()
    };
    let head = live.iter().find(|pod| is_head(pod));
    let ready = live.iter().filter(|pod| is_true(pod, "Ready")).count();
    let workers = live.iter().filter(|pod| !is_head(pod) && is_true(pod, "Ready")).count();
    let all_ready = !suspended && wanted > 0 && ready >= wanted;
    let name = head.and_then(|pod| pod.metadata.name.as_deref());
    let address = head.map(|pod| pod.data["status"]["podIP"].clone());
    let mut status = json!({
        "conditions": conditions(view, live, all_ready, suspended),
        "observedGeneration": view.object.metadata.generation,
        "desiredWorkerReplicas": sum(&replicas),
        "minWorkerReplicas": sum(&|group| integer(&group["minReplicas"], 0)),
        "maxWorkerReplicas": sum(&|group| integer(&group["maxReplicas"], 0)),
        "availableWorkerReplicas": workers,
        "readyWorkerReplicas": workers,
        "desiredGPU": total(view, "nvidia.com/gpu"),
        "desiredCPU": total(view, "cpu"),
        "desiredMemory": total(view, "memory"),
        "desiredTPU": "0",
        "head": {"podName": name, "podIP": address, "serviceName": format!("{}-head-svc", view.name())},
        "endpoints": {
            "client": "10001", "dashboard": "8265", "gcs-server": "6379", "metrics": "8080", "serve": "8000",
        },
    });
    if all_ready {
        status["state"] = json!("ready");
    } else if suspended && live.is_empty() {
        status["state"] = json!("suspended");
    }
    // The time of the last change, not of the last look: else every look would be a change.
    let mut old = view.status().clone();
    let updated = old.as_object_mut().and_then(|old| old.remove("lastUpdateTime"));
    status["lastUpdateTime"] = match updated {
        Some(updated) if old == status => updated,
        _ => json!(seconds(view.now)),
    };
    status
}

fn is_head(pod: &DynamicObject) -> bool {
    let labels = pod.metadata.labels.as_ref();
    labels.and_then(|all| all.get("ray.io/node-type")).is_some_and(|role| role == "head")
}

fn conditions(
    view: &View<'_>,
    live: &[&DynamicObject],
    all_ready: bool,
    suspended: bool,
) -> Vec<Value> {
    let mut conditions = condition::all(view.status());
    let mut set = |kind, status, reason, message| {
        let wanted = Wanted { kind, status, reason, message, update: None };
        condition::set(&mut conditions, &wanted, view.now);
    };
    let head_ready = live.iter().any(|pod| is_head(pod) && is_true(pod, "Ready"));
    let reason = if head_ready { "HeadPodRunningAndReady" } else { "HeadPodNotFound" };
    set("HeadPodReady", head_ready, reason, "");
    let before = condition::find(view.status(), "RayClusterProvisioned");
    if all_ready {
        let message = "All Ray Pods are ready for the first time";
        set("RayClusterProvisioned", true, "AllPodRunningAndReadyFirstTime", message);
    } else if before.is_none_or(|one| one["status"] != "True") {
        let message = "RayCluster Pods are being provisioned for first time";
        set("RayClusterProvisioned", false, "RayClusterPodsProvisioning", message);
    }
    set("RayClusterSuspended", suspended && live.is_empty(), "RayClusterSuspended", "");
    set("RayClusterSuspending", suspended && !live.is_empty(), "RayClusterSuspending", "");
    conditions
}

/// Sums what all pods of the cluster ask of a resource.
fn total(view: &View<'_>, resource: &str) -> String {
    let of = |template: &Value| -> Quantity {
        let containers = template["spec"]["containers"].as_array().into_iter().flatten();
        let amounts = containers.filter_map(|container| {
            let resources = &container["resources"];
            let text = resources["limits"][resource]
                .as_str()
                .or_else(|| resources["requests"][resource].as_str());
            let number = resources["limits"][resource].as_i64().map(|number| number.to_string());
            text.map(ToOwned::to_owned).or(number)?.parse::<Quantity>().ok()
        });
        add(amounts)
    };
    let head = std::iter::once(of(&view.spec()["headGroupSpec"]["template"]));
    let groups = view.spec()["workerGroupSpecs"].as_array().into_iter().flatten();
    let workers = groups.flat_map(|group| {
        let count =
            usize::try_from(replicas(group) * integer(&group["numOfHosts"], 1)).unwrap_or(0);
        std::iter::repeat_n(of(&group["template"]), count)
    });
    add(head.chain(workers)).to_string()
}

fn add(mut amounts: impl Iterator<Item = Quantity>) -> Quantity {
    let zero: Quantity = "0".parse().expect("zero is a quantity");
    amounts.try_fold(zero, |sum, amount| sum.checked_add(amount).ok()).unwrap_or(zero)
}
