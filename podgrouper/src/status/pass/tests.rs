//! Sums of `PodGroup`s, and pauses of statuses that cannot be written.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, Response};
use kai_daemon::metrics::Register;
use kube::client::Body;
use prometheus::{Encoder as _, TextEncoder};
use tokio_util::sync::CancellationToken;

mod late;

use super::*;
use crate::cache::Cache;
use crate::pod::Pod;
use crate::status::{Usage, server_of_node};

/// A controller whose API server has nothing.
fn controller() -> Controller {
    controller_at(404)
}

/// A controller whose API server answers everything with a code.
fn controller_at(code: u16) -> Controller {
    let server = tower::service_fn(move |_: Request<Body>| async move {
        Response::builder().status(code).body(Body::empty())
    });
    controller_of(Client::new(server, "default"))
}

fn controller_of(client: Client) -> Controller {
    let (changed, _) = tokio::sync::mpsc::unbounded_channel();
    let store = Arc::new(Store::default());
    let cache = Cache::new(client.clone(), CancellationToken::new(), changed);
    let devices = Devices::new(cache, store.clone());
    let metrics = QueueMetrics::new("kai", Vec::new()).expect("the names are valid");
    Controller::new(client, store, devices, Arc::default(), metrics)
}

/// Adds a pod of the group `n/g` that asks for a core, with some annotations more.
fn add_pod(controller: &Controller, name: &str, phase: &str, annotations: &[(&str, &str)]) {
    let mut pod = json!({
        "metadata": {"namespace": "n", "name": name, "uid": name, "annotations": {"pod-group-name": "g"}},
        "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": phase},
    });
    for (key, value) in annotations {
        pod["metadata"]["annotations"][key] = json!(value);
    }
    controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
}

fn add_class(controller: &Controller, name: &str, value: i64, is_default: bool) {
    let class = json!({"metadata": {"name": name}, "value": value, "globalDefault": is_default});
    controller.store.set_class(name, Some(Arc::new(Object::new(class))));
}

/// The amounts that nobody may take back of a group with this spec, and the queue on whose account it is.
async fn kept(controller: &Controller, spec: Value) -> (Value, Option<Arc<str>>) {
    let group = Object::new(json!({"metadata": {"namespace": "n", "name": "g"}, "spec": spec}));
    let mut reads = Reads::new(READS_OF_GROUP_MAX);
    let sums = controller.sum(&Key::new("n", "g"), Some(&group), &mut reads).await;
    let (sums, queue) = sums.expect("the server answers").expect("no claims are to be asked for");
    (sums.non_preemptible.to_value(), queue)
}

/// Whoever may be evicted as it was bound may be evicted until it ends: edits of its group come too late.
#[tokio::test]
async fn a_pod_that_could_be_evicted_when_it_was_bound_still_can() {
    let of = |preemptibility: &str| json!({"preemptibility": preemptibility});
    for (bound_as, expect) in
        [(value::PREEMPTIBLE, json!({})), (value::NON_PREEMPTIBLE, json!({"cpu": "2"}))]
    {
        let controller = controller();
        add_pod(&controller, "a", "Running", &[]);
        let bound = [(annotation::BOUND_QUEUE, "q"), (annotation::BOUND_PREEMPTIBILITY, bound_as)];
        add_pod(&controller, "b", "Running", &bound);
        let sums = kept(&controller, of(value::NON_PREEMPTIBLE)).await;
        assert_eq!(sums, (expect, Some(Arc::from("q"))), "{bound_as}");
    }
    let controller = controller();
    let waits = [(annotation::BOUND_PREEMPTIBILITY, value::PREEMPTIBLE)];
    add_pod(&controller, "waits", "Pending", &waits);
    add_pod(&controller, "runs", "Running", &[]);
    let sums = kept(&controller, of(value::NON_PREEMPTIBLE)).await;
    assert_eq!(sums, (json!({"cpu": "1"}), None), "what has no place was not bound as anything");
}

