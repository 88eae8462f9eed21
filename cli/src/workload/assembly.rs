//! Puts what was read together: whose each object, group and pod is.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use kai_api::explanation::Explanation;
use kai_api::names::annotation;
use serde_json::Value;

use super::group_name::GroupName;
use super::owner::{self, controller, maker, top_owner};
use super::{Workload, created, queue_label};
use crate::cluster::json::text;
use crate::cluster::kinds::{self, KINDS, Kind};
use crate::cluster::{Resource, names};
use crate::threads;

/// Objects with their kinds, as they were read.
pub(super) type Objects = Vec<(&'static Kind, Resource, Value)>;

/// Puts objects, groups and pods together. Pure.
pub(super) fn assemble(objects: Objects, groups: Vec<Value>, pods: Vec<Value>) -> Vec<Workload> {
    let mut assembly = Assembly::with_capacity(objects.len());
    for (_, resource, object) in objects {
        assembly.add_object(resource, object);
    }
    for pod in &pods {
        assembly.note_controller(pod);
    }
    for group in groups {
        assembly.add_group(group);
    }
    for pod in pods {
        assembly.add_pod(pod);
    }
    let mut workloads = assembly.workloads;
    workloads.sort_by(|a, b| {
        (&a.namespace, &a.name, &a.resource.kind).cmp(&(&b.namespace, &b.name, &b.resource.kind))
    });
    threads::change(&mut workloads, |workload| {
        // What was said of pods that are gone does not say why there are none.
        let has_pods = !workload.pods.is_empty();
        workload.explanation = explanation(&workload.groups).filter(|_| has_pods);
        workload
            .pods
            .sort_by(|a, b| text(&a["metadata"]["name"]).cmp(text(&b["metadata"]["name"])));
        // Whoever asks for it later finds it worked out.
        let _known = workload.state();
    });
    workloads
}

/// Returns what our scheduler says of why one of these groups waits; of several, of one that never runs as it is.
fn explanation(groups: &[Value]) -> Option<Explanation> {
    let annotation = |group: &Value| {
        let text = text(&group["metadata"]["annotations"][annotation::EXPLANATION]);
        let mut told = Explanation::read(text)?;
        // Who may write the group may have chosen them, and an administrator would run them.
        told.help.iter_mut().for_each(|help| help.command = None);
        Some(told)
    };
    let all: Vec<Explanation> = groups.iter().filter_map(annotation).collect();
    let never = all.iter().position(|one| one.never).unwrap_or(0);
    all.into_iter().nth(never)
}

/// Owners above each other that are followed: they may go in a circle.
const OWNERS_MAX: usize = 32;

/// Workloads that are being put together.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) workloads: Vec<Workload>,
    /// UID to workload in each namespace: owners are of the same one, whatever UID is written down.
    by_uid: HashMap<String, HashMap<String, usize>>,
    /// Objects that another one made: UID to the maker's.
    makers: HashMap<String, String>,
    /// The controllers of pods, by the pod's UID.
    controllers: HashMap<String, Value>,
    /// `PodGroup` to workload, and the place among its groups.
    by_group: HashMap<GroupName, (usize, usize)>,
    /// (namespace, label, value) to workload.
    by_label: HashMap<(String, &'static str, String), usize>,
}

impl Assembly {
    /// One without anything, with room for so many objects.
    fn with_capacity(objects: usize) -> Self {
        Self { workloads: Vec::with_capacity(objects), ..Self::default() }
    }

    fn add(&mut self, workload: Workload) -> usize {
        let at = self.workloads.len();
        if !workload.uid.is_empty() {
            let of_namespace = self.by_uid.entry(workload.namespace.clone()).or_default();
            of_namespace.insert(workload.uid.clone(), at);
        }
        let label = kinds::find(&workload.resource.api_version(), &workload.resource.kind)
            .map_or("", |kind| kind.pod_label);
        if !label.is_empty() {
            self.by_label.insert((workload.namespace.clone(), label, workload.name.clone()), at);
        }
        self.workloads.push(workload);
        at
    }

    /// Adds an object, or notes that another one made it.
    pub(super) fn add_object(&mut self, resource: Resource, object: Value) {
        if let Some(maker) = maker(&object) {
            let uid = text(&object["metadata"]["uid"]).to_owned();
            self.makers.insert(uid, maker.to_owned());
            return;
        }
        self.add(Workload {
            resource,
            namespace: text(&object["metadata"]["namespace"]).into(),
            name: text(&object["metadata"]["name"]).into(),
            uid: text(&object["metadata"]["uid"]).into(),
            queue: queue_label(&object).into(),
            created: created(&object),
            object: Some(object),
            ..Workload::default()
        });
    }

    /// Tells whether an object was added.
    pub(super) fn has(&self, object: &Value) -> bool {
        let meta = &object["metadata"];
        let uid = text(&meta["uid"]);
        let own = self.by_uid.get(text(&meta["namespace"]));
        own.is_some_and(|own| own.contains_key(uid)) || self.makers.contains_key(uid)
    }

    /// Notes whose a pod is before groups are added. A pod that its controller's kind groups one by one owns its
    /// `PodGroup`; the work is still the controller's.
    pub(super) fn note_controller(&mut self, pod: &Value) {
        let Some(controller) = controller(pod) else { return };
        let version = text(&controller["apiVersion"]);
        if kinds::find(version, text(&controller["kind"])).is_none() {
            return;
        }
        let uid = text(&pod["metadata"]["uid"]).to_owned();
        self.makers.insert(uid.clone(), text(&controller["uid"]).to_owned());
        self.controllers.insert(uid, controller.clone());
    }

    /// The workload of an object of a namespace, or of whatever made it, or made that.
    fn at_or_above(&self, uid: &str, namespace: &str) -> Option<usize> {
        let by_uid = self.by_uid.get(namespace)?;
        let mut uid = uid;
        for _ in 0..OWNERS_MAX {
            if let Some(at) = by_uid.get(uid) {
                return Some(*at);
            }
            uid = self.makers.get(uid)?;
        }
        None
    }

    /// The `TrainJob` whose `JobSet` an owner is: it has the same name, and none of the labels by which objects are listed.
    fn train_job_of(&self, owner: &Value, namespace: &str) -> Option<usize> {
        let kind = kinds::find(text(&owner["apiVersion"]), text(&owner["kind"]))?;
        let key = (namespace.to_owned(), kind.pod_label, text(&owner["name"]).to_owned());
        let at = self.by_label.get(&key).copied().filter(|_| kind.name == "JobSet")?;
        (self.workloads[at].resource.kind == "TrainJob").then_some(at)
    }

    /// Says whose a group is: the controller of the pod that owns it, else its first owner and its top owner.
    fn whose<'g>(&self, group: &'g Value) -> (Cow<'g, Value>, BTreeMap<String, String>) {
        let owner = owner::first(group);
        let top = top_owner(group);
        let is_pod = top.get("kind").is_some_and(|kind| kind == "Pod");
        match self.controllers.get(text(&owner["uid"])).filter(|_| is_pod) {
            Some(controller) => (Cow::Owned(controller.clone()), BTreeMap::new()),
            None => (Cow::Borrowed(owner), top),
        }
    }

    /// Tells whether the workload of a group is known and stays what it is, whatever else is added.
    pub(super) fn is_settled(&self, group: &Value) -> bool {
        let (owner, top) = self.whose(group);
        // Pods are not among the objects that may come yet.
        let is_pod = top.get("kind").is_some_and(|kind| kind == "Pod");
        let uid = top.get("uid").map(String::as_str).filter(|uid| !uid.is_empty());
        let uid = uid.unwrap_or_else(|| text(&owner["uid"]));
        is_pod || self.at_or_above(uid, text(&group["metadata"]["namespace"])).is_some()
    }

    /// Adds a group to its workload, which is added where it is a new one.
    pub(super) fn add_group(&mut self, group: Value) {
        let namespace = text(&group["metadata"]["namespace"]).to_owned();
        let name = text(&group["metadata"]["name"]).to_owned();
        let (owner, top) = self.whose(&group);
        let uids = [top.get("uid").map_or("", String::as_str), text(&owner["uid"])];
        let known = uids.iter().find_map(|uid| self.at_or_above(uid, &namespace));
        let known = known.or_else(|| self.train_job_of(&owner, &namespace));
        let queue = text(&group["spec"]["queue"]).to_owned();
        let at = known.unwrap_or_else(|| {
            let get = |key: &str| top.get(key).filter(|v| !v.is_empty()).cloned();
            let group_version = match (get("group"), get("version")) {
                (Some(group), Some(version)) => format!("{group}/{version}"),
                (None, Some(version)) => version,
                (_, None) => text(&owner["apiVersion"]).to_owned(),
            };
            let kind = get("kind").unwrap_or_else(|| text(&owner["kind"]).to_owned());
            let named = get("name").unwrap_or_else(|| text(&owner["name"]).to_owned());
            let plural = kinds::find(&group_version, &kind).map_or("", |known| known.plural);
            let is_own = kind.is_empty();
            self.add(Workload {
                resource: if is_own {
                    names::pod_groups()
                } else {
                    Resource::new(&group_version, &kind, plural)
                },
                namespace: namespace.clone(),
                name: if is_own { name.clone() } else { named },
                uid: if is_own {
                    text(&group["metadata"]["uid"]).to_owned()
                } else {
                    get("uid").unwrap_or_else(|| text(&owner["uid"]).to_owned())
                },
                queue: queue.clone(),
                created: created(&group),
                ..Workload::default()
            })
        });
        drop(owner);
        let workload = &mut self.workloads[at];
        self.by_group.insert(GroupName { namespace, name }, (at, workload.groups.len()));
        // What the scheduler acts on is the PodGroup's queue.
        if !queue.is_empty() {
            workload.queue = queue;
        }
        workload.groups.push(group);
    }

    /// Finds a group.
    pub(super) fn group(&self, name: &GroupName) -> Option<&Value> {
        let (at, place) = self.by_group.get(name)?;
        self.workloads[*at].groups.get(*place)
    }

    /// Returns the number of the workload that a pod is of, which is added where it tells of a new one.
    pub(super) fn place(&mut self, pod: &Value) -> usize {
        let meta = &pod["metadata"];
        let namespace = text(&meta["namespace"]);
        let owner = controller(pod);
        let owner_uid = owner.map_or("", |owner| text(&owner["uid"]));
        let by_label = || {
            KINDS.iter().filter(|kind| !kind.pod_label.is_empty()).find_map(|kind| {
                let value = text(&meta["labels"][kind.pod_label]);
                self.by_label
                    .get(&(namespace.to_owned(), kind.pod_label, value.to_owned()))
                    .copied()
            })
        };
        let known = self
            .by_group
            .get(&GroupName::of_pod(pod))
            .map(|(at, _)| *at)
            .or_else(|| self.at_or_above(owner_uid, namespace))
            // It was read before the podgrouper wrote on it which group it is in, and the group after.
            .or_else(|| self.at_or_above(text(&meta["uid"]), namespace))
            .or_else(by_label);
        known.unwrap_or_else(|| self.add(Workload::of_pod(pod)))
    }

    fn add_pod(&mut self, pod: Value) {
        let at = self.place(&pod);
        let workload = &mut self.workloads[at];
        if workload.resource.kind == "Pod" && workload.object.is_none() {
            let mut object = pod.clone();
            object["apiVersion"] = "v1".into();
            object["kind"] = "Pod".into();
            workload.object = Some(object);
        }
        workload.pods.push(pod);
    }
}

