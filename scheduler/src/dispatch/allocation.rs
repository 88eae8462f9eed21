//! Devices that a plan gives to a claim, as the claim's `status.allocation`.
//!
//! # Source
//! The API's `AllocationResult` and `DeviceRequestAllocationResult`.

use kai_api::quantity::Quantity;
use kai_engine::{Claimed, SliceDeviceId};
use serde_json::{Map, Value, json};

use super::Seat;
use crate::names::{AskedFor, Names, Number, SpecialDevice};

/// Devices as `status.allocation` of a claim of a pod on a node, with what their classes configure.
pub(super) fn allocation(claim: u32, seat: Seat, held: &[&Claimed], names: &Names) -> Value {
    let asked = &names.claims[claim].asked;
    let mut config = Vec::new();
    let mut configured: Vec<u16> = Vec::new();
    let mut results: Vec<Value> = Vec::with_capacity(held.len());
    for claimed in held {
        let of = asked.get(usize::from(claimed.request));
        if let Some(of) = of
            && !configured.contains(&claimed.request)
        {
            configured.push(claimed.request);
            for entry in names.device_configs.get(&of.class).into_iter().flatten() {
                let mut entry = entry.clone();
                entry["source"] = json!("FromClass");
                entry["requests"] = json!([of.request]);
                config.push(entry);
            }
        }
        results.push(result(claim, seat.pod, claimed, of, names));
    }
    let mut devices = json!({ "results": results });
    if !config.is_empty() {
        devices["config"] = json!(config);
    }
    let mut allocation = json!({ "devices": devices });
    if let Some(selector) = node_selector(seat.node, held, names) {
        allocation["nodeSelector"] = selector;
    }
    allocation
}

/// One device.
fn result(claim: u32, pod: u32, claimed: &Claimed, of: Option<&AskedFor>, names: &Names) -> Value {
    let request = of.map_or("", |of| &*of.request);
    let [driver, pool, device] = device_names(claimed.device, names);
    let mut result =
        json!({ "request": request, "driver": driver, "pool": pool, "device": device });
    let is_admin = of.is_some_and(|of| of.admin);
    if is_admin {
        result["adminAccess"] = json!(true);
    }
    if let Some(of) = of.filter(|of| !of.tolerations.is_empty()) {
        result["tolerations"] = json!(of.tolerations);
    }
    let Some(special) = special(claimed.device, names) else { return result };
    if !special.binding_conditions.is_empty() {
        result["bindingConditions"] = json!(special.binding_conditions);
        result["bindingFailureConditions"] = json!(special.binding_failure_conditions);
    }
    if let Some(shares) = special.shares.as_ref().filter(|_| !is_admin) {
        let taken = shares.iter().find(|(class, _)| of.is_some_and(|of| of.selection == *class));
        let amounts = taken.into_iter().flat_map(|(_, amounts)| amounts);
        let amount = |(name, milli): &(Box<str>, i64)| {
            (name.to_string(), json!(Quantity::from_milli(*milli).to_string()))
        };
        result["consumedCapacity"] = Value::Object(amounts.map(amount).collect::<Map<_, _>>());
        // The same for the same pod and claim in every process, so that a write that is repeated changes nothing.
        let uid = &names.claims[claim].uid;
        let share = format!("{}/{uid}/{request}/{device}", names.pods.key(pod));
        let share = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, share.as_bytes());
        result["shareID"] = json!(share.to_string());
    }
    result
}

fn special(device: SliceDeviceId, names: &Names) -> Option<&SpecialDevice> {
    names.slice_devices.row(device.number())?.special.as_deref()
}

/// Finds from which nodes devices can be used; none: from all. Those of one node, and those that bind their claim, are of
/// the pod's.
fn node_selector(node: u32, held: &[&Claimed], names: &Names) -> Option<Value> {
    let bound = || {
        let name = &**names.nodes.key(node);
        let field = json!({ "key": "metadata.name", "operator": "In", "values": [name] });
        json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] })
    };
    let mut terms: Vec<&Value> = Vec::new();
    for claimed in held {
        let reach = special(claimed.device, names).and_then(|special| special.reach);
        let Some(reach) = reach else { return Some(bound()) };
        let Some(selector) = &names.reaches[reach].selector else { continue };
        // The API has one term in the selector of a slice; what has to hold for several is one term as well.
        let [term] = selector["nodeSelectorTerms"].as_array().map_or(&[][..], Vec::as_slice) else {
            return Some(bound());
        };
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    let mut all = Map::new();
    for part in ["matchExpressions", "matchFields"] {
        let entries = terms.iter().flat_map(|term| term[part].as_array().into_iter().flatten());
        let entries: Vec<&Value> = entries.collect();
        if !entries.is_empty() {
            all.insert(String::from(part), json!(entries));
        }
    }
    (!terms.is_empty()).then(|| json!({ "nodeSelectorTerms": [all] }))
}

