//! Gangs of sub-groups that have to be in one rack or one zone each, against an exhaustive choice of domains. Pods ask for
//! one GPU each, so that where in a domain they are makes no difference. Where the GPUs are held by pods that may be
//! evicted, what is proved impossible is.

use std::fmt::Write;

use kai_engine::{Change, EvictionKind, Plan, Progress, Proof, Why};
use kai_sim::{build::build, generate::Seed, render, scenario::parse, world::World};
use proptest::prelude::*;

use crate::config;

/// At most so many racks in two zones, GPUs of a node, sub-groups, and pods of each.
const RACKS_MAX: u64 = 4;
const GPUS_MAX: u64 = 4;
const SUB_GROUPS_MAX: u64 = 4;
const PODS_MAX: u64 = 4;

/// In so many cycles a search is over.
const CYCLES_MAX: usize = 64;

/// Level at which the pods of a sub-group have to be together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Rack,
    Zone,
    Anywhere,
}

/// A rack: its zone, and GPUs that are free.
#[derive(Clone, Copy, Debug)]
struct Rack {
    zone: u64,
    free: u64,
}

/// Tells whether all sub-groups, by level, find room: tries every domain.
fn fits(racks: &mut [Rack], sub_groups: &[(Level, u64)]) -> bool {
    let Some(((level, pods), rest)) = sub_groups.split_first() else { return true };
    let places: Vec<Vec<usize>> = match level {
        Level::Rack => (0..racks.len()).map(|at| vec![at]).collect(),
        Level::Zone => (0..2)
            .map(|zone| (0..racks.len()).filter(|at| racks[*at].zone == zone).collect())
            .collect(),
        Level::Anywhere => vec![(0..racks.len()).collect()],
    };
    places.into_iter().any(|place| {
        let mut racks = racks.to_vec();
        // What comes later asks for no less than this place, so that only the sum of it matters.
        let mut left = *pods;
        for at in place {
            let taken = left.min(racks[at].free);
            racks[at].free -= taken;
            left -= taken;
        }
        left == 0 && fits(&mut racks, rest)
    })
}

/// Racks, a gang of sub-groups, and both as text.
struct Story {
    racks: Vec<Rack>,
    sub_groups: Vec<(Level, u64)>,
    in_one_zone: bool,
    text: String,
}

impl Story {
    /// In a cluster that is empty, or full of pods that may be preempted.
    fn tell(seed: u64, is_full: bool) -> Self {
        let mut draw = Seed::new(seed);
        let (mut nodes, mut groups) = (String::new(), String::new());
        let mut racks = Vec::new();
        for number in 0..=draw.below(RACKS_MAX) {
            let mut rack = Rack { zone: draw.below(2), free: 0 };
            for node in 0..=draw.below(2) {
                let gpus = draw.below(GPUS_MAX + 1);
                rack.free += gpus;
                let labels = format!("{{ zone: z{}, rack: r{number} }}", rack.zone);
                let name = format!("n{number}-{node}");
                let _ = writeln!(nodes, "  {name}: {{ gpus: {gpus}, labels: {labels} }}");
                if is_full && gpus > 0 {
                    let _ = writeln!(
                        groups,
                        "  on-{name}: {{ queue: q, priority: 50, gpus: {gpus}, on: {name} }}"
                    );
                }
            }
            racks.push(rack);
        }
        let in_one_zone = draw.one_in(3);
        let required = if in_one_zone { "    required: zone\n" } else { "" };
        groups += "  gang:\n    queue: q\n    priority: 90\n    preemptible: true\n";
        groups += required;
        groups += "    subgroups:\n";
        let mut sub_groups = Vec::new();
        for number in 0..=draw.below(SUB_GROUPS_MAX) {
            let pods = 1 + draw.below(PODS_MAX);
            let level = *draw.pick(&[Level::Rack, Level::Rack, Level::Zone, Level::Anywhere]);
            let required = match level {
                Level::Rack => ", required: rack",
                Level::Zone => ", required: zone",
                Level::Anywhere => "",
            };
            let _ = writeln!(groups, "      s{number}: {{ gpus: 1, pods: {pods}{required} }}");
            sub_groups.push((level, pods));
        }
        sub_groups.sort_unstable();
        let text = format!(
            "title: t\nwhy: w\ntopologies: {{ dc: [zone, rack] }}\nnodes:\n{nodes}queues: {{ q: {{}} }}\n\
             groups:\n{groups}"
        );
        Self { racks, sub_groups, in_one_zone, text }
    }

