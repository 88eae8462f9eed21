//! Reads what there is, at most two requests a kind, and puts it together.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use futures::future::{join, join_all};
use kai_api::explanation::Explanation;
use kai_api::names::annotation;
use serde_json::Value;

use super::group_name::GroupName;
use super::{Workload, created, queue_label, threads};
use crate::cluster::json::text;
use crate::cluster::kinds::{KINDS, Kind};
use crate::cluster::queue::{not_installed, readable};
use crate::cluster::{Call, Cluster, Detail, Failure, Resource, Select, names};
use crate::print::error::Error;

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) workloads: Vec<Workload>,
    /// Kinds that the user may not list.
    pub(crate) hidden: Vec<String>,
}

/// Reads the workloads of a namespace, or of all.
///
/// # Errors
/// The server cannot be asked, KAI is not installed, or neither pods nor `PodGroups` may be read.
pub(crate) async fn load(cluster: &Cluster, namespace: Option<&str>) -> Result<Loaded, Error> {
    load_in(cluster, namespace, Detail::Outline).await
}

/// Does the same and keeps so much of each object.
///
/// # Errors
/// As [`load()`].
pub(crate) async fn load_in(
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
) -> Result<Loaded, Error> {
    let pods = names::pods();
    let call = Call::new("list", &pods).namespace(namespace);
    let ours = scheduled_by_us();
    let select = Select { fields: &ours, ..Select::default() };
    let (makers, pods_read) =
        join(Makers::read(cluster, namespace, detail), cluster.list_in(&call, &select, detail))
            .await;
    let Makers { objects, groups, hidden } = makers?;
    let pods = pods_read.map_err(|failure| cluster.explain(&call, &failure))?.unwrap_or_default();
    let mut loaded = Loaded { workloads: assemble(objects, groups, pods), hidden };
    mark_held(&mut loaded.workloads, cluster).await;
    Ok(loaded)
}

/// Selects the pods that workloads are shown with.
pub(crate) fn scheduled_by_us() -> String {
    format!("spec.schedulerName={}", names::SCHEDULER)
}

/// Objects and groups that pods are made and grouped by.
#[derive(Debug)]
pub(super) struct Makers {
    pub(super) objects: Objects,
    pub(super) groups: Vec<Value>,
    /// Kinds that the user may not list.
    pub(super) hidden: Vec<String>,
}

impl Makers {
    /// Reads them, those of a namespace or all, and so much of each.
    ///
    /// # Errors
    /// The server cannot be asked, or KAI is not installed.
    pub(super) async fn read(
        cluster: &Cluster,
        namespace: Option<&str>,
        detail: Detail,
    ) -> Result<Self, Error> {
        let groups = names::pod_groups();
        let call = Call::new("list", &groups).namespace(namespace);
        let everything = Select::default();
        let (read, objects) =
            join(cluster.list_in(&call, &everything, detail), objects(cluster, namespace, detail))
                .await;
        let (objects, mut hidden) = objects.map_err(|failure| cluster.explain_any(&failure))?;
        let groups = match read {
            Ok(Some(groups)) => groups,
            Ok(None) => return Err(not_installed(cluster)),
            Err(failure) if failure.is_forbidden() => {
                hidden.push(groups.in_rbac());
                Vec::new()
            }
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        };
        Ok(Self { objects, groups, hidden })
    }
}

/// Notes which of them wait in a queue that is held: one request, where any is at a limit; none where queues may not be
/// read.
pub(super) async fn mark_held(workloads: &mut [Workload], cluster: &Cluster) {
    let is_at_limit = |workload: &Workload| {
        let state = workload.state();
        state.phase.is_queued() && state.reason.as_deref() == Some("OverLimit")
    };
    if !workloads.iter().any(is_at_limit) {
        return;
    }
    let Some(queues) = readable(cluster).await.ok().flatten() else { return };
    for workload in workloads.iter_mut().filter(|workload| is_at_limit(workload)) {
        let held = queues.held(&workload.queue).map(|queue| queue.name.clone());
        workload.set_held(held);
    }
}

