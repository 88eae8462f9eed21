//! Every write says which object it means, by its UID or the version that was read; and what comes of answers.

use std::sync::{Arc, Mutex};

use http::Method;
use serde_json::{Value, json};

use super::*;
use crate::server::{
    answering::answering,
    call::{Failure, Form, call},
};

mod late;
mod shared;

/// Writes as an API server gets them, each in a line.
type Sent = Arc<Mutex<Vec<String>>>;

/// Says which object a write means, whether a volume is marked as one that was chosen, and how often a config map was written.
fn line(method: &Method, path: &str, body: &Value) -> String {
    let uids = ["/metadata/uid", "/preconditions/uid", "/deleteOptions/preconditions/uid"];
    let uid = uids.iter().find_map(|at| body.pointer(at)?.as_str());
    let versions = ["/metadata/resourceVersion", "/preconditions/resourceVersion"];
    let version = versions.iter().find_map(|at| body.pointer(at)?.as_str());
    let chosen = body.pointer("/metadata/annotations/pv.kubernetes.io~1bound-by-controller");
    let writes = body.pointer("/metadata/annotations/kai.scheduler~1write-count");
    let chosen = chosen.and_then(Value::as_str);
    let writes = writes.and_then(Value::as_str);
    let guards = [("uid", uid), ("version", version), ("chosen", chosen), ("writes", writes)];
    let guards = guards.iter().filter_map(|(name, value)| Some(format!(" {name}={}", (*value)?)));
    format!("{method} {path}{}", guards.collect::<String>())
}

/// Writes to a server that finds one object wherever it is asked for one, and answers writes with this code.
async fn server(found: Value, code: u16) -> (Write, Sent) {
    server_that_finds(move |_| found.clone(), code).await
}

/// Writes to a server that finds what it does at a path when it is asked, or nothing, or says a text while it fails, and
/// answers writes with this code.
async fn server_that_finds(
    find: impl Fn(&str) -> Value + Send + Sync + 'static,
    code: u16,
) -> (Write, Sent) {
    server_that_answers(find, move |_| code).await
}

/// The same, whose answer to a write follows from how many came before.
async fn server_that_answers(
    find: impl Fn(&str) -> Value + Send + Sync + 'static,
    code: impl Fn(usize) -> u16 + Send + Sync + 'static,
) -> (Write, Sent) {
    let sent = Sent::default();
    let noted = Arc::clone(&sent);
    let write = answering(move |asked, body| {
        let path = asked.uri.path();
        if asked.method == Method::GET {
            return match find(path) {
                found if found.is_null() => (404, json!({"message": "not found"})),
                found if found.is_string() => (503, json!({ "message": found })),
                found => (200, found),
            };
        }
        let mut sent = noted.lock().expect("nobody panics with it");
        let code = code(sent.len());
        sent.push(line(&asked.method, path, &body));
        (code, if code < 300 { body } else { json!({"message": "refused"}) })
    })
    .await;
    (write, sent)
}

/// Carries a task out at such a server.
async fn carry_out(task: Task, found: Value, code: u16) -> (Option<Outcome>, Vec<String>) {
    let (write, sent) = server(found, code).await;
    let outcome = task.carry_out(&write).await;
    let sent = std::mem::take(&mut *sent.lock().expect("nobody panics with it"));
    (outcome, sent)
}

fn evict() -> Evict {
    Evict {
        pod: 0,
        uid: Box::from("u"),
        namespace: Box::from("ns"),
        name: Box::from("p"),
        condition: None,
        asks_budgets: false,
        stamp: None,
    }
}

fn group(change: GroupChange) -> Task {
    Task::Group(GroupPatch {
        group: 0,
        uid: Box::from("g"),
        namespace: Box::from("ns"),
        name: Box::from("g"),
        version: Box::from("7"),
        change,
    })
}

fn condition() -> Task {
    Task::Pod(PodCondition {
        pod: 0,
        uid: Box::from("u"),
        namespace: Box::from("ns"),
        name: Box::from("p"),
        kind: "PodScheduled",
        is_true: false,
        reason: "Unschedulable",
        message: Arc::from("it waits"),
    })
}

fn volume() -> VolumeGrant {
    VolumeGrant {
        namespace: Box::from("ns"),
        claim: Box::from("disk"),
        uid: Box::from("u"),
        node: Box::from("n"),
        step: VolumeStep::Give(Box::from("pv")),
        bound_within: Duration::from_mins(2),
    }
}

