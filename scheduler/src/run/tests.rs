//! Outcomes of writes: who is left out and for how long, and what the engine is told when.

use std::collections::BTreeSet;

use kai_engine::{Delta, GpuRequest, PodId};
use serde_json::{Value, json};
use tokio::time::advance;

use super::*;
use crate::actuate::{Bind, ShareGrant, ShareOutcome};
use crate::settings::Args;
use crate::wording::Wording;

mod rounds;

/// A loop that takes in what is said here, and what it has written.
struct World {
    run: Run,
    tasks: mpsc::UnboundedReceiver<Vec<Task>>,
    sender: mpsc::UnboundedSender<Vec<Task>>,
}

impl World {
    /// Nothing is there yet.
    fn empty() -> Self {
        let args = Args::default();
        let source = Source::new(&args).expect("no file is read");
        let dispatch = Dispatch::new("default", "kai-scheduler", Metrics::new("kai"));
        let sharing = Sharing::new(&args, None);
        let mut run = Run::begin(&args, source, Health::default(), dispatch, sharing);
        run.period = Duration::from_mins(1);
        // Nothing is listed: objects are told one by one here.
        run.lists = Lists::new(|_| false);
        let (sender, tasks) = mpsc::unbounded_channel();
        Self { run, tasks, sender }
    }

    /// Two groups, of the pods `a-0`, `a-1` and `b-0`.
    fn new() -> Self {
        let mut world = Self::empty();
        for group in ["a", "b"] {
            world.apply(Kind::PodGroup, &named(group));
        }
        for (pod, group) in [("a-0", "a"), ("a-1", "a"), ("b-0", "b")] {
            world.add_pod(pod, group);
        }
        world.told();
        world
    }

    /// Channels on which nothing comes; what is handed over comes here.
    fn channels(&self) -> Channels {
        let (_, events) = mpsc::channel(1);
        let (_, outcomes) = mpsc::unbounded_channel();
        let latency = self.run.metrics.usage_query.clone();
        let (usage, _) = crate::usage::feed(String::new(), String::new(), latency);
        let (order, _) = order::desk(0);
        let selecting = cel::desk::Desk::open().expect("threads can be started");
        let (tasks, resync) = (self.sender.clone(), Default::default());
        Channels { events, outcomes, tasks, resync, usage, selecting, order }
    }

    /// One cycle; tells whether it was cut.
    fn cycle(&mut self, channels: &Channels) -> bool {
        self.run.cycle(channels, Instant::now()).expect("what is derived follows from the facts")
    }

    fn apply(&mut self, kind: Kind, object: &Value) {
        self.run.ingest.applied(kind, object.to_string().as_bytes()).expect("it can be read");
    }

    fn delete(&mut self, kind: Kind, object: &Value) {
        self.run.ingest.deleted(kind, object.to_string().as_bytes()).expect("it can be read");
    }

    fn add_pod(&mut self, name: &str, group: &str) {
        let mut pod = named(name);
        pod["metadata"]["annotations"] = json!({"pod-group-name": group});
        pod["spec"] = json!({"schedulerName": "kai-scheduler", "containers": []});
        self.apply(Kind::Pod, &pod);
    }

    fn pod(&self, name: &str) -> u32 {
        self.run.ingest.context.names.pods.find(name).expect("a pod that was applied")
    }

    fn group(&mut self, name: &str) -> u32 {
        self.run.ingest.context.names.group("ml", name).number()
    }

    fn settle(&mut self, outcome: Outcome) {
        self.run.settle(outcome, &self.sender);
    }

    fn bound(&mut self, pod: &str) {
        self.settle(Outcome::Bound(self.pod(pod), Box::from(pod), Box::from("n")));
    }

    fn not_bound(&mut self, pod: &str) {
        self.settle(not_bound(self.pod(pod), pod));
    }

    fn not_evicted(&mut self, pod: &str) {
        self.settle(Outcome::EvictFailed(self.pod(pod), Box::from(pod), String::from("refused")));
    }

