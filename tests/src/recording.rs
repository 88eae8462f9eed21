//! Writes what an operator made of a workload into a file that the podgrouper's own tests replay.
//!
//! Kept is what a grouping rule can look at: metadata, counts, policies, schedulers; containers are not.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
use kai_api::names;
use kube::{
    Client,
    api::{Api, DynamicObject},
    core::GroupVersionKind,
    discovery::pinned_kind,
};
use serde_json::{Map, Value, json};

use crate::workload::{Seen, Workload};

/// Parts of a status that rules read.
const STATUS: [&str; 3] = ["rayClusterName", "activeServiceStatus", "pendingServiceStatus"];
/// An annotation longer than this is an operator's own bookkeeping.
const ANNOTATION_BYTES_MAX: usize = 200;

/// Writes down a workload.
///
/// # Errors
///
/// When an owner of a pod cannot be read.
pub async fn record(client: &Client, workload: &Workload, seen: &Seen) -> Result<Value> {
    let mut owners: BTreeMap<String, Value> = BTreeMap::new();
    for pod in seen.pods.values() {
        let mut at = pod.clone();
        while let Some(reference) = at["metadata"]["ownerReferences"].get(0).cloned() {
            let uid = text(&reference, "uid").to_owned();
            if !owners.contains_key(&uid) {
                let read = owner(client, &workload.name, &reference).await;
                let read = read.with_context(|| format!("{}: owner {reference}", workload.name))?;
                owners.insert(uid.clone(), read);
            }
            at = owners[&uid].clone();
        }
    }
    let mut objects: Vec<Value> = owners.values().map(pruned).collect();
    for group in &seen.groups {
        let class = text(&group["spec"], "priorityClassName");
        if class != names::priority_class::TRAIN.0 {
            objects.push(json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": class}}));
        }
    }
    objects.sort_by_key(|object| (text(object, "kind").to_owned(), name(object).to_owned()));
    objects.dedup();
    let mut each = Map::new();
    let mut marks = Map::new();
    for (pod_name, pod) in &seen.pods {
        let meta = &pod["metadata"];
        let group = seen.groups.iter().find(|group| {
            meta["annotations"][names::annotation::POD_GROUP] == group["metadata"]["name"]
        });
        let group = group.with_context(|| format!("{pod_name} has no PodGroup"))?;
        let keep = ["name", "namespace", "labels", "ownerReferences"];
        let group_meta: Map<String, Value> = keep
            .iter()
            .map(|key| ((*key).to_owned(), group["metadata"][key].clone()))
            .filter(|(_, value)| !value.is_null())
            .collect();
        each.insert(pod_name.clone(), json!({"metadata": group_meta, "spec": group["spec"]}));
        let mark = meta["labels"][names::label::SUBGROUP].as_str().unwrap_or_default();
        marks.insert(pod_name.clone(), json!(mark));
    }
    let pods: Vec<Value> = seen.pods.values().map(pruned_pod).collect();
    let what = format!("{} ({}), as its operator made it", workload.what, workload.operator);
    let mut file = json!({"what": what, "objects": objects, "pods": pods, "marks": marks});
    let mut groups: Vec<&Value> = each.values().collect();
    groups.dedup();
    match groups[..] {
        [group] => file["group"] = group.clone(),
        _ => file["each"] = Value::Object(each),
    }
    Ok(file)
}

/// The same with every UID replaced by `uid-1`, `uid-2` ..., as YAML.
///
/// # Errors
///
/// When it cannot be written as YAML: an error of the program.
pub fn to_yaml(file: &Value) -> Result<String> {
    let mut text = file.to_string();
    let mut uids = Vec::new();
    collect_uids(file, &mut uids);
    for (index, uid) in uids.iter().enumerate() {
        text = text.replace(uid.as_str(), &format!("uid-{}", index + 1));
    }
    let value: Value = serde_json::from_str(&text)?;
    Ok(serde_saphyr::to_string(&value)?)
}

/// Writes the file of a workload into the folder that `cargo test -p kai-podgrouper` reads.
///
/// # Errors
///
/// When it cannot be written.
pub fn write(workload: &Workload, text: &str) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../podgrouper/tests/recorded");
    std::fs::write(folder.join(format!("{}.yaml", workload.name)), text)?;
    Ok(())
}

