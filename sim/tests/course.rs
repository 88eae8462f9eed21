//! The course of a cluster: what is carried out in virtual time is what a cluster would do.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use kai_engine::{Delta, GroupId, Millis, Owner, PodId, PodState};
use kai_sim::{
    build::build,
    course::{Course, Future},
    render,
    scenario::parse,
    world::{Evicted, World},
};

/// Every pod is made again, and whatever runs does so for an hour.
struct AnHour;

impl Future for AnHour {
    fn run_time(&self, _: GroupId, _: Millis) -> Option<Millis> {
        Some(3_600_000)
    }

    fn is_made_again(&self, _: PodId, _: GroupId) -> bool {
        true
    }
}

/// The groups that run in the end, after what `then` does.
fn check(text: &str, then: impl Fn(&mut Course<'_>, &World), expect: &[&str]) {
    let scenario =
        parse(&format!("title: a course\nwhy: it is followed\n{text}")).expect("it is a scenario");
    let world = build(&scenario).expect("it makes sense");
    let mut course = Course::new(world.cluster.clone(), world.config.clone(), world.now, &AnHour);
    then(&mut course, &world);
    course.settle();
    assert_eq!(course.cluster.check(), Vec::<String>::new(), "{text}");
    let groups: Vec<GroupId> = course.cluster.groups().map(|(group, _)| group).collect();
    let mut running: Vec<&str> = groups
        .into_iter()
        .filter(|group| course.is_running(*group))
        .map(|group| world.names.of_group(group))
        .collect();
    running.sort_unstable();
    assert_eq!(running, expect, "{text}");
}

fn drain(course: &mut Course<'_>, world: &World) {
    let node = world.names.find_node("node0").expect("it is known");
    course.drain(node);
}

fn end_victim(course: &mut Course<'_>, world: &World) {
    course.end(world.names.find_group("victim").expect("it is known"));
}

const TAKEN: &str = "
nodes: { node0: { devices: { gpu: 2 } } }
queues: { starved: { quota: 2 }, greedy: { quota: 0 } }
groups:
  victim: { queue: greedy, pods: 2, min: 1, templates: [gpu*1], on: node0 }
  claims: { queue: starved, templates: [gpu*2] }
";

const NAMED: &str = "
nodes: { node0: { devices: { gpu: 1 } } }
queues: { research: { quota: 2 } }
claims: { cache: { queue: research, devices: gpu*1 } }
groups:
  victim: { queue: research, claims: [cache], on: node0 }
  next:   { queue: research, templates: [gpu*1] }
";

#[test]
fn claims_of_pods_that_leave_give_their_devices_back() {
    check(TAKEN, |_, _| {}, &["claims"]);
    check(TAKEN, end_victim, &["claims"]);
    check(NAMED, |_, _| {}, &["victim"]);
    check(NAMED, end_victim, &["next"]);
    // What is drained waits again, with its claim to be allocated anew: it is the older.
    check(NAMED, drain, &["victim"]);
}

#[test]
fn a_claim_that_another_pod_holds_stays() {
    let shared = NAMED
        .replace("  next: ", "  other: { queue: research, claims: [cache], on: node0 }\n  next: ");
    check(&shared, end_victim, &["other"]);
}

/// Cycles that are compared: those that a scenario needs, and some in which nothing may happen.
const CYCLES: u32 = 10;

/// The first cycle in which a cluster with facts of its own and a course of the same engine differ: who goes where, who
/// leaves, in which order.
#[expect(clippy::disallowed_methods, reason = "a test is a caller, and hands over the text")]
fn differs(path: &Path) -> Option<String> {
    let scenario = parse(&fs::read_to_string(path).expect("it is readable")).expect("it is one");
    let mut world = build(&scenario).expect("it makes sense");
    let mut course = Course::new(world.cluster.clone(), world.config.clone(), world.now, &Endless);
    let is_leaving = |facts: &kai_engine::Pod| {
        matches!((&facts.state, facts.owner), (PodState::Releasing(_), Owner::Group(_)))
    };
    let pods = world.facts.pods.iter();
    let mut leaving: Vec<PodId> =
        pods.filter(|(_, facts)| is_leaving(facts)).map(|(pod, _)| *pod).collect();
    for cycle in 1..=CYCLES {
        let plan = world.plan();
        // What was told to leave before is gone in the first cycle.
        for pod in leaving.drain(..) {
            world.deallocate(pod);
            world.tell(Delta::PodGone(pod));
        }
        world.carry_out(&plan, Evicted::Recreated);
        let other = course.cycle();
        if plan.changes != other.changes {
            let mut names = world.names.clone();
            for change in &other.changes {
                if let kai_engine::Change::Place { node, devices, .. } = change {
                    devices.iter().for_each(|device| names.name_opened(*device, *node, &[]));
                }
            }
            let expect = render::plan(&plan, &world.names);
            return Some(format!("cycle {cycle}\n{expect}but\n{}", render::plan(&other, &names)));
        }
    }
    None
}

/// Every pod is made again, and nothing ends.
struct Endless;

impl Future for Endless {
    fn run_time(&self, _: GroupId, _: Millis) -> Option<Millis> {
        None
    }

    fn is_made_again(&self, _: PodId, _: GroupId) -> bool {
        true
    }
}

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is readable");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.sort();
    paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { scenarios(&path) } else { vec![path] })
        .collect()
}

#[test]
fn a_course_takes_the_way_of_the_cluster() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let files = scenarios(&folder);
    assert!(files.len() > 100, "the scenarios are there");
    let mut faults = String::new();
    for path in files {
        if let Some(fault) = differs(&path) {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display();
            let _ = writeln!(faults, "\n{name}: {fault}");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
