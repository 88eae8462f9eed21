//! Admission on a real kube-apiserver: policies alone, then the webhooks of a podgrouper outside of the cluster.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use kai_tests::control_plane::{ControlPlane, assets, http_get};
use kube::{
    Client, Config,
    api::{Api, DynamicObject, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::{ApiResource, GroupVersionKind},
};
use kubectl_kai::install;
use podgrouper::Podgrouper;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

mod growth;
mod healing;
mod podgrouper;
mod replicas;
mod rotation;

const NAMESPACE: &str = "kai-scheduler";
const SECRET: &str = "kai-admission-webhook-tls-secret";
const REGISTRATION: &str = "admissionregistration.k8s.io/v1";
const MUTATING: &str = "MutatingWebhookConfiguration";
/// Time that something which heals by itself may take.
const HEALED_WITHIN: Duration = Duration::from_mins(1);

/// An API server with everything but the daemons in it.
async fn start(suite: &str) -> Result<Option<ControlPlane>> {
    let Some(assets) = assets(suite) else { return Ok(None) };
    let plane = ControlPlane::start(&assets, &[]).await?;
    let options = install::Options { wait: false, ..install::Options::without_daemons() };
    install::apply(plane.client().await?, &options, &mut |_| {}).await?;
    Ok(Some(plane))
}

fn api(
    client: &Client,
    api_version: &str,
    kind: &str,
    namespace: Option<&str>,
) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// Gives access to where an object is made.
fn home(client: &Client, object: &Value) -> Api<DynamicObject> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
    let is_namespaced = matches!(kind.as_str(), "Pod" | "PodGroup");
    api(client, &api_version, &kind, is_namespaced.then_some(namespace))
}

/// Asks what the API server says to an object: the object, or its message.
async fn create(client: &Client, object: &Value, dry: bool) -> Result<Result<Value, String>> {
    let params = PostParams { dry_run: dry, ..PostParams::default() };
    let made = home(client, object).create(&params, &serde_json::from_value(object.clone())?).await;
    answer(made)
}

fn answer(made: Result<DynamicObject, kube::Error>) -> Result<Result<Value, String>> {
    match made {
        Ok(made) => Ok(Ok(serde_json::to_value(made)?)),
        Err(kube::Error::Api(status)) => Ok(Err(status.message.clone())),
        Err(error) => Err(error.into()),
    }
}

async fn patch(
    api: &Api<DynamicObject>,
    name: &str,
    patch: &Value,
) -> Result<Result<Value, String>> {
    answer(api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await)
}

fn pod(name: &str, annotations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations},
        "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "image": "i"}]}})
}

#[track_caller]
fn check(what: &str, found: &Result<Value, String>, refused: Option<&str>) {
    match (found, refused) {
        (Ok(_), None) => {}
        (Err(why), Some(part)) if why.contains(part) => {}
        _ => panic!("{what}: {found:?}, want {refused:?}"),
    }
}

/// The files of the podgrouper's own tests: what webhooks refuse, policies refuse, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn policies_refuse_what_webhooks_refuse() -> Result<()> {
    const KINDS: [(&str, &str, &str); 3] = [
        ("validate-pod", "v1", "Pod"),
        ("validate-queue", "scheduling.run.ai/v2", "Queue"),
        ("validate-podgroup", "scheduling.run.ai/v2alpha2", "PodGroup"),
    ];
    /// Cases that CEL can't say, or only the Config knows.
    const ELSEWHERE: [&str; 3] = ["pod-sharing-switched-off", "pod-names-devices", "queue-quotas"];
    let Some(plane) = start("admission").await? else { return Ok(()) };
    let client = plane.client().await?;
    wait_for_policies(&plane).await?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../podgrouper/tests/admission");
    let mut count = 0;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let file: Value = serde_saphyr::from_str(&fs::read_to_string(&path)?)?;
        let row = KINDS.iter().find(|(hook, ..)| file["hook"] == *hook);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some((_, api_version, kind)) = row.filter(|_| !ELSEWHERE.contains(&stem.as_str()))
        else {
            continue;
        };
        for case in file["cases"].as_array().context("cases")? {
            // CEL cannot walk from a sub-group to those above it.
            let walks = ["cycle", "is below more than"];
            let refused = case["refused"].to_string();
            if !case["old"].is_null() || walks.iter().any(|words| refused.contains(words)) {
                continue;
            }
            let mut object = complete(&case["object"]);
            object["apiVersion"] = json!(api_version);
            object["kind"] = json!(kind);
            let found = create(&client, &object, true).await?;
            let wants_refusal = !case["refused"].is_null();
            assert_eq!(found.is_err(), wants_refusal, "{stem}: {object}: {found:?}");
            if let Err(why) = found {
                assert!(why.contains("ValidatingAdmissionPolicy"), "{stem}: {why}");
            }
            count += 1;
        }
    }
    assert!(count > 40, "{count} cases");
    Ok(())
}