#[tokio::test]
async fn the_default_class_counts_where_that_of_a_group_is_missing() {
    let controller = controller();
    add_pod(&controller, "a", "Running", &[]);
    add_class(&controller, "low", 1, false);
    let is_kept = async |class: &str| {
        let (kept, _) = kept(&controller, json!({"priorityClassName": class})).await;
        kept != json!({})
    };
    assert!(!is_kept("gone").await, "without a default it counts as one of training");
    add_class(&controller, "default", i64::from(priority_class::NON_PREEMPTIBLE_FROM), true);
    assert!(is_kept("gone").await && is_kept("").await && !is_kept("low").await);
}

/// Nothing tells of the group again once the server answers.
#[tokio::test]
async fn a_group_is_late_while_the_nodes_and_claims_of_its_pods_cannot_be_read() {
    let pod = |spec: Value, annotations: Value| {
        let metadata =
            json!({"namespace": "n", "name": "p", "uid": "p", "annotations": annotations});
        json!({"metadata": metadata, "spec": spec, "status": {"phase": "Running"}})
    };
    let shares = pod(
        json!({"nodeName": "x"}),
        json!({"pod-group-name": "g", "gpu-memory": "1024", "received-resource-type": "Fraction"}),
    );
    let claims = json!([{"name": "c", "resourceClaimName": "c"}]);
    let claims = pod(
        json!({"nodeName": "x", "resourceClaims": claims}),
        json!({"pod-group-name": "g", "received-resource-type": "Regular"}),
    );
    let unplanned = pod(json!({"nodeName": "x"}), json!({"pod-group-name": "g"}));
    for pod in [shares, claims, unplanned] {
        let is_of_node = pod["spec"]["resourceClaims"].is_null();
        for (code, is_late, is_unsure) in [(500, true, false), (404, false, is_of_node)] {
            let mut controller = controller_at(code);
            controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
            let late = controller.pass([Key::new("n", "g")].into()).await;
            assert_eq!(late == [Key::new("n", "g")], is_late, "{code}: {pod}");
            // Nobody says that the node is back.
            assert_eq!(controller.unsure.len() == 1, is_unsure, "{code}: {pod}");
        }
    }
}

/// The sums of the groups `g-1` to `g-4`, of pods that were put on the node `x` in this order, as far as they have GPUs.
async fn held_beside(controller: &Controller, phases: [&str; 4]) -> [Option<i64>; 4] {
    let asks = ["1", "1000000000000", "1", "1"];
    let marks = [Value::Null, Value::Null, Value::Null, json!("Regular")];
    for (at, ((phase, gpus), mark)) in phases.into_iter().zip(asks).zip(&marks).enumerate().rev() {
        let name = format!("g-{}", at + 1);
        let annotations = json!({"pod-group-name": name, "received-resource-type": mark});
        let pod = json!({
            "metadata": {"namespace": "n", "name": name, "uid": name, "annotations": annotations,
                "creationTimestamp": format!("2026-01-01T00:00:0{at}Z")},
            "spec": {"nodeName": "x",
                "containers": [{"resources": {"requests": {"nvidia.com/gpu": gpus}}}]},
            "status": {"phase": phase},
        });
        controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    }
    let mut held = [None; 4];
    for (at, held) in held.iter_mut().enumerate() {
        let key = Key::new("n", &format!("g-{}", at + 1));
        let mut reads = Reads::new(READS_OF_GROUP_MAX);
        let sums = controller.sum(&key, None, &mut reads).await.expect("the server answers");
        let (sums, _) = sums.expect("no claims are to be asked for");
        *held = sums.allocated.get("nvidia.com/gpu").and_then(|gpus| gpus.value().ok());
        assert!(!reads.lacks_node);
    }
    held
}

/// Any queue can be named on them, and a kubelet that is away refuses none. What past use reads of a queue is what it holds.
#[tokio::test]
async fn pods_that_no_plan_placed_hold_together_no_more_than_their_node_offers() {
    let controller = controller_of(server_of_node(|_| ()));
    let held = held_beside(&controller, ["Running"; 4]).await;
    assert_eq!(held, [Some(1), Some(1), None, Some(1)]);
    let held = held_beside(&controller, ["Failed", "Running", "Running", "Running"]).await;
    assert_eq!(held, [None, Some(2), None, Some(1)]);
    let held = held_beside(&controller, ["Failed", "Failed", "Running", "Running"]).await;
    assert_eq!(held, [None, None, Some(1), Some(1)]);
}

