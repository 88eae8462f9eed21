//! Writes without a certain answer, which may be carried out later: each is waited for, or is taken for what it is.

use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use kai_daemon::clock;

use super::*;

/// Compares whether a pod is bound whose POSTs are answered with this code, and of which one is carried out so many seconds
/// after the first; none, and it never is.
async fn check_late(code: u16, after_seconds: Option<u64>, is_bound: bool) {
    let began = Instant::now();
    let find = move |_: &str| {
        let is_on = after_seconds.is_some_and(|after| began.elapsed().as_secs() >= after);
        json!({"metadata": {"uid": "u"}, "spec": {"nodeName": if is_on { "n" } else { "" }}})
    };
    let (write, sent) = server_that_finds(find, code).await;
    let outcome = Task::Bind(Bind::of("u", "p", "n")).carry_out(&write).await;
    assert_eq!(matches!(outcome, Some(Outcome::Bound(..))), is_bound, "{code}: {outcome:?}");
    assert_eq!(sent.lock().expect("nobody panics with it").len(), 5, "{code}");
}

/// Its pod would be bound anew, and its devices given to others, while it is bound here.
#[tokio::test(start_paused = true)]
async fn a_bind_is_not_given_up_while_it_may_come_true() {
    check_late(504, Some(40), true).await;
    check_late(500, Some(8), true).await;
    check_late(504, None, false).await;
    check_late(500, None, false).await;
}

/// The GPU would be given to others while the pod that holds it is being deleted.
#[tokio::test(start_paused = true)]
async fn a_reservation_goes_for_certain_or_stays_for_certain() {
    for (code, is_certain) in [(200, true), (403, true), (404, true), (409, true), (504, false)] {
        let pod = json!({"metadata": {"uid": "u", "namespace": "ns", "name": "r"}, "spec": {}});
        let (write, sent) = server(json!({ "items": [pod] }), code).await;
        let done = unreserve("").carry_out(&write);
        let outcome = tokio::time::timeout(Duration::from_secs(5), done).await;
        assert_eq!(outcome.is_ok(), is_certain, "{code}: {outcome:?}");
        let tries = sent.lock().expect("nobody panics with it").len();
        assert_eq!(tries == 1, is_certain, "{code}: {tries}");
    }
}

/// The pod is not there to be asked again, and whoever waits is to hear why it waits.
#[tokio::test(start_paused = true)]
async fn what_a_reservation_said_outlives_a_lost_answer_to_its_deletion() {
    let began = Instant::now();
    let find = move |_: &str| {
        let status = json!({"phase": "Failed", "reason": "UnexpectedAdmissionError"});
        let pod =
            json!({"metadata": {"uid": "u", "namespace": "ns", "name": "r"}, "status": status});
        let is_there = began.elapsed().is_zero();
        json!({ "items": if is_there { vec![pod] } else { Vec::new() } })
    };
    let (write, _) = server_that_finds(find, 504).await;
    let outcome = unreserve("").carry_out(&write).await;
    let Some(Outcome::Shared(ShareOutcome::Unreserved { ending, .. })) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(ending, Ending::Gone(Some(String::from("UnexpectedAdmissionError"))));
}

/// Its GPU would be given to others while the pod that holds it comes.
#[tokio::test(start_paused = true)]
async fn a_reservation_is_not_given_up_while_it_may_be_made() {
    for (after_seconds, expect) in [(40, true), (u64::MAX, false)] {
        let began = Instant::now();
        let is_made = move || began.elapsed().as_secs() >= after_seconds;
        let find = move |_: &str| if is_made() { reservation() } else { Value::Null };
        let (write, sent) = server_that_finds(find, 504).await;
        let outcome = reserve().carry_out(&write).await;
        let Some(Outcome::Shared(ShareOutcome::Reserved { refused, .. })) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(refused.is_none(), expect, "{refused:?}");
        assert_eq!(sent.lock().expect("nobody panics with it").len(), 5);
    }
}

/// Another pod would be evicted for the same, and both would go.
#[tokio::test(start_paused = true)]
async fn an_eviction_is_not_given_up_while_it_may_come_true() {
    for (after_seconds, expect) in [(40, true), (u64::MAX, false)] {
        let began = Instant::now();
        let find = move |_: &str| {
            let goes = began.elapsed().as_secs() >= after_seconds;
            let at = goes.then_some("2026-01-01T00:00:00Z");
            json!({"metadata": {"uid": "u", "deletionTimestamp": at}})
        };
        let (write, sent) = server_that_finds(find, 504).await;
        let outcome = Task::Evict(evict()).carry_out(&write).await;
        assert_eq!(matches!(outcome, Some(Outcome::Evicted(..))), expect, "{outcome:?}");
        assert_eq!(sent.lock().expect("nobody panics with it").len(), 5);
    }
}

