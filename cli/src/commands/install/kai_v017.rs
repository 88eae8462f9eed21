//! An installation of KAI v0.17, or what is left of one: found, refused, or replaced.
//!
//! Its operator would restore what we take away, and its binder would delete our reservations, so
//! that both can't run side by side. Source: docs/contract.md 11.4.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kai_api::names::{KAI_GROUP, component, label, value};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::known::{Known, MADE, REGISTRATIONS, WEBHOOKS};
use super::manifest::Item;
use super::plan;
use super::status::first;
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// KAI's own Deployment; all others are its operator's.
const OPERATOR: &str = "kai-operator";
const LOOK: Duration = Duration::from_millis(250);

/// Holds what KAI has installed.
#[derive(Debug, Default)]
pub(super) struct Installation {
    /// The operator first.
    deployments: Vec<Found>,
    webhooks: Vec<Found>,
    /// Holds what its operator has made beside Deployments.
    made: Vec<Found>,
    /// Holds what stays, and would go with `kai-config` as long as that owns it.
    owned: Vec<Found>,
    /// Names what says that it is KAI's, and is nothing that KAI installs.
    strangers: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Found {
    resource: Resource,
    namespace: Option<String>,
    name: String,
    uid: String,
    /// The object as it was found.
    pub(super) object: Value,
    /// The Helm release that it is part of: its namespace and name.
    release: Option<(String, String)>,
    /// The owners that are KAI's settings are left out.
    owners: Vec<Value>,
    /// Tells whether the API server refuses what it cannot ask this registration about.
    fails: bool,
}

impl Found {
    fn new(resource: &Resource, object: &Value) -> Self {
        let metadata = &object["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
        let namespace = metadata["namespace"].as_str().map(str::to_owned);
        let webhooks = object["webhooks"].as_array();
        let fails = |hook: &Value| hook["failurePolicy"] == "Fail";
        // Objects of a list don't say what they are.
        let mut whole = object.clone();
        whole["apiVersion"] = json!(resource.api_version());
        whole["kind"] = json!(resource.kind);
        Self {
            object: whole,
            resource: resource.clone(),
            namespace,
            name: text("name"),
            uid: text("uid"),
            release: plan::release(object),
            owners: owners(object).filter(|owner| !is_settings(owner)).cloned().collect(),
            fails: webhooks.is_some_and(|hooks| hooks.iter().any(fails)),
        }
    }

    /// As people read it: `deployment.apps binder in kai-scheduler`.
    fn title(&self) -> String {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        format!("{} {} in {}", self.resource.label(), clean(&self.name), clean(namespace))
    }

    /// Tells whether an object is this one, and not another of its name.
    pub(super) fn is_same(&self, live: &Value) -> bool {
        live["metadata"]["uid"] == *self.uid
    }

    fn is_known(&self, known: &Known) -> bool {
        known.is_made_by_kai(&self.resource, self.namespace.as_deref(), &self.name)
    }

    pub(super) fn call(&self, verb: &'static str) -> Call<'_> {
        Call::new(verb, &self.resource).namespace(self.namespace.as_deref()).name(&self.name)
    }

    fn is(&self, item: &Item) -> bool {
        self.resource.kind == item.resource.kind
            && self.namespace.as_deref() == item.namespace()
            && self.name == item.name()
    }
}

pub(super) fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

/// Tells whether an owner is `kai-config` or a shard, which own what KAI's operator makes.
fn is_settings(owner: &Value) -> bool {
    let group = owner["apiVersion"].as_str().and_then(|version| version.split('/').next());
    group == Some(KAI_GROUP) && (owner["kind"] == "Config" || owner["kind"] == "SchedulingShard")
}

/// Tells whether KAI's operator made an object; our podgrouper's are owned by shards as well.
fn is_made_by_operator(object: &Value) -> bool {
    // Kubernetes gives the slices of a Service its labels, and takes them with it.
    if owners(object).any(|owner| owner["kind"] == "Service") {
        return false;
    }
    let manager = &object["metadata"]["labels"][label::MANAGED_BY];
    *manager == value::KAI_OPERATOR
        || (*manager != component::PODGROUPER
            && *manager != value::INSTALLER
            && owners(object).any(is_settings))
}

impl Installation {
    /// Takes in Deployments that say that they are KAI's.
    fn add_deployments(&mut self, found: Vec<Found>, known: &Known) {
        let (ours, strangers): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|found| found.is_known(known));
        self.deployments.extend(ours);
        self.strangers.extend(strangers.iter().map(Found::title));
    }

    /// Tells whether there is nothing of KAI.
    pub(super) fn is_empty(&self) -> bool {
        !self.acts() && self.made.is_empty() && self.owned.is_empty()
    }

    /// Tells whether something of KAI acts on its own, so that nothing of ours may run beside it.
    pub(super) fn acts(&self) -> bool {
        !self.deployments.is_empty() || !self.webhooks.is_empty()
    }

    /// Says what looks like KAI's and is left alone; none where nothing does.
    pub(super) fn strange(&self) -> Option<String> {
        let are = if self.strangers.len() == 1 { "is none" } else { "are none" };
        (!self.strangers.is_empty()).then(|| {
            format!(
                "{}: labelled as KAI's, and {are} that KAI v0.17 installs where its settings put it; left alone   (-n names another namespace of KAI)",
                first(&self.strangers)
            )
        })
    }

    /// Tells whether KAI lives in a namespace.
    pub(super) fn is_in(&self, namespace: &str) -> bool {
        self.deployments.iter().any(|found| found.namespace.as_deref() == Some(namespace))
    }

    /// Tells whether the API server asks KAI before it takes an object.
    pub(super) fn is_asked(&self) -> bool {
        !self.webhooks.is_empty()
    }

    /// Lists the Deployments of KAI, all of which go.
    pub(super) fn deployments(&self) -> &[Found] {
        &self.deployments
    }

    /// Tells whether an object of ours has the place of one that goes, and so is made anew.
    pub(super) fn replaces(&self, item: &Item) -> bool {
        self.deployments.iter().chain(&self.made).any(|found| found.is(item))
    }

    /// Lists what goes.
    pub(super) fn removed(&self) -> impl Iterator<Item = &Found> {
        self.webhooks.iter().chain(&self.deployments).chain(&self.made)
    }

    /// Lists what stays, and no longer goes with KAI's settings.
    pub(super) fn disowned(&self) -> &[Found] {
        &self.owned
    }

    /// Lists what goes, kind by kind: the kind and the names.
    pub(super) fn going(&self) -> Vec<(String, Vec<String>)> {
        let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
        for found in self.removed() {
            let kind = found.resource.label();
            let name = clean(&found.name).into_owned();
            match kinds.last_mut().filter(|(last, _)| *last == kind) {
                Some((_, names)) => names.push(name),
                None => kinds.push((kind, vec![name])),
            }
        }
        kinds
    }

    /// The same, object by object, for programs.
    pub(super) fn reported(&self) -> impl Iterator<Item = Value> {
        self.removed().map(|found| {
            json!({
                "apiVersion": found.resource.api_version(),
                "kind": found.resource.kind,
                "namespace": found.namespace,
                "name": found.name,
                "result": "removed",
            })
        })
    }

    /// The Helm releases that its parts belong to: namespaces and names.
    pub(super) fn releases(&self) -> BTreeSet<(String, String)> {
        self.removed().filter_map(|found| found.release.clone()).collect()
    }
}

/// Looks for what KAI has installed: Deployments everywhere, or in `namespace` where that is not allowed.
pub(super) async fn find(
    cluster: &Cluster,
    namespace: &str,
    items: &[Item],
) -> Result<Installation, Error> {
    let mut known = Known::read(cluster, namespace).await?;
    let webhooks = webhooks(cluster).await?;
    for found in &webhooks {
        known.add_server(&found.object);
    }
    let mut kai = Installation { webhooks, ..Installation::default() };
    kai.add_deployments(deployments(cluster, namespace, &known).await?, &known);
    let home = kai.deployments.first().and_then(|found| found.namespace.clone());
    let home = home.unwrap_or_else(|| namespace.to_owned());
    for (api_version, kind, plural) in MADE {
        let resource = Resource::new(api_version, kind, plural);
        let call = Call::new("list", &resource).namespace(Some(&home));
        let all = cluster.list(&call, &Select::default()).await;
        if all.as_ref().is_err_and(Failure::is_forbidden) {
            continue;
        }
        let all = all.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        let made = all.iter().filter(|object| is_made_by_operator(object));
        let made = made.map(|object| Found::new(&resource, object));
        let (made, strangers): (Vec<_>, Vec<_>) = made.partition(|found| found.is_known(&known));
        kai.made.extend(made);
        kai.strangers.extend(strangers.iter().map(Found::title));
    }
    if kai.acts() || !kai.made.is_empty() {
        kai.owned = owned(cluster, &kai, items).await?;
    }
    Ok(kai)
}

/// Finds what has a place in our installation, stays, and is owned by KAI's settings.
async fn owned(cluster: &Cluster, kai: &Installation, items: &[Item]) -> Result<Vec<Found>, Error> {
    let mut owned = Vec::new();
    for item in items {
        if kai.replaces(item) || item.resource.kind == "CustomResourceDefinition" {
            continue;
        }
        let call = plan::call(item, "get");
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        let live = live.filter(|live| owners(live).any(is_settings));
        owned.extend(live.map(|live| Found::new(&item.resource, &live)));
    }
    Ok(owned)
}

/// Lists the Deployments that say that they are KAI's, its operator first.
async fn deployments(
    cluster: &Cluster,
    namespace: &str,
    known: &Known,
) -> Result<Vec<Found>, Error> {
    let resource = Resource::new("apps/v1", "Deployment", "deployments");
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
            || (metadata["name"] == OPERATOR && known.is_home(metadata["namespace"].as_str()))
    };
    let mut found: Vec<Found> =
        all.iter().filter(is_of_kai).map(|object| Found::new(&resource, object)).collect();
    found.sort_by_key(|found| (found.name != OPERATOR, found.name.clone()));
    Ok(found)
}

/// Webhook configurations with KAI's names that are not our podgrouper's.
async fn webhooks(cluster: &Cluster) -> Result<Vec<Found>, Error> {
    let mut webhooks = Vec::new();
    for (kind, plural) in REGISTRATIONS {
        let resource =
            Resource::new("admissionregistration.k8s.io/v1", kind, plural).cluster_wide();
        let call = Call::new("list", &resource);
        let all = cluster.list(&call, &Select::default()).await;
        // Who may not read them may not make them either: the daemons do, with rights of their own.
        if all.as_ref().is_err_and(Failure::is_forbidden) {
            continue;
        }
        let all = all.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        let is_of_kai = |object: &&Value| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            object["metadata"]["labels"][label::MANAGED_BY] != component::PODGROUPER
                && WEBHOOKS.iter().any(|begin| name.starts_with(begin))
        };
        webhooks.extend(all.iter().filter(is_of_kai).map(|object| Found::new(&resource, object)));
    }
    Ok(webhooks)
}

