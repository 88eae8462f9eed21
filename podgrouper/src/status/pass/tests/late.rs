//! Groups of which more has to be asked than may be in one pass.

use std::sync::Mutex;

use prometheus::core::Collector as _;

use super::*;
use crate::status::late::{Findings, WAIT_MAX};

/// A controller beside a server that has the node `x`, and the number of its writes to a path that ends so.
fn controller_that_writes(end: &'static str) -> (Controller, Arc<AtomicUsize>) {
    let written = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&written);
    let server = server_of_node(move |path| {
        counted.fetch_add(usize::from(path.ends_with(end)), Ordering::Relaxed);
    });
    (controller_of(server), written)
}

/// Stores a group of a queue.
fn set_group(controller: &Controller, name: &str, queue: &str) -> Key {
    let metadata = json!({"namespace": "n", "name": name, "uid": name});
    let group = Object::new(json!({"metadata": metadata, "spec": {"queue": queue}}));
    let key = Key::new("n", name);
    controller.store.set_group(&key, Some(&group));
    key
}

/// A group of one pod that runs and names so many claims, none of which is there.
fn name_claims(controller: &Controller, group: &str, count: usize) -> Key {
    let claim =
        |at: usize| json!({"name": at.to_string(), "resourceClaimName": format!("{group}-{at}")});
    let claims: Vec<Value> = (0..count).map(claim).collect();
    let annotations = json!({"pod-group-name": group});
    let name = format!("p-{group}");
    let metadata = json!({"namespace": "n", "name": name, "uid": name, "annotations": annotations});
    let pod = json!({"metadata": metadata, "spec": {"resourceClaims": claims},
        "status": {"phase": "Running"}});
    controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    Key::new("n", group)
}

/// Whoever names very many claims has others wait for as long as they are asked for.
#[tokio::test]
async fn so_many_claims_are_asked_for_in_one_pass() {
    const GROUPS: usize = 6;
    let mut controller = controller();
    let keys = (0..GROUPS)
        .map(|at| name_claims(&controller, &format!("g-{at}"), READS_OF_GROUP_MAX))
        .collect();
    let late = controller.pass(keys).await;
    assert_eq!(late.len(), GROUPS - READS_MAX / READS_OF_GROUP_MAX, "{late:?}");
}

/// A pod of the group `n/z` that somebody put on a node, and that asks for a GPU.
fn put_on(controller: &Controller, name: &str, node: &str) {
    let annotations = json!({"pod-group-name": "z"});
    let metadata = json!({"namespace": "n", "name": name, "uid": name, "annotations": annotations});
    let requests = json!({"nvidia.com/gpu": "1"});
    let pod = json!({
        "metadata": metadata,
        "spec": {"nodeName": node, "containers": [{"resources": {"requests": requests}}]},
        "status": {"phase": "Running"},
    });
    controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
}

/// A queue would have used nothing for as long as others, or who names very many claims, have all that may be asked for.
#[tokio::test]
async fn a_node_that_may_not_be_asked_for_any_more_leaves_a_status_as_it_is() {
    let (mut controller, written) = controller_that_writes("/podgroups/z/status");
    let last = set_group(&controller, "z", "q");
    put_on(&controller, "z-1", "x");
    let keys = with_others(&controller);
    let late = controller.pass(keys).await;
    assert_eq!((late, written.load(Ordering::Relaxed)), (vec![last.clone()], 0));
    let late = controller.pass([last].into()).await;
    assert_eq!((late, written.load(Ordering::Relaxed)), (vec![], 1), "it has its turn");
}

/// Of very many nodes so many are known after each pass, and the status waits for the last of them. That a node is not there is
/// remembered nowhere else.
#[tokio::test]
async fn a_group_on_many_nodes_is_late_until_all_were_asked_for() {
    let controller = controller_of(server_of_node(|_| ()));
    for (name, node) in [("z-1", "w"), ("z-2", "x"), ("z-3", "y")] {
        put_on(&controller, name, node);
    }
    let key = Key::new("n", "z");
    let mut findings = Findings::default();
    for (allowed, has_all) in [(0, false), (1, false), (1, false), (1, true)] {
        let mut reads = Reads { findings, ..Reads::new(allowed) };
        let sums = controller.sum(&key, None, &mut reads).await.expect("the server answers");
        assert_eq!((sums.is_some(), reads.left), (has_all, 0), "{allowed}");
        findings = reads.findings;
    }
}

