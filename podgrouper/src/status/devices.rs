//! GPUs of a pod that only other objects tell of: its node, and its claims.

use std::sync::Arc;

use kai_api::names::node;
use kai_api::quantity::Quantity;
use kai_api::shared_gpu::device_memory_mib;
use serde_json::Value;

use super::late::Findings;
use super::totals::{Totals, times};
use super::unplanned::Holdings;
use super::usage::Usage;
use crate::cache::{Cache, Found, ObjectKey, Part};
use crate::object::{Gvk, Object};
use crate::store::Store;
use crate::walk::is_unserved;

/// Versions of the claims' API, the newest first.
const CLAIM_VERSIONS: [&str; 3] = ["v1", "v1beta2", "v1beta1"];

/// The most devices that a claim may be given. Source: the API's `AllocationResultsMaxSize`.
const DEVICES_MAX: i64 = 32;

/// Objects that may still be asked for, and what was found out of them.
#[derive(Debug)]
pub(crate) struct Reads {
    /// Number of claims, and of nodes on which pods were put past the scheduler.
    pub(crate) left: usize,
    /// A node that tells how much a pod has of it was not there, or does not say it.
    pub(crate) lacks_node: bool,
    /// Claims were left out, as no more might be asked for.
    pub(crate) lacks_claims: bool,
    /// Nothing more may be remembered for a later pass: what may not be asked for any more is left out.
    pub(super) is_last: bool,
    /// Holdings of pods that were put on nodes past the scheduler, for as long as a pass takes.
    pub(super) holdings: Holdings,
    /// All that was asked for, in this pass and those before it in which no more might be.
    pub(super) findings: Findings,
}

impl Reads {
    /// So many.
    pub(crate) fn new(left: usize) -> Self {
        Self {
            left,
            lacks_node: false,
            lacks_claims: false,
            is_last: false,
            holdings: Holdings::default(),
            findings: Findings::default(),
        }
    }
}

/// Looks such objects up.
#[derive(Clone)]
pub(crate) struct Devices {
    pub(super) cache: Cache,
    pub(super) store: Arc<Store>,
}

/// The key of a node.
pub(super) fn node_key(name: &str) -> ObjectKey {
    ObjectKey { gvk: Gvk::new("v1", "Node"), namespace: String::new(), name: name.to_owned() }
}

impl Devices {
    pub(crate) fn new(cache: Cache, store: Arc<Store>) -> Self {
        Self { cache, store }
    }

    /// Memory of shared devices as part of the node's devices; none where the node is not there or does not say how large they
    /// are, which `reads` notes.
    pub(crate) async fn share(
        &self,
        usage: &Usage,
        reads: &mut Reads,
    ) -> Result<Option<Quantity>, kube::Error> {
        let Some(share) = &usage.memory_share else { return Ok(None) };
        let node = self.node(&share.node).await?;
        let label = node.as_ref().and_then(|node| node.label(node::GPU_MEMORY));
        let device_mib = label.and_then(device_memory_mib).map(i64::from).filter(|mib| *mib > 0);
        let Some(device_mib) = device_mib else {
            reads.lacks_node = true;
            return Ok(None);
        };
        let thousandths = share.mib.checked_mul(1_000).and_then(|all| all.checked_div(device_mib));
        Ok(thousandths.and_then(|part| times(Quantity::from_milli(part), share.devices)))
    }

    /// The metadata of a node; none where it is not there, or may not be read.
    pub(crate) async fn node(&self, name: &str) -> Result<Option<Arc<Object>>, kube::Error> {
        self.node_part(name, Part::Metadata).await
    }

