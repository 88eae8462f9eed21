//! Tests what is written on a `PodGroup` and its pods, and when, as its reasons change.

use std::{collections::BTreeMap, sync::Arc};

use kai_api::names::annotation;
use kai_engine::{Change, Cluster, Config, Eviction, Grant, Plan, Timestamp};
use kai_scheduler::{
    Args,
    actuate::{GroupChange, Task},
    cel::Verdict,
    dispatch::{Dispatch, GroupWrites},
    ingest::{Ingest, Kind, Rules},
    names::Number as _,
    report::{Context, Report},
    serve::metrics::Metrics,
};
use serde_json::{Value, json};

/// 2026-01-01T00:00:00Z.
const BEGIN: i64 = 1_767_225_600_000;

/// A cluster, and what is said of its groups.
struct World {
    ingest: Ingest,
    cluster: Cluster,
    report: Report,
    writes: GroupWrites,
    dispatch: Dispatch,
}

impl World {
    fn new() -> Self {
        let args = Args::from_command_line(["kai-scheduler".into()]).expect("no flags are valid");
        Self {
            ingest: Ingest::new(Rules::new(&args)),
            cluster: Cluster::default(),
            report: Report::default(),
            writes: GroupWrites::default(),
            dispatch: Dispatch::new("default", "kai-scheduler", Metrics::new("kai")),
        }
    }

    fn apply(&mut self, object: &Value) {
        let name = object["kind"].as_str().expect("a kind");
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).expect("a watched kind");
        self.ingest.applied(kind, object.to_string().as_bytes()).expect("it can be read");
    }

    /// Takes in what was applied, and decides so long after the beginning.
    fn decided(&mut self, milliseconds: i64) -> Plan {
        let now = Timestamp(BEGIN + milliseconds);
        self.ingest.advance(now);
        for delta in std::mem::take(&mut self.ingest.context.deltas) {
            self.cluster.apply(delta);
        }
        kai_engine::plan(&mut self.cluster, &Config::default(), now)
    }

    /// Gives what there is to write about a group; what is written on it succeeds at once.
    fn tasks(&mut self, group: u32, milliseconds: i64) -> Vec<Task> {
        let mut context = Context {
            cluster: &self.cluster,
            objects: &self.ingest.groups,
            names: &mut self.ingest.context.names,
            writes: &mut self.writes,
            dispatch: &self.dispatch,
            now: Timestamp(BEGIN + milliseconds),
            steady: milliseconds,
        };
        let tasks = self.report.tasks(group, &mut context);
        if tasks.iter().any(|task| matches!(task, Task::Group(_))) {
            self.writes.end(group, true, Some("2".into()));
        }
        tasks
    }

    /// Gives all that is written of a group so long after the beginning, one write after the other.
    fn all_of(&mut self, group: u32, milliseconds: i64) -> Vec<&'static str> {
        let mut all = Vec::new();
        loop {
            let written = self.tasks(group, milliseconds).iter().find_map(kind_of);
            let Some(written) = written else { return all };
            all.push(written);
        }
    }

    /// Decides, and returns what is written of groups so long after the beginning.
    fn written(&mut self, milliseconds: i64) -> Vec<&'static str> {
        let plan = self.decided(milliseconds);
        let told = plan.verdicts.iter().map(|verdict| verdict.group.number());
        let mut groups: Vec<u32> = told.chain(self.report.due(milliseconds)).collect();
        groups.dedup();
        let tasks = groups.into_iter().flat_map(|group| self.tasks(group, milliseconds));
        tasks.filter_map(|task| kind_of(&task)).collect()
    }
}

/// Says what of a group a task writes, where it writes something.
fn kind_of(task: &Task) -> Option<&'static str> {
    let Task::Group(patch) = task else { return None };
    Some(match patch.change {
        GroupChange::Conditions(_) => "conditions",
        GroupChange::Annotations(_) => "annotations",
    })
}

fn queue() -> Value {
    let none = json!({"quota": -1, "limit": -1});
    json!({"kind": "Queue", "metadata": {"name": "team"},
        "spec": {"resources": {"gpu": none, "cpu": none, "memory": none}}})
}

