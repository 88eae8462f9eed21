//! Black-box cases of the Kubernetes API (`tests/conformance/*.yaml`): the embedded server must give the answers that are
//! written, and a real kube-apiserver the same.
//!
//! A case is a list of requests. `{ns}` is a fresh namespace, `{name}` a value that an earlier step saved. `expect` maps
//! JSON pointers to values; `~text` asks for a part of a string, `!absent` for nothing there. `{webhook}` is the address of a
//! webhook that answers as the case says, `{ca}` the authority of its certificate.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read or sent is a broken test")]

mod openapi;
mod webhook;

use std::collections::BTreeMap;
use std::path::Path;

use http::header::{ACCEPT, CONTENT_TYPE, WARNING};
use http::{Method, Request};
use http_body_util::BodyExt;
use kai_sandbox::server::{Options, Server};
use kai_tests::control_plane::{ControlPlane, assets};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::Deserialize;
use serde_json::{Value, json};

use self::webhook::{Answer, Webhook};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    #[serde(default)]
    why: String,
    /// Answers of the webhook, by the last part of its path.
    #[serde(default)]
    webhook: BTreeMap<String, Answer>,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Method and path.
    #[serde(rename = "do")]
    request: String,
    /// The request body.
    body: Option<Value>,
    /// The request body as text, for what is no JSON.
    text: Option<String>,
    /// The content type of the body: `merge`, `json`, `strategic`, `apply` or a media type.
    #[serde(rename = "as")]
    content: Option<String>,
    /// The `Accept` header.
    accept: Option<String>,
    /// The user to impersonate.
    user: Option<String>,
    /// The HTTP status.
    status: u16,
    #[serde(default)]
    expect: BTreeMap<String, Value>,
    /// For a watch: type and name of each event.
    events: Option<Vec<String>>,
    /// The `Warning` headers.
    warnings: Option<Vec<String>>,
    /// The calls of the webhook since the step before, as `name OPERATION resource object`.
    calls: Option<Vec<String>>,
    /// Values to keep, by name: JSON pointers.
    #[serde(default)]
    save: BTreeMap<String, String>,
    /// Number of times to ask again, 0.1 s apart, until the answer fits: for what controllers do.
    #[serde(default)]
    retries: u32,
}

