//! Requests to the embedded API server.

use anyhow::{Context as _, Result};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use kai_sandbox::server::{Options, Server};
use kube::Client;
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{
    cases,
    corpus::{WATCHED, WORKLOADS},
    spoil,
};

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const PATHS: &[&str] = &[
    "/",
    "/api",
    "/apis",
    "/version",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/nothing",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/a",
    "/api/v1/namespaces/default/pods/a/status",
    "/api/v1/namespaces/default/pods/a/binding",
    "/api/v1/namespaces/default/pods/a/eviction",
    "/api/v1/namespaces/default/pods/a/log",
    "/api/v1/namespaces/default/pods/a/exec",
    "/api/v1/nodes",
    "/api/v1/nodes/a/status",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/namespaces/default/configmaps",
    "/apis/batch/v1/namespaces/default/jobs",
    "/apis/batch/v1/jobs",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/deployments/a/scale",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/api/v1/namespaces/default/serviceaccounts/default/token",
    "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
];

/// Kinds of the corpus with the paths of their lists: a body gets past the first look there.
const LISTS: &[(&str, &str, &str)] = &[
    ("Pod", "v1", "/api/v1/namespaces/default/pods"),
    ("Node", "v1", "/api/v1/nodes"),
    ("PersistentVolume", "v1", "/api/v1/persistentvolumes"),
    ("PersistentVolumeClaim", "v1", "/api/v1/namespaces/default/persistentvolumeclaims"),
    ("Job", "batch/v1", "/apis/batch/v1/namespaces/default/jobs"),
    ("CronJob", "batch/v1", "/apis/batch/v1/namespaces/default/cronjobs"),
    ("Deployment", "apps/v1", "/apis/apps/v1/namespaces/default/deployments"),
    ("StatefulSet", "apps/v1", "/apis/apps/v1/namespaces/default/statefulsets"),
    (
        "ResourceClaim",
        "resource.k8s.io/v1",
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
    ),
    ("ResourceSlice", "resource.k8s.io/v1", "/apis/resource.k8s.io/v1/resourceslices"),
    ("DeviceClass", "resource.k8s.io/v1", "/apis/resource.k8s.io/v1/deviceclasses"),
    ("StorageClass", "storage.k8s.io/v1", "/apis/storage.k8s.io/v1/storageclasses"),
    ("CSIDriver", "storage.k8s.io/v1", "/apis/storage.k8s.io/v1/csidrivers"),
    ("PriorityClass", "scheduling.k8s.io/v1", "/apis/scheduling.k8s.io/v1/priorityclasses"),
];

const QUERIES: &[&str] = &[
    "",
    "limit=1",
    "limit=-1",
    "limit=1&continue=a",
    "continue=",
    "resourceVersion=0",
    "resourceVersion=1&resourceVersionMatch=Exact",
    "resourceVersion=99999999",
    "labelSelector=a%3Db",
    "labelSelector=a+in+(b",
    "fieldSelector=metadata.name%3Da",
    "fieldSelector=spec.nodeName!%3D",
    "dryRun=All",
    "dryRun=Some",
    "fieldManager=a",
    "fieldManager=",
    "force=true",
    "fieldValidation=Strict",
    "fieldValidation=None",
    "propagationPolicy=Foreground",
    "gracePeriodSeconds=-1",
    "gracePeriodSeconds=0",
    "pretty=true",
    "timeoutSeconds=0",
    "allowWatchBookmarks=true",
    "%00=%ff",
    "a=b&a=c",
];

const TYPES: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "text/plain",
    "",
];

/// A path with the type of the body that is sent there.
#[derive(Debug)]
pub(crate) struct At<'a> {
    pub(crate) path: &'a str,
    pub(crate) content: &'a str,
}

/// Sends a request; the status and the body that come back.
pub(crate) async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: String,
) -> Result<(StatusCode, Value)> {
    send_as(client, method, &At { path, content: "application/json" }, body).await
}

/// The same, of a content type.
pub(crate) async fn send_as(
    client: &Client,
    method: Method,
    at: &At<'_>,
    body: String,
) -> Result<(StatusCode, Value)> {
    let request = Request::builder()
        .method(method)
        .uri(at.path)
        .header("Content-Type", at.content)
        .body(body.into_bytes())?;
    let answer = client.send(request.map(Into::into)).await?;
    let status = answer.status();
    let bytes = answer.into_body().collect().await?.to_bytes();
    Ok((
        status,
        serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes))),
    ))
}

/// Everything that a list of the kinds which requests are about holds.
async fn all(client: &Client) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for path in [
        "/api/v1/pods",
        "/api/v1/configmaps",
        "/apis/batch/v1/jobs",
        "/apis/apps/v1/deployments",
        "/api/v1/nodes",
    ] {
        let (_, list) = send(client, Method::GET, path, String::new()).await?;
        found.push(list["items"].clone());
    }
    Ok(found)
}

