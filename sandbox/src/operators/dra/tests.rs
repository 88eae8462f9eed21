//! The controller and the driver by their steps.

use kube::core::{DynamicObject, Status};
use serde_json::{Value, json};

use super::decide::Deed;
use super::name;
use super::seen::{Key, Seen, Watched, rows};

/// Applies what is to be done until nothing is, and says each step in words. A pod that was not told is not there.
fn play(objects: &[(Watched, Value)]) -> Vec<String> {
    let mut seen = Seen::default();
    for (kind, value) in objects {
        seen.apply(*kind, object(value));
    }
    let mut told = Vec::new();
    while let Some((key, deed)) = seen.next_deed() {
        told.push(words(&deed));
        assert!(told.len() < 20, "it does not come to rest: {told:?}");
        match deed {
            Deed::Read(_, uid) => seen.note_absent(uid),
            Deed::Create(kind, mut object) => {
                let start = object.metadata.generate_name.take();
                let name = object.metadata.name.take().or(start);
                object.metadata.uid.clone_from(&name);
                object.metadata.name = name;
                seen.apply(kind, object);
            }
            Deed::Name(mut pod, names) => {
                pod.data["status"]["resourceClaimStatuses"] = names;
                seen.apply(Watched::Pod, pod);
            }
            Deed::Free(claim) => {
                seen.apply(Watched::Claim, claim.clone());
                if let Some(claim) = super::decide::unprotected(&claim) {
                    seen.apply(Watched::Claim, claim);
                }
            }
            Deed::Unprotect(claim) => seen.apply(Watched::Claim, claim),
            Deed::Delete(claim) => seen.delete(Watched::Claim, &claim),
        }
        seen.look_at(key);
    }
    told
}

fn words(deed: &Deed) -> String {
    match deed {
        Deed::Read(Key { name, .. }, uid) => format!("read {name} {uid}"),
        Deed::Create(kind, object) => {
            let start = object.metadata.generate_name.as_deref();
            format!("create {kind:?} {}", start.unwrap_or(name(object)))
        }
        Deed::Name(pod, names) => {
            let names = names.as_array().into_iter().flatten();
            let names: Vec<String> =
                names.map(|one| format!("{}={}", one["name"], one["resourceClaimName"])).collect();
            format!("name {} {}", name(pod), names.join(" ")).replace('"', "")
        }
        Deed::Free(claim) => {
            let status = &claim.data["status"];
            let kept = rows(&status["reservedFor"]).iter().map(|one| one["name"].as_str());
            let kept: Vec<&str> = kept.map(Option::unwrap_or_default).collect();
            let devices = if status["allocation"].is_null() { " without devices" } else { "" };
            format!("free {} but for [{}]{devices}", name(claim), kept.join(" "))
        }
        Deed::Unprotect(claim) => format!("unprotect {}", name(claim)),
        Deed::Delete(claim) => format!("delete {}", name(claim)),
    }
}

fn object(value: &Value) -> DynamicObject {
    serde_json::from_value(value.clone()).expect("an object in the test")
}

#[track_caller]
fn check(objects: &[(Watched, Value)], expect: &[&str]) {
    assert_eq!(play(objects), expect);
}

/// A pod with an entry for a template and one for a claim by its name.
fn pod(status: &Value) -> (Watched, Value) {
    let entries = json!([
        {"name": "own", "resourceClaimTemplateName": "t"},
        {"name": "shared", "resourceClaimName": "c"},
    ]);
    let metadata = json!({"name": "p", "namespace": "n", "uid": "u"});
    let spec = json!({"nodeName": "node-1", "resourceClaims": entries});
    (Watched::Pod, json!({"metadata": metadata, "spec": spec, "status": status}))
}

/// The same pod while it is being deleted, with a grace of so many seconds left.
fn leaving(node: &str, phase: &str, grace: i64) -> (Watched, Value) {
    let (kind, mut pod) = pod(&json!({ "phase": phase }));
    pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
    pod["spec"]["nodeName"] = json!(node);
    (kind, pod)
}

fn template() -> (Watched, Value) {
    let spec = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"devices": {}}});
    (Watched::Template, json!({"metadata": {"name": "t", "namespace": "n"}, "spec": spec}))
}

