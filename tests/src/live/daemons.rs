//! The daemons of a story: started, stopped, and killed at one of their writes.

use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use kai_api::names::component;
use kube::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Place;
use crate::{break_point::BreakPoint, guards::Guards};

/// Program of a daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// kai-scheduler.
    Scheduler,
    /// kai-podgrouper.
    Podgrouper,
}

/// A daemon under its own account.
pub(super) struct Daemon {
    program: Program,
    flags: Vec<String>,
    client: Client,
    /// The write at which it dies, if it does.
    point: BreakPoint,
    guards: Guards,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    stop: CancellationToken,
    task: JoinHandle<Result<()>>,
}

impl Daemon {
    /// One that does not run yet.
    pub(super) async fn new(
        program: Program,
        flags: &[String],
        place: &Place,
        point: BreakPoint,
    ) -> Result<Self> {
        let account = match program {
            Program::Scheduler => component::SCHEDULER,
            Program::Podgrouper => component::PODGROUPER,
        };
        let guards = Guards::default();
        let client = guards.client(place.account(account).await?);
        Ok(Self {
            program,
            flags: flags.to_vec(),
            client,
            point,
            guards,
            running: Mutex::new(None),
        })
    }

    /// Writes that did not say which object they mean.
    pub(super) fn unguarded(&self) -> Vec<String> {
        self.guards.findings()
    }

    /// Starts it.
    pub(super) fn start(&self) -> Result<()> {
        let is_new = self.point.is_broken();
        let client =
            if is_new { self.client.clone() } else { self.point.client(self.client.clone()) };
        let stop = CancellationToken::new();
        let task = match self.program {
            Program::Scheduler => self.scheduler(client, stop.clone())?,
            Program::Podgrouper => self.podgrouper(client, stop.clone())?,
        };
        self.put(Some(Running { stop, task }));
        Ok(())
    }

    /// Stops it as SIGTERM does.
    pub(super) async fn stop(&self) -> Result<()> {
        let Some(Running { stop, mut task }) = self.put(None) else { return Ok(()) };
        stop.cancel();
        let was_alive = !self.point.is_broken();
        tokio::select! {
            ended = &mut task => ended?,
            // It dies while it stops.
            () = self.point.broke(), if was_alive => {
                task.abort();
                Ok(())
            }
        }
    }

    /// Waits until it breaks, ends it as kill -9 does, starts it again and waits for ever; an error where it does not start.
    pub(super) async fn die(&self) -> Result<()> {
        self.point.broke().await;
        if let Some(Running { stop, task }) = self.put(None) {
            task.abort();
            stop.cancel();
            self.start()?;
        }
        std::future::pending().await
    }

    fn put(&self, running: Option<Running>) -> Option<Running> {
        let mut place = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, running)
    }

    fn scheduler(&self, client: Client, stop: CancellationToken) -> Result<JoinHandle<Result<()>>> {
        let image = "--resource-reservation-pod-image=kai-scheduler";
        let words = ["kai-scheduler", "--listen-address=127.0.0.1:0", image].map(String::from);
        let words = words.into_iter().chain(self.flags.iter().cloned());
        let args = kai_scheduler::Args::from_command_line(words.map(Into::into))?;
        Ok(tokio::spawn(async move { Ok(kai_scheduler::run(args, client, stop).await?) }))
    }

    fn podgrouper(
        &self,
        client: Client,
        stop: CancellationToken,
    ) -> Result<JoinHandle<Result<()>>> {
        let words = [
            "kai-podgrouper",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--namespace=kai-scheduler",
        ];
        let words = words.into_iter().map(String::from).chain(self.flags.iter().cloned());
        let args =
            kai_podgrouper::Args::try_from_words(words).map_err(|error| anyhow!("{error}"))?;
        Ok(tokio::spawn(async move { Ok(kai_podgrouper::run(args, client, stop).await?) }))
    }
}
