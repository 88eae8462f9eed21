//! A plan is what the scheduler then does: of every scenario, for work that is added to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use kai_engine::{Change as Decided, Delta, NodeId, Owner, PodId, PodState};
use kai_sim::build::{add, build};
use kai_sim::scenario::{Scenario, parse};
use kai_sim::world::{Evicted, World};
use serde_json::{Value, json};

use super::{Situation, Start, Wish};

/// Cycles in which a cluster comes to rest.
const CYCLES_MAX: u32 = 64;

/// Work that is asked about: pods that start together, and GPUs of each.
const SHAPES: [(u32, u32); 3] = [(1, 1), (1, 8), (2, 4)];

/// Holds what became of the work, and of others for it.
#[derive(Debug, PartialEq, Eq)]
struct Fate {
    runs: bool,
    /// Says how many of its pods are on each node.
    nodes: BTreeMap<String, usize>,
    /// Pods that leave, and would not without it.
    victims: BTreeSet<String>,
}

/// The work as somebody would submit it.
fn job(queue: &str, pods: u32, gpus: u32) -> Value {
    let requests = json!({"nvidia.com/gpu": gpus.to_string(), "cpu": "1", "memory": "1Gi"});
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "wish", "namespace": "default",
            "labels": {"kai.scheduler/queue": queue},
            "annotations": {"kai.scheduler/batch-min-member": pods.to_string()}},
        "spec": {"parallelism": pods, "completions": pods, "template": {
            "metadata": {"labels": {"kai.scheduler/queue": queue}},
            "spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "b", "resources":
                    {"requests": requests, "limits": requests}}]}}}
    })
}

/// Returns what the plan says.
fn planned(path: &Path, queue: &str, pods: u32, gpus: u32) -> Option<Fate> {
    let folder = path.parent().expect("it is in a folder");
    let name = path.file_name().expect("it is a file").to_string_lossy();
    let mut situation = Situation::of_scenario(&name, folder).expect("it is a scenario");
    let objects = [job(queue, pods, gpus)];
    let wish = Wish { objects: &objects, ..Wish::default() };
    let outcome = situation.plan(&wish).ok()?;
    let fate = outcome.workloads.first()?;
    let mut nodes = BTreeMap::new();
    let runs = matches!(fate.start, Start::Now | Start::AfterEvictions);
    for node in fate.pods.iter().filter_map(|pod| pod.node.clone()).filter(|_| runs) {
        *nodes.entry(node).or_default() += 1;
    }
    let victims = outcome.evicted.iter().flat_map(|victim| victim.pods.iter().cloned());
    Some(Fate { runs, nodes, victims: victims.collect() })
}

/// Lets the scheduler go on until nothing happens; the pods that leave on the way. Those that were told to leave before
/// are gone in the first cycle.
fn settle(world: &mut World) -> BTreeSet<PodId> {
    let mut evicted = BTreeSet::new();
    let is_leaving = |facts: &kai_engine::Pod| {
        matches!((&facts.state, facts.owner), (PodState::Releasing(_), Owner::Group(_)))
    };
    let pods = world.facts.pods.iter();
    let mut leaving: Vec<PodId> =
        pods.filter(|(_, facts)| is_leaving(facts)).map(|(pod, _)| *pod).collect();
    for _ in 0..CYCLES_MAX {
        let plan = world.plan();
        for pod in leaving.drain(..) {
            world.deallocate(pod);
            world.tell(Delta::PodGone(pod));
        }
        for change in &plan.changes {
            if let Decided::Evict { pod, .. } = change {
                evicted.insert(*pod);
            }
        }
        world.carry_out(&plan, Evicted::Recreated);
        let goes_on = world.cluster.wake().is_some_and(|wake| wake <= world.now);
        if plan.changes.is_empty() && !goes_on {
            break;
        }
    }
    evicted
}

/// Returns what the scheduler does once the work is there.
fn done(scenario: &Scenario, queue: &str, pods: u32, gpus: u32) -> Fate {
    let world = build(scenario).expect("it makes sense");
    let without = settle(&mut world.clone());
    let mut world = world;
    let news = format!(
        "title: more work\nwhy: it is added\ngroups: {{ wish: {{ queue: \"{queue}\", gpus: {gpus}, pods: {pods}, guaranteed: true }} }}\n"
    );
    add(&mut world, &parse(&news).expect("it is a scenario")).expect("it makes sense");
    let with = settle(&mut world);
    let wish = world.names.find_group("wish").expect("it is there");
    let victims = with.difference(&without).filter(|pod| !is_of(&world, **pod, wish));
    let victims = victims.map(|pod| world.names.of_pod(*pod).to_owned()).collect();
    let own = world.facts.pods.iter().filter(|(pod, _)| is_of(&world, **pod, wish));
    let places: Vec<NodeId> =
        own.filter_map(|(_, facts)| facts.state.place().map(|place| place.node)).collect();
    let mut nodes = BTreeMap::new();
    for node in &places {
        *nodes.entry(world.names.of_node(*node).to_owned()).or_default() += 1;
    }
    Fate { runs: places.len() == pods as usize, nodes, victims }
}

fn is_of(world: &World, pod: PodId, group: kai_engine::GroupId) -> bool {
    world.facts.pods.get(&pod).is_some_and(|facts| facts.owner == Owner::Group(group))
}

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is readable");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.sort();
    let inner = paths.into_iter();
    inner.flat_map(|path| if path.is_dir() { scenarios(&path) } else { vec![path] }).collect()
}

#[test]
fn a_plan_is_what_the_scheduler_then_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let (mut faults, mut plans, mut with_victims) = (String::new(), 0, 0);
    for path in scenarios(&folder) {
        let text = fs::read_to_string(&path).expect("it is readable");
        let scenario = parse(&text).expect("it is a scenario");
        let parents: BTreeSet<&str> =
            scenario.queues.iter().filter_map(|(_, queue)| queue.parent.as_deref()).collect();
        let leaves = scenario.queues.iter().map(|(name, _)| name);
        for queue in leaves.filter(|name| !parents.contains(name)) {
            for (pods, gpus) in SHAPES {
                let Some(plan) = planned(&path, queue, pods, gpus) else { continue };
                let then = done(&scenario, queue, pods, gpus);
                plans += 1;
                with_victims += usize::from(!plan.victims.is_empty());
                if plan != then {
                    let name = path.strip_prefix(&folder).unwrap_or(&path).display();
                    let _ = writeln!(
                        faults,
                        "{name}, {pods} of {gpus} in {queue}:\n  planned {plan:?}\n  done    {then:?}"
                    );
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(plans > 1000 && with_victims > 30, "{plans} plans, {with_victims} with victims");
}
