//! Exact Kubernetes quantities: `1500m`, `4Gi`, `1e3`, as apimachinery reads and prints them.
//!
//! An amount is an integer number of 10^-9, so that sums and comparisons are exact and no float
//! is involved. What doesn't fit is an error, never a wrong number.
//!
//! # Source
//! `k8s.io/apimachinery/pkg/api/resource`: the grammar in its documentation, rounding up to
//! 10^-9 and away from zero, and the canonical form (no fraction, the largest suffix).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{Display, Formatter};
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::schema;

/// Nothing that a client writes in earnest is longer, and the API server's own form is shorter.
pub const LENGTH_MAX: usize = 64;

const NANO_DIGITS: i32 = 9;
const NANO: i128 = 1_000_000_000;
const NANO_PER_MILLI: i128 = 1_000_000;

/// Form in which a quantity was written, and so will be printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `n u m k M G T P E`: powers of ten.
    #[default]
    DecimalSi,
    /// `Ki Mi Gi Ti Pi Ei`: powers of 1024.
    BinarySi,
    /// `e3`, `E-6`: powers of ten.
    DecimalExponent,
}

/// An exact amount and the way it was written; equality and order look at the amount only.
///
/// # Shape
/// An integer number of 10^-9 in 128 bits: up to 1.7 * 10^29 units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nano: i128,
    format: Format,
}

/// The reason why a text isn't a quantity, or an amount doesn't fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// Nothing there.
    #[error("failed to read quantity: it is empty")]
    Empty,
    /// Longer than [`LENGTH_MAX`].
    #[error("failed to read quantity: {0} characters, at most {LENGTH_MAX} are allowed")]
    TooLong(usize),
    /// Not in the grammar.
    #[error("failed to read quantity {0:?}: a number like 2, 0.5, 1500m, 4Gi or 1e3 was expected")]
    Syntax(String),
    /// The amount can't be held.
    #[error("failed to read quantity {0:?}: it is too large")]
    TooLarge(String),
    /// A sum, a difference or a converted amount can't be held.
    #[error("quantity out of range")]
    Range,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nano: 0, format: Format::DecimalSi };

    /// So many whole units, printed with decimal suffixes.
    pub const fn from_value(value: i64) -> Self {
        Self { nano: value as i128 * NANO, format: Format::DecimalSi }
    }

    /// So many thousandths, printed with decimal suffixes.
    pub const fn from_milli(milli: i64) -> Self {
        Self { nano: milli as i128 * NANO_PER_MILLI, format: Format::DecimalSi }
    }

    /// So many units of 10^-9, printed with decimal suffixes.
    pub const fn from_nano(nano: i128) -> Self {
        Self { nano, format: Format::DecimalSi }
    }

    /// So many whole units, printed with binary suffixes where they divide the value.
    pub const fn from_bytes(bytes: i64) -> Self {
        Self { nano: bytes as i128 * NANO, format: Format::BinarySi }
    }

    /// Reads a text, as [`FromStr`] does.
    ///
    /// # Errors
    /// Where it is not a quantity: see [`QuantityError`].
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        text.parse()
    }

    /// Whole units, rounded up (away from zero).
    ///
    /// # Errors
    /// [`QuantityError::Range`] where the result doesn't fit.
    pub fn value(&self) -> Result<i64, QuantityError> {
        self.scaled(NANO)
    }

    /// Thousandths, rounded up (away from zero).
    ///
    /// # Errors
    /// [`QuantityError::Range`] where the result doesn't fit.
    pub fn milli(&self) -> Result<i64, QuantityError> {
        self.scaled(NANO_PER_MILLI)
    }

    /// The exact amount in units of 10^-9.
    pub const fn nano(&self) -> i128 {
        self.nano
    }

    /// Gives the form in which it was written.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The same amount, to be printed in another way.
    #[must_use]
    pub const fn with_format(self, format: Format) -> Self {
        Self { nano: self.nano, format }
    }

    /// Tells whether the amount is 0.
    pub const fn is_zero(&self) -> bool {
        self.nano == 0
    }

    /// Tells whether the amount is below 0.
    pub const fn is_negative(&self) -> bool {
        self.nano < 0
    }

    /// The sum; written like the first that isn't 0.
    ///
    /// # Errors
    /// [`QuantityError::Range`] where it can't be held.
    pub fn checked_add(self, other: Self) -> Result<Self, QuantityError> {
        let nano = self.nano.checked_add(other.nano).ok_or(QuantityError::Range)?;
        let format = if self.is_zero() { other.format } else { self.format };
        Ok(Self { nano, format })
    }

    /// The difference; written like the first that isn't 0.
    ///
    /// # Errors
    /// [`QuantityError::Range`] where it can't be held.
    pub fn checked_sub(self, other: Self) -> Result<Self, QuantityError> {
        let nano = self.nano.checked_sub(other.nano).ok_or(QuantityError::Range)?;
        let format = if self.is_zero() { other.format } else { self.format };
        Ok(Self { nano, format })
    }

    fn scaled(self, nano_per_unit: i128) -> Result<i64, QuantityError> {
        i64::try_from(div_away_from_zero(self.nano, nano_per_unit))
            .map_err(|_| QuantityError::Range)
    }
}

