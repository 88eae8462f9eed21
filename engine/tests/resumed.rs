//! Searches for victims that run out of steps: they go on where they stopped, and end as one that never stopped.

use kai_engine::{
    Change, Cluster, Config, Delta, GpuRequest, Gpus, Group, GroupId, Label, Lane, Limit, Node,
    NodeId, Owner, PerLane, Place, Plan, Pod, PodId, PodState, Progress, Queue, QueueId, Resources,
    Shape, Steps, Structure, Symbol, Timestamp, Why, plan,
};

const BORROWER: QueueId = QueueId::new(0);
const OWNER: QueueId = QueueId::new(1);
const GANG: GroupId = GroupId::new(1000);
/// One search may take a part of a cycle's steps: one of so many.
const SEARCHES_MIN: u64 = 64;

/// Numbers from a seed (splitmix64).
struct Seed(u64);

impl Seed {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        u32::try_from((mixed ^ (mixed >> 31)) % u64::from(bound))
            .expect("below a number of 32 bits")
    }
}

/// Nodes of `gpus` GPUs, on each of which pods of `BORROWER` run, one a group, as `fill` sizes them for what is free; 0
/// ends it.
fn cluster((nodes, gpus): (u32, u16), mut fill: impl FnMut(u16) -> u16) -> Cluster {
    let mut cluster = Cluster::default();
    for (id, quota) in [(BORROWER, 0), (OWNER, i64::from(nodes) * i64::from(gpus) * 1000)] {
        cluster.apply(queue(id, quota));
    }
    let mut pod = 0;
    for id in 0..nodes {
        cluster.apply(node(id, gpus));
        let mut free = gpus;
        loop {
            let size = fill(free).min(free);
            if size == 0 {
                break;
            }
            let running = PodState::Running(Place::on(NodeId::new(id)));
            tell(&mut cluster, (pod, BORROWER), &[(pod, size, running)]);
            (pod, free) = (pod + 1, free - size);
        }
    }
    cluster
}

fn queue(id: QueueId, quota: i64) -> Delta {
    let quota = PerLane([Limit::UNLIMITED, Limit::UNLIMITED, Limit::of(quota)]);
    let queue = Queue {
        quota,
        limit: PerLane::splat(Limit::UNLIMITED),
        weight_milli: PerLane::splat(1000),
        uid: u128::from(id == OWNER),
        ..Queue::default()
    };
    Delta::Queue(id, Box::new(queue))
}

fn node(id: u32, gpus: u16) -> Delta {
    let allocatable: Resources =
        [(Lane::CPU, 64_000), (Lane::GPU, i64::from(gpus) * 1000), (Lane::PODS, 110)]
            .into_iter()
            .collect();
    let node = Node {
        name: format!("node-{id:02}").into_bytes().into(),
        allocatable,
        gpus: Gpus { count: gpus, memory_mib: 16_000, memory_known: true },
        ..Node::default()
    };
    Delta::Node(NodeId::new(id), Box::new(node))
}

/// A group, all of whose pods have to run at once.
fn tell(cluster: &mut Cluster, (group, queue): (u32, QueueId), pods: &[(u32, u16, PodState)]) {
    let min = u32::try_from(pods.len()).expect("a few");
    let facts = Group {
        queue: Some(queue),
        preemptible: true,
        uid: u128::from(group),
        structure: Structure::Flat { min, topology: None },
        ..Group::default()
    };
    cluster.apply(Delta::Group(GroupId::new(group), Box::new(facts)));
    for (id, gpus, state) in pods {
        let shape = Shape { gpu: GpuRequest::Whole(*gpus), ..Shape::default() };
        cluster.apply(pod((*id, group), shape, state));
    }
}

fn pod((id, group): (u32, u32), shape: Shape, state: &PodState) -> Delta {
    let pod = Pod {
        owner: Owner::Group(GroupId::new(group)),
        shape,
        state: state.clone(),
        uid: u128::from(id),
        ..Pod::default()
    };
    Delta::Pod(PodId::new(id), Box::new(pod))
}

/// A gang of the owner that waits.
fn gang(cluster: &mut Cluster, pods: u32, gpus: u16) {
    let pods: Vec<_> = (1000..1000 + pods).map(|id| (id, gpus, PodState::Pending)).collect();
    tell(cluster, (1000, OWNER), &pods);
}

/// So many steps for one search.
fn bounded(steps: u64) -> Config {
    Config { steps_max: steps * SEARCHES_MIN, ..Config::default() }
}

/// Counts what was looked at; groups have a turn in every cycle, whatever became of them.
fn looked(steps: &Steps) -> u64 {
    steps.total() - steps.groups
}

