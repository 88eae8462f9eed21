//! Waiting for a workload: `submit --wait`, and `kubectl kai wait`. Says what changes, and nothing in between.

use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::cluster::Cluster;
use crate::commands::outage::Outage;
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::{Loaded, Phase, State, Workload, history, is_bound, load};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// All its pods have nodes.
    Scheduled,
    /// All its pods run.
    Running,
    /// It has ended.
    Complete,
    /// It has ended, and badly.
    Failed,
    /// It is gone.
    Deleted,
}

impl Goal {
    /// What the workload does when the waiting is over.
    fn verb(self) -> &'static str {
        match self {
            Self::Scheduled => "has nodes",
            Self::Running => "runs",
            Self::Complete => "has ended",
            Self::Failed => "has failed",
            Self::Deleted => "is gone",
        }
    }
}

/// Which workload.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) namespace: String,
    /// Empty for any kind.
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// Flags of `wait`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of workloads
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// State to wait for
    #[arg(long = "for", value_enum, default_value = "complete", value_name = "STATE")]
    goal: Goal,
    /// Longest wait, such as 30m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
}

/// Runs `wait`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let timeout = match &args.timeout {
        Some(text) => duration::parse("--timeout", text)?,
        None => None,
    };
    let cluster = context.cluster().await?;
    let loaded = load(&cluster, Some(&cluster.namespace)).await?;
    let place = format!("namespace {}", cluster.namespace);
    let mut targets = Vec::new();
    for name in &args.names {
        match loaded.one(name, &place) {
            Ok(workload) => targets.push(Target {
                namespace: workload.namespace.clone(),
                kind: workload.resource.kind.clone(),
                name: workload.name.clone(),
            }),
            // Gone already is what was asked for.
            Err(error) if args.goal == Goal::Deleted && error.exit() == Exit::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let begin = Instant::now();
    for target in targets {
        let left = timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
        let exit = until(&target, args.goal, left, &cluster, context).await?;
        if exit != Exit::Ok {
            return Ok(if exit == Exit::Pending { Exit::Timeout } else { exit });
        }
    }
    Ok(Exit::Ok)
}

/// Times between two looks: the first soon, since most answers come soon.
const FIRST: Duration = Duration::from_millis(200);
const LAST: Duration = Duration::from_secs(2);

/// Waits, and says each change of state. Ctrl-C stops the waiting, not the workload.
///
/// # Errors
/// The server stays unreachable, or the workload disappears.
pub(crate) async fn until(
    target: &Target,
    goal: Goal,
    timeout: Option<Duration>,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Exit, Error> {
    context.out.wait_for(&format!("waiting until {} {}", target.name, goal.verb()));
    let ended = tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => {
            context.out.talk(&format!(
                "stopped waiting; {} goes on. Look again: kubectl kai describe {}",
                target.name, target.name
            ));
            Err(Error::Quiet(Exit::Interrupted))
        }
        exit = look(target, goal, timeout, cluster, &mut context.out) => exit,
    };
    context.out.waited();
    ended
}

async fn look(
    target: &Target,
    goal: Goal,
    timeout: Option<Duration>,
    cluster: &Cluster,
    out: &mut crate::print::output::Output,
) -> Result<Exit, Error> {
    let begin = Instant::now();
    let mut pause = FIRST;
    let mut said: Option<State> = None;
    let mut last_line = String::new();
    let mut seen: Option<Workload> = None;
    let mut outage = Outage::default();
    loop {
        let loaded = outage.sit_out(load(cluster, Some(&target.namespace)).await, out)?;
        let workload = loaded.as_ref().and_then(|loaded| target.find(loaded));
        if loaded.is_some() && workload.is_none() {
            match &seen {
                _ if goal == Goal::Deleted => return Ok(Exit::Ok),
                Some(workload) => return Err(disappeared(workload, cluster).await),
                None => {}
            }
        }
        if let Some(workload) = workload {
            seen = Some(workload.clone());
            let state = workload.state();
            let now = line(workload, &state);
            if last_line != now {
                out.talk(&now);
                last_line = now;
            }
            if let Some(exit) = reached(workload, &state, goal) {
                return Ok(exit);
            }
            said = Some(state);
        }
        let left = timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
        if left == Some(Duration::ZERO) {
            // Why it waits was said above.
            let state = said.map_or_else(|| "not there yet".to_owned(), |state| state.show());
            let seconds = i64::try_from(begin.elapsed().as_secs()).unwrap_or(0);
            out.talk(&format!(
                "still waiting after {}: {} {}",
                duration::short(seconds),
                clean(&target.name),
                clean(&state)
            ));
            return Ok(Exit::Pending);
        }
        tokio::time::sleep(left.map_or(pause, |left| left.min(pause))).await;
        pause = (pause * 2).min(LAST);
    }
}

impl Target {
    fn find<'l>(&self, loaded: &'l Loaded) -> Option<&'l Workload> {
        let is_it = |w: &&Workload| {
            w.name == self.name && (self.kind.is_empty() || w.resource.kind == self.kind)
        };
        loaded.workloads.iter().find(is_it)
    }
}

/// It is no more; who took its place is said where an event tells.
async fn disappeared(workload: &Workload, cluster: &Cluster) -> Error {
    let what = format!("{} disappeared while it was waited for", clean(&workload.name));
    match history::eviction_of(workload, cluster).await {
        Some(eviction) => Problem::new(number::EVICTED, Exit::Evicted, what)
            .line(clean(&eviction.sentence()))
            .line("nothing makes it anew")
            .into(),
        None => Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what).into(),
    }
}

fn line(workload: &Workload, state: &State) -> String {
    let (ready, wanted) = workload.ready();
    let message = match (&state.message, state.phase.is_queued()) {
        (Some(message), true) => format!(": {}", clean(&message.replace('\n', " "))),
        (Some(_) | None, _) => String::new(),
    };
    format!("{}  {} {ready}/{wanted}{message}", clean(&workload.name), clean(&state.show()))
}

/// Whether the waiting is over, and how the command ends then.
fn reached(workload: &Workload, state: &State, goal: Goal) -> Option<Exit> {
    let failed = state.phase == Phase::Failed;
    let ended = state.phase.is_over();
    let (_, wanted) = workload.ready();
    let scheduled =
        workload.pods.len() >= wanted && workload.pods.iter().all(is_bound) && wanted > 0;
    match goal {
        Goal::Failed => ended.then_some(if failed { Exit::Ok } else { Exit::Failure }),
        _ if failed && goal != Goal::Deleted => Some(Exit::WorkloadFailed),
        Goal::Scheduled => (ended || scheduled).then_some(Exit::Ok),
        Goal::Running => (ended || state.phase == Phase::Running).then_some(Exit::Ok),
        Goal::Complete => ended.then_some(Exit::Ok),
        Goal::Deleted => None,
    }
}
