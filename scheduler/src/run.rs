//! The loop: take in what changed, plan, hand over; single owner of the cluster's state.
//!
//! A cycle starts when something changed, after a short wait for what changes with it;
//! `--schedule-period` is only the longest pause between two.

use std::{collections::HashMap, sync::Arc, time::Duration};

use kai_daemon::clock;
use kai_daemon::lease::Guard;
use kai_engine::{Change, Cluster, Config, Plan, Timestamp, plan_stepwise};
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    actuate::{Outcome, Task},
    cel,
    dispatch::{Dispatch, GroupWrites},
    ingest::{Ingest, Kind},
    names::Number,
    report::Report,
    serve::{
        health::Health,
        metrics::{Metrics, QueueGauges, milliseconds},
        order::{self, Desk},
    },
    settings::config::Source,
    sharing::Sharing,
    usage::Feed,
    watch::Event,
};

mod begin;
mod check;
mod hand_over;
mod hold;
mod lists;
mod news;
mod outcome;
mod settle;

use hold::NotEvicted;
pub(crate) use lists::Lists;
pub(crate) use news::tell;

/// After a change, so long without another ends the wait for more.
const QUIET: Duration = Duration::from_millis(1);
/// The longest wait for more changes.
const GATHER_MAX: Duration = Duration::from_millis(10);
/// A cycle is followed by a pause of the time that it worked times this, so that it leaves the
/// machine to the others; never longer than the second bound, and than the third where steps ran out and it goes on: whoever
/// comes meanwhile is not to wait the longer the more there is to do.
const REST_FACTOR: u32 = 2;
const REST_MAX: Duration = Duration::from_millis(100);
const REST_CUT_MAX: Duration = Duration::from_millis(10);
/// Steps that the four actions of a cycle have together, some 20 ms, and their number.
const STEPS_MAX: u64 = 20_000;
const ACTIONS: u64 = 4;
/// Bounds the age of what was heard last: after longer it may be untrue, and nothing is decided on it.
const WATCH_AGE_MAX: Duration = Duration::from_secs(150);
/// While past use is waited for, so long between two looks at what else came.
const AWAIT_PAUSE: Duration = Duration::from_millis(50);
/// Events taken in one go before a cycle may start.
const BATCHES_MAX: usize = 10_000;
/// While lists are read the engine is told after so many deltas: those of a whole list are larger than what is kept.
const DELTAS_MAX: usize = 1_000;

/// Says why the loop ended.
#[derive(PartialEq, Eq, Debug)]
pub enum End {
    /// It was asked to.
    Stopped,
    /// The Lease is lost.
    Lost,
}

/// Says why the loop cannot go on.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The engine's derived state does not follow from the facts.
    #[error("the engine's check found {count} differences, the first: {first}")]
    Check {
        /// Their number.
        count: usize,
        /// The first.
        first: String,
    },
    /// Most names that are kept are of what is gone.
    #[error(
        "{kept} names are kept, of which {first} were there at the start: starting anew without those of what is gone"
    )]
    Names {
        /// Their number.
        kept: usize,
        /// Their number at the start.
        first: usize,
    },
}

/// The channels of the loop.
#[derive(Debug)]
pub struct Channels {
    /// From the watches.
    pub events: mpsc::Receiver<Vec<Event>>,
    /// From carrying out.
    pub outcomes: mpsc::UnboundedReceiver<Outcome>,
    /// To carrying out.
    pub tasks: mpsc::UnboundedSender<Vec<Task>>,
    /// Ask a watch for a full list.
    pub resync: [Arc<Notify>; Kind::COUNT],
    /// Holds what queues used in the past.
    pub usage: Feed,
    /// Selectors are evaluated there.
    pub selecting: cel::desk::Desk,
    /// Says who asks in which order groups have their turns.
    pub order: Desk,
}

