//! `ResourceClaim`, of `resource.k8s.io` v1, v1beta2 and v1beta1.

use std::collections::BTreeMap;

use kai_engine::{
    Allocation, Claim, ClaimId, Consumed, DeviceCount, DeviceMatch, DeviceRequest, Holds,
    Requirement, SliceDeviceId, Symbol, Unsupported,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    catalog::{self, Catalog, Wish},
    device::Tolerated,
    held::{Known, Later},
    share::{milli, qualified},
};
use crate::{
    actuate::EXTENDED,
    ingest::{
        Context, Delta, Kind,
        object::Object,
        selector::{NAME_KEY, NodeSelector, node_terms},
    },
    names::{AskedFor, Number},
    server::wire::{Text, null_as_default},
};

/// Says which entry of its pod a claim was made for from a template.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";

pub(in crate::ingest) type Wire<'a> = Object<'a, Spec<'a>, Status<'a>>;

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(in crate::ingest) struct Spec<'a> {
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
    exactly: Option<Exactly<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    first_available: Vec<Exactly<'a>>,
    #[serde(borrow, flatten)]
    own: Exactly<'a>,
}

/// Holds what devices one request, or one of its alternatives, is for.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Exactly<'a> {
    /// Of an alternative.
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    device_class_name: Text<'a>,
    #[serde(deserialize_with = "null_as_default")]
    selectors: Vec<WireSelector>,
    #[serde(borrow)]
    allocation_mode: Text<'a>,
    count: Option<i64>,
    admin_access: Option<bool>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    capacity: Amounts<'a>,
    #[serde(deserialize_with = "null_as_default")]
    tolerations: Vec<Value>,
}

/// Says how much of which capacities.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Amounts<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    requests: BTreeMap<Text<'a>, Text<'a>>,
}

/// A selector of a class or a request.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(in crate::ingest) struct WireSelector {
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
    #[serde(borrow)]
    distinct_attribute: Option<Text<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::ingest) struct Status<'a> {
    #[serde(borrow)]
    allocation: Option<WireAllocation<'a>>,
    #[serde(deserialize_with = "null_as_default")]
    reserved_for: Vec<Consumer<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Consumer<'a> {
    #[serde(borrow)]
    resource: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
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
#[serde(rename_all = "camelCase", default)]
struct Given<'a> {
    #[serde(borrow)]
    request: Text<'a>,
    #[serde(borrow)]
    driver: Text<'a>,
    #[serde(borrow)]
    pool: Text<'a>,
    #[serde(borrow)]
    device: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    consumed_capacity: BTreeMap<Text<'a>, Text<'a>>,
}

impl Status<'_> {
    /// The UIDs of the pods that have it; an empty one stands for what is no pod.
    fn consumers(&self) -> Box<[Box<str>]> {
        let uid =
            |one: &Consumer<'_>| Box::from(if *one.resource == *"pods" { &*one.uid } else { "" });
        self.reserved_for.iter().map(uid).collect()
    }
}

/// The expressions of selectors.
pub(in crate::ingest) fn expressions(selectors: &[WireSelector]) -> Vec<Box<str>> {
    selectors.iter().filter_map(|one| Some(one.cel.as_ref()?.expression.clone())).collect()
}

impl Catalog {
    /// Takes a claim in.
    pub(in crate::ingest) fn apply_claim(
        &mut self,
        context: &mut Context,
        wire: &Wire<'_>,
    ) -> String {
        let meta = &wire.metadata;
        let id = context.names.claim(&meta.namespace, &meta.name);
        let row = id.number();
        let is_other = *context.names.claims[row].uid != *meta.uid;
        let mut presence = context.names.claims[row].presence;
        context.seen(Kind::ResourceClaim, &mut presence);
        context.names.claims[row].presence = presence;
        if is_other && self.outlives(context, row, Later::Replaced) {
            return meta.resource_version.to_string();
        }
        let (mut facts, asked) = self.facts(context, wire);
        if facts.allocation.is_none() && self.outlives(context, row, Later::Freed) {
            return meta.resource_version.to_string();
        }
        let is_followed = self.follow_charges(row, &facts, &asked);
        self.charges.fill(&mut facts);
        let is_made = meta.annotations.value(POD_CLAIM_NAME).is_some();
        let is_marked = meta.annotations.value(EXTENDED) == Some("true");
        if is_marked || facts.allocation.is_some() || is_followed {
            let mut known = Known::new(facts, is_made, is_marked);
            known.is_deleted = meta.deletion_timestamp.is_some();
            known.consumers = wire.status.consumers();
            known.look(&context.names, row);
            known.follow(context.names.claims[row].extended_for > 0);
            facts = known.facts.clone();
            self.claims.insert(row, known);
        } else {
            self.claims.remove(&row);
        }
        refer(context, row, &facts);
        if is_other {
            context.names.claims[row].uid = Box::from(&*meta.uid);
        }
        let attribute = |one: &DeviceMatch| Box::from(context.names.text(one.attribute));
        let alike = facts.matches.iter().map(attribute).collect();
        self.asks(context, row, asked, alike);
        context.deltas.push(Delta::Claim(id, Box::new(facts)));
        meta.resource_version.to_string()
    }

