//! Manifests from the web: over the client's own TLS, without any credentials of the cluster, bounded in size, time and
//! redirects.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{Request, Uri, header};
use http_body_util::{BodyExt as _, Limited};
use kube::client::Body;
use kube::{Client, Config};

use crate::cluster::chain;
use crate::print::error::{Error, Exit, Problem, number, sentence};
use crate::print::output::clean;

/// The largest manifest that is read; the API server takes far less.
pub(super) const BYTES_MAX: u64 = 16 << 20;
/// Time for the whole of it.
const TIMEOUT: Duration = Duration::from_secs(30);
/// More redirects than an honest server needs.
const REDIRECTS_MAX: usize = 5;

/// Tells whether a word behind `-f` is an address.
pub(super) fn is_url(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Reads the text behind an address; `env` says which proxy to take.
///
/// # Errors
/// It cannot be reached, or answers with anything but a text that is small enough.
pub(super) async fn text(url: &str, env: &BTreeMap<String, String>) -> Result<Vec<u8>, Error> {
    match tokio::time::timeout(TIMEOUT, follow(url, env)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(why)) => Err(failed(url, &why)),
        Err(_) => Err(failed(url, &format!("no answer within {} s", TIMEOUT.as_secs()))),
    }
}

fn failed(url: &str, why: &str) -> Error {
    // What stands before an @ may be a password, which no log of a terminal should keep.
    let shown = match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://...@{rest}"),
        (_, _) => url.to_owned(),
    };
    let what = format!("failed to read {}: {}", clean(&shown), clean(why));
    Problem::new(number::FILE, Exit::Failure, what)
        .fix("fetch it yourself, look at it, and submit the file: -f FILE")
        .into()
}

async fn follow(url: &str, env: &BTreeMap<String, String>) -> Result<Vec<u8>, String> {
    let mut at = url.to_owned();
    for _ in 0..=REDIRECTS_MAX {
        match once(&at, env).await? {
            Answer::Text(bytes) => return Ok(bytes),
            Answer::Elsewhere(next) if at.starts_with("https:") && !next.starts_with("https:") => {
                return Err(format!("it leads to {next}, which is not encrypted"));
            }
            Answer::Elsewhere(next) => at = next,
        }
    }
    Err(format!("more than {REDIRECTS_MAX} redirects"))
}

enum Answer {
    Text(Vec<u8>),
    Elsewhere(String),
}

async fn once(url: &str, env: &BTreeMap<String, String>) -> Result<Answer, String> {
    let uri: Uri = url.parse().map_err(|e| format!("it is no address: {e}"))?;
    let authority = uri.authority().ok_or("it names no host")?.as_str();
    // What stands before an @ would go out as a password.
    if authority.contains('@') {
        return Err("it holds a user name or a password".into());
    }
    let scheme = uri.scheme_str().unwrap_or("https");
    let base: Uri = format!("{scheme}://{authority}").parse().map_err(|e| format!("{e}"))?;
    let mut config = Config::new(base);
    config.connect_timeout = Some(TIMEOUT);
    config.read_timeout = Some(TIMEOUT);
    config.proxy_url = proxy(scheme, env)?;
    let client = Client::try_from(config).map_err(|e| sentence(&e))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path)
        .header(header::ACCEPT, "application/yaml, application/json, text/plain, */*;q=0.1")
        .body(Body::empty())
        .map_err(|e| e.to_string())?;
    let answer = client.send(request).await.map_err(|e| unsent(&e))?;
    let status = answer.status();
    if status.is_redirection() {
        let next = answer.headers().get(header::LOCATION).and_then(|next| next.to_str().ok());
        let next = next.ok_or_else(|| format!("{status} without a place to go to"))?;
        return Ok(Answer::Elsewhere(absolute(next, scheme, authority)));
    }
    if !status.is_success() {
        return Err(status.to_string());
    }
    let limit = usize::try_from(BYTES_MAX).unwrap_or(usize::MAX);
    let body = Limited::new(answer.into_body(), limit).collect().await;
    let body = body.map_err(|e| format!("{e} (at most {} MiB are read)", BYTES_MAX >> 20))?;
    Ok(Answer::Text(body.to_bytes().to_vec()))
}

/// Says why no answer came, without the name that the client gives to all such causes.
fn unsent(error: &kube::Error) -> String {
    match error {
        kube::Error::Service(source) => chain(source.as_ref()),
        error => chain(error),
    }
}

/// Says where a redirect leads: it may leave out the host.
fn absolute(next: &str, scheme: &str, authority: &str) -> String {
    match next {
        next if is_url(next) => next.to_owned(),
        next if next.starts_with("//") => format!("{scheme}:{next}"),
        next => format!("{scheme}://{authority}/{}", next.trim_start_matches('/')),
    }
}

/// The proxy that the environment names, as curl reads it.
fn proxy(scheme: &str, env: &BTreeMap<String, String>) -> Result<Option<Uri>, String> {
    let names = if scheme == "https" { ["HTTPS_PROXY", "https_proxy"] } else { ["http_proxy", ""] };
    let named = names.iter().find_map(|name| env.get(*name)).filter(|url| !url.is_empty());
    named
        .map(|url| url.parse().map_err(|e| format!("the proxy {url} is no address: {e}")))
        .transpose()
}
