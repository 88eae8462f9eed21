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

use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{DynamicObject, GroupVersionKind};
use kube::runtime::watcher;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use decide::{Deed, Seen};

use super::follow::{ensure, events, follow};

/// The name of the class that the stand-in makes volumes for, and makes the default.
pub(super) const CLASS: &str = "standard";
/// The name of the provisioner, and of the driver of its volumes.
const PROVISIONER: &str = "volumes.sandbox.kai.scheduler";

/// A kind that the stand-in watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    ensure(client, &Watched::Class.resource(), &class()).await;
    let kinds = [Watched::Pod, Watched::Claim, Watched::Volume, Watched::Class];
    let all = watcher::Config::default();
    let kinds = kinds.map(|kind| events(client, kind, &kind.resource(), all.clone()));
    follow(client, kinds, Seen::default()).await;
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

/// The default class, as the provisioner of a cluster brings one.
fn class() -> DynamicObject {
    let mut class = DynamicObject::new(CLASS, &Watched::Class.resource());
    class.metadata.annotations =
        Some([(decide::DEFAULT_CLASS.to_owned(), "true".to_owned())].into_iter().collect());
    class.data = json!({
        "provisioner": PROVISIONER, "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer",
    });
    class
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
