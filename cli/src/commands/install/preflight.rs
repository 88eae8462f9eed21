//! Looks before a plan is made: whether the API server serves what is needed, and whether something is in the way.

use kai_api::names::{component, label, namespace, value};
use serde_json::Value;

use super::manifest::{self, Item};
use super::status::first;
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// The oldest API server on which policies in CEL are served.
pub(crate) const MINOR_MIN: u64 = 30;
/// The binding that gives the scheduler its rights: it has one account, so that it runs in one namespace.
const BINDING: &str = "kai-scheduler";

/// Reads the minor version that an API server says of itself.
pub(crate) fn minor(version: &Value) -> Option<u64> {
    version["minor"].as_str()?.trim_end_matches('+').parse().ok()
}

/// Asks for the version of the API server.
///
/// # Errors
/// It is too old: a part of the installation would be refused when the rest is there already.
pub(super) async fn version(cluster: &Cluster) -> Result<String, Error> {
    let version = cluster.read("/version").await.map_err(|e| cluster.explain_any(&e))?;
    supported(&version)
}

fn supported(version: &Value) -> Result<String, Error> {
    let shown = clean(version["gitVersion"].as_str().unwrap_or("of an unknown version"));
    if version["major"] == "1" && minor(version).is_some_and(|minor| minor < MINOR_MIN) {
        let what = format!(
            "the API server is {shown}; 1.{MINOR_MIN} is the oldest that serves what the scheduler needs"
        );
        return Err(Problem::new(number::KIND_NOT_SERVED, Exit::Refused, what)
            .line("it has no policies in CEL (ValidatingAdmissionPolicy); nothing was changed")
            .fix(format!("upgrade the control plane to 1.{MINOR_MIN} or later"))
            .into());
    }
    Ok(shown.into_owned())
}

/// Finds the namespace in which the scheduler runs, where that is another; none where it may not be read.
///
/// A label on a Deployment alone says nothing: any tenant can write one. What its account may do, only an administrator
/// can bind.
pub(super) async fn elsewhere(cluster: &Cluster, here: &str) -> Result<Option<String>, Error> {
    let live = binding(cluster).await?;
    let live =
        live.filter(|live| live["metadata"]["labels"][label::MANAGED_BY] == value::INSTALLER);
    for home in homes_in(live.as_ref()).filter(|home| *home != here) {
        if has_daemons(cluster, home).await? {
            return Ok(Some(clean(home).into_owned()));
        }
    }
    Ok(None)
}

/// Finds the namespaces whose accounts have the scheduler's rights in the cluster, whoever installed it.
pub(super) async fn homes(cluster: &Cluster) -> Result<Vec<String>, Error> {
    let live = binding(cluster).await?;
    Ok(homes_in(live.as_ref()).map(str::to_owned).collect())
}

fn homes_in(binding: Option<&Value>) -> impl Iterator<Item = &str> {
    let subjects = binding.and_then(|live| live["subjects"].as_array());
    subjects.into_iter().flatten().filter_map(|one| one["namespace"].as_str())
}

/// Reads the binding of the scheduler; none where there is none, or it may not be read.
async fn binding(cluster: &Cluster) -> Result<Option<Value>, Error> {
    let binding =
        Resource::new("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings");
    let binding = binding.cluster_wide();
    let call = Call::new("get", &binding).name(BINDING);
    match cluster.get(&call).await {
        Err(failure) if failure.is_forbidden() => Ok(None),
        answer => answer.map_err(|e| cluster.explain(&call, &e)),
    }
}

async fn has_daemons(cluster: &Cluster, namespace: &str) -> Result<bool, Error> {
    let deployments = Resource::new("apps/v1", "Deployment", "deployments");
    let call = Call::new("list", &deployments).namespace(Some(namespace));
    let found = match cluster.list(&call, &Select::default()).await {
        Err(failure) if failure.is_forbidden() => return Ok(false),
        answer => answer.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default(),
    };
    Ok(found.iter().any(|found| {
        let labels = &found["metadata"]["labels"];
        labels[label::MANAGED_BY] == value::INSTALLER
            && (labels[label::COMPONENT] == component::SCHEDULER
                || labels[label::COMPONENT] == component::PODGROUPER)
    }))
}

/// Says why nothing is installed beside an installation of ours.
pub(super) fn second(home: &str, here: &str) -> Error {
    let what = format!("the scheduler is installed already, in namespace {home}");
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .line(format!(
            "installing into {} would take its rights in the cluster from it",
            clean(here)
        ))
        .line(format!("to move it: kubectl kai install remove -n {home}, then this again"))
        .fix(format!("kubectl kai install -n {home}"))
        .into()
}

