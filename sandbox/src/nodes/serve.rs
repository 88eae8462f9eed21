//! The kubelet's HTTPS endpoint, to which an API server relays logs, exec, attach and port-forward.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use futures::stream;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use jiff::{SignedDuration, Timestamp};
use kai_daemon::clock;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::inside::Inside;
use super::logs::Logs;
use crate::log::{Part, Reader};
use crate::streams::{self, Place, Streams, Wanted};

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
        let ago = |seconds| clock::now().saturating_sub(SignedDuration::from_secs(seconds)).ok();
        Part {
            tail_lines: self.tail_lines,
            since: self.since_time.or_else(|| self.since_seconds.and_then(ago)),
            limit_bytes: self.limit_bytes,
            timestamps: self.timestamps,
        }
    }
}

/// Things that the endpoint gives to its requests.
#[derive(Clone)]
struct Endpoint {
    logs: Logs,
    inside: Inside,
    stop: CancellationToken,
}

/// Opens a free port on 127.0.0.1 and serves until cancelled.
///
/// # Errors
/// When no port or certificate can be had.
pub(super) async fn start(
    logs: Logs,
    inside: Inside,
    cancel: CancellationToken,
) -> io::Result<(u16, JoinHandle<()>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    let acceptor = TlsAcceptor::from(Arc::new(tls().map_err(io::Error::other)?));
    let routes = Router::new()
        .route("/containerLogs/{namespace}/{pod}/{container}", get(read))
        .route("/exec/{namespace}/{pod}/{container}", any(exec))
        .route("/attach/{namespace}/{pod}/{container}", any(attach))
        .route("/portForward/{namespace}/{pod}", any(forward))
        .with_state(Endpoint { logs, inside, stop: cancel.clone() });
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
                    .serve_connection_with_upgrades(
                        TokioIo::new(stream),
                        TowerToHyperService::new(routes),
                    )
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
    State(Endpoint { logs, .. }): State<Endpoint>,
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

/// The query of a request for a connection, each word as often as it was said.
type Words = Vec<(String, String)>;

fn all<'w>(words: &'w Words, name: &str) -> impl Iterator<Item = &'w str> {
    words.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// The streams of a process, as an API server names them to a kubelet.
fn process(words: &Words) -> Streams {
    let is = |name: &str| all(words, name).any(|value| matches!(value, "1" | "true"));
    Streams { stdin: is("input"), stdout: is("output"), stderr: is("error"), tty: is("tty") }
}

async fn exec(
    State(endpoint): State<Endpoint>,
    Path((namespace, pod, container)): Path<(String, String, String)>,
    Query(words): Query<Words>,
    request: Request,
) -> Response {
    let command = all(&words, "command").map(str::to_owned).collect();
    let wanted = Wanted::Exec(command, process(&words));
    endpoint.connect(&Place { namespace, pod, container }, &wanted, request)
}

async fn attach(
    State(endpoint): State<Endpoint>,
    Path((namespace, pod, container)): Path<(String, String, String)>,
    Query(words): Query<Words>,
    request: Request,
) -> Response {
    let wanted = Wanted::Attach(process(&words));
    endpoint.connect(&Place { namespace, pod, container }, &wanted, request)
}

async fn forward(
    State(endpoint): State<Endpoint>,
    Path((namespace, pod)): Path<(String, String)>,
    Query(words): Query<Words>,
    request: Request,
) -> Response {
    let ports = all(&words, "port").chain(all(&words, "ports"));
    let ports = ports.flat_map(|list| list.split(',')).filter_map(|port| port.parse().ok());
    let wanted = Wanted::Forward(ports.collect());
    endpoint.connect(&Place { namespace, pod, container: String::new() }, &wanted, request)
}

impl Endpoint {
    fn connect(&self, place: &Place, wanted: &Wanted, mut request: Request) -> Response {
        let task = match self.inside.open(place, wanted.clone()) {
            Ok(task) => task,
            Err(message) => return (StatusCode::INTERNAL_SERVER_ERROR, message).into_response(),
        };
        let upgrade = request.extensions_mut().remove();
        match streams::accept(request.headers(), upgrade, wanted, task, self.stop.clone()) {
            Ok(answer) => answer.body(Body::empty()).map_or_else(
                |error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
                IntoResponse::into_response,
            ),
            Err(why) => (StatusCode::BAD_REQUEST, why.to_string()).into_response(),
        }
    }
}