fn div_away_from_zero(amount: i128, unit: i128) -> i128 {
    amount / unit + (amount % unit).signum()
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Empty);
        }
        if text.len() > LENGTH_MAX {
            return Err(QuantityError::TooLong(text.len()));
        }
        let syntax = || QuantityError::Syntax(text.to_owned());
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end =
            unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(syntax());
        }
        let scale = Scale::parse(suffix).ok_or_else(syntax)?;
        let magnitude = magnitude(whole, fraction, scale)
            .or_else(|| magnitude_of_many(whole, fraction, scale))
            .ok_or_else(|| QuantityError::TooLarge(text.into()))?;
        let nano = if text.starts_with('-') { -magnitude } else { magnitude };
        Ok(Self { nano, format: scale.format })
    }
}

/// Factor of a suffix: 10^`ten` * 2^`two`.
#[derive(Clone, Copy)]
struct Scale {
    ten: i32,
    two: u32,
    format: Format,
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        let decimal = |ten| Some(Self { ten, two: 0, format: Format::DecimalSi });
        let binary = |two| Some(Self { ten: 0, two, format: Format::BinarySi });
        match suffix {
            "n" => decimal(-9),
            "u" => decimal(-6),
            "m" => decimal(-3),
            "" => decimal(0),
            "k" => decimal(3),
            "M" => decimal(6),
            "G" => decimal(9),
            "T" => decimal(12),
            "P" => decimal(15),
            "E" => decimal(18),
            "Ki" => binary(10),
            "Mi" => binary(20),
            "Gi" => binary(30),
            "Ti" => binary(40),
            "Pi" => binary(50),
            "Ei" => binary(60),
            other => {
                let ten = other.strip_prefix(['e', 'E'])?.parse().ok()?;
                Some(Self { ten, two: 0, format: Format::DecimalExponent })
            }
        }
    }
}

/// `whole.fraction` times `scale` in units of 10^-9, rounded up; `None` where it can't be held.
fn magnitude(whole: &str, fraction: &str, scale: Scale) -> Option<i128> {
    let mut digits: i128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        digits = digits.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    if digits == 0 {
        return Some(0);
    }
    let fraction_digits = i32::try_from(fraction.len()).ok()?;
    let ten = scale.ten.checked_add(NANO_DIGITS)?.checked_sub(fraction_digits)?;
    if ten >= 0 {
        let power = 10_i128.checked_pow(ten.unsigned_abs())?;
        return digits.checked_mul(power)?.checked_mul(1 << scale.two);
    }
    let digits = digits.checked_mul(1 << scale.two)?;
    // A power that can't be held is above all digits: the smallest amount there is.
    Some(match 10_i128.checked_pow(ten.unsigned_abs()) {
        Some(power) => div_away_from_zero(digits, power),
        None => 1,
    })
}