/// Plans until nothing is left to go on with: all changes, what was looked at, and how many cycles it took.
fn decide(cluster: &mut Cluster, config: &Config) -> (Vec<Change>, u64, u32) {
    let (mut changes, mut sum, mut cycles) = (Vec::new(), 0, 0);
    loop {
        let decided = plan(cluster, config, Timestamp(cycles.into()));
        sum += looked(&decided.steps);
        cycles += 1;
        changes.extend(decided.changes);
        if !decided.steps.spent {
            return (changes, sum, cycles);
        }
        assert_eq!(
            cluster.wake(),
            Some(Timestamp(i64::from(cycles) - 1)),
            "the next is due at once"
        );
        assert!(cycles < 20_000, "a search comes to its end");
    }
}

/// Whatever the cluster and however few steps a cycle has: the same plan, after the same steps.
#[test]
fn a_search_that_stops_takes_the_steps_of_one_that_does_not() {
    let mut stopped = 0;
    for number in 0..150 {
        let mut seed = Seed(number);
        let (nodes, gpus) = (2 + seed.below(5), u16::try_from(2 + seed.below(3)).expect("a few"));
        let mut world = cluster((nodes, gpus), |free| {
            u16::try_from(seed.below(u32::from(free) + 1)).expect("few")
        });
        // Once in a while more than there is, so that nothing is found.
        let pods = 1 + seed.below(nodes + 1);
        gang(&mut world, pods, u16::try_from(1 + seed.below(gpus.into())).expect("a few"));
        let mut alone = world.clone();
        let (changes, steps, cycles) = decide(&mut alone, &Config::default());
        assert_eq!(cycles, 1, "seed {number}");
        for steps_max in [1, 3, 10] {
            let mut world = world.clone();
            let (same, sum, cycles) = decide(&mut world, &bounded(steps_max));
            assert_eq!((same, sum), (changes.clone(), steps), "seed {number}, {steps_max} steps");
            assert_eq!(world.verdict(GANG), alone.verdict(GANG), "seed {number}");
            assert_eq!(world.check(), Vec::<String>::new());
            stopped += u32::from(cycles > 2);
        }
    }
    assert!(stopped > 100, "only {stopped} searches stopped");
}

/// The group says that its search goes on, and how far it is, and each cycle it is farther.
#[test]
fn a_search_that_stopped_says_how_far_it_is() {
    let mut cluster = cluster((4, 4), |_| 1);
    gang(&mut cluster, 4, 4);
    let mut sets = 0;
    for cycle in 0..5 {
        let decided = plan(&mut cluster, &bounded(4), Timestamp(cycle));
        assert_eq!(decided.changes, []);
        assert_eq!(decided.verdicts.is_empty(), cycle > 0, "it is said once");
        let Some(Why::Undecided { progress, before }) = cluster.verdict(GANG) else {
            panic!("{:?}", cluster.verdict(GANG))
        };
        assert!(matches!(before.as_deref(), Some(Why::NoRoom(_))), "{before:?}");
        let Progress::Eviction { groups, candidates, pods_all, sets: tried, .. } = **progress
        else {
            panic!("{progress:?}")
        };
        assert_eq!((candidates, pods_all), (16, 4));
        assert!(groups <= candidates && tried >= sets);
        sets = tried;
        assert_eq!(cluster.verdict(GANG).and_then(Why::code), Some(1219));
    }
    assert!(sets > 0);
}

/// Groups that come and have no turn yet are no matter of others' searches: they go on.
#[test]
fn others_that_come_and_have_no_turn_disturb_no_search() {
    undisturbed(|world, id| tell(world, (id, OWNER), &[(id, 1, PodState::Gated)]));
}

/// So do they where nodes are numbered anew for a pod without a turn that selects them by a label of its own.
#[test]
fn labels_that_nobody_asked_for_before_disturb_no_search() {
    undisturbed(|world, id| {
        let node_selector = vec![(Symbol::new(id), Symbol::new(1))];
        let shape = Shape { node_selector, ..Shape::default() };
        world.apply(pod((id, 1999), shape, &PodState::Gated));
    });
}

/// Has a search stop again and again, and something told each time, which must not have it begin anew.
fn undisturbed(mut disturb: impl FnMut(&mut Cluster, u32)) {
    let mut world = cluster((4, 4), |_| 1);
    gang(&mut world, 4, 4);
    tell(&mut world, (1999, OWNER), &[]);
    let (changes, steps, _) = decide(&mut world.clone(), &Config::default());
    let mut sum = 0;
    let mut same = Vec::new();
    for cycle in 0.. {
        let Plan { changes, steps, .. } = plan(&mut world, &bounded(4), Timestamp(cycle));
        same.extend(changes);
        sum += looked(&steps);
        if !steps.spent {
            break;
        }
        disturb(&mut world, 2000 + u32::try_from(cycle).expect("few cycles"));
    }
    assert_eq!((same, sum), (changes, steps));
}

