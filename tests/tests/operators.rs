//! The main job on a real kube-apiserver with the real operators: `submit` makes a workload, its operator makes the pods,
//! the podgrouper makes the `PodGroup`, the scheduler binds the gang as one, and says why when it can't.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::fs;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Event, Pod};
use kai_tests::{
    cluster::{Cluster, Setup},
    control_plane::{assets, operators_command},
    live::told,
    observer::Observer,
};
use kube::{Api, ResourceExt, api::ListParams};
use serde_json::Value;

const QUEUE: &str = "team-a";

/// Workers that share GPUs as KAI's guide writes them: by an annotation in their template.
const RAY_CLUSTER: &str = r#"
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray-written}
spec:
  rayVersion: 2.46.0
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: ray, image: busybox, command: [sleep, "3600"]}]}}
  workerGroupSpecs:
    - groupName: halves
      replicas: 2
      minReplicas: 2
      maxReplicas: 2
      rayStartParams: {}
      template:
        metadata: {annotations: {gpu-fraction: "0.5"}}
        spec: {containers: [{name: ray, image: busybox, command: [sleep, "3600"]}]}
"#;

async fn start(suite: &str) -> Result<Option<Cluster>> {
    let (Some(assets), Some(command)) = (assets(suite), operators_command(suite)) else {
        return Ok(None);
    };
    let setup = Setup {
        nodes: "4xH100:8",
        operators: Some((&command, &["ray", "training", "argo"])),
        api_server_flags: &[],
    };
    let cluster = Cluster::start(&assets, setup).await?;
    cluster.kai_ok(&["queues", "create", QUEUE, "--gpu-quota", "32", "--yes"])?;
    Ok(Some(cluster))
}

/// The pods of a workload, by the `PodGroup` that the podgrouper gave them.
async fn bound_and_all(cluster: &Cluster, prefix: &str) -> Result<(usize, usize)> {
    let pods: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    let list = pods.list(&ListParams::default()).await?;
    let ours: Vec<&Pod> =
        list.items.iter().filter(|pod| pod.name_any().starts_with(prefix)).collect();
    let bound = |pod: &&&Pod| pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    Ok((ours.iter().filter(bound).count(), ours.len()))
}

async fn wait_bound(cluster: &Cluster, prefix: &str, at_least: usize) -> Result<()> {
    cluster
        .wait_until(&format!("{at_least} pods of {prefix}"), async || {
            let (bound, all) = bound_and_all(cluster, prefix).await?;
            Ok(if bound >= at_least { Ok(()) } else { Err(format!("{bound} of {all} bound")) })
        })
        .await
}

/// One cluster serves both stories: operators listen on fixed ports, so that only one of each can run.
#[tokio::test(flavor = "multi_thread")]
async fn real_operators_make_the_pods() -> Result<()> {
    let Some(cluster) = start("operators").await? else { return Ok(()) };
    let observer = Observer::start(cluster.client().await?).await?;
    every_framework_is_grouped_and_bound_as_a_gang(&cluster).await?;
    shares_of_gpus_reach_the_containers(&cluster).await?;
    a_gang_that_does_not_fit_stays_unbound_and_says_why(&cluster).await?;
    assert_eq!(observer.finish().await?.findings, [""; 0]);
    Ok(())
}

async fn every_framework_is_grouped_and_bound_as_a_gang(cluster: &Cluster) -> Result<()> {
    let submit = |arguments: &[&str]| {
        // Argo asks a registry for the command of an image that is named without one.
        let command = ["-q", QUEUE, "--", "sleep", "600"];
        cluster.kai_ok(&[&["submit"], arguments, &command].concat())
    };
    submit(&["job", "one", "--gpu", "1", "--image", "busybox"])?;
    submit(&["pytorch", "two", "--workers", "2", "--gpu", "4", "--image", "pytorch"])?;
    submit(&["ray", "three", "--workers", "3", "--gpu", "1"])?;
    submit(&["argo", "four", "--gpu", "1", "--image", "busybox"])?;
    wait_bound(cluster, "one", 1).await?;
    wait_bound(cluster, "two", 2).await?;
    wait_bound(cluster, "three", 4).await?;
    wait_bound(cluster, "four", 1).await
}

