//! The chart in `deploy/chart` by the real Helm: it renders what `kubectl kai install` applies, its values do what they
//! say, what it does not know is refused, and a real API server takes, keeps and gives back what it installs.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};
use kai_tests::{
    cluster::processes::run_cli,
    control_plane::{ControlPlane, assets, tool},
};
use kubectl_kai::install::{Component, Options, objects};
use serde_json::{Value, json};

const SUITE: &str = "chart: rendered and installed by Helm";
const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/chart");
const MANAGED_BY: &str = "/metadata/labels/app.kubernetes.io~1managed-by";

/// The real Helm, with nothing of this machine's settings.
struct Helm {
    program: PathBuf,
    home: tempfile::TempDir,
}

impl Helm {
    /// Finds it; `None` after one line that says how to get it.
    fn find() -> Result<Option<Self>> {
        let Some(program) = tool(SUITE, "helm")? else { return Ok(None) };
        Ok(Some(Self { program, home: tempfile::tempdir()? }))
    }

    fn run(&self, words: &[&str]) -> Result<Output> {
        let mut helm = Command::new(&self.program);
        helm.args(words).env_clear().env("HOME", self.home.path());
        helm.output().context("failed to start helm")
    }

    fn succeed(&self, words: &[&str]) -> Result<String> {
        let output = self.run(words)?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "helm {words:?}: {told}");
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Renders the chart: objects by kind, namespace and name.
    fn template(&self, namespace: &str, flags: &[&str]) -> Result<BTreeMap<String, Value>> {
        let words = ["template", "kai", CHART, "--namespace", namespace, "--include-crds"];
        let text = self.succeed(&[&words, flags].concat())?;
        read(&text)
    }
}

/// Reads documents, none of which may be there twice.
fn read(text: &str) -> Result<BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for document in serde_yaml_documents(text)? {
        if !document.is_null() {
            let before = found.insert(key(&document), document);
            ensure!(before.is_none(), "{before:?} is there twice");
        }
    }
    Ok(found)
}

fn serde_yaml_documents(text: &str) -> Result<Vec<Value>> {
    let documents = text.split("\n---\n").map(|text| {
        let text = text.trim_start_matches("---\n");
        serde_saphyr::from_str::<Value>(text).with_context(|| format!("no YAML:\n{text}"))
    });
    documents.collect()
}

fn key(object: &Value) -> String {
    let word = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}/{}", word("/kind"), word("/metadata/namespace"), word("/metadata/name"))
}

#[test]
fn helm_renders_what_the_command_line_applies() -> Result<()> {
    let Some(helm) = Helm::find()? else { return Ok(()) };
    for namespace in ["kai-scheduler", "elsewhere"] {
        let mut options = Options { namespace: namespace.to_owned(), ..Options::default() };
        options.components.push(Component::FlowControl);
        let mut expected: BTreeMap<String, Value> =
            objects(&options).into_iter().map(|(_, object)| (key(&object), object)).collect();
        let values = "global.createNamespace=true,flowControl.enabled=true";
        let mut rendered = helm.template(namespace, &["--set", values])?;
        // Definitions are applied as they are written; who manages the rest is said in a label.
        for (name, object) in &mut rendered {
            let wanted =
                if name.starts_with("CustomResourceDefinition") { None } else { Some("Helm") };
            let told = object.pointer(MANAGED_BY).and_then(Value::as_str);
            assert_eq!(told, wanted, "{name}");
        }
        for object in rendered.values_mut().chain(expected.values_mut()) {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                let is_definition = object_is_definition(metadata);
                if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
                    labels.retain(|key, _| {
                        key != "app.kubernetes.io/managed-by"
                            && !(is_definition && key.starts_with("app.kubernetes.io/"))
                    });
                }
                metadata.retain(|key, value| key != "labels" || value != &json!({}));
            }
        }
        let names = |objects: &BTreeMap<String, Value>| objects.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&rendered), names(&expected), "{namespace}");
        for (name, object) in &expected {
            assert_eq!(&rendered[name], object, "{namespace}: {name}");
        }
    }
    Ok(())
}

fn object_is_definition(metadata: &serde_json::Map<String, Value>) -> bool {
    let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
    name.contains('.')
}

