//! One watch per kind; what it reads goes to the receiver as bytes, one object each.
//!
//! A watch asks for a streamed initial list (`sendInitialEvents`), and falls back to paged lists
//! where the server does not know it. Either way the receiver is told when a full list begins and
//! ends, so that what was not in it is known to be gone: no phantoms after a gap. A watch that is
//! silent for longer than the server's bookmarks is taken for dead. Where to resume is asked of
//! the receiver, who alone reads versions, and so knows what it has taken in.
//!
//! ```text
//! begin ─► object, object, … ─► end ─► applied, deleted, …   (stream ends: resume)
//!   ▲                                                 │
//!   └──────── 410, or an error of the server ─────────┘
//! ```

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use kai_daemon::{
    backoff_to, chance,
    silence::{ANSWER_MAX, SILENCE_MAX},
};
use kube::{Client, client::Body};
use serde::Deserialize;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    ingest::Kind,
    serve::health::Health,
    server::{
        page::{PageSize, within},
        wire::Text,
    },
};

mod line;

use line::{Line, Problem};

/// Says what a watch tells.
#[derive(Debug)]
pub enum Event {
    /// A full list begins: what is not applied until its end is gone.
    Begin(Kind),
    /// The full list is complete; it is of this version.
    End(Kind, String),
    /// An object is as given.
    Applied(Kind, Bytes),
    /// An object is gone.
    Deleted(Kind, Bytes),
    /// Nothing more came before this version.
    Passed(Kind, String),
    /// A full list cannot be had for now: what is known stays.
    Kept(Kind),
    /// Resumes from here; none: with a full list.
    Resume(Kind, oneshot::Sender<Option<String>>),
}

/// Says where a kind is found.
#[derive(Clone, Debug)]
pub struct Source {
    /// The kind of its objects.
    pub kind: Kind,
    /// The path of the collection.
    pub path: String,
    /// Query parameters that narrow the collection, encoded, each with its `&`.
    pub selector: String,
    /// Asks for a full list.
    pub resync: Arc<Notify>,
}

/// The server ends a watch after this time; spread, so that not all end at once.
const WATCH_SECONDS: std::ops::Range<u32> = 240..480;
/// The same for a watch that goes on after a silence: shortly before its end it gets a bookmark, and so what is known is
/// fresh again seconds after the server is back.
const WATCH_SECONDS_ONCE: u32 = 10;
/// The longest pause of a watch that nothing waits for.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// While the server does not answer, or does not let us read what nothing can be decided without, it is asked this often
/// at least: all waits for it.
const RECONNECT_MAX: Duration = Duration::from_secs(3);
/// A stream that lasted for this long was healthy: its end is no failure.
const HEALTHY_MIN: Duration = Duration::from_secs(5);
/// Forms of answers that leave out all but the metadata.
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
/// An optional kind that was there counts as absent after so long without it: an API server that starts, or one of several that
/// is behind the others, does not know every kind. It is shorter than what was heard stays fit to decide on.
const ABSENT_MIN: Duration = Duration::from_mins(1);
/// An expired token is read anew by the client; one that is refused this often stays refused.
const UNAUTHORIZED_MAX: u32 = 3;

/// Says why a watch stopped for good.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The API server does not accept our credentials.
    #[error("failed to watch {path}: the API server refuses the credentials (401)")]
    Unauthorized {
        /// The collection.
        path: String,
    },
}

