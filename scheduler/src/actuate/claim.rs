//! Writing what a pod gets into its resource claims, before the bind.
//!
//! Each claim is read, and replaced at the version that was read: nobody's devices are overwritten. A crash between
//! this and the bind leaves a claim that is allocated and reserved for its pod: the pod goes to that node then, and
//! when the pod is deleted Kubernetes takes both back. Source: spec/contract.md 4.4, `dynamicresources`.

use std::time::Duration;

use http::Method;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::Write;
use crate::{
    call::{Failure, Form, call, read},
    watch::backoff,
};

/// Nobody deletes a claim that has devices.
pub(super) const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// How long devices may take to be ready. Source: the scheduler of Kubernetes, `bindingTimeout`.
const READY_WITHIN: Duration = Duration::from_mins(10);
/// A claim is looked at this often while its devices get ready.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often a claim is read again that others write too.
const ATTEMPTS_MAX: u32 = 8;

/// What one claim of a pod is to hold.
#[derive(Clone, Debug)]
pub struct ClaimGrant {
    /// Its path.
    pub path: Box<str>,
    /// Its devices, its node and what classes configure, as `status.allocation`; none where it asks for no devices.
    pub allocation: Option<Value>,
}

/// For whom claims are reserved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consumer<'a> {
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
}

impl ClaimGrant {
    /// Gives the claim its devices, where it has none, and reserves it for the pod. Says whether it gave them.
    pub(super) async fn reserve(
        &self,
        client: &Client,
        consumer: Consumer<'_>,
    ) -> Result<bool, String> {
        let mut last = String::new();
        for attempt in 1..=ATTEMPTS_MAX {
            match self.try_reserve(client, consumer).await {
                Ok(Some(made)) => return Ok(made),
                Ok(None) => {}
                Err(Failure::Refused { code: 409, message } | Failure::Unsure(message)) => {
                    last = message;
                    sleep(backoff(attempt)).await;
                }
                Err(Failure::Refused { message, .. }) => return Err(self.failed(&message)),
            }
        }
        Err(self.failed(&last))
    }

    /// Whether its devices have to be made ready before the bind.
    pub(super) fn awaits_conditions(&self) -> bool {
        self.allocation.as_ref().is_some_and(awaits_conditions)
    }

