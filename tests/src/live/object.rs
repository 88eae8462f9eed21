//! The objects of a scenario: short forms for queues and gangs, and any others as they are.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::TENANT;

/// Time that a kind may take to be served after its definition.
const SERVED_WITHIN: Duration = Duration::from_secs(30);
/// Time that what is deleted may take to go.
const GONE_WITHIN: Duration = Duration::from_mins(1);

/// A queue; what is not said is unlimited.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Queue {
    name: String,
    #[serde(default)]
    parent: Option<String>,
    /// Quota of GPUs.
    gpu: f64,
    #[serde(default)]
    limit: Option<f64>,
    /// More of its spec.
    #[serde(default)]
    spec: Value,
}

/// A `PodGroup` and its pods NAME-0, NAME-1 and so on. A gang of a name that exists gets more pods.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Gang {
    name: String,
    queue: String,
    #[serde(default = "one")]
    pods: usize,
    /// The first pod's number.
    #[serde(default)]
    from: usize,
    #[serde(default)]
    min: Option<usize>,
    /// GPUs of each pod; below one a fraction.
    #[serde(default)]
    gpu: Option<String>,
    /// A priority class.
    #[serde(default)]
    priority: Option<String>,
    /// More of the group's spec.
    #[serde(default)]
    spec: Value,
    /// More of each pod.
    #[serde(default)]
    pod: Value,
}

fn one() -> usize {
    1
}

impl Queue {
    pub(super) fn object(&self) -> Value {
        let none = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
        let gpu =
            json!({"quota": self.gpu, "limit": self.limit.unwrap_or(-1.0), "overQuotaWeight": 1});
        let mut object = json!({
            "apiVersion": "scheduling.run.ai/v2",
            "kind": "Queue",
            "metadata": {"name": self.name},
            "spec": {"resources": {"gpu": gpu, "cpu": none, "memory": none}},
        });
        if let Some(parent) = &self.parent {
            object["spec"]["parentQueue"] = json!(parent);
        }
        merge(&mut object["spec"], &self.spec);
        object
    }
}

impl Gang {
    /// Its group, where there is none yet, and its pods.
    pub(super) async fn objects(&self, client: &Client) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        if find(client, "PodGroup", &self.name).await?.is_none() {
            all.push(self.group());
        }
        all.extend((self.from..self.from + self.pods).map(|number| self.pod(number)));
        Ok(all)
    }

    fn group(&self) -> Value {
        let mut group = json!({
            "apiVersion": "scheduling.run.ai/v2alpha2",
            "kind": "PodGroup",
            "metadata": {"name": self.name, "namespace": "default"},
            "spec": {"queue": self.queue, "minMember": self.min.unwrap_or(self.pods)},
        });
        if let Some(class) = &self.priority {
            group["spec"]["priorityClassName"] = json!(class);
        }
        merge(&mut group["spec"], &self.spec);
        group
    }

    fn pod(&self, number: usize) -> Value {
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": format!("{}-{number}", self.name),
                "namespace": "default",
                "annotations": {"pod-group-name": self.name},
            },
            "spec": {
                "schedulerName": "kai-scheduler",
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "busybox"}],
            },
        });
        match self.gpu.as_deref() {
            Some(part) if part.starts_with("0.") => {
                pod["metadata"]["annotations"]["gpu-fraction"] = json!(part);
            }
            Some(whole) => {
                pod["spec"]["containers"][0]["resources"] =
                    json!({"limits": {"nvidia.com/gpu": whole}});
            }
            None => {}
        }
        merge(&mut pod, &self.pod);
        pod
    }
}

/// A merge patch (RFC 7396) on a value.
fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        if !patch.is_null() {
            *into = patch.clone();
        }
        return;
    };
    for (key, value) in fields {
        merge(&mut into[key], value);
    }
}

