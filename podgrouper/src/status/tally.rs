//! Sums to which amounts are added and taken away again.

use std::collections::BTreeMap;

use kai_api::mig;
use kai_api::quantity::{Format, Quantity};

use super::metrics::is_gpu;
use super::totals::{SHOWN_MAX, Sums, Totals};

/// Units of 10^-9 in one.
const NANO: i128 = 1_000_000_000;

/// The way an amount goes at a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It is taken in.
    Added,
    /// It is taken away; it was taken in before.
    Taken,
}

/// The sums of a queue. What they say depends on the amounts that are in them alone, and not on those that were: but for the
/// form in which an amount is written.
#[derive(Debug, Default)]
pub(super) struct Tally {
    requested: Rows,
    allocated: Rows,
    non_preemptible: Rows,
}

impl Tally {
    /// Takes in or leaves out the amounts of a group.
    ///
    /// Cost: the resources of the group.
    pub(super) fn count(&mut self, sums: &Sums, change: Change) {
        self.requested.count(&sums.requested, change);
        self.allocated.count(&sums.allocated, change);
        self.non_preemptible.count(&sums.non_preemptible, change);
    }

    /// Gives the sums by now, with the resources that a status or a series shows.
    pub(super) fn shown(&self) -> Sums {
        Sums {
            requested: self.requested.shown(),
            allocated: self.allocated.shown(),
            non_preemptible: self.non_preemptible.shown(),
        }
    }
}

/// Sums by resource; one that nobody names has none.
#[derive(Debug, Default)]
struct Rows(BTreeMap<String, Row>);

impl Rows {
    fn count(&mut self, totals: &Totals, change: Change) {
        for (name, amount) in totals.iter() {
            let row = self.0.entry(name.to_owned()).or_default();
            row.count(amount, change);
            if row.addends == 0 {
                self.0.remove(name);
            }
        }
    }

    fn shown(&self) -> Totals {
        let (mut totals, mut others) = (Totals::default(), 0);
        for (name, row) in &self.0 {
            let is_main = Totals::is_main(name);
            others += usize::from(!is_main);
            let has_gpus = is_gpu(name) || mig::gpus(name).is_some();
            if is_main || others <= SHOWN_MAX || has_gpus {
                totals.set(name, row.amount());
            }
        }
        totals
    }
}

/// The sum of one resource. Whole units and the rest are apart, so that a thousand million of the largest amounts fit, and
/// one that is taken away leaves what was there before it.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// Number of amounts in it.
    addends: u64,
    units: i128,
    nano: i128,
    format: Format,
}

impl Row {
    fn count(&mut self, amount: Quantity, change: Change) {
        if self.units == 0 && self.nano == 0 {
            self.format = amount.format();
        }
        let (units, nano) = (amount.nano() / NANO, amount.nano() % NANO);
        match change {
            Change::Added => {
                self.addends = self.addends.saturating_add(1);
                self.units = self.units.saturating_add(units);
                self.nano = self.nano.saturating_add(nano);
            }
            Change::Taken => {
                self.addends = self.addends.saturating_sub(1);
                self.units = self.units.saturating_sub(units);
                self.nano = self.nano.saturating_sub(nano);
            }
        }
    }

    /// Beyond 10^29 units it is the most that can be said.
    fn amount(self) -> Quantity {
        let nano = self.units.saturating_mul(NANO).saturating_add(self.nano);
        Quantity::from_nano(nano.max(-i128::MAX)).with_format(self.format)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sums(requested: &Value) -> Sums {
        Sums { requested: Totals::from_value(requested), ..Sums::default() }
    }

    /// Whoever asks for more than can be summed up leaves no trace when he is gone.
    #[test]
    fn what_is_taken_away_leaves_what_was_there_before() {
        let huge = sums(&json!({"cpu": "1e29", "memory": "1"}));
        let small = sums(&json!({"cpu": "1500m"}));
        let mut tally = Tally::default();
        tally.count(&small, Change::Added);
        for _ in 0..3 {
            tally.count(&huge, Change::Added);
        }
        let most = Quantity::from_nano(i128::MAX);
        assert_eq!(tally.shown().requested.get("cpu"), Some(most));
        for _ in 0..3 {
            tally.count(&huge, Change::Taken);
        }
        assert_eq!(tally.shown(), small, "memory is not named any more");
    }

    #[test]
    fn of_very_many_resources_those_are_given_that_are_shown() {
        let mut tally = Tally::default();
        for number in 0..2 * SHOWN_MAX {
            let name = format!("a.example/{number:04}");
            tally.count(&sums(&json!({name: "1"})), Change::Added);
        }
        let gpus =
            json!({"nvidia.com/gpu": "8", "nvidia.com/mig-1g.5gb": "1", "zz.example/gpu": "1"});
        tally.count(&sums(&gpus), Change::Added);
        let shown = tally.shown().requested;
        assert_eq!(shown.iter().count(), SHOWN_MAX + 3);
        for name in ["nvidia.com/mig-1g.5gb", "zz.example/gpu"] {
            assert_eq!(shown.get(name), Some(Quantity::from_value(1)), "{name}");
        }
        assert_eq!(shown.patch(&shown.to_value()), None);
    }
}