/// Nothing else tells of a group whose pod is behind another of its node.
#[tokio::test(start_paused = true)]
async fn groups_are_summed_up_anew_when_a_pod_before_theirs_goes() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let controller = controller_of(server_of_node(move |path| {
        let is_meant = path.ends_with("/podgroups/g-2/status");
        counted.fetch_add(usize::from(is_meant), Ordering::Relaxed);
    }));
    let metadata = json!({"namespace": "n", "name": "g-2", "uid": "g-2"});
    let group = Object::new(json!({"metadata": metadata, "spec": {}}));
    controller.store.set_group(&Key::new("n", "g-2"), Some(&group));
    held_beside(&controller, ["Running"; 4]).await;
    let (dirty, store) = (Arc::clone(&controller.dirty), Arc::clone(&controller.store));
    let meters = Meters::new(&Register::default()).expect("names");
    let running = tokio::spawn(controller.run(meters));
    let first = Key::new("n", "g-1");
    for expect in 1..=2 {
        dirty.group(first.clone());
        tokio::time::sleep(3 * DEBOUNCE).await;
        assert_eq!(asked.load(Ordering::Relaxed), expect);
        store.remove_pod(&first);
    }
    running.abort();
}

/// A refusal for another version or object of the name may be the last that is heard of it.
#[tokio::test]
async fn a_status_that_was_refused_is_written_again() {
    for (code, is_again) in [(404, false), (409, true), (422, true), (403, true), (500, true)] {
        let mut controller = controller_at(code);
        let key = Key::new("n", "g");
        let group = json!({"metadata": {"namespace": "n", "name": "g", "uid": "g"}, "spec": {}});
        controller.store.set_group(&key, Some(&Object::new(group)));
        add_pod(&controller, "a", "Running", &[]);
        let failed = controller.pass([key.clone()].into()).await;
        assert_eq!(failed == [key], is_again, "{code}");
    }
}

/// A status that failed is not forgotten by what others ask for meanwhile: while it waits, or as its pause ends.
#[tokio::test(start_paused = true)]
async fn a_status_that_failed_is_written_again_whatever_passes_come_between() {
    for between in [3 * DEBOUNCE, RETRY_MIN + DEBOUNCE / 2] {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let server = tower::service_fn(move |request: Request<Body>| {
            let is_meant = request.uri().path().ends_with("/podgroups/g/status");
            let fails = is_meant && counted.fetch_add(1, Ordering::Relaxed) == 0;
            let answer = Response::builder().status(if fails { 500 } else { 200 });
            std::future::ready(answer.body(Body::from(b"{\"metadata\": {}}".to_vec())))
        });
        let controller = controller_of(Client::new(server, "default"));
        let keys = ["g", "h"].map(|name| Key::new("n", name));
        for key in &keys {
            let metadata = json!({"namespace": "n", "name": &*key.name, "uid": &*key.name});
            let group = Object::new(json!({"metadata": metadata, "spec": {}}));
            controller.store.set_group(key, Some(&group));
        }
        add_pod(&controller, "a", "Running", &[]);
        let dirty = Arc::clone(&controller.dirty);
        let meters = Meters::new(&Register::default()).expect("names");
        let running = tokio::spawn(controller.run(meters));
        for key in keys {
            assert_eq!(asked.load(Ordering::Relaxed), usize::from(*key.name == *"h"), "it waits");
            dirty.group(key);
            tokio::time::sleep(between).await;
        }
        tokio::time::sleep(2 * RETRY_MIN).await;
        running.abort();
        assert_eq!(asked.load(Ordering::Relaxed), 2, "{between:?}");
    }
}

