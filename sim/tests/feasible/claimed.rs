//! Proofs where pods hold devices of claims: what they refuse the engine itself cannot place either once victims are
//! gone, whichever.

use std::fmt::Write;

use kai_engine::{
    Actions, Change, Config as Settings, Delta, EvictionKind, Group, Owner, Pod, PodId, PodState,
    Proof, QueueId, Shortage,
};
use kai_sim::{
    build::build,
    generate::Seed,
    scenario::parse,
    world::{Evicted, World},
};
use proptest::prelude::*;

use crate::config;

/// At most so many nodes, pods that run, and pods of the gang.
const NODES_MAX: u64 = 3;
const RUNNING_MAX: u64 = 5;
const GANG_MAX: u64 = 2;

/// Requests that a pod may make.
const ASKS: [&str; 9] = [
    "cpu: 1",
    "gpus: 1",
    "templates: [\"gpu*1\"]",
    "templates: [\"gpu*2\"]",
    "templates: [\"gpu*all\"]",
    "templates: [\"gpu*1 | small*1\"]",
    "templates: [\"small*1\"]",
    "templates: [\"gpu*1\", \"small*1\"]",
    "resources: { example.com/fpga: 1 }",
];

/// A cluster with devices, pods that run, and a gang that is gated, with what is in it as text.
fn tell(draw: &mut Seed) -> (World, String) {
    let mut text = String::from("title: t\nwhy: w\nnodes:\n");
    for number in 0..=draw.below(NODES_MAX) {
        let (cpu, gpus) = (1 + draw.below(3), draw.below(4));
        let (small, fpga) = (draw.below(2), draw.below(2));
        let devices = format!("{{ gpu: {gpus}, small: {small}, fpga: {fpga} }}");
        let _ = writeln!(text, "  node{number}: {{ cpu: {cpu}, devices: {devices} }}");
    }
    text += "device_classes:\n  gpu: { backs: nvidia.com/gpu }\n  small: {}\n  fpga: { backs: example.com/fpga }\n";
    if draw.one_in(3) {
        text += "reaches: { switch: { devices: { gpu: 1 } } }\n";
    }
    let _ = writeln!(text, "queues:\n  lender: {{}}\n  owner: {{ quota: {} }}", draw.below(5));
    text += "groups:\n";
    for number in 0..=draw.below(RUNNING_MAX) {
        let queue = if draw.one_in(2) { "owner" } else { "lender" };
        let preemptible = !draw.one_in(4);
        let ask = draw.pick(&ASKS);
        let _ = writeln!(
            text,
            "  runner-{number}: {{ queue: {queue}, priority: 50, preemptible: {preemptible}, {ask} }}"
        );
    }
    let (pods, ask) = (1 + draw.below(GANG_MAX), draw.pick(&ASKS));
    let _ = writeln!(
        text,
        "  gang: {{ queue: owner, priority: 90, preemptible: true, state: gated, pods: {pods}, {ask} }}"
    );
    let scenario = parse(&text).expect("a scenario");
    (build(&scenario).expect("a world"), text)
}

/// The pods that hold a place, may be evicted, and are of this queue or of any.
fn victims(world: &World, queue: impl Fn(QueueId) -> bool) -> Vec<(PodId, Pod)> {
    let of = |pod: &Pod| {
        let Owner::Group(id) = pod.owner else { return false };
        let Group { preemptible, queue: of, .. } = &world.facts.groups[&id];
        *preemptible && of.is_some_and(&queue) && pod.state.place().is_some()
    };
    pods(world, of)
}

fn pods(world: &World, is: impl Fn(&Pod) -> bool) -> Vec<(PodId, Pod)> {
    let pods = world.facts.pods.iter().filter(|(_, pod)| is(pod));
    pods.map(|(id, pod)| (*id, pod.clone())).collect()
}

/// Tells whether the engine places as many pods as wait, and nobody has to leave for it.
fn all_placed(world: &mut World) -> bool {
    let plan = world.plan();
    world.carry_out(&plan, Evicted::Gone);
    let placed = |pod: &Pod| !matches!(pod.state, PodState::Pending | PodState::Gated);
    plan.changes.iter().all(|change| matches!(change, Change::Place { .. }))
        && world.facts.pods.values().all(placed)
}

/// Tells whether some of these may go, so that the gang has a place; `moved` where each of them is to have one too.
fn helps(world: &World, victims: &[(PodId, Pod)], moved: bool) -> bool {
    let actions = Actions { allocate: true, ..Actions::NONE };
    (0..1_u32 << victims.len()).any(|set| {
        let mut world =
            World { config: Settings { actions, ..Settings::default() }, ..world.clone() };
        let gone = (0..).zip(victims).filter(|(at, _)| set >> at & 1 == 1).map(|(_, one)| one);
        let gone: Vec<PodId> = gone.map(|(id, _)| *id).collect();
        for id in &gone {
            world.deallocate(*id);
        }
        let gone: Vec<(PodId, Pod)> =
            gone.into_iter().map(|id| (id, world.facts.pods[&id].clone())).collect();
        for (id, _) in &gone {
            world.tell(Delta::PodGone(*id));
        }
        if !all_placed(&mut world) {
            return false;
        }
        for (id, pod) in gone.into_iter().filter(|_| moved) {
            let again = Pod { state: PodState::Pending, ..pod };
            world.tell(Delta::Pod(id, Box::new(again)));
        }
        all_placed(&mut world)
    })
}

fn refutes(world: &World, proof: &Proof) -> bool {
    let owner = world.names.clone().queue("owner");
    match (proof.kind, proof.shortage) {
        // Who was evicted for it before is there; what a queue may lose is another matter.
        (_, Shortage::Others { .. } | Shortage::Disruptions { .. } | Shortage::Runtime { .. })
        | (EvictionKind::Reclaim, Shortage::Gpus { .. }) => false,
        (EvictionKind::Consolidate, _) => helps(world, &victims(world, |_| true), true),
        (EvictionKind::Preempt, _) => helps(world, &victims(world, |queue| queue == owner), false),
        (
            EvictionKind::Reclaim,
            Shortage::Pods { .. }
            | Shortage::Apart { .. }
            | Shortage::Together { .. }
            | Shortage::Domains { .. }
            | Shortage::Company,
        ) => helps(world, &victims(world, |queue| queue != owner), false),
    }
}

proptest! {
    #![proptest_config(config())]

    /// No set of victims lets in whom a proof keeps out.
    #[test]
    fn what_is_proved_impossible_with_claims_is(seed: u64) {
        let (mut world, text) = tell(&mut Seed::new(seed));
        let plan = world.plan();
        world.carry_out(&plan, Evicted::Gone);
        // Who found no place is not there.
        for (id, _) in pods(&world, |pod| pod.state == PodState::Pending) {
            world.tell(Delta::PodGone(id));
        }
        for (id, pod) in pods(&world, |pod| pod.state == PodState::Gated) {
            let state = PodState::Pending;
            world.tell(Delta::Pod(id, Box::new(Pod { state, ..pod })));
        }
        let plan = world.clone().plan();
        for proof in &plan.proofs {
            prop_assert!(!refutes(&world, proof), "{proof:?} in\n{text}");
        }
    }
}
