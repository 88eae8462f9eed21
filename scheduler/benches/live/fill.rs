//! Fills a cluster as a busy one looks: jobs with their `PodGroup`s, and pods that run.
//!
//! Pods are written straight to the API server with their node, and a patch of their status has them run: no kubelet
//! is there. Gangs have 8 to 25 pods; every second one mounts a volume claim and a config map of its namespace. There
//! are 50 namespaces with a queue each, below five departments.

use std::{
    io::{Error, Result},
    time::Duration,
};

use futures::{StreamExt, TryStreamExt, stream};
use http::Method;
use serde_json::{Value, json};

use super::load::{FLIGHTS, Load, node_of};

/// Namespaces, each with a queue of its name.
const TEAMS: u32 = 50;
const TEAMS_A_DEPARTMENT: u32 = 10;
/// GPUs of a node.
const GPUS: u32 = 8;
/// A moment of the past, for conditions.
const SINCE: &str = "2026-01-01T00:00:00Z";

/// A cluster that is filled step by step.
pub(crate) struct Fill<'l> {
    load: &'l Load,
    nodes: u32,
    /// Arguments of a container, so that a pod has as many bytes of JSON as wanted.
    padding: Vec<String>,
    gangs: u32,
    pods: u32,
}

/// One job with its pods.
struct Gang {
    number: u32,
    first: u32,
    count: u32,
}

impl Gang {
    fn team(&self) -> String {
        team(self.number % TEAMS)
    }

    fn name(&self) -> String {
        format!("train-model-{:05}", self.number)
    }

    /// Its pods mount a volume claim and a config map.
    fn has_data(&self) -> bool {
        self.number.is_multiple_of(2)
    }
}

impl<'l> Fill<'l> {
    /// Namespaces, queues, claims; and nothing runs yet. Pods will have about `pod_bytes` of JSON.
    pub(crate) async fn prepare(load: &'l Load, nodes: u32, pod_bytes: usize) -> Result<Self> {
        let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
        let class = json!({"metadata": {"name": "train"}, "value": 50});
        load.send(Method::POST, classes, &class).await?;
        let departments = (0..TEAMS / TEAMS_A_DEPARTMENT).map(|one| (department(one), None));
        let teams = (0..TEAMS).map(|one| (team(one), Some(department(one / TEAMS_A_DEPARTMENT))));
        let queues = departments.chain(teams).map(|(name, parent)| (QUEUES, queue(&name, parent)));
        load.create(queues).await?;
        for number in 0..TEAMS {
            space(load, &team(number)).await?;
        }
        let mut fill = Self { load, nodes, padding: Vec::new(), gangs: 0, pods: 0 };
        fill.pad(pod_bytes).await?;
        Ok(fill)
    }

    /// Makes one pod to see how long it is, and pads those that follow.
    async fn pad(&mut self, pod_bytes: usize) -> Result<()> {
        /// One argument of a command line.
        const ARGUMENT: usize = 60;
        let gang = Gang { number: 0, first: 0, count: 1 };
        let path = format!("{}/{}-0", pods(&gang.team()), gang.name());
        for is_padded in [false, true] {
            self.gang(&gang).await?;
            let bytes = self.load.text(&path).await?.len();
            let missing = pod_bytes.saturating_sub(bytes) / (ARGUMENT + 3);
            if is_padded {
                super::say(&format!("pods of {bytes} bytes of JSON"))?;
            } else {
                let argument = |number| format!("{:-<ARGUMENT$}", format!("--option-{number:04}="));
                self.padding = (0..missing).map(argument).collect();
            }
            let now = json!({"gracePeriodSeconds": 0});
            self.load.send(Method::DELETE, &path, &now).await?;
            let path = format!("{}/{}", jobs(&gang.team()), gang.name());
            let uid = &self.load.send(Method::GET, &path, &Value::Null).await?["metadata"]["uid"];
            let group = group_name(&gang, uid.as_str().unwrap_or_default());
            let background = json!({"propagationPolicy": "Background"});
            self.load.send(Method::DELETE, &path, &background).await?;
            let path = format!("{}/{group}", groups(&gang.team()));
            self.load.send(Method::DELETE, &path, &Value::Null).await?;
        }
        Ok(())
    }

