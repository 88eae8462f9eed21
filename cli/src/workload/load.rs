//! Reads what there is, at most two requests a kind, and has it put together.

use std::collections::HashMap;
use std::panic::resume_unwind;

use futures::future::{OptionFuture, join, join_all};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::Workload;
use super::assembly::{Objects, assemble};
use super::rest::Rest;
use super::unread::Unread;
use crate::cluster::kinds::{KINDS, Kind};
use crate::cluster::queue::{not_installed, readable};
use crate::cluster::{Call, Cluster, Detail, Failure, Resource, Select, names};
use crate::print::error::Error;

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) workloads: Vec<Workload>,
    /// Kinds that are missing.
    pub(crate) unread: Unread,
}

impl Loaded {
    /// Returns it where all of a kind were listed, or of every kind where none is named: for whoever takes a workload that is
    /// not there for gone.
    ///
    /// # Errors
    /// Why they could not be listed.
    pub(crate) fn whole_for(self, kind: &str) -> Result<Self, Error> {
        let error = self.unread.error_of(kind).cloned();
        error.map_or(Ok(self), Err)
    }
}

/// Reads the workloads of a namespace, or of all, whole: for whoever takes what is not there for gone.
///
/// # Errors
/// The server cannot be asked, a kind cannot be listed for another reason than the user's rights, KAI is not installed, or
/// neither pods nor `PodGroups` may be read.
pub(crate) async fn load(cluster: &Cluster, namespace: Option<&str>) -> Result<Loaded, Error> {
    load_readable(cluster, namespace).await?.whole_for("")
}

/// Does the same and goes without the kinds that cannot be listed: one whose conversion webhook is away hides no other.
///
/// # Errors
/// The server cannot be asked, KAI is not installed, or neither pods nor `PodGroups` may be read.
pub(crate) async fn load_readable(
    cluster: &Cluster,
    namespace: Option<&str>,
) -> Result<Loaded, Error> {
    load_in(cluster, namespace, Detail::Outline).await
}

/// Does the same and keeps so much of each object.
///
/// # Errors
/// As [`load_readable`].
pub(crate) async fn load_in(
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
) -> Result<Loaded, Error> {
    read(cluster, namespace, detail, false).await.map(|(loaded, _)| loaded)
}

/// Does the same, and reads what [`Loaded::find_positions_of_all`] needs where a pod seems to wait: another core puts the
/// workloads together meanwhile.
///
/// # Errors
/// As [`load_readable`].
pub(crate) async fn load_with_rest(
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
) -> Result<(Loaded, Option<Rest>), Error> {
    read(cluster, namespace, detail, true).await
}

async fn read(
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
    with_rest: bool,
) -> Result<(Loaded, Option<Rest>), Error> {
    let pods = names::pods();
    let call = Call::new("list", &pods).namespace(namespace);
    let ours = scheduled_by_us();
    let select = Select { fields: &ours, ..Select::default() };
    let (makers, pods_read) =
        join(Makers::read(cluster, namespace, detail), cluster.list_in(&call, &select, detail))
            .await;
    let Makers { objects, groups, unread } = makers?;
    let pods = pods_read.map_err(|failure| cluster.explain(&call, &failure))?.unwrap_or_default();
    let seems_to_wait = |pod: &Value| pod["spec"]["nodeName"].is_null();
    let wants_rest = with_rest && pods.iter().any(seems_to_wait);
    let assembled = spawn_blocking(move || assemble(objects, groups, pods));
    let rest = OptionFuture::from(wants_rest.then(|| Rest::read(cluster, namespace)));
    let (assembled, rest) = join(assembled, rest).await;
    let workloads = assembled.unwrap_or_else(|ended| resume_unwind(ended.into_panic()));
    let mut loaded = Loaded { workloads, unread };
    mark_held(&mut loaded.workloads, cluster).await;
    Ok((loaded, rest))
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
    /// Kinds that are missing.
    pub(super) unread: Unread,
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
        let (objects, mut unread) = objects.map_err(|failure| cluster.explain_any(&failure))?;
        let groups = match read {
            Ok(Some(groups)) => groups,
            Ok(None) => return Err(not_installed(cluster)),
            Err(failure) if failure.is_forbidden() => {
                unread.add(groups.in_rbac(), &failure, cluster);
                Vec::new()
            }
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        };
        Ok(Self { objects, groups, unread })
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

/// The objects of every known kind that name a queue, but of those that cannot be listed.
async fn objects(
    cluster: &Cluster,
    namespace: Option<&str>,
    detail: Detail,
) -> Result<(Objects, Unread), Failure> {
    let read = |kind, resource| one_kind(kind, resource, cluster, namespace, detail);
    let (mut objects, mut unread) = (Vec::new(), Unread::default());
    for (kind, resource, found) in each_kind(cluster, read).await? {
        match found {
            Ok(Some(items)) => {
                objects.extend(items.into_iter().map(|item| (kind, resource.clone(), item)));
            }
            Ok(None) => {}
            Err(failure) => unread.add(resource.in_rbac(), &failure, cluster),
        }
    }
    Ok((objects, unread))
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
