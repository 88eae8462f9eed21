//! Sets of fields as `managedFields` hold them (`FieldsV1`), and how they follow from objects.
//!
//! # Source
//!
//! KEP-555 (server-side apply) and the rules of sigs.k8s.io/structured-merge-diff as kube-apiserver shows them.

mod intent;
pub(crate) mod managed;
pub(crate) mod merge;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::schema::{ListType, Schema};
pub(crate) use intent::Intent;

/// A set of paths, as a tree. The keys are those of `FieldsV1`: `f:name`, `k:{"name":"c"}`, `v:"x"`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    /// True if the path to this node is in the set.
    here: bool,
    below: BTreeMap<String, Self>,
}

impl FieldSet {
    /// Reads `fieldsV1`.
    pub(crate) fn from_json(value: &Value) -> Self {
        let Some(fields) = value.as_object() else { return Self::default() };
        let mut set = Self::default();
        for (key, child) in fields {
            if key == "." {
                set.here = true;
                continue;
            }
            let mut inner = Self::from_json(child);
            // A node without children stands for itself.
            inner.here |= inner.below.is_empty();
            set.below.insert(key.clone(), inner);
        }
        set
    }

    /// Writes `fieldsV1`.
    pub(crate) fn to_json(&self) -> Value {
        let mut fields = Map::new();
        if self.here && !self.below.is_empty() {
            fields.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (key, inner) in &self.below {
            fields.insert(key.clone(), inner.to_json());
        }
        Value::Object(fields)
    }

    /// Tells whether no path is in the set.
    pub(crate) fn is_empty(&self) -> bool {
        !self.here && self.below.values().all(Self::is_empty)
    }

    fn child(&mut self, key: String) -> &mut Self {
        self.below.entry(key).or_default()
    }

    fn tidy(mut self) -> Self {
        self.prune();
        self
    }

    /// Takes out all nodes without a path; tells whether a path is left.
    fn prune(&mut self) -> bool {
        self.below.retain(|_, inner| inner.prune());
        self.here || !self.below.is_empty()
    }

    /// The paths in either set.
    pub(crate) fn union(mut self, other: &Self) -> Self {
        self.here |= other.here;
        for (key, inner) in &other.below {
            let mine = self.below.remove(key).unwrap_or_default();
            self.below.insert(key.clone(), mine.union(inner));
        }
        self
    }

    /// The paths that `other` does not have.
    pub(crate) fn difference(mut self, other: &Self) -> Self {
        self.subtract(other);
        self
    }

    /// Takes the paths of `other` out; visits only those.
    fn subtract(&mut self, other: &Self) {
        self.here &= !other.here;
        for (key, gone) in &other.below {
            let Some(inner) = self.below.get_mut(key) else { continue };
            inner.subtract(gone);
            if !inner.here && inner.below.is_empty() {
                self.below.remove(key);
            }
        }
    }

    /// The paths in both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let below = self.below.iter().filter_map(|(key, inner)| {
            Some((key.clone(), inner.intersection(other.below.get(key)?)))
        });
        Self { here: self.here && other.here, below: below.collect() }.tidy()
    }

    /// The set without a path and all under it.
    pub(crate) fn without(mut self, path: &[&str]) -> Self {
        self.cut(path);
        self.tidy()
    }

    fn cut(&mut self, path: &[&str]) {
        match path {
            [] => {}
            [last] => {
                self.below.remove(*last);
            }
            [first, rest @ ..] => {
                if let Some(inner) = self.below.get_mut(*first) {
                    inner.cut(rest);
                }
            }
        }
    }

    /// The paths as messages show them: `.spec.containers[name="c"].image`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, at: &str, paths: &mut Vec<String>) {
        if self.here {
            paths.push(at.to_owned());
        }
        for (key, inner) in &self.below {
            inner.collect_paths(&format!("{at}{}", shown(key)), paths);
        }
    }

    /// The fields that an applied configuration names.
    pub(crate) fn of_applied(value: &Value, schema: Option<&Schema>) -> Self {
        let mut set = Self::default();
        name_fields(value, schema, &mut set);
        strip(set)
    }
}

fn shown(key: &str) -> String {
    let (kind, rest) = key.split_at(2.min(key.len()));
    match kind {
        "f:" => format!(".{rest}"),
        "k:" => {
            let keys: Map<String, Value> = serde_json::from_str(rest).unwrap_or_default();
            let parts: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", parts.join(","))
        }
        "v:" => format!("[={rest}]"),
        _ => format!("[{rest}]"),
    }
}

/// Takes out what nobody manages.
fn strip(mut set: FieldSet) -> FieldSet {
    const METADATA: [&str; 11] = [
        "f:name",
        "f:namespace",
        "f:creationTimestamp",
        "f:selfLink",
        "f:uid",
        "f:generation",
        "f:managedFields",
        "f:resourceVersion",
        "f:deletionTimestamp",
        "f:deletionGracePeriodSeconds",
        "f:clusterName",
    ];
    set.here = false;
    set.cut(&["f:apiVersion"]);
    set.cut(&["f:kind"]);
    if let Some(metadata) = set.below.get_mut("f:metadata") {
        metadata.here = false;
        for field in METADATA {
            metadata.below.remove(field);
        }
    }
    set.tidy()
}

