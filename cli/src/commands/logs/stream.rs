//! The log of one container as a stream of lines with their times; a broken connection goes on where it stopped.

use std::pin::Pin;
use std::time::Duration;

use futures::io::AsyncBufReadExt as _;
use futures::{Stream, StreamExt as _};
use http::Request;
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::line::{Line, line};
use crate::cluster::{Cluster, Failure, escape};

/// One container's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) namespace: String,
    pub(super) pod: String,
    pub(super) uid: String,
    pub(super) container: String,
    /// What the user calls it: `worker-0`.
    pub(super) rank: String,
    pub(super) has_started: bool,
}

/// Which part of each log.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) container: Option<String>,
    pub(super) follow: bool,
    pub(super) tail: Option<u64>,
    pub(super) since_seconds: Option<u64>,
    pub(super) previous: bool,
}

/// The lines of a log.
pub(super) type Lines = Pin<Box<dyn Stream<Item = Line> + Send>>;

/// Opens a log, from a time on when it was read before.
///
/// # Errors
/// When the container has no log yet, or it may not be read.
pub(super) async fn open(
    source: &Source,
    query: &Query,
    after: Option<Timestamp>,
    cluster: &Cluster,
) -> Result<Lines, Failure> {
    let container = query.container.as_ref().unwrap_or(&source.container);
    let mut path = format!(
        "/api/v1/namespaces/{}/pods/{}/log?container={}&timestamps=true",
        escape(&source.namespace),
        escape(&source.pod),
        escape(container)
    );
    if query.follow {
        path += "&follow=true";
    }
    if query.previous {
        path += "&previous=true";
    }
    match (after, query.tail, query.since_seconds) {
        // The server takes whole seconds; what was read already is skipped below.
        (Some(after), _, _) => path += &format!("&sinceTime={}", escape(&after.to_string())),
        (None, tail, since) => {
            if let Some(tail) = tail {
                path += &format!("&tailLines={tail}");
            }
            if let Some(since) = since {
                path += &format!("&sinceSeconds={since}");
            }
        }
    }
    tracing::debug!(%path, "reading a log");
    let request = Request::get(path).body(Vec::new()).expect("paths are escaped");
    let reader = cluster.client().request_stream(request).await?;
    let lines = futures::stream::unfold(Box::pin(reader), |mut reader| async move {
        let mut bytes = Vec::new();
        match reader.read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some((line(&bytes), reader)),
        }
    });
    Ok(Box::pin(lines.filter(move |line| {
        let is_new = line.time.is_none() || after.is_none() || line.time > after;
        std::future::ready(is_new)
    })))
}

/// How often a log that broke off is opened again in vain before its pod counts as gone.
const TRIES: u32 = 5;

/// Sends the lines of a log until its container has ended.
pub(super) async fn pump(
    source: Source,
    query: Query,
    cluster: Cluster,
    lines: mpsc::Sender<(Source, Line)>,
) {
    let mut after = None;
    let mut tries = 0;
    while tries < TRIES {
        let Ok(mut stream) = open(&source, &query, after, &cluster).await else {
            tries += 1;
            tokio::time::sleep(Duration::from_millis(500)).await;
            continue;
        };
        while let Some(line) = stream.next().await {
            after = line.time.or(after);
            if lines.send((source.clone(), line)).await.is_err() {
                return;
            }
        }
        match is_running(&source, &cluster).await {
            // The connection broke, not the container.
            Some(true) => tries += 1,
            Some(false) | None => return,
        }
    }
}

/// Whether the container still runs; `None` when its pod is gone.
async fn is_running(source: &Source, cluster: &Cluster) -> Option<bool> {
    let pods = crate::cluster::names::pods();
    let call = crate::cluster::Call::new("get", &pods)
        .namespace(Some(&source.namespace))
        .name(&source.pod);
    let pod = cluster.get(&call).await.ok().flatten()?;
    if pod["metadata"]["uid"] != source.uid.as_str() {
        return None;
    }
    let statuses = pod["status"]["containerStatuses"].as_array();
    let ours = statuses.and_then(|all| all.iter().find(|c| c["name"] == source.container.as_str()));
    Some(ours.is_some_and(|container| container["state"]["running"].is_object()))
}
