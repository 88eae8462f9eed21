//! Takes the API server's questions over TLS.
//!
//! Whoever reaches the port may ask, so that everything that a connection can use is bounded: its number, its time, and
//! the memory of all bodies together.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::StreamExt as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use kai_daemon::serve::Listener;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::Queues;
use super::certificate::keeper::Served;
use super::certificate::provider;
use super::metrics::{Ending, Metrics};
use super::review::{
    Answer, Context, ENTRIES_MAX, Hook, Malformed, Verdict, answer, entries, namespace, read, write,
};
use super::settings::Settings;
use crate::error::Error;

/// The largest body: two versions of an object of the API server's 3 MiB, and what is around them.
const BODY_MAX: usize = 7 << 20;
/// Memory of all bodies together, and the unit in which it is taken.
const BODIES_MAX: usize = 16 << 20;
const BODY_UNIT: usize = 1 << 10;
/// Small questions, as nearly all are: the bytes of a body, and the entries of what is read of it. And what all of them have.
const SMALL_BODY_MAX: usize = 64 << 10;
const SMALL_TREE_MAX: usize = 2_000;
const SMALL_BODIES_MAX: usize = 4 << 20;
const SMALL_TREES_MAX: usize = 50_000;
/// Connections at once; a replica of the API server holds few.
const CONNECTIONS_MAX: usize = 512;
/// A question is answered within this time or not at all; the API server waits for 10 s.
const ANSWER_MAX: Duration = Duration::from_secs(9);
/// A new connection shows within this time who it is, and asks within it.
const FIRST_MAX: Duration = Duration::from_secs(10);
/// An idle connection stays: the API server closes it after 90 s, and is to be the one who does.
const IDLE_MAX: Duration = Duration::from_mins(2);
/// Time that questions which were asked before the end may take.
const DRAIN: Duration = Duration::from_secs(5);
/// Wait after the system refused a connection: it has no more files.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// Letters of a token.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const TOKEN_LEN: usize = 7;

/// Everything that answers depend on, as it changes.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// None until the Config was looked for.
    pub(super) settings: watch::Receiver<Option<Arc<Settings>>>,
    /// The queues, where their quotas are compared.
    pub(super) queues: Option<Queues>,
    pub(super) metrics: Metrics,
}

/// A listener that is bound and not yet served.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    local: SocketAddr,
}

impl Server {
    /// Binds an address; one that begins with a colon is on all interfaces.
    pub(super) async fn bind(address: &str) -> Result<Self, Error> {
        let listener = Listener::bind(address, "--webhook-listen-address").await?;
        Ok(Self { local: listener.local, listener: listener.into_inner() })
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.local
    }

    /// Serves until the token ends it, and then what was asked before.
    pub(super) async fn run(self, served: Arc<Served>, known: Known, stop: CancellationToken) {
        let config =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let mut config = match config {
            Ok(config) => config.with_no_client_auth().with_cert_resolver(served),
            Err(error) => {
                tracing::error!(%error, "failed to set up TLS for admission");
                return;
            }
        };
        // The API server asks in this version, and one that has no streams has no floods of them.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let router = router(&known);
        let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                // Ended connections are forgotten.
                Some(_) = connections.join_next() => continue,
                accepted = self.accept(&slots) => accepted,
            };
            let Some((stream, slot)) = accepted else { continue };
            let (acceptor, router, stop) = (acceptor.clone(), router.clone(), stop.clone());
            connections.spawn(async move {
                converse(stream, acceptor, router, stop).await;
                drop(slot);
            });
        }
        // Whoever is not done by then has to ask again.
        let _ = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
    }

    async fn accept(&self, slots: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let slot = slots.clone().acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, _)) => Some((stream, slot)),
            Err(error) => {
                tracing::warn!(%error, "failed to take a connection for admission");
                tokio::time::sleep(ACCEPT_AGAIN).await;
                None
            }
        }
    }
}

