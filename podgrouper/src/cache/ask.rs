//! Requests for objects of a kind, and what is read of the answers: nothing of the bookkeeping of server-side apply, which may
//! be nested as deep as an object is. The watch of a kind, which is of all namespaces, would break at one that is too deep.

use futures::StreamExt;
use futures::stream::BoxStream;
use kube::Client;
use kube::api::{Api, DynamicObject, GetParams, ListParams, WatchEvent, WatchParams};
use kube::core::{ObjectList, Request};

use super::kind::Kind;
use super::object::MetadataShape;
use super::{ObjectKey, Part};
use crate::kinds;
use crate::object::Gvk;
use crate::slim::{
    AnyShape, ClaimShape, NodeShape, OwnerShape, Shape, Slim, SpecShape, WorkloadShape,
};

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
) -> Result<Slim<AnyShape>, kube::Error> {
    let requests = requests(client, kind, &key.namespace);
    let latest = GetParams::default();
    let request = match part {
        Part::Metadata => requests.get_metadata(&key.name, &latest),
        Part::Spec | Part::Whole => requests.get(&key.name, &latest),
    };
    let request = request.map_err(kube::Error::BuildRequest)?;
    match part {
        Part::Metadata => shaped::<MetadataShape>(client, request).await,
        Part::Spec => shaped::<SpecShape>(client, request).await,
        Part::Whole if is_claim(&key.gvk) => shaped::<ClaimShape>(client, request).await,
        Part::Whole if kinds::find(kinds::TABLE, &key.gvk).is_some() => {
            shaped::<WorkloadShape>(client, request).await
        }
        Part::Whole if key.gvk.is_node() => shaped::<NodeShape>(client, request).await,
        Part::Whole => shaped::<OwnerShape>(client, request).await,
    }
}

async fn shaped<S: Shape>(
    client: &Client,
    request: http::Request<Vec<u8>>,
) -> Result<Slim<AnyShape>, kube::Error> {
    client.request::<Slim<S>>(request).await.map(Slim::of_any_shape)
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
    use super::super::object::kept;
    use super::*;

    /// Reads an object of a kind at a server that has this one.
    async fn read(api_version: &str, kind: &str, part: Part, text: String) -> Slim<AnyShape> {
        let server = tower::service_fn(move |_: Request<Body>| {
            let answer = Response::new(Body::from(text.clone().into_bytes()));
            async move { Ok::<_, std::convert::Infallible>(answer) }
        });
        let client = Client::new(server, "default");
        let gvk = Gvk::new(api_version, kind);
        let wanted = GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind);
        let kind = Kind {
            resource: ApiResource::from_gvk(&wanted),
            is_namespaced: true,
            epoch: Epoch::default(),
            readable: Mutex::default(),
        };
        let key = ObjectKey { gvk, namespace: "n".to_owned(), name: "o".to_owned() };
        object(&client, &kind, &key, part).await.expect("it can be read")
    }

    /// Ten such trees at once were a gigabyte.
    #[tokio::test]
    async fn of_an_owner_of_very_many_values_no_tree_is_made() {
        let many = vec![json!({"operator": "Exists"}); 130_000];
        let template = json!({"spec": {"restartPolicy": "Never", "tolerations": many}});
        let jobs = json!([{"name": "j", "template": {"spec": {"template": template}}}]);
        let metadata = json!({"name": "o", "namespace": "n"});
        let of = |spec: serde_json::Value| json!({"metadata": metadata, "spec": spec}).to_string();
        for (api_version, kind, part, spec, is_cut) in [
            ("batch/v1", "Job", Part::Metadata, json!({"template": template}), false),
            (
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                Part::Whole,
                json!({"replicatedJobs": jobs}),
                false,
            ),
            // Its rule reads every field of that name.
            (
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                Part::Whole,
                json!({"replicatedJobs": many}),
                true,
            ),
            ("example.com/v1", "Work", Part::Whole, json!({"template": template}), true),
        ] {
            let found = read(api_version, kind, part, of(spec)).await;
            assert_eq!(found.is_cut(), is_cut, "{kind}");
            assert_eq!(found.values() < 1_000, !is_cut, "{kind}: {}", found.values());
        }
    }

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
        let claim = kept(&key.gvk, claim);
        let claim = claim.value();
        assert_eq!(claim["metadata"]["generation"], 2);
        assert_eq!(claim["spec"], json!({"devices": {"requests": [{"name": "r"}]}}));
        let given = json!({"devices": {"results": [{"driver": "d"}]}});
        assert_eq!(claim["status"], json!({"allocation": given}));
    }
}
