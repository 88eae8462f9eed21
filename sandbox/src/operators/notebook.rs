//! Notebook of kubeflow.org: a `StatefulSet` of one pod, or of none while it is stopped.
//!
//! Left out: the Service, culling, and the `v1beta1` conversions beyond the owner reference.

use serde_json::{Value, json};

use super::STATEFUL_SET;
use super::action::{Action, View};
use super::template::environment;

/// The annotation by which a notebook is stopped.
const STOPPED: &str = "kubeflow-resource-stopped";

/// Reconciles a Notebook.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let replicas = i64::from(view.annotation(STOPPED).is_none());
    let mut actions = Vec::new();
    match view.child(STATEFUL_SET, view.name()) {
        None => actions.push(Action::Create(STATEFUL_SET, stateful_set(view, replicas))),
        Some(set) if set.data["spec"]["replicas"] != replicas => {
            let patch = json!({"spec": {"replicas": replicas}});
            actions.push(Action::Patch(STATEFUL_SET, view.name().to_owned(), patch));
        }
        Some(set) => {
            let ready = set.data["status"]["readyReplicas"].as_i64().unwrap_or(0);
            let state = if ready > 0 { json!({"running": {}}) } else { json!({}) };
            actions.push(Action::Status(json!({
                "conditions": view.status()["conditions"].as_array().cloned().unwrap_or_default(),
                "containerState": state, "readyReplicas": ready,
            })));
        }
    }
    actions
}

fn stateful_set(view: &View<'_>, replicas: i64) -> Value {
    let mut labels = view.labels();
    labels["statefulset"] = json!(view.name());
    labels["notebook-name"] = json!(view.name());
    let all = view.object.metadata.annotations.clone().unwrap_or_default();
    let annotations: std::collections::BTreeMap<_, _> = all
        .into_iter()
        .filter(|(key, _)| !key.contains("kubectl") && !key.contains("notebook"))
        .collect();
    let mut spec = view.spec()["template"]["spec"].clone();
    if let Some(container) = spec["containers"].get_mut(0) {
        let prefix = format!("/notebook/{}/{}", view.namespace(), view.name());
        environment(container, &[("NB_PREFIX", prefix)]);
        if container["ports"].is_null() {
            container["ports"] =
                json!([{"containerPort": 8888, "name": "notebook-port", "protocol": "TCP"}]);
        }
    }
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {
            "name": view.name(),
            // The real controller writes v1beta1 although v1 is stored.
            "ownerReferences": [{
                "apiVersion": "kubeflow.org/v1beta1", "kind": "Notebook", "name": view.name(),
                "uid": view.uid(), "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "replicas": replicas, "serviceName": view.name(),
            "selector": {"matchLabels": {"statefulset": view.name()}},
            "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec},
        },
    })
}
