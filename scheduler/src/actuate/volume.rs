//! Giving a pod's volume claims their volumes on its node, before the bind.
//!
//! A volume that is there is reserved for its claim (`spec.claimRef`); for one that is to be made the claim says for which
//! node (`volume.kubernetes.io/selected-node`). Then the cluster's volume controllers do the rest, and the bind waits for
//! them. Nothing is taken back where the bind fails: the claim keeps its node, and the pod goes there the next time, until
//! the provisioner gives up and takes the node off the claim. Source: docs/contract.md 4.4, `volumebinding`.

use std::time::Duration;

use http::Method;
use kai_daemon::backoff;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Write, until_next_look};
use crate::server::call::{Failure, Form, call, read};

/// The node for which a claim gets its volume.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Sets how often an object is read again that others write too.
const ATTEMPTS_MAX: u32 = 8;
/// Says of a volume that a scheduler or controller chose its claim, so that it may be let go again.
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// Holds what a claim of a pod is to get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VolumeGrant {
    /// The claim's namespace.
    pub namespace: Box<str>,
    /// The claim's name.
    pub claim: Box<str>,
    /// The claim's UID.
    pub uid: Box<str>,
    /// The node of the pod.
    pub node: Box<str>,
    /// Says how it gets its volume.
    pub step: VolumeStep,
    /// Says how long it may take to get it. Source: docs/contract.md 2.3, `volumeBindingTimeoutSeconds`.
    pub bound_within: Duration,
}

/// Says how a claim gets its volume.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VolumeStep {
    /// This volume is there.
    Give(Box<str>),
    /// One is made for the node.
    Provision,
    /// There is none that another pod was not given first.
    Refuse,
}

impl VolumeGrant {
    /// Namespace and name of the claim, with a slash between.
    pub(crate) fn key(&self) -> Box<str> {
        format!("{}/{}", self.namespace, self.claim).into()
    }

    /// Says why the claim cannot get a volume, where that is known before anything is written.
    pub(super) fn refusal(&self) -> Option<String> {
        let reason = "node(s) didn't find available persistent volumes to bind";
        (self.step == VolumeStep::Refuse).then(|| self.failed(reason))
    }

    /// Writes what gets the claim its volume. What fails is not tried again once the scheduler ends.
    pub(super) async fn assign(&self, write: &Write) -> Result<(), String> {
        let mut last = String::new();
        for attempt in 1..=ATTEMPTS_MAX {
            let result = match &self.step {
                VolumeStep::Give(volume) => self.give(write, volume).await,
                VolumeStep::Provision => self.select_node(write).await,
                VolumeStep::Refuse => return self.refusal().map_or(Ok(()), Err),
            };
            match result {
                Ok(()) => return Ok(()),
                Err(Failure::Refused { code: 409, message } | Failure::Unsure(message)) => {
                    last = message;
                    let pause = sleep(backoff(attempt));
                    if write.stop.run_until_cancelled(pause).await.is_none() {
                        break;
                    }
                }
                Err(Failure::Refused { message, .. }) => return Err(self.failed(&message)),
                Err(Failure::Lost(lost)) => return Err(self.failed(&lost.to_string())),
            }
        }
        Err(self.failed(&last))
    }

