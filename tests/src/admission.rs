//! Admission that stands beside the podgrouper, so that it answers whatever becomes of that one: the product's own review,
//! asked by the embedded API server without a socket, and by a real one over TLS.

use std::{convert::Infallible, sync::Arc};

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use kai_daemon::chance;
use kai_podgrouper::admission::{
    registrations,
    review::{Context, Hook, Request as Question, Verdict, answer, read, write},
    settings::{Flags, Settings},
};
use kai_sandbox::server::Webhooks;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, PostParams},
    client::Body,
    core::TypeMeta,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_rustls::TlsAcceptor;

/// The host of which the embedded API server asks without a socket.
const HOST: &str = "admission";
/// Letters of a token.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Gives the settings that the installed Config makes: pods may share GPUs.
pub fn settings() -> Settings {
    let flags = Flags {
        scheduler: kai_api::names::SCHEDULER_NAME.to_owned(),
        queue_label: String::from("kai.scheduler/queue"),
    };
    Settings { gpu_sharing: true, ..Settings::of(None, &flags) }
}

/// Has an embedded API server ask without a socket, once that is [registered](Address::register).
pub fn webhooks() -> Webhooks {
    let service = || tower::service_fn(answered::<Body>);
    Webhooks(Arc::new(move |uri| {
        (uri.host() == Some(HOST)).then(|| Client::new(service(), "default"))
    }))
}

/// Address that an API server asks.
#[derive(Debug)]
pub struct Address {
    url: String,
    /// The authority by which whoever answers proves itself, base64 of PEM.
    bundle: String,
}

impl Address {
    /// The one that an embedded API server with [`webhooks`] asks at.
    pub fn within() -> Self {
        Self { url: format!("https://{HOST}"), bundle: String::new() }
    }

    /// Has an API server ask here.
    ///
    /// # Errors
    /// What it says against that.
    pub async fn register(&self, client: &Client) -> Result<()> {
        for one in registrations(&settings(), &self.url, &self.bundle) {
            let types: TypeMeta = serde_json::from_value(one.clone())?;
            let object: DynamicObject = serde_json::from_value(one)?;
            let resource = ApiResource::from_gvk(&(&types).try_into()?);
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            api.create(&PostParams::default(), &object).await?;
        }
        Ok(())
    }
}

/// Answers over TLS until it is dropped.
#[derive(Debug)]
pub struct Front {
    /// Its address.
    pub address: Address,
    task: JoinHandle<()>,
}

impl Front {
    /// Answers on a free port of this machine.
    ///
    /// # Errors
    /// There is no port, or no certificate.
    pub async fn start() -> Result<Self> {
        let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()])?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("https://{}", listener.local_addr()?);
        let bundle = json!(k8s_openapi::ByteString(own.cert.pem().into_bytes()));
        let bundle = bundle.as_str().context("bytes are a text")?.to_owned();
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let service = TowerToHyperService::new(tower::service_fn(answered));
                    let server = auto::Builder::new(TokioExecutor::new());
                    // How a connection ends matters to who opened it.
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Ok(Self { address: Address { url, bundle }, task })
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers one question.
async fn answered<B>(request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible>
where
    B: BodyExt + Send,
{
    let said = |status: StatusCode, text: String| {
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = status;
        Ok(response)
    };
    let path = request.uri().path().to_owned();
    let Some(hook) = Hook::ALL.into_iter().find(|hook| hook.path() == path) else {
        return said(StatusCode::NOT_FOUND, path);
    };
    let Ok(body) = request.into_body().collect().await else {
        return said(StatusCode::BAD_REQUEST, String::from("the body breaks off"));
    };
    match read(hook, &body.to_bytes()) {
        Ok(question) => {
            let settings = settings();
            let context = Context { settings: &settings, queues: None, token: &token() };
            let answer = answer(hook, &question, &context);
            said(StatusCode::OK, write(&question.uid, &answer).to_string())
        }
        Err(error) => said(StatusCode::BAD_REQUEST, error.to_string()),
    }
}

/// Seven letters or digits, for the names of what belongs to a pod.
fn token() -> String {
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    chance::uuid().as_bytes().iter().rev().take(7).map(letter).collect()
}

/// Makes the pod that admission makes of one, without the sockets over which a server asks for it; `token` is for the names
/// of what belongs to it.
///
/// # Errors
/// Where admission refuses it, and why.
pub fn admitted_pod(
    pod: Value,
    namespace: &str,
    settings: &Settings,
    token: &str,
) -> Result<Value> {
    let mut question = Question {
        uid: String::from("question"),
        operation: String::from("CREATE"),
        namespace: namespace.to_owned(),
        object: pod,
        old_object: Value::Null,
    };
    let context = Context { settings, queues: None, token };
    for hook in [Hook::MutatePod, Hook::ValidatePod] {
        match answer(hook, &question, &context).verdict {
            Verdict::Allowed => {}
            Verdict::Patched(patch) => json_patch::patch(&mut question.object, &patch)?,
            Verdict::Denied(why) => bail!("admission refuses a pod: {why}"),
        }
    }
    Ok(question.object)
}
