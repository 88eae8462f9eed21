//! The state machine by its steps.

use serde_json::{Value, json};

use super::*;
use crate::nodes::fault;
use crate::nodes::group::{expand, parse};
use crate::nodes::object::device_uuid;

/// A kubelet of one node with two devices, its reservations answered after 50 to 500 ms.
fn kubelet() -> Kubelet {
    let groups = parse("1xH100:2").expect("the node of the test");
    let specs = expand(&groups, 1);
    Kubelet::new(&Options { specs, reservation_millis: 50..=500, seed: 7, ..Options::default() })
}

fn pod(uid: &str, namespace: &str, spec: Value) -> Pod {
    let mut pod = json!({
        "metadata": {"name": uid, "namespace": namespace, "uid": uid},
        "spec": {"nodeName": "node-1", "restartPolicy": "Always", "containers": [{"name": "main"}]},
    });
    if let (Some(fields), Value::Object(more)) = (pod["spec"].as_object_mut(), spec) {
        fields.extend(more);
    }
    serde_json::from_value(pod).expect("a pod in the test")
}

fn with_gpu(restart: &str) -> Value {
    let container = json!({"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1"}}});
    json!({"restartPolicy": restart, "containers": [container]})
}

/// A step as a text.
fn text(step: &Step) -> String {
    match step {
        Step::Rest => "rest".to_owned(),
        Step::Wait(_) => "wait".to_owned(),
        Step::Fetch(sources) => format!("fetch {sources:?}"),
        Step::Annotate(patch) => format!("annotate {}", patch["metadata"]["annotations"][DEVICE]),
        Step::Remove => "remove".to_owned(),
        Step::Write(patch) => {
            let status = &patch["status"];
            let reason = &status["containerStatuses"][0]["state"]["waiting"]["reason"];
            format!("write {} {reason}", status["phase"]).replace(" null", "")
        }
    }
}

/// The steps of a pod until it rests, or waits for longer than the time that is left; all writes are accepted.
fn steps(kubelet: &mut Kubelet, uid: &str, from: &mut Timestamp, millis: i64) -> String {
    let end = *from + SignedDuration::from_millis(millis);
    let mut said = Vec::new();
    while said.len() < 12 {
        let step = kubelet.next(uid, *from);
        match &step {
            Step::Wait(at) if *at <= end => {
                *from = *at;
                continue;
            }
            Step::Fetch(sources) => {
                let found = sources.iter().map(|source| (source.clone(), None)).collect();
                kubelet.found(uid, found);
                continue;
            }
            Step::Write(_) | Step::Annotate(_) => kubelet.wrote(uid, true),
            Step::Wait(_) | Step::Rest | Step::Remove => {}
        }
        let is_last = matches!(step, Step::Wait(_) | Step::Rest | Step::Remove);
        said.push(text(&step));
        if is_last {
            break;
        }
    }
    *from = end;
    said.join(", ").replace('"', "")
}

/// Checks what a pod does on a node with these faults, and what it does when they are over.
fn check(faults: &str, namespace: &str, spec: Value, expect: [&str; 2]) {
    let mut kubelet = kubelet();
    let mut now = Timestamp::UNIX_EPOCH;
    kubelet.break_node("node-1", fault::parse(faults).expect("faults of the test"));
    kubelet.seen(pod("p", namespace, spec), now);
    let first = steps(&mut kubelet, "p", &mut now, 600);
    kubelet.break_node("node-1", Faults::default());
    let then = steps(&mut kubelet, "p", &mut now, 1100);
    let device = device_uuid("node-1", 0);
    assert_eq!([first, then].map(|text| text.replace(&device, "GPU-0")), expect, "{faults}");
}

#[test]
fn reservations_report_as_their_node_lets_them() {
    let check = |faults, expect| {
        check(faults, kai_api::names::namespace::RESERVATION, with_gpu("Always"), expect);
    };
    check("", ["write Running, annotate GPU-0, rest", "rest"]);
    check("silent-reservations", ["write Running, rest", "annotate GPU-0, rest"]);
    check(
        "missing-image",
        ["write Pending ImagePullBackOff, wait", "write Running, annotate GPU-0, rest"],
    );
    check("reject-reservations", ["write Failed, rest", "rest"]);
    check("lost=0,lost=1", ["write Failed, rest", "rest"]);
    check("dead", ["rest", "write Running, annotate GPU-0, rest"]);
}

#[test]
fn other_pods_start_and_are_refused() {
    let check = |faults, expect| check(faults, "default", with_gpu("Always"), expect);
    check("", ["write Running, rest", "rest"]);
    check("reject-reservations", ["write Running, rest", "rest"]);
    check("reject", ["write Failed, rest", "rest"]);
}

#[test]
fn a_pod_waits_for_what_it_refers_to() {
    let variables = json!([{"configMapRef": {"name": "m"}}]);
    let spec = json!({"containers": [{"name": "main", "envFrom": variables}]});
    check("", "default", spec, ["write Pending CreateContainerConfigError, wait", "wait"]);
}

