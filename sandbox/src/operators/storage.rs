//! A stand-in for storage: the controllers of volumes and of claims that pods bring along, and a provisioner.
//!
//! ```text
//! pod with an ephemeral volume ──> claim, owned by the pod
//! claim without a class        ──> the default class
//! claim that was told a node   ──> volume on that node, if the class is [`CLASS`]
//! volume that names a claim    ──> both bound
//! volume whose claim is gone   ──> deleted
//! ```
//!
//! What to do is worked out from what the watches showed; each step may be repeated. Left out: data, sizes of disks, claims that
//! choose among volumes made by hand without a scheduler, and the claims that a `StatefulSet` has templates of.

mod decide;

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{DynamicObject, GroupVersionKind};
use kube::runtime::watcher::{self, Event};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use decide::{Deed, Seen};

/// The name of the class that the stand-in makes volumes for, and makes the default.
pub(super) const CLASS: &str = "standard";
/// The name of the provisioner, and of the driver of its volumes.
const PROVISIONER: &str = "volumes.sandbox.kai.scheduler";
/// Time after which what failed is looked at again.
const RETRY: Duration = Duration::from_millis(300);

/// A kind that the stand-in watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Watched {
    Pod,
    Claim,
    Volume,
    Class,
}

impl Watched {
    fn resource(self) -> ApiResource {
        let (group, kind, plural) = match self {
            Self::Pod => ("", "Pod", "pods"),
            Self::Claim => ("", "PersistentVolumeClaim", "persistentvolumeclaims"),
            Self::Volume => ("", "PersistentVolume", "persistentvolumes"),
            Self::Class => ("storage.k8s.io", "StorageClass", "storageclasses"),
        };
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
    }
}

/// Provides storage until cancelled.
pub(super) async fn run(client: Client, cancel: CancellationToken) {
    tokio::select! {
        biased;
        () = cancel.cancelled() => {}
        () = provide(&client) => {}
    }
}

async fn provide(client: &Client) {
    while let Err(error) = make_class(client).await {
        tracing::debug!(%error, "failed to make the storage class");
        tokio::time::sleep(RETRY).await;
    }
    let kinds = [Watched::Pod, Watched::Claim, Watched::Volume, Watched::Class];
    let mut events =
        pin!(futures::stream::select_all(kinds.map(|kind| Box::pin(events(client, kind)))));
    let mut seen = Seen::new(&kinds);
    let mut has_failed = false;
    loop {
        let next = events.next();
        let event =
            if has_failed { tokio::time::timeout(RETRY, next).await } else { Ok(next.await) };
        match event {
            Ok(None) => return,
            Ok(Some((kind, event))) => seen.take_in(kind, event),
            // It is time to try again.
            Err(_) => {}
        }
        if seen.is_listed() {
            has_failed = settle(client, &mut seen).await.is_err();
        }
    }
}

/// Does what is to be done until nothing is.
async fn settle(client: &Client, seen: &mut Seen) -> Result<(), kube::Error> {
    loop {
        let deeds = seen.deeds();
        if deeds.is_empty() {
            return Ok(());
        }
        for deed in &deeds {
            let done = carry_out(client, deed, seen).await;
            done.inspect_err(|error| tracing::debug!(?deed, %error, "failed to provide storage"))?;
        }
    }
}

/// Events of one kind, where a watch that broke is begun anew.
fn events(
    client: &Client,
    kind: Watched,
) -> impl Stream<Item = (Watched, Event<DynamicObject>)> + use<> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind.resource());
    watcher::watcher(api, watcher::Config::default()).filter_map(move |event| async move {
        match event {
            Ok(event) => Some((kind, event)),
            Err(error) => {
                tracing::debug!(?kind, %error, "watch interrupted");
                tokio::time::sleep(RETRY).await;
                None
            }
        }
    })
}

/// Makes the default class, as the provisioner of a cluster brings one.
async fn make_class(client: &Client) -> Result<(), kube::Error> {
    let classes: Api<DynamicObject> = Api::all_with(client.clone(), &Watched::Class.resource());
    let mut class = DynamicObject::new(CLASS, &Watched::Class.resource());
    class.metadata.annotations =
        Some([(decide::DEFAULT_CLASS.to_owned(), "true".to_owned())].into_iter().collect());
    class.data = json!({
        "provisioner": PROVISIONER, "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer",
    });
    match classes.create(&PostParams::default(), &class).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        other => other.map(drop),
    }
}

/// Does one thing, and takes in what came of it. What somebody else did meanwhile, the watch will show.
async fn carry_out(client: &Client, deed: &Deed, seen: &mut Seen) -> Result<(), kube::Error> {
    let (kind, result) = match deed {
        Deed::Create(kind, object) => {
            let namespace = object.metadata.namespace.as_deref();
            (*kind, api(client, *kind, namespace).create(&PostParams::default(), object).await)
        }
        Deed::Change(kind, object) => {
            let namespace = object.metadata.namespace.as_deref();
            let name = object.metadata.name.as_deref().unwrap_or_default();
            (
                *kind,
                api(client, *kind, namespace).replace(name, &PostParams::default(), object).await,
            )
        }
        Deed::Status(kind, object) => {
            let namespace = object.metadata.namespace.as_deref();
            let name = object.metadata.name.as_deref().unwrap_or_default();
            let patch = json!({
                "metadata": { "uid": object.metadata.uid }, "status": object.data["status"],
            });
            let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
            (*kind, api(client, *kind, namespace).patch_status(name, &params, &patch).await)
        }
        Deed::Delete(kind, object) => {
            let guard = Preconditions { uid: object.metadata.uid.clone(), resource_version: None };
            let params = DeleteParams { preconditions: Some(guard), ..DeleteParams::default() };
            let name = object.metadata.name.as_deref().unwrap_or_default();
            let namespace = object.metadata.namespace.as_deref();
            api(client, *kind, namespace).delete(name, &params).await?;
            seen.delete(*kind, object);
            return Ok(());
        }
    };
    seen.apply(kind, result?);
    Ok(())
}

fn api(client: &Client, kind: Watched, namespace: Option<&str>) -> Api<DynamicObject> {
    let resource = kind.resource();
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// Objects of a kind by namespace and name.
type Objects = BTreeMap<(String, String), DynamicObject>;
