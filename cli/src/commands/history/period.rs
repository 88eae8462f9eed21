//! The days that are asked for.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::cluster::records;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};

/// Most days that are named to the API server one by one.
const DAYS_NAMED_MAX: usize = 400;

/// Days of UTC, since records count by these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Period {
    /// The first day; absent: as far back as there are records.
    pub(super) first: Option<Date>,
    pub(super) last: Date,
}

impl Period {
    /// Reads the flags: a duration back from now, or a date. `until` a date ends before that day.
    pub(super) fn read(since: &str, until: Option<&str>, now: Timestamp) -> Result<Self, Error> {
        let today = day(now);
        let first = match date(since) {
            Some(date) => Some(date),
            None => back("--since", since, now)?,
        };
        let last = match until {
            Some(text) => match date(text) {
                Some(date) => date.yesterday().map_err(|_| wrong("--until", text))?,
                None => back("--until", text, now)?.unwrap_or(today),
            },
            None => today,
        };
        if first.is_some_and(|first| first > last) {
            let what = format!(
                "--since {since} is after --until {}: no day is left",
                until.unwrap_or("now")
            );
            return Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix("--since 2026-11-01 --until 2026-12-01")
                .into());
        }
        Ok(Self { first, last: last.min(today) })
    }

    /// The label selector of its records; empty where all are meant.
    pub(super) fn selector(&self) -> String {
        let Some(first) = self.first else { return String::new() };
        let days: Vec<Date> = first
            .series(1.day())
            .take_while(|day| *day <= self.last)
            .take(DAYS_NAMED_MAX + 1)
            .collect();
        if days.len() > DAYS_NAMED_MAX {
            return String::new();
        }
        records::selector(days.into_iter())
    }

    /// Tells whether a day is meant.
    pub(super) fn has(&self, day: Date) -> bool {
        day <= self.last && self.first.is_none_or(|first| first <= day)
    }

    /// As a person reads it.
    pub(super) fn show(&self) -> String {
        match self.first {
            None => format!("all days up to {} (UTC)", self.last),
            Some(first) if first == self.last => format!("{first} (UTC)"),
            Some(first) => format!("{first} to {} (UTC)", self.last),
        }
    }
}

/// The day of a moment.
pub(super) fn day(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

/// `2026-11-01`; `2026-11`, the first of the month.
fn date(text: &str) -> Option<Date> {
    let month = text.len() == 7 && text.as_bytes().get(4) == Some(&b'-');
    let text = if month { format!("{text}-01") } else { text.to_owned() };
    text.parse().ok().filter(|_| text.len() == 10)
}

/// The day of so long ago; none for `none`.
fn back(flag: &str, text: &str, now: Timestamp) -> Result<Option<Date>, Error> {
    let span = duration::parse(flag, text)
        .map_err(|problem| problem.line("or a date, such as 2026-11-01, or all of it: none"))?;
    let Some(span) = span else { return Ok(None) };
    now.checked_sub(span).map(|then| Some(day(then))).map_err(|_| wrong(flag, text).into())
}

fn wrong(flag: &str, text: &str) -> Problem {
    Problem::new(number::VALUE, Exit::Usage, format!("{flag} \"{text}\" is too long ago"))
        .fix(format!("{flag} 7d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(since: &str, until: Option<&str>, expect: &str) {
        let now: Timestamp = "2026-11-24T10:00:00Z".parse().expect("a time");
        let shown = match Period::read(since, until, now) {
            Ok(period) => format!("{}; {} days", period.show(), days(&period)),
            Err(Error::Problems(problems)) => problems[0].what.clone(),
            Err(_) => String::from("another error"),
        };
        assert_eq!(shown, expect);
    }

    fn days(period: &Period) -> usize {
        let selector = period.selector();
        if selector.is_empty() { 0 } else { selector.matches(',').count() + 1 }
    }

    #[test]
    fn a_period_is_days() {
        check("7d", None, "2026-11-17 to 2026-11-24 (UTC); 8 days");
        check("2h", None, "2026-11-24 (UTC); 1 days");
        check("11h", None, "2026-11-23 to 2026-11-24 (UTC); 2 days");
        check("2026-10-01", Some("2026-11-01"), "2026-10-01 to 2026-10-31 (UTC); 31 days");
        check("2026-10", Some("2026-11"), "2026-10-01 to 2026-10-31 (UTC); 31 days");
        check("none", None, "all days up to 2026-11-24 (UTC); 0 days");
        check("2d", Some("2099-01-01"), "2026-11-22 to 2026-11-24 (UTC); 3 days");
        check("1d", Some("3d"), "--since 1d is after --until 3d: no day is left");
        check(
            "yesterday",
            None,
            "--since \"yesterday\": use a number and a unit: 90s, 30m, 6h, 2d",
        );
    }
}
