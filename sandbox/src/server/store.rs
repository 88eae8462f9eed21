//! Everything the server holds: one table a resource, one resourceVersion over all of them, and the last events
//! of each table, from which watches are served and older states are rebuilt.
//!
//! ```text
//! write --> Store::commit --> table (BTreeMap by namespace, name)
//!                        \--> history (ring of Arc<Event>) --> each watch reads from its own resourceVersion on
//! ```
//!
//! A watch is a position in the history, not a queue: a slow reader costs nothing and gets 410 when it falls out.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Notify;

use super::object::{self, Object};

/// A table: group and plural.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TableId {
    /// The API group; empty for core.
    pub(crate) group: Arc<str>,
    /// The plural.
    pub(crate) plural: Arc<str>,
}

impl TableId {
    /// Names a table.
    pub(crate) fn new(group: &str, plural: &str) -> Self {
        Self { group: group.into(), plural: plural.into() }
    }
}

/// An object of a table. Cluster-scoped objects have an empty namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Key {
    /// The namespace, or empty.
    pub(crate) namespace: String,
    /// The name.
    pub(crate) name: String,
}

impl Key {
    /// Names an object.
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The key under which `value` is stored.
    pub(crate) fn of(value: &Value) -> Self {
        Self::new(object::namespace(value), object::name(value))
    }
}

/// A change of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It came.
    Added,
    /// It changed.
    Modified,
    /// It went; the event's object is its last state, with the resourceVersion of the deletion.
    Deleted,
}

/// One write, as watches see it.
#[derive(Debug)]
pub(crate) struct Event {
    /// The change.
    pub(crate) change: Change,
    /// The state after the write (for a deletion: the last one).
    pub(crate) object: Arc<Object>,
    /// The state before the write.
    pub(crate) before: Option<Arc<Object>>,
}

/// One write, as a [`Witness`] is told of it.
#[derive(Debug)]
pub struct Write<'a> {
    /// The plural of its kind.
    pub plural: &'a str,
    /// The change.
    pub change: Change,
    /// The object after the write, as JSON; of a deletion the last one.
    pub object: &'a Value,
}

/// Witness of every write while it happens. It must not call the server.
#[derive(Clone)]
pub struct Witness(pub Arc<dyn Fn(&Write<'_>) + Send + Sync>);

impl std::fmt::Debug for Witness {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Witness")
    }
}

/// The objects of one resource and their recent history.
#[derive(Debug)]
pub(crate) struct Table {
    objects: BTreeMap<Key, Arc<Object>>,
    history: VecDeque<Arc<Event>>,
    /// The highest resourceVersion whose event has been dropped from the history.
    compacted: u64,
    /// Wakes watches at each write, in the order in which they began to wait.
    changed: Arc<Notify>,
}

impl Table {
    fn new(compacted: u64, objects: BTreeMap<Key, Arc<Object>>) -> Self {
        Self { objects, history: VecDeque::new(), compacted, changed: Arc::default() }
    }

    /// The objects of a namespace (all when empty), in order of namespace and name.
    pub(crate) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<Object>> {
        self.in_namespace_from(namespace, Key::new(namespace, ""))
    }

    /// Those of them from a key on.
    pub(crate) fn in_namespace_from(
        &self,
        namespace: &str,
        first: Key,
    ) -> impl Iterator<Item = &Arc<Object>> {
        let first = first.max(Key::new(namespace, ""));
        let namespace = namespace.to_owned();
        self.objects
            .range(first..)
            .take_while(move |(key, _)| namespace.is_empty() || key.namespace == namespace)
            .map(|(_, object)| object)
    }

    /// One object.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The events after `version`, oldest first, or `None` when some of them are gone.
    pub(crate) fn since(&self, version: u64) -> Option<impl Iterator<Item = &Arc<Event>>> {
        if version < self.compacted {
            return None;
        }
        let start = self.history.partition_point(|event| event.object.version <= version);
        Some(self.history.range(start..))
    }

    /// The objects as they were at `version`, or `None` when that is no longer known.
    pub(crate) fn at(&self, version: u64) -> Option<BTreeMap<Key, Arc<Object>>> {
        let mut undo: BTreeMap<Key, Option<Arc<Object>>> = BTreeMap::new();
        for event in self.since(version)? {
            undo.entry(Key::of(&event.object.value)).or_insert_with(|| event.before.clone());
        }
        let mut objects = self.objects.clone();
        for (key, before) in undo {
            match before {
                Some(before) => objects.insert(key, before),
                None => objects.remove(&key),
            };
        }
        Some(objects)
    }

    /// Wakes who waits when the table is written, and when it goes.
    pub(crate) fn changed(&self) -> &Arc<Notify> {
        &self.changed
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.changed.notify_waiters();
    }
}

/// A write as the built-in controllers are told of it, besides the watches.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// The table written.
    pub(crate) table: TableId,
    /// The event.
    pub(crate) event: Arc<Event>,
}

