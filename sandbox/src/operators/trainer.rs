//! `TrainJob`, as Kubeflow Trainer 2.3 runs it: a `JobSet` of its runtime's template, with what the job says of it.
//!
//! Left out: patches of the runtime, initialisers, MPI's hosts and secrets, pod groups of other schedulers, and progress.

use jiff::SignedDuration;
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::JOB_SET;
use super::action::{Action, View, is_true, kind_of};
use super::condition::{self, Wanted};
use super::template::{environment, integer};

/// The label of the replicated job that trains.
const STEP: &str = "trainer.kubeflow.org/trainjob-ancestor-step";
/// The port at which the nodes of torch meet.
const PORT: i64 = 29400;
/// Time until a runtime is looked for again that is not there yet.
const LOOK: SignedDuration = SignedDuration::from_millis(300);

/// Reconciles a `TrainJob`.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    if is_true(view.object, "Complete") || is_true(view.object, "Failed") {
        return Vec::new();
    }
    let suspended = view.spec()["suspend"] == true;
    let Some(set) = view.child(JOB_SET, view.name()) else {
        let Some(runtime) = runtime(view) else {
            return vec![Action::Again(view.now.saturating_add(LOOK).unwrap_or(view.now))];
        };
        return vec![Action::Create(JOB_SET, job_set(view, runtime, suspended))];
    };
    let mut actions = Vec::new();
    if (set.data["spec"]["suspend"] == true) != suspended {
        let patch = json!({"spec": {"suspend": suspended}});
        actions.push(Action::Patch(JOB_SET, view.name().to_owned(), patch));
    }
    actions.push(Action::Status(status(view, set, suspended)));
    let start = view.object.metadata.creation_timestamp.as_ref().map(|time| time.0);
    let allowed = view.spec()["activeDeadlineSeconds"].as_i64();
    if let (Some(start), Some(allowed)) = (start, allowed) {
        let at = view.after(start, allowed);
        if at > view.now {
            actions.push(Action::Again(at));
        }
    }
    actions
}

/// The runtime that the job names, once it was seen.
fn runtime<'a>(view: &View<'a>) -> Option<&'a DynamicObject> {
    let reference = &view.spec()["runtimeRef"];
    let kind = reference["kind"].as_str().unwrap_or("ClusterTrainingRuntime");
    let name = reference["name"].as_str()?;
    let is_it = |other: &&&DynamicObject| {
        kind_of(other) == kind && other.metadata.name.as_deref() == Some(name)
    };
    view.others.iter().find(is_it).copied()
}

fn job_set(view: &View<'_>, runtime: &DynamicObject, suspended: bool) -> Value {
    let template = &runtime.data["spec"]["template"];
    let mut spec = template["spec"].clone();
    spec["suspend"] = json!(suspended);
    let trainer = &view.spec()["trainer"];
    let policy = &runtime.data["spec"]["mlPolicy"];
    let nodes = integer(&trainer["numNodes"], integer(&policy["numNodes"], 1));
    for job in spec["replicatedJobs"].as_array_mut().into_iter().flatten() {
        if job["template"]["metadata"]["labels"][STEP] != "trainer" {
            continue;
        }
        let own = &mut job["template"]["spec"];
        own["parallelism"] = json!(nodes);
        own["completions"] = json!(nodes);
        let containers = own["template"]["spec"]["containers"].as_array_mut();
        let node = containers.into_iter().flatten().find(|one| one["name"] == "node");
        if let Some(node) = node {
            train(node, trainer, nodes, view, policy["torch"].is_object());
        }
    }
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {
            "name": view.name(),
            "labels": template["metadata"]["labels"], "annotations": template["metadata"]["annotations"],
        },
        "spec": spec,
    })
}

/// Puts what the job says of its nodes into their container.
fn train(node: &mut Value, trainer: &Value, nodes: i64, view: &View<'_>, is_torch: bool) {
    for field in ["image", "command", "args"] {
        if !trainer[field].is_null() {
            node[field] = trainer[field].clone();
        }
    }
    if trainer["resourcesPerNode"].is_object() {
        node["resources"] = trainer["resourcesPerNode"].clone();
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let own = trainer["env"].as_array().into_iter().flatten();
    let own: Vec<(&str, String)> =
        own.filter_map(|one| Some((one["name"].as_str()?, text(&one["value"])))).collect();
    environment(node, &own);
    if is_torch {
        let each = &trainer["numProcPerNode"];
        let each = if each.is_null() { "auto".to_owned() } else { text(each) };
        let master = format!("{0}-node-0-0.{0}", view.name());
        environment(
            node,
            &[
                ("PET_NNODES", nodes.to_string()),
                ("PET_NPROC_PER_NODE", each),
                ("PET_MASTER_ADDR", master),
                ("PET_MASTER_PORT", PORT.to_string()),
            ],
        );
    }
}

fn status(view: &View<'_>, set: &DynamicObject, suspended: bool) -> Value {
    let mut status = view.status().clone();
    if !status.is_object() {
        status = json!({});
    }
    status["jobsStatus"] = set.data["status"]["replicatedJobsStatus"].clone();
    let mut conditions = condition::all(&status);
    let mut set_to = |kind, status, reason, message| {
        let wanted = Wanted { kind, status, reason, message, update: None };
        condition::set(&mut conditions, &wanted, view.now);
    };
    if is_true(set, "Completed") {
        set_to("Complete", true, "AllJobsCompleted", "jobset completed successfully");
    } else if is_true(set, "Failed") {
        set_to("Failed", true, "FailedJobs", "jobset failed due to one or more job failures");
    } else if suspended {
        set_to("Suspended", true, "Suspended", "TrainJob is suspended");
    } else if is_true(view.object, "Suspended") {
        set_to("Suspended", false, "Resumed", "TrainJob is resumed");
    }
    if !conditions.is_empty() {
        status["conditions"] = json!(conditions);
    }
    status
}
