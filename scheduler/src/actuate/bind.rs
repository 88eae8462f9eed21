//! Binding a pod to its node, directly through `pods/binding`.
//!
//! The UID is the precondition and annotations ride along: the API server copies them to the pod
//! in the same write. Labels do not, so a pod with shared GPUs is patched first; a crash between
//! the two leaves labels and config maps of a pod without a node, which mean nothing and are replaced
//! by the next bind. Source: docs/contract.md 4.3, 11.3; docs/performance.md, the scheduler on a real API server.

use std::time::Duration;

use futures::future::join;
use http::Method;
use kai_api::names::{annotation, value};
use kai_daemon::{backoff, backoff_to};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    ClaimGrant, ExtendedGrant, LOOK_MAX, Outcome, ShareGrant, VolumeGrant, Write,
    claim::{Consumer, Reservation},
    config_map::Owner,
    extended::Made,
    until_next_look, wait_for_late,
};
use crate::{
    serve::metrics::milliseconds,
    server::{
        call::{Failure, Form, call, read},
        wire::Whereabouts,
    },
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
    /// The queue on whose account it is; none where that is not known.
    pub queue: Option<Box<str>>,
    /// Tells whether it may be evicted for certain; where it may not the group's object decides.
    pub is_preemptible: bool,
    /// Labels to set, or to remove where there is no value, before the bind.
    pub labels: Vec<(Box<str>, Option<Box<str>>)>,
    /// Its resource claims, which get their devices before the bind.
    pub claims: Vec<ClaimGrant>,
    /// Its volume claims without a volume, which get theirs before the bind.
    pub volumes: Vec<VolumeGrant>,
    /// Holds what stands in for its extended resources: a claim is made for it before the bind.
    pub extended: Option<Box<ExtendedGrant>>,
    /// Holds what it will hold of NUMA zones, as its annotation says it; empty for nothing, where its user wrote something.
    pub zones: Option<String>,
    /// Its shares of GPUs, whose devices it is told before the bind.
    pub share: Option<Box<ShareGrant>>,
}

/// Says how a bind stands, by a read.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// On our node.
    Done,
    /// Not on a node yet, and still the same pod.
    Open,
    /// On another node.
    Elsewhere(String),
    /// Gone, or another pod.
    Gone(String),
    /// It could not be read before the scheduler ends.
    Unknown,
}

/// Holds what is reserved for a pod before its bind.
#[derive(Debug, Default)]
struct Held<'b> {
    claims: Vec<Reservation<'b>>,
    /// The claim for its extended resources.
    made: Option<Made<'b>>,
}

/// After a lost answer a bind, or the labels before it, is tried again this often; a bind is refused where one was done.
const ATTEMPTS_MAX: u32 = 5;

impl Bind {
    /// Returns the bind of a pod with whole GPUs before which nothing is written. It is on no account, and of a pod without a
    /// number and a UID.
    pub fn without_grants(namespace: Box<str>, name: Box<str>, node: Box<str>) -> Self {
        Self {
            pod: 0,
            uid: Box::default(),
            namespace,
            name,
            node,
            received: value::RECEIVED_REGULAR,
            queue: None,
            is_preemptible: false,
            labels: Vec::new(),
            claims: Vec::new(),
            volumes: Vec::new(),
            extended: None,
            zones: None,
            share: None,
        }
    }

    /// Binds, and says what became of it.
    pub(crate) async fn carry_out(self, write: &Write) -> Outcome {
        let started = Instant::now();
        let result = self.bind(write).await;
        write.metrics.bind.observe(milliseconds(started.elapsed()));
        write.count("bind", result.is_ok());
        match result {
            Ok(()) => Outcome::Bound(self.pod, self.uid, self.node),
            Err(reason) => {
                let Self { pod, uid, node, volumes, .. } = self;
                Outcome::BindFailed { pod, uid, node, reason, volumes }
            }
        }
    }

    /// Binds, with all that comes before; what was reserved for it is taken back where it did not.
    async fn bind(&self, write: &Write) -> Result<(), String> {
        // A claim that was told its node keeps it: none is told before all can have their volumes.
        if let Some(reason) = self.volumes.iter().find_map(VolumeGrant::refusal) {
            return Err(reason);
        }
        let mut held = Held::default();
        match self.bind_holding(write, &mut held).await {
            Ok(()) => Ok(()),
            Err(reason) => self.undo(write, &held, reason).await,
        }
    }

