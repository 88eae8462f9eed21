//! Durations in Go's notation, as the API writes them: `1h30m`, `-1s`, `1.5h`, `300ms`, `0`.

use std::fmt;

/// A duration in nanoseconds, signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration {
    /// Nanoseconds.
    pub nanos: i64,
}

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl GoDuration {
    /// Parses Go's notation; `None` when the text is not in it or does not fit in 64 bits.
    ///
    /// ```
    /// # use kai_podgrouper::GoDuration;
    /// assert_eq!(GoDuration::parse("1.5h"), GoDuration::parse("90m"));
    /// assert_eq!(GoDuration::parse("30"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, mut rest) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        if rest == "0" {
            return Some(Self { nanos: 0 });
        }
        if rest.is_empty() {
            return None;
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
            let whole = digits(rest);
            let (whole, after) = rest.split_at(whole);
            let (fraction, after) = match after.strip_prefix('.') {
                Some(after) => after.split_at(digits(after)),
                None => ("", after),
            };
            if whole.is_empty() && fraction.is_empty() {
                return None;
            }
            let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
            let (unit, after) = after.split_at(end);
            let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit)?;
            total = total.checked_add(scaled(whole, fraction, *scale)?)?;
            rest = after;
        }
        i64::try_from(total * sign).ok().map(|nanos| Self { nanos })
    }

    /// Whether the duration is below zero.
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }
}

impl std::str::FromStr for GoDuration {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::parse(text).ok_or(())
    }
}

fn scaled(whole: &str, fraction: &str, scale: i64) -> Option<i128> {
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i64>().ok() };
    let mut nanos = i128::from(number(whole)?).checked_mul(i128::from(scale))?;
    // More than 18 digits of a fraction of any unit are below a nanosecond.
    let fraction = &fraction[..fraction.len().min(18)];
    let divisor = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    nanos += i128::from(number(fraction)?) * i128::from(scale) / divisor;
    Some(nanos)
}

impl fmt::Display for GoDuration {
    /// Prints as Go does: `1m30s`, `1h0m0s`, `1.5s`, `300ms`, `0s`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return out.write_str("0s");
        }
        if self.nanos < 0 {
            out.write_str("-")?;
        }
        let nanos = self.nanos.unsigned_abs();
        let (scale, unit) = match nanos {
            0..1_000 => (1, "ns"),
            1_000..1_000_000 => (1_000, "µs"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let (whole, part) = (nanos / scale, nanos % scale);
        let (hours, minutes, rest) =
            if unit == "s" { (whole / 3600, whole / 60 % 60, whole % 60) } else { (0, 0, whole) };
        if hours > 0 {
            write!(out, "{hours}h")?;
        }
        if hours > 0 || minutes > 0 {
            write!(out, "{minutes}m")?;
        }
        write!(out, "{rest}")?;
        if part > 0 {
            let width = scale.ilog10() as usize;
            write!(out, ".{}", format!("{part:0width$}").trim_end_matches('0'))?;
        }
        out.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_go_prints() {
        let cases = [
            ("90s", "1m30s"),
            ("1h", "1h0m0s"),
            ("2h45m", "2h45m0s"),
            ("300ms", "300ms"),
            ("1.5h", "1h30m0s"),
            ("-1s", "-1s"),
            ("+5us", "5µs"),
            ("0", "0s"),
            ("1500ms", "1.5s"),
            (".5s", "500ms"),
            ("1.000000001s", "1.000000001s"),
        ];
        for (text, want) in cases {
            let got = GoDuration::parse(text).map(|duration| duration.to_string());
            assert_eq!(got.as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in ["", "30", "-", "1x", "s", ".s", "1d", "1 s", "9223372036854775807h", "1h-2m"] {
            assert_eq!(GoDuration::parse(text), None, "{text}");
        }
    }
}
