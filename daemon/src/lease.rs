//! Election of who may act: one process of a name at a time, by a Lease.
//!
//! In [`Mode::Election`] standbys wait for the Lease to run out, and a leader that cannot renew it ends. In
//! [`Mode::Handover`] the Lease is held as a guard: the newest process takes it over and the older one stands by; it takes
//! the Lease back only when that runs out or is given back. That is safe because such a holder acts only while its hold
//! was confirmed half a second ago, and says so on the Lease; who takes over waits longer than that and then reads the
//! cluster anew. A holder that does not say so (KAI's scheduler, or ours with election) is never pushed out.
//!
//! `election` decides, without I/O, and says why a holder has stopped before another begins; here is what it asks for.
//! Whoever deletes a Lease lets the next process begin at once.
//!
//! # Source
//! docs/contract.md 7.7, docs/rules.md S9, F32 to F34.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::coordination::v1::Lease as Record;
use kube::{Api, Client, api::PostParams};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

mod election;
mod record;

pub use election::{Manner, Mode};

use crate::{backoff_to, chance, process::causes};
use election::{Action, Election, Permit, REQUEST_MAX};
use record::{observe, ours, released};

/// Without election a Lease is asked for this often, and renewed this often.
const HANDOVER_RETRY: Duration = Duration::from_secs(1);
/// A standby looks at the Lease this often: the sooner a renewal is seen, the sooner its end is known.
const STANDBY_LOOK: Duration = Duration::from_millis(500);
const HANDOVER_RENEWAL: Duration = Duration::from_millis(2500);
/// A hold that cannot be confirmed is asked for again after pauses that grow up to this: writes wait for it.
const CONFIRM_AGAIN_MAX: Duration = Duration::from_secs(1);

/// Without election a Lease that this process could use may be refused for this long before work goes on without it:
/// rights that are withdrawn for a moment make no second leader.
const REFUSED_MAX: Duration = Duration::from_mins(2);
/// Interval at which whoever works without the Lease tries whether it can be used by now.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// A Lease to be held.
#[derive(Clone, Debug)]
pub struct Lease {
    api: Api<Record>,
    name: String,
    identity: String,
    mode: Mode,
    /// It could be used once.
    has_worked: Arc<AtomicBool>,
}

/// The hold is lost.
#[derive(thiserror::Error, Clone, Copy, PartialEq, Eq, Debug)]
#[error("the lease is held by another process")]
pub struct Lost;

/// Proof of a hold, asked before every write.
#[derive(Clone, Debug)]
pub struct Guard(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Held(Arc<Hold>),
    /// The Lease cannot be used: nothing keeps two processes apart.
    Without(Arc<Lease>, CancellationToken),
}

#[derive(Debug)]
struct Hold {
    lease: Lease,
    election: Mutex<Election>,
    /// The Lease as the API server last gave it to us as ours; none where that is not known.
    known: Mutex<Option<Record>>,
    confirming: tokio::sync::Mutex<()>,
    lost: CancellationToken,
}

/// Outcome of one attempt to take a Lease.
enum Attempt {
    /// It is ours, and writes may begin.
    Holds(Guard),
    /// Another holds it, or was faster.
    Waits,
    /// It was ours, and somebody newer took it before we began.
    PushedOut,
}

impl Lease {
    /// Names a Lease of `namespace`; nothing is asked yet. This process is its host's name and a number of its own.
    pub fn new(client: Client, namespace: &str, name: &str, mode: Mode) -> Self {
        let host = hostname::get().map(|name| name.to_string_lossy().into_owned());
        let host = host.unwrap_or_else(|_| String::from("unknown"));
        // A seed decides the same on every machine.
        let host = if chance::is_seeded() { String::from("simulated") } else { host };
        let identity = format!("{host}_{}", chance::uuid());
        let (api, name) = (Api::namespaced(client, namespace), name.to_owned());
        Self { api, name, identity, mode, has_worked: Arc::default() }
    }

