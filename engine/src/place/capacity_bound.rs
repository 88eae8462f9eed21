//! Bounds on what nodes hold, by counting.

use crate::{
    base::{
        ids::{NodeId, PodId, ShapeId},
        resources::{GPU_MILLI, Lane, QueueLane},
    },
    fit::filter,
    state::State,
    told::pod::GpuRequest,
};

/// Compares what pods need of GPUs in all with what is free or coming free, in milli-devices; none where that is
/// enough.
///
/// Parts of GPUs are rounded for the pods.
pub(crate) fn gpu_gap(state: &State, pods: &[PodId]) -> Option<(i64, i64)> {
    let needed_milli: i64 = pods.iter().map(|pod| gpu_milli(state, *pod)).sum();
    let mut free_milli = 0;
    for rank in state.nodes().index.with_free_gpu.iter() {
        let node = state.nodes().index.node(rank);
        let parts = state.nodes().devices.get(node).map_or(0, Vec::len);
        free_milli += free_gpu(state, node) + i64::try_from(parts).unwrap_or(i64::MAX);
        if free_milli >= needed_milli {
            return None;
        }
    }
    (free_milli < needed_milli).then_some((needed_milli, free_milli))
}

/// Counts the pods of a shape that a node holds at most with what is free or coming free; devices are not counted.
pub(crate) fn room_now(state: &State, shape: ShapeId, node: NodeId) -> usize {
    let shape = &state.shapes()[shape];
    let bounds = shape.take.iter().filter(|(lane, _)| !filter::is_backed(state, *lane, node));
    let least = bounds.map(|(lane, amount)| state.nodes().free(node, *lane).max(0) / amount).min();
    usize::try_from(least.unwrap_or(0)).unwrap_or(0)
}

/// GPUs that are free or coming free on a node, parts of shared ones and MIG instances included.
pub(crate) fn free_gpu(state: &State, node: NodeId) -> i64 {
    let capacity = crate::state::device::capacity(state.nodes().gpus(node)).max(1);
    let parts: i64 = state.nodes().devices.get(node).map_or(0, |devices| {
        devices.iter().map(|device| device.room(capacity).max(0) * GPU_MILLI / capacity).sum()
    });
    // Pods may name thousands of profiles that no node has.
    let offered = state.nodes().facts.get(node).into_iter().flatten();
    let mig = offered.flat_map(|facts| facts.allocatable.iter()).map(|(lane, _)| {
        let milli = crate::state::shape::mig_milli(state.lanes(), lane);
        if milli > 0 { state.nodes().free(node, lane).max(0) * milli } else { 0 }
    });
    state.nodes().free(node, Lane::GPU).max(0) + parts + mig.sum::<i64>()
}

/// The GPUs that a pod takes at least, in milli-devices, wherever it goes.
fn gpu_milli(state: &State, pod: PodId) -> i64 {
    let shape = &state.shapes()[state.pods()[pod].shape];
    match &shape.facts.gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(*micro) / 1000 * i64::from(*devices),
        GpuRequest::Memory { mib, devices } => {
            let largest = i64::from(state.nodes().memory_max().unwrap_or(u32::MAX)).max(1);
            i64::from(*mib) * GPU_MILLI / largest * i64::from(*devices)
        }
        GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            shape.charge[QueueLane::Gpu] - shape.claims_milli()
        }
    }
}
