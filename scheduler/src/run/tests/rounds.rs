//! Rounds of the loop: how soon one follows another, and what is left to the next one.

use super::*;

/// Others are to have the machine for a while, and who comes meanwhile is not to wait for long where there is much to do.
#[test]
fn a_cycle_that_was_cut_is_followed_by_a_short_rest() {
    let rests = |is_cut| {
        let rest = |worked| rest_after(Duration::from_millis(worked), is_cut).as_millis();
        [0, 1, 30, 80].map(rest)
    };
    assert_eq!(rests(false), [0, 2, 60, 100]);
    assert_eq!(rests(true), [0, 2, 10, 10]);
}

/// So many pods wait for a config map that a round has no room for all of them.
fn with_readers() -> World {
    let mut world = World::empty();
    add_readers(&mut world);
    world
}

fn add_readers(world: &mut World) {
    for number in 0..1_500 {
        let mut pod = named(&format!("p{number}"));
        let reads = json!([{"configMapRef": {"name": "settings"}}]);
        pod["spec"] = json!({"containers": [{"envFrom": reads}]});
        pod["status"] = json!({"phase": "Pending"});
        world.apply(Kind::Pod, &pod);
    }
}

/// Nothing else happens that would have it go round.
#[tokio::test(start_paused = true)]
async fn the_loop_goes_on_at_once_while_pods_are_to_be_told_anew() {
    let mut world = with_readers();
    let channels = world.channels();
    world.cycle(&channels);
    world.apply(Kind::ConfigMap, &named("settings"));
    world.cycle(&channels);
    assert!(world.run.ingest.has_late());
    assert_eq!(world.run.wake(), Instant::now(), "there is more to do");
    world.cycle(&channels);
    assert!(!world.run.ingest.has_late());
    assert!(world.run.wake() > Instant::now(), "there is nothing to do");
}

/// A restart decides as if nothing had happened: config maps may be listed after the pods that wait for them.
#[tokio::test(start_paused = true)]
async fn all_is_told_before_the_first_plan() {
    let mut world = with_readers();
    world.apply(Kind::ConfigMap, &named("settings"));
    let channels = world.channels();
    world.cycle(&channels);
    assert!(!world.run.ingest.has_late());
}

/// A pod that asks for all GPUs of the node, refers to a config map, and may have others evicted.
fn add_urgent(world: &mut World) {
    let (mut class, mut group, mut pod) = (named("high"), named("urgent"), named("urgent"));
    class["value"] = json!(75);
    group["spec"] = json!({"queue": "team", "minMember": 1, "priorityClassName": "high"});
    pod["metadata"]["annotations"] = json!({"pod-group-name": "urgent"});
    let gpus = json!({"nvidia.com/gpu": "8"});
    let reads = json!([{"configMapRef": {"name": "settings"}}]);
    let resources = json!({"requests": gpus, "limits": gpus});
    let container = json!({"name": "main", "resources": resources, "envFrom": reads});
    pod["spec"] = json!({"schedulerName": "kai-scheduler", "containers": [container]});
    world.apply(Kind::PriorityClass, &class);
    world.apply(Kind::PodGroup, &group);
    world.apply(Kind::Pod, &pod);
}

/// Counts the evictions that were handed over.
fn evictions(world: &mut World) -> usize {
    let handed_over = std::iter::from_fn(|| world.tasks.try_recv().ok());
    handed_over.flatten().filter(|task| matches!(task, Task::Evict(_))).count()
}

/// Its turn to be told that what it needs is gone comes a cycle later, and the other would be gone for nothing.
#[tokio::test(start_paused = true)]
async fn nobody_is_evicted_for_a_pod_that_was_not_told_yet_what_is_missing() {
    let mut world = with_groups(std::iter::once(json!({"nvidia.com/gpu": "8"})));
    world.apply(Kind::ConfigMap, &named("settings"));
    add_readers(&mut world);
    let channels = world.channels();
    world.cycle(&channels);
    world.bound("w-0");
    add_urgent(&mut world);
    world.delete(Kind::ConfigMap, &named("settings"));
    world.cycle(&channels);
    assert!(world.run.ingest.has_late());
    let urgent = PodId::new(world.pod("urgent"));
    let is_told = |delta: &Delta| matches!(delta, Delta::Pod(pod, _) if *pod == urgent);
    assert!(world.run.ingest.context.deltas.iter().any(is_told), "the next plan knows");
    world.cycle(&channels);
    assert_eq!(evictions(&mut world), 0);
    world.apply(Kind::ConfigMap, &named("settings"));
    for _ in 0..3 {
        world.cycle(&channels);
    }
    assert_eq!(evictions(&mut world), 1, "it can be evicted as before");
}

/// Whoever comes first in the first plan would have the places of pods that are told later, which may be more urgent.
#[tokio::test(start_paused = true)]
async fn all_topology_spread_has_its_turn_before_the_first_plan() {
    let mut world = World::empty();
    let names: Vec<String> = (0..40).map(|number| format!("p{number}")).collect();
    for name in &names {
        // A cycle takes in sixteen such.
        let values: Vec<String> = (1..32).map(|value| format!("{name}-{value}")).collect();
        let expression = json!({"key": "app", "operator": "NotIn", "values": values});
        let spread = json!({"topologyKey": "zone", "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchExpressions": [expression]}});
        let mut pod = named(name);
        pod["metadata"]["annotations"] = json!({"pod-group-name": "a"});
        pod["spec"] = json!({"schedulerName": "kai-scheduler", "containers": [],
            "topologySpreadConstraints": [spread]});
        pod["status"] = json!({"phase": "Pending"});
        world.apply(Kind::Pod, &pod);
    }
    let channels = world.channels();
    world.cycle(&channels);
    let told = names.iter().filter_map(|name| {
        let pod = PodId::new(world.pod(name));
        world.run.cluster.pod_told(pod)
    });
    assert_eq!(told.filter(|pod| !pod.shape.spread.is_empty()).count(), 40);
}
