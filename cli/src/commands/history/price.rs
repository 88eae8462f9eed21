//! Prices of a GPU-hour, and costs that add up. Pure.

use kai_api::quantity::Quantity;

use crate::print::error::{Exit, Problem, number};
use crate::settings;

/// Prices by type of GPU; the first that matches counts, and `gpu` matches all others.
#[derive(Clone, Debug, Default)]
pub(super) struct Prices(Vec<Price>);

#[derive(Clone, Debug)]
struct Price {
    gpu_type: String,
    /// Millionths of the currency for a GPU-hour.
    micro: u128,
}

/// The word for every type that has no price of its own.
const ANY: &str = "gpu";

impl Prices {
    /// Reads `gpu=2.5` or `NVIDIA-H100*=4`, several separated by commas.
    pub(super) fn read(words: &[String]) -> Result<Self, Problem> {
        let mut prices =
            words.iter().map(|word| Price::read(word)).collect::<Result<Vec<_>, _>>()?;
        prices.sort_by_key(|price| price.gpu_type == ANY);
        Ok(Self(prices))
    }

    /// Tells whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Price of GPU time of a type, in units of [`Cost`]; none for a type without a price.
    pub(super) fn cost(&self, gpu_type: &str, micro_gpu_seconds: u128) -> Option<Cost> {
        let fits =
            |price: &&Price| price.gpu_type == ANY || settings::matches(&price.gpu_type, gpu_type);
        let price = self.0.iter().find(fits)?;
        Some(Cost(micro_gpu_seconds.saturating_mul(price.micro)))
    }
}

impl Price {
    fn read(word: &str) -> Result<Self, Problem> {
        let wrong = || {
            let what = format!("--price \"{word}\": a type of GPU, = and the price of an hour");
            Problem::new(number::VALUE, Exit::Usage, what).fix("--price gpu=2.5")
        };
        let (gpu_type, amount) = word.split_once('=').ok_or_else(wrong)?;
        let is_decimal = amount.chars().all(|c| c.is_ascii_digit() || c == '.');
        let amount = Quantity::parse(amount).ok().filter(|_| is_decimal).ok_or_else(wrong)?;
        let micro = u128::try_from(amount.nano() / 1000).map_err(|_| wrong())?;
        if gpu_type.is_empty() {
            return Err(wrong());
        }
        Ok(Self { gpu_type: gpu_type.to_owned(), micro })
    }
}

/// A cost: millionths of the currency, times millionths of GPUs, times seconds of an hour. Sums are exact, and rounded
/// once, when they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost(u128);

/// Units of a [`Cost`] in a hundredth of the currency.
const CENT: u128 = 1_000_000 * 1_000_000 * 3_600 / 100;

impl Cost {
    pub(super) fn add(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cents = self.0.saturating_add(CENT / 2) / CENT;
        write!(out, "{}.{:02}", cents / 100, cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of ten hours of a GPU.
    fn check(prices: &[&str], gpu_type: &str, expect: Option<&str>) {
        let words: Vec<String> = prices.iter().map(|word| (*word).to_owned()).collect();
        let prices = Prices::read(&words).expect("prices");
        let cost = prices.cost(gpu_type, 36_000_000_000).map(|cost| cost.to_string());
        assert_eq!(cost.as_deref(), expect);
    }

    #[test]
    fn the_price_of_the_type_goes_before_that_of_all() {
        check(&["gpu=2.5"], "H100", Some("25.00"));
        check(&["gpu=2.5", "H100=4"], "H100", Some("40.00"));
        check(&["gpu=2.5", "*H100*=4.125"], "NVIDIA-H100-80GB", Some("41.25"));
        check(&["H100=4"], "A100", None);
        check(&["gpu=0.0001"], "A100", Some("0.00"));
    }

    #[test]
    fn what_is_no_price_is_said() {
        for word in ["2.5", "gpu=", "=2", "gpu=-1", "gpu=2e3", "gpu=two", "gpu=1Gi"] {
            let problem = Prices::read(&[word.to_owned()]).expect_err(word);
            assert_eq!(problem.number, number::VALUE);
        }
    }
}
