//! Pods that terminate: others count on what one holds from shortly before it is to be gone until it has been due for too long.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_api::names::condition;
use kai_engine::{Place, Pod, PodId, PodState, Timestamp};

use super::Wire;
use crate::{ingest::Context, server::wire::milliseconds};

/// A pod that is to be gone later than so many milliseconds from now offers nothing yet. A user says how long a pod may take to
/// go, decades if need be, and who is promised its place waits for as long and looks for no other. What writes down where it
/// is before it ends needs minutes, and may be waited for.
const NEAR: i64 = 10 * 60 * 1000;
/// A pod that the scheduler evicted offers what it holds from earlier on. The group that it was evicted for has no other evicted
/// meanwhile, and is to find its other places free still; large work may take an hour or two to write itself down. Earlier than
/// that the group waits without a promise, by which what is free beside such a pod would be nobody's for years.
const NEAR_EVICTED: i64 = 2 * 60 * 60 * 1000;

/// Pods that terminate, each with the next moment in milliseconds at which it counts otherwise.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ReleasingPods {
    by_moment: BTreeSet<(i64, u32)>,
    moments: HashMap<u32, (i64, Leave)>,
}

/// The time in which others count on what a pod holds that was told to go; both ends in milliseconds, and part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave {
    from: i64,
    until: i64,
}

impl Leave {
    /// Reads it of a pod; none where it was not told to go.
    pub(super) fn read(context: &Context, wire: &Wire<'_>) -> Option<Self> {
        let deleted = wire.metadata.deletion_timestamp.as_ref()?;
        let gone = milliseconds(deleted).unwrap_or(context.now.0);
        // Where evictions are not announced any pod may be one of those.
        let is_evicted = context.rules.evicted_by.is_none_or(|by| is_evicted(wire, by));
        let near = if is_evicted { NEAR_EVICTED } else { NEAR };
        let from = gone.saturating_sub(near);
        Some(Self { from, until: gone.saturating_add(context.rules.stuck_after) })
    }

    /// Says how a pod with this place stands at a moment.
    pub(super) fn state(self, place: Place, now: Timestamp) -> PodState {
        if now.0 < self.from {
            PodState::Lingering(place)
        } else if now.0 <= self.until {
            PodState::Releasing(place)
        } else {
            PodState::Stuck(place)
        }
    }

    /// Says when that changes next; none where it stays.
    fn changes(self, now: Timestamp) -> Option<i64> {
        [self.from, self.until.saturating_add(1)].into_iter().find(|at| *at > now.0)
    }
}

/// Tells whether the status of a pod says that it is evicted, for this reason. Users do not write it.
fn is_evicted(wire: &Wire<'_>, reason: &str) -> bool {
    wire.status.conditions.iter().any(|one| {
        &*one.kind == condition::DISRUPTION_TARGET
            && &*one.status == "True"
            && &*one.reason == reason
    })
}

impl ReleasingPods {
    /// Takes a pod in, in the place of what was known of it; none for one that does not terminate, or holds nothing.
    pub(super) fn note(&mut self, pod: u32, leave: Option<Leave>, now: Timestamp) {
        self.remove(pod);
        if let Some(leave) = leave
            && let Some(at) = leave.changes(now)
        {
            self.by_moment.insert((at, pod));
            self.moments.insert(pod, (at, leave));
        }
    }

    /// Forgets a pod that is gone.
    pub(super) fn remove(&mut self, pod: u32) {
        if let Some((at, _)) = self.moments.remove(&pod) {
            self.by_moment.remove(&(at, pod));
        }
    }

    /// Gives the pods that count otherwise by now, as they are to be told: `told` has how they were.
    ///
    /// # Cost
    /// In the pods that it gives.
    pub(in crate::ingest) fn flush(
        &mut self,
        context: &Context,
        told: &dyn Fn(PodId) -> Option<Pod>,
    ) -> BTreeMap<PodId, Pod> {
        let now = context.now;
        let later = self.by_moment.split_off(&(now.0.saturating_add(1), 0));
        let mut anew = BTreeMap::new();
        for (_, pod) in std::mem::replace(&mut self.by_moment, later) {
            let Some((_, leave)) = self.moments.remove(&pod) else { continue };
            self.note(pod, Some(leave), now);
            if let Some(facts) = told(PodId::new(pod))
                && let PodState::Releasing(place)
                | PodState::Lingering(place)
                | PodState::Stuck(place) = &facts.state
            {
                let state = leave.state(place.clone(), now);
                anew.insert(PodId::new(pod), Pod { state, ..facts });
            }
        }
        anew
    }

    /// Says when the next of them counts otherwise.
    pub(in crate::ingest) fn next(&self) -> Option<Timestamp> {
        self.by_moment.first().map(|(at, _)| Timestamp(*at))
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::Timestamp;

    use super::{Leave, ReleasingPods};

    #[test]
    fn a_pod_that_is_gone_is_waited_for_no_more() {
        let mut pods = ReleasingPods::default();
        let note = |pods: &mut ReleasingPods, pod, until| {
            pods.note(pod, Some(Leave { from: i64::MIN, until }), Timestamp(0));
        };
        assert_eq!(pods.next(), None);
        note(&mut pods, 1, i64::MAX);
        assert_eq!(pods.next(), Some(Timestamp(i64::MAX)));
        note(&mut pods, 2, 10);
        note(&mut pods, 2, 20);
        assert_eq!(pods.next(), Some(Timestamp(21)), "as it was told last");
        pods.remove(2);
        pods.remove(1);
        pods.remove(1);
        assert_eq!(pods.next(), None);
        assert!(pods.moments.is_empty());
    }
}
