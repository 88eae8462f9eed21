//! What queues allow at most.
//!
//! # Source
//! spec/scheduling.md 3.7.

use crate::{
    base::{
        ids::{GroupId, NodeId, PodId},
        resources::{Charge, Limit, PerLane, QueueLane},
    },
    decided::plan::{Bound, Why},
    state::{Cluster, rows::QueueRow},
    told::group::Group,
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
        if facts.preemptible && !self.queues.rows[queue].limited {
            return Ok(());
        }
        for at in self.queues.path(queue) {
            let row = &self.queues.rows[at];
            let over = row.over_limit(charge).map(|lane| (Breach::Limit, lane));
            let over = over.or_else(|| Some((Breach::Quota, row.over_quota(facts, charge)?)));
            if let Some((breach, lane)) = over {
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
        let free = facts.preemptible && !self.queues.rows[queue].limited;
        free || self.queues.path(queue).all(|at| {
            let row = &self.queues.rows[at];
            row.over_limit(charge).or_else(|| row.over_quota(facts, charge)).is_none()
        })
    }

    /// Whether a group that cannot be evicted would stay within the quotas of its queues.
    pub(crate) fn within_quota(&self, group: GroupId, charge: Charge) -> bool {
        let Some(facts) = &self.groups[group].facts else { return false };
        let Some(queue) = facts.queue else { return false };
        let within = |at| self.queues.rows[at].over_quota(facts, charge).is_none();
        facts.preemptible || self.queues.path(queue).all(within)
    }
}

impl QueueRow {
    /// The first resource on which so much more is above the limit.
    fn over_limit(&self, charge: Charge) -> Option<QueueLane> {
        over(&self.used, &charge, &self.facts.as_ref()?.limit)
    }

    /// The first resource on which so much more is above the quota, for a group that cannot be evicted.
    fn over_quota(&self, group: &Group, charge: Charge) -> Option<QueueLane> {
        if group.preemptible {
            return None;
        }
        over(&self.fixed, &charge, &self.facts.as_ref()?.quota)
    }
}

/// The first resource of those that are charged which is used beyond a bound then.
fn over(used: &Charge, charge: &Charge, bound: &PerLane<Limit>) -> Option<QueueLane> {
    let breaks =
        |lane: &QueueLane| charge[*lane] != 0 && !bound[*lane].admits(used[*lane] + charge[*lane]);
    QueueLane::ALL.iter().copied().find(breaks)
}
