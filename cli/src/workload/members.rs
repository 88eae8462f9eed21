//! Says of each pod whose it is, as pods come: for lists that are printed while they are read.

use std::collections::HashMap;

use serde_json::Value;

use super::Workload;
pub(crate) use super::load::scheduled_by_us;
use super::load::{Assembly, Makers, top_owner};
use crate::cluster::json::text;
use crate::cluster::{Cluster, Detail, names};
use crate::print::error::Error;

/// The workloads that are known before any pod is.
#[derive(Debug, Default)]
pub(crate) struct Members {
    assembly: Assembly,
    /// The groups of pods that are grouped one by one, by namespace and name: each waits for its pod, which tells whose the
    /// two are.
    waiting: HashMap<(String, String), Value>,
    /// Kinds that the user may not list.
    pub(crate) hidden: Vec<String>,
}

impl Members {
    /// Reads what makes and groups the pods of a namespace, or of all.
    ///
    /// # Errors
    /// The server cannot be asked, or KAI is not installed.
    pub(crate) async fn read(cluster: &Cluster, namespace: Option<&str>) -> Result<Self, Error> {
        Makers::read(cluster, namespace, Detail::Row).await.map(Self::of)
    }

    fn of(makers: Makers) -> Self {
        let mut members = Self { hidden: makers.hidden, ..Self::default() };
        members.assembly.add_objects(makers.objects);
        for group in makers.groups {
            if top_owner(&group).get("kind").is_some_and(|kind| kind == "Pod") {
                let meta = &group["metadata"];
                let key = (text(&meta["namespace"]).to_owned(), text(&meta["name"]).to_owned());
                members.waiting.insert(key, group);
            } else {
                members.assembly.add_group(group);
            }
        }
        members
    }

    /// Tells whether no workload is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.assembly.workloads.is_empty() && self.waiting.is_empty()
    }

    /// Returns the workload of a pod.
    pub(crate) fn workload_of(&mut self, pod: &Value) -> &Workload {
        let meta = &pod["metadata"];
        let group = text(&meta["annotations"][names::POD_GROUP]).to_owned();
        let key = (text(&meta["namespace"]).to_owned(), group);
        self.assembly.note_controller(pod);
        if let Some(group) = self.waiting.remove(&key) {
            self.assembly.add_group(group);
        }
        let at = self.assembly.place(pod);
        &self.assembly.workloads[at]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::cluster::kinds::{KINDS, Kind};
    use crate::workload::load::assemble;

    fn kind(name: &str) -> &'static Kind {
        KINDS.iter().find(|kind| kind.name == name).expect("it is known")
    }

    /// An object of a kind, made by another one.
    fn object(version: &str, name: &str, maker: Option<&Value>) -> Value {
        let (version, kind) = version.rsplit_once('/').expect("group/version/kind");
        let owners: Vec<Value> = maker
            .map(|maker| {
                json!({"apiVersion": maker["apiVersion"], "kind": maker["kind"], "controller": true,
                    "name": maker["metadata"]["name"], "uid": maker["metadata"]["uid"]})
            })
            .into_iter()
            .collect();
        json!({"apiVersion": version, "kind": kind, "metadata": {
            "name": name, "namespace": "ml", "uid": format!("{kind}-{name}"), "ownerReferences": owners}})
    }

    /// A pod in a group.
    fn pod(name: &str, maker: Option<&Value>, group: &str) -> Value {
        let mut pod = object("v1/Pod", name, maker);
        pod["metadata"]["labels"] = json!({"kai.scheduler/queue": "by-label"});
        pod["metadata"]["annotations"] = json!({ names::POD_GROUP: group });
        pod
    }

    /// A group that an object tops.
    fn group(name: &str, top: &Value) -> Value {
        let mut group = object("scheduling.run.ai/v2alpha2/PodGroup", name, Some(top));
        let text = |value: &Value| text(value).to_owned();
        let version = text(&top["apiVersion"]);
        let (api, version) = version.split_once('/').unwrap_or(("", &version));
        let lines = [
            format!("name: {}", text(&top["metadata"]["name"])),
            format!("uid: {}", text(&top["metadata"]["uid"])),
            format!("group: {api}"),
            format!("version: {version}"),
            format!("kind: {}", text(&top["kind"])),
        ];
        group["metadata"]["annotations"] = json!({ names::TOP_OWNER: lines.join("\n") });
        group["spec"] = json!({"queue": "by-group"});
        group
    }

    #[test]
    fn a_pod_is_of_the_same_workload_whether_pods_come_before_or_after() {
        let job = object("batch/v1/Job", "train", None);
        let set = object("jobset.x-k8s.io/v1alpha2/JobSet", "set", None);
        let of_set = object("batch/v1/Job", "set-a-0", Some(&set));
        let replicas = object("apps/v1/ReplicaSet", "web-1", None);
        let alone = pod("alone", None, "pg-alone");
        let web = pod("web-1-a", Some(&replicas), "pg-web");
        let pods = vec![
            pod("train-0", Some(&job), "pg-train"),
            pod("train-1", Some(&job), ""),
            pod("set-a-0-0", Some(&of_set), "pg-set"),
            alone.clone(),
            web.clone(),
            pod("loose", None, ""),
        ];
        let objects = || {
            [("Job", &job), ("JobSet", &set), ("Job", &of_set)]
                .map(|(name, object)| (kind(name), kind(name).best(), object.clone()))
                .into()
        };
        let groups = vec![
            group("pg-train", &job),
            group("pg-set", &set),
            group("pg-alone", &alone),
            group("pg-web", &web),
        ];
        let mut expect = BTreeMap::new();
        for workload in assemble(objects(), groups.clone(), pods.clone()) {
            for pod in &workload.pods {
                let name = text(&pod["metadata"]["name"]).to_owned();
                expect.insert(name, (workload.label(), workload.queue.clone()));
            }
        }
        assert_eq!(expect.len(), pods.len());
        assert_eq!(expect["set-a-0-0"], ("jobset.jobset.x-k8s.io/set".into(), "by-group".into()));
        assert_eq!(expect["web-1-a"], ("replicaset.apps/web-1".into(), "by-group".into()));
        let makers = Makers { objects: objects(), groups, hidden: Vec::new() };
        let mut members = Members::of(makers);
        let found: BTreeMap<String, (String, String)> = pods
            .iter()
            .map(|pod| {
                let workload = members.workload_of(pod);
                let name = text(&pod["metadata"]["name"]).to_owned();
                (name, (workload.label(), workload.queue.clone()))
            })
            .collect();
        assert_eq!(found, expect);
    }
}