    fn failed(&self, reason: &str) -> String {
        format!("failed to reserve the resource claim {}: {reason}", self.name())
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// One attempt; none where only the finalizer was added.
    async fn try_reserve(
        &self,
        client: &Client,
        consumer: Consumer<'_>,
    ) -> Result<Option<bool>, Failure> {
        let mut claim = self.read(client).await?;
        let mut made = false;
        if claim["status"]["allocation"].is_null() {
            if let Some(allocation) = &self.allocation {
                if add_finalizer(&mut claim) {
                    call(client, Method::PUT, &self.path, Form::Object, &claim).await?;
                    return Ok(None);
                }
                claim["status"]["allocation"] = with_claim_config(allocation, &claim);
                if awaits_conditions(allocation) {
                    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
                    claim["status"]["allocation"]["allocationTimestamp"] = json!(now);
                }
                made = true;
            }
        } else if !same_devices(&claim["status"]["allocation"], self.allocation.as_ref()) {
            let message = String::from("it was given other devices meanwhile");
            return Err(Failure::Refused { code: 422, message });
        }
        if !reserve_for(&mut claim, consumer) && !made {
            return Ok(Some(false));
        }
        let path = format!("{}/status", self.path);
        call(client, Method::PUT, &path, Form::Object, &claim).await?;
        Ok(Some(made))
    }

    /// Takes the reservation back, and the devices where they were given for this bind and nobody else has them.
    pub(super) async fn release(&self, client: &Client, consumer: Consumer<'_>, made: bool) {
        for attempt in 1..=ATTEMPTS_MAX {
            match self.try_release(client, consumer, made).await {
                Ok(()) => return,
                Err(failure) if failure.code() == Some(404) => return,
                Err(failure) => {
                    tracing::warn!(claim = self.name(), %failure, "failed to release a resource claim");
                    sleep(backoff(attempt)).await;
                }
            }
        }
    }

    async fn try_release(
        &self,
        client: &Client,
        consumer: Consumer<'_>,
        made: bool,
    ) -> Result<(), Failure> {
        let mut claim = self.read(client).await?;
        let Some(reserved) = claim["status"]["reservedFor"].as_array_mut() else { return Ok(()) };
        let count = reserved.len();
        reserved.retain(|one| one["uid"] != consumer.uid);
        if reserved.len() == count {
            return Ok(());
        }
        if made && reserved.is_empty() {
            claim["status"]["allocation"] = Value::Null;
        }
        let path = format!("{}/status", self.path);
        call(client, Method::PUT, &path, Form::Object, &claim).await.map(drop)
    }

    /// Waits until the conditions hold that devices of the claim set for a bind.
    ///
    /// # Source
    /// KEP-5007, and the API's `bindingConditions`.
    pub(super) async fn settled(&self, write: &Write) -> Result<(), String> {
        if !self.awaits_conditions() {
            return Ok(());
        }
        let end = Instant::now() + READY_WITHIN;
        loop {
            match self.read(&write.client).await {
                Ok(claim) => match readiness(&claim) {
                    Readiness::Ready => return Ok(()),
                    Readiness::Waits => {}
                    Readiness::Failed(what) => return Err(self.failed(&what)),
                },
                Err(Failure::Refused { message, .. }) => return Err(self.failed(&message)),
                Err(Failure::Unsure(_)) => {}
            }
            if Instant::now() > end {
                let seconds = READY_WITHIN.as_secs();
                return Err(self.failed(&format!("its devices were not ready within {seconds}s")));
            }
            tokio::select! {
                () = write.stop.cancelled() => return Err(self.failed("the scheduler ends")),
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }

    async fn read(&self, client: &Client) -> Result<Value, Failure> {
        let bytes = read(client, &self.path).await?;
        let claim: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Unsure(format!("no resource claim: {error}")))?;
        if claim["metadata"]["deletionTimestamp"].is_null() {
            return Ok(claim);
        }
        let message = String::from("it is being deleted");
        Err(Failure::Refused { code: 422, message })
    }
}

/// Whether some device of an allocation sets conditions for a bind.
fn awaits_conditions(allocation: &Value) -> bool {
    let results = allocation["devices"]["results"].as_array().into_iter().flatten();
    results.into_iter().any(|one| one["bindingConditions"].is_array())
}

/// How the conditions stand that devices of a claim set for a bind.
#[derive(Debug, PartialEq, Eq)]
enum Readiness {
    /// All hold.
    Ready,
    /// One does not hold yet.
    Waits,
    /// One that must not hold does.
    Failed(String),
}

fn readiness(claim: &Value) -> Readiness {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let status = &claim["status"];
    let mut readiness = Readiness::Ready;
    for result in list(&status["allocation"]["devices"]["results"]) {
        let is_it = |device: &&Value| {
            ["driver", "pool", "device", "shareID"].iter().all(|key| device[*key] == result[*key])
        };
        let devices = list(&status["devices"]);
        let conditions = devices.iter().find(is_it).map(|device| list(&device["conditions"]));
        let conditions = conditions.unwrap_or_default();
        let holds = |name: &Value| {
            conditions.iter().any(|one| one["type"] == *name && one["status"] == "True")
        };
        if let Some(failure) =
            list(&result["bindingFailureConditions"]).iter().find(|one| holds(one))
        {
            let (device, failure) = (text(&result["device"]), text(failure));
            return Readiness::Failed(format!("its device {device} has the condition {failure}"));
        }
        if !list(&result["bindingConditions"]).iter().all(holds) {
            readiness = Readiness::Waits;
        }
    }
    readiness
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether the finalizer was missing; it is there afterwards.
fn add_finalizer(claim: &mut Value) -> bool {
    let finalizers = &mut claim["metadata"]["finalizers"];
    if finalizers.is_null() {
        *finalizers = json!([]);
    }
    let Some(finalizers) = finalizers.as_array_mut() else { return false };
    let missing = !finalizers.iter().any(|one| one == FINALIZER);
    if missing {
        finalizers.push(json!(FINALIZER));
    }
    missing
}

/// Whether the pod was not a consumer yet; it is one afterwards.
fn reserve_for(claim: &mut Value, consumer: Consumer<'_>) -> bool {
    let reserved = &mut claim["status"]["reservedFor"];
    if reserved.is_null() {
        *reserved = json!([]);
    }
    let Some(reserved) = reserved.as_array_mut() else { return false };
    let missing = !reserved.iter().any(|one| one["uid"] == consumer.uid);
    if missing {
        reserved.push(json!({ "resource": "pods", "name": consumer.name, "uid": consumer.uid }));
    }
    missing
}

/// An allocation with what the claim itself configures, behind what its classes do.
fn with_claim_config(allocation: &Value, claim: &Value) -> Value {
    let mut allocation = allocation.clone();
    let own = claim["spec"]["devices"]["config"].as_array().into_iter().flatten();
    let own: Vec<Value> = own
        .map(|entry| {
            let mut entry = entry.clone();
            entry["source"] = json!("FromClaim");
            entry
        })
        .collect();
    if !own.is_empty() {
        let config = &mut allocation["devices"]["config"];
        if config.is_null() {
            *config = json!([]);
        }
        if let Some(config) = config.as_array_mut() {
            config.extend(own);
        }
    }
    allocation
}

/// Whether an allocation is of the devices that were meant.
fn same_devices(there: &Value, meant: Option<&Value>) -> bool {
    let devices = |allocation: &Value| {
        let results = allocation["devices"]["results"].as_array().into_iter().flatten();
        let key = |one: &Value| format!("{}/{}/{}", one["driver"], one["pool"], one["device"]);
        results.map(key).collect::<std::collections::BTreeSet<String>>()
    };
    meant.is_none_or(|meant| devices(meant) == devices(there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bind_waits_for_the_conditions_of_devices() {
        let claim = |conditions: Value| {
            json!({ "status": {
                "allocation": { "devices": { "results": [
                    { "driver": "d", "pool": "p", "device": "0" },
                    { "driver": "d", "pool": "p", "device": "1", "bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"] },
                ] } },
                "devices": [{ "driver": "d", "pool": "p", "device": "1", "conditions": conditions }],
            } })
        };
        let check = |conditions: Value, expect: Readiness| {
            assert_eq!(readiness(&claim(conditions)), expect);
        };
        check(json!([]), Readiness::Waits);
        check(json!([{ "type": "Attached", "status": "False" }]), Readiness::Waits);
        check(json!([{ "type": "Attached", "status": "True" }]), Readiness::Ready);
        let broken = String::from("its device 1 has the condition Broken");
        let both = json!([{ "type": "Attached", "status": "True" }, { "type": "Broken", "status": "True" }]);
        check(both, Readiness::Failed(broken));
        assert!(awaits_conditions(&claim(json!([]))["status"]["allocation"]));
        assert!(!awaits_conditions(&json!({ "devices": { "results": [{ "device": "0" }] } })));
    }

    #[test]
    fn a_claim_is_protected_reserved_once_and_keeps_its_own_configuration() {
        let mut claim = json!({
            "metadata": { "name": "c" },
            "spec": { "devices": { "config": [{ "requests": ["gpu"], "opaque": { "driver": "d" } }] } },
        });
        assert!(add_finalizer(&mut claim));
        assert!(!add_finalizer(&mut claim));
        let consumer = Consumer { name: "p", uid: "u" };
        assert!(reserve_for(&mut claim, consumer));
        assert!(!reserve_for(&mut claim, consumer));
        assert_eq!(
            claim["status"]["reservedFor"],
            json!([{ "resource": "pods", "name": "p", "uid": "u" }])
        );
        let given =
            json!({ "devices": { "results": [{ "driver": "d", "pool": "n", "device": "0" }] } });
        let whole = with_claim_config(&given, &claim);
        assert_eq!(
            whole["devices"]["config"],
            json!([{ "requests": ["gpu"], "opaque": { "driver": "d" }, "source": "FromClaim" }])
        );
        assert!(same_devices(&whole, Some(&given)));
        let other =
            json!({ "devices": { "results": [{ "driver": "d", "pool": "n", "device": "1" }] } });
        assert!(!same_devices(&whole, Some(&other)));
        assert!(same_devices(&whole, None));
    }
}
