//! Describes what pods mean to shared GPUs: who holds a device, who uses it, and what a bound pod may not change any more.

use kai_api::names::{annotation, label, value};
use kai_engine::{GpuRequest, Owner, Pod, PodState};

use super::gpu::DEVICES_MAX;
use crate::{
    ingest::{Context, pod},
    names::{Bound, Number},
    server::wire::Pairs,
    sharing::{Reservation, Standing, Told},
};

/// Tells whether what annotations and labels say of GPUs counts. That is not so on pods of other schedulers: these were given
/// nothing for it, and anybody may write it.
pub(in crate::ingest) fn is_believed(
    context: &Context,
    wire: &pod::Wire<'_>,
    owner: Owner,
) -> bool {
    *wire.spec.scheduler_name == *context.rules.scheduler_name || owner == Owner::Reservation
}

/// The names of the shared GPUs that the labels of a pod with a node mean, where they count.
pub(in crate::ingest) fn believed_groups<'m>(
    context: &Context,
    wire: &'m pod::Wire<'_>,
    owner: Owner,
) -> Vec<&'m str> {
    if !is_believed(context, wire, owner) {
        return Vec::new();
    }
    let mut groups: Vec<_> = gpu_groups(&wire.metadata.labels).map(|(_, group)| group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The labels of shared GPUs, in both forms: the key and the group's name. No pod shares more devices than are looked at; the
/// API bounds how long a label is, and not how many there are.
pub(in crate::ingest) fn gpu_groups<'m>(
    labels: &'m Pairs<'_>,
) -> impl Iterator<Item = (&'m str, &'m str)> {
    let of_groups = labels.iter().filter(|(key, group)| {
        !group.is_empty() && (*key == label::GPU_GROUP || key.starts_with(label::GPU_GROUP_PREFIX))
    });
    of_groups.take(usize::from(DEVICES_MAX))
}

/// Tells whether the scheduler wrote on a pod, with its bind, that it was given no GPU for what annotations say: no label
/// names one either.
fn is_regular(wire: &pod::Wire<'_>, facts: &Pod) -> bool {
    let received = wire.metadata.annotations.value(annotation::RECEIVED_RESOURCE_TYPE);
    received == Some(value::RECEIVED_REGULAR)
        && facts.state.place().is_some_and(|place| place.devices.is_empty())
}

/// Passes over what annotations say of GPUs where that does not count.
pub(in crate::ingest) fn believe(context: &Context, wire: &pod::Wire<'_>, facts: &mut Pod) {
    if is_believed(context, wire, facts.owner) && !is_regular(wire, facts) {
        return;
    }
    facts.shape.gpu = match std::mem::take(&mut facts.shape.gpu) {
        GpuRequest::Fraction { .. } | GpuRequest::Memory { .. } | GpuRequest::LegacyMig(_) => {
            GpuRequest::None
        }
        asked @ (GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_)) => asked,
    };
}

/// Fixes what a pod holds of GPUs when it is first seen with a node: its user may edit labels and annotations later,
/// and what runs goes on to hold what it held. After a restart the API's word counts again.
///
/// What it asked for is fixed before, when a plan gives it its place: also that it asked for none.
pub(in crate::ingest) fn keep_bound(context: &mut Context, row: u32, facts: &mut Pod) {
    if facts.owner == Owner::Reservation {
        return;
    }
    let pod = &mut context.names.pods[row];
    if pod.bound.is_none() && pod.is_placed {
        facts.shape.gpu = pod.gpus_given.as_deref().cloned().unwrap_or_default();
    }
    let Some(place) = facts.state.place_mut() else { return };
    pod.keep_given(None);
    let known = &mut pod.bound;
    match known {
        Some(Bound::Plain) => {
            facts.shape.gpu = GpuRequest::None;
            place.devices = Box::default();
        }
        Some(Bound::Gpus(held)) => {
            facts.shape.gpu.clone_from(&held.0);
            place.devices.clone_from(&held.1);
        }
        None if facts.shape.gpu == GpuRequest::None && place.devices.is_empty() => {
            *known = Some(Bound::Plain);
        }
        None => {
            let held = (facts.shape.gpu.clone(), place.devices.clone());
            *known = Some(Bound::Gpus(Box::new(held)));
        }
    }
}

/// Tells who keeps shared GPUs of a pod that has to do with them, or had.
pub(in crate::ingest) fn tell(context: &mut Context, row: u32, wire: &pod::Wire<'_>, facts: &Pod) {
    if facts.owner == Owner::Reservation {
        tell_reservation(context, row, wire, facts);
        return;
    }
    let is_ours = matches!(facts.owner, Owner::Group(_));
    let has_node = facts.state.place().is_some();
    let is_labelled = !has_node && gpu_groups(&wire.metadata.labels).next().is_some();
    let standing = match &facts.state {
        PodState::Succeeded | PodState::Failed => Standing::Ended,
        PodState::Gated | PodState::Pending => Standing::Pending { is_labelled },
        PodState::Bound(place) | PodState::Running(place) => Standing::OnNode(place.node.number()),
        PodState::Releasing(place) | PodState::Lingering(place) | PodState::Stuck(place) => {
            Standing::Leaving(place.node.number())
        }
    };
    let held = facts.state.place().map_or(&[][..], |place| &place.devices);
    let devices: Vec<u32> = held.iter().map(|device| device_row(context, *device)).collect();
    let was_told = context.names.pods[row].shares;
    if was_told || (is_ours && (is_labelled || !devices.is_empty())) {
        context.names.pods[row].shares = true;
        context.shared.push(Told::Sharer { pod: row, devices, standing });
    }
}

fn tell_reservation(context: &mut Context, row: u32, wire: &pod::Wire<'_>, facts: &Pod) {
    let uuid = wire.metadata.annotations.value(annotation::RESERVED_GPU);
    let uuid = uuid.filter(|text| !text.is_empty()).map(Box::from);
    let first = gpu_groups(&wire.metadata.labels).next();
    let Some(device) = first.map(|(_, group)| context.names.devices.intern(group)) else { return };
    let (node, has_ended) = match &facts.state {
        PodState::Bound(place) | PodState::Running(place) => (place.node.number(), false),
        PodState::Releasing(place) | PodState::Lingering(place) | PodState::Stuck(place) => {
            (place.node.number(), true)
        }
        PodState::Succeeded | PodState::Failed => {
            (context.names.node(wire.node_name()).number(), true)
        }
        PodState::Gated | PodState::Pending => return,
    };
    context.names.pods[row].shares = true;
    let reservation = Reservation { pod: row, uuid, has_ended };
    context.shared.push(Told::Reservation { device, node, reservation });
}

/// Tells that a pod is gone.
pub(in crate::ingest) fn tell_gone(context: &mut Context, row: u32) {
    if context.names.pods.row(row).is_some_and(|pod| pod.shares || pod.is_fractional) {
        context.shared.push(Told::Gone { pod: row });
    }
}

fn device_row(context: &mut Context, device: kai_engine::DeviceId) -> u32 {
    let name = context.names.device_name(device);
    context.names.devices.intern(&name)
}