    /// Takes out the claim of this namespace and name.
    pub(in crate::ingest) fn remove_claim(&mut self, context: &mut Context, key: &str) {
        if let Some(row) = context.names.claims.find(key) {
            self.claim_gone(context, row);
        }
    }

    /// Takes out the claims that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_claims(&mut self, context: &mut Context) {
        for row in context.unseen(Kind::ResourceClaim, |names| &names.claims) {
            self.claim_gone(context, row);
        }
    }

    pub(super) fn claim_gone(&mut self, context: &mut Context, row: u32) {
        if self.outlives(context, row, Later::Gone) {
            return;
        }
        let Some(claim) = context.names.claims.row(row) else { return };
        let presence = claim.presence;
        self.follow_charges(row, &Claim::default(), &[]);
        self.claims.remove(&row);
        refer(context, row, &Claim::default());
        self.asks(context, row, Vec::new(), Vec::new());
        if presence.is_there {
            context.names.claims[row].presence.is_there = false;
            context.deltas.push(Delta::ClaimGone(ClaimId::new(row)));
        }
        if presence.references == 0 {
            context.names.claims.remove(row);
        }
    }

    /// Tells whether a claim brings those of its namespace beyond what every device is compared with for them.
    fn asks_too_much(&self, namespace: &str, devices: &Devices<'_>) -> bool {
        let count = devices.requests.iter().map(|one| one.first_available.len().max(1)).sum();
        if self.has_room(namespace, count, devices.constraints.len()) {
            return false;
        }
        let requests = devices.requests.iter().flat_map(Request::entries);
        let wishes = requests.map(|(_, one)| (Box::from(&*one.device_class_name), one.wish()));
        let attributes = devices.constraints.iter();
        let attributes = attributes
            .filter_map(|one| one.match_attribute.as_ref().or(one.distinct_attribute.as_ref()))
            .map(|name| Box::from(&**name));
        self.is_over(namespace, wishes, attributes)
    }

    fn facts(&mut self, context: &mut Context, wire: &Wire<'_>) -> (Claim, Vec<AskedFor>) {
        let meta = &wire.metadata;
        let devices = &wire.spec.devices;
        let mut claim = Claim {
            own: meta.annotations.value(POD_CLAIM_NAME).is_some(),
            queue: meta
                .labels
                .value(&context.rules.queue_key)
                .map(|queue| context.names.queue(queue)),
            consumers: u32::try_from(wire.status.reserved_for.len()).unwrap_or(u32::MAX),
            ..Claim::default()
        };
        // What was given needs no more looking for.
        if wire.status.allocation.is_none() && self.asks_too_much(&meta.namespace, devices) {
            self.refuse(&meta.namespace);
            claim.unsupported = Some(Unsupported::TooMany);
            return (claim, Vec::new());
        }
        let mut asked: Vec<AskedFor> = Vec::new();
        for request in &devices.requests {
            for (at, (name, one)) in request.entries().into_iter().enumerate() {
                claim.unsupported = claim.unsupported.or(one.unsupported());
                let class = &*one.device_class_name;
                let (selection, admin) = (
                    self.tell_selection(context, class, one.wish()),
                    one.admin_access == Some(true),
                );
                claim.requests.push(DeviceRequest {
                    class: selection,
                    count: one.device_count(),
                    instead: at > 0,
                    gpu: catalog::is_gpu(class),
                    mixed: false,
                    admin,
                });
                asked.push(AskedFor {
                    request: name,
                    class: Box::from(class),
                    selection: selection.number(),
                    admin,
                    tolerations: one.tolerations.clone(),
                });
            }
        }
        for constraint in &devices.constraints {
            let (attribute, distinct) = match constraint {
                Constraint { match_attribute: Some(attribute), .. } => (attribute, false),
                Constraint { distinct_attribute: Some(attribute), .. } => (attribute, true),
                Constraint { .. } => {
                    claim.unsupported = claim.unsupported.or(Some(Unsupported::Constraint));
                    continue;
                }
            };
            let requests = constraint.requests.iter().flat_map(|name| positions(&asked, name));
            let requests = requests.collect();
            let attribute = context.names.symbol(attribute);
            claim.matches.push(DeviceMatch { requests, attribute, distinct });
        }
        if let Some(given) = &wire.status.allocation {
            claim.allocation = Some(allocation(context, &asked, given));
            for one in given.devices.results.iter().filter(|one| catalog::is_gpu(&one.driver)) {
                for at in positions(&asked, &one.request) {
                    let request = &mut claim.requests[usize::from(at)];
                    request.gpu |= !request.admin;
                }
            }
        }
        (claim, asked)
    }
}

