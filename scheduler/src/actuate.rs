//! Carries out what was decided: binds and evictions at once and many together, conditions and
//! events after them.
//!
//! Every write is guarded by a UID or a version, and by the Lease. What became of a bind or an
//! eviction comes back as an [`Outcome`]; a write whose answer was lost is settled by reading.
//!
//! ```text
//! run ─► urgent: bind, evict ──────┐
//!     ─► patient: binds that wait ──┤
//!     ─► status: conditions ───────┼─► at most URGENT_MAX, QUIET_MAX in flight ─► outcomes ─► run
//!     ─► events (droppable) ───────┘
//! ```

use std::collections::VecDeque;

use kube::Client;
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{lease::Guard, metrics::Metrics};

mod bind;
mod claim;
mod event;
mod evict;
mod extended;
mod status;
mod volume;

pub use bind::Bind;
pub use claim::ClaimGrant;
pub use event::{Event, Target};
pub use evict::Evict;
pub(crate) use extended::EXTENDED;
pub use extended::{Backed, ExtendedGrant};
pub use status::{GroupChange, GroupPatch, PodCondition};
pub use volume::{SELECTED_NODE, VolumeGrant, VolumeStep};

/// Binds and evictions in flight. More connections do not make a server of two cores faster, and
/// a large one is not waited for with fewer. Source: design/performance.md 3.2.
const URGENT_MAX: usize = 64;
/// Binds in flight that wait for volumes or devices, most of them idle.
const PATIENT_MAX: usize = 512;
/// Conditions and events in flight while nothing urgent is.
const QUIET_MAX: usize = 8;
/// Events that wait; above this the oldest are dropped, as nothing depends on them.
const EVENTS_MAX: usize = 100_000;

/// One thing to write.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is described at its type")]
pub enum Task {
    Bind(Bind),
    Evict(Evict),
    Group(GroupPatch),
    Pod(PodCondition),
    Event(Event),
}

/// What became of a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The pod of this number and UID is bound to this node.
    Bound(u32, Box<str>, Box<str>),
    /// It is not, and why.
    BindFailed(u32, Box<str>, Box<str>, String),
    /// The pod of this number and UID terminates.
    Evicted(u32, Box<str>),
    /// It does not, and why.
    EvictFailed(u32, Box<str>, String),
    /// The group of this number was written, or not.
    Group(u32, bool),
    /// The condition of the pod of this number and UID was written, or not.
    Pod(u32, Box<str>, bool),
    /// The Lease is lost: nothing more will be written.
    Lost,
}

/// Writes until `stop`.
#[expect(missing_debug_implementations, reason = "the client has none")]
pub struct Actuator {
    client: Client,
    guard: Guard,
    metrics: Metrics,
    outcomes: mpsc::UnboundedSender<Outcome>,
    stop: CancellationToken,
    urgent: VecDeque<Task>,
    patient: VecDeque<Task>,
    status: VecDeque<Task>,
    events: VecDeque<Event>,
    flights: JoinSet<Haste>,
    urgent_flights: usize,
    patient_flights: usize,
}

/// What a flight counts against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Haste {
    /// Goes before everything else.
    Urgent,
    /// Waits for others for most of the time.
    Patient,
    /// Goes while nothing urgent does.
    Quiet,
}

impl Actuator {
    /// Writes through `client` while `guard` holds.
    pub fn new(
        client: Client,
        guard: Guard,
        metrics: Metrics,
        outcomes: mpsc::UnboundedSender<Outcome>,
    ) -> Self {
        Self {
            client,
            guard,
            metrics,
            outcomes,
            stop: CancellationToken::new(),
            urgent: VecDeque::new(),
            patient: VecDeque::new(),
            status: VecDeque::new(),
            events: VecDeque::new(),
            flights: JoinSet::new(),
            urgent_flights: 0,
            patient_flights: 0,
        }
    }

    /// Takes tasks until the sender is gone or `stop`, then waits for what is in flight.
    pub async fn run(
        mut self,
        mut tasks: mpsc::UnboundedReceiver<Vec<Task>>,
        stop: CancellationToken,
    ) {
        self.stop = stop.clone();
        loop {
            self.launch();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = self.flights.join_next() => {
                    match ended {
                        Ok(Haste::Urgent) => self.urgent_flights -= 1,
                        Ok(Haste::Patient) => self.patient_flights -= 1,
                        Ok(Haste::Quiet) | Err(_) => {}
                    }
                }
                batch = tasks.recv() => match batch {
                    Some(batch) => self.take(batch),
                    None => break,
                },
            }
        }
        // What was sent must be answered, or the next scheduler starts from a lie.
        while self.flights.join_next().await.is_some() {}
    }

    fn take(&mut self, batch: Vec<Task>) {
        for task in batch {
            match task {
                Task::Bind(ref bind) if bind.is_patient() => self.patient.push_back(task),
                Task::Bind(_) | Task::Evict(_) => self.urgent.push_back(task),
                Task::Group(_) | Task::Pod(_) => self.status.push_back(task),
                Task::Event(event) => self.events.push_back(event),
            }
        }
        let excess = self.events.len().saturating_sub(EVENTS_MAX);
        self.events.drain(..excess);
    }

    /// Starts as many as may fly; the quiet ones only while nothing urgent waits or flies.
    fn launch(&mut self) {
        while self.urgent_flights < URGENT_MAX {
            let Some(task) = self.urgent.pop_front() else { break };
            self.urgent_flights += 1;
            self.fly(task, Haste::Urgent);
        }
        while self.patient_flights < PATIENT_MAX {
            let Some(task) = self.patient.pop_front() else { break };
            self.patient_flights += 1;
            self.fly(task, Haste::Patient);
        }
        while self.urgent_flights == 0 && self.flights.len() - self.patient_flights < QUIET_MAX {
            let next = self.status.pop_front();
            let Some(task) = next.or_else(|| self.events.pop_front().map(Task::Event)) else {
                break;
            };
            self.fly(task, Haste::Quiet);
        }
    }

    fn fly(&mut self, task: Task, haste: Haste) {
        let write = Write {
            client: self.client.clone(),
            guard: self.guard.clone(),
            metrics: self.metrics.clone(),
            stop: self.stop.clone(),
        };
        let outcomes = self.outcomes.clone();
        self.flights.spawn(async move {
            if let Some(outcome) = write.carry_out(task).await {
                // Without a receiver the process is ending.
                let _ = outcomes.send(outcome);
            }
            haste
        });
    }
}

/// What every write needs.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "the client has none")]
pub struct Write {
    /// To the API server.
    pub client: Client,
    /// The Lease.
    pub guard: Guard,
    /// Where writes are counted.
    pub metrics: Metrics,
    /// Ends what waits for others.
    pub stop: CancellationToken,
}

impl Write {
    async fn carry_out(&self, task: Task) -> Option<Outcome> {
        if self.guard.check().await.is_err() {
            return Some(Outcome::Lost);
        }
        match task {
            Task::Bind(bind) => Some(bind.carry_out(self).await),
            Task::Evict(evict) => Some(evict.carry_out(self).await),
            Task::Group(patch) => Some(patch.carry_out(self).await),
            Task::Pod(condition) => Some(condition.carry_out(self).await),
            Task::Event(event) => {
                event.carry_out(self).await;
                None
            }
        }
    }

    /// Counts a write by how it ended.
    fn count(&self, what: &str, done: bool) {
        let result = if done { "success" } else { "error" };
        self.metrics.writes.with_label_values(&[what, result]).inc();
    }
}
