//! Checks what stands on a Lease after a process took it, and after it gave it back.

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::json;

use super::*;
use election::Observed;

const ELECTION: Mode = Mode::Election { retry: Duration::from_secs(2) };

/// The Lease as the server has it.
type Stored = Arc<Mutex<Record>>;

fn lock(stored: &Stored) -> MutexGuard<'_, Record> {
    stored.lock().expect("nobody panics with it")
}

/// Takes a Lease that somebody who yields gave back, at a server that takes whatever is written.
async fn held(mode: Mode) -> (Stored, Guard) {
    let before = released(ours(None, "lease", "before", Mode::Handover));
    let stored = Arc::new(Mutex::new(before));
    let server = tower::service_fn({
        let stored = Arc::clone(&stored);
        move |request: Request<Body>| {
            let stored = Arc::clone(&stored);
            async move {
                let is_read = *request.method() == Method::GET;
                let body = request.into_body().collect_bytes().await?;
                if !is_read {
                    *lock(&stored) = serde_json::from_slice(&body).expect("a Lease is written");
                }
                let answer = serde_json::to_vec(&*lock(&stored)).expect("a Lease is JSON");
                Ok::<_, kube::Error>(Response::new(Body::from(answer)))
            }
        }
    });
    let lease = Lease::new(Client::new(server, "default"), "default", "lease", mode);
    let guard = lease.acquire(Manner::Patient, &CancellationToken::new()).await;
    (stored, guard.expect("nobody stops it"))
}

#[tokio::test]
async fn only_who_yields_has_the_mark_of_it_on_the_lease() {
    for (mode, expect) in [(Mode::Handover, true), (ELECTION, false)] {
        let (stored, _guard) = held(mode).await;
        let Observed::Held { yields, .. } = observe(Some(&lock(&stored)), "another") else {
            panic!("it is held");
        };
        assert_eq!(yields, expect, "{mode:?}");
    }
}

/// A Lease that is refused now and then is one that works: it takes some minutes of refusals to go on without it.
#[tokio::test(start_paused = true)]
async fn refusals_long_apart_are_not_one_long_refusal() {
    let start = Instant::now();
    let server = tower::service_fn(move |request: Request<Body>| async move {
        let at = start.elapsed().as_secs();
        let is_read = *request.method() == Method::GET;
        let body = request.into_body().collect_bytes().await?;
        let mut record = ours(None, "lease", "another", ELECTION);
        record.metadata.resource_version = Some(at.to_string());
        let refused =
            json!({"status": "Failure", "reason": "Forbidden", "message": "", "code": 403});
        let (code, answer) = if matches!(at, 2 | 300) {
            (403, serde_json::to_vec(&refused))
        } else if at < 303 {
            (200, serde_json::to_vec(&record))
        } else if is_read {
            (200, serde_json::to_vec(&released(record)))
        } else {
            (200, Ok(body.to_vec()))
        };
        let answer = Body::from(answer.expect("a Lease is JSON"));
        let answer = Response::builder().status(code).body(answer);
        Ok::<_, kube::Error>(answer.expect("it is a response"))
    });
    let lease = Lease::new(Client::new(server, "default"), "default", "lease", Mode::Handover);
    let guard = lease.acquire(Manner::Patient, &CancellationToken::new()).await;
    assert!(matches!(guard, Some(Guard(Kind::Held(_)))), "it acts without the Lease: {guard:?}");
}

