//! Installing, removing and giving back before an API server that refuses what a test says.

use clap::Parser;
use kai_api::names::{label, value};
use serde_json::{Value, json};

use super::fake::{Fake, path};
use super::manifest::{Group, Item, Options, items};
use super::plan::{self, Place};
use super::{Args, adopted, apply, preflight, run};
use crate::print::error::{Error, Exit};

const SCHEDULER: &str = "/apis/apps/v1/namespaces/kai-scheduler/deployments/kai-scheduler-default";
const BINDING: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/kai-scheduler";
const OPERATOR: &str = "/apis/apps/v1/namespaces/kai-scheduler/deployments/kai-operator";

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

/// Runs `kubectl kai install` with these words.
async fn install(fake: &std::sync::Arc<Fake>, line: &str) -> Result<Exit, Error> {
    let words = std::iter::once("install").chain(line.split_whitespace());
    let mut context = fake.context();
    run(Line::parse_from(words).args, &mut context).await
}

fn of(kind: &str) -> impl Fn(&&Item) -> bool {
    move |item| item.resource.kind == kind
}

/// Puts the operator of KAI in.
fn put_operator(fake: &Fake) {
    let metadata = json!({"name": "kai-operator", "namespace": "kai-scheduler"});
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata});
    fake.put(OPERATOR, object);
}

