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
//!
//! What is urgent, or says something, and takes longer than a second counts on in its namespace alone. What waits for nothing
//! but the time until its writes can come true no more flies on without being counted.

use std::{sync::Arc, time::Duration};

use kube::Client;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use kai_daemon::lease::Guard;

use crate::{
    serve::metrics::Metrics,
    server::{OpenWrites, Write, call::Failure},
};

mod ask;
mod bind;
mod claim;
mod config_map;
mod event;
mod evict;
mod extended;
mod found;
mod lines;
mod portion;
mod queue;
mod record;
mod reservation;
mod share;
mod share_outcome;
mod stamp;
mod status;
mod strip;
mod unprotected;
mod unreserve;
mod volume;

pub use ask::Ask;
pub use bind::Bind;
pub use claim::ClaimGrant;
pub use event::{Event, Target};
pub use evict::Evict;
pub(crate) use extended::EXTENDED;
pub use extended::{Backed, ExtendedGrant};
pub use portion::portion_text;
use queue::{Flight, HASTE_MAX, Haste, Queue};
pub(crate) use record::stamp_text;
pub use record::{Record, Stamps};
pub use reservation::{Place, Reserve, Template};
pub use share::ShareGrant;
pub use share_outcome::{Ending, Leftover, ShareOutcome};
pub use stamp::EvictionStamp;
pub use status::{GroupChange, GroupPatch, PodCondition};
pub use strip::Strip;
pub use unprotected::Unprotected;
pub use unreserve::{Clear, Unreserve};
pub use volume::{SELECTED_NODE, VolumeGrant, VolumeStep};

/// One thing to write.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is described at its type")]
pub enum Task {
    Bind(Bind),
    Evict(Evict),
    Group(GroupPatch),
    Pod(PodCondition),
    Event(Event),
    Share(ShareTask),
}

/// One thing to write about shared GPUs.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is described at its type")]
pub enum ShareTask {
    Reserve(Reserve),
    Ask(Ask),
    Unreserve(Unreserve),
    Unprotected(Unprotected),
    Strip(Strip),
    /// Reservation pods that failed while nobody looked are looked for.
    Sweep(Arc<Template>),
    Clear(Clear),
}

impl Task {
    async fn carry_out(self, write: &Write) -> Option<Outcome> {
        if write.guard.check().await.is_err() {
            return Some(Outcome::Lost);
        }
        match self {
            Self::Bind(bind) => Some(bind.carry_out(write).await),
            Self::Evict(evict) => Some(evict.carry_out(write).await),
            Self::Group(patch) => Some(patch.carry_out(write).await),
            Self::Pod(condition) => Some(condition.carry_out(write).await),
            Self::Event(event) => {
                event.carry_out(write).await;
                None
            }
            Self::Share(task) => task.carry_out(write).await,
        }
    }
}

impl ShareTask {
    async fn carry_out(self, write: &Write) -> Option<Outcome> {
        let outcome = match self {
            Self::Reserve(reserve) => reserve.carry_out(write).await,
            Self::Ask(ask) => ask.carry_out(write).await,
            Self::Unreserve(unreserve) => unreserve.carry_out(write).await,
            Self::Unprotected(unprotected) => unprotected.carry_out(write).await,
            Self::Strip(strip) => strip.carry_out(write).await,
            Self::Sweep(template) => {
                ShareOutcome::Swept(unreserve::leftovers(write, &template).await)
            }
            Self::Clear(clear) => {
                clear.carry_out(write).await;
                return None;
            }
        };
        Some(Outcome::Shared(outcome))
    }
}

