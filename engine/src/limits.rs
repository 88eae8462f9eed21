//! What queues allow at most.
//!
//! # Source
//! spec/scheduling.md 3.7.

use crate::{
    cluster::Cluster,
    group::Group,
    ids::{GroupId, NodeId, PodId, QueueId},
    plan::{Bound, Why},
    resources::{Charge, Limit, QueueLane},
};

/// Which bound a charge runs into.
enum Breach {
    Limit,
    Quota,
}

impl Cluster {
    /// Whether every queue from the group's up may take as much more; if not, the first that may not.
    pub(crate) fn affords(&self, group: GroupId, charge: Charge) -> Result<(), Why> {
        let Some(facts) = &self.groups[group].facts else { return Err(Why::QueueMissing) };
        let Some(queue) = facts.queue else { return Err(Why::QueueMissing) };
        for at in self.queues.path(queue) {
            if let Some((breach, lane)) = self.breaches(at, facts, charge).next() {
                let bound = Bound { queue: self.queue_state(at), lane, requested: charge };
                return Err(match breach {
                    Breach::Limit => Why::OverLimit(Box::new(bound)),
                    Breach::Quota => Why::OverQuota(Box::new(bound)),
                });
            }
        }
        Ok(())
    }

    /// Whether the queues of a pod may take what the pod costs on a node.
    pub(crate) fn affords_here(&self, pod: PodId, node: NodeId) -> bool {
        let Some(group) = self.pods[pod].group() else { return false };
        let Some(facts) = &self.groups[group].facts else { return false };
        let Some(queue) = facts.queue else { return false };
        let charge = self.shapes[self.pods[pod].shape].charge_on(self.nodes.gpus(node).memory_mib);
        self.queues.path(queue).all(|at| self.breaches(at, facts, charge).next().is_none())
    }

    /// Whether a group that cannot be evicted would stay within the quotas of its queues.
    pub(crate) fn within_quota(&self, group: GroupId, charge: Charge) -> bool {
        let Some(facts) = &self.groups[group].facts else { return false };
        let Some(queue) = facts.queue else { return false };
        facts.preemptible
            || self.queues.path(queue).all(|at| {
                self.breaches(at, facts, charge).all(|(breach, _)| matches!(breach, Breach::Limit))
            })
    }

    fn breaches(
        &self,
        queue: QueueId,
        group: &Group,
        charge: Charge,
    ) -> impl Iterator<Item = (Breach, QueueLane)> {
        let row = &self.queues.rows[queue];
        let over = move |used: Charge, bound: Option<crate::PerLane<Limit>>| {
            QueueLane::ALL.into_iter().filter(move |lane| {
                bound.is_some_and(|bound| {
                    charge[*lane] != 0 && !bound[*lane].admits(used[*lane] + charge[*lane])
                })
            })
        };
        let limit = row.facts.as_ref().map(|facts| facts.limit);
        let quota = row.facts.as_ref().map(|facts| facts.quota).filter(|_| !group.preemptible);
        let limits = over(row.used, limit).map(|lane| (Breach::Limit, lane));
        limits.chain(over(row.fixed, quota).map(|lane| (Breach::Quota, lane)))
    }
}
