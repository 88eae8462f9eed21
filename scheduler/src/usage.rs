//! Describes what queues used in the past, read from Prometheus in the background; the last answer counts in fair shares.
//!
//! ```text
//! SchedulingShard ─► Params ─► Feed ──wanted──► keep: every fetchInterval 6 queries ─► Usage ─► Feed ─► Queue.usage_micro
//! ```
//!
//! Usage is what a queue held as a part of what there was, over a window that ends now. Where it cannot be read the
//! last answer counts on, with a warning once it is too old and a condition of the shard; before the first one nothing
//! counts.
//! Source: docs/behaviour.md 3.6, docs/contract.md 1.6.

use std::{collections::BTreeMap, time::Duration};

use kai_daemon::backoff;
use kai_daemon::clock;
use kai_engine::{PerLane, Timestamp};
use kube::Client;
use prometheus::Histogram;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::server::Write;

mod client;
mod params;
mod query;
mod standing;
mod window;

pub use params::Params;

use client::Failure;
use standing::{Found, Standing};

/// Holds what each queue used, by name, in millionths of what there was.
pub type Usage = BTreeMap<Box<str>, PerLane<u64>>;

/// Says who wants what read.
#[derive(Debug, Clone, Default, PartialEq)]
struct Wanted {
    params: Option<Params>,
    /// The shard whose settings these are.
    shard: Option<String>,
}

/// The loop's end of the task: what is wanted goes in, answers come out.
#[derive(Debug)]
pub struct Feed {
    wanted: watch::Sender<Wanted>,
    answers: mpsc::Receiver<Usage>,
    /// Until when the first answer is waited for.
    awaited: Option<Instant>,
    /// Something was wanted, or nothing, since the start.
    is_settled: bool,
}

/// The task's end.
#[derive(Debug)]
pub struct Task {
    wanted: watch::Receiver<Wanted>,
    asking: Asking,
}

/// Holds what is asked with, and who is told.
#[derive(Debug)]
struct Asking {
    answers: mpsc::Sender<Usage>,
    /// Says how it stands, for the shard's status.
    standing: watch::Sender<Standing>,
    /// Address that is asked where none is given.
    fallback: String,
    /// The scheduler's own namespace, whose daemons tell what queues hold.
    home: String,
    /// Says how long queries take.
    latency: Histogram,
}

/// Both ends; where no address is given, `fallback` is asked. `home` is the scheduler's own namespace.
pub fn feed(fallback: String, home: String, latency: Histogram) -> (Feed, Task) {
    let (wanted_in, wanted) = watch::channel(Wanted::default());
    let (answers, answers_out) = mpsc::channel(1);
    let feed = Feed { wanted: wanted_in, answers: answers_out, awaited: None, is_settled: false };
    let (standing, _) = watch::channel(Standing::default());
    let asking = Asking { answers, standing, fallback, home, latency };
    (feed, Task { wanted, asking })
}

impl Feed {
    /// Has the database asked from now on as `params` say. The first time, its first answer is worth waiting for.
    pub fn want(&mut self, params: Option<Params>, shard: Option<&String>) {
        if !std::mem::replace(&mut self.is_settled, true) {
            self.awaited = params.as_ref().map(|params| Instant::now() + params.wait);
        }
        let new = Wanted { params, shard: shard.cloned() };
        self.wanted.send_if_modified(|wanted| {
            let is_new = *wanted != new;
            *wanted = new;
            is_new
        });
    }

    /// The next answer.
    pub async fn next(&mut self) -> Option<Usage> {
        let usage = self.answers.recv().await;
        self.awaited = None;
        usage
    }

    /// Tells whether deciding should wait for the first answer.
    pub fn is_awaited(&self) -> bool {
        self.awaited.is_some_and(|until| Instant::now() < until)
    }
}

