//! Pod.

use kai_api::names::{annotation, label, namespace, resource, value};
use kai_engine::{
    GpuRequest, GroupId, Lane, Missing, Owner, Place, Pod, PodPriority, PodRank, PodState,
    Reserved, Shape,
};
use serde::Deserialize;

mod claims;
mod gpu;
pub(super) mod labels;
pub(super) mod releasing;
mod shape;
mod sharing;
mod wishes;

use super::{
    Context, Delta, Ingest, Kind, NodeId, PodId,
    group::{Told, sub_group},
    moment,
    request::{Amounts, Asking, Container, ContainerStatus, Requirements, amounts, excess},
    storage::needs::{Mentioned, WireVolume},
};
use gpu::gpu_request;
use releasing::Leave;
use shape::{Affinity, Constraints, WireSpread, WireToleration};

use crate::{
    names::Number,
    server::wire::{Pairs, Text, milliseconds, null_as_default, uid_number},
    wording::Wording,
};

pub(super) type Wire<'a> = super::object::Object<'a, Spec<'a>, Status<'a>>;

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec<'a> {
    #[serde(borrow)]
    scheduler_name: Text<'a>,
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    containers: Vec<Container<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    init_containers: Vec<Container<'a>>,
    #[serde(borrow)]
    overhead: Amounts<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    resources: Requirements<'a>,
    #[serde(borrow)]
    node_selector: Pairs<'a>,
    #[serde(borrow)]
    affinity: Option<Affinity<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    tolerations: Vec<WireToleration<'a>>,
    #[serde(deserialize_with = "null_as_default")]
    scheduling_gates: Vec<serde::de::IgnoredAny>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    resource_claims: Vec<PodClaim<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    volumes: Vec<WireVolume<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    topology_spread_constraints: Vec<WireSpread<'a>>,
}

impl Wire<'_> {
    /// The node that the pod is on; empty for none.
    pub(super) fn node_name(&self) -> &str {
        &self.spec.node_name
    }
}

impl<'a> Wire<'a> {
    pub(super) fn asking(&self) -> Asking<'_, 'a> {
        let (spec, status) = (&self.spec, &self.status);
        let is_infeasible =
            |one: &Condition<'_>| &*one.kind == "PodResizePending" && &*one.reason == "Infeasible";
        Asking {
            containers: &spec.containers,
            init_containers: &spec.init_containers,
            overhead: &spec.overhead,
            pod: &spec.resources.requests,
            given: [&status.container_statuses, &status.init_container_statuses],
            given_whole: (status.resources.as_ref(), &status.allocated_resources),
            is_infeasible: status.conditions.iter().any(is_infeasible),
        }
    }
}

/// A claim of a pod: an existing one, or one that is made from a template.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct PodClaim<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    resource_claim_name: Option<Text<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status<'a> {
    #[serde(borrow)]
    phase: Text<'a>,
    #[serde(borrow)]
    qos_class: Text<'a>,
    #[serde(borrow)]
    nominated_node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    conditions: Vec<Condition<'a>>,
    /// Claims that were made from templates; one without a name is not needed.
    #[serde(borrow, deserialize_with = "null_as_default")]
    resource_claim_statuses: Vec<PodClaim<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    init_container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow)]
    resources: Option<Requirements<'a>>,
    #[serde(borrow)]
    allocated_resources: Amounts<'a>,
    #[serde(borrow, rename = "extendedResourceClaimStatus")]
    extended: Option<PodClaim<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Condition<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow, rename = "lastTransitionTime")]
    last_transition_time: Option<Text<'a>>,
}

/// Takes a pod in.
pub(super) fn apply(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let meta = &wire.metadata;
    let version = meta.resource_version.to_string();
    // Told to go before it had a node: it will never run, and what it still says would be kept for nobody.
    if meta.deletion_timestamp.is_some() && wire.spec.node_name.is_empty() {
        remove(ingest, &meta.uid);
        return version;
    }
    let row = ingest.context.names.pod(&meta.uid).number();
    let mut facts = facts(ingest, wire);
    let is_over = ingest.namespaces.take_over();
    let context = &mut ingest.context;
    if has_ended(&facts.state) {
        // No selector means a pod that is nowhere any more, and it goes nowhere.
        facts.labels.clear();
        facts.shape.spread.clear();
    }
    keep_member(context, row, &mut facts);
    facts.unplanned = is_unplanned(wire, &facts);
    sharing::believe(context, wire, &mut facts);
    sharing::keep_bound(context, row, &mut facts);
    let spec = &wire.spec;
    let containers = spec.containers.iter().chain(&spec.init_containers);
    let mentioned = Mentioned::by(meta, &spec.volumes, containers);
    refuse(context, wire, &mut facts, is_over, &mentioned);
    ingest.spreads.keep(context, row, &mut facts);
    ingest.namespaces.keep(context, row);
    // Volumes are counted as claims too, and are none that a bind writes.
    let was_held_for = context.names.held_for(row);
    let extended = claims::extended(context, wire);
    claims::name_extended(context, row, extended);
    let left = refer(context, row, &facts);
    ingest.needs.tie(context, row, mentioned, &mut facts);
    remember(context, row, wire, &facts);
    sharing::tell(context, row, wire, &facts);
    let leave = Leave::read(context, wire).filter(|_| facts.state.place().is_some());
    ingest.releasing.note(row, leave, context.now);
    context.deltas.push(Delta::Pod(PodId::new(row), Box::new(facts)));
    ingest.catalog.settle(context);
    if let Some(group) = left {
        ingest.groups.left(context, group);
    }
    let held_for = context.names.held_for(row);
    if let Some(group) = held_for.filter(|_| held_for != was_held_for) {
        let since = context.names.pods[row].scheduled;
        ingest.groups.held(context, group, Told::read(&meta.annotations), since);
    }
    version
}