    /// Counts the pods that are to be placed: all, where there is a way, or none.
    fn expect(&self) -> usize {
        let pods: u64 = self.sub_groups.iter().map(|(_, pods)| pods).sum();
        let of = |zone: u64| self.racks.iter().copied().filter(move |rack| rack.zone == zone);
        let whole: Vec<Vec<Rack>> = if self.in_one_zone {
            vec![of(0).collect(), of(1).collect()]
        } else {
            vec![self.racks.clone()]
        };
        let fits = whole.into_iter().any(|mut racks| fits(&mut racks, &self.sub_groups));
        if fits { usize::try_from(pods).expect("it is small") } else { 0 }
    }
}

/// The plan of the cycle in which a search comes to its end.
fn plan(text: &str) -> (World, Plan) {
    let scenario = parse(text).expect("a scenario");
    let mut world = build(&scenario).expect("a world");
    let mut plan = world.plan();
    for _ in 1..CYCLES_MAX {
        if plan.changes.is_empty() && plan.steps.spent {
            plan = world.plan();
        }
    }
    (world, plan)
}

proptest! {
    #![proptest_config(config())]

    /// A gang whose sub-groups go to domains is placed exactly when some choice of domains takes them all.
    #[test]
    fn a_gang_of_sub_groups_is_placed_exactly_when_it_fits(seed: u64) {
        let story = Story::tell(seed, false);
        let (world, plan) = plan(&story.text);
        let is_placed = |change: &&Change| matches!(change, Change::Place { .. });
        let placed = plan.changes.iter().filter(is_placed).count();
        let told = render::text(&plan.changes, std::iter::empty(), &world.names);
        prop_assert_eq!(placed, story.expect(), "{}\n{}", story.text, told);
    }

    /// A gang that others are preempted for has a place when it fits, and is not said to be hopeless.
    #[test]
    fn a_gang_of_sub_groups_preempts_when_it_fits(seed: u64) {
        let story = Story::tell(seed, true);
        let (world, plan) = plan(&story.text);
        let is_promised = |change: &&Change| {
            let Change::Nominate { pod, .. } = change else { return false };
            world.names.of_pod(*pod).starts_with("gang")
        };
        let promised = plan.changes.iter().filter(is_promised).count();
        let told = render::text(&plan.changes, std::iter::empty(), &world.names);
        prop_assert_eq!(promised, story.expect(), "{}\n{}", story.text, told);
        let is_proved = |proof: &Proof| proof.kind == EvictionKind::Preempt;
        prop_assert!(promised == 0 || !plan.proofs.iter().any(is_proved), "{}", story.text);
    }
}

/// Sub-groups that fill all racks to the last GPU are placed at once, or their search goes on where it stopped until they
/// are or it gives up.
#[test]
fn a_search_for_domains_goes_on() {
    let (mut at_once, mut later) = (0, 0);
    for number in 0..40 {
        let mut draw = Seed::new(number);
        let (mut nodes, mut sizes) = (String::new(), Vec::new());
        for rack in 0..4 {
            let _ =
                writeln!(nodes, "  n{rack}: {{ gpus: 30, cpu: 64, labels: {{ rack: r{rack} }} }}");
            let mut left = 30;
            while left > 0 {
                let size = (4 + draw.below(9)).min(left);
                left -= size;
                sizes.push(size);
            }
        }
        let mut text = format!(
            "title: t\nwhy: w\ntopologies: {{ dc: [rack] }}\nnodes:\n{nodes}queues: {{ q: {{}} }}\ngroups:\n  gang:\n    \
             queue: q\n    subgroups:\n"
        );
        for (at, size) in sizes.iter().enumerate() {
            let _ = writeln!(text, "      s{at}: {{ gpus: 1, pods: {size}, required: rack }}");
        }
        let mut world = build(&parse(&text).expect("a scenario")).expect("a world");
        let gang = world.names.find_group("gang").expect("it is there");
        let mut said = 0;
        let plan = loop {
            let plan = world.plan();
            if !plan.steps.spent {
                break plan;
            }
            assert!(plan.changes.is_empty(), "a gang starts as a whole");
            let Some(Why::Undecided { progress, .. }) = world.cluster.verdict(gang) else {
                panic!("{:?}", world.cluster.verdict(gang))
            };
            let Progress::Packing { tries, tries_max } = &**progress else {
                panic!("{progress:?}")
            };
            assert!(said < *tries && tries < tries_max, "{tries} tries after {said}");
            said = *tries;
        };
        let placed = plan.changes.len();
        assert!(placed == 0 || placed == 120, "{placed} are placed");
        at_once += u32::from(placed > 0 && said == 0);
        later += u32::from(placed > 0 && said > 0);
    }
    assert!(at_once > 0 && later > 0, "{at_once} at once, {later} later");
}
