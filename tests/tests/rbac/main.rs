//! Every daemon's roles are what it uses: computed from the audit log of a real kube-apiserver, to the verb.
//!
//! The daemons are taken through all they do: every kind of owner, gangs that fit and do not, evictions, a crash of the
//! API server, shards, native gangs. A right that was refused, and one that was given and never used, are findings.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use kai_api::names::component;
use kai_tests::{
    cluster::{Cluster, NAMESPACE, Setup, processes},
    control_plane::assets,
    rights::{Right, Use, granted, is_unseen, owner_kinds, used},
    stage::scene::documents,
};
use kube::{
    Client,
    api::{Api, DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
    discovery::{Scope, pinned_kind},
};
use serde_json::{Value, json};
use tokio::time::sleep;

mod objects;
mod past_use;
mod scaling;

use objects::{devices, sharing, special_pods, volumes};
use past_use::past_use;
use scaling::scaling;

const POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts:kai-scheduler"]}]}"#;

const PODGROUPER_FLAGS: [&str; 4] = [
    "--cluster-autoscaling",
    "--namespace-label-selector=kai.scheduler/test=true",
    "--default-priorities-configmap-namespace=default",
    "--default-priorities-configmap-name=types",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_right_is_used_and_every_use_is_a_right() -> Result<()> {
    let Some(assets) = assets("rbac") else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let (log, policy) = (folder.path().join("audit.log"), folder.path().join("policy.json"));
    fs::write(&policy, POLICY)?;
    let flags = [
        format!("--audit-log-path={}", log.display()),
        format!("--audit-policy-file={}", policy.display()),
        "--feature-gates=GenericWorkload=true,GangScheduling=true,WatchList=false".to_owned(),
        "--runtime-config=scheduling.k8s.io/v1alpha2=true".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let setup = Setup { nodes: "3xH100:8", operators: None, api_server_flags: &flags };
    let mut cluster = Cluster::start(&assets, setup).await?;
    admission(&mut cluster).await?;
    start_podgrouper(&mut cluster, &log).await?;
    cluster.scheduler.stop()?;
    begun_bind(&cluster.client().await?).await?;
    let more = ["--leader-elect=true", "--schedule-csi-storage"];
    cluster.scheduler = processes::start_scheduler(&cluster.plane, "kai-scheduler", &more).await?;
    act(&mut cluster).await?;
    cluster.plane.crash_api_server().await?;
    // What is left to be used comes with watches that start again, each with a list of one object.
    let mut left = Vec::new();
    for _ in 0..30 {
        left = findings(&log)?;
        if left.is_empty() {
            return Ok(());
        }
        sleep(Duration::from_secs(4)).await;
    }
    ensure!(left.is_empty(), "{}\n{}", left.join("\n"), cluster.logs());
    Ok(())
}

/// Lists what the log and the roles say differently of the daemons' accounts.
fn findings(log: &Path) -> Result<Vec<String>> {
    let used = used(log)?;
    let mut findings = Vec::new();
    for account in [component::SCHEDULER, component::PODGROUPER] {
        let nothing = Use::default();
        let of_account = used.get(account).unwrap_or(&nothing);
        let mut roles =
            granted(&deploy(&format!("rbac/{}.yaml", account.trim_start_matches("kai-"))))?;
        if account == component::PODGROUPER {
            roles.extend(granted(&deploy("rbac/scale-adjust.yaml"))?);
        }
        let is_named = |agent: &&String| agent.starts_with(&format!("{account}/"));
        for agent in of_account.agents.iter().filter(|agent| !is_named(agent)) {
            findings.push(format!("{account} sends requests as \"{agent}\""));
        }
        // An API server that has just started refuses for a moment what it allows.
        for (group, resource, verb) in of_account.refused.difference(&of_account.granted) {
            findings.push(format!("{account} may not {verb} {resource}.{group}"));
        }
        for right in roles.difference(&of_account.granted) {
            let (group, resource, verb) = right;
            if !is_unseen(account, right) {
                findings.push(format!("{account} has {verb} {resource}.{group} and never used it"));
            }
        }
    }
    Ok(findings)
}

fn deploy(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(file)
}

/// A bind that another scheduler began.
async fn begun_bind(client: &Client) -> Result<()> {
    let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": {"name": "begun"}, "spec": {"queue": "default-queue", "minMember": 1}});
    create(client, &group).await?;
    let of_group = json!({"annotations": {"pod-group-name": "begun"}});
    create(client, &pod("begun", &of_group, &json!({}))).await?;
    create(
        client,
        &json!({"apiVersion": "scheduling.run.ai/v1alpha2", "kind": "BindRequest",
        "metadata": {"name": "begun"}, "spec": {"podName": "begun", "selectedNode": "node-1",
            "receivedResourceType": "Regular", "receivedGPU": {"count": 0, "portion": "1"}}}),
    )
    .await
    .map(|_| ())
}

/// Takes both daemons through everything they do.
async fn act(cluster: &mut Cluster) -> Result<()> {
    let client = cluster.client().await?;
    let namespace = json!({"metadata": {"labels": {"kai.scheduler/test": "true"}}});
    let gvk = GroupVersionKind::gvk("", "v1", "Namespace");
    let (resource, _) = pinned_kind(&client, &gvk).await?;
    let namespaces: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    namespaces.patch("default", &PatchParams::default(), &Patch::Merge(&namespace)).await?;
    let types = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "types"},
        "data": {"types": "[]"}});
    create(&client, &types).await?;
    let rows = owner_kinds(&deploy("rbac/podgrouper.yaml"))?;
    for (group, version, kind, plural) in &rows {
        install_kind(&client, [group, version, kind, plural]).await?;
    }
    let mut owned = Vec::new();
    for (group, version, kind, _) in &rows {
        owned.push(pod_below(&client, [group, version, kind]).await?);
    }
    for pod in &owned {
        wait_marked(cluster, &client, pod).await?;
    }
    special_pods(&client).await?;
    devices(cluster, &client).await?;
    sharing(cluster, &client).await?;
    scaling(cluster, &client).await?;
    volumes(&client).await?;
    shards(cluster, &client).await?;
    past_use(cluster, &client).await?;
    gangs(cluster, &client).await?;
    budgets(cluster, &client).await
}

