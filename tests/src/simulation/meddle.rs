//! Users who edit or delete an object at the very moment at which a daemon writes to it.

use std::fmt::{Debug, Formatter};

use http::{Request, header};
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::load::NOTE;

/// Resources whose objects users edit, and whether they delete them too.
const RESOURCES: &[(&str, bool)] = &[
    ("pods", true),
    ("podgroups", true),
    ("queues", false),
    ("configmaps", false),
    ("persistentvolumeclaims", false),
    ("resourceclaims", false),
];

/// Users who are as quick as the daemons.
pub(super) struct Meddlers {
    client: Client,
}

impl Debug for Meddlers {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Meddlers").finish_non_exhaustive()
    }
}

impl Meddlers {
    /// Users with a way of their own to the API server, on which nothing takes time.
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Edits or deletes the object that a write to `path` is about, where users do such things to it.
    pub(super) async fn meddle(&self, path: &str, deletes: bool) {
        let Some((object, is_deleted)) = object(path) else { return };
        let (request, body) = if deletes && is_deleted {
            let options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
            (Request::delete(object).header(header::CONTENT_TYPE, "application/json"), options)
        } else {
            let edit = json!({"metadata": {"annotations": {(NOTE): "in between"}}});
            let patch = "application/merge-patch+json";
            (Request::patch(object).header(header::CONTENT_TYPE, patch), edit)
        };
        if let Ok(request) = request.body(body_of(&body)) {
            // Where it is gone already nobody minds.
            drop(self.client.send(request).await);
        }
    }
}

fn body_of(value: &Value) -> Body {
    Body::from(value.to_string().into_bytes())
}

/// The path of the object that a write to a path is about, and whether users delete such; none where that makes one, or is
/// about what users leave alone.
fn object(path: &str) -> Option<(String, bool)> {
    let parts: Vec<&str> = path.split('/').collect();
    // The first is empty: a path begins with a slash.
    let version = if parts.get(1) == Some(&"apis") { 4 } else { 3 };
    let is_namespaced = parts.get(version) == Some(&"namespaces") && parts.len() > version + 2;
    let resource = if is_namespaced { version + 2 } else { version };
    let kind = parts.get(resource)?;
    let (_, is_deleted) = RESOURCES.iter().find(|(name, _)| name == kind)?;
    let object = parts.get(..resource + 2)?;
    Some((object.join("/"), *is_deleted))
}

#[cfg(test)]
mod tests {
    use super::object;

    fn check(path: &str, expect: Option<(&str, bool)>) {
        let expect = expect.map(|(path, is_deleted)| (path.to_owned(), is_deleted));
        assert_eq!(object(path), expect, "{path}");
    }

    #[test]
    fn a_write_is_about_an_object_unless_it_makes_it() {
        let pod = "/api/v1/namespaces/d/pods/p";
        for path in [pod, &format!("{pod}/binding"), &format!("{pod}/status")] {
            check(path, Some((pod, true)));
        }
        check("/api/v1/namespaces/d/pods", None);
        check("/api/v1/namespaces/d", None);
        check("/api/v1/nodes/n", None);
        check("/apis/coordination.k8s.io/v1/namespaces/d/leases/l", None);
        let queue = "/apis/scheduling.run.ai/v2/queues/q";
        check(&format!("{queue}/status"), Some((queue, false)));
        let group = "/apis/scheduling.run.ai/v2alpha2/namespaces/d/podgroups/g";
        check(group, Some((group, true)));
        let claim = "/apis/resource.k8s.io/v1/namespaces/d/resourceclaims/c";
        check(&format!("{claim}/status"), Some((claim, false)));
    }
}
