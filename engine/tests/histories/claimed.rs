//! Devices of claims through histories that a scenario does not tell.

use kai_engine::{
    Claim, ClaimProblem, Consumed, DEVICE_LOOKS_MAX, DeviceClassId, Holds, Misfit, Reach, ReachId,
    Requirement, SliceDevice, Unsupported, Why,
};

use super::*;

/// The one device of these tests, which moves.
const DEVICE: &str = "nic";

/// Two nodes, one queue without a limit and one device class.
const BASE: &str = "nodes: { node0..1: { cpu: 8 } }\n\
                    queues: { q: { quota: unlimited } }\n\
                    device_classes: { nic: {} }\n";

/// Makes a world with some groups in it.
fn with(groups: &str) -> World {
    world(&format!("{BASE}groups: {groups}"))
}

/// Tells which of the devices a set of nodes reaches: all of the nodes, or those that a zone is named for.
fn reach(world: &mut World, id: u32, zone: Option<&str>, devices: &[&str]) {
    let class = world.names.device_class("nic");
    let device =
        |name: &&str| SliceDevice::new(world.names.slice_device(name), false, Box::new([class]));
    let devices = devices.iter().map(device).collect();
    let term = zone.map(|zone| {
        let holds = Holds::In(vec![world.names.symbol(zone)]);
        vec![Requirement { key: world.names.symbol("zone"), holds }]
    });
    let reach = Reach { uid: u128::from(id), nodes: term.into_iter().collect(), devices };
    world.tell(Delta::Reach(ReachId::new(id), Box::new(reach)));
}

/// Tells a claim anew, with some of it changed.
fn change(world: &mut World, claim: ClaimId, change: impl FnOnce(Claim) -> Claim) {
    let facts = change(world.facts.claims[&claim].clone());
    world.tell(Delta::Claim(claim, Box::new(facts)));
}

/// Of two groups alike but for what their claims ask for that is not supported, the older one keeps no place from the
/// younger.
#[test]
fn a_claim_that_is_not_supported_is_unlike_others() {
    let mut world =
        with("{ old: { queue: q, templates: [nic*1] }, new: { queue: q, templates: [nic*1] } }");
    reach(&mut world, 0, None, &[DEVICE]);
    let old = claim(&mut world, "old");
    let unsupported = Some(Unsupported::Constraint);
    change(&mut world, old, |claim| Claim { unsupported, ..claim });
    assert_eq!(decide(&mut world, 0), ["place new on node0[nic]"]);
}

/// A user may have each pod name its claims in another order, so that none would be like another, and each would be tried for
/// itself.
#[test]
fn pods_are_alike_in_whatever_order_they_name_their_claims() {
    let tries = |other: &str| {
        let mut world = with(&format!(
            "{{ one: {{ queue: q, templates: [nic*2, nic*3] }}, other: {{ queue: q, templates: [{other}] }} }}"
        ));
        reach(&mut world, 0, None, &[DEVICE]);
        plan_at(&mut world, 0).steps.groups
    };
    assert_eq!(tries("nic*3, nic*2"), tries("nic*2, nic*3"));
}

/// Tells the two devices of a node anew, with what selects them.
fn select(world: &mut World, classes: &[DeviceClassId]) {
    let mut classes = classes.to_vec();
    classes.sort_unstable();
    let device = |name: &str| {
        SliceDevice::new(world.names.slice_device(name), false, classes.clone().into())
    };
    let devices = ["node0/nic-0", "node0/nic-1"].map(device);
    let node = node(world, "node0");
    world.tell(Delta::Slices(node, devices.into()));
}

/// By fragments too, a node has room once its devices are selected by the class that stands in for what it lacked.
#[test]
fn devices_that_come_to_be_selected_make_room_by_fragments() {
    let mut world = world(
        "config: { cpu: fragmentation }\n\
         nodes: { node0: { cpu: 8, devices: { nic: 2 } }, node1: { cpu: 8 } }\n\
         queues: { q: { quota: unlimited } }\n\
         device_classes: { nic: { backs: example.com/nic } }\n\
         groups: { a: { queue: q, resources: { example.com/nic: 1 } } }",
    );
    let nic = world.names.device_class("nic");
    select(&mut world, &[]);
    assert_eq!(decide(&mut world, 0), ["idle"]);
    select(&mut world, &[nic]);
    assert_eq!(decide(&mut world, 1), ["place a on node0[nic-0]"]);
}

