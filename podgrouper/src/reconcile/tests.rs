//! Rounds on pods at a server that has their owners, and takes whatever is written.

use std::collections::BTreeMap;

use http::{Method, Request, Response};
use kai_daemon::metrics::Register;
use kube::client::Body;
use serde_json::json;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

mod turns;

use super::*;
use crate::meters::Meters;
use crate::run::work;
use crate::sought::Sought;
use crate::status::Usage;

const WORKERS: usize = 10;

fn meters() -> Meters {
    Meters::new(&Register::default()).expect("names")
}

/// The API server: objects and lists of kinds by path, and what was written to it.
#[derive(Clone, Default)]
struct Server {
    objects: Arc<Mutex<BTreeMap<String, Value>>>,
    written: Arc<Mutex<Vec<String>>>,
    /// Paths to which the next write takes so long, and fails.
    slow: Arc<Mutex<BTreeMap<String, Duration>>>,
}

impl Server {
    fn new() -> Self {
        let kind = |name: &str, kind: &str| json!({"name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["get"]});
        let server = Self::default();
        let served = [
            ("apps/v1", vec![kind("deployments", "Deployment"), kind("replicasets", "ReplicaSet")]),
            ("batch/v1", vec![kind("jobs", "Job")]),
            ("leaderworkerset.x-k8s.io/v1", vec![kind("leaderworkersets", "LeaderWorkerSet")]),
            ("example.com/v1", vec![kind("works", "Work")]),
            ("run.ai/v1alpha1", vec![kind("kartas", "Karta")]),
        ];
        for (group, kinds) in served {
            let list =
                json!({"kind": "APIResourceList", "groupVersion": group, "resources": kinds});
            server.has(&format!("/apis/{group}"), list);
        }
        server
    }

    /// Has an object from now on; what has a code is answered with it.
    fn has(&self, path: &str, object: Value) {
        self.objects.lock().expect("nobody panics with it").insert(path.to_owned(), object);
    }

    /// Takes so long for the next write to a path, which fails.
    fn is_slow_at(&self, path: &str, time: Duration) {
        self.slow.lock().expect("nobody panics with it").insert(path.to_owned(), time);
    }

    /// Gives what was written by now, a line for each.
    fn written(&self) -> Vec<String> {
        self.written.lock().expect("nobody panics with it").clone()
    }

    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, kube::Error> {
        let (head, body) = request.into_parts();
        if head.uri.query().is_some_and(|query| query.contains("watch=true")) {
            // A watch in which nothing happens.
            std::future::pending::<()>().await;
        }
        let path = head.uri.path();
        let found = if head.method == Method::GET {
            self.objects.lock().expect("nobody panics with it").get(path).cloned()
        } else {
            let line = format!("{} {path}", head.method);
            let slow = self.slow.lock().expect("nobody panics with it").remove(path);
            sleep(slow.unwrap_or_default()).await;
            self.written.lock().expect("nobody panics with it").push(line);
            let body = serde_json::from_slice(&body.collect_bytes().await?).ok();
            if slow.is_some() { Some(refusal(503)) } else { body }
        };
        let answer = found.unwrap_or_else(|| refusal(404));
        let status = answer["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        Ok(Response::builder()
            .status(status.unwrap_or(200))
            .body(Body::from(answer.to_string().into_bytes()))
            .expect("it is valid"))
    }

    fn reconciler(&self) -> Reconciler {
        self.reconciler_of(Arc::new(Queue::new(meters(), WORKERS)))
    }

    fn reconciler_of(&self, queue: Arc<Queue<Key>>) -> Reconciler {
        let server = self.clone();
        let service = tower::service_fn(move |request| server.clone().answer(request));
        let client = Client::new(service, "default");
        let (changed, _) = tokio::sync::mpsc::unbounded_channel();
        let cache = Cache::new(client.clone(), CancellationToken::new(), changed);
        let shared = Shared { store: Arc::default(), cache, queue };
        Reconciler::new(client, Settings::default(), Vec::new(), shared)
    }
}

fn refusal(code: u16) -> Value {
    json!({"kind": "Status", "status": "Failure", "message": "none", "code": code})
}

/// Goes round on a pod of the namespace `n` with one owner.
async fn round(reconciler: &Reconciler, name: &str, owner: Value) -> Result<(), Failure> {
    let pod = json!({"metadata": {"namespace": "n", "name": name, "uid": name, "ownerReferences": [owner]}});
    let (pod, _) = reconciler.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    reconciler.reconcile(&Key::of(&pod)).await
}

#[tokio::test]
async fn an_owner_that_is_made_again_is_looked_up_anew() {
    let server = Server::new();
    let reconciler = server.reconciler();
    for uid in ["old", "new"] {
        let job = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"namespace": "n", "name": "j", "uid": uid, "resourceVersion": uid}});
        server.has("/apis/batch/v1/namespaces/n/jobs/j", job);
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": uid});
        round(&reconciler, uid, owner).await.expect("its owner is there");
    }
}

