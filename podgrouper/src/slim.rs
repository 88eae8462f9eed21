//! Objects as lists and watches deliver them, without what nobody reads of them.
//!
//! A pod in JSON is some kilobytes, of which grouping and status read a few hundred bytes. What is not read is skipped
//! while the text is parsed, so that a page of a list never lies in memory as a whole tree; and an object of very many
//! values is kept as text until it is looked at, since as a tree it takes up to forty times as much. Of an owner, which
//! may be anything that a user wrote, no tree of more values than rules ever need is made at all: they are counted while
//! they are read.

use std::borrow::Cow;
use std::cell::Cell;
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
    /// So many values are kept of it at most: texts, numbers, lists and tables, those within others counted.
    const VALUES_MAX: usize = usize::MAX;
}

/// All but the bookkeeping of server-side apply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyShape;

impl Shape for AnyShape {
    const KEPT: &'static Kept = &Kept::Fields(&[("metadata", ANY_METADATA)], &Kept::Whole);
}

/// So many values are read of an owner at most. As a tree each takes up to half a kilobyte, however short it is as text; the
/// largest workload has some thousands beside its containers.
pub(crate) const OWNER_VALUES_MAX: usize = 20_000;

/// The part of an owner of any kind that may be read: a Karta may name each of its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnerShape;

impl Shape for OwnerShape {
    const KEPT: &'static Kept = AnyShape::KEPT;
    const VALUES_MAX: usize = OWNER_VALUES_MAX;
}

/// The part of a workload that the rule of its kind may read: of pods in it neither the containers nor where they may run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkloadShape;

/// No rule reads a field of these names, at whatever depth.
static UNREAD: [(&str, Kept); 8] = [
    ("affinity", Kept::Nothing),
    ("containers", Kept::Nothing),
    ("ephemeralContainers", Kept::Nothing),
    ("initContainers", Kept::Nothing),
    ("tolerations", Kept::Nothing),
    ("topologySpreadConstraints", Kept::Nothing),
    ("volumeClaimTemplates", Kept::Nothing),
    ("volumes", Kept::Nothing),
];
static WORKLOAD: Kept = Kept::Fields(&UNREAD, &WORKLOAD);

/// Tells whether fields of a name are left out of a workload.
pub(crate) fn is_unread(name: &str) -> bool {
    UNREAD.iter().any(|(unread, _)| *unread == name)
}

impl Shape for WorkloadShape {
    const KEPT: &'static Kept = &Kept::Fields(&[("metadata", ANY_METADATA)], &WORKLOAD);
    const VALUES_MAX: usize = OWNER_VALUES_MAX;
}

/// The part of a workload that is read where a Karta names fields of its spec alone: no status, which may be by far the most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpecShape;

static METADATA_AND_SPEC: [(&str, Kept); 2] =
    [("metadata", ANY_METADATA), ("spec", Kept::Fields(&UNREAD, &WORKLOAD))];

impl Shape for SpecShape {
    const KEPT: &'static Kept = &Kept::Fields(&METADATA_AND_SPEC, &Kept::Nothing);
    const VALUES_MAX: usize = OWNER_VALUES_MAX;
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

const ASKED: Kept = Kept::Fields(
    &[
        ("adminAccess", Kept::Whole),
        ("allocationMode", Kept::Whole),
        ("count", Kept::Whole),
        ("deviceClassName", Kept::Whole),
    ],
    &Kept::Nothing,
);
const REQUEST: Kept = Kept::Fields(
    &[
        ("adminAccess", Kept::Whole),
        ("allocationMode", Kept::Whole),
        ("count", Kept::Whole),
        ("deviceClassName", Kept::Whole),
        ("exactly", ASKED),
        ("firstAvailable", ASKED),
        ("name", Kept::Whole),
    ],
    &Kept::Nothing,
);
const CLAIM_SPEC: Kept = Kept::Fields(
    &[("devices", Kept::Fields(&[("requests", REQUEST)], &Kept::Nothing))],
    &Kept::Nothing,
);
const GIVEN: Kept =
    Kept::Fields(&[("driver", Kept::Whole), ("request", Kept::Whole)], &Kept::Nothing);
const ALLOCATED: Kept = Kept::Fields(&[("results", GIVEN)], &Kept::Nothing);
const ALLOCATION: Kept = Kept::Fields(&[("devices", ALLOCATED)], &Kept::Nothing);
const CLAIM_STATUS: Kept = Kept::Fields(&[("allocation", ALLOCATION)], &Kept::Nothing);

impl Shape for ClaimShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[("metadata", ANY_METADATA), ("spec", CLAIM_SPEC), ("status", CLAIM_STATUS)],
        &Kept::Nothing,
    );
}

/// The part of a node that tells how much it offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeShape;

const NODE_STATUS: Kept = Kept::Fields(&[("allocatable", Kept::Whole)], &Kept::Nothing);

