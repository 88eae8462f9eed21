//! The two requests of this program: its own pod read, and its own pod annotated.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kai_api::names::annotation;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Time that a request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read; a pod has a megabyte at most, three with its status.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// The reason why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It may go away by itself: try again.
    #[error("{0}")]
    Passing(String),
    /// It stays: somebody has to change something.
    #[error("{0}")]
    Lasting(String),
}

/// This pod, as the API server has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub version: String,
    /// The device that is written on it already.
    pub device: Option<String>,
}

/// The pod that this program runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `POD_NAMESPACE`.
    pub namespace: String,
    /// `POD_NAME`.
    pub name: String,
    /// `POD_UID`, where the pod hands it on: a pod of the same name that came after this one is not touched then.
    pub uid: Option<String>,
}

/// A client of the API server, under the pod's own account.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    /// Of this pod.
    url: String,
    pod: Identity,
    token: PathBuf,
}

impl Client {
    /// Makes a client from what the kubelet gives to every pod: `server` is host and port, `account` the folder with
    /// `token` and `ca.crt`.
    ///
    /// # Errors
    /// The certificates cannot be read, which stays so.
    pub fn new(server: &str, account: &Path, pod: Identity) -> Result<Self, Trouble> {
        let path = account.join("ca.crt");
        let told = |error: &dyn std::fmt::Display| {
            Trouble::Lasting(format!(
                "failed to read the certificates in {}: {error}",
                path.display()
            ))
        };
        let pem = std::fs::read(&path).map_err(|error| told(&error))?;
        let mut certificates = Vec::new();
        for item in parse_pem(&pem) {
            if let PemItem::Certificate(certificate) = item.map_err(|error| told(&error))? {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            return Err(told(&"there are none"));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(certificates)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .https_only(true)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("kai-reservation/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let url = format!("https://{server}/api/v1/namespaces/{}/pods/{}", pod.namespace, pod.name);
        Ok(Self { agent, url, pod, token: account.join("token") })
    }

    /// Reads this pod.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub fn read(&self) -> Result<Own, Trouble> {
        let request = self.agent.get(&self.url).header("authorization", self.bearer()?);
        let answer = self.take(request.call())?;
        let metadata = &answer["metadata"];
        let text =
            |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let (Some(uid), Some(version)) =
            (text(&metadata["uid"]), text(&metadata["resourceVersion"]))
        else {
            return Err(Trouble::Passing(format!(
                "{} answered with something else than a pod",
                self.url
            )));
        };
        if self.pod.uid.as_ref().is_some_and(|own| *own != uid) {
            return Err(Trouble::Lasting(format!(
                "{self}: another pod of this name has taken its place"
            )));
        }
        Ok(Own { uid, version, device: text(&metadata["annotations"][annotation::RESERVED_GPU]) })
    }

    /// Writes the device on the pod that was read; on no other, and not if it has changed since.
    ///
    /// # Errors
    /// See [`Trouble`]; a change of the pod meanwhile is [`Trouble::Passing`].
    pub fn write(&self, own: &Own, device: &str) -> Result<(), Trouble> {
        let patch = json!({"metadata": {
            "uid": own.uid,
            "resourceVersion": own.version,
            "annotations": {annotation::RESERVED_GPU: device},
        }});
        let request = self
            .agent
            .patch(&self.url)
            .header("authorization", self.bearer()?)
            .content_type("application/merge-patch+json");
        self.take(request.send(patch.to_string())).map(|_| ())
    }

    /// The kubelet writes a new token from time to time, so it is read for each request.
    fn bearer(&self) -> Result<String, Trouble> {
        let read = std::fs::read_to_string(&self.token);
        let told = |error| {
            let path = self.token.display();
            Trouble::Lasting(format!("failed to read the account's token {path}: {error}"))
        };
        read.map(|token| format!("Bearer {}", token.trim())).map_err(told)
    }

    fn take(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, Trouble> {
        let failed = |error: &dyn std::fmt::Display| {
            Trouble::Passing(format!("failed to reach the API server at {}: {error}", self.url))
        };
        let mut answer = answer.map_err(|error| failed(&error))?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| failed(&error))?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        if answer.status().is_success() {
            return Ok(body);
        }
        let message = body["message"].as_str().unwrap_or("no message");
        Err(judge(status, &format!("{self}: the API server answered {status}: {message}")))
    }
}

impl std::fmt::Display for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "pod {}/{}", self.pod.namespace, self.pod.name)
    }
}

/// Tells whether an answer may be another one next time.
fn judge(status: u16, what: &str) -> Trouble {
    match status {
        // The token may just have been changed, the pod may have changed, or the server is starting or stopping.
        401 | 408 | 409 | 425 | 429 | 500.. => Trouble::Passing(what.to_owned()),
        // Roles refuse with "cannot"; policies say themselves what is wrong.
        403 if what.contains("cannot") => Trouble::Lasting(format!(
            "{what}; its account needs the role of deploy/rbac/reservation.yaml: kubectl kai install"
        )),
        404 => Trouble::Lasting(format!("{what}; is POD_NAME the name of this pod?")),
        _ => Trouble::Lasting(what.to_owned()),
    }
}

#[cfg(test)]
impl Client {
    /// A client with the account in `tests/account`, of a server that nobody reaches.
    pub(crate) fn unreachable() -> Self {
        let account = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/account");
        let pod = Identity { namespace: String::from("ns"), name: String::from("r"), uid: None };
        Self::new("127.0.0.1:1", &account, pod).expect("its certificates can be read")
    }
}

#[cfg(test)]
mod tests {
    use super::{Client, Trouble, judge};

    /// A file ends with a newline, and no header may have one.
    #[test]
    fn the_token_is_sent_without_the_end_of_its_file() {
        assert_eq!(Client::unreachable().bearer(), Ok(String::from("Bearer abc")));
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        for status in [401, 409, 429, 500, 503] {
            assert!(matches!(judge(status, "x"), Trouble::Passing(_)), "{status}");
        }
        for status in [302, 400, 403, 404, 422] {
            assert!(matches!(judge(status, "x"), Trouble::Lasting(_)), "{status}");
        }
    }
}
