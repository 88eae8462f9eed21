//! Objects that the watches deliver: pods, `PodGroup`s, priority classes, queues.
//!
//! A pod costs some hundred bytes here (a test below counts them): its name and UID are its own, all else it shares
//! with the pods that have the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kai_api::names::{self, value};
use serde_json::{Value, json};

use crate::interner::Interner;
use crate::object::Object;
use crate::pod::Pod;
use crate::sought::Sought;
use crate::status::{Unplanned, Usage};
use crate::texts::Common;

mod labelled;
mod opened;
mod room;
mod unplanned;

use labelled::Labelled;
use opened::Opened;
use room::Rooms;
use unplanned::Table;

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

    /// The key of a pod; it takes no memory beside the pod.
    pub(crate) fn of(pod: &Pod) -> Self {
        Self { namespace: pod.namespace.clone(), name: pod.name.clone() }
    }
}

impl crate::queue::Tenant for Key {
    fn tenant(&self) -> &Arc<str> {
        &self.namespace
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// The stored objects. Every method is short and takes the lock once.
#[derive(Debug, Default)]
pub(crate) struct Store {
    inner: Mutex<Inner>,
    opened: Opened,
}

#[derive(Debug, Default)]
struct Inner {
    pods: HashMap<Key, Row>,
    labelled: Labelled,
    groups: BTreeMap<Key, Packed>,
    /// The groups that have no sub-groups.
    flat: BTreeSet<Key>,
    rooms: Rooms,
    /// Pods by `PodGroup`: namespace, name of the group, name of the pod.
    members: BTreeSet<[Arc<str>; 3]>,
    unplanned: Table,
    classes: HashMap<String, Arc<Object>>,
    queues: BTreeMap<String, Arc<Object>>,
    common: Common,
    usages: Interner<Usage>,
}

/// A pod and its part in the status of its group.
#[derive(Debug)]
struct Row {
    pod: Arc<Pod>,
    usage: Arc<Usage>,
}

/// A stored object as text, which takes a quarter of what a tree takes, and of many small rows a fortieth. It is read in some
/// microseconds.
#[derive(Debug, Clone)]
struct Packed {
    text: Arc<str>,
    has_subgroups: bool,
    /// True if its metadata alone is kept.
    is_cut: bool,
    /// Its resource version, 0 where that is no number.
    version: u64,
    /// The digest of what was wanted when it was found to be as wanted last.
    as_wanted: Option<u64>,
    /// The priority class by which it may be evicted or not, empty where it names none; none where it says that itself.
    class: Option<Arc<str>>,
}

/// Of the groups of more text than this the last is kept as a tree besides: each pod of a large gang reads its group.
const SMALL_BYTES_MAX: usize = 4096;
/// A group of more text than this takes some megabytes as a tree.
const LARGE_BYTES_MIN: usize = 1 << 16;
/// No priority class has a longer name.
const CLASS_BYTES_MAX: usize = 253;
/// So many groups are named to who asks for those of a workload.
const NAMED_MAX: usize = 64;

impl Packed {
    fn of(object: &Object) -> Self {
        let rows = object.value()["spec"]["subGroups"].as_array();
        let has_subgroups = rows.is_some_and(|rows| !rows.is_empty());
        let version = version_of(object);
        let text = object.value().to_string().into();
        let class = class_of(&object.value()["spec"]).map(Arc::from);
        Self { text, has_subgroups, is_cut: false, version, as_wanted: None, class }
    }

    /// A group that has no room: what accounts need of it.
    fn cut(object: &Object) -> Self {
        let all = object.value();
        let metadata =
            ["namespace", "name", "uid", "resourceVersion"].map(|key| (key, &all["metadata"][key]));
        let spec = ["queue", "priorityClassName", "preemptibility"].map(|key| {
            let text = all["spec"][key].as_str();
            (key, text.filter(|text| text.len() < SMALL_BYTES_MAX).map(|text| json!(text)))
        });
        let value = json!({"metadata": HashMap::from(metadata), "spec": HashMap::from(spec),
            "status": all["status"]});
        Self { is_cut: true, ..Self::of(&Object::new(value)) }
    }

    fn open(&self) -> Arc<Object> {
        let value = serde_json::from_str(&self.text).expect("it was written from JSON");
        Arc::new(Object::new(value))
    }
}

/// The priority class that decides whether a group with this spec may be evicted, empty where it names none that there may
/// be; none where it says that itself.
fn class_of(spec: &Value) -> Option<&str> {
    let says_itself = matches!(
        spec["preemptibility"].as_str(),
        Some(value::PREEMPTIBLE | value::NON_PREEMPTIBLE)
    );
    let class = spec["priorityClassName"].as_str().unwrap_or_default();
    (!says_itself).then_some(if class.len() <= CLASS_BYTES_MAX { class } else { "" })
}

/// The resource version of a group, 0 where that is no number.
fn version_of(group: &Object) -> u64 {
    group.resource_version().parse().unwrap_or(0)
}

/// Holds what of a priority class groups depend on: its value, and whether it is for those that name none.
fn facts(class: &Object) -> (Option<i64>, bool) {
    (class.value()["value"].as_i64(), class.value()["globalDefault"] == true)
}

/// The `PodGroup` that a pod is marked with.
pub(crate) fn group_of(pod: &Pod) -> Option<Key> {
    let name = pod.annotations.shared(names::annotation::POD_GROUP)?;
    Some(Key { namespace: pod.namespace.clone(), name: name.clone() })
}

impl Store {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pod(&self, key: &Key) -> Option<Arc<Pod>> {
        self.inner().pods.get(key).map(|row| row.pod.clone())
    }

    /// Stores a pod and its usage; returns the pod as it is kept, and the one before.
    pub(crate) fn set_pod(&self, pod: Pod, usage: Usage) -> (Arc<Pod>, Option<Arc<Pod>>) {
        let mut inner = self.inner();
        let usage = inner.usages.intern(Arc::new(usage));
        inner.put(pod, usage)
    }

    /// Replaces a pod, unless another version of it came meanwhile.
    pub(crate) fn amend_pod(&self, before: &Arc<Pod>, pod: Pod) {
        let mut inner = self.inner();
        let Some(row) = inner.pods.get(&Key::of(before)) else { return };
        if Arc::ptr_eq(&row.pod, before) {
            let usage = row.usage.clone();
            inner.put(pod, usage);
        }
    }

    /// Removes a pod; returns it.
    pub(crate) fn remove_pod(&self, key: &Key) -> Option<Arc<Pod>> {
        let mut inner = self.inner();
        let row = inner.pods.remove(key)?;
        inner.index(&row.pod, false);
        inner.unplanned.remove(&row.usage);
        inner.rooms.remove_pod(&key.namespace);
        Some(row.pod)
    }

    /// The pods that are looked for among those of a namespace that carry these labels; by the index where there is one.
    ///
    /// Cost: what rules look for is found without a look at the others.
    pub(crate) fn pods_with(
        &self,
        namespace: &str,
        labels: &[(String, String)],
        sought: &Sought,
    ) -> Vec<Arc<Pod>> {
        let inner = self.inner();
        let fits = |pod: &Arc<Pod>| {
            labels.iter().all(|(key, value)| pod.label(key) == Some(value.as_str()))
        };
        let mut found: Vec<&Arc<Pod>> = Vec::new();
        if let Some(names) = inner.labelled.candidates(namespace, labels, sought) {
            let namespace: Arc<str> = namespace.into();
            let keys = names.into_iter().map(|name| Key { namespace: namespace.clone(), name });
            found.extend(keys.filter_map(|key| inner.pods.get(&key)).map(|row| &row.pod));
        } else {
            let here = inner.pods.iter().filter(|(key, _)| *key.namespace == *namespace);
            found.extend(here.map(|(_, row)| &row.pod));
        }
        found.retain(|pod| fits(pod));
        found.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        sought.pick(found.into_iter())
    }

    /// Pods that are marked as members of a `PodGroup`.
    pub(crate) fn members(&self, group: &Key) -> Vec<Key> {
        let first = [group.namespace.clone(), group.name.clone(), Arc::from("")];
        let inner = self.inner();
        let rows = inner.members.range(first..).take_while(|[namespace, name, _]| {
            *namespace == group.namespace && *name == group.name
        });
        rows.map(|[namespace, _, pod]| Key { namespace: namespace.clone(), name: pod.clone() })
            .collect()
    }

    /// Keys of all pods.
    pub(crate) fn pod_keys(&self) -> Vec<Key> {
        self.inner().pods.keys().cloned().collect()
    }

    fn packed(&self, key: &Key) -> Option<Packed> {
        self.inner().groups.get(key).cloned()
    }

    /// Reads a group; a large one in turns with others.
    pub(crate) async fn group(&self, key: &Key) -> Option<Arc<Object>> {
        let packed = self.packed(key)?;
        Some(self.opened.tree(packed).await)
    }

    /// Reads a group for whoever cannot wait, and looks at it once.
    pub(crate) fn group_at_once(&self, key: &Key) -> Option<Arc<Object>> {
        let packed = self.packed(key)?;
        Some(self.opened.kept(&packed).unwrap_or_else(|| packed.open()))
    }

    /// Tells whether a group takes much memory while it is read.
    pub(crate) fn is_large(&self, key: &Key) -> bool {
        self.packed(key).is_some_and(|packed| packed.text.len() >= LARGE_BYTES_MIN)
    }

    /// Tells whether a group was found to be as wanted, by the digest of that, and did not change since.
    pub(crate) fn is_as_wanted(&self, key: &Key, digest: u64) -> bool {
        self.inner().groups.get(key).is_some_and(|group| group.as_wanted == Some(digest))
    }

    /// Notes that a group was found to be as wanted, unless another version of it came meanwhile.
    pub(crate) fn note_as_wanted(&self, key: &Key, found: &Object, digest: u64) {
        let version = version_of(found);
        let mut inner = self.inner();
        let group = inner.groups.get_mut(key);
        if let Some(group) = group.filter(|group| version != 0 && group.version == version) {
            group.as_wanted = Some(digest);
        }
    }

    /// Tells whether a group of so much text has room beside the others of its namespace.
    pub(crate) fn has_room(&self, key: &Key, bytes: usize) -> bool {
        self.inner().has_room(key, bytes)
    }

    /// Tells whether a group had no room when it was told of.
    pub(crate) fn is_cut(&self, key: &Key) -> bool {
        self.inner().groups.get(key).is_some_and(|group| group.is_cut)
    }

    /// Names the `PodGroups` of a namespace that have no sub-groups, by the beginning of their names: some of them, and nothing
    /// else that they say.
    pub(crate) fn flat_groups(&self, namespace: &str, prefix: &str) -> Vec<Arc<Object>> {
        let inner = self.inner();
        let rows = inner.flat.range(Key::new(namespace, prefix)..);
        rows.take_while(|key| *key.namespace == *namespace && key.name.starts_with(prefix))
            .take(NAMED_MAX)
            .map(|key| {
                let metadata = json!({"namespace": &*key.namespace, "name": &*key.name});
                Arc::new(Object::new(json!({"metadata": metadata})))
            })
            .collect()
    }

    pub(crate) fn set_group(&self, key: &Key, group: Option<&Object>) {
        let packed = group.map(|group| (Packed::of(group), group));
        let mut inner = self.inner();
        match packed {
            Some((packed, group)) => inner.put_group(key, packed, group),
            None => inner.remove_group(key),
        }
    }

    /// Stores a group, unless a later version of it is stored; tells whether it did. A watch tells of own writes after later ones
    /// were answered.
    pub(crate) fn update_group(&self, key: &Key, group: &Object) -> bool {
        let packed = Packed::of(group);
        let mut inner = self.inner();
        let is_older = |stored: &Packed| packed.version != 0 && packed.version < stored.version;
        if inner.groups.get(key).is_some_and(is_older) {
            return false;
        }
        inner.put_group(key, packed, group);
        true
    }

    pub(crate) fn group_keys(&self) -> Vec<Key> {
        self.inner().groups.keys().cloned().collect()
    }

    pub(crate) fn class(&self, name: &str) -> Option<Arc<Object>> {
        self.inner().classes.get(name).cloned()
    }

    /// Stores a priority class, or takes it out; returns the groups of which it may decide something else since.
    ///
    /// Cost: in the groups, where something about it changed.
    pub(crate) fn set_class(&self, name: &str, class: Option<Arc<Object>>) -> Vec<Key> {
        let mut inner = self.inner();
        let now = class.as_deref().map(facts);
        let before = match class {
            Some(class) => inner.classes.insert(name.to_owned(), class),
            None => inner.classes.remove(name),
        };
        let before = before.as_deref().map(facts);
        if before == now {
            return Vec::new();
        }
        // The default is for whoever names a class that is missing, too.
        let is_default = [before, now].into_iter().flatten().any(|(_, is_default)| is_default);
        let hangs_on_it = |group: &Packed| {
            group.class.as_deref().is_some_and(|class| is_default || class == name)
        };
        let groups = inner.groups.iter().filter(|(_, group)| hangs_on_it(group));
        groups.map(|(key, _)| key.clone()).collect()
    }

    /// The class of groups that name none, where the cluster has one: the least of several, as Kubernetes has it.
    pub(crate) fn default_class(&self) -> Option<Arc<Object>> {
        let inner = self.inner();
        let rows = inner.classes.iter();
        let defaults = rows.filter(|(_, class)| class.value()["globalDefault"] == true);
        let least = defaults.min_by_key(|(name, class)| (class.value()["value"].as_i64(), *name));
        least.map(|(_, class)| class.clone())
    }

    /// All queues by name.
    pub(crate) fn queues(&self) -> BTreeMap<String, Arc<Object>> {
        self.inner().queues.clone()
    }

    pub(crate) fn queue(&self, name: &str) -> Option<Arc<Object>> {
        self.inner().queues.get(name).cloned()
    }

    pub(crate) fn set_queue(&self, name: &str, queue: Option<Arc<Object>>) {
        let mut inner = self.inner();
        match queue {
            Some(queue) => inner.queues.insert(name.to_owned(), queue),
            None => inner.queues.remove(name),
        };
    }

    /// Replaces all queues.
    pub(crate) fn set_queues(&self, queues: BTreeMap<String, Arc<Object>>) {
        self.inner().queues = queues;
    }

    /// Gives what a pod asks for and has.
    pub(crate) fn usage(&self, pod: &Key) -> Option<Arc<Usage>> {
        self.inner().pods.get(pod).map(|row| row.usage.clone())
    }

    /// Gives the first pods that were put on a node past the scheduler, with what each asks for.
    pub(crate) fn unplanned_on(&self, node: &str) -> Vec<(Arc<Unplanned>, Arc<Usage>)> {
        self.inner().unplanned.first_on(node)
    }

    /// The groups of such pods of a node.
    pub(crate) fn unplanned_groups(&self, node: &str) -> BTreeSet<Key> {
        self.inner().unplanned.groups_on(node)
    }

    /// Takes the groups of such pods that may hold more or less since the last call, as others of their nodes came or went.
    pub(crate) fn take_moved(&self) -> BTreeSet<Key> {
        self.inner().unplanned.take_moved()
    }

    pub(crate) fn class_names(&self) -> Vec<String> {
        self.inner().classes.keys().cloned().collect()
    }
}

impl Inner {
    fn put_group(&mut self, key: &Key, packed: Packed, group: &Object) {
        let has_room = self.has_room(key, packed.text.len());
        let kept = if has_room { packed } else { Packed::cut(group) };
        let before = self.bytes_of(key);
        self.rooms.replace(&key.namespace, before, kept.text.len());
        edit(&mut self.flat, key.clone(), !kept.has_subgroups);
        self.groups.insert(key.clone(), kept);
    }

    fn remove_group(&mut self, key: &Key) {
        let before = self.bytes_of(key);
        self.rooms.replace(&key.namespace, before, 0);
        self.flat.remove(key);
        self.groups.remove(key);
    }

    fn bytes_of(&self, key: &Key) -> usize {
        self.groups.get(key).map_or(0, |group| group.text.len())
    }

    fn has_room(&self, key: &Key, bytes: usize) -> bool {
        self.rooms.allows(&key.namespace, self.bytes_of(key), bytes)
    }

    fn put(&mut self, mut pod: Pod, usage: Arc<Usage>) -> (Arc<Pod>, Option<Arc<Pod>>) {
        let mut key = Key::of(&pod);
        if let Some((known, _)) = self.pods.get_key_value(&key) {
            // Its name lies where other tables hold it already.
            key = known.clone();
            pod.name = key.name.clone();
        }
        self.common.share(&mut pod);
        key.namespace = pod.namespace.clone();
        let pod = Arc::new(pod);
        let group = usage.unplanned.as_ref().and_then(|_| group_of(&pod));
        let known = self.pods.get(&key).map(|row| &*row.usage);
        self.unplanned.replace(known, &usage, group);
        let before = self.pods.insert(key, Row { pod: pod.clone(), usage }).map(|row| row.pod);
        match &before {
            Some(before) => self.index(before, false),
            None => self.rooms.add_pod(&pod.namespace),
        }
        self.index(&pod, true);
        (pod, before)
    }

    /// Enters a pod into the tables by label and by group, or takes it out.
    fn index(&mut self, pod: &Pod, is_new: bool) {
        self.labelled.edit(pod, is_new);
        if let Some(group) = group_of(pod) {
            edit(&mut self.members, [group.namespace, group.name, pod.name.clone()], is_new);
        }
    }
}

fn edit<T: Ord>(set: &mut BTreeSet<T>, entry: T, is_new: bool) {
    if is_new {
        set.insert(entry);
    } else {
        set.remove(&entry);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;
    use std::sync::Arc;

    use futures::FutureExt;
    use serde_json::json;

    use super::room::BULKY_BYTES_MIN;
    use super::{Key, NAMED_MAX, Row, Store};
    use crate::object::Object;
    use crate::pod::Pod;
    use crate::status::Usage;

    fn pod(number: usize, group: &str) -> (Pod, Usage) {
        let value = json!({
            "metadata": {"namespace": "n", "name": format!("p-{number}"),
                "uid": uuid::Uuid::from_u128(number as u128).to_string(),
                "labels": {"job": "j", "index": (number % 10).to_string()},
                "annotations": {"pod-group-name": group, "received-resource-type": "Regular"},
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}]},
            "spec": {"nodeName": format!("n-{}", number % 3),
                "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
            "status": {"phase": if number.is_multiple_of(2) { "Running" } else { "Pending" }},
        });
        (Pod::from_value(&value), Usage::of(&value))
    }

    /// Each pod of a large gang reads its group, which is not read as text each time.
    #[test]
    fn a_large_group_is_opened_once_for_all_who_ask_in_a_row() {
        let store = Store::default();
        let group = |name: &str, rows: usize| {
            let rows: Vec<_> = (0..rows).map(|row| json!({"name": format!("s-{row}")})).collect();
            let value =
                json!({"metadata": {"namespace": "n", "name": name}, "spec": {"subGroups": rows}});
            store.set_group(&Key::new("n", name), Some(&Object::new(value)));
        };
        let asked = |name: &str| store.group(&Key::new("n", name)).now_or_never().flatten();
        let open = |name: &str| asked(name).expect("it is stored");
        group("large", 1_000);
        group("small", 1);
        let first = open("large");
        assert!(!Arc::ptr_eq(&open("small"), &open("small")));
        assert!(Arc::ptr_eq(&first, &open("large")));
        group("large", 2_000);
        assert_eq!(
            open("large").value()["spec"]["subGroups"].as_array().map(Vec::len),
            Some(2_000)
        );
        store.set_group(&Key::new("n", "large"), None);
        assert!(asked("large").is_none());
    }

    /// A `JobSet` asks for its groups of the older shape: all of its others, with ten thousand sub-groups each, would be in memory.
    #[test]
    fn groups_without_sub_groups_are_named_and_no_others() {
        let store = Store::default();
        let group = |name: &str, spec: serde_json::Value| {
            let value = json!({"metadata": {"namespace": "n", "name": name}, "spec": spec});
            store.set_group(&Key::new("n", name), Some(&Object::new(value)));
        };
        group("pg-s", json!({"subGroups": [{"name": "w"}]}));
        group("pg-s-a", json!({"subGroups": []}));
        group("pg-s-b", json!({"minMember": 1}));
        group("pg-t", json!({}));
        let found = store.flat_groups("n", "pg-s");
        assert_eq!(
            found.iter().map(|group| group.name()).collect::<Vec<_>>(),
            ["pg-s-a", "pg-s-b"]
        );
        assert!(found.iter().all(|group| group.value()["spec"].is_null()));
        for count in 0..2 * NAMED_MAX {
            group(&format!("pg-s-{count}"), json!({}));
        }
        assert_eq!(store.flat_groups("n", "pg-s").len(), NAMED_MAX);
    }

    /// Whoever has many with sub-groups would have each of its pods look at all of them.
    #[test]
    fn a_group_is_named_while_it_is_there_and_has_no_sub_groups() {
        let store = Store::default();
        let key = Key::new("n", "pg-s");
        for (spec, count) in [
            (Some(json!({})), 1),
            (Some(json!({"subGroups": [{"name": "w"}]})), 0),
            (Some(json!({"subGroups": []})), 1),
            (None, 0),
        ] {
            let group = spec.map(|spec| {
                let metadata = json!({"namespace": "n", "name": "pg-s"});
                Object::new(json!({"metadata": metadata, "spec": spec}))
            });
            store.set_group(&key, group.as_ref());
            assert_eq!(store.flat_groups("n", "pg-s").len(), count, "{group:?}");
            assert_eq!(store.inner().flat.len(), count, "nobody looks at what is not named");
        }
    }

    /// A finding of one round holds for the others of the gang, and no longer than the group is as it was.
    #[test]
    fn a_group_is_as_wanted_until_it_changes_or_another_thing_is_wanted() {
        let (store, key) = (Store::default(), Key::new("n", "g"));
        let group = |version: &str| {
            let metadata = json!({"namespace": "n", "name": "g", "resourceVersion": version});
            Object::new(json!({"metadata": metadata}))
        };
        let is_known = || [1, 2].map(|digest| store.is_as_wanted(&key, digest));
        store.set_group(&key, Some(&group("7")));
        assert_eq!(is_known(), [false, false]);
        store.note_as_wanted(&key, &group("6"), 1);
        assert_eq!(is_known(), [false, false], "another version was looked at");
        store.note_as_wanted(&key, &group("7"), 1);
        assert_eq!(is_known(), [true, false]);
        store.note_as_wanted(&key, &group("7"), 2);
        assert_eq!(is_known(), [false, true]);
        store.set_group(&key, Some(&group("8")));
        assert_eq!(is_known(), [false, false]);
        // What has no version cannot be told from what it was before.
        store.set_group(&key, Some(&group("")));
        store.note_as_wanted(&key, &group(""), 1);
        assert_eq!(is_known(), [false, false]);
        store.set_group(&key, None);
        store.note_as_wanted(&key, &group("8"), 1);
        assert_eq!(is_known(), [false, false]);
    }

    /// A pod of a kilobyte may name an owner of which each pod has a group of a megabyte.
    #[test]
    fn large_groups_of_a_namespace_have_room_for_its_pods_and_some_more() {
        let store = Store::default();
        let text = "x".repeat(1 << 20);
        let group = |namespace: &str, name: usize| {
            let name = format!("g-{name}");
            let metadata = json!({"namespace": namespace, "name": name, "resourceVersion": "7"});
            let key = Key::new(namespace, &name);
            let value = json!({"metadata": metadata, "spec": {"queue": text}});
            store.set_group(&key, Some(&Object::new(value)));
            key
        };
        let kept: Vec<bool> = (0..20).map(|name| !store.is_cut(&group("n", name))).collect();
        assert_eq!(kept.iter().filter(|is_kept| **is_kept).count(), 15);
        let large = group("n", 19);
        assert!(store.is_cut(&large) && !store.has_room(&large, BULKY_BYTES_MIN << 6));
        let read = store.group_at_once(&large);
        assert_eq!(read.map(|group| group.resource_version() == "7"), Some(true));
        // Those of others do not count, nor those that are small, nor what is there anyway.
        assert!(!store.is_cut(&group("o", 0)) && store.has_room(&large, BULKY_BYTES_MIN - 1));
        assert!(!store.is_cut(&group("n", 0)));
        // A gang of very many pods has room for its group.
        for number in 0..1_000 {
            let (pod, usage) = pod(number, "g");
            store.set_pod(pod, usage);
        }
        assert!(!store.is_cut(&group("n", 19)) && store.is_cut(&group("n", 18)));
        // Each pod counts once, however often it is told of, and not any more when it is gone.
        for number in 0..1_000 {
            let (pod, usage) = pod(number, "g");
            store.set_pod(pod, usage);
        }
        assert!(store.is_cut(&group("n", 18)));
        for number in 0..1_000 {
            assert!(store.remove_pod(&Key::new("n", &format!("p-{number}"))).is_some());
        }
        assert!(store.is_cut(&group("n", 19)));
    }

    /// Two pods of a gang that want different things of their group would write against each other, each time that the watch tells
    /// of the first of two writes.
    #[test]
    fn an_older_version_of_a_group_is_no_news() {
        let (store, key) = (Store::default(), Key::new("n", "g"));
        let version = || store.group_at_once(&key).map(|group| group.resource_version().to_owned());
        for (told, is_news, stored) in [
            ("9", true, "9"),
            ("10", true, "10"),
            ("9", false, "10"),
            ("10", true, "10"),
            ("x", true, "x"),
            ("1", true, "1"),
        ] {
            let value =
                json!({"metadata": {"namespace": "n", "name": "g", "resourceVersion": told}});
            assert_eq!(store.update_group(&key, &Object::new(value)), is_news, "{told}");
            assert_eq!(version().as_deref(), Some(stored));
        }
    }

    /// A mark is noted once it is written, and by then the watch may have told of a later version, or of another pod of the name.
    #[test]
    fn a_mark_is_noted_on_the_version_that_it_was_written_for() {
        let store = Store::default();
        let [before, now, marked] = ["", "x", "g"].map(|group| pod(0, group));
        let (before, _) = store.set_pod(before.0, before.1);
        let (now, _) = store.set_pod(now.0, now.1);
        let group = || store.pod(&Key::of(&now)).and_then(|pod| super::group_of(&pod));
        store.amend_pod(&before, marked.0.clone());
        assert_eq!(group(), Some(Key::new("n", "x")), "it is another version by now");
        store.amend_pod(&now, marked.0);
        assert_eq!(group(), Some(Key::new("n", "g")));
    }

    /// A pod takes few bytes for itself, so that 100,000 of them fit into some tens of megabytes. Whoever adds a field
    /// for every pod finds it here.
    #[test]
    fn a_pod_takes_few_bytes_and_shares_the_rest() {
        assert_eq!((size_of::<Pod>(), size_of::<Row>(), size_of::<Key>()), (152, 16, 32));
        let store = Store::default();
        let [(one, used), (other, as_much)] = [pod(0, "g"), pod(30, "g")];
        let (one, _) = store.set_pod(one, used);
        let (other, _) = store.set_pod(other, as_much);
        assert!(Arc::ptr_eq(&one.namespace, &other.namespace));
        assert!(Arc::ptr_eq(&one.node, &other.node));
        assert!(Arc::ptr_eq(&one.owners, &other.owners));
        let text = |pod: &Pod| pod.annotations.shared("pod-group-name").cloned();
        assert!(text(&one).zip(text(&other)).is_some_and(|(one, other)| Arc::ptr_eq(&one, &other)));
        let usage = |pod: &Pod| store.usage(&Key::of(pod));
        let used = usage(&one).zip(usage(&other));
        assert!(used.is_some_and(|(one, other)| Arc::ptr_eq(&one, &other)));
        // A name is stored once, whatever tables it stands in and however often the pod comes again.
        let (again, used) = pod(0, "g");
        let (again, before) = store.set_pod(again, used);
        assert!(Arc::ptr_eq(&again.name, &one.name) && before.is_some());
        let members = store.members(&Key::new("n", "g"));
        assert!(Arc::ptr_eq(&members[0].name, &one.name));
    }

    #[test]
    fn the_least_of_several_default_classes_counts() {
        let store = Store::default();
        for (name, value) in [("b", 50), ("a", 200), ("c", 100)] {
            let class = json!({"metadata": {"name": name}, "value": value, "globalDefault": true});
            store.set_class(name, Some(Arc::new(Object::new(class))));
        }
        assert_eq!(store.default_class().expect("there are three").name(), "b");
    }

    /// Sums of groups are made anew where their class comes, goes, or is made again with another value.
    #[test]
    fn a_class_that_changes_names_the_groups_that_hang_on_it() {
        let store = Store::default();
        for (name, spec) in [
            ("names-it", json!({"priorityClassName": "c"})),
            ("names-another", json!({"priorityClassName": "d"})),
            ("names-none", json!({})),
            ("says-itself", json!({"priorityClassName": "c", "preemptibility": "preemptible"})),
        ] {
            let value = json!({"metadata": {"namespace": "n", "name": name}, "spec": spec});
            store.set_group(&Key::new("n", name), Some(&Object::new(value)));
        }
        let check = |class: Option<(i64, bool)>, expect: &[&str]| {
            let class = class.map(|(value, is_default)| {
                let metadata = json!({"name": "c"});
                let value =
                    json!({"metadata": metadata, "value": value, "globalDefault": is_default});
                Arc::new(Object::new(value))
            });
            let groups = store.set_class("c", class);
            let names: Vec<&str> = groups.iter().map(|key| &*key.name).collect();
            assert_eq!(names, expect);
        };
        check(None, &[]);
        check(Some((50, false)), &["names-it"]);
        check(Some((50, false)), &[]);
        check(Some((100, false)), &["names-it"]);
        let by_default = ["names-another", "names-it", "names-none"];
        check(Some((100, true)), &by_default);
        check(None, &by_default);
    }

    #[test]
    fn tables_follow_the_pods() {
        let store = Store::default();
        for number in 0..4 {
            let (pod, usage) = pod(number, "g");
            store.set_pod(pod, usage);
        }
        let group = Key::new("n", "g");
        assert_eq!(store.members(&group).len(), 4);
        let (moved, usage) = pod(1, "h");
        store.set_pod(moved, usage);
        assert_eq!(store.members(&group).len(), 3);
        assert_eq!(store.members(&Key::new("n", "h")), [Key::new("n", "p-1")]);
        assert!(store.remove_pod(&Key::new("n", "p-0")).is_some());
        assert_eq!((store.members(&group).len(), store.pod_keys().len()), (2, 3));
        assert!(store.usage(&Key::new("n", "p-0")).is_none());
    }
}
