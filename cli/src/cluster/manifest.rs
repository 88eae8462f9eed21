//! Describes where an object keeps its pod templates.

mod workflow;

use serde_json::{Map, Value};

use crate::cluster::gpu::Total;
use crate::cluster::json::{resolve, text};
use crate::cluster::kinds::{self, Kind, Shape};

/// One pod template of an object, as JSON pointers into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Holds what a user calls it: `Worker`, `headGroupSpec`, the name of a step.
    pub(crate) role: String,
    /// The object with the field `schedulerName`.
    pub(crate) spec: String,
    /// The object with `labels` and `annotations`, where there is a place for them.
    pub(crate) meta: Option<String>,
    /// The containers, the main one first.
    pub(crate) containers: Vec<String>,
    /// Tells whether it only steers the others: a launcher, a head, a driver.
    pub(crate) steers: bool,
    pub(crate) shape: Shape,
    /// Says how many pods are made of it.
    pub(crate) replicas: u64,
}

impl Site {
    /// Tells whether pods are made of it; a workflow as a whole makes none, its steps do.
    pub(crate) fn makes_pods(&self) -> bool {
        !self.containers.is_empty() || self.shape == Shape::Spark
    }

    /// Returns the pointer of the object around its own, in which Spark has what driver and executors share.
    pub(crate) fn around(&self) -> &str {
        self.spec.rsplit_once('/').map_or("", |(around, _)| around)
    }
}

/// Keys on the way to a template that only steers the others.
const STEERING: &[&str] = &["Launcher", "PS", "Evaluator", "headGroupSpec", "driver"];

/// The pod templates of an object: at the places of its kind, or of any shape when the kind is unknown.
pub(crate) fn sites(object: &Value) -> Vec<Site> {
    let kind = kind(object);
    let mut sites = Vec::new();
    match kind {
        Some(kind) => {
            for (path, shape) in kind.sites {
                expand(object, "", path, &mut |pointer| {
                    found(object, pointer, *shape, &mut sites);
                });
            }
        }
        None => search(object, "", &mut sites),
    }
    sites
}

/// The known kind of an object.
pub(crate) fn kind(object: &Value) -> Option<&'static Kind> {
    kinds::find(text(&object["apiVersion"]), text(&object["kind"]))
}

