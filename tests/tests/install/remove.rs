//! Removal says what it takes, leaves what others use, and installing again waits for what still goes.

use std::time::Duration;

use anyhow::Result;
use http::Method;
use kai_tests::cluster::processes::run_cli;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Bench, DEPLOYMENTS, NAMESPACES, Said};

const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
const SCALE_CONFIG_MAPS: &str = "/api/v1/namespaces/kai-scale-adjust/configmaps";
const CONFIG_MAPS: &str = "/api/v1/namespaces/kai-scheduler/configmaps";

#[tokio::test(flavor = "multi_thread")]
async fn what_others_use_stays_and_the_rest_goes() -> Result<()> {
    let Some(bench) = Bench::start().await? else { return Ok(()) };
    bench.kai("install apply -y --wait=false")?.expect(0, &[]);
    bench.kai("install release -y")?.expect(0, &["nothing of KAI was taken over"]);
    from_another_namespace(&bench).await?;
    dry_run(&bench).await?;
    what_may_not_be_read_may_be_in_use(&bench).await?;
    let group = json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": {"name": "pg"}, "spec": {"minMember": 1, "queue": "default-queue", "priorityClassName": "train"}});
    let groups = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups";
    bench.send(Method::POST, groups, &group).await?;
    // What is another's may stand on the second page of a list.
    for ours in 0..500 {
        let metadata = json!({"name": format!("a{ours}"),
            "labels": {"app.kubernetes.io/part-of": "kai-scheduler"}});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        bench.send(Method::POST, SCALE_CONFIG_MAPS, &map).await?;
    }
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}});
    bench.send(Method::POST, SCALE_CONFIG_MAPS, &map).await?;
    keeps_what_is_in_use(&bench).await?;
    waits_for_what_goes(&bench).await?;
    // Told so, it removes that, too.
    bench.kai("install remove -y --in-use --crds")?.expect(
        0,
        &["namespace/kai-scale-adjust goes, though configmap kai-scale-adjust/mine use"],
    );
    for namespace in ["kai-scheduler", "kai-resource-reservation", "kai-scale-adjust"] {
        bench.wait_until_gone(&format!("{NAMESPACES}/{namespace}")).await?;
    }
    nothing_is_left(&bench).await
}

/// Roles, policies and webhooks are the cluster's: what runs elsewhere keeps them.
async fn from_another_namespace(bench: &Bench) -> Result<()> {
    bench
        .kai("install apply -y --wait=false -n other")?
        .expect(9, &["installed already, in namespace kai-scheduler"]);
    for command in ["remove", "release"] {
        let line = format!("install {command} -y -n other");
        let way = format!("kubectl kai install {command} -n kai-scheduler");
        bench.kai(&line)?.expect(9, &["the scheduler runs in namespace kai-scheduler", &way]);
    }
    assert_eq!(bench.names(DEPLOYMENTS).await?.len(), 2);
    Ok(())
}

async fn dry_run(bench: &Bench) -> Result<()> {
    let parts = ["REMOVE", "daemons kai-scheduler-default, kai-podgrouper", "build, inference"];
    bench.kai("install remove --dry-run")?.expect(0, &parts);
    let said = bench.kai("install remove --dry-run -o name --keep-crds")?.expect(0, &[]);
    assert!(said.data.contains("deployment.apps/kai-podgrouper\n"), "{}", said.data);
    assert_eq!(bench.names(DEPLOYMENTS).await?.len(), 2);
    Ok(())
}

