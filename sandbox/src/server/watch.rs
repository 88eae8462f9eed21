//! Watches: streams of events from a position in a table's history.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::accept::{self, Format};
use super::api::Api;
use super::object::Object;
use super::params::Params;
use super::read::{Selection, too_large, version_number};
use super::refusal::{ApiResult, Cause, Refusal};
use super::reply::{self, Reply};
use super::request::Request;
use super::route::Target;
use super::store::{Change, Event};
use super::{convert, table};

/// Interval at which a watch that asked for bookmarks gets one, as kube-apiserver has it.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// The timeout of a watch that names none, as kube-apiserver's `--min-request-timeout` has it.
const TIMEOUT_DEFAULT: Duration = Duration::from_mins(30);
/// Events are sent together up to about this size.
const BATCH_BYTES: usize = 64 * 1024;

/// Answers with a stream of events.
pub(crate) fn watch(
    api: &Arc<Api>,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let format = accept::format(&request.headers)?;
    let selection = Selection::parse(target, params)?;
    check(target, params)?;
    let asked = version_number(&params.resource_version)?;
    let state = api.read();
    let now = state.store.version();
    if let Some(version) = asked.filter(|version| *version > now) {
        return Err(too_large(version, now));
    }
    let found = state.store.table(&target.kind.table).ok_or_else(Refusal::no_such_path)?;
    let changed = Arc::clone(found.changed());
    let from_state = params.send_initial_events || asked.is_none_or(|version| version == 0);
    let mut watcher = Watcher {
        api: Arc::clone(api),
        target: target.clone(),
        query: request.query.clone(),
        selection,
        format,
        changed,
        position: asked.filter(|_| !from_state).unwrap_or(now),
        bookmarks: params.allow_watch_bookmarks,
        last_bookmark: params.timeout_seconds.is_none_or(|seconds| seconds >= 10),
        next_bookmark: Instant::now() + BOOKMARK_EVERY,
        deadline: deadline(params.timeout_seconds),
        waiting: BytesMut::new(),
        headed: false,
        ended: false,
    };
    if from_state {
        let objects = watcher.selection.of(&state, &target.kind, usize::MAX);
        drop(state);
        for object in &objects {
            watcher.emit("ADDED", object);
        }
        if params.send_initial_events && params.allow_watch_bookmarks {
            watcher.bookmark(true);
        }
    }
    Ok(reply::stream("application/json", stream::unfold(watcher, Watcher::next)))
}

/// The end of a watch that may last so many seconds; of more than a clock counts as many as it does.
fn deadline(seconds: Option<u64>) -> Instant {
    let seconds = seconds.map(|seconds| seconds.min(u32::MAX.into()));
    Instant::now() + seconds.map_or(TIMEOUT_DEFAULT, Duration::from_secs)
}

fn check(target: &Target, params: &Params) -> ApiResult<()> {
    let mut causes = Vec::new();
    let given = &params.resource_version_match;
    if params.send_initial_events && given != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(Cause::forbidden("resourceVersionMatch", why));
    }
    if !params.send_initial_events && !given.is_empty() {
        causes.push(Cause::forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ));
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid("meta.k8s.io", "ListOptions", &target.name, &causes))
    }
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts about one watch")]
struct Watcher {
    api: Arc<Api>,
    target: Target,
    query: String,
    selection: Selection,
    format: Format,
    /// Wakes it after a write to its table.
    changed: Arc<Notify>,
    /// All events up to this resourceVersion have been sent or are not wanted.
    position: u64,
    bookmarks: bool,
    /// True if a bookmark is sent at the end: not by a watch that is over soon after its first.
    last_bookmark: bool,
    next_bookmark: Instant,
    deadline: Instant,
    waiting: BytesMut,
    /// True if the column definitions of a Table have been sent.
    headed: bool,
    ended: bool,
}