fn strip() -> Task {
    Task::Share(ShareTask::Strip(Strip {
        pod: 0,
        uid: Box::from("u"),
        namespace: Box::from("ns"),
        name: Box::from("p"),
        labels: vec![Box::from("runai-gpu-group")],
        maps: None,
    }))
}

/// Takes away the reservation pod of a GPU of this node, which came to nothing.
fn unreserve(node: &str) -> Task {
    let place = Place { group: Arc::from("g"), node: Box::from(node) };
    let template = Arc::new(Template { namespace: Box::from("ns"), ..Template::default() });
    Task::Share(ShareTask::Unreserve(Unreserve { device: 0, place, has_failed: true, template }))
}

/// The pod that [`reserve`] makes, as the server has it.
fn reservation() -> Value {
    let labels = json!({"runai-gpu-group": "g"});
    json!({"metadata": {"uid": "u", "labels": labels}, "spec": {"nodeName": "n"}})
}

fn reserve() -> Task {
    let place = Place { group: Arc::from("g"), node: Box::from("n") };
    let template = Arc::new(Template { is_fake: true, ..Template::default() });
    let for_pod = (Box::from("ns"), Box::from("p"));
    Task::Share(ShareTask::Reserve(Reserve { device: 0, place, for_pod, template }))
}

/// Compares what is written where an object of the UID `u` and the version 7 is found, and all is taken.
async fn check(task: Task, expect: &[&str]) {
    let said = format!("{task:?}");
    let found = json!({
        "metadata": {"uid": "u", "resourceVersion": "7", "namespace": "ns", "name": "p"},
        "spec": {}, "status": {"phase": "Bound"},
    });
    let listed = json!({"items": [found]});
    let found = if matches!(task, Task::Share(ShareTask::Unreserve(_))) { listed } else { found };
    let (_, sent) = carry_out(task, found, 200).await;
    assert_eq!(sent, expect, "{said}");
}

#[tokio::test(start_paused = true)]
async fn every_write_says_which_object_it_means() {
    const POD: &str = "/api/v1/namespaces/ns/pods/p";
    let pod = |method: &str, rest: &str| format!("{method} {POD}{rest}");
    check(Task::Evict(evict()), &[&pod("DELETE", " uid=u")]).await;
    let asks = Evict { asks_budgets: true, ..evict() };
    check(Task::Evict(asks), &[&pod("POST", "/eviction uid=u")]).await;
    let target = Target {
        kind: "PodGroup",
        namespace: Box::from("ns"),
        name: Box::from("g"),
        uid: Box::from("g"),
    };
    let says = Evict {
        condition: Some(String::from("for another")),
        stamp: Some(Arc::new(EvictionStamp::new(target, 0))),
        ..evict()
    };
    let of_group = |rest: &str| {
        format!("PATCH /apis/scheduling.run.ai/v2alpha2/namespaces/ns/podgroups/g{rest}")
    };
    let expect = [of_group(" uid=g"), pod("PATCH", "/status uid=u"), pod("DELETE", " uid=u")];
    check(Task::Evict(says), &expect.each_ref().map(String::as_str)).await;

    check(group(GroupChange::Conditions(Vec::new())), &[&of_group("/status version=7")]).await;
    let annotation = ("kai.scheduler/last-start-timestamp", None);
    check(group(GroupChange::Annotations(vec![annotation])), &[&of_group(" version=7")]).await;
    check(condition(), &[&pod("PATCH", "/status uid=u")]).await;

    check(Task::Bind(Bind::of("u", "p", "n")), &[&pod("POST", "/binding uid=u")]).await;
    let labels = vec![(Box::from("runai-gpu-group"), Some(Box::from("g")))];
    let bind = Bind { labels, volumes: vec![volume()], ..Bind::of("u", "p", "n") };
    let expect = [
        "PATCH /api/v1/persistentvolumes/pv uid=u version=7 chosen=yes",
        &pod("PATCH", " uid=u"),
        &pod("POST", "/binding uid=u"),
    ];
    check(Task::Bind(bind), &expect).await;
    let path = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
    let uid = Box::from("u");
    let grant = ClaimGrant { path: path.into(), uid, allocation: None };
    let bind = Bind { claims: vec![grant], ..Bind::of("u", "p", "n") };
    let expect = [&*format!("PUT {path}/status uid=u version=7"), &pod("POST", "/binding uid=u")];
    check(Task::Bind(bind), &expect).await;

    check(strip(), &[&pod("PATCH", " uid=u version=7")]).await;
    check(unreserve(""), &[&pod("DELETE", " uid=u")]).await;
}