/// Puts definitions of ours in that are established.
fn put_definitions(fake: &Fake, all: &[Item]) {
    for item in all.iter().filter(of("CustomResourceDefinition")) {
        let mut object = item.object.clone();
        object["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
        fake.put(&path(item), object);
    }
}

async fn make(fake: &std::sync::Arc<Fake>) -> Result<plan::Plan, Error> {
    let options = Options::default();
    plan::make(&fake.cluster(), items(&options), &options, |_| Place::Open).await
}

/// Only what stands on a namespace or definition of the same run is not tried out.
#[tokio::test]
async fn what_is_missing_is_rehearsed_where_it_can_be() {
    let fake = Fake::kind();
    make(&fake).await.expect("nothing is refused");
    for (word, is_asked) in [
        ("validatingadmissionpolicies/kai-queues dry", true),
        ("clusterroles/kai-scheduler dry", true),
        ("namespaces/kai-scheduler dry", true),
        ("deployments/kai-podgrouper dry", false),
        ("queues/default-queue dry", false),
    ] {
        assert_eq!(!fake.asked(word).is_empty(), is_asked, "{word}");
    }
    assert!(fake.asked("PATCH").iter().all(|line| line.ends_with(" dry")));
    let all = items(&Options::default());
    let is_ground = |item: &&Item| item.group == Group::Crds || of("Namespace")(item);
    fake.put_all(all.iter().filter(is_ground));
    make(&fake).await.expect("nothing is refused");
    for word in ["deployments/kai-podgrouper dry", "queues/default-queue dry"] {
        assert!(!fake.asked(word).is_empty(), "{word}");
    }
}

#[tokio::test]
async fn what_would_be_refused_is_refused_before_anything_changes() {
    let unknown = "the server could not find the requested resource";
    for (word, code, message, expect) in [
        (
            "validatingadmissionpolicies/",
            404,
            unknown,
            "does not serve validatingadmissionpolicies",
        ),
        (
            "clusterroles/kai-podgrouper dry",
            403,
            "clusterroles is forbidden: User \"ana\" cannot patch",
            "administrator",
        ),
        (
            "deployments/kai-scheduler-default dry",
            403,
            "admission webhook \"guard\" denied the request: no digest",
            "no digest",
        ),
    ] {
        let rule = move |line: &str| {
            (line.starts_with("PATCH") && line.contains(word)).then_some((code, message))
        };
        let fake = Fake::new(rule);
        let all = items(&Options::default());
        fake.put_all(all.iter().filter(of("Namespace")));
        put_operator(&fake);
        let said = install(&fake, "--adopt -y --wait=false").await.expect_err(word).to_string();
        assert!(said.contains(expect), "{word}: {said}");
        let changed: Vec<String> =
            ["PATCH", "DELETE", "POST"].iter().flat_map(|word| fake.asked(word)).collect();
        assert!(changed.iter().all(|line| line.ends_with(" dry")), "{word}: {changed:?}");
    }
}

/// The name of a Deployment of KAI is free only once that is gone: ours is tried out all the same.
#[tokio::test]
async fn what_takes_the_place_of_kai_is_rehearsed_too() {
    let rule = |line: &str| {
        line.starts_with("POST")
            .then_some((403, "admission webhook \"guard\" denied the request: no digest"))
    };
    let fake = Fake::new(rule);
    let all = items(&Options::default());
    fake.put_all(all.iter().filter(of("Namespace")));
    let labels = json!({label::MANAGED_BY: value::KAI_OPERATOR});
    fake.put(SCHEDULER, json!({"metadata": {"name": "kai-scheduler-default", "namespace": "kai-scheduler", "labels": labels}}));
    let said = install(&fake, "--adopt -y").await.expect_err("it is denied").to_string();
    assert!(said.contains("no digest"), "{said}");
    assert!(fake.get(SCHEDULER).is_some());
}

#[tokio::test]
async fn whoever_took_kai_out_in_vain_is_told_that_nobody_schedules() {
    let rule = |line: &str| {
        let is_last = line.starts_with("PATCH") && line.ends_with("deployments/kai-podgrouper");
        is_last.then_some((500, "etcd is full"))
    };
    let fake = Fake::new(rule);
    let all = items(&Options::default());
    fake.put_all(all.iter().filter(of("Namespace")));
    put_operator(&fake);
    put_definitions(&fake, &all);
    for attempt in ["--adopt -y --wait=false", "-y --wait=false"] {
        let error = install(&fake, attempt).await.expect_err("the API server fails");
        assert!(fake.get(OPERATOR).is_none());
        let said = error.to_string();
        for part in [
            "etcd is full",
            "nobody schedules now",
            "same command again",
            "kubectl kai install release",
        ] {
            assert!(said.contains(part), "{attempt}: {part}: {said}");
        }
        assert_eq!(error.exit(), Exit::NoScheduler);
    }
}

/// A second run took away the image that the first had pushed, and with it the scheduler.
#[tokio::test]
async fn a_repair_leaves_the_image_that_runs() {
    const OWN: &str = "registry.example/kai@sha256:3f2a";
    let image = |fake: &Fake| {
        let live = fake.get(SCHEDULER).expect("it is there");
        live["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    };
    let fake = Fake::kind();
    let all = items(&Options { image: OWN.to_owned(), ..Options::default() });
    fake.put_all(all.iter());
    put_definitions(&fake, &all);
    install(&fake, "-y --wait=false").await.expect("nothing is refused");
    assert_eq!(image(&fake), OWN);
    install(&fake, "-y --wait=false --image other").await.expect("nothing is refused");
    assert_eq!(image(&fake), "other");
    let mut live = fake.get(SCHEDULER).expect("it is there");
    live["metadata"]["labels"][label::VERSION] = json!("0.0.9");
    fake.put(SCHEDULER, live);
    let error = install(&fake, "-y").await.expect_err("nobody knows which image");
    assert_eq!(error.exit(), Exit::Usage);
}

/// An installation in a second namespace would take the rights of the first.
#[tokio::test]
async fn nothing_cluster_wide_is_touched_from_another_namespace() {
    let fake = Fake::kind();
    let all = items(&Options::default());
    fake.put_all(all.iter());
    let here = preflight::elsewhere(&fake.cluster(), "kai-scheduler").await.expect("it is read");
    assert_eq!(here, None);
    let mut context = fake.context();
    context.globals.namespace = Some("team-a".to_owned());
    for (line, expect) in [
        ("--adopt -y", "the scheduler is installed already, in namespace kai-scheduler"),
        ("remove -y", "kubectl kai install remove -n kai-scheduler"),
        ("release -y", "kubectl kai install release -n kai-scheduler"),
    ] {
        let words = std::iter::once("install").chain(line.split_whitespace());
        let done = run(Line::parse_from(words).args, &mut context).await;
        let said = done.expect_err(line).to_string();
        assert!(said.contains(expect), "{line}: {said}");
    }
    assert!(fake.asked("DELETE").is_empty());
    // Labels that any tenant may write say nothing.
    let mut copy = fake.get(SCHEDULER).expect("it is there");
    copy["metadata"]["namespace"] = json!("evil");
    fake.put("/apis/apps/v1/namespaces/evil/deployments/kai-scheduler-default", copy);
    let here = preflight::elsewhere(&fake.cluster(), "kai-scheduler").await.expect("it is read");
    assert_eq!(here, None);
    assert!(fake.get(BINDING).is_some());
}

#[tokio::test]
async fn a_namespace_that_others_work_in_is_not_taken() {
    let fake = Fake::kind();
    fake.put("/api/v1/namespaces/team-a", json!({"metadata": {"name": "team-a"}}));
    let options = Options { namespace: "team-a".to_owned(), ..Options::default() };
    let all = items(&options);
    let free = |fake: &std::sync::Arc<Fake>| {
        let cluster = fake.cluster();
        let all = all.clone();
        async move { preflight::is_free(&cluster, &all, "team-a").await }
    };
    free(&fake).await.expect("it is empty");
    fake.put("/api/v1/namespaces/team-a/pods/web", json!({"metadata": {"name": "web"}}));
    let said = free(&fake).await.expect_err("somebody works there").to_string();
    assert!(said.contains("namespace team-a has pods that are not the scheduler's"), "{said}");
    let ours = json!({label::PART_OF: value::PRODUCT});
    fake.put("/api/v1/namespaces/team-a", json!({"metadata": {"name": "team-a", "labels": ours}}));
    free(&fake).await.expect("it is ours");
}

/// Only what an installation made goes with it.
#[tokio::test]
async fn a_namespace_says_whether_it_was_there_before() {
    let was = |plan: &plan::Plan| {
        let entry = plan.entries.iter().find(|entry| entry.item.name() == "kai-scale-adjust");
        plan::origin(&entry.expect("it is one of ours").item.object).map(str::to_owned)
    };
    let path = "/api/v1/namespaces/kai-scale-adjust";
    let fake = Fake::kind();
    assert_eq!(was(&make(&fake).await.expect("a plan")).as_deref(), Some("missing"));
    fake.put(path, json!({"metadata": {"name": "kai-scale-adjust"}}));
    let plan = make(&fake).await.expect("a plan");
    assert_eq!(was(&plan).as_deref(), Some("there"));
    // What was written once stays, and who installed before that is not known.
    let labels = json!({label::MANAGED_BY: value::INSTALLER});
    for (annotations, expect) in [
        (json!({"kai.scheduler/namespace-was": "there"}), Some("there")),
        (json!({"kai.scheduler/namespace-was": "missing"}), Some("missing")),
        (Value::Null, None),
    ] {
        let metadata =
            json!({"name": "kai-scale-adjust", "labels": labels, "annotations": annotations});
        fake.put(path, json!({"metadata": metadata}));
        assert_eq!(was(&make(&fake).await.expect("a plan")).as_deref(), expect);
    }
}

fn webhook(name: &str) -> (String, Value) {
    let labels = json!({label::MANAGED_BY: "kai-podgrouper"});
    let path =
        format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}");
    (path, json!({"metadata": {"name": name, "labels": labels}}))
}

/// With failurePolicy Fail nothing is admitted once nobody answers.
#[tokio::test]
async fn webhooks_go_before_the_daemons_that_answer_them() {
    let fake = Fake::kind();
    fake.put_all(items(&Options::default()).iter());
    let (path, object) = webhook("validating-kai-admission");
    fake.put(&path, object);
    install(&fake, "remove -y").await.expect("it is removed");
    let gone = fake.asked("DELETE");
    let at = |word: &str| gone.iter().position(|line| line.contains(word)).expect(word);
    assert_eq!(at("validatingwebhookconfigurations"), 0, "{gone:?}");
    assert_eq!(at("deployments"), 1, "{gone:?}");
    assert!(at("deployments/kai-scheduler-default") < at("validatingadmissionpolicies"));
    assert!(at("validatingadmissionpolicies") < at("clusterroles"), "{gone:?}");
    assert!(fake.get(SCHEDULER).is_none());
}

/// The namespaces of others stay whatever is asked, and those of nobody knows whom where a person left something there.
#[tokio::test]
async fn a_namespace_of_others_is_not_removed() {
    let fake = Fake::kind();
    let all = items(&Options::default());
    fake.put_all(all.iter());
    for (name, was) in [("kai-scheduler", "there"), ("kai-resource-reservation", "missing")] {
        let path = format!("/api/v1/namespaces/{name}");
        let mut namespace = fake.get(&path).expect("it is there");
        namespace["metadata"]["annotations"]["kai.scheduler/namespace-was"] = json!(was);
        fake.put(&path, namespace);
    }
    for name in ["kai-resource-reservation", "kai-scale-adjust"] {
        let role = json!({"metadata": {"name": "mine", "namespace": name}});
        let roles = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/roles/mine");
        fake.put(&roles, role);
    }
    install(&fake, "remove -y").await.expect("it is removed");
    for (name, stays) in
        [("kai-scheduler", true), ("kai-resource-reservation", false), ("kai-scale-adjust", true)]
    {
        let left = fake.get(&format!("/api/v1/namespaces/{name}")).is_some();
        assert_eq!(left, stays, "{name}");
    }
}

/// All is applied when it waits: a request that is lost then ended the command.
#[tokio::test]
async fn who_waits_for_daemons_outlives_lost_requests() {
    let lost = std::sync::atomic::AtomicUsize::new(3);
    let rule = move |line: &str| {
        let order = std::sync::atomic::Ordering::Relaxed;
        let is_lost = line.starts_with("GET")
            && lost.fetch_update(order, order, |left| left.checked_sub(1)).is_ok();
        is_lost.then_some((503, "the server is away"))
    };
    let fake = Fake::new(rule);
    let all = items(&Options::default());
    let item = all.iter().find(of("Deployment")).expect("a daemon");
    let mut live = item.object.clone();
    live["status"] = json!({"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1});
    fake.put(&path(item), live);
    apply::ready(&fake.cluster(), item, None).await.expect("it is ready");
    assert_eq!(fake.asked("GET").len(), 4);
}

/// A record of 64 KiB unpacks to gigabytes of values; who may write it here has no word in the seal.
#[tokio::test]
async fn a_record_without_a_seal_is_not_unpacked() {
    let fake = Fake::kind();
    let map = serde_json::json!({"binaryData": {"objects.json.gz": "no gzip at all"}});
    fake.put("/api/v1/namespaces/kai-scheduler/configmaps/kai-adopted", map);
    let Err(error) = adopted::read(&fake.cluster(), "kai-scheduler").await else {
        panic!("nobody sealed it")
    };
    let said = error.to_string();
    assert!(said.contains("its checksum is not in clusterrole/kai-adopted"), "{said}");
}
