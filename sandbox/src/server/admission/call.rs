//! The call of a webhook: HTTPS, with the authority that its configuration names.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Uri};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

use crate::server::object;

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Gives a client for the webhook at a URL; none where the network leads there.
type Find = dyn Fn(&Uri) -> Option<kube::Client> + Send + Sync;

/// Webhooks that are called without a socket.
#[derive(Clone)]
pub struct Webhooks(pub Arc<Find>);

impl std::fmt::Debug for Webhooks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Webhooks")
    }
}

/// Address of a webhook, and a client for it that keeps its connections.
pub(super) struct Endpoint {
    url: String,
    authority: Vec<u8>,
    /// The Service that the configuration names instead of a URL.
    service: Option<String>,
    timeout: Duration,
    webhooks: Option<Webhooks>,
    client: OnceLock<Result<kube::Client, String>>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Reads the `clientConfig` of a webhook.
    pub(super) fn read(webhook: &Value, webhooks: Option<Webhooks>) -> Self {
        use base64::Engine as _;
        let seconds = webhook.get("timeoutSeconds").and_then(Value::as_u64).unwrap_or(10);
        let bundle = object::text(webhook, "/clientConfig/caBundle");
        let service = webhook.pointer("/clientConfig/service").map(|service| {
            format!(
                "{}.{}.svc",
                object::text(service, "/name"),
                object::text(service, "/namespace")
            )
        });
        Self {
            url: object::text(webhook, "/clientConfig/url").to_owned(),
            authority: base64::engine::general_purpose::STANDARD.decode(bundle).unwrap_or_default(),
            service,
            timeout: Duration::from_secs(seconds.clamp(1, 30)),
            webhooks,
            client: OnceLock::new(),
        }
    }

    /// Sends a review and reads what comes back.
    ///
    /// # Errors
    /// Why there is no answer, in one sentence for the user who is refused because of it.
    pub(super) async fn post(&self, review: &Value) -> Result<Value, String> {
        if let Some(service) = &self.service {
            return Err(format!(
                "the Service {service} is not reached: the kai sandbox API server calls webhooks by clientConfig.url only"
            ));
        }
        let mark = if self.url.contains('?') { '&' } else { '?' };
        let url = format!("{}{mark}timeout={}s", self.url, self.timeout.as_secs());
        let failed = |why: &str| format!("Post {url:?}: {why}");
        let answered = tokio::time::timeout(self.timeout, self.send(&url, review)).await;
        match answered {
            Ok(answer) => answer.map_err(|why| failed(&why)),
            Err(_) => Err(failed("context deadline exceeded")),
        }
    }

    async fn send(&self, url: &str, review: &Value) -> Result<Value, String> {
        let client = self.client.get_or_init(|| self.connect()).as_ref().map_err(Clone::clone)?;
        let uri: Uri = url.parse().map_err(|error| format!("the URL: {error}"))?;
        let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let review = review.to_string().into_bytes();
        let request = || {
            Request::post(path)
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, "application/json")
                .body(Body::from(review.clone()))
                .map_err(|error| error.to_string())
        };
        let response = match client.send(request()?).await {
            Ok(response) => response,
            // A connection that was kept may be closed by the webhook just as it is used again: Go's client, which
            // kube-apiserver has, asks once more too.
            Err(_) => client.send(request()?).await.map_err(|error| sentence(&error))?,
        };
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        let bytes = body.await.map_err(|error| sentence(&*error))?.to_bytes();
        if !status.is_success() {
            return Err(format!("the server answered {status}"));
        }
        serde_json::from_slice(&bytes).map_err(|error| format!("the answer is no JSON: {error}"))
    }

    /// A client that trusts the authority of the configuration, and the system's where there is none.
    fn connect(&self) -> Result<kube::Client, String> {
        let uri: Uri = self.url.parse().map_err(|error| format!("the URL: {error}"))?;
        if let Some(client) = self.webhooks.as_ref().and_then(|Webhooks(find)| find(&uri)) {
            return Ok(client);
        }
        let host = uri.authority().ok_or("the URL names no host")?;
        let base: Uri = format!("https://{host}").parse().map_err(|_| "the URL names no host")?;
        let mut config = kube::Config::new(base);
        config.default_retry = false;
        if !self.authority.is_empty() {
            let found: Result<Vec<_>, _> =
                CertificateDer::pem_slice_iter(&self.authority).collect();
            let found = found.map_err(|error| format!("the caBundle: {error}"))?;
            config.root_cert = Some(found.iter().map(|one| one.as_ref().to_vec()).collect());
        }
        kube::Client::try_from(config).map_err(|error| sentence(&error))
    }
}

/// An error with all its causes.
fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let own = cause.to_string();
        if !text.ends_with(&own) {
            text = format!("{text}: {own}");
        }
        source = cause.source();
    }
    text
}
