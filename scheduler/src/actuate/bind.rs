//! Binding a pod to its node, directly through `pods/binding`.
//!
//! The UID is the precondition and annotations ride along: the API server copies them to the pod
//! in the same write. Labels do not, so a pod with shared GPUs is patched first; a crash between
//! the two leaves labels on a pod without a node, which mean nothing and are replaced by the next
//! bind. Source: spec/contract.md 4.3, 11.3; design/performance.md 3.2.

use std::time::{Duration, Instant};

use http::Method;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{ClaimGrant, ExtendedGrant, Outcome, VolumeGrant, Write, claim::Consumer};
use crate::{
    call::{Failure, Form, call, read},
    metrics::milliseconds,
    watch::backoff,
    wire::Whereabouts,
};

/// One bind.
#[derive(Clone, Debug)]
pub struct Bind {
    /// The pod by number.
    pub pod: u32,
    /// Its UID.
    pub uid: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The node.
    pub node: Box<str>,
    /// `received-resource-type`.
    pub received: &'static str,
    /// Labels to set, or to remove where there is no value, before the bind.
    pub labels: Vec<(Box<str>, Option<Box<str>>)>,
    /// Its resource claims, which get their devices before the bind.
    pub claims: Vec<ClaimGrant>,
    /// Its volume claims without a volume, which get theirs before the bind.
    pub volumes: Vec<VolumeGrant>,
    /// What stands in for its extended resources: a claim is made for it before the bind.
    pub extended: Option<Box<ExtendedGrant>>,
    /// What it will hold of NUMA zones, as its annotation says it.
    pub zones: Option<String>,
}

/// How a bind stands, by a read.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// On our node.
    Done,
    /// Not on a node yet, and still the same pod.
    Open,
    /// Elsewhere, gone or another pod.
    Lost(String),
}

/// After a lost answer a bind is tried again this often; each is refused where one was done.
const ATTEMPTS_MAX: u32 = 5;

impl Bind {
    /// Binds, and says what became of it.
    pub(crate) async fn carry_out(self, write: &Write) -> Outcome {
        let started = Instant::now();
        let result = self.bind(write).await;
        write.metrics.bind.observe(milliseconds(started.elapsed()));
        write.count("bind", result.is_ok());
        match result {
            Ok(()) => Outcome::Bound(self.pod, self.uid, self.node),
            Err(reason) => Outcome::BindFailed(self.pod, self.uid, self.node, reason),
        }
    }

    /// Reserves the claims, binds, and takes the reservations back where it did not bind.
    async fn bind(&self, write: &Write) -> Result<(), String> {
        let consumer = Consumer { name: &self.name, uid: &self.uid };
        let mut reserved = Vec::with_capacity(self.claims.len());
        let mut result = Ok(());
        for grant in &self.claims {
            match grant.reserve(&write.client, consumer).await {
                Ok(made) => reserved.push((grant, made)),
                Err(reason) => {
                    result = Err(reason);
                    break;
                }
            }
        }
        let mut made = None;
        if let (Ok(()), Some(grant)) = (&result, &self.extended) {
            match grant.make(&write.client, &self.path(""), consumer).await {
                Ok(claim) => made = Some(claim),
                Err(reason) => result = Err(reason),
            }
        }
        if result.is_ok() {
            result = self.bind_volumes(write).await;
        }
        if result.is_ok() {
            result = self.ready_devices(write).await;
        }
        if result.is_ok() {
            result = self.bind_reserved(write).await;
        }
        if result.is_err() {
            if let Some(claim) = made {
                claim.undo(&write.client, &self.path(""), consumer).await;
            }
            for (grant, made) in reserved {
                grant.release(&write.client, consumer, made).await;
            }
        }
        result
    }

    /// Has every claim get its volume, and waits for that.
    async fn bind_volumes(&self, write: &Write) -> Result<(), String> {
        for grant in &self.volumes {
            grant.assign(write).await?;
        }
        for grant in &self.volumes {
            grant.settled(write).await?;
        }
        if self.volumes.is_empty() || write.guard.check().await.is_ok() {
            return Ok(());
        }
        Err(String::from("the lease was lost while volumes were bound"))
    }

    /// Waits for devices that have to be made ready first.
    async fn ready_devices(&self, write: &Write) -> Result<(), String> {
        for grant in &self.claims {
            grant.settled(write).await?;
        }
        if !self.waits_for_devices() || write.guard.check().await.is_ok() {
            return Ok(());
        }
        Err(String::from("the lease was lost while devices were made ready"))
    }

    /// Whether it waits for others, for minutes perhaps.
    pub(super) fn is_patient(&self) -> bool {
        !self.volumes.is_empty() || self.waits_for_devices()
    }

