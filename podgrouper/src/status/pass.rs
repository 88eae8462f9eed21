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
use tokio::time::{Instant, timeout_at};

use super::late::{Begun, Late, Missing};
use super::orphans::conditions;
use super::queues::{Account, Accounts};
use super::totals::Sums;
use super::unplanned::Holdings;
use super::{Devices, Dirty, QueueMetrics, Reads};
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
/// So many claims and nodes are asked for in one pass, and for one group: who names thousands waits for the next.
const READS_MAX: usize = 512;
const READS_OF_GROUP_MAX: usize = 128;
/// So many failures that were told are remembered: a user may bring about ever new ones.
const TOLD_MAX: usize = 1_000;

/// Keeps the statuses of `PodGroup`s and queues.
pub(crate) struct Controller {
    client: Client,
    store: Arc<Store>,
    devices: Devices,
    dirty: Arc<Dirty>,
    metrics: QueueMetrics,
    /// Sums of `PodGroup`s and queues.
    accounts: Accounts,
    /// Many groups have equal sums, and few queues.
    names: Interner<str>,
    sums: Interner<Sums>,
    /// Failures already told, so that a missing right is said once.
    told: HashSet<String>,
    /// Keys that are tried again after a pause.
    paused: BTreeMap<Key, Paused>,
    /// Groups of the last pass of which nodes were not there that tell how much they have, as nothing tells when those come back,
    /// of which claims were left out, or that changed while they were late.
    unsure: BTreeSet<Key>,
    /// Those that have to be looked at again, though nothing failed: their pauses do not grow.
    soon: BTreeSet<Key>,
    /// Groups of which more has to be asked than may be in one pass.
    late: Late,
    /// Those for which queues wait.
    missing: Missing,
    /// The namespace with which the next pass begins.
    turn: String,
}

