//! Streams over a websocket: the first byte of each binary message names the channel.
//!
//! # Source
//! kube-apiserver's `wsstream` and `remotecommand`: the channels of a process, two for each forwarded port whose first
//! message is the port, and the message 255 that closes a channel (v5).

use std::collections::BTreeMap;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::{Act, Event, Wanted};

/// Names, in the message that closes a channel, the message itself.
const CLOSE: u8 = 255;
/// Channels of a process by their numbers.
const PROCESS: [&str; 5] = ["stdin", "stdout", "stderr", "error", "resize"];
/// Bytes that a carried connection holds back before it stops to read.
const CARRIED_BYTES: usize = 64 * 1024;

/// A channel: the headers that a SPDY client would open it with, and what is sent on it first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    headers: BTreeMap<String, String>,
    first: Bytes,
}

/// The channels by their numbers.
pub(super) fn channels(wanted: &Wanted) -> Vec<Channel> {
    let headers = |pairs: &[(&str, String)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    match wanted {
        Wanted::Exec(..) | Wanted::Attach(_) => PROCESS
            .iter()
            .map(|name| Channel {
                headers: headers(&[("streamtype", (*name).to_owned())]),
                first: Bytes::new(),
            })
            .collect(),
        Wanted::Forward(ports) => ports
            .iter()
            .enumerate()
            .flat_map(|(at, port)| ["data", "error"].map(|kind| (at, port, kind)))
            .map(|(at, port, kind)| Channel {
                headers: headers(&[
                    ("streamtype", kind.to_owned()),
                    ("port", port.to_string()),
                    ("requestid", at.to_string()),
                ]),
                first: Bytes::copy_from_slice(&port.to_le_bytes()),
            })
            .collect(),
    }
}

/// Moves bytes until the client is gone or there is nothing more to say.
pub(super) async fn run<T: AsyncRead + AsyncWrite + Unpin>(
    io: T,
    channels: Vec<Channel>,
    events: mpsc::Sender<Event>,
    mut acts: mpsc::Receiver<Act>,
) {
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
    for (id, channel) in (0..).zip(&channels) {
        if events.send(Event::Opened(id, channel.headers.clone())).await.is_err() {
            return;
        }
        if !channel.first.is_empty() && socket.send(message(id, &channel.first)).await.is_err() {
            return;
        }
    }
    let (mut send, mut receive) = socket.split();
    let sending = async {
        while let Some(act) = acts.recv().await {
            // The end of a channel is the client's alone to say: kubectl complains of one that is told to it.
            let sent = match act {
                Act::Data(id, bytes) => send.send(message(id, &bytes)).await,
                Act::End(_) => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
        // Without this code kubectl takes the end for a broken connection.
        let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        let _gone = send.send(Message::Close(Some(normal))).await;
    };
    let receiving = async {
        while let Some(Ok(came)) = receive.next().await {
            if let Some(event) = event(came) {
                // Where nobody listens any more, what was said may still be on its way.
                let _unheard = events.send(event).await;
            }
        }
    };
    tokio::pin!(sending, receiving);
    tokio::select! {
        () = &mut sending => {}
        () = &mut receiving => {}
    }
}

fn message(id: u32, bytes: &[u8]) -> Message {
    let mut whole = BytesMut::with_capacity(bytes.len() + 1);
    whole.put_u8(u8::try_from(id).unwrap_or(CLOSE));
    whole.put_slice(bytes);
    Message::binary(whole.freeze())
}

fn event(came: Message) -> Option<Event> {
    let Message::Binary(bytes) = came else { return None };
    match bytes.split_first()? {
        (&CLOSE, rest) => rest.first().map(|id| Event::Ended(u32::from(*id))),
        (_, []) => None,
        (id, _) => Some(Event::Data(u32::from(*id), bytes.slice(1..))),
    }
}

/// A connection whose bytes travel in the binary messages of a websocket, and what moves them.
pub(super) fn carry<T: AsyncRead + AsyncWrite + Unpin>(
    io: T,
) -> (DuplexStream, impl Future<Output = ()>) {
    let (inside, outside) = tokio::io::duplex(CARRIED_BYTES);
    (inside, async move {
        let socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
        let (mut send, mut receive) = socket.split();
        let (mut read, mut write) = tokio::io::split(outside);
        let out = async {
            let mut bytes = BytesMut::with_capacity(CARRIED_BYTES);
            while read.read_buf(&mut bytes).await.is_ok_and(|count| count > 0) {
                if send.send(Message::binary(bytes.split().freeze())).await.is_err() {
                    return;
                }
            }
            let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
            let _gone = send.send(Message::Close(Some(normal))).await;
        };
        let into = async {
            while let Some(Ok(came)) = receive.next().await {
                if let Message::Binary(bytes) = came
                    && write.write_all(&bytes).await.is_err()
                {
                    return;
                }
            }
            let _gone = write.shutdown().await;
        };
        tokio::pin!(out, into);
        tokio::select! {
            () = &mut out => {}
            () = &mut into => {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_channel() {
        for (bytes, expect) in [
            (&b"\x00ls\n"[..], Some(Event::Data(0, Bytes::from_static(b"ls\n")))),
            (&b"\xff\x00"[..], Some(Event::Ended(0))),
            (&b"\x01"[..], None),
            (&b""[..], None),
        ] {
            assert_eq!(event(Message::binary(bytes.to_vec())), expect);
        }
        assert_eq!(event(Message::Ping(Bytes::new())), None);
    }

    #[test]
    fn each_forwarded_port_has_two_channels_that_begin_with_it() {
        let channels = channels(&Wanted::Forward(vec![8888, 6006]));
        let told: Vec<_> = channels
            .iter()
            .map(|one| {
                format!("{} {} {:?}", one.headers["streamtype"], one.headers["port"], one.first)
            })
            .collect();
        let expect = [
            "data 8888 b\"\\xb8\\\"\"",
            "error 8888 b\"\\xb8\\\"\"",
            "data 6006 b\"v\\x17\"",
            "error 6006 b\"v\\x17\"",
        ];
        assert_eq!(told, expect);
    }
}
