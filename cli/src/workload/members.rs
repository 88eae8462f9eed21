//! Says of each pod whose it is, as pods come: for lists that are printed while they are read.

use std::collections::HashMap;
use std::ops::ControlFlow;

use futures::future::join;
use serde_json::Value;

use super::Workload;
use super::assembly::Assembly;
use super::group_name::GroupName;
pub(crate) use super::load::scheduled_by_us;
use super::load::{each_kind, name_kind, of_queues};
use super::owner::top_owner;
use super::unread::Unread;
use crate::cluster::json::text;
use crate::cluster::queue::not_installed;
use crate::cluster::{Call, Cluster, Detail, Part, Resource, Select, names};
use crate::print::error::Error;

/// Objects that make or group pods, as they are read.
#[derive(Debug)]
pub(crate) enum Makers {
    /// Those of a kind.
    Objects(Resource, Vec<Value>),
    /// `PodGroups`.
    Groups(Vec<Value>),
}

/// Reads what makes and groups the pods of a namespace, or of all, and gives it away as it comes, until it is told to
/// stop. Returns the kinds that cannot be listed. What is read again after a list began anew is given again.
///
/// # Errors
/// The server cannot be asked, or KAI is not installed.
pub(crate) async fn read(
    cluster: &Cluster,
    namespace: Option<&str>,
    take: impl Fn(Makers) -> ControlFlow<()>,
) -> Result<Unread, Error> {
    let take = &take;
    let objects = each_kind(cluster, async |_, resource: Resource| {
        let call = Call::new("list", &resource).namespace(namespace);
        let give = |part| match part {
            Part::Objects(mut items) => {
                for item in &mut items {
                    name_kind(item, &resource);
                }
                take(Makers::Objects(resource.clone(), items))
            }
            Part::Again => ControlFlow::Continue(()),
        };
        let read = cluster.parts(&call, &of_queues(), Detail::Row, give).await;
        (resource.in_rbac(), read)
    });
    let groups = names::pod_groups();
    let call = Call::new("list", &groups).namespace(namespace);
    let give = |part| match part {
        Part::Objects(items) => take(Makers::Groups(items)),
        Part::Again => ControlFlow::Continue(()),
    };
    let everything = Select::default();
    let (objects, read) = join(objects, cluster.parts(&call, &everything, Detail::Row, give)).await;
    let mut unread = Unread::default();
    for (kind, read) in objects.map_err(|failure| cluster.explain_any(&failure))? {
        if let Err(failure) = read {
            unread.add(kind, &failure, cluster);
        }
    }
    match read {
        Ok(true) => {}
        Ok(false) => return Err(not_installed(cluster)),
        Err(failure) if failure.is_forbidden() => {
            unread.add(groups.in_rbac(), &failure, cluster);
        }
        Err(failure) => return Err(cluster.explain(&call, &failure)),
    }
    Ok(unread)
}

/// Holds what a list says of whose a pod is.
#[derive(Debug)]
pub(crate) struct Owner<'m> {
    pub(crate) workload: &'m Workload,
    /// The queue of the pod's `PodGroup`; of the workload where it has none.
    pub(crate) queue: &'m str,
}

/// The workloads of pods, as far as what makes and groups pods was read.
#[derive(Debug, Default)]
pub(crate) struct Members {
    assembly: Assembly,
    /// Groups that no pod has asked for yet, by namespace and name: whose it is may follow from what is read later, or from
    /// its pod.
    waiting: HashMap<GroupName, Value>,
    /// Everything was read.
    is_whole: bool,
}

impl Members {
    /// Takes in what was read; what is known stays as it is.
    pub(crate) fn add(&mut self, makers: Makers) {
        match makers {
            Makers::Objects(resource, items) => {
                for item in items {
                    if !self.assembly.has(&item) {
                        self.assembly.add_object(resource.clone(), item);
                    }
                }
            }
            Makers::Groups(items) => {
                for group in items {
                    let name = GroupName::of(&group);
                    if self.assembly.group(&name).is_none() {
                        self.waiting.insert(name, group);
                    }
                }
            }
        }
    }

