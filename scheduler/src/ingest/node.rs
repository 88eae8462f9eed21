//! Node.

use kai_api::{
    names::{node as labels, resource},
    shared_gpu::device_memory_mib,
};
use kai_engine::{
    Blocked, GPU_MILLI, Gpus, Label, Lane, Mig, MigStrategy, Node, Resources, Taint, Worker,
};
use serde::Deserialize;

use super::{
    Context, Delta, Kind, NodeId,
    request::Amounts,
    selector::{NAME_KEY, effect},
};
use crate::{
    names::Number,
    server::wire::{Meta, Text, null_as_default},
};

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
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
    unschedulable: bool,
    #[serde(borrow, deserialize_with = "null_as_default")]
    taints: Vec<WireTaint<'a>>,
}

#[derive(Deserialize, Debug)]
struct WireTaint<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow, default)]
    value: Text<'a>,
    #[serde(borrow, default)]
    effect: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Status<'a> {
    #[serde(borrow)]
    allocatable: Amounts<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    conditions: Vec<Condition<'a>>,
}

#[derive(Deserialize, Debug)]
struct Condition<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
}

pub(super) fn apply(context: &mut Context, wire: &Wire<'_>) -> String {
    let version = wire.metadata.resource_version.to_string();
    let row = context.names.node(&wire.metadata.name).number();
    if !context.rules.is_our_node(&wire.metadata.labels) {
        gone(context, row);
        return version;
    }
    let facts = facts(context, wire);
    let mut presence = context.names.nodes[row].presence;
    context.seen(Kind::Node, &mut presence);
    context.names.nodes[row].presence = presence;
    context.names.nodes[row].gpu_memory_mib = memory_mib(&wire.metadata.labels).unwrap_or(0);
    context.deltas.push(Delta::Node(NodeId::new(row), Box::new(facts)));
    version
}

pub(super) fn remove(context: &mut Context, name: &str) {
    if let Some(row) = context.names.nodes.find(name) {
        gone(context, row);
    }
}

/// Takes out what was not in the full list that is complete now.
pub(super) fn end(context: &mut Context) {
    for row in context.unseen(Kind::Node, |names| &names.nodes) {
        gone(context, row);
    }
}

fn gone(context: &mut Context, row: u32) {
    let presence = &mut context.names.nodes[row].presence;
    if std::mem::take(&mut presence.is_there) {
        context.deltas.push(Delta::NodeGone(NodeId::new(row)));
    }
    if context.names.nodes[row].presence.references == 0 {
        context.names.nodes.remove(row);
    }
}

fn facts(context: &mut Context, wire: &Wire<'_>) -> Node {
    let meta = &wire.metadata;
    let allocatable = allocatable(context, &wire.status.allocatable);
    let has_mig = wire
        .status
        .allocatable
        .iter()
        .any(|(name, amount)| name.starts_with(resource::MIG_PREFIX) && amount.value() > 0);
    let [cpu_worker, gpu_worker, mig_worker] = &context.rules.worker_keys;
    let worker = Worker {
        gpu: meta.labels.value(gpu_worker).is_some(),
        cpu: meta.labels.value(cpu_worker).is_some(),
    };
    let mig_label = meta.labels.value(mig_worker).and_then(|text| text.parse::<bool>().ok());
    let mig = Mig {
        enabled: mig_label.unwrap_or(has_mig),
        strategy: match meta.labels.value(labels::MIG_STRATEGY) {
            Some("single") => MigStrategy::Single,
            Some("mixed") => MigStrategy::Mixed,
            Some(_) | None => MigStrategy::None,
        },
    };
    Node {
        name: Box::from(meta.name.as_bytes()),
        gpus: gpus(&meta.labels, allocatable.amount(Lane::GPU)),
        allocatable,
        labels: node_labels(context, meta),
        taints: wire.spec.taints.iter().filter_map(|taint| read_taint(context, taint)).collect(),
        blocked: blocked(wire),
        mig,
        worker,
    }
}

fn allocatable(context: &mut Context, amounts: &Amounts<'_>) -> Resources {
    let mut lanes = Vec::with_capacity(amounts.iter().count());
    for (name, amount) in amounts.iter() {
        let lane = context.lane(name);
        lanes.push((lane, amount.on(lane)));
    }
    lanes.into_iter().collect()
}

fn node_labels(context: &mut Context, meta: &Meta<'_>) -> Vec<Label> {
    let own_name = std::iter::once((NAME_KEY, &*meta.name));
    let mut labels = Vec::with_capacity(meta.labels.0.len() + 1);
    for (key, text) in meta.labels.iter().chain(own_name) {
        let (key, value) = (context.names.symbol(key), context.names.symbol(text));
        context.note_label(key, value);
        labels.push(Label { key, value, number: text.parse().ok() });
    }
    labels
}

fn read_taint(context: &mut Context, taint: &WireTaint<'_>) -> Option<Taint> {
    Some(Taint {
        key: context.names.symbol(&taint.key),
        value: context.names.symbol(&taint.value),
        effect: effect(&taint.effect)?,
    })
}

/// Source: docs/behaviour.md 10.2, check 5. A condition that is absent blocks nothing.
fn blocked(wire: &Wire<'_>) -> Option<Blocked> {
    if wire.spec.unschedulable {
        return Some(Blocked::Unschedulable);
    }
    let status = |kind: &str| {
        let mut conditions = wire.status.conditions.iter();
        conditions.find(|condition| &*condition.kind == kind).map(|condition| &*condition.status)
    };
    let pressures = [
        ("MemoryPressure", Blocked::MemoryPressure),
        ("DiskPressure", Blocked::DiskPressure),
        ("PIDPressure", Blocked::PidPressure),
        ("NetworkUnavailable", Blocked::NetworkUnavailable),
    ];
    if status("Ready").is_some_and(|status| status != "True") {
        return Some(Blocked::NotReady);
    }
    let under = |kind: &str| status(kind).is_some_and(|status| status != "False");
    pressures.into_iter().find(|(kind, _)| under(kind)).map(|(_, blocked)| blocked)
}

/// Source: docs/behaviour.md 2.4. A memory below 100 MiB would round to nothing (Q17): it is
/// taken as not known.
fn gpus(node: &crate::server::wire::Pairs<'_>, allocatable_milli: i64) -> Gpus {
    let unknown = Gpus::default();
    let hundreds = memory_mib(node).map(|mib| mib / 100 * 100).filter(|mib| *mib > 0);
    let label_count = node.value(labels::GPU_COUNT).and_then(|text| text.parse().ok());
    let allocatable_count = u16::try_from(allocatable_milli / GPU_MILLI).unwrap_or(0);
    Gpus {
        count: label_count.unwrap_or(allocatable_count),
        memory_mib: hundreds.unwrap_or(unknown.memory_mib),
        memory_known: hundreds.is_some(),
    }
}

/// Memory of each GPU as the node's label says it, in MiB.
fn memory_mib(node: &crate::server::wire::Pairs<'_>) -> Option<u32> {
    device_memory_mib(node.value(labels::GPU_MEMORY)?)
}
