//! The loop's check of itself: the engine's derived state follows from the facts, and nobody is evicted for nothing.

use std::collections::HashSet;

use kai_daemon::clock;
use kai_engine::{Change, Plan, PodId};

use super::{Error, Run};
use crate::names::Number;

/// The engine's own check runs this often; it costs as much as rebuilding everything.
const EVERY: u64 = 1000;
/// It runs so often in a simulation, whose clusters are small and whose time is there to find faults.
const EVERY_IN_SIMULATION: u64 = 20;

impl Run {
    /// Checks the derived state at the start and now and then; in a simulation each plan too.
    pub(super) fn check(&self, plan: &Plan) -> Result<(), Error> {
        let is_simulated = clock::is_virtual();
        let every = if is_simulated { EVERY_IN_SIMULATION } else { EVERY };
        let mut findings = Vec::new();
        if self.cycles.is_multiple_of(every) {
            findings.extend(self.cluster.check());
        }
        if is_simulated {
            let names = &self.ingest.context.names;
            findings
                .extend(evicted_for_nothing(&plan.changes, |pod| names.pods[pod.number()].group));
        }
        self.metrics.findings.inc_by(findings.len() as u64);
        match findings.first() {
            None => Ok(()),
            Some(first) => Err(Error::Check { count: findings.len(), first: first.clone() }),
        }
    }
}

/// Finds a pod that leaves for a group of which the same plan neither places nor nominates a pod (S7 in docs/rules.md).
fn evicted_for_nothing(
    changes: &[Change],
    group_of: impl Fn(PodId) -> Option<u32>,
) -> Option<String> {
    let gaining: HashSet<u32> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Place { pod, .. } | Change::Nominate { pod, .. } => group_of(*pod),
            Change::Evict { .. } => None,
        })
        .collect();
    changes.iter().find_map(|change| {
        let Change::Evict { pod, reason, .. } = change else { return None };
        let group = reason.for_group()?.number();
        let is_for_nothing = !gaining.contains(&group);
        is_for_nothing.then(|| format!("{pod:?} leaves for group {group}, which gets no place"))
    })
}

#[cfg(test)]
mod tests {
    use kai_engine::{Eviction, GroupId, NodeId};

    use super::*;

    /// Pod 1 leaves so that group 7 fits; pod 2 is nominated.
    fn check(group_of_nominated: Option<u32>, is_found: bool) {
        let node = NodeId::new(0);
        let reason = Eviction::Consolidate { for_group: GroupId::new(7) };
        let nominated =
            Change::Nominate { pod: PodId::new(2), node, devices: Box::default(), reserved: None };
        let changes = [Change::Evict { pod: PodId::new(1), node, reason }, nominated];
        let found = evicted_for_nothing(&changes, |_| group_of_nominated);
        assert_eq!(found.is_some(), is_found, "{found:?}");
    }

    #[test]
    fn who_leaves_makes_room_for_somebody() {
        check(Some(7), false);
        check(Some(8), true);
        check(None, true);
    }
}
