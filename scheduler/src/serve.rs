//! `/metrics`, `/healthz` and `/readyz`.

use std::net::SocketAddr;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{health::Health, metrics::Metrics};

/// Why the endpoints could not be served.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The address is taken or not ours.
    #[error("failed to listen on {address} (--listen-address)")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
}

/// Binds the address, so that a wrong one is found before anything else starts.
///
/// # Errors
/// [`Error::Listen`].
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|source| Error::Listen { address, source })?;
    if let Ok(local) = listener.local_addr() {
        tracing::info!(address = %local, "serving /metrics, /healthz and /readyz");
    }
    Ok(listener)
}

/// Serves until `stop`.
pub async fn serve(
    listener: TcpListener,
    health: Health,
    metrics: Metrics,
    stop: CancellationToken,
) {
    let router = Router::new()
        .route(
            "/metrics",
            get(async |State((_, metrics)): State<(Health, Metrics)>| {
                ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], metrics.text())
            }),
        )
        .route("/healthz", get(async || "ok"))
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(ready))
        .with_state((health, metrics));
    let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        tracing::warn!(%error, "failed to serve");
    }
}

async fn ready(State((health, _)): State<(Health, Metrics)>) -> impl IntoResponse {
    let problems = health.problems();
    if problems.is_empty() {
        (StatusCode::OK, String::from("ok"))
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, problems.join("\n"))
    }
}
