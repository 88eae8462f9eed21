//! The life of an installation on one real API server: an older version, an upgrade below running gangs, the way back,
//! other settings, a second shard, and the end. The daemons run from what was installed, under their own accounts.

use std::{collections::BTreeMap, net::TcpListener, time::Duration};

use anyhow::{Context, Result, ensure};
use http::Method;
use k8s_openapi::api::core::v1::{Node, Pod};
use kai_tests::{
    cluster::{
        NAMESPACE,
        processes::{start_nodes, start_podgrouper, start_scheduler},
    },
    daemon::Daemon,
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ListParams, PostParams},
};
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{Bench, DEPLOYMENTS, NAMESPACES, TIMEOUT};

pub(super) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(super) const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
pub(super) const QUEUES: &str = "/apis/scheduling.run.ai/v2/queues";
pub(super) const GROUPS: &str = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups";
const SHARDS: &str = "/apis/kai.scheduler/v1/schedulingshards";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const SCHEDULER: &str = "kai-scheduler-default";
const BLUE: &str = "kai-scheduler-blue";
const PODGROUPER: &str = "kai-podgrouper";
/// The version before this one.
const OLD: &str = "0.0.9";
/// A field of queues that the old version did not have.
const NEW_FIELD: &str =
    "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/displayName";
/// A flag of the scheduler that it did not set.
const NEW_FLAG: &str = "--log-json=true";
/// A role that it did not have.
const NEW_ROLE: &str = "kai-queue-admin";

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_lives() -> Result<()> {
    let Some(mut life) = Life::start().await? else { return Ok(()) };
    life.bench.kai("install status")?.expect(10, &["missing", "no Deployment, no Lease"]);
    let old = older(&life.bench)?;
    life.put(&old).await?;
    life.roll_out().await?;
    life.gang("first").await?;
    let gang = life.workloads().await?;
    settings(&mut life).await?;
    life.is_skewed()?;
    upgrade(&mut life).await?;
    again(&mut life).await?;
    roll_back(&mut life, &old).await?;
    other_image(&mut life).await?;
    assert_eq!(life.workloads().await?, gang, "what runs is not touched");
    second_shard(&mut life).await?;
    let all = life.workloads().await?;
    remove(&mut life).await?;
    assert_eq!(life.workloads().await?, all, "workloads stay");
    Ok(())
}

/// A cluster whose kubelets are simulated, with the daemons that its Deployments describe.
pub(super) struct Life {
    pub(super) daemons: BTreeMap<String, Daemon>,
    /// Port at which the API server asks the podgrouper.
    webhook: u16,
    binder: JoinHandle<()>,
    _nodes: Daemon,
    pub(super) bench: Bench,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.binder.abort();
    }
}

impl Life {
    pub(super) async fn start() -> Result<Option<Self>> {
        let Some(bench) = Bench::start().await? else { return Ok(None) };
        let nodes = start_nodes(&bench.plane, "3xH100:8")?;
        let webhook = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let binder = tokio::spawn(bind_daemons(bench.client.clone()));
        Ok(Some(Self { daemons: BTreeMap::new(), webhook, binder, _nodes: nodes, bench }))
    }

    /// Applies objects as the program of their version does.
    async fn put(&self, objects: &[Value]) -> Result<()> {
        for object in objects {
            let end = Instant::now() + TIMEOUT;
            // A kind that was just defined is served a moment later.
            let path = loop {
                match self.bench.objects.path_of(object).await {
                    Err(_) if Instant::now() < end => sleep(Duration::from_millis(50)).await,
                    path => break path?,
                }
            };
            let is_kept = ["Queue", "SchedulingShard", "Config"].map(Into::into);
            if is_kept.contains(&object["kind"]) && !self.bench.find(&path).await?.is_null() {
                continue;
            }
            let path = format!("{path}?fieldManager=kubectl-kai&force=true");
            self.bench.send(Method::PATCH, &path, object).await?;
        }
        Ok(())
    }