/// A quota refuses a reservation, or a budget an eviction, for what an attempt before did, or does yet.
#[tokio::test(start_paused = true)]
async fn a_refusal_after_a_lost_answer_is_not_what_came_of_it() {
    for (first, after_seconds, expect) in
        [(504, 30, true), (504, u64::MAX, false), (403, 30, false)]
    {
        for is_eviction in [false, true] {
            let began = Instant::now();
            let find = move |_: &str| {
                let is_done = began.elapsed().as_secs() >= after_seconds;
                let at = (is_eviction && is_done).then_some("2026-01-01T00:00:00Z");
                let labels = json!({"runai-gpu-group": "g"});
                let metadata = json!({"uid": "u", "labels": labels, "deletionTimestamp": at});
                let pod = json!({"metadata": metadata, "spec": {"nodeName": "n"}});
                if is_eviction || is_done { pod } else { Value::Null }
            };
            let (write, sent) =
                server_that_answers(find, move |n| if n == 0 { first } else { 403 }).await;
            let task = if is_eviction { Task::Evict(evict()) } else { reserve() };
            let outcome = task.carry_out(&write).await;
            let is_done = matches!(
                outcome,
                Some(
                    Outcome::Evicted(..)
                        | Outcome::Shared(ShareOutcome::Reserved { refused: None, .. })
                )
            );
            assert_eq!(is_done, expect, "{first}: {outcome:?}");
            let tries = if first == 504 { 2 } else { 1 };
            assert_eq!(sent.lock().expect("nobody panics with it").len(), tries, "{first}");
        }
    }
}

/// The pod is there, as the refusal of its name says: that it cannot be read for a moment makes it no failure.
#[tokio::test(start_paused = true)]
async fn a_reservation_of_the_name_that_cannot_be_read_is_asked_for_again() {
    let began = Instant::now();
    let fails = move || began.elapsed().is_zero();
    let find = move |_: &str| if fails() { json!("not now") } else { reservation() };
    let (write, _) = server_that_finds(find, 409).await;
    let outcome = reserve().carry_out(&write).await;
    let Some(Outcome::Shared(ShareOutcome::Reserved { refused, .. })) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(refused, None);
}

/// A pod that is bound would be said to be unschedulable.
#[tokio::test(start_paused = true)]
async fn a_condition_of_a_pod_without_a_node_is_waited_for_while_it_may_come() {
    for (after_seconds, expect) in [(40, true), (u64::MAX, false)] {
        clock::follow_tokio(Timestamp::UNIX_EPOCH);
        let (began, seen) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        let looks = Arc::clone(&seen);
        let find = move |_: &str| {
            looks.fetch_add(1, Ordering::Relaxed);
            let is_said = began.elapsed().as_secs() >= after_seconds;
            // It said the same before.
            let at = if is_said { "1970-01-01T00:00:00Z" } else { "1969-12-31T23:59:00Z" };
            let row = json!({"type": "PodScheduled", "status": "False", "message": "it waits", "lastTransitionTime": at});
            json!({"metadata": {"uid": "u"}, "status": {"conditions": [row]}})
        };
        let (write, sent) = server_that_finds(find, 504).await;
        let outcome = condition().carry_out(&write).await;
        let is_expected = matches!(outcome, Some(Outcome::Pod(0, _, settled)) if settled == expect);
        assert!(is_expected, "{outcome:?}");
        assert!(began.elapsed().as_secs() >= 40, "{:?}", began.elapsed());
        assert_eq!(sent.lock().expect("nobody panics with it").len(), 1);
        let seen = seen.load(Ordering::Relaxed);
        assert!(seen < 12, "{seen} requests for one condition of thousands");
    }
}

/// Nobody looks at a pod that is bound, so that it would be missing for ever.
#[tokio::test(start_paused = true)]
async fn it_is_said_again_that_a_pod_is_bound() {
    for (code, is_again) in [(504, true), (403, false)] {
        let Task::Pod(said) = condition() else { panic!("it is a condition") };
        let said = PodCondition { kind: "PodBound", is_true: true, ..said };
        let (write, sent) = server(json!({"metadata": {"uid": "u"}}), code).await;
        let outcome = Task::Pod(said).carry_out(&write).await;
        assert!(matches!(outcome, Some(Outcome::Pod(0, _, false))), "{outcome:?}");
        assert_eq!(sent.lock().expect("nobody panics with it").len() > 5, is_again, "{code}");
    }
}

