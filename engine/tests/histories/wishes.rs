//! Pods with wishes about other pods: what finding out who they mean costs, in comparisons.

use std::fmt::Write;

use kai_engine::{Actions, Change, NamespaceSelectorId, Placement};

use super::*;

/// Nodes with as many pods on each, in a namespace.
fn company(nodes: u64, pods: u64, namespace: &str) -> World {
    let mut text = String::from("queues: { theirs: {}, ours: {} }\nnodes:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  node{node:02}: {{ gpus: 8, labels: {{ host: h{node} }} }}");
    }
    for pod in 0..nodes * pods {
        text += if pod == 0 { "groups:\n" } else { "" };
        let _ = writeln!(
            text,
            "  t{pod}: {{ queue: theirs, namespace: {namespace}, labels: {{ app: web }}, on: node{:02} }}",
            pod % nodes
        );
    }
    world(&text)
}

/// A wish of one of these kinds in so many terms, each with a selector of its own.
fn terms(kind: &str, terms: u64) -> String {
    let term = |number| format!("{{ key: host, labels: {{ app: web|web{number} }} }}");
    let terms: Vec<String> = (0..terms).map(term).collect();
    format!("{kind}: [{}]", terms.join(", "))
}

/// Has a gang wait; the comparisons that planning for it takes.
fn compared(world: &mut World, what: &str) -> u64 {
    add(world, &format!("groups: {{ gang: {{ queue: ours, {what} }} }}"));
    let plan = plan_at(world, 0);
    assert_eq!(world.cluster.check(), Vec::<String>::new());
    plan.steps.compared
}

const KINDS: [&str; 3] = ["prefers", "affinity", "anti_affinity"];

/// Nobody looks at pods of namespaces that the terms do not name.
#[test]
fn pods_of_other_namespaces_cost_nothing() {
    for kind in KINDS {
        let gang = format!("gpus: 1, {}", terms(kind, 64));
        let few = compared(&mut company(4, 1, "others"), &gang);
        let many = compared(&mut company(4, 50, "others"), &gang);
        // That a namespace is none of theirs is found out once, as far as one of its pods moves, and once for each group that may be
        // evicted: there are 196 more.
        assert!(many <= few + 300, "{kind}: {few} beside few pods, {many} beside many");
        let own = compared(&mut company(4, 50, "default"), &gang);
        assert!(own > 200 * 64, "{kind}: {own}");
    }
}

/// All pods of a gang are told from one count, which follows what is placed and taken back.
#[test]
fn a_gang_counts_whom_it_means_once() {
    for kind in KINDS {
        let gang = |pods| format!("pods: {pods}, gpus: 1, {}", terms(kind, 64));
        let one = compared(&mut company(4, 50, "default"), &gang(1));
        let ten = compared(&mut company(4, 50, "default"), &gang(10));
        assert!(ten < 2 * one, "{kind}: {one} for one pod, {ten} for ten");
    }
}

/// Terms that differ in their weights alone are compared as one.
#[test]
fn equal_terms_are_compared_once() {
    let wish = |number| format!("{{ weight: {number}, key: host, labels: {{ app: web }} }}");
    let wishes = |most| (1..=most).map(wish).collect::<Vec<_>>().join(", ");
    let gang = |most| format!("gpus: 1, prefers: [{}]", wishes(most));
    let one = compared(&mut company(4, 50, "default"), &gang(1));
    assert_eq!(compared(&mut company(4, 50, "default"), &gang(64)), one);
}

/// A pod that fits nowhere is not asked where it would rather be.
#[test]
fn what_fits_nowhere_is_not_asked_what_it_prefers() {
    let gang = format!("gpus: 9, {}", terms("prefers", 64));
    let mut world = company(4, 50, "default");
    // What it costs to see that no victims help is another matter.
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    assert_eq!(compared(&mut world, &gang), 0);
}