fn node(name: &str) -> Value {
    let amounts = json!({"nvidia.com/gpu": "8", "cpu": "64", "memory": "1Ti", "pods": "110"});
    json!({"kind": "Node", "metadata": {"name": name},
        "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn pod(name: &str, group: &str, node: &str) -> Value {
    let request: BTreeMap<&str, &str> = [("nvidia.com/gpu", "8")].into();
    json!({"kind": "Pod",
        "metadata": {"namespace": "ml", "name": name, "uid": format!("u-{name}"),
            "resourceVersion": "1", "annotations": {"pod-group-name": group}},
        "spec": {"schedulerName": "kai-scheduler", "nodeName": node,
            "containers": [{"name": "main", "resources": {"requests": request, "limits": request}}]}})
}

fn group(name: &str, pods: u32) -> Value {
    json!({"kind": "PodGroup",
        "metadata": {"namespace": "ml", "name": name, "uid": format!("u-{name}"), "resourceVersion": "1"},
        "spec": {"queue": "team", "minMember": pods}})
}

#[test]
fn a_gang_is_explained_while_its_condition_must_not_change_yet() {
    let mut world = World::new();
    for object in [queue(), node("a"), node("b")] {
        world.apply(&object);
    }
    world.apply(&group("gang", 3));
    for name in ["gang-0", "gang-1", "gang-2"] {
        world.apply(&pod(name, "gang", ""));
    }
    assert_eq!(world.written(0), ["conditions"]);
    // Less is free, which is another text, too early to be said.
    world.apply(&group("taker", 1));
    world.apply(&pod("taker", "taker", "a"));
    assert_eq!(world.written(100), Vec::<&str>::new());
    assert_eq!(world.written(400), ["annotations"]);
    assert_eq!(world.written(5_100), ["conditions"]);
}

/// A group that was placed waits anew once its pod is made again, and may be placed in a moment.
#[test]
fn a_group_that_waits_again_is_not_explained_at_once() {
    let mut world = World::new();
    for object in [queue(), group("one", 1), pod("one-0", "one", "")] {
        world.apply(&object);
    }
    world.decided(0);
    assert_eq!(world.all_of(0, 0), ["conditions"]);
    assert_eq!(world.all_of(0, 250), ["annotations"]);
    let mut runs = pod("one-0", "one", "a");
    runs["status"] = json!({"phase": "Running"});
    world.apply(&node("a"));
    world.apply(&runs);
    world.decided(1_000);
    assert_eq!(world.all_of(0, 1_000), ["conditions", "annotations"]);
    world.ingest.deleted(Kind::Pod, runs.to_string().as_bytes()).expect("it can be read");
    world.apply(&pod("taker", "taker", "a"));
    world.apply(&pod("one-1", "one", ""));
    world.decided(10_000);
    assert_eq!(world.all_of(0, 10_000), ["conditions"]);
    assert_eq!(world.all_of(0, 10_249), Vec::<&str>::new(), "it may wait for a moment only");
    assert_eq!(world.all_of(0, 10_250), ["annotations"]);
}

/// A group of one pod, whose claim is for a device of which nothing was evaluated yet.
fn with_a_claim() -> World {
    let mut world = World::new();
    let selectors = json!([{"cel": {"expression": "device.driver == 'other'"}}]);
    let class = json!({"kind": "DeviceClass", "metadata": {"name": "net"},
        "spec": {"selectors": selectors}});
    let slice = json!({"kind": "ResourceSlice", "metadata": {"name": "a"},
        "spec": {"driver": "net.example.com", "nodeName": "a", "devices": [{"name": "net-0"}],
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1}}});
    let request = json!({"name": "r", "exactly": {"deviceClassName": "net"}});
    let claim = json!({"kind": "ResourceClaim",
        "metadata": {"namespace": "ml", "name": "net", "uid": "u-net"},
        "spec": {"devices": {"requests": [request]}}});
    let mut waits = pod("one-0", "one", "");
    waits["spec"]["resourceClaims"] = json!([{"name": "net", "resourceClaimName": "net"}]);
    for object in [queue(), node("a"), class, slice, claim, group("one", 1), waits] {
        world.apply(&object);
    }
    world
}

/// The reason is known in a moment, and would be said five seconds later, as another text of the same code.
#[test]
fn a_group_is_told_nothing_until_the_selectors_of_its_claim_are_evaluated() {
    let mut world = with_a_claim();
    assert_eq!(world.written(0), Vec::<&str>::new());
    let questions = std::mem::take(&mut world.ingest.context.questions);
    assert!(!questions.is_empty(), "a device is compared with the class");
    let answers = questions.into_iter().map(|question| question.answer(Verdict::Fails));
    world.ingest.answered(answers.collect());
    assert_eq!(world.written(10), ["conditions"]);

    let mut world = with_a_claim();
    assert_eq!(world.written(0), Vec::<&str>::new());
    assert_eq!(world.written(4_999), Vec::<&str>::new());
    assert_eq!(world.written(5_000), ["conditions"], "the evaluation takes long");
}

/// A group of one pod, whose topology spread constraint is one more than a cycle takes in that are new in a namespace.
fn with_spread() -> World {
    let mut world = World::new();
    for object in [queue(), node("a"), group("one", 1)] {
        world.apply(&object);
    }
    for number in 0..17 {
        let values: Vec<String> = (1..32).map(|value| format!("{number}-{value}")).collect();
        let expression = json!({"key": "app", "operator": "NotIn", "values": values});
        let group = if number < 16 { "others" } else { "one" };
        let mut waits = pod(&format!("{group}-{number}"), group, "");
        waits["spec"]["topologySpreadConstraints"] = json!([{"topologyKey": "zone", "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchExpressions": [expression]}}]);
        world.apply(&waits);
    }
    world
}