/// Whoever makes the pods: each container is told the devices that its pod's groups hold, and how much of them is its own.
async fn shares_of_gpus_reach_the_containers(cluster: &Cluster) -> Result<()> {
    let cases = [
        (&["ray", "ray-half", "--workers", "4", "--gpu", "0.5"][..], 4, 1, "0.50"),
        (
            &["pytorch", "torch-third", "--workers", "3", "--gpu", "0.3", "--image", "i"],
            3,
            1,
            "0.30",
        ),
        (&["argo", "argo-part", "--gpu", "0.4", "--image", "busybox"], 1, 1, "0.40"),
        (&["job", "job-memory", "--gpu-memory", "8Gi", "--image", "busybox"], 1, 1, "0.11"),
        (&["job", "job-four", "--gpu", "0.25x4", "--image", "busybox"], 1, 4, "0.25"),
        // By its manifest, which comes last. Its head asks for no GPU.
        (&["raycluster", "ray-written"], 2, 1, "0.50"),
    ];
    let manifest = cluster.plane.folder().join("ray-cluster.yaml");
    fs::write(&manifest, RAY_CLUSTER)?;
    cluster.kai_ok(&["submit", "-q", QUEUE, "-f", &manifest.display().to_string()])?;
    for &(arguments, ..) in &cases[..cases.len() - 1] {
        let command = ["-q", QUEUE, "--", "sleep", "600"];
        cluster.kai_ok(&[&["submit"], arguments, &command].concat())?;
    }
    let client = cluster.client().await?;
    let seen = async || -> Result<Vec<String>> {
        let told = told(&client).await?;
        let mut misses = Vec::new();
        for (arguments, pods, devices, share) in cases {
            let of_workload = told.iter().filter(|(name, _)| name.starts_with(arguments[1]));
            let rightly = of_workload
                .filter(|(_, told)| told.devices.len() == devices && told.share == share)
                .count();
            if rightly != pods {
                misses.push(format!("{rightly} of {pods} pods of {} in {told:#?}", arguments[1]));
            }
        }
        Ok(misses)
    };
    cluster
        .wait_until("shares of GPUs", async || {
            // A pod is told of its devices a moment before its binding is seen.
            Ok(match seen().await {
                Ok(misses) if misses.is_empty() => Ok(()),
                Ok(misses) => Err(misses.join("\n")),
                Err(error) => Err(error.to_string()),
            })
        })
        .await?;
    let described = cluster.kai_ok(&["describe", "job-memory"])?;
    assert!(described.contains("GPU-"), "{described}");
    Ok(())
}

async fn a_gang_that_does_not_fit_stays_unbound_and_says_why(cluster: &Cluster) -> Result<()> {
    let big = ["--workers", "5", "--gpu", "8", "--image", "pytorch", "--force", "-q", QUEUE];
    cluster.kai_ok(&[&["submit", "pytorch", "big"], &big[..]].concat())?;
    cluster
        .wait_until("a reason on big", async || {
            let list = cluster.kai_json(&["list", "big"])?;
            let text = list.to_string();
            let told = text.contains("Pending") && reason(&list).is_some();
            Ok(if told { Ok(()) } else { Err(text) })
        })
        .await?;
    cluster
        .wait_until("all pods of big", async || {
            let (bound, all) = bound_and_all(cluster, "big").await?;
            assert_eq!(bound, 0, "of {all} pods");
            Ok(if all == 5 { Ok(()) } else { Err(format!("{all} pods")) })
        })
        .await?;
    let events: Api<Event> = Api::default_namespaced(cluster.client().await?);
    cluster
        .wait_until("an event on the PodGroup of big", async || {
            let is_told = events.list(&ListParams::default()).await?.items.iter().any(|event| {
                event.reason.as_deref() == Some("Unschedulable")
                    && event.involved_object.kind.as_deref() == Some("PodGroup")
            });
            Ok(if is_told { Ok(()) } else { Err("none says Unschedulable".to_owned()) })
        })
        .await?;
    let described = cluster.kai_ok(&["describe", "big"])?;
    assert!(described.contains("Pending"), "{described}");
    Ok(())
}

fn reason(list: &Value) -> Option<&str> {
    let items = list.get("items").and_then(Value::as_array).context("no items").ok()?;
    items.first()?.get("reason")?.as_str().filter(|text| !text.is_empty())
}
