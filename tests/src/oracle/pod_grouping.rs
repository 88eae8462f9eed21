//! Runs the `pod-grouping` cases of the oracle against the grouping rules.
//!
//! The cases state what KAI v0.17 does, so the rules run as its twin (`Compat::KaiV017`); where
//! ours differ on purpose, scenarios of the podgrouper say so.

use std::sync::Arc;

use kai_api::duration::GoDuration;
use kai_podgrouper::kinds::{self, Row, kubeflow};
use kai_podgrouper::{
    Answer, Case, Compat, Desired, Facts, Min, Object, Pod, Read, Rule, Settings, Stop, Subgroup,
    group,
};
use serde_json::{Map, Value, json};

/// A rule asks for a handful of facts; more than this is a loop.
const READS_MAX: usize = 100;

/// Outcome of one case: nothing when all its checks hold, else one line a broken check.
pub type Findings = Vec<String>;

/// Runs all cases of a file; in the result the id of each with its findings.
pub fn run_file(file: &Value) -> Vec<(String, Findings)> {
    let cases = file["cases"].as_array().map_or(&[][..], Vec::as_slice);
    let results: Vec<Result<Value, String>> = cases.iter().map(outcome).collect();
    let judge_one = |(case, result): (&Value, &Result<Value, String>)| {
        let other = |index: u64| {
            let suffix = format!("#{index:03}");
            let at = cases.iter().position(|case| id(case).ends_with(&suffix))?;
            results[at].as_ref().ok()
        };
        (id(case), judge(case, result, other))
    };
    cases.iter().zip(&results).map(judge_one).collect()
}

fn id(case: &Value) -> String {
    case["id"].as_str().unwrap_or_default().to_owned()
}

/// The `PodGroup` of a case in the shape of the expectations, or the error's text.
fn outcome(case: &Value) -> Result<Value, String> {
    let world = World { objects: world_objects(case) };
    let mut top = case["owner"].clone();
    if let (Some("leaderworkerset"), Some(size)) =
        (case["grouper"]["plugin"].as_str(), case["grouper"]["callArguments"][0].as_i64())
    {
        top["spec"]["leaderWorkerTemplate"]["size"] = json!(size);
    }
    let top = Object::new(top);
    let owners: Vec<Arc<Object>> = case["otherOwners"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(|owner| Arc::new(Object::new(owner.clone())))
        .collect();
    let pod = Pod::from_value(&case["pod"]);
    let settings = settings(&case["grouper"]);
    let table = table(&case["grouper"]);
    let mut facts = Facts::default();
    for _ in 0..READS_MAX {
        let input = Case {
            pod: &pod,
            top: &top,
            owners: &owners,
            table: &table,
            settings: &settings,
            facts: &facts,
        };
        match apply(&case["grouper"], &input) {
            Ok(desired) => return Ok(render(&desired)),
            Err(Stop::Bad(why) | Stop::Early(why)) => return Err(why),
            Err(Stop::Need(read)) => {
                let read = *read;
                let answer = world.answer(&read);
                facts.add(read, answer);
            }
        }
    }
    Err("the rule never stops reading".to_owned())
}

fn apply(grouper: &Value, case: &Case<'_>) -> Result<Desired, Stop> {
    let constructor = grouper["constructor"].as_str().unwrap_or_default();
    let (api_version, kind) = match grouper["plugin"].as_str().unwrap_or_default() {
        "kubeflow" => return gang(grouper, case),
        "karta" => return group(&Case { table: &[], ..*case }),
        "aml" => ("amlarc.azureml.com/v1alpha1", "AmlJob"),
        "cronjobs" => ("batch/v1", "CronJob"),
        "deployment" => ("apps/v1", "Deployment"),
        "grove" => ("grove.io/v1alpha1", "PodGangSet"),
        "job" => ("batch/v1", "Job"),
        "jobset" => ("jobset.x-k8s.io/v1alpha2", "JobSet"),
        "knative" => ("serving.knative.dev/v1", "Service"),
        "kubeflow/jax" => ("kubeflow.org/v1", "JAXJob"),
        "kubeflow/mpi" => ("kubeflow.org/v1", "MPIJob"),
        "kubeflow/notebook" => ("kubeflow.org/v1beta1", "Notebook"),
        "kubeflow/pytorch" => ("kubeflow.org/v1", "PyTorchJob"),
        "kubeflow/tensorflow" => ("kubeflow.org/v1", "TFJob"),
        "kubeflow/xgboost" => ("kubeflow.org/v1", "XGBoostJob"),
        "leaderworkerset" => ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        "podjob" | "spark" => ("v1", "Pod"),
        "ray" if constructor.contains("RayJob") => ("ray.io/v1", "RayJob"),
        "ray" if constructor.contains("RayService") => ("ray.io/v1", "RayService"),
        "ray" => ("ray.io/v1", "RayCluster"),
        "runaijob" => ("run.ai/v1", "RunaiJob"),
        "skiptopowner" => ("argoproj.io/v1alpha1", "Workflow"),
        "spotrequest" => ("egx.nvidia.io/v1", "SPOTRequest"),
        _ => ("apps/v1", "StatefulSet"),
    };
    match rule(api_version, kind) {
        Some(rule) => rule(case),
        None => Err(Stop::Bad(format!("{api_version} {kind} has no rule"))),
    }
}

fn rule(api_version: &str, kind: &str) -> Option<Rule> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let fits = |row: &&Row| {
        row.group == group && row.kind == kind && (row.version == version || row.version == "*")
    };
    kinds::TABLE.iter().find(fits).map(|row| row.rule)
}

