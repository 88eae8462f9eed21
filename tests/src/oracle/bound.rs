//! An amount of an `oracle/1` file: a number, or `"unlimited"`.

use serde::Deserialize;

/// A number or no bound.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "serde_json::Value")]
pub enum Bound {
    /// No bound.
    Unlimited,
    /// This much, in the unit of the field.
    At(f64),
}

impl From<serde_json::Value> for Bound {
    fn from(value: serde_json::Value) -> Self {
        value.as_f64().map_or(Self::Unlimited, Self::At)
    }
}

impl Bound {
    /// The amount in thousandths of the field's unit, if there is a bound.
    pub fn milli(self) -> Option<i64> {
        match self {
            Self::Unlimited => None,
            Self::At(amount) => Some(milli(amount)),
        }
    }

    /// The amount in the field's unit, if there is a bound.
    pub fn whole(self) -> Option<i64> {
        match self {
            Self::Unlimited => None,
            Self::At(amount) => Some(whole(amount)),
        }
    }
}

/// `amount` in thousandths, to the nearest.
#[expect(
    clippy::cast_possible_truncation,
    reason = "amounts of the cases are small; a cast saturates"
)]
pub fn milli(amount: f64) -> i64 {
    (amount * 1000.0).round() as i64
}

/// `amount` to the nearest integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "amounts of the cases are small; a cast saturates"
)]
pub fn whole(amount: f64) -> i64 {
    amount.round() as i64
}