/// A change of what it depends on has a search begin anew, so that nothing that came free is missed.
#[test]
fn a_change_has_a_search_begin_anew() {
    for cycle in 0..6 {
        let mut world = cluster((4, 4), |_| 1);
        gang(&mut world, 4, 4);
        for at in 0..cycle {
            assert!(plan(&mut world, &bounded(4), Timestamp(at)).steps.spent);
        }
        // A node that is empty: three more have to be emptied.
        world.apply(node(4, 4));
        let mut fresh = cluster((4, 4), |_| 1);
        fresh.apply(node(4, 4));
        gang(&mut fresh, 4, 4);
        let (changes, steps, _) = decide(&mut fresh, &Config::default());
        // It begins anew with twice as many steps, and has those of the first time besides.
        let (same, sum, _) = decide(&mut world, &bounded(4));
        assert_eq!(same, changes, "after {cycle} cycles");
        assert!(sum <= steps + 8, "{sum} steps after {cycle} cycles, {steps} alone");
        let evicted = same.iter().filter(|change| matches!(change, Change::Evict { .. })).count();
        assert_eq!(evicted, 12);
    }
}

/// A gang that takes the place of one that is gone, alike to none before, has the steps of a first search.
#[test]
fn others_that_come_instead_begin_as_any() {
    let first = |before: bool| {
        let mut world = cluster((4, 4), |_| 1);
        if before {
            gang(&mut world, 4, 4);
            for cycle in 0..3 {
                assert!(plan(&mut world, &bounded(4), Timestamp(cycle)).steps.spent);
                // It begins anew, each time with more steps.
                world.apply(node(50, u16::try_from(cycle).expect("a few")));
            }
            for id in 1000..1004 {
                world.apply(Delta::PodGone(PodId::new(id)));
            }
            world.apply(Delta::GroupGone(GANG));
            world.apply(Delta::NodeGone(NodeId::new(50)));
        }
        gang(&mut world, 4, 3);
        looked(&plan(&mut world, &bounded(4), Timestamp(10)).steps)
    };
    assert_eq!(first(true), first(false));
}

/// More searches than are kept at a time: each comes to its end in some cycle, also where those that came last go first.
#[test]
fn more_searches_than_are_kept_come_to_their_ends() {
    // Nobody can be moved: of each node one GPU is free, and whoever runs has three.
    let mut world = cluster((12, 4), |free| if free == 4 { 3 } else { 0 });
    let config = bounded(8);
    for batch in [3100..3160, 3000..3100] {
        for id in batch {
            // All of another class: no two ask for as much CPU.
            let request = [(Lane::CPU, i64::from(id))].into_iter().collect();
            let shape = Shape { gpu: GpuRequest::Whole(2), request, ..Shape::default() };
            tell(&mut world, (id, BORROWER), &[]);
            world.apply(pod((id, id), shape, &PodState::Pending));
        }
        plan(&mut world, &config, Timestamp(0));
    }
    let (nothing, ..) = decide(&mut world, &config);
    assert_eq!(nothing, []);
    for id in 3000..3160 {
        let why = world.verdict(GroupId::new(id));
        assert!(matches!(why, Some(Why::NoRoom(_))), "{id}: {why:?}");
    }
}

/// One that found nothing is not asked again while another goes on.
#[test]
fn a_search_that_is_over_is_not_begun_again() {
    // One GPU is free on each node, and no pod can be moved to where another is.
    let world = || cluster((4, 4), |free| if free == 4 { 3 } else { 0 });
    let hopeless = |world: &mut Cluster| {
        tell(world, (3000, BORROWER), &[(3000, 2, PodState::Pending)]);
    };
    let mut alone = world();
    gang(&mut alone, 4, 4);
    let (changes, steps, _) = decide(&mut alone, &Config::default());
    let mut alone = world();
    hopeless(&mut alone);
    let (nothing, lost, _) = decide(&mut alone, &Config::default());
    assert_eq!((nothing.len(), changes.len()), (0, 8));
    assert!(lost > 4, "{lost} steps");

    let mut both = world();
    gang(&mut both, 4, 4);
    hopeless(&mut both);
    let (same, sum, cycles) = decide(&mut both, &bounded(8));
    assert_eq!(same.len(), changes.len());
    // Begun again in each cycle it would take 8 steps more in each.
    assert!(sum < steps + lost + 8, "{sum} steps in {cycles} cycles, not {steps} and {lost}");
}

