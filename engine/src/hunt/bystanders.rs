//! Groups that wait as well while a set of victims is tried: they get nothing, but whose turn it is depends on them.
//!
//! # Source
//! spec/scheduling.md 8.5: the order is the pending order over every group that waits; those that are neither a victim
//! nor the one for whom room is made are taken off and passed over.

use crate::{
    cluster::Cluster,
    ids::{GroupId, PodId, QueueId, ShapeId},
    order::GroupKey,
    resources::Charge,
};

/// A group that waits, in which queue, with what it asks for.
type Waiting = (QueueId, GroupKey, Charge);

impl Cluster {
    /// The groups whose turns come between those of `taking`, which are put in order, as far as they matter.
    ///
    /// Only the queues of these are looked at, and the first groups that wait in each. One that asks for no more than
    /// another whose turn comes right before changes nothing. One that asks for more than the whole cluster offers is no
    /// reason to leave its queue without what it is due.
    ///
    /// # Cost
    /// In the number of `taking`, and in that of their queues times a bound.
    pub(super) fn bystanders(&mut self, taking: &mut [Waiting]) -> Vec<Waiting> {
        let total = self.total();
        taking.sort_unstable_by_key(|(queue, key, _)| (*queue, *key));
        let mut between = Vec::new();
        for of_queue in taking.chunk_by(|(left, ..), (right, ..)| left == right) {
            let (queue, last, _) = of_queue[of_queue.len() - 1];
            let mut at = 0;
            self.agenda.know_front(queue);
            let front = self.agenda.front(queue).iter();
            let mut before: Option<Charge> = None;
            for (key, class) in front.take_while(|(key, _)| *key < last) {
                let passed =
                    of_queue[at..].iter().take_while(|(_, taking, _)| taking < key).count();
                if passed > 0 {
                    before = None;
                    at += passed;
                }
                let ask = self.class_ask(*class);
                let covers = |before: Charge| before.0.iter().zip(ask.0).all(|(b, ask)| *b >= ask);
                let hopeless = ask.0.iter().zip(total.0).any(|(ask, total)| *ask > total);
                let takes = || of_queue.iter().any(|(_, taking, _)| taking.group == key.group);
                if hopeless || before.is_some_and(covers) || takes() {
                    continue;
                }
                before = Some(ask);
                between.push((queue, *key, ask));
            }
        }
        between
    }

    /// What decides whether some pods of a group find room, where nothing but their shapes and the queue does; groups
    /// for which it is the same stand in for each other.
    pub(super) fn kind_of(
        &self,
        group: GroupId,
        pods: &[PodId],
    ) -> Option<(QueueId, Vec<ShapeId>)> {
        let row = &self.groups[group];
        let plain = |pod: &PodId| {
            let facts = &self.pods[*pod];
            facts.claims.is_empty() && !self.shapes[facts.shape].is_social()
        };
        let alike = self.antisocial.is_empty() && row.tree.only_leaf().is_some();
        let shapes = || pods.iter().map(|pod| self.pods[*pod].shape).collect();
        (alike && pods.iter().all(plain)).then(|| Some((row.queue()?, shapes()))).flatten()
    }
}