/// Labels that come late are not those of the next bind.
#[tokio::test(start_paused = true)]
async fn labels_without_an_answer_are_written_again_and_waited_for() {
    let (write, sent) = server(json!({"metadata": {"uid": "u"}, "spec": {}}), 504).await;
    let labels = vec![(Box::from("runai-gpu-group"), Some(Box::from("g")))];
    let bind = Bind { labels, ..Bind::of("u", "p", "n") };
    let began = Instant::now();
    let outcome = Task::Bind(bind).carry_out(&write).await;
    assert!(matches!(outcome, Some(Outcome::BindFailed { .. })), "{outcome:?}");
    assert!(began.elapsed() >= Duration::from_mins(1), "{:?}", began.elapsed());
    assert_eq!(sent.lock().expect("nobody panics with it").len(), 6, "labels alone");
}

/// A bind of a pod for which its claim is reserved, and both as the server has them in one object.
fn reserved() -> (Task, Value) {
    let path = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
    let uid = Box::from("u");
    let grant = ClaimGrant { path: path.into(), uid, allocation: None };
    let bind = Bind { claims: vec![grant], ..Bind::of("u", "p", "n") };
    let consumers = json!([{"resource": "pods", "name": "p", "uid": "u"}]);
    let found = json!({"metadata": {"uid": "u"}, "spec": {}, "status": {"reservedFor": consumers}});
    (Task::Bind(bind), found)
}

/// A claim that is taken back late would be missing to the next bind of the pod.
#[tokio::test(start_paused = true)]
async fn what_is_taken_back_without_an_answer_is_waited_for() {
    let (bind, found) = reserved();
    let (write, sent) = server(found, 504).await;
    let (guard, stop) = (write.guard.clone(), write.stop.clone());
    let keeping = tokio::spawn(async move { guard.keep(&stop).await });
    let began = Instant::now();
    let outcome = bind.carry_out(&write).await;
    keeping.abort();
    assert!(matches!(outcome, Some(Outcome::BindFailed { .. })), "{outcome:?}");
    let sent = sent.lock().expect("nobody panics with it");
    let puts = sent.iter().filter(|line| line.starts_with("PUT")).count();
    assert_eq!((sent.len() - puts, puts), (5, 8), "{sent:?}");
    // A minute after the last of the binds, and another after the last that takes it back.
    assert!(began.elapsed() >= Duration::from_mins(2), "{:?}", began.elapsed());
}

/// The pod may be on its node by the time that another leads, who finds all as after a crash.
#[tokio::test(start_paused = true)]
async fn nothing_is_taken_back_of_a_bind_that_may_come_true_when_the_scheduler_ends() {
    let (bind, found) = reserved();
    let (write, sent) = server(found, 504).await;
    let stop = write.stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(5)).await;
        stop.cancel();
    });
    let outcome = bind.carry_out(&write).await;
    assert!(matches!(outcome, Some(Outcome::BindFailed { .. })), "{outcome:?}");
    let sent = sent.lock().expect("nobody panics with it");
    assert!(sent.iter().all(|line| line.starts_with("POST")), "{sent:?}");
}

/// Whoever leads next would start from a lie.
#[tokio::test(start_paused = true)]
async fn what_is_under_way_at_the_end_says_what_became_of_it() {
    let (write, sent) = server(json!({"metadata": {"uid": "u"}, "spec": {}}), 504).await;
    let (outcomes_in, mut outcomes) = mpsc::unbounded_channel();
    let (tasks, tasks_out) = mpsc::unbounded_channel();
    let Write { client, guard, metrics, stop, .. } = write;
    let actuator = Actuator::new(client, guard, metrics, outcomes_in);
    let running = tokio::spawn(actuator.run(tasks_out, stop.clone()));
    tasks.send(vec![Task::Bind(Bind::of("u", "p", "n"))]).expect("it takes tasks");
    sleep(Duration::from_millis(10)).await;
    assert_eq!(sent.lock().expect("nobody panics with it").len(), 1, "it is under way");
    stop.cancel();
    running.await.expect("it does not panic");
    let outcome = outcomes.recv().await;
    assert!(matches!(outcome, Some(Outcome::BindFailed { .. })), "{outcome:?}");
}