/// Devices that are selected by something else than before stay with who has them, and are found by it from then on.
#[test]
fn what_selects_devices_changes_while_they_are_held() {
    let mut world = world(
        "nodes: { node0: { cpu: 8, devices: { nic: 2 } } }\n\
         queues: { q: { quota: unlimited } }\n\
         device_classes: { nic: {}, fast: {} }\n\
         groups: { a: { queue: q, templates: [nic*1] }, b: { queue: q, templates: [fast*1] } }",
    );
    assert_eq!(decide(&mut world, 0), ["place a on node0[nic-0]"]);
    let (nic, fast) = (world.names.device_class("nic"), world.names.device_class("fast"));
    select(&mut world, &[nic, fast]);
    assert_eq!(decide(&mut world, 1), ["place b on node0[nic-1]"]);
    select(&mut world, &[fast]);
    gone(&mut world, &["a"]);
    add(
        &mut world,
        "groups: { c: { queue: q, templates: [nic*1] }, d: { queue: q, templates: [fast*1] } }",
    );
    assert_eq!(decide(&mut world, 2), ["place d on node0[nic-0]"]);
}

/// By fragments too, a node has room once devices stand in for what it lacked.
#[test]
fn a_class_that_comes_makes_room_by_fragments() {
    let mut world = world(
        "config: { cpu: fragmentation }\n\
         nodes: { node0: { cpu: 8, devices: { nic: 1 } }, node1: { cpu: 8 } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { a: { queue: q, resources: { example.com/nic: 1 } } }",
    );
    assert_eq!(decide(&mut world, 0), ["idle"]);
    add(&mut world, "device_classes: { nic: { backs: example.com/nic } }");
    assert_eq!(decide(&mut world, 1), ["place a on node0[nic-0]"]);
}

/// A device that moves from one set of nodes to another is told of the new one first: it stays with who has it, and
/// nobody else gets it in between or after.
#[test]
fn a_device_that_moves_between_nodes_is_given_away_once() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut world = with("{ a: { queue: q, templates: [nic*1] } }");
        reach(&mut world, from, None, &[DEVICE]);
        assert_eq!(decide(&mut world, 0), ["place a on node0[nic]"]);
        add(&mut world, "groups: { b: { queue: q, templates: [nic*1] } }");
        for (millis, reached, devices) in [(1, to, &[DEVICE][..]), (2, from, &[])] {
            reach(&mut world, reached, None, devices);
            assert_eq!(world.cluster.check(), Vec::<String>::new());
            assert_eq!(decide(&mut world, millis), ["idle"], "from {from} to {to}");
        }
    }
}

/// Devices are where their nodes are, whichever of the two was told last and whatever became of both.
#[test]
fn devices_follow_the_labels_of_nodes() {
    let mut world = with("{ a: { queue: q, templates: [nic*1] } }");
    let label = |world: &mut World, zone: &str| {
        add(world, &format!("nodes: {{ node0: {{ cpu: 8, labels: {{ zone: {zone} }} }} }}"));
    };
    let check = |world: &mut World, what: &str, expect: &str| {
        assert_eq!(world.cluster.check(), Vec::<String>::new(), "{what}");
        assert_eq!(decide(world, 0), [expect], "{what}");
    };
    reach(&mut world, 0, Some("east"), &[DEVICE]);
    check(&mut world, "no node has the label", "idle");
    label(&mut world, "west");
    check(&mut world, "another value", "idle");
    label(&mut world, "east");
    reach(&mut world, 0, Some("east"), &[]);
    check(&mut world, "all devices went", "idle");
    label(&mut world, "west");
    reach(&mut world, 0, Some("east"), &[DEVICE]);
    check(&mut world, "the label went with them", "idle");
    reach(&mut world, 0, Some("west"), &[DEVICE]);
    check(&mut world, "the selector came to it", "place a on node0[nic]");
}

