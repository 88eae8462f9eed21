//! The log of one container as a stream of lines with their times; a broken connection goes on where it stopped.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};
use futures::{Stream, StreamExt as _};
use http::Request;
use serde_json::Value;

use super::line::{End, Line, Mark, piece};
use super::source::Source;
use super::turns::{TURN, Turns};
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure, escape, names};
use crate::commands::in_flight::{PIECE_BYTES_MAX, Sender, take_part_of_char};
use crate::commands::outage;

/// Says which part of each log.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    pub(super) container: Option<String>,
    pub(super) tail: Option<u64>,
    pub(super) since_seconds: Option<u64>,
    pub(super) previous: bool,
}

impl Query {
    fn container<'a>(&'a self, source: &'a Source) -> &'a str {
        self.container.as_deref().unwrap_or(&source.container)
    }
}

/// The lines of a log; one that ends with an error broke off.
pub(super) type Lines = Pin<Box<dyn Stream<Item = io::Result<Line>> + Send>>;

/// Opens a log behind what was read of it before; `follow` goes on with it until its container ends.
///
/// # Errors
/// When the container has no log yet, or it may not be read.
pub(super) async fn open(
    source: &Source,
    query: &Query,
    mark: &Mark,
    follow: bool,
    cluster: &Cluster,
) -> Result<Lines, Failure> {
    let mut path = format!(
        "/api/v1/namespaces/{}/pods/{}/log?container={}&timestamps=true",
        escape(&source.namespace),
        escape(&source.pod),
        escape(query.container(source))
    );
    if follow {
        path += "&follow=true";
    }
    if query.previous {
        path += "&previous=true";
    }
    match (mark.time, query.tail, query.since_seconds) {
        (Some(after), _, _) => path += &format!("&sinceTime={}", escape(&after.to_string())),
        (None, tail, since) => {
            path.extend(tail.map(|tail| format!("&tailLines={tail}")));
            path.extend(since.map(|since| format!("&sinceSeconds={since}")));
        }
    }
    tracing::debug!(%path, "reading a log");
    let request = Request::get(path).body(Vec::new()).expect("paths are escaped");
    let reader = cluster.client().request_stream(request).await?;
    let lines = pieces(Box::pin(reader));
    let mut is_new = mark.clone().news();
    Ok(Box::pin(lines.filter(move |line| {
        let is_new = line.as_ref().map_or(true, &mut is_new);
        std::future::ready(is_new)
    })))
}

/// The lines of a reader, those without an end in pieces.
fn pieces<R: AsyncBufRead + Unpin>(reader: R) -> impl Stream<Item = io::Result<Line>> {
    let begun = (reader, Vec::new(), false);
    futures::stream::unfold(Some(begun), |reading| async move {
        let (mut reader, mut bytes, is_rest) = reading?;
        let room = PIECE_BYTES_MAX.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let mut some = (&mut reader).take(room);
        if let Err(error) = some.read_until(b'\n', &mut bytes).await {
            return Some((Err(error), None));
        }
        let is_full = some.limit() == 0;
        if bytes.is_empty() {
            return None;
        }
        let goes_on = is_full && !bytes.ends_with(b"\n");
        let begun = if goes_on { take_part_of_char(&mut bytes) } else { Vec::new() };
        Some((Ok(piece(&bytes, is_rest, goes_on)), Some((reader, begun, goes_on))))
    })
}

/// The pause before a log that brought nothing is opened again.
const PAUSE: Duration = Duration::from_millis(500);

