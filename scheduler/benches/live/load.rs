//! Describes what is scheduled: nodes, queues, groups and pods, created many at once.

use std::{
    collections::HashMap,
    io::{Error, Result},
    path::Path,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};
use tokio::time::sleep;

/// Requests at once.
pub(crate) const FLIGHTS: usize = 16;
/// Sets how long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// Creates and waits.
pub(crate) struct Load {
    client: Client,
}

impl Load {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// CRDs, a queue, the Lease's namespace and nodes of eight GPUs.
    pub(crate) async fn prepare(&self, nodes: u32) -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds");
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(path)?;
                let crd: Value = serde_saphyr::from_str(&text).map_err(Error::other)?;
                if crd["kind"] != "CustomResourceDefinition" {
                    continue;
                }
                let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
                self.send(Method::POST, path, &crd).await?;
            }
        }
        let namespace = json!({"metadata": {"name": "kai-scheduler"}});
        self.send(Method::POST, "/api/v1/namespaces", &namespace).await?;
        let share = json!({"quota": 0, "limit": -1, "overQuotaWeight": 1});
        let queue = json!({
            "apiVersion": "scheduling.run.ai/v2",
            "kind": "Queue",
            "metadata": {"name": "all"},
            "spec": {"resources": {"cpu": share, "memory": share, "gpu": share}},
        });
        let started = Instant::now();
        // The API server serves a new kind a moment after its definition.
        while let Err(error) =
            self.send(Method::POST, "/apis/scheduling.run.ai/v2/queues", &queue).await
        {
            if started.elapsed() > PATIENCE {
                return Err(error);
            }
            sleep(Duration::from_millis(100)).await;
        }
        let nodes = (0..nodes).map(|number| ("/api/v1/nodes", node(number)));
        self.create(nodes).await
    }

    /// One pod group a pod.
    pub(crate) async fn groups(&self, prefix: &str, count: u32) -> Result<()> {
        let path = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups";
        self.create((0..count).map(|number| (path, group(prefix, number)))).await
    }

    /// One-GPU pods.
    pub(crate) async fn pods(&self, prefix: &str, count: u32, scheduler: &str) -> Result<()> {
        self.create((0..count).map(|number| (PODS, pod(prefix, number, scheduler)))).await
    }

    /// Deletes all pods and waits until they are gone.
    pub(crate) async fn clear(&self) -> Result<()> {
        // No kubelet is there that would end them.
        let options = json!({"gracePeriodSeconds": 0});
        let started = Instant::now();
        // A server that runs out of its time for one request leaves the rest of the collection.
        while !self.is_empty(&format!("{PODS}?limit=1")).await? {
            if started.elapsed() > PATIENCE {
                return Err(Error::other(
                    "there are still pods five minutes after they were deleted",
                ));
            }
            self.send(Method::DELETE, PODS, &options).await?;
        }
        Ok(())
    }

    /// Waits until no pod is without a node.
    pub(crate) async fn wait_until_bound(&self) -> Result<()> {
        self.wait(&format!("{PODS}?limit=1&fieldSelector=spec.nodeName%3D")).await
    }

    async fn wait(&self, path: &str) -> Result<()> {
        let started = Instant::now();
        while !self.is_empty(path).await? {
            if started.elapsed() > PATIENCE {
                return Err(Error::other(format!("{path} is not empty after five minutes")));
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn is_empty(&self, path: &str) -> Result<bool> {
        let list = self.send(Method::GET, path, &Value::Null).await?;
        Ok(list["items"].as_array().is_none_or(Vec::is_empty))
    }

    /// A reservation pod and a pod that shares its GPU, for every GPU of so many nodes.
    pub(crate) async fn reservations(&self, nodes: u32) -> Result<()> {
        let namespace = json!({"metadata": {"name": "kai-resource-reservation"}});
        self.send(Method::POST, "/api/v1/namespaces", &namespace).await?;
        self.groups("user", nodes * 8).await?;
        let devices = (0..nodes).flat_map(|node| (0..8).map(move |device| (node, device)));
        let pods = devices.flat_map(|(node, device)| {
            let user = node * 8 + device;
            [(RESERVATIONS, reservation(node, device)), (PODS, share(user, Some((node, device))))]
        });
        self.create(pods).await
    }

    /// Creates pods at a steady rate; gives the time from the request to the node, of each.
    pub(crate) async fn arrivals(
        &self,
        rate: u32,
        seconds: u32,
        of: Kind,
    ) -> Result<Vec<Duration>> {
        let prefix = "kai";
        let query = format!("{PODS}?watch=true");
        let request = Request::get(query).body(Vec::new()).map_err(Error::other)?;
        let lines = self.client.request_stream(request).await.map_err(Error::other)?;
        let mut lines = futures::AsyncBufReadExt::lines(lines);
        let count = rate * seconds;
        let creator = async {
            let mut sent = HashMap::new();
            let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
            let mut requests = tokio::task::JoinSet::new();
            for number in 0..count {
                ticks.tick().await;
                let body = match of {
                    Kind::Whole => pod(prefix, number, "kai-scheduler"),
                    Kind::Share => share(number, None),
                };
                let client = self.client.clone();
                sent.insert(format!("{prefix}-{number}"), Instant::now());
                requests
                    .spawn(async move { Self { client }.send(Method::POST, PODS, &body).await });
            }
            while let Some(done) = requests.join_next().await {
                done.map_err(Error::other)??;
            }
            Ok::<_, Error>(sent)
        };
        let watcher = async {
            let mut bound = HashMap::new();
            while bound.len() < count as usize {
                let line = lines.try_next().await?;
                let line = line.ok_or_else(|| Error::other("the watch ended early"))?;
                let event: Value = serde_json::from_str(&line).map_err(Error::other)?;
                let object = &event["object"];
                if object["spec"]["nodeName"].is_string()
                    && let Some(name) = object["metadata"]["name"].as_str()
                    && name.starts_with(prefix)
                {
                    bound.entry(String::from(name)).or_insert_with(Instant::now);
                }
            }
            Ok(bound)
        };
        let (sent, bound) = tokio::try_join!(creator, watcher)?;
        Ok(sent.iter().filter_map(|(name, at)| Some(*bound.get(name)? - *at)).collect())
    }

    /// Creates objects, many at once.
    pub(crate) async fn create(
        &self,
        objects: impl Iterator<Item = (impl AsRef<str>, Value)>,
    ) -> Result<()> {
        stream::iter(objects)
            .map(|(path, body)| async move { self.send(Method::POST, path.as_ref(), &body).await })
            .buffer_unordered(FLIGHTS)
            .try_for_each(async |_| Ok(()))
            .await
    }

    /// Sends a request; a patch is a merge patch.
    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let is_patch = method == Method::PATCH;
        let form = if is_patch { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, form)
            .body(body)
            .map_err(Error::other)?;
        self.client.request(request).await.map_err(Error::other)
    }

    /// Reads an object as the API server writes it.
    pub(crate) async fn text(&self, path: &str) -> Result<String> {
        let request = Request::get(path).body(Vec::new()).map_err(Error::other)?;
        self.client.request_text(request).await.map_err(Error::other)
    }
}

const PODS: &str = "/api/v1/namespaces/default/pods";
const RESERVATIONS: &str = "/api/v1/namespaces/kai-resource-reservation/pods";

/// Says what pods ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// One GPU.
    Whole,
    /// A twelfth of one.
    Share,
}