/// The same of more digits than an integer holds, of which those below 10^-9 only round up.
fn magnitude_of_many(whole: &str, fraction: &str, scale: Scale) -> Option<i128> {
    let digits: Vec<i128> =
        whole.bytes().chain(fraction.bytes()).map(|byte| i128::from(byte - b'0')).collect();
    // Where the power of ten moves the point to.
    let point = i32::try_from(whole.len()).ok()?.checked_add(scale.ten)?;
    let before = usize::try_from(point).unwrap_or(0).min(digits.len());
    let (whole, fraction) = digits.split_at(before);
    let unit = NANO << scale.two;
    // From the last digit on, each rounds up what is below it: the sum is rounded as if all were kept.
    let tenth = |below: i128, digit: i128| div_away_from_zero(digit * unit + below, 10);
    let below = fraction.iter().rev().fold(0, |below, digit| tenth(below, *digit));
    let zeros = usize::try_from(-i64::from(point)).unwrap_or(0).min(LENGTH_MAX);
    let below = (0..zeros).fold(below, |below, _| tenth(below, 0));
    let whole =
        whole.iter().try_fold(0_i128, |sum, digit| sum.checked_mul(10)?.checked_add(*digit))?;
    let shift = u32::try_from(point).unwrap_or(0).saturating_sub(u32::try_from(before).ok()?);
    let whole = if whole == 0 { 0 } else { whole.checked_mul(10_i128.checked_pow(shift)?)? };
    whole.checked_mul(unit)?.checked_add(below)
}

impl Display for Quantity {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (number, suffix) = match self.format {
            Format::BinarySi if self.nano.abs() >= 1024 * NANO => self.binary(),
            Format::BinarySi | Format::DecimalSi => {
                let (number, power) = self.decimal(18);
                let suffix = match power {
                    -9 => "n",
                    -6 => "u",
                    -3 => "m",
                    3 => "k",
                    6 => "M",
                    9 => "G",
                    12 => "T",
                    15 => "P",
                    18 => "E",
                    _ => "",
                };
                (number, Cow::Borrowed(suffix))
            }
            Format::DecimalExponent => match self.decimal(i32::MAX) {
                (number, 0) => (number, Cow::Borrowed("")),
                (number, power) => (number, Cow::Owned(format!("e{power}"))),
            },
        };
        write!(f, "{number}{suffix}")
    }
}

impl Quantity {
    /// The amount as an integer times a power of ten that is a multiple of 3, at most `power_max`.
    fn decimal(self, power_max: i32) -> (i128, i32) {
        if self.nano == 0 {
            return (0, 0);
        }
        let (mut number, mut power) = (self.nano, -NANO_DIGITS);
        while number % 1000 == 0 && power < power_max {
            number /= 1000;
            power += 3;
        }
        (number, power)
    }

    /// The amount, rounded up to a whole one, as an integer and a binary suffix.
    fn binary(self) -> (i128, Cow<'static, str>) {
        const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        let (mut number, mut power) = (div_away_from_zero(self.nano, NANO), 0);
        while number % 1024 == 0 && power + 1 < SUFFIXES.len() {
            number /= 1024;
            power += 1;
        }
        (number, Cow::Borrowed(SUFFIXES[power]))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nano.hash(state);
    }
}

impl TryFrom<&k8s_openapi::apimachinery::pkg::api::resource::Quantity> for Quantity {
    type Error = QuantityError;

    fn try_from(
        wire: &k8s_openapi::apimachinery::pkg::api::resource::Quantity,
    ) -> Result<Self, QuantityError> {
        wire.0.parse()
    }
}

impl From<Quantity> for k8s_openapi::apimachinery::pkg::api::resource::Quantity {
    fn from(quantity: Quantity) -> Self {
        Self(quantity.to_string())
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a quantity like 2, \"1500m\" or \"4Gi\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
        Ok(Quantity::from_value(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
        Ok(Quantity { nano: i128::from(value) * NANO, format: Format::DecimalSi })
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
        if !value.is_finite() {
            return Err(E::invalid_value(Unexpected::Float(value), &self));
        }
        // The shortest text that reads back as the same number is what the user wrote.
        value.to_string().parse().map_err(E::custom)
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::quantity()
    }
}

#[cfg(test)]
mod tests;
