//! Pods that terminate: one that does so for longer than the threshold gives nothing back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_engine::{Pod, PodId, PodState, Timestamp};

use crate::ingest::Context;

/// Pods that terminate, each with the moment in milliseconds from which it counts as stuck. A user says how long a pod may
/// take to go: that moment may be decades away.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ReleasingPods {
    by_moment: BTreeSet<(i64, u32)>,
    moments: HashMap<u32, i64>,
}

impl ReleasingPods {
    /// Takes a pod in, in the place of what was known of it.
    pub(super) fn insert(&mut self, pod: u32, stuck_at: i64) {
        self.remove(pod);
        self.by_moment.insert((stuck_at, pod));
        self.moments.insert(pod, stuck_at);
    }

    /// Forgets a pod that is gone.
    pub(super) fn remove(&mut self, pod: u32) {
        if let Some(stuck_at) = self.moments.remove(&pod) {
            self.by_moment.remove(&(stuck_at, pod));
        }
    }

    /// Gives the pods that have been terminating for longer than the threshold, as they are to be told: `told` has how they
    /// were.
    ///
    /// # Cost
    /// In the pods that it gives.
    pub(in crate::ingest) fn flush(
        &mut self,
        context: &Context,
        told: &dyn Fn(PodId) -> Option<Pod>,
    ) -> BTreeMap<PodId, Pod> {
        let now = context.now.0;
        let later = self.by_moment.split_off(&(now, 0));
        let mut stuck = BTreeMap::new();
        for (_, pod) in std::mem::replace(&mut self.by_moment, later) {
            self.moments.remove(&pod);
            if let Some(facts) = told(PodId::new(pod))
                && let PodState::Releasing(place) = &facts.state
            {
                let state = PodState::Stuck(place.clone());
                stuck.insert(PodId::new(pod), Pod { state, ..facts });
            }
        }
        stuck
    }

    /// Says when the next of them counts as stuck.
    pub(in crate::ingest) fn next(&self) -> Option<Timestamp> {
        self.by_moment.first().map(|(stuck_at, _)| Timestamp(stuck_at.saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::Timestamp;

    use super::ReleasingPods;

    #[test]
    fn a_pod_that_is_gone_is_waited_for_no_more() {
        let mut pods = ReleasingPods::default();
        assert_eq!(pods.next(), None);
        pods.insert(1, i64::MAX);
        assert_eq!(pods.next(), Some(Timestamp(i64::MAX)));
        pods.insert(2, 10);
        pods.insert(2, 20);
        assert_eq!(pods.next(), Some(Timestamp(21)), "as it was told last");
        pods.remove(2);
        pods.remove(1);
        pods.remove(1);
        assert_eq!(pods.next(), None);
        assert!(pods.moments.is_empty());
    }
}
