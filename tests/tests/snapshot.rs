//! `kubectl kai snapshot` on the embedded API server and, where there is one, on a real kube-apiserver: what it writes is,
//! when it is read, what the cluster is.

use std::{collections::BTreeMap, ffi::OsStr, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use http::{Method, Request};
use kai_api::names::component;
use kai_engine::{PodId, Stage};
use kai_scheduler::{names::Number, snapshot::Snapshot};
use kai_tests::{
    command_line::{self, Said},
    control_plane::{ControlPlane, assets},
    live::Place,
};
use kube::Client;
use kubectl_kai::Exit;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Time that the scheduler may take to come to rest.
const SETTLED_WITHIN: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_what_the_embedded_cluster_is() -> Result<()> {
    let place = Place::embedded().await?;
    let result = tell(&place).await;
    place.stop().await;
    result
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_what_a_real_cluster_is() -> Result<()> {
    let Some(assets) = assets("snapshot: a real kube-apiserver") else { return Ok(()) };
    let place = Place::real(ControlPlane::start(&assets, &[]).await?).await?;
    let result = tell(&place).await;
    place.stop().await;
    result
}

async fn tell(place: &Place) -> Result<()> {
    let client = place.admin().await?;
    fill(&client).await?;
    schedule(place, &client).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("cluster.zip");

    let taken = kai(&client, "default", &file, &["-o", "json"]).await;
    assert_eq!(taken.exit, Exit::Ok, "{}", taken.talk);
    let report: Value = serde_json::from_str(&taken.data)?;
    assert_eq!(report["leftOut"], json!([]), "{report}");
    let counts = ["pods", "nodes", "podGroups"].map(|key| &report["counts"][key]);
    assert_eq!(counts, [7, 2, 3], "{report}");
    let mut snapshot = Snapshot::read(&file)?;
    assert!(snapshot.is_dated && snapshot.server_version.is_some());
    assert_eq!(stands(&snapshot), in_cluster(&client).await?, "pods are where they are");
    let plan = snapshot.plan();
    assert_eq!(plan.changes, [], "the scheduler was at rest");
    let mut waits: Vec<&str> = plan
        .verdicts
        .iter()
        .filter(|verdict| verdict.why != kai_engine::Why::Satisfied)
        .map(|verdict| snapshot.ingest.context.names.group_name(verdict.group.number()).1)
        .collect();
    waits.sort_unstable();
    assert_eq!(waits, ["large", "mine"]);

    let again = kai(&client, "default", &file, &[]).await;
    assert_eq!(again.exit, Exit::Conflict, "{}", again.talk);
    let forced = kai(&client, "default", &file, &["--force"]).await;
    assert_eq!(forced.exit, Exit::Ok, "{}", forced.talk);
    let left: Vec<_> = std::fs::read_dir(folder.path())?.collect::<std::io::Result<_>>()?;
    assert_eq!(left.len(), 1, "nothing lies beside it: {left:?}");
    own_namespace_only(place, &client, folder.path()).await
}

/// A user who may read one namespace gets what is in it, and is told what is missing.
async fn own_namespace_only(place: &Place, client: &Client, folder: &Path) -> Result<()> {
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/own";
    let account = json!({"metadata": {"name": "reader"}});
    post(client, "/api/v1/namespaces/kai-scheduler/serviceaccounts", &account).await?;
    let rules = json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": ["scheduling.run.ai"], "resources": ["podgroups"], "verbs": ["list"]},
    ]);
    let role = json!({"metadata": {"name": "reader"}, "rules": rules});
    post(client, &format!("{rbac}/roles"), &role).await?;
    let binding = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "kai-scheduler", "name": "reader"}],
    });
    post(client, &format!("{rbac}/rolebindings"), &binding).await?;
    let reader = place.account("reader").await?;
    let file = folder.join("own.zip");
    // An API server may take a moment until it knows a new role.
    let end = Instant::now() + SETTLED_WITHIN;
    loop {
        let taken = kai(&reader, "own", &file, &["--force", "-o", "json"]).await;
        assert_eq!(taken.exit, Exit::Ok, "{}", taken.talk);
        let report: Value = serde_json::from_str(&taken.data)?;
        let left_out = report["leftOut"].to_string();
        if report["counts"]["pods"] == 1 {
            for part in [
                "nodes: you may not list them",
                "queues: you may not list them",
                "configMaps: you may not list them",
                "pods: only those of namespace own",
                "podGroups: only those of namespace own",
            ] {
                assert!(left_out.contains(part), "{part}: {left_out}");
                assert!(taken.talk.contains(part), "{part}: {}", taken.talk);
            }
            let snapshot = Snapshot::read(&file)?;
            assert_eq!(json!(snapshot.left_out), report["leftOut"], "the file says so as well");
            assert_eq!(stands(&snapshot), BTreeMap::from([("own/mine-0".into(), None)]));
            return Ok(());
        }
        ensure!(Instant::now() < end, "{report}");
        sleep(Duration::from_millis(200)).await;
    }
}

