//! `JobSet`, as its controller 0.12 runs it: Jobs by replicated job and index, made anew together where one fails.
//!
//! Left out: the headless Service, rules of the failure policy, the coordinator, and exclusive topology.

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::JOB;
use super::action::{Action, View, fnv32a, is_true, leaving};
use super::condition::{self, Wanted};
use super::template::{integer, label};

/// The label of the attempt that made a Job.
const ATTEMPT: &str = "jobset.sigs.k8s.io/restart-attempt";
/// The label of the replicated job that a Job is of.
const OF: &str = "jobset.sigs.k8s.io/replicatedjob-name";

/// The ends of a `JobSet`.
const COMPLETED: Wanted<'static> = Wanted {
    kind: "Completed",
    status: true,
    reason: "AllJobsCompleted",
    message: "jobset completed successfully",
    update: None,
};
const FAILED: Wanted<'static> = Wanted {
    kind: "Failed",
    status: true,
    reason: "FailedJobs",
    message: "jobset failed due to one or more job failures",
    update: None,
};

/// Reconciles a `JobSet`.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    if is_true(view.object, "Completed") || is_true(view.object, "Failed") {
        return after_end(view);
    }
    let attempt = integer(&view.status()["restarts"], 0);
    let is_of_attempt = |job: &&DynamicObject| label_of(job, ATTEMPT) == Some(&attempt.to_string());
    let jobs: Vec<&DynamicObject> = view.of(JOB).collect();
    let current: Vec<&DynamicObject> = jobs.iter().copied().filter(is_of_attempt).collect();
    let mut actions: Vec<Action> = jobs
        .iter()
        .filter(|job| !is_of_attempt(job) && !leaving(job))
        .map(|job| View::delete(JOB, job))
        .collect();
    let suspended = view.spec()["suspend"] == true;
    if current.iter().any(|job| is_true(job, "Failed")) {
        let allowed = integer(&view.spec()["failurePolicy"]["maxRestarts"], 0);
        if attempt < allowed {
            let mut status = status(view, &current, suspended);
            status["restarts"] = json!(attempt + 1);
            status["restartsCountTowardsMax"] = json!(attempt + 1);
            actions.push(Action::Status(status));
            return actions;
        }
        actions.extend(end(view, &current, &FAILED));
        return actions;
    }
    if succeeded(view, &current) {
        actions.extend(end(view, &current, &COMPLETED));
        return actions;
    }
    actions.extend(missing(view, &current, attempt, suspended));
    let other = current.iter().filter(|job| (job.data["spec"]["suspend"] == true) != suspended);
    actions.extend(other.map(|job| {
        let name = job.metadata.name.clone().unwrap_or_default();
        Action::Patch(JOB, name, json!({"spec": {"suspend": suspended}}))
    }));
    actions.push(Action::Status(status(view, &current, suspended)));
    actions
}

fn label_of<'a>(object: &'a DynamicObject, key: &str) -> Option<&'a String> {
    object.metadata.labels.as_ref()?.get(key)
}

fn replicated<'a>(view: &View<'a>) -> Vec<&'a Value> {
    view.object.data["spec"]["replicatedJobs"].as_array().into_iter().flatten().collect()
}

fn name_of(replicated: &Value) -> &str {
    replicated["name"].as_str().unwrap_or_default()
}

/// The Jobs of a replicated job.
fn of<'a>(jobs: &[&'a DynamicObject], name: &str) -> Vec<&'a DynamicObject> {
    let is_of = |job: &&&DynamicObject| label_of(job, OF).is_some_and(|own| own == name);
    jobs.iter().filter(is_of).copied().collect()
}

/// Tells whether a Job has as many pods ready, or ended well, as it has at once.
fn is_ready(job: &DynamicObject) -> bool {
    let status = &job.data["status"];
    let there = integer(&status["ready"], 0) + integer(&status["succeeded"], 0);
    there >= integer(&job.data["spec"]["parallelism"], 1)
}

/// The Jobs that are not there yet and may be: those before them in the order that is asked for have come as far as it says.
fn missing(view: &View<'_>, jobs: &[&DynamicObject], attempt: i64, suspended: bool) -> Vec<Action> {
    let in_order = view.spec()["startupPolicy"]["startupPolicyOrder"] == "InOrder";
    let mut actions = Vec::new();
    let mut global = 0;
    let all = replicated(view);
    for (at, one) in all.iter().enumerate() {
        let replicas = integer(&one["replicas"], 1);
        let reached = |name: &str, complete: bool| {
            let before = all.iter().find(|other| name_of(other) == name);
            let wanted = before.map_or(0, |other| integer(&other["replicas"], 1));
            let own = of(jobs, name);
            let has = |job: &&DynamicObject| {
                if complete { is_true(job, "Complete") } else { is_ready(job) }
            };
            own.iter().filter(|job| has(job)).count() >= usize::try_from(wanted).unwrap_or(0)
        };
        let waits = one["dependsOn"].as_array().into_iter().flatten().any(|on| {
            !reached(on["name"].as_str().unwrap_or_default(), on["status"] == "Complete")
        });
        let waits = waits || (in_order && at > 0 && !reached(name_of(all[at - 1]), false));
        for index in 0..replicas {
            let name = format!("{}-{}-{index}", view.name(), name_of(one));
            let is_there = jobs.iter().any(|job| job.metadata.name.as_deref() == Some(&*name));
            if !waits && !is_there {
                let place = Place { replicated: one, index, global, attempt };
                actions.push(Action::Create(JOB, job(view, &name, &place, suspended)));
            }
            global += 1;
        }
    }
    actions
}

