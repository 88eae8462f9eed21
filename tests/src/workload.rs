//! Workloads as files for real operators: what is submitted, what happens to it, and what must come of it.
//!
//! ```yaml
//! what: one sentence
//! operator: jobset
//! objects: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, ...}]    # $pod stands for a pod spec that runs 3 s
//! then: [{pods: 0, patch: {kind: JobSet, ...}}]      # merge patches in order, each as soon as there are so many pods
//! groups: {pg-js-UID: {spec: {minSubGroup: 2}}}      # UIDs are written UID, the name of an owner that is a pod POD
//! marks: {a-replica-0: 3}                            # pods by subgroup; "" is none
//! finished: 4                                        # pods that run through
//! ```
//!
//! Every workload has a namespace of its own, named as its file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result};
use kai_api::names;
use kube::{
    Client,
    api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
    discovery::{Scope, pinned_kind},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::matching::differences;

/// Time that an operator may take to see an object that was created, and its webhook to listen.
const SEEN_WITHIN: Duration = Duration::from_secs(30);

/// A workload in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name of the file and of the namespace.
    #[serde(skip)]
    pub name: String,
    /// Statement that it shows, in one sentence.
    pub what: String,
    /// The operator whose kind it is; `kubernetes` for those of Kubernetes itself.
    pub operator: String,
    objects: Vec<Value>,
    #[serde(default)]
    then: Vec<Step>,
    groups: BTreeMap<String, Value>,
    #[serde(default)]
    marks: BTreeMap<String, usize>,
    #[serde(default)]
    finished: usize,
}

/// An event of a workload after its submission.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The pods of the scheduler that there must be before, also those that end.
    pods: usize,
    /// The merge patch.
    patch: Value,
}

/// Observations of a workload since it was submitted.
#[derive(Debug, Default)]
pub struct Seen {
    /// Pods of the scheduler, each as it was last seen; also those that are gone.
    pub pods: BTreeMap<String, Value>,
    /// `PodGroup`s, as they are now.
    pub groups: Vec<Value>,
    finished: BTreeSet<String>,
}

/// The workloads of a folder, by name.
///
/// # Errors
///
/// When a file is no workload.
pub fn read(folder: &Path) -> Result<Vec<Workload>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let mut workload: Workload = serde_saphyr::from_str(&fs::read_to_string(&path)?)
            .with_context(|| format!("failed to read {}", path.display()))?;
        workload.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.push(workload);
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(found)
}

/// A pod spec that any operator takes, which ends by itself after some seconds.
fn pod_spec(container: &str, seconds: &str) -> Value {
    json!({
        "schedulerName": names::SCHEDULER_NAME,
        "containers": [{"name": container, "image": "busybox", "command": ["sleep", seconds],
            "resources": {"requests": {"cpu": "10m"}}}],
    })
}

