//! One pass over what changed: sum up, roll up, patch.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use kai_api::names::{annotation, node, priority_class, resource};
use kai_api::quantity::Quantity;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Map, Value, json};

use super::orphans::{Orphan, conditions, orphans};
use super::queues::{QueueSums, roll_up};
use super::totals::{Sums, Totals, times};
use super::usage::{MemoryShare, Usage};
use super::{Dirty, QueueMetrics};
use crate::cache::{Cache, Found, ObjectKey, Part};
use crate::interner::Interner;
use crate::object::{Gvk, Object};
use crate::store::{Key, Store};

/// Changes of so long go into one pass.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// Patches at the same time.
const WRITES: usize = 10;
/// Wait after a failed patch, doubled up to the longest.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(1);
/// Versions of the claims' API, the newest first.
const CLAIM_VERSIONS: [&str; 3] = ["v1", "v1beta2", "v1beta1"];

/// Keeps the statuses of `PodGroup`s and queues.
pub(crate) struct Controller {
    client: Client,
    store: Arc<Store>,
    cache: Cache,
    dirty: Arc<Dirty>,
    metrics: QueueMetrics,
    /// Sums of each `PodGroup`, with the queue that they are counted in.
    groups: HashMap<Key, (Arc<str>, Arc<Sums>)>,
    /// Many groups have equal sums, and few queues.
    names: Interner<str>,
    sums: Interner<Sums>,
    /// Failures already told, so that a missing right is said once.
    told: HashSet<String>,
}

/// A patch of a status.
struct StatusPatch {
    gvk: GroupVersionKind,
    key: Key,
    body: Value,
}

impl Controller {
    pub(crate) fn new(
        client: Client,
        store: Arc<Store>,
        cache: Cache,
        dirty: Arc<Dirty>,
        metrics: QueueMetrics,
    ) -> Self {
        Self {
            client,
            store,
            cache,
            dirty,
            metrics,
            groups: HashMap::new(),
            names: Interner::default(),
            sums: Interner::default(),
            told: HashSet::new(),
        }
    }

    /// Works until the task is dropped.
    pub(crate) async fn run(mut self) {
        let mut retry = RETRY_MIN;
        loop {
            let mut changed = self.dirty.take().await;
            tokio::time::sleep(DEBOUNCE).await;
            changed.extend(std::mem::take(&mut *self.dirty.marks()).groups);
            let failed = self.pass(changed).await;
            if failed.is_empty() {
                retry = RETRY_MIN;
                continue;
            }
            tokio::time::sleep(retry).await;
            retry = retry.saturating_mul(2).min(RETRY_MAX);
            for key in failed {
                // A queue's key has no namespace.
                if key.namespace.is_empty() { self.dirty.queues() } else { self.dirty.group(key) }
            }
        }
    }

    /// Brings statuses up to date; returns the keys whose patch failed.
    async fn pass(&mut self, changed: BTreeSet<Key>) -> Vec<Key> {
        let mut patches = Vec::new();
        for key in changed {
            let Some(group) = self.store.group(&key) else {
                self.groups.remove(&key);
                continue;
            };
            let sums = self.sum(&key, &group).await;
            let stored = &group.value()["status"]["resourcesStatus"];
            if let Some(patch) = sums.patch(stored) {
                patches.push(StatusPatch {
                    gvk: GroupVersionKind::gvk("scheduling.run.ai", "v2alpha2", "PodGroup"),
                    key: key.clone(),
                    body: body(&group, &json!({"resourcesStatus": patch})),
                });
            }
            let queue = group.value()["spec"]["queue"].as_str().unwrap_or_default();
            let queue = self.names.intern(queue.into());
            self.groups.insert(key, (queue, self.sums.intern(Arc::new(sums))));
        }
        patches.extend(self.queue_patches());
        self.write(patches).await
    }

    fn queue_patches(&self) -> Vec<StatusPatch> {
        let queues = self.store.queues();
        let parents: BTreeMap<String, String> = queues
            .iter()
            .map(|(name, queue)| {
                let parent = queue.value()["spec"]["parentQueue"].as_str().unwrap_or_default();
                (name.clone(), parent.to_owned())
            })
            .collect();
        let mut own: BTreeMap<String, Sums> = BTreeMap::new();
        for (queue, sums) in self.groups.values() {
            own.entry(queue.to_string()).or_default().add(sums);
        }
        let all = roll_up(&parents, &own);
        let orphans = orphans(&parents);
        self.metrics.set(
            queues.iter().filter_map(|(name, queue)| Some((queue, &all.get(name)?.sums.allocated))),
        );
        let patch = |(name, queue): (&String, &Arc<Object>)| {
            let orphan = orphans.get(name.as_str());
            let status = queue_status(all.get(name)?, orphan, &queue.value()["status"])?;
            let mut body = body(queue, &Value::Object(status));
            if !body["status"]["conditions"].is_null() {
                // A list is replaced as a whole, and others write to it.
                body["metadata"]["resourceVersion"] = json!(queue.resource_version());
            }
            let gvk = GroupVersionKind::gvk("scheduling.run.ai", "v2", "Queue");
            Some(StatusPatch { gvk, key: Key::new("", name), body })
        };
        queues.iter().filter_map(patch).collect()
    }

