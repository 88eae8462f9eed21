//! The socket: TLS connections in, requests to the API, answers out.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Body;
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

/// Longest time in which a peer says that it speaks TLS.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

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
            tokio::time::sleep(Duration::from_millis(20)).await;
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
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_MAX, tls.accept(socket)).await else {
        return;
    };
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
    let _ = tokio::time::timeout(Duration::from_secs(2), connection).await;
}

async fn one<B>(api: &Arc<Api>, request: http::Request<B>) -> Reply
where
    B: Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let (parts, body) = request.into_parts();
    // Everybody on this machine may connect: of who has no token no body is kept.
    let user = match api.authenticate(&parts.headers) {
        Ok(user) => user,
        Err(refusal) => return reply::refusal(&refusal),
    };
    match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(body) => api.answer(&Request::new(parts, body.to_bytes(), user)).await,
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = format!("Request entity too large: limit is {BODY_BYTES_MAX}");
            reply::refusal(&Refusal::new(413, "RequestEntityTooLarge", message))
        }
        Err(error) => {
            reply::refusal(&Refusal::bad_request(format!("failed to read the body: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use hyper::body::Frame;

    use super::*;
    use crate::server::{Options, Server};

    /// A body of which nothing more comes.
    struct Silent;

    impl Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn nobody_without_a_token_has_his_body_read() {
        let server = Server::without_port(&Options::default());
        let request = http::Request::post("/api/v1/namespaces/default/pods").body(Silent);
        let request = request.expect("it is one");
        let answer = tokio::time::timeout(Duration::from_secs(10), one(&server.api, request)).await;
        assert_eq!(answer.expect("it is answered at once").status(), 401);
    }
}