/// Replaces `$pod`, `$pod NAME` and `$pod NAME SECONDS` by a pod spec with such a container.
fn expand(value: &mut Value) {
    match value {
        Value::String(text) => {
            let mut words = text.split_whitespace();
            if words.next() == Some("$pod") {
                let container = words.next().unwrap_or("main").to_owned();
                let seconds = words.next().unwrap_or("3").to_owned();
                *value = pod_spec(&container, &seconds);
            }
        }
        Value::Array(rows) => rows.iter_mut().for_each(expand),
        Value::Object(table) => {
            let more = table.remove("$and");
            table.values_mut().for_each(expand);
            if let (Some(Value::Object(more)), Some(Value::Object(spec))) =
                (more, table.get_mut("spec"))
            {
                spec.extend(more);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An interface to objects of the kind of `object`.
async fn api(client: &Client, namespace: &str, object: &Value) -> Result<Api<DynamicObject>> {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
    let gvk = GroupVersionKind::gvk(group, version, text("kind"));
    let (resource, capabilities) = pinned_kind(client, &gvk).await?;
    Ok(match capabilities.scope {
        Scope::Namespaced => Api::namespaced_with(client.clone(), namespace, &resource),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    })
}

/// Writes an object. An operator's webhook may not listen yet, or may not have seen, by its own watch, what was created
/// just before and the object refers to: one that fails or refuses is asked again for a while.
async fn admitted(mut write: impl AsyncFnMut() -> kube::Result<DynamicObject>) -> kube::Result<()> {
    let end = Instant::now() + SEEN_WITHIN;
    let may_change = |message: &str| {
        message.contains("denied the request") || message.contains("failed calling webhook")
    };
    loop {
        match write().await {
            Err(kube::Error::Api(status))
                if may_change(&status.message) && Instant::now() < end =>
            {
                sleep(Duration::from_millis(500)).await;
            }
            written => return written.map(drop),
        }
    }
}

impl Workload {
    /// Creates the namespace and the objects.
    ///
    /// # Errors
    ///
    /// When the API server or a webhook refuses one.
    pub async fn submit(&self, client: &Client) -> Result<()> {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}});
        for object in std::iter::once(&namespace).chain(&self.objects) {
            let mut object = object.clone();
            expand(&mut object);
            let api = api(client, &self.name, &object).await?;
            let body = serde_json::from_value(object.clone())?;
            admitted(async || api.create(&PostParams::default(), &body).await)
                .await
                .with_context(|| format!("{}: failed to create {}", self.name, object["kind"]))?;
        }
        Ok(())
    }

    /// Carries out what happens to it, a call of `pause` or more before each patch.
    ///
    /// # Errors
    ///
    /// When a patch is refused, or `pause` says that it takes too long.
    pub async fn go_on(
        &self,
        client: &Client,
        mut pause: impl AsyncFnMut() -> Result<()>,
    ) -> Result<()> {
        for step in &self.then {
            loop {
                pause().await?;
                let mut now = Seen::default();
                self.look(client, &mut now).await?;
                if now.pods.len() == step.pods {
                    break;
                }
            }
            let mut patch = step.patch.clone();
            expand(&mut patch);
            let api = api(client, &self.name, &patch).await?;
            let name = patch["metadata"]["name"].as_str().context("a step names its object")?;
            let body = Patch::Merge(&patch);
            admitted(async || api.patch(name, &PatchParams::default(), &body).await)
                .await
                .with_context(|| format!("{}: failed to patch {name}", self.name))?;
        }
        Ok(())
    }

    /// Looks at its pods and `PodGroup`s again.
    ///
    /// # Errors
    ///
    /// When a list fails.
    pub async fn look(&self, client: &Client, seen: &mut Seen) -> Result<()> {
        let list = async |group: &str, version: &str, kind: &str| {
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
            let api: Api<DynamicObject> =
                Api::namespaced_with(client.clone(), &self.name, &resource);
            let items = api.list(&ListParams::default()).await?.items;
            items
                .into_iter()
                .map(|item| Ok(serde_json::to_value(item)?))
                .collect::<Result<Vec<_>>>()
        };
        for pod in list("", "v1", "Pod").await? {
            if pod["spec"]["schedulerName"] != names::SCHEDULER_NAME {
                continue;
            }
            let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            if pod["status"]["phase"] == "Succeeded" {
                seen.finished.insert(name.clone());
            }
            seen.pods.insert(name, pod);
        }
        seen.groups = list("scheduling.run.ai", "v2alpha2", "PodGroup").await?;
        Ok(())
    }

    /// Lists what is not yet as the file says.
    pub fn findings(&self, seen: &Seen) -> Vec<String> {
        let mut findings = Vec::new();
        let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for group in &seen.groups {
            groups.entry(general_name(group)).or_default().push(group);
        }
        for (name, want) in &self.groups {
            let found = groups.remove(name).unwrap_or_default();
            if found.is_empty() {
                findings.push(format!("no PodGroup {name}"));
            }
            let found = found.iter().flat_map(|group| differences(want, group));
            findings.extend(found.map(|finding| format!("PodGroup {name}: {finding}")));
        }
        findings.extend(groups.keys().map(|name| format!("a PodGroup {name} that is not wanted")));
        let mut marks: BTreeMap<String, usize> = BTreeMap::new();
        for (name, pod) in &seen.pods {
            let meta = &pod["metadata"];
            if meta["annotations"][names::annotation::POD_GROUP].is_null() {
                findings.push(format!("pod {name} is not marked"));
            }
            let subgroup = meta["labels"][names::label::SUBGROUP].as_str().unwrap_or_default();
            *marks.entry(subgroup.to_owned()).or_default() += 1;
        }
        if marks != self.marks {
            findings.push(format!("pods by subgroup: {marks:?}, want {:?}", self.marks));
        }
        if seen.finished.len() < self.finished {
            findings.push(format!("{} of {} pods ran through", seen.finished.len(), self.finished));
        }
        findings
    }
}

/// A `PodGroup`'s name with its owner's UID written `UID`, and the name of an owner that is a pod written `POD`.
fn general_name(group: &Value) -> String {
    let name = group["metadata"]["name"].as_str().unwrap_or_default();
    let owner = &group["metadata"]["ownerReferences"][0];
    let text = |key: &str| owner[key].as_str().unwrap_or_default();
    let name = name.replace(text("uid"), "UID");
    if text("kind") == "Pod" { name.replace(text("name"), "POD") } else { name }
}
