//! KAI runs a cluster; it goes over to us under load, and back. Whoever watches pods from outside sees none of those that
//! ran deleted, evicted, started anew or written.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _};
use http::Method;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client,
    api::{WatchEvent, WatchParams},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::life::{GROUPS, JOBS, Life, PODS, QUEUES};

const RESERVED: &str = "/api/v1/namespaces/kai-resource-reservation/pods";

#[tokio::test(flavor = "multi_thread")]
async fn no_pod_is_touched_on_the_way_and_back() -> Result<()> {
    let Some(mut life) = Life::start().await? else { return Ok(()) };
    life.bench.kai("install apply -y --components crds")?.expect(0, &[]);
    life.bench.apply("switched.yaml").await?;
    share(&life).await?;
    place(&life, "train", 2, "node-1").await?;
    place(&life, "share", 1, "node-1").await?;
    life.wait_until("all that KAI placed", async |life| {
        let all = running(life).await?;
        Ok(all.iter().filter(|pod| pod["status"]["phase"] == "Running").count() == 4)
    })
    .await?;
    life.bench.apply("kai.yaml").await?;
    life.wait_until("KAI's own pods", async |life| {
        Ok(life.bench.names("/api/v1/namespaces/kai-scheduler/pods").await?.len() == 3)
    })
    .await?;
    let groups = groups(&life).await?;
    let before = running(&life).await?;
    let watch = Watch::start(life.bench.client.clone()).await?;
    life.bench.kai("install apply --adopt -y --wait=false")?.expect(0, &["Installed"]);
    life.roll_out().await?;
    // The load goes on, and the books hold what KAI had placed.
    life.gang("late").await?;
    life.wait_until("the books of the queue", async |life| {
        let queue = life.bench.find(&format!("{QUEUES}/default-queue")).await?;
        Ok(queue["status"]["allocated"]["nvidia.com/gpu"] == "8500m")
    })
    .await?;
    // The scheduler says of a pod that it is bound when it may run already.
    life.wait_until("what the scheduler says of the new pods", async |life| {
        let all = running(life).await?;
        Ok(all.iter().filter(|pod| is_said_to_be_bound(pod)).count() == 2)
    })
    .await?;
    let with_late = self::groups(&life).await?;
    ensure!(with_late.len() == groups.len() + 1, "{groups:?} before, now {with_late:?}");
    ensure!(groups.iter().all(|group| with_late.contains(group)), "{with_late:?}");
    let late = running(&life).await?;
    // They end with their Deployments.
    life.daemons.clear();
    life.bench.kai("install release -y")?.expect(0, &["of KAI given back"]);
    ensure!(self::groups(&life).await? == with_late, "groups stay");
    let after = running(&life).await?;
    ensure!(after == late && before.iter().all(|pod| after.contains(pod)), "{before:?} {after:?}");
    watch.ends_without(&before)
}

/// Names the device that is reserved to the pod that shares it, as KAI's binder does.
async fn share(life: &Life) -> Result<()> {
    let reservation = format!("{RESERVED}/gpu-reservation-00112233aabbccdd");
    let mut device = Value::Null;
    life.wait_until("the device that is reserved", async |life| {
        let pod = life.bench.find(&reservation).await?;
        device = pod["metadata"]["annotations"]["run.ai/reserve_for_gpu_index"].clone();
        Ok(device.is_string())
    })
    .await?;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "share-shared-gpu-0"},
        "data": {"NVIDIA_VISIBLE_DEVICES": device, "RUNAI_NUM_OF_GPUS": "0.50", "GPU_PORTION": "0.50"}});
    life.bench.send(Method::POST, "/api/v1/namespaces/default/configmaps", &map).await.map(drop)
}