    /// Lets back in whose pause is over; what the engine is told since this was asked, in short.
    fn told(&mut self) -> Vec<String> {
        self.run.release();
        let context = &mut self.run.ingest.context;
        let names = &context.names;
        let pod = |pod: PodId| &*names.pods[pod.number()].name;
        let line = |delta: Delta| {
            let (whose, how) = if let Delta::Group(id, group) = &delta {
                let how = if group.held { "is held" } else { "is let in" };
                (names.group_name(id.number()).1, how)
            } else if let Delta::Bound(id) = delta {
                (pod(id), "is bound")
            } else if let Delta::BindFailed(id) = delta {
                (pod(id), "is not bound")
            } else if let Delta::Evicted(id) = delta {
                (pod(id), "is evicted")
            } else if let Delta::EvictFailed(id) = delta {
                (pod(id), "is not evicted")
            } else {
                return None;
            };
            Some(format!("{whose} {how}"))
        };
        let lines = context.deltas.drain(..).filter_map(line).collect();
        self.run.ingest.context.touched.clear();
        lines
    }

    /// Milliseconds until the loop looks again though nothing changes; what was told before is taken in.
    fn pause(&mut self) -> u128 {
        self.told();
        (self.run.wake() - Instant::now()).as_millis()
    }

    fn said(&mut self) -> usize {
        std::iter::from_fn(|| self.tasks.try_recv().ok()).map(|tasks| tasks.len()).sum()
    }
}

fn named(name: &str) -> Value {
    json!({"metadata": {"namespace": "ml", "name": name, "uid": name, "resourceVersion": "1"}})
}

fn not_bound(pod: u32, uid: &str) -> Outcome {
    let (uid, node) = (Box::from(uid), Box::from("n"));
    Outcome::BindFailed { pod, uid, node, reason: String::from("refused"), volumes: Vec::new() }
}

/// Checks the pause of a loop in which all but one group have none: see [`check`].
fn check_pause(world: &mut World, failures: u32) {
    check(world.pause(), failures);
}

