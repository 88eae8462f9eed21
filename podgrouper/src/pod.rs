//! The part of a Pod that grouping reads.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::object::{Object, OwnerRef};
use crate::texts::Texts;
use crate::uid::Uid;

/// So many owners of an object are kept: the first is followed, and it may have one at most.
pub(crate) const OWNERS_MAX: usize = 16;

/// A pod, reduced to what a grouping rule may look at.
///
/// Some hundred thousand of them are kept, so what pods have in common is shared and what is rare takes a pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pod {
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.labels`.
    pub labels: Texts,
    /// `metadata.annotations`.
    pub annotations: Texts,
    /// `metadata.ownerReferences`, in order.
    pub owners: Arc<[OwnerRef]>,
    /// `spec.priorityClassName`.
    pub priority_class: Arc<str>,
    /// `spec.nodeName`, empty while the pod has no node.
    pub node: Arc<str>,
    /// True if `metadata.deletionTimestamp` is set.
    pub terminating: bool,
    /// The gang that the pod names in Kubernetes' own API, if any.
    pub native: Option<Box<NativeGroup>>,
}

/// The reference of a pod to a gang of the API group `scheduling.k8s.io`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NativeGroup {
    /// `spec.schedulingGroup.podGroupName`: a `PodGroup` (Kubernetes 1.36 and later).
    PodGroup(String),
    /// `spec.workloadRef`: a part of a `Workload` (Kubernetes 1.35).
    Workload {
        /// `name`.
        name: String,
        /// `podGroup`: the name of the entry in the Workload's `podGroups`.
        group: String,
        /// `podGroupReplicaKey`: which gang of that entry; empty when there is one only.
        replica: String,
    },
}

impl NativeGroup {
    fn of(spec: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = text(&spec["schedulingGroup"]["podGroupName"]);
        if !name.is_empty() {
            return Some(Self::PodGroup(name));
        }
        let workload = &spec["workloadRef"];
        let name = text(&workload["name"]);
        (!name.is_empty()).then(|| Self::Workload {
            name,
            group: text(&workload["podGroup"]),
            replica: text(&workload["podGroupReplicaKey"]),
        })
    }
}

impl Pod {
    /// Reads a pod's JSON; whatever is missing reads as empty.
    pub fn from_value(value: &Value) -> Self {
        Self::from_object(&Object::new(value.clone()))
    }

    /// Reads a pod as a watch delivers it.
    pub(crate) fn from_object(object: &Object) -> Self {
        let spec = &object.value()["spec"];
        let text = |key: &str| spec[key].as_str().unwrap_or_default().into();
        Self {
            namespace: object.namespace().into(),
            name: object.name().into(),
            uid: object.uid().into(),
            labels: Texts::kept(object.labels()),
            annotations: Texts::kept(object.annotations()),
            owners: object.owners().into_iter().take(OWNERS_MAX).collect(),
            priority_class: text("priorityClassName"),
            node: text("nodeName"),
            terminating: object.is_terminating(),
            native: NativeGroup::of(spec).map(Box::new),
        }
    }

    /// A label's value.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key)
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key)
    }

    /// The pod as an owner: its kind and metadata.
    pub fn to_object(&self) -> Object {
        let mut meta = Map::new();
        meta.insert("name".to_owned(), json!(&*self.name));
        meta.insert("namespace".to_owned(), json!(&*self.namespace));
        meta.insert("uid".to_owned(), json!(self.uid));
        meta.insert("labels".to_owned(), json!(self.labels));
        meta.insert("annotations".to_owned(), json!(self.annotations));
        let owner = |owner: &OwnerRef| {
            json!({"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name,
                "uid": owner.uid})
        };
        let owners: Vec<Value> = self.owners.iter().map(owner).collect();
        meta.insert("ownerReferences".to_owned(), Value::Array(owners));
        if self.terminating {
            meta.insert("deletionTimestamp".to_owned(), json!("1970-01-01T00:00:00Z"));
        }
        Object::new(json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta,
            "spec": {"priorityClassName": &*self.priority_class, "nodeName": &*self.node}}))
    }

    /// A reference to the pod, as a `PodGroup`'s owner has it.
    pub fn reference(&self) -> OwnerRef {
        OwnerRef {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            name: self.name.to_string(),
            uid: self.uid.to_string(),
        }
    }
}
