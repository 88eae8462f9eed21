//! KAI v0.17 is found, named, taken over, and put back: what goes is said before, what users have stays as it is.

use std::{io::Write as _, path::Path};

use anyhow::Result;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use http::Method;
use kai_tests::stage::scene::documents;
use serde_json::{Value, json};

use super::{Bench, DEPLOYMENTS, Objects};

const WEBHOOK: &str =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mutating-kai-admission";
const MAPS: &str = "/api/v1/namespaces/kai-scheduler/configmaps";
const MAP: &str = "/api/v1/namespaces/kai-scheduler/configmaps/kai-adopted";
const SEAL: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kai-adopted";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const ACCOUNT: &str =
    "/api/v1/namespaces/kai-resource-reservation/serviceaccounts/kai-resource-reservation";
/// Objects that must come through unchanged.
const KEPT: [&str; 4] = [
    "/apis/kai.scheduler/v1/configs/kai-config",
    "/apis/scheduling.run.ai/v2/queues/default-queue",
    "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups/pg-train",
    "/api/v1/namespaces/kai-resource-reservation/pods/gpu-reservation-0123456789abcdef",
];

#[tokio::test(flavor = "multi_thread")]
async fn an_installed_kai_is_taken_over() -> Result<()> {
    let Some(bench) = Bench::start().await? else { return Ok(()) };
    bench.kai("install apply -y --components crds")?.expect(0, &[]);
    bench.apply("kai.yaml").await?;
    is_refused_without_the_flag(&bench)?;
    the_plan_names_what_goes(&bench).await?;
    what_somebody_wrote_is_not_created(&bench).await?;
    let kept = versions(&bench).await?;
    let theirs = of_kai(&bench.objects).await?;
    let account = bench.find(ACCOUNT).await?;
    bench.kai("install apply --adopt -y --wait=false")?.expect(0, &["Installed"]);
    assert_eq!(versions(&bench).await?, kept);
    let after = bench.find(ACCOUNT).await?;
    assert_eq!(after["metadata"]["uid"], account["metadata"]["uid"], "its pods hold tokens");
    assert!(after["metadata"]["ownerReferences"].is_null(), "{after}");
    for gone in [
        WEBHOOK,
        "/apis/apps/v1/namespaces/kai-scheduler/deployments/kai-operator",
        "/apis/apps/v1/namespaces/kai-scheduler/deployments/binder",
        "/api/v1/namespaces/kai-scheduler/serviceaccounts/binder",
        "/apis/policy/v1/namespaces/kai-scheduler/poddisruptionbudgets/admission",
    ] {
        assert_eq!(bench.find(gone).await?, Value::Null, "{gone}");
    }
    assert_eq!(bench.names(DEPLOYMENTS).await?, ["kai-podgrouper", "kai-scheduler-default"]);
    // What KAI's settings owned would go with them.
    let service = bench.find("/api/v1/namespaces/kai-scheduler/services/queue-controller").await?;
    assert!(service["metadata"]["ownerReferences"].is_null(), "{service}");
    bench.kai("install apply -y --wait=false")?.expect(0, &["Nothing to change"]);
    assert_eq!(versions(&bench).await?, kept);
    it_is_given_back(&bench, &theirs).await?;
    a_webhook_that_is_left_is_named(&bench).await
}

/// Reads what `kai.yaml` brings, as it is now.
pub(super) async fn of_kai(objects: &Objects) -> Result<Vec<Value>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install/kai.yaml");
    let mut all = Vec::new();
    for object in documents(&file)? {
        all.push(objects.find(&objects.path_of(&object).await?).await?);
    }
    Ok(all)
}

/// Leaves out what the API server and its controllers give to each new object.
pub(super) fn without_birth(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"]
        {
            metadata.remove(field);
        }
    }
    object.as_object_mut().map(|fields| fields.remove("status"));
    for field in ["clusterIP", "clusterIPs"] {
        object["spec"].as_object_mut().map(|spec| spec.remove(field));
    }
    object
}

