//! Bounds the silence of an API server: a connection that died without a word is told apart from a server that works, which
//! sends a bookmark each minute to whoever watches, and ends every other request after a minute.

use std::time::Duration;

use http::Request;
use kube::client::{Body, Client};
use tokio::time::timeout;
use tower_http::timeout::TimeoutBody;

/// Bookmarks come about once a minute; a stream that is silent for longer is dead.
pub const SILENCE_MAX: Duration = Duration::from_secs(75);
/// A server that does not begin to answer a watch within this time is taken for gone.
pub const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Makes a client whose requests fail where nothing is heard for too long, as with a connection that broke; whoever watches
/// asks again. Watches have to ask for bookmarks.
pub fn bounded(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            let query = request.uri().query().unwrap_or_default();
            let is_watch = query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"));
            let answer_max = if is_watch { ANSWER_MAX } else { SILENCE_MAX };
            let answer = timeout(answer_max, client.send(request)).await;
            let answer =
                answer.map_err(|_| kube::Error::Service("the API server is silent".into()))?;
            answer.map(|answer| answer.map(|body| TimeoutBody::new(SILENCE_MAX, body)))
        }
    });
    Client::new(service, namespace)
}

#[cfg(test)]
mod tests;
