//! Places that pods are given where there are several, and places that are not for them.

use std::collections::BTreeSet;

use super::*;

/// Checks what is decided in the first cycle of a world with one queue.
fn check(text: &str, expect: &[&str]) {
    let mut world = world(&format!("queues: {{ q: {{ quota: unlimited }} }}\n{text}"));
    assert_eq!(decide(&mut world, 0), expect, "{text}");
}

/// Two light wishes about the labels of a node outweigh a heavy one.
#[test]
fn weights_of_all_terms_that_a_node_meets_are_added() {
    let wishes = "[{ weight: 30, node: { disk: ssd } }, { weight: 30, node: { net: fast } }, \
                  { weight: 50, node: { zone: near } }]";
    check(
        &format!(
            "nodes:\n\
             \x20 a: {{ gpus: 1, labels: {{ disk: ssd, net: fast }} }}\n\
             \x20 b: {{ gpus: 1, labels: {{ zone: near }} }}\n\
             groups: {{ one: {{ queue: q, gpus: 1, prefers: {wishes} }} }}"
        ),
        &["place one on a"],
    );
}

/// A pod goes where it spans the fewest zones, however many amounts it has in them.
#[test]
fn amounts_in_one_zone_span_one_zone() {
    check(
        "nodes:\n\
         \x20 a: { gpus: 1, cpu: 4, zones: { policy: best-effort, cpu: [4, 0], gpus: [0, 1] } }\n\
         \x20 b: { gpus: 4, cpu: 8, zones: { policy: best-effort, cpu: [4, 4], gpus: [2, 2] } }\n\
         groups: { one: { queue: q, gpus: 1, cpu: 2, guaranteed: true } }",
        &["place one on b zone 0"],
    );
}

/// The port of a pod that leaves is not free before it is gone, though there is room for both.
#[test]
fn a_port_is_taken_until_its_pod_is_gone() {
    check(
        "nodes: { node0: { gpus: 2 } }\n\
         groups:\n\
         \x20 old: { queue: q, gpus: 1, ports: [\"80\"], on: node0, state: releasing }\n\
         \x20 new: { queue: q, gpus: 1, ports: [\"80\"] }",
        &["nominate new on node0"],
    );
}

/// Two racks of a topology, with two GPUs in the first and one in the second.
const RACKS: &str = "topologies: { dc: [rack] }\n\
                     nodes:\n\
                     \x20 a: { gpus: 2, labels: { rack: x } }\n\
                     \x20 b: { gpus: 1, labels: { rack: y } }\n\
                     \x20 c: { gpus: 1 }\n";

/// A node that a pod's status nominates is none for it where its gang has to be elsewhere.
#[test]
fn a_nominated_node_of_another_rack_is_passed_over() {
    let members = "{ first: { gpus: 1 }, second: { gpus: 1, nominated: b } }";
    check(
        &format!("{RACKS}groups: {{ gang: {{ queue: q, required: rack, members: {members} }} }}"),
        &["place gang-first gang-second on a"],
    );
}

/// If racks are only preferred, a node that a pod's status nominates is none for it outside the zone of its gang.
#[test]
fn a_nominated_node_of_another_zone_is_passed_over() {
    let mut world = world(
        "topologies: { dc: [zone, rack] }\n\
         nodes:\n\
         \x20 a: { gpus: 1, labels: { zone: near, rack: x } }\n\
         \x20 b: { gpus: 1, labels: { zone: near, rack: y } }\n\
         \x20 c: { gpus: 1, labels: { zone: far, rack: z } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 gang:\n\
         \x20   queue: q\n\
         \x20   required: zone\n\
         \x20   preferred: rack\n\
         \x20   members: { first: { gpus: 1 }, second: { gpus: 1, nominated: c } }",
    );
    let told = decide(&mut world, 0);
    let nodes: BTreeSet<&str> = told.iter().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(nodes, BTreeSet::from(["a", "b"]), "{told:?}");
}

/// One level may be the required and the preferred one.
#[test]
fn a_level_that_is_required_may_be_preferred_as_well() {
    let gang = "{ queue: q, pods: 2, gpus: 1, required: rack, preferred: rack }";
    check(&format!("{RACKS}groups: {{ gang: {gang} }}"), &["place gang-0..1 on a"]);
}

/// A group that runs in several racks, as the level was asked for later, goes on in any of them; one that runs outside
/// all racks in none.
#[test]
fn a_group_grows_where_it_runs_already() {
    let grows = |first: &str, second: &str| {
        let members = format!(
            "{{ first: {{ gpus: 1, on: {first} }}, second: {{ gpus: 1, on: {second} }}, third: {{ gpus: 1 }} }}"
        );
        format!(
            "{RACKS}\x20 d: {{ gpus: 1 }}\n\
             groups: {{ one: {{ queue: q, min: 1, required: rack, members: {members} }} }}"
        )
    };
    check(&grows("a", "b"), &["place one-third on a"]);
    check(&grows("c", "d"), &["idle"]);
}

/// So many groups of one queue may be moved as the configuration says, and not the first of them alone.
#[test]
fn as_many_victims_of_a_queue_are_moved_as_may_be() {
    for (victims, is_placed) in [(1, false), (2, true)] {
        let mut world = world(&format!(
            "config: {{ consolidation_victims: {victims} }}\n\
             nodes: {{ node0: {{ gpus: 4 }}, node1: {{ gpus: 4 }} }}\n\
             queues: {{ research: {{ quota: 8 }} }}\n\
             groups:\n\
             \x20 a0: {{ queue: research, gpus: 1, on: node0 }}\n\
             \x20 a1: {{ queue: research, gpus: 1, on: node0 }}\n\
             \x20 b0: {{ queue: research, gpus: 1, on: node1 }}\n\
             \x20 b1: {{ queue: research, gpus: 1, on: node1 }}\n\
             \x20 large: {{ queue: research, gpus: 4 }}"
        ));
        let told = decide(&mut world, 0);
        let nominated = told.iter().any(|line| line.starts_with("nominate large on "));
        assert_eq!(nominated, is_placed, "{victims}: {told:?}");
    }
}
