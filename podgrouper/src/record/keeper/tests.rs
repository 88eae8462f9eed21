//! Records that are kept day by day, and of what is gone when a process begins.

use std::sync::atomic::{AtomicBool, Ordering};

use http::{Method, Request, Response};
use kai_api::daily_record::UsageRow;
use kube::client::Body;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::books::tests::Server;
use super::super::settle::time;
use super::*;
use crate::cache::Cache;
use crate::object::Object;
use crate::pod::Pod;
use crate::record::day::DAY_SECONDS;
use crate::status::{Usage, server_of_node};
use crate::store::{Key, Store};

/// A keeper whose API server has nothing.
fn keeper(heard: Arc<Heard>) -> Keeper {
    let server = tower::service_fn(|_: Request<Body>| async {
        Response::builder().status(404).body(Body::empty())
    });
    keeper_of(Client::new(server, "default"), heard, Arc::default())
}

fn keeper_of(client: Client, heard: Arc<Heard>, store: Arc<Store>) -> Keeper {
    let (changed, _) = tokio::sync::mpsc::unbounded_channel();
    let cache = Cache::new(client.clone(), CancellationToken::new(), changed);
    Keeper::new(client, heard, Finder::new(cache, store), u32::MAX)
}

/// Two hours before a midnight.
const LATE: &str = "1970-01-02T22:00:00Z";

/// The records of a group, day by day, whose pod came late on one day, until ten hours after the second midnight.
async fn over_midnights(spec: &Value, status: &Value) -> Vec<(String, WorkloadRecord)> {
    let heard = Arc::new(Heard::default());
    let metadata = json!({"namespace": "n", "name": "g", "uid": "g"});
    let group = json!({"metadata": metadata, "spec": {"queue": "q"}});
    heard.set_group(&Key::new("n", "g"), &Object::new(group));
    let pod = json!({
        "metadata": {"namespace": "n", "name": "p", "uid": "p", "creationTimestamp": LATE,
            "annotations": {"pod-group-name": "g"}},
        "spec": spec,
        "status": status,
    });
    heard.set_pod(&Object::new(pod.clone()), &Pod::from_value(&pod));
    let mut keeper = keeper(heard);
    let to = 3 * DAY_SECONDS + 10 * 3_600;
    let mut next = Some(WorkId { namespace: "n".into(), uid: "g".into() });
    let mut days = Vec::new();
    while let Some(work) = next {
        let plan = keeper.plan(&work, to, None).await.expect("nothing is to be read");
        let plan = plan.expect("it is known");
        days.push((plan.place.day.to_string(), plan.record.clone()));
        next = keeper.written(plan, to);
    }
    days
}

/// The podgrouper may be away over midnight, and for whole days.
#[tokio::test]
async fn each_day_is_charged_for_its_own_hours() {
    let status = json!({"phase": "Running", "startTime": LATE});
    let days = over_midnights(&json!({"nodeName": "node-1"}), &status).await;
    let hours =
        |(day, record): &(String, WorkloadRecord)| (day.clone(), record.run_seconds / 3_600);
    let expect = [("1970-01-02", 2), ("1970-01-03", 24), ("1970-01-04", 10)];
    let expect = expect.map(|(day, hours)| (day.to_owned(), hours));
    assert_eq!(days.iter().map(hours).collect::<Vec<_>>(), expect);
}

/// A wait that goes on over midnight began on the first day alone.
#[tokio::test]
async fn a_wait_over_midnight_is_one() {
    let days = over_midnights(&json!({}), &json!({"phase": "Pending"})).await;
    let waits: Vec<(u32, u64)> =
        days.iter().map(|(_, record)| (record.waits, record.wait_seconds / 3_600)).collect();
    assert_eq!(waits, [(1, 2), (0, 24), (0, 10)]);
}

/// A pod that has a share of the memory of a GPU since second 10.
fn tell_share(heard: &Heard) -> WorkId {
    let metadata = json!({"namespace": "n", "name": "g", "uid": "g"});
    let group = json!({"metadata": metadata, "spec": {"queue": "q"}});
    heard.set_group(&Key::new("n", "g"), &Object::new(group));
    let pod = json!({
        "metadata": {"namespace": "n", "name": "p", "uid": "p", "creationTimestamp": "1970-01-01T00:00:10Z",
            "annotations": {"pod-group-name": "g", "gpu-memory": "1024", "received-resource-type": "Fraction"}},
        "spec": {"nodeName": "node-1"},
        "status": {"phase": "Running", "startTime": "1970-01-01T00:00:10Z"},
    });
    heard.set_pod(&Object::new(pod.clone()), &Pod::from_value(&pod));
    WorkId { namespace: "n".into(), uid: "g".into() }
}

