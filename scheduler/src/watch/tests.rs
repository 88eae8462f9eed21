//! Watches of servers that answer in ways of their own: the age of what is known, and what is asked for next.

use std::{convert::Infallible, sync::Mutex};

use axum::{body::Body as Content, response::Response};

use super::*;
use crate::server::page::PAGE_BYTES_MAX;

/// A server's answer to the request of this number.
type Server = fn(usize) -> Response;

/// After this much silence nothing is decided any more.
const OLD: Duration = Duration::from_secs(150);

const LIST: &str = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":\
    {\"k8s.io/initial-events-end\":\"true\"}}}}\n";
const BOOKMARK: &str =
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\"}}}\n";

const ADDED: &str =
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"6\"}}}\n";

/// A stream of lines, each after a pause, which then is silent.
fn stream(lines: Vec<(u64, &'static str)>) -> Response {
    let lines = futures::stream::iter(lines).then(async |(seconds, line)| {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok::<_, Infallible>(line)
    });
    Response::new(Content::from_stream(lines.chain(futures::stream::pending())))
}

/// A stream of this text that ends.
fn ended(text: &'static str) -> Response {
    Response::new(Content::from(text))
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

/// A watch, ten minutes after its first list.
struct Watched {
    /// The greatest age of what it knew.
    age: Duration,
    /// Its first requests: a list, or from where it goes on.
    asked: Vec<&'static str>,
    /// The events that it told, each once in a row.
    told: Vec<&'static str>,
}

/// Watches a kind at a server.
async fn watched(kind: Kind, server: Server) -> Watched {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let service = {
        let asked = Arc::clone(&asked);
        tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let mut asked = asked.lock().expect("nobody panics with it");
            let is_list = query.contains("sendInitialEvents=true") || !query.contains("watch=true");
            let is_resumed = query.contains("&resourceVersion=7");
            asked.push(match (is_list, is_resumed) {
                (true, false) => "list",
                (false, true) => "go on",
                _ => "neither",
            });
            std::future::ready(Ok::<_, Infallible>(server(asked.len() - 1)))
        })
    };
    let (sender, mut receiver) = mpsc::channel(100);
    let (health, stop) = (Health::default(), CancellationToken::new());
    let resync = Arc::default();
    let source = Source { kind, path: String::from("/x"), selector: String::new(), resync };
    let client = Client::new(service, "default");
    let watching = tokio::spawn(watch(client, source, sender, health.clone(), stop.clone()));
    let taking = tokio::spawn(async move {
        let mut told = Vec::new();
        while let Some(events) = receiver.recv().await {
            for event in events {
                told.push(match event {
                    Event::Begin(_) => "begin",
                    Event::End(..) => "end",
                    Event::Applied(..) => "applied",
                    Event::Deleted(..) => "deleted",
                    Event::Passed(..) => "passed",
                    Event::Kept(_) => "kept",
                    Event::Resume(_, answer) => {
                        let _ = answer.send(Some(String::from("7")));
                        "resume"
                    }
                });
            }
        }
        told
    });
    let mut greatest = Duration::ZERO;
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        greatest = greatest.max(health.watch_age().0);
    }
    stop.cancel();
    watching.await.expect("no panic").expect("only credentials end a watch");
    let mut told = taking.await.expect("no panic");
    told.dedup();
    let mut asked = std::mem::take(&mut *asked.lock().expect("nobody panics with it"));
    asked.truncate(3);
    Watched { age: greatest, asked, told }
}

