//! Inputs that this repository has recorded.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use kai_scheduler::ingest::Kind;
use serde_json::{Value, json};

/// Objects of the kinds that the scheduler watches, those of a file together: they name each other.
pub(crate) static CLUSTERS: LazyLock<Vec<Vec<Value>>> = LazyLock::new(|| {
    let folders = ["../scheduler/tests/ingest", "grouping", "kinds"];
    let files = folders.into_iter().flat_map(values).map(|file| {
        let is_watched =
            |object: &Value| Kind::ALL.iter().any(|kind| object["kind"] == kind.name());
        within(&file).into_iter().filter(is_watched).collect::<Vec<Value>>()
    });
    filled(files.filter(|objects| !objects.is_empty()).collect())
});

/// The same objects, each by itself.
pub(crate) static WATCHED: LazyLock<Vec<Value>> =
    LazyLock::new(|| filled(CLUSTERS.iter().flatten().cloned().collect()));

/// Objects of a cluster in which there is something to decide: a gang waits for GPUs of a queue that holds more than its share,
/// and a part of a GPU is free.
fn crowded() -> Vec<Value> {
    let node = |name: &str, gpus: &str| {
        json!({"kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "nvidia.com/gpu.memory": "81920"}},
            "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": gpus},
                "conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let queue = |name: &str, quota: i64| {
        let all = json!({"quota": -1, "limit": -1});
        let gpu = json!({"quota": quota, "limit": -1, "overQuotaWeight": 1});
        json!({"kind": "Queue", "metadata": {"name": name, "creationTimestamp": "2025-12-31T22:00:00Z"},
            "spec": {"resources": {"gpu": gpu, "cpu": all, "memory": all}}})
    };
    let group = |name: &str, queue: &str, min: u32| {
        json!({"kind": "PodGroup", "metadata": {"name": name, "namespace": "ns", "creationTimestamp": "2025-12-31T22:30:00Z"},
            "spec": {"queue": queue, "minMember": min}})
    };
    let pod = |name: &str, group: &str, node: &str| {
        let phase = if node.is_empty() { "Pending" } else { "Running" };
        let mut pod = json!({"kind": "Pod", "metadata": {"name": name, "namespace": "ns", "uid": format!("u-{name}"),
                "creationTimestamp": "2025-12-31T23:00:00Z", "annotations": {"pod-group-name": group}},
            "spec": {"schedulerName": "kai-scheduler",
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"nvidia.com/gpu": "2"}}}]},
            "status": {"phase": phase}});
        if !node.is_empty() {
            pod["spec"]["nodeName"] = json!(node);
        }
        pod
    };
    let mut part = pod("part", "part", "");
    part["metadata"]["annotations"]["gpu-fraction"] = json!("0.5");
    part["spec"]["containers"][0]["resources"] = json!({});
    let mut objects = vec![node("n1", "4"), node("n2", "1"), queue("owed", 4), queue("owes", 0)];
    objects.extend([group("held", "owes", 1), group("waits", "owed", 2), group("part", "owed", 1)]);
    objects.extend([pod("h-0", "held", "n1"), pod("h-1", "held", "n1"), part]);
    objects.extend([pod("w-0", "waits", ""), pod("w-1", "waits", "")]);
    objects
}

/// A cluster in which there is something to decide, with the objects of a file and with some others.
pub(crate) fn cluster(file: usize, others: &[usize]) -> Vec<Value> {
    let others = others.iter().map(|at| WATCHED[*at].clone());
    crowded().into_iter().chain(CLUSTERS[file].iter().cloned()).chain(others).collect()
}

/// Workloads with their pods, as the podgrouper finds them: `objects` and `pods`.
pub(crate) static GROUPED: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folders = ["../podgrouper/tests/groups", "../podgrouper/tests/recorded"];
    let files = folders.into_iter().flat_map(values);
    let files = files.map(|file| json!({"objects": file["objects"], "pods": file["pods"]}));
    let scenes = ["grouping", "kinds"].into_iter().flat_map(values).map(|file| {
        let is_pod = |object: &Value| object["kind"] == "Pod";
        let (pods, objects): (Vec<Value>, Vec<Value>) = within(&file).into_iter().partition(is_pod);
        json!({"objects": objects, "pods": pods})
    });
    let has_pods = |file: &Value| file["pods"].as_array().is_some_and(|pods| !pods.is_empty());
    filled(files.chain(scenes).filter(has_pods).collect())
});

/// Objects wherever they stand in a file, in its order: each has a kind and a name.
fn within(value: &Value) -> Vec<Value> {
    if value["metadata"]["name"].is_string() && value["kind"].is_string() {
        return vec![value.clone()];
    }
    match value {
        Value::Array(rows) => rows.iter().flat_map(within).collect(),
        Value::Object(table) => table.values().flat_map(within).collect(),
        _ => Vec::new(),
    }
}

/// Workloads as their users write them.
pub(crate) static WORKLOADS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let files = values("workloads");
    let objects = files.iter().flat_map(|file| match file["objects"].as_array() {
        Some(objects) => objects.clone(),
        None => vec![file.clone()],
    });
    let whole = |object: &Value| object["kind"].is_string() && object["apiVersion"].is_string();
    filled(objects.filter(whole).map(|object| with_pods(&object)).collect())
});

/// The same with a template of a pod where the file names one in short: `$pod NAME SECONDS`.
fn with_pods(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("$pod") => json!({
            "containers": [{"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}],
        }),
        Value::Array(rows) => rows.iter().map(with_pods).collect(),
        Value::Object(table) => Value::Object(
            table.iter().map(|(key, value)| (key.clone(), with_pods(value))).collect(),
        ),
        value => value.clone(),
    }
}

/// Scenario files, as text.
pub(crate) static SCENARIOS: LazyLock<Vec<String>> = LazyLock::new(|| filled(texts("scenarios")));

/// The same as values; those that are no JSON are left out.
pub(crate) static SCENARIO_VALUES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    filled(SCENARIOS.iter().filter_map(|text| serde_saphyr::from_str(text).ok()).collect())
});

/// The texts of all YAML files below a folder, in the order of their names.
fn texts(folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).expect("it was listed just now")).collect()
}

fn values(folder: &str) -> Vec<Value> {
    let parsed = texts(folder).into_iter().flat_map(|text| {
        serde_saphyr::from_multiple::<Value>(&text).expect("recorded files are YAML")
    });
    parsed.collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
}

/// Refuses a corpus that has gone away.
fn filled<T>(corpus: Vec<T>) -> Vec<T> {
    assert!(corpus.len() > 10, "the corpus is missing: {} inputs", corpus.len());
    corpus
}
