//! When a waiting workload starts, as far as anything tells: always a range, and what it rests on.

use schemars::JsonSchema;
use serde::Serialize;

use crate::print::duration;

/// An estimate of a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Eta {
    /// `now`, `later`, `never` or `unknown`.
    pub(crate) when: When,
    /// Seconds from now before which it hardly starts.
    pub(crate) earliest_seconds: Option<i64>,
    /// Seconds from now after which it hardly starts; absent where nothing bounds it.
    pub(crate) latest_seconds: Option<i64>,
    /// Holds what the range rests on, or why there is none.
    pub(crate) basis: String,
    /// All of it in words.
    pub(crate) sentence: String,
}

/// Kinds of estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum When {
    /// In the next cycles.
    Now,
    /// Within a range.
    Later,
    /// Not on this cluster, even if nobody else were there.
    Never,
    /// Nothing that is known says when.
    Unknown,
}

impl Eta {
    /// It starts in the next cycles; `how` says by which right, such as `others leave for it`.
    pub(crate) fn now(how: &str) -> Self {
        let how = how.to_owned();
        Self::of(When::Now, [Some(0), Some(0)], format!("now: {how}"), how)
    }

    /// It starts within a range, which rests on `basis`.
    pub(crate) fn later(earliest: i64, latest: Option<i64>, basis: String) -> Self {
        let join = if latest.is_some() { ", " } else { ": " };
        let sentence = format!("{}{join}{basis}", range(earliest, latest));
        Self::of(When::Later, [Some(earliest), latest], sentence, basis)
    }

    /// It can never start as it is, and `why`.
    pub(crate) fn never(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::of(When::Never, [None, None], format!("never: {why}"), why)
    }

    /// Nothing says when; `why` says what is missing.
    pub(crate) fn unknown(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::of(When::Unknown, [None, None], format!("not known: {why}"), why)
    }

    fn of(when: When, seconds: [Option<i64>; 2], sentence: String, basis: String) -> Self {
        let [earliest_seconds, latest_seconds] = seconds;
        Self { when, earliest_seconds, latest_seconds, basis, sentence }
    }

    /// For a column: `now`, `5m-20m`, `<20m`, `>5m`, `never`; `?` where it is not known.
    pub(crate) fn short(&self) -> String {
        let short = duration::short;
        match (self.when, self.earliest_seconds, self.latest_seconds) {
            (When::Now, ..) => "now".to_owned(),
            (When::Never, ..) => "never".to_owned(),
            (When::Later, Some(early), Some(late)) if early < MINUTE => format!("<{}", short(late)),
            (When::Later, Some(early), Some(late)) if short(early) == short(late) => {
                format!("~{}", short(late))
            }
            (When::Later, Some(early), Some(late)) => format!("{}-{}", short(early), short(late)),
            (When::Later, Some(early), None) if early >= MINUTE => format!(">{}", short(early)),
            (When::Later | When::Unknown, ..) => "?".to_owned(),
        }
    }
}

/// Sets below how many seconds a start counts as one that is now.
const MINUTE: i64 = 60;

/// `in 2h10m to 2h45m`, `within 2h45m`, `in 2h10m or later`.
pub(crate) fn range(earliest: i64, latest: Option<i64>) -> String {
    let short = duration::short;
    match latest {
        Some(latest) if earliest < MINUTE => format!("within {}", short(latest)),
        Some(latest) if short(earliest) == short(latest) => format!("in about {}", short(latest)),
        Some(latest) => format!("in {} to {}", short(earliest), short(latest)),
        None if earliest < MINUTE => "when others end, at no known time".to_owned(),
        None => format!("in {} or later", short(earliest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(eta: &Eta, short: &str, sentence: &str) {
        assert_eq!((eta.short().as_str(), eta.sentence.as_str()), (short, sentence));
    }

    #[test]
    fn an_estimate_is_a_range_and_its_basis() {
        let basis = || "from max-runtime".to_owned();
        check(&Eta::later(300, Some(1200), basis()), "5m-20m", "in 5m to 20m, from max-runtime");
        check(&Eta::later(0, Some(1200), basis()), "<20m", "within 20m, from max-runtime");
        check(&Eta::later(7200, Some(7201), basis()), "~120m", "in about 120m, from max-runtime");
        check(
            &Eta::later(7200, None, "2 do not end".into()),
            ">120m",
            "in 120m or later: 2 do not end",
        );
        check(
            &Eta::later(1, None, "2 do not end".into()),
            "?",
            "when others end, at no known time: 2 do not end",
        );
        check(&Eta::unknown("no nodes"), "?", "not known: no nodes");
        check(&Eta::now("there is room"), "now", "now: there is room");
    }
}
