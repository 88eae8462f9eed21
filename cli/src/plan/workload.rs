//! Work that does not exist yet: its pods as its operator would make them, grouped by the podgrouper's own rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use kai_api::names::annotation;
use kai_podgrouper::admission::review::{self, Hook, Verdict};
use kai_podgrouper::admission::settings::{Flags, Settings as Admission};
use kai_podgrouper::{Answer, Case, Facts, Object, Pod, Read, Settings, Stop, Write};
use kai_podgrouper::{group, kinds, mark, merge};
use kai_sandbox::operators;
use serde_json::{Value, json};

use crate::cluster::json::text;
use crate::cluster::manifest;
use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;

/// A rule asks for a handful of facts; more than this is a loop.
const READS_MAX: usize = 1_000;
/// Pods of one workload at most.
const PODS_MAX: u64 = 100_000;

/// The objects of work, as they will be.
#[derive(Debug, Default)]
pub(super) struct Grouped {
    /// Its `PodGroup`s.
    pub(super) groups: Vec<Value>,
    /// Its pods, marked with their groups.
    pub(super) pods: Vec<Value>,
    /// Holds what was taken for granted, a sentence each.
    pub(super) notes: Vec<String>,
}

/// Holds what grouping needs to know of the cluster.
pub(super) struct Known<'k> {
    /// The rules' settings.
    pub(super) settings: Settings,
    /// The value of a priority class, where there is one.
    pub(super) class: &'k dyn Fn(&str) -> Option<i32>,
    pub(super) now: jiff::Timestamp,
}

/// Works out the pods and groups of an object.
///
/// # Errors
/// Its pods would be refused, or belong to no group.
pub(super) fn grouped(object: &Value, known: &Known<'_>) -> Result<Grouped, Problem> {
    check_pods(object)?;
    let mut work = Grouped::default();
    let family = family(object, known, &mut work.notes);
    let objects: BTreeMap<&str, Arc<Object>> = family
        .iter()
        .map(|one| (text(&one["metadata"]["uid"]), Arc::new(Object::new(one.clone()))))
        .collect();
    let pods = family.iter().filter(|one| one["kind"] == "Pod");
    let mut groups: BTreeMap<String, Value> = BTreeMap::new();
    let mut strangers = 0;
    for pod in pods {
        if text(&pod["spec"]["schedulerName"]) != known.settings.scheduler {
            strangers += 1;
            continue;
        }
        let mut pod = admitted(pod.clone(), known)?;
        let read = Pod::from_value(&pod);
        let owners = owners(&read, &objects);
        let desired = desired(&read, &owners, known)?;
        let stored = groups.get(&desired.name).map(|stored| Object::new(stored.clone()));
        match merge(&desired, stored.as_ref(), &known.settings) {
            Write::Nothing => {}
            Write::Create(mut created) => {
                let metadata = &mut created["metadata"];
                metadata["uid"] = json!(format!("{}-of-plan", desired.name));
                metadata["creationTimestamp"] = json!(seconds(known.now));
                groups.insert(desired.name.clone(), created);
            }
            Write::Patch(patch) => {
                if let Some(stored) = groups.get_mut(&desired.name) {
                    json_patch::merge(stored, &patch);
                }
            }
        }
        if let Some(patch) = mark(&read, &desired, &known.settings) {
            json_patch::merge(&mut pod, &patch);
        }
        work.pods.push(pod);
    }
    if strangers > 0 {
        work.notes.push(format!(
            "{strangers} of its pods name another scheduler and are not planned for"
        ));
    }
    work.groups = groups.into_values().collect();
    Ok(work)
}

/// Refuses work with more pods than a plan has room for, before any is made: a number with a digit too many is a mistake.
fn check_pods(object: &Value) -> Result<(), Problem> {
    let sites = manifest::sites(object);
    let pods = sites.iter().fold(0_u64, |sum, site| sum.saturating_add(site.replicas));
    if pods <= PODS_MAX {
        return Ok(());
    }
    let name = clean(text(&object["metadata"]["name"]));
    let what = format!("{name} has {pods} pods: at most {PODS_MAX} are planned for");
    Err(Problem::new(number::NEVER_FITS, Exit::Refused, what)
        .fix("lower its parallelism or its replicas"))
}

