//! Objects as lists and watches deliver them, without what nobody reads of them.
//!
//! A pod in JSON is some kilobytes, of which grouping and status read a few hundred bytes. What is not read is skipped
//! while the text is parsed, so that a page of a list never lies in memory as a whole tree; and an object of very many
//! values is kept as text until it is looked at, since as a tree it takes up to forty times as much.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::api::DynamicObject;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::object::{Gvk, Object};

/// The part that is kept of a JSON value.
#[derive(Debug)]
pub(crate) enum Kept {
    /// All of it.
    Whole,
    /// Nothing of it.
    Nothing,
    /// Of an object, or of every object of a list: so much of the fields that are named, and so much of the others.
    Fields(&'static [(&'static str, Self)], &'static Self),
}

/// The part that is read of the objects of a kind.
pub(crate) trait Shape: fmt::Debug + Clone + Send + Sync + 'static {
    /// The part that is kept of an object.
    const KEPT: &'static Kept;
}

/// All but the bookkeeping of server-side apply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyShape;

impl Shape for AnyShape {
    const KEPT: &'static Kept = &Kept::Fields(&[("metadata", ANY_METADATA)], &Kept::Whole);
}

const ANY_METADATA: Kept = Kept::Fields(&[("managedFields", Kept::Nothing)], &Kept::Whole);
const METADATA: Kept = Kept::Fields(
    &[
        ("annotations", Kept::Whole),
        ("creationTimestamp", Kept::Whole),
        ("deletionTimestamp", Kept::Whole),
        ("labels", Kept::Whole),
        ("name", Kept::Whole),
        ("namespace", Kept::Whole),
        ("ownerReferences", Kept::Whole),
        ("resourceVersion", Kept::Whole),
        ("uid", Kept::Whole),
    ],
    &Kept::Nothing,
);

/// The part of a pod that grouping and status read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodShape;

const REQUESTS: Kept = Kept::Fields(&[("requests", Kept::Whole)], &Kept::Nothing);
const CONTAINERS: Kept = Kept::Fields(
    &[("name", Kept::Whole), ("resources", REQUESTS), ("restartPolicy", Kept::Whole)],
    &Kept::Nothing,
);
const POD_SPEC: Kept = Kept::Fields(
    &[
        ("containers", CONTAINERS),
        ("initContainers", CONTAINERS),
        ("nodeName", Kept::Whole),
        ("overhead", Kept::Whole),
        ("priorityClassName", Kept::Whole),
        ("resourceClaims", Kept::Whole),
        ("resources", REQUESTS),
        ("schedulingGroup", Kept::Whole),
        ("workloadRef", Kept::Whole),
    ],
    &Kept::Nothing,
);
const CONDITIONS: Kept = Kept::Fields(
    &[
        ("lastTransitionTime", Kept::Whole),
        ("reason", Kept::Whole),
        ("status", Kept::Whole),
        ("type", Kept::Whole),
    ],
    &Kept::Nothing,
);
const TERMINATED: Kept = Kept::Fields(&[("finishedAt", Kept::Whole)], &Kept::Nothing);
const STATE: Kept = Kept::Fields(&[("terminated", TERMINATED)], &Kept::Nothing);
const CONTAINER_STATUSES: Kept = Kept::Fields(
    &[
        ("allocatedResources", Kept::Whole),
        ("name", Kept::Whole),
        ("resources", REQUESTS),
        ("state", STATE),
    ],
    &Kept::Nothing,
);
const POD_STATUS: Kept = Kept::Fields(
    &[
        ("allocatedResources", Kept::Whole),
        ("conditions", CONDITIONS),
        ("containerStatuses", CONTAINER_STATUSES),
        ("initContainerStatuses", CONTAINER_STATUSES),
        ("phase", Kept::Whole),
        ("resourceClaimStatuses", Kept::Whole),
        ("resources", REQUESTS),
        ("startTime", Kept::Whole),
    ],
    &Kept::Nothing,
);

impl Shape for PodShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[("metadata", METADATA), ("spec", POD_SPEC), ("status", POD_STATUS)],
        &Kept::Nothing,
    );
}

/// The part of a claim of devices that tells which it asks for and has. The parameters of drivers beside it are whatever its
/// user wrote, nested as deep as that may be: a text that cannot be read would leave its pods uncounted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimShape;