/// Sends the lines of a log until its container has ended and all that it wrote was read. A server that is away is
/// waited for.
///
/// # Errors
/// Why the rest cannot be read.
pub(super) async fn pump(
    source: Source,
    query: Query,
    cluster: Cluster,
    lines: Sender<(Source, Line)>,
    turns: Arc<Turns>,
) -> Result<(), String> {
    let mut reading = Reading { source, query, cluster, lines, mark: Mark::default(), turns };
    let mut broken: Option<(Instant, String)> = None;
    loop {
        let before = reading.mark.clone();
        match reading.round().await {
            Ok(Round::Read) => return Ok(()),
            Ok(Round::Gone) => return broken.map_or(Ok(()), |(_, why)| Err(why)),
            Ok(Round::GoesOn) => broken = None,
            Err(failure) if failure.may_pass() => {
                let (since, why) =
                    broken.get_or_insert_with(|| (Instant::now(), failure.to_string()));
                if since.elapsed() > outage::LONGEST {
                    return Err(why.clone());
                }
            }
            Err(failure) => return Err(failure.to_string()),
        }
        if reading.mark == before {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Says how a container stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Runs,
    /// It has not begun, or begins again.
    Between,
    Ended,
}

/// Says what came of reading once.
enum Round {
    /// All there will ever be was read.
    Read,
    /// The pod is no more.
    Gone,
    GoesOn,
}

/// A log that is being read.
struct Reading {
    source: Source,
    query: Query,
    cluster: Cluster,
    lines: Sender<(Source, Line)>,
    mark: Mark,
    turns: Arc<Turns>,
}

impl Reading {
    /// Reads until the connection ends. How the container stands is asked before: what is read of one that has ended
    /// already is all of it, and what is read of one that runs may have broken off. While others wait for their turn it
    /// ends sooner.
    async fn round(&mut self) -> Result<Round, Failure> {
        let turns = Arc::clone(&self.turns);
        let Some(_turn) = turns.take().await else { return Ok(Round::Read) };
        let Some(standing) = self.standing().await? else { return Ok(Round::Gone) };
        let runs = standing == Standing::Runs;
        let (source, query) = (&self.source, &self.query);
        let mut stream = match open(source, query, &self.mark, runs, &self.cluster).await {
            Ok(stream) => stream,
            Err(failure) if failure.code() == Some(400) && standing != Standing::Ended => {
                return Ok(Round::GoesOn);
            }
            Err(failure) if failure.code() == Some(404) => return Ok(Round::Gone),
            Err(failure) => return Err(failure),
        };
        let mut turn = tokio::time::interval_at(tokio::time::Instant::now() + TURN, TURN);
        loop {
            let line = tokio::select! {
                biased;
                _ = turn.tick() => {
                    if turns.is_awaited() {
                        return Ok(Round::GoesOn);
                    }
                    continue;
                }
                line = stream.next() => line,
            };
            let Some(line) = line else { break };
            let line = line.map_err(|error| Failure::Unreachable(error.to_string()))?;
            if line.end == End::Broken && runs {
                // It is read again as a whole.
                break;
            }
            self.mark.pass(&line);
            let bytes = line.text.len();
            if !self.lines.send((self.source.clone(), line), bytes).await {
                return Ok(Round::Read);
            }
        }
        Ok(if standing == Standing::Ended { Round::Read } else { Round::GoesOn })
    }

    /// Returns how the container stands; `None` when its pod is gone.
    async fn standing(&self) -> Result<Option<Standing>, Failure> {
        let pods = names::pods();
        let call =
            Call::new("get", &pods).namespace(Some(&self.source.namespace)).name(&self.source.pod);
        let pod = self.cluster.get(&call).await?;
        let pod = pod.filter(|pod| pod["metadata"]["uid"] == self.source.uid.as_str());
        Ok(pod.map(|pod| standing(&pod, self.query.container(&self.source))))
    }
}

fn standing(pod: &Value, container: &str) -> Standing {
    let status = &pod["status"];
    if matches!(text(&status["phase"]), "Succeeded" | "Failed") {
        return Standing::Ended;
    }
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let all = lists.iter().filter_map(|list| status[*list].as_array()).flatten();
    let state = all.into_iter().find(|one| one["name"] == container).map(|one| &one["state"]);
    match state {
        Some(state) if state["running"].is_object() => Standing::Runs,
        Some(state) if state["terminated"].is_object() => {
            let restarts = match text(&pod["spec"]["restartPolicy"]) {
                "Never" => false,
                "OnFailure" => state["terminated"]["exitCode"] != 0,
                _ => true,
            };
            if restarts { Standing::Between } else { Standing::Ended }
        }
        Some(_) | None => Standing::Between,
    }
}

#[cfg(test)]
mod tests {
    use futures::io::Cursor;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_line_without_an_end_comes_in_pieces() {
        let max = usize::try_from(PIECE_BYTES_MAX).expect("it is small");
        let time = "2026-01-01T00:00:00Z ";
        let long = "é".repeat(max);
        let text = format!("{time}a\n{time}{long}\n{time}b");
        let read: Vec<Line> = pieces(Cursor::new(text.into_bytes()))
            .map(|line| line.expect("no error"))
            .collect()
            .await;
        let seen: Vec<_> =
            read.iter().map(|line| (line.time.is_some(), line.is_rest, line.end)).collect();
        let expect = [
            (true, false, End::Whole),
            (true, false, End::GoesOn),
            (false, true, End::GoesOn),
            (false, true, End::Whole),
            (true, false, End::Broken),
        ];
        assert_eq!(seen, expect);
        assert!(read.iter().all(|line| line.text.len() <= max));
        let whole: String = read[1..4].iter().map(|line| line.text.as_str()).collect();
        assert_eq!(whole, long);
    }

    /// Containers that their kubelet starts again have more to say.
    #[test]
    fn a_container_that_is_started_again_has_not_ended() {
        let pod = |policy: &str, state: &Value| {
            json!({"spec": {"restartPolicy": policy}, "status": {"phase": "Running",
                "containerStatuses": [{"name": "side", "state": {"running": {}}},
                    {"name": "main", "state": state}]}})
        };
        let ended = |code: u8| json!({"terminated": {"exitCode": code}});
        for (policy, code, has_ended) in [
            ("Never", 0, true),
            ("Never", 3, true),
            ("OnFailure", 0, true),
            ("OnFailure", 3, false),
            ("Always", 0, false),
            ("Always", 3, false),
        ] {
            let expect = if has_ended { Standing::Ended } else { Standing::Between };
            let stands = standing(&pod(policy, &ended(code)), "main");
            assert!(stands == expect, "{policy} {code}");
        }
        let runs = pod("Never", &json!({"running": {}}));
        assert!(standing(&runs, "main") == Standing::Runs);
        assert!(standing(&runs, "other") == Standing::Between, "nothing is said of it yet");
        let waits = pod("Never", &json!({"waiting": {}}));
        assert!(standing(&waits, "main") == Standing::Between);
        let over = json!({"spec": {"restartPolicy": "Always"}, "status": {"phase": "Failed"}});
        assert!(standing(&over, "main") == Standing::Ended);
    }
}
