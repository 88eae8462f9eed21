//! Requests as they pass, and faults in their way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Request, Response};
use kube::{Client, client::Body};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// One request: its verb and its path without query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub verb: String,
    /// Path without query.
    pub path: String,
}

impl std::fmt::Display for Call {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.verb, self.path)
    }
}

/// Fate of some requests instead of an answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// `VERB /path`; a path that ends in `*` stands for all that start so.
    pub on: String,
    /// HTTP status of the answer; without it the request waits until the faults are cleared.
    pub status: Option<u16>,
    /// Reason in the answer.
    #[serde(default)]
    pub reason: String,
    /// Message in the answer.
    #[serde(default)]
    pub message: String,
    /// Body of the answer instead of a Status.
    pub body: Option<Value>,
    /// The request is carried out all the same: only its answer is lost.
    #[serde(default)]
    pub after: bool,
    /// Number of requests that it hits; without it all until the faults are cleared.
    pub times: Option<usize>,
}

impl Fault {
    fn hits(&self, call: &Call) -> bool {
        let call = call.to_string();
        match self.on.strip_suffix('*') {
            Some(start) => call.starts_with(start),
            None => call == self.on,
        }
    }
}

/// The requests of one client. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    calls: Mutex<Vec<Call>>,
    faults: Mutex<Vec<Fault>>,
    cleared: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    /// A client whose requests are noted here.
    pub fn record(&self, inner: Client) -> Client {
        let tape = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (tape, inner) = (tape.clone(), inner.clone());
            async move {
                let call = call(&request);
                lock(&tape.shared.calls).push(call.clone());
                if let Some(fault) = tape.fault(&call) {
                    match fault.status {
                        Some(status) => {
                            if fault.after {
                                inner.send(request).await?;
                            }
                            return Ok(refusal(status, &fault));
                        }
                        None => tape.shared.cleared.notified().await,
                    }
                }
                inner.send(request).await
            }
        });
        Client::new(service, "default")
    }

    /// All requests since the last call of this function.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *lock(&self.shared.calls))
    }

    /// The same, and they stay.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.shared.calls).clone()
    }

    /// Puts a fault in the way.
    pub fn add(&self, fault: Fault) {
        lock(&self.shared.faults).push(fault);
    }

    /// Takes all faults away; requests that wait go on.
    pub fn clear_faults(&self) {
        lock(&self.shared.faults).clear();
        self.shared.cleared.notify_waiters();
    }

    fn fault(&self, call: &Call) -> Option<Fault> {
        let mut faults = lock(&self.shared.faults);
        let at = faults.iter().position(|fault| fault.hits(call))?;
        let fault = faults[at].clone();
        if let Some(times) = &mut faults[at].times {
            *times -= 1;
            if *times == 0 {
                faults.remove(at);
            }
        }
        Some(fault)
    }
}

fn call(request: &Request<Body>) -> Call {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default();
    let verb =
        if query.contains("watch=") { "WATCH".to_owned() } else { request.method().to_string() };
    Call { verb, path }
}

/// A Status as the API server answers it.
fn refusal(status: u16, fault: &Fault) -> Response<Body> {
    let refused = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
        "reason": fault.reason, "message": fault.message});
    let body = fault.body.as_ref().unwrap_or(&refused);
    let mut response = Response::new(Body::from(body.to_string().into_bytes()));
    *response.status_mut() =
        http::StatusCode::from_u16(status).expect("a scene names statuses that exist");
    response
}
