//! Writing what a pod gets into its resource claims, before the bind.
//!
//! Each claim is read, and replaced at the version that was read: nobody's devices are overwritten. A crash between
//! this and the bind leaves a claim that is allocated and reserved for its pod: the pod goes to that node then, and
//! when the pod is deleted Kubernetes takes both back. Source: docs/contract.md 4.4, `dynamicresources`.

use std::time::Duration;

use http::Method;
use kai_daemon::backoff;
use kai_daemon::clock;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Write, until_next_look};
use crate::server::call::{Failure, Form, call, read};

/// Nobody deletes a claim that has devices.
pub(super) const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// Sets how long devices may take to be ready. Source: the scheduler of Kubernetes, `bindingTimeout`.
const READY_WITHIN: Duration = Duration::from_mins(10);
/// Sets how often a claim is read again that others write too.
const ATTEMPTS_MAX: u32 = 8;

/// Holds what one claim of a pod is to hold.
#[derive(Clone, Debug)]
pub struct ClaimGrant {
    /// Its path.
    pub path: Box<str>,
    /// Its UID: for another claim of its name these devices were not chosen.
    pub uid: Box<str>,
    /// Its devices, its node and what classes configure, as `status.allocation`; none where others write it, or it has one.
    pub allocation: Option<Value>,
}

/// For whom claims are reserved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consumer<'a> {
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
}

/// A claim on its way to be a pod's, and what becomes of it where the pod is not bound.
#[derive(Debug)]
pub(super) struct Reservation<'g> {
    grant: &'g ClaimGrant,
    /// Its devices have to be made ready before the bind.
    awaits_conditions: bool,
}

impl ClaimGrant {
    /// Tells whether its devices have to be made ready before the bind.
    pub(super) fn awaits_conditions(&self) -> bool {
        self.allocation.as_ref().is_some_and(awaits_conditions)
    }

    fn failed(&self, reason: &str) -> String {
        format!("failed to reserve the resource claim {}: {reason}", self.name())
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The claim; none where another has its name.
    async fn find(&self, client: &Client) -> Result<Option<Value>, Failure> {
        let bytes = read(client, &self.path).await?;
        // Parameters for drivers may be nested deeper than is read: asking again gives the same.
        let claim: Value = serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("it cannot be read: {error}");
            Failure::Refused { code: 422, message }
        })?;
        Ok((claim["metadata"]["uid"] == *self.uid).then_some(claim))
    }

    /// The claim, as long as a pod may use it.
    async fn read(&self, client: &Client) -> Result<Value, Failure> {
        let refused =
            |message: &str| Err(Failure::Refused { code: 422, message: String::from(message) });
        match self.find(client).await? {
            None => refused("it was replaced by another"),
            Some(claim) if !claim["metadata"]["deletionTimestamp"].is_null() => {
                refused("it is being deleted")
            }
            Some(claim) => Ok(claim),
        }
    }
}

impl<'g> Reservation<'g> {
    /// Nothing is written yet.
    pub(super) fn new(grant: &'g ClaimGrant) -> Self {
        Self { grant, awaits_conditions: false }
    }