/// Nothing is wrong with it: with `schedulingBackoff` it would be left out for ever.
#[test]
fn a_group_is_told_nothing_until_its_topology_spread_has_its_turn() {
    let mut world = with_spread();
    assert_eq!(world.written(0), Vec::<&str>::new());
    for _ in 0..2 {
        world.ingest.tell_again(&|pod| world.cluster.pod_told(pod));
    }
    assert_eq!(world.written(10), ["conditions"], "no node has a zone");

    let mut world = with_spread();
    assert_eq!(world.written(0), Vec::<&str>::new());
    assert_eq!(world.written(4_999), Vec::<&str>::new());
    assert_eq!(world.written(5_000), ["conditions"], "its turn takes long to come");
}

#[test]
fn a_gang_is_told_once_that_it_is_stale_whatever_else_is_written_of_it() {
    let mut world = World::new();
    let of = |version: &str, key: &str, at: &str| {
        let mut gang = group("gang", 2);
        gang["metadata"]["resourceVersion"] = json!(version);
        gang["metadata"]["annotations"] = json!({ key: at });
        gang
    };
    let mut runs = pod("gang-0", "gang", "a");
    runs["status"] = json!({"phase": "Running"});
    let evicted = of("1", annotation::LAST_EVICTION, "2025-12-31T23:00:00Z");
    for object in [queue(), node("a"), evicted, runs] {
        world.apply(&object);
    }
    let mut said = Vec::new();
    // Its user takes out when it was evicted last, which is written again.
    let edited = of("3", annotation::STALE_SINCE, "2026-01-01T00:00:00Z");
    for (milliseconds, object) in [(0, None), (1_000, Some(edited))] {
        if let Some(object) = &object {
            world.apply(object);
        }
        world.decided(milliseconds);
        let tasks = world.tasks(0, milliseconds);
        let count = |is_one: fn(&Task) -> bool| tasks.iter().filter(|task| is_one(task)).count();
        said.push((
            count(|task| matches!(task, Task::Event(_))),
            count(|task| matches!(task, Task::Group(_))),
        ));
    }
    assert_eq!(said, [(1, 1), (0, 1)]);
}

