//! `ResourceClaim`, of `resource.k8s.io` v1, v1beta2 and v1beta1.

use kai_api::names::label;
use kai_engine::{
    Allocation, Claim, ClaimId, DeviceCount, DeviceMatch, DeviceRequest, SliceDeviceId,
};
use serde::Deserialize;

use super::{Delta, Ingest, Kind, catalog};
use crate::{
    names::{AskedFor, Number},
    wire::{Meta, Text, null_as_default},
};

/// Which entry of its pod a claim was made for from a template.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";
/// The most consumers of a claim. Source: the API's `ResourceClaimReservedForMaxSize`.
const CONSUMERS_MAX: usize = 256;
/// A claim for extended resources, made by a scheduler.
const EXTENDED: &str = "resource.kubernetes.io/extended-resource-claim";

#[derive(Deserialize, Debug)]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Spec<'a>,
    #[serde(borrow, default)]
    status: Status<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Spec<'a> {
    #[serde(borrow)]
    devices: Devices<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Devices<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    requests: Vec<Request<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    constraints: Vec<Constraint<'a>>,
}

/// A request; v1beta1 has the fields of `exactly` in the request itself.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Request<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    exactly: Option<Exactly<'a>>,
    #[serde(deserialize_with = "null_as_default")]
    first_available: Vec<serde::de::IgnoredAny>,
    #[serde(borrow)]
    device_class_name: Text<'a>,
    #[serde(deserialize_with = "null_as_default")]
    selectors: Vec<WireSelector>,
    #[serde(borrow)]
    allocation_mode: Text<'a>,
    count: Option<i64>,
    admin_access: Option<bool>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Exactly<'a> {
    #[serde(borrow)]
    device_class_name: Text<'a>,
    #[serde(deserialize_with = "null_as_default")]
    selectors: Vec<WireSelector>,
    #[serde(borrow)]
    allocation_mode: Text<'a>,
    count: Option<i64>,
    admin_access: Option<bool>,
    capacity: Option<serde::de::IgnoredAny>,
}

/// A selector of a class or a request.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct WireSelector {
    cel: Option<Cel>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Cel {
    expression: Box<str>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Constraint<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    requests: Vec<Text<'a>>,
    #[serde(borrow)]
    match_attribute: Option<Text<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    allocation: Option<WireAllocation<'a>>,
    #[serde(deserialize_with = "null_as_default")]
    reserved_for: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct WireAllocation<'a> {
    #[serde(borrow)]
    devices: Results<'a>,
    #[serde(borrow)]
    node_selector: Option<NodeSelector<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Results<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    results: Vec<Given<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Given<'a> {
    #[serde(borrow)]
    request: Text<'a>,
    #[serde(borrow)]
    driver: Text<'a>,
    #[serde(borrow)]
    pool: Text<'a>,
    #[serde(borrow)]
    device: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct NodeSelector<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    node_selector_terms: Vec<Term<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Term<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    match_fields: Vec<Field<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Field<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    values: Vec<Text<'a>>,
}

/// The expressions of selectors.
pub(super) fn expressions(selectors: &[WireSelector]) -> Vec<Box<str>> {
    selectors.iter().filter_map(|one| Some(one.cel.as_ref()?.expression.clone())).collect()
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let meta = &wire.metadata;
    let id = ingest.names.claim(&meta.namespace, &meta.name);
    let (facts, asked) = facts(ingest, wire);
    let mut presence = ingest.names.claims[id.number()].presence;
    ingest.seen(Kind::ResourceClaim, &mut presence);
    refer(ingest, id.number(), &facts);
    let row = &mut ingest.names.claims[id.number()];
    row.presence = presence;
    row.asked = asked;
    ingest.deltas.push(Delta::Claim(id, Box::new(facts)));
    meta.resource_version.to_string()
}

pub(super) fn gone(ingest: &mut Ingest, row: u32) {
    let Some(claim) = ingest.names.claims.row(row) else { return };
    let presence = claim.presence;
    refer(ingest, row, &Claim::default());
    if presence.is_there {
        ingest.names.claims[row].presence.is_there = false;
        ingest.deltas.push(Delta::ClaimGone(ClaimId::new(row)));
    }
    if presence.references == 0 {
        ingest.names.claims.remove(row);
    }
}