/// All is as it was before the switch, and what is ours is gone.
async fn it_is_given_back(bench: &Bench, theirs: &[Value]) -> Result<()> {
    let before = of_kai(&bench.objects).await?;
    bench.kai("install release --dry-run")?.expect(
        0,
        &[
            "REMOVE    ",
            "deployment.apps kai-podgrouper, kai-scheduler-default",
            "REVERT    ",
            "clusterrole.rbac.authorization.k8s.io kai-scheduler",
            "RESTORE   ",
            "deployment.apps kai-operator, binder, kai-scheduler-default",
            "mutatingwebhookconfiguration.admissionregistration.k8s.io mutating-kai-admission",
            "pods, queues, PodGroups",
        ],
    );
    let report = bench.kai("install release --dry-run -o json")?.expect(0, &[]);
    let report: Value = serde_json::from_str(&report.data)?;
    let objects = report["objects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let back = |object: &&Value| object["result"] == "givenBack";
    assert!(objects.iter().filter(back).count() >= 7, "{report}");
    assert_eq!(of_kai(&bench.objects).await?, before, "a dry run changes nothing");
    bench.kai("install release")?.expect(2, &["-y"]);
    bench.kai("install remove --dry-run")?.expect(
        0,
        &[
            "install release would give it back",
            "namespace/kai-scheduler was there before this installation and stays",
        ],
    );
    what_was_changed_since_is_not_created(bench).await?;
    bench.kai("install release -y --wait=false")?.expect(0, &["of KAI given back"]);
    let after = of_kai(&bench.objects).await?;
    for (was, is) in theirs.iter().zip(&after) {
        assert_eq!(without_birth(is.clone()), without_birth(was.clone()));
        let owners = is["metadata"]["managedFields"].as_array().map(Vec::as_slice);
        let ours = |entry: &Value| entry["manager"] == "kubectl-kai";
        assert!(!owners.unwrap_or_default().iter().any(ours), "{is}");
    }
    assert_eq!(
        bench.names(DEPLOYMENTS).await?,
        ["binder", "kai-operator", "kai-scheduler-default"]
    );
    bench.kai("install release -y")?.expect(0, &["Nothing to give back"]);
    for path in [MAP, SEAL] {
        assert_eq!(bench.find(path).await?, Value::Null, "{path}");
    }
    // Back and forth is no one-way road.
    bench.kai("install apply -y --wait=false")?.expect(9, &["--adopt"]);
    bench.kai("install apply --adopt -y --wait=false")?.expect(0, &["Installed"]);
    bench.send(Method::DELETE, MAP, &Value::Null).await?;
    bench.kai("install release -y")?.expect(3, &["is not known", "helm upgrade"]);
    Ok(())
}

/// Packs objects as the record of a switch has them.
fn packed(rows: &Value) -> Result<String> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(rows.to_string().as_bytes())?;
    Ok(BASE64_STANDARD.encode(gzip.finish()?))
}

/// Rows of a record that would give somebody all rights.
fn planted() -> [Value; 4] {
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "evil"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "kai-scheduler"}]});
    let mut of_ours = binding.clone();
    of_ours["metadata"]["name"] = json!("kai-scheduler");
    let pod = json!({"containers": [{"name": "c", "image": "i"}], "hostPID": true});
    let template = json!({"metadata": {"labels": {"app": "a"}}, "spec": pod});
    let daemon = json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "binder", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}});
    [
        json!([{"was": "removed", "object": binding}]),
        json!([{"was": "changed", "object": binding}]),
        json!([{"was": "removed", "object": daemon}]),
        // KAI may have had such a one.
        json!([{"was": "changed", "object": of_ours}]),
    ]
}

/// Says what is said of a record that nobody sealed.
const UNSEALED: &str = "its checksum is not in clusterrole/kai-adopted";

