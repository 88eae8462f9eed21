//! Steps of the controller of claims and of the driver, from what there is.
//!
//! # Source
//!
//! kube-controller-manager's controller of resource claims, and the slices that kubelet plugins publish (KEP-4381).

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::driver;
use super::seen::{Key, Seen, Watched, pod_of, rows};

/// The annotation that says for which entry of its pod a claim was made.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";
/// The finalizer of claims that have devices.
const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// The longest start of a name that is made up: five characters, and a hyphen perhaps, come behind it.
const START_MAX: usize = 57;

/// A step towards what should be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Deed {
    /// Read the pod of this name, which should have this UID.
    Read(Key, String),
    /// Create this object.
    Create(Watched, DynamicObject),
    /// Say in the status of a pod how the claims are called that were made for it.
    Name(DynamicObject, Value),
    /// Replace the status of the claim by this, at the version that it has; then take its finalizer off if it has no devices.
    Free(DynamicObject),
    /// Replace the claim by this, which has the finalizer no more.
    Unprotect(DynamicObject),
    /// Delete the claim.
    Delete(DynamicObject),
}

/// State of a pod for which a claim is reserved.
enum Consumer {
    There,
    Gone,
    /// Not known: it may be too new.
    Unknown(Key, String),
}

impl Seen {
    /// Gives the next step, with the object that it is for.
    pub(super) fn next_deed(&mut self) -> Option<(Key, Deed)> {
        while let Some(key) = self.take_due() {
            if let Some(deed) = self.deed(&key) {
                return Some((key, deed));
            }
        }
        None
    }

    fn deed(&self, key: &Key) -> Option<Deed> {
        let object = self.find(key)?;
        match key.kind {
            Watched::Pod => self.of_pod(object),
            Watched::Claim => self.of_claim(object),
            Watched::Node => self.of_node(object),
            Watched::Template | Watched::Slice => None,
        }
    }

    /// Makes the claims of a pod that templates say, one after the other, and then says how they are called.
    fn of_pod(&self, pod: &DynamicObject) -> Option<Deed> {
        if pod.metadata.deletion_timestamp.is_some() || has_ended(pod) {
            return None;
        }
        let mut names = Vec::new();
        for (entry, template) in templates_of(pod) {
            let mut made = self.made_for(pod);
            let Some(claim) = made.find(|claim| annotation(claim, POD_CLAIM_NAME) == Some(entry))
            else {
                let template = self.find(&Key::new(Watched::Template, namespace(pod), template))?;
                return Some(Deed::Create(Watched::Claim, new_claim(pod, entry, template)));
            };
            names.push(json!({"name": entry, "resourceClaimName": claim.metadata.name}));
        }
        let said = rows(&pod.data["status"]["resourceClaimStatuses"]);
        let is_said = |name: &Value| {
            let is_same = |one: &Value| {
                one["name"] == name["name"] && one["resourceClaimName"] == name["resourceClaimName"]
            };
            said.iter().any(is_same)
        };
        (!names.iter().all(is_said)).then(|| Deed::Name(pod.clone(), Value::Array(names)))
    }

    /// Takes a claim from the pods that have ended; deletes one that was made for such a pod.
    fn of_claim(&self, claim: &DynamicObject) -> Option<Deed> {
        let reserved = rows(&claim.data["status"]["reservedFor"]);
        let mut kept = Vec::new();
        for one in reserved {
            match self.consumer(claim, one) {
                Consumer::There => kept.push(one.clone()),
                Consumer::Gone => {}
                Consumer::Unknown(pod, uid) => return Some(Deed::Read(pod, uid)),
            }
        }
        if kept.len() < reserved.len() {
            return Some(Deed::Free(with_consumers(claim, kept)));
        }
        if !kept.is_empty() {
            return None;
        }
        if claim.metadata.deletion_timestamp.is_none() {
            return self.is_left_over(claim).then(|| Deed::Delete(claim.clone()));
        }
        // It has devices if whoever gave them reserved it for nobody, or somebody deleted what it was reserved for.
        let freed = || is_protected(claim).then(|| Deed::Free(with_consumers(claim, Vec::new())));
        unprotected(claim).map(Deed::Unprotect).or_else(freed)
    }

    fn consumer(&self, claim: &DynamicObject, reservation: &Value) -> Consumer {
        let text = |field: &str| reservation[field].as_str().unwrap_or_default();
        if text("resource") != "pods" || !text("apiGroup").is_empty() {
            return Consumer::There;
        }
        let pod = Key::new(Watched::Pod, namespace(claim), text("name"));
        let uid = text("uid");
        let known = self.find(&pod).filter(|known| known.metadata.uid.as_deref() == Some(uid));
        match known {
            Some(known) if has_ended(known) => Consumer::Gone,
            Some(_) => Consumer::There,
            None if self.is_absent(uid) => Consumer::Gone,
            None => Consumer::Unknown(pod, uid.to_owned()),
        }
    }