/// Moves the references of a claim's row to its node and queue.
fn refer(ingest: &mut Ingest, row: u32, facts: &Claim) {
    let node = facts.allocation.as_ref().and_then(|given| given.node).map(Number::number);
    let queue = facts.queue.map(Number::number);
    let (old_node, old_queue) = (ingest.names.claims[row].node, ingest.names.claims[row].queue);
    if node != old_node {
        if let Some(new) = node {
            ingest.names.nodes[new].presence.references += 1;
        }
        if let Some(old) = old_node {
            super::let_go_of_node(ingest, old);
        }
    }
    if queue != old_queue {
        if let Some(new) = queue {
            ingest.names.queues[new].presence.references += 1;
        }
        if let Some(old) = old_queue {
            super::queue::release(ingest, old);
        }
    }
    let claim = &mut ingest.names.claims[row];
    (claim.node, claim.queue) = (node, queue);
}

fn facts(ingest: &mut Ingest, wire: &Wire<'_>) -> (Claim, Vec<AskedFor>) {
    let meta = &wire.metadata;
    let devices = &wire.spec.devices;
    let mut claim = Claim {
        own: meta.annotations.value(POD_CLAIM_NAME).is_some(),
        synthetic: meta.annotations.value(EXTENDED) == Some("true"),
        queue: meta.labels.value(label::QUEUE).map(|queue| ingest.names.queue(queue)),
        full: wire.status.reserved_for.len() >= CONSUMERS_MAX,
        ..Claim::default()
    };
    claim.own |= claim.synthetic;
    let mut asked = Vec::new();
    for request in &devices.requests {
        claim.unsupported |= !request.is_supported();
        let class = request.class();
        let selectors = expressions(request.selectors());
        claim.requests.push(DeviceRequest {
            class: catalog::selection(ingest, class, selectors),
            count: request.device_count(),
            gpu: request.first_available.is_empty() && catalog::is_gpu(class),
        });
        asked.push(AskedFor { request: Box::from(&*request.name), class: Box::from(class) });
    }
    for constraint in &devices.constraints {
        let Some(attribute) = &constraint.match_attribute else {
            claim.unsupported = true;
            continue;
        };
        ingest.catalog.want_attribute(attribute);
        let requests = constraint.requests.iter().filter_map(|name| position(devices, name));
        let requests = requests.collect();
        let attribute = ingest.names.symbol(attribute);
        claim.matches.push(DeviceMatch { requests, attribute });
    }
    claim.allocation =
        wire.status.allocation.as_ref().map(|given| allocation(ingest, devices, given));
    (claim, asked)
}

fn position(devices: &Devices<'_>, name: &str) -> Option<u16> {
    let at = devices.requests.iter().position(|request| *request.name == *name)?;
    u16::try_from(at).ok()
}

fn allocation(ingest: &mut Ingest, devices: &Devices<'_>, wire: &WireAllocation<'_>) -> Allocation {
    let fields = wire.node_selector.iter().flat_map(|selector| &selector.node_selector_terms);
    let mut fields = fields.flat_map(|term| &term.match_fields);
    let name = fields.find(|field| &*field.key == "metadata.name");
    let node = name.and_then(|field| field.values.first()).map(|node| ingest.names.node(node));
    let device = |given: &Given<'_>| {
        // A request with alternatives names the one that was taken behind a slash.
        let request = given.request.split('/').next().unwrap_or_default();
        let key = format!("{}/{}/{}", given.driver, given.pool, given.device);
        let id = SliceDeviceId::new(ingest.names.slice_devices.intern(&key));
        (position(devices, request).unwrap_or(0), id)
    };
    Allocation { node, devices: wire.devices.results.iter().map(device).collect() }
}

impl Request<'_> {
    fn class(&self) -> &str {
        self.exactly.as_ref().map_or(&self.device_class_name, |exactly| &exactly.device_class_name)
    }

    fn selectors(&self) -> &[WireSelector] {
        self.exactly.as_ref().map_or(&self.selectors, |exactly| &exactly.selectors)
    }

    /// Whether it is one for devices of one class, whole and for its pods alone.
    fn is_supported(&self) -> bool {
        let own = (self.admin_access, None);
        let (admin, capacity) = self
            .exactly
            .as_ref()
            .map_or(own, |exactly| (exactly.admin_access, exactly.capacity.as_ref()));
        let mode = self.mode();
        self.first_available.is_empty()
            && admin != Some(true)
            && capacity.is_none()
            && matches!(mode, "" | "ExactCount" | "All")
    }

    fn mode(&self) -> &str {
        self.exactly.as_ref().map_or(&self.allocation_mode, |exactly| &exactly.allocation_mode)
    }

    fn device_count(&self) -> DeviceCount {
        if self.mode() == "All" {
            return DeviceCount::All;
        }
        let count = self.exactly.as_ref().map_or(self.count, |exactly| exactly.count);
        let count = count.filter(|count| *count > 0).unwrap_or(1);
        DeviceCount::Exactly(u32::try_from(count).unwrap_or(u32::MAX))
    }
}