    /// Adds gangs until so many pods run.
    pub(crate) async fn up_to(&mut self, pods: u32) -> Result<()> {
        let started = std::time::Instant::now();
        let (first_pod, mut gangs) = (self.pods, Vec::new());
        while self.pods < pods {
            let count = (8 + self.gangs * 7 % 18).min(pods - self.pods);
            gangs.push(Gang { number: self.gangs, first: self.pods, count });
            self.gangs += 1;
            self.pods += count;
        }
        let fill = &*self;
        stream::iter(gangs)
            .map(|gang| async move { fill.gang(&gang).await })
            .buffer_unordered(FLIGHTS)
            .try_for_each(async |()| Ok(()))
            .await?;
        let (made, took) = (self.pods - first_pod, started.elapsed().as_secs());
        super::say(&format!("{made} pods made in {took} s, {} run", self.pods))
    }

    async fn gang(&self, gang: &Gang) -> Result<()> {
        let team = gang.team();
        let job = self.load.send(Method::POST, &jobs(&team), &job(gang)).await?;
        let uid = job["metadata"]["uid"].as_str().unwrap_or_default();
        self.load.send(Method::POST, &groups(&team), &group(gang, &job)).await?;
        for number in 0..gang.count {
            let pod = self.pod(gang, number, uid);
            self.load.send(Method::POST, &pods(&team), &pod).await?;
            let path = format!("{}/{}-{number}/status", pods(&team), gang.name());
            self.load.send(Method::PATCH, &path, &running()).await?;
        }
        Ok(())
    }

