//! The timestamps of a group, and which of them have to be written.

use jiff::Timestamp;
use kai_engine::{Cluster, GroupId};

use crate::actuate::Stamps;

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
        let second = |at: Option<i64>| at.map(|at| at.div_euclid(1000));
        if second(known) != second(wanted) {
            let text = second(wanted).and_then(|at| Timestamp::from_second(at).ok());
            changes.push((key, text.map(|at| at.to_string())));
        }
    }
    (!changes.is_empty()).then_some(changes)
}
