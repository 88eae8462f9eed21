//! Pods that have to be looked at again when an object changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cache::ObjectKey;
use crate::store::{Key, Store};

/// Number of pods beyond twice those that were there last.
const SLACK: usize = 10_000;

/// Pods that were grouped by what an object said, each in its last round. A user may have a pod name one object after the
/// other, none of which is to be kept for as long as the pod is there.
#[derive(Debug, Default)]
pub(crate) struct Dependents {
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    pods: HashMap<Arc<ObjectKey>, BTreeSet<Key>>,
    /// The objects by which each pod was grouped.
    objects: HashMap<Key, Vec<Arc<ObjectKey>>>,
    /// Those of the round before, of each pod that is looked at just now.
    before: HashMap<Key, Vec<Arc<ObjectKey>>>,
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
        self.objects.retain(|pod, _| store.pod(pod).is_some());
        self.pods.retain(|_, pods| {
            pods.retain(|pod| store.pod(pod).is_some());
            !pods.is_empty()
        });
        self.count = self.pods.values().map(BTreeSet::len).sum();
        self.kept = self.count;
    }
}

impl Dependents {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a round on a pod begins.
    pub(crate) fn begin(&self, pod: &Key) {
        let mut rows = self.rows();
        if let Some(objects) = rows.objects.remove(pod) {
            rows.before.insert(pod.clone(), objects);
        }
    }

    /// Notes that the pod was grouped by the object.
    pub(crate) fn add(&self, object: &ObjectKey, pod: &Key, store: &Store) {
        let mut rows = self.rows();
        let known = rows.pods.get_key_value(object);
        let is_there = known.is_some_and(|(_, pods)| pods.contains(pod));
        let object = known.map_or_else(|| Arc::new(object.clone()), |(key, _)| Arc::clone(key));
        let own = rows.objects.entry(pod.clone()).or_default();
        if !is_there || !own.contains(&object) {
            own.push(Arc::clone(&object));
        }
        if !is_there {
            rows.pods.entry(object).or_default().insert(pod.clone());
            rows.count += 1;
            rows.sweep(store);
        }
    }

    /// Forgets what a pod was grouped by before the round that ends, and not in it. A round that failed before it came to an
    /// object is tried again whatever changes.
    pub(crate) fn end(&self, pod: &Key) {
        let mut rows = self.rows();
        let Rows { pods, objects, before, count, .. } = &mut *rows;
        let now = objects.get(pod).map_or(&[][..], Vec::as_slice);
        for object in before.remove(pod).into_iter().flatten() {
            if now.contains(&object) {
                continue;
            }
            let Some(dependents) = pods.get_mut(&*object) else { continue };
            *count -= usize::from(dependents.remove(pod));
            if dependents.is_empty() {
                pods.remove(&*object);
            }
        }
    }

    /// The pods to look at again when an object changed; those that are gone are dropped.
    pub(crate) fn of(&self, object: &ObjectKey, store: &Store) -> Vec<Key> {
        let mut rows = self.rows();
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

    #[test]
    fn what_a_pod_was_grouped_by_before_is_forgotten() {
        let (store, dependents) = (Store::default(), Dependents::default());
        let pod = Pod { namespace: "n".into(), name: "p".into(), ..Pod::default() };
        let pod = Key::of(&store.set_pod(pod, Usage::default()).0);
        for number in 0..100 {
            dependents.begin(&pod);
            let last = number.to_string();
            for name in ["top", last.as_str(), "top"] {
                dependents.add(&job(name), &pod, &store);
            }
            dependents.end(&pod);
        }
        let counts = dependents.rows.lock().map_or((0, 0, 0), |rows| {
            (rows.pods.len(), rows.objects.values().map(Vec::len).sum::<usize>(), rows.count)
        });
        assert_eq!(counts, (2, 2, 2));
        let of = |name: &str| dependents.of(&job(name), &store);
        assert_eq!((of("top"), of("99"), of("98")), (vec![pod.clone()], vec![pod], vec![]));
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