const CLAIM_SPEC: Kept = Kept::Fields(
    &[("devices", Kept::Fields(&[("requests", Kept::Whole)], &Kept::Nothing))],
    &Kept::Nothing,
);
const ALLOCATED: Kept = Kept::Fields(&[("results", Kept::Whole)], &Kept::Nothing);
const ALLOCATION: Kept = Kept::Fields(&[("devices", ALLOCATED)], &Kept::Nothing);
const CLAIM_STATUS: Kept = Kept::Fields(&[("allocation", ALLOCATION)], &Kept::Nothing);

impl Shape for ClaimShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[("metadata", ANY_METADATA), ("spec", CLAIM_SPEC), ("status", CLAIM_STATUS)],
        &Kept::Nothing,
    );
}

/// The part of a `PodGroup` that is compared, kept and summed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodGroupShape;

/// The part of an event of an eviction that a record has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EvictionShape;

impl Shape for EvictionShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[
            ("eventTime", Kept::Whole),
            ("firstTimestamp", Kept::Whole),
            ("involvedObject", Kept::Whole),
            ("lastTimestamp", Kept::Whole),
            ("message", Kept::Whole),
            ("metadata", METADATA),
            ("reportingComponent", Kept::Whole),
            ("source", Kept::Whole),
        ],
        &Kept::Nothing,
    );
}

/// The part of a record that is read again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordShape;

impl Shape for RecordShape {
    const KEPT: &'static Kept =
        &Kept::Fields(&[("metadata", METADATA), ("spec", Kept::Whole)], &Kept::Nothing);
}

const POD_GROUP_STATUS: Kept = Kept::Fields(&[("resourcesStatus", Kept::Whole)], &Kept::Nothing);

impl Shape for PodGroupShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[("metadata", METADATA), ("spec", Kept::Whole), ("status", POD_GROUP_STATUS)],
        &Kept::Nothing,
    );
}

impl<'de> DeserializeSeed<'de> for &'static Kept {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self {
            Kept::Whole => Value::deserialize(deserializer),
            Kept::Nothing => IgnoredAny::deserialize(deserializer).map(|_| Value::Null),
            Kept::Fields(..) => deserializer.deserialize_any(Reader(self)),
        }
    }
}

/// Reads a value of which only some fields are kept; what has no fields is kept.
struct Reader(&'static Kept);

impl Reader {
    fn of(&self, key: &str) -> &'static Kept {
        match self.0 {
            Kept::Fields(fields, others) => {
                fields.iter().find(|(name, _)| *name == key).map_or(*others, |(_, kept)| kept)
            }
            Kept::Whole | Kept::Nothing => self.0,
        }
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let kept = self.of(&key);
            let value = entries.next_value_seed(kept)?;
            if !matches!(kept, Kept::Nothing) {
                table.insert(key, value);
            }
        }
        Ok(Value::Object(table))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(row) = rows.next_element_seed(self.0)? {
            list.push(row);
        }
        Ok(Value::Array(list))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
}

/// An object of more values is text until it is looked at.
const TREE_VALUES_MAX: usize = 2_000;

/// The kept part of an object.
#[derive(Debug, Clone)]
enum Held {
    Tree(Value),
    Text(Box<str>),
}

impl Held {
    fn of(value: Value) -> Self {
        if values(&value) > TREE_VALUES_MAX {
            Self::Text(value.to_string().into())
        } else {
            Self::Tree(value)
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Tree(value) => value,
            // It was written from JSON.
            Self::Text(text) => serde_json::from_str(&text).unwrap_or_default(),
        }
    }
}

/// Counts a value and all in it.
fn values(value: &Value) -> usize {
    match value {
        Value::Array(rows) => 1 + rows.iter().map(values).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// An object of a list or a watch.
#[derive(Debug, Clone)]
pub(crate) struct Slim<S> {
    held: Held,
    /// Name, namespace and resource version, which a watcher asks for.
    meta: ObjectMeta,
    shape: PhantomData<S>,
}

impl<S> Slim<S> {
    /// The object, with the kind that items of a list do not say.
    pub(crate) fn into_object(self, gvk: &Gvk) -> Object {
        let Value::Object(mut table) = self.held.into_value() else { return Object::default() };
        table.insert("apiVersion".to_owned(), json!(gvk.api_version()));
        table.insert("kind".to_owned(), json!(gvk.kind));
        Object::new(Value::Object(table))
    }
}

impl<'de, S: Shape> Deserialize<'de> for Slim<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = S::KEPT.deserialize(deserializer)?;
        let text = |key: &str| value["metadata"][key].as_str().map(str::to_owned);
        let meta = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        Ok(Self { held: Held::of(value), meta, shape: PhantomData })
    }
}