/// A gang for which there are too few volumes is told of volumes, and none of its pods is placed.
#[test]
fn a_gang_waits_for_all_of_its_volumes() {
    let mut world = with("{ pair: { queue: q, pods: 2, templates: [nic*1] } }");
    reach(&mut world, 0, None, &[DEVICE]);
    let claims = ["pair-0", "pair-1"].map(|pod| claim(&mut world, pod));
    for claim in claims {
        change(&mut world, claim, |claim| Claim { volume: true, ..claim });
    }
    assert_eq!(decide(&mut world, 0), ["idle"]);
    let why = world.cluster.verdict(group(&world, "pair")).expect("it waits");
    let Why::NoRoom(no_room) = why else { panic!("{why:?}") };
    assert_eq!((no_room.placed, &*no_room.misfits), (1, &[(Misfit::VolumeUnbound, 2)][..]));
    // Both pods have one claim: then one volume is enough.
    change(&mut world, claims[0], |claim| Claim { own: false, ..claim });
    let second = pod(&world, "pair-1");
    let mut facts = world.facts.pods[&second].clone();
    facts.claims = vec![claims[0]];
    world.tell(Delta::Pod(second, Box::new(facts)));
    assert_eq!(decide(&mut world, 1), ["place pair-0..1 on node0[nic]"]);
}

/// Nodes of 40 devices that draw from one counter of 12 each: whether 13 of them are there together is found out by trying.
fn drawing(nodes: usize, more: &str) -> World {
    let devices = |at: usize| format!("nic: {{ count: 40, draws: {{ c{at}: 1 }} }}");
    let node = |at| format!("node{at:03}: {{ cpu: 8, devices: {{ {} }} }}", devices(at));
    let nodes: Vec<String> = (0..nodes).map(node).collect();
    let counters: Vec<String> = (0..nodes.len()).map(|at| format!("c{at}: 12")).collect();
    world(&format!(
        "counters: {{ {} }}\n\
         nodes: {{ {} }}\n\
         queues: {{ q: {{ quota: unlimited }} }}\n\
         device_classes: {{ nic: {{}} }}\n\
         groups: {{ hard: {{ queue: q, templates: [nic*13] }}{more} }}",
        counters.join(", "),
        nodes.join(", "),
    ))
}

/// A search for devices that takes nothing to an end is given up once for all nodes: others cost what looking at them
/// does. Its group says so, waits as others do, and keeps nobody else from their devices.
#[test]
fn a_search_for_devices_that_comes_to_no_end_costs_the_same_on_many_nodes() {
    let looks_max = u64::from(DEVICE_LOOKS_MAX);
    for nodes in [20, 200] {
        let mut world = drawing(nodes, ", easy: { queue: q, templates: [nic*12] }");
        let hard = claim(&mut world, "hard");
        let plan = plan_at(&mut world, 0);
        let looks = plan.steps.looks;
        // 40 devices and their draws are looked at on each node, once for 13 of them.
        let each = 40 * 2 * 13 * nodes as u64;
        assert!(looks > looks_max && looks < looks_max + each, "{nodes} nodes: {looks}");
        assert!(plan.steps.total() > looks / 40, "they are steps");
        let place = changes(&world, &plan);
        assert!(place.len() == 1 && place[0].starts_with("place easy on node"), "{place:?}");
        let Some(Why::NoRoom(why)) = world.cluster.verdict(group(&world, "hard")) else {
            panic!("it waits for room")
        };
        assert_eq!(why.dominant, Misfit::Claim(hard, ClaimProblem::GivenUp));
        assert_eq!(plan_at(&mut world, 1).steps.looks, 0, "it waits until room grows");
        add(&mut world, "nodes: { more: { cpu: 8 } }");
        let again = plan_at(&mut world, 2).steps.looks;
        assert!(again > 0 && again <= looks, "{again}");
    }
}

/// Once searches on other nodes used up all looks, a claim finds devices where none compete.
#[test]
fn a_node_where_no_wants_compete_is_found_after_many_where_they_do() {
    let mut world = drawing(40, "");
    add(
        &mut world,
        "counters: { roomy: 13 }\n\
         nodes: { zzz: { cpu: 8, devices: { nic: { count: 13, draws: { roomy: 1 } } } } }",
    );
    let place = decide(&mut world, 0);
    assert!(place.len() == 1 && place[0].starts_with("place hard on zzz"), "{place:?}");
}

