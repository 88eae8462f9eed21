//! Describes what decides whose objects are ours; from the command line.

use std::time::Duration;

use kai_api::names::reason;

/// Holds what decides whose objects are ours; from the command line.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Clone, Debug)]
pub struct Rules {
    /// `spec.schedulerName` of our pods.
    pub scheduler_name: String,
    /// Label of the node pool; empty: everything is ours.
    pub pool_key: String,
    /// The node pool; empty: objects without the label.
    pub pool_value: String,
    /// `app` label of reservation pods.
    pub reservation_app: String,
    /// Namespace of reservation pods.
    pub reservation_namespace: String,
    /// Label of a claim that names the queue whose pods may share it.
    pub queue_key: String,
    /// No pod may share a GPU.
    pub is_sharing_off: bool,
    /// Labels of CPU, GPU and MIG workers.
    pub worker_keys: [String; 3],
    /// Only nodes that are CPU or GPU workers are there.
    pub wants_workers: bool,
    /// Keep the queue tree.
    pub full_hierarchy: bool,
    /// A pod that terminates for longer gives nothing back; milliseconds.
    pub stuck_after: i64,
    /// Reason of the condition `DisruptionTarget` that pods have which a plan evicts; none where they have no such condition.
    pub evicted_by: Option<&'static str>,
    /// The longest time that the claims of a pod may take to get their volumes.
    pub volumes_bound_within: Duration,
    /// Messages have the detailed form: they name every node.
    pub detailed: bool,
}

impl Rules {
    /// The rules of a command line.
    pub fn new(args: &crate::Args) -> Self {
        Self {
            scheduler_name: args.scheduler_name.clone(),
            pool_key: args.nodepool_label_key.clone(),
            pool_value: args.partition_label_value.clone(),
            reservation_app: args.resource_reservation_app_label.clone(),
            reservation_namespace: args.sharing.resource_reservation_namespace.clone(),
            queue_key: args.queue_label_key.clone(),
            is_sharing_off: args.sharing.plugins.is_sharing_off,
            worker_keys: [
                args.cpu_worker_node_label_key.clone(),
                args.gpu_worker_node_label_key.clone(),
                args.mig_worker_node_label_key.clone(),
            ],
            wants_workers: args.restrict_node_scheduling,
            full_hierarchy: args.full_hierarchy_fairness,
            stuck_after: i64::try_from(args.stuck_in_releasing_threshold.as_millis())
                .unwrap_or(i64::MAX),
            // The server announces evictions that it is asked for by itself.
            evicted_by: if args.respect_disruption_budgets {
                Some(reason::EVICTION_BY_API)
            } else {
                args.update_pod_eviction_condition.then_some(reason::PREEMPTION_BY_SCHEDULER)
            },
            volumes_bound_within: Duration::from_secs(args.volume_binding_timeout_seconds),
            detailed: args.detailed_fit_errors,
        }
    }

    /// The pool as messages name it.
    pub fn pool(&self) -> &str {
        if self.pool_value.is_empty() {
            kai_api::names::DEFAULT_NODE_POOL
        } else {
            &self.pool_value
        }
    }

    /// Tells whether a node with these labels is one that work may go to: in our node pool, and a worker where only those
    /// are taken.
    ///
    /// # Source
    /// docs/behaviour.md 1.2, step 3.
    pub(crate) fn is_our_node(&self, labels: &crate::server::wire::Pairs<'_>) -> bool {
        let [cpu, gpu, _] = &self.worker_keys;
        let is_worker = || [cpu, gpu].iter().any(|key| labels.value(key).is_some());
        self.is_ours(labels) && (!self.wants_workers || is_worker())
    }

    /// Tells whether an object with these labels belongs to our node pool.
    pub(crate) fn is_ours(&self, labels: &crate::server::wire::Pairs<'_>) -> bool {
        let value = labels.value(&self.pool_key);
        match (self.pool_key.is_empty(), self.pool_value.is_empty()) {
            (true, _) => true,
            (false, true) => value.is_none(),
            (false, false) => value == Some(&*self.pool_value),
        }
    }
}
