//! `pods/log`: text that the simulated nodes provide.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use jiff::SignedDuration;
use kai_daemon::clock;
use serde_json::{Value, json};

use super::api::Api;
use super::log_source::{LogQuery, LogSource};
use super::object;
use super::params::Params;
use super::refusal::{ApiResult, Cause, Refusal};
use super::reply::{self, Reply};
use super::route::Target;
use crate::log::{Part, Reader};

/// Interval at which a followed log is asked for.
const FOLLOW_EVERY: Duration = Duration::from_millis(250);

/// GET of `pods/log`.
pub(crate) fn logs(api: &Arc<Api>, target: &Target, params: &Params) -> ApiResult<Reply> {
    let part = part(params, &target.name)?;
    let query = query(api, target, params)?;
    let Some(source) = api.logs.clone() else {
        return Err(Refusal::not_implemented(
            "the subresource pods/log (this server has no simulated nodes)",
        ));
    };
    let first = source(&query).map_err(Refusal::bad_request)?;
    let mut reader = Reader::new(part);
    let shown = reader.read(&first);
    if !params.follow {
        return Ok(reply::whole(200, "text/plain", shown));
    }
    let start = Follow { source, query, reader, first: Some(shown) };
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

/// Reads what the parameters ask for, checked as kube-apiserver checks `PodLogOptions`.
fn part(params: &Params, pod: &str) -> ApiResult<Part> {
    let mut causes = Vec::new();
    let mut at_least = |field: &str, least: i64, value: Option<i64>, detail: &str| {
        let value = value?;
        if value < least {
            causes.push(Cause::invalid(field, &json!(value), detail));
        }
        usize::try_from(value).ok()
    };
    let tail_lines =
        at_least("tailLines", 0, params.tail_lines, "must be greater than or equal to 0");
    let limit_bytes = at_least("limitBytes", 1, params.limit_bytes, "must be greater than 0");
    at_least("sinceSeconds", 1, params.since_seconds, "must be greater than 0");
    if params.since_seconds.is_some() && params.since_time.is_some() {
        let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
        causes.push(Cause::forbidden("", detail));
    }
    if !causes.is_empty() {
        return Err(Refusal::invalid("", "PodLogOptions", pod, &causes));
    }
    let ago = |seconds| clock::now().saturating_sub(SignedDuration::from_secs(seconds)).ok();
    let since = params.since_time.or_else(|| params.since_seconds.and_then(ago));
    Ok(Part { tail_lines, since, limit_bytes, timestamps: params.timestamps })
}

struct Follow {
    source: LogSource,
    query: LogQuery,
    reader: Reader,
    first: Option<String>,
}

impl Follow {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(text) = self.first.take().filter(|text| !text.is_empty()) {
            return Some((Bytes::from(text), self));
        }
        while !self.reader.is_over() {
            tokio::time::sleep(FOLLOW_EVERY).await;
            let mut now = (self.source)(&self.query).ok()?;
            if self.reader.has_lost(&now) {
                now = (self.source)(&LogQuery { previous: true, ..self.query.clone() }).ok()?;
            }
            let new = self.reader.read(&now);
            if !new.is_empty() {
                return Some((Bytes::from(new), self));
            }
        }
        None
    }
}

/// The container of a pod that is meant: the only one, where none is named.
pub(crate) fn container(pod: &Value, target: &Target, wanted: &str) -> ApiResult<String> {
    let names = |list: &str| {
        let items = object::array(pod, &format!("/spec/{list}")).iter();
        items.map(|container| object::text(container, "/name").to_owned()).collect::<Vec<_>>()
    };
    let containers = names("containers");
    match (wanted, containers.as_slice()) {
        ("", [one]) => Ok(one.clone()),
        ("", many) => Err(Refusal::bad_request(format!(
            "a container name must be specified for pod {}, choose one of: [{}]",
            target.name,
            many.join(" ")
        ))),
        (wanted, _)
            if containers.iter().chain(&names("initContainers")).any(|name| name == wanted) =>
        {
            Ok(wanted.to_owned())
        }
        (wanted, _) => {
            let message = format!("container {wanted} is not valid for pod {}", target.name);
            Err(Refusal::bad_request(message))
        }
    }
}

fn query(api: &Api, target: &Target, params: &Params) -> ApiResult<LogQuery> {
    let pod = super::read::find(&api.read(), target)?;
    let container = container(&pod.value, target, &params.container)?;
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
        previous: params.previous,
    })
}
