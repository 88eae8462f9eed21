//! Workloads as files: objects and pods in, `PodGroup`s and marks out.
//!
//! `groups/*.yaml` hold one idea each; `recorded/*.yaml` what real operators made of a workload. A
//! file names what it is about (`what`), the objects of the API (`objects`), the pods to group
//! (`pods`) and what must come out: for every pod the same `group` (a part of the `PodGroup`), or
//! `each` pod's own, the subgroup of each pod (`marks`), or the `error`. `kai_v017` says the same of
//! KAI v0.17 where ours differ on purpose. `unserved` lists API versions that the cluster lacks.
//!
//! `wide` says what comes out where the podgrouper may read every kind; the file is then also run with the
//! rights that `deploy/rbac/podgrouper.yaml` gives, for rights decide where the walk up the owners ends.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use kai_podgrouper::{
    Answer, Case, Compat, Desired, Facts, Object, Part, Pod, Read, Settings, Stop, Write, group,
    kinds, mark, merge,
};
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn every_rule_gives_what_its_file_says() -> Outcome {
    run_folder("groups")
}

#[test]
fn what_real_operators_made_is_grouped_as_recorded() -> Outcome {
    run_folder("recorded")
}

#[expect(clippy::panic_in_result_fn, reason = "a test ends in its assertion")]
fn run_folder(name: &str) -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let mut broken = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        let file: Value = serde_saphyr::from_str(&std::fs::read_to_string(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        count += 1;
        let unknown = unknown_keys(&file);
        broken.extend(unknown.into_iter().map(|line| format!("{}: {line}", path.display())));
        let rights = if file.get("wide").is_some() { readable()? } else { Rights::All };
        let mut findings = check(&file, &file, Compat::Off, &rights);
        for (key, compat) in [("wide", Compat::Off), ("kai_v017", Compat::KaiV017)] {
            if file.get(key).is_some() {
                let other = check(&file, &file[key], compat, &Rights::All);
                findings.extend(other.into_iter().map(|line| format!("{key}: {line}")));
            }
        }
        broken.extend(findings.into_iter().map(|line| format!("{}: {line}", path.display())));
    }
    assert!(count > 0, "no files in {}", folder.display());
    assert!(broken.is_empty(), "{} of {count} files:\n{}", broken.len(), broken.join("\n"));
    Ok(())
}

/// A user may write a workload of as many parts as an object holds, all of which are read for each of its pods: where each was
/// compared with all others, the daemon answered nobody for as long.
#[test]
fn a_workload_of_very_many_parts_costs_its_size() {
    const PARTS: usize = 60_000;
    const SECONDS_MAX: u64 = 10;
    let ours = || json!({"spec": {"schedulerName": "kai-scheduler"}});
    let parts = |part: &dyn Fn(String) -> Value| -> Vec<Value> {
        (0..PARTS).map(|at| part(format!("p-{at}"))).collect()
    };
    let mut types: serde_json::Map<String, Value> =
        (0..PARTS).map(|at| (format!("p-{at}"), json!({}))).collect();
    types.insert("Worker".to_owned(), json!({"template": ours()}));
    let named = parts(&|name| json!({"groupName": name}));
    let mut jobs = parts(&|name| json!({"name": name, "replicas": 0}));
    let template = json!({"spec": {"template": ours()}});
    // Those that have no replicas are none that a job waits for, as long as its list of them is.
    let on = json!((1_000..1_020).map(|at| json!({"name": format!("p-{at}")})).collect::<Vec<_>>());
    let job = |at: usize| json!({"name": format!("o-{at}"), "template": template, "dependsOn": on});
    jobs.extend((0..9_000).map(job));
    let leaf =
        |at: usize| json!({"name": format!("l-{at}"), "minReplicas": 1, "podReferences": []});
    let leaves: Vec<Value> = (0..9_000).map(leaf).collect();
    let gang = json!({"podgroups": leaves,
        "topologyConstraintGroupConfigs": [{"name": "c", "podGroupNames": parts(&|name| json!(name))}]});
    let labels = json!({"jobset.sigs.k8s.io/replicatedjob-name": "o-1", "jobset.sigs.k8s.io/job-index": "0",
        "grove.io/podgang": "g"});
    for (api_version, kind, spec) in [
        ("kubeflow.org/v1", "TFJob", json!({"tfReplicaSpecs": types})),
        ("ray.io/v1", "RayCluster", json!({"workerGroupSpecs": named})),
        (
            "ray.io/v1",
            "RayCluster",
            json!({"headGroupSpec": {"template": ours()}, "workerGroupSpecs": named}),
        ),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", json!({"replicatedJobs": jobs})),
        ("grove.io/v1alpha1", "PodCliqueSet", json!({})),
    ] {
        let owner = json!({"apiVersion": api_version, "kind": kind, "name": "w", "uid": "u"});
        let metadata = json!({"name": "w", "namespace": "ns", "uid": "u"});
        let file = json!({
            "objects": [
                {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec},
                {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
                    "metadata": {"name": "g", "namespace": "ns", "uid": "g"}, "spec": gang},
            ],
            "pods": [{"metadata":
                {"name": "p", "namespace": "ns", "labels": labels, "ownerReferences": [owner]}}],
        });
        let began = std::time::Instant::now();
        let findings = check(&file, &file, Compat::Off, &Rights::All);
        assert!(findings.is_empty(), "{kind}: {findings:?}");
        assert!(began.elapsed().as_secs() < SECONDS_MAX, "{kind}: {:?}", began.elapsed());
    }
}