/// Says what a value changes: flags, the object, the place in it, what is there then.
const VALUES: &[(&[&str], &str, &str, &str)] = &[
    (
        &["global.registry=r.example/a"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/template/spec/containers/0/image",
        r#""r.example/a/kai-scheduler:0.1.0""#,
    ),
    (
        &["global.tag=v2"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/containers/0/image",
        r#""ghcr.io/kubectl-kai/kai-scheduler:v2""#,
    ),
    (
        &["global.tag=sha256:ab"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/containers/0/image",
        r#""ghcr.io/kubectl-kai/kai-scheduler@sha256:ab""#,
    ),
    (
        &["scheduler.image.tag=v3,scheduler.image.name=mine"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/template/spec/containers/0/image",
        r#""ghcr.io/kubectl-kai/mine:v3""#,
    ),
    (
        &["global.imagePullPolicy=Always"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/containers/0/imagePullPolicy",
        r#""Always""#,
    ),
    (
        &["global.imagePullSecrets={a}"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/imagePullSecrets",
        r#"[{"name": "a"}]"#,
    ),
    (
        &["global.imagePullSecrets[0].name=b"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/imagePullSecrets",
        r#"[{"name": "b"}]"#,
    ),
    (&["global.gpuSharing=false"], "Config /kai-config", "/spec/admission/gpuSharing", "false"),
    (
        &["global.blockNvidiaVisibleDevices=true"],
        "Config /kai-config",
        "/spec/admission/blockNvidiaVisibleDevices",
        "true",
    ),
    (
        &["global.clusterAutoscaling=true"],
        "Config /kai-config",
        "/spec/nodeScaleAdjuster/service/enabled",
        "true",
    ),
    (
        &["nodescaleadjuster.scalingPodImage.repository=r.example"],
        "Config /kai-config",
        "/spec/nodeScaleAdjuster/args/scalingPodImage",
        r#"{"repository": "r.example"}"#,
    ),
    (
        &["podgrouper.genericKartaFallback=false"],
        "Config /kai-config",
        "/spec/podGrouper/args/genericKartaFallback",
        "false",
    ),
    (
        &["binder.resourceReservation.runtimeClassName=a"],
        "Config /kai-config",
        "/spec/binder/resourceReservation/runtimeClassName",
        r#""a""#,
    ),
    (
        &["binder.resourceReservation.runtimeClassName=a", "binder.runtimeClassName=b"],
        "Config /kai-config",
        "/spec/binder/resourceReservation/runtimeClassName",
        r#""b""#,
    ),
    (
        &["prometheus.externalPrometheusUrl=http://p:9090"],
        "Config /kai-config",
        "/spec/prometheus",
        r#"{"externalPrometheusUrl": "http://p:9090"}"#,
    ),
    (
        &["kaiConfig.render=false", "kaiConfigDeployer.enabled=true"],
        "Config /kai-config",
        "/spec/namespace",
        r#""kai-scheduler""#,
    ),
    (
        &["kaiConfig.render=true", "kaiConfigDeployer.enabled=false"],
        "Config /kai-config",
        "/spec/namespace",
        r#""kai-scheduler""#,
    ),
    (
        &["podgrouper.podDisruptionBudget.enabled=true"],
        "PodDisruptionBudget kai-scheduler/kai-podgrouper",
        "/spec",
        r#"{"maxUnavailable": 1, "selector": {"matchLabels": {"app": "kai-podgrouper"}}}"#,
    ),
    (
        &[
            "podgrouper.podDisruptionBudget.enabled=true",
            "podgrouper.podDisruptionBudget.maxUnavailable=0",
        ],
        "PodDisruptionBudget kai-scheduler/kai-podgrouper",
        "/spec/maxUnavailable",
        "0",
    ),
    (
        &["operator.replicaCount=3", "scheduler.podDisruptionBudget.enabled=true"],
        "PodDisruptionBudget kai-scheduler/kai-scheduler-default",
        "/metadata/namespace",
        r#""kai-scheduler""#,
    ),
    (&["openshift=true"], "Config /kai-config", "/spec/global/openshift", "true"),
    (
        &["openshift=true", "global.securityContext.runAsUser=10000"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/securityContext",
        r#"{"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}"#,
    ),
    (
        &["openshift=true", "global.securityContext.runAsUser=10000"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/containers/0/securityContext",
        r#"{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}}"#,
    ),
    (
        &["global.resourceReservation.namespaceLabels.team=a"],
        "Namespace /kai-resource-reservation",
        "/metadata/labels/team",
        r#""a""#,
    ),
    (&["podgrouper.queueLabelKey=q"], "Config /kai-config", "/spec/global/queueLabelKey", r#""q""#),
    (
        &["global.nodePoolLabelKey=p", "podgrouper.queueLabelKey=q"],
        "Config /kai-config",
        "/spec/global",
        r#"{"queueLabelKey": "q", "nodePoolLabelKey": "p"}"#,
    ),
    (
        &["global.podLabelSelector.a=b"],
        "Config /kai-config",
        "/spec/global/podLabelSelector",
        r#"{"a": "b"}"#,
    ),
    (
        &["admission.gpuFractionRuntimeClassName="],
        "Config /kai-config",
        "/spec/admission/gpuFractionRuntimeClassName",
        r#""""#,
    ),
    (
        &["binder.volumeBindingTimeoutSeconds=300"],
        "Config /kai-config",
        "/spec/binder",
        r#"{"volumeBindingTimeoutSeconds": 300}"#,
    ),
    (&["binder.cdiEnabled=false"], "Config /kai-config", "/spec/binder/cdiEnabled", "false"),
    (
        &["binder.resourceReservationPodResources.cpu=1m"],
        "Config /kai-config",
        "/spec/binder/resourceReservation/podResources",
        r#"{"cpu": "1m"}"#,
    ),
    (
        &["global.jsonLog=false"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/template/spec/containers/0/args/4",
        r#""--log-json=false""#,
    ),
    (
        &["global.jsonLog=false"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/containers/0/args/5",
        r#""--zap-encoder=console""#,
    ),
    (
        &["operator.replicaCount=3"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/replicas",
        "3",
    ),
    (
        &["global.nodeSelector.disk=ssd"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/template/spec/nodeSelector",
        r#"{"disk": "ssd"}"#,
    ),
    (
        &["global.affinity.nodeAffinity.x=y"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/affinity",
        r#"{"nodeAffinity": {"x": "y"}}"#,
    ),
    (
        &["scheduler.affinity.a=b", "global.affinity.c=d"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/template/spec/affinity",
        r#"{"a": "b"}"#,
    ),
    (
        &["global.priorityClassName=high"],
        "Deployment kai-scheduler/kai-podgrouper",
        "/spec/template/spec/priorityClassName",
        r#""high""#,
    ),
    (
        &["scheduler.resources.limits.memory=4Gi"],
        "Deployment kai-scheduler/kai-scheduler-default",
        "/spec/template/spec/containers/0/resources",
        r#"{"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "4Gi"}}"#,
    ),
    (
        &["scheduler.placementStrategy=spread"],
        "SchedulingShard /default",
        "/spec/placementStrategy",
        r#"{"gpu": "spread", "cpu": "spread"}"#,
    ),
    (
        &["scheduler.placementStrategy.gpu=spread"],
        "SchedulingShard /default",
        "/spec/placementStrategy",
        r#"{"gpu": "spread"}"#,
    ),
    (&["scheduler.args.v=6"], "SchedulingShard /default", "/spec/args", r#"{"v": 6}"#),
    (
        &["defaultQueue.childName=mine", "defaultQueue.parentName=all"],
        "Queue /mine",
        "/spec/parentQueue",
        r#""all""#,
    ),
    (
        &["defaultQueue.childResources.gpu.quota=8"],
        "Queue /default-queue",
        "/spec/resources/gpu/quota",
        "8",
    ),
];

#[test]
fn values_do_what_they_say() -> Result<()> {
    let Some(helm) = Helm::find()? else { return Ok(()) };
    for (values, object, place, expected) in VALUES {
        let flags: Vec<&str> = values.iter().flat_map(|value| ["--set", value]).collect();
        let rendered = helm.template("kai-scheduler", &flags)?;
        let found = rendered.get(*object).with_context(|| format!("{values:?}: no {object}"))?;
        let expected: Value = serde_json::from_str(expected)?;
        assert_eq!(found.pointer(place), Some(&expected), "{values:?}: {found}");
    }
    for (value, left_out) in [
        ("defaultShard.enabled=false", "SchedulingShard /default"),
        ("defaultPriorityClasses.enabled=false", "PriorityClass /train"),
        ("defaultQueue.createDefaultQueue=false", "Queue /default-queue"),
        ("kaiConfig.render=false", "Config /kai-config"),
        ("kaiConfigDeployer.enabled=false", "Config /kai-config"),
        (
            "scheduler.podDisruptionBudget.enabled=true",
            "PodDisruptionBudget kai-scheduler/kai-scheduler-default",
        ),
        ("global.resourceReservation.createNamespace=false", "Namespace /kai-resource-reservation"),
        ("global.createNamespace=false", "Namespace /kai-scheduler"),
        ("flowControl.enabled=false", "FlowSchema /kai-scheduler"),
    ] {
        let rendered = helm.template("kai-scheduler", &["--set", value])?;
        assert!(!rendered.contains_key(left_out), "{value}");
    }
    Ok(())
}

#[test]
fn unknown_and_wrong_values_are_refused() -> Result<()> {
    let Some(helm) = Helm::find()? else { return Ok(()) };
    for (value, word) in [
        ("global.gpuShering=true", "gpuShering"),
        ("gpuSharing=true", "gpuSharing"),
        ("global.gpuSharing=maybe", "gpuSharing"),
        ("operator.replicaCount=0", "replicaCount"),
        ("scheduler.placementStrategy=pack", "placementStrategy"),
        ("defaultQueue.childName=A_b", "childName"),
        ("global.resourceReservation.namespace=held", "can only be kai-resource-reservation"),
        ("global.resourceReservation.serviceAccount=own", "can only be kai-resource-reservation"),
    ] {
        let output = helm.run(&["template", "kai", CHART, "--set", value])?;
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(word), "{value}: {told}");
    }
    // What KAI's files of values have for parts that are not here is taken.
    helm.template(
        "kai-scheduler",
        &[
            "--set",
            "global.fipsMode=off,binder.resources.limits.cpu=1,crdupgrader.image.tag=x,prometheus.enabled=true,\
             global.resourceReservation.namespace=kai-resource-reservation",
        ],
    )?;
    helm.succeed(&["lint", "--strict", CHART])?;
    Ok(())
}

#[test]
fn a_chart_around_it_may_have_global_values_of_its_own() -> Result<()> {
    let Some(helm) = Helm::find()? else { return Ok(()) };
    let around = tempfile::tempdir()?;
    fs::create_dir(around.path().join("charts"))?;
    let chart = "apiVersion: v2\nname: around\nversion: 0.1.0\n";
    fs::write(around.path().join("Chart.yaml"), chart)?;
    symlink(Path::new(CHART).canonicalize()?, around.path().join("charts/kai-scheduler"))?;
    let folder = around.path().display().to_string();
    let values = "global.theirs=x,kai-scheduler.global.gpuSharing=false";
    let text = helm.succeed(&["template", "around", &folder, "--set", values])?;
    assert_eq!(read(&text)?["Config /kai-config"]["spec"]["admission"]["gpuSharing"], false);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_comes_and_goes() -> Result<()> {
    let Some(assets) = assets(SUITE) else { return Ok(()) };
    let Some(helm) = Helm::find()? else { return Ok(()) };
    let plane = ControlPlane::start(&assets, &[]).await?;
    let kubeconfig = plane.kubeconfig();
    let kubeconfig = kubeconfig.display().to_string();
    let release = ["kai", CHART, "--namespace", "kai-scheduler", "--kubeconfig", &kubeconfig];
    let idle =
        ["install", "--create-namespace", "--set", "prometheus.enabled=false,binder.ports.x=1"];
    let told = helm.succeed(&[&idle[..], &release[..]].concat())?;
    for part in ["kubectl kai install status", "binder.ports, prometheus.enabled\n"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // Whoever installs over it is told whose it is, and how to go on.
    let over = run_cli(Path::new(&kubeconfig), &["install", "apply", "--yes"])?;
    let told = String::from_utf8_lossy(&over.stderr);
    assert_eq!(over.status.code(), Some(9), "{told}");
    for part in ["Helm installed this, as release kai", "helm upgrade kai", "--force-conflicts"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // Whatever Helm has left to itself is as the command line would have it.
    let plan = ["install", "apply", "--dry-run", "--force-conflicts", "-o", "json"];
    let report = run_cli(Path::new(&kubeconfig), &plan)?;
    let report: Value = serde_json::from_slice(&report.stdout)
        .with_context(|| String::from_utf8_lossy(&report.stderr).into_owned())?;
    let created = |entry: &&Value| entry["result"] == "created";
    let missing: Vec<_> =
        report["objects"].as_array().into_iter().flatten().filter(created).collect();
    assert!(missing.is_empty(), "{missing:?}");
    helm.succeed(&[&["upgrade", "--set", "global.gpuSharing=false"], &release[..]].concat())?;
    let client = plane.client().await?;
    let config = "/apis/kai.scheduler/v1/configs/kai-config";
    let config: Value = client.request(kai_tests::control_plane::http_get(config)).await?;
    assert_eq!(config["spec"]["admission"]["gpuSharing"], false);
    helm.succeed(&[
        "uninstall",
        "kai",
        "--namespace",
        "kai-scheduler",
        "--kubeconfig",
        &kubeconfig,
    ])?;
    let queues = "/apis/scheduling.run.ai/v2/queues";
    let queues: Value = client.request(kai_tests::control_plane::http_get(queues)).await?;
    assert_eq!(queues["items"].as_array().map(Vec::len), Some(2), "queues stay: {queues}");
    Ok(())
}
