//! The kubelet's HTTPS endpoint for container logs, to which an API server relays `kubectl logs`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::stream;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::logs::Logs;
use crate::log::{Part, Reader};

/// Interval at which a followed log is looked at for new lines.
const FOLLOW: Duration = Duration::from_millis(250);

/// The query of a log request, as an API server hands it on; anything else is refused by name.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct LogQuery {
    follow: bool,
    previous: bool,
    timestamps: bool,
    tail_lines: Option<usize>,
    limit_bytes: Option<usize>,
    since_seconds: Option<i64>,
    since_time: Option<Timestamp>,
}

impl LogQuery {
    fn part(&self) -> Part {
        let ago =
            |seconds| Timestamp::now().saturating_sub(SignedDuration::from_secs(seconds)).ok();
        Part {
            tail_lines: self.tail_lines,
            since: self.since_time.or_else(|| self.since_seconds.and_then(ago)),
            limit_bytes: self.limit_bytes,
            timestamps: self.timestamps,
        }
    }
}

/// Opens a free port on 127.0.0.1 and serves logs until cancelled.
///
/// # Errors
/// When no port or certificate can be had.
pub(super) async fn start(
    logs: Logs,
    cancel: CancellationToken,
) -> io::Result<(u16, JoinHandle<()>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    let acceptor = TlsAcceptor::from(Arc::new(tls().map_err(io::Error::other)?));
    let routes = Router::new()
        .route("/containerLogs/{namespace}/{pod}/{container}", get(read))
        .with_state(logs);
    let task = tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                () = cancel.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            let Ok((socket, _)) = accepted else { continue };
            let (acceptor, routes) = (acceptor.clone(), routes.clone());
            tokio::spawn(cancel.clone().run_until_cancelled_owned(async move {
                let Ok(stream) = acceptor.accept(socket).await else { return };
                let server = auto::Builder::new(TokioExecutor::new());
                // The peer may hang up at any time; there is nobody to tell.
                let _ended = server
                    .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes))
                    .await;
            }));
        }
    });
    Ok((port, task))
}

/// A certificate made for this run: API servers don't check a kubelet's unless told to.
fn tls() -> Result<rustls::ServerConfig, Box<dyn std::error::Error + Send + Sync>> {
    let own =
        rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

async fn read(
    State(logs): State<Logs>,
    Path((namespace, pod, container)): Path<(String, String, String)>,
    Query(query): Query<LogQuery>,
) -> Response {
    let find = move |previous| logs.read(&namespace, &pod, &container, previous);
    let first = match find(query.previous) {
        Ok(first) => first,
        Err(message) => return (StatusCode::BAD_REQUEST, message).into_response(),
    };
    let mut reader = Reader::new(query.part());
    let shown = reader.read(&first);
    if !query.follow || reader.is_over() {
        return shown.into_response();
    }
    let start = Some((reader, shown, find));
    let rest = stream::unfold(start, |state| async move {
        let (mut reader, mut new, find) = state?;
        while new.is_empty() && !reader.is_over() {
            tokio::time::sleep(FOLLOW).await;
            let mut now = find(false).ok()?;
            if reader.has_lost(&now) {
                now = find(true).ok()?;
            }
            new = reader.read(&now);
        }
        let next = (!reader.is_over()).then(|| (reader, String::new(), find));
        Some((Ok::<_, io::Error>(Bytes::from(new)), next))
    });
    Body::from_stream(rest).into_response()
}