/// Shape of a value to the rules of ownership.
pub(super) enum Shape<'a> {
    /// Owned as a whole.
    Leaf,
    /// Each field has its own owner.
    Fields(&'a Map<String, Value>),
    /// Each item has its own owner, found by its keys.
    Items(&'a [Value], &'a Schema),
}

impl<'a> Shape<'a> {
    fn fields_or(self, none: &'a Map<String, Value>) -> &'a Map<String, Value> {
        match self {
            Self::Fields(fields) => fields,
            Self::Leaf | Self::Items(..) => none,
        }
    }
}

/// Tells how ownership divides a value. Without a schema maps divide and lists do not.
pub(super) fn shape<'a>(value: &'a Value, schema: Option<&'a Schema>) -> Shape<'a> {
    let schema = schema.map(|schema| (schema, schema.resolved()));
    let atomic = schema.is_some_and(|(given, resolved)| given.map_atomic || resolved.map_atomic);
    match (value, schema) {
        (Value::Object(_), _) if atomic => Shape::Leaf,
        (Value::Object(fields), _) => Shape::Fields(fields),
        (Value::Array(items), Some((_, list))) if list.list_type != ListType::Atomic => {
            Shape::Items(items, list)
        }
        _ => Shape::Leaf,
    }
}

/// The key of an item of a list that divides: `k:{...}` or `v:...`; `None` when a key is missing.
pub(super) fn item_key(item: &Value, list: &Schema) -> Option<String> {
    let ListType::Map(names) = &list.list_type else { return Some(format!("v:{item}")) };
    let fields = list.items.as_deref();
    let mut keys: BTreeMap<&str, Value> = BTreeMap::new();
    for name in names {
        let default = || fields.and_then(|fields| fields.field(name)?.key_default_value());
        keys.insert(name, item.get(name).cloned().or_else(default)?);
    }
    let keys: Map<String, Value> =
        keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Some(format!("k:{}", Value::Object(keys)))
}

fn name_fields(value: &Value, schema: Option<&Schema>, set: &mut FieldSet) {
    match shape(value, schema) {
        Shape::Leaf => set.here = true,
        Shape::Fields(fields) => {
            for (key, field) in fields {
                let inner = schema.and_then(|schema| schema.field(key));
                let is_declared =
                    schema.is_some_and(|schema| schema.resolved().properties.contains_key(key));
                let empty = field.as_object().is_some_and(Map::is_empty) || field.is_null();
                let child = set.child(format!("f:{key}"));
                name_fields(field, inner, child);
                child.here |= empty || !is_declared;
            }
        }
        Shape::Items(items, list) => {
            for item in items {
                if let Some(key) = item_key(item, list) {
                    let child = set.child(key);
                    name_fields(item, list.items.as_deref(), child);
                    child.here = true;
                }
            }
        }
    }
}

/// Changes of a write to the fields.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Fields that came or changed.
    pub(crate) written: FieldSet,
    /// Fields that went.
    pub(crate) removed: FieldSet,
}

/// Compares two states of an object.
pub(crate) fn compare(old: &Value, new: &Value, schema: Option<&Schema>) -> Comparison {
    let mut comparison = Comparison::default();
    let Comparison { written, removed } = &mut comparison;
    walk(Some(old), Some(new), schema, written, removed);
    Comparison { written: strip(comparison.written), removed: strip(comparison.removed) }
}

fn walk(
    old: Option<&Value>,
    new: Option<&Value>,
    schema: Option<&Schema>,
    written: &mut FieldSet,
    removed: &mut FieldSet,
) {
    if old == new {
        return;
    }
    written.here |= old.is_none();
    removed.here |= new.is_none();
    let null = Value::Null;
    let parts = (shape(old.unwrap_or(&null), schema), shape(new.unwrap_or(&null), schema));
    let empty = Map::new();
    match parts {
        (Shape::Leaf, Shape::Leaf) => {
            written.here |= new.is_some();
            removed.here |= new.is_none();
        }
        (Shape::Items(..), _) | (_, Shape::Items(..)) => {
            let list = schema.map(Schema::resolved).expect("items divide only by a schema");
            let old = keyed(old, list);
            let new = keyed(new, list);
            for key in old.keys().chain(new.keys()) {
                let (old, new) = (old.get(key).copied(), new.get(key).copied());
                if old == new {
                    continue;
                }
                let (came, went) = (written.child(key.clone()), removed.child(key.clone()));
                walk(old, new, list.items.as_deref(), came, went);
            }
        }
        (old, new) => {
            let (old, new) = (old.fields_or(&empty), new.fields_or(&empty));
            let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
            for key in keys {
                if old.get(key) == new.get(key) {
                    continue;
                }
                let inner = schema.and_then(|schema| schema.field(key));
                let name = format!("f:{key}");
                let (came, went) = (written.child(name.clone()), removed.child(name));
                walk(old.get(key), new.get(key), inner, came, went);
            }
        }
    }
}

fn keyed<'a>(value: Option<&'a Value>, list: &Schema) -> BTreeMap<String, &'a Value> {
    let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|item| Some((item_key(item, list)?, item))).collect()
}

impl Schema {
    /// The default of a field that is a key of its list.
    fn key_default_value(&self) -> Option<Value> {
        self.key_default.clone().or_else(|| self.default.clone())
    }
}
