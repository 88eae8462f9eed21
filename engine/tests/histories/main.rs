//! Histories that a scenario file cannot tell: of news between plans, of searches that stop, of proofs and of steps.
//!
//! Worlds are written in the scenario language, which says what is there, and go on by what [`World::tell`] is told: the
//! outcomes of binds and evictions, and what is gone. Few things are made by hand, since scenarios have no words for
//! them: devices that move from one set of nodes to another, claims of volumes or with what is not supported, and typical
//! pods. The properties beside this suite make all of their news by hand: most of it no scenario could tell.

use kai_engine::{ClaimId, Delta, GroupId, NodeId, Plan, PodId, QueueId, Timestamp};
use kai_sim::{
    build, render,
    scenario::{Scenario, parse},
    world::{START, World},
};

mod barred;
mod changed;
mod choices;
mod claimed;
mod dear_places;
mod leaving;
mod lingering;
mod long_searches;
mod proofs;
mod repeated;
mod resumed;
mod rounds;
mod shared_turns;
mod shares;
mod sub_groups;
mod taken_up;
mod told_wrong;
mod verdicts;
mod wishes;
mod withdrawn;

/// Builds a world from a text in the scenario language; the name of the test is its title.
fn world(text: &str) -> World {
    build::build(&read(text)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Adds to a world, or changes in it, what a text in the scenario language says.
fn add(world: &mut World, text: &str) {
    build::add(world, &read(text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
}

fn read(text: &str) -> Scenario {
    let text = format!("title: a part of a test\nwhy: its name says so\n{text}");
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Makes a plan at a time, in milliseconds after the start.
fn plan_at(world: &mut World, millis: i64) -> Plan {
    world.now = Timestamp(START.0 + millis);
    world.plan()
}

/// Makes a plan at a time, in milliseconds after the start; its changes as scenario files write them, in one column.
fn decide(world: &mut World, millis: i64) -> Vec<String> {
    let plan = plan_at(world, millis);
    changes(world, &plan)
}

fn changes(world: &World, plan: &Plan) -> Vec<String> {
    let text = render::text(&plan.changes, std::iter::empty(), &world.names);
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Tells that pods are gone.
fn gone(world: &mut World, pods: &[&str]) {
    for name in pods {
        world.tell(Delta::PodGone(pod(world, name)));
    }
}

fn pod(world: &World, name: &str) -> PodId {
    world.names.find_pod(name).expect("a pod of the world")
}

fn group(world: &World, name: &str) -> GroupId {
    world.names.find_group(name).expect("a group of the world")
}

fn queue(world: &World, name: &str) -> QueueId {
    world.names.find_queue(name).expect("a queue of the world")
}

fn node(world: &World, name: &str) -> NodeId {
    world.names.find_node(name).expect("a node of the world")
}

/// The claim that the first template of a pod made.
fn claim(world: &mut World, pod: &str) -> ClaimId {
    world.names.claim(&format!("{pod}-claim-0"))
}