/// All tables.
#[derive(Debug)]
pub(crate) struct Store {
    version: u64,
    tables: BTreeMap<TableId, Table>,
    events_max: usize,
    by_uid: HashMap<String, (TableId, Key)>,
    dependents: HashMap<String, BTreeSet<(TableId, Key)>>,
    feed: tokio::sync::mpsc::UnboundedSender<Written>,
    /// Witness of every write.
    pub(crate) witness: Option<Witness>,
}

impl Store {
    /// An empty store that keeps `events_max` events a table and tells `feed` of every write.
    pub(crate) fn new(
        events_max: usize,
        feed: tokio::sync::mpsc::UnboundedSender<Written>,
    ) -> Self {
        Self {
            // The first versions of a real cluster are taken by its own start as well; 0 and 1 have special meanings.
            version: 100,
            tables: BTreeMap::new(),
            events_max: events_max.max(1),
            by_uid: HashMap::new(),
            dependents: HashMap::new(),
            feed,
            witness: None,
        }
    }

    /// A store of its own with the same objects, whose events all come after them.
    pub(crate) fn copy(
        &self,
        events_max: usize,
        feed: tokio::sync::mpsc::UnboundedSender<Written>,
    ) -> Self {
        let copy = |table: &Table| Table::new(self.version, table.objects.clone());
        Self {
            version: self.version,
            tables: self.tables.iter().map(|(id, table)| (id.clone(), copy(table))).collect(),
            by_uid: self.by_uid.clone(),
            dependents: self.dependents.clone(),
            ..Self::new(events_max, feed)
        }
    }

    /// The resourceVersion of the last write.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Makes a table; it stays empty until written.
    pub(crate) fn add_table(&mut self, id: TableId) {
        let version = self.version;
        self.tables.entry(id).or_insert_with(|| Table::new(version, BTreeMap::new()));
    }

    /// Removes a table and ends its watches. Its objects must be gone.
    pub(crate) fn drop_table(&mut self, id: &TableId) {
        self.tables.remove(id);
    }

    /// A table, when the resource is served.
    pub(crate) fn table(&self, id: &TableId) -> Option<&Table> {
        self.tables.get(id)
    }

    /// All tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&TableId, &Table)> {
        self.tables.iter()
    }

    /// One object.
    pub(crate) fn get(&self, id: &TableId, key: &Key) -> Option<&Arc<Object>> {
        self.tables.get(id)?.get(key)
    }

    /// Finds the object with this UID.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<&(TableId, Key)> {
        self.by_uid.get(uid)
    }

    /// The objects that name `uid` as an owner.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<(TableId, Key)> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Writes an object under its own name. The table must exist.
    pub(crate) fn put(&mut self, id: &TableId, value: Value) -> Arc<Object> {
        self.version += 1;
        let key = Key::of(&value);
        let object = Arc::new(Object::new(value, self.version));
        let table = self.tables.get_mut(id).expect("writes go to served resources");
        let before = table.objects.insert(key.clone(), Arc::clone(&object));
        self.index(id, &key, before.as_deref(), Some(&object));
        let change = if before.is_some() { Change::Modified } else { Change::Added };
        self.publish(id, Event { change, object: Arc::clone(&object), before });
        object
    }

    /// Removes an object; `last` is its state as the deletion's event shows it. The object must exist.
    pub(crate) fn remove(&mut self, id: &TableId, key: &Key, last: Value) -> Arc<Object> {
        self.version += 1;
        let object = Arc::new(Object::new(last, self.version));
        let table = self.tables.get_mut(id).expect("writes go to served resources");
        let before = table.objects.remove(key);
        self.index(id, key, before.as_deref(), None);
        self.publish(id, Event { change: Change::Deleted, object: Arc::clone(&object), before });
        object
    }

    fn publish(&mut self, id: &TableId, event: Event) {
        let events_max = self.events_max;
        if let Some(Witness(tell)) = &self.witness {
            tell(&Write { plural: &id.plural, change: event.change, object: &event.object.value });
        }
        let event = Arc::new(event);
        let table = self.tables.get_mut(id).expect("writes go to served resources");
        table.history.push_back(Arc::clone(&event));
        while table.history.len() > events_max {
            if let Some(dropped) = table.history.pop_front() {
                table.compacted = dropped.object.version;
            }
        }
        table.changed.notify_waiters();
        // The receiver is gone only while the server stops.
        let _ = self.feed.send(Written { table: id.clone(), event });
    }

    fn index(&mut self, id: &TableId, key: &Key, before: Option<&Object>, after: Option<&Object>) {
        let place = (id.clone(), key.clone());
        if let Some(before) = before {
            for owner in object::owners(&before.value) {
                if let Some(places) = self.dependents.get_mut(object::text(owner, "/uid")) {
                    places.remove(&place);
                    if places.is_empty() {
                        self.dependents.remove(object::text(owner, "/uid"));
                    }
                }
            }
            if after.is_none() {
                self.by_uid.remove(object::uid(&before.value));
            }
        }
        if let Some(after) = after {
            for owner in object::owners(&after.value) {
                let uid = object::text(owner, "/uid").to_owned();
                self.dependents.entry(uid).or_default().insert(place.clone());
            }
            self.by_uid.insert(object::uid(&after.value).to_owned(), place);
        }
    }
}