fn gang(grouper: &Value, case: &Case<'_>) -> Result<Desired, Stop> {
    let arguments = &grouper["callArguments"];
    let field = arguments[0].as_str().unwrap_or_default();
    let required: Vec<&str> = arguments[1]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(Value::as_str)
        .collect();
    kubeflow::gang(case, field, &required)
}

/// The kinds that a skipping grouper may hand over to: all, or those that the case lists.
fn table(grouper: &Value) -> Vec<Row> {
    let listed = grouper["options"]
        .as_array()
        .into_iter()
        .flatten()
        .find_map(|option| option["byOwnerKind"].as_array());
    let Some(listed) = listed else { return kinds::TABLE.to_vec() };
    let is_listed = |row: &&Row| {
        listed.iter().any(|entry| {
            let kind = &entry["ownerKind"];
            kind["kind"] == row.kind
                && kind["version"] == row.version
                && kind["group"].as_str().unwrap_or_default() == row.group
        })
    };
    kinds::TABLE.iter().filter(is_listed).copied().collect()
}

/// The innermost default grouper's options, and the booleans of the plugin itself.
fn settings(grouper: &Value) -> Settings {
    let mut settings = Settings { compat: Compat::KaiV017, ..Settings::default() };
    let mut at = grouper;
    loop {
        if let Some([name, namespace]) = at["defaultsConfigMap"].as_array().map(Vec::as_slice) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            settings.defaults = Some((text(namespace), text(name)));
        }
        let options = at["options"].as_array().map_or(&[][..], Vec::as_slice);
        if let [Value::String(queue), Value::String(pool), ..] = options {
            settings.queue_label.clone_from(queue);
            settings.node_pool_label.clone_from(pool);
        }
        for flag in options.iter().filter_map(Value::as_bool) {
            settings.legacy_names = flag;
            settings.knative_gangs = flag;
        }
        match options.iter().find(|option| option["plugin"].is_string()) {
            Some(inner) => at = inner,
            None => return settings,
        }
    }
}

