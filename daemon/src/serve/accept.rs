//! Takes connections and lets each be bounded: their number, their time, and what is kept for them.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{
    Listener,
    places::{Peer, Places},
};

/// Bytes of a head, and of what is read ahead or not yet sent.
const BUFFER: usize = 16 << 10;
/// Time that questions which were asked before the end may take.
const DRAIN: Duration = Duration::from_secs(5);
/// Wait after the system refused a connection: it has no more files.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Bounds what whoever connects can take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at once. Where there are more, the peer with most of them loses one.
    pub connections: usize,
    /// Time in which a new connection has to ask.
    pub first: Duration,
    /// Time in which the next question has to come.
    pub idle: Duration,
    /// Time in which a question has to be answered and its answer read.
    pub answer: Duration,
}

/// A moment in the life of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    First,
    Asking,
    Idle,
}

impl Bounds {
    fn of(&self, phase: Phase) -> Duration {
        match phase {
            Phase::First => self.first,
            Phase::Asking => self.answer,
            Phase::Idle => self.idle,
        }
    }
}

/// Keeps a body, and what belongs to it until all of it was handed over but for a few kilobytes.
pub fn hold<T: Unpin + Send + 'static>(body: Body, held: T) -> Body {
    Body::new(Slices { body, rest: Bytes::new(), _held: held })
}

/// A place among the connections; it is given back when dropped.
struct Place {
    places: Arc<Mutex<Places>>,
    id: u64,
    peer: Peer,
    phase: watch::Sender<Phase>,
}

impl Place {
    fn note(&self, phase: Phase) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.note(self.id, phase == Phase::Asking);
        drop(places);
        self.phase.send_replace(phase);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).leave(self.id);
    }
}

/// A question; it ends when dropped.
struct Asking(Arc<Place>);

impl Asking {
    fn begin(place: &Arc<Place>) -> Self {
        place.note(Phase::Asking);
        Self(place.clone())
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.note(Phase::Idle);
    }
}

/// Serves a port within bounds until `stop`, and then ends what was asked before. `shake` makes of a connection what is
/// spoken over, as TLS; questions carry the [`Peer`] who asks.
pub async fn accept<H, F, S>(
    Listener { listener, .. }: Listener,
    bounds: Bounds,
    shake: H,
    router: Router,
    stop: CancellationToken,
) where
    H: Fn(TcpStream) -> F,
    F: Future<Output = io::Result<S>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let places = Arc::new(Mutex::new(Places::new(bounds.connections)));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            // Ended connections are forgotten.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                let peer = Peer::of(address.ip());
                let (id, cut) = places.lock().unwrap_or_else(PoisonError::into_inner).enter(peer);
                let phase = watch::Sender::new(Phase::First);
                let place = Arc::new(Place { places: places.clone(), id, peer, phase });
                let phases = place.phase.subscribe();
                let talk = talk(shake(stream), place, router.clone(), stop.clone());
                connections.spawn(within(bounds, phases, cut, talk));
            }
            Err(error) => {
                tracing::warn!(%error, "failed to take a connection");
                sleep(ACCEPT_AGAIN).await;
            }
        }
    }
    drop(listener);
    // Whoever is not done by then has to ask again.
    let _ = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
}

/// Goes on until the end, until a phase has lasted too long, or until the place is given to another.
async fn within(
    bounds: Bounds,
    mut phases: watch::Receiver<Phase>,
    cut: CancellationToken,
    talk: impl Future<Output = ()>,
) {
    let mut talk = std::pin::pin!(talk);
    loop {
        let phase = *phases.borrow_and_update();
        tokio::select! {
            biased;
            () = cut.cancelled() => return,
            () = talk.as_mut() => return,
            changed = phases.changed() => if changed.is_err() { return },
            () = sleep(bounds.of(phase)) => return,
        }
    }
}

/// Answers the questions of one connection.
async fn talk<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    shaken: impl Future<Output = io::Result<S>>,
    place: Arc<Place>,
    router: Router,
    stop: CancellationToken,
) {
    // Whoever breaks off here has learned nothing and cost little.
    let Ok(stream) = shaken.await else { return };
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let asking = Asking::begin(&place);
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(place.peer);
        let answer = router.clone().oneshot(request);
        async move { answer.await.map(|response| response.map(|body| hold(body, asking))) }
    });
    let connection = http1::Builder::new()
        // Each phase has its own end.
        .header_read_timeout(None::<Duration>)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        biased;
        // Errors are the client's.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// A body that is handed over piece by piece, as the other side takes it.
struct Slices<T> {
    body: Body,
    rest: Bytes,
    _held: T,
}

impl<T: Unpin> hyper::body::Body for Slices<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        let size = self.rest.len().min(BUFFER);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(size)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use hyper::body::Body as _;

    use super::*;

    #[tokio::test]
    async fn what_a_body_holds_is_held_until_it_was_taken() {
        let held = Arc::new(());
        let size = 2 * BUFFER + 1;
        let mut body = hold(Body::from(vec![0; size]), held.clone());
        for expect in [BUFFER, BUFFER, 1] {
            assert_eq!(Arc::strong_count(&held), 2);
            let left = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
            let frame = left.await.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
            assert_eq!(frame.map(|data| data.len()), Some(expect));
        }
        assert!(body.is_end_stream());
        let length = hold(Body::from(vec![0; size]), ()).size_hint().exact();
        assert_eq!(length, Some(size as u64));
    }
}
