//! One pass over what changed: sum up, roll up, patch.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use kai_api::names::{annotation, priority_class, resource, value};
use kai_daemon::process::causes;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::orphans::{Orphan, conditions, orphans};
use super::queues::{QueueSums, roll_up};
use super::totals::Sums;
use super::{Devices, Dirty, QueueMetrics};
use crate::interner::Interner;
use crate::meters::{Ended, Meters};
use crate::object::Object;
use crate::store::{Key, Store};

/// Changes of so long go into one pass.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// Patches at the same time.
const WRITES: usize = 10;
/// Wait after a failed patch, doubled up to the longest.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(1);

/// Keeps the statuses of `PodGroup`s and queues.
pub(crate) struct Controller {
    client: Client,
    store: Arc<Store>,
    devices: Devices,
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
        devices: Devices,
        dirty: Arc<Dirty>,
        metrics: QueueMetrics,
    ) -> Self {
        Self {
            client,
            store,
            devices,
            dirty,
            metrics,
            groups: HashMap::new(),
            names: Interner::default(),
            sums: Interner::default(),
            told: HashSet::new(),
        }
    }

    /// Works until the task is dropped.
    pub(crate) async fn run(mut self, meters: Meters) {
        let mut retry = RETRY_MIN;
        loop {
            let mut changed = self.dirty.take().await;
            tokio::time::sleep(DEBOUNCE).await;
            changed.extend(std::mem::take(&mut *self.dirty.marks()).groups);
            let (since, has_groups) = (Instant::now(), !changed.is_empty());
            let failed = self.pass(changed).await;
            let how = |is_group: bool| {
                let is_bad = failed.iter().any(|key| key.namespace.is_empty() != is_group);
                if is_bad { Ended::Badly } else { Ended::Well }
            };
            meters.ended("queue", how(false), since.elapsed());
            if has_groups {
                meters.ended("podgroup", how(true), since.elapsed());
            }
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
            let group = self.store.group(&key);
            let (mut sums, bound) = self.sum(&key, group.as_deref()).await;
            let Some(group) = group else {
                if let Some(queue) = bound {
                    sums.requested = sums.allocated.clone();
                    self.groups.insert(key, (queue, self.sums.intern(Arc::new(sums))));
                } else {
                    self.groups.remove(&key);
                }
                continue;
            };
            let stored = &group.value()["status"]["resourcesStatus"];
            if let Some(patch) = sums.patch(stored) {
                patches.push(StatusPatch {
                    gvk: GroupVersionKind::gvk("scheduling.run.ai", "v2alpha2", "PodGroup"),
                    key: key.clone(),
                    body: body(&group, &json!({"resourcesStatus": patch})),
                });
            }
            let queue = group.value()["spec"]["queue"].as_str().unwrap_or_default();
            let queue = bound.unwrap_or_else(|| self.names.intern(queue.into()));
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
            let text = if is_refused { "not allowed".to_owned() } else { causes(&error) };
            if self.told.insert(text.clone()) {
                tracing::warn!(object = %key, error = %text, "failed to write a status; trying again");
            }
            failed.push(key);
        }
        failed
    }

    /// Sums up a group's pods. With the queue that the first of them with a place was bound for: the group is on its account,
    /// and others may take back what they could take back then, whatever its object says by now.
    async fn sum(&self, key: &Key, group: Option<&Object>) -> (Sums, Option<Arc<str>>) {
        let (mut sums, mut queue, mut was_preemptible) = (Sums::default(), None, false);
        for pod in self.store.members(key) {
            let Some(usage) = self.store.usage(&pod) else { continue };
            sums.requested.add(&usage.requested);
            sums.allocated.add(&usage.allocated);
            let devices = self.devices.claimed(&pod.namespace, &usage).await;
            sums.requested.add(&devices);
            if usage.is_allocated {
                sums.allocated.add(&devices);
                let bound = self.store.pod(&pod);
                let annotations = bound.as_ref().map(|bound| &bound.annotations);
                let read = |key| annotations?.shared(key).cloned();
                queue = queue.or_else(|| read(annotation::BOUND_QUEUE));
                was_preemptible |=
                    read(annotation::BOUND_PREEMPTIBILITY).as_deref() == Some(value::PREEMPTIBLE);
            }
            if let Some(amount) = self.devices.share(&usage).await {
                sums.allocated.add_one(resource::NVIDIA_GPU, amount);
            }
        }
        let is_preemptible = group.map_or(queue.is_none(), |group| self.is_preemptible(group));
        if !is_preemptible && !was_preemptible {
            sums.non_preemptible = sums.allocated.clone();
        }
        (sums, queue)
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