    /// A part of a node; none where it is not there, or may not be read.
    pub(super) async fn node_part(
        &self,
        name: &str,
        part: Part,
    ) -> Result<Option<Arc<Object>>, kube::Error> {
        match self.cache.read(&node_key(name), part).await {
            Ok(Found::Object(node)) => Ok(Some(node)),
            Ok(Found::Absent | Found::Forbidden(_) | Found::TooLarge(_)) => Ok(None),
            Err(error) if is_unserved(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Devices of the claims that a pod names, by class. Those that stand for an extended resource it names in its status alone.
    /// None where more of them would have to be asked for than may be, unless they are to be left out then, which `reads` notes.
    pub(crate) async fn claimed(
        &self,
        namespace: &str,
        usage: &Usage,
        reads: &mut Reads,
    ) -> Result<Option<Totals>, kube::Error> {
        let mut devices = Totals::default();
        for name in &usage.claims {
            let given = self.claim(namespace, name, reads).await?;
            match given {
                Some(given) => devices.add(&given),
                None if reads.is_last => reads.lacks_claims = true,
                None => return Ok(None),
            }
        }
        Ok(Some(devices))
    }

    /// Devices of a claim, none of one that is not there; nothing where it would have to be asked for, and may not.
    async fn claim(
        &self,
        namespace: &str,
        name: &str,
        reads: &mut Reads,
    ) -> Result<Option<Totals>, kube::Error> {
        if let Some(found) = reads.findings.claims.get(name) {
            return Ok(Some(found.clone()));
        }
        let keys = CLAIM_VERSIONS.map(|version| ObjectKey {
            gvk: Gvk::new(&format!("resource.k8s.io/{version}"), "ResourceClaim"),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        });
        for key in &keys {
            if let Some(Found::Object(claim)) = self.cache.remembered(key, Part::Whole).await {
                return Ok(Some(claim_devices(claim.value())));
            }
        }
        let Some(left) = reads.left.checked_sub(1) else { return Ok(None) };
        reads.left = left;
        let found = self.ask_for_claim(&keys).await?;
        reads.findings.claims.insert(name.to_owned(), found.clone());
        Ok(Some(found))
    }

    /// Reads devices of the claim that has one of these keys.
    async fn ask_for_claim(&self, keys: &[ObjectKey]) -> Result<Totals, kube::Error> {
        for key in keys {
            match self.cache.read(key, Part::Whole).await {
                Ok(Found::Object(claim)) => return Ok(claim_devices(claim.value())),
                Ok(Found::Absent | Found::Forbidden(_) | Found::TooLarge(_)) => break,
                // This version is not.
                Err(error) if is_unserved(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Totals::default())
    }
}

/// Devices of a claim by class; only classes of GPUs count, and of others the GPUs that it was given, by their driver. Who looks
/// after devices whoever has them (`adminAccess`) has none itself, as the scheduler has it.
fn claim_devices(claim: &Value) -> Totals {
    let mut totals = Totals::default();
    let mut left = DEVICES_MAX;
    let mut add = |name: &str, count: i64| {
        let count = count.clamp(0, left);
        left -= count;
        totals.add_one(name, Quantity::from_value(count));
    };
    for request in list(&claim["spec"]["devices"]["requests"]) {
        let exact = if request["exactly"].is_object() { &request["exactly"] } else { request };
        let exact = exact["firstAvailable"].get(0).unwrap_or(exact);
        let Some(class) = exact["deviceClassName"].as_str() else { continue };
        if exact["adminAccess"] == true {
            continue;
        }
        if is_gpu_class(class) {
            let is_all = exact["allocationMode"] == "All";
            add(class, if is_all { 1 } else { exact["count"].as_i64().unwrap_or(1) });
            continue;
        }
        for given in list(&claim["status"]["allocation"]["devices"]["results"]) {
            let of = given["request"].as_str().unwrap_or_default().split('/').next();
            let driver = given["driver"].as_str().filter(|driver| is_gpu_class(driver));
            if let Some(driver) = driver.filter(|_| of == request["name"].as_str()) {
                add(driver, 1);
            }
        }
    }
    totals
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[][..], Vec::as_slice)
}

/// Tells whether this is the name of a GPU class or driver. Source: docs/behaviour.md 13.1.
pub(crate) fn is_gpu_class(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gpu")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::claim_devices;

    #[test]
    fn a_claim_is_as_many_devices_of_a_class_as_it_asks_for_first() {
        let class = "gpu.example.com";
        let claim = json!({"spec": {"devices": {"requests": [
            {"name": "some", "exactly": {"deviceClassName": class, "count": 3}},
            {"name": "one", "exactly": {"deviceClassName": class}},
            {"name": "all", "exactly": {"deviceClassName": class, "allocationMode": "All"}},
            {"name": "first", "firstAvailable": [
                {"name": "large", "deviceClassName": "GPU-80", "count": 2},
                {"name": "small", "deviceClassName": class, "count": 7},
            ]},
            // Claims of earlier versions have it all in one place.
            {"name": "flat", "deviceClassName": class, "count": 4},
            {"name": "monitor", "exactly": {"deviceClassName": class, "count": 8, "adminAccess": true}},
            {"name": "other", "exactly": {"deviceClassName": "nic.example.com", "count": 8}},
        ]}}});
        assert_eq!(claim_devices(&claim).to_value(), json!({class: "9", "GPU-80": "2"}));
    }

    #[test]
    fn a_claim_has_the_gpus_that_it_was_given() {
        let request = |name: &str, admin: bool| json!({"name": name, "exactly": {"deviceClassName": "mig.example.com", "adminAccess": admin}});
        let given = |request: &str, driver: &str| json!({"request": request, "driver": driver, "device": "0"});
        let results = [
            given("part/large", "gpu.example.com"),
            given("part", "gpu.example.com"),
            given("part", "nic.example.com"),
            given("watch", "gpu.example.com"),
        ];
        let claim = json!({
            "spec": {"devices": {"requests": [request("part", false), request("watch", true)]}},
            "status": {"allocation": {"devices": {"results": results}}},
        });
        assert_eq!(claim_devices(&claim).to_value(), json!({"gpu.example.com": "2"}));
    }

    #[test]
    fn a_claim_is_no_more_devices_than_one_may_have() {
        let request = json!({"name": "r", "exactly": {"deviceClassName": "gpu", "count": 60_000}});
        let claim = json!({"spec": {"devices": {"requests": [request, request]}}});
        assert_eq!(claim_devices(&claim).to_value(), json!({"gpu": "32"}));
    }
}
