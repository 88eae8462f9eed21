//! An installation of KAI v0.17: found, refused, or replaced.
//!
//! Its operator would restore what we take away, and its binder would delete our reservations, so
//! that both can't run side by side. Source: docs/contract.md 11.4.

use std::time::{Duration, Instant};

use kai_api::names::{label, value};
use serde_json::Value;
use tokio::time::sleep;

use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// KAI's own Deployment; all others are its operator's.
const OPERATOR: &str = "kai-operator";
/// Beginnings of the names of KAI's webhook configurations.
const WEBHOOKS: [&str; 4] = [
    "mutating-kai-admission",
    "validating-kai-admission",
    "kai-queue-validation-",
    "kai-podgroup-validation-",
];
const LOOK: Duration = Duration::from_millis(250);

/// Holds what KAI has installed, the operator first.
#[derive(Debug, Default)]
pub(super) struct Installation {
    deployments: Vec<Found>,
}

#[derive(Debug)]
struct Found {
    resource: Resource,
    namespace: Option<String>,
    name: String,
    uid: String,
}

impl Found {
    fn new(resource: &Resource, object: &Value) -> Self {
        let metadata = &object["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
        let namespace = metadata["namespace"].as_str().map(str::to_owned);
        Self { resource: resource.clone(), namespace, name: text("name"), uid: text("uid") }
    }

    fn call(&self, verb: &'static str) -> Call<'_> {
        Call::new(verb, &self.resource).namespace(self.namespace.as_deref()).name(&self.name)
    }
}

impl Installation {
    pub(super) fn is_empty(&self) -> bool {
        self.deployments.is_empty()
    }
}

fn deployments() -> Resource {
    Resource::new("apps/v1", "Deployment", "deployments")
}

/// Looks for KAI's Deployments: everywhere, or in `namespace` where that is not allowed.
pub(super) async fn find(cluster: &Cluster, namespace: &str) -> Result<Installation, Error> {
    let resource = deployments();
    let everywhere = Call::new("list", &resource);
    let here = everywhere.clone().namespace(Some(namespace));
    let mut all = cluster.list(&everywhere, &Select::default()).await;
    if all.as_ref().is_err_and(Failure::is_forbidden) {
        all = cluster.list(&here, &Select::default()).await;
    }
    let all = all.map_err(|e| cluster.explain(&here, &e))?.unwrap_or_default();
    let is_of_kai = |object: &&Value| {
        let metadata = &object["metadata"];
        metadata["labels"][label::MANAGED_BY] == value::KAI_OPERATOR
            || (metadata["name"] == OPERATOR && metadata["namespace"] == namespace)
    };
    let mut deployments: Vec<Found> =
        all.iter().filter(is_of_kai).map(|object| Found::new(&resource, object)).collect();
    deployments.sort_by_key(|found| (found.name != OPERATOR, found.name.clone()));
    Ok(Installation { deployments })
}

/// Says why nothing is installed beside KAI.
pub(super) fn refusal(kai: &Installation) -> Error {
    let names: Vec<_> = kai.deployments.iter().map(|found| clean(&found.name)).collect();
    let namespace = kai.deployments.first().and_then(|found| found.namespace.as_deref());
    let namespace = clean(namespace.unwrap_or_default());
    let what = format!("KAI is installed already, in namespace {namespace}");
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .line(format!("its Deployments: {}", names.join(", ")))
        .line("two schedulers of one name must not run side by side")
        .fix("replace it: kubectl kai install --adopt   (queues, PodGroups and pods stay)")
        .into()
}

/// Takes KAI's Deployments and webhooks away; everything else stays.
///
/// The operator goes first, and is gone before the others are touched: it would restore them.
pub(super) async fn remove(
    cluster: &Cluster,
    kai: &Installation,
    timeout: Duration,
) -> Result<(), Error> {
    if kai.is_empty() {
        return Ok(());
    }
    // Webhooks that fail closed would keep pods from being made once their server is gone.
    for (kind, plural) in [
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    ] {
        let resource =
            Resource::new("admissionregistration.k8s.io/v1", kind, plural).cluster_wide();
        let call = Call::new("list", &resource);
        let all = cluster.list(&call, &Select::default()).await;
        let all = all.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        for found in all.iter().map(|object| Found::new(&resource, object)) {
            if WEBHOOKS.iter().any(|name| found.name.starts_with(name)) {
                delete(cluster, &found).await?;
            }
        }
    }
    let deadline = Instant::now().checked_add(timeout);
    let (operator, others): (Vec<_>, Vec<_>) =
        kai.deployments.iter().partition(|found| found.name == OPERATOR);
    for found in operator.into_iter().chain(others) {
        delete(cluster, found).await?;
        gone(cluster, found, deadline).await?;
    }
    Ok(())
}

async fn delete(cluster: &Cluster, found: &Found) -> Result<(), Error> {
    let call = found.call("delete");
    cluster.delete(&call, &found.uid, false).await.map(drop).map_err(|e| cluster.explain(&call, &e))
}

/// Waits until no pod of a Deployment is left.
async fn gone(cluster: &Cluster, found: &Found, deadline: Option<Instant>) -> Result<(), Error> {
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods).namespace(found.namespace.as_deref());
    let labels = format!("{}={}", label::APP, found.name);
    loop {
        let left = cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
        let left = left.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        if left.is_empty() {
            return Ok(());
        }
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let what = format!("{} pods of {} do not end", left.len(), clean(&found.name));
            return Err(Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what)
                .line("nothing of ours was installed yet; run it again to go on")
                .into());
        }
        sleep(LOOK).await;
    }
}