pub(super) type Objects = Vec<(&'static Kind, Resource, Value)>;

/// The objects of every known kind that name a queue.
async fn objects(
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
) -> Result<(Objects, Vec<String>), Failure> {
    let read = |kind, resource| one_kind(kind, resource, cluster, namespace, detail);
    let (mut objects, mut hidden) = (Vec::new(), Vec::new());
    for (kind, resource, found) in each_kind(cluster, read).await? {
        match found {
            Ok(Some(items)) => {
                objects.extend(items.into_iter().map(|item| (kind, resource.clone(), item)));
            }
            Ok(None) => {}
            Err(failure) if failure.is_forbidden() => hidden.push(resource.in_rbac()),
            Err(failure) => return Err(failure),
        }
    }
    Ok((objects, hidden))
}

/// Reads every known kind that may be served and whose objects can name a queue, all at once.
pub(super) async fn each_kind<R, F: Future<Output = R>>(
    cluster: &Cluster,
    read: impl Fn(&'static Kind, Resource) -> F,
) -> Result<Vec<R>, Failure> {
    let is_builtin = |kind: &&Kind| matches!(kind.group, "" | "batch" | "apps");
    // Pods are read by their scheduler, and the other two only ever belong to something else.
    let is_listed = |kind: &&Kind| !matches!(kind.name, "Pod" | "ReplicaSet" | "TrainingRuntime");
    let (builtin, custom): (Vec<&Kind>, Vec<&Kind>) =
        KINDS.iter().filter(is_listed).partition(is_builtin);
    let builtin = join_all(builtin.into_iter().map(|kind| read(kind, kind.best())));
    let custom = async {
        let groups: HashMap<String, Vec<String>> = cluster.groups().await?.into_iter().collect();
        let served = custom.into_iter().filter_map(|kind| {
            let versions = groups.get(kind.group)?;
            let version =
                kind.versions.iter().find(|v| versions.iter().any(|served| served == *v))?;
            Some(read(kind, kind.resource(version)))
        });
        Ok::<_, Failure>(join_all(served).await)
    };
    let (builtin, custom) = join(builtin, custom).await;
    Ok(builtin.into_iter().chain(custom?).collect())
}

type Found = (&'static Kind, Resource, Result<Option<Vec<Value>>, Failure>);

async fn one_kind(
    kind: &'static Kind,
    resource: Resource,
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
) -> Found {
    let call = Call::new("list", &resource).namespace(namespace);
    let mut found = cluster.list_in(&call, &of_queues(), detail).await;
    if let Ok(Some(items)) = &mut found {
        for item in items {
            name_kind(item, &resource);
        }
    }
    (kind, resource, found)
}

/// Selects the objects that name a queue.
pub(super) fn of_queues() -> Select<'static> {
    Select { labels: names::QUEUE, fields: "" }
}

/// Writes into an item of a list what it is, which items do not say.
pub(super) fn name_kind(item: &mut Value, resource: &Resource) {
    item["apiVersion"] = resource.api_version().into();
    item["kind"] = resource.kind.clone().into();
}

/// Puts objects, groups and pods together. Pure.
pub(super) fn assemble(objects: Objects, groups: Vec<Value>, pods: Vec<Value>) -> Vec<Workload> {
    let mut assembly = Assembly::default();
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
        Explanation::read(text(&group["metadata"]["annotations"][annotation::EXPLANATION]))
    };
    let all: Vec<Explanation> = groups.iter().filter_map(annotation).collect();
    let never = all.iter().position(|one| one.never).unwrap_or(0);
    all.into_iter().nth(never)
}

/// The UID of the controller that made the object; runs of recurring ones stand for themselves.
pub(super) fn maker(object: &Value) -> Option<&str> {
    let controller = controller(object)?;
    let is_recurring = matches!(
        text(&controller["kind"]),
        "CronJob" | "CronWorkflow" | "RayCronJob" | "ScheduledSparkApplication"
    );
    (!is_recurring).then(|| text(&controller["uid"]))
}

/// The owner that controls the object.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    owners.iter().find(|owner| owner["controller"].as_bool() == Some(true))
}

