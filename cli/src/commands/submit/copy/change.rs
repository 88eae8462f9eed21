//! Puts flags that a template would have had a place for into an object that is there already. Pure.

use serde_json::{Value, json};

use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::{Site, kind, sites};
use crate::cluster::names;
use crate::commands::submit::render::shell;
use crate::commands::submit::request::Request;
use crate::print::error::{Exit, Problem, number};

/// Changes command, number of workers, longest run and retries, where they were asked for.
///
/// # Errors
/// Everything that the kind has no place for.
pub(super) fn apply(object: &mut Value, request: &Request) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    if !request.command.is_empty() {
        problems.extend(command(object, &request.command).err());
    }
    if let Some(count) = request.workers_typed() {
        problems.extend(workers(object, count.0, count.1).err());
    }
    let seconds = request.max_runtime_seconds.map(|seconds| json!(seconds));
    let retries = (request.retries > 0).then(|| json!(request.retries));
    for (flag, field, value) in [
        ("--max-runtime", "activeDeadlineSeconds", seconds),
        ("--retries", "backoffLimit", retries),
    ] {
        let Some(value) = value else { continue };
        match policy(object, field) {
            Some(place) => drop(ensure(object, place).insert(field.into(), value)),
            None => problems.push(no_place(object, flag)),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn no_place(object: &Value, flag: &str) -> Problem {
    let what = format!("a {} has no place for {flag}", text(&object["kind"]));
    Problem::new(number::UNSUPPORTED, Exit::Usage, what)
        .fix("leave it out, or submit a changed manifest: kubectl kai submit -f FILE")
}

/// The object that says how long a workload may run, and how often it is tried.
fn policy(object: &Value, field: &str) -> Option<&'static str> {
    match text(&object["kind"]) {
        "PyTorchJob" | "TFJob" | "XGBoostJob" | "JAXJob" | "PaddleJob" | "MPIJob" => {
            Some("/spec/runPolicy")
        }
        "Job" | "RayJob" => Some("/spec"),
        "Workflow" | "Pod" if field == "activeDeadlineSeconds" => Some("/spec"),
        _ => None,
    }
}

/// Replaces the command of the containers that run it.
fn command(object: &mut Value, command: &[String]) -> Result<(), Problem> {
    match text(&object["kind"]) {
        "RayJob" => {
            object["spec"]["entrypoint"] = json!(shell(command));
            return Ok(());
        }
        "RayCluster" | "RayService" | "SparkApplication" | "InferenceService" => {
            return Err(no_place(object, "-- COMMAND"));
        }
        _ => {}
    }
    let is_mpi = text(&object["kind"]) == "MPIJob";
    let all = sites(object);
    let runs = |site: &&Site| !site.containers.is_empty() && (!is_mpi || site.role == "Launcher");
    let runs: Vec<&Site> = all.iter().filter(runs).collect();
    let is_argo = runs.iter().any(|site| site.shape == Shape::Argo);
    if runs.is_empty() || (is_argo && runs.len() > 1) {
        return Err(no_place(object, "-- COMMAND"));
    }
    for site in runs {
        let container = ensure(object, &site.containers[0]);
        container.remove("args");
        container.insert("command".into(), json!(command));
    }
    Ok(())
}

/// Sets how many pods work: the fewest and the most of them.
fn workers(object: &mut Value, low: u32, high: u32) -> Result<(), Problem> {
    let kind_name = text(&object["kind"]).to_owned();
    let is_elastic = low != high;
    match kind_name.as_str() {
        "RayJob" | "RayCluster" => return ray(object, low, high),
        _ if is_elastic => return Err(no_place(object, "--workers N..M")),
        "Job" => {
            let before = object["spec"]["parallelism"].clone();
            let completions = &object["spec"]["completions"];
            let follows = *completions == before || completions.is_null();
            object["spec"]["parallelism"] = json!(high);
            if follows {
                object["spec"]["completions"] = json!(high);
            }
            let gang = &object["metadata"]["annotations"][names::MIN_MEMBER];
            let is_its = |text: &str| text.parse().ok() == before.as_u64();
            if gang.as_str().is_some_and(is_its) {
                ensure(object, "/metadata/annotations")
                    .insert(names::MIN_MEMBER.into(), json!(high.to_string()));
            }
        }
        "Deployment" | "StatefulSet" => object["spec"]["replicas"] = json!(high),
        "TrainJob" => drop(ensure(object, "/spec/trainer").insert("numNodes".into(), json!(high))),
        _ => return training(object, high),
    }
    Ok(())
}

fn ray(object: &mut Value, low: u32, high: u32) -> Result<(), Problem> {
    let groups = ["/spec/rayClusterSpec/workerGroupSpecs", "/spec/workerGroupSpecs"];
    let groups = groups.into_iter().find(|at| object.pointer(at).is_some());
    let one = groups.and_then(|at| object.pointer_mut(at)).and_then(Value::as_array_mut);
    match one.map(Vec::as_mut_slice) {
        Some([group]) => {
            group["replicas"] = json!(low);
            group["minReplicas"] = json!(low);
            group["maxReplicas"] = json!(high);
            Ok(())
        }
        Some(_) | None => Err(no_place(object, "--workers")),
    }
}

/// Kubeflow's jobs: the master is one of those that work, the launcher is not.
fn training(object: &mut Value, count: u32) -> Result<(), Problem> {
    let replicas = kind(object)
        .filter(|kind| kind.group == "kubeflow.org" && kind.name != "Notebook")
        .and_then(|kind| kind.sites.first())
        .and_then(|(path, _)| path.split('.').nth(1));
    let Some(field) = replicas else { return Err(no_place(object, "--workers")) };
    let at = format!("/spec/{field}");
    let masters = object.pointer(&format!("{at}/Master/replicas")).and_then(Value::as_u64);
    let has_master = object.pointer(&format!("{at}/Master")).is_some();
    let masters = if has_master { masters.unwrap_or(1) } else { 0 };
    let is_other = |role: &str| object.pointer(&format!("{at}/{role}")).is_some();
    if ["Chief", "PS", "Evaluator"].into_iter().any(is_other) {
        return Err(no_place(object, "--workers"));
    }
    let before: u64 = sites(object).iter().map(|site| site.replicas).sum();
    let left = u64::from(count).saturating_sub(masters);
    let roles = ensure(object, &at);
    if left == 0 {
        roles.remove("Worker");
    } else {
        let pattern = roles.get("Worker").or_else(|| roles.get("Master")).cloned();
        let Some(mut worker) = pattern else { return Err(no_place(object, "--workers")) };
        worker["replicas"] = json!(left);
        roles.insert("Worker".into(), worker);
    }
    let gang = "/spec/runPolicy/schedulingPolicy/minAvailable";
    if object.pointer(gang).and_then(Value::as_u64) == Some(before) {
        let after: u64 = sites(object).iter().map(|site| site.replicas).sum();
        ensure(object, "/spec/runPolicy/schedulingPolicy")
            .insert("minAvailable".into(), json!(after));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, request: &Request, expect: &str) {
        let mut object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let said = match apply(&mut object, request) {
            Ok(()) => object["spec"].to_string(),
            Err(problems) => {
                problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>().join("; ")
            }
        };
        assert_eq!(said, expect);
    }

    fn request(low: u32, high: u32, command: &[&str]) -> Request {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        let (workers, has_workers) = ((low, high), high > 0);
        Request { workers, has_workers, command, ..Request::default() }
    }

    const TORCH: &str = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {runPolicy: {schedulingPolicy: {minAvailable: 1}}, pytorchReplicaSpecs: {Master: {replicas: 1, template: {spec: {containers: [{name: p}]}}}}}}";

    #[test]
    fn the_master_is_one_of_those_that_work() {
        check(
            TORCH,
            &request(3, 3, &[]),
            r#"{"runPolicy":{"schedulingPolicy":{"minAvailable":3}},"pytorchReplicaSpecs":{"Master":{"replicas":1,"template":{"spec":{"containers":[{"name":"p"}]}}},"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"p"}]}}}}}"#,
        );
        check(TORCH, &request(1, 2, &[]), "a PyTorchJob has no place for --workers N..M");
    }

    #[test]
    fn completions_follow_the_workers_where_they_did() {
        let job = |completions: u32| {
            format!(
                "{{apiVersion: batch/v1, kind: Job, spec: {{parallelism: 2, completions: {completions}, template: {{spec: {{containers: [{{name: m, args: [x]}}]}}}}}}}}"
            )
        };
        check(
            &job(2),
            &request(4, 4, &["a", "b"]),
            r#"{"parallelism":4,"completions":4,"template":{"spec":{"containers":[{"name":"m","command":["a","b"]}]}}}"#,
        );
        check(
            &job(9),
            &request(4, 4, &[]),
            r#"{"parallelism":4,"completions":9,"template":{"spec":{"containers":[{"name":"m","args":["x"]}]}}}"#,
        );
    }

    #[test]
    fn what_a_kind_has_no_place_for_is_said() {
        let ray = "{apiVersion: ray.io/v1, kind: RayJob, spec: {entrypoint: x, rayClusterSpec: {workerGroupSpecs: [{replicas: 1}]}}}";
        check(
            ray,
            &request(2, 4, &["python", "a b"]),
            r#"{"entrypoint":"python 'a b'","rayClusterSpec":{"workerGroupSpecs":[{"replicas":2,"minReplicas":2,"maxReplicas":4}]}}"#,
        );
        let notebook = "{apiVersion: kubeflow.org/v1, kind: Notebook, spec: {template: {spec: {containers: [{name: n}]}}}}";
        check(notebook, &request(2, 2, &[]), "a Notebook has no place for --workers");
    }
}