impl Task {
    /// Asks as wanted until `stop`, or until nobody listens.
    pub async fn keep(mut self, stop: CancellationToken) {
        let mut counts = false;
        loop {
            let Wanted { params, shard } = self.wanted.borrow_and_update().clone();
            let found = if params.is_none() { Found::Unwanted } else { Found::Nothing };
            self.asking.standing.send_replace(Standing { shard, found });
            // What was read before counts no more once nothing is wanted.
            let forgets = std::mem::replace(&mut counts, params.is_some()) && params.is_none();
            if forgets && self.asking.answers.send(Usage::new()).await.is_err() {
                return;
            }
            let goes_on = tokio::select! {
                biased;
                () = stop.cancelled() => false,
                changed = self.wanted.changed() => changed.is_ok(),
                () = self.asking.follow(params) => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Keeps the shard's status saying how it stands, until `stop`.
    pub fn tell(&self, write: Write, stop: CancellationToken) -> impl Future<Output = ()> + use<> {
        standing::keep(self.asking.standing.subscribe(), write, stop)
    }
}

impl Asking {
    /// Asks at the interval until nobody listens; nothing without parameters.
    async fn follow(&self, params: Option<Params>) {
        let Some(params) = params else { return std::future::pending().await };
        let mut reader = Reader {
            params: &params,
            fallback: &self.fallback,
            home: &self.home,
            latency: &self.latency,
            client: None,
            since: Timestamp(clock::now().as_millisecond()),
        };
        let mut heard = Instant::now();
        let mut failures = 0;
        let mut said_stale = false;
        loop {
            let result = reader.read().await;
            self.stands(&reader, &result);
            let pause = match result {
                Ok(usage) => {
                    if failures > 0 {
                        tracing::info!("past use is read again");
                    }
                    (heard, failures, said_stale) = (Instant::now(), 0, false);
                    if self.answers.send(usage).await.is_err() {
                        return;
                    }
                    params.interval
                }
                Err(failure) => {
                    failures += 1;
                    if failures == 1 {
                        let address = reader.address();
                        tracing::warn!(address, %failure, "failed to read past use (usageDBConfig)");
                    }
                    if heard.elapsed() > params.staleness
                        && !std::mem::replace(&mut said_stale, true)
                    {
                        let seconds = heard.elapsed().as_secs();
                        let address = reader.address();
                        tracing::warn!(address, %failure, seconds, "past use is stale: what was read last counts on");
                    }
                    params.interval.min(backoff(failures))
                }
            };
            sleep(pause.max(PAUSE_MIN)).await;
        }
    }

    /// Says how it stands after a reading.
    fn stands(&self, reader: &Reader<'_>, result: &Result<Usage, Failure>) {
        let address = String::from(reader.address());
        let found = match result {
            Ok(_) => Found::Answer { address },
            Err(failure) => Found::Failure { address, why: failure.to_string() },
        };
        self.standing.send_if_modified(|standing| {
            let is_new = standing.found != found;
            standing.found = found;
            is_new
        });
    }
}

/// The shortest pause between two readings.
const PAUSE_MIN: Duration = Duration::from_millis(50);

/// Reads usage, over a connection that is made when it is first needed.
struct Reader<'a> {
    params: &'a Params,
    fallback: &'a str,
    home: &'a str,
    latency: &'a Histogram,
    client: Option<(Client, String)>,
    /// When these parameters were first followed: where a tumbling window without a start begins.
    since: Timestamp,
}

impl Reader<'_> {
    /// Says where it reads, as far as that is known.
    fn address(&self) -> &str {
        self.client.as_ref().map_or("none", |(_, address)| address)
    }

    async fn read(&mut self) -> Result<Usage, Failure> {
        let now = Timestamp(clock::now().as_millisecond());
        if self.client.is_none() {
            self.client = Some(client::connect(self.params, self.fallback)?);
        }
        let Some((client, _)) = self.client.clone() else { return Ok(Usage::new()) };
        let Some(range) = self.params.window.range(self.since, now) else {
            return Ok(Usage::new());
        };
        let mut usage = Usage::new();
        for lane in kai_engine::QueueLane::ALL {
            let [allocation, capacity] = self.params.metrics[lane as usize]
                .each_ref()
                .map(|metric| query::text(metric, self.params, &range, now));
            let whole = query::sum(&self.ask(&client, &capacity, now).await?);
            if whole <= 0.0 {
                continue;
            }
            let samples = self.ask(&client, &allocation, now).await?;
            for (queue, part) in query::by_queue(&samples, self.home) {
                usage.entry(queue).or_default()[lane] = query::micro(part, whole);
            }
        }
        Ok(usage)
    }

    async fn ask(
        &self,
        client: &Client,
        query: &str,
        now: Timestamp,
    ) -> Result<Vec<query::Sample>, Failure> {
        let started = Instant::now();
        let answer = client::ask(client, query, now, self.params.timeout).await;
        self.latency.observe(crate::serve::metrics::milliseconds(started.elapsed()));
        answer
    }
}

#[cfg(test)]
mod tests;