#[test]
fn work_on_a_lost_device_fails() {
    for (restart, expect) in [
        ("Never", ["write Failed, rest", "rest"]),
        ("Always", ["write Running CrashLoopBackOff, wait", "write Running, rest"]),
    ] {
        let mut kubelet = kubelet();
        let mut now = Timestamp::UNIX_EPOCH;
        let mut spec = with_gpu(restart);
        spec["containers"][0]["command"] = json!(["sleep", "infinity"]);
        kubelet.seen(pod("p", "default", spec), now);
        assert_eq!(steps(&mut kubelet, "p", &mut now, 600), "write Running, rest");
        let lost = fault::parse("lost=0").expect("a fault of the test");
        assert_eq!(kubelet.break_node("node-1", lost), ["p"]);
        let first = steps(&mut kubelet, "p", &mut now, 600);
        kubelet.break_node("node-1", Faults::default());
        assert_eq!([first, steps(&mut kubelet, "p", &mut now, 1100)], expect, "{restart}");
    }
}

#[test]
fn what_was_not_written_is_written_again() {
    let mut kubelet = kubelet();
    let now = Timestamp::UNIX_EPOCH;
    kubelet.seen(pod("p", kai_api::names::namespace::RESERVATION, with_gpu("Always")), now);
    for (seconds, written) in [(1, "write \"Running\""), (9, "annotate")] {
        let at = now + SignedDuration::from_secs(seconds);
        for accepted in [false, true] {
            let step = text(&kubelet.next("p", at));
            assert!(step.starts_with(written), "{step}, not {written}");
            kubelet.wrote("p", accepted);
        }
    }
    let step = kubelet.next("p", now + SignedDuration::from_secs(9));
    assert_eq!(step, Step::Rest);
}

/// Somebody else has to take its finalizer off: to ask for its removal again and again helps nobody.
#[test]
fn a_pod_that_is_removed_is_removed_once() {
    for (grace, expect) in [(30, "remove"), (0, "rest")] {
        let (mut kubelet, mut now) = (kubelet(), Timestamp::UNIX_EPOCH);
        let mut deleted = pod("p", "default", with_gpu("Never"));
        deleted.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).ok();
        deleted.metadata.deletion_grace_period_seconds = Some(grace);
        kubelet.seen(deleted, now);
        assert_eq!(steps(&mut kubelet, "p", &mut now, 600), expect, "{grace}");
    }
}

#[test]
fn a_restarted_kubelet_knows_who_holds_what() {
    let mut kubelet = kubelet();
    let mut now = Timestamp::UNIX_EPOCH;
    let mut running = pod("old", "default", with_gpu("Always"));
    let second = device_uuid("node-1", 1);
    running.status = serde_json::from_value(json!({
        "phase": "Running",
        "containerStatuses": [{"allocatedResourcesStatus": [
            {"name": "nvidia.com/gpu", "resources": [{"resourceID": second}]}]}],
    }))
    .ok();
    kubelet.seen(running, now);
    kubelet.seen(pod("new", "default", with_gpu("Always")), now);
    for uid in ["old", "new"] {
        steps(&mut kubelet, uid, &mut now, 600);
    }
    let sees = |uid: &str| kubelet.environment(uid, "main").map(|all| all[0].1.clone());
    assert_eq!(sees("old"), Some(second));
    assert_eq!(sees("new"), Some(device_uuid("node-1", 0)));
}

/// Tells what the next step writes of a resize: what the container was given, and why it was not given what it asks for.
fn resized(kubelet: &mut Kubelet, now: Timestamp) -> String {
    let step = kubelet.next("p", now);
    let Step::Write(patch) = step else { return text(&step) };
    kubelet.wrote("p", true);
    let status = &patch["status"];
    let given = &status["containerStatuses"][0]["resources"]["requests"]["cpu"];
    let pending = status["conditions"].as_array().and_then(|rows| rows.last()).cloned();
    let pending = pending.unwrap_or_default();
    format!("{given} {} {}", pending["type"], pending["reason"]).replace('"', "")
}

/// The node has 32 cores, of which another pod has ten for a while.
#[test]
fn a_resize_is_given_put_off_or_refused() {
    let (mut kubelet, mut now) = (kubelet(), Timestamp::UNIX_EPOCH);
    let asks = |cpu: &str| json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]});
    for (name, cpu) in [("p", "1"), ("other", "10")] {
        kubelet.seen(pod(name, "default", asks(cpu)), now);
        assert_eq!(steps(&mut kubelet, name, &mut now, 1), "write Running, rest");
    }
    for (cpu, expect) in [
        ("2", "2 PodResizePending null"),
        ("1", "1 PodResizePending null"),
        ("33", "1 PodResizePending Infeasible"),
        ("33", "rest"),
        ("23", "1 PodResizePending Deferred"),
        ("23", "wait"),
        ("1", "1 PodResizePending null"),
        ("22", "22 PodResizePending null"),
        ("23", "22 PodResizePending Deferred"),
    ] {
        kubelet.seen(pod("p", "default", asks(cpu)), now);
        assert_eq!(resized(&mut kubelet, now), expect, "{cpu}");
    }
    kubelet.gone("other");
    assert_eq!(resized(&mut kubelet, now), "23 PodResizePending null");
}