/// The place of a Job among those of its `JobSet`.
struct Place<'a> {
    replicated: &'a Value,
    index: i64,
    /// Its index among all Jobs.
    global: i64,
    attempt: i64,
}

fn job(view: &View<'_>, name: &str, place: &Place<'_>, suspended: bool) -> Value {
    let template = &place.replicated["template"];
    let replicas = integer(&place.replicated["replicas"], 1).to_string();
    let (index, global, attempt) =
        (place.index.to_string(), place.global.to_string(), place.attempt.to_string());
    let key = format!("{:08x}", fnv32a(&format!("{}/{name}", view.namespace())));
    let labels = [
        ("jobset.sigs.k8s.io/jobset-name", view.name()),
        ("jobset.sigs.k8s.io/jobset-uid", view.uid()),
        (OF, name_of(place.replicated)),
        ("jobset.sigs.k8s.io/replicatedjob-replicas", replicas.as_str()),
        ("jobset.sigs.k8s.io/job-index", index.as_str()),
        ("jobset.sigs.k8s.io/job-global-index", global.as_str()),
        ("jobset.sigs.k8s.io/job-key", key.as_str()),
        (ATTEMPT, attempt.as_str()),
    ];
    let map = |key: &str| {
        let map = &template["metadata"][key];
        if map.is_object() { map.clone() } else { json!({}) }
    };
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "labels": map("labels"), "annotations": map("annotations")},
        "spec": template["spec"],
    });
    label(&mut job, labels);
    let spec = &mut job["spec"];
    // What the webhook of the real one fills in.
    if spec["completionMode"].is_null() {
        spec["completionMode"] = json!("Indexed");
    }
    if spec["completions"].is_null() {
        spec["completions"] = json!(integer(&spec["parallelism"], 1));
    }
    spec["suspend"] = json!(suspended);
    let pod = &mut spec["template"];
    if pod["spec"]["restartPolicy"].is_null() {
        pod["spec"]["restartPolicy"] = json!("OnFailure");
    }
    label(pod, labels);
    job
}

/// Tells whether all Jobs that the success policy means have ended well, or one where that is enough.
fn succeeded(view: &View<'_>, jobs: &[&DynamicObject]) -> bool {
    let policy = &view.spec()["successPolicy"];
    let targets: Vec<&str> = policy["targetReplicatedJobs"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_meant = |one: &&&Value| targets.is_empty() || targets.contains(&name_of(one));
    let meant: Vec<&Value> = replicated(view).iter().filter(is_meant).copied().collect();
    let wanted: i64 = meant.iter().map(|one| integer(&one["replicas"], 1)).sum();
    let done = meant.iter().flat_map(|one| of(jobs, name_of(one)));
    let done = done.filter(|job| is_true(job, "Complete")).count();
    match policy["operator"].as_str() {
        Some("Any") => done > 0,
        _ => wanted > 0 && i64::try_from(done).unwrap_or(0) >= wanted,
    }
}

/// Writes how it ended, and stops what still runs.
fn end(view: &View<'_>, jobs: &[&DynamicObject], how: &Wanted<'static>) -> Vec<Action> {
    let is_over = |job: &DynamicObject| is_true(job, "Complete") || is_true(job, "Failed");
    let active = jobs.iter().filter(|job| !is_over(job) && !leaving(job));
    let mut actions: Vec<Action> = active.map(|job| View::delete(JOB, job)).collect();
    let mut status = status(view, jobs, false);
    let mut conditions = condition::all(&status);
    condition::set(&mut conditions, how, view.now);
    status["conditions"] = json!(conditions);
    status["terminalState"] = json!(how.kind);
    actions.push(Action::Status(status));
    actions
}

fn status(view: &View<'_>, jobs: &[&DynamicObject], suspended: bool) -> Value {
    let mut status = view.status().clone();
    if !status.is_object() {
        status = json!({"restarts": 0});
    }
    let rows = replicated(view).into_iter().map(|one| {
        let own = of(jobs, name_of(one));
        let count = |has: &dyn Fn(&DynamicObject) -> bool| own.iter().filter(|job| has(job)).count();
        json!({
            "name": name_of(one),
            "ready": count(&|job| is_ready(job) && !is_true(job, "Complete") && !is_true(job, "Failed")),
            "succeeded": count(&|job| is_true(job, "Complete")),
            "failed": count(&|job| is_true(job, "Failed")),
            "active": count(&|job| integer(&job.data["status"]["active"], 0) > 0),
            "suspended": count(&|job| job.data["spec"]["suspend"] == true),
        })
    });
    status["replicatedJobsStatus"] = json!(rows.collect::<Vec<_>>());
    let was = is_true(view.object, "Suspended");
    if suspended || was {
        let mut conditions = condition::all(&status);
        let (reason, message) = if suspended {
            ("SuspendedJobs", "jobset is suspended")
        } else {
            ("ResumeJobs", "jobset is resumed")
        };
        let wanted = Wanted { kind: "Suspended", status: suspended, reason, message, update: None };
        condition::set(&mut conditions, &wanted, view.now);
        status["conditions"] = json!(conditions);
    }
    status
}

/// Deletes one that has ended when its time to live is over.
fn after_end(view: &View<'_>) -> Vec<Action> {
    let Some(ttl) = view.spec()["ttlSecondsAfterFinished"].as_i64() else { return Vec::new() };
    let end =
        ["Completed", "Failed"].into_iter().find_map(|kind| condition::find(view.status(), kind));
    let end =
        end.and_then(|end| end["lastTransitionTime"].as_str()?.parse().ok()).unwrap_or(view.now);
    let at = view.after(end, ttl);
    vec![if at <= view.now { Action::DeleteSelf } else { Action::Again(at) }]
}
