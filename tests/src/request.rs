//! Requests by path, for what has no type in a test.

use anyhow::{Context, Result};
use http::{Method, Request};
use kube::Client;
use serde_json::Value;

/// Asks for a path; a patch is a merge patch.
///
/// # Errors
/// What the API server says, with what was asked.
pub async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value> {
    let kind =
        if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let what = format!("{method} {path}");
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
    client.request(request.body(body)?).await.context(what)
}
