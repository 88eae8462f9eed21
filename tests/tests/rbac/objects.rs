//! Pods, devices and volumes that have the daemons use their rights.

use kai_api::names::namespace;
use kube::api::DeleteParams;

use super::*;

/// Pods whose grouping or status reads something of its own.
pub(super) async fn special_pods(client: &Client) -> Result<()> {
    // A driver of another scheduler, read by itself.
    let driver =
        create(client, &pod("driver", &json!({}), &json!({"schedulerName": "other"}))).await?;
    let owners = json!([{"apiVersion": "v1", "kind": "Pod", "name": "driver", "uid": driver}]);
    create(client, &pod("executor", &json!({"ownerReferences": owners}), &json!({}))).await?;
    create(
        client,
        &json!({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
        "metadata": {"name": "native"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}),
    )
    .await?;
    create(
        client,
        &pod("native", &json!({}), &json!({"schedulingGroup": {"podGroupName": "native"}})),
    )
    .await?;
    create(
        client,
        &json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "claim"}, "spec": {"devices": {"requests": [{"name": "r",
            "exactly": {"deviceClassName": "net.example.com"}}]}}}),
    )
    .await?;
    create(
        client,
        &json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": "net.example.com"}, "spec": {}}),
    )
    .await?;
    let (resource, _) = pinned_kind(client, &GroupVersionKind::gvk("", "v1", "Node")).await?;
    let nodes: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let nodes = nodes.list(&kube::api::ListParams::default()).await?;
    let node = nodes.items.first().and_then(|node| node.metadata.name.as_deref());
    create(
        client,
        &json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": "net"}, "spec": {"driver": "net.example.com", "nodeName": node,
            "pool": {"name": "net", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "net-0"}]}}),
    )
    .await?;
    let claims = json!({"resourceClaims": [{"name": "r", "resourceClaimName": "claim"}]});
    create(client, &pod("claimant", &json!({}), &claims)).await?;
    // Its owner is gone: told again and again.
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "u"}]);
    create(client, &pod("orphan", &json!({"ownerReferences": owners}), &json!({}))).await?;
    Ok(())
}

/// A pod whose extended resource devices stand in for.
pub(super) async fn devices(cluster: &Cluster, client: &Client) -> Result<()> {
    let driver = "link.example.com";
    create(
        client,
        &json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": driver},
        "spec": {"extendedResourceName": "example.com/link",
            "selectors": [{"cel": {"expression": format!("device.driver == '{driver}'")}}]}}),
    )
    .await?;
    create(
        client,
        &json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": "link"}, "spec": {"driver": driver, "nodeName": "node-1",
            "pool": {"name": "link", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "link-0"}, {"name": "link-1"}]}}),
    )
    .await?;
    let zones =
        ["topology.node.k8s.io", "v1alpha2", "NodeResourceTopology", "noderesourcetopologies"];
    install_kind(client, zones).await?;
    let labels = json!({"kai.scheduler/queue": "default-queue"});
    let containers = json!({"containers": [{"name": "c", "image": "i",
        "resources": {"limits": {"example.com/link": "1"}}}]});
    create(client, &pod("linked", &json!({"labels": labels}), &containers)).await?;
    for name in ["begun", "linked"] {
        wait_bound(cluster, client, name, 1).await?;
    }
    Ok(())
}

/// Pods whose claims get a volume that is there, and one that has to be made.
pub(super) async fn volumes(client: &Client) -> Result<()> {
    for (class, provisioner) in [("local", "kubernetes.io/no-provisioner"), ("made", "x.io/disk")] {
        let object = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": class}, "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer"});
        create(client, &object).await?;
        let spec = json!({"storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}});
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": class, "namespace": "default"}, "spec": spec});
        create(client, &claim).await?;
    }
    let spec = json!({"storageClassName": "local", "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/disk"}});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": "disk"}, "spec": spec});
    create(client, &volume).await?;
    for class in ["local", "made"] {
        let labels = json!({"labels": {"kai.scheduler/queue": "default-queue"}});
        let volumes =
            json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": class}}]});
        create(client, &pod(&format!("with-{class}"), &labels, &volumes)).await?;
    }
    Ok(())
}

/// A pod that shares a GPU, as admission leaves it: labels and a config map of an earlier bind are taken away, and one that
/// is there again is added to. The GPU is free again in the end.
pub(super) async fn sharing(cluster: &Cluster, client: &Client) -> Result<()> {
    let prefix = "sharer-abcdefg-shared-gpu";
    let map = format!("{prefix}-0");
    let meta = json!({"annotations": {"gpu-memory": "1000", "runai/shared-gpu-configmap": prefix}});
    let source = json!({"configMapKeyRef": {"name": map, "key": "NVIDIA_VISIBLE_DEVICES"}});
    let spec = json!({
        "schedulingGates": [{"name": "test/later"}],
        "containers": [{"name": "c", "image": "i", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": source}]}],
    });
    let uid = create(client, &pod("sharer", &meta, &spec)).await?;
    wait_marked(cluster, client, "sharer").await?;
    let owners = json!([{"apiVersion": "v1", "kind": "Pod", "name": "sharer", "uid": uid}]);
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": map, "ownerReferences": owners}, "data": {"old": "true"}});
    create(client, &body).await?;
    let api = |kind: &str| -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
        Api::default_namespaced_with(client.clone(), &resource)
    };
    let label = json!({"metadata": {"labels": {"runai-gpu-group": "left-behind"}}});
    api("Pod").patch("sharer", &PatchParams::default(), &Patch::Merge(&label)).await?;
    cluster
        .wait_until("what was left behind to go", async || {
            let left = api("ConfigMap").get_opt(&map).await?;
            Ok(if left.is_none() { Ok(()) } else { Err("the config map is there".to_owned()) })
        })
        .await?;
    create(client, &body).await?;
    let open = json!({"spec": {"schedulingGates": null}});
    api("Pod").patch("sharer", &PatchParams::default(), &Patch::Merge(&open)).await?;
    wait_bound(cluster, client, "sharer", 1).await?;
    // The share is a part of the node's memory, which the podgrouper reads.
    let group = api("Pod").get("sharer").await?.metadata.annotations;
    let group = group.unwrap_or_default().remove("pod-group-name").context("it is grouped")?;
    let gvk = GroupVersionKind::gvk("scheduling.run.ai", "v2alpha2", "PodGroup");
    let groups = ApiResource::from_gvk(&gvk);
    let groups: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &groups);
    cluster
        .wait_until("the share in the group's status", async || {
            let status = groups.get(&group).await?.data["status"].clone();
            let gpus = &status["resourcesStatus"]["allocated"]["nvidia.com/gpu"];
            Ok(if gpus.is_null() { Err(status.to_string()) } else { Ok(()) })
        })
        .await?;
    api("Pod").delete("sharer", &DeleteParams::background().grace_period(0)).await?;
    let pods = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    let reservations: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace::RESERVATION, &pods);
    cluster
        .wait_until("the reservation to go", async || {
            let left = reservations.list(&kube::api::ListParams::default()).await?.items.len();
            Ok(if left == 0 { Ok(()) } else { Err(format!("{left} left")) })
        })
        .await
}