    /// Waits until the Lease is ours; none when stopped before.
    ///
    /// Where the Lease cannot be used (no namespace, no permission) and no election is asked for, the guard is empty: as
    /// with KAI, nothing then keeps two processes apart. Such a hold is lost as soon as the Lease can be used.
    pub async fn acquire(&self, manner: Manner, stop: &CancellationToken) -> Option<Guard> {
        let mut manner = manner;
        let mut election = Election::standby(self.mode);
        let mut said_waiting = false;
        let mut refused = None;
        let pause = match self.mode {
            Mode::Election { retry } => retry,
            Mode::Handover => HANDOVER_RETRY,
        };
        loop {
            let mut until = pause.mul_f64(1.0 + chance::part() / 5.0);
            match self.attempt(&mut election, manner).await {
                Ok(Attempt::Holds(guard)) => {
                    self.has_worked.store(true, Ordering::Relaxed);
                    return Some(guard);
                }
                Ok(outcome) => {
                    // Two that push each other out in turn would never begin: only the newest of all pushes.
                    if matches!(outcome, Attempt::PushedOut) {
                        manner = Manner::Patient;
                    }
                    self.has_worked.store(true, Ordering::Relaxed);
                    refused = None;
                    if !std::mem::replace(&mut said_waiting, true) {
                        tracing::info!(lease = self.name, "standing by: another process holds it");
                    }
                    until = election.next_look(Instant::now()).min(until).min(STANDBY_LOOK);
                }
                Err(kube::Error::Api(status))
                    if self.mode == Mode::Handover && matches!(status.code, 403 | 404) =>
                {
                    let since = *refused.get_or_insert_with(Instant::now);
                    let is_over = since.elapsed() >= REFUSED_MAX;
                    tracing::warn!(
                        lease = self.name,
                        reason = status.message,
                        "cannot use the lease: a second process of this name would go unnoticed"
                    );
                    if is_over || !self.has_worked.load(Ordering::Relaxed) {
                        return Some(Guard(Kind::Without(
                            Arc::new(self.clone()),
                            CancellationToken::new(),
                        )));
                    }
                }
                Err(error) => tracing::warn!(
                    lease = self.name,
                    error = causes(&error),
                    "failed to take the lease"
                ),
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = sleep(until) => {}
            }
        }
    }

    /// Takes the Lease where it may be taken.
    async fn attempt(
        &self,
        election: &mut Election,
        manner: Manner,
    ) -> Result<Attempt, kube::Error> {
        let asked = Instant::now();
        let record = within(self.api.get_opt(&self.name)).await?;
        let lease = observe(record.as_ref(), &self.identity);
        let Action::Take { wait } = election.step(&lease, manner, asked, Instant::now()) else {
            return Ok(Attempt::Waits);
        };
        let asked = Instant::now();
        let written = match self.write(record).await {
            Err(kube::Error::Api(status)) if status.code == 409 => return Ok(Attempt::Waits),
            written => written?,
        };
        election.taken(asked);
        if !wait.is_zero() {
            tracing::info!(lease = self.name, "took the lease over; waiting for its holder");
            sleep(wait).await;
        }
        let hold = Hold {
            lease: self.clone(),
            election: Mutex::new(election.clone()),
            known: Mutex::new(Some(written)),
            confirming: tokio::sync::Mutex::new(()),
            lost: CancellationToken::new(),
        };
        let guard = Guard(Kind::Held(Arc::new(hold)));
        // Somebody newer may have come in the meantime.
        if guard.check().await.is_err() {
            *election = Election::standby(self.mode);
            return Ok(Attempt::PushedOut);
        }
        tracing::info!(lease = self.name, identity = self.identity, "holds the lease");
        Ok(Attempt::Holds(guard))
    }

    /// Waits until it can be used, which whoever works without it must not any more then.
    async fn usable(&self) {
        loop {
            sleep(TRY_AGAIN).await;
            let mut election = Election::standby(self.mode);
            if self.attempt(&mut election, Manner::Patient).await.is_ok() {
                return;
            }
        }
    }

    /// Writes our name on the Lease as it was read, and gives it as it was written.
    async fn write(&self, from: Option<Record>) -> Result<Record, kube::Error> {
        let is_new = from.is_none();
        let wanted = ours(from, &self.name, &self.identity, self.mode);
        if is_new {
            within(self.api.create(&PostParams::default(), &wanted)).await
        } else {
            within(self.api.replace(&self.name, &PostParams::default(), &wanted)).await
        }
    }
}

impl Guard {
    /// Succeeds if a write may begin now, with the moment beyond which its answer is of no use, where there is one. Cheap
    /// while the hold is fresh; else one read.
    ///
    /// # Errors
    /// [`Lost`]: never write again.
    pub async fn check(&self) -> Result<Option<Instant>, Lost> {
        let hold = match &self.0 {
            Kind::Held(hold) => hold,
            Kind::Without(_, lost) if lost.is_cancelled() => return Err(Lost),
            Kind::Without(..) => return Ok(None),
        };
        if let Permit::Write { until } = hold.permit()? {
            return Ok(until);
        }
        // Seldom needed, and as large as the requests that it makes: every write would carry it.
        Box::pin(hold.confirm()).await
    }