fn node(number: u32) -> Value {
    node_of(&format!("node-{number:05}"))
}

/// A node of eight GPUs.
pub(crate) fn node_of(name: &str) -> Value {
    let amounts = json!({"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"});
    json!({
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name,
            "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.memory": "81920",
        }},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

fn group(prefix: &str, number: u32) -> Value {
    json!({
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": format!("{prefix}-{number}")},
        "spec": {"minMember": 1, "queue": "all"},
    })
}

fn pod(prefix: &str, number: u32, scheduler: &str) -> Value {
    let name = format!("{prefix}-{number}");
    let resources =
        json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}});
    json!({
        "metadata": {"name": name, "annotations": {"pod-group-name": name}},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "main", "image": "none", "resources": resources}],
        },
    })
}

/// A pod that holds a GPU for others, and has said which.
fn reservation(node: u32, device: u32) -> Value {
    let group = format!("group-{node}-{device}");
    json!({
        "metadata": {
            "name": format!("gpu-reservation-{group}"),
            "labels": {"app": "kai-resource-reservation", "app.runai.resource.reservation": group, "runai-gpu-group": group},
            "annotations": {"run.ai/reserve_for_gpu_index": format!("GPU-{node}-{device}")},
        },
        "spec": {
            "nodeName": format!("node-{node:05}"),
            "containers": [{"name": "resource-reservation", "image": "none",
                "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
        },
    })
}

/// A pod with a twelfth of a GPU as admission leaves it: on a device already, or waiting.
fn share(number: u32, on: Option<(u32, u32)>) -> Value {
    let name = format!("{}-{number}", if on.is_some() { "user" } else { "kai" });
    let prefix = format!("{name}-abcdefg-shared-gpu");
    let variable = |variable: &str, map: &str| {
        let source = json!({"name": map, "key": variable});
        json!({"name": variable, "valueFrom": {"configMapKeyRef": source}})
    };
    let map = format!("{prefix}-0");
    let mut pod = json!({
        "metadata": {"name": name, "annotations": {
            "pod-group-name": name, "gpu-fraction": "0.08", "runai/shared-gpu-configmap": prefix,
        }},
        "spec": {
            "schedulerName": "kai-scheduler",
            "containers": [{"name": "main", "image": "none",
                "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
                "env": [variable("NVIDIA_VISIBLE_DEVICES", &map), variable("GPU_PORTION", &map)],
                "envFrom": [{"configMapRef": {"name": format!("{map}-evar")}}]}],
        },
    });
    if let Some((node, device)) = on {
        pod["metadata"]["labels"] = json!({"runai-gpu-group": format!("group-{node}-{device}")});
        pod["spec"]["nodeName"] = json!(format!("node-{node:05}"));
    }
    pod
}
