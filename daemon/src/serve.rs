//! Ports: health and metrics over HTTP, and what every port has in common.
//!
//! Whoever reaches a port may ask, so that everything a connection can use is bounded.

mod accept;
mod places;

use std::fmt::Display;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use accept::{Bounds, accept, hold};
pub use places::Peer;

/// Bounds of health and metrics: kubelets ask over a connection each time, Prometheus over one.
const BOUNDS: Bounds = Bounds {
    connections: 64,
    first: Duration::from_secs(10),
    idle: Duration::from_secs(30),
    answer: Duration::from_secs(30),
};
/// A text of metrics is answered for as many times as long as it took to make: they take a tenth of a thread at most.
const KEPT_TIMES: u32 = 9;
/// Texts in memory, as long as somebody has not read them; who asks meanwhile is answered with the last of them.
const TEXTS_MAX: usize = 4;

/// The address cannot be listened on.
#[derive(thiserror::Error, Debug)]
#[error("failed to listen on {address} ({flag})")]
pub struct Error {
    /// The address that was asked for.
    pub address: String,
    /// The flag that asks for it.
    pub flag: &'static str,
    /// The reason.
    pub source: io::Error,
}

/// A listener that is bound and not yet served: a wrong address is found before anything else starts.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    /// Address that it listens on, with the port that it got.
    pub local: SocketAddr,
}

/// Writes an address as Go reads it: without a host it means every one, as in `:8080`.
pub fn full_address(address: &str) -> String {
    if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() }
}

impl Listener {
    /// Binds an address, `HOST:PORT` or `:PORT`; port 0 picks a free one. `flag` is what asked for it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn bind(address: &str, flag: &'static str) -> Result<Self, Error> {
        let failed = |source| Error { address: address.to_owned(), flag, source };
        let listener = TcpListener::bind(full_address(address)).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, local })
    }

    /// Serves until `stop`, and then what was asked before.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        accept(self, BOUNDS, |stream| ready(Ok(stream)), router, stop).await;
    }
}

/// Answers `/healthz` and `/livez` with `ok`, and `/readyz` with what `problem` says, or `ok` where it says nothing.
pub fn health(problem: impl Fn() -> Option<String> + Clone + Send + Sync + 'static) -> Router {
    let ready = async move || match problem() {
        None => (StatusCode::OK, String::from("ok")),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, problem),
    };
    Router::new()
        .route("/healthz", get(async || "ok"))
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(ready))
}

/// Answers `/metrics` with a text in Prometheus' format, or 500 with the reason where there is none.
pub fn metrics<E: Display>(
    text: impl Fn() -> Result<Vec<u8>, E> + Clone + Send + Sync + 'static,
) -> Router {
    let texts = Arc::new(Mutex::new(Texts::default()));
    let answer = async move || {
        let kind = |kind| [(header::CONTENT_TYPE, kind)];
        // One is made at a time, and whoever waits for it has it too.
        match texts.lock().await.last(text) {
            Ok(text) => (StatusCode::OK, kind("text/plain; version=0.0.4"), text),
            Err(error) => {
                tracing::warn!(%error, "failed to encode the metrics");
                let text = format!("failed to encode the metrics: {error}\n");
                (StatusCode::INTERNAL_SERVER_ERROR, kind("text/plain"), Bytes::from(text))
            }
        }
    };
    Router::new().route("/metrics", get(answer))
}

/// Holds the texts of metrics that are being read, and the last one.
#[derive(Debug, Default)]
struct Texts {
    texts: Vec<Bytes>,
    /// The time up to which the last one is new enough.
    until: Option<Instant>,
}

impl Texts {
    /// Gives the last text, or makes one anew.
    fn last<E>(&mut self, make: impl Fn() -> Result<Vec<u8>, E>) -> Result<Bytes, E> {
        let began = Instant::now();
        let last = self.texts.pop();
        self.texts.retain(|text| !text.is_unique());
        self.texts.extend(last);
        let is_new = self.until.is_some_and(|until| began < until);
        if let Some(last) = self.texts.last()
            && (is_new || self.texts.len() >= TEXTS_MAX)
        {
            return Ok(last.clone());
        }
        // Nobody reads it any more, or it counts among those that are read.
        self.texts.retain(|text| !text.is_unique());
        let text = Bytes::from(make()?);
        self.texts.push(text.clone());
        let end = Instant::now();
        self.until = Some(end + (end - began) * KEPT_TIMES);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio::sync::Notify;
    use tokio::time::timeout;
    use tower::ServiceExt as _;

    use super::*;

    /// Serves health, and a text of metrics; counts how often it is made.
    async fn listen(
        size: usize,
        stop: &CancellationToken,
        bounds: Bounds,
    ) -> (SocketAddr, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let router = health(|| None).merge(metrics(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(vec![b'x'; size])
        }));
        let listener = Listener::bind("127.0.0.1:0", "--flag").await.expect("a port");
        let local = listener.local;
        let shake = |stream| ready(Ok(stream));
        tokio::spawn(accept(listener, bounds, shake, router, stop.clone()));
        (local, made)
    }

    async fn write(address: SocketAddr, text: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        // It may be refused before all is written.
        let _ = stream.write_all(text).await;
        stream
    }

    /// Reads to the end, also where it is one without leave.
    async fn rest(mut stream: TcpStream) -> Vec<u8> {
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        text
    }

    async fn is_healthy(address: SocketAddr) -> bool {
        let question = b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        let answer = async { rest(write(address, question).await).await };
        let answer = timeout(Duration::from_secs(5), answer).await.unwrap_or_default();
        answer.starts_with(b"HTTP/1.1 200") && answer.ends_with(b"ok")
    }