impl Workload {
    /// The workload that a pod tells of: its controller, or the pod itself; not its pods yet.
    pub(crate) fn of_pod(pod: &Value) -> Self {
        let meta = &pod["metadata"];
        let owner = controller(pod);
        let maker = owner.unwrap_or(meta);
        Self {
            resource: owner.map_or_else(names::pods, |owner| {
                Resource::new(text(&owner["apiVersion"]), text(&owner["kind"]), "")
            }),
            namespace: text(&meta["namespace"]).into(),
            name: text(&maker["name"]).into(),
            uid: text(&maker["uid"]).into(),
            queue: queue_label(pod).into(),
            created: created(pod),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Assembly, OWNERS_MAX, assemble};
    use crate::cluster::kinds::{Kind, named};
    use crate::workload::Workload;

    fn job() -> &'static Kind {
        named("job").expect("a noun of ours")
    }

    /// An object of a namespace, controlled by a Job of a UID where one is given.
    fn object(namespace: &str, name: &str, maker: Option<&str>) -> Value {
        let owner = |uid| json!([{"apiVersion": "batch/v1", "kind": "Job", "name": uid, "uid": uid, "controller": true}]);
        json!({"metadata": {"name": name, "namespace": namespace, "uid": name,
            "ownerReferences": maker.map(owner)}})
    }

