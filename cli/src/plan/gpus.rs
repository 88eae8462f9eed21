//! GPUs of pods, as queues count them.

use kai_engine::{Cluster as Engine, GPU_MILLI, GpuRequest, PodId, Shape};

/// GPUs of a pod in thousandths; memory counts as the part that it is of a device of its node, else of nothing.
pub(super) fn gpu_milli(engine: &Engine, pod: PodId) -> i64 {
    let Some(facts) = engine.pod_waiting(pod) else { return 0 };
    let Shape { gpu, .. } = facts.shape;
    match gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(micro) * i64::from(devices) / 1000,
        GpuRequest::Memory { mib, devices } => {
            let node = engine.node_of(pod).and_then(|node| engine.node(node));
            let memory_mib = node.map_or(0, |node| node.gpus.memory_mib);
            if memory_mib == 0 {
                return 0;
            }
            i64::from(mib) * GPU_MILLI / i64::from(memory_mib) * i64::from(devices)
        }
        GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => {
            instances.iter().map(|(_, count)| i64::from(*count) * GPU_MILLI).sum()
        }
    }
}