/// Says what became of a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The pod of this number and UID is bound to this node.
    Bound(u32, Box<str>, Box<str>),
    /// It is not.
    BindFailed {
        /// The pod by number.
        pod: u32,
        /// Its UID.
        uid: Box<str>,
        /// The node.
        node: Box<str>,
        /// Says why not.
        reason: String,
        /// The volumes that its claims were to get.
        volumes: Vec<VolumeGrant>,
    },
    /// The pod of this number and UID terminates.
    Evicted(u32, Box<str>),
    /// It does not, and why.
    EvictFailed(u32, Box<str>, String),
    /// A write of a group ended.
    Group {
        /// The group by number.
        group: u32,
        /// Its UID: another may have the number since.
        uid: Box<str>,
        /// It was done, or what the watch brings next settles it.
        settled: bool,
        /// The version that it made.
        version: Option<Box<str>>,
    },
    /// The condition of the pod of this number and UID was written, or not.
    Pod(u32, Box<str>, bool),
    /// A write about shared GPUs ended.
    Shared(ShareOutcome),
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
    queue: Queue,
    /// Ends with the UID of the pod whose bind waits for it, where there is one.
    flights: JoinSet<Option<Box<str>>>,
    /// Ends with what a flight counts against, once it has ended or does nothing but wait, as the token tells; or once it
    /// takes long.
    counted: JoinSet<(Haste, CancellationToken)>,
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
            queue: Queue::default(),
            flights: JoinSet::new(),
            counted: JoinSet::new(),
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
                    if let Ok(marks) = ended {
                        self.queue.ended(marks.as_deref());
                    }
                }
                Some(counted) = self.counted.join_next() => {
                    if let Ok((haste, idle)) = counted {
                        self.recount(haste, idle);
                    }
                }
                batch = tasks.recv() => match batch {
                    Some(batch) => self.queue.take(batch),
                    None => break,
                },
            }
        }
        // What was sent must be answered, or the next scheduler starts from a lie.
        while self.flights.join_next().await.is_some() {}
    }

    /// Starts as many as may fly.
    fn launch(&mut self) {
        while let Some(flight) = self.queue.next() {
            self.fly(flight);
        }
    }

    fn fly(&mut self, flight: Flight) {
        let Flight { haste, marks, task } = flight;
        let idle = CancellationToken::new();
        let write = Write {
            client: self.client.clone(),
            guard: self.guard.clone(),
            metrics: self.metrics.clone(),
            stop: self.stop.clone(),
            open: OpenWrites::default(),
            idle: idle.clone(),
        };
        let outcomes = self.outcomes.clone();
        let ends = idle.clone().drop_guard();
        self.count(haste, idle);
        self.flights.spawn(async move {
            // It counts no longer where it panics, too.
            let _ends = ends;
            if let Some(outcome) = task.carry_out(&write).await {
                // Without a receiver the process is ending.
                let _ = outcomes.send(outcome);
            }
            marks
        });
    }

    /// Counts a flight until it has ended or does nothing but wait, or takes long where that matters.
    fn count(&mut self, haste: Haste, idle: CancellationToken) {
        self.counted.spawn(async move {
            if matches!(haste, Haste::Urgent(_) | Haste::Quiet(_)) {
                idle.run_until_cancelled(sleep(HASTE_MAX)).await;
            } else {
                idle.cancelled().await;
            }
            (haste, idle)
        });
    }

    /// Counts a flight no longer, or otherwise where it goes on.
    fn recount(&mut self, haste: Haste, idle: CancellationToken) {
        if idle.is_cancelled() {
            self.queue.landed(&haste);
        } else {
            let late = self.queue.late(haste);
            self.count(late, idle);
        }
    }
}

/// The longest pause between two looks at an object.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// The time until an object is looked at again that a bind has waited for so long: a quarter of it, so that hundreds of binds
/// which wait in vain do not keep the API server busy.
fn until_next_look(waited: Duration) -> Duration {
    (waited / 4).clamp(Duration::from_millis(500), LOOK_MAX)
}

/// Waits for so long before what may come true is looked at again; others have their turns meanwhile. Tells whether to go on, which
/// ends with the scheduler.
async fn wait_for_late(write: &Write, pause: Duration) -> bool {
    write.idle.cancel();
    tokio::select! {
        biased;
        () = write.stop.cancelled() => false,
        () = sleep(pause) => true,
    }
}

/// Waits until what was asked for has come true, or cannot any more, and looks at it after pauses that follow from how long it was
/// waited for. A server that does not say whether it has is asked until it does. Tells whether it has.
async fn comes_true_late<L>(
    write: &Write,
    until_next_look: fn(Duration) -> Duration,
    has: impl Fn() -> L,
) -> bool
where
    L: Future<Output = Result<bool, Failure>>,
{
    let begun = Instant::now();
    let mut left = write.open.left();
    if left.is_none() {
        // Nothing was sent that was not answered.
        return false;
    }
    loop {
        match has().await {
            Ok(true) => return true,
            Ok(false) if left.is_none() => return false,
            Err(failure) if left.is_none() && !failure.is_no_answer() => return false,
            Ok(false) | Err(_) => {}
        }
        let pause = until_next_look(begun.elapsed());
        if !wait_for_late(write, left.unwrap_or(LOOK_MAX).min(pause)).await {
            return false;
        }
        left = write.open.left();
    }
}

#[cfg(test)]
mod tests;