    async fn write(&mut self, patches: Vec<StatusPatch>) -> Vec<Key> {
        let client = &self.client;
        let results: Vec<(Key, kube::Error)> = stream::iter(patches)
            .map(|patch| async move {
                let resource = ApiResource::from_gvk(&patch.gvk);
                let api: Api<DynamicObject> = if patch.key.namespace.is_empty() {
                    Api::all_with(client.clone(), &resource)
                } else {
                    Api::namespaced_with(client.clone(), &patch.key.namespace, &resource)
                };
                let params = PatchParams::default();
                let body = Patch::Merge(&patch.body);
                let written = api.patch_status(&patch.key.name, &params, &body).await;
                written.err().map(|error| (patch.key, error))
            })
            .buffer_unordered(WRITES)
            .filter_map(|result| async { result })
            .collect()
            .await;
        let mut failed = Vec::new();
        for (key, error) in results {
            if matches!(&error, kube::Error::Api(status) if matches!(status.code, 404 | 409 | 422))
            {
                // Deleted, or another object of the name: its own event comes.
                continue;
            }
            let is_refused = matches!(&error, kube::Error::Api(status) if status.code == 403);
            let text = if is_refused { "not allowed".to_owned() } else { error.to_string() };
            if self.told.insert(text.clone()) {
                tracing::warn!(object = %key, error = %text, "failed to write a status; trying again");
            }
            failed.push(key);
        }
        failed
    }

    async fn sum(&self, key: &Key, group: &Object) -> Sums {
        let mut sums = Sums::default();
        for pod in self.store.members(key) {
            let Some(usage) = self.store.usage(&pod) else { continue };
            sums.requested.add(&usage.requested);
            sums.allocated.add(&usage.allocated);
            self.add_claims(&pod, &usage, &mut sums).await;
            if let Some(share) = &usage.memory_share
                && let Some(amount) = self.device_share(share).await
            {
                sums.allocated.add_one(resource::NVIDIA_GPU, amount);
            }
        }
        if !self.is_preemptible(group) {
            sums.non_preemptible = sums.allocated.clone();
        }
        sums
    }

    /// Reads what the group says itself, else its priority class: values from 100 on are protected.
    fn is_preemptible(&self, group: &Object) -> bool {
        let spec = &group.value()["spec"];
        match spec["preemptibility"].as_str() {
            Some("preemptible") => return true,
            Some("non-preemptible") => return false,
            Some(_) | None => {}
        }
        let name = spec["priorityClassName"].as_str().unwrap_or_default();
        let class = self.store.class(name).or_else(|| self.store.default_class());
        let value = class.and_then(|class| class.value()["value"].as_i64());
        let value = value.unwrap_or(i64::from(priority_class::FALLBACK));
        value < i64::from(priority_class::NON_PREEMPTIBLE_FROM)
    }

    /// Memory of a shared device as part of the node's devices.
    async fn device_share(&self, share: &MemoryShare) -> Option<Quantity> {
        let key = ObjectKey {
            gvk: Gvk::new("v1", "Node"),
            namespace: String::new(),
            name: share.node.clone(),
        };
        let Ok(Found::Object(found)) = self.cache.read(&key, Part::Metadata).await else {
            return None;
        };
        let device_mib =
            found.label(node::GPU_MEMORY)?.parse::<i64>().ok().filter(|mib| *mib > 0)?;
        let thousandths = share.mib.checked_mul(1_000)?.checked_div(device_mib)?;
        times(Quantity::from_milli(thousandths), share.devices)
    }

    async fn add_claims(&self, pod: &Key, usage: &Usage, sums: &mut Sums) {
        for name in &usage.claims {
            let Some(claim) = self.claim(&pod.namespace, name).await else { continue };
            if claim.annotation(annotation::EXTENDED_RESOURCE_CLAIM) == Some("true") {
                continue;
            }
            let devices = claim_devices(&claim.value()["spec"]["devices"]);
            sums.requested.add(&devices);
            if usage.is_allocated {
                sums.allocated.add(&devices);
            }
        }
    }

    async fn claim(&self, namespace: &str, name: &str) -> Option<Arc<Object>> {
        for version in CLAIM_VERSIONS {
            let key = ObjectKey {
                gvk: Gvk::new(&format!("resource.k8s.io/{version}"), "ResourceClaim"),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            };
            match self.cache.read(&key, Part::Whole).await {
                Ok(Found::Object(claim)) => return Some(claim),
                Ok(Found::Absent | Found::Forbidden(_)) => return None,
                // This version is not served.
                Err(_) => {}
            }
        }
        None
    }
}

/// Devices of a claim by class; only classes of GPUs count.
fn claim_devices(devices: &Value) -> Totals {
    let mut totals = Totals::default();
    for request in devices["requests"].as_array().map_or(&[][..], Vec::as_slice) {
        let exact = if request["exactly"].is_object() { &request["exactly"] } else { request };
        let exact = exact["firstAvailable"].get(0).unwrap_or(exact);
        let Some(class) = exact["deviceClassName"].as_str() else { continue };
        if !class.to_ascii_lowercase().contains("gpu") {
            continue;
        }
        let count =
            if exact["allocationMode"] == "All" { 1 } else { exact["count"].as_i64().unwrap_or(1) };
        totals.add_one(class, Quantity::from_value(count));
    }
    totals
}

fn queue_status(
    wanted: &QueueSums,
    orphan: Option<&Orphan>,
    stored: &Value,
) -> Option<Map<String, Value>> {
    let mut status = wanted.sums.patch(stored).unwrap_or_default();
    let children = stored["childQueues"].as_array().map_or(&[][..], Vec::as_slice);
    let is_same =
        children.iter().map(Value::as_str).eq(wanted.children.iter().map(|c| Some(c.as_str())));
    if !is_same {
        status.insert("childQueues".to_owned(), json!(wanted.children));
    }
    if let Some(rows) = conditions(&stored["conditions"], orphan) {
        status.insert("conditions".to_owned(), rows);
    }
    (!status.is_empty()).then_some(status)
}

/// A status patch that only hits this very object.
fn body(object: &Object, status: &Value) -> Value {
    json!({"metadata": {"uid": object.uid()}, "status": status})
}