fn seconds(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The object and what its operator makes of it. Where the operator is not known here, a pod is made of each template.
fn family(object: &Value, known: &Known<'_>, notes: &mut Vec<String>) -> Vec<Value> {
    let mut family = operators::offspring(object, known.now);
    let has_pods = family.iter().any(|one| one["kind"] == "Pod");
    if has_pods || operators::is_known(text(&object["apiVersion"]), text(&object["kind"])) {
        return family;
    }
    let Some(owner) = family.first().cloned() else { return family };
    let metadata = &owner["metadata"];
    for site in manifest::sites(object).iter().filter(|site| !site.containers.is_empty()) {
        let template = manifest::as_pod(object, site);
        for index in 0..site.replicas {
            let mut pod = template.clone();
            let name = format!("{}-{}-{index}", text(&metadata["name"]), site.role.to_lowercase());
            pod["apiVersion"] = json!("v1");
            pod["kind"] = json!("Pod");
            pod["metadata"]["name"] = json!(name);
            pod["metadata"]["namespace"] = metadata["namespace"].clone();
            pod["metadata"]["uid"] = json!(format!("{}-{name}", text(&metadata["uid"])));
            pod["metadata"]["creationTimestamp"] = json!(seconds(known.now));
            pod["metadata"]["ownerReferences"] = json!([{
                "apiVersion": owner["apiVersion"], "kind": owner["kind"],
                "name": metadata["name"], "uid": metadata["uid"], "controller": true,
            }]);
            family.push(pod);
        }
    }
    if family.len() > 1 {
        notes.push(format!(
            "the operator of {} is not known here: its pods are taken from its templates",
            clean(text(&owner["kind"]))
        ));
    }
    family
}

/// A pod as admission lets it in.
fn admitted(mut pod: Value, known: &Known<'_>) -> Result<Value, Problem> {
    let metadata = &pod["metadata"];
    let namespace = text(&metadata["namespace"]).to_owned();
    let spec = serde_json::from_value(json!({ "admission": { "gpuSharing": true } })).ok();
    let flags = Flags {
        scheduler: known.settings.scheduler.clone(),
        queue_label: known.settings.queue_label.clone(),
    };
    let settings = Admission::of(spec.as_ref(), &flags);
    let context = review::Context { settings: &settings, queues: None, token: "planned" };
    for hook in [Hook::MutatePod, Hook::ValidatePod] {
        let request = review::Request {
            uid: String::new(),
            operation: "CREATE".to_owned(),
            namespace: namespace.clone(),
            object: pod.clone(),
            old_object: Value::Null,
        };
        match review::answer(hook, &request, &context).verdict {
            Verdict::Allowed => {}
            Verdict::Patched(patch) => {
                json_patch::patch(&mut pod, &patch)
                    .map_err(|error| refused(&pod, &error.to_string()))?;
            }
            Verdict::Denied(why) => return Err(refused(&pod, &why)),
        }
    }
    pod["status"] = json!({ "phase": "Pending" });
    default_requests(&mut pod);
    Ok(pod)
}

/// Requests what containers have a limit of and no request, as the API server does.
fn default_requests(pod: &mut Value) {
    for list in ["initContainers", "containers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            let limits = container["resources"]["limits"].as_object().cloned();
            for (resource, amount) in limits.into_iter().flatten() {
                let requests = &mut container["resources"]["requests"];
                if requests[&resource].is_null() {
                    requests[&resource] = amount;
                }
            }
        }
    }
}

fn refused(pod: &Value, why: &str) -> Problem {
    let what = format!("the pod {} would be refused", clean(text(&pod["metadata"]["name"])));
    Problem::new(number::REFUSED, Exit::Refused, what).line(clean(why).into_owned())
}

/// The owners of a pod, the nearest first.
fn owners(pod: &Pod, objects: &BTreeMap<&str, Arc<Object>>) -> Vec<Arc<Object>> {
    let mut owners: Vec<Arc<Object>> = Vec::new();
    let mut next = pod.owners.first().cloned();
    while let Some(object) = next.and_then(|owner| objects.get(&*owner.uid)) {
        if owners.len() > objects.len() {
            break;
        }
        owners.push(object.clone());
        next = object.owners().first().cloned();
    }
    owners
}

fn desired(
    pod: &Pod,
    owners: &[Arc<Object>],
    known: &Known<'_>,
) -> Result<kai_podgrouper::Desired, Problem> {
    let own = pod.to_object();
    let top = owners.last().map_or(&own, |top| top);
    let mut facts = Facts::default();
    for _ in 0..READS_MAX {
        let case = Case {
            pod,
            top,
            owners,
            table: kinds::TABLE,
            settings: &known.settings,
            facts: &facts,
        };
        match group(&case) {
            Ok(desired) => return Ok(desired),
            Err(Stop::Need(read)) => {
                let read = *read;
                let answer = answer(&read, known);
                facts.add(read, answer);
            }
            Err(Stop::Bad(why) | Stop::Early(why)) => return Err(ungrouped(pod, &why)),
        }
    }
    Err(ungrouped(pod, "the workload's rule reads without end"))
}

fn ungrouped(pod: &Pod, why: &str) -> Problem {
    let what = format!("the podgrouper would make no PodGroup for the pod {}", clean(&pod.name));
    Problem::new(number::REFUSED, Exit::Refused, what).line(clean(why).into_owned())
}

/// Returns what a rule would read: of a workload that is new there is nothing yet.
fn answer(read: &Read, known: &Known<'_>) -> Answer {
    match read {
        Read::Get { kind, name, .. } if kind == "PriorityClass" => match (known.class)(name) {
            Some(value) => {
                let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": kind,
                    "metadata": {"name": name}, "value": value});
                Answer::Found(Arc::new(Object::new(class)))
            }
            None => Answer::Absent,
        },
        Read::Get { .. } => Answer::Absent,
        Read::List { .. } => Answer::List(Vec::new()),
    }
}

/// The group that a pod is marked with, as namespace and name with a slash between.
pub(super) fn group_of(pod: &Value) -> String {
    let metadata = &pod["metadata"];
    let group = text(&metadata["annotations"][annotation::POD_GROUP]);
    format!("{}/{group}", text(&metadata["namespace"]))
}