/// Moves the references of a claim's row to its node and queue, and notes whether it has devices.
pub(super) fn refer(context: &mut Context, row: u32, facts: &Claim) {
    let node = facts.allocation.as_ref().and_then(|given| given.node).map(Number::number);
    let queue = facts.queue.map(Number::number);
    let (old_node, old_queue) = (context.names.claims[row].node, context.names.claims[row].queue);
    if node != old_node {
        if let Some(new) = node {
            context.names.nodes[new].presence.references += 1;
        }
        if let Some(old) = old_node {
            context.let_go_of_node(old);
        }
    }
    if queue != old_queue {
        if let Some(new) = queue {
            context.names.queues[new].presence.references += 1;
        }
        if let Some(old) = old_queue {
            context.release_queue(old);
        }
    }
    let claim = &mut context.names.claims[row];
    (claim.node, claim.queue) = (node, queue);
    claim.is_allocated = facts.allocation.is_some();
}

/// The entries of a request, or the one of an alternative: it is named behind a slash.
fn positions(asked: &[AskedFor], name: &str) -> impl Iterator<Item = u16> {
    let is_of =
        move |own: &str| own == name || own.split_once('/').is_some_and(|(of, _)| of == name);
    (0..).zip(asked).filter(move |(_, one)| is_of(&one.request)).map(|(at, _)| at)
}

fn allocation(context: &mut Context, asked: &[AskedFor], wire: &WireAllocation<'_>) -> Allocation {
    let mut within = Vec::new();
    if let Some(selector) = &wire.node_selector {
        within = node_terms(&mut context.names, selector);
    }
    let name_key = context.names.symbol(NAME_KEY);
    let node = match within.as_slice() {
        [term] => match term.as_slice() {
            [Requirement { key, holds: Holds::In(values) }] if *key == name_key => {
                values.first().map(|name| String::from(context.names.text(*name)))
            }
            _ => None,
        },
        _ => None,
    };
    let node = node.map(|node| context.names.node(&node));
    let device = |given: &Given<'_>| {
        let key = format!("{}/{}/{}", given.driver, given.pool, given.device);
        let id = SliceDeviceId::new(context.names.slice_devices.intern(&key));
        (positions(asked, &given.request).next().unwrap_or(0), id)
    };
    let results = &wire.devices.results;
    let devices: Vec<(u16, SliceDeviceId)> = results.iter().map(device).collect();
    let shared =
        devices.iter().zip(results).filter(|(_, given)| !given.consumed_capacity.is_empty());
    let consumed = shared.map(|((request, device), given)| Consumed {
        request: *request,
        device: *device,
        amounts: given.amounts(context),
    });
    let consumed = consumed.collect();
    if node.is_some() {
        within.clear();
    }
    Allocation { node, within, devices, consumed }
}

impl Given<'_> {
    /// Works out what was consumed of which capacities.
    fn amounts(&self, context: &mut Context) -> Box<[(Symbol, i64)]> {
        let amount = |(name, amount): (&Text<'_>, &Text<'_>)| {
            let (domain, name) = qualified(&self.driver, name);
            (context.names.symbol(&format!("{domain}/{name}")), milli(amount))
        };
        self.consumed_capacity.iter().map(amount).collect()
    }
}

impl<'a> Request<'a> {
    /// Says what it is for, or its alternatives, the best first, each with the name that an allocation uses.
    fn entries(&self) -> Vec<(Box<str>, &Exactly<'a>)> {
        let own = &self.own.name;
        if self.first_available.is_empty() {
            return vec![(Box::from(&**own), self.exactly.as_ref().unwrap_or(&self.own))];
        }
        let name = |one: &Exactly<'_>| format!("{own}/{}", one.name).into_boxed_str();
        self.first_available.iter().map(|one| (name(one), one)).collect()
    }
}

impl Exactly<'_> {
    fn wish(&self) -> Wish {
        let tolerated = |one: &Value| {
            let text = |field: &str| Box::from(one[field].as_str().unwrap_or_default());
            Tolerated {
                key: text("key"),
                value: (one["operator"] != "Exists").then(|| text("value")),
                effect: text("effect"),
            }
        };
        let amounts = self.capacity.requests.iter();
        Wish {
            selectors: expressions(&self.selectors),
            tolerations: self.tolerations.iter().map(tolerated).collect(),
            capacity: amounts.map(|(name, one)| (Box::from(&**name), milli(one))).collect(),
        }
    }

    /// Finds what of it is not known here.
    fn unsupported(&self) -> Option<Unsupported> {
        let is_known = matches!(&*self.allocation_mode, "" | "ExactCount" | "All");
        (!is_known).then_some(Unsupported::Mode)
    }

    fn device_count(&self) -> DeviceCount {
        if &*self.allocation_mode == "All" {
            return DeviceCount::All { most: 0 };
        }
        let count = self.count.filter(|count| *count > 0).unwrap_or(1);
        // No node has more, and what a million pods are charged for their claims fits into 63 bits.
        DeviceCount::Exactly(u16::try_from(count).unwrap_or(u16::MAX).into())
    }
}