async fn check(
    client: &Client,
    method: &Method,
    at: &At<'_>,
    body: &str,
) -> Result<Result<(), String>> {
    let before = all(client).await?;
    let (status, answer) = send_as(client, method.clone(), at, body.to_owned()).await?;
    // kube-apiserver calls this one a fault of its own too (`tests/conformance/names.yaml`).
    let is_told = answer["message"] == "resourceVersion should not be set on objects to be created";
    if status == StatusCode::INTERNAL_SERVER_ERROR && !is_told {
        return Ok(Err(format!("{method} {at:?} answers {status}: {answer}")));
    }
    let is_rehearsed = at.path.ends_with("?dryRun=All");
    if status.is_success() && !is_rehearsed {
        return read_back(client, at, status, &answer).await;
    }
    if !status.is_success() && answer["kind"] == "Status" && answer["code"] != status.as_u16() {
        return Ok(Err(format!("{method} {at:?}: the answer's code is not {status}: {answer}")));
    }
    if all(client).await? != before {
        return Ok(Err(format!(
            "{method} {at:?} was answered with {status}, and changed something: {answer}"
        )));
    }
    Ok(Ok(()))
}

/// Reads what was made in a list; an owner that is not there may have taken it along already.
async fn read_back(
    client: &Client,
    at: &At<'_>,
    status: StatusCode,
    made: &Value,
) -> Result<Result<(), String>> {
    let is_list = LISTS.iter().any(|(_, _, list)| *list == at.path);
    let Some(name) = made["metadata"]["name"].as_str() else { return Ok(Ok(())) };
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    if status != StatusCode::CREATED || !is_list || !is_plain {
        return Ok(Ok(()));
    }
    let path = format!("{}/{name}", at.path);
    let (found, answer) = send(client, Method::GET, &path, String::new()).await?;
    let is_it = found == StatusCode::OK && answer["metadata"]["uid"] == made["metadata"]["uid"];
    if is_it || found == StatusCode::NOT_FOUND {
        return Ok(Ok(()));
    }
    Ok(Err(format!("{path} was made as {made}, and is read with {found} as {answer}")))
}

/// A request that may be spoilt: its path, the type of its body, and the body.
struct Draft {
    path: String,
    content: &'static str,
    body: Value,
}

/// Sends an object where objects of its kind lie, and of a JSON patch operations, where that is known.
fn fit(draft: &mut Draft, method: &str) {
    let Some((_, version, list)) = LISTS.iter().find(|(kind, ..)| draft.body["kind"] == *kind)
    else {
        return;
    };
    draft.path = if method == "POST" { (*list).to_owned() } else { format!("{list}/a") };
    draft.body["apiVersion"] = json!(version);
    if let Some(metadata) = draft.body["metadata"].as_object_mut() {
        metadata.retain(|key, _| !["namespace", "ownerReferences", "uid"].contains(&key.as_str()));
    }
    if method == "PATCH" && draft.content == "application/json-patch+json" {
        let Value::Object(fields) = draft.body.take() else { return };
        let add = |(key, value): (String, Value)| json!({"op": "add", "path": format!("/{key}"), "value": value});
        draft.body = fields.into_iter().filter(|(key, _)| key != "metadata").map(add).collect();
    } else if method != "PATCH" {
        draft.content = "application/json";
    }
}

#[test]
fn requests_are_answered_and_refused_ones_change_nothing() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let server = runtime.block_on(Server::start(Options::default()))?;
    let client = runtime.block_on(async { server.client() });
    let strategy = (
        (select(METHODS), select(PATHS), select(QUERIES), select(TYPES)),
        (any::<bool>(), 0..WATCHED.len(), 0..WORKLOADS.len(), spoil::damage()),
        (any::<bool>(), any::<bool>()),
    );
    let mut runner = proptest::test_runner::TestRunner::new(cases(4));
    runner
        .run(&strategy, |(request, (is_watched, watched, workload, damage), (fits, is_spoilt))| {
            let (method, path, query, content) = request;
            let mut body =
                if is_watched { WATCHED[watched].clone() } else { WORKLOADS[workload].clone() };
            body["metadata"]["name"] = json!("a");
            let mut draft = Draft { path: path.to_owned(), content, body };
            if fits {
                fit(&mut draft, method);
            }
            let Draft { mut path, content, mut body } = draft;
            spoil::value(&mut body, damage);
            let mut body = body.to_string();
            if is_spoilt && !fits {
                body = spoil::text(&body, damage);
            }
            let method = Method::from_bytes(method.as_bytes()).expect("it is one of HTTP's");
            if !query.is_empty() {
                path = format!("{path}?{query}");
            }
            let outcome =
                runtime.block_on(check(&client, &method, &At { path: &path, content }, &body));
            outcome
                .context("the server went away")
                .map_err(|error| TestCaseError::fail(format!("{error:?}")))?
                .map_err(TestCaseError::fail)
        })
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    runtime.block_on(server.stop());
    Ok(())
}
