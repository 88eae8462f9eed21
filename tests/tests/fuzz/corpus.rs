//! Inputs that this repository has recorded.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde_json::Value;

/// Objects of the kinds that the scheduler watches, each with its kind.
pub(crate) static WATCHED: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let files = values("../scheduler/tests/ingest");
    let objects = files.iter().flat_map(|file| file["objects"].as_array().into_iter().flatten());
    let named =
        |object: &&Value| object["metadata"]["name"].is_string() && object["kind"].is_string();
    filled(objects.filter(named).cloned().collect())
});

/// Files of the podgrouper's rules: `objects` and `pods`.
pub(crate) static GROUPED: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folders = ["../podgrouper/tests/groups", "../podgrouper/tests/recorded"];
    filled(folders.into_iter().flat_map(values).collect())
});

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
        Value::String(text) if text.starts_with("$pod") => serde_json::json!({
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
