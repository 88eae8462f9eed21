//! What changed, told to the engine.

use kai_engine::Timestamp;

use super::Run;

impl Run {
    /// Tells the engine what changed. Where the volumes of claims are being made follows from the labels of nodes, which
    /// the engine has: what that takes from other claims is told in a second go.
    pub(super) fn tell(&mut self, now: Timestamp) {
        self.apply_deltas(now);
        if self.ingest.keep_room(&|node, terms| self.cluster.meets(node, terms)) {
            self.apply_deltas(now);
        }
    }

    fn apply_deltas(&mut self, now: Timestamp) {
        self.ingest.advance(now);
        for delta in self.ingest.deltas.drain(..) {
            self.cluster.apply(delta);
        }
    }
}