    /// Runs what each Deployment says in place of what ran before, as its pods do, and waits until these are ready.
    pub(super) async fn roll_out(&mut self) -> Result<()> {
        for name in self.bench.names(DEPLOYMENTS).await? {
            self.start_from(&name).await?;
        }
        self.wait_until("all Deployments", async |life| {
            let list = life.bench.find(DEPLOYMENTS).await?;
            let items = list["items"].as_array().cloned().unwrap_or_default();
            let is_ready = |one: &Value| {
                let (spec, status) = (&one["spec"], &one["status"]);
                status["observedGeneration"] == one["metadata"]["generation"]
                    && ["replicas", "updatedReplicas", "availableReplicas"]
                        .iter()
                        .all(|field| status[*field] == spec["replicas"])
            };
            Ok(!items.is_empty() && items.iter().all(is_ready))
        })
        .await
    }

    async fn start_from(&mut self, name: &str) -> Result<()> {
        let live = self.bench.find(&format!("{DEPLOYMENTS}/{name}")).await?;
        let container = &live["spec"]["template"]["spec"]["containers"][0];
        let mut words: Vec<String> = serde_json::from_value(container["args"].clone())?;
        // Ports are those of this machine.
        words.retain(|word| !word.contains("-address="));
        if let Some(mut before) = self.daemons.remove(name) {
            before.stop()?;
        }
        let plane = &self.bench.plane;
        let daemon = if container["command"][0] == "kai-podgrouper" {
            words.push(format!("--webhook-listen-address=127.0.0.1:{}", self.webhook));
            words.push(format!("--webhook-url=https://127.0.0.1:{}", self.webhook));
            let flags: Vec<&str> = words.iter().map(String::as_str).collect();
            start_podgrouper(plane, &flags).await?
        } else {
            let flags: Vec<&str> = words.iter().map(String::as_str).collect();
            start_scheduler(plane, name, &flags).await?
        };
        self.daemons.insert(name.to_owned(), daemon);
        Ok(())
    }

    /// Waits until a gang of two runs.
    pub(super) async fn gang(&self, name: &str) -> Result<()> {
        let metadata = json!({"name": name, "labels": {"kai.scheduler/queue": "default-queue"},
            "annotations": {"kai.scheduler/batch-min-member": "2"}});
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": {"parallelism": 2, "completions": 2, "template": {"spec": pod_spec(2)}}});
        self.wait_until("admission", async |life| {
            Ok(life.bench.send(Method::POST, JOBS, &job).await.is_ok())
        })
        .await?;
        self.wait_until_running(name, 2).await
    }

    async fn wait_until_running(&self, prefix: &str, count: usize) -> Result<()> {
        self.wait_until(&format!("{count} pods of {prefix}"), async |life| {
            let list = life.bench.find(PODS).await?;
            let pods = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            let runs = |pod: &&Value| {
                let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                name.starts_with(prefix) && pod["status"]["phase"] == "Running"
            };
            Ok(pods.iter().filter(runs).count() == count)
        })
        .await
    }

