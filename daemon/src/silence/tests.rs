//! Servers that fall silent at some point, and when a client gives them up.

use std::convert::Infallible;

use axum::{body::Body as Content, response::Response};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::WatchParams};
use tokio::time::{Instant, sleep};

use super::*;

const BOOKMARK: &str = "{\"type\":\"BOOKMARK\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":\
    {\"resourceVersion\":\"8\",\"creationTimestamp\":null}}}\n";

/// A server that sends a bookmark at each of these pauses, and then nothing.
fn server(head_after: Duration, pauses: Vec<u64>) -> Client {
    let service = tower::service_fn(move |_: Request<Body>| {
        let lines = stream::iter(pauses.clone()).then(async |seconds| {
            sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Infallible>(BOOKMARK)
        });
        let body = Content::from_stream(lines.chain(stream::pending()));
        async move {
            sleep(head_after).await;
            Ok::<_, Infallible>(Response::new(body))
        }
    });
    bounded(Client::new(service, "default"))
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_ends() {
    let cases = [
        ("no answer", 1000, vec![], 30),
        ("silence at once", 1, vec![], 76),
        ("bookmarks, then silence", 1, vec![60, 60, 60], 256),
    ];
    for (about, head_after, pauses, seconds) in cases {
        let client = server(Duration::from_secs(head_after), pauses);
        let began = Instant::now();
        let pods: Api<Pod> = Api::all(client);
        let ended = match pods.watch(&WatchParams::default(), "7").await {
            Ok(events) => events.try_for_each(|_| std::future::ready(Ok(()))).await,
            Err(error) => Err(error),
        };
        assert!(ended.is_err(), "{about}");
        assert_eq!(began.elapsed().as_secs(), seconds, "{about}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_has_as_long_as_a_server_works_on_it() {
    for (seconds, is_answered) in [(60, true), (100, false)] {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Infallible>(Response::new(Content::from("{}")))
        });
        let client = bounded(Client::new(service, "default"));
        let request = Request::get("/version").body(Body::empty()).expect("a request");
        assert_eq!(client.send(request).await.is_ok(), is_answered, "{seconds} s");
    }
}
