//! Every label, annotation, resource and object name that the project reads or writes.
//!
//! One place, so that a name is spelled once and `grep` finds its users. Sections follow the
//! wire contract: what users write, what the system writes, what nodes carry, what is installed.

/// The API group of Queue, `PodGroup` and `BindRequest`.
pub const SCHEDULING_GROUP: &str = "scheduling.run.ai";

/// The API group of Topology, `SchedulingShard` and Config.
pub const KAI_GROUP: &str = "kai.scheduler";

/// `spec.schedulerName` of the pods that the scheduler serves unless told otherwise.
pub const SCHEDULER_NAME: &str = "kai-scheduler";

/// The only Config object that is honoured; others are ignored.
pub const CONFIG_NAME: &str = "kai-config";

/// The shard that serves all objects without a node-pool label.
pub const DEFAULT_SHARD: &str = "default";

/// Name in messages and metrics of the node pool of an object without the label.
pub const DEFAULT_NODE_POOL: &str = "default";

/// Label keys on workloads, pods, `PodGroup`s, queues and the system's own objects.
pub mod label {
    /// The queue of a workload; on a shared `ResourceClaim`, the queue that may use it.
    pub const QUEUE: &str = "kai.scheduler/queue";
    /// The node pool of nodes, queues, `PodGroup`s and pods; absent: the default shard's.
    pub const NODE_POOL: &str = "kai.scheduler/node-pool";
    /// The priority class for the `PodGroup` (a label, not the pod's field).
    pub const PRIORITY_CLASS: &str = "priorityClassName";
    /// `preemptible` or `non-preemptible`.
    pub const PREEMPTIBILITY: &str = "kai.scheduler/preemptibility";
    /// The sub-group of the `PodGroup` that a pod belongs to.
    pub const SUBGROUP: &str = "kai.scheduler/subgroup-name";
    /// Order of pods inside a group.
    pub const TASK_PRIORITY: &str = "kai.scheduler/task-priority";
    /// Legacy: queue fall-back `project[-nodepool]`.
    pub const PROJECT: &str = "project";
    /// Legacy: copied to the `PodGroup` as an annotation.
    pub const USER: &str = "user";
    /// API group that a Karta describes.
    pub const KARTA_GROUP: &str = "run.ai/karta-group";
    /// API version that a Karta describes.
    pub const KARTA_VERSION: &str = "run.ai/karta-version";
    /// Kind that a Karta describes.
    pub const KARTA_KIND: &str = "run.ai/karta-kind";

    /// The shared device of a pod or reservation pod: a UUID.
    pub const GPU_GROUP: &str = "runai-gpu-group";
    /// Before the group's name in the label key of a pod on several shared devices.
    pub const GPU_GROUP_PREFIX: &str = "runai-gpu-group/";
    /// The node that a `BindRequest` is for.
    pub const SELECTED_NODE: &str = "selected-node";
    /// The component that an object belongs to.
    pub const APP: &str = "app";
    /// The pod that a scaling pod stands for.
    pub const SHARED_GPU_POD_NAME: &str = "shared-gpu-pod-name";
    /// The namespace of the pod that a scaling pod stands for.
    pub const SHARED_GPU_POD_NAMESPACE: &str = "shared-gpu-pod-namespace";
    /// The manager of an installed object.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// The product that an installed object is part of.
    pub const PART_OF: &str = "app.kubernetes.io/part-of";
    /// The part of the product that an installed object is.
    pub const COMPONENT: &str = "app.kubernetes.io/component";
    /// The version that installed an object.
    pub const VERSION: &str = "app.kubernetes.io/version";
    /// Mark of what accounting scrapes: on `ServiceMonitor`s and rules.
    pub const ACCOUNTING: &str = "kai.scheduler/accounting";
    /// The day of a `DailyRecord`.
    pub const DAY: &str = "kai.scheduler/day";
    /// `true` on a `DailyRecord` of which a workload had pods when it was written.
    pub const OPEN_RECORD: &str = "kai.scheduler/open";
}