fn world_objects(case: &Value) -> Vec<Value> {
    let mut objects = case["clusterObjects"].as_array().cloned().unwrap_or_default();
    let karta = &case["grouper"]["karta"];
    if karta.is_object() {
        let mut karta = karta.clone();
        karta["apiVersion"] = json!("run.ai/v1alpha1");
        karta["kind"] = json!("Karta");
        let root = &karta["spec"]["structureDefinition"]["rootComponent"]["kind"];
        let text = |key: &str| json!(root[key].as_str().unwrap_or_default());
        karta["metadata"]["labels"] = json!({
            "run.ai/karta-group": text("group"),
            "run.ai/karta-version": text("version"),
            "run.ai/karta-kind": text("kind"),
        });
        objects.push(karta);
    }
    objects
}

/// The objects of the case's API server.
struct World {
    objects: Vec<Value>,
}

impl World {
    /// Typed objects of a case carry no API version; they are told by their kind.
    fn of_kind(&self, api_version: &str, kind: &str, namespace: &str) -> Vec<Arc<Object>> {
        let fits = |object: &&Value| {
            let version = object["apiVersion"].as_str().filter(|text| !text.is_empty());
            let found = object["metadata"]["namespace"].as_str().unwrap_or_default();
            object["kind"] == kind
                && version.is_none_or(|version| version == api_version)
                && found == namespace
        };
        let with_version = |object: &Value| {
            let mut object = object.clone();
            object["apiVersion"] = json!(api_version);
            Arc::new(Object::new(object))
        };
        self.objects.iter().filter(fits).map(with_version).collect()
    }

    fn answer(&self, read: &Read) -> Answer {
        match read {
            Read::Get { api_version, kind, namespace, name, .. } => {
                let mut found = self.of_kind(api_version, kind, namespace);
                found.retain(|object| object.name() == name);
                found.pop().map_or(Answer::Absent, Answer::Found)
            }
            Read::List { api_version, kind, namespace, prefix, labels, .. } => {
                let mut found = self.of_kind(api_version, kind, namespace);
                found.retain(|object| {
                    object.name().starts_with(prefix)
                        && labels.iter().all(|(key, value)| object.label(key) == Some(value))
                });
                Answer::List(found)
            }
        }
    }
}

fn render(desired: &Desired) -> Value {
    let duration = |value: Option<GoDuration>| value.map(|value| value.to_string());
    json!({
        "name": desired.name,
        "namespace": desired.namespace,
        "queue": desired.queue,
        "priorityClassName": desired.priority_class,
        "preemptibility": desired.preemptibility.map_or("", |value| value.as_str()),
        "preemptionDelay": duration(desired.preemption_delay),
        "stalenessGracePeriod": duration(desired.staleness_grace),
        "minAvailable": desired.min_member,
        "minSubGroup": desired.min_subgroups,
        "owner": {
            "apiVersion": desired.owner.api_version,
            "kind": desired.owner.kind,
            "name": desired.owner.name,
            "uid": desired.owner.uid,
        },
        "labels": desired.labels,
        "annotations": desired.annotations,
        "topology": desired.topology.name,
        "requiredTopologyLevel": desired.topology.required,
        "preferredTopologyLevel": desired.topology.preferred,
        "subGroups": desired.subgroups.iter().map(render_subgroup).collect::<Vec<_>>(),
    })
}

fn render_subgroup(subgroup: &Subgroup) -> Value {
    let (members, subgroups) = match subgroup.min {
        Min::Members(members) => (members, None),
        Min::Subgroups(subgroups) => (0, Some(subgroups)),
    };
    json!({
        "name": subgroup.name,
        "parent": subgroup.parent,
        "minAvailable": members,
        "minSubGroup": subgroups,
        "podsReferences": subgroup.pods,
        "topologyConstraints": subgroup.topology.as_ref().map(|topology| json!({
            "topology": topology.name,
            "requiredTopologyLevel": topology.required,
            "preferredTopologyLevel": topology.preferred,
        })),
    })
}