/// Group and version of the kinds that scenarios name, and whether they have a namespace.
fn known(kind: &str) -> Result<(GroupVersionKind, bool)> {
    let (group, version, namespaced) = match kind {
        "Pod" | "Event" | "PersistentVolumeClaim" | "ConfigMap" | "Secret" | "Service" => {
            ("", "v1", true)
        }
        "Job" => ("batch", "v1", true),
        "Node" | "PersistentVolume" | "Namespace" => ("", "v1", false),
        "StorageClass" | "CSIDriver" => ("storage.k8s.io", "v1", false),
        "CSIStorageCapacity" => ("storage.k8s.io", "v1", true),
        "PodGroup" => ("scheduling.run.ai", "v2alpha2", true),
        "BindRequest" => ("scheduling.run.ai", "v1alpha2", true),
        "Queue" => ("scheduling.run.ai", "v2", false),
        "PodDisruptionBudget" => ("policy", "v1", true),
        "MutatingWebhookConfiguration" | "ValidatingAdmissionPolicyBinding" => {
            ("admissionregistration.k8s.io", "v1", false)
        }
        "Deployment" => ("apps", "v1", true),
        "RoleBinding" => ("rbac.authorization.k8s.io", "v1", true),
        "ClusterRole" | "ClusterRoleBinding" => ("rbac.authorization.k8s.io", "v1", false),
        "RuntimeClass" => ("node.k8s.io", "v1", false),
        "Topology" => ("kai.scheduler", "v1alpha1", false),
        "DailyRecord" => ("kai.scheduler", "v1alpha1", true),
        "SchedulingShard" => ("kai.scheduler", "v1", false),
        "PriorityClass" => ("scheduling.k8s.io", "v1", false),
        "CustomResourceDefinition" => ("apiextensions.k8s.io", "v1", false),
        "DeviceClass" | "ResourceSlice" => ("resource.k8s.io", "v1", false),
        "ResourceClaim" => ("resource.k8s.io", "v1", true),
        "NodeResourceTopology" => ("topology.node.k8s.io", "v1alpha2", false),
        _ => bail!("add {kind} to the kinds that scenarios know"),
    };
    Ok((GroupVersionKind::gvk(group, version, kind), namespaced))
}

/// Tells whether the kind of an object has namespaces.
pub(super) fn is_namespaced(object: &Value) -> Result<bool> {
    Ok(known(object["kind"].as_str().context("an object has a kind")?)?.1)
}

/// Gives access to the objects of a kind: in the namespace `default` unless another is said.
fn api(client: &Client, kind: &str, namespace: Option<&str>) -> Result<Api<DynamicObject>> {
    let (gvk, namespaced) = known(kind)?;
    let resource = ApiResource::from_gvk(&gvk);
    Ok(if namespaced {
        Api::namespaced_with(client.clone(), namespace.unwrap_or("default"), &resource)
    } else {
        Api::all_with(client.clone(), &resource)
    })
}

/// The kind, namespace and name of `Kind/name` or `Kind/namespace/name`.
fn parts(name: &str) -> Result<(&str, Option<&str>, &str)> {
    let (kind, name) = name.split_once('/').context("an object is named Kind/name")?;
    Ok(match name.split_once('/') {
        Some((namespace, name)) => (kind, Some(namespace), name),
        None => (kind, None, name),
    })
}

/// Tells whether an object is there without any scenario.
pub(super) fn is_installed(kind: &str, name: &str) -> bool {
    match kind {
        "Queue" => name.starts_with("default-"),
        "ConfigMap" => name == "kube-root-ca.crt",
        // The rights that the tenant has in every story.
        "RoleBinding" => name == TENANT,
        "PriorityClass" => {
            name.starts_with("system-")
                || matches!(name, "train" | "build-preemptible" | "build" | "inference")
        }
        _ => false,
    }
}

/// All objects of a kind, of the namespaces `default` and that of a tenant where it has some.
pub(super) async fn list(client: &Client, kind: &str) -> Result<Vec<DynamicObject>> {
    let mut found = list_in(client, kind, "default").await?;
    if known(kind)?.1 {
        found.extend(list_in(client, kind, TENANT).await?);
    }
    Ok(found)
}

/// All objects of a kind in a namespace.
pub(super) async fn list_in(
    client: &Client,
    kind: &str,
    namespace: &str,
) -> Result<Vec<DynamicObject>> {
    match api(client, kind, Some(namespace))?.list(&ListParams::default()).await {
        // No story has defined it.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        found => Ok(found?.items),
    }
}

/// An object by its name, of the namespace `default` or else of a tenant's.
pub(super) async fn find(client: &Client, kind: &str, name: &str) -> Result<Option<DynamicObject>> {
    let found = match api(client, kind, None)?.get_opt(name).await {
        // The tenant sees its own namespace alone.
        Err(kube::Error::Api(status)) if status.code == 403 => None,
        found => found?,
    };
    if found.is_some() || !known(kind)?.1 {
        return Ok(found);
    }
    Ok(api(client, kind, Some(TENANT))?.get_opt(name).await?)
}

/// Kinds that [`Place::clear`](super::Place::clear) leaves: whatever a story makes of them is the same each time.
const KEPT: [&str; 2] = ["CustomResourceDefinition", "RuntimeClass"];