/// Compares what becomes of a task where its writes are refused with some code, and the pod is there.
async fn check_refused(task: Task, code: u16, expect: &str) {
    let said = format!("{task:?}");
    let found = json!({"metadata": {"uid": "u"}, "spec": {}});
    let (outcome, sent) = carry_out(task, found, code).await;
    let short = match outcome.expect("it has one") {
        Outcome::Bound(..) => "bound",
        Outcome::BindFailed { .. } => "not bound",
        Outcome::Evicted(..) => "evicted",
        Outcome::EvictFailed(..) => "not evicted",
        Outcome::Group { settled, .. } | Outcome::Pod(_, _, settled) => {
            if settled {
                "settled"
            } else {
                "open"
            }
        }
        Outcome::Shared(_) | Outcome::Lost => "another",
    };
    assert_eq!(format!("{short} after {}", sent.len()), expect, "{code}: {said}");
}

/// Nothing that is lost is done, and nothing that was done is lost.
#[tokio::test(start_paused = true)]
async fn refused_writes_are_told_as_what_they_are() {
    let asks = || Evict { asks_budgets: true, ..evict() };
    let conditions = || group(GroupChange::Conditions(Vec::new()));
    let bind = || Task::Bind(Bind::of("u", "p", "n"));
    for (code, bound, evicted, asked, of_group, of_pod) in [
        (403, "not bound after 1", "not evicted after 1", "not evicted after 1", "open", "open"),
        (404, "not bound after 1", "evicted after 1", "not evicted after 1", "open", "settled"),
        (409, "not bound after 1", "evicted after 1", "not evicted after 1", "settled", "open"),
        (500, "not bound after 5", "not evicted after 5", "not evicted after 5", "open", "open"),
    ] {
        check_refused(bind(), code, bound).await;
        check_refused(Task::Evict(evict()), code, evicted).await;
        check_refused(Task::Evict(asks()), code, asked).await;
        check_refused(conditions(), code, &format!("{of_group} after 1")).await;
        check_refused(condition(), code, &format!("{of_pod} after 1")).await;
    }
}

