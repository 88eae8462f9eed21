//! The write of a `PodGroup` (`docs/grouping.md` 8).

use std::sync::Arc;

use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};

use super::{Failure, Reconciler, failure, pod_group_gvk, text};
use crate::cache::to_object;
use crate::desired::Desired;
use crate::merge::{Write, digest, judge, merge};
use crate::object::Object;
use crate::store::Key;

/// A `PodGroup` with more sub-groups than this is large.
const SUBGROUPS_FEW: usize = 500;
const BULK: &str = "the PodGroups of 16 KiB and more of a namespace have 16 MiB together, and 1 KiB more for each of its \
    pods, and those of 4 KiB and more 64 MiB, and 4 KiB more for each; delete some that are not needed any more, ask for larger \
    segments, or write fewer annotations on the workload";

impl Reconciler {
    /// Writes the group that a pod wants, where it is not there already. Where another pod of it writes just now, this one is
    /// put aside: a write takes as long as admission does, and a worker that waits for it would be missing to others.
    pub(super) async fn write_group(&self, pod: &Key, desired: &Desired) -> Result<(), Failure> {
        let key = Key::new(&desired.namespace, &desired.name);
        let is_large = desired.subgroups.len() > SUBGROUPS_FEW
            || self.store.is_large(&key)
            || self.store.is_cut(&key);
        if self.is_written(&key, desired, is_large).await {
            // Its mark may take as long as a write: those who wait for what it was called for come beside it.
            self.writers.end(pod);
            return Ok(());
        }
        let Some(mut writing) = self.writers.begin(&key, pod, is_large) else {
            return Err(Failure::Aside);
        };
        let written = self.write(&key, desired).await;
        if written.is_ok() {
            writing.succeed();
        }
        written
    }

    /// Tells whether a group is there as it is wanted. Large ones are compared one at a time, for the memory that it takes, and
    /// once for all pods that want the same.
    async fn is_written(&self, key: &Key, desired: &Desired, is_large: bool) -> bool {
        if self.store.is_cut(key) {
            return false;
        }
        if !is_large {
            return self.compare(key, desired).await.is_some();
        }
        let digest = digest(desired);
        if self.store.is_as_wanted(key, digest) {
            return true;
        }
        let _turn = self.compared.take(&key.namespace).await;
        // Who had the turn may have found the same.
        if self.store.is_as_wanted(key, digest) {
            return true;
        }
        let Some(found) = self.compare(key, desired).await else { return false };
        self.store.note_as_wanted(key, &found, digest);
        true
    }

    /// Gives a group that is there as it is wanted.
    async fn compare(&self, key: &Key, desired: &Desired) -> Option<Arc<Object>> {
        let stored = self.store.group(key).await?;
        let write = merge(desired, Some(&stored), &self.settings);
        matches!(write, Write::Nothing).then_some(stored)
    }

    async fn write(&self, key: &Key, desired: &Desired) -> Result<(), Failure> {
        let api = self.groups(&desired.namespace);
        if self.store.is_cut(key)
            && let Ok(Some(found)) = api.get_opt(&desired.name).await
        {
            self.store.set_group(key, Some(&to_object(&pod_group_gvk(), found)));
        }
        let (write, is_stored) = {
            let stored = self.store.group(key).await;
            (merge(desired, stored.as_deref(), &self.settings), stored.is_some())
        };
        judge(desired, &write).map_err(|why| Failure::Wrong(format!("failed to write {why}")))?;
        if self.store.is_cut(key) || !self.store.has_room(key, write.bytes()) {
            return Err(Failure::Wrong(format!("PodGroup {key} has no room: {BULK}")));
        }
        let written = match write {
            Write::Nothing => return Ok(()),
            Write::Create(object) => match serde_json::from_value(object) {
                Ok(object) => api.create(&PostParams::default(), &object).await,
                Err(error) => return Err(Failure::Wrong(error.to_string())),
            },
            Write::Patch(patch) => {
                api.patch(&desired.name, &PatchParams::default(), &Patch::Merge(&patch)).await
            }
        };
        match written {
            Ok(written) => {
                self.store.update_group(key, &to_object(&pod_group_gvk(), written));
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                // Another instance made or changed it: what is there now is the base of the next
                // round, whenever the watch comes.
                if let Ok(Some(found)) = api.get_opt(&desired.name).await {
                    self.store.set_group(key, Some(&to_object(&pod_group_gvk(), found)));
                }
                Err(Failure::Conflict)
            }
            Err(kube::Error::Api(status)) if status.code == 404 && is_stored => {
                self.store.set_group(key, None);
                Err(Failure::Conflict)
            }
            Err(error) => {
                let why = format!("failed to write PodGroup {key}: {}", text(&error));
                Err(failure(&error, why))
            }
        }
    }

    fn groups(&self, namespace: &str) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk("scheduling.run.ai", "v2alpha2", "PodGroup");
        Api::namespaced_with(self.client.clone(), namespace, &ApiResource::from_gvk(&gvk))
    }
}