/// Runs a podgrouper that serves admission: what others break it puts right, and what is switched off it takes back.
async fn admission(cluster: &mut Cluster) -> Result<()> {
    cluster.podgrouper.stop()?;
    let flags = ["--webhook-listen-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0"];
    cluster.podgrouper = processes::start_podgrouper(&cluster.plane, &flags).await?;
    let client = cluster.client().await?;
    let api = |group: &str, version: &str, kind: &str| -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk(group, version, kind);
        Api::all_with(client.clone(), &ApiResource::from_gvk(&gvk))
    };
    let group = "admissionregistration.k8s.io";
    let registrations = api(group, "v1", "MutatingWebhookConfiguration");
    let name = "mutating-kai-admission";
    let policy = async |wanted: Option<&str>| {
        cluster
            .wait_until("the registration", async || {
                let found = registrations.get_opt(name).await?;
                let policy = found.map(|found| found.data["webhooks"][0]["failurePolicy"].clone());
                let is_so = policy == wanted.map(Into::into);
                Ok(if is_so { Ok(()) } else { Err(format!("{policy:?}")) })
            })
            .await
    };
    policy(Some("Fail")).await?;
    let edit = json!([{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]);
    let edit: Patch<()> = Patch::Json(serde_json::from_value(edit)?);
    registrations.patch(name, &PatchParams::default(), &edit).await?;
    policy(Some("Fail")).await?;
    let others = api(group, "v1", "ValidatingWebhookConfiguration");
    let queues = "kai-queue-validation-v2";
    let refuses = async || {
        cluster
            .wait_until("the registration of queues", async || {
                let found = others.get_opt(queues).await?;
                let policy = found.map(|one| one.data["webhooks"][0]["failurePolicy"].clone());
                let is_so = policy == Some("Fail".into());
                Ok(if is_so { Ok(()) } else { Err(format!("{policy:?}")) })
            })
            .await
    };
    refuses().await?;
    others.patch(queues, &PatchParams::default(), &edit).await?;
    refuses().await?;
    let secrets = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Secret"));
    let secrets: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &secrets);
    let secret = "kai-admission-webhook-tls-secret";
    let broken = json!({"stringData": {"tls.key": "nonsense"}});
    let broken = secrets.patch(secret, &PatchParams::default(), &Patch::Merge(&broken)).await?;
    cluster
        .wait_until("the certificate", async || {
            let found = secrets.get(secret).await?;
            let is_whole = found.data["data"] != broken.data["data"];
            Ok(if is_whole { Ok(()) } else { Err("broken".to_owned()) })
        })
        .await?;
    let off = json!({"webhooks": {"enableValidation": false}});
    let off = json!({"spec": {"admission": {"service": {"enabled": false}}, "queueController": off,
        "podGroupController": off}});
    let configs = api("kai.scheduler", "v1", "Config");
    configs.patch("kai-config", &PatchParams::default(), &Patch::Merge(&off)).await?;
    policy(None).await?;
    cluster
        .wait_until("no registration", async || {
            let left = others.list(&kube::api::ListParams::default()).await?.items.len();
            Ok(if left == 0 { Ok(()) } else { Err(format!("{left} left")) })
        })
        .await
}

