//! Labels, annotations and kinds of the scheduler's contract that the CLI reads and writes.

use crate::cluster::Resource;

pub(crate) const SCHEDULER: &str = "kai-scheduler";
pub(crate) const QUEUE: &str = "kai.scheduler/queue";
pub(crate) const PRIORITY: &str = "priorityClassName";
pub(crate) const PREEMPTIBILITY: &str = "kai.scheduler/preemptibility";
pub(crate) const MIN_MEMBER: &str = "kai.scheduler/batch-min-member";
pub(crate) const GPU: &str = "nvidia.com/gpu";
pub(crate) const MIG: &str = "nvidia.com/mig-";
pub(crate) const FRACTION: &str = "gpu-fraction";
pub(crate) const MEMORY: &str = "gpu-memory";
pub(crate) const DEVICES: &str = "gpu-fraction-num-devices";
pub(crate) const SHARE_CONTAINER: &str = "gpu-fraction-container-name";
pub(crate) const MPS: &str = "mps";
pub(crate) const POD_GROUP: &str = "pod-group-name";
pub(crate) const TOP_OWNER: &str = "kai.scheduler/top-owner-metadata";
/// Number of replicas before `suspend` scaled to zero.
pub(crate) const REPLICAS_BEFORE: &str = "kai.scheduler/replicas-before-suspend";
/// The queue of a workload that names none.
pub(crate) const DEFAULT_QUEUE: &str = "default-queue";

pub(crate) fn queues() -> Resource {
    Resource::new("scheduling.run.ai/v2", "Queue", "queues").cluster_wide()
}

pub(crate) fn pod_groups() -> Resource {
    Resource::new("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups")
}

pub(crate) fn pods() -> Resource {
    Resource::new("v1", "Pod", "pods")
}
