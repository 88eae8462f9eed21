//! A shard on a real kube-apiserver: its Deployment is made, and the scheduler that it describes keeps to its node pool.

use std::path::Path;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Node, Pod, Service},
};
use kai_api::{config::Config, names::CONFIG_NAME, queue::Queue, shard::SchedulingShard};
use kai_tests::{
    cluster::{Cluster, NAMESPACE, Setup, processes},
    control_plane::assets,
    stage::scene::documents,
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

const POOL: &str = "kai.scheduler/node-pool";
const NAME: &str = "kai-scheduler-blue";

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_has_a_scheduler_that_keeps_to_its_pool() -> Result<()> {
    let Some(assets) = assets("shards") else { return Ok(()) };
    let setup = Setup { nodes: "4xH100:8", operators: None, api_server_flags: &[] };
    let cluster = Cluster::start(&assets, setup).await?;
    label_pools(&cluster).await?;
    install_default_scheduler(&cluster).await?;
    let shards: Api<SchedulingShard> = Api::all(cluster.client().await?);
    let blue = json!({"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "blue"},
        "spec": {"partitionLabelValue": "blue", "args": {"v": "4"}}});
    shards.create(&PostParams::default(), &serde_json::from_value(blue)?).await?;
    let arguments = arguments_of_shard(&cluster).await?;
    // What a kubelet would start: the command line of the Deployment, but for the port.
    let flags: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with("--listen-address"))
        .collect();
    let _blue = processes::start_scheduler(&cluster.plane, "kai-scheduler-blue", &flags).await?;
    pods_keep_to_their_pool(&cluster).await?;
    conditions_tell(&cluster, &shards).await?;
    flags_of_the_default_shard_come_and_go(&cluster, &shards).await?;
    config_tells(&cluster).await?;
    config_reaches_all_parts(&cluster).await?;
    shards.delete("blue", &DeleteParams::default()).await?;
    goes_with_its_shard(&cluster).await
}

/// Half of the nodes and a queue of their own are blue.
async fn label_pools(cluster: &Cluster) -> Result<()> {
    let blue = json!({"metadata": {"labels": {POOL: "blue"}}});
    let nodes: Api<Node> = Api::all(cluster.client().await?);
    for node in nodes.list(&ListParams::default()).await?.items.iter().take(2) {
        nodes.patch(&node.name_any(), &PatchParams::default(), &Patch::Merge(&blue)).await?;
    }
    let queues: Api<Queue> = Api::all(cluster.client().await?);
    for (name, parent) in [("blue-parent", None), ("blue-queue", Some("blue-parent"))] {
        let amount = json!({"quota": 16, "limit": -1, "overQuotaWeight": 1});
        let queue = json!({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue",
            "metadata": {"name": name, "labels": {POOL: "blue"}},
            "spec": {"parentQueue": parent, "resources": {"gpu": amount,
                "cpu": {"quota": -1, "limit": -1}, "memory": {"quota": -1, "limit": -1}}}});
        queues.create(&PostParams::default(), &serde_json::from_value(queue)?).await?;
    }
    Ok(())
}

async fn install_default_scheduler(cluster: &Cluster) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/scheduler.yaml");
    for document in documents(&path)? {
        let client = cluster.client().await?;
        if document["kind"] == "Deployment" {
            let api: Api<Deployment> = Api::namespaced(client, NAMESPACE);
            api.create(&PostParams::default(), &serde_json::from_value(document)?).await?;
        } else {
            let api: Api<Service> = Api::namespaced(client, NAMESPACE);
            api.create(&PostParams::default(), &serde_json::from_value(document)?).await?;
        }
    }
    Ok(())
}