/// A pod that leaves a node of its own, and one that waits for its GPU, which is promised anew in every cycle.
fn promise(cluster: &mut Cluster, waiting: u32, gpu: GpuRequest) {
    const ALONE: Symbol = Symbol::new(90);
    let Delta::Node(id, mut facts) = node(90, 1) else { unreachable!("it is a node") };
    facts.labels = vec![Label { key: ALONE, value: ALONE, number: None }];
    cluster.apply(Delta::Node(id, facts));
    let place = Place::on(NodeId::new(90));
    tell(cluster, (900, BORROWER), &[(900, 1, PodState::Releasing(place))]);
    tell(cluster, (waiting, OWNER), &[]);
    let shape = Shape { gpu, node_selector: vec![(ALONE, ALONE)], ..Shape::default() };
    cluster.apply(pod((waiting, waiting), shape, &PodState::Pending));
}

/// A promise that stands is no change, though each cycle takes it back and makes it again.
#[test]
fn a_promise_that_stands_disturbs_no_search() {
    // Before the gang and after it.
    for waiting in [999, 2999] {
        let mut world = cluster((4, 4), |_| 1);
        gang(&mut world, 3, 4);
        promise(&mut world, waiting, GpuRequest::Whole(1));
        let searched = |steps: &Steps| (steps.victims, steps.scenarios);
        let all = plan(&mut world.clone(), &Config::default(), Timestamp(0));
        let (mut changes, mut sum) = (Vec::new(), (0, 0));
        for cycle in 0.. {
            let decided = plan(&mut world, &bounded(4), Timestamp(cycle));
            let (victims, sets) = searched(&decided.steps);
            sum = (sum.0 + victims, sum.1 + sets);
            changes.extend(decided.changes);
            if !decided.steps.spent {
                assert!(cycle > 2, "it stops at times");
                break;
            }
        }
        assert_eq!((changes, sum), (all.changes.clone(), searched(&all.steps)), "{waiting}");
    }
}

/// Gangs of unlike pods that fill nodes to the last GPU: where another way to place them takes more tries than a cycle
/// has, the next one goes on, and in the end they are placed or it gives up; with a promise that stands as without.
#[test]
fn another_way_to_place_a_gang_goes_on() {
    let (mut at_once, mut later, mut given_up) = (0, 0, 0);
    for number in 0..12 {
        let mut seed = Seed(number);
        let nodes = 3 + seed.below(2);
        let mut world = cluster((nodes, 100), |_| 0);
        let mut sizes = Vec::new();
        for _ in 0..nodes {
            let mut left = 100;
            while left > 0 {
                let size = (14 + seed.below(25)).min(left);
                left -= size;
                let at = seed.below(u32::try_from(sizes.len()).expect("a few") + 1);
                sizes.insert(at as usize, u16::try_from(size).expect("a few"));
            }
        }
        let pods: Vec<_> =
            (1000..).zip(sizes).map(|(id, size)| (id, size, PodState::Pending)).collect();
        tell(&mut world, (1000, OWNER), &pods);
        let tries = pack(&mut world.clone(), pods.len());
        match tries {
            (0, true) => at_once += 1,
            (_, true) => later += 1,
            (_, false) => given_up += 1,
        }
        if pods.iter().any(|(_, size, _)| *size == 1) {
            continue;
        }
        let half = GpuRequest::Fraction { micro: 500_000, devices: 1 };
        for waiting in [999, 2999] {
            let mut world = world.clone();
            promise(&mut world, waiting, half.clone());
            assert_eq!(pack(&mut world, pods.len()), tries, "seed {number}, {waiting}");
        }
    }
    assert!(later > 0 && at_once > 0, "{at_once} at once, {later} later, {given_up} not");
}

/// Plans until a gang of so many pods is placed or given up: the tries of all cycles but the last, and whether it was
/// placed.
fn pack(world: &mut Cluster, pods: usize) -> (u64, bool) {
    let mut said = 0;
    for cycle in 0.. {
        let decided = plan(world, &Config::default(), Timestamp(cycle));
        assert_eq!(world.check(), Vec::<String>::new());
        let is_placed = |change: &&Change| matches!(change, Change::Place { .. });
        let placed = decided.changes.iter().filter(is_placed).count();
        if !decided.steps.spent {
            let waits = matches!(world.verdict(GANG), Some(Why::NoRoom(_)));
            assert!(if placed == 0 { waits } else { placed == pods }, "a gang starts as a whole");
            return (said, placed > 0);
        }
        assert_eq!(placed, 0);
        let Some(Why::Undecided { progress, .. }) = world.verdict(GANG) else {
            panic!("{:?}", world.verdict(GANG))
        };
        let Progress::Packing { tries, tries_max } = &**progress else { panic!("{progress:?}") };
        // With the first promise it begins anew.
        let goes_on = said < *tries || (cycle == 1 && said == *tries);
        assert!(goes_on && tries < tries_max, "{tries} tries after {said}");
        said = *tries;
    }
    unreachable!("the loop has no end")
}