    /// Reserves the claims, has the volumes bound and the devices made ready, and binds.
    async fn bind_holding<'b>(&'b self, write: &Write, held: &mut Held<'b>) -> Result<(), String> {
        let consumer = self.consumer();
        for grant in &self.claims {
            let mut claim = Reservation::new(grant);
            let made = claim.make(write, consumer).await;
            // Its answer may have been lost.
            held.claims.push(claim);
            made?;
        }
        if let Some(grant) = &self.extended {
            let made = grant.make(write, &self.path(""), consumer).await?;
            held.made.insert(made).allot(write, &self.path(""), consumer).await?;
        }
        for grant in &self.volumes {
            grant.assign(write).await?;
        }
        for grant in &self.volumes {
            grant.settled(write).await?;
        }
        for claim in &mut held.claims {
            claim.settled(write, consumer).await?;
        }
        self.bind_reserved(write).await
    }

    /// Takes back what is held for a bind that failed, once nothing of it can come true any more. A pod that is bound after all
    /// keeps it, and so does one that another scheduler may bind: whoever leads now finds the claims as after a crash, and no
    /// write is let through here.
    async fn undo(&self, write: &Write, held: &Held<'_>, reason: String) -> Result<(), String> {
        if held.claims.is_empty() && held.made.is_none() && write.open.left().is_none() {
            return Err(reason);
        }
        match self.settled(write).await {
            Standing::Done => return Ok(()),
            Standing::Elsewhere(_) | Standing::Unknown => return Err(reason),
            Standing::Open | Standing::Gone(_) => {}
        }
        if let Some(claim) = &held.made {
            claim.undo(write, &self.path(""), self.consumer()).await;
        }
        for claim in &held.claims {
            claim.release(write, self.consumer()).await;
        }
        // What is taken back late would be missing to the next bind of the pod.
        if write.open.left().is_some() {
            self.settled(write).await;
        }
        Err(reason)
    }

    fn consumer(&self) -> Consumer<'_> {
        Consumer { name: &self.name, uid: &self.uid }
    }

    /// Tells whether it waits for others, for minutes perhaps.
    pub(super) fn is_patient(&self) -> bool {
        !self.volumes.is_empty() || self.waits_for_devices()
    }

    /// Tells whether some device has to be made ready before the bind.
    fn waits_for_devices(&self) -> bool {
        self.claims.iter().any(ClaimGrant::awaits_conditions)
    }

    async fn bind_reserved(&self, write: &Write) -> Result<(), String> {
        self.tell_devices(write).await?;
        let mut unsure = 0;
        loop {
            let message = match self.post(write).await {
                Ok(()) => return Ok(()),
                Err(Failure::Lost(lost)) => return Err(lost.to_string()),
                Err(Failure::Refused { code: 409, message }) => {
                    // It is not ours any more, or it is done.
                    unsure = ATTEMPTS_MAX;
                    message
                }
                Err(Failure::Refused { message, .. }) => return Err(message),
                Err(Failure::Unsure(message)) => {
                    unsure += 1;
                    message
                }
            };
            match self.standing(write).await {
                Standing::Done => return Ok(()),
                Standing::Elsewhere(reason) | Standing::Gone(reason) => return Err(reason),
                Standing::Unknown => return Err(message),
                Standing::Open if unsure == ATTEMPTS_MAX => return Err(message),
                Standing::Open => sleep(backoff(unsure)).await,
            }
        }
    }

    async fn post(&self, write: &Write) -> Result<(), Failure> {
        let mut body = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": self.name,
                "namespace": self.namespace,
                "uid": self.uid,
                "annotations": {
                    (annotation::RECEIVED_RESOURCE_TYPE): self.received,
                },
            },
            "target": { "apiVersion": "v1", "kind": "Node", "name": self.node },
        });
        if let Some(queue) = &self.queue {
            let preemptibility =
                if self.is_preemptible { value::PREEMPTIBLE } else { value::NON_PREEMPTIBLE };
            let annotations = &mut body["metadata"]["annotations"];
            annotations[annotation::BOUND_QUEUE] = json!(queue);
            annotations[annotation::BOUND_PREEMPTIBILITY] = json!(preemptibility);
        }
        if let Some(zones) = &self.zones {
            body["metadata"]["annotations"][annotation::NUMA_PREDICTED] = json!(zones);
            // What its user wrote before it had a node was seen by nobody.
            body["metadata"]["annotations"][annotation::NUMA_OBSERVED] = json!("");
        }
        call(write, Method::POST, &self.path("/binding"), Form::Object, &body).await.map(drop)
    }

    /// Writes down the devices that the pod shares: the scheduler finds them by its labels, and its container in config
    /// maps.
    async fn tell_devices(&self, write: &Write) -> Result<(), String> {
        let Some(share) = &self.share else { return self.label(write).await };
        let owner = Owner { namespace: &self.namespace, name: &self.name, uid: &self.uid };
        // Each ends before this does, however the other ended: what is written later would outlive the bind's undoing.
        let (labelled, told) = join(self.label(write), share.write_maps(write, owner)).await;
        labelled.and(told)
    }

    /// Sets and removes labels, on this very pod only.
    async fn label(&self, write: &Write) -> Result<(), String> {
        if self.labels.is_empty() {
            return Ok(());
        }
        let labels: serde_json::Map<String, Value> =
            self.labels.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
        let body = json!({ "metadata": { "uid": self.uid, "labels": labels } });
        let mut unsure = 0;
        loop {
            match call(write, Method::PATCH, &self.path(""), Form::Merge, &body).await {
                Ok(_) => return Ok(()),
                // Written twice they are the same.
                Err(Failure::Unsure(_)) if unsure < ATTEMPTS_MAX => {
                    unsure += 1;
                    sleep(backoff(unsure)).await;
                }
                Err(failure) => return Err(format!("failed to label the pod: {failure}")),
            }
        }
    }

    /// Reads how the bind stands once nothing that was written for it can come true any more. Until then its node and its
    /// devices are given to nobody else, and the pod is not bound again: it would be told what is another bind's. A pod that
    /// is on a node, or gone, is waited for no longer.
    async fn settled(&self, write: &Write) -> Standing {
        let begun = Instant::now();
        loop {
            let left = write.open.left();
            let standing = self.standing(write).await;
            let Some(left) = left.filter(|_| standing == Standing::Open) else { return standing };
            if !wait_for_late(write, left.min(until_next_look(begun.elapsed()))).await {
                return Standing::Unknown;
            }
        }
    }

    /// Reads how the bind stands, for as long as it takes: nothing may be released before.
    async fn standing(&self, write: &Write) -> Standing {
        let mut failures = 0;
        loop {
            match read(&write.client, &self.path("")).await {
                Ok(bytes) => {
                    if let Ok(pod) = serde_json::from_slice::<Whereabouts<'_>>(&bytes) {
                        return self.compare(&pod.metadata.uid, &pod.spec.node_name);
                    }
                }
                Err(failure) if failure.code() == Some(404) => {
                    return Standing::Gone(String::from("the pod is gone"));
                }
                Err(_) => {}
            }
            failures += 1;
            tokio::select! {
                biased;
                () = write.stop.cancelled() => return Standing::Unknown,
                () = sleep(backoff_to(failures, LOOK_MAX).max(Duration::from_millis(50))) => {}
            }
        }
    }

    fn compare(&self, uid: &str, node: &str) -> Standing {
        match (uid == &*self.uid, node) {
            (false, _) => Standing::Gone(String::from("the pod was replaced by another")),
            (true, "") => Standing::Open,
            (true, node) if node == &*self.node => Standing::Done,
            (true, node) => Standing::Elsewhere(format!("the pod is on node {node} already")),
        }
    }

    fn path(&self, subresource: &str) -> String {
        format!("/api/v1/namespaces/{}/pods/{}{subresource}", self.namespace, self.name)
    }
}

#[cfg(test)]
impl Bind {
    /// A bind without grants in the namespace `ns`.
    pub(crate) fn of(uid: &str, name: &str, node: &str) -> Self {
        let bind = Self::without_grants(Box::from("ns"), Box::from(name), Box::from(node));
        Self { uid: Box::from(uid), ..bind }
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
        assert!(matches!(bind.compare("u", "n2"), Standing::Elsewhere(_)));
        assert!(matches!(bind.compare("v", "n1"), Standing::Gone(_)));
    }
}