/// Keys of a file, or of what else it says comes out, and pods that it speaks of, that mean nothing: it would check less than
/// it seems to.
fn unknown_keys(file: &Value) -> Vec<String> {
    const WANTED: [&str; 5] = ["group", "each", "marks", "error", "foreign"];
    const ALL: [&str; 7] = ["what", "objects", "pods", "defaults", "unserved", "wide", "kai_v017"];
    let keys = |table: &Value| -> Vec<String> {
        table.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let mut found = keys(file);
    found.retain(|key| !ALL.contains(&&**key) && !WANTED.contains(&&**key));
    let pods: Vec<&str> =
        rows(file, "pods").iter().filter_map(|pod| pod["metadata"]["name"].as_str()).collect();
    for wanted in [file, &file["wide"], &file["kai_v017"]] {
        if !std::ptr::eq(wanted, file) {
            found.extend(keys(wanted).into_iter().filter(|key| !WANTED.contains(&&**key)));
        }
        let named = keys(&wanted["each"]).into_iter().chain(keys(&wanted["marks"]));
        found.extend(named.filter(|pod| !pods.contains(&&**pod)));
    }
    found.into_iter().map(|key| format!("{key:?} means nothing here")).collect()
}

/// Kinds that may be read.
enum Rights {
    All,
    /// Groups and plurals.
    Only(BTreeSet<(String, String)>),
}

impl Rights {
    fn allow(&self, object: &Object) -> bool {
        let gvk = object.gvk();
        match self {
            Self::All => true,
            Self::Only(rows) => {
                rows.contains(&(gvk.group, format!("{}s", gvk.kind.to_lowercase())))
            }
        }
    }
}

/// Lists what the installed roles let the podgrouper get.
fn readable() -> Result<Rights, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/rbac/podgrouper.yaml");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&std::fs::read_to_string(path)?)?;
    let mut found = BTreeSet::new();
    for rule in documents.iter().flat_map(|document| rows(document, "rules")) {
        if !rows(rule, "verbs").contains(&json!("get")) {
            continue;
        }
        for (group, resource) in rows(rule, "apiGroups")
            .iter()
            .flat_map(|group| rows(rule, "resources").iter().map(move |resource| (group, resource)))
        {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            found.insert((text(group), text(resource)));
        }
    }
    Ok(Rights::Only(found))
}

fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn check(file: &Value, want: &Value, compat: Compat, rights: &Rights) -> Vec<String> {
    let mut settings = Settings { compat, ..Settings::default() };
    if let Some(name) = file["defaults"].as_str() {
        settings.defaults = Some(("kai-scheduler".to_owned(), name.to_owned()));
    }
    let objects: Vec<Arc<Object>> = rows(file, "objects")
        .iter()
        .chain(rows(file, "pods"))
        .map(|value| Arc::new(Object::new(with_kind(value))))
        .filter(|object| rights.allow(object))
        .collect();
    let unserved = rows(file, "unserved");
    let mut findings = Vec::new();
    for value in rows(file, "pods") {
        let pod = Pod::from_value(value);
        let result = desired(&pod, &objects, unserved, &settings);
        for finding in check_pod(&pod, result, want, &settings) {
            findings.push(format!("pod {}: {finding}", pod.name));
        }
    }
    findings
}

/// Pods may leave their kind out.
fn with_kind(value: &Value) -> Value {
    let mut value = value.clone();
    if value["kind"].is_null() {
        value["apiVersion"] = json!("v1");
        value["kind"] = json!("Pod");
    }
    value
}

