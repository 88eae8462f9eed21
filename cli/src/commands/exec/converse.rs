//! A process elsewhere and the terminal here: what is typed goes there, what it prints comes here.

use std::io::{self, Read as _};
use std::pin::pin;
use std::time::Duration;

use futures::SinkExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{AttachedProcess, TerminalSize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::terminal::{Raw, Resizes};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};

/// Sets how long what has arrived of a broken connection is waited for.
pub(super) const LEFT: Duration = Duration::from_millis(500);
/// Bytes that are read at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// Hands on what is typed and what is printed until the process prints no more, with the size of the terminal where it
/// has one; how the process ended, where the server said so.
///
/// # Errors
/// The terminal cannot be used, or stdout cannot be written.
pub(crate) async fn converse(
    mut process: AttachedProcess,
    stdin: bool,
    tty: bool,
    context: &mut Context,
) -> Result<Option<Status>, Error> {
    let _raw = tty.then(Raw::begin).transpose().map_err(|error| {
        Problem::new(number::OTHER, Exit::Failure, format!("failed to use the terminal: {error}"))
            .fix("leave -t out")
    })?;
    let mut resizes = if tty { Resizes::begin().ok() } else { None };
    let mut input = stdin.then(|| typed(context));
    let mut writer = process.stdin();
    let mut sizes = process.terminal_size();
    let (mut stdout, mut stderr) = (process.stdout(), process.stderr());
    let mut bytes = (vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]);
    let mut status = pin!(said(process.take_status()));
    let (mut told, mut is_told) = (None, false);
    while stdout.is_some() || stderr.is_some() {
        tokio::select! {
            ended = &mut status, if !is_told => (told, is_told) = (ended, true),
            // Where the connection breaks, nothing ends what is read of it.
            () = tokio::time::sleep(LEFT), if is_told && told.is_none() => return Ok(None),
            count = read(&mut stdout, &mut bytes.0) => match count {
                0 => stdout = None,
                count => context.out.bytes(&bytes.0[..count])?,
            },
            count = read(&mut stderr, &mut bytes.1) => match count {
                0 => stderr = None,
                count => context.out.complain(&bytes.1[..count]),
            },
            typed = next(&mut input) => if let Some(typed) = typed {
                // Whoever reads no more has ended, which its status tells.
                if let Some(writer) = &mut writer {
                    let _ended = writer.write_all(&typed).await;
                }
            } else {
                input = None;
                if let Some(mut writer) = writer.take() {
                    let _ended = writer.shutdown().await;
                }
            },
            (width, height) = resized(&mut resizes) => if let Some(sizes) = &mut sizes {
                let _ended = sizes.send(TerminalSize { width, height }).await;
            },
        }
    }
    Ok(if is_told { told } else { status.await })
}

/// Waits for how a process ended; `None` once the connection has broken without a word of it.
pub(super) async fn said(status: Option<impl Future<Output = Option<Status>>>) -> Option<Status> {
    match status {
        Some(status) => status.await,
        None => None,
    }
}

/// Reads; 0 at the end. Nothing comes from a reader that is not there.
async fn read<R: AsyncRead + Unpin>(reader: &mut Option<R>, bytes: &mut [u8]) -> usize {
    match reader {
        Some(reader) => reader.read(bytes).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

async fn next(input: &mut Option<mpsc::Receiver<Vec<u8>>>) -> Option<Vec<u8>> {
    match input {
        Some(input) => input.recv().await,
        None => std::future::pending().await,
    }
}

async fn resized(resizes: &mut Option<Resizes>) -> (u16, u16) {
    match resizes {
        Some(resizes) => resizes.next().await,
        None => std::future::pending().await,
    }
}

/// Returns what is typed, as it comes. A thread reads it, since nothing can take back a read that has begun.
fn typed(context: &mut Context) -> mpsc::Receiver<Vec<u8>> {
    let mut stdin = std::mem::replace(&mut context.stdin, Box::new(io::empty()));
    let (send, receive) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut bytes = vec![0; BUFFER_BYTES];
        while let Ok(count @ 1..) = stdin.read(&mut bytes) {
            if send.blocking_send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receive
}
