//! Proofs by counting: no eviction lets a group in, and why; and what placement by fragments keeps of use.

use std::fmt::Write;

use kai_engine::{EvictionKind, Shortage, Typical};

use super::*;

/// Six nodes of 2 GPUs in three racks, full of one-GPU pods of a queue that is entitled to `kept` GPUs; the other one is
/// entitled to 8.
fn full(kept: u32) -> World {
    let mut text = format!(
        "topologies: {{ racks: [rack] }}\n\
         queues: {{ {}, owner: {{ quota: 8 }} }}\n\
         nodes:\n",
        borrower(kept)
    );
    for node in 0..6 {
        let _ = writeln!(text, "  node{node}: {{ gpus: 2, labels: {{ rack: r{} }} }}", node / 2);
    }
    text += "groups:\n";
    for pod in 0..12 {
        let (labels, node) = ("labels: { app: web }", pod / 2);
        let _ =
            writeln!(text, "  b{pod}: {{ queue: borrower, gpus: 1, {labels}, on: node{node} }}");
    }
    world(&text)
}

fn borrower(kept: u32) -> String {
    format!("borrower: {{ quota: {kept} }}")
}

/// A gang of whole nodes of the owner.
fn gang(pods: u32, rest: &str) -> String {
    format!("{{ queue: owner, gpus: 2, pods: {pods}, labels: {{ app: web }}{rest} }}")
}

/// Adds a gang, and says what the plan proves of its reclaim.
fn proof(world: &mut World, gang: &str) -> Option<String> {
    add(world, &format!("groups: {{ gang: {gang} }}"));
    let decided = world.plan();
    let mut proofs = decided.proofs.into_iter();
    let proof = proofs.find(|proof| proof.kind == EvictionKind::Reclaim);
    assert_eq!(proof.is_none(), !decided.changes.is_empty(), "what is refused is not done");
    assert!(proof.is_none() || decided.steps.filtered > 0, "what is refused is counted");
    let names = &world.names;
    proof.map(|proof| {
        let symbol = |symbol| names.of_symbol(symbol);
        render::proof(proof.kind, &proof.shortage, symbol, |id| names.of_topology(id))
    })
}

#[test]
fn queues_give_what_is_above_their_quota() {
    assert_eq!(proof(&mut full(4), &gang(4, "")), None);
    let words = "reclaim does not help: it needs 8 GPUs, 7 are free or may be given up";
    assert_eq!(proof(&mut full(5), &gang(4, "")).as_deref(), Some(words));
}

#[test]
fn pods_apart_take_a_domain_each() {
    let apart = ", anti_affinity: [{ key: rack, labels: { app: web } }]";
    let words = "reclaim does not help: it needs 4 domains of rack of its own, 3 would have room if emptied";
    assert_eq!(proof(&mut full(0), &gang(4, apart)).as_deref(), Some(words));
}

/// Nodes without the label keep no pods apart: each holds as many as it has room for.
#[test]
fn pods_apart_share_a_node_without_the_label() {
    let mut text = format!(
        "queues: {{ {}, owner: {{ quota: 8 }} }}\n\
         nodes: {{ node0: {{ gpus: 2, labels: {{ rack: r0 }} }}, node1: {{ gpus: 4 }} }}\n\
         groups:\n",
        borrower(0)
    );
    for pod in 0..6 {
        let node = pod.min(2) / 2;
        let _ = writeln!(text, "  b{pod}: {{ queue: borrower, gpus: 1, on: node{node} }}");
    }
    let apart = ", anti_affinity: [{ key: rack, labels: { app: web } }]";
    assert_eq!(proof(&mut world(&text), &gang(3, apart)), None);
}

#[test]
fn pods_together_fit_into_one_domain() {
    let together = ", required: rack";
    assert_eq!(proof(&mut full(0), &gang(2, together)), None);
    let words = "reclaim does not help: it needs room for 3 pods in one rack of racks, \
                 the roomiest would hold 2 if emptied";
    assert_eq!(proof(&mut full(0), &gang(3, together)).as_deref(), Some(words));
}

/// Victims are looked for where those that pods have to be near are there, come with them or may be moved, and nowhere else.
#[test]
fn pods_that_are_near_nobody_evict_nobody() {
    let alone = "reclaim does not help: it has to be near other pods, and no eviction brings any";
    let check = |key: &str, app: &str, rest: &str, expect: Option<&str>| {
        let mut world = full(0);
        add(&mut world, "groups: { db: { queue: owner, labels: { app: db }, on: node0 } }");
        let near = format!("affinity: [{{ key: {key}, labels: {{ app: {app} }} }}]");
        let gang = format!("{{ queue: owner, gpus: 2, {near}{rest} }}");
        assert_eq!(proof(&mut world, &gang).as_deref(), expect, "{gang}");
    };
    check("rack", "nobody", "", Some(alone));
    check("rack", "cache", ", pods: 2, labels: { app: cache }", None);
    check("rack", "web", "", None);
    check("zone", "web", "", Some(alone));
    check("rack", "db", "", None);
    check("rack", "db", ", selector: { rack: r2 }", Some(alone));
}