/// The object of a case with what the API server wants besides.
fn complete(object: &Value) -> Value {
    let mut object = object.clone();
    if object["metadata"]["name"].is_null() {
        object["metadata"]["name"] = json!("x");
    }
    object["metadata"]["namespace"] = Value::Null;
    for list in ["containers", "initContainers"] {
        for row in object["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
        {
            row["image"] = json!("i");
        }
    }
    object
}

/// Policies hold a moment after they are made.
async fn wait_for_policies(plane: &ControlPlane) -> Result<()> {
    let client = &plane.client().await?;
    let bad = pod("bad", &json!({"gpu-fraction": "1.5"}));
    let queue = json!({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue",
        "metadata": {"name": "bad"}, "spec": {}});
    let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": {"name": "bad"}, "spec": {"minMember": 1, "minSubGroup": 1}});
    let mut elsewhere = bad.clone();
    elsewhere["metadata"]["namespace"] = json!("kai-resource-reservation");
    elsewhere["spec"]["schedulerName"] = json!("default-scheduler");
    let mut foreign = pod("foreign", &json!({"kai.scheduler/numa-placement-observed": "[]"}));
    foreign["spec"]["schedulerName"] = json!("default-scheduler");
    let somebody = user(plane, &[]).await?;
    eventually("all policies hold", async || {
        for (client, object) in [
            (client, &bad),
            (client, &queue),
            (client, &group),
            (&somebody, &elsewhere),
            (&somebody, &foreign),
        ] {
            if create(client, object, true).await?.is_ok() {
                return Ok(Err(format!("accepted: {object}")));
            }
        }
        Ok(Ok(()))
    })
    .await
}

async fn eventually<F>(what: &str, mut done: F) -> Result<()>
where
    F: AsyncFnMut() -> Result<Result<(), String>>,
{
    let end = Instant::now() + HEALED_WITHIN;
    loop {
        match done().await? {
            Ok(()) => return Ok(()),
            Err(seen) if Instant::now() > end => {
                bail!("waited {HEALED_WITHIN:?} until {what}: {seen}")
            }
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Waits until so many questions were asked: for a while the metrics may be those of before.
async fn until_asked(podgrouper: &Podgrouper, wanted: u64, what: &str) -> Result<()> {
    eventually(what, async || {
        let asked = podgrouper.asked().await?;
        Ok(if asked == wanted { Ok(()) } else { Err(format!("{asked} questions, not {wanted}")) })
    })
    .await
}

/// A client of a user of these groups, who may do anything with pods.
async fn user(plane: &ControlPlane, groups: &[&str]) -> Result<Client> {
    let admin = plane.client().await?;
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "developers"},
        "rules": [{"apiGroups": [""], "resources": ["pods", "pods/status", "pods/resize"], "verbs": ["*"]}]});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "developers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "developers"},
        "subjects": [{"kind": "Group", "name": "developers", "apiGroup": "rbac.authorization.k8s.io"}]});
    for object in [role, binding] {
        // It may be there from before.
        let _ = create(&admin, &object, false).await?;
    }
    let file = Kubeconfig::read_from(plane.kubeconfig())?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    let header = |name: &'static str, value: &str| -> Result<_> {
        Ok((http::HeaderName::from_static(name), http::HeaderValue::from_str(value)?))
    };
    config.headers.push(header("impersonate-user", "somebody")?);
    for group in ["developers", "system:authenticated"].iter().chain(groups) {
        config.headers.push(header("impersonate-group", group)?);
    }
    Ok(Client::try_from(config)?)
}