    /// Facts of each pod: neither an eviction nor a restart leaves them as they are.
    async fn workloads(&self) -> Result<Vec<Value>> {
        let list = self.bench.find(PODS).await?;
        let pods = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let facts = |pod: &Value| {
            let restarts = &pod["status"]["containerStatuses"][0]["restartCount"];
            json!({"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"], "restarts": restarts,
                "node": pod["spec"]["nodeName"], "started": pod["status"]["startTime"],
                "phase": pod["status"]["phase"], "ends": pod["metadata"]["deletionTimestamp"]})
        };
        Ok(pods.iter().map(facts).collect())
    }

    /// The groups of what runs; the cluster's garbage collector may take its time with those of what is gone.
    async fn groups(&self) -> Result<Vec<String>> {
        let mut names = self.bench.names(GROUPS).await?;
        names.retain(|name| !name.starts_with("pg-second"));
        Ok(names)
    }

    /// The state of each part, by `install status`.
    fn status(&self, code: i32) -> Result<BTreeMap<String, String>> {
        let said = self.bench.kai("install status -o json")?.expect(code, &[]);
        let report: Value = serde_json::from_str(&said.data)?;
        let parts = report["items"].as_array().context("a status has parts")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(parts.iter().map(|part| (text(&part["name"]), text(&part["state"]))).collect())
    }

    /// Waits until all is there, and nothing of another version: a setting may have a Deployment begin anew.
    async fn wait_until_well(&self) -> Result<()> {
        self.wait_until("install status", async |life| {
            let said = life.bench.kai("install status -o json")?;
            let report: Value = serde_json::from_str(&said.data)?;
            let parts = report["items"].as_array().context("a status has parts")?;
            Ok(said.code == Some(0) && parts.iter().all(|part| part["state"] == "ok"))
        })
        .await
    }

    /// Checks that an older version is seen as one.
    fn is_skewed(&self) -> Result<()> {
        let status = self.status(10)?;
        ensure!(status["CRDs"] == "skewed" && status[PODGROUPER] == "skewed", "{status:?}");
        ensure!(status["kai-scheduler"] == "skewed", "{status:?}");
        ensure!(status["accounts and roles"] == "missing", "{status:?}");
        ensure!(status["queues and settings"] == "ok", "{status:?}");
        Ok(())
    }

    /// Waits until the Deployment of the default shard has these words.
    async fn wait_until_it_says(&self, words: &[&str]) -> Result<()> {
        self.wait_until(&format!("{words:?}"), async |life| {
            let live = life.bench.find(&format!("{DEPLOYMENTS}/{SCHEDULER}")).await?;
            let container = live["spec"]["template"]["spec"]["containers"][0].to_string();
            Ok(words.iter().all(|word| container.contains(&format!("\"{word}\""))))
        })
        .await
    }

    pub(super) async fn wait_until(
        &self,
        what: &str,
        mut done: impl AsyncFnMut(&Self) -> Result<bool>,
    ) -> Result<()> {
        let end = Instant::now() + TIMEOUT;
        while !done(self).await? {
            let logs = || self.daemons.values().map(Daemon::log_end).collect::<Result<Vec<_>>>();
            ensure!(Instant::now() < end, "waited for {what}:\n{}", logs()?.join("\n---\n"));
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }
}

/// Puts the pods of the daemons on a node, as the cluster's own scheduler does.
async fn bind_daemons(client: Client) {
    let nodes: Api<Node> = Api::all(client.clone());
    let pods: Api<Pod> = Api::namespaced(client, NAMESPACE);
    loop {
        let node = nodes.list(&ListParams::default()).await.ok();
        let node = node.and_then(|list| list.items.first().map(kube::ResourceExt::name_any));
        let waiting = pods.list(&ListParams::default().fields("spec.nodeName=")).await;
        for pod in waiting.into_iter().flat_map(|list| list.items) {
            let name = pod.name_any();
            let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                "target": {"kind": "Node", "name": node}});

            // What fails is tried again.
            let _: kube::Result<Value> =
                pods.create_subresource("binding", &name, &PostParams::default(), &binding).await;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

fn pod_spec(gpus: u32) -> Value {
    json!({"schedulerName": "kai-scheduler", "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "c", "image": "i", "command": ["sleep", "600"],
            "resources": {"limits": {"nvidia.com/gpu": gpus}}}]})
}

/// The manifests of the version before: another image, a definition with a field less, a role less.
fn older(bench: &Bench) -> Result<Vec<Value>> {
    let said = bench.kai("install render -o json")?.expect(0, &[]);
    let text = said.data.replace(":0.1.0\"", &format!(":{OLD}\""));
    let mut list: Value = serde_json::from_str(&text)?;
    let mut objects = list["items"].as_array_mut().map(std::mem::take).context("a list")?;
    objects.retain(|object| object["metadata"]["name"] != NEW_ROLE);
    for object in &mut objects {
        object["metadata"]["labels"]["app.kubernetes.io/version"] = json!(OLD);
        if object["kind"] == "Deployment" && object["metadata"]["name"] == SCHEDULER {
            let words = object.pointer_mut("/spec/template/spec/containers/0/args");
            let words = words.and_then(Value::as_array_mut).context("it has flags")?;
            words.retain(|word| word != NEW_FLAG);
        }
        if object["metadata"]["name"] == "queues.scheduling.run.ai" {
            let (parent, field) = NEW_FIELD.rsplit_once('/').context("a path")?;
            let parent = object.pointer_mut(parent).and_then(Value::as_object_mut);
            parent.and_then(|fields| fields.remove(field)).context("the field is there")?;
        }
    }
    Ok(objects)
}

