//! `RayCluster`, as `KubeRay` 1.5 runs it: a head and worker groups.
//!
//! Left out: Services, the autoscaler, fault tolerance, probes, and the init container that waits
//! for the head.

mod status;

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::POD;
use super::action::{Action, View, active, suffix};
use super::template::{self, environment, integer, label};

/// Reconciles a `RayCluster`.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let mut actions = Vec::new();
    let live: Vec<&DynamicObject> = view.of(POD).filter(|pod| active(pod)).collect();
    // A pod that ended is replaced.
    let ended =
        view.of(POD).filter(|pod| !active(pod) && pod.metadata.deletion_timestamp.is_none());
    actions.extend(ended.map(|pod| View::delete(POD, pod)));
    let suspended = spec["suspend"] == true;
    let mut wanted = Vec::new();
    if !suspended {
        wanted.push((
            format!("{}-head-{}", view.name(), suffix(&format!("{}/head", view.uid()))),
            None,
        ));
        for group in spec["workerGroupSpecs"].as_array().into_iter().flatten() {
            let name = group["groupName"].as_str().unwrap_or("worker");
            for index in 0..replicas(group) * integer(&group["numOfHosts"], 1) {
                let suffix = suffix(&format!("{}/{name}/{index}", view.uid()));
                wanted.push((format!("{}-{name}-worker-{suffix}", view.name()), Some(group)));
            }
        }
    }
    let named = |pod: &DynamicObject, name: &str| pod.metadata.name.as_deref() == Some(name);
    let extra = live.iter().filter(|pod| !wanted.iter().any(|(name, _)| named(pod, name)));
    actions.extend(extra.map(|pod| View::delete(POD, pod)));
    for (name, group) in &wanted {
        if !view.of(POD).any(|pod| named(pod, name)) {
            actions.push(Action::Create(POD, pod(view, name, *group)));
        }
    }
    actions.push(Action::Status(status::status(view, &live, wanted.len(), suspended)));
    actions
}

/// The replicas of a worker group, held between its bounds as `KubeRay` does.
fn replicas(group: &Value) -> i64 {
    if group["suspend"] == true {
        return 0;
    }
    let least = integer(&group["minReplicas"], 0);
    let most = integer(&group["maxReplicas"], i64::from(i32::MAX));
    integer(&group["replicas"], 0).max(least).min(most)
}

fn pod(view: &View<'_>, name: &str, group: Option<&Value>) -> Value {
    let (source, role, group_name) = match group {
        None => (&view.spec()["headGroupSpec"], "head", "headgroup"),
        Some(group) => (group, "worker", group["groupName"].as_str().unwrap_or("worker")),
    };
    let mut pod = template::pod(name, &source["template"]);
    for (key, value) in source["labels"].as_object().into_iter().flatten() {
        pod["metadata"]["labels"][key] = value.clone();
    }
    label(
        &mut pod,
        [
            ("app.kubernetes.io/created-by", "kuberay-operator"),
            ("app.kubernetes.io/name", "kuberay"),
            ("ray.io/cluster", view.name()),
            ("ray.io/group", group_name),
            ("ray.io/identifier", &format!("{}-{role}", view.name())),
            ("ray.io/is-ray-node", "yes"),
            ("ray.io/node-type", role),
        ],
    );
    if pod["spec"]["restartPolicy"].is_null() {
        pod["spec"]["restartPolicy"] = json!("Always");
    }
    let service = format!("{}-head-svc.{}.svc.cluster.local", view.name(), view.namespace());
    let address =
        if group.is_none() { "127.0.0.1:6379".to_owned() } else { format!("{service}:6379") };
    let start = if group.is_none() {
        "ray start --head --block".to_owned()
    } else {
        format!("ray start --address={address} --block")
    };
    if let Some(container) = pod["spec"]["containers"].get_mut(0) {
        environment(
            container,
            &[
                ("RAY_CLUSTER_NAME", view.name().to_owned()),
                ("RAY_NODE_TYPE_NAME", group_name.to_owned()),
                ("KUBERAY_GEN_RAY_START_CMD", start.clone()),
                ("RAY_PORT", "6379".to_owned()),
                ("RAY_ADDRESS", address),
            ],
        );
        if container["command"].is_null() && container["args"].is_null() {
            container["command"] = json!(["/bin/bash", "-c", "--"]);
            container["args"] = json!([format!("ulimit -n 65536; {start}")]);
        }
    }
    pod
}
