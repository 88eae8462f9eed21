//! Health and metrics over HTTP.

use std::fmt::Display;
use std::net::SocketAddr;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The address cannot be listened on.
#[derive(thiserror::Error, Debug)]
#[error("failed to listen on {address} ({flag})")]
pub struct Error {
    /// The address that was asked for.
    pub address: String,
    /// The flag that asks for it.
    pub flag: &'static str,
    /// The reason.
    pub source: std::io::Error,
}

/// A listener that is bound and not yet served: a wrong address is found before anything else starts.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    /// Address that it listens on, with the port that it got.
    pub local: SocketAddr,
}

/// Writes an address as Go reads it: without a host it means every one, as in `:8080`.
pub fn full_address(address: &str) -> String {
    if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() }
}

impl Listener {
    /// Binds an address, `HOST:PORT` or `:PORT`; port 0 picks a free one. `flag` is what asked for it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn bind(address: &str, flag: &'static str) -> Result<Self, Error> {
        let failed = |source| Error { address: address.to_owned(), flag, source };
        let listener = TcpListener::bind(full_address(address)).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, local })
    }

    /// Takes the socket out, for a server of another kind.
    pub fn into_inner(self) -> TcpListener {
        self.listener
    }

    /// Serves until `stop`, and then what was asked before.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        let served =
            axum::serve(self.listener, router).with_graceful_shutdown(stop.cancelled_owned());
        if let Err(error) = served.await {
            tracing::warn!(%error, "failed to serve");
        }
    }
}

/// Answers `/healthz` and `/livez` with `ok`, and `/readyz` with what `problem` says, or `ok` where it says nothing.
pub fn health(problem: impl Fn() -> Option<String> + Clone + Send + Sync + 'static) -> Router {
    let ready = async move || match problem() {
        None => (StatusCode::OK, String::from("ok")),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, problem),
    };
    Router::new()
        .route("/healthz", get(async || "ok"))
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(ready))
}

/// Answers `/metrics` with a text in Prometheus' format, or 500 with the reason where there is none.
pub fn metrics<E: Display>(
    text: impl Fn() -> Result<Vec<u8>, E> + Clone + Send + Sync + 'static,
) -> Router {
    let answer = async move || {
        let kind = |kind| [(header::CONTENT_TYPE, kind)];
        match text() {
            Ok(text) => (StatusCode::OK, kind("text/plain; version=0.0.4"), text),
            Err(error) => {
                tracing::warn!(%error, "failed to encode the metrics");
                let text = format!("failed to encode the metrics: {error}\n");
                (StatusCode::INTERNAL_SERVER_ERROR, kind("text/plain"), text.into_bytes())
            }
        }
    };
    Router::new().route("/metrics", get(answer))
}
