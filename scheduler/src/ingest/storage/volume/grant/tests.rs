//! Describes what is kept for claims while their volumes are bound, and when it is free again.

use std::sync::Arc;

use kai_engine::{
    ClaimId, Claimed, Delta, Holds, Pod, Requirement, Reserved, SliceDeviceId, Timestamp,
};
use serde_json::{Value, json};

use super::grants;
use crate::{
    Args,
    actuate::{SELECTED_NODE, VolumeGrant, VolumeStep},
    ingest::{
        Ingest, Kind, Rules,
        storage::{Mount, Needy, Refers},
    },
};

/// Two nodes: a driver has room for 100 on n1 and for 200 on n2, and there is one local volume.
struct Disks {
    ingest: Ingest,
}

impl Disks {
    fn new() -> Self {
        let words = ["kai-scheduler", "--schedule-csi-storage"];
        let args = Args::from_command_line(words.map(Into::into)).expect("valid flags");
        let mut disks = Self { ingest: Ingest::new(Rules::new(&args)) };
        let driver = json!({ "metadata": { "name": "disk" }, "spec": { "storageCapacity": true } });
        disks.apply(Kind::CsiDriver, &driver);
        for (class, provisioner) in [("disk", "disk"), ("local", "kubernetes.io/no-provisioner")] {
            let class = json!({
                "metadata": { "name": class },
                "provisioner": provisioner,
                "volumeBindingMode": "WaitForFirstConsumer",
            });
            disks.apply(Kind::StorageClass, &class);
        }
        disks.has("n1", "100");
        disks.has("n2", "200");
        disks.volume("v", "1000");
        for node in ["n1", "n2"] {
            disks.ingest.context.names.node(node);
        }
        disks
    }

    fn apply(&mut self, kind: Kind, object: &Value) {
        self.ingest.applied(kind, object.to_string().as_bytes()).expect("the object can be read");
    }

    /// A driver says how much room a node has.
    fn has(&mut self, node: &str, bytes: &str) {
        let capacity = json!({
            "metadata": { "name": node, "namespace": "ns" },
            "storageClassName": "disk",
            "nodeTopology": { "matchLabels": { "host": node } },
            "capacity": bytes,
        });
        self.apply(Kind::CsiStorageCapacity, &capacity);
    }

    /// A local volume that nobody has.
    fn volume(&mut self, name: &str, bytes: &str) {
        let volume = json!({
            "metadata": { "name": name },
            "spec": { "storageClassName": "local", "capacity": { "storage": bytes } },
            "status": { "phase": "Available" },
        });
        self.apply(Kind::PersistentVolume, &volume);
    }

    /// Counts how many local volumes are free, as the engine is told now; none where it is told nothing of them.
    fn told_free(&mut self) -> Option<usize> {
        self.ingest.advance(Timestamp(0));
        self.ingest.tell_again(&|_| None);
        let mut told = self.ingest.context.deltas.drain(..).filter_map(|delta| {
            if let Delta::Reach(_, reach) = delta { Some(reach.devices.len()) } else { None }
        });
        told.next_back()
    }

    fn claim(&mut self, class: &str, name: &str, bytes: &str, node: Option<&str>) {
        let annotations = node.map_or_else(|| json!({}), |node| json!({ SELECTED_NODE: node }));
        let claim = json!({
            "metadata": { "name": name, "namespace": "ns", "uid": name, "annotations": annotations },
            "spec": { "storageClassName": class, "resources": { "requests": { "storage": bytes } } },
        });
        self.apply(Kind::PersistentVolumeClaim, &claim);
    }

    fn delete_claim(&mut self, name: &str) {
        let claim = json!({ "metadata": { "name": name, "namespace": "ns" } }).to_string();
        let deleted = self.ingest.deleted(Kind::PersistentVolumeClaim, claim.as_bytes());
        deleted.expect("a name can be read");
    }

    /// A pod with claims; its number.
    fn pod(&mut self, claims: &[&str]) -> u32 {
        self.pod_named(&claims.join("-"), claims)
    }

