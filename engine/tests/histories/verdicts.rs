//! Verdicts on groups that wait: the numbers that they tell, and what would help.

use kai_engine::{DomainProblem, Remedy, Why};

use super::{
    resumed::{bounded, cluster, gang},
    *,
};

/// Has a group wait beside others; says why it does.
fn verdict(world: &mut World, group: &str) -> Why {
    assert_eq!(decide(world, 0), ["idle"]);
    world.cluster.verdict(self::group(world, group)).expect("it waits").clone()
}

/// Nothing of a quota for what cannot be evicted goes to what can.
#[test]
fn a_quota_is_to_be_raised_for_what_cannot_be_evicted() {
    let mut world = world(
        "nodes: { node0: { gpus: 8 } }\n\
         queues: { q: { quota: 4 } }\n\
         groups:\n\
         \x20 work: { queue: q, gpus: 3, on: node0 }\n\
         \x20 serve: { queue: q, gpus: 2, preemptible: false, on: node0 }\n\
         \x20 more: { queue: q, gpus: 3, preemptible: false }",
    );
    let remedies = verdict(&mut world, "more").remedies();
    let by = remedies
        .iter()
        .find_map(|remedy| if let Remedy::Quota { by, .. } = remedy { Some(*by) } else { None });
    assert_eq!(by, Some(1000), "{remedies:?}");
}

/// Of nodes alike some may be closed to a pod: what is free there is not free for it.
#[test]
fn gpus_of_nodes_that_a_pod_may_not_use_are_not_free() {
    let mut world = world(
        "nodes: { node0: { gpus: 2 }, node1: { gpus: 2, taints: [\"a=b:NoSchedule\"] } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { large: { queue: q, gpus: 4 } }",
    );
    let why = verdict(&mut world, "large");
    let Why::NoRoom(no_room) = &why else { panic!("{why:?}") };
    assert_eq!((no_room.free.gpu_milli, why.code()), (2000, Some(1203)));
}

/// GPUs that a node has in slices alone are GPUs that it has.
#[test]
fn gpus_in_slices_are_told_as_capacity() {
    let mut world = world(
        "nodes: { node0: { devices: { gpu: 4 } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { large: { queue: q, gpus: 8 } }",
    );
    world.config.names_nodes = true;
    let why = verdict(&mut world, "large");
    let Why::NoRoom(no_room) = &why else { panic!("{why:?}") };
    let reasons = no_room.nodes.iter().flat_map(|refusal| &refusal.reasons);
    let amounts: Vec<_> = reasons.filter_map(|(_, amounts)| *amounts).collect();
    let capacities: Vec<_> = amounts.iter().map(|one| (one.used, one.capacity)).collect();
    assert_eq!(capacities, [(0, 4000)], "{why:?}");
}

/// A rack that others fill is large enough for a gang, though all of its GPUs are in slices.
#[test]
fn gpus_in_slices_count_for_what_a_rack_could_hold() {
    let mut world = world(
        "topologies: { dc: [rack] }\n\
         nodes: { node0..1: { devices: { gpu: 4 }, labels: { rack: r } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 work0: { queue: q, priority: 100, templates: [gpu*4], on: node0 }\n\
         \x20 work1: { queue: q, priority: 100, templates: [gpu*4], on: node1 }\n\
         \x20 gang: { queue: q, pods: 2, templates: [gpu*4], required: rack }",
    );
    let why = verdict(&mut world, "gang");
    let Why::NoDomain(no_domain) = &why else { panic!("{why:?}") };
    let DomainProblem::NoFit { gpu_milli_max, .. } = no_domain.problem else { panic!("{why:?}") };
    assert_eq!(gpu_milli_max, 8000);
}

/// A search that ran out of steps goes on no more once its queue may take nothing: its group is told again what it was before.
#[test]
fn a_search_that_does_not_go_on_is_not_said_to() {
    let mut world = cluster(4, 4, |_| 1);
    gang(&mut world, 4, 4);
    bounded(&mut world, 4);
    let goes_on = verdict(&mut world, "gang");
    assert!(matches!(goes_on, Why::Undecided { .. }), "{goes_on:?}");
    add(&mut world, "queues: { owner: { quota: 0 } }");
    let waits = verdict(&mut world, "gang");
    assert!(matches!(waits, Why::NoRoom(_)), "{waits:?}");
}
