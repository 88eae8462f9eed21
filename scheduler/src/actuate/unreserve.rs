//! Taking reservation pods away, and what has to be read before.
//!
//! # Source
//! docs/contract.md 4.6.

use std::sync::Arc;

use futures::{StreamExt, stream};
use kai_api::names::label;
use kai_daemon::backoff_to;
use tokio::time::sleep;

use super::{
    LOOK_MAX, Write,
    found::{Found, FoundList, delete_now},
    reservation::{Place, Template},
};
use crate::{
    actuate::{Ending, Leftover, ShareOutcome},
    server::call::{Failure, read},
};

/// Deletes at once of reservation pods that failed while nobody looked.
const CLEARED_AT_ONCE: usize = 8;

/// Takes away the reservation pod of a device.
#[derive(Clone, Debug)]
pub struct Unreserve {
    /// The group by number.
    pub device: u32,
    /// The group and its node.
    pub place: Place,
    /// It came to nothing; else it goes only while nobody uses its device.
    pub has_failed: bool,
    /// Says how it was made.
    pub template: Arc<Template>,
}

impl Unreserve {
    pub(super) async fn carry_out(self, write: &Write) -> ShareOutcome {
        let ending = self.unreserve_for_certain(write).await;
        write.count("unreserve", ending != Ending::Refused);
        ShareOutcome::Unreserved { device: self.device, has_failed: self.has_failed, ending }
    }

    /// Takes it away until it is certain what became of it: a deletion that is on its way yet would take the GPU from whoever
    /// is given a share of it next.
    async fn unreserve_for_certain(&self, write: &Write) -> Ending {
        let mut failures = 0;
        let mut said = None;
        loop {
            let ending = self.unreserve(write, &mut said).await;
            if matches!(ending, Ending::Gone(_)) || write.open.left().is_none() {
                return ending;
            }
            failures += 1;
            write.idle.cancel();
            tokio::select! {
                biased;
                () = write.stop.cancelled() => return Ending::Refused,
                () = sleep(backoff_to(failures, LOOK_MAX)) => {}
            }
        }
    }

    /// Takes it away once. What the pod said last stays in `said`: where the answer to its deletion is lost, it is not there to be
    /// asked again.
    async fn unreserve(&self, write: &Write, said: &mut Option<String>) -> Ending {
        if !self.has_failed {
            match users(write, &self.place, &self.template).await {
                Err(_) => return Ending::Refused,
                Ok(users) if !users.is_empty() => return Ending::InUse,
                Ok(_) => {}
            }
        }
        // KAI's pods have other names: the label tells, in the namespace that only the system writes to.
        let Ok(found) = reservations(write, &self.place.group, &self.template).await else {
            return Ending::Refused;
        };
        for pod in found.iter().filter(|pod| *pod.spec.node_name == *self.place.node) {
            *said = pod.cause().or_else(|| said.take());
            let path = self.template.path(&pod.metadata.name);
            if !delete_now(write, &path, &pod.metadata.uid).await {
                return Ending::Refused;
            }
        }
        Ending::Gone(said.take())
    }
}

/// Reservation pods of a device, as the API server has them now.
pub(super) async fn reservations(
    write: &Write,
    group: &str,
    template: &Template,
) -> Result<Vec<Found>, Failure> {
    let selector =
        encoded(&format!("{}={group},{}={}", label::GPU_GROUP, label::APP, template.app));
    list(write, &format!("{}?labelSelector={selector}", template.path(""))).await
}

/// Pods of ours on a node that use a device, as the API server has them now; it has an index of pods by node.
pub(super) async fn users(
    write: &Write,
    device: &Place,
    template: &Template,
) -> Result<Vec<Found>, Failure> {
    let Place { group, node } = device;
    let plain = format!("{}={group}", label::GPU_GROUP);
    let keyed = format!("{}{group}={group}", label::GPU_GROUP_PREFIX);
    let on_node = encoded(&format!("spec.nodeName={node}"));
    let mut users = Vec::new();
    for selector in [plain, keyed] {
        let path =
            format!("/api/v1/pods?fieldSelector={on_node}&labelSelector={}", encoded(&selector));
        let found = list(write, &path).await?;
        users.extend(found.into_iter().filter(|pod| {
            *pod.metadata.namespace != *template.namespace
                && *pod.spec.scheduler_name == *template.scheduler_name
                && !pod.has_ended()
        }));
    }
    Ok(users)
}

async fn list(write: &Write, path: &str) -> Result<Vec<Found>, Failure> {
    let bytes = read(&write.client, path).await?;
    let list: FoundList = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::Unsure(format!("no list of pods: {error}")))?;
    Ok(list.items)
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// Lists reservation pods that failed while nobody looked; none where they cannot be listed.
///
/// # Cost
/// One list, once in the life of the process.
pub(super) async fn leftovers(write: &Write, template: &Template) -> Vec<Leftover> {
    let selector = encoded(&format!("{}={}", label::APP, template.app));
    let path = format!(
        "{}?labelSelector={selector}&fieldSelector=status.phase%3DFailed",
        template.path("")
    );
    let found = list(write, &path).await.unwrap_or_else(|failure| {
        tracing::warn!(%failure, "failed to list reservation pods that failed");
        Vec::new()
    });
    let metas = found.into_iter().map(|pod| pod.metadata);
    metas.map(|meta| Leftover { name: meta.name.into(), uid: meta.uid.into() }).collect()
}

/// Deletes reservation pods that failed while nobody looked.
#[derive(Clone, Debug)]
pub struct Clear {
    /// The pods.
    pub leftovers: Vec<Leftover>,
    /// Says how they were made.
    pub template: Arc<Template>,
}

impl Clear {
    /// Deletes them, a few at a time, which nothing else waits for.
    pub(super) async fn carry_out(self, write: &Write) {
        write.idle.cancel();
        let template = &self.template;
        let deleted = self.leftovers.into_iter().map(|leftover| async move {
            delete_now(write, &template.path(&leftover.name), &leftover.uid).await;
        });
        stream::iter(deleted).buffer_unordered(CLEARED_AT_ONCE).collect::<()>().await;
    }
}