    /// A pod as a job's controller makes it, marked and bound.
    fn pod(&self, gang: &Gang, number: u32, uid: &str) -> Value {
        let place = gang.first + number;
        let (node, name) = (place % self.nodes, gang.name());
        let gpus = u32::from(place / self.nodes < GPUS);
        let index = number.to_string();
        let mut volumes = vec![token()];
        let mut mounts = vec![json!({"name": "kube-api-access", "readOnly": true,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"})];
        if gang.has_data() {
            volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": "data"}}));
            volumes.push(json!({"name": "settings", "configMap": {"name": "settings"}}));
            mounts.push(json!({"name": "data", "mountPath": "/data"}));
            mounts.push(json!({"name": "settings", "mountPath": "/etc/train"}));
        }
        let mut requests = json!({"cpu": "4", "memory": "32Gi"});
        if gpus > 0 {
            requests["nvidia.com/gpu"] = json!(gpus.to_string());
        }
        json!({
            "metadata": {
                "name": format!("{name}-{number}"),
                "labels": {"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid,
                    "batch.kubernetes.io/job-name": name, "job-name": name, "team": gang.team(),
                    "batch.kubernetes.io/job-completion-index": index},
                "annotations": {"pod-group-name": group_name(gang, uid),
                    "batch.kubernetes.io/job-completion-index": index},
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid,
                    "controller": true, "blockOwnerDeletion": true}],
            },
            "spec": {
                "nodeName": format!("node-{node:05}"),
                "schedulerName": "kai-scheduler",
                "restartPolicy": "Never",
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "containers": [{"name": "main", "image": "registry.example.com/team/train:1.2.3",
                    "command": ["python", "-m", "train"], "args": self.padding,
                    "env": [{"name": "RANK", "value": index}, {"name": "MASTER_PORT", "value": "29500"}],
                    "resources": {"requests": requests, "limits": requests}, "volumeMounts": mounts}],
                "volumes": volumes,
            },
        })
    }
}

const QUEUES: &str = "/apis/scheduling.run.ai/v2/queues";

pub(crate) fn jobs(namespace: &str) -> String {
    format!("/apis/batch/v1/namespaces/{namespace}/jobs")
}

pub(crate) fn groups(namespace: &str) -> String {
    format!("/apis/scheduling.run.ai/v2alpha2/namespaces/{namespace}/podgroups")
}

pub(crate) fn pods(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/pods")
}

fn team(number: u32) -> String {
    format!("team-{number:02}")
}

fn department(number: u32) -> String {
    format!("department-{number}")
}

fn queue(name: &str, parent: Option<String>) -> Value {
    let share = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
    let mut spec = json!({"resources": {"cpu": share, "memory": share, "gpu": share}});
    if let Some(parent) = parent {
        spec["parentQueue"] = json!(parent);
    }
    json!({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": spec})
}

/// A namespace with a config map, and with a volume claim that has its volume.
async fn space(load: &Load, name: &str) -> Result<()> {
    let namespace = json!({"metadata": {"name": name}});
    load.send(Method::POST, "/api/v1/namespaces", &namespace).await?;
    let path = format!("/api/v1/namespaces/{name}");
    let map = json!({"metadata": {"name": "settings"}, "data": {"learning-rate": "0.1"}});
    load.send(Method::POST, &format!("{path}/configmaps"), &map).await?;
    let (size, modes) = (json!({"storage": "1Ti"}), json!(["ReadWriteMany"]));
    let volume = json!({"metadata": {"name": format!("data-{name}")}, "spec": {
        "capacity": size, "accessModes": modes, "nfs": {"server": "nfs.example.com", "path": "/"},
        "claimRef": {"namespace": name, "name": "data"}}});
    load.send(Method::POST, "/api/v1/persistentvolumes", &volume).await?;
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": modes, "storageClassName": "",
        "volumeName": format!("data-{name}"), "resources": {"requests": size}}});
    load.send(Method::POST, &format!("{path}/persistentvolumeclaims"), &claim).await?;
    let bound = json!({"status": {"phase": "Bound", "accessModes": modes, "capacity": size}});
    load.send(Method::PATCH, &format!("{path}/persistentvolumeclaims/data/status"), &bound).await?;
    Ok(())
}

fn job(gang: &Gang) -> Value {
    json!({
        "metadata": {"name": gang.name(),
            "labels": {"kai.scheduler/queue": gang.team(), "app": "train"},
            "annotations": {"kai.scheduler/batch-min-member": gang.count.to_string()}},
        "spec": {"parallelism": gang.count, "completions": gang.count, "completionMode": "Indexed",
            "template": {"spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "registry.example.com/team/train:1.2.3"}]}}},
    })
}

fn group_name(gang: &Gang, uid: &str) -> String {
    format!("pg-{}-{uid}", gang.name())
}

/// The `PodGroup` of a job as the podgrouper makes it.
fn group(gang: &Gang, job: &Value) -> Value {
    let name = gang.name();
    let uid = job["metadata"]["uid"].as_str().unwrap_or_default();
    let mut annotations = job["metadata"]["annotations"].clone();
    annotations["kai.scheduler/top-owner-metadata"] =
        json!(format!("name: {name}\nuid: {uid}\ngroup: batch\nversion: v1\nkind: Job\n"));
    json!({
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": group_name(gang, uid), "labels": job["metadata"]["labels"],
            "annotations": annotations,
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}]},
        "spec": {"minMember": gang.count, "queue": gang.team(), "priorityClassName": "train"},
    })
}

/// The volume that an API server adds to every pod.
fn token() -> Value {
    json!({"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace",
            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}})
}