/// Whoever may write `ConfigMap`s beside the daemons gets no object made by whoever gives back.
async fn what_somebody_wrote_is_not_created(bench: &Bench) -> Result<()> {
    let bindings = bench.names(BINDINGS).await?;
    for rows in planted() {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kai-adopted"},
            "binaryData": {"objects.json.gz": packed(&rows)?}});
        bench.send(Method::POST, MAPS, &map).await?;
        let parts = ["is not what --adopt wrote", UNSEALED, "your rights"];
        bench.kai("install release -y")?.expect(9, &parts);
        if rows.to_string().contains("\"evil\"") {
            bench.kai("install apply --adopt -y")?.expect(9, &parts);
        }
        bench.send(Method::DELETE, MAP, &Value::Null).await?;
    }
    assert_eq!(bench.names(BINDINGS).await?, bindings);
    assert_eq!(bench.names(DEPLOYMENTS).await?.len(), 3, "KAI runs");
    Ok(())
}

/// The same of a record that --adopt did write.
async fn what_was_changed_since_is_not_created(bench: &Bench) -> Result<()> {
    let was = bench.find(MAP).await?["binaryData"].clone();
    for rows in planted() {
        let changed = json!({"binaryData": {"objects.json.gz": packed(&rows)?}});
        bench.send(Method::PATCH, MAP, &changed).await?;
        bench.kai("install release -y")?.expect(9, &[UNSEALED]);
    }
    bench.send(Method::PATCH, MAP, &json!({"binaryData": was})).await?;
    Ok(())
}

fn is_refused_without_the_flag(bench: &Bench) -> Result<()> {
    let parts =
        ["kai-operator, binder, kai-scheduler-default", "release kai in namespace", "--adopt"];
    bench.kai("install apply -y")?.expect(9, &parts);
    Ok(())
}

async fn the_plan_names_what_goes(bench: &Bench) -> Result<()> {
    let before = bench.find("/apis/apps/v1/deployments").await?;
    bench.kai("install apply --adopt --dry-run")?.expect(
        0,
        &[
            "REMOVE    mutatingwebhookconfiguration.admissionregistration.k8s.io mutating-kai-admission",
            "deployment.apps kai-operator, binder, kai-scheduler-default",
            "poddisruptionbudget.policy admission",
            "service queue-controller",
            "serviceaccount binder",
            "clusterrole.rbac.authorization.k8s.io/kai-scheduler",
            "from helm: ",
            "-l owner=helm,name=kai",
            "configmap/kai-adopted in kai-scheduler keeps what goes",
        ],
    );
    let report = bench.kai("install apply --adopt --dry-run -o json")?.expect(0, &[]);
    let report: Value = serde_json::from_str(&report.data)?;
    let objects = report["objects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let removed = objects.iter().filter(|object| object["result"] == "removed").count();
    assert_eq!(removed, 7, "{report}");
    let after = bench.find("/apis/apps/v1/deployments").await?;
    let names = |list: &Value| list["items"].as_array().map_or(0, Vec::len);
    assert_eq!(names(&before), names(&after), "a dry run changes nothing");
    Ok(())
}

async fn versions(bench: &Bench) -> Result<Vec<Value>> {
    let mut versions = Vec::new();
    for path in KEPT {
        let found = bench.find(path).await?;
        assert!(!found.is_null(), "{path}");
        versions.push(found["metadata"]["resourceVersion"].clone());
    }
    Ok(versions)
}

/// A registration that fails closed keeps pods from being made: it is found without any Deployment.
async fn a_webhook_that_is_left_is_named(bench: &Bench) -> Result<()> {
    let webhook = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "kai-queue-validation-v2"},
        "webhooks": [{"name": "queue-validation.kai.scheduler", "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:9/x"},
            "rules": [{"apiGroups": ["scheduling.run.ai"], "apiVersions": ["v2"], "resources": ["queues"],
                "operations": ["CREATE"]}]}]});
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    bench.send(Method::POST, path, &webhook).await?;
    let parts = ["kai-queue-validation-v2 (failurePolicy Fail)", "--adopt"];
    bench.kai("install apply -y --wait=false")?.expect(9, &parts);
    bench.kai("install apply -y --wait=false --adopt")?.expect(0, &["kai-queue-validation-v2"]);
    let left = bench.find(&format!("{path}/kai-queue-validation-v2")).await?;
    assert_eq!(left, Value::Null);
    Ok(())
}