/// A user may have a pod name one owner after the other.
#[tokio::test]
async fn a_pod_is_looked_at_again_for_what_it_was_grouped_by_last() {
    let server = Server::new();
    let reconciler = server.reconciler();
    for name in ["first", "second"] {
        let metadata = json!({"namespace": "n", "name": name, "uid": name, "resourceVersion": "1"});
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata});
        server.has(&format!("/apis/batch/v1/namespaces/n/jobs/{name}"), job);
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name});
        round(&reconciler, "p", owner).await.expect("its owner is there");
    }
    let dependents = |name: &str| {
        let gvk = Gvk::new("batch/v1", "Job");
        let job = ObjectKey { gvk, namespace: "n".to_owned(), name: name.to_owned() };
        reconciler.dependents.of(&job, &reconciler.store)
    };
    assert_eq!(dependents("first"), Vec::<Key>::new());
    assert_eq!(dependents("second"), [Key::new("n", "p")]);
}

/// Its user may have it name another owner, or an owner may come to be read that could not be.
#[tokio::test]
async fn a_pod_with_a_node_has_the_group_of_no_other_owner_written() {
    let server = Server::new();
    let metadata = json!({"namespace": "n", "name": "j", "uid": "j", "resourceVersion": "1"});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata});
    server.has("/apis/batch/v1/namespaces/n/jobs/j", job);
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"});
    let reconciler = server.reconciler();
    for (node, writes) in [("x", 0), ("", 2)] {
        let pod = json!({"metadata": {"namespace": "n", "name": "p", "uid": "p", "ownerReferences": [owner],
            "annotations": {"pod-group-name": "pg-i-i"}}, "spec": {"nodeName": node}});
        let (pod, _) = reconciler.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
        reconciler.reconcile(&Key::of(&pod)).await.expect("its owner is there");
        assert_eq!(server.written().len(), writes, "{node:?}: {:?}", server.written());
    }
}

/// Objects of some kinds hold anything, nested as deep as the API takes. That one cannot be read is the fault of its own pods,
/// which are told, and not the server's.
#[tokio::test]
async fn an_owner_that_is_nested_too_deep_is_told_of() {
    let server = Server::new();
    let spec = (0..200).fold(json!(1), |inner, _| json!({"a": inner}));
    let metadata = json!({"namespace": "n", "name": "l", "uid": "l", "resourceVersion": "1"});
    let (version, kind) = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet");
    let set = json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec});
    server.has("/apis/leaderworkerset.x-k8s.io/v1/namespaces/n/leaderworkersets/l", set);
    let owner = json!({"apiVersion": version, "kind": kind, "name": "l", "uid": "l"});
    let done = round(&server.reconciler(), "p", owner).await;
    assert!(matches!(&done, Err(Failure::Wrong(why)) if why.contains("recursion")), "{done:?}");
}

