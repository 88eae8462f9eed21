//! Describes what suspends an object, or lets it go on: a merge patch. No requests.

use serde_json::{Value, json};

use crate::cluster::json::text;
use crate::cluster::kinds::{self, Suspend};
use crate::cluster::names;
use crate::print::error::{Exit, Problem, number};
use crate::workload::Workload;

/// The merge patch, with the version that was looked at; none when nothing changes.
pub(super) fn patch(workload: &Workload, suspend: bool) -> Result<Option<Value>, Problem> {
    let verb = if suspend { "suspend" } else { "resume" };
    let never = || {
        let what = format!("a {} cannot be suspended: {}", workload.resource.kind, workload.name);
        Problem::new(number::UNSUPPORTED, Exit::Refused, what)
            .fix(format!("kubectl kai delete {}", workload.name))
    };
    let kind =
        kinds::find(&workload.resource.api_version(), &workload.resource.kind).ok_or_else(never)?;
    let state = workload.state();
    if state.phase.is_over() {
        let what = format!(
            "{} has ended ({}), so there is nothing to {verb}",
            workload.label(),
            state.show()
        );
        return Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what)
            .fix(format!("kubectl kai delete {}", workload.name)));
    }
    let object = read(workload, kind.suspend)?;
    let mut patch = match kind.suspend {
        Suspend::Field(pointer) => {
            if object.pointer(pointer).and_then(Value::as_bool).unwrap_or(false) == suspend {
                return Ok(None);
            }
            nested(pointer, json!(suspend))
        }
        Suspend::Scale => return scale(object, suspend),
        Suspend::Annotation(key) => {
            let value =
                if suspend { json!(jiff::Timestamp::now().to_string()) } else { Value::Null };
            if kinds::is_stopped(object, key) == suspend {
                return Ok(None);
            }
            let value = if suspend && kinds::is_boolean(key) { json!("true") } else { value };
            json!({ "metadata": { "annotations": { key: value } } })
        }
        Suspend::Never => return Err(never()),
    };
    if kind.name == "RayJob" && suspend && object["spec"]["shutdownAfterJobFinishes"] != json!(true)
    {
        let name = &workload.name;
        let what =
            format!("RayJob {name} can be {verb}ed only with shutdownAfterJobFinishes: true");
        return Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what)
            .fix(format!("kubectl kai delete {}", workload.name)));
    }
    patch["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
    Ok(Some(patch))
}

/// Gives the object of a workload as it was read.
///
/// # Errors
/// It was not read, or not whole: a field that is missing would pass for one that is not set, and be kept as that.
fn read(workload: &Workload, suspend: Suspend) -> Result<&Value, Problem> {
    let Some(object) = &workload.object else {
        let what = format!("{} was not read, so it cannot be changed safely", workload.label());
        return Err(Problem::new(number::UNSUPPORTED, Exit::Failure, what).fix(format!(
            "label it with {}={}, or use kubectl",
            names::QUEUE,
            workload.queue
        )));
    };
    let goes_by_spec = matches!(suspend, Suspend::Field(_) | Suspend::Scale);
    if goes_by_spec && object["spec"].is_null() {
        let Workload { resource, namespace, name, .. } = workload;
        let what = format!("{} was not read whole, so it cannot be changed", workload.label());
        return Err(Problem::new(number::UNSUPPORTED, Exit::Failure, what)
            .line("it has more fields and elements than are read of it in a list")
            .fix(format!("kubectl edit {} {name} -n {namespace}", resource.label())));
    }
    Ok(object)
}

/// To zero replicas and back to as many as there were.
fn scale(object: &Value, suspend: bool) -> Result<Option<Value>, Problem> {
    let replicas = object["spec"]["replicas"].as_u64().unwrap_or(1);
    let before = text(&object["metadata"]["annotations"][names::REPLICAS_BEFORE]);
    let version = &object["metadata"]["resourceVersion"];
    let to = match (suspend, replicas) {
        (true, 0) => return Ok(None),
        (true, _) => 0,
        (false, 0) => before.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| {
            let name = text(&object["metadata"]["name"]);
            let kind = text(&object["kind"]).to_lowercase();
            Problem::new(
                number::UNSUPPORTED,
                Exit::Refused,
                format!("{name} was not suspended here, so how many pods it had is not known"),
            )
            .fix(format!("kubectl scale {kind} {name} --replicas N"))
        })?,
        (false, _) => return Ok(None),
    };
    let kept = if suspend { json!(replicas.to_string()) } else { Value::Null };
    Ok(Some(json!({
        "metadata": { "resourceVersion": version, "annotations": { names::REPLICAS_BEFORE: kept } },
        "spec": { "replicas": to },
    })))
}