/// Creates an object; one that names an owner without a UID gets that of the pod of this name. A kind that was just defined is waited for.
pub(super) async fn create(client: &Client, mut object: Value) -> Result<()> {
    let kind = object["kind"].as_str().context("an object has a kind")?.to_owned();
    if let Some(owners) = object["metadata"]["ownerReferences"].as_array_mut() {
        for owner in owners.iter_mut().filter(|owner| owner["uid"].is_null()) {
            let name = owner["name"].as_str().context("an owner has a name")?;
            let pod = find(client, "Pod", name).await?.context("the owner exists")?;
            owner["uid"] = json!(pod.uid());
        }
    }
    let status = object.as_object_mut().and_then(|fields| fields.remove("status"));
    let object: DynamicObject = serde_json::from_value(object)?;
    let name = object.name_any();
    let api = api(client, &kind, object.metadata.namespace.as_deref())?;
    let end = Instant::now() + SERVED_WITHIN;
    loop {
        match api.create(&PostParams::default(), &object).await {
            Err(kube::Error::Api(status)) if status.code == 404 && Instant::now() < end => {
                sleep(Duration::from_millis(100)).await;
            }
            // Another telling of the story left it.
            Err(kube::Error::Api(status)) if status.code == 409 && KEPT.contains(&&*kind) => break,
            made => {
                made.with_context(|| format!("failed to create {kind}/{name}"))?;
                break;
            }
        }
    }
    if let Some(status) = status {
        let patch = Patch::Merge(json!({"status": status}));
        api.patch_status(&name, &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

/// Patches an object; what is said of its status goes where only that can be written.
pub(super) async fn patch(client: &Client, name: &str, patch: &Value) -> Result<()> {
    let (kind, namespace, name) = parts(name)?;
    let (api, params) = (api(client, kind, namespace)?, PatchParams::default());
    let patched = if patch["status"].is_null() {
        api.patch(name, &params, &Patch::Merge(patch)).await
    } else {
        api.patch_status(name, &params, &Patch::Merge(patch)).await
    };
    patched.map(drop).with_context(|| format!("failed to patch {kind}/{name}"))
}

/// Takes all finalizers from an object. One that is not there, or has just gone, is fine.
pub(super) async fn release(client: &Client, name: &str) -> Result<()> {
    let released = patch(client, name, &json!({"metadata": {"finalizers": null}})).await;
    released.or_else(|error| match error.downcast_ref() {
        Some(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        _ => Err(error),
    })
}

/// Changes the resources of the first container of a pod, which may be running.
pub(super) async fn resize(client: &Client, name: &str, resources: &Value) -> Result<()> {
    let (kind, namespace, name) = parts(name)?;
    let api = api(client, kind, namespace)?;
    let pod = api.get(name).await.with_context(|| format!("failed to read {kind}/{name}"))?;
    let container = &pod.data["spec"]["containers"][0]["name"];
    let containers = json!([{"name": container, "resources": resources}]);
    let patch = Patch::Strategic(json!({"spec": {"containers": containers}}));
    let resized = api.patch_subresource("resize", name, &PatchParams::default(), &patch).await;
    resized.map(drop).with_context(|| format!("failed to resize {kind}/{name}"))
}

/// Deletes an object at once and waits until it is gone. One that is not there is fine.
///
/// # Errors
/// One that is still there after a while, because of a finalizer.
pub(super) async fn delete(client: &Client, name: &str) -> Result<()> {
    let (kind, namespace, name) = parts(name)?;
    let api = api(client, kind, namespace)?;
    let mut params = DeleteParams::default();
    if kind == "Pod" {
        params = params.grace_period(0);
    }
    if matches!(kind, "ResourceClaim" | "PersistentVolumeClaim" | "PersistentVolume") {
        // Nobody here need do what Kubernetes' own controllers do once what uses it is gone.
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        if is_gone(api.patch(name, &PatchParams::default(), &patch).await)? {
            return Ok(());
        }
    }
    if is_gone(api.delete(name, &params).await)? {
        return Ok(());
    }
    let end = Instant::now() + GONE_WITHIN;
    while let Some(left) = api.get_opt(name).await? {
        let finalizers = left.finalizers();
        ensure!(Instant::now() < end, "{kind}/{name} does not go, finalizers: {finalizers:?}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Asks for the deletion of all objects of a kind in a namespace, and waits for none.
pub(super) async fn delete_all(client: &Client, kind: &str, namespace: &str) -> Result<()> {
    let api = api(client, kind, Some(namespace))?;
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    Ok(())
}

/// Tells whether an answer says that the object is not there.
fn is_gone<T>(answer: kube::Result<T>) -> Result<bool> {
    match answer {
        Ok(_) => Ok(false),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Labels of nodes by name.
pub(super) async fn node_labels(
    client: &Client,
) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
    let nodes = list(client, "Node").await?;
    Ok(nodes.into_iter().map(|node| (node.name_any(), node.labels().clone())).collect())
}
