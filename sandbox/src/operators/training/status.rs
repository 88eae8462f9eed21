//! The status of a job: counts by type, conditions, and when it has ended.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::POD;
use super::super::action::{View, leaving, phase};
use super::super::condition::{self, Wanted};
use super::{Framework, Replica, retries};
use crate::nodes::object::seconds;

/// State of a job by its pods.
enum Verdict {
    Created,
    Running,
    Suspended,
    Succeeded,
    Failed(String),
}

/// The status, and when to look again because of a deadline.
pub(super) fn status(
    view: &View<'_>,
    framework: &Framework,
    replicas: &[Replica<'_>],
) -> (Value, Option<Timestamp>) {
    let mut status = if view.status().is_object() { view.status().clone() } else { json!({}) };
    let deadline = view.spec()["runPolicy"]["activeDeadlineSeconds"].as_i64().and_then(|allowed| {
        let start = status["startTime"].as_str()?.parse().ok()?;
        Some(view.after(start, allowed))
    });
    let verdict = verdict(view, framework, replicas, deadline);
    status["conditions"] = json!(conditions(view, framework, &verdict));
    status["replicaStatuses"] = counts(view, framework, replicas);
    if matches!(verdict, Verdict::Suspended) {
        status.as_object_mut().expect("made an object above").remove("startTime");
    } else if status["startTime"].is_null() {
        status["startTime"] = json!(seconds(view.now));
    }
    if matches!(verdict, Verdict::Succeeded | Verdict::Failed(_)) {
        status["completionTime"] = json!(seconds(view.now));
        return (status, None);
    }
    (status, deadline)
}

/// Counts the replicas of a type that are in a phase; one that fails because it is deleted has not failed.
fn count(view: &View<'_>, replicas: &[Replica<'_>], kind: &str, wanted: &str) -> usize {
    let pods = replicas.iter().filter(|one| one.kind == kind);
    pods.filter_map(|one| view.child(POD, &one.name))
        .filter(|pod| phase(pod) == wanted && !(wanted == "Failed" && leaving(pod)))
        .count()
}

fn counts(view: &View<'_>, framework: &Framework, replicas: &[Replica<'_>]) -> Value {
    let mut counts = json!({});
    let present = |kind: &str| replicas.iter().any(|one| one.kind == kind);
    for kind in framework.types.iter().filter(|kind| present(kind)) {
        let mut one = json!({});
        for (field, phase) in
            [("active", "Running"), ("succeeded", "Succeeded"), ("failed", "Failed")]
        {
            let pods = count(view, replicas, kind, phase);
            if pods > 0 {
                one[field] = json!(pods);
            }
        }
        if *kind != "Launcher" {
            one["selector"] = json!(format!(
                "training.kubeflow.org/job-name={},training.kubeflow.org/operator-name={}-controller,\
                 training.kubeflow.org/replica-type={}",
                view.name(),
                framework.kind.to_ascii_lowercase(),
                kind.to_ascii_lowercase()
            ));
        }
        counts[*kind] = one;
    }
    counts
}

fn verdict(
    view: &View<'_>,
    framework: &Framework,
    replicas: &[Replica<'_>],
    deadline: Option<Timestamp>,
) -> Verdict {
    if view.spec()["runPolicy"]["suspend"] == true {
        return Verdict::Suspended;
    }
    let pods = || replicas.iter().filter_map(|one| Some((one, view.child(POD, &one.name)?)));
    let lost = pods().find(|(one, pod)| {
        phase(pod) == "Failed" && !leaving(pod) && !retries(one, framework, pod)
    });
    if let Some((one, _)) = lost {
        let failed = count(view, replicas, one.kind, "Failed");
        return Verdict::Failed(format!(
            "{} {} is failed because {failed} {} replica(s) failed.",
            framework.kind,
            view.name(),
            one.kind
        ));
    }
    if deadline.is_some_and(|at| at <= view.now) {
        return Verdict::Failed(format!(
            "Job {} has failed because it was active longer than specified deadline",
            view.name()
        ));
    }
    if succeeded(view, framework, replicas) {
        return Verdict::Succeeded;
    }
    if pods().any(|(_, pod)| phase(pod) == "Running" && !leaving(pod)) {
        Verdict::Running
    } else {
        Verdict::Created
    }
}

fn conditions(view: &View<'_>, framework: &Framework, verdict: &Verdict) -> Vec<Value> {
    let (kind, name) = (framework.kind, view.name());
    let mut conditions = condition::all(view.status());
    let mut set = |condition: &str, status: bool, message: &str| {
        let reason = format!("{kind}{condition}");
        let wanted = Wanted {
            kind: condition,
            status,
            reason: &reason,
            message,
            update: Some("lastUpdateTime"),
        };
        condition::set(&mut conditions, &wanted, view.now);
    };
    set("Created", true, &format!("{kind} {name} is created."));
    let was = |condition: &str| condition::find(view.status(), condition).is_some();
    let running = format!("{kind} {name} is running.");
    match verdict {
        Verdict::Created => {
            if was("Running") {
                set("Running", false, &running);
            }
        }
        Verdict::Running => {
            if was("Suspended") {
                set("Suspended", false, &format!("{kind} {name} is resumed."));
            }
            set("Running", true, &running);
        }
        Verdict::Suspended => {
            if was("Running") {
                set("Running", false, &running);
            }
            set("Suspended", true, &format!("{kind} {name} is suspended."));
        }
        Verdict::Succeeded => {
            set("Running", false, &running);
            set("Succeeded", true, &format!("{kind} {name} is successfully completed."));
        }
        Verdict::Failed(message) => {
            set("Running", false, &running);
            set("Failed", true, message);
        }
    }
    conditions
}

/// Tells whether the pods that decide have succeeded.
///
/// # Source
/// `docs/workloads.md` 4.1.
fn succeeded(view: &View<'_>, framework: &Framework, replicas: &[Replica<'_>]) -> bool {
    let done =
        |one: &Replica<'_>| view.child(POD, &one.name).is_some_and(|pod| phase(pod) == "Succeeded");
    let of = |kind: &'static str| replicas.iter().filter(move |one| one.kind == kind);
    for leader in ["Master", "Chief", "Launcher"] {
        if let Some(leader) = of(leader).next() {
            return done(leader);
        }
    }
    let elastic = framework.kind == "PyTorchJob" && view.spec()["elasticPolicy"].is_object();
    let first = framework.kind == "TFJob" && view.spec()["successPolicy"] != "AllWorkers";
    let mut workers = of("Worker");
    if elastic {
        workers.any(done)
    } else if first {
        workers.next().is_some_and(done)
    } else {
        !replicas.is_empty() && workers.all(done)
    }
}