/// An object with one value at a pointer.
fn nested(pointer: &str, value: Value) -> Value {
    pointer
        .rsplit('/')
        .filter(|key| !key.is_empty())
        .fold(value, |inner, key| json!({ key: inner }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Resource;

    #[test]
    fn kserve_goes_by_what_its_annotation_says() {
        let key = "serving.kserve.io/stop";
        for (value, suspend, expect) in [
            (None, true, Some(json!("true"))),
            (Some("false"), true, Some(json!("true"))),
            (Some("true"), true, None),
            (Some("True"), false, Some(Value::Null)),
            (Some("false"), false, None),
        ] {
            let object =
                json!({"metadata": {"annotations": value.map(|value| json!({key: value}))}});
            let resource =
                Resource::new("serving.kserve.io/v1beta1", "InferenceService", "inferenceservices");
            let mut workload = Workload::default();
            (workload.resource, workload.object) = (resource, Some(object));
            let patch = patch(&workload, suspend).expect("it can be suspended");
            let said = patch.map(|patch| patch["metadata"]["annotations"][key].clone());
            assert_eq!(said, expect, "{value:?}, suspend {suspend}");
        }
    }

    fn workload(version: &str, kind: &str, spec: &Value) -> Workload {
        let mut workload = Workload::default();
        workload.resource = Resource::new(version, kind, "");
        workload.object = Some(json!({"apiVersion": version, "kind": kind,
            "metadata": {"name": "a", "resourceVersion": "7"}, "spec": spec}));
        workload
    }

    /// A Deployment of five would have one pod when it goes on, and a Job that is suspended would seem not to be.
    #[test]
    fn what_was_not_read_whole_is_not_changed() {
        for (version, kind) in
            [("batch/v1", "Job"), ("kubeflow.org/v1", "PyTorchJob"), ("apps/v1", "Deployment")]
        {
            for suspend in [true, false] {
                let ended = patch(&workload(version, kind, &Value::Null), suspend);
                let exit = ended.map_err(|problem| problem.exit);
                assert_eq!(exit, Err(Exit::Failure), "{kind} {suspend}");
            }
        }
    }

    /// The server refuses it where somebody else has changed the object since.
    #[test]
    fn a_change_is_one_of_the_version_that_was_looked_at() {
        let run_policy = json!({"spec": {"runPolicy": {"suspend": true}}});
        let scaled = json!({"metadata": {"annotations": {names::REPLICAS_BEFORE: "3"}},
            "spec": {"replicas": 0}});
        for (version, kind, spec, suspend, mut expect) in [
            ("batch/v1", "Job", json!({}), true, json!({"spec": {"suspend": true}})),
            (
                "batch/v1",
                "Job",
                json!({"suspend": true}),
                false,
                json!({"spec": {"suspend": false}}),
            ),
            ("kubeflow.org/v1", "PyTorchJob", json!({}), true, run_policy),
            ("apps/v1", "Deployment", json!({"replicas": 3}), true, scaled),
        ] {
            expect["metadata"]["resourceVersion"] = json!("7");
            let patch = patch(&workload(version, kind, &spec), suspend).expect("it can be");
            assert_eq!(patch, Some(expect), "{kind} {suspend}");
        }
    }

    /// `KubeRay` gives up on what keeps its cluster and is suspended.
    #[test]
    fn a_ray_job_that_keeps_its_cluster_is_not_suspended() {
        for (spec, suspend, expect) in [
            (json!({}), true, false),
            (json!({"shutdownAfterJobFinishes": false}), true, false),
            (json!({"shutdownAfterJobFinishes": true}), true, true),
            (json!({"suspend": true}), false, true),
        ] {
            let patch = patch(&workload("ray.io/v1", "RayJob", &spec), suspend);
            assert_eq!(patch.is_ok(), expect, "{spec} {suspend}");
        }
    }
}
