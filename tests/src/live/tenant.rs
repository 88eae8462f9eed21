//! The account of a user who has rights in one namespace only.

use anyhow::Result;
use k8s_openapi::api::{
    core::v1::{Namespace, ServiceAccount},
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    Api, Client, Resource,
    api::{Patch, PatchParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Place;

/// The namespace of the user, and the name of its account there.
pub const TENANT: &str = "mallory";
/// Rights of the account in its namespace: all that a user of a cluster is usually given, and no more.
const RIGHTS: [(&str, &[&str]); 5] = [
    ("", &["pods", "pods/resize", "configmaps", "persistentvolumeclaims", "services"]),
    ("batch", &["jobs"]),
    ("policy", &["poddisruptionbudgets"]),
    ("resource.k8s.io", &["resourceclaims", "resourceclaimtemplates"]),
    ("scheduling.run.ai", &["podgroups"]),
];

/// Makes the namespace with an account that has rights there alone; a client of that account.
///
/// # Errors
/// What the API server says.
pub async fn tenant(place: &Place) -> Result<Client> {
    let admin = place.admin().await?;
    apply::<Namespace>(&Api::all(admin.clone()), json!({})).await?;
    apply::<ServiceAccount>(&Api::namespaced(admin.clone(), TENANT), json!({})).await?;
    let rules = RIGHTS.map(
        |(group, resources)| json!({"apiGroups": [group], "resources": resources, "verbs": ["*"]}),
    );
    apply::<Role>(&Api::namespaced(admin.clone(), TENANT), json!({ "rules": rules })).await?;
    let binding = json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": TENANT},
        "subjects": [{"kind": "ServiceAccount", "name": TENANT, "namespace": TENANT}],
    });
    apply::<RoleBinding>(&Api::namespaced(admin, TENANT), binding).await?;
    place.account_in(TENANT, TENANT).await
}

async fn apply<K>(api: &Api<K>, mut object: Value) -> Result<()>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    object["apiVersion"] = json!(K::api_version(&()));
    object["kind"] = json!(K::kind(&()));
    object["metadata"] = json!({"name": TENANT});
    let params = PatchParams::apply("kai-tests").force();
    api.patch(TENANT, &params, &Patch::Apply(&object)).await?;
    Ok(())
}
