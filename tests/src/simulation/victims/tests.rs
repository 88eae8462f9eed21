//! Checks which evictions are judged as forbidden, too early, or of the wrong queue.

use k8s_openapi::api::core::v1::Pod;
use kai_sandbox::server::Change;
use serde_json::{Value, json};

use super::*;
use crate::simulation::shown::Group;

/// Queues `a` and `b` with a quota of 4 GPUs, whose work runs for 2 minutes at least.
fn queues(now: Instant) -> QueueTree {
    let mut queues = QueueTree::default();
    queues.node("n", 16);
    for name in ["a", "b"] {
        let spec = json!({
            "reclaimMinRuntime": "2m", "preemptMinRuntime": "3m",
            "resources": {"gpu": {"quota": 4, "limit": -1}},
        });
        queues.queue(name, &spec, now);
    }
    queues
}

/// Groups of two pods, named by queue and priority.
fn groups() -> Groups {
    let group = |queue: &str, priority: i32| {
        // Those of the queue `b` evict nobody in their first 20 s.
        let preemption_delay = Duration::from_secs(if queue == "b" { 20 } else { 0 });
        let queue_of = queue.to_owned();
        let group =
            Group { queue: queue_of, minimum: 2, priority, preemption_delay, ..Group::default() };
        (format!("d/{queue}-{priority}"), group)
    };
    [group("a", 50), group("a", 75), group("b", 50)].into()
}