#[tokio::test(start_paused = true)]
async fn what_is_known_is_as_old_as_the_last_that_was_told() {
    let topology = Kind::Topology;
    // A case each: a kind, a server, whether what is known gets too old to decide on.
    let cases: [(&str, Kind, Server, bool); 7] = [
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
        ("optional and forbidden", topology, |n| if n == 0 { list() } else { refused(403) }, false),
        ("optional and failing", topology, |n| if n == 0 { list() } else { refused(500) }, true),
    ];
    for (about, kind, server, is_old) in cases {
        let age = watched(kind, server).await.age;
        assert_eq!(age > OLD, is_old, "{about}: {age:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_have_been_missed_is_listed() {
    const GONE: &str = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}}\n";
    let cases: [(&str, Server, [&str; 3]); 6] = [
        (
            "a stream ended",
            |n| if n == 0 { ended(LIST) } else { list() },
            ["list", "go on", "go on"],
        ),
        (
            "the version is too old",
            |n| if n == 0 { ended(LIST) } else { refused(410) },
            ["list", "go on", "list"],
        ),
        (
            "it gets too old",
            |n| if n == 0 { ended(LIST) } else { ended(GONE) },
            ["list", "go on", "list"],
        ),
        (
            "a list broke off",
            |n| if n == 0 { ended("") } else { list() },
            ["list", "list", "go on"],
        ),
        (
            "tokens run out again and again",
            |n| if n % 2 == 0 { ended(LIST) } else { refused(401) },
            ["list", "go on", "list"],
        ),
        (
            "a line is torn",
            |n| if n == 0 { ended(LIST) } else { ended("{\"type\":") },
            ["list", "go on", "go on"],
        ),
    ];
    for (about, server, expected) in cases {
        assert_eq!(watched(Kind::Node, server).await.asked, expected, "{about}");
    }
}

/// Lists at a server whose pages of so many objects and more are too large, and that of one object is whole nevertheless; how
/// many were asked for each time.
async fn limits(too_large_from: u32) -> Vec<u32> {
    let limits = Arc::new(Mutex::new(Vec::new()));
    let service = {
        let limits = Arc::clone(&limits);
        tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let limit = query.split('&').find_map(|part| part.strip_prefix("limit=")?.parse().ok());
            let answer = match limit {
                None if query.contains("sendInitialEvents=true") => refused(400),
                None => stream(vec![]),
                Some(limit) => {
                    let mut limits = limits.lock().expect("nobody panics with it");
                    limits.push(limit);
                    page(limit, limits.len(), too_large_from)
                }
            };
            std::future::ready(Ok::<_, Infallible>(answer))
        })
    };
    let (sender, mut receiver) = mpsc::channel(100);
    let stop = CancellationToken::new();
    let (kind, path, resync) = (Kind::Node, String::from("/x"), Arc::default());
    let source = Source { kind, path, selector: String::new(), resync };
    let client = Client::new(service, "default");
    let watching = tokio::spawn(watch(client, source, sender, Health::default(), stop.clone()));
    let listed = async {
        while let Some(events) = receiver.recv().await {
            if events.iter().any(|event| matches!(event, Event::End(..))) {
                break;
            }
        }
    };
    // One that never ends is seen by its limits.
    let _ = timeout(Duration::from_mins(1), listed).await;
    stop.cancel();
    watching.await.expect("no panic").expect("only credentials end a watch");
    let limits = limits.lock().expect("nobody panics with it");
    limits.clone()
}

/// A page of so many objects: without end where it is too large, unless it is of one. Nobody asks ten times for a list.
fn page(limit: u32, asked: usize, too_large_from: u32) -> Response {
    const WHOLE: &str = "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}";
    let part = Ok::<_, Infallible>(" ".repeat(1 << 20));
    let parts = futures::stream::repeat(part);
    match limit {
        _ if asked > 10 => refused(500),
        1 => {
            let end = futures::stream::iter([Ok(String::from(WHOLE))]);
            Response::new(Content::from_stream(parts.take((PAGE_BYTES_MAX >> 20) + 1).chain(end)))
        }
        _ if limit >= too_large_from => Response::new(Content::from_stream(parts)),
        _ => ended(WHOLE),
    }
}

/// A user may make hundreds of objects of more than a megabyte, and a page of five hundred would be in memory at once.
#[tokio::test(start_paused = true)]
async fn a_page_that_is_too_large_is_asked_for_with_fewer_objects() {
    assert_eq!(limits(100).await, [500, 62]);
    assert_eq!(limits(2).await, [500, 62, 7, 1], "one object is taken however large it is");
}