/// One connection, until it ends or has to.
async fn converse(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    router: Router,
    stop: CancellationToken,
) {
    // Whoever breaks off here has learned nothing and cost little.
    let Ok(Ok(stream)) = timeout(FIRST_MAX, acceptor.accept(stream)).await else { return };
    let asked = Arc::new(Notify::new());
    let told = asked.clone();
    let service = tower::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        told.notify_one();
        tower::ServiceExt::oneshot(router.clone(), request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        biased;
        _ = connection.as_mut() => return,
        first = timeout(FIRST_MAX, asked.notified()) => if first.is_err() { return },
    }
    tokio::select! {
        biased;
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    // What is being answered still is; errors are the client's.
    let _ = connection.await;
}

/// Memory that questions share.
#[derive(Clone, Debug)]
struct Room {
    /// For small questions, which wait for none that are large.
    small: Arc<Memory>,
    large: Arc<Memory>,
    /// One large question of a namespace at a time, so that namespaces take turns.
    turns: Arc<Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>>,
}

#[derive(Debug)]
struct Memory {
    /// For bodies, in units.
    bodies: Arc<Semaphore>,
    /// For what is read of them, in entries: one question may take it all.
    entries: Arc<Semaphore>,
}

impl Memory {
    fn new(bodies: usize, entries: usize) -> Arc<Self> {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Arc::new(Self { bodies: semaphore(bodies / BODY_UNIT), entries: semaphore(entries) })
    }
}

impl Room {
    fn new() -> Self {
        Self {
            small: Memory::new(SMALL_BODIES_MAX, SMALL_TREES_MAX),
            large: Memory::new(BODIES_MAX, ENTRIES_MAX),
            turns: Arc::default(),
        }
    }

    /// Room for a body of a length that was announced.
    fn bodies(&self, length: Option<usize>) -> Arc<Semaphore> {
        let is_small = length.is_some_and(|length| length <= SMALL_BODY_MAX);
        if is_small { self.small.bodies.clone() } else { self.large.bodies.clone() }
    }

    /// Waits for room for the tree of a question, and for its namespace's turn where it is large.
    async fn tree(&self, hook: Hook, body: &[u8]) -> Place {
        let count = entries(body);
        if count > hook.entries_max() {
            // No tree is made of it.
            return Place { _permit: None, _turn: None };
        }
        let (turn, room) = if count <= SMALL_TREE_MAX {
            (None, &self.small.entries)
        } else {
            let turn = self.turn(&namespace(body));
            (Some(turn.lock_owned().await), &self.large.entries)
        };
        let wanted = u32::try_from(count).unwrap_or(u32::MAX);
        let permit = room.clone().acquire_many_owned(wanted).await.ok();
        Place { _permit: permit, _turn: turn }
    }

    fn turn(&self, namespace: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        turns.entry(namespace.to_owned()).or_default().clone()
    }
}

/// Room that is held for a tree.
struct Place {
    _permit: Option<OwnedSemaphorePermit>,
    _turn: Option<tokio::sync::OwnedMutexGuard<()>>,
}

fn router(known: &Known) -> Router {
    let room = Room::new();
    Hook::ALL.into_iter().fold(Router::new(), |router, hook| {
        let (known, room) = (known.clone(), room.clone());
        let take = move |request: Request| {
            let (known, room) = (known.clone(), room.clone());
            async move { take(hook, request, &known, room).await }
        };
        router.route(hook.path(), post(take))
    })
}

async fn take(hook: Hook, request: Request, known: &Known, room: Room) -> Response {
    let began = Instant::now();
    let done = timeout(ANSWER_MAX, handle(hook, request, known, room)).await;
    let (ending, response) = done.unwrap_or_else(|_| {
        let why = "the question took too long to arrive, or too many were asked at once";
        (Ending::Late, (StatusCode::SERVICE_UNAVAILABLE, why).into_response())
    });
    known.metrics.count(hook, ending, began.elapsed());
    response
}

async fn handle(hook: Hook, request: Request, known: &Known, room: Room) -> (Ending, Response) {
    let refuse = |status: StatusCode, why: String| {
        let ending = if status.is_client_error() { Ending::Malformed } else { Ending::Late };
        tracing::debug!(webhook = hook.name(), %status, "{why}");
        (ending, (status, why).into_response())
    };
    let (body, _body_room) = match receive(request, &room).await {
        Ok(received) => received,
        Err((status, why)) => return refuse(status, why),
    };
    let _tree_room = room.tree(hook, &body).await;
    let question = match read(hook, &body) {
        Ok(question) => question,
        // Its user is told, and not the API server alone.
        Err(ref error @ Malformed::Entries { ref uid, .. }) => {
            let verdict = Verdict::Denied(error.to_string());
            let denied = write(uid, &Answer { verdict, warnings: Vec::new() });
            return (Ending::Denied, axum::Json(denied).into_response());
        }
        Err(error) => return refuse(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let settings = known.settings.borrow().clone();
    let Some(settings) = settings else {
        let why = "the Config has not been read yet".to_owned();
        return refuse(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    let queues = known
        .queues
        .as_ref()
        .map(|queues| queues.lock().unwrap_or_else(PoisonError::into_inner).clone());
    let token = token();
    let context = Context { settings: &settings, queues: queues.as_ref(), token: &token };
    let answer = answer(hook, &question, &context);
    let ending = match &answer.verdict {
        Verdict::Allowed => Ending::Allowed,
        Verdict::Patched(_) => Ending::Patched,
        Verdict::Denied(why) => {
            tracing::debug!(
                webhook = hook.name(),
                namespace = question.namespace,
                "refused: {why}"
            );
            Ending::Denied
        }
    };
    (ending, axum::Json(write(&question.uid, &answer)).into_response())
}

/// Reads a body into memory that is taken as it arrives: who only announces much takes none from others.
async fn receive(
    request: Request,
    room: &Room,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), (StatusCode, String)> {
    let too_large = || {
        let why = format!("the body has more than {BODY_MAX} bytes");
        (StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length: Option<usize> = length.and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length| length > BODY_MAX) {
        return Err(too_large());
    }
    let room = room.bodies(length);
    let mut chunks = request.into_body().into_data_stream();
    let (mut body, mut held) = (Vec::new(), None::<OwnedSemaphorePermit>);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| {
            (StatusCode::BAD_REQUEST, format!("failed to read the body: {error}"))
        })?;
        let size = body.len() + chunk.len();
        if size > BODY_MAX {
            return Err(too_large());
        }
        let before = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(size.div_ceil(BODY_UNIT) - before).unwrap_or(u32::MAX);
        let taken = room.clone().acquire_many_owned(more).await;
        let taken =
            taken.map_err(|_| (StatusCode::SERVICE_UNAVAILABLE, "the server ends".to_owned()))?;
        match &mut held {
            Some(held) => held.merge(taken),
            None => held = Some(taken),
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body, held))
}

/// Seven random letters or digits.
fn token() -> String {
    let random = uuid::Uuid::new_v4();
    // The last bytes of the form are random in all their bits.
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    random.as_bytes().iter().rev().take(TOKEN_LEN).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use kai_api::config::ConfigSpec;
    use kai_daemon::metrics::Register;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{ClientConfig, RootCertStore};
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio_rustls::TlsConnector;

    use super::super::certificate::{load, make};
    use super::super::settings::Flags;
    use super::*;

    /// A server with a certificate of its own, and a connector that knows it.
    async fn serve(stop: &CancellationToken) -> (SocketAddr, TlsConnector) {
        let material = make(&["localhost".to_owned()], UnixTime::now()).expect("a certificate");
        let served = Arc::new(Served::default());
        served.set(load(&material).expect("a certificate"));
        let flags = Flags { scheduler: "kai-scheduler".into(), queue_label: "q".into() };
        let settings = Arc::new(Settings::of(Some(&ConfigSpec::default()), &flags));
        let (_, settings) = watch::channel(Some(settings));
        let metrics = Metrics::new("kai", &Register::default()).expect("names");
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        let local = server.local();
        let known = Known { settings, queues: None, metrics };
        tokio::spawn(server.run(served, known, stop.clone()));
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(material.authorities.as_bytes());
        roots.add(authority.expect("an authority")).expect("an authority");
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        (local, TlsConnector::from(Arc::new(config)))
    }

    /// Asks and returns what is answered, whole.
    async fn ask(address: SocketAddr, connector: &TlsConnector, head: &str, body: &str) -> String {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let name = ServerName::try_from("localhost").expect("a name");
        let mut stream = connector.connect(name, stream).await.expect("a handshake");
        let question = format!("{head}\r\nHost: h\r\nConnection: close\r\n\r\n{body}");
        stream.write_all(question.as_bytes()).await.expect("written");
        let mut text = String::new();
        // The server need not take leave.
        let _ = stream.read_to_string(&mut text).await;
        text
    }

    #[tokio::test]
    async fn questions_are_answered_and_everything_else_is_refused() {
        let stop = CancellationToken::new();
        let _end = stop.clone().drop_guard();
        let (address, connector) = serve(&stop).await;
        let question =
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request":
            {"uid": "u-1", "operation": "CREATE", "namespace": "ns", "object": {"metadata": {},
                "spec": {"schedulerName": "kai-scheduler"}}}})
            .to_string();
        let nothing = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u", "operation": "CREATE"}})
        .to_string();
        for (head, body, expect) in [
            ("POST /mutate--v1-pod HTTP/1.1", question.as_str(), "\"uid\":\"u-1\""),
            ("POST /mutate--v1-pod HTTP/1.1", nothing.as_str(), "400"),
            ("POST /mutate--v1-pod HTTP/1.1", "{}", "400"),
            ("POST /mutate--v1-pod HTTP/1.1", "nonsense", "400"),
            ("POST /elsewhere HTTP/1.1", "{}", "404"),
            ("GET /mutate--v1-pod HTTP/1.1", "", "405"),
        ] {
            let head = format!("{head}\r\nContent-Length: {}", body.len());
            let answer = ask(address, &connector, &head, body).await;
            assert!(answer.contains(expect), "{head} {body}: {answer}");
        }
        let entries = vec![json!({"name": ""}); ENTRIES_MAX];
        let many = json!({"request": {"uid": "u", "operation": "CREATE", "object": {"spec":
            {"containers": [{"env": entries}]}}}})
        .to_string();
        let head = format!("POST /mutate--v1-pod HTTP/1.1\r\nContent-Length: {}", many.len());
        let answer = ask(address, &connector, &head, &many).await;
        for part in ["200 OK", "\"uid\":\"u\"", "\"allowed\":false", "more than 40000 entries"] {
            assert!(answer.contains(part), "{part}: {answer}");
        }
        let large = format!("POST /mutate--v1-pod HTTP/1.1\r\nContent-Length: {}", BODY_MAX + 1);
        let answer = ask(address, &connector, &large, "").await;
        assert!(answer.contains("413"), "{answer}");
    }

    /// Whoever asks about many large pods has their own wait, and nobody else's.
    #[tokio::test(start_paused = true)]
    async fn large_questions_take_turns_and_hold_up_no_small_one() {
        let room = Room::new();
        let body = |namespace: &str, count: usize| {
            let object = json!({"list": vec![json!({}); count]});
            let request = json!({"uid": "u", "namespace": namespace, "object": object});
            json!({"request": request}).to_string().into_bytes()
        };
        let ask = async |namespace: &str, count: usize| {
            let body = body(namespace, count);
            timeout(FIRST_MAX, room.tree(Hook::MutatePod, &body)).await.ok()
        };
        let first = ask("a", 15_000).await;
        assert!(first.is_some());
        assert!(ask("a", 15_000).await.is_none(), "it waits for the first of its namespace");
        assert!(ask("b", 15_000).await.is_some());
        assert!(ask("a", 10).await.is_some());
        drop(first);
        assert!(ask("a", 15_000).await.is_some());
        assert_eq!(room.bodies(Some(100)).available_permits(), SMALL_BODIES_MAX / BODY_UNIT);
        assert_eq!(room.bodies(None).available_permits(), BODIES_MAX / BODY_UNIT);
    }

    /// Texts may be full of braces and commas, as annotations that hold JSON are.
    #[test]
    fn entries_are_those_outside_of_texts() {
        for (body, count) in [
            (r#"{"a": [{}, {}]}"#, 4),
            (r#"{"a,{": "{,\"{,\\", "b": {}}"#, 3),
            (r#"{"a": "{{{{"#, 1),
            ("", 0),
        ] {
            assert_eq!(entries(body.as_bytes()), count, "{body}");
        }
    }

    /// Time jumps while nobody does anything.
    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_cut_off() {
        let stop = CancellationToken::new();
        let _end = stop.clone().drop_guard();
        let (address, _) = serve(&stop).await;
        let mut silent = TcpStream::connect(address).await.expect("a connection");
        let began = tokio::time::Instant::now();
        let mut text = Vec::new();
        let _ = silent.read_to_end(&mut text).await;
        assert_eq!((text.len(), began.elapsed().as_secs()), (0, FIRST_MAX.as_secs()));
    }

    #[test]
    fn tokens_differ_and_are_letters_and_digits() {
        let tokens: std::collections::BTreeSet<String> = (0..100).map(|_| token()).collect();
        assert_eq!(tokens.len(), 100);
        let is_token = |token: &String| {
            token.len() == TOKEN_LEN && token.bytes().all(|letter| LETTERS.contains(&letter))
        };
        assert!(tokens.iter().all(is_token), "{tokens:?}");
    }
}