    /// Gives the claim its devices, where it has none, and reserves it for the pod. What fails is not tried again once the
    /// scheduler ends.
    pub(super) async fn make(
        &mut self,
        write: &Write,
        consumer: Consumer<'_>,
    ) -> Result<(), String> {
        let mut last = String::new();
        for attempt in 1..=ATTEMPTS_MAX {
            match self.try_make(write, consumer).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(Failure::Refused { code: 409, message } | Failure::Unsure(message)) => {
                    last = message;
                    let pause = sleep(backoff(attempt));
                    if write.stop.run_until_cancelled(pause).await.is_none() {
                        break;
                    }
                }
                Err(Failure::Refused { message, .. }) => return Err(self.grant.failed(&message)),
                Err(Failure::Lost(lost)) => return Err(self.grant.failed(&lost.to_string())),
            }
        }
        Err(self.grant.failed(&last))
    }

    /// One attempt; false where only the finalizer was added.
    async fn try_make(&mut self, write: &Write, consumer: Consumer<'_>) -> Result<bool, Failure> {
        let grant = self.grant;
        let mut claim = grant.read(&write.client).await?;
        let mut gives = false;
        if claim["status"]["allocation"].is_null() {
            if let Some(allocation) = &grant.allocation {
                if add_finalizer(&mut claim) {
                    call(write, Method::PUT, &grant.path, Form::Object, &claim).await?;
                    return Ok(false);
                }
                claim["status"]["allocation"] = with_claim_config(allocation, &claim);
                if awaits_conditions(allocation) {
                    let now = clock::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
                    claim["status"]["allocation"]["allocationTimestamp"] = json!(now);
                }
                gives = true;
            }
        } else if !same_devices(&claim["status"]["allocation"], grant.allocation.as_ref()) {
            let message = String::from("it was given other devices meanwhile");
            return Err(Failure::Refused { code: 422, message });
        }
        self.awaits_conditions = awaits_conditions(&claim["status"]["allocation"]);
        if !reserve_for(&mut claim, consumer) && !gives {
            return Ok(true);
        }
        // A lost answer may have been a yes: the next attempt finds the devices there then.
        let path = format!("{}/status", grant.path);
        call(write, Method::PUT, &path, Form::Object, &claim).await.map(|_| true)
    }

    /// Takes the reservation back, and the devices where nobody else has them, whoever gave them: those of a claim without
    /// consumers would be nobody's on any account. What fails is tried again until the scheduler ends: whoever leads next finds
    /// the claim as after a crash, and does not wait for it.
    pub(super) async fn release(&self, write: &Write, consumer: Consumer<'_>) {
        for attempt in 1..=ATTEMPTS_MAX {
            match self.try_release(write, consumer).await {
                Ok(()) | Err(Failure::Lost(_) | Failure::Refused { code: 404, .. }) => return,
                Err(failure) => {
                    let claim = self.grant.name();
                    tracing::warn!(claim, %failure, "failed to release a resource claim");
                    if matches!(failure, Failure::Refused { code: 422, .. }) {
                        // It is as it was: what is wrong with it stays.
                        return;
                    }
                    let pause = sleep(backoff(attempt));
                    if write.stop.run_until_cancelled(pause).await.is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// One attempt. A claim that is being deleted is released like any other: it cannot go before.
    async fn try_release(&self, write: &Write, consumer: Consumer<'_>) -> Result<(), Failure> {
        let Some(mut claim) = self.grant.find(&write.client).await? else { return Ok(()) };
        if !withdraw(&mut claim, consumer) {
            return Ok(());
        }
        let path = format!("{}/status", self.grant.path);
        call(write, Method::PUT, &path, Form::Object, &claim).await.map(drop)
    }

    /// Waits until the conditions hold that devices of the claim set for a bind.
    ///
    /// # Source
    /// KEP-5007, and the API's `bindingConditions`.
    pub(super) async fn settled(
        &self,
        write: &Write,
        consumer: Consumer<'_>,
    ) -> Result<(), String> {
        if !self.awaits_conditions {
            return Ok(());
        }
        let begun = Instant::now();
        loop {
            match self.grant.read(&write.client).await {
                Ok(claim) => match readiness(&claim, consumer) {
                    Readiness::Ready => return Ok(()),
                    Readiness::Waits => {}
                    Readiness::Failed(what) => return Err(self.grant.failed(&what)),
                },
                Err(Failure::Refused { message, .. }) => return Err(self.grant.failed(&message)),
                Err(Failure::Unsure(_) | Failure::Lost(_)) => {}
            }
            if begun.elapsed() > READY_WITHIN {
                let seconds = READY_WITHIN.as_secs();
                let reason = format!("its devices were not ready within {seconds}s");
                return Err(self.grant.failed(&reason));
            }
            tokio::select! {
                biased;
                () = write.stop.cancelled() => return Err(self.grant.failed("the scheduler ends")),
                () = sleep(until_next_look(begun.elapsed())) => {}
            }
        }
    }
}

/// Tells whether some device of an allocation sets conditions for a bind.
fn awaits_conditions(allocation: &Value) -> bool {
    let results = allocation["devices"]["results"].as_array().into_iter().flatten();
    results.into_iter().any(|one| one["bindingConditions"].is_array())
}

/// Says how the conditions stand that devices of a claim set for a bind.
#[derive(Debug, PartialEq, Eq)]
enum Readiness {
    /// All hold.
    Ready,
    /// One does not hold yet.
    Waits,
    /// One that must not hold does, or the devices are the pod's no longer.
    Failed(String),
}

fn readiness(claim: &Value, consumer: Consumer<'_>) -> Readiness {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let status = &claim["status"];
    if status["allocation"].is_null() {
        return Readiness::Failed(String::from("its devices were taken back"));
    }
    if !list(&status["reservedFor"]).iter().any(|one| one["uid"] == consumer.uid) {
        return Readiness::Failed(String::from("it is not reserved for the pod any more"));
    }
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

/// Adds the finalizer; tells whether it was missing.
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

/// Makes the pod a consumer; tells whether it was none yet.
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

/// Makes the pod no consumer, and devices without consumers nobody's; tells whether it was one.
fn withdraw(claim: &mut Value, consumer: Consumer<'_>) -> bool {
    let Some(reserved) = claim["status"]["reservedFor"].as_array_mut() else { return false };
    let count = reserved.len();
    reserved.retain(|one| one["uid"] != consumer.uid);
    let was_one = reserved.len() < count;
    if was_one && reserved.is_empty() {
        claim["status"]["allocation"] = Value::Null;
    }
    was_one
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

/// Tells whether an allocation is of the devices that were meant.
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
                "reservedFor": [{ "resource": "pods", "name": "p", "uid": "u" }],
                "allocation": { "devices": { "results": [
                    { "driver": "d", "pool": "p", "device": "0" },
                    { "driver": "d", "pool": "p", "device": "1", "bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"] },
                ] } },
                "devices": [{ "driver": "d", "pool": "p", "device": "1", "conditions": conditions }],
            } })
        };
        let ours = Consumer { name: "p", uid: "u" };
        let check = |conditions: Value, expect: Readiness| {
            assert_eq!(readiness(&claim(conditions), ours), expect);
        };
        check(json!([]), Readiness::Waits);
        check(json!([{ "type": "Attached", "status": "False" }]), Readiness::Waits);
        check(json!([{ "type": "Attached", "status": "True" }]), Readiness::Ready);
        let broken = String::from("its device 1 has the condition Broken");
        let both = json!([{ "type": "Attached", "status": "True" }, { "type": "Broken", "status": "True" }]);
        check(both, Readiness::Failed(broken));
        let mut taken = claim(json!([{ "type": "Attached", "status": "True" }]));
        let other = Consumer { name: "p", uid: "v" };
        let lost = String::from("it is not reserved for the pod any more");
        assert_eq!(readiness(&taken, other), Readiness::Failed(lost));
        taken["status"]["allocation"] = Value::Null;
        let lost = String::from("its devices were taken back");
        assert_eq!(readiness(&taken, ours), Readiness::Failed(lost));
        assert!(awaits_conditions(&claim(json!([]))["status"]["allocation"]));
        assert!(!awaits_conditions(&json!({ "devices": { "results": [{ "device": "0" }] } })));
    }

    /// Claims may share a device, each with conditions of its own.
    #[test]
    fn the_conditions_of_another_share_of_a_device_say_nothing() {
        let share = |id: &str| json!({ "driver": "d", "pool": "p", "device": "0", "shareID": id });
        let mut result = share("ours");
        result["bindingConditions"] = json!(["Attached"]);
        let mut other = share("other");
        other["conditions"] = json!([{ "type": "Attached", "status": "True" }]);
        let mut claim = json!({ "status": {
            "reservedFor": [{ "resource": "pods", "name": "p", "uid": "u" }],
            "allocation": { "devices": { "results": [result] } },
            "devices": [other],
        } });
        let consumer = Consumer { name: "p", uid: "u" };
        assert_eq!(readiness(&claim, consumer), Readiness::Waits);
        claim["status"]["devices"][0]["shareID"] = json!("ours");
        assert_eq!(readiness(&claim, consumer), Readiness::Ready);
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
        for (driver, pool, device) in [("d", "n", "1"), ("d", "m", "0"), ("e", "n", "0")] {
            let other = json!({ "devices": { "results": [{ "driver": driver, "pool": pool, "device": device }] } });
            assert!(!same_devices(&whole, Some(&other)), "{driver}/{pool}/{device}");
        }
        assert!(same_devices(&whole, None));
    }

    #[test]
    fn devices_go_with_the_last_consumer() {
        // Consumers before, and what is left: consumers, and whether there are devices.
        let check = |uids: &[&str], expect: Option<(&[&str], bool)>| {
            let list =
                |uids: &[&str]| -> Value { uids.iter().map(|uid| json!({ "uid": uid })).collect() };
            let mut claim = json!({ "status": { "allocation": {}, "reservedFor": list(uids) } });
            let was_one = withdraw(&mut claim, Consumer { name: "p", uid: "u" });
            let left = was_one.then(|| claim["status"].clone());
            let expect = expect.map(|(uids, has_devices)| {
                let devices = if has_devices { json!({}) } else { Value::Null };
                json!({ "allocation": devices, "reservedFor": list(uids) })
            });
            assert_eq!(left, expect, "{uids:?}");
        };
        check(&[], None);
        check(&["other"], None);
        check(&["u"], Some((&[], false)));
        check(&["u", "other"], Some((&["other"], true)));
    }
}