    /// Renews the hold until `stop`.
    ///
    /// # Errors
    /// [`Lost`], as soon as another holds the Lease or this process may no longer act.
    pub async fn keep(&self, stop: &CancellationToken) -> Result<(), Lost> {
        let hold = match &self.0 {
            Kind::Held(hold) => hold,
            Kind::Without(lease, lost) => {
                stop.run_until_cancelled(Box::pin(lease.usable())).await.map_or(Ok(()), |()| {
                    tracing::info!(lease = lease.name, "the lease can be used by now");
                    lost.cancel();
                    Err(Lost)
                })?;
                return Ok(());
            }
        };
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = hold.lost.cancelled() => return Err(Lost),
                () = hold.expired() => {}
                () = hold.renew_later() => {}
            }
        }
    }

    /// Empties the Lease where it is still ours, so that the next process need not wait.
    pub async fn release(&self) {
        let Kind::Held(hold) = &self.0 else { return };
        if let Err(error) = hold.release().await {
            tracing::warn!(error = causes(&error), "failed to release the lease");
        }
    }

    /// Ends when the hold is lost.
    pub async fn lost(&self) {
        match &self.0 {
            Kind::Held(hold) => hold.lost.cancelled().await,
            Kind::Without(_, lost) => lost.cancelled().await,
        }
    }
}

impl Hold {
    fn election(&self) -> MutexGuard<'_, Election> {
        self.election.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a write may begin now; a hold that is over ends here.
    fn permit(&self) -> Result<Permit, Lost> {
        let mut election = self.election();
        let now = Instant::now();
        if election.end_if_over(now) {
            self.lost.cancel();
            return Err(Lost);
        }
        Ok(election.permit(now))
    }

    /// Asks until the hold is confirmed or lost.
    async fn confirm(&self) -> Result<Option<Instant>, Lost> {
        // One request for all who ask at once.
        let _turn = self.confirming.lock().await;
        let mut failures = 0;
        loop {
            if let Permit::Write { until } = self.permit()? {
                return Ok(until);
            }
            // Where it was deleted, whoever makes it holds it.
            let done = match self.read().await {
                Ok((Action::Take { .. }, record)) => self.write(record).await,
                read => read.map(drop),
            };
            if let Err(error) = done {
                tracing::warn!(error = causes(&error), "failed to confirm the lease");
                failures += 1;
                sleep(backoff_to(failures, CONFIRM_AGAIN_MAX)).await;
            }
        }
    }

    /// Reads the Lease and has the election judge it; one that is another's ends the hold. While it is read it counts as
    /// not known: who cannot read it cannot act, and must not keep it from whoever can.
    async fn read(&self) -> Result<(Action, Option<Record>), kube::Error> {
        self.known().take();
        let asked = Instant::now();
        let record = within(self.lease.api.get_opt(&self.lease.name)).await?;
        let lease = observe(record.as_ref(), &self.lease.identity);
        let action = self.election().step(&lease, Manner::Patient, asked, Instant::now());
        match action {
            Action::Stop => self.lost.cancel(),
            Action::Renew => self.known().clone_from(&record),
            Action::Take { .. } | Action::Wait => {}
        }
        Ok((action, record))
    }

    /// Ends the hold once it was not renewed for too long.
    async fn expired(&self) {
        let deadline = self.election().deadline();
        match deadline {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
        if self.election().end_if_over(Instant::now()) {
            self.lost.cancel();
        }
    }

    async fn renew_later(&self) {
        sleep(match self.lease.mode {
            Mode::Election { retry } => retry,
            Mode::Handover => HANDOVER_RENEWAL,
        })
        .await;
        if let Err(error) = self.renew().await {
            tracing::warn!(
                lease = self.lease.name,
                error = causes(&error),
                "failed to renew the lease"
            );
        }
    }

    /// Renews the hold by one request: writes the Lease as it is known, whose version guards the write. It is read only
    /// where another version stands there, or where it is not known what does.
    async fn renew(&self) -> Result<(), kube::Error> {
        let known = self.known().take();
        if known.is_some() {
            match self.write(known).await {
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                written => return written,
            }
        }
        match self.read().await? {
            (Action::Renew | Action::Take { .. }, record) => self.write(record).await,
            _ => Ok(()),
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<Record>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, record: Option<Record>) -> Result<(), kube::Error> {
        let asked = Instant::now();
        let written = self.lease.write(record).await?;
        self.election().taken(asked);
        *self.known() = Some(written);
        Ok(())
    }

    async fn release(&self) -> Result<(), kube::Error> {
        let api = &self.lease.api;
        let Some(record) = within(api.get_opt(&self.lease.name)).await? else { return Ok(()) };
        let holder = record.spec.as_ref().and_then(|spec| spec.holder_identity.as_ref());
        if holder == Some(&self.lease.identity) {
            within(api.replace(&self.lease.name, &PostParams::default(), &released(record)))
                .await?;
        }
        Ok(())
    }
}

/// Bounds a request in time.
async fn within<T>(
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, kube::Error> {
    timeout(REQUEST_MAX, request)
        .await
        .unwrap_or_else(|elapsed| Err(kube::Error::Service(Box::new(elapsed))))
}

#[cfg(test)]
mod tests;