/// A megabyte of JSON may be half a gigabyte of memory as a tree.
#[tokio::test]
async fn an_owner_of_very_many_values_is_told_of() {
    let server = Server::new();
    let many = vec![json!({"operator": "Exists"}); 20_000];
    let template = json!({"spec": {"tolerations": many}});
    for (api_version, kind, plural, is_read) in [
        ("batch/v1", "Job", "jobs", true),
        ("example.com/v1", "Work", "works", true),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets", false),
    ] {
        let metadata = json!({"namespace": "n", "name": "o", "uid": "o", "resourceVersion": "1"});
        let workers = json!({"size": 2, "workerTemplate": template, "other": many});
        let spec = json!({"template": template, "replicas": 1, "leaderWorkerTemplate": workers});
        let object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec});
        server.has(&format!("/apis/{api_version}/namespaces/n/{plural}/o"), object);
        let owner = json!({"apiVersion": api_version, "kind": kind, "name": "o", "uid": "o"});
        let done = round(&server.reconciler(), "p", owner).await;
        match done {
            Ok(()) => assert!(is_read, "{kind}"),
            Err(Failure::Wrong(why)) => assert!(!is_read && why.contains("20000 values"), "{why}"),
            Err(other) => panic!("{kind}: {other:?}"),
        }
    }
}

/// Containers and what an operator notes in the status may be by far the most of a workload. Most Kartas name neither.
#[tokio::test]
async fn of_what_kartas_describe_no_more_is_read_than_they_name() {
    let many = vec![json!({"name": "a"}); 20_000];
    let task = json!({"size": 2, "template": {"spec": {"containers": many}}});
    let metadata = json!({"namespace": "n", "name": "o", "uid": "o", "resourceVersion": "1"});
    let work = json!({"apiVersion": "example.com/v1", "kind": "Work", "metadata": metadata,
        "spec": {"tasks": [task]}, "status": {"size": 2, "nodes": many}});
    let owner = json!({"apiVersion": "example.com/v1", "kind": "Work", "name": "o", "uid": "o"});
    for (path, is_read) in [
        (".spec.tasks[].size", true),
        (".status.size", false),
        (".spec.tasks[0].size // .status.size", false),
        (".spec.tasks[].template.spec.containers.size", false),
    ] {
        let root = json!({"name": "work", "scaleDefinition": {"replicasPath": path},
            "kind": {"group": "example.com", "version": "v1", "kind": "Work"}});
        let karta = json!({"metadata": {"name": "k"}, "spec": {
            "structureDefinition": {"rootComponent": root},
            "optimizationInstructions": {"gangScheduling": {"podGroup": {"name": "g"}}}}});
        let server = Server::new();
        server.has("/apis/run.ai/v1alpha1/kartas", json!({"metadata": {}, "items": [karta]}));
        server.has("/apis/example.com/v1/namespaces/n/works/o", work.clone());
        let reconciler = server.reconciler();
        let done = round(&reconciler, "p", owner.clone()).await;
        let group = reconciler.store.group_at_once(&Key::new("n", "pg-o-g"));
        match done {
            Ok(()) => {
                assert!(is_read, "{path}");
                let group = group.expect("it is by the Karta");
                assert_eq!(group.value()["spec"]["minMember"], 2, "{path}");
            }
            Err(Failure::Wrong(why)) => assert!(!is_read && why.contains("20000 values"), "{why}"),
            Err(other) => panic!("{path}: {other:?}"),
        }
    }
}