    /// Whether some device has to be made ready before the bind.
    fn waits_for_devices(&self) -> bool {
        self.claims.iter().any(ClaimGrant::awaits_conditions)
    }

    async fn bind_reserved(&self, write: &Write) -> Result<(), String> {
        if !self.labels.is_empty() {
            self.label(&write.client).await?;
        }
        let mut unsure = 0;
        loop {
            match self.post(&write.client).await {
                Ok(()) => return Ok(()),
                Err(Failure::Refused { code: 409, message }) => {
                    return match self.standing(&write.client).await {
                        Standing::Done => Ok(()),
                        Standing::Open => Err(message),
                        Standing::Lost(reason) => Err(reason),
                    };
                }
                Err(Failure::Refused { message, .. }) => return Err(message),
                Err(Failure::Unsure(message)) => {
                    unsure += 1;
                    match self.standing(&write.client).await {
                        Standing::Done => return Ok(()),
                        Standing::Lost(reason) => return Err(reason),
                        Standing::Open if unsure == ATTEMPTS_MAX => return Err(message),
                        Standing::Open => {
                            sleep(backoff(unsure)).await;
                            // The pause may have cost the Lease.
                            if write.guard.check().await.is_err() {
                                return Err(message);
                            }
                        }
                    }
                }
            }
        }
    }

    async fn post(&self, client: &Client) -> Result<(), Failure> {
        let mut body = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": self.name,
                "namespace": self.namespace,
                "uid": self.uid,
                "annotations": {
                    (kai_api::names::annotation::RECEIVED_RESOURCE_TYPE): self.received,
                },
            },
            "target": { "apiVersion": "v1", "kind": "Node", "name": self.node },
        });
        if let Some(zones) = &self.zones {
            let key = kai_api::names::annotation::NUMA_PREDICTED;
            body["metadata"]["annotations"][key] = json!(zones);
        }
        call(client, Method::POST, &self.path("/binding"), Form::Object, &body).await.map(drop)
    }

    /// Sets and removes labels, on this very pod only.
    async fn label(&self, client: &Client) -> Result<(), String> {
        let labels: serde_json::Map<String, Value> =
            self.labels.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
        let body = json!({ "metadata": { "uid": self.uid, "labels": labels } });
        let patched = call(client, Method::PATCH, &self.path(""), Form::Merge, &body).await;
        // Unsure is as good as done: the bind that follows settles it, and a pod that lacks them
        // is found by its own watch.
        match patched {
            Ok(_) => Ok(()),
            Err(failure) => Err(format!("failed to label the pod: {failure}")),
        }
    }

    /// Reads how the bind stands, for as long as it takes: nothing may be released before.
    async fn standing(&self, client: &Client) -> Standing {
        let mut failures = 0;
        loop {
            match read(client, &self.path("")).await {
                Ok(bytes) => {
                    if let Ok(pod) = serde_json::from_slice::<Whereabouts<'_>>(&bytes) {
                        return self.compare(&pod.metadata.uid, &pod.spec.node_name);
                    }
                }
                Err(failure) if failure.code() == Some(404) => {
                    return Standing::Lost(String::from("the pod is gone"));
                }
                Err(_) => {}
            }
            failures += 1;
            sleep(backoff(failures).max(Duration::from_millis(50))).await;
        }
    }

    fn compare(&self, uid: &str, node: &str) -> Standing {
        match (uid == &*self.uid, node) {
            (false, _) => Standing::Lost(String::from("the pod was replaced by another")),
            (true, "") => Standing::Open,
            (true, node) if node == &*self.node => Standing::Done,
            (true, node) => Standing::Lost(format!("the pod is on node {node} already")),
        }
    }

    fn path(&self, subresource: &str) -> String {
        format!("/api/v1/namespaces/{}/pods/{}{subresource}", self.namespace, self.name)
    }
}

#[cfg(test)]
impl Bind {
    /// A bind of a pod of whole GPUs without labels, claims and volumes, in the namespace `ns`.
    pub(crate) fn of(uid: &str, name: &str, node: &str) -> Self {
        Self {
            pod: 0,
            uid: Box::from(uid),
            namespace: Box::from("ns"),
            name: Box::from(name),
            node: Box::from(node),
            received: "Regular",
            labels: Vec::new(),
            claims: Vec::new(),
            volumes: Vec::new(),
            extended: None,
            zones: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_settles_a_bind() {
        let bind = Bind::of("u", "p", "n1");
        assert_eq!(bind.compare("u", "n1"), Standing::Done);
        assert_eq!(bind.compare("u", ""), Standing::Open);
        assert!(matches!(bind.compare("u", "n2"), Standing::Lost(_)));
        assert!(matches!(bind.compare("v", "n1"), Standing::Lost(_)));
    }
}
