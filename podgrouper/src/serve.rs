//! Health and metrics over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// Whether the process has its caches; shared with whoever fills them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ready(Arc<AtomicBool>);

impl Ready {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Serves `/healthz` and `/readyz`; returns the port, if the address asks for one.
pub(crate) async fn health(
    address: &str,
    ready: Ready,
    stop: CancellationToken,
) -> Result<Option<SocketAddr>, Error> {
    let readyz = move || async move {
        if ready.0.load(Ordering::Acquire) {
            (StatusCode::OK, "ok")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "caches are not filled yet")
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
