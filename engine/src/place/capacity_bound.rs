//! What nodes hold at most, by counting.

use crate::{
    base::{
        ids::{NodeId, PodId, ShapeId},
        resources::{GPU_MILLI, Lane, QueueLane},
    },
    state::Cluster,
    told::pod::GpuRequest,
};

impl Cluster {
    /// What pods need of GPUs in all and what is free or coming free, in milli-devices, where that is less.
    ///
    /// Parts of GPUs are rounded for the pods.
    pub(crate) fn gpu_gap(&self, pods: &[PodId]) -> Option<(i64, i64)> {
        let needed_milli: i64 = pods.iter().map(|pod| gpu_milli(self, *pod)).sum();
        let mut free_milli = 0;
        for rank in self.nodes.index.with_free_gpu.iter() {
            let node = self.nodes.index.node(rank);
            let parts = self.nodes.devices.get(node).map_or(0, Vec::len);
            free_milli += self.free_gpu(node) + i64::try_from(parts).unwrap_or(i64::MAX);
            if free_milli >= needed_milli {
                return None;
            }
        }
        (free_milli < needed_milli).then_some((needed_milli, free_milli))
    }

    /// How many pods of a shape a node holds at most with what is free or coming free; devices are not counted.
    pub(crate) fn room_now(&self, shape: ShapeId, node: NodeId) -> usize {
        let shape = &self.shapes[shape];
        let bounds = shape.take.iter().filter(|(lane, _)| !self.is_backed(*lane, node));
        let least = bounds.map(|(lane, amount)| self.nodes.free(node, *lane).max(0) / amount).min();
        usize::try_from(least.unwrap_or(0)).unwrap_or(0)
    }

    /// GPUs that are free or coming free on a node, parts of shared ones and MIG instances included.
    pub(crate) fn free_gpu(&self, node: NodeId) -> i64 {
        let capacity = crate::state::device::capacity(self.nodes.gpus(node)).max(1);
        let parts: i64 = self.nodes.devices.get(node).map_or(0, |devices| {
            devices.iter().map(|device| device.room(capacity).max(0) * GPU_MILLI / capacity).sum()
        });
        let mig = self.nodes.mig_lanes.iter().map(|lane| {
            self.nodes.free(node, *lane).max(0) * crate::state::shape::mig_milli(&self.lanes, *lane)
        });
        self.nodes.free(node, Lane::GPU).max(0) + parts + mig.sum::<i64>()
    }
}

/// The GPUs that a pod takes at least, in milli-devices, wherever it goes.
fn gpu_milli(cluster: &Cluster, pod: PodId) -> i64 {
    let shape = &cluster.shapes[cluster.pods[pod].shape];
    match &shape.facts.gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(*micro) / 1000 * i64::from(*devices),
        GpuRequest::Memory { mib, devices } => {
            let largest = i64::from(cluster.nodes.memory_max().unwrap_or(u32::MAX)).max(1);
            i64::from(*mib) * GPU_MILLI / largest * i64::from(*devices)
        }
        GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            shape.charge[QueueLane::Gpu] - shape.claims_milli()
        }
    }
}
