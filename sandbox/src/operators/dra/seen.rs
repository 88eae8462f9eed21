//! Objects that the watches showed, and which of them are to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Client;
use kube::api::ApiResource;
use kube::core::{DynamicObject, GroupVersionKind, TypeMeta};
use kube::runtime::watcher;
use serde_json::{Value, json};

use super::super::follow;
use super::NIC_DRIVER;
use crate::nodes::object::NODE_LABEL;

/// The API group of dynamic resource allocation.
pub(super) const GROUP: &str = "resource.k8s.io";

/// A kind that the stand-in watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watched {
    Pod,
    Template,
    Claim,
    Node,
    Slice,
}

impl Watched {
    /// All of them.
    pub(super) const ALL: [Self; 5] =
        [Self::Pod, Self::Template, Self::Claim, Self::Node, Self::Slice];

    pub(super) fn resource(self) -> ApiResource {
        let (group, kind, plural) = match self {
            Self::Pod => ("", "Pod", "pods"),
            Self::Template => (GROUP, "ResourceClaimTemplate", "resourceclaimtemplates"),
            Self::Claim => (GROUP, "ResourceClaim", "resourceclaims"),
            Self::Node => ("", "Node", "nodes"),
            Self::Slice => (GROUP, "ResourceSlice", "resourceslices"),
        };
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
    }

    /// The objects of the kind that matter: of nodes the simulated ones, of slices those of our driver.
    pub(super) fn watch(self) -> watcher::Config {
        let all = watcher::Config::default();
        match self {
            Self::Pod | Self::Template | Self::Claim => all,
            Self::Node => all.labels(&format!("{NODE_LABEL}=true")),
            Self::Slice => all.fields(&format!("spec.driver={NIC_DRIVER}")),
        }
    }
}

/// An object by its kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: Watched,
    /// Empty for a kind without namespaces.
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Key {
    pub(super) fn new(kind: Watched, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    fn of(kind: Watched, object: &DynamicObject) -> Self {
        let metadata = &object.metadata;
        Self {
            kind,
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
        }
    }
}

/// The objects that the watches showed.
#[derive(Debug, Default)]
pub(super) struct Seen {
    objects: BTreeMap<Key, DynamicObject>,
    /// Claims that were made for a pod, by its UID.
    made: BTreeMap<String, BTreeSet<Key>>,
    /// UIDs of pods that the API server did not have when it was asked just now.
    absent: BTreeSet<String>,
    /// Objects to look at, since they or what they name changed.
    due: BTreeSet<Key>,
}

impl Seen {
    /// Takes in what an object is by now. Costs O(log n) for it and for each object that it names; for a template, O(pods of its
    /// namespace).
    pub(super) fn apply(&mut self, kind: Watched, mut object: DynamicObject) {
        let key = Key::of(kind, &object);
        if self.objects.get(&key).is_some_and(|known| is_later(known, &object)) {
            return;
        }
        // The answer to who took the last finalizer off shows the object that goes with it.
        let is_held =
            object.metadata.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty());
        if kind == Watched::Claim && object.metadata.deletion_timestamp.is_some() && !is_held {
            return self.delete(kind, &object);
        }
        slim(kind, &mut object);
        if kind == Watched::Claim
            && let Some(pod) = pod_of(&object)
        {
            self.made.entry(pod.uid.clone()).or_default().insert(key.clone());
        }
        self.mark(&key, &object);
        let before = self.objects.insert(key.clone(), object);
        // The end of another one of the name, as of a pod that was read before the watch told of it, is not taken in any more.
        let uid = self.objects[&key].metadata.uid.as_ref();
        let gone = before.filter(|before| before.metadata.uid.as_ref() != uid);
        if let Some(gone) = gone {
            self.mark(&key, &gone);
        }
    }

    pub(super) fn delete(&mut self, kind: Watched, object: &DynamicObject) {
        let key = Key::of(kind, object);
        let known = self.objects.get(&key).map(|known| &known.metadata.uid);
        if known != Some(&object.metadata.uid) {
            return;
        }
        let Some(gone) = self.objects.remove(&key) else { return };
        self.mark(&key, &gone);
        if kind == Watched::Claim
            && let Some(pod) = pod_of(&gone)
            && let Some(made) = self.made.get_mut(&pod.uid)
        {
            made.remove(&key);
            if made.is_empty() {
                self.made.remove(&pod.uid);
            }
        }
    }

    /// Has an object looked at that changed, and those that depend on it.
    fn mark(&mut self, key: &Key, object: &DynamicObject) {
        self.due.insert(key.clone());
        let of = &key.namespace;
        match key.kind {
            Watched::Pod => {
                let claims = claims_of(object).map(|name| Key::new(Watched::Claim, of, name));
                self.due.extend(claims);
                let uid = object.metadata.uid.as_deref().unwrap_or_default();
                self.due.extend(self.made.get(uid).into_iter().flatten().cloned());
            }
            Watched::Claim => {
                let pod = pod_of(object).map(|pod| Key::new(Watched::Pod, of, &pod.name));
                self.due.extend(pod);
            }
            Watched::Template => {
                let first = Key::new(Watched::Pod, of, "");
                let pods = self.objects.range(first..).map(|(key, _)| key);
                let pods = pods.take_while(|key| key.kind == Watched::Pod && key.namespace == *of);
                self.due.extend(pods.cloned());
            }
            Watched::Slice => {
                let node = object.data["spec"]["nodeName"].as_str();
                self.due.extend(node.map(|node| Key::new(Watched::Node, "", node)));
            }
            Watched::Node => {}
        }
    }

    /// Has an object looked at.
    pub(super) fn look_at(&mut self, key: Key) {
        self.due.insert(key);
    }

    /// Takes the next object that is to be looked at.
    pub(super) fn take_due(&mut self) -> Option<Key> {
        let key = self.due.pop_first();
        if key.is_none() {
            self.absent.clear();
        }
        key
    }

    pub(super) fn find(&self, key: &Key) -> Option<&DynamicObject> {
        self.objects.get(key)
    }

    /// The claims that were made for a pod, in the order of their names.
    pub(super) fn made_for(&self, pod: &DynamicObject) -> impl Iterator<Item = &DynamicObject> {
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        let made = self.made.get(uid).into_iter().flatten();
        made.filter_map(move |key| self.objects.get(key))
    }

    /// Notes that there is no pod of this UID.
    pub(super) fn note_absent(&mut self, uid: String) {
        self.absent.insert(uid);
    }

    /// Tells whether the API server said just now that there is no pod of this UID.
    pub(super) fn is_absent(&self, uid: &str) -> bool {
        self.absent.contains(uid)
    }
}

