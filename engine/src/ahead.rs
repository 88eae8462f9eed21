//! Reading ahead: what a turn reads lies in many tables, far apart, and was not read for as many turns as there are
//! queues.
//!
//! Read where it is needed, one after the other, each of these rows is waited for alone; read at once, memory gets them
//! side by side. Nothing is decided here: without it every plan is the same, and later.

use std::hint::black_box;

use crate::{
    cluster::Cluster,
    group::Structure,
    ids::{GroupId, QueueId},
};

impl Cluster {
    /// Reads the rows that the turn of a group of a leaf queue will read.
    pub(crate) fn read_ahead(&self, queue: QueueId, group: GroupId) {
        let of_queue = &self.queues.rows[queue];
        black_box((of_queue.used.0[0], of_queue.requested_mib));
        let row = &self.groups[group];
        black_box((row.last_start.is_some(), row.pods.first(), row.why.is_some()));
        self.agenda.read_ahead(queue, group);
        if let Some(facts) = &row.facts {
            black_box((facts.uid, facts.created, matches!(facts.structure, Structure::Malformed)));
        }
        let pod = row.tree.leaves.first().and_then(|leaf| leaf.pods.first());
        if let Some(pod) = pod {
            let state = &self.pods.state[*pod];
            black_box((state.phase, state.place.is_some(), state.nominee.is_some()));
            let facts = &self.pods[*pod];
            black_box((facts.owner, facts.claims.len()));
        }
    }
}
