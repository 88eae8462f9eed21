//! The objects that operators make of one, worked out without a server: which pods work would have.

use jiff::Timestamp;
use kube::core::DynamicObject;
use serde_json::{Value, json};
use uuid::Uuid;

use super::action::{Action, View};
use super::{ROWS, Row};

/// Looks at one object until nothing more comes of it: a status may have to be there before a child is made.
const LOOKS_MAX: usize = 4;
/// Objects that are made at most.
const OBJECTS_MAX: usize = 200_000;

/// Lists an object and all that the stand-ins make of it, owners before what they own. Names and UIDs are the same each
/// time. What only comes later, such as the next step of a workflow, is not among them.
pub fn offspring(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut family = vec![born(object.clone(), "", now)];
    let mut at = 0;
    while at < family.len() && family.len() < OBJECTS_MAX {
        let children = children(&mut family[at], now);
        family.extend(children);
        at += 1;
    }
    family
}

/// Tells whether pods of this kind are made here, or it is a pod.
pub fn is_known(api_version: &str, kind: &str) -> bool {
    (api_version == "v1" && kind == "Pod") || row(api_version, kind).is_some()
}

fn row(api_version: &str, kind: &str) -> Option<&'static Row> {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    ROWS.iter()
        .find(|row| (row.kind.group, row.kind.version, row.kind.kind) == (group, version, kind))
}

/// Makes what is made of one object, whose status becomes what its operator would write.
fn children(object: &mut Value, now: Timestamp) -> Vec<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let Some(row) = row(&text(&object["apiVersion"]), &text(&object["kind"])) else {
        return Vec::new();
    };
    let mut made: Vec<Value> = Vec::new();
    for _ in 0..LOOKS_MAX {
        let Ok(owner) = serde_json::from_value::<DynamicObject>(object.clone()) else { break };
        let known: Vec<DynamicObject> =
            made.iter().filter_map(|child| serde_json::from_value(child.clone()).ok()).collect();
        let view = View {
            object: &owner,
            children: known.iter().collect(),
            others: Vec::new(),
            now,
            pace: 1,
        };
        let (before, status) = (made.len(), object["status"].clone());
        for action in row.actions(&view) {
            match action {
                Action::Create(kind, child) => made.push(child_of(object, kind.kind, child, now)),
                Action::Status(status) => object["status"] = status,
                Action::Delete(..)
                | Action::DeleteSelf
                | Action::Patch(..)
                | Action::PatchSelf(_)
                | Action::Again(_) => {}
            }
        }
        if made.len() == before && object["status"] == status {
            break;
        }
    }
    made
}

/// An object as the API server would store it under an owner.
fn child_of(owner: &Value, kind: &str, mut child: Value, now: Timestamp) -> Value {
    let metadata = &owner["metadata"];
    child["metadata"]["namespace"] = metadata["namespace"].clone();
    if child["kind"].is_null() {
        child["kind"] = json!(kind);
    }
    if child["metadata"]["ownerReferences"].is_null() {
        child["metadata"]["ownerReferences"] = json!([{
            "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"],
            "uid": metadata["uid"], "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    let uid = metadata["uid"].as_str().unwrap_or_default().to_owned();
    born(child, &uid, now)
}

/// Gives an object what the API server gives a new one.
fn born(mut object: Value, owner_uid: &str, now: Timestamp) -> Value {
    let metadata = &object["metadata"];
    if metadata["uid"].is_null() {
        let name = format!(
            "{owner_uid}/{}/{}/{}",
            object["kind"], metadata["namespace"], metadata["name"]
        );
        object["metadata"]["uid"] =
            json!(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string());
    }
    object["metadata"]["creationTimestamp"] = json!(crate::nodes::object::seconds(now));
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the pods that come of an object.
    fn check(object: &Value, expect: &[&str]) {
        let now = Timestamp::UNIX_EPOCH;
        let family = offspring(object, now);
        let pods = family.iter().filter(|one| one["kind"] == "Pod");
        let names: Vec<&str> = pods.filter_map(|pod| pod["metadata"]["name"].as_str()).collect();
        assert_eq!(names, expect, "{object}");
    }

    #[test]
    fn pods_are_those_that_the_operators_make() {
        let template = json!({"spec": {"containers": [{"name": "a", "image": "b"}]}});
        let metadata = json!({"name": "w", "namespace": "n"});
        let replicas = |count: u32| json!({"replicas": count, "template": template});
        check(
            &json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata,
                "spec": {"pytorchReplicaSpecs": {"Master": replicas(1), "Worker": replicas(2)}}}),
            &["w-master-0", "w-worker-0", "w-worker-1"],
        );
        check(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}), &["w"]);
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": {"parallelism": 3, "completions": 3, "template": template}});
        let family = offspring(&job, Timestamp::UNIX_EPOCH);
        assert_eq!(family.len(), 4, "the Job and its pods");
        assert_eq!(
            family[1]["metadata"]["ownerReferences"][0]["uid"],
            family[0]["metadata"]["uid"]
        );
        let cluster = json!({"headGroupSpec": {"template": template}, "workerGroupSpecs":
            [{"groupName": "g", "replicas": 2, "template": template}]});
        let ray = json!({"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata,
            "spec": {"entrypoint": "x", "rayClusterSpec": cluster}});
        let pods = offspring(&ray, Timestamp::UNIX_EPOCH);
        assert_eq!(pods.iter().filter(|one| one["kind"] == "Pod").count(), 3, "{pods:?}");
    }

    #[test]
    fn what_no_operator_could_read_makes_nothing() {
        let metadata = json!({"name": "w", "namespace": "n"});
        let of = |api_version: &str, kind: &str, spec: &Value| {
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec});
            check(&object, &[]);
        };
        let containers = json!([{"name": "a", "image": "b"}]);
        for template in [
            json!(1),
            json!({"spec": "text"}),
            json!({"metadata": {"labels": "text"}, "spec": {"containers": containers}}),
            json!({"spec": {"containers": ["text"]}}),
            json!({"spec": {"initContainers": {}}}),
        ] {
            let replicas = json!({"replicas": 1, "template": template});
            of(
                "kubeflow.org/v1",
                "PyTorchJob",
                &json!({"pytorchReplicaSpecs": {"Master": replicas}}),
            );
            of("ray.io/v1", "RayCluster", &json!({"headGroupSpec": replicas}));
            let job = json!({"name": "a", "template": {"spec": {"template": template}}});
            of("jobset.x-k8s.io/v1alpha2", "JobSet", &json!({"replicatedJobs": [job]}));
            let cluster =
                json!({"headGroupSpec": {"template": {"spec": {"containers": containers}}}});
            let job = json!({"rayClusterSpec": cluster, "submitterPodTemplate": template});
            of("ray.io/v1", "RayJob", &job);
        }
        // Each call of a template may call it twice again.
        let steps = json!([[{"name": "x", "template": "a"}, {"name": "y", "template": "a"}]]);
        let workflow = json!({"entrypoint": "a", "templates": [{"name": "a", "steps": steps}]});
        of("argoproj.io/v1alpha1", "Workflow", &workflow);
    }
}