/// Says with which words a user may not make a change to a pod that waits.
fn refused_while_waiting(change: &str) -> Option<&'static str> {
    let names = |parts: &[&str]| parts.iter().any(|part| change.contains(part));
    if names(&["runai-gpu-group", "bound-", "numa-placement", "shared-gpu-configmap", "received-"])
    {
        return Some("only the scheduler");
    }
    names(&["gpu-fraction", "gpu-memory", "mig-"]).then_some("delete the pod")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_scheduler_wrote_is_not_for_users() -> Result<()> {
    let Some(plane) = start("admission").await? else { return Ok(()) };
    let admin = plane.client().await?;
    wait_for_policies(&plane).await?;
    for (name, node) in [("waiting", Value::Null), ("bound", json!("n")), ("daemons", json!("n"))] {
        let mut pod = pod(name, &json!({"gpu-fraction": "0.5", "pod-group-name": "pg"}));
        pod["metadata"]["labels"] = json!({"runai-gpu-group": "g", "a": "b"});
        pod["spec"]["nodeName"] = node;
        check(name, &create(&admin, &pod, false).await?, None);
    }
    let somebody = api(&user(&plane, &[]).await?, "v1", "Pod", Some("default"));
    let daemon = user(&plane, &["system:serviceaccounts:kai-scheduler"]).await?;
    let daemon = api(&daemon, "v1", "Pod", Some("default"));
    let label = |key: &str, value: Value| json!({"metadata": {"labels": {key: value}}});
    let annotation = |key: &str, value: Value| json!({"metadata": {"annotations": {key: value}}});
    for change in [
        label("runai-gpu-group", json!("other")),
        label("runai-gpu-group", Value::Null),
        label("runai-gpu-group/h", json!("h")),
        annotation("gpu-fraction", json!("0.1")),
        json!({"metadata": {"annotations": {"gpu-fraction": null, "gpu-memory": "7"}}}),
        annotation("gpu-fraction-num-devices", json!("2")),
        annotation("received-resource-type", json!("Regular")),
        annotation("runai/shared-gpu-configmap", json!("a-abc1234-shared-gpu")),
        annotation("pod-group-name", Value::Null),
        annotation("kai.scheduler/bound-queue", json!("other")),
        annotation("kai.scheduler/bound-preemptibility", json!("non-preemptible")),
        annotation("kai.scheduler/numa-placement-predicted", json!("[]")),
        annotation("kai.scheduler/numa-placement-observed", json!("[]")),
        annotation("nvidia.com/mig-1g.5gb", json!("7")),
    ] {
        let what = change.to_string();
        let found = patch(&somebody, "bound", &change).await?;
        check(&what, &found, Some("delete the pod"));
        let params = PatchParams::default();
        let found = somebody.patch_status("bound", &params, &Patch::Merge(&change)).await;
        check(&what, &answer(found)?, Some("delete the pod"));
        let found = patch(&somebody, "waiting", &change).await?;
        check(&what, &found, refused_while_waiting(&what));
        check(&what, &patch(&daemon, "daemons", &change).await?, None);
    }
    // Both kinds of share at once are nothing for anybody.
    let both = json!({"metadata": {"annotations": {"gpu-fraction": "0.5", "gpu-memory": "7"}}});
    for name in ["waiting", "daemons"] {
        check("both", &patch(&daemon, name, &both).await?, Some("exclude each other"));
    }
    for change in [
        label("a", json!("c")),
        annotation("note", json!("x")),
        json!({"metadata": {"finalizers": ["example.com/wait"]}}),
        json!({"metadata": {"finalizers": null}}),
        json!({"spec": {"containers": [{"name": "c", "image": "other"}]}}),
    ] {
        check(&change.to_string(), &patch(&somebody, "bound", &change).await?, None);
    }
    let mut placed = pod("placed", &json!({"gpu-fraction": "0.5"}));
    placed["spec"]["nodeName"] = json!("n");
    let found = create(&user(&plane, &[]).await?, &placed, true).await?;
    check("a share on a node", &found, Some("remove spec.nodeName"));
    for key in ["kai.scheduler/bound-queue", "received-resource-type", "nvidia.com/mig-1g.5gb"] {
        let mut placed = pod("placed", &json!({key: "7"}));
        placed["spec"]["nodeName"] = json!("n");
        let found = create(&user(&plane, &[]).await?, &placed, true).await?;
        check(key, &found, Some("or spec.nodeName"));
    }
    let running = Patch::Merge(json!({"status": {"phase": "Running"}}));
    let found = somebody.patch_status("bound", &PatchParams::default(), &running).await;
    check("status", &answer(found)?, None);
    Ok(())
}