/// A claim with a device, reserved for pods that are named as their UIDs.
fn claim(name: &str, consumers: &[[&str; 2]]) -> Value {
    let reserved: Vec<Value> = consumers
        .iter()
        .map(|[name, uid]| json!({"resource": "pods", "name": name, "uid": uid}))
        .collect();
    let finalizers = ["resource.kubernetes.io/delete-protection"];
    json!({
        "metadata": {"name": name, "namespace": "n", "uid": name, "finalizers": finalizers},
        "status": {"allocation": {}, "reservedFor": reserved},
    })
}

/// The claim that was made for the pod.
fn made(consumers: &[[&str; 2]]) -> Value {
    let mut claim = claim("p-own-x", consumers);
    claim["metadata"]["annotations"] = json!({"resource.kubernetes.io/pod-claim-name": "own"});
    claim["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}]);
    claim
}

#[test]
fn a_template_becomes_a_claim_that_the_pod_names() {
    check(&[pod(&Value::Null)], &[]);
    let steps = ["create Claim p-own-", "name p own=p-own-"];
    check(&[pod(&Value::Null), template()], &steps);
    check(&[template(), pod(&Value::Null)], &steps);
    let is_there = (Watched::Claim, made(&[]));
    check(&[pod(&Value::Null), template(), is_there.clone()], &["name p own=p-own-x"]);
    let said = json!({"resourceClaimStatuses": [{"name": "own", "resourceClaimName": "p-own-x"}]});
    check(&[pod(&said), template(), is_there], &[]);
    check(&[pod(&said), template()], &steps);
    check(&[leaving("node-1", "Pending", 30), template()], &[]);
}

#[test]
fn a_claim_is_made_as_its_template_says() {
    let mut seen = Seen::default();
    for (kind, value) in [template(), pod(&Value::Null)] {
        seen.apply(kind, object(&value));
    }
    let Some((_, Deed::Create(Watched::Claim, claim))) = seen.next_deed() else {
        panic!("no claim is made");
    };
    let value = serde_json::to_value(claim).expect("a claim is a value");
    let expect = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {
            "generateName": "p-own-", "namespace": "n", "labels": {"a": "b"},
            "annotations": {"resource.kubernetes.io/pod-claim-name": "own"},
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u",
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {"devices": {}},
    });
    assert_eq!(value, expect);
}

#[test]
fn devices_go_back_with_the_last_pod_that_ends() {
    let shared = |consumers: &[[&str; 2]]| (Watched::Claim, claim("c", consumers));
    let status = |phase: &str| json!({ "phase": phase });
    check(&[pod(&status("Running")), shared(&[["p", "u"]])], &[]);
    check(
        &[pod(&status("Succeeded")), shared(&[["p", "u"]])],
        &["free c but for [] without devices"],
    );
    let both = shared(&[["p", "u"], ["gone", "w"]]);
    check(&[pod(&status("Running")), both], &["read gone w", "free c but for [p]"]);
    check(&[shared(&[["p", "u"]])], &["read p u", "free c but for [] without devices"]);
    let replaced = shared(&[["p", "before"]]);
    check(
        &[pod(&status("Running")), replaced],
        &["read p before", "free c but for [] without devices"],
    );
    check(&[pod(&status("Running")), shared(&[])], &[]);
}

/// A pod is read for a claim before the watch says that the one before it is gone, whose end is then that of another pod.
#[test]
fn devices_go_back_although_the_next_pod_of_the_name_is_known_first() {
    let mut seen = Seen::default();
    let (kind, before) = pod(&json!({"phase": "Running"}));
    seen.apply(Watched::Claim, object(&claim("c", &[["p", "u"]])));
    seen.apply(kind, object(&before));
    assert_eq!(seen.next_deed(), None);
    let next = json!({"metadata": {"name": "p", "namespace": "n", "uid": "w"}, "spec": {}});
    seen.apply(kind, object(&next));
    seen.delete(kind, &object(&before));
    let words = seen.next_deed().map(|(_, deed)| words(&deed));
    assert_eq!(words.as_deref(), Some("read p u"));
}

#[test]
fn a_claim_that_was_made_goes_with_its_pod() {
    let own = |consumers: &[[&str; 2]]| (Watched::Claim, made(consumers));
    let gone = ["free p-own-x but for [] without devices", "delete p-own-x"];
    check(&[pod(&json!({"phase": "Failed"})), own(&[["p", "u"]])], &gone);
    check(&[leaving("", "Pending", 0), own(&[["p", "u"]])], &gone);
    check(&[leaving("node-1", "Pending", 0), own(&[["p", "u"]])], &gone);
    check(&[leaving("node-1", "Pending", 30), own(&[["p", "u"]])], &[]);
    check(&[leaving("node-1", "Running", 0), own(&[["p", "u"]])], &[]);
    check(&[own(&[])], &[]);
}

