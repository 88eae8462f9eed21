//! Health and metrics over HTTP.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// What the process waits for before it is ready; shared with whoever provides it.
#[derive(Debug, Clone)]
pub(crate) struct Ready(Arc<Mutex<BTreeSet<&'static str>>>);

/// What every process waits for.
const CACHES: &str = "caches";

impl Default for Ready {
    fn default() -> Self {
        Self(Arc::new(Mutex::new([CACHES].into())))
    }
}

impl Ready {
    /// Caches are filled, or whoever fills them has not begun to lead.
    pub(crate) fn set(&self) {
        self.has(CACHES);
    }

    /// The process is not ready before it has this as well.
    pub(crate) fn needs(&self, what: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(what);
    }

    /// This is there now.
    pub(crate) fn has(&self, what: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(what);
    }

    /// What is missing.
    fn missing(&self) -> Vec<&'static str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

/// Serves `/healthz` and `/readyz`; returns the port, if the address asks for one.
pub(crate) async fn health(
    address: &str,
    ready: Ready,
    stop: CancellationToken,
) -> Result<Option<SocketAddr>, Error> {
    let readyz = move || async move {
        match ready.missing()[..] {
            [] => (StatusCode::OK, "ok".to_owned()),
            ref missing => {
                let why = format!("not there yet: {}", missing.join(", "));
                (StatusCode::SERVICE_UNAVAILABLE, why)
            }
        }
    };
    let router =
        Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(readyz));
    serve(address, router, stop).await
}

/// Serves `/metrics`.
pub(crate) async fn metrics(
    address: &str,
    registry: Arc<Registry>,
    stop: CancellationToken,
) -> Result<Option<SocketAddr>, Error> {
    let text = move || async move {
        let mut text = String::new();
        match encode(&mut text, &registry) {
            Ok(()) => (StatusCode::OK, text),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    };
    serve(address, Router::new().route("/metrics", get(text)), stop).await
}

async fn serve(
    address: &str,
    router: Router,
    stop: CancellationToken,
) -> Result<Option<SocketAddr>, Error> {
    // The peer's way to say "none".
    if address.is_empty() || address == "0" {
        return Ok(None);
    }
    let full =
        if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() };
    let failed = |source| Error::Listen { address: address.to_owned(), source };
    let listener = TcpListener::bind(&full).await.map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    tokio::spawn(async move {
        let serving = axum::serve(listener, router)
            .with_graceful_shutdown(async move { stop.cancelled().await });
        if let Err(error) = serving.await {
            tracing::error!(%error, "failed to serve");
        }
    });
    Ok(Some(local))
}