/// Driver, pool and name of a device.
pub(super) fn device_names(device: SliceDeviceId, names: &Names) -> [&str; 3] {
    let key = names.slice_devices.key(device.number());
    // Neither a driver nor a device has a slash in its name; a pool may.
    let (driver, rest) = key.split_once('/').unwrap_or_default();
    let (pool, device) = rest.rsplit_once('/').unwrap_or_default();
    [driver, pool, device]
}

#[cfg(test)]
mod tests {
    use kai_engine::ClaimId;

    use super::*;

    /// Says how the share is called that a claim gets, where so many claims were known before.
    fn share_id(uid: &str, before: usize) -> Value {
        let mut names = Names::new();
        for number in 0..before {
            names.claim("ml", &format!("before-{number}"));
        }
        let claim = names.claim("ml", "c").number();
        names.claims[claim].uid = Box::from(uid);
        let asked = AskedFor { request: Box::from("r"), ..AskedFor::default() };
        names.claims[claim].asked = vec![asked];
        let (pod, node) = (names.pods.intern("p"), names.nodes.intern("n1"));
        let device = names.slice_devices.intern("d/n1/0");
        let shares = Some(vec![(0, vec![(Box::from("memory"), 1000)])]);
        let special = SpecialDevice { shares, ..SpecialDevice::default() };
        names.slice_devices[device].special = Some(Box::new(special));
        let claim_id = Some(ClaimId::new(claim));
        let held = Claimed { claim: claim_id, request: 0, device: SliceDeviceId::new(device) };
        allocation(claim, Seat { pod, node }, &[&held], &names)["devices"]["results"][0]["shareID"]
            .clone()
    }

    #[test]
    fn a_share_is_called_after_its_claim_in_every_process() {
        assert!(share_id("u", 0).is_string());
        assert_eq!(share_id("u", 0), share_id("u", 3));
        assert_ne!(share_id("u", 0), share_id("v", 0));
    }

    /// Says what a claim that asks like this gets of devices, one of each of these reaches.
    fn given(asked: AskedFor, reaches: &[u32], names: &mut Names) -> Value {
        let claim = names.claim("ml", "c").number();
        names.claims[claim].asked = vec![asked];
        let (pod, node) = (names.pods.intern("p"), names.nodes.intern("n1"));
        let claim_id = Some(ClaimId::new(claim));
        let mut held = Vec::new();
        for (at, reach) in reaches.iter().enumerate() {
            let device = names.slice_devices.intern(&format!("d/n1/{at}"));
            let special = SpecialDevice { reach: Some(*reach), ..SpecialDevice::default() };
            names.slice_devices[device].special = Some(Box::new(special));
            let device = SliceDeviceId::new(device);
            held.push(Claimed { claim: claim_id, request: 0, device });
        }
        allocation(claim, Seat { pod, node }, &held.iter().collect::<Vec<_>>(), names)
    }

    /// Pods are evicted from tainted devices by what the allocations of their claims say that they tolerate.
    #[test]
    fn devices_come_with_what_their_claim_tolerates() {
        let tolerations = vec![json!({ "key": "broken", "operator": "Exists" })];
        for admin in [false, true] {
            let asked = AskedFor { admin, tolerations: tolerations.clone(), ..AskedFor::default() };
            let mut names = Names::new();
            let everywhere = names.reaches.intern("");
            let given = given(asked, &[everywhere], &mut names);
            assert_eq!(given["devices"]["results"][0]["tolerations"], json!(tolerations));
        }
    }

    /// A node of the claim has to reach all of its devices.
    #[test]
    fn nodes_have_to_reach_every_device_of_a_claim() {
        let mut names = Names::new();
        let wants = |key: &str| json!({ "key": key, "operator": "In", "values": ["a"] });
        let reaches = ["rack", "switch"].map(|key| {
            let reach = names.reaches.intern(key);
            let term = json!({ "matchExpressions": [wants(key)] });
            names.reaches[reach].selector = Some(json!({ "nodeSelectorTerms": [term] }));
            reach
        });
        let given = given(AskedFor::default(), &reaches, &mut names);
        let both = json!({ "matchExpressions": [wants("rack"), wants("switch")] });
        assert_eq!(given["nodeSelector"], json!({ "nodeSelectorTerms": [both] }));
    }
}
