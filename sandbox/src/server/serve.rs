//! The socket: TLS connections in, requests to the API, answers out.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::api::Api;
use super::refusal::Refusal;
use super::reply::{self, Reply};
use super::request::Request;

/// The largest request body, as kube-apiserver has it.
const BODY_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Accepts connections until cancelled.
pub(super) async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
    api: Arc<Api>,
    stop: CancellationToken,
) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((socket, _)) = accepted else {
            // Out of file descriptors or the peer went away; neither is a reason to stop serving.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            continue;
        };
        connections.spawn(connection(socket, tls.clone(), Arc::clone(&api), stop.clone()));
    }
    connections.close();
    connections.wait().await;
}

async fn connection(socket: TcpStream, tls: TlsAcceptor, api: Arc<Api>, stop: CancellationToken) {
    // Watch events are small; they should leave at once.
    let _ = socket.set_nodelay(true);
    let Ok(stream) = tls.accept(socket).await else { return };
    let service = service_fn(move |request| {
        let api = Arc::clone(&api);
        async move { Ok::<_, Infallible>(one(&api, request).await) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
        _ = connection.as_mut() => return,
    }
    // Watches have ended by the same signal; what remains is short.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), connection).await;
}

async fn one(api: &Arc<Api>, request: http::Request<Incoming>) -> Reply {
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = format!("Request entity too large: limit is {BODY_BYTES_MAX}");
            return reply::refusal(&Refusal::new(413, "RequestEntityTooLarge", message));
        }
        Err(error) => {
            return reply::refusal(&Refusal::bad_request(format!(
                "failed to read the body: {error}"
            )));
        }
    };
    match api.authenticate(&parts.headers) {
        Ok(user) => api.answer(&Request::new(parts, body, user)).await,
        Err(refusal) => reply::refusal(&refusal),
    }
}