/// A user has the product's own admission answer late, by asking it about much besides.
#[tokio::test(start_paused = true)]
async fn a_write_that_takes_long_keeps_no_worker_of_others() {
    let server = Server::new();
    let groups = "/apis/scheduling.run.ai/v2alpha2/namespaces/n/podgroups";
    server.is_slow_at(groups, Duration::from_secs(9));
    let metadata = json!({"namespace": "n", "name": "j", "uid": "j", "resourceVersion": "1"});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata});
    server.has("/apis/batch/v1/namespaces/n/jobs/j", job);
    let queue = Arc::new(Queue::new(meters(), WORKERS));
    let reconciler = Arc::new(server.reconciler_of(queue.clone()));
    for _ in 0..WORKERS {
        tokio::spawn(work(reconciler.clone(), queue.clone(), meters()));
    }
    let add = |namespace: &str, name: &str, owners: Value| {
        let pod = json!({"metadata": {"namespace": namespace, "name": name, "uid": name, "ownerReferences": owners}});
        let (pod, _) = reconciler.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
        queue.add(Key::of(&pod));
    };
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"});
    for number in 0..10 {
        add("n", &format!("p-{number}"), json!([owner]));
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.written(), Vec::<String>::new(), "it takes long");
    add("ana", "canary", json!([]));
    sleep(Duration::from_secs(1)).await;
    let marks = |namespace: &str| {
        let mark = format!("PATCH /api/v1/namespaces/{namespace}/pods/");
        server.written().iter().filter(|line| line.starts_with(&mark)).count()
    };
    assert_eq!((marks("ana"), marks("n")), (1, 0));
    // It fails: the first pod of the next ones makes the group, and is followed by the others; the one that failed comes later.
    sleep(Duration::from_secs(15)).await;
    assert_eq!(marks("n"), 10, "{:?}", server.written());
    let made = server.written().iter().filter(|line| **line == format!("POST {groups}")).count();
    assert_eq!(made, 2);
}

/// A mark takes as long as admission does, and the pods of a large gang would be marked one after the other.
#[tokio::test(start_paused = true)]
async fn who_finds_its_group_written_is_followed_before_its_mark() {
    let server = Server::new();
    let metadata = json!({"namespace": "n", "name": "j", "uid": "j", "resourceVersion": "1"});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata});
    server.has("/apis/batch/v1/namespaces/n/jobs/j", job);
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"});
    let queue = Arc::new(Queue::new(meters(), WORKERS));
    let reconciler = server.reconciler_of(queue.clone());
    round(&reconciler, "p", owner.clone()).await.expect("it makes the group");
    let group = Key::new("n", "pg-j-j");
    let begin = |pod: &str| reconciler.writers.begin(&group, &Key::new("n", pod), false);
    let first = begin("p").expect("nobody writes it");
    assert!(begin("a").is_none() && begin("b").is_none());
    drop(first);
    assert_eq!(queue.take().await, Key::new("n", "a"));
    server.is_slow_at("/api/v1/namespaces/n/pods/a", Duration::from_secs(9));
    let next = timeout(Duration::from_secs(1), queue.take());
    let (next, _) = tokio::join!(next, round(&reconciler, "a", owner));
    assert_eq!(next.ok(), Some(Key::new("n", "b")));
}

/// Others of the gang are grouped by the Karta that could not be read.
#[tokio::test]
async fn kartas_that_cannot_be_read_for_a_moment_are_waited_for() {
    const KARTAS: &str = "/apis/run.ai/v1alpha1/kartas";
    for (code, is_answer) in [(404, true), (403, true), (500, false), (504, false)] {
        let server = Server::new();
        let metadata = json!({"namespace": "n", "name": "w", "uid": "w", "resourceVersion": "1"});
        let work = json!({"apiVersion": "example.com/v1", "kind": "Work", "metadata": metadata});
        server.has("/apis/example.com/v1/namespaces/n/works/w", work);
        server.has(KARTAS, refusal(code));
        let owner =
            json!({"apiVersion": "example.com/v1", "kind": "Work", "name": "w", "uid": "w"});
        let reconciler = server.reconciler();
        let done = round(&reconciler, "p", owner.clone()).await;
        assert_eq!(done.is_ok(), is_answer, "{code}: {done:?}");
        server.has(KARTAS, json!({"metadata": {}, "items": []}));
        round(&reconciler, "p", owner).await.expect("there is none");
    }
}

