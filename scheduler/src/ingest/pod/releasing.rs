//! Pods that terminate: one that does so for longer than the threshold gives nothing back.

use std::collections::BTreeMap;

use kai_engine::{Pod, PodId, PodState, Timestamp};

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
}

impl ReleasingPods {
    /// Takes a pod in, in the place of what was known of it.
    pub(super) fn insert(&mut self, pod: Releasing) {
        self.0.retain(|one| one.pod != pod.pod);
        self.0.push(pod);
    }

    /// Gives the pods that have been terminating for longer than the threshold, as they are to be told: `told` has how they
    /// were.
    pub(in crate::ingest) fn flush(
        &mut self,
        context: &Context,
        told: &dyn Fn(PodId) -> Option<Pod>,
    ) -> BTreeMap<PodId, Pod> {
        let now = context.now.0;
        let mut stuck = BTreeMap::new();
        for one in self.0.extract_if(.., |one| one.stuck_at < now) {
            let pod = PodId::new(one.pod);
            if context.names.pods.find(&one.uid) == Some(one.pod)
                && let Some(facts) = told(pod)
                && let PodState::Releasing(place) = &facts.state
            {
                let state = PodState::Stuck(place.clone());
                stuck.insert(pod, Pod { state, ..facts });
            }
        }
        stuck
    }

    /// Says when the next of them counts as stuck.
    pub(in crate::ingest) fn next(&self) -> Option<Timestamp> {
        self.0.iter().map(|one| Timestamp(one.stuck_at + 1)).min()
    }
}
