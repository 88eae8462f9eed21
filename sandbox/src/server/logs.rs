//! `pods/log`: text that the simulated nodes provide.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;

use super::api::Api;
use super::object;
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::route::Target;

/// Whose log is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod's name.
    pub pod: String,
    /// The pod's UID.
    pub uid: String,
    /// The container's name.
    pub container: String,
}

/// A container's log so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogText {
    /// All of it, in lines.
    pub text: String,
    /// Whether the container has ended, so that nothing will follow.
    pub ended: bool,
}

/// Where logs come from. An error is shown to the client as it is.
pub type LogSource = Arc<dyn Fn(&LogQuery) -> Result<LogText, String> + Send + Sync>;

/// How often a followed log is asked for.
const FOLLOW_EVERY: Duration = Duration::from_millis(250);

/// GET of `pods/log`.
pub(crate) fn logs(api: &Arc<Api>, target: &Target, params: &Params) -> ApiResult<Reply> {
    let Some(source) = api.logs.clone() else {
        return Err(Refusal::not_implemented(
            "the subresource pods/log (this server has no simulated nodes)",
        ));
    };
    if params.previous {
        return Err(Refusal::not_implemented("the log of a previous container"));
    }
    let query = query(api, target, params)?;
    let first = source(&query).map_err(Refusal::bad_request)?;
    let shown = tail(&first.text, params.tail_lines).to_owned();
    if !params.follow {
        return Ok(reply::whole(200, "text/plain", shown));
    }
    let start = Follow {
        source,
        query,
        seen_bytes: first.text.len(),
        first: Some(shown),
        ended: first.ended,
    };
    let stop = api.stop.clone();
    let pieces = stream::unfold(start, move |follow| {
        let stop = stop.clone();
        async move {
            tokio::select! {
                piece = follow.next() => piece,
                () = stop.cancelled() => None,
            }
        }
    });
    Ok(reply::stream("text/plain", pieces))
}

struct Follow {
    source: LogSource,
    query: LogQuery,
    seen_bytes: usize,
    first: Option<String>,
    ended: bool,
}

impl Follow {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(text) = self.first.take().filter(|text| !text.is_empty()) {
            return Some((Bytes::from(text), self));
        }
        while !self.ended {
            tokio::time::sleep(FOLLOW_EVERY).await;
            let log = (self.source)(&self.query).ok()?;
            self.ended = log.ended;
            if let Some(new) = log.text.get(self.seen_bytes..).filter(|new| !new.is_empty()) {
                self.seen_bytes = log.text.len();
                return Some((Bytes::from(new.to_owned()), self));
            }
        }
        None
    }
}

fn query(api: &Api, target: &Target, params: &Params) -> ApiResult<LogQuery> {
    let pod = super::read::find(&api.read(), target)?;
    let names = |list: &str| {
        let items = object::array(&pod.value, &format!("/spec/{list}")).iter();
        items.map(|container| object::text(container, "/name").to_owned()).collect::<Vec<_>>()
    };
    let containers = names("containers");
    let container = match (params.container.as_str(), containers.as_slice()) {
        ("", [one]) => one.clone(),
        ("", many) => {
            return Err(Refusal::bad_request(format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                target.name,
                many.join(" ")
            )));
        }
        (wanted, _)
            if containers.iter().chain(&names("initContainers")).any(|name| name == wanted) =>
        {
            wanted.to_owned()
        }
        (wanted, _) => {
            let message = format!("container {wanted} is not valid for pod {}", target.name);
            return Err(Refusal::bad_request(message));
        }
    };
    if object::text(&pod.value, "/spec/nodeName").is_empty() {
        return Err(Refusal::bad_request(format!(
            "pod {} does not have a host assigned",
            target.name
        )));
    }
    Ok(LogQuery {
        namespace: target.namespace.clone(),
        pod: target.name.clone(),
        uid: object::uid(&pod.value).to_owned(),
        container,
    })
}

fn tail(text: &str, lines: Option<usize>) -> &str {
    let Some(lines) = lines else { return text };
    let body = text.strip_suffix('\n').unwrap_or(text);
    if lines == 0 {
        return "";
    }
    match body.rmatch_indices('\n').nth(lines - 1) {
        Some((at, _)) => &text[at + 1..],
        None => text,
    }
}
