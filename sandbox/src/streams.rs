//! Streams between a client and a container: exec, attach and port-forward.
//!
//! ```text
//! client --websocket v4, v5------------------------> websocket ─┐
//! client --SPDY/3.1--------------------------------> spdy ──────┼──> Link ──> the task of a container
//! client --websocket that carries SPDY (kubectl)---> spdy ──────┘
//! ```
//!
//! The embedded API server and the simulated kubelets' own endpoint accept them alike. A [`Link`] is what SPDY has:
//! streams that are opened with headers; the numbered channels of a websocket are told as such.

mod handshake;
mod spdy;
mod websocket;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::HeaderMap;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub(crate) use handshake::Unaccepted;
use handshake::{Protocol, handshake};

/// Number of messages that came and wait to be looked at, and of those that wait to be sent.
const IN_FLIGHT: usize = 64;

/// A wish of a client for a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// To run a command in it.
    Exec(Vec<String>, Streams),
    /// To see what its own process prints.
    Attach(Streams),
    /// Connections to these of its ports; more may be named by the streams themselves.
    Forward(Vec<u16>),
}

/// The streams that a client opens to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the query string")]
pub struct Streams {
    /// The process reads what the client sends.
    pub stdin: bool,
    /// The client reads what it prints.
    pub stdout: bool,
    /// The client reads what it complains of.
    pub stderr: bool,
    /// It has a terminal.
    pub tty: bool,
}

/// A container of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod's name.
    pub pod: String,
    /// The container's name; empty for the first.
    pub container: String,
}

/// An answer to a client, given once its streams are there.
pub type Task = Box<dyn FnOnce(Link) -> BoxFuture<'static, ()> + Send>;

/// Source of what answers: an error is shown to the client as it is.
pub type StreamSource = Arc<dyn Fn(&Place, Wanted) -> Result<Task, String> + Send + Sync>;

/// News of a client's streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A stream was opened, with these headers.
    Opened(u32, BTreeMap<String, String>),
    /// Bytes came.
    Data(u32, Bytes),
    /// No more will come.
    Ended(u32),
}

/// An answer to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Bytes for a stream.
    Data(u32, Bytes),
    /// No more will be sent on it.
    End(u32),
}

/// The streams of one client. The connection is closed when what may be sent was dropped and has left.
#[derive(Debug)]
pub struct Link {
    /// News; none when the client is gone.
    pub(crate) events: mpsc::Receiver<Event>,
    /// Answers.
    pub(crate) acts: mpsc::Sender<Act>,
}

/// Agrees on a protocol, and answers the client by `task` once the connection is its own.
///
/// # Errors
/// The request asks for no connection of a kind that is known here.
pub(crate) fn accept(
    headers: &HeaderMap,
    upgrade: Option<OnUpgrade>,
    wanted: &Wanted,
    task: Task,
    stop: CancellationToken,
) -> Result<http::response::Builder, Unaccepted> {
    let (protocol, answer) = handshake(headers, matches!(wanted, Wanted::Forward(_)))?;
    let upgrade = upgrade.ok_or(Unaccepted::Connection)?;
    let wanted = wanted.clone();
    tokio::spawn(stop.run_until_cancelled_owned(async move {
        let Ok(connection) = upgrade.await else { return };
        let io = TokioIo::new(connection);
        let (events, event) = mpsc::channel(IN_FLIGHT);
        let (act, acts) = mpsc::channel(IN_FLIGHT);
        let answering = task(Link { events: event, acts: act });
        let moving: BoxFuture<'static, ()> = match protocol {
            Protocol::Websocket => {
                Box::pin(websocket::run(io, websocket::channels(&wanted), events, acts))
            }
            Protocol::SpdyInWebsocket => {
                let (inside, carrier) = websocket::carry(io);
                Box::pin(async move {
                    tokio::join!(carrier, spdy::run(inside, events, acts));
                })
            }
            Protocol::Spdy => Box::pin(spdy::run(io, events, acts)),
        };
        tokio::join!(answering, moving);
    }));
    Ok(answer)
}
