//! Pods that terminate: one that does so for longer than the threshold gives nothing back.

use kai_engine::{Delta, Pod, PodId, PodState, Timestamp};

use crate::ingest::Context;

/// Pods that terminate.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ReleasingPods(Vec<Releasing>);

/// A pod that terminates, and when it counts as stuck.
#[derive(Debug)]
pub(super) struct Releasing {
    /// In milliseconds.
    pub(super) stuck_at: i64,
    pub(super) pod: u32,
    pub(super) uid: Box<str>,
    pub(super) facts: Pod,
}

impl ReleasingPods {
    /// Takes a pod in, in the place of what was known of it.
    pub(super) fn insert(&mut self, pod: Releasing) {
        self.0.retain(|one| one.pod != pod.pod);
        self.0.push(pod);
    }

    /// Tells of pods that have been terminating for longer than the threshold.
    pub(in crate::ingest) fn tell_stuck(&mut self, context: &mut Context) {
        let now = context.now.0;
        let (due, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|one| one.stuck_at < now);
        self.0 = waiting;
        for one in due {
            let PodState::Releasing(place) = one.facts.state.clone() else { continue };
            if context.names.pods.find(&one.uid) == Some(one.pod) {
                let facts = Pod { state: PodState::Stuck(place), ..one.facts };
                context.deltas.push(Delta::Pod(PodId::new(one.pod), Box::new(facts)));
            }
        }
    }

    /// Says when the next of them counts as stuck.
    pub(in crate::ingest) fn next(&self) -> Option<Timestamp> {
        self.0.iter().map(|one| Timestamp(one.stuck_at + 1)).min()
    }
}