/// Checks a pause after so many failures in a row, of which up to a half is left out at random.
fn check(pause: u128, failures: u32) {
    let full = 400 << failures;
    assert!((full / 2..=full).contains(&pause), "{pause} ms after {failures} failures");
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_binds_fail_is_left_out_longer_each_time_until_one_succeeds() {
    let mut world = World::new();
    for failures in [1, 2, 3] {
        world.not_bound("a-0");
        assert_eq!(world.told(), ["a-0 is not bound", "a is held"]);
        check_pause(&mut world, failures);
        advance(Duration::from_millis(400 << failures)).await;
        assert_eq!(world.told(), ["a is let in"]);
    }
    world.bound("a-1");
    assert_eq!(world.told(), ["a-1 is bound"]);
    world.not_bound("a-0");
    check_pause(&mut world, 1);
}

#[tokio::test(start_paused = true)]
async fn a_group_of_which_two_binds_fail_is_let_in_once_after_the_longer_pause() {
    let mut world = World::new();
    world.not_bound("a-0");
    world.not_bound("a-1");
    world.not_bound("b-0");
    let expect =
        ["a-0 is not bound", "a is held", "a-1 is not bound", "b-0 is not bound", "b is held"];
    assert_eq!(world.told(), expect);
    let longest = world.run.held.iter().map(|(at, _)| *at - Instant::now()).max();
    check(longest.map_or(0, |pause| pause.as_millis()), 2);
    advance(longest.unwrap_or_default().saturating_sub(Duration::from_millis(1))).await;
    let told = world.told();
    assert!(!told.contains(&String::from("a is let in")), "{told:?}");
    advance(Duration::from_secs(2)).await;
    let told = world.told();
    assert_eq!(told.iter().filter(|line| *line == "a is let in").count(), 1, "{told:?}");
    assert!(world.run.held.is_empty());
}

/// The first refusal may come of what a moment later is not so any more.
#[tokio::test(start_paused = true)]
async fn an_eviction_that_fails_is_decided_anew_at_once_and_then_after_pauses() {
    let mut world = World::new();
    let again = |world: &mut World| {
        world.not_evicted("a-0");
        world.told()
    };
    assert_eq!(again(&mut world), ["a-0 is not evicted"]);
    for failures in [1, 2] {
        assert_eq!(again(&mut world), Vec::<String>::new());
        check_pause(&mut world, failures);
        advance(Duration::from_millis(400 << failures)).await;
        assert_eq!(world.told(), ["a-0 is not evicted"]);
        assert_eq!(world.told(), Vec::<String>::new(), "once");
    }
    world.settle(Outcome::Evicted(world.pod("a-0"), Box::from("a-0")));
    assert_eq!(world.told(), ["a-0 is evicted"]);
    assert_eq!(again(&mut world), ["a-0 is not evicted"], "they count in a row");
}

#[tokio::test(start_paused = true)]
async fn who_takes_the_number_of_what_is_gone_has_none_of_its_failures() {
    let mut world = World::new();
    let number = world.pod("a-0");
    for _ in 0..2 {
        world.not_evicted("a-0");
    }
    world.delete(Kind::Pod, &named("a-0"));
    world.add_pod("a-2", "a");
    assert_eq!(world.pod("a-2"), number);
    world.told();
    advance(Duration::from_secs(2)).await;
    assert_eq!(world.told(), Vec::<String>::new(), "the pod that was not evicted is gone");
    world.not_evicted("a-2");
    assert_eq!(world.told(), ["a-2 is not evicted"]);

    let number = world.group("b");
    for _ in 0..3 {
        world.not_bound("b-0");
    }
    world.delete(Kind::Pod, &named("b-0"));
    world.delete(Kind::PodGroup, &named("b"));
    world.run.forget_groups();
    world.apply(Kind::PodGroup, &named("c"));
    world.add_pod("c-0", "c");
    assert_eq!(world.group("c"), number);
    assert_eq!(world.told().pop().as_deref(), Some("c is let in"), "the pause was another's");
    advance(Duration::from_secs(10)).await;
    world.not_bound("c-0");
    check_pause(&mut world, 1);
}

/// Whoever a write was for may be gone when it ends, and another may have its number.
#[tokio::test(start_paused = true)]
async fn an_outcome_for_what_is_gone_is_nobodys() {
    let mut world = World::new();
    let (pod, group, uid) = (world.pod("a-0"), world.group("a"), || Box::from("gone"));
    for outcome in [
        Outcome::Bound(pod, uid(), Box::from("n")),
        not_bound(pod, "gone"),
        Outcome::Evicted(pod, uid()),
        Outcome::EvictFailed(pod, uid(), String::from("refused")),
        Outcome::Group { group, uid: uid(), settled: false, version: None },
        Outcome::Pod(pod, uid(), false),
    ] {
        world.settle(outcome.clone());
        let context = &world.run.ingest.context;
        assert!(context.deltas.is_empty() && context.touched.is_empty(), "{outcome:?}");
        assert!(world.run.held.is_empty() && world.run.not_evicted.is_empty(), "{outcome:?}");
        assert_eq!((world.said(), world.run.report.next()), (0, None), "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_became_of_a_bind_is_said_of_its_pod() {
    let mut world = World::new();
    world.bound("a-0");
    assert_eq!(world.said(), 3, "two events and a condition");
    let group = world.group("a");
    assert_eq!(world.run.ingest.context.touched, [group], "it has nothing to explain any more");
    world.not_bound("a-1");
    assert_eq!(world.said(), 3, "two events and a condition");
}

/// Whoever looks for trouble looks for warnings, and whoever looks at a pod at its condition.
#[tokio::test(start_paused = true)]
async fn what_is_said_of_a_bind_is_what_became_of_it() {
    let mut world = World::new();
    for is_bound in [true, false] {
        if is_bound {
            world.bound("a-0");
        } else {
            world.not_bound("a-1");
        }
        let (mut conditions, mut warnings) = (Vec::new(), Vec::new());
        for task in world.tasks.try_recv().expect("something is said") {
            if let Task::Pod(condition) = &task {
                conditions.push(condition.is_true);
            } else if let Task::Event(event) = &task {
                warnings.push(event.is_warning);
            }
        }
        assert_eq!(conditions, [is_bound]);
        assert_eq!(warnings, [!is_bound, !is_bound]);
    }
}

/// A pod with a place and no bind yet, whose group names another queue since.
fn moved_while_bound() -> (World, u32) {
    let mut world = World::new();
    let pod = world.pod("a-0");
    world.run.ingest.placed(pod, &GpuRequest::None);
    let mut moved = named("a");
    moved["spec"] = json!({"queue": "other"});
    world.apply(Kind::PodGroup, &moved);
    world.told();
    (world, pod)
}

/// Its bind was to be on the account that the group was on; what its object says since counts once that has failed.
#[tokio::test(start_paused = true)]
async fn a_group_whose_bind_failed_is_on_the_account_that_it_names_by_now() {
    let (mut world, _) = moved_while_bound();
    world.not_bound("a-0");
    assert_eq!(world.told(), ["a-0 is not bound", "a is let in", "a is held"]);
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_device_could_not_be_had_is_on_the_account_that_it_names_by_now() {
    let (mut world, pod) = moved_while_bound();
    let (devices, uuids) = (vec![0], Vec::new());
    let share = ShareGrant {
        devices,
        uuids,
        portion_micro: 500_000,
        memory_mib: None,
        has_cdi: false,
        maps: None,
    };
    let bind = Bind { pod, share: Some(Box::new(share)), ..Bind::of("a-0", "a-0", "n") };
    let Run { sharing, ingest, .. } = &mut world.run;
    assert!(sharing.begin(vec![Task::Bind(bind)], &ingest.context.names).is_empty());
    let refused = Some(String::from("forbidden"));
    sharing.ended(ShareOutcome::Reserved { device: 0, refused }, 0);
    world.run.give_up_binds();
    assert_eq!(world.told(), ["a-0 is not bound", "a is let in", "a is held"]);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_is_written_again_after_a_pause() {
    let mut world = World::new();
    let (pod, group) = (world.pod("a-0"), world.group("a"));
    let of_group = |settled, version: Option<&str>| {
        let (uid, version) = (Box::from("a"), version.map(Box::from));
        Outcome::Group { group, uid, settled, version }
    };
    world.settle(of_group(false, None));
    assert!(world.run.report.next().is_some_and(|at| at > world.run.steady()));
    assert!(world.run.ingest.context.touched.is_empty());
    world.settle(of_group(true, Some("2")));
    assert_eq!(world.run.ingest.context.touched, [group], "there may be more to write");

    let mut world = World::new();
    let said = |world: &World| world.run.ingest.context.names.pods[pod].said;
    let names = &mut world.run.ingest.context.names;
    names.pods[pod].edit(|extras| extras.said = Some(Wording::of("it waits")));
    world.settle(Outcome::Pod(pod, Box::from("a-0"), true));
    assert_eq!((said(&world), world.run.report.next()), (Some(Wording::of("it waits")), None));
    world.settle(Outcome::Pod(pod, Box::from("a-0"), false));
    assert_eq!(said(&world), None);
    assert!(world.run.report.next().is_some_and(|at| at > world.run.steady()));
}

#[tokio::test(start_paused = true)]
async fn a_loop_waits_for_the_first_pause_and_no_longer_than_its_period() {
    let mut world = World::new();
    assert_eq!(world.pause(), 60_000);
    world.not_bound("a-0");
    world.run.ingest.context.deltas.clear();
    check_pause(&mut world, 1);
    world.not_evicted("b-0");
    assert_eq!((world.run.wake() - Instant::now()).as_millis(), 0);
    world.run.is_old = true;
    assert_eq!(world.pause(), 60_000, "what is too old is not decided on");

    let mut world = World::new();
    for _ in 0..9 {
        world.not_evicted("b-0");
    }
    check_pause(&mut world, 1);
    world.run.period = Duration::from_millis(100);
    assert_eq!(world.pause(), 100);
    world.run.is_told_early = true;
    assert_eq!(world.pause(), 0);
}

/// Nothing would be decided until its right comes back.
#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_listed_for_now_is_not_waited_for() {
    let mut run = World::new().run;
    run.lists.ask(Kind::ResourceClaim);
    assert!(!run.lists.are_complete());
    run.take(vec![Event::Kept(Kind::ResourceClaim)]);
    assert!(run.lists.are_complete());
}

/// Binds that are under way for the group before would be waited for without end.
#[tokio::test(start_paused = true)]
async fn a_group_that_was_made_again_while_nobody_heard_begins_anew() {
    let mut world = World::new();
    world.not_bound("a-0");
    let group = world.group("a");
    assert!(world.run.bind_failures.contains_key(&group));
    let mut again = named("a");
    again["metadata"]["uid"] = json!("again");
    world.apply(Kind::PodGroup, &again);
    world.run.forget_groups();
    assert!(!world.run.bind_failures.contains_key(&group));
}

/// A queue, a node of eight GPUs, and a group for each of these requests, of one pod.
fn with_groups(requests: impl Iterator<Item = Value>) -> World {
    let mut world = World::empty();
    let none = json!({"quota": -1, "limit": -1});
    let queue = json!({"metadata": {"name": "team"},
        "spec": {"resources": {"gpu": none, "cpu": none, "memory": none}}});
    let amounts = json!({"nvidia.com/gpu": "8", "cpu": "64", "memory": "1Ti", "pods": "110"});
    let node = json!({"metadata": {"name": "n"},
        "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}});
    world.apply(Kind::Queue, &queue);
    world.apply(Kind::Node, &node);
    for (number, request) in requests.enumerate() {
        let name = format!("w-{number}");
        let (mut group, mut pod) = (named(&name), named(&name));
        group["spec"] = json!({"queue": "team", "minMember": 1});
        pod["metadata"]["annotations"] = json!({"pod-group-name": name});
        let container =
            json!({"name": "main", "resources": {"requests": request, "limits": request}});
        pod["spec"] = json!({"schedulerName": "kai-scheduler", "containers": [container]});
        world.apply(Kind::PodGroup, &group);
        world.apply(Kind::Pod, &pod);
    }
    world
}

/// Thousands that are alike have news in the same cycle; what is bound would wait until it is worked out what is said of them.
#[tokio::test(start_paused = true)]
async fn binds_go_before_what_is_said_of_many_groups_which_takes_several_cycles() {
    const GROUPS: usize = 2_000;
    const OF_A_CYCLE: usize = 256;
    let mut world = with_groups(std::iter::repeat_n(json!({"nvidia.com/gpu": "8"}), GROUPS));
    let channels = world.channels();
    let mut told = BTreeSet::new();
    for cycle in 0..GROUPS.div_ceil(OF_A_CYCLE) {
        assert_eq!(world.run.wake(), Instant::now(), "there is more to do");
        world.cycle(&channels);
        let handed_over: Vec<Vec<Task>> =
            std::iter::from_fn(|| world.tasks.try_recv().ok()).collect();
        if cycle == 0 {
            let count = |tasks: &Vec<Task>| {
                tasks.iter().filter(|task| matches!(task, Task::Bind(_))).count()
            };
            let binds: Vec<usize> = handed_over.iter().map(count).collect();
            assert_eq!(binds, [1, 0]);
        }
        let groups = handed_over.iter().flatten().filter_map(|task| {
            let Task::Group(patch) = task else { return None };
            Some(patch.group)
        });
        let groups: BTreeSet<u32> = groups.collect();
        assert!(groups.len() <= OF_A_CYCLE, "{} in cycle {cycle}", groups.len());
        told.extend(groups);
    }
    assert_eq!((told.len(), world.run.report.next()), (GROUPS, None));
}

/// Each of the groups is of another class, and asks for more CPU than the node has.
#[tokio::test(start_paused = true)]
async fn the_actions_of_a_cycle_share_its_steps() {
    let mut world = with_groups((65..765).map(|cpu| json!({"cpu": cpu.to_string()})));
    world.run.tell(now());
    let steps = world.run.plan(now()).steps;
    // An action ends with the turn in which its part is spent.
    let taken = steps.total() + 32 * steps.groups;
    assert!(steps.spent && taken <= STEPS_MAX + 1_000, "{taken}: {steps:?}");
    let channels = world.channels();
    assert!(world.cycle(&channels), "it is cut");
    assert!((0..200).any(|_| !world.cycle(&channels)), "all have their turns in the end");
}