/// The node alone says how large a share of memory is. A write that fails meanwhile changes nothing of that.
#[tokio::test]
async fn a_share_on_a_node_that_is_away_is_counted_whole_once_the_node_is_back() {
    let heard = Arc::new(Heard::default());
    heard.listed();
    let work = tell_share(&heard);
    let keeper = keeper(Arc::clone(&heard));
    let found = keeper.find_devices(&work, &mut Reads::new(1)).await;
    assert!(found.expect("the node is not there"), "it delays nobody");
    heard.written(&work, Window { from: 0, to: 100, begins_waiting: false }, 0);
    heard.count_anew(&work);
    let asks = heard.asks(&work);
    let [(group, asks)] = asks.as_slice() else { panic!("{asks:?}") };
    heard.found(group, &asks.uid, Arc::default());
    let heap = heard.heap(&work).expect("it is known");
    assert_eq!(heap.members[0].spans[0].uncounted_from(100), Some(10));
}

/// A kubelet may run it: the hours of its queue would be those of a thousand clusters.
#[tokio::test]
async fn a_pod_that_no_plan_placed_is_recorded_with_no_more_than_its_node_has() {
    for (node, expect) in [("x", Some(2_000_000)), ("y", None)] {
        let (heard, store) = (Arc::new(Heard::default()), Arc::new(Store::default()));
        let metadata = json!({"namespace": "n", "name": "g", "uid": "g"});
        let group = json!({"metadata": metadata, "spec": {"queue": "q"}});
        heard.set_group(&Key::new("n", "g"), &Object::new(group));
        let requests = json!({"nvidia.com/gpu": "1000000000000"});
        let pod = json!({
            "metadata": {"namespace": "n", "name": "p", "uid": "p", "annotations": {"pod-group-name": "g"}},
            "spec": {"nodeName": node, "containers": [{"resources": {"requests": requests}}]},
            "status": {"phase": "Running"},
        });
        let (stored, _) = store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
        heard.set_pod(&Object::new(pod), &stored);
        let work = WorkId { namespace: "n".into(), uid: "g".into() };
        let keeper = keeper_of(server_of_node(|_| ()), Arc::clone(&heard), store);
        let found = keeper.find_devices(&work, &mut Reads::new(0)).await;
        assert!(!found.expect("nothing is asked"), "who may not ask does not know");
        let found = keeper.find_devices(&work, &mut Reads::new(1)).await;
        assert!(found.expect("the server answers"), "it delays nobody");
        assert_eq!(heard.asks(&work).is_empty(), expect.is_some(), "a node may come");
        let heap = heard.heap(&work).expect("it is known");
        let held = heap.members[0].spans[0].devices.first().map(|row| row.micro_gpus);
        assert_eq!(held, expect);
    }
}

/// A pod that was put on the node `x` in second 10 with more GPUs than that has, and that ended in second 160.
fn tell_ended(heard: &Heard, store: &Store) -> WorkId {
    let metadata = json!({"namespace": "n", "name": "g", "uid": "g"});
    let group = json!({"metadata": metadata, "spec": {"queue": "q"}});
    heard.set_group(&Key::new("n", "g"), &Object::new(group));
    let requests = json!({"nvidia.com/gpu": "1000000000000"});
    let ended = json!({"state": {"terminated": {"finishedAt": "1970-01-01T00:02:40Z"}}});
    let pod = json!({
        "metadata": {"namespace": "n", "name": "p", "uid": "p", "creationTimestamp": "1970-01-01T00:00:10Z",
            "annotations": {"pod-group-name": "g"}},
        "spec": {"nodeName": "x", "containers": [{"resources": {"requests": requests}}]},
        "status": {"phase": "Succeeded", "startTime": "1970-01-01T00:00:10Z", "containerStatuses": [ended]},
    });
    let (stored, _) = store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
    heard.set_pod(&Object::new(pod), &stored);
    WorkId { namespace: "n".into(), uid: "g".into() }
}