/// A client of the cluster of a kubeconfig that hands on what it is answered, once.
async fn connect(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// A real control plane, where there is one.
async fn real(suite: &str) -> Option<ControlPlane> {
    let assets = assets(suite)?;
    Some(ControlPlane::start(&assets, &[]).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_server_answers_as_written() {
    let server = Server::start(Options::default()).await.unwrap();
    let failures = failures(&connect(&server.kubeconfig()).await).await;
    server.stop().await;
    assert_eq!(failures, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_answers_as_written() {
    let Some(plane) = real("conformance: a real kube-apiserver").await else { return };
    let kubeconfig = std::fs::read_to_string(plane.kubeconfig()).unwrap();
    assert_eq!(failures(&connect(&kubeconfig).await).await, [""; 0]);
}

/// Runs every case; which of them failed, and why.
async fn failures(client: &Client) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    assert!(!files.is_empty(), "no cases in tests/conformance");
    let webhook = Webhook::start().await;
    let mut failures = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Case =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            !case.title.is_empty() && !case.why.is_empty(),
            "{name}: title and why say the idea"
        );
        let namespace = format!("c{index}-{}", std::process::id());
        failures.extend(
            run(client, &webhook, &case, &namespace)
                .await
                .into_iter()
                .map(|why| format!("{name}: {why}")),
        );
    }
    failures
}

async fn run(client: &Client, webhook: &Webhook, case: &Case, namespace: &str) -> Option<String> {
    let own = [
        ("ns", namespace.to_owned()),
        ("webhook", format!("{}/{namespace}", webhook.url)),
        ("ca", webhook.authority.clone()),
    ];
    let mut saved = own.map(|(name, value)| (name.to_owned(), value)).into();
    webhook.set(namespace, &case.webhook);
    let body = json!({ "metadata": { "name": namespace } }).to_string();
    let made = Request::post("/api/v1/namespaces").header(CONTENT_TYPE, "application/json");
    let made = client.send(made.body(Body::from(body.into_bytes())).unwrap()).await.unwrap();
    assert_eq!(made.status(), 201, "the namespace of the case");
    let mut failure = None;
    for (index, step) in case.steps.iter().enumerate() {
        let mut left = step.retries;
        failure = loop {
            let outcome = take(client, step, &mut saved).await;
            let calls = webhook.calls(namespace);
            let outcome = outcome.or_else(|| {
                let expected = step.calls.as_ref()?;
                let expected: Vec<_> = expected.iter().map(|call| fill(call, &saved)).collect();
                (calls != expected).then(|| format!("calls {calls:?}, expected {expected:?}"))
            });
            if outcome.is_none() || left == 0 {
                break outcome;
            }
            left -= 1;
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        };
        if let Some(why) = &mut failure {
            *why = format!("step {} ({}): {why}", index + 1, step.request);
            break;
        }
    }
    let gone =
        Request::delete(format!("/api/v1/namespaces/{namespace}")).body(Body::empty()).unwrap();
    client.send(gone).await.unwrap();
    failure
}

fn fill(text: &str, saved: &BTreeMap<String, String>) -> String {
    saved
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

async fn take(
    client: &Client,
    step: &Step,
    saved: &mut BTreeMap<String, String>,
) -> Option<String> {
    let (method, path) = step.request.split_once(' ').unwrap();
    let content = match step.content.as_deref() {
        Some("merge") => "application/merge-patch+json",
        Some("json") => "application/json-patch+json",
        Some("strategic") => "application/strategic-merge-patch+json",
        Some("apply") => "application/apply-patch+yaml",
        Some(media) => media,
        None => "application/json",
    };
    let mut request = Request::builder()
        .method(method.parse::<Method>().unwrap())
        .uri(fill(path, saved))
        .header(CONTENT_TYPE, content)
        .header(ACCEPT, step.accept.as_deref().unwrap_or("application/json"));
    if let Some(user) = &step.user {
        request = request.header("Impersonate-User", fill(user, saved));
    }
    let body = step.body.as_ref().map(|body| fill(&body.to_string(), saved));
    let body = body.or_else(|| step.text.clone()).unwrap_or_default();
    let response = client.send(request.body(Body::from(body.into_bytes())).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let warnings: Vec<String> = response
        .headers()
        .get_all(WARNING)
        .iter()
        .map(|value| value.to_str().unwrap().to_owned())
        .collect();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if status != step.status {
        return Some(format!("status {status}, expected {}: {}", step.status, text.trim()));
    }
    let wanted = step.warnings.iter().flatten().map(|text| fill(text, saved));
    let wanted: Vec<String> = wanted.map(|text| format!("299 - \"{text}\"")).collect();
    if step.warnings.is_some() && warnings != wanted {
        return Some(format!("warnings {warnings:?}, expected {wanted:?}"));
    }
    if let Some(events) = &step.events {
        return check_events(&text, events);
    }
    let value: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    for (name, pointer) in &step.save {
        let found = value.pointer(pointer).cloned().unwrap_or_default();
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        saved.insert(name.clone(), found);
    }
    check(&value, &step.expect, saved)
}

fn check(
    value: &Value,
    expect: &BTreeMap<String, Value>,
    saved: &BTreeMap<String, String>,
) -> Option<String> {
    for (pointer, wanted) in expect {
        let found = value.pointer(pointer);
        let fits = match (wanted.as_str(), found) {
            (Some("!absent"), found) => found.is_none(),
            (Some(text), Some(Value::String(have))) => match text.strip_prefix('~') {
                Some(part) => have.contains(&fill(part, saved)),
                None => *have == fill(text, saved),
            },
            (_, found) => found == Some(wanted),
        };
        if !fits {
            let found = found.map_or("nothing".to_owned(), Value::to_string);
            return Some(format!("{pointer} is {found}, expected {wanted}"));
        }
    }
    None
}

fn check_events(text: &str, expected: &[String]) -> Option<String> {
    let mut found: Vec<String> = text
        .lines()
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            let text =
                |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let code = event.pointer("/object/code").map(Value::to_string).unwrap_or_default();
            format!("{} {}{code}", text("/type"), text("/object/metadata/name")).trim().to_owned()
        })
        .collect();
    // A busy server says once more how far it is before the watch ends.
    found.dedup_by(|next, last| next == "BOOKMARK" && last == "BOOKMARK");
    (found != expected).then(|| format!("events {found:?}, expected {expected:?}"))
}