    /// Waits until the claim has its volume.
    pub(super) async fn settled(&self, write: &Write) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            match self.read_claim(write).await {
                Ok(claim) if claim["status"]["phase"] == "Bound" => return Ok(()),
                Ok(claim)
                    if self.step == VolumeStep::Provision
                        && claim["metadata"]["annotations"][SELECTED_NODE] != *self.node =>
                {
                    return Err(self.failed("the provisioner made no volume for this node"));
                }
                Err(Failure::Refused { message, .. }) => return Err(self.failed(&message)),
                Ok(_) | Err(Failure::Unsure(_) | Failure::Lost(_)) => {}
            }
            if begun.elapsed() > self.bound_within {
                let seconds = self.bound_within.as_secs();
                return Err(self.failed(&format!("it was not bound within {seconds}s")));
            }
            tokio::select! {
                biased;
                () = write.stop.cancelled() => return Err(self.failed("the scheduler ends")),
                () = sleep(until_next_look(begun.elapsed())) => {}
            }
        }
    }

    fn failed(&self, reason: &str) -> String {
        format!("failed to bind the volume claim {}: {reason}", self.claim)
    }

    async fn give(&self, write: &Write, name: &str) -> Result<(), Failure> {
        let path = format!("/api/v1/persistentvolumes/{name}");
        let bytes = read(&write.client, &path).await?;
        let volume: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Unsure(format!("no persistent volume: {error}")))?;
        let meta = &volume["metadata"];
        let claim = &volume["spec"]["claimRef"];
        if !meta["deletionTimestamp"].is_null() || !(claim.is_null() || self.is_named_by(claim)) {
            return Err(refusal(&format!("persistentvolume {name} is not free any more")));
        }
        if claim["uid"] == *self.uid {
            return Ok(());
        }
        let mut body = json!({
            "metadata": { "uid": meta["uid"], "resourceVersion": meta["resourceVersion"] },
            "spec": { "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "namespace": self.namespace, "name": self.claim, "uid": self.uid,
            } },
        });
        if claim.is_null() {
            body["metadata"]["annotations"] = json!({ BOUND_BY_CONTROLLER: "yes" });
        }
        call(write, Method::PATCH, &path, Form::Merge, &body).await.map(drop)
    }

    /// Tells whether a volume's reference names this claim, and not one that had its name before: its data are not for this one.
    fn is_named_by(&self, reference: &Value) -> bool {
        let uid = reference["uid"].as_str().unwrap_or_default();
        reference["namespace"] == *self.namespace
            && reference["name"] == *self.claim
            && (uid.is_empty() || *uid == *self.uid)
    }

    async fn select_node(&self, write: &Write) -> Result<(), Failure> {
        let claim = self.read_claim(write).await?;
        let meta = &claim["metadata"];
        let selected = &meta["annotations"][SELECTED_NODE];
        if *selected == *self.node || !claim["spec"]["volumeName"].is_null() {
            return Ok(());
        }
        if !selected.is_null() {
            return Err(refusal("it is to get its volume on another node"));
        }
        let body = json!({ "metadata": {
            "uid": self.uid,
            "resourceVersion": meta["resourceVersion"],
            "annotations": { SELECTED_NODE: self.node },
        } });
        call(write, Method::PATCH, &self.path(), Form::Merge, &body).await.map(drop)
    }

    async fn read_claim(&self, write: &Write) -> Result<Value, Failure> {
        let bytes = read(&write.client, &self.path()).await?;
        let claim: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Unsure(format!("no volume claim: {error}")))?;
        if claim["metadata"]["uid"] == *self.uid {
            return Ok(claim);
        }
        Err(refusal("it was replaced by another"))
    }

    fn path(&self) -> String {
        format!("/api/v1/namespaces/{}/persistentvolumeclaims/{}", self.namespace, self.claim)
    }
}

fn refusal(message: &str) -> Failure {
    Failure::Refused { code: 422, message: String::from(message) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{VolumeGrant, VolumeStep};

    #[test]
    fn a_volume_of_an_earlier_claim_of_the_name_is_not_free() {
        let grant = VolumeGrant {
            namespace: "ml".into(),
            claim: "disk".into(),
            uid: "now".into(),
            node: "n1".into(),
            step: VolumeStep::Give("pv".into()),
            bound_within: Duration::from_mins(2),
        };
        let is_named = |rest| {
            let mut reference = json!({"namespace": "ml", "name": "disk"});
            if let Some(uid) = rest {
                reference["uid"] = json!(uid);
            }
            grant.is_named_by(&reference)
        };
        assert!(is_named(None) && is_named(Some("")) && is_named(Some("now")));
        assert!(!is_named(Some("before")));
        assert!(!grant.is_named_by(&json!({"namespace": "other", "name": "disk"})));
    }
}