/// The record says that GPUs were held: without those of the pod they would be those of one that is gone, and count until now.
#[tokio::test]
async fn a_pod_that_no_plan_placed_and_that_ended_while_nobody_looked_counts_until_its_end() {
    const HELD: u64 = 2_000_000;
    let server = Server::default();
    let place = Place { namespace: "n".into(), day: Day::of(0) };
    let held = UsageRow {
        queue: "q".to_owned(),
        gpu_type: "nvidia.com/gpu".to_owned(),
        micro_gpu_seconds: 90 * HELD,
        held_micro_gpus: HELD,
    };
    let record = WorkloadRecord {
        outcome: Outcome::Running,
        through: Some(time(100)),
        usage: vec![held],
        ..WorkloadRecord::default()
    };
    let mut books = Books::new(server.client());
    assert!(books.write(&place, [("g".to_owned(), record)].into()).await.is_ok());

    let (heard, store) = (Arc::new(Heard::default()), Arc::new(Store::default()));
    let work = tell_ended(&heard, &store);
    let mut keeper = keeper_of(server_of_node(|_| ()), heard, store);
    keeper.books = Books::new(server.client());
    keeper.books.open(place.day, keeper.oldest()).await.expect("the server answers");
    let found = keeper.find_devices(&work, &mut Reads::new(1)).await;
    assert!(found.expect("the server answers"), "it delays nobody");
    let plan = keeper.plan(&work, 3_700, None).await.expect("the server answers");
    let usage = plan.expect("it is known").record.usage;
    let counted: Vec<u64> = usage.iter().map(|row| row.micro_gpu_seconds).collect();
    assert_eq!(counted, [(160 - 10) * HELD]);
}

/// Whoever puts pods on nodes and has them go at once would have the node counted once for each.
#[tokio::test]
async fn a_pod_that_no_plan_placed_and_that_is_gone_before_a_look_had_nothing() {
    for (is_news, expect) in [(false, Some(2_000_000)), (true, None)] {
        let (heard, store) = (Arc::new(Heard::default()), Arc::new(Store::default()));
        if is_news {
            heard.listed();
        }
        let work = tell_ended(&heard, &store);
        let keeper = keeper_of(server_of_node(|_| ()), Arc::clone(&heard), store);
        let found = keeper.find_devices(&work, &mut Reads::new(1)).await;
        assert!(found.expect("the server answers"), "it delays nobody");
        let heap = heard.heap(&work).expect("it is known");
        let held = heap.members[0].spans[0].devices.first().map(|row| row.micro_gpus);
        assert_eq!(held, expect);
    }
}

/// The restart charges what the record says is held, as that of a pod that is gone, for the time in which nobody looked.
#[tokio::test]
async fn a_share_of_before_a_restart_is_counted_once_while_its_node_is_away() {
    const HALF: u64 = 500_000;
    let server = Server::default();
    let place = Place { namespace: "n".into(), day: Day::of(0) };
    let held = UsageRow {
        queue: "q".to_owned(),
        gpu_type: "H100".to_owned(),
        micro_gpu_seconds: 40 * HALF,
        held_micro_gpus: HALF,
    };
    let record = WorkloadRecord {
        outcome: Outcome::Running,
        through: Some(time(50)),
        usage: vec![held],
        ..WorkloadRecord::default()
    };
    let mut books = Books::new(server.client());
    assert!(books.write(&place, [("g".to_owned(), record)].into()).await.is_ok());

    let heard = Arc::new(Heard::default());
    let work = tell_share(&heard);
    let mut keeper = keeper(Arc::clone(&heard));
    keeper.books = Books::new(server.client());
    keeper.books.open(place.day, keeper.oldest()).await.expect("the server answers");
    for to in [100, 200, 300] {
        if to == 300 {
            let asks = heard.asks(&work);
            let [(group, asks)] = asks.as_slice() else { panic!("{asks:?}") };
            let devices = [Devices { gpu_type: "H100".into(), micro_gpus: HALF }];
            heard.found(group, &asks.uid, Arc::from(devices));
        }
        let plan = keeper.plan(&work, to, None).await.expect("the server answers");
        let left = keeper.write(&place, plan.into_iter().collect(), to).await;
        assert!(left.is_empty(), "{left:?}");
    }
    let rows = server.rows(&place);
    let [(_, row)] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(row.usage[0].micro_gpu_seconds, (300 - 10) * HALF);
}

