//! Labels, annotations and kinds of the scheduler's contract that the CLI reads and writes.

use kai_api::names::{annotation, label, queue, resource};

use crate::cluster::Resource;

pub(crate) const SCHEDULER: &str = kai_api::names::SCHEDULER_NAME;
pub(crate) const QUEUE: &str = label::QUEUE;
pub(crate) const PRIORITY: &str = label::PRIORITY_CLASS;
/// Names who submitted a workload, as a label or an annotation.
pub(crate) const USER: &str = label::USER;
pub(crate) const PREEMPTIBILITY: &str = label::PREEMPTIBILITY;
pub(crate) const MIN_MEMBER: &str = annotation::BATCH_MIN_MEMBER;
pub(crate) const GPU: &str = resource::NVIDIA_GPU;
pub(crate) const AMD_GPU: &str = resource::AMD_GPU;
/// Devices that the scheduler counts as a resource of their own, and no GPUs.
pub(crate) const GAUDI: &str = "habana.ai/gaudi";
pub(crate) const GPU_PRODUCT: &str = kai_api::names::node::GPU_PRODUCT;
pub(crate) const MIG: &str = resource::MIG_PREFIX;
pub(crate) const FRACTION: &str = annotation::GPU_FRACTION;
pub(crate) const MEMORY: &str = annotation::GPU_MEMORY;
pub(crate) const DEVICES: &str = annotation::GPU_FRACTION_DEVICES;
pub(crate) const SHARE_CONTAINER: &str = annotation::GPU_FRACTION_CONTAINER;
pub(crate) const MPS: &str = annotation::MPS;
pub(crate) const POD_GROUP: &str = annotation::POD_GROUP;
pub(crate) const TOP_OWNER: &str = annotation::TOP_OWNER;
/// The queue of a workload that names none.
pub(crate) const DEFAULT_QUEUE: &str = queue::DEFAULT;
/// Number of replicas before `suspend` scaled to zero; the CLI's own.
pub(crate) const REPLICAS_BEFORE: &str = "kai.scheduler/replicas-before-suspend";
/// The annotation of a held queue that keeps the limits that it had.
pub(crate) const LIMITS_BEFORE: &str = "kai.scheduler/limits-before-hold";

pub(crate) fn queues() -> Resource {
    Resource::new("scheduling.run.ai/v2", "Queue", "queues").cluster_wide()
}

pub(crate) fn pod_groups() -> Resource {
    Resource::new("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups")
}

pub(crate) fn pods() -> Resource {
    Resource::new("v1", "Pod", "pods")
}
