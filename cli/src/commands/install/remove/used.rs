//! Finds out who uses what would be removed.

use std::collections::BTreeMap;

use kai_api::names::{component, label, value};
use serde_json::Value;

use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::Error;
use crate::print::output::clean;

/// Those who use an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Users {
    /// Holds whom it is known of, as `pod w/p`.
    pub(super) known: Vec<String>,
    /// Plurals of kinds that this user may not list: any of their objects may use it.
    pub(super) unread: Vec<&'static str>,
}

impl Users {
    /// Tells whether it is certain that nobody uses it.
    pub(super) fn are_excluded(&self) -> bool {
        self.known.is_empty() && self.unread.is_empty()
    }
}

/// Those who use priority classes.
#[derive(Debug, Default)]
pub(super) struct Classes {
    /// Holds who names which.
    named: BTreeMap<String, Users>,
    /// Holds who may name any: objects that were not read whole.
    any: Vec<String>,
}

impl Classes {
    /// Returns those who name a class, or may.
    pub(super) fn users(&self, class: &str) -> Users {
        let mut users = self.named.get(class).cloned().unwrap_or_default();
        users.known.extend(self.any.iter().cloned());
        users
    }
}

/// Kinds that a namespace may be used for, their plurals in lists.
const HELD: [(&str, &str, &str); 11] = [
    ("v1", "Pod", "pods"),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    ("v1", "Secret", "secrets"),
    ("v1", "ConfigMap", "configmaps"),
    ("v1", "Service", "services"),
    ("apps/v1", "Deployment", "deployments"),
    ("apps/v1", "StatefulSet", "statefulsets"),
    ("apps/v1", "DaemonSet", "daemonsets"),
    ("batch/v1", "Job", "jobs"),
    ("batch/v1", "CronJob", "cronjobs"),
    ("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups"),
];
/// Kinds that tell of somebody else's namespace where nothing says who made it: what only a person puts there.
const KEPT: [(&str, &str, &str); 4] = [
    ("rbac.authorization.k8s.io/v1", "Role", "roles"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    ("networking.k8s.io/v1", "Ingress", "ingresses"),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
];
/// The certificates that the controller manager puts into every namespace.
const ROOT_CERTIFICATES: &str = "kube-root-ca.crt";

/// Objects of others in a namespace; of more kinds where it is not known who made the namespace.
pub(super) async fn in_namespace(
    cluster: &Cluster,
    namespace: &str,
    is_unsure: bool,
) -> Result<Users, Error> {
    let mut users = Users::default();
    let more = KEPT.iter().filter(|_| is_unsure);
    for (api_version, kind, plural) in HELD.iter().chain(more).copied() {
        let resource = Resource::new(api_version, kind, plural);
        let call = Call::new("list", &resource).namespace(Some(namespace));
        match others(cluster, &call).await {
            Ok(others) => users.known.extend(others.iter().map(|object| name(kind, object))),
            Err(failure) if failure.is_forbidden() => users.unread.push(plural),
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        }
    }
    Ok(users)
}

/// Objects of a list that are not ours. Metadata say enough, and hold no secrets. A kind that is not served has no
/// objects.
async fn others(cluster: &Cluster, call: &Call<'_>) -> Result<Vec<Value>, Failure> {
    let (mut others, mut next) = (Vec::new(), String::new());
    loop {
        let mut page = match cluster.page(call, &Select::default(), &next, true).await {
            Ok(page) => page,
            Err(failure) if failure.code() == Some(404) => return Ok(others),
            Err(failure) => return Err(failure),
        };
        if let Some(objects) = page["items"].as_array_mut() {
            others.extend(objects.drain(..).filter(|object| !is_ours(object)));
        }
        page["metadata"]["continue"].as_str().unwrap_or_default().clone_into(&mut next);
        if next.is_empty() {
            return Ok(others);
        }
    }
}

fn is_ours(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let manager = &metadata["labels"][label::MANAGED_BY];
    metadata["labels"][label::PART_OF] == value::PRODUCT
        || *manager == value::INSTALLER
        || *manager == component::PODGROUPER
        || metadata["name"] == ROOT_CERTIFICATES
        || metadata["annotations"]["kubernetes.io/service-account.name"].is_string()
}

/// Says who names which priority class: pods that are not finished and, where they stay, `PodGroup`s.
pub(super) async fn priority_classes(
    cluster: &Cluster,
    without_groups: bool,
) -> Result<Classes, Error> {
    let pods = Resource::new("v1", "Pod", "pods");
    let groups = Resource::new("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups");
    let unfinished = "status.phase!=Succeeded,status.phase!=Failed";
    let mut classes = Classes::default();
    for (resource, fields) in [(pods, unfinished), (groups, "")] {
        if resource.kind == "PodGroup" && without_groups {
            continue;
        }
        let call = Call::new("list", &resource);
        let found = cluster.list(&call, &Select { labels: "", fields }).await;
        let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        for object in &found {
            let spec = &object["spec"];
            // A PodGroup that was read whole may have no spec.
            let is_unread = spec.is_null() && cluster.is_cut(&resource, object);
            if is_unread {
                let user = name(&resource.kind, object);
                classes.any.push(format!("{user} (too large to be read)"));
            } else if let Some(class) = spec["priorityClassName"].as_str() {
                let user = name(&resource.kind, object);
                classes.named.entry(class.to_owned()).or_default().known.push(user);
            }
        }
    }
    Ok(classes)
}

fn name(kind: &str, object: &Value) -> String {
    let text = |field: &str| clean(object["metadata"][field].as_str().unwrap_or_default());
    format!("{} {}/{}", kind.to_lowercase(), text("namespace"), text("name"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::commands::install::fake::Fake;

    const LARGE: &str = "pod w/large (too large to be read)";

    /// Its owner decides how large it is.
    #[tokio::test]
    async fn who_was_not_read_whole_may_use_any_class() {
        let fake = Fake::kind();
        for (name, spec) in [
            ("plain", json!({"priorityClassName": "train"})),
            ("large", json!({"priorityClassName": "build", "containers": vec![1; 60_000]})),
        ] {
            let pod = json!({"metadata": {"namespace": "w", "name": name}, "spec": spec});
            fake.put(&format!("/api/v1/namespaces/w/pods/{name}"), pod);
        }
        check(&fake, &["pod w/plain", LARGE], &[LARGE]).await;
    }

    /// Compares who uses the classes `train` and `build`.
    async fn check(fake: &Arc<Fake>, train: &[&str], build: &[&str]) {
        let classes = priority_classes(&fake.cluster(), false).await.expect("nothing is refused");
        for (class, expect) in [("train", train), ("build", build)] {
            assert_eq!(classes.users(class).known, expect, "{class}");
        }
    }

    /// Its spec is as small as any.
    #[tokio::test]
    async fn who_has_no_spec_uses_no_class() {
        let fake = Fake::kind();
        for (name, spec) in [
            ("empty", Value::Null),
            ("known", json!({"priorityClassName": "train"})),
            ("large", json!({"subGroups": vec![1; 60_000]})),
        ] {
            let group = json!({"metadata": {"namespace": "w", "name": name}, "spec": spec});
            let base = "/apis/scheduling.run.ai/v2alpha2/namespaces/w/podgroups";
            fake.put(&format!("{base}/{name}"), group);
        }
        let large = "podgroup w/large (too large to be read)";
        check(&fake, &["podgroup w/known", large], &[large]).await;
    }
}