fn judge<'a>(
    case: &Value,
    result: &Result<Value, String>,
    other: impl Fn(u64) -> Option<&'a Value>,
) -> Findings {
    let mut findings = Findings::new();
    let expected = &case["expect"]["error"];
    match (expected["present"].as_bool(), result) {
        (Some(true), Ok(_)) => findings.push("expected an error, got a PodGroup".to_owned()),
        (Some(false), Err(why)) => findings.push(format!("unexpected error: {why}")),
        (Some(true), Err(why)) => {
            // The text is no behaviour; what it must name is.
            if let Some(part) = expected["contains"].as_str().filter(|part| !why.contains(part)) {
                findings.push(format!("error {why:?} does not contain {part:?}"));
            }
        }
        (Some(false) | None, _) => {}
    }
    let null = Value::Null;
    let actual = result.as_ref().unwrap_or(&null);
    for check in case["expect"]["podGroup"].as_array().map_or(&[][..], Vec::as_slice) {
        let path = check["path"].as_str().unwrap_or_default();
        let found = at(actual, path);
        let wanted = match check["op"].as_str() {
            Some("sameAsCase") => {
                let Some(other) = check["otherIndex"].as_u64().and_then(&other) else { continue };
                at(other, check["otherPath"].as_str().unwrap_or_default())
            }
            _ => check["value"].clone(),
        };
        if !holds(check["op"].as_str().unwrap_or_default(), &found, &wanted) {
            findings.push(format!("{path}: {} {wanted}, got {found}", check["op"]));
        }
    }
    findings
}

/// The value at `a.b[0].c[name=x].d[key]`; null when there is none.
fn at(value: &Value, path: &str) -> Value {
    let mut at = value.clone();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (selector, after) = inner.split_once(']').unwrap_or((inner, ""));
            at = select(&at, selector);
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        at = at[&rest[..end]].clone();
        rest = &rest[end..];
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    at
}

fn select(value: &Value, selector: &str) -> Value {
    if let Some(rows) = value.as_array() {
        let found = match selector.split_once('=') {
            Some((key, wanted)) => rows.iter().find(|row| row[key] == wanted),
            None => selector.parse::<usize>().ok().and_then(|index| rows.get(index)),
        };
        return found.cloned().unwrap_or_default();
    }
    value[selector].clone()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(rows) => rows.is_empty(),
        Value::Object(table) => table.is_empty(),
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::Array(rows) => rows.len(),
        Value::Object(table) => table.len(),
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn holds(op: &str, found: &Value, wanted: &Value) -> bool {
    match op {
        "equals" | "sameAsCase" => same(found, wanted),
        "notEquals" => !same(found, wanted),
        "isNull" => found.is_null(),
        "notNull" => !found.is_null(),
        "empty" => is_empty(found),
        "notEmpty" => !is_empty(found),
        "length" => wanted.as_u64() == u64::try_from(length(found)).ok(),
        "contains" => contains(found, wanted),
        "notContains" => !contains(found, wanted),
        "sameElements" => same_elements(found, wanted),
        _ => false,
    }
}

fn contains(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Array(rows), wanted) => rows.iter().any(|row| same(row, wanted)),
        (Value::Object(table), Value::String(key)) => table.contains_key(key),
        _ => false,
    }
}

fn same_elements(found: &Value, wanted: &Value) -> bool {
    let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (found, mut wanted) = (rows(found), rows(wanted));
    found.len() == wanted.len()
        && found.iter().all(|row| {
            let at = wanted.iter().position(|other| same(row, other));
            at.map(|at| wanted.remove(at)).is_some()
        })
}

/// Equality where absent is empty or zero, and durations are compared by their length.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let get =
                |table: &Map<String, Value>, key: &str| table.get(key).cloned().unwrap_or_default();
            let keys = left.keys().chain(right.keys());
            keys.into_iter().all(|key| same(&get(left, key), &get(right, key)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::String(left), Value::String(right)) => {
            let length = |text: &str| text.parse::<GoDuration>().ok();
            left == right || (length(left).is_some() && length(left) == length(right))
        }
        (left, right) => left == right || (is_empty(left) && is_empty(right)),
    }
}
