//! Domains of a topology that cannot take a group.

use super::*;

fn no_domain(names: &Names, sub_group: &str, problem: DomainProblem) -> Told {
    let found = |table: Option<u32>| table.expect("the world has it");
    let sub_group = Symbol::new(found(names.symbols.find(sub_group)));
    let topology = kai_engine::TopologyId::new(found(names.topologies.find("racks")));
    let no_domain = NoDomain { sub_group, topology, problem, before: Vec::new() };
    said(&Why::NoDomain(Box::new(no_domain)), names).expect("there is something to say")
}

fn no_fit(names: &mut Names, whole: Option<&[&str]>, rooms: &[(&[&str], Room)]) -> DomainProblem {
    let mut path = |labels: &[&str]| labels.iter().map(|label| names.symbol(label)).collect();
    DomainProblem::NoFit {
        whole: whole.map(&mut path),
        rooms: rooms
            .iter()
            .map(|(labels, room)| DomainRoom { path: path(labels), room: *room })
            .collect(),
        level: Some(names.symbol("rack")),
        domains: 3,
        pods_max: 2,
        pods: 4,
        gpu_milli: 4000,
        gpu_milli_max: 8000,
    }
}

#[test]
fn every_domain_that_is_too_small_is_an_error() {
    let mut names = world();
    names.topology("racks");
    names.symbol("workers");
    let rooms: [(&[&str], Room); 2] =
        [(&["z", "r2"], Room::Pods(2)), (&["z", "r1"], Room::Short(Lane::GPU))];
    let fit = no_fit(&mut names, None, &rooms);
    let told = no_domain(&names, "workers", fit);
    assert_eq!(
        told.text(),
        "Unable to schedule podgroup: 1 node-groups more have too little as well. \nnode-group z.r1 \
         didn't have enough resources: GPUs. \nnode-group z.r2 can allocate only 2 of 4 required pods. \
         \ntopology racks, requirement rack couldn't be satisfied for job <ml/train>, subgroup workers."
    );
    assert_eq!(told.errors.len(), 4);
}

#[test]
fn a_cluster_that_is_too_small_is_one_error() {
    let mut names = world();
    names.topology("racks");
    let mut check = |whole: &[&str], place: &str| {
        let fit = no_fit(&mut names, Some(whole), &[]);
        assert_eq!(
            no_domain(&names, "", fit).text(),
            format!(
                "PodSchedulingErrors: topology racks, requirement rack couldn't be satisfied for job \
                 <ml/train>: not enough resources in {place} to allocate the job."
            )
        );
    };
    check(&[], "the cluster");
    check(&["z", "r"], "z.r");
}

#[test]
fn a_group_outside_of_all_domains_has_none_to_grow_in() {
    let mut names = world();
    names.topology("racks");
    let none = DomainProblem::Outside { level: names.symbol("rack") };
    assert_eq!(
        no_domain(&names, "", none).text(),
        "PodSchedulingErrors: topology racks, requirement rack couldn't be satisfied for job \
         <ml/train>: its pods that run are in no node-group of this level."
    );
}

#[test]
fn a_level_that_the_topology_does_not_have() {
    let mut names = world();
    names.topology("racks");
    let level = names.symbol("rack");
    assert_eq!(
        no_domain(&names, "", DomainProblem::NoLevel { level, required: false }).errors[0].message,
        "topology constraint error: workload specified 'rack' as the preferred topology constraint \
         level, but the topology tree 'racks' does not contain a level with this name"
    );
}

#[test]
fn what_failed_in_every_domain_is_counted() {
    let Why::NoRoom(last) = no_room(true) else { unreachable!("it is one") };
    let why = Why::NoRoom(Arc::new(NoRoom { before: vec![no_room(true)], ..NoRoom::clone(&last) }));
    let text = text(&why);
    let start =
        "Unable to schedule podgroup: 2 Resources were found for 2 pods while 4 are required";
    assert!(text.starts_with(start), "{text}");
}
