//! Takes the API server's questions over TLS.
//!
//! Whoever reaches the port may ask. What connections can use is bounded by [`kai_daemon::serve`], what questions can by
//! [`Room`].

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use kai_daemon::serve::{Bounds, Listener, accept, hold};
use rustls::ServerConfig;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::Queues;
use super::certificate::keeper::Served;
use super::certificate::provider;
use super::metrics::{Ending, Metrics};
use super::review::{Answer, Context, Hook, Malformed, Verdict, again, answer, read, write};
use super::room::{Place, Refusal, Room};
use super::settings::Settings;
use crate::error::Error;

/// A question is answered so long before the API server waits no more, or not at all.
const BEFORE_END: Duration = Duration::from_secs(1);
/// Bounds of connections. A replica of the API server holds few, and closes one that is idle after 90 s: it is to be the one
/// who does.
const BOUNDS: Bounds = Bounds {
    connections: 512,
    first: Duration::from_secs(10),
    idle: Duration::from_mins(2),
    answer: Duration::from_secs(15),
};
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
pub(super) struct Server(Listener);

impl Server {
    /// Binds an address; one that begins with a colon is on all interfaces.
    pub(super) async fn bind(address: &str) -> Result<Self, Error> {
        Ok(Self(Listener::bind(address, "--webhook-listen-address").await?))
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.0.local
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
        let shake = move |stream| acceptor.accept(stream);
        accept(self.0, BOUNDS, shake, router(&known), stop).await;
    }
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
    let mut place = Place::default();
    let done = timeout(answer_max(hook), handle(hook, request, known, &room, &mut place)).await;
    let (ending, response) = done.unwrap_or_else(|_| {
        place = Place::default();
        let why = "the question took too long to arrive, or too many were asked at once";
        (Ending::Late, (StatusCode::SERVICE_UNAVAILABLE, why).into_response())
    });
    known.metrics.count(hook, ending, began.elapsed());
    // An answer may be as large as its question, or larger: the next large one waits until it was read.
    response.map(|body| hold(body, place))
}

/// Says within which time a question is answered.
fn answer_max(hook: Hook) -> Duration {
    Duration::from_secs(hook.timeout()).saturating_sub(BEFORE_END)
}

async fn handle(
    hook: Hook,
    request: Request,
    known: &Known,
    room: &Room,
    place: &mut Place,
) -> (Ending, Response) {
    let refuse = |status: StatusCode, why: String| {
        let ending = if status.is_client_error() { Ending::Malformed } else { Ending::Late };
        tracing::debug!(webhook = hook.name(), %status, "{why}");
        (ending, (status, why).into_response())
    };
    let body = match room.receive(hook, request, place).await {
        Ok(body) => body,
        Err(Refusal::Unread(status, why)) => return refuse(status, why),
        // Its user is told, and not the API server alone.
        Err(Refusal::Crowded(uid)) => {
            tracing::debug!(webhook = hook.name(), "too many of a namespace are asked at once");
            return (Ending::Late, axum::Json(again(&uid)).into_response());
        }
    };
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

/// Seven random letters or digits.
fn token() -> String {
    let random = uuid::Uuid::new_v4();
    // The last bytes of the form are random in all their bits.
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    random.as_bytes().iter().rev().take(TOKEN_LEN).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use kai_api::config::ConfigSpec;
    use kai_daemon::metrics::Register;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{ClientConfig, RootCertStore};
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;

    use super::super::certificate::{load, make};
    use super::super::review::ENTRIES_MAX;
    use super::super::room::BODY_MAX;
    use super::super::settings::Flags;
    use super::*;

    /// Gives what answers depend on in a cluster with an empty Config.
    fn known() -> Known {
        let flags = Flags { scheduler: "kai-scheduler".into(), queue_label: "q".into() };
        let settings = Arc::new(Settings::of(Some(&ConfigSpec::default()), &flags));
        let (_, settings) = watch::channel(Some(settings));
        let metrics = Metrics::new("kai", &Register::default()).expect("names");
        Known { settings, queues: None, metrics }
    }

    /// A server with a certificate of its own, and a connector that knows it.
    async fn serve(stop: &CancellationToken) -> (SocketAddr, TlsConnector) {
        let material = make(&["localhost".to_owned()], UnixTime::now()).expect("a certificate");
        let served = Arc::new(Served::default());
        served.set(load(&material).expect("a certificate"));
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        let local = server.local();
        tokio::spawn(server.run(served, known(), stop.clone()));
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

    /// Bodies that stop before their end are as large as the room that small ones once had.
    #[tokio::test]
    async fn who_leaves_questions_open_keeps_nobody_waiting() {
        let stop = CancellationToken::new();
        let _end = stop.clone().drop_guard();
        let (address, connector) = serve(&stop).await;
        let (name, mut open) = (ServerName::try_from("localhost").expect("a name"), Vec::new());
        let head = "POST /mutate--v1-pod HTTP/1.1\r\nHost: h\r\nContent-Length: 65536\r\n\r\n";
        for _ in 0..100 {
            let stream = TcpStream::connect(address).await.expect("a connection");
            let mut stream = connector.connect(name.clone(), stream).await.expect("a handshake");
            // It may have ended before all is written.
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&vec![b' '; 65_535]).await;
            open.push(stream);
        }
        let head = "POST /validate--v1-pod HTTP/1.1\r\nContent-Length: 2";
        let most = answer_max(Hook::ValidatePod) / 3;
        let asked = timeout(most, ask(address, &connector, head, "{}")).await;
        assert!(asked.is_ok_and(|answer| answer.contains("400")));
    }

    /// The first has its turn until its answer is read, so that eight wait for as long as they may.
    #[tokio::test(start_paused = true)]
    async fn who_finds_many_before_it_is_told_to_try_again() {
        let (known, room) = (known(), Room::new());
        let object = json!({"fill": "x".repeat(100 << 10)});
        let question = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u-1", "operation": "CREATE", "namespace": "ns", "object": object}});
        let asked = (0..11).map(|_| {
            let request = Request::new(Body::from(question.to_string()));
            take(Hook::ValidatePodGroup, request, &known, room.clone())
        });
        let began = tokio::time::Instant::now();
        let mut answers = futures::future::join_all(asked).await;
        let most = answer_max(Hook::ValidatePodGroup);
        assert_eq!(began.elapsed().as_secs(), most.as_secs());
        let codes: Vec<u16> = answers.iter().map(|answer| answer.status().as_u16()).collect();
        assert_eq!(codes, [200, 503, 503, 503, 503, 503, 503, 503, 503, 200, 200]);
        let last = answers.pop().expect("eleven asked").into_body();
        let last = to_bytes(last, BODY_MAX).await.expect("a body");
        let last: serde_json::Value = serde_json::from_slice(&last).expect("an answer");
        let response = &last["response"];
        assert_eq!(response["uid"], "u-1");
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], 429);
        assert_eq!(response["status"]["details"]["retryAfterSeconds"], 1);
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
        assert_eq!((text.len(), began.elapsed().as_secs()), (0, BOUNDS.first.as_secs()));
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
