//! The Lease as an object of the API: read into what the election needs, and written.

use std::time::Duration;

use crate::clock;
use k8s_openapi::{
    api::coordination::v1::{Lease as Record, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};

use super::election::{DURATION, Mode, Observed};

/// On a Lease whose holder confirms its hold before it acts, and so may be pushed out.
const HANDOVER: &str = "kai.scheduler/lease-handover";

/// Reads what the election needs. A Lease that does not say how long it holds does so for as long as ours.
pub(super) fn observe(record: Option<&Record>, identity: &str) -> Observed {
    let Some(record) = record else { return Observed::Free };
    let empty = LeaseSpec::default();
    let spec = record.spec.as_ref().unwrap_or(&empty);
    match spec.holder_identity.as_deref() {
        None | Some("") => Observed::Free,
        Some(holder) if holder == identity => Observed::Ours,
        Some(_) => {
            let seconds = spec.lease_duration_seconds.map(|seconds| seconds.max(0).unsigned_abs());
            let annotations = record.metadata.annotations.as_ref();
            Observed::Held {
                version: record.metadata.resource_version.clone().unwrap_or_default(),
                duration: seconds.map_or(DURATION, |seconds| Duration::from_secs(seconds.into())),
                yields: annotations.is_some_and(|all| all.contains_key(HANDOVER)),
            }
        }
    }
}

/// Makes the Lease that is ours from the one that was read; its version guards the write.
pub(super) fn ours(from: Option<Record>, name: &str, identity: &str, mode: Mode) -> Record {
    let now = MicroTime(clock::now());
    let mut record = from.unwrap_or_default();
    record.metadata.name = Some(name.to_owned());
    let annotations = record.metadata.annotations.get_or_insert_default();
    match mode {
        Mode::Election { .. } => annotations.remove(HANDOVER),
        Mode::Handover => annotations.insert(HANDOVER.to_owned(), String::from("true")),
    };
    let spec = record.spec.get_or_insert_default();
    if spec.holder_identity.as_deref() != Some(identity) {
        spec.acquire_time = Some(now.clone());
        spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |count| count + 1));
    }
    spec.holder_identity = Some(identity.to_owned());
    spec.lease_duration_seconds = i32::try_from(DURATION.as_secs()).ok();
    spec.renew_time = Some(now);
    record
}

/// Makes the Lease that nobody holds from the one that was read.
pub(super) fn released(mut record: Record) -> Record {
    let spec = record.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    record
}