/// All groups alike are named where counting comes to show something of them, or something else, or nothing more.
#[test]
fn all_groups_alike_are_explained_anew() {
    let mut world = full(5);
    add(&mut world, &format!("groups: {{ one: {gang}, two: {gang} }}", gang = gang(4, "")));
    let both = ["one", "two"].map(|name| group(&world, name));
    let mut decide = |queues: &str, is_news: bool| {
        add(&mut world, &format!("queues: {{ {queues} }}"));
        let decided = world.plan();
        assert_eq!(decided.explained, if is_news { both.to_vec() } else { Vec::new() });
        let mut proofs = world.cluster.proofs(both[1]);
        let proof = proofs.find(|(kind, _)| *kind == EvictionKind::Reclaim);
        proof.map(|(_, shortage)| shortage)
    };
    let short = |most_milli| Some(Shortage::Gpus { needed_milli: 8000, most_milli });
    assert_eq!(decide(&borrower(5), true), short(7000));
    assert_eq!(decide(&borrower(6), true), short(6000));
    assert_eq!(decide("idle: {}", false), short(6000));
    // There is enough for the first of them, and no more is due to the queue then.
    assert_eq!(decide(&borrower(4), true), None);
}

/// A pod of half a GPU and much CPU goes where the GPUs are of no use to the others: beside a pod of half a GPU.
#[test]
fn fragments_stay_together() {
    // Two nodes alike but for CPU: on the one between them no pair of GPUs is of use to anybody.
    let mut world = world(
        "config: { gpu: fragmentation, cpu: fragmentation, devices: fragmentation }\n\
         nodes: { node0: { gpus: 2 }, node1: { gpus: 2, cpu: 6 }, node2: { gpus: 2 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 pairs: { queue: q, gpus: 2, cpu: 8, state: gated }\n\
         \x20 halves: { queue: q, gpus: 0.5, cpu: 8, state: gated }",
    );
    let typical = |(pod, weight)| {
        let shape = world.facts.pods[&self::pod(&world, pod)].shape.clone();
        Typical { shape, weight }
    };
    world.config.typical = [("pairs", 3), ("halves", 1)].map(typical).to_vec();
    for name in ["a", "b"] {
        add(&mut world, &format!("groups: {{ {name}: {{ queue: q, gpus: 0.5, cpu: 1 }} }}"));
        assert_eq!(decide(&mut world, 0), [format!("place {name} on node1/0")]);
    }
}

/// A group that waits for the minimum runtime of several others is told when the first of them may be evicted.
#[test]
fn minimum_runtimes_keep_others_until_the_first_is_over() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 } }\n\
         queues: { q: { quota: 2, preempt_min_runtime: 10m } }\n\
         groups:\n\
         \x20 young: { queue: q, gpus: 1, on: node0, started: 2m }\n\
         \x20 older: { queue: q, gpus: 1, on: node0, started: 6m }\n\
         \x20 high: { queue: q, gpus: 2, priority: 90 }",
    );
    plan_at(&mut world, 0);
    let proofs = world.cluster.proofs(group(&world, "high"));
    let runtimes = proofs.filter_map(|(kind, shortage)| {
        let Shortage::Runtime { protected, until } = shortage else { return None };
        (kind == EvictionKind::Preempt).then_some((protected, until.0 - START.0))
    });
    assert_eq!(runtimes.collect::<Vec<_>>(), [(2, 4 * 60_000)]);
}

/// MIG instances that are free on several nodes are GPUs for a pod that needs some of them on one.
#[test]
fn free_instances_of_several_nodes_may_be_brought_together() {
    let mig = "mig: { instances: { nvidia.com/mig-1g.5gb: 2 } }";
    let one = "queue: q, mig: { nvidia.com/mig-1g.5gb: 1 }";
    let mut world = world(&format!(
        "nodes: {{ node0..1: {{ {mig} }} }}\n\
         queues: {{ q: {{ quota: unlimited }} }}\n\
         groups:\n\
         \x20 r0: {{ {one}, on: node0 }}\n\
         \x20 r1: {{ {one}, on: node1 }}\n\
         \x20 two: {{ queue: q, mig: {{ nvidia.com/mig-1g.5gb: 2 }} }}"
    ));
    let moved = decide(&mut world, 0);
    assert!(moved[0].ends_with("for two consolidation"), "{moved:?}");
}
