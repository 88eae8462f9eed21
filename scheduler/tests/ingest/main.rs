//! Objects of the API against the deltas that the engine is told: one YAML file per idea.
//!
//! A file has `objects`, applied in order (`deleted: Kind` and `listed: Kind` stand for a deletion
//! and for a full list that holds nothing, `begun: Kind` and `ended: Kind` are around one that holds what stands between; `flush: true` lets the loop go round once, `used` is what queues used in
//! the past, `paused` leaves a `group` of the namespace `ml` out or lets it back in, `placed` says of a `pod` by UID whether a
//! plan gave it a place, with what it asked for of GPUs, `aligned` is the resources that the
//! plugin `numa` ignores, or none where it is off), `flags` as on the command line, and `expect`, one line per delta.
//! Only what differs from the default is printed.

mod bounds;
mod listed;
mod spoken;
mod text;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fmt::Write as _,
    fs,
    path::Path,
};

use kai_engine::{Delta, NodeId, PerLane, Pod, PodState, Timestamp};
use kai_scheduler::{
    Args,
    cel::{COST_MAX, Selector},
    ingest::{Ingest, Kind, Rules},
    names::Number,
    settings::Aligning,
};
use serde::Deserialize;
use serde_json::{Value, json};
use spoken::Spoken;
use text::line;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    #[serde(default)]
    flags: Vec<String>,
    objects: Vec<Value>,
    /// Tells whether what is told rests on what was there before.
    #[serde(default)]
    remembers: bool,
    expect: String,
}

/// 2026-01-01T00:00:00Z, so that ages in the files are plain.
const NOW: Timestamp = Timestamp(1_767_225_600_000);

/// Lists all files by name, each with what it says.
fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ingest");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|file| file.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() > 5, "the cases are missing");
    let case = |file: std::path::PathBuf| {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let file = file.display().to_string();
        let case: Case =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        (file, case)
    };
    files.into_iter().map(case).collect()
}

#[test]
fn every_file_tells_the_engine_what_it_says() {
    let mut failures = String::new();
    for (file, case) in cases() {
        let told = told(&case);
        if told.trim() != case.expect.trim() {
            let _ = writeln!(failures, "{file} ({}):\n{told}", case.title);
        }
    }
    assert!(failures.is_empty(), "told otherwise than expected:\n{failures}");
}

/// A user says how long a pod may take to go, and may have it gone at once all the same.
#[test]
fn a_pod_that_is_gone_is_looked_at_no_more() {
    let mut ingest = ingest(&Case::default());
    let pod = json!({ "kind": "Pod", "metadata": { "name": "a", "namespace": "ml",
        "uid": "00000000-0000-0000-0000-000000000001", "deletionTimestamp": "2056-01-01T00:00:00Z" },
        "spec": { "schedulerName": "kai-scheduler", "nodeName": "n1" } });
    apply(&mut ingest, &pod);
    assert!(ingest.next_wake().is_some());
    apply(&mut ingest, &json!({ "deleted": "Pod", "metadata": pod["metadata"] }));
    assert_eq!(ingest.next_wake(), None);
    apply(&mut ingest, &pod);
    let mut ended = pod;
    ended["status"] = json!({ "phase": "Succeeded" });
    apply(&mut ingest, &ended);
    assert_eq!(ingest.next_wake(), None, "one that has ended goes nowhere");
}

/// A scheduler that starts anew has a pod go where it was promised a place.
#[test]
fn a_pod_is_told_with_the_node_that_it_is_nominated_for() {
    let mut ingest = ingest(&Case::default());
    for name in ["other", "promised"] {
        apply(&mut ingest, &json!({ "kind": "Node", "metadata": { "name": name } }));
    }
    let pod = json!({ "kind": "Pod", "metadata": { "name": "a", "namespace": "ml",
        "uid": "00000000-0000-0000-0000-000000000001" },
        "status": { "phase": "Pending", "nominatedNodeName": "promised" } });
    apply(&mut ingest, &pod);
    let told = told_last(&ingest, 0).expect("it was told");
    assert_eq!(told.nominated, Some(NodeId::new(1)));
}

/// Promises what a pod holds from ten minutes before it is to be gone until two minutes after, by the clock alone.
#[test]
fn a_pod_that_goes_late_offers_its_room_shortly_before() {
    let flag = String::from("--update-pod-eviction-condition=true");
    let mut ingest = ingest(&Case { flags: vec![flag], ..Case::default() });
    ingest.advance(NOW);
    let pod = json!({ "kind": "Pod", "metadata": { "name": "a", "namespace": "ml",
        "uid": "00000000-0000-0000-0000-000000000001", "deletionTimestamp": "2026-01-01T01:00:00Z" },
        "spec": { "nodeName": "n1" } });
    apply(&mut ingest, &pod);
    let (mut now, mut stands) = (NOW, Vec::new());
    loop {
        let told = told_last(&ingest, 0);
        let releases = told.as_ref().is_some_and(|pod| matches!(pod.state, PodState::Releasing(_)));
        let is_stuck = told.as_ref().is_some_and(|pod| matches!(pod.state, PodState::Stuck(_)));
        stands.push(((now.0 - NOW.0) / 60_000, releases, is_stuck));
        let Some(next) = ingest.next_wake() else { break };
        now = next;
        ingest.advance(now);
        ingest.tell_again(&|_| told.clone());
    }
    assert_eq!(stands, [(0, false, false), (50, true, false), (62, false, true)]);
}

