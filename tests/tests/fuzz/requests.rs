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
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        return Ok(Err(format!("{method} {at:?} answers {status}: {answer}")));
    }
    if status.is_success() {
        return Ok(Ok(()));
    }
    if answer["kind"] == "Status" && answer["code"] != status.as_u16() {
        return Ok(Err(format!("{method} {at:?}: the answer's code is not {status}: {answer}")));
    }
    if all(client).await? != before {
        return Ok(Err(format!(
            "{method} {at:?} was refused with {status}, and changed something: {answer}"
        )));
    }
    Ok(Ok(()))
}

#[test]
fn requests_are_answered_and_refused_ones_change_nothing() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let server = runtime.block_on(Server::start(Options::default()))?;
    let client = runtime.block_on(async { server.client() });
    let strategy = (
        (select(METHODS), select(PATHS), select(QUERIES), select(TYPES)),
        (any::<bool>(), 0..WATCHED.len(), 0..WORKLOADS.len(), spoil::damage(), any::<bool>()),
    );
    let mut runner = proptest::test_runner::TestRunner::new(cases(4));
    runner
        .run(
            &strategy,
            |(
                (method, path, query, content),
                (is_watched, watched, workload, damage, is_spoilt),
            )| {
                let mut body =
                    if is_watched { WATCHED[watched].clone() } else { WORKLOADS[workload].clone() };
                body["metadata"]["name"] = json!("a");
                spoil::value(&mut body, damage);
                let mut body = body.to_string();
                if is_spoilt {
                    body = spoil::text(&body, damage);
                }
                let method = Method::from_bytes(method.as_bytes()).expect("it is one of HTTP's");
                let path =
                    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
                let outcome =
                    runtime.block_on(check(&client, &method, &At { path: &path, content }, &body));
                outcome
                    .context("the server went away")
                    .map_err(|error| TestCaseError::fail(format!("{error:?}")))?
                    .map_err(TestCaseError::fail)
            },
        )
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    runtime.block_on(server.stop());
    Ok(())
}