fn pod(name: &str, group: &str, gpus: u32, status: &Value) -> Pod {
    serde_json::from_value(json!({
        "metadata": {"name": name, "uid": name, "namespace": "d", "annotations": {"pod-group-name": group}},
        "spec": {"nodeName": "n", "containers": [
            {"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus.to_string()}}},
        ]},
        "status": status,
    }))
    .expect("it is a pod")
}

/// Runs so many pods of `a-50` with as many GPUs each, and a pod of each other group; says after so many seconds to the first
/// ones that they go.
fn check(pods: &[(u32, u64)], told: &str, expect: &[&str]) {
    check_among(&[], pods, told, expect);
}

/// Runs the same among other pods, each shown at its second.
fn check_among(others: &[(Pod, u64)], pods: &[(u32, u64)], told: &str, expect: &[&str]) {
    let start = Instant::now();
    let (groups, mut queues, mut gangs) = (groups(), queues(start), Gangs::default());
    let mut victims = Victims::default();
    let mut found = Vec::new();
    for name in groups.keys() {
        victims.group(name, start);
    }
    let mut take = |pod: &Pod, second: u64| {
        let now = start + Duration::from_secs(second);
        let since = now.checked_sub(Duration::from_secs(10)).unwrap_or(now);
        let at = Moment { now, since, calm: Some(start) };
        let shown = Shown::of(pod, Change::Modified);
        found.extend(
            victims.settled(Known { groups: &groups, gangs: &gangs, queues: &queues }, now),
        );
        // Here gangs are begun one pod at a time.
        drop(gangs.pod(&shown, &groups, at));
        found.extend(queues.pod(&shown, &groups, at));
        let known = Known { groups: &groups, gangs: &gangs, queues: &queues };
        found.extend(victims.pod(&shown, known, at));
    };
    take(&pod("high", "a-75", 1, &Value::Null), 0);
    take(&pod("other", "b-50", 1, &Value::Null), 0);
    for (index, (gpus, _)) in pods.iter().enumerate() {
        take(&pod(&format!("pod-{index}"), "a-50", *gpus, &Value::Null), 1);
    }
    let status = json!({"conditions": [{
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": told,
    }]});
    let (before, after): (Vec<_>, Vec<_>) = others.iter().partition(|(_, second)| *second < 100);
    for (pod, second) in before {
        take(pod, *second);
    }
    for (index, (gpus, second)) in pods.iter().enumerate().filter(|(_, (_, second))| *second > 0) {
        take(&pod(&format!("pod-{index}"), "a-50", *gpus, &status), *second);
    }
    for (pod, second) in after {
        take(pod, *second);
    }
    assert_eq!(found, expect, "{told} after {pods:?} among {others:?}");
}

const RECLAIMED: &str = "Pod d/x was preempted by workload d/b-50.\na uses ..\nb uses ..";
const PREEMPTED: &str = "Pod d/x was preempted by higher priority workload d/a-75";

#[test]
fn work_is_kept_for_its_minimum_runtime() {
    check(&[(4, 200), (4, 200)], RECLAIMED, &[]);
    check(&[(4, 300), (4, 300)], PREEMPTED, &[]);
    let early = "was evicted for d/b-50: it ran for 29 s and has 120 s";
    check(&[(4, 30), (4, 0)], RECLAIMED, &[&format!("pod-0 {early}")]);
    check(&[(4, 30), (4, 0), (4, 0)], RECLAIMED, &[]);
    check(&[(4, 30), (4, 30), (4, 0)], RECLAIMED, &[&format!("pod-1 {early}")]);
    let early = "pod-0 was evicted for d/a-75: it ran for 99 s and has 180 s";
    check(&[(4, 100), (4, 0)], PREEMPTED, &[early]);
}

#[test]
fn nobody_goes_for_a_group_within_its_preemption_delay() {
    let early = "pod-0 was evicted for d/b-50: it came 9 s ago, and waits for 20 s";
    check(&[(4, 9), (4, 0), (4, 0)], RECLAIMED, &[early]);
    check(&[(4, 20), (4, 0), (4, 0)], RECLAIMED, &[]);
}

#[test]
fn what_a_queue_is_entitled_to_is_not_taken() {
    let own = "pod-0 was evicted for d/b-50: a has 3000 milli of GPUs of 4000 of its own";
    check(&[(1, 200), (1, 0)], RECLAIMED, &[own]);
    check(&[(2, 200), (1, 0)], RECLAIMED, &[]);
}

#[test]
fn a_preemption_stays_in_its_queue_and_a_reclaim_does_not() {
    let told = "Pod d/x was preempted by higher priority workload d/b-50";
    let expect = ["pod-0 was evicted for d/b-50: a is not b"];
    check(&[(4, 300), (4, 0)], told, &expect);
    let told = "Pod d/x was preempted by higher priority workload d/a-50";
    let expect = "pod-0 was evicted for d/a-50: its priority 50 is not below 50";
    check(&[(4, 300), (4, 0)], told, &[expect]);
    let told = "Pod d/x was preempted by workload d/a-75.\n";
    check(&[(4, 300), (4, 0)], told, &["pod-0 was evicted for d/a-75: both are of a"]);
    let told = "Pod d/x was preempted and rescheduled due to bin packing";
    check(&[(4, 30), (4, 30)], told, &[]);
}

/// The plan may take from the queue before it gives to it, and tell that later.
#[test]
fn a_queue_with_its_share_reclaims_nothing() {
    let pod = |gpus: u32, phase: &str| pod("mine", "b-50", gpus, &json!({"phase": phase}));
    let reclaimed = [(4, 200), (1, 0)];
    let beyond = "pod-0 was evicted for d/b-50: b has 13000 milli of GPUs of a share of 12000 and \
        takes 1000 more";
    let stays = [(pod(12, ""), 1), (pod(12, "Running"), 240)];
    check_among(&stays, &reclaimed, RECLAIMED, &[beyond]);
    let goes = [(pod(12, ""), 1), (pod(12, "Failed"), 205), (pod(12, "Failed"), 240)];
    check_among(&goes, &reclaimed, RECLAIMED, &[]);
    let is_less = [(pod(10, ""), 1), (pod(10, "Running"), 240)];
    check_among(&is_less, &reclaimed, RECLAIMED, &[]);
}

/// Nothing may be written for hours after an eviction.
#[test]
fn what_a_queue_has_long_after_an_eviction_does_not_count() {
    let pod = |name: &str, gpus: u32| pod(name, "b-50", gpus, &json!({"phase": "Running"}));
    let later = [(pod("first", 13), 220), (pod("second", 1), 8000)];
    check_among(&later, &[(4, 200), (1, 0)], RECLAIMED, &[]);
}
