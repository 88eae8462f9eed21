//! Keys of labels and annotations that only grouping reads.

pub(crate) const POD_GROUP_API_VERSION: &str = "scheduling.run.ai/v2alpha2";
pub(crate) const POD_GROUP_ANNOTATION: &str = "pod-group-name";
pub(crate) const SUBGROUP_LABEL: &str = "kai.scheduler/subgroup-name";
pub(crate) const SKIP_ANNOTATION: &str = "kai.scheduler/skip-podgrouper";
pub(crate) const TOP_OWNER_ANNOTATION: &str = "kai.scheduler/top-owner-metadata";
pub(crate) const PRIORITY_LABEL: &str = "priorityClassName";
pub(crate) const PREEMPTIBILITY_LABEL: &str = "kai.scheduler/preemptibility";
pub(crate) const PROJECT_LABEL: &str = "project";
pub(crate) const USER: &str = "user";
pub(crate) const PREEMPTION_DELAY: &str = "kai.scheduler/preemption-delay";
pub(crate) const STALENESS_GRACE: &str = "kai.scheduler/staleness-grace-period";
pub(crate) const TOPOLOGY: &str = "kai.scheduler/topology";
pub(crate) const TOPOLOGY_REQUIRED: &str = "kai.scheduler/topology-required-placement";
pub(crate) const TOPOLOGY_PREFERRED: &str = "kai.scheduler/topology-preferred-placement";
pub(crate) const SEGMENT_SIZE: &str = "kai.scheduler/segment-size";
pub(crate) const SEGMENT_REQUIRED: &str = "kai.scheduler/segment-topology-required-placement";
pub(crate) const SEGMENT_PREFERRED: &str = "kai.scheduler/segment-topology-preferred-placement";
pub(crate) const BATCH_MIN_MEMBER: &str = "kai.scheduler/batch-min-member";
pub(crate) const DEFAULT_QUEUE: &str = "default-queue";