/// A class of the priority that groups without one have tells the engine nothing, and is news all the same.
#[test]
fn a_class_that_changes_nothing_makes_its_groups_certain() {
    let mut ingest = ingest(&Case::default());
    let group = json!({ "kind": "PodGroup", "metadata": { "name": "a", "namespace": "ml" },
        "spec": { "queue": "team", "priorityClassName": "train" } });
    apply(&mut ingest, &group);
    let row = ingest.context.names.group("ml", "a").number();
    assert!(!ingest.context.names.groups[row].is_preemptible);
    let class = json!({ "kind": "PriorityClass", "metadata": { "name": "train" }, "value": 50 });
    apply(&mut ingest, &class);
    assert!(ingest.context.names.groups[row].is_preemptible);
}

#[test]
fn a_shard_that_goes_to_another_pool_rules_this_one_no_longer() {
    let mut ingest = ingest(&Case::default());
    let counts = ["", "other"].map(|pool| {
        let spec = json!({ "partitionLabelValue": pool, "placementStrategy": { "gpu": "spread" } });
        apply(
            &mut ingest,
            &json!({ "kind": "SchedulingShard", "metadata": { "name": "a" }, "spec": spec }),
        );
        (ingest.shards.iter().count(), ingest.shards.take_changed())
    });
    assert_eq!(counts, [(1, true), (0, true)]);
}

/// A level may be named by its alias, and the topology come later.
#[test]
fn groups_that_name_levels_anywhere_are_read_again_with_new_aliases() {
    let levels = json!({ "topology": "racks", "requiredTopologyLevel": "rack" });
    let aliases = json!({ "kind": "Topology", "metadata": { "name": "racks" },
        "spec": { "levels": [{ "nodeLabel": "example.com/rack", "alias": "rack" }] } });
    for (spec, expect) in [
        (json!({}), vec![]),
        (json!({ "topologyConstraint": levels }), vec![Kind::PodGroup]),
        (
            json!({ "subGroups": [{ "name": "a" }, { "name": "b", "topologyConstraint": levels }] }),
            vec![Kind::PodGroup],
        ),
    ] {
        let mut ingest = ingest(&Case::default());
        let metadata = json!({ "name": "a", "namespace": "ml" });
        apply(&mut ingest, &json!({ "kind": "PodGroup", "metadata": metadata, "spec": spec }));
        apply(&mut ingest, &aliases);
        assert_eq!(ingest.context.resync, expect, "{spec}");
    }
}

/// Names of zones say what a pod holds of them, and the pod may be heard of before the zones of its node.
#[test]
fn pods_are_read_again_where_zones_of_their_node_have_other_names() {
    let zones = |node: &str, zone: &str| {
        let cores = json!({ "name": "cpu", "capacity": "8", "allocatable": "8", "available": "8" });
        let zone = json!({ "name": zone, "type": "Node", "resources": [cores] });
        json!({ "kind": "NodeResourceTopology", "metadata": { "name": node }, "zones": [zone] })
    };
    let mut ingest = ingest(&Case::default());
    apply(&mut ingest, &json!({ "aligned": [] }));
    let pod = json!({ "kind": "Pod", "metadata": { "name": "p", "namespace": "ml",
        "uid": "00000000-0000-0000-0000-000000000001" }, "spec": { "nodeName": "n1" } });
    apply(&mut ingest, &pod);
    for (node, zone, expect) in [
        ("n1", "node-0", vec![Kind::Pod]),
        ("n1", "node-0", vec![]),
        ("n1", "zone-0", vec![Kind::Pod]),
        // There are no pods on it.
        ("n2", "node-0", vec![]),
        ("n2", "zone-0", vec![]),
    ] {
        ingest.context.resync.clear();
        apply(&mut ingest, &zones(node, zone));
        assert_eq!(ingest.context.resync, expect, "{zone} of {node}");
    }
}