/// All that the loop owns.
#[derive(Debug)]
pub struct Run {
    /// Objects to deltas.
    pub ingest: Ingest,
    /// The engine's state.
    pub cluster: Cluster,
    /// Says where the configuration comes from.
    pub source: Source,
    /// Holds what the operator chose.
    pub config: Config,
    /// Changes to tasks.
    pub dispatch: Dispatch,
    /// Holds what to answer when asked.
    pub health: Health,
    /// Holds what to count.
    pub metrics: Metrics,
    /// Shares and use of queues.
    pub gauges: QueueGauges,
    /// The longest pause between two cycles.
    pub period: Duration,
    /// Ends, retries and conditions that were put off.
    pub report: Report,
    /// Shared GPUs: who holds them, and who waits for one.
    pub sharing: Sharing,
    /// Groups whose binds failed, left out until then.
    pub held: Vec<(Instant, u32)>,
    /// Evictions that failed, of which the engine is not told yet.
    pub not_evicted: Vec<NotEvicted>,
    /// Evictions of a pod that failed in a row, with its UID.
    pub evict_failures: HashMap<u32, (Box<str>, u32)>,
    /// Binds of pods of a group that failed in a row.
    pub bind_failures: HashMap<u32, u32>,
    /// Holds what our writes made of groups.
    pub writes: GroupWrites,
    /// Holds what of each kind is taken in.
    pub lists: Lists,
    /// The engine was told of something since the last cycle.
    pub is_told_early: bool,
    /// Says how many cycles there were.
    pub cycles: u64,
    /// When it began; what passed since is the time of all pauses, whatever happens to the wall clock.
    pub began: Instant,
    /// When something was decided last, in milliseconds since it began.
    pub decided: i64,
    /// Counts the names that were kept once all was listed.
    pub names_first: Option<usize>,
    /// Tells whether the news are too old to decide on.
    pub is_old: bool,
}

