//! The job kinds of the training operator 1.9 (v1 API): replicas by type, each a pod `JOB-TYPE-INDEX`.
//!
//! Left out: Services, the `ConfigMap` and RBAC of `MPIJob`, elastic scaling by metrics.

mod pod;
mod status;

use kube::core::DynamicObject;
use serde_json::Value;

use super::POD;
use super::action::{Action, View, active, is_true, leaving, phase};
use super::template::integer;

/// Differences between the kinds.
struct Framework {
    kind: &'static str,
    /// The field of `spec` that holds the replicas.
    map: &'static str,
    /// Its types, in the order in which pods are made.
    types: &'static [&'static str],
    /// The container that gets the environment, the port on it, and the port's name.
    container: &'static str,
    port: i64,
    port_name: &'static str,
    restart: &'static str,
}

const FRAMEWORKS: &[Framework] = &[
    Framework {
        kind: "PyTorchJob",
        map: "pytorchReplicaSpecs",
        types: &["Master", "Worker"],
        container: "pytorch",
        port: 23456,
        port_name: "pytorchjob-port",
        restart: "OnFailure",
    },
    Framework {
        kind: "TFJob",
        map: "tfReplicaSpecs",
        types: &["Chief", "Master", "PS", "Worker", "Evaluator"],
        container: "tensorflow",
        port: 2222,
        port_name: "tfjob-port",
        restart: "Never",
    },
    Framework {
        kind: "MPIJob",
        map: "mpiReplicaSpecs",
        types: &["Launcher", "Worker"],
        container: "",
        port: 0,
        port_name: "",
        restart: "Never",
    },
    Framework {
        kind: "XGBoostJob",
        map: "xgbReplicaSpecs",
        types: &["Master", "Worker"],
        container: "xgboost",
        port: 9999,
        port_name: "xgboostjob-port",
        restart: "Never",
    },
    Framework {
        kind: "JAXJob",
        map: "jaxReplicaSpecs",
        types: &["Worker"],
        container: "jax",
        port: 6666,
        port_name: "jaxjob-port",
        restart: "Never",
    },
    Framework {
        kind: "PaddleJob",
        map: "paddleReplicaSpecs",
        types: &["Master", "Worker"],
        container: "paddle",
        port: 36543,
        port_name: "master",
        restart: "OnFailure",
    },
];

/// One pod that should be there.
struct Replica<'a> {
    name: String,
    kind: &'static str,
    index: i64,
    spec: &'a Value,
}

/// Reconciles a job of any of the kinds.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let Some(framework) = FRAMEWORKS.iter().find(|framework| framework.kind == view.kind()) else {
        return Vec::new();
    };
    let policy = &view.spec()["runPolicy"];
    if is_true(view.object, "Succeeded") || is_true(view.object, "Failed") {
        return after_end(view, policy);
    }
    let replicas = replicas(view, framework);
    let mut actions = Vec::new();
    let suspended = policy["suspend"] == true;
    if suspended {
        actions.extend(view.of(POD).filter(|pod| active(pod)).map(|pod| View::delete(POD, pod)));
    } else {
        for replica in &replicas {
            match view.child(POD, &replica.name) {
                None => {
                    actions
                        .push(Action::Create(POD, pod::pod(view, framework, replica, &replicas)));
                }
                Some(pod) if retries(replica, framework, pod) => {
                    actions.push(View::delete(POD, pod));
                }
                Some(_) => {}
            }
        }
        // A job that was scaled down keeps no pod above its size.
        let extra = view.of(POD).filter(|pod| {
            active(pod)
                && !replicas.iter().any(|one| pod.metadata.name.as_deref() == Some(&one.name))
        });
        actions.extend(extra.map(|pod| View::delete(POD, pod)));
    }
    let (status, again) = status::status(view, framework, &replicas);
    actions.push(Action::Status(status));
    actions.extend(again.map(Action::Again));
    actions
}

fn replicas<'a>(view: &View<'a>, framework: &Framework) -> Vec<Replica<'a>> {
    let map = &view.object.data["spec"][framework.map];
    let mut all = Vec::new();
    for kind in framework.types.iter().filter(|kind| map[**kind].is_object()) {
        let spec = &map[*kind];
        for index in 0..integer(&spec["replicas"], 1) {
            let lower = kind.to_ascii_lowercase();
            let name = match *kind {
                "Launcher" => format!("{}-launcher", view.name()),
                _ => format!("{}-{lower}-{index}", view.name()),
            };
            all.push(Replica { name, kind, index, spec });
        }
    }
    all
}

/// With restartPolicy `ExitCode` a pod that a signal ended is made anew.
fn retries(replica: &Replica<'_>, framework: &Framework, pod: &DynamicObject) -> bool {
    let policy = replica.spec["restartPolicy"].as_str().unwrap_or(framework.restart);
    policy == "ExitCode" && phase(pod) == "Failed" && !leaving(pod) && code(pod) >= 128
}

fn code(pod: &DynamicObject) -> i64 {
    integer(&pod.data["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 1)
}

/// After the end: pods go as `cleanPodPolicy` says, the job after its time to live.
fn after_end(view: &View<'_>, policy: &Value) -> Vec<Action> {
    let clean = |pod: &&DynamicObject| match policy["cleanPodPolicy"].as_str() {
        Some("All") => !leaving(pod),
        Some("Running") => active(pod),
        _ => false,
    };
    let mut actions: Vec<Action> =
        view.of(POD).filter(clean).map(|pod| View::delete(POD, pod)).collect();
    if let Some(ttl) = policy["ttlSecondsAfterFinished"].as_i64() {
        let end = view.status()["completionTime"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(view.now);
        let at = view.after(end, ttl);
        actions.push(if at <= view.now { Action::DeleteSelf } else { Action::Again(at) });
    }
    actions
}