/// Its status was never written, and the first of them were asked for again and again.
#[tokio::test(start_paused = true)]
async fn a_group_is_summed_up_in_the_end_however_many_of_its_nodes_are_not_there() {
    let (controller, written) = controller_that_writes("/podgroups/z/status");
    set_group(&controller, "z", "q");
    for at in 0..3 * READS_OF_GROUP_MAX {
        put_on(&controller, &format!("z-{at}"), &format!("y-{at}"));
    }
    put_on(&controller, "z-last", "x");
    controller.dirty.group(Key::new("n", "z"));
    let meters = Meters::new(&Register::default()).expect("names");
    let running = tokio::spawn(controller.run(meters));
    tokio::time::sleep(10 * RETRY_MIN).await;
    running.abort();
    assert!(written.load(Ordering::Relaxed) > 0, "it is late for ever");
}

/// Something that was found at first may be another by the last turn: the change was told before there was a sum.
#[tokio::test(start_paused = true)]
async fn a_group_that_changes_while_it_is_late_is_summed_up_anew() {
    for is_changed in [false, true] {
        let (controller, written) = controller_that_writes("/podgroups/g/status");
        let key = name_claims(&controller, "g", READS_OF_GROUP_MAX + 1);
        let metadata = json!({"namespace": "n", "name": "g", "uid": "g"});
        let status = json!({"resourcesStatus": {"requested": {"cpu": "1"}}});
        let group = json!({"metadata": metadata, "spec": {}, "status": status});
        controller.store.set_group(&key, Some(&Object::new(group)));
        let dirty = Arc::clone(&controller.dirty);
        dirty.group(key.clone());
        let meters = Meters::new(&Register::default()).expect("names");
        let running = tokio::spawn(controller.run(meters));
        tokio::time::sleep(3 * DEBOUNCE).await;
        if is_changed {
            dirty.group(key);
        }
        tokio::time::sleep(10 * RETRY_MIN).await;
        running.abort();
        assert_eq!(written.load(Ordering::Relaxed), 1 + usize::from(is_changed));
    }
}

/// Others on a node would hold for good what was told of it minutes ago.
#[tokio::test]
async fn what_was_found_for_a_late_group_before_counts_for_itself_alone() {
    let mut controller = controller_of(server_of_node(|_| ()));
    held_beside(&controller, ["Running"; 4]).await;
    let [late, other] = ["g-1", "g-2"].map(|name| Key::new("n", name));
    let findings = Findings { nodes: [("x".to_owned(), None)].into(), ..Findings::default() };
    controller.late.put(late.clone(), Begun { findings, ..Begun::default() });
    controller.pass([late.clone(), other].into()).await;
    assert_eq!(controller.unsure, BTreeSet::from([late]));
}

/// Very many small groups would take minutes instead of seconds: whoever had no turn did not fail.
#[tokio::test(start_paused = true)]
async fn groups_that_have_to_go_on_wait_no_longer_each_time() {
    let mut controller = controller();
    let keys: BTreeSet<Key> = (0..2 + READS_MAX / READS_OF_GROUP_MAX)
        .map(|at| name_claims(&controller, &format!("g-{at}"), READS_OF_GROUP_MAX))
        .collect();
    for _ in 0..3 {
        for key in controller.pass(keys.clone()).await {
            controller.pause(key);
        }
    }
    let waits = controller.paused.values().map(|paused| paused.until - Instant::now());
    assert_eq!(waits.collect::<Vec<_>>(), [RETRY_MIN; 2]);
}

/// The names of queues whose statuses were written.
type Told = Arc<Mutex<Vec<String>>>;

/// Takes them.
fn take(told: &Told) -> Vec<String> {
    let mut names = std::mem::take(&mut *told.lock().expect("nobody panics with it"));
    names.sort();
    names
}

/// Groups of which the first have all that may be asked for in a pass, and `n/z` nothing.
fn with_others(controller: &Controller) -> BTreeSet<Key> {
    let first = (0..READS_MAX / READS_OF_GROUP_MAX)
        .map(|at| name_claims(controller, &format!("g-{at}"), READS_OF_GROUP_MAX));
    first.chain([Key::new("n", "z")]).collect()
}

