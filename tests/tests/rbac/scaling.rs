//! Scaling pods, made by the podgrouper under its account: pods that wait for shares have them, class by class.

use kai_api::names::namespace;
use kube::api::{DeleteParams, ListParams};

use super::*;

/// A pod that asks for half a GPU of nodes that do not exist, as admission leaves it.
fn waiting(name: &str, pool: &str) -> Value {
    let map = format!("{name}-abcdefg-shared-gpu");
    let annotations = json!({"gpu-fraction": "0.5", "runai/shared-gpu-configmap": map});
    let labels = json!({"kai.scheduler/queue": "default-queue"});
    let spec = json!({"nodeSelector": {"test/pool": pool}});
    pod(name, &json!({"annotations": annotations, "labels": labels}), &spec)
}

fn pods(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    Api::namespaced_with(client.clone(), namespace, &resource)
}

/// For which pods there are scaling pods that autoscalers notice; each asks for one whole GPU of the same nodes.
async fn marked(client: &Client) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for scaling in pods(client, namespace::SCALE_ADJUST).list(&ListParams::default()).await? {
        let (labels, spec) = (scaling.metadata.labels.unwrap_or_default(), &scaling.data["spec"]);
        let conditions = scaling.data["status"]["conditions"].as_array();
        let is_marked = conditions.into_iter().flatten().any(|one| {
            one["type"] == "PodScheduled"
                && one["status"] == "False"
                && one["reason"] == "Unschedulable"
        });
        let name = labels.get("shared-gpu-pod-name").cloned().unwrap_or_default();
        let amounts = &spec["containers"][0]["resources"];
        ensure!(
            amounts["limits"]["nvidia.com/gpu"] == "1"
                && !spec["nodeSelector"]["test/pool"].is_null(),
            "the scaling pod of {name} asks for something else: {spec}"
        );
        if is_marked {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

async fn wait_for(cluster: &Cluster, client: &Client, wanted: &[&str]) -> Result<()> {
    cluster
        .wait_until(&format!("scaling pods of {wanted:?}"), async || {
            let found = marked(client).await?;
            Ok(if found == wanted { Ok(()) } else { Err(format!("{found:?}")) })
        })
        .await
}

/// One stuck pod, whose scaling pod nobody makes room for, holds up neither another class nor a pod that finds its share.
pub(super) async fn scaling(cluster: &Cluster, client: &Client) -> Result<()> {
    create(client, &waiting("stuck", "none")).await?;
    wait_for(cluster, client, &["stuck"]).await?;
    create(client, &waiting("second", "other")).await?;
    wait_for(cluster, client, &["second", "stuck"]).await?;
    let mut fits = waiting("fits", "none");
    fits["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "node-1"});
    create(client, &fits).await?;
    wait_bound(cluster, client, "fits", 1).await?;
    let now = DeleteParams::default().grace_period(0);
    for name in ["stuck", "second", "fits"] {
        pods(client, "default").delete(name, &now).await?;
    }
    cluster
        .wait_until("scaling pods to go", async || {
            let left = pods(client, namespace::SCALE_ADJUST).list(&ListParams::default()).await?;
            let left = left.items.len();
            Ok(if left == 0 { Ok(()) } else { Err(format!("{left} left")) })
        })
        .await
}
