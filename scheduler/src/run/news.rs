//! What changed, told to the engine.

use kai_engine::{Delta, PodId, Timestamp};

use super::{Run, outcome::not_bound};
use crate::{actuate::Task, sharing::Failed};

impl Run {
    /// Tells the engine what changed. Where the volumes of claims are being made follows from the labels of nodes, which
    /// the engine has: what that takes from other claims is told in a second go.
    pub(super) fn tell(&mut self, now: Timestamp) {
        self.apply_deltas(now);
        if self.ingest.keep_room(&|node, terms| self.cluster.meets(node, terms)) {
            self.apply_deltas(now);
        }
    }

    /// Gives back the places of binds whose devices cannot be had, and says why. Where it is the node's fault, which is
    /// set aside by now, they are placed elsewhere in the next cycle; else their group waits, longer each time.
    pub(super) fn give_up_binds(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        for Failed { bind, reason, is_of_node } in self.sharing.take_failed() {
            self.ingest.take_back_volumes(bind.pod, &bind.volumes);
            let names = &self.ingest.names;
            if names.pods.find(&bind.uid) != Some(bind.pod) {
                continue;
            }
            self.ingest.deltas.push(Delta::BindFailed(PodId::new(bind.pod)));
            tasks.extend(not_bound(bind.pod, (&bind.node, &reason), names, &self.dispatch));
            if let (false, Some(group)) = (is_of_node, names.pods[bind.pod].group) {
                self.hold(group);
            }
        }
        tasks
    }

    fn apply_deltas(&mut self, now: Timestamp) {
        self.ingest.advance(now);
        for told in self.ingest.shared.drain(..) {
            self.sharing.told(told);
        }
        self.ingest.deltas.extend(self.sharing.take_deltas());
        for delta in self.ingest.deltas.drain(..) {
            self.cluster.apply(delta);
        }
    }
}
