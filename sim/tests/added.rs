//! Scenarios that are added to a world which is there: what is known changes, what is new is the youngest.

use kai_engine::{Constraint, Group, Queue, Structure};
use kai_sim::{
    build::{add, build},
    scenario::{Scenario, parse},
    world::World,
};

const BASE: &str = "
topologies: { racks: [rack] }
nodes: { node0: { gpus: 8, labels: { rack: r0 } } }
queues: { q: { quota: 4 }, r: {} }
groups:
  a: { queue: q, gpus: 1 }
  b: { queue: q, gpus: 1 }
";

fn read(text: &str) -> Scenario {
    parse(&format!("title: a world\nwhy: it is added to\n{text}")).expect("it is a scenario")
}

fn group<'w>(world: &'w World, name: &str) -> &'w Group {
    &world.facts.groups[&world.names.find_group(name).expect("it is known")]
}

fn queue<'w>(world: &'w World, name: &str) -> &'w Queue {
    &world.facts.queues[&world.names.find_queue(name).expect("it is known")]
}

#[test]
fn what_is_known_changes_and_what_is_new_is_the_youngest() {
    let before = build(&read(BASE)).expect("it makes sense");
    let mut world = before.clone();
    let news = "
queues: { q: { quota: 2 }, s: { parent: r } }
groups:
  c: { queue: s, gpus: 2, pods: 2, required: rack }
  a: { queue: q, gpus: 1, priority: 75 }
";
    add(&mut world, &read(news)).expect("it makes sense");

    let age = |group: &Group| (group.created, group.uid);
    assert_eq!(group(&world, "a").priority, 75);
    assert_eq!(age(group(&world, "a")), age(group(&before, "a")));
    assert_eq!(group(&world, "b"), group(&before, "b"));
    assert!(age(group(&world, "c")) > age(group(&world, "b")));
    let Structure::Flat { topology: Some(Constraint { topology, .. }), .. } =
        group(&world, "c").structure
    else {
        panic!("it has to be in one rack")
    };
    assert_eq!(world.names.of_topology(topology), "racks");

    let age = |queue: &Queue| (queue.created, queue.uid);
    assert_ne!(queue(&world, "q").quota, queue(&before, "q").quota);
    assert_eq!(age(queue(&world, "q")), age(queue(&before, "q")));
    assert!(age(queue(&world, "s")) > age(queue(&world, "r")));
    assert_eq!(world.cluster.check(), Vec::<String>::new());
}

#[test]
fn what_is_not_there_is_named() {
    let mut world = build(&read(BASE)).expect("it makes sense");
    for (news, expect) in [
        ("groups: { c: { queue: s } }", "groups.c.queue: there is no queue `s`"),
        ("queues: { s: { parent: t } }", "queues.s.parent: there is no queue `t`"),
        ("groups: { c: { queue: q, on: node1 } }", "groups.c.on: `node1`: there is no such node"),
    ] {
        let error = add(&mut world, &read(news)).expect_err(news).to_string();
        assert!(error.contains(expect), "{news}: {error}");
    }
}
