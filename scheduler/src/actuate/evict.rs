//! Evicting a pod: saying on its group when, then deleting it with its UID as precondition, or asking the API server for
//! its eviction, which budgets of disruptions may refuse.

use std::sync::Arc;

use http::Method;
use kai_daemon::backoff;
use kai_daemon::clock;
use serde_json::json;
use tokio::time::sleep;

use super::{EvictionStamp, Outcome, Write, comes_true_late, until_next_look};
use crate::server::{
    call::{Failure, Form, call, read},
    wire::Meta,
};

/// One eviction.
#[derive(Clone, Debug)]
pub struct Evict {
    /// The pod by number.
    pub pod: u32,
    /// Its UID.
    pub uid: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Says why, where the condition `DisruptionTarget` is asked for before.
    pub condition: Option<String>,
    /// Tells whether budgets of disruptions are asked.
    pub asks_budgets: bool,
    /// Says on its group that it is evicted, before; none where it has no group.
    pub stamp: Option<Arc<EvictionStamp>>,
}

/// A delete is safe to repeat; after so many lost answers it is not repeated, and the next cycle decides anew.
const ATTEMPTS_MAX: u32 = 5;

impl Evict {
    pub(super) async fn carry_out(self, write: &Write) -> Outcome {
        if let Some(stamp) = &self.stamp {
            stamp.write(write).await;
        }
        // The server announces evictions that it is asked for itself, once they are sure.
        if let Some(message) = self.condition.as_ref().filter(|_| !self.asks_budgets) {
            self.announce(write, message).await;
        }
        let result = self.delete(write).await;
        write.count("evict", result.is_ok());
        match result {
            Ok(()) => Outcome::Evicted(self.pod, self.uid),
            Err(reason) => Outcome::EvictFailed(self.pod, self.uid, reason),
        }
    }

    async fn delete(&self, write: &Write) -> Result<(), String> {
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": self.uid },
        });
        let (method, path, body) = if self.asks_budgets {
            let body = json!({
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": { "namespace": self.namespace, "name": self.name },
                "deleteOptions": options,
            });
            (Method::POST, self.path("/eviction"), body)
        } else {
            (Method::DELETE, self.path(""), options)
        };
        let mut unsure = 0;
        loop {
            match call(write, method.clone(), &path, Form::Object, &body).await {
                Ok(_) => return Ok(()),
                // Gone, or another pod has its name by now: the one we meant is no more. An eviction is refused like
                // that for its budget too.
                Err(Failure::Refused { code: 404 | 409, message }) => {
                    let is_gone = !self.asks_budgets || self.is_gone(write).await.unwrap_or(false);
                    return if is_gone { Ok(()) } else { self.goes_late(write, message).await };
                }
                Err(Failure::Refused { message, .. }) => {
                    return self.goes_late(write, message).await;
                }
                Err(Failure::Lost(lost)) => return Err(lost.to_string()),
                Err(Failure::Unsure(message)) => {
                    unsure += 1;
                    if unsure == ATTEMPTS_MAX {
                        return self.goes_late(write, message).await;
                    }
                    sleep(backoff(unsure)).await;
                }
            }
        }
    }

    /// Waits for what an attempt without an answer may do yet, where the last one failed with this message: another pod would be
    /// evicted in its place, and both would go.
    async fn goes_late(&self, write: &Write, message: String) -> Result<(), String> {
        let goes = comes_true_late(write, until_next_look, || self.is_gone(write)).await;
        if goes { Ok(()) } else { Err(message) }
    }

    /// Tells whether the pod is no more, or on its way.
    async fn is_gone(&self, write: &Write) -> Result<bool, Failure> {
        #[derive(serde::Deserialize)]
        struct Named<'a> {
            #[serde(borrow)]
            metadata: Meta<'a>,
        }
        match read(&write.client, &self.path("")).await {
            Ok(pod) => Ok(serde_json::from_slice::<Named<'_>>(&pod).is_ok_and(|pod| {
                *pod.metadata.uid != *self.uid || pod.metadata.deletion_timestamp.is_some()
            })),
            Err(failure) if failure.code() == Some(404) => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// Says on the pod why it goes; that it could not be said keeps nobody from going.
    async fn announce(&self, write: &Write, message: &str) {
        let body = json!({
            "metadata": { "uid": self.uid },
            "status": { "conditions": [{
                "type": kai_api::names::condition::DISRUPTION_TARGET,
                "status": "True",
                "reason": kai_api::names::reason::PREEMPTION_BY_SCHEDULER,
                "message": message,
                "lastTransitionTime": clock::now(),
            }]},
        });
        let path = self.path("/status");
        let patched = call(write, Method::PATCH, &path, Form::Strategic, &body).await;
        write.count("disruption_target", patched.is_ok());
    }

    fn path(&self, subresource: &str) -> String {
        format!("/api/v1/namespaces/{}/pods/{}{subresource}", self.namespace, self.name)
    }
}