    /// Says that everything was read. Of the groups that still wait those stay that are of one pod each: it tells whose the
    /// two are.
    pub(crate) fn finish(&mut self) {
        self.is_whole = true;
        let is_of_pod =
            |group: &Value| top_owner(group).get("kind").is_some_and(|kind| kind == "Pod");
        let mut known: Vec<_> = self.waiting.extract_if(|_, group| !is_of_pod(group)).collect();
        known.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (_, group) in known {
            self.assembly.add_group(group);
        }
        // As if all had been added in this order.
        for workload in &mut self.assembly.workloads {
            if let Some((_, queue)) = workload.groups.iter().filter_map(queue).max() {
                workload.queue = queue.to_owned();
            }
        }
    }

    /// Tells whether no workload is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.assembly.workloads.is_empty() && self.waiting.is_empty()
    }

    /// Returns whose a pod is; none where that may follow from what is not read yet.
    pub(crate) fn owner(&mut self, pod: &Value) -> Option<Owner<'_>> {
        let group = GroupName::of_pod(pod);
        self.assembly.note_controller(pod);
        if let Some(waiting) = self.waiting.get(&group)
            && (self.is_whole || self.assembly.is_settled(waiting))
            && let Some(known) = self.waiting.remove(&group)
        {
            self.assembly.add_group(known);
        }
        if !self.is_whole && self.assembly.group(&group).is_none() {
            return None;
        }
        let at = self.assembly.place(pod);
        let workload = &self.assembly.workloads[at];
        let own = self.assembly.group(&group).and_then(queue);
        let queue = own.map_or(workload.queue.as_str(), |(_, queue)| queue);
        Some(Owner { workload, queue })
    }
}

/// Says of each pod of a workload whose it is.
pub(crate) fn owned(workload: &Workload) -> impl Iterator<Item = (Owner<'_>, &Value)> {
    let queues: HashMap<&str, &str> = workload.groups.iter().filter_map(queue).collect();
    workload.pods.iter().map(move |pod| {
        let group = text(&pod["metadata"]["annotations"][names::POD_GROUP]);
        let queue = queues.get(group).copied().unwrap_or(&workload.queue);
        (Owner { workload, queue }, pod)
    })
}