#[tokio::test(start_paused = true)]
async fn what_comes_in_one_piece_is_told_in_its_order() {
    let told =
        watched(Kind::Node, |_| Response::new(Content::from(format!("{ADDED}{LIST}")))).await.told;
    assert_eq!(told[..3], ["begin", "applied", "end"]);
}

/// A kind that is not there at the start is empty; one that was there goes only when that lasts.
#[tokio::test(start_paused = true)]
async fn an_optional_kind_is_not_empty_for_a_refusal_that_passes() {
    const EMPTY: [&str; 2] = ["begin", "end"];
    let cases: [(&str, Server, Vec<&str>); 6] = [
        ("never served", |_| refused(404), EMPTY.repeat(3)),
        ("never allowed", |_| refused(403), EMPTY.repeat(3)),
        (
            "served again",
            |n| match n {
                0 => ended(LIST),
                1..4 => refused(404),
                _ => Response::new(Content::from(format!("{ADDED}{LIST}"))),
            },
            vec!["begin", "end", "resume", "kept", "begin", "applied"],
        ),
        (
            "not served any more",
            |n| if n == 0 { ended(LIST) } else { refused(404) },
            vec!["begin", "end", "resume", "kept", "begin", "end"],
        ),
        (
            "not served for a moment, and minutes later again",
            |n| match n {
                0 => ended(LIST),
                1 | 3 => refused(404),
                2 => stream(vec![(0, LIST), (70, BOOKMARK)]),
                _ => list(),
            },
            vec!["begin", "end", "resume", "kept", "begin", "end", "passed", "resume", "kept"],
        ),
        (
            "forbidden from now on",
            |n| if n == 0 { ended(LIST) } else { refused(403) },
            vec!["begin", "end", "resume", "kept"],
        ),
    ];
    for (about, server, expected) in cases {
        let mut told = watched(Kind::Topology, server).await.told;
        told.truncate(expected.len().max(6));
        assert_eq!(told, expected, "{about}");
    }
}

/// A list that is not streamed is whole only with its last page.
#[tokio::test(start_paused = true)]
async fn a_list_is_read_to_its_last_page() {
    const FIRST: &str =
        "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"more\"},\"items\":[{}]}";
    const LAST: &str =
        "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"\"},\"items\":[{}]}";
    let server: Server = |n| match n {
        0 => refused(400),
        1 => ended(FIRST),
        2 => ended(LAST),
        _ => stream(vec![]),
    };
    let Watched { asked, told, .. } = watched(Kind::Node, server).await;
    assert_eq!(asked, ["list", "list", "list"], "the streamed list, and two pages");
    assert_eq!(told[..3], ["begin", "applied", "end"]);
}

/// A server that does not know of streamed lists tells what there is and what changes, and never that this is all.
#[tokio::test(start_paused = true)]
async fn a_list_whose_end_does_not_come_is_asked_for_in_pages() {
    const PAGE: &str = "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{}]}";
    let server: Server = |n| match n {
        0 => stream(vec![(0, ADDED)]),
        1 => ended(PAGE),
        _ => stream(vec![]),
    };
    let Watched { asked, told, .. } = watched(Kind::Node, server).await;
    assert_eq!(asked, ["list", "list", "go on"], "the streamed list, a page, and what follows");
    assert_eq!(told[..5], ["begin", "applied", "begin", "applied", "end"]);
}

/// Large objects come in several pieces, which end anywhere.
#[tokio::test(start_paused = true)]
async fn a_line_that_comes_in_pieces_is_whole_with_the_last() {
    let server: Server = |n| {
        if n > 0 {
            return stream(vec![]);
        }
        let (begin, rest) = ADDED.split_at(20);
        let (middle, end) = rest.split_at(30);
        stream(vec![(0, begin), (1, middle), (1, end), (1, LIST)])
    };
    let told = watched(Kind::Node, server).await.told;
    assert!(told.starts_with(&["begin", "applied", "end"]), "{told:?}");
}

