//! A command in a container: what the stand-in of a shell says it does, done.

use std::time::Duration;

use super::Running;
use super::session::{Session, Stopped};
use crate::nodes::shell::{self, Effect, Outcome, View};
use crate::streams::{Link, Streams};

/// The code of a process that ended on Ctrl-C.
const INTERRUPTED: u8 = 130;
/// The code of a process whose container ended.
const KILLED: u8 = 137;
/// `sleep infinity`, as far as a clock goes.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Runs a command until it ends, its container ends, or the client goes.
pub(super) async fn exec(
    link: Link,
    streams: Streams,
    command: Vec<String>,
    view: View,
    running: Running,
) {
    let Some(session) = Session::begin(link, streams).await else { return };
    let mut process = Process { session, view };
    let Some(code) = process.ends(&command, &running).await else { return };
    process.session.end(code).await;
}

/// Lets somebody type to the container's own process, which begins anew for each who does, and ends the container when it
/// ends. Whoever goes leaves it running.
pub(super) async fn type_to(
    link: Link,
    streams: Streams,
    command: Vec<String>,
    view: View,
    running: Running,
) {
    let Some(session) = Session::begin(link, streams).await else { return };
    let mut process = Process { session, view };
    let Some(code) = process.ends(&command, &running).await else { return };
    running.exits(code);
    // As the kubelet does: how the process ended is in the status of its pod.
    process.session.end(0).await;
}

struct Process {
    session: Session,
    view: View,
}

impl Process {
    /// Runs a command to its end, or to that of its container, and gives the code; none where the client went.
    async fn ends(&mut self, command: &[String], running: &Running) -> Option<u8> {
        tokio::select! {
            biased;
            ended = self.whole(command) => match ended {
                Ok(code) => Some(code),
                Err(Stopped::Interrupted) => Some(INTERRUPTED),
                Err(Stopped::Gone) => None,
            },
            () = running.ended() => Some(KILLED),
        }
    }

    async fn whole(&mut self, command: &[String]) -> Result<u8, Stopped> {
        self.view.terminal = self.session.terminal;
        let outcome = shell::run(command, &self.view);
        self.play(outcome).await
    }

    /// Does what was said, and gives the code.
    async fn play(&mut self, outcome: Outcome) -> Result<u8, Stopped> {
        let mut code = outcome.code;
        for effect in outcome.effects {
            match effect {
                Effect::Out(text) => self.session.print("stdout", &text).await?,
                Effect::Err(text) => self.session.print("stderr", &text).await?,
                Effect::Sleep(time) => self.session.sleep(time.min(LONGEST)).await?,
                Effect::Copy => {
                    while let Some(text) = self.session.read().await? {
                        self.session.print("stdout", &text).await?;
                    }
                }
                Effect::Shell => code = Box::pin(self.shell()).await?,
            }
        }
        Ok(code)
    }

    /// Reads commands until they end.
    async fn shell(&mut self) -> Result<u8, Stopped> {
        let mut code = 0;
        loop {
            let line = match self.session.read_line("# ").await {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(code),
                Err(Stopped::Interrupted) => {
                    code = INTERRUPTED;
                    continue;
                }
                Err(Stopped::Gone) => return Err(Stopped::Gone),
            };
            self.view.terminal = self.session.terminal;
            let outcome = shell::script(&line, &self.view);
            let exits = outcome.exits;
            code = match self.play(outcome).await {
                Ok(code) => code,
                Err(Stopped::Interrupted) => INTERRUPTED,
                Err(Stopped::Gone) => return Err(Stopped::Gone),
            };
            if exits {
                return Ok(code);
            }
        }
    }
}