    fn pod_named(&mut self, name: &str, claims: &[&str]) -> u32 {
        let volume = |claim: &&str| json!({ "persistentVolumeClaim": { "claimName": claim } });
        let volumes: Vec<Value> = claims.iter().map(volume).collect();
        let pod = json!({
            "metadata": { "name": name, "namespace": "ns", "uid": name },
            "spec": { "volumes": volumes },
            "status": { "phase": "Pending" },
        });
        self.apply(Kind::Pod, &pod);
        self.ingest.context.names.pods.find(name).expect("it was applied")
    }

    /// The pod is planned to go to a node.
    fn bind(&mut self, pod: u32, node: &str) -> Vec<VolumeGrant> {
        let host = self.ingest.context.names.symbol(node);
        grants(&mut self.ingest, pod, node, None, &|terms| meets(terms, host))
    }

    /// The loop goes round.
    fn cycle(&mut self) {
        self.ingest.advance(Timestamp(0));
        self.ingest.tell_again(&|_| None);
        let hosts = ["n1", "n2"].map(|node| {
            let id = self.ingest.context.names.node(node);
            (id, self.ingest.context.names.symbol(node))
        });
        let of = |node| hosts.iter().find(|(id, _)| *id == node).expect("one of the two").1;
        self.ingest.keep_room(&|node, terms| meets(terms, of(node)));
        self.ingest.advance(Timestamp(0));
        self.ingest.tell_again(&|_| None);
        self.ingest.context.deltas.clear();
    }

    /// The nodes where a pod with claims may get its volumes.
    fn offered(&mut self, claims: &[&str]) -> String {
        let mount = |claim: &&str| Mount { claim: format!("ns/{claim}").into(), ephemeral: false };
        let mounts: Vec<Mount> = claims.iter().map(mount).collect();
        let refers = Arc::new(Refers { mounts, config_maps: Vec::new() });
        let told = Arc::default();
        let needy = Needy { uid: Arc::from(""), claims: Box::default(), refers, told };
        let mut seen: Option<Vec<String>> = None;
        let lacks = self.ingest.needs.volumes.lacks(&needy.refers.mounts);
        for mount in &needy.refers.mounts {
            let Ingest { context, needs, .. } = &mut self.ingest;
            let of_mount = match needs.nodes(context, mount, &needy, &lacks) {
                Ok(None) => continue,
                Ok(Some(nodes)) => nodes.terms,
                Err(problem) => return format!("{problem:?}"),
            };
            let names: Vec<String> = ["n1", "n2"]
                .into_iter()
                .filter(|node| {
                    let host = self.ingest.context.names.symbol(node);
                    meets(&of_mount, host)
                })
                .map(String::from)
                .collect();
            seen = Some(match seen {
                Some(seen) => seen.into_iter().filter(|node| names.contains(node)).collect(),
                None => names,
            });
        }
        seen.map_or_else(|| String::from("*"), |seen| seen.join(" "))
    }
}

/// Tells whether terms name a node, by the label of its host or by its name.
fn meets(terms: &[Vec<Requirement>], host: kai_engine::Symbol) -> bool {
    let holds = |one: &Requirement| matches!(&one.holds, Holds::In(hosts) if hosts.contains(&host));
    terms.iter().any(|term| term.iter().all(holds))
}

#[test]
fn claims_of_a_pod_share_the_room_of_a_node() {
    let mut disks = Disks::new();
    disks.claim("disk", "a", "60", None);
    disks.claim("disk", "b", "60", None);
    assert_eq!(disks.offered(&["a"]), "n1 n2");
    assert_eq!(disks.offered(&["a", "b"]), "n2");
    disks.claim("disk", "b", "150", None);
    assert_eq!(disks.offered(&["a", "b"]), "");
}

