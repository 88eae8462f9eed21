//! Steps towards storage that is provided, from what there is.
//!
//! # Source
//!
//! kube-controller-manager's controllers of ephemeral volumes and of persistent volumes, and the protocol of
//! external-provisioner for classes that wait for their first consumer.

use kube::Client;
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::super::follow;
use super::{CLASS, Objects, PROVISIONER, Watched};

/// The annotation of the default class.
pub(super) const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
/// The annotation by which a scheduler tells a claim its node.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// The annotation that names who made a volume.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// The annotation of a claim that is bound for good.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// The label of a node's own name.
const HOST_NAME: &str = "kubernetes.io/hostname";

/// A step towards what should be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Deed {
    /// Create this object.
    Create(Watched, DynamicObject),
    /// Replace the object by this, at the version that it has.
    Change(Watched, DynamicObject),
    /// Give the object this status.
    Status(Watched, DynamicObject),
    /// Delete the object.
    Delete(Watched, DynamicObject),
}

/// The objects that the watches showed.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pods: Objects,
    claims: Objects,
    volumes: Objects,
    classes: Objects,
}

impl Seen {
    pub(super) fn apply(&mut self, kind: Watched, mut object: DynamicObject) {
        object.metadata.managed_fields = None;
        let key = key(&object);
        // Nothing is done for pods without claims, and they are most of all.
        if kind == Watched::Pod && claims_of(&object).next().is_none() {
            self.pods.remove(&key);
            return;
        }
        self.of(kind).insert(key, object);
    }

    pub(super) fn delete(&mut self, kind: Watched, object: &DynamicObject) {
        let key = key(object);
        let is_it = |known: &DynamicObject| known.metadata.uid == object.metadata.uid;
        if self.of(kind).get(&key).is_some_and(is_it) {
            self.of(kind).remove(&key);
        }
    }

    fn of(&mut self, kind: Watched) -> &mut Objects {
        match kind {
            Watched::Pod => &mut self.pods,
            Watched::Claim => &mut self.claims,
            Watched::Volume => &mut self.volumes,
            Watched::Class => &mut self.classes,
        }
    }

    /// Lists what is to be done now; the next steps follow from what comes of these.
    pub(super) fn deeds(&self) -> Vec<Deed> {
        let pods = self.pods.values().flat_map(|pod| self.brought_along(pod));
        let claims = self.claims.values().filter_map(|claim| self.claim(claim));
        let volumes = self.volumes.values().filter_map(|volume| self.volume(volume));
        pods.chain(claims).chain(volumes).collect()
    }