/// Values of labels and annotations.
pub mod value {
    /// Of [`super::label::APP`] on reservation pods.
    pub const RESERVATION_APP: &str = "kai-resource-reservation";
    /// Of [`super::label::APP`] on scaling pods.
    pub const SCALING_APP: &str = "scaling-pod";
    /// Of [`super::label::MANAGED_BY`] on Deployments that KAI's operator made.
    pub const KAI_OPERATOR: &str = "kai-operator";
    /// Of [`super::label::MANAGED_BY`] on objects that `kubectl kai install` made.
    pub const INSTALLER: &str = "kubectl-kai";
    /// Of [`super::label::SUBGROUP`], also where a pod has no such label; a group without sub-groups has this one.
    pub const DEFAULT_SUBGROUP: &str = "default";
    /// Of [`super::label::PART_OF`].
    pub const PRODUCT: &str = "kai-scheduler";
    /// Of [`super::annotation::RECEIVED_RESOURCE_TYPE`]: whole devices or none.
    pub const RECEIVED_REGULAR: &str = "Regular";
    /// Of [`super::annotation::RECEIVED_RESOURCE_TYPE`]: part of a device.
    pub const RECEIVED_FRACTION: &str = "Fraction";
    /// Of [`super::annotation::RECEIVED_RESOURCE_TYPE`]: MIG devices.
    pub const RECEIVED_MIG: &str = "MigInstance";
    /// Of [`super::label::PREEMPTIBILITY`] and [`super::annotation::BOUND_PREEMPTIBILITY`].
    pub const PREEMPTIBLE: &str = "preemptible";
    /// Of [`super::label::PREEMPTIBILITY`] and [`super::annotation::BOUND_PREEMPTIBILITY`].
    pub const NON_PREEMPTIBLE: &str = "non-preemptible";
}

/// Annotation keys.
pub mod annotation {
    /// Part of one device: a decimal, 0 < x < 1.
    pub const GPU_FRACTION: &str = "gpu-fraction";
    /// Memory of one device: an unsigned integer in MiB.
    pub const GPU_MEMORY: &str = "gpu-memory";
    /// The share is taken on each of so many devices: an integer >= 1.
    pub const GPU_FRACTION_DEVICES: &str = "gpu-fraction-num-devices";
    /// The container that gets the device; default: the first regular one.
    pub const GPU_FRACTION_CONTAINER: &str = "gpu-fraction-container-name";
    /// `true`: needs a fractional request.
    pub const MPS: &str = "mps";
    /// The `PodGroup` that a pod belongs to, in its namespace.
    pub const POD_GROUP: &str = "pod-group-name";
    /// Exactly `true` on a pod or an owner: the podgrouper leaves it alone.
    pub const SKIP_PODGROUPER: &str = "kai.scheduler/skip-podgrouper";
    /// Becomes `preemptionDelay` of the `PodGroup`: a duration.
    pub const PREEMPTION_DELAY: &str = "kai.scheduler/preemption-delay";
    /// Becomes `stalenessGracePeriod` of the `PodGroup`: a duration.
    pub const STALENESS_GRACE_PERIOD: &str = "kai.scheduler/staleness-grace-period";
    /// Name of the Topology that a workload's levels are of.
    pub const TOPOLOGY: &str = "kai.scheduler/topology";
    /// Level or alias that the whole gang must share.
    pub const TOPOLOGY_REQUIRED: &str = "kai.scheduler/topology-required-placement";
    /// Level or alias that the whole gang should share.
    pub const TOPOLOGY_PREFERRED: &str = "kai.scheduler/topology-preferred-placement";
    /// Replicas of a segment: an integer.
    pub const SEGMENT_SIZE: &str = "kai.scheduler/segment-size";
    /// Level or alias that each segment must share.
    pub const SEGMENT_TOPOLOGY_REQUIRED: &str = "kai.scheduler/segment-topology-required-placement";
    /// Level or alias that each segment should share.
    pub const SEGMENT_TOPOLOGY_PREFERRED: &str =
        "kai.scheduler/segment-topology-preferred-placement";
    /// Gang size of a Job or `JobSet`: an integer.
    pub const BATCH_MIN_MEMBER: &str = "kai.scheduler/batch-min-member";
    /// Before the profile's name in the key of a legacy MIG request.
    pub const MIG_PREFIX: &str = "nvidia.com/mig-";

