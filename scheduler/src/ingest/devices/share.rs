//! Describes what a claim takes of a device that claims share: amounts of its capacities.
//!
//! # Source
//! The API's `CapacityRequirements` and `CapacityRequestPolicy` (KEP-5075).

use kai_api::quantity::Quantity;
use serde::Deserialize;

use crate::server::wire::{Text, null_as_default};

/// One capacity of a device; amounts in thousandths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::ingest) struct Capacity {
    /// Its name as written.
    pub(in crate::ingest) name: Box<str>,
    /// The amount as written.
    pub(in crate::ingest) text: Box<str>,
    pub(in crate::ingest) milli: i64,
    pub(in crate::ingest) policy: Policy,
}

/// Says which amounts a request may take.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::ingest) struct Policy {
    /// Holds what a request takes that names no amount.
    default: Option<i64>,
    /// The only amounts, ascending; none, and the range says.
    values: Vec<i64>,
    range: Option<Range>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Range {
    min: i64,
    max: Option<i64>,
    step: Option<i64>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(in crate::ingest) struct WireCapacity<'a> {
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow, default)]
    request_policy: Option<WirePolicy<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct WirePolicy<'a> {
    #[serde(borrow)]
    default: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    valid_values: Vec<Text<'a>>,
    #[serde(borrow)]
    valid_range: Option<WireRange<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct WireRange<'a> {
    #[serde(borrow)]
    min: Text<'a>,
    #[serde(borrow)]
    max: Option<Text<'a>>,
    #[serde(borrow)]
    step: Option<Text<'a>>,
}

/// More is as much: so that amounts of many devices can be added up.
const MILLI_MAX: i64 = i64::MAX >> 16;

/// Thousandths of a quantity; of one that cannot be read, or is below zero, none: what is taken makes no room.
pub(in crate::ingest) fn milli(text: &str) -> i64 {
    let quantity = Quantity::parse(text).ok().filter(|quantity| !quantity.is_negative());
    quantity.map_or(0, |quantity| quantity.milli().unwrap_or(MILLI_MAX).min(MILLI_MAX))
}

/// The domain of a qualified name and the name in it; one without is the driver's.
pub(in crate::ingest) fn qualified(driver: &str, name: &str) -> (Box<str>, Box<str>) {
    let (domain, name) = name.split_once('/').unwrap_or((driver, name));
    (Box::from(domain), Box::from(name))
}

impl WireCapacity<'_> {
    pub(in crate::ingest) fn read(&self, name: &str) -> Capacity {
        let policy = self.request_policy.as_ref().map_or_else(Policy::default, |policy| {
            let mut values: Vec<i64> = policy.valid_values.iter().map(|one| milli(one)).collect();
            values.sort_unstable();
            let amount = |text: &Option<Text<'_>>| text.as_ref().map(|text| milli(text));
            let range = policy.valid_range.as_ref().map(|range| Range {
                min: milli(&range.min),
                max: amount(&range.max),
                step: amount(&range.step).filter(|step| *step > 0),
            });
            Policy { default: amount(&policy.default), values, range }
        });
        Capacity {
            name: Box::from(name),
            text: Box::from(&*self.value),
            milli: milli(&self.value),
            policy,
        }
    }
}

impl Capacity {
    /// Works out what a request takes of it that asks for so much, or names no amount; none where it may not.
    pub(in crate::ingest) fn taken(&self, asked: Option<i64>) -> Option<i64> {
        let taken = match (asked, &self.policy.range) {
            (None, _) => self.policy.default.unwrap_or(self.milli),
            (Some(asked), _) if !self.policy.values.is_empty() => {
                *self.policy.values.iter().find(|value| **value >= asked)?
            }
            (Some(asked), Some(range)) => range.taken(asked)?,
            (Some(asked), None) => asked,
        };
        (taken <= self.milli).then_some(taken)
    }
}

impl Range {
    /// The least amount that is allowed and not below `asked`.
    fn taken(&self, asked: i64) -> Option<i64> {
        let above = asked.saturating_sub(self.min).max(0);
        let above = self.step.map_or(above, |step| above.saturating_add(step - 1) / step * step);
        let taken = self.min.saturating_add(above);
        self.max.is_none_or(|max| taken <= max).then_some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::{Capacity, MILLI_MAX, WireCapacity, milli};

    #[test]
    fn amounts_are_neither_below_zero_nor_beyond_sums() {
        let texts = ["2", "1m", "-2", "8Ei", "-8Ei", "much"];
        assert_eq!(texts.map(milli), [2000, 1, 0, MILLI_MAX, 0, 0]);
    }

    fn check(capacity: &str, asked: Option<i64>, expect: Option<i64>) {
        let wire: WireCapacity<'_> = serde_json::from_str(capacity).expect("a capacity");
        let capacity: Capacity = wire.read("memory");
        let asked = asked.map(|asked| asked * 1000);
        assert_eq!(capacity.taken(asked), expect.map(|one| one * 1000), "{capacity:?} {asked:?}");
    }

    #[test]
    fn amounts_follow_the_policy() {
        let plain = r#"{"value":"80"}"#;
        check(plain, Some(30), Some(30));
        check(plain, Some(81), None);
        check(plain, None, Some(80));
        let values =
            r#"{"value":"80","requestPolicy":{"default":"10","validValues":["10","20","40"]}}"#;
        check(values, None, Some(10));
        check(values, Some(11), Some(20));
        check(values, Some(41), None);
        let range = r#"{"value":"80","requestPolicy":{"default":"8","validRange":{"min":"8","max":"60","step":"16"}}}"#;
        check(range, None, Some(8));
        check(range, Some(1), Some(8));
        check(range, Some(9), Some(24));
        check(range, Some(24), Some(24));
        check(range, Some(57), None);
        check(r#"{"value":"80","requestPolicy":{"validRange":{"min":"4"}}}"#, Some(81), None);
    }
}
