//! How old a watch takes its knowledge for, against servers that answer in ways of their own.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicU32, Ordering},
};

use axum::{body::Body as Content, response::Response};

use super::*;

/// A server's answer to the request of this number.
type Server = fn(u32) -> Response;

/// After this much silence nothing is decided any more.
const OLD: Duration = Duration::from_secs(150);

const LIST: &str = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":\
    {\"k8s.io/initial-events-end\":\"true\"}}}}\n";
const BOOKMARK: &str =
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\"}}}\n";

/// A stream of lines, each after a pause, which then is silent.
fn stream(lines: Vec<(u64, &'static str)>) -> Response {
    let lines = futures::stream::iter(lines).then(async |(seconds, line)| {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok::<_, Infallible>(line)
    });
    Response::new(Content::from_stream(lines.chain(futures::stream::pending())))
}

/// A whole list, and then silence.
fn list() -> Response {
    stream(vec![(0, LIST)])
}

fn refused(code: u16) -> Response {
    let mut answer = Response::new(Content::from("no"));
    *answer.status_mut() = StatusCode::from_u16(code).expect("a code");
    answer
}

/// The greatest age of what a watch of a kind knew in ten minutes after its first list.
async fn greatest_age(kind: Kind, server: Server) -> Duration {
    let count = Arc::new(AtomicU32::new(0));
    let service = tower::service_fn(move |_: Request<Body>| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok::<_, Infallible>(server(number)))
    });
    let (sender, mut receiver) = mpsc::channel(100);
    let (health, stop) = (Health::default(), CancellationToken::new());
    let resync = Arc::default();
    let source = Source { kind, path: String::from("/x"), selector: String::new(), resync };
    let client = Client::new(service, "default");
    let watching = tokio::spawn(watch(client, source, sender, health.clone(), stop.clone()));
    let taking = tokio::spawn(async move {
        while let Some(events) = receiver.recv().await {
            for event in events {
                if let Event::Resume(_, answer) = event {
                    let _ = answer.send(Some(String::from("7")));
                }
            }
        }
    });
    let mut greatest = Duration::ZERO;
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        greatest = greatest.max(health.watch_age());
    }
    stop.cancel();
    watching.await.expect("no panic").expect("only credentials end a watch");
    taking.await.expect("no panic");
    greatest
}

#[tokio::test(start_paused = true)]
async fn what_is_known_is_as_old_as_the_last_that_was_told() {
    let topology = Kind::Topology;
    // A case each: a kind, a server, whether what is known gets too old to decide on.
    let cases: [(&str, Kind, Server, bool); 6] = [
        (
            "bookmarks",
            Kind::Node,
            |_| stream([vec![(0, LIST)], vec![(60, BOOKMARK); 20]].concat()),
            false,
        ),
        (
            "a connection died",
            Kind::Node,
            |n| if n == 0 { list() } else { stream(vec![(61, BOOKMARK); 20]) },
            false,
        ),
        ("no news", Kind::Node, |n| if n == 0 { list() } else { stream(vec![]) }, true),
        (
            "required and forbidden",
            Kind::Node,
            |n| if n == 0 { list() } else { refused(403) },
            true,
        ),
        ("optional and gone", topology, |n| if n == 0 { list() } else { refused(404) }, false),
        ("optional and failing", topology, |n| if n == 0 { list() } else { refused(500) }, true),
    ];
    for (about, kind, server, is_old) in cases {
        let age = greatest_age(kind, server).await;
        assert_eq!(age > OLD, is_old, "{about}: {age:?}");
    }
}