    /// Prefix of the names of a fractional pod's config maps.
    pub const SHARED_GPU_CONFIG_MAP: &str = "runai/shared-gpu-configmap";
    /// Number of times that a config map of a fractional pod was written, where it was more than once.
    pub const WRITE_COUNT: &str = "kai.scheduler/write-count";
    /// Kind of GPUs that a bound pod was given: see [`super::value::RECEIVED_REGULAR`] and its neighbours.
    pub const RECEIVED_RESOURCE_TYPE: &str = "received-resource-type";
    /// The queue on whose account a pod was bound.
    pub const BOUND_QUEUE: &str = "kai.scheduler/bound-queue";
    /// Tells whether a pod may be evicted, as it was when it was bound: `preemptible` or `non-preemptible`.
    pub const BOUND_PREEMPTIBILITY: &str = "kai.scheduler/bound-preemptibility";
    /// JSON `[{"zone":..,"amount":..}]`, foreseen by the scheduler.
    pub const NUMA_PREDICTED: &str = "kai.scheduler/numa-placement-predicted";
    /// JSON `[{"zone":..,"amount":..}]`, seen on the node.
    pub const NUMA_OBSERVED: &str = "kai.scheduler/numa-placement-observed";
    /// The device's UUID (in spite of the name), on a reservation pod.
    pub const RESERVED_GPU: &str = "run.ai/reserve_for_gpu_index";
    /// `true` on reservation pods.
    pub const KARPENTER_DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
    /// YAML with name, uid, group, version and kind of the workload's top owner.
    pub const TOP_OWNER: &str = "kai.scheduler/top-owner-metadata";
    /// RFC 3339: when a gang fell below its minimum.
    pub const STALE_SINCE: &str = "kai.scheduler/stale-podgroup-timestamp";
    /// RFC 3339: when a gang last started; basis of the minimum run time.
    pub const LAST_START: &str = "kai.scheduler/last-start-timestamp";
    /// RFC 3339: when a gang was last evicted; re-arms its preemption delay.
    pub const LAST_EVICTION: &str = "kai.scheduler/last-eviction-timestamp";
    /// On a `PodGroup` that waits, ours: why, beyond the condition, as [`crate::explanation::Explanation`].
    pub const EXPLANATION: &str = "kai.scheduler/explanation";
    /// Those that the scheduler writes on pod groups.
    pub const OF_SCHEDULER: [&str; 4] = [STALE_SINCE, LAST_START, LAST_EVICTION, EXPLANATION];
    /// On an `Evict` event: how many pods were evicted.
    pub const EVICTED_PODS: &str = "num-evicted-pods";
    /// On an `Evict` event: name of the `PodGroup` that they were evicted for.
    pub const EVICTOR_NAME: &str = "evictor-pod-group-name";
    /// On an `Evict` event: namespace of the `PodGroup` that they were evicted for.
    pub const EVICTOR_NAMESPACE: &str = "evictor-pod-group-namespace";
    /// On an `Evict` event: the action that evicted.
    pub const EVICTOR_ACTION: &str = "evictor-action-type";
    /// `true` on a `ResourceClaim` made for an extended resource.
    pub const EXTENDED_RESOURCE_CLAIM: &str = "resource.kubernetes.io/extended-resource-claim";
    /// On the scheduler Deployment's pod template: rolls pods when the configuration changes.
    pub const CONFIG_MAP_VERSION: &str = "configMapVersion";
    /// On a Topology that was copied from a Kueue Topology.
    pub const MIGRATED_FROM: &str = "kai.scheduler/migrated-from";
    /// Helm's: `keep` leaves an object behind on uninstall.
    pub const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";
    /// Argo CD's: `Prune=false` leaves an object behind.
    pub const ARGOCD_SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
    /// kubectl's: which container `logs` and `exec` take.
    pub const KUBECTL_DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";
}