impl<S> Resource for Slim<S> {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::kind(resource)
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::group(resource)
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::version(resource)
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::plural(resource)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

#[cfg(test)]
mod tests {
    use kube::ResourceExt;
    use serde_json::{Value, json};

    use super::{AnyShape, Held, PodShape, Shape, Slim, TREE_VALUES_MAX};
    use crate::object::Gvk;
    use crate::pod::Pod;
    use crate::status::Usage;

    fn read<S: Shape>(object: &Value) -> Slim<S> {
        serde_json::from_str(&object.to_string()).expect("it is JSON")
    }

    /// Grouping and status read the same of a pod and of what is kept of it.
    #[test]
    fn what_is_left_out_of_a_pod_is_not_read() {
        let pod = json!({
            "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "7",
                "labels": {"a": "1"}, "annotations": {"gpu-fraction": "0.5", "b": "2"},
                "managedFields": [{"manager": "m"}], "deletionTimestamp": "2026-01-01T00:00:00Z",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "o",
                    "controller": true}]},
            "spec": {"schedulerName": "kai-scheduler", "priorityClassName": "train", "nodeName": "n1",
                "workloadRef": {"name": "w", "podGroup": "g"},
                "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}],
                    "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}],
                "initContainers": [{"restartPolicy": "Always",
                    "resources": {"requests": {"cpu": "3"}}}],
                "overhead": {"cpu": "10m"}, "resources": {"requests": {"memory": "1Gi"}},
                "resourceClaims": [{"name": "r", "resourceClaimName": "c"}],
                "volumes": [{"name": "v"}]},
            "status": {"phase": "Pending", "podIP": "10.0.0.1", "conditions": [
                {"type": "PodScheduled", "status": "True", "message": "long"},
                {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
                "containerStatuses": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "0.5"}}}],
                "resources": {"requests": {"memory": "2Gi"}}, "allocatedResources": {"memory": "3Gi"}},
        });
        let slim = read::<PodShape>(&pod).into_object(&Gvk::new("v1", "Pod"));
        assert_eq!(Pod::from_object(&slim), Pod::from_value(&pod));
        assert_eq!(Usage::of(slim.value()), Usage::of(&pod));
        assert!(slim.value()["spec"]["containers"][0]["env"].is_null());
        assert!(
            slim.value()["spec"]["volumes"].is_null() && slim.value()["status"]["podIP"].is_null()
        );
    }

    #[test]
    fn of_other_kinds_only_the_bookkeeping_goes() {
        let object = json!({"metadata": {"name": "o", "resourceVersion": "1", "managedFields": [1],
            "labels": {"a": "b"}}, "spec": {"list": [1, 2.5, null, "x", {"y": true}]}});
        let slim = read::<AnyShape>(&object);
        assert_eq!(slim.resource_version().as_deref(), Some("1"));
        let kept = slim.into_object(&Gvk::new("v1", "Any"));
        assert_eq!(kept.value()["spec"], object["spec"]);
        assert_eq!(
            kept.value()["metadata"],
            json!({"name": "o", "resourceVersion": "1", "labels": {"a": "b"}})
        );
    }

    /// A page of them would be there as trees.
    #[test]
    fn an_object_of_very_many_values_is_text_until_it_is_looked_at() {
        for (rows, is_text) in [(10, false), (TREE_VALUES_MAX, true)] {
            let object = json!({"metadata": {"name": "o", "resourceVersion": "1"},
                "spec": {"subGroups": vec![json!({}); rows]}});
            let slim = read::<AnyShape>(&object);
            assert_eq!(matches!(slim.held, Held::Text(_)), is_text);
            assert_eq!(slim.resource_version().as_deref(), Some("1"));
            let kept = slim.into_object(&Gvk::new("v1", "Any"));
            assert_eq!(kept.value()["spec"], object["spec"]);
        }
    }
}
