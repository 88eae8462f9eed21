//! Taking reservation pods away, and what has to be read before.
//!
//! # Source
//! docs/contract.md 4.6.

use std::sync::Arc;

use kai_api::names::label;
use kai_daemon::backoff_to;
use tokio::time::sleep;

use super::{
    LOOK_MAX, Write,
    found::{Found, FoundList, delete_now},
    reservation::{Place, Template},
};
use crate::{
    actuate::{Ending, ShareOutcome},
    server::call::{Failure, read},
};

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
        loop {
            let ending = self.unreserve(write).await;
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

    async fn unreserve(&self, write: &Write) -> Ending {
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
        let mut said = None;
        for pod in found.iter().filter(|pod| *pod.spec.node_name == *self.place.node) {
            said = said.or_else(|| pod.cause());
            let path = self.template.path(&pod.metadata.name);
            if !delete_now(write, &path, &pod.metadata.uid).await {
                return Ending::Refused;
            }
        }
        Ending::Gone(said)
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

/// Deletes reservation pods that failed while nobody looked: the watch leaves out what has failed.
///
/// # Cost
/// One list, once in the life of the process.
pub(super) async fn sweep(write: &Write, template: &Template) {
    let selector = encoded(&format!("{}={}", label::APP, template.app));
    let path = format!(
        "{}?labelSelector={selector}&fieldSelector=status.phase%3DFailed",
        template.path("")
    );
    match list(write, &path).await {
        Ok(found) => {
            for pod in found {
                delete_now(write, &template.path(&pod.metadata.name), &pod.metadata.uid).await;
            }
        }
        Err(failure) => tracing::warn!(%failure, "failed to list reservation pods that failed"),
    }
}
