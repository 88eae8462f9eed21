//! Describes what changed, told to the engine.

use kai_engine::{Cluster, Delta, PodId, Timestamp};

use super::{Run, outcome::not_bound};
use crate::{
    actuate::Task,
    ingest::Ingest,
    sharing::{Failed, Sharing},
};

impl Run {
    /// Tells the engine what changed.
    pub(super) fn tell(&mut self, now: Timestamp) {
        let Self { ingest, sharing, cluster, .. } = self;
        tell(ingest, sharing, cluster, now);
    }

    /// Tells the engine what objects said so far, before a cycle does.
    pub(super) fn absorb(&mut self) {
        self.is_told_early = true;
        for delta in self.ingest.context.deltas.drain(..) {
            self.cluster.apply(delta);
        }
    }

    /// Gives back the places of binds whose devices cannot be had, and says why. Where it is the node's fault, which is
    /// set aside by now, they are placed elsewhere in the next cycle; else their group waits, longer each time.
    pub(super) fn give_up_binds(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        for Failed { bind, reason, is_of_node } in self.sharing.take_failed() {
            self.ingest.take_back_volumes(bind.pod, &bind.volumes);
            let names = &self.ingest.context.names;
            if names.pods.find(&bind.uid) != Some(bind.pod) {
                continue;
            }
            self.ingest.context.deltas.push(Delta::BindFailed(PodId::new(bind.pod)));
            self.ingest.place(bind.pod, false);
            let names = &self.ingest.context.names;
            tasks.extend(not_bound(bind.pod, &bind.node, &reason, names, &self.dispatch));
            if let (false, Some(group)) = (is_of_node, names.pods[bind.pod].group) {
                self.hold(group);
            }
        }
        tasks
    }
}

/// Tells the engine what changed. Where the volumes of claims are being made follows from the labels of nodes, which
/// the engine has: what that takes from other claims is told in a second go.
pub(crate) fn tell(
    ingest: &mut Ingest,
    sharing: &mut Sharing,
    cluster: &mut Cluster,
    now: Timestamp,
) {
    apply_deltas(ingest, sharing, cluster, now);
    if ingest.keep_room(&|node, terms| cluster.meets(node, terms)) {
        apply_deltas(ingest, sharing, cluster, now);
    }
}

fn apply_deltas(ingest: &mut Ingest, sharing: &mut Sharing, cluster: &mut Cluster, now: Timestamp) {
    ingest.advance(now);
    for delta in ingest.context.deltas.drain(..) {
        cluster.apply(delta);
    }
    ingest.tell_again(&|pod| cluster.pod_told(pod));
    for told in ingest.context.shared.drain(..) {
        sharing.told(told);
    }
    ingest.context.deltas.extend(sharing.take_deltas());
    for delta in ingest.context.deltas.drain(..) {
        cluster.apply(delta);
    }
}
