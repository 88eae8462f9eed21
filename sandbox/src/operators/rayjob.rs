//! `RayJob`, as `KubeRay` 1.5 runs it: a `RayCluster`, a submitter Job once that is ready, and an end.
//!
//! The stand-in has no Ray dashboard to ask: with a submitter the work has ended when that has,
//! in the modes without one after the usual run time. Left out: retries, deletion policies,
//! `clusterSelector`.

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::action::{Action, View, is_true, leaving, suffix};
use super::template::{self, integer};
use super::{JOB, RAY_CLUSTER};
use crate::nodes::object::seconds;
use crate::nodes::pod::{EXIT_CODE, RUN_SECONDS, RUN_SECONDS_DEFAULT};

/// Reconciles a `RayJob`.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let phase = view.status()["jobDeploymentStatus"].as_str().unwrap_or("");
    if matches!(phase, "Complete" | "Failed") {
        return after_end(view);
    }
    let cluster = view.of(RAY_CLUSTER).find(|cluster| !leaving(cluster));
    let job = view.child(JOB, view.name());
    if spec["suspend"] == true {
        let mut actions: Vec<Action> =
            cluster.map(|cluster| View::delete(RAY_CLUSTER, cluster)).into_iter().collect();
        actions.extend(job.map(|job| View::delete(JOB, job)));
        let gone = cluster.is_none() && job.is_none();
        let phase = if gone { "Suspended" } else { "Suspending" };
        actions.push(Action::Status(json!({"jobDeploymentStatus": phase, "jobStatus": ""})));
        return actions;
    }
    let name = format!("{}-{}", view.name(), suffix(view.uid()));
    let mut status = started(view, phase, &name);
    let mut actions = Vec::new();
    let Some(cluster) = cluster else {
        actions.push(Action::Create(RAY_CLUSTER, ray_cluster(view, &name)));
        actions.push(Action::Status(status));
        return actions;
    };
    status["rayClusterStatus"] = cluster.data["status"].clone();
    let ready = cluster.data["status"]["state"] == "ready";
    if ready && phase != "Running" {
        status["jobDeploymentStatus"] = json!("Running");
    }
    let submits = matches!(spec["submissionMode"].as_str(), None | Some("K8sJobMode"));
    if submits {
        match job {
            None if ready => actions.push(Action::Create(JOB, submitter(view, &name, &status))),
            None => {}
            Some(job) => follow(&mut status, job, view),
        }
    } else if ready {
        actions.extend(wait(&mut status, view));
    }
    actions.push(Action::Status(status));
    actions
}

fn started(view: &View<'_>, phase: &str, cluster: &str) -> Value {
    if !matches!(phase, "" | "Suspended" | "Suspending") {
        return view.status().clone();
    }
    json!({
        "jobDeploymentStatus": "Initializing",
        "jobId": format!("{}-{}", view.name(), suffix(&format!("{}/job", view.uid()))),
        "rayClusterName": cluster,
        "dashboardURL": format!("{cluster}-head-svc.{}.svc.cluster.local:8265", view.namespace()),
        "startTime": seconds(view.now),
    })
}

fn ray_cluster(view: &View<'_>, name: &str) -> Value {
    let mut labels = view.labels();
    labels["ray.io/originated-from-cr-name"] = json!(view.name());
    labels["ray.io/originated-from-crd"] = json!("RayJob");
    json!({
        "apiVersion": "ray.io/v1", "kind": "RayCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": view.spec()["rayClusterSpec"],
    })
}

