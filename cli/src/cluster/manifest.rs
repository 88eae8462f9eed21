//! Where an object keeps its pod templates.

use serde_json::{Map, Value};

use crate::cluster::gpu::Total;
use crate::cluster::json::text;
use crate::cluster::kinds::{self, Kind, Shape};

/// One pod template of an object, as JSON pointers into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// What a user calls it: `Worker`, `headGroupSpec`, the name of a step.
    pub(crate) role: String,
    /// The object with the field `schedulerName`.
    pub(crate) spec: String,
    /// The object with `labels` and `annotations`, where there is a place for them.
    pub(crate) meta: Option<String>,
    /// The containers, the main one first.
    pub(crate) containers: Vec<String>,
    /// Whether it only steers the others: a launcher, a head, a driver.
    pub(crate) steers: bool,
    pub(crate) shape: Shape,
    /// How many pods are made of it.
    pub(crate) replicas: u64,
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
    let Some(value) = object.pointer(pointer) else { return };
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
    let Some(value) = object.pointer(pointer) else { return };
    let spec = match shape {
        Shape::Template | Shape::Pod => format!("{pointer}/spec"),
        Shape::Clique => format!("{pointer}/spec/podSpec"),
        Shape::Bare | Shape::Inline | Shape::Argo => pointer.to_owned(),
    };
    let meta = match shape {
        Shape::Template | Shape::Pod => format!("{pointer}/metadata"),
        Shape::Bare => "/metadata".to_owned(),
        Shape::Inline | Shape::Clique => pointer.to_owned(),
        Shape::Argo => format!("{pointer}/podMetadata"),
    };
    if shape != Shape::Inline && !object.pointer(&spec).is_some_and(Value::is_object) {
        return;
    }
    let role = role(object, pointer);
    sites.push(Site {
        steers: pointer.split('/').any(|key| STEERING.contains(&key)),
        containers: containers(object, &spec),
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

/// The steps of a workflow that make pods.
fn steps(spec: &Value, pointer: &str, sites: &mut Vec<Site>) {
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
            replicas: runs(spec, text(&step["name"])),
        });
    }
}

/// How often a workflow names a template among its tasks and steps; once where it is the one that it begins with.
fn runs(spec: &Value, template: &str) -> u64 {
    let templates = spec["templates"].as_array().into_iter().flatten();
    let named = templates.flat_map(|of| {
        let tasks = of["dag"]["tasks"].as_array().into_iter().flatten();
        let steps = of["steps"].as_array().into_iter().flatten();
        tasks.chain(steps.flat_map(|beside| beside.as_array().into_iter().flatten()))
    });
    let count = named.filter(|task| text(&task["template"]) == template).count();
    u64::try_from(count).unwrap_or(u64::MAX).max(1)
}

fn containers(object: &Value, spec: &str) -> Vec<String> {
    let all = object.pointer(&format!("{spec}/containers")).and_then(Value::as_array);
    (0..all.map_or(0, Vec::len)).map(|i| format!("{spec}/containers/{i}")).collect()
}

/// What tells this template from its siblings: the last key on its path that is not a common word.
fn role(object: &Value, pointer: &str) -> String {
    let mut parts: Vec<&str> = pointer.split('/').collect();
    while let Some(key) = parts.pop() {
        if key.parse::<usize>().is_ok() {
            let item =
                object.pointer(&format!("{}/{key}", parts.join("/"))).unwrap_or(&Value::Null);
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

/// How many pods a template makes, from `replicas` or `parallelism` of the objects around it.
fn replicas(object: &Value, pointer: &str) -> u64 {
    let mut count = 1;
    let mut at = pointer;
    while let Some((parent, _)) = at.rsplit_once('/') {
        let around = object.pointer(parent).unwrap_or(&Value::Null);
        let number = |key: &str| around[key].as_u64();
        let here =
            number("replicas").or_else(|| number("parallelism")).or_else(|| number("instances"));
        count *= here.unwrap_or(1) * number("numOfHosts").unwrap_or(1);
        at = parent;
    }
    count
}

/// Looks for pod templates of any kind by their shape: an object with `spec.containers`, or with `containers` that
/// have images.
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
        let child = value.get(&key).or_else(|| value.get(key.parse::<usize>().ok()?));
        if let Some(child) = child {
            search(child, &format!("{pointer}/{}", escape(&key)), sites);
        }
    }
}

fn bare(value: &Value, pointer: &str, spec: String, meta: Option<String>) -> Site {
    let inner = spec.strip_prefix(pointer).unwrap_or_default();
    let count =
        value.pointer(&format!("{inner}/containers")).and_then(Value::as_array).map_or(0, Vec::len);
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

/// What the object asks for when all its pods are there; an estimate where controllers decide later.
pub(crate) fn demand(object: &Value) -> (u64, Total) {
    let (mut pods, mut total) = (0, Total::default());
    for site in sites(object) {
        if site.containers.is_empty() {
            continue;
        }
        pods += site.replicas;
        total.add(&Total::of_pod(&as_pod(object, &site)), site.replicas);
    }
    (pods, total)
}

/// A template as the pod that is made of it.
pub(crate) fn as_pod(object: &Value, site: &Site) -> Value {
    let at = |pointer: &str| object.pointer(pointer).cloned().unwrap_or_default();
    let containers: Vec<Value> = site.containers.iter().map(|c| at(c)).collect();
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

/// What a template is called in messages: kind, name, role.
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

    #[test]
    fn each_task_of_a_workflow_is_a_pod() {
        let yaml = "
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec:
  entrypoint: all
  templates:
    - {name: all, dag: {tasks: [{name: a, template: one}, {name: b, template: one}, {name: c, template: two}]}}
    - {name: one, container: {image: i}}
    - {name: two, script: {image: i}}
";
        let object: Value = serde_saphyr::from_str(yaml).expect("written above");
        assert_eq!(demand(&object).0, 3);
    }
}