/// A pod that went away while nobody looked is charged until it is missed, also where that was on another day.
#[tokio::test]
async fn what_was_held_yesterday_and_is_gone_is_counted_until_now() {
    let server = Server::default();
    let today = Day::of(now() - LAG_SECONDS);
    let place = |day| Place { namespace: "n".into(), day };
    let through = today.start() - 1_000;
    let held = UsageRow {
        queue: "q".to_owned(),
        gpu_type: "H100".to_owned(),
        micro_gpu_seconds: 5,
        held_micro_gpus: 2,
    };
    let record = WorkloadRecord {
        outcome: Outcome::Running,
        through: Some(time(through)),
        usage: vec![held],
        ..WorkloadRecord::default()
    };
    let yesterday = place(today.before());
    let mut books = Books::new(server.client());
    assert!(books.write(&yesterday, [("u".to_owned(), record)].into()).await.is_ok());

    let (changed, _keys) = tokio::sync::mpsc::unbounded_channel();
    let cache = Cache::new(server.client(), CancellationToken::new(), changed);
    let finder = Finder::new(cache, Arc::default());
    let mut keeper = Keeper::new(server.client(), Arc::default(), finder, 31);
    keeper.books.open(today, keeper.oldest()).await.expect("the server answers");
    keeper.orphans = keeper.books.open_workloads();
    let orphans = keeper.orphans.keys().cloned().collect();
    keeper.pass(orphans).await;
    assert!(keeper.orphans.is_empty(), "{:?}", keeper.orphans);

    let found = |place: &Place| {
        let rows = server.rows(place);
        let [(_, row)] = rows.as_slice() else { panic!("{rows:?}") };
        (row.outcome.is_open(), row.usage[0].micro_gpu_seconds)
    };
    assert_eq!(found(&yesterday), (false, 5 + 2 * 1_000));
    let (is_open, counted) = found(&place(today));
    let passed = u64::try_from(now() - LAG_SECONDS - today.start()).expect("it is past");
    assert!(!is_open && counted <= 2 * passed && counted + 20 > 2 * passed, "{counted} {passed}");
}

/// A record says up to when it counts, and whoever may edit it any time: each day since then would be settled.
#[tokio::test]
async fn a_record_counts_to_a_moment_of_its_day() {
    let day = Day::of(10 * DAY_SECONDS);
    let place = Place { namespace: "n".into(), day };
    for (through, expect) in [(-30_000_000_000, day.start()), (200_000_000_000, day.end())] {
        let server = Server::default();
        let record = WorkloadRecord {
            outcome: Outcome::Running,
            through: Some(time(through)),
            ..WorkloadRecord::default()
        };
        let mut books = Books::new(server.client());
        assert!(books.write(&place, [("g".to_owned(), record)].into()).await.is_ok());
        let heard = Arc::new(Heard::default());
        let work = tell_share(&heard);
        let mut keeper = keeper(heard);
        keeper.books = Books::new(server.client());
        keeper.books.open(day, keeper.oldest()).await.expect("the server answers");
        let plan = keeper.plan(&work, day.start() + 100, None).await.expect("the server answers");
        assert_eq!(plan.map(|plan| plan.window.from), Some(expect));
    }
}

/// A client of a server that is away for the first write.
fn client_of_flaky(server: &Server) -> Client {
    let (client, failed) = (server.client(), Arc::new(AtomicBool::new(false)));
    let server = tower::service_fn(move |request: Request<Body>| {
        let fails = request.method() != Method::GET && !failed.swap(true, Ordering::Relaxed);
        let client = client.clone();
        async move {
            if fails {
                return Ok(Response::builder().status(500).body(Body::empty()).expect("it is one"));
            }
            client.send(request).await
        }
    });
    Client::new(server, "default")
}

/// Nothing tells of it again, so that it would run by its record until the next start.
#[tokio::test(start_paused = true)]
async fn a_record_of_what_is_gone_is_closed_although_its_first_write_fails() {
    let day = Day::of(10 * DAY_SECONDS);
    clock::follow_tokio(time(day.start() + 3_600).0);
    let server = Server::default();
    let place = Place { namespace: "n".into(), day };
    let record = WorkloadRecord {
        outcome: Outcome::Running,
        through: Some(time(day.start())),
        ..WorkloadRecord::default()
    };
    let mut books = Books::new(server.client());
    assert!(books.write(&place, [("g".to_owned(), record)].into()).await.is_ok());
    let heard = Arc::new(Heard::default());
    heard.listed();
    let keeper = keeper_of(client_of_flaky(&server), heard, Arc::default());
    let running = tokio::spawn(keeper.run());
    tokio::time::sleep(4 * RETRY).await;
    running.abort();
    let rows = server.rows(&place);
    let [(_, row)] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(row.outcome, Outcome::Deleted);
}