    #[tokio::test]
    async fn who_comes_is_answered_whatever_others_leave_open() {
        let stop = CancellationToken::new();
        let _end = stop.clone().drop_guard();
        let (address, made) = listen(8 << 20, &stop, BOUNDS).await;
        let mut open = Vec::new();
        for question in [&b"GET /"[..], b"", b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"] {
            for _ in 0..BOUNDS.connections {
                open.push(write(address, question).await);
            }
            assert!(is_healthy(address).await, "{}", question.escape_ascii());
        }
        assert!((1..=TEXTS_MAX).contains(&made.load(Ordering::Relaxed)));
        // The oldest had to go.
        let first = timeout(Duration::from_secs(5), rest(open.remove(0))).await;
        assert_eq!(first.ok(), Some(Vec::new()));
    }

    /// A daemon that is not ready is sent no requests, and is not started again for that.
    #[tokio::test]
    async fn who_is_not_ready_says_why_and_is_alive() {
        for (problem, code, text) in [(Some("no caches"), 503, "no caches"), (None, 200, "ok")] {
            let router = health(move || problem.map(str::to_owned));
            for (path, code, text) in
                [("/readyz", code, text), ("/livez", 200, "ok"), ("/healthz", 200, "ok")]
            {
                let question = Request::get(path).body(Body::empty()).expect("a question");
                let answer = router.clone().oneshot(question).await.expect("an answer");
                assert_eq!(answer.status().as_u16(), code, "{path}: {problem:?}");
                let body = to_bytes(answer.into_body(), 100).await.expect("a text");
                assert_eq!(&*body, text.as_bytes(), "{path}: {problem:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_head_has_a_length() {
        let stop = CancellationToken::new();
        let _end = stop.clone().drop_guard();
        let (address, _) = listen(1, &stop, BOUNDS).await;
        let question = [b"GET / HTTP/1.1\r\nx: ", &*vec![b'a'; 64 << 10]].concat();
        let refused = timeout(BOUNDS.first / 2, rest(write(address, &question).await)).await;
        let refused = refused.expect("it ends");
        assert!(refused.is_empty() || refused.starts_with(b"HTTP/1.1 431"), "{refused:?}");
    }

    /// A connection that asks in time is answered again and again.
    #[tokio::test]
    async fn a_connection_ends_where_nothing_goes_on() {
        let stop = CancellationToken::new();
        let _end = stop.clone().drop_guard();
        let (long, short) = (Duration::from_mins(1), Duration::from_millis(100));
        let all = Bounds { connections: 8, first: long, idle: long, answer: long };
        let metrics = "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n";
        for (text, bounds) in [
            ("GET /", Bounds { first: short, ..all }),
            ("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n", Bounds { idle: short, ..all }),
            (metrics, Bounds { answer: short, ..all }),
        ] {
            let (address, _) = listen(64 << 20, &stop, bounds).await;
            let stream = write(address, text.as_bytes()).await;
            tokio::time::sleep(short * 5).await;
            let answer = timeout(Duration::from_secs(10), rest(stream)).await.expect("it ends");
            assert!(answer.len() < 64 << 20, "{text}");
        }
        let (address, _) = listen(1, &stop, all).await;
        let mut stream = write(address, b"").await;
        for _ in 0..3 {
            stream.write_all(metrics.as_bytes()).await.expect("it is open");
            let mut answer = vec![0; 1 << 10];
            let size = stream.read(&mut answer).await.expect("it is open");
            assert!(answer[..size].starts_with(b"HTTP/1.1 200"));
        }
    }

    /// The API server would refuse what a question that is cut off was about.
    #[tokio::test]
    async fn what_was_asked_before_the_end_is_answered() {
        let (asked, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let answer = {
            let (asked, goes_on) = (asked.clone(), goes_on.clone());
            async move || {
                asked.notify_one();
                goes_on.notified().await;
                "done"
            }
        };
        let listener = Listener::bind("127.0.0.1:0", "--flag").await.expect("a port");
        let (address, stop) = (listener.local, CancellationToken::new());
        let router = Router::new().route("/slow", get(answer));
        let serving = tokio::spawn(listener.serve(router, stop.clone()));
        let stream = write(address, b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n").await;
        asked.notified().await;
        stop.cancel();
        // The server sees its end before the answer is there.
        tokio::time::sleep(Duration::from_millis(100)).await;
        goes_on.notify_one();
        let answer = timeout(Duration::from_secs(10), rest(stream)).await.expect("it ends");
        assert!(answer.ends_with(b"done"), "{}", answer.escape_ascii());
        timeout(Duration::from_secs(10), serving).await.expect("it ends").expect("no panic");
    }

    #[test]
    fn metrics_are_made_as_often_as_they_may_cost() {
        let made = AtomicUsize::new(0);
        let make = |pause: u64| {
            std::thread::sleep(Duration::from_millis(pause));
            made.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(vec![b'x'; 100])
        };
        let mut texts = Texts::default();
        for _ in 0..10 {
            texts.last(|| make(100)).expect("a text");
        }
        assert_eq!(made.load(Ordering::Relaxed), 1, "it costs much, and is kept for 0.9 s");
        let mut texts = Texts::default();
        let mut read = Vec::new();
        for _ in 0..10 {
            texts.until = None;
            read.push(texts.last(|| make(0)).expect("a text"));
        }
        assert_eq!(made.load(Ordering::Relaxed), 1 + TEXTS_MAX, "nobody has read the others");
        read.clear();
        for _ in 0..10 {
            texts.until = None;
            drop(texts.last(|| make(0)).expect("a text"));
        }
        assert_eq!(made.load(Ordering::Relaxed), 11 + TEXTS_MAX);
        assert_eq!(texts.texts.len(), 1);
    }
}