/// Runs a podgrouper with a Lease until it has done all that it may with one, and then one without, which no crash of the
/// API server ends, however long that takes.
async fn start_podgrouper(cluster: &mut Cluster, log: &Path) -> Result<()> {
    cluster.podgrouper.stop()?;
    let flags = [&["--leader-elect"], &PODGROUPER_FLAGS[..]].concat();
    cluster.podgrouper = processes::start_podgrouper(&cluster.plane, &flags).await?;
    let rights = granted(&deploy("rbac/podgrouper.yaml"))?;
    let of_leases: Vec<&Right> =
        rights.iter().filter(|(_, resource, _)| resource == "leases").collect();
    ensure!(!of_leases.is_empty(), "no right to leases");
    cluster
        .wait_until("a Lease", async || {
            let done = used(log)?.remove(component::PODGROUPER).unwrap_or_default().granted;
            let left: Vec<_> = of_leases.iter().filter(|right| !done.contains(right)).collect();
            Ok(if left.is_empty() { Ok(()) } else { Err(format!("not yet: {left:?}")) })
        })
        .await?;
    cluster.podgrouper.stop()?;
    cluster.podgrouper = processes::start_podgrouper(&cluster.plane, &PODGROUPER_FLAGS).await?;
    Ok(())
}

/// A definition of a kind that takes anything, where the API server has none.
async fn install_kind(client: &Client, [group, version, kind, plural]: [&str; 4]) -> Result<()> {
    if matches!(group, "apps" | "batch") {
        return Ok(());
    }
    create(client, &json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}"),
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test's"}},
        "spec": {"group": group, "scope": if plural == "kartas" { "Cluster" } else { "Namespaced" },
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    }))
    .await
    .map(|_| ())
}

/// Creates an object of a kind and a pod that it owns; the pod's name.
async fn pod_below(client: &Client, [group, version, kind]: [&String; 3]) -> Result<String> {
    let name = format!("{}-{}", kind.to_lowercase(), group.replace('.', "-"));
    let api_version = format!("{group}/{version}");
    let pods = json!({"metadata": {"labels": {"app": name}}, "spec": {"restartPolicy": "Always",
        "containers": [{"name": "c", "image": "i"}]}});
    let mut job = pods.clone();
    job["spec"]["restartPolicy"] = json!("Never");
    let spec = match kind.as_str() {
        "Deployment" | "ReplicaSet" => json!({"replicas": 0,
            "selector": {"matchLabels": {"app": name}}, "template": pods}),
        "StatefulSet" => json!({"replicas": 0, "serviceName": "s",
            "selector": {"matchLabels": {"app": name}}, "template": pods}),
        "Job" => json!({"suspend": true, "template": job}),
        "CronJob" => json!({"suspend": true, "schedule": "* * * * *",
            "jobTemplate": {"spec": {"template": job}}}),
        _ => json!({}),
    };
    let object =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec});
    let owner = create(client, &object).await?;
    create(
        client,
        &pod(
            &name,
            &json!({"ownerReferences":
        [{"apiVersion": api_version, "kind": kind, "name": name, "uid": owner}]}),
            &json!({}),
        ),
    )
    .await?;
    Ok(name)
}

/// A pod of the scheduler with more metadata and spec.
fn pod(name: &str, meta: &Value, spec: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "image": "i"}]}});
    for (table, more) in [("metadata", meta), ("spec", spec)] {
        for (key, value) in more.as_object().into_iter().flatten() {
            pod[table][key] = value.clone();
        }
    }
    pod
}

/// Creates an object; its UID.
async fn create(client: &Client, object: &Value) -> Result<String> {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
    let gvk = GroupVersionKind::gvk(group, version, text("kind"));
    // A kind that was just defined is served a moment later.
    let mut tries_left = 60;
    let (resource, capabilities) = loop {
        match pinned_kind(client, &gvk).await {
            Err(_) if tries_left > 0 => tries_left -= 1,
            served => break served.with_context(|| format!("{object}"))?,
        }
        sleep(Duration::from_secs(1)).await;
    };
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => {
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
    };
    let body = serde_json::from_value(object.clone())?;
    let created = api.create(&PostParams::default(), &body).await;
    let created = created.with_context(|| format!("failed to create {object}"))?;
    created.metadata.uid.context("a created object has a UID")
}

async fn read_pod(client: &Client, name: &str) -> Result<Value> {
    let (resource, _) = pinned_kind(client, &GroupVersionKind::gvk("", "v1", "Pod")).await?;
    let api: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
    Ok(serde_json::to_value(api.get(name).await?)?)
}