/// Does for the pods of a Job what KAI's podgrouper and binder do.
async fn place(life: &Life, job: &str, pods: usize, node: &str) -> Result<()> {
    let owner = life.bench.find(&format!("{JOBS}/{job}")).await?;
    let uid = owner["metadata"]["uid"].as_str().context("a Job has a UID")?;
    let group = format!("pg-{job}-{uid}");
    let owners = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid,
        "controller": true, "blockOwnerDeletion": true}]);
    let object = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": {"name": group, "ownerReferences": owners, "labels": {"kai.scheduler/queue": "default-queue"}},
        "spec": {"minMember": pods, "queue": "default-queue", "priorityClassName": "train"}});
    life.wait_until("the kind PodGroup", async |life| {
        Ok(life.bench.send(Method::POST, GROUPS, &object).await.is_ok())
    })
    .await?;
    let of_job = format!("{PODS}?labelSelector=job-name%3D{job}");
    life.wait_until("the Job's pods", async |life| {
        Ok(life.bench.names(&of_job).await?.len() == pods)
    })
    .await?;
    for name in life.bench.names(&of_job).await? {
        let mut annotations = json!({"pod-group-name": group});
        if job == "train" {
            annotations["received-resource-type"] = json!("Regular");
        }
        let said = json!({"metadata": {"annotations": annotations}});
        life.bench.send(Method::PATCH, &format!("{PODS}/{name}"), &said).await?;
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"kind": "Node", "name": node}});
        life.bench.send(Method::POST, &format!("{PODS}/{name}/binding"), &binding).await?;
    }
    Ok(())
}

/// The pods that were placed, without what changes with every write, and who wrote last.
async fn running(life: &Life) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for path in [PODS, RESERVED] {
        let list = life.bench.find(path).await?;
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        all.extend(pods.into_iter().filter(|pod| !pod["spec"]["nodeName"].is_null()).map(plain));
    }
    Ok(all)
}

fn is_said_to_be_bound(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "PodBound")
}

fn plain(mut pod: Value) -> Value {
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        metadata.retain(|field, _| field != "resourceVersion" && field != "managedFields");
    }
    if let Some(fields) = pod.as_object_mut() {
        fields.retain(|field, _| field != "apiVersion" && field != "kind");
    }
    pod
}

async fn groups(life: &Life) -> Result<Vec<String>> {
    life.bench.names(GROUPS).await
}

/// Keeps what an onlooker sees of all pods of the cluster.
struct Watch {
    seen: Arc<Mutex<Vec<(&'static str, Value)>>>,
    task: JoinHandle<Result<()>>,
}

impl Watch {
    async fn start(client: Client) -> Result<Self> {
        let pods: Api<Pod> = Api::all(client);
        let from = pods.list(&kube::api::ListParams::default()).await?.metadata.resource_version;
        let from = from.context("a list has a version")?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut events = pods.watch(&WatchParams::default().timeout(290), &from).await?.boxed();
            while let Some(event) = events.try_next().await? {
                let (what, pod) = match event {
                    WatchEvent::Added(pod) => ("added", pod),
                    WatchEvent::Modified(pod) => ("written", pod),
                    WatchEvent::Deleted(pod) => ("deleted", pod),
                    WatchEvent::Bookmark(_) => continue,
                    WatchEvent::Error(error) => anyhow::bail!("{error}"),
                };
                let pod = plain(serde_json::to_value(&pod)?);
                into.lock().unwrap_or_else(PoisonError::into_inner).push((what, pod));
            }
            Ok(())
        });
        Ok(Self { seen, task })
    }

    /// Checks that it saw the switch, and nothing of these pods but writes that changed nothing.
    fn ends_without(self, pods: &[Value]) -> Result<()> {
        ensure!(!self.task.is_finished(), "the watch broke off");
        self.task.abort();
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_kai = |pod: &Value| pod["metadata"]["namespace"] == "kai-scheduler";
        let gone = seen.iter().filter(|(what, pod)| *what == "deleted" && is_of_kai(pod)).count();
        ensure!(gone >= 3, "KAI's own pods went: {gone}");
        for before in pods {
            let uid = &before["metadata"]["uid"];
            for (what, pod) in seen.iter().filter(|(_, pod)| pod["metadata"]["uid"] == *uid) {
                ensure!(*what == "written" && pod == before, "{what}: {before}\nnow {pod}");
            }
        }
        Ok(())
    }
}
