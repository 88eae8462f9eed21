//! A scheduler that hears nothing decides nothing: what it knows may be untrue by now. What time alone makes due waits
//! until it hears again. The clock is tokio's.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use futures::stream::unfold;
use http::Request;
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kai_tests::alone::Alone;
use kube::{Client, client::Body};
use tokio::time::sleep;
use tokio_util::bytes::Bytes;

/// A way to the API server whose watches can be made silent: those that are open, and those that are asked for.
#[derive(Clone, Default)]
struct Way(Arc<AtomicBool>);

impl Way {
    fn set_silent(&self, is_silent: bool) {
        self.0.store(is_silent, Ordering::SeqCst);
    }

    fn client(&self, inner: Client) -> Client {
        let way = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (way, inner) = (way.clone(), inner.clone());
            async move {
                let is_watch =
                    request.uri().query().is_some_and(|query| query.contains("watch=true"));
                if is_watch && way.0.load(Ordering::SeqCst) {
                    return pending().await;
                }
                let answer: kube::Result<_> = inner.send(request).await;
                Ok::<_, kube::Error>(
                    answer?.map(
                        |body| {
                            if is_watch { way.quiet(body) } else { body.boxed_unsync() }
                        },
                    ),
                )
            }
        });
        Client::new(service, "default")
    }

    /// Loses what of a body comes while it is silent: the server ends no watch that has something to say.
    fn quiet(self, body: Body) -> UnsyncBoxBody<Bytes, kube::Error> {
        let frames = unfold((body, self), async |(mut body, way)| {
            let frame = body.frame().await?;
            if way.0.load(Ordering::SeqCst) {
                return pending().await;
            }
            Some((frame, (body, way)))
        });
        StreamBody::new(frames).boxed_unsync()
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_due_waits_until_the_scheduler_hears_again() -> Result<()> {
    let way = Way::default();
    let flags = ["--default-staleness-grace-period=5m"];
    let alone = Alone::start("1xH100:8", &flags, |client| way.client(client)).await?;
    alone.group("gang", 2, "train").await?;
    for name in ["gang-0", "gang-1"] {
        alone.pod(name, "gang", "1").await?;
    }
    sleep(Duration::from_secs(30)).await;
    ensure!(alone.is_bound("gang-1").await?, "the gang runs");
    alone.delete("gang-0").await?;
    // It hears that a pod is gone, and that the rest of the gang has five minutes; nothing more.
    sleep(Duration::from_secs(30)).await;
    way.set_silent(true);
    sleep(Duration::from_mins(20)).await;
    ensure!(alone.is_bound("gang-1").await?, "a pod was evicted on old news");
    way.set_silent(false);
    sleep(Duration::from_mins(2)).await;
    ensure!(!alone.is_bound("gang-1").await?, "nothing is due, so nothing was tried");
    alone.end().await
}