/// An object's version; later writes have greater ones.
fn version(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

async fn upgrade(life: &mut Life) -> Result<()> {
    life.bench.kai("install apply -y --wait=false")?.expect(0, &["1 to create", "Installed"]);
    let definition = life.bench.find(&format!("{DEFINITIONS}/queues.scheduling.run.ai")).await?;
    ensure!(definition.pointer(NEW_FIELD).is_some(), "the definition is the new one");
    let role = life.bench.find(&format!("{ROLES}/{NEW_ROLE}")).await?;
    ensure!(version(&definition) < version(&role), "definitions come before what needs them");
    life.wait_until_it_says(&["--v=4", NEW_FLAG]).await?;
    life.roll_out().await?;
    life.wait_until_well().await?;
    // Objects of the time before are read: the gang's group and queue, and a new gang goes beside the old one.
    let queue = life.bench.find(&format!("{QUEUES}/default-queue")).await?;
    ensure!(queue["spec"]["parentQueue"] == "default-parent-queue", "{queue}");
    life.wait_until("the books of the queue", async |life| {
        let queue = life.bench.find(&format!("{QUEUES}/default-queue")).await?;
        Ok(queue["status"]["allocated"]["nvidia.com/gpu"] == "4")
    })
    .await
}

/// An installation that is there is not written again, to the last object.
async fn again(life: &mut Life) -> Result<()> {
    let said = life.bench.kai("install render -o json")?.expect(0, &[]);
    let list: Value = serde_json::from_str(&said.data)?;
    let mut paths = Vec::new();
    for object in list["items"].as_array().context("a list")? {
        paths.push(life.bench.objects.path_of(object).await?);
    }
    let before = histories(life, &paths).await?;
    life.bench.kai("install apply -y")?.expect(0, &["Nothing to change"]);
    let after = histories(life, &paths).await?;
    for ((before, after), path) in before.iter().zip(&after).zip(&paths) {
        ensure!(before == after, "{path}: {before} was written, now {after}");
    }
    Ok(())
}

/// Fields that change with each write of an object; where daemons write a status, those that change with its spec.
async fn histories(life: &Life, paths: &[String]) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for path in paths {
        let object = life.bench.find(path).await?;
        ensure!(!object.is_null(), "{path} is not there");
        let field = if object["status"].is_object() { "generation" } else { "resourceVersion" };
        found.push(object["metadata"][field].clone());
    }
    Ok(found)
}

async fn roll_back(life: &mut Life, old: &[Value]) -> Result<()> {
    life.put(old).await?;
    life.roll_out().await?;
    let status = life.status(0)?;
    // What only the new version has stays, so that nothing is missing.
    ensure!(status["CRDs"] == "skewed" && status[PODGROUPER] == "skewed", "{status:?}");
    let gang = life.workloads().await?;
    life.gang("second").await?;
    let delete = json!({"propagationPolicy": "Background"});
    life.bench.send(Method::DELETE, &format!("{JOBS}/second"), &delete).await?;
    life.wait_until("the second gang's end", async |life| Ok(life.workloads().await? == gang))
        .await?;
    life.bench.kai("install apply -y --wait=false")?.expect(0, &["Installed"]);
    life.roll_out().await?;
    life.wait_until_well().await
}

/// A shard's settings become flags of its scheduler.
async fn settings(life: &mut Life) -> Result<()> {
    let spread = json!({"spec": {"placementStrategy": {"gpu": "spread"}, "args": {"v": "4"}}});
    life.bench.send(Method::PATCH, &format!("{SHARDS}/default"), &spread).await?;
    life.wait_until_it_says(&["--v=4"]).await?;
    life.roll_out().await
}

