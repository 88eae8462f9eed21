//! `SparkApplication`, as the Spark operator 2.5 runs it: a driver, whose program makes its executors and takes them along
//! when it ends.
//!
//! The driver's program is played here too, since a simulated container runs none. Left out: Services, the web UI,
//! dynamic allocation beyond the first executors, pod templates, and volumes of executors.

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::POD;
use super::action::{Action, View, active, leaving, phase};
use super::template::integer;
use crate::nodes::object::seconds;
use crate::nodes::pod::{EXIT_CODE, RUN_SECONDS};

const APP: &str = "sparkoperator.k8s.io/app-name";
const ROLE: &str = "spark-role";
/// The annotation of a driver that says how many executors its program makes, and of what.
const EXECUTORS: &str = "sandbox.kai.scheduler/executors";

/// Reconciles a `SparkApplication`.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let state = view.status()["applicationState"]["state"].as_str().unwrap_or_default();
    let name = format!("{}-driver", view.name());
    let driver = view.child(POD, &name);
    if view.spec()["suspend"] == true && !matches!(state, "COMPLETED" | "FAILED") {
        let mut actions: Vec<Action> = driver
            .filter(|pod| !leaving(pod))
            .map(|pod| View::delete(POD, pod))
            .into_iter()
            .collect();
        actions.push(Action::Status(status(view, &name, "SUSPENDED", "")));
        return actions;
    }
    if matches!(state, "COMPLETED" | "FAILED") {
        return after_end(view);
    }
    let Some(driver) = driver else {
        return vec![
            Action::Create(POD, driver_pod(view, &name)),
            Action::Status(status(view, &name, "SUBMITTED", "")),
        ];
    };
    let retries = match view.spec()["restartPolicy"]["type"].as_str() {
        Some("OnFailure") => integer(&view.spec()["restartPolicy"]["onFailureRetries"], 0),
        _ => 0,
    };
    let attempts = integer(&view.status()["executionAttempts"], 1);
    match phase(driver) {
        _ if leaving(driver) => Vec::new(),
        "Succeeded" => vec![Action::Status(status(view, &name, "COMPLETED", ""))],
        "Failed" if attempts <= retries => {
            let mut status = status(view, &name, "PENDING_RERUN", "driver container failed");
            status["executionAttempts"] = json!(attempts + 1);
            vec![View::delete(POD, driver), Action::Status(status)]
        }
        "Failed" => {
            vec![Action::Status(status(view, &name, "FAILED", "driver container failed"))]
        }
        "Running" => vec![Action::Status(status(view, &name, "RUNNING", ""))],
        _ => vec![Action::Status(status(view, &name, "SUBMITTED", ""))],
    }
}

fn status(view: &View<'_>, driver: &str, state: &str, error: &str) -> Value {
    let mut status = view.status().clone();
    if !status.is_object() {
        status = json!({"executionAttempts": 1, "submissionAttempts": 1,
            "sparkApplicationId": application(view), "submissionID": view.uid(),
            "lastSubmissionAttemptTime": seconds(view.now)});
    }
    status["applicationState"] = json!({"state": state});
    if !error.is_empty() {
        status["applicationState"]["errorMessage"] = json!(error);
    }
    status["driverInfo"] = json!({"podName": driver});
    if matches!(state, "COMPLETED" | "FAILED") && status["terminationTime"].is_null() {
        status["terminationTime"] = json!(seconds(view.now));
    }
    status
}

/// The name by which Spark knows the application: the selector of its pods.
fn application(view: &View<'_>) -> String {
    let short: String = view.uid().chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    format!("spark-{short}")
}

/// A pod of a role from Spark's own words for it.
fn pod(view: &View<'_>, role: &str, container: &str) -> Value {
    let own = &view.spec()[role];
    let mut labels = view.labels();
    if let Some(more) = own["labels"].as_object() {
        for (key, value) in more {
            labels[key] = value.clone();
        }
    }
    for (key, value) in [
        (APP, view.name()),
        (ROLE, role),
        ("spark-app-name", view.name()),
        ("spark-app-selector", &application(view)),
        ("sparkoperator.k8s.io/launched-by-spark-operator", "true"),
    ] {
        labels[key] = json!(value);
    }
    let annotations = &own["annotations"];
    let annotations = if annotations.is_object() { annotations.clone() } else { json!({}) };
    // Spark adds at least 384 MiB for what is not its heap.
    let memory = memory_mib(own["memory"].as_str().unwrap_or("1g"));
    let memory = format!("{}Mi", memory + (memory / 10).max(384));
    let mut limits = json!({"memory": memory});
    if let (Some(name), Some(count)) =
        (own["gpu"]["name"].as_str(), own["gpu"]["quantity"].as_i64())
    {
        limits[name] = json!(count);
    }
    let requests = json!({"cpu": integer(&own["cores"], 1).to_string(), "memory": memory});
    let mut env = own["env"].as_array().cloned().unwrap_or_default();
    env.push(json!({"name": "SPARK_APPLICATION_ID", "value": application(view)}));
    let mut spec = json!({"restartPolicy": "Never", "containers": [{
        "name": container, "image": view.spec()["image"], "args": [role], "env": env,
        "resources": {"limits": limits, "requests": requests},
    }]});
    for field in ["schedulerName", "nodeSelector", "tolerations", "affinity"] {
        if !own[field].is_null() {
            spec[field] = own[field].clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"labels": labels, "annotations": annotations}, "spec": spec})
}

