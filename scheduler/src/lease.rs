//! Who may act: one scheduler of a name at a time, by a Lease.
//!
//! With `--leader-elect` this is the usual election: standbys wait for the Lease to run out, and
//! the leader that cannot renew it ends. Without it the Lease is still held, as a guard: the newest
//! process takes it over and the older one stands by; it takes the Lease back
//! only when that runs out or is given back. That is safe because a holder without
//! election acts only while its hold was confirmed within [`CONFIRMED_MAX`], and says so on the
//! Lease ([`HANDOVER`]); who takes over waits [`HANDOVER_WAIT`] and then reads the cluster anew.
//! A holder that does not say so (the peer's scheduler, or ours with election) is never pushed out.
//!
//! Time is the local monotonic clock only: a foreign clock's stamps are compared for change, not
//! for age. Source: spec/contract.md 7.7, design/reliability.md S9, F32-F34.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::{
    api::coordination::v1::{Lease as Record, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{Api, Client, api::PostParams};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The Lease runs out when it was not renewed for this time.
const DURATION: Duration = Duration::from_secs(15);
/// An elected leader that could not renew for this time no longer leads.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// The pause between two attempts to take or to renew.
const RETRY: Duration = Duration::from_secs(5);
/// Without election a hold that was confirmed longer ago is confirmed again before acting.
const CONFIRMED_MAX: Duration = Duration::from_millis(500);
/// After a take-over: the older holder's confirmation has run out, and its last requests arrived.
const HANDOVER_WAIT: Duration = Duration::from_millis(1500);
/// Bounds every request about the Lease, so that a silent server is noticed in time.
const REQUEST_MAX: Duration = Duration::from_secs(4);
/// On a Lease whose holder confirms its hold before it acts, and so may be pushed out.
const HANDOVER: &str = "kai.scheduler/lease-handover";

/// A Lease to be held.
#[derive(Clone, Debug)]
pub struct Lease {
    api: Api<Record>,
    name: String,
    identity: String,
    elect: bool,
}

/// The hold is lost.
#[derive(thiserror::Error, Clone, Copy, PartialEq, Eq, Debug)]
#[error("the lease is held by another scheduler")]
pub struct Lost;

/// Proof of a hold, asked before every write.
#[derive(Clone, Debug)]
pub struct Guard(Option<Arc<Hold>>);

#[derive(Debug)]
struct Hold {
    lease: Lease,
    confirmed: Mutex<Instant>,
    confirming: tokio::sync::Mutex<()>,
    lost: CancellationToken,
}

/// How a Lease is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// As the newest: a holder that yields is pushed out.
    Newest,
    /// Only when nobody holds it.
    Patient,
}

/// What to do about the Lease as it was read.
#[derive(PartialEq, Eq, Debug)]
enum Step {
    /// Nobody holds it.
    Take,
    /// Its holder yields.
    PushOut,
    /// Its holder may be alive.
    Wait,
}

impl Lease {
    /// The Lease of a scheduler's name and pool in `namespace`.
    pub fn new(client: Client, namespace: &str, name: &str, elect: bool) -> Self {
        let host = hostname::get().map(|name| name.to_string_lossy().into_owned());
        let host = host.unwrap_or_else(|_| String::from("unknown"));
        let identity = format!("{host}_{}", uuid::Uuid::new_v4());
        Self { api: Api::namespaced(client, namespace), name: String::from(name), identity, elect }
    }

    /// Who we are, as the Lease names us.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Waits until the Lease is ours; none when stopped before.
    ///
    /// Where the Lease cannot be used (no namespace, no permission) and no election is asked for,
    /// the guard is empty: as with the peer, nothing then keeps two schedulers apart.
    pub async fn acquire(&self, manner: Manner, stop: &CancellationToken) -> Option<Guard> {
        let mut seen: Option<(String, Instant)> = None;
        let mut said_waiting = false;
        loop {
            match self.attempt(manner, &mut seen).await {
                Ok(Some(guard)) => return Some(guard),
                Ok(None) => {
                    if !said_waiting {
                        tracing::info!(
                            lease = self.name,
                            "standing by: another scheduler holds it"
                        );
                        said_waiting = true;
                    }
                }
                Err(kube::Error::Api(status))
                    if !self.elect && matches!(status.code, 403 | 404) =>
                {
                    tracing::warn!(
                        lease = self.name,
                        reason = status.message,
                        "cannot use the lease: a second scheduler of this name would go unnoticed"
                    );
                    return Some(Guard(None));
                }
                Err(error) => tracing::warn!(lease = self.name, %error, "failed to take the lease"),
            }
            let pause = if self.elect { RETRY } else { RETRY / 5 };
            tokio::select! {
                () = stop.cancelled() => return None,
                () = sleep(pause.mul_f64(1.0 + fastrand::f64() / 5.0)) => {}
            }
        }
    }

