//! An API server of tests, which answers as a function says.

use std::{sync::Arc, time::Duration};

use http::{Method, Request, Response, request::Parts};
use kai_daemon::lease::{Lease, Manner, Mode};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{OpenWrites, Write};
use crate::serve::metrics::Metrics;

/// Writes to a server that gives whoever asks the Lease, and answers everything else by a code and a body.
pub(crate) async fn answering(
    answer: impl Fn(&Parts, Value) -> (u16, Value) + Send + Sync + 'static,
) -> Write {
    let answer = Arc::new(answer);
    let server = tower::service_fn(move |request: Request<Body>| {
        let answer = Arc::clone(&answer);
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let is_lease = parts.uri.path().contains("/leases");
            let (code, body) = match (is_lease, parts.method == Method::GET) {
                (true, true) => (404, json!({"reason": "NotFound", "message": "", "code": 404})),
                (true, false) => (201, body),
                (false, _) => answer(&parts, body),
            };
            let body = Body::from(body.to_string().into_bytes());
            let answer = Response::builder().status(code).body(body);
            Ok::<_, kube::Error>(answer.expect("it is a response"))
        }
    });
    let client = Client::new(server, "default");
    let stop = CancellationToken::new();
    let mode = Mode::Election { retry: Duration::from_secs(2) };
    let lease = Lease::new(client.clone(), "ns", "lease", mode);
    let guard = lease.acquire(Manner::Newest, &stop).await.expect("nobody stops it");
    let (metrics, open) = (Metrics::new("kai"), OpenWrites::default());
    Write { client, guard, metrics, stop, open, idle: CancellationToken::new() }
}
