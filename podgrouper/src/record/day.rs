//! Days of UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::span::Second;

/// Length of a day; days of UTC have no leap seconds in the API.
pub(crate) const DAY_SECONDS: Second = 86_400;

/// A day, by its number since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Day(i64);

impl Day {
    /// The day of a moment.
    pub(crate) fn of(at: Second) -> Self {
        Self(at.div_euclid(DAY_SECONDS))
    }

    /// Reads `2026-11-24`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let date: Date = text.parse().ok()?;
        let start = date.to_zoned(TimeZone::UTC).ok()?;
        Some(Self::of(start.timestamp().as_second()))
    }

    /// Its first moment.
    pub(crate) fn start(self) -> Second {
        self.0 * DAY_SECONDS
    }

    /// The first moment after it.
    pub(crate) fn end(self) -> Second {
        self.start() + DAY_SECONDS
    }

    /// The day before it.
    pub(crate) fn before(self) -> Self {
        Self(self.0 - 1)
    }

    /// The day that is so many days earlier.
    pub(crate) fn minus(self, days: u32) -> Self {
        Self(self.0 - i64::from(days))
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = Timestamp::from_second(self.start()).unwrap_or_default();
        start.to_zoned(TimeZone::UTC).date().fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn a_day_is_read_as_it_is_written() {
        let day = Day::of(1_795_478_400);
        assert_eq!(day.to_string(), "2026-11-24");
        assert_eq!(Day::parse("2026-11-24"), Some(day));
        assert_eq!((day.end(), day.before().end()), (day.start() + 86_400, day.start()));
        assert_eq!((Day::parse("2026-13-01"), Day::parse("x")), (None, None));
        assert_eq!(Day::of(-1), Day::of(0).before());
    }
}
