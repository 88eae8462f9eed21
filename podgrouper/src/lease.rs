//! Leader election by a Lease, with the peer's name and times.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::time::Instant;

/// How long a Lease holds without being renewed.
const LEASE_SECONDS: i32 = 15;
/// A leader that could not renew for so long stops.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// Between two tries.
const RETRY: Duration = Duration::from_secs(2);

/// A candidate for a Lease.
pub(crate) struct Candidate {
    api: Api<Lease>,
    name: String,
    identity: String,
    /// The Lease as it was seen last, and since when it has not changed, by our own clock: other
    /// machines' clocks are not to be trusted.
    seen: Option<(Option<String>, Instant)>,
}

impl Candidate {
    pub(crate) fn new(client: Client, namespace: &str, name: &str) -> Self {
        let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "localhost".to_owned());
        let identity = format!("{host}_{}", uuid::Uuid::new_v4());
        Self {
            api: Api::namespaced(client, namespace),
            name: name.to_owned(),
            identity,
            seen: None,
        }
    }

    /// Waits until the Lease is ours.
    pub(crate) async fn acquire(&mut self) {
        loop {
            match self.attempt().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(lease = %self.name, %error, "failed to take the lease");
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Renews the Lease until it is lost or could not be renewed in time.
    pub(crate) async fn hold(&mut self) {
        let mut renewed = Instant::now();
        while renewed.elapsed() < RENEW_DEADLINE {
            tokio::time::sleep(RETRY).await;
            match tokio::time::timeout(RENEW_DEADLINE, self.attempt()).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Err(error)) => {
                    tracing::warn!(lease = %self.name, %error, "failed to renew the lease");
                }
                Ok(Ok(false)) | Err(_) => return,
            }
        }
    }

    /// Gives the Lease back, so that another need not wait for it to run out.
    pub(crate) async fn release(&self) {
        let Ok(mut lease) = self.api.get(&self.name).await else { return };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(self.identity.as_str()) {
            return;
        }
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        // The resourceVersion guards it; whoever is faster is right.
        let _ = self.api.replace(&self.name, &PostParams::default(), &lease).await;
    }

    /// Takes or renews the Lease if it may; true when it is ours now.
    async fn attempt(&mut self) -> Result<bool, kube::Error> {
        let Some(mut lease) = self.api.get_opt(&self.name).await? else {
            return settle(self.api.create(&PostParams::default(), &self.fresh()).await);
        };
        let version = lease.metadata.resource_version.clone();
        let spec = lease.spec.get_or_insert_default();
        let holder = spec.holder_identity.clone().unwrap_or_default();
        let is_ours = holder == self.identity;
        if !is_ours && !holder.is_empty() {
            let since = match &self.seen {
                Some((seen, since)) if *seen == version => *since,
                Some(_) | None => Instant::now(),
            };
            self.seen = Some((version, since));
            let seconds = spec.lease_duration_seconds.unwrap_or(LEASE_SECONDS).max(1);
            if since.elapsed() < Duration::from_secs(u64::from(seconds.unsigned_abs())) {
                return Ok(false);
            }
        }
        let now = MicroTime(Timestamp::now());
        if !is_ours {
            spec.acquire_time = Some(now.clone());
            spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0).saturating_add(1));
        }
        spec.holder_identity = Some(self.identity.clone());
        spec.lease_duration_seconds = Some(LEASE_SECONDS);
        spec.renew_time = Some(now);
        settle(self.api.replace(&self.name, &PostParams::default(), &lease).await)
    }

    fn fresh(&self) -> Lease {
        let now = MicroTime(Timestamp::now());
        Lease {
            metadata: ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.identity.clone()),
                lease_duration_seconds: Some(LEASE_SECONDS),
                acquire_time: Some(now.clone()),
                renew_time: Some(now),
                lease_transitions: Some(0),
                ..LeaseSpec::default()
            }),
        }
    }
}

/// Whether a guarded write went through; a conflict means that another was faster.
fn settle(written: Result<Lease, kube::Error>) -> Result<bool, kube::Error> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}