/// An installation takes no setting back.
async fn other_image(life: &mut Life) -> Result<()> {
    life.bench.kai("install apply -y --wait=false --image registry.example/kai:2")?.expect(0, &[]);
    let shard = life.bench.find(&format!("{SHARDS}/default")).await?;
    ensure!(shard["spec"]["placementStrategy"]["gpu"] == "spread", "{shard}");
    life.wait_until_it_says(&["--v=4", NEW_FLAG, "registry.example/kai:2"]).await?;
    life.roll_out().await?;
    life.wait_until_well().await
}

/// A scheduler for a part of the nodes.
async fn second_shard(life: &mut Life) -> Result<()> {
    const POOL: &str = "kai.scheduler/node-pool";
    let nodes: Api<Node> = Api::all(life.bench.client.clone());
    let last = nodes.list(&ListParams::default()).await?.items.pop().context("a node")?.name_any();
    let pool = json!({"metadata": {"labels": {POOL: "blue"}}});
    life.bench.send(Method::PATCH, &format!("/api/v1/nodes/{last}"), &pool).await?;
    for (name, parent) in [("blue-parent", Value::Null), ("blue", json!("blue-parent"))] {
        let any = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
        let queue = json!({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue",
            "metadata": {"name": name, "labels": {POOL: "blue"}},
            "spec": {"parentQueue": parent, "resources": {"gpu": any, "cpu": any, "memory": any}}});
        life.bench.send(Method::POST, QUEUES, &queue).await?;
    }
    let shard = json!({"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard",
        "metadata": {"name": "blue"}, "spec": {"partitionLabelValue": "blue"}});
    life.bench.send(Method::POST, SHARDS, &shard).await?;
    life.wait_until("the shard's Deployment", async |life| {
        Ok(!life.bench.find(&format!("{DEPLOYMENTS}/{BLUE}")).await?.is_null())
    })
    .await?;
    life.start_from(BLUE).await?;
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": pod_spec(4), "metadata": {"name": "blue",
        "labels": {POOL: "blue", "kai.scheduler/queue": "blue"}}});
    life.bench.send(Method::POST, PODS, &pod).await?;
    life.wait_until_running("blue", 1).await?;
    let pod = life.bench.find(&format!("{PODS}/blue")).await?;
    ensure!(pod["spec"]["nodeName"] == last.as_str(), "{pod}");
    life.wait_until("its status", async |life| {
        let said = life.bench.kai("install status")?;
        Ok(said.code == Some(0) && said.data.contains(BLUE))
    })
    .await
}

/// Daemons go first, workloads and their records stay; with the definitions goes the rest.
async fn remove(life: &mut Life) -> Result<()> {
    life.bench.kai("install remove -y")?.expect(9, &["3 pods of the scheduler", "--force"]);
    let groups = life.groups().await?;
    ensure!(groups.len() == 2, "{groups:?}");
    life.bench.kai("install remove -y --force --keep-crds")?.expect(0, &["stay"]);
    life.daemons.clear();
    ensure!(life.groups().await? == groups, "{groups:?}");
    ensure!(life.bench.names(DEPLOYMENTS).await?.is_empty(), "no scheduler of a shard is left");
    let status = life.status(10)?;
    ensure!(status["CRDs"] == "ok" && status["queues and settings"] == "ok", "{status:?}");
    ensure!(status["kai-scheduler"] == "missing", "{status:?}");
    life.bench.kai("install apply -y --wait=false")?.expect(0, &["Installed"]);
    // The first round starts the podgrouper, which has the settings that stayed.
    life.roll_out().await?;
    life.wait_until_it_says(&["--v=4"]).await?;
    life.roll_out().await?;
    life.wait_until_well().await?;
    life.bench.kai("install remove -y --force --crds --in-use")?.expect(0, &[]);
    life.daemons.clear();
    for namespace in [NAMESPACE, "kai-resource-reservation", "kai-scale-adjust"] {
        life.bench.wait_until_gone(&format!("{NAMESPACES}/{namespace}")).await?;
    }
    for name in life.bench.names(DEFINITIONS).await? {
        life.bench.wait_until_gone(&format!("{DEFINITIONS}/{name}")).await?;
    }
    super::remove::nothing_is_left(&life.bench).await
}