/// Returns the name of a group and the queue that it names, where it names one.
fn queue(group: &Value) -> Option<(&str, &str)> {
    let queue = group["spec"]["queue"].as_str().filter(|queue| !queue.is_empty())?;
    Some((text(&group["metadata"]["name"]), queue))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::cluster::kinds::{KINDS, Kind};
    use crate::workload::assembly::assemble;

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

    /// A cluster of which each thing comes by itself: what makes and groups pods, and the pods.
    fn cluster() -> (Vec<(&'static str, Value)>, Vec<Value>, Vec<Value>) {
        let job = object("batch/v1/Job", "train", None);
        let moved = object("batch/v1/Job", "moved", None);
        let set = object("jobset.x-k8s.io/v1alpha2/JobSet", "set", None);
        let of_set = object("batch/v1/Job", "set-a-0", Some(&set));
        let replicas = object("apps/v1/ReplicaSet", "web-1", None);
        let alone = pod("alone", None, "pg-alone");
        let web = pod("web-1-a", Some(&replicas), "pg-web");
        let [mut before, mut after] = ["pg-moved-1", "pg-moved-2"].map(|name| group(name, &moved));
        before["spec"]["queue"] = "before".into();
        after["spec"]["queue"] = "after".into();
        let groups = vec![
            group("pg-alone", &alone),
            before,
            after,
            group("pg-set", &of_set),
            group("pg-train", &job),
            group("pg-web", &web),
        ];
        let pods = vec![
            pod("train-0", Some(&job), "pg-train"),
            alone,
            pod("moved-0", Some(&moved), "pg-moved-1"),
            pod("set-a-0-0", Some(&of_set), "pg-set"),
            web,
            pod("moved-1", Some(&moved), "pg-moved-2"),
            pod("moved-2", Some(&moved), ""),
            pod("train-1", Some(&job), ""),
            pod("loose", None, ""),
        ];
        (vec![("Job", job), ("Job", moved), ("Job", of_set), ("JobSet", set)], groups, pods)
    }

    /// Label and queue of what each pod is of, by the pod's name.
    type Owners = BTreeMap<String, (String, String)>;

    fn note(found: &mut Owners, owner: &Owner<'_>, pod: &Value) {
        let owner = (owner.workload.label(), owner.queue.to_owned());
        found.insert(text(&pod["metadata"]["name"]).to_owned(), owner);
    }

    #[test]
    fn a_pod_is_of_the_same_workload_in_whatever_order_all_is_read() {
        let (objects, groups, pods) = cluster();
        let named = objects.iter().map(|(name, object)| (kind(name), object.clone()));
        let named = named.map(|(kind, object)| (kind, kind.best(), object)).collect();
        let mut expect = Owners::new();
        let workloads = assemble(named, groups.clone(), pods.clone());
        for (owner, pod) in workloads.iter().flat_map(owned) {
            note(&mut expect, &owner, pod);
        }
        assert_eq!(expect.len(), pods.len());
        let owner = |label: &str, queue: &str| (label.to_owned(), queue.to_owned());
        assert_eq!(expect["set-a-0-0"], owner("jobset.jobset.x-k8s.io/set", "by-group"));
        assert_eq!(expect["web-1-a"], owner("replicaset.apps/web-1", "by-group"));
        assert_eq!(expect["moved-0"], owner("job.batch/moved", "before"));
        let makers = || -> Vec<Makers> {
            let objects = objects
                .iter()
                .map(|(name, object)| Makers::Objects(kind(name).best(), vec![object.clone()]));
            objects.chain(groups.iter().map(|group| Makers::Groups(vec![group.clone()]))).collect()
        };
        let count = makers().len();
        for order in 0..2 * count {
            let mut given = makers();
            if order >= count {
                given.reverse();
            }
            given.rotate_left(order % count);
            // A list that began anew gives what it gave before.
            given.extend(makers().into_iter().take(order % count));
            let (mut members, mut found) = (Members::default(), Owners::new());
            let mut ask = |members: &mut Members| {
                while let Some(pod) = pods.get(found.len()) {
                    let Some(owner) = members.owner(pod) else { return };
                    note(&mut found, &owner, pod);
                }
            };
            for made in given {
                members.add(made);
                ask(&mut members);
            }
            members.finish();
            ask(&mut members);
            assert_eq!(found, expect, "in order {order}");
        }
    }

    #[test]
    fn a_pod_is_known_once_its_group_and_its_maker_are() {
        let (objects, groups, pods) = cluster();
        let known = |members: &mut Members, pod: usize| members.owner(&pods[pod]).is_some();
        let groups = |name: &str| {
            let named = groups.iter().filter(|group| group["metadata"]["name"] == name);
            Makers::Groups(named.cloned().collect())
        };
        let objects = |at: usize| {
            let (name, object) = &objects[at];
            Makers::Objects(kind(name).best(), vec![object.clone()])
        };
        let mut members = Members::default();
        members.add(objects(0));
        assert!(!known(&mut members, 0), "its group was not read");
        members.add(groups("pg-train"));
        assert!(known(&mut members, 0));
        members.add(groups("pg-alone"));
        assert!(known(&mut members, 1), "nobody makes it");
        // The job of a set is not the workload: who made it may come yet.
        members.add(groups("pg-set"));
        assert!(!known(&mut members, 3));
        members.add(objects(2));
        assert!(!known(&mut members, 3));
        members.add(objects(3));
        assert!(known(&mut members, 3));
        // Pods without a group may get it from objects that were not read.
        assert!(!known(&mut members, 7));
        members.finish();
        assert!(known(&mut members, 7));
    }
}