impl Shape for NodeShape {
    const KEPT: &'static Kept =
        &Kept::Fields(&[("metadata", ANY_METADATA), ("status", NODE_STATUS)], &Kept::Nothing);
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

/// Room for the values of an object.
struct Room {
    /// Values that were met; of one for which there was no room, none of those in it.
    values: Cell<usize>,
    most: usize,
}

impl Room {
    /// Takes room for a value, if there is some.
    fn take(&self) -> bool {
        let values = self.values.get().saturating_add(1);
        self.values.set(values);
        values <= self.most
    }
}

/// Reads a value: what is kept of it, while there is room, and nothing where there is none. What has no fields is kept.
#[derive(Clone, Copy)]
struct Reader<'r> {
    kept: &'static Kept,
    room: &'r Room,
}

impl Reader<'_> {
    /// The same for a field.
    fn of(self, key: &str) -> Self {
        let kept = match self.kept {
            Kept::Fields(fields, others) => {
                fields.iter().find(|(name, _)| *name == key).map_or(*others, |(_, kept)| kept)
            }
            Kept::Whole | Kept::Nothing => self.kept,
        };
        Self { kept, ..self }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        if matches!(self.kept, Kept::Nothing) || !self.room.take() {
            return IgnoredAny::deserialize(deserializer).map(|_| None);
        }
        deserializer.deserialize_any(self).map(Some)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if let Some(value) = entries.next_value_seed(self.of(&key))? {
                table.insert(key, value);
            }
        }
        Ok(Value::Object(table))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(row) = rows.next_element_seed(self)? {
            list.extend(row);
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
pub(crate) const TREE_VALUES_MAX: usize = 2_000;

/// The kept part of an object.
#[derive(Debug, Clone)]
enum Held {
    Tree(Value),
    Text(Box<str>),
}

impl Held {
    fn of(value: Value, values: usize) -> Self {
        if values > TREE_VALUES_MAX {
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

/// An object that was read by itself, or of a list or a watch.
#[derive(Debug, Clone)]
pub(crate) struct Slim<S> {
    held: Held,
    /// Number of values in it, those counted that there was no room for.
    values: usize,
    /// True if there was no room for all of it.
    is_cut: bool,
    /// Name, namespace and resource version, which a watcher asks for.
    meta: ObjectMeta,
    shape: PhantomData<S>,
}

impl<S> Slim<S> {
    /// Number of values in it.
    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// Tells whether it has more values than are kept, so that some are missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The object, whatever was read of it.
    pub(crate) fn of_any_shape(self) -> Slim<AnyShape> {
        let Self { held, values, is_cut, meta, .. } = self;
        Slim { held, values, is_cut, meta, shape: PhantomData }
    }

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
        let room = Room { values: Cell::new(0), most: S::VALUES_MAX };
        let reader = Reader { kept: S::KEPT, room: &room };
        let value = reader.deserialize(deserializer)?.unwrap_or_default();
        let values = room.values.get();
        let text = |key: &str| value["metadata"][key].as_str().map(str::to_owned);
        let meta = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        let (held, is_cut) = (Held::of(value, values), values > S::VALUES_MAX);
        Ok(Self { held, values, is_cut, meta, shape: PhantomData })
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

    use super::{
        AnyShape, Held, OWNER_VALUES_MAX, OwnerShape, PodShape, Shape, Slim, TREE_VALUES_MAX,
        WorkloadShape,
    };
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

    /// A user may write a hundred thousand values in the megabyte of an object.
    #[test]
    fn of_an_owner_no_more_is_read_than_there_is_room_for() {
        let many = vec![json!({"operator": "Exists"}); OWNER_VALUES_MAX];
        let owner =
            |spec: Value| json!({"metadata": {"name": "o", "resourceVersion": "1"}, "spec": spec});
        let nested = json!({"template": {"spec": {"tolerations": many, "schedulerName": "s"}}});
        let slim = read::<WorkloadShape>(&owner(nested));
        assert_eq!((slim.values(), slim.is_cut()), (8, false));
        let kept = slim.into_object(&Gvk::new("v1", "Any"));
        assert_eq!(kept.value()["spec"], json!({"template": {"spec": {"schedulerName": "s"}}}));
        let parts: serde_json::Map<String, Value> =
            (0..OWNER_VALUES_MAX).map(|at| (format!("p-{at}"), json!([1]))).collect();
        for spec in [json!(many), json!(parts)] {
            let owner = owner(spec);
            let slim = read::<OwnerShape>(&owner);
            assert_eq!((slim.values() > OWNER_VALUES_MAX, slim.is_cut()), (true, true));
            assert_eq!(slim.resource_version().as_deref(), Some("1"));
            let kept = slim.of_any_shape().into_object(&Gvk::new("v1", "Any"));
            let text = kept.value().to_string();
            assert!(text.len() < owner.to_string().len() * 6 / 10, "{} bytes", text.len());
            assert!(!read::<AnyShape>(&owner).is_cut());
        }
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