/// The Job that hands the work to the cluster. It takes what the `RayJob` says about its run time.
fn submitter(view: &View<'_>, cluster: &str, status: &Value) -> Value {
    let spec = view.spec();
    let address = format!("{cluster}-head-svc.{}.svc.cluster.local:8265", view.namespace());
    let id = status["jobId"].as_str().unwrap_or_default();
    let head = &spec["rayClusterSpec"]["headGroupSpec"]["template"];
    let mut template = if spec["submitterPodTemplate"].is_object() {
        spec["submitterPodTemplate"].clone()
    } else {
        json!({"spec": {"restartPolicy": "Never", "containers": [{
            "name": "ray-job-submitter", "image": head["spec"]["containers"][0]["image"],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "200Mi"}},
        }]}})
    };
    if template["spec"]["containers"].get(0).is_none() {
        template["spec"]["containers"] = json!([{}]);
    }
    let container = &mut template["spec"]["containers"][0];
    if container["command"].is_null() {
        let entrypoint = spec["entrypoint"].as_str().unwrap_or_default();
        container["command"] = json!(["/bin/bash", "-ce", "--"]);
        container["args"] = json!([format!(
            "ray job submit --address http://{address} --no-wait --submission-id {id} -- {entrypoint} ; \
             ray job logs --address http://{address} --follow {id}"
        )]);
    }
    template::environment(
        container,
        &[
            ("PYTHONUNBUFFERED", "1".to_owned()),
            ("RAY_DASHBOARD_ADDRESS", address),
            ("RAY_JOB_SUBMISSION_ID", id.to_owned()),
        ],
    );
    for key in [RUN_SECONDS, EXIT_CODE] {
        let said = view.annotation(key).or_else(|| head["metadata"]["annotations"][key].as_str());
        if let Some(said) = said {
            template["metadata"]["annotations"][key] = json!(said);
        }
    }
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": view.name(), "labels": {
            "app.kubernetes.io/created-by": "kuberay-operator",
            "ray.io/originated-from-cr-name": view.name(),
            "ray.io/originated-from-crd": "RayJob",
        }},
        "spec": {"backoffLimit": integer(&spec["submitterConfig"]["backoffLimit"], 2), "template": template},
    })
}

/// Takes the state of the work from its submitter.
fn follow(status: &mut Value, job: &DynamicObject, view: &View<'_>) {
    if is_true(job, "Complete") {
        end(status, view, "SUCCEEDED");
    } else if is_true(job, "Failed") {
        end(status, view, "FAILED");
    } else {
        let running = integer(&job.data["status"]["ready"], 0) > 0;
        status["jobStatus"] = json!(if running { "RUNNING" } else { "PENDING" });
    }
}

/// Without a submitter: ends the work after its run time.
fn wait(status: &mut Value, view: &View<'_>) -> Option<Action> {
    if status["rayJobInfo"]["startTime"].is_null() {
        status["rayJobInfo"] = json!({"startTime": seconds(view.now)});
    }
    status["jobStatus"] = json!("RUNNING");
    let run = view.annotation(RUN_SECONDS).and_then(|text| text.parse().ok());
    let run = run.unwrap_or_else(|| i64::try_from(RUN_SECONDS_DEFAULT).expect("a minute"));
    let start = status["rayJobInfo"]["startTime"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(view.now);
    let at = view.after(start, run);
    if at > view.now {
        return Some(Action::Again(at));
    }
    let code = view.annotation(EXIT_CODE).unwrap_or("0");
    end(status, view, if code == "0" { "SUCCEEDED" } else { "FAILED" });
    None
}

fn end(status: &mut Value, view: &View<'_>, result: &str) {
    status["jobStatus"] = json!(result);
    status["endTime"] = json!(seconds(view.now));
    let good = result == "SUCCEEDED";
    status["jobDeploymentStatus"] = json!(if good { "Complete" } else { "Failed" });
    status["succeeded"] = json!(i64::from(good));
    status["failed"] = json!(i64::from(!good));
    if !good {
        status["reason"] = json!("AppFailed");
        status["message"] = json!("Job entrypoint command failed");
    }
}

/// Removes the cluster of a finished `RayJob` when it asked for that.
fn after_end(view: &View<'_>) -> Vec<Action> {
    if view.spec()["shutdownAfterJobFinishes"] != true {
        return Vec::new();
    }
    let Some(cluster) = view.of(RAY_CLUSTER).find(|cluster| !leaving(cluster)) else {
        return Vec::new();
    };
    let end =
        view.status()["endTime"].as_str().and_then(|text| text.parse().ok()).unwrap_or(view.now);
    let at = view.after(end, integer(&view.spec()["ttlSecondsAfterFinished"], 0));
    vec![if at <= view.now { View::delete(RAY_CLUSTER, cluster) } else { Action::Again(at) }]
}
