//! Go's duration strings, the form of every duration in the custom resources: `1h30m`, `-1s`.
//!
//! # Source
//! `time.ParseDuration` and `Duration.String` of the Go standard library.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A signed length of time in nanoseconds, read and printed as Go does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoDuration(i64);

/// The reason why a text isn't a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// Not in the grammar.
    #[error("failed to read duration {0:?}: a form like 30s, 1h30m, 500ms, -1s or 0 was expected")]
    Syntax(String),
    /// More than 292 years.
    #[error("failed to read duration {0:?}: it is too long")]
    TooLarge(String),
}

impl GoDuration {
    /// So many nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// So many seconds; what doesn't fit becomes the longest.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Whole milliseconds, towards zero.
    pub const fn millis(self) -> i64 {
        self.0 / 1_000_000
    }

    /// Tells whether it is below 0, which many fields read as "for ever".
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

impl FromStr for GoDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let syntax = || DurationError::Syntax(text.to_owned());
        let too_large = || DurationError::TooLarge(text.to_owned());
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if unsigned == "0" {
            return Ok(Self(0));
        }
        if unsigned.is_empty() {
            return Err(syntax());
        }
        let mut nanos: i128 = 0;
        let mut rest = unsigned;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(syntax)?;
            let (number, tail) = rest.split_at(end);
            let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(end);
            let unit = unit_nanos(unit).ok_or_else(syntax)?;
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
                return Err(syntax());
            }
            let part = part_nanos(whole, fraction, unit).ok_or_else(too_large)?;
            nanos = nanos.checked_add(part).ok_or_else(too_large)?;
            rest = tail;
        }
        let nanos = if text.starts_with('-') { -nanos } else { nanos };
        i64::try_from(nanos).map(Self).map_err(|_| too_large())
    }
}

fn unit_nanos(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `whole.fraction` units in nanoseconds; what is below one is cut off.
fn part_nanos(whole: &str, fraction: &str, unit: i128) -> Option<i128> {
    let mut nanos = if whole.is_empty() { 0 } else { whole.parse::<i128>().ok()? };
    nanos = nanos.checked_mul(unit)?;
    let (mut digits, mut power): (i128, i128) = (0, 1);
    // The unit has at most 13 digits: further digits of the fraction are below a nanosecond.
    for byte in fraction.bytes().take(15) {
        digits = digits * 10 + i128::from(byte - b'0');
        power *= 10;
    }
    nanos.checked_add(digits * unit / power)
}

impl Display for GoDuration {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let nanos = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        if nanos == 0 {
            return f.write_str("0s");
        }
        if nanos < 1_000_000_000 {
            let (unit, name) = match nanos {
                1_000_000.. => (1_000_000, "ms"),
                1_000.. => (1_000, "\u{b5}s"),
                _ => (1, "ns"),
            };
            return write!(f, "{sign}{}{name}", decimal(nanos, unit));
        }
        let minutes = nanos / 60_000_000_000;
        let seconds = decimal(nanos % 60_000_000_000, 1_000_000_000);
        match (minutes / 60, minutes % 60) {
            (0, 0) => write!(f, "{sign}{seconds}s"),
            (0, minutes) => write!(f, "{sign}{minutes}m{seconds}s"),
            (hours, minutes) => write!(f, "{sign}{hours}h{minutes}m{seconds}s"),
        }
    }
}

/// `amount / unit` as a decimal without trailing zeros.
fn decimal(amount: u64, unit: u64) -> String {
    let (whole, fraction) = (amount / unit, amount % unit);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = unit.ilog10() as usize;
    format!("{whole}.{fraction:0digits$}").trim_end_matches('0').to_owned()
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{DurationError, GoDuration};

    proptest! {
        #[test]
        fn printing_and_reading_is_identity(nanos in any::<i64>(), shift in 0_u32..64) {
            let duration = GoDuration::from_nanos(nanos >> shift);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }

        #[test]
        fn whatever_is_read_is_printed_and_read_again(
            text in "\\PC{0,40}|[-+]?([0-9]{0,20}[.]?[0-9]{0,20}(ns|us|\u{b5}s|\u{3bc}s|ms|s|m|h|d|)){0,4}",
        ) {
            match text.parse::<GoDuration>() {
                Ok(duration) => prop_assert_eq!(duration.to_string().parse(), Ok(duration)),
                Err(error) => prop_assert!(error.to_string().contains("failed to read duration")),
            }
        }

        #[test]
        fn a_sum_of_parts_is_their_sum(
            hours in 0_i64..1000, minutes in 0_i64..100, millis in 0_i64..1_000_000,
        ) {
            let text = format!("{hours}h{minutes}m{millis}ms");
            let nanos = ((hours * 60 + minutes) * 60_000 + millis) * 1_000_000;
            prop_assert_eq!(text.parse(), Ok(GoDuration::from_nanos(nanos)));
        }
    }

    #[test]
    fn reads_and_prints_as_go_does() {
        let cases: [(&str, i64, &str); 18] = [
            ("0", 0, "0s"),
            ("-0", 0, "0s"),
            ("0s", 0, "0s"),
            ("5s", 5_000_000_000, "5s"),
            ("+5s", 5_000_000_000, "5s"),
            ("-1s", -1_000_000_000, "-1s"),
            ("1.5s", 1_500_000_000, "1.5s"),
            (".5s", 500_000_000, "500ms"),
            ("5.s", 5_000_000_000, "5s"),
            ("1h30m", 5_400_000_000_000, "1h30m0s"),
            ("100m", 6_000_000_000_000, "1h40m0s"),
            ("90s", 90_000_000_000, "1m30s"),
            ("1.5ms", 1_500_000, "1.5ms"),
            ("2us", 2_000, "2\u{b5}s"),
            ("2\u{3bc}s", 2_000, "2\u{b5}s"),
            ("7ns", 7, "7ns"),
            ("1m1ns", 60_000_000_001, "1m0.000000001s"),
            ("0.3333333333333333333h", 1_199_999_999_999, "19m59.999999999s"),
        ];
        for (text, nanos, printed) in cases {
            let duration: GoDuration = text.parse().expect(text);
            assert_eq!(duration.nanos(), nanos, "{text}");
            assert_eq!(duration.to_string(), printed, "{text}");
        }
        assert_eq!("-9223372036854775808ns".parse(), Ok(GoDuration::from_nanos(i64::MIN)));
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "", "-", "1", "s", ".s", "1x", "1 s", " 1s", "1s ", "1..5s", "1d", "1w", "1e3s", "--1s",
        ] {
            assert_eq!(text.parse::<GoDuration>(), Err(DurationError::Syntax(text.to_owned())));
        }
        for text in ["9223372036854775808ns", "3000000h", &format!("{}h", "9".repeat(60))] {
            assert_eq!(text.parse::<GoDuration>(), Err(DurationError::TooLarge(text.to_owned())));
        }
    }
}
