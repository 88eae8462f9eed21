//! Streams over SPDY/3.1, the side of a server: what kubectl's port-forward and an API server's calls to a kubelet speak.
//!
//! Priorities and flow control are left out, as Kubernetes' own implementation has neither.

mod frame;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use self::frame::{Frame, Headers, Reader, Writer};
use super::{Act, Event};

/// Bytes of a data frame at most.
const DATA_BYTES_MAX: usize = 32 * 1024;

/// Moves bytes until the client is gone or there is nothing more to say.
pub(super) async fn run<T: AsyncRead + AsyncWrite + Unpin>(
    io: T,
    events: mpsc::Sender<Event>,
    mut acts: mpsc::Receiver<Act>,
) {
    let (mut read, mut write) = tokio::io::split(io);
    let (reply, mut replies) = mpsc::channel::<Frame>(super::IN_FLIGHT);
    let sending = async {
        let mut writer = Writer::new();
        loop {
            let bytes = tokio::select! {
                biased;
                Some(frame) = replies.recv() => writer.write(&frame),
                act = acts.recv() => match act {
                    Some(Act::Data(id, bytes)) => bytes
                        .chunks(DATA_BYTES_MAX)
                        .flat_map(|part| writer.data(id, part, false))
                        .collect(),
                    Some(Act::End(id)) => writer.data(id, &[], true),
                    None => writer.write(&Frame::GoAway),
                },
            };
            if write.write_all(&bytes).await.is_err() || acts.is_closed() && acts.is_empty() {
                let _gone = write.shutdown().await;
                return;
            }
        }
    };
    let receiving = async {
        let mut reader = Reader::new();
        let mut bytes = bytes::BytesMut::with_capacity(DATA_BYTES_MAX);
        loop {
            loop {
                let frame = match reader.read(&mut bytes) {
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(error) => {
                        tracing::debug!(%error, "a SPDY client is not understood");
                        return;
                    }
                };
                if !take(frame, &events, &reply).await {
                    return;
                }
            }
            if !read.read_buf(&mut bytes).await.is_ok_and(|count| count > 0) {
                return;
            }
        }
    };
    tokio::pin!(sending, receiving);
    tokio::select! {
        () = &mut sending => {}
        () = &mut receiving => {}
    }
}

/// Takes in a frame; `false` when the client goes.
async fn take(frame: Frame, events: &mpsc::Sender<Event>, reply: &mpsc::Sender<Frame>) -> bool {
    let ended = |id, is_last: bool| is_last.then_some(Event::Ended(id));
    let (answer, news, end) = match frame {
        Frame::Open { id, headers, is_last } => {
            let accepted = Frame::Accept { id, headers: Headers::new() };
            (Some(accepted), Some(Event::Opened(id, headers)), ended(id, is_last))
        }
        Frame::Data { id, bytes, is_last } if bytes.is_empty() => (None, None, ended(id, is_last)),
        Frame::Data { id, bytes, is_last } => {
            (None, Some(Event::Data(id, bytes)), ended(id, is_last))
        }
        Frame::Reset { id } => (None, Some(Event::Ended(id)), None),
        Frame::Ping { id } => (Some(Frame::Ping { id }), None, None),
        Frame::GoAway => return false,
        Frame::Accept { .. } | Frame::Other => (None, None, None),
    };
    if let Some(answer) = answer
        && reply.send(answer).await.is_err()
    {
        return false;
    }
    for event in news.into_iter().chain(end) {
        // Where nobody listens any more, what was said may still be on its way.
        let _unheard = events.send(event).await;
    }
    true
}