/// The status that a kubelet would write. Who manages which field is dropped: it is a third of a small pod.
pub(crate) fn running() -> Value {
    let conditions =
        ["PodScheduled", "Initialized", "PodReadyToStartContainers", "ContainersReady", "Ready"];
    let conditions =
        conditions.map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": SINCE}));
    json!({"metadata": {"managedFields": [{}]}, "status": {"phase": "Running", "startTime": SINCE, "hostIP": "10.0.0.1",
        "hostIPs": [{"ip": "10.0.0.1"}], "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}],
        "conditions": conditions,
        "containerStatuses": [{"name": "main", "ready": true, "started": true, "restartCount": 0,
            "image": "registry.example.com/team/train:1.2.3",
            "imageID": "registry.example.com/team/train@sha256:0123456789abcdef0123456789abcdef",
            "containerID": "containerd://0123456789abcdef0123456789abcdef0123456789abcdef",
            "state": {"running": {"startedAt": SINCE}}}]}})
}

/// Nodes of their own for one question, and pods that ask it: what is right to do there is known.
pub(crate) struct Corner<'l> {
    pub(crate) load: &'l Load,
    /// The value of the label that its nodes have and its pods select.
    pub(crate) name: &'static str,
}

impl Corner<'_> {
    /// Adds a node.
    pub(crate) async fn node(&self, name: &str) -> Result<()> {
        let mut node = node_of(name);
        node["metadata"]["labels"]["corner"] = json!(self.name);
        self.load.send(Method::POST, "/api/v1/nodes", &node).await.map(drop)
    }

    /// Adds a pod of another scheduler that runs on a node and holds GPUs there.
    pub(crate) async fn holder(
        &self,
        namespace: &str,
        name: &str,
        on: &str,
        gpus: u32,
    ) -> Result<()> {
        let mut pod = self.plain(name, gpus);
        pod["spec"]["nodeName"] = json!(on);
        pod["spec"]["schedulerName"] = json!("default-scheduler");
        self.load.send(Method::POST, &pods(namespace), &pod).await?;
        let path = format!("{}/{name}/status", pods(namespace));
        self.load.send(Method::PATCH, &path, &running()).await.map(drop)
    }

    /// Adds a pod that waits, alone in its group.
    pub(crate) async fn waiter(&self, namespace: &str, name: &str, gpus: u32) -> Result<()> {
        let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": name}, "spec": {"minMember": 1, "queue": "all"}});
        self.load.send(Method::POST, &groups(namespace), &group).await?;
        let mut pod = self.plain(name, gpus);
        pod["metadata"]["annotations"] = json!({"pod-group-name": name});
        self.load.send(Method::POST, &pods(namespace), &pod).await.map(drop)
    }

    /// Adds a pod of a job that has no group yet.
    pub(crate) async fn ungrouped(&self, namespace: &str, name: &str) -> Result<()> {
        let gang = json!({"metadata": {"name": name, "labels": {"kai.scheduler/queue": "all"}},
            "spec": {"template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "main", "image": "none"}]}}}});
        let job = self.load.send(Method::POST, &jobs(namespace), &gang).await?;
        let mut pod = self.plain(name, 1);
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job",
            "name": name, "uid": job["metadata"]["uid"], "controller": true}]);
        self.load.send(Method::POST, &pods(namespace), &pod).await.map(drop)
    }

    fn plain(&self, name: &str, gpus: u32) -> Value {
        let gpus = json!({"nvidia.com/gpu": gpus.to_string()});
        json!({"metadata": {"name": name}, "spec": {"schedulerName": "kai-scheduler",
            "nodeSelector": {"corner": self.name},
            "containers": [{"name": "main", "image": "none", "resources": {"limits": gpus}}]}})
    }

    /// Waits for a value of a pod, looked at often.
    pub(crate) async fn wait(&self, namespace: &str, name: &str, pointer: &str) -> Result<String> {
        let path = format!("{}/{name}", pods(namespace));
        let started = std::time::Instant::now();
        while started.elapsed() < super::load::PATIENCE {
            let pod = self.load.send(Method::GET, &path, &Value::Null).await?;
            if let Some(value) = pod.pointer(pointer).and_then(Value::as_str) {
                return Ok(value.to_owned());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err(Error::other(format!("{path} has no {pointer} after five minutes")))
    }
}