/// Words of the scheduler where a GPU could not be reserved for sharing; clients tell such messages by these words.
pub mod no_reservation {
    /// The reservation pod could not be made.
    pub const REFUSED: &str = "its GPU could not be reserved";
    /// It did not say its device in time, or ended.
    pub const FAILED: &str = "the pod that reserves its GPU came to nothing";
    /// It is gone, with the device that is shared.
    pub const GONE: &str = "the pod that reserved its GPU is gone";
    /// A node is left out for a while, since a reservation on it failed.
    pub const SET_ASIDE: &str =
        "node(s) had no GPU to share: a reservation on them came to nothing";
    /// All of them.
    pub const ALL: [&str; 4] = [REFUSED, FAILED, GONE, SET_ASIDE];
}

/// Labels that nodes carry.
pub mod node {
    /// Memory of each device in MiB; a value that can only be bytes is converted.
    pub const GPU_MEMORY: &str = "nvidia.com/gpu.memory";
    /// Number of devices.
    pub const GPU_COUNT: &str = "nvidia.com/gpu.count";
    /// The device's product name.
    pub const GPU_PRODUCT: &str = "nvidia.com/gpu.product";
    /// `single`, `mixed` or `none`.
    pub const MIG_STRATEGY: &str = "nvidia.com/mig.strategy";
    /// `true`: the node's devices are pretended.
    pub const FAKE_GPU: &str = "run.ai/fake.gpu";
    /// Default of `--cpu-worker-node-label-key`.
    pub const CPU_WORKER: &str = "node-role.kubernetes.io/cpu-worker";
    /// Default of `--gpu-worker-node-label-key`.
    pub const GPU_WORKER: &str = "node-role.kubernetes.io/gpu-worker";
    /// Default of `--mig-worker-node-label-key`.
    pub const MIG_WORKER: &str = "node-role.kubernetes.io/mig-enabled";
    /// The node's own name; the lowest level that a Topology can have.
    pub const HOSTNAME: &str = "kubernetes.io/hostname";
    /// `true` where the NUMA exporter runs.
    pub const MEMORY_NUMA: &str = "feature.node.kubernetes.io/memory-numa";
}

/// Resource names in requests and capacities.
pub mod resource {
    /// Processor cores.
    pub const CPU: &str = "cpu";
    /// Main memory, bytes.
    pub const MEMORY: &str = "memory";
    /// Pods of a node.
    pub const PODS: &str = "pods";
    /// Local scratch space, bytes.
    pub const EPHEMERAL_STORAGE: &str = "ephemeral-storage";
    /// NVIDIA devices.
    pub const NVIDIA_GPU: &str = "nvidia.com/gpu";
    /// AMD devices.
    pub const AMD_GPU: &str = "amd.com/gpu";
    /// Before the profile in the name of a MIG resource.
    pub const MIG_PREFIX: &str = "nvidia.com/mig-";
    /// Memory of shared devices in MiB, in the status of a `PodGroup`: only asked for, since what is given are devices.
    pub const SHARED_GPU_MEMORY: &str = "run.ai/gpu.memory";
}

/// Environment variables.
pub mod env {
    /// The devices that a container may see.
    pub const VISIBLE_DEVICES: &str = "NVIDIA_VISIBLE_DEVICES";
    /// The share per device.
    pub const NUM_OF_GPUS: &str = "RUNAI_NUM_OF_GPUS";
    /// The share per device, again.
    pub const GPU_PORTION: &str = "GPU_PORTION";
    /// Memory limit of the device library.
    pub const CUDA_MEMORY_LIMIT: &str = "CUDA_DEVICE_MEMORY_LIMIT";
    /// Per device how much memory a client of MPS may pin; read by CUDA, set by users.
    pub const MPS_MEMORY_LIMIT: &str = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT";
    /// Name of the pod it is read in.
    pub const POD_NAME: &str = "POD_NAME";
    /// Namespace of the pod it is read in.
    pub const POD_NAMESPACE: &str = "POD_NAMESPACE";
    /// UID of the pod it is read in.
    pub const POD_UID: &str = "POD_UID";
    /// Namespace of the scheduler.
    pub const NAMESPACE: &str = "NAMESPACE";
    /// Historic key of [`VISIBLE_DEVICES`] in config maps; refreshed where it is there.
    pub const LEGACY_VISIBLE_DEVICES: &str = "RUNAI-VISIBLE-DEVICES";
}