/// Says why nothing is installed beside KAI.
pub(super) fn refusal(kai: &Installation) -> Error {
    const FIX: &str = "replace it: kubectl kai install --adopt   (queues, PodGroups and pods stay; --dry-run shows what goes)";
    let Some(first) = kai.deployments.first() else { return leftovers(kai) };
    let names: Vec<_> = kai.deployments.iter().map(|found| clean(&found.name)).collect();
    let namespace = clean(first.namespace.as_deref().unwrap_or_default());
    let what = format!("KAI is installed already, in namespace {namespace}");
    let mut problem = Problem::new(number::EXISTS, Exit::Conflict, what)
        .line(format!("its Deployments: {}", names.join(", ")));
    for (namespace, name) in kai.releases() {
        let (namespace, name) = (clean(&namespace), clean(&name));
        problem =
            problem.line(format!("Helm installed it, as release {name} in namespace {namespace}"));
    }
    problem.line("two schedulers of one name must not run side by side").fix(FIX).into()
}

/// Says what it means that webhooks of KAI are there without KAI.
fn leftovers(kai: &Installation) -> Error {
    let name = |found: &Found| {
        let policy = if found.fails { "Fail" } else { "Ignore" };
        format!("{} {} (failurePolicy {policy})", found.resource.kind, clean(&found.name))
    };
    let what = "webhooks of another KAI are left, and no Deployment of it to answer them";
    let problem = Problem::new(number::EXISTS, Exit::Conflict, what);
    let problem = kai.webhooks.iter().fold(problem, |problem, found| problem.line(name(found)));
    let problem = if kai.webhooks.iter().any(|found| found.fails) {
        problem.line("with failurePolicy Fail the API server refuses pods, queues or PodGroups while nobody answers")
    } else {
        problem
    };
    problem.fix("remove them and install: kubectl kai install --adopt").into()
}