    async fn attempt(
        &self,
        manner: Manner,
        seen: &mut Option<(String, Instant)>,
    ) -> Result<Option<Guard>, kube::Error> {
        let started = Instant::now();
        let Some(record) = within(self.api.get_opt(&self.name)).await? else {
            let record = self.record(None, started);
            return match within(self.api.create(&PostParams::default(), &record)).await {
                Ok(_) => Ok(Some(self.hold(started))),
                Err(error) if is_conflict(&error) => Ok(None),
                Err(error) => Err(error),
            };
        };
        let version = record.metadata.resource_version.clone().unwrap_or_default();
        let since = match seen {
            Some((known, since)) if *known == version => *since,
            Some(_) | None => started,
        };
        *seen = Some((version, since));
        let step = step(&record, self, started.duration_since(since));
        if step == Step::Wait || (step == Step::PushOut && manner == Manner::Patient) {
            return Ok(None);
        }
        let wanted = self.record(Some(record), started);
        match within(self.api.replace(&self.name, &PostParams::default(), &wanted)).await {
            Ok(_) if step == Step::PushOut => {
                tracing::info!(lease = self.name, "took the lease over; waiting for its holder");
                sleep(HANDOVER_WAIT).await;
                let guard = self.hold(started);
                // Somebody newer may have come in the meantime.
                Ok(guard.confirm().await.is_ok().then_some(guard))
            }
            Ok(_) => Ok(Some(self.hold(started))),
            Err(error) if is_conflict(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The Lease as we want it, from the one that was read.
    fn record(&self, from: Option<Record>, _at: Instant) -> Record {
        let now = MicroTime(Timestamp::now());
        let mut record = from.unwrap_or_default();
        record.metadata.name = Some(self.name.clone());
        let annotations = record.metadata.annotations.get_or_insert_default();
        if self.elect {
            annotations.remove(HANDOVER);
        } else {
            annotations.insert(String::from(HANDOVER), String::from("true"));
        }
        let spec = record.spec.get_or_insert_default();
        let ours = spec.holder_identity.as_deref() == Some(&*self.identity);
        if !ours {
            spec.acquire_time = Some(now.clone());
            spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |count| count + 1));
        }
        spec.holder_identity = Some(self.identity.clone());
        spec.lease_duration_seconds = i32::try_from(DURATION.as_secs()).ok();
        spec.renew_time = Some(now);
        record
    }

    fn hold(&self, confirmed: Instant) -> Guard {
        tracing::info!(lease = self.name, identity = self.identity, "holds the lease");
        let hold = Hold {
            lease: self.clone(),
            confirmed: Mutex::new(confirmed),
            confirming: tokio::sync::Mutex::new(()),
            lost: CancellationToken::new(),
        };
        Guard(Some(Arc::new(hold)))
    }
}

impl Guard {
    /// Succeeds if we may write now. Cheap while the hold is fresh; else one read.
    ///
    /// # Errors
    /// [`Lost`]: never write again.
    pub async fn check(&self) -> Result<(), Lost> {
        let Some(hold) = &self.0 else { return Ok(()) };
        if hold.lost.is_cancelled() {
            return Err(Lost);
        }
        if hold.age() <= hold.age_max() {
            return Ok(());
        }
        // One request for all who ask at once.
        let _turn = hold.confirming.lock().await;
        if hold.age() <= hold.age_max() {
            return Ok(());
        }
        self.confirm().await
    }