fn driver_pod(view: &View<'_>, name: &str) -> Value {
    let mut pod = pod(view, "driver", "spark-kubernetes-driver");
    pod["metadata"]["name"] = json!(name);
    for key in [RUN_SECONDS, EXIT_CODE] {
        if let Some(said) = view.annotation(key) {
            pod["metadata"]["annotations"][key] = json!(said);
        }
    }
    let count = if view.spec()["dynamicAllocation"]["enabled"] == true {
        &view.spec()["dynamicAllocation"]["initialExecutors"]
    } else {
        &view.spec()["executor"]["instances"]
    };
    let count = integer(count, 1);
    let mut executor = self::pod(view, "executor", "spark-kubernetes-executor");
    // They end with their driver, not by themselves.
    executor["spec"]["containers"][0]["command"] = json!(["sleep", "infinity"]);
    let plan = json!({"count": count, "name": view.name(), "pod": executor});
    pod["metadata"]["annotations"][EXECUTORS] = json!(plan.to_string());
    let file = view.spec()["mainApplicationFile"].as_str().unwrap_or_default();
    pod["spec"]["containers"][0]["args"] = json!(["driver", file]);
    pod
}

/// Plays the program of a driver: it makes executors while it runs, and takes them along when it has ended. Any other pod is
/// left alone.
pub(super) fn drive(view: &View<'_>) -> Vec<Action> {
    let plan = view.annotation(EXECUTORS).and_then(|text| serde_json::from_str(text).ok());
    let Some(plan): Option<Value> = plan else { return Vec::new() };
    let executors: Vec<&DynamicObject> = view.of(POD).collect();
    match phase(view.object) {
        "Running" => (1..=integer(&plan["count"], 0))
            .map(|number| {
                (number, format!("{}-exec-{number}", plan["name"].as_str().unwrap_or_default()))
            })
            .filter(|(_, name)| view.child(POD, name).is_none())
            .map(|(number, name)| {
                let mut pod = plan["pod"].clone();
                pod["metadata"]["name"] = json!(name);
                pod["metadata"]["labels"]["spark-exec-id"] = json!(number.to_string());
                Action::Create(POD, pod)
            })
            .collect(),
        "Succeeded" | "Failed" => {
            executors.iter().filter(|pod| active(pod)).map(|pod| View::delete(POD, pod)).collect()
        }
        _ => Vec::new(),
    }
}

/// Spark's amounts of memory: `512m`, `2g`.
fn memory_mib(text: &str) -> i64 {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let amount: i64 = digits.parse().unwrap_or(1024);
    match text[digits.len()..].to_ascii_lowercase().trim_end_matches('b') {
        "t" => amount * 1024 * 1024,
        "g" => amount * 1024,
        "k" => amount / 1024,
        _ => amount,
    }
}

/// Deletes one that has ended when its time to live is over.
fn after_end(view: &View<'_>) -> Vec<Action> {
    let Some(ttl) = view.spec()["timeToLiveSeconds"].as_i64() else { return Vec::new() };
    let end = view.status()["terminationTime"].as_str().and_then(|text| text.parse().ok());
    let at = view.after(end.unwrap_or(view.now), ttl);
    vec![if at <= view.now { Action::DeleteSelf } else { Action::Again(at) }]
}

#[cfg(test)]
mod tests {
    use super::memory_mib;

    #[test]
    fn memory_is_in_sparks_words() {
        for (text, expect) in
            [("1g", 1024), ("512m", 512), ("2G", 2048), ("1gb", 1024), ("2048k", 2)]
        {
            assert_eq!(memory_mib(text), expect, "{text}");
        }
    }
}
