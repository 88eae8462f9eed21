//! The loop's check of itself: the engine's derived state follows from the facts, and nobody is evicted for nothing.

use kai_daemon::clock;
use kai_engine::{Change, Plan};

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
            findings.extend(self.evicted_for_nothing(plan));
        }
        self.metrics.findings.inc_by(findings.len() as u64);
        match findings.first() {
            None => Ok(()),
            Some(first) => Err(Error::Check { count: findings.len(), first: first.clone() }),
        }
    }

    /// Pods leave only for a group of which the same plan places or nominates a pod (S7 in docs/rules.md).
    fn evicted_for_nothing(&self, plan: &Plan) -> Option<String> {
        let names = &self.ingest.context.names;
        let group_of = |change: &Change| match change {
            Change::Place { pod, .. } | Change::Nominate { pod, .. } => {
                names.pods[pod.number()].group
            }
            Change::Evict { .. } => None,
        };
        plan.changes.iter().find_map(|change| {
            let Change::Evict { pod, reason, .. } = change else { return None };
            let gains = reason.for_group()?.number();
            let has_place = plan.changes.iter().any(|change| group_of(change) == Some(gains));
            (!has_place).then(|| format!("{pod:?} leaves for group {gains}, which gets no place"))
        })
    }
}