/// An eviction is refused too where its pod leaves already.
#[tokio::test(start_paused = true)]
async fn a_pod_that_leaves_by_itself_counts_as_evicted() {
    let asks = Evict { asks_budgets: true, ..evict() };
    let found = json!({"metadata": {"uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let (outcome, sent) = carry_out(Task::Evict(asks), found, 409).await;
    assert!(matches!(outcome, Some(Outcome::Evicted(0, _))), "{outcome:?}");
    assert_eq!(sent.len(), 1, "{sent:?}");
}

/// Compares why a bind fails at a server that finds this object, and what was written of it.
async fn check_unbound(bind: Bind, found: Value, expect: &str, writes: &[&str]) {
    let (outcome, sent) = carry_out(Task::Bind(bind), found, 200).await;
    let Some(Outcome::BindFailed { reason, .. }) = outcome else {
        panic!("{outcome:?} after {sent:?}");
    };
    assert_eq!(reason, expect);
    assert_eq!(sent, writes);
}

/// A pod that shares a claim is bound only where the claim has the devices that it was placed by.
#[tokio::test(start_paused = true)]
async fn a_claim_with_other_devices_is_not_shared() {
    let on = |pool: &str| {
        let device = json!({"driver": "d", "pool": pool, "device": "0"});
        json!({"devices": {"results": [device]}})
    };
    let path = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
    let (uid, allocation) = (Box::from("u"), Some(on("n1")));
    let grant = ClaimGrant { path: path.into(), uid, allocation };
    let bind = Bind { claims: vec![grant], ..Bind::of("u", "p", "n1") };
    let found = json!({"metadata": {"uid": "u"}, "status": {"allocation": on("n2")}});
    let expect = "failed to reserve the resource claim c: it was given other devices meanwhile";
    check_unbound(bind, found, expect, &[]).await;
}

/// Parameters for a driver, nested deep, would hold a place among the urgent writes for half a minute.
#[tokio::test(start_paused = true)]
async fn a_claim_that_cannot_be_read_is_asked_for_once() {
    let deep = (0..200).fold(json!({}), |inner, _| json!({ "a": inner }));
    let found = json!({"metadata": {"uid": "u"}, "spec": {"devices": {"config": [deep]}}});
    let path = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
    let grant = ClaimGrant { path: path.into(), uid: Box::from("u"), allocation: None };
    let bind = Bind { claims: vec![grant], ..Bind::of("u", "p", "n1") };
    let began = Instant::now();
    let (outcome, sent) = carry_out(Task::Bind(bind), found, 200).await;
    let Some(Outcome::BindFailed { reason, .. }) = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("it cannot be read: recursion limit"), "{reason}");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(1) && sent.is_empty(), "{took:?}, {sent:?}");
}

/// A provisioner may be at work for the node that a claim names, and says by taking it back that it made nothing.
#[tokio::test(start_paused = true)]
async fn a_volume_is_made_on_the_node_that_its_claim_names() {
    let bind = || Bind {
        volumes: vec![VolumeGrant { step: VolumeStep::Provision, ..volume() }],
        ..Bind::of("u", "p", "n")
    };
    let named = json!({"volume.kubernetes.io/selected-node": "n2"});
    let found = json!({"metadata": {"uid": "u", "annotations": named}});
    let expect = "failed to bind the volume claim disk: it is to get its volume on another node";
    check_unbound(bind(), found, expect, &[]).await;
    let found = json!({"metadata": {"uid": "u", "resourceVersion": "7"}});
    let expect =
        "failed to bind the volume claim disk: the provisioner made no volume for this node";
    let writes = ["PATCH /api/v1/namespaces/ns/persistentvolumeclaims/disk uid=u version=7"];
    check_unbound(bind(), found, expect, &writes).await;
}

/// A provisioner that is slow is waited for as long as the Config says.
#[tokio::test(start_paused = true)]
async fn a_volume_is_waited_for_as_long_as_is_set() {
    let bound_within = Duration::from_secs(7);
    let grant = VolumeGrant { step: VolumeStep::Provision, bound_within, ..volume() };
    let bind = Bind { volumes: vec![grant], ..Bind::of("u", "p", "n") };
    let named = json!({"volume.kubernetes.io/selected-node": "n"});
    let found = json!({"metadata": {"uid": "u", "annotations": named}});
    let expect = "failed to bind the volume claim disk: it was not bound within 7s";
    check_unbound(bind, found, expect, &[]).await;
}

/// A volume that is being deleted goes with its data, and a claim that was made again asks for another one.
#[tokio::test(start_paused = true)]
async fn a_volume_that_goes_is_not_given_and_another_claim_is_given_none() {
    let bind =
        |step| Bind { volumes: vec![VolumeGrant { step, ..volume() }], ..Bind::of("u", "p", "n") };
    let at = "2026-01-01T00:00:00Z";
    let goes = json!({"metadata": {"uid": "u", "deletionTimestamp": at}, "spec": {}});
    let expect = "failed to bind the volume claim disk: persistentvolume pv is not free any more";
    check_unbound(bind(volume().step), goes, expect, &[]).await;
    let another = json!({"metadata": {"uid": "v", "resourceVersion": "7"}});
    let expect = "failed to bind the volume claim disk: it was replaced by another";
    check_unbound(bind(VolumeStep::Provision), another, expect, &[]).await;
}

/// A volume that an administrator kept for a claim stays kept when the claim is gone.
#[tokio::test(start_paused = true)]
async fn a_volume_that_was_kept_for_its_claim_is_not_marked_as_chosen() {
    let found = json!({
        "metadata": {"uid": "u", "resourceVersion": "7"},
        "spec": {"claimRef": {"namespace": "ns", "name": "disk"}},
        "status": {"phase": "Bound"},
    });
    let bind = Bind { volumes: vec![volume()], ..Bind::of("u", "p", "n") };
    let (_, sent) = carry_out(Task::Bind(bind), found, 200).await;
    let expect = [
        "PATCH /api/v1/persistentvolumes/pv uid=u version=7",
        "POST /api/v1/namespaces/ns/pods/p/binding uid=u",
    ];
    assert_eq!(sent, expect);
}

/// Labels of a bound pod are true, whoever bound it.
#[tokio::test(start_paused = true)]
async fn a_bound_pod_keeps_the_labels_of_its_gpus() {
    let found = json!({"metadata": {"uid": "u"}, "spec": {"nodeName": "n1"}});
    let (_, sent) = carry_out(strip(), found, 200).await;
    assert!(sent.is_empty(), "{sent:?}");
}

/// A config map is nobody's once the pod that it was made for is gone, although another pod has the name.
#[tokio::test(start_paused = true)]
async fn the_map_of_an_earlier_pod_makes_way() {
    let owner = json!({"kind": "Pod", "name": "p", "uid": "old"});
    let found =
        json!({"metadata": {"uid": "u", "resourceVersion": "7", "ownerReferences": [owner]}});
    let (write, sent) = server(found, 409).await;
    let owner = config_map::Owner { namespace: "ns", name: "p", uid: "u" };
    let written = owner.write(&write, "map", serde_json::Map::new()).await;
    assert!(written.is_err(), "the server refuses all");
    let sent = sent.lock().expect("nobody panics with it");
    let maps = "/api/v1/namespaces/ns/configmaps";
    assert_eq!(sent[..2], [format!("POST {maps}"), format!("DELETE {maps}/map uid=u version=7")]);
}

/// Its user may keep it for ever.
#[tokio::test(start_paused = true)]
async fn a_map_that_is_kept_while_it_is_being_deleted_is_asked_for_once() {
    let owner = json!({"kind": "Pod", "name": "p", "uid": "u"});
    let at = "2026-01-01T00:00:00Z";
    let metadata = json!({"uid": "m", "ownerReferences": [owner], "deletionTimestamp": at});
    let (write, sent) = server(json!({ "metadata": metadata }), 409).await;
    let owner = config_map::Owner { namespace: "ns", name: "p", uid: "u" };
    let written = owner.write(&write, "map", serde_json::Map::new()).await;
    let reason = written.expect_err("what it held would go with it");
    assert!(reason.contains("it is being deleted, and finalizers keep it"), "{reason}");
    let sent = sent.lock().expect("nobody panics with it");
    assert_eq!(*sent, ["POST /api/v1/namespaces/ns/configmaps"]);
}

/// A write of an earlier bind that is on its way yet fits a config map no more that a later bind has written, or found as it is.
#[tokio::test(start_paused = true)]
async fn a_map_that_was_written_again_is_another_version() {
    let owner = json!({"kind": "Pod", "name": "p", "uid": "u"});
    for (annotations, expect) in
        [(json!(null), "2"), (json!({"kai.scheduler/write-count": "2"}), "3")]
    {
        let metadata = json!({"uid": "m", "resourceVersion": "7", "ownerReferences": [owner], "annotations": annotations});
        let (write, sent) = server(json!({ "metadata": metadata }), 409).await;
        let owner = config_map::Owner { namespace: "ns", name: "p", uid: "u" };
        let written = owner.write(&write, "map", serde_json::Map::new()).await;
        assert!(written.is_err(), "the server refuses all");
        let maps = "/api/v1/namespaces/ns/configmaps";
        let expect = format!("PATCH {maps}/map uid=m version=7 writes={expect}");
        assert_eq!(sent.lock().expect("nobody panics with it")[1], expect);
        owner.remove(&write, "map").await.expect("a map of another version stays");
        let last = sent.lock().expect("nobody panics with it").pop();
        assert_eq!(last, Some(format!("DELETE {maps}/map uid=m version=7")));
    }
}

/// A map of another pod is read by that one, and one that an old KAI began says which key its pod asks for.
#[tokio::test(start_paused = true)]
async fn only_a_map_that_was_made_for_the_pod_is_taken_away() {
    let legacy = json!({"RUNAI-VISIBLE-DEVICES": "GPU-a"});
    for (uid, data, goes) in
        [("u", json!({}), true), ("other", json!({}), false), ("u", legacy, false)]
    {
        let owner = json!({"kind": "Pod", "name": "p", "uid": uid});
        let metadata = json!({"uid": "m", "resourceVersion": "7", "ownerReferences": [owner]});
        let (write, sent) = server(json!({ "metadata": metadata, "data": data }), 200).await;
        let owner = config_map::Owner { namespace: "ns", name: "p", uid: "u" };
        owner.remove(&write, "map").await.expect("nothing is refused");
        let sent = sent.lock().expect("nobody panics with it");
        assert_eq!(!sent.is_empty(), goes, "{uid}, {data}: {sent:?}");
    }
}