/// Pods that keep others away are compared by their shapes, and with those that are alike once.
#[test]
fn a_gang_that_others_may_keep_away_is_compared_once() {
    let repelled = |pods| {
        let mut world = company(4, 0, "default");
        let term = |number| format!("{{ key: host, labels: {{ app: cache, tier: t{number} }} }}");
        let far = format!("anti_affinity: [{}]", (0..64).map(term).collect::<Vec<_>>().join(", "));
        for pod in 0..4 {
            let what = format!("queue: theirs, labels: {{ app: db }}, {far}, on: node{pod:02}");
            add(&mut world, &format!("groups: {{ far{pod}: {{ {what} }} }}"));
        }
        compared(&mut world, &format!("pods: {pods}, gpus: 9, labels: {{ app: cache }}"))
    };
    let (one, many) = (repelled(1), repelled(50));
    assert!(one > 0 && many <= one, "{one} for one pod, {many} for fifty");
}

/// Comparisons are steps: who makes the cycle work for its terms leaves the others to the next one.
#[test]
fn comparisons_spend_the_steps_of_a_cycle() {
    let mut world = company(4, 50, "default");
    world.config.action_steps_max = Some(300);
    for (name, cpu) in [("a", 1), ("b", 2)] {
        let far = terms("anti_affinity", 64);
        let what = format!("queue: ours, pods: 2, gpus: 9, cpu: {cpu}, {far}");
        add(&mut world, &format!("groups: {{ {name}: {{ {what} }} }}"));
    }
    let plan = plan_at(&mut world, 0);
    let steps = plan.steps;
    assert!(steps.total() >= steps.compared / 64 && steps.compared / 64 > 100, "{steps:?}");
}

/// Domains of topology spread that another shape has are not worked out again.
#[test]
fn shapes_share_the_domains_of_topology_spread() {
    let spread = |jobs: u64| {
        let mut world = company(40, 1, "others");
        for job in 0..jobs {
            let spread = format!("spread: [{{ key: host, labels: {{ app: job{job} }} }}]");
            let what = format!("queue: ours, gpus: 1, labels: {{ app: job{job} }}, {spread}");
            add(&mut world, &format!("groups: {{ j{job}: {{ {what} }} }}"));
        }
        plan_at(&mut world, 0).steps.compared
    };
    let (one, ten) = (spread(1), spread(10));
    assert!(one > 40 && ten < 2 * one, "{one} for one shape, {ten} for ten");
}

/// Few domains may be many nodes, and the pods on all of these are added up.
#[test]
fn topology_spread_costs_the_nodes_with_pods_that_it_means() {
    const NODES: u64 = 40;
    for soft in [false, true] {
        let spread = |nodes: u64| {
            let mut text = String::from("queues: { theirs: {}, ours: {} }\nnodes:\n");
            for node in 0..NODES {
                let _ = writeln!(text, "  node{node:02}: {{ gpus: 8, labels: {{ zone: a }} }}");
            }
            text += "groups:\n";
            for pod in 0..NODES {
                let what = "queue: theirs, labels: { app: web }";
                let _ = writeln!(text, "  t{pod}: {{ {what}, on: node{:02} }}", pod % nodes);
            }
            let wish = format!("{{ key: zone, labels: {{ app: web }}, soft: {soft} }}");
            let gang = format!("gpus: 1, labels: {{ app: web }}, spread: [{wish}]");
            compared(&mut world(&text), &gang)
        };
        let (few, all) = (spread(5), spread(NODES));
        assert!(all >= few + (NODES - 5) * 4, "{few} on few nodes, {all} on all");
    }
}

/// Pods that keep away others with a label are not looked at for those without it, however many they are.
#[test]
fn who_keeps_others_away_is_looked_at_by_those_with_the_label() {
    let beside = |pods: u64, label: &str| {
        let mut world = company(4, 0, "default");
        for pod in 0..pods {
            let term = format!("{{ key: host, labels: {{ app: shunned{pod} }} }}");
            let what = format!("queue: theirs, anti_affinity: [{term}], on: node{:02}", pod % 4);
            add(&mut world, &format!("groups: {{ far{pod}: {{ {what} }} }}"));
        }
        compared(&mut world, &format!("gpus: 1, labels: {{ app: {label} }}"))
    };
    assert_eq!(beside(40, "web"), beside(0, "web"));
    assert!(beside(40, "shunned7") > beside(0, "shunned7"));
}