/// The next bind of a pod waits for this one, which ends when nothing of it can come true later.
#[tokio::test(start_paused = true)]
async fn what_a_bind_wrote_is_taken_away_for_certain() {
    for (code, is_certain) in [(200, true), (403, true), (404, true), (409, true), (500, false)] {
        let (write, sent) = server(json!({"metadata": {"uid": "u"}, "spec": {}}), code).await;
        let outcome = tokio::time::timeout(Duration::from_secs(5), strip().carry_out(&write)).await;
        assert_eq!(outcome.is_ok(), is_certain, "{code}: {outcome:?}");
        let tries = sent.lock().expect("nobody panics with it").len();
        assert_eq!(tries == 1, is_certain, "{code}: {tries}");
    }
}

/// Once it is back it says what it did, or did not, while it failed.
#[tokio::test(start_paused = true)]
async fn a_server_that_fails_for_minutes_is_asked_until_it_says_what_was_done() {
    for is_gone in [true, false] {
        let began = Instant::now();
        let find = move |_: &str| {
            let at = is_gone.then_some("2026-01-01T00:00:00Z");
            match began.elapsed().as_secs() {
                ..200 => json!("it starts"),
                _ => json!({"metadata": {"uid": "u", "deletionTimestamp": at}}),
            }
        };
        let (write, _) = server_that_finds(find, 504).await;
        let outcome = Task::Evict(evict()).carry_out(&write).await;
        assert_eq!(matches!(outcome, Some(Outcome::Evicted(..))), is_gone, "{outcome:?}");
        assert!(began.elapsed() >= Duration::from_secs(200), "{:?}", began.elapsed());
    }
}

