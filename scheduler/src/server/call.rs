//! One request to the API server, bounded in time, and what its failure means.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use kai_daemon::{chance, connect, process::causes};
use kube::{Client, client::Body};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

pub use super::failure::Failure;
use super::{failure::refusal, page, write::Write};

/// A write that is not answered within this time may or may not have been done.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Sets how long a request waits in all when the server asks for patience (429).
const PATIENCE_MAX: Duration = Duration::from_mins(1);
/// A write without an answer comes true within this time, or never. Source: kube-apiserver, `--request-timeout`.
const UNANSWERED_MAX: Duration = Duration::from_mins(1);
/// A write that the server says it failed at comes true within this time, or never. Source: etcd, which gives up a write after
/// 5 s and two elections, and may have it done by then.
const FAILED_MAX: Duration = Duration::from_secs(10);

/// Says what the server's words have in them where a budget of disruptions refuses.
const BUDGET: &str = "disruption budget";

/// Says what a body is.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A whole object.
    Object,
    /// A JSON merge patch.
    Merge,
    /// A strategic merge patch, for built-in types.
    Strategic,
}

impl Form {
    fn content_type(self) -> &'static str {
        match self {
            Self::Object => "application/json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
        }
    }
}

/// Sends a request with a body; the answer's body comes back. The only way to a write: each attempt asks the Lease's
/// guard first, however long what came before it took.
///
/// A refusal for overload (429) is waited out, as nothing was done; one by a budget of disruptions, which has the same
/// code, is an answer: it stands for as long as the budget does.
///
/// # Errors
/// [`Failure`]; only [`Failure::Unsure`] leaves open whether it was done, or is yet: see [`Write::open`].
pub async fn call(
    write: &Write,
    method: Method,
    path: &str,
    form: Form,
    body: &Value,
) -> Result<Bytes, Failure> {
    let bytes = Bytes::from(body.to_string());
    let started = Instant::now();
    loop {
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(header::CONTENT_TYPE, form.content_type())
            .body(Body::from(bytes.clone()))
            .map_err(|error| Failure::Refused { code: 400, message: error.to_string() })?;
        let until = write.guard.check().await?;
        match once(&write.client, request, until, usize::MAX).await {
            Err((Failure::Refused { code: 429, message }, wait))
                if started.elapsed() < PATIENCE_MAX && !message.contains(BUDGET) =>
            {
                sleep(wait.mul_f64(1.0 + chance::part())).await;
            }
            Err((Failure::Unsure(message), within)) => {
                write.open.add(within);
                return Err(Failure::Unsure(message));
            }
            answer => {
                return answer.map(Option::unwrap_or_default).map_err(|(failure, _)| failure);
            }
        }
    }
}

/// Reads one object.
///
/// # Errors
/// [`Failure`].
pub async fn read(client: &Client, path: &str) -> Result<Bytes, Failure> {
    read_within(client, path, usize::MAX).await.map(Option::unwrap_or_default)
}

/// Reads one page of a list; nothing where it has more bytes.
pub(crate) async fn read_within(
    client: &Client,
    path: &str,
    bytes_max: usize,
) -> Result<Option<Bytes>, Failure> {
    let request = Request::get(path).body(Body::empty());
    let request =
        request.map_err(|error| Failure::Refused { code: 400, message: error.to_string() })?;
    once(client, request, None, bytes_max).await.map_err(|(failure, _)| failure)
}

/// One attempt, whose answer is waited for until 10 s have passed, or `until`. With a refusal comes how long the server asks
/// to wait, and with no certain answer within which time it may be done yet. An answer with more than `bytes_max` is none.
async fn once(
    client: &Client,
    request: Request<Body>,
    until: Option<Instant>,
    bytes_max: usize,
) -> Result<Option<Bytes>, (Failure, Duration)> {
    let patience = Instant::now() + ANSWER_MAX;
    let until = until.map_or(patience, |until| until.min(patience));
    let unsure = |text: String| (Failure::Unsure(text), UNANSWERED_MAX);
    let exchange = async {
        let answer = client.send(request).await.map_err(|error| {
            // A server that is not there, as one that restarts, does nothing later.
            let within = if connect::is_unsent(&error) { Duration::ZERO } else { UNANSWERED_MAX };
            (Failure::Unsure(causes(&error)), within)
        })?;
        let (parts, body) = answer.into_parts();
        let text = page::within(body, bytes_max).await.map_err(|error| unsure(causes(&error)))?;
        Ok((parts, text))
    };
    let began = Instant::now();
    let (parts, text) = timeout_at(until, exchange)
        .await
        .map_err(|_| unsure(format!("none within {}s", began.elapsed().as_secs())))??;
    if parts.status.is_success() {
        return Ok(text);
    }
    let text = text.unwrap_or_default();
    if parts.status.is_server_error() {
        // Another code is that of a proxy, or of a server that answers while it goes on.
        let has_ended = parts.status == StatusCode::INTERNAL_SERVER_ERROR;
        let within = if has_ended { FAILED_MAX } else { UNANSWERED_MAX };
        return Err((refusal(parts.status, &text), within));
    }
    let wait = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = wait.and_then(|text| text.parse::<u64>().ok()).unwrap_or(1).min(10);
    Err((refusal(parts.status, &text), Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::Response;

    use super::*;

    /// A proxy may say that its server is back in an hour, and a bind would wait for as long.
    #[tokio::test]
    async fn a_server_has_its_way_with_a_pause_within_bounds() {
        for (asked, expect) in [(None, 1), (Some("3"), 3), (Some("3600"), 10), (Some("Friday"), 1)]
        {
            let server = tower::service_fn(move |_: Request<Body>| {
                let mut answer = Response::builder().status(StatusCode::TOO_MANY_REQUESTS);
                if let Some(asked) = asked {
                    answer = answer.header(header::RETRY_AFTER, asked);
                }
                let answer = answer.body(Body::empty()).expect("it is a response");
                std::future::ready(Ok::<_, Infallible>(answer))
            });
            let request = Request::get("/x").body(Body::empty()).expect("it is a request");
            let client = Client::new(server, "default");
            let refused = once(&client, request, None, usize::MAX).await.err();
            let wait = refused.map(|(_, wait)| wait.as_secs());
            assert_eq!(wait, Some(expect), "{asked:?}");
        }
    }
}