/// A gang whose pods may not be together goes from node to node, and looks at none that it has.
#[test]
fn pods_that_keep_apart_look_at_no_node_in_vain() {
    let nodes = 40;
    let apart = "anti_affinity: [{ key: host, labels: { app: gang } }]";
    for what in [apart, "ports: [8080, 9090]"] {
        let mut world = company(nodes, 0, "default");
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        let gang = format!("queue: ours, pods: {}, labels: {{ app: gang }}, {what}", nodes + 1);
        add(&mut world, &format!("groups: {{ gang: {{ {gang} }} }}"));
        let plan = plan_at(&mut world, 0);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
        assert!(plan.changes.is_empty(), "{what}");
        assert!(plan.steps.nodes < 3 * nodes, "{what}: {:?}", plan.steps);
    }
}

/// A gang that keeps apart in domains of which there are none costs its pods, and no square of these or of its terms.
#[test]
fn a_gang_that_keeps_apart_by_what_no_node_has_is_compared_once() {
    for terms in [1, 64] {
        let labels: Vec<String> = (0..terms).map(|number| format!("k{number}: v")).collect();
        let term = |number| format!("{{ key: none{number}, labels: {{ k{number}: v }} }}");
        let far: Vec<String> = (0..terms).map(term).collect();
        let (labels, far) = (labels.join(", "), far.join(", "));
        let gang = |pods: u64| {
            let mut world = company(40, 0, "default");
            // Each pod has another node.
            world.config.cpu_placement = Placement::Spread;
            let what = format!("labels: {{ {labels} }}, anti_affinity: [{far}]");
            compared(&mut world, &format!("pods: {pods}, {what}"))
        };
        let (few, many) = (gang(10), gang(40));
        assert!(few > 0 && many < 6 * few, "{few} for ten pods, {many} for forty");
        assert!(many < 40 * 20 * terms, "{many} for {terms} terms");
    }
}

/// Pods that keep others away do so until the last of their kind is gone.
#[test]
fn the_last_of_a_kind_keeps_others_away() {
    let mut world = company(1, 0, "default");
    world.config.actions = Actions { allocate: true, ..Actions::NONE };
    let far = "anti_affinity: [{ key: host, labels: { app: web } }]";
    for pod in 0..3 {
        let what = format!("queue: theirs, {far}, on: node00");
        add(&mut world, &format!("groups: {{ far{pod}: {{ {what} }} }}"));
    }
    add(&mut world, "groups: { web: { queue: ours, labels: { app: web } } }");
    for (at, name) in ["far1", "far0", "far2"].into_iter().enumerate() {
        let decided = decide(&mut world, i64::try_from(at).expect("few pods"));
        assert_eq!(decided, ["idle"], "before {name} is gone");
        gone(&mut world, &[name]);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
    }
    assert_eq!(decide(&mut world, 3), ["place web on node00"]);
}

/// A gang is asked what it would rather have as long as that costs others little; the rest of its pods are placed all the same.
#[test]
fn a_gang_whose_wishes_are_dear_is_placed_without_some() {
    let wish = |number| format!("{{ weight: {number}, node: {{ host: h7 }} }}");
    let wishes = (1..=64).map(wish).collect::<Vec<_>>().join(", ");
    let gang = |pods: usize| {
        let mut world = company(200, 0, "default");
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        let gang = format!("queue: ours, pods: {pods}, prefers: [{wishes}]");
        add(&mut world, &format!("groups: {{ gang: {{ {gang} }} }}"));
        let plan = plan_at(&mut world, 0);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
        let liked = node(&world, "node07");
        let is_there =
            |change: &&Change| matches!(change, Change::Place { node, .. } if *node == liked);
        let there = plan.changes.iter().filter(is_there).count();
        (plan.changes.len(), there, plan.steps.compared)
    };
    let (placed, liked, compared) = gang(60);
    assert_eq!((placed, liked), (60, 60), "{compared} comparisons are few enough");
    let (placed, _, compared) = gang(200);
    assert_eq!(placed, 200);
    assert!(compared > 6_400_000 && compared < 6_600_000, "{compared} comparisons");
}