impl Watcher {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            if !self.waiting.is_empty() {
                let batch = self.waiting.split().freeze();
                return Some((batch, self));
            }
            if self.ended {
                return None;
            }
            // A write between the look at the history and the wait is not missed: this wakes from here on.
            let changed = Arc::clone(&self.changed);
            let changed = changed.notified();
            if self.collect() {
                continue;
            }
            let api = Arc::clone(&self.api);
            tokio::select! {
                biased;
                () = api.stop.cancelled() => self.ended = true,
                () = tokio::time::sleep_until(self.next_bookmark), if self.bookmarks => {
                    self.collect();
                    self.bookmark(false);
                }
                () = tokio::time::sleep_until(self.deadline) => {
                    if self.bookmarks && self.last_bookmark {
                        self.collect();
                        self.bookmark(false);
                    }
                    self.ended = true;
                }
                () = changed => {}
            }
        }
    }

    /// Takes new events from the history; whether there is something to send or the watch has ended.
    fn collect(&mut self) -> bool {
        let api = Arc::clone(&self.api);
        let state = api.read();
        let table = state.store.table(&self.target.kind.table);
        let Some(table) = table.filter(|table| Arc::ptr_eq(table.changed(), &self.changed)) else {
            self.ended = true;
            return true;
        };
        let Some(events) = table.since(self.position) else {
            drop(state);
            let message = format!("too old resource version: {}", self.position);
            self.error(&Refusal::expired(message));
            return true;
        };
        let events: Vec<Arc<Event>> = events.cloned().collect();
        let now = state.store.version();
        drop(state);
        self.position = now;
        for (index, event) in events.iter().enumerate() {
            self.offer(event);
            if self.waiting.len() >= BATCH_BYTES && index + 1 < events.len() {
                self.position = event.object.version;
                return true;
            }
        }
        !self.waiting.is_empty()
    }

    /// Emits an event as this watch sees it: an object that starts to match is added, one that stops is deleted.
    fn offer(&mut self, event: &Event) {
        let matched =
            event.before.as_ref().is_some_and(|before| self.selection.matches(&before.value));
        let matches = self.selection.matches(&event.object.value);
        match (event.change, matched, matches) {
            (Change::Added | Change::Modified, false, true) => self.emit("ADDED", &event.object),
            (Change::Modified, true, true) => self.emit("MODIFIED", &event.object),
            (Change::Deleted, true, _) => self.emit("DELETED", &event.object),
            (Change::Modified, true, false) => {
                // The last state that matched, at the resourceVersion of the write, as kube-apiserver sends it.
                let before = event.before.as_ref().expect("it matched, so there is one");
                let gone = Arc::new(Object::new(before.value.clone(), event.object.version));
                self.emit("DELETED", &gone);
            }
            (Change::Added, true, _)
            | (Change::Added | Change::Modified | Change::Deleted, false, _) => {}
        }
    }

    fn emit(&mut self, what: &str, object: &Arc<Object>) {
        match self.format {
            Format::Json | Format::Discovery | Format::Yaml => {
                let bytes = convert::json_of(object, &self.target.kind, &self.target.version);
                self.frame(what, &bytes);
            }
            Format::Metadata => {
                let text = convert::metadata_only(&object.value).to_string();
                self.frame(what, text.as_bytes());
            }
            Format::Table => {
                let rows = [Arc::clone(object)];
                let version = object.version.to_string();
                let text = if self.headed {
                    table::rows_only(&self.target, &rows, &version, &self.query)
                } else {
                    table::whole(&self.target, &rows, &version, None, &self.query)
                };
                match text {
                    Ok(text) => {
                        self.headed = true;
                        self.frame(what, text.as_bytes());
                    }
                    Err(refusal) => self.error(&refusal),
                }
            }
        }
    }

    fn frame(&mut self, what: &str, object: &[u8]) {
        self.waiting.put_slice(b"{\"type\":\"");
        self.waiting.put_slice(what.as_bytes());
        self.waiting.put_slice(b"\",\"object\":");
        self.waiting.put_slice(object);
        self.waiting.put_slice(b"}\n");
    }

    fn bookmark(&mut self, initial_events_end: bool) {
        self.next_bookmark = Instant::now() + BOOKMARK_EVERY;
        let mut metadata = json!({ "resourceVersion": self.position.to_string() });
        if initial_events_end {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let kind = &self.target.kind;
        let mut object = json!({
            "kind": kind.kind,
            "apiVersion": kind.api_version(&self.target.version),
            "metadata": metadata,
        });
        match self.format {
            Format::Json | Format::Discovery | Format::Yaml => {}
            Format::Metadata => object = convert::metadata_only(&object),
            Format::Table => object = table::bookmark(&object),
        }
        self.frame("BOOKMARK", object.to_string().as_bytes());
    }

    fn error(&mut self, refusal: &Refusal) {
        let status: Value = refusal.to_json();
        self.frame("ERROR", status.to_string().as_bytes());
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_may_last_for_any_time() {
        for (seconds, least) in [(None, 1), (Some(1), 1), (Some(u64::MAX), u32::MAX)] {
            let now = Instant::now();
            assert!(deadline(seconds) >= now + Duration::from_secs(least.into()), "{seconds:?}");
        }
    }
}