impl follow::Seen for Seen {
    type Kind = Watched;

    fn apply(&mut self, kind: Watched, object: DynamicObject) {
        Self::apply(self, kind, object);
    }

    fn delete(&mut self, kind: Watched, object: &DynamicObject) {
        Self::delete(self, kind, object);
    }

    fn forget(&mut self, kind: Watched) {
        self.objects.retain(|key, _| key.kind != kind);
        if kind == Watched::Claim {
            self.made.clear();
        }
    }

    fn listed(&mut self) {
        self.due.extend(self.objects.keys().cloned());
    }

    async fn settle(&mut self, client: &Client) -> bool {
        super::settle(client, self).await
    }
}

/// Tells whether what is known of an object is from after another state of it: an answer comes before the event of the same write.
fn is_later(known: &DynamicObject, other: &DynamicObject) -> bool {
    let version = |object: &DynamicObject| {
        object.metadata.resource_version.as_ref().and_then(|version| version.parse::<u64>().ok())
    };
    known.metadata.uid == other.metadata.uid && version(known) > version(other)
}

/// Leaves of an object what is needed of it: claims are written back whole, of pods there are many.
fn slim(kind: Watched, object: &mut DynamicObject) {
    object.metadata.managed_fields = None;
    match kind {
        Watched::Pod => {
            object.metadata.labels = None;
            object.metadata.annotations = None;
            let (spec, status) = (&object.data["spec"], &object.data["status"]);
            object.data = json!({
                "spec": {"nodeName": spec["nodeName"], "resourceClaims": spec["resourceClaims"]},
                "status": {
                    "phase": status["phase"],
                    "resourceClaimStatuses": status["resourceClaimStatuses"],
                    "extendedResourceClaimStatus": status["extendedResourceClaimStatus"],
                },
            });
        }
        Watched::Slice => {
            object.data = json!({"spec": {"nodeName": object.data["spec"]["nodeName"]}});
        }
        Watched::Node => object.data = Value::Null,
        // Items of a list carry no type, and a claim is written back.
        Watched::Claim | Watched::Template => {
            let resource = kind.resource();
            let (api_version, kind) = (resource.api_version, resource.kind);
            object.types = Some(TypeMeta { api_version, kind });
        }
    }
}

/// The names of the claims of a pod that are known by name: its own, those made for it, and the one for extended resources.
fn claims_of(pod: &DynamicObject) -> impl Iterator<Item = &str> {
    let (spec, status) = (&pod.data["spec"], &pod.data["status"]);
    let entries = rows(&spec["resourceClaims"]).iter();
    let made = rows(&status["resourceClaimStatuses"]).iter();
    let extended = std::iter::once(&status["extendedResourceClaimStatus"]);
    entries.chain(made).chain(extended).filter_map(|row| row["resourceClaimName"].as_str())
}

/// The rows of a list, none where there is no list.
pub(super) fn rows(list: &Value) -> &[Value] {
    list.as_array().map_or(&[][..], Vec::as_slice)
}

/// The pod that a claim was made for.
pub(super) fn pod_of(claim: &DynamicObject) -> Option<&OwnerReference> {
    let mut owners = claim.metadata.owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true) && owner.kind == "Pod")
}