/// A key whose status could not be summed up or written.
#[derive(Clone, Copy)]
struct Paused {
    until: Instant,
    pause: Duration,
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
            accounts: Accounts::default(),
            names: Interner::default(),
            sums: Interner::default(),
            told: HashSet::new(),
            paused: BTreeMap::new(),
            unsure: BTreeSet::new(),
            soon: BTreeSet::new(),
            late: Late::default(),
            missing: Missing::default(),
            turn: String::new(),
        }
    }

    /// Works until the task is dropped.
    pub(crate) async fn run(mut self, meters: Meters) {
        loop {
            let [mut changed, due] = self.news().await;
            tokio::time::sleep(DEBOUNCE).await;
            changed.extend(std::mem::take(&mut *self.dirty.marks()).groups);
            self.late.note(&changed);
            changed.extend(self.store.take_moved());
            changed.extend(due);
            let since = Instant::now();
            let failed = self.pass(changed.clone()).await;
            let how = |is_group: bool| {
                let is_bad = failed.iter().any(|key| key.namespace.is_empty() != is_group);
                if is_bad { Ended::Badly } else { Ended::Well }
            };
            meters.ended("queue", how(false), since.elapsed());
            if !changed.is_empty() {
                meters.ended("podgroup", how(true), since.elapsed());
            }
            let again: BTreeSet<Key> =
                failed.into_iter().chain(std::mem::take(&mut self.unsure)).collect();
            // A pause may have ended during the pass, which was not told of it.
            let is_left = |key: &Key, until| {
                if key.namespace.is_empty() { since < until } else { !changed.contains(key) }
            };
            self.paused.retain(|key, paused| again.contains(key) || is_left(key, paused.until));
            for key in again {
                self.pause(key);
            }
        }
    }

    /// Waits for changes, and for the end of a pause; gives the groups that changed, and those whose pause is over.
    async fn news(&self) -> [BTreeSet<Key>; 2] {
        let Some(until) = self.paused.values().map(|paused| paused.until).min() else {
            return [self.dirty.take().await, BTreeSet::new()];
        };
        let changed = timeout_at(until, self.dirty.take()).await.unwrap_or_default();
        let now = Instant::now();
        let due = self.paused.iter().filter(|(_, paused)| paused.until <= now);
        // A queue's key has no namespace.
        let due = due.map(|(key, _)| key).filter(|key| !key.namespace.is_empty()).cloned();
        [changed, due.collect()]
    }

    /// Has a key tried again, after a pause that grows where something failed.
    fn pause(&mut self, key: Key) {
        let before = self.paused.get(&key).map_or(Duration::ZERO, |paused| paused.pause);
        let grown = before.saturating_mul(2).clamp(RETRY_MIN, RETRY_MAX);
        let goes_on = self.soon.remove(&key);
        let (wait, pause) = if goes_on { (RETRY_MIN, before) } else { (grown, grown) };
        self.paused.insert(key, Paused { until: Instant::now() + wait, pause });
    }

    /// Puts groups in order, so that those of each namespace have their turn: one of each, then another.
    fn in_turns(&mut self, changed: BTreeSet<Key>) -> Vec<Key> {
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        let mut rows: Vec<(usize, bool, Key)> = Vec::with_capacity(changed.len());
        for key in changed {
            let count = counts.entry(Arc::clone(&key.namespace)).or_default();
            rows.push((*count, *key.namespace <= *self.turn, key));
            *count += 1;
        }
        rows.sort();
        if let Some((_, _, first)) = rows.first() {
            self.turn = first.namespace.to_string();
        }
        rows.into_iter().map(|(_, _, key)| key).collect()
    }

    /// Brings statuses up to date; returns the keys of those that were not.
    async fn pass(&mut self, changed: BTreeSet<Key>) -> Vec<Key> {
        let (mut patches, mut late) = (Vec::new(), Vec::new());
        let (mut left, mut holdings) = (READS_MAX, Holdings::default());
        self.missing.begin();
        for key in self.in_turns(changed) {
            let group = self.store.group(&key).await;
            let summed = self.sum_next(&key, group.as_deref(), &mut left, &mut holdings).await;
            let (mut sums, bound) = match summed {
                Ok(Some(summed)) => summed,
                other => {
                    if let Err(error) = other {
                        self.tell(&key, &error);
                    }
                    if self.missing.concerns(&key) {
                        let queue = self.queue_of(&key, group.as_deref());
                        self.missing.put(key.clone(), queue);
                    }
                    late.push(key);
                    continue;
                }
            };
            self.missing.remove(&key);
            let Some(group) = group else {
                if let Some(queue) = bound {
                    sums.requested = sums.allocated.clone();
                    self.accounts.put(key, queue, self.sums.intern(Arc::new(sums)));
                } else {
                    self.accounts.remove(&key);
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
            self.accounts.put(key, queue, self.sums.intern(Arc::new(sums)));
        }
        patches.extend(self.queue_patches());
        let mut failed = self.write(patches).await;
        for key in failed.iter().filter(|key| key.namespace.is_empty()) {
            self.accounts.change(&key.name);
        }
        failed.extend(late);
        failed
    }

    /// Sums up a group with what is left of the reads of a pass, and notes whether it has to be looked at again.
    async fn sum_next(
        &mut self,
        key: &Key,
        group: Option<&Object>,
        left: &mut usize,
        holdings: &mut Holdings,
    ) -> Result<Option<(Sums, Option<Arc<str>>)>, kube::Error> {
        let allowed = READS_OF_GROUP_MAX.min(*left);
        let Begun { findings, is_changed, is_last } = self.late.take(key);
        // What was found in passes before tells others nothing.
        let (mut own, is_alone) = (Holdings::default(), !findings.is_empty());
        let holdings = if is_alone { &mut own } else { holdings };
        let known = std::mem::take(holdings);
        let mut reads = Reads { is_last, holdings: known, findings, ..Reads::new(allowed) };
        let summed = self.sum(key, group, &mut reads).await;
        *left -= allowed - reads.left;
        *holdings = reads.holdings;
        let is_summed = matches!(summed, Ok(Some(_)));
        // The next turn begins where this one ended.
        let goes_on = !is_last && (matches!(summed, Ok(None)) || (is_summed && reads.lacks_claims));
        // Something that was found before may be another by now, and nothing tells of that again.
        let is_outdated = is_summed && !goes_on && is_changed;
        if reads.lacks_node || reads.lacks_claims || is_outdated {
            self.unsure.insert(key.clone());
        }
        if goes_on || is_outdated {
            self.soon.insert(key.clone());
        }
        if goes_on || (summed.is_err() && !is_last) {
            let findings = reads.findings;
            self.late.put(key.clone(), Begun { findings, is_changed, is_last });
        }
        summed
    }

    /// Gives the patches of queues whose status is to change, but for those that wait since their last failed. Of a queue that
    /// waits for groups all stays as its status has it.
    ///
    /// Cost: a look at each queue, and the resources of those of which something changed.
    fn queue_patches(&mut self) -> Vec<StatusPatch> {
        self.accounts.see(self.store.queues());
        if self.metrics.take_renamed() {
            self.accounts.change_all();
        }
        let (now, waiting) = (Instant::now(), self.missing.queues(&self.accounts));
        let mut patches = Vec::new();
        for name in self.accounts.take_changed() {
            let Some(account) = self.accounts.get(&name) else {
                self.metrics.remove(&name);
                continue;
            };
            let is_waiting = waiting.contains(&name);
            let sums = if is_waiting { account.told() } else { account.sums() };
            self.metrics.put(&account.object, &sums.allocated);
            let patch = queue_patch(account, &sums);
            if is_waiting {
                self.accounts.change(&name);
            }
            let Some(patch) = patch else { continue };
            if self.paused.get(&patch.key).is_some_and(|paused| now < paused.until) {
                self.accounts.change(&name);
                continue;
            }
            patches.push(patch);
        }
        patches
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
            let code = if let kube::Error::Api(status) = &error { status.code } else { 0 };
            if code == 404 {
                // It was deleted: its own event comes.
                continue;
            }
            // Another version of it may be there, or another object of the name, and is known at the second try.
            if !matches!(code, 409 | 422) || self.paused.contains_key(&key) {
                self.tell(&key, &error);
            }
            failed.push(key);
        }
        failed
    }

    /// Logs a failure, once.
    fn tell(&mut self, key: &Key, error: &kube::Error) {
        let is_refused = matches!(error, kube::Error::Api(status) if status.code == 403);
        let text = if is_refused { "not allowed".to_owned() } else { causes(error) };
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        if self.told.insert(text.clone()) {
            tracing::warn!(object = %key, error = %text, "failed to bring a status up to date; trying again");
        }
    }

    /// Sums up a group's pods. With the queue that the first of them with a place was bound for: the group is on its account,
    /// and others may take back what they could take back then, whatever its object says by now.
    ///
    /// None where more claims, or nodes, would have to be asked for than may be: what is not known is not nothing. Claims of pods
    /// that wait are asked for last, and left out then, which `reads` notes: they may be of any number, and there or not, and
    /// whoever names them has no place by that.
    async fn sum(
        &self,
        key: &Key,
        group: Option<&Object>,
        reads: &mut Reads,
    ) -> Result<Option<(Sums, Option<Arc<str>>)>, kube::Error> {
        let (mut sums, mut queue, mut was_preemptible) = (Sums::default(), None, false);
        let mut waiting = Vec::new();
        for pod in self.store.members(key) {
            let Some(usage) = self.store.usage(&pod) else { continue };
            sums.requested.add(&usage.requested);
            if !usage.is_allocated {
                waiting.push(usage);
                continue;
            }
            let held = self.devices.held(&usage, reads).await?;
            let Some(held) = held else { return Ok(None) };
            sums.allocated.add(&held);
            let devices = self.devices.claimed(&pod.namespace, &usage, reads).await?;
            let Some(devices) = devices else { return Ok(None) };
            sums.requested.add(&devices);
            sums.allocated.add(&devices);
            let bound = self.store.pod(&pod);
            let annotations = bound.as_ref().map(|bound| &bound.annotations);
            let read = |key| annotations?.shared(key).cloned();
            queue = queue.or_else(|| read(annotation::BOUND_QUEUE));
            was_preemptible |=
                read(annotation::BOUND_PREEMPTIBILITY).as_deref() == Some(value::PREEMPTIBLE);
            if let Some(amount) = self.devices.share(&usage, reads).await? {
                sums.allocated.add_one(resource::NVIDIA_GPU, amount);
            }
        }
        for usage in waiting {
            let devices = self.devices.claimed(&key.namespace, &usage, reads).await?;
            let Some(devices) = devices else {
                reads.lacks_claims = true;
                break;
            };
            sums.requested.add(&devices);
        }
        let is_preemptible = group.map_or(queue.is_none(), |group| self.is_preemptible(group));
        if !is_preemptible && !was_preemptible {
            sums.non_preemptible = sums.allocated.clone();
        }
        Ok(Some((sums, queue)))
    }

    /// Finds the queue in which a group counts: that for which the first of its pods with a place was bound, else its own.
    fn queue_of(&self, key: &Key, group: Option<&Object>) -> Arc<str> {
        let has_place = |pod: &Key| self.store.usage(pod).is_some_and(|usage| usage.is_allocated);
        let members = self.store.members(key).into_iter().filter(has_place);
        let mut pods = members.filter_map(|pod| self.store.pod(&pod));
        let bound = pods.find_map(|pod| pod.annotations.shared(annotation::BOUND_QUEUE).cloned());
        let own = || group.and_then(|group| group.value()["spec"]["queue"].as_str());
        bound.unwrap_or_else(|| own().unwrap_or_default().into())
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

/// A patch that brings the status of a queue up to date; none where it is.
fn queue_patch(wanted: &Account, sums: &Sums) -> Option<StatusPatch> {
    let status = queue_status(wanted, sums)?;
    let queue = &wanted.object;
    let mut body = body(queue, &Value::Object(status));
    if !body["status"]["conditions"].is_null() {
        // A list is replaced as a whole, and others write to it.
        body["metadata"]["resourceVersion"] = json!(queue.resource_version());
    }
    let gvk = GroupVersionKind::gvk("scheduling.run.ai", "v2", "Queue");
    Some(StatusPatch { gvk, key: Key::new("", queue.name()), body })
}

fn queue_status(wanted: &Account, sums: &Sums) -> Option<Map<String, Value>> {
    let stored = &wanted.object.value()["status"];
    let mut status = sums.patch(stored).unwrap_or_default();
    let children = stored["childQueues"].as_array().map_or(&[][..], Vec::as_slice);
    let is_same =
        children.iter().map(Value::as_str).eq(wanted.children.iter().map(|c| Some(c.as_str())));
    if !is_same {
        status.insert("childQueues".to_owned(), json!(wanted.children));
    }
    if let Some(rows) = conditions(&stored["conditions"], wanted.orphan.as_ref()) {
        status.insert("conditions".to_owned(), rows);
    }
    (!status.is_empty()).then_some(status)
}

/// A status patch that only hits this very object.
fn body(object: &Object, status: &Value) -> Value {
    json!({"metadata": {"uid": object.uid()}, "status": status})
}

#[cfg(test)]
mod tests;
