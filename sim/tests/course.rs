//! The course of a cluster: what is carried out in virtual time is what a cluster would do.

use kai_engine::{GroupId, Millis, PodId};
use kai_sim::{
    build::build,
    course::{Course, Future},
    scenario::parse,
    world::World,
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