/// Its bind writes over that; of a pod that has a node, what looks at the node says it.
#[test]
fn a_pod_that_says_of_which_zones_it_will_be_is_known() {
    for (key, node, expect) in [
        ("kai.scheduler/numa-placement-observed", "", true),
        ("kai.scheduler/numa-placement-predicted", "", true),
        ("kai.scheduler/numa-placement-observed", "n1", false),
        ("kai.scheduler/topology", "", false),
    ] {
        let mut ingest = ingest(&Case::default());
        let pod = json!({ "kind": "Pod", "metadata": { "name": "a", "namespace": "ml",
            "uid": "00000000-0000-0000-0000-000000000001", "annotations": { key: "[]" } },
            "spec": { "schedulerName": "kai-scheduler", "nodeName": node } });
        apply(&mut ingest, &pod);
        assert_eq!(ingest.context.names.pods[0].says_zones, expect, "{key}, node {node:?}");
    }
}

/// An ingest that has heard of nothing, with the flags of a file.
fn ingest(case: &Case) -> Ingest {
    let program = std::iter::once("kai-scheduler");
    let words = program.chain(case.flags.iter().map(String::as_str)).map(OsString::from);
    let args = Args::from_command_line(words).expect("the flags are valid");
    Ingest::new(Rules::new(&args))
}

fn told(case: &Case) -> String {
    let mut ingest = ingest(case);
    go_round(&mut ingest);
    for object in &case.objects {
        apply(&mut ingest, object);
    }
    go_round(&mut ingest);
    let deltas = std::mem::take(&mut ingest.context.deltas);
    let names = Spoken { names: &ingest.context.names, is_by_name: false };
    deltas.iter().map(|delta| line(delta, &names) + "\n").collect()
}

/// Tells what is known once all selectors were asked, to an engine that was told all so far.
fn go_round(ingest: &mut Ingest) {
    advance(ingest);
    let mut told = BTreeMap::new();
    for delta in &ingest.context.deltas {
        if let Delta::Pod(id, pod) = delta {
            told.insert(*id, pod.clone());
        } else if let Delta::PodGone(id) = delta {
            told.remove(id);
        }
    }
    ingest.tell_again(&|pod| told.get(&pod).map(|facts| Pod::clone(facts)));
    advance(ingest);
}

/// Asks all selectors.
fn advance(ingest: &mut Ingest) {
    ingest.advance(NOW);
    while !ingest.context.questions.is_empty() {
        let questions = std::mem::take(&mut ingest.context.questions).into_iter();
        let judged = questions.map(|question| {
            let selector = Selector::new(&question.expression);
            let (verdict, _) = selector.judge(&question.device, COST_MAX);
            question.answer(verdict)
        });
        ingest.answered(judged.collect());
        ingest.advance(NOW);
    }
}

/// The facts of a pod as they were told last.
fn told_last(ingest: &Ingest, pod: u32) -> Option<Pod> {
    ingest.context.deltas.iter().rev().find_map(|delta| {
        let Delta::Pod(id, facts) = delta else { return None };
        (id.number() == pod).then(|| Pod::clone(facts))
    })
}

fn apply(ingest: &mut Ingest, object: &Value) {
    if object["flush"] == true {
        go_round(ingest);
        return;
    }
    if let Some(begun) = object["begun"].as_str() {
        ingest.begin(kind(begun));
        return;
    }
    if let Some(ended) = object["ended"].as_str() {
        ingest.end(kind(ended));
        return;
    }
    if let Some(listed) = object["listed"].as_str() {
        ingest.begin(kind(listed));
        ingest.end(kind(listed));
        return;
    }
    if let (Some(placed), Some(pod)) = (object["placed"].as_bool(), object["pod"].as_str()) {
        let pod = ingest.context.names.pods.find(pod).expect("a pod that was applied");
        if placed {
            let asked = told_last(ingest, pod).map(|facts| facts.shape.gpu).unwrap_or_default();
            ingest.placed(pod, &asked);
        } else {
            ingest.not_placed(pod);
        }
        return;
    }
    if let (Some(paused), Some(group)) = (object["paused"].as_bool(), object["group"].as_str()) {
        let group = ingest.context.names.group("ml", group).number();
        ingest.pause(group, paused);
        return;
    }
    if let Some(used) = object.get("used") {
        let used: BTreeMap<Box<str>, [u64; 3]> =
            serde_json::from_value(used.clone()).expect("queues with millionths");
        ingest.used(used.into_iter().map(|(queue, used)| (queue, PerLane(used))).collect());
        return;
    }
    if let Some(ignored) = object.get("aligned") {
        let ignored: Option<BTreeSet<String>> =
            serde_json::from_value(ignored.clone()).expect("resources, or nothing");
        ingest.align(ignored.map(|ignored| Aligning { ignored }));
        return;
    }
    let bytes = object.to_string();
    if let Some(deleted) = object["deleted"].as_str() {
        ingest.deleted(kind(deleted), bytes.as_bytes()).expect("a name can be read");
    } else if let Some(name) = object["kind"].as_str() {
        ingest.applied(kind(name), bytes.as_bytes()).expect("the object can be read");
    }
}

fn kind(name: &str) -> Kind {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).expect("a kind that is watched")
}
