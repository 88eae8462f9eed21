//! Volumes that the pods of a gang share: what is found out of them is found out once, and told where it differs.

use std::{cell::Cell, collections::BTreeMap, ops::Range, sync::Arc};

use kai_engine::{Delta, Pod, PodId, Timestamp};
use serde_json::{Value, json};

use crate::{
    Args,
    actuate::SELECTED_NODE,
    ingest::{Ingest, Kind, Rules, selector::LISTED_MAX},
    names::VOLUME_REQUESTS_MAX,
};

const PODS: usize = 100;

/// A gang whose pods have many claims without a volume.
struct Gang {
    ingest: Ingest,
    told: BTreeMap<PodId, Pod>,
}

impl Gang {
    /// A gang without pods.
    fn without_pods() -> Self {
        let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
        let mut gang = Self { ingest: Ingest::new(Rules::new(&args)), told: BTreeMap::new() };
        for class in ["local", "other"] {
            let class = json!({
                "metadata": { "name": class },
                "provisioner": "kubernetes.io/no-provisioner",
                "volumeBindingMode": "WaitForFirstConsumer",
            });
            gang.apply(Kind::StorageClass, &class);
        }
        gang
    }

    fn new() -> Self {
        let mut gang = Self::without_pods();
        for claim in 0..LISTED_MAX {
            gang.claim(claim, &json!({}));
        }
        for pod in 0..PODS {
            gang.pod(pod, 0..LISTED_MAX);
        }
        gang.tell_again();
        gang
    }

    /// A pod with these claims.
    fn pod(&mut self, number: usize, claims: Range<usize>) {
        let name = format!("p{number}");
        let claim = |claim: usize| json!({ "claimName": format!("c{claim}") });
        let volumes: Vec<Value> = claims
            .map(|at| json!({ "name": at.to_string(), "persistentVolumeClaim": claim(at) }))
            .collect();
        let pod = json!({
            "metadata": { "name": name, "namespace": "ml", "uid": name },
            "spec": { "volumes": volumes },
            "status": { "phase": "Pending" },
        });
        self.apply(Kind::Pod, &pod);
    }

    /// A claim that asks for so many bytes.
    fn claim_of(&mut self, number: usize, bytes: usize) {
        let name = format!("c{number}");
        let claim = json!({
            "metadata": { "name": name, "namespace": "ml", "uid": name },
            "spec": {
                "storageClassName": "local",
                "resources": { "requests": { "storage": bytes.to_string() } },
            },
        });
        self.apply(Kind::PersistentVolumeClaim, &claim);
    }

    fn apply(&mut self, kind: Kind, object: &Value) {
        self.ingest.applied(kind, object.to_string().as_bytes()).expect("the object can be read");
    }

    fn claim(&mut self, number: usize, metadata: &Value) {
        let name = format!("c{number}");
        let mut claim = json!({
            "metadata": { "name": name, "namespace": "ml", "uid": name },
            "spec": { "storageClassName": "local" },
        });
        for (key, value) in metadata.as_object().expect("an object") {
            claim["metadata"][key] = value.clone();
        }
        self.apply(Kind::PersistentVolumeClaim, &claim);
    }

    /// A volume that nobody has.
    fn volume(&mut self, class: &str) {
        self.volume_for(class, &Value::Null);
    }

    /// A volume for this claim.
    fn volume_for(&mut self, class: &str, claim: &Value) {
        let volume = json!({
            "metadata": { "name": format!("of-{class}") },
            "spec": { "storageClassName": class, "capacity": { "storage": "1" }, "claimRef": claim },
            "status": { "phase": "Available" },
        });
        self.apply(Kind::PersistentVolume, &volume);
    }

    /// Goes round; counts the pods that were looked at, and those that were told anew.
    fn tell_again(&mut self) -> (usize, usize) {
        let looks = Cell::new(0);
        self.take();
        self.ingest.advance(Timestamp(0));
        self.ingest.tell_again(&|pod| {
            looks.set(looks.get() + 1);
            self.told.get(&pod).cloned()
        });
        (looks.get(), self.take())
    }

    fn take(&mut self) -> usize {
        let pods = self.ingest.context.deltas.drain(..).filter_map(|delta| {
            if let Delta::Pod(id, pod) = delta { Some((id, *pod)) } else { None }
        });
        let pods: Vec<_> = pods.collect();
        let count = pods.len();
        self.told.extend(pods);
        count
    }
}

/// A user may edit a claim of ten thousand pods again and again.
#[test]
fn pods_are_looked_at_where_what_they_share_changed() {
    let mut gang = Gang::new();
    assert_eq!(gang.tell_again(), (0, 0), "nothing changed");
    gang.claim(0, &json!({ "labels": { "a": "b" } }));
    assert_eq!(gang.tell_again(), (0, 0), "what nobody asks for");
    gang.volume("other");
    assert_eq!(gang.tell_again(), (0, 0), "they can have none of it");
    gang.claim(0, &json!({ "annotations": { SELECTED_NODE: "n1" } }));
    assert_eq!(gang.tell_again(), (PODS, PODS), "another node");
    let first = &gang.told.values().next().expect("pods were told").shape.volumes;
    assert_eq!(first.len(), LISTED_MAX);
    let is_it = |pod: &Pod| Arc::ptr_eq(first, &pod.shape.volumes);
    assert!(gang.told.values().all(is_it), "it is found out once for all of them");
    gang.volume("local");
    assert_eq!(gang.tell_again(), (PODS, PODS), "they may have it");
}

/// The only volume of a claim is taken in the same batch in which the claim turns out to be one too many: its pod waits for that alone,
/// and not for a node that reaches a volume.
#[test]
fn what_was_told_of_a_pod_a_moment_before_is_taken_back() {
    let mut gang = Gang::without_pods();
    for claim in 0..VOLUME_REQUESTS_MAX {
        gang.claim_of(claim, 1000 + claim);
    }
    gang.pod(0, 0..VOLUME_REQUESTS_MAX);
    gang.volume("local");
    gang.tell_again();
    let many = VOLUME_REQUESTS_MAX;
    gang.claim_of(many, 1);
    gang.pod(1, many..many + 1);
    gang.volume_for("local", &json!({ "namespace": "ml", "name": "other" }));
    gang.tell_again();
    let id = gang.ingest.context.names.pods.find("p1").expect("a pod that was applied");
    let facts = &gang.told[&PodId::new(id)];
    assert_eq!(facts.claims.len(), 1, "its claim is the one that is refused");
    assert_eq!(facts.shape.volumes.len(), 0, "{:?}", facts.shape.volumes);
}