#[test]
fn a_failed_bind_gives_its_room_back_though_its_pod_is_gone() {
    let mut disks = Disks::new();
    for name in ["a", "b"] {
        disks.claim("disk", name, "60", None);
        disks.claim("local", &format!("{name}-local"), "60", None);
    }
    let pod = disks.pod(&["a", "a-local"]);
    let grants = disks.bind(pod, "n1");
    disks.cycle();
    assert_eq!(disks.offered(&["a", "a-local"]), "n1 n2", "to itself it is not in the way");
    assert_eq!([disks.offered(&["b"]), disks.offered(&["b-local"])], ["n2", ""]);
    let gone = json!({ "metadata": { "uid": "a-a-local" } }).to_string();
    disks.ingest.deleted(Kind::Pod, gone.as_bytes()).expect("a UID can be read");
    disks.ingest.take_back_volumes(pod, &grants);
    disks.cycle();
    assert_eq!([disks.offered(&["b"]), disks.offered(&["b-local"])], ["n1 n2", "*"]);
}

#[test]
fn a_claim_that_is_gone_gives_its_volume_back() {
    let mut disks = Disks::new();
    disks.claim("local", "a", "60", None);
    disks.claim("local", "b", "60", None);
    let pod = disks.pod(&["a"]);
    disks.bind(pod, "n1");
    assert_eq!(disks.offered(&["b"]), "");
    disks.delete_claim("a");
    assert_eq!(disks.offered(&["b"]), "*");
}

#[test]
fn room_stays_kept_for_claims_that_were_told_their_node() {
    let mut disks = Disks::new();
    // By an earlier process.
    disks.claim("disk", "before", "60", Some("n1"));
    disks.claim("disk", "a", "60", None);
    disks.claim("disk", "b", "150", None);
    disks.cycle();
    assert_eq!([disks.offered(&["a"]), disks.offered(&["b"])], ["n2", "n2"]);
    assert_eq!(disks.offered(&["before"]), "n1", "its own room is its own");
    // By a bind that failed after it.
    let pod = disks.pod(&["a"]);
    let grants = disks.bind(pod, "n2");
    disks.claim("disk", "a", "60", Some("n2"));
    disks.ingest.take_back_volumes(pod, &grants);
    disks.cycle();
    assert_eq!(disks.offered(&["b"]), "");
    // The provisioner gave up, and the other claim got its volume.
    disks.claim("disk", "a", "60", None);
    disks.cycle();
    assert_eq!([disks.offered(&["a"]), disks.offered(&["b"])], ["n2", "n2"]);
    disks.delete_claim("before");
    disks.cycle();
    assert_eq!(disks.offered(&["a"]), "n1 n2");
}

/// Drivers may report the room of a node under another name from one moment to the next.
#[test]
fn a_volume_that_is_made_takes_room_of_whatever_takes_the_place_of_its_capacity() {
    let mut disks = Disks::new();
    disks.claim("disk", "before", "60", Some("n1"));
    disks.claim("disk", "a", "60", None);
    disks.cycle();
    assert_eq!(disks.offered(&["a"]), "n2");
    let gone = json!({ "metadata": { "name": "n1", "namespace": "ns" } }).to_string();
    let deleted = disks.ingest.deleted(Kind::CsiStorageCapacity, gone.as_bytes());
    deleted.expect("a name can be read");
    let capacity = json!({
        "metadata": { "name": "another", "namespace": "ns" },
        "storageClassName": "disk",
        "nodeTopology": { "matchLabels": { "host": "n1" } },
        "capacity": "100",
    });
    disks.apply(Kind::CsiStorageCapacity, &capacity);
    disks.cycle();
    assert_eq!(disks.offered(&["a"]), "n2");
}

#[test]
fn a_claim_that_cannot_be_made_where_it_says_takes_no_room() {
    let mut disks = Disks::new();
    disks.claim("disk", "huge", "1000", Some("n1"));
    disks.claim("disk", "a", "60", None);
    disks.cycle();
    assert_eq!(disks.offered(&["a"]), "n1 n2");
}

