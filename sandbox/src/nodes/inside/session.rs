//! The streams of one process: what the client types, what it is shown, and how the process ended.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::streams::{Act, Event, Link, Streams};

/// The longest wait for the streams that a client said it would open.
const OPENING: Duration = Duration::from_secs(30);
/// Bytes that a terminal sends for Ctrl-C and Ctrl-D, and for the two keys that delete.
const INTERRUPT: u8 = 3;
const END: u8 = 4;
const BACKSPACE: [u8; 2] = [8, 127];

/// The reason why a process does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Nobody is there any more.
    Gone,
    /// Ctrl-C.
    Interrupted,
}

/// The size of a terminal as clients tell it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Size {
    width: u16,
    height: u16,
}

/// The streams of one process.
#[derive(Debug)]
pub(super) struct Session {
    events: mpsc::Receiver<Event>,
    acts: mpsc::Sender<Act>,
    streams: Streams,
    /// Numbers of streams by their types.
    ids: BTreeMap<String, u32>,
    /// Bytes that were typed and are not read yet.
    input: VecDeque<u8>,
    input_ended: bool,
    /// Columns and rows.
    pub(super) terminal: Option<(u16, u16)>,
}

impl Session {
    /// Waits for the streams that the client asked for; none when they do not come.
    pub(super) async fn begin(link: Link, streams: Streams) -> Option<Self> {
        let Link { events, acts } = link;
        let mut session = Self {
            events,
            acts,
            streams,
            ids: BTreeMap::new(),
            input: VecDeque::new(),
            input_ended: !streams.stdin,
            terminal: None,
        };
        let wanted = [
            ("error", true),
            ("stdin", streams.stdin),
            ("stdout", streams.stdout),
            ("stderr", streams.stderr && !streams.tty),
        ];
        let opened = async {
            while wanted
                .iter()
                .any(|(name, is_wanted)| *is_wanted && !session.ids.contains_key(*name))
            {
                if session.take().await.is_err() {
                    return false;
                }
            }
            true
        };
        let is_open = tokio::time::timeout(OPENING, opened).await.unwrap_or(false);
        is_open.then_some(session)
    }

    /// Takes in what comes next.
    async fn take(&mut self) -> Result<(), Stopped> {
        let event = self.events.recv().await.ok_or(Stopped::Gone)?;
        let is = |id: u32, name: &str| self.ids.get(name) == Some(&id);
        match event {
            Event::Opened(id, headers) => {
                if let Some(name) = headers.get("streamtype") {
                    self.ids.insert(name.clone(), id);
                }
            }
            Event::Data(id, bytes) if is(id, "stdin") => self.input.extend(bytes),
            Event::Data(id, bytes) if is(id, "resize") => {
                if let Ok(Size { width, height }) = serde_json::from_slice(&bytes) {
                    self.terminal = Some((width, height));
                }
            }
            Event::Ended(id) if is(id, "stdin") => self.input_ended = true,
            Event::Data(..) | Event::Ended(_) => {}
        }
        Ok(())
    }

    /// Shows a text on stdout or stderr; a terminal has one for both, and begins each line at its edge.
    pub(super) async fn print(&self, name: &str, text: &str) -> Result<(), Stopped> {
        let name = if self.streams.tty { "stdout" } else { name };
        let is_wanted = match name {
            "stderr" => self.streams.stderr,
            _ => self.streams.stdout,
        };
        let Some(id) = self.ids.get(name).filter(|_| is_wanted) else { return Ok(()) };
        let text = if self.streams.tty { text.replace('\n', "\r\n") } else { text.to_owned() };
        self.acts.send(Act::Data(*id, Bytes::from(text))).await.map_err(|_| Stopped::Gone)
    }

    /// Waits, unless Ctrl-C comes or the client goes.
    pub(super) async fn sleep(&mut self, time: Duration) -> Result<(), Stopped> {
        let sleep = tokio::time::sleep(time);
        tokio::pin!(sleep);
        loop {
            if let Some(at) = self.input.iter().position(|byte| *byte == INTERRUPT)
                && self.streams.tty
            {
                self.input.drain(..=at);
                self.print("stdout", "^C\n").await?;
                return Err(Stopped::Interrupted);
            }
            tokio::select! {
                () = &mut sleep => return Ok(()),
                taken = self.take() => taken?,
            }
        }
    }

    /// Reads what is typed next, as it comes; none at its end.
    pub(super) async fn read(&mut self) -> Result<Option<String>, Stopped> {
        while self.input.is_empty() {
            if self.input_ended {
                return Ok(None);
            }
            self.take().await?;
        }
        if self.streams.tty {
            let line = self.read_line("").await?;
            return Ok(line.map(|line| line + "\n"));
        }
        let bytes: Vec<u8> = self.input.drain(..).collect();
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The next line; none at the end. On a terminal it is shown as it is typed, after a prompt.
    pub(super) async fn read_line(&mut self, prompt: &str) -> Result<Option<String>, Stopped> {
        if self.streams.tty {
            self.print("stdout", prompt).await?;
        }
        let mut line: Vec<u8> = Vec::new();
        loop {
            let Some(byte) = self.input.pop_front() else {
                if self.input_ended {
                    let text = String::from_utf8_lossy(&line).into_owned();
                    return Ok((!text.is_empty()).then_some(text));
                }
                self.take().await?;
                continue;
            };
            let is_end = byte == b'\n' || (self.streams.tty && byte == b'\r');
            if is_end {
                if self.streams.tty {
                    self.print("stdout", "\n").await?;
                }
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            if !self.streams.tty {
                line.push(byte);
                continue;
            }
            match byte {
                INTERRUPT => {
                    self.print("stdout", "^C\n").await?;
                    return Err(Stopped::Interrupted);
                }
                END if line.is_empty() => {
                    self.print("stdout", "\n").await?;
                    return Ok(None);
                }
                byte if BACKSPACE.contains(&byte) => {
                    if line.pop().is_some() {
                        self.print("stdout", "\u{8} \u{8}").await?;
                    }
                }
                byte if byte < b' ' => {}
                byte => {
                    line.push(byte);
                    if let Ok(letter) = std::str::from_utf8(&[byte]) {
                        self.print("stdout", letter).await?;
                    }
                }
            }
        }
    }

    /// Tells how the process ended, and closes its streams.
    pub(super) async fn end(self, code: u8) {
        let status = status(code).to_string();
        if let Some(id) = self.ids.get("error") {
            let _gone = self.acts.send(Act::Data(*id, Bytes::from(status))).await;
        }
        for id in self.ids.values() {
            let _gone = self.acts.send(Act::End(*id)).await;
        }
    }
}

/// Tells as the kubelet does how a process ended.
fn status(code: u8) -> Value {
    if code == 0 {
        return json!({"metadata": {}, "status": "Success"});
    }
    json!({
        "metadata": {},
        "status": "Failure",
        "message": format!("command terminated with non-zero exit code: exit status {code}"),
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
    })
}