    /// Tells whether a claim was made for a pod that will not run any more. With a pod that is gone its claims go by themselves.
    fn is_left_over(&self, claim: &DynamicObject) -> bool {
        let Some(owner) = pod_of(claim) else { return false };
        let pod = self.find(&Key::new(Watched::Pod, namespace(claim), &owner.name));
        pod.is_some_and(|pod| pod.metadata.uid.as_ref() == Some(&owner.uid) && has_ended(pod))
    }

    /// Publishes the devices of a node.
    fn of_node(&self, node: &DynamicObject) -> Option<Deed> {
        let slice = Key::new(Watched::Slice, "", &driver::slice_name(super::name(node)));
        let is_wanted = node.metadata.deletion_timestamp.is_none() && self.find(&slice).is_none();
        is_wanted.then(|| Deed::Create(Watched::Slice, driver::slice(node)))
    }
}

/// Tells whether a pod runs no more, and never will: it has ended, or was deleted before it had a node. One that was deleted
/// before it started has no containers to wait for once its kubelet says so by a grace of zero; a real kubelet ends it first.
fn has_ended(pod: &DynamicObject) -> bool {
    let phase = pod.data["status"]["phase"].as_str();
    let has_node = pod.data["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let is_let_go = pod.metadata.deletion_grace_period_seconds == Some(0);
    match phase {
        Some("Succeeded" | "Failed") => true,
        Some("Running") => false,
        Some(_) | None => pod.metadata.deletion_timestamp.is_some() && (!has_node || is_let_go),
    }
}

/// The entries of a pod that name templates, each with its template.
fn templates_of(pod: &DynamicObject) -> impl Iterator<Item = (&str, &str)> {
    let entries = rows(&pod.data["spec"]["resourceClaims"]).iter();
    entries.filter_map(|entry| {
        Some((entry["name"].as_str()?, entry["resourceClaimTemplateName"].as_str()?))
    })
}

/// Makes the claim for an entry of a pod, from its template.
fn new_claim(pod: &DynamicObject, entry: &str, template: &DynamicObject) -> DynamicObject {
    let template = &template.data["spec"];
    let mut annotations = texts(&template["metadata"]["annotations"]);
    annotations.insert(POD_CLAIM_NAME.to_owned(), entry.to_owned());
    let owner = OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        name: super::name(pod).to_owned(),
        uid: pod.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    };
    let mut claim = DynamicObject::new("", &Watched::Claim.resource());
    claim.metadata = ObjectMeta {
        generate_name: Some(start_of_name(super::name(pod), entry)),
        namespace: pod.metadata.namespace.clone(),
        labels: Some(texts(&template["metadata"]["labels"])),
        annotations: Some(annotations),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    claim.data(json!({"spec": template["spec"]}))
}

/// The name of a claim before the part that the API server makes up: of a long one both halves are cut.
fn start_of_name(pod: &str, entry: &str) -> String {
    let whole = format!("{pod}-{entry}-");
    if whole.len() <= START_MAX {
        return whole;
    }
    let cut = |text: &str| -> String {
        text.chars().take(text.len() * START_MAX / whole.len()).collect()
    };
    format!("{}-{}", cut(pod), cut(entry))
}

/// A claim that is reserved for these alone; without any it gives its devices back if its finalizer says that a scheduler
/// gave them.
fn with_consumers(claim: &DynamicObject, consumers: Vec<Value>) -> DynamicObject {
    let mut changed = claim.clone();
    if consumers.is_empty() && is_protected(claim) {
        changed.data["status"] = json!({});
    } else {
        changed.data["status"]["reservedFor"] = Value::Array(consumers);
    }
    changed
}

/// The claim without its finalizer, if it has that and neither devices nor consumers.
pub(super) fn unprotected(claim: &DynamicObject) -> Option<DynamicObject> {
    let status = &claim.data["status"];
    let is_free = status["allocation"].is_null() && rows(&status["reservedFor"]).is_empty();
    if !is_free || !is_protected(claim) {
        return None;
    }
    let mut changed = claim.clone();
    let finalizers = changed.metadata.finalizers.get_or_insert_default();
    finalizers.retain(|finalizer| finalizer != FINALIZER);
    Some(changed)
}

fn is_protected(claim: &DynamicObject) -> bool {
    let mut finalizers = claim.metadata.finalizers.iter().flatten();
    finalizers.any(|finalizer| finalizer == FINALIZER)
}

/// The texts of an object whose values are texts.
fn texts(object: &Value) -> BTreeMap<String, String> {
    let pairs = object.as_object().into_iter().flatten();
    pairs.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect()
}

fn annotation<'a>(object: &'a DynamicObject, key: &str) -> Option<&'a str> {
    object.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn namespace(object: &DynamicObject) -> &str {
    object.metadata.namespace.as_deref().unwrap_or_default()
}