/// Says why nothing cluster-wide is taken away under a scheduler that runs in another namespace.
pub(super) fn other_home(home: &str, here: &str, command: &str) -> Error {
    let what = format!("the scheduler runs in namespace {home}, not in {}", clean(here));
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .line("its roles, policies and webhooks are the cluster's; nothing was changed")
        .fix(format!("kubectl kai install {command} -n {home}"))
        .into()
}

/// Checks that the namespace of the daemons is not one that others work in.
///
/// # Errors
/// It is, and nothing of ours or of KAI made it.
pub(super) async fn is_free(cluster: &Cluster, items: &[Item], here: &str) -> Result<(), Error> {
    let is_it = |item: &&Item| item.resource.kind == "Namespace" && item.name() == here;
    let Some(item) = items.iter().find(is_it).filter(|_| here != namespace::SYSTEM) else {
        return Ok(());
    };
    let call = super::plan::call(item, "get");
    let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
    let Some(live) = live.filter(|live| !is_of_product(live)) else { return Ok(()) };
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods).namespace(live["metadata"]["name"].as_str());
    let found = match cluster.list(&call, &Select::default()).await {
        Err(Failure::Refused(refusal)) if refusal.code == 403 => return Ok(()),
        answer => answer.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default(),
    };
    let names = strangers(&found);
    if names.is_empty() { Ok(()) } else { Err(in_use(here, &names)) }
}

fn is_of_product(object: &Value) -> bool {
    let labels = &object["metadata"]["labels"];
    labels[label::PART_OF] == value::PRODUCT || labels[label::MANAGED_BY] == value::INSTALLER
}

/// Names the pods that are not ours and have not ended.
fn strangers(pods: &[Value]) -> Vec<String> {
    let has_ended =
        |pod: &Value| pod["status"]["phase"] == "Succeeded" || pod["status"]["phase"] == "Failed";
    let others = pods.iter().filter(|pod| !is_of_product(pod) && !has_ended(pod));
    others
        .map(|pod| clean(pod["metadata"]["name"].as_str().unwrap_or_default()).into_owned())
        .collect()
}

fn in_use(here: &str, pods: &[String]) -> Error {
    let what = format!("namespace {} has pods that are not the scheduler's", clean(here));
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .line(first(pods))
        .line("who may make pods there could use the daemons' accounts, which may write pods of all namespaces")
        .line("and its pods would be held to the Pod Security level restricted")
        .fix(format!(
            "kubectl kai install -n {}   (or another namespace of its own)",
            namespace::SYSTEM
        ))
        .into()
}

/// Gives the flag that names a namespace, where it is not the usual one.
pub(crate) fn namespace_flag(here: &str) -> String {
    match here {
        namespace::SYSTEM => String::new(),
        here if manifest::is_name(here) => format!(" -n {here}"),
        _ => " -n NAMESPACE".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_old_server_is_refused_before_anything_is_planned() {
        for (minor, is_refused) in [
            ("29", true),
            ("29+", true),
            ("30", false),
            ("30+", false),
            ("36", false),
            ("x", false),
        ] {
            let version =
                json!({"major": "1", "minor": minor, "gitVersion": format!("v1.{minor}")});
            assert_eq!(supported(&version).is_err(), is_refused, "{minor}");
        }
        let old = json!({"major": "1", "minor": "29", "gitVersion": "v1.29.0"});
        let said = supported(&old).expect_err("it is too old").to_string();
        assert!(said.contains("v1.29.0; 1.30 is the oldest"), "{said}");
    }

    #[test]
    fn pods_that_ended_and_those_of_the_product_are_in_nobodys_way() {
        let pod = |name: &str, labels: Value, phase: &str| json!({"metadata": {"name": name, "labels": labels}, "status": {"phase": phase}});
        let pods = [
            pod("ours", json!({"app.kubernetes.io/part-of": "kai-scheduler"}), "Running"),
            pod("ended", json!({}), "Succeeded"),
            pod("web", json!({"app": "web"}), "Running"),
            pod("waits", Value::Null, "Pending"),
        ];
        assert_eq!(strangers(&pods), ["web", "waits"]);
    }

    #[test]
    fn a_namespace_is_named_where_it_is_not_the_usual_one() {
        for (here, expect) in [("kai-scheduler", ""), ("gpu", " -n gpu"), ("a;b", " -n NAMESPACE")]
        {
            assert_eq!(namespace_flag(here), expect);
        }
    }
}