async fn arguments_of_shard(cluster: &Cluster) -> Result<Vec<String>> {
    let deployments: Api<Deployment> = Api::namespaced(cluster.client().await?, NAMESPACE);
    let services: Api<Service> = Api::namespaced(cluster.client().await?, NAMESPACE);
    cluster
        .wait_until("the shard's objects", async || {
            let has_both = deployments.get_opt(NAME).await?.is_some()
                && services.get_opt(NAME).await?.is_some();
            Ok(if has_both { Ok(()) } else { Err("not there".to_owned()) })
        })
        .await?;
    let made = deployments.get(NAME).await?;
    assert_eq!(made.owner_references()[0].kind, "SchedulingShard");
    let words = words(&deployments, NAME).await?;
    for word in ["--partition-label-value=blue", "--v=4"] {
        assert!(words.iter().any(|found| found == word), "{words:?}");
    }
    Ok(words)
}

/// Gangs of both pools that fill them, one of each that no longer fits.
async fn pods_keep_to_their_pool(cluster: &Cluster) -> Result<()> {
    cluster.kai_ok(&["queues", "create", "plain", "--gpu-quota", "16", "--yes"])?;
    let pods: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    for number in 0..6 {
        for (pool, queue) in [("blue", "blue-queue"), ("plain", "plain")] {
            let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("{pool}-{number}"), "labels": {"kai.scheduler/queue": queue}},
                "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "image": "i",
                    "command": ["sleep", "600"], "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}});
            if pool == "blue" {
                pod["metadata"]["labels"][POOL] = json!("blue");
            }
            pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
        }
    }
    let nodes: Api<Node> = Api::all(cluster.client().await?);
    let mut blue = Vec::new();
    for node in nodes.list(&ListParams::default().labels(&format!("{POOL}=blue"))).await? {
        blue.push(node.name_any());
    }
    cluster
        .wait_until("both pools full", async || {
            let list = pods.list(&ListParams::default()).await?;
            let mut bound = [0, 0];
            for pod in &list.items {
                let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref()) else {
                    continue;
                };
                let is_blue = pod.name_any().starts_with("blue");
                if blue.contains(node) != is_blue {
                    bail!("pod {} is on node {node}, blue are {blue:?}", pod.name_any());
                }
                bound[usize::from(is_blue)] += 1;
            }
            Ok(if bound == [4, 4] { Ok(()) } else { Err(format!("{bound:?} bound")) })
        })
        .await
}

async fn conditions_tell(cluster: &Cluster, shards: &Api<SchedulingShard>) -> Result<()> {
    // No kubelet runs the Deployment here.
    let wanted = [
        ("Deployed", true),
        ("DependenciesFulfilled", true),
        ("Available", false),
        ("Ready", false),
    ];
    cluster
        .wait_until("the shard's conditions", async || {
            let shard = shards.get("blue").await?;
            let rows = serde_json::to_value(shard.status.map(|status| status.conditions))?;
            let is_true = |name: &str| {
                let row =
                    rows.as_array().and_then(|rows| rows.iter().find(|row| row["type"] == name));
                row.map(|row: &Value| (row["status"] == "True", row["observedGeneration"] == 1))
            };
            let is_as_wanted = wanted.iter().all(|(name, is)| is_true(name) == Some((*is, true)));
            Ok(if is_as_wanted { Ok(()) } else { Err(rows.to_string()) })
        })
        .await
}

/// Flags of the default shard reach its scheduler's Deployment and no other, and go again.
async fn flags_of_the_default_shard_come_and_go(
    cluster: &Cluster,
    shards: &Api<SchedulingShard>,
) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(cluster.client().await?, NAMESPACE);
    let installed = words(&deployments, "kai-scheduler-default").await?;
    for (args, is_set) in [(json!({"schedule-period": "2s"}), true), (Value::Null, false)] {
        let patch = Patch::Merge(json!({"spec": {"args": args}}));
        shards.patch("default", &PatchParams::default(), &patch).await?;
        cluster
            .wait_until("the default scheduler's flags", async || {
                let found = words(&deployments, "kai-scheduler-default").await?;
                let has = found.contains(&"--schedule-period=2s".to_owned());
                let is_as_wanted = if is_set { has } else { found == installed };
                Ok(if is_as_wanted { Ok(()) } else { Err(format!("{found:?}")) })
            })
            .await?;
        let of_blue = words(&deployments, NAME).await?;
        assert!(!of_blue.contains(&"--schedule-period=2s".to_owned()), "{of_blue:?}");
    }
    Ok(())
}

