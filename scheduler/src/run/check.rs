//! The loop's check of itself: the engine's derived state follows from the facts, nobody is evicted for nothing, and names
//! of what is gone do not fill the memory.

use std::collections::HashSet;

use kai_daemon::clock;
use kai_engine::{Change, Plan, PodId};

use super::{Error, Run};
use crate::names::{Names, Number, Table};

/// The engine's own check runs this often; it costs as much as rebuilding everything.
const EVERY: u64 = 1000;
/// It runs so often in a simulation, whose clusters are small and whose time is there to find faults.
const EVERY_IN_SIMULATION: u64 = 20;

/// Texts of labels, selectors and sub-groups, and names of devices and topologies, are kept when what had them is gone:
/// whoever holds their number need not be known. A user can write new ones for ever. From so many on, some 100 MB, it matters,
const NAMES_MAX: usize = 1 << 20;
/// and only where there are so many times those of the first lists is it worth a new start.
const NAMES_GROWTH: usize = 4;

impl Run {
    /// Checks the derived state at the start and now and then; in a simulation each plan too.
    ///
    /// # Errors
    /// Where something is wrong, or most names are of what is gone.
    pub(super) fn check(&mut self, plan: &Plan) -> Result<(), Error> {
        let is_simulated = clock::is_virtual();
        let every = if is_simulated { EVERY_IN_SIMULATION } else { EVERY };
        let mut findings = Vec::new();
        if self.cycles.is_multiple_of(every) {
            findings.extend(self.cluster.check());
        }
        // A user can write a gigabyte of names while a thousand cycles pass.
        let kept = kept(&self.ingest.context.names);
        let first = *self.names_first.get_or_insert(kept);
        if is_filled(first, kept) {
            return Err(Error::Names { kept, first });
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

/// Counts the names that are kept for good. A long one counts as several: what it takes is memory.
fn kept(names: &Names) -> usize {
    const BYTES: usize = 64;
    fn of<R>(table: &Table<R>) -> usize {
        table.len() + table.key_bytes() / BYTES
    }
    let of_devices = of(&names.slice_devices) + of(&names.counters) + of(&names.devices);
    of_devices + of(&names.symbols) + of(&names.topologies) + of(&names.reaches)
}

/// Tells whether most names are of what is gone, and fill the memory.
fn is_filled(first: usize, now: usize) -> bool {
    now > NAMES_MAX && now > first.saturating_mul(NAMES_GROWTH)
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
    fn a_process_starts_anew_where_names_fill_the_memory() {
        for (first, now, expect) in [
            (0, 0, false),
            (10, NAMES_MAX, false),
            (10, NAMES_MAX + 1, true),
            (NAMES_MAX, 4 * NAMES_MAX, false),
            (NAMES_MAX, 4 * NAMES_MAX + 1, true),
            (usize::MAX, usize::MAX, false),
        ] {
            assert_eq!(is_filled(first, now), expect, "{first}, {now}");
        }
    }

    #[test]
    fn who_leaves_makes_room_for_somebody() {
        check(Some(7), false);
        check(Some(8), true);
        check(None, true);
    }
}