    /// Creates the claims that a pod brings along.
    fn brought_along(&self, pod: &DynamicObject) -> Vec<Deed> {
        if pod.metadata.deletion_timestamp.is_some() || has_ended(pod) {
            return Vec::new();
        }
        let templates = claims_of(pod).filter_map(|(name, template)| Some((name, template?)));
        let missing = templates
            .filter(|(name, _)| !self.claims.contains_key(&(namespace(pod), name.clone())));
        let deed = |(name, template): (String, &Value)| {
            let mut metadata = template["metadata"].clone();
            metadata["name"] = json!(name);
            metadata["namespace"] = json!(namespace(pod));
            metadata["ownerReferences"] = json!([{
                "apiVersion": "v1", "kind": "Pod", "name": pod.metadata.name,
                "uid": pod.metadata.uid, "controller": true, "blockOwnerDeletion": true,
            }]);
            let claim = object(&json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata,
                "spec": template["spec"],
            }));
            Deed::Create(Watched::Claim, claim)
        };
        missing.map(deed).collect()
    }

    /// Gives a claim its class, its volume, or its state.
    fn claim(&self, claim: &DynamicObject) -> Option<Deed> {
        let spec = &claim.data["spec"];
        if claim.metadata.deletion_timestamp.is_some() {
            return None;
        }
        if let Some(volume) = spec["volumeName"].as_str() {
            let volume = self.volumes.get(&(String::new(), volume.to_owned()))?;
            if self.is_claimed_by_hand(claim, volume) {
                let mut changed = claim.clone();
                let annotations = changed.metadata.annotations.get_or_insert_default();
                annotations.insert(BIND_COMPLETED.to_owned(), "yes".to_owned());
                return Some(Deed::Change(Watched::Claim, changed));
            }
            let status = json!({
                "phase": "Bound", "accessModes": volume.data["spec"]["accessModes"],
                "capacity": volume.data["spec"]["capacity"],
            });
            return with_status(Watched::Claim, claim, &status);
        }
        let mut changed = claim.clone();
        if spec["storageClassName"].is_null() {
            let is_default =
                |class: &&DynamicObject| annotation(class, DEFAULT_CLASS) == Some("true");
            let default = self.classes.values().find(is_default)?;
            changed.data["spec"]["storageClassName"] = json!(default.metadata.name);
            return Some(Deed::Change(Watched::Claim, changed));
        }
        if let Some(volume) = self.volume_for(claim) {
            changed.data["spec"]["volumeName"] = json!(volume.metadata.name);
            let annotations = changed.metadata.annotations.get_or_insert_default();
            annotations.insert(BIND_COMPLETED.to_owned(), "yes".to_owned());
            return Some(Deed::Change(Watched::Claim, changed));
        }
        let is_ours = spec["storageClassName"] == CLASS;
        let node = self.node_for(claim).filter(|_| is_ours)?;
        Some(Deed::Create(Watched::Volume, new_volume(claim, &node)))
    }

    /// Tells whether whoever made a claim and a volume had them name each other, and the claim is not bound for good yet.
    fn is_claimed_by_hand(&self, claim: &DynamicObject, volume: &DynamicObject) -> bool {
        let own = self.volume_for(claim).and_then(|own| own.metadata.name.as_ref());
        annotation(claim, BIND_COMPLETED).is_none()
            && own.is_some_and(|own| Some(own) == volume.metadata.name.as_ref())
    }

    /// Finds the volume that names this claim.
    fn volume_for(&self, claim: &DynamicObject) -> Option<&DynamicObject> {
        self.volumes.values().find(|volume| {
            let reference = &volume.data["spec"]["claimRef"];
            reference["namespace"] == namespace(claim)
                && reference["name"] == json!(claim.metadata.name)
                && is_of(reference, claim)
        })
    }

    /// Finds the node that the claim was told, or on which a pod that uses it is already, because a scheduler that knows
    /// nothing of volumes put it there.
    fn node_for(&self, claim: &DynamicObject) -> Option<String> {
        if let Some(node) = annotation(claim, SELECTED_NODE) {
            return Some(node.to_owned());
        }
        let mut users = self.pods.values().filter(|pod| {
            namespace(pod) == namespace(claim)
                && claims_of(pod).any(|(name, _)| Some(&name) == claim.metadata.name.as_ref())
        });
        users.find_map(|pod| Some(pod.data["spec"]["nodeName"].as_str()?.to_owned()))
    }

    /// Gives a volume its state, or deletes one of ours whose claim is gone.
    fn volume(&self, volume: &DynamicObject) -> Option<Deed> {
        let reference = &volume.data["spec"]["claimRef"];
        if volume.metadata.deletion_timestamp.is_some() {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let claim = self.claims.get(&(text(&reference["namespace"]), text(&reference["name"])));
        let is_there = claim.is_some_and(|claim| is_of(reference, claim));
        let is_ours = annotation(volume, PROVISIONED_BY) == Some(PROVISIONER);
        let phase = match (reference.is_null(), is_there) {
            (true, _) => "Available",
            (false, true) => "Bound",
            (false, false) if is_ours => {
                return Some(Deed::Delete(Watched::Volume, volume.clone()));
            }
            (false, false) => "Released",
        };
        with_status(Watched::Volume, volume, &json!({"phase": phase}))
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
        self.of(kind).clear();
    }

    async fn settle(&mut self, client: &Client) -> bool {
        super::settle(client, self).await.is_err()
    }
}

