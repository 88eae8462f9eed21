//! The pod of a Workflow's node: the user's container behind Argo's own.

use serde_json::{Value, json};

use super::super::action::View;

/// The pod of one node: containers `wait` and `main` after an `init`, as Argo's executor has them.
pub(super) fn pod(view: &View<'_>, template: &Value, name: &str, id: &str, node: &str) -> Value {
    let spec = view.spec();
    let mut labels = json!({
        "workflows.argoproj.io/completed": "false",
        "workflows.argoproj.io/workflow": view.name(),
    });
    let mut annotations = json!({
        "kubectl.kubernetes.io/default-container": "main",
        "workflows.argoproj.io/node-id": id,
        "workflows.argoproj.io/node-name": node,
    });
    for source in [&spec["podMetadata"], &template["metadata"]] {
        for (into, from) in
            [(&mut labels, &source["labels"]), (&mut annotations, &source["annotations"])]
        {
            for (key, value) in from.as_object().into_iter().flatten() {
                into[key] = value.clone();
            }
        }
    }
    let executor = |name: &str| {
        json!({
            "name": name, "image": "argoexec", "command": ["argoexec", name],
            "env": [{"name": "ARGO_POD_NAME", "value": view.name()}, {"name": "ARGO_NODE_ID", "value": id}],
        })
    };
    let mut containers = vec![executor("wait"), main(template)];
    containers.extend(template["sidecars"].as_array().cloned().unwrap_or_default());
    let mut inits = vec![executor("init")];
    inits.extend(template["initContainers"].as_array().cloned().unwrap_or_default());
    let mut volumes = vec![
        json!({"name": "var-run-argo", "emptyDir": {}}),
        json!({"name": "tmp-dir-argo", "emptyDir": {}}),
    ];
    for source in [spec, template] {
        volumes.extend(source["volumes"].as_array().cloned().unwrap_or_default());
    }
    let mut pod_spec = json!({
        "restartPolicy": "Never", "containers": containers, "initContainers": inits, "volumes": volumes,
    });
    for field in [
        "schedulerName",
        "nodeSelector",
        "affinity",
        "tolerations",
        "serviceAccountName",
        "priorityClassName",
        "securityContext",
        "imagePullSecrets",
    ] {
        let own = if template[field].is_null() { &spec[field] } else { &template[field] };
        if !own.is_null() {
            pod_spec[field] = own.clone();
        }
    }
    if pod_spec["priorityClassName"].is_null() && !spec["podPriorityClassName"].is_null() {
        pod_spec["priorityClassName"] = spec["podPriorityClassName"].clone();
    }
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": pod_spec,
    })
}

/// The user's container, started through Argo's executor.
fn main(template: &Value) -> Value {
    let script = template["script"].is_object();
    let mut container = template[if script { "script" } else { "container" }].clone();
    container["name"] = json!("main");
    let mut command = vec![json!("/var/run/argo/argoexec"), json!("emissary"), json!("--")];
    command.extend(container["command"].as_array().cloned().unwrap_or_default());
    if let Some(source) = container.as_object_mut().and_then(|fields| fields.remove("source")) {
        // Argo hands the script over in a file; its text stands here in the file's place.
        container["args"] = json!([source]);
    }
    container["command"] = json!(command);
    container
}