/// A selector of namespaces means those that were told, until it is told that it does not.
#[test]
fn selectors_of_namespaces_mean_what_was_told_of_them() {
    // Who has the term: the pod that waits, or the one that is there.
    for (who, other) in [("new", "old"), ("old", "new")] {
        let apart = "anti_affinity: [{ key: host, labels: { app: web } }]";
        let what = |name: &str| if name == who { apart } else { "labels: { app: web }" };
        let mut world = world(&format!(
            "nodes: {{ node0: {{ gpus: 2, labels: {{ host: h0 }} }} }}\n\
             queues: {{ q: {{ quota: unlimited }} }}\n\
             groups:\n\
             \x20 old: {{ queue: q, gpus: 1, namespace: ns-old, on: node0, {} }}\n\
             \x20 new: {{ queue: q, gpus: 1, namespace: ns-new, {} }}",
            what("old"),
            what("new"),
        ));
        let selector = NamespaceSelectorId::new(0);
        let theirs = world.names.symbol(&format!("ns-{other}"));
        let id = pod(&world, who);
        let mut facts = world.facts.pods[&id].clone();
        for term in &mut facts.shape.pod_anti_affinity {
            term.namespaces.clear();
            term.namespace_selector = Some(selector);
        }
        world.tell(Delta::Pod(id, Box::new(facts)));
        world.tell(Delta::NamespaceSelector(selector, theirs, true));
        assert_eq!(decide(&mut world, 0), ["idle"], "{who}");
        assert_eq!(world.cluster.check(), Vec::<String>::new());
        world.tell(Delta::NamespaceSelector(selector, theirs, false));
        assert_eq!(decide(&mut world, 1), ["place new on node0"], "{who}");
    }
}

/// Of nodes that differ in tiers and in how much a pod likes them all that bounds it is found out once, and full ones are passed
/// over.
#[test]
fn tiers_of_nodes_that_a_pod_likes_unlike_cost_it_little() {
    const NODES: u64 = 40;
    let place = |preferred: &str| {
        let mut text =
            String::from("topologies: { dc: [host] }\nqueues: { theirs: {}, ours: {} }\nnodes:\n");
        for node in 0..NODES {
            let labels = format!("{{ host: h{node}, zone: a }}");
            let _ = writeln!(text, "  node{node:02}: {{ gpus: 1, labels: {labels} }}");
        }
        text += "groups:\n";
        // All but those that it likes least are full.
        for node in 2..NODES {
            let what = "queue: theirs, gpus: 1, labels: { app: web }";
            let _ = writeln!(text, "  t{node}: {{ {what}, on: node{node:02} }}");
        }
        let mut world = world(&text);
        world.config.actions = Actions { allocate: true, ..Actions::NONE };
        // Each node is liked by as much as its number is.
        let wish = |bit: u64| {
            let hosts = (0..NODES).filter(|node| node >> bit & 1 == 1);
            let hosts: Vec<String> = hosts.map(|node| format!("h{node}")).collect();
            format!("{{ weight: {}, node: {{ host: {} }} }}", 1 << bit, hosts.join("|"))
        };
        let wishes: Vec<String> = (0..6).map(wish).collect();
        let wishes = wishes.join(", ");
        let near = "affinity: [{ key: zone, labels: { app: web } }]";
        let gang = format!("queue: ours, pods: 2, gpus: 1, {near}, prefers: [{wishes}]{preferred}");
        add(&mut world, &format!("groups: {{ gang: {{ {gang} }} }}"));
        let plan = plan_at(&mut world, 0);
        assert_eq!(world.cluster.check(), Vec::<String>::new());
        (changes(&world, &plan), plan.steps)
    };
    let (plain, of_one) = place("");
    let (tiered, of_many) = place(", preferred: host");
    assert_eq!((plain.len(), &plain), (2, &tiered));
    assert!(of_many.compared <= 2 * of_one.compared, "{of_one:?} and {of_many:?}");
    assert!(of_many.nodes < NODES, "{of_many:?}");
}