/// Tells whether a volume's reference, which has the claim's name, is to this very claim.
fn is_of(reference: &Value, claim: &DynamicObject) -> bool {
    reference["uid"].is_null() || reference["uid"] == json!(claim.metadata.uid)
}

/// Makes the volume that a claim asks for, on one node.
fn new_volume(claim: &DynamicObject, node: &str) -> DynamicObject {
    let spec = &claim.data["spec"];
    let uid = claim.metadata.uid.as_deref().unwrap_or_default();
    let term = json!({"key": HOST_NAME, "operator": "In", "values": [node]});
    object(&json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": format!("pvc-{uid}"), "annotations": {(PROVISIONED_BY): PROVISIONER}},
        "spec": {
            "accessModes": spec["accessModes"], "capacity": spec["resources"]["requests"],
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim.metadata.name,
                "namespace": claim.metadata.namespace, "uid": uid,
            },
            "csi": {"driver": PROVISIONER, "volumeHandle": uid},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [term]}]}},
            "persistentVolumeReclaimPolicy": "Delete", "storageClassName": CLASS,
            "volumeMode": spec["volumeMode"].as_str().unwrap_or("Filesystem"),
        },
    }))
}

/// Lists the claims of a pod by name, each with its template if the pod brings it along.
fn claims_of(pod: &DynamicObject) -> impl Iterator<Item = (String, Option<&Value>)> {
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let volumes = pod.data["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(move |volume| {
        if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
            return Some((claim.to_owned(), None));
        }
        let template = &volume["ephemeral"]["volumeClaimTemplate"];
        let own = volume["name"].as_str().filter(|_| template.is_object())?;
        Some((format!("{name}-{own}"), Some(template)))
    })
}

/// Gives the object that status, unless it has it.
fn with_status(kind: Watched, object: &DynamicObject, status: &Value) -> Option<Deed> {
    let has = |(key, value): (&String, &Value)| object.data["status"][key] == *value;
    if status.as_object()?.iter().all(has) {
        return None;
    }
    let mut changed = object.clone();
    changed.data["status"] = status.clone();
    Some(Deed::Status(kind, changed))
}