/// Finalizers.
pub mod finalizer {
    /// On `ResourceClaim`s that were made for extended resources.
    pub const CLAIM: &str = "resource.kubernetes.io/delete-protection";
}

/// Namespaces.
pub mod namespace {
    /// Of the daemons.
    pub const SYSTEM: &str = "kai-scheduler";
    /// Of reservation pods.
    pub const RESERVATION: &str = "kai-resource-reservation";
    /// Of scaling pods.
    pub const SCALE_ADJUST: &str = "kai-scale-adjust";
}

/// Queues made at install.
pub mod queue {
    /// The parent.
    pub const DEFAULT_PARENT: &str = "default-parent-queue";
    /// Its only child; work without a queue goes here.
    pub const DEFAULT: &str = "default-queue";
}

/// Priority classes made at install: name and value.
pub mod priority_class {
    /// Batch training; preemptible.
    pub const TRAIN: (&str, i32) = ("train", 50);
    /// Interactive work that may be preempted.
    pub const BUILD_PREEMPTIBLE: (&str, i32) = ("build-preemptible", 75);
    /// Interactive work.
    pub const BUILD: (&str, i32) = ("build", 100);
    /// Serving.
    pub const INFERENCE: (&str, i32) = ("inference", 125);
    /// All four, by value.
    pub const ALL: [(&str, i32); 4] = [TRAIN, BUILD_PREEMPTIBLE, BUILD, INFERENCE];
    /// Priority of a `PodGroup` whose class is missing, where the cluster has no global default.
    pub const FALLBACK: i32 = 50;
    /// From this value on, work is not preemptible unless it says so.
    pub const NON_PREEMPTIBLE_FROM: i32 = 100;
}

/// Leases of leader election.
pub mod lease {
    /// KAI's podgrouper; ours takes the same, so that both never act at once.
    pub const PODGROUPER: &str = "54dff599.kai.scheduler";
    /// KAI's binder.
    pub const BINDER: &str = "2ad35f9c.kai.scheduler";
    /// KAI's queue controller.
    pub const QUEUE_CONTROLLER: &str = "ov3xj497.kai.scheduler";
    /// KAI's `PodGroup` controller.
    pub const POD_GROUP_CONTROLLER: &str = "o1x22tjj.kai.scheduler";
    /// KAI's scale adjuster.
    pub const SCALE_ADJUSTER: &str = "7n7h49uc.kai.scheduler";
    /// KAI's operator.
    pub const OPERATOR: &str = "41fce092.run.ai";
}

/// Components: each name is its program's, its `ServiceAccount`'s and its roles'.
pub mod component {
    /// The scheduler; its Deployments are named `kai-scheduler-<shard>`.
    pub const SCHEDULER: &str = "kai-scheduler";
    /// The component that says that a bind ended: a process of its own with KAI, the scheduler here.
    pub const BINDER: &str = "binder";
    /// The podgrouper and the controllers beside it; also its Deployment's name.
    pub const PODGROUPER: &str = "kai-podgrouper";
    /// Reservation pods, in [`super::namespace::RESERVATION`].
    pub const RESERVATION: &str = "kai-resource-reservation";
}

