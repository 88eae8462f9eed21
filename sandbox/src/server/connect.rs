//! `pods/exec`, `pods/attach` and `pods/portforward`: the connection becomes the client's own, and the simulated nodes
//! answer on it.

use std::sync::Arc;

use super::api::Api;
use super::logs::container;
use super::object;
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::request::{Request, Verb};
use super::route::Target;
use crate::streams::{self, Place, Streams, Wanted};

/// The subresources.
pub(crate) const CONNECTIONS: [&str; 3] = ["attach", "exec", "portforward"];

/// Connects a client with a pod.
pub(crate) fn connect(
    api: &Arc<Api>,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    // A websocket begins with a GET, which must not do more than a POST may.
    api.authorize(&request.user, Verb::Create, target)?;
    let wanted = wanted(target, params)?;
    let pod = super::read::find(&api.read(), target)?;
    let container = match wanted {
        Wanted::Forward(_) => String::new(),
        Wanted::Exec(..) | Wanted::Attach(_) => container(&pod.value, target, &params.container)?,
    };
    let Some(source) = &api.streams else {
        return Err(Refusal::not_implemented(&format!(
            "the subresource pods/{} (this server has no simulated nodes)",
            target.subresource
        )));
    };
    if object::text(&pod.value, "/spec/nodeName").is_empty() {
        let message = format!("pod {} does not have a host assigned", target.name);
        return Err(Refusal::bad_request(message));
    }
    let place = Place { namespace: target.namespace.clone(), pod: target.name.clone(), container };
    let failed = |message: String| {
        Refusal::new(500, "InternalError", format!("unable to upgrade connection: {message}"))
    };
    let task = source(&place, wanted.clone()).map_err(failed)?;
    let upgrade = request.upgrade.clone();
    let answer = streams::accept(&request.headers, upgrade, &wanted, task, api.stop.clone());
    let answer = answer.map_err(|why| Refusal::bad_request(why.to_string()))?;
    Ok(reply::switch(answer))
}

/// Reads what is wanted, checked as kube-apiserver checks `PodExecOptions` and its like.
fn wanted(target: &Target, params: &Params) -> ApiResult<Wanted> {
    let streams = Streams {
        stdin: params.stdin,
        stdout: params.stdout,
        stderr: params.stderr,
        tty: params.tty,
    };
    if target.subresource == "portforward" {
        return Ok(Wanted::Forward(params.ports.clone()));
    }
    if !(streams.stdin || streams.stdout || streams.stderr) {
        return Err(Refusal::bad_request("you must specify at least one of stdin, stdout, stderr"));
    }
    if target.subresource == "attach" {
        return Ok(Wanted::Attach(streams));
    }
    if params.command.is_empty() {
        return Err(Refusal::bad_request(
            "you must specify at least one command for the container",
        ));
    }
    Ok(Wanted::Exec(params.command.clone(), streams))
}
