//! Pods that are resized.

use anyhow::Result;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::{answer, api, check, create, eventually, patch, pod, start, user, wait_for_policies};

/// A pod takes no more than its queue was asked for, unless an administrator says that pods of its namespace may.
#[tokio::test(flavor = "multi_thread")]
async fn pods_grow_where_an_administrator_allows_it() -> Result<()> {
    let Some(plane) = start("admission").await? else { return Ok(()) };
    let admin = plane.client().await?;
    wait_for_policies(&plane).await?;
    // A resize is compared with the pod's node.
    let room = json!({"cpu": "64", "memory": "64Gi", "pods": "110"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
        "status": {"capacity": room, "allocatable": room}});
    check("node", &create(&admin, &node, false).await?, None);
    let sidecar = json!([{"name": "s", "image": "i", "restartPolicy": "Always",
        "resources": {"requests": {"cpu": "1"}}}]);
    for (name, node) in [("waiting", Value::Null), ("bound", json!("n"))] {
        let mut pod = pod(name, &json!({}));
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
        pod["spec"]["initContainers"] = sidecar.clone();
        pod["spec"]["nodeName"] = node;
        check(name, &create(&admin, &pod, false).await?, None);
    }
    let mut foreign = pod("foreign", &json!({}));
    foreign["spec"]["schedulerName"] = json!("default-scheduler");
    foreign["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    check("foreign", &create(&admin, &foreign, false).await?, None);
    let somebody = api(&user(&plane, &[]).await?, "v1", "Pod", Some("default"));
    let resize = async |pod: &str, list: &str, container: &str, requests: Value| {
        let containers = json!([{"name": container, "resources": {"requests": requests}}]);
        let patch = Patch::Strategic(json!({"spec": {list: containers}}));
        answer(somebody.patch_subresource("resize", pod, &PatchParams::default(), &patch).await)
    };
    let why = Some("requests of a pod can't grow");
    for name in ["waiting", "bound"] {
        check(name, &resize(name, "containers", "c", json!({"cpu": "1001m"})).await?, why);
        check(name, &resize(name, "containers", "c", json!({"memory": "1Mi"})).await?, why);
        check(name, &resize(name, "initContainers", "s", json!({"cpu": "2"})).await?, why);
        check(name, &resize(name, "containers", "c", json!({"cpu": "1000m"})).await?, None);
        check(name, &resize(name, "containers", "c", json!({"cpu": "0.5"})).await?, None);
        check(name, &resize(name, "containers", "c", json!({"cpu": "1"})).await?, why);
    }
    check("foreign", &resize("foreign", "containers", "c", json!({"cpu": "2"})).await?, None);
    let allow = json!({"metadata": {"labels": {"kai.scheduler/resize-pods": "allow"}}});
    let namespaces = api(&admin, "v1", "Namespace", None);
    check("label", &patch(&namespaces, "default", &allow).await?, None);
    eventually("the label is heeded", async || {
        Ok(resize("bound", "containers", "c", json!({"cpu": "2"})).await?.map(drop))
    })
    .await
}