/// Takes the pod of this UID out.
pub(super) fn remove(ingest: &mut Ingest, uid: &str) {
    if let Some(row) = ingest.context.names.pods.find(uid) {
        gone(ingest, row);
    }
}

/// Takes out what was not in the full list that is complete now.
pub(super) fn end(ingest: &mut Ingest) {
    for row in ingest.context.unseen(Kind::Pod, |names| &names.pods) {
        gone(ingest, row);
    }
}

fn gone(ingest: &mut Ingest, row: u32) {
    let context = &mut ingest.context;
    let Some(pod) = context.names.pods.row(row) else { return };
    let was_there = pod.presence.is_there;
    // It may be stale now, or all that was said of it done with.
    context.touched.extend(pod.group);
    claims::name_extended(context, row, None);
    let left = refer(context, row, &Pod::default());
    ingest.releasing.remove(row);
    ingest.needs.untie(row);
    sharing::tell_gone(context, row);
    ingest.namespaces.forget(context, row);
    ingest.spreads.forget(row);
    context.names.keep_labels(row, std::iter::empty());
    context.names.pods.remove(row);
    if was_there {
        context.deltas.push(Delta::PodGone(PodId::new(row)));
    }
    ingest.catalog.settle(context);
    if let Some(group) = left {
        ingest.groups.left(context, group);
    }
}

/// Moves the references of a pod's row to its group and node. Gives the group of which no pod holds a place any more.
fn refer(context: &mut Context, row: u32, facts: &Pod) -> Option<u32> {
    let group = match facts.owner {
        Owner::Group(group) => Some(group.number()),
        Owner::Foreign | Owner::Reservation => None,
    };
    let node = facts.state.place().map(|place| place.node.number());
    let names = &mut context.names;
    let (old_group, old_node) = (names.pods[row].group, names.pods[row].node);
    let waits = matches!(facts.state, PodState::Pending | PodState::Gated);
    let is_placed = names.pods[row].is_placed && waits && group == old_group;
    let holds = node.is_some() || is_placed;
    let left = names.hold(names.held_for(row), group.filter(|_| holds));
    names.pods[row].is_placed = is_placed;
    if old_group != group {
        if let Some(old) = old_group {
            names.strike(old, row);
            let presence = &mut names.groups[old].presence;
            presence.references -= 1;
            if presence.references == 0 && !presence.is_there {
                names.groups.remove(old);
            }
        }
        if let Some(new) = group {
            names.groups[new].presence.references += 1;
            names.enlist(new, row);
        }
    }
    if old_node != node {
        if let Some(new) = node {
            names.nodes[new].presence.references += 1;
        }
        if let Some(old) = old_node {
            let presence = &mut names.nodes[old].presence;
            presence.references -= 1;
            if presence.references == 0 && !presence.is_there {
                names.nodes.remove(old);
            }
        }
    }
    claims::hold(context, row, facts);
    context.names.pods[row].group = group;
    context.names.pods[row].node = node;
    left
}