impl Run {
    /// Runs until stopped, or until the Lease is lost.
    ///
    /// # Errors
    /// The process must start anew from the truth.
    pub async fn run(
        mut self,
        mut channels: Channels,
        guard: &Guard,
        stop: &CancellationToken,
    ) -> Result<End, Error> {
        let mut rested = Instant::now();
        loop {
            let wake = self.wake();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(End::Stopped),
                () = guard.lost() => return Ok(End::Lost),
                Some(outcome) = channels.outcomes.recv() => {
                    if outcome == Outcome::Lost {
                        return Ok(End::Lost);
                    }
                    self.settle(outcome, &channels.tasks);
                }
                Some(events) = channels.events.recv() => self.take(events),
                Some(usage) = channels.usage.next() => self.ingest.used(usage),
                Some(answers) = channels.selecting.next() => self.ingest.answered(answers),
                Some(reply) = channels.order.next() => {
                    let is_early = self.cycles == 0;
                    let order = (!is_early).then(|| order::text(&self.cluster, &self.ingest.context.names));
                    // Who asked may have gone meanwhile.
                    let _ = reply.send(order);
                }
                () = sleep_until(wake) => {}
            }
            let started = Instant::now();
            let mut waited = self.gather(&mut channels).await;
            if self.lists.are_complete() && Instant::now() < rested {
                waited += pass(sleep_until(rested)).await.0;
                waited += self.gather(&mut channels).await;
            }
            if !self.lists.are_complete() {
                continue;
            }
            if channels.usage.is_awaited() {
                sleep(AWAIT_PAUSE).await;
                continue;
            }
            let is_cut = self.cycle(&channels, started)?;
            // What it waited for more is no work: counted, each pause would make the next one longer.
            let worked = started.elapsed().saturating_sub(waited);
            rested = Instant::now() + rest_after(worked, is_cut);
        }
    }

    /// Takes in what comes until nothing comes for a moment, and asks for what has to be read again; how long it waited.
    async fn gather(&mut self, channels: &mut Channels) -> Duration {
        let waited = self.take_in(channels).await;
        if self.lists.are_complete() {
            self.configure(channels);
        }
        for kind in self.ingest.context.resync.drain(..) {
            self.lists.ask(kind);
            channels.resync[kind.index()].notify_one();
        }
        waited
    }

    async fn take_in(&mut self, channels: &mut Channels) -> Duration {
        let deadline = Instant::now() + GATHER_MAX;
        let mut waited = Duration::ZERO;
        for _ in 0..BATCHES_MAX {
            while let Ok(outcome) = channels.outcomes.try_recv() {
                self.settle(outcome, &channels.tasks);
            }
            while let Some(answers) = channels.selecting.ready() {
                self.ingest.answered(answers);
            }
            let patience = QUIET.min(deadline.saturating_duration_since(Instant::now()));
            let (pause, came) = pass(timeout(patience, channels.events.recv())).await;
            waited += pause;
            match came {
                Ok(Some(events)) => self.take(events),
                Ok(None) | Err(_) => break,
            }
        }
        waited
    }

    /// Follows the shards as they are now.
    fn configure(&mut self, channels: &mut Channels) {
        if self.ingest.shards.take_changed() {
            let settings = self.source.settings(self.ingest.shards.iter());
            self.config = in_turns(settings.config);
            channels.usage.want(settings.usage, self.source.followed(self.ingest.shards.iter()));
            channels.order.want(settings.job_order);
            self.ingest.align(settings.aligning);
        }
    }

    /// Says when the next cycle is due although nothing changes.
    fn wake(&self) -> Instant {
        // While a list is read, or nothing is heard, there is nothing to do but to take in what comes.
        if self.is_old || !self.lists.are_complete() {
            return Instant::now() + self.period;
        }
        let is_told = self.is_told_early || !self.ingest.context.deltas.is_empty();
        if is_told || self.ingest.has_late() {
            return Instant::now();
        }
        let left = |at: Option<i64>, now: i64| {
            at.map(|at| Duration::from_millis(at.saturating_sub(now).max(0).unsigned_abs()))
        };
        let (wall, steady) = (now().0, self.steady());
        let began = Instant::now();
        let pauses = [
            left(self.cluster.wake().map(|at| at.0), wall),
            left(self.ingest.next_wake().map(|at| at.0), wall),
            left(self.report.next(), steady),
            left(self.sharing.wake(), steady),
            self.held.iter().map(|(at, _)| *at - began).min(),
            self.not_evicted.iter().map(|one| one.at - began).min(),
        ];
        began + pauses.into_iter().flatten().min().unwrap_or(self.period).min(self.period)
    }

    /// Milliseconds since it began. Pauses are measured by it: a wall clock that is set back would make them longer.
    fn steady(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    fn take(&mut self, events: Vec<Event>) {
        if self.ingest.context.deltas.len() > DELTAS_MAX {
            self.absorb();
        }
        for event in events {
            let (kind, result) = match event {
                Event::Begin(kind) => {
                    self.ingest.begin(kind);
                    self.lists.begin(kind);
                    continue;
                }
                Event::End(kind, version) => {
                    self.ingest.end(kind);
                    self.lists.end(kind);
                    (kind, Ok(version))
                }
                Event::Passed(kind, version) => (kind, Ok(version)),
                Event::Kept(kind) => {
                    self.lists.keep(kind);
                    continue;
                }
                Event::Resume(kind, answer) => {
                    // The watch may have ended meanwhile; then nobody needs it.
                    let _ = answer.send(self.lists.version(kind).cloned());
                    continue;
                }
                Event::Applied(kind, bytes) => {
                    match self.ingest.applied(kind, &bytes) {
                        Ok(version) => self.lists.applied(kind, version),
                        Err(error) => self.undecodable(kind, &error),
                    }
                    continue;
                }
                Event::Deleted(kind, bytes) => (kind, self.ingest.deleted(kind, &bytes)),
            };
            match result {
                Ok(version) => self.lists.taken(kind, version),
                Err(error) => self.undecodable(kind, &error),
            }
        }
    }

    /// One object that cannot be read must not hide all others.
    fn undecodable(&self, kind: Kind, error: &serde_json::Error) {
        self.metrics.undecodable.with_label_values(&[kind.name()]).inc();
        tracing::warn!(%kind, %error, "skipped an object that cannot be read");
    }

    /// One cycle: apply, plan, hand over. Tells whether steps ran out, so that the next one goes on.
    fn cycle(&mut self, channels: &Channels, started: Instant) -> Result<bool, Error> {
        let now = now();
        self.is_told_early = false;
        let (watch_age, kind) = self.health.watch_age();
        self.metrics.watch_age.set(watch_age.as_secs_f64());
        let is_old = watch_age > WATCH_AGE_MAX;
        self.say_whether_old(is_old, kind);
        if is_old {
            return Ok(false);
        }
        self.release();
        self.tell(now);
        channels.selecting.ask(std::mem::take(&mut self.ingest.context.questions));
        let opened = Instant::now();
        self.metrics.open.set(milliseconds(opened - started));
        let mut plan = self.plan(now);
        self.ingest.withdraw(&mut plan.changes, &self.cluster);
        let decided = Instant::now();
        self.gauges.tell(&self.cluster, &self.ingest.context.names);
        self.hand_over(&plan, now, &channels.tasks);
        self.metrics.close.set(milliseconds(decided.elapsed()));
        self.metrics.cycle.set(milliseconds(started.elapsed()));
        if !plan.changes.is_empty() {
            tracing::info!(
                changes = plan.changes.len(),
                taken_in = ?(opened - started),
                planned = ?(decided - opened),
                handed_over = ?decided.elapsed(),
                "decided"
            );
        }
        self.check(&plan)?;
        self.cycles += 1;
        self.health.cycle();
        Ok(plan.steps.spent)
    }

    /// Says once that what is known is too old to decide on, and once that it no longer is.
    fn say_whether_old(&mut self, is_old: bool, kind: &str) {
        let was_old = std::mem::replace(&mut self.is_old, is_old);
        if is_old && !was_old {
            let seconds = WATCH_AGE_MAX.as_secs();
            tracing::warn!(
                kind,
                seconds,
                "the API server tells nothing of a kind: deciding nothing until it does"
            );
        } else if was_old && !is_old {
            tracing::info!("the API server tells again of all kinds: deciding again");
        }
    }

    /// Decides, and times each action.
    fn plan(&mut self, now: Timestamp) -> Plan {
        let mut started = Instant::now();
        let metrics = &self.metrics;
        let plan = plan_stepwise(&mut self.cluster, &self.config, now, &mut |action, steps| {
            let ended = Instant::now();
            metrics.acted(action, &steps, ended - started);
            started = ended;
        });
        for change in &plan.changes {
            if let Change::Place { pod, .. } = change {
                let created = self.ingest.context.names.pods[pod.number()].created;
                let waited = u64::try_from(now.0.saturating_sub(created)).unwrap_or(0);
                metrics.task.observe(milliseconds(Duration::from_millis(waited)));
            }
        }
        plan
    }
}

/// Now, by the wall clock, as the API's timestamps are.
fn now() -> Timestamp {
    Timestamp(clock::now().as_millisecond())
}

/// Waits for a future; gives how long it took, and what it gave.
async fn pass<T>(future: impl Future<Output = T>) -> (Duration, T) {
    let started = Instant::now();
    let result = future.await;
    (started.elapsed(), result)
}

/// Gives the pause after a cycle that worked for so long.
fn rest_after(worked: Duration, is_cut: bool) -> Duration {
    (worked * REST_FACTOR).min(if is_cut { REST_CUT_MAX } else { REST_MAX })
}

/// Has actions leave the rest to the next cycle, so that what was placed is bound meanwhile: any user may make any number of
/// groups for each of which all nodes, or all victims, are looked through in vain. Each of the four has as many steps as the
/// others, so that none waits for another to have none left.
pub(crate) fn in_turns(config: Config) -> Config {
    Config { action_steps_max: Some(STEPS_MAX / ACTIONS), ..config }
}

#[cfg(test)]
mod tests;