/// For a minute after a moment in which the server fails nobody else would be bound.
#[tokio::test(start_paused = true)]
async fn a_bind_that_waits_for_nothing_but_time_keeps_no_other_from_its_turn() {
    const BINDS: usize = 100;
    let (write, _) = server(json!({"metadata": {"uid": "u"}, "spec": {}}), 504).await;
    let (outcomes_in, mut outcomes) = mpsc::unbounded_channel();
    let (tasks, tasks_out) = mpsc::unbounded_channel();
    let actuator = Actuator::new(write.client, write.guard, write.metrics, outcomes_in);
    let actuator = tokio::spawn(actuator.run(tasks_out, write.stop));
    let began = Instant::now();
    let binds = (0..BINDS).map(|number| Task::Bind(Bind::of("u", &number.to_string(), "n")));
    tasks.send(binds.collect()).expect("they are taken");
    for _ in 0..BINDS {
        let outcome = outcomes.recv().await;
        // Without a turn before the Lease runs out it would be lost.
        assert!(matches!(outcome, Some(Outcome::BindFailed { .. })), "{outcome:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
    drop(tasks);
    actuator.await.expect("it does not panic");
}

/// A user may change a claim all the time that a bind waits for.
#[tokio::test(start_paused = true)]
async fn binds_that_take_long_keep_nobody_from_being_bound_or_told() {
    let write = answering(|asked, body| {
        if asked.method == Method::GET {
            (200, json!({"metadata": {"uid": "u"}, "spec": {}}))
        } else if asked.uri.path().contains("/resourceclaims/") {
            (409, json!({"message": "it has changed"}))
        } else {
            (200, body)
        }
    })
    .await;
    let (outcomes_in, mut outcomes) = mpsc::unbounded_channel();
    let (tasks, tasks_out) = mpsc::unbounded_channel();
    let actuator = Actuator::new(write.client, write.guard, write.metrics, outcomes_in);
    let actuator = tokio::spawn(actuator.run(tasks_out, write.stop));
    let long = |number: usize| {
        let path = Box::from("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c");
        let grant = ClaimGrant { path, uid: Box::from("u"), allocation: None };
        let namespace = Box::from(["first", "second"][number % 2]);
        let name = number.to_string();
        Task::Bind(Bind { namespace, claims: vec![grant], ..Bind::of(&name, &name, "n") })
    };
    tasks.send((0..200).map(long).collect()).expect("they are taken");
    sleep(Duration::from_millis(10)).await;
    let began = Instant::now();
    let quick = Task::Bind(Bind::of("v", "quick", "n"));
    tasks.send(vec![quick, condition()]).expect("they are taken");
    let came = [outcomes.recv().await, outcomes.recv().await];
    assert!(came.iter().any(|one| matches!(one, Some(Outcome::Bound(..)))), "{came:?}");
    assert!(came.iter().any(|one| matches!(one, Some(Outcome::Pod(..)))), "{came:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop(tasks);
    actuator.await.expect("it does not panic");
}

/// Webhooks that are asked about a group may be kept by its user.
#[tokio::test(start_paused = true)]
async fn what_takes_long_to_be_said_keeps_nothing_else_from_being_said() {
    let write = answering(|asked, body| {
        let is_group = asked.uri.path().contains("/podgroups/");
        if is_group { (429, json!({"message": "not yet"})) } else { (200, body) }
    })
    .await;
    let (outcomes_in, mut outcomes) = mpsc::unbounded_channel();
    let (tasks, tasks_out) = mpsc::unbounded_channel();
    let actuator = Actuator::new(write.client, write.guard, write.metrics, outcomes_in);
    let actuator = tokio::spawn(actuator.run(tasks_out, write.stop));
    let began = Instant::now();
    let note = group(GroupChange::Annotations(Vec::new()));
    tasks.send(vec![note, condition()]).expect("they are taken");
    let came = outcomes.recv().await;
    assert!(matches!(came, Some(Outcome::Pod(..))), "{came:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop(tasks);
    actuator.await.expect("it does not panic");
}

/// The Lease is given back once all writes have ended: whoever leads next would wait for what fails.
#[tokio::test(start_paused = true)]
async fn a_claim_is_not_released_again_and_again_once_the_scheduler_ends() {
    for is_ending in [false, true] {
        let reserved = json!([{"resource": "pods", "name": "p", "uid": "u"}]);
        let found = json!({"metadata": {"uid": "c"}, "status": {"reservedFor": reserved}});
        let (write, sent) = server(found, 500).await;
        let (path, uid) = ("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c", "c");
        let grant = ClaimGrant { path: path.into(), uid: uid.into(), allocation: None };
        if is_ending {
            write.stop.cancel();
        }
        let consumer = claim::Consumer { name: "p", uid: "u" };
        claim::Reservation::new(&grant).release(&write, consumer).await;
        let tries = sent.lock().expect("nobody panics with it").len();
        assert_eq!(tries == 1, is_ending, "{tries}");
    }
}

/// Others may write a claim or a volume all the time, and whoever leads next waits for this scheduler.
#[tokio::test(start_paused = true)]
async fn what_others_write_is_tried_once_where_the_scheduler_ends() {
    let found = json!({"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": {}});
    let (write, sent) = server(found, 409).await;
    write.stop.cancel();
    let path = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
    let grant = ClaimGrant { path: path.into(), uid: "u".into(), allocation: None };
    let consumer = claim::Consumer { name: "p", uid: "u" };
    let made = claim::Reservation::new(&grant).make(&write, consumer).await;
    let assigned = volume().assign(&write).await;
    assert!(made.is_err() && assigned.is_err(), "{made:?}, {assigned:?}");
    let expect = [
        &*format!("PUT {path}/status uid=u version=7"),
        "PATCH /api/v1/persistentvolumes/pv uid=u version=7 chosen=yes",
    ];
    assert_eq!(*sent.lock().expect("nobody panics with it"), expect);
}

/// A client of a server at this address, which sends nothing twice by itself.
fn client_of(address: std::net::SocketAddr) -> Client {
    let mut config = kube::Config::new(format!("http://{address}").parse().expect("an address"));
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}

/// Nothing comes true later that was never sent; a write that was sent before the connection broke may.
#[tokio::test]
async fn a_write_without_a_connection_is_waited_for_no_longer() {
    let (write, _) = server(Value::Null, 200).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let client = client_of(listener.local_addr().expect("its address"));
    let breaking = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.expect("a connection");
        let mut head = [0];
        tokio::io::AsyncReadExt::read_exact(&mut connection, &mut head).await.expect("a request");
    });
    for (about, may_come_true) in [("it breaks", true), ("nobody listens", false)] {
        let write = Write { client: client.clone(), open: OpenWrites::default(), ..write.clone() };
        let answer = call(&write, Method::POST, "/api/v1/pods", Form::Object, &json!({})).await;
        assert!(matches!(answer, Err(Failure::Unsure(_))), "{about}: {answer:?}");
        assert_eq!(write.open.left().is_some(), may_come_true, "{about}: {answer:?}");
    }
    breaking.await.expect("it does not panic");
}