fn check_pod(
    pod: &Pod,
    result: Result<Desired, String>,
    want: &Value,
    settings: &Settings,
) -> Vec<String> {
    let desired = match (result, want["error"].as_str()) {
        (Err(why), Some(part)) if why.contains(part) => return Vec::new(),
        (Err(why), _) => return vec![format!("failed: {why}")],
        (Ok(_), Some(part)) => return vec![format!("grouped, want an error with {part:?}")],
        (Ok(desired), None) => desired,
    };
    let mut findings = Vec::new();
    let Write::Create(written) = merge(&desired, None, settings) else {
        return vec!["nothing to create".to_owned()];
    };
    for part in [&want["group"], &want["each"][&*pod.name]] {
        if !part.is_null() {
            differ("", part, &written, &mut findings);
        }
    }
    // What was just created needs no second write.
    let mut stored = written;
    stored["metadata"]["uid"] = json!("stored");
    if merge(&desired, Some(&Object::new(stored)), settings) != Write::Nothing {
        findings.push("the PodGroup would be written again".to_owned());
    }
    if let Some(wanted) = want["marks"][&*pod.name].as_str() {
        let patch = mark(pod, &desired, settings).unwrap_or_default();
        let found = &patch["metadata"]["labels"]["kai.scheduler/subgroup-name"];
        if found.as_str().unwrap_or_default() != wanted {
            findings.push(format!("mark {found}, want {wanted:?}"));
        }
    }
    if let Some(part) = want["foreign"].as_str() {
        let found = desired.foreign.clone().unwrap_or_default();
        if !found.contains(part) || found.is_empty() {
            findings.push(format!("foreign part {found:?}, want {part:?}"));
        }
    }
    findings
}

/// Every field that is wanted must be there; `null` wants it absent, and lists are whole.
fn differ(path: &str, want: &Value, found: &Value, findings: &mut Vec<String>) {
    match (want, found) {
        (Value::Object(table), Value::Object(_)) => {
            for (key, want) in table {
                differ(&format!("{path}.{key}"), want, &found[key], findings);
            }
        }
        (Value::Array(want), Value::Array(rows)) if want.len() == rows.len() => {
            for (index, (want, found)) in want.iter().zip(rows).enumerate() {
                differ(&format!("{path}[{index}]"), want, found, findings);
            }
        }
        _ if want == found => {}
        _ => findings.push(format!("{path} is {found}, want {want}")),
    }
}

/// Gives what is read of an object.
fn part_of(object: &Arc<Object>, part: Part) -> Arc<Object> {
    let value = object.value();
    match part {
        Part::Spec | Part::Whole => object.clone(),
        Part::Metadata => Arc::new(Object::new(json!({"apiVersion": value["apiVersion"],
            "kind": value["kind"], "metadata": value["metadata"]}))),
    }
}

/// Groups a pod by the objects of a file, as far up its owners as they go.
fn desired(
    pod: &Pod,
    objects: &[Arc<Object>],
    unserved: &[Value],
    settings: &Settings,
) -> Result<Desired, String> {
    let find = |api_version: &str, kind: &str, name: &str| {
        let fits = |object: &&Arc<Object>| {
            let gvk = object.gvk();
            gvk.api_version() == api_version && gvk.kind == kind && object.name() == name
        };
        objects.iter().find(fits).cloned()
    };
    let mut owners = Vec::new();
    let mut next = pod.owners.first().cloned();
    while let Some(owner) = next {
        let Some(object) = find(&owner.api_version, &owner.kind, &owner.name) else { break };
        next = object.owners().first().cloned();
        owners.push(object);
    }
    let top = owners.last().cloned().unwrap_or_else(|| Arc::new(pod.to_object()));
    // What has no rule is read in full where a Karta describes it.
    let part = kinds::find(kinds::TABLE, &top.gvk()).map_or(Part::Whole, |row| row.part);
    let top = part_of(&top, part);
    let mut facts = Facts::default();
    for _ in 0..100 {
        let case =
            Case { pod, top: &top, owners: &owners, table: kinds::TABLE, settings, facts: &facts };
        match group(&case) {
            Ok(desired) => return Ok(desired),
            Err(Stop::Bad(why) | Stop::Early(why)) => return Err(why),
            Err(Stop::Need(read)) => {
                let read = *read;
                let answer = match &read {
                    Read::Get { api_version, .. } if unserved.contains(&json!(api_version)) => {
                        Answer::Unserved
                    }
                    Read::Get { api_version, kind, name, part, .. } => {
                        let found = find(api_version, kind, name);
                        found.map_or(Answer::Absent, |found| Answer::Found(part_of(&found, *part)))
                    }
                    Read::List { kind, prefix, labels, .. } => {
                        let fits = |object: &&Arc<Object>| {
                            object.gvk().kind == *kind
                                && object.name().starts_with(prefix)
                                && labels
                                    .iter()
                                    .all(|(key, value)| object.label(key) == Some(value))
                        };
                        Answer::List(objects.iter().filter(fits).cloned().collect())
                    }
                };
                facts.add(read, answer);
            }
        }
    }
    Err("the rule never stops reading".to_owned())
}
