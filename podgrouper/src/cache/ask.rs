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
use crate::object::{Gvk, Object};
use crate::slim::{AnyShape, ClaimShape, Slim};

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
            if is_claim(&key.gvk) {
                let found = client.request::<Slim<ClaimShape>>(request).await;
                return found.map(|found| kept(&key.gvk, found));
            }
            let found = client.request::<Slim<AnyShape>>(request).await;
            found.map(|found| kept(&key.gvk, found))
        }
    }
}

/// Tells whether objects of a kind are claims of devices.
fn is_claim(gvk: &Gvk) -> bool {
    gvk.kind == "ResourceClaim" && gvk.group == "resource.k8s.io"
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use http::{Request, Response};
    use kube::client::Body;
    use kube::core::{ApiResource, GroupVersionKind};
    use serde_json::json;

    use super::super::epoch::Epoch;
    use super::*;

    /// A claim that cannot be read would leave all pods of its group uncounted.
    #[tokio::test]
    async fn a_claim_is_read_however_deep_its_parameters_are() {
        let deep = format!("{}{{}}{}", "{\"a\":".repeat(500), "}".repeat(500));
        let text = format!(
            r#"{{"metadata": {{"name": "c", "namespace": "n", "generation": 2}},
                "spec": {{"devices": {{"requests": [{{"name": "r"}}],
                    "config": [{{"opaque": {{"driver": "d", "parameters": {deep}}}}}]}}}},
                "status": {{"allocation": {{"devices": {{"results": [{{"driver": "d"}}], "config": [{deep}]}}}},
                    "devices": [{{"data": {deep}}}]}}}}"#
        );
        let server = tower::service_fn(move |_: Request<Body>| {
            let answer = Response::new(Body::from(text.clone().into_bytes()));
            async move { Ok::<_, std::convert::Infallible>(answer) }
        });
        let client = Client::new(server, "default");
        let gvk = GroupVersionKind::gvk("resource.k8s.io", "v1", "ResourceClaim");
        let kind = Kind {
            resource: ApiResource::from_gvk(&gvk),
            is_namespaced: true,
            epoch: Epoch::default(),
            readable: Mutex::default(),
        };
        let gvk = Gvk::new("resource.k8s.io/v1", "ResourceClaim");
        let key = ObjectKey { gvk, namespace: "n".to_owned(), name: "c".to_owned() };
        let claim = object(&client, &kind, &key, Part::Whole).await.expect("it can be read");
        let claim = claim.value();
        assert_eq!(claim["metadata"]["generation"], 2);
        assert_eq!(claim["spec"], json!({"devices": {"requests": [{"name": "r"}]}}));
        let given = json!({"devices": {"results": [{"driver": "d"}]}});
        assert_eq!(claim["status"], json!({"allocation": given}));
    }
}