/// Says that the exporter, which looks at the node, says it, and nobody else.
#[tokio::test(flavor = "multi_thread")]
async fn which_zones_a_pod_of_another_scheduler_has_is_not_for_users() -> Result<()> {
    let Some(plane) = start("admission").await? else { return Ok(()) };
    wait_for_policies(&plane).await?;
    let somebody = user(&plane, &[]).await?;
    let exporter = user(&plane, &["system:serviceaccounts:kai-scheduler"]).await?;
    let annotate = |value: Value| json!({"kai.scheduler/numa-placement-observed": value});
    let refused = Some("only KAI's exporter");
    let mut foreign = pod("foreign", &annotate(json!("[]")));
    foreign["spec"]["schedulerName"] = json!("default-scheduler");
    check("creation", &create(&somebody, &foreign, true).await?, refused);
    foreign["metadata"]["annotations"] = Value::Null;
    check("without zones", &create(&somebody, &foreign, false).await?, None);
    for (value, is_exporter) in [(json!("[]"), false), (json!("[]"), true), (Value::Null, false)] {
        let client = if is_exporter { &exporter } else { &somebody };
        let pods = api(client, "v1", "Pod", Some("default"));
        let change = json!({"metadata": {"annotations": annotate(value)}});
        let found = patch(&pods, "foreign", &change).await?;
        check(&change.to_string(), &found, refused.filter(|_| !is_exporter));
        let note = json!({"metadata": {"annotations": {"note": "x"}}});
        check("a note", &patch(&pods, "foreign", &note).await?, None);
    }
    Ok(())
}

const SERVED: [&str; 2] =
    ["--webhook-listen-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0"];

/// Waits until a pod that shares is changed by the webhook.
async fn until_mutated(client: &Client) -> Result<()> {
    let half = pod("probe", &json!({"gpu-fraction": "0.5"}));
    eventually("pods are mutated", async || {
        Ok(match create(client, &half, true).await? {
            Ok(made) if !made["spec"]["volumes"].is_null() => Ok(()),
            other => Err(format!("{other:?}")),
        })
    })
    .await
}

