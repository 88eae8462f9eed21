//! Fields of `oracle/1` files that the copied cases leave at their defaults, one idea a file of `tests/oracle/fields`:
//! that whoever judges us by other cases is heard, and that a wrong end is told.
//!
//! A file says what its case has beside the defaults of `tests/oracle/SCHEMA.md`, and in `differs` what is to be told.

use std::{fmt::Write, fs, path::Path};

use kai_tests::oracle::scheduling::judge;
use serde_json::{Value, json};

#[test]
fn every_field_is_heard() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/fields");
    let entries = fs::read_dir(&folder).expect("the folder is readable");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() >= 20, "only {} files were found", paths.len());
    let mut faults = String::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("the file is readable");
        let given: Value = serde_saphyr::from_str(&text).expect("the file is YAML");
        let expect: Vec<&str> =
            given["differs"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let found = judge(case(&given)).map(|verdict| verdict.differences);
        let found = found.unwrap_or_else(|error| vec![format!("{error:#}")]);
        if found != expect {
            let _ = writeln!(faults, "{}: {found:#?}, expected {expect:#?}", path.display());
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// A whole case.
fn case(given: &Value) -> Value {
    let mut case = json!({
        "id": given["title"], "name": given["title"], "features": [], "topologies": [], "dra": null,
        "procedure": {
            "kind": "rounds", "roundsBeforeCheck": 2, "roundsAfterCheck": 5,
            "actions": ["allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"],
        },
        "scheduler": {
            "stalenessGraceSeconds": 0, "maxConsolidationVictims": "unlimited",
            "reclaimMayRelocateVictims": true, "sharedGpuPlacement": "binpack",
            "nodePlacement": { "gpuTasks": "binpack", "cpuTasks": "binpack" },
        },
        "expect": {
            "jobs": {}, "tasks": {}, "nodes": {}, "assertions": [],
            "maxCallsPerRound": { "binds": null, "evictions": null, "nominations": null },
        },
        "classification":
            { "level": "must", "nodeChoice": {}, "ties": [], "singleActionMode": false },
    });
    merge(&mut case, given);
    for (of, whole) in [("jobs", expectation as fn(&Value) -> Value), ("tasks", expectation)] {
        for (_, one) in case["expect"][of].as_object_mut().into_iter().flatten() {
            *one = whole(one);
        }
    }
    for (of, whole) in [("nodes", node as fn(&Value) -> Value), ("jobs", job)] {
        case[of] = list(given, of).iter().map(whole).collect();
    }
    let top = json!({ "name": "default", "role": "department", "parent": "",
        "gpu": { "deserved": "unlimited", "overQuotaWeight": -1 } });
    let queues = list(given, "queues").iter().chain([&top]).enumerate();
    case["queues"] = queues.map(|(order, one)| queue(order, one)).collect();
    case
}

fn list<'g>(given: &'g Value, of: &str) -> &'g [Value] {
    given[of].as_array().map_or(&[], Vec::as_slice)
}

/// Puts what is given over what is not; lists as a whole.
fn merge(default: &mut Value, given: &Value) {
    match (default, given) {
        (Value::Object(default), Value::Object(given)) => {
            for (key, value) in given {
                merge(default.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (default, given) => *default = given.clone(),
    }
}

fn over(mut default: Value, given: &Value) -> Value {
    merge(&mut default, given);
    default
}

fn expectation(given: &Value) -> Value {
    let default = json!({ "status": null, "node": null, "gpusRequested": null,
        "gpusAccepted": null, "startedAtLeastSecondsAgo": null, "numaZones": null });
    // A status stands for itself.
    let status = given.as_str().map(|status| json!({ "status": status }));
    over(default, status.as_ref().unwrap_or(given))
}

fn queue(order: usize, given: &Value) -> Value {
    let open = json!({ "deserved": "unlimited", "limit": "unlimited", "overQuotaWeight": 1 });
    let default = json!({
        "role": "queue", "parent": "default", "priority": 100, "createdOrder": order,
        "gpu": { "deserved": 0, "limit": "unlimited", "overQuotaWeight": 0 },
        "cpuMilli": open, "memoryBytes": open,
        "reclaimMinRuntimeSeconds": null, "preemptMinRuntimeSeconds": null,
    });
    over(default, given)
}

fn node(given: &Value) -> Value {
    let default = json!({
        "gpusAllocatable": given["gpus"], "gpuMemoryMiB": 100, "gpuMemoryKnown": true,
        "cpuMilli": 20_000_000, "memoryBytes": 20_000_000_000_u64, "maxPods": 110, "ready": true,
        "mig": null, "draGpus": 0, "labels": { "kai.scheduler/type": given["name"] },
        "taints": [], "numa": null,
    });
    over(default, given)
}

fn job(given: &Value) -> Value {
    let tasks = list(given, "tasks");
    let runs = tasks.iter().any(|task| task["state"] == "running");
    let set = json!({ "name": "default", "topology": null,
        "minAvailable": given.get("minAvailable").cloned().unwrap_or(json!(tasks.len())) });
    let default = json!({
        "namespace": "", "priority": 50, "preemptible": true, "ageMinutes": 1, "sourceIndex": 0,
        "startedSecondsAgo": runs.then_some(60), "bestEffort": false, "minAvailable": null,
        "gang":
            { "name": "", "minChildren": null, "topology": null, "podSets": [set], "groups": [] },
        "staleForSeconds": null, "stalenessGraceSeconds": null, "preemptionDelaySeconds": null,
        "keepTerminatingAcrossRounds": false,
    });
    let mut job = over(default, given);
    let name = given["name"].as_str().expect("a job has a name");
    job["tasks"] = (0..).zip(tasks).map(|(at, one): (u32, _)| task(name, at, one)).collect();
    job
}

fn task(job: &str, at: u32, given: &Value) -> Value {
    let default = json!({
        "name": format!("{job}-{at}"), "state": "pending", "node": "", "gpuGroups": [],
        "podSet": "default", "taskPriority": null, "labels": {}, "requiredNodeAffinity": null,
        "podAffinity": null, "podAntiAffinity": null, "resourceClaims": [], "volumeClaims": [],
        "annotations": {}, "numaObserved": null, "qosClass": null,
        "request": { "cpuMilli": 1000, "memoryBytes": 1_000_000_000,
            "gpu": { "type": "whole", "count": 1 } },
    });
    over(default, given)
}
