//! Evicting a pod: deleting it with its UID as precondition, or asking the API server for its eviction, which budgets of
//! disruptions may refuse.

use http::Method;
use serde_json::json;
use tokio::time::sleep;

use super::{Outcome, Write};
use crate::{
    call::{Failure, Form, call},
    watch::backoff,
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
    /// Why, where the condition `DisruptionTarget` is asked for before.
    pub condition: Option<String>,
    /// Whether budgets of disruptions are asked.
    pub asks_budgets: bool,
}

/// A delete is safe to repeat; after so many lost answers the next cycle decides anew.
const ATTEMPTS_MAX: u32 = 5;

impl Evict {
    pub(super) async fn carry_out(self, write: &Write) -> Outcome {
        if let Some(message) = &self.condition {
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
            // A budget that is spent is waited for like a server that has too much to do: both say 429.
            match call(write, method.clone(), &path, Form::Object, &body).await {
                // Gone, or another pod has its name by now: the one we meant is no more.
                Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }) => return Ok(()),
                Err(Failure::Refused { message, .. }) => return Err(message),
                Err(Failure::Lost(lost)) => return Err(lost.to_string()),
                Err(Failure::Unsure(message)) => {
                    unsure += 1;
                    if unsure == ATTEMPTS_MAX {
                        return Err(message);
                    }
                    sleep(backoff(unsure)).await;
                }
            }
        }
    }

    /// Says on the pod why it goes; that it could not be said keeps nobody from going.
    async fn announce(&self, write: &Write, message: &str) {
        let body = json!({
            "metadata": { "uid": self.uid },
            "status": { "conditions": [{
                "type": kai_api::names::condition::DISRUPTION_TARGET,
                "status": "True",
                "reason": "PreemptionByScheduler",
                "message": message,
                "lastTransitionTime": jiff::Timestamp::now(),
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