/// Somebody who may remove all of it, and list neither jobs nor volume claims.
async fn what_may_not_be_read_may_be_in_use(bench: &Bench) -> Result<()> {
    const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
    const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
    let metadata = json!({"name": "remover"});
    let groups = [
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apps",
        "coordination.k8s.io",
        "kai.scheduler",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
        "scheduling.run.ai",
    ];
    let core = [
        "configmaps",
        "namespaces",
        "pods",
        "resourcequotas",
        "secrets",
        "serviceaccounts",
        "services",
    ];
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata,
        "rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["*"]},
            {"apiGroups": [""], "resources": core, "verbs": ["*"]}]});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "remover"},
        "subjects": [{"kind": "ServiceAccount", "name": "remover", "namespace": "default"}]});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    bench.send(Method::POST, ACCOUNTS, &account).await?;
    bench.send(Method::POST, &format!("{RBAC}/clusterroles"), &role).await?;
    bench.send(Method::POST, &format!("{RBAC}/clusterrolebindings"), &binding).await?;
    let kubeconfig = bench.plane.kubeconfig_of_account("default", "remover").await?;
    let run = |line: &str| -> Result<Said> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Ok(run_cli(&kubeconfig, &words)?.into())
    };
    let unread = "you may not list persistentvolumeclaims, jobs, cronjobs";
    let stays = format!("namespace/kai-scale-adjust stays: {unread}");
    let said = run("install remove --dry-run -o name")?.expect(0, &[&stays, "--in-use"]);
    assert!(!said.data.contains("namespace/"), "{}", said.data);
    assert!(said.data.contains("deployment.apps/kai-podgrouper\n"), "{}", said.data);
    let goes = format!("namespace/kai-scale-adjust goes, though {unread}");
    let said = run("install remove --dry-run -o name --in-use")?.expect(0, &[&goes]);
    assert!(said.data.contains("namespace/kai-scale-adjust\n"), "{}", said.data);
    Ok(())
}

async fn keeps_what_is_in_use(bench: &Bench) -> Result<()> {
    let parts = [
        "priorityclass.scheduling.k8s.io/train stays, in use by podgroup default/pg",
        "namespace/kai-scale-adjust stays, in use by configmap kai-scale-adjust/mine",
    ];
    // Something that ends slowly keeps the namespace for a while.
    let slow = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "slow",
        "labels": {"app.kubernetes.io/part-of": "kai-scheduler"}, "finalizers": ["example.com/slow"]}});
    bench.send(Method::POST, CONFIG_MAPS, &slow).await?;
    bench.kai("install remove -y")?.expect(0, &parts);
    let classes = bench.names(CLASSES).await?;
    assert!(classes.contains(&"train".to_owned()), "{classes:?}");
    assert!(!classes.contains(&"build".to_owned()), "{classes:?}");
    let namespace = bench.find(&format!("{NAMESPACES}/kai-scale-adjust")).await?;
    assert_eq!(namespace["status"]["phase"], "Active");
    let queues = bench.names("/apis/scheduling.run.ai/v2/queues").await?;
    assert_eq!(queues.len(), 2, "{queues:?}");
    Ok(())
}

async fn waits_for_what_goes(bench: &Bench) -> Result<()> {
    let parts = [
        "namespace/kai-scheduler is being deleted; installing would wait",
        "3 to create, 1 unchanged",
    ];
    bench.kai("install apply --dry-run")?.expect(0, &parts);
    bench
        .kai("install apply -y --wait=false --timeout 8s")?
        .expect(10, &["waiting until namespace/kai-scheduler is deleted", "example.com/slow"]);
    let kubeconfig = bench.plane.kubeconfig();
    let again = tokio::task::spawn_blocking(move || {
        run_cli(&kubeconfig, &["install", "apply", "-y", "--wait=false"])
    });
    sleep(Duration::from_secs(2)).await;
    let free = json!({"metadata": {"finalizers": null}});
    bench.send(Method::PATCH, &format!("{CONFIG_MAPS}/slow"), &free).await?;
    let said = Said::from(again.await??);
    said.expect(0, &["waiting until namespace/kai-scheduler is deleted", "Installed"]);
    Ok(())
}

pub(super) async fn nothing_is_left(bench: &Bench) -> Result<()> {
    for path in [
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        CLASSES,
        NAMESPACES,
    ] {
        let list = bench.find(path).await?;
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_ours = |object: &&Value| object.to_string().contains("kubectl-kai");
        let left: Vec<&Value> =
            items.iter().filter(is_ours).map(|object| &object["metadata"]["name"]).collect();
        assert!(left.is_empty(), "{path}: {left:?}");
    }
    Ok(())
}
