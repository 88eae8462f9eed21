//! Times of objects against the clock of this machine.

use jiff::Timestamp;
use serde_json::Value;

/// The time that an object names; `None` when it names none.
pub(crate) fn of(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Seconds since the time that an object names.
pub(crate) fn age(value: &Value) -> Option<i64> {
    let then = of(value)?;
    Some(Timestamp::now().as_second() - then.as_second())
}
