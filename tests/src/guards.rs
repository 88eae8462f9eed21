//! Guards of writes, seen on their way: each says which object it means, so that it cannot change another one of its name or
//! undo what somebody else wrote meanwhile (A9).

use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request};
use kube::{Client, client::Body};
use serde_json::Value;

/// A way to the API server on which writes without a guard are noted. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Guards(Arc<Mutex<Vec<String>>>);

impl Guards {
    /// A client that takes this way to where `inner` leads.
    pub fn client(&self, inner: Client) -> Client {
        let guards = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (guards, inner) = (guards.clone(), inner.clone());
            async move {
                let (request, finding) = look(request).await?;
                guards.0.lock().unwrap_or_else(PoisonError::into_inner).extend(finding);
                inner.send(request).await
            }
        });
        Client::new(service, "default")
    }

    /// The writes without a guard so far.
    pub fn findings(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Looks at a request; gives it back, and what it lacks.
///
/// # Errors
/// Where its body cannot be read.
pub async fn look(request: Request<Body>) -> kube::Result<(Request<Body>, Option<String>)> {
    if *request.method() == Method::GET {
        return Ok((request, None));
    }
    let (parts, body) = request.into_parts();
    let bytes = body.collect_bytes().await?;
    let path = parts.uri.path();
    let is_guarded = is_guarded(&parts.method, path, &bytes);
    let finding = (!is_guarded).then(|| {
        format!("no guard in {} {path}: {}", parts.method, String::from_utf8_lossy(&bytes))
    });
    Ok((Request::from_parts(parts, Body::from(bytes.to_vec())), finding))
}

/// Tells whether a write says which object it means, where it is about one that is there.
fn is_guarded(method: &Method, path: &str, body: &[u8]) -> bool {
    // An event is about something; whichever is there of a name says the same.
    if path.contains("/events") {
        return true;
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let has = |pointer: &str| {
        body.pointer(pointer).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    match *method {
        Method::POST if path.ends_with("/binding") => has("/metadata/uid"),
        Method::POST if path.ends_with("/eviction") => has("/deleteOptions/preconditions/uid"),
        // A name is free, or the write is refused.
        Method::POST => true,
        Method::DELETE => has("/preconditions/uid"),
        Method::PUT => has("/metadata/resourceVersion"),
        _ => match body.as_array() {
            Some(operations) => operations.iter().any(|one| {
                let path = one["path"].as_str().unwrap_or_default();
                one["op"] == "test" && matches!(path, "/metadata/uid" | "/metadata/resourceVersion")
            }),
            None => has("/metadata/uid") || has("/metadata/resourceVersion"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_without_a_guard_is_told_apart() {
        let pod = "/api/v1/namespaces/a/pods/b";
        let cases = [
            (Method::POST, "/api/v1/namespaces/a/pods", "{}", true),
            (
                Method::POST,
                "/api/v1/namespaces/a/pods/b/binding",
                r#"{"metadata":{"uid":"1"}}"#,
                true,
            ),
            (
                Method::POST,
                "/api/v1/namespaces/a/pods/b/binding",
                r#"{"metadata":{"uid":null}}"#,
                false,
            ),
            (Method::POST, "/api/v1/namespaces/a/pods/b/eviction", "{}", false),
            (Method::DELETE, pod, r#"{"preconditions":{"uid":"1"}}"#, true),
            (Method::DELETE, pod, "", false),
            (Method::PUT, pod, r#"{"metadata":{"resourceVersion":"7"}}"#, true),
            (Method::PUT, pod, r#"{"metadata":{"uid":"1"}}"#, false),
            (Method::PATCH, pod, r#"{"metadata":{"uid":"1"}}"#, true),
            (Method::PATCH, pod, r#"{"metadata":{"uid":""}}"#, false),
            (Method::PATCH, pod, r#"[{"op":"test","path":"/metadata/uid","value":"1"}]"#, true),
            (
                Method::PATCH,
                pod,
                r#"[{"op":"add","path":"/metadata/labels/x","value":"1"}]"#,
                false,
            ),
        ];
        for (method, path, body, expected) in cases {
            assert_eq!(
                is_guarded(&method, path, body.as_bytes()),
                expected,
                "{method} {path} {body}"
            );
        }
    }
}