/// Waits until the podgrouper has marked a pod: it is asked about that change too.
async fn until_grouped(client: &Client, name: &str) -> Result<()> {
    let path = format!("/api/v1/namespaces/default/pods/{name}");
    eventually("the pod is grouped", async || {
        let pod: Value = client.request(http_get(&path)).await?;
        let is_grouped = pod["metadata"]["annotations"]["pod-group-name"].is_string();
        Ok(if is_grouped { Ok(()) } else { Err(pod["metadata"].to_string()) })
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_mutated_and_judged_as_the_config_says() -> Result<()> {
    let Some(plane) = start("admission").await? else { return Ok(()) };
    let admin = plane.client().await?;
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
        "metadata": {"name": "nvidia"}, "handler": "nvidia"});
    check("class", &create(&admin, &class, false).await?, None);
    let podgrouper = Podgrouper::start(&plane, &SERVED).await?;
    until_mutated(&admin).await?;
    let made = create(&admin, &pod("half", &json!({"gpu-fraction": "0.5"})), false).await?;
    let made = made.map_err(anyhow::Error::msg)?;
    let map = made["metadata"]["annotations"]["runai/shared-gpu-configmap"].as_str();
    let map = map.context("a config map")?;
    let container = &made["spec"]["containers"][0];
    assert_eq!(container["env"][0]["valueFrom"]["configMapKeyRef"]["name"], format!("{map}-0"));
    assert_eq!(container["envFrom"][0]["configMapRef"]["name"], format!("{map}-0-evar"));
    assert_eq!(made["spec"]["volumes"][0]["configMap"]["name"], format!("{map}-0"));
    assert_eq!(made["spec"]["runtimeClassName"], "nvidia");
    until_grouped(&admin, "half").await?;
    refusals(&admin).await?;
    let asked = nobody_else_is_asked_about(&admin, &podgrouper).await?;
    notes_on_groups_are_not_asked_about(&admin, &podgrouper, asked).await?;
    switches(&admin).await?;
    podgrouper.stop().await
}

async fn refusals(admin: &Client) -> Result<()> {
    let other = json!({"gpu-fraction": "0.5", "gpu-fraction-container-name": "nosuch"});
    check("container", &create(admin, &pod("p", &other), true).await?, Some("\"nosuch\""));
    let bad = json!({"gpu-fraction": "NaN"});
    check("NaN", &create(admin, &pod("p", &bad), true).await?, Some("smaller than 1.0"));
    let topology = json!({"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology",
        "metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "b", "alias": "x"}, {"nodeLabel": "a", "alias": "x"}]}});
    let why = "invalid topology aliases: duplicate aliases [x], aliases that are node labels of this topology []; each";
    check("topology", &create(admin, &topology, true).await?, Some(why));
    let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": {"name": "g"}, "spec": {"subGroups": [{"name": "a", "parent": "a"}]}});
    check("cycle", &create(admin, &group, true).await?, Some("cycle detected in subgroups"));
    Ok(())
}

/// Returns how many questions have been asked at its end.
async fn nobody_else_is_asked_about(admin: &Client, podgrouper: &Podgrouper) -> Result<u64> {
    // Nobody has read the metrics before, so that no older text is answered.
    let before = podgrouper.asked().await?;
    ensure!(before > 0, "no questions are counted");
    let mut foreign = pod("foreign", &json!({"gpu-fraction": "7"}));
    foreign["spec"]["schedulerName"] = json!("default-scheduler");
    check("another scheduler's", &create(admin, &foreign, true).await?, None);
    for namespace in ["kube-system", NAMESPACE] {
        let mut own = pod("own", &json!({"gpu-fraction": "7"}));
        own["metadata"]["namespace"] = json!(namespace);
        own["spec"]["securityContext"] =
            json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
        own["spec"]["containers"][0]["securityContext"] =
            json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
        check(namespace, &create(admin, &own, true).await?, None);
    }
    check("ours", &create(admin, &pod("p", &json!({})), true).await?, None);
    until_asked(podgrouper, before + 2, "of four pods one is changed and judged").await?;
    Ok(before + 2)
}

/// The scheduler's notes wait for no answer, and a spec is judged as ever.
async fn notes_on_groups_are_not_asked_about(
    admin: &Client,
    podgrouper: &Podgrouper,
    before: u64,
) -> Result<()> {
    let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": {"name": "noted"}, "spec": {"minMember": 1}});
    check("a group", &create(admin, &group, false).await?, None);
    let groups = api(admin, "scheduling.run.ai/v2alpha2", "PodGroup", Some("default"));
    let at = json!({"kai.scheduler/last-eviction-timestamp": "2026-01-01T00:00:00Z"});
    let note = json!({"metadata": {"annotations": at}});
    check("a note", &patch(&groups, "noted", &note).await?, None);
    let cycle = json!({"spec": {"subGroups": [{"name": "a", "parent": "a"}]}});
    check("a cycle", &patch(&groups, "noted", &cycle).await?, Some("cycle detected in subgroups"));
    until_asked(podgrouper, before + 2, "of a group, a note and a cycle two are judged").await
}

/// The Config takes effect while everything runs.
async fn switches(admin: &Client) -> Result<()> {
    let config = api(admin, "kai.scheduler/v1", "Config", None);
    let half = pod("p", &json!({"gpu-fraction": "0.5"}));
    let off = json!({"spec": {"admission": {"gpuSharing": false}}});
    check("off", &patch(&config, "kai-config", &off).await?, None);
    eventually("sharing is off", async || {
        let found = create(admin, &half, true).await?;
        let is_off = found.as_ref().is_err_and(|why| why.contains("GPU sharing is disabled"));
        Ok(if is_off { Ok(()) } else { Err(format!("{found:?}")) })
    })
    .await?;
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let pods = api(admin, "v1", "Pod", Some("default"));
    check("a label", &patch(&pods, "half", &label).await?, None);
    let on = json!({"spec": {"admission": {"gpuSharing": true, "gpuFractionRuntimeClassName": ""},
        "queueController": {"webhooks": {"enableValidation": false}}}});
    check("on", &patch(&config, "kai-config", &on).await?, None);
    eventually("sharing is on, without a class", async || {
        let found = create(admin, &half, true).await?;
        let is_on = found.as_ref().is_ok_and(|pod| pod["spec"]["runtimeClassName"].is_null());
        Ok(if is_on { Ok(()) } else { Err(format!("{found:?}")) })
    })
    .await?;
    let registrations = api(admin, REGISTRATION, "ValidatingWebhookConfiguration", None);
    eventually("the registration of queues is gone", async || {
        let found = registrations.get_opt("kai-queue-validation-v2").await?;
        Ok(if found.is_none() { Ok(()) } else { Err("there".to_owned()) })
    })
    .await
}
