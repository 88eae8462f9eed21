//! Pods that have to be looked at again when an object changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use crate::cache::ObjectKey;
use crate::store::{Key, Store};

/// Number of pods beyond twice those that were there last.
const SLACK: usize = 10_000;

/// Pods that were grouped by what an object said.
#[derive(Debug, Default)]
pub(crate) struct Dependents {
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    pods: HashMap<ObjectKey, BTreeSet<Key>>,
    /// Number of pods in all rows, some of them gone, and the number after the last sweep.
    count: usize,
    kept: usize,
}

impl Rows {
    /// Drops the pods that are gone, each time that the rows have doubled.
    fn sweep(&mut self, store: &Store) {
        if self.count <= 2 * self.kept + SLACK {
            return;
        }
        self.pods.retain(|_, pods| {
            pods.retain(|pod| store.pod(pod).is_some());
            !pods.is_empty()
        });
        self.count = self.pods.values().map(BTreeSet::len).sum();
        self.kept = self.count;
    }
}

impl Dependents {
    /// Notes that the pod was grouped by the object.
    pub(crate) fn add(&self, object: &ObjectKey, pod: &Key, store: &Store) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = match rows.pods.get_mut(object) {
            Some(pods) => !pods.contains(pod) && pods.insert(pod.clone()),
            None => rows.pods.entry(object.clone()).or_default().insert(pod.clone()),
        };
        if is_new {
            rows.count += 1;
            rows.sweep(store);
        }
    }

    /// The pods to look at again when an object changed; those that are gone are dropped.
    pub(crate) fn of(&self, object: &ObjectKey, store: &Store) -> Vec<Key> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pods) = rows.pods.get_mut(object) else { return Vec::new() };
        pods.retain(|pod| store.pod(pod).is_some());
        let pods: Vec<Key> = pods.iter().cloned().collect();
        if pods.is_empty() {
            rows.pods.remove(object);
        }
        pods
    }
}

#[cfg(test)]
mod tests {
    use super::{Dependents, SLACK};
    use crate::cache::ObjectKey;
    use crate::object::Gvk;
    use crate::pod::Pod;
    use crate::status::Usage;
    use crate::store::{Key, Store};

    fn job(name: &str) -> ObjectKey {
        let gvk = Gvk::new("batch/v1", "Job");
        ObjectKey { gvk, namespace: "n".to_owned(), name: name.to_owned() }
    }

    /// Jobs come and go, and nobody tells when the last pod of one is gone.
    #[test]
    fn pods_that_are_gone_are_forgotten() {
        let (store, dependents) = (Store::default(), Dependents::default());
        let kept = Pod { namespace: "n".into(), name: "kept".into(), ..Pod::default() };
        let kept = Key::of(&store.set_pod(kept, Usage::default()).0);
        dependents.add(&job("kept"), &kept, &store);
        for number in 0..2 * SLACK {
            let name = number.to_string();
            dependents.add(&job(&name), &Key::new("n", &name), &store);
        }
        let rows = dependents.rows.lock().map_or(0, |rows| rows.pods.len());
        assert!(rows <= SLACK + 1, "{rows}");
        assert_eq!(dependents.of(&job("kept"), &store), [kept]);
    }

    /// A sweep goes through all rows, so that one with each pod would cost their square.
    #[test]
    fn after_a_sweep_the_rows_double_before_the_next() {
        let (store, dependents) = (Store::default(), Dependents::default());
        let pod = Pod { namespace: "n".into(), name: "kept".into(), ..Pod::default() };
        let pod = Key::of(&store.set_pod(pod, Usage::default()).0);
        for number in 0..=SLACK {
            dependents.add(&job(&number.to_string()), &pod, &store);
        }
        let rows = dependents.rows.lock().map_or((0, 0), |rows| (rows.count, rows.kept));
        assert_eq!(rows, (SLACK + 1, SLACK + 1), "all of them were swept, and none was gone");
    }
}