/// Workloads that are being put together.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) workloads: Vec<Workload>,
    by_uid: HashMap<String, usize>,
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
    fn add(&mut self, workload: Workload) -> usize {
        let at = self.workloads.len();
        if !workload.uid.is_empty() {
            self.by_uid.insert(workload.uid.clone(), at);
        }
        let label =
            crate::cluster::kinds::find(&workload.resource.api_version(), &workload.resource.kind)
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
        let uid = text(&object["metadata"]["uid"]);
        self.by_uid.contains_key(uid) || self.makers.contains_key(uid)
    }

    /// Notes whose a pod is before groups are added. A pod that its controller's kind groups one by one owns its
    /// `PodGroup`; the work is still the controller's.
    pub(super) fn note_controller(&mut self, pod: &Value) {
        let Some(controller) = controller(pod) else { return };
        let version = text(&controller["apiVersion"]);
        if crate::cluster::kinds::find(version, text(&controller["kind"])).is_none() {
            return;
        }
        let uid = text(&pod["metadata"]["uid"]).to_owned();
        self.makers.insert(uid.clone(), text(&controller["uid"]).to_owned());
        self.controllers.insert(uid, controller.clone());
    }

    /// The workload of an object, or of whatever made it, or made that.
    fn at_or_above(&self, uid: &str) -> Option<usize> {
        let mut uid = uid;
        for _ in 0..=self.makers.len() {
            if let Some(at) = self.by_uid.get(uid) {
                return Some(*at);
            }
            uid = self.makers.get(uid)?;
        }
        None
    }

    /// The `TrainJob` whose `JobSet` an owner is: it has the same name, and none of the labels by which objects are listed.
    fn train_job_of(&self, owner: &Value, namespace: &str) -> Option<usize> {
        let kind = crate::cluster::kinds::find(text(&owner["apiVersion"]), text(&owner["kind"]))?;
        let key = (namespace.to_owned(), kind.pod_label, text(&owner["name"]).to_owned());
        let at = self.by_label.get(&key).copied().filter(|_| kind.name == "JobSet")?;
        (self.workloads[at].resource.kind == "TrainJob").then_some(at)
    }

    /// Says whose a group is: the controller of the pod that owns it, else its first owner and its top owner.
    fn whose<'g>(&self, group: &'g Value) -> (Cow<'g, Value>, BTreeMap<String, String>) {
        let owner = &group["metadata"]["ownerReferences"][0];
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
        is_pod || self.at_or_above(uid.unwrap_or_else(|| text(&owner["uid"]))).is_some()
    }

    /// Adds a group to its workload, which is added where it is a new one.
    pub(super) fn add_group(&mut self, group: Value) {
        let namespace = text(&group["metadata"]["namespace"]).to_owned();
        let name = text(&group["metadata"]["name"]).to_owned();
        let (owner, top) = self.whose(&group);
        let uids = [top.get("uid").map_or("", String::as_str), text(&owner["uid"])];
        let known = uids.iter().find_map(|uid| self.at_or_above(uid));
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
            let plural =
                crate::cluster::kinds::find(&group_version, &kind).map_or("", |known| known.plural);
            let is_own = kind.is_empty();
            self.add(Workload {
                resource: if is_own {
                    names::pod_groups()
                } else {
                    Resource::new(&group_version, &kind, plural)
                },
                namespace: namespace.clone(),
                name: if is_own { name.clone() } else { named },
                uid: get("uid").unwrap_or_else(|| text(&owner["uid"]).to_owned()),
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
            .or_else(|| self.at_or_above(owner_uid))
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

/// The lines of the annotation that the podgrouper writes: `key: value`, values quoted where YAML needs it.
pub(super) fn top_owner(group: &Value) -> BTreeMap<String, String> {
    let annotation = text(&group["metadata"]["annotations"][names::TOP_OWNER]);
    annotation
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(key, value)| {
            (key.trim().to_owned(), value.trim().trim_matches(['"', '\'']).to_owned())
        })
        .collect()
}