/// Takes away what KAI has installed; queues, settings, `PodGroup`s, roles and pods stay.
///
/// The operator goes first, and is gone before the others are touched: it would restore them.
pub(super) async fn remove(
    cluster: &Cluster,
    kai: &Installation,
    timeout: Duration,
    progress: &mut (dyn FnMut(&str) + Send),
) -> Result<(), Error> {
    // Webhooks that fail closed would keep pods from being made once their server is gone.
    for found in &kai.webhooks {
        delete(cluster, found).await?;
    }
    let deadline = Instant::now().checked_add(timeout);
    let (operator, others): (Vec<_>, Vec<_>) =
        kai.deployments.iter().partition(|found| found.name == OPERATOR);
    for found in operator.into_iter().chain(others) {
        delete(cluster, found).await?;
        progress(&format!("waiting for the pods of {} to end", clean(&found.name)));
        gone(cluster, found.namespace.as_deref(), &found.name, deadline).await?;
    }
    // The operator may have written them once more before it ended.
    for found in webhooks(cluster).await? {
        delete(cluster, &found).await?;
    }
    for found in &kai.made {
        delete(cluster, found).await?;
    }
    for found in &kai.owned {
        let call = found.call("patch");
        let owners = json!({"metadata": {"uid": found.uid, "ownerReferences": found.owners}});
        cluster.patch(&call, &owners, false).await.map_err(|e| cluster.explain(&call, &e))?;
    }
    Ok(())
}