/// An administrator describes a kind whose workloads are there already.
#[tokio::test(start_paused = true)]
async fn a_karta_that_comes_later_is_found_after_a_while() {
    const KARTAS: &str = "/apis/run.ai/v1alpha1/kartas";
    let server = Server::new();
    let metadata = json!({"namespace": "n", "name": "o", "uid": "o", "resourceVersion": "1"});
    let work = json!({"apiVersion": "example.com/v1", "kind": "Work", "metadata": metadata,
        "spec": {"tasks": [{"size": 2}]}});
    server.has("/apis/example.com/v1/namespaces/n/works/o", work);
    server.has(KARTAS, json!({"metadata": {}, "items": []}));
    let owner = json!({"apiVersion": "example.com/v1", "kind": "Work", "name": "o", "uid": "o"});
    let reconciler = server.reconciler();
    round(&reconciler, "before", owner.clone()).await.expect("there is none");
    let root = json!({"name": "work", "scaleDefinition": {"replicasPath": ".spec.tasks[].size"},
        "kind": {"group": "example.com", "version": "v1", "kind": "Work"}});
    let karta = json!({"metadata": {"name": "k"}, "spec": {
        "structureDefinition": {"rootComponent": root},
        "optimizationInstructions": {"gangScheduling": {"podGroup": {"name": "g"}}}}});
    server.has(KARTAS, json!({"metadata": {}, "items": [karta]}));
    tokio::time::advance(KARTA_AGE_MAX).await;
    round(&reconciler, "after", owner).await.expect("there is one");
    let group = reconciler.store.group_at_once(&Key::new("n", "pg-o-g"));
    let group = group.expect("it is by the Karta");
    assert_eq!(group.value()["spec"]["minMember"], 2);
}

/// Gangs that another scheduler places in part are each told so.
#[tokio::test]
async fn what_was_said_of_one_group_is_said_of_another() {
    let reconciler = Server::new().reconciler();
    let said = ["a", "a", "b"].map(|name| reconciler.is_news(&Key::new("n", name), "why"));
    assert_eq!(said, [true, false, true]);
}

#[tokio::test]
async fn a_workload_is_skipped_by_whichever_owner_says_so() {
    let server = Server::new();
    let owner = |kind: &str, name: &str| json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name});
    let skip = json!({names::annotation::SKIP_PODGROUPER: "true"});
    let metadata = json!({"namespace": "n", "name": "d", "uid": "d", "resourceVersion": "1", "annotations": skip});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata});
    server.has("/apis/apps/v1/namespaces/n/deployments/d", deployment);
    let metadata = json!({"namespace": "n", "name": "r", "uid": "r", "resourceVersion": "1",
        "ownerReferences": [owner("Deployment", "d")]});
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata});
    server.has("/apis/apps/v1/namespaces/n/replicasets/r", set);
    round(&server.reconciler(), "p", owner("ReplicaSet", "r")).await.expect("it is let alone");
    assert_eq!(server.written(), Vec::<String>::new());
}

/// A user names a node, or a namespace, as the owner of a pod, to read its labels and annotations with the rights of the podgrouper.
#[tokio::test]
async fn an_owner_that_is_in_no_namespace_ends_the_walk() {
    let server = Server::new();
    let kinds = json!([{"name": "nodes", "singularName": "", "namespaced": false, "kind": "Node", "verbs": ["get"]}]);
    let list = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": kinds});
    server.has("/api/v1", list);
    let metadata =
        json!({"name": "x", "uid": "x", "resourceVersion": "1", "labels": {"secret": "1"}});
    server
        .has("/api/v1/nodes/x", json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata}));
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "x"});
    let reconciler = server.reconciler();
    round(&reconciler, "p", owner).await.expect("it is grouped by itself");
    let group = reconciler.store.group_at_once(&Key::new("n", "pg-p-p"));
    let group = group.expect("it is the pod's");
    assert_eq!(group.label("secret"), None);
}

