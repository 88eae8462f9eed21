//! Over which time usage counts.
//!
//! KAI asks for a range of time where windows begin at set moments, and then does not understand the answer
//! (docs/behaviour.md 14.3, Q23). Here the begin is worked out first, and the query is one for now that looks so far
//! back.

use std::str::FromStr;

use croner::Cron;
use jiff::tz::TimeZone;
use kai_engine::Timestamp;

/// A window that ends now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Window {
    /// It is always this long, as Prometheus writes durations.
    Sliding(Box<str>),
    /// Windows of this many milliseconds follow each other; one of them begins at `start`, or when it is first asked for.
    Tumbling { start: Option<Timestamp>, size: i64 },
    /// It begins when the cron expression last fired, in UTC.
    Cron(Box<str>),
}

impl Window {
    /// Says how far back to look at `now`, as Prometheus writes durations; none where the window has only begun.
    pub(super) fn range(&self, since: Timestamp, now: Timestamp) -> Option<String> {
        let millis = match self {
            Self::Sliding(size) => return Some(size.to_string()),
            Self::Tumbling { start, size } => (now.0 - start.unwrap_or(since).0).rem_euclid(*size),
            Self::Cron(text) => now.0 - fired(text, now)?,
        };
        let seconds = millis / 1000;
        (seconds > 0).then(|| format!("{seconds}s"))
    }
}

/// Tells whether a cron expression can be read.
pub(super) fn is_cron(text: &str) -> bool {
    Cron::from_str(text).is_ok()
}

/// Says when a cron expression last fired, in milliseconds.
fn fired(text: &str, now: Timestamp) -> Option<i64> {
    let now = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(TimeZone::UTC);
    let cron = Cron::from_str(text).ok()?;
    Some(cron.find_previous_occurrence(&now, true).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, Window};

    /// 2026-01-01T00:00:00Z, a Thursday.
    const NEW_YEAR: i64 = 1_767_225_600_000;
    const HOUR: i64 = 3_600_000;

    fn check(window: &Window, after_hours: i64, expect: Option<&str>) {
        let now = Timestamp(NEW_YEAR + after_hours * HOUR);
        let range = window.range(Timestamp(NEW_YEAR), now);
        assert_eq!(range.as_deref(), expect, "{window:?} after {after_hours}h");
    }

    #[test]
    fn a_window_reaches_back_to_where_it_began() {
        let sliding = Window::Sliding(Box::from("1w"));
        check(&sliding, 0, Some("1w"));
        check(&sliding, 400, Some("1w"));
        let day = |start| Window::Tumbling { start, size: 24 * HOUR };
        check(&day(None), 0, None);
        check(&day(None), 5, Some("18000s"));
        check(&day(None), 29, Some("18000s"));
        // Windows lie on both sides of their start.
        check(&day(Some(Timestamp(NEW_YEAR + 30 * HOUR))), 5, Some("82800s"));
        let monday = Window::Cron(Box::from("0 0 * * 1"));
        check(&monday, 0, Some("259200s"));
        check(&monday, 4 * 24, None);
        check(&monday, 4 * 24 + 1, Some("3600s"));
    }
}
