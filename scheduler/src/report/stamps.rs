//! The timestamps of a group, and which of them have to be written.

use kai_engine::{Cluster, GroupId};

use crate::actuate::{Stamps, stamp_text};

/// So long after an eviction its moment is written here where the eviction itself, which writes it first, could not.
const EVICTION_MILLISECONDS: i64 = 5_000;

/// Reads the timestamps of a group as they should be.
pub(super) fn wanted(group: u32, cluster: &Cluster) -> Stamps {
    let group = GroupId::new(group);
    Stamps {
        stale_since: cluster.stale_since(group).map(|at| at.0),
        last_start: cluster.last_start(group).map(|at| at.0),
        last_eviction: cluster.last_eviction(group).map(|at| at.0),
    }
}

/// Lists the annotations that differ, at the second: RFC 3339 of KAI has no parts of it.
pub(super) fn changes(
    known: &Stamps,
    wanted: &Stamps,
) -> Option<Vec<(&'static str, Option<String>)>> {
    let mut changes = Vec::new();
    for ((key, known), (_, wanted)) in known.annotations().into_iter().zip(wanted.annotations()) {
        if second(known) != second(wanted) {
            changes.push((key, wanted.and_then(stamp_text)));
        }
    }
    (!changes.is_empty()).then_some(changes)
}

/// Takes the moment of an eviction out of what is wanted while the eviction writes it; gives the milliseconds after
/// which it is due here.
pub(super) fn left_to_eviction(known: &Stamps, wanted: &mut Stamps, now: i64) -> Option<i64> {
    let due = wanted.last_eviction? + EVICTION_MILLISECONDS;
    if now >= due || second(known.last_eviction) == second(wanted.last_eviction) {
        return None;
    }
    wanted.last_eviction = known.last_eviction;
    Some(due - now)
}

fn second(at: Option<i64>) -> Option<i64> {
    at.map(|at| at.div_euclid(1000))
}