/// Waits until a pod was grouped, or an event says why it was not.
async fn wait_marked(cluster: &Cluster, client: &Client, name: &str) -> Result<()> {
    cluster
        .wait_until(&format!("pod {name}"), async || {
            let pod = read_pod(client, name).await?;
            let is_marked = !pod["metadata"]["annotations"]["pod-group-name"].is_null();
            let (resource, _) =
                pinned_kind(client, &GroupVersionKind::gvk("", "v1", "Event")).await?;
            let api: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
            let events = api.list(&kube::api::ListParams::default()).await?;
            let is_told = events.items.iter().any(|event| {
                event.data["involvedObject"]["name"] == name
                    && event.data["reason"] == "PodGrouperWarning"
            });
            Ok(if is_marked || is_told {
                Ok(())
            } else {
                Err("neither marked nor told".to_owned())
            })
        })
        .await
}

/// A shard, and changes of the Deployment and the Service that it got.
async fn shards(cluster: &Cluster, client: &Client) -> Result<()> {
    for object in documents(&deploy("scheduler.yaml"))? {
        create(client, &object).await?;
    }
    create(
        client,
        &json!({"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard",
        "metadata": {"name": "blue"}, "spec": {"partitionLabelValue": "blue"}}),
    )
    .await?;
    let name = "kai-scheduler-blue";
    for (group, version, kind, path) in
        [("apps", "v1", "Deployment", "replicas"), ("", "v1", "Service", "selector")]
    {
        let (resource, _) =
            pinned_kind(client, &GroupVersionKind::gvk(group, version, kind)).await?;
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &resource);
        cluster
            .wait_until(&format!("{kind} of the shard"), async || {
                Ok(api.get_opt(name).await?.map(|_| ()).ok_or_else(|| "not there".to_owned()))
            })
            .await?;
        let edited = if kind == "Service" { json!({"app": "other"}) } else { json!(0) };
        let patch = json!({"spec": {path: edited}});
        api.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    }
    // The Service is looked at when the Deployment or the shard changes.
    let (resource, _) =
        pinned_kind(client, &GroupVersionKind::gvk("apps", "v1", "Deployment")).await?;
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &resource);
    let touch = json!({"metadata": {"annotations": {"touch": "1"}}});
    api.patch(name, &PatchParams::default(), &Patch::Merge(&touch)).await?;
    sleep(Duration::from_secs(3)).await;
    Ok(())
}

/// Gangs that fit, that do not, and one that is evicted for another.
async fn gangs(cluster: &Cluster, client: &Client) -> Result<()> {
    cluster.kai_ok(&["queues", "create", "team", "--gpu-quota", "8", "--yes"])?;
    cluster.kai_ok(&["queues", "create", "guest", "--gpu-quota", "0", "--yes"])?;
    for (name, queue, count, gpus) in
        [("guests", "guest", 2, 8), ("owner", "team", 1, 8), ("toobig", "team", 1, 16)]
    {
        create(client, &job(name, queue, count, gpus)).await?;
        if gpus == 8 {
            wait_bound(cluster, client, name, count).await?;
        }
    }
    sleep(Duration::from_secs(10)).await;
    Ok(())
}

/// A job of so many pods with so many GPUs each, all or none.
fn job(name: &str, queue: &str, count: usize, gpus: u32) -> Value {
    let template = json!({"spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "i", "command": ["sleep", "600"],
            "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}});
    json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "labels": {"kai.scheduler/queue": queue},
            "annotations": {"kai.scheduler/batch-min-member": count.to_string()}},
        "spec": {"parallelism": count, "completions": count, "template": template}})
}

/// An eviction that a budget may refuse.
async fn budgets(cluster: &mut Cluster, client: &Client) -> Result<()> {
    cluster.scheduler.stop()?;
    let more = ["--leader-elect=true", "--schedule-csi-storage", "--respect-disruption-budgets"];
    cluster.scheduler = processes::start_scheduler(&cluster.plane, "kai-scheduler", &more).await?;
    cluster.kai_ok(&["queues", "create", "late", "--gpu-quota", "8", "--yes"])?;
    create(client, &job("late", "late", 1, 8)).await?;
    wait_bound(cluster, client, "late", 1).await
}

async fn wait_bound(cluster: &Cluster, client: &Client, prefix: &str, count: usize) -> Result<()> {
    cluster
        .wait_until(&format!("{count} pods of {prefix}"), async || {
            let (resource, _) =
                pinned_kind(client, &GroupVersionKind::gvk("", "v1", "Pod")).await?;
            let api: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
            let pods = api.list(&kube::api::ListParams::default()).await?;
            let is_bound = |pod: &&DynamicObject| {
                let name = pod.metadata.name.as_deref().unwrap_or_default();
                name.starts_with(prefix) && !pod.data["spec"]["nodeName"].is_null()
            };
            let bound = pods.items.iter().filter(is_bound).count();
            Ok(if bound >= count { Ok(()) } else { Err(format!("{bound} of {:?}", pods.items)) })
        })
        .await
}