#[test]
fn a_capacity_that_says_the_same_again_has_nobody_looked_at() {
    let mut disks = Disks::new();
    disks.cycle();
    disks.has("n1", "100");
    assert!(!disks.ingest.needs.unbound_due);
    disks.has("n1", "90");
    assert!(disks.ingest.needs.unbound_due);
}

#[test]
fn a_volume_that_is_made_for_a_claim_has_nobody_else_looked_at() {
    let mut disks = Disks::new();
    disks.claim("disk", "a", "60", None);
    disks.cycle();
    for phase in ["Pending", "Bound"] {
        let volume = json!({
            "metadata": { "name": "made" },
            "spec": {
                "storageClassName": "disk",
                "capacity": { "storage": "60" },
                "claimRef": { "namespace": "ns", "name": "a", "uid": "a" },
            },
            "status": { "phase": phase },
        });
        disks.apply(Kind::PersistentVolume, &volume);
        assert!(!disks.ingest.needs.unbound_due, "{phase}");
    }
    disks.volume("free", "60");
    assert!(disks.ingest.needs.unbound_due, "anybody may have it");
}

#[test]
fn a_volume_is_counted_but_while_a_bind_gives_it_away() {
    let mut disks = Disks::new();
    disks.claim("local", "a", "60", None);
    let pod = disks.pod(&["a"]);
    assert_eq!(disks.told_free(), Some(1));
    let grants = disks.bind(pod, "n1");
    assert_eq!(disks.told_free(), Some(0));
    disks.volume("v", "1001");
    assert_eq!(disks.told_free(), None, "what the bind writes does not show yet");
    disks.ingest.take_back_volumes(pod, &grants);
    assert_eq!(disks.told_free(), Some(1));
    disks.bind(pod, "n1");
    disks.delete_claim("a");
    assert_eq!(disks.told_free(), Some(0), "nobody asks for one");
}

#[test]
fn a_claim_gets_the_volume_that_the_plan_reserved() {
    let mut disks = Disks::new();
    disks.volume("large", "2000");
    disks.claim("local", "a", "60", None);
    let pod = disks.pod(&["a"]);
    disks.told_free();
    let names = &disks.ingest.context.names;
    let claim = names.claims.find("volume:ns/a").map(ClaimId::new);
    let device = names.slice_devices.find("volume:large").map(SliceDeviceId::new);
    let claimed = Claimed { claim, request: 0, device: device.expect("it was told") };
    let reserved = Reserved { claims: vec![claimed], ..Reserved::default() };
    let mut given = |reserved: Option<&Reserved>| {
        let grants = grants(&mut disks.ingest, pod, "n1", reserved, &|_| true);
        let steps: Vec<VolumeStep> = grants.iter().map(|grant| grant.step.clone()).collect();
        disks.ingest.take_back_volumes(pod, &grants);
        steps
    };
    assert_eq!(given(Some(&reserved)), [VolumeStep::Give(Box::from("large"))]);
    assert_eq!(given(None), [VolumeStep::Give(Box::from("v"))]);
}

/// So many pods have a claim that not all are told in the same round on which node it has its volume by now.
#[test]
fn a_pod_that_was_not_told_yet_what_its_claim_allows_is_not_bound_where_it_cannot_be_used() {
    let mut disks = Disks::new();
    disks.claim("disk", "a", "60", None);
    let pods = (0..1_500).map(|pod| disks.pod_named(&pod.to_string(), &["a"]));
    let pods: Vec<u32> = pods.collect();
    disks.cycle();
    disks.claim("disk", "a", "60", Some("n1"));
    disks.ingest.advance(Timestamp(0));
    disks.ingest.tell_some_again(&|_| Some(Pod::default()));
    let late = *pods.last().expect("there are pods");
    assert!(disks.ingest.has_late());
    let step = |disks: &mut Disks, node| {
        let grants = disks.bind(late, node).into_iter();
        grants.map(|grant| grant.step).collect::<Vec<_>>()
    };
    assert_eq!(step(&mut disks, "n2"), [VolumeStep::Refuse]);
    assert_eq!(step(&mut disks, "n1"), [VolumeStep::Provision]);
}