    #[test]
    fn nobody_joins_the_workload_of_another_namespace() {
        let victim = object("victim", "train", None);
        let mut group = object("evil", "g", None);
        group["metadata"]["annotations"]["kai.scheduler/top-owner-metadata"] =
            "name: train\nkind: Job\ngroup: batch\nversion: v1\nuid: train".into();
        group["spec"]["queue"] = "evilq".into();
        let pods = vec![object("evil", "c", Some("train")), object("victim", "p", Some("train"))];
        let all = assemble(vec![(job(), job().best(), victim)], vec![group], pods);
        let seen = |one: &Workload| {
            let sizes = (one.groups.len(), one.pods.len());
            (one.namespace.clone(), one.name.clone(), one.queue.clone(), sizes)
        };
        let expect = [
            ("evil".to_owned(), "train".to_owned(), "evilq".to_owned(), (1, 1)),
            ("victim".to_owned(), "train".to_owned(), String::new(), (0, 1)),
        ];
        assert_eq!(all.iter().map(seen).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_name_that_no_object_has_names_no_workload() {
        let mut pod = object("evil", "p", Some("x"));
        pod["metadata"]["ownerReferences"][0]["name"] = "x -A *".into();
        let mut group = object("evil", "g", None);
        group["metadata"]["annotations"]["kai.scheduler/top-owner-metadata"] =
            "name: $(id)\nkind: Job\ngroup: batch\nversion: v1\nuid: u".into();
        let all = assemble(Vec::new(), vec![group], vec![pod]);
        let labels: Vec<String> = all.iter().map(Workload::label).collect();
        assert_eq!(labels, ["podgroup.scheduling.run.ai/g", "pod/p"]);
    }

    #[test]
    fn an_explanation_brings_no_command() {
        let mut group = object("ml", "g", None);
        let told = json!({"version": 1, "code": "KAI1202", "help": [{"text": "raise it", "command": "id"}]});
        group["metadata"]["annotations"]["kai.scheduler/explanation"] = told.to_string().into();
        let mut pod = object("ml", "p", None);
        pod["metadata"]["annotations"]["pod-group-name"] = "g".into();
        let all = assemble(Vec::new(), vec![group], vec![pod]);
        let row = json!(all[0].to_row());
        assert_eq!(row["explanation"]["help"], json!([{"text": "raise it"}]));
    }

    #[test]
    fn a_group_that_names_no_owner_is_told_apart_by_its_own_uid() {
        let groups = ["g", "h"].map(|name| object("ml", name, None));
        let all = assemble(Vec::new(), groups.to_vec(), Vec::new());
        let uids: Vec<&str> = all.iter().map(|one| one.uid.as_str()).collect();
        assert_eq!(uids, ["g", "h"]);
    }

    /// Owners that go round are followed no further than any that there are.
    #[test]
    fn a_circle_of_owners_ends() {
        let mut assembly = Assembly::default();
        assembly.add_object(job().best(), object("ml", "top", None));
        for (name, maker) in [("a", "b"), ("b", "a")] {
            assembly.add_object(job().best(), object("ml", name, Some(maker)));
        }
        let chain = |at: usize| {
            (format!("c{at}"), if at == 0 { "top".to_owned() } else { format!("c{}", at - 1) })
        };
        for (name, maker) in (0..OWNERS_MAX + 10).map(chain) {
            assembly.add_object(job().best(), object("ml", &name, Some(&maker)));
        }
        assert_eq!(assembly.at_or_above("a", "ml"), None);
        assert_eq!(assembly.at_or_above("c5", "ml"), Some(0));
        assert_eq!(assembly.at_or_above(&format!("c{OWNERS_MAX}"), "ml"), None);
    }

    #[test]
    fn a_pod_read_before_its_group_was_written_on_it_is_one_workload() {
        let pod = json!({"metadata": {"name": "first", "namespace": "default", "uid": "u"}});
        let group = json!({
            "metadata": {
                "name": "pg-first-u", "namespace": "default",
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "first", "uid": "u"}],
            },
            "spec": {"queue": "q"},
        });
        let workloads = assemble(Vec::new(), vec![group], vec![pod]);
        assert_eq!(workloads.len(), 1);
        assert_eq!((workloads[0].groups.len(), workloads[0].pods.len()), (1, 1));
    }
}