/// A status that is always refused would be asked for whenever a pod of anybody changes.
#[tokio::test(start_paused = true)]
async fn a_queue_whose_status_failed_waits_whatever_passes_come_between() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let server = tower::service_fn(move |request: Request<Body>| {
        let is_meant = request.uri().path().ends_with("/queues/above/status");
        counted.fetch_add(usize::from(is_meant), Ordering::Relaxed);
        std::future::ready(Response::builder().status(500).body(Body::empty()))
    });
    let controller = controller_of(Client::new(server, "default"));
    for (name, parent) in [("above", ""), ("below", "above")] {
        let metadata = json!({"name": name, "uid": name});
        let queue = json!({"metadata": metadata, "spec": {"parentQueue": parent}});
        controller.store.set_queue(name, Some(Arc::new(Object::new(queue))));
    }
    let dirty = Arc::clone(&controller.dirty);
    let meters = Meters::new(&Register::default()).expect("names");
    let running = tokio::spawn(controller.run(meters));
    for _ in 0..10 {
        dirty.group(Key::new("n", "g"));
        tokio::time::sleep(3 * DEBOUNCE).await;
    }
    running.abort();
    let asked = asked.load(Ordering::Relaxed);
    assert!((2..=3).contains(&asked), "{asked} times in three seconds");
}

#[tokio::test(start_paused = true)]
async fn a_status_that_fails_again_waits_twice_as_long_up_to_a_minute() {
    let mut controller = controller();
    let key = Key::new("n", "g");
    let waits: Vec<u64> = (0..8)
        .map(|_| {
            controller.pause(key.clone());
            (controller.paused[&key].until - Instant::now()).as_secs()
        })
        .collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
}

/// The reads of one pass are bounded: who comes last in each of them would never have its status written.
#[tokio::test]
async fn each_pass_begins_with_the_namespace_after_that_of_the_one_before() {
    let mut controller = controller();
    for expect in [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]] {
        let keys = ["a", "b", "c"].map(|namespace| Key::new(namespace, "g"));
        let order = controller.in_turns(keys.into());
        let order: Vec<&str> = order.iter().map(|key| &*key.namespace).collect();
        assert_eq!(order, expect);
    }
}

#[test]
fn a_queue_tells_which_queues_are_below_it() {
    for (stored, is_news) in
        [(json!(["a"]), true), (json!(["a", "b"]), true), (json!(["b"]), false)]
    {
        let status = json!({"childQueues": stored});
        let above = json!({"metadata": {"name": "q"}, "spec": {}, "status": status});
        let below = json!({"metadata": {"name": "b"}, "spec": {"parentQueue": "q"}});
        let queues = [("q", above), ("b", below)]
            .map(|(name, queue)| (name.to_owned(), Arc::new(Object::new(queue))));
        let mut accounts = Accounts::default();
        accounts.see(queues.into());
        let wanted = accounts.get("q").expect("it was seen");
        let patch = queue_status(wanted, &Sums::default()).unwrap_or_default();
        let expect = is_news.then(|| json!(["b"]));
        assert_eq!(patch.get("childQueues"), expect.as_ref(), "{status}");
    }
}

/// An alert on rounds that fail names the controller whose objects are not up to date.
#[tokio::test(start_paused = true)]
async fn rounds_that_fail_count_for_what_failed() {
    let server = tower::service_fn(|request: Request<Body>| {
        let is_queue = request.uri().path().ends_with("/queues/above/status");
        let answer = Response::builder().status(if is_queue { 500 } else { 200 });
        std::future::ready(answer.body(Body::from(b"{\"metadata\": {}}".to_vec())))
    });
    let controller = controller_of(Client::new(server, "default"));
    for (name, parent) in [("above", ""), ("below", "above")] {
        let metadata = json!({"name": name, "uid": name});
        let queue = json!({"metadata": metadata, "spec": {"parentQueue": parent}});
        controller.store.set_queue(name, Some(Arc::new(Object::new(queue))));
    }
    controller.dirty.group(Key::new("n", "g"));
    let register = Register::default();
    let running = tokio::spawn(controller.run(Meters::new(&register).expect("names")));
    tokio::time::sleep(3 * DEBOUNCE).await;
    running.abort();
    let mut text = Vec::new();
    TextEncoder::new().encode(&register.gather(), &mut text).expect("text");
    let text = String::from_utf8(text).expect("text");
    for (controller, fails) in [("queue", true), ("podgroup", false)] {
        let series =
            format!("controller_runtime_reconcile_errors_total{{controller=\"{controller}\"}}");
        assert_eq!(text.contains(&series), fails, "{series}\n{text}");
    }
}