/// Condition types on pods and on the project's own objects.
pub mod condition {
    /// Pod: `False` with reason `Unschedulable` while its gang waits.
    pub const POD_SCHEDULED: &str = "PodScheduled";
    /// Pod: how its bind went.
    pub const POD_BOUND: &str = "PodBound";
    /// Pod: it is about to be evicted.
    pub const DISRUPTION_TARGET: &str = "DisruptionTarget";
    /// `PodGroup`, scheduling condition: it could not be scheduled on this node pool.
    pub const UNSCHEDULABLE_ON_NODE_POOL: &str = "UnschedulableOnNodePool";
    /// Queue: its parent does not exist.
    pub const ORPHAN: &str = "Orphan";
    /// Config, `SchedulingShard`: work in progress (kstatus).
    pub const RECONCILING: &str = "Reconciling";
    /// Config, `SchedulingShard`: all wanted objects are applied.
    pub const DEPLOYED: &str = "Deployed";
    /// Config, `SchedulingShard`: all wanted workloads are available.
    pub const AVAILABLE: &str = "Available";
    /// Config, `SchedulingShard`: what it needs from others is there.
    pub const DEPENDENCIES_FULFILLED: &str = "DependenciesFulfilled";
    /// Config, `SchedulingShard`: mirrors Available (kstatus, Helm).
    pub const READY: &str = "Ready";
    /// `SchedulingShard`: the database of past use answers; written by the scheduler.
    pub const USAGE_DATABASE_REACHABLE: &str = "UsageDatabaseReachable";
}

/// Reasons on `PodGroup` scheduling conditions and on pods.
pub mod reason {
    /// Of every scheduling condition, and of `PodScheduled=False`.
    pub const UNSCHEDULABLE: &str = "Unschedulable";
    /// Work that can't be preempted would go over its queue's quota.
    pub const NON_PREEMPTIBLE_OVER_QUOTA: &str = "NonPreemptibleOverQuota";
    /// The queue's limit is reached.
    pub const OVER_LIMIT: &str = "OverLimit";
    /// The gang may not cause evictions yet.
    pub const PREEMPTION_DELAY: &str = "PreemptionDelayNotElapsed";
    /// The queue is missing or an orphan.
    pub const QUEUE_DOES_NOT_EXIST: &str = "QueueDoesNotExist";
    /// A pod can't be scheduled as it is written.
    pub const POD_SCHEDULING_ERRORS: &str = "PodSchedulingErrors";
    /// No room.
    pub const NOT_ENOUGH_RESOURCES: &str = "Not enough resources for the workload";
    /// Of `DisruptionTarget`: a scheduler evicts the pod.
    pub const PREEMPTION_BY_SCHEDULER: &str = "PreemptionByScheduler";
    /// Of `DisruptionTarget`: the API server was asked to evict the pod.
    pub const EVICTION_BY_API: &str = "EvictionByEvictionAPI";
    /// Message where no reason is known.
    pub const UNABLE_TO_SCHEDULE: &str = "Unable to schedule podgroup";
}

/// Reasons of events.
pub mod event {
    /// Pod: a node was chosen.
    pub const SCHEDULED: &str = "Scheduled";
    /// Pod: the bind failed (scheduler).
    pub const FAILED_BINDING: &str = "FailedBinding";
    /// Pod: it waits for resources that are being released.
    pub const PIPELINED: &str = "Pipelined";
    /// Pod and `PodGroup`: why it waits.
    pub const UNSCHEDULABLE: &str = "Unschedulable";
    /// `PodGroup`: pods are missing.
    pub const NOT_READY: &str = "NotReady";
    /// `PodGroup`: it runs below its minimum.
    pub const STALE: &str = "StaleJob";
    /// `PodGroup`: one of its pods is evicted.
    pub const EVICT: &str = "Evict";
    /// Pod: bound.
    pub const BOUND: &str = "Bound";
    /// Pod: the bind failed (binder).
    pub const BINDING_ERROR: &str = "BindingError";
    /// Pod: nothing keeps it to its share of a GPU's memory, though the installation asks for that. Ours: KAI says nothing.
    pub const NO_MEMORY_LIMIT: &str = "NoGpuMemoryLimit";
    /// Pod: it can't be grouped.
    pub const POD_GROUPER_WARNING: &str = "PodGrouperWarning";
    /// Lease: a new leader.
    pub const LEADER_ELECTION: &str = "LeaderElection";
}