/// Keeps what carrying out a plan will need.
fn remember(context: &mut Context, row: u32, wire: &Wire<'_>, facts: &Pod) {
    let meta = &wire.metadata;
    let mut presence = context.names.pods[row].presence;
    context.seen(Kind::Pod, &mut presence);
    let told = wire.status.conditions.iter().find(|one| &*one.kind == "PodScheduled");
    let unschedulable = told
        .filter(|condition| &*condition.status == "False" && &*condition.reason == "Unschedulable");
    let scheduled = told.filter(|condition| &*condition.status == "True");
    let scheduled = scheduled.and_then(|condition| condition.last_transition_time.as_ref());
    let pool = Some(&*context.rules.pool_value);
    let has_pool_label = meta.labels.value(&context.rules.pool_key) == pool;
    context.touched.extend(context.names.pods[row].group);
    let is_fractional =
        matches!(facts.shape.gpu, GpuRequest::Fraction { .. } | GpuRequest::Memory { .. });
    let waits = matches!(facts.state, PodState::Pending | PodState::Gated);
    let maps =
        (is_fractional && waits).then(|| gpu::maps(&meta.annotations, &wire.asking())).flatten();
    let namespace = context.names.shared(&meta.namespace);
    let labels = meta.labels.iter().filter(|_| !has_ended(&facts.state));
    context.names.keep_labels(row, labels);
    let believed = sharing::is_believed(context, wire, facts.owner);
    let gpu_labels = sharing::gpu_groups(&meta.labels).filter(|_| believed);
    let gpu_labels = gpu_labels.map(|(key, _)| Box::from(key)).collect();
    let records = [annotation::NUMA_OBSERVED, annotation::NUMA_PREDICTED];
    let is_recorded = records.iter().any(|key| meta.annotations.value(key).is_some());
    let pod = &mut context.names.pods[row];
    if pod.name.is_empty() {
        pod.namespace = namespace;
        pod.name = Box::from(&*meta.name);
        pod.created = facts.created.0;
    }
    pod.presence = presence;
    pod.has_pool_label = has_pool_label;
    pod.is_fractional = is_fractional;
    pod.scheduled = scheduled.and_then(|text| milliseconds(text));
    pod.edit(|extras| {
        extras.maps = maps.map(Box::new);
        extras.gpu_labels = gpu_labels;
        extras.says_zones = waits && is_recorded;
        extras.unschedulable = unschedulable.map(|condition| Wording::of(&condition.message));
    });
}

fn has_ended(state: &PodState) -> bool {
    matches!(state, PodState::Succeeded | PodState::Failed)
}

fn facts(ingest: &mut Ingest, wire: &Wire<'_>) -> Pod {
    let meta = &wire.metadata;
    let nominated = &wire.status.nominated_node_name;
    let owner = owner(&mut ingest.context, wire);
    Pod {
        owner,
        sub_group: sub_group(
            &mut ingest.context.names,
            meta.labels.value(label::SUBGROUP).unwrap_or_default(),
        ),
        shape: shape(ingest, wire),
        state: state(ingest, wire, owner),
        rank: rank(&meta.labels),
        created: moment(meta.creation_timestamp.as_ref()),
        uid: uid_number(&meta.uid),
        nominated: (!nominated.is_empty())
            .then(|| ingest.context.names.nodes.find(nominated))
            .flatten()
            .map(NodeId::new),
        namespace: ingest.context.names.symbol(&meta.namespace),
        labels: ingest.context.pod_labels(&meta.labels),
        claims: claims::of(&mut ingest.context, wire),
        unplanned: false,
    }
}

/// A pod that waits and asks for what cannot be understood, counted or compared goes on to wait, and is told why.
/// `is_over` where the pods of its namespace have too many selectors of namespaces besides.
fn refuse(
    context: &mut Context,
    wire: &Wire<'_>,
    facts: &mut Pod,
    is_over: bool,
    mentioned: &Mentioned,
) {
    let too_much = wishes::cut(&mut facts.shape, facts.namespace, &constraints(wire).count());
    let too_much = too_much.or_else(|| is_over.then(wishes::too_many_ways));
    let claims = wire.spec.resource_claims.len();
    let too_much = too_much.or_else(|| wishes::too_many_needs(claims, mentioned));
    if !matches!(facts.state, PodState::Pending | PodState::Gated) {
        return;
    }
    let asking = wire.asking();
    let problem = asking.uncounted(context);
    let problem = problem.or_else(|| excess(context, &facts.shape.request));
    let is_off = context.rules.is_sharing_off;
    let problem = problem.or_else(|| gpu::refusal(&wire.metadata.annotations, &asking, is_off));
    let problem = problem.or_else(|| labels::refusal(&wire.metadata.labels)).or(too_much);
    if let Some(problem) = problem {
        facts.shape.missing.push(Missing::Request(context.names.symbol(&problem)));
    }
}

/// A pod with a node stays in the group that it was given it in, or first seen in with one: its user may name another later,
/// and what runs stays on its queue's account. After a restart the API's word counts again.
fn keep_member(context: &mut Context, row: u32, facts: &mut Pod) {
    let known = &context.names.pods[row];
    let has_node = known.node.is_some() && facts.state.place().is_some();
    let Some(group) = known.group.filter(|_| has_node || known.is_placed) else { return };
    let kept = Owner::Group(GroupId::new(group));
    if let Owner::Group(named) = std::mem::replace(&mut facts.owner, kept) {
        context.let_go_of_group(named.number());
    }
}