/// Somebody waits for it to go, as a pod that is deleted in the foreground does.
#[test]
fn a_claim_that_is_being_deleted_goes_once_nobody_has_it() {
    let deleted = |mut claim: Value| {
        claim["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        (Watched::Claim, claim)
    };
    check(&[deleted(claim("c", &[]))], &["free c but for [] without devices"]);
    let mut empty = claim("c", &[]);
    empty["status"] = json!({});
    check(&[deleted(empty)], &["unprotect c"]);
    let own = deleted(made(&[["p", "u"]]));
    check(
        &[leaving("node-1", "Failed", 30), own.clone()],
        &["free p-own-x but for [] without devices"],
    );
    check(&[leaving("node-1", "Running", 30), own], &[]);
}

#[test]
fn a_node_has_its_slice() {
    let node = json!({"metadata": {"name": "node-1", "uid": "first"}});
    check(&[(Watched::Node, node.clone())], &["create Slice node-1-nic.example.com"]);
    let mut seen = Seen::default();
    let slice = json!({"metadata": {"name": "node-1-nic.example.com", "uid": "s"},
        "spec": {"nodeName": "node-1"}});
    seen.apply(Watched::Slice, object(&slice));
    seen.apply(Watched::Node, object(&node));
    assert_eq!(seen.next_deed(), None);
    seen.delete(Watched::Slice, &object(&slice));
    let words = seen.next_deed().map(|(_, deed)| words(&deed));
    assert_eq!(words.as_deref(), Some("create Slice node-1-nic.example.com"));
}

/// An answer is known before the watch shows what was before it.
#[test]
fn what_is_known_is_not_forgotten_for_older_news() {
    let mut seen = Seen::default();
    let claim = |version: &str, status: Value| {
        json!({"metadata": {"name": "c", "namespace": "n", "uid": "c", "resourceVersion": version},
            "status": status})
    };
    seen.apply(Watched::Claim, object(&claim("10", json!({}))));
    let reserved = json!({"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]});
    seen.apply(Watched::Claim, object(&claim("9", reserved.clone())));
    assert_eq!(seen.next_deed(), None);
    seen.apply(Watched::Claim, object(&claim("11", reserved)));
    assert!(matches!(seen.next_deed(), Some((_, Deed::Read(..)))));
}

#[test]
fn a_long_name_is_cut_in_both_halves() {
    let check = |pod: &str, entry: &str, expect: &str| {
        let metadata = json!({"name": pod, "namespace": "n", "uid": "u"});
        let entries = json!([{"name": entry, "resourceClaimTemplateName": "t"}]);
        let pod = json!({"metadata": metadata, "spec": {"resourceClaims": entries}});
        let told = play(&[template(), (Watched::Pod, pod)]);
        assert_eq!(told[0], format!("create Claim {expect}"));
    };
    check("p", "gpu", "p-gpu-");
    check(&"p".repeat(54), "e", &format!("{}-e-", "p".repeat(54)));
    // 112 letters of 114 go into 57: the half of each.
    let cut = format!("{}-{}", "p".repeat(30), "e".repeat(26));
    check(&"p".repeat(60), &"e".repeat(52), &cut);
}

/// The pod would wait for ever for a claim that nobody makes.
#[test]
fn a_name_that_was_made_up_and_is_taken_is_made_up_anew() {
    for (metadata, reason, code, is_overtaken) in [
        (json!({"name": "s"}), "AlreadyExists", 409, true),
        (json!({"generateName": "p-gpu-"}), "AlreadyExists", 409, false),
        (json!({"generateName": "p-gpu-"}), "NotFound", 404, true),
        (json!({"generateName": "p-gpu-"}), "InternalError", 500, false),
    ] {
        let deed = Deed::Create(Watched::Claim, object(&json!({"metadata": metadata})));
        let status = Status::failure("no", reason).with_code(code);
        let error = kube::Error::Api(Box::new(status));
        assert_eq!(super::is_overtaken(&deed, &error), is_overtaken, "{metadata} {reason}");
    }
}
