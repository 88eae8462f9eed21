//! Status conditions that keep the time of their last change.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::nodes::object::seconds;

/// The condition of that type in a status.
pub(super) fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// The conditions of a status, to be changed with [`set`].
pub(super) fn all(status: &Value) -> Vec<Value> {
    status["conditions"].as_array().cloned().unwrap_or_default()
}

/// Sets one condition; times change only when its status or reason does. `update` is the name of
/// the second time field that some APIs have.
pub(super) fn set(conditions: &mut Vec<Value>, wanted: &Wanted<'_>, now: Timestamp) {
    let Wanted { kind, status, reason, message, update } = *wanted;
    let at = seconds(now);
    let mut new = json!({
        "type": kind, "status": if status { "True" } else { "False" },
        "reason": reason, "message": message, "lastTransitionTime": at,
    });
    if let Some(update) = update {
        new[update] = json!(at);
    }
    match conditions.iter_mut().find(|condition| condition["type"] == kind) {
        Some(old) if old["status"] == new["status"] && old["reason"] == new["reason"] => {}
        Some(old) => *old = new,
        None => conditions.push(new),
    }
}

/// A condition as it should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) kind: &'a str,
    pub(super) status: bool,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) update: Option<&'static str>,
}