/// Tells whether a pod of ours was put on its node past the scheduler: what is written with each bind is not on it.
fn is_unplanned(wire: &Wire<'_>, facts: &Pod) -> bool {
    let received = wire.metadata.annotations.value(annotation::RECEIVED_RESOURCE_TYPE);
    let is_ours = matches!(facts.owner, Owner::Group(_));
    is_ours && received.is_none() && facts.state.place().is_some()
}

/// A label alone, which any user can set, makes no reservation pod and no scaling pod: both are in a namespace of their
/// own, in which only the daemons create pods.
///
/// Source: docs/behaviour.md 2.11; docs/contract.md 10.1 D16.
fn owner(context: &mut Context, wire: &Wire<'_>) -> Owner {
    let meta = &wire.metadata;
    let app = meta.labels.value(label::APP);
    let reserves = app == Some(&*context.rules.reservation_app)
        && *meta.namespace == *context.rules.reservation_namespace;
    let scales = app == Some(value::SCALING_APP) && &*meta.namespace == namespace::SCALE_ADJUST;
    if reserves || scales {
        return Owner::Reservation;
    }
    let ours = *wire.spec.scheduler_name == *context.rules.scheduler_name;
    match meta.annotations.value(annotation::POD_GROUP) {
        Some(name) if ours && !name.is_empty() => {
            Owner::Group(context.names.group(&meta.namespace, name))
        }
        Some(_) | None => Owner::Foreign,
    }
}

/// Source: docs/behaviour.md 1.3.
fn state(ingest: &mut Ingest, wire: &Wire<'_>, owner: Owner) -> PodState {
    let has_node = !wire.spec.node_name.is_empty();
    match &*wire.status.phase {
        "Succeeded" => return PodState::Succeeded,
        "Failed" => return PodState::Failed,
        _ => {}
    }
    if !has_node {
        let gated = !wire.spec.scheduling_gates.is_empty();
        return if gated { PodState::Gated } else { PodState::Pending };
    }
    let devices = sharing::believed_groups(&ingest.context, wire, owner);
    let node = ingest.context.names.node(&wire.spec.node_name);
    let zones = ingest.zones.held(&mut ingest.context, node, wire, owner);
    let place = Place {
        node,
        devices: devices.into_iter().map(|group| ingest.context.names.device(group)).collect(),
        reserved: (!zones.is_empty()).then(|| Box::new(Reserved { zones, ..Reserved::default() })),
    };
    if let Some(leave) = Leave::read(&ingest.context, wire) {
        return leave.state(place, ingest.context.now);
    }
    if &*wire.status.phase == "Pending" { PodState::Bound(place) } else { PodState::Running(place) }
}

/// Source: docs/behaviour.md 1.9, task order.
fn rank(labels: &Pairs<'_>) -> PodRank {
    let role = labels.value("training.kubeflow.org/job-role");
    let priority = labels.value(label::TASK_PRIORITY);
    PodRank {
        launcher: matches!(role, Some("master" | "launcher")),
        head: labels.value("ray.io/node-type") == Some("head"),
        priority: priority.map_or(PodPriority::None, |text| {
            text.parse().map_or(PodPriority::Unreadable, PodPriority::Given)
        }),
    }
}

fn shape(ingest: &mut Ingest, wire: &Wire<'_>) -> Shape {
    let spec = &wire.spec;
    let context = &mut ingest.context;
    let whole = wire.asking().request(context);
    let gpu = gpu_request(context, &wire.metadata.annotations, &whole);
    let overhead = amounts(context, &spec.overhead);
    // Instances beside whole GPUs, of a pod that nobody here has bound, are at least counted on its node.
    let is_whole = matches!(gpu, GpuRequest::Whole(_));
    let is_plain = |(lane, _): &(Lane, i64)| {
        *lane != Lane::GPU
            && *lane != Lane::PODS
            && (is_whole || !context.names.lane_name(*lane).starts_with(resource::MIG_PREFIX))
    };
    let request = whole.iter().filter(is_plain).collect();
    let overhead = overhead.iter().filter(is_plain).collect();
    let guaranteed = &*wire.status.qos_class == "Guaranteed";
    let alignment =
        ingest.zones.alignment(context, guaranteed, &spec.containers, &spec.init_containers);
    let mut shape = Shape { request, overhead, gpu, alignment, ..Shape::default() };
    constraints(wire).read(context, &mut ingest.namespaces, &mut shape);
    shape
}

fn constraints<'w, 'a>(wire: &'w Wire<'a>) -> Constraints<'w, 'a> {
    let Wire { metadata, spec, .. } = wire;
    Constraints {
        namespace: &metadata.namespace,
        labels: &metadata.labels,
        spread: &spec.topology_spread_constraints,
        node_selector: &spec.node_selector,
        affinity: spec.affinity.as_ref(),
        tolerations: &spec.tolerations,
        containers: &spec.containers,
        init_containers: &spec.init_containers,
    }
}
