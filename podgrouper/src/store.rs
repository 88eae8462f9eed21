//! What the watches deliver: pods, `PodGroup`s, priority classes, queues.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::object::Object;
use crate::pod::Pod;
use crate::status::Usage;
use crate::texts::Common;
use kai_api::names;

/// Namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// Labels by which rules list pods.
const INDEXED: [&str; 2] = ["training.kubeflow.org/job-name", "serving.knative.dev/revision"];

/// The stored objects. Every method is short and takes the lock once.
#[derive(Debug, Default)]
pub(crate) struct Store {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    pods: HashMap<Key, Arc<Pod>>,
    by_label: BTreeMap<(Arc<str>, &'static str, String), BTreeSet<Key>>,
    groups: BTreeMap<Key, Arc<Object>>,
    members: HashMap<Key, BTreeSet<Key>>,
    classes: HashMap<String, Arc<Object>>,
    queues: BTreeMap<String, Arc<Object>>,
    usage: HashMap<Key, Arc<Usage>>,
    common: Common,
    /// The usage that was stored last: the next pod of a gang has the same.
    last_usage: Arc<Usage>,
}

/// The `PodGroup` that a pod is marked with.
pub(crate) fn group_of(key: &Key, pod: &Pod) -> Option<Key> {
    let name = pod.annotation(names::annotation::POD_GROUP)?;
    Some(Key { namespace: key.namespace.clone(), name: name.into() })
}

impl Store {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pod(&self, key: &Key) -> Option<Arc<Pod>> {
        self.inner().pods.get(key).cloned()
    }

    /// A pod to be stored, which keeps for itself only what no other pod has.
    pub(crate) fn share(&self, mut pod: Pod) -> Arc<Pod> {
        self.inner().common.share(&mut pod);
        Arc::new(pod)
    }

    /// Replaces a pod, or removes it; returns the one before.
    pub(crate) fn set_pod(&self, key: &Key, pod: Option<&Arc<Pod>>) -> Option<Arc<Pod>> {
        let mut inner = self.inner();
        let before = if let Some(pod) = pod {
            inner.pods.insert(key.clone(), pod.clone())
        } else {
            inner.usage.remove(key);
            inner.pods.remove(key)
        };
        for (pod, is_new) in [(before.as_ref(), false), (pod, true)] {
            let Some(pod) = pod else { continue };
            for label in INDEXED {
                let Some(value) = pod.label(label) else { continue };
                let row = (key.namespace.clone(), label, value.to_owned());
                edit(inner.by_label.entry(row.clone()).or_default(), key, is_new);
                if inner.by_label[&row].is_empty() {
                    inner.by_label.remove(&row);
                }
            }
            if let Some(group) = group_of(key, pod) {
                let members = inner.members.entry(group.clone()).or_default();
                edit(members, key, is_new);
                if members.is_empty() {
                    inner.members.remove(&group);
                }
            }
        }
        before
    }

    /// All pods of a namespace that carry a label; by the index where there is one.
    pub(crate) fn pods_with(&self, namespace: &str, labels: &[(String, String)]) -> Vec<Arc<Pod>> {
        let inner = self.inner();
        let fits = |pod: &Arc<Pod>| {
            labels.iter().all(|(key, value)| pod.label(key) == Some(value.as_str()))
        };
        let indexed = labels.iter().find_map(|(key, value)| {
            let label = INDEXED.into_iter().find(|label| label == key)?;
            Some((Arc::from(namespace), label, value.clone()))
        });
        if let Some(row) = indexed {
            let keys = inner.by_label.get(&row).into_iter().flatten();
            keys.filter_map(|key| inner.pods.get(key)).filter(|pod| fits(pod)).cloned().collect()
        } else {
            let here = inner.pods.iter().filter(|(key, _)| *key.namespace == *namespace);
            here.map(|(_, pod)| pod).filter(|pod| fits(pod)).cloned().collect()
        }
    }

    /// Pods that are marked as members of a `PodGroup`.
    pub(crate) fn members(&self, group: &Key) -> Vec<Key> {
        self.inner().members.get(group).into_iter().flatten().cloned().collect()
    }

    /// Keys of all pods.
    pub(crate) fn pod_keys(&self) -> Vec<Key> {
        self.inner().pods.keys().cloned().collect()
    }

    pub(crate) fn group(&self, key: &Key) -> Option<Arc<Object>> {
        self.inner().groups.get(key).cloned()
    }

    /// `PodGroups` of a namespace by the beginning of their names.
    pub(crate) fn groups_with(&self, namespace: &str, prefix: &str) -> Vec<Arc<Object>> {
        let inner = self.inner();
        let rows = inner.groups.range(Key::new(namespace, prefix)..);
        rows.take_while(|(key, _)| *key.namespace == *namespace && key.name.starts_with(prefix))
            .map(|(_, group)| group.clone())
            .collect()
    }

    pub(crate) fn set_group(&self, key: &Key, group: Option<Arc<Object>>) {
        let mut inner = self.inner();
        match group {
            Some(group) => inner.groups.insert(key.clone(), group),
            None => inner.groups.remove(key),
        };
    }

    pub(crate) fn group_keys(&self) -> Vec<Key> {
        self.inner().groups.keys().cloned().collect()
    }

    pub(crate) fn class(&self, name: &str) -> Option<Arc<Object>> {
        self.inner().classes.get(name).cloned()
    }

    pub(crate) fn set_class(&self, name: &str, class: Option<Arc<Object>>) {
        let mut inner = self.inner();
        match class {
            Some(class) => inner.classes.insert(name.to_owned(), class),
            None => inner.classes.remove(name),
        };
    }

    /// The class of groups that name none, where the cluster has one.
    pub(crate) fn default_class(&self) -> Option<Arc<Object>> {
        let inner = self.inner();
        inner.classes.values().find(|class| class.value()["globalDefault"] == true).cloned()
    }

    /// All queues by name.
    pub(crate) fn queues(&self) -> BTreeMap<String, Arc<Object>> {
        self.inner().queues.clone()
    }

    pub(crate) fn set_queue(&self, name: &str, queue: Option<Arc<Object>>) {
        let mut inner = self.inner();
        match queue {
            Some(queue) => inner.queues.insert(name.to_owned(), queue),
            None => inner.queues.remove(name),
        };
    }

    /// What a pod asks for and has.
    pub(crate) fn usage(&self, pod: &Key) -> Option<Arc<Usage>> {
        self.inner().usage.get(pod).cloned()
    }

    pub(crate) fn set_usage(&self, pod: &Key, usage: Usage) {
        let mut inner = self.inner();
        if *inner.last_usage != usage {
            inner.last_usage = Arc::new(usage);
        }
        let usage = inner.last_usage.clone();
        inner.usage.insert(pod.clone(), usage);
    }

    pub(crate) fn class_names(&self) -> Vec<String> {
        self.inner().classes.keys().cloned().collect()
    }
}

fn edit(set: &mut BTreeSet<Key>, key: &Key, is_new: bool) {
    if is_new {
        set.insert(key.clone());
    } else {
        set.remove(key);
    }
}