/// Two nodes of four GPUs, a gang that fits, one that does not, and a pod of somebody else.
async fn fill(client: &Client) -> Result<()> {
    for number in 0..2 {
        let amounts = json!({"cpu": "64", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "4"});
        let node = json!({
            "metadata": {"name": format!("n-{number}")},
            "status": {
                "allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}],
            },
        });
        post(client, "/api/v1/nodes", &node).await?;
    }
    let all = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
    let queue = json!({
        "apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"},
        "spec": {"resources": {"gpu": all, "cpu": all, "memory": all}},
    });
    post(client, "/apis/scheduling.run.ai/v2/queues", &queue).await?;
    post(client, "/api/v1/namespaces", &json!({"metadata": {"name": "own"}})).await?;
    let gang = |namespace, name, pods, gpus| Gang { namespace, name, queue: "q", pods, gpus };
    gang("default", "small", 3, 2).create(client).await?;
    gang("default", "large", 3, 4).create(client).await?;
    Gang { queue: "no-such-queue", ..gang("own", "mine", 1, 1) }.create(client).await
}

/// A pod group and its pods, all of which have to run at once.
struct Gang {
    namespace: &'static str,
    name: &'static str,
    queue: &'static str,
    pods: usize,
    /// GPUs of each pod.
    gpus: usize,
}

impl Gang {
    async fn create(self, client: &Client) -> Result<()> {
        let Self { namespace, name, queue, pods, gpus } = self;
        let group = json!({
            "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name},
            "spec": {"queue": queue, "minMember": pods},
        });
        let path = format!("/apis/scheduling.run.ai/v2alpha2/namespaces/{namespace}/podgroups");
        post(client, &path, &group).await?;
        for number in 0..pods {
            let container = json!({
                "name": "main", "image": "none", "env": [{"name": "PASSWORD", "value": "hunter2"}],
                "resources": {"limits": {"nvidia.com/gpu": gpus.to_string()}},
            });
            let pod = json!({
                "metadata": {"name": format!("{name}-{number}"), "annotations": {"pod-group-name": name}},
                "spec": {"schedulerName": "kai-scheduler", "containers": [container]},
            });
            // A namespace gets its service account a moment after it is there.
            let end = Instant::now() + SETTLED_WITHIN;
            while let Err(error) =
                post(client, &format!("/api/v1/namespaces/{namespace}/pods"), &pod).await
            {
                ensure!(Instant::now() < end, "{error}");
                sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }
}

/// Lets the scheduler come to rest, and ends it.
async fn schedule(place: &Place, client: &Client) -> Result<()> {
    let words = ["kai-scheduler", "--listen-address=127.0.0.1:0"].map(Into::into);
    let args = kai_scheduler::Args::from_command_line(words)?;
    let stop = CancellationToken::new();
    let account = place.account(component::SCHEDULER).await?;
    let scheduler = tokio::spawn(kai_scheduler::run(args, account, stop.clone()));
    let end = Instant::now() + SETTLED_WITHIN;
    loop {
        let bound = in_cluster(client).await?.values().flatten().count();
        let path = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups/large";
        let group = send(client, Method::GET, path, &Value::Null).await?;
        if bound == 3 && group["status"]["schedulingConditions"].is_array() {
            break;
        }
        ensure!(Instant::now() < end, "{bound} pods bound: {group}");
        sleep(Duration::from_millis(100)).await;
    }
    stop.cancel();
    scheduler.await??;
    Ok(())
}

/// Each pod of the cluster with its node.
async fn in_cluster(client: &Client) -> Result<BTreeMap<String, Option<String>>> {
    let list = send(client, Method::GET, "/api/v1/pods", &Value::Null).await?;
    let pods = list["items"].as_array().context("a list")?;
    Ok(pods
        .iter()
        .map(|pod| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let meta = &pod["metadata"];
            let node = pod["spec"]["nodeName"].as_str().map(str::to_owned);
            (format!("{}/{}", text(&meta["namespace"]), text(&meta["name"])), node)
        })
        .collect())
}

/// The same, as the engine has it.
fn stands(snapshot: &Snapshot) -> BTreeMap<String, Option<String>> {
    let names = &snapshot.ingest.context.names;
    let pods = names.pods.iter();
    pods.map(|(number, pod)| {
        let pod_id = PodId::new(number);
        let node =
            snapshot.cluster.node_of(pod_id).map(|node| names.nodes.key(node.number()).to_string());
        let is_pending = snapshot.cluster.stage(pod_id) == Stage::Pending;
        assert_eq!(is_pending, node.is_none(), "{} {}", pod.namespace, pod.name);
        (format!("{}/{}", pod.namespace, pod.name), node)
    })
    .collect()
}

async fn post(client: &Client, path: &str, body: &Value) -> Result<Value> {
    send(client, Method::POST, path, body).await
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) -> Result<Value> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body)?;
    client.request(request).await.with_context(|| path.to_owned())
}

/// `kubectl kai snapshot FILE FLAGS...`.
async fn kai(client: &Client, namespace: &str, file: &Path, flags: &[&str]) -> Said {
    let words = [OsStr::new("snapshot"), file.as_os_str()];
    let words = words.into_iter().chain(flags.iter().map(OsStr::new));
    command_line::kai(client.clone(), namespace, words).await
}