    /// Reads the Lease and compares its holder.
    async fn confirm(&self) -> Result<(), Lost> {
        let Some(hold) = &self.0 else { return Ok(()) };
        loop {
            let started = Instant::now();
            match within(hold.lease.api.get_opt(&hold.lease.name)).await {
                Ok(Some(record)) if holder(&record) == Some(&hold.lease.identity) => {
                    hold.confirm(started);
                    return Ok(());
                }
                Ok(_) => {
                    hold.lost.cancel();
                    return Err(Lost);
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to confirm the lease");
                    if hold.lease.elect && hold.age() > RENEW_DEADLINE {
                        hold.lost.cancel();
                        return Err(Lost);
                    }
                    sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    /// Renews the hold until it is lost or `stop`; then gives it back.
    pub async fn keep(&self, stop: &CancellationToken) -> Result<(), Lost> {
        let Some(hold) = &self.0 else {
            stop.cancelled().await;
            return Ok(());
        };
        let pause = if hold.lease.elect { RETRY } else { RETRY / 2 };
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = hold.lost.cancelled() => return Err(Lost),
                () = sleep(pause) => {}
            }
            if let Err(error) = hold.renew().await {
                tracing::warn!(%error, "failed to renew the lease");
            }
            if hold.lease.elect && hold.age() > RENEW_DEADLINE {
                hold.lost.cancel();
            }
        }
    }

    /// Empties the Lease, so that the next scheduler need not wait.
    pub async fn release(&self) {
        let Some(hold) = &self.0 else { return };
        if let Err(error) = hold.release().await {
            tracing::warn!(%error, "failed to release the lease");
        }
    }

    /// Ends when the hold is lost.
    pub async fn lost(&self) {
        match &self.0 {
            Some(hold) => hold.lost.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl Hold {
    fn age(&self) -> Duration {
        self.confirmed.lock().expect("no holder of the lock panics").elapsed()
    }

    fn age_max(&self) -> Duration {
        if self.lease.elect { RENEW_DEADLINE } else { CONFIRMED_MAX }
    }

    fn confirm(&self, at: Instant) {
        let mut confirmed = self.confirmed.lock().expect("no holder of the lock panics");
        *confirmed = (*confirmed).max(at);
    }

    async fn renew(&self) -> Result<(), kube::Error> {
        let started = Instant::now();
        let Some(record) = within(self.lease.api.get_opt(&self.lease.name)).await? else {
            // Somebody deleted it: whoever creates it next holds it.
            let record = self.lease.record(None, started);
            within(self.lease.api.create(&PostParams::default(), &record)).await?;
            self.confirm(started);
            return Ok(());
        };
        if holder(&record) != Some(&self.lease.identity) {
            self.lost.cancel();
            return Ok(());
        }
        let wanted = self.lease.record(Some(record), started);
        within(self.lease.api.replace(&self.lease.name, &PostParams::default(), &wanted)).await?;
        self.confirm(started);
        Ok(())
    }

    async fn release(&self) -> Result<(), kube::Error> {
        let Some(mut record) = within(self.lease.api.get_opt(&self.lease.name)).await? else {
            return Ok(());
        };
        if holder(&record) != Some(&self.lease.identity) {
            return Ok(());
        }
        let spec = record.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        within(self.lease.api.replace(&self.lease.name, &PostParams::default(), &record)).await?;
        Ok(())
    }
}

/// Whether the Lease as read may be taken; `unchanged` is how long we have seen it so.
fn step(record: &Record, lease: &Lease, unchanged: Duration) -> Step {
    let empty = LeaseSpec::default();
    let spec = record.spec.as_ref().unwrap_or(&empty);
    match spec.holder_identity.as_deref() {
        None | Some("") => Step::Take,
        Some(holder) if holder == lease.identity => Step::Take,
        Some(_) => {
            let seconds = spec.lease_duration_seconds.unwrap_or(0).max(0);
            let duration = Duration::from_secs(seconds.unsigned_abs().into());
            let yields = record.metadata.annotations.as_ref();
            let yields = yields.is_some_and(|all| all.contains_key(HANDOVER));
            match (unchanged > duration, yields && !lease.elect) {
                (true, _) => Step::Take,
                (false, true) => Step::PushOut,
                (false, false) => Step::Wait,
            }
        }
    }
}

fn holder(record: &Record) -> Option<&String> {
    record.spec.as_ref()?.holder_identity.as_ref()
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Bounds a request in time.
async fn within<T>(
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, kube::Error> {
    timeout(REQUEST_MAX, request)
        .await
        .unwrap_or_else(|elapsed| Err(kube::Error::Service(Box::new(elapsed))))
}