/// Requests of one kind are not tried in all their orders, and conditions that no devices meet are seen by counting.
#[test]
fn what_counting_refuses_is_not_searched_for() {
    let requests = ["nic*1"; 12].join(" + ");
    for (condition, devices) in
        [("distinct", "\"nic@a\": 16"), ("alike", "\"nic@a\": 8, \"nic@b\": 8")]
    {
        let mut world = world(&format!(
            "nodes: {{ node0..49: {{ cpu: 8, devices: {{ {devices} }} }} }}\n\
             queues: {{ q: {{ quota: unlimited }} }}\n\
             device_classes: {{ nic: {{}} }}\n\
             groups: {{ g: {{ queue: q, templates: [\"{requests} {condition}\"] }} }}"
        ));
        let plan = plan_at(&mut world, 0);
        assert_eq!(changes(&world, &plan), ["idle"]);
        let Some(Why::NoRoom(why)) = world.cluster.verdict(group(&world, "g")) else {
            panic!("it waits for room")
        };
        assert_eq!(&*why.misfits, &[(Misfit::Devices, 50)][..]);
        // Nodes are looked at once for a place, and twice at most to say why.
        assert!(plan.steps.looks < 3 * 50 * 12 * 16, "{condition}: {}", plan.steps.looks);
    }
}

/// A counter that holds more by now has those looked at again who waited for it.
#[test]
fn a_counter_that_holds_more_places_who_waited_for_it() {
    let mut world = world(
        "counters: { slots: 1 }\n\
         nodes: { node0: { devices: { gpu: { count: 2, draws: { slots: 1 } } } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups: { one0..1: { queue: q, templates: [gpu*1] } }",
    );
    assert_eq!(decide(&mut world, 0), ["place one0 on node0[gpu-0]"]);
    let slots = world.names.counter("slots");
    world.tell(Delta::Counter(slots, 2));
    assert_eq!(decide(&mut world, 1000), ["place one1 on node0[gpu-1]"]);
}

/// Of two classes that stand in for one resource the second goes on once the first is gone.
#[test]
fn a_class_that_is_gone_takes_no_other_along() {
    let mut world = world(
        "nodes: { node0: { cpu: 8, devices: { b: 1 } } }\n\
         queues: { q: { quota: unlimited } }\n\
         device_classes: { a: { backs: example.com/x }, b: { backs: example.com/x } }",
    );
    let a = world.names.device_class("a");
    world.tell(Delta::DeviceClassGone(a));
    add(&mut world, "groups: { one: { queue: q, resources: { example.com/x: 1 } } }");
    assert_eq!(decide(&mut world, 0), ["place one on node0[b-0]"]);
}

/// Requests of a claim that one device serves have each the part of it that was told of this request.
#[test]
fn requests_of_a_claim_have_parts_of_their_own_of_one_device() {
    let mut world = world(
        "nodes: { node0: { cpu: 8, devices: { gpu: { count: 1, capacity: { memory: 40 } } } } }\n\
         queues: { q: { quota: unlimited } }\n\
         groups:\n\
         \x20 old: { queue: q, templates: [\"gpu(memory=10)*1 + gpu(memory=30)*1\"], on: node0 }\n\
         \x20 new: { queue: q, templates: [\"gpu(memory=15)*1\"] }",
    );
    let old = claim(&mut world, "old");
    let memory = world.names.symbol("memory");
    for (millis, second, expect) in [(0, 30, "idle"), (1, 15, "place new on node0[gpu-0]")] {
        change(&mut world, old, |mut claim| {
            let given = claim.allocation.as_mut().expect("its pod runs");
            let parts = given.devices.iter().zip([10, second]);
            let consumed = parts.map(|(&(request, device), amount)| Consumed {
                request,
                device,
                amounts: Box::new([(memory, amount)]),
            });
            given.consumed = consumed.collect();
            claim
        });
        assert_eq!(decide(&mut world, millis), [expect], "10 and {second} of 40");
    }
}
