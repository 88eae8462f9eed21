//! A stand-in for dynamic resource allocation: the controller of resource claims, and a driver with devices on each
//! simulated node.
//!
//! ```text
//! pod that names a template        ──> claim, owned by the pod, whose name the pod's status says
//! reservation of a pod that ended  ──> removed; with the last one go the devices and the finalizer
//! claim made for a pod that ended  ──> deleted
//! simulated node                   ──> slice with [`NICS_OF_NODE`] devices of the class [`NIC_DRIVER`]
//! ```
//!
//! What to do is worked out for the objects that a watch showed to have changed, and for those that they name; each step may be
//! repeated. Left out: reserving claims for pods that were bound by hand, claims that stand in for extended resources (their
//! scheduler makes them), and what a driver does on its node.

mod decide;
mod driver;
mod seen;
#[cfg(test)]
mod tests;

use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::DynamicObject;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use decide::{Deed, unprotected};
use seen::{Seen, Watched};

use super::follow::{ensure, events, follow};

/// The name of the driver, and of the class of its devices.
pub const NIC_DRIVER: &str = "nic.example.com";
/// The number of devices that each simulated node has of [`NIC_DRIVER`].
pub const NICS_OF_NODE: u32 = 2;

/// Looks after claims and devices until cancelled.
pub(super) async fn run(client: Client, cancel: CancellationToken) {
    tokio::select! {
        biased;
        () = cancel.cancelled() => {}
        () = look_after(&client) => {}
    }
}

async fn look_after(client: &Client) {
    ensure(client, &driver::class_resource(), &driver::class()).await;
    let kinds = Watched::ALL.map(|kind| events(client, kind, &kind.resource(), kind.watch()));
    follow(client, kinds, Seen::default()).await;
}

/// Does what is to be done until nothing is; tells whether something failed, which is to be tried again.
async fn settle(client: &Client, seen: &mut Seen) -> bool {
    let mut failed = Vec::new();
    while let Some((key, deed)) = seen.next_deed() {
        match carry_out(client, &deed, seen).await {
            // More may be to do for it.
            Ok(()) => seen.look_at(key),
            Err(error) if is_overtaken(&deed, &error) => {}
            Err(error) => {
                tracing::debug!(?deed, %error, "failed to look after a claim");
                failed.push(key);
            }
        }
    }
    let has_failed = !failed.is_empty();
    for key in failed {
        seen.look_at(key);
    }
    has_failed
}

/// Tells whether somebody else wrote, made or deleted the object meanwhile: the watch will show what is there now. It shows
/// nothing where a name that was made up is another object's: that is to be tried again.
fn is_overtaken(deed: &Deed, error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else { return false };
    let is_made_up = matches!(deed, Deed::Create(_, object) if object.metadata.name.is_none());
    status.is_not_found() || status.is_conflict() || (status.is_already_exists() && !is_made_up)
}

/// Does one thing, and takes in what came of it.
async fn carry_out(client: &Client, deed: &Deed, seen: &mut Seen) -> Result<(), kube::Error> {
    match deed {
        Deed::Read(pod, uid) => {
            let pods = api(client, Watched::Pod, &pod.namespace);
            let found = pods.get_opt(&pod.name).await?;
            if found.as_ref().and_then(|pod| pod.metadata.uid.as_ref()) != Some(uid) {
                seen.note_absent(uid.clone());
            }
            if let Some(pod) = found {
                seen.apply(Watched::Pod, pod);
            }
        }
        Deed::Create(kind, object) => {
            let made = api_of(client, *kind, object).create(&PostParams::default(), object).await?;
            seen.apply(*kind, made);
        }
        Deed::Name(pod, names) => {
            let patch = Patch::Merge(json!({
                "metadata": {"uid": pod.metadata.uid}, "status": {"resourceClaimStatuses": names},
            }));
            let pods = api_of(client, Watched::Pod, pod);
            let named = pods.patch_status(name(pod), &PatchParams::default(), &patch).await?;
            seen.apply(Watched::Pod, named);
        }
        Deed::Free(claim) => {
            let claims = api_of(client, Watched::Claim, claim);
            let freed = claims.replace_status(name(claim), &PostParams::default(), claim).await?;
            seen.apply(Watched::Claim, freed.clone());
            if let Some(claim) = unprotected(&freed) {
                unprotect(client, &claim, seen).await?;
            }
        }
        Deed::Unprotect(claim) => unprotect(client, claim, seen).await?,
        Deed::Delete(claim) => {
            let guard = Preconditions { uid: claim.metadata.uid.clone(), resource_version: None };
            let params = DeleteParams { preconditions: Some(guard), ..DeleteParams::default() };
            let claims = api_of(client, Watched::Claim, claim);
            match claims.delete(name(claim), &params).await?.left() {
                Some(waits) => seen.apply(Watched::Claim, waits),
                None => seen.delete(Watched::Claim, claim),
            }
        }
    }
    Ok(())
}

/// Writes a claim whose finalizer was taken off.
async fn unprotect(
    client: &Client,
    claim: &DynamicObject,
    seen: &mut Seen,
) -> Result<(), kube::Error> {
    let claims = api_of(client, Watched::Claim, claim);
    let written = claims.replace(name(claim), &PostParams::default(), claim).await?;
    seen.apply(Watched::Claim, written);
    Ok(())
}

fn api(client: &Client, kind: Watched, namespace: &str) -> Api<DynamicObject> {
    if namespace.is_empty() {
        Api::all_with(client.clone(), &kind.resource())
    } else {
        Api::namespaced_with(client.clone(), namespace, &kind.resource())
    }
}

fn api_of(client: &Client, kind: Watched, object: &DynamicObject) -> Api<DynamicObject> {
    api(client, kind, object.metadata.namespace.as_deref().unwrap_or_default())
}

fn name(object: &DynamicObject) -> &str {
    object.metadata.name.as_deref().unwrap_or_default()
}
