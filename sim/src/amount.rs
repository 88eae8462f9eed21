//! Exact amounts: decimal text in, integers out, no float on the way.

use std::{fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A unit of amounts as text, and its worth in the engine's integers.
pub trait Unit {
    /// Number of the engine's units in one.
    const PER_ONE: i64;
    /// Name of the unit in errors.
    const NAME: &'static str;
}

/// Cores; the engine counts thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores;

/// GPUs; the engine counts thousandths of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpus;

/// A part of each GPU; the engine counts millionths, so that a sixteenth is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts;

/// Plain numbers; the engine counts thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio;

/// Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes;

/// Things that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count;

impl Unit for Cores {
    const PER_ONE: i64 = 1000;
    const NAME: &'static str = "thousandths of a core";
}

impl Unit for Gpus {
    const PER_ONE: i64 = 1000;
    const NAME: &'static str = "thousandths of a GPU";
}

impl Unit for Parts {
    const PER_ONE: i64 = 1_000_000;
    const NAME: &'static str = "millionths";
}

impl Unit for Ratio {
    const PER_ONE: i64 = 1000;
    const NAME: &'static str = "thousandths";
}

impl Unit for Bytes {
    const PER_ONE: i64 = 1;
    const NAME: &'static str = "bytes";
}

impl Unit for Count {
    const PER_ONE: i64 = 1;
    const NAME: &'static str = "whole ones";
}

/// An amount in the engine's integer, written as a Kubernetes quantity: `500m`, `1.5`, `64Gi`.
pub struct Amount<U>(pub i64, PhantomData<fn(U)>);

impl<U> Amount<U> {
    /// `units` of the engine's unit: thousandths, bytes or a count.
    pub const fn of(units: i64) -> Self {
        Self(units, PhantomData)
    }
}

impl<U> Clone for Amount<U> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U> Copy for Amount<U> {}

impl<U> Default for Amount<U> {
    fn default() -> Self {
        Self::of(0)
    }
}

impl<U> PartialEq for Amount<U> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<U> Eq for Amount<U> {}

impl<U> fmt::Debug for Amount<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<U: Unit> fmt::Display for Amount<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(self.0, U::PER_ONE))
    }
}

impl<U: Unit> Serialize for Amount<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, U: Unit> Deserialize<'de> for Amount<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text, U::PER_ONE).filter(|units| *units >= 0).map(Self::of).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not an amount: write a number such as 0, 2, 0.5, 500m or 64Gi that is a whole number of {}",
                U::NAME
            ))
        })
    }
}

/// An amount that may be unbounded, written `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<U> {
    /// No bound.
    Unlimited,
    /// At most this.
    At(Amount<U>),
}

impl<U> Bound<U> {
    /// The engine's integer, if there is a bound.
    pub fn units(self) -> Option<i64> {
        match self {
            Self::Unlimited => None,
            Self::At(amount) => Some(amount.0),
        }
    }
}

impl<'de, U: Unit> Deserialize<'de> for Bound<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        match parse(&text, U::PER_ONE) {
            Some(units) if units >= 0 => Ok(Self::At(Amount::of(units))),
            Some(_) | None => Err(de::Error::custom(format!(
                "`{text}` is not a bound: write `unlimited` or an amount of 0 or more that is a whole number of {}",
                U::NAME
            ))),
        }
    }
}

impl<U: Unit> Serialize for Bound<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_str("unlimited"),
            Self::At(amount) => amount.serialize(serializer),
        }
    }
}

/// A length of time, written `90s`, `5m`, `1h30m` or `2d`; seconds. Negative ones start with `-`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub i64);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_span(&text).map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not a length of time: write 90s, 5m, 1h30m or 2d"
            ))
        })
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}s", self.0))
    }
}

/// `units` as decimal text of units that are `per_one` to one: 1500 of 1000 is `1.5`.
pub fn decimal(units: i64, per_one: i64) -> String {
    let (sign, units, per_one) =
        (if units < 0 { "-" } else { "" }, units.unsigned_abs(), per_one.unsigned_abs());
    let (whole, rest) = (units / per_one, units % per_one);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    let width = per_one.ilog10() as usize;
    let digits = format!("{rest:0width$}");
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}

/// The exact value of a quantity in units that are `per_one` to one; none if it is no number, not whole, or too large.
pub(crate) fn parse(text: &str, per_one: i64) -> Option<i64> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (times, over): (i128, i128) = match suffix {
        "" => (1, 1),
        "m" => (1, 1000),
        "k" => (1000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        _ => return None,
    };
    // 18 digits keep every product below 2^127.
    if whole.len() + fraction.len() > 18 {
        return None;
    }
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let over = over * 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = mantissa.checked_mul(times)?.checked_mul(i128::from(per_one))?;
    if scaled % over != 0 {
        return None;
    }
    let units = i64::try_from(scaled / over).ok()?;
    Some(if negative { -units } else { units })
}

fn parse_span(text: &str) -> Option<i64> {
    let (negative, mut rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let mut seconds: i64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i64 = rest[..end].parse().ok()?;
        let unit = match rest.as_bytes()[end] {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
        rest = &rest[end + 1..];
    }
    Some(if negative { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::{decimal, parse, parse_span};

    #[test]
    fn text_becomes_exact_integers_or_nothing() {
        for (text, per_one, expect) in [
            ("2", 1000, Some(2000)),
            ("0.5", 1000, Some(500)),
            ("500m", 1000, Some(500)),
            (".25", 1000, Some(250)),
            ("64Gi", 1, Some(64 << 30)),
            ("1.5Gi", 1, Some(3 << 29)),
            ("0.0005", 1000, None),
            ("NaN", 1000, None),
            ("1e3", 1000, None),
            ("", 1000, None),
            (".", 1000, None),
            ("-1", 1, Some(-1)),
            ("9999999999999999999", 1, None),
            ("9999999Pi", 1, None),
        ] {
            assert_eq!(parse(text, per_one), expect, "{text}");
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        for units in [0, 1, 10, 500, 999, 1000, 1001, 1500, -500, 123_456_789] {
            assert_eq!(parse(&decimal(units, 1000), 1000), Some(units));
        }
    }

    #[test]
    fn spans_are_seconds() {
        for (text, expect) in [
            ("90s", Some(90)),
            ("1h30m", Some(5400)),
            ("2d", Some(172_800)),
            ("-1s", Some(-1)),
            ("5", None),
            ("", None),
            ("m", None),
        ] {
            assert_eq!(parse_span(text), expect, "{text}");
        }
    }
}
