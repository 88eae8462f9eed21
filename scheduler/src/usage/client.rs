//! Prometheus' HTTP API: instant queries.
//!
//! The address may hold credentials, so that messages repeat it without them.

use std::time::Duration;

use http::{Request, Uri, header, uri};
use kai_daemon::process::causes;
use kai_engine::Timestamp;
use kube::{Client, client::Body};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio::time::timeout;

use super::params::{Address, Params};
use super::query::{Sample, samples};
use crate::server::page::within;

/// Bounds the memory of one answer: some 80,000 series. Each queue has one, and one more for each pod that told of it in the
/// window.
pub(super) const ANSWER_BYTES_MAX: usize = 32 << 20;

/// Says why usage cannot be read.
#[derive(thiserror::Error, Debug)]
pub(super) enum Failure {
    /// The environment variable is not there.
    #[error("the environment variable {0} (usageDBConfig.connectionStringEnvVar) is not set")]
    NotSet(String),
    /// The address is none.
    #[error("{field} is no address: {what}; a form like http://prometheus:9090 was expected")]
    Address {
        /// Says where it is written.
        field: &'static str,
        /// Holds what is wrong with it.
        what: String,
    },
    /// No client can be made.
    #[error("failed to make a client: {0}")]
    Client(String),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// The connection failed.
    #[error("failed to reach it: {0}")]
    Broken(String),
    /// The answer is longer than anything that is wanted.
    #[error(
        "the answer has more than {} MiB: have fewer series asked for with usageDBConfig.usageParams.extraParams, as \
         by `sum by (queue_name) (kai_queue_allocated_gpus)`",
        ANSWER_BYTES_MAX >> 20
    )]
    TooLarge,
    /// It answered with an error, or with what cannot be understood.
    #[error("{message} ({code})")]
    Refused {
        /// The status code.
        code: u16,
        /// Its words, or ours.
        message: String,
    },
}

/// A client for the address that the parameters give, else for `fallback`, and that address without what is secret.
pub(super) fn connect(params: &Params, fallback: &str) -> Result<(Client, String), Failure> {
    let (field, text) = match &params.address {
        Address::Given(text) => ("usageDBConfig.connectionString", text.reveal().to_owned()),
        Address::Variable(name) => (
            "the value of usageDBConfig.connectionStringEnvVar",
            std::env::var(&**name).map_err(|_| Failure::NotSet(name.to_string()))?,
        ),
        Address::Fallback => {
            ("the address of Prometheus (--usage-prometheus-url)", fallback.to_owned())
        }
    };
    let wrong = |what: String| Failure::Address { field, what };
    let given: Uri = text.trim_end_matches('/').parse().map_err(|error| {
        let error: uri::InvalidUri = error;
        wrong(error.to_string())
    })?;
    let mut parts = given.into_parts();
    let scheme = parts.scheme.as_ref().map_or("", uri::Scheme::as_str);
    if !matches!(scheme, "http" | "https") {
        return Err(wrong(String::from("it begins with neither http:// nor https://")));
    }
    let authority = parts.authority.take().ok_or_else(|| wrong(String::from("it has no host")))?;
    let (user, host) = match authority.as_str().rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority.as_str()),
    };
    parts.authority = Some(host.parse().map_err(|_| wrong(String::from("its host is none")))?);
    let address = Uri::from_parts(parts).map_err(|error| wrong(error.to_string()))?;
    // The path and the query may hold tokens.
    let scheme = address.scheme_str().unwrap_or_default();
    let host = address.authority().map_or("", uri::Authority::as_str);
    let shown = format!("{scheme}://{host}");
    let mut config = kube::Config::new(address);
    config.default_retry = false;
    config.connect_timeout = Some(params.timeout);
    if let Some(user) = user {
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        config.auth_info.username = Some(decoded(name));
        config.auth_info.password = Some(decoded(password).into());
    }
    let client = Client::try_from(config).map_err(|error| Failure::Client(causes(&error)))?;
    Ok((client, shown))
}

/// Asks for the value of a query at `now`.
pub(super) async fn ask(
    client: &Client,
    query: &str,
    now: Timestamp,
    patience: Duration,
) -> Result<Vec<Sample>, Failure> {
    let encoded = utf8_percent_encode(query, NON_ALPHANUMERIC);
    let (seconds, millis) = (now.0 / 1000, patience.as_millis());
    let form = format!("query={encoded}&time={seconds}&timeout={millis}ms");
    let request = Request::post("/api/v1/query")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(form.into_bytes()))
        .map_err(|error| Failure::Broken(error.to_string()))?;
    let exchange = async {
        let answer = client.send(request).await.map_err(|error| causes(&error))?;
        let (parts, body) = answer.into_parts();
        let body = within(body, ANSWER_BYTES_MAX).await.map_err(|error| causes(&error))?;
        Ok((parts.status, body))
    };
    let (status, body) = timeout(patience, exchange)
        .await
        .map_err(|_| Failure::Silent(patience))?
        .map_err(Failure::Broken)?;
    let body = body.ok_or(Failure::TooLarge)?;
    samples(&body).map_err(|what| {
        let reason = status.canonical_reason().unwrap_or("unknown status");
        let message = if status.is_success() { what } else { format!("{reason}: {what}") };
        Failure::Refused { code: status.as_u16(), message }
    })
}