fn has_ended(pod: &DynamicObject) -> bool {
    matches!(pod.data["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
}

fn annotation<'a>(object: &'a DynamicObject, key: &str) -> Option<&'a str> {
    object.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn namespace(object: &DynamicObject) -> String {
    object.metadata.namespace.clone().unwrap_or_default()
}

fn key(object: &DynamicObject) -> (String, String) {
    (namespace(object), object.metadata.name.clone().unwrap_or_default())
}

fn object(value: &Value) -> DynamicObject {
    serde_json::from_value(value.clone()).expect("what is written above is an object")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies what is to be done until nothing is, and says each step in words.
    fn play(objects: &[(Watched, Value)]) -> Vec<String> {
        let mut seen = Seen::default();
        for (kind, value) in objects {
            seen.apply(*kind, object(value));
        }
        let mut told = Vec::new();
        for _ in 0..20 {
            let deeds = seen.deeds();
            if deeds.is_empty() {
                return told;
            }
            for deed in deeds {
                told.push(words(&deed));
                match deed {
                    Deed::Create(kind, mut object) => {
                        let name = object.metadata.name.clone();
                        object.metadata.uid = name.map(|name| format!("uid-of-{name}"));
                        seen.apply(kind, object);
                    }
                    Deed::Change(kind, object) | Deed::Status(kind, object) => {
                        seen.apply(kind, object);
                    }
                    Deed::Delete(kind, object) => seen.delete(kind, &object),
                }
            }
        }
        panic!("it does not come to rest: {told:?}");
    }

    fn words(deed: &Deed) -> String {
        let (verb, kind, object) = match deed {
            Deed::Create(kind, object) => ("create", kind, object),
            Deed::Change(kind, object) => ("change", kind, object),
            Deed::Status(kind, object) => ("status of", kind, object),
            Deed::Delete(kind, object) => ("delete", kind, object),
        };
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let phase = object.data["status"]["phase"].as_str();
        let phase = phase.map(|phase| format!(" {phase}")).unwrap_or_default();
        format!("{verb} {kind:?} {name}{phase}")
    }

    #[track_caller]
    fn check(objects: &[(Watched, Value)], expect: &[&str]) {
        assert_eq!(play(objects), expect);
    }

    fn class() -> (Watched, Value) {
        let annotations = json!({(DEFAULT_CLASS): "true"});
        (Watched::Class, json!({"metadata": {"name": CLASS, "annotations": annotations}}))
    }

    fn claim(class: Option<&str>, node: Option<&str>) -> (Watched, Value) {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": class,
            "resources": {"requests": {"storage": "1Gi"}}});
        let annotations = node.map(|node| json!({(SELECTED_NODE): node}));
        let metadata =
            json!({"name": "c", "namespace": "n", "uid": "u", "annotations": annotations});
        (Watched::Claim, json!({"metadata": metadata, "spec": spec}))
    }

    fn pod(node: Option<&str>, volume: &Value) -> (Watched, Value) {
        let value = json!({"metadata": {"name": "p", "namespace": "n", "uid": "pod"},
            "spec": {"nodeName": node, "volumes": [volume]}});
        (Watched::Pod, value)
    }

    #[test]
    fn a_claim_waits_for_its_first_consumer() {
        check(&[class(), claim(None, None)], &["change Claim c"]);
        check(
            &[class(), claim(None, Some("node-1"))],
            &[
                "change Claim c",
                "create Volume pvc-u",
                "change Claim c",
                "status of Volume pvc-u Bound",
                "status of Claim c Bound",
            ],
        );
        check(&[class(), claim(Some("ssd"), Some("node-1"))], &[]);
    }

    #[test]
    fn a_claim_and_a_volume_that_name_each_other_are_bound() {
        let (_, mut told) = claim(Some("by-hand"), None);
        told["spec"]["volumeName"] = json!("disk");
        let volume = |name: &str| {
            let spec = json!({"claimRef": {"namespace": "n", "name": name}, "capacity": {}});
            (Watched::Volume, json!({"metadata": {"name": "disk"}, "spec": spec}))
        };
        check(
            &[(Watched::Claim, told.clone()), volume("c")],
            &["change Claim c", "status of Volume disk Bound", "status of Claim c Bound"],
        );
        let of_another = play(&[(Watched::Claim, told), volume("other")]);
        assert!(!of_another.contains(&String::from("change Claim c")), "{of_another:?}");
    }

    #[test]
    fn a_pod_brings_its_claim_along() {
        let ephemeral = json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec":
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}});
        check(
            &[class(), pod(None, &ephemeral)],
            &["create Claim p-scratch", "change Claim p-scratch"],
        );
        check(
            &[class(), pod(Some("node-1"), &ephemeral)],
            &[
                "create Claim p-scratch",
                "change Claim p-scratch",
                "create Volume pvc-uid-of-p-scratch",
                "change Claim p-scratch",
                "status of Volume pvc-uid-of-p-scratch Bound",
                "status of Claim p-scratch Bound",
            ],
        );
        check(&[class(), pod(None, &json!({"name": "x", "emptyDir": {}}))], &[]);
    }

    #[test]
    fn a_volume_goes_with_its_claim() {
        let (_, told) = claim(Some(CLASS), None);
        let mut volume = new_volume(&object(&told), "node-1");
        let check = |volume: &DynamicObject, expect: &str| {
            let value = serde_json::to_value(volume).expect("an object");
            assert_eq!(play(&[(Watched::Volume, value)]), [expect]);
        };
        check(&volume, "delete Volume pvc-u");
        volume.metadata.annotations = None;
        check(&volume, "status of Volume pvc-u Released");
    }
}