/// Watches a kind at a server for ten minutes. Gives what is looked at of each request.
async fn asked<T: Clone + Send + 'static>(
    kind: Kind,
    server: Server,
    look: fn(&Request<Body>) -> T,
) -> Vec<T> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let service = {
        let asked = Arc::clone(&asked);
        tower::service_fn(move |request: Request<Body>| {
            let mut asked = asked.lock().expect("nobody panics with it");
            asked.push(look(&request));
            std::future::ready(Ok::<_, Infallible>(server(asked.len() - 1)))
        })
    };
    let (sender, mut receiver) = mpsc::channel(100);
    let stop = CancellationToken::new();
    let (path, resync) = (String::from("/x"), Arc::default());
    let source = Source { kind, path, selector: String::new(), resync };
    let client = Client::new(service, "default");
    let watching = tokio::spawn(watch(client, source, sender, Health::default(), stop.clone()));
    let taking = async {
        while let Some(events) = receiver.recv().await {
            for event in events {
                if let Event::Resume(_, answer) = event {
                    let _ = answer.send(Some(String::from("7")));
                }
            }
        }
    };
    let _ = timeout(Duration::from_mins(10), taking).await;
    stop.cancel();
    watching.await.expect("no panic").expect("only credentials end a watch");
    let asked = asked.lock().expect("nobody panics with it");
    asked.clone()
}

/// Gives after how many seconds the server is to end a request; none where it is no watch.
fn seconds(request: &Request<Body>) -> Option<u32> {
    let mut parts = request.uri().query().unwrap_or_default().split('&');
    parts.find_map(|part| part.strip_prefix("timeoutSeconds=")?.parse().ok())
}

/// Gives the form of the answer that a request asks for.
fn form(request: &Request<Body>) -> Option<String> {
    let form = request.headers().get(header::ACCEPT)?;
    form.to_str().ok().map(String::from)
}

/// A server that is back after a silence tells nothing until its next bookmark, which comes soon where a watch ends soon.
#[tokio::test(start_paused = true)]
async fn a_watch_that_goes_on_after_a_silence_is_short() {
    let server: Server = |n| match n {
        0 => list(),
        3 => ended(BOOKMARK),
        _ => stream(vec![]),
    };
    let asked = asked(Kind::Node, server, seconds).await;
    let is_short = [0, 2, 3, 4].map(|at| asked[at] == Some(WATCH_SECONDS_ONCE));
    assert_eq!(is_short, [false, true, true, false], "{asked:?}");
}

/// All waits for what nothing can be decided without. What may not be read, and need not be, is seldom asked for.
#[tokio::test(start_paused = true)]
async fn what_nothing_can_be_decided_without_is_asked_for_often() {
    let cases: [(&str, Kind, Server, bool); 3] = [
        ("required and forbidden", Kind::Node, |_| refused(403), true),
        ("optional and forbidden", Kind::Topology, |_| refused(403), false),
        ("optional and failing", Kind::Topology, |_| refused(500), true),
    ];
    for (about, kind, server, is_often) in cases {
        // Every three seconds, or every half a minute.
        let asked = asked(kind, server, seconds).await.len();
        assert_eq!(asked > 120, is_often, "{about}: {asked} times");
    }
}

/// The data of all config maps of a cluster would be in memory otherwise.
#[tokio::test(start_paused = true)]
async fn of_some_kinds_only_the_metadata_is_asked_for() {
    // The streamed list, how it goes on, the streamed list again, and one in pages.
    let server: Server = |n| match n {
        0 => ended(LIST),
        1 => refused(410),
        2 => refused(400),
        _ => stream(vec![]),
    };
    let mut forms = asked(Kind::ConfigMap, server, form).await;
    forms.truncate(4);
    let expect = [METADATA, METADATA, METADATA, METADATA_LIST].map(|form| Some(form.to_owned()));
    assert_eq!(forms, expect);
}