/// Watches one collection until `stop` or until the receiver is gone.
///
/// # Errors
/// Only what no retry can mend; everything else is retried with growing pauses and reported to
/// `health`.
pub async fn watch(
    client: Client,
    source: Source,
    events: mpsc::Sender<Vec<Event>>,
    health: Health,
    stop: CancellationToken,
) -> Result<(), Error> {
    let resync = Arc::clone(&source.resync);
    let mut watch = Watch {
        client,
        source,
        events,
        health,
        streams_lists: true,
        must_list: true,
        listing: false,
        has_list: false,
        absent_since: None,
        said_forbidden: false,
    };
    let mut failures = 0;
    let mut unauthorized = 0;
    loop {
        let started = Instant::now();
        let problem = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            () = resync.notified() => Problem::Expired,
            problem = watch.turn() => problem,
        };
        watch.must_list = match &problem {
            Problem::Closed => return Ok(()),
            Problem::Ended | Problem::Broken(_) => watch.listing,
            Problem::Expired | Problem::ListsNotStreamed | Problem::Refused { .. } => true,
        };
        if matches!(problem, Problem::ListsNotStreamed) {
            watch.streams_lists = false;
        }
        let is_unauthorized = matches!(problem, Problem::Refused { code: 401, .. });
        unauthorized = if is_unauthorized { unauthorized + 1 } else { 0 };
        if unauthorized == UNAUTHORIZED_MAX {
            return Err(Error::Unauthorized { path: watch.source.path.clone() });
        }
        watch.report(&problem).await;
        failures = if started.elapsed() > HEALTHY_MIN { 0 } else { failures + 1 };
        let is_refused = matches!(problem, Problem::Refused { code: 400..500, .. });
        let is_doubtful = watch.absent_since.is_some();
        let is_waited_for = watch.source.kind.is_required() || !is_refused || is_doubtful;
        let pause_max = if is_waited_for { RECONNECT_MAX } else { PAUSE_MAX };
        let is_expected = matches!(problem, Problem::ListsNotStreamed | Problem::Expired);
        if is_expected && failures < 3 {
            continue;
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(backoff_to(failures, pause_max)) => {}
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts of one watch")]
struct Watch {
    client: Client,
    source: Source,
    events: mpsc::Sender<Vec<Event>>,
    health: Health,
    streams_lists: bool,
    /// A full list is due.
    must_list: bool,
    /// A full list has begun and not ended.
    listing: bool,
    /// The receiver has a full list that the server gave.
    has_list: bool,
    /// Since when the server does not know the kind of that list.
    absent_since: Option<Instant>,
    /// That it may not be read was said.
    said_forbidden: bool,
}

impl Watch {
    /// Lists where that is due, then watches until the stream ends. It says why it ended.
    async fn turn(&mut self) -> Problem {
        match self.list_and_stream().await {
            Ok(()) => Problem::Ended,
            Err(problem) => problem,
        }
    }

    async fn list_and_stream(&mut self) -> Result<(), Problem> {
        let resume = if self.must_list { None } else { self.resume().await? };
        match resume {
            Some(version) => self.stream(&format!("&resourceVersion={version}")).await,
            None if self.streams_lists => {
                self.listing = true;
                self.stream("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").await
            }
            None => {
                let version = self.list().await?;
                self.stream(&format!("&resourceVersion={version}")).await
            }
        }
    }

    /// The version up to which the receiver has taken everything in.
    async fn resume(&self) -> Result<Option<String>, Problem> {
        let (sender, receiver) = oneshot::channel();
        self.send(vec![Event::Resume(self.source.kind, sender)]).await?;
        receiver.await.map_err(|_| Problem::Closed)
    }

    /// Reads pages until the last; gives the version of the whole.
    async fn list(&mut self) -> Result<String, Problem> {
        let kind = self.source.kind;
        self.listing = true;
        self.send(vec![Event::Begin(kind)]).await?;
        let (mut next, mut size) = (String::new(), PageSize::default());
        loop {
            let query = format!("?limit={}{next}{}", size.limit(), self.source.selector);
            let body = self.request(&query).await?;
            let page = timeout(ANSWER_MAX, within(body, size.bytes_max())).await;
            let page = page.map_err(|_| Problem::silent())?.map_err(Problem::broken)?;
            let Some(page) = page else {
                size.shrink();
                continue;
            };
            size.grow();
            let (objects, meta) = line::page(&page)?;
            self.send(objects.into_iter().map(|bytes| Event::Applied(kind, bytes)).collect())
                .await?;
            match meta.continue_token {
                Some(token) if !token.is_empty() => next = format!("&continue={token}"),
                Some(_) | None => {
                    self.end_list(meta.resource_version.clone()).await?;
                    return Ok(meta.resource_version);
                }
            }
        }
    }

    async fn end_list(&mut self, version: String) -> Result<(), Problem> {
        (self.listing, self.has_list) = (false, true);
        self.send(vec![Event::End(self.source.kind, version)]).await?;
        self.health.heard(self.source.kind.name());
        self.health.synced(self.source.kind.name());
        Ok(())
    }

    /// Reads a watch until it ends.
    async fn stream(&mut self, resume: &str) -> Result<(), Problem> {
        let is_stale = self.health.age(self.source.kind.name()) > SILENCE_MAX;
        let seconds = if is_stale { WATCH_SECONDS_ONCE } else { chance::among(WATCH_SECONDS) };
        let selector = &self.source.selector;
        let query = format!(
            "?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}{resume}{selector}"
        );
        let mut body = match self.request(&query).await {
            Err(Problem::Refused { code: 400 | 422, .. }) if self.listing => {
                return Err(Problem::ListsNotStreamed);
            }
            answer => answer?.into_data_stream(),
        };
        if self.listing {
            self.send(vec![Event::Begin(self.source.kind)]).await?;
        }
        let mut unread = BytesMut::new();
        loop {
            // A server that ignores the request for a list sends no end of it either.
            let patience = if self.listing { ANSWER_MAX } else { SILENCE_MAX };
            let frame = match timeout(patience, body.next()).await {
                Err(_) if self.listing => return Err(Problem::ListsNotStreamed),
                // Nothing is lost by asking again where it went on.
                Err(_) | Ok(None) => return Ok(()),
                Ok(Some(Err(error))) => return Err(Problem::broken(error)),
                Ok(Some(Ok(frame))) => frame,
            };
            self.health.heard(self.source.kind.name());
            self.read(&mut unread, &frame).await?;
        }
    }

    /// Hands on the whole lines of what has come; what is left waits in `unread`.
    async fn read(&mut self, unread: &mut BytesMut, frame: &Bytes) -> Result<(), Problem> {
        let text = if unread.is_empty() {
            frame.clone()
        } else {
            unread.extend_from_slice(frame);
            unread.split().freeze()
        };
        let kind = self.source.kind;
        let mut events = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &text) {
            let bytes = text.slice(start..end);
            start = end + 1;
            if bytes.is_empty() {
                continue;
            }
            match line::decode(&bytes)? {
                Line::Applied(object) => events.push(Event::Applied(kind, object)),
                Line::Deleted(object) => events.push(Event::Deleted(kind, object)),
                Line::Bookmark { version, ends_list: true } if self.listing => {
                    self.send(std::mem::take(&mut events)).await?;
                    self.end_list(version).await?;
                }
                Line::Bookmark { version, .. } => events.push(Event::Passed(kind, version)),
            }
        }
        unread.extend_from_slice(&text[start..]);
        self.send(events).await
    }

    async fn request(&mut self, query: &str) -> Result<Body, Problem> {
        let uri = format!("{}{query}", self.source.path);
        let mut request = Request::get(uri);
        if self.source.kind.is_metadata_only() {
            let form = if query.contains("watch=true") { METADATA } else { METADATA_LIST };
            request = request.header(header::ACCEPT, form);
        }
        let request = request.body(Body::empty()).map_err(Problem::broken)?;
        let answer = timeout(ANSWER_MAX, self.client.send(request)).await;
        let answer = answer.map_err(|_| Problem::silent())?.map_err(Problem::broken)?;
        let (parts, body) = answer.into_parts();
        if parts.status.is_success() {
            self.said_forbidden = false;
            self.health.answered(self.source.kind.name());
            return Ok(body);
        }
        let text = timeout(ANSWER_MAX, body.collect()).await.map_err(|_| Problem::silent())?;
        let text = text.map_err(Problem::broken)?.to_bytes();
        Err(refusal(parts.status, &text))
    }

    async fn send(&self, events: Vec<Event>) -> Result<(), Problem> {
        if events.is_empty() {
            return Ok(());
        }
        self.events.send(events).await.map_err(|_| Problem::Closed)
    }

    /// Says once per change what is wrong, and has an optional API that cannot be read be as it was, or as empty.
    async fn report(&mut self, problem: &Problem) {
        let kind = self.source.kind;
        if !matches!(problem, Problem::Refused { code: 404, .. }) {
            self.absent_since = None;
        }
        match problem {
            Problem::Refused { code: 403, .. } if !kind.is_required() => {
                self.forbidden(problem).await;
            }
            Problem::Refused { code: 404, .. } if !kind.is_required() => {
                self.absent(problem).await;
            }
            Problem::Ended | Problem::Closed => {}
            Problem::Expired | Problem::ListsNotStreamed => {
                tracing::debug!(%kind, %problem, "listing anew");
            }
            Problem::Refused { .. } | Problem::Broken(_) => {
                if self.health.failed(kind.name(), &problem.to_string()) {
                    tracing::warn!(%kind, path = self.source.path, %problem, "failed to watch");
                }
            }
        }
    }
}

impl Watch {
    /// An optional kind may not be read. What was read before stays, for as long as that lasts: the right may be missing for
    /// a moment, and its objects are there.
    async fn forbidden(&mut self, problem: &Problem) {
        let kind = self.source.kind;
        if !std::mem::replace(&mut self.said_forbidden, true) {
            let reads_as = if self.has_list { "as it was read last" } else { "empty" };
            tracing::warn!(%kind, path = self.source.path, %problem, reads_as, "it may not be read");
        }
        if self.has_list {
            self.keep(problem).await;
        } else {
            self.read_as_empty().await;
        }
    }

    /// An optional kind is not served. Where it was, that has to last before its objects count as gone.
    async fn absent(&mut self, problem: &Problem) {
        if self.has_list {
            let since = *self.absent_since.get_or_insert_with(Instant::now);
            if since.elapsed() < ABSENT_MIN {
                self.keep(problem).await;
                return;
            }
            let kind = self.source.kind;
            tracing::warn!(%kind, path = self.source.path, %problem, "it is not served any more");
        }
        self.read_as_empty().await;
    }

    /// Leaves what is known as it is. It counts as heard of now: who may not read one optional kind decides all the same.
    async fn keep(&mut self, problem: &Problem) {
        let name = self.source.kind.name();
        self.health.heard(name);
        self.health.failed(name, &problem.to_string());
        // A failed send means that the receiver is gone, which the next turn finds out.
        let _ = self.send(vec![Event::Kept(self.source.kind)]).await;
    }

    async fn read_as_empty(&mut self) {
        let _ = self.send(vec![Event::Begin(self.source.kind)]).await;
        let _ = self.end_list(String::new()).await;
        (self.has_list, self.absent_since) = (false, None);
    }
}

/// Works out what an answer that is not a success means. Its body may be a Status or plain text.
fn refusal(status: StatusCode, body: &[u8]) -> Problem {
    #[derive(Deserialize)]
    struct Status<'a> {
        #[serde(borrow, default)]
        message: Text<'a>,
    }
    let code = status.as_u16();
    if code == 410 {
        return Problem::Expired;
    }
    let message = match serde_json::from_slice::<Status<'_>>(body) {
        Ok(status) => status.message.to_string(),
        Err(_) => String::from_utf8_lossy(body).trim().chars().take(200).collect(),
    };
    Problem::Refused { code, message }
}

#[cfg(test)]
mod tests;