/// A controller after its first pass, in which a group of this queue had no turn. Each queue has five GPUs by its status; `q` is
/// below `above`.
async fn begun(queue: &str) -> (Controller, Told) {
    let told = Told::default();
    let noted = Arc::clone(&told);
    let mut controller = controller_of(server_of_node(move |path| {
        let queue = path.strip_suffix("/status").and_then(|path| path.split_once("/queues/"));
        let mut noted = noted.lock().expect("nobody panics with it");
        noted.extend(queue.map(|(_, name)| name.to_owned()));
    }));
    for (name, parent, children) in
        [("above", "", json!(["q"])), ("q", "above", json!([])), ("other", "", json!([]))]
    {
        let held = json!({"nvidia.com/gpu": "5"});
        let status = json!({"requested": held, "allocated": held, "childQueues": children});
        let (metadata, spec) = (json!({"name": name, "uid": name}), json!({"parentQueue": parent}));
        let queue = json!({"metadata": metadata, "spec": spec, "status": status});
        controller.store.set_queue(name, Some(Arc::new(Object::new(queue))));
    }
    set_group(&controller, "z", queue);
    put_on(&controller, "z-1", "x");
    let keys = with_others(&controller);
    let late = controller.pass(keys).await;
    assert_eq!(late, [Key::new("n", "z")]);
    (controller, told)
}

/// The GPUs of a queue by its series.
fn series(controller: &Controller, queue: &str) -> String {
    let text = TextEncoder::new().encode_to_string(&controller.metrics.collect()).expect("text");
    let start = format!("kai_queue_allocated_gpus{{queue_name=\"{queue}\"");
    let line = text.lines().find(|line| line.starts_with(&start)).unwrap_or_default();
    line.rsplit(' ').next().unwrap_or_default().to_owned()
}

/// A process that begins knows nothing of them, and would say that their queue holds less than it does.
#[tokio::test]
async fn queues_stay_as_they_are_until_the_groups_of_before_were_summed_up() {
    let (mut controller, told) = begun("q").await;
    assert_eq!(take(&told), ["other"], "no group of it is late");
    assert_eq!(["above", "other", "q"].map(|name| series(&controller, name)), ["5", "0", "5"]);
    assert!(controller.pass(BTreeSet::new()).await.is_empty());
    assert!(take(&told).is_empty(), "nothing is known of it yet");
    assert!(controller.pass([Key::new("n", "z")].into()).await.is_empty());
    assert_eq!(take(&told), ["above", "q"]);
    assert_eq!(["above", "other", "q"].map(|name| series(&controller, name)), ["1", "0", "1"]);
}

/// Something that is asked for a group may fail for ever.
#[tokio::test(start_paused = true)]
async fn queues_wait_for_groups_for_some_minutes() {
    let (mut controller, told) = begun("q").await;
    take(&told);
    tokio::time::advance(WAIT_MAX).await;
    controller.pass(BTreeSet::new()).await;
    assert_eq!(take(&told), ["above", "q"]);
}

/// It may get another queue before its first turn, and that of its pods counts where they were bound.
#[tokio::test]
async fn the_queue_waits_in_which_a_late_group_counts() {
    let (mut controller, told) = begun("other").await;
    assert_eq!(take(&told), ["above", "q"]);
    let mut pod = json!({
        "metadata": {"namespace": "n", "name": "z-2", "uid": "z-2",
            "annotations": {"pod-group-name": "z", "received-resource-type": "Regular"}},
        "spec": {}, "status": {"phase": "Running"},
    });
    pod["metadata"]["annotations"][annotation::BOUND_QUEUE] = json!("q");
    controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    let keys = with_others(&controller);
    assert_eq!(controller.pass(keys).await, [Key::new("n", "z")]);
    assert_eq!(take(&told), ["other"]);
}

/// A queue would have used nothing of what a group has whose user names claims that are not there, on a pod that waits.
#[tokio::test]
async fn claims_of_pods_that_wait_hold_up_no_account() {
    let mut controller = controller();
    add_pod(&controller, "runs", "Running", &[]);
    let claim = |number: usize| json!({"name": number.to_string(), "resourceClaimName": format!("c-{number}")});
    let claims: Vec<Value> = (0..=READS_OF_GROUP_MAX).map(claim).collect();
    let annotations = json!({"pod-group-name": "g"});
    let metadata = json!({"namespace": "n", "name": "a", "uid": "a", "annotations": annotations});
    let pod = json!({"metadata": metadata, "spec": {"resourceClaims": claims},
        "status": {"phase": "Pending"}});
    controller.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    let key = Key::new("n", "g");
    let mut reads = Reads::new(READS_OF_GROUP_MAX);
    let sums = controller.sum(&key, None, &mut reads).await.expect("the server answers");
    let held = sums.map(|(sums, _)| sums.allocated.to_value());
    assert_eq!(held, Some(json!({"cpu": "1"})));
    let late = controller.pass([key.clone()].into()).await;
    assert!(late.is_empty(), "{late:?}");
    assert!(controller.unsure.contains(&key), "they are asked for again");
    controller.unsure.clear();
    controller.pass([key].into()).await;
    assert!(controller.unsure.is_empty(), "all of them were asked for");
}