/// The flags of a Deployment's container.
async fn words(deployments: &Api<Deployment>, name: &str) -> Result<Vec<String>> {
    let template = deployments.get(name).await?.spec.context("a Deployment has a spec")?.template;
    let containers = template.spec.context("a template has a spec")?.containers;
    Ok(containers[0].args.clone().unwrap_or_default())
}

/// The Config's conditions say which of the two daemons is deployed here.
async fn config_tells(cluster: &Cluster) -> Result<()> {
    let configs: Api<Config> = Api::all(cluster.client().await?);
    cluster
        .wait_until("the Config's conditions", async || {
            let config = configs.get(CONFIG_NAME).await?;
            let rows = serde_json::to_value(config.status.map(|status| status.conditions))?;
            let row = |name: &str| {
                let row =
                    rows.as_array().and_then(|rows| rows.iter().find(|row| row["type"] == name));
                row.map(|row: &Value| (row["status"] == "True", row["observedGeneration"] == 1))
            };
            let wanted = [
                ("Reconciling", false),
                ("Deployed", false),
                ("Available", false),
                ("DependenciesFulfilled", true),
                ("Ready", false),
            ];
            let is_as_wanted = wanted.iter().all(|(name, is)| row(name) == Some((*is, true)));
            let is_named = rows.to_string().contains("Deployment kai-podgrouper does not exist");
            Ok(if is_as_wanted && is_named { Ok(()) } else { Err(rows.to_string()) })
        })
        .await
}

/// With another scheduler name in the Config schedulers are told it, and pods that name it are grouped; without it those
/// of the flags are again.
async fn config_reaches_all_parts(cluster: &Cluster) -> Result<()> {
    let configs: Api<Config> = Api::all(cluster.client().await?);
    let deployments: Api<Deployment> = Api::namespaced(cluster.client().await?, NAMESPACE);
    let pods: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    for (scheduler, is_told) in [("other-scheduler", true), ("kai-scheduler", false)] {
        let name = is_told.then_some(scheduler);
        let patch = json!({"spec": {"global": {"schedulerName": name}}});
        configs.patch(CONFIG_NAME, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("of-{scheduler}"), "labels": {"kai.scheduler/queue": "plain"}},
            "spec": {"schedulerName": scheduler, "containers": [{"name": "c", "image": "i"}]}});
        pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
        cluster
            .wait_until("what the Config says of all parts", async || {
                let words = words(&deployments, NAME).await?;
                let flag = "--scheduler-name=other-scheduler";
                let has_flag = words.iter().any(|word| word == flag);
                let pod = pods.get(&format!("of-{scheduler}")).await?;
                let is_grouped = pod.annotations().contains_key("pod-group-name");
                let is_as_wanted = has_flag == is_told && is_grouped;
                Ok(if is_as_wanted {
                    Ok(())
                } else {
                    Err(format!("{words:?}, grouped: {is_grouped}"))
                })
            })
            .await?;
    }
    Ok(())
}

async fn goes_with_its_shard(cluster: &Cluster) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(cluster.client().await?, NAMESPACE);
    cluster
        .wait_until("the Deployment to go", async || {
            let is_gone = deployments.get_opt(NAME).await?.is_none();
            Ok(if is_gone { Ok(()) } else { Err("still there".to_owned()) })
        })
        .await?;
    let default = deployments.get_opt("kai-scheduler-default").await?;
    assert!(default.is_some(), "the default scheduler went too");
    Ok(())
}