/// Bare pods of a kilobyte that name a set of ten thousand segments, each with an index of its own, would fill etcd.
#[tokio::test]
async fn large_groups_of_a_namespace_are_not_made_without_end() {
    let server = Server::new();
    let set = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "metadata": {"namespace": "n", "name": "l", "uid": "l", "resourceVersion": "1"},
        "spec": {"replicas": 0, "leaderWorkerTemplate":
            {"size": 9_000, "subGroupPolicy": {"subGroupSize": 1}}}});
    server.has("/apis/leaderworkerset.x-k8s.io/v1/namespaces/n/leaderworkersets/l", set);
    let owner = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "name": "l", "uid": "l"});
    let reconciler = server.reconciler();
    for (number, expect) in [(0, true), (1, false)] {
        reconciler.store.set_group(&Key::new("n", "pg-l-l"), None);
        // Others leave some room before the first round.
        for other in 0..16 * number {
            let name = format!("g-{other}");
            let value = json!({"metadata": {"namespace": "n", "name": name},
                "spec": {"queue": "q".repeat(1_040_000)}});
            reconciler.store.set_group(&Key::new("n", &name), Some(&Object::new(value)));
        }
        let done = round(&reconciler, &format!("p-{number}"), owner.clone()).await;
        match done {
            Ok(()) => assert!(expect),
            Err(Failure::Wrong(why)) => assert!(!expect && why.contains("16 MiB"), "{why}"),
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// An edit of a workload has each of its pods looked at, and each may have a label of all the others.
#[tokio::test]
async fn of_pods_with_one_label_those_are_copied_that_decide() {
    const KEY: &str = "leaderworkerset.sigs.k8s.io/group-key";
    let reconciler = Server::new().reconciler();
    for number in 0..100 {
        let labels = json!({KEY: "k", "worker-index": (number % 10).to_string()});
        let metadata = json!({"namespace": "n", "name": format!("p-{number}"), "labels": labels});
        let pod = json!({"metadata": metadata});
        reconciler.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    }
    let workers = Sought::StayingBut("worker-index".to_owned(), "0".to_owned());
    for (sought, expect) in [(Sought::All, 100), (workers, 1), (Sought::SameGroup, 0)] {
        let read = Read::pods("n", &[(KEY, "k")], sought);
        let mut place = Place::default();
        let answer = reconciler.answer(&read, None, &mut place).await.expect("they are kept");
        let Answer::List(found) = &answer else { panic!("{answer:?}") };
        assert_eq!(found.len(), expect, "{read:?}");
    }
}

/// A refusal quotes the name of the pod, which may be `druid-0`.
#[test]
fn a_pod_is_another_where_its_uid_was_refused() {
    let check = |is_another: bool, status: Value| {
        let status: Status = serde_json::from_value(status).expect("it is one");
        assert_eq!(super::is_another(&status), is_another, "{status:?}");
    };
    let label = "Pod \"druid-0\" is invalid: metadata.labels: Invalid value: must be no more than 63 characters";
    let of = |field: &str| json!({"causes": [{"reason": "FieldValueInvalid", "message": "no", "field": field}]});
    check(false, json!({"code": 422, "message": label, "details": of("metadata.labels")}));
    check(
        false,
        json!({"code": 409, "message": "Operation cannot be fulfilled on pods \"druid-0\""}),
    );
    check(false, json!({"code": 403, "message": "metadata.uid", "details": of("metadata.uid")}));
    let uid = "Pod \"p\" is invalid: metadata.uid: Invalid value: \"u\": field is immutable";
    check(true, json!({"code": 422, "message": uid, "details": of("metadata.uid")}));
    let other = "Operation cannot be fulfilled on pods \"p\": Precondition failed: UID in precondition: u, UID in object meta: v";
    check(true, json!({"code": 409, "message": other}));
}

/// Each pod of a flood would be told that the server has too much to do, by one more write.
#[test]
fn a_server_that_does_not_do_what_is_asked_is_no_fault_of_a_pod() {
    let refused = |code: u16, message: &str| {
        kube::Error::Api(Status::failure(message, "No").with_code(code).boxed())
    };
    let no_right = "pods \"p\" is forbidden: User \"kai\" cannot patch resource \"pods\"";
    for (error, is_away) in [
        (refused(401, "no"), true),
        (refused(403, no_right), true),
        (refused(403, "admission webhook \"w\" denied the request"), false),
        (refused(422, "no"), false),
        (refused(429, "no"), true),
        (refused(500, "no"), true),
        (refused(503, "no"), true),
        (kube::Error::Service("late".into()), true),
    ] {
        let failed = failure(&error, String::new());
        assert_eq!(matches!(failed, Failure::Away(_)), is_away, "{error}");
    }
}
