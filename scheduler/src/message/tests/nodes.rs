//! Describes what is said of nodes one by one.

use super::*;

/// The detailed form: of the pod and of its group, with what each node lacks.
#[test]
fn each_node_is_named() {
    let check = |(gang, sub_group): (bool, &str), refusals: &[Refusal], expect: [&str; 2]| {
        let mut names = world();
        names.is_detailed = true;
        for node in ["a", "b", "c"] {
            names.node(node);
        }
        let sub_group = names.symbol(sub_group);
        let Why::NoRoom(no_room) = no_room(gang) else { unreachable!("it is one") };
        let overhead = [(Lane::CPU, 500)].into_iter().collect();
        let misfits = vec![(Misfit::Selector, 3)];
        let nodes = refusals.to_vec();
        let no_room = NoRoom { sub_group, overhead, misfits, nodes, ..NoRoom::clone(&no_room) };
        let told = said(&Why::NoRoom(Arc::new(no_room)), &names).expect("it waits");
        let base = "no nodes with enough resources were found:";
        assert_eq!(told.pod, Some((0, format!("{base}{}", expect[1]))));
        assert_eq!(
            told.text(),
            format!("\nPodSchedulingErrors.\n{} {base}{}.", expect[0], expect[1])
        );
    };
    let short =
        |misfit, requested, used, capacity| (misfit, Some(Amounts { requested, used, capacity }));
    let node = |number, reasons: &[(Misfit, Option<Amounts>)]| Refusal {
        node: NodeId::new(number),
        reasons: reasons.to_vec(),
    };
    let refusals = [
        node(
            0,
            &[
                short(Misfit::Short(Lane::GPU), 1000, 7500, 8000),
                short(Misfit::Short(Lane::MEMORY), 2_000_000_000, 500_000_000, 1_500_000_000),
            ],
        ),
        node(1, &[short(Misfit::Overhead(Lane::CPU), 2500, 2000, 4000)]),
        node(2, &[(Misfit::GpuMemoryUnknown, None)]),
    ];
    check(
        (false, ""),
        &refusals,
        [
            "Resources were not found for pod ml/train-0 due to:",
            "\n<a>: Node didn't have enough resources: GPUs, requested: 1, used: 7.5, capacity: 8; \
             Node didn't have enough resources: memory, requested: 2, used: 0.5, capacity: 1.5.\
             \n<b>: Node didn't have enough resources: CPU cores, requested: 2.5, used: 2, capacity: 4. \
             Not enough resources due to pod overhead resources. The overhead resources are CPU: 0.5 \
             (cores).\
             \n<c>: node is not a gpu node or the gpu memory count on the node was not synced yet, task: \
             <ml/train-0>, node: <c>.",
        ],
    );
    check(
        (true, "workers"),
        &[node(1, &[short(Misfit::Device, 500, 2000, 2000)])],
        [
            "subgroup workers: Resources were found for 2 pods from all sub-groups while sub-group \
             workers requires 4 pods for gang scheduling. Additional pods cannot be scheduled in this \
             sub-group due to:",
            "\n<b>: Node didn't have enough resources: GPUs, requested: 0.5, used: 2, capacity: 2, \
             taking all considerations into account.\n2 nodes more refused it as well.",
        ],
    );
}

/// Nodes that refuse for reasons that are told alike are counted together, in KAI's words.
#[test]
fn nodes_that_are_closed_tainted_or_full() {
    let mut names = world();
    let [team, gpu] = ["team", "gpu"].map(|key| Taint {
        key: names.symbol(key),
        value: Symbol::EMPTY,
        effect: Effect::NoSchedule,
    });
    let check = |misfits: &[(Misfit, u32)], expect: &str| {
        let Why::NoRoom(no_room) = no_room(false) else { unreachable!("it is one") };
        let misfits = misfits.to_vec();
        let why = Why::NoRoom(Arc::new(NoRoom { misfits, ..NoRoom::clone(&no_room) }));
        let told = said(&why, &names).expect("there is something to say");
        let base = "no nodes with enough resources were found: ";
        assert_eq!(told.pod, Some((0, format!("{base}{expect}"))));
    };
    check(&[(Misfit::Blocked(Blocked::Unschedulable), 1)], "1 node is unschedulable.");
    check(
        &[(Misfit::Taint(team), 2), (Misfit::Taint(gpu), 1)],
        "3 node(s) had untolerated taint(s).",
    );
    check(&[(Misfit::Short(Lane::PODS), 1)], "1 node(s) didn't have enough resources: pods.");
    check(&[(Misfit::PodSlots, 1)], "1 node(s) pod number exceeded.");
    check(
        &[(Misfit::SetAside, 2)],
        "2 node(s) had no GPU to share: a reservation on them came to nothing.",
    );
}

/// Pods that keep each other apart are each told of it; pods of another gang hear that the gang waits.
#[test]
fn pods_that_keep_each_other_apart_are_told_so_each() {
    let check = |gang, misfit, is_of_each| {
        let Why::NoRoom(no_room) = no_room(gang) else { unreachable!("it is one") };
        let misfits = vec![(misfit, 2)];
        let why = Why::NoRoom(Arc::new(NoRoom { misfits, ..NoRoom::clone(&no_room) }));
        let told = said(&why, &world()).expect("there is something to say");
        assert_eq!(told.is_of_each, is_of_each);
    };
    check(true, Misfit::AntiAffinity, true);
    check(true, Misfit::Short(Lane::GPU), false);
    check(false, Misfit::AntiAffinity, false);
}
