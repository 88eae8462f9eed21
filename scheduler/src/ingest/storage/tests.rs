//! Volumes that the pods of a gang share: what is found out of them is found out once, and told where it differs.

use std::{cell::Cell, collections::BTreeMap, ops::Range, sync::Arc};

use kai_engine::{Delta, Missing, Pod, PodId, Timestamp};
use serde_json::{Value, json};

use crate::{
    Args,
    actuate::SELECTED_NODE,
    ingest::{Ingest, Kind, Rules, selector::LISTED_MAX},
    names::VOLUME_REQUESTS_MAX,
};

const PODS: usize = 100;
/// More pods than are told anew in one round that say little.
const OF_ROUND: usize = 1_024;

/// Tells anew what changed: all of it, or what a round has room for.
type Tell = fn(&mut Ingest, &dyn Fn(PodId) -> Option<Pod>);

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

    /// A pod of a namespace that waits for a config map, and tolerates so many taints.
    fn reader(&mut self, namespace: &str, number: usize, taints: usize) {
        let name = format!("{namespace}-{number}");
        let taint = |taint: usize| json!({ "key": format!("k{taint}"), "operator": "Exists" });
        let tolerations: Vec<Value> = (0..taints).map(taint).collect();
        let reads = json!([{ "configMapRef": { "name": "settings" } }]);
        let pod = json!({
            "metadata": { "name": name, "namespace": namespace, "uid": name },
            "spec": { "containers": [{ "envFrom": reads }], "tolerations": tolerations },
            "status": { "phase": "Pending" },
        });
        self.apply(Kind::Pod, &pod);
    }

    /// The config map for which the readers of a namespace wait.
    fn settings(&mut self, namespace: &str) {
        let map = json!({ "metadata": { "name": "settings", "namespace": namespace } });
        self.apply(Kind::ConfigMap, &map);
    }

    /// Counts the pods of a namespace that are told that they wait for a config map.
    fn waiting(&self, namespace: &str) -> usize {
        let names = &self.ingest.context.names;
        let lacks_one = |pod: &&Pod| {
            let mut missing = pod.shape.missing.iter();
            missing.any(|one| matches!(one, Missing::ConfigMap(_)))
        };
        let of_it = |pod: &&Pod| names.text(pod.namespace) == namespace;
        self.told.values().filter(of_it).filter(lacks_one).count()
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
        self.round(Ingest::tell_again)
    }

    /// The same, of so many as there is room for in a round.
    fn tell_some_again(&mut self) -> (usize, usize) {
        self.round(Ingest::tell_some_again)
    }

    fn round(&mut self, tell: Tell) -> (usize, usize) {
        let looks = Cell::new(0);
        self.take();
        self.ingest.advance(Timestamp(0));
        tell(&mut self.ingest, &|pod| {
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

/// A user may have a config map come and go for ever, and as many pods refer to it as they like.
#[test]
fn pods_that_wait_for_the_same_are_told_in_rounds_and_namespaces_take_turns() {
    let mut gang = Gang::without_pods();
    (0..2_500).for_each(|number| gang.reader("ml", number, 0));
    (0..3).for_each(|number| gang.reader("web", number, 0));
    gang.tell_again();
    assert_eq!((gang.waiting("ml"), gang.waiting("web")), (2_500, 3));
    gang.settings("ml");
    gang.settings("web");
    let (looks, told) = gang.tell_some_again();
    assert!(looks <= OF_ROUND && told == looks, "{told} of {looks}");
    assert_eq!(gang.waiting("web"), 0, "they do not wait for those of others");
    let mut rounds = 1;
    while gang.ingest.has_late() {
        let (looks, _) = gang.tell_some_again();
        assert!(looks <= OF_ROUND, "{looks}");
        rounds += 1;
    }
    assert_eq!((rounds, gang.waiting("ml")), (3, 0));
    assert_eq!(gang.tell_some_again(), (0, 0), "nothing is left");
}

/// Such pods take ten times as long.
#[test]
fn fewer_pods_are_told_in_a_round_where_each_says_much() {
    let mut gang = Gang::without_pods();
    (0..400).for_each(|number| gang.reader("ml", number, LISTED_MAX));
    gang.tell_again();
    gang.settings("ml");
    let (_, told) = gang.tell_some_again();
    assert!((100..256).contains(&told), "{told}");
    gang.tell_again();
    assert_eq!((gang.waiting("ml"), gang.ingest.has_late()), (0, false), "who wants all has all");
}

/// Some pods take five times as long as others.
#[test]
fn namespaces_have_equal_parts_of_a_round_however_much_their_pods_say() {
    let mut gang = Gang::without_pods();
    for number in 0..400 {
        gang.reader("ml", number, LISTED_MAX);
        gang.reader("web", number, 0);
    }
    gang.tell_again();
    gang.settings("ml");
    gang.settings("web");
    gang.tell_some_again();
    assert_eq!(gang.waiting("web"), 0);
    assert!(gang.ingest.has_late(), "there are some of the others");
}

/// A pod that is gone is not told of, and one that was read anew was told all.
#[test]
fn who_is_told_meanwhile_is_not_late() {
    let mut gang = Gang::without_pods();
    (0..1_500).for_each(|number| gang.reader("ml", number, 0));
    gang.tell_again();
    gang.settings("ml");
    gang.tell_some_again();
    for number in 0..1_500 {
        if number % 2 == 0 {
            gang.reader("ml", number, 0);
        } else {
            let pod = json!({ "metadata": { "uid": format!("ml-{number}") } }).to_string();
            gang.ingest.deleted(Kind::Pod, pod.as_bytes()).expect("a UID can be read");
        }
    }
    assert!(!gang.ingest.has_late());
    assert_eq!(gang.tell_some_again(), (0, 0));
}

/// Its pods that were not told yet would come to use another claim.
#[test]
fn the_number_of_a_claim_is_nobodys_until_all_of_its_pods_are_told_that_it_is_gone() {
    let mut gang = Gang::without_pods();
    gang.claim(0, &json!({}));
    (0..1_500).for_each(|pod| gang.pod(pod, 0..1));
    gang.tell_again();
    let is_known = |gang: &Gang| gang.ingest.context.names.claims.find("volume:ml/c0").is_some();
    assert!(is_known(&gang));
    let claim = json!({ "metadata": { "name": "c0", "namespace": "ml" } }).to_string();
    let deleted = gang.ingest.deleted(Kind::PersistentVolumeClaim, claim.as_bytes());
    deleted.expect("a name can be read");
    gang.tell_some_again();
    assert!(gang.ingest.has_late() && is_known(&gang));
    gang.tell_some_again();
    assert!(!gang.ingest.has_late() && !is_known(&gang));
}

/// Whoever keeps news late could have such numbers kept without end, one for each claim and pod that come and go meanwhile.
#[test]
fn the_number_of_a_claim_is_anybodys_once_its_pods_are_gone_whoever_is_late() {
    let mut gang = Gang::without_pods();
    (0..3_500).for_each(|number| gang.reader("ml", number, 0));
    gang.claim(0, &json!({}));
    gang.pod(0, 0..1);
    gang.tell_again();
    let is_known = |gang: &Gang| gang.ingest.context.names.claims.find("volume:ml/c0").is_some();
    let delete = |gang: &mut Gang, kind, metadata: Value| {
        let object = json!({ "metadata": metadata }).to_string();
        gang.ingest.deleted(kind, object.as_bytes()).expect("what it says can be read");
        gang.tell_some_again();
        assert!(gang.ingest.has_late());
    };
    gang.settings("ml");
    gang.tell_some_again();
    let claim = json!({ "name": "c0", "namespace": "ml" });
    delete(&mut gang, Kind::PersistentVolumeClaim, claim);
    assert!(is_known(&gang), "its pod is late");
    delete(&mut gang, Kind::Pod, json!({ "uid": "p0" }));
    assert!(!is_known(&gang));
}
