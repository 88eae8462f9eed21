//! Requests for objects of a kind, and what is read of the answers: nothing of the bookkeeping of server-side apply, which may
//! be nested as deep as an object is. The watch of a kind, which is of all namespaces, would break at one that is too deep.

use futures::StreamExt;
use futures::stream::BoxStream;
use kube::Client;
use kube::api::{Api, DynamicObject, GetParams, ListParams, WatchEvent, WatchParams};
use kube::core::{ObjectList, Request};

use super::kind::Kind;
use super::object::{MetadataShape, kept};
use super::{ObjectKey, Part};
use crate::object::Object;
use crate::slim::{AnyShape, Slim};

/// Changes of the objects of a kind.
pub(super) type Events = BoxStream<'static, Result<WatchEvent<Slim<MetadataShape>>, kube::Error>>;

/// The objects of a kind, in a namespace or in all.
pub(super) fn api(client: &Client, kind: &Kind, namespace: &str) -> Api<DynamicObject> {
    if kind.is_namespaced && !namespace.is_empty() {
        Api::namespaced_with(client.clone(), namespace, &kind.resource)
    } else {
        Api::all_with(client.clone(), &kind.resource)
    }
}

fn requests(client: &Client, kind: &Kind, namespace: &str) -> Request {
    Request::new(api(client, kind, namespace).resource_url())
}

/// Asks for an object, or for its metadata.
pub(super) async fn object(
    client: &Client,
    kind: &Kind,
    key: &ObjectKey,
    part: Part,
) -> Result<Object, kube::Error> {
    let requests = requests(client, kind, &key.namespace);
    let latest = GetParams::default();
    match part {
        Part::Metadata => {
            let request = requests.get_metadata(&key.name, &latest);
            let request = request.map_err(kube::Error::BuildRequest)?;
            let found = client.request::<Slim<MetadataShape>>(request).await;
            found.map(|found| kept(&key.gvk, found))
        }
        Part::Whole => {
            let request = requests.get(&key.name, &latest).map_err(kube::Error::BuildRequest)?;
            let found = client.request::<Slim<AnyShape>>(request).await;
            found.map(|found| kept(&key.gvk, found))
        }
    }
}

/// Asks for the version that the objects of a kind have now.
pub(super) async fn version(client: &Client, kind: &Kind) -> Result<String, kube::Error> {
    let request = requests(client, kind, "").list_metadata(&ListParams::default().limit(1));
    let request = request.map_err(kube::Error::BuildRequest)?;
    let list = client.request::<ObjectList<Slim<MetadataShape>>>(request).await?;
    Ok(list.metadata.resource_version.unwrap_or_default())
}

/// Asks for what changes after a version.
pub(super) async fn events(
    client: &Client,
    kind: &Kind,
    version: &str,
) -> Result<Events, kube::Error> {
    let request = requests(client, kind, "").watch_metadata(&WatchParams::default(), version);
    let request = request.map_err(kube::Error::BuildRequest)?;
    Ok(client.request_events::<Slim<MetadataShape>>(request).await?.boxed())
}