async fn owner(client: &Client, namespace: &str, reference: &Value) -> Result<Value> {
    let api_version = text(reference, "apiVersion");
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let gvk = GroupVersionKind::gvk(group, version, text(reference, "kind"));
    let (resource, _) = pinned_kind(client, &gvk).await?;
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
    let mut found = serde_json::to_value(api.get(text(reference, "name")).await?)?;
    found["apiVersion"] = json!(api_version);
    found["kind"] = reference["kind"].clone();
    Ok(found)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn name(object: &Value) -> &str {
    text(&object["metadata"], "name")
}

fn collect_uids(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            if let Some(Value::String(uid)) = table.get("uid")
                && !found.contains(uid)
            {
                found.push(uid.clone());
            }
            table.values().for_each(|value| collect_uids(value, found));
        }
        Value::Array(rows) => rows.iter().for_each(|value| collect_uids(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn pruned(object: &Value) -> Value {
    let mut kept = json!({"apiVersion": object["apiVersion"], "kind": object["kind"],
        "metadata": metadata(object)});
    // Of what Kubernetes itself makes for another owner no rule reads the spec.
    let is_builtin = ["apps/v1", "batch/v1", "v1"].contains(&text(object, "apiVersion"));
    let is_top = object["metadata"]["ownerReferences"].is_null();
    let mut spec = if is_top || !is_builtin { object["spec"].clone() } else { Value::Null };
    prune_templates(&mut spec);
    if let Value::Object(fields) = &mut spec {
        // A path that the operator sets, and of no concern here.
        fields.remove("sshAuthMountPath");
    }
    if !spec.is_null() {
        kept["spec"] = spec;
    }
    for key in STATUS {
        if !object["status"][key].is_null() {
            let status = &object["status"][key];
            let cluster = &status["rayClusterName"];
            kept["status"][key] =
                if cluster.is_null() { status.clone() } else { json!({"rayClusterName": cluster}) };
        }
    }
    kept
}

fn pruned_pod(pod: &Value) -> Value {
    let mut meta = metadata(pod);
    for (table, key) in
        [("annotations", names::annotation::POD_GROUP), ("labels", names::label::SUBGROUP)]
    {
        if let Value::Object(entries) = &mut meta[table] {
            entries.remove(key);
            if entries.is_empty()
                && let Value::Object(meta) = &mut meta
            {
                meta.remove(table);
            }
        }
    }
    json!({"metadata": meta, "spec": pod_spec(&pod["spec"])})
}

fn metadata(object: &Value) -> Value {
    let from = &object["metadata"];
    let mut kept = Map::new();
    for key in ["name", "namespace", "uid", "labels", "annotations"] {
        if !from[key].is_null() {
            kept.insert(key.to_owned(), from[key].clone());
        }
    }
    if let Some(Value::Object(annotations)) = kept.get_mut("annotations") {
        annotations.retain(|_, value| {
            value.as_str().is_some_and(|text| text.len() <= ANNOTATION_BYTES_MAX)
        });
        if annotations.is_empty() {
            kept.remove("annotations");
        }
    }
    if let Some(owners) = from["ownerReferences"].as_array() {
        let owners: Vec<Value> = owners
            .iter()
            .map(|owner| {
                json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"],
                    "name": owner["name"], "uid": owner["uid"]})
            })
            .collect();
        kept.insert("ownerReferences".to_owned(), Value::Array(owners));
    }
    Value::Object(kept)
}

/// Of a pod's spec what a rule looks at.
fn pod_spec(spec: &Value) -> Value {
    let mut kept = Map::new();
    for key in ["schedulerName", "nodeName", "priorityClassName"] {
        if !spec[key].is_null() {
            kept.insert(key.to_owned(), spec[key].clone());
        }
    }
    Value::Object(kept)
}

fn prune_templates(value: &mut Value) {
    match value {
        Value::Object(table) if table.contains_key("containers") => *value = pod_spec(value),
        Value::Object(table) => table.values_mut().for_each(prune_templates),
        Value::Array(rows) => rows.iter_mut().for_each(prune_templates),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