/// The eviction writes it first, but may not be able to.
#[test]
fn when_a_group_was_evicted_is_noted_after_some_seconds() {
    let mut world = World::new();
    let mut high = group("high", 1);
    high["spec"]["priorityClassName"] = json!("high");
    let class = json!({"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 90});
    let mut runs = pod("low-0", "low", "a");
    runs["status"] = json!({"phase": "Running"});
    let waits = pod("high-0", "high", "");
    for object in [queue(), node("a"), class, group("low", 1), runs, high, waits] {
        world.apply(&object);
    }
    let plan = world.decided(0);
    assert!(matches!(plan.changes[0], Change::Evict { .. }), "{:?}", plan.changes);
    let low = world.ingest.context.names.group("ml", "low").number();
    world.tasks(low, 0);
    assert!(world.report.due(4_999).is_empty());
    assert_eq!(world.report.due(5_000), [low]);
    let tasks = world.tasks(low, 5_000);
    let Some(Task::Group(patch)) = tasks.first() else { panic!("nothing is written: {tasks:?}") };
    let GroupChange::Annotations(noted) = &patch.change else { panic!("{patch:?}") };
    assert_eq!(noted[0].0, annotation::LAST_EVICTION);
}

#[test]
fn a_pod_is_told_again_what_a_bind_that_failed_took_back() {
    let mut world = World::new();
    for object in [queue(), group("gang", 1), pod("gang-0", "gang", "")] {
        world.apply(&object);
    }
    let group = world.decided(0).verdicts[0].group.number();
    let marks = |world: &mut World, at| {
        world.tasks(group, at).iter().filter(|task| matches!(task, Task::Pod(_))).count()
    };
    assert_eq!((marks(&mut world, 0), marks(&mut world, 1)), (1, 0), "it is told once");
    let names = &mut world.ingest.context.names;
    let (pod, node) = (names.pod("u-gang-0"), names.node("a"));
    let grant = Grant::Regular { count: 8 };
    let place = Change::Place { pod, node, devices: Box::default(), reserved: None, grant };
    world.dispatch.tasks(&[place], Timestamp(BEGIN), names);
    assert_eq!(marks(&mut world, 2), 1, "it is told again");
}

/// An eviction is told to machines too: events have annotations, and a counter has labels.
#[test]
fn an_eviction_says_how_many_pods_go_with_it_and_for_whom() {
    let mut world = World::new();
    for object in [queue(), group("low", 2), group("high", 1), pod("high-0", "high", "")] {
        world.apply(&object);
    }
    for name in ["low-0", "low-1"] {
        world.apply(&pod(name, "low", "a"));
    }
    let names = &mut world.ingest.context.names;
    let (high, node) = (names.group("ml", "high"), names.node("a"));
    let evicted = ["u-low-0", "u-low-1"].map(|uid| Change::Evict {
        pod: names.pod(uid),
        node,
        reason: Eviction::Preempt { for_group: high },
    });
    let tasks = world.dispatch.tasks(&evicted, Timestamp(BEGIN), names);
    let said = tasks.iter().filter_map(|task| match task {
        Task::Event(event) => Some(event.annotations.clone()),
        Task::Bind(_) | Task::Evict(_) | Task::Group(_) | Task::Pod(_) | Task::Share(_) => None,
    });
    let expect = [
        (annotation::EVICTED_PODS, String::from("2")),
        (annotation::EVICTOR_ACTION, String::from("preempt")),
        (annotation::EVICTOR_NAMESPACE, String::from("ml")),
        (annotation::EVICTOR_NAME, String::from("high")),
    ];
    assert_eq!(said.collect::<Vec<_>>(), [expect.to_vec(), expect.to_vec()]);
    let text = world.dispatch.metrics.text("kai-scheduler", true).expect("names and labels fit");
    let text = String::from_utf8(text).expect("metrics are text");
    let line = "kai_pod_group_evicted_pods_total{action=\"preempt\",namespace=\"ml\",\
                nodepool=\"default\",podgroup=\"low\",uid=\"u-low\"} 2";
    assert!(text.lines().any(|one| one == line), "{line} is not in\n{text}");
}

#[test]
fn a_pod_is_told_once_which_node_it_is_promised() {
    let mut world = World::new();
    for object in [queue(), group("gang", 1), pod("gang-0", "gang", "")] {
        world.apply(&object);
    }
    let names = &mut world.ingest.context.names;
    let (pod, nodes) = (names.pod("u-gang-0"), ["a", "a", "b"].map(|node| names.node(node)));
    let said = nodes.map(|node| {
        let change = Change::Nominate { pod, node, devices: Box::default(), reserved: None };
        world.dispatch.tasks(&[change], Timestamp(BEGIN), names).len()
    });
    assert_eq!(said, [1, 0, 1], "it is told of each node");
}

/// A claim that asks for nothing is allocated as well, or no kubelet starts its pod.
#[test]
fn a_bind_allocates_a_claim_that_asks_for_nothing() {
    let device = json!({"request": "r", "driver": "d", "pool": "a", "device": "net-0"});
    let given = json!({"allocation": {"devices": {"results": [device]}}});
    let one = json!([{"name": "r", "exactly": {"deviceClassName": "net"}}]);
    let nothing = json!({"devices": {"results": []}});
    for (requests, status, allocated) in [
        (one.clone(), json!({}), None),
        (one, given, None),
        (json!([]), json!({}), Some(nothing.clone())),
        (json!([]), json!({"allocation": nothing}), None),
    ] {
        let mut world = World::new();
        let claim = json!({"kind": "ResourceClaim", "status": status,
            "metadata": {"namespace": "ml", "name": "net", "uid": "u-net"},
            "spec": {"devices": {"requests": requests}}});
        let mut waits = pod("one-0", "one", "");
        waits["spec"]["resourceClaims"] = json!([{"name": "net", "resourceClaimName": "net"}]);
        for object in [queue(), claim, group("one", 1), waits] {
            world.apply(&object);
        }
        world.decided(0);
        let names = &mut world.ingest.context.names;
        let (pod, node) = (names.pod("u-one-0"), names.node("a"));
        let grant = Grant::Regular { count: 8 };
        let place = Change::Place { pod, node, devices: Box::default(), reserved: None, grant };
        let tasks = world.dispatch.tasks(&[place], Timestamp(BEGIN), names);
        let Some(Task::Bind(bind)) = tasks.last() else { panic!("{tasks:?}") };
        let said = bind.claims.iter().map(|claim| claim.allocation.clone());
        assert_eq!(said.collect::<Vec<_>>(), [allocated], "{requests} {status}");
    }
}

/// HAMi-core keeps a pod to as much of a GPU's memory as its share is, and never to none.
#[test]
fn a_share_is_held_to_its_part_of_the_memory() {
    let mut world = World::new();
    world.dispatch.has_hami_core = true;
    let mut labelled = node("a");
    labelled["metadata"]["labels"] = json!({"nvidia.com/gpu.memory": "81559"});
    for object in [queue(), labelled, group("one", 1), pod("one-0", "one", "")] {
        world.apply(&object);
    }
    let names = &mut world.ingest.context.names;
    let (pod, node) = (names.pod("u-one-0"), names.node("a"));
    for (portion_micro, expect) in [(333_333, Some(27_186)), (500_000, Some(40_779)), (1, None)] {
        let grant = Grant::Fraction { devices: 1, portion_milli: 10, portion_micro };
        let place = Change::Place { pod, node, devices: Box::default(), reserved: None, grant };
        let tasks = world.dispatch.tasks(&[place], Timestamp(BEGIN), names);
        let Some(Task::Bind(bind)) = tasks.last() else { panic!("{tasks:?}") };
        let share = bind.share.as_ref().expect("it shares a GPU");
        assert_eq!(share.memory_mib, expect, "{portion_micro}");
        let is_warned = tasks.iter().any(|task| matches!(task, Task::Event(_)));
        assert_eq!(is_warned, expect.is_none(), "{portion_micro}");
    }
}

/// A group of many pods has as many conditions, which share a text, and not as many events. What all of them are told is told a
/// few times in a pause, however often their user or an administrator has it be something else.
#[test]
fn a_large_group_is_told_a_few_times_and_once_more() {
    const PODS: u32 = 150;
    let mut world = World::new();
    for object in [queue(), group("gang", PODS)] {
        world.apply(&object);
    }
    for number in 0..PODS {
        world.apply(&pod(&format!("gang-{number}"), "gang", ""));
    }
    let mut closed = queue();
    closed["spec"]["resources"]["gpu"]["limit"] = json!(0);
    let number = world.ingest.context.names.group("ml", "gang").number();
    let told = |world: &mut World, milliseconds| {
        world.decided(milliseconds);
        let tasks = world.tasks(number, milliseconds);
        let events = tasks.iter().filter(|task| matches!(task, Task::Event(_))).count();
        let marks = tasks.iter().filter_map(|task| match task {
            Task::Pod(mark) => Some(Arc::clone(&mark.message)),
            Task::Bind(_) | Task::Evict(_) | Task::Group(_) | Task::Event(_) | Task::Share(_) => {
                None
            }
        });
        let marks: Vec<Arc<str>> = marks.collect();
        (events, marks)
    };
    let mut counts = Vec::new();
    let mut last = None;
    for cycle in 0..8 {
        world.apply(&if cycle % 2 == 0 { queue() } else { closed.clone() });
        let (events, marks) = told(&mut world, cycle * 100);
        counts.push((events, marks.len()));
        last = marks.last().cloned().or(last);
    }
    let (all, none) = ((101, 150), (0, 0));
    assert_eq!(counts, [all, all, all, none, none, none, none, none]);
    // It is over its limit in the end.
    let (events, marks) = told(&mut world, 5_000);
    assert_eq!((events, marks.len()), all);
    assert_ne!(marks.last(), last.as_ref());
    assert_eq!(told(&mut world, 11_000), (0, Vec::new()));
}