async fn delete(cluster: &Cluster, found: &Found) -> Result<(), Error> {
    let call = found.call("delete");
    cluster.delete(&call, &found.uid, false).await.map(drop).map_err(|e| cluster.explain(&call, &e))
}

/// Waits until no pod of a Deployment is left.
pub(super) async fn gone(
    cluster: &Cluster,
    namespace: Option<&str>,
    name: &str,
    deadline: Option<Instant>,
) -> Result<(), Error> {
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods).namespace(namespace);
    let labels = format!("{}={name}", label::APP);
    loop {
        let is_over = deadline.is_some_and(|deadline| Instant::now() > deadline);
        let left = match cluster.list(&call, &Select { labels: &labels, fields: "" }).await {
            Err(failure) if failure.may_pass() && !is_over => {
                sleep(LOOK).await;
                continue;
            }
            left => left.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default(),
        };
        if left.is_empty() {
            return Ok(());
        }
        if is_over {
            let what = format!("pods of {} that do not end: {}", clean(name), left.len());
            return Err(Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what)
                .line("what is to take its place does not run yet; run it again to go on")
                .into());
        }
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(namespace: &str, name: &str) -> Found {
        let resource = Resource::new("apps/v1", "Deployment", "deployments");
        Found::new(&resource, &json!({"metadata": {"namespace": namespace, "name": name}}))
    }

    /// One label of a tenant's held back every installation and upgrade.
    #[test]
    fn a_label_alone_makes_no_kai() {
        let known = Known::new("kai-scheduler", &json!({"spec": {"namespace": "theirs"}}));
        let mut kai = Installation::default();
        let all = [("evil", "web"), ("evil", "binder"), ("kai-scheduler", "web")];
        let all = all.map(|(namespace, name)| deployment(namespace, name));
        kai.add_deployments(all.into(), &known);
        assert!(kai.is_empty() && !kai.acts());
        let said = kai.strange().expect("they are told");
        assert!(
            said.starts_with("deployment.apps web in evil, deployment.apps binder in evil"),
            "{said}"
        );
        kai.add_deployments(vec![deployment("theirs", "kai-operator")], &known);
        assert!(kai.acts() && kai.is_in("theirs") && !kai.is_in("evil"));
    }

    /// Only an administrator makes a webhook configuration: the namespace of its server is one of KAI.
    #[test]
    fn a_webhook_says_where_kai_is() {
        let mut known = Known::new("kai-scheduler", &Value::Null);
        assert!(!known.is_home(Some("gpu")));
        let hook = json!({"clientConfig": {"service": {"namespace": "gpu", "name": "admission"}}});
        known.add_server(&json!({"webhooks": [{"clientConfig": {"url": "https://a"}}, hook]}));
        assert!(known.is_home(Some("gpu")));
    }
}
