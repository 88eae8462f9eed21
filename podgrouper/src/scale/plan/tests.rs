//! Rounds as text: what waits and what stands in, what is done out.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use kai_api::quantity::Quantity;
use serde_json::{Value, json};

use super::{Memory, Plan, Step, View, plan};
use crate::object::Object;
use crate::scale::standing::Standing;
use crate::scale::waiting::{Template, Waiting};
use crate::store::Key;

/// Seconds after the start of the story.
fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

/// A cluster whose time stands still between rounds.
#[derive(Default)]
struct World {
    memory: Memory,
    waiting: BTreeMap<Key, Waiting>,
    /// The pods that wait.
    asked: BTreeMap<Key, Object>,
    standing: BTreeMap<String, Standing>,
    queued: BTreeSet<Key>,
    pods: BTreeMap<String, Object>,
}

impl World {
    /// `name share[xdevices] [pool=P] [cpu=N] [group=G] [said=REASON]`; a share with `Mi` is memory.
    fn waits(&mut self, text: &str) -> &mut Self {
        let mut words = text.split_whitespace();
        let (path, share) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (namespace, name) = path.split_once('/').unwrap_or(("n", path));
        let (share, devices) = share.split_once('x').unwrap_or((share, "1"));
        let mut annotations = json!({"gpu-fraction-num-devices": devices});
        match share.strip_suffix("Mi") {
            Some(memory) => annotations["gpu-memory"] = json!(memory),
            None => annotations["gpu-fraction"] = json!(share),
        }
        let mut pod = json!({"metadata": {"name": name, "namespace": namespace,
                "annotations": annotations, "creationTimestamp": "1970-01-01T00:00:00Z"},
            "spec": {"containers": [{}]},
            "status": {"conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}});
        for word in words {
            match word.split_once('=') {
                Some(("pool", pool)) => pod["spec"]["nodeSelector"] = json!({"pool": pool}),
                Some(("cpu", cpu)) => {
                    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!(cpu);
                }
                Some(("group", group)) => {
                    pod["metadata"]["annotations"]["pod-group-name"] = json!(group);
                }
                Some(("said", "nothing")) => pod["status"]["conditions"] = json!([]),
                Some(("said", reason)) => pod["status"]["conditions"][0]["reason"] = json!(reason),
                other => panic!("{other:?} of {text}"),
            }
        }
        let (key, pod) = (Key::new(namespace, name), Object::new(pod));
        self.waiting.insert(key.clone(), Waiting::of(&pod).expect("it asks for a share"));
        self.asked.insert(key, pod);
        self
    }

    fn gone(&mut self, name: &str) -> &mut Self {
        self.waiting.remove(&Key::new("n", name));
        self
    }

    /// Changes a scaling pod as the kubelet, the default scheduler or somebody else would.
    fn becomes(&mut self, name: &str, patch: &Value) -> &mut Self {
        let pod = self.pods.get(name).expect("the pod stands");
        let mut value = pod.value().clone();
        merge(&mut value, patch);
        self.put(Object::new(value));
        self
    }

    fn bound(&mut self, name: &str, seconds: i64) -> &mut Self {
        let condition = json!({"type": "PodScheduled", "status": "True",
            "lastTransitionTime": at(seconds).to_string()});
        self.becomes(
            name,
            &json!({"spec": {"nodeName": "new"}, "status": {"conditions": [condition]}}),
        )
    }

    fn put(&mut self, pod: Object) {
        self.standing.insert(pod.name().to_owned(), Standing::of(&pod));
        self.pods.insert(pod.name().to_owned(), pod);
    }

    fn plan(&mut self, seconds: i64) -> Plan {
        let view = View {
            waiting: &self.waiting,
            standing: &self.standing,
            queued: &self.queued,
            memory_share: Quantity::from_milli(100),
            now: at(seconds),
        };
        plan(&view, &mut self.memory)
    }

    /// A round, carried out. Marks are only told when a scaling pod is not new.
    fn round(&mut self, seconds: i64, expect: &str) -> &mut Self {
        let steps = self.plan(seconds).steps;
        let mut told = Vec::new();
        for step in steps {
            match step {
                Step::Create { name, of } => {
                    let pod = Template::of(&self.asked[&of]).expect("it asks for a share");
                    let mut object = crate::scale::manifest::scaling_pod(
                        &name,
                        &of,
                        &pod,
                        &crate::scale::Settings::default(),
                        "image",
                    );
                    object["metadata"]["uid"] = json!(format!("uid-{name}"));
                    object["metadata"]["creationTimestamp"] = json!(at(seconds).to_string());
                    let devices = &object["spec"]["containers"][0]["resources"]["limits"];
                    told.push(format!(
                        "+{name}:{}",
                        devices["nvidia.com/gpu"].as_str().unwrap_or("-")
                    ));
                    self.put(Object::new(object));
                }
                Step::Mark { name } => {
                    let status = crate::scale::manifest::unschedulable(at(seconds));
                    self.becomes(&name, &json!({"status": status}));
                    told.push(format!("!{name}"));
                }
                Step::Delete { name, uid, .. } => {
                    assert_eq!(uid, self.standing[&name].uid);
                    self.standing.remove(&name);
                    self.pods.remove(&name);
                    told.push(format!("-{name}"));
                }
            }
        }
        assert_eq!(told.join(" "), expect, "at {seconds} s");
        self
    }
}

fn merge(value: &mut Value, patch: &Value) {
    match patch {
        Value::Object(fields) => {
            for (key, patch) in fields {
                merge(&mut value[key], patch);
            }
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => *value = other.clone(),
    }
}

#[test]
fn devices_are_counted_together() {
    World::default().waits("a 0.5").waits("b 0.5").round(0, "+n-a:1").round(1, "!n-a").round(2, "");
    World::default().waits("a 0.6x2").round(0, "+n-a:2");
    let mut eleven = World::default();
    for name in "abcdefghijk".chars() {
        eleven.waits(&format!("{name} 100Mi"));
    }
    eleven.round(0, "+n-a:1 +n-b:1").round(1, "!n-a !n-b").round(2, "");
}

/// A share that KAI rounds to nothing counts, and sums are not rounded row by row.
#[test]
fn the_smallest_share_counts() {
    World::default().waits("a 0.001").round(0, "+n-a:1");
    World::default().waits("a 0.334").waits("b 0.334").waits("c 0.334").round(0, "+n-a:1 +n-b:1");
}

#[test]
fn the_largest_comes_first_and_smaller_ones_may_fit_beside_it() {
    World::default()
        .waits("a 0.5")
        .waits("b 0.6x2")
        .round(0, "+n-b:2")
        .round(1, "!n-b")
        .round(2, "");
    // One that stands is too small for a pod on two devices.
    let mut world = World::default();
    world.waits("a 0.1").round(0, "+n-a:1").round(1, "!n-a");
    world.waits("b 0.1x2").round(2, "+n-b:2");
}

#[test]
fn only_what_the_scheduler_found_no_room_for_counts() {
    World::default().waits("a 0.5 said=SchedulingGated").waits("b 0.5 said=nothing").round(0, "");
}

#[test]
fn what_is_no_longer_needed_goes_and_the_class_waits_a_minute() {
    let mut world = World::default();
    world.waits("a 0.5").round(0, "+n-a:1").round(1, "!n-a");
    // Nothing said is no reason to delete.
    world.waits("a 0.5 said=nothing").round(2, "");
    world.waits("a 0.5 said=SchedulingGated").round(3, "-n-a");
    world.waits("a 0.5").round(4, "");
    assert_eq!(world.plan(4).wake, Some(at(63)));
    world.round(63, "+n-a:1").round(64, "!n-a");
    world.gone("a").round(65, "-n-a");
    world.waits("b 0.5").round(66, "");
    world.waits("c 0.5 pool=other").round(67, "+n-c:1");
}

#[test]
fn a_scaling_pod_that_has_ended_goes_however_it_ended() {
    for phase in ["Succeeded", "Failed"] {
        let mut world = World::default();
        world.waits("a 0.5").round(0, "+n-a:1").round(1, "!n-a").bound("n-a", 5).round(6, "");
        world.becomes("n-a", &json!({"status": {"phase": phase}})).round(7, "-n-a").round(8, "");
        world.round(67, "+n-a:1");
    }
}

#[test]
fn a_scaling_pod_that_hangs_on_a_node_gives_it_free() {
    let mut world = World::default();
    world.waits("a 0.5").round(0, "+n-a:1").round(1, "!n-a").bound("n-a", 300).round(301, "");
    assert_eq!(world.plan(301).wake, Some(at(360)));
    world.round(359, "").round(360, "-n-a");
}

/// The pod on a node has a minute, and the class that lost its own has one that ends later.
#[test]
fn the_first_of_two_moments_is_waited_for() {
    let mut world = World::default();
    world.waits("a 0.5").round(0, "+n-a:1").round(1, "!n-a").bound("n-a", 300).round(301, "");
    world.waits("b 0.5 pool=b").round(302, "+n-b:1").round(303, "!n-b");
    world.waits("b 0.5 pool=b said=SchedulingGated").round(304, "-n-b");
    world.waits("b 0.5 pool=b").round(305, "");
    assert_eq!(world.plan(305).wake, Some(at(360)));
}

#[test]
fn one_that_leaves_is_waited_for() {
    let mut world = World::default();
    world.waits("a 0.5").round(0, "+n-a:1").round(1, "!n-a");
    world.becomes("n-a", &json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:09Z"}}));
    world.gone("a").round(2, "");
}

/// No autoscaler has a node for `huge`; those that other nodes serve do not wait for it, the others take turns.
#[test]
fn one_that_is_stuck_holds_nobody_up() {
    let mut world = World::default();
    world.waits("huge 0.5 cpu=9000").round(0, "+n-huge:1").round(1, "!n-huge");
    world.waits("elsewhere 0.5 pool=a").round(2, "+n-elsewhere:1").round(3, "!n-elsewhere");
    world.waits("same 0.5").round(4, "");
    assert_eq!(world.plan(4).wake, Some(at(600)));
    world.round(600, "-n-huge +n-same:1").round(601, "!n-same").round(1_199, "");
    world.round(1_200, "-n-same +n-huge:1");
}

/// One scaling pod on sixty-four devices would be more than all others of its class need.
#[test]
fn a_scaling_pod_stands_for_its_own_namespace_alone() {
    let mut world = World::default();
    world.waits("m/p 0.001x64").waits("v/q 0.5").round(0, "+m-p:64 +v-q:1");
    world.round(1, "!m-p !v-q").round(5_000, "");
    // Turns are taken within the namespace.
    world.waits("m/s 0.001x64 cpu=9000").round(5_001, "-m-p +m-s:64");
}

/// A pod that is made again by its name has not had its turn yet.
#[test]
fn a_turn_is_forgotten_with_its_pod() {
    let mut world = World::default();
    world.waits("a 0.5 cpu=9000").round(0, "+n-a:1").round(1, "!n-a");
    world.waits("b 0.5").round(600, "-n-a +n-b:1");
    world.gone("a").gone("b").round(601, "-n-b");
    world.waits("a 0.5").waits("b 0.5").round(700, "+n-a:1");
}

/// Pods that need the same get nowhere by taking turns.
#[test]
fn equal_pods_take_no_turns() {
    let mut world = World::default();
    world.waits("a 0.5").waits("b 0.5").round(0, "+n-a:1").round(1, "!n-a").round(5_000, "");
    assert_eq!(world.plan(5_000).wake, None);
}

#[test]
fn names_are_kai_s_unless_they_are_taken_or_too_long() {
    let mut world = World::default();
    world.waits("a/b-c 0.9").waits("a-b/c 0.9");
    world.round(0, "+a-b-c:1 +a-b-c-7403e69572c652a6:1");
    let mut world = World::default();
    let long = "x".repeat(251);
    world.waits(&format!("{long}. 0.5")).waits("b 0.5");
    let steps = world.plan(0).steps;
    let [Step::Create { name, .. }] = &steps[..] else { panic!("{steps:?}") };
    assert!(name == "n-b", "{name}");
    let mut world = World::default();
    let steps = world.waits(&format!("{} 0.5", "x.".repeat(126))).plan(0).steps;
    let [Step::Create { name, .. }] = &steps[..] else { panic!("{steps:?}") };
    assert!(name.len() <= 253 && !name.contains(".-") && name.starts_with("n-x.x."), "{name}");
}

/// Whoever made a pod of the name of a scaling pod keeps it.
#[test]
fn a_foreign_pod_of_the_name_is_left_alone() {
    let mut world = World::default();
    world.put(Object::new(json!({"metadata": {"name": "n-a", "uid": "u"}})));
    world.waits("a 0.5").round(0, "+n-a-4304c8852e615b85:1").gone("a");
    world.round(1, "-n-a-4304c8852e615b85").round(2, "");
}

/// A scaling pod of KAI's is known by its labels, and goes as ours do.
#[test]
fn scaling_pods_of_kai_are_taken_over() {
    let mut world = World::default();
    let labels =
        json!({"app": "scaling-pod", "shared-gpu-pod-name": "a", "shared-gpu-pod-namespace": "n"});
    let kai = json!({"metadata": {"name": "n-a", "uid": "u", "labels": labels},
        "spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]}});
    world.put(Object::new(kai));
    world.waits("a 0.5").waits("b 0.5").round(0, "!n-a").round(1, "");
    world.gone("a").gone("b").round(2, "-n-a");
}

/// A node more gives nothing to whom the queue gives nothing.
#[test]
fn who_waits_for_a_queue_needs_no_node() {
    let mut world = World::default();
    world.queued.insert(Key::new("n", "full"));
    world.waits("a 0.5 group=full").waits("b 0.5 group=other pool=b").round(0, "+n-b:1");
    world.round(1, "!n-b").queued = BTreeSet::from([Key::new("n", "other")]);
    world.round(2, "-n-b +n-a:1");
}

/// Pods that each go to nodes of their own make as many classes as they like; what scaling pods take follows from what
/// they need.
#[test]
fn a_namespace_has_as_many_devices_as_its_pods_need_and_one_pod_more() {
    let mut world = World::default();
    for pod in 0..200 {
        world.waits(&format!("p{pod} 0.01x8 pool={pod}"));
    }
    world.waits("other/q 0.5");
    let steps = world.plan(0).steps;
    let of = |namespace: &str| {
        steps
            .iter()
            .filter(|step| matches!(step, Step::Create { of, .. } if *of.namespace == *namespace))
            .count()
    };
    // The pods of `n` need 16 devices, and the largest has eight.
    assert_eq!((of("n"), of("other")), (3, 1));
}

/// Those that were deleted count for a minute, and who finds no room gets it when others have had their turn.
#[test]
fn classes_of_a_namespace_take_turns() {
    let mut world = World::default();
    for pod in ["a", "b", "c"] {
        world.waits(&format!("{pod} 0.1 pool={pod}"));
    }
    world.round(0, "+n-a:1 +n-c:1").round(1, "!n-a !n-c");
    assert_eq!(world.plan(2).wake, Some(at(62)));
    world.gone("a").round(3, "-n-a").round(62, "").round(63, "+n-b:1").round(64, "!n-b");
    world.waits("d 0.1 pool=d").round(65, "");
    world.round(600, "-n-c +n-d:1");
}

/// No node has a hundred devices.
#[test]
fn no_scaling_pod_is_made_for_what_no_node_has() {
    World::default().waits("a 0.001x65").waits("b 0.001x64").round(0, "+n-b:64");
}

/// Pods of one namespace that come and go keep nobody else's from being heard of.
#[test]
fn the_calm_minute_is_a_namespace_s_own() {
    let mut world = World::default();
    world.waits("p1 0.9").waits("p2 0.9").round(0, "+n-p1:1 +n-p2:1").round(1, "!n-p1 !n-p2");
    world.gone("p1").round(50, "-n-p1").waits("p3 0.9").waits("other/q 0.9");
    world.round(51, "+other-q:1").round(52, "!other-q");
    world.round(110, "+n-p3:1");
}

/// A minute by a clock from which an hour is taken meanwhile is no hour.
#[test]
fn the_calm_minute_ends_though_the_clock_is_set_back() {
    let mut world = World::default();
    world.waits("p1 0.9").waits("p2 0.9").round(3_600, "+n-p1:1 +n-p2:1");
    world.round(3_601, "!n-p1 !n-p2").gone("p1").round(3_650, "-n-p1").waits("p3 0.9");
    world.round(3_651, "").round(51, "+n-p3:1");
}

/// Somebody has pods whose scaling pods have the names that another's would get.
#[test]
fn a_name_is_found_whatever_is_taken() {
    let mut world = World::default();
    world.waits("x-p 0.5").waits("x-p-e5eca0c5a9d5f2dc 0.5 pool=a").waits("n-x/p 0.5");
    let mut names = BTreeSet::new();
    for step in world.plan(0).steps {
        let Step::Create { name, .. } = step else { panic!("{step:?}") };
        assert!(names.insert(name.clone()), "{name} twice");
    }
    let taken: BTreeSet<String> = (0..3)
        .scan(BTreeSet::new(), |taken: &mut BTreeSet<String>, _| {
            let name = super::name(&Key::new("n", "p"), taken);
            taken.insert(name.clone()).then_some(name)
        })
        .collect();
    assert_eq!(taken.len(), 3, "{taken:?}");
}