/// Calls `each` with the pointer of every place that the dotted path leads to.
fn expand(object: &Value, pointer: &str, path: &str, each: &mut dyn FnMut(&str)) {
    if path.is_empty() {
        return each(pointer);
    }
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(value) = resolve(object, pointer) else { return };
    let keys: Vec<String> = match (head, value) {
        ("*", Value::Object(map)) => map.keys().cloned().collect(),
        ("*", Value::Array(items)) => (0..items.len()).map(|i| i.to_string()).collect(),
        (key, Value::Object(map)) if map.contains_key(key) => vec![key.to_owned()],
        _ => Vec::new(),
    };
    for key in keys {
        expand(object, &format!("{pointer}/{}", escape(&key)), rest, each);
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn found(object: &Value, pointer: &str, shape: Shape, sites: &mut Vec<Site>) {
    let Some(value) = resolve(object, pointer) else { return };
    let spec = match shape {
        Shape::Template | Shape::Pod => format!("{pointer}/spec"),
        Shape::Clique => format!("{pointer}/spec/podSpec"),
        Shape::Bare | Shape::Inline | Shape::Spark | Shape::Argo => pointer.to_owned(),
    };
    let meta = match shape {
        Shape::Template | Shape::Pod => format!("{pointer}/metadata"),
        Shape::Bare => "/metadata".to_owned(),
        Shape::Inline | Shape::Spark | Shape::Clique => pointer.to_owned(),
        Shape::Argo => format!("{pointer}/podMetadata"),
    };
    if !resolve(object, &spec).is_some_and(Value::is_object) {
        return;
    }
    let role = role(object, pointer);
    sites.push(Site {
        steers: pointer.split('/').any(|key| STEERING.contains(&key)),
        containers: containers(object, &spec, shape),
        replicas: replicas(object, pointer),
        meta: Some(meta),
        role,
        spec,
        shape,
    });
    if shape == Shape::Argo {
        steps(value, pointer, sites);
    }
}

/// The steps of a workflow that make pods; a template that nobody is seen to call makes one.
fn steps(spec: &Value, pointer: &str, sites: &mut Vec<Site>) {
    let runs = workflow::runs(spec);
    for (i, step) in spec["templates"].as_array().into_iter().flatten().enumerate() {
        let at = format!("{pointer}/templates/{i}");
        let containers: Vec<String> = match step {
            Value::Object(map) if map.contains_key("container") => vec![format!("{at}/container")],
            Value::Object(map) if map.contains_key("script") => vec![format!("{at}/script")],
            Value::Object(map) if map.contains_key("containerSet") => {
                let set = step["containerSet"]["containers"].as_array().map_or(0, Vec::len);
                (0..set).map(|j| format!("{at}/containerSet/containers/{j}")).collect()
            }
            _ => continue,
        };
        sites.push(Site {
            role: text(&step["name"]).to_owned(),
            spec: at.clone(),
            meta: Some(format!("{at}/metadata")),
            containers,
            steers: false,
            shape: Shape::Argo,
            replicas: runs.get(text(&step["name"])).copied().unwrap_or(0).max(1),
        });
    }
}

fn containers(object: &Value, spec: &str, shape: Shape) -> Vec<String> {
    let model = format!("{spec}/model");
    // KServe makes a container of the model, with its environment and resources.
    if shape == Shape::Inline && resolve(object, &model).is_some() {
        return vec![model];
    }
    let all = resolve(object, &format!("{spec}/containers")).and_then(Value::as_array);
    (0..all.map_or(0, Vec::len)).map(|i| format!("{spec}/containers/{i}")).collect()
}

/// Says what tells this template from its siblings: the last key on its path that is not a common word.
fn role(object: &Value, pointer: &str) -> String {
    let mut parts: Vec<&str> = pointer.split('/').collect();
    while let Some(key) = parts.pop() {
        if key.parse::<usize>().is_ok() {
            let item =
                resolve(object, &format!("{}/{key}", parts.join("/"))).unwrap_or(&Value::Null);
            let name =
                ["groupName", "name"].iter().map(|k| text(&item[*k])).find(|n| !n.is_empty());
            if let Some(name) = name {
                return name.to_owned();
            }
        } else if !matches!(key, "template" | "spec" | "podSpec" | "") {
            return key.to_owned();
        }
    }
    "pod".to_owned()
}

/// Returns how many pods a template makes, from `replicas` or `parallelism` of the objects around it; at most `u32::MAX`, so
/// that sums over templates stay numbers.
fn replicas(object: &Value, pointer: &str) -> u64 {
    let mut count = resolve(object, pointer).and_then(|own| own["instances"].as_u64()).unwrap_or(1);
    let mut at = pointer;
    while let Some((parent, _)) = at.rsplit_once('/') {
        let around = resolve(object, parent).unwrap_or(&Value::Null);
        let number = |key: &str| around[key].as_u64();
        // A Job makes no more pods than it has completions left.
        let completions = number("completions").unwrap_or(u64::MAX);
        let parallelism = number("parallelism").map(|at_once| at_once.min(completions));
        let here = number("replicas").or(parallelism);
        let pods = match at.strip_prefix(parent) {
            // The leader is one of the group.
            Some("/leaderTemplate") => 1,
            Some("/workerTemplate") => {
                let size = number("size").unwrap_or(1);
                size.saturating_sub(u64::from(around["leaderTemplate"].is_object()))
            }
            _ => number("numOfHosts").unwrap_or(1),
        };
        count = count.saturating_mul(here.unwrap_or(1)).saturating_mul(pods);
        at = parent;
    }
    count.min(u64::from(u32::MAX))
}

/// Looks for pod templates of any kind by their shape: an object with `spec.containers`, or with `containers` that
/// have images. There are none in metadata, nor in what a status says.
fn search(value: &Value, pointer: &str, sites: &mut Vec<Site>) {
    let (keys, is_template): (Vec<String>, bool) = match value {
        Value::Object(map) => (map.keys().cloned().collect(), is_pod_spec(map.get("spec"))),
        Value::Array(items) => ((0..items.len()).map(|i| i.to_string()).collect(), false),
        _ => return,
    };
    if is_template {
        sites.push(bare(
            value,
            pointer,
            format!("{pointer}/spec"),
            Some(format!("{pointer}/metadata")),
        ));
        return;
    }
    if is_pod_spec(Some(value)) {
        sites.push(bare(value, pointer, pointer.to_owned(), None));
        return;
    }
    for key in keys {
        if key == "metadata" || (key == "status" && pointer.is_empty()) {
            continue;
        }
        let child = value.get(&key).or_else(|| value.get(key.parse::<usize>().ok()?));
        if let Some(child) = child {
            search(child, &format!("{pointer}/{}", escape(&key)), sites);
        }
    }
}

fn bare(value: &Value, pointer: &str, spec: String, meta: Option<String>) -> Site {
    let inner = spec.strip_prefix(pointer).unwrap_or_default();
    let count = resolve(value, &format!("{inner}/containers"))
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let role =
        pointer.rsplit('/').find(|key| !matches!(*key, "template" | "spec" | "")).unwrap_or("pod");
    Site {
        role: role.to_owned(),
        containers: (0..count).map(|i| format!("{spec}/containers/{i}")).collect(),
        steers: false,
        shape: Shape::Template,
        replicas: 1,
        meta,
        spec,
    }
}

fn is_pod_spec(value: Option<&Value>) -> bool {
    let containers = value.and_then(|spec| spec["containers"].as_array());
    containers.is_some_and(|all| {
        !all.is_empty() && all.iter().all(|c| c["name"].is_string() || c["image"].is_string())
    })
}

/// Returns how many pods the object has when all are there; an estimate where controllers decide later.
pub(crate) fn pods(object: &Value) -> u64 {
    sites(object).iter().filter(|site| site.makes_pods()).map(|site| site.replicas).sum()
}

/// Returns what the object asks for when all its pods are there; an estimate where controllers decide later.
pub(crate) fn demand(object: &Value) -> (u64, Total) {
    let (mut pods, mut total) = (0, Total::default());
    for site in sites(object) {
        if !site.makes_pods() {
            continue;
        }
        pods += site.replicas;
        total.add(&Total::of_pod(&as_pod(object, &site)), site.replicas);
    }
    (pods, total)
}

/// The tasks of an array: of a Job each of whose indexes ends for itself, or that has more than run at once.
pub(crate) fn tasks(object: &Value) -> Option<u64> {
    let spec = &object["spec"];
    let tasks = spec["completions"].as_u64().filter(|_| object["kind"] == "Job")?;
    let is_array = spec["backoffLimitPerIndex"].is_number()
        || spec["parallelism"].as_u64().is_some_and(|at_once| at_once < tasks);
    is_array.then_some(tasks)
}

/// A template as the pod that is made of it.
pub(crate) fn as_pod(object: &Value, site: &Site) -> Value {
    let at = |pointer: &str| resolve(object, pointer).cloned().unwrap_or_default();
    let mut containers: Vec<Value> = site.containers.iter().map(|c| at(c)).collect();
    if site.shape == Shape::Spark {
        containers.push(spark_container(&at(&site.spec)));
    }
    let mut spec = Map::new();
    spec.insert("containers".into(), containers.into());
    let init = at(&format!("{}/initContainers", site.spec));
    if init.is_array() {
        spec.insert("initContainers".into(), init);
    }
    let meta = site.meta.as_deref().map(at).unwrap_or_default();
    let mut pod = Map::new();
    pod.insert("metadata".into(), serde_json::json!({ "annotations": meta["annotations"] }));
    pod.insert("spec".into(), spec.into());
    pod.into()
}

/// Returns what Spark's words for a pod ask for, in Kubernetes' own; memory without what Spark adds to it.
fn spark_container(role: &Value) -> Value {
    let mut limits = Map::new();
    if role["gpu"].is_object() {
        limits.insert(text(&role["gpu"]["name"]).into(), role["gpu"]["quantity"].clone());
    }
    if role["cores"].is_number() {
        limits.insert("cpu".into(), role["cores"].to_string().into());
    }
    let memory = text(&role["memory"]).to_lowercase();
    let units = [("g", "Gi"), ("gb", "Gi"), ("m", "Mi"), ("mb", "Mi"), ("k", "Ki"), ("t", "Ti")];
    let digits = memory.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if let Some((_, unit)) = units.iter().find(|(unit, _)| memory[digits.len()..] == **unit) {
        limits.insert("memory".into(), format!("{digits}{unit}").into());
    }
    serde_json::json!({ "resources": { "limits": limits } })
}

/// Says what a template is called in messages: kind, name, role.
pub(crate) fn place_name(object: &Value, site: &Site) -> String {
    format!(
        "{}/{} {}",
        text(&object["kind"]).to_lowercase(),
        text(&object["metadata"]["name"]),
        site.role
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says how many pods an object makes, and how many GPUs they ask for in thousandths.
    fn check(yaml: &str, expect: [u64; 2]) {
        let object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let (pods, gpus) = demand(&object);
        assert_eq!([pods, gpus.milli], expect, "{yaml}");
    }

    #[test]
    fn each_run_of_a_step_of_a_workflow_is_a_pod() {
        let head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  entrypoint: all\n  templates:";
        let of = |templates: &str, pods: u64| check(&format!("{head}\n{templates}"), [pods, 0]);
        let leaves = "
    - {name: one, container: {image: i}}
    - {name: two, script: {image: i}}";
        of(
            &format!(
                "    - {{name: all, dag: {{tasks: [{{name: a, template: one}}, {{name: b, template: one}}, {{name: c, template: two}}]}}}}{leaves}"
            ),
            3,
        );
        of(
            &format!(
                "    - {{name: all, steps: [[{{name: a, template: one, withItems: [x, y, z]}}], [{{name: b, template: two, withSequence: {{count: '4'}}}}]]}}{leaves}"
            ),
            7,
        );
        let nested = "    - {name: all, dag: {tasks: [{name: a, template: pair, withSequence: {start: 1, end: 3}}, {name: b, template: two}]}}
    - {name: pair, steps: [[{name: x, template: one}, {name: y, template: one}]]}";
        of(&format!("{nested}{leaves}"), 7);
        of(
            &format!(
                "    - {{name: all, dag: {{tasks: [{{name: a, template: all}}, {{name: b, template: one}}]}}}}{leaves}"
            ),
            2,
        );
    }

    #[test]
    fn the_leader_of_a_group_is_one_of_it() {
        let template = "{spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}";
        let lws = |templates: &str| {
            format!(
                "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {{replicas: 2, leaderWorkerTemplate: {{size: 4, {templates}}}}}"
            )
        };
        check(&lws(&format!("workerTemplate: {template}")), [8, 8000]);
        check(
            &lws(&format!("leaderTemplate: {{spec: {{}}}}, workerTemplate: {template}")),
            [6, 6000],
        );
        check(&lws(&format!("leaderTemplate: {template}, workerTemplate: {template}")), [8, 8000]);
    }

    #[test]
    fn a_job_makes_no_more_pods_than_it_has_completions() {
        let template =
            "template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}";
        let job =
            |spec: &str| format!("apiVersion: batch/v1\nkind: Job\nspec: {{{spec}, {template}}}");
        check(&job("parallelism: 8, completions: 2"), [2, 2000]);
        check(&job("parallelism: 2, completions: 8"), [2, 2000]);
        check(&job("parallelism: 8"), [8, 8000]);
        check(&job("completions: 8"), [1, 1000]);
    }

    #[test]
    fn a_spark_application_on_a_schedule_has_its_templates_one_level_below() {
        let yaml = "apiVersion: sparkoperator.k8s.io/v1beta2
kind: ScheduledSparkApplication
spec: {schedule: '@daily', template: {driver: {cores: 1}, executor: {instances: 3, gpu: {name: nvidia.com/gpu, quantity: 2}}}}";
        check(yaml, [4, 6000]);
    }

    #[test]
    fn what_is_said_of_an_object_makes_no_pods() {
        let pod = "{spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}}";
        let of = |fields: &str| format!("apiVersion: example.org/v1\nkind: Own\n{fields}");
        check(&of(&format!("spec: {{status: {{made: {pod}}}}}")), [1, 1000]);
        check(&of(&format!("status: {{made: {pod}}}")), [0, 0]);
        check(&of(&format!("metadata: {{labels: {{of: {pod}}}}}")), [0, 0]);
        check(&of(&format!("spec: {{made: {{metadata: {{of: {pod}}}}}}}")), [0, 0]);
    }

    #[test]
    fn sparks_own_words_are_amounts() {
        let yaml = "apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec:
  driver: {cores: 1, memory: 2g}
  executor: {instances: 3, cores: 4, memory: 512m, gpu: {name: nvidia.com/gpu, quantity: 2}}";
        check(yaml, [4, 6000]);
        let object: Value = serde_saphyr::from_str(yaml).expect("written above");
        let limits: Vec<Value> = sites(&object)
            .iter()
            .map(|site| {
                as_pod(&object, site)["spec"]["containers"][0]["resources"]["limits"].clone()
            })
            .collect();
        assert_eq!(limits[0], serde_json::json!({"cpu": "1", "memory": "2Gi"}));
        assert_eq!(limits[1]["memory"], "512Mi");
    }
}