/// Whoever comes next takes the Lease then, and both would write.
#[tokio::test(start_paused = true)]
async fn who_works_without_the_lease_ends_once_it_can_be_used() {
    let start = Instant::now();
    let server = tower::service_fn(move |request: Request<Body>| async move {
        let is_read = *request.method() == Method::GET;
        let body = request.into_body().collect_bytes().await?;
        let refused =
            json!({"status": "Failure", "reason": "Forbidden", "message": "", "code": 403});
        let (code, answer) = if start.elapsed().as_secs() < 60 {
            (403, serde_json::to_vec(&refused))
        } else if is_read {
            let before = released(ours(None, "lease", "before", Mode::Handover));
            (200, serde_json::to_vec(&before))
        } else {
            (200, Ok(body.to_vec()))
        };
        let answer = Body::from(answer.expect("it is JSON"));
        let answer = Response::builder().status(code).body(answer);
        Ok::<_, kube::Error>(answer.expect("it is a response"))
    });
    let lease = Lease::new(Client::new(server, "default"), "default", "lease", Mode::Handover);
    let stop = CancellationToken::new();
    let guard = lease.acquire(Manner::Newest, &stop).await.expect("nobody stops it");
    assert_eq!(guard.check().await, Ok(None), "it could never be used");
    let kept = timeout(Duration::from_mins(2), guard.keep(&stop)).await;
    assert_eq!(kept, Ok(Err(Lost)));
    assert!((60..66).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    assert_eq!(guard.check().await, Err(Lost), "it may write no more");
}

/// A server of one Lease, which is another's that yields, with versions as they guard writes.
fn guarded() -> Client {
    let before = ours(None, "lease", "before", Mode::Handover);
    let stored = Arc::new(Mutex::new((0_u32, before)));
    let server = tower::service_fn(move |request: Request<Body>| {
        let stored = Arc::clone(&stored);
        async move {
            let is_read = *request.method() == Method::GET;
            let body = request.into_body().collect_bytes().await?;
            sleep(Duration::from_millis(5)).await;
            let mut stored = stored.lock().expect("nobody panics with it");
            let written = |body| serde_json::from_slice::<Record>(body).expect("a Lease");
            let version = stored.0.to_string();
            let is_taken = !is_read && {
                let written = written(&body);
                let fits = written.metadata.resource_version.as_ref() == Some(&version);
                if fits {
                    *stored = (stored.0 + 1, written);
                }
                fits
            };
            let conflict =
                json!({"status": "Failure", "reason": "Conflict", "message": "", "code": 409});
            stored.1.metadata.resource_version = Some(stored.0.to_string());
            let (code, answer) = if is_read || is_taken {
                (200, serde_json::to_vec(&stored.1))
            } else {
                (409, serde_json::to_vec(&conflict))
            };
            let answer = Body::from(answer.expect("it is JSON"));
            let answer = Response::builder().status(code).body(answer);
            Ok::<_, kube::Error>(answer.expect("it is a response"))
        }
    });
    Client::new(server, "default")
}

/// Two that push each other out in turn would never begin, or end what the other has begun. Nobody renews the Lease here, so that
/// the one that waits begins as well in the end.
#[tokio::test(start_paused = true)]
async fn of_two_that_start_together_one_begins_and_goes_on() {
    for apart_ms in (0..2000).step_by(50) {
        let client = guarded();
        let mut starting = tokio::task::JoinSet::new();
        for start_ms in [0, apart_ms] {
            let lease = Lease::new(client.clone(), "default", "lease", Mode::Handover);
            starting.spawn(async move {
                sleep(Duration::from_millis(start_ms)).await;
                lease.acquire(Manner::Newest, &CancellationToken::new()).await
            });
        }
        sleep(Duration::from_secs(30)).await;
        let (mut begun, mut holders) = (0, 0);
        while let Some(Ok(guard)) = starting.try_join_next() {
            let guard = guard.expect("nobody stops it");
            begun += 1;
            holders += usize::from(guard.check().await.is_ok());
        }
        assert_eq!((begun, holders), (2, 1), "{apart_ms} ms apart");
    }
}

#[test]
fn who_takes_a_lease_has_it_since_then() {
    let before = ours(None, "lease", "before", ELECTION);
    let spec = before.spec.clone().expect("it is held");
    assert!(spec.acquire_time.is_some() && spec.acquire_time == spec.renew_time);
    let mut long_held = before;
    long_held.spec.get_or_insert_default().acquire_time = None;
    let spec = ours(Some(long_held), "lease", "after", ELECTION).spec.expect("it is held");
    assert!(spec.acquire_time.is_some() && spec.acquire_time == spec.renew_time);
}

#[tokio::test]
async fn only_what_is_ours_is_given_back() {
    for (taken_by, left) in [(None, ""), (Some("another"), "another")] {
        let (stored, guard) = held(ELECTION).await;
        if let Some(other) = taken_by {
            let record = ours(Some(lock(&stored).clone()), "lease", other, ELECTION);
            *lock(&stored) = record;
        }
        guard.release().await;
        let holder = lock(&stored).spec.clone().and_then(|spec| spec.holder_identity);
        assert_eq!(holder.as_deref(), Some(left));
    }
}

/// A Lease of zero seconds could be taken at the second look, while its holder renews it and writes.
#[test]
fn a_lease_that_does_not_say_how_long_it_holds_does_so_for_as_long_as_ours() {
    for (seconds, expect) in [(None, 15), (Some(4), 4), (Some(-1), 0)] {
        let mut record = ours(None, "lease", "a", ELECTION);
        record.spec.get_or_insert_default().lease_duration_seconds = seconds;
        let Observed::Held { duration, .. } = observe(Some(&record), "another") else {
            panic!("it is held");
        };
        assert_eq!(duration, Duration::from_secs(expect), "{seconds:?}");
    }
}
