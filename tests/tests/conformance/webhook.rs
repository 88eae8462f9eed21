//! A webhook that answers as a case says, over TLS on the loopback address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Answer of one path of the webhook.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    #[serde(default = "yes")]
    allowed: bool,
    /// The `status` of a refusal.
    status: Option<Value>,
    /// A JSON patch.
    patch: Option<Value>,
    #[serde(default)]
    warnings: Vec<String>,
    /// Adds its value to the annotation `trail`, which the object must have.
    trail: Option<String>,
    /// Annotations to write: JSON pointers into the review.
    #[serde(default)]
    echo: BTreeMap<String, String>,
    /// Answers so late.
    #[serde(default)]
    after_ms: u64,
    /// Answers this instead of a review.
    raw: Option<String>,
    /// The HTTP status.
    #[serde(default = "ok")]
    code: u16,
}

fn yes() -> bool {
    true
}

fn ok() -> u16 {
    200
}

#[derive(Debug, Default)]
struct Said {
    answers: BTreeMap<String, Answer>,
    /// Per case, the calls since they were last looked at.
    calls: BTreeMap<String, Vec<String>>,
}

/// The server.
#[derive(Debug, Clone)]
pub(crate) struct Webhook {
    /// `https://127.0.0.1:PORT`.
    pub(crate) url: String,
    /// For `caBundle`.
    pub(crate) authority: String,
    said: Arc<Mutex<Said>>,
}

impl Webhook {
    /// Starts the server; it ends with the test.
    pub(crate) async fn start() -> Self {
        let names = vec!["127.0.0.1".to_owned()];
        let own = rcgen::generate_simple_self_signed(names).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let said = Arc::<Mutex<Said>>::default();
        let routes =
            Router::new().route("/{case}/{name}", post(answer)).with_state(Arc::clone(&said));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (acceptor, routes) = (acceptor.clone(), routes.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let service = TowerToHyperService::new(routes);
                    let server = auto::Builder::new(TokioExecutor::new());
                    let _ended = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, authority: STANDARD.encode(own.cert.pem()), said }
    }

    /// Says what the paths of a case answer.
    pub(crate) fn set(&self, case: &str, answers: &BTreeMap<String, Answer>) {
        let mut said = self.said.lock().unwrap();
        for (name, answer) in answers {
            said.answers.insert(format!("{case}/{name}"), answer.clone());
        }
    }

    /// Lists who was called since the last look, as `name OPERATION resource object`.
    pub(crate) fn calls(&self, case: &str) -> Vec<String> {
        self.said.lock().unwrap().calls.remove(case).unwrap_or_default()
    }
}

async fn answer(
    State(said): State<Arc<Mutex<Said>>>,
    Path((case, name)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let review: Value = serde_json::from_slice(&body).unwrap();
    let text = |pointer: &str| review.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let found = {
        let mut said = said.lock().unwrap();
        let sub = text("/request/subResource");
        let slash = if sub.is_empty() { "" } else { "/" };
        let call = format!(
            "{name} {} {}{slash}{sub} {}",
            text("/request/operation"),
            text("/request/resource/resource"),
            text("/request/name")
        );
        said.calls.entry(case.clone()).or_default().push(call.trim().to_owned());
        said.answers.get(&format!("{case}/{name}")).cloned()
    };
    let Some(answer) = found else { return StatusCode::NOT_FOUND.into_response() };
    tokio::time::sleep(Duration::from_millis(answer.after_ms)).await;
    let code = StatusCode::from_u16(answer.code).unwrap();
    if let Some(raw) = answer.raw {
        return (code, raw).into_response();
    }
    let mut patch = answer.patch.unwrap_or(json!([]));
    let operations = patch.as_array_mut().unwrap();
    if let Some(mark) = answer.trail {
        let before = text("/request/object/metadata/annotations/trail");
        operations.push(json!({"op": "replace", "path": "/metadata/annotations/trail", "value": format!("{before}{mark}")}));
    }
    for (key, pointer) in &answer.echo {
        let found = review.pointer(pointer).cloned().unwrap_or_default();
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        operations.push(
            json!({"op": "add", "path": format!("/metadata/annotations/{key}"), "value": found}),
        );
    }
    let mut response = json!({ "uid": text("/request/uid"), "allowed": answer.allowed });
    if let Some(status) = answer.status {
        response["status"] = status;
    }
    if patch != json!([]) {
        response["patchType"] = json!("JSONPatch");
        response["patch"] = json!(STANDARD.encode(patch.to_string()));
    }
    if !answer.warnings.is_empty() {
        response["warnings"] = json!(answer.warnings);
    }
    let review = json!({ "apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response });
    (code, axum::Json(review)).into_response()
}
