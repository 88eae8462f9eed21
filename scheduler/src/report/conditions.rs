//! The scheduling conditions of a group, with what is said of our node pool.

use jiff::Timestamp;
use kai_api::names::{condition, reason};
use kai_daemon::event::whole_second;
use serde_json::{Value, json};

use crate::message::Told;

/// Tells whether a scheduling condition is of our pool.
fn is_ours(entry: &Value, pool: &str) -> bool {
    entry["type"] == condition::UNSCHEDULABLE_ON_NODE_POOL && entry["nodePool"] == pool
}

/// Leaves out the scheduling conditions of this pool; none where there is none of it.
pub(super) fn without(current: &[Value], pool: &str) -> Option<Vec<Value>> {
    let others: Vec<Value> =
        current.iter().filter(|entry| !is_ours(entry, pool)).cloned().collect();
    (others.len() < current.len()).then_some(others)
}

/// Adds what is to be said of this pool to the scheduling conditions; none where they say it.
///
/// All of this pool are replaced by one at the end, which readers take; those of other pools stay
/// as they are. Only words count: a change of the numbers behind them is not published.
pub(super) fn with(
    current: &[Value],
    pool: &str,
    told: &Told,
    now: Timestamp,
) -> Option<Vec<Value>> {
    let message = told.text();
    let last = current.last();
    if last.is_some_and(|last| {
        is_ours(last, pool) && last["message"] == *message && last["status"] == "True"
    }) {
        return None;
    }
    let transition =
        last.and_then(|last| last["transitionID"].as_str()?.parse::<u64>().ok()).unwrap_or(0);
    let reasons: Vec<Value> = told
        .errors
        .iter()
        .map(|error| {
            let mut detail = json!({ "reason": error.code, "message": error.message });
            if let Some(queue) = &error.queue {
                detail["details"] = json!({ "queueDetails": queue });
            }
            detail
        })
        .collect();
    let now = whole_second(now);
    let mut next: Vec<Value> =
        current.iter().filter(|entry| !is_ours(entry, pool)).cloned().collect();
    next.push(json!({
        "type": condition::UNSCHEDULABLE_ON_NODE_POOL,
        "nodePool": pool,
        "reason": reason::UNSCHEDULABLE,
        "reasons": reasons,
        "message": message,
        "status": "True",
        "transitionID": transition.saturating_add(1).to_string(),
        "lastTransitionTime": now,
    }));
    Some(next)
}
